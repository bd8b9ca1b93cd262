// DigitTiles.h: sums of products of f32 on x86's tiles that multiply bf16 (AMX), for FloatTiles.cpp. A float is the
// sum of three bf16, its digits, of 8 bits of its significand each. Of the nine products of two floats' digits the six greatest are added
// up in f32, which leaves out less than 2^-21 of a product, 2^-24 on average: results are as near as those of a chain of f32 FMAs. Tiles
// take subnormal digits for zero: of numbers below 2^-110 more is left out. The lower digits of an infinity are NaN, and so are sums with
// them.
//
// block  32 steps of the depth, what a tile holds of a row
// left   digits of a tile of rows: [block][digit][16 rows][32 steps]
// right  digits of two panels of 16 columns: [block][panel][digit][16 pairs of steps][16 columns][2]
#pragma once
#include "runtime_stub/kernels/FloatTiles.h"
#include "runtime_stub/kernels/TileRegisters.h"

#if !defined(__aarch64__)
namespace onnxc {
namespace {

constexpr int64_t kTileRows = kFloatRows, kTile = kFloatTile, kSteps = kFloatSteps, kPanels = kFloatPanels;
constexpr int64_t kLeftBlock = kFloatDigits * kTile;  // bytes

struct Digits {
  v16 first, second, third;
};

ONNXC_INLINE u32x16 bitsOf(v16 v) { return __builtin_bit_cast(u32x16, v); }
ONNXC_INLINE v16 upper(v16 v) { return __builtin_bit_cast(v16, bitsOf(v) & 0xffff0000u); }
ONNXC_INLINE Digits digitsOf(v16 v) {
  v16 first = upper(v), rest = v - first, second = upper(rest);
  return {first, second, rest - second};
}

// The bf16 of two steps, side by side in each lane.
ONNXC_INLINE u32x16 paired(v16 even, v16 odd) { return bitsOf(even) >> 16 | (bitsOf(odd) & 0xffff0000u); }

// The digits of two steps, kTile bytes from one digit to the next.
ONNXC_INLINE void storeDigits(uint8_t *to, v16 even, v16 odd) {
  Digits e = digitsOf(even), o = digitsOf(odd);
  *(u32x16 *)to = paired(e.first, o.first);
  *(u32x16 *)(to + kTile) = paired(e.second, o.second);
  *(u32x16 *)(to + 2 * kTile) = paired(e.third, o.third);
}

// Sums of a tile of rows by COLUMNS panels of DIGITS digits over `blocks` blocks; they begin with those in memory where `more`.
// `work`: what vectors do while tiles multiply, step() after each product of digits and block() after each block.
template <int DIGITS, int COLUMNS, class Work>
ONNXC_TILES __attribute__((noinline)) void multiplyDigits(const uint8_t *left, const uint8_t *right, int64_t blocks, float *sums,
                                                          int64_t stride, bool more, Work &work) {
  Work own = work;
  loadTiles<COLUMNS>(more ? sums : nullptr, stride);
#define ONNXC_LEFT(D) __builtin_ia32_tileloadd64(4, left + D * kTile, 64)
#define ONNXC_RIGHT(D)                                                                                                                     \
  __builtin_ia32_tileloadd64(6, right + D * kTile, 64);                                                                                    \
  if constexpr (COLUMNS > 1)                                                                                                               \
  __builtin_ia32_tileloadd64(7, right + (DIGITS + D) * kTile, 64)
#define ONNXC_MULTIPLY                                                                                                                     \
  __builtin_ia32_tdpbf16ps(0, 4, 6);                                                                                                       \
  if constexpr (COLUMNS > 1)                                                                                                               \
    __builtin_ia32_tdpbf16ps(1, 4, 7);                                                                                                     \
  own.step()
  // In an order in which each product has a digit of the one before: where another thread shares the core, loads of tiles take the time.
  // What columns of fewer digits leave out is zero in the order of more, so that their sums are the same.
  for (int64_t i = 0; i < blocks; ++i, left += kLeftBlock, right += kPanels * DIGITS * kTile) {
    if constexpr (DIGITS > 1) {
      ONNXC_LEFT(0);
    }
    if constexpr (DIGITS > 2) {
      ONNXC_RIGHT(2);
      ONNXC_MULTIPLY;
    }
    if constexpr (DIGITS > 1) {
      ONNXC_RIGHT(1);
      ONNXC_MULTIPLY;
    }
    ONNXC_LEFT(1);
    if constexpr (DIGITS > 1) {
      ONNXC_MULTIPLY;
    }
    ONNXC_RIGHT(0);
    ONNXC_MULTIPLY;
    ONNXC_LEFT(2);
    ONNXC_MULTIPLY;
    ONNXC_LEFT(0);
    ONNXC_MULTIPLY;
    own.block();
  }
  work = own;
#undef ONNXC_LEFT
#undef ONNXC_RIGHT
#undef ONNXC_MULTIPLY
  eachTile<COLUMNS>(sums, [=](auto tile, float *at) ONNXC_TILES
                    __attribute__((always_inline)) { __builtin_ia32_tilestored64(tile.value, at, stride); });
}

}  // namespace
}  // namespace onnxc
#endif
