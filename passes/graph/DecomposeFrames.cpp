// DecomposeFrames.cpp: convolutions over three dims with constant weights, also transposed ones, and MaxPool and AveragePool, as those of
// frames that are images. One of the groups of Decompose.cpp.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/DecomposeConv.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PanelSizes.h"
#include "runtime_stub/kernels/PhaseAxis.h"

using namespace mlir;
namespace onnxc {

static std::optional<std::vector<float>> biasOf(Value b) { return b ? constantFloats(b) : std::vector<float>(); }

// A convolution that stands for `op` has to be as exact as it.
static Value asExactAs(onnx::ConvOp op, Operation *made) {
  if (op->hasAttr(onnx::kExactAttr))
    made->setAttr(onnx::kExactAttr, UnitAttr::get(op.getContext()));
  return made->getResult(0);
}

// The product of the sizes of two axes.
static Value sizeTogether(Value v, int64_t a, int64_t b, GraphBuilder g) {
  Value first = g.sizeOf(v, a), second = g.sizeOf(v, b);
  return onnx::MulOp::create(g.b, g.loc, first.getType(), first, second);
}

// Of pads over three dims those of an image: top, left, bottom, right.
static DenseI64ArrayAttr imagePads(ArrayRef<int64_t> pads, OpBuilder &b) {
  return b.getDenseI64ArrayAttr({pads[1], pads[2], pads[4], pads[5]});
}

// One frame and filters of one: images, of any size.
static LogicalResult convOfOneFrame(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  bool one = x && x.getRank() == 5 && w && w.getRank() == 5 && y && x.getDimSize(2) == 1 && w.getDimSize(2) == 1 && y.getDimSize(2) == 1;
  auto pads = listOr(op.getPads(), 6, 0);
  if (!one || pads[0] || pads[3])
    return rewriter.notifyMatchFailure(op, "several frames");
  GraphBuilder g{rewriter, op.getLoc()};
  auto image = [&](Value v) -> Value {
    SmallVector<int64_t> shape(rankedType(v).getShape());
    shape.erase(shape.begin() + 2);
    return onnx::SqueezeOp::create(rewriter, op.getLoc(), rankedType(v).clone(shape), v, g.integers({2}));
  };
  auto ofImage = [&](std::optional<ArrayRef<int64_t>> values) {
    return values && values->size() == 3 ? rewriter.getDenseI64ArrayAttr(values->drop_front()) : DenseI64ArrayAttr();
  };
  auto type = y.clone({y.getDimSize(0), y.getDimSize(1), y.getDimSize(3), y.getDimSize(4)});
  auto conv = onnx::ConvOp::create(rewriter, op.getLoc(), type, image(op.getX()), image(op.getW()), op.getB(), op.getAutoPadAttr(),
                                   ofImage(op.getDilations()), op.getGroupAttr(), ofImage(op.getKernelShape()),
                                   op.getPads() ? imagePads(pads, rewriter) : DenseI64ArrayAttr(), ofImage(op.getStrides()));
  Value v = g.unsqueeze(asExactAs(op, conv), {2});
  replaceTyped(rewriter, op, v);
  return success();
}

namespace {
// A convolution over frames, as convolutions of images.
struct Frames {
  RankedTensorType x, w, y;
  SmallVector<int64_t> strides, dilations, pads;
  int64_t channels, outputs, depth, area, count, group;  // area: of a filter's image; count: frames of the result
  bool depthwise;
};
}  // namespace

// Whether windows make `y` of the frames of `x`: with pads that cut nothing off, of no size of 0, and of a number of frames that is enough.
static bool coversFrames(RankedTensorType x, RankedTensorType y, ArrayRef<int64_t> pads, const onnx::FrameAxis &axis) {
  bool isKnown = llvm::none_of(pads, [](int64_t p) { return p < 0; }) && !llvm::is_contained(x.getShape(), 0) &&
                 !llvm::is_contained(y.getShape(), 0) && x.isDynamicDim(2) == y.isDynamicDim(2);
  return isKnown && (!x.isDynamicDim(2) || axis.more() >= 0);  // below, too few frames are an error of the run
}

static onnx::FrameAxis axisOf(const Frames &f) { return {f.depth, f.strides[0], f.dilations[0], f.pads[0], f.pads[3]}; }

static std::optional<Frames> framesOf(onnx::ConvOp op) {
  Frames f{rankedType(op.getX()), rankedType(op.getW()), rankedType(op.getY()), {}, {}, {}, 0, 0, 0, 0, 0, int64_t(op.getGroup()), false};
  auto pads = givenPads(op, 3);
  if (!f.x || f.x.getRank() != 5 || !f.y || !f.w || !f.w.hasStaticShape() || f.w.getRank() != 5 || !pads || f.x.isDynamicDim(1))
    return std::nullopt;
  f.channels = f.x.getDimSize(1), f.outputs = f.w.getDimSize(0), f.depth = f.w.getDimSize(2), f.count = f.y.getDimSize(2);
  f.area = f.w.getDimSize(3) * f.w.getDimSize(4);
  int64_t each = f.outputs / std::max<int64_t>(f.group, 1);  // within the lanes of a block
  f.depthwise =
      f.channels > 1 && f.group == f.channels && f.w.getDimSize(1) == 1 && (each == 1 || (kLanes % each == 0 && f.outputs % kLanes == 0));
  f.strides = listOr(op.getStrides(), 3, 1), f.dilations = listOr(op.getDilations(), 3, 1);
  f.pads = std::move(*pads);
  const bool areEnough = !f.x.isDynamicDim(2) || axisOf(f).more() >= f.strides[0] - 1;  // one frame has a result
  return areEnough && coversFrames(f.x, f.y, f.pads, axisOf(f)) ? std::optional(std::move(f)) : std::nullopt;
}

// How many images `count` frames of each video are; ShapedType::kDynamic where only the run knows.
static int64_t imagesOf(int64_t videos, int64_t count) {
  return ShapedType::isDynamic(videos) || ShapedType::isDynamic(count) ? ShapedType::kDynamic : videos * count;
}

// [batch * frames, channels, height, width] of [batch, frames, channels, height, width], or blocks of channels.
static Value mergedFrames(Value v, GraphBuilder g) {
  ArrayRef<int64_t> s = rankedType(v).getShape();
  int64_t images = imagesOf(s[0], s[1]);
  SmallVector<Value> sizes;
  if (ShapedType::isDynamic(images))
    sizes.push_back(sizeTogether(v, 0, 1, g));
  sizes.append(g.unknownSizes(v, {3, 4}));
  SmallVector<int64_t> shape{images};
  shape.append(s.begin() + 2, s.end());
  return g.reshapeTo(v, shape, sizes);
}

// The same of [batch, channels, frames, height, width]; of a batch of one a view of its frames.
static Value framesAsImages(Value x, GraphBuilder g) { return mergedFrames(g.transpose(x, {0, 2, 1, 3, 4}), g); }

namespace {
struct DepthTaps {  // of a filter along the depth; `first`: the frame that the first tap reads first, behind those of zeros
  int64_t taps, count, stride, dilation, padBegin, padEnd, first;
};
}  // namespace

// [batch, frames, channels, height, width] of [batch, channels, frames, height, width], in blocks of channels.
static Value blocksOfFrames(Value x, GraphBuilder g) {
  auto type = rankedType(x);
  Value images = framesAsImages(x, g);
  auto blocked = onnx::blockedType(rankedType(images));
  Value v = onnx::PackedBlockOp::create(g.b, g.loc, blocked, images);
  SmallVector<int64_t> shape{type.getDimSize(0), type.getDimSize(2)};
  llvm::append_range(shape, blocked.getShape().drop_front());
  return g.reshapeTo(v, shape, g.unknownSizes(x, {0, 2, 3, 4}));
}

// The frames that each tap reads, [batch * count, channels, height, width]. `border`: what frames outside are made of; null: zeros.
// `blocks`: they are cut out of blocks.
static SmallVector<Value> tapFrames(Value x, const DepthTaps &depth, GraphBuilder g, Value border = {}, bool blocks = false) {
  auto type = rankedType(x);
  bool one = type.getDimSize(0) == 1 && !blocks;
  int64_t axis = one ? 0 : 1;
  Value v = one ? framesAsImages(x, g) : blocks ? blocksOfFrames(x, g) : g.transpose(x, {0, 2, 1, 3, 4});
  if (depth.padBegin || depth.padEnd) {
    SmallVector<int64_t> shape(rankedType(v).getShape()), pads(2 * shape.size(), 0);
    if (!ShapedType::isDynamic(shape[axis]))
      shape[axis] += depth.padBegin + depth.padEnd;
    pads[axis] = depth.padBegin, pads[shape.size() + axis] = depth.padEnd;
    v = onnx::PadOp::create(g.b, g.loc, type.clone(shape), v, g.integers(pads), border, Value(), "constant");
  }
  SmallVector<Value> taps;
  for (int64_t d = 0; d < depth.taps; ++d) {
    int64_t start = depth.first + d * depth.dilation, end = start + (depth.count - 1) * depth.stride + 1;
    bool whole = start == 0 && end == rankedType(v).getDimSize(axis) && depth.stride == 1;
    if (ShapedType::isDynamic(depth.count)) {  // what the taps behind read ends later
      int64_t behind = (depth.taps - 1 - d) * depth.dilation;
      end = behind == 0 ? std::numeric_limits<int64_t>::max() : -behind, whole = depth.taps == 1 && depth.stride == 1;
    }
    Value tap = whole ? v : g.slice(v, axis, start, end, depth.stride);
    taps.push_back(one ? tap : mergedFrames(tap, g));
    if (blocks) {
      ArrayRef<int64_t> s = rankedType(taps.back()).getShape();
      taps.back() = onnx::PackedUnblockOp::create(g.b, g.loc, type.clone({s[0], type.getDimSize(1), s[2], s[3]}), taps.back(),
                                                  g.b.getI64IntegerAttr(type.getDimSize(1)));
    }
  }
  return taps;
}

std::vector<float> tapsBeforeChannels(const std::vector<float> &weights, int64_t outputs, int64_t channels, int64_t taps, int64_t area,
                                      int64_t room) {
  std::vector<float> result(outputs * taps * room * area);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t i = 0; i < area; ++i)
          result[((o * taps + t) * room + c) * area + i] = weights[((o * channels + c) * taps + t) * area + i];
  return result;
}

// All taps at once, joined along the channels of images `v` and of filters.
static DepthTaps tapsOf(const Frames &f) { return {f.depth, f.count, f.strides[0], f.dilations[0], f.pads[0], f.pads[3], 0}; }
static SmallVector<int64_t> filterShape(const Frames &f) { return {f.outputs, f.depth * f.channels, f.w.getDimSize(3), f.w.getDimSize(4)}; }
static Value imageConv(const Frames &f, onnx::ConvOp op, GraphBuilder g, Value v, Value filters, Value bias) {
  auto type = f.x.clone({rankedType(v).getDimSize(0), f.outputs, f.y.getDimSize(3), f.y.getDimSize(4)});
  auto conv = onnx::ConvOp::create(g.b, op.getLoc(), type, v, filters, bias, g.b.getStringAttr("NOTSET"),
                                   g.b.getDenseI64ArrayAttr({f.dilations[1], f.dilations[2]}), g.b.getI64IntegerAttr(f.group), {},
                                   imagePads(f.pads, g.b), g.b.getDenseI64ArrayAttr({f.strides[1], f.strides[2]}));
  return asExactAs(op, conv);
}
// Of few channels, which leave less of a block's lanes empty so.
static Value joinedTaps(const Frames &f, onnx::ConvOp op, GraphBuilder g, const std::vector<float> &weights) {
  Value filters = g.floats(filterShape(f), tapsBeforeChannels(weights, f.outputs, f.channels, f.depth, f.area, f.channels));
  return imageConv(f, op, g, g.concat(tapFrames(op.getX(), tapsOf(f), g), 1), filters, op.getB());
}
// Each tap apart, added up: of groups, whose channels do not lie together when those of all taps are joined.
static Value summedTaps(const Frames &f, onnx::ConvOp op, GraphBuilder g, const std::vector<float> &weights) {
  Value sum;
  bool blocks = onnx::fillsBlocks(f.channels);
  for (auto [d, frames] : llvm::enumerate(tapFrames(op.getX(), tapsOf(f), g, {}, blocks))) {
    std::vector<float> tap;
    for (size_t at = d * f.area; at < weights.size(); at += f.depth * f.area)
      tap.insert(tap.end(), weights.begin() + at, weights.begin() + at + f.area);
    Value filters = g.floats({f.outputs, f.w.getDimSize(1), f.w.getDimSize(3), f.w.getDimSize(4)}, std::move(tap));
    Value part = imageConv(f, op, g, frames, filters, sum ? Value() : op.getB());
    sum = sum ? onnx::AddOp::create(g.b, op.getLoc(), part.getType(), sum, part).getResult() : part;
  }
  return sum;
}

// Whether a convolution made what `v` is computed from, position by position, so that it lies in blocks where channels fill them.
static bool isConvolved(Value v) {
  constexpr int kMostSteps = 16;
  for (int step = 0; step < kMostSteps; ++step) {
    Operation *op = v.getDefiningOp();
    if (isa_and_present<onnx::ConvOp, onnx::PackedFrameConvOp, onnx::PackedFramePoolOp>(op))
      return true;
    if (!op || !(isPointwise(op) || isChannelwise(op) || isView(op) ||
                 isa<onnx::TransposeOp, onnx::ConcatOp, onnx::InstanceNormalizationOp, onnx::GroupNormalizationOp, onnx::MaxPoolOp,
                     onnx::AveragePoolOp>(op)))
      return false;
    v = onnx::constantValue(op->getOperand(0)) ? op->getOperands().back() : op->getOperand(0);
  }
  return false;
}

// Whether neighbouring frames are read as if they were one image's: of blocks that hold the channels of a frame, or, of channels that no
// convolution made, where they lie. `convolved`: isConvolved of them.
static bool readsFrames(const Frames &f, bool convolved) {
  // Each result meets some frame, also where there are none: kernels of whole blocks store with the last one.
  bool meetsOne = std::max(f.pads[0], f.pads[3]) < f.depth && (!f.x.isDynamicDim(2) || axisOf(f).more() < f.strides[0]);
  // To few results of stride 1 the kernel that has pixels in its lanes is faster.
  bool plain = onnx::leavesLanes(f.depth * f.channels) && (f.outputs > kNarrowResults || f.strides[2] > 1) && !convolved;
  return f.depthwise || (f.group == 1 && f.depth > 1 && f.dilations[0] == 1 && meetsOne && (onnx::fillsBlocks(f.channels) || plain));
}

// Filters of one pixel and several frames: a frame is a row of an image, whose height is time. Not behind a convolution, whose frames lie
// in blocks that would have to be moved.
static LogicalResult convOverTime(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), w = rankedType(op.getW()), y = rankedType(op.getY());
  bool frames = x && x.getRank() == 5 && w && w.getRank() == 5 && y && w.hasStaticShape() && w.getDimSize(3) * w.getDimSize(4) == 1 &&
                w.getDimSize(2) > 1;
  auto given = givenPads(op, 3);
  // Channels that only the run knows are the convolution's to check: a view would take frames for them.
  if (!frames || !given || x.isDynamicDim(1) || llvm::is_contained(x.getShape(), 0) || llvm::is_contained(y.getShape(), 0))
    return rewriter.notifyMatchFailure(op, "not over frames with filters of one pixel");
  auto strides = listOr(op.getStrides(), 3, 1), dilations = listOr(op.getDilations(), 3, 1);
  ArrayRef<int64_t> pads = *given;
  if (strides[1] != 1 || strides[2] != 1 || pads[1] || pads[2] || pads[4] || pads[5])
    return rewriter.notifyMatchFailure(op, "skips pixels or pads frames");
  auto f = constantFloats(op.getW()) && biasOf(op.getB()) ? framesOf(op) : std::nullopt;
  if (f && isConvolved(op.getX()) && readsFrames(*f, /*convolved=*/true))
    return rewriter.notifyMatchFailure(op, "reads frames where they lie in blocks");
  GraphBuilder g{rewriter, op.getLoc()};
  bool isKnown = !x.isDynamicDim(3) && !x.isDynamicDim(4);
  int64_t area = isKnown ? x.getDimSize(3) * x.getDimSize(4) : ShapedType::kDynamic;
  SmallVector<Value> sizes = g.unknownSizes(op.getX(), {0, 2});
  if (!isKnown)
    sizes.push_back(sizeTogether(op.getX(), 3, 4, g));
  Value v = g.reshapeTo(op.getX(), {x.getDimSize(0), w.getDimSize(1) * int64_t(op.getGroup()), x.getDimSize(2), area}, sizes);
  Value filters = g.reshape(op.getW(), {w.getDimSize(0), w.getDimSize(1), w.getDimSize(2), 1});
  auto type = x.clone({y.getDimSize(0), y.getDimSize(1), y.getDimSize(2), area});
  auto conv = onnx::ConvOp::create(rewriter, op.getLoc(), type, v, filters, op.getB(), rewriter.getStringAttr("NOTSET"),
                                   rewriter.getDenseI64ArrayAttr({dilations[0], 1}), op.getGroupAttr(), {},
                                   rewriter.getDenseI64ArrayAttr({pads[0], 0, pads[3], 0}), rewriter.getDenseI64ArrayAttr({strides[0], 1}));
  v = asExactAs(op, conv);
  sizes = g.unknownSizes(v, {0, 2});
  sizes.append(g.unknownSizes(op.getX(), {3, 4}));
  v = g.reshapeTo(v, {type.getDimSize(0), w.getDimSize(0), type.getDimSize(2), x.getDimSize(3), x.getDimSize(4)}, sizes);
  replaceTyped(rewriter, op, v);
  return success();
}

static Value frameConv(const Frames &f, onnx::ConvOp op, GraphBuilder g) {
  Value v = framesAsImages(op.getX(), g);
  auto type = f.x.clone({imagesOf(f.x.getDimSize(0), f.count), f.outputs, f.y.getDimSize(3), f.y.getDimSize(4)});
  auto conv = onnx::PackedFrameConvOp::create(
      g.b, op.getLoc(), type, v, op.getW(), op.getB(), g.sizeOf(op.getX(), 0), g.sizeOf(op.getX(), 2), g.b.getBoolAttr(f.depthwise),
      g.b.getDenseI64ArrayAttr(axisOf(f).list()), g.b.getDenseI64ArrayAttr({f.strides[1], f.strides[2]}), imagePads(f.pads, g.b),
      g.b.getDenseI64ArrayAttr({f.dilations[1], f.dilations[2]}));
  return asExactAs(op, conv);
}

// Images of the result, in place of `op`, whose operand 0 has the frames that `axis` says how it reads.
static void replaceByImages(Operation *op, PatternRewriter &rewriter, const onnx::FrameAxis &axis, Value images) {
  GraphBuilder g{rewriter, op->getLoc()};
  Value x = op->getOperand(0);
  auto y = rankedType(op->getResult(0));
  SmallVector<Value> sizes = g.unknownSizes(x, {0});
  if (y.isDynamicDim(2)) {
    Value size = g.sizeOf(x, 2);
    size = onnx::AddOp::create(rewriter, op->getLoc(), size.getType(), size, g.integers({axis.more()}));
    sizes.push_back(onnx::DivOp::create(rewriter, op->getLoc(), size.getType(), size, g.integers({axis.stride})));
  }
  sizes.append(g.unknownSizes(images, {2, 3}));
  int64_t channels = rankedType(images).getDimSize(1);
  Value v = g.reshapeTo(images, {rankedType(x).getDimSize(0), y.getDimSize(2), channels, y.getDimSize(3), y.getDimSize(4)}, sizes);
  replaceTyped(rewriter, op, g.transpose(v, {0, 2, 1, 3, 4}));
}

// Frames become images.
static LogicalResult convFrames(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto f = biasOf(op.getB()) ? framesOf(op) : std::nullopt;
  auto weights = f ? constantFloats(op.getW()) : std::nullopt;
  if (!weights || weights->empty())
    return rewriter.notifyMatchFailure(op, "not over frames with constant weights");
  constexpr int64_t mostApart = 32;
  bool reads = readsFrames(*f, isConvolved(op.getX()));
  if (!reads && f->group > 1 && f->depth > mostApart)
    return rewriter.notifyMatchFailure(op, "more taps in groups than are worth a convolution each");
  GraphBuilder g{rewriter, op.getLoc()};
  auto images = reads ? frameConv(*f, op, g) : f->group == 1 ? joinedTaps(*f, op, g, *weights) : summedTaps(*f, op, g, *weights);
  replaceByImages(op, rewriter, axisOf(*f), images);
  return success();
}

// Windows over frames in blocks, of images. Of others the kernel of windows over three axes takes less time than to block them.
template <class PoolOp>
static LogicalResult poolFrames(PoolOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX()), y = rankedType(op.getY());
  bool frames = x && y && x.getRank() == 5 && x.getElementType().isF32() && op->getNumResults() == 1 && !op.getCeilMode() &&
                !x.isDynamicDim(1) && onnx::fillsBlocks(x.getDimSize(1)) && isConvolved(op.getX());
  auto pads = givenPads(op, 3);
  if (!frames || !pads)
    return rewriter.notifyMatchFailure(op, "not over frames in blocks, with pads that are known");
  ArrayRef<int64_t> kernel = op.getKernelShape();
  auto strides = listOr(op.getStrides(), 3, 1), dilations = listOr(op.getDilations(), 3, 1);
  onnx::FrameAxis axis{kernel[0], strides[0], dilations[0], (*pads)[0], (*pads)[3]};
  if (!coversFrames(x, y, *pads, axis))
    return rewriter.notifyMatchFailure(op, "too few frames, empty ones, or pads that cut some off");
  GraphBuilder g{rewriter, op.getLoc()};
  auto list = [&](ArrayRef<int64_t> values) { return rewriter.getDenseI64ArrayAttr(values); };
  auto flag = [&](StringRef name) { return rewriter.getI64IntegerAttr(onnx::intAttr(op, name)); };
  auto type = x.clone({imagesOf(x.getDimSize(0), y.getDimSize(2)), x.getDimSize(1), y.getDimSize(3), y.getDimSize(4)});
  Value images = onnx::PackedFramePoolOp::create(
      rewriter, op.getLoc(), type, framesAsImages(op.getX(), g), g.sizeOf(op.getX(), 0), g.sizeOf(op.getX(), 2),
      rewriter.getI64IntegerAttr(isa<onnx::AveragePoolOp>(op)), flag("count_include_pad"), list(axis.list()), list(kernel.drop_front()),
      list(ArrayRef(strides).drop_front()), imagePads(*pads, rewriter), list(ArrayRef(dilations).drop_front()));
  replaceByImages(op, rewriter, axis, images);
  return success();
}

// A reduction of axes, which the transposition before it moves through.
template <class PoolOp, class ReduceOp>
static LogicalResult poolOfFrames(PoolOp op, PatternRewriter &rewriter) {
  auto x = rankedType(op.getX());
  if (!x || x.getRank() != 5 || !x.getElementType().isF32() || !isConvolved(op.getX()))
    return rewriter.notifyMatchFailure(op, "not over frames in blocks");
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getX(), GraphBuilder{rewriter, op.getLoc()}.integers({2, 3, 4}));
  return success();
}

// Frames of bytes become images of bytes with the channels of all taps, which the kernels of bytes multiply. Frames outside are zero
// points.
static LogicalResult convByteFrames(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto x = op.getX().getDefiningOp<onnx::DequantizeLinearOp>(), w = op.getW().getDefiningOp<onnx::DequantizeLinearOp>();
  auto scaling = x ? scalingOf(x) : std::nullopt;
  auto f = scaling && w && op.getGroup() == 1 ? framesOf(op) : std::nullopt;
  auto weights = f && isByte(onnx::elementType(w.getX())) && w.getBlockSize() == 0 ? constantIntegers(w.getX()) : std::nullopt;
  auto scales = weights ? rankedType(w.getXScale()) : RankedTensorType();
  bool ofResults = scales && (onnx::axisAttr(w, 5) == 0 || (scales.hasStaticShape() && scales.getNumElements() == 1));
  if (!weights || weights->empty() || !ofResults)
    return rewriter.notifyMatchFailure(op, "not of bytes over frames of known size with constant weights");
  GraphBuilder g{rewriter, op.getLoc()};
  auto dequantised = [&](onnx::DequantizeLinearOp like, Value bytes) -> Value {
    Type type = rankedType(bytes).clone(rewriter.getF32Type());
    return onnx::DequantizeLinearOp::create(rewriter, like.getLoc(), type, bytes, like.getXScale(), like.getXZeroPoint(),
                                            rewriter.getI64IntegerAttr(onnx::axisAttr(like, 5)), like.getBlockSizeAttr(),
                                            like.getOutputDtypeAttr());
  };
  std::vector<float> joined = tapsBeforeChannels(*weights, f->outputs, f->channels, f->depth, f->area, f->channels);
  std::vector<char> bytes;
  for (float v : joined)
    bytes.push_back(char(int(v)));
  Value border = g.constant(RankedTensorType::get({}, onnx::elementType(x.getX())), {char(int(scaling->zero))});
  Value filters = g.constant(RankedTensorType::get(filterShape(*f), onnx::elementType(w.getX())), std::move(bytes));
  Value images = g.concat(tapFrames(x.getX(), tapsOf(*f), g, border), 1);
  replaceByImages(op, rewriter, axisOf(*f), imageConv(*f, op, g, dequantised(x, images), dequantised(w, filters), op.getB()));
  return success();
}

// --- ConvTranspose over three dims ---

namespace {
// One over frames, as those of images: of the frames that some phases of the result along the depth read.
struct TransposedFrames {
  Transposed t;
  RankedTensorType x, y;
  std::vector<float> weights, bias;
  const TransposedAxis &depth() const { return t.axes[0]; }
};
}  // namespace

static std::optional<TransposedFrames> transposedFramesOf(onnx::ConvTransposeOp op) {
  auto x = rankedType(op.getX()), y = rankedType(op.getY());
  auto t = x && x.getRank() == 5 ? transposed(op) : std::nullopt;
  auto weights = t ? constantFloats(op.getW()) : std::nullopt;
  auto bias = biasOf(op.getB());
  auto isKnown = [](RankedTensorType v) { return llvm::all_of(v.getShape().drop_front(), [](int64_t d) { return d > 0; }); };
  if (!weights || !bias || !y || !isKnown(x) || !isKnown(y))
    return std::nullopt;
  return TransposedFrames{*t, x, y, std::move(*weights), std::move(*bias)};
}

// `count` images of the phases [begin, end) along the depth, [batch * count, phases * outputs, height, width]: of `taps` frames each, the
// first of which is frame -pad.
static Value phaseImages(const TransposedFrames &t, onnx::ConvTransposeOp op, GraphBuilder g, int64_t begin, int64_t end, int64_t taps,
                         int64_t pad, int64_t count) {
  int64_t channels = t.t.channels, phases = end - begin, outputs = t.t.outputs, last = count - 1 + taps - 1 - pad;
  const TransposedAxis &depth = t.depth(), &down = t.t.axes[1], &right = t.t.axes[2];
  DepthTaps read{
      taps, count, 1, 1, std::max<int64_t>(pad, 0), std::max<int64_t>(last + 1 - t.x.getDimSize(2), 0), std::max<int64_t>(-pad, 0)};
  Value v = g.concat(tapFrames(op.getX(), read, g), 1);
  int64_t area = down.kernel * right.kernel;
  std::vector<float> weights(taps * channels * phases * outputs * area), bias;
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t phase = begin; phase < end; ++phase)
        for (int64_t o = 0; o < outputs; ++o)
          if (int64_t z = phase + depth.stride * (taps - 1 - tap); z < depth.kernel)
            std::copy_n(&t.weights[((c * outputs + o) * depth.kernel + z) * area], area,
                        &weights[(((tap * channels + c) * phases + phase - begin) * outputs + o) * area]);
  for (int64_t phase = begin; phase < end; ++phase)
    llvm::append_range(bias, t.bias);
  auto list = [&](auto value) { return g.b.getDenseI64ArrayAttr({value(down), value(right)}); };
  auto cut = [](int64_t n) { return std::max<int64_t>(n, 0); };
  Value filters = g.floats({taps * channels, phases * outputs, down.kernel, right.kernel}, std::move(weights));
  Value start = bias.empty() ? Value() : g.floats({phases * outputs}, std::move(bias));
  auto type = t.x.clone({rankedType(v).getDimSize(0), phases * outputs, t.y.getDimSize(3), t.y.getDimSize(4)});
  return onnx::ConvTransposeOp::create(g.b, g.loc, type, v, filters, start, g.b.getStringAttr("NOTSET"), {}, g.b.getI64IntegerAttr(1), {},
                                       list([&](const TransposedAxis &a) { return cut(-a.end); }), {},
                                       g.b.getDenseI64ArrayAttr({down.begin, right.begin, cut(down.end), cut(right.end)}),
                                       list([](const TransposedAxis &a) { return a.stride; }));
}

// Phases along the depth are channels of images, which are frames of the result in turn. Phases of several taps read other frames each,
// and have images of their own where there are as many of all and these fill their blocks; else those of all phases are computed, and some
// are dropped.
static LogicalResult transposedFrames(onnx::ConvTransposeOp op, PatternRewriter &rewriter) {
  auto t = transposedFramesOf(op);
  if (!t)
    return rewriter.notifyMatchFailure(op, "not over frames of known size with constant weights, all channels together");
  GraphBuilder g{rewriter, op.getLoc()};
  const TransposedAxis &depth = t->depth();
  int64_t frames = t->y.getDimSize(2), begin = 0, end = frames, count = frames / depth.stride;
  Value v;
  if (depth.taps > 1 && frames % depth.stride == 0 && depth.kernel >= depth.stride && t->t.outputs >= kLanes) {
    SmallVector<Value> phases(depth.stride);
    for (int64_t i = 0; i < depth.stride; ++i) {
      PhaseAxis phase(i, depth.kernel, depth.stride, depth.begin);
      phases[phase.first] = phaseImages(*t, op, g, i, i + 1, phase.taps, phase.pad, count);
    }
    v = g.concat(phases, 1);
  } else {
    count = t->x.getDimSize(2) + depth.padBegin + depth.padEnd - depth.taps + 1;
    v = phaseImages(*t, op, g, 0, depth.stride, depth.taps, depth.padBegin, count);
    begin = depth.cropBegin, end = count * depth.stride - depth.cropEnd;
  }
  bool one = t->x.getDimSize(0) == 1;
  int64_t made = count * depth.stride, outputs = t->t.outputs, height = t->y.getDimSize(3), width = t->y.getDimSize(4);
  v = one ? g.reshape(v, {made, outputs, height, width}) : g.reshape(v, {-1, made, outputs, height, width});
  if (begin != 0 || end != made)
    v = g.slice(v, one ? 0 : 1, begin, end);
  v = g.transpose(one ? g.reshape(v, {1, frames, outputs, height, width}) : v, {0, 2, 1, 3, 4});
  replaceTyped(rewriter, op, v);
  return success();
}

void populateByteFramePatterns(RewritePatternSet &patterns) { patterns.add(convByteFrames); }
void populateFramePatterns(RewritePatternSet &patterns) {
  patterns.add(transposedFrames);
  patterns.add(convOfOneFrame, /*benefit=*/3);
  patterns.add(convOverTime, /*benefit=*/2);
  patterns.add(convFrames);
  patterns.add(poolFrames<onnx::MaxPoolOp>);
  patterns.add(poolFrames<onnx::AveragePoolOp>);
  patterns.add(poolOfFrames<onnx::GlobalAveragePoolOp, onnx::ReduceMeanOp>);
  patterns.add(poolOfFrames<onnx::GlobalMaxPoolOp, onnx::ReduceMaxOp>);
}

}  // namespace onnxc
