// FastConvTransposeDepth.cpp: depthwise ConvTranspose of f32 over one or two dims. For FastConvTranspose.cpp.
//
// Column X = stride Q + phase of the result before cropping reads columns Q - i of the image with taps phase + stride i. So each phase is a
// row over Q, in vectors; then the phases interleave, halves at a time where the stride is a power of two. Each step takes some rows before
// the next one does: what has just been stored under another alignment would be waited for.
#include "runtime_stub/kernels/ConvWindow.h"
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int64_t kBand = 8;  // rows of the result, at most

// One axis: `kernel` taps, `stride`, `begin` cropped in front.
struct Axis {
  int64_t image, result, kernel, stride, begin;
  int64_t taps() const { return (kernel + stride - 1) / stride; }  // of a phase, at most
};

struct Depth {
  Axis y, x;
  int64_t border, pitch;  // zeros before a row of the image; floats from one of them to the next
  int64_t phasePitch;     // from one phase of a result's row to the next
  int64_t band;           // rows of the result that are computed together
  int64_t phases() const { return y.stride * x.stride; }
  int64_t filterTaps() const { return y.kernel * x.kernel; }
  int64_t stripFloats() const { return ((band + y.stride - 2) / y.stride + y.taps()) * pitch; }
  int64_t rowFloats() const { return x.stride * phasePitch; }

  Depth(const Axis &rows, const Axis &columns) : y(rows), x(columns), band(minOf(kBand, rows.result)) {
    phasePitch = ((x.result + x.begin - 1) / x.stride + kLanes) & -kLanes;
    border = (x.taps() + kLanes - 2) & -kLanes;
    pitch = border + maxOf((x.image + kLanes - 1) & -kLanes, phasePitch);
  }
};

// The taps phase by phase: those of phase p are [first[p], first[p + 1]). `from`: where they are in the filter; `offset`: where they read,
// from column Q of row Q.
struct PhaseTaps {
  int64_t *first, *from, *offset;
  static int64_t words(const Depth &d) { return d.phases() + 1 + 2 * d.filterTaps(); }

  PhaseTaps(const Depth &d, int64_t *room) : first(room), from(first + d.phases() + 1), offset(from + d.filterTaps()) {
    int64_t at = 0;
    for (int64_t p = 0; p < d.phases(); ++p) {
      first[p] = at;
      for (int64_t j = 0, ky = p / d.x.stride; ky < d.y.kernel; ++j, ky += d.y.stride)
        for (int64_t i = 0, kx = p % d.x.stride; kx < d.x.kernel; ++i, kx += d.x.stride, ++at)
          from[at] = ky * d.x.kernel + kx, offset[at] = -j * d.pitch - i;
    }
    first[d.phases()] = at;
  }
};

// Rows [first, last] of an image, those outside it zeros.
void copyRows(const Depth &d, const float *image, int64_t first, int64_t last, float *to) {
  for (int64_t r = first; r <= last; ++r, to += d.pitch) {
    bool inside = r >= 0 && r < d.y.image;
    for (int64_t i = 0; i < d.border; ++i)
      to[i] = 0;
    int64_t n = inside ? d.x.image : 0;
    memcpy(to + d.border, image + (inside ? r : 0) * d.x.image, size_t(n) * sizeof(float));
    for (int64_t i = d.border + n; i < d.pitch; ++i)
      to[i] = 0;
  }
}

// `Vectors` neighbouring vectors of a phase.
template <int Vectors>
ONNXC_INLINE void phaseTile(const float *row, const float *weights, const int64_t *offset, int64_t taps, float bias, float *to) {
  v16 sum[Vectors];
  unroll<0, Vectors>([&](auto v) { sum[v.value] = v16(bias); });
  for (int64_t t = 0; t < taps; ++t)
    unroll<0, Vectors>(
        [&](auto v) { sum[v.value] = multiplyAdd(v16(weights[t]), *(const v16 *)(row + offset[t] + v.value * kLanes), sum[v.value]); });
  unroll<0, Vectors>([&](auto v) { *(v16 *)(to + v.value * kLanes) = sum[v.value]; });
}

// `n` columns of a phase, whole vectors of them.
void phaseRow(const float *row, const float *weights, const int64_t *offset, int64_t taps, float bias, float *to, int64_t n) {
  int64_t q = 0;
  for (; q + 4 * kLanes <= n; q += 4 * kLanes)
    phaseTile<4>(row + q, weights, offset, taps, bias, to + q);
  for (; q + 2 * kLanes <= n; q += 2 * kLanes)
    phaseTile<2>(row + q, weights, offset, taps, bias, to + q);
  if (q < n)
    phaseTile<1>(row + q, weights, offset, taps, bias, to + q);
}

// Rows [count][n] of phases as one of neighbours; gives where it is, in `from` or in `other`.
float *interleave(float *from, float *other, int64_t count, int64_t n) {
  for (; count % 2 == 0; count /= 2, n *= 2) {
    for (int64_t p = 0; p < count / 2; ++p) {
      const float *even = from + p * n, *odd = even + count / 2 * n;
      float *to = other + p * 2 * n;
      for (int64_t i = 0; i < n; i += kLanes) {
        v16 a = *(const v16 *)(even + i), b = *(const v16 *)(odd + i);
        *(v16 *)(to + 2 * i) = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        *(v16 *)(to + 2 * i + kLanes) = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      }
    }
    float *last = from;
    from = other, other = last;
  }
  if (count == 1)
    return from;
  for (int64_t p = 0; p < count; ++p)
    for (int64_t i = 0; i < n; ++i)
      other[i * count + p] = from[p * n + i];
  return other;
}

// Of one channel; `weights` as the phases have them.
void channelOf(const Depth &given, const PhaseTaps &taps, const float *image, const float *weights, float bias, float *y, float *scratch) {
  const Depth d = given;
  float *strip = scratch, *phases = strip + d.stripFloats(), *other = phases + d.band * d.rowFloats(), *rows[kBand];
  for (int64_t oy = 0; oy < d.y.result; oy += d.band) {
    int64_t n = minOf(d.band, d.y.result - oy), q = (oy + d.y.begin) / d.y.stride, first = q - d.y.taps() + 1;
    copyRows(d, image, first, (oy + n - 1 + d.y.begin) / d.y.stride, strip);
    for (int64_t r = 0; r < n; ++r) {
      int64_t at = oy + r + d.y.begin, p = at % d.y.stride * d.x.stride;
      const float *row = strip + (at / d.y.stride - first) * d.pitch + d.border;
      for (int64_t i = 0; i < d.x.stride; ++i, ++p)
        phaseRow(row, weights + taps.first[p], taps.offset + taps.first[p], taps.first[p + 1] - taps.first[p], bias,
                 phases + r * d.rowFloats() + i * d.phasePitch, d.phasePitch);
    }
    for (int64_t r = 0; r < n; ++r)
      rows[r] = interleave(phases + r * d.rowFloats(), other + r * d.rowFloats(), d.x.stride, d.phasePitch);
    for (int64_t r = 0; r < n; ++r, y += d.x.result)
      memcpy(y, rows[r] + d.x.begin, size_t(d.x.result) * sizeof(float));
  }
}

}  // namespace

int32_t depthwiseTranspose(const onnxc_args *a, const TransposedConv &t) {
  const Window &w = t.w;
  int64_t l = w.rank - 1;
  Axis one{1, 1, 1, 1, 0};
  auto axis = [&](int64_t i) { return Axis{w.out[i], w.in[i], w.kernel[i], w.stride[i], w.begin[i]}; };
  const Depth d(w.rank == 2 ? axis(0) : one, axis(l));
  const float *x = data<float>(a->in[0]), *weights = data<float>(a->in[1]), *bias = hasIn(a, 2) ? data<float>(a->in[2]) : nullptr;
  float *y = mutableData<float>(a->out[0]);
  int64_t xPlane = t.xPlane, plane = t.plane, taps = t.taps, groups = t.groups;
  int64_t words = PhaseTaps::words(d) * 8, bytes = words + (d.filterTaps() + d.stripFloats() + 2 * d.band * d.rowFloats()) * 4;
  return parallelScratchFor(a, a->in[0].dims[0] * groups, grainOf(plane * (d.y.taps() * d.x.taps() + 4) / 8), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              const PhaseTaps phases(d, static_cast<int64_t *>(scratch));
                              float *own = reinterpret_cast<float *>(static_cast<char *>(scratch) + words);
                              for (int64_t u = begin; u < end; ++u) {
                                const float *filter = weights + u % groups * taps;
                                for (int64_t i = 0; i < taps; ++i)
                                  own[i] = filter[phases.from[i]];
                                channelOf(d, phases, x + u * xPlane, own, bias ? bias[u % groups] : 0, y + u * plane, own + taps);
                              }
                              return ONNXC_K_OK;
                            });
}

}  // namespace onnxc
