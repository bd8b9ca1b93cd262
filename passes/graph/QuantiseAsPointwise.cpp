// QuantiseAsPointwise.cpp: quantisation and dequantisation of integers of 8 and 16 bits as the arithmetic that they are, which fuses with
// the ops around it. The last step of the integer-contractions pass, whose rewrites look for the whole ops.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

bool isShort(Type type) { return isByte(type) || (type && (type.isSignlessInteger(16) || type.isUnsignedInteger(16))); }

// The elements of a constant of short integers or f32.
std::optional<std::vector<float>> numbers(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  return value && isShort(value.getElementType()) ? constantIntegers(v) : constantFloats(v);
}

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

// How an operand and its scales lie beside each other. Empty: the operand keeps its shape. An axis of blocks is two in both shapes.
struct Grain {
  SmallVector<int64_t> operand, scales;
};

// Nothing where shapes are not known well enough. `block`: 0 for one scale, or one for each index of `axis`.
std::optional<Grain> grainOf(RankedTensorType scale, RankedTensorType x, int64_t axis, int64_t block) {
  axis = onnx::fromFront(axis, x.getRank());
  if (!scale || !scale.hasStaticShape() || scale.getNumElements() == 0)
    return std::nullopt;
  if (block == 0 && scale.getNumElements() == 1)
    return Grain();
  if (axis < 0 || axis >= x.getRank())
    return std::nullopt;
  if (block == 0) {
    Grain grain;
    grain.scales.assign(x.getRank() - axis, 1);
    grain.scales[0] = scale.getNumElements();
    return scale.getRank() == 1 && x.getDimSize(axis) == grain.scales[0] ? std::optional(grain) : std::nullopt;
  }
  if (!x.hasStaticShape() || scale.getRank() != x.getRank())
    return std::nullopt;
  int64_t count = scale.getDimSize(axis), each = x.getDimSize(axis) / count;
  if (count * each != x.getDimSize(axis) || block != each)
    return std::nullopt;  // the last block is shorter
  Grain grain{SmallVector<int64_t>(x.getShape()), SmallVector<int64_t>(scale.getShape())};
  grain.operand[axis] = grain.scales[axis] = x.getDimSize(axis);
  if (grain.operand != grain.scales)
    return std::nullopt;
  grain.operand[axis] = grain.scales[axis] = count;
  grain.operand.insert(grain.operand.begin() + axis + 1, each);
  grain.scales.insert(grain.scales.begin() + axis + 1, 1);
  return grain;
}

// Scales or zero points in f32 as they broadcast beside the operand.
Value spread(GraphBuilder g, Value v, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, g.b.getF32Type());
  if (auto values = numbers(v); values && int64_t(values->size()) == type.getNumElements())
    return onnx::ConstantOp::create(g.b, v.getLoc(), makeConstant(type, *values));
  Value single = onnx::elementType(v).isF32() ? v : g.cast(v, g.b.getF32Type());
  return rankedType(v).getShape() == shape ? single : g.reshape(single, shape);
}

bool isZero(Value v) {
  auto values = v ? numbers(v) : std::vector<float>{0.f};
  return values && llvm::all_of(*values, [](float f) { return f == 0; });
}

// The operands of a quantisation in f32, all of which broadcast; `zero` is null where all zero points are 0.
struct Scaled {
  Value x, scale, zero;
};

// Nothing unless what scales and zero points (`zero` may be null) are for is known.
std::optional<Scaled> scaled(GraphBuilder g, Value x, Value scale, Value zero, int64_t axis, int64_t block) {
  RankedTensorType type = rankedType(x), zeroType = zero ? rankedType(zero) : nullptr;
  bool isShifted = !isZero(zero);
  auto grain = grainOf(rankedType(scale), type, axis, block), zeroGrain = isShifted ? grainOf(zeroType, type, axis, block) : Grain();
  if (!grain || !zeroGrain || (isShifted && zeroGrain->operand != grain->operand))
    return std::nullopt;
  Scaled result{x, spread(g, scale, grain->scales), isShifted ? spread(g, zero, zeroGrain->scales) : Value()};
  if (!grain->operand.empty())
    result.x = g.reshape(x, grain->operand);
  return result;
}

// What codegen/cpu/Pointwise.cpp: quotientByProducts writes.
float quotientByProducts(float x, float divisor) {
  float nearest = 1.0f / divisor, h = llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(nearest) - 1),
        l = std::fma(-h, divisor, 1.0f) * nearest;
  return std::fma(x, h, x * l);
}

// Whether the integers of 8 or 16 bits are those of true quotients, whatever x is. The sum before the last rounding of quotientByProducts()
// is the true quotient to 2^-44. So both round to different floats only where a middle of two floats is as near to the true quotient, and
// these to different whole numbers only where one of the two floats lies halfway between such. Its product with the scale has at most 50
// digits, which a double holds.
bool byProducts(float scale, unsigned bits) {
  constexpr double near = 0x1p-43;
  if (!(std::abs(scale) > 0x1p-60f && std::abs(scale) < 0x1p60f))
    return false;
  for (int n = 0; n < 1 << bits; ++n) {
    float halfway = float(n) + 0.5f;
    for (float side : {0.0f, INFINITY}) {
      double product = (double(halfway) + std::nextafter(halfway, side)) / 2 * scale;
      float x = float(product);
      if (std::abs(product - x) <= std::abs(product) * near && std::nearbyint(quotientByProducts(x, scale)) != std::nearbyint(x / scale))
        return false;
    }
  }
  return true;
}

// Whether a quotient by each of the scales, which are constant, is one of products. Trying is limited: 16 bits are 130,000 numbers.
bool allByProducts(Value scale, unsigned bits) {
  constexpr int64_t most = 1 << 26;
  RankedTensorType type = rankedType(scale);
  bool sameAlongRows = type.getNumElements() == 1 || type.getShape().back() == 1;  // others codegen divides by
  auto values = sameAlongRows && type.getNumElements() << bits <= most ? constantFloats(scale) : std::nullopt;
  return values && llvm::all_of(*values, [&](float scale) { return byProducts(scale, bits); });
}

// clip(round(x / scale) + zero); quotients of halves are halves.
LogicalResult quantise(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  Type to = onnx::elementType(op.getY()), single = rewriter.getF32Type(), from = onnx::elementType(op.getX());
  if (!x || !(from.isF32() || isHalf(from)) || onnx::elementType(op.getYScale()) != from || !isShort(to) ||
      onnx::intAttr(op, "precision") != 0)
    return rewriter.notifyMatchFailure(op, "not floats to short integers");
  GraphBuilder g{rewriter, op.getLoc()};
  auto s = scaled(g, op.getX(), op.getYScale(), op.getYZeroPoint(), op.getAxis(), op.getBlockSize());
  if (!s)
    return rewriter.notifyMatchFailure(op, "scales of unknown sizes");
  Value v = isHalf(from) ? g.cast(s->x, single) : s->x;
  auto quotient = onnx::DivOp::create(rewriter, g.loc, v.getType(), v, s->scale);
  unsigned bits = to.getIntOrFloatBitWidth();
  if (from.isF32() && allByProducts(s->scale, bits))
    quotient->setAttr(onnx::kByProductsAttr, rewriter.getUnitAttr());
  v = isHalf(from) ? g.cast(g.cast(quotient, from), single) : Value(quotient);
  v = onnx::RoundOp::create(rewriter, g.loc, v.getType(), v);
  v = clippedTo(rankedType(v).clone(to), v, s->zero, g);
  replaceTyped(rewriter, op, s->x == op.getX() ? v : g.reshape(v, x.getShape()));
  return success();
}

// The whole numbers in f32 that `v` was cast from, as quantise() writes it, without rounding; null for others.
Value wholeNumbers(Value v) {
  auto number = [](Value bound) {
    auto values = bound ? constantFloats(bound) : std::nullopt;
    return values && values->size() == 1 ? values->front() : NAN;
  };
  auto cast = v.getDefiningOp<onnx::CastOp>();
  auto clip = cast ? cast.getInput().getDefiningOp<onnx::ClipOp>() : nullptr;
  auto add = clip ? clip.getInput().getDefiningOp<onnx::AddOp>() : nullptr;
  Value rounded = add ? add.getA() : clip ? clip.getInput() : Value();
  if (!clip || !rounded.getDefiningOp<onnx::RoundOp>() || !onnx::elementType(clip.getOutput()).isF32())
    return {};
  auto zeros = add ? constantFloats(add.getB()) : std::vector<float>();
  Limits limits = limitsOf(onnx::elementType(v));
  bool whole = zeros && llvm::all_of(*zeros, [](float f) { return f == std::nearbyint(f); });
  return whole && number(clip.getMin()) == limits.least && number(clip.getMax()) == limits.most ? clip.getOutput() : Value();
}

// Constants that nothing has multiplied as the integers that they are.
struct DequantiseConstant : OpRewritePattern<onnx::DequantizeLinearOp> {
  int64_t &left;  // bytes

  DequantiseConstant(MLIRContext *context, int64_t &left) : OpRewritePattern(context), left(left) {}
  LogicalResult matchAndRewrite(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) const override;
};

LogicalResult DequantiseConstant::matchAndRewrite(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) const {
  auto x = rankedType(op.getX());
  if (!x || !onnx::constantValue(op.getX()) || x.getNumElements() > left / int64_t(sizeof(float)))
    return rewriter.notifyMatchFailure(op, "no constant, or a larger one than is allowed");
  auto values = numbers(op.getX()), scales = numbers(op.getXScale());
  auto zeros = op.getXZeroPoint() ? numbers(op.getXZeroPoint()) : std::vector<float>{0.f};
  if (!values || !scales || !zeros || scales->empty() || zeros->empty() || !onnx::elementType(op.getY()).isF32() || op.getBlockSize() != 0)
    return rewriter.notifyMatchFailure(op, "not constant short integers to f32");
  int64_t axis = onnx::axisAttr(op, x.getRank()), run = 1;  // after so many elements the next scale comes
  if (scales->size() > 1 || zeros->size() > 1) {
    size_t channels = axis >= 0 && axis < x.getRank() ? x.getDimSize(axis) : 0;
    if (std::max(scales->size(), zeros->size()) != channels)
      return rewriter.notifyMatchFailure(op, "scales of other sizes");
    for (int64_t size : x.getShape().drop_front(axis + 1))
      run *= size;
  }
  for (auto [i, v] : llvm::enumerate(*values))
    v = (v - (*zeros)[int64_t(i) / run % zeros->size()]) * (*scales)[int64_t(i) / run % scales->size()];
  left -= x.getNumElements() * int64_t(sizeof(float));
  rewriter.replaceOpWithNewOp<onnx::ConstantOp>(op, makeConstant(x.clone(rewriter.getF32Type()), std::move(*values)));
  return success();
}

// (x - zero) * scale. Integers of 16 bits that were just quantised by constant scales stay f32, where bytes take a quarter of the memory;
// NaN and -0 pass there, which the cast to integers ends. Products of bytes and halves are exact before they become halves.
LogicalResult dequantise(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  Type to = onnx::elementType(op.getY()), single = rewriter.getF32Type();
  bool halves = isHalf(to) && onnx::elementType(op.getXScale()) == to && x && isByte(x.getElementType());
  if (!x || !isShort(x.getElementType()) || !(to.isF32() || halves) || onnx::constantValue(op.getX()))
    return rewriter.notifyMatchFailure(op, "not short integers to floats");
  GraphBuilder g{rewriter, op.getLoc()};
  auto s = scaled(g, op.getX(), op.getXScale(), op.getXZeroPoint(), op.getAxis(), op.getBlockSize());
  if (!s)
    return rewriter.notifyMatchFailure(op, "scales of unknown sizes");
  bool asItIs = s->x == op.getX();
  if (auto quantised = op.getX().getDefiningOp<onnx::QuantizeLinearOp>()) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(quantised);
    (void)quantise(quantised, rewriter);
  }
  bool isConstant = constantFloats(op.getXScale()).has_value();
  Value v = isByte(x.getElementType()) || !asItIs || !isConstant ? Value() : wholeNumbers(op.getX());
  if (!v)
    v = g.cast(asItIs ? op.getX() : s->x, single);
  if (s->zero)
    v = onnx::SubOp::create(rewriter, g.loc, v.getType(), v, s->zero);
  v = onnx::MulOp::create(rewriter, g.loc, v.getType(), v, s->scale);
  v = halves ? g.cast(v, to) : v;
  replaceTyped(rewriter, op, asItIs ? v : g.reshape(v, x.getShape()));
  return success();
}

}  // namespace

void populateQuantisationPatterns(RewritePatternSet &patterns, int64_t &maxBytes) {
  patterns.add<DequantiseConstant>(patterns.getContext(), maxBytes);
  patterns.add(quantise);
  patterns.add(dequantise);
}

}  // namespace onnxc
