// RoiBins.h: where RoiAlign samples and which cells MaxRoiPool has (Vision.cpp, FastRoi*.cpp). A roi is cut into bins and a bin is sampled
// on a grid; along a dim, the samples of a bin go one way, so those inside the image are neighbours.
#pragma once
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

// Of an attribute: a bin has at most as many samples as its square. Rois that tell the grid themselves have one sample a pixel, at most
// two.
constexpr int64_t kMostRoiSamples = 1 << 12;

// A roi along one dim.
struct RoiSide {
  double start, length;  // of a bin
  int64_t grid;          // samples of a bin

  double at(int64_t bin, int64_t sample) const { return start + double(bin) * length + (double(sample) + 0.5) * length / double(grid); }
  // The first sample from `from` on that is not `is(position)`, which holds up to there.
  template <class F>
  int64_t firstNot(int64_t bin, int64_t from, F is) const {
    int64_t end = grid;
    while (from < end) {
      int64_t middle = from + (end - from) / 2;
      if (is(at(bin, middle)))
        from = middle + 1;
      else
        end = middle;
    }
    return from;
  }
  struct Range {
    int64_t begin, end;
  };
  // The samples of a bin that an image of `size` has; a roi may run backwards.
  Range inside(int64_t bin, int64_t size) const {
    double last = double(size);
    bool forwards = length >= 0;
    int64_t begin = size == 0 ? grid : firstNot(bin, 0, [=](double x) { return forwards ? x < -1 : x > last; });
    return {begin, firstNot(bin, begin, [=](double x) { return x >= -1 && x <= last; })};
  }
};

struct RoiBins {
  RoiSide side[2];  // rows and columns
  int64_t image;
};

// Attributes: coordinate_transformation_mode, mode, sampling_ratio, spatial_scale.
template <class T>
int32_t readRoi(const Args *a, int64_t r, RoiBins &roi) {
  const T *corner = in<T>(a, 1) + r * 4;  // x1 y1 x2 y2
  bool halfPixel = is(text(a->attr[0]), "half_pixel");
  roi.image = loadI64(a->in[2], r);
  ONNXC_CHECK(roi.image >= 0 && roi.image < a->in[0].dims[0], ONNXC_K_INDEX);
  ONNXC_CHECK(a->attr[2].i <= kMostRoiSamples, ONNXC_K_VALUE);
  for (int k = 0; k < 2; ++k) {
    RoiSide &s = roi.side[k];
    double offset = halfPixel ? 0.5 : 0, length = toF64(corner[3 - k]) * a->attr[3].f - offset;
    s.start = toF64(corner[1 - k]) * a->attr[3].f - offset;
    length -= s.start;
    if (!halfPixel)
      length = maxOf(length, 1.0);
    s.length = length / double(a->out[0].dims[2 + k]);
    s.grid = a->attr[2].i > 0 ? a->attr[2].i : s.length > 0 ? int64_t(__builtin_ceil(minOf(s.length, 0x1p62))) : 0;
  }
  return ONNXC_K_OK;
}

// The checks that both kernels need.
inline int32_t checkRois(const Args *a) {
  const Tensor &x = a->in[0], &rois = a->in[1], &y = a->out[0];
  ONNXC_CHECK(x.rank == 4 && rois.rank == 2 && rois.dims[1] == 4 && y.rank == 4, ONNXC_K_SHAPE);
  ONNXC_CHECK(onnxc_count(a->in[2]) == rois.dims[0] && y.dims[0] == rois.dims[0], ONNXC_K_SHAPE);
  return ONNXC_K_OK;
}

struct Cell {
  int64_t begin, end;
};

// The cells of MaxRoiPool along one dim of a roi, of which an image of `size` has [begin, end) of each. In single precision, as in ONNX
// Runtime: an end that rounding puts past a pixel takes that too.
inline int32_t roiCells(double first, double last, double scale, int64_t cells, int64_t size, Cell *to) {
  float low = __builtin_roundf(float(first) * float(scale)), high = __builtin_roundf(float(last) * float(scale));
  ONNXC_CHECK(__builtin_fabsf(low) < 1e9f && __builtin_fabsf(high) < 1e9f, ONNXC_K_VALUE);
  int64_t start = int64_t(low);
  float each = float(maxOf<int64_t>(int64_t(high) - start + 1, 1)) / float(cells);
  for (int64_t i = 0; i < cells; ++i) {
    to[i].begin = maxOf<int64_t>(0, minOf(int64_t(__builtin_floorf(float(i) * each)) + start, size));
    to[i].end = maxOf<int64_t>(0, minOf(int64_t(__builtin_ceilf(float(i + 1) * each)) + start, size));
  }
  return ONNXC_K_OK;
}

}  // namespace onnxc
