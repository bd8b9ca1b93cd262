// FastPool.cpp: MaxPool and AveragePool, and the global forms, on vectors of the element type. Oracle: Pool.cpp. Small planes are pooled
// whole (FastPoolPlane.h), others row by row.
//
// The rows of a window are joined first, over whole contiguous rows, then the columns. The joined row lies in a buffer that holds the
// padding too, so that the inner loops have no bounds to look at.
#include "runtime_stub/kernels/FastPoolPlane.h"
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

// One block of output columns of one task: where its input columns lie and what the buffer holds. The buffer takes `rows` joined rows,
// `pitch` apart: a row written and read at once would wait for its own stores.
template <class T, int64_t Lanes>
struct ColumnsOf {
  int64_t first, count, base, low, high;  // input columns [low, high) go to joined[low - base ...)
  int64_t rows, pitch, counts[kRows];     // counts: the kernel rows that count in the mean of each joined row
  T *joined;                              // the row at hand
  T buffer[kBuffer + Lanes];
  float inside[kColumns];  // average: one over the kernel columns that count for each output column
  int64_t offset[kRows];   // of the rows of a window from its first, where all lie inside
};
template <class Op>
using Columns = ColumnsOf<typename Op::Type, Op::lanes>;

template <class Op>
static void startColumns(const Window &w, int64_t first, int64_t count, bool padded, Columns<Op> &c) {
  int64_t d = w.rank - 1, span = (count - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
  Odometer<1> k;
  int64_t strides[kMaxRank], at = 0;
  contiguous(w.in, w.rank, strides);
  for (int64_t i = 0; i < d; ++i)
    strides[i] *= w.dilation[i];
  k.init(w.kernel, d);
  k.strides[0] = strides;
  for (; k.more(); k.next())
    c.offset[at++] = k.offset[0];
  c.first = first;
  c.count = count;
  c.base = first * w.stride[d] - w.begin[d];
  c.low = minOf(maxOf<int64_t>(c.base, 0), w.in[d]);
  c.high = maxOf(c.low, minOf(w.in[d], c.base + span));
  c.pitch = (span + 2 * Op::lanes - 1) & -Op::lanes;
  c.rows = minOf(kRows, kBuffer / c.pitch);
  for (int64_t i = 0; i < c.rows * c.pitch; ++i)
    c.buffer[i] = Op::start;
  for (int64_t o = 0; Op::average && o < count; ++o) {
    int64_t n = 0;
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      int64_t p = c.base + o * w.stride[d] + k * w.dilation[d];
      n += padded ? p < w.in[d] + w.end[d] : p >= 0 && p < w.in[d];
    }
    c.inside[o] = 1 / float(n);
  }
}

// Joins the columns of the buffer into outputs [o, end) of one row.
template <class Op, int Stride, int Kernel>
ONNXC_INLINE void joinSome(const Columns<Op> &c, int64_t stride, int64_t kernel, int64_t dilation, float rows, typename Op::Type *y,
                           int64_t o, int64_t end) {
  using T = typename Op::Type;
  int64_t s = Stride ? Stride : stride;
  for (; o < end; ++o) {
    T v = c.joined[o * s];
    if constexpr (Kernel != 0)
      unroll<1, Kernel>([&](auto k) { v = Op::join(v, c.joined[o * s + k.value * dilation]); });
    else
      for (int64_t k = 1; k < kernel; ++k)
        v = Op::join(v, c.joined[o * s + k * dilation]);
    if constexpr (Op::average)
      y[o] = v * (rows * c.inside[o]);
    else
      y[o] = v;
  }
}

// A whole output row of at least one vector. The last one overlaps the one before, so that no scalar rest is left.
template <class Op, int Part, int Stride, int Kernel>
static void joinLanes(const Columns<Op> &c, int64_t kernel, int64_t dilation, float rows, typename Op::Type *y) {
  using V = typename VectorOf<Op, Part>::type;
  constexpr int64_t lanes = Op::lanes / Part;
  for (int64_t first = 0; first < c.count; first += lanes) {
    int64_t o = minOf(first, c.count - lanes);
    const auto *from = c.joined + o * Stride;
    V v = loadLanes<Op, Part, Stride>(from);
    if constexpr (Kernel != 0)
      unroll<1, Kernel>([&](auto k) { v = Op::join(v, loadLanes<Op, Part, Stride>(from + k.value * dilation)); });
    else
      for (int64_t k = 1; k < kernel; ++k)
        v = Op::join(v, loadLanes<Op, Part, Stride>(from + k * dilation));
    if constexpr (Op::average)
      v = v * (V(rows) * *(const V *)(c.inside + o));
    *(V *)(y + o) = v;
  }
}

template <class Op, int Stride, int Kernel>
static void joinColumns(const Columns<Op> &c, int64_t stride, int64_t kernel, int64_t dilation, int64_t rows, typename Op::Type *y) {
  constexpr int S = Stride ? Stride : 1;
  float above = 1 / float(rows);
  if (Stride == 0 || c.count < Op::lanes / 4)
    return joinSome<Op, Stride, Kernel>(c, stride, kernel, dilation, above, y, 0, c.count);
  if (c.count >= Op::lanes)
    return joinLanes<Op, 1, S, Kernel>(c, kernel, dilation, above, y);
  if (c.count >= Op::lanes / 2)
    return joinLanes<Op, 2, S, Kernel>(c, kernel, dilation, above, y);
  joinLanes<Op, 4, S, Kernel>(c, kernel, dilation, above, y);
}

template <class Op, int Stride>
static void joinColumns(const Window &w, const Columns<Op> &c, int64_t rows, typename Op::Type *y) {
  int64_t d = w.rank - 1, s = w.stride[d], n = w.kernel[d];
  switch (n) {
  case 1:
    return joinColumns<Op, Stride, 1>(c, s, n, w.dilation[d], rows, y);
  case 2:
    return joinColumns<Op, Stride, 2>(c, s, n, w.dilation[d], rows, y);
  case 3:
    return joinColumns<Op, Stride, 3>(c, s, n, w.dilation[d], rows, y);
  case 5:
    return joinColumns<Op, Stride, 5>(c, s, n, w.dilation[d], rows, y);
  default:
    return joinColumns<Op, Stride, 0>(c, s, n, w.dilation[d], rows, y);
  }
}

// Joins `n` columns of `count` rows, at least one vector of them. Vector types lose their alignment as template arguments.
template <class Op, int Part>
static void joinDownLanes(const typename Op::Type *const *rows, int64_t count, typename Op::Type *to, int64_t n) {
  using V = typename VectorOf<Op, Part>::type;
  constexpr int64_t lanes = Op::lanes / Part;
  for (int64_t i = 0; i < n; i += lanes) {
    int64_t at = minOf(i, n - lanes);
    V v = *(const V *)(rows[0] + at);
    for (int64_t r = 1; r < count; ++r)
      v = Op::join(v, *(const V *)(rows[r] + at));
    *(V *)(to + at) = v;
  }
}

template <class Op>
static void joinDown(const typename Op::Type *const *rows, int64_t count, typename Op::Type *to, int64_t n) {
  if (n >= Op::lanes)
    return joinDownLanes<Op, 1>(rows, count, to, n);
  if (n >= Op::lanes / 2)
    return joinDownLanes<Op, 2>(rows, count, to, n);
  if (n >= Op::lanes / 4)
    return joinDownLanes<Op, 4>(rows, count, to, n);
  for (int64_t i = 0; i < n; ++i) {
    auto v = rows[0][i];
    for (int64_t r = 1; r < count; ++r)
      v = Op::join(v, rows[r][i]);
    to[i] = v;
  }
}

// The rows of the window at `o` that lie inside the operand, from column `low` on; `counted`: those inside the padded one.
template <class T>
static int64_t findRows(const Window &w, const int64_t *o, const T *x, int64_t low, const int64_t *offsets, const T **rows,
                        int64_t &counted) {
  int64_t last = w.rank - 1, count = product(w.kernel, 0, last), at = 0, joined = 0;
  bool all = true;
  for (int64_t i = 0; i < last; ++i) {
    int64_t p = o[i] * w.stride[i] - w.begin[i];
    all &= p >= 0 && p + (w.kernel[i] - 1) * w.dilation[i] < w.in[i];
    at = at * w.in[i] + p;
  }
  if (all) {
    for (int64_t i = 0; i < count; ++i)
      rows[i] = x + at * w.in[last] + low + offsets[i];
    return counted = count;
  }
  Odometer<0> k;
  counted = 0;
  for (k.init(w.kernel, last); k.more(); k.next()) {
    bool inside = true, counts = true;
    at = 0;
    for (int64_t i = 0; i < last; ++i) {
      int64_t p = o[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i];
      inside &= p >= 0 && p < w.in[i];
      counts &= p < w.in[i] + w.end[i];
      at = at * w.in[i] + p;
    }
    counted += counts;
    rows[joined] = x + at * w.in[last] + low;
    joined += inside;
  }
  return joined;
}

// Joins the valid rows of the window at `o` into the buffer; returns how many rows count in the mean.
template <class Op>
static int64_t joinRows(const Window &w, const int64_t *o, const typename Op::Type *x, bool padded, Columns<Op> &c) {
  using T = typename Op::Type;
  const T *rows[kRows + 1];
  int64_t n = c.high - c.low, counted = 0, joined = findRows(w, o, x, c.low, c.offset, rows, counted);
  T *to = c.joined + (c.low - c.base);
  if (!joined)
    for (int64_t i = 0; i < n; ++i)
      to[i] = Op::start;
  else
    joinDown<Op>(rows, joined, to, n);
  return padded ? counted : joined;
}

// The columns of one block in every row of a plane.
template <class Op>
static void poolPlane(const Window &w, const typename Op::Type *x, typename Op::Type *to, bool padded, Columns<Op> &c) {
  int64_t last = w.rank - 1, stride = w.stride[last];
  Odometer<0> o;
  for (o.init(w.out, last); o.more();) {
    int64_t n = minOf(c.rows, o.left);
    c.joined = c.buffer;
    for (int64_t r = 0; r < n; ++r, o.next(), c.joined += c.pitch)
      c.counts[r] = joinRows<Op>(w, o.index, x, padded, c);
    c.joined = c.buffer;
    for (int64_t r = 0; r < n; ++r, to += w.out[last], c.joined += c.pitch)
      if (stride == 1)
        joinColumns<Op, 1>(w, c, c.counts[r], to);
      else if (stride == 2)
        joinColumns<Op, 2>(w, c, c.counts[r], to);
      else
        joinColumns<Op, 0>(w, c, c.counts[r], to);
  }
}

static bool holdsNaN(const float *x, int64_t n) {
  typedef int32_t i16 __attribute__((ext_vector_type(16)));
  i16 any = i16(0);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v16 v = *(const v16 *)(x + i);
    any |= v != v;
  }
  int32_t found = __builtin_reduce_or(any);
  for (; i < n; ++i)
    found |= x[i] != x[i];
  return found != 0;
}

// What a task gives for a plane that MaxF32 would pool wrongly: no onnxc_code.
constexpr int32_t kHoldsNaN = -2;

template <class Op>
ONNXC_INLINE bool needsOracle(const typename Op::Type *plane, int64_t n) {
  if constexpr (__is_same(Op, MaxF32))
    return holdsNaN(plane, n);
  return false;
}

// Planes [begin, end) of a pooling whose window is at most half a buffer wide.
template <class Op>
static int32_t poolPlanes(const Window &w, const typename Op::Type *x, typename Op::Type *y, bool padded, int64_t begin, int64_t end) {
  int64_t last = w.rank - 1, extent = (w.kernel[last] - 1) * w.dilation[last] + 1, width = w.out[last];
  int64_t block = maxOf<int64_t>(1, (kColumns - extent) / w.stride[last]), inPlane = w.inPlane(), outPlane = w.outPlane();
  Columns<Op> c;
  for (int64_t first = 0; first < width; first += block) {
    startColumns<Op>(w, first, minOf(block, width - first), padded, c);
    for (int64_t p = begin; p < end; ++p) {
      const auto *from = x + p * inPlane;
      if (needsOracle<Op>(from, inPlane))
        return kHoldsNaN;
      poolPlane<Op>(w, from, y + p * outPlane + first, padded, c);
    }
  }
  return ONNXC_K_OK;
}

template <class Op>
static float foldPlane(const float *x, int64_t n) {
  v16 lanes[4] = {v16(Op::start), v16(Op::start), v16(Op::start), v16(Op::start)};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    unroll<0, 4>([&](auto l) { lanes[l.value] = Op::join(lanes[l.value], *(const v16 *)(x + i + l.value * 16)); });
  for (; i + 16 <= n; i += 16)
    lanes[0] = Op::join(lanes[0], *(const v16 *)(x + i));
  v16 all = Op::join(Op::join(lanes[0], lanes[1]), Op::join(lanes[2], lanes[3]));
  float v[16];
  *(v16 *)v = all;
  for (int half = 8; half; half /= 2)
    for (int l = 0; l < half; ++l)
      v[l] = Op::join(v[l], v[l + half]);
  for (; i < n; ++i)
    v[0] = Op::join(v[0], x[i]);
  return Op::average ? v[0] / float(n) : v[0];
}

template <class Op>
static int32_t foldPlanes(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2, ONNXC_K_SHAPE);
  int64_t planes = in.dims[0] * in.dims[1], n = product(in.dims, 2, in.rank);
  const float *x = data<float>(in);
  for (int64_t p = 0; p < planes; ++p)
    mutableData<float>(a->out[0])[p] = foldPlane<Op>(x + p * n, n);
  return 0;
}

// One window that is the whole plane.
static bool wholePlane(const Window &w) {
  bool whole = true;
  for (int64_t i = 0; i < w.rank; ++i)
    whole &= w.out[i] == 1 && w.begin[i] == 0 && w.end[i] == 0 && w.dilation[i] == 1 && w.kernel[i] == w.in[i];
  return whole;
}

// The last attribute: storage_order of MaxPool, count_include_pad of AveragePool. Wide windows are left to the oracle, and so is the whole
// operand where it holds a NaN.
template <class Op, int32_t (*Oracle)(const onnxc_args *)>
static int32_t pool(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  Window w;
  WindowAttrs attrs = {&a->attr[0], &a->attr[1], &a->attr[2], &a->attr[3], &a->attr[4]};
  ONNXC_TRY(readWindow(in, a->out[0], nullptr, attrs, w));
  ONNXC_CHECK(in.dims[0] == a->out[0].dims[0] && in.dims[1] == a->out[0].dims[1], ONNXC_K_SHAPE);
  int64_t last = w.rank - 1;
  if constexpr (sizeof(typename Op::Type) == sizeof(float))
    if (hasOutput(a, 1) && w.rank >= 1 && w.inPlane() <= INT32_MAX)
      return maxPoolIndices(a, w);
  if (hasOutput(a, 1) || w.rank < 1 || w.kernelSize() < 1 || product(w.kernel, 0, last) > kRows ||
      (w.kernel[last] - 1) * w.dilation[last] >= kColumns / 2)
    return Oracle(a);
  if constexpr (sizeof(typename Op::Type) == sizeof(float))
    if (wholePlane(w))
      return foldPlanes<typename Op::Exact>(a);
  using T = typename Op::Type;
  const Window *window = &w;
  const T *x = data<T>(in);
  T *y = mutableData<T>(a->out[0]);
  bool padded = Op::average && a->attr[5].i;
  int64_t work = (w.inPlane() + w.outPlane() * w.kernelSize()) / 8;
  int64_t planes = in.dims[0] * in.dims[1], grain = grainOf(work);
  int32_t status;
  if (fitsPlane<Op>(w)) {
    const T *end = x + onnxc_count(in);
    status = parallelScratchFor(a, planes, grain, sizeof(PlaneBuffers<T>), [=](void *scratch, int64_t begin, int64_t last) {
      auto &buffers = *static_cast<PlaneBuffers<T> *>(scratch);
      startPlane<Op>(*window, padded, buffers);
      for (int64_t p = begin; p < last; ++p) {
        const T *plane = x + p * window->inPlane();
        if (needsOracle<Op>(plane, window->inPlane()))
          return kHoldsNaN;
        poolWhole<Op>(*window, plane, end, y + p * window->outPlane(), buffers);
      }
      return int32_t(ONNXC_K_OK);
    });
  } else {
    status = parallelFor(a, planes, grain, [=](int64_t begin, int64_t end) { return poolPlanes<Op>(*window, x, y, padded, begin, end); });
  }
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
