// ByteTables.cpp: a quantisation whose value depends on one byte alone, through elementwise ops and other quantisations, as a table of its
// 256 results. Beside ByteMoves.cpp in the integer-contractions pass.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <array>
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

using Table = std::array<float, 256>;  // of a value, for each bit pattern of the source
using Values = std::optional<Table>;

struct Evaluator {
  Value source;
  llvm::DenseMap<Value, Values> known;

  Values of(Value v);
  Values compute(Value v);
  Values dequantised(onnx::DequantizeLinearOp op);
  Values bytes(Value v);
  Values constant(Value v);
  Values elementwise(Operation *op);
};

Values Evaluator::constant(Value v) {
  auto values = constantFloats(v);
  auto type = rankedType(v);
  if (!values || values->size() != 1 || type.getRank() > cast<RankedTensorType>(source.getType()).getRank())
    return std::nullopt;
  Table t;
  t.fill(values->front());
  return t;
}

// A value of bytes: what is before its quantisation depends on the source, or it is the source.
Values Evaluator::bytes(Value v) {
  if (auto q = v.getDefiningOp<onnx::QuantizeLinearOp>()) {
    auto s = scalingOf(q);
    Values x = s && v != source ? of(q.getX()) : std::nullopt;
    if (x) {
      for (float &f : *x)
        f = inSteps(f, *s, onnx::elementType(q.getY()));
      return x;
    }
  }
  if (v != source)
    return std::nullopt;
  Table t;
  bool isSigned = onnx::elementType(v).isSignlessInteger();
  for (int i = 0; i < 256; ++i)
    t[i] = isSigned ? float(int8_t(i)) : float(i);
  return t;
}

Values Evaluator::dequantised(onnx::DequantizeLinearOp op) {
  auto s = scalingOf(op);
  Values t = s ? bytes(op.getX()) : std::nullopt;
  if (t)
    for (float &f : *t)
      f = (f - s->zero) * s->scale;
  return t;
}

// Functions of libm in double: what is left of a host's own rounding is lost when the result becomes a float.
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

using Unary = float (*)(float x, float a, float b);
// `a`, `b`: the attributes alpha and beta.
Unary unary(StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("Sigmoid", [](float x, float, float) { return float(sigmoid(x)); })
      .Cases("Swish", "ms.QuickGelu", [](float x, float a, float) { return float(x * sigmoid(double(a) * x)); })
      .Case("Tanh", [](float x, float, float) { return float(std::tanh(double(x))); })
      .Case("Exp", [](float x, float, float) { return float(std::exp(double(x))); })
      .Case("Erf", [](float x, float, float) { return float(std::erf(double(x))); })
      .Case("Abs", [](float x, float, float) { return std::fabs(x); })
      .Case("Neg", [](float x, float, float) { return -x; })
      .Case("Relu", [](float x, float, float) { return x > 0 ? x : 0; })
      .Case("LeakyRelu", [](float x, float a, float) { return x < 0 ? a * x : x; })
      .Case("Elu", [](float x, float a, float) { return x < 0 ? float(a * std::expm1(double(x))) : x; })
      .Case("Softplus", [](float x, float, float) { return float(std::max(double(x), 0.0) + std::log1p(std::exp(-std::fabs(double(x))))); })
      .Case("HardSigmoid", [](float x, float a, float b) { return std::clamp(a * x + b, 0.0f, 1.0f); })
      .Case("HardSwish", [](float x, float, float) { return x * std::clamp(x / 6 + 0.5f, 0.0f, 1.0f); })
      .Case("Gelu", [](float x, float, float) { return float(0.5 * x * (1 + std::erf(x * 0.70710678118654752))); })
      .Default(nullptr);
}
using Binary = float (*)(float x, float y);
Binary binary(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("Add", [](float x, float y) { return x + y; })
      .Case("Sub", [](float x, float y) { return x - y; })
      .Case("Mul", [](float x, float y) { return x * y; })
      .Case("Div", [](float x, float y) { return x / y; })
      .Case("Max", [](float x, float y) { return x > y ? x : y; })
      .Case("Min", [](float x, float y) { return x < y ? x : y; })
      .Default(nullptr);
}

Values Evaluator::elementwise(Operation *op) {
  StringRef name = onnx::opName(op);
  bool clip = name == "Clip";
  Unary one = onnx::strAttr(op, "approximate", "none") == "none" ? unary(name) : nullptr;
  Binary two = binary(name);
  if (!(one && op->getNumOperands() == 1) && !(two && op->getNumOperands() == 2) && !clip)
    return std::nullopt;
  Values x = of(op->getOperand(0)), y = two ? of(op->getOperand(1)) : Values(Table());
  Values low = clip && onnx::operand(op, 1) ? constant(onnx::operand(op, 1)) : y,
         high = clip && onnx::operand(op, 2) ? constant(onnx::operand(op, 2)) : y;
  if (!x || !y || !low || !high)
    return std::nullopt;
  for (int i = 0; i < 256; ++i) {
    float &f = (*x)[i];
    if (clip) {
      f = onnx::operand(op, 1) && f < (*low)[i] ? (*low)[i] : f;
      f = onnx::operand(op, 2) && f > (*high)[i] ? (*high)[i] : f;
    } else {
      f = one ? one(f, float(onnx::floatAttr(op, "alpha", 0)), float(onnx::floatAttr(op, "beta", 0))) : two(f, (*y)[i]);
    }
  }
  return x;
}

Values Evaluator::compute(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || !onnx::isOnnx(op) || op->getNumResults() != 1 || !onnx::elementType(v) || !onnx::elementType(v).isF32())
    return std::nullopt;
  if (onnx::constantValue(v))
    return constant(v);
  if (auto dq = dyn_cast<onnx::DequantizeLinearOp>(op))
    return dequantised(dq);
  return elementwise(op);
}
Values Evaluator::of(Value v) {
  constexpr size_t kMost = 32;  // values looked at
  auto at = known.find(v);
  if (at != known.end())
    return at->second;
  if (known.size() >= kMost)
    return std::nullopt;
  known.try_emplace(v, std::nullopt);
  Values result = compute(v);
  return known[v] = result;
}

// Bytes that `v` may depend on, found along first operands; the farthest first.
SmallVector<Value> sourcesOf(Value v) {
  SmallVector<Value> found;
  for (int steps = 0; steps < 32; ++steps) {
    Operation *op = v.getDefiningOp();
    if (!op || !onnx::isOnnx(op) || op->getNumOperands() == 0)
      break;
    v = op->getOperand(0);
    if (onnx::constantValue(v) && op->getNumOperands() > 1)
      v = op->getOperand(1);
    if (isa<onnx::DequantizeLinearOp>(op))
      found.insert(found.begin(), v);
    else if (!isa<onnx::QuantizeLinearOp>(op) && !unary(onnx::opName(op)) && !binary(onnx::opName(op)) && onnx::opName(op) != "Clip")
      break;
  }
  return found;
}

LogicalResult table(onnx::QuantizeLinearOp op, PatternRewriter &rewriter) {
  auto s = scalingOf(op);
  if (!s)
    return rewriter.notifyMatchFailure(op, "not to bytes with one constant scale");
  for (Value source : sourcesOf(op.getX())) {
    auto type = rankedType(source), result = rankedType(op.getY());
    if (!type || !result || onnx::constantValue(source) || !(type.getElementType().isInteger(8)) || type.getShape() != result.getShape())
      continue;
    Evaluator evaluator;
    evaluator.source = source;
    Values values = evaluator.of(op.getX());
    if (!values || !llvm::all_of(*values, [](float f) { return std::isfinite(f); }))
      continue;
    std::vector<char> bytes;
    for (float f : *values)
      bytes.push_back(char(int(inSteps(f, *s, onnx::elementType(op.getY())))));
    Value constant =
        onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(RankedTensorType::get({256}, result.getElementType()), bytes));
    rewriter.replaceOpWithNewOp<onnx::PackedByteTableOp>(op, op.getType(), source, constant);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "depends on more than one byte");
}

// A convolution looks its own results up.
LogicalResult tableOfConv(onnx::PackedByteTableOp op, PatternRewriter &rewriter) {
  auto unblock = op.getX().getDefiningOp<onnx::PackedUnblockOp>();
  auto conv = unblock && unblock->hasOneUse() ? unblock.getX().getDefiningOp<onnx::PackedLinearConvOp>() : onnx::PackedLinearConvOp();
  if (!conv || !conv->hasOneUse() || conv.getTable())
    return rewriter.notifyMatchFailure(op, "not the only use of a convolution");
  Type element = onnx::elementType(op.getY());
  auto next = cast<onnx::PackedLinearConvOp>(rewriter.clone(*conv));
  next.getTableMutable().assign(op.getTable());
  next->getResult(0).setType(cast<TensorType>(conv.getType()).clone(element));
  rewriter.replaceOpWithNewOp<onnx::PackedUnblockOp>(op, op.getType(), next->getResult(0), unblock.getChannelsAttr());
  return success();
}

}  // namespace

void populateByteTablePatterns(RewritePatternSet &patterns) { patterns.add(table); }
void populateTableOfConvPatterns(RewritePatternSet &patterns) { patterns.add(tableOfConv); }

}  // namespace onnxc
