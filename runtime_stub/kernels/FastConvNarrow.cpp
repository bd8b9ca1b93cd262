// FastConvNarrow.cpp: convolutions of f32 with few results a group, in vectors along the width. For FastConv.cpp.
//
// strip   the rows of an image that some rows of the result read, between their padding, without those that dilation skips; of a stride s,
//         s rows of every s-th column for each, so that neighbouring results read neighbours
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
  int64_t each, below;        // rows that one row of taps reads, and from them to those of the next
  int64_t taps, floats;       // of one result; of the strip

  explicit Strip(const Convolution &c) : rows(minOf(kStripRows, c.w.oh)), columns(minOf(kStripColumns, c.w.ow)) {
    const Window2 &w = c.w;
    taps = c.channels * w.kh * w.kw;
    pitch = (columns + (w.kw - 1) * w.dw / w.sw + 2 * kLanes - 1) & -kLanes;  // a vector may start in the last column
    row = pitch * w.sw;
    auto resize = [&] {
      each = (rows - 1) * w.sh + 1, below = minOf(each, w.dh);
      plane = (each + (w.kh - 1) * below) * row, floats = plane * c.channels;
    };
    for (resize(); rows > 1 && floats > kStripFloats; resize())
      rows /= 2;
  }
};

// `pitch` floats, a multiple of kLanes: [low, high) of `from`, zeros around them. Most rows are short: calls would take longer than copies.
ONNXC_INLINE void copyRow(const float *from, int64_t low, int64_t high, int64_t pitch, float *to) {
  for (int64_t i = 0; i < pitch; i += kLanes)
    if (i < low || i + kLanes > high)
      *(v16 *)(to + i) = v16(0);
  if (high - low < kLanes) {
    for (int64_t i = low; i < high; ++i)
      to[i] = from[i];
    return;
  }
  for (int64_t i = low; i < high - kLanes; i += kLanes)
    *(v16 *)(to + i) = *(const v16 *)(from + i);
  *(v16 *)(to + high - kLanes) = *(const v16 *)(from + high - kLanes);
}

// What row `y` and the columns from `x` on of the result read of one channel.
void copyPlane(const Window2 &w, const Strip &s, const float *image, int64_t y, int64_t x, float *to) {
  for (int64_t r = 0; r < s.plane / s.row; ++r) {
    int64_t tap = minOf(r / s.below, w.kh - 1), iy = y * w.sh - w.top + tap * w.dh + r - tap * s.below;
    for (int64_t phase = 0; phase < w.sw; ++phase, to += s.pitch) {
      int64_t shift = x * w.sw + phase - w.left, low = 0, high = 0;
      if (iy >= 0 && iy < w.ih)
        validRange(w.iw, s.pitch, w.sw, shift, low, high);
      low = minOf(low, high);
      const float *from = image + iy * w.iw + shift;
      if (w.sw == 1) {
        copyRow(from, low, high, s.pitch, to);
        continue;
      }
      for (int64_t i = 0; i < low; ++i)
        to[i] = 0;
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
        *offsets++ = channel * s.plane + y * s.below * s.row + x * w.dw % w.sw * s.pitch + x * w.dw / w.sw;
}

// The vectors of a strip's pixels, row by row: a row of few pixels alone would leave most registers without a sum.
struct Pixels {
  int64_t below;              // floats of the strip from what a row of the result reads to what the next one does
  int64_t rows, columns, ow;  // of the strip's part of the result, and the columns of the whole
  int64_t row = 0, column = 0;

  bool atEnd() const { return row == rows; }
  int64_t from() const { return row * below + column; }
  int64_t to() const { return row * ow + column; }
  void next() {
    column += kLanes;
    if (column >= columns)
      column = 0, ++row;
  }
};

// Where `results` results of one strip come from and go to.
struct Sums {
  const float *strip;
  const int64_t *offsets;
  int64_t taps;
  const float *weights, *start;
  float *to;
  int64_t plane;
};

// `Results` results of the next `Vectors` vectors, or those that are left, one at least.
template <int Results, int Vectors>
ONNXC_INLINE void narrowTile(const Sums &sums, Pixels &pixels) {
  const float *from[Vectors];
  Pixels first = pixels, last = pixels;
  unroll<0, Vectors>([&](auto i) {
    if (!pixels.atEnd()) {  // the last one again for those that are missing
      last = pixels;
      pixels.next();
    }
    from[i.value] = sums.strip + last.from();
  });
  v16 acc[Results][Vectors];
  unroll<0, Results>([&](auto o) { unroll<0, Vectors>([&](auto i) { acc[o.value][i.value] = v16(sums.start[o.value]); }); });
  for (int64_t t = 0; t < sums.taps; ++t) {
    int64_t offset = sums.offsets[t];
    unroll<0, Vectors>([&](auto i) {
      v16 v = *(const v16 *)(from[i.value] + offset);
      unroll<0, Results>(
          [&](auto o) { acc[o.value][i.value] = multiplyAdd(v16(sums.weights[o.value * sums.taps + t]), v, acc[o.value][i.value]); });
    });
  }
  unroll<0, Vectors>([&](auto i) {
    if (first.atEnd())
      return;
    float *to = sums.to + first.to();
    if (int64_t lanes = first.columns - first.column; lanes >= kLanes)
      unroll<0, Results>([&](auto o) { *(v16 *)(to + o.value * sums.plane) = acc[o.value][i.value]; });
    else
      unroll<0, Results>([&](auto o) { memcpy(to + o.value * sums.plane, &acc[o.value][i.value], size_t(lanes) * sizeof(float)); });
    first.next();
  });
}

template <int Results, int Vectors>
void narrowTiles(const Sums &sums, Pixels pixels) {
  int64_t left = pixels.rows * ((pixels.columns + kLanes - 1) / kLanes);
  for (; left > Vectors / 2; left -= Vectors)
    narrowTile<Results, Vectors>(sums, pixels);
  if (left > 0)
    narrowTile<Results, (Vectors + 1) / 2>(sums, pixels);
}

// As many vectors as leave registers for what is read.
template <int Results>
void narrowTiles(const Sums &sums, const Pixels &pixels) {
  if (onnxc_vector_bits >= 512)
    return narrowTiles<Results, Results == 1 ? 8 : Results == 2 ? 6 : 4>(sums, pixels);
  narrowTiles<Results, Results == 1 ? 4 : Results == 2 ? 3 : Results == 3 ? 2 : 1>(sums, pixels);
}

// More than four results share no registers with their inputs: they take turns.
void narrowTiles(int64_t results, Sums sums, const Pixels &pixels) {
  for (; results > 4; results -= 4, sums.weights += 4 * sums.taps, sums.start += 4, sums.to += 4 * sums.plane)
    narrowTiles<4>(sums, pixels);
  switch (results) {
  case 1:
    return narrowTiles<1>(sums, pixels);
  case 2:
    return narrowTiles<2>(sums, pixels);
  case 3:
    return narrowTiles<3>(sums, pixels);
  default:
    return narrowTiles<4>(sums, pixels);
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
  return parallelScratchFor(a, c.images * c.groups * down * across, grainOf(per * s.taps * s.rows * s.columns / perStep),
                            offsetBytes + s.floats * 4, [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              const Window2 &w = c.w;
                              int64_t *offsets = static_cast<int64_t *>(scratch), plane = w.oh * w.ow;
                              float *strip = reinterpret_cast<float *>(static_cast<char *>(scratch) + offsetBytes);
                              findTaps(c, s, offsets);
                              for (int64_t u = begin; u < end; ++u) {
                                int64_t x = u % across * s.columns, y = u / across % down * s.rows, unit = u / across / down,
                                        group = unit % c.groups;
                                for (int64_t i = 0; i < c.channels; ++i)
                                  copyPlane(w, s, c.x + (unit * c.channels + i) * w.ih * w.iw, y, x, strip + i * s.plane);
                                narrowTiles(per,
                                            Sums{strip, offsets, s.taps, c.weights + group * per * s.taps, c.start + group * per,
                                                 c.out + unit * per * plane + y * w.ow + x, plane},
                                            Pixels{w.sh * s.row, minOf(s.rows, w.oh - y), minOf(s.columns, w.ow - x), w.ow});
                              }
                              return ONNXC_K_OK;
                            });
}

}  // namespace onnxc
