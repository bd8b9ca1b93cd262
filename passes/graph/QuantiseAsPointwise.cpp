// QuantiseAsPointwise.cpp: quantisation and dequantisation of integers of 8 and 16 bits with constant scales as the arithmetic that they
// are, which fuses with the ops around it. The last step of the integer-contractions pass, whose rewrites look for the whole ops.
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

// `v`, one value or one for each index of `axis`, as a constant that broadcasts to `type`; null for others.
ElementsAttr spread(Value v, RankedTensorType type, int64_t axis) {
  auto values = numbers(v);
  axis = onnx::fromFront(axis, type.getRank());
  if (!values || values->empty())
    return {};
  SmallVector<int64_t> shape;
  if (values->size() > 1) {
    if (axis < 0 || axis >= type.getRank() || type.getDimSize(axis) != int64_t(values->size()))
      return {};
    shape.assign(type.getRank() - axis, 1);
    shape[0] = values->size();
  }
  return makeConstant(RankedTensorType::get(shape, Float32Type::get(type.getContext())), *values);
}

bool isZero(Value v) {
  auto values = v ? numbers(v) : std::vector<float>{0.f};
  return values && llvm::all_of(*values, [](float f) { return f == 0; });
}

// The constants of a quantisation; `zero` is null where all zero points are 0.
struct Scales {
  Value scale, zero;
};

// Nothing unless scales and zero points (`zero` may be null) are constants that broadcast to `x`.
std::optional<Scales> spreadScales(PatternRewriter &rewriter, Value scale, Value zero, RankedTensorType x, int64_t axis) {
  bool isShifted = !isZero(zero);
  ElementsAttr scales = spread(scale, x, axis), zeros = isShifted ? spread(zero, x, axis) : ElementsAttr();
  if (!scales || (isShifted && !zeros))
    return std::nullopt;
  Scales result{onnx::ConstantOp::create(rewriter, scale.getLoc(), scales), {}};
  if (isShifted)
    result.zero = onnx::ConstantOp::create(rewriter, zero.getLoc(), zeros);
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

// clip(round(x / scale) + zero)
LogicalResult quantise(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  Type to = onnx::elementType(op.getY());
  if (!x || !x.getElementType().isF32() || !isShort(to) || op.getBlockSize() != 0 || onnx::intAttr(op, "precision") != 0)
    return rewriter.notifyMatchFailure(op, "not f32 to short integers");
  Location loc = op.getLoc();
  auto scales = spreadScales(rewriter, op.getYScale(), op.getYZeroPoint(), x, op.getAxis());
  if (!scales)
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  GraphBuilder g{rewriter, loc};
  auto quotient = onnx::DivOp::create(rewriter, loc, x, op.getX(), scales->scale);
  unsigned bits = to.getIntOrFloatBitWidth();
  RankedTensorType divisors = rankedType(scales->scale);
  bool sameAlongRows = divisors.getNumElements() == 1 || divisors.getShape().back() == 1;  // others codegen divides by
  if (sameAlongRows && llvm::all_of(*constantFloats(scales->scale), [&](float scale) { return byProducts(scale, bits); }))
    quotient->setAttr(onnx::kByProductsAttr, rewriter.getUnitAttr());
  Value v = onnx::RoundOp::create(rewriter, loc, x, quotient);
  rewriter.replaceOp(op, clippedTo(op.getY().getType(), v, scales->zero, g));
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

// (x - zero) * scale. Integers of 16 bits that were just quantised stay f32, where bytes take a quarter of the memory.
LogicalResult dequantise(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  if (!x || !isShort(x.getElementType()) || !onnx::elementType(op.getY()).isF32() || op.getBlockSize() != 0 ||
      onnx::constantValue(op.getX()))
    return rewriter.notifyMatchFailure(op, "not short integers to f32");
  Location loc = op.getLoc();
  auto scales = spreadScales(rewriter, op.getXScale(), op.getXZeroPoint(), x, op.getAxis());
  if (!scales)
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  if (auto quantised = op.getX().getDefiningOp<onnx::QuantizeLinearOp>()) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(quantised);
    (void)quantise(quantised, rewriter);
  }
  Type type = x.clone(rewriter.getF32Type());
  Value v = isByte(x.getElementType()) ? Value() : wholeNumbers(op.getX());
  if (!v)
    v = GraphBuilder{rewriter, loc}.cast(op.getX(), rewriter.getF32Type());
  if (scales->zero)
    v = onnx::SubOp::create(rewriter, loc, type, v, scales->zero);
  rewriter.replaceOpWithNewOp<onnx::MulOp>(op, op.getY().getType(), v, scales->scale);
  return success();
}

}  // namespace

void populateQuantisationPatterns(RewritePatternSet &patterns, int64_t &maxBytes) {
  patterns.add<DequantiseConstant>(patterns.getContext(), maxBytes);
  patterns.add(quantise);
  patterns.add(dequantise);
}

}  // namespace onnxc
