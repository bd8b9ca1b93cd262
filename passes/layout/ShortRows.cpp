// ShortRows.cpp: softmaxes and choices of few numbers each, of many rows, with the rows in the lanes. After BlockChannels, before
// PackWeights, whose products take in transpositions.
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/layout/Passes.h"

namespace onnxc {
#define GEN_PASS_DEF_SHORTROWS
#include "passes/layout/Passes.h.inc"

using namespace mlir;

// Numbers of a row: more fill a vector, which a row by itself leaves mostly empty. Those of `kShort` gain from memory too, others where a
// second-level cache holds what the transpositions write.
static constexpr int64_t kLong = 16, kShort = 8, kCached = 1 << 18;
static constexpr int64_t kMany = 64;  // rows that are worth two transpositions

// The product of the sizes that are known.
static int64_t knownSizes(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= ShapedType::isDynamic(size) ? 1 : size;
  return n;
}

// Whether the operand's rows along `axis` are short, innermost and many.
static bool hasShortRows(RankedTensorType type, int64_t axis) {
  ArrayRef<int64_t> shape = type.getShape();
  const int64_t length = shape[axis];
  bool isShort = !ShapedType::isDynamic(length) && length > 1 && length <= kLong;
  if (!isShort || llvm::any_of(shape.drop_front(axis + 1), [](int64_t n) { return n != 1; }))
    return false;
  return knownSizes(shape) / length >= kMany && (length <= kShort || (type.hasStaticShape() && type.getNumElements() <= kCached));
}

// An op along its attribute `axis`: that axis is the first, and is brought back in results that have it.
template <class Op>
static LogicalResult transposeRows(Op op, PatternRewriter &rewriter) {
  auto type = rankedType(op->getOperand(0));
  if (!type || type.getRank() == 0)
    return rewriter.notifyMatchFailure(op, "no rows");
  const int64_t axis = onnx::axisAttr(op, type.getRank());
  if (!hasShortRows(type, axis))
    return rewriter.notifyMatchFailure(op, "rows that are long, few or not innermost, or more than a cache holds");
  SmallVector<int64_t> there = {axis}, back;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d != axis)
      there.push_back(d);
    back.push_back(d < axis ? d + 1 : d > axis ? d : 0);
  }
  GraphBuilder g{rewriter, op.getLoc()};
  auto across = cast<Op>(rewriter.clone(*op));
  across->setOperand(0, g.transpose(op->getOperand(0), there));
  rewriter.moveOpAfter(across, across->getOperand(0).getDefiningOp());
  across->setAttr("axis", rewriter.getI64IntegerAttr(0));
  rewriter.setInsertionPointAfter(across);
  SmallVector<Value> results;
  for (Value r : across->getResults()) {
    auto of = cast<RankedTensorType>(r.getType());
    if (of.getRank() < type.getRank()) {
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
struct ShortRows : impl::ShortRowsBase<ShortRows> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(transposeRows<onnx::SoftmaxOp>);
    patterns.add(transposeRows<onnx::LogSoftmaxOp>);
    patterns.add(transposeRows<onnx::HardmaxOp>);
    patterns.add(transposeRows<onnx::ArgMaxOp>);
    patterns.add(transposeRows<onnx::ArgMinOp>);
    patterns.add(transposeRows<onnx::TopKOp>);
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
