// Resize.cpp: Resize and Upsample. Every axis gets a table of source positions (and weights); nearest gathers directly, linear and cubic
// run axis by axis in double.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// Attribute positions of the Resize row.
enum { kAntialias, kAxes, kCoordinates, kCubicA, kExcludeOutside, kExtrapolation, kAspect, kMode, kNearest };

static bool attrIs(const onnxc_attr &a, const char *text) {
  int64_t n = 0;
  while (text[n])
    ++n;
  return a.n == n && memcmp(a.p, text, size_t(n)) == 0;
}

struct Axis {
  double scale, roiLow, roiHigh;
  int64_t in, out;
};

// Scale, region and result size of every axis, from scales or sizes.
static int32_t resizeAxes(const onnxc_args *a, Axis *axes) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    axes[i] = {1, 0, 1, in.dims[i], in.dims[i]};
  const onnxc_attr &list = a->attr[kAxes];
  bool bySizes = hasInput(a, 3) && onnxc_count(a->in[3]) > 0;
  int64_t n = hasAttr(list) ? list.n : in.rank;
  ONNXC_CHECK(bySizes || hasInput(a, 2), ONNXC_K_SHAPE);
  const onnxc_tensor &amounts = a->in[bySizes ? 3 : 2];
  ONNXC_CHECK(onnxc_count(amounts) == n, ONNXC_K_SHAPE);
  bool larger = attrIs(a->attr[kAspect], "not_smaller"), keep = bySizes && (larger || attrIs(a->attr[kAspect], "not_larger"));
  double common = larger ? 0 : __builtin_inf();
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = hasAttr(list) ? static_cast<const int64_t *>(list.p)[i] : i;
    ONNXC_CHECK(fixAxis(k, in.rank), ONNXC_K_INDEX);
    Axis &x = axes[k];
    x.scale = bySizes ? double(loadI64(amounts, i)) / double(x.in) : loadF64(amounts, i);
    ONNXC_CHECK(x.in == 0 || (x.scale >= 0 && x.scale * double(x.in) < 0x1p62), ONNXC_K_SIZE);
    x.out = bySizes ? loadI64(amounts, i) : truncToI64(floor(x.scale * double(x.in)));
    common = larger ? maxOf(common, x.scale) : minOf(common, x.scale);
    if (hasInput(a, 1) && onnxc_count(a->in[1]) == 2 * n) {
      x.roiLow = loadF64(a->in[1], i);
      x.roiHigh = loadF64(a->in[1], n + i);
    }
  }
  for (int64_t i = 0; keep && i < n; ++i) {
    int64_t k = hasAttr(list) ? static_cast<const int64_t *>(list.p)[i] : i;
    fixAxis(k, in.rank);
    axes[k].scale = common;
    axes[k].out = truncToI64(floor(common * double(axes[k].in) + 0.5));
  }
  return 0;
}

static int32_t resizeSize(const onnxc_args *a) {
  Axis axes[kMaxRank];
  ONNXC_TRY(resizeAxes(a, axes));
  for (int32_t i = 0; i < a->in[0].rank; ++i)
    a->out[0].dims[i] = axes[i].out;
  return 0;
}

enum class Coordinates { HalfPixel, Symmetric, Pytorch, AlignCorners, Asymmetric, Crop };

static bool coordinatesOf(const onnxc_attr &attr, Coordinates &c) {
  c = Coordinates::HalfPixel;
  if (attr.n <= 0 || attrIs(attr, "half_pixel"))
    return true;
  const char *names[] = {"half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"};
  for (int i = 0; i < 5; ++i)
    if (attrIs(attr, names[i])) {
      c = Coordinates(i + 1);
      return true;
    }
  return false;
}

// The position in the operand of position y of the result.
static double sourceOf(const Axis &x, Coordinates c, double y) {
  double in = double(x.in), out = x.scale * in;
  switch (c) {
  case Coordinates::HalfPixel:
    return (y + 0.5) / x.scale - 0.5;
  case Coordinates::Symmetric:
    return in / 2 * (1 - double(x.out) / out) + (y + 0.5) / x.scale - 0.5;
  case Coordinates::Pytorch:
    return out == 1 ? -0.5 : (y + 0.5) / x.scale - 0.5;
  case Coordinates::AlignCorners:
    return out == 1 ? 0 : y * (in - 1) / (out - 1);
  case Coordinates::Asymmetric:
    return y / x.scale;
  case Coordinates::Crop: {
    double span = (x.roiHigh - x.roiLow) * (in - 1);
    return (out == 1 ? span / 2 : y * span / (out - 1)) + x.roiLow * (in - 1);
  }
  }
  return 0;
}

static int64_t nearestOf(double x, const onnxc_attr &mode) {
  double low = floor(x), ratio = x - low;
  if (ratio == 0 || attrIs(mode, "floor"))
    return int64_t(low);
  if (attrIs(mode, "ceil"))
    return int64_t(low) + 1;
  return int64_t(low) + (attrIs(mode, "round_prefer_ceil") ? ratio >= 0.5 : ratio > 0.5);
}

struct Filter {
  bool cubic;
  double a, scale;
  int64_t taps, first;
};  // scale: at most 1, below 1 with antialias

static Filter makeFilter(const onnxc_args *a, double scale, bool cubic) {
  double shrink = a->attr[kAntialias].i && scale < 1 ? scale : 1, reach = cubic ? 2 : 1;
  int64_t first = int64_t(floor(-reach / shrink)) + 1;
  return {cubic, a->attr[kCubicA].f, shrink, 2 - 2 * first, first};
}

static double weightAt(const Filter &f, double distance) {
  double x = fabs(distance * f.scale), a = f.a;
  if (!f.cubic)
    return x < 1 ? 1 - x : 0;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Weights of taps first…; returns the position of the first tap. An integer position counts as ratio 1 of its left neighbour.
static int64_t weigh(const Filter &f, double x, int64_t dim, bool excludeOutside, double *weights) {
  double low = floor(x), ratio = x - low, sum = 0;
  if (ratio == 0) {
    low -= 1;
    ratio = 1;
  }
  int64_t start = int64_t(low) + f.first;
  for (int64_t i = 0; i < f.taps; ++i) {
    weights[i] = weightAt(f, double(f.first + i) - ratio);
    if (excludeOutside && (start + i < 0 || start + i >= dim))
      weights[i] = 0;
    sum += weights[i];
  }
  if ((excludeOutside || f.scale < 1) && sum != 0)
    for (int64_t i = 0; i < f.taps; ++i)
      weights[i] /= sum;
  return start;
}

// One axis of linear or cubic resizing: [outer, in, inner] to [outer, out, inner].
static int32_t resizeAxis(const onnxc_args *a, const Axis &x, Coordinates c, bool cubic, const double *in, double *out, int64_t outer,
                          int64_t inner) {
  Filter f = makeFilter(a, x.scale, cubic);
  double *weights = allocate<double>(a, f.taps);
  ONNXC_CHECK(weights, ONNXC_K_MEMORY);
  for (int64_t y = 0; y < x.out; ++y) {
    double at = sourceOf(x, c, double(y));
    bool outside = c == Coordinates::Crop && (at < 0 || at > double(x.in - 1));
    ONNXC_CHECK(at == at && fabs(at) < 0x1p52, ONNXC_K_VALUE);
    int64_t start = weigh(f, at, x.in, a->attr[kExcludeOutside].i != 0, weights);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < f.taps; ++k) {
          int64_t from = maxOf<int64_t>(0, minOf(start + k, x.in - 1));
          sum += weights[k] * in[(o * x.in + from) * inner + i];
        }
        out[(o * x.out + y) * inner + i] = outside ? a->attr[kExtrapolation].f : sum;
      }
  }
  return 0;
}

template <class T>
static T fromInterpolated(double v) {
  if constexpr (IsFloat<T>::value)
    return fromF64<T>(v);
  else
    return saturateTo<T>(nearbyint(v));
}

template <class T>
static int32_t resizeSmooth(const onnxc_args *a, const Axis *axes, Coordinates c, bool cubic) {
  const onnxc_tensor &in = a->in[0];
  int64_t dims[kMaxRank], n = onnxc_count(in), most = n;
  for (int32_t i = 0; i < in.rank; ++i)
    dims[i] = in.dims[i];
  for (int32_t i = 0; i < in.rank; ++i) {
    dims[i] = axes[i].out;
    most = maxOf(most, product(dims, 0, in.rank));
  }
  double *from = allocate<double>(a, most), *to = allocate<double>(a, most);
  ONNXC_CHECK(from && to, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i)
    from[i] = toF64(data<T>(in)[i]);
  for (int32_t i = 0; i < in.rank; ++i)
    dims[i] = in.dims[i];
  for (int32_t i = 0; i < in.rank; ++i) {
    const Axis &x = axes[i];
    if (x.in == x.out && x.scale == 1 && x.roiLow == 0 && x.roiHigh == 1)
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
static int32_t resizeNearest(const onnxc_args *a, const Axis *axes, Coordinates c, const T &outside) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t is[kMaxRank], total = 0, *of[kMaxRank];
  contiguous(in.dims, in.rank, is);
  for (int32_t i = 0; i < in.rank; ++i)
    total += axes[i].out;
  int64_t *source = allocate<int64_t>(a, total);
  ONNXC_CHECK(source, ONNXC_K_MEMORY);
  for (int32_t i = 0; i < in.rank; ++i) {
    const Axis &x = axes[i];
    of[i] = source;
    bool same = x.in == x.out && x.scale == 1 && x.roiLow == 0 && x.roiHigh == 1;
    for (int64_t y = 0; y < x.out; ++y) {
      double at = same ? double(y) : sourceOf(x, c, double(y));
      ONNXC_CHECK(at == at && fabs(at) < 0x1p52, ONNXC_K_VALUE);
      bool beyond = c == Coordinates::Crop && (at < 0 || at > double(x.in - 1));
      *source++ = beyond ? -1 : maxOf<int64_t>(0, minOf(nearestOf(at, a->attr[kNearest]), x.in - 1)) * is[i];
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
  Axis axes[kMaxRank];
  ONNXC_TRY(resizeAxes(a, axes));
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    ONNXC_CHECK(a->out[0].dims[i] == axes[i].out, ONNXC_K_SHAPE);
    ONNXC_CHECK(axes[i].in > 0 || axes[i].out == 0, ONNXC_K_SIZE);
  }
  if (onnxc_count(a->out[0]) == 0)
    return 0;
  Coordinates c;
  ONNXC_CHECK(coordinatesOf(a->attr[kCoordinates], c), ONNXC_K_VALUE);
  bool linear = attrIs(a->attr[kMode], "linear"), cubic = attrIs(a->attr[kMode], "cubic");
  if constexpr (Numeric) {
    if (linear || cubic)
      return resizeSmooth<T>(a, axes, c, cubic);
    return resizeNearest<T>(a, axes, c, fromInterpolated<T>(a->attr[kExtrapolation].f));
  } else {
    ONNXC_CHECK(!linear && !cubic, ONNXC_K_VALUE);
    return resizeNearest<T>(a, axes, c, T{});
  }
}

// Upsample is Resize by scales with asymmetric coordinates and floor. Attributes: mode.
struct UpsampleArgs {
  onnxc_args args;
  onnxc_tensor in[3];
  onnxc_attr attr[kNearest + 1];
  const onnxc_args *get() const { return &args; }
  explicit UpsampleArgs(const onnxc_args *a) {
    args = *a;
    in[0] = a->in[0];
    in[1] = {nullptr, nullptr, -1, 0};
    in[2] = a->in[1];
    for (onnxc_attr &x : attr)
      x = {0, 0, nullptr, -1};
    attr[kCubicA].f = -0.75;
    attr[kCoordinates] = {0, 0, "asymmetric", 10};
    attr[kNearest] = {0, 0, "floor", 5};
    attr[kMode] = a->attr[0];
    args.in = in;
    args.n_in = 3;
    args.attr = attr;
  }
};

}  // namespace onnxc

#define Y(S, T, NUMERIC)                                                                                                                   \
  extern "C" int32_t onnxc_k_Resize_##S(const onnxc_args *a) { return onnxc::resize<T, NUMERIC>(a); }                                      \
  extern "C" int32_t onnxc_s_Resize_##S(const onnxc_args *a) { return onnxc::resizeSize(a); }                                              \
  extern "C" int32_t onnxc_k_Upsample_##S(const onnxc_args *a) { return onnxc::resize<T, NUMERIC>(onnxc::UpsampleArgs(a).get()); }         \
  extern "C" int32_t onnxc_s_Upsample_##S(const onnxc_args *a) { return onnxc::resizeSize(onnxc::UpsampleArgs(a).get()); }
#define X(S, T) Y(S, T, true)
ONNXC_NUMERIC(X)
Y(bool, uint8_t, false)
Y(c64, onnxc::c64, false)
Y(c128, onnxc::c128, false)
Y(str, onnxc_string, false)
#undef X
#undef Y
