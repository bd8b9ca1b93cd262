// TileRegisters.h: x86's registers of tiles (AMX) as MatrixTiles.h multiplies bytes on them, and DigitTiles.h digits for FloatTiles.cpp and
// FloatWindows.cpp: 16 rows of 64 bytes each at most.
#pragma once
#include "runtime_stub/kernels/Lanes.h"

#if !defined(__aarch64__)
#define ONNXC_TILES __attribute__((target("amx-tile,amx-int8,amx-bf16")))

namespace onnxc {

// Between these two a thread's tiles hold values: 0 and 1 sums, 4 `rows` rows of A, of two tiles of these 4 and 5, 6 and 7 panels. Where a
// core's other thread is busy, a thread seems to have ten registers for its eight tiles: those that hold none are what loads and products
// under way write to. Two tiles of rows at a time, which need all eight, take twice as long there.
ONNXC_TILES __attribute__((noinline)) static void startTiles(int64_t rows, int rowTiles = 1) {
  uint8_t each = uint8_t(rows), second = rowTiles > 1 ? each : 0;
  struct {
    uint8_t palette, row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {1, 0, {}, {64, 64, 0, 0, 64, uint16_t(second ? 64 : 0), 64, 64}, {each, each, 0, 0, each, second, 16, 16}};
  __builtin_ia32_tile_loadconfig(&shape);
}
ONNXC_TILES __attribute__((noinline)) static void endTiles() { __builtin_ia32_tilerelease(); }

// f(tile, where its sums lie) of TILES tiles of 16 sums a row, `distance` sums from one to the other: those of panels of a row lie side by
// side.
template <int TILES, class Sums, class F>
ONNXC_TILES __attribute__((always_inline)) static inline void eachTile(Sums *c, const F &f, int64_t distance = 16) {
  f(Index<0>{}, c);
  if constexpr (TILES > 1)
    f(Index<1>{}, c + distance);
}

// The tiles' sums become those in memory, rows `stride` bytes apart, or 0 where `c` is null.
template <int TILES, class Sums>
ONNXC_TILES __attribute__((always_inline)) static inline void loadTiles(Sums *c, int64_t stride, int64_t distance = 16) {
  auto load = [=](auto tile, Sums *at) ONNXC_TILES __attribute__((always_inline)) { __builtin_ia32_tileloadd64(tile.value, at, stride); };
  auto clear = [](auto tile, Sums *) ONNXC_TILES __attribute__((always_inline)) { __builtin_ia32_tilezero(tile.value); };
  if (c)
    eachTile<TILES>(c, load, distance);
  else
    eachTile<TILES>(c, clear, distance);
}

}  // namespace onnxc
#endif
