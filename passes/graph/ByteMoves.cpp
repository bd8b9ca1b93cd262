// ByteMoves.cpp: what only picks and moves values does so with bytes: MaxPool and views of dequantised values; a quantisation takes back
// the dequantisation before it. Beside the first step of the integer-contractions pass.
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

bool isByte(Type type) { return type && (type.isSignlessInteger(8) || type.isUnsignedInteger(8)); }

// The one scale of a dequantisation of bytes; nothing where it has several or they are not constant.
std::optional<float> scaleOf(Value scale, int64_t blockSize) {
  auto scales = constantFloats(scale);
  bool one = scales && scales->size() == 1 && blockSize == 0 && scales->front() > 0 && std::isfinite(scales->front());
  return one ? std::optional(scales->front()) : std::nullopt;
}
std::optional<int> zeroOf(Value zero) {
  ElementsAttr value = zero ? onnx::constantValue(zero) : ElementsAttr();
  auto bytes = value && isByte(value.getElementType()) ? constantBytes(value) : std::nullopt;
  if (!zero)
    return 0;
  return bytes && bytes->size() == 1 ? std::optional<int>(uint8_t(bytes->front())) : std::nullopt;
}

onnx::DequantizeLinearOp dequantised(Value v) {
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  bool fits = dq && isByte(onnx::elementType(dq.getX())) && onnx::elementType(dq.getY()).isF32() && !onnx::constantValue(dq.getX()) &&
              scaleOf(dq.getXScale(), dq.getBlockSize()) && zeroOf(dq.getXZeroPoint());
  return fits ? dq : onnx::DequantizeLinearOp();
}

// The greatest of values is that of their bytes.
LogicalResult maxPool(onnx::MaxPoolOp op, PatternRewriter &rewriter) {
  auto dq = dequantised(op.getX());
  if (!dq || op->getNumResults() != 1)
    return rewriter.notifyMatchFailure(op, "not of one dequantised value");
  Operation *bytes = rewriter.clone(*op);
  bytes->setOperand(0, dq.getX());
  bytes->getResult(0).setType(cast<TensorType>(op->getResult(0).getType()).clone(onnx::elementType(dq.getX())));
  rewriter.replaceOpWithNewOp<onnx::DequantizeLinearOp>(op, op->getResult(0).getType(), bytes->getResult(0), dq.getXScale(),
                                                        dq.getXZeroPoint(), dq.getAxisAttr(), dq.getBlockSizeAttr(),
                                                        dq.getOutputDtypeAttr());
  return success();
}

// ((q - zero) scale / scale) rounds to q - zero again.
LogicalResult roundTrip(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto dq = dequantised(op.getX());
  auto scale = scaleOf(op.getYScale(), op.getBlockSize());
  if (!dq || !scale || *scale != *scaleOf(dq.getXScale(), 0) || zeroOf(op.getYZeroPoint()) != zeroOf(dq.getXZeroPoint()) ||
      op.getY().getType() != dq.getX().getType())
    return rewriter.notifyMatchFailure(op, "not what the value was dequantised with");
  rewriter.replaceOp(op, dq.getX());
  return success();
}

}  // namespace

void populateByteMovePatterns(RewritePatternSet &patterns) {
  patterns.add(maxPool);
  patterns.add(roundTrip);
}

}  // namespace onnxc
