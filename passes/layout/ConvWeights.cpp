// ConvWeights.cpp: reading a convolution's parameters and packing its weights.
#include "passes/layout/ConvWeights.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/layout/StoredWeights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/SamePadding.h"
#include <numeric>

using namespace mlir;
namespace onnxc {

SmallVector<int64_t> twoAxes(Operation *op, StringRef attribute, int64_t rank, int64_t otherwise) {
  SmallVector<int64_t> v(onnx::intsAttr(op, attribute));
  if (v.empty())
    v.assign(rank, otherwise);
  if (rank == 1)
    v.insert(v.begin(), otherwise);
  return v;
}

std::optional<WindowPads> windowPads(Operation *op, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  int64_t rank = type.getRank() - 2;
  StringRef mode = onnx::strAttr(op, "auto_pad", "NOTSET");
  SmallVector<int64_t> given(onnx::intsAttr(op, "pads"));
  WindowPads found{SmallVector<int64_t>(4)};
  SmallVector<int64_t> &pads = found.pads;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = i + 2 - rank;
    if (mode == "NOTSET" || mode.empty()) {
      pads[axis] = given.empty() ? 0 : given[i], pads[axis + 2] = given.empty() ? 0 : given[i + rank];
    } else if (mode.starts_with("SAME")) {
      int64_t size = type.getDimSize(i + 2), extent = (kernel[axis] - 1) * dilations[axis] + 1;
      bool decides = ShapedType::isDynamic(size) && strides[axis] != 1;  // of one more than a whole number of strides they are the most
      SamePads same = samePads(ShapedType::isDynamic(size) ? 1 : size, extent, strides[axis], mode == "SAME_UPPER");
      if (decides && same.begin + same.end > 0)
        found.autoPad = mode;
      pads[axis] = same.begin, pads[axis + 2] = same.end;
    }
  }
  if (llvm::any_of(pads, [](int64_t p) { return p < 0; }))
    return std::nullopt;
  return found;
}

// Blocks that the groups of a panel of outputs read, at most.
static int64_t spanOf(const BlockedConv &c) {
  int64_t each = c.outputs / c.group, span = 0;
  for (int64_t o = 0; o < c.outputs; o += kLanes) {
    int64_t first = o / each * c.channels, end = (std::min(o + kLanes, c.outputs) - 1) / each * c.channels + c.channels;
    span = std::max(span, llvm::divideCeilSigned(end, kLanes) - first / kLanes);
  }
  return span;
}

int64_t groupsTogether(const BlockedConv &c) {
  auto toFill = [](int64_t channels) { return kLanes / std::gcd(kLanes, channels); };  // powers of two
  return c.group == 1 ? 1 : std::max(toFill(c.channels), toFill(c.outputs / c.group));
}

// Whether groups that share blocks are worth the products with zeros: with a single tap, or too many of them, the plain convolution is
// faster.
static bool gainsBySpan(const BlockedConv &c) {
  constexpr int64_t mostWaste = 6;
  if (c.span == 1)
    return c.constant && c.channels > 1;
  return c.constant && c.kernel[0] * c.kernel[1] > 1 && c.span * kLanes <= mostWaste * c.channels;
}

std::optional<BlockedConv> blockedConv(Operation *op) {
  auto x = rankedType(op->getOperand(0)), w = rankedType(op->getOperand(1));
  if (!x || !w || !x.getElementType().isF32() || !w.hasStaticShape() || w.getNumElements() == 0 || x.getRank() != w.getRank() ||
      (x.getRank() != 3 && x.getRank() != 4))
    return std::nullopt;
  Value bias = onnx::operand(op, 2);
  auto biasType = rankedType(bias);
  if (bias && !onnx::constantValue(bias) && (!biasType || biasType.getShape() != w.getShape().take_front()))
    return std::nullopt;
  BlockedConv c;
  c.constant = bool(onnx::constantValue(op->getOperand(1)));
  int64_t rank = x.getRank() - 2;
  c.outputs = w.getDimSize(0), c.channels = w.getDimSize(1), c.group = onnx::intAttr(op, "group", 1);
  c.kernel = SmallVector<int64_t>(w.getShape().drop_front(2));
  if (rank == 1)
    c.kernel.insert(c.kernel.begin(), 1);
  c.strides = twoAxes(op, "strides", rank, 1), c.dilations = twoAxes(op, "dilations", rank, 1);
  auto pads = windowPads(op, c.kernel, c.strides, c.dilations);
  if (!pads || c.group < 1 || c.outputs % c.group)
    return std::nullopt;
  c.pads = pads->pads, c.autoPad = pads->autoPad;
  int64_t each = c.outputs / c.group;
  if (c.group == 1)
    return c;
  constexpr int64_t mostCode = 64;  // products of a row of a filter, which its kernel writes out
  bool inLanes = each % c.channels == 0 && kLanes % each == 0 && (c.channels == 1 || c.channels * c.kernel[1] <= mostCode);
  if (inLanes && c.channels < kLanes && (each == c.channels || c.outputs % kLanes == 0))
    c.form = BlockedConv::Grouped;
  else if (c.channels % kLanes || each % kLanes)
    c.span = spanOf(c);
  return c.span && !gainsBySpan(c) ? std::nullopt : std::optional(c);
}

// Of what a frame has of each channel of W, and of empty lanes.
static int64_t roomOf(onnx::PackedFrameConvOp op, bool plain) {
  int64_t channels = rankedType(op.getW()).getDimSize(1);
  return plain ? channels : llvm::alignTo(channels, kLanes);
}

BlockedConv blockedFrames(onnx::PackedFrameConvOp op, bool plain) {
  ArrayRef<int64_t> w = cast<RankedTensorType>(op.getW().getType()).getShape();
  BlockedConv c;
  bool depthwise = op.getDepthwise();
  c.form = depthwise ? BlockedConv::Grouped : BlockedConv::Dense;
  c.outputs = w[0], c.group = depthwise ? rankedType(op.getX()).getDimSize(1) : 1, c.channels = depthwise ? 1 : w[2] * roomOf(op, plain);
  c.kernel = {depthwise ? w[2] * w[3] : w[3], w[4]};
  c.strides.assign(op.getStrides()), c.pads.assign(op.getPads()), c.dilations.assign(op.getDilations());
  return c;
}

Value frameWeights(OpBuilder &b, Location loc, onnx::PackedFrameConvOp op, bool plain) {
  ArrayRef<int64_t> w = cast<RankedTensorType>(op.getW().getType()).getShape();
  GraphBuilder g{b, loc};
  std::vector<float> values = *constantFloats(op.getW());
  if (op.getDepthwise())  // the rows of one tap behind those of the one before
    return g.floats({w[0], 1, w[2] * w[3], w[4]}, std::move(values));
  int64_t whole = roomOf(op, plain);
  return g.floats({w[0], w[2] * whole, w[3], w[4]}, tapsBeforeChannels(values, w[0], w[1], w[2], w[3] * w[4], whole));
}

// Channels of a panel last, as ops that the run computes; `inner`: how many input channels a block has.
static Value packAtRunTime(GraphBuilder g, const BlockedConv &c, Value weights, int64_t inner) {
  int64_t panels = llvm::divideCeil(c.outputs, kLanes), blocks = llvm::divideCeil(c.channels, inner);
  SmallVector<int64_t> more(rankedType(weights).getRank(), 0);
  more[0] = panels * kLanes - c.outputs, more[1] = blocks * inner - c.channels;
  Value v = g.reshape(g.padEnds(weights, more), {panels, kLanes, blocks, inner, c.kernel[0], c.kernel[1]});
  v = g.transpose(v, {0, 2, 4, 5, 3, 1});
  if (c.form == BlockedConv::Grouped)
    return g.reshape(v, {panels, c.kernel[0], c.kernel[1], inner, kLanes});
  return inner == 1 ? g.reshape(v, {panels, blocks, c.kernel[0], c.kernel[1], kLanes}) : v;
}

Value packConvWeights(OpBuilder &b, Location loc, const BlockedConv &c, Value weights, bool plain, FloatType wanted) {
  if (!c.constant)
    return packAtRunTime({b, loc}, c, weights, plain ? 1 : c.form == BlockedConv::Grouped ? c.channels : kLanes);
  std::vector<float> w = *constantFloats(weights);
  int64_t taps = c.kernel[0] * c.kernel[1], panels = llvm::divideCeil(c.outputs, kLanes);
  if (c.form == BlockedConv::Grouped) {
    std::vector<float> packed(panels * taps * c.channels * kLanes);
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t i = 0; i < c.channels; ++i)
        for (int64_t t = 0; t < taps; ++t)
          packed[((o / kLanes * taps + t) * c.channels + i) * kLanes + o % kLanes] = w[(o * c.channels + i) * taps + t];
    return GraphBuilder{b, loc}.floats({panels, c.kernel[0], c.kernel[1], c.channels, kLanes}, std::move(packed));
  }
  int64_t inner = plain ? 1 : kLanes, blocks = c.span ? c.span : llvm::divideCeil(c.channels, inner), each = c.outputs / c.group;
  int64_t lastStart = llvm::divideCeil(c.channels * c.group, kLanes) - blocks;  // of a span
  std::vector<float> packed(panels * blocks * taps * inner * kLanes);
  for (int64_t o = 0; o < c.outputs; ++o)
    for (int64_t i = 0; i < c.channels; ++i) {
      int64_t panelStart = std::min(o / kLanes * kLanes / each * c.channels / kLanes, lastStart) * kLanes;
      int64_t channel = c.span ? o / each * c.channels + i - panelStart : i;
      for (int64_t t = 0; t < taps; ++t) {
        int64_t at = ((o / kLanes * blocks + channel / inner) * taps + t) * inner + channel % inner;
        packed[at * kLanes + o % kLanes] = w[(o * c.channels + i) * taps + t];
      }
    }
  if (plain)
    return GraphBuilder{b, loc}.floats({panels, blocks, c.kernel[0], c.kernel[1], kLanes}, std::move(packed));
  auto type = RankedTensorType::get({panels, blocks, c.kernel[0], c.kernel[1], kLanes, kLanes}, storedType(wanted, w));
  return onnx::ConstantOp::create(b, loc, storedConstant(type, std::move(packed)));
}

namespace {
struct PhaseTap {  // of the taps of a phase in reverse, and what results lie before those of the phase: products of a channel
  int64_t row, column, rows, columns, before;
};
}  // namespace

// `visit(tap, channel, output, weight)` of all filters, phase by phase.
static void forPhaseTaps(const BlockedTransposed &t, llvm::function_ref<void(const PhaseTap &, int64_t, int64_t, float)> visit) {
  int64_t before = 0;
  for (int64_t phase = 0; phase < t.strides[0] * t.strides[1]; ++phase) {
    int64_t down = phase / t.strides[1], right = phase % t.strides[1];
    int64_t rows = llvm::divideCeil(t.kernel[0] - down, t.strides[0]), columns = llvm::divideCeil(t.kernel[1] - right, t.strides[1]);
    for (int64_t c = 0; c < t.channels; ++c)
      for (int64_t o = 0; o < t.outputs; ++o)
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            int64_t y = down + t.strides[0] * (rows - 1 - i), x = right + t.strides[1] * (columns - 1 - j);
            visit({i, j, rows, columns, before}, c, o, t.weights[((c * t.outputs + o) * t.kernel[0] + y) * t.kernel[1] + x]);
          }
    before += rows * columns;
  }
}

Value packTransposedWeights(OpBuilder &b, Location loc, const BlockedTransposed &t) {
  int64_t panels = llvm::divideCeil(t.outputs, kLanes), blocks = llvm::divideCeil(t.channels, kLanes), size = t.kernel[0] * t.kernel[1];
  std::vector<float> packed(panels * blocks * size * kLanes * kLanes);
  forPhaseTaps(t, [&](const PhaseTap &tap, int64_t c, int64_t o, float weight) {
    int64_t block = o / kLanes * blocks + c / kLanes, at = (block * tap.rows + tap.row) * tap.columns + tap.column;
    packed[((panels * blocks * tap.before + at) * kLanes + c % kLanes) * kLanes + o % kLanes] = weight;
  });
  int64_t count = packed.size();
  return GraphBuilder{b, loc}.floats({count}, std::move(packed));
}

Value packNarrowWeights(OpBuilder &b, Location loc, const BlockedTransposed &t) {
  int64_t blocks = llvm::divideCeil(t.channels, kLanes);
  std::vector<float> packed(t.kernel[0] * t.kernel[1] * blocks * t.outputs * kLanes);
  forPhaseTaps(t, [&](const PhaseTap &tap, int64_t c, int64_t o, float weight) {
    int64_t at = (blocks * tap.before + (tap.row * blocks + c / kLanes) * tap.columns + tap.column) * t.outputs + o;
    packed[at * kLanes + c % kLanes] = weight;
  });
  int64_t count = packed.size();
  return GraphBuilder{b, loc}.floats({count}, std::move(packed));
}

Value packConvBias(OpBuilder &b, Location loc, Operation *conv) {
  Value bias = onnx::operand(conv, 2);
  if (!bias)
    return {};
  if (std::optional<std::vector<float>> known = constantFloats(bias))
    return packChannels(b, loc, *known, false);
  int64_t n = rankedType(bias).getDimSize(0);
  return GraphBuilder{b, loc}.padEnds(bias, {int64_t(llvm::alignTo(n, kLanes)) - n});
}

Value packChannels(OpBuilder &b, Location loc, ArrayRef<float> values, bool spatial) {
  int64_t blocks = llvm::divideCeil(int64_t(values.size()), kLanes);
  std::vector<float> packed(values.begin(), values.end());
  packed.resize(blocks * kLanes);
  return spatial ? GraphBuilder{b, loc}.floats({blocks, 1, 1, kLanes}, packed)
                 : GraphBuilder{b, loc}.floats({blocks * kLanes}, std::move(packed));
}

}  // namespace onnxc
