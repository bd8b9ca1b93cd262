// DecomposeNorm.cpp: normalisations and losses as the reductions and elementwise ops that they are, for which there are loops. One of the
// groups of Decompose.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "runtime_stub/kernels/SamePadding.h"

using namespace mlir;
namespace onnxc {

Value reducedLike(Operation *op, Value v, ArrayRef<int64_t> axes, GraphBuilder g) {
  SmallVector<int64_t> shape(rankedType(v).getShape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  Value list = g.integers(axes);
  Operation *part = g.b.clone(*op);
  part->setOperands({v, list});
  part->setAttr("keepdims", g.b.getI64IntegerAttr(1));
  part->getResult(0).setType(rankedType(v).clone(shape));
  return part->getResult(0);
}

// `Reduce` over axes in ascending order, which stay with size 1: run by run of neighbours, the innermost first, since loops join
// neighbours. `Outer` is what the runs behind the first are reduced by.
template <class Reduce, class Outer = Reduce>
static Value reducedOver(GraphBuilder g, Value v, ArrayRef<int64_t> axes) {
  for (bool inner = true; !axes.empty(); inner = false) {
    size_t n = 1;
    while (n < axes.size() && axes[axes.size() - n - 1] + 1 == axes[axes.size() - n])
      ++n;
    SmallVector<int64_t> shape(rankedType(v).getShape());
    for (int64_t a : axes.take_back(n))
      shape[a] = 1;
    Type type = rankedType(v).clone(shape);
    Value run = g.integers(axes.take_back(n));
    v = inner ? Value(Reduce::create(g.b, g.loc, type, v, run, 1, 0)) : Value(Outer::create(g.b, g.loc, type, v, run, 1, 0));
    axes = axes.drop_back(n);
  }
  return v;
}

// Axes of a tensor of so many, counted from its front, each once and in ascending order; nothing where it has not got one of them.
static std::optional<SmallVector<int64_t>> ascending(ArrayRef<int64_t> given, int64_t rank) {
  SmallVector<int64_t> axes(given);
  for (int64_t &a : axes)
    a = onnx::fromFront(a, rank);
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  bool fit = axes.empty() || (axes.front() >= 0 && axes.back() < rank);
  return fit ? std::optional(axes) : std::nullopt;
}

// The axes of a reduction of f32 that are known, as `ascending` gives them; nothing where they or the types are not.
template <class Reduce>
static std::optional<SmallVector<int64_t>> knownAxes(Reduce op) {
  auto x = rankedType(op.getData());
  auto given = onnx::integerElements(op.getAxes());
  bool known = x && given && rankedType(op.getReduced()) && x.getElementType().isF32();
  return known ? ascending(*given, x.getRank()) : std::nullopt;
}

// A reduction over axes that are no neighbours; those of size 1 change nothing beside others.
template <class Reduce, class Outer = Reduce>
static LogicalResult separatedAxes(Reduce op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getData()), y = rankedType(op.getReduced());
  auto axes = knownAxes(op);
  if (!axes || axes->empty() || axes->back() - axes->front() + 1 == int64_t(axes->size()))
    return rewriter.notifyMatchFailure(op, "neighbouring axes, or not f32 over known ones");
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> longer(llvm::make_filter_range(*axes, [&](int64_t a) { return x.getDimSize(a) != 1; }));
  Value v = reducedOver<Reduce, Outer>(g, op.getData(), longer.empty() ? ArrayRef(axes->front()) : ArrayRef(longer));
  if (op.getKeepdims())
    rewriter.replaceOp(op, v);
  else
    rewriter.replaceOpWithNewOp<onnx::SqueezeOp>(op, y, v, g.integers(*axes));
  return success();
}

// Whether the maximum, or the sum of powers, may be of a softmax that recognize puts together.
static bool isOfSoftmax(Operation *reduce) {
  Value data = reduce->getOperand(0);
  auto isSub = [&](Operation *user) { return llvm::isa<onnx::SubOp>(user) && user->getOperand(0) == data; };
  return (llvm::isa<onnx::ReduceMaxOp>(reduce) && llvm::any_of(data.getUsers(), isSub)) ||
         (llvm::isa<onnx::ReduceSumOp>(reduce) && data.getDefiningOp<onnx::ExpOp>());
}

// A reduction of a few columns: rows that lie one behind the other are more columns first, as many as fill vectors.
template <class Reduce>
static LogicalResult fewColumns(Reduce op, PatternRewriter &rewriter) {
  constexpr int64_t lanes = 16, leastRows = 4;
  auto x = rankedType(op.getData()), y = rankedType(op.getReduced());
  auto axes = knownAxes(op);
  if (!axes || axes->size() != 1 || axes->front() + 1 == x.getRank() || llvm::is_contained(x.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "not f32 along one known axis before the last, or no elements");
  if (isOfSoftmax(op))
    return rewriter.notifyMatchFailure(op, "of a softmax");
  int64_t axis = axes->front(), rows = x.getDimSize(axis), columns = 1, joined = 2;
  for (int64_t d : x.getShape().drop_front(axis + 1))
    columns = ShapedType::isDynamic(d) ? lanes : std::min(lanes, columns * d);
  if (columns < 2 || columns > lanes / 2)
    return rewriter.notifyMatchFailure(op, "many columns, or one");
  while (joined * columns < lanes || (rows > 0 && rows % joined && joined < lanes))
    ++joined;
  // The sizes before the axis are copied, one of them may be inferred.
  if (rows % joined || rows < joined * leastRows || llvm::count_if(x.getShape().take_front(axis), ShapedType::isDynamic) > 1)
    return rewriter.notifyMatchFailure(op, "few rows, or several unknown sizes");
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> shape(x.getShape().take_front(axis)), result(y.getShape());
  auto unknown = [](SmallVector<int64_t> &sizes) { llvm::replace(sizes, ShapedType::kDynamic, int64_t(-1)); };
  unknown(shape), unknown(result);
  shape.append({rows / joined, joined * columns});
  Value v = reducedOver<Reduce>(g, g.reshape(op.getData(), shape), {axis});
  shape[axis] = joined, shape[axis + 1] = columns;
  v = reducedOver<Reduce>(g, g.reshape(v, shape), {axis});
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, y, v, g.integers(result));
  return success();
}

// x / |x|, and 0 where the norm is.
static LogicalResult lpNormalization(onnx::LpNormalizationOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getInput());
  int64_t axis = x ? onnx::axisAttr(op, x.getRank()) : -1;
  if (axis < 0 || axis >= x.getRank() || !x.getElementType().isF32() || (op.getP() != 1 && op.getP() != 2))
    return rewriter.notifyMatchFailure(op, "not f32, or an axis or a norm that there is not");
  GraphBuilder g{rewriter, op.getLoc()};
  Value norm =
      op.getP() == 1 ? reducedOver<onnx::ReduceL1Op>(g, op.getInput(), {axis}) : reducedOver<onnx::ReduceL2Op>(g, op.getInput(), {axis});
  Type flags = rankedType(norm).clone(rewriter.getI1Type());
  Value none = onnx::EqualOp::create(rewriter, op.getLoc(), flags, norm, g.number(0));
  Value quotient = onnx::DivOp::create(rewriter, op.getLoc(), x, op.getInput(), norm);
  rewriter.replaceOpWithNewOp<onnx::WhereOp>(op, op.getType(), none, g.number(0), quotient);
  return success();
}

// |v|^p, and the p-th root of sums of that.
static Value magnitudesTo(GraphBuilder g, Value v, int64_t p) {
  if (p == 2)
    return onnx::MulOp::create(g.b, g.loc, v.getType(), v, v);
  v = onnx::AbsOp::create(g.b, g.loc, v.getType(), v);
  return p == 1 ? v : Value(onnx::PowOp::create(g.b, g.loc, v.getType(), v, g.number(float(p))));
}
static Value root(GraphBuilder g, Value v, int64_t p) {
  if (p == 2)
    return onnx::SqrtOp::create(g.b, g.loc, v.getType(), v);
  return p == 1 ? v : Value(onnx::PowOp::create(g.b, g.loc, v.getType(), v, g.number(1.0f / float(p))));
}

// The pads with which whole windows make results of the type `y`: those given, but for what sizes decide. Nothing where these are not
// known.
static std::optional<SmallVector<int64_t>> padsOfWholeWindows(onnx::LpPoolOp op, RankedTensorType x, RankedTensorType y) {
  int64_t axes = x.getRank() - 2;
  auto given = givenPads(op, axes);
  if (given && !op.getCeilMode())
    return given;
  SmallVector<int64_t> pads = given.value_or(SmallVector<int64_t>(2 * axes, 0));
  auto strides = listOr(op.getStrides(), axes, 1), dilations = listOr(op.getDilations(), axes, 1);
  ArrayRef<int64_t> kernel = op.getKernelShape();
  for (int64_t i = 0; i < axes; ++i) {
    int64_t size = x.getDimSize(i + 2), windows = y.getDimSize(i + 2), span = dilations[i] * (kernel[i] - 1) + 1;
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(windows))
      return std::nullopt;
    if (!given) {
      SamePads same = samePads(size, span, strides[i], op.getAutoPad() == "SAME_UPPER");
      pads[i] = same.begin, pads[i + axes] = same.end;
    } else {
      pads[i + axes] = std::max(pads[i + axes], (windows - 1) * strides[i] + span - size - pads[i]);
    }
  }
  return pads;
}

// The norm of a window is the root of a sum of powers; sums are averages of a window with its padding, times its size.
static LogicalResult lpPool(onnx::LpPoolOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), y = rankedType(op.getY());
  auto pads = x && y && x.getElementType().isF32() ? padsOfWholeWindows(op, x, y) : std::nullopt;
  if (!pads)
    return rewriter.notifyMatchFailure(op, "not f32, or pads that only the run knows");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  Value v = magnitudesTo(g, op.getX(), op.getP());
  v = onnx::AveragePoolOp::create(rewriter, loc, y, v, rewriter.getStringAttr("NOTSET"), rewriter.getI64IntegerAttr(0),
                                  rewriter.getI64IntegerAttr(1), op.getDilationsAttr(), op.getKernelShapeAttr(),
                                  rewriter.getDenseI64ArrayAttr(*pads), op.getStridesAttr());
  v = onnx::MulOp::create(rewriter, loc, y, v, g.number(float(ShapedType::getNumElements(op.getKernelShape()))));
  rewriter.replaceOp(op, root(g, v, op.getP()));
  return success();
}
static LogicalResult globalLpPool(onnx::GlobalLpPoolOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  if (!x || x.getRank() < 3 || !x.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not f32 images");
  GraphBuilder g{rewriter, op.getLoc()};
  Value axes = g.integers(llvm::to_vector(llvm::seq<int64_t>(2, x.getRank())));
  if (op.getP() == 1)
    rewriter.replaceOpWithNewOp<onnx::ReduceL1Op>(op, op.getType(), op.getX(), axes, 1, 0);
  else if (op.getP() == 2)
    rewriter.replaceOpWithNewOp<onnx::ReduceL2Op>(op, op.getType(), op.getX(), axes, 1, 0);
  else
    rewriter.replaceOp(
        op, root(g, onnx::ReduceSumOp::create(rewriter, op.getLoc(), op.getType(), magnitudesTo(g, op.getX(), op.getP()), axes, 1, 0),
                 op.getP()));
  return success();
}

// (x - mean) / (deviation + 1e-9)
static LogicalResult meanVariance(onnx::MeanVarianceNormalizationOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  if (!x || !x.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not f32 of a known rank");
  auto axes = ascending(op.getAxes(), x.getRank());
  if (!axes)
    return rewriter.notifyMatchFailure(op, "an axis that the operand has not");
  GraphBuilder g{rewriter, op.getLoc()};
  Value mean = reducedOver<onnx::ReduceMeanOp>(g, op.getX(), *axes),
        centered = onnx::SubOp::create(rewriter, op.getLoc(), x, op.getX(), mean);
  Value variance = reducedOver<onnx::ReduceMeanOp>(g, onnx::MulOp::create(rewriter, op.getLoc(), x, centered, centered), *axes);
  Value deviation = onnx::SqrtOp::create(rewriter, op.getLoc(), variance.getType(), variance);
  Value divisor = onnx::AddOp::create(rewriter, op.getLoc(), variance.getType(), deviation, g.number(1e-9f));
  rewriter.replaceOpWithNewOp<onnx::DivOp>(op, op.getType(), centered, divisor);
  return success();
}

// Rows of a group's channels and their planes, whose scale and bias have an element for each channel. A view cannot infer two sizes.
static LogicalResult groupNormalization(onnx::GroupNormalizationOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), scale = rankedType(op.getScale()), bias = rankedType(op.getBias());
  int64_t groups = op.getNumGroups();
  if (!x || x.getRank() < 2 || !x.getElementType().isF32() || !scale || !bias || scale.getRank() != 1 || !scale.hasStaticShape() ||
      scale != bias || scale.getElementType() != x.getElementType())
    return rewriter.notifyMatchFailure(op, "not f32 with a scale and a bias of a known size");
  int64_t channels = scale.getDimSize(0), batch = x.getDimSize(0), plane = 1;
  if (groups <= 0 || channels <= 0 || channels % groups || x.getDimSize(1) != channels || llvm::is_contained(x.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "channels that are not known to make groups, or no elements");
  for (int64_t d : x.getShape().drop_front(2))
    plane = ShapedType::isDynamic(d) || plane < 0 || plane > INT32_MAX ? -1 : plane * d;
  if (ShapedType::isDynamic(batch))
    batch = plane > 0 ? -1 : 0;
  GraphBuilder g{rewriter, op.getLoc()};
  int64_t each = channels / groups;
  Value rows = g.reshape(op.getX(), {batch, groups, each, plane});
  Value wideScale = g.reshape(op.getScale(), {groups, each, 1}), wideBias = g.reshape(op.getBias(), {groups, each, 1});
  auto y = onnx::LayerNormalizationOp::create(rewriter, op.getLoc(), rows.getType(), Type(), Type(), rows, wideScale, wideBias,
                                              rewriter.getI64IntegerAttr(2), op.getEpsilonAttr(), op.getStashTypeAttr());
  auto sizes = RankedTensorType::get({x.getRank()}, rewriter.getI64Type());
  Value shape = onnx::ShapeOp::create(rewriter, op.getLoc(), sizes, op.getX(), IntegerAttr(), rewriter.getI64IntegerAttr(0));
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, op.getType(), y.getY(), shape);
  return success();
}

// The loss of the logarithms of softmax: only the chosen classes are left to a kernel that looks at labels.
static LogicalResult crossEntropy(onnx::SoftmaxCrossEntropyLossOp op, PatternRewriter &rewriter) {
  auto scores = rankedType(op.getScores());
  if (!scores || scores.getRank() < 2 || !scores.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not f32 with an axis of classes");
  Value logs = onnx::LogSoftmaxOp::create(rewriter, op.getLoc(), scores, op.getScores(), rewriter.getI64IntegerAttr(1));
  Value loss = onnx::NegativeLogLikelihoodLossOp::create(rewriter, op.getLoc(), op.getOutput().getType(), logs, op.getLabels(),
                                                         op.getWeights(), op.getIgnoreIndexAttr(), op.getReductionAttr());
  SmallVector<Value> results = {loss};
  if (op.getLogProb())
    results.push_back(logs);
  rewriter.replaceOp(op, results);
  return success();
}

void populateDecomposeNormPatterns(RewritePatternSet &patterns) {
  patterns.add(meanVariance);
  patterns.add(lpNormalization);
  patterns.add(lpPool);
  patterns.add(globalLpPool);
  patterns.add(groupNormalization);
  patterns.add(separatedAxes<onnx::ReduceSumOp>);
  patterns.add(separatedAxes<onnx::ReduceMeanOp>);
  patterns.add(separatedAxes<onnx::ReduceMaxOp>);
  patterns.add(separatedAxes<onnx::ReduceMinOp>);
  patterns.add(separatedAxes<onnx::ReduceSumSquareOp, onnx::ReduceSumOp>);
  patterns.add(separatedAxes<onnx::ReduceL1Op, onnx::ReduceSumOp>);
  patterns.add(separatedAxes<onnx::ReduceL2Op>);
  patterns.add(separatedAxes<onnx::ReduceProdOp>);
  patterns.add(separatedAxes<onnx::ReduceLogSumExpOp>);
  patterns.add(fewColumns<onnx::ReduceSumOp>);
  patterns.add(fewColumns<onnx::ReduceMeanOp>);
  patterns.add(fewColumns<onnx::ReduceMaxOp>);
  patterns.add(fewColumns<onnx::ReduceMinOp>);
  patterns.add(crossEntropy);
}

}  // namespace onnxc
