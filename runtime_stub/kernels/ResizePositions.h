// ResizePositions.h: where Resize takes each position of an axis of its result from, and the weights of its taps: for the kernels
// (ResizeAxes.h) and for the tables that passes/layout/ResizeTables.cpp computes at compile time. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

struct ResizedAxis {
  double scale, roiLow, roiHigh;
  int64_t in, out;
  double width;  // the length of the result before it is rounded: `out` where sizes are given
};

enum class Coordinates { HalfPixel, Symmetric, Pytorch, AlignCorners, Asymmetric, Crop, HalfPixelForNearest, Count };
constexpr const char *kCoordinateNames[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
                                            "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
// CeilIfSmaller: Resize of opset 10, an axis by itself.
enum class Nearest { PreferFloor, PreferCeil, Floor, Ceil, CeilIfSmaller, Count };
constexpr const char *kNearestNames[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "ceil_if_smaller"};

// The mode called by the `n` characters of `text`; Count: none is.
template <class Mode, int N>
inline Mode modeNamed(const char *const (&names)[N], const char *text, int64_t n) {
  static_assert(N == int(Mode::Count), "a name for each mode");
  for (int i = 0; i < N; ++i) {
    int64_t k = 0;
    while (k < n && names[i][k] && names[i][k] == text[k])
      ++k;
    if (k == n && !names[i][n])
      return Mode(i);
  }
  return Mode::Count;
}

// The position in the operand of position y of the result. The standard's length_resized is the whole length where it asks for 1 and the
// fractional one (the reference's output_width) elsewhere, as the backend suite has it.
inline double sourceOf(const ResizedAxis &x, Coordinates c, double y) {
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
  case Coordinates::Count:
    break;
  }
  return 0;
}

// The same for the nearest element, whose choice hangs on the last bit: in single precision as ONNX Runtime has it, where 2 / (4 / 6) is 3.
inline double nearestSource(const ResizedAxis &x, Coordinates c, int64_t y) {
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

inline int64_t nearestOf(double x, Nearest mode, double scale) {
  double low = __builtin_floor(x), ratio = x - low;
  if (ratio == 0 || mode == Nearest::Floor || (mode == Nearest::CeilIfSmaller && scale >= 1))
    return int64_t(low);
  if (mode == Nearest::Ceil || mode == Nearest::CeilIfSmaller)
    return int64_t(low) + 1;
  return int64_t(low) + (mode == Nearest::PreferCeil ? ratio >= 0.5 : ratio > 0.5);
}

struct Filter {
  bool cubic;
  double a, scale;  // scale: at most 1, below 1 with antialias
  int64_t taps, first;
};

inline Filter makeFilter(bool antialias, double cubicA, double scale, bool cubic) {
  double shrink = antialias && scale < 1 ? scale : 1, reach = cubic ? 2 : 1;
  double span = reach / shrink;
  int64_t first = span < 0x1p31 ? int64_t(__builtin_floor(-span)) + 1 : -(int64_t(1) << 31);
  return {cubic, cubicA, shrink, 2 - 2 * first, first};
}

// The cubic of a tap at distance d of at most 2; `a`: its slope at 1.
inline double cubicWeight(double a, double d) {
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
inline double weightAt(const Filter &f, double distance) {
  double x = __builtin_fabs(distance * f.scale);
  if (!f.cubic)
    return x < 1 ? 1 - x : 0;
  return x < 2 ? cubicWeight(f.a, x) : 0;
}

// Weights of taps first…; returns the position of the first tap. An integer position counts as ratio 1 of its left neighbour.
inline int64_t weigh(const Filter &f, double x, int64_t dim, bool excludeOutside, double *weights) {
  double low = __builtin_floor(x), ratio = x - low, sum = 0;
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
