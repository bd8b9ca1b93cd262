// FastResize.cpp: Resize by tables made once an axis: nearest moves whole rows, linear and cubic run one axis after the other over rows
// that stay in the cache, f32 as such, integers and f64 in doubles. Crops that leave the operand are made of its edges, then filled
// outside. Oracle: Resize.cpp, which also takes those of types without arithmetic here, and the halves of linear and cubic.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/ResizeAxes.h"

namespace onnxc {

constexpr int64_t kSpread = 16;  // runs shorter than this many elements have a table entry an element

// One resized axis. Tap k of result position y reads position from[k * entries + y]. Of the last axis, `spread` entries stand for a
// position where the run behind it is short: one for each element of the run. C: the type that sums are made in.
template <class C>
struct Pass {
  int64_t axis, in, out, inner, spread, entries, taps;
  int64_t repeats;  // position y reads y / repeats for all y; 0 where it is not so
  int32_t *from;
  C *weights;
};

template <class C>
static int32_t makePass(const onnxc_args *a, const ResizedAxis &x, int64_t axis, int64_t inner, int64_t spread, Coordinates c, Pass<C> &p) {
  bool cubic = is(text(a->attr[kMode]), "cubic"), smooth = cubic || is(text(a->attr[kMode]), "linear");
  Filter f = filterOf(a, x.scale, cubic);
  int64_t taps = smooth ? f.taps : 1;
  int64_t repeats = taps == 1 && x.out % x.in == 0 ? x.out / x.in : 0;
  p = {axis, x.in, x.out, inner / spread, spread, x.out * spread, taps, repeats, nullptr, nullptr};
  ONNXC_CHECK(x.in < INT32_MAX / kSpread, ONNXC_K_SIZE);
  p.from = heap<int32_t>(a, p.entries * taps);
  p.weights = heap<C>(a, p.entries * taps);
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
        p.weights[k * p.entries + y * spread + i] = C(weights[k]);
      }
    if (p.repeats && start != y / p.repeats)
      p.repeats = 0;
  }
  return 0;
}

// The passes of an operand's resized axes, in order.
template <class C>
struct Passes {
  int64_t count;
  Pass<C> of[kMaxRank];
};

template <class C>
static int32_t makePasses(const onnxc_args *a, const ResizedAxis *axes, Coordinates c, Passes<C> &p) {
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
template <class T, class C>
ONNXC_INLINE void blend(const T *base, int64_t stride, const int32_t *from, const C *weights, int64_t step, int64_t taps, C *__restrict to,
                        int64_t n) {
  if (taps == 2) {
    const T *low = base + from[0] * stride, *high = base + from[step] * stride;
    C a = weights[0], b = weights[step];
    for (int64_t i = 0; i < n; ++i)
      to[i] = C(low[i]) * a + C(high[i]) * b;
    return;
  }
  using V = Sixteen<C>;
  auto sixteen = [&](int64_t i) {
    V sum = V(C(0));
    for (int64_t k = 0; k < taps; ++k)
      sum = multiplyAdd(V(weights[k * step]), __builtin_convertvector(*(const Sixteen<T> *)(base + from[k * step] * stride + i), V), sum);
    *(V *)(to + i) = sum;
  };
  for (int64_t i = 0; i + 16 <= n; i += 16)
    sixteen(i);
  if (n >= 16 && n % 16)
    return sixteen(n - 16);  // overlaps the one before
  for (int64_t i = 0; i < n % 16; ++i) {
    C sum = 0;
    for (int64_t k = 0; k < taps; ++k)
      sum = multiplyAdd(weights[k * step], C(base[from[k * step] * stride + i]), sum);
    to[i] = sum;
  }
}

// One row along the axis: every entry of the table picks its taps.
template <class C>
ONNXC_INLINE void pick(const C *__restrict x, const int32_t *__restrict from, const C *__restrict weights, int64_t entries, int64_t taps,
                       C *__restrict to) {
  if (taps == 2) {
    for (int64_t i = 0; i < entries; ++i)
      to[i] = x[from[i]] * weights[i] + x[from[entries + i]] * weights[entries + i];
    return;
  }
  if (taps == 4) {
    for (int64_t i = 0; i < entries; ++i)
      to[i] = x[from[i]] * weights[i] + x[from[entries + i]] * weights[entries + i] + x[from[2 * entries + i]] * weights[2 * entries + i] +
              x[from[3 * entries + i]] * weights[3 * entries + i];
    return;
  }
  for (int64_t i = 0; i < entries; ++i)
    to[i] = x[from[i]] * weights[i];
  for (int64_t k = 1; k < taps; ++k)
    for (int64_t i = 0; i < entries; ++i)
      to[i] += x[from[k * entries + i]] * weights[k * entries + i];
}

template <class T, class C>
ONNXC_INLINE void widen(const T *__restrict x, C *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = C(x[i]);
}
template <class T, class C>
ONNXC_INLINE void narrow(const C *__restrict x, T *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = fromInterpolated<T>(x[i]);
}

// [outer, in, inner] to [outer, out, inner].
template <class C>
static void runPass(const Pass<C> &p, const C *x, C *y, int64_t outer) {
  for (int64_t o = 0; o < outer; ++o, x += p.in * p.spread * p.inner, y += p.entries * p.inner) {
    if (p.inner == 1)
      pick(x, p.from, p.weights, p.entries, p.taps, y);
    else
      for (int64_t i = 0; i < p.out; ++i)
        blend(x, p.inner, p.from + i, p.weights + i, p.entries, p.taps, y + i * p.inner, p.inner);
  }
}

// How slices of the first resized axis become slices of the result: passes count-1 … 1, each of outer[i] blocks, through two buffers.
template <class C>
struct Slices {
  const Passes<C> *passes;
  int64_t in, out, buffer, outer[kMaxRank];
  void run(const C *x, C *y, C *buffers) const {
    for (int64_t i = passes->count - 1, turn = 0; i >= 1; --i, turn ^= 1) {
      C *to = i == 1 ? y : buffers + turn * buffer;
      runPass(passes->of[i], x, to, outer[i]);
      x = to;
    }
  }
};

template <class C>
static Slices<C> makeSlices(const onnxc_args *a, const Passes<C> &p) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t first = p.of[0].axis + 1;
  Slices<C> s = {&p, product(in.dims, first, in.rank), product(out.dims, first, out.rank), 0, {}};
  for (int64_t i = p.count - 1; i >= 1; --i) {
    s.outer[i] = product(in.dims, first, p.of[i].axis);
    if (i > 1)
      s.buffer = maxOf(s.buffer, s.outer[i] * product(out.dims, p.of[i].axis, out.rank));
  }
  return s;
}

// Where elements are no C, sums lie in a task's scratch before they become elements, and elements after they were widened.
template <class T, class C>
constexpr bool isWide = !__is_same(T, C);

// Few results of many positions: their operand slices are joined first, then the other axes run once. Units: result slices.
template <class T, class C>
static int32_t resizeJoined(const onnxc_args *a, const Slices<C> &s, int64_t outer) {
  const Pass<C> &p = s.passes->of[0];
  const T *x = data<T>(a->in[0]);
  T *y = mutableData<T>(a->out[0]);
  bool only = s.passes->count == 1;
  int64_t bytes = (s.in + 2 * s.buffer + (isWide<T, C> ? s.out : 0)) * int64_t(sizeof(C));
  return parallelScratchFor(a, outer * p.out, grainOf(s.in * p.taps + s.out * 4), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    C *joined = static_cast<C *>(scratch), *buffers = joined + s.in;
    for (int64_t u = begin; u < end; ++u) {
      int64_t o = u / p.out, at = u % p.out;
      C *to;
      if constexpr (isWide<T, C>)
        to = buffers + 2 * s.buffer;
      else
        to = y + u * s.out;
      blend(x + o * p.in * s.in, s.in, p.from + at, p.weights + at, p.entries, p.taps, only ? to : joined, s.in);
      if (!only)
        s.run(joined, to, buffers);
      if constexpr (isWide<T, C>)
        narrow(to, y + u * s.out, s.out);
    }
    return 0;
  });
}

// Few positions of many results: operand slices are resized once each and the last few are kept, slot position % taps.
template <class T, class C>
static int32_t resizeKept(const onnxc_args *a, const Slices<C> &s, int64_t outer) {
  const Pass<C> &p = s.passes->of[0];
  const T *x = data<T>(a->in[0]);
  T *y = mutableData<T>(a->out[0]);
  int64_t bytes = (s.out * p.taps + 2 * s.buffer + (isWide<T, C> ? s.in + s.out : 0)) * int64_t(sizeof(C));
  return parallelScratchFor(a, outer * p.out, grainOf(s.out * (p.taps + 2)), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    C *kept = static_cast<C *>(scratch), *buffers = kept + s.out * p.taps, *wide = buffers + 2 * s.buffer;
    int64_t held[4] = {-1, -1, -1, -1};
    for (int64_t u = begin; u < end; ++u) {
      int64_t o = u / p.out, at = u % p.out;
      int32_t slots[4];
      C weights[4];
      for (int64_t k = 0; k < p.taps; ++k) {
        int64_t position = p.from[k * p.entries + at], slot = position % p.taps, row = o * p.in + position;
        if (held[slot] != row) {
          const C *slice;
          if constexpr (isWide<T, C>)
            widen(x + row * s.in, wide, s.in), slice = wide;
          else
            slice = x + row * s.in;
          s.run(slice, kept + slot * s.out, buffers);
        }
        held[slot] = row;
        slots[k] = int32_t(slot);
        weights[k] = p.weights[k * p.entries + at];
      }
      if constexpr (isWide<T, C>) {
        blend(kept, s.out, slots, weights, 1, p.taps, wide + s.in, s.out);
        narrow(wide + s.in, y + u * s.out, s.out);
      } else {
        blend(kept, s.out, slots, weights, 1, p.taps, y + u * s.out, s.out);
      }
    }
    return 0;
  });
}

// The last axis alone is resized. Units: rows.
template <class T, class C>
static int32_t resizeLast(const onnxc_args *a, const Pass<C> &pass, int64_t outer) {
  const Pass<C> p = pass;
  const T *x = data<T>(a->in[0]);
  T *y = mutableData<T>(a->out[0]);
  int64_t from = p.in * p.spread, bytes = isWide<T, C> ? (from + p.entries) * int64_t(sizeof(C)) : 0;
  return parallelScratchFor(a, outer, grainOf(p.entries * p.taps), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    if constexpr (isWide<T, C>) {
      C *wide = static_cast<C *>(scratch);
      for (int64_t u = begin; u < end; ++u) {
        widen(x + u * from, wide, from);
        runPass(p, wide, wide + from, 1);
        narrow(wide + from, y + u * p.entries, p.entries);
      }
    } else {
      runPass(p, x + begin * from, y + begin * p.entries, end - begin);
    }
    return 0;
  });
}

template <class T, class C>
static int32_t resizeRows(const onnxc_args *a, const Passes<C> &p) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  if (p.count == 0) {
    memcpy(out.data, in.data, size_t(onnxc_count(out)) * sizeof(T));
    return 0;
  }
  int64_t outer = product(in.dims, 0, p.of[0].axis);
  if (p.count == 1 && p.of[0].inner == 1)
    return resizeLast<T>(a, p.of[0], outer);
  Slices<C> s = makeSlices(a, p);
  return p.count == 1 || p.of[0].out < p.of[0].in || p.of[0].taps > 4 ? resizeJoined<T>(a, s, outer) : resizeKept<T>(a, s, outer);
}

// `rows` result rows, Rows if that is not 0, of n >= Lanes / Times elements x: y[i] = x[i / Times]. The last vector overlaps the one
// before.
template <int64_t Times, int64_t Lanes, int64_t Rows, class T>
ONNXC_INLINE void repeatRows(const T *x, int64_t n, T *y, int64_t rows) {
  typedef T Few __attribute__((ext_vector_type(Lanes / Times), aligned(sizeof(T))));
  typedef T Many __attribute__((ext_vector_type(Lanes), aligned(sizeof(T))));
  int64_t pitch = n * Times;
#pragma clang loop unroll_count(2)
  for (int64_t i = 0; i < n; i += Lanes / Times) {
    int64_t at = minOf(i, n - Lanes / Times);
    Few few = *(const Few *)(x + at);
    Many v;
    if constexpr (Times == 4)
      v = __builtin_shufflevector(few, few, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    else if constexpr (Lanes == 8)
      v = __builtin_shufflevector(few, few, 0, 0, 1, 1, 2, 2, 3, 3);
    else
      v = __builtin_shufflevector(few, few, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    T *to = y + at * Times;
    if constexpr (Rows != 0)
      unroll<0, Rows>([&](auto r) { *(Many *)(to + r.value * pitch) = v; });
    else
      for (int64_t r = 0; r < rows; ++r)
        *(Many *)(to + r * pitch) = v;
  }
}
template <int64_t Times, int64_t Lanes, class T>
ONNXC_INLINE void repeatRows(const T *x, int64_t n, T *y, int64_t rows) {
  if (rows == Times)
    repeatRows<Times, Lanes, Times>(x, n, y, Times);
  else if (rows == 1)
    repeatRows<Times, Lanes, 1>(x, n, y, 1);
  else
    repeatRows<Times, Lanes, 0>(x, n, y, rows);
}
// Whether there were enough elements.
template <class T>
ONNXC_INLINE bool repeat(const Pass<float> &p, const T *x, T *y, int64_t rows) {
  if constexpr (!__is_same(T, onnxc_string)) {
    if (p.inner != 1 || p.spread != 1 || p.in < 4)
      return false;
    if (p.repeats == 2)
      return p.in < 8 ? repeatRows<2, 8>(x, p.in, y, rows) : repeatRows<2, 16>(x, p.in, y, rows), true;
    if (p.repeats == 4)
      return repeatRows<4, 16>(x, p.in, y, rows), true;
  }
  return false;
}

// `rows` equal result rows of nearest: runs of `inner` elements, picked by the last resized axis.
template <class T>
ONNXC_INLINE void moveRow(const Pass<float> &p, const T *__restrict x, T *__restrict y, int64_t rows) {
  if (repeat(p, x, y, rows))
    return;
  if (p.inner == 1)
    for (int64_t i = 0; i < p.entries; ++i)
      y[i] = x[p.from[i]];
  else
    for (int64_t i = 0; i < p.out; ++i)
      copyBlock(y + i * p.inner, x + p.from[i] * p.inner, p.inner * int64_t(sizeof(T)));
  int64_t width = p.entries * p.inner;
  for (int64_t r = 1; r < rows; ++r)
    copyBlock(y + r * width, y, width * int64_t(sizeof(T)));
}

// Operand rows of result rows: `near` says which position of the last axis before them each of `block` result rows reads, null where it is
// its own.
struct Rows {
  const Passes<float> *passes;
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

static Rows rowsOf(const onnxc_tensor &in, const onnxc_tensor &out, const Passes<float> &passes) {
  int64_t axis = passes.of[passes.count - 1].axis;
  const Pass<float> *near = passes.count > 1 ? &passes.of[passes.count - 2] : nullptr;
  return {&passes, in.dims, out.dims, near && near->axis == axis - 1 ? near->from : nullptr, axis, axis > 0 ? out.dims[axis - 1] : 1};
}

// Units are result rows: all that the last resized axis and the axes behind it hold. Rows that are equal are made together.
template <class T>
static int32_t moveRows(const onnxc_args *a, const Passes<float> &passes) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  const T *x = data<T>(in);
  T *y = mutableData<T>(out);
  if (passes.count == 0) {
    memcpy(y, x, size_t(onnxc_count(out)) * sizeof(T));
    return 0;
  }
  const Pass<float> &p = passes.of[passes.count - 1];
  Rows rows = rowsOf(in, out, passes);
  int64_t width = p.entries * p.inner, from = p.in * p.spread * p.inner;
  return parallelFor(a, product(out.dims, 0, p.axis), grainOf(width), [=](int64_t begin, int64_t end) {
    int64_t before = 0, at = rows.block, same;
    for (int64_t u = begin; u < end; u += same, at += same) {
      if (u == begin || at == rows.block) {
        before = rows.before(u / rows.block);
        at = u % rows.block;
      }
      int64_t row = before + (rows.near ? rows.near[at] : at), most = minOf(end - u, rows.block - at);
      for (same = 1; rows.near && same < most && rows.near[at + same] == rows.near[at];)
        ++same;
      moveRow(p, x + row * from, y + u * width, same);
    }
    return 0;
  });
}

// Whether position `y` of a crop lies outside the operand, where results are the extrapolation value.
static bool isOutside(const ResizedAxis &x, int64_t y) {
  double at = sourceOf(x, Coordinates::Crop, double(y));
  return !(at >= 0 && at <= double(x.in - 1));
}
static bool leavesOperand(const onnxc_args *a, const ResizedAxis *axes) {
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    ResizedAxis x = axes[i];
    x.out = a->out[0].dims[i];
    if (isOutside(x, 0) || isOutside(x, x.out - 1))
      return true;
  }
  return false;
}
template <class T>
static void fillOutside(const onnxc_args *a, const ResizedAxis *axes) {
  const onnxc_tensor &out = a->out[0];
  T value = fromInterpolated<T>(a->attr[kExtrapolation].f);
  for (int32_t i = 0; i < out.rank; ++i) {
    int64_t outer = product(out.dims, 0, i), inner = product(out.dims, i + 1, out.rank);
    for (int64_t y = 0; y < axes[i].out; ++y)
      if (isOutside(axes[i], y))
        for (int64_t o = 0; o < outer; ++o)
          for (T *to = mutableData<T>(out) + (o * axes[i].out + y) * inner, *end = to + inner; to < end; ++to)
            *to = value;
  }
}

// C: what linear and cubic are computed in, or void for types that only nearest moves.
template <class T, class C>
static int32_t fastResize(const onnxc_args *a, int32_t (*oracle)(const onnxc_args *)) {
  constexpr bool isSmooth = !__is_same(C, void);
  ResizedAxis axes[kMaxRank];
  Coordinates c;
  bool smooth = is(text(a->attr[kMode]), "linear") || is(text(a->attr[kMode]), "cubic");
  ONNXC_TRY(resizeAxes(a, axes));
  ONNXC_CHECK(coordinatesOf(a->attr[kCoordinates], c), ONNXC_K_VALUE);
  bool leaves = c == Coordinates::Crop && leavesOperand(a, axes);
  if ((!isSmooth && (smooth || leaves)) || onnxc_count(a->out[0]) == 0)
    return oracle(a);
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    ONNXC_CHECK(takeSize(axes[i], a->out[0].dims[i]), ONNXC_K_SHAPE);
    ONNXC_CHECK(axes[i].in > 0, ONNXC_K_SIZE);
  }
  auto resized = [&]() -> int32_t {
    if constexpr (isSmooth)
      if (smooth) {
        Passes<C> p;
        ONNXC_TRY(makePasses(a, axes, c, p));
        return resizeRows<T>(a, p);
      }
    Passes<float> p;
    ONNXC_TRY(makePasses(a, axes, c, p));
    return moveRows<T>(a, p);
  };
  ONNXC_TRY(resized());
  if constexpr (isSmooth)
    if (leaves)
      fillOutside<T>(a, axes);
  return 0;
}

}  // namespace onnxc

#define Y(S, T, C)                                                                                                                         \
  extern "C" int32_t onnxc_k_Resize_##S(const onnxc_args *a);                                                                              \
  extern "C" int32_t onnxc_s_Resize_##S(const onnxc_args *a);                                                                              \
  extern "C" int32_t onnxc_k_FastResize_##S(const onnxc_args *a) { return onnxc::fastResize<T, C>(a, onnxc_k_Resize_##S); }                \
  extern "C" int32_t onnxc_s_FastResize_##S(const onnxc_args *a) { return onnxc_s_Resize_##S(a); }
#define X(S, T) Y(S, T, double)
Y(f32, float, float)
Y(f64, double, double)
Y(f16, uint16_t, void)
Y(bf16, uint16_t, void)
ONNXC_INTS(X)
Y(bool, uint8_t, void)
Y(str, onnxc_string, void)
#undef X
#undef Y
