// Decompose.cpp: ops whose parts have better kernels than the whole become those parts: fused ops of com.microsoft, Gemm and DepthToSpace
// here, transposed and three-dimensional convolutions in DecomposeConv.cpp, those of integers in DecomposeConvInteger.cpp, Einsum in
// DecomposeEinsum.cpp, linear models in DecomposeML.cpp, normalisations and losses in DecomposeNorm.cpp, quantised products in
// DecomposeQuant.cpp, quantised weights in QuantisedWeights.cpp. Before recognize; left out at -O0.
#include "passes/graph/Decompose.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/graph/Passes.h.inc"

// --- fused ops of com.microsoft ---

static bool isActivation(StringRef name, bool bounded) {
  return name == "Clip" ? bounded : llvm::is_contained({"", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"}, name);
}

// `v` under the activation of that name, one of the above.
static Value activated(GraphBuilder g, Value v, StringRef name, std::optional<float> alpha, std::optional<float> beta) {
  Type type = v.getType();
  if (name.empty())
    return v;
  if (name == "Clip")
    return onnx::ClipOp::create(g.b, g.loc, type, v, g.number(*alpha), g.number(*beta));
  SmallVector<NamedAttribute> attributes;
  bool parameters = name == "LeakyRelu" || name == "HardSigmoid";
  if (parameters && alpha)
    attributes.push_back(g.b.getNamedAttr("alpha", g.b.getF32FloatAttr(*alpha)));
  if (name == "HardSigmoid" && beta)
    attributes.push_back(g.b.getNamedAttr("beta", g.b.getF32FloatAttr(*beta)));
  return g.b.create(g.loc, g.b.getStringAttr(("onnx." + name).str()), v, type, attributes)->getResult(0);
}

// FusedConv(x, w, b, z) = activation(Conv(x, w, b) + z)
static LogicalResult fusedConv(onnx::MSFusedConvOp op, PatternRewriter &rewriter) {
  ArrayRef<float> parameters = op.getActivationParams().value_or(ArrayRef<float>());
  auto parameter = [&](size_t i) { return i < parameters.size() ? std::optional(parameters[i]) : std::nullopt; };
  StringRef name = op.getActivation().value_or("");
  if (!onnx::elementType(op.getX()).isF32() || !isActivation(name, parameters.size() > 1))
    return rewriter.notifyMatchFailure(op, "not f32, or an activation that is no op of its own");
  GraphBuilder g{rewriter, op.getLoc()};
  Value v = onnx::ConvOp::create(rewriter, op.getLoc(), op.getType(), op.getX(), op.getW(), op.getB(), op.getAutoPadAttr(),
                                 op.getDilationsAttr(), op.getGroupAttr(), op.getKernelShapeAttr(), op.getPadsAttr(), op.getStridesAttr());
  if (op.getZ())
    v = onnx::AddOp::create(rewriter, op.getLoc(), op.getType(), v, op.getZ());
  rewriter.replaceOp(op, activated(g, v, name, parameter(0), parameter(1)));
  return success();
}

static LogicalResult fusedGemm(onnx::MSFusedGemmOp op, PatternRewriter &rewriter) {
  auto number = [](std::optional<APFloat> f) { return f ? std::optional(f->convertToFloat()) : std::nullopt; };
  StringRef name = op.getActivation().value_or("");
  if (!onnx::elementType(op.getA()).isF32() || !isActivation(name, op.getActivationAlpha() && op.getActivationBeta()))
    return rewriter.notifyMatchFailure(op, "not f32, or an activation that is no op of its own");
  GraphBuilder g{rewriter, op.getLoc()};
  Value v = onnx::GemmOp::create(rewriter, op.getLoc(), op.getType(), op.getA(), op.getB(), op.getC(), op.getAlphaAttr(), op.getBetaAttr(),
                                 op.getTransAAttr(), op.getTransBAttr());
  rewriter.replaceOp(op, activated(g, v, name, number(op.getActivationAlpha()), number(op.getActivationBeta())));
  return success();
}

// An operand of FusedMatMul as MatMul reads it: its first axis may be the one before the last, the last two may change places.
static Value matrices(GraphBuilder g, Value v, bool firstIsRow, bool swap) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rankedType(v).getRank()));
  if (firstIsRow)
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (swap)
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return g.transpose(v, perm);
}

// FusedMatMul(a, b) = alpha MatMul(a', b')
static LogicalResult fusedMatMul(onnx::MSFusedMatMulOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA()), b = rankedType(op.getB());
  if (!a || !b || a.getRank() < 2 || b.getRank() < 2 || !a.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "vectors, or not f32");
  GraphBuilder g{rewriter, op.getLoc()};
  Value left = matrices(g, op.getA(), op.getTransBatchA(), op.getTransA()),
        right = matrices(g, op.getB(), op.getTransBatchB(), op.getTransB());
  Value v = onnx::MatMulOp::create(rewriter, op.getLoc(), op.getType(), left, right);
  if (!op.getAlpha().isExactlyValue(1.0))
    v = onnx::MulOp::create(rewriter, op.getLoc(), op.getType(), v, g.number(op.getAlpha().convertToFloat()));
  rewriter.replaceOp(op, v);
  return success();
}

// Whether an operand is bytes or less times a scale, which IntegerContractions and MatMulNBits multiply.
static bool isDequantised(Operation *product) {
  return llvm::any_of(product->getOperands(), [](Value v) {
    auto dq = v ? v.getDefiningOp<onnx::DequantizeLinearOp>() : onnx::DequantizeLinearOp();
    return dq && storageBytes(onnx::elementType(dq.getX())) == 1;
  });
}

// An Add with the bias of a Gemm would repeat the product where that has one row or column and the bias more: no size may allow it.
static bool onlyBiasRepeats(RankedTensorType product, Value bias) {
  auto type = rankedType(bias);
  if (!product || !type || type.getRank() > product.getRank())
    return false;
  for (auto [size, given] : llvm::zip(llvm::reverse(product.getShape()), llvm::reverse(type.getShape())))
    if (given != 1 && (ShapedType::isDynamic(size) || (size == 1 && ShapedType::isDynamic(given))))
      return false;
  return true;
}

// Whether `columns` sums along rows of `sum` elements take less than a panel of columns, most of which it has not.
static bool areFewColumns(int64_t columns, int64_t sum) {
  constexpr int64_t most = 4, lanes = 16, ends = 10;  // steps from a vector of sums to one number
  return columns > 0 && columns <= most && columns * (sum / lanes + ends) < sum;
}

// Gemm(a, b, c) = alpha a' b' + beta c where the run makes both matrices, or where b' is a column or few; with other constant
// weights, dequantised ones too, only its first operand is transposed.
static LogicalResult gemm(onnx::GemmOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA()), b = rankedType(op.getB());
  auto dequantised = op.getB().getDefiningOp<onnx::DequantizeLinearOp>();
  bool isMatrix = b && b.getRank() == 2, turned = op.getTransB() != 0;
  int64_t columns = isMatrix ? b.getDimSize(turned ? 0 : 1) : 0, sum = isMatrix ? b.getDimSize(turned ? 1 : 0) : 0;
  bool areColumns = !isDequantised(op) && (columns == 1 || areFewColumns(columns, sum));
  bool constant = !areColumns && bool(onnx::constantValue(dequantised ? dequantised.getX() : op.getB()));
  if (!a || !b || a.getRank() != 2 || b.getRank() != 2 || !a.getElementType().isF32() || (constant && !op.getTransA()))
    return rewriter.notifyMatchFailure(op, "not f32, or weights that are packed as they are");
  if (!constant && op.getC() && !onlyBiasRepeats(rankedType(op.getResult()), op.getC()))
    return rewriter.notifyMatchFailure(op, "a bias that may have more rows or columns than the product");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  Value left = matrices(g, op.getA(), /*firstIsRow=*/false, op.getTransA());
  if (constant) {
    DictionaryAttr marks = op->getDiscardableAttrDictionary();
    auto product = rewriter.replaceOpWithNewOp<onnx::GemmOp>(op, op.getType(), left, op.getB(), op.getC(), op.getAlphaAttr(),
                                                             op.getBetaAttr(), rewriter.getI64IntegerAttr(0), op.getTransBAttr());
    product->setDiscardableAttrs(marks);
    return success();
  }
  Value v = onnx::MatMulOp::create(rewriter, loc, op.getType(), left, matrices(g, op.getB(), /*firstIsRow=*/false, op.getTransB()));
  auto scaled = [&](Value x, APFloat by) {
    return by.isExactlyValue(1.0) ? x : Value(onnx::MulOp::create(rewriter, loc, x.getType(), x, g.number(by.convertToFloat())));
  };
  v = scaled(v, op.getAlpha());
  if (op.getC() && !op.getBeta().isZero())
    v = onnx::AddOp::create(rewriter, loc, op.getType(), v, scaled(op.getC(), op.getBeta()));
  rewriter.replaceOp(op, v);
  return success();
}

// Images of known sizes: blocks of channels become rows and columns of pixels by one transposition.
static LogicalResult depthToSpace(onnx::DepthToSpaceOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getInput());
  int64_t b = op.getBlocksize();
  bool known = x && x.getRank() == 4 && llvm::none_of(x.getShape().drop_front(), ShapedType::isDynamic);
  if (!known || b < 1 || b > x.getDimSize(1) || x.getDimSize(1) % (b * b) || llvm::is_contained(x.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "sizes that only the run knows");
  int64_t c = x.getDimSize(1) / (b * b), h = x.getDimSize(2), w = x.getDimSize(3);
  GraphBuilder g{rewriter, op.getLoc()};
  Value v = op.getMode() == "CRD" ? g.transpose(g.reshape(op.getInput(), {0, c, b, b, h, w}), {0, 1, 4, 2, 5, 3})
                                  : g.transpose(g.reshape(op.getInput(), {0, b, b, c, h, w}), {0, 3, 4, 1, 5, 2});
  v = g.reshape(v, {0, c, h * b, w * b});
  replaceTyped(rewriter, op, v);
  return success();
}

onnx::GatherOp chosenMatrices(Value v) {
  auto gather = v.getDefiningOp<onnx::GatherOp>();
  auto data = gather ? rankedType(gather.getData()) : nullptr;
  bool chooses = data && gather->hasOneUse() && data.getRank() == 3 && data.getElementType().isF32() && rankedType(gather.getIndices()) &&
                 onnx::axisAttr(gather, 3) == 0;
  return chooses ? gather : nullptr;
}

// A vector times the matrix that an index chooses for it, as experts' are: the matrices are read where they lie.
static LogicalResult productWithChosen(onnx::MatMulOp op, PatternRewriter &rewriter) {
  onnx::GatherOp left = chosenMatrices(op.getA()), right = chosenMatrices(op.getB()), chosen = left ? left : right;
  if (bool(left) == bool(right) || rankedType(chosen.getIndices()).getRank() != 1)
    return rewriter.notifyMatchFailure(op, "no list of chosen matrices, or nothing else");
  Value vectors = left ? op.getB() : op.getA();
  auto x = rankedType(vectors), w = rankedType(chosen.getData());
  int64_t sumAxis = left ? 1 : 2, count = rankedType(chosen.getIndices()).getDimSize(0);
  if (!x || x.getRank() != 3 || x.getDimSize(3 - sumAxis) != 1 || x.getDimSize(sumAxis) != w.getDimSize(3 - sumAxis))
    return rewriter.notifyMatchFailure(op, "no vectors, or of another size");
  if (!llvm::is_contained({ShapedType::kDynamic, int64_t(1), count}, x.getDimSize(0)) && count != 1 && !ShapedType::isDynamic(count))
    return rewriter.notifyMatchFailure(op, "not an index for each vector");
  Location loc = (left ? op.getA() : op.getB()).getLoc();  // what may fail is an index
  rewriter.replaceOp(op, onnx::PackedGatherProductOp::create(rewriter, loc, op.getType(), chosen.getData(), chosen.getIndices(), vectors,
                                                             rewriter.getI64IntegerAttr(bool(left))));
  return success();
}

// Matrices times one column each: rows summed as they lie, where a tile of columns would be empty but for one.
static LogicalResult productWithColumn(onnx::MatMulOp op, PatternRewriter &rewriter) {
  constexpr int64_t leastSum = 8;
  auto a = rankedType(op.getA()), b = rankedType(op.getB()), y = rankedType(op.getY());
  if (!a || !b || !y || a.getRank() < 2 || b.getRank() > a.getRank() || !a.getElementType().isF32() || isDequantised(op))
    return rewriter.notifyMatchFailure(op, "a vector, or numbers of bytes");
  bool isVector = b.getRank() == 1;
  int64_t rank = a.getRank(), sum = a.getDimSize(rank - 1), sumAxis = isVector ? 0 : b.getRank() - 2;
  for (int64_t i = 0; i < sumAxis; ++i)
    if (int64_t size = b.getDimSize(i); size != a.getDimSize(rank - b.getRank() + i) && size != 1)
      return rewriter.notifyMatchFailure(op, "columns that share a matrix");
  if ((!isVector && b.getDimSize(sumAxis + 1) != 1) || b.getDimSize(sumAxis) != sum || sum < (isVector ? 0 : leastSum))
    return rewriter.notifyMatchFailure(op, "not one column, or one of an unknown size or a small one");
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> row(b.getRank(), 0), shape(isVector ? y.getShape() : y.getShape().drop_back());
  row.back() = sum;
  if (!isVector)
    row[sumAxis] = 1;
  shape.push_back(sum);
  Value products = onnx::MulOp::create(rewriter, op.getLoc(), y.clone(shape), op.getA(), isVector ? op.getB() : g.reshape(op.getB(), row));
  rewriter.replaceOpWithNewOp<onnx::ReduceSumOp>(op, y, products, g.integers({rank - 1}), !isVector, 0);
  return success();
}

// Matrices times a few constant columns of a long sum, as heads of two classes are: each is summed along the rows, as they lie.
static LogicalResult productWithFewColumns(onnx::MatMulOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA()), b = rankedType(op.getB()), y = rankedType(op.getY());
  if (!a || !b || !y || a.getRank() < 2 || b.getRank() != 2 || !b.hasStaticShape() || !a.getElementType().isF32() || isDequantised(op))
    return rewriter.notifyMatchFailure(op, "a vector, several matrices, or numbers of bytes");
  int64_t rank = a.getRank(), sum = b.getDimSize(0), columns = b.getDimSize(1);
  auto transpose = op.getB().getDefiningOp<onnx::TransposeOp>();  // as Gemm gives it
  if (transpose && transpose.getPerm() && transpose.getPerm()->front() == 0)
    return rewriter.notifyMatchFailure(op, "a transposition of nothing");
  auto values = columns > 1 && areFewColumns(columns, sum) ? constantFloats(transpose ? transpose.getData() : op.getB()) : std::nullopt;
  if (!values || a.getDimSize(rank - 1) != sum)
    return rewriter.notifyMatchFailure(op, "many columns, a short sum, or no constants");
  std::vector<float> byColumn = transpose ? std::move(*values) : transposedMatrix(*values, sum, columns);
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> shape(y.getShape());
  shape.push_back(sum);
  Value rows = g.unsqueeze(op.getA(), {rank - 1}), weights = g.floats({columns, sum}, std::move(byColumn));
  Value products = onnx::MulOp::create(rewriter, op.getLoc(), y.clone(shape), rows, weights);
  rewriter.replaceOpWithNewOp<onnx::ReduceSumOp>(op, y, products, g.integers({rank}), 0, 0);
  return success();
}

// A vector times matrices is a row times them, for which there are kernels.
static LogicalResult productOfVector(onnx::MatMulOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA()), b = rankedType(op.getB()), y = rankedType(op.getY());
  if (!a || !b || !y || a.getRank() != 1 || b.getRank() < 2 || !a.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "no vector, or not f32");
  GraphBuilder g{rewriter, op.getLoc()};
  int64_t axis = y.getRank() - 1;
  SmallVector<int64_t> shape(y.getShape());
  shape.insert(shape.end() - 1, 1);
  Value v = onnx::MatMulOp::create(rewriter, op.getLoc(), y.clone(shape), g.unsqueeze(op.getA(), {0}), op.getB());
  rewriter.replaceOpWithNewOp<onnx::SqueezeOp>(op, y, v, g.integers({axis}));
  return success();
}

static bool isWhole(Type t) { return t.isInteger(1) || (llvm::isa<IntegerType>(t) && t.getIntOrFloatBitWidth() >= 8); }
// Whether a value of `from` goes to the half `to` by f32 as it does at once: f32 holds it, or rounds what f16 takes for infinite anyhow.
static bool roundsOnce(Type from, Type to) {
  auto integer = llvm::dyn_cast<IntegerType>(from);
  return from.isF16() || from.isBF16() || (integer && isWhole(from) && integer.getWidth() <= (to.isF16() ? 64u : 16u));
}

// Casts between halves and what is not f32, in two steps for which there is code.
static LogicalResult castHalf(onnx::CastOp op, PatternRewriter &rewriter) {
  auto tensor = llvm::dyn_cast<TensorType>(op.getInput().getType());
  Type from = onnx::elementType(op.getInput()), to = onnx::elementType(op.getOutput());
  if (!tensor || !from || !to || from == to || from.isF32() || to.isF32())
    return rewriter.notifyMatchFailure(op, "a step of its own");
  bool fromHalf = from.isF16() || from.isBF16(), toHalf = to.isF16() || to.isBF16();
  if (toHalf ? !roundsOnce(from, to) : !fromHalf || !(to.isF64() || isWhole(to)))
    return rewriter.notifyMatchFailure(op, "a half is not concerned, or would be rounded twice");
  Value single = GraphBuilder{rewriter, op.getLoc()}.cast(op.getInput(), rewriter.getF32Type());
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, single); });
  return success();
}

namespace {
struct Decompose : impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(fusedConv);
    patterns.add(fusedGemm);
    patterns.add(fusedMatMul);
    patterns.add(gemm);
    patterns.add(depthToSpace);
    patterns.add(productWithChosen, /*benefit=*/2);
    patterns.add(productWithColumn);
    patterns.add(productWithFewColumns);
    patterns.add(productOfVector);
    patterns.add(castHalf);
    populateDecomposeConvPatterns(patterns, precision != "f32");
    populateDecomposeConvIntegerPatterns(patterns);
    populateDecomposeEinsumPatterns(patterns);
    populateDecomposeMLPatterns(patterns);
    populateDecomposeNormPatterns(patterns);
    populateQuantisedWeightPatterns(patterns);
    populateDecomposeQuantPatterns(patterns);
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
