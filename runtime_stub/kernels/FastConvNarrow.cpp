// FastConvNarrow.cpp: convolutions of f32 with few results a group, in vectors along the width. For FastConv.cpp.
//
// strip   the rows of an image that some rows of the result read, between their padding; of a stride s, s rows of every s-th column for
//         each, so that neighbouring results read neighbours
#include "runtime_stub/kernels/FastConv.h"
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int64_t kStripRows = 8, kStripColumns = 2048;  // of the result, at most
constexpr int64_t kStripFloats = 16 << 10;               // of a strip with more than one row of the result

struct Strip {
  int64_t rows, columns;      // of the result
  int64_t pitch, row, plane;  // floats from one of the s rows, one row, one channel to the next
  int64_t taps, floats;       // of one result; of the strip

  explicit Strip(const Convolution &c) : rows(minOf(kStripRows, c.w.oh)), columns(minOf(kStripColumns, c.w.ow)) {
    const Window2 &w = c.w;
    taps = c.channels * w.kh * w.kw;
    pitch = (columns + (w.kw - 1) * w.dw / w.sw + 2 * kLanes - 1) & -kLanes;  // a vector may start in the last column
    row = pitch * w.sw;
    auto resize = [&] { plane = ((rows - 1) * w.sh + (w.kh - 1) * w.dh + 1) * row, floats = plane * c.channels; };
    for (resize(); rows > 1 && floats > kStripFloats; resize())
      rows /= 2;
  }
};

// What row `y` and the columns from `x` on of the result read of one channel.
void copyPlane(const Window2 &w, const Strip &s, const float *image, int64_t y, int64_t x, float *to) {
  for (int64_t r = 0; r < s.plane / s.row; ++r) {
    int64_t iy = y * w.sh - w.top + r;
    for (int64_t phase = 0; phase < w.sw; ++phase, to += s.pitch) {
      int64_t shift = x * w.sw + phase - w.left, low = 0, high = 0;
      if (iy >= 0 && iy < w.ih)
        validRange(w.iw, s.pitch, w.sw, shift, low, high);
      low = minOf(low, high);
      const float *from = image + iy * w.iw + shift;
      for (int64_t i = 0; i < low; ++i)
        to[i] = 0;
      if (w.sw == 1)
        memcpy(to + low, from + low, size_t(high - low) * sizeof(float));
      else
        for (int64_t i = low; i < high; ++i)
          to[i] = from[i * w.sw];
      for (int64_t i = high; i < s.pitch; ++i)
        to[i] = 0;
    }
  }
}

// Where each tap of a result reads the strip.
void findTaps(const Convolution &c, const Strip &s, int64_t *offsets) {
  const Window2 &w = c.w;
  for (int64_t channel = 0; channel < c.channels; ++channel)
    for (int64_t y = 0; y < w.kh; ++y)
      for (int64_t x = 0; x < w.kw; ++x)
        *offsets++ = channel * s.plane + y * w.dh * s.row + x * w.dw % w.sw * s.pitch + x * w.dw / w.sw;
}

// `Results` results of `Vectors` neighbouring vectors of pixels, `plane` apart.
template <int Results, int Vectors>
ONNXC_INLINE void narrowTile(const float *strip, const int64_t *offsets, int64_t taps, const float *weights, const float *start, float *to,
                             int64_t plane) {
  v16 acc[Results][Vectors];
  unroll<0, Results>([&](auto o) { unroll<0, Vectors>([&](auto i) { acc[o.value][i.value] = v16(start[o.value]); }); });
  for (int64_t t = 0; t < taps; ++t) {
    const float *at = strip + offsets[t];
    unroll<0, Vectors>([&](auto i) {
      v16 v = *(const v16 *)(at + i.value * kLanes);
      unroll<0, Results>(
          [&](auto o) { acc[o.value][i.value] = __builtin_elementwise_fma(v16(weights[o.value * taps + t]), v, acc[o.value][i.value]); });
    });
  }
  unroll<0, Results>(
      [&](auto o) { unroll<0, Vectors>([&](auto i) { *(v16 *)(to + o.value * plane + i.value * kLanes) = acc[o.value][i.value]; }); });
}

// `n` pixels of a row of the result.
template <int Results, int Vectors>
void narrowRow(const float *strip, const int64_t *offsets, int64_t taps, const float *weights, const float *start, float *to, int64_t plane,
               int64_t n) {
  int64_t x = 0;
  for (; x + Vectors * kLanes <= n; x += Vectors * kLanes)
    narrowTile<Results, Vectors>(strip + x, offsets, taps, weights, start, to + x, plane);
  for (; x + kLanes <= n; x += kLanes)
    narrowTile<Results, 1>(strip + x, offsets, taps, weights, start, to + x, plane);
  if (x == n)
    return;
  float last[Results * kLanes];
  narrowTile<Results, 1>(strip + x, offsets, taps, weights, start, last, kLanes);
  for (int64_t o = 0; o < Results; ++o)
    memcpy(to + o * plane + x, last + o * kLanes, size_t(n - x) * sizeof(float));
}

// As many vectors as leave registers for what is read.
template <int Results>
void narrowRow(const float *strip, const int64_t *offsets, int64_t taps, const float *weights, const float *start, float *to, int64_t plane,
               int64_t n) {
  if (onnxc_vector_bits >= 512)
    return narrowRow<Results, Results == 1 ? 8 : Results == 2 ? 6 : 4>(strip, offsets, taps, weights, start, to, plane, n);
  narrowRow<Results, Results == 1 ? 4 : Results == 2 ? 3 : Results == 3 ? 2 : 1>(strip, offsets, taps, weights, start, to, plane, n);
}

// More than four results share no registers with their inputs: they take turns.
void narrowRow(int64_t results, const float *strip, const int64_t *offsets, int64_t taps, const float *weights, const float *start,
               float *to, int64_t plane, int64_t n) {
  for (; results > 4; results -= 4, weights += 4 * taps, start += 4, to += 4 * plane)
    narrowRow<4>(strip, offsets, taps, weights, start, to, plane, n);
  switch (results) {
  case 1:
    return narrowRow<1>(strip, offsets, taps, weights, start, to, plane, n);
  case 2:
    return narrowRow<2>(strip, offsets, taps, weights, start, to, plane, n);
  case 3:
    return narrowRow<3>(strip, offsets, taps, weights, start, to, plane, n);
  default:
    return narrowRow<4>(strip, offsets, taps, weights, start, to, plane, n);
  }
}

}  // namespace

int32_t narrowConv(const onnxc_args *a, const Convolution &given) {
  const Convolution c = given;
  if (c.w.oh < 1 || c.w.ow < 1 || c.results < 1)
    return ONNXC_K_OK;
  const Strip s(c);
  int64_t down = (c.w.oh + s.rows - 1) / s.rows, across = (c.w.ow + s.columns - 1) / s.columns, per = c.results / c.groups;
  int64_t offsetBytes = (s.taps * 8 + 63) & -64;
  constexpr int64_t perStep = 8;  // multiply-adds that take as long as an elementary operation
  return parallelScratchFor(
      a, c.images * c.groups * down * across, grainOf(per * s.taps * s.rows * s.columns / perStep), offsetBytes + s.floats * 4,
      [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
        const Window2 &w = c.w;
        int64_t *offsets = static_cast<int64_t *>(scratch), plane = w.oh * w.ow;
        float *strip = reinterpret_cast<float *>(static_cast<char *>(scratch) + offsetBytes);
        findTaps(c, s, offsets);
        for (int64_t u = begin; u < end; ++u) {
          int64_t x = u % across * s.columns, y = u / across % down * s.rows, unit = u / across / down, group = unit % c.groups;
          for (int64_t i = 0; i < c.channels; ++i)
            copyPlane(w, s, c.x + (unit * c.channels + i) * w.ih * w.iw, y, x, strip + i * s.plane);
          for (int64_t r = 0; r < minOf(s.rows, w.oh - y); ++r)
            narrowRow(per, strip + r * w.sh * s.row, offsets, s.taps, c.weights + group * per * s.taps, c.start + group * per,
                      c.out + unit * per * plane + (y + r) * w.ow + x, plane, minOf(s.columns, w.ow - x));
        }
        return ONNXC_K_OK;
      });
}

}  // namespace onnxc
