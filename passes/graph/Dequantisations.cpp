// Dequantisations.cpp: weights of integers that a model dequantises by Cast, Sub and Mul, as exporters of weight-only quantisation write
// it, as DequantizeLinear, which keeps them integers where something multiplies or gathers them (QuantisedWeights.cpp, ScaledProducts.cpp)
// and folds them elsewhere (compiler/ConstantIslands.cpp). Part of the simplify pass.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kFewWeights = 4096;  // stay as they are

// The many integers of 4 or 8 bits that `v` was cast from to f32; null for others.
Value castIntegers(Value v) {
  auto cast = v ? v.getDefiningOp<onnx::CastOp>() : onnx::CastOp();
  auto type = cast ? rankedType(cast.getInput()) : RankedTensorType();
  bool isMany = type && type.hasStaticShape() && type.getNumElements() >= kFewWeights && onnx::constantValue(cast.getInput());
  bool isShort = isMany && (isByte(type.getElementType()) || type.getElementType().isInteger(4));
  return isShort && onnx::elementType(v).isF32() ? cast.getInput() : Value();
}

// Numbers that broadcast to a tensor: one, or one for each index of `axis`.
struct AlongAxis {
  std::vector<float> values;
  std::optional<int64_t> axis;
};
std::optional<AlongAxis> alongAxis(Value v, RankedTensorType to) {
  auto type = rankedType(v);
  auto cast = v.getDefiningOp<onnx::CastOp>();
  auto values = cast ? constantIntegers(cast.getInput()) : constantFloats(v);
  if (!values || !type || type.getRank() > to.getRank())
    return std::nullopt;
  AlongAxis result{*values, std::nullopt};
  for (int64_t i = 0, before = to.getRank() - type.getRank(); i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1) {
      if (result.axis || type.getDimSize(i) != to.getDimSize(before + i))
        return std::nullopt;
      result.axis = before + i;
    }
  return result;
}

// A constant of the integers that `zeros` are, of q's type; null where one of them is none of its numbers.
Value zeroPoints(PatternRewriter &rewriter, Location loc, Type element, const std::vector<float> &zeros, ArrayRef<int64_t> shape) {
  bool isSigned = !element.isUnsignedInteger();
  int64_t span = int64_t(1) << element.getIntOrFloatBitWidth(), least = isSigned ? -span / 2 : 0;
  std::vector<char> bytes;
  for (float zero : zeros) {
    if (!(zero >= float(least) && zero < float(least + span)) || zero != std::trunc(zero))
      return {};
    bytes.push_back(char(int(zero)));
  }
  return onnx::ConstantOp::create(rewriter, loc, makeConstant(RankedTensorType::get(shape, element), std::move(bytes)));
}

// (Cast(q) - zero) * scale = DequantizeLinear(q, scale, zero)
LogicalResult scaledCast(onnx::MulOp op, PatternRewriter &rewriter) {
  auto type = rankedType(op);
  for (auto [weights, factor] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
    auto sub = weights.getDefiningOp<onnx::SubOp>();
    Value q = castIntegers(sub ? sub.getA() : weights);
    if (!q || !type || type.getShape() != rankedType(q).getShape())
      continue;
    auto scale = alongAxis(factor, type);
    auto zero = sub ? alongAxis(sub.getB(), type) : AlongAxis{{0}, std::nullopt};
    if (!scale || !zero || (scale->axis && zero->axis && scale->axis != zero->axis))
      continue;
    auto axis = scale->axis ? scale->axis : zero->axis;
    int64_t count = axis ? type.getDimSize(*axis) : 1;
    for (AlongAxis *each : {&*scale, &*zero})
      if (!each->axis)
        each->values.assign(count, each->values.front());
    SmallVector<int64_t> shape(axis ? 1 : 0, count);
    Value zeros = sub ? zeroPoints(rewriter, op.getLoc(), onnx::elementType(q), zero->values, shape) : Value();
    if (sub && !zeros)
      continue;
    GraphBuilder g{rewriter, op.getLoc()};
    auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
    rewriter.replaceOpWithNewOp<onnx::DequantizeLinearOp>(op, op.getType(), q, g.floats(shape, scale->values), zeros, n(axis.value_or(0)),
                                                          n(0), n(0));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no integers times a scale");
}

// MatMul(a, Cast(q)) = MatMul(a, DequantizeLinear(q, 1)): the scale follows the product.
LogicalResult multipliedCast(onnx::MatMulOp op, PatternRewriter &rewriter) {
  Value q = castIntegers(op.getB());
  if (!q)
    return rewriter.notifyMatchFailure(op, "no integers");
  GraphBuilder g{rewriter, op.getLoc()};
  auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  Value weights =
      onnx::DequantizeLinearOp::create(rewriter, op.getLoc(), op.getB().getType(), q, g.floats({}, {1}), Value(), n(0), n(0), n(0));
  rewriter.modifyOpInPlace(op, [&] { op.getBMutable().assign(weights); });
  return success();
}

}  // namespace

void populateDequantisationPatterns(RewritePatternSet &patterns) {
  patterns.add(scaledCast);
  patterns.add(multipliedCast);
}

}  // namespace onnxc
