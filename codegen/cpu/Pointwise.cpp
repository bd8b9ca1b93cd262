// Pointwise.cpp: the elementwise operators. VectorMath.h has the functions; dialects/kernel/Families.cpp lists operators and types.
#include "codegen/cpu/Pointwise.h"
#include "codegen/cpu/Halves.h"
#include "codegen/cpu/VectorMath.h"
#include "dialects/kernel/Families.h"
#include "dialects/onnx/OnnxBase.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

static bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

// In a register: halves are their bits, which only a cast looks into.
static Type signless(Type element) {
  if (isHalf(element))
    return IntegerType::get(element.getContext(), 16);
  auto i = dyn_cast<IntegerType>(element);
  return i ? IntegerType::get(element.getContext(), i.getWidth()) : element;
}

Type registerType(Type element, int64_t lanes) {
  Type t = signless(element);
  return lanes > 1 ? Type(VectorType::get({lanes}, t)) : t;
}

Value constantRegister(Code &c, ElementsAttr value, int64_t lanes) {
  Type type = registerType(value.getElementType(), lanes);
  if (isHalf(value.getElementType()))
    return c.integer((*value.value_begin<APFloat>()).bitcastToAPInt(), type);
  if (isa<FloatType>(value.getElementType()))
    return c.real((*value.value_begin<APFloat>()).convertToDouble(), type);
  return c.integer(*value.value_begin<APInt>(), type);
}

Value loadElements(Code &c, Type element, Value address, int64_t lanes, Value mask) {
  bool boolean = element.isInteger(1);
  Type memory = registerType(boolean ? Type(c.b.getI8Type()) : element, lanes);
  unsigned bytes = boolean ? 1 : element.getIntOrFloatBitWidth() / 8;
  Value v = mask ? c.loadMasked(cast<VectorType>(memory), address, mask, bytes) : c.load(memory, address, bytes);
  return boolean ? arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, v, c.integer(0, memory)) : v;
}

void storeElements(Code &c, Type element, Value v, Value address, Value mask) {
  bool boolean = element.isInteger(1);
  if (boolean) {
    Type byte = c.b.getI8Type();
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      byte = vector.clone(byte);
    v = arith::ExtUIOp::create(c.b, c.loc, byte, v);
  }
  unsigned bytes = boolean ? 1 : element.getIntOrFloatBitWidth() / 8;
  mask ? c.storeMasked(v, address, mask, bytes) : c.store(v, address, bytes);
}

namespace {
// What an operator's writer sees. Element types are those of the first data operand.
struct Site {
  Code &c;
  Operation *op;
  ValueRange operands;
  Type element;

  bool isFloat() const { return isa<FloatType>(element); }
  bool isUnsigned() const { return element.isUnsignedInteger() || element.isInteger(1); }
  Num num(unsigned i) const { return {&c, operands[i]}; }
  double attr(StringRef name) const { return onnx::floatAttr(op, name); }
  Type type() const { return operands[0].getType(); }
  Value zero() const { return isFloat() ? c.real(0, type()) : c.integer(0, type()); }
};
using Writer = Value (*)(const Site &);

Value compareInts(const Site &s, arith::CmpIPredicate isSigned, arith::CmpIPredicate isUnsigned, Value l, Value r) {
  return arith::CmpIOp::create(s.c.b, s.c.loc, s.isUnsigned() ? isUnsigned : isSigned, l, r);
}
Value lessThan(const Site &s, Value l, Value r) {
  if (s.isFloat())
    return less(Num{&s.c, l}, Num{&s.c, r});
  return compareInts(s, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult, l, r);
}
Value atMost(const Site &s, Value l, Value r) {
  if (s.isFloat())
    return arith::CmpFOp::create(s.c.b, s.c.loc, arith::CmpFPredicate::OLE, l, r);
  return compareInts(s, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule, l, r);
}
Value same(const Site &s, Value l, Value r) {
  if (s.isFloat())
    return equal(Num{&s.c, l}, Num{&s.c, r});
  return arith::CmpIOp::create(s.c.b, s.c.loc, arith::CmpIPredicate::eq, l, r);
}
Value choose(const Site &s, Value condition, Value yes, Value no) { return arith::SelectOp::create(s.c.b, s.c.loc, condition, yes, no); }
Value plus(const Site &s, Value l, Value r) { return s.isFloat() ? s.c.addf(l, r) : Value(arith::AddIOp::create(s.c.b, s.c.loc, l, r)); }
Value times(const Site &s, Value l, Value r) { return s.isFloat() ? s.c.mulf(l, r) : Value(arith::MulIOp::create(s.c.b, s.c.loc, l, r)); }
Value minus(const Site &s, Value l, Value r) {
  return s.isFloat() ? Value(arith::SubFOp::create(s.c.b, s.c.loc, l, r)) : Value(arith::SubIOp::create(s.c.b, s.c.loc, l, r));
}
// The larger or smaller; NaN wins.
Value extreme(const Site &s, Value l, Value r, bool isLarger) {
  if (s.isFloat()) {
    Num left{&s.c, l}, right{&s.c, r};
    return (isLarger ? larger(left, right) : smaller(left, right)).v;
  }
  return choose(s, isLarger ? lessThan(s, r, l) : lessThan(s, l, r), l, r);
}
template <typename Step>
Value foldOperands(const Site &s, Step step) {
  Value v = s.operands[0];
  for (Value next : s.operands.drop_front())
    v = step(v, next);
  return v;
}

Value add(const Site &s) {
  return foldOperands(s, [&](Value l, Value r) { return plus(s, l, r); });
}
Value largest(const Site &s) {
  return foldOperands(s, [&](Value l, Value r) { return extreme(s, l, r, true); });
}
Value smallest(const Site &s) {
  return foldOperands(s, [&](Value l, Value r) { return extreme(s, l, r, false); });
}
Value mean(const Site &s) { return (Num{&s.c, add(s)} / double(s.operands.size())).v; }
Value absolute(const Site &s) {
  if (s.isFloat())
    return abs(s.num(0)).v;
  return s.isUnsigned() ? s.operands[0] : choose(s, lessThan(s, s.operands[0], s.zero()), minus(s, s.zero(), s.operands[0]), s.operands[0]);
}
Value negate(const Site &s) { return s.isFloat() ? (-s.num(0)).v : minus(s, s.zero(), s.operands[0]); }
// The larger or smaller of a bound and a value that may be NaN and stays it.
Value bounded(const Site &s, Value bound, Value v, bool isLarger) {
  if (s.isFloat() && hasExtremes(Num{&s.c, v}))
    return extreme(s, bound, v, isLarger);
  Value outside = isLarger ? lessThan(s, v, bound) : lessThan(s, bound, v);
  return choose(s, outside, bound, v);
}
Value relu(const Site &s) { return bounded(s, s.zero(), s.operands[0], true); }
Value prelu(const Site &s) {
  return choose(s, lessThan(s, s.operands[0], s.zero()), times(s, s.operands[0], s.operands[1]), s.operands[0]);
}
// Bounds that are absent bound nothing; NaN stays.
Value clip(const Site &s) {
  Value v = s.operands[0];
  unsigned next = 1;
  if (!onnx::operands(s.op, 1).empty()) {
    v = bounded(s, s.operands[next], v, true);
    ++next;
  }
  if (!onnx::operands(s.op, 2).empty())
    v = bounded(s, s.operands[next], v, false);
  return v;
}
Value sign(const Site &s) {
  if (!s.isFloat()) {
    Value x = s.operands[0], positive = choose(s, lessThan(s, s.zero(), x), s.c.integer(1, s.type()), s.zero());
    return s.isUnsigned() ? positive : choose(s, lessThan(s, x, s.zero()), s.c.integer(-1, s.type()), positive);
  }
  Num x = s.num(0);
  return select(less(x, x.of(0)), x.of(-1), select(less(x.of(0), x), x.of(1), x * 0.0)).v;
}
Value shrink(const Site &s) {
  Num x = s.num(0);
  double bias = s.attr("bias"), lambd = s.attr("lambd");
  return select(less(x, x.of(-lambd)), x + bias, select(less(x.of(lambd), x), x - bias, x.of(0))).v;
}
Num clampUnit(Num x) { return select(less(x, x.of(0)), x.of(0), select(less(x.of(1), x), x.of(1), x)); }
Value hardSwish(const Site &s) { return (s.num(0) * clampUnit((s.num(0) + 3) / 6)).v; }
Value isInf(const Site &s) {
  Num x = s.num(0);
  Value yes = onnx::intAttr(s.op, "detect_positive") ? equal(x, x.of(INFINITY)) : less(x, x.of(-INFINITY));
  return onnx::intAttr(s.op, "detect_negative") ? Value(arith::OrIOp::create(s.c.b, s.c.loc, yes, equal(x, x.of(-INFINITY)))) : yes;
}
// gain * (x, or alpha (e^(x / scale) - 1) below 0)
Value linearUnit(const Site &s, double alpha, double scale, double gain) {
  Num x = s.num(0), below = expm1Negative(minSecond(x.of(0), scale == 1 ? x : x / scale)) * (alpha * gain);
  return select(less(x, x.of(0)), below, gain == 1 ? x : x * gain).v;
}
// A falling exponential of a negative alpha: e^t - 1 = -(e^-t - 1) e^t.
Value celu(const Site &s) {
  double alpha = s.attr("alpha");
  if (alpha >= 0)
    return linearUnit(s, alpha, alpha, 1);
  Num x = s.num(0), falling = minSecond(x.of(0), x / -alpha), below = expm1Negative(falling) * exp(-falling) * -alpha;
  return select(less(x, x.of(0)), below, x).v;
}
Value product(const Site &s) {
  Value v = times(s, s.operands[0], s.operands[1]);
  return s.op->hasAttr(onnx::kFlushAttr) && s.element.isF32() ? withoutSubnormals({&s.c, v}).v : v;
}
// The same for all lanes, as a scalar; null for others.
Value sameForAll(Code &c, Value v) {
  if (auto splat = v.getDefiningOp<vector::BroadcastOp>())
    return isa<FloatType>(splat.getSource().getType()) ? splat.getSource() : Value();
  DenseElementsAttr value;
  bool isSplat = isa<VectorType>(v.getType()) && matchPattern(v, m_Constant(&value)) && value.isSplat();
  return isSplat ? c.real(value.getSplatValue<APFloat>().convertToDouble(), getElementTypeOrSelf(v.getType())) : Value();
}
// x / d as x h + x l, rounded twice, where h is a little below 1 / d and l what is missing: both have the sign of d, so that an infinite x
// has an infinite quotient. passes/graph/QuantiseAsPointwise.cpp computes the same.
Value quotientByProducts(Code &c, Num x, Value divisor) {
  Num d{&c, divisor}, nearest = 1.0 / d;
  Num h{&c,
        arith::BitcastOp::create(c.b, c.loc, c.f32, c.sub(arith::BitcastOp::create(c.b, c.loc, c.i32, nearest.v), c.integer(1, c.i32)))};
  Num l = fma(-h, d, d.of(1)) * nearest;
  auto spread = [&](Num n) { return Num{&c, c.splat(n.v, llvm::cast<VectorType>(x.v.getType()).getDimSize(0))}; };
  return fma(x, spread(h), x * spread(l)).v;
}
Value quotient(const Site &s) {
  Value divisor = s.op->hasAttr(onnx::kByProductsAttr) && s.c.fusesProducts ? sameForAll(s.c, s.operands[1]) : Value();
  return divisor ? quotientByProducts(s.c, s.num(0), divisor) : (s.num(0) / s.num(1)).v;
}
Value exponential(const Site &s) {
  Num x = s.num(0);
  if (!s.op->hasAttr(onnx::kFlushAttr))
    return exp(x).v;
  return select(less(x, x.of(-87.33)), x.of(0), exp(maxSecond(x.of(-87.33), x))).v;  // NaN stays
}
Value swish(const Site &s) {
  double alpha = s.attr("alpha");
  Num x = s.num(0);
  return swish(x, alpha == 1 ? x : x * alpha).v;
}
Value swiglu(const Site &s) { return s.c.mulf(swish(s), s.operands[1]); }
// With the bias that com.microsoft's forms may add first.
Num biased(const Site &s) { return s.operands.size() > 1 ? s.num(0) + s.num(1) : s.num(0); }
Value batchNorm(const Site &s) {
  Num factor = s.num(1) / sqrt(s.num(4) + s.attr("epsilon"));
  return fma(s.num(0) - s.num(3), factor, s.num(2)).v;
}
Value leaky(const Site &s) {
  Num x = s.num(0);
  return select(less(x, x.of(0)), x * s.attr("alpha"), x).v;
}

Value power(const Site &s) {
  Num x = s.num(0);
  std::optional<double> n = smallExponent(s.op);
  if (!n)
    return pow(x, s.num(1)).v;
  if (*n == 1)
    return x.v;
  if (*n == 2)
    return (x * x).v;
  if (*n == 3)
    return (x * x * x).v;
  if (*n == 4)
    return ((x * x) * (x * x)).v;
  if (*n == -1)
    return (1.0 / x).v;
  assert(*n == 0.5);
  return select(equal(x, x.of(-INFINITY)), x.of(INFINITY), sqrt(x + 0.0)).v;
}

// The greatest value of a float type that is below 2^(width - 1).
double belowLimit(Type element, unsigned width) {
  return element.isF32() ? std::nextafter(std::ldexp(1.0f, width - 1), 0.0f) : std::nextafter(std::ldexp(1.0, width - 1), 0.0);
}

// AVX2 converts no integers of 64 bits. Where all lanes are below 2^51 they are the low bits of doubles from 2^52 to 2^53.
bool lacksLongs(Code &c, Type type) { return c.vectorBits == 256 && isa<VectorType>(type); }
constexpr double kAboveLongs = 0x1.8p52;
constexpr int64_t kAboveBits = 0x4338000000000000;
Value holds(Code &c, Value lanes) { return LLVM::vector_reduce_and::create(c.b, c.loc, c.i1, lanes); }

// f32 or f64 to i64 where all lanes are small.
Value smallToLong(Code &c, Value v, VectorType to) {
  if (getElementTypeOrSelf(v.getType()).isF32())
    return arith::ExtSIOp::create(c.b, c.loc, to, arith::FPToSIOp::create(c.b, c.loc, to.clone(c.i32), v));
  Num whole{&c, LLVM::FTruncOp::create(c.b, c.loc, v)};
  Value bits = arith::BitcastOp::create(c.b, c.loc, to, (whole + kAboveLongs).v);
  return c.sub(bits, c.integer(kAboveBits, to));
}

// i64 to `to`, whose lanes are floats.
Value longToFloat(Code &c, Value v, VectorType to, bool isUnsigned) {
  auto longs = cast<VectorType>(v.getType());
  Value shifted = isUnsigned ? v : c.add(v, c.integer(int64_t(1) << 51, longs));
  Value high = arith::ShRUIOp::create(c.b, c.loc, shifted, c.integer(isUnsigned ? 51 : 52, longs));
  auto fast = [&]() -> Code::Values {
    Num above{&c, arith::BitcastOp::create(c.b, c.loc, to.clone(c.b.getF64Type()), c.add(v, c.integer(kAboveBits, longs)))};
    Value number = (above - above.of(kAboveLongs)).v;
    return {to.getElementType().isF64() ? number : Value(arith::TruncFOp::create(c.b, c.loc, to, number))};
  };
  auto any = [&]() -> Code::Values {
    return {isUnsigned ? Value(arith::UIToFPOp::create(c.b, c.loc, to, v)) : Value(arith::SIToFPOp::create(c.b, c.loc, to, v))};
  };
  return c.choose(holds(c, c.equal(high, c.integer(0, longs))), fast, any)[0];
}

// f32 or f64 to i32 or i64 as llvm.fptosi.sat has it, in operations that vectors have.
Value roundAny(Code &c, Value v, Type to) {
  Num x{&c, v};
  unsigned width = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  Value large = less(x.of(belowLimit(getElementTypeOrSelf(v.getType()), width)), x);
  Num bounded = maxSecond(select(isNan(x), x.of(0), x), x.of(-std::ldexp(1.0, width - 1))), inside = select(large, x.of(0), bounded);
  return arith::SelectOp::create(c.b, c.loc, large, c.integer(APInt::getSignedMaxValue(width), to),
                                 arith::FPToSIOp::create(c.b, c.loc, to, inside.v));
}

Value roundToward0(Code &c, Value v, Type to) {
  if (!getElementTypeOrSelf(to).isInteger(64) || !lacksLongs(c, to))
    return roundAny(c, v, to);
  Num x{&c, v};
  Value small = less(abs(x), x.of(getElementTypeOrSelf(v.getType()).isF32() ? 0x1p31 : 0x1p51));
  return c.choose(
      holds(c, small), [&] { return Code::Values{smallToLong(c, v, cast<VectorType>(to))}; },
      [&] { return Code::Values{roundAny(c, v, to)}; })[0];
}

// What bounds a value that is not NaN.
struct Bounds {
  double least, most;
};
// Of a Clip to constants that a signed integer of 32 bits holds; nothing for others.
std::optional<Bounds> constantBounds(mlir::Value v) {
  Operation *clip = v.getDefiningOp();
  if (!clip || onnx::opName(clip) != "Clip" || clip->getNumOperands() != 3)
    return std::nullopt;
  double bounds[2];
  for (int i = 0; i < 2; ++i) {
    ElementsAttr value = onnx::constantValue(clip->getOperand(i + 1));
    if (!value || !isa<FloatType>(value.getElementType()))
      return std::nullopt;
    bounds[i] = (*value.value_begin<APFloat>()).convertToDouble();
    if (!(std::abs(bounds[i]) <= 65536))
      return std::nullopt;
  }
  return bounds[0] <= bounds[1] ? std::optional(Bounds{bounds[0], bounds[1]}) : std::nullopt;
}

// Integers of 32 bits within `bounds`, or 0, as `to`.
Value narrow(Code &c, Value n, Type to, Bounds bounds) {
  double size = std::ldexp(1.0, getElementTypeOrSelf(to).getIntOrFloatBitWidth());
  auto flags = bounds.least >= 0 && bounds.most < size               ? arith::IntegerOverflowFlags::nuw
               : bounds.least >= -size / 2 && bounds.most < size / 2 ? arith::IntegerOverflowFlags::nsw
                                                                     : arith::IntegerOverflowFlags::none;
  return arith::TruncIOp::create(c.b, c.loc, to, n, flags);
}

// f32 or f64 to u64: from 2^63 on saturating, below it the bits of the signed integer.
Value roundToUnsigned64(Code &c, Value v, Type to) {
  Num x{&c, v};
  Value upper = c.b.createOrFold<arith::CmpFOp>(c.loc, arith::CmpFPredicate::OGE, v, x.of(std::ldexp(1.0, 63)).v);
  Value n = roundToward0(c, select(upper, x - x.of(std::ldexp(1.0, 63)), x).v, to);
  return arith::SelectOp::create(c.b, c.loc, upper, arith::XOrIOp::create(c.b, c.loc, n, c.integer(APInt::getSignedMinValue(64), to)), n);
}

// No input is undefined: beyond 32 bits, or 64 for wider types, it saturates, below that it keeps the low bits; NaN gives 0. `bounds`:
// constantBounds.
Value floatToInt(Code &c, Value v, Type to, bool isUnsigned, std::optional<Bounds> bounds) {
  unsigned width = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  Type wide = c.b.getIntegerType(width == 64 || (isUnsigned && width == 32) ? 64 : 32);
  if (auto vector = dyn_cast<VectorType>(to))
    wide = vector.clone(wide);
  if (isUnsigned && width == 64)
    return roundToUnsigned64(c, v, wide);
  Num x{&c, v};
  // Whole numbers are 0 below 1, and LLVM knows a maximum of all numbers but 0.
  Num number = !bounds ? x : bounds->least == 0 ? maxSecond(x, x.of(0x1p-100)) : select(isNan(x), x.of(0), x);
  Value n = bounds ? Value(arith::FPToSIOp::create(c.b, c.loc, wide, number.v)) : roundToward0(c, v, wide);
  return wide == to ? n : bounds ? narrow(c, n, to, *bounds) : Value(arith::TruncIOp::create(c.b, c.loc, to, n));
}
Value cast(const Site &s) {
  Code &c = s.c;
  Type from = s.element, to = onnx::elementType(s.op->getResult(0));
  Value v = s.operands[0];
  auto vector = dyn_cast<VectorType>(v.getType());
  Type type = registerType(to, vector ? vector.getDimSize(0) : 1);
  if (from == to)
    return v;
  if (isHalf(from))
    return halfToFloat(c, v, from.isBF16());
  if (from.isF64() && to.isF16())
    return doubleToHalf(c, v);
  if (isHalf(to))
    return floatToHalf(c, v, to.isBF16());
  bool unsignedFrom = s.isUnsigned();
  unsigned width = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (to.isInteger(1))
    return s.isFloat() ? Value(arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNE, v, s.zero()))
                       : Value(arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, v, s.zero()));
  if (s.isFloat() && isa<FloatType>(to))
    return toWidth > width ? Value(arith::ExtFOp::create(c.b, c.loc, type, v)) : Value(arith::TruncFOp::create(c.b, c.loc, type, v));
  if (s.isFloat())
    return floatToInt(c, v, type, to.isUnsignedInteger(), constantBounds(s.op->getOperand(0)));
  if (isa<FloatType>(to) && width == 64 && lacksLongs(c, type))
    return longToFloat(c, v, vector.clone(to), unsignedFrom);
  if (isa<FloatType>(to))
    return unsignedFrom ? Value(arith::UIToFPOp::create(c.b, c.loc, type, v)) : Value(arith::SIToFPOp::create(c.b, c.loc, type, v));
  if (toWidth == width)
    return v;
  if (toWidth < width)
    return arith::TruncIOp::create(c.b, c.loc, type, v);
  return unsignedFrom ? Value(arith::ExtUIOp::create(c.b, c.loc, type, v)) : Value(arith::ExtSIOp::create(c.b, c.loc, type, v));
}

// To a whole number. LLVM would make a rounding of a widened half one of halves and take that apart into scalars; a half has no more digits
// than adding 2^23 leaves a place for.
static Value rounded(Num x, Num (*round)(Num)) {
  auto widened = x.v.getDefiningOp<arith::ExtFOp>();
  if (!widened || !getElementTypeOrSelf(widened.getIn()).isF16() || !getElementTypeOrSelf(x.v).isF32())
    return round(x).v;
  Num nearest = copySign(abs(x) + 0x1p23 - 0x1p23, x);
  if (round == floor)
    return select(less(x, nearest), nearest - 1, nearest).v;
  return round == ceil ? copySign(select(less(nearest, x), nearest + 1, nearest), x).v : nearest.v;
}

#define WRITE(EXPRESSION) [](const Site &s) -> Value { return EXPRESSION; }
const llvm::StringMap<Writer> &writers() {
  static const llvm::StringMap<Writer> map = {
      {"Add", add},
      {"Sum", add},
      {"Max", largest},
      {"Min", smallest},
      {"Mean", mean},
      {"Abs", absolute},
      {"Neg", negate},
      {"Relu", relu},
      {"PRelu", prelu},
      {"Clip", clip},
      {"Sign", sign},
      {"Shrink", shrink},
      {"HardSwish", hardSwish},
      {"IsInf", isInf},
      {"Swish", swish},
      {"ms.QuickGelu", swish},
      {"ms.BiasGelu", WRITE(gelu(biased(s)).v)},
      {"ms.FastGelu", WRITE(geluTanh(biased(s)).v)},
      {"BatchNormalization", batchNorm},
      {"SwiGLU", swiglu},
      {"LeakyRelu", leaky},
      {"Pow", power},
      {"Cast", cast},
      {"CastLike", cast},
      {"Sub", WRITE(minus(s, s.operands[0], s.operands[1]))},
      {"Mul", product},
      {"Div", quotient},
      {"Equal", WRITE(same(s, s.operands[0], s.operands[1]))},
      {"Less", WRITE(lessThan(s, s.operands[0], s.operands[1]))},
      {"LessOrEqual", WRITE(atMost(s, s.operands[0], s.operands[1]))},
      {"Greater", WRITE(lessThan(s, s.operands[1], s.operands[0]))},
      {"GreaterOrEqual", WRITE(atMost(s, s.operands[1], s.operands[0]))},
      {"Ceil", WRITE(rounded(s.num(0), ceil))},
      {"Floor", WRITE(rounded(s.num(0), floor))},
      {"Round", WRITE(rounded(s.num(0), roundEven))},
      {"Sqrt", WRITE(sqrt(s.num(0)).v)},
      {"Reciprocal", WRITE((1.0 / s.num(0)).v)},
      {"Softsign", WRITE((s.num(0) / (abs(s.num(0)) + 1)).v)},
      {"ThresholdedRelu", WRITE(select(less(s.num(0).of(s.attr("alpha")), s.num(0)), s.num(0), s.num(0).of(0)).v)},
      {"HardSigmoid", WRITE(clampUnit(fma(s.num(0), s.num(0).of(s.attr("alpha")), s.num(0).of(s.attr("beta")))).v)},
      {"IsNaN", WRITE(isNan(s.num(0)))},
      {"Exp", exponential},
      {"Log", WRITE(log(s.num(0)).v)},
      {"Erf", WRITE(erf(s.num(0)).v)},
      {"Sigmoid", WRITE(sigmoid(s.num(0)).v)},
      {"Tanh", WRITE(tanh(s.num(0)).v)},
      {"Mish", WRITE(mish(s.num(0)).v)},
      {"Sin", WRITE(sin(s.num(0)).v)},
      {"Cos", WRITE(cos(s.num(0)).v)},
      {"Tan", WRITE(tan(s.num(0)).v)},
      {"Asin", WRITE(asin(s.num(0)).v)},
      {"Acos", WRITE(acos(s.num(0)).v)},
      {"Atan", WRITE(atan(s.num(0)).v)},
      {"Sinh", WRITE(sinh(s.num(0)).v)},
      {"Cosh", WRITE(cosh(s.num(0)).v)},
      {"Asinh", WRITE(asinh(s.num(0)).v)},
      {"Acosh", WRITE(acosh(s.num(0)).v)},
      {"Atanh", WRITE(atanh(s.num(0)).v)},
      {"Softplus", WRITE(softplus(s.num(0)).v)},
      {"Elu", WRITE(linearUnit(s, s.attr("alpha"), 1, 1))},
      {"Celu", celu},
      {"Selu", WRITE(linearUnit(s, s.attr("alpha"), 1, s.attr("gamma")))},
      {"Gelu", WRITE((onnx::strAttr(s.op, "approximate") == "tanh" ? geluTanh(s.num(0)) : gelu(s.num(0))).v)},
      {"And", WRITE(arith::AndIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"Or", WRITE(arith::OrIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"Xor", WRITE(arith::XOrIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"BitwiseAnd", WRITE(arith::AndIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"BitwiseOr", WRITE(arith::OrIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"BitwiseXor", WRITE(arith::XOrIOp::create(s.c.b, s.c.loc, s.operands[0], s.operands[1]))},
      {"Not", WRITE(arith::XOrIOp::create(s.c.b, s.c.loc, s.operands[0], s.c.integer(1, s.type())))},
      {"BitwiseNot", WRITE(arith::XOrIOp::create(s.c.b, s.c.loc, s.operands[0], s.c.integer(-1, s.type())))},
      {"Where", WRITE(choose(s, s.operands[0], s.operands[1], s.operands[2]))},
  };
  return map;
}
#undef WRITE
}  // namespace

Value emitPointwise(Code &c, Operation *op, ValueRange operands) {
  Writer write = writers().lookup(onnx::opName(op));
  return write(Site{c, op, operands, onnx::elementType(op->getOperand(0))});
}

}  // namespace onnxc
