// Sample.h: where a sampled image is read: taps of each dim and their weights, of GridSample and DeformConv. For Vision.cpp, the oracle,
// and FastSample.cpp.
#pragma once
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/ResizePositions.h"

namespace onnxc {

// Up to four taps along each dim: plane offset of the tap (-1: outside, counts as zero) and its weight.
struct Taps {
  int64_t count, at[kMaxRank][4];
  double weight[kMaxRank][4];
};

inline double reflect(double x, double low, double high) {
  double span = high - low, over = x < low ? low - x : x - high;
  if (over <= 0)
    return x;
  if (span <= 0)
    return low;
  double turns = floor(over / span), rest = over - turns * span;
  bool near = fmod(turns, 2) == 0;
  return (x < low) == near ? low + rest : high - rest;
}

// Attributes: align_corners, mode, padding_mode. Positions have single precision unless the grid is of doubles.
struct GridMode {
  bool align, nearest, cubic, border, reflection, wide;
};

inline GridMode gridMode(const onnxc_args *a) {
  return {a->attr[0].i != 0,           startsWith(a->attr[1], 'n'), startsWith(a->attr[1], 'c'),
          startsWith(a->attr[2], 'b'), startsWith(a->attr[2], 'r'), a->in[1].dtype == ONNXC_F64};
}

inline int64_t paddedIndex(const GridMode &m, double i, int64_t dim, double low, double high) {
  if (i >= 0 && i < double(dim))
    return int64_t(i);
  if (m.border)
    return i < 0 ? 0 : dim - 1;
  return m.reflection ? maxOf<int64_t>(0, minOf(int64_t(reflect(i, low, high)), dim - 1)) : -1;
}

// Taps of one dim for normalised coordinate n.
inline void gridTaps(const GridMode &m, double n, int64_t dim, int64_t stride, Taps &t, int64_t axis) {
  double exact = m.align ? (n + 1) / 2 * double(dim - 1) : ((n + 1) * double(dim) - 1) / 2, where = m.wide ? exact : double(float(exact));
  double x = where != where ? -1 : where < -1e9 ? -1e9 : where > 1e9 ? 1e9 : where;
  double low = m.align ? 0 : -0.5, high = double(dim) - (m.align ? 1 : 0.5);
  if (m.nearest)
    x = nearbyint(x);
  if (x < low || x > high) {
    if (m.border && !m.cubic)  // of a cubic, each tap is clamped, as PyTorch has it
      x = x < 0 ? 0 : minOf(x, double(dim - 1));
    if (m.reflection)
      x = reflect(x, low, high);
  }
  double first = m.nearest ? double(truncToI64(x)) : floor(x) - (m.cubic ? 1 : 0), r = x - floor(x);
  for (int64_t k = 0; k < t.count; ++k) {
    int64_t index = paddedIndex(m, first + double(k), dim, low, high);
    t.at[axis][k] = index < 0 ? -1 : index * stride;
    t.weight[axis][k] = m.nearest ? 1 : m.cubic ? cubicWeight(-0.75, fabs(first + double(k) - x)) : k ? r : 1 - r;
  }
}

// Linear taps with zeros outside.
inline void zeroPaddedTaps(double x, int64_t dim, int64_t stride, Taps &t, int64_t axis) {
  double low = x == x && fabs(x) < 1e9 ? floor(x) : -9;
  for (int k = 0; k < 2; ++k) {
    int64_t i = int64_t(low) + k;
    t.at[axis][k] = i >= 0 && i < dim ? i * stride : -1;
    t.weight[axis][k] = k ? x - low : 1 - (x - low);
  }
}

}  // namespace onnxc
