// Concatenations.cpp: what follows a Concat is done to its operands: pointwise ops and normalisations by channels where convolutions,
// products and windows make these, so that their weights take it or their kernels compute it besides; cuts that give an operand back.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {

// Whether a kernel that accumulates makes `v`, which nothing else reads, perhaps with views and pointwise ops behind: it computes one more
// for nothing.
static bool isAccumulated(Value v, unsigned depth = 4) {
  Operation *op = v.getDefiningOp();
  if (!op || !v.hasOneUse() || !depth)
    return false;
  if (llvm::isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::GemmOp, onnx::MatMulOp, onnx::AveragePoolOp, onnx::MaxPoolOp, onnx::ResizeOp>(
          op))
    return true;
  if (isView(op))
    return isAccumulated(op->getOperand(0), depth - 1);
  return isPointwise(op) && llvm::any_of(op->getOperands(), [&](Value o) { return isAccumulated(o, depth - 1); });
}

// The axis of operand `i` of a pointwise or channelwise `op` that lies along `axis` of its result; negative: none does.
static int64_t axisOfOperand(Operation *op, unsigned i, int64_t axis) {
  if (isChannelwise(op) && i > 0)  // one number a channel
    return axis == 1 ? 0 : -1;
  return axis - rankedType(op->getResult(0)).getRank() + rankedType(op->getOperand(i)).getRank();
}

// Elements [first, first + count) along `axis` of a constant of floats, or all where it has only one there.
static Value partOfConstant(GraphBuilder g, Value v, int64_t axis, int64_t first, int64_t count) {
  auto type = rankedType(v);
  if (axis < 0 || type.getDimSize(axis) == 1)
    return v;
  std::vector<float> all = *constantFloats(v), some;
  SmallVector<int64_t> shape(type.getShape());
  int64_t inner = ShapedType::getNumElements(ArrayRef(shape).drop_front(axis + 1)), step = shape[axis] * inner;
  for (auto row = all.begin(); row != all.end(); row += step)
    some.insert(some.end(), row + first * inner, row + (first + count) * inner);
  shape[axis] = count;
  return g.floats(shape, some);
}

// Op(Concat(a, b), constants) = Concat(Op(a, constants), Op(b, constants)), where most of the Concat is accumulated: other operands take a
// pass of their own then, which is no more than they were of one over the whole.
static LogicalResult moveBeforeConcat(Operation *op, PatternRewriter &rewriter) {
  bool channelwise = isChannelwise(op);
  if (!channelwise && !isPointwise(op))
    return failure();
  unsigned at = 0;
  while (at < op->getNumOperands() && onnx::constantValue(op->getOperand(at)))
    ++at;
  auto concat = at < op->getNumOperands() ? op->getOperand(at).getDefiningOp<onnx::ConcatOp>() : onnx::ConcatOp();
  auto type = concat ? rankedType(concat.getResult()) : RankedTensorType();
  if (!type || !type.getElementType().isF32() || op->getResult(0).getType() != type || !concat->hasOneUse() ||
      concat->getBlock() != op->getBlock())
    return rewriter.notifyMatchFailure(op, "no Concat of floats before it that nothing else reads");
  int64_t axis = onnx::axisAttr(concat, type.getRank()), size = type.getDimSize(axis), accumulated = 0;
  for (Value v : concat.getInputs()) {
    if (!rankedType(v) || rankedType(v).isDynamicDim(axis))
      return rewriter.notifyMatchFailure(op, "sizes are not known");
    accumulated += isAccumulated(v) ? rankedType(v).getDimSize(axis) : 0;
  }
  if (2 * accumulated < size)
    return rewriter.notifyMatchFailure(op, "most of what is joined is not accumulated");
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value v = op->getOperand(i);
    auto own = rankedType(v);
    if (i == at)
      continue;
    if (!own || own.getRank() > type.getRank() || !constantFloats(v))
      return rewriter.notifyMatchFailure(op, "an operand that is no constant of floats");
    int64_t along = axisOfOperand(op, i, axis);
    if (along >= 0 && along < own.getRank() && own.getDimSize(along) != 1 && own.getDimSize(along) != size)
      return rewriter.notifyMatchFailure(op, "a constant of another size");
  }
  GraphBuilder g{rewriter, op->getLoc()};
  SmallVector<Value> results;
  int64_t first = 0;
  for (Value v : concat.getInputs()) {
    int64_t count = rankedType(v).getDimSize(axis);
    SmallVector<Value> operands;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      operands.push_back(i == at ? v : partOfConstant(g, op->getOperand(i), axisOfOperand(op, i, axis), first, count));
    Operation *part = rewriter.clone(*op);
    part->setOperands(operands);
    part->getResult(0).setType(v.getType());
    results.push_back(part->getResult(0));
    first += count;
  }
  rewriter.replaceOpWithNewOp<onnx::ConcatOp>(op, type, results, axis);
  return success();
}

// The operand of the Concat that makes `x` whose elements along `axis` are [first, first + count) of it, as a value of type `type`.
static Value operandOf(Value x, int64_t axis, int64_t first, int64_t count, Type type) {
  auto concat = x.getDefiningOp<onnx::ConcatOp>();
  int64_t rank = rankedType(x) ? rankedType(x).getRank() : 0, at = 0;
  if (!concat || !rank || onnx::axisAttr(concat, rank) != axis)
    return {};
  for (Value v : concat.getInputs()) {
    if (!rankedType(v) || rankedType(v).isDynamicDim(axis) || at > first)
      return {};
    int64_t size = rankedType(v).getDimSize(axis);
    if (at == first && size == count)
      return v.getType() == type ? v : Value();
    at += size;
  }
  return {};
}

// Results of a Split that are operands of the Concat before it.
static LogicalResult splitOfConcat(onnx::SplitOp op, PatternRewriter &rewriter) {
  Value x = op.getInput();
  int64_t axis = rankedType(x) ? onnx::axisAttr(op, rankedType(x).getRank()) : 0, first = 0;
  bool any = false;
  for (Value result : op.getOutputs()) {
    auto type = rankedType(result);
    if (!type || axis >= type.getRank() || type.isDynamicDim(axis))
      break;
    int64_t count = type.getDimSize(axis);
    Value same = operandOf(x, axis, first, count, type);
    first += count;
    if (!same || result.use_empty())
      continue;
    rewriter.replaceAllUsesWith(result, same);
    any = true;
  }
  return success(any);
}

void populateConcatenationPatterns(RewritePatternSet &patterns) {
  struct MoveBeforeConcat : RewritePattern {
    MoveBeforeConcat(MLIRContext *c) : RewritePattern(MatchAnyOpTypeTag(), 2, c) {}  // before a normalisation becomes a product and a sum
    LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override { return moveBeforeConcat(op, rewriter); }
  };
  patterns.add<MoveBeforeConcat>(patterns.getContext());
  patterns.add(splitOfConcat);
}

}  // namespace onnxc
