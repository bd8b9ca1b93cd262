// BlockDigits.h: one row of f32 times weights of 4 or 8 bits on instructions that multiply bytes, for FastBlockWeights.cpp. A value is one
// to three signed bytes over the range of its block, 7 to 21 bits together; with three the product is as exact as one of f32.
//
// group  64 bytes of a column: 128 or 64 values; of 4 bits the even ones are in the low halves of the bytes
// lane   eight or four neighbouring values of a group, whose products are summed as an integer
#pragma once
#include "runtime_stub/kernels/BlockWeights.h"
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

template <int BITS>
constexpr int64_t kGroup = 512 / BITS;
constexpr int kDigitBits = 7;

// A row of the left matrix, of DIGITS bytes a value.
template <int BITS, int DIGITS>
struct DigitRow {
  int8_t *digits;   // [group][digit, most significant first][even, odd of 4 bits; all of 8][64]
  float *units;     // [group][lane]: what an integer is worth
  int32_t *totals;  // [group][lane]: the middle of the weights times the sum of the lane's integers, negated
  static int64_t bytes(int64_t groups) { return groups * (DIGITS * kGroup<BITS> + 16 * 8); }
  // In `room`, of bytes(groups).
  void place(char *room, int64_t groups) {
    units = reinterpret_cast<float *>(room), totals = reinterpret_cast<int32_t *>(units + groups * 16);
    digits = reinterpret_cast<int8_t *>(totals + groups * 16);
  }
};
// Columns of `groups` groups. A scale is for a part of a group, or for some whole ones.
struct DigitColumns {
  const uint8_t *bytes, *zeros;  // zeros: BITS for each scale, null: all are the middle
  const float *scales;
  int64_t groups, groupsOfScale, scaleStride, zeroStride;  // strides: of a column, in floats and bytes

  DigitColumns from(int64_t c) const {
    return {bytes + c * 64 * groups,
            zeros ? zeros + c * zeroStride : nullptr,
            scales + c * scaleStride,
            groups,
            groupsOfScale,
            scaleStride,
            zeroStride};
  }
};

ONNXC_INLINE float laneSum(v16 v) {
  auto half = v.lo + v.hi;
  auto quarter = half.lo + half.hi;
  auto pair = quarter.lo + quarter.hi;
  return pair.x + pair.y;
}

template <int BITS, int DIGITS>
ONNXC_INLINE void storeDigits(v16 values, float inverse, int8_t *to) {
  constexpr int kHalf = 1 << (kDigitBits - 1);
  i32x16 v = __builtin_convertvector(__builtin_elementwise_rint(values * inverse), i32x16);
  unroll<0, DIGITS>([&](auto d) {
    constexpr int kLast = DIGITS - 1 - d.value;  // from the least significant one on
    i32x16 rest = kLast ? (v + kHalf) >> kDigitBits : i32x16(0);
    *(i8x16 *)(to + kLast * kGroup<BITS>) = __builtin_convertvector(v - (rest << kDigitBits), i8x16);
    v = rest;
  });
}

// Whole groups; `block`: values that share a range, 32 to 128. False where a value is not finite.
template <int BITS, int DIGITS>
bool splitRow(const float *x, int64_t groups, int64_t block, const DigitRow<BITS, DIGITS> &to) {
  constexpr float kMost = 127 << kDigitBits * (DIGITS - 1);
  constexpr int64_t kLane = kGroup<BITS> / 16;
  for (int64_t first = 0; first < groups * kGroup<BITS>; first += block) {
    float most = largestOf(x + first, block);
    if (!(most <= __FLT_MAX__))
      return false;
    float inverse = most >= 1e-30f ? kMost / most : 0, unit = inverse == 0 ? 0 : most / kMost;
    for (int64_t lane = first / kLane; lane < (first + block) / kLane; ++lane)
      to.units[lane] = unit;
    for (int64_t i = first; i < first + block; i += 32) {
      v16 a = *(const v16 *)(x + i), b = *(const v16 *)(x + i + 16);
      int8_t *digit = to.digits + i / kGroup<BITS> * DIGITS * kGroup<BITS>;
      if constexpr (BITS == 4) {
        digit += i % kGroup<BITS> / 2;
        storeDigits<BITS, DIGITS>(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), inverse, digit);
        storeDigits<BITS, DIGITS>(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), inverse,
                                  digit + 64);
      } else {
        digit += i % kGroup<BITS>;
        storeDigits<BITS, DIGITS>(a, inverse, digit);
        storeDigits<BITS, DIGITS>(b, inverse, digit + 16);
      }
    }
  }
  return true;
}

// Adds the products of 64 bytes of weights with as many of a row, lane by lane, to `to`.
ONNXC_DOTS __attribute__((always_inline)) inline void laneDots(const bytes64 &weights, const bytes64 &row, q16 &to) {
  to = ONNXC_DOT64(to, weights, row);
}
#if !defined(__aarch64__)
struct Halves {
  Bytes32 of[2];
};
ONNXC_DOTS256 __attribute__((always_inline)) inline void laneDots256(const bytes64 &weights, const bytes64 &row, q16 &to) {
  Halves w = __builtin_bit_cast(Halves, weights), r = __builtin_bit_cast(Halves, row), sums = __builtin_bit_cast(Halves, to);
#pragma clang loop unroll(full)
  for (int i = 0; i < 2; ++i)
    sums.of[i] = (Bytes32)__builtin_ia32_vpdpbusd256((Quads8)sums.of[i], w.of[i], r.of[i]);
  to = __builtin_bit_cast(q16, sums);
}
// Weights are at most 15.
ONNXC_AVX2 __attribute__((always_inline)) inline void lanePairs(const bytes64 &weights, const bytes64 &row, q16 &to) {
  Halves w = __builtin_bit_cast(Halves, weights), r = __builtin_bit_cast(Halves, row), sums = __builtin_bit_cast(Halves, to);
#pragma clang loop unroll(full)
  for (int i = 0; i < 2; ++i)
    sums.of[i] = (Bytes32)((Quads8)sums.of[i] +
                           (Quads8)__builtin_ia32_pmaddwd256((Words16)__builtin_ia32_pmaddubsw256(w.of[i], r.of[i]), 1 - Words16{}));
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
// Of a group, or of the scale that several have, number g.
template <int BITS, int SCALES>
ONNXC_INLINE void laneZeros(const uint8_t *zeros, int64_t g, q16 &to) {
  int32_t bits = 0;
  memcpy(&bits, zeros + g * SCALES * BITS / 8, SCALES * BITS > 8 ? SCALES * BITS / 8 : 1);
  if constexpr (BITS == 8) {
    constexpr int A = SCALES >= 4 ? 8 : 0, B = SCALES >= 4 ? 16 : SCALES >= 2 ? 8 : 0;
    constexpr q16 kShifts = {0, 0, 0, 0, A, A, A, A, B, B, B, B, A + B, A + B, A + B, A + B};
    to = (bits - q16{}) >> kShifts & 255;
  } else {
    if (SCALES == 1)
      bits >>= g % 2 * 4;
    constexpr int A = SCALES >= 8 ? 4 : 0, B = SCALES >= 4 ? SCALES : 0, C = SCALES >= 2 ? 2 * SCALES : 0;
    constexpr q16 kShifts = {0, 0, A, A, B, B, A + B, A + B, C, C, A + C, A + C, B + C, B + C, A + B + C, A + B + C};
    to = (bits - q16{}) >> kShifts & 15;
  }
}

constexpr int kDigitColumns = 4;  // that digitProducts() takes
// Of these a loop takes so many: registers hold their weights and scales beside the sums of ROWS rows.
template <int ROWS>
constexpr int kTogether = ROWS > 2 ? kDigitColumns / 2 : kDigitColumns;

// TOTAL: row.totals. PRODUCTS: of ROWS rows with kDigitColumns neighbouring columns, SCALES scales a group; sixteen parts of each result,
// [row][column][16].
#define ONNXC_DIGITS(ATTRIBUTE, DOTS, TOTAL, PRODUCTS)                                                                                     \
  template <int BITS, int DIGITS>                                                                                                          \
  ATTRIBUTE __attribute__((always_inline)) inline void DOTS##OfDigits(const bytes64 &low, const bytes64 &high, const int8_t *row,          \
                                                                      const q16 &start, q16 &sum) {                                        \
    _Pragma("clang loop unroll(full)") for (int d = 0; d < DIGITS; ++d) {                                                                  \
      bytes64 bytes;                                                                                                                       \
      q16 one = {};                                                                                                                        \
      if (d == DIGITS - 1)                                                                                                                 \
        one = start;                                                                                                                       \
      memcpy(&bytes, row + d * kGroup<BITS>, 64);                                                                                          \
      DOTS(low, bytes, one);                                                                                                               \
      if (BITS == 4) {                                                                                                                     \
        memcpy(&bytes, row + d * kGroup<BITS> + 64, 64);                                                                                   \
        DOTS(high, bytes, one);                                                                                                            \
      }                                                                                                                                    \
      sum = d ? (sum << kDigitBits) + one : one;                                                                                           \
    }                                                                                                                                      \
  }                                                                                                                                        \
  template <int BITS, int DIGITS>                                                                                                          \
  ATTRIBUTE __attribute__((noinline)) static void TOTAL(const DigitRow<BITS, DIGITS> &row, int64_t groups) {                               \
    const bytes64 middle = (bytes64)((BITS == 4 ? 0x08080808 : int32_t(0x80808080)) - q16{});                                              \
    for (int64_t g = 0; g < groups; ++g) {                                                                                                 \
      q16 sum;                                                                                                                             \
      DOTS##OfDigits<BITS, DIGITS>(middle, middle, row.digits + g * DIGITS * kGroup<BITS>, q16{}, sum);                                    \
      sum = -sum;                                                                                                                          \
      memcpy(row.totals + g * 16, &sum, 64);                                                                                               \
    }                                                                                                                                      \
  }                                                                                                                                        \
  template <int BITS, int DIGITS, int SCALES, int ROWS, bool ZEROS>                                                                        \
  ATTRIBUTE __attribute__((noinline)) static void PRODUCTS##Of(const DigitRow<BITS, DIGITS> *rows, const DigitColumns &w, float *lanes) {  \
    constexpr int C = kTogether<ROWS>;                                                                                                     \
    int64_t stride = 64 * w.groups, of = 0, met = 0;                                                                                       \
    v16 acc[ROWS][C] = {};                                                                                                                 \
    for (int64_t g = 0; g < w.groups; ++g) {                                                                                               \
      bytes64 low[C], high[C];                                                                                                             \
      q16 zeros[C];                                                                                                                        \
      v16 scales[C];                                                                                                                       \
      _Pragma("clang loop unroll(full)") for (int c = 0; c < C; ++c) {                                                                     \
        q16 both;                                                                                                                          \
        memcpy(&both, w.bytes + c * stride + g * 64, 64);                                                                                  \
        __builtin_prefetch(w.bytes + (c + kDigitColumns) * stride + g * 64);                                                               \
        low[c] = (bytes64)(BITS == 4 ? both & 0x0f0f0f0f : both), high[c] = (bytes64)(both >> 4 & 0x0f0f0f0f);                             \
        laneScales<SCALES>(w.scales + c * w.scaleStride + of * SCALES, scales[c]);                                                         \
        if (ZEROS)                                                                                                                         \
          laneZeros<BITS, SCALES>(w.zeros + c * w.zeroStride, of, zeros[c]);                                                               \
      }                                                                                                                                    \
      _Pragma("clang loop unroll(full)") for (int r = 0; r < ROWS; ++r) {                                                                  \
        q16 sum, totals;                                                                                                                   \
        memcpy(&totals, rows[r].totals + g * 16, 64);                                                                                      \
        v16 unit = *(const v16 *)(rows[r].units + g * 16);                                                                                 \
        _Pragma("clang loop unroll(full)") for (int c = 0; c < C; ++c) {                                                                   \
          DOTS##OfDigits<BITS, DIGITS>(low[c], high[c], rows[r].digits + g * DIGITS * kGroup<BITS>,                                        \
                                       ZEROS ? (totals >> (BITS - 1)) * zeros[c] : totals, sum);                                           \
          acc[r][c] = __builtin_elementwise_fma(__builtin_convertvector((i32x16)sum, v16), scales[c] * unit, acc[r][c]);                   \
        }                                                                                                                                  \
      }                                                                                                                                    \
      if (++met == w.groupsOfScale)                                                                                                        \
        met = 0, ++of;                                                                                                                     \
    }                                                                                                                                      \
    _Pragma("clang loop unroll(full)") for (int r = 0; r < ROWS; ++r) memcpy(lanes + r * kDigitColumns * 16, acc[r], sizeof(acc[r]));      \
  }                                                                                                                                        \
  template <int BITS, int DIGITS, int SCALES, int ROWS>                                                                                    \
  ATTRIBUTE void PRODUCTS(const DigitRow<BITS, DIGITS> *rows, const DigitColumns &w, float *lanes) {                                       \
    for (int c = 0; c < kDigitColumns; c += kTogether<ROWS>)                                                                               \
      w.zeros ? PRODUCTS##Of<BITS, DIGITS, SCALES, ROWS, true>(rows, w.from(c), lanes + c * 16)                                            \
              : PRODUCTS##Of<BITS, DIGITS, SCALES, ROWS, false>(rows, w.from(c), lanes + c * 16);                                          \
  }
ONNXC_DIGITS(ONNXC_DOTS, laneDots, totalDots, digitDots)
#if !defined(__aarch64__)
ONNXC_DIGITS(ONNXC_DOTS256, laneDots256, totalDots256, digitDots256)
ONNXC_DIGITS(ONNXC_AVX2, lanePairs, totalPairs, digitPairs)
#endif
#undef ONNXC_DIGITS

// Weights of 8 bits need instructions that add up products of four unsigned bytes with signed ones: pairs are too large for 16 bits, NEON's
// bytes are signed. Of shorter vectors some processors have them, where results would be others.
template <int BITS>
ONNXC_INLINE bool hasDigits(const onnxc_args *a) {
#if defined(__aarch64__)
  return BITS == 4 && hasDots(a);
#else
  return BITS == 4 ? onnxc_vector_bits >= 256 : onnxc_vector_bits >= kDotBits && hasDots(a);
#endif
}
template <int BITS, int DIGITS>
void totalRow(bool dots, const DigitRow<BITS, DIGITS> &row, int64_t groups) {
#if !defined(__aarch64__)
  if constexpr (BITS == 4)
    if (!dots)
      return totalPairs<BITS, DIGITS>(row, groups);
  if (onnxc_vector_bits < kDotBits)
    return totalDots256<BITS, DIGITS>(row, groups);
#endif
  totalDots<BITS, DIGITS>(row, groups);
}
template <int BITS, int DIGITS, int SCALES, int ROWS>
void digitProducts(bool dots, const DigitRow<BITS, DIGITS> *rows, const DigitColumns &w, float *lanes) {
#if !defined(__aarch64__)
  if constexpr (BITS == 4)
    if (!dots)
      return digitPairs<BITS, DIGITS, SCALES, ROWS>(rows, w, lanes);
  if (onnxc_vector_bits < kDotBits)
    return digitDots256<BITS, DIGITS, SCALES, ROWS>(rows, w, lanes);
#endif
  digitDots<BITS, DIGITS, SCALES, ROWS>(rows, w, lanes);
}

}  // namespace onnxc
