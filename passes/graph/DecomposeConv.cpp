// DecomposeConv.cpp: transposed convolutions as plain ones, which have tuned kernels and layouts; convolutions of whole images as products.
// One of the groups of Decompose.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/DecomposeConv.h"
#include "passes/graph/Weights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PanelSizes.h"

using namespace mlir;
namespace onnxc {

// --- ConvTranspose ---

static std::optional<TransposedAxis> transposedAxis(int64_t kernel, int64_t stride, int64_t begin, int64_t end, int64_t more) {
  TransposedAxis a{kernel, stride, int64_t(llvm::divideCeil(kernel, stride)), begin, end - more, 0, 0, 0, 0};
  int64_t dropped = begin / stride, last = kernel - end + more - 1;
  if (begin < 0 || end < 0 || more < 0 || last < 0 || a.taps - 1 < dropped)
    return std::nullopt;
  a.padBegin = a.taps - 1 - dropped, a.padEnd = last / stride;
  a.cropBegin = begin - dropped * stride;
  a.cropEnd = stride * a.padEnd + stride - kernel + end - more;
  return a;
}

// The interleaved result is cropped, which would hide a negative size: from one entry on, or from those known, there is none.
static bool cropsWhatIsThere(const TransposedAxis &a, int64_t size) {
  int64_t least = ShapedType::isDynamic(size) ? 1 : size, rows = least + a.padBegin + a.padEnd - a.taps + 1;
  return rows > 0 && rows * a.stride >= a.cropBegin + a.cropEnd;
}

std::optional<Transposed> transposed(onnx::ConvTransposeOp op) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW());
  if (!x || !w || !x.getElementType().isF32() || !w.hasStaticShape() || x.getRank() < 3 || x.getRank() > 5 || w.getRank() != x.getRank() ||
      w.getNumElements() == 0 || (op.getB() && !rankedType(op.getB())))
    return std::nullopt;
  int64_t rank = x.getRank() - 2, group = op.getGroup();
  auto strides = listOr(op.getStrides(), rank, 1), pads = listOr(op.getPads(), 2 * rank, 0), more = listOr(op.getOutputPadding(), rank, 0);
  StringRef mode = op.getAutoPad();
  ArrayRef<int64_t> sizes = op.getOutputShape().value_or(ArrayRef<int64_t>());
  if (group < 1 || (!sizes.empty() && int64_t(sizes.size()) != rank) ||
      llvm::any_of(listOr(op.getDilations(), rank, 1), [](int64_t d) { return d != 1; }) || w.getDimSize(0) % group)
    return std::nullopt;
  Transposed t{w.getDimSize(0), w.getDimSize(1), group, {}};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t kernel = w.getDimSize(i + 2), begin = pads[i], end = pads[i + rank], added = more[i];
    if (mode == "VALID")
      begin = end = 0;
    if (mode.starts_with("SAME") || !sizes.empty()) {  // what is dropped decides the size: stride times that of the input, or the given one
      int64_t total = more[i] + kernel - strides[i], size = x.getDimSize(i + 2);
      if (!sizes.empty() && ShapedType::isDynamic(size))
        return std::nullopt;
      if (!sizes.empty())
        total += strides[i] * size - sizes[i];
      int64_t dropped = std::max<int64_t>(total, 0);
      begin = mode == "SAME_UPPER" ? dropped / 2 : dropped - dropped / 2, end = dropped - begin;
      added += dropped - total;  // a result that is larger than what the input makes
    }
    auto axis = transposedAxis(kernel, strides[i], begin, end, added);
    if (!axis || !cropsWhatIsThere(*axis, x.getDimSize(i + 2)))
      return std::nullopt;
    t.axes.push_back(*axis);
  }
  int64_t each = t.outputs * t.phases();
  if (rank == 3)
    return group == 1 ? std::optional(t) : std::nullopt;
  bool blocks = group == 1 || (t.channels / group % kLanes == 0 && each % kLanes == 0);
  bool depthwise = t.channels == group && (t.outputs > 1 ? kLanes % each == 0 && group * each % kLanes == 0 : each == 1);
  return blocks || depthwise ? std::optional(t) : std::nullopt;
}

// [group * outputs * phases, channels / group, taps…]; one axis counts as rows of one.
static Value phaseWeights(GraphBuilder g, const Transposed &t, const std::vector<float> &w) {
  TransposedAxis one{1, 1, 1, 0, 0, 0, 0, 0, 0}, y = t.axes.size() == 2 ? t.axes[0] : one, x = t.axes.back();
  int64_t each = t.channels / t.group, at = 0;
  std::vector<float> result(t.group * t.outputs * t.phases() * each * y.taps * x.taps);
  for (int64_t o = 0; o < t.group * t.outputs; ++o)
    for (int64_t phase = 0; phase < t.phases(); ++phase)
      for (int64_t c = 0; c < each; ++c)
        for (int64_t i = 0; i < y.taps; ++i)
          for (int64_t j = 0; j < x.taps; ++j, ++at) {
            int64_t ky = phase / x.stride + y.stride * (y.taps - 1 - i), kx = phase % x.stride + x.stride * (x.taps - 1 - j);
            int64_t channel = o / t.outputs * each + c;
            if (ky < y.kernel && kx < x.kernel)
              result[at] = w[((channel * t.outputs + o % t.outputs) * y.kernel + ky) * x.kernel + kx];
          }
  SmallVector<int64_t> shape{t.group * t.outputs * t.phases(), each};
  for (const TransposedAxis &a : t.axes)
    shape.push_back(a.taps);
  return g.floats(shape, result);
}

// The same of weights that the run gives.
static Value phaseWeights(GraphBuilder g, const Transposed &t, Value w) {
  int64_t n = t.axes.size(), each = t.channels / t.group;
  SmallVector<int64_t> more{0, 0}, parts{t.group, each, t.outputs}, perm{0, 2}, shape{t.group * t.outputs * t.phases(), each};
  for (const TransposedAxis &a : t.axes) {
    more.push_back(a.taps * a.stride - a.kernel);
    parts.append({a.taps, a.stride});
    shape.push_back(a.taps);
  }
  Value v = g.reshape(g.padEnds(w, more), parts);
  for (int64_t i = 0; i < n; ++i)
    if (t.axes[i].taps > 1)
      v = onnx::SliceOp::create(g.b, g.loc, v.getType(), v, g.integers({-1}), g.integers({INT64_MIN}), g.integers({3 + 2 * i}),
                                g.integers({-1}));
  for (int64_t i = 0; i < n; ++i)
    perm.push_back(4 + 2 * i);
  perm.push_back(1);
  for (int64_t i = 0; i < n; ++i)
    perm.push_back(3 + 2 * i);
  return g.reshape(g.transpose(v, perm), shape);
}

// The bias once for each phase.
static Value phaseBias(GraphBuilder g, const Transposed &t, Value bias) {
  int64_t channels = t.group * t.outputs, phases = t.phases();
  if (!bias || phases == 1)
    return bias;
  if (std::optional<std::vector<float>> given = constantFloats(bias)) {
    std::vector<float> values;
    for (float f : *given)
      values.insert(values.end(), phases, f);
    return g.floats({int64_t(values.size())}, values);
  }
  Value column = g.reshape(bias, {channels, 1});
  auto type = rankedType(column).clone({channels, phases});
  return g.reshape(onnx::ExpandOp::create(g.b, g.loc, type, column, g.integers({channels, phases})), {channels * phases});
}

// [N, C phases, Q…] to [N, C, Q stride…]; null where sizes are missing.
static Value interleaved(GraphBuilder g, Value v, const Transposed &t) {
  int64_t channels = t.group * t.outputs, n = t.axes.size();
  auto type = rankedType(v);
  if (t.phases() == 1)
    return v;
  if (n == 1)
    return g.reshape(g.transpose(g.reshape(v, {0, channels, t.axes[0].stride, -1}), {0, 1, 3, 2}), {0, channels, -1});
  int64_t sy = t.axes[0].stride, sx = t.axes[1].stride, h = type.getDimSize(2), w = type.getDimSize(3);
  if (ShapedType::isDynamic(h) || ShapedType::isDynamic(w)) {
    SmallVector<int64_t> shape{type.getDimSize(0), channels, ShapedType::kDynamic, ShapedType::kDynamic};
    return sy == sx
               ? Value(onnx::DepthToSpaceOp::create(g.b, g.loc, type.clone(shape), v, g.b.getI64IntegerAttr(sy), g.b.getStringAttr("CRD")))
               : Value();
  }
  v = g.transpose(g.reshape(v, {0, channels, sy, sx, h, w}), {0, 1, 4, 2, 5, 3});
  return g.reshape(v, {0, channels, h * sy, w * sx});
}

// Whether few results are computed sooner with channels in the lanes (packed.NarrowConv), which are added up for each, than as the lanes of
// all phases' results, whose three taps an axis and more have Winograd's form.
static bool gainsInLanes(const Transposed &t) {
  constexpr int64_t addUp = 5;  // multiply-adds of a vector, which adding up its lanes takes longer than moving a result
  int64_t taps = 1, all = 1;
  bool halves = t.axes.size() == 2;
  for (const TransposedAxis &a : t.axes) {
    if (a.kernel < a.stride)
      return false;
    taps *= a.kernel, all *= a.taps, halves &= a.taps >= 3;
  }
  int64_t own = t.outputs * (taps * llvm::divideCeilSigned(t.channels, kLanes) + addUp * t.phases());
  int64_t together = llvm::divideCeilSigned(t.outputs * t.phases(), kLanes) * all * t.channels;
  return t.outputs <= kFewResults && own < (halves ? together * 2 / 5 : together);
}

// Few results of any taps may have channels in the lanes. Of others two taps an axis at most, since more gain by Winograd's
// form of the convolution that all phases are; no more phases than are few code; and not where phases that share panels leave fewer lanes
// empty than they compute products of zeros.
std::optional<BlockedTransposed> blockedTransposed(Operation *operation) {
  constexpr int64_t mostTaps = 2, mostPhases = 4;
  auto op = dyn_cast<onnx::ConvTransposeOp>(operation);
  auto t = op ? transposed(op) : std::nullopt;
  bool narrow = t && gainsInLanes(*t);
  if (!t || t->axes.size() > 2 || rankedType(op.getX()).isDynamicDim(1) || t->group != 1 || t->phases() == 1 ||
      (!narrow && t->phases() > mostPhases) || op.getX().getDefiningOp<onnx::DequantizeLinearOp>())
    return std::nullopt;
  auto weights = constantFloats(op.getW());
  if (!weights)
    return std::nullopt;
  BlockedTransposed b{t->channels, t->outputs, {}, {}, {}, std::move(*weights)};
  SmallVector<int64_t> ends;
  int64_t products = llvm::divideCeil(t->outputs, kLanes), together = llvm::divideCeil(t->outputs * t->phases(), kLanes);
  for (const TransposedAxis &a : t->axes) {
    if ((!narrow && a.taps > mostTaps) || a.kernel < a.stride)
      return std::nullopt;
    b.kernel.push_back(a.kernel), b.strides.push_back(a.stride);
    b.crops.push_back(a.begin), ends.push_back(a.end);
    products *= a.kernel, together *= a.taps;
  }
  for (auto [list, one] : {std::pair(&b.kernel, 1), {&b.strides, 1}, {&b.crops, 0}, {&ends, 0}})
    if (list->size() == 1)
      list->insert(list->begin(), one);
  b.crops.append(ends);
  // Few channels have few products for each result that would be moved.
  constexpr int64_t few = 32;
  return narrow || 4 * products <= (t->channels <= few ? 5 : 4) * together ? std::optional(std::move(b)) : std::nullopt;
}

// `t` with filters that are smaller than their strides as those of as large strides, whose phases are all the taps.
static Transposed withoutGaps(Transposed t) {
  for (TransposedAxis &a : t.axes)
    a.stride = std::min(a.stride, a.kernel);
  return t;
}

// [N, C phases, Q…] of `taps` with zeros for the phases that only `all` has.
static Value withGaps(GraphBuilder g, Value v, const Transposed &taps, const Transposed &all) {
  SmallVector<int64_t> parts{0, all.group * all.outputs}, more{0, 0}, whole{0, all.group * all.outputs * all.phases()};
  for (auto [own, wanted] : llvm::zip(taps.axes, all.axes))
    parts.push_back(own.stride), more.push_back(wanted.stride - own.stride);
  for (int64_t size : rankedType(v).getShape().drop_front(2))
    parts.push_back(size), more.push_back(0), whole.push_back(size);
  return g.reshape(g.padEnds(g.reshape(v, parts), more), whole);
}

Value cropped(GraphBuilder g, Value v, ArrayRef<std::pair<int64_t, int64_t>> crops) {
  SmallVector<int64_t> starts, ends, axes, shape(rankedType(v).getShape());
  for (auto [i, crop] : llvm::enumerate(crops)) {
    auto [begin, end] = crop;
    if (begin || end) {
      starts.push_back(begin), ends.push_back(end ? -end : INT64_MAX), axes.push_back(i + 2);
      int64_t &size = shape[i + 2];
      size = ShapedType::isDynamic(size) ? size : size - begin - end;
    }
  }
  if (axes.empty())
    return v;
  return onnx::SliceOp::create(g.b, g.loc, rankedType(v).clone(shape), v, g.integers(starts), g.integers(ends), g.integers(axes), Value());
}

// `halves`: weights of 1x1 filters are stored so, as those of one tap a phase become.
static LogicalResult convTranspose(onnx::ConvTransposeOp op, bool halves, PatternRewriter &rewriter) {
  if (isTransposedOfBytes(op))
    return rewriter.notifyMatchFailure(op, "of bytes");
  if (auto own = blockedTransposed(op); own && (!halves || own->kernel != own->strides))
    return rewriter.notifyMatchFailure(op, "has a kernel of its own");
  auto t = transposed(op);
  auto x = rankedType(op.getX());
  bool sizes = t && t->axes.size() <= 2 && (x.hasStaticShape() || t->axes.size() == 1 || t->axes[0].stride == t->axes[1].stride);
  if (!sizes)
    return rewriter.notifyMatchFailure(op, "sizes and padding of a kind that a convolution has not");
  GraphBuilder g{rewriter, op.getLoc()};
  int64_t n = t->axes.size(), channels = t->group * t->outputs;
  Transposed taps = ShapedType::isDynamicShape(x.getShape().drop_front(2)) ? *t : withoutGaps(*t);
  bool gaps = taps.phases() != t->phases();
  SmallVector<int64_t> shape{x.getDimSize(0), channels * taps.phases()}, pads(2 * n);
  for (int64_t i = 0; i < n; ++i) {
    const TransposedAxis &a = t->axes[i];
    int64_t size = x.getDimSize(i + 2);
    pads[i] = a.padBegin, pads[i + n] = a.padEnd;
    shape.push_back(ShapedType::isDynamic(size) ? size : size + a.padBegin + a.padEnd - a.taps + 1);
  }
  auto known = constantFloats(op.getW());
  Value weights = known ? phaseWeights(g, taps, *known) : phaseWeights(g, taps, op.getW());
  Value bias = gaps ? Value() : phaseBias(g, *t, op.getB());
  Value v = onnx::ConvOp::create(rewriter, op.getLoc(), x.clone(shape), op.getX(), weights, bias, rewriter.getStringAttr("NOTSET"), {},
                                 op.getGroupAttr(), {}, rewriter.getDenseI64ArrayAttr(pads), {});
  v = interleaved(g, gaps ? withGaps(g, v, taps, *t) : v, *t);
  if (gaps && op.getB()) {
    SmallVector<int64_t> ofChannels(n + 1, 1);
    ofChannels[0] = channels;
    v = onnx::AddOp::create(rewriter, op.getLoc(), v.getType(), v, g.reshape(op.getB(), ofChannels));
  }
  auto crops = llvm::map_range(t->axes, [](const TransposedAxis &a) { return std::pair(a.cropBegin, a.cropEnd); });
  v = cropped(g, v, llvm::to_vector(crops));
  replaceTyped(rewriter, op, v);
  return success();
}

// --- Filters as large as their images ---
//
// are a product for a batch of images; one image keeps its convolution, which takes no longer and stays in its layout.
static LogicalResult convWhole(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW());
  if (op->hasAttr(onnx::kExactAttr) || op.getX().getDefiningOp<onnx::DequantizeLinearOp>() ||
      op.getW().getDefiningOp<onnx::DequantizeLinearOp>())
    return rewriter.notifyMatchFailure(op, "of integers");  // integer-contractions and layouts know them as convolutions
  if (!x || !w || !w.hasStaticShape() || !x.getElementType().isF32() || op.getGroup() != 1 || w.getNumElements() == 0 ||
      x.getDimSize(0) == 1 || x.getRank() != w.getRank() || x.getShape().drop_front() != w.getShape().drop_front())
    return rewriter.notifyMatchFailure(op, "not a batch of images of the filters' size");
  int64_t spatial = x.getRank() - 2, outputs = w.getDimSize(0), depth = w.getNumElements() / outputs;
  auto pads = givenPads(op, spatial);
  if (!pads || llvm::any_of(*pads, [](int64_t p) { return p != 0; }) ||
      llvm::any_of(listOr(op.getDilations(), spatial, 1), [](int64_t d) { return d != 1; }))
    return rewriter.notifyMatchFailure(op, "padded or dilated");
  GraphBuilder g{rewriter, op.getLoc()};
  Value images = g.reshape(op.getX(), {-1, depth}), filters = g.reshape(op.getW(), {outputs, depth});
  auto one = rewriter.getF32FloatAttr(1);
  auto type = x.clone({rankedType(images).getDimSize(0), outputs});
  Value v = onnx::GemmOp::create(rewriter, op.getLoc(), type, images, filters, op.getB(), one, one, rewriter.getI64IntegerAttr(0),
                                 rewriter.getI64IntegerAttr(1));
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[0] = -1, shape[1] = outputs;
  v = g.reshape(v, shape);
  replaceTyped(rewriter, op, v);
  return success();
}

// Filters as wide as their images, as those that read the words of a text: a row's pixels are channels, and the results lie along the
// height, where kernels take several at once. Blocks of channels stay as they are, since their kernel turns such images on its side, but
// where Winograd's form of the result, which a row of one pixel has not, spares more products than moving a pixel takes time for.
static LogicalResult convWholeRows(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  auto given = givenPads(op, 2);
  if (!x || x.getRank() != 4 || !x.getElementType().isF32() || !w || !w.hasStaticShape() || w.getRank() != 4 || !given ||
      op->hasAttr(onnx::kExactAttr) || op.getX().getDefiningOp<onnx::DequantizeLinearOp>() ||
      op.getW().getDefiningOp<onnx::DequantizeLinearOp>() || llvm::is_contained(x.getShape(), 0) || llvm::is_contained(y.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "not of images of floats");
  ArrayRef<int64_t> pads = *given;
  auto strides = listOr(op.getStrides(), 2, 1), dilations = listOr(op.getDilations(), 2, 1);
  int64_t channels = x.getDimSize(1), height = x.getDimSize(2), width = x.getDimSize(3), taps = w.getDimSize(2);
  bool halves = taps >= 3 && strides[0] == 1 && w.getDimSize(0) * taps >= 128;
  if (width != w.getDimSize(3) || width < 2 || dilations[1] != 1 || pads[1] || pads[3] || ShapedType::isDynamic(channels) ||
      y.getDimSize(2) == 1 || (channels >= kLanes && !halves))
    return rewriter.notifyMatchFailure(op, "not as wide as the images, or of one row");
  bool one = channels == 1;
  if (!one && ShapedType::isDynamic(height) && ShapedType::isDynamic(x.getDimSize(0)))
    return rewriter.notifyMatchFailure(op, "two sizes are missing");
  GraphBuilder g{rewriter, op.getLoc()};
  auto columns = [&](Value v, RankedTensorType type) -> Value {
    v = g.transpose(v, {0, 1, 3, 2});
    SmallVector<int64_t> shape{type.getDimSize(0), type.getDimSize(1) * width, type.getDimSize(2)};
    if (type.getDimSize(1) == 1)
      return onnx::SqueezeOp::create(rewriter, op.getLoc(), type.clone(shape), v, g.integers({1}));
    llvm::replace(shape, ShapedType::kDynamic, int64_t(-1));
    return g.reshape(v, shape);
  };
  auto type = y.clone({y.getDimSize(0), y.getDimSize(1), y.getDimSize(2)});
  auto conv = onnx::ConvOp::create(rewriter, op.getLoc(), type, columns(op.getX(), x), columns(op.getW(), w), op.getB(),
                                   op.getAutoPadAttr(), rewriter.getDenseI64ArrayAttr({dilations[0]}), op.getGroupAttr(), {},
                                   rewriter.getDenseI64ArrayAttr({pads[0], pads[2]}), rewriter.getDenseI64ArrayAttr({strides[0]}));
  Value v = g.unsqueeze(conv, {3});
  replaceTyped(rewriter, op, v);
  return success();
}

namespace {
struct TransposedPattern : OpRewritePattern<onnx::ConvTransposeOp> {
  TransposedPattern(MLIRContext *context, bool halves) : OpRewritePattern(context), halves(halves) {}
  LogicalResult matchAndRewrite(onnx::ConvTransposeOp op, PatternRewriter &rewriter) const override {
    return convTranspose(op, halves, rewriter);
  }
  bool halves;
};
}  // namespace

void populateDecomposeConvPatterns(RewritePatternSet &patterns, bool halves) {
  patterns.add(convWholeRows, /*benefit=*/2);
  patterns.add(convWhole, /*benefit=*/3);
  patterns.add<TransposedPattern>(patterns.getContext(), halves);
  populateFramePatterns(patterns);
}

}  // namespace onnxc
