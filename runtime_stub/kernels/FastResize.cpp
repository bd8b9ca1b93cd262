// FastResize.cpp: Resize by tables made once an axis: nearest moves whole rows, linear and cubic of f32 run one axis after the other over
// rows that stay in the cache. Oracle: Resize.cpp, which also takes cropping and the other types of linear and cubic.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/ResizeAxes.h"

namespace onnxc {

constexpr int64_t kSpread = 16;  // runs shorter than this many elements have a table entry an element

// One resized axis. Tap k of result position y reads position from[k * entries + y]. Of the last axis, `spread` entries stand for a
// position where the run behind it is short: one for each element of the run.
struct Pass {
  int64_t axis, in, out, inner, spread, entries, taps;
  int64_t repeats;  // position y reads y / repeats for all y; 0 where it is not so
  int32_t *from;
  float *weights;
};

static int32_t makePass(const onnxc_args *a, const ResizedAxis &x, int64_t axis, int64_t inner, int64_t spread, Coordinates c, Pass &p) {
  bool cubic = is(text(a->attr[kMode]), "cubic"), smooth = cubic || is(text(a->attr[kMode]), "linear");
  Filter f = filterOf(a, x.scale, cubic);
  int64_t taps = smooth ? f.taps : 1;
  int64_t repeats = taps == 1 && x.out % x.in == 0 ? x.out / x.in : 0;
  p = {axis, x.in, x.out, inner / spread, spread, x.out * spread, taps, repeats, nullptr, nullptr};
  ONNXC_CHECK(x.in < INT32_MAX / kSpread, ONNXC_K_SIZE);
  p.from = heap<int32_t>(a, p.entries * taps);
  p.weights = heap<float>(a, p.entries * taps);
  double *weights = heap<double>(a, taps);
  ONNXC_CHECK(p.from && p.weights && weights, ONNXC_K_MEMORY);
  for (int64_t y = 0; y < x.out; ++y) {
    double at = smooth ? sourceOf(x, c, double(y)) : nearestSource(x, c, y);
    ONNXC_CHECK(at == at && fabs(at) < 0x1p52, ONNXC_K_VALUE);
    int64_t start =
        smooth ? weigh(f, at, x.in, a->attr[kExcludeOutside].i != 0, weights) : nearestOf(at, nearestMode(a->attr[kNearest]), x.scale);
    for (int64_t k = 0; k < taps; ++k)
      for (int64_t i = 0; i < spread; ++i) {
        p.from[k * p.entries + y * spread + i] = int32_t(maxOf<int64_t>(0, minOf(start + k, x.in - 1)) * spread + i);
        p.weights[k * p.entries + y * spread + i] = float(weights[k]);
      }
    if (p.repeats && start != y / p.repeats)
      p.repeats = 0;
  }
  return 0;
}

// The passes of an operand's resized axes, in order.
struct Passes {
  int64_t count;
  Pass of[kMaxRank];
};

static int32_t makePasses(const onnxc_args *a, const ResizedAxis *axes, Coordinates c, Passes &p) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  p.count = 0;
  int32_t last = in.rank;
  while (last > 0 && unchanged(axes[last - 1]))
    --last;
  for (int32_t i = 0; i < last; ++i) {
    int64_t inner = product(out.dims, i + 1, out.rank), spread = i + 1 == last && inner < kSpread ? inner : 1;
    if (!unchanged(axes[i]))
      ONNXC_TRY(makePass(a, axes[i], i, inner, spread, c, p.of[p.count++]));
  }
  return 0;
}

// to[i] = the weighed sum of the rows base + from[k * step] * stride.
ONNXC_INLINE void blend(const float *base, int64_t stride, const int32_t *from, const float *weights, int64_t step, int64_t taps,
                        float *__restrict to, int64_t n) {
  if (taps == 2) {
    const float *low = base + from[0] * stride, *high = base + from[step] * stride;
    float a = weights[0], b = weights[step];
    for (int64_t i = 0; i < n; ++i)
      to[i] = low[i] * a + high[i] * b;
    return;
  }
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v16 sum = v16(0.f);
    for (int64_t k = 0; k < taps; ++k)
      sum = __builtin_elementwise_fma(v16(weights[k * step]), *(const v16 *)(base + from[k * step] * stride + i), sum);
    *(v16 *)(to + i) = sum;
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < taps; ++k)
      sum = __builtin_fmaf(weights[k * step], base[from[k * step] * stride + i], sum);
    to[i] = sum;
  }
}

// One row along the axis: every entry of the table picks its taps.
ONNXC_INLINE void pick(const float *__restrict x, const int32_t *__restrict from, const float *__restrict weights, int64_t entries,
                       int64_t taps, float *__restrict to) {
  if (taps == 2) {
    for (int64_t i = 0; i < entries; ++i)
      to[i] = x[from[i]] * weights[i] + x[from[entries + i]] * weights[entries + i];
    return;
  }
  for (int64_t i = 0; i < entries; ++i)
    to[i] = x[from[i]] * weights[i];
  for (int64_t k = 1; k < taps; ++k)
    for (int64_t i = 0; i < entries; ++i)
      to[i] += x[from[k * entries + i]] * weights[k * entries + i];
}

// [outer, in, inner] to [outer, out, inner].
static void runPass(const Pass &p, const float *x, float *y, int64_t outer) {
  for (int64_t o = 0; o < outer; ++o, x += p.in * p.spread * p.inner, y += p.entries * p.inner) {
    if (p.inner == 1)
      pick(x, p.from, p.weights, p.entries, p.taps, y);
    else
      for (int64_t i = 0; i < p.out; ++i)
        blend(x, p.inner, p.from + i, p.weights + i, p.entries, p.taps, y + i * p.inner, p.inner);
  }
}

// How slices of the first resized axis become slices of the result: passes count-1 … 1, each of outer[i] blocks, through two buffers.
struct Slices {
  const Passes *passes;
  int64_t in, out, buffer, outer[kMaxRank];
  void run(const float *x, float *y, float *buffers) const {
    for (int64_t i = passes->count - 1, turn = 0; i >= 1; --i, turn ^= 1) {
      float *to = i == 1 ? y : buffers + turn * buffer;
      runPass(passes->of[i], x, to, outer[i]);
      x = to;
    }
  }
};

static Slices makeSlices(const onnxc_args *a, const Passes &p) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t first = p.of[0].axis + 1;
  Slices s = {&p, product(in.dims, first, in.rank), product(out.dims, first, out.rank), 0, {}};
  for (int64_t i = p.count - 1; i >= 1; --i) {
    s.outer[i] = product(in.dims, first, p.of[i].axis);
    if (i > 1)
      s.buffer = maxOf(s.buffer, s.outer[i] * product(out.dims, p.of[i].axis, out.rank));
  }
  return s;
}

// Few results of many positions: their operand slices are joined first, then the other axes run once. Units: result slices.
static int32_t resizeJoined(const onnxc_args *a, const Slices &s, int64_t outer) {
  const Pass &p = s.passes->of[0];
  const float *x = data<float>(a->in[0]);
  float *y = mutableData<float>(a->out[0]);
  bool only = s.passes->count == 1;
  int64_t bytes = (s.in + 2 * s.buffer) * int64_t(sizeof(float));
  return parallelScratchFor(a, outer * p.out, grainOf(s.in * p.taps + s.out * 4), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    float *joined = static_cast<float *>(scratch);
    for (int64_t u = begin; u < end; ++u) {
      int64_t o = u / p.out, at = u % p.out;
      blend(x + o * p.in * s.in, s.in, p.from + at, p.weights + at, p.entries, p.taps, only ? y + u * s.out : joined, s.in);
      if (!only)
        s.run(joined, y + u * s.out, joined + s.in);
    }
    return 0;
  });
}

// Few positions of many results: operand slices are resized once each and the last few are kept, slot position % taps.
static int32_t resizeKept(const onnxc_args *a, const Slices &s, int64_t outer) {
  const Pass &p = s.passes->of[0];
  const float *x = data<float>(a->in[0]);
  float *y = mutableData<float>(a->out[0]);
  int64_t bytes = (s.out * p.taps + 2 * s.buffer) * int64_t(sizeof(float));
  return parallelScratchFor(a, outer * p.out, grainOf(s.out * (p.taps + 2)), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    float *kept = static_cast<float *>(scratch);
    int64_t held[4] = {-1, -1, -1, -1};
    for (int64_t u = begin; u < end; ++u) {
      int64_t o = u / p.out, at = u % p.out;
      int32_t slots[4];
      float weights[4];
      for (int64_t k = 0; k < p.taps; ++k) {
        int64_t position = p.from[k * p.entries + at], slot = position % p.taps, row = o * p.in + position;
        if (held[slot] != row)
          s.run(x + row * s.in, kept + slot * s.out, kept + p.taps * s.out);
        held[slot] = row;
        slots[k] = int32_t(slot);
        weights[k] = p.weights[k * p.entries + at];
      }
      blend(kept, s.out, slots, weights, 1, p.taps, y + u * s.out, s.out);
    }
    return 0;
  });
}

static int32_t resizeRows(const onnxc_args *a, const Passes &p) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  if (p.count == 0) {
    memcpy(out.data, in.data, size_t(onnxc_count(out)) * sizeof(float));
    return 0;
  }
  int64_t outer = product(in.dims, 0, p.of[0].axis);
  if (p.count == 1 && p.of[0].inner == 1) {
    const Pass pass = p.of[0];
    const float *x = data<float>(in);
    float *y = mutableData<float>(out);
    return parallelFor(a, outer, grainOf(pass.entries * pass.taps), [=](int64_t begin, int64_t end) {
      runPass(pass, x + begin * pass.in * pass.spread, y + begin * pass.entries, end - begin);
      return 0;
    });
  }
  Slices s = makeSlices(a, p);
  return p.count == 1 || p.of[0].out < p.of[0].in || p.of[0].taps > 4 ? resizeJoined(a, s, outer) : resizeKept(a, s, outer);
}

// y[i] = x[i / Times].
template <int64_t Times, class T>
ONNXC_INLINE void repeat(const T *__restrict x, T *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < Times; ++k)
      y[i * Times + k] = x[i];
}

// One result row of nearest: runs of `inner` elements, picked by the last resized axis.
template <class T>
ONNXC_INLINE void moveRow(const Pass &p, const T *__restrict x, T *__restrict y) {
  if (p.inner == 1 && p.spread == 1 && p.repeats == 2)
    repeat<2>(x, y, p.in);
  else if (p.inner == 1 && p.spread == 1 && p.repeats == 4)
    repeat<4>(x, y, p.in);
  else if (p.inner == 1)
    for (int64_t i = 0; i < p.entries; ++i)
      y[i] = x[p.from[i]];
  else
    for (int64_t i = 0; i < p.out; ++i)
      memcpy(y + i * p.inner, x + p.from[i] * p.inner, size_t(p.inner) * sizeof(T));
}

// Operand rows of result rows: `near` says which position of the last axis before them each of `block` result rows reads, null where it is
// its own.
struct Rows {
  const Passes *passes;
  const int64_t *dims, *results;
  const int32_t *near;
  int64_t axis, block;
  // The row that position 0 of that axis stands for, where `rest` counts positions of the axes before it.
  int64_t before(int64_t rest) const {
    int64_t row = 0, stride = axis > 0 ? dims[axis - 1] : 1;
    for (int64_t i = axis - 1, k = passes->count - (near ? 2 : 1); i-- > 0; rest /= results[i], stride *= dims[i]) {
      int64_t at = rest % results[i];
      row += (k > 0 && passes->of[k - 1].axis == i ? passes->of[--k].from[at] : at) * stride;
    }
    return row;
  }
};

static Rows rowsOf(const onnxc_tensor &in, const onnxc_tensor &out, const Passes &passes) {
  int64_t axis = passes.of[passes.count - 1].axis;
  const Pass *near = passes.count > 1 ? &passes.of[passes.count - 2] : nullptr;
  return {&passes, in.dims, out.dims, near && near->axis == axis - 1 ? near->from : nullptr, axis, axis > 0 ? out.dims[axis - 1] : 1};
}

// Units are result rows: all that the last resized axis and the axes behind it hold. A row like the one before it is copied.
template <class T>
static int32_t moveRows(const onnxc_args *a, const Passes &passes) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  const T *x = data<T>(in);
  T *y = mutableData<T>(out);
  if (passes.count == 0) {
    memcpy(y, x, size_t(onnxc_count(out)) * sizeof(T));
    return 0;
  }
  const Pass &p = passes.of[passes.count - 1];
  Rows rows = rowsOf(in, out, passes);
  int64_t width = p.entries * p.inner, from = p.in * p.spread * p.inner;
  return parallelFor(a, product(out.dims, 0, p.axis), grainOf(width), [=](int64_t begin, int64_t end) {
    int64_t last = -1, before = 0, at = rows.block;
    for (int64_t u = begin; u < end; ++u, ++at) {
      if (u == begin || at == rows.block) {
        before = rows.before(u / rows.block);
        at = u % rows.block;
      }
      int64_t row = before + (rows.near ? rows.near[at] : at);
      if (row == last)
        memcpy(y + u * width, y + (u - 1) * width, size_t(width) * sizeof(T));
      else
        moveRow(p, x + row * from, y + u * width);
      last = row;
    }
    return 0;
  });
}

// f32 in all modes, other types as they are moved by nearest.
template <class T, bool Smooth>
static int32_t fastResize(const onnxc_args *a, int32_t (*oracle)(const onnxc_args *)) {
  ResizedAxis axes[kMaxRank];
  Coordinates c;
  bool smooth = is(text(a->attr[kMode]), "linear") || is(text(a->attr[kMode]), "cubic");
  ONNXC_TRY(resizeAxes(a, axes));
  ONNXC_CHECK(coordinatesOf(a->attr[kCoordinates], c), ONNXC_K_VALUE);
  if ((smooth && !Smooth) || c == Coordinates::Crop || onnxc_count(a->out[0]) == 0)
    return oracle(a);
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    ONNXC_CHECK(takeSize(axes[i], a->out[0].dims[i]), ONNXC_K_SHAPE);
    ONNXC_CHECK(axes[i].in > 0, ONNXC_K_SIZE);
  }
  Passes p;
  ONNXC_TRY(makePasses(a, axes, c, p));
  if constexpr (Smooth)
    if (smooth)
      return resizeRows(a, p);
  return moveRows<T>(a, p);
}

}  // namespace onnxc

#define Y(S, T, SMOOTH)                                                                                                                    \
  extern "C" int32_t onnxc_k_Resize_##S(const onnxc_args *a);                                                                              \
  extern "C" int32_t onnxc_s_Resize_##S(const onnxc_args *a);                                                                              \
  extern "C" int32_t onnxc_k_FastResize_##S(const onnxc_args *a) { return onnxc::fastResize<T, SMOOTH>(a, onnxc_k_Resize_##S); }           \
  extern "C" int32_t onnxc_s_FastResize_##S(const onnxc_args *a) { return onnxc_s_Resize_##S(a); }
#define X(S, T) Y(S, T, false)
Y(f32, float, true)
X(f16, uint16_t)
X(bf16, uint16_t)
X(f64, uint64_t)
ONNXC_INTS(X)
X(bool, uint8_t)
X(str, onnxc_string)
#undef X
#undef Y
