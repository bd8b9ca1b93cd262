// PackWeights.cpp: MatMul, Gemm and recurrent layers with constant weights; other products get kernels that pack. After BlockChannels,
// before FormKernels.
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"
#include "passes/layout/PackRecurrent.h"
#include "passes/layout/Passes.h"
#include "passes/layout/StoredWeights.h"
#include "llvm/Support/MathExtras.h"

namespace onnxc {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/layout/Passes.h.inc"

using namespace mlir;

static constexpr size_t kNearWeights = 1 << 18;

namespace {
// How the matrices of a graph are stored: rounded to `wanted`, or, those that fewer bits hold as they are, so where that pays.
struct Storage {
  FloatType wanted;
  bool isFar;  // more than a second-level cache keeps from run to run

  // Of `values` times `scale` that multiply so many rows, if known, which `bf16Rows` says are bf16. Widening costs products of a few tiles
  // 10 to 20 %, of many 5 %, where bytes are a quarter of what they would be; tiles of AMX need one product of bf16 instead of six.
  Type typeOf(ArrayRef<float> values, float scale, std::optional<int64_t> rows, bool bf16Rows = false) const {
    constexpr int64_t fewRows = 6, manyRows = 48;
    bool areFew = rows.value_or(1) <= fewRows, areMany = rows.value_or(1) >= manyRows,
         inTiles = bf16Rows && rows.value_or(manyRows) >= manyRows;
    Type exact = isFar || inTiles || !wanted.isF32() ? exactType(wanted.getContext(), values, scale) : Type(wanted);
    bool pays = exact.isInteger(8) ? areFew || areMany || !wanted.isF32() : (inTiles && exact.isBF16()) || (areFew && wanted.isF32());
    return pays ? exact : storedType(wanted, values, scale);
  }
};
}  // namespace

// The rows of a product with `a`, if known.
static std::optional<int64_t> rowsOf(Value a) {
  ArrayRef<int64_t> leading = cast<RankedTensorType>(a.getType()).getShape().drop_back();
  if (ShapedType::isDynamicShape(leading))
    return std::nullopt;
  return ShapedType::getNumElements(leading);
}

namespace {
// Weights [depth, columns], or transposed, times a number.
struct Matrix {
  int64_t depth, columns;
  bool transposed = false;
  float scale = 1;
};
}  // namespace

// `values` of `m` in panels, stored as `stored`.
template <class T>
static Value packMatrix(OpBuilder &b, Location loc, Type stored, ArrayRef<T> values, Matrix m) {
  int64_t panels = llvm::divideCeil(m.columns, kLanes), strideK = m.transposed ? 1 : m.columns, strideN = m.transposed ? m.depth : 1;
  std::vector<T> packed(panels * m.depth * kLanes);
  for (int64_t n = 0; n < m.columns; ++n)
    for (int64_t k = 0; k < m.depth; ++k)
      packed[(n / kLanes * m.depth + k) * kLanes + n % kLanes] = values[k * strideK + n * strideN] * T(m.scale);
  auto type = RankedTensorType::get({panels, m.depth, kLanes}, stored);
  return onnx::ConstantOp::create(b, loc, storedConstant(type, std::move(packed)));
}

// Of a matrix of f32 or f64; nothing where they are not constant.
static Value packMatrix(OpBuilder &b, Value weights, Matrix m, const Storage &storage, Operation *product) {
  if (auto values = constantFloats(weights)) {
    Type type = storage.typeOf(*values, m.scale, rowsOf(product->getOperand(0)), product->hasAttr(onnx::kBF16RowsAttr));
    return packMatrix<float>(b, weights.getLoc(), type, *values, m);
  }
  auto values = constantDoubles(weights);
  return values ? packMatrix<double>(b, weights.getLoc(), b.getF64Type(), *values, m) : Value();
}

// One number, or one for each of `columns`, times `scale`; nothing for others.
template <class T>
static Value packBias(OpBuilder &b, Value row, const std::vector<T> &values, int64_t columns, float scale) {
  auto type = cast<RankedTensorType>(row.getType());
  if (int64_t(values.size()) != 1 && (int64_t(values.size()) != columns || type.getShape().back() != columns))
    return Value();
  int64_t padded = llvm::divideCeil(columns, kLanes) * kLanes;
  std::vector<T> packed(padded);
  for (int64_t n = 0; n < columns; ++n)
    packed[n] = ofChannel(values, n) * T(scale);
  auto packedType = RankedTensorType::get({padded}, type.getElementType());
  return onnx::ConstantOp::create(b, row.getLoc(), makeConstant(packedType, std::move(packed)));
}
static Value packBias(OpBuilder &b, Value row, int64_t columns, float scale) {
  if (auto values = constantFloats(row))
    return packBias(b, row, *values, columns, scale);
  auto values = constantDoubles(row);
  return values ? packBias(b, row, *values, columns, scale) : Value();
}

static bool isMatrix(Value v) {
  auto type = rankedType(v);
  return type && type.getElementType().isF32() && type.hasStaticShape() && type.getRank() == 2 && type.getNumElements() > 0;
}

// Matrices without elements, as an adapter of rank 0, have nothing to cut into panels.
static bool isRows(Value v) {
  auto type = rankedType(v);
  return type && (type.getElementType().isF32() || type.getElementType().isF64()) && type.getRank() >= 2 &&
         !llvm::is_contained(type.getShape(), 0);
}

// Of f64 the library multiplies few columns, which would leave most lanes of a panel empty.
static bool fillsPanel(Type element, int64_t columns) { return !element.isF64() || ShapedType::isDynamic(columns) || 2 * columns > kLanes; }

// The operand under a transposition that the kernel's strides can stand for: `last`, the axis read as vectors or broadcasts, stays last in
// one of the two last places.
static Value throughTranspose(Value v, bool isA, SmallVector<int64_t> &perm) {
  int64_t rank = cast<RankedTensorType>(v.getType()).getRank();
  perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto transpose = v.getDefiningOp<onnx::TransposeOp>();
  if (!transpose || !transpose.getPerm())
    return v;
  ArrayRef<int64_t> p = *transpose.getPerm();
  bool contiguous = p[rank - 1] == rank - 1 || (!isA && p[rank - 2] == rank - 1);
  if (!contiguous)
    return v;
  perm = SmallVector<int64_t>(p);
  return transpose.getData();
}

static onnx::PackedProductOp productOf(OpBuilder &b, Location loc, Type type, Value left, Value right, bool distances) {
  SmallVector<int64_t> permA, permB;
  left = throughTranspose(left, true, permA), right = throughTranspose(right, false, permB);
  return onnx::PackedProductOp::create(b, loc, type, left, right, permA, permB, distances);
}

static void multiplyAtRunTime(onnx::MatMulOp op) {
  if (!isRows(op.getA()) || !isRows(op.getB()) || !fillsPanel(onnx::elementType(op.getB()), rankedType(op.getB()).getShape().back()))
    return;
  OpBuilder b(op);
  auto product = productOf(b, op.getLoc(), op.getType(), op.getA(), op.getB(), false);
  Operation *before[] = {op.getA().getDefiningOp(), op.getB().getDefiningOp()};
  op.replaceAllUsesWith(product.getY());
  op.erase();
  for (Operation *t : {before[0], before[1] == before[0] ? nullptr : before[1]})
    if (t && isa<onnx::TransposeOp>(t) && t->use_empty())
      t->erase();
}

// An operand of rank `rank`, or less, without its axis `dropped`; null where it has another size than 1 there.
static Value withoutAxis(GraphBuilder g, Value v, int64_t rank, int64_t dropped) {
  auto type = cast<RankedTensorType>(v.getType());
  int64_t axis = dropped - (rank - type.getRank());
  if (axis == -1)  // broadcasting adds it
    return v;
  if (axis < 0 || type.getDimSize(axis) != 1)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + axis);
  return onnx::SqueezeOp::create(g.b, g.loc, type.clone(shape), v, g.integers({axis}));
}

// The last two axes exchanged, a constant's at once.
static Value columnsOf(GraphBuilder g, Value v) {
  auto type = cast<RankedTensorType>(v.getType());
  int64_t rank = type.getRank();
  if (auto values = rank == 2 ? constantFloats(v) : std::nullopt) {
    int64_t rows = type.getDimSize(0), width = type.getDimSize(1);
    return g.floats({width, rows}, transposedMatrix(*values, rows, width));
  }
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[rank - 2], perm[rank - 1]);
  return g.transpose(v, perm);
}

// Sums over K of the squares of [..., M, 1, K] - [..., 1, N, K], or their roots: distances of all pairs of rows. Of a few rows, as there
// may be of an unknown number, each number is read about once, as a loop does.
template <class Reduce>
static void addUpDistances(Reduce op) {
  constexpr int64_t fewRows = 4, fewColumns = 8, fewOfUnknown = 64;
  auto difference = op.getData().template getDefiningOp<onnx::SubOp>();
  auto type = rankedType(op.getData()), result = rankedType(op.getReduced());
  auto axes = onnx::integerElements(op.getAxes());
  int64_t rank = type ? type.getRank() : 0;
  if (!difference || !difference->hasOneUse() || !result || rank < 3 || !type.getElementType().isF32() || !axes || axes->size() != 1 ||
      ((*axes)[0] != -1 && (*axes)[0] != rank - 1) || llvm::is_contained(type.getShape(), 0))
    return;
  auto areFew = [&](int64_t axis, int64_t least) { return !type.isDynamicDim(axis) && type.getDimSize(axis) < least; };
  Value rows = difference.getA(), columns = difference.getB();
  auto areRows = [&](Value v) {
    auto own = rankedType(v);
    return own && own.getRank() == rank && own.getDimSize(rank - 2) == 1;
  };
  if (!areRows(rows))
    std::swap(rows, columns);  // squares have no sign
  auto other = rankedType(columns);
  if (!areRows(rows) || !other || other.getRank() < 2 || other.getShape().back() != type.getShape().back() ||
      rankedType(rows).getShape().back() != type.getShape().back() || type.isDynamicDim(rank - 1) || areFew(rank - 3, fewRows) ||
      areFew(rank - 2, type.isDynamicDim(rank - 3) ? fewOfUnknown : fewColumns))
    return;
  OpBuilder b(op);
  GraphBuilder g{b, op.getLoc()};
  columns = withoutAxis(g, columns, rank, rank - 3);
  if (!columns)
    return;
  rows = withoutAxis(g, rows, rank, rank - 2);
  Value v = productOf(b, op.getLoc(), type.clone(type.getShape().drop_back()), rows, columnsOf(g, columns), true).getY();
  if (std::is_same_v<Reduce, onnx::ReduceL2Op>)
    v = onnx::SqrtOp::create(b, op.getLoc(), v.getType(), v);
  if (op.getKeepdims())
    v = g.unsqueeze(v, {rank - 1});
  op.getReduced().replaceAllUsesWith(v);
  op.erase();
  difference.erase();
}

// A MatMul or Gemm by its product with packed weights and a bias, which may be null.
static void replaceByPacked(Operation *op, Value weights, Value bias, int64_t columns) {
  OpBuilder b(op);
  Value v = op->getResult(0);
  auto packed = onnx::PackedMatMulOp::create(b, op->getLoc(), v.getType(), op->getOperand(0), weights, bias, b.getI64IntegerAttr(columns));
  if (Attribute bf16Rows = op->getAttr(onnx::kBF16RowsAttr))
    packed->setAttr(onnx::kBF16RowsAttr, bf16Rows);
  v.replaceAllUsesWith(packed.getY());
  op->erase();
}

static void packMatMul(onnx::MatMulOp op, const Storage &storage) {
  OpBuilder b(op);
  auto type = rankedType(op.getB());
  bool areRows = isRows(op.getA()) && isRows(op.getB()) && type.getRank() == 2 && type.hasStaticShape() &&
                 fillsPanel(type.getElementType(), type.getDimSize(1));
  ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>();
  Value weights = areRows ? packMatrix(b, op.getB(), {shape[0], shape[1]}, storage, op) : Value();
  if (!weights)
    return multiplyAtRunTime(op);
  replaceByPacked(op, weights, Value(), shape[1]);
}

static void packGemm(onnx::GemmOp op, const Storage &storage) {
  auto type = rankedType(op.getB());
  if (!isRows(op.getA()) || !isRows(op.getB()) || type.getRank() != 2 || !type.hasStaticShape() || op.getTransA() ||
      !onnx::constantValue(op.getB()))
    return;
  OpBuilder b(op);
  bool t = op.getTransB();
  int64_t depth = type.getDimSize(t), columns = type.getDimSize(!t);
  if (!fillsPanel(type.getElementType(), columns))
    return;
  Value row = op.getC() ? packBias(b, op.getC(), columns, op.getBeta().convertToFloat()) : Value();
  if (op.getC() && !row)
    return;
  Value weights = packMatrix(b, op.getB(), {depth, columns, t, op.getAlpha().convertToFloat()}, storage, op);
  if (!weights)
    return;
  replaceByPacked(op, weights, row, columns);
}

static bool takesRows(OpOperand &use) {
  auto gather = dyn_cast<onnx::GatherOp>(use.getOwner());
  return gather && use.getOperandNumber() == 0 && gather.getAxis() == 0;
}

// A constant of which nothing but rows is read, long ones as those of embeddings: coordinates keep their digits.
static void packTable(onnx::ConstantOp table, FloatType wanted) {
  if (!isMatrix(table) || cast<RankedTensorType>(table.getType()).getDimSize(1) < kLanes || !llvm::all_of(table->getUses(), takesRows))
    return;
  auto values = constantFloats(table);
  if (!values || table->use_empty())
    return;
  Type stored = Storage{wanted, values->size() > kNearWeights}.typeOf(*values, 1, 1);
  if (stored.isF32())
    return;
  OpBuilder b(table);
  auto type = cast<RankedTensorType>(table.getType()).clone(stored);
  Value narrow = onnx::ConstantOp::create(b, table.getLoc(), storedConstant(cast<RankedTensorType>(type), std::move(*values)));
  for (Operation *user : llvm::make_early_inc_range(table->getUsers())) {
    b.setInsertionPoint(user);
    auto gather = cast<onnx::GatherOp>(b.clone(*user));
    gather->setOperand(0, narrow);
    gather.getResult().setType(cast<TensorType>(gather.getType()).clone(stored));
    user->getResult(0).replaceAllUsesWith(GraphBuilder{b, user->getLoc()}.as(user->getResult(0).getType(), gather.getResult()));
    user->erase();
  }
  table->erase();
}

namespace {
struct PackWeights : impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;
  void runOnOperation() override {
    FloatType wanted = weightType(&getContext(), precision);
    SmallVector<Operation *> ops;
    size_t weights = 0;  // of all products
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::MatMulOp, onnx::GemmOp, onnx::RNNOp, onnx::GRUOp, onnx::LSTMOp, onnx::ReduceL2Op, onnx::ReduceSumSquareOp>(op))
        ops.push_back(op);
      if (isa<onnx::MatMulOp, onnx::GemmOp>(op) && isMatrix(op->getOperand(1)) && onnx::constantValue(op->getOperand(1)))
        weights += cast<RankedTensorType>(op->getOperand(1).getType()).getNumElements();
    });
    Storage storage{wanted, weights > kNearWeights};
    for (Operation *op : ops) {
      if (auto matmul = dyn_cast<onnx::MatMulOp>(op))
        packMatMul(matmul, storage);
      else if (auto gemm = dyn_cast<onnx::GemmOp>(op))
        packGemm(gemm, storage);
      else if (auto sum = dyn_cast<onnx::ReduceSumSquareOp>(op))
        addUpDistances(sum);
      else if (auto root = dyn_cast<onnx::ReduceL2Op>(op))
        addUpDistances(root);
      else
        packRecurrent(op);
    }
    SmallVector<onnx::ConstantOp> tables;
    getOperation().walk([&](onnx::ConstantOp op) { tables.push_back(op); });
    for (onnx::ConstantOp table : tables)
      packTable(table, wanted);
  }
};
}  // namespace
}  // namespace onnxc
