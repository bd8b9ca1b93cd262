// PackIntegers.cpp: constant right sides of MatMulInteger and DynamicQuantizeLSTM in the panels of runtime_stub/kernels/IntegerTile.h. With
// QuantiseAsPointwise.cpp the last step of the integer-contractions pass.
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/kernels/PanelSizes.h"

using namespace mlir;
namespace onnxc {
namespace {

bool isSingle(Value v) {
  auto type = rankedType(v);
  return !v || (type && type.hasStaticShape() && type.getNumElements() == 1);
}

// [depth, columns] as [ceil(columns / 64), ceil(depth / 4), 64, 4] of the same type, bytes made signed; 0 past the ends.
LogicalResult pack(onnx::MatMulIntegerOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA()), b = rankedType(op.getB());
  ElementsAttr value = onnx::constantValue(op.getB());
  if (!a || a.getRank() < 2 || !isByte(a.getElementType()) || !b || b.getRank() != 2 || !value || !isByte(b.getElementType()) ||
      !isSingle(op.getAZeroPoint()))
    return rewriter.notifyMatchFailure(op, "not a product of bytes with a constant matrix");
  int64_t depth = b.getDimSize(0), columns = b.getDimSize(1);
  auto zeros = rankedType(op.getBZeroPoint());
  bool fits = isSingle(op.getBZeroPoint()) || (zeros && zeros.getShape() == ArrayRef<int64_t>{columns});
  auto bytes = constantBytes(value);
  if (!fits || !bytes || bytes->empty())
    return rewriter.notifyMatchFailure(op, "zero points of another shape, or no weights");
  SmallVector<int64_t> shape{llvm::divideCeilSigned(columns, kByteColumns), llvm::divideCeilSigned(depth, kQuad), kByteColumns, kQuad};
  std::vector<char> packed(shape[0] * shape[1] * kByteColumns * kQuad);
  char flip = b.getElementType().isUnsignedInteger() ? char(0x80) : char(0);
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n)
      packed[panelByte(k, n, shape[1])] = (*bytes)[k * columns + n] ^ flip;
  Value panels = onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(b.clone(shape), std::move(packed)));
  rewriter.replaceOpWithNewOp<onnx::PackedMatMulIntegerOp>(op, op.getType(), op.getA(), panels, op.getAZeroPoint(), op.getBZeroPoint(),
                                                           rewriter.getI64IntegerAttr(depth), rewriter.getI64IntegerAttr(columns));
  return success();
}

// Whether `v` is constant bytes [matrices, depth, columns] that fill panels.
bool fillsPanels(Value v) {
  auto type = rankedType(v);
  ElementsAttr value = onnx::constantValue(v);
  auto bytes = value && type && type.getRank() == 3 && isByte(type.getElementType()) ? constantBytes(value) : std::nullopt;
  return bytes && !bytes->empty() && type.getDimSize(1) % kQuad == 0 && type.getDimSize(2) % kByteColumns == 0;
}

// Bytes that fill panels (fillsPanels()) as [matrices, columns / 64, depth / 4, 64, 4], under the type they had.
Value packMatrices(PatternRewriter &rewriter, Value v) {
  auto type = rankedType(v);
  auto bytes = constantBytes(onnx::constantValue(v));
  int64_t depth = type.getDimSize(1), columns = type.getDimSize(2), rows = type.getDimSize(0) * depth;
  std::vector<char> packed(bytes->size());
  char flip = type.getElementType().isUnsignedInteger() ? char(0x80) : char(0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t n = 0; n < columns; ++n)  // whole panels: the columns of one matrix follow those of the one before
      packed[panelByte(r % depth, r / depth * columns + n, depth / kQuad)] = (*bytes)[r * columns + n] ^ flip;
  return onnx::ConstantOp::create(rewriter, v.getLoc(), makeConstant(type, std::move(packed)));
}

LogicalResult packLstm(onnx::MSDynamicQuantizeLSTMOp op, PatternRewriter &rewriter) {
  if (op->hasAttr("packed") || !fillsPanels(op.getW()) || !fillsPanels(op.getR()))
    return rewriter.notifyMatchFailure(op, "weights are not constant, or panels would not be full");
  Value w = packMatrices(rewriter, op.getW()), r = packMatrices(rewriter, op.getR());
  rewriter.modifyOpInPlace(op, [&] {
    op.getWMutable().assign(w);
    op.getRMutable().assign(r);
    op->setAttr("packed", rewriter.getI64IntegerAttr(1));
  });
  return success();
}

}  // namespace

void populatePackIntegerPatterns(RewritePatternSet &patterns) {
  patterns.add(pack);
  patterns.add(packLstm);
}

}  // namespace onnxc
