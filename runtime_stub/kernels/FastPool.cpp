// FastPool.cpp: MaxPool and AveragePool, and the global forms, on vectors of the element type. Oracle: Pool.cpp.
//
// The rows of a window are joined first, over whole contiguous rows, then the columns. Joined rows lie in a buffer that holds the padding
// too, so that the inner loops have no bounds to look at; the last vector of a row reads on into the next and is masked.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Window.h"

extern "C" int32_t onnxc_k_MaxPool_f32(const onnxc_args *);
extern "C" int32_t onnxc_k_MaxPool_u8(const onnxc_args *);
extern "C" int32_t onnxc_k_MaxPool_i8(const onnxc_args *);
extern "C" int32_t onnxc_k_AveragePool_f32(const onnxc_args *);

namespace onnxc {
int32_t maxPoolIndices(const onnxc_args *a, const Window &w);  // FastPoolIndices.cpp

constexpr int64_t kColumns = 1024, kRows = 64, kBuffer = 4 * kColumns;

// The greatest of numbers; with `KeepsNaN` a NaN among them is the result.
template <bool KeepsNaN>
struct GreatestF32 {
  using Type = float;
  using Exact = GreatestF32<true>;
  static constexpr int64_t lanes = 16;
  static constexpr bool average = false;
  static constexpr float start = -__builtin_inff();
  template <class V>
  ONNXC_INLINE V join(V a, V b) {
    if constexpr (KeepsNaN)
      return ((b > a) | (b != b)) ? b : a;
    else
      return b > a ? b : a;
  }
};
using MaxF32 = GreatestF32<false>;
template <class T, T Lowest>
struct MaxInt {
  using Type = T;
  static constexpr int64_t lanes = 32;
  static constexpr bool average = false;
  static constexpr T start = Lowest;
  template <class V>
  ONNXC_INLINE V join(V a, V b) {
    return b > a ? b : a;
  }
};
struct MeanF32 {
  using Type = float;
  using Exact = MeanF32;
  static constexpr int64_t lanes = 16;
  static constexpr bool average = true;
  static constexpr float start = 0;
  template <class V>
  ONNXC_INLINE V join(V a, V b) {
    return a + b;
  }
};

template <class Op>
struct VectorOf {
  typedef typename Op::Type type __attribute__((ext_vector_type(Op::lanes), aligned(sizeof(typename Op::Type))));
};

// Strides that vectors have.
ONNXC_INLINE bool isVectorStride(int64_t stride) { return stride == 1 || stride == 2 || stride == 4; }

// The elements of even index of two vectors.
template <class V>
ONNXC_INLINE V evens(V low, V high) {
  if constexpr (sizeof(V) / sizeof(low[0]) == 16)
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  else
    return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48,
                                   50, 52, 54, 56, 58, 60, 62);
}

// A vector of elements of `from` a stride apart.
template <class Op, int Stride>
ONNXC_INLINE typename VectorOf<Op>::type loadLanes(const typename Op::Type *from) {
  if constexpr (Stride == 1)
    return *(const typename VectorOf<Op>::type *)from;
  else
    return evens(loadLanes<Op, Stride / 2>(from), loadLanes<Op, Stride / 2>(from + Op::lanes * Stride / 2));
}

// One block of output columns of one task: where its input columns lie and what the buffer holds. The buffer takes `rows` joined rows,
// `pitch` apart: a row written and read at once would wait for its own stores.
template <class T, int64_t Lanes>
struct ColumnsOf {
  int64_t first, count, low, high;  // input columns [low, high) go to joined[pad ...), whole vectors of the buffer
  int64_t pad, rows, pitch;
  int64_t kernelRows, inner[kMaxRank];  // windows before `inner` along a dim do not pass the operand's end
  float whole, share[kRows];            // average: one over the kernel rows that count for each joined row
  float inside[kColumns + Lanes];       // the same of the kernel columns for each output column
  int64_t offset[kRows];                // of the rows of a window from its first, where all lie inside
  T mask[Lanes];                        // 1 for the lanes past the whole vectors of a row that lie inside
  alignas(64) T buffer[kBuffer];
  T *joined;
};
template <class Op>
using Columns = ColumnsOf<typename Op::Type, Op::lanes>;

template <class T>
ONNXC_INLINE T roundUp(T n, T unit) {
  return (n + unit - 1) / unit * unit;
}

template <class Op>
static void startColumns(const Window &w, int64_t first, int64_t count, bool padded, Columns<Op> &c) {
  int64_t d = w.rank - 1, stride = w.stride[d], reach = (w.kernel[d] - 1) * w.dilation[d];
  Odometer<1> k;
  int64_t strides[kMaxRank], at = 0;
  contiguous(w.in, w.rank, strides);
  for (int64_t i = 0; i < d; ++i)
    strides[i] *= w.dilation[i];
  k.init(w.kernel, d);
  k.strides[0] = strides;
  for (; k.more(); k.next())
    c.offset[at++] = k.offset[0];
  c.kernelRows = at;
  c.whole = 1 / float(at);
  for (int64_t i = 0; i < d; ++i) {
    int64_t room = w.in[i] + w.begin[i] - (w.kernel[i] - 1) * w.dilation[i] - 1;
    c.inner[i] = room < 0 ? 0 : minOf(w.out[i], room / w.stride[i] + 1);
  }
  int64_t base = first * stride - w.begin[d];
  c.first = first;
  c.count = count;
  c.low = minOf(maxOf<int64_t>(base, 0), w.in[d]);
  c.high = maxOf(c.low, minOf(w.in[d], base + (count - 1) * stride + reach + 1));
  c.pad = c.low - base;
  int64_t origin = roundUp(c.pad, Op::lanes) - c.pad, read = isVectorStride(stride) ? maxOf(count, Op::lanes) : count;
  c.pitch = roundUp(origin + read * stride + reach, Op::lanes);
  c.rows = minOf(kRows, kBuffer / c.pitch);
  c.joined = c.buffer + origin;
  for (int64_t i = 0; i < Op::lanes; ++i)
    c.mask[i] = i < (c.high - c.low) % Op::lanes;
  for (int64_t i = 0; i < c.rows * c.pitch; ++i)
    c.buffer[i] = Op::start;
  for (int64_t o = 0; Op::average && o < read; ++o) {
    int64_t at = base + o * stride, dilation = w.dilation[d], end = w.in[d] + (padded ? w.end[d] : 0);
    // Taps before place p.
    auto before = [&](int64_t p) { return p <= at ? 0 : minOf(w.kernel[d], (p - at + dilation - 1) / dilation); };
    c.inside[o] = 1 / float(before(end) - (padded ? 0 : before(0)));
  }
}

// The lanes of a vector of sixteen.
template <class Op, class V>
ONNXC_INLINE typename Op::Type joinLanes(V all) {
  return foldLanes(all, [](auto a, auto b) { return Op::join(a, b); });
}

// The neighbours of a window, at least a vector of them.
template <class Op>
ONNXC_INLINE typename Op::Type joinNeighbours(const typename Op::Type *from, int64_t count) {
  using V = typename VectorOf<Op>::type;
  V all = *(const V *)from;
  int64_t k = Op::lanes;
  for (; k + Op::lanes <= count; k += Op::lanes)
    all = Op::join(all, *(const V *)(from + k));
  typename Op::Type v;
  if constexpr (Op::lanes == 32) {
    auto half = Op::join(all.lo, all.hi);
    v = joinLanes<Op>(half);
  } else {
    v = joinLanes<Op>(all);
  }
  for (; k < count; ++k)
    v = Op::join(v, from[k]);
  return v;
}

// Columns of joined rows into output rows `pitch` apart, for strides that vectors do not have.
template <class Op>
static void joinApart(const Window &w, const Columns<Op> &c, int64_t rows, typename Op::Type *y, int64_t pitch) {
  using T = typename Op::Type;
  int64_t stride = w.stride[w.rank - 1], kernel = w.kernel[w.rank - 1], dilation = w.dilation[w.rank - 1];
  for (int64_t r = 0; r < rows; ++r) {
    const T *from = c.joined + r * c.pitch;
    for (int64_t o = 0; o < c.count; ++o) {
      T v = from[o * stride];
      if (dilation == 1 && kernel >= Op::lanes)
        v = joinNeighbours<Op>(from + o * stride, kernel);
      else
        for (int64_t k = 1; k < kernel; ++k)
          v = Op::join(v, from[o * stride + k * dilation]);
      if constexpr (Op::average)
        v = v * (c.share[r] * c.inside[o]);
      y[r * pitch + o] = v;
    }
  }
}

// The same in vectors. The last one of a row overlaps the one before; the only one of a short row runs into the next, which is written
// later, unless it would pass `end`.
template <class Op, int Stride, int Kernel>
static void joinAcross(const Window &w, const Columns<Op> &c, int64_t rows, typename Op::Type *y, int64_t pitch,
                       const typename Op::Type *end) {
  using T = typename Op::Type;
  using V = typename VectorOf<Op>::type;
  constexpr int64_t lanes = Op::lanes;
  int64_t kernel = w.kernel[w.rank - 1], dilation = w.dilation[w.rank - 1], count = c.count, last = maxOf<int64_t>(0, count - lanes);
  for (int64_t r = 0; r < rows; ++r, y += pitch) {
    const T *row = c.joined + r * c.pitch;
    for (int64_t first = 0; first < count; first += lanes) {
      int64_t o = minOf(first, last);
      const T *from = row + o * Stride;
      V v = loadLanes<Op, Stride>(from);
      if constexpr (Kernel != 0)
        unroll<1, Kernel>([&](auto k) { v = Op::join(v, loadLanes<Op, Stride>(from + k.value * dilation)); });
      else
        for (int64_t k = 1; k < kernel; ++k)
          v = Op::join(v, loadLanes<Op, Stride>(from + k * dilation));
      if constexpr (Op::average)
        v = v * (V(c.share[r]) * *(const V *)(c.inside + o));
      if (y + o + lanes <= end)
        *(V *)(y + o) = v;
      else
        memcpy(y + o, &v, size_t(count - o) * sizeof(T));
    }
  }
}

template <class Op, int Stride>
static void joinAcross(const Window &w, const Columns<Op> &c, int64_t rows, typename Op::Type *y, int64_t pitch,
                       const typename Op::Type *end) {
  switch (w.kernel[w.rank - 1]) {
  case 2:
    return joinAcross<Op, Stride, 2>(w, c, rows, y, pitch, end);
  case 3:
    return joinAcross<Op, Stride, 3>(w, c, rows, y, pitch, end);
  case 4:
    return joinAcross<Op, Stride, 4>(w, c, rows, y, pitch, end);
  case 5:
    return joinAcross<Op, Stride, 5>(w, c, rows, y, pitch, end);
  default:
    return joinAcross<Op, Stride, 0>(w, c, rows, y, pitch, end);
  }
}

// Rows of a window: where the first starts, at column `low`, and how far the others lie from there, in elements.
template <class T>
struct RowsOf {
  const T *from;
  const int64_t *offset;
  int64_t count;
};

// Joins columns [low, high) of the rows of `n` windows, whose rows lie `step` elements further each, into rows of the buffer. What the last
// vector reads past them is masked; where vectors would pass `end`, the operand's, elements are read.
template <class Op, int Count>
static void joinDown(RowsOf<typename Op::Type> rows, int64_t n, int64_t step, typename Op::Type *to, const Columns<Op> &c,
                     const typename Op::Type *end) {
  using T = typename Op::Type;
  using V = typename VectorOf<Op>::type;
  constexpr int64_t lanes = Op::lanes;
  const int64_t *offset = rows.offset;
  int64_t count = Count ? Count : rows.count, width = c.high - c.low, whole = width & -lanes, pitch = c.pitch;
  auto inside = *(const V *)c.mask != V(T(0));
  auto joined = [&](const T *from) {
    V v = *(const V *)(from + offset[0]);
    if constexpr (Count != 0)
      unroll<1, Count>([&](auto r) { v = Op::join(v, *(const V *)(from + offset[r.value])); });
    else
      for (int64_t r = 1; r < count; ++r)
        v = Op::join(v, *(const V *)(from + offset[r]));
    return v;
  };
  const T *from = rows.from;
  for (; n > 0 && from + offset[count - 1] + roundUp(width, lanes) <= end; --n, from += step, to += pitch) {
    for (int64_t i = 0; i < whole; i += lanes)
      *(V *)(to + i) = joined(from + i);
    if (whole < width)
      *(V *)(to + whole) = inside ? joined(from + whole) : V(Op::start);
  }
  for (; n > 0; --n, from += step, to += pitch)
    for (int64_t i = 0; i < width; ++i) {
      T v = from[offset[0] + i];
      for (int64_t r = 1; r < count; ++r)
        v = Op::join(v, from[offset[r] + i]);
      to[i] = v;
    }
}

template <class Op>
static void joinDown(const RowsOf<typename Op::Type> &rows, int64_t n, int64_t step, typename Op::Type *to, const Columns<Op> &c,
                     const typename Op::Type *end) {
  switch (rows.count) {
  case 2:
    return joinDown<Op, 2>(rows, n, step, to, c, end);
  case 3:
    return joinDown<Op, 3>(rows, n, step, to, c, end);
  case 5:
    return joinDown<Op, 5>(rows, n, step, to, c, end);
  default:
    return joinDown<Op, 0>(rows, n, step, to, c, end);
  }
}

// The rows of the window at `o`, of which some lie outside the operand, from `x`, by `offset`. The share of each in a mean counts those
// inside the padded operand, if `padded`.
template <class T>
static RowsOf<T> borderRows(const Window &w, const int64_t *o, const T *x, bool padded, int64_t *offset, float &share) {
  Odometer<0> k;
  int64_t last = w.rank - 1, counted = 0, found = 0;
  for (k.init(w.kernel, last); k.more(); k.next()) {
    bool inside = true, counts = true;
    int64_t at = 0;
    for (int64_t i = 0; i < last; ++i) {
      int64_t p = o[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i];
      inside &= p >= 0 && p < w.in[i];
      counts &= p < w.in[i] + w.end[i];
      at = at * w.in[i] + p;
    }
    counted += padded ? counts : inside;
    offset[found] = at * w.in[last];
    found += inside;
  }
  share = 1 / float(counted);
  return {x, offset, found};
}

// The same for planes, whose rows inside are neighbours.
template <class T>
ONNXC_INLINE RowsOf<T> borderRows(const Window &w, int64_t o, const T *x, bool padded, const int64_t *offset, float &share) {
  int64_t top = o * w.stride[0] - w.begin[0], dilation = w.dilation[0], begin = 0, end = 0, counted = 0;
  for (int64_t k = 0, p = top; k < w.kernel[0]; ++k, p += dilation) {
    begin += p < 0;
    end += p < w.in[0];
    counted += p < w.in[0] + w.end[0];
  }
  share = 1 / float(padded ? counted : end - begin);
  return {x + (top + begin * dilation) * w.in[1], offset, maxOf<int64_t>(0, end - begin)};
}

// Joins the valid rows of the windows from `o` on into rows of the buffer from `r` on, at most `most`: one that lies at a border or, along
// the last but one dim, those that do not. Returns how many.
template <class Op>
static int64_t joinRun(const Window &w, const int64_t *o, int64_t most, const typename Op::Type *x, bool padded, Columns<Op> &c, int64_t r,
                       const typename Op::Type *end) {
  using T = typename Op::Type;
  int64_t last = w.rank - 1, at = 0, border[kRows + 1];
  T *to = c.joined + r * c.pitch + c.pad;
  bool inside = true;
  for (int64_t i = 0; i < last; ++i) {
    int64_t p = o[i] * w.stride[i] - w.begin[i];
    inside &= p >= 0 && o[i] < c.inner[i];
    at = at * w.in[i] + p;
  }
  if (!inside) {
    float &share = c.share[r];
    RowsOf<T> rows =
        w.rank == 2 ? borderRows(w, o[0], x + c.low, padded, c.offset, share) : borderRows(w, o, x + c.low, padded, border, share);
    if (rows.count)
      joinDown<Op>(rows, 1, 0, to, c, end);
    for (int64_t i = 0; !rows.count && i < c.high - c.low; ++i)
      to[i] = Op::start;
    return 1;
  }
  int64_t run = last ? minOf(most, c.inner[last - 1] - o[last - 1]) : 1, step = last ? w.stride[last - 1] * w.in[last] : 0;
  for (int64_t i = 0; i < run; ++i)
    c.share[r + i] = c.whole;
  joinDown<Op>({x + at * w.in[last] + c.low, c.offset, c.kernelRows}, run, step, to, c, end);
  return run;
}

// The columns of one block in every row of a plane. Vectors stay before the ends of operand and result.
template <class Op>
static void poolPlane(const Window &w, const typename Op::Type *x, const typename Op::Type *xEnd, typename Op::Type *y,
                      const typename Op::Type *yEnd, bool padded, Columns<Op> &c) {
  int64_t last = w.rank - 1, pitch = w.out[last];
  Odometer<0> o;
  for (o.init(w.out, last); o.more();) {
    int64_t rows = minOf(c.rows, o.left);
    for (int64_t r = 0; r < rows; o.next()) {
      int64_t run = joinRun<Op>(w, o.index, rows - r, x, padded, c, r, xEnd);
      r += run;
      o.left -= run - 1;
      o.index[maxOf<int64_t>(0, last - 1)] += run - 1;
    }
    if (w.stride[last] == 1)
      joinAcross<Op, 1>(w, c, rows, y, pitch, yEnd);
    else if (w.stride[last] == 2)
      joinAcross<Op, 2>(w, c, rows, y, pitch, yEnd);
    else if (w.stride[last] == 4)
      joinAcross<Op, 4>(w, c, rows, y, pitch, yEnd);
    else
      joinApart<Op>(w, c, rows, y, pitch);
    y += rows * pitch;
  }
}

// What a task gives for a plane that MaxF32 would pool wrongly: no onnxc_code.
constexpr int32_t kHoldsNaN = -2;

template <class Op>
ONNXC_INLINE bool needsOracle(const typename Op::Type *plane, int64_t n) {
  if constexpr (__is_same(Op, MaxF32))
    return holdsNaN(plane, n);
  return false;
}

// Planes [begin, end) of `planes`; the window is at most half a block wide.
template <class Op>
static int32_t poolPlanes(const Window &w, const typename Op::Type *x, typename Op::Type *y, bool padded, int64_t planes, int64_t begin,
                          int64_t end) {
  int64_t last = w.rank - 1, reach = (w.kernel[last] - 1) * w.dilation[last], width = w.out[last];
  int64_t block = maxOf<int64_t>(1, (kColumns - reach) / w.stride[last]), inPlane = w.inPlane(), outPlane = w.outPlane();
  int64_t group = maxOf<int64_t>(1, kBuffer / maxOf<int64_t>(1, inPlane));  // planes that are looked through at once
  Columns<Op> c;
  for (int64_t done = 0; done < width; done += block) {
    // A whole vector in the last block too.
    int64_t first = isVectorStride(w.stride[last]) ? maxOf<int64_t>(0, minOf(done, width - Op::lanes)) : done;
    startColumns<Op>(w, first, minOf(block, width - first), padded, c);
    for (int64_t p = begin; p < end; ++p) {
      const auto *from = x + p * inPlane;
      if ((p - begin) % group == 0 && needsOracle<Op>(from, minOf(group, end - p) * inPlane))
        return kHoldsNaN;
      poolPlane<Op>(w, from, x + planes * inPlane, y + p * outPlane + first, y + end * outPlane, padded, c);
    }
  }
  return ONNXC_K_OK;
}

// Of a whole plane; vectors of the last, incomplete one take nothing twice.
template <class Op>
static float foldPlane(const float *x, int64_t n) {
  v16 lanes[4] = {v16(Op::start), v16(Op::start), v16(Op::start), v16(Op::start)};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    unroll<0, 4>([&](auto l) { lanes[l.value] = Op::join(lanes[l.value], *(const v16 *)(x + i + l.value * 16)); });
  for (; i + 16 <= n; i += 16)
    lanes[0] = Op::join(lanes[0], *(const v16 *)(x + i));
  v16 all = Op::join(Op::join(lanes[0], lanes[1]), Op::join(lanes[2], lanes[3]));
  float v = joinLanes<Op>(all);
  for (; i < n; ++i)
    v = Op::join(v, x[i]);
  return Op::average ? v / float(n) : v;
}

template <class Op>
static int32_t foldPlanes(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2, ONNXC_K_SHAPE);
  int64_t planes = in.dims[0] * in.dims[1], n = product(in.dims, 2, in.rank);
  const float *x = data<float>(in);
  float *y = mutableData<float>(a->out[0]);
  return parallelFor(a, planes, grainOf(n / 8), [=](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      y[p] = foldPlane<Op>(x + p * n, n);
    return int32_t(ONNXC_K_OK);
  });
}

// One window that is the whole plane.
static bool wholePlane(const Window &w) {
  bool whole = true;
  for (int64_t i = 0; i < w.rank; ++i)
    whole &= w.out[i] == 1 && w.begin[i] == 0 && w.end[i] == 0 && w.dilation[i] == 1 && w.kernel[i] == w.in[i];
  return whole;
}

// Leaves out the columns of images of one column, so that vectors lie along the rows.
static void dropColumn(Window &w) {
  for (int64_t d = w.rank - 1; d > 0 && w.in[d] == 1 && w.kernel[d] == 1 && w.begin[d] == 0 && w.end[d] == 0; --d)
    w.rank = d;
}

// The last attribute: storage_order of MaxPool, count_include_pad of AveragePool. Windows that are wide or far apart are left to the
// oracle, and so is the whole operand where it holds a NaN.
template <class Op, int32_t (*Oracle)(const onnxc_args *)>
static int32_t pool(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  Window w;
  WindowAttrs attrs = {&a->attr[0], &a->attr[1], &a->attr[2], &a->attr[3], &a->attr[4]};
  ONNXC_TRY(readWindow(in, a->out[0], nullptr, attrs, w));
  ONNXC_CHECK(in.dims[0] == a->out[0].dims[0] && in.dims[1] == a->out[0].dims[1], ONNXC_K_SHAPE);
  if constexpr (sizeof(typename Op::Type) == sizeof(float))
    if (hasOut(a, 1) && w.rank >= 1 && w.inPlane() <= INT32_MAX)
      return maxPoolIndices(a, w);
  dropColumn(w);
  int64_t last = w.rank - 1;
  if (hasOut(a, 1) || w.rank < 1 || w.kernelSize() < 1 || product(w.kernel, 0, last) > kRows ||
      (w.kernel[last] - 1) * w.dilation[last] >= kColumns / 2 || w.stride[last] > kColumns)
    return Oracle(a);
  if constexpr (sizeof(typename Op::Type) == sizeof(float))
    if (wholePlane(w))
      return foldPlanes<typename Op::Exact>(a);
  using T = typename Op::Type;
  const Window *window = &w;
  const T *x = data<T>(in);
  T *y = mutableData<T>(a->out[0]);
  bool padded = Op::average && a->attr[5].i;
  int64_t planes = in.dims[0] * in.dims[1], work = (w.inPlane() + w.outPlane() * w.kernelSize()) / 8;
  int32_t status = parallelFor(a, planes, grainOf(work),
                               [=](int64_t begin, int64_t end) { return poolPlanes<Op>(*window, x, y, padded, planes, begin, end); });
  return status == kHoldsNaN ? Oracle(a) : status;
}

}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_FastMaxPool_f32(const onnxc_args *a) { return pool<MaxF32, onnxc_k_MaxPool_f32>(a); }
extern "C" int32_t onnxc_k_FastMaxPool_i8(const onnxc_args *a) { return pool<MaxInt<int8_t, -128>, onnxc_k_MaxPool_i8>(a); }
extern "C" int32_t onnxc_k_FastMaxPool_u8(const onnxc_args *a) { return pool<MaxInt<uint8_t, 0>, onnxc_k_MaxPool_u8>(a); }
extern "C" int32_t onnxc_k_FastAveragePool(const onnxc_args *a) { return pool<MeanF32, onnxc_k_AveragePool_f32>(a); }
extern "C" int32_t onnxc_k_FastGlobalMaxPool(const onnxc_args *a) { return foldPlanes<GreatestF32<true>>(a); }
extern "C" int32_t onnxc_k_FastGlobalAveragePool(const onnxc_args *a) { return foldPlanes<MeanF32>(a); }
