// PointwiseUnary.cpp: operators of one tensor, element by element, computed in double; f32 Exp, Sigmoid, Swish and Tanh by Math.h, which
// vectorises. Row format: LibraryPointwise.def.
#include "runtime_stub/kernels/Math.h"
#include "runtime_stub/kernels/Pointwise.h"

extern "C" {
double acos(double) noexcept;
double acosh(double) noexcept;
double asin(double) noexcept;
double asinh(double) noexcept;
double atan(double) noexcept;
double atanh(double) noexcept;
double cosh(double) noexcept;
double erf(double) noexcept;
double expm1(double) noexcept;
double log1p(double) noexcept;
double sinh(double) noexcept;
double tan(double) noexcept;
}

namespace onnxc {
namespace {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }
double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }
double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

}  // namespace
}  // namespace onnxc

// Floats: X(name, number of attributes, expression of x, p = attr[0], q = attr[1])
#define ONNXC_FLOAT_UNARY(X)                                                                                                               \
  X(Acos, 0, acos(x))                                                                                                                      \
  X(Acosh, 0, acosh(x))                                                                                                                    \
  X(Asin, 0, asin(x))                                                                                                                      \
  X(Asinh, 0, asinh(x))                                                                                                                    \
  X(Atan, 0, atan(x))                                                                                                                      \
  X(Atanh, 0, atanh(x))                                                                                                                    \
  X(Ceil, 0, ceil(x))                                                                                                                      \
  X(Celu, 1, x > 0 ? x : p * expm1(x / p))                                                                                                 \
  X(Cos, 0, cos(x))                                                                                                                        \
  X(Cosh, 0, cosh(x))                                                                                                                      \
  X(Elu, 1, x > 0 ? x : p * expm1(x))                                                                                                      \
  X(Floor, 0, floor(x))                                                                                                                    \
  X(HardSigmoid, 2, clamp01(p *x + q))                                                                                                     \
  X(HardSwish, 0, x *clamp01(x / 6 + 0.5))                                                                                                 \
  X(Log, 0, log(x))                                                                                                                        \
  X(Mish, 0, x *tanh(softplus(x)))                                                                                                         \
  X(Reciprocal, 0, 1 / x)                                                                                                                  \
  X(Round, 0, nearbyint(x))                                                                                                                \
  X(Selu, 2, x > 0 ? q * x : q * p * expm1(x))                                                                                             \
  X(Sin, 0, sin(x))                                                                                                                        \
  X(Sinh, 0, sinh(x))                                                                                                                      \
  X(Softplus, 0, softplus(x))                                                                                                              \
  X(Softsign, 0, x / (1 + fabs(x)))                                                                                                        \
  X(Sqrt, 0, sqrt(x)) X(Tan, 0, tan(x)) X(ThresholdedRelu, 1, x > p ? x : 0) X(LeakyRelu, 1, x < 0 ? p * x : x)

#define X(NAME, ATTRIBUTES, EXPRESSION)                                                                                                    \
  namespace onnxc {                                                                                                                        \
  template <class T>                                                                                                                       \
  static int32_t pw##NAME(const onnxc_args *a) {                                                                                           \
    double p = ATTRIBUTES > 0 ? a->attr[0].f : 0, q = ATTRIBUTES > 1 ? a->attr[1].f : 0;                                                   \
    (void)p, (void)q;                                                                                                                      \
    return mapUnary<T, T>(a, [=](T v) {                                                                                                    \
      double x = toF64(v);                                                                                                                 \
      return fromF64<T>(EXPRESSION);                                                                                                       \
    });                                                                                                                                    \
  }                                                                                                                                        \
  }                                                                                                                                        \
  extern "C" int32_t onnxc_k_Pw##NAME##_f32(const onnxc_args *a) { return onnxc::pw##NAME<float>(a); }                                     \
  extern "C" int32_t onnxc_k_Pw##NAME##_f64(const onnxc_args *a) { return onnxc::pw##NAME<double>(a); }                                    \
  extern "C" int32_t onnxc_k_Pw##NAME##_f16(const onnxc_args *a) { return onnxc::pw##NAME<onnxc::f16>(a); }                                \
  extern "C" int32_t onnxc_k_Pw##NAME##_bf16(const onnxc_args *a) { return onnxc::pw##NAME<onnxc::bf16>(a); }
ONNXC_FLOAT_UNARY(X)
#undef X

// As above, with the expression of an f32 x in f32.
#define ONNXC_FAST_UNARY(X)                                                                                                                \
  X(Exp, 0, exp(x), expF32(x))                                                                                                             \
  X(Sigmoid, 0, sigmoid(x), sigmoidF32(x))                                                                                                 \
  X(Swish, 1, x *sigmoid(p *x), x *sigmoidF32(float(p) * x))                                                                               \
  X(Tanh, 0, tanh(x), tanhF32(x))

#define X(NAME, ATTRIBUTES, EXPRESSION, EXPRESSION_F32)                                                                                    \
  namespace onnxc {                                                                                                                        \
  template <class T>                                                                                                                       \
  static int32_t pw##NAME(const onnxc_args *a) {                                                                                           \
    double p = ATTRIBUTES > 0 ? a->attr[0].f : 0;                                                                                          \
    (void)p;                                                                                                                               \
    return mapUnary<T, T>(a, [=](T v) {                                                                                                    \
      double x = toF64(v);                                                                                                                 \
      return fromF64<T>(EXPRESSION);                                                                                                       \
    });                                                                                                                                    \
  }                                                                                                                                        \
  }                                                                                                                                        \
  extern "C" int32_t onnxc_k_Pw##NAME##_f32(const onnxc_args *a) {                                                                         \
    using namespace onnxc;                                                                                                                 \
    double p = ATTRIBUTES > 0 ? a->attr[0].f : 0;                                                                                          \
    (void)p;                                                                                                                               \
    return mapUnary<float, float>(a, [=](float x) { return EXPRESSION_F32; });                                                             \
  }                                                                                                                                        \
  extern "C" int32_t onnxc_k_Pw##NAME##_f64(const onnxc_args *a) { return onnxc::pw##NAME<double>(a); }                                    \
  extern "C" int32_t onnxc_k_Pw##NAME##_f16(const onnxc_args *a) { return onnxc::pw##NAME<onnxc::f16>(a); }                                \
  extern "C" int32_t onnxc_k_Pw##NAME##_bf16(const onnxc_args *a) { return onnxc::pw##NAME<onnxc::bf16>(a); }
ONNXC_FAST_UNARY(X)
#undef X

namespace onnxc {

template <class T>
static int32_t gelu(const onnxc_args *a) {  // attributes: approximate
  bool approximate = startsWith(a->attr[0], 't');
  return mapUnary<T, T>(a, [=](T v) {
    double x = toF64(v);
    double y =
        approximate ? 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) : 0.5 * x * (1 + erf(x * 0.7071067811865476));
    return fromF64<T>(y);
  });
}

template <class T>
static int32_t isInf(const onnxc_args *a) {  // attributes: detect_negative, detect_positive
  bool negative = a->attr[0].i, positive = a->attr[1].i;
  return mapUnary<T, uint8_t>(a, [=](T v) {
    double x = toF64(v);
    return uint8_t((x == __builtin_inf() && positive) || (x == -__builtin_inf() && negative));
  });
}

template <class T>
static int32_t isNaN(const onnxc_args *a) {
  return mapUnary<T, uint8_t>(a, [](T v) { return uint8_t(toF64(v) != toF64(v)); });
}

// Operators of integers and floats; `C` is what an element is computed in.
struct AbsOp {
  static double of(double x) { return fabs(x); }
  static int64_t of(int64_t x) { return x < 0 ? int64_t(uint64_t(0) - uint64_t(x)) : x; }
  static uint64_t of(uint64_t x) { return x; }
};
struct NegOp {
  static double of(double x) { return -x; }
  static int64_t of(int64_t x) { return int64_t(uint64_t(0) - uint64_t(x)); }
  static uint64_t of(uint64_t x) { return uint64_t(0) - x; }
};
struct SignOp {
  template <class C>
  static C of(C x) {
    return x > C(0) ? C(1) : x < C(0) ? C(-1) : x;
  }
};
struct ReluOp {
  template <class C>
  static C of(C x) {
    return x < C(0) ? C(0) : x;
  }
};
struct ErfOp {
  template <class C>
  static C of(C x) {
    return C(erf(double(x)));
  }
};
struct BitwiseNotOp {
  static double of(double x) { return x; }
  static int64_t of(int64_t x) { return ~x; }
  static uint64_t of(uint64_t x) { return ~x; }
};

template <class T, class Op>
static int32_t unary(const onnxc_args *a) {
  return mapUnary<T, T>(a, [](T v) { return Wide<T>::out(Op::of(Wide<T>::in(v))); });
}

template <class T>
static int32_t shrink(const onnxc_args *a) {  // attributes: bias, lambd
  double bias = a->attr[0].f, lambd = a->attr[1].f;
  return mapUnary<T, T>(a, [=](T v) {
    double x = toF64(v);
    return fromF64<T>(x < -lambd ? x + bias : x > lambd ? x - bias : 0);
  });
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_PwGelu_##S(const onnxc_args *a) { return onnxc::gelu<T>(a); }                                                 \
  extern "C" int32_t onnxc_k_PwIsInf_##S(const onnxc_args *a) { return onnxc::isInf<T>(a); }                                               \
  extern "C" int32_t onnxc_k_PwIsNaN_##S(const onnxc_args *a) { return onnxc::isNaN<T>(a); }
ONNXC_FLOATS(X)
ONNXC_F8(X)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_PwAbs_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::AbsOp>(a); }                                   \
  extern "C" int32_t onnxc_k_PwNeg_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::NegOp>(a); }                                   \
  extern "C" int32_t onnxc_k_PwSign_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::SignOp>(a); }                                 \
  extern "C" int32_t onnxc_k_PwRelu_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::ReluOp>(a); }                                 \
  extern "C" int32_t onnxc_k_PwErf_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::ErfOp>(a); }                                   \
  extern "C" int32_t onnxc_k_PwShrink_##S(const onnxc_args *a) { return onnxc::shrink<T>(a); }
ONNXC_NUMERIC(X)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_PwBitwiseNot_##S(const onnxc_args *a) { return onnxc::unary<T, onnxc::BitwiseNotOp>(a); }
ONNXC_INTS(X)
#undef X
extern "C" int32_t onnxc_k_PwNot(const onnxc_args *a) {
  return onnxc::mapUnary<uint8_t, uint8_t>(a, [](uint8_t v) { return uint8_t(!v); });
}
