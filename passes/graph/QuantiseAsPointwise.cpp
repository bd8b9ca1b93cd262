// QuantiseAsPointwise.cpp: quantisation and dequantisation of bytes with constant scales as the arithmetic that they are, which fuses with
// the ops around it. The last step of the integer-contractions pass, whose rewrites look for the whole ops.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

// The elements of a constant of bytes or f32.
std::optional<std::vector<float>> numbers(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  Type type = value ? value.getElementType() : Type();
  if (!type || !isByte(type))
    return constantFloats(v);
  auto bytes = constantBytes(value);
  if (!bytes)
    return std::nullopt;
  std::vector<float> result;
  for (char c : *bytes)
    result.push_back(type.isUnsignedInteger() ? float(uint8_t(c)) : float(int8_t(c)));
  return result;
}

// `v`, one value or one for each index of `axis`, as a constant that broadcasts to `type`; null for others.
ElementsAttr spread(Value v, RankedTensorType type, int64_t axis) {
  auto values = numbers(v);
  axis += axis < 0 ? type.getRank() : 0;
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

// clip(round(x / scale) + zero)
LogicalResult quantise(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = llvm::dyn_cast<RankedTensorType>(op.getX().getType());
  Type to = onnx::elementType(op.getY());
  if (!x || !x.getElementType().isF32() || !isByte(to) || op.getBlockSize() != 0 || onnx::intAttr(op, "precision") != 0)
    return rewriter.notifyMatchFailure(op, "not f32 to bytes");
  Location loc = op.getLoc();
  auto scales = spreadScales(rewriter, op.getYScale(), op.getYZeroPoint(), x, op.getAxis());
  if (!scales)
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  GraphBuilder g{rewriter, loc};
  bool isSigned = to.isSignlessInteger();
  Value v = onnx::RoundOp::create(rewriter, loc, x, onnx::DivOp::create(rewriter, loc, x, op.getX(), scales->scale));
  if (scales->zero)
    v = onnx::AddOp::create(rewriter, loc, x, v, scales->zero);
  v = onnx::ClipOp::create(rewriter, loc, x, v, g.number(isSigned ? -128 : 0), g.number(isSigned ? 127 : 255));
  rewriter.replaceOpWithNewOp<onnx::CastOp>(op, op.getY().getType(), v, "up", 1, isSigned ? kInt8 : kUint8);
  return success();
}

// (x - zero) * scale
LogicalResult dequantise(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) {
  auto x = llvm::dyn_cast<RankedTensorType>(op.getX().getType());
  if (!x || !isByte(x.getElementType()) || !onnx::elementType(op.getY()).isF32() || op.getBlockSize() != 0 ||
      onnx::constantValue(op.getX()))
    return rewriter.notifyMatchFailure(op, "not bytes to f32");
  Location loc = op.getLoc();
  auto scales = spreadScales(rewriter, op.getXScale(), op.getXZeroPoint(), x, op.getAxis());
  if (!scales)
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  Type type = x.clone(rewriter.getF32Type());
  Value v = onnx::CastOp::create(rewriter, loc, type, op.getX(), "up", 1, kFloat);
  if (scales->zero)
    v = onnx::SubOp::create(rewriter, loc, type, v, scales->zero);
  rewriter.replaceOpWithNewOp<onnx::MulOp>(op, op.getY().getType(), v, scales->scale);
  return success();
}

}  // namespace

void populateQuantisationPatterns(RewritePatternSet &patterns) {
  patterns.add(quantise);
  patterns.add(dequantise);
}

}  // namespace onnxc
