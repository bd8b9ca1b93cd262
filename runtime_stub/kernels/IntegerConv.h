// IntegerConv.h: what the kernels of packed.LinearConv (dialects/onnx/Packed.td) share: FastIntegerConv.cpp, FastIntegerDepth.cpp.
//
// image  what the filters slide over: the operand, or a copy of it with its border
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

typedef int32_t Sums16 __attribute__((ext_vector_type(16), aligned(4)));
typedef uint8_t Bytes16 __attribute__((ext_vector_type(16), aligned(1)));

// FastBytes.cpp: y[i] = table[x[i]]; `permute`: by the instructions that permutes() found.
void lookUp(bool permute, const uint8_t *x, const uint8_t *table, uint8_t *y, int64_t n);
bool permutes(const onnxc_args *a);

// One launch.
struct IntegerConv {
  int64_t group, channels, blocks, height, width;  // channels: of one group; blocks: of the operand, or its channels where it is plain
  int64_t outBlocks, outHeight, outWidth;
  const int64_t *kernel, *strides, *pads, *dilations;
  int64_t pixel, row, plane;  // of the image: bytes from one pixel, row, block to the next
  bool plain, dots, tiles, permute, toFloat;
  uint8_t border;
  uint32_t flip;
  float zero, least, most;
  const void *weights;  // bytes, 16-bit numbers of depthwise filters
  const float *factors;
  const int32_t *corrections;
  const int32_t *offsets, *windowSums;  // null where weights are those of the panels; of a group's pixels, one group after the other
  const uint8_t *table;                 // of the results, or null
  const uint8_t *other;                 // bytes of the image that are added to the results, or null; `sum`: how (dialects/onnx/Packed.td)
  bool otherSigned, outSigned;
  const float *sum;
  float perStep;                                   // 1 / step
  enum { Own, From, Scale, Step, To, Low, High };  // of `sum`
  static constexpr float kRounder = 12582912.0f;   // 1.5 * 2^23: what is added to it loses its fraction, rounded to even

  __attribute__((always_inline)) static v16 clipped(v16 v, float low, float high) {
    v = v > low ? v : v16(low);
    return v < high ? v : v16(high);
  }
  // Clipped values rounded to even, as floats and as integers.
  __attribute__((always_inline)) static v16 rounded(v16 v) { return (v + kRounder) - kRounder; }
  __attribute__((always_inline)) static Sums16 whole(v16 v) {
    return __builtin_bit_cast(Sums16, v + kRounder) - int32_t(__builtin_bit_cast(int32_t, kRounder));
  }
  // The steps above their zero point that `v`, in steps of its own above its own, and bytes `at` of `other` add up to.
  __attribute__((always_inline)) v16 added(v16 v, int64_t at) const {
    Sums16 bytes = otherSigned ? __builtin_convertvector(*(const s16 *)(other + at), Sums16)
                               : __builtin_convertvector(*(const Bytes16 *)(other + at), Sums16);
    v16 left = v * sum[Own], right = (__builtin_convertvector(bytes, v16) - sum[From]) * sum[Scale];
    v16 both = left + right;  // no fused operation: dequantised values are rounded
    // The quotient, rounded as a division rounds it (Markstein): what the product with the reciprocal lacks is added.
    v16 step = v16(sum[Step]), part = both * perStep;
    v16 quotient = __builtin_elementwise_fma(__builtin_elementwise_fma(-part, step, both), v16(perStep), part);
    return clipped(quotient, sum[Low] - sum[To], sum[High] - sum[To]);
  }
  // Sixteen results in bytes, as integers.
  __attribute__((always_inline)) Sums16 levels(Sums16 sums, v16 factor, int64_t at) const {
    v16 v = clipped(__builtin_convertvector(sums, v16) * factor, least - zero, most - zero);
    return other ? whole(added(rounded(v), at)) + int32_t(sum[To]) : whole(v) + int32_t(zero);
  }

  // Sixteen channels of `pixels` pixels, `stride` sums apart, of output block `block`; from element `at` of y on.
  __attribute__((always_inline)) void finish(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y,
                                             int64_t at) const {
    const IntegerConv own = *this;  // a store of bytes may change what is not a local variable
    Sums16 correction = *(const Sums16 *)(corrections + block * kLanes);
    v16 factor = *(const v16 *)(factors + block * kLanes);
    for (int64_t i = 0; i < pixels; ++i, at += kLanes) {
      Sums16 exact = *(const Sums16 *)(sums + i * stride) + correction;
      if (own.toFloat)
        *(v16 *)(static_cast<float *>(y) + at) = __builtin_convertvector(exact, v16) * factor;
      else
        *(Bytes16 *)(static_cast<uint8_t *>(y) + at) = __builtin_convertvector(own.levels(exact, factor, at), Bytes16);
    }
  }
#if !defined(__aarch64__)
  // The same of results in bytes, four pixels at a time; gives the number of finished ones.
  ONNXC_DOTS __attribute__((noinline)) int64_t finishFours(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y,
                                                           int64_t at) const {
    typedef int Whole __attribute__((vector_size(64)));
    const IntegerConv own = *this;  // a store of bytes may change what is not a local variable
    int32_t flip = outSigned ? 128 : 0, flips = outSigned ? int32_t(0x80808080) : 0;
    Sums16 correction = *(const Sums16 *)(corrections + block * kLanes);
    v16 factor = *(const v16 *)(factors + block * kLanes);
    int64_t i = 0;
    for (; i + 4 <= pixels; i += 4, at += 4 * kLanes) {
      Whole four[4];
      unroll<0, 4>([&](auto k) {
        Sums16 exact = *(const Sums16 *)(sums + (i + k.value) * stride) + correction;
        four[k.value] = (Whole)(own.levels(exact, factor, at + k.value * kLanes) + flip);
      });
      auto low = __builtin_ia32_packusdw512(four[0], four[1]), high = __builtin_ia32_packusdw512(four[2], four[3]);
      Whole bytes = (Whole)__builtin_ia32_packuswb512(low, high);  // of each quarter of a pixel after the other
      bytes = __builtin_shufflevector(bytes, bytes, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15) ^ flips;
      memcpy(static_cast<uint8_t *>(y) + at, &bytes, 64);
    }
    return i;
  }
#endif
  // The same of any number of pixels, of results of either kind.
  void finishRow(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at) const {
    int64_t done = 0;
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= kDotBits && dots && !toFloat)
      done = finishFours(sums, stride, pixels, block, y, at);
#endif
    finish(sums + done * stride, stride, pixels - done, block, y, at + done * kLanes);
  }
};

// Of `pixels` finished pixels of one block from `pixel` on.
ONNXC_INLINE void finishTable(const IntegerConv &p, int64_t block, int64_t pixel, int64_t pixels, void *y) {
  uint8_t *at = static_cast<uint8_t *>(y) + (block * p.outHeight * p.outWidth + pixel) * kLanes;
  if (p.table)
    lookUp(p.permute, at, p.table, at, pixels * kLanes);
}

int32_t depthwiseConv(const onnxc_args *a, const IntegerConv &p);  // FastIntegerDepth.cpp

}  // namespace onnxc
