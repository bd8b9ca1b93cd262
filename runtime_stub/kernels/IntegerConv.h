// IntegerConv.h: what the kernels of packed.LinearConv (dialects/onnx/Packed.td) share: FastIntegerConv.cpp, FastIntegerDepth.cpp,
// FastIntegerWindow.cpp.
//
// image  what the filters slide over: the operand, or a copy of it with its border
#pragma once
#include "runtime_stub/kernels/IntegerResults.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

enum { X, W, Factors, Corrections, Lookup, Other, Offsets, ZeroPoint };  // operands

// One launch.
struct IntegerConv {
  ByteGroups groups{1, 1, 1};
  // channels: of groups computed as one; blocks: of the operand, or its channels where it is plain
  int64_t channels, blocks, height, width;
  int64_t outBlocks, outHeight, outWidth;
  const int64_t *kernel, *strides, *pads, *dilations;
  int64_t pixel, row, plane;  // of the image: bytes from one pixel, row, block to the next
  bool plain, dots, tiles, permute;
  uint8_t border;
  uint32_t flip;
  const void *weights;                  // bytes, 16-bit numbers of depthwise filters
  const int32_t *offsets, *windowSums;  // null where weights are those of the panels; of a group's pixels, one group after the other
  const uint8_t *table;                 // of the results, or null
  BlockResults results;
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

// Begins row `y` of the operand in the image: writes its border, and gives where the row itself goes; null where all of it is border.
inline uint8_t *startRow(const IntegerConv &p, int64_t y, uint8_t *to) {
  if (y < 0 || y >= p.height) {
    memset(to, p.border, size_t(p.row));
    return nullptr;
  }
  memset(to, p.border, size_t(p.pads[1] * p.pixel));
  memset(to + (p.pads[1] + p.width) * p.pixel, p.border, size_t(p.pads[3] * p.pixel));
  return to + p.pads[1] * p.pixel;
}
// Three channels side by side, of whole vectors of pixels; gives their number.
ONNXC_INLINE int64_t interleaveThree(const uint8_t *from, int64_t plane, int64_t width, uint8_t *to) {
  int64_t x = 0;
  for (; x + 16 <= width; x += 16, to += 48) {
    u8x16 a = *(const u8x16 *)(from + x), b = *(const u8x16 *)(from + plane + x), c = *(const u8x16 *)(from + 2 * plane + x);
    auto ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                      26, 27, 28, 29, 30, 31);
    auto cc = __builtin_shufflevector(c, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                      13, 14, 15);
    *(u8x16 *)to = __builtin_shufflevector(ab, cc, 0, 16, 32, 1, 17, 33, 2, 18, 34, 3, 19, 35, 4, 20, 36, 5);
    *(u8x16 *)(to + 16) = __builtin_shufflevector(ab, cc, 21, 37, 6, 22, 38, 7, 23, 39, 8, 24, 40, 9, 25, 41, 10, 26);
    *(u8x16 *)(to + 32) = __builtin_shufflevector(ab, cc, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47);
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

// Sums of `n` pixels of a group from `pixel` on, of `have` blocks from `first` on; c: `stride` from pixel to pixel.
ONNXC_INLINE void finishPanel(const IntegerConv &p, int64_t group, int32_t *c, int64_t stride, int64_t first, int64_t have, int64_t pixel,
                              int64_t n, void *y) {
  int64_t pixels = p.outHeight * p.outWidth;
  if (p.windowSums)
    addOffsets(c, stride, n, have * kLanes, p.offsets + first * kLanes, p.windowSums + group * pixels + pixel);
  for (int64_t b = 0; b < have; ++b)
    p.results.finishRow(c + b * kLanes, stride, n, first + b, y, ((first + b) * pixels + pixel) * kLanes);
}

// body(operand, result) of each image of the batch, whose `other` moves along.
template <class Body>
int32_t eachImage(const onnxc_args *a, IntegerConv &p, const Body &body) {
  int64_t inBytes = p.blocks * p.height * p.width * (p.plain ? 1 : kLanes), lanes = p.outBlocks * p.outHeight * p.outWidth * kLanes;
  for (int64_t n = 0; n < a->in[X].dims[0]; ++n) {
    if (n && p.results.other)
      p.results.other += lanes;
    ONNXC_TRY(body(in<uint8_t>(a, X) + n * inBytes, out<char>(a, 0) + n * lanes * p.results.elementBytes()));
  }
  return ONNXC_K_OK;
}

int32_t depthwiseConv(const onnxc_args *a, const IntegerConv &p);  // FastIntegerDepth.cpp
int32_t windowConv(const onnxc_args *a, const IntegerConv &p);     // FastIntegerWindow.cpp

}  // namespace onnxc
