// ScaledProducts.cpp: products of f32 rows with matrices that were quantised alone, integers less a zero point times a scale for all or
// for each column. What multiplies the rows are the integers, which pack-weights stores in 8 or 16 bits; the scales multiply the results.
// Results beyond 3e38 before they are scaled are infinite, and an infinity in a row may make NaN of its results. Weights less their zero
// points may be no bytes: then zero points near the middle of their type multiply the sums of the rows. Part of the integer-contractions
// pass, after what multiplies bytes by them.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kManyWeights = 65536;  // of a matrix; fewer are folded

// Rows times B with columns along one axis: (rows * integers + sum of a row * offsets) * scales, of one number or one a column each.
// `offsets` is null where the integers are whole weights, `scales` where they are 1.
struct ScaledMatrix {
  Value integers, offsets, scales;
};

// What bytes hold of weights whose zero points lie near the middle: the weights less that, if all of them less their zero points are no
// bytes. Zero points further off would cost digits.
std::optional<float> middleOf(Type element, ArrayRef<float> weights, ArrayRef<float> zeros, llvm::function_ref<float(size_t)> zeroOf) {
  constexpr float mostOffset = 32;
  float middle = element.isUnsignedInteger() ? 128 : 0;
  auto fits = [&](auto indexed) {
    float v = indexed.value() - zeroOf(indexed.index());
    return v >= -128 && v <= 127;
  };
  bool isNear = llvm::all_of(zeros, [&](float zero) { return std::abs(zero - middle) <= mostOffset; });
  if (!isNear || llvm::all_of(llvm::enumerate(weights), fits))
    return std::nullopt;
  return middle;
}

std::optional<ScaledMatrix> scaledMatrix(PatternRewriter &rewriter, Value b, int64_t columnAxis, float factor) {
  if (!isScaledMatrix(b, columnAxis))
    return std::nullopt;
  auto dq = b.getDefiningOp<onnx::DequantizeLinearOp>();
  auto type = rankedType(dq.getX());
  auto weights = constantIntegers(dq.getX()), scales = constantFloats(dq.getXScale());
  auto zeros = dq.getXZeroPoint() ? constantIntegers(dq.getXZeroPoint()) : std::vector<float>{0};
  if (!weights || !zeros || !scales)
    return std::nullopt;
  int64_t columns = type.getDimSize(columnAxis), step = columnAxis == 0 ? type.getDimSize(1) : 1;
  if (zeros->size() != 1 && int64_t(zeros->size()) != columns)
    return std::nullopt;
  auto zeroOf = [&](size_t i) { return ofChannel(*zeros, int64_t(i) / step % columns); };
  auto middle = middleOf(type.getElementType(), *weights, *zeros, zeroOf);
  for (auto [i, v] : llvm::enumerate(*weights))
    v -= middle ? *middle : zeroOf(i);
  for (float &scale : *scales)
    scale *= factor;
  GraphBuilder g{rewriter, b.getLoc()};
  auto row = [&](std::vector<float> values) { return g.floats({int64_t(values.size())}, std::move(values)); };
  ScaledMatrix result{g.floats(type.getShape(), std::move(*weights)), Value(), Value()};
  if (llvm::any_of(*scales, [](float scale) { return scale != 1; }))
    result.scales = row(std::move(*scales));
  if (middle) {
    for (float &zero : *zeros)
      zero = *middle - zero;
    result.offsets = row(std::move(*zeros));
  }
  return result;
}

// `product`, of rows `a` with the integers, as a product with the weights.
Value scaledProduct(PatternRewriter &rewriter, Value product, Value a, const ScaledMatrix &b) {
  Type type = product.getType();
  Location loc = product.getLoc();
  if (b.offsets) {
    GraphBuilder g{rewriter, loc};
    int64_t last = rankedType(a).getRank() - 1;
    Value sums = g.unsqueeze(g.sum(a, {last}), {last});
    product = onnx::AddOp::create(rewriter, loc, type, product, onnx::MulOp::create(rewriter, loc, type, sums, b.offsets));
  }
  return b.scales ? Value(onnx::MulOp::create(rewriter, loc, type, product, b.scales)) : product;
}

// MatMul(a, DequantizeLinear(q)) = MatMul(a, q - zero) * scale
LogicalResult scaleProduct(onnx::MatMulOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA());
  auto b = a && a.getElementType().isF32() && a.getRank() > 1 ? scaledMatrix(rewriter, op.getB(), 1, 1) : std::nullopt;
  if (!b)
    return rewriter.notifyMatchFailure(op, "no f32 rows times a quantised matrix");
  Value product = onnx::MatMulOp::create(rewriter, op.getLoc(), op.getType(), op.getA(), b->integers);
  rewriter.replaceOp(op, scaledProduct(rewriter, product, op.getA(), *b));
  return success();
}

// Gemm(a, DequantizeLinear(q), c) = Gemm(a, q - zero) * alpha scale + beta c
LogicalResult scaleGemm(onnx::GemmOp op, PatternRewriter &rewriter) {
  auto a = rankedType(op.getA());
  bool isRows = a && a.getElementType().isF32() && !op.getTransA();
  auto b = isRows ? scaledMatrix(rewriter, op.getB(), !op.getTransB(), op.getAlpha().convertToFloat()) : std::nullopt;
  if (!b)
    return rewriter.notifyMatchFailure(op, "no f32 rows times a quantised matrix");
  Location loc = op.getLoc();
  auto one = rewriter.getF32FloatAttr(1);
  Value product =
      onnx::GemmOp::create(rewriter, loc, op.getType(), op.getA(), b->integers, Value(), one, one, op.getTransAAttr(), op.getTransBAttr());
  Value result = scaledProduct(rewriter, product, op.getA(), *b), c = op.getC();
  float beta = op.getBeta().convertToFloat();
  if (c && beta != 1)
    c = onnx::MulOp::create(rewriter, loc, c.getType(), c, GraphBuilder{rewriter, loc}.number(beta));
  if (c)
    result = onnx::AddOp::create(rewriter, loc, op.getType(), result, c);
  rewriter.replaceOp(op, result);
  return success();
}

}  // namespace

bool isScaledMatrix(Value dequantised, int64_t columnAxis) {
  auto dq = dequantised.getDefiningOp<onnx::DequantizeLinearOp>();
  auto x = dq ? rankedType(dq.getX()) : RankedTensorType(), scale = dq ? rankedType(dq.getXScale()) : RankedTensorType();
  if (!x || !scale || !scale.hasStaticShape() || !onnx::constantValue(dq.getX()) || !onnx::constantValue(dq.getXScale()) ||
      (dq.getXZeroPoint() && !onnx::constantValue(dq.getXZeroPoint())))
    return false;
  bool isShort = isByte(x.getElementType()) || x.getElementType().isInteger(4);
  bool isMany = x.getRank() == 2 && x.getNumElements() >= kManyWeights;
  bool byColumn = scale.getNumElements() == 1 ||
                  (scale.getRank() == 1 && onnx::axisAttr(dq, 2) == columnAxis && scale.getDimSize(0) == x.getDimSize(columnAxis));
  return isShort && isMany && byColumn && scale.getElementType().isF32() && dq.getBlockSize() == 0 && onnx::elementType(dq.getY()).isF32();
}

void populateScaledProductPatterns(RewritePatternSet &patterns) {
  patterns.add(scaleProduct);
  patterns.add(scaleGemm);
}

}  // namespace onnxc
