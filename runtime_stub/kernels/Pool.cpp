// Pool.cpp: MaxPool with indices, AveragePool, LpPool, their global forms, and MaxUnpool. Windows: Window.h.
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

// Attribute positions of the pooling rows; the last three differ by op.
enum { kAutoPad, kDilations, kKernelShape, kPads, kStrides, kExtra };

// Reads the window and checks that images and channels agree.
static int32_t poolWindow(const onnxc_args *a, Window &w) {
  WindowAttrs attrs = {&a->attr[kAutoPad], &a->attr[kDilations], &a->attr[kKernelShape], &a->attr[kPads], &a->attr[kStrides]};
  ONNXC_TRY(readWindow(a->in[0], a->out[0], nullptr, attrs, w));
  return a->in[0].dims[0] == a->out[0].dims[0] && a->in[0].dims[1] == a->out[0].dims[1] ? 0 : ONNXC_K_SHAPE;
}

// Calls visit(flat operand position) for the window at `o`; returns how many positions lie inside the padded operand.
template <class Visit>
static int64_t walk(const Window &w, const int64_t *o, const Visit &visit) {
  Odometer<0> k;
  int64_t padded = 0;
  for (k.init(w.kernel, w.rank); k.more(); k.next()) {
    int64_t at = 0;
    bool inside = true, inPadded = true;
    for (int64_t i = 0; i < w.rank; ++i) {
      int64_t p = o[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i];
      inside &= p >= 0 && p < w.in[i];
      inPadded &= p < w.in[i] + w.end[i];
      at = at * w.in[i] + p;
    }
    padded += inPadded;
    if (inside)
      visit(at);
  }
  return padded;
}

// one(window, plane, where the window is, place in the result, place of the plane in in[0]) for every window of every plane.
template <class T, class F>
static int32_t forWindows(const onnxc_args *a, const F &one) {
  Window w;
  ONNXC_TRY(poolWindow(a, w));
  int64_t planes = a->in[0].dims[0] * a->in[0].dims[1], inPlane = w.inPlane(), at = 0;
  for (int64_t p = 0; p < planes; ++p) {
    Odometer<0> o;
    for (o.init(w.out, w.rank); o.more(); o.next(), ++at)
      one(w, data<T>(a->in[0]) + p * inPlane, o.index, at, p * inPlane);
  }
  return 0;
}

template <class T>
static int32_t maxPool(const onnxc_args *a) {  // last attribute: storage_order
  return forWindows<T>(a, [&](const Window &w, const T *x, const int64_t *index, int64_t at, int64_t plane) {
    int64_t best = -1;
    walk(w, index, [&](int64_t i) {
      double v = toF64(x[i]);
      if (best < 0 || v > toF64(x[best]) || (v != v && toF64(x[best]) == toF64(x[best])))
        best = i;
    });
    if (hasOut(a, 0))
      mutableData<T>(a->out[0])[at] = best < 0 ? fromF64<T>(IsFloat<T>::value      ? -__builtin_inf()
                                                            : __is_same(T, int8_t) ? -128
                                                                                   : 0)
                                               : x[best];
    if (hasOut(a, 1))
      mutableData<int64_t>(a->out[1])[at] = plane + (a->attr[kExtra].i && best >= 0 ? columnMajor(w, best) : best);
  });
}

template <class T>
static int32_t averagePool(const onnxc_args *a) {  // last attribute: count_include_pad
  return forWindows<T>(a, [&](const Window &w, const T *x, const int64_t *index, int64_t at, int64_t) {
    double sum = 0;
    int64_t count = 0;
    int64_t padded = walk(w, index, [&](int64_t i) {
      sum += toF64(x[i]);
      ++count;
    });
    mutableData<T>(a->out[0])[at] = fromF64<T>(sum / double(a->attr[kExtra].i ? padded : count));
  });
}

static double powerOf(double x, double p) { return p == 1 ? fabs(x) : p == 2 ? x * x : pow(fabs(x), p); }
static double rootOf(double x, double p) { return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1 / p); }

template <class T>
static int32_t lpPool(const onnxc_args *a) {  // last attribute: p
  double power = double(a->attr[kExtra].i);
  return forWindows<T>(a, [&](const Window &w, const T *x, const int64_t *index, int64_t at, int64_t) {
    double sum = 0;
    walk(w, index, [&](int64_t i) { sum += powerOf(toF64(x[i]), power); });
    mutableData<T>(a->out[0])[at] = fromF64<T>(rootOf(sum, power));
  });
}

enum class Global { Max, Average, Lp };

template <class T, Global Kind>
static int32_t globalPool(const onnxc_args *a) {  // LpPool's attribute: p
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2, ONNXC_K_SHAPE);
  int64_t planes = in.dims[0] * in.dims[1], n = product(in.dims, 2, in.rank);
  double power = Kind == Global::Lp ? double(a->attr[0].i) : 0;
  for (int64_t p = 0; p < planes; ++p) {
    double result = Kind == Global::Max ? -__builtin_inf() : 0;
    for (int64_t i = 0; i < n; ++i) {
      double v = toF64(data<T>(in)[p * n + i]);
      if (Kind == Global::Max)
        result = v > result || v != v ? v : result;
      else
        result += Kind == Global::Lp ? powerOf(v, power) : v;
    }
    if (Kind == Global::Average)
      result /= double(n);
    if (Kind == Global::Lp)
      result = rootOf(result, power);
    mutableData<T>(a->out[0])[p] = fromF64<T>(result);
  }
  return 0;
}

// The result dims a pooling of these attributes would have come from.
static int32_t unpooledDims(const onnxc_args *a, int64_t *dims) {  // attributes: kernel_shape, pads, strides
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2 && in.rank <= kMaxRank && a->attr[0].n == in.rank - 2, ONNXC_K_SHAPE);
  int64_t rank = in.rank - 2;
  dims[0] = in.dims[0];
  dims[1] = in.dims[1];
  for (int64_t i = 0; i < rank; ++i) {
    dims[i + 2] = (in.dims[i + 2] - 1) * listAt(a->attr[2], i, 1) + listAt(a->attr[0], i, 1) - listAt(a->attr[1], i, 0) -
                  listAt(a->attr[1], rank + i, 0);
    ONNXC_CHECK(dims[i + 2] >= 0, ONNXC_K_SIZE);
  }
  return 0;
}

static int32_t maxUnpoolSize(const onnxc_args *a) {
  if (!hasIn(a, 2))
    return unpooledDims(a, a->out[0].dims);
  ONNXC_CHECK(onnxc_count(a->in[2]) == a->out[0].rank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < a->out[0].rank; ++i) {
    a->out[0].dims[i] = loadI64(a->in[2], i);
    ONNXC_CHECK(a->out[0].dims[i] >= 0, ONNXC_K_SIZE);
  }
  return 0;
}

template <class T>
static int32_t maxUnpool(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &indices = a->in[1], &out = a->out[0];
  int64_t from[kMaxRank];
  ONNXC_CHECK(sameDims(in, indices), ONNXC_K_SHAPE);
  ONNXC_TRY(unpooledDims(a, from));
  memset(out.data, 0, size_t(onnxc_count(out)) * sizeof(T));
  int64_t total = product(from, 0, in.rank), n = onnxc_count(in);
  bool same = true;
  for (int32_t d = 0; d < in.rank; ++d)
    same &= from[d] == out.dims[d];
  for (int64_t i = 0; same && i < n; ++i) {
    int64_t at = data<int64_t>(indices)[i];
    ONNXC_CHECK(at >= 0 && at < total, ONNXC_K_INDEX);
    mutableData<T>(out)[at] = data<T>(in)[i];
  }
  for (int64_t i = 0; !same && i < n; ++i) {  // indices count in the pooled operand's shape, which output_shape may exceed
    int64_t rest = data<int64_t>(indices)[i], at = 0, stride = 1;
    ONNXC_CHECK(rest >= 0 && rest < total, ONNXC_K_INDEX);
    for (int32_t d = in.rank; d-- > 0;) {
      ONNXC_CHECK(rest % from[d] < out.dims[d], ONNXC_K_INDEX);
      at += rest % from[d] * stride;
      rest /= from[d];
      stride *= out.dims[d];
    }
    mutableData<T>(out)[at] = data<T>(in)[i];
  }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_AveragePool_##S(const onnxc_args *a) { return onnxc::averagePool<T>(a); }                                     \
  extern "C" int32_t onnxc_k_LpPool_##S(const onnxc_args *a) { return onnxc::lpPool<T>(a); }                                               \
  extern "C" int32_t onnxc_k_GlobalMaxPool_##S(const onnxc_args *a) { return onnxc::globalPool<T, onnxc::Global::Max>(a); }                \
  extern "C" int32_t onnxc_k_GlobalAveragePool_##S(const onnxc_args *a) { return onnxc::globalPool<T, onnxc::Global::Average>(a); }        \
  extern "C" int32_t onnxc_k_GlobalLpPool_##S(const onnxc_args *a) { return onnxc::globalPool<T, onnxc::Global::Lp>(a); }                  \
  extern "C" int32_t onnxc_k_MaxUnpool_##S(const onnxc_args *a) { return onnxc::maxUnpool<T>(a); }                                         \
  extern "C" int32_t onnxc_s_MaxUnpool_##S(const onnxc_args *a) { return onnxc::maxUnpoolSize(a); }                                        \
  extern "C" int32_t onnxc_k_MaxPool_##S(const onnxc_args *a) { return onnxc::maxPool<T>(a); }
ONNXC_FLOATS(X)
#undef X
extern "C" int32_t onnxc_k_MaxPool_i8(const onnxc_args *a) { return onnxc::maxPool<int8_t>(a); }
extern "C" int32_t onnxc_k_MaxPool_u8(const onnxc_args *a) { return onnxc::maxPool<uint8_t>(a); }
