// Copy.h: copies of regular pieces of tensors: rows of neighbours, and elements that lie any strides apart, shared out to the run's
// threads.
#pragma once
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

// Joins neighbouring axes that both sides walk as one and drops those of one element; the rank that is left, at least 1. `dims` and the
// strides are overwritten.
inline int64_t mergeAxes(int64_t *dims, int64_t *outStrides, int64_t *inStrides, int64_t rank) {
  int64_t kept = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (dims[i] == 1 && (kept > 0 || i + 1 < rank))
      continue;
    bool joins = kept > 0 && outStrides[kept - 1] == dims[i] * outStrides[i] && inStrides[kept - 1] == dims[i] * inStrides[i];
    int64_t at = joins ? kept - 1 : kept++;
    dims[at] = joins ? dims[at] * dims[i] : dims[i];
    outStrides[at] = outStrides[i], inStrides[at] = inStrides[i];
  }
  return kept;
}

template <int64_t N, class T>
ONNXC_INLINE void copyShortRows(T *to, int64_t toStep, const T *from, int64_t fromStep, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r)
    memcpy(to + r * toStep, from + r * fromStep, N * sizeof(T));
}

// `rows` rows of `n` neighbours, `toStep` and `fromStep` elements apart. Short ones are moved by instructions, not by calls.
template <class T>
inline void copyRows(T *to, int64_t toStep, const T *from, int64_t fromStep, int64_t n, int64_t rows) {
  if (n == 1)
    copyShortRows<1>(to, toStep, from, fromStep, rows);
  else if (n == 2)
    copyShortRows<2>(to, toStep, from, fromStep, rows);
  else if (n == 3)
    copyShortRows<3>(to, toStep, from, fromStep, rows);
  else if (n == 4)
    copyShortRows<4>(to, toStep, from, fromStep, rows);
  else
    for (int64_t r = 0; r < rows; ++r)
      copyBlock(to + r * toStep, from + r * fromStep, n * int64_t(sizeof(T)));
}

// Two tensors that are walked together: out[i·out strides] = in[i·in strides] for all indices i of `dims`, of which there are at least two.
struct Walk {
  int64_t rank, dims[kMaxRank + 1], out[kMaxRank + 1], in[kMaxRank + 1];

  Walk(const int64_t *givenDims, const int64_t *givenOut, const int64_t *givenIn, int64_t givenRank) : rank(maxOf<int64_t>(givenRank, 1)) {
    dims[0] = dims[1] = 1, out[0] = in[0] = out[1] = in[1] = 0;  // one axis has one row, no axis one element
    for (int64_t i = 0; i < givenRank; ++i)
      dims[i + 1] = givenDims[i], out[i + 1] = givenOut[i], in[i + 1] = givenIn[i];
    rank = mergeAxes(dims + 1, out + 1, in + 1, rank) + 1;
  }
};

// Every `Step`th element of `Count` rows takes turns; in one pass, which interleaves vectors.
template <int Count, class T, int Step = 1>
ONNXC_INLINE void takeTurns(T *__restrict to, const T *const (&from)[Count], int64_t n) {
  for (int64_t k = 0; k < n; ++k)
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i)
      to[k * Count + i] = from[i][k * Step];
}

// Every `Step`th element.
template <int Step, class T>
ONNXC_INLINE void takeEvery(T *__restrict to, const T *__restrict from, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i * Step];
}

template <class T>
inline void copyRow(T *to, int64_t os, const T *from, int64_t is, int64_t n) {
  T first = *from;
  if (os == 1 && is == 0)
    for (int64_t i = 0; i < n; ++i)
      to[i] = first;
  else if (os == 1 && is == 2)  // strides the vectoriser knows
    takeEvery<2>(to, from, n);
  else if (os == 1 && is == 3)
    takeEvery<3>(to, from, n);
  else if (os == 1 && is == 4)
    takeEvery<4>(to, from, n);
  else
    for (int64_t i = 0; i < n; ++i)
      to[i * os] = from[i * is];
}

template <class T>
inline void copyWalk(T *out, const T *in, const Walk &w) {
  int64_t inner = w.dims[w.rank - 1], os = w.out[w.rank - 1], is = w.in[w.rank - 1];
  int64_t rows = w.dims[w.rank - 2], rowOut = w.out[w.rank - 2], rowIn = w.in[w.rank - 2];
  bool turns = os == 1 && rowOut == inner && rowIn == 1;
  bool reversed = os == 1 && is == -1 && rowOut == inner && rowIn == inner;
  Odometer<2> o;
  o.init(w.dims, w.rank - 2);
  o.strides[0] = w.out;
  o.strides[1] = w.in;
  for (; o.more(); o.next()) {
    T *to = out + o.offset[0];
    const T *from = in + o.offset[1];
    if (os == 1 && is == 1)
      copyRows(to, rowOut, from, rowIn, inner, rows);
    else if (turns && inner == 2)
      takeTurns<2, T>(to, {from, from + is}, rows);
    else if (turns && inner == 3)
      takeTurns<3, T>(to, {from, from + is, from + 2 * is}, rows);
    else if (turns && inner == 4)
      takeTurns<4, T>(to, {from, from + is, from + 2 * is, from + 3 * is}, rows);
    else if (reversed && inner == 3)
      takeTurns<3, T, 3>(to, {from, from - 1, from - 2}, rows);
    else if (reversed && inner == 4)
      takeTurns<4, T, 4>(to, {from, from - 1, from - 2, from - 3}, rows);
    else
      for (int64_t r = 0; r < rows; ++r, to += rowOut, from += rowIn)
        copyRow(to, os, from, is, inner);
  }
}

// out[i·outStrides] = in[i·inStrides] for all indices i of `dims`, each thread a part of the longest axis: of the last one only where the
// others are short.
template <class T>
inline int32_t copyStrided(const onnxc_args *a, T *out, const int64_t *outStrides, const T *in, const int64_t *inStrides,
                           const int64_t *dims, int64_t rank) {
  constexpr int64_t shortAxis = 16, piece = 1024;
  int64_t n = product(dims, 0, rank);
  if (n == 0)
    return 0;
  Walk w(dims, outStrides, inStrides, rank);
  int64_t axis = 0, last = w.rank - 1;
  for (int64_t i = 1; i < last; ++i)
    axis = w.dims[i] > w.dims[axis] ? i : axis;
  if (w.dims[axis] < shortAxis && w.dims[last] > piece)
    axis = last;
  Pieces pieces(w.dims[axis], axis == last ? piece : 1);
  int64_t work = maxOf<int64_t>(1, n / w.dims[axis] * (w.out[last] == 1 && w.in[last] == 1 ? int64_t(sizeof(T)) : 8) / 8);
  return parallelFor(a, pieces.count, pieces.grain(work), [=, &w](int64_t begin, int64_t end) -> int32_t {
    if (begin == 0 && end == pieces.count)
      return copyWalk(out, in, w), 0;
    Walk part = w;
    int64_t first = pieces.begin(begin);
    part.dims[axis] = pieces.end(end - 1) - first;
    copyWalk(out + first * w.out[axis], in + first * w.in[axis], part);
    return 0;
  });
}

}  // namespace onnxc
