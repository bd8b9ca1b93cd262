// IntegerConv.h: what the kernels of packed.LinearConv (dialects/onnx/Packed.td) share: FastIntegerConv.cpp, FastIntegerDepth.cpp,
// FastIntegerWindow.cpp.
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
#endif

// Whether no sum times one of `n` factors, whole vectors of them, is beyond what 32 bits hold.
ONNXC_INLINE bool keepToWords(const float *factors, int64_t n) {
  Sums16 keep = Sums16(-1);
  for (int64_t i = 0; i < n; i += kLanes)
    keep &= __builtin_elementwise_abs(*(const v16 *)(factors + i)) <= 0.5f;
  return __builtin_reduce_and(keep) != 0;
}

// One launch.
struct IntegerConv {
  ByteGroups groups{1, 1, 1};
  // channels: of groups computed as one; blocks: of the operand, or its channels where it is plain
  int64_t channels, blocks, height, width;
  int64_t outBlocks, outHeight, outWidth;
  const int64_t *kernel, *strides, *pads, *dilations;
  int64_t pixel, row, plane;                         // of the image: bytes from one pixel, row, block to the next
  bool plain, dots, tiles, permute, toFloat, packs;  // packs: whether storeBytes() may clip results
  uint8_t border;
  uint32_t flip;
  float zero, least, most;
  int32_t zeroOut;      // of the bytes that leave: `zero`, with `other` that of the sum
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
  // The steps above their zero point that `v`, in steps of its own above its own, and bytes `at` of `other` add up to, before they are
  // clipped.
  __attribute__((always_inline)) v16 added(v16 v, int64_t at) const {
    Sums16 bytes = otherSigned ? __builtin_convertvector(*(const s16 *)(other + at), Sums16)
                               : __builtin_convertvector(*(const Bytes16 *)(other + at), Sums16);
    v16 left = v * sum[Own], right = (__builtin_convertvector(bytes, v16) - sum[From]) * sum[Scale];
    v16 both = left + right;  // no fused operation: dequantised values are rounded
    // The quotient, rounded as a division rounds it (Markstein): what the product with the reciprocal lacks is added.
    v16 step = v16(sum[Step]), part = both * perStep;
    return __builtin_elementwise_fma(__builtin_elementwise_fma(-part, step, both), v16(perStep), part);
  }
  // Sixteen results in bytes, as integers.
  __attribute__((always_inline)) Sums16 levels(Sums16 sums, v16 factor, int64_t at) const {
    v16 v = clipped(__builtin_convertvector(sums, v16) * factor, least - zero, most - zero);
    return whole(other ? clipped(added(rounded(v), at), sum[Low] - sum[To], sum[High] - sum[To]) : v) + zeroOut;
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
  template <bool SIGNED, bool SUM>
  ONNXC_DOTS __attribute__((noinline)) int64_t finishFours(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y,
                                                           int64_t at) const {
    const IntegerConv own = *this;  // a store of bytes may change what is not a local variable
    Sums16 correction = *(const Sums16 *)(corrections + block * kLanes);
    v16 factor = *(const v16 *)(factors + block * kLanes);
    float low = least - zero, high = most - zero;
    int16_t shift = int16_t(zeroOut);
    char lowest = char(int32_t(SUM ? sum[Low] : least)), highest = char(int32_t(SUM ? sum[High] : most));
    int64_t i = 0;
    for (; i + 4 <= pixels; i += 4, at += 4 * kLanes) {
      v16 steps[4];
      unroll<0, 4>([&](auto k) __attribute__((always_inline)) {
        Sums16 exact = *(const Sums16 *)(sums + (i + k.value) * stride) + correction;
        v16 v = __builtin_convertvector(exact, v16) * factor;
        if constexpr (SUM)
          v = own.added(rounded(clipped(v, low, high)), at + k.value * kLanes);
        steps[k.value] = v;
      });
      storeBytes<SIGNED>(steps, shift, lowest, highest, static_cast<uint8_t *>(y) + at);
    }
    return i;
  }
#endif
  // The same of any number of pixels, of results of either kind.
  void finishRow(const int32_t *sums, int64_t stride, int64_t pixels, int64_t block, void *y, int64_t at) const {
    int64_t done = 0;
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= kDotBits && dots && packs)
      done = outSigned ? (other ? finishFours<true, true>(sums, stride, pixels, block, y, at)
                                : finishFours<true, false>(sums, stride, pixels, block, y, at))
                       : (other ? finishFours<false, true>(sums, stride, pixels, block, y, at)
                                : finishFours<false, false>(sums, stride, pixels, block, y, at));
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

constexpr int64_t kPanelBlocks = kColumns / kLanes;
// Of groups computed as one.
ONNXC_INLINE int64_t blocksOf(const IntegerConv &p) { return p.plain ? 0 : p.groups.blocks; }
ONNXC_INLINE int64_t panelsOf(const IntegerConv &p) { return (p.groups.outBlocks + kPanelBlocks - 1) / kPanelBlocks; }
ONNXC_INLINE int64_t quadsOf(const IntegerConv &p) {
  return p.plain ? p.kernel[0] * ((p.kernel[1] * p.channels + 3) / 4) : p.kernel[0] * p.kernel[1] * ((p.channels + 3) / 4);
}
ONNXC_INLINE PanelShape panelShape(const IntegerConv &p) { return {64, quadsOf(p) * 64}; }
ONNXC_INLINE const int8_t *panelOf(const IntegerConv &p, int64_t group, int64_t panel) {
  return static_cast<const int8_t *>(p.weights) + (group * panelsOf(p) + panel) * quadsOf(p) * kColumns * 4;
}
ONNXC_INLINE int64_t lastBlockOf(const IntegerConv &p, int64_t group) { return minOf((group + 1) * p.groups.outBlocks, p.outBlocks); }

// Three channels side by side, of whole vectors of pixels; gives their number.
ONNXC_INLINE int64_t interleaveThree(const uint8_t *from, int64_t plane, int64_t width, uint8_t *to) {
  int64_t x = 0;
  for (; x + 16 <= width; x += 16, to += 48) {
    Bytes16 a = *(const Bytes16 *)(from + x), b = *(const Bytes16 *)(from + plane + x), c = *(const Bytes16 *)(from + 2 * plane + x);
    auto ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                      26, 27, 28, 29, 30, 31);
    auto cc = __builtin_shufflevector(c, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                      13, 14, 15);
    *(Bytes16 *)to = __builtin_shufflevector(ab, cc, 0, 16, 32, 1, 17, 33, 2, 18, 34, 3, 19, 35, 4, 20, 36, 5);
    *(Bytes16 *)(to + 16) = __builtin_shufflevector(ab, cc, 21, 37, 6, 22, 38, 7, 23, 39, 8, 24, 40, 9, 25, 41, 10, 26);
    *(Bytes16 *)(to + 32) = __builtin_shufflevector(ab, cc, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47);
  }
  return x;
}
// `C` channels side by side, 0: as many as there are.
template <int C>
ONNXC_INLINE void interleave(const uint8_t *from, int64_t plane, int64_t channels, int64_t width, uint8_t *to) {
  int64_t n = C ? C : channels;
  for (int64_t x = C == 3 ? interleaveThree(from, plane, width, to) : 0; x < width; ++x)
    for (int64_t c = 0; c < n; ++c)
      to[x * n + c] = from[c * plane + x];
}
// A row of a plain image, the channels of a pixel side by side.
ONNXC_INLINE void interleaveRow(const IntegerConv &p, const uint8_t *from, uint8_t *to) {
  int64_t plane = p.height * p.width;
  if (p.channels == 1)
    memcpy(to, from, size_t(p.width));
  else if (p.channels == 3)
    interleave<3>(from, plane, 3, p.width, to);
  else if (p.channels == 4)
    interleave<4>(from, plane, 4, p.width, to);
  else
    interleave<0>(from, plane, p.channels, p.width, to);
}

// The segments of a filter in the order of the weights; neighbours that touch become one. `to`: mostSegments().
ONNXC_INLINE int64_t mostSegments(const IntegerConv &p) { return p.kernel[0] * p.kernel[1] * maxOf<int64_t>(1, blocksOf(p)); }
ONNXC_INLINE int64_t segmentsOf(const IntegerConv &p, Segment *to) {
  int64_t n = 0, parts = p.plain ? 1 : blocksOf(p), columns = p.plain ? 1 : p.kernel[1];
  for (int64_t y = 0; y < p.kernel[0]; ++y)
    for (int64_t x = 0; x < columns; ++x)
      for (int64_t c = 0; c < parts; ++c) {
        int64_t bytes = p.plain ? p.kernel[1] * p.channels : minOf(kLanes, p.channels - c * kLanes);
        Segment s{c * p.plane + y * p.dilations[0] * p.row + x * p.dilations[1] * p.pixel, (bytes + 3) / 4};
        if (n && to[n - 1].offset + 4 * to[n - 1].quads == s.offset)
          to[n - 1].quads += s.quads;
        else
          to[n++] = s;
      }
  return n;
}

// p.windowSums, in `to`, of the image that imageOf(group) is.
template <class Image>
int32_t sumWindows(const onnxc_args *a, const IntegerConv &p, const Depth &depth, const Image &imageOf, int32_t *to) {
  return parallelFor(a, p.groups.count * p.outHeight, grainOf(p.outWidth * quadsOf(p)), [=](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const uint8_t *at = imageOf(u / p.outHeight) + u % p.outHeight * p.strides[0] * p.row;
      for (int64_t x = 0; x < p.outWidth; ++x, at += p.strides[1] * p.pixel)
        to[u * p.outWidth + x] = rowSum(at, depth);
    }
    return int32_t(ONNXC_K_OK);
  });
}

// Sums of `n` pixels of a group from `pixel` on, of `have` blocks from `first` on; c: [pixel][kColumns].
ONNXC_INLINE void finishPanel(const IntegerConv &p, int64_t group, int32_t *c, int64_t first, int64_t have, int64_t pixel, int64_t n,
                              void *y) {
  int64_t pixels = p.outHeight * p.outWidth;
  if (p.windowSums)
    addOffsets(c, n, have * kLanes, p.offsets + first * kLanes, p.windowSums + group * pixels + pixel);
  for (int64_t b = 0; b < have; ++b)
    p.finishRow(c + b * kLanes, kColumns, n, first + b, y, ((first + b) * pixels + pixel) * kLanes);
}

int32_t depthwiseConv(const onnxc_args *a, const IntegerConv &p);  // FastIntegerDepth.cpp
int32_t windowConv(const onnxc_args *a, const IntegerConv &p);     // FastIntegerWindow.cpp

}  // namespace onnxc
