// ResizeAxes.h: what Resize's operands and attributes say about each axis: scale, region, size, modes. For Resize.cpp, the oracle, and
// FastResize.cpp.
#pragma once
#include "runtime_stub/kernels/ResizePositions.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

// Attribute positions of the Resize row.
enum ResizeAttribute { kAntialias, kAxes, kCoordinates, kCubicA, kExcludeOutside, kExtrapolation, kAspect, kMode, kNearest };

// The axis stays as it is.
inline bool unchanged(const ResizedAxis &x) { return x.in == x.out && x.scale == 1 && x.roiLow == 0 && x.roiHigh == 1; }

// Takes the plan's size for the axis where it is the one asked for. A scale that is a fraction of sizes may be a little below it: 31 of 7
// is 30 in single precision, and the plan knows that it was 31.
inline bool takeSize(ResizedAxis &x, int64_t n) {
  bool fits = n == x.out || (n == x.out + 1 && double(n) - x.width < 1e-6 * double(n));
  x.out = n;
  return fits;
}

// Scale, region and result size of every axis, from scales or sizes. A size times a scale is in single precision, as in ONNX Runtime and so
// in what exporters expect: 10 times 0.7f is 7.
inline int32_t resizeAxes(const onnxc_args *a, ResizedAxis *axes) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    axes[i] = {1, 0, 1, in.dims[i], in.dims[i], double(in.dims[i])};
  const onnxc_attr &list = a->attr[kAxes];
  bool bySizes = hasIn(a, 3) && onnxc_count(a->in[3]) > 0;
  int64_t n = given(list) ? list.n : in.rank;
  ONNXC_CHECK(bySizes || hasIn(a, 2), ONNXC_K_SHAPE);
  const onnxc_tensor &amounts = a->in[bySizes ? 3 : 2];
  ONNXC_CHECK(onnxc_count(amounts) == n, ONNXC_K_SHAPE);
  bool larger = is(text(a->attr[kAspect]), "not_smaller"), keep = bySizes && (larger || is(text(a->attr[kAspect]), "not_larger"));
  double common = larger ? 0 : __builtin_inf();
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = given(list) ? static_cast<const int64_t *>(list.p)[i] : i;
    ONNXC_CHECK(fixAxis(k, in.rank), ONNXC_K_INDEX);
    ResizedAxis &x = axes[k];
    x.scale = bySizes ? double(loadI64(amounts, i)) / double(x.in) : loadF64(amounts, i);
    ONNXC_CHECK(x.in == 0 || (x.scale >= 0 && x.scale * double(x.in) < 0x1p62), ONNXC_K_SIZE);
    x.width = bySizes ? double(loadI64(amounts, i)) : x.scale * double(x.in);
    x.out = bySizes ? loadI64(amounts, i) : truncToI64(floor(float(x.in) * float(x.scale)));
    common = larger ? maxOf(common, x.scale) : minOf(common, x.scale);
    if (hasIn(a, 1) && onnxc_count(a->in[1]) == 2 * n) {
      x.roiLow = loadF64(a->in[1], i);
      x.roiHigh = loadF64(a->in[1], n + i);
    }
  }
  for (int64_t i = 0; keep && i < n; ++i) {
    int64_t k = given(list) ? static_cast<const int64_t *>(list.p)[i] : i;
    fixAxis(k, in.rank);
    axes[k].scale = common;
    axes[k].width = common * double(axes[k].in);
    axes[k].out = truncToI64(floor(axes[k].width + 0.5));
  }
  return 0;
}

// An absent one is the first of its kind.
inline bool coordinatesOf(const onnxc_attr &attr, Coordinates &c) {
  c = attr.n <= 0 ? Coordinates::HalfPixel : modeNamed<Coordinates>(kCoordinateNames, static_cast<const char *>(attr.p), attr.n);
  return c != Coordinates::Count;
}
inline Nearest nearestMode(const onnxc_attr &attr) {
  return attr.n <= 0 ? Nearest::PreferFloor : modeNamed<Nearest>(kNearestNames, static_cast<const char *>(attr.p), attr.n);
}

// An element of the result of linear or cubic.
template <class T>
ONNXC_INLINE T fromInterpolated(double v) {
  if constexpr (IsFloat<T>::value)
    return fromF64<T>(v);
  else
    return saturateTo<T>(__builtin_rint(v));
}

inline Filter filterOf(const onnxc_args *a, double scale, bool cubic) {
  return makeFilter(a->attr[kAntialias].i != 0, a->attr[kCubicA].f, scale, cubic);
}

}  // namespace onnxc
