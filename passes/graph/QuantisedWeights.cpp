// QuantisedWeights.cpp: dequantised constants that need not be dequantised whole at every run: weights of MatMul in blocks, tables
// that Gather reads. For the decompose pass; matrices with a scale for each column are ScaledProducts', weights of 8 bits that meet
// dequantised values IntegerContractions'. Others that are dequantised constants are f32 (compiler/ConstantIslands.cpp).
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

// Integers of a constant of `bits` bits, one a byte, signed ones more by half of what the type has; nothing for other constants.
std::optional<std::vector<char>> unsignedBytes(Value v, int64_t bits) {
  ElementsAttr value = onnx::constantValue(v);
  auto type = value ? value.getElementType() : Type();
  if (!type || !type.isInteger(bits))
    return std::nullopt;
  auto bytes = constantBytes(value);
  int offset = type.isUnsignedInteger() ? 0 : 1 << (bits - 1);
  if (bytes)
    for (char &c : *bytes)
      c = char((c & ((1 << bits) - 1)) ^ offset);
  return bytes;
}

Value bytesConstant(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> shape, std::vector<char> bytes) {
  auto type = RankedTensorType::get(shape, rewriter.getIntegerType(8, false));
  return onnx::ConstantOp::create(rewriter, loc, makeConstant(type, std::move(bytes)));
}

// A constant matrix that is dequantised in blocks of the depth of a product, as MatMulNBits has them.
struct BlockMatrix {
  onnx::DequantizeLinearOp dq;
  bool turned;  // the constant is [columns, depth]
  int64_t bits, depth, columns, blocks;

  int64_t place(int64_t k, int64_t c, int64_t depth) const { return turned ? c * depth + k : k * columns + c; }
  // Columns of `depth` integers one after the other, each padded to a byte.
  std::vector<char> packed(ArrayRef<char> from, int64_t depth) const {
    int64_t each = (depth * bits + 7) / 8;
    std::vector<char> to(columns * each, 0);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t k = 0; k < depth; ++k)
        to[c * each + k * bits / 8] |= char(from[place(k, c, depth)] << (k * bits % 8));
    return to;
  }
};

// Whether `a` is known to have so many rows that a matrix of floats is faster than bytes that every run unpacks.
bool hasManyRows(Value a) {
  constexpr int64_t least = 8;
  auto type = rankedType(a);
  return type && type.hasStaticShape() && type.getRank() > 0 && type.getNumElements() >= least * type.getShape().back();
}

// `v` as the right matrix of a product with `a`. Bytes become floats for many rows, nibbles never: they would take eight times the memory.
std::optional<BlockMatrix> blockMatrix(Value v, Value a, bool turned = false) {
  if (auto op = v.getDefiningOp<onnx::TransposeOp>()) {
    if (!op.getPerm() || op.getPerm()->front() == 1)
      turned = !turned;
    v = op.getData();
  }
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  auto type = dq ? rankedType(dq.getX()) : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getRank() != 2 || type.getNumElements() == 0 || !onnx::elementType(dq.getY()).isF32())
    return std::nullopt;
  int64_t block = dq.getBlockSize(), depth = type.getDimSize(turned), bits = type.getElementType().getIntOrFloatBitWidth();
  bool isSmall = type.getElementType().isInteger(4) || type.getElementType().isInteger(8);
  if (!isSmall || onnx::axisAttr(dq, 2) != turned || block < 16 || !llvm::isPowerOf2_64(block) || depth % block)
    return std::nullopt;
  if (bits == 8 && hasManyRows(a))
    return std::nullopt;
  return BlockMatrix{dq, turned, bits, depth, type.getDimSize(!turned), depth / block};
}

// a times `matrix` plus a bias, which may be null, as MatMulNBits, which unpacks weights where it uses them.
LogicalResult replaceByNBits(Operation *op, Value a, const BlockMatrix &matrix, Value bias, PatternRewriter &rewriter) {
  onnx::DequantizeLinearOp dq = matrix.dq;
  int64_t bits = matrix.bits, depth = matrix.depth, columns = matrix.columns, blocks = matrix.blocks;
  auto weights = unsignedBytes(dq.getX(), bits);
  auto zeros = dq.getXZeroPoint() ? unsignedBytes(dq.getXZeroPoint(), bits) : std::vector<char>();
  auto scales = constantFloats(dq.getXScale());
  if (!weights || !zeros || !scales || int64_t(scales->size()) != blocks * columns || (!zeros->empty() && zeros->size() != scales->size()))
    return rewriter.notifyMatchFailure(op, "not constants of these bits");
  char middle = char(1 << (bits - 1));  // what MatMulNBits means where it has no zero points
  if (zeros->empty() && onnx::elementType(dq.getX()).isUnsignedInteger())
    zeros->assign(scales->size(), 0);
  if (llvm::all_of(*zeros, [&](char z) { return z == middle; }))
    zeros->clear();
  if (!matrix.turned)
    *scales = transposedMatrix(*scales, blocks, columns);
  Location loc = op->getLoc();
  GraphBuilder g{rewriter, loc};
  Value packed = bytesConstant(rewriter, loc, {columns, blocks, depth / blocks * bits / 8}, matrix.packed(*weights, depth)), zero;
  if (!zeros->empty())
    zero = bytesConstant(rewriter, loc, {columns * ((blocks * bits + 7) / 8)}, matrix.packed(*zeros, blocks));
  auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  rewriter.replaceOpWithNewOp<onnx::MSMatMulNBitsOp>(op, op->getResult(0).getType(), a, packed,
                                                     g.floats({columns * blocks}, std::move(*scales)), zero, Value(), bias, n(depth),
                                                     n(columns), n(0), n(bits), n(depth / blocks), n(0));
  return success();
}

// MatMul(a, DequantizeLinear(integers, blocks along the depth)) = MatMulNBits.
LogicalResult blockProduct(onnx::MatMulOp op, PatternRewriter &rewriter) {
  auto matrix = blockMatrix(op.getB(), op.getA());
  auto a = rankedType(op.getA());
  if (!matrix || !a || a.getRank() < 1 || !a.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "no matrix that is dequantised in blocks of the depth");
  return replaceByNBits(op, op.getA(), *matrix, Value(), rewriter);
}

// The right matrix of a Gemm that is a MatMulNBits: a plain product with at most a list of biases.
std::optional<BlockMatrix> blockMatrixOf(onnx::GemmOp op) {
  auto c = op.getC() ? rankedType(op.getC()) : RankedTensorType();
  auto matrix = blockMatrix(op.getB(), op.getA(), op.getTransB() != 0);
  bool plain = !op.getTransA() && op.getAlpha().isExactlyValue(1.0);
  bool listed = !op.getC() || (op.getBeta().isExactlyValue(1.0) && c && c.getRank() == 1 && matrix && c.getDimSize(0) == matrix->columns);
  return plain && listed ? matrix : std::nullopt;
}
LogicalResult blockGemm(onnx::GemmOp op, PatternRewriter &rewriter) {
  auto matrix = blockMatrixOf(op);
  if (!matrix)
    return rewriter.notifyMatchFailure(op, "no plain product with a matrix that is dequantised in blocks of the depth");
  return replaceByNBits(op, op.getA(), *matrix, op.getC(), rewriter);
}

// The constant matrix of a MatMulNBits, [columns][depth of whole blocks] of its bits; nothing where it is none.
std::optional<std::vector<char>> packedMatrix(onnx::MSMatMulNBitsOp op) {
  int64_t k = op.getK(), n = op.getN(), bits = op.getBits(), block = op.getBlockSize();
  ElementsAttr value = onnx::constantValue(op.getB());
  bool isPacked = llvm::is_contained({2, 4, 8}, bits) && block > 0 && block <= 1 << 20 && block * bits % 8 == 0 && k > 0 && n > 0;
  auto bytes = value && value.getElementType().isInteger(8) && isPacked ? constantBytes(value) : std::nullopt;
  if (!bytes || bytes->size() % n != 0 || int64_t(bytes->size()) / n != (k + block - 1) / block * block * bits / 8)
    return std::nullopt;
  return bytes;
}

// The integer of `bits` bits at place `i`.
int64_t fieldOf(ArrayRef<char> bytes, int64_t i, int64_t bits) { return uint8_t(bytes[i * bits / 8]) >> i * bits % 8 & ((1 << bits) - 1); }

// Such a matrix with the rows of the depth in the order `order`.
std::vector<char> inOrder(ArrayRef<char> bytes, int64_t columns, int64_t bits, ArrayRef<int64_t> order) {
  std::vector<char> to(bytes.size(), 0);
  int64_t each = bytes.size() / columns;
  for (int64_t c = 0; c < columns; ++c)
    for (auto [k, from] : llvm::enumerate(order))
      to[c * each + k * bits / 8] |= char(fieldOf(bytes.drop_front(c * each), from, bits) << k * bits % 8);
  return to;
}

// MatMulNBits with a list of groups that says of each row of the depth whose scale it has. Sorted by groups, rows lie in their blocks; the
// columns of the left matrix are gathered in the same order.
LogicalResult ownGroups(onnx::MSMatMulNBitsOp op, PatternRewriter &rewriter) {
  int64_t k = op.getK(), n = op.getN(), bits = op.getBits(), block = op.getBlockSize();
  auto groups = op.getGIdx() ? onnx::integerElements(op.getGIdx(), k) : std::nullopt;
  if (!groups || int64_t(groups->size()) != k || block < 1)
    return rewriter.notifyMatchFailure(op, "no constant list of groups");
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, k));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return (*groups)[a] < (*groups)[b]; });
  for (auto [i, row] : llvm::enumerate(order))
    if ((*groups)[row] != int64_t(i) / block)
      return rewriter.notifyMatchFailure(op, "groups of other sizes than blocks have");
  if (llvm::is_sorted(order)) {
    rewriter.modifyOpInPlace(op, [&] { op.getGIdxMutable().clear(); });
    return success();
  }
  auto a = rankedType(op.getA());
  auto bytes = packedMatrix(op);
  if (!a || !bytes)
    return rewriter.notifyMatchFailure(op, "no constant matrix");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  int64_t last = a.getRank() - 1;
  SmallVector<int64_t> rows(last, 0);
  rows.push_back(k);
  Value left = a.getDimSize(last) == k ? op.getA() : g.reshape(op.getA(), rows);  // a run with other columns must not take some of them
  Value gathered = onnx::GatherOp::create(rewriter, loc, left.getType(), left, g.integers(order), rewriter.getI64IntegerAttr(last));
  Value sorted = onnx::ConstantOp::create(
      rewriter, loc, makeConstant(cast<RankedTensorType>(onnx::constantValue(op.getB()).getType()), inOrder(*bytes, n, bits, order)));
  rewriter.modifyOpInPlace(op, [&] {
    op.getAMutable().assign(gathered);
    op.getBMutable().assign(sorted);
    op.getGIdxMutable().clear();
  });
  return success();
}

// What MatMulNBits multiplies by, [depth][columns]; nothing where it is no constant with at most packed zero points.
std::optional<std::vector<float>> unpacked(onnx::MSMatMulNBitsOp op) {
  const int64_t depth = op.getK(), columns = op.getN(), bits = op.getBits(), block = op.getBlockSize();
  auto zeros = op.getZeroPoints() ? onnx::constantValue(op.getZeroPoints()) : ElementsAttr();
  auto bytes = packedMatrix(op);
  if (!bytes || op.getGIdx() || (op.getZeroPoints() && !zeros) || (zeros && !zeros.getElementType().isInteger(8)))
    return std::nullopt;
  const int64_t blocks = llvm::divideCeil(depth, block), each = bytes->size() / columns, zeroBytes = llvm::divideCeil(blocks * bits, 8);
  auto zeroPoints = zeros ? constantBytes(zeros) : std::vector<char>();
  auto scales = constantFloats(op.getScales());
  if (!zeroPoints || !scales || int64_t(scales->size()) != columns * blocks ||
      (zeros && int64_t(zeroPoints->size()) != columns * zeroBytes))
    return std::nullopt;
  auto field = [&](ArrayRef<char> from, int64_t i) { return float(fieldOf(from, i, bits)); };
  std::vector<float> matrix(depth * columns);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t k = 0; k < depth; ++k) {
      float zero = zeros ? field(ArrayRef(*zeroPoints).drop_front(c * zeroBytes), k / block) : float(1 << (bits - 1));
      matrix[k * columns + c] = (field(ArrayRef(*bytes).drop_front(c * each), k) - zero) * (*scales)[c * blocks + k / block];
    }
  return matrix;
}

// Matrices whose floats take little memory are those where many rows meet them: every run would unpack them, which only larger ones are
// worth where the rows may be bytes.
LogicalResult smallBlocks(onnx::MSMatMulNBitsOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA());
  const int64_t depth = op.getK(), columns = op.getN(), most = op.getAccuracyLevel() == 4 ? 1 << 12 : 1 << 16;
  if (!a || !a.getElementType().isF32() || !hasManyRows(op.getA()) || depth <= 0 || columns > most / depth)
    return rewriter.notifyMatchFailure(op, "few rows, or a matrix of many numbers");
  auto matrix = unpacked(op);
  if (!matrix)
    return rewriter.notifyMatchFailure(op, "no constant matrix");
  GraphBuilder g{rewriter, op.getLoc()};
  Type type = op.getY().getType();
  Value product = onnx::MatMulOp::create(rewriter, op.getLoc(), type, op.getA(), g.floats({depth, columns}, std::move(*matrix)));
  if (op.getBias())
    product = onnx::AddOp::create(rewriter, op.getLoc(), type, product, op.getBias());
  rewriter.replaceOp(op, product);
  return success();
}

// How a constant table's scales follow what Gather takes of it: one is for all, or each row has its own, or each block of a row.
enum class TableScales { None, One, Rows, Blocks };
TableScales tableScales(onnx::GatherOp gather, onnx::DequantizeLinearOp dq) {
  auto type = rankedType(dq.getX()), scale = rankedType(dq.getXScale());
  if (!type || !type.hasStaticShape() || !scale || !scale.hasStaticShape() || !onnx::constantValue(dq.getX()) ||
      gather.getData() != dq.getY())
    return TableScales::None;
  if (scale.getNumElements() == 1)
    return dq.getBlockSize() == 0 ? TableScales::One : TableScales::None;
  bool isTable = type.getRank() == 2 && onnx::axisAttr(gather, 2) == 0 && onnx::elementType(dq.getY()).isF32();
  int64_t axis = onnx::axisAttr(dq, 2);
  if (isTable && dq.getBlockSize() != 0)
    return scale.getRank() == 2 && axis == 1 ? TableScales::Blocks : TableScales::None;
  bool constant = onnx::constantValue(dq.getXScale()) && (!dq.getXZeroPoint() || onnx::constantValue(dq.getXZeroPoint()));
  bool each = scale.getRank() == 1 && scale.getDimSize(0) == type.getDimSize(0);
  return isTable && constant && each && axis == 0 ? TableScales::Rows : TableScales::None;
}

// Gather(DequantizeLinear(table)) = DequantizeLinear(Gather(table)). Scales of blocks are gathered with their rows; those of rows multiply
// the rows that were gathered.
LogicalResult gatherQuantised(onnx::GatherOp op, PatternRewriter &rewriter) {
  auto dq = op.getData().getDefiningOp<onnx::DequantizeLinearOp>();
  auto result = rankedType(op);
  TableScales scales = dq && result ? tableScales(op, dq) : TableScales::None;
  if (scales == TableScales::None)
    return rewriter.notifyMatchFailure(op, "no rows of a quantised table");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  auto gathered = [&](Value table) -> Value {
    SmallVector<int64_t> shape(result.getShape());
    if (scales != TableScales::One)
      shape.back() = rankedType(table).getDimSize(1);
    return onnx::GatherOp::create(rewriter, loc, RankedTensorType::get(shape, onnx::elementType(table)), table, op.getIndices(),
                                  op.getAxisAttr());
  };
  Value scale = dq.getXScale(), zero = dq.getXZeroPoint();
  if (scales == TableScales::Rows) {
    auto numbers = constantFloats(scale), zeros = zero ? constantIntegers(zero) : std::vector<float>();
    if (!numbers || !zeros || (!zeros->empty() && zeros->size() != numbers->size()))
      return rewriter.notifyMatchFailure(op, "scales of other sizes");
    int64_t count = numbers->size();
    Value v = g.cast(gathered(dq.getX()), rewriter.getF32Type());
    if (llvm::any_of(*zeros, [](float z) { return z != 0; }))
      v = onnx::SubOp::create(rewriter, loc, result, v, gathered(g.floats({count, 1}, std::move(*zeros))));
    rewriter.replaceOpWithNewOp<onnx::MulOp>(op, op.getType(), v, gathered(g.floats({count, 1}, std::move(*numbers))));
    return success();
  }
  IntegerAttr axis = dq.getAxisAttr();
  if (scales == TableScales::Blocks)
    scale = gathered(scale), zero = zero ? gathered(zero) : zero, axis = rewriter.getI64IntegerAttr(-1);
  rewriter.replaceOpWithNewOp<onnx::DequantizeLinearOp>(op, op.getType(), gathered(dq.getX()), scale, zero, axis, dq.getBlockSizeAttr(),
                                                        dq.getOutputDtypeAttr());
  return success();
}

// Transpose(DequantizeLinear(constant)) = DequantizeLinear(transposed constant): what multiplies integers looks for those.
LogicalResult transposeQuantised(onnx::TransposeOp op, PatternRewriter &rewriter) {
  auto dq = op.getData().getDefiningOp<onnx::DequantizeLinearOp>();
  ElementsAttr value = dq ? onnx::constantValue(dq.getX()) : ElementsAttr();
  auto bytes = value ? constantBytes(value) : std::nullopt;
  auto type = dq ? rankedType(dq.getX()) : RankedTensorType(), scale = dq ? rankedType(dq.getXScale()) : RankedTensorType();
  if (!bytes || !scale || scale.getRank() > 1 || dq.getBlockSize() != 0 || type.getRank() != 2)
    return rewriter.notifyMatchFailure(op, "not a matrix of quantised weights");
  if (op.getPerm() && op.getPerm()->front() != 1)
    return rewriter.notifyMatchFailure(op, "nothing moves");
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  std::vector<char> turned = transposedMatrix(*bytes, rows, columns, storageBytes(type.getElementType()));
  Value weights = onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(type.clone({columns, rows}), std::move(turned)));
  rewriter.replaceOpWithNewOp<onnx::DequantizeLinearOp>(op, op.getType(), weights, dq.getXScale(), dq.getXZeroPoint(),
                                                        rewriter.getI64IntegerAttr(1 - onnx::axisAttr(dq, 2)), dq.getBlockSizeAttr(),
                                                        dq.getOutputDtypeAttr());
  return success();
}

// Ops that only move or bound what they read: `v` may be taken for what they read.
Value behindMoves(Value v) {
  Operation *op = v.getDefiningOp();
  while (isView(op) || isa_and_present<onnx::TransposeOp, onnx::IdentityOp, onnx::MaxPoolOp, onnx::ReluOp, onnx::ClipOp>(op)) {
    v = op->getOperand(0);
    op = v.getDefiningOp();
  }
  return v;
}

bool isDequantisedByte(Value v) {
  auto dq = behindMoves(v).getDefiningOp<onnx::DequantizeLinearOp>();
  return dq && isByte(onnx::elementType(dq.getX())) && !onnx::constantValue(dq.getX());
}

// isScaledMatrix() of what `v` transposes, transposeQuantised()'s result.
bool isScaledUnderTranspose(Value v, int64_t columnAxis) {
  for (auto op = v.getDefiningOp<onnx::TransposeOp>(); op; op = v.getDefiningOp<onnx::TransposeOp>()) {
    if (!op.getPerm() || op.getPerm()->front() == 1)
      columnAxis = 1 - columnAxis;
    v = op.getData();
  }
  return isScaledMatrix(v, columnAxis);
}

// Ops between dequantised weights and what reads them.
bool movesWeights(Operation *op) { return isa<onnx::TransposeOp, onnx::ReshapeOp>(op); }

// Whether something reads `dequantised`, or what it is behind movesWeights(), as the integers that it was.
bool isReadAsIntegers(Value dequantised) {
  auto dq = dequantised.getDefiningOp<onnx::DequantizeLinearOp>();
  return llvm::any_of(dequantised.getUsers(), [&](Operation *user) {
    if (auto gather = dyn_cast<onnx::GatherOp>(user))
      return dq && tableScales(gather, dq) != TableScales::None;
    auto gemm = dyn_cast<onnx::GemmOp>(user);
    bool isRight = (gemm || isa<onnx::MatMulOp>(user)) && user->getOperand(1) == dequantised;
    if (isRight && isScaledUnderTranspose(dequantised, !gemm || !gemm.getTransB()))
      return true;
    if (movesWeights(user))
      return isReadAsIntegers(user->getResult(0));
    if (isRight && (gemm ? blockMatrixOf(gemm) : blockMatrix(dequantised, user->getOperand(0))))
      return true;
    // Products in whatever form the model has them, and what adds a bias to one.
    return llvm::any_of(user->getOperands(), [](Value v) {
      auto product = v ? v.getDefiningOp<onnx::MatMulOp>() : onnx::MatMulOp();
      return v && isDequantisedByte(product ? product.getA() : v);
    });
  });
}

}  // namespace

bool staysQuantised(Operation *op) {
  Operation *origin = op;
  while (movesWeights(origin) && origin->getOperand(0).getDefiningOp())
    origin = origin->getOperand(0).getDefiningOp();
  return isa<onnx::DequantizeLinearOp>(origin) && isReadAsIntegers(op->getResult(0));
}

void populateQuantisedWeightPatterns(RewritePatternSet &patterns) {
  patterns.add(blockProduct);
  patterns.add(blockGemm);
  patterns.add(gatherQuantised);
  patterns.add(transposeQuantised);
  patterns.add(ownGroups);
  patterns.add(smallBlocks);
}

}  // namespace onnxc
