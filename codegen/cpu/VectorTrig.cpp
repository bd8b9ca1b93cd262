// VectorTrig.cpp: the trigonometric functions of VectorMath.h. Polynomials are minimax fits over the reduced range.
#include "codegen/cpu/VectorMath.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

static constexpr double kQuarter = 0.78539816339744831, kHalf = 1.5707963267948966, kPi = 3.1415926535897931;
static constexpr double kDirect = 16384, kDirectWide = 65536;  // up to here three parts of pi/2 reduce exactly enough

namespace {
// x = quadrant pi/2 + rest with |rest| <= pi/4; of the quadrant the low two bits count.
struct Reduced {
  Num rest;
  Value quadrant;  // i32
};
}  // namespace

static Type like(Num x, Type element) {
  auto vector = dyn_cast<VectorType>(x.v.getType());
  return vector ? Type(vector.clone(element)) : element;
}

// Cody and Waite: pi/2 in three floats, subtracted by fused steps. Without such steps the first two have 8 and 11 bits, so that n times
// them is exact, the second up to 8192.
static Reduced reduceDirect(Num a) {
  Num n = roundEven(a * (1 / kHalf)), r = a;
  const double fused[] = {-1.5707963705062866, 4.371138828673793e-08, 1.7151245100058819e-15};
  const double plain[] = {-1.5703125, -4.8375129699707031e-4, -7.5497899548918822e-8};
  for (double part : a.c->fusesProducts ? fused : plain)
    r = fma(n, n.of(part), r);
  Num finite = select(less(a, a.of(kDirect * 2)), n, n.of(0));
  return {r, arith::FPToSIOp::create(a.c->b, a.c->loc, like(a, a.c->b.getI32Type()), finite.v)};
}

// Of doubles: of pi/2 in three parts the first two have 33 bits, so that n times them is exact.
static Reduced reduceWide(Num a) {
  Num n = roundEven(a * (1 / kHalf));
  Num r = fma(n, n.of(-1.57079632673412561417), a);
  r = fma(n, n.of(-6.07710050630396597660e-11), r);
  r = fma(n, n.of(-2.02226624879595063154e-21), r);
  Num finite = select(less(a, a.of(kDirectWide * 2)), n, n.of(0));
  return {r, arith::FPToSIOp::create(a.c->b, a.c->loc, like(a, a.c->b.getI32Type()), finite.v)};
}

// Payne and Hanek: a = m 2^e with m of 24 bits. Of the bits of 2/pi, those before weight 2^(1 - e) give multiples of 4 m; the 96 that
// follow, times m, are a 2/pi modulo 4.
static Reduced reduceLarge(Num a) {
  Code &c = *a.c;
  Type i32 = like(a, c.b.getI32Type()), i64 = like(a, c.b.getI64Type()), f64 = like(a, c.b.getF64Type());
  auto n = [&](int64_t v) { return c.integer(v, i64); };
  auto shl = [&](Value l, Value r) -> Value { return arith::ShLIOp::create(c.b, c.loc, l, r); };
  auto shr = [&](Value l, Value r) -> Value { return arith::ShRUIOp::create(c.b, c.loc, l, r); };
  auto bitOr = [&](Value l, Value r) -> Value { return arith::OrIOp::create(c.b, c.loc, l, r); };
  auto bitAnd = [&](Value l, Value r) -> Value { return arith::AndIOp::create(c.b, c.loc, l, r); };
  Value bits = arith::ExtUIOp::create(c.b, c.loc, i64, arith::BitcastOp::create(c.b, c.loc, i32, a.v));
  Value mantissa = bitOr(bitAnd(bits, n(0x7fffff)), n(0x800000));
  Value offset = c.sub(shr(bits, n(23)), n(150 + 2 - 32));  // into the words below, the first of which is 0
  Value word = shr(offset, n(5)), shift = bitAnd(offset, n(31));
  static const int64_t words[] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  SmallVector<Value> at;
  for (int64_t i = 0; i < 4; ++i) {
    Value v = n(words[i]);
    for (int64_t k = 1; k < 5; ++k) {
      Value here = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::eq, word, n(k));
      v = arith::SelectOp::create(c.b, c.loc, here, n(words[i + k]), v);
    }
    at.push_back(v);
  }
  Value head = bitOr(shl(at[0], n(32)), at[1]), tail = bitOr(shl(at[2], n(32)), at[3]);
  Value high = bitOr(shl(head, shift), shr(shr(tail, n(1)), c.sub(n(63), shift)));
  Value low = shr(shl(tail, shift), n(32));
  Value turns = c.add(c.mul(mantissa, high), shr(c.mul(mantissa, low), n(32)));  // in units of 2^-62, modulo 4
  Value quadrant = shr(c.add(turns, n(int64_t(1) << 61)), n(62));
  Value rest = arith::SIToFPOp::create(c.b, c.loc, f64, c.sub(turns, shl(quadrant, n(62))));
  Num scaled = Num{&c, rest} * (kHalf * 0x1p-62);
  return {{&c, arith::TruncFOp::create(c.b, c.loc, a.v.getType(), scaled.v)}, arith::TruncIOp::create(c.b, c.loc, i32, quadrant)};
}

static Value anyOf(Code &c, Value lanes) {
  return isa<VectorType>(lanes.getType()) ? Value(vector::ReductionOp::create(c.b, c.loc, vector::CombiningKind::OR, lanes)) : lanes;
}

// Of a >= 0. The long way is taken where a lane needs it.
static Reduced reduce(Num a) {
  if (isDouble(a))
    return reduceWide(a);
  Code &c = *a.c;
  Value large = less(a.of(kDirect), a), any = anyOf(c, large);
  Reduced direct = reduceDirect(a);
  Code::Values result = c.choose(
      any,
      [&]() -> Code::Values {
        Reduced exact = reduceLarge(a);
        return {select(large, exact.rest, direct.rest).v, arith::SelectOp::create(c.b, c.loc, large, exact.quadrant, direct.quadrant)};
      },
      [&]() -> Code::Values { return {direct.rest.v, direct.quadrant}; });
  return {{&c, result[0]}, result[1]};
}

static Num sinPolynomial(Num r, Num s) {
  if (isDouble(r))  // of fdlibm
    return fma(r * s,
               horner(s, {-0.166666666666666324348, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                          -2.50507602534068634195e-08, 1.58969099521155010221e-10}),
               r);
  return fma(r * s, horner(s, {-0.166666666, 0.00833332902, -0.000198392176, 2.71719656e-06}), r);
}
static Num cosPolynomial(Num s) {
  if (isDouble(s))
    return fma(s * s,
               horner(s, {4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
                          2.08757232129817482790e-09, -1.13596475577881948265e-11}),
               1.0 - s * 0.5);
  return fma(s * s, horner(s, {0.041666645, -0.00138872753, 2.44276365e-05}), 1.0 - s * 0.5);
}

static Value hasBit(Code &c, Value v, int64_t bit) {
  Value masked = arith::AndIOp::create(c.b, c.loc, v, c.integer(bit, v.getType()));
  return arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, masked, c.integer(0, v.getType()));
}

// NaN for infinity and NaN.
static Num whereFinite(Num x, Num y) { return select(less(abs(x), x.of(INFINITY)), y, x.of(NAN)); }

// Doubles beyond what reduceWide takes are the library's.
template <class Op>
static Num orLibrary(Num x, Num y) {
  if (!isDouble(x))
    return y;
  Code &c = *x.c;
  Value large = less(x.of(kDirectWide), abs(x));
  return {&c, c.choose(
                  anyOf(c, large), [&]() -> Code::Values { return {select(large, Num{&c, Op::create(c.b, c.loc, x.v)}, y).v}; },
                  [&]() -> Code::Values { return {y.v}; })[0]};
}

Num sin(Num x) {
  Code &c = *x.c;
  Reduced r = reduce(abs(x));
  Num s = r.rest * r.rest, y = select(hasBit(c, r.quadrant, 1), cosPolynomial(s), sinPolynomial(r.rest, s));
  y = select(hasBit(c, r.quadrant, 2), -y, y);
  Num result = select(less(x, x.of(0)), -y, y);
  return orLibrary<LLVM::SinOp>(x, whereFinite(x, select(equal(x, x.of(0)), x, result)));
}

Num cos(Num x) {
  Code &c = *x.c;
  Reduced r = reduce(abs(x));
  Num s = r.rest * r.rest, y = select(hasBit(c, r.quadrant, 1), sinPolynomial(r.rest, s), cosPolynomial(s));
  Value next = c.add(r.quadrant, c.integer(1, r.quadrant.getType()));
  return orLibrary<LLVM::CosOp>(x, whereFinite(x, select(hasBit(c, next, 2), -y, y)));
}

Num tan(Num x) {
  Code &c = *x.c;
  Reduced r = reduce(abs(x));
  Num s = r.rest * r.rest, sine = sinPolynomial(r.rest, s), cosine = cosPolynomial(s);
  Value odd = hasBit(c, r.quadrant, 1);
  Num y = select(odd, -cosine, sine) / select(odd, sine, cosine);
  Num result = select(less(x, x.of(0)), -y, y);
  return whereFinite(x, select(equal(x, x.of(0)), x, result));
}

// Below tan(pi/8) a polynomial; above, atan(a) = pi/4 + atan((a - 1) / (a + 1)), and beyond tan(3 pi/8) = pi/2 - atan(1 / a).
Num atan(Num x) {
  Num a = abs(x), one = a.of(1);
  Value low = less(a, a.of(0.41421356)), high = less(a.of(2.4142136), a);
  Num t = select(high, -one, select(low, a, a - 1)) / select(high, a, select(low, one, a + 1));
  Num s = t * t, p = t * s * horner(s, {-0.333333147, 0.199984345, -0.142427419, 0.105873649, -0.0606053143});
  Num base = select(high, a.of(kHalf), select(low, a.of(0), a.of(kQuarter)));
  return copySign(base + (t + p), x);
}

namespace {
// asin(a) = part below 1/2, pi/2 - 2 part above.
struct HalfArc {
  Value small;
  Num part;
};
}  // namespace
static HalfArc halfArc(Num a) {
  Value small = less(a, a.of(0.5));
  Num z = select(small, a * a, (1.0 - a) * 0.5), t = select(small, a, sqrt(z));
  Num p = horner(z, {0.166666597, 0.0750052319, 0.0445132066, 0.0318398378, 0.0143141683, 0.0376951573});
  return {small, fma(t * z, p, t)};
}

Num asin(Num x) {
  HalfArc arc = halfArc(abs(x));
  return copySign(select(arc.small, arc.part, x.of(kHalf) - arc.part * 2), x);
}

Num acos(Num x) {
  HalfArc arc = halfArc(abs(x));
  Value negative = less(x, x.of(0));
  Num near = x.of(kHalf) - copySign(arc.part, x), far = arc.part * 2;
  return select(arc.small, near, select(negative, x.of(kPi) - far, far));
}

}  // namespace onnxc
