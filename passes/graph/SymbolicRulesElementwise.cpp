// SymbolicRulesElementwise.cpp: shapes of elementwise ops, and the arithmetic of shape values that goes through them.
// Integers are followed as expressions, floats as fractions of them: Shape, Cast, Mul 0.5, Floor, Cast gives dim / 2.
#include "passes/graph/SymbolicRules.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

using Exprs = ArrayRef<AffineExpr>;
using Reals = ArrayRef<RealValue>;
using ExprFn = AffineExpr (*)(ShapeOp &, Exprs);
using RealFn = RealValue (*)(ShapeOp &, Reals);

// --- fractions ---

static RealValue realConstant(double v) { return {{}, 1, v}; }
static bool isUnknown(const RealValue &r) { return !r.numerator && std::isnan(r.value); }
static std::optional<double> realOf(const RealValue &r) {
  if (r.numerator) {
    auto n = known(r.numerator);
    return n ? std::optional<double>(double(*n) / r.denominator) : std::nullopt;
  }
  return std::isnan(r.value) ? std::nullopt : std::optional<double>(r.value);
}
// A constant as a fraction with a power of two below, where it is one exactly.
static RealValue fraction(ShapeOp &o, const RealValue &r) {
  if (r.numerator || isUnknown(r))
    return r;
  for (int64_t d = 1; d <= 1 << 16; d *= 2)
    if (double n = r.value * d; n == std::floor(n) && std::fabs(n) < 1e9)
      return {o.c(int64_t(n)), d, 0};
  return unknownReal();
}
static bool isSingle(ShapeOp &o) { return onnx::elementType(o.op->getResult(0)).isF32(); }

// Both constants: computed in the op's own precision. Else both as exact fractions, or unknown.
template <typename Constant, typename Fraction>
static RealValue combine(ShapeOp &o, Reals r, Constant onConstants, Fraction onFractions) {
  auto a = realOf(r[0]), b = realOf(r[1]);
  if (a && b)
    return realConstant(isSingle(o) ? double(float(onConstants(*a, *b))) : onConstants(*a, *b));
  RealValue x = fraction(o, r[0]), y = fraction(o, r[1]);
  if (isUnknown(x) || isUnknown(y) || !x.isExact() || !y.isExact())
    return unknownReal();
  RealValue z = onFractions(x, y);
  return z.numerator && z.denominator > 0 && z.denominator < (1 << 30) ? z : unknownReal();
}
static RealValue realAdd(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return a + b; },
      [&](RealValue a, RealValue b) -> RealValue {
        return {o.s.add(o.s.mul(a.numerator, o.c(b.denominator)), o.s.mul(b.numerator, o.c(a.denominator))), a.denominator * b.denominator,
                0};
      });
}
static RealValue realSub(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return a - b; },
      [&](RealValue a, RealValue b) -> RealValue {
        return {o.s.sub(o.s.mul(a.numerator, o.c(b.denominator)), o.s.mul(b.numerator, o.c(a.denominator))), a.denominator * b.denominator,
                0};
      });
}
static RealValue realMul(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return a * b; },
      [&](RealValue a, RealValue b) -> RealValue { return {o.s.mul(a.numerator, b.numerator), a.denominator * b.denominator, 0}; });
}
static RealValue realDiv(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return a / b; },
      [&](RealValue a, RealValue b) -> RealValue {
        AffineExpr top = o.s.mul(a.numerator, o.c(b.denominator));
        if (auto n = known(b.numerator))
          return *n > 0 ? RealValue{top, a.denominator * *n, 0} : unknownReal();
        AffineExpr q = o.s.floorDiv(top, b.numerator);
        return o.s.mul(q, b.numerator) == top ? RealValue{q, a.denominator, 0} : unknownReal();
      });
}
static RealValue realMin(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return std::min(a, b); },
      [&](RealValue a, RealValue b) -> RealValue {
        return {a.denominator == b.denominator ? o.s.min(a.numerator, b.numerator) : AffineExpr(), a.denominator, 0};
      });
}
static RealValue realMax(ShapeOp &o, Reals r) {
  return combine(
      o, r, [](double a, double b) { return std::max(a, b); },
      [&](RealValue a, RealValue b) -> RealValue {
        return {a.denominator == b.denominator ? o.s.max(a.numerator, b.numerator) : AffineExpr(), a.denominator, 0};
      });
}
static RealValue realFloor(ShapeOp &o, Reals r) {
  if (r[0].numerator)
    return {o.s.floorDiv(r[0].numerator, o.c(r[0].denominator)), 1, 0};
  return realConstant(std::floor(r[0].value));
}
static RealValue realCeil(ShapeOp &o, Reals r) {
  if (r[0].numerator)
    return {o.s.ceilDiv(r[0].numerator, o.c(r[0].denominator)), 1, 0};
  return realConstant(std::ceil(r[0].value));
}
static RealValue realRound(ShapeOp &, Reals r) {
  if (r[0].numerator)
    return r[0].denominator == 1 ? r[0] : unknownReal();
  return realConstant(std::nearbyint(r[0].value));
}
static RealValue realSqrt(ShapeOp &o, Reals r) {
  auto v = realOf(r[0]);
  return v ? realConstant(isSingle(o) ? double(std::sqrt(float(*v))) : std::sqrt(*v)) : unknownReal();
}
static RealValue realNeg(ShapeOp &o, Reals r) {
  return r[0].numerator ? RealValue{o.s.mul(r[0].numerator, o.c(-1)), r[0].denominator, 0} : realConstant(-r[0].value);
}
static RealValue realSame(ShapeOp &, Reals r) { return r[0]; }

// --- integers ---

static AffineExpr intAdd(ShapeOp &o, Exprs e) { return o.s.add(e[0], e[1]); }
static AffineExpr intSub(ShapeOp &o, Exprs e) { return o.s.sub(e[0], e[1]); }
static AffineExpr intMul(ShapeOp &o, Exprs e) { return o.s.mul(e[0], e[1]); }
static AffineExpr intMax(ShapeOp &o, Exprs e) { return o.s.max(e[0], e[1]); }
static AffineExpr intMin(ShapeOp &o, Exprs e) { return o.s.min(e[0], e[1]); }
static AffineExpr intSame(ShapeOp &, Exprs e) { return e[0]; }
static AffineExpr intNeg(ShapeOp &o, Exprs e) { return o.s.mul(e[0], o.c(-1)); }
static AffineExpr intAbs(ShapeOp &o, Exprs e) {
  auto n = known(e[0]);
  return n && *n != INT64_MIN ? o.c(std::abs(*n)) : o.s.isNonNegative(e[0]) ? e[0] : AffineExpr();
}
static AffineExpr intSign(ShapeOp &o, Exprs e) {
  auto n = known(e[0]);
  return n ? o.c((*n > 0) - (*n < 0)) : AffineExpr();
}
// Rounds towards zero.
static AffineExpr intDiv(ShapeOp &o, Exprs e) {
  auto a = known(e[0]), b = known(e[1]);
  if (a && b)
    return *b == 0 || (*b == -1 && *a == INT64_MIN) ? AffineExpr() : o.c(*a / *b);
  return o.s.isNonNegative(e[0]) && o.s.isNonNegative(e[1]) ? o.s.floorDiv(e[0], e[1]) : AffineExpr();
}
static AffineExpr intMod(ShapeOp &o, Exprs e) {
  auto a = known(e[0]), b = known(e[1]);
  if (a && b) {
    if (*b == 0 || *b == -1)
      return *b ? o.c(0) : AffineExpr();
    int64_t r = *a % *b;
    return o.c(o.intAttr("fmod") == 0 && r != 0 && (r < 0) != (*b < 0) ? r + *b : r);
  }
  return o.s.isNonNegative(e[0]) && o.s.isNonNegative(e[1]) ? o.s.mod(e[0], e[1]) : AffineExpr();
}
static AffineExpr intPow(ShapeOp &o, Exprs e) {
  auto power = known(e[1]);
  return power && *power >= 0 && *power <= 8 ? o.s.product(Dims(*power, e[0])) : AffineExpr();
}

static AffineExpr truth(ShapeOp &o, bool yes, bool no) { return yes ? o.c(1) : no ? o.c(0) : AffineExpr(); }
static bool above(ShapeOp &o, AffineExpr a, AffineExpr b) { return o.s.isAtLeast(a, o.s.add(b, o.c(1))); }
static AffineExpr intEqual(ShapeOp &o, Exprs e) { return truth(o, e[0] == e[1], above(o, e[0], e[1]) || above(o, e[1], e[0])); }
static AffineExpr intLess(ShapeOp &o, Exprs e) { return truth(o, above(o, e[1], e[0]), o.s.isAtLeast(e[0], e[1])); }
static AffineExpr intLessOrEqual(ShapeOp &o, Exprs e) { return truth(o, o.s.isAtLeast(e[1], e[0]), above(o, e[0], e[1])); }
static AffineExpr intGreater(ShapeOp &o, Exprs e) { return truth(o, above(o, e[0], e[1]), o.s.isAtLeast(e[1], e[0])); }
static AffineExpr intGreaterOrEqual(ShapeOp &o, Exprs e) { return truth(o, o.s.isAtLeast(e[0], e[1]), above(o, e[1], e[0])); }
static AffineExpr boolAnd(ShapeOp &o, Exprs e) {
  auto a = known(e[0]), b = known(e[1]);
  return truth(o, a == 1 && b == 1, a == 0 || b == 0);
}
static AffineExpr boolOr(ShapeOp &o, Exprs e) {
  auto a = known(e[0]), b = known(e[1]);
  return truth(o, a == 1 || b == 1, a == 0 && b == 0);
}
static AffineExpr boolXor(ShapeOp &o, Exprs e) {
  auto a = known(e[0]), b = known(e[1]);
  return a && b ? o.c(*a ^ *b) : AffineExpr();
}
static AffineExpr boolNot(ShapeOp &o, Exprs e) {
  auto a = known(e[0]);
  return a ? o.c(!*a) : AffineExpr();
}
static AffineExpr choose(ShapeOp &, Exprs e) {
  auto condition = e[0] ? known(e[0]) : std::nullopt;
  return condition ? (*condition ? e[1] : e[2]) : e[1] == e[2] ? e[1] : AffineExpr();
}

// --- over whole tensors ---

// For each element of the result, the index of the element of `v` that broadcasts to it. Sizes are constants.
static SmallVector<int64_t> sourceIndices(SymbolicShapes &s, DimsRef result, Value v, int64_t n) {
  DimsRef dims = s.dims(v);
  SmallVector<int64_t> indices(n, 0);
  int64_t inner = 1, stride = 1;
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t size = *known(result[result.size() - 1 - k]), own = *known(dims[dims.size() - 1 - k]);
    for (int64_t i = 0; own != 1 && i < n; ++i)
      indices[i] += i / inner % size * stride;
    inner *= size;
    stride *= own;
  }
  return indices;
}

// Values that do not fit the result's type wrap as the kernel would; expressions are followed in 32 and 64 bits only, and as unsigned
// numbers where they are never negative.
static AffineExpr wrapped(ShapeOp &o, IntegerType type, AffineExpr e) {
  auto n = known(e);
  if (!e)
    return {};
  unsigned width = type.getWidth();
  if (!n)
    return width == 1 || (width >= 32 && (!type.isUnsigned() || o.s.isNonNegative(e))) ? e : AffineExpr();
  if (width == 64)
    return type.isUnsigned() && *n < 0 ? AffineExpr() : e;
  uint64_t bits = uint64_t(*n) & ((uint64_t(1) << width) - 1);
  bool isSigned = !type.isUnsigned() && width > 1;
  return o.c(isSigned ? int64_t(bits << (64 - width)) >> (64 - width) : int64_t(bits));
}

static void mapIntegers(ShapeOp &o, ValueRange ins, ExprFn fn, bool needAll = true) {
  auto n = o.s.count(o.out(0));
  auto type = llvm::dyn_cast<IntegerType>(onnx::elementType(o.out(0)));
  if (!fn || !type || !n || *n > 1024 ||
      llvm::any_of(ins, [&](Value v) { return !o.s.count(v) || (needAll && o.s.partialElements(v).empty()); }))
    return;
  SmallVector<SmallVector<int64_t>> index;
  for (Value v : ins)
    index.push_back(sourceIndices(o.s, o.s.dims(o.out(0)), v, *n));
  Dims result, args;
  for (int64_t i = 0; i < *n; ++i) {
    args.clear();
    for (auto [k, v] : llvm::enumerate(ins)) {
      DimsRef elements = o.s.partialElements(v);
      args.push_back(elements.empty() ? AffineExpr() : elements[index[k][i]]);
    }
    bool all = !llvm::is_contained(args, AffineExpr());
    result.push_back(all || !needAll ? wrapped(o, type, fn(o, args)) : AffineExpr());
  }
  o.setElements(0, result);
}

static void mapReals(ShapeOp &o, ValueRange ins, RealFn fn) {
  auto n = o.s.count(o.out(0));
  Type type = onnx::elementType(o.out(0));
  if (!fn || !n || *n > 64 || !(type.isF32() || type.isF64()))
    return;
  if (llvm::any_of(ins, [&](Value v) { return o.s.realElements(v).empty(); }))
    return;
  SmallVector<SmallVector<int64_t>> index;
  for (Value v : ins)
    index.push_back(sourceIndices(o.s, o.s.dims(o.out(0)), v, *n));
  SmallVector<RealValue> result, args;
  for (int64_t i = 0; i < *n; ++i) {
    args.clear();
    for (auto [k, v] : llvm::enumerate(ins))
      args.push_back(o.s.realElements(v)[index[k][i]]);
    result.push_back(llvm::any_of(args, isUnknown) ? unknownReal() : fn(o, args));
  }
  if (!llvm::all_of(result, isUnknown))
    o.s.setReals(o.out(0), result);
}

// --- rules ---

template <ExprFn onIntegers, RealFn onReals>
static LogicalResult unary(ShapeOp &o) {
  if (failed(o.set(0, o.dims(0))))
    return failure();
  mapIntegers(o, o.in(0), onIntegers);
  mapReals(o, o.in(0), onReals);
  return success();
}
template <ExprFn onIntegers, RealFn onReals>
static LogicalResult binary(ShapeOp &o) {
  auto dims = o.broadcastAll({0, 1});
  if (failed(dims) || failed(o.set(0, *dims)))
    return failure();
  mapIntegers(o, {o.in(0), o.in(1)}, onIntegers);
  mapReals(o, {o.in(0), o.in(1)}, onReals);
  return success();
}
// Max, Min, Sum of any number of inputs: folded from the left.
template <ExprFn onIntegers, RealFn onReals>
static LogicalResult variadic(ShapeOp &o) {
  auto dims = o.broadcastAll({0});
  if (failed(dims) || failed(o.set(0, *dims)))
    return failure();
  ValueRange ins = o.op->getOperands();
  mapIntegers(o, ins, [](ShapeOp &o, Exprs e) {
    AffineExpr result = e[0];
    for (AffineExpr next : e.drop_front())
      result = result ? onIntegers(o, {result, next}) : AffineExpr();
    return result;
  });
  mapReals(o, ins, [](ShapeOp &o, Reals r) {
    RealValue result = r[0];
    for (const RealValue &next : r.drop_front())
      result = isUnknown(result) ? result : onReals(o, {result, next});
    return result;
  });
  return success();
}
static LogicalResult broadcastInputs(ShapeOp &o) {
  auto dims = o.broadcastAll({0});
  return failed(dims) ? failure() : o.set(0, *dims);
}
static LogicalResult where(ShapeOp &o) {
  auto dims = o.broadcastAll({0, 1, 2});
  if (failed(dims) || failed(o.set(0, *dims)))
    return failure();
  mapIntegers(o, {o.in(0), o.in(1), o.in(2)}, choose, false);
  return success();
}
// The second operand broadcasts to the first.
static LogicalResult towardsFirst(ShapeOp &o) {
  auto dims = o.broadcast(o.dims(0), o.dims(1));
  return failed(dims) ? failure() : o.set(0, o.dims(0));
}

static AffineExpr toBool(ShapeOp &o, Exprs e) {
  auto n = known(e[0]);
  return n ? o.c(*n != 0) : truth(o, o.s.isAtLeast(e[0], o.c(1)), false);
}
static void integersToReals(ShapeOp &o) {
  Type to = onnx::elementType(o.out(0));
  DimsRef elements = o.s.partialElements(o.in(0));
  if (elements.empty() || elements.size() > 64 || !(to.isF32() || to.isF64()))
    return;
  SmallVector<RealValue> result;
  for (AffineExpr e : elements) {
    auto n = known(e);
    bool rounds = n && to.isF32() && std::fabs(double(*n)) > double(1 << 24);
    result.push_back(!e ? unknownReal() : rounds ? realConstant(double(float(*n))) : RealValue{e, 1, 0});
  }
  o.s.setReals(o.out(0), result);
}
static void realsToIntegers(ShapeOp &o) {
  Dims result;
  for (const RealValue &r : o.s.realElements(o.in(0))) {
    AffineExpr e;
    if (r.numerator && (r.denominator == 1 || o.s.isNonNegative(r.numerator)))
      e = o.s.floorDiv(r.numerator, o.c(r.denominator));
    else if (auto v = realOf(r); v && std::fabs(*v) < 1e18)
      e = o.c(int64_t(*v));
    result.push_back(e ? wrapped(o, llvm::cast<IntegerType>(onnx::elementType(o.out(0))), e) : e);
  }
  o.setElements(0, result);
}
static LogicalResult cast(ShapeOp &o) {
  if (failed(o.set(0, o.dims(0))))
    return failure();
  Type from = onnx::elementType(o.in(0)), to = onnx::elementType(o.out(0));
  auto integer = llvm::dyn_cast<IntegerType>(to);
  if (llvm::isa<IntegerType>(from) && integer)
    mapIntegers(o, o.in(0), integer.getWidth() == 1 ? toBool : intSame);
  else if (llvm::isa<IntegerType>(from))
    integersToReals(o);
  else if (integer && integer.getWidth() > 1 && !o.s.realElements(o.in(0)).empty())
    realsToIntegers(o);
  else if (from == to || to.isF64())
    mapReals(o, o.in(0), realSame);
  return success();
}

static LogicalResult identity(ShapeOp &o) {
  if (o.s.hasRank(o.in(0)) && failed(o.set(0, o.dims(0))))
    return failure();
  if (const ItemShape *items = o.s.items(o.in(0)))
    o.s.setItems(o.out(0), *items);
  o.setElements(0, Dims(o.s.partialElements(o.in(0))));
  if (!o.s.realElements(o.in(0)).empty())
    o.s.setReals(o.out(0), SmallVector<RealValue>(o.s.realElements(o.in(0))));
  return success();
}

static LogicalResult clip(ShapeOp &o) {
  if (failed(o.set(0, o.dims(0))))
    return failure();
  SmallVector<Value> ins(llvm::make_filter_range(ArrayRef<Value>{o.in(0), o.in(1), o.in(2)}, [](Value v) { return bool(v); }));
  if (o.in(1) && o.in(2))
    mapReals(o, ins, [](ShapeOp &o, Reals r) { return realMin(o, {realMax(o, {r[0], r[1]}), r[2]}); });
  else if (o.in(1))
    mapReals(o, ins, realMax);
  else if (o.in(2))
    mapReals(o, ins, realMin);
  auto low = o.in(1) ? o.constantScalar(1) : INT64_MIN, high = o.in(2) ? o.constantScalar(2) : INT64_MAX;
  DimsRef elements = o.s.partialElements(o.in(0));
  if (!low || !high || elements.empty())
    return success();
  Dims result;
  for (AffineExpr e : elements)
    result.push_back(o.s.min(o.in(1) ? o.s.max(e, o.c(*low)) : e, o.c(*high)));
  o.setElements(0, result);
  return success();
}

void addElementwiseRules(ShapeRules &rules) {
  for (const char *name :
       {"Acos",      "Acosh",    "Asin",  "Asinh",      "Atan", "Atanh",           "BitwiseNot", "Celu",  "Cos",
        "Cosh",      "Elu",      "Erf",   "Exp",        "Gelu", "HardSigmoid",     "HardSwish",  "IsInf", "IsNaN",
        "LeakyRelu", "Log",      "Mish",  "Reciprocal", "Selu", "Shrink",          "Sigmoid",    "Sin",   "Sinh",
        "Softplus",  "Softsign", "Swish", "Tan",        "Tanh", "ThresholdedRelu", "BitCast",    "Relu",  "packed.ByteTable"})
    rules[name] = likeFirst;
  for (const char *name : {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "SwiGLU", "StringConcat"})
    rules[name] = broadcastTwo<0, 1>;
  rules["Add"] = binary<intAdd, realAdd>;
  rules["Sub"] = binary<intSub, realSub>;
  rules["Mul"] = binary<intMul, realMul>;
  rules["Div"] = binary<intDiv, realDiv>;
  rules["Mod"] = binary<intMod, nullptr>;
  rules["Pow"] = binary<intPow, nullptr>;
  rules["Equal"] = binary<intEqual, nullptr>;
  rules["Less"] = binary<intLess, nullptr>;
  rules["LessOrEqual"] = binary<intLessOrEqual, nullptr>;
  rules["Greater"] = binary<intGreater, nullptr>;
  rules["GreaterOrEqual"] = binary<intGreaterOrEqual, nullptr>;
  rules["And"] = binary<boolAnd, nullptr>;
  rules["Or"] = binary<boolOr, nullptr>;
  rules["Xor"] = binary<boolXor, nullptr>;
  rules["Not"] = unary<boolNot, nullptr>;
  rules["Neg"] = unary<intNeg, realNeg>;
  rules["Abs"] = unary<intAbs, nullptr>;
  rules["Sign"] = unary<intSign, nullptr>;
  rules["Floor"] = unary<nullptr, realFloor>;
  rules["Ceil"] = unary<nullptr, realCeil>;
  rules["Round"] = unary<nullptr, realRound>;
  rules["Sqrt"] = unary<nullptr, realSqrt>;
  rules["Max"] = variadic<intMax, realMax>;
  rules["Min"] = variadic<intMin, realMin>;
  rules["Sum"] = variadic<intAdd, realAdd>;
  rules["Mean"] = broadcastInputs;
  rules["Cast"] = cast;
  rules["CastLike"] = cast;
  rules["Clip"] = clip;
  rules["Identity"] = identity;
  rules["PRelu"] = towardsFirst;
  rules["Where"] = where;
}

}  // namespace onnxc
