// Folds.cpp: folders, canonicalisations and verifiers of onnx ops: what is always right and always better. Profitable rewrites:
// passes/graph.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
namespace onnxc::onnx {

// Every element of the constant `v` is the integer `wanted` (for floats with the sign of zero given).
static bool isSplat(Value v, double wanted, bool negativeZero = false) {
  auto dense = llvm::dyn_cast_if_present<DenseElementsAttr>(constantValue(v));
  if (!dense || !dense.isSplat())
    return false;
  if (llvm::isa<IntegerType>(dense.getElementType()))
    return dense.getSplatValue<APInt>().getSExtValue() == int64_t(wanted);
  if (!llvm::isa<FloatType>(dense.getElementType()))
    return false;
  APFloat value = dense.getSplatValue<APFloat>();
  return wanted == 0 ? value.isZero() && value.isNegative() == negativeZero : value.isExactlyValue(wanted);
}
// A float x + 0.0 turns -0.0 into 0.0; x + -0.0 and x - 0.0 are exact.
static bool keepsType(Value kept, Value result) {
  auto type = llvm::dyn_cast<RankedTensorType>(kept.getType());
  return type && type == result.getType() && type.hasStaticShape();
}
static bool isInteger(Value v) { return llvm::isa_and_nonnull<IntegerType>(elementType(v)); }

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
OpFoldResult IdentityOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? OpFoldResult(getInput()) : nullptr; }
OpFoldResult CastOp::fold(FoldAdaptor) { return getInput().getType() == getType() ? OpFoldResult(getInput()) : nullptr; }

OpFoldResult AddOp::fold(FoldAdaptor) {
  bool negative = !isInteger(getA());
  if (keepsType(getA(), getC()) && isSplat(getB(), 0, negative))
    return getA();
  return keepsType(getB(), getC()) && isSplat(getA(), 0, negative) ? OpFoldResult(getB()) : nullptr;
}
OpFoldResult SubOp::fold(FoldAdaptor) { return keepsType(getA(), getC()) && isSplat(getB(), 0) ? OpFoldResult(getA()) : nullptr; }
OpFoldResult MulOp::fold(FoldAdaptor) {
  if (keepsType(getA(), getC()) && isSplat(getB(), 1))
    return getA();
  return keepsType(getB(), getC()) && isSplat(getA(), 1) ? OpFoldResult(getB()) : nullptr;
}
OpFoldResult DivOp::fold(FoldAdaptor) { return keepsType(getA(), getC()) && isSplat(getB(), 1) ? OpFoldResult(getA()) : nullptr; }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = llvm::dyn_cast<RankedTensorType>(getType());
  return type && type.hasStaticShape() && getData().getType() == type ? OpFoldResult(getData()) : nullptr;
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto perm = getPerm();
  bool identity = perm && getData().getType() == getType();
  for (int64_t i = 0, n = identity ? perm->size() : 0; i < n; ++i)
    identity &= (*perm)[i] == i;
  return identity ? OpFoldResult(getData()) : nullptr;
}

// Transpose(Transpose(x, p), q) = Transpose(x, r) with r[i] = p[q[i]].
static LogicalResult composeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getData().getDefiningOp<TransposeOp>();
  if (!inner || !inner.getPerm() || !op.getPerm())
    return rewriter.notifyMatchFailure(op, "not a transpose of a transpose with permutations");
  ArrayRef<int64_t> first = *inner.getPerm(), second = *op.getPerm();
  SmallVector<int64_t> perm;
  for (int64_t axis : second)
    perm.push_back(first[axis]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getData(), rewriter.getDenseI64ArrayAttr(perm));
  return success();
}
void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(composeTransposes); }

LogicalResult TransposeOp::verify() {
  auto perm = getPerm();
  if (!perm)
    return success();
  SmallVector<bool> seen(perm->size());
  for (int64_t axis : *perm) {
    if (axis < 0 || axis >= int64_t(perm->size()) || seen[axis])
      return emitOpError("perm [") << *perm << "] is not a permutation of the axes";
    seen[axis] = true;
  }
  auto type = llvm::dyn_cast<RankedTensorType>(getData().getType());
  if (type && type.getRank() != int64_t(perm->size()))
    return emitOpError("perm has ") << perm->size() << " axes, the input has " << type.getRank();
  return success();
}

LogicalResult ConstantOp::verify() {
  if (getValue().getType() != getType())
    return emitOpError("value is ") << getValue().getType() << ", the result " << getType();
  if (StringRef name = leftOut(getValue()); !name.empty())
    return emitOpError("value '") << name << kLeftOut;
  return success();
}

// Strides, dilations, kernel sizes and groups of windowed ops are at least 1 where given; none is so large that a product of two overflows.
static LogicalResult verifyWindow(Operation *op) {
  for (StringRef name : {"strides", "dilations", "kernel_shape"})
    for (int64_t value : intsAttr(op, name))
      if (value < 1)
        return op->emitOpError() << name << " [" << intsAttr(op, name) << "] holds " << value << ", sizes are at least 1";
  for (StringRef name : {"strides", "dilations", "kernel_shape", "pads"})
    for (int64_t value : intsAttr(op, name))
      if (value > INT32_MAX || value < -INT32_MAX)
        return op->emitOpError() << name << " [" << intsAttr(op, name) << "] holds " << value << ", at most " << INT32_MAX << " is allowed";
  if (int64_t group = intAttr(op, "group", 1); group < 1)
    return op->emitOpError("group is ") << group << ", at least 1 is needed";
  StringRef autoPad = strAttr(op, "auto_pad");
  if (!llvm::is_contained({"", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, autoPad))
    return op->emitOpError("auto_pad is '") << autoPad << "', not NOTSET, VALID, SAME_UPPER or SAME_LOWER";
  return success();
}
LogicalResult ConvOp::verify() { return verifyWindow(*this); }
LogicalResult ConvTransposeOp::verify() { return verifyWindow(*this); }
LogicalResult AveragePoolOp::verify() { return verifyWindow(*this); }
LogicalResult MaxPoolOp::verify() { return verifyWindow(*this); }
LogicalResult LpPoolOp::verify() { return verifyWindow(*this); }

}  // namespace onnxc::onnx
