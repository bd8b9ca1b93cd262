// Recognize.cpp: ops that exporters wrote out in pieces: Gelu, Swish, HardSwish; RecognizeNorm.cpp has normalisations,
// RecognizeSoftmax.cpp softmaxes, RecognizeSpectrum.cpp STFT. Runs after simplify; left out at -O0, where every op stays as the model has
// it.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Recognize.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_RECOGNIZE
#include "passes/graph/Passes.h.inc"

// --- activations ---

// The number that `v` is `x` times of.
static std::optional<double> timesOf(Value v, Value x) {
  if (v == x)
    return 1.0;
  if (auto neg = v.getDefiningOp<onnx::NegOp>()) {
    auto n = timesOf(neg.getInput(), x);
    return n ? std::optional<double>(-*n) : std::nullopt;
  }
  Operation *op = v.getDefiningOp();
  if (!llvm::isa_and_nonnull<onnx::MulOp, onnx::DivOp>(op))
    return std::nullopt;
  bool swapped = llvm::isa<onnx::MulOp>(op) && number(op->getOperand(0));
  auto inner = timesOf(op->getOperand(swapped), x), factor = number(op->getOperand(!swapped));
  if (!inner || !factor || *factor == 0)
    return std::nullopt;
  return llvm::isa<onnx::MulOp>(op) ? *inner * *factor : *inner / *factor;
}

// The factors of a product; products inside it that nothing else uses are opened.
static void factors(Value v, SmallVectorImpl<Value> &found, bool root = true) {
  auto mul = v.getDefiningOp<onnx::MulOp>();
  if (!mul || (!root && !v.hasOneUse())) {
    found.push_back(v);
    return;
  }
  factors(mul.getA(), found, false);
  factors(mul.getB(), found, false);
}

// x cubed: Pow(x, 3) or a product of three.
static bool isCube(Value v, Value x) {
  if (auto pow = v.getDefiningOp<onnx::PowOp>())
    return pow.getA() == x && isNumber(pow.getB(), 3);
  SmallVector<Value> all;
  factors(v, all);
  return all.size() == 3 && llvm::all_of(all, [&](Value f) { return f == x; });
}
// sqrt(2 / pi) (x + 0.044715 x³)
static bool isTanhArgument(Value v, Value x) {
  auto mul = v.getDefiningOp<onnx::MulOp>();
  Value sum = mul ? besides(mul, 0.7978845608) : Value();
  auto add = sum ? sum.getDefiningOp<onnx::AddOp>() : onnx::AddOp();
  Value rest = add ? otherThan(add, x) : Value();
  auto cubic = rest ? rest.getDefiningOp<onnx::MulOp>() : onnx::MulOp();
  Value cube = cubic ? besides(cubic, 0.044715) : Value();
  if (cube)
    return isCube(cube, x);
  SmallVector<Value> all;
  if (rest)
    factors(rest, all);
  return all.size() == 4 && llvm::count(all, x) == 3 && llvm::any_of(all, [](Value f) { return isNumber(f, 0.044715); });
}

// x * 0.5 * (1 + Erf(x / sqrt 2)), and with Tanh.
static LogicalResult gelu(onnx::MulOp op, PatternRewriter &rewriter) {
  SmallVector<Value> all;
  factors(op.getC(), all);
  if (all.size() != 3)
    return rewriter.notifyMatchFailure(op, "not a product of three");
  for (Value f : all) {
    Value inner = besides<onnx::AddOp>(f, 1);
    auto difference = f.getDefiningOp<onnx::SubOp>();
    bool negated = difference && isNumber(difference.getA(), 1);
    Operation *function = negated ? difference.getB().getDefiningOp() : inner ? inner.getDefiningOp() : nullptr;
    if (!llvm::isa_and_nonnull<onnx::ErfOp, onnx::TanhOp>(function))
      continue;
    SmallVector<Value> rest(llvm::make_filter_range(all, [&](Value other) { return other != f; }));
    if (rest.size() != 2 || !(isNumber(rest[0], 0.5) || isNumber(rest[1], 0.5)))
      continue;
    Value x = isNumber(rest[0], 0.5) ? rest[1] : rest[0], argument = function->getOperand(0);
    bool erf = llvm::isa<onnx::ErfOp>(function);
    if (x.getType() != op.getType() || !(erf ? near(timesOf(argument, x), negated ? -0.70710678 : 0.70710678, onnx::elementType(x))
                                             : !negated && isTanhArgument(argument, x)))
      continue;
    auto gelu = rewriter.replaceOpWithNewOp<onnx::GeluOp>(op, op.getType(), x);
    gelu.setApproximate(erf ? "none" : "tanh");
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no 1 + Erf or 1 + Tanh");
}

// x * Sigmoid(a x), x * HardSigmoid(x)
static LogicalResult swish(onnx::MulOp op, PatternRewriter &rewriter) {
  for (Value gate : op->getOperands()) {
    Value x = otherThan(op, gate);
    if (x.getType() != op.getType())
      continue;
    if (auto sigmoid = gate.getDefiningOp<onnx::SigmoidOp>())
      if (auto alpha = timesOf(sigmoid.getInput(), x)) {
        auto swish = rewriter.replaceOpWithNewOp<onnx::SwishOp>(op, op.getType(), x);
        swish.setAlphaAttr(rewriter.getF32FloatAttr(float(*alpha)));
        return success();
      }
    auto hard = gate.getDefiningOp<onnx::HardSigmoidOp>();
    Type single = rewriter.getF32Type();  // the attributes'
    if (hard && hard.getX() == x && near(hard.getAlpha().convertToFloat(), 1.0 / 6, single) &&
        near(hard.getBeta().convertToFloat(), 0.5, single)) {
      rewriter.replaceOpWithNewOp<onnx::HardSwishOp>(op, op.getType(), x);
      return success();
    }
  }
  return rewriter.notifyMatchFailure(op, "no gate of x");
}

// Clip(x + 3, 0, 6); null for another value.
static Value rampOf(Value v) {
  auto clip = v.getDefiningOp<onnx::ClipOp>();
  if (!clip || !clip.getMin() || !clip.getMax() || number(clip.getMin()) != 0.0 || !isNumber(clip.getMax(), 6))
    return {};
  return besides<onnx::AddOp>(clip.getInput(), 3);
}
// x * Clip(x + 3, 0, 6) / 6
static LogicalResult hardSwish(onnx::DivOp op, PatternRewriter &rewriter) {
  auto mul = op.getA().getDefiningOp<onnx::MulOp>();
  if (!mul || !isNumber(op.getB(), 6) || op.getType() != mul.getType())
    return rewriter.notifyMatchFailure(op, "not a product over 6");
  for (Value ramp : mul->getOperands())
    if (Value x = otherThan(mul, ramp); x == rampOf(ramp) && x.getType() == op.getType()) {
      rewriter.replaceOpWithNewOp<onnx::HardSwishOp>(op, op.getType(), x);
      return success();
    }
  return rewriter.notifyMatchFailure(op, "not a ramp of x");
}

// --- images and views ---

// ReduceMean over the rows and columns of images = GlobalAveragePool, which keeps blocked layouts.
static LogicalResult globalAverage(onnx::ReduceMeanOp op, PatternRewriter &rewriter) {
  auto type = rankedType(op.getData());
  bool centring = llvm::any_of(op->getUsers(), [](Operation *user) { return llvm::isa<onnx::SubOp>(user); }) || baseOfSquare(op.getData());
  if (!type || type.getRank() != 4 || !llvm::isa<FloatType>(type.getElementType()) || centring ||
      meanOf(op.getReduced(), op.getData()) != 2)
    return rewriter.notifyMatchFailure(op, "not a mean over images");
  rewriter.replaceOpWithNewOp<onnx::GlobalAveragePoolOp>(op, op.getType(), op.getData());
  return success();
}

// What a contraction or a normalisation gives, perhaps through elementwise ops that belong to it.
static bool isOfKernel(Value v) {
  for (Operation *op = v.getDefiningOp(); op && v.hasOneUse(); v = op->getOperand(0), op = v.getDefiningOp())
    if (!isPointwise(op))
      return llvm::isa<onnx::MatMulOp, onnx::GemmOp, onnx::LayerNormalizationOp, onnx::RMSNormalizationOp>(op);
  return false;
}

// A constant of one element as a scalar, one whose elements lie along a last axis of `size` as a vector; null for others.
static ElementsAttr alongLast(Value v, int64_t size) {
  auto type = rankedType(v);
  int64_t count = type && type.hasStaticShape() ? type.getNumElements() : -1;
  bool isVector = !ShapedType::isDynamic(size) && count == size && type.getRank() > 0 && type.getShape().back() == count;
  if (count != 1 && !isVector)
    return {};
  ArrayRef<int64_t> shape = count == 1 ? ArrayRef<int64_t>() : ArrayRef(count);
  return reshaped(onnx::constantValue(v), RankedTensorType::get(shape, type.getElementType()));
}

// Pointwise(View(x), constants) = View(Pointwise(x, constants)) behind what can compute it in its own kernel: frameworks multiply rows of
// two axes and give the product its shape before the bias. A constant has one element, or one for each of the last axis, which stays.
static LogicalResult pointwiseBeforeView(Operation *op, PatternRewriter &rewriter) {
  auto type = isPointwise(op) ? rankedType(op->getResult(0)) : RankedTensorType();
  SmallVector<Value> values;
  for (Value v : type ? op->getOperands() : ValueRange())
    if (!onnx::constantValue(v))
      values.push_back(v);
  if (values.size() != 1)
    return rewriter.notifyMatchFailure(op, "not of one value beside constants");
  Value view = values.front();
  SmallVector<Operation *> views;  // from the last to the first
  Value x = view;
  for (; rankedType(x) && isView(x.getDefiningOp()) && x.hasOneUse(); x = x.getDefiningOp()->getOperand(0))
    views.push_back(x.getDefiningOp());
  if (views.empty() || rankedType(view).getShape() != type.getShape())
    return rewriter.notifyMatchFailure(op, "not of a view");
  auto from = rankedType(x);
  if (!from || from.getRank() == 0 || type.getRank() == 0 || !isOfKernel(x))
    return rewriter.notifyMatchFailure(op, "nothing whose kernel computes it");
  int64_t last = from.getShape().back() == type.getShape().back() ? from.getShape().back() : ShapedType::kDynamic;
  SmallVector<ElementsAttr> constants;  // null for the view
  for (Value v : op->getOperands())
    if (constants.push_back(v == view ? ElementsAttr() : alongLast(v, last)); v != view && !constants.back())
      return rewriter.notifyMatchFailure(op, "a constant along other axes, or that has no other shape");
  SmallVector<Value> operands;
  for (auto [v, value] : llvm::zip_equal(op->getOperands(), constants))
    operands.push_back(value ? Value(onnx::ConstantOp::create(rewriter, v.getLoc(), value)) : x);
  Operation *made = rewriter.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(from.clone(type.getElementType()));
  for (Operation *each : llvm::reverse(views)) {
    Operation *next = rewriter.clone(*each);
    next->setOperand(0, made->getResult(0));
    next->getResult(0).setType(rankedType(each->getResult(0)).clone(type.getElementType()));
    made = next;
  }
  rewriter.replaceOp(op, made);
  return success();
}

void populateRecognizePatterns(RewritePatternSet &patterns) {
  patterns.add(gelu);
  patterns.add(swish);
  patterns.add(hardSwish);
  patterns.add(globalAverage);
}

namespace {
struct PointwiseBeforeView : RewritePattern {
  PointwiseBeforeView(MLIRContext *c) : RewritePattern(MatchAnyOpTypeTag(), 1, c) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override { return pointwiseBeforeView(op, rewriter); }
};

struct Recognize : impl::RecognizeBase<Recognize> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRecognizePatterns(patterns);
    populateNormPatterns(patterns);
    populateSoftmaxPatterns(patterns);
    populateSpectrumPatterns(patterns);
    patterns.add<PointwiseBeforeView>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
