// RecognizeSoftmax.cpp: Softmax and LogSoftmax from the maxima, powers, sums and logarithms that exporters write. One of the groups of
// Recognize.cpp.
//
// All patterns are of one value d for each element: e^d over its sum along the row is Softmax(d), d less the logarithm of that sum is
// LogSoftmax(d), and d = x - max(x) makes no difference, as no number of a row does that is taken from all of it. What the pieces give
// where they are finite Softmax gives but for rounding. Elsewhere:
// - A row of -inf alone, or with a NaN, is NaN in both; a row with +inf is NaN, of which the pieces without the maximum make NaN only
// there.
// - Without the maximum powers above e^88 are infinite, and a row below -104 has a sum of 0: the pieces give NaN and infinities, Softmax
// the
//   numbers that are meant. No model can rely on the former, since they depend on the type that it runs in. So does a row that lies that
//   far below a maximum of several rows.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Recognize.h"

using namespace mlir;
namespace onnxc {

// Whether `view` puts the axes of `whole` that were reduced back, with a size of 1. Of the sizes that only the run knows a view infers one;
// others it must copy.
static bool putsBack(Operation *view, RankedTensorType whole, ArrayRef<int64_t> axes) {
  auto type = rankedType(view->getResult(0));
  if (!type || type.getRank() != whole.getRank())
    return false;
  auto target = llvm::isa<onnx::ReshapeOp>(view) ? onnx::integerElements(onnx::constantValue(view->getOperand(1))) : std::nullopt;
  int64_t inferred = 0;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (size != (llvm::is_contained(axes, d) ? 1 : whole.getDimSize(d)))
      return false;
    bool copied = llvm::isa<onnx::UnsqueezeOp>(view) || (target && (*target)[d] == 0 && int64_t(d) < axes.front());
    inferred += ShapedType::isDynamic(size) && !copied;
  }
  return inferred <= 1;
}

// The axes that a reduction is over, ascending; none where they are not known.
static SmallVector<int64_t> reducedAxes(Operation *reduce) {
  auto type = rankedType(reduce->getOperand(0));
  Value given = onnx::operand(reduce, 1);
  auto axes = type && given ? onnx::integerElements(onnx::constantValue(given)) : std::nullopt;
  if (!axes)
    return {};
  SmallVector<int64_t> result(*axes);
  for (int64_t &a : result)
    a = onnx::fromFront(a, type.getRank());
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

// `op` as a function of one value with its type: Log, Reciprocal, 1 / v; null for others.
static Value argumentOf(Operation *op) {
  if (llvm::isa<onnx::LogOp, onnx::ReciprocalOp>(op))
    return op->getOperand(0);
  auto div = llvm::dyn_cast<onnx::DivOp>(op);
  return div && isNumber(div.getA(), 1) && div.getB().getType() == div.getType() ? div.getB() : Value();
}
// v where `op` is Max(v, -inf), as JAX begins its maxima; null for others.
static Value aboveAll(Operation *op) {
  auto max = llvm::dyn_cast<onnx::MaxOp>(op);
  for (unsigned i = 0; max && max->getNumOperands() == 2 && i < 2; ++i)
    if (auto least = number(max->getOperand(i));
        least && *least <= std::numeric_limits<float>::lowest() && max->getOperand(1 - i).getType() == max.getType())
      return max->getOperand(1 - i);
  return {};
}

std::optional<RowValue> rowValue(Value v, Operation *view) {
  RowValue row;
  Type expanded;
  if (auto expand = v.getDefiningOp<onnx::ExpandOp>(); expand && !view)
    expanded = expand.getType(), v = expand.getInput();
  for (Operation *op = v.getDefiningOp(); op; op = v.getDefiningOp()) {
    if (llvm::isa<onnx::ReduceMaxOp, onnx::ReduceMeanOp, onnx::ReduceSumOp, onnx::ReduceLogSumOp, onnx::ReduceLogSumExpOp>(op)) {
      row.reduce = op, row.data = op->getOperand(0), row.axes = reducedAxes(op);
      auto whole = rankedType(row.data);
      bool kept = onnx::intAttr(op, "keepdims", 1), spread = !expanded || (expanded == whole && whole.hasStaticShape());
      bool known = !row.axes.empty() && row.axes.front() >= 0 && row.axes.back() < whole.getRank();
      return known && spread && (view ? !kept && putsBack(view, whole, row.axes) : kept) ? std::optional(row) : std::nullopt;
    }
    if (Value argument = argumentOf(op); argument && !row.function)
      row.function = op, v = argument;
    else if (Value most = aboveAll(op))
      v = most;
    else if (isView(op) && !view)
      view = op, v = op->getOperand(0);
    else
      return std::nullopt;
  }
  return std::nullopt;
}

// x where `v` is x less the maximum of its row along `axes`, or of several such rows; `most`: the maximum. Null for others.
static Value unshifted(Value v, ArrayRef<int64_t> axes, Value *most = nullptr) {
  auto sub = v.getDefiningOp<onnx::SubOp>();
  auto row = sub && sub.getType() == sub.getA().getType() ? rowValue(sub.getB()) : std::nullopt;
  if (!row || row->function || !llvm::isa<onnx::ReduceMaxOp>(row->reduce) || row->data != sub.getA() ||
      !std::includes(row->axes.begin(), row->axes.end(), axes.begin(), axes.end()))
    return {};
  if (most)
    *most = row->reduce->getResult(0);
  return row->data;
}

// Replaces `op` by a Softmax, or LogSoftmax, of `x` along `axes`; several neighbours are one axis in a view.
template <class Softmax>
static LogicalResult replaceBySoftmax(Operation *op, Value x, SmallVector<int64_t> axes, PatternRewriter &rewriter) {
  auto type = rankedType(x);
  if (!type || !type.getElementType().isF32() || type != op->getResult(0).getType())
    return rewriter.notifyMatchFailure(op, "not f32 of a known rank, or spread");
  if (Value whole = unshifted(x, axes))
    x = whole;
  llvm::erase_if(axes, [&](int64_t a) { return type.getDimSize(a) == 1; });
  if (axes.empty() || axes.back() - axes.front() + 1 != int64_t(axes.size()))
    return rewriter.notifyMatchFailure(op, "rows of one element, or along axes that are no neighbours");
  const int64_t axis = axes.front();
  auto along = rewriter.getI64IntegerAttr(axis);
  if (axes.size() == 1) {
    rewriter.replaceOpWithNewOp<Softmax>(op, type, x, along);
    return success();
  }
  ArrayRef<int64_t> behind = type.getShape().drop_front(axes.back() + 1);
  ArrayRef<int64_t> inner = type.getShape().slice(axis, axes.size());
  SmallVector<int64_t> rows(axis, 0);
  rows.push_back(ShapedType::isStaticShape(inner) ? ShapedType::getNumElements(inner) : -1);
  for (int64_t size : behind)
    rows.push_back(ShapedType::isDynamic(size) ? -1 : size);
  if (llvm::count(rows, -1) > 1 || llvm::is_contained(type.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "sizes that a view cannot infer");
  GraphBuilder g{rewriter, op->getLoc()};
  Value joined = g.reshape(x, rows);
  auto y = Softmax::create(rewriter, op->getLoc(), joined.getType(), joined, along);
  auto sizes = RankedTensorType::get({type.getRank()}, rewriter.getI64Type());
  Value shape = onnx::ShapeOp::create(rewriter, op->getLoc(), sizes, x, IntegerAttr(), rewriter.getI64IntegerAttr(0));
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, type, y, shape);
  return success();
}

// `op` is powers / sums, or powers * (1 / sums).
static LogicalResult softmax(Operation *op, Value powers, Value sums, bool inverse, PatternRewriter &rewriter) {
  auto exp = powers.getDefiningOp<onnx::ExpOp>();
  auto row = exp ? rowValue(sums) : std::nullopt;
  if (!row || !llvm::isa<onnx::ReduceSumOp>(row->reduce) || row->data != powers || bool(row->function) != inverse ||
      llvm::isa_and_nonnull<onnx::LogOp>(row->function))
    return rewriter.notifyMatchFailure(op, "not powers over their sum");
  if (llvm::any_of(powers.getUsers(), [&](Operation *user) { return user != op && !llvm::isa<onnx::ReduceSumOp>(user); }))
    return rewriter.notifyMatchFailure(op, "something else reads the powers");
  return replaceBySoftmax<onnx::SoftmaxOp>(op, exp.getInput(), row->axes, rewriter);
}
// e^d / sum(e^d)
static LogicalResult softmaxByDiv(onnx::DivOp op, PatternRewriter &rewriter) { return softmax(op, op.getA(), op.getB(), false, rewriter); }
// e^d * (1 / sum(e^d))
static LogicalResult softmaxByMul(onnx::MulOp op, PatternRewriter &rewriter) {
  return llvm::success(succeeded(softmax(op, op.getA(), op.getB(), true, rewriter)) ||
                       succeeded(softmax(op, op.getB(), op.getA(), true, rewriter)));
}
// e^LogSoftmax(x), as e^(x - ReduceLogSumExp(x)) has become.
static LogicalResult softmaxByExp(onnx::ExpOp op, PatternRewriter &rewriter) {
  auto log = op.getInput().getDefiningOp<onnx::LogSoftmaxOp>();
  if (!log || !op.getInput().hasOneUse() || log.getType() != op.getType())
    return rewriter.notifyMatchFailure(op, "no LogSoftmax, or others read it");
  rewriter.replaceOpWithNewOp<onnx::SoftmaxOp>(op, op.getType(), log.getInput(), log.getAxisAttr());
  return success();
}

namespace {
// log(sum(e^x)) along `axes`.
struct LogSum {
  Value x;
  SmallVector<int64_t> axes;
};
}  // namespace

// Log(ReduceSum(Exp(x))), ReduceLogSum(Exp(x)) or ReduceLogSumExp(x).
static std::optional<LogSum> logSum(Value v, Operation *view) {
  auto row = rowValue(v, view);
  if (!row)
    return std::nullopt;
  bool takesLog = llvm::isa_and_nonnull<onnx::LogOp>(row->function);
  if (llvm::isa<onnx::ReduceLogSumExpOp>(row->reduce))
    return row->function ? std::nullopt : std::optional(LogSum{row->data, row->axes});
  auto exp = row->data.getDefiningOp<onnx::ExpOp>();
  bool sums = llvm::isa<onnx::ReduceSumOp>(row->reduce) ? takesLog : llvm::isa<onnx::ReduceLogSumOp>(row->reduce) && !row->function;
  return exp && sums ? std::optional(LogSum{exp.getInput(), row->axes}) : std::nullopt;
}
// Or max(x) + log(sum(e^(x - max(x)))).
static std::optional<LogSum> shiftedLogSum(Value v) {
  if (auto plain = logSum(v, nullptr))
    return plain;
  Operation *view = isView(v.getDefiningOp()) ? v.getDefiningOp() : nullptr;
  auto add = (view ? view->getOperand(0) : v).getDefiningOp<onnx::AddOp>();
  for (unsigned i = 0; add && i < 2; ++i) {
    Value log = add->getOperand(i), shift = add->getOperand(1 - i), most;
    auto inner = log.getType() == add.getType() ? logSum(log, view) : std::nullopt;
    Value x = inner ? unshifted(inner->x, inner->axes, &most) : Value();
    while (x && shift != most && isView(shift.getDefiningOp()))
      shift = shift.getDefiningOp()->getOperand(0);
    if (x && shift == most)
      return LogSum{x, inner->axes};
  }
  return std::nullopt;
}

// d - log(sum(e^d)); x - (max(x) + log(sum(e^(x - max(x)))))
static LogicalResult logSoftmax(onnx::SubOp op, PatternRewriter &rewriter) {
  auto sum = shiftedLogSum(op.getB());
  if (!sum || sum->x != op.getA())
    return rewriter.notifyMatchFailure(op, "not less the logarithm of the sum of powers");
  if (!op.getB().hasOneUse())
    return rewriter.notifyMatchFailure(op, "something else reads the logarithms");
  return replaceBySoftmax<onnx::LogSoftmaxOp>(op, op.getA(), sum->axes, rewriter);
}

// Softmax(x - max(x)) = Softmax(x), the maximum being of the row or of several.
template <class Softmax>
static LogicalResult withoutShift(Softmax op, PatternRewriter &rewriter) {
  auto type = rankedType(op.getInput());
  Value x = type ? unshifted(op.getInput(), {onnx::axisAttr(op, type.getRank(), -1)}) : Value();
  if (!x || !type.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "not of f32 less its maximum");
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, x); });
  return success();
}

void populateSoftmaxPatterns(RewritePatternSet &patterns) {
  patterns.add(softmaxByDiv);
  patterns.add(softmaxByMul);
  patterns.add(softmaxByExp);
  patterns.add(logSoftmax);
  patterns.add(withoutShift<onnx::SoftmaxOp>);
  patterns.add(withoutShift<onnx::LogSoftmaxOp>);
}

}  // namespace onnxc
