// Pad.cpp: Pad in all modes. Negative pads crop first; what is left is then extended by constant, edge, reflect or wrap.
// Every dim has a table of source positions; rows are what the last padded dim and the dims behind it hold.
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

static constexpr int64_t kMostPad = int64_t(1) << 60;  // so that sums with sizes do not overflow

static int32_t padAmounts(const onnxc_args *a, int64_t *before, int64_t *after) {
  const onnxc_tensor &in = a->in[0], &pads = a->in[1];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    before[i] = after[i] = 0;
  int64_t n = hasIn(a, 3) ? onnxc_count(a->in[3]) : in.rank;
  ONNXC_CHECK(onnxc_count(pads) == 2 * n, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = hasIn(a, 3) ? loadI64(a->in[3], i) : i;
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
    before[axis] = loadI64(pads, i);
    after[axis] = loadI64(pads, n + i);
    ONNXC_CHECK(before[axis] > -kMostPad && before[axis] < kMostPad && after[axis] > -kMostPad && after[axis] < kMostPad, ONNXC_K_SIZE);
  }
  return 0;
}

static int32_t padSize(const onnxc_args *a) {
  int64_t before[kMaxRank], after[kMaxRank];
  ONNXC_TRY(padAmounts(a, before, after));
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    int64_t total, dim;
    ONNXC_CHECK(!__builtin_add_overflow(before[i], after[i], &total), ONNXC_K_SIZE);
    ONNXC_CHECK(!__builtin_add_overflow(a->in[0].dims[i], total, &dim) && dim >= 0, ONNXC_K_SIZE);
    a->out[0].dims[i] = dim;
  }
  return 0;
}

// Where position `at` of the result comes from in a dim cropped to [low, low + extent); -1: the constant.
static int64_t padSource(char mode, int64_t at, int64_t before, int64_t low, int64_t extent) {
  int64_t i = at - maxOf<int64_t>(before, 0);
  if (i >= 0 && i < extent)
    return low + i;
  switch (mode) {
  case 'e':
    return low + (i < 0 ? 0 : extent - 1);
  case 'w':
    if (i < -extent || i >= extent)
      i %= extent;
    return low + (i < 0 ? i + extent : i);
  case 'r': {
    int64_t period = 2 * (extent - 1);
    if (period == 0)
      return low;
    if (i < -period || i >= period)
      i %= period;
    if (i < 0)
      i += period;
    return low + (i < extent ? i : period - i);
  }
  default:
    return -1;
  }
}

// Tables of the dims: from[d][k] is where position k of the result's dim d comes from. `axis`: the last dim that is padded (0 if none is).
// Its positions [low, high) come one after the other from [start, …) and have no entries; positions hold `inner` elements.
struct PadTables {
  int64_t axis, inner, low, high, start, *from[kMaxRank];
};

static int32_t makePadTables(const onnxc_args *a, char mode, PadTables &t) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t before[kMaxRank], after[kMaxRank], total = 0;
  ONNXC_TRY(padAmounts(a, before, after));
  t.axis = 0;
  for (int32_t i = 0; i < in.rank; ++i)
    t.axis = before[i] || after[i] ? i : t.axis;
  t.inner = product(in.dims, t.axis + 1, in.rank);
  for (int32_t i = 0; i < in.rank; ++i)
    total += i == t.axis ? maxOf<int64_t>(before[i], 0) + maxOf<int64_t>(after[i], 0) : out.dims[i];
  int64_t *source = heap<int64_t>(a, total);
  ONNXC_CHECK(source, ONNXC_K_MEMORY);
  for (int32_t i = 0; i < in.rank; ++i) {
    int64_t low = maxOf<int64_t>(0, -before[i]), extent = in.dims[i] - low - maxOf<int64_t>(0, -after[i]);
    ONNXC_CHECK(out.dims[i] == in.dims[i] + before[i] + after[i], ONNXC_K_SHAPE);
    ONNXC_CHECK(extent > 0 || mode == 'c', ONNXC_K_VALUE);
    extent = maxOf<int64_t>(extent, 0);
    if (i == t.axis) {
      t.low = minOf(maxOf<int64_t>(before[i], 0), out.dims[i]);
      t.high = minOf(t.low + extent, out.dims[i]);
      t.start = low;
    }
    t.from[i] = source;
    for (int64_t k = 0; k < out.dims[i]; ++k) {
      if (i == t.axis && k == t.low)
        k = t.high;
      if (k < out.dims[i])
        *source++ = padSource(mode, k, before[i], low, extent);
    }
  }
  return 0;
}

template <class T>
ONNXC_INLINE void fillWith(T *to, int64_t n, T v) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = v;
}

// Positions [begin, end) of the padded dim, all before t.low or none, which are the constant or taken one by one.
template <class T>
ONNXC_INLINE void padEnds(const PadTables &t, const T *x, T *y, int64_t begin, int64_t end, const T &fill) {
  const int64_t *from = t.from[t.axis] - (begin < t.low ? 0 : t.high - t.low);
  if (begin < end && from[begin] < 0)
    return fillWith(y + begin * t.inner, (end - begin) * t.inner, fill);
  for (int64_t k = begin; k < end; ++k)
    if (t.inner == 1)
      y[k] = x[from[k]];
    else
      copyBlock(y + k * t.inner, x + from[k] * t.inner, t.inner * int64_t(sizeof(T)));
}

// Result rows [begin, end). `block`: rows of the innermost dim before the padded one.
template <class T>
static void padRows(const PadTables &t, const int64_t *dims, const int64_t *results, const T *x, T *y, const T &fill, int64_t begin,
                    int64_t end) {
  int64_t block = t.axis > 0 ? results[t.axis - 1] : 1, width = results[t.axis] * t.inner, row = dims[t.axis] * t.inner;
  int64_t outer = 0, at = block;
  for (int64_t u = begin; u < end; ++u, ++at) {
    if (u == begin || at == block) {
      int64_t rest = u / block, stride = t.axis > 0 ? dims[t.axis - 1] : 1;
      at = u % block;
      outer = 0;
      for (int64_t i = t.axis - 1; i-- > 0; rest /= results[i], stride *= dims[i]) {
        int64_t from = t.from[i][rest % results[i]];
        outer = from < 0 || outer < 0 ? -1 : outer + from * stride;
      }
    }
    int64_t from = t.axis > 0 ? t.from[t.axis - 1][at] : 0;
    T *to = y + u * width;
    if (from < 0 || outer < 0) {
      fillWith(to, width, fill);
      continue;
    }
    const T *source = x + (outer + from) * row;
    padEnds(t, source, to, 0, t.low, fill);
    copyBlock(to + t.low * t.inner, source + t.start * t.inner, (t.high - t.low) * t.inner * int64_t(sizeof(T)));
    padEnds(t, source, to, t.high, results[t.axis], fill);
  }
}

template <class T>
static int32_t pad(const onnxc_args *a) {  // attributes: mode
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  char mode = a->attr[0].n > 0 ? *static_cast<const char *>(a->attr[0].p) : 'c';
  T fill{};
  if (hasIn(a, 2) && onnxc_count(a->in[2]) > 0)
    fill = *data<T>(a->in[2]);
  if (onnxc_count(out) == 0)
    return 0;
  PadTables tables;
  ONNXC_TRY(makePadTables(a, mode, tables));
  const T *x = data<T>(in);
  T *y = mutableData<T>(out);
  if (in.rank == 0) {
    *y = *x;
    return 0;
  }
  const PadTables *t = &tables;
  const int64_t *dims = in.dims, *results = out.dims;
  return parallelFor(a, product(results, 0, t->axis), grainOf(results[t->axis] * t->inner), [=](int64_t begin, int64_t end) {
    padRows(*t, dims, results, x, y, fill, begin, end);
    return 0;
  });
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Pad_##S(const onnxc_args *a) { return onnxc::pad<T>(a); }                                                     \
  extern "C" int32_t onnxc_s_Pad_##S(const onnxc_args *a) { return onnxc::padSize(a); }
ONNXC_SIZES(X)
#undef X
