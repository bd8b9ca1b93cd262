// PointwiseDivide.cpp: Div and Mod, broadcast as numpy does. Integers wrap and never trap: x / 0 and x mod 0 are 0. Row format:
// LibraryPointwise.def. Most quotients are taken in vectors of doubles, where the whole part of x / y is exact: for whole numbers with
// |x| < 2^53, since x / y then lies at least 1/|y| away from the next whole number and is rounded by less; for floats of 24 digits where
// the quotient is below 2^29, so that its product with y is exact as well. Smaller numbers are multiplied by a reciprocal.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Pointwise.h"

namespace onnxc {

constexpr int64_t kBlock = 64;  // elements whose sizes are looked at together: few, so that memory and quotients are waited for at once

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

// The same by whole parts of quotients, in integers of at least T's size.
struct Quotient {
  using Plain = DivOp;
  template <class W>
  static W of(W, W y, W q) {
    return y == 0 ? W(0) : q;
  }
};
template <class Op>
struct Remainder {
  using Plain = Op;
  template <class W>
  static W of(W x, W y, W q) {
    using U = __make_unsigned(W);
    W r = W(U(x) - U(q) * U(y));
    return y == 0 ? W(0) : Op::rest(r, y);
  }
};

// Between whole numbers below 2^51 and doubles: AVX2, which has no instruction for that, adds 2^52 and as much again.
constexpr double kAbove = 0x1.8p52;
ONNXC_INLINE double wholeToF64(int64_t v) {
  return onnxc_vector_bits == 256 ? bitcast<double>(v + bitcast<int64_t>(kAbove)) - kAbove : double(v);
}
ONNXC_INLINE int64_t wholePart(double v) {
  return onnxc_vector_bits == 256 ? bitcast<int64_t>(__builtin_trunc(v) + kAbove) - bitcast<int64_t>(kAbove) : int64_t(v);
}

// x / y, too large by at most 2^-42 of it and never too small: a float's reciprocal, right to 2^-23, made better once with 2^-43 added. Its
// whole part is that of x / y where that lies further from the next whole number: for whole numbers below 2^32, 1/|y| away, and floats
// whose quotient is below 2^18, 2^-24 away.
ONNXC_INLINE double reachQuotient(double x, double y, float divisor) {
  double r = 1.0f / divisor;
  return x * (r * ((2 + 0x1p-43) - y * r));
}

// Whether n elements, `step` apart, are whole numbers of so many bits and a sign.
template <class T>
ONNXC_INLINE bool fit(const T *x, int64_t step, int64_t n, int bits) {
  constexpr bool isSigned = T(-1) < T(0);
  uint64_t large = 0;
  for (int64_t i = 0; i < n; ++i)
    large |= uint64_t(x[i * step]) + (uint64_t(isSigned) << bits);
  return large >> (bits + isSigned) == 0;
}

// In W, an integer of 32 bits, of which a vector has as many as the register, not as it has doubles.
template <class Op, class W, class T>
ONNXC_INLINE void divideSmall(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
#pragma clang loop vectorize_width(16)
  for (int64_t i = 0; i < n; ++i) {
    W a = W(x[i * xi]), b = W(y[i * yi]), divisor = b == 0 ? W(1) : b;
    if constexpr (sizeof(T) < 4)  // an error below 2^-24 of a quotient below 2^16 / |b| does not reach the next whole number
      to[i] = T(Op::of(a, b, W(float(a) / float(divisor))));
    else
      to[i] = T(Op::of(a, b, W(wholePart(reachQuotient(double(a), double(divisor), float(divisor))))));
  }
}

// Up to kBlock elements; steps are known where the caller knows them.
template <class Op, class T>
ONNXC_INLINE void divideBlock(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
  if constexpr (sizeof(T) < 4 || __is_same(T, int32_t))
    return divideSmall<Op, int32_t>(x, xi, y, yi, to, n);
  else if constexpr (sizeof(T) == 4)
    return divideSmall<Op, uint32_t>(x, xi, y, yi, to, n);
  else if (fit(x, xi, n, 30) && fit(y, yi, n, 30))  // -2^31 / -1 is none of 32 bits
    return divideSmall<Op, int32_t>(x, xi, y, yi, to, n);
  bool fits = fit(x, xi, n, 51) && fit(y, yi, n, 51);
  for (int64_t i = 0; fits && i < n; ++i) {
    int64_t a = int64_t(x[i * xi]), b = int64_t(y[i * yi]);
    to[i] = T(Op::of(a, b, wholePart(wholeToF64(a) / wholeToF64(b == 0 ? 1 : b))));
  }
  for (int64_t i = 0; !fits && i < n; ++i)
    to[i] = Wide<T>::out(Op::Plain::of(Wide<T>::in(x[i * xi]), Wide<T>::in(y[i * yi])));
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

// Up to kBlock remainders of floats.
template <class Op, class T>
static void remainderBlock(const float *a, const float *b, T *to, int64_t n) {
  bool near = true, small = true;
  for (int64_t i = 0; i < n; ++i) {
    float size = __builtin_fabsf(b[i]);
    near &= (__builtin_fabsf(a[i]) < size * 0x1p18f) & (size > 0x1p-100f) & (size < 0x1p100f);
  }
#pragma clang loop vectorize_width(16)
  for (int64_t i = 0; near && i < n; ++i) {
    double x = a[i], y = b[i], rest = x - __builtin_trunc(reachQuotient(x, y, b[i])) * y;
    to[i] = fromF64<T>(Op::rest(__builtin_copysign(rest, x), y));
  }
  for (int64_t i = 0; !near && i < n; ++i)
    small &= __builtin_fabs(double(a[i]) / b[i]) < 0x1p29 & __builtin_fabsf(b[i]) < __builtin_inff();
  for (int64_t i = 0; !near && i < n; ++i) {
    double x = a[i], y = b[i];
    to[i] = fromF64<T>(small ? Op::rest(__builtin_copysign(x - __builtin_trunc(x / y) * y, x), y) : Op::of(x, y));
  }
}

// Remainders of floats of at most 24 digits.
template <class Op, class T>
static void remainderRow(const T *x, int64_t xi, const T *y, int64_t yi, T *to, int64_t n) {
  for (int64_t first = 0; first < n; first += kBlock, x += xi * kBlock, y += yi * kBlock, to += kBlock) {
    int64_t m = minOf(kBlock, n - first);
    float a[kBlock], b[kBlock];
    for (int64_t i = 0; i < m; ++i) {
      a[i] = float(toF64(x[i * xi]));
      b[i] = float(toF64(y[i * yi]));
    }
    remainderBlock<Op>(a, b, to, m);
  }
}

template <class T>
static int32_t div(const onnxc_args *a) {
  if constexpr (IsFloat<T>::value)
    return mapBinary<T, T, T>(a, a->in[0], a->in[1], a->out[0], [](T x, T y) { return fromF64<T>(toF64(x) / toF64(y)); });
  else
    return mapRows<T, T, T>(a, a->in[0], a->in[1], a->out[0], divideRow<Quotient, T>);
}

template <class T, class Op>
static int32_t remainders(const onnxc_args *a) {
  if constexpr (!IsFloat<T>::value)
    return mapRows<T, T, T>(a, a->in[0], a->in[1], a->out[0], divideRow<Remainder<Op>, T>);
  else if constexpr (sizeof(T) < 8)
    return mapRows<T, T, T>(a, a->in[0], a->in[1], a->out[0], remainderRow<Op, T>);
  else
    return mapBinary<T, T, T>(a, a->in[0], a->in[1], a->out[0], [](T x, T y) { return fromF64<T>(Op::of(toF64(x), toF64(y))); });
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
