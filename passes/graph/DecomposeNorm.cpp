// DecomposeNorm.cpp: normalisations and losses as the reductions and elementwise ops that they are, for which there are loops. One of the
// groups of Decompose.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "passes/graph/Decompose.h"

using namespace mlir;
namespace onnxc {

// The mean over axes in ascending order, which stay with size 1: run by run of neighbours, the innermost first, since loops join
// neighbours.
static Value meanOver(GraphBuilder g, Value v, ArrayRef<int64_t> axes) {
  while (!axes.empty()) {
    size_t n = 1;
    while (n < axes.size() && axes[axes.size() - n - 1] + 1 == axes[axes.size() - n])
      ++n;
    SmallVector<int64_t> shape(rankedType(v).getShape());
    for (int64_t a : axes.take_back(n))
      shape[a] = 1;
    v = onnx::ReduceMeanOp::create(g.b, g.loc, rankedType(v).clone(shape), v, g.integers(axes.take_back(n)), 1, 0);
    axes = axes.drop_back(n);
  }
  return v;
}

// (x - mean) / (deviation + 1e-9)
static LogicalResult meanVariance(onnx::MeanVarianceNormalizationOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  if (!x || !x.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not f32 of a known rank");
  SmallVector<int64_t> axes(op.getAxes());
  for (int64_t &a : axes)
    a += a < 0 ? x.getRank() : 0;
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  if (!axes.empty() && (axes.front() < 0 || axes.back() >= x.getRank()))
    return rewriter.notifyMatchFailure(op, "an axis that the operand has not");
  GraphBuilder g{rewriter, op.getLoc()};
  Value mean = meanOver(g, op.getX(), axes), centered = onnx::SubOp::create(rewriter, op.getLoc(), x, op.getX(), mean);
  Value variance = meanOver(g, onnx::MulOp::create(rewriter, op.getLoc(), x, centered, centered), axes);
  Value deviation = onnx::SqrtOp::create(rewriter, op.getLoc(), variance.getType(), variance);
  Value divisor = onnx::AddOp::create(rewriter, op.getLoc(), variance.getType(), deviation, g.number(1e-9f));
  rewriter.replaceOpWithNewOp<onnx::DivOp>(op, op.getType(), centered, divisor);
  return success();
}

// The loss of the logarithms of softmax: only the chosen classes are left to a kernel that looks at labels.
static LogicalResult crossEntropy(onnx::SoftmaxCrossEntropyLossOp op, PatternRewriter &rewriter) {
  auto scores = rankedType(op.getScores());
  if (!scores || scores.getRank() < 2 || !scores.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not f32 with an axis of classes");
  Value logs = onnx::LogSoftmaxOp::create(rewriter, op.getLoc(), scores, op.getScores(), rewriter.getI64IntegerAttr(1));
  Value loss = onnx::NegativeLogLikelihoodLossOp::create(rewriter, op.getLoc(), op.getOutput().getType(), logs, op.getLabels(),
                                                         op.getWeights(), op.getIgnoreIndexAttr(), op.getReductionAttr());
  SmallVector<Value> results = {loss};
  if (op.getLogProb())
    results.push_back(logs);
  rewriter.replaceOp(op, results);
  return success();
}

void populateDecomposeNormPatterns(RewritePatternSet &patterns) {
  patterns.add(meanVariance);
  patterns.add(crossEntropy);
}

}  // namespace onnxc
