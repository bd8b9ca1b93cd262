// VectorMath.h: functions on scalars or vectors of f32, some of f64 too, written as branch-free code into a kernel. Pointwise.cpp and the
// row programs use them; test/kernels checks them against doubles over all exponents.
//
// Bounds in ulp of the exact result where the target has FMA: exp 2, log 3, tanh 3, sigmoid 5, erf 3, expm1 3, sin and cos 2, tan 4,
// asin, acos and atan 3; sinh 4, cosh 3, asinh, acosh and atanh 4; softplus and pow within 2e-6
// relative, gelu within 1e-6 down to -5 and 5e-6 below; without FMA sigmoid within 5e-6 relative. NaN in, NaN out; overflow gives infinity.
// Of f64: exp 1.1, log 1, sin and cos 2.5, sigmoid, tanh and expm1 3, softplus 4.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// A float value (or a vector of them) with operators, so that formulas read as such.
struct Num {
  Code *c = nullptr;
  mlir::Value v;

  Num of(double x) const { return {c, c->real(x, v.getType())}; }
};
Num operator+(Num l, Num r);
Num operator-(Num l, Num r);
Num operator*(Num l, Num r);
Num operator/(Num l, Num r);
inline Num operator+(Num l, double r) { return l + l.of(r); }
inline Num operator-(Num l, double r) { return l - l.of(r); }
inline Num operator*(Num l, double r) { return l * l.of(r); }
inline Num operator/(Num l, double r) { return l / l.of(r); }
inline Num operator-(double l, Num r) { return r.of(l) - r; }
inline Num operator/(double l, Num r) { return r.of(l) / r; }
Num operator-(Num x);
// l * r + to, fused where the target has it.
Num fma(Num l, Num r, Num to);
// The polynomial c0 + c1 x + c2 x^2 …
Num horner(Num x, llvm::ArrayRef<double> coefficients);

// Conditions, i1 or vectors of it. Ordered: false where an operand is NaN.
mlir::Value less(Num l, Num r);
mlir::Value equal(Num l, Num r);
mlir::Value isNan(Num x);
// All bits, which are NaN, where either is NaN, or else 0.
Num eitherNan(Num l, Num r);
Num select(mlir::Value condition, Num yes, Num no);
// As one instruction: the second operand where either is NaN; on levels whose instruction gives NaN then, that.
Num maxSecond(Num l, Num r);
Num minSecond(Num l, Num r);
// NaN where either is.
Num larger(Num l, Num r);
Num smaller(Num l, Num r);
// Whether these are one instruction.
bool hasExtremes(Num l);
bool isDouble(Num x);

Num abs(Num x);
Num sqrt(Num x);
Num floor(Num x);
Num ceil(Num x);
Num roundEven(Num x);
Num copySign(Num x, Num sign);

Num exp(Num x);
// For x to 88 (of f64 709); 0 below -86.99 (-708.05), before it is subnormal: Intel's processors take 100 cycles for a product of such a
// number.
Num expOrZero(Num x);
Num log(Num x);
// log(1 + x) for x in [0, 1].
Num log1p(Num x);
// e^x - 1 for x <= 0.
Num expm1Negative(Num x);
// Of f32: a zero of its sign for a number that is not normal.
Num withoutSubnormals(Num x);
Num sigmoid(Num x);
Num swish(Num x, Num gate);
Num tanh(Num x);
Num sinh(Num x);
Num cosh(Num x);
Num asinh(Num x);
Num acosh(Num x);
Num atanh(Num x);
Num erf(Num x);
Num softplus(Num x);
// x Phi(x), and its tanh approximation.
Num gelu(Num x);
Num geluTanh(Num x);
Num mish(Num x);
Num pow(Num x, Num y);

// VectorTrig.cpp
Num sin(Num x);
Num cos(Num x);
Num tan(Num x);
Num asin(Num x);
Num acos(Num x);
Num atan(Num x);

}  // namespace onnxc
