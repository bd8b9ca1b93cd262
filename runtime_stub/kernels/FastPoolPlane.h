// FastPoolPlane.h: pooling of planes that fit the nearest cache, each as a whole: copied between its padding, joined down, then across, in
// vectors that run over the ends of rows, where the next row follows. For FastPool.cpp.
#pragma once
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

constexpr int64_t kPlaneBytes = 24 << 10;

// The vectors of a pooling's element type: whole ones, halves (Part 2) or quarters (Part 4).
template <class Op, int Part>
struct VectorOf {
  typedef typename Op::Type type __attribute__((ext_vector_type(Op::lanes / Part), aligned(sizeof(typename Op::Type))));
};

// Lanes of `from` a stride of 1 or 2 apart.
template <class Op, int Part, int Stride>
ONNXC_INLINE typename VectorOf<Op, Part>::type loadLanes(const typename Op::Type *from) {
  using V = typename VectorOf<Op, Part>::type;
  constexpr int64_t lanes = Op::lanes / Part;
  V low = *(const V *)from;
  if constexpr (Stride == 1)
    return low;
  V high = *(const V *)(from + lanes);
  if constexpr (lanes == 4)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6);
  else if constexpr (lanes == 8)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  else if constexpr (lanes == 16)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48,
                                   50, 52, 54, 56, 58, 60, 62);
}

// A padded plane, its windows joined down, and the result; each may be written and read three vectors past its end.
template <class T>
struct PlaneBuffers {
  static constexpr int64_t count = kPlaneBytes / int64_t(sizeof(T)), room = count + 192;
  T padded[room], joined[room], out[room];
  float rowShare[room], columnShare[room];  // average: one over how many kernel rows or columns count
  int64_t pitch;
};

// Whether the plane of the window is pooled here.
template <class Op>
static bool fitsPlane(const Window &w) {
  constexpr int64_t lanes = Op::lanes, most = PlaneBuffers<typename Op::Type>::count;
  bool fits = w.rank == 2;
  for (int64_t i = 0; fits && i < 2; ++i)
    fits = w.dilation[i] == 1 && w.begin[i] >= 0 && w.end[i] >= 0 && w.in[i] > 0 && w.out[i] > 0 && w.in[i] <= most && w.out[i] <= most &&
           w.kernel[i] <= most && w.stride[i] <= most;
  if (!fits || w.stride[1] > 2)
    return false;
  int64_t pitch = maxOf(w.begin[1] + w.in[1], (w.out[1] - 1) * w.stride[1] + w.kernel[1]) + lanes;
  int64_t rows = maxOf(w.begin[0] + w.in[0], (w.out[0] - 1) * w.stride[0] + w.kernel[0]);
  return pitch <= most && rows <= most && rows * pitch <= most && w.out[0] * pitch <= most;
}

static void shares(const Window &w, int64_t axis, bool padded, float *share) {
  for (int64_t o = 0; o < w.out[axis]; ++o) {
    int64_t n = 0;
    for (int64_t k = 0; k < w.kernel[axis]; ++k) {
      int64_t p = o * w.stride[axis] + k - w.begin[axis];
      n += padded ? p < w.in[axis] + w.end[axis] : p >= 0 && p < w.in[axis];
    }
    share[o] = 1 / float(n);
  }
}

template <class Op>
static void startPlane(const Window &w, bool padded, PlaneBuffers<typename Op::Type> &b) {
  constexpr int64_t lanes = Op::lanes;
  int64_t width = maxOf(w.begin[1] + w.in[1], (w.out[1] - 1) * w.stride[1] + w.kernel[1]);
  b.pitch = (width + lanes - 1) & -lanes;
  int64_t rows = maxOf(w.begin[0] + w.in[0], (w.out[0] - 1) * w.stride[0] + w.kernel[0]);
  for (int64_t i = 0; i < rows * b.pitch + 3 * lanes; ++i)
    b.padded[i] = Op::start;
  for (int64_t i = 0; i < 3 * lanes; ++i)
    b.joined[w.out[0] * b.pitch + i] = Op::start;
  if (Op::average)
    shares(w, 0, padded, b.rowShare), shares(w, 1, padded, b.columnShare);
}

// The plane between its padding. A vector past the end of a row writes padding, or what the next row replaces; one that would read past
// `end`, the operand's, is copied by elements.
template <class Op>
static void padPlane(const Window &w, const typename Op::Type *x, const typename Op::Type *end, PlaneBuffers<typename Op::Type> &b) {
  using T = typename Op::Type;
  using V = typename VectorOf<Op, 1>::type;
  constexpr int64_t lanes = Op::lanes;
  int64_t width = w.in[1], whole = width / lanes * lanes;
  T keep[lanes], number[lanes];
  for (int64_t i = 0; i < lanes; ++i)
    keep[i] = T(i < width - whole), number[i] = T(0);
  auto inside = *(const V *)keep != *(const V *)number;
  for (int64_t r = 0; r < w.in[0]; ++r) {
    const T *from = x + r * width;
    T *to = b.padded + (r + w.begin[0]) * b.pitch + w.begin[1];
    for (int64_t i = 0; i < whole; i += lanes)
      *(V *)(to + i) = *(const V *)(from + i);
    if (from + whole + lanes <= end)
      *(V *)(to + whole) = inside ? *(const V *)(from + whole) : V(Op::start);
    else
      for (int64_t i = whole; i < width; ++i)
        to[i] = from[i];
  }
}

// Windows of rows that lie `pitch` apart, `width` columns of them.
template <class Op>
static void joinPlaneDown(const Window &w, const typename Op::Type *x, int64_t pitch, int64_t width, PlaneBuffers<typename Op::Type> &b) {
  using T = typename Op::Type;
  using V = typename VectorOf<Op, 1>::type;
  for (int64_t o = 0; o < w.out[0]; ++o) {
    const T *from = x + o * w.stride[0] * pitch;
    for (int64_t c = 0; c < width; c += Op::lanes) {
      V v = *(const V *)(from + c);
      for (int64_t k = 1; k < w.kernel[0]; ++k)
        v = Op::join(v, *(const V *)(from + k * pitch + c));
      *(V *)(b.joined + o * b.pitch + c) = v;
    }
  }
}

template <class Op, int Stride, int Kernel>
static void joinPlaneAcross(const Window &w, PlaneBuffers<typename Op::Type> &b) {
  using T = typename Op::Type;
  using V = typename VectorOf<Op, 1>::type;
  for (int64_t o = 0; o < w.out[0]; ++o) {
    const T *from = b.joined + o * b.pitch;
    for (int64_t c = 0; c < w.out[1]; c += Op::lanes) {
      V v = loadLanes<Op, 1, Stride>(from + c * Stride);
      if constexpr (Kernel != 0)
        unroll<1, Kernel>([&](auto k) { v = Op::join(v, loadLanes<Op, 1, Stride>(from + c * Stride + k.value)); });
      else
        for (int64_t k = 1; k < w.kernel[1]; ++k)
          v = Op::join(v, loadLanes<Op, 1, Stride>(from + c * Stride + k));
      if constexpr (Op::average)
        v = v * (V(b.rowShare[o]) * *(const V *)(b.columnShare + c));
      *(V *)(b.out + o * w.out[1] + c) = v;
    }
  }
}

template <class Op, int Stride>
static void joinPlaneAcross(const Window &w, PlaneBuffers<typename Op::Type> &b) {
  if (w.kernel[1] == 2)
    return joinPlaneAcross<Op, Stride, 2>(w, b);
  if (w.kernel[1] == 3)
    return joinPlaneAcross<Op, Stride, 3>(w, b);
  joinPlaneAcross<Op, Stride, 0>(w, b);
}

template <class Op>
static void poolWhole(const Window &w, const typename Op::Type *x, const typename Op::Type *end, typename Op::Type *y,
                      PlaneBuffers<typename Op::Type> &b) {
  bool inside = x + w.inPlane() + Op::lanes <= end;  // the last vector of a row may read on
  for (int64_t i = 0; i < 2; ++i)
    inside &= w.begin[i] == 0 && (w.out[i] - 1) * w.stride[i] + w.kernel[i] <= w.in[i];
  if (!inside)
    padPlane<Op>(w, x, end, b);
  joinPlaneDown<Op>(w, inside ? x : b.padded, inside ? w.in[1] : b.pitch, inside ? w.in[1] : b.pitch, b);
  w.stride[1] == 1 ? joinPlaneAcross<Op, 1>(w, b) : joinPlaneAcross<Op, 2>(w, b);
  memcpy(y, b.out, size_t(w.outPlane()) * sizeof(*y));
}

}  // namespace onnxc
