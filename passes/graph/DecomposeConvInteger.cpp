// DecomposeConvInteger.cpp: ConvInteger with constant weights as one of bytes with a result of f32, or where there is no such kernel as one
// of f32, whose sums are exact below 2^24; where they may be larger, only if all that reads them casts them to f32, of which they keep the
// accuracy. One of the groups of Decompose.cpp.
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
    if (sum >= 16777216)
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

static LogicalResult convInteger(onnx::ConvIntegerOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  auto zeroType = rankedType(op.getXZeroPoint());
  bool oneZero = !op.getXZeroPoint() || (zeroType && zeroType.hasStaticShape() && zeroType.getNumElements() == 1);
  auto weights =
      x && w && y && oneZero && w.hasStaticShape() && w.getRank() >= 3 && w.getDimSize(0) > 0 ? centred(op, w.getDimSize(0)) : std::nullopt;
  if (!weights)
    return rewriter.notifyMatchFailure(op, "weights that only the run knows");
  bool asFloats =
      llvm::all_of(op->getUsers(), [](Operation *u) { return llvm::isa<onnx::CastOp>(u) && onnx::elementType(u->getResult(0)).isF32(); });
  if (!asFloats && !staysExact(*weights, w.getDimSize(0)))
    return rewriter.notifyMatchFailure(op, "sums that f32 may not hold");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  Type f32 = rewriter.getF32Type();
  Value sums = convOfBytes(op, rewriter);
  if (!sums) {
    Value data = g.cast(op.getX(), f32);
    if (op.getXZeroPoint()) {
      Value zero = g.cast(op.getXZeroPoint(), f32);
      data = onnx::SubOp::create(rewriter, loc, data.getType(), data, zeroType.getRank() == 0 ? zero : g.reshape(zero, {1}));
    }
    auto conv =
        onnx::ConvOp::create(rewriter, loc, y.clone(f32), data, g.floats(w.getShape(), *weights), Value(), op.getAutoPadAttr(),
                             op.getDilationsAttr(), op.getGroupAttr(), op.getKernelShapeAttr(), op.getPadsAttr(), op.getStridesAttr());
    conv->setAttr(onnx::kExactAttr, rewriter.getUnitAttr());
    sums = conv.getY();
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

void populateDecomposeConvIntegerPatterns(RewritePatternSet &patterns) { patterns.add(convInteger); }

}  // namespace onnxc
