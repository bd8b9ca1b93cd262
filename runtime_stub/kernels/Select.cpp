// Select.cpp: kernels whose result is chosen by comparing or testing data: NonZero, Compress, TopK, ArgMax, ArgMin, Hardmax, OneHot.
#include "runtime_stub/kernels/Sort.h"

namespace onnxc {

// Bits that make an element nonzero: the sign of a float zero does not.
template <class T>
struct ZeroTest {
  uint64_t mask;
  explicit ZeroTest(int32_t dtype) {
    switch (dtype) {
    case ONNXC_F32:
      mask = 0x7fffffffu;
      break;
    case ONNXC_F64:
      mask = ~uint64_t(0) >> 1;
      break;
    case ONNXC_F16:
    case ONNXC_BF16:
      mask = 0x7fff;
      break;
    case ONNXC_C64:
      mask = 0x7fffffff7fffffffu;
      break;
    case ONNXC_F8E4M3FN:
    case ONNXC_F8E5M2:
      mask = 0x7f;
      break;
    case ONNXC_F4E2M1:
      mask = 7;
      break;
    case ONNXC_F6E2M3:
    case ONNXC_F6E3M2:
      mask = 0x1f;
      break;
    default:
      mask = ~uint64_t(0);
    }
  }
  bool nonZero(const T &v) const { return (v & T(mask)) != 0; }
};
template <>
struct ZeroTest<b16> {
  int32_t dtype;
  explicit ZeroTest(int32_t d) : dtype(d) {}
  bool nonZero(const b16 &v) const { return dtype == ONNXC_STR ? v.hi != 0 : (v.lo << 1) != 0 || (v.hi << 1) != 0; }
};

constexpr int64_t kTested = 64;  // elements that are counted together; their count is a byte

// How many of `n` elements, at most kTested, are not zero.
template <class T>
ONNXC_INLINE int64_t countNonZero(const ZeroTest<T> &test, const T *x, int64_t n) {
  uint8_t found = 0;
  for (int64_t i = 0; i < n; ++i)
    found = uint8_t(found + test.nonZero(x[i]));
  return found;
}

template <class T>
static int32_t nonZeroSize(const onnxc_args *a) {
  ZeroTest<T> test(a->in[0].dtype);
  int64_t n = onnxc_count(a->in[0]), found = 0;
  for (int64_t i = 0; i < n; i += kTested)
    found += countNonZero(test, data<T>(a->in[0]) + i, minOf(kTested, n - i));
  a->out[0].dims[0] = a->in[0].rank;
  a->out[0].dims[1] = found;
  return 0;
}

// Appends the places of a row's elements that are not zero to `to`, which has room for `room`; how many, or -1 where they are more.
template <class T>
static int64_t placesInRow(const ZeroTest<T> &test, const T *row, int64_t n, int64_t *__restrict to, int64_t room) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; i += kTested) {
    int64_t end = minOf(i + kTested, n), count = countNonZero(test, row + i, end - i);
    if (count == 0)
      continue;
    if (found + count > room)
      return -1;
    if (found + kTested <= room)  // a place that is not one is overwritten by the next
      for (int64_t k = i; k < end; ++k) {
        to[found] = k;
        found += test.nonZero(row[k]);
      }
    else
      for (int64_t k = i; k < end; ++k)
        if (test.nonZero(row[k]))
          to[found++] = k;
  }
  return found;
}

template <class T>
static int32_t nonZero(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  ZeroTest<T> test(in.dtype);
  int64_t last = in.rank - 1, found = 0, columns = a->out[0].dims[1], *out = mutableData<int64_t>(a->out[0]);
  if (in.rank == 0)
    return columns == int64_t(test.nonZero(*data<T>(in))) ? 0 : ONNXC_K_SHAPE;
  const T *row = data<T>(in);
  Odometer<0> o;
  for (o.init(in.dims, last); o.more(); o.next(), row += in.dims[last]) {
    int64_t count = placesInRow(test, row, in.dims[last], out + last * columns + found, columns - found);
    ONNXC_CHECK(count >= 0, ONNXC_K_SHAPE);
    for (int64_t k = 0; k < last; ++k)
      for (int64_t i = found; i < found + count; ++i)
        out[k * columns + i] = o.index[k];
    found += count;
  }
  return found == columns ? 0 : ONNXC_K_SHAPE;
}

static int32_t compressSize(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &in = a->in[0], &condition = a->in[1];
  int64_t axis = a->attr[0].i, found = 0, n = onnxc_count(condition);
  ONNXC_CHECK(!given(a->attr[0]) || fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  int64_t dim = given(a->attr[0]) ? in.dims[axis] : onnxc_count(in);
  for (int64_t i = 0; i < n; ++i) {
    ONNXC_CHECK(!data<uint8_t>(condition)[i] || i < dim, ONNXC_K_INDEX);
    found += data<uint8_t>(condition)[i] != 0;
  }
  if (given(a->attr[0]))
    copyDims(a->out[0], in);
  a->out[0].dims[given(a->attr[0]) ? axis : 0] = found;
  return 0;
}

template <class T>
static int32_t compress(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &condition = a->in[1], &out = a->out[0];
  int64_t axis = a->attr[0].i, n = onnxc_count(condition), total = onnxc_count(out), done = 0;
  Axis3 s = {1, onnxc_count(in), 1};
  if (given(a->attr[0])) {
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
    s = splitAt(in, axis);
    total = out.dims[axis];
  }
  ONNXC_CHECK(onnxc_count(out) == s.outer * total * s.inner, ONNXC_K_SHAPE);
  constexpr int64_t together = 1024;
  int64_t taken[together];
  for (int64_t first = 0; first < n; first += together) {
    int64_t count = 0;
    for (int64_t i = first; i < minOf(n, first + together); ++i) {
      taken[count] = i;
      count += data<uint8_t>(condition)[i] != 0;
    }
    ONNXC_CHECK(done + count <= total && (count == 0 || taken[count - 1] < s.dim), ONNXC_K_INDEX);
    for (int64_t o = 0; o < s.outer; ++o) {
      const T *from = data<T>(in) + o * s.dim * s.inner;
      T *to = mutableData<T>(out) + (o * total + done) * s.inner;
      for (int64_t i = 0; s.inner == 1 && i < count; ++i)
        to[i] = from[taken[i]];
      for (int64_t i = 0; s.inner != 1 && i < count; ++i)
        copyBlock(to + i * s.inner, from + taken[i] * s.inner, s.inner * int64_t(sizeof(T)));
    }
    done += count;
  }
  return done == total ? 0 : ONNXC_K_SHAPE;
}

static int32_t topKSize(const onnxc_args *a) {  // attributes: axis, largest
  ONNXC_CHECK(onnxc_count(a->in[1]) == 1, ONNXC_K_SHAPE);
  int64_t axis = a->attr[0].i, k = loadI64(a->in[1], 0);
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_SHAPE);
  ONNXC_CHECK(k >= 0 && k <= a->in[0].dims[axis], ONNXC_K_SIZE);
  for (int64_t i = 0; i < a->n_out; ++i) {
    if (!hasOut(a, i))
      continue;
    copyDims(a->out[i], a->in[0]);
    a->out[i].dims[axis] = k;
  }
  return 0;
}

// The k best of a strided row, best first: a heap with the worst on top lives in `heap`, whose elements are `stride` apart.
template <class Before>
static void selectBest(int64_t *heap, int64_t stride, int64_t k, int64_t n, const Before &before) {
  auto sink = [&](int64_t at, int64_t size) {
    for (int64_t value = heap[at * stride];;) {
      int64_t child = 2 * at + 1;
      if (child < size && child + 1 < size && before(heap[child * stride], heap[(child + 1) * stride]))
        ++child;
      if (child >= size || !before(value, heap[child * stride])) {
        heap[at * stride] = value;
        return;
      }
      heap[at * stride] = heap[child * stride];
      at = child;
    }
  };
  for (int64_t i = 0; i < k; ++i)
    heap[i * stride] = i;
  for (int64_t i = k / 2; i-- > 0;)
    sink(i, k);
  for (int64_t i = k; i < n && k > 0; ++i)
    if (before(i, heap[0])) {
      heap[0] = i;
      sink(0, k);
    }
  for (int64_t size = k; size > 1; --size) {
    int64_t worst = heap[0];
    heap[0] = heap[(size - 1) * stride];
    heap[(size - 1) * stride] = worst;
    sink(0, size - 1);
  }
}

template <class T>
static int32_t topK(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  bool largest = a->attr[1].i != 0;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  int64_t shown = hasOut(a, 1) ? 1 : 0, k = a->out[shown].dims[axis];
  ONNXC_CHECK(k <= s.dim, ONNXC_K_SIZE);
  int64_t *own = shown ? nullptr : heap<int64_t>(a, k);
  ONNXC_CHECK(shown || own, ONNXC_K_MEMORY);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      const T *row = data<T>(in) + o * s.dim * s.inner + i;
      int64_t *heap = shown ? mutableData<int64_t>(a->out[1]) + o * k * s.inner + i : own, stride = shown ? s.inner : 1;
      selectBest(heap, stride, k, s.dim, [&](int64_t x, int64_t y) {
        int order = compare(row[x * s.inner], row[y * s.inner]);
        return order ? (order > 0) == largest : x < y;
      });
      for (int64_t j = 0; hasOut(a, 0) && j < k; ++j)
        mutableData<T>(a->out[0])[(o * k + j) * s.inner + i] = row[heap[j * stride] * s.inner];
    }
  return 0;
}

// Arg of the first (or last) best along the axis; NaN wins.
template <class T>
static int64_t bestIndex(const T *row, int64_t n, int64_t stride, bool greatest, bool last) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    int order = compare(row[i * stride], row[best * stride]);
    if constexpr (IsFloat<T>::value) {
      double v = toF64(row[i * stride]), b = toF64(row[best * stride]);
      if (v != v || b != b)
        order = greatest ? order : -order;
    }
    if ((greatest ? order > 0 : order < 0) || (last && order == 0))
      best = i;
  }
  return best;
}

template <class T>
static int32_t argBest(const onnxc_args *a, bool greatest) {  // attributes: axis, select_last_index
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  ONNXC_CHECK(s.dim > 0 || s.outer * s.inner == 0, ONNXC_K_SIZE);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i)
      mutableData<int64_t>(a->out[0])[o * s.inner + i] =
          bestIndex(data<T>(in) + o * s.dim * s.inner + i, s.dim, s.inner, greatest, a->attr[1].i != 0);
  return 0;
}

template <class T>
static int32_t hardmax(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  if (onnxc_count(in) == 0)
    return 0;
  memset(a->out[0].data, 0, size_t(onnxc_count(in)) * sizeof(T));
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      int64_t base = o * s.dim * s.inner + i, best = bestIndex(data<T>(in) + base, s.dim, s.inner, true, false);
      mutableData<T>(a->out[0])[base + best * s.inner] = fromF64<T>(1);
    }
  return 0;
}

static int32_t oneHotSize(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &indices = a->in[0];
  int64_t axis = a->attr[0].i, depth = truncToI64(loadF64(a->in[1], 0));
  ONNXC_CHECK(onnxc_count(a->in[1]) == 1 && fixAxis(axis, indices.rank + 1), ONNXC_K_SHAPE);
  ONNXC_CHECK(depth >= 0, ONNXC_K_SIZE);
  for (int32_t i = 0; i <= indices.rank; ++i)
    a->out[0].dims[i] = i < axis ? indices.dims[i] : i == axis ? depth : indices.dims[i - 1];
  return 0;
}

template <class T>
static int32_t oneHot(const onnxc_args *a) {
  const onnxc_tensor &indices = a->in[0];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(onnxc_count(a->in[2]) == 2 && fixAxis(axis, indices.rank + 1), ONNXC_K_SHAPE);
  const T *values = data<T>(a->in[2]);
  T *out = mutableData<T>(a->out[0]);
  int64_t depth = a->out[0].dims[axis], inner = product(indices.dims, axis, indices.rank), n = onnxc_count(indices);
  for (int64_t i = 0; i < n * depth; ++i)
    out[i] = values[0];
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = indices.dtype == ONNXC_I64 ? loadI64(indices, i) : truncToI64(loadF64(indices, i));
    if (at < 0)
      at += depth;
    if (at >= 0 && at < depth)
      out[(i / inner * depth + at) * inner + i % inner] = values[1];
  }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_NonZero_##S(const onnxc_args *a) { return onnxc::nonZero<T>(a); }                                             \
  extern "C" int32_t onnxc_s_NonZero_##S(const onnxc_args *a) { return onnxc::nonZeroSize<T>(a); }                                         \
  extern "C" int32_t onnxc_k_Compress_##S(const onnxc_args *a) { return onnxc::compress<T>(a); }                                           \
  extern "C" int32_t onnxc_s_Compress_##S(const onnxc_args *a) { return onnxc::compressSize(a); }                                          \
  extern "C" int32_t onnxc_k_OneHot_##S(const onnxc_args *a) { return onnxc::oneHot<T>(a); }                                               \
  extern "C" int32_t onnxc_s_OneHot_##S(const onnxc_args *a) { return onnxc::oneHotSize(a); }
ONNXC_SIZES(X)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_TopK_##S(const onnxc_args *a) { return onnxc::topK<T>(a); }                                                   \
  extern "C" int32_t onnxc_s_TopK_##S(const onnxc_args *a) { return onnxc::topKSize(a); }                                                  \
  extern "C" int32_t onnxc_k_ArgMax_##S(const onnxc_args *a) { return onnxc::argBest<T>(a, true); }                                        \
  extern "C" int32_t onnxc_k_ArgMin_##S(const onnxc_args *a) { return onnxc::argBest<T>(a, false); }
ONNXC_NUMERIC(X)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Hardmax_##S(const onnxc_args *a) { return onnxc::hardmax<T>(a); }
ONNXC_FLOATS(X)
#undef X
