// DecomposeQuant.cpp: quantised ops of ONNX and com.microsoft as dequantisation, the op on f32 and quantisation, which
// IntegerContractions then contracts as integers, and interpolation between bytes as that between f32. For the decompose pass.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

// A constant of one value as a scalar.
static Value scalarOrAxis(PatternRewriter &rewriter, Value v) {
  ElementsAttr value = v ? onnx::constantValue(v) : ElementsAttr();
  auto type = value ? llvm::dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!type || type.getRank() == 0 || type.getNumElements() != 1)
    return v;
  return onnx::ConstantOp::create(rewriter, v.getLoc(), reshaped(value, RankedTensorType::get({}, type.getElementType())));
}
static Type single(PatternRewriter &rewriter, Value like) { return llvm::cast<TensorType>(like.getType()).clone(rewriter.getF32Type()); }
static Value dequantise(PatternRewriter &rewriter, Location loc, Value q, Value scale, Value zero, int64_t axis) {
  return onnx::DequantizeLinearOp::create(rewriter, loc, single(rewriter, q), q, scalarOrAxis(rewriter, scale),
                                          scalarOrAxis(rewriter, zero), rewriter.getI64IntegerAttr(axis));
}
static Value quantise(PatternRewriter &rewriter, Location loc, Type type, Value x, Value scale, Value zero) {
  return onnx::QuantizeLinearOp::create(rewriter, loc, type, x, scalarOrAxis(rewriter, scale), scalarOrAxis(rewriter, zero));
}
static bool isConstant(Value v) { return !v || onnx::constantValue(v); }

// A bias of integers in units of `scale` * `other`; null where there is none.
static Value dequantiseBias(PatternRewriter &rewriter, Value bias, Value scale, Value other) {
  auto a = constantFloats(scale), b = constantFloats(other);
  if (!bias || !a || !b || b->size() != 1)
    return {};
  for (float &f : *a)
    f *= b->front();
  SmallVector<int64_t> shape;
  if (a->size() > 1)
    shape.push_back(a->size());
  auto type = RankedTensorType::get(shape, rewriter.getF32Type());
  Value unit = onnx::ConstantOp::create(rewriter, bias.getLoc(), makeConstant(type, *a));
  return dequantise(rewriter, bias.getLoc(), bias, unit, Value(), llvm::cast<RankedTensorType>(bias.getType()).getRank() - 1);
}

static LogicalResult linearConv(onnx::QLinearConvOp op, PatternRewriter &rewriter) {
  if (!llvm::all_of(op->getOperands().drop_front(), isConstant))
    return rewriter.notifyMatchFailure(op, "weights or scales are not constant");
  Location loc = op.getLoc();
  Value bias = dequantiseBias(rewriter, op.getB(), op.getWScale(), op.getXScale());
  Value x = dequantise(rewriter, loc, op.getX(), op.getXScale(), op.getXZeroPoint(), 1);
  Value w = dequantise(rewriter, loc, op.getW(), op.getWScale(), op.getWZeroPoint(), 0);
  Value y = onnx::ConvOp::create(rewriter, loc, single(rewriter, op.getY()), x, w, bias, op.getAutoPadAttr(), op.getDilationsAttr(),
                                 op.getGroupAttr(), op.getKernelShapeAttr(), op.getPadsAttr(), op.getStridesAttr());
  rewriter.replaceOp(op, quantise(rewriter, loc, op.getY().getType(), y, op.getYScale(), op.getYZeroPoint()));
  return success();
}

// One number, or a list of them for the axis that the op says.
static bool isListOrNumber(Value v) {
  auto type = v ? llvm::cast<RankedTensorType>(v.getType()) : RankedTensorType();
  return !type || type.getRank() < 2 || type.getNumElements() == 1;
}
static bool isOneNumber(Value v) { return !v || llvm::cast<RankedTensorType>(v.getType()).getNumElements() == 1; }

static LogicalResult linearMatMul(onnx::QLinearMatMulOp op, PatternRewriter &rewriter) {
  auto weights = rankedType(op.getB());
  SmallVector<Value> numbers{op.getAScale(), op.getAZeroPoint(), op.getBScale(), op.getBZeroPoint(), op.getYScale(), op.getYZeroPoint()};
  if (!weights || weights.getRank() < 2 || !onnx::elementType(op.getY()).isInteger(8) || !llvm::all_of(numbers, isConstant))
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  bool ofColumns = onnx::constantValue(op.getB()) && weights.getRank() == 2;
  auto isOne = [&](Value v) { return ofColumns && (v == op.getBScale() || v == op.getBZeroPoint()) ? isListOrNumber(v) : isOneNumber(v); };
  if (!llvm::all_of(numbers, isOne))
    return rewriter.notifyMatchFailure(op, "numbers for each row or each matrix, or for columns of the run's");
  Location loc = op.getLoc();
  Value a = dequantise(rewriter, loc, op.getA(), op.getAScale(), op.getAZeroPoint(), 1);
  Value b = dequantise(rewriter, loc, op.getB(), op.getBScale(), op.getBZeroPoint(), 1);
  Value y = onnx::MatMulOp::create(rewriter, loc, single(rewriter, op.getY()), a, b);
  rewriter.replaceOp(op, quantise(rewriter, loc, op.getY().getType(), y, op.getYScale(), op.getYZeroPoint()));
  return success();
}

static LogicalResult linearGemm(onnx::MSQGemmOp op, PatternRewriter &rewriter) {
  auto b = rankedType(op.getB());
  auto bias = rankedType(op.getC());
  if (!llvm::all_of(op->getOperands().drop_front(), isConstant) || !op.getAlpha().isExactlyValue(1.0) || !b || b.getRank() != 2 ||
      (bias && bias.getShape() != ArrayRef<int64_t>{b.getDimSize(op.getTransB() ? 0 : 1)}))
    return rewriter.notifyMatchFailure(op, "weights or scales are not constant, or the bias is no row");
  Location loc = op.getLoc();
  Value a = dequantise(rewriter, loc, op.getA(), op.getAScale(), op.getAZeroPoint(), 1);
  Value w = dequantise(rewriter, loc, op.getB(), op.getBScale(), op.getBZeroPoint(), op.getTransB() ? 0 : 1);
  Value c = dequantiseBias(rewriter, op.getC(), op.getBScale(), op.getAScale());
  FloatAttr one = rewriter.getF32FloatAttr(1);
  Value y = onnx::GemmOp::create(rewriter, loc, single(rewriter, op.getY()), a, w, c, one, one, op.getTransAAttr(), op.getTransBAttr());
  rewriter.replaceOp(op, op.getYScale() ? quantise(rewriter, loc, op.getY().getType(), y, op.getYScale(), op.getYZeroPoint()) : y);
  return success();
}

// y = (DynamicQuantizeLinear(A) - zero) B * (a_scale * b_scale) + bias
static Value scaledProduct(PatternRewriter &rewriter, Location loc, Type type, ValueRange a, Value b, Value bScale, Value bZero,
                           Value bias) {
  auto product = llvm::cast<TensorType>(type);
  Value sums = onnx::MatMulIntegerOp::create(rewriter, loc, product.clone(rewriter.getI32Type()), a[0], b, a[2], bZero);
  Value y = GraphBuilder{rewriter, loc}.as(type, sums);
  Type scaleType = rankedType(bScale).getRank() ? bScale.getType() : a[1].getType();  // either may be a list of one
  Value scale = onnx::MulOp::create(rewriter, loc, scaleType, bScale, a[1]);
  y = onnx::MulOp::create(rewriter, loc, type, y, scale);
  return bias ? Value(onnx::AddOp::create(rewriter, loc, type, y, bias)) : y;
}
// Whether B is a constant matrix whose scale and bias have sizes that are checked here: those of the run would broadcast.
static bool isMatrixScale(Value b, Value scale, Value bias) {
  auto type = rankedType(b), s = rankedType(scale);
  bool sized = s && s.hasStaticShape() && (!bias || llvm::cast<ShapedType>(bias.getType()).hasStaticShape());
  return type && sized && type.getRank() == 2 && s.getRank() <= 1 && onnx::constantValue(b) && onnx::elementType(scale).isF32();
}

static LogicalResult dynamicMatMul(onnx::MSDynamicQuantizeMatMulOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA());
  if (!isMatrixScale(op.getB(), op.getBScale(), op.getBias()) || !a)
    return rewriter.notifyMatchFailure(op, "B is no constant matrix, or sizes are the run's");
  auto scalarOf = [&](Type element) { return RankedTensorType::get({}, element); };
  Type byte = rewriter.getIntegerType(8, /*isSigned=*/false);
  auto q = onnx::DynamicQuantizeLinearOp::create(rewriter, op.getLoc(), a.clone(byte), scalarOf(rewriter.getF32Type()), scalarOf(byte),
                                                 op.getA());
  rewriter.replaceOp(op, scaledProduct(rewriter, op.getLoc(), op.getY().getType(), q->getResults(), op.getB(), op.getBScale(),
                                       op.getBZeroPoint(), op.getBias()));
  return success();
}

static LogicalResult integerMatMul(onnx::MSMatMulIntegerToFloatOp op, PatternRewriter &rewriter) {
  auto scale = rankedType(op.getAScale());
  if (!isMatrixScale(op.getB(), op.getBScale(), op.getBias()) || !scale || scale.getRank() > 1 ||
      (scale.getRank() == 1 && scale.getDimSize(0) != 1) || !onnx::elementType(op.getY()).isF32())
    return rewriter.notifyMatchFailure(op, "B is no constant matrix, or sizes are the run's");
  SmallVector<Value> a{op.getA(), op.getAScale(), op.getAZeroPoint()};
  rewriter.replaceOp(
      op, scaledProduct(rewriter, op.getLoc(), op.getY().getType(), a, op.getB(), op.getBScale(), op.getBZeroPoint(), op.getBias()));
  return success();
}

// Whether a list has one length for each of `batch`, also where only the run knows these: other lists have two or three numbers for each.
static bool areLengths(Value list, int64_t batch) {
  auto cast = list.getDefiningOp<onnx::CastOp>();
  auto sum = (cast ? cast.getInput() : list).getDefiningOp<onnx::ReduceSumOp>();
  auto summed = sum ? rankedType(sum.getData()) : RankedTensorType();
  return (summed && summed.getRank() == 2) || (!ShapedType::isDynamic(batch) && rankedType(list).getDimSize(0) == batch);
}

// QAttention(x, w) = MultiHeadAttention of the thirds of (x - zero) (w - zero) * (x_scale * w_scale) + bias
static LogicalResult quantisedAttention(onnx::MSQAttentionOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getInput()), w = rankedType(op.getWeight()), mask = rankedType(op.getMaskIndex()),
       scale = rankedType(op.getInputScale());
  int64_t heads = op.getNumHeads();
  if (!isMatrixScale(op.getWeight(), op.getWeightScale(), op.getBias()) || !x || x.getRank() != 3 || !scale || scale.getRank() > 1 ||
      !onnx::elementType(op.getOutput()).isF32() || heads <= 0 || w.getDimSize(1) % (3 * heads))
    return rewriter.notifyMatchFailure(op, "weights are no constant matrix of three times all heads, or sizes are the run's");
  bool isShown = op.getPresent() && !op.getPresent().use_empty();
  if (op.getPast() || isShown || op.getDoRotary().value_or(0) || op.getPastPresentShareBuffer().value_or(0))
    return rewriter.notifyMatchFailure(op, "has a cache, or rotates");
  if (op.getMaskIndex() && !(mask && (mask.getRank() > 1 || areLengths(op.getMaskIndex(), x.getDimSize(0)))))
    return rewriter.notifyMatchFailure(op, "a mask of unknown form");
  GraphBuilder g{rewriter, op.getLoc()};
  int64_t width = w.getDimSize(1) / 3;
  Type all = RankedTensorType::get({x.getDimSize(0), x.getDimSize(1), 3 * width}, rewriter.getF32Type());
  Value zero = op.getInputZeroPoint();
  if (!zero)
    zero =
        onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(RankedTensorType::get({}, x.getElementType()), std::vector<char>(1)));
  Value parts = scaledProduct(rewriter, op.getLoc(), all, {op.getInput(), op.getInputScale(), zero}, op.getWeight(), op.getWeightScale(),
                              op.getWeightZeroPoint(), op.getBias());
  auto third = [&](int64_t i) { return g.slice(parts, 2, i * width, (i + 1) * width); };
  Value none;
  Type noType;
  auto attention = onnx::MSMultiHeadAttentionOp::create(
      rewriter, op.getLoc(), op.getOutput().getType(), noType, noType, noType, third(0), third(1), third(2), none, op.getMaskIndex(), none,
      none, none, none, none, op.getMaskFilterValueAttr(), op.getNumHeadsAttr(), op.getScaleAttr(), op.getUnidirectionalAttr());
  op.getOutput().replaceAllUsesWith(attention.getOutput());
  rewriter.eraseOp(op);
  return success();
}

// Elementwise ops on quantised values, op being the one on f32.
template <class Op>
static LogicalResult linearElements(Operation *op, PatternRewriter &rewriter) {
  auto byAxis = [](Value v) {
    return v && llvm::cast<ShapedType>(v.getType()).getRank() != 0 && onnx::constantValue(v).getNumElements() != 1;
  };
  for (unsigned i : {1, 2, 4, 5, 6, 7})
    if (!isConstant(onnx::operand(op, i)) || byAxis(onnx::operand(op, i)))
      return rewriter.notifyMatchFailure(op, "scales are not constant");
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  Value a = dequantise(rewriter, loc, onnx::operand(op, 0), onnx::operand(op, 1), onnx::operand(op, 2), 1);
  Value b = dequantise(rewriter, loc, onnx::operand(op, 3), onnx::operand(op, 4), onnx::operand(op, 5), 1);
  Value y = Op::create(rewriter, loc, single(rewriter, op->getResult(0)), a, b);
  rewriter.replaceOp(op, quantise(rewriter, loc, type, y, onnx::operand(op, 6), onnx::operand(op, 7)));
  return success();
}
static LogicalResult linearAdd(onnx::MSQLinearAddOp op, PatternRewriter &rewriter) { return linearElements<onnx::AddOp>(op, rewriter); }
static LogicalResult linearMul(onnx::MSQLinearMulOp op, PatternRewriter &rewriter) { return linearElements<onnx::MulOp>(op, rewriter); }

// One value that is quantised: `make` computes f32 from f32.
static LogicalResult linearUnary(Operation *op, PatternRewriter &rewriter, function_ref<Value(Type, Value)> make) {
  for (unsigned i : {1, 2, 3, 4})
    if (!isConstant(onnx::operand(op, i)))
      return rewriter.notifyMatchFailure(op, "scales are not constant");
  Value x = dequantise(rewriter, op->getLoc(), onnx::operand(op, 0), onnx::operand(op, 1), onnx::operand(op, 2), 1);
  Value y = make(single(rewriter, op->getResult(0)), x);
  rewriter.replaceOp(op, quantise(rewriter, op->getLoc(), op->getResult(0).getType(), y, onnx::operand(op, 3), onnx::operand(op, 4)));
  return success();
}
static LogicalResult linearSigmoid(onnx::MSQLinearSigmoidOp op, PatternRewriter &rewriter) {
  return linearUnary(op, rewriter, [&](Type type, Value x) { return onnx::SigmoidOp::create(rewriter, op.getLoc(), type, x); });
}
static LogicalResult linearLeakyRelu(onnx::MSQLinearLeakyReluOp op, PatternRewriter &rewriter) {
  return linearUnary(op, rewriter,
                     [&](Type type, Value x) { return onnx::LeakyReluOp::create(rewriter, op.getLoc(), type, x, op.getAlphaAttr()); });
}
static LogicalResult linearSoftmax(onnx::MSQLinearSoftmaxOp op, PatternRewriter &rewriter) {
  constexpr int64_t kAlongAxis = 13;  // older ones are over all axes from the one that is named
  if (int64_t(op.getOpset()) < kAlongAxis)
    return rewriter.notifyMatchFailure(op, "over several axes");
  auto scale = constantFloats(op.getYScale());
  if (!scale || scale->size() != 1 || !isConstant(op.getXScale()) || !isConstant(op.getXZeroPoint()) || !isConstant(op.getYZeroPoint()))
    return rewriter.notifyMatchFailure(op, "scales are not constant");
  Location loc = op.getLoc();
  Value x = dequantise(rewriter, loc, op.getX(), op.getXScale(), op.getXZeroPoint(), 1);
  Value y = onnx::SoftmaxOp::create(rewriter, loc, single(rewriter, op.getY()), x, op.getAxisAttr());
  float step = 1 / std::floor(1 / scale->front());  // a whole number of steps makes 1, as in ONNX Runtime
  rewriter.replaceOp(op, quantise(rewriter, loc, op.getY().getType(), y, GraphBuilder{rewriter, loc}.number(step), op.getYZeroPoint()));
  return success();
}
static LogicalResult linearMean(onnx::MSQLinearGlobalAveragePoolOp op, PatternRewriter &rewriter) {
  if (op.getChannelsLast())
    return rewriter.notifyMatchFailure(op, "channels are last");
  return linearUnary(op, rewriter, [&](Type type, Value x) { return onnx::GlobalAveragePoolOp::create(rewriter, op.getLoc(), type, x); });
}

// Channels that are last are second in a transposed value.
static LogicalResult withChannelsSecond(onnx::MSQLinearAveragePoolOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), y = rankedType(op.getY());
  if (!x || !y || x.getRank() < 3 || y.getRank() != x.getRank())
    return rewriter.notifyMatchFailure(op, "ranks are unknown");
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> second = llvm::to_vector(llvm::seq<int64_t>(0, x.getRank())), last = second;
  std::rotate(second.begin() + 1, second.end() - 1, second.end());
  std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  SmallVector<int64_t> shape = llvm::map_to_vector(second, [&](int64_t axis) { return y.getDimSize(axis); });
  Value moved = g.transpose(op.getX(), second);
  auto pool = llvm::cast<onnx::MSQLinearAveragePoolOp>(rewriter.clone(*op));
  pool.setChannelsLast(0);
  pool.getXMutable().assign(moved);
  pool.getY().setType(RankedTensorType::get(shape, y.getElementType()));
  rewriter.replaceOp(op, g.transpose(pool.getY(), last));
  return success();
}
static LogicalResult linearWindowMean(onnx::MSQLinearAveragePoolOp op, PatternRewriter &rewriter) {
  if (op.getChannelsLast())
    return withChannelsSecond(op, rewriter);
  return linearUnary(op, rewriter, [&](Type type, Value x) {
    return onnx::AveragePoolOp::create(rewriter, op.getLoc(), type, x, op.getAutoPadAttr(), op.getCeilModeAttr(),
                                       op.getCountIncludePadAttr(), DenseI64ArrayAttr(), op.getKernelShapeAttr(), op.getPadsAttr(),
                                       op.getStridesAttr());
  });
}

// Parts of the result's scale and zero point are joined as they are, others requantised, which is a table of bytes.
static LogicalResult linearConcat(onnx::MSQLinearConcatOp op, PatternRewriter &rewriter) {
  Value scale = op.getYScale(), zero = op.getYZeroPoint();
  ValueRange parts = op.getInputs();  // value, scale and zero point of each
  auto sameNumber = [](Value a, Value b) { return onnx::constantValue(a) == onnx::constantValue(b); };
  SmallVector<Value> numbers{scale, zero};
  for (size_t i = 0; i < parts.size(); ++i)
    if (i % 3 != 0)
      numbers.push_back(parts[i]);
  if (!llvm::all_of(numbers, isConstant) || !llvm::all_of(numbers, isOneNumber))
    return rewriter.notifyMatchFailure(op, "scales are not one constant each");
  SmallVector<Value> bytes;
  for (size_t i = 0; i + 2 < parts.size(); i += 3) {
    Value x = parts[i], s = scalarOrAxis(rewriter, parts[i + 1]), z = scalarOrAxis(rewriter, parts[i + 2]);
    bool isSame = sameNumber(s, scalarOrAxis(rewriter, scale)) && sameNumber(z, scalarOrAxis(rewriter, zero));
    Type type = llvm::cast<TensorType>(x.getType()).clone(onnx::elementType(op.getY()));
    bytes.push_back(isSame ? x : quantise(rewriter, x.getLoc(), type, dequantise(rewriter, x.getLoc(), x, s, z, 1), scale, zero));
  }
  rewriter.replaceOpWithNewOp<onnx::ConcatOp>(op, op.getY().getType(), bytes, op.getAxisAttr());
  return success();
}

static bool isPowerOfTwo(double x) {
  int exponent;
  return x > 0 && std::frexp(x, &exponent) == 0.5;
}
// Whether f32 holds each sum of weighted bytes of a linear Resize: scales of at most 2^6 in two axes put positions, and so weights, on
// multiples of 2^-7, and 8 + 2 * 7 bits are fewer than 24.
static bool isExactInSingle(onnx::ResizeOp op) {
  constexpr double kMost = 64;
  StringRef coordinates = op.getCoordinateTransformationMode();
  if (op.getMode() != "linear" || op.getAntialias() || op.getExcludeOutside() || op.getKeepAspectRatioPolicy() != "stretch" ||
      !llvm::is_contained({"half_pixel", "pytorch_half_pixel", "asymmetric"}, coordinates))
    return false;
  auto x = rankedType(op.getX()), y = rankedType(op.getY());
  SmallVector<double> scales;
  if (op.getSizes()) {
    if (!x || !y || !x.hasStaticShape() || !y.hasStaticShape())
      return false;
    for (auto [from, to] : llvm::zip_equal(x.getShape(), y.getShape()))
      scales.push_back(from == to ? 1 : double(to) / double(from));
  } else if (auto given = op.getScales() ? constantFloats(op.getScales()) : std::nullopt) {
    scales.assign(given->begin(), given->end());
  }
  auto changes = [](double s) { return s != 1; };
  return !scales.empty() && llvm::count_if(scales, changes) <= 2 &&
         llvm::all_of(scales, [&](double s) { return isPowerOfTwo(s) && s <= kMost && s >= 1 / kMost; });
}
static LogicalResult resizedBytes(onnx::ResizeOp op, PatternRewriter &rewriter) {
  Type byte = onnx::elementType(op.getX());
  if (!byte || !isByte(byte) || !isExactInSingle(op))
    return rewriter.notifyMatchFailure(op, "not between bytes, or f32 would round");
  Location loc = op.getLoc();
  Type to = single(rewriter, op.getY());
  Value x = GraphBuilder{rewriter, loc}.cast(op.getX(), rewriter.getF32Type());
  Operation *smooth = rewriter.clone(*op);
  smooth->setOperand(0, x);
  smooth->getResult(0).setType(to);
  Value y = onnx::RoundOp::create(rewriter, loc, to, smooth->getResult(0));
  rewriter.replaceOp(op, GraphBuilder{rewriter, loc}.as(op.getY().getType(), y));
  return success();
}

void populateDecomposeQuantPatterns(RewritePatternSet &patterns) {
  patterns.add(linearConv);
  patterns.add(linearMatMul);
  patterns.add(linearGemm);
  patterns.add(dynamicMatMul);
  patterns.add(integerMatMul);
  patterns.add(quantisedAttention);
  patterns.add(linearAdd);
  patterns.add(linearMul);
  patterns.add(linearSigmoid);
  patterns.add(linearLeakyRelu);
  patterns.add(linearSoftmax);
  patterns.add(linearMean);
  patterns.add(linearWindowMean);
  patterns.add(linearConcat);
  patterns.add(resizedBytes);
}
}  // namespace onnxc
