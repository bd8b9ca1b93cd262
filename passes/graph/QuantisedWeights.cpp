// QuantisedWeights.cpp: dequantised constants that need not be dequantised whole at every run: 4-bit weights of MatMul, tables that Gather
// reads. For the decompose pass; weights of 8 bits are IntegerContractions'.
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

// Nibbles of a constant of 4 bits, one a byte, signed ones offset by 8; nothing for other constants.
std::optional<std::vector<char>> nibbles(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  auto type = value ? value.getElementType() : Type();
  if (!type || !type.isInteger(4))
    return std::nullopt;
  auto bytes = constantBytes(value);
  if (bytes)
    for (char &c : *bytes)
      c = (c & 15) ^ (type.isUnsignedInteger() ? 0 : 8);
  return bytes;
}

Value bytesConstant(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> shape, std::vector<char> bytes) {
  auto type = RankedTensorType::get(shape, rewriter.getIntegerType(8, false));
  return onnx::ConstantOp::create(rewriter, loc, makeConstant(type, std::move(bytes)));
}

// Columns of [rows, columns] nibbles one after the other, two nibbles a byte, each column padded to a byte.
std::vector<char> packedColumns(ArrayRef<char> nibbles, int64_t rows, int64_t columns) {
  int64_t each = (rows + 1) / 2;
  std::vector<char> packed(columns * each, 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      packed[c * each + r / 2] |= nibbles[r * columns + c] << (r % 2 * 4);
  return packed;
}

// MatMul(a, DequantizeLinear(4 bits, blocks along the depth)) = MatMulNBits, which unpacks weights where it uses them.
LogicalResult blockProduct(onnx::MatMulOp op, PatternRewriter &rewriter) {
  auto dq = op.getB().getDefiningOp<onnx::DequantizeLinearOp>();
  auto type = rankedType(op.getB()), a = rankedType(op.getA());
  if (!dq || !type || !type.hasStaticShape() || type.getRank() != 2 || !a || a.getRank() < 1 || !a.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "no dequantised matrix");
  int64_t depth = type.getDimSize(0), columns = type.getDimSize(1), block = dq.getBlockSize();
  bool along = dq.getAxis() == 0 || int64_t(dq.getAxis()) == -2, whole = block >= 16 && llvm::isPowerOf2_64(block) && depth % block == 0;
  if (!along || !whole || columns == 0 || depth == 0)
    return rewriter.notifyMatchFailure(op, "not in blocks of the depth");
  auto weights = nibbles(dq.getX()), zeros = dq.getXZeroPoint() ? nibbles(dq.getXZeroPoint()) : std::vector<char>();
  auto scales = constantFloats(dq.getXScale());
  int64_t blocks = depth / block;
  if (!weights || !zeros || !scales || int64_t(scales->size()) != blocks * columns || (!zeros->empty() && zeros->size() != scales->size()))
    return rewriter.notifyMatchFailure(op, "not constants of 4 bits");
  if (zeros->empty() && onnx::elementType(dq.getX()).isUnsignedInteger())
    zeros->assign(scales->size(), 0);  // MatMulNBits means 8 where it has none
  std::vector<float> byColumn(scales->size());
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t c = 0; c < columns; ++c)
      byColumn[c * blocks + b] = (*scales)[b * columns + c];
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  Value packed = bytesConstant(rewriter, loc, {columns, blocks, block / 2}, packedColumns(*weights, depth, columns)), zero;
  if (!zeros->empty())
    zero = bytesConstant(rewriter, loc, {columns * ((blocks + 1) / 2)}, packedColumns(*zeros, blocks, columns));
  auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  rewriter.replaceOpWithNewOp<onnx::MSMatMulNBitsOp>(op, op.getType(), op.getA(), packed, g.floats({columns * blocks}, byColumn), zero,
                                                     Value(), Value(), n(depth), n(columns), n(0), n(4), n(block), n(0));
  return success();
}

// Gather(DequantizeLinear(table)) = DequantizeLinear(Gather(table)) where one scale is for all.
LogicalResult gatherQuantised(onnx::GatherOp op, PatternRewriter &rewriter) {
  auto dq = op.getData().getDefiningOp<onnx::DequantizeLinearOp>();
  auto type = dq ? rankedType(dq.getXScale()) : RankedTensorType(), result = rankedType(op);
  if (!dq || !type || !result || !type.hasStaticShape() || type.getNumElements() != 1 || dq.getBlockSize() != 0 ||
      !onnx::constantValue(dq.getX()))
    return rewriter.notifyMatchFailure(op, "not a table with one scale");
  Value rows = onnx::GatherOp::create(rewriter, op.getLoc(), result.clone(onnx::elementType(dq.getX())), dq.getX(), op.getIndices(),
                                      op.getAxisAttr());
  rewriter.replaceOpWithNewOp<onnx::DequantizeLinearOp>(op, op.getType(), rows, dq.getXScale(), dq.getXZeroPoint(), dq.getAxisAttr(),
                                                        dq.getBlockSizeAttr(), dq.getOutputDtypeAttr());
  return success();
}

}  // namespace

void populateQuantisedWeightPatterns(RewritePatternSet &patterns) {
  patterns.add(blockProduct);
  patterns.add(gatherQuantised);
}

}  // namespace onnxc
