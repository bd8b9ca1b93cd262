// ByteSums.cpp: a sum of two dequantised values that is only quantised again, as the last step of the convolution that made one of them
// (packed.LinearConv's `other`): the residual of a quantised network. A step of the integer-contractions pass, behind its convolutions.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "passes/graph/IntegerSteps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {
namespace {

// A dequantised operand of the sum, and the convolution that nothing else reads the result of, where it is one.
struct Term {
  Value bytes;
  Scaling scaling;
  onnx::PackedLinearConvOp conv;
};

std::optional<Term> termOf(Value v) {
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  auto scaling = dq ? scalingOf(dq) : std::nullopt;
  if (!scaling)
    return std::nullopt;
  Term t{dq.getX(), *scaling, {}};
  auto unblock = t.bytes.getDefiningOp<onnx::PackedUnblockOp>();
  if (unblock && dq->hasOneUse() && unblock->hasOneUse() && unblock.getX().hasOneUse())
    t.conv = unblock.getX().getDefiningOp<onnx::PackedLinearConvOp>();
  bool takes =
      t.conv && !t.conv.getTable() && !t.conv.getOther() && t.conv.getChannels() && float(int64_t(t.conv.getZero())) == scaling->zero;
  if (!takes)
    t.conv = {};
  return t;
}

Value blocked(PatternRewriter &rewriter, Value v) {
  if (auto unblock = v.getDefiningOp<onnx::PackedUnblockOp>())
    return unblock.getX();
  return onnx::PackedBlockOp::create(rewriter, v.getLoc(), onnx::blockedType(cast<RankedTensorType>(v.getType())), v);
}

// The value that the first axis of `v` is that of.
Value batchOf(Value v) {
  static const llvm::StringSet<> keep = {"packed.Block",
                                         "packed.Unblock",
                                         "packed.LinearConv",
                                         "packed.ByteTable",
                                         "packed.BytePool",
                                         "MaxPool",
                                         "QuantizeLinear",
                                         "DequantizeLinear",
                                         "Relu",
                                         "Clip"};
  for (Operation *op = v.getDefiningOp(); op && onnx::isOnnx(op) && keep.contains(onnx::opName(op)); op = v.getDefiningOp())
    v = op->getOperand(0);
  return v;
}

// Whether images `a` and `b` have the same shape in every run.
bool sameShape(Value a, Value b) {
  auto left = rankedType(a), right = rankedType(b);
  if (!left || !right || left.getShape() != right.getShape() || left.getRank() != 4)
    return false;
  bool known = RankedTensorType::get(left.getShape().drop_front(), left.getElementType()).hasStaticShape();
  return known && (!left.isDynamicDim(0) || batchOf(a) == batchOf(b));
}

// What becomes of two bytes: packed.LinearConv's `sum`, and the values that its result and `other` have.
struct ByteSum {
  float own, from, scale, step, to, low, high;
  Limits result, other;  // result: less its zero point

  // The steps above `to` of all pairs of bytes, those of one result after the other.
  std::vector<float> steps() const {
    assert(result.least <= result.most && other.least <= other.most && "a proof over no pair");
    std::vector<float> all;
    for (float a = result.least; a <= result.most; ++a)
      for (float b = other.least; b <= other.most; ++b) {
        float left = a * own;  // each operation rounds: no fused ones
        float right = (b - from) * scale;
        float both = left + right;
        all.push_back(clipped(both / step));
      }
    return all;
  }
  float clipped(float v) const { return std::clamp(std::nearbyint(v), low - to, high - to); }
  bool agrees(const std::array<float, 3> &numbers, ArrayRef<float> wanted) const {
    size_t i = 0;
    for (float a = result.least; a <= result.most; ++a)
      for (float b = other.least; b <= other.most; ++b)
        if (clipped(std::fma(a, numbers[0], std::fma(b, numbers[1], numbers[2]))) != wanted[i++])
          return false;
    return true;
  }
  // packed.LinearConv's `joined`. The nearest numbers put a pair or two, whose sum is as good as between two steps, on the wrong side;
  // numbers an ulp or a few beside them, and addends that move such sums by their own rounding (2^-17 and less), put others there.
  std::optional<std::array<float, 3>> joined() const {
    constexpr double ulp = 0x1p-23, shift = 0x1p-18;
    constexpr int beside[] = {0, 1, -1, 2, -2};
    std::vector<float> wanted = steps();
    double p = double(own) / step, q = double(scale) / step, r = -from * q;
    for (int third : beside)
      for (int second : beside)
        for (int first : beside) {
          std::array<float, 3> numbers = {float(p + first * p * ulp), float(q + second * q * ulp), float(r + third * shift)};
          if (agrees(numbers, wanted))
            return numbers;
        }
    return std::nullopt;
  }
};

LogicalResult sumOfConv(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto to = scalingOf(op);
  Operation *from = op.getX().getDefiningOp();
  auto bounds = from && from->hasOneUse() ? boundsOf(from) : std::nullopt;
  auto add = bounds ? from->getOperand(0).getDefiningOp<onnx::AddOp>() : dyn_cast_or_null<onnx::AddOp>(from);
  auto left = add && add->hasOneUse() ? termOf(add.getA()) : std::nullopt, right = left ? termOf(add.getB()) : left;
  if (!to || !right)
    return rewriter.notifyMatchFailure(op, "not of a sum of two dequantised values");
  if (!left->conv || (right->conv && left->conv->getBlock() == right->conv->getBlock() && left->conv->isBeforeInBlock(right->conv)))
    std::swap(left, right);  // the later one finds the other's result
  auto type = rankedType(op);
  if (!left->conv || !type || !sameShape(left->bytes, right->bytes) || left->bytes.getType() != type.clone(onnx::elementType(left->bytes)))
    return rewriter.notifyMatchFailure(op, "not what a convolution can add to its result");
  Limits limits = limitsOf(type.getElementType());
  float zero = left->scaling.zero;
  ByteSum sum{left->scaling.scale,
              right->scaling.zero,
              right->scaling.scale,
              to->scale,
              to->zero,
              bounds ? inSteps(bounds->first, *to, type.getElementType()) : limits.least,
              bounds ? inSteps(bounds->second, *to, type.getElementType()) : limits.most,
              {float(int64_t(left->conv.getLeast())) - zero, float(int64_t(left->conv.getMost())) - zero},
              limitsOf(onnx::elementType(right->bytes))};
  Value added = blocked(rewriter, right->bytes);
  auto conv = cast<onnx::PackedLinearConvOp>(rewriter.clone(*left->conv));
  conv.getOtherMutable().assign(added);
  conv.setSumAttr(rewriter.getDenseF32ArrayAttr({sum.own, sum.from, sum.scale, sum.step, sum.to, sum.low, sum.high}));
  if (auto joined = sum.joined())
    conv.setJoinedAttr(rewriter.getDenseF32ArrayAttr(*joined));
  conv->getResult(0).setType(cast<TensorType>(left->conv.getType()).clone(type.getElementType()));
  rewriter.replaceOpWithNewOp<onnx::PackedUnblockOp>(op, type, conv.getY(), rewriter.getI64IntegerAttr(type.getDimSize(1)));
  return success();
}

}  // namespace

void populateByteSumPatterns(RewritePatternSet &patterns) { patterns.add(sumOfConv); }

}  // namespace onnxc
