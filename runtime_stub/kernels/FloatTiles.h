// FloatTiles.h: what generated kernels (codegen/cpu/RowTiles.cpp) and FloatTiles.cpp agree on. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

enum class FloatPanels { F32, BF16, F16, I8 };  // what the steps of a panel are in memory

constexpr int64_t kFloatStrip = 128;  // rows of a call, at most
constexpr int64_t kFloatPart = 1024;  // steps of the depth whose digits lie in scratch memory at a time
constexpr int64_t kFloatDigits = 3;
constexpr int64_t kFloatTurn = 64;

// Scratch memory of a call for products `depth` deep: a number, digits of the rows, and twice of two panels.
constexpr int64_t floatTilesBlocks(int64_t depth) { return ((depth < kFloatPart ? depth : kFloatPart) + 31) / 32; }
constexpr int64_t floatTilesLeft(int64_t depth) { return kFloatStrip / 16 * floatTilesBlocks(depth) * kFloatDigits * 1024; }
constexpr int64_t floatTilesRight(int64_t depth) { return floatTilesBlocks(depth) * 2 * kFloatDigits * 1024; }
constexpr int64_t floatTilesScratch(int64_t depth) { return kFloatTurn + floatTilesLeft(depth) + 2 * floatTilesRight(depth); }

}  // namespace onnxc

// onnxc_float_tiles_F32(a, rowBytes, blockBytes, rows, depth, b, panelBytes, panels, behind, again, scratch, sums, results,
// resultRowBytes, resultPanelBytes), and so for each of FloatPanels, all but pointers int64_t: sums of `rows` rows of A times `panels`
// panels of B, `depth` steps deep, to sums[row][panel][16], whose rows go on to kFloatStrip. Step k of a row lies at row * rowBytes + k /
// 16 * blockBytes + k % 16
// * 4, step k of a panel at panel * panelBytes + k times the bytes of 16 numbers. Every sum depends on its row and its panel alone.
// `again`: rows are those of the call before, not deeper than kFloatPart, panels those behind its, which it was told are `behind`, and
// `scratch`, aligned to 64 bytes, is as that left it. The caller will write results at results + row * resultRowBytes + panel *
// resultPanelBytes, whose lines are asked for meanwhile. Only after onnxc_rt_tiles() has said yes.
