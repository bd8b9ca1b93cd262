// Resize.cpp: Resize. Every axis gets a table of source positions (and weights); nearest gathers directly, linear and cubic
// run axis by axis in double. Fast forms: FastResize.cpp.
#include "runtime_stub/kernels/ResizeAxes.h"

namespace onnxc {

static int32_t resizeSize(const onnxc_args *a) {
  ResizedAxis axes[kMaxRank];
  ONNXC_TRY(resizeAxes(a, axes));
  for (int32_t i = 0; i < a->in[0].rank; ++i)
    a->out[0].dims[i] = axes[i].out;
  return 0;
}

// What positions of one axis are made of: tap k of position y is row from[y * taps + k] with that weight.
struct AxisTaps {
  int64_t taps, *from;
  double *weights;
  bool *outside;
};

static int32_t tapsOf(const onnxc_args *a, const ResizedAxis &x, Coordinates c, bool cubic, AxisTaps &t) {
  Filter f = filterOf(a, x.scale, cubic);
  t = {f.taps, heap<int64_t>(a, x.out * f.taps), heap<double>(a, x.out * f.taps), heap<bool>(a, x.out)};
  ONNXC_CHECK(t.from && t.weights && t.outside, ONNXC_K_MEMORY);
  for (int64_t y = 0; y < x.out; ++y) {
    double at = sourceOf(x, c, double(y));
    ONNXC_CHECK(at == at && fabs(at) < 0x1p52, ONNXC_K_VALUE);
    t.outside[y] = c == Coordinates::Crop && (at < 0 || at > double(x.in - 1));
    int64_t start = weigh(f, at, x.in, a->attr[kExcludeOutside].i != 0, t.weights + y * f.taps);
    for (int64_t k = 0; k < f.taps; ++k)
      t.from[y * f.taps + k] = maxOf<int64_t>(0, minOf(start + k, x.in - 1));
  }
  return 0;
}

// One axis of linear or cubic resizing: [outer, in, inner] to [outer, out, inner].
static int32_t resizeAxis(const onnxc_args *a, const ResizedAxis &x, Coordinates c, bool cubic, const double *in, double *__restrict out,
                          int64_t outer, int64_t inner) {
  AxisTaps t;
  ONNXC_TRY(tapsOf(a, x, c, cubic, t));
  for (int64_t o = 0; o < outer; ++o, in += x.in * inner)
    for (int64_t y = 0; y < x.out; ++y, out += inner) {
      const int64_t *from = t.from + y * t.taps;
      const double *weights = t.weights + y * t.taps;
      double first = t.outside[y] ? a->attr[kExtrapolation].f : 0;
      int64_t taps = t.outside[y] ? 0 : t.taps;
      if (inner == 1) {
        for (int64_t k = 0; k < taps; ++k)
          first += weights[k] * in[from[k]];
        *out = first;
        continue;
      }
      for (int64_t i = 0; i < inner; ++i)
        out[i] = first;
      for (int64_t k = 0; k < taps; ++k)
        for (int64_t i = 0; i < inner; ++i)
          out[i] += weights[k] * in[from[k] * inner + i];
    }
  return 0;
}

template <class T>
static int32_t resizeSmooth(const onnxc_args *a, const ResizedAxis *axes, Coordinates c, bool cubic) {
  const onnxc_tensor &in = a->in[0];
  int64_t dims[kMaxRank], n = onnxc_count(in), most = n;
  for (int32_t i = 0; i < in.rank; ++i)
    dims[i] = in.dims[i];
  for (int32_t i = 0; i < in.rank; ++i) {
    dims[i] = axes[i].out;
    most = maxOf(most, product(dims, 0, in.rank));
  }
  double *from = heap<double>(a, most), *to = heap<double>(a, most);
  ONNXC_CHECK(from && to, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i)
    from[i] = toF64(data<T>(in)[i]);
  for (int32_t i = 0; i < in.rank; ++i)
    dims[i] = in.dims[i];
  for (int32_t i = 0; i < in.rank; ++i) {
    const ResizedAxis &x = axes[i];
    if (unchanged(x))
      continue;
    ONNXC_TRY(resizeAxis(a, x, c, cubic, from, to, product(dims, 0, i), product(dims, i + 1, in.rank)));
    dims[i] = x.out;
    double *swap = from;
    from = to;
    to = swap;
  }
  for (int64_t i = 0; i < product(dims, 0, in.rank); ++i)
    mutableData<T>(a->out[0])[i] = fromInterpolated<T>(from[i]);
  return 0;
}

template <class T>
static int32_t resizeNearest(const onnxc_args *a, const ResizedAxis *axes, Coordinates c, const T &outside) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t is[kMaxRank], total = 0, *of[kMaxRank];
  contiguous(in.dims, in.rank, is);
  for (int32_t i = 0; i < in.rank; ++i)
    total += axes[i].out;
  int64_t *source = heap<int64_t>(a, total);
  ONNXC_CHECK(source, ONNXC_K_MEMORY);
  for (int32_t i = 0; i < in.rank; ++i) {
    const ResizedAxis &x = axes[i];
    of[i] = source;
    bool same = unchanged(x);
    for (int64_t y = 0; y < x.out; ++y) {
      double at = same ? double(y) : nearestSource(x, c, y);
      ONNXC_CHECK(at == at && fabs(at) < 0x1p52, ONNXC_K_VALUE);
      bool beyond = c == Coordinates::Crop && (at < 0 || at > double(x.in - 1));
      *source++ = beyond ? -1 : maxOf<int64_t>(0, minOf(nearestOf(at, nearestMode(a->attr[kNearest]), x.scale), x.in - 1)) * is[i];
    }
  }
  Odometer<0> o;
  T *to = mutableData<T>(out);
  for (o.init(out.dims, out.rank); o.more(); o.next()) {
    int64_t at = 0;
    bool beyond = false;
    for (int32_t i = 0; i < in.rank; ++i) {
      beyond |= of[i][o.index[i]] < 0;
      at += of[i][o.index[i]];
    }
    *to++ = beyond ? outside : data<T>(in)[at];
  }
  return 0;
}

template <class T, bool Numeric>
static int32_t resize(const onnxc_args *a) {
  ResizedAxis axes[kMaxRank];
  ONNXC_TRY(resizeAxes(a, axes));
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    ONNXC_CHECK(takeSize(axes[i], a->out[0].dims[i]), ONNXC_K_SHAPE);
    ONNXC_CHECK(axes[i].in > 0 || axes[i].out == 0, ONNXC_K_SIZE);
  }
  if (onnxc_count(a->out[0]) == 0)
    return 0;
  Coordinates c;
  ONNXC_CHECK(coordinatesOf(a->attr[kCoordinates], c), ONNXC_K_VALUE);
  bool linear = is(text(a->attr[kMode]), "linear"), cubic = is(text(a->attr[kMode]), "cubic");
  if constexpr (Numeric) {
    if (linear || cubic)
      return resizeSmooth<T>(a, axes, c, cubic);
    return resizeNearest<T>(a, axes, c, fromInterpolated<T>(a->attr[kExtrapolation].f));
  } else {
    ONNXC_CHECK(!linear && !cubic, ONNXC_K_VALUE);
    return resizeNearest<T>(a, axes, c, T{});
  }
}

}  // namespace onnxc

#define Y(S, T, NUMERIC)                                                                                                                   \
  extern "C" int32_t onnxc_k_Resize_##S(const onnxc_args *a) { return onnxc::resize<T, NUMERIC>(a); }                                      \
  extern "C" int32_t onnxc_s_Resize_##S(const onnxc_args *a) { return onnxc::resizeSize(a); }
#define X(S, T) Y(S, T, true)
ONNXC_NUMERIC(X)
Y(bool, uint8_t, false)
Y(c64, onnxc::c64, false)
Y(c128, onnxc::c128, false)
Y(str, onnxc_string, false)
#undef X
#undef Y
