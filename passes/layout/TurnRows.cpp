// TurnRows.cpp: softmaxes and choices along an axis that would leave most lanes of a vector empty get the order of axes that does not.
// After BlockChannels, before PackWeights, whose products take in transpositions.
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/layout/Passes.h"

namespace onnxc {
#define GEN_PASS_DEF_TURNROWS
#include "passes/layout/Passes.h.inc"

using namespace mlir;

// Lanes of a vector: a row of so few numbers, or as few rows side by side, leave it mostly empty. Of `kShort` it pays from memory too, of
// more where a second-level cache holds what the transpositions write.
static constexpr int64_t kLanesOfRows = 16, kShort = 8, kCached = 1 << 18;  // kCached: numbers of the whole operand
static constexpr int64_t kMany = 64;                                        // rows, or numbers of one, that are worth two transpositions

// The product of the sizes that are known.
static int64_t knownSizes(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= ShapedType::isDynamic(size) ? 1 : size;
  return n;
}

// Where the axis of the rows should be: in front, where they are short and many; behind all others, where few long ones lie side by side;
// where it is.
static int64_t bestPlace(RankedTensorType type, int64_t axis) {
  ArrayRef<int64_t> shape = type.getShape(), behind = shape.drop_front(axis + 1);
  const int64_t length = shape[axis], inner = ShapedType::isStaticShape(behind) ? knownSizes(behind) : kLanesOfRows;
  auto pays = [&](int64_t few) { return few <= kShort || (type.hasStaticShape() && type.getNumElements() <= kCached); };
  if (length == 0 || length == 1 || inner == 0 || inner >= kLanesOfRows)
    return axis;
  if (!ShapedType::isDynamic(length) && length <= kLanesOfRows)
    return knownSizes(shape) / length >= kMany && pays(length) ? 0 : axis;
  return inner > 1 && (ShapedType::isDynamic(length) || length >= kMany) && pays(inner) ? type.getRank() - 1 : axis;
}

// The order of axes that brings `axis` to `place`, those between move up.
static SmallVector<int64_t> moved(int64_t rank, int64_t axis, int64_t place) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  order.erase(order.begin() + axis);
  order.insert(order.begin() + place, axis);
  return order;
}

// An op along its attribute `axis`: that axis goes to its best place, and back in results that have it.
template <class Op>
static LogicalResult turnRows(Op op, PatternRewriter &rewriter) {
  auto type = rankedType(op->getOperand(0));
  if (!type || type.getRank() == 0)
    return rewriter.notifyMatchFailure(op, "no rows");
  const int64_t rank = type.getRank(), axis = onnx::axisAttr(op, rank), place = bestPlace(type, axis);
  if (place == axis)
    return rewriter.notifyMatchFailure(op, "fills the lanes, or has too little or too much to move");
  const SmallVector<int64_t> there = moved(rank, axis, place), back = moved(rank, place, axis);
  GraphBuilder g{rewriter, op.getLoc()};
  auto turned = cast<Op>(rewriter.clone(*op));
  turned->setOperand(0, g.transpose(op->getOperand(0), there));
  rewriter.moveOpAfter(turned, turned->getOperand(0).getDefiningOp());
  turned->setAttr("axis", rewriter.getI64IntegerAttr(place));
  rewriter.setInsertionPointAfter(turned);
  SmallVector<Value> results;
  for (Value r : turned->getResults()) {
    auto of = cast<RankedTensorType>(r.getType());
    if (of.getRank() < rank) {
      results.push_back(r);
      continue;
    }
    SmallVector<int64_t> shape;
    for (int64_t d : there)
      shape.push_back(of.getDimSize(d));
    r.setType(of.clone(shape));
    results.push_back(g.transpose(r, back));
    results.back().setType(of);
  }
  rewriter.replaceOp(op, results);
  return success();
}

namespace {
struct TurnRows : impl::TurnRowsBase<TurnRows> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(turnRows<onnx::SoftmaxOp>);
    patterns.add(turnRows<onnx::LogSoftmaxOp>);
    patterns.add(turnRows<onnx::HardmaxOp>);
    patterns.add(turnRows<onnx::ArgMaxOp>);
    patterns.add(turnRows<onnx::ArgMinOp>);
    patterns.add(turnRows<onnx::TopKOp>);
    onnx::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
