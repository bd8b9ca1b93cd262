// LinearConvolutions.cpp: 1-D and 2-D convolutions of dequantised values as onnx.packed.LinearConv, which stays in bytes; passes/layout
// then drops the conversions to blocks between them. The second step of the integer-contractions pass, behind the moves of bytes; it
// writes the others as sums in f32.
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PanelSizes.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

// A convolution's weights less their zero points, and how the kernel reads them.
struct Filters {
  std::vector<int16_t> values;
  std::vector<int32_t> offsets;  // weightOffsets()
  int64_t outputs, channels, rows, columns, group;
  bool plain, depthwise;
  SmallVector<int64_t> pads;  // top, left, bottom, right
  ByteGroups groups() const { return {group, channels, outputs / group}; }
  int64_t depth() const { return channels * rows * columns; }
  int32_t offset(int64_t output) const { return offsets.empty() ? 0 : offsets[output]; }
};

// What is given for each axis, or each end of one, of an image; a row is one of height 1.
SmallVector<int64_t> listOf(std::optional<ArrayRef<int64_t>> given, int64_t rank, int64_t otherwise, int64_t ends = 1) {
  SmallVector<int64_t> list = listOr(given, (rank - 2) * ends, otherwise);
  for (int64_t end = ends; rank == 3 && end--;)
    list.insert(list.begin() + end, otherwise);
  return list;
}

// Nothing where the kernel is not made for them.
std::optional<Filters> filtersOf(LinearConv &c) {
  auto x = rankedType(c.x), w = rankedType(c.w);
  auto bytes = constantBytes(onnx::constantValue(c.w));
  bool images = x && w && x.getRank() == w.getRank() && (x.getRank() == 3 || x.getRank() == 4);
  auto pads = images ? givenPads(c.op, x.getRank() - 2) : std::nullopt;
  if (!pads || llvm::any_of(*pads, [](int64_t p) { return p < 0; }) || x.isDynamicDim(1) || !bytes || bytes->empty())
    return std::nullopt;
  int64_t rows = x.getRank() == 4 ? w.getDimSize(2) : 1, columns = w.getShape().back();
  Filters f{{}, {}, w.getDimSize(0), w.getDimSize(1), rows, columns, onnx::intAttr(c.op, "group", 1), false, false, {}};
  f.pads = listOf(*pads, x.getRank(), 0, 2);
  if (f.depth() > kByteDepth || f.group < 1 || f.outputs % f.group || x.getDimSize(1) != f.channels * f.group)
    return std::nullopt;
  auto dilations = onnx::optionalInts(c.op, "dilations");
  f.plain = f.group == 1 && f.channels <= kQuad && (!dilations || dilations->back() == 1);
  f.depthwise = f.group > 1 && f.channels == 1 && f.outputs == f.group;
  constexpr int64_t mostTogether = 4;  // more groups multiply too many zeros
  if (!f.depthwise && f.groups().together > mostTogether && f.groups().blocks > 1)
    return std::nullopt;
  bool isSigned = w.getElementType().isSignlessInteger();
  for (auto [i, b] : llvm::enumerate(*bytes))
    f.values.push_back(lessZero(b, isSigned, c.wZero, int64_t(i) / f.depth()));
  if (!f.depthwise)
    f.offsets = weightOffsets(f.values, c.wZero, isSigned, f.outputs);
  return f;
}

// The filters as dialects/onnx/Packed.td says.
Value packedDepthwise(PatternRewriter &rewriter, Location loc, const Filters &f) {
  int64_t taps = f.rows * f.columns;
  SmallVector<int64_t> shape{llvm::divideCeilSigned(f.outputs, kLanes), taps, kLanes};
  std::vector<int16_t> to(shape[0] * taps * kLanes);
  for (int64_t o = 0; o < f.outputs; ++o)
    for (int64_t t = 0; t < taps; ++t)
      to[(o / kLanes * taps + t) * kLanes + o % kLanes] = f.values[o * taps + t];
  return GraphBuilder{rewriter, loc}.integers<int16_t>(shape, to);
}
Value packed(PatternRewriter &rewriter, Location loc, const Filters &f) {
  if (f.depthwise)
    return packedDepthwise(rewriter, loc, f);
  ByteGroups groups = f.groups();
  int64_t taps = f.rows * f.columns, parts = llvm::divideCeil(groups.channels, kQuad),
          panels = llvm::divideCeil(groups.outBlocks * kLanes, kByteColumns);
  int64_t rowQuads = f.plain ? llvm::divideCeilSigned(f.columns * f.channels, kQuad) : f.columns * parts, quads = f.rows * rowQuads;
  SmallVector<int64_t> shape{groups.count * panels * kByteColumns / kLanes, quads, kLanes, kQuad};
  std::vector<int8_t> to(shape[0] * quads * kLanes * kQuad);
  for (int64_t o = 0; o < f.outputs; ++o) {
    int64_t of = o / (f.outputs / f.group), group = of / groups.together, at = o - group * groups.outBlocks * kLanes;
    int64_t first = of * f.channels - groups.firstBlock(group) * kLanes;  // of its channels, among those that are read
    auto step = [&](int64_t i) -> int8_t & { return to[panelByte(i, group * panels * kByteColumns + at, quads, kLanes)]; };
    for (int64_t i = 0; i < quads * kQuad; ++i)
      step(i) = int8_t(-f.offset(o));
    for (int64_t c = 0; c < f.channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        step(f.plain ? t / f.columns * rowQuads * kQuad + t % f.columns * f.channels + c : t * parts * kQuad + first + c) =
            int8_t(f.values[(o * f.channels + c) * taps + t] - f.offset(o));
  }
  return GraphBuilder{rewriter, loc}.integers<int8_t>(shape, to);
}

// What is added to each sum: for the zero point of the data, and the bias in units of the sums; nothing where that is too large. For a zero
// point of the run, what it is multiplied by: `zero` is -1.
std::optional<std::vector<int32_t>> corrections(Filters &f, LinearConv &c, int32_t zero) {
  std::vector<int32_t> result(llvm::alignTo(f.outputs, kLanes));
  if (!fitBias(result, c.bias, {f.values, f.outputs, f.depth(), f.depth(), 1}, c.factors, c.element))
    return std::nullopt;
  for (int64_t i = 0; i < int64_t(f.values.size()); ++i)
    result[i / f.depth()] -= int32_t(f.values[i]) * zero;
  return result;
}

}  // namespace

std::vector<int32_t> weightOffsets(ArrayRef<int16_t> values, const std::vector<float> &zeros, bool isSigned, int64_t channels) {
  if (llvm::all_of(values, [](int16_t v) { return llvm::isInt<8>(v); }))
    return {};
  std::vector<int32_t> result;
  for (int64_t i = 0; i < channels; ++i)
    result.push_back((isSigned ? 0 : 128) - int32_t(ofChannel(zeros, i)));
  return result;
}

bool fitBias(std::vector<int32_t> &sums, const std::vector<float> &bias, ChannelWeights weights, std::vector<float> &factors,
             Type element) {
  constexpr double mostLost = 0.05, thousandth = 1e-3, mostByte = 255;
  for (int64_t n = 0; n < int64_t(bias.size()); ++n) {
    double reach = 0, lost = 0;
    for (int64_t k = 0; k < weights.depth; ++k) {
      reach += mostByte * std::abs(weights.at(n, k));
      lost += mostByte * std::abs(weights.at(n, k) % 2);
    }
    float whole = std::nearbyint(bias[n]);
    bool large = !(std::fabs(whole) + reach <= double(INT32_MAX));
    if (element.isF32() && (large || std::fabs(bias[n] - whole) > thousandth))
      return false;
    if (!large && !element.isF32() && std::fabs(double(bias[n] - whole) * ofChannel(factors, n)) > mostLost)
      return false;
    if (large) {
      factors.resize(weights.channels, factors[0]);
      double factor = std::fabs(factors[n]);
      bool halves = lost * factor <= mostLost && std::fabs(whole) + reach <= 2.0 * double(INT32_MAX);
      if (!halves && !(reach * factor <= mostLost && std::isfinite(whole)))
        return false;
      int halvings = halves ? 1 : std::max(0, std::ilogb(whole) - 23);  // an f32 is whole up to 2^24
      factors[n] = std::ldexp(factors[n], halvings), whole = std::nearbyint(std::ldexp(bias[n], -halvings));
      for (int64_t k = 0; k < weights.depth; ++k)  // between 0 and what it was: weightOffsets() still takes it to a byte
        weights.at(n, k) = halves ? weights.at(n, k) / 2 : 0;
    }
    sums[n] = int32_t(uint32_t(sums[n]) + uint32_t(int32_t(whole)));
  }
  return true;
}

Value linearConvolution(PatternRewriter &rewriter, LinearConv c) {
  assert(!c.runZero || c.bias.empty());  // corrections are multiplied by the zero point
  auto f = filtersOf(c);
  bool isSigned = onnx::elementType(c.x).isSignlessInteger();
  auto sums = f ? corrections(*f, c, c.runZero ? -1 : c.xZero + (isSigned ? 128 : 0)) : std::nullopt;
  if (!sums)
    return {};
  Location loc = c.op->getLoc();
  int64_t outputs = f->outputs, lanes = llvm::alignTo(outputs, kLanes);
  SmallVector<int64_t> perChannel{lanes / kLanes, kLanes};
  c.factors.resize(outputs, c.factors[0]);
  c.factors.resize(lanes);
  auto result = cast<RankedTensorType>(c.op->getResult(0).getType()).clone(c.element);
  Value x = c.x, offsets;
  if (!f->offsets.empty()) {
    f->offsets.resize(lanes);
    offsets = GraphBuilder{rewriter, loc}.integers<int32_t>(perChannel, f->offsets);
  }
  auto image = cast<RankedTensorType>(x.getType());
  int64_t rank = image.getRank();
  if (!f->plain)
    x = onnx::PackedBlockOp::create(rewriter, loc, onnx::blockedType(image), x);
  else if (rank == 3)
    x = onnx::UnsqueezeOp::create(rewriter, loc, image.clone({image.getDimSize(0), image.getDimSize(1), 1, image.getDimSize(2)}), x,
                                  GraphBuilder{rewriter, loc}.integers({2}));
  auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  auto list = [&](ArrayRef<int64_t> v) { return rewriter.getDenseI64ArrayAttr(v); };
  auto given = [&](StringRef name) { return listOf(onnx::optionalInts(c.op, name), rank, 1); };
  Value y = onnx::PackedLinearConvOp::create(
      rewriter, loc, onnx::blockedType(result), x, packed(rewriter, loc, *f), GraphBuilder{rewriter, loc}.floats(perChannel, c.factors),
      GraphBuilder{rewriter, loc}.integers<int32_t>(perChannel, *sums), Value(), Value(), offsets, c.runZero,
      n(f->depthwise ? 1 : f->group), n(f->plain), n(f->depthwise ? 0 : f->channels), n(f->outputs / f->group), list({f->rows, f->columns}),
      list(given("strides")), list(f->pads), list(given("dilations")), n(c.xZero), n(c.zero), n(c.least), n(c.most), DenseF32ArrayAttr(),
      DenseF32ArrayAttr());
  return onnx::PackedUnblockOp::create(rewriter, loc, result, y, n(outputs));
}

}  // namespace onnxc
