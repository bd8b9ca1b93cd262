// ReduceAxes.cpp: reductions in double or 64-bit integers: of all types but f32 and f64, and over axes that are no neighbours or that only
// the run knows. The others are generated code.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

enum class Reduction { L1, L2, LogSum, LogSumExp, Max, Mean, Min, Prod, Sum, SumSquare };

// Which axes are reduced; false when one is out of range. Attributes: keepdims, noop_with_empty_axes.
static bool reducedAxes(const onnxc_args *a, bool *reduced) {
  const onnxc_tensor &in = a->in[0];
  int64_t n = hasIn(a, 1) ? onnxc_count(a->in[1]) : 0;
  if (in.rank > kMaxRank)
    return false;
  for (int32_t i = 0; i < in.rank; ++i)
    reduced[i] = n == 0 && a->attr[1].i == 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = loadI64(a->in[1], i);
    if (!fixAxis(axis, in.rank))
      return false;
    reduced[axis] = true;
  }
  return true;
}

static int32_t reducedSizes(const onnxc_args *a) {
  bool reduced[kMaxRank];
  ONNXC_CHECK(reducedAxes(a, reduced), ONNXC_K_INDEX);
  const onnxc_tensor &in = a->in[0];
  int32_t at = 0;
  for (int32_t i = 0; i < in.rank; ++i)
    if (!reduced[i] || a->attr[0].i) {
      ONNXC_CHECK(at < a->out[0].rank, ONNXC_K_SHAPE);
      a->out[0].dims[at++] = reduced[i] ? 1 : in.dims[i];
    }
  return at == a->out[0].rank ? 0 : ONNXC_K_SHAPE;
}

// Integers wrap: they are added and multiplied without a sign.
template <class A>
struct Unsigned {
  using type = A;
};
template <>
struct Unsigned<int64_t> {
  using type = uint64_t;
};
template <>
struct Unsigned<int32_t> {
  using type = uint32_t;
};
template <class A>
ONNXC_INLINE A plus(A a, A b) {
  return A(typename Unsigned<A>::type(a) + typename Unsigned<A>::type(b));
}
template <class A>
ONNXC_INLINE A times(A a, A b) {
  return A(typename Unsigned<A>::type(a) * typename Unsigned<A>::type(b));
}
template <class A>
ONNXC_INLINE A absolute(A v) {
  return v < 0 ? times(v, A(-1)) : v;
}
template <class A>
ONNXC_INLINE bool isNan(A v) {
  return v != v;
}

template <class T>
ONNXC_INLINE T least() {
  return T(-1) < T(0) ? T(uint64_t(1) << (8 * sizeof(T) - 1)) : T(0);
}

// The value before anything is added. The extremes of an empty set are the type's own.
template <Reduction R, class T>
static Acc<T> start() {
  if (R == Reduction::Prod)
    return 1;
  if (R != Reduction::Max && R != Reduction::Min && R != Reduction::LogSumExp)
    return 0;
  if constexpr (IsFloat<T>::value)
    return R == Reduction::Min ? __builtin_inf() : -__builtin_inf();
  else
    return R == Reduction::Min ? toAcc<T>(T(~least<T>())) : toAcc<T>(least<T>());
}

template <Reduction R, class A>
ONNXC_INLINE A join(A acc, A v) {
  switch (R) {
  case Reduction::L1:
    return plus(acc, absolute(v));
  case Reduction::L2:
  case Reduction::SumSquare:
    return plus(acc, times(v, v));
  case Reduction::Max:
  case Reduction::LogSumExp:
    return isNan(acc) || v < acc ? acc : v;
  case Reduction::Min:
    return isNan(acc) || v > acc ? acc : v;
  case Reduction::Prod:
    return times(acc, v);
  default:
    return plus(acc, v);
  }
}

// Two accumulators as one.
template <Reduction R, class A>
ONNXC_INLINE A merge(A a, A b) {
  constexpr bool sums = R != Reduction::Max && R != Reduction::Min && R != Reduction::LogSumExp && R != Reduction::Prod;
  return sums ? plus(a, b) : join<R>(a, b);
}

// Lanes that take what is joined of integers: wrapped sums and products need no more bits than the result, a mean needs all.
template <Reduction R, class T>
struct LaneOf {
  using type = T;
};
template <class T>
struct LaneOf<Reduction::Mean, T> {
  using type = Acc<T>;
};
template <Reduction R, class T>
constexpr bool kJoinsInLanes = !IsFloat<T>::value && R != Reduction::L2 && R != Reduction::LogSum && R != Reduction::LogSumExp;

template <Reduction R, class V, class U>  // vectors of T's and of unsigned ones
ONNXC_INLINE V joinLanes(V acc, V v) {
  if constexpr (R == Reduction::Max)
    return __builtin_elementwise_max(acc, v);
  else if constexpr (R == Reduction::Min)
    return __builtin_elementwise_min(acc, v);
  else if constexpr (R == Reduction::L1)
    return (V)((U)acc + (U)(v < 0 ? (V)(-(U)v) : v));
  else if constexpr (R == Reduction::Prod)
    return (V)((U)acc * (U)v);
  else
    return (V)((U)acc + (U)v * (R == Reduction::SumSquare ? (U)v : U(1)));
}

// Two vectors as one, and the lanes of one.
template <Reduction R, class V, class U>
ONNXC_INLINE V mergeLanes(V a, V b) {
  constexpr bool same = R == Reduction::Max || R == Reduction::Min || R == Reduction::Prod;
  return same ? joinLanes<R, V, U>(a, b) : (V)((U)a + (U)b);
}
template <Reduction R, class C, class V, class U>
ONNXC_INLINE C mergedLanes(V v) {
  if constexpr (R == Reduction::Max)
    return __builtin_reduce_max(v);
  else if constexpr (R == Reduction::Min)
    return __builtin_reduce_min(v);
  else if constexpr (R == Reduction::Prod)
    return C(__builtin_reduce_mul((U)v));
  else
    return C(__builtin_reduce_add((U)v));
}

// A row of elements that are all joined, in chains that do not wait for each other.
template <Reduction R, class T>
static Acc<T> joinRow(Acc<T> acc, const T *x, int64_t n) {
  if constexpr (kJoinsInLanes<R, T>) {
    constexpr int64_t lanes = 64 / sizeof(T), chains = 2;
    using C = typename LaneOf<R, T>::type;
    typedef T X __attribute__((ext_vector_type(lanes), aligned(sizeof(T))));
    typedef C V __attribute__((ext_vector_type(lanes)));
    typedef __make_unsigned(C) U __attribute__((ext_vector_type(lanes)));
    V chain[chains] = {V(C(start<R, T>())), V(C(start<R, T>()))};
    int64_t i = 0;
    for (; i + chains * lanes <= n; i += chains * lanes)
      for (int64_t k = 0; k < chains; ++k)
        chain[k] = joinLanes<R, V, U>(chain[k], __builtin_convertvector(*(const X *)(x + i + k * lanes), V));
    for (; i + lanes <= n; i += lanes)
      chain[0] = joinLanes<R, V, U>(chain[0], __builtin_convertvector(*(const X *)(x + i), V));
    if (i > 0)
      acc = merge<R, Acc<T>>(acc, Acc<T>(mergedLanes<R, C, V, U>(mergeLanes<R, V, U>(chain[0], chain[1]))));
    for (; i < n; ++i)
      acc = join<R, Acc<T>>(acc, toAcc<T>(x[i]));
    return acc;
  }
  constexpr int64_t chains = 16;
  Acc<T> chain[chains];
  for (Acc<T> &c : chain)
    c = start<R, T>();
  int64_t i = 0;
  for (; i + chains <= n; i += chains)
    for (int64_t k = 0; k < chains; ++k)
      chain[k] = join<R, Acc<T>>(chain[k], toAcc<T>(x[i + k]));
  for (; i < n; ++i)
    acc = join<R, Acc<T>>(acc, toAcc<T>(x[i]));
  for (int64_t k = 0; n >= chains && k < chains; ++k)
    acc = merge<R, Acc<T>>(acc, chain[k]);
  return acc;
}

template <Reduction R, class T>
ONNXC_INLINE T finish(Acc<T> acc, int64_t n) {
  if (R == Reduction::L2)
    return fromF64<T>(sqrt(double(acc)));
  if (R == Reduction::LogSum)
    return fromF64<T>(log(double(acc)));
  if (R == Reduction::Mean)
    return fromF64<T>(double(acc) / double(n));
  return fromAcc<T>(acc);
}

// Second pass: log of the sum of exponentials relative to the largest.
template <class T>
static int32_t logSumExp(const onnxc_args *a, Odometer<1> &o, const Acc<T> *largest, int64_t n) {
  double *sums = heap<double>(a, n);
  ONNXC_CHECK(sums, ONNXC_K_MEMORY);
  for (const T *x = data<T>(a->in[0]); o.more(); o.next(), ++x) {
    double most = double(largest[o.offset[0]]);
    sums[o.offset[0]] += most - most == 0 ? exp(toF64(*x) - most) : 1;
  }
  for (int64_t i = 0; i < n; ++i) {
    double most = double(largest[i]);
    mutableData<T>(a->out[0])[i] = fromF64<T>(most - most == 0 ? most + log(sums[i]) : most);
  }
  return 0;
}

// What the results are joined in while their elements are read.
template <Reduction R, class T, bool InLanes = kJoinsInLanes<R, T>>
struct JoinedIn {
  using type = Acc<T>;
};
template <Reduction R, class T>
struct JoinedIn<R, T, true> {
  using type = typename LaneOf<R, T>::type;
};

template <Reduction R, class T>
static int32_t reduce(const onnxc_args *a) {
  using C = typename JoinedIn<R, T>::type;
  bool named[kMaxRank], reduced[kMaxRank];
  ONNXC_CHECK(reducedAxes(a, named), ONNXC_K_INDEX);
  const onnxc_tensor &in = a->in[0];
  // Neighbours of a kind are one axis.
  int64_t dims[kMaxRank], strides[kMaxRank], rank = 0, step = 1, n = onnxc_count(a->out[0]), each = 1;
  for (int64_t i = 0; i < in.rank; ++i) {
    if (in.dims[i] == 1)
      continue;
    if (rank && reduced[rank - 1] == named[i])
      dims[rank - 1] *= in.dims[i];
    else
      dims[rank] = in.dims[i], reduced[rank++] = named[i];
  }
  for (int64_t i = rank; i-- > 0;) {
    strides[i] = reduced[i] ? 0 : step;
    (reduced[i] ? each : step) *= dims[i];
  }
  ONNXC_CHECK(step == n, ONNXC_K_SHAPE);
  C *joined = heap<C>(a, n);
  ONNXC_CHECK(joined, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i)
    joined[i] = C(start<R, T>());
  Odometer<1> o;
  int64_t last = rank - 1, width = rank ? dims[last] : 1;
  o.init(dims, maxOf<int64_t>(last, 0));
  o.strides[0] = strides;
  for (const T *x = data<T>(in); o.more(); o.next(), x += width) {
    C *to = joined + o.offset[0];
    if (rank == 0 || reduced[last])
      *to = C(joinRow<R, T>(Acc<T>(*to), x, width));
    else
      for (int64_t i = 0; i < width; ++i)
        to[i] = join<R, C>(to[i], C(toAcc<T>(x[i])));
  }
  if constexpr (R == Reduction::LogSumExp) {
    o.init(dims, rank);
    o.strides[0] = strides;
    return logSumExp<T>(a, o, joined, n);
  }
  for (int64_t i = 0; i < n; ++i)
    mutableData<T>(a->out[0])[i] = finish<R, T>(Acc<T>(joined[i]), each);
  return 0;
}

}  // namespace onnxc

#define ONNXC_REDUCE(NAME, S, T)                                                                                                           \
  extern "C" int32_t onnxc_k_Reduce##NAME##_##S(const onnxc_args *a) { return onnxc::reduce<onnxc::Reduction::NAME, T>(a); }               \
  extern "C" int32_t onnxc_s_Reduce##NAME##_##S(const onnxc_args *a) { return onnxc::reducedSizes(a); }
#define X(S, T)                                                                                                                            \
  ONNXC_REDUCE(L1, S, T)                                                                                                                   \
  ONNXC_REDUCE(L2, S, T)                                                                                                                   \
  ONNXC_REDUCE(LogSum, S, T)                                                                                                               \
  ONNXC_REDUCE(LogSumExp, S, T)                                                                                                            \
  ONNXC_REDUCE(Max, S, T)                                                                                                                  \
  ONNXC_REDUCE(Mean, S, T) ONNXC_REDUCE(Min, S, T) ONNXC_REDUCE(Prod, S, T) ONNXC_REDUCE(Sum, S, T) ONNXC_REDUCE(SumSquare, S, T)
ONNXC_FLOATS(X)
X(i32, onnxc::i32)
X(i64, onnxc::i64)
X(u32, onnxc::u32)
X(u64, onnxc::u64)
#undef X
#define X(S, T) ONNXC_REDUCE(Max, S, T) ONNXC_REDUCE(Min, S, T)
X(i8, onnxc::i8)
X(u8, onnxc::u8)
#undef X
// Of an empty set of booleans the least is true: one, not the largest byte.
ONNXC_REDUCE(Max, bool, onnxc::u8) extern "C" int32_t onnxc_s_ReduceMin_bool(const onnxc_args *a) { return onnxc::reducedSizes(a); }
extern "C" int32_t onnxc_k_ReduceMin_bool(const onnxc_args *a) {
  ONNXC_TRY((onnxc::reduce<onnxc::Reduction::Min, onnxc::u8>(a)));
  uint8_t *y = onnxc::mutableData<uint8_t>(a->out[0]);
  for (int64_t i = 0, n = onnxc_count(a->out[0]); i < n; ++i)
    y[i] = y[i] != 0;
  return 0;
}
