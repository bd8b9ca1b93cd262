// FastArgBest.cpp: ArgMax, ArgMin and Hardmax: rows and columns in vectors, floats without a NaN as they are, others as integers of the
// same order. Oracle: Select.cpp.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/SelectKeys.h"

namespace onnxc {
namespace {

constexpr int64_t kShort = 32;  // elements of a row whose best is found quicker as a column among 64 than by itself
constexpr int64_t kFew = 6;     // columns that are taken together with those of other rows

// Where a contiguous row has its first (last) best.
template <class T>
ONNXC_INLINE int64_t bestOfRow(const T *row, int64_t n, Key<T> flip, bool last) {
  const Keys<T> lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Keys<T> best = Keys<T>(keyOf<T, Nans::Best>(row[0], flip)), where = Keys<T>(0);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Keys<T> key = keysOf<T, Nans::Best>(row + i, flip);
    auto better = last ? key >= best : key > best;
    best = better ? key : best;
    where = better ? lane + Keys<T>(Key<T>(i)) : where;
  }
  Key<T> top = __builtin_reduce_max(best);
  Key<T> at =
      last ? __builtin_reduce_max(best == top ? where : Keys<T>(-1)) : __builtin_reduce_min(best == top ? where : Keys<T>(kMost<T>));
  for (; i < n; ++i) {
    Key<T> key = keyOf<T, Nans::Best>(row[i], flip);
    if (last ? key >= top : key > top)
      top = key, at = Key<T>(i);
  }
  return at;
}

// The same along `dim` for `width` <= 64 columns, of which at(c) is where column c begins.
template <class T, class At>
ONNXC_INLINE void bestOfEach(const T *x, int64_t dim, int64_t stride, int64_t width, Key<T> flip, bool last, int64_t *to, const At &at) {
  Key<T> best[64], where[64];
  for (int64_t d = 0; d < dim; ++d, x += stride)
    for (int64_t c = 0; c < width; ++c) {
      Key<T> key = keyOf<T, Nans::Best>(x[at(c)], flip);
      bool better = (d == 0) | (last ? key >= best[c] : key > best[c]);
      best[c] = better ? key : best[c];
      where[c] = better ? Key<T>(d) : where[c];
    }
  for (int64_t c = 0; c < width; ++c)
    to[c] = where[c];
}

// The same where the columns are neighbours.
template <class T>
ONNXC_INLINE void bestOfColumns(const T *x, int64_t dim, int64_t stride, int64_t width, Key<T> flip, bool last, int64_t *to) {
  bestOfEach(x, dim, stride, width, flip, last, to, [](int64_t c) { return c; });
}

// What is compared of 16 elements: floats themselves, turned round by a sign, where `Plain`; else keys.
template <class T, bool Plain>
using Compared = typename Choose<Plain, Elements<T>, Keys<T>>::type;
template <class T, bool Plain>
ONNXC_INLINE Compared<T, Plain> comparedOf(const T *x, Key<T> flip) {
  if constexpr (Plain)
    return __builtin_bit_cast(Elements<T>, *reinterpret_cast<const Keys<T> *>(x) ^ Keys<T>(flip & kLeast<T>));
  else
    return keysOf<T, Nans::Best>(x, flip);
}

constexpr int64_t kStrip = 1024;  // neighbouring columns whose best so far are kept
constexpr int64_t kDeep = 16;     // their elements that meet registers at a time: few enough rows for the processor to read ahead in

// The same for 16 <= `width` <= kStrip neighbouring columns, a few rows at a time. Whether none holds a NaN, if `Plain`.
template <class T, bool Plain, bool Last>
static bool bestOfStrip(const T *x, int64_t dim, int64_t stride, int64_t width, Key<T> flip, int64_t *to) {
  Compared<T, Plain> best[kStrip / 16];
  Keys<T> where[kStrip / 16];
  Keys<T> unordered = Keys<T>(0);
  for (int64_t top = 0; top < dim; top += kDeep) {
    int64_t rows = minOf(kDeep, dim - top);
    for (int64_t c = 0; c < width; c += 16) {
      const T *from = x + top * stride + minOf(c, width - 16);  // the last ones overlap those before
      Compared<T, Plain> most = top ? best[c / 16] : comparedOf<T, Plain>(from, flip);
      Keys<T> at = top ? where[c / 16] : Keys<T>(0);
      for (int64_t d = 0; d < rows; ++d, from += stride) {
        Compared<T, Plain> v = comparedOf<T, Plain>(from, flip);
        auto better = Last ? v >= most : v > most;
        most = better ? v : most;
        at = better ? Keys<T>(Key<T>(top + d)) : at;
        if constexpr (Plain)
          unordered |= v != v;
      }
      best[c / 16] = most, where[c / 16] = at;
    }
  }
  if (__builtin_reduce_or(unordered))
    return false;
  for (int64_t c = 0; c < width; c += 16)
    for (int64_t i = 0, first = minOf(c, width - 16); i < 16; ++i)
      to[first + i] = where[c / 16][i];
  return true;
}
template <class T>
ONNXC_INLINE void bestOfStrip(const T *x, int64_t dim, int64_t stride, int64_t width, Key<T> flip, bool last, int64_t *to) {
  if constexpr (IsFloat<T>::value && sizeof(T) >= 4)
    if (last ? bestOfStrip<T, true, true>(x, dim, stride, width, flip, to) : bestOfStrip<T, true, false>(x, dim, stride, width, flip, to))
      return;
  last ? bestOfStrip<T, false, true>(x, dim, stride, width, flip, to) : bestOfStrip<T, false, false>(x, dim, stride, width, flip, to);
}

// The same for `count` <= 64 contiguous rows of `dim` <= kShort.
template <class T>
ONNXC_INLINE void bestOfRows(const T *x, int64_t dim, int64_t count, Key<T> flip, bool last, int64_t *to) {
  T columns[kShort * 64];
  for (int64_t d = 0; d < dim; ++d)
    for (int64_t r = 0; r < count; ++r)
      columns[d * 64 + r] = x[r * dim + d];
  bestOfColumns(columns, dim, 64, count, flip, last, to);
}

// As eachBest, where neighbours along the inner axis are results of their own.
template <class T, class Give>
ONNXC_INLINE int32_t eachBestOfStrips(const onnxc_args *a, const Axis3 &s, Key<T> flip, bool last, const Give &give) {
  const T *x = data<T>(a->in[0]);
  int64_t blocks = (s.inner + 63) / 64;
  return parallelFor(a, s.outer * blocks, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
    int64_t best[kStrip];
    for (int64_t r = begin, taken; r < end; r += taken) {
      int64_t o = r / blocks, c = r % blocks * 64;
      taken = minOf(minOf(kStrip / 64, blocks - r % blocks), end - r);
      int64_t count = minOf(taken * 64, s.inner - c);
      const T *from = x + o * s.dim * s.inner + c;
      if (count >= 16)
        bestOfStrip(from, s.dim, s.inner, count, flip, last, best);
      else
        bestOfColumns(from, s.dim, s.inner, count, flip, last, best);
      give(o * s.inner + c, count, best);
    }
    return int32_t(ONNXC_K_OK);
  });
}

// give(first, count, best): where the best of the results [first, first + count) are along the axis, up to kStrip of them that are
// neighbours. NaN is the best for both orders.
template <class T, class Give>
ONNXC_INLINE int32_t eachBest(const onnxc_args *a, const Axis3 &s, Key<T> flip, bool last, const Give &give) {
  ONNXC_CHECK((s.dim > 0 && s.dim <= INT32_MAX) || s.outer * s.inner == 0, ONNXC_K_SIZE);
  const T *x = data<T>(a->in[0]);
  if (s.inner == 1 && s.dim <= kShort)
    return parallelFor(a, (s.outer + 63) / 64, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
      int64_t best[64];
      for (int64_t r = begin * 64; r < minOf(end * 64, s.outer); r += 64) {
        int64_t count = minOf<int64_t>(64, s.outer - r);
        bestOfRows(x + r * s.dim, s.dim, count, flip, last, best);
        give(r, count, best);
      }
      return int32_t(ONNXC_K_OK);
    });
  if (s.inner == 1)
    return parallelFor(a, s.outer, grainOf(s.dim), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t best = bestOfRow(x + r * s.dim, s.dim, flip, last);
        give(r, 1, &best);
      }
      return int32_t(ONNXC_K_OK);
    });
  if (s.inner <= kFew)
    return parallelFor(a, (s.outer * s.inner + 63) / 64, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
      int64_t best[64];
      for (int64_t b = begin; b < end; ++b) {
        Results results(s, b * 64, 1);
        bestOfEach(x, s.dim, s.inner, 64, flip, last, best, [&](int64_t r) { return results.at[r]; });
        give(b * 64, results.count, best);
      }
      return int32_t(ONNXC_K_OK);
    });
  return eachBestOfStrips<T>(a, s, flip, last, give);
}

template <class T>
int32_t argBest(const onnxc_args *a, bool greatest) {  // attributes: axis, select_last_index
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_SHAPE);
  int64_t *to = mutableData<int64_t>(a->out[0]);
  return eachBest<T>(a, splitAt(a->in[0], axis), greatest ? 0 : -1, a->attr[1].i != 0,
                     [=](int64_t first, int64_t count, const int64_t *best) { memcpy(to + first, best, size_t(count) * sizeof(int64_t)); });
}

template <class T>
int32_t hardmax(const onnxc_args *a) {  // attributes: axis
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(a->in[0], axis);
  if (s.dim == 0)
    return ONNXC_K_OK;
  T *to = mutableData<T>(a->out[0]);
  memset(to, 0, size_t(s.outer * s.dim * s.inner) * sizeof(T));
  return eachBest<T>(a, s, 0, false, [=](int64_t first, int64_t count, const int64_t *best) {
    for (int64_t i = 0; i < count; ++i)
      to[((first + i) / s.inner * s.dim + best[i]) * s.inner + (first + i) % s.inner] = 1;
  });
}

}  // namespace
}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_FastArgMax_##S(const onnxc_args *a) { return onnxc::argBest<T>(a, true); }                                    \
  extern "C" int32_t onnxc_k_FastArgMin_##S(const onnxc_args *a) { return onnxc::argBest<T>(a, false); }
ONNXC_NUMERIC(X)
#undef X
extern "C" int32_t onnxc_k_FastHardmax_f32(const onnxc_args *a) { return onnxc::hardmax<float>(a); }
extern "C" int32_t onnxc_k_FastHardmax_f64(const onnxc_args *a) { return onnxc::hardmax<double>(a); }
