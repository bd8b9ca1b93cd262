// IntegerResults.h: what the kernels of packed.LinearConv and packed.LinearMatMul (dialects/onnx/Packed.td) make of their sums: bytes, or
// f32.
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

// FastBytes.cpp: y[i] = table[x[i]]; `permute`: by the instructions that permutes() found.
void lookUp(bool permute, const uint8_t *x, const uint8_t *table, uint8_t *y, int64_t n);
bool permutes(const onnxc_args *a);

#if !defined(__aarch64__)
// 64 numbers, none beyond what 32 bits hold, rounded to even, `shift` added, as bytes from `lowest` to `highest`: packing clips them.
template <bool SIGNED>
ONNXC_DOTS __attribute__((always_inline)) inline void storeBytes(const v16 *steps, int16_t shift, char lowest, char highest, uint8_t *to) {
  typedef int16_t Half32 __attribute__((vector_size(64)));
  typedef int Whole __attribute__((vector_size(64)));
  Whole four[4];
#pragma clang loop unroll(full)
  for (int k = 0; k < 4; ++k)
    four[k] = (Whole)__builtin_ia32_cvtps2dq512_mask(steps[k], Whole{}, -1, 4);
  Half32 more = shift - Half32{};
  Half32 one = __builtin_elementwise_add_sat((Half32)__builtin_ia32_packssdw512(four[0], four[1]), more);
  Half32 two = __builtin_elementwise_add_sat((Half32)__builtin_ia32_packssdw512(four[2], four[3]), more);
  Whole bytes;  // of each quarter of a vector after the other
  if constexpr (SIGNED) {
    typedef signed char Bytes __attribute__((vector_size(64)));
    Bytes packed = __builtin_elementwise_max((Bytes)__builtin_ia32_packsswb512(one, two), (signed char)lowest - Bytes{});
    bytes = (Whole)__builtin_elementwise_min(packed, (signed char)highest - Bytes{});
  } else {
    typedef unsigned char Bytes __attribute__((vector_size(64)));
    Bytes packed = __builtin_elementwise_max((Bytes)__builtin_ia32_packuswb512(one, two), (unsigned char)lowest - Bytes{});
    bytes = (Whole)__builtin_elementwise_min(packed, (unsigned char)highest - Bytes{});
  }
  bytes = __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  memcpy(to, &bytes, 64);
}
// The same of 32 numbers.
template <bool SIGNED>
ONNXC_AVX2 __attribute__((always_inline)) inline void storeBytes256(const v16 *steps, int16_t shift, char lowest, char highest,
                                                                    uint8_t *to) {
  typedef float Floats8 __attribute__((vector_size(32)));
  Quads8 whole[4];
#pragma clang loop unroll(full)
  for (int k = 0; k < 4; ++k)
    whole[k] = (Quads8)__builtin_ia32_cvtps2dq256(
        k % 2 ? (Floats8)__builtin_shufflevector(steps[k / 2], steps[k / 2], 8, 9, 10, 11, 12, 13, 14, 15)
              : (Floats8)__builtin_shufflevector(steps[k / 2], steps[k / 2], 0, 1, 2, 3, 4, 5, 6, 7));
  Words16 more = shift - Words16{};
  Words16 one = __builtin_elementwise_add_sat((Words16)__builtin_ia32_packssdw256(whole[0], whole[1]), more);
  Words16 two = __builtin_elementwise_add_sat((Words16)__builtin_ia32_packssdw256(whole[2], whole[3]), more);
  Quads8 bytes;  // of each half of a vector after the other
  if constexpr (SIGNED) {
    typedef signed char Bytes __attribute__((vector_size(32)));
    Bytes packed = __builtin_elementwise_max((Bytes)__builtin_ia32_packsswb256(one, two), (signed char)lowest - Bytes{});
    bytes = (Quads8)__builtin_elementwise_min(packed, (signed char)highest - Bytes{});
  } else {
    typedef unsigned char Bytes __attribute__((vector_size(32)));
    Bytes packed = __builtin_elementwise_max((Bytes)__builtin_ia32_packuswb256(one, two), (unsigned char)lowest - Bytes{});
    bytes = (Quads8)__builtin_elementwise_min(packed, (unsigned char)highest - Bytes{});
  }
  bytes = __builtin_shufflevector(bytes, bytes, 0, 4, 1, 5, 2, 6, 3, 7);
  memcpy(to, &bytes, 32);
}
#endif

// Whether no sum times one of `n` factors, whole vectors of them, is beyond what 32 bits hold.
ONNXC_INLINE bool keepToWords(const float *factors, int64_t n) {
  i32x16 keep = i32x16(-1);
  for (int64_t i = 0; i < n; i += kLanes)
    keep &= __builtin_elementwise_abs(*(const v16 *)(factors + i)) <= 0.5f;
  return __builtin_reduce_and(keep) != 0;
}

constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: what is added to it loses its fraction, rounded to even

// NaN becomes `low`.
ONNXC_INLINE v16 clipped(v16 v, float low, float high) {
  v = v > low ? v : v16(low);
  return v < high ? v : v16(high);
}
// Clipped values rounded to even, as floats and as integers.
ONNXC_INLINE v16 rounded(v16 v) { return (v + kRounder) - kRounder; }
ONNXC_INLINE i32x16 roundedIntegers(v16 v) {
  return __builtin_bit_cast(i32x16, v + kRounder) - int32_t(__builtin_bit_cast(int32_t, kRounder));
}

// How the bytes of packed.LinearConv's `other` are added to results before they leave: by its `sum`, by its `joined`.
enum class Residual { None, Exact, Joined };

// What becomes of the blocked sums of one launch.
struct BlockResults {
  bool toFloat, isSigned, packs;  // packs: whether storeBytes() or storeBytes256() may clip results
  float zero, least, most;
  int32_t zeroOut;  // of the bytes that leave: `zero`, with `other` that of the sum
  const float *factors;
  const int32_t *corrections;
  const uint8_t *other;  // bytes of the image that are added, or null
  bool otherSigned;
  const float *sum, *joined;                       // packed.LinearConv's, null where it has none
  enum { Own, From, Scale, Step, To, Low, High };  // of `sum`
  enum { OwnSteps, OtherSteps, Addend };           // of `joined`

  int64_t elementBytes() const { return toFloat ? 4 : 1; }

  // The steps above their zero point of 16 sums and, but for None, of bytes `at` of `other` with them, before they are rounded and clipped.
  template <Residual KIND>
  __attribute__((always_inline)) v16 steps(i32x16 sums, v16 factor, int64_t at) const {
    v16 v = __builtin_convertvector(sums, v16) * factor;
    if constexpr (KIND == Residual::None)
      return v;
    v = rounded(clipped(v, least - zero, most - zero));
    i32x16 bytes = otherSigned ? __builtin_convertvector(*(const i8x16 *)(other + at), i32x16)
                               : __builtin_convertvector(*(const u8x16 *)(other + at), i32x16);
    v16 added = __builtin_convertvector(bytes, v16);
    if constexpr (KIND == Residual::Joined)
      return __builtin_elementwise_fma(v, v16(joined[OwnSteps]),
                                       __builtin_elementwise_fma(added, v16(joined[OtherSteps]), v16(joined[Addend])));
    v16 left = v * sum[Own], right = (added - sum[From]) * sum[Scale];
    return (left + right) / sum[Step];  // no fused operation: dequantised values are rounded
  }

  // Sixteen channels of `pixels` pixels, `stride` sums apart, of output block `block`; from element `at` of y on.
  template <Residual KIND>
  void finish(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at) const {
    const BlockResults own = *this;  // a store of bytes may change what is not a local variable
    i32x16 correction = *(const i32x16 *)(corrections + block * kLanes);
    v16 factor = *(const v16 *)(factors + block * kLanes);
    float low = (KIND == Residual::None ? least : sum[Low]) - float(zeroOut),
          high = (KIND == Residual::None ? most : sum[High]) - float(zeroOut);
    for (int64_t i = 0; i < pixels; ++i, at += kLanes) {
      i32x16 exact = *(const i32x16 *)(sums + i * stride) + correction;
      v16 v = own.steps<KIND>(exact, factor, at);
      if (own.toFloat)
        *(v16 *)(static_cast<float *>(y) + at) = v;
      else
        *(u8x16 *)(static_cast<uint8_t *>(y) + at) = __builtin_convertvector(roundedIntegers(clipped(v, low, high)) + own.zeroOut, u8x16);
    }
  }
#if !defined(__aarch64__)
  // The same of results in bytes, N pixels at a time, as STORE packs them; gives the number of finished ones.
#define ONNXC_FINISH_PACKED(TARGET, NAME, N, STORE)                                                                                        \
  template <bool SIGNED, Residual KIND>                                                                                                    \
  TARGET __attribute__((noinline)) int64_t NAME(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at)   \
      const {                                                                                                                              \
    const BlockResults own = *this; /* a store of bytes may change what is not a local variable */                                         \
    i32x16 correction = *(const i32x16 *)(corrections + block * kLanes);                                                                   \
    v16 factor = *(const v16 *)(factors + block * kLanes);                                                                                 \
    int16_t shift = int16_t(zeroOut);                                                                                                      \
    char lowest = char(int32_t(KIND == Residual::None ? least : sum[Low])),                                                                \
         highest = char(int32_t(KIND == Residual::None ? most : sum[High]));                                                               \
    int64_t i = 0;                                                                                                                         \
    for (; i + N <= pixels; i += N, at += N * kLanes) {                                                                                    \
      v16 steps[N];                                                                                                                        \
      unroll<0, N>([&](auto k) __attribute__((always_inline)) {                                                                            \
        i32x16 exact = *(const i32x16 *)(sums + (i + k.value) * stride) + correction;                                                      \
        steps[k.value] = own.steps<KIND>(exact, factor, at + k.value * kLanes);                                                            \
      });                                                                                                                                  \
      STORE<SIGNED>(steps, shift, lowest, highest, static_cast<uint8_t *>(y) + at);                                                        \
    }                                                                                                                                      \
    return i;                                                                                                                              \
  }
  ONNXC_FINISH_PACKED(ONNXC_DOTS, finishFours, 4, storeBytes)
  ONNXC_FINISH_PACKED(ONNXC_AVX2, finishTwos, 2, storeBytes256)
#undef ONNXC_FINISH_PACKED
#endif
  template <Residual KIND>
  void finishAs(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at) const {
    int64_t done = 0;
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= kDotBits && packs)
      done = isSigned ? finishFours<true, KIND>(sums, stride, pixels, block, y, at)
                      : finishFours<false, KIND>(sums, stride, pixels, block, y, at);
    else if (onnxc_vector_bits == 256 && packs)
      done = isSigned ? finishTwos<true, KIND>(sums, stride, pixels, block, y, at)
                      : finishTwos<false, KIND>(sums, stride, pixels, block, y, at);
#endif
    finish<KIND>(sums + done * stride, stride, pixels - done, block, y, at + done * kLanes);
  }
  // The same of any number of pixels, of results of each kind.
  void finishRow(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at) const {
    if (!other)
      finishAs<Residual::None>(sums, stride, pixels, block, y, at);
    else if (joined)
      finishAs<Residual::Joined>(sums, stride, pixels, block, y, at);
    else
      finishAs<Residual::Exact>(sums, stride, pixels, block, y, at);
  }
};

}  // namespace onnxc
