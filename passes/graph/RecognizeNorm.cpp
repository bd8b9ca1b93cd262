// RecognizeNorm.cpp: LayerNormalization and RMSNormalization from the means, squares and roots that exporters write. One of the groups of
// Recognize.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Recognize.h"

using namespace mlir;
namespace onnxc {

// Number of trailing axes that `row` is a mean over; 0 for others.
static int64_t meanAxes(const RowValue &row) {
  int64_t count = row.axes.size();
  bool trailing = row.axes.back() == rankedType(row.data).getRank() - 1 && row.axes.back() - row.axes.front() + 1 == count;
  return llvm::isa<onnx::ReduceMeanOp>(row.reduce) && !row.function && trailing ? count : 0;
}
int64_t meanOf(Value v, Value x) {
  auto row = v ? rowValue(v) : std::nullopt;
  return row && row->data == x ? meanAxes(*row) : 0;
}
Value baseOfSquare(Value v) {
  auto square = [](Value v) {
    if (auto pow = v.getDefiningOp<onnx::PowOp>())
      return isNumber(pow.getB(), 2) ? pow.getA() : Value();
    auto mul = v.getDefiningOp<onnx::MulOp>();
    return mul && mul.getA() == mul.getB() ? mul.getA() : Value();
  };
  return square(v);
}

namespace {
// sqrt(mean(centered²) + epsilon) over the last `axes` axes, or sqrt(mean(whole²) - mean(whole)² + epsilon), where `centered` is null.
struct Deviation {
  Value centered;
  int64_t axes = 0;
  float epsilon = 0;
  Value whole;
};
}  // namespace

// v where `op` is the greater of v and 0; null for others.
static Value aboveZero(Operation *op) {
  auto max = llvm::dyn_cast_or_null<onnx::MaxOp>(op);
  for (unsigned i = 0; max && max->getNumOperands() == 2 && i < 2; ++i)
    if (number(max->getOperand(i)) == 0.0 && max->getOperand(1 - i).getType() == max.getType())
      return max->getOperand(1 - i);
  auto clip = llvm::dyn_cast_or_null<onnx::ClipOp>(op);
  bool isRelu = llvm::isa_and_nonnull<onnx::ReluOp>(op) || (clip && !clip.getMax() && clip.getMin() && number(clip.getMin()) == 0.0);
  return isRelu ? op->getOperand(0) : Value();
}

// `v` is mean(x²) - mean(x)², as Flax writes a variance, perhaps the greater of it and 0. LayerNormalization takes the mean first, so that
// nothing cancels: it is as exact for rows far from 0, and where squares are infinite or the difference is below -epsilon, and the pieces
// give NaN, it has the number that is meant.
static std::optional<Deviation> differenceOfMoments(Value v, float epsilon) {
  Operation *view = nullptr;
  for (Operation *op = v.getDefiningOp(); op; op = v.getDefiningOp()) {
    Value inner = aboveZero(op);
    if (!inner && (view || !isView(op)))
      break;
    view = inner ? view : op;
    v = inner ? inner : op->getOperand(0);
  }
  auto sub = v.getDefiningOp<onnx::SubOp>();
  Value mean = sub ? baseOfSquare(sub.getB()) : Value();
  auto squares = mean ? rowValue(sub.getA(), view) : std::nullopt, means = mean ? rowValue(mean, view) : std::nullopt;
  if (!squares || !means || squares->axes != means->axes || !meanAxes(*squares) || !meanAxes(*means) ||
      baseOfSquare(squares->data) != means->data)
    return std::nullopt;
  return Deviation{{}, meanAxes(*means), epsilon, means->data};
}

// `v` is the square root of a mean of squares, plus a small number.
static std::optional<Deviation> deviation(Value v) {
  auto root = v.getDefiningOp<onnx::SqrtOp>();
  auto add = root ? root.getInput().getDefiningOp<onnx::AddOp>() : onnx::AddOp();
  if (!add)
    return std::nullopt;
  for (Value mean : add->getOperands()) {
    auto epsilon = number(otherThan(add, mean));
    if (!epsilon || *epsilon <= 0 || *epsilon >= 0.1 || mean.getType() != add.getType())
      continue;
    if (auto moments = differenceOfMoments(mean, float(*epsilon)))
      return moments;
    auto row = rowValue(mean);
    Value centered = row ? baseOfSquare(row->data) : Value();
    if (int64_t axes = centered ? meanAxes(*row) : 0)
      return Deviation{centered, axes, float(*epsilon), {}};
  }
  return std::nullopt;
}
// `v` is one over it.
static std::optional<Deviation> inverseDeviation(Value v) {
  if (auto reciprocal = v.getDefiningOp<onnx::ReciprocalOp>())
    return deviation(reciprocal.getInput());
  auto div = v.getDefiningOp<onnx::DivOp>();
  return div && isNumber(div.getA(), 1) ? deviation(div.getB()) : std::nullopt;
}

// What was centred: x where `v` = x - mean(x) over the last `axes` axes.
static Value uncentered(Value v, int64_t axes) {
  auto sub = v.getDefiningOp<onnx::SubOp>();
  return sub && meanOf(sub.getB(), sub.getA()) == axes ? sub.getA() : Value();
}

// Whether `d` is the deviation of `v` around 0, or around its mean where that was taken from `v`, which `d` knows then.
static bool isOf(Deviation &d, Value v) {
  if (d.whole && v && uncentered(v, d.axes) == d.whole)
    d.centered = v;
  return v && d.centered == v;
}

static Value onesLike(PatternRewriter &rewriter, Location loc, Value x, int64_t axes) {
  auto type = llvm::cast<RankedTensorType>(x.getType());
  auto shape = RankedTensorType::get(type.getShape().take_back(axes), type.getElementType());
  if (!shape.hasStaticShape())
    return {};
  return onnx::ConstantOp::create(rewriter, loc,
                                  DenseElementsAttr::get(shape, ArrayRef<Attribute>(FloatAttr::get(type.getElementType(), 1.0))));
}

// Whether `v` is a scale or bias of type `wanted`: itself, or a constant without its leading axes of size 1. Sizes that only the run knows
// may differ though the types are equal.
static bool isParameter(Value v, RankedTensorType wanted) {
  auto type = rankedType(v);
  if (!wanted.hasStaticShape() || type == wanted)
    return wanted.hasStaticShape();
  ElementsAttr value = onnx::constantValue(v);
  int64_t more = type ? type.getRank() - wanted.getRank() : -1;
  return value && more >= 1 && type.getElementType() == wanted.getElementType() && type.getShape().drop_front(more) == wanted.getShape() &&
         llvm::all_of(type.getShape().take_front(more), [](int64_t d) { return d == 1; }) && reshaped(value, wanted);
}
// Null where it is none. Creates a constant: a pattern that may still fail asks isParameter().
static Value parameter(PatternRewriter &rewriter, Value v, RankedTensorType wanted) {
  if (!isParameter(v, wanted))
    return {};
  return v.getType() == wanted ? v : onnx::ConstantOp::create(rewriter, v.getLoc(), reshaped(onnx::constantValue(v), wanted));
}

// Replaces `op`, d.centered over its deviation, by a normalisation with `scale`, of ones where it is null.
static LogicalResult normalise(Operation *op, const Deviation &d, Value scale, PatternRewriter &rewriter) {
  Value x = uncentered(d.centered, d.axes);
  Value from = x ? x : d.centered;
  if (from.getType() != op->getResult(0).getType())
    return rewriter.notifyMatchFailure(op, "the result has another type");
  if (scale) {
    auto type = llvm::cast<RankedTensorType>(from.getType());
    scale = parameter(rewriter, scale, RankedTensorType::get(type.getShape().take_back(d.axes), type.getElementType()));
  } else {
    scale = onesLike(rewriter, op->getLoc(), from, d.axes);
  }
  if (!scale)
    return rewriter.notifyMatchFailure(op, "the normalised sizes are not constant, or the scale has others");
  auto axis = rewriter.getI64IntegerAttr(-d.axes);
  auto epsilon = rewriter.getF32FloatAttr(d.epsilon);
  Type type = op->getResult(0).getType();
  if (!x) {
    rewriter.replaceOpWithNewOp<onnx::RMSNormalizationOp>(op, type, from, scale, axis, epsilon, rewriter.getI64IntegerAttr(1));
    return success();
  }
  auto norm = onnx::LayerNormalizationOp::create(rewriter, op->getLoc(), type, Type(), Type(), from, scale, Value(), axis, epsilon,
                                                 rewriter.getI64IntegerAttr(1));
  rewriter.replaceOp(op, norm.getY());
  return success();
}
static LogicalResult normaliseByDiv(onnx::DivOp op, PatternRewriter &rewriter) {
  auto d = deviation(op.getB());
  return d && isOf(*d, op.getA()) ? normalise(op, *d, {}, rewriter) : rewriter.notifyMatchFailure(op, "not over a deviation");
}
static LogicalResult normaliseByMul(onnx::MulOp op, PatternRewriter &rewriter) {
  for (Value v : op->getOperands())
    if (auto d = inverseDeviation(v); d && isOf(*d, otherThan(op, v)))
      return normalise(op, *d, {}, rewriter);
  for (Value v : op->getOperands()) {  // times (1 / deviation * scale)
    auto factor = v.getDefiningOp<onnx::MulOp>();
    for (unsigned i = 0; factor && i < 2; ++i)
      if (auto d = inverseDeviation(factor->getOperand(i)); d && isOf(*d, otherThan(op, v)))
        return normalise(op, *d, factor->getOperand(1 - i), rewriter);
  }
  return rewriter.notifyMatchFailure(op, "not times an inverse deviation");
}

namespace {
// shift = bias - mean * factor
struct Shift {
  Value bias, mean, factor;
};
}  // namespace
static SmallVector<Shift> shifts(Value v) {
  SmallVector<Shift> found;
  auto add = [&](Value bias, Value product, bool negative) {
    auto mul = product.getDefiningOp<onnx::MulOp>();
    for (unsigned i = 0; mul && i < 2; ++i) {
      auto neg = mul->getOperand(i).getDefiningOp<onnx::NegOp>();
      if (!negative || neg)
        found.push_back({bias, negative ? neg.getInput() : mul->getOperand(i), mul->getOperand(1 - i)});
    }
  };
  if (auto sub = v.getDefiningOp<onnx::SubOp>())
    add(sub.getA(), sub.getB(), false);
  if (auto sum = v.getDefiningOp<onnx::AddOp>()) {
    add(sum.getA(), sum.getB(), true);
    add(sum.getB(), sum.getA(), true);
  }
  return found;
}

// x (r g) + (b - mean(x) (r g)), as TensorFlow writes it.
static LogicalResult foldedNormalisation(onnx::AddOp op, Value x, const Shift &shift, PatternRewriter &rewriter) {
  auto pair = shift.factor.getDefiningOp<onnx::MulOp>();
  auto type = rankedType(x);
  if (!pair || !type || type != op.getType())
    return failure();
  for (Value r : pair->getOperands()) {
    auto d = inverseDeviation(r);
    if (!d || meanOf(shift.mean, x) != d->axes || (d->whole ? d->whole : uncentered(d->centered, d->axes)) != x)
      continue;
    auto wanted = RankedTensorType::get(type.getShape().take_back(d->axes), type.getElementType());
    if (!isParameter(otherThan(pair, r), wanted) || !isParameter(shift.bias, wanted))
      continue;
    Value gamma = parameter(rewriter, otherThan(pair, r), wanted), beta = parameter(rewriter, shift.bias, wanted);
    auto norm = onnx::LayerNormalizationOp::create(rewriter, op.getLoc(), op.getType(), Type(), Type(), x, gamma, beta,
                                                   rewriter.getI64IntegerAttr(-d->axes), rewriter.getF32FloatAttr(d->epsilon),
                                                   rewriter.getI64IntegerAttr(1));
    rewriter.replaceOp(op, norm.getY());
    return success();
  }
  return failure();
}
static LogicalResult normaliseFolded(onnx::AddOp op, PatternRewriter &rewriter) {
  for (Value product : op->getOperands()) {
    auto scaled = product.getDefiningOp<onnx::MulOp>();
    if (!scaled)
      continue;
    for (const Shift &shift : shifts(otherThan(op, product)))
      if (Value x = otherThan(scaled, shift.factor); x && succeeded(foldedNormalisation(op, x, shift, rewriter)))
        return success();
  }
  return rewriter.notifyMatchFailure(op, "not a folded normalisation");
}

// A scale of ones gives way to the constant that the normalised value is multiplied with.
static LogicalResult takeScale(onnx::MulOp op, PatternRewriter &rewriter) {
  for (Value v : op->getOperands()) {
    Operation *norm = v.getDefiningOp();
    if (!llvm::isa_and_nonnull<onnx::LayerNormalizationOp, onnx::RMSNormalizationOp>(norm) || !v.hasOneUse() || norm->getNumResults() != 1)
      continue;
    if (norm->getNumOperands() != 2 || number(norm->getOperand(1)) != 1.0 || v.getType() != op.getType())
      continue;
    Value scale = parameter(rewriter, otherThan(op, v), llvm::cast<RankedTensorType>(norm->getOperand(1).getType()));
    if (!scale)
      continue;
    rewriter.setInsertionPoint(op);
    Operation *copy = rewriter.clone(*norm);
    copy->setOperand(1, scale);
    rewriter.replaceOp(op, copy->getResult(0));
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no normalisation with a scale of ones");
}
static LogicalResult takeBias(onnx::AddOp op, PatternRewriter &rewriter) {
  for (Value v : op->getOperands()) {
    auto norm = v.getDefiningOp<onnx::LayerNormalizationOp>();
    if (!norm || norm.getB() || !v.hasOneUse() || norm->getNumResults() != 1 || v.getType() != op.getType())
      continue;
    Value bias = parameter(rewriter, otherThan(op, v), llvm::cast<RankedTensorType>(norm.getScale().getType()));
    if (!bias)
      continue;
    auto biased = onnx::LayerNormalizationOp::create(rewriter, op.getLoc(), op.getType(), Type(), Type(), norm.getX(), norm.getScale(),
                                                     bias, norm.getAxisAttr(), norm.getEpsilonAttr(), norm.getStashTypeAttr());
    rewriter.replaceOp(op, biased.getY());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no normalisation without a bias");
}

// --- normalisations by statistics ---

// What `v` is another view of.
static Value viewed(Value v) {
  while (isView(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  return v;
}
// Whether all elements of `v` are `n`, of which the run may decide how many they are.
static bool isFilledWith(Value v, double n) {
  auto expand = viewed(v).getDefiningOp<onnx::ExpandOp>();
  return number(expand ? expand.getInput() : v) == n;
}
// Whether `reduce` is over rows of `length` neighbouring elements each: what follows the first axis that is reduced and longer than 1.
template <class Reduce>
static bool isOverRows(Reduce reduce, int64_t length) {
  auto type = rankedType(reduce.getData());
  auto axes = onnx::integerElements(reduce.getAxes());
  if (!type || !axes)
    return false;
  for (int64_t &a : *axes)
    a = onnx::fromFront(a, type.getRank());
  int64_t product = 1;
  for (int64_t d = type.getRank(); d-- > 0;) {
    if (type.getDimSize(d) == 1)
      continue;
    if (llvm::is_contained(*axes, d) != (product < length))
      return false;
    if (product < length && (type.getDimSize(d) <= 0 || length % type.getDimSize(d)))  // an unknown size is negative
      return false;
    product *= product < length ? type.getDimSize(d) : 1;
  }
  return product == length;
}

// Whether `v` has as many axes as `of`, with a size of 1 where a row of `length` elements of `of` is. With one element for each row in all,
// and where `of` is not spread, it has the sizes of `of` in front of the row.
static bool isOfRows(Value v, Value of, int64_t length) {
  auto type = rankedType(v), whole = rankedType(of);
  if (!type || !whole || type.getRank() != whole.getRank())
    return false;
  int64_t product = 1;
  for (int64_t d = type.getRank(); d-- > 0 && product < length; product *= whole.getDimSize(d))
    if (type.getDimSize(d) != 1 || whole.isDynamicDim(d))
      return false;
  return product == length;
}

// BatchNormalization(x [1, rows, ...], 1, 0, mean of each row, variance of each row): TensorFlow's LayerNormalization, which takes the rows
// for the channels of one image.
static LogicalResult normaliseByStatistics(onnx::BatchNormalizationOp op, PatternRewriter &rewriter) {
  auto type = rankedType(op.getX());
  if (!type || type.getRank() < 3 || type.getDimSize(0) != 1 || !type.getElementType().isF32() || op->getNumResults() != 1 ||
      op.getTrainingMode() || op.getType(0) != type || !isFilledWith(op.getScale(), 1) || !isFilledWith(op.getB(), 0))
    return rewriter.notifyMatchFailure(op, "not one image, or scaled");
  ArrayRef<int64_t> row = type.getShape().drop_front(2);
  if (!ShapedType::isStaticShape(row) || ShapedType::getNumElements(row) < 2)
    return rewriter.notifyMatchFailure(op, "rows of unknown length");
  int64_t length = ShapedType::getNumElements(row);
  Value x = viewed(op.getX());
  auto mean = viewed(op.getInputMean()).getDefiningOp<onnx::ReduceMeanOp>();
  if (!mean || viewed(mean.getData()) != x || !isOverRows(mean, length))
    return rewriter.notifyMatchFailure(op, "not the means of rows");
  // The mean of squares, or their sum over the length.
  Value variance = viewed(op.getInputVar());
  Value centered;
  if (auto squares = variance.getDefiningOp<onnx::ReduceMeanOp>(); squares && isOverRows(squares, length))
    centered = baseOfSquare(squares.getData());
  auto quotient = variance.getDefiningOp<onnx::DivOp>();
  bool overLength = quotient && isNumber(quotient.getB(), double(length));
  Value sums = overLength ? quotient.getA() : besides<onnx::MulOp>(variance, 1.0 / double(length));
  if (auto squares = sums ? viewed(sums).getDefiningOp<onnx::ReduceSumSquareOp>() : onnx::ReduceSumSquareOp();
      squares && isOverRows(squares, length))
    centered = squares.getData();
  auto sub = centered ? viewed(centered).getDefiningOp<onnx::SubOp>() : onnx::SubOp();
  if (!sub || sub.getType() != sub.getA().getType() || viewed(sub.getA()) != x || viewed(sub.getB()) != mean.getReduced() ||
      !isOfRows(sub.getB(), sub.getA(), length))
    return rewriter.notifyMatchFailure(op, "not the variances of rows");
  auto own = rankedType(x);
  bool rows = own && own.getRank() > 1 && own.getShape().back() == length;
  Value from = rows ? x : op.getX();
  int64_t axes = rows ? 1 : row.size();
  auto norm = onnx::LayerNormalizationOp::create(rewriter, op.getLoc(), from.getType(), Type(), Type(), from,
                                                 onesLike(rewriter, op.getLoc(), from, axes), Value(), rewriter.getI64IntegerAttr(-axes),
                                                 op.getEpsilonAttr(), rewriter.getI64IntegerAttr(1));
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = -1;
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, type, norm.getY(), GraphBuilder{rewriter, op.getLoc()}.integers(shape));
  return success();
}

void populateNormPatterns(RewritePatternSet &patterns) {
  patterns.add(normaliseByDiv);
  patterns.add(normaliseByMul);
  patterns.add(normaliseFolded);
  patterns.add(normaliseByStatistics);
  patterns.add(takeScale);
  patterns.add(takeBias);
}

}  // namespace onnxc
