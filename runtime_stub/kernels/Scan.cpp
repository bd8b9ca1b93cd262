// Scan.cpp: running sums and products along an axis: CumSum, CumProd.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

constexpr int64_t kColumns = 1024;  // that are read side by side: pages in order, and totals that stay in the first-level cache

// A total and one element more; integers wrap.
template <class T, bool Sum>
ONNXC_INLINE Acc<T> next(Acc<T> total, Acc<T> x) {
  if constexpr (IsFloat<T>::value)
    return Sum ? total + x : total * x;
  else
    return Acc<T>(Sum ? uint64_t(total) + uint64_t(x) : uint64_t(total) * uint64_t(x));
}

// `from` and `to` along `dim`, `width` columns of `most` side by side; `step` elements lie between neighbours of the axis.
template <class T, bool Sum, bool Exclusive, int64_t most>
ONNXC_INLINE void cumulateColumns(const T *__restrict from, T *__restrict to, int64_t dim, int64_t step, int64_t width) {
  Acc<T> totals[most];
  for (int64_t i = 0; i < width; ++i)
    totals[i] = Acc<T>(Sum ? 0 : 1);
  for (int64_t k = 0; k < dim; ++k, from += step, to += step)
    for (int64_t i = 0; i < width; ++i) {
      Acc<T> before = totals[i];
      totals[i] = next<T, Sum>(before, toAcc(from[i]));
      to[i] = fromAcc<T>(Exclusive ? before : totals[i]);
    }
}

// Along `rows` rows of neighbouring elements at once, since each waits for its own sums.
template <class T, bool Sum, bool Exclusive, int rows>
ONNXC_INLINE void cumulateRows(const T *__restrict from, T *__restrict to, int64_t dim, int64_t step) {
  Acc<T> totals[rows];
  unroll<0, rows>([&](auto r) { totals[r.value] = Acc<T>(Sum ? 0 : 1); });
  for (int64_t k = 0; k < dim; ++k, from += step, to += step)
    unroll<0, rows>([&](auto r) {
      Acc<T> &total = totals[r.value], before = total;
      total = next<T, Sum>(total, toAcc(from[r.value * dim]));
      to[r.value * dim] = fromAcc<T>(Exclusive ? before : total);
    });
}

// What totals are in vectors: doubles, or integers that wrap. Halves have none.
template <class T>
struct TotalOf {
  using type = void;
};
#define X(T, Total)                                                                                                                        \
  template <>                                                                                                                              \
  struct TotalOf<T> {                                                                                                                      \
    using type = Total;                                                                                                                    \
  };
X(float, double)
X(double, double)
X(int32_t, uint32_t)
X(uint32_t, uint32_t)
X(int64_t, uint64_t)
X(uint64_t, uint64_t)
#undef X

// The same for N times sixteen columns, whose totals are in registers.
template <class T, bool Sum, bool Exclusive, int N>
ONNXC_INLINE void cumulateVectors(const T *__restrict from, T *__restrict to, int64_t dim, int64_t step) {
  using Totals = Sixteen<typename TotalOf<T>::type>;
  Totals totals[N];
  unroll<0, N>([&](auto i) { totals[i.value] = Totals(Sum ? 0 : 1); });
  for (int64_t k = 0; k < dim; ++k, from += step, to += step)
    unroll<0, N>([&](auto i) {
      Totals before = totals[i.value], x = __builtin_convertvector(*(const Sixteen<T> *)(from + i.value * kLanes), Totals);
      totals[i.value] = Sum ? before + x : before * x;
      *(Sixteen<T> *)(to + i.value * kLanes) = __builtin_convertvector(Exclusive ? before : totals[i.value], Sixteen<T>);
    });
}

template <class T, bool Sum, bool Exclusive>
ONNXC_INLINE int32_t cumulateAll(const onnxc_args *a, const Axis3 &s, bool reverse) {
  const T *from = data<T>(a->in[0]);
  T *to = mutableData<T>(a->out[0]);
  int64_t blocks = (s.inner + kColumns - 1) / kColumns, start = reverse ? (s.dim - 1) * s.inner : 0, step = reverse ? -s.inner : s.inner;
  return parallelFor(a, s.outer * blocks, grainOf(s.dim * minOf(s.inner, kColumns)), [=](int64_t begin, int64_t end) {
    constexpr int rows = 4;  // of more, lines share sets of the cache where rows are pages
    if (s.inner == 1)
      for (; end - begin >= rows; begin += rows)
        cumulateRows<T, Sum, Exclusive, rows>(from + begin * s.dim + start, to + begin * s.dim + start, s.dim, step);
    for (int64_t u = begin; u < end; ++u) {
      int64_t first = u % blocks * kColumns, at = u / blocks * s.dim * s.inner + start + first, width = minOf(s.inner - first, kColumns);
      if constexpr (!__is_same(typename TotalOf<T>::type, void)) {
        bool some = width >= kLanes;
        auto several = [&](auto n) {
          for (; width >= n.value * kLanes; at += n.value * kLanes, width -= n.value * kLanes)
            cumulateVectors<T, Sum, Exclusive, n.value>(from + at, to + at, s.dim, step);
        };
        onnxc_vector_bits >= 512 ? several(Index<4>()) : several(Index<2>());  // whose totals leave registers free
        for (; width >= kLanes; at += kLanes, width -= kLanes)
          cumulateVectors<T, Sum, Exclusive, 1>(from + at, to + at, s.dim, step);
        if (some && width > 0)  // the last vector takes columns of the one before it again
          cumulateVectors<T, Sum, Exclusive, 1>(from + at + width - kLanes, to + at + width - kLanes, s.dim, step);
        if (some)
          continue;
      }
      if (width == 1)
        cumulateColumns<T, Sum, Exclusive, 1>(from + at, to + at, s.dim, step, 1);
      else
        cumulateColumns<T, Sum, Exclusive, kColumns>(from + at, to + at, s.dim, step, width);
    }
    return int32_t(ONNXC_K_OK);
  });
}

template <class T, bool Sum>
static int32_t cumulate(const onnxc_args *a) {  // attributes: exclusive, reverse
  ONNXC_CHECK(onnxc_count(a->in[1]) == 1, ONNXC_K_SHAPE);
  int64_t axis = loadI64(a->in[1], 0);
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_INDEX);
  Axis3 s = splitAt(a->in[0], axis);
  bool reverse = a->attr[1].i != 0;
  return a->attr[0].i ? cumulateAll<T, Sum, true>(a, s, reverse) : cumulateAll<T, Sum, false>(a, s, reverse);
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_CumSum_##S(const onnxc_args *a) { return onnxc::cumulate<T, true>(a); }                                       \
  extern "C" int32_t onnxc_k_CumProd_##S(const onnxc_args *a) { return onnxc::cumulate<T, false>(a); }
ONNXC_FLOATS(X)
X(i32, int32_t)
X(i64, int64_t)
X(u32, uint32_t)
X(u64, uint64_t)
#undef X
