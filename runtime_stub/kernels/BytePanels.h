// BytePanels.h: a matrix of bytes in the panels of IntegerTile.h, by which rows of bytes are multiplied and given their scales, for the
// quantised LSTM of FastRecurrent.cpp.
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

// Rows of f32 in 8 bits over their common range: [row][stride].
struct ByteRows {
  uint8_t *bytes;
  int32_t *sums;
  int64_t stride;
  float scale;
  int32_t zero;

  bool start(const Args *a, int64_t rows, int64_t depth) {
    stride = (depth + 3) / 4 * 4;
    bytes = heap<uint8_t>(a, rows * stride), sums = heap<int32_t>(a, rows);
    return bytes && sums;
  }
  void range(float low, float high) {
    scale = (high - low) / 255;
    zero = scale > 0 ? int32_t(__builtin_rintf(-low / scale)) : 0;
  }
  void set(int64_t row, const float *from, int64_t n) {
    uint8_t *to = bytes + row * stride;
    float step = scale, offset = float(zero);  // a store of bytes may change what members hold
    for (int64_t i = 0; step > 0 && i < n; ++i) {
      float q = __builtin_rintf(from[i] / step) + offset;
      q = q > 0 ? q : 0;
      to[i] = uint8_t(int32_t(q < 255 ? q : 255));
    }
    Segment whole{0, stride / 4};  // behind the row: zeros
    sums[row] = rowSum(to, Depth{&whole, 1, 0});
  }
};

struct BytePanels {
  const int8_t *panels;
  float *scales;          // of a column
  int32_t *sums, *zeros;  // of a column: of its bytes, and its zero point
  int64_t columns, depth, quads;
  bool dots;

  // Matrix `d` of w [matrices, depth, columns], `packed`: in panels already, top bits flipped where they are unsigned. One scale and zero
  // point for each matrix or column.
  bool start(const Args *a, const Tensor &w, int64_t d, const Tensor &scale, const Tensor &zero, bool packed) {
    depth = w.dims[1], columns = w.dims[2], quads = (depth + 3) / 4, dots = hasDots(a);
    int64_t count = (columns + kColumns - 1) / kColumns, size = count * quads * 4 * kColumns;
    uint8_t flip = w.dtype == ONNXC_U8 ? 0x80 : 0;
    const uint8_t *from = static_cast<const uint8_t *>(w.data) + d * depth * columns;
    uint8_t *to = packed ? nullptr : heap<uint8_t>(a, size), *ones = heap<uint8_t>(a, 4 * quads);
    scales = heap<float>(a, count * kColumns), sums = heap<int32_t>(a, count * kColumns), zeros = heap<int32_t>(a, count * kColumns);
    if ((!packed && !to) || !ones || !scales || !sums || !zeros)
      return false;
    for (int64_t k = 0; !packed && k < depth; ++k)
      for (int64_t c = 0; c < columns; ++c)
        to[panelByte(k, c, quads)] = from[k * columns + c] ^ flip;
    panels = reinterpret_cast<const int8_t *>(packed ? from : to);
    bool each = onnxc_count(scale) != w.dims[0];
    for (int64_t c = 0; c < columns; ++c) {
      int64_t at = each ? d * columns + c : d;
      scales[c] = static_cast<const float *>(scale.data)[at];
      zeros[c] = int32_t(loadI64(zero, at)) - (flip ? 128 : 0);
    }
    memset(ones, 1, size_t(4 * quads));
    Segment whole{0, quads};
    for (int64_t p = 0; p < count; ++p) {
      int32_t c[kRows * kColumns];
      integerTile(1, dots, &ones, Depth{&whole, 1, 0}, panels + p * quads * 4 * kColumns, c, kColumns);
      memcpy(sums + p * kColumns, c, size_t(kColumns) * sizeof(int32_t));
    }
    return true;
  }

  // to[i] += row i of `left` times the matrix.
  void addProducts(const ByteRows &left, float *const *to, int64_t count, bool backward) const {
    Segment whole{0, quads};
    const int64_t last = (columns - 1) / kColumns;
    for (int64_t p = 0; p <= last; ++p)
      for (int64_t i = 0, column = (backward ? last - p : p) * kColumns; i < count; i += kRows) {
        int32_t c[kRows * kColumns];
        const uint8_t *at[kRows];
        int64_t n = minOf<int64_t>(kRows, count - i), width = minOf(kColumns, columns - column);
#pragma clang loop vectorize(disable)  // the tile reads one address after the other at once
        for (int64_t r = 0; r < n; ++r)
          at[r] = left.bytes + (i + r) * left.stride;
        integerTile(n, dots, at, Depth{&whole, 1, 0}, panels + column * quads * 4, c, (width + 15) / 16 * 16);
        for (int64_t r = 0; r < n; ++r)
          add(c + r * kColumns, column, width, left, left.sums[i + r], to[i + r] + column);
      }
  }
  void add(const int32_t *c, int64_t column, int64_t width, const ByteRows &left, int32_t rowSum, float *to) const {
    int32_t zero = left.zero, rest = rowSum - int32_t(depth) * left.zero;
    float unit = left.scale;
    const int32_t *s = sums + column, *z = zeros + column;
    const float *f = scales + column;
    for (int64_t i = 0; i < width; ++i)
      to[i] += float(c[i] - zero * s[i] - z[i] * rest) * (unit * f[i]);
  }
};

}  // namespace onnxc
