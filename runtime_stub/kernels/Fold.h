// Fold.h: adds windows' elements, a plane for each tap, onto the plane that the windows moved over: Col2Im of f32 and ConvTranspose. In the
// sums, the columns that lie a stride apart are neighbours, as what a tap adds to them is.
#pragma once
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

class Fold {
  static constexpr int64_t kFarthest = int64_t(1) << 40;  // of padding that there is memory for
  // What one position of a kernel adds along one dim: the points [first, first + count) to results from `at` on.
  struct Tap {
    int64_t first, count, at;
  };
  Window w;  // of three dims, the first ones of size 1 where there are fewer
  Tap *taps[3];
  int64_t pitch;  // sums of columns with the same remainder

  int64_t row() const { return w.stride[2] * pitch; }  // sums of a row of the result
  // One tap's points, a plane of them, onto the sums of a plane.
  void add(const float *points, const Tap &z, const Tap &y, const Tap &x, float *sums) const {
    int64_t down = w.stride[1] * row();
    for (int64_t k = 0; k < z.count; ++k) {
      const float *from = points + ((z.first + k) * w.out[1] + y.first) * w.out[2] + x.first;
      float *to = sums + ((z.at + k * w.stride[0]) * w.in[1] + y.at) * row() + x.at;
      for (int64_t j = 0; j < y.count; ++j, from += w.out[2], to += down) {
        const float *__restrict a = from;
        float *__restrict b = to;
        for (int64_t i = 0; i < x.count; ++i)
          b[i] += a[i];
      }
    }
  }
  // A row of the result from its sums, those with the same remainder `apart` from the next.
  template <int64_t Stride>
  void interleave(const float *__restrict sums, int64_t apart, float bias, float *__restrict y) const {
    int64_t step = Stride ? Stride : w.stride[2], whole = w.in[2] / step;
    for (int64_t j = 0; j < whole; ++j)
      for (int64_t k = 0; k < step; ++k)
        y[j * step + k] = sums[k * apart + j] + bias;
    for (int64_t i = whole * step; i < w.in[2]; ++i)
      y[i] = sums[i % step * apart + whole] + bias;
  }
  void interleave(const float *sums, int64_t apart, float bias, float *y) const {
    if (w.stride[2] == 2)
      interleave<2>(sums, apart, bias, y);
    else if (w.stride[2] == 4)
      interleave<4>(sums, apart, bias, y);
    else
      interleave<0>(sums, apart, bias, y);
  }
  // Whether each result is of one window.
  bool isCut() const {
    bool cut = true;
    for (int64_t d = 0; d < 3; ++d)
      cut &= w.kernel[d] == w.stride[d] && w.begin[d] == 0 && w.in[d] == w.out[d] * w.stride[d] && (w.dilation[d] == 1 || w.kernel[d] == 1);
    return cut;
  }
  void runCut(const float *columns, float bias, float *y) const {
    int64_t points = w.outPlane();
    for (int64_t z = 0; z < w.in[0]; ++z)
      for (int64_t r = 0; r < w.in[1]; ++r, y += w.in[2]) {
        int64_t tap = (z % w.stride[0] * w.kernel[1] + r % w.stride[1]) * w.kernel[2];
        interleave(columns + tap * points + (z / w.stride[0] * w.out[1] + r / w.stride[1]) * w.out[2], points, bias, y);
      }
  }

public:
  static bool takes(const Window &window) { return window.rank >= 1 && window.rank <= 3; }
  // false: no memory.
  bool start(const onnxc_args *a, const Window &window) {
    int64_t missing = 3 - window.rank;
    w.rank = 3;
    for (int64_t d = 0; d < 3; ++d) {
      bool given = d >= missing;
      int64_t i = d - missing;
      w.in[d] = given ? window.in[i] : 1, w.out[d] = given ? window.out[i] : 1, w.kernel[d] = given ? window.kernel[i] : 1;
      w.stride[d] = given ? window.stride[i] : 1, w.dilation[d] = given ? window.dilation[i] : 1, w.begin[d] = given ? window.begin[i] : 0;
      // No second window reaches results from a stride further away than this on.
      w.stride[d] = minOf(w.stride[d], w.in[d] + minOf<int64_t>(maxOf<int64_t>(w.begin[d], 0), kFarthest) + 1);
      taps[d] = heap<Tap>(a, w.kernel[d]);
      if (!taps[d])
        return false;
    }
    pitch = w.stride[2] == 1 ? w.in[2] : w.in[2] / w.stride[2] + 1;
    for (int64_t d = 0; d < 3; ++d)
      for (int64_t k = 0; k < w.kernel[d]; ++k) {
        int64_t shift = k * w.dilation[d] - w.begin[d], low, high;
        validRange(w.in[d], w.out[d], w.stride[d], shift, low, high);
        int64_t at = low * w.stride[d] + shift;
        taps[d][k] = high > low ? Tap{low, high - low, d == 2 ? at % w.stride[d] * pitch + at / w.stride[d] : at} : Tap{0, 0, 0};
      }
    return true;
  }
  int64_t scratchFloats() const { return w.stride[2] == 1 ? 0 : w.in[0] * w.in[1] * row(); }

  // A plane of the result: `bias` and what the windows have for it, [tap][point]. `scratch`: scratchFloats().
  void run(const float *columns, float bias, float *y, float *scratch) const {
    if (isCut())
      return runCut(columns, bias, y);
    bool direct = w.stride[2] == 1;
    float *sums = direct ? y : scratch;
    for (int64_t i = 0; i < w.in[0] * w.in[1] * row(); ++i)
      sums[i] = direct ? bias : 0;
    for (int64_t a = 0; a < w.kernel[0]; ++a)
      for (int64_t b = 0; b < w.kernel[1]; ++b)
        for (int64_t c = 0; c < w.kernel[2]; ++c, columns += w.outPlane())
          add(columns, taps[0][a], taps[1][b], taps[2][c], sums);
    for (int64_t r = 0; !direct && r < w.in[0] * w.in[1]; ++r)
      interleave(sums + r * row(), pitch, bias, y + r * w.in[2]);
  }
};

}  // namespace onnxc
