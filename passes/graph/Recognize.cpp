// Recognize.cpp: ops that exporters wrote out in pieces: Gelu, Swish, HardSwish, LayerNormalization, RMSNormalization;
// RecognizeSpectrum.cpp has STFT. Runs after simplify; left out at -O0, where every op stays as the model has it.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_RECOGNIZE
#include "passes/graph/Passes.h.inc"

// --- matching ---

// constantNumber, but not of f64: the attributes that take its place are f32.
static std::optional<double> number(Value v) {
  return onnx::elementType(v) && !onnx::elementType(v).isF64() ? constantNumber(v) : std::nullopt;
}
// As near as the precision of constants of a type tells.
static bool near(std::optional<double> n, double wanted, Type type) {
  double tolerance = type.isF16() || type.isBF16() ? 4e-3 : 1e-5;
  return n && std::fabs(*n - wanted) <= tolerance * std::fabs(wanted);
}
static bool isNumber(Value v, double wanted) { return near(number(v), wanted, onnx::elementType(v)); }

// The other operand of a commutative `op` when one is `v` or a constant like `n`.
static Value otherThan(Operation *op, Value v) {
  return op->getOperand(0) == v ? op->getOperand(1) : op->getOperand(1) == v ? op->getOperand(0) : Value();
}
static Value besides(Operation *op, double n) {
  return isNumber(op->getOperand(1), n) ? op->getOperand(0) : isNumber(op->getOperand(0), n) ? op->getOperand(1) : Value();
}
template <typename Op>
static Value besides(Value v, double n) {
  auto op = v ? v.getDefiningOp<Op>() : Op();
  return op ? besides(op.getOperation(), n) : Value();
}
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

// --- activations ---

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

// --- normalisations ---

// Number of trailing axes that `v`, a mean of `x`, is over; 0 when it is not one.
static int64_t meanOf(Value v, Value x) {
  auto mean = v ? v.getDefiningOp<onnx::ReduceMeanOp>() : onnx::ReduceMeanOp();
  auto type = llvm::dyn_cast<RankedTensorType>(x.getType());
  auto axes = mean && mean.getAxes() ? onnx::integerElements(onnx::constantValue(mean.getAxes())) : std::nullopt;
  if (!mean || mean.getData() != x || !type || !axes || axes->empty() || !mean.getKeepdims())
    return 0;
  for (int64_t &a : *axes)
    a += a < 0 ? type.getRank() : 0;
  llvm::sort(*axes);
  for (auto [i, a] : llvm::enumerate(*axes))
    if (a != type.getRank() - int64_t(axes->size()) + int64_t(i))
      return 0;
  return axes->size();
}
static Value baseOfSquare(Value v) {
  auto square = [](Value v) {
    if (auto pow = v.getDefiningOp<onnx::PowOp>())
      return isNumber(pow.getB(), 2) ? pow.getA() : Value();
    auto mul = v.getDefiningOp<onnx::MulOp>();
    return mul && mul.getA() == mul.getB() ? mul.getA() : Value();
  };
  return square(v);
}

namespace {
// 1 / sqrt(mean(centered²) + epsilon) over the last `axes` axes.
struct Deviation {
  Value centered;
  int64_t axes = 0;
  float epsilon = 0;
};
}  // namespace

// `v` is the square root of a mean of squares, plus a small number.
static std::optional<Deviation> deviation(Value v) {
  auto root = v.getDefiningOp<onnx::SqrtOp>();
  auto add = root ? root.getInput().getDefiningOp<onnx::AddOp>() : onnx::AddOp();
  if (!add)
    return std::nullopt;
  for (Value mean : add->getOperands()) {
    auto reduce = mean.getDefiningOp<onnx::ReduceMeanOp>();
    auto epsilon = number(otherThan(add, mean));
    Value centered = reduce ? baseOfSquare(reduce.getData()) : Value();
    int64_t axes = reduce ? meanOf(mean, reduce.getData()) : 0;
    if (centered && axes && epsilon && *epsilon > 0 && *epsilon < 0.1)
      return Deviation{centered, axes, float(*epsilon)};
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

static Value onesLike(PatternRewriter &rewriter, Location loc, Value x, int64_t axes) {
  auto type = llvm::cast<RankedTensorType>(x.getType());
  auto shape = RankedTensorType::get(type.getShape().take_back(axes), type.getElementType());
  if (!shape.hasStaticShape())
    return {};
  return onnx::ConstantOp::create(rewriter, loc,
                                  DenseElementsAttr::get(shape, ArrayRef<Attribute>(FloatAttr::get(type.getElementType(), 1.0))));
}

// Replaces `op`, d.centered over its deviation, by a normalisation with a scale of ones.
static LogicalResult normalise(Operation *op, const Deviation &d, PatternRewriter &rewriter) {
  Value x = uncentered(d.centered, d.axes);
  Value from = x ? x : d.centered;
  if (from.getType() != op->getResult(0).getType())
    return rewriter.notifyMatchFailure(op, "the result has another type");
  Value ones = onesLike(rewriter, op->getLoc(), from, d.axes);
  if (!ones)
    return rewriter.notifyMatchFailure(op, "the normalised sizes are not constant");
  auto axis = rewriter.getI64IntegerAttr(-d.axes);
  auto epsilon = rewriter.getF32FloatAttr(d.epsilon);
  Type type = op->getResult(0).getType();
  if (!x) {
    rewriter.replaceOpWithNewOp<onnx::RMSNormalizationOp>(op, type, from, ones, axis, epsilon, rewriter.getI64IntegerAttr(1));
    return success();
  }
  auto norm = onnx::LayerNormalizationOp::create(rewriter, op->getLoc(), type, Type(), Type(), from, ones, Value(), axis, epsilon,
                                                 rewriter.getI64IntegerAttr(1));
  rewriter.replaceOp(op, norm.getY());
  return success();
}
static LogicalResult normaliseByDiv(onnx::DivOp op, PatternRewriter &rewriter) {
  auto d = deviation(op.getB());
  return d && d->centered == op.getA() ? normalise(op, *d, rewriter) : rewriter.notifyMatchFailure(op, "not over a deviation");
}
static LogicalResult normaliseByMul(onnx::MulOp op, PatternRewriter &rewriter) {
  for (Value v : op->getOperands())
    if (auto d = inverseDeviation(v); d && d->centered == otherThan(op, v))
      return normalise(op, *d, rewriter);
  return rewriter.notifyMatchFailure(op, "not times an inverse deviation");
}

// `v` as a scale or bias of type `wanted`: itself, or a constant without its leading axes of size 1; null for others. Sizes that only the
// run knows may differ though the types are equal.
static Value parameter(PatternRewriter &rewriter, Value v, RankedTensorType wanted) {
  auto type = llvm::dyn_cast<RankedTensorType>(v.getType());
  if (!wanted.hasStaticShape())
    return {};
  if (type == wanted)
    return v;
  ElementsAttr value = onnx::constantValue(v);
  int64_t more = type ? type.getRank() - wanted.getRank() : -1;
  if (!value || more < 1 || type.getElementType() != wanted.getElementType() || type.getShape().drop_front(more) != wanted.getShape() ||
      llvm::any_of(type.getShape().take_front(more), [](int64_t d) { return d != 1; }))
    return {};
  ElementsAttr same = reshaped(value, wanted);
  return same ? Value(onnx::ConstantOp::create(rewriter, v.getLoc(), same)) : Value();
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
  auto type = llvm::dyn_cast<RankedTensorType>(x.getType());
  if (!pair || !type || type != op.getType())
    return failure();
  for (Value r : pair->getOperands()) {
    auto d = inverseDeviation(r);
    if (!d || meanOf(shift.mean, x) != d->axes || uncentered(d->centered, d->axes) != x)
      continue;
    auto wanted = RankedTensorType::get(type.getShape().take_back(d->axes), type.getElementType());
    Value gamma = parameter(rewriter, otherThan(pair, r), wanted), beta = parameter(rewriter, shift.bias, wanted);
    if (!gamma || !beta)
      continue;
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

// ReduceMean over the rows and columns of images = GlobalAveragePool, which keeps blocked layouts.
static LogicalResult globalAverage(onnx::ReduceMeanOp op, PatternRewriter &rewriter) {
  auto type = llvm::dyn_cast<RankedTensorType>(op.getData().getType());
  bool centring = llvm::any_of(op->getUsers(), [](Operation *user) { return llvm::isa<onnx::SubOp>(user); }) || baseOfSquare(op.getData());
  if (!type || type.getRank() != 4 || !llvm::isa<FloatType>(type.getElementType()) || centring ||
      meanOf(op.getReduced(), op.getData()) != 2)
    return rewriter.notifyMatchFailure(op, "not a mean over images");
  rewriter.replaceOpWithNewOp<onnx::GlobalAveragePoolOp>(op, op.getType(), op.getData());
  return success();
}

void populateRecognizePatterns(RewritePatternSet &patterns) {
  patterns.add(gelu);
  patterns.add(swish);
  patterns.add(hardSwish);
  patterns.add(normaliseByDiv);
  patterns.add(normaliseByMul);
  patterns.add(normaliseFolded);
  patterns.add(takeScale);
  patterns.add(takeBias);
  patterns.add(globalAverage);
}

namespace {
struct Recognize : impl::RecognizeBase<Recognize> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateRecognizePatterns(patterns);
    populateSpectrumPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
