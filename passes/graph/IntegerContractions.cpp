// IntegerContractions.cpp: Conv, Gemm and MatMul between dequantised values, as sums of integers: products of constant matrices and
// convolutions of one or two axes in bytes (packed.LinearMatMul, packed.LinearConv), other products as MatMulInteger, other convolutions
// and some products of two values of the run held in f32. Those are exact below 2^24, so the one rounding is the one that the quantisation
// asks for. Runs after simplify, which would move the scales into the weights again; left out at -O0.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_INTEGERCONTRACTIONS
#include "passes/graph/Passes.h.inc"

namespace {
// (values - zero) * scale; scale and zero have one element or one per output channel.
struct Quantised {
  Value values;
  std::vector<float> scale, zero;
};
}  // namespace

// --- constants ---

// Values of this scale and zero point; nothing where these are no constants.
static std::optional<Quantised> quantisedBy(Value values, Value scale, Value zero) {
  auto scales = constantFloats(scale);
  auto zeros = zero ? constantIntegers(zero) : std::vector<float>{0.f};
  auto positive = [](float f) { return f > 0 && std::isfinite(f); };
  if (!scales || !zeros || scales->empty() || zeros->empty() || !llvm::all_of(*scales, positive))
    return std::nullopt;
  return Quantised{values, *scales, *zeros};
}
// What `v` is dequantised from.
static std::optional<Quantised> quantisedOf(Value v) {
  auto op = v ? v.getDefiningOp<onnx::DequantizeLinearOp>() : onnx::DequantizeLinearOp();
  auto type = op ? rankedType(op.getX()) : RankedTensorType();
  if (!type || op.getBlockSize() != 0 || !onnx::elementType(v).isF32())
    return std::nullopt;
  auto q = quantisedBy(op.getX(), op.getXScale(), op.getXZeroPoint());
  int64_t axis = onnx::axisAttr(op, type.getRank());
  bool channels = axis == 0 || axis == 1 || axis == type.getRank() - 1;  // the callers check which
  return q && (q->scale.size() == 1 || channels) ? q : std::nullopt;
}

// Whether `axis` is that of a QuantizeLinear or DequantizeLinear.
static bool isAlong(Operation *op, int64_t axis) {
  return onnx::axisAttr(op, llvm::cast<RankedTensorType>(op->getOperand(0).getType()).getRank()) == axis;
}

// --- operands ---

namespace {
// A contraction of `x` with weights whose output channels lie along `axis` of them and, in the result, before `after` more dims.
struct Contraction {
  Operation *op;
  Quantised x, w;
  int64_t axis, after;
  std::vector<float> bias = {};  // in units of the sums, one a channel; empty: none
  int64_t channels() const { return llvm::cast<RankedTensorType>(w.values.getType()).getDimSize(axis); }
};
}  // namespace

// What the data of a contraction is dequantised from: with one scale, or with one a channel where each channel has its own filter, which
// that scale is then part of.
static std::optional<Quantised> dataOf(Operation *op) {
  auto x = quantisedOf(op->getOperand(0));
  if (!x || x->scale.size() == 1)
    return x;
  int64_t channels = x->scale.size();
  auto w = rankedType(op->getOperand(1));
  bool depthwise =
      llvm::isa<onnx::ConvOp>(op) && w && w.getDimSize(0) == channels && w.getDimSize(1) == 1 && onnx::intAttr(op, "group", 1) == channels;
  if (!depthwise || !isAlong(op->getOperand(0).getDefiningOp(), 1) || !llvm::all_equal(x->zero))
    return std::nullopt;
  x->zero.resize(1);
  return x;
}

static std::optional<Contraction> contraction(Operation *op) {
  auto weights = rankedType(op->getOperand(1));
  auto x = dataOf(op), w = quantisedOf(op->getOperand(1));
  if (!weights || !x || !w || x->zero.size() != 1 || !isByte(onnx::elementType(x->values)) || !isByte(onnx::elementType(w->values)) ||
      !onnx::constantValue(w->values))
    return std::nullopt;
  Contraction c{op, *x, *w, 0, 0};
  if (llvm::isa<onnx::ConvOp>(op)) {
    c.after = weights.getRank() - 2;
  } else if (auto gemm = llvm::dyn_cast<onnx::GemmOp>(op)) {
    if (!gemm.getAlpha().isExactlyValue(1.0) || !gemm.getBeta().isExactlyValue(1.0) || gemm.getTransA())
      return std::nullopt;
    c.axis = gemm.getTransB() ? 0 : 1;
  } else {
    c.axis = 1;
  }
  bool matrix = llvm::isa<onnx::ConvOp>(op) || weights.getRank() == 2;
  auto fits = [&](size_t n) { return n == 1 || int64_t(n) == c.channels(); };
  bool along = (w->scale.size() == 1 && w->zero.size() == 1) || isAlong(op->getOperand(1).getDefiningOp(), c.axis);
  return matrix && along && fits(w->scale.size()) && fits(w->zero.size()) ? std::optional(c) : std::nullopt;
}

// The product of both scales, per channel.
static std::vector<float> products(const Contraction &c) {
  std::vector<float> result = c.w.scale;
  result.resize(std::max(result.size(), c.x.scale.size()), result[0]);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] *= ofChannel(c.x.scale, i);
  return result;
}

static Value integerInput(PatternRewriter &rewriter, Location loc, const Quantised &x) {
  GraphBuilder g{rewriter, loc};
  Value v = g.cast(x.values, rewriter.getF32Type());
  return x.zero[0] ? Value(onnx::SubOp::create(rewriter, loc, v.getType(), v, g.number(x.zero[0]))) : v;
}
static Value integerWeights(PatternRewriter &rewriter, Location loc, const Contraction &c) {
  auto type = llvm::cast<RankedTensorType>(c.w.values.getType());
  auto values = constantIntegers(c.w.values);
  int64_t inner = 1;
  for (int64_t i = c.axis + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  for (size_t i = 0; i < values->size(); ++i)
    (*values)[i] -= ofChannel(c.w.zero, int64_t(i) / inner % c.channels());
  return GraphBuilder{rewriter, loc}.floats(type.getShape(), *values);
}

// --- biases ---

namespace {
// A constant bias with a value for each channel: its numbers, or the integers that they are dequantised from.
struct Bias {
  std::vector<float> values;
  std::optional<Quantised> quantised;

  float number(int64_t channel) const {
    float value = values[channel];
    return quantised ? float(double(value - ofChannel(quantised->zero, channel)) * ofChannel(quantised->scale, channel)) : value;
  }
  // As so many times `unit`: the integer itself where it was quantised with that scale, as tools do.
  float inUnits(int64_t channel, float unit) const {
    if (!quantised)
      return values[channel] / unit;
    float scale = ofChannel(quantised->scale, channel), whole = values[channel] - ofChannel(quantised->zero, channel);
    bool same = std::fabs(scale - unit) <= 1e-5f * unit;
    return same ? whole : float(double(whole) * scale / unit);
  }
};
}  // namespace

// Nothing where `v` is no constant, or has another number of values.
static std::optional<Bias> biasOf(Value v, int64_t channels) {
  auto quantised = quantisedOf(v);
  auto values = quantised ? constantIntegers(quantised->values) : constantFloats(v);
  auto type = llvm::cast<ShapedType>(v.getType());
  if (!values || int64_t(values->size()) != channels || type.getShape().back() != channels)
    return std::nullopt;
  return Bias{std::move(*values), std::move(quantised)};
}

// A bias in units of the sums of `c`.
static std::optional<std::vector<float>> integerBias(Value v, const Contraction &c) {
  auto bias = biasOf(v, c.channels());
  if (!bias)
    return std::nullopt;
  std::vector<float> units = products(c), result;
  for (int64_t i = 0; i < c.channels(); ++i)
    result.push_back(bias->inUnits(i, ofChannel(units, i)));
  return result;
}

// A bias that integerBias() has, as the numbers that it adds.
static std::vector<float> floatBias(Value v, const Contraction &c) {
  auto bias = biasOf(v, c.channels());
  std::vector<float> result;
  for (int64_t i = 0; i < c.channels(); ++i)
    result.push_back(bias->number(i));
  return result;
}

// The contraction that `op` computes, with the bias that it adds itself.
static std::optional<Contraction> biasedContraction(Operation *op) {
  auto c = contraction(op);
  Value given = onnx::operand(op, 2);
  if (!c || !given)
    return c;
  auto bias = integerBias(given, *c);
  if (!bias)
    return std::nullopt;
  c->bias = std::move(*bias);
  return c;
}

// --- results ---

// Values per channel as a constant that broadcasts over the result.
static Value perChannel(PatternRewriter &rewriter, Location loc, const Contraction &c, const std::vector<float> &values) {
  if (values.size() == 1)
    return GraphBuilder{rewriter, loc}.number(values[0]);
  SmallVector<int64_t> shape(c.after + 1, 1);
  shape[0] = values.size();
  return GraphBuilder{rewriter, loc}.floats(shape, values);
}

// clip(round(sums * (products / scale)) + zero): the arithmetic that runtimes agree on.
static Value requantise(PatternRewriter &rewriter, const Contraction &c, Value sums, onnx::QuantizeLinearOp to, const Quantised &target) {
  Location loc = to.getLoc();
  std::vector<float> factors = products(c);
  for (float &f : factors)
    f /= target.scale[0];
  Type type = sums.getType();
  Value v = onnx::MulOp::create(rewriter, loc, type, sums, perChannel(rewriter, loc, c, factors));
  GraphBuilder g{rewriter, loc};
  return clippedTo(to.getType(), onnx::RoundOp::create(rewriter, loc, type, v), target.zero[0] ? g.number(target.zero[0]) : Value(), g);
}

// Where `op` quantises to 8 bits with one constant scale, or one for each of so many `channels`, and one zero point.
static std::optional<Quantised> target(Operation *op, int64_t channels = 1) {
  auto q = llvm::dyn_cast<onnx::QuantizeLinearOp>(op);
  if (!q || q.getBlockSize() != 0 || !isByte(onnx::elementType(q.getY())))
    return std::nullopt;
  auto result = quantisedBy(q.getX(), q.getYScale(), q.getYZeroPoint());
  if (!result || !llvm::all_equal(result->zero))
    return std::nullopt;
  result->zero.resize(1);
  return result->scale.size() == 1 || (int64_t(result->scale.size()) == channels && isAlong(op, 1)) ? result : std::nullopt;
}

static void replaceUsers(PatternRewriter &rewriter, const Contraction &c, Value from, Value sums) {
  for (Operation *user : llvm::make_early_inc_range(from.getUsers())) {
    if (auto relu = llvm::dyn_cast<onnx::ReluOp>(user); relu && llvm::all_of(relu->getUsers(), [](Operation *u) { return target(u); })) {
      rewriter.setInsertionPoint(user);
      replaceUsers(rewriter, c, relu->getResult(0), onnx::ReluOp::create(rewriter, user->getLoc(), sums.getType(), sums));
      rewriter.eraseOp(user);
    } else if (auto to = target(user)) {
      rewriter.setInsertionPoint(user);
      rewriter.replaceOp(user, requantise(rewriter, c, sums, llvm::cast<onnx::QuantizeLinearOp>(user), *to));
    }
  }
}

// The weights of a MatMul or Gemm with the depth first.
static Value depthFirst(PatternRewriter &rewriter, const Contraction &c) {
  if (c.axis == 1)
    return c.w.values;
  auto type = llvm::cast<RankedTensorType>(c.w.values.getType());
  int64_t n = type.getDimSize(0), depth = type.getDimSize(1);
  std::vector<char> bytes = transposedMatrix(*constantBytes(onnx::constantValue(c.w.values)), n, depth);
  return GraphBuilder{rewriter, c.op->getLoc()}.constant(type.clone({depth, n}), std::move(bytes));
}

// The op of `c` over integers in f32.
static Value floatSums(PatternRewriter &rewriter, const Contraction &c, ArrayRef<Value> operands) {
  Operation *sums = rewriter.create(c.op->getLoc(), c.op->getName().getIdentifier(), operands, c.op->getResultTypes(), c.op->getAttrs());
  sums->setAttr(onnx::kExactAttr, rewriter.getUnitAttr());
  return sums->getResult(0);
}

// Sums in f32: a product of bytes has instructions of its own, a convolution of small integers is exact in f32.
static Value integerSums(PatternRewriter &rewriter, const Contraction &c, Value bias) {
  Operation *op = c.op;
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  if (llvm::isa<onnx::ConvOp>(op)) {
    SmallVector<Value> operands{integerInput(rewriter, loc, c.x), integerWeights(rewriter, loc, c)};
    if (bias)
      operands.push_back(bias);
    return floatSums(rewriter, c, operands);
  }
  auto zero = [&](unsigned i) { return op->getOperand(i).getDefiningOp<onnx::DequantizeLinearOp>().getXZeroPoint(); };
  Value sums = onnx::MatMulIntegerOp::create(rewriter, loc, llvm::cast<TensorType>(type).clone(rewriter.getI32Type()), c.x.values,
                                             depthFirst(rewriter, c), zero(0), zero(1));
  sums = GraphBuilder{rewriter, loc}.as(type, sums);
  return bias ? Value(onnx::AddOp::create(rewriter, loc, type, sums, bias)) : sums;
}

// Puts the `sums` of `c` in the place of its op: requantised where they become bytes, else as numbers.
static void replaceBySums(PatternRewriter &rewriter, const Contraction &c, Value sums) {
  Operation *op = c.op;
  Type type = op->getResult(0).getType();
  replaceUsers(rewriter, c, op->getResult(0), sums);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<onnx::MulOp>(op, type, sums, perChannel(rewriter, op->getLoc(), c, products(c)));
}

static LogicalResult contractIntegers(Operation *op, PatternRewriter &rewriter) {
  auto c = biasedContraction(op);
  if (!c)
    return rewriter.notifyMatchFailure(op, "not a contraction of 8-bit values with constant weights");
  Value given = onnx::operand(op, 2);
  Type type = given ? given.getType() : Type();
  Value bias = given ? GraphBuilder{rewriter, op->getLoc()}.floats(cast<ShapedType>(type).getShape(), c->bias) : Value();
  replaceBySums(rewriter, *c, integerSums(rewriter, *c, bias));
  return success();
}

namespace {
// What follows a convolution that is only quantised again, perhaps behind a Relu or Clip.
struct Requantisation {
  onnx::QuantizeLinearOp op;
  Quantised target;
  int64_t least, most;
};
}  // namespace

// Nothing where bounds are other steps in one channel than in another. `channels`: how many may have scales of their own.
static std::optional<Requantisation> requantisation(Operation *op, int64_t channels = 1) {
  Operation *user = onlyUser(op);
  auto bounds = user ? boundsOf(user) : std::nullopt;
  if (bounds)
    user = onlyUser(user);
  auto to = user ? target(user, channels) : std::nullopt;
  if (!to)
    return std::nullopt;
  auto q = llvm::cast<onnx::QuantizeLinearOp>(user);
  Type element = onnx::elementType(q.getY());
  Limits limits = limitsOf(element);
  if (!bounds)
    return Requantisation{q, *to, int64_t(limits.least), int64_t(limits.most)};
  auto steps = [&](float bound, float scale) { return int64_t(inSteps(bound, {scale, to->zero[0]}, element)); };
  Requantisation result{q, *to, steps(bounds->first, to->scale[0]), steps(bounds->second, to->scale[0])};
  bool same = llvm::all_of(
      to->scale, [&](float scale) { return steps(bounds->first, scale) == result.least && steps(bounds->second, scale) == result.most; });
  return same ? std::optional(result) : std::nullopt;
}

// The BatchNormalization that alone follows a convolution, as factors and bias of it; else the convolution.
static Operation *withNormalization(LinearConv &linear, int64_t channels) {
  Operation *next = onlyUser(linear.op);
  auto affine = next ? channelAffine(next) : std::nullopt;
  if (!affine || int64_t(affine->scale.size()) != channels || next->getOperand(0) != linear.op->getResult(0))
    return linear.op;
  linear.factors.resize(channels, linear.factors[0]);
  linear.bias.resize(channels);
  for (int64_t i = 0; i < channels; ++i) {
    linear.factors[i] *= affine->scale[i];
    linear.bias[i] = float(linear.bias[i] + double(affine->offset[i]) / linear.factors[i]);
  }
  return next;
}

// The convolution with what makes bytes of its results again, or null.
static Value requantisedConv(LinearConv linear, const Contraction &c, PatternRewriter &rewriter, Operation *&replaced) {
  auto to = requantisation(withNormalization(linear, c.channels()), c.channels());
  if (!to)
    return {};
  const std::vector<float> &steps = to->target.scale;
  linear.factors.resize(std::max(linear.factors.size(), steps.size()), linear.factors[0]);
  for (size_t i = 0; i < linear.factors.size(); ++i)
    linear.factors[i] /= ofChannel(steps, i);
  linear.element = onnx::elementType(to->op.getY());
  linear.zero = int64_t(to->target.zero[0]), linear.least = to->least, linear.most = to->most;
  replaced = to->op;
  rewriter.setInsertionPoint(replaced);
  return linearConvolution(rewriter, linear);
}

// Where the kernel of bytes cannot add the bias to its sums, they are f32 and an Add behind it adds the bias.
static LogicalResult contractConv(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto c = biasedContraction(op);
  if (!c)
    return rewriter.notifyMatchFailure(op, "not a convolution of 8-bit values with constant weights");
  LinearConv linear{op, c->x.values, c->w.values, int32_t(c->x.zero[0]), c->w.zero, products(*c), c->bias, rewriter.getF32Type()};
  Operation *replaced = op;
  Value y = requantisedConv(linear, *c, rewriter, replaced);
  if (!y) {
    replaced = op;
    rewriter.setInsertionPoint(op);
    y = linearConvolution(rewriter, linear);
  }
  if (!y && !c->bias.empty()) {
    linear.bias.clear();
    y = linearConvolution(rewriter, linear);
    if (y)
      y = onnx::AddOp::create(rewriter, op.getLoc(), y.getType(), y, perChannel(rewriter, op.getLoc(), *c, floatBias(op.getB(), *c)));
  }
  if (!y)
    return contractIntegers(op, rewriter);
  rewriter.replaceOp(replaced, y);
  return success();
}

// The Add of a constant bias that alone follows a product `c`, which becomes the product's; else the product.
static Operation *withBias(Operation *op, Contraction &c) {
  auto add = llvm::dyn_cast_if_present<onnx::AddOp>(onlyUser(op));
  if (!add || add.getType() != op->getResult(0).getType())
    return op;
  Value other = add->getOperand(add->getOperand(0) == op->getResult(0) ? 1 : 0);
  auto type = rankedType(other);
  auto bias = type && type.getRank() >= 1 ? integerBias(other, c) : std::nullopt;
  if (!bias)
    return op;
  c.bias = std::move(*bias);
  return add;
}

static LogicalResult contractProduct(Operation *op, PatternRewriter &rewriter) {
  auto c = biasedContraction(op);
  if (!c)
    return rewriter.notifyMatchFailure(op, "not a product of 8-bit values with constant weights");
  Operation *last = onnx::operand(op, 2) ? op : withBias(op, *c);
  auto to = requantisation(last);
  LinearProduct product{c->x.values,  c->w.values, last->getResult(0).getType(), c->axis == 0, int32_t(c->x.zero[0]), c->w.zero,
                        products(*c), c->bias};
  if (to) {
    for (float &f : product.factors)
      f /= to->target.scale[0];
    product.result = to->op.getY().getType();
    product.zero = int64_t(to->target.zero[0]), product.least = to->least, product.most = to->most;
  }
  Operation *replaced = to ? to->op.getOperation() : last;
  rewriter.setInsertionPoint(replaced);
  Value y = linearProduct(rewriter, product);
  if (!y) {
    rewriter.setInsertionPoint(op);
    return contractIntegers(op, rewriter);
  }
  rewriter.replaceOp(replaced, y);
  return success();
}
static LogicalResult contractGemm(onnx::GemmOp op, PatternRewriter &rewriter) { return contractProduct(op, rewriter); }

// --- products of two tensors of bytes, but for constant matrices ---

// The dequantisation of bytes with one scale that makes `v`, perhaps before `moves`, ops that move its values, the last one first; else
// null.
static onnx::DequantizeLinearOp dequantisedBefore(Value v, SmallVectorImpl<Operation *> &moves) {
  for (Operation *op = v.getDefiningOp(); isView(op) || isa_and_present<onnx::TransposeOp>(op); op = v.getDefiningOp()) {
    moves.push_back(op);
    v = op->getOperand(0);
  }
  auto q = quantisedOf(v);
  bool one = q && q->scale.size() == 1 && q->zero.size() == 1 && isByte(onnx::elementType(q->values));
  return one ? v.getDefiningOp<onnx::DequantizeLinearOp>() : onnx::DequantizeLinearOp();
}
static Value movedBy(PatternRewriter &rewriter, ArrayRef<Operation *> moves, Value v) {
  for (Operation *move : llvm::reverse(moves))
    v = movedBy(rewriter, move, v);
  return v;
}

// Whether a softmax takes what `product` computes, as in attention. `asBytes`: also once it is quantised. True where that is too far to
// see.
static bool feedsSoftmax(Operation *product, bool asBytes) {
  constexpr size_t kMost = 64;  // values looked at
  SmallVector<Value> found{product->getResult(0)};
  for (size_t i = 0; i < found.size(); ++i)
    for (Operation *user : found[i].getUsers()) {
      if (found.size() > kMost || isa<onnx::SoftmaxOp>(user))
        return true;
      if (isPointwise(user) || isView(user) || isa<onnx::TransposeOp, onnx::ConcatOp, onnx::SliceOp>(user) ||
          (asBytes && isa<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(user)))
        found.push_back(user->getResult(0));
    }
  return false;
}

// Whether the right side of `product` is known to be so small that its own kernel in f32 takes less time than packing bytes.
static bool isSmall(onnx::MatMulOp product) {
  constexpr int64_t kSmall = 1024;
  ArrayRef<int64_t> b = rankedType(product.getB()).getShape().take_back(2);
  return !llvm::is_contained(b, ShapedType::kDynamic) && b[0] * b[1] <= kSmall;
}

// Sums of integers: of f32 those that are small or that a softmax takes, which would make numbers of 32 bits anew in each of its passes,
// where f32 holds them; of bytes the others. Of a depth that only the run knows 32 bits are taken to hold them, as QLinearMatMul takes
// them.
static LogicalResult contractBytes(onnx::MatMulOp op, PatternRewriter &rewriter) {
  constexpr int64_t kMostDepth = INT32_MAX / (255 * 255), kMostFloatDepth = kExactBelow / (255 * 255);
  auto a = rankedType(op.getA()), b = rankedType(op.getB());
  SmallVector<Operation *> moves[2];
  auto x = dequantisedBefore(op.getA(), moves[0]), w = dequantisedBefore(op.getB(), moves[1]);
  if (!a || !b || b.getRank() < 2 || !x || !w || a.getShape().back() > kMostDepth || b.getDimSize(b.getRank() - 2) > kMostDepth)
    return rewriter.notifyMatchFailure(op, "not of two tensors of bytes with a scale each");
  if (feedsSoftmax(op, /*asBytes=*/false))
    return rewriter.notifyMatchFailure(op, "may be an attention in f32");
  Location loc = op.getLoc();
  Contraction c{op, *quantisedOf(x.getY()), *quantisedOf(w.getY()), /*axis=*/1, 0};
  if (isSmall(op) || feedsSoftmax(op, /*asBytes=*/true)) {
    int64_t depth = std::max(a.getShape().back(), b.getDimSize(b.getRank() - 2));  // one of them may be unknown
    if (ShapedType::isDynamic(depth) || depth > kMostFloatDepth)
      return rewriter.notifyMatchFailure(op, "f32 may not hold the sums");
    Value operands[] = {movedBy(rewriter, moves[0], integerInput(rewriter, loc, c.x)),
                        movedBy(rewriter, moves[1], integerInput(rewriter, loc, c.w))};
    replaceBySums(rewriter, c, floatSums(rewriter, c, operands));
    return success();
  }
  auto behind = [&](onnx::DequantizeLinearOp dq, ArrayRef<Operation *> moves, Value product) {
    return moves.empty() ? dq.getY() : dequantiseAs(rewriter, dq, product.getType(), movedBy(rewriter, moves, dq.getX()));
  };
  Value operands[] = {behind(x, moves[0], op.getA()), behind(w, moves[1], op.getB())};
  rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
  c.x = *quantisedOf(op.getA()), c.w = *quantisedOf(op.getB());
  replaceBySums(rewriter, c, integerSums(rewriter, c, Value()));
  return success();
}

static LogicalResult contractMatMul(onnx::MatMulOp op, PatternRewriter &rewriter) {
  return success(succeeded(contractProduct(op, rewriter)) || succeeded(contractBytes(op, rewriter)));
}

// --- weights of 4 bits ---

static Value asBytes(PatternRewriter &rewriter, Value v) {
  ElementsAttr value = onnx::constantValue(v);
  auto integers = value ? onnx::integerElements(value, value.getNumElements()) : std::nullopt;
  if (!integers)
    return {};
  Type byte = onnx::elementType(v).isUnsignedInteger() ? rewriter.getIntegerType(8, false) : Type(rewriter.getI8Type());
  auto type = RankedTensorType::get(llvm::cast<ShapedType>(v.getType()).getShape(), byte);
  return onnx::ConstantOp::create(rewriter, v.getLoc(), makeConstant(type, std::vector<char>(integers->begin(), integers->end())));
}

// Constants of 4 bits that bytes are multiplied by become bytes.
static LogicalResult widenWeights(onnx::DequantizeLinearOp op, PatternRewriter &rewriter) {
  auto isOfBytes = [](Value v) {
    auto x = quantisedOf(v);
    return x && isByte(onnx::elementType(x->values));
  };
  auto multiplies = [&](Operation *user) {
    return llvm::isa<onnx::ConvOp, onnx::GemmOp, onnx::MatMulOp>(user) && user->getOperand(1) == op.getY() &&
           isOfBytes(user->getOperand(0));
  };
  if (!onnx::elementType(op.getX()).isInteger(4) || op.getBlockSize() != 0 || !llvm::any_of(op->getUsers(), multiplies))
    return rewriter.notifyMatchFailure(op, "not weights of 4 bits for bytes");
  Value zero = op.getXZeroPoint(), bytes = asBytes(rewriter, op.getX()), zeros = zero ? asBytes(rewriter, zero) : Value();
  if (!bytes || (zero && !zeros))
    return rewriter.notifyMatchFailure(op, "not constant");
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(bytes);
    if (zero)
      op.getXZeroPointMutable().assign(zeros);
  });
  return success();
}

namespace {
struct IntegerContractions : impl::IntegerContractionsBase<IntegerContractions> {
  using IntegerContractionsBase::IntegerContractionsBase;
  void runOnOperation() override {
    RewritePatternSet moves(&getContext()), contractions(&getContext()), sums(&getContext()), products(&getContext()), rest(&getContext());
    populateByteMovePatterns(moves);
    populateByteTablePatterns(moves);
    moves.add(widenWeights);
    populateByteFramePatterns(moves);
    populateByteConvTransposePatterns(moves);
    contractions.add(contractConv);
    contractions.add(contractGemm);
    contractions.add(contractMatMul);
    populateByteSumPatterns(sums);
    populateScaledProductPatterns(products);
    int64_t left = maxBytes;
    populateQuantisationPatterns(rest, left);
    populatePackIntegerPatterns(rest);
    populateTableOfConvPatterns(rest);
    populateFramePatterns(rest);
    for (RewritePatternSet *patterns : {&moves, &contractions, &sums, &products, &rest})
      if (failed(rewriteAll(getOperation(), std::move(*patterns))))
        signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
