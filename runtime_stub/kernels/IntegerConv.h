// IntegerConv.h: what the kernels of packed.LinearConv (dialects/onnx/Packed.td) share: FastIntegerConv.cpp, FastIntegerDepth.cpp.
//
// image  what the filters slide over: the operand, or a copy of it with its border
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

constexpr int64_t kLanes = 16;
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
  bool plain, dots, permute, toFloat;
  uint8_t border;
  uint32_t flip;
  float zero, least, most;
  const int8_t *weights;
  const float *factors;
  const int32_t *corrections;
  const uint8_t *table;  // of the results, or null
  const uint8_t *other;  // bytes of the image that are added to the results, or null; `sum`: how (dialects/onnx/Packed.td)
  bool otherSigned;
  const float *sum;
  float perStep;  // 1 / step

  __attribute__((always_inline)) static v16 clipped(v16 v, float low, float high) {
    v = v > low ? v : v16(low);
    return v < high ? v : v16(high);
  }
  // The steps of the quantisation that `v`, in steps of its own, and bytes `at` of `other` add up to.
  __attribute__((always_inline)) v16 added(v16 v, int64_t at) const {
    enum { Own, From, Scale, Step, To, Low, High };
    Sums16 bytes = otherSigned ? __builtin_convertvector(*(const s16 *)(other + at), Sums16)
                               : __builtin_convertvector(*(const Bytes16 *)(other + at), Sums16);
    v16 left = (v - zero) * sum[Own], right = (__builtin_convertvector(bytes, v16) - sum[From]) * sum[Scale];
    v16 both = left + right;  // no fused operation: dequantised values are rounded
    // The quotient, rounded as a division rounds it (Markstein): what the product with the reciprocal lacks is added.
    v16 step = v16(sum[Step]), part = both * perStep;
    v16 quotient = __builtin_elementwise_fma(__builtin_elementwise_fma(-part, step, both), v16(perStep), part);
    return clipped(__builtin_elementwise_rint(quotient) + sum[To], sum[Low], sum[High]);
  }

  // Sixteen channels of one pixel, of output block `block`; element `at` of y.
  __attribute__((always_inline)) void finish(const int32_t *sums, int64_t block, void *y, int64_t at) const {
    Sums16 whole = *(const Sums16 *)sums + *(const Sums16 *)(corrections + block * kLanes);
    v16 v = __builtin_convertvector(whole, v16) * *(const v16 *)(factors + block * kLanes);
    if (toFloat) {
      *(v16 *)(static_cast<float *>(y) + at) = v;
      return;
    }
    v = clipped(__builtin_elementwise_rint(v) + zero, least, most);
    if (other)
      v = added(v, at);
    Bytes16 bytes = __builtin_convertvector(__builtin_convertvector(v, Sums16), Bytes16);
    *(Bytes16 *)(static_cast<uint8_t *>(y) + at) = bytes;
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
