// TileRegisters.h: x86's registers of tiles (AMX) as MatrixTiles.h and FloatTiles.cpp use them, 16 rows of 64 bytes each at most.
#pragma once
#include "runtime_stub/kernels/Lanes.h"

#if !defined(__aarch64__)
#define ONNXC_TILES __attribute__((target("amx-tile,amx-int8,amx-bf16")))

namespace onnxc {

// Between these two a thread's tiles hold values: 0 to 3 sums, 4 and 5 `rows` rows of A, 6 and 7 panels.
ONNXC_TILES __attribute__((noinline)) static void startTiles(int64_t rows) {
  uint8_t each = uint8_t(rows);
  struct {
    uint8_t palette, row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {each, each, each, each, each, each, 16, 16}};
  __builtin_ia32_tile_loadconfig(&shape);
}
ONNXC_TILES __attribute__((noinline)) static void endTiles() { __builtin_ia32_tilerelease(); }

// f(tile, where its sums lie) of ROWS by COLUMNS tiles of 16 sums a row; c, under: the first rows of both.
template <int ROWS, int COLUMNS, class Sums, class F>
ONNXC_TILES __attribute__((always_inline)) static inline void eachTile(Sums *c, Sums *under, const F &f) {
  f(Index<0>{}, c);
  if constexpr (COLUMNS > 1)
    f(Index<1>{}, c + 16);
  if constexpr (ROWS > 1)
    f(Index<2>{}, under);
  if constexpr (ROWS > 1 && COLUMNS > 1)
    f(Index<3>{}, under + 16);
}

// The tiles' sums become those in memory, rows `stride` bytes apart, or 0 where `c` is null.
template <int ROWS, int COLUMNS, class Sums>
ONNXC_TILES __attribute__((always_inline)) static inline void loadTiles(Sums *c, Sums *under, int64_t stride) {
  if (c) {
    eachTile<ROWS, COLUMNS>(c, under, [=](auto tile, Sums *at) ONNXC_TILES __attribute__((always_inline)) {
      __builtin_ia32_tileloadd64(tile.value, at, stride);
    });
  } else {
    eachTile<ROWS, COLUMNS>(c, under,
                            [](auto tile, Sums *) ONNXC_TILES __attribute__((always_inline)) { __builtin_ia32_tilezero(tile.value); });
  }
}

}  // namespace onnxc
#endif
