// SimplifyWeights.cpp: per-channel scales and offsets after a convolution or Gemm go into its constant weights (f32, one use), and so do
// other convolutions of the same operand that are added to it; zeros before a convolution and what is cut off behind it go into its
// padding, and taps that read padding alone are dropped.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/kernels/SamePadding.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

// Values per channel (axis 1 of `rank`) of a constant that broadcasts to it; nothing for other constants.
static std::optional<std::vector<float>> perChannel(Value v, int64_t rank, int64_t channels) {
  auto type = rankedType(v);
  auto values = constantFloats(v);
  if (!values || !type || type.getRank() > rank)
    return std::nullopt;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1 && rank - type.getRank() + i != 1)
      return std::nullopt;
  if (values->size() == 1)
    values->assign(channels, values->front());
  return int64_t(values->size()) == channels ? values : std::nullopt;
}

// Rows of `weights` along `axis` times `scale`; null where one is not finite: sums of infinities are other values than multiples of a sum.
static Value scaledWeights(PatternRewriter &rewriter, Location loc, Value weights, ArrayRef<float> scale, int64_t axis) {
  auto type = llvm::cast<RankedTensorType>(weights.getType());
  auto values = constantFloats(weights);
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  for (size_t i = 0; i < values->size(); ++i)
    (*values)[i] *= scale[i / inner % scale.size()];
  if (!llvm::all_of(*values, [](float v) { return std::isfinite(v); }))
    return {};
  return onnx::ConstantOp::create(rewriter, loc, makeConstant(type, *values));
}
static Value scaledBias(PatternRewriter &rewriter, Location loc, Value bias, const ChannelAffine &a) {
  std::vector<float> values = bias ? *constantFloats(bias) : std::vector<float>(a.scale.size(), 0.f);
  for (size_t i = 0; i < a.scale.size(); ++i)
    values[i] = values[i] * a.scale[i] + a.offset[i];
  return GraphBuilder{rewriter, loc}.floats({int64_t(values.size())}, values);
}

// The producer's weights are constants of f32 that nothing else hangs on, and nothing in a body that may run many times: its axis of output
// channels, -1 otherwise.
static int64_t channelAxis(Operation *producer) {
  Operation *user = producer ? onlyUser(producer) : nullptr;
  if (!user || user->getBlock() != producer->getBlock() || !llvm::isa<onnx::ConvOp, onnx::GemmOp>(producer))
    return -1;
  auto weights = rankedType(producer->getOperand(1));
  ElementsAttr value = onnx::constantValue(producer->getOperand(1));
  Value bias = onnx::operand(producer, 2);
  if (!weights || !value || !weights.getElementType().isF32() || !constantBytes(value) || (bias && !constantFloats(bias)))
    return -1;
  if (auto gemm = llvm::dyn_cast<onnx::GemmOp>(producer)) {
    bool plainBias =
        !bias || llvm::cast<RankedTensorType>(bias.getType()).getShape() == ArrayRef<int64_t>{weights.getDimSize(gemm.getTransB() ? 0 : 1)};
    bool unit = gemm.getAlpha().isExactlyValue(1.0) && gemm.getBeta().isExactlyValue(1.0);
    return plainBias && unit ? (gemm.getTransB() ? 0 : 1) : -1;
  }
  return 0;
}
static int64_t channels(Operation *producer, int64_t axis) {
  return llvm::cast<RankedTensorType>(producer->getOperand(1).getType()).getDimSize(axis);
}

// A(x * W + b) = x * (W scale) + (b scale + offset); `op` is what applies A to `producer`. The result keeps the location of `op`, whose
// value it is.
static LogicalResult absorb(PatternRewriter &rewriter, Operation *op, Operation *producer, int64_t axis, const ChannelAffine &a) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands(producer->getOperands().take_front(2));
  bool scales = llvm::any_of(a.scale, [](float f) { return f != 1.f; });
  if (scales)
    operands[1] = scaledWeights(rewriter, op->getLoc(), operands[1], a.scale, axis);
  if (!operands[1])
    return rewriter.notifyMatchFailure(op, "scaled weights are not finite");
  operands.push_back(scaledBias(rewriter, op->getLoc(), onnx::operand(producer, 2), a));
  Operation *merged =
      rewriter.create(op->getLoc(), producer->getName().getIdentifier(), operands, op->getResult(0).getType(), producer->getAttrs());
  rewriter.replaceAllUsesWith(op->getResult(0), merged->getResult(0));
  rewriter.eraseOp(op);
  return success();
}

// BatchNormalization(Conv(x)) = Conv(x) with other weights.
static LogicalResult absorbNormalization(onnx::BatchNormalizationOp op, PatternRewriter &rewriter) {
  Operation *producer = op.getX().getDefiningOp();
  int64_t axis = channelAxis(producer);
  auto a = axis < 0 ? std::nullopt : channelAffine(op);
  if (!a || int64_t(a->scale.size()) != channels(producer, axis))
    return rewriter.notifyMatchFailure(op, "no constant weights before it, or parameters that are not constant");
  return absorb(rewriter, op, producer, axis, *a);
}

// Whether a mean is many deviations: the product of a value would cancel with the sum.
static bool cancels(onnx::BatchNormalizationOp op, const ChannelAffine &a) {
  constexpr float many = 16;
  auto mean = constantFloats(op.getInputMean());
  return !mean ||
         llvm::any_of(llvm::zip(*mean, a.scale), [](auto pair) { return std::fabs(std::get<0>(pair) * std::get<1>(pair)) > many; });
}

// A BatchNormalization that stands behind no weights is a product and a sum. Where these would cancel the mean is subtracted first.
static LogicalResult scaleAndOffset(onnx::BatchNormalizationOp op, PatternRewriter &rewriter) {
  Operation *producer = op.getX().getDefiningOp();
  auto x = rankedType(op.getX());
  auto a = channelAffine(op);
  if (!x || x.getRank() < 2 || !x.getElementType().isF32() || !a || a->scale.empty() ||
      llvm::isa_and_present<onnx::ConvOp, onnx::ConvTransposeOp, onnx::GemmOp>(producer))
    return rewriter.notifyMatchFailure(op, "weights may take it, or parameters that are not constant");
  Location loc = op.getLoc();
  GraphBuilder g{rewriter, loc};
  SmallVector<int64_t> shape(x.getRank() - 1, 1);
  shape[0] = int64_t(a->scale.size());
  std::vector<float> mean = *constantFloats(op.getInputMean()), offset = a->offset;
  Value v = op.getX();
  if (cancels(op, *a))
    v = onnx::SubOp::create(rewriter, loc, x, v, g.floats(shape, mean)), offset = *constantFloats(op.getB());
  v = onnx::MulOp::create(rewriter, loc, x, v, g.floats(shape, a->scale));
  v = onnx::AddOp::create(rewriter, loc, x, v, g.floats(shape, offset));
  v.setType(op.getY().getType());
  rewriter.replaceAllUsesWith(op.getY(), v);
  rewriter.eraseOp(op);
  return success();
}

// The same of f64: (x - mean) * factor + offset, which a product before it applies as its epilogue.
static LogicalResult scaleDoubles(onnx::BatchNormalizationOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  auto factor = constantDoubles(op.getScale()), offset = constantDoubles(op.getB()), mean = constantDoubles(op.getInputMean()),
       variance = constantDoubles(op.getInputVar());
  if (!isInference(op) || !x || x.getRank() < 2 || !x.getElementType().isF64() || !factor || factor->empty() || !offset || !mean ||
      !variance)
    return rewriter.notifyMatchFailure(op, "not of f64, or parameters that are not constant");
  size_t n = factor->size();
  if (offset->size() != n || mean->size() != n || variance->size() != n)
    return rewriter.notifyMatchFailure(op, "parameters of other sizes");
  for (size_t i = 0; i < n; ++i)
    (*factor)[i] /= std::sqrt((*variance)[i] + op.getEpsilon().convertToDouble());
  SmallVector<int64_t> shape(x.getRank() - 1, 1);
  shape[0] = int64_t(n);
  Location loc = op.getLoc();
  auto type = RankedTensorType::get(shape, x.getElementType());
  auto ofChannels = [&](std::vector<double> &values) -> Value {
    return onnx::ConstantOp::create(rewriter, loc, makeConstant(type, std::move(values)));
  };
  Value v = onnx::SubOp::create(rewriter, loc, x, op.getX(), ofChannels(*mean));
  v = onnx::MulOp::create(rewriter, loc, x, v, ofChannels(*factor));
  v = onnx::AddOp::create(rewriter, loc, x, v, ofChannels(*offset));
  v.setType(op.getY().getType());
  rewriter.replaceAllUsesWith(op.getY(), v);
  rewriter.eraseOp(op);
  return success();
}

// Mul or Add(Conv(x), constant per channel) = Conv(x) with other weights.
static LogicalResult absorbBinary(Operation *op, bool multiplies, PatternRewriter &rewriter) {
  for (unsigned i = 0; i < 2; ++i) {
    Operation *producer = op->getOperand(i).getDefiningOp();
    int64_t axis = channelAxis(producer);
    auto type = rankedType(op->getOperand(i));
    if (axis < 0 || !type || op->getResult(0).getType() != type)
      continue;
    int64_t n = channels(producer, axis);
    auto values = perChannel(op->getOperand(1 - i), type.getRank(), n);
    if (!values)
      continue;
    ChannelAffine a{multiplies ? *values : std::vector<float>(n, 1.f), multiplies ? std::vector<float>(n, 0.f) : *values};
    return absorb(rewriter, op, producer, axis, a);
  }
  return rewriter.notifyMatchFailure(op, "not constant weights and a constant per channel");
}
static LogicalResult absorbMul(onnx::MulOp op, PatternRewriter &rewriter) { return absorbBinary(op, true, rewriter); }
static LogicalResult absorbAdd(onnx::AddOp op, PatternRewriter &rewriter) { return absorbBinary(op, false, rewriter); }

namespace {
// A convolution with constant weights, as terms of a sum are looked at.
struct Filters {
  onnx::ConvOp op;
  SmallVector<int64_t> shape, pads, strides, dilations;
  static std::optional<Filters> of(Value v) {
    auto op = v.getDefiningOp<onnx::ConvOp>();
    if (channelAxis(op) != 0 || op->hasAttr(onnx::kExactAttr))
      return std::nullopt;
    SmallVector<int64_t> shape(llvm::cast<RankedTensorType>(op.getW().getType()).getShape());
    int64_t axes = shape.size() - 2;
    auto pads = givenPads(op, axes);
    if (!pads)
      return std::nullopt;
    return Filters{op, shape, *pads, listOr(onnx::optionalInts(op, "strides"), axes, 1),
                   listOr(onnx::optionalInts(op, "dilations"), axes, 1)};
  }
  int64_t axes() const { return strides.size(); }
  int64_t taps() const { return ShapedType::getNumElements(ArrayRef(shape).drop_front(2)); }
  // How many more pixels a result needs than there are, along an axis.
  int64_t lacks(int64_t axis) const { return (shape[axis + 2] - 1) * dilations[axis] - pads[axis] - pads[axes() + axis]; }
};
}  // namespace

// Which tap of `filters` reads the pixels that each tap of a smaller window does; nothing where one is missing or sizes differ.
static std::optional<SmallVector<int64_t>> sameTaps(const Filters &filters, ArrayRef<int64_t> kernel, ArrayRef<int64_t> dilations,
                                                    ArrayRef<int64_t> pads) {
  SmallVector<int64_t> result{0};
  for (int64_t axis = 0; axis < filters.axes(); ++axis) {
    int64_t lacks = (kernel[axis] - 1) * dilations[axis] - pads[axis] - pads[filters.axes() + axis];
    if (lacks != filters.lacks(axis))
      return std::nullopt;
    SmallVector<int64_t> next;
    for (int64_t outer : result)
      for (int64_t i = 0; i < kernel[axis]; ++i) {
        int64_t at = i * dilations[axis] - pads[axis] + filters.pads[axis], size = filters.shape[axis + 2];
        if (at < 0 || at % filters.dilations[axis] || at / filters.dilations[axis] >= size)
          return std::nullopt;
        next.push_back(outer * size + at / filters.dilations[axis]);
      }
    result = std::move(next);
  }
  return result;
}

// What `v` is of `x` where it is x times a constant per channel plus another, computed for nothing else. Not x itself, which would lose
// digits in a sum of smaller products, nor what would cancel there.
static std::optional<ChannelAffine> affineOf(Value v, Value x, int64_t channels) {
  constexpr int64_t mostSteps = 3;
  auto type = rankedType(x);
  ChannelAffine a{std::vector<float>(channels, 1.f), std::vector<float>(channels, 0.f)};
  if (v == x)
    return std::nullopt;
  for (int64_t step = 0; v != x; ++step) {
    Operation *op = v.getDefiningOp();
    if (!op || !v.hasOneUse() || step == mostSteps || v.getType() != type)
      return std::nullopt;
    bool swaps = llvm::isa<onnx::MulOp, onnx::AddOp>(op) && onnx::constantValue(op->getOperand(0));
    std::optional<ChannelAffine> one = channelAffine(op);
    if (one && cancels(llvm::cast<onnx::BatchNormalizationOp>(op), *one))
      return std::nullopt;
    if (llvm::isa<onnx::MulOp, onnx::AddOp>(op)) {
      auto values = perChannel(op->getOperand(swaps ? 0 : 1), type.getRank(), channels);
      if (!values)
        return std::nullopt;
      bool multiplies = llvm::isa<onnx::MulOp>(op);
      one =
          ChannelAffine{multiplies ? *values : std::vector<float>(channels, 1.f), multiplies ? std::vector<float>(channels, 0.f) : *values};
    }
    if (!one || int64_t(one->scale.size()) != channels)
      return std::nullopt;
    for (int64_t i = 0; i < channels; ++i)
      a.offset[i] += a.scale[i] * one->offset[i], a.scale[i] *= one->scale[i];
    v = op->getOperand(swaps ? 1 : 0);
  }
  return a;
}

// Conv(x, V) + Conv(x, W) = Conv(x, V + W), where the taps of one are taps of the other; a multiple of x by channels is a Conv of one tap.
// Networks that are trained with branches (RepVGG, MobileOne) are exported so.
static LogicalResult addConvolutions(onnx::AddOp op, PatternRewriter &rewriter) {
  for (unsigned i = 0; i < 2; ++i) {
    Value other = op->getOperand(1 - i);
    auto large = Filters::of(op->getOperand(i)), small = Filters::of(other);
    Value x = large ? large->op.getX() : Value();
    if (!x || !rankedType(x))
      continue;
    int64_t outputs = large->shape[0], each = large->shape[1];
    std::optional<SmallVector<int64_t>> taps;
    std::optional<ChannelAffine> affine;
    if (small && small->op.getX() == x && small->op.getGroup() == large->op.getGroup() && small->strides == large->strides &&
        ArrayRef(small->shape).take_front(2) == ArrayRef(large->shape).take_front(2)) {
      taps = sameTaps(*large, ArrayRef(small->shape).drop_front(2), small->dilations, small->pads);
    } else if (llvm::all_equal(large->strides) && large->strides[0] == 1 && outputs == each * int64_t(large->op.getGroup()) &&
               (affine = affineOf(other, x, outputs))) {
      SmallVector<int64_t> ones(large->axes(), 1), zeros(2 * large->axes(), 0);
      taps = sameTaps(*large, ones, ones, zeros);
    }
    if (!taps)
      continue;
    std::vector<float> weights = *constantFloats(large->op.getW()), bias(outputs), added;
    if (affine) {
      added.resize(outputs * each);
      for (int64_t o = 0; o < outputs; ++o)
        added[o * each + o % each] = affine->scale[o];
      bias = affine->offset;
    } else {
      added = *constantFloats(small->op.getW());
      bias = small->op.getB() ? *constantFloats(small->op.getB()) : bias;
    }
    for (size_t k = 0; k < added.size(); ++k)
      weights[k / taps->size() * large->taps() + (*taps)[k % taps->size()]] += added[k];
    if (!llvm::all_of(weights, [](float v) { return std::isfinite(v); }))
      return rewriter.notifyMatchFailure(op, "sums of weights are not finite");
    if (large->op.getB())
      for (auto [sum, v] : llvm::zip(bias, *constantFloats(large->op.getB())))
        sum += v;
    GraphBuilder g{rewriter, op.getLoc()};
    auto sum = llvm::cast<onnx::ConvOp>(rewriter.clone(*large->op));
    sum->setLoc(op.getLoc());
    sum->setOperands({x, g.floats(large->shape, weights), g.floats({outputs}, bias)});
    replaceTyped(rewriter, op, sum.getY());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no convolutions of one operand with taps in common");
}

// auto_pad SAME as numbers, so that one form is left; where stride or extent is 1 they do not depend on the image's size.
static LogicalResult explicitPadding(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW());
  if (!x || !w || x.getRank() != w.getRank() || !op.getAutoPad().starts_with("SAME"))
    return rewriter.notifyMatchFailure(op, "padded by numbers");
  int64_t rank = x.getRank() - 2;
  ArrayRef<int64_t> strides = onnx::intsAttr(op, "strides"), dilations = onnx::intsAttr(op, "dilations");
  SmallVector<int64_t> pads(2 * rank);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t size = x.getDimSize(i + 2), kernel = w.getDimSize(i + 2), stride = strides.empty() ? 1 : strides[i];
    int64_t extent = (kernel - 1) * (dilations.empty() ? 1 : dilations[i]) + 1;
    if (ShapedType::isDynamic(kernel) || (ShapedType::isDynamic(size) && stride != 1 && extent != 1))
      return rewriter.notifyMatchFailure(op, "sizes are not known");
    SamePads same = samePads(std::max<int64_t>(size, 0), extent, stride, op.getAutoPad() == "SAME_UPPER");
    pads[i] = same.begin, pads[rank + i] = same.end;
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.setPads(pads);
    op.setAutoPad("NOTSET");
  });
  return success();
}

// Conv(Pad(x) with zeros) = Conv(x) with more padding.
static LogicalResult absorbPad(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto pad = op.getX().getDefiningOp<onnx::PadOp>();
  auto type = rankedType(op.getX());
  if (!pad || !type || pad.getMode() != "constant" || pad.getAxes())
    return rewriter.notifyMatchFailure(op, "no plain padding before it");
  auto amounts = onnx::integerElements(pad.getPads());
  auto value = pad.getConstantValue() ? constantFloats(pad.getConstantValue()) : std::vector<float>{0.f};
  int64_t rank = type.getRank();
  if (!amounts || int64_t(amounts->size()) != 2 * rank || !value || value->size() != 1 || value->front() != 0.f)
    return rewriter.notifyMatchFailure(op, "padding is not constant zeros");
  auto pads = givenPads(op, rank - 2);
  if (!pads)
    return rewriter.notifyMatchFailure(op, "its own padding depends on the sizes");
  for (int64_t side = 0; side < 2; ++side)
    for (int64_t i = 0; i < rank; ++i) {
      int64_t amount = (*amounts)[side * rank + i];
      if (amount < 0 || (i < 2 && amount))
        return rewriter.notifyMatchFailure(op, "padding crops or touches batch or channels");
      if (i >= 2)
        (*pads)[side * (rank - 2) + i - 2] += amount;
    }
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(pad.getData());
    op.setPads(*pads);
    op.setAutoPad("NOTSET");
  });
  return success();
}

// What a Slice cuts off at both ends of an axis of `size`.
struct Cut {
  int64_t begin, end;
};
// Of each axis of `op` that it keeps elements of, in order; nothing for other steps than 1 and for what depends on a size of the run.
static std::optional<SmallVector<Cut>> cuts(onnx::SliceOp op) {
  auto type = rankedType(op.getData());
  auto starts = onnx::integerElements(op.getStarts()), ends = onnx::integerElements(op.getEnds()),
       axes = onnx::integerElements(op.getAxes()), steps = onnx::integerElements(op.getSteps());
  if (!type || !starts || !ends || !axes || starts->size() != axes->size() || ends->size() != axes->size() ||
      (op.getSteps() && !(steps && llvm::all_of(*steps, [](int64_t s) { return s == 1; }))))
    return std::nullopt;
  SmallVector<Cut> result(type.getRank(), Cut{0, 0});
  for (auto [axis, start, end] : llvm::zip(*axes, *starts, *ends)) {
    axis = onnx::fromFront(axis, type.getRank());
    int64_t size = type.getDimSize(axis);
    bool known = !ShapedType::isDynamic(size);
    if (known)
      start = std::clamp<int64_t>(onnx::fromFront(start, size), 0, size), end = std::min(onnx::fromFront(end, size), size) - size;
    else if (end >= INT32_MAX)
      end = 0;
    else if (end >= 0)
      return std::nullopt;
    if (start < 0 || end < -INT32_MAX || (known && start - end >= size))
      return std::nullopt;
    result[axis] = {start, -end};
  }
  return result;
}

// Slice(Conv(x)) = Conv(x) with less padding, Slice(ConvTranspose(x)) = ConvTranspose(x) with more.
static LogicalResult absorbCut(onnx::SliceOp op, PatternRewriter &rewriter) {
  Operation *producer = op.getData().getDefiningOp();
  if (!llvm::isa_and_present<onnx::ConvOp, onnx::ConvTransposeOp>(producer) || !producer->hasOneUse() ||
      onnx::strAttr(producer, "auto_pad", "NOTSET") != "NOTSET" || !onnx::intsAttr(producer, "output_shape").empty())
    return rewriter.notifyMatchFailure(op, "no plain convolution before it");
  auto cut = cuts(op);
  auto type = rankedType(op.getData()), weights = rankedType(producer->getOperand(1));
  if (!cut || !weights || weights.getRank() != type.getRank() || llvm::any_of(weights.getShape().drop_front(2), ShapedType::isDynamic) ||
      llvm::any_of(ArrayRef(*cut).take_front(2), [](Cut c) { return c.begin || c.end; }))
    return rewriter.notifyMatchFailure(op, "cuts other axes, or by what only the run knows");
  int64_t axes = type.getRank() - 2;
  auto list = [&](StringRef name, int64_t n, int64_t otherwise) { return listOr(onnx::optionalInts(producer, name), n, otherwise); };
  auto pads = list("pads", 2 * axes, 0), strides = list("strides", axes, 1), dilations = list("dilations", axes, 1);
  bool transposed = llvm::isa<onnx::ConvTransposeOp>(producer);
  for (int64_t i = 0; i < axes; ++i) {
    int64_t by = transposed ? -1 : strides[i], window = (weights.getDimSize(i + 2) - 1) * dilations[i] + 1;
    int64_t &begin = pads[i], &end = pads[i + axes];
    begin -= (*cut)[i + 2].begin * by, end -= (*cut)[i + 2].end * by;
    // Of an axis of any size something is left.
    bool leaves = transposed ? begin + end < window : std::min(begin, end) >= 0 && begin + end + 1 >= window;
    bool cutsNone = !(*cut)[i + 2].begin && !(*cut)[i + 2].end;
    if (!cutsNone && !leaves && (type.isDynamicDim(i + 2) || transposed || std::min(begin, end) < 0))
      return rewriter.notifyMatchFailure(op, "cuts more than padding");
  }
  rewriter.modifyOpInPlace(producer, [&] {
    producer->setLoc(op.getLoc());  // whose value it has
    producer->setAttr("pads", rewriter.getDenseI64ArrayAttr(pads));
    producer->getResult(0).setType(op.getType());
  });
  rewriter.replaceOp(op, producer->getResult(0));
  return success();
}

// The elements of `weights`, [outputs, channels, filter...], that the taps from `first` to `last` of each axis have.
static std::vector<float> tapsOf(const std::vector<float> &weights, ArrayRef<int64_t> shape, ArrayRef<int64_t> first,
                                 ArrayRef<int64_t> last) {
  std::vector<float> result = weights;
  int64_t outer = shape[0] * shape[1], inner = ShapedType::getNumElements(shape.drop_front(2));
  for (auto [size, from, to] : llvm::zip(shape.drop_front(2), first, last)) {
    inner /= size;
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(result.begin() + (i * size + from) * inner, (to - from + 1) * inner, result.begin() + i * (to - from + 1) * inner);
    outer *= to - from + 1;
    result.resize(outer * inner);
  }
  return result;
}

// A convolution without the taps at the ends of its filters that read padding alone: those of images that are no larger than a dilation,
// and 3x3 ones of one pixel, as the last layers of a network have for small inputs.
static LogicalResult dropTaps(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  if (!x || !w || !y || !onnx::constantValue(op.getW()) || !w.getElementType().isF32() || w.getNumElements() == 0 ||
      x.getRank() != w.getRank())
    return rewriter.notifyMatchFailure(op, "no constant weights");
  int64_t axes = x.getRank() - 2;
  auto pads = givenPads(op, axes);
  if (!pads)
    return rewriter.notifyMatchFailure(op, "padding depends on the sizes");
  auto strides = listOr(op.getStrides(), axes, 1), dilations = listOr(op.getDilations(), axes, 1);
  SmallVector<int64_t> first(axes, 0), last, shape(w.getShape());
  bool drops = false;
  for (int64_t i = 0; i < axes; ++i) {
    int64_t size = x.getDimSize(i + 2), results = y.getDimSize(i + 2), &begin = (*pads)[i], &end = (*pads)[axes + i], tap = dilations[i];
    last.push_back(shape[i + 2] - 1);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(results) || size == 0 || results == 0)
      continue;
    int64_t furthest = (results - 1) * strides[i];  // where the last window begins
    // A padding stays one, so a tap may be left that reads nothing.
    for (; first[i] < last[i] && begin >= tap && furthest < begin; ++first[i])
      begin -= tap;
    for (; last[i] > first[i] && end >= tap && (last[i] - first[i]) * tap - begin >= size; --last[i])
      end -= tap;
    shape[i + 2] = last[i] - first[i] + 1;
    drops |= shape[i + 2] != w.getDimSize(i + 2);
  }
  auto weights = drops ? constantFloats(op.getW()) : std::nullopt;
  if (!weights)
    return rewriter.notifyMatchFailure(op, "each tap reads some pixel");
  Value taps = onnx::ConstantOp::create(rewriter, op.getLoc(), makeConstant(w.clone(shape), tapsOf(*weights, w.getShape(), first, last)));
  rewriter.modifyOpInPlace(op, [&] {
    op.getWMutable().assign(taps);
    op.setPads(*pads);
    op->removeAttr("kernel_shape");
  });
  return success();
}

static bool readsWeights(Operation *op) { return llvm::isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::MatMulOp, onnx::GemmOp>(op); }

void foldFills(func::FuncOp func, int64_t mostBytes) {
  constexpr int64_t kFillBytes = 16 << 10;
  int64_t total = 0;
  func.walk([&](onnx::ConstantOfShapeOp fill) {
    auto type = rankedType(fill);
    if (!type || !type.getElementType().isF32() || !type.hasStaticShape() || type.getNumElements() > mostBytes / 4)
      return;
    int64_t bytes = type.getNumElements() * 4;
    bool weighs = llvm::any_of(fill->getUses(), [](OpOperand &use) { return use.getOperandNumber() && readsWeights(use.getOwner()); });
    if (bytes > kFillBytes && (!weighs || total + bytes > mostBytes))
      return;
    total += bytes;
    auto value = llvm::dyn_cast_if_present<DenseElementsAttr>(fill->getAttr("value"));
    float v = value ? (*value.getValues<APFloat>().begin()).convertToFloat() : 0.0f;
    OpBuilder b(fill);
    fill->getResult(0).replaceAllUsesWith(onnx::ConstantOp::create(b, fill.getLoc(), DenseElementsAttr::get(type, v)));
  });
}

void populateWeightPatterns(RewritePatternSet &patterns) {
  patterns.add(absorbNormalization);
  patterns.add(scaleAndOffset);
  patterns.add(scaleDoubles);
  patterns.add(absorbMul);
  patterns.add(absorbAdd);
  patterns.add(addConvolutions);
  patterns.add(explicitPadding);
  patterns.add(absorbPad);
  patterns.add(absorbCut);
  patterns.add(dropTaps);
}

}  // namespace onnxc
