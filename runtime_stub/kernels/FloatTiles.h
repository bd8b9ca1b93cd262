// FloatTiles.h: what generated kernels (codegen/cpu/RowTiles.cpp) and FloatTiles.cpp agree on. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

enum class FloatPanels { F32, BF16, F16, I8 };  // what the steps of a panel are in memory

constexpr int64_t kFloatDigits = 3;   // bf16 that a float is the sum of
constexpr int64_t kFloatRows = 16;    // of a tile; as many pairs of steps have tiles of panels
constexpr int64_t kFloatSteps = 32;   // of the depth in a row of a tile
constexpr int64_t kFloatTile = 1024;  // bytes of a tile
constexpr int64_t kFloatPanels = 2;   // that are multiplied together
constexpr int64_t kFloatTurn = 64;    // bytes of the number at the start of scratch memory, aligned as what follows it

// Steps of the depth whose digits lie in scratch memory at a time: all, or of many equal parts, of which more rows fit.
constexpr int64_t kFloatOnePart = 1024, kFloatPart = 384;
constexpr int64_t floatBlocks(int64_t steps) { return (steps + kFloatSteps - 1) / kFloatSteps; }
constexpr bool floatIsOnePart(int64_t depth) { return depth <= kFloatOnePart; }
constexpr int64_t floatPart(int64_t depth) {
  int64_t parts = floatIsOnePart(depth) ? 1 : (depth + kFloatPart - 1) / kFloatPart;
  return floatBlocks((depth + parts - 1) / parts) * kFloatSteps;
}
constexpr int64_t floatStrip(int64_t depth) { return floatIsOnePart(depth) ? 128 : 256; }  // rows of a call, at most

// Scratch memory of a call for products `depth` deep: a number, digits of the rows, and twice of two panels.
constexpr int64_t floatTilesBlocks(int64_t depth) { return floatPart(depth) / kFloatSteps; }
constexpr int64_t floatTilesLeft(int64_t depth) {
  return floatStrip(depth) / kFloatRows * floatTilesBlocks(depth) * kFloatDigits * kFloatTile;
}
constexpr int64_t floatTilesRight(int64_t depth) { return floatTilesBlocks(depth) * kFloatPanels * kFloatDigits * kFloatTile; }
constexpr int64_t floatTilesScratch(int64_t depth) { return kFloatTurn + floatTilesLeft(depth) + 2 * floatTilesRight(depth); }

}  // namespace onnxc

// void onnxc_float_tiles_F32(a, rowBytes, blockBytes, rows, depth, b, panelBytes, panels, behind, again, scratch, sums, results,
// resultRowBytes, resultPanelBytes), and so for each of FloatPanels; all but a, b, scratch, sums and results are int64_t.
// onnxc_float_tiles_rounded_BF16: the rows rounded to bf16, of one digit then.
//
// Sums of `rows` rows of A times `panels` panels of B, `depth` steps deep, to sums[row][panel][16], whose rows go on to floatStrip.
// Step k of a row lies at a + row * rowBytes + (k / 16) * blockBytes + (k % 16) * 4, step k of a panel at
// b + panel * panelBytes + k * (bytes of 16 numbers). Every sum depends on its row and its panel alone.
//
// again    rows are those of the call before, not deeper than kFloatOnePart, panels those behind its, which it was told are `behind`, and
//          `scratch`, aligned to 64 bytes, is as that left it
// results  the caller will write results at results + row * resultRowBytes + panel * resultPanelBytes: these lines are asked for
//
// Only after onnxc_rt_tiles() has said yes.
