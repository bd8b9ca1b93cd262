// ResizeAxes.h: what Resize's attributes say about each axis: sizes, the source position of every result position, and the weights of its
// taps. For Resize.cpp, the oracle, and FastResize.cpp.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// Attribute positions of the Resize row.
enum ResizeAttribute { kAntialias, kAxes, kCoordinates, kCubicA, kExcludeOutside, kExtrapolation, kAspect, kMode, kNearest };

inline bool attrIs(const onnxc_attr &a, const char *text) {
  int64_t n = 0;
  while (text[n])
    ++n;
  return a.n == n && memcmp(a.p, text, size_t(n)) == 0;
}

struct Axis {
  double scale, roiLow, roiHigh;
  int64_t in, out;
  double width;  // the length of the result before it is rounded: `out` where sizes are given
};

// The axis stays as it is.
inline bool unchanged(const Axis &x) { return x.in == x.out && x.scale == 1 && x.roiLow == 0 && x.roiHigh == 1; }

// Takes the plan's size for the axis where it is the one asked for. A scale that is a fraction of sizes may be a little below it: 31 of 7
// is 30 in single precision, and the plan knows that it was 31.
inline bool takeSize(Axis &x, int64_t n) {
  bool fits = n == x.out || (n == x.out + 1 && double(n) - x.width < 1e-6 * double(n));
  x.out = n;
  return fits;
}

// Scale, region and result size of every axis, from scales or sizes. A size times a scale is in single precision, as in ONNX Runtime and so
// in what exporters expect: 10 times 0.7f is 7.
inline int32_t resizeAxes(const onnxc_args *a, Axis *axes) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    axes[i] = {1, 0, 1, in.dims[i], in.dims[i], double(in.dims[i])};
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
    x.width = bySizes ? double(loadI64(amounts, i)) : x.scale * double(x.in);
    x.out = bySizes ? loadI64(amounts, i) : truncToI64(floor(float(x.in) * float(x.scale)));
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
    axes[k].width = common * double(axes[k].in);
    axes[k].out = truncToI64(floor(axes[k].width + 0.5));
  }
  return 0;
}

enum class Coordinates { HalfPixel, Symmetric, Pytorch, AlignCorners, Asymmetric, Crop, HalfPixelForNearest };

inline bool coordinatesOf(const onnxc_attr &attr, Coordinates &c) {
  c = Coordinates::HalfPixel;
  if (attr.n <= 0 || attrIs(attr, "half_pixel"))
    return true;
  const char *names[] = {"half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                         "asymmetric",           "tf_crop_and_resize", "tf_half_pixel_for_nn"};
  for (int i = 0; i < 6; ++i)
    if (attrIs(attr, names[i])) {
      c = Coordinates(i + 1);
      return true;
    }
  return false;
}

// The position in the operand of position y of the result. The standard's length_resized is the whole length where it asks for 1 and the
// fractional one (the reference's output_width) elsewhere, as the backend suite has it.
inline double sourceOf(const Axis &x, Coordinates c, double y) {
  double in = double(x.in);
  switch (c) {
  case Coordinates::HalfPixel:
    return (y + 0.5) / x.scale - 0.5;
  case Coordinates::Symmetric:
    return in / 2 * (1 - double(x.out) / x.width) + (y + 0.5) / x.scale - 0.5;
  case Coordinates::Pytorch:
    return x.out == 1 ? 0 : (y + 0.5) / x.scale - 0.5;
  case Coordinates::AlignCorners:
    return x.out == 1 ? 0 : y * (in - 1) / (x.width - 1);
  case Coordinates::Asymmetric:
    return y / x.scale;
  case Coordinates::HalfPixelForNearest:  // of opset 11 alone, but written by exporters in later ones too
    return (y + 0.5) / x.scale;
  case Coordinates::Crop: {
    double span = (x.roiHigh - x.roiLow) * (in - 1);
    return (x.out == 1 ? span / 2 : y * span / (x.width - 1)) + x.roiLow * (in - 1);
  }
  }
  return 0;
}

// The same for the nearest element, whose choice hangs on the last bit: in single precision as ONNX Runtime has it, where 2 / (4 / 6) is 3.
inline double nearestSource(const Axis &x, Coordinates c, int64_t y) {
  float at = float(y), scale = float(x.scale);
  switch (c) {
  case Coordinates::Pytorch:
    if (x.out == 1)
      return 0;
    [[fallthrough]];
  case Coordinates::HalfPixel:
    return (at + 0.5f) / scale - 0.5f;
  case Coordinates::Asymmetric:
    return at / scale;
  case Coordinates::HalfPixelForNearest:
    return (at + 0.5f) / scale;
  default:
    return sourceOf(x, c, double(y));
  }
}

// "ceil_if_smaller": Resize of opset 10, an axis by itself.
inline int64_t nearestOf(double x, const onnxc_attr &mode, double scale) {
  double low = floor(x), ratio = x - low;
  bool byScale = attrIs(mode, "ceil_if_smaller");
  if (ratio == 0 || attrIs(mode, "floor") || (byScale && scale >= 1))
    return int64_t(low);
  if (attrIs(mode, "ceil") || byScale)
    return int64_t(low) + 1;
  return int64_t(low) + (attrIs(mode, "round_prefer_ceil") ? ratio >= 0.5 : ratio > 0.5);
}

struct Filter {
  bool cubic;
  double a, scale;
  int64_t taps, first;
};  // scale: at most 1, below 1 with antialias

inline Filter makeFilter(const onnxc_args *a, double scale, bool cubic) {
  double shrink = a->attr[kAntialias].i && scale < 1 ? scale : 1, reach = cubic ? 2 : 1;
  int64_t first = int64_t(floor(-reach / shrink)) + 1;
  return {cubic, a->attr[kCubicA].f, shrink, 2 - 2 * first, first};
}

inline double weightAt(const Filter &f, double distance) {
  double x = fabs(distance * f.scale), a = f.a;
  if (!f.cubic)
    return x < 1 ? 1 - x : 0;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Weights of taps first…; returns the position of the first tap. An integer position counts as ratio 1 of its left neighbour.
inline int64_t weigh(const Filter &f, double x, int64_t dim, bool excludeOutside, double *weights) {
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

}  // namespace onnxc
