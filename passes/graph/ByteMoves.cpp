// ByteMoves.cpp: what only picks and moves values does so with bytes: MaxPool, means and moves of dequantised values; a value is quantised
// before it is moved, and a quantisation takes back the dequantisation before it. First step of the integer-contractions pass.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

// The dequantisation that makes `v`, of bytes with one constant scale; null where there is none.
static onnx::DequantizeLinearOp dequantisation(Value v) {
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  return dq && scalingOf(dq) ? dq : onnx::DequantizeLinearOp();
}

// The greatest of values is that of their bytes.
static LogicalResult maxPool(onnx::MaxPoolOp op, PatternRewriter &rewriter) {
  auto dq = dequantisation(op.getX());
  if (!dq || op->getNumResults() != 1)
    return rewriter.notifyMatchFailure(op, "not of one dequantised value");
  rewriter.replaceOp(op, dequantiseAs(rewriter, dq, op->getResult(0).getType(), movedBy(rewriter, op, dq.getX())));
  return success();
}

// A product of rows that are views of dequantised values reads views of the bytes.
static LogicalResult dequantiseLast(Operation *op, PatternRewriter &rewriter) {
  auto view = op->getOperand(0).getDefiningOp();
  auto dq = isView(view) ? dequantisation(view->getOperand(0)) : onnx::DequantizeLinearOp();
  if (!dq)
    return rewriter.notifyMatchFailure(op, "not of views of dequantised values");
  Value last = dequantiseAs(rewriter, dq, view->getResult(0).getType(), movedBy(rewriter, view, dq.getX()));
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, last); });
  return success();
}
static LogicalResult gemmOfViews(onnx::GemmOp op, PatternRewriter &rewriter) { return dequantiseLast(op, rewriter); }
static LogicalResult productOfViews(onnx::MatMulOp op, PatternRewriter &rewriter) { return dequantiseLast(op, rewriter); }

// The mean over all pixels is that of the bytes, less the zero point, in units of the scale.
static LogicalResult meanOfBytes(Operation *op, PatternRewriter &rewriter) {
  auto dq = dequantisation(op->getOperand(0));
  auto x = dq ? rankedType(dq.getX()) : RankedTensorType();
  auto result = rankedType(op->getResult(0));
  if (!x || !result || x.getRank() != 4 || result.getRank() != 4 || x.isDynamicDim(1))
    return rewriter.notifyMatchFailure(op, "not over the pixels of dequantised values");
  Location loc = op->getLoc();
  int64_t channels = x.getDimSize(1);
  RankedTensorType blocked = onnx::blockedType(x),
                   mean = onnx::blockedType(RankedTensorType::get({x.getDimSize(0), channels, 1, 1}, rewriter.getF32Type()));
  GraphBuilder g{rewriter, loc};
  Scaling scaling = *scalingOf(dq);
  Value v = onnx::PackedBlockOp::create(rewriter, loc, blocked, dq.getX());
  v = onnx::PackedByteMeanOp::create(rewriter, loc, mean, v);
  v = onnx::PackedUnblockOp::create(rewriter, loc, result, v, rewriter.getI64IntegerAttr(channels));
  v = onnx::SubOp::create(rewriter, loc, result, v, g.number(scaling.zero));
  rewriter.replaceOpWithNewOp<onnx::MulOp>(op, result, v, g.number(scaling.scale));
  return success();
}
static LogicalResult globalMean(onnx::GlobalAveragePoolOp op, PatternRewriter &rewriter) { return meanOfBytes(op, rewriter); }
static LogicalResult reducedMean(onnx::ReduceMeanOp op, PatternRewriter &rewriter) {
  auto axes = onnx::integerElements(op.getAxes());
  if (!axes || axes->size() != 2 || !onnx::intAttr(op, "keepdims", 1))
    return rewriter.notifyMatchFailure(op, "not over two axes");
  int64_t a = ((*axes)[0] + 4) % 4, b = ((*axes)[1] + 4) % 4;
  return (a == 2 && b == 3) || (a == 3 && b == 2) ? meanOfBytes(op, rewriter) : failure();
}

// Ops whose results are elements of their data; quantising those instead gives the same bytes.
static bool moves(Operation *op) {
  static const llvm::StringSet<> names = {"Concat", "Reshape",      "Transpose",    "Flatten", "Squeeze",
                                          "Slice",  "DepthToSpace", "SpaceToDepth", "MaxPool", "Unsqueeze"};
  return names.contains(onnx::opName(op)) && op->getNumResults() == 1 && op->hasOneUse();
}
static LogicalResult quantiseFirst(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  Operation *move = op.getX().getDefiningOp();
  if (!move || !onnx::isOnnx(move) || !moves(move) || !scalingOf(op))
    return rewriter.notifyMatchFailure(op, "not of moved values");
  Type element = onnx::elementType(op.getY());
  unsigned data = onnx::opName(move) == "Concat" ? move->getNumOperands() : 1;
  for (Value v : move->getOperands().take_front(data))
    if (onnx::constantValue(v) || !isa<TensorType>(v.getType()))
      return rewriter.notifyMatchFailure(op, "of constants");
  Operation *bytes = rewriter.clone(*move);
  rewriter.setInsertionPoint(bytes);
  for (unsigned i = 0; i < data; ++i) {
    Value v = move->getOperand(i);
    bytes->setOperand(i, onnx::QuantizeLinearOp::create(rewriter, op.getLoc(), cast<TensorType>(v.getType()).clone(element), v,
                                                        op.getYScale(), op.getYZeroPoint()));
  }
  bytes->getResult(0).setType(op.getY().getType());
  rewriter.replaceOp(op, bytes->getResult(0));
  return success();
}

// ((q - zero) scale / scale) rounds to q - zero again.
static LogicalResult roundTrip(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto dq = dequantisation(op.getX());
  auto to = scalingOf(op), from = dq ? scalingOf(dq) : std::nullopt;
  if (!to || !from || to->scale != from->scale || to->zero != from->zero || op.getY().getType() != dq.getX().getType())
    return rewriter.notifyMatchFailure(op, "not what the value was dequantised with");
  rewriter.replaceOp(op, dq.getX());
  return success();
}

// v scale / scale is v: what lies between two steps must not be rounded to either side.
static LogicalResult takeBackScale(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto mul = op.getX().getDefiningOp<onnx::MulOp>();
  auto to = scalingOf(op);
  auto scale = mul ? constantFloats(mul.getB()) : std::nullopt;
  if (!to || !scale || scale->size() != 1 || scale->front() != to->scale || mul.getA().getType() != mul.getType())
    return rewriter.notifyMatchFailure(op, "not of a product with its scale");
  Value one = GraphBuilder{rewriter, op.getLoc()}.number(1);
  rewriter.modifyOpInPlace(op, [&] { op.setOperand(0, mul.getA()), op.setOperand(1, one); });
  return success();
}

void populateByteMovePatterns(RewritePatternSet &patterns) {
  patterns.add(maxPool);
  patterns.add(gemmOfViews);
  patterns.add(productOfViews);
  patterns.add(globalMean);
  patterns.add(reducedMean);
  patterns.add(quantiseFirst);
  patterns.add(roundTrip);
  patterns.add(takeBackScale);
}

}  // namespace onnxc
