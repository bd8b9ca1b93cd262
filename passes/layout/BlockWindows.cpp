// BlockWindows.cpp: convolutions, pools, resizes and borders on blocks. Part of the block-channels pass (Blocker.h).
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/SymbolicShapes.h"
#include "passes/graph/Weights.h"
#include "passes/layout/Blocker.h"
#include "passes/layout/ConvWeights.h"
#include "passes/layout/ResizeTables.h"
#include "runtime_stub/kernels/PanelSizes.h"

using namespace mlir;
namespace onnxc::blocks {

static bool areOnes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t v) { return v == 1; });
}

// Whether pixels are rows of a product, as onnx::isProduct says of what becomes of it.
static bool isProduct(const BlockedConv &c) {
  return areOnes(c.kernel) && areOnes(c.strides) && llvm::all_of(c.pads, [](int64_t v) { return v == 0; });
}

// So few results and channels that most lanes of a block would hold none of them: the library's kernel has pixels in its lanes. Where half
// of the lanes would hold results, long sums make up for a conversion to blocks behind it, if rows of pixels fill theirs; longer ones also
// for one from blocks.
static bool isNarrow(const BlockedConv &c, int64_t width, bool blocked) {
  constexpr int64_t few = 4, longSum = 48, mostChannels = 24;
  int64_t sum = c.channels * c.kernel[0] * c.kernel[1], channels = c.channels * c.group;
  bool fills = ShapedType::isDynamic(width) || (width >= kLanes && onnx::fillsBlocks(width));
  bool pays = c.outputs <= few || (c.group == 1 && sum >= longSum && fills);
  if (channels <= kLanes && !blocked)
    return c.outputs <= kNarrowResults && pays;
  if (c.outputs > few || c.group != 1 || !fills)
    return false;
  bool oneAxis = c.kernel[0] == 1 || c.kernel[1] == 1;  // more have Winograd's products
  return blocked ? channels <= mostChannels && sum >= 2 * longSum : oneAxis || channels <= 2 * kLanes;
}

// Whether a plain image is converted to blocks for few results: many products of channels that leave few lanes empty.
static bool paysForBlocks(const BlockedConv &c) {
  return c.kernel[0] >= 3 && c.kernel[1] >= 3 && c.channels >= 2 * kLanes && onnx::fillsBlocks(c.channels);
}

// A convolution of stride 1 to few results as the transposed one that it is too.
static std::optional<BlockedTransposed> fewResults(const BlockedConv &c, Value filters) {
  if (!c.constant || c.group != 1 || c.outputs > kFewResults || !areOnes(c.strides) || !areOnes(c.dilations))
    return std::nullopt;
  BlockedTransposed t{c.channels, c.outputs, c.kernel, {1, 1}, {}, {}};
  for (int64_t i = 0; i < 4; ++i)
    t.crops.push_back(c.kernel[i % 2] - 1 - c.pads[i]);
  std::vector<float> w = *constantFloats(filters);
  int64_t taps = c.kernel[0] * c.kernel[1];
  t.weights.resize(w.size());
  for (int64_t o = 0; o < c.outputs; ++o)
    for (int64_t i = 0; i < c.channels; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        t.weights[(i * c.outputs + o) * taps + taps - 1 - tap] = w[(o * c.channels + i) * taps + tap];
  return t;
}

// Results that stay plain, of blocks whose lanes are added up.
void Blocker::narrowConv(Operation *op, const BlockedTransposed &t) {
  Location loc = op->getLoc();
  auto type = rankedType(op->getResult(0));
  Value bias = onnx::operand(op, 2);
  Value weights = packNarrowWeights(b, loc, t);
  auto narrow = onnx::PackedNarrowConvOp::create(
      b, loc, type, block(op->getOperand(0), loc), weights, bias, b.getI64IntegerAttr(t.channels), b.getI64IntegerAttr(t.outputs),
      b.getDenseI64ArrayAttr(t.kernel), b.getDenseI64ArrayAttr(t.strides), b.getDenseI64ArrayAttr(t.crops));
  replacePlain(op, narrow.getY());
}

bool Blocker::conv(Operation *op) {
  Value x = op->getOperand(0);
  auto c = isImage(x) ? blockedConv(op) : std::nullopt;
  if (!c)
    return false;
  if (auto few = blocked.count(x) || paysForBlocks(*c) ? fewResults(*c, op->getOperand(1)) : std::nullopt) {
    narrowConv(op, *few);
    return true;
  }
  if (isNarrow(*c, rankedType(op->getResult(0)).getShape().back(), blocked.count(x)))
    return false;
  blockConv(op, *c, op->getOperand(1), Value(), nullptr);
  return true;
}

// [videos, frames * blocks, H, W, 16] of `images`, those of `op` in blocks; [videos, frames * C, H, W] of plain ones.
template <class FrameOp>
static Value videosOf(FrameOp op, Value images, GraphBuilder g) {
  ArrayRef<int64_t> s = rankedType(images).getShape();
  SmallVector<int64_t> shape(s);
  shape[0] = shape[1] = ShapedType::kDynamic;
  SmallVector<Value> sizes;
  if (auto known = onnx::integerElements(op.getVideoCount()))
    shape[0] = known->front();
  else
    sizes.push_back(op.getVideoCount());
  if (auto known = onnx::integerElements(op.getFrameCount()))
    shape[1] = known->front() * s[1];
  else
    sizes.push_back(onnx::MulOp::create(g.b, g.loc, op.getFrameCount().getType(), op.getFrameCount(), g.integers({s[1]})));
  sizes.append(g.unknownSizes(images, {2, 3}));
  return g.reshapeTo(images, shape, sizes);
}

bool Blocker::frameConv(Operation *op) {
  auto conv = cast<onnx::PackedFrameConvOp>(op);
  onnx::FrameAxis frames = *onnx::frameAxis(op);
  Location loc = op->getLoc();
  Value x = conv.getX();
  bool plain = !conv.getDepthwise() && !onnx::fillsBlocks(rankedType(x).getDimSize(1)) && !blocked.count(x);
  Value images = plain ? image(x, loc) : block(x, loc);
  blockConv(op, blockedFrames(conv, plain), frameWeights(b, loc, conv, plain), videosOf(conv, images, {b, loc}),
            b.getDenseI64ArrayAttr(frames.list()));
  return true;
}

// The sizes that images may have, or series. What only a run knows is what inputs of few, some and many pixels or samples
// make of it.
static SmallVector<ImageSizes> sizesOf(const SymbolicShapes &shapes, Value image) {
  ArrayRef<AffineExpr> dims = shapes.dims(image);
  bool isSeries = dims.size() == 3;
  int64_t images = known(dims[0]).value_or(1);
  AffineExpr down = isSeries ? shapes.constant(1) : dims[2], right = dims.back();
  if (known(down) && known(right))
    return {{images, *known(down), *known(right)}};
  SmallVector<ImageSizes> sizes;
  const std::array<int64_t, 3> inputs = isSeries ? std::array<int64_t, 3>{128, 1024, 16384} : std::array<int64_t, 3>{128, 224, 512};
  for (int64_t size : inputs)
    sizes.push_back({images, shapes.valueAt(down, size).value_or(size), shapes.valueAt(right, size).value_or(size)});
  return sizes;
}

void Blocker::blockConv(Operation *op, const BlockedConv &c, Value filters, Value videos, DenseI64ArrayAttr frames) {
  Value x = op->getOperand(0), bias;
  Location loc = op->getLoc();
  Type type = onnx::blockedType(rankedType(op->getResult(0)));
  auto blocks = [&] { return videos ? videos : block(x, loc); };
  bool dense = c.form == BlockedConv::Dense, plainFrames = videos && rankedType(videos).getRank() == 4;
  bool plain = plainFrames || (dense && !videos && c.group == 1 && onnx::leavesLanes(c.channels) && !blocked.count(x));
  if (winograd && c.constant && !plainFrames && !op->hasAttr(onnx::kExactAttr) && gainsByWinograd(c, sizesOf(shapes, op->getResult(0)))) {
    bias = packConvBias(b, loc, op);
    Value weights = packWinogradWeights(b, loc, c, filters);
    int64_t together = groupsTogether(c);
    return done(op, onnx::PackedWinogradConvOp::create(b, loc, type, blocks(), weights, bias, b.getI64IntegerAttr(c.group / together),
                                                       b.getI64IntegerAttr(c.channels * together), b.getDenseI64ArrayAttr(c.kernel),
                                                       b.getDenseI64ArrayAttr(c.pads), b.getDenseI64ArrayAttr(c.dilations), frames));
  }
  bool rounds = isProduct(c) && !videos && !op->hasAttr(onnx::kExactAttr);
  Value weights = packConvWeights(b, loc, c, filters, plain, rounds ? stored : b.getF32Type());
  bias = packConvBias(b, loc, op);
  if (!dense)
    return done(op, onnx::PackedGroupedConvOp::create(b, loc, type, blocks(), weights, bias,
                                                      b.getI64IntegerAttr(c.outputs / c.group / c.channels), b.getStringAttr(c.autoPad),
                                                      b.getDenseI64ArrayAttr(c.strides), b.getDenseI64ArrayAttr(c.pads),
                                                      b.getDenseI64ArrayAttr(c.dilations), frames));
  int64_t group = c.span ? llvm::divideCeil(c.outputs, kLanes) : c.group, channels = c.span ? c.span * kLanes : c.channels;
  auto shared = c.span ? b.getDenseI64ArrayAttr({c.outputs / c.group, c.channels}) : nullptr;
  Value data = plain && !videos ? image(x, loc) : blocks();
  done(op, onnx::PackedConvOp::create(b, loc, type, data, weights, bias, b.getI64IntegerAttr(group), b.getI64IntegerAttr(channels), shared,
                                      b.getI64IntegerAttr(plain), b.getStringAttr(c.autoPad), b.getDenseI64ArrayAttr(c.strides),
                                      b.getDenseI64ArrayAttr(c.pads), b.getDenseI64ArrayAttr(c.dilations), frames));
}

bool Blocker::convTranspose(Operation *op) {
  auto t = isImage(op->getOperand(0)) ? blockedTransposed(op) : std::nullopt;
  if (!t)
    return false;
  if (t->outputs <= kFewResults) {
    narrowConv(op, *t);
    return true;
  }
  Location loc = op->getLoc();
  Value weights = packTransposedWeights(b, loc, *t), bias = packConvBias(b, loc, op);
  done(op, onnx::PackedConvTransposeOp::create(b, loc, onnx::blockedType(rankedType(op->getResult(0))), block(op->getOperand(0), loc),
                                               weights, bias, b.getI64IntegerAttr(t->channels), b.getI64IntegerAttr(t->outputs),
                                               b.getDenseI64ArrayAttr(t->kernel), b.getDenseI64ArrayAttr(t->strides),
                                               b.getDenseI64ArrayAttr(t->crops)));
  return true;
}

bool Blocker::pool(Operation *op) {
  bool average = onnx::opName(op) == "AveragePool", ceil = onnx::intAttr(op, "ceil_mode");
  if (!blocked.count(op->getOperand(0)) || (average && ceil) || op->getNumResults() != 1)
    return false;
  int64_t rank = rankedType(op->getOperand(0)).getRank() - 2;
  auto kernel = twoAxes(op, "kernel_shape", rank, 1), strides = twoAxes(op, "strides", rank, 1),
       dilations = twoAxes(op, "dilations", rank, 1);
  auto pads = windowPads(op, kernel, strides, dilations);
  bool decided = pads && pads->autoPad == "NOTSET", counts = average && onnx::intAttr(op, "count_include_pad");
  if (!pads || (isBytes(op->getOperand(0)) && (average || !decided)) || (counts && !decided))
    return false;
  if (isBytes(op->getOperand(0))) {
    done(op,
         onnx::PackedBytePoolOp::create(b, op->getLoc(), onnx::blockedType(rankedType(op->getResult(0))), blocked[op->getOperand(0)],
                                        b.getDenseI64ArrayAttr(kernel), b.getDenseI64ArrayAttr(strides), b.getDenseI64ArrayAttr(pads->pads),
                                        b.getDenseI64ArrayAttr(dilations), b.getI64IntegerAttr(ceil)));
    return true;
  }
  done(op, onnx::PackedPoolOp::create(b, op->getLoc(), onnx::blockedType(rankedType(op->getResult(0))), blocked[op->getOperand(0)],
                                      b.getI64IntegerAttr(average), b.getI64IntegerAttr(onnx::intAttr(op, "count_include_pad")),
                                      b.getI64IntegerAttr(ceil), b.getStringAttr(pads->autoPad), b.getDenseI64ArrayAttr(kernel),
                                      b.getDenseI64ArrayAttr(strides), b.getDenseI64ArrayAttr(pads->pads),
                                      b.getDenseI64ArrayAttr(dilations), nullptr));
  return true;
}

bool Blocker::framePool(Operation *op) {
  auto pool = cast<onnx::PackedFramePoolOp>(op);
  Location loc = op->getLoc();
  Value videos = videosOf(pool, block(pool.getX(), loc), {b, loc});
  done(op, onnx::PackedPoolOp::create(b, loc, onnx::blockedType(rankedType(pool.getY())), videos, pool.getAverageAttr(),
                                      pool.getCountIncludePadAttr(), b.getI64IntegerAttr(0), b.getStringAttr("NOTSET"),
                                      pool.getKernelShapeAttr(), pool.getStridesAttr(), pool.getPadsAttr(), pool.getDilationsAttr(),
                                      pool.getFramesAttr()));
  return true;
}

bool Blocker::resize(Operation *op) {
  auto tables = isSingle(op->getOperand(0)) && blocked.count(op->getOperand(0)) ? resizeTables(op) : std::nullopt;
  if (!tables)
    return false;
  Location loc = op->getLoc();
  auto positions = [&](const ResizeAxis &axis) -> Value {
    return GraphBuilder{b, loc}.integers<int32_t>({int64_t(axis.index.size()) / axis.taps, axis.taps}, axis.index);
  };
  auto weights = [&](const ResizeAxis &axis) -> Value {
    return GraphBuilder{b, loc}.floats({int64_t(axis.weight.size()) / axis.taps, axis.taps}, axis.weight);
  };
  done(op,
       onnx::PackedResizeOp::create(b, loc, onnx::blockedType(rankedType(op->getResult(0))), blocked[op->getOperand(0)],
                                    positions(tables->rows), weights(tables->rows), positions(tables->columns), weights(tables->columns)));
  return true;
}

// Over the blocks of channels that have no lanes to spare, then over their lanes. The result, one channel, is plain.
void Blocker::reduceChannels(Operation *op) {
  Value x = op->getOperand(0), v = blocked[x];
  for (int64_t axis : {1, 4})
    if (rankedType(v).getDimSize(axis) != 1)
      v = reducedLike(op, v, {axis}, {b, op->getLoc()});
  SmallVector<int64_t> gone{4};
  if (rankedType(x).getRank() == 3)
    gone.push_back(2);
  if (!onnx::intAttr(op, "keepdims", 1))
    gone.push_back(1);
  replacePlain(op, onnx::SqueezeOp::create(b, op->getLoc(), op->getResult(0).getType(), v, GraphBuilder{b, op->getLoc()}.integers(gone)));
}

// The pool of all pixels of a blocked value; of many, whose sums lose digits one by one, or of sizes that the run gives a reduction.
static Value poolOf(OpBuilder &b, Location loc, Value v, bool mean) {
  constexpr int64_t many = 4096;
  ArrayRef<int64_t> s = rankedType(v).getShape();
  auto type = rankedType(v).clone({s[0], s[1], 1, 1, kLanes});
  if (!ShapedType::isDynamic(s[2]) && !ShapedType::isDynamic(s[3]) && s[2] * s[3] < many)
    return onnx::PackedPoolOp::create(b, loc, type, v, b.getI64IntegerAttr(mean), b.getI64IntegerAttr(0), b.getI64IntegerAttr(0),
                                      b.getStringAttr("NOTSET"), b.getDenseI64ArrayAttr({s[2], s[3]}), b.getDenseI64ArrayAttr({1, 1}),
                                      b.getDenseI64ArrayAttr({0, 0, 0, 0}), b.getDenseI64ArrayAttr({1, 1}), nullptr);
  Value axes = GraphBuilder{b, loc}.integers({2, 3});
  return mean ? Value(onnx::ReduceMeanOp::create(b, loc, type, v, axes)) : onnx::ReduceMaxOp::create(b, loc, type, v, axes);
}

// Over all channels, where these fill blocks, or over all pixels, also as a global pool.
bool Blocker::reduce(Operation *op) {
  Value x = op->getOperand(0);
  if (!isImage(x) || !isSingle(x) || !blocked.count(x))
    return false;
  bool global = isa<onnx::GlobalAveragePoolOp, onnx::GlobalMaxPoolOp>(op), fills = channelsOf(x) % kLanes == 0;
  std::optional<RowAxes> axes = rowAxes(op);
  auto areFrom = [&](int64_t begin, int64_t end) { return axes && axes->begin == begin && axes->end == end; };
  if (fills && areFrom(1, 2)) {
    reduceChannels(op);
    return true;
  }
  bool pixels = global || areFrom(2, rankedType(x).getRank());
  if (!pixels || (!fills && isa<onnx::ReduceL2Op>(op)))  // squares of what other lanes hold may be infinite
    return false;
  Location loc = op->getLoc();
  bool mean = isa<onnx::GlobalAveragePoolOp, onnx::ReduceMeanOp>(op), most = isa<onnx::GlobalMaxPoolOp, onnx::ReduceMaxOp>(op);
  Value v = mean || most ? poolOf(b, loc, blocked[x], mean) : reducedLike(op, blocked[x], {2, 3}, {b, loc});
  if (global || onnx::intAttr(op, "keepdims", 1)) {
    done(op, v);
  } else if (fills) {
    replacePlain(op, GraphBuilder{b, loc}.reshape(v, {0, channelsOf(x)}));
  } else {
    auto type = rankedType(x).clone({rankedType(x).getDimSize(0), channelsOf(x), 1, 1});
    Value plain = onnx::PackedUnblockOp::create(b, loc, type, v, b.getI64IntegerAttr(channelsOf(x)));
    replacePlain(op, onnx::SqueezeOp::create(b, loc, op->getResult(0).getType(), plain, GraphBuilder{b, loc}.integers({2, 3})));
  }
  return true;
}

// Images with a border of one finite number, images of it before and behind them (or some cut off), and more channels of it.
bool Blocker::pad(Operation *op) {
  auto pad = cast<onnx::PadOp>(op);
  Value x = pad.getData(), result = op->getResult(0);
  if (!isImage(result) || !isSingle(x) || pad.getAxes() || !blocked.count(x) || pad.getMode() != "constant")
    return false;
  int64_t rank = rankedType(x).getRank();
  auto given = onnx::integerElements(pad.getPads());
  auto value = pad.getConstantValue() ? constantFloats(pad.getConstantValue()) : std::vector<float>{0.f};
  if (!given || int64_t(given->size()) != 2 * rank || !value || value->size() != 1 || !std::isfinite(value->front()))
    return false;
  int64_t before = (*given)[1], after = (*given)[rank + 1];
  if (before < 0 || after < 0 || (!fitsLanes(channelsOf(x), before, after) && value->front() != 0))
    return false;
  Location loc = op->getLoc();
  SmallVector<int64_t> pads(10, 0);
  pads[0] = (*given)[0], pads[5] = (*given)[rank];
  for (int64_t i = 2; i < rank; ++i)
    pads[i + 4 - rank] = (*given)[i], pads[i + 9 - rank] = (*given)[rank + i];
  Value v = blocked[x];
  if (llvm::any_of(pads, [](int64_t p) { return p != 0; })) {
    SmallVector<int64_t> shape(rankedType(result).getShape());
    shape[1] = channelsOf(x);
    v = onnx::PadOp::create(b, loc, onnx::blockedType(rankedType(result).clone(shape)), v, GraphBuilder{b, loc}.integers(pads),
                            pad.getConstantValue(), Value(), pad.getModeAttr());
  }
  done(op, before || after ? surround(v, channelsOf(x), before, after, value->front(), rankedType(result), loc) : v);
  return true;
}

}  // namespace onnxc::blocks
