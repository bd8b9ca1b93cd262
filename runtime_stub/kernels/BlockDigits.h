// BlockDigits.h: one row of f32 times 4-bit weights on instructions that multiply bytes, for FastBlockWeights.cpp. A value is two or three
// signed bytes over the range of its block, 14 or 21 bits together; with three the product is as exact as one of f32.
//
// group  128 values: 64 bytes of a column, even values in the low halves of the bytes
// lane   eight neighbouring values of a group, whose products are summed as an integer
#pragma once
#include "runtime_stub/kernels/BlockWeights.h"
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

constexpr int64_t kGroup = 128;
constexpr int kDigitBits = 7;

// A row of the left matrix, of DIGITS bytes a value.
template <int DIGITS>
struct DigitRow {
  int8_t *digits;   // [group][digit, most significant first][even, odd][64]
  float *units;     // [group][lane]: what an integer is worth
  int32_t *totals;  // [group][lane]: eight times the sum of the lane's integers
  static int64_t bytes(int64_t groups) { return groups * (DIGITS * kGroup + 16 * 8); }
  // In `room`, of bytes(groups).
  void place(char *room, int64_t groups) {
    units = reinterpret_cast<float *>(room), totals = reinterpret_cast<int32_t *>(units + groups * 16);
    digits = reinterpret_cast<int8_t *>(totals + groups * 16);
  }
};
// Columns of `groups` groups.
struct DigitColumns {
  const uint8_t *bytes, *zeros;  // zeros: a nibble for each scale, null: all are 8
  const float *scales;
  int64_t groups;
};

ONNXC_INLINE float laneSum(v16 v) {
  auto half = v.lo + v.hi;
  auto quarter = half.lo + half.hi;
  auto pair = quarter.lo + quarter.hi;
  return pair.x + pair.y;
}

template <int DIGITS>
ONNXC_INLINE void storeDigits(v16 values, float inverse, int8_t *to) {
  constexpr int kHalf = 1 << (kDigitBits - 1);
  i32x16 v = __builtin_convertvector(__builtin_elementwise_rint(values * inverse), i32x16);
  unroll<0, DIGITS>([&](auto d) {
    constexpr int kLast = DIGITS - 1 - d.value;  // from the least significant one on
    i32x16 rest = kLast ? (v + kHalf) >> kDigitBits : i32x16(0);
    *(i8x16 *)(to + kLast * kGroup) = __builtin_convertvector(v - (rest << kDigitBits), i8x16);
    v = rest;
  });
}

// Whole groups; `block`: values that share a range, 32 to 128. False where a value is not finite.
template <int DIGITS>
bool splitRow(const float *x, int64_t groups, int64_t block, const DigitRow<DIGITS> &to) {
  constexpr float kMost = 127 << kDigitBits * (DIGITS - 1);
  for (int64_t first = 0; first < groups * kGroup; first += block) {
    float most = largestOf(x + first, block);
    if (!(most <= __FLT_MAX__))
      return false;
    float inverse = most >= 1e-30f ? kMost / most : 0, unit = inverse == 0 ? 0 : most / kMost;
    for (int64_t lane = first / 8; lane < (first + block) / 8; ++lane)
      to.units[lane] = unit;
    for (int64_t i = first; i < first + block; i += 32) {
      v16 a = *(const v16 *)(x + i), b = *(const v16 *)(x + i + 16);
      int8_t *digit = to.digits + i / kGroup * DIGITS * kGroup + i % kGroup / 2;
      storeDigits<DIGITS>(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), inverse, digit);
      storeDigits<DIGITS>(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), inverse, digit + 64);
    }
  }
  return true;
}

// The sums of products of 64 bytes `low` with `even` and `high` with `odd`, lane by lane; low and high are at most 15.
ONNXC_DOTS __attribute__((always_inline)) inline void laneDots(const bytes64 &low, const bytes64 &even, const bytes64 &high,
                                                               const bytes64 &odd, q16 &to) {
  to = ONNXC_DOT64(ONNXC_DOT64(q16{}, low, even), high, odd);
}
#if !defined(__aarch64__)
struct Halves {
  Bytes32 of[2];
};
ONNXC_DOTS256 __attribute__((always_inline)) inline void laneDots256(const bytes64 &low, const bytes64 &even, const bytes64 &high,
                                                                     const bytes64 &odd, q16 &to) {
  Halves l = __builtin_bit_cast(Halves, low), e = __builtin_bit_cast(Halves, even), h = __builtin_bit_cast(Halves, high),
         o = __builtin_bit_cast(Halves, odd), sums;
#pragma clang loop unroll(full)
  for (int i = 0; i < 2; ++i)
    sums.of[i] = (Bytes32)__builtin_ia32_vpdpbusd256(__builtin_ia32_vpdpbusd256(Quads8{}, l.of[i], e.of[i]), h.of[i], o.of[i]);
  to = __builtin_bit_cast(q16, sums);
}
ONNXC_AVX2 __attribute__((always_inline)) inline void lanePairs(const bytes64 &low, const bytes64 &even, const bytes64 &high,
                                                                const bytes64 &odd, q16 &to) {
  Halves l = __builtin_bit_cast(Halves, low), e = __builtin_bit_cast(Halves, even), h = __builtin_bit_cast(Halves, high),
         o = __builtin_bit_cast(Halves, odd), sums;
#pragma clang loop unroll(full)
  for (int i = 0; i < 2; ++i) {
    Words16 words = (Words16)__builtin_ia32_pmaddubsw256(l.of[i], e.of[i]) + (Words16)__builtin_ia32_pmaddubsw256(h.of[i], o.of[i]);
    sums.of[i] = (Bytes32)__builtin_ia32_pmaddwd256(words, 1 - Words16{});
  }
  to = __builtin_bit_cast(q16, sums);
}
#endif

// The scales and zero points of a group of one column, which has SCALES of them, lane by lane.
template <int SCALES>
ONNXC_INLINE void laneScales(const float *from, v16 &to) {
  v8 s = v8(0.0f);
  memcpy(&s, from, SCALES * sizeof(float));
  to = SCALES == 8   ? __builtin_shufflevector(s, s, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
       : SCALES == 4 ? __builtin_shufflevector(s, s, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
       : SCALES == 2 ? __builtin_shufflevector(s, s, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
                     : v16(s.x);
}
template <int SCALES>
ONNXC_INLINE void laneZeros(const uint8_t *zeros, int64_t g, q16 &to) {
  int32_t bits = 0;
  memcpy(&bits, zeros + g * SCALES / 2, SCALES > 2 ? SCALES / 2 : 1);
  if (SCALES == 1)
    bits >>= g % 2 * 4;
  constexpr int A = SCALES >= 8 ? 4 : 0, B = SCALES >= 4 ? SCALES : 0, C = SCALES >= 2 ? 2 * SCALES : 0;
  constexpr q16 kShifts = {0, 0, A, A, B, B, A + B, A + B, C, C, A + C, A + C, B + C, B + C, A + B + C, A + B + C};
  to = (bits - q16{}) >> kShifts & 15;
}

constexpr int kDigitColumns = 4;  // that digitProducts() takes

// TOTAL: row.totals. PRODUCTS: of neighbouring columns, SCALES scales a group; sixteen parts of each result.
#define ONNXC_DIGITS(ATTRIBUTE, DOTS, TOTAL, PRODUCTS)                                                                                     \
  template <int DIGITS>                                                                                                                    \
  ATTRIBUTE __attribute__((always_inline)) inline void DOTS##OfDigits(const bytes64 &low, const bytes64 &high, const int8_t *row,          \
                                                                      q16 &sum) {                                                          \
    sum = q16{};                                                                                                                           \
    _Pragma("clang loop unroll(full)") for (int d = 0; d < DIGITS; ++d) {                                                                  \
      bytes64 even, odd;                                                                                                                   \
      memcpy(&even, row + d * kGroup, 64), memcpy(&odd, row + d * kGroup + 64, 64);                                                        \
      q16 one;                                                                                                                             \
      DOTS(low, even, high, odd, one);                                                                                                     \
      sum = (sum << kDigitBits) + one;                                                                                                     \
    }                                                                                                                                      \
  }                                                                                                                                        \
  template <int DIGITS>                                                                                                                    \
  ATTRIBUTE __attribute__((noinline)) static void TOTAL(const DigitRow<DIGITS> &row, int64_t groups) {                                     \
    const bytes64 eight = (bytes64)(0x08080808 - q16{});                                                                                   \
    for (int64_t g = 0; g < groups; ++g) {                                                                                                 \
      q16 sum;                                                                                                                             \
      DOTS##OfDigits<DIGITS>(eight, eight, row.digits + g * DIGITS * kGroup, sum);                                                         \
      memcpy(row.totals + g * 16, &sum, 64);                                                                                               \
    }                                                                                                                                      \
  }                                                                                                                                        \
  template <int DIGITS, int SCALES>                                                                                                        \
  ATTRIBUTE __attribute__((noinline)) static void PRODUCTS(const DigitRow<DIGITS> &row, const DigitColumns &w, float *lanes) {             \
    int64_t stride = 64 * w.groups, zeroStride = (w.groups * SCALES + 1) / 2;                                                              \
    v16 acc[kDigitColumns] = {};                                                                                                           \
    for (int64_t g = 0; g < w.groups; ++g) {                                                                                               \
      q16 totals;                                                                                                                          \
      memcpy(&totals, row.totals + g * 16, 64);                                                                                            \
      v16 unit = *(const v16 *)(row.units + g * 16);                                                                                       \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < kDigitColumns; ++c) {                                                         \
        q16 both;                                                                                                                          \
        memcpy(&both, w.bytes + c * stride + g * 64, 64);                                                                                  \
        __builtin_prefetch(w.bytes + (c + kDigitColumns) * stride + g * 64);                                                               \
        bytes64 low = (bytes64)(both & 0x0f0f0f0f), high = (bytes64)(both >> 4 & 0x0f0f0f0f);                                              \
        q16 sum;                                                                                                                           \
        DOTS##OfDigits<DIGITS>(low, high, row.digits + g * DIGITS * kGroup, sum);                                                          \
        if (w.zeros) {                                                                                                                     \
          q16 zeros;                                                                                                                       \
          laneZeros<SCALES>(w.zeros + c * zeroStride, g, zeros);                                                                           \
          sum -= (totals >> 3) * zeros;                                                                                                    \
        } else {                                                                                                                           \
          sum -= totals;                                                                                                                   \
        }                                                                                                                                  \
        v16 scale;                                                                                                                         \
        laneScales<SCALES>(w.scales + (c * w.groups + g) * SCALES, scale);                                                                 \
        acc[c] = __builtin_elementwise_fma(__builtin_convertvector((i32x16)sum, v16), scale * unit, acc[c]);                               \
      }                                                                                                                                    \
    }                                                                                                                                      \
    memcpy(lanes, acc, sizeof(acc));                                                                                                       \
  }
ONNXC_DIGITS(ONNXC_DOTS, laneDots, totalDots, digitDots)
#if !defined(__aarch64__)
ONNXC_DIGITS(ONNXC_DOTS256, laneDots256, totalDots256, digitDots256)
ONNXC_DIGITS(ONNXC_AVX2, lanePairs, totalPairs, digitPairs)
#endif
#undef ONNXC_DIGITS

ONNXC_INLINE bool hasDigits(const onnxc_args *a) {
#if defined(__aarch64__)
  return hasDots(a);
#else
  return onnxc_vector_bits >= 256;
#endif
}
template <int DIGITS>
void totalRow(bool dots, const DigitRow<DIGITS> &row, int64_t groups) {
#if !defined(__aarch64__)
  if (!dots)
    return totalPairs<DIGITS>(row, groups);
  if (onnxc_vector_bits < kDotBits)
    return totalDots256<DIGITS>(row, groups);
#endif
  totalDots<DIGITS>(row, groups);
}
template <int DIGITS, int SCALES>
void digitProducts(bool dots, const DigitRow<DIGITS> &row, const DigitColumns &w, float *lanes) {
#if !defined(__aarch64__)
  if (!dots)
    return digitPairs<DIGITS, SCALES>(row, w, lanes);
  if (onnxc_vector_bits < kDotBits)
    return digitDots256<DIGITS, SCALES>(row, w, lanes);
#endif
  digitDots<DIGITS, SCALES>(row, w, lanes);
}

}  // namespace onnxc
