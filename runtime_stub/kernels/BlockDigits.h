// BlockDigits.h: one row of f32 times 4-bit weights on instructions that multiply bytes, for FastBlockWeights.cpp. A value is three signed
// bytes over the range of its block, 21 bits together, so that the product is as exact as one of f32.
//
// group  128 values: 64 bytes of a column, which one vector holds, even values in the low halves of the bytes
// lane   eight neighbouring values of a group, whose products one lane of a vector sums
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

constexpr int64_t kGroup = 128;
constexpr int kDigits = 3, kDigitBits = 7;

// A row of the left matrix.
struct DigitRow {
  int8_t *digits;   // [group][digit, most significant first][even, odd][64]
  float *units;     // [group][lane]: what an integer is worth
  int32_t *totals;  // [group][lane]: eight times the sum of the lane's integers
  static int64_t bytes(int64_t groups) { return groups * (kDigits * kGroup + 16 * 8); }
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

ONNXC_INLINE void storeDigits(v16 values, float inverse, int8_t *to) {
  i32x16 v = __builtin_convertvector(__builtin_elementwise_rint(values * inverse), i32x16), high = (v + (1 << 13)) >> 14;
  i32x16 rest = v - (high << 14), middle = (rest + 64) >> 7;
  *(i8x16 *)to = __builtin_convertvector(high, i8x16);
  *(i8x16 *)(to + kGroup) = __builtin_convertvector(middle, i8x16);
  *(i8x16 *)(to + 2 * kGroup) = __builtin_convertvector(rest - (middle << 7), i8x16);
}

// Whole groups; `block`: values that share a scale, 32 to 128. False where a value is not finite.
inline bool splitRow(const float *x, int64_t groups, int64_t block, const DigitRow &to) {
  constexpr float kMost = 2080768;  // 127 * 2^14
  for (int64_t first = 0; first < groups * kGroup; first += block) {
    v16 mosts = v16(0.0f);
    for (int64_t i = first; i < first + block; i += 16) {
      v16 v = __builtin_elementwise_abs(*(const v16 *)(x + i));
      mosts = !(v <= mosts) ? v : mosts;
    }
    float most = 0;
    for (int i = 0; i < 16; ++i)
      most = !(mosts[i] <= most) ? mosts[i] : most;
    if (!(most <= __FLT_MAX__))
      return false;
    float inverse = most >= 1e-30f ? kMost / most : 0, unit = inverse == 0 ? 0 : most / kMost;
    for (int64_t lane = first / 8; lane < (first + block) / 8; ++lane)
      to.units[lane] = unit;
    for (int64_t i = first; i < first + block; i += 32) {
      v16 a = *(const v16 *)(x + i), b = *(const v16 *)(x + i + 16);
      int8_t *digit = to.digits + i / kGroup * kDigits * kGroup + i % kGroup / 2;
      storeDigits(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), inverse, digit);
      storeDigits(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), inverse, digit + 64);
    }
  }
  return true;
}

// The sums of products of 64 bytes `low` and `high` with the digits at `row`, lane by lane.
#define ONNXC_DIGITS(SUM, LOW, HIGH, ROW)                                                                                                  \
  q16 SUM = {};                                                                                                                            \
  _Pragma("clang loop unroll(full)") for (int d = 0; d < kDigits; ++d) {                                                                   \
    bytes64 even, odd;                                                                                                                     \
    memcpy(&even, (ROW) + d * kGroup, 64);                                                                                                 \
    memcpy(&odd, (ROW) + d * kGroup + 64, 64);                                                                                             \
    SUM = (SUM << kDigitBits) + ONNXC_DOT64(ONNXC_DOT64(q16{}, LOW, even), HIGH, odd);                                                     \
  }

ONNXC_DOTS __attribute__((noinline)) static void totalRow(const DigitRow &row, int64_t groups) {
  bytes64 eight = (bytes64)(0x08080808 - q16{});
  for (int64_t g = 0; g < groups; ++g) {
    ONNXC_DIGITS(sum, eight, eight, row.digits + g * kDigits * kGroup);
    memcpy(row.totals + g * 16, &sum, 64);
  }
}

// C neighbouring columns, SCALES scales a group; sixteen parts of each result.
template <int C, int SCALES>
ONNXC_DOTS __attribute__((noinline)) static void digitProducts(const DigitRow &row, const DigitColumns &w, float *lanes) {
  int64_t stride = 64 * w.groups, zeroStride = (w.groups * SCALES + 1) / 2;
  v16 acc[C];
#pragma clang loop unroll(full)
  for (int c = 0; c < C; ++c)
    acc[c] = v16(0.0f);
  for (int64_t g = 0; g < w.groups; ++g) {
    q16 totals;
    memcpy(&totals, row.totals + g * 16, 64);
    v16 unit = *(const v16 *)(row.units + g * 16);
#pragma clang loop unroll(full)
    for (int c = 0; c < C; ++c) {
      q16 both;
      memcpy(&both, w.bytes + c * stride + g * 64, 64);
      __builtin_prefetch(w.bytes + (c + C) * stride + g * 64);
      bytes64 low = (bytes64)(both & 0x0f0f0f0f), high = (bytes64)(both >> 4 & 0x0f0f0f0f);
      ONNXC_DIGITS(sum, low, high, row.digits + g * kDigits * kGroup);
      typedef float Four __attribute__((ext_vector_type(4)));
      Four s = Four(0.0f);
      memcpy(&s, w.scales + (c * w.groups + g) * SCALES, SCALES * sizeof(float));
      v16 scale = SCALES == 4   ? __builtin_shufflevector(s, s, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
                  : SCALES == 2 ? __builtin_shufflevector(s, s, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
                                : v16(s.x);
      if (w.zeros) {
        const uint8_t *zeros = w.zeros + c * zeroStride;
        int32_t bits = SCALES == 4 ? zeros[2 * g] | zeros[2 * g + 1] << 8 : SCALES == 2 ? zeros[g] : zeros[g / 2] >> (g % 2 * 4);
        constexpr int A = SCALES == 4 ? 4 : 0, B = SCALES == 4 ? 8 : SCALES == 2 ? 4 : 0;
        constexpr q16 kShifts = {0, 0, 0, 0, A, A, A, A, B, B, B, B, A + B, A + B, A + B, A + B};
        sum -= (totals >> 3) * ((bits - q16{}) >> kShifts & 15);
      } else {
        sum -= totals;
      }
      acc[c] = __builtin_elementwise_fma(__builtin_convertvector((i32x16)sum, v16), scale * unit, acc[c]);
    }
  }
#pragma clang loop unroll(full)
  for (int c = 0; c < C; ++c)
    *(v16 *)(lanes + 16 * c) = acc[c];
}

}  // namespace onnxc
