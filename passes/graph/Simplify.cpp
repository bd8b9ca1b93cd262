// Simplify.cpp: rewrites of the graph that need no profitability: fewer ops, same results. Runs after fold-shapes.
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/ControlFlow.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/graph/Passes.h.inc"

// Larger constants keep their transposes: the rewrite would double the memory of the compiler for them.
static constexpr int64_t kMaxFoldBytes = int64_t(1) << 30;

// Dropout(x) = x at inference.
static LogicalResult dropDropout(onnx::DropoutOp op, PatternRewriter &rewriter) {
  auto training = op.getTrainingMode() ? onnx::integerElements(op.getTrainingMode()) : SmallVector<int64_t>{0};
  if (!training || training->size() != 1 || training->front() != 0 || op.getData().getType() != op.getOutput().getType())
    return rewriter.notifyMatchFailure(op, "may be training");
  if (Value mask = op.getMask(); mask && !mask.use_empty()) {
    auto type = rankedType(mask);
    if (!type || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "mask of unknown size is used");
    rewriter.replaceAllUsesWith(mask, onnx::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, true)));
  }
  rewriter.replaceAllUsesWith(op.getOutput(), op.getData());
  rewriter.eraseOp(op);
  return success();
}

// Resize(x) = x where no size changes.
static LogicalResult dropResize(onnx::ResizeOp op, PatternRewriter &rewriter) {
  auto type = rankedType(op.getX());
  auto scales = op.getScales() ? constantFloats(op.getScales()) : std::nullopt;
  bool one = scales ? llvm::all_of(*scales, [](float s) { return s == 1; }) : op.getSizes() && type && type.hasStaticShape();
  StringRef mode = op.getCoordinateTransformationMode();
  if (!one || !type || op.getY().getType() != type || mode == "tf_crop_and_resize")
    return rewriter.notifyMatchFailure(op, "sizes or positions change");
  rewriter.replaceOp(op, op.getX());
  return success();
}

static bool losesNothing(Type from, Type to) {
  auto a = llvm::dyn_cast<IntegerType>(from), b = llvm::dyn_cast<IntegerType>(to);
  if (a && b)
    return (a.isUnsigned() == b.isUnsigned() && a.getWidth() <= b.getWidth() && b.getWidth() > 1) ||
           (a.getWidth() == 1 && b.getWidth() > 1);
  return (from.isF16() || from.isBF16()) ? to.isF32() || to.isF64() : from.isF32() && to.isF64();
}
// Cast(Cast(x : a) : b) : a = x where b holds every a.
static LogicalResult undoCast(onnx::CastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<onnx::CastOp>();
  if (!inner || inner.getInput().getType() != op.getType() ||
      !losesNothing(onnx::elementType(inner.getInput()), onnx::elementType(inner.getOutput())))
    return rewriter.notifyMatchFailure(op, "not a cast back from a wider type");
  rewriter.replaceOp(op, inner.getInput());
  return success();
}

// Pow(x, 2) = x * x; an exponent of another type than a float base becomes a float, as kernels of generated code take it.
static LogicalResult plainPower(onnx::PowOp op, PatternRewriter &rewriter) {
  auto exponent = llvm::dyn_cast_if_present<DenseElementsAttr>(onnx::constantValue(op->getOperand(1)));
  Type base = onnx::elementType(op->getOperand(0)), given = exponent ? exponent.getElementType() : Type();
  if (!exponent || !exponent.isSplat() || (base.isF32() && given.isF32()) || op.getType() != op->getOperand(0).getType())
    return rewriter.notifyMatchFailure(op, "not a constant power of a plain shape");
  bool integer = llvm::isa<IntegerType>(given), real = llvm::isa<FloatType>(base);
  if (!integer && !given.isF32() && !given.isF64())
    return failure();
  auto whole = [&](const APInt &v) { return given.isUnsignedInteger() ? double(v.getZExtValue()) : double(v.getSExtValue()); };
  double n = integer ? whole(exponent.getSplatValue<APInt>()) : exponent.getSplatValue<APFloat>().convertToDouble();
  if (n == 2 && (real || integer)) {
    rewriter.replaceOpWithNewOp<onnx::MulOp>(op, op.getType(), op->getOperand(0), op->getOperand(0));
    return success();
  }
  if (!base.isF32() || double(float(n)) != n)
    return rewriter.notifyMatchFailure(op, "no float exponent");
  auto type = RankedTensorType::get(exponent.getType().getShape(), base);
  Value same = onnx::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, float(n)));
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(1, same); });
  return success();
}

// --- views ---

// View(constant) = the constant under another shape.
static LogicalResult viewOfConstant(Operation *op, PatternRewriter &rewriter) {
  if (!isView(op))
    return failure();
  ElementsAttr value = onnx::constantValue(op->getOperand(0));
  auto type = rankedType(op->getResult(0));
  if (!value || !type || !type.hasStaticShape() || value.getNumElements() != type.getNumElements())
    return rewriter.notifyMatchFailure(op, "not a view of a constant");
  ElementsAttr same = reshaped(value, type);
  if (!same)
    return rewriter.notifyMatchFailure(op, "constant of a kind that has no other shape");
  rewriter.replaceOpWithNewOp<onnx::ConstantOp>(op, same);
  return success();
}

// A small splat under a larger shape, as exporters write biases.
static LogicalResult expandOfSplat(onnx::ExpandOp op, PatternRewriter &rewriter) {
  constexpr int64_t most = 1 << 18;  // elements
  auto value = llvm::dyn_cast_if_present<DenseElementsAttr>(onnx::constantValue(op->getOperand(0)));
  auto type = rankedType(op);
  if (!value || !value.isSplat() || !type || !type.hasStaticShape() || type.getNumElements() > most)
    return rewriter.notifyMatchFailure(op, "not a splat of known and moderate size");
  bool text = llvm::isa<DenseStringElementsAttr>(value);
  rewriter.replaceOpWithNewOp<onnx::ConstantOp>(op, text ? reshaped(value, type) : value.resizeSplat(type));
  return success();
}

// View(View(x)) = Reshape(x, sizes), where the sizes do not speak of the first view's axes.
static LogicalResult composeViews(Operation *op, PatternRewriter &rewriter) {
  if (!isView(op) || !isView(op->getOperand(0).getDefiningOp()))
    return failure();
  Value source = op->getOperand(0).getDefiningOp()->getOperand(0);
  auto type = rankedType(op->getResult(0));
  if (!type)
    return failure();
  SmallVector<int64_t> target(type.getShape());
  auto reshape = llvm::dyn_cast<onnx::ReshapeOp>(op);
  auto given = reshape ? onnx::integerElements(op->getOperand(1)) : std::nullopt;
  if (!type.hasStaticShape() && reshape && reshape.getAllowzero()) {  // none are copied
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, source); });
    return success();
  }
  if (!type.hasStaticShape() && !given)
    return rewriter.notifyMatchFailure(op, "sizes are not constant");
  if (!type.hasStaticShape())
    target = *given;
  if (llvm::is_contained(target, 0))
    return rewriter.notifyMatchFailure(op, "sizes are copied from the first view");
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, type, source, GraphBuilder{rewriter, op->getLoc()}.integers(target));
  return success();
}

// Transpose that keeps the order of the axes longer than 1 = Reshape.
static LogicalResult transposeToReshape(onnx::TransposeOp op, PatternRewriter &rewriter) {
  auto from = rankedType(op.getData()), to = rankedType(op);
  if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() || llvm::is_contained(to.getShape(), 0) || !op.getPerm())
    return rewriter.notifyMatchFailure(op, "sizes are not constant");
  int64_t last = -1;
  for (int64_t axis : onnx::intsAttr(op, "perm")) {
    if (from.getDimSize(axis) == 1)
      continue;
    if (axis < last)
      return rewriter.notifyMatchFailure(op, "moves data");
    last = axis;
  }
  rewriter.replaceOpWithNewOp<onnx::ReshapeOp>(op, to, op.getData(), GraphBuilder{rewriter, op.getLoc()}.integers(to.getShape()));
  return success();
}

// The axes of `type` that may be longer than 1.
static SmallVector<int64_t> longAxes(RankedTensorType type) {
  return llvm::to_vector(
      llvm::make_filter_range(llvm::seq<int64_t>(0, type.getRank()), [&](int64_t i) { return type.getDimSize(i) != 1; }));
}

// The axes of `view`'s operand that its long axes are, in order, where it only adds and drops axes of one element.
static std::optional<SmallVector<int64_t>> axesKept(Operation *view) {
  auto from = rankedType(view->getOperand(0)), to = rankedType(view->getResult(0));
  if (!from || !to)
    return std::nullopt;
  SmallVector<int64_t> read = longAxes(from), made = longAxes(to);
  auto reshape = llvm::dyn_cast<onnx::ReshapeOp>(view);
  auto target = reshape && !reshape.getAllowzero() ? onnx::integerElements(reshape.getShape()) : std::nullopt;
  int64_t unknown = 0;  // the last one follows from the others
  if (read.size() != made.size())
    return std::nullopt;
  for (auto [a, b] : llvm::zip(read, made)) {
    if (from.getDimSize(a) != to.getDimSize(b))
      return std::nullopt;
    bool copied = !reshape || (target && a == b && (*target)[b] == 0);
    unknown += from.isDynamicDim(a) && !copied;
  }
  return unknown > 1 || llvm::is_contained(from.getShape(), 0) ? std::nullopt : std::optional(read);
}

// Transpose(View(Transpose(x))) = View(x), where the view adds and drops axes of one element and the others come back to their places:
// 1-D convolutions of channels-last networks, written as those of images.
static LogicalResult transposeBack(onnx::TransposeOp op, PatternRewriter &rewriter) {
  Operation *view = op.getData().getDefiningOp();
  auto first = view && isView(view) ? view->getOperand(0).getDefiningOp<onnx::TransposeOp>() : onnx::TransposeOp();
  auto from = first ? rankedType(first.getData()) : RankedTensorType(), to = rankedType(op);
  auto kept = from && to && first.getPerm() && op.getPerm() ? axesKept(view) : std::nullopt;
  if (!kept)
    return rewriter.notifyMatchFailure(op, "no view of a transposition that keeps its axes");
  SmallVector<int64_t> made = longAxes(rankedType(op.getData())), added;
  int64_t last = -1;
  for (auto [i, axis] : llvm::enumerate(*op.getPerm())) {
    auto at = llvm::find(made, axis);
    if (at == made.end()) {
      added.push_back(i);
      continue;
    }
    int64_t source = (*first.getPerm())[(*kept)[at - made.begin()]];
    if (source < last)
      return rewriter.notifyMatchFailure(op, "moves data");
    last = source;
  }
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> ones, sizes;
  for (auto [i, size] : llvm::enumerate(from.getShape())) {
    if (size == 1)
      ones.push_back(i);
    else
      sizes.push_back(size);
  }
  Value v = first.getData();
  if (!ones.empty())
    v = onnx::SqueezeOp::create(rewriter, op.getLoc(), from.clone(sizes), v, g.integers(ones));
  v = g.unsqueeze(v, added);
  if (v == first.getData() && from != to)
    return rewriter.notifyMatchFailure(op, "sizes are known on one side alone");
  if (v == first.getData())
    rewriter.replaceOp(op, v);
  else
    replaceTyped(rewriter, op, v);
  return success();
}

// The only element of an axis, by a constant index, as Squeeze or Unsqueeze.
static LogicalResult gatherOfOne(onnx::GatherOp op, PatternRewriter &rewriter) {
  auto data = rankedType(op.getData()), indices = rankedType(op.getIndices());
  auto list = onnx::integerElements(op.getIndices());
  int64_t axis = data ? onnx::axisAttr(op, data.getRank()) : 0;
  if (!data || !indices || !list || list->size() != 1 || (list->front() != 0 && list->front() != -1) || data.getDimSize(axis) != 1)
    return rewriter.notifyMatchFailure(op, "no axis of one element");
  GraphBuilder g{rewriter, op.getLoc()};
  if (indices.getRank() == 0)
    rewriter.replaceOpWithNewOp<onnx::SqueezeOp>(op, op.getType(), op.getData(), g.integers({axis}));
  else if (indices.getRank() == 1)
    rewriter.replaceOp(op, op.getData());
  else
    rewriter.replaceOpWithNewOp<onnx::UnsqueezeOp>(op, op.getType(), op.getData(),
                                                   g.integers(llvm::to_vector(llvm::seq<int64_t>(axis + 1, axis + indices.getRank()))));
  return success();
}

// Indices of one number each choose along the first axis, as Gather's do. Constant ones may be out of range in a branch that no run takes,
// of which Gather says so at once.
static LogicalResult gatherOfFirstAxis(onnx::GatherNDOp op, PatternRewriter &rewriter) {
  auto data = rankedType(op.getData()), indices = rankedType(op.getIndices());
  if (!data || !indices || data.getRank() == 0 || op.getBatchDims() != 0 || indices.getRank() == 0 || indices.getShape().back() != 1 ||
      onnx::constantValue(op.getIndices()))
    return rewriter.notifyMatchFailure(op, "chooses along several axes, in a batch, or by constants");
  int64_t last = indices.getRank() - 1;
  Value numbers = onnx::SqueezeOp::create(rewriter, op.getLoc(), indices.clone(indices.getShape().drop_back()), op.getIndices(),
                                          GraphBuilder{rewriter, op.getLoc()}.integers({last}));
  rewriter.replaceOpWithNewOp<onnx::GatherOp>(op, op.getType(), op.getData(), numbers, 0);
  return success();
}

// Constant indices that are a progression, as channels of an image in reverse or a box's corners of a row: a slice with a step.
static LogicalResult gatherOfProgression(onnx::GatherOp op, PatternRewriter &rewriter) {
  auto data = rankedType(op.getData()), indices = rankedType(op.getIndices());
  auto list = onnx::integerElements(op.getIndices());
  int64_t axis = data ? onnx::axisAttr(op, data.getRank()) : 0, size = data ? data.getDimSize(axis) : 0;
  if (!data || !indices || indices.getRank() != 1 || !list || list->size() < 2 || ShapedType::isDynamic(size) ||
      !llvm::all_of(*list, [&](int64_t i) { return -size <= i && i < size; }))
    return rewriter.notifyMatchFailure(op, "no list of indices that are in range");
  for (int64_t &i : *list)
    i = onnx::fromFront(i, size);
  int64_t first = list->front(), step = (*list)[1] - first, end = list->back() + step;
  for (auto [n, i] : llvm::enumerate(*list))
    if (step == 0 || i != first + int64_t(n) * step)
      return rewriter.notifyMatchFailure(op, "no progression");
  GraphBuilder g{rewriter, op.getLoc()};
  rewriter.replaceOpWithNewOp<onnx::SliceOp>(op, op.getType(), op.getData(), g.integers({first}), g.integers({end < 0 ? INT64_MIN : end}),
                                             g.integers({axis}), g.integers({step}));
  return success();
}

// One index of a transposed tensor, which nothing else reads, is one of the tensor: there is less to transpose then, or nothing.
static LogicalResult gatherOfTransposed(onnx::GatherOp op, PatternRewriter &rewriter) {
  auto transpose = op.getData().getDefiningOp<onnx::TransposeOp>();
  auto x = transpose ? rankedType(transpose.getData()) : nullptr, indices = rankedType(op.getIndices());
  if (!x || !transpose->hasOneUse() || !transpose.getPerm() || !indices || indices.getRank() > 1 || !indices.hasStaticShape() ||
      indices.getNumElements() != 1)
    return rewriter.notifyMatchFailure(op, "not one index of what a transposition gives this op alone");
  int64_t axis = onnx::axisAttr(op, x.getRank());
  SmallVector<int64_t> perm(*transpose.getPerm()), shape(x.getShape());
  int64_t from = perm[axis];
  if (indices.getRank() == 0) {
    shape.erase(shape.begin() + from), perm.erase(perm.begin() + axis);
    for (int64_t &p : perm)
      p -= p > from;
  } else {
    shape[from] = 1;
  }
  Value v = onnx::GatherOp::create(rewriter, op.getLoc(), x.clone(shape), transpose.getData(), op.getIndices(), from);
  replaceTyped(rewriter, op, GraphBuilder{rewriter, op.getLoc()}.transpose(v, perm));
  return success();
}

static std::vector<char> permuted(const std::vector<char> &bytes, ArrayRef<int64_t> shape, ArrayRef<int64_t> perm, int64_t size) {
  int64_t rank = shape.size();
  SmallVector<int64_t> stride(rank, size), step, extent, index(rank, 0);
  for (int64_t i = rank - 2; i >= 0; --i)
    stride[i] = stride[i + 1] * shape[i + 1];
  for (int64_t p : perm) {
    step.push_back(stride[p]);
    extent.push_back(shape[p]);
  }
  std::vector<char> result(bytes.size());
  int64_t from = 0;
  for (size_t to = 0; to < result.size(); to += size) {
    memcpy(&result[to], &bytes[from], size);
    for (int64_t i = rank - 1; i >= 0; --i) {
      from += step[i];
      if (++index[i] < extent[i])
        break;
      from -= step[i] * extent[i];
      index[i] = 0;
    }
  }
  return result;
}

// Transpose(constant) = the constant with its elements moved.
static LogicalResult transposeOfConstant(onnx::TransposeOp op, PatternRewriter &rewriter) {
  ElementsAttr value = onnx::constantValue(op.getData());
  auto type = rankedType(op);
  if (!value || !type || !type.hasStaticShape() || weightBytes(value) > kMaxFoldBytes)
    return rewriter.notifyMatchFailure(op, "no constant, or a very large one");
  auto bytes = constantBytes(value);
  if (!bytes)
    return rewriter.notifyMatchFailure(op, "constant without bytes");
  ArrayRef<int64_t> shape = value.getShapedType().getShape();
  SmallVector<int64_t> perm(onnx::intsAttr(op, "perm"));
  if (!op.getPerm())
    for (int64_t i = shape.size(); i-- > 0;)
      perm.push_back(i);
  rewriter.replaceOpWithNewOp<onnx::ConstantOp>(op,
                                                makeConstant(type, permuted(*bytes, shape, perm, storageBytes(value.getElementType()))));
  return success();
}

// Sum(a, b, ...) = additions from left to right, which layouts and kernels know.
static LogicalResult sumToAdditions(onnx::SumOp op, PatternRewriter &rewriter) {
  Type type = op.getType();
  auto element = llvm::cast<ShapedType>(type).getElementType();
  ValueRange terms = op->getOperands();
  bool alike = llvm::all_of(terms, [&](Value v) { return v.getType() == type; });
  if (!(element.isF32() || element.isF64()) || !(alike || terms.size() == 2))
    return rewriter.notifyMatchFailure(op, "broadcasts of several, or sums that are rounded once");
  Value sum = terms.front();
  for (Value term : terms.drop_front())
    sum = onnx::AddOp::create(rewriter, op.getLoc(), type, sum, term);
  rewriter.replaceOp(op, sum);
  return success();
}

// --- loops ---

// A carried value that the body hands on as it came is the one from before the loop. Frameworks pass weights along so; captured, they are
// constants of the body.
static LogicalResult captureInvariants(onnx::LoopOp op, PatternRewriter &rewriter) {
  constexpr unsigned before = 2;  // arguments: the iteration, the condition, then what is carried; the terminator has no iteration
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  OperandRange initial = op.getVInitial();
  llvm::BitVector arguments(body.getNumArguments()), handedOn(yield->getNumOperands());
  SmallVector<Value> kept, results(op->getNumResults());
  for (auto [i, value] : llvm::enumerate(initial)) {
    BlockArgument arg = body.getArgument(before + i);
    Value result = op.getResult(i);
    if (yield->getOperand(i + 1) == arg && arg.getType() == value.getType() && (result.use_empty() || result.getType() == value.getType()))
      arguments.set(before + i), handedOn.set(i + 1), results[i] = value;
    else
      kept.push_back(value);
  }
  if (arguments.none())
    return rewriter.notifyMatchFailure(op, "every carried value changes");
  SmallVector<Type> types;
  for (auto [result, value] : llvm::zip(op.getResults(), results))
    if (!value)
      types.push_back(result.getType());
  auto loop = onnx::LoopOp::create(rewriter, op.getLoc(), types, op.getM(), op.getCond(), kept);
  rewriter.inlineRegionBefore(op.getBody(), loop.getBody(), loop.getBody().end());
  for (unsigned i : arguments.set_bits())
    rewriter.replaceAllUsesWith(body.getArgument(i), initial[i - before]);
  rewriter.modifyOpInPlace(yield, [&] {
    yield->eraseOperands(handedOn);
    if (auto declared = yield->getAttrOfType<ArrayAttr>(onnx::kDeclaredAttr)) {
      SmallVector<Attribute> sizes;
      for (auto [i, size] : llvm::enumerate(declared))
        if (!handedOn[i])
          sizes.push_back(size);
      yield->setAttr(onnx::kDeclaredAttr, rewriter.getArrayAttr(sizes));
    }
  });
  body.eraseArguments(arguments);
  auto changing = loop->result_begin();
  for (Value &v : results)
    v = v ? v : Value(*changing++);
  rewriter.replaceOp(op, results);
  return success();
}

namespace {
struct ViewOfConstant : RewritePattern {
  ViewOfConstant(MLIRContext *c) : RewritePattern(MatchAnyOpTypeTag(), 1, c) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override { return viewOfConstant(op, rewriter); }
};
struct ComposeViews : RewritePattern {
  ComposeViews(MLIRContext *c) : RewritePattern(MatchAnyOpTypeTag(), 1, c) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override { return composeViews(op, rewriter); }
};

struct Simplify : impl::SimplifyBase<Simplify> {
  using SimplifyBase::SimplifyBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSimplifyPatterns(patterns);
    if (weights) {
      foldFills(getOperation(), fillBytes);
      populateWeightPatterns(patterns);
      populateConcatenationPatterns(patterns);
      populateDequantisationPatterns(patterns);
      populateLinearMachinePatterns(patterns);
      populateTreeEnsemblePatterns(patterns);
    }
    onnx::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
}  // namespace

void populateSimplifyPatterns(RewritePatternSet &patterns) {
  patterns.add(dropDropout);
  patterns.add(dropResize);
  patterns.add(undoCast);
  patterns.add(plainPower);
  patterns.add(transposeToReshape);
  patterns.add(transposeBack);
  patterns.add(gatherOfOne);
  patterns.add(gatherOfFirstAxis);
  patterns.add(gatherOfProgression);
  patterns.add(gatherOfTransposed);
  patterns.add(transposeOfConstant);
  patterns.add(sumToAdditions);
  patterns.add(expandOfSplat);
  patterns.add(captureInvariants);
  patterns.add<ViewOfConstant, ComposeViews>(patterns.getContext());
}

}  // namespace onnxc
