// Window.h: sliding windows of convolutions and pooling over any number of spatial dims. Beside Index.h.
#pragma once
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/SamePadding.h"

namespace onnxc {

// Output position o and kernel position k meet operand position o·stride + k·dilation − begin.
struct Window {
  int64_t rank, in[kMaxRank], out[kMaxRank], kernel[kMaxRank], stride[kMaxRank], dilation[kMaxRank], begin[kMaxRank], end[kMaxRank];
  int64_t inPlane() const { return product(in, 0, rank); }
  int64_t outPlane() const { return product(out, 0, rank); }
  int64_t kernelSize() const { return product(kernel, 0, rank); }
};

ONNXC_INLINE int64_t listAt(const onnxc_attr &list, int64_t i, int64_t otherwise) {
  return list.n > i ? static_cast<const int64_t *>(list.p)[i] : otherwise;
}

// "SAME_UPPER" 'U', "SAME_LOWER" 'L', "VALID" 'V', else 'N'.
ONNXC_INLINE char autoPad(const onnxc_attr &a) {
  const char *s = static_cast<const char *>(a.p);
  if (a.n <= 0 || s[0] == 'N')
    return 'N';
  return s[0] == 'V' ? 'V' : a.n == 10 && s[5] == 'U' ? 'U' : 'L';
}

struct WindowAttrs {
  const onnxc_attr *autoPad, *dilations, *kernelShape, *pads, *strides;
};

// Reads a window over the dims after the first two of `in`. `kernel` gives the kernel's dims where the attribute is absent.
inline int32_t readWindow(const onnxc_tensor &in, const onnxc_tensor &out, const int64_t *kernel, const WindowAttrs &at, Window &w) {
  ONNXC_CHECK(in.rank >= 2 && in.rank <= kMaxRank && out.rank == in.rank, ONNXC_K_SHAPE);
  w.rank = in.rank - 2;
  ONNXC_CHECK(kernel || at.kernelShape->n == w.rank, ONNXC_K_SHAPE);
  char mode = at.autoPad ? autoPad(*at.autoPad) : 'N';
  for (int64_t i = 0; i < w.rank; ++i) {
    w.in[i] = in.dims[i + 2];
    w.out[i] = out.dims[i + 2];
    w.kernel[i] = kernel ? kernel[i] : listAt(*at.kernelShape, i, 1);
    w.stride[i] = listAt(*at.strides, i, 1);
    w.dilation[i] = at.dilations ? listAt(*at.dilations, i, 1) : 1;
    ONNXC_CHECK(w.kernel[i] >= 0 && w.stride[i] > 0 && w.dilation[i] > 0, ONNXC_K_VALUE);
    w.begin[i] = mode == 'N' ? listAt(*at.pads, i, 0) : 0;
    w.end[i] = mode == 'N' ? listAt(*at.pads, w.rank + i, 0) : 0;
    if (mode == 'U' || mode == 'L') {
      SamePads pads = samePads(w.in[i], (w.kernel[i] - 1) * w.dilation[i] + 1, w.stride[i], mode == 'U');
      w.begin[i] = pads.begin, w.end[i] = pads.end;
    }
  }
  return 0;
}

// Positions o of one dim for which o·stride + shift lies in [0, in): [low, high).
ONNXC_INLINE void validRange(int64_t in, int64_t out, int64_t stride, int64_t shift, int64_t &low, int64_t &high) {
  low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  high = in > shift ? minOf(out, (in - shift + stride - 1) / stride) : 0;
}

// For kernel position `k`, calls row(outOffset, inOffset, count, inStride) for each run of valid positions of the last dim.
template <class Row>
static void forRows(const Window &w, const int64_t *k, const Row &row) {
  if (w.rank == 0)
    return row(0, 0, 1, 1);
  int64_t last = w.rank - 1, low, high, os[kMaxRank], is[kMaxRank];
  validRange(w.in[last], w.out[last], w.stride[last], k[last] * w.dilation[last] - w.begin[last], low, high);
  if (low >= high)
    return;
  contiguous(w.out, w.rank, os);
  contiguous(w.in, w.rank, is);
  Odometer<0> o;
  for (o.init(w.out, last); o.more(); o.next()) {
    int64_t outAt = low, inAt = low * w.stride[last] + k[last] * w.dilation[last] - w.begin[last];
    bool valid = true;
    for (int64_t i = 0; i < last; ++i) {
      int64_t p = o.index[i] * w.stride[i] + k[i] * w.dilation[i] - w.begin[i];
      valid &= p >= 0 && p < w.in[i];
      outAt += o.index[i] * os[i];
      inAt += p * is[i];
    }
    if (valid)
      row(outAt, inAt, high - low, w.stride[last]);
  }
}

// The window that moved over a Col2Im's result. Attributes: dilations, pads, strides.
inline int32_t columnWindow(const onnxc_args *a, Window &w) {
  const onnxc_tensor &out = a->out[0];
  w.rank = out.rank - 2;
  ONNXC_CHECK(a->in[0].rank == 3 && out.rank <= kMaxRank && onnxc_count(a->in[2]) == w.rank, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < w.rank; ++i) {
    w.in[i] = out.dims[i + 2];
    w.kernel[i] = loadI64(a->in[2], i);
    w.dilation[i] = listAt(a->attr[0], i, 1);
    w.begin[i] = listAt(a->attr[1], i, 0);
    w.stride[i] = listAt(a->attr[2], i, 1);
    ONNXC_CHECK(w.kernel[i] > 0 && w.dilation[i] > 0 && w.stride[i] > 0, ONNXC_K_VALUE);
    int64_t room = w.in[i] + w.begin[i] + listAt(a->attr[1], w.rank + i, 0) - (w.kernel[i] - 1) * w.dilation[i] - 1;
    ONNXC_CHECK(room >= 0, ONNXC_K_SHAPE);
    w.out[i] = room / w.stride[i] + 1;
  }
  return 0;
}

// Where element `at` of a row-major plane stands in a column-major one.
inline int64_t columnMajor(const Window &w, int64_t at) {
  int64_t result = 0, index[kMaxRank];
  for (int64_t i = w.rank; i-- > 0; at /= w.in[i])
    index[i] = at % w.in[i];
  for (int64_t i = w.rank; i-- > 0;)
    result = result * w.in[i] + index[i];
  return result;
}

}  // namespace onnxc
