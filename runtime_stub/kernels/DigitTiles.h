// DigitTiles.h: sums of products of f32 on x86's tiles that multiply bf16 (AMX), for FloatTiles.cpp and FloatWindows.cpp. A float is the
// sum of three bf16, its digits, of 8 bits of its significand each. Of the nine products of two floats' digits the six greatest are added
// up in f32, which leaves out less than 2^-21 of a product, 2^-24 on average: results are as near as those of a chain of f32 FMAs. Tiles
// take subnormal digits for zero: of numbers below 2^-110 more is left out. The lower digits of an infinity are NaN, and so are sums with
// them.
//
// block  32 steps of the depth, what a tile holds of a row
// left   digits of a tile of rows: [block][digit][16 rows][32 steps]; one digit of rows that are rounded to bf16
// right  digits of panels of 16 columns, two beside rows and one beside windows: [block][panel][digit][16 pairs of steps][16 columns][2].
//        The taps of windows read the same pixels, which the first-level cache holds, so two tiles of these share what a panel loads
#pragma once
#include "runtime_stub/kernels/FloatTiles.h"
#include "runtime_stub/kernels/TileRegisters.h"

#if !defined(__aarch64__)
namespace onnxc {
namespace {

constexpr int64_t kTileRows = kFloatRows, kTile = kFloatTile, kSteps = kFloatSteps, kPanels = kFloatPanels;
constexpr int64_t kLeftBlock = kFloatDigits * kTile;  // bytes, of three digits

typedef uint16_t u16x32 __attribute__((ext_vector_type(32), aligned(4)));

// The bf16 that sixteen steps and the sixteen behind them are, one after the other.
ONNXC_INLINE u16x32 joined(v16 low, v16 high) {
  return __builtin_shufflevector(__builtin_bit_cast(u16x32, low), __builtin_bit_cast(u16x32, high), 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
                                 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63);
}

struct Digits {
  v16 first, second, third;
};

ONNXC_INLINE u32x16 bitsOf(v16 v) { return __builtin_bit_cast(u32x16, v); }
ONNXC_INLINE v16 upper(v16 v) { return __builtin_bit_cast(v16, bitsOf(v) & 0xffff0000u); }
ONNXC_INLINE Digits digitsOf(v16 v) {
  v16 first = upper(v), rest = v - first, second = upper(rest);
  return {first, second, rest - second};
}

// The digits of sixteen steps and the sixteen behind them, `distance` bytes from one digit to the next.
ONNXC_INLINE void storeLeft(uint8_t *to, int64_t distance, v16 low, v16 high) {
  Digits l = digitsOf(low), h = digitsOf(high);
  *(u16x32 *)to = joined(l.first, h.first);
  *(u16x32 *)(to + distance) = joined(l.second, h.second);
  *(u16x32 *)(to + 2 * distance) = joined(l.third, h.third);
}

// Rounded to bf16, to nearest even; NaN stays NaN.
ONNXC_INLINE v16 rounded(v16 v) {
  u32x16 bits = bitsOf(v), nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return __builtin_bit_cast(v16, v == v ? nearest : bits | 0x400000u);
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

// As loadTiles.
template <int TILES>
ONNXC_TILES __attribute__((always_inline)) static inline void storeSums(float *c, int64_t stride, int64_t distance = 16) {
  auto store = [=](auto tile, float *at) ONNXC_TILES
      __attribute__((always_inline)) { __builtin_ia32_tilestored64(tile.value, at, stride); };
  eachTile<TILES>(c, store, distance);
}

// Sums of a tile of rows of LEFT digits, three or one, by COLUMNS panels of DIGITS digits over `blocks` blocks; they begin with those in
// memory where `more`.
// `work`: what vectors do while tiles multiply, step() after each product of digits and block() after each block.
template <int LEFT, int DIGITS, int COLUMNS, class Work>
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
  for (int64_t i = 0; i < blocks; ++i, left += LEFT * kTile, right += kPanels * DIGITS * kTile) {
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
    if constexpr (LEFT > 1) {
      ONNXC_LEFT(1);
      if constexpr (DIGITS > 1) {
        ONNXC_MULTIPLY;
      }
    }
    ONNXC_RIGHT(0);
    if constexpr (LEFT > 1) {
      ONNXC_MULTIPLY;
      ONNXC_LEFT(2);
      ONNXC_MULTIPLY;
    }
    if constexpr (LEFT > 1 || DIGITS == 1) {
      ONNXC_LEFT(0);
    }
    ONNXC_MULTIPLY;
    own.block();
  }
  work = own;
#undef ONNXC_LEFT
#undef ONNXC_RIGHT
#undef ONNXC_MULTIPLY
  storeSums<COLUMNS>(sums, stride);
}

// Pixels of an image that two tiles hold: the digits of a tap lie offsets[tap] bytes behind `one` and `two`, digitBytes from one digit to
// the next, those of a pair of blocks behind those of the one before.
struct Pixels {
  const uint8_t *one, *two;
  int64_t digitBytes;
  const int64_t *offsets;
  int64_t taps, pairs;
};

// Sums of TILES tiles of pixels by a panel of three digits; they begin with those in memory where `more`, `distance` floats from one tile's
// to the other's. `work` as above.
template <int TILES, class Work>
ONNXC_TILES __attribute__((noinline)) void multiplyPixels(Pixels p, const uint8_t *right, float *sums, int64_t distance, bool more,
                                                          Work &work) {
  Work own = work;
  loadTiles<TILES>(more ? sums : nullptr, 64, distance);
#define ONNXC_LEFT(D)                                                                                                                      \
  __builtin_ia32_tileloadd64(4, at + D * p.digitBytes, 64);                                                                                \
  if constexpr (TILES > 1)                                                                                                                 \
  __builtin_ia32_tileloadd64(5, at + second + D * p.digitBytes, 64)
#define ONNXC_RIGHT(D) __builtin_ia32_tileloadd64(6, right + D * kTile, 64)
#define ONNXC_MULTIPLY                                                                                                                     \
  __builtin_ia32_tdpbf16ps(0, 4, 6);                                                                                                       \
  if constexpr (TILES > 1)                                                                                                                 \
    __builtin_ia32_tdpbf16ps(1, 5, 6);                                                                                                     \
  own.step()
  int64_t second = p.two - p.one, tap = 0;
  for (int64_t i = 0; i < p.pairs * p.taps; ++i, right += kLeftBlock) {
    const uint8_t *at = p.one + p.offsets[tap];
    if (++tap == p.taps)
      tap = 0, p.one += kFloatDigits * p.digitBytes;
    ONNXC_RIGHT(0);
    ONNXC_LEFT(2);
    ONNXC_MULTIPLY;
    ONNXC_LEFT(1);
    ONNXC_MULTIPLY;
    ONNXC_RIGHT(1);
    ONNXC_MULTIPLY;
    ONNXC_LEFT(0);
    ONNXC_MULTIPLY;
    ONNXC_RIGHT(2);
    ONNXC_MULTIPLY;
    ONNXC_RIGHT(0);
    ONNXC_MULTIPLY;
    own.block();
  }
  work = own;
#undef ONNXC_LEFT
#undef ONNXC_RIGHT
#undef ONNXC_MULTIPLY
  storeSums<TILES>(sums, 64, distance);
}

}  // namespace
}  // namespace onnxc
#endif
