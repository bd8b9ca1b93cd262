// Move.cpp: kernels that copy whole tensors or regular pieces of them: Transpose, Concat, Split, Slice, Expand, Tile, Reshape and views.
// Elements are moved by size class, so one instance serves all types of that size. See Library.def.
#include "runtime_stub/kernels/Copy.h"

namespace onnxc {

template <class T>
static int32_t copy(const onnxc_args *a) {
  int64_t n = onnxc_count(a->in[0]);
  ONNXC_CHECK(n == onnxc_count(a->out[0]), ONNXC_K_SHAPE);
  int64_t one = 1;
  return copyStrided(a, mutableData<T>(a->out[0]), &one, data<T>(a->in[0]), &one, &n, 1);
}

static int32_t reshapeSize(const onnxc_args *a) {  // attributes: allowzero
  const onnxc_tensor &in = a->in[0], &shape = a->in[1];
  int64_t n = onnxc_count(shape), known = 1, infer = -1, *dims = a->out[0].dims;
  ONNXC_CHECK(n == a->out[0].rank, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i) {
    int64_t d = loadI64(shape, i);
    ONNXC_CHECK(d >= -1, ONNXC_K_SIZE);
    if (d == 0 && !a->attr[0].i) {
      ONNXC_CHECK(i < in.rank, ONNXC_K_SHAPE);
      d = in.dims[i];
    }
    ONNXC_CHECK(d != -1 || infer < 0, ONNXC_K_SHAPE);
    if (d == -1)
      infer = i;
    else
      ONNXC_CHECK(!__builtin_mul_overflow(known, d, &known), ONNXC_K_SIZE);
    dims[i] = d;
  }
  int64_t total = onnxc_count(in);
  if (infer >= 0) {
    ONNXC_CHECK(known != 0 ? total % known == 0 : total == 0, ONNXC_K_SHAPE);
    dims[infer] = known ? total / known : 0;
  }
  return onnxc_count(a->out[0]) == total ? 0 : ONNXC_K_SHAPE;
}

template <class T>
static int32_t transpose(const onnxc_args *a) {  // attributes: perm
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  ONNXC_CHECK(in.rank <= kMaxRank && out.rank == in.rank, ONNXC_K_SHAPE);
  int64_t from[kMaxRank], is[kMaxRank], os[kMaxRank];
  contiguous(in.dims, in.rank, from);
  contiguous(out.dims, out.rank, os);
  const int64_t *perm = static_cast<const int64_t *>(a->attr[0].p);
  for (int32_t i = 0; i < in.rank; ++i)
    is[i] = from[a->attr[0].n > 0 ? perm[i] : in.rank - 1 - i];
  return copyStrided(a, mutableData<T>(out), os, data<T>(in), is, out.dims, out.rank);
}

template <int Count, class T>
static int32_t interleave(const onnxc_args *a, int64_t n) {
  return parallelFor(a, n, grainOf(Count), [=](int64_t begin, int64_t end) -> int32_t {
    const T *from[Count];
    for (int i = 0; i < Count; ++i)
      from[i] = data<T>(a->in[i]) + begin;
    takeTurns<Count, T>(mutableData<T>(a->out[0]) + begin * Count, from, end - begin);
    return 0;
  });
}

template <class T>
static int32_t concat(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &out = a->out[0];
  int64_t axis = a->attr[0].i, width = 0;
  ONNXC_CHECK(fixAxis(axis, out.rank), ONNXC_K_SHAPE);
  Axis3 o = splitAt(out, axis);
  bool single = true;
  for (int64_t i = 0; i < a->n_in; ++i) {
    int64_t piece = a->in[i].dims[axis] * o.inner;
    ONNXC_CHECK(onnxc_count(a->in[i]) == piece * o.outer && width + piece <= o.dim * o.inner, ONNXC_K_SHAPE);
    single &= piece == 1;
    width += piece;
  }
  ONNXC_CHECK(width == o.dim * o.inner || o.outer == 0, ONNXC_K_SHAPE);
  if (single && a->n_in == 2)
    return interleave<2, T>(a, o.outer);
  if (single && a->n_in == 3)
    return interleave<3, T>(a, o.outer);
  if (single && a->n_in == 4)
    return interleave<4, T>(a, o.outer);
  T *to = mutableData<T>(out);
  constexpr int64_t few = 16;
  if (o.outer < few) {  // each operand by itself is enough for all threads
    for (int64_t i = 0, at = 0; i < a->n_in; ++i) {
      int64_t piece = a->in[i].dims[axis] * o.inner, dims[] = {o.outer, piece}, os[] = {width, 1}, is[] = {piece, 1};
      ONNXC_TRY(copyStrided(a, to + at, os, data<T>(a->in[i]), is, dims, 2));
      at += piece;
    }
    return 0;
  }
  // So many rows at a time that the nearest cache holds them.
  int64_t bytes = int64_t(sizeof(T)) * maxOf<int64_t>(1, width), rows = maxOf<int64_t>(1, 16384 / bytes);
  return parallelFor(a, (o.outer + rows - 1) / rows, grainOf(rows * bytes / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t first = begin * rows; first < minOf(o.outer, end * rows); first += rows) {
      int64_t count = minOf(o.outer - first, rows), at = 0;
      for (int64_t i = 0; i < a->n_in; ++i) {
        int64_t piece = a->in[i].dims[axis] * o.inner;
        copyRows(to + first * width + at, width, data<T>(a->in[i]) + first * piece, piece, piece, count);
        at += piece;
      }
    }
    return 0;
  });
}

static int32_t splitSize(const onnxc_args *a) {  // attributes: axis, num_outputs
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i, sum = 0;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  bool given = hasIn(a, 1);
  ONNXC_CHECK(!given || onnxc_count(a->in[1]) == a->n_out, ONNXC_K_SHAPE);
  int64_t chunk = (in.dims[axis] + a->n_out - 1) / a->n_out;
  for (int64_t i = 0; i < a->n_out; ++i) {
    int64_t size = given ? loadI64(a->in[1], i) : maxOf<int64_t>(0, minOf(chunk, in.dims[axis] - i * chunk));
    ONNXC_CHECK(size >= 0, ONNXC_K_SIZE);
    if (hasOut(a, i)) {
      copyDims(a->out[i], in);
      a->out[i].dims[axis] = size;
    }
    sum += size;
  }
  return sum == in.dims[axis] ? 0 : ONNXC_K_SHAPE;
}

// The opposite of interleave.
template <int Count, class T>
static int32_t takeApart(const onnxc_args *a, int64_t n) {
  return parallelFor(a, n, grainOf(Count), [=](int64_t begin, int64_t end) -> int32_t {
    const T *__restrict from = data<T>(a->in[0]);
    T *to[Count];
    for (int i = 0; i < Count; ++i)
      to[i] = mutableData<T>(a->out[i]);
    for (int64_t k = begin; k < end; ++k)
#pragma clang loop unroll(full)
      for (int i = 0; i < Count; ++i)
        to[i][k] = from[k * Count + i];
    return 0;
  });
}

template <class T>
static int32_t split(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i, width = 0;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  bool single = true;
  auto pieceOf = [&](int64_t i) { return (hasIn(a, 1) ? loadI64(a->in[1], i) : a->out[i].dims[axis]) * s.inner; };
  for (int64_t i = 0; i < a->n_out; ++i) {
    int64_t piece = pieceOf(i);
    ONNXC_CHECK(piece >= 0 && width + piece <= s.dim * s.inner, ONNXC_K_SHAPE);
    ONNXC_CHECK(!hasOut(a, i) || a->out[i].dims[axis] * s.inner == piece, ONNXC_K_SHAPE);
    single &= piece == 1 && hasOut(a, i);
    width += piece;
  }
  ONNXC_CHECK(width == s.dim * s.inner, ONNXC_K_SHAPE);
  if (single && a->n_out == 2)
    return takeApart<2, T>(a, s.outer);
  if (single && a->n_out == 3)
    return takeApart<3, T>(a, s.outer);
  if (single && a->n_out == 4)
    return takeApart<4, T>(a, s.outer);
  for (int64_t i = 0, at = 0; i < a->n_out; at += pieceOf(i++))
    if (hasOut(a, i)) {
      int64_t piece = pieceOf(i), dims[] = {s.outer, piece}, os[] = {piece, 1}, is[] = {width, 1};
      ONNXC_TRY(copyStrided(a, mutableData<T>(a->out[i]), os, data<T>(in) + at, is, dims, 2));
    }
  return 0;
}

struct SliceRange {
  int64_t start, step, count;
};

// The standard's clamping of start and end, steps of either sign: numpy's but for a start before the first element of a step backwards,
// which is the first element.
static SliceRange clampSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (start < 0)
    start += dim;
  if (end < 0)
    end += dim;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1, first = minOf<int64_t>(0, high);
  start = start < first ? first : start > high ? high : start;
  end = end < low ? low : end > high ? high : end;
  uint64_t stride = step > 0 ? uint64_t(step) : uint64_t(0) - uint64_t(step);
  int64_t span = step > 0 ? end - start : start - end;
  return {start, step, span <= 0 ? 0 : int64_t((uint64_t(span) - 1) / stride) + 1};
}

static int32_t sliceRanges(const onnxc_args *a, SliceRange *ranges) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    ranges[i] = {0, 1, in.dims[i]};
  int64_t n = onnxc_count(a->in[1]);
  ONNXC_CHECK(n == onnxc_count(a->in[2]) && n <= in.rank, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 3) || onnxc_count(a->in[3]) == n, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 4) || onnxc_count(a->in[4]) == n, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = hasIn(a, 3) ? loadI64(a->in[3], i) : i, step = hasIn(a, 4) ? loadI64(a->in[4], i) : 1;
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
    ONNXC_CHECK(step != 0, ONNXC_K_VALUE);
    ranges[axis] = clampSlice(loadI64(a->in[1], i), loadI64(a->in[2], i), step, in.dims[axis]);
  }
  return 0;
}

static int32_t sliceSize(const onnxc_args *a) {
  SliceRange ranges[kMaxRank];
  ONNXC_TRY(sliceRanges(a, ranges));
  for (int32_t i = 0; i < a->in[0].rank; ++i)
    a->out[0].dims[i] = ranges[i].count;
  return 0;
}

template <class T>
static int32_t slice(const onnxc_args *a) {
  SliceRange ranges[kMaxRank];
  ONNXC_TRY(sliceRanges(a, ranges));
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t is[kMaxRank], os[kMaxRank], base = 0;
  contiguous(in.dims, in.rank, is);
  contiguous(out.dims, out.rank, os);
  bool empty = false;
  for (int32_t i = 0; i < in.rank; ++i) {
    ONNXC_CHECK(out.dims[i] == ranges[i].count, ONNXC_K_SHAPE);
    empty |= ranges[i].count == 0;
    if (ranges[i].count)
      base += ranges[i].start * is[i];
    is[i] = ranges[i].count > 1 ? is[i] * ranges[i].step : 0;
  }
  return empty ? 0 : copyStrided(a, mutableData<T>(out), os, data<T>(in) + base, is, out.dims, out.rank);
}

static int32_t expandSize(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &shape = a->in[1];
  int64_t n = onnxc_count(shape), rank = a->out[0].rank;
  ONNXC_CHECK(rank == maxOf<int64_t>(n, in.rank), ONNXC_K_SHAPE);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t k = i - (rank - in.rank), s = i - (rank - n);
    int64_t have = k < 0 ? 1 : in.dims[k], want = s < 0 ? 1 : loadI64(shape, s);
    ONNXC_CHECK(want >= 0, ONNXC_K_SIZE);
    ONNXC_CHECK(have == want || have == 1 || want == 1, ONNXC_K_SHAPE);
    a->out[0].dims[i] = have == 1 ? want : have;
  }
  return 0;
}

template <class T>
static int32_t expand(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  ONNXC_CHECK(out.rank <= kMaxRank, ONNXC_K_SHAPE);
  int64_t is[kMaxRank], os[kMaxRank];
  ONNXC_CHECK(broadcastStrides(in, out.dims, out.rank, is), ONNXC_K_SHAPE);
  contiguous(out.dims, out.rank, os);
  return copyStrided(a, mutableData<T>(out), os, data<T>(in), is, out.dims, out.rank);
}

static int32_t tileSize(const onnxc_args *a) {
  ONNXC_CHECK(onnxc_count(a->in[1]) == a->in[0].rank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    int64_t times = loadI64(a->in[1], i);
    ONNXC_CHECK(times >= 0, ONNXC_K_SIZE);
    ONNXC_CHECK(!__builtin_mul_overflow(a->in[0].dims[i], times, &a->out[0].dims[i]), ONNXC_K_SIZE);
  }
  return 0;
}

template <class T>
static int32_t tile(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  if (onnxc_count(out) == 0)
    return 0;
  // Of the innermost axes, whose blocks are short, each is two of the result: how often, and the operand's own. Those of one element are
  // left out, and 2^63 elements have no more than 62 others.
  constexpr int64_t longEnough = 64;
  int64_t is[kMaxRank], os[kMaxRank], dims[kMaxRank], from[kMaxRank], to[kMaxRank], rank = 0, inner = in.rank;
  contiguous(in.dims, in.rank, is);
  contiguous(out.dims, out.rank, os);
  while (inner > 0 && (inner == in.rank || os[inner] * out.dims[inner] < longEnough))
    --inner;
  auto add = [&](int64_t n, int64_t step, int64_t stride) {
    if (n != 1)
      dims[rank] = n, from[rank] = step, to[rank++] = stride;
  };
  for (int64_t i = 0; i < in.rank; ++i) {
    if (i >= inner)
      add(out.dims[i] / in.dims[i], 0, in.dims[i] * os[i]);
    add(in.dims[i], is[i], os[i]);
  }
  ONNXC_TRY(copyStrided(a, mutableData<T>(out), to, data<T>(in), from, dims, rank));
  for (int64_t i = inner; i-- > 0;) {  // dims after i are complete in the first block: repeat it along i
    int64_t block = in.dims[i] * os[i];
    Odometer<1> o;
    o.init(in.dims, i);
    o.strides[0] = os;
    for (; o.more(); o.next()) {
      T *first = mutableData<T>(out) + o.offset[0];
      for (int64_t at = block; at < out.dims[i] * os[i]; at += block)
        copyBlock(first + at, first, block * int64_t(sizeof(T)));
    }
  }
  return 0;
}

}  // namespace onnxc

namespace onnxc {

// Which of `rank` axes the optional operand 1 names; without it `otherwise` says.
template <class Otherwise>
static int32_t namedAxes(const onnxc_args *a, int64_t rank, bool *named, const Otherwise &otherwise) {
  for (int64_t i = 0; i < rank; ++i)
    named[i] = !hasIn(a, 1) && otherwise(i);
  for (int64_t i = 0; hasIn(a, 1) && i < onnxc_count(a->in[1]); ++i) {
    int64_t axis = loadI64(a->in[1], i);
    ONNXC_CHECK(axis >= -rank && axis < rank && !named[axis < 0 ? axis + rank : axis], ONNXC_K_INDEX);
    named[axis < 0 ? axis + rank : axis] = true;
  }
  return 0;
}

static int32_t squeezeSize(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0];
  bool named[kMaxRank];
  int64_t at = 0;
  ONNXC_CHECK(x.rank <= kMaxRank, ONNXC_K_SHAPE);
  ONNXC_TRY(namedAxes(a, x.rank, named, [&](int64_t i) { return x.dims[i] == 1; }));
  for (int64_t i = 0; i < x.rank; ++i) {
    ONNXC_CHECK(named[i] ? x.dims[i] == 1 : at < a->out[0].rank, ONNXC_K_SHAPE);
    if (!named[i])
      a->out[0].dims[at++] = x.dims[i];
  }
  return at == a->out[0].rank ? ONNXC_K_OK : ONNXC_K_SHAPE;
}

static int32_t unsqueezeSize(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &out = a->out[0];
  bool named[kMaxRank];
  int64_t at = 0;
  ONNXC_CHECK(out.rank <= kMaxRank, ONNXC_K_SHAPE);
  ONNXC_TRY(namedAxes(a, out.rank, named, [](int64_t) { return false; }));
  for (int64_t i = 0; i < out.rank; ++i) {
    ONNXC_CHECK(named[i] || at < x.rank, ONNXC_K_SHAPE);
    out.dims[i] = named[i] ? 1 : x.dims[at++];
  }
  return at == x.rank ? ONNXC_K_OK : ONNXC_K_SHAPE;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Copy_##S(const onnxc_args *a) { return onnxc::copy<T>(a); }                                                   \
  extern "C" int32_t onnxc_k_Squeeze_##S(const onnxc_args *a) { return onnxc::copy<T>(a); }                                                \
  extern "C" int32_t onnxc_s_Squeeze_##S(const onnxc_args *a) { return onnxc::squeezeSize(a); }                                            \
  extern "C" int32_t onnxc_k_Unsqueeze_##S(const onnxc_args *a) { return onnxc::copy<T>(a); }                                              \
  extern "C" int32_t onnxc_s_Unsqueeze_##S(const onnxc_args *a) { return onnxc::unsqueezeSize(a); }                                        \
  extern "C" int32_t onnxc_k_Reshape_##S(const onnxc_args *a) { return onnxc::copy<T>(a); }                                                \
  extern "C" int32_t onnxc_s_Reshape_##S(const onnxc_args *a) { return onnxc::reshapeSize(a); }                                            \
  extern "C" int32_t onnxc_k_Transpose_##S(const onnxc_args *a) { return onnxc::transpose<T>(a); }                                         \
  extern "C" int32_t onnxc_k_Concat_##S(const onnxc_args *a) { return onnxc::concat<T>(a); }                                               \
  extern "C" int32_t onnxc_k_Split_##S(const onnxc_args *a) { return onnxc::split<T>(a); }                                                 \
  extern "C" int32_t onnxc_s_Split_##S(const onnxc_args *a) { return onnxc::splitSize(a); }                                                \
  extern "C" int32_t onnxc_k_Slice_##S(const onnxc_args *a) { return onnxc::slice<T>(a); }                                                 \
  extern "C" int32_t onnxc_s_Slice_##S(const onnxc_args *a) { return onnxc::sliceSize(a); }                                                \
  extern "C" int32_t onnxc_k_Expand_##S(const onnxc_args *a) { return onnxc::expand<T>(a); }                                               \
  extern "C" int32_t onnxc_s_Expand_##S(const onnxc_args *a) { return onnxc::expandSize(a); }                                              \
  extern "C" int32_t onnxc_k_Tile_##S(const onnxc_args *a) { return onnxc::tile<T>(a); }                                                   \
  extern "C" int32_t onnxc_s_Tile_##S(const onnxc_args *a) { return onnxc::tileSize(a); }
ONNXC_SIZES(X)
#undef X
