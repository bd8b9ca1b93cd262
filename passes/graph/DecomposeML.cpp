// DecomposeML.cpp: ai.onnx.ml of f32 where the ops of ONNX have tiles, vectors and threads for it: linear models as Gemm and what makes
// results of its scores, and what works on columns as elementwise ops, reductions of rows and moves. One of the groups of Decompose.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/ML.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"

using namespace mlir;
namespace onnxc {
namespace {

// Scores x W^T + bias, W [targets, columns].
struct LinearModel {
  int64_t targets, columns;
  std::vector<float> weights, bias;

  // Empty where the lists are not those of `targets` rows of x: the op's kernel says what is wrong. `most`: further weights are not read.
  static std::optional<LinearModel> of(Value x, ArrayRef<float> weights, int64_t targets, bool most = false) {
    auto type = rankedType(x);
    if (!type || type.getRank() != 2 || !type.getElementType().isF32() || targets < 1)
      return std::nullopt;
    int64_t size = weights.size(), columns = type.isDynamicDim(1) ? size / targets : type.getDimSize(1);
    if (columns < 1 || columns > size / targets || (size != targets * columns && (!most || type.isDynamicDim(1))))
      return std::nullopt;
    return LinearModel{targets, columns, weights.take_front(targets * columns).vec(), std::vector<float>(targets)};
  }
  Value scores(GraphBuilder g, Value x) const {
    APFloat one(1.0f);
    Value w = g.floats({targets, columns}, weights), b = g.floats({targets}, bias);
    Type type = rankedType(x).clone({rankedType(x).getDimSize(0), targets});
    return onnx::GemmOp::create(g.b, g.loc, type, x, w, b, one, one, 0, 1);
  }
};

ArrayRef<float> floatsOf(std::optional<ArrayRef<float>> list) { return list.value_or(ArrayRef<float>()); }

// A transform for which there are ops; what softmax makes of one score is the score.
bool isPlain(StringRef post) { return post == "NONE" || post == "LOGISTIC" || post == "SOFTMAX"; }
Value transformed(GraphBuilder g, Value scores, StringRef post) {
  auto type = rankedType(scores);
  if (post == "LOGISTIC")
    return onnx::SigmoidOp::create(g.b, g.loc, type, scores);
  return post == "SOFTMAX" && type.getDimSize(1) > 1 ? Value(onnx::SoftmaxOp::create(g.b, g.loc, type, scores, 1)) : scores;
}

LogicalResult linearRegressor(onnx::MLLinearRegressorOp op, PatternRewriter &rewriter) {
  auto model = LinearModel::of(op.getX(), floatsOf(op.getCoefficients()), op.getTargets());
  if (!model || !isPlain(op.getPostTransform()))
    return rewriter.notifyMatchFailure(op, "not of rows of f32, lists of other sizes, or a transform that has no op");
  ArrayRef<float> bias = floatsOf(op.getIntercepts());
  llvm::copy(bias.take_front(std::min<size_t>(bias.size(), model->targets)), model->bias.begin());
  GraphBuilder g{rewriter, op.getLoc()};
  replaceTyped(rewriter, op, transformed(g, model->scores(g, op.getX()), op.getPostTransform()));
  return success();
}

// Without support vectors the coefficients are those of the input's columns.
LogicalResult linearMachine(onnx::MLSVMRegressorOp op, PatternRewriter &rewriter) {
  ArrayRef<float> rho = floatsOf(op.getRho());
  auto model = LinearModel::of(op.getX(), floatsOf(op.getCoefficients()), 1);
  StringRef kernel = op.getKernelType(), post = op.getPostTransform();
  if (!model || op.getNSupports() > 0 || kernel != "LINEAR" || op.getOneClass() || rho.empty() || (post != "NONE" && post != "LOGISTIC"))
    return rewriter.notifyMatchFailure(op, "support vectors, or a result that has no op");
  model->bias[0] = rho[0];
  GraphBuilder g{rewriter, op.getLoc()};
  replaceTyped(rewriter, op, transformed(g, model->scores(g, op.getX()), post));
  return success();
}

// The results of a classifier from its scores.
template <class Op>
LogicalResult decide(Op op, PatternRewriter &rewriter, const LinearModel &model) {
  GraphBuilder g{rewriter, op.getLoc()};
  rewriter.replaceOpWithNewOp<onnx::PackedClassScoresOp>(op, op.getResultTypes(), model.scores(g, op.getX()), op.getClasslabelsIntsAttr(),
                                                         op.getClasslabelsStringsAttr(), op.getPostTransformAttr(),
                                                         rewriter.getI64IntegerAttr(rankedType(op.getZ()).getDimSize(1)));
  return success();
}
bool knowsColumns(Value scores) { return rankedType(scores) && !rankedType(scores).isDynamicDim(1); }

// As ONNX Runtime counts, there are as many classes as intercepts.
LogicalResult linearClassifier(onnx::MLLinearClassifierOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  ArrayRef<float> weights = op.getCoefficients(), bias = floatsOf(op.getIntercepts());
  bool counted = !bias.empty() || (x && x.getRank() == 2 && x.getDimSize(1) > 0 && weights.size() % x.getDimSize(1) == 0);
  if (!counted || !knowsColumns(op.getZ()))
    return rewriter.notifyMatchFailure(op, "an unknown number of classes");
  auto model = LinearModel::of(op.getX(), weights, bias.empty() ? weights.size() / x.getDimSize(1) : bias.size(), /*most=*/true);
  if (!model)
    return rewriter.notifyMatchFailure(op, "not of rows of f32, or lists of other sizes");
  llvm::copy(bias, model->bias.begin());
  return decide(op, rewriter, *model);
}

LogicalResult linearMachines(onnx::MLSVMClassifierOp op, PatternRewriter &rewriter) {
  ArrayRef<float> rho = floatsOf(op.getRho());
  size_t classes = op.getClasslabelsStrings() && !op.getClasslabelsStrings()->empty() ? op.getClasslabelsStrings()->size()
                   : op.getClasslabelsInts()                                          ? op.getClasslabelsInts()->size()
                                                                                      : 0;
  bool vectors = !floatsOf(op.getSupportVectors()).empty() || (op.getVectorsPerClass() && !op.getVectorsPerClass()->empty());
  if (vectors || op.getKernelType() != "LINEAR" || !floatsOf(op.getProbA()).empty() || classes < 2 || !knowsColumns(op.getZ()))
    return rewriter.notifyMatchFailure(op, "support vectors, another kernel, or an only class");
  auto model = LinearModel::of(op.getX(), floatsOf(op.getCoefficients()), classes, /*most=*/true);
  if (!model)
    return rewriter.notifyMatchFailure(op, "not of rows of f32, or lists of other sizes");
  if (!rho.empty())
    llvm::fill(model->bias, rho[0]);
  return decide(op, rewriter, *model);
}

// Machines multiply f32, whatever their rows are, as ONNX Runtime's do.
template <class Op>
LogicalResult rowsOfF32(Op op, PatternRewriter &rewriter) {
  auto type = rankedType(op.getX());
  if (!type || type.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "rows of f32 already, or of unknown rank");
  Value rows = GraphBuilder{rewriter, op.getLoc()}.cast(op.getX(), rewriter.getF32Type());
  rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(rows); });
  return success();
}

// --- columns ---

// Whether a list is one number for all of x's columns or one for each; x is f32.
bool fitsColumns(Value x, ArrayRef<float> list) {
  auto type = rankedType(x);
  return type && type.getElementType().isF32() &&
         (list.size() == 1 || (type.getRank() == 2 && !type.isDynamicDim(1) && int64_t(list.size()) == type.getDimSize(1)));
}
// Such a list, as an operand that broadcasts.
Value ofColumns(GraphBuilder g, ArrayRef<float> list) {
  return list.size() == 1 ? g.number(list[0]) : g.floats({int64_t(list.size())}, list.vec());
}

// (x - offset) * scale
LogicalResult scaler(onnx::MLScalerOp op, PatternRewriter &rewriter) {
  GraphBuilder g{rewriter, op.getLoc()};
  constexpr float none = 0, once = 1;
  ArrayRef<float> offsets = floatsOf(op.getOffset()), scales = floatsOf(op.getScale());
  offsets = offsets.empty() ? ArrayRef(none) : offsets, scales = scales.empty() ? ArrayRef(once) : scales;
  if (!fitsColumns(op.getX(), offsets) || !fitsColumns(op.getX(), scales))
    return rewriter.notifyMatchFailure(op, "not f32, or not a number for each column");
  Value v = onnx::SubOp::create(rewriter, op.getLoc(), op.getX().getType(), op.getX(), ofColumns(g, offsets));
  rewriter.replaceOpWithNewOp<onnx::MulOp>(op, op.getType(), v, ofColumns(g, scales));
  return success();
}

LogicalResult imputer(onnx::MLImputerOp op, PatternRewriter &rewriter) {
  GraphBuilder g{rewriter, op.getLoc()};
  Value x = op.getX();
  if (!fitsColumns(x, floatsOf(op.getImputedValueFloats())))
    return rewriter.notifyMatchFailure(op, "not f32, or not a number for each column");
  Value imputed = ofColumns(g, floatsOf(op.getImputedValueFloats()));
  APFloat replaced = op.getReplacedValueFloat();
  Type flags = rankedType(x).clone(rewriter.getI1Type());
  Value found = replaced.isNaN() ? Value(onnx::IsNaNOp::create(rewriter, op.getLoc(), flags, x))
                                 : onnx::EqualOp::create(rewriter, op.getLoc(), flags, x, g.number(replaced.convertToFloat()));
  rewriter.replaceOpWithNewOp<onnx::WhereOp>(op, op.getType(), found, imputed, x);
  return success();
}

// x / norm of its row, of which MAX passes over NaN; a norm of zero divides by one.
LogicalResult normalizer(onnx::MLNormalizerOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  StringRef kind = op.getNorm();
  if (!x || x.getRank() != 2 || !x.getElementType().isF32() || (kind != "MAX" && kind != "L1" && kind != "L2"))
    return rewriter.notifyMatchFailure(op, "not rows of f32, or a norm that there is not");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  Type column = x.clone({x.getDimSize(0), 1}), bits = rewriter.getI1Type();
  Value axes = g.integers({1}), norm;
  if (kind == "MAX") {
    Value unknown = onnx::IsNaNOp::create(rewriter, loc, x.clone(bits), op.getX());
    Value known = onnx::WhereOp::create(rewriter, loc, x, unknown, g.number(-INFINITY), op.getX());
    norm = onnx::ReduceMaxOp::create(rewriter, loc, column, known, axes, 1, 0);
  } else {
    norm = kind == "L1" ? Value(onnx::ReduceL1Op::create(rewriter, loc, column, op.getX(), axes, 1, 0))
                        : onnx::ReduceL2Op::create(rewriter, loc, column, op.getX(), axes, 1, 0);
  }
  Value none = onnx::EqualOp::create(rewriter, loc, rankedType(norm).clone(bits), norm, g.number(0));
  Value divisor = onnx::WhereOp::create(rewriter, loc, column, none, g.number(1), norm);
  rewriter.replaceOpWithNewOp<onnx::DivOp>(op, op.getType(), op.getX(), divisor);
  return success();
}

// Matrices side by side, each of as many columns as it says.
LogicalResult featureVectorizer(onnx::MLFeatureVectorizerOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> sizes = op.getInputdimensions().value_or(ArrayRef<int64_t>());
  OperandRange inputs = op.getX();
  if (inputs.size() < 2 || (!sizes.empty() && sizes.size() < inputs.size()))
    return rewriter.notifyMatchFailure(op, "one matrix, or too few sizes");
  for (auto [i, v] : llvm::enumerate(inputs)) {
    auto type = rankedType(v);
    if (!type || type.getRank() != 2 || !type.getElementType().isF32() || type.isDynamicDim(1) ||
        (!sizes.empty() && sizes[i] != type.getDimSize(1)))
      return rewriter.notifyMatchFailure(op, "not f32, or columns that are cut or filled up");
  }
  replaceTyped(rewriter, op, GraphBuilder{rewriter, op.getLoc()}.concat(llvm::to_vector(inputs), 1));
  return success();
}

// Columns of a matrix whose numbers are known; negative ones are no columns here.
LogicalResult arrayFeatureExtractor(onnx::MLArrayFeatureExtractorOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  auto columns = onnx::integerElements(op.getY());
  if (!x || x.getRank() < 2 || x.isDynamicDim(x.getRank() - 1) || !columns || columns->empty() ||
      llvm::any_of(*columns, [&](int64_t c) { return c < 0 || c >= x.getDimSize(x.getRank() - 1); }))
    return rewriter.notifyMatchFailure(op, "a list, or columns that are unknown or out of range");
  Value index = GraphBuilder{rewriter, op.getLoc()}.integers(*columns);
  rewriter.replaceOpWithNewOp<onnx::GatherOp>(op, op.getType(), op.getX(), index, x.getRank() - 1);
  return success();
}

}  // namespace

void populateDecomposeMLPatterns(RewritePatternSet &patterns) {
  patterns.add(linearRegressor).add(linearMachine).add(linearClassifier).add(linearMachines);
  patterns.add(rowsOfF32<onnx::MLSVMRegressorOp>).add(rowsOfF32<onnx::MLSVMClassifierOp>);
  patterns.add(scaler).add(imputer).add(normalizer).add(featureVectorizer).add(arrayFeatureExtractor);
}

}  // namespace onnxc
