// VectorMath.cpp: the formulas. Coefficients are minimax fits or series; each states where it holds.
#include "codegen/cpu/VectorMath.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

Num operator+(Num l, Num r) { return {l.c, arith::AddFOp::create(l.c->b, l.c->loc, l.v, r.v)}; }
Num operator-(Num l, Num r) { return {l.c, arith::SubFOp::create(l.c->b, l.c->loc, l.v, r.v)}; }
Num operator*(Num l, Num r) { return {l.c, arith::MulFOp::create(l.c->b, l.c->loc, l.v, r.v)}; }
Num operator/(Num l, Num r) { return {l.c, arith::DivFOp::create(l.c->b, l.c->loc, l.v, r.v)}; }
Num operator-(Num x) { return {x.c, arith::NegFOp::create(x.c->b, x.c->loc, x.v)}; }
Num fma(Num l, Num r, Num to) { return {l.c, l.c->fma(l.v, r.v, to.v)}; }

Num horner(Num x, ArrayRef<double> coefficients) {
  Num p = x.of(coefficients.back());
  for (double k : llvm::reverse(coefficients.drop_back()))
    p = fma(p, x, x.of(k));
  return p;
}

static Value compare(arith::CmpFPredicate predicate, Num l, Num r) { return arith::CmpFOp::create(l.c->b, l.c->loc, predicate, l.v, r.v); }
Value less(Num l, Num r) { return compare(arith::CmpFPredicate::OLT, l, r); }
Value equal(Num l, Num r) { return compare(arith::CmpFPredicate::OEQ, l, r); }
Value isNan(Num x) { return compare(arith::CmpFPredicate::UNO, x, x); }
Num select(Value condition, Num yes, Num no) { return {yes.c, arith::SelectOp::create(yes.c->b, yes.c->loc, condition, yes.v, no.v)}; }

bool hasExtremes(Num l) {
  Type type = getElementTypeOrSelf(l.v.getType());
  return l.c->extremesGiveNan && (type.isF32() || type.isF64());
}
bool isDouble(Num x) { return getElementTypeOrSelf(x.v.getType()).isF64(); }
static bool isConstant(Num x) { return matchPattern(x.v, m_Constant()); }
Num larger(Num l, Num r) {
  if (hasExtremes(l))
    return {l.c, LLVM::MaximumOp::create(l.c->b, l.c->loc, l.v, r.v)};
  return select(arith::OrIOp::create(l.c->b, l.c->loc, less(r, l), isNan(l)), l, r);
}
Num smaller(Num l, Num r) {
  if (hasExtremes(l))
    return {l.c, LLVM::MinimumOp::create(l.c->b, l.c->loc, l.v, r.v)};
  return select(arith::OrIOp::create(l.c->b, l.c->loc, less(l, r), isNan(l)), l, r);
}
Num maxSecond(Num l, Num r) {
  return hasExtremes(l) && isConstant(l) ? larger(l, r) : select(compare(arith::CmpFPredicate::OGT, l, r), l, r);
}
Num minSecond(Num l, Num r) { return hasExtremes(l) && isConstant(l) ? smaller(l, r) : select(less(l, r), l, r); }

Num abs(Num x) { return {x.c, LLVM::FAbsOp::create(x.c->b, x.c->loc, x.v)}; }
Num sqrt(Num x) { return {x.c, LLVM::SqrtOp::create(x.c->b, x.c->loc, x.v)}; }
Num floor(Num x) { return {x.c, LLVM::FFloorOp::create(x.c->b, x.c->loc, x.v)}; }
Num ceil(Num x) { return {x.c, LLVM::FCeilOp::create(x.c->b, x.c->loc, x.v)}; }
Num roundEven(Num x) { return {x.c, LLVM::RintOp::create(x.c->b, x.c->loc, x.v)}; }
Num copySign(Num x, Num sign) { return {x.c, LLVM::CopySignOp::create(x.c->b, x.c->loc, x.v, sign.v)}; }

// Integers of the same number of bits and lanes as `x`.
static Type bitsType(Num x) {
  Type bits = x.c->b.getIntegerType(getElementTypeOrSelf(x.v.getType()).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(x.v.getType()))
    return vector.clone(bits);
  return bits;
}
static Value integer(Num like, int64_t v) { return like.c->integer(v, bitsType(like)); }
static Value toBits(Num x) { return arith::BitcastOp::create(x.c->b, x.c->loc, bitsType(x), x.v); }
static Num fromBits(Num like, Value bits) { return {like.c, arith::BitcastOp::create(like.c->b, like.c->loc, like.v.getType(), bits)}; }

Num eitherNan(Num l, Num r) {
  return fromBits(l, arith::ExtSIOp::create(l.c->b, l.c->loc, bitsType(l), compare(arith::CmpFPredicate::UNO, l, r)));
}

// 2^k for integers `k` within the exponent's range.
static Num powerOfTwo(Num like, Value k) {
  bool single = getElementTypeOrSelf(like.v.getType()).isF32();
  Code &c = *like.c;
  return fromBits(like, arith::ShLIOp::create(c.b, c.loc, c.add(k, integer(like, single ? 127 : 1023)), integer(like, single ? 23 : 52)));
}

// p 2^n as one instruction, which makes subnormals and infinity too, or 0 where `isZero`, where the level has it; else nothing.
static std::optional<Num> scaled(Num p, Num n, Value isZero) {
  Code &c = *p.c;
  auto type = dyn_cast<VectorType>(p.v.getType());
  if (c.vectorBits < 512 || !type || type.getDimSize(0) != 16)
    return std::nullopt;
  Type bits = c.b.getI16Type();
  Value mask = arith::XOrIOp::create(c.b, c.loc, LLVM::BitcastOp::create(c.b, c.loc, bits, isZero), c.integer(-1, bits));
  auto name = c.b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512");
  Value rounding = c.integer(4, c.i32);
  return Num{&c, LLVM::CallIntrinsicOp::create(c.b, c.loc, type, name, ValueRange{p.v, n.v, p.of(0).v, mask, rounding}).getResult(0)};
}

namespace {
// e^x = 2^n p, p = e^r with |r| <= ln(2)/2; `exponent`: the bits of n + bias where an exponent has them.
struct Power {
  Num n, p;
  Value exponent;
};
enum class Reduction { Whole, Short };  // Short: n ln(2) in one step, which loses 2e-9 n of e^x where products are not rounded
}  // namespace

// The polynomial is a minimax fit of 2e-9, `times` e^r. Adding 1.5 2^23 leaves n in the low bits, of which the shift keeps what makes an
// exponent.
static Power powerOf(Num x, int64_t bias, Reduction reduction, double times = 1) {
  Code &c = *x.c;
  double magic = 12582912 + double(bias);
  Num shifted = fma(x, x.of(1.44269504088896341), x.of(magic)), n = shifted - magic;
  bool mayRound = c.vectorBits <= 128;  // x86-64-v2 and below
  Num r = reduction == Reduction::Short && !mayRound ? fma(n, n.of(-0.69314718055994531), x)
                                                     : fma(n, n.of(-1.42860682030941723e-6), fma(n, n.of(-0.693145751953125), x));
  SmallVector<double> fit{
      1, 1.0000000363396058, 0.49999992076176153, 0.1666642009533914, 0.04166822605030219, 0.008374822090776626, 0.001383683770778305};
  for (double &k : fit)
    k *= times;
  return {n, horner(r, fit), arith::ShLIOp::create(c.b, c.loc, toBits(shifted), integer(x, 23))};
}

// 2^up e^x, where it is normal.
static Num expTimesPower(Num x, int64_t up) {
  Power power = powerOf(x, 127 + up, Reduction::Short);
  return power.p * fromBits(x, power.exponent);
}

// 2^n is two factors where no instruction has it, the second of which makes subnormals and infinity. What is less than half of the least
// subnormal, as the exponential of a mask, is 0 without a product that underflows, which Intel's processors take 100 cycles for. With
// `halves` 1, half of that, which overflows later.
static Num expParts(Num x, int halves) {
  Code &c = *x.c;
  Num clamped = maxSecond(x.of(-104), minSecond(x.of(89 + halves), x));  // NaN stays
  Value isZero = less(x, x.of(-104));
  auto [n, p, bits] = powerOf(clamped, 0, Reduction::Whole);
  if (std::optional<Num> y = scaled(p, halves ? n - halves : n, isZero))
    return *y;
  Value low = less(clamped, x.of(-86));
  int64_t half = 126 - halves;
  Value bias = arith::SelectOp::create(c.b, c.loc, low, integer(x, (half + 64) << 23), integer(x, half << 23));
  return p * fromBits(x, c.add(bits, bias)) * select(isZero, x.of(0), select(low, x.of(0x1p-63), x.of(2)));
}

namespace {
// Of doubles, e^x = 2^n (1 + less1), less1 = e^r - 1 with |r| <= ln(2)/2; `exponent`: the bits of n + bias where an exponent has them.
struct WidePower {
  Num less1;
  Value exponent;
};
}  // namespace

// The polynomial is a minimax fit of 1.3e-17. n times the first part of ln(2) is exact.
static WidePower widePowerOf(Num x, int64_t bias) {
  double magic = 0x1.8p52 + double(bias);
  Num shifted = fma(x, x.of(1.44269504088896341), x.of(magic)), n = shifted - magic;
  Num r = fma(n, n.of(-1.90821492927058770e-10), fma(n, n.of(-0.693147180369123816), x));
  Num p = horner(r, {0.5000000000000001, 0.1666666666666666746, 0.04166666666662399152, 0.008333333333330051346, 0.001388888891728179331,
                     0.0001984126986310596875, 2.480152119021772765e-05, 2.755726837868419287e-06, 2.762013871973399557e-07,
                     2.510042415700506679e-08});
  return {fma(r * r, p, r), arith::ShLIOp::create(x.c->b, x.c->loc, toBits(shifted), integer(x, 52))};
}

// As expParts.
static Num expWide(Num x) {
  Code &c = *x.c;
  Num clamped = maxSecond(x.of(-746), minSecond(x.of(710), x));  // NaN stays
  WidePower power = widePowerOf(clamped, 0);
  Value low = less(clamped, x.of(-700));
  Value bias = arith::SelectOp::create(c.b, c.loc, low, integer(x, int64_t(1150) << 52), integer(x, int64_t(1022) << 52));
  Num factor = select(less(x, x.of(-746)), x.of(0), select(low, x.of(0x1p-127), x.of(2)));
  return (power.less1 + 1) * fromBits(x, c.add(power.exponent, bias)) * factor;
}

Num exp(Num x) { return isDouble(x) ? expWide(x) : expParts(x, 0); }

// 2 e^r 2^(n - 1): n = -126 (of doubles -1022), the least above the limit, has the exponent of 0, so that nothing becomes subnormal.
Num expOrZero(Num x) {
  if (isDouble(x)) {
    WidePower wide = widePowerOf(maxSecond(x.of(-708.6), x), 1022);
    return fma(wide.less1, x.of(2), x.of(2)) * fromBits(x, wide.exponent);
  }
  Power power = powerOf(maxSecond(x.of(-87.3), x), 126, Reduction::Short, 2);  // NaN stays
  return power.p * fromBits(x, power.exponent);
}

namespace {
// x = mantissa * 2^exponent with the mantissa in [sqrt(1/2), sqrt(2)), for normal x > 0.
struct Split {
  Num mantissa, exponent;
};
}  // namespace
static Split split(Num x) {
  Code &c = *x.c;
  bool single = getElementTypeOrSelf(x.v.getType()).isF32();
  int64_t shift = single ? 23 : 52, root = single ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
  Value bits = toBits(x);
  Value k = arith::ShRSIOp::create(c.b, c.loc, c.sub(bits, integer(x, root)), integer(x, shift));
  Value mantissa = c.sub(bits, arith::ShLIOp::create(c.b, c.loc, k, integer(x, shift)));
  if (!single)  // AVX2 converts no integers of 64 bits
    return {fromBits(x, mantissa), fromBits(x, c.add(k, integer(x, 0x4338000000000000))) - 0x1.8p52};
  return {fromBits(x, mantissa), {x.c, arith::SIToFPOp::create(c.b, c.loc, x.v.getType(), k)}};
}

// 2 atanh(s)/s = 2 + 2 s^2/3 + 2 s^4/5 …, `terms` of them.
static Num atanhSeries(Num s2, int terms) {
  SmallVector<double> coefficients;
  for (int i = 0; i < terms; ++i)
    coefficients.push_back(2.0 / (2 * i + 1));
  return horner(s2, coefficients);
}

// k ln 2 + 2 atanh(f / (2 + f)) of x > 0. f - s (f - s2 R) with R the series without its first term keeps the bits of f.
static Num logFinite(Num k, Num f) {
  Num s = f / (f + 2), s2 = s * s;
  if (isDouble(f)) {  // of fdlibm
    Num r = s2 * horner(s2, {0.6666666666666735130, 0.3999999999940941908, 0.2857142874366239149, 0.2222219843214978396,
                             0.1818357216161805012, 0.1531383769920937332, 0.1479819860511658591});
    Num h = f * f * 0.5;
    return k * 0.693147180369123816 - ((h - fma(k, k.of(1.90821492927058770e-10), s * (h + r))) - f);
  }
  Num tail = horner(s2, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9}) * s2, y = fma(s, tail - f, f);
  return fma(k, k.of(0.693145751953125), fma(k, k.of(1.42860682030941723e-6), y));
}

// Subnormals are scaled up first.
Num log(Num x) {
  bool wide = isDouble(x);
  Value tiny = less(x, x.of(wide ? 0x1p-1022 : 0x1p-126));
  Split parts = split(select(tiny, x * (wide ? 0x1p54 : 0x1p24), x));
  Num k = select(tiny, parts.exponent - (wide ? 54 : 24), parts.exponent), result = logFinite(k, parts.mantissa - 1);
  result = select(less(x, x.of(INFINITY)), result, x);  // infinity and NaN
  result = select(less(x, x.of(0)), x.of(NAN), result);
  return select(equal(x, x.of(0)), x.of(-INFINITY), result);
}

Num log1p(Num x) {
  Num s = x / (x + 2);
  return s * atanhSeries(s * s, isDouble(x) ? 17 : 8);
}

// e^x - 1 = 2^n - 1 + 2^n (e^r - 1) for |x| < 88, which keeps its bits near 0; what n ln(2) loses at large x is 2e-9 n of e^x. The low
// bits of `shifted` are n with an exponent's bias.
static Num expm1Bounded(Num x) {
  Code &c = *x.c;
  if (isDouble(x)) {
    WidePower wide = widePowerOf(x, 1023);
    Num whole = fromBits(x, wide.exponent);
    return fma(whole, wide.less1, whole - 1);
  }
  constexpr double magic = 12582912 + 127;
  Num shifted = fma(x, x.of(1.44269504088896341), x.of(magic)), n = shifted - magic, r = fma(n, n.of(-0.69314718055994531), x);
  Num power = fromBits(x, arith::ShLIOp::create(c.b, c.loc, toBits(shifted), integer(x, 23)));
  Num p = horner(r, {0.49999998143214874, 0.16666543140349527, 0.041667201945076271, 0.0083665854120696497, 0.00138825089696486});
  return fma(power, fma(r * r, p, r), power - 1);
}

Num expm1Negative(Num x) { return expm1Bounded(maxSecond(x.of(isDouble(x) ? -50 : -26), x)); }

// t / (t + t e^-x) with t = 2^-24 (of doubles 2^-53): where the result is subnormal t e^-x is finite still, and where it is 1 not yet
// subnormal.
Num sigmoid(Num x) {
  if (isDouble(x)) {
    WidePower wide = widePowerOf(-maxSecond(x.of(-746), minSecond(x.of(60), x)), 1023 - 53);
    Num t = x.of(0x1p-53);
    return t / (fma(fromBits(x, wide.exponent), wide.less1, fromBits(x, wide.exponent)) + t);
  }
  Num t = x.of(0x1p-24), e = expTimesPower(-maxSecond(x.of(-104), minSecond(x.of(30), x)), -24);  // NaN stays
  return t / (e + t);
}

Num withoutSubnormals(Num x) {
  Value sign = arith::AndIOp::create(x.c->b, x.c->loc, toBits(x), integer(x, int64_t(1) << 31));
  return select(less(abs(x), x.of(0x1p-126)), fromBits(x, sign), x);
}

// x / (1 + e^-gate), and 0 from where e^-gate is infinite, from 88.376 on, so that no number of that size becomes subnormal.
Num swish(Num x, Num gate) {
  if (isDouble(x))
    return x * sigmoid(gate);
  return x / (expTimesPower(-maxSecond(x.of(-89), minSecond(x.of(30), gate)), 0) + 1);  // NaN stays
}

// (e^2a - 1) / (e^2a + 1)
Num tanh(Num x) {
  Num a = minSecond(x.of(isDouble(x) ? 22 : 9.1), abs(x)), e = expm1Bounded(a * 2);
  return copySign(e / (e + 2), x);
}

// (e^a - e^-a) / 2, and a series where that cancels.
Num sinh(Num x) {
  Num a = abs(x), s = a * a, h = expParts(a, 1), far = h - 0.25 / h;
  Num near = fma(a * s, horner(s, {1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880}), a);
  return copySign(select(less(a, a.of(1)), near, far), x);
}

Num cosh(Num x) {
  Num h = expParts(abs(x), 1);
  return h + 0.25 / h;
}

// log(1 + u); what the sum rounds away is put back. Where u is large, that is nothing.
static Num logOnePlus(Num u) {
  Num w = u + 1, lost = (u - (w - 1)) / w;
  return log(w) + select(less(w, w.of(0x1p24)), lost, w.of(0));
}
// log(1 + u), or where the square of `a` is too large for u, log(2 a).
static Num logOfSum(Num u, Num a) {
  Value large = less(a.of(0x1p30), a);
  return logOnePlus(select(large, a, u)) + select(large, a.of(0.69314718055994531), a.of(0));
}

// log(a + sqrt(a^2 + 1))
Num asinh(Num x) {
  Num a = abs(x), s = a * a;
  return copySign(logOfSum(fma(a, a / (sqrt(s + 1) + 1), a), a), x);
}

Num acosh(Num x) {
  Num t = x - 1, y = logOfSum(t + sqrt(t * (t + 2)), x);
  return select(less(x, x.of(1)), x.of(NAN), y);
}

// log((1 + a) / (1 - a)) / 2
Num atanh(Num x) {
  Num a = abs(x);
  return copySign(logOnePlus(a * 2 / (1.0 - a)) * 0.5, x);
}

// Odd below 0.8; above, a polynomial is the logarithm of erfc.
Num erf(Num x) {
  Num a = minSecond(x.of(4), abs(x)), s = a * a;
  Num near = a * horner(s, {1.1283791637008886, -0.37612601388656297, 0.11283112813627863, -0.026820806731812485, 0.0050851304445314813,
                            -0.00065352360586709611});
  Num l = horner(a, {-6.5983881578294111e-05, -1.128228881539004, -0.63622201344513973, -0.10479865110826363, 0.022656157084733359,
                     -0.0031536057008337602, 0.00020745355159443280});
  return copySign(select(less(a, a.of(0.8)), near, -expm1Bounded(l)), x);
}

Num softplus(Num x) { return maxSecond(x.of(0), x) + log1p(exp(-abs(x))); }

// x Phi(x), where Phi(-a) = e^(-a^2/2) t P(t), t = 1 / (1 + 0.3 a / sqrt(2)): a fit of erfcx(a / sqrt(2)) / 2 to 1e-8 for a to 14.4. 0 from
// -13.1463 on, beyond which the result would be subnormal; Phi is so sooner, so the power is cut instead.
Num gelu(Num x) {
  Num a = minSecond(x.of(14.3), abs(x));
  Num e = select(less(a.of(13.1463), a), a.of(0), expTimesPower(a * a * -0.5, 0));
  Num t = 1.0 / fma(a, a.of(0.3 * 0.70710678118654752), a.of(1));
  Num p = t * horner(t, {0.084593876567441, 0.08535944073823606, 0.07415833169737432, 0.10750153634398593, -0.0474055574935978,
                         0.2739642662080206, -0.25622179094756165, 0.2428183251967796, -0.06476843811341883});
  return select(less(x, x.of(0)), x * e * p, x * (1.0 - e * p));
}

Num geluTanh(Num x) { return swish(x, x * fma(x * x, x.of(2 * 0.7978845608028654 * 0.044715), x.of(2 * 0.7978845608028654))); }

// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2)
Num mish(Num x) {
  Num e = expOrZero(minSecond(x.of(20), x)), n = e * (e + 2);
  return x * (n / (n + 2));
}

// In doubles: the product with the exponent would magnify what a float drops.
static Num powPositive(Num x, Num y) {
  Code &c = *x.c;
  Type wide = x.v.getType(), f64 = c.b.getF64Type();
  wide = isa<VectorType>(wide) ? Type(cast<VectorType>(wide).clone(f64)) : f64;
  auto extend = [&](Num n) { return Num{&c, arith::ExtFOp::create(c.b, c.loc, wide, n.v)}; };
  Split parts = split(extend(x));
  Num s = (parts.mantissa - 1) / (parts.mantissa + 1);
  Num l = fma(parts.exponent, s.of(0.69314718055994531), s * atanhSeries(s * s, 7));
  Num z = extend(y) * l, bounded = maxSecond(z.of(-160), minSecond(z.of(160), z));
  Num n = roundEven(bounded * 1.44269504088896341), r = fma(n, n.of(-0.69314718055994531), bounded);
  Num p = horner(r, {1, 1, 0.5, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320});
  Value k = arith::FPToSIOp::create(c.b, c.loc, bitsType(n), select(isNan(n), n.of(0), n).v);
  Num result = p * powerOfTwo(n, k);
  return {&c, arith::TruncFOp::create(c.b, c.loc, x.v.getType(), result.v)};
}

// C's pow: 1^y = x^0 = 1, a negative base has integer powers only.
Num pow(Num x, Num y) {
  Code &c = *x.c;
  Num a = abs(x), result = powPositive(a, y), inf = x.of(INFINITY), zero = x.of(0), one = x.of(1);
  Value negative = less(y, zero), odd = equal(abs(y - roundEven(y * 0.5) * 2), one), whole = equal(y, floor(y));
  result = select(equal(a, zero), select(negative, inf, zero), result);
  result = select(equal(a, inf), select(negative, zero, inf), result);
  Num up = select(less(a, one), zero, inf), down = select(less(a, one), inf, zero);
  result = select(equal(y, inf), up, select(equal(y, -inf), down, result));
  result = select(odd, copySign(result, x), result);
  Value bad = arith::AndIOp::create(c.b, c.loc, less(x, zero), arith::XOrIOp::create(c.b, c.loc, whole, equal(y, y)));
  bad = arith::AndIOp::create(c.b, c.loc, bad, less(a, inf));
  result = select(bad, x.of(NAN), result);
  result = select(isNan(x), x, select(isNan(y), y, result));
  Value isOne = arith::OrIOp::create(c.b, c.loc, equal(y, zero), equal(x, one));
  isOne = arith::OrIOp::create(c.b, c.loc, isOne, arith::AndIOp::create(c.b, c.loc, equal(x, -one), equal(abs(y), inf)));
  return select(isOne, one, result);
}

}  // namespace onnxc
