// PackIntegers.cpp: constant right sides of MatMulInteger in the panels of runtime_stub/kernels/FastInteger.cpp. With
// QuantiseAsPointwise.cpp the last step of the integer-contractions pass.
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kColumns = 64, kQuad = 4;  // of a panel, and steps of the depth side by side, as FastInteger.cpp has them

bool isByte(Type type) { return type.isSignlessInteger(8) || type.isUnsignedInteger(8); }
bool isSingle(Value v) {
  auto type = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
  return !v || (type && type.hasStaticShape() && type.getNumElements() == 1);
}

// [depth, columns] as [ceil(columns / 64), ceil(depth / 4), 64, 4] of the same type, bytes made signed; 0 past the ends.
LogicalResult pack(onnx::MatMulIntegerOp op, PatternRewriter &rewriter) {
  auto a = dyn_cast<RankedTensorType>(op.getA().getType()), b = dyn_cast<RankedTensorType>(op.getB().getType());
  ElementsAttr value = onnx::constantValue(op.getB());
  if (!a || a.getRank() < 2 || !isByte(a.getElementType()) || !b || b.getRank() != 2 || !value || !isByte(b.getElementType()) ||
      !isSingle(op.getAZeroPoint()))
    return rewriter.notifyMatchFailure(op, "not a product of bytes with a constant matrix");
  int64_t depth = b.getDimSize(0), columns = b.getDimSize(1);
  auto zeros = op.getBZeroPoint() ? dyn_cast<RankedTensorType>(op.getBZeroPoint().getType()) : RankedTensorType();
  bool fits = isSingle(op.getBZeroPoint()) || (zeros && zeros.getShape() == ArrayRef<int64_t>{columns});
  auto bytes = constantBytes(value);
  if (!fits || !bytes || bytes->empty())
    return rewriter.notifyMatchFailure(op, "zero points of another shape, or no weights");
  SmallVector<int64_t> shape{llvm::divideCeilSigned(columns, kColumns), llvm::divideCeilSigned(depth, kQuad), kColumns, kQuad};
  std::vector<char> packed(shape[0] * shape[1] * kColumns * kQuad);
  char flip = b.getElementType().isUnsignedInteger() ? char(0x80) : char(0);
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n)
      packed[((n / kColumns * shape[1] + k / kQuad) * kColumns + n % kColumns) * kQuad + k % kQuad] = (*bytes)[k * columns + n] ^ flip;
  Value panels = onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(b.clone(shape), std::move(packed)));
  rewriter.replaceOpWithNewOp<onnx::PackedMatMulIntegerOp>(op, op.getType(), op.getA(), panels, op.getAZeroPoint(), op.getBZeroPoint(),
                                                           rewriter.getI64IntegerAttr(columns));
  return success();
}

}  // namespace

void populatePackIntegerPatterns(RewritePatternSet &patterns) { patterns.add(pack); }

}  // namespace onnxc
