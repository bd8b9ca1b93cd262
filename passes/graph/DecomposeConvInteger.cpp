// DecomposeConvInteger.cpp: ConvInteger with constant weights as one of bytes with a result of f32, or where there is no such kernel as one
// of f32, whose sums are exact below 2^24; where they may be larger, only if all that reads them casts them to f32, of which they keep the
// accuracy. Weights of the run are those of f32 too, in two parts where sums need it. One of the groups of Decompose.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {

// Weights minus their zero points, one or one for each output.
static std::optional<std::vector<float>> centred(onnx::ConvIntegerOp op, int64_t outputs) {
  auto w = constantIntegers(op.getW());
  auto zero = op.getWZeroPoint() ? constantIntegers(op.getWZeroPoint()) : std::vector<float>{0.f};
  if (!w || !zero || w->empty() || (zero->size() != 1 && int64_t(zero->size()) != outputs))
    return std::nullopt;
  int64_t each = int64_t(w->size()) / outputs;
  for (size_t i = 0; i < w->size(); ++i)
    (*w)[i] -= ofChannel(*zero, int64_t(i) / each);
  return w;
}

// Whether no sum of products with values up to 255 leaves what f32 holds exactly.
static bool staysExact(ArrayRef<float> w, int64_t outputs) {
  int64_t each = int64_t(w.size()) / outputs;
  for (int64_t o = 0; o < outputs; ++o) {
    double sum = 0;
    for (float f : w.slice(o * each, each))
      sum += std::abs(f) * 255.0;
    if (sum >= kExactBelow)
      return false;
  }
  return true;
}

// The sums in f32, of products of bytes; null where the kernel is not made for them.
static Value convOfBytes(onnx::ConvIntegerOp op, PatternRewriter &rewriter) {
  auto wZero = op.getWZeroPoint() ? constantIntegers(op.getWZeroPoint()) : std::vector<float>{0.f};
  auto xZero = op.getXZeroPoint() ? constantIntegers(op.getXZeroPoint()) : std::vector<float>{0.f};
  if (!wZero || (xZero && xZero->size() != 1) || rankedType(op.getY()).isDynamicDim(1))
    return {};
  LinearConv c{op, op.getX(), op.getW(), xZero ? int32_t(xZero->front()) : 0, *wZero, {1.f}, {}, rewriter.getF32Type()};
  c.runZero = xZero ? Value() : op.getXZeroPoint();
  return linearConvolution(rewriter, c);
}

// Bytes minus their zero points in f32, of which `shape` says how they broadcast.
static Value centredFloats(GraphBuilder g, Value bytes, Value zero, ArrayRef<int64_t> shape) {
  Type f32 = g.b.getF32Type();
  Value data = g.cast(bytes, f32);
  return zero ? Value(onnx::SubOp::create(g.b, g.loc, data.getType(), data, g.reshape(g.cast(zero, f32), shape))) : data;
}

static Value exactConv(GraphBuilder g, onnx::ConvIntegerOp op, Value data, Value filters) {
  Type type = cast<ShapedType>(op.getY().getType()).clone(g.b.getF32Type());
  auto conv = onnx::ConvOp::create(g.b, g.loc, type, data, filters, Value(), op.getAutoPadAttr(), op.getDilationsAttr(), op.getGroupAttr(),
                                   op.getKernelShapeAttr(), op.getPadsAttr(), op.getStridesAttr());
  conv->setAttr(onnx::kExactAttr, g.b.getUnitAttr());
  return conv.getY();
}

static bool isOneNumber(Value zero) {
  auto type = rankedType(zero);
  return !zero || (type && type.hasStaticShape() && type.getNumElements() == 1);
}

// Weights of the run, or known ones of large sums, which are 16 times one part and the other where sums of all products might leave what
// f32 holds.
static LogicalResult convOfFloats(onnx::ConvIntegerOp op, PatternRewriter &rewriter) {
  constexpr double most = 255, part = 16;
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY()), zeros = rankedType(op.getWZeroPoint());
  if (!x || !w || !y || !w.hasStaticShape() || w.getRank() < 3 || w.getNumElements() == 0 || !isOneNumber(op.getXZeroPoint()))
    return rewriter.notifyMatchFailure(op, "weights of unknown sizes, or several zero points of data");
  int64_t outputs = w.getDimSize(0);
  double depth = double(w.getNumElements() / outputs);
  if (op.getWZeroPoint() && !isOneNumber(op.getWZeroPoint()) && !(zeros && zeros.hasStaticShape() && zeros.getNumElements() == outputs))
    return rewriter.notifyMatchFailure(op, "zero points of unknown sizes");
  bool parts = depth * most * most >= kExactBelow;
  if (depth * most * part >= kExactBelow)
    return rewriter.notifyMatchFailure(op, "sums that f32 may not hold");
  GraphBuilder g{rewriter, op.getLoc()};
  SmallVector<int64_t> ofOutputs(w.getRank(), 1);
  ofOutputs[0] = -1;
  Value data = centredFloats(g, op.getX(), op.getXZeroPoint(), {1});
  Value filters = centredFloats(g, op.getW(), op.getWZeroPoint(), ofOutputs);
  if (!parts) {
    rewriter.replaceOp(op, g.as(y, exactConv(g, op, data, filters)));
    return success();
  }
  Type type = filters.getType();
  auto scaled = [&](Value v, float by) -> Value { return onnx::MulOp::create(rewriter, g.loc, v.getType(), v, g.number(by)); };
  Value high = onnx::FloorOp::create(rewriter, g.loc, type, scaled(filters, 1 / part));
  Value low = onnx::SubOp::create(rewriter, g.loc, type, filters, scaled(high, part));
  Type i32 = y.getElementType();
  Value sixteen = g.integers<int32_t>({}, {int32_t(part)});
  Value sums = onnx::MulOp::create(rewriter, g.loc, y, g.cast(exactConv(g, op, data, high), i32), sixteen);
  rewriter.replaceOpWithNewOp<onnx::AddOp>(op, y, sums, g.cast(exactConv(g, op, data, low), i32));
  return success();
}

static LogicalResult convInteger(onnx::ConvIntegerOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  auto weights = x && w && y && isOneNumber(op.getXZeroPoint()) && w.hasStaticShape() && w.getRank() >= 3 && w.getDimSize(0) > 0
                     ? centred(op, w.getDimSize(0))
                     : std::nullopt;
  if (!weights)
    return rewriter.notifyMatchFailure(op, "weights that only the run knows");
  bool asFloats =
      llvm::all_of(op->getUsers(), [](Operation *u) { return llvm::isa<onnx::CastOp>(u) && onnx::elementType(u->getResult(0)).isF32(); });
  if (!asFloats && !staysExact(*weights, w.getDimSize(0)))
    return rewriter.notifyMatchFailure(op, "sums that f32 may not hold");
  GraphBuilder g{rewriter, op.getLoc()};
  Value sums = convOfBytes(op, rewriter);
  if (!sums) {
    Value data = centredFloats(g, op.getX(), op.getXZeroPoint(), {1});
    sums = exactConv(g, op, data, g.floats(w.getShape(), *weights));
  }
  if (!asFloats) {
    rewriter.replaceOp(op, g.as(op.getY().getType(), sums));
    return success();
  }
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    rewriter.replaceOp(user, sums);
  rewriter.eraseOp(op);
  return success();
}

void populateDecomposeConvIntegerPatterns(RewritePatternSet &patterns) { patterns.add(convInteger, /*benefit=*/2).add(convOfFloats); }

}  // namespace onnxc
