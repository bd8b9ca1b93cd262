// ByteSums.cpp: a sum of two dequantised values that is only quantised again, as the last step of the convolution that made one of them
// (packed.LinearConv's `other`): the residual of a quantised network. A step of the integer-contractions pass, behind its convolutions.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "passes/graph/IntegerSteps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {
namespace {

// A dequantised operand of the sum, and the convolution that nothing else reads the result of, where it is one.
struct Term {
  Value bytes;
  Scaling scaling;
  onnx::PackedLinearConvOp conv;
};

std::optional<Term> termOf(Value v) {
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  auto scaling = dq ? scalingOf(dq) : std::nullopt;
  if (!scaling)
    return std::nullopt;
  Term t{dq.getX(), *scaling, {}};
  auto unblock = t.bytes.getDefiningOp<onnx::PackedUnblockOp>();
  if (unblock && dq->hasOneUse() && unblock->hasOneUse() && unblock.getX().hasOneUse())
    t.conv = unblock.getX().getDefiningOp<onnx::PackedLinearConvOp>();
  bool takes = t.conv && !t.conv.getTable() && !t.conv.getOther() && t.conv.getChannels() && float(t.conv.getZero()) == scaling->zero;
  if (!takes)
    t.conv = {};
  return t;
}

Value blocked(PatternRewriter &rewriter, Value v) {
  if (auto unblock = v.getDefiningOp<onnx::PackedUnblockOp>())
    return unblock.getX();
  return onnx::PackedBlockOp::create(rewriter, v.getLoc(), onnx::blockedType(cast<RankedTensorType>(v.getType())), v);
}

// The value that the first axis of `v` is that of.
Value batchOf(Value v) {
  static const llvm::StringSet<> keep = {"packed.Block",
                                         "packed.Unblock",
                                         "packed.LinearConv",
                                         "packed.ByteTable",
                                         "packed.BytePool",
                                         "MaxPool",
                                         "QuantizeLinear",
                                         "DequantizeLinear",
                                         "Relu",
                                         "Clip"};
  for (Operation *op = v.getDefiningOp(); op && onnx::isOnnx(op) && keep.contains(onnx::opName(op)); op = v.getDefiningOp())
    v = op->getOperand(0);
  return v;
}

// Whether images `a` and `b` have the same shape in every run.
bool sameShape(Value a, Value b) {
  auto left = rankedType(a), right = rankedType(b);
  if (!left || !right || left.getShape() != right.getShape() || left.getRank() != 4)
    return false;
  bool known = RankedTensorType::get(left.getShape().drop_front(), left.getElementType()).hasStaticShape();
  return known && (!left.isDynamicDim(0) || batchOf(a) == batchOf(b));
}

LogicalResult sumOfConv(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto to = scalingOf(op);
  Operation *from = op.getX().getDefiningOp();
  auto bounds = from && from->hasOneUse() ? boundsOf(from) : std::nullopt;
  auto add = bounds ? from->getOperand(0).getDefiningOp<onnx::AddOp>() : dyn_cast_or_null<onnx::AddOp>(from);
  auto left = add && add->hasOneUse() ? termOf(add.getA()) : std::nullopt, right = left ? termOf(add.getB()) : left;
  constexpr float kLeast = 1e-20f;  // of a step, whose reciprocal the kernel takes
  if (!to || to->scale < kLeast || !right)
    return rewriter.notifyMatchFailure(op, "not of a sum of two dequantised values");
  if (!left->conv || (right->conv && left->conv->getBlock() == right->conv->getBlock() && left->conv->isBeforeInBlock(right->conv)))
    std::swap(left, right);  // the later one finds the other's result
  auto type = rankedType(op);
  if (!left->conv || !type || !sameShape(left->bytes, right->bytes) || left->bytes.getType() != type.clone(onnx::elementType(left->bytes)))
    return rewriter.notifyMatchFailure(op, "not what a convolution can add to its result");
  Limits limits = limitsOf(type.getElementType());
  float sum[] = {left->scaling.scale,
                 right->scaling.zero,
                 right->scaling.scale,
                 to->scale,
                 to->zero,
                 bounds ? inSteps(bounds->first, *to, type.getElementType()) : limits.least,
                 bounds ? inSteps(bounds->second, *to, type.getElementType()) : limits.most};
  Value added = blocked(rewriter, right->bytes);
  auto conv = cast<onnx::PackedLinearConvOp>(rewriter.clone(*left->conv));
  conv.getOtherMutable().assign(added);
  conv.setSumAttr(rewriter.getDenseF32ArrayAttr(sum));
  conv->getResult(0).setType(cast<TensorType>(left->conv.getType()).clone(type.getElementType()));
  rewriter.replaceOpWithNewOp<onnx::PackedUnblockOp>(op, type, conv.getY(), rewriter.getI64IntegerAttr(type.getDimSize(1)));
  return success();
}

}  // namespace

void populateByteSumPatterns(RewritePatternSet &patterns) { patterns.add(sumOfConv); }

}  // namespace onnxc
