// PointwiseDivide.cpp: Div and Mod, broadcast as numpy does. Integers wrap and never trap: x / 0 and x mod 0 are 0. Row format:
// LibraryPointwise.def. Most quotients are taken in vectors of doubles, where the whole part of x / y is exact: for whole numbers with
// |x| < 2^53, since x / y then lies at least 1/|y| away from the next whole number and is rounded by less; for floats of 24 digits where
// the quotient is below 2^29, so that its product with y is exact as well.
#include "runtime_stub/kernels/Pointwise.h"

namespace onnxc {

constexpr int64_t kBlock = 256;  // elements whose sizes are looked at together

// One element, any values.
struct DivOp {
  static double of(double x, double y) { return x / y; }
  static int64_t of(int64_t x, int64_t y) { return y == 0 ? 0 : y == -1 ? int64_t(uint64_t(0) - uint64_t(x)) : x / y; }
  static uint64_t of(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }
};
struct FModOp {  // the sign of the dividend
  static double of(double x, double y) { return fmod(x, y); }
  static int64_t of(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }
  static uint64_t of(uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; }
  template <class C>
  static C rest(C r, C) {
    return r;
  }
};
struct ModOp {  // the sign of the divisor
  static double of(double x, double y) { return rest(fmod(x, y), y); }
  static int64_t of(int64_t x, int64_t y) { return rest(FModOp::of(x, y), y); }
  static uint64_t of(uint64_t x, uint64_t y) { return FModOp::of(x, y); }
  template <class C>
  static C rest(C r, C y) {
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  }
};

// The same by whole parts of double quotients.
struct Quotient {
  using Plain = DivOp;
  template <class T, class Whole>
  static T of(T, T y, Whole q) {
    return y == 0 ? T(0) : T(q);
  }
};
template <class Op>
struct Remainder {
  using Plain = Op;
  template <class T, class Whole>
  static T of(T x, T y, Whole q) {
    Whole r = Whole(uint64_t(Whole(x)) - uint64_t(q) * uint64_t(Whole(y)));
    return y == 0 ? T(0) : T(Op::rest(r, Whole(y)));
  }
};

// Whether doubles hold n elements, `step` apart.
template <class T>
ONNXC_INLINE bool fitDoubles(const T *x, int64_t step, int64_t n) {
  uint64_t large = 0;
  for (int64_t i = 0; sizeof(T) == 8 && i < n; ++i)
    large |= T(-1) < T(0) ? uint64_t(x[i * step]) + (uint64_t(1) << 52) : uint64_t(x[i * step]);
  return large >> 53 == 0;
}

// Up to kBlock elements; steps are known where the caller knows them.
template <class Op, class T>
ONNXC_INLINE void divideBlock(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
  if (!fitDoubles(x, xi, n) || !fitDoubles(y, yi, n)) {
    for (int64_t i = 0; i < n; ++i)
      to[i] = Wide<T>::out(Op::Plain::of(Wide<T>::in(x[i * xi]), Wide<T>::in(y[i * yi])));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    T a = x[i * xi], b = y[i * yi];
    to[i] = Op::of(a, b, int64_t(double(a) / double(b == 0 ? T(1) : b)));
  }
}

template <class Op, class T>
static void divideRow(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
  for (int64_t i = 0; i < n; i += kBlock, x += xi * kBlock, y += yi * kBlock, to += kBlock) {
    int64_t m = minOf(kBlock, n - i);
    if (xi == 1 && yi == 1)
      divideBlock<Op>(x, 1, y, 1, to, m);
    else if (T divisor = *y; xi == 1 && yi == 0)
      divideBlock<Op>(x, 1, &divisor, 0, to, m);
    else
      divideBlock<Op>(x, xi, y, yi, to, m);
  }
}

// Remainders of floats of at most 24 digits.
template <class Op, class T>
static void remainderRow(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
  for (int64_t first = 0; first < n; first += kBlock, x += xi * kBlock, y += yi * kBlock, to += kBlock) {
    int64_t m = minOf(kBlock, n - first);
    double a[kBlock], b[kBlock];
    for (int64_t i = 0; i < m; ++i) {
      a[i] = toF64(x[i * xi]);
      b[i] = toF64(y[i * yi]);
    }
    bool small = true;
    for (int64_t i = 0; i < m; ++i)
      small &= __builtin_fabs(a[i] / b[i]) < 0x1p29 & __builtin_fabs(b[i]) < __builtin_inf();
    if (small)
      for (int64_t i = 0; i < m; ++i)
        to[i] = fromF64<T>(Op::rest(__builtin_copysign(a[i] - __builtin_trunc(a[i] / b[i]) * b[i], a[i]), b[i]));
    else
      for (int64_t i = 0; i < m; ++i)
        to[i] = fromF64<T>(Op::of(a[i], b[i]));
  }
}

template <class T>
static int32_t div(const onnxc_args *a) {
  if constexpr (IsFloat<T>::value)
    return mapBinary<T, T, T>(a->in[0], a->in[1], a->out[0], [](T x, T y) { return fromF64<T>(toF64(x) / toF64(y)); });
  else
    return mapRows<T, T, T>(a->in[0], a->in[1], a->out[0], divideRow<Quotient, T>);
}

template <class T, class Op>
static int32_t remainders(const onnxc_args *a) {
  if constexpr (!IsFloat<T>::value)
    return mapRows<T, T, T>(a->in[0], a->in[1], a->out[0], divideRow<Remainder<Op>, T>);
  else if constexpr (sizeof(T) < 8)
    return mapRows<T, T, T>(a->in[0], a->in[1], a->out[0], remainderRow<Op, T>);
  else
    return mapBinary<T, T, T>(a->in[0], a->in[1], a->out[0], [](T x, T y) { return fromF64<T>(Op::of(toF64(x), toF64(y))); });
}

template <class T>
static int32_t mod(const onnxc_args *a) {  // attributes: fmod
  return a->attr[0].i ? remainders<T, FModOp>(a) : remainders<T, ModOp>(a);
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_PwDiv_##S(const onnxc_args *a) { return onnxc::div<T>(a); }                                                   \
  extern "C" int32_t onnxc_k_PwMod_##S(const onnxc_args *a) { return onnxc::mod<T>(a); }
ONNXC_NUMERIC(X)
#undef X
