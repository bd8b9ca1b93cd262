// LinearConvolutions.cpp: a 2-D convolution of dequantised values that is quantised again as QLinearConv on bytes, with its operands as
// runtime_stub/kernels/FastIntegerConv.cpp takes them. The first step of the integer-contractions pass, which writes the others as sums in
// f32.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kColumns = 64, kQuad = 4;  // output channels of a panel, input channels side by side

template <class T>
Value constant(PatternRewriter &rewriter, Location loc, Type element, ArrayRef<int64_t> shape, ArrayRef<T> values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  memcpy(bytes.data(), values.data(), bytes.size());
  return onnx::ConstantOp::create(rewriter, loc, makeConstant(RankedTensorType::get(shape, element), std::move(bytes)));
}

// [O, C, KH, KW] as [O / 64, KH, KW, C / 4, 64, 4] under the old type.
std::vector<int8_t> panels(ArrayRef<char> from, ArrayRef<int64_t> shape) {
  std::vector<int8_t> to(from.size());
  int64_t outputs = shape[0], channels = shape[1], taps = shape[2] * shape[3];
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        to[(((o / kColumns * taps + t) * (channels / kQuad) + c / kQuad) * kColumns + o % kColumns) * kQuad + c % kQuad] =
            int8_t(from[(o * channels + c) * taps + t]);
  return to;
}

// What must be added to each sum for the zero point of the data.
std::vector<int32_t> corrections(ArrayRef<char> weights, int64_t outputs, int32_t zero) {
  std::vector<int32_t> result(outputs);
  int64_t each = int64_t(weights.size()) / outputs;
  for (int64_t i = 0; i < int64_t(weights.size()); ++i)
    result[i / each] -= int32_t(int8_t(weights[i])) * zero;
  return result;
}

bool isPlain(onnx::ConvOp op) {
  auto ones = [](std::optional<ArrayRef<int64_t>> list) { return !list || llvm::all_of(*list, [](int64_t i) { return i == 1; }); };
  auto positive = [](std::optional<ArrayRef<int64_t>> list) { return !list || llvm::all_of(*list, [](int64_t i) { return i >= 0; }); };
  return op.getGroup() == 1 && op.getAutoPad() == "NOTSET" && ones(op.getDilations()) && positive(op.getPads());
}

}  // namespace

bool linearConvolution(PatternRewriter &rewriter, LinearConv c) {
  auto x = dyn_cast<RankedTensorType>(c.x.getType()), w = dyn_cast<RankedTensorType>(c.w.getType());
  auto bytes = constantBytes(onnx::constantValue(c.w));
  if (!x || x.getRank() != 4 || !w || w.getRank() != 4 || !w.getElementType().isSignlessInteger(8) || !bytes || !isPlain(c.op) ||
      w.getDimSize(0) % kColumns || w.getDimSize(1) % kQuad || bytes->empty())
    return false;
  rewriter.setInsertionPoint(c.quantise);
  Location loc = c.op.getLoc();
  int64_t n = w.getDimSize(0);
  Type single = rewriter.getF32Type(), byte = rewriter.getI8Type(), whole = rewriter.getI32Type();
  bool isSigned = x.getElementType().isSignlessInteger(), toSigned = onnx::elementType(c.quantise.getY()).isSignlessInteger();
  auto zeroOf = [&](Type like, int32_t zero) { return constant<char>(rewriter, loc, getElementTypeOrSelf(like), {}, {char(zero)}); };
  Value one = constant<float>(rewriter, loc, single, {}, {1.f}), xZero = zeroOf(x, c.xZero),
        yZero = zeroOf(c.quantise.getY().getType(), c.yZero);
  Value weights = constant<int8_t>(rewriter, loc, byte, w.getShape(), panels(*bytes, w.getShape()));
  Value factors = constant<float>(rewriter, loc, single, {n}, c.factors), bias = constant<float>(rewriter, loc, single, {n}, c.bias);
  Value fix = constant<int32_t>(rewriter, loc, whole, {n}, corrections(*bytes, n, c.xZero + (isSigned ? 128 : 0)));
  int64_t least = toSigned ? -128 : 0;
  auto y =
      onnx::QLinearConvOp::create(rewriter, loc, c.quantise.getY().getType(), c.x, one, xZero, weights, factors, fix, one, yZero, bias,
                                  c.op.getAutoPadAttr(), c.op.getDilationsAttr(), c.op.getGroupAttr(),
                                  rewriter.getDenseI64ArrayAttr(w.getShape().drop_front(2)), c.op.getPadsAttr(), c.op.getStridesAttr());
  y->setAttr("floor", rewriter.getI64IntegerAttr(c.relu ? std::max<int64_t>(least, c.yZero) : least));
  rewriter.replaceOp(c.quantise, y.getY());
  return true;
}

}  // namespace onnxc
