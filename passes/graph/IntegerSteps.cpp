// IntegerSteps.cpp: what the steps of the integer-contractions pass know of quantisations alike.
#include "passes/graph/IntegerSteps.h"
#include "dialects/onnx/Elementwise.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

static std::optional<Scaling> scalingOf(Value scale, Value zero, int64_t blockSize) {
  auto scales = constantFloats(scale);
  ElementsAttr value = zero ? onnx::constantValue(zero) : ElementsAttr();
  auto bytes = value && isByte(value.getElementType()) ? constantBytes(value) : std::nullopt;
  if (!scales || scales->size() != 1 || blockSize != 0 || !(scales->front() > 0) || !std::isfinite(scales->front()) ||
      (zero && (!bytes || bytes->size() != 1)))
    return std::nullopt;
  bool isSigned = zero && value.getElementType().isSignlessInteger();
  return Scaling{scales->front(), !zero ? 0 : isSigned ? float(int8_t(bytes->front())) : float(uint8_t(bytes->front()))};
}
std::optional<Scaling> scalingOf(onnx::QuantizeLinearOp op) {
  bool fits = isByte(onnx::elementType(op.getY())) && onnx::elementType(op.getX()) && onnx::elementType(op.getX()).isF32();
  return fits ? scalingOf(op.getYScale(), op.getYZeroPoint(), op.getBlockSize()) : std::nullopt;
}
std::optional<Scaling> scalingOf(onnx::DequantizeLinearOp op) {
  bool fits = isByte(onnx::elementType(op.getX())) && onnx::elementType(op.getY()).isF32() && !onnx::constantValue(op.getX());
  return fits ? scalingOf(op.getXScale(), op.getXZeroPoint(), op.getBlockSize()) : std::nullopt;
}

Value dequantiseAs(PatternRewriter &rewriter, onnx::DequantizeLinearOp like, Type type, Value bytes) {
  return onnx::DequantizeLinearOp::create(rewriter, like.getLoc(), type, bytes, like.getXScale(), like.getXZeroPoint(), like.getAxisAttr(),
                                          like.getBlockSizeAttr(), like.getOutputDtypeAttr());
}
Value movedBy(PatternRewriter &rewriter, Operation *move, Value v) {
  Operation *moved = rewriter.clone(*move);
  moved->setOperand(0, v);
  moved->getResult(0).setType(cast<TensorType>(move->getResult(0).getType()).clone(onnx::elementType(v)));
  return moved->getResult(0);
}

Limits limitsOf(Type element) {
  int64_t count = int64_t(1) << element.getIntOrFloatBitWidth();
  return element.isUnsignedInteger() ? Limits{0, float(count - 1)} : Limits{-float(count / 2), float(count / 2 - 1)};
}

float inSteps(float value, Scaling scaling, Type element) {
  Limits limits = limitsOf(element);
  return std::clamp(std::nearbyint(value / scaling.scale) + scaling.zero, limits.least, limits.most);
}

Value clippedTo(Type type, Value whole, Value zero, GraphBuilder g) {
  Type single = whole.getType();
  Limits limits = limitsOf(cast<TensorType>(type).getElementType());
  Value v = zero ? Value(onnx::AddOp::create(g.b, g.loc, single, whole, zero)) : whole;
  v = onnx::ClipOp::create(g.b, g.loc, single, v, g.number(limits.least), g.number(limits.most));
  return g.as(type, v);
}

std::optional<std::pair<float, float>> boundsOf(Operation *op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (llvm::isa<onnx::ReluOp>(op))
    return std::pair(0.0f, kInfinity);
  auto clip = llvm::dyn_cast<onnx::ClipOp>(op);
  auto bound = [](Value v, float otherwise) {
    auto values = v ? constantFloats(v) : std::vector<float>{otherwise};
    return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
  };
  auto low = clip ? bound(onnx::operand(op, 1), -kInfinity) : std::nullopt, high = clip ? bound(onnx::operand(op, 2), kInfinity) : low;
  return low && high && *low <= *high ? std::optional(std::pair(*low, *high)) : std::nullopt;
}

}  // namespace onnxc
