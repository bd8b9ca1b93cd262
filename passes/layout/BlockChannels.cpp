// BlockChannels.cpp: the graph's convolutions move to blocks of 16 channels, and values stay blocked as long as every op on the way can
// work on blocks. After the graph passes, before PackWeights.
//
// blocked value  [N, ceil(C/16), H, W, 16] beside the op's own value [N, C, H, W] (or [N, C, W], with H = 1)
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/SymbolicShapes.h"
#include "passes/graph/Weights.h"
#include "passes/layout/Blocker.h"
#include "passes/layout/ConvWeights.h"
#include "passes/layout/Passes.h"
#include "passes/layout/StoredWeights.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace onnxc {
#define GEN_PASS_DEF_BLOCKCHANNELS
#include "passes/layout/Passes.h.inc"
}  // namespace onnxc

using namespace mlir;
namespace onnxc::blocks {

// Finite for finite operands, so that lanes past the last channel stay finite.
static bool staysFinite(Operation *op) {
  static const llvm::StringSet<> names = {
      "Relu", "LeakyRelu",       "Clip", "Sigmoid", "Tanh",         "HardSigmoid", "HardSwish", "Gelu", "Swish", "Elu", "Selu",  "Mish",
      "Erf",  "Softsign",        "Neg",  "Abs",     "ms.QuickGelu", "Add",         "Sub",       "Mul",  "Max",   "Min", "PRelu", "Round",
      "Cast", "packed.ByteTable"};
  if (onnx::opName(op) == "Div") {
    auto divisor = onnx::constantValue(op->getOperand(1)) ? constantFloats(op->getOperand(1)) : std::nullopt;
    return divisor && divisor->size() == 1 && divisor->front() != 0;
  }
  return names.contains(onnx::opName(op)) && op->getNumResults() == 1;
}

// Whether channels fill the lanes of their blocks, so that there are none past the last channel.
static bool fillsLanes(Value image) { return isImage(image) && channelsOf(image) % kLanes == 0; }

// Long functions of a few channels of many pixels: most lanes of a block would be computed for nothing.
static bool wastesLanes(Operation *op) {
  constexpr int64_t most = 8, fewPixels = 16;
  if (!isTranscendental(op) || !isImage(op->getResult(0)) || channelsOf(op->getResult(0)) >= most)
    return false;
  int64_t pixels = 1;
  for (int64_t size : rankedType(op->getResult(0)).getShape().drop_front(2))
    pixels = ShapedType::isDynamic(size) ? fewPixels : std::min(pixels * size, fewPixels);
  return pixels == fewPixels;
}

using Conversion = bool (Blocker::*)(Operation *);

// How an op gets a blocked form; null: it has none.
static Conversion conversionOf(Operation *op) {
  static const llvm::StringMap<Conversion> byName = {{"Conv", &Blocker::conv},
                                                     {"packed.FrameConv", &Blocker::frameConv},
                                                     {"packed.FramePool", &Blocker::framePool},
                                                     {"ConvTranspose", &Blocker::convTranspose},
                                                     {"MaxPool", &Blocker::pool},
                                                     {"AveragePool", &Blocker::pool},
                                                     {"GlobalAveragePool", &Blocker::reduce},
                                                     {"GlobalMaxPool", &Blocker::reduce},
                                                     {"ReduceMean", &Blocker::reduce},
                                                     {"ReduceMax", &Blocker::reduce},
                                                     {"ReduceMin", &Blocker::reduce},
                                                     {"ReduceSum", &Blocker::reduce},
                                                     {"ReduceL1", &Blocker::reduce},
                                                     {"ReduceL2", &Blocker::reduce},
                                                     {"BatchNormalization", &Blocker::normalization},
                                                     {"InstanceNormalization", &Blocker::groups},
                                                     {"LayerNormalization", &Blocker::groups},
                                                     {"Resize", &Blocker::resize},
                                                     {"Pad", &Blocker::pad},
                                                     {"Concat", &Blocker::concat},
                                                     {"Split", &Blocker::split},
                                                     {"Slice", &Blocker::slice},
                                                     {"Squeeze", &Blocker::view},
                                                     {"Unsqueeze", &Blocker::view},
                                                     {"Reshape", &Blocker::view},
                                                     {"LRN", &Blocker::response},
                                                     {"packed.Block", &Blocker::toBlocks},
                                                     {"packed.Unblock", &Blocker::fromBlocks}};
  auto found = byName.find(onnx::opName(op));
  if (found != byName.end())
    return found->second;
  bool works = staysFinite(op) || (isPointwise(op) && fillsLanes(op->getResult(0)));
  return works && !wastesLanes(op) ? &Blocker::pointwise : nullptr;
}

// Whether images have as many channels and, known, as many pixels.
static bool areAlike(Value from, Value to) {
  auto count = [](Value image) {
    ArrayRef<int64_t> pixels = rankedType(image).getShape().drop_front(2);
    return ShapedType::isStaticShape(pixels) ? ShapedType::getNumElements(pixels) : -1;
  };
  return isImage(from) && isImage(to) && channelsOf(from) == channelsOf(to) && count(from) >= 0 && count(from) == count(to);
}

// Whether whole blocks of channels become images of their own, or those of several images one, as the frames that a transposed convolution
// makes of one frame.
static bool movesBlocks(RankedTensorType from, RankedTensorType to) {
  return from.hasStaticShape() && to.hasStaticShape() && from.getShape().drop_front(2) == to.getShape().drop_front(2) &&
         from.getDimSize(1) % kLanes == 0 && to.getDimSize(1) % kLanes == 0;
}

// Whether `op` puts the pixels of the same images on other axes, or whole blocks in other images: that is a view of blocks too.
static bool isViewOfBlocks(Operation *op) {
  Value from = op->getOperand(0), to = op->getResult(0);
  if (!isView(op) || !isImage(from) || !isImage(to))
    return false;
  auto source = rankedType(from), target = rankedType(to);
  if (movesBlocks(source, target))
    return true;
  if (source.getShape().take_front(2) != target.getShape().take_front(2))
    return false;
  if (!isa<onnx::ReshapeOp>(op) && onnx::blockedType(source) == onnx::blockedType(target))
    return true;
  return areAlike(from, to) && !llvm::is_contained(target.getShape().drop_front(2), 0);
}

static bool readsInBlocks(Operation *user) {
  return conversionOf(user) && (!isView(user) || (isViewOfBlocks(user) && isReadInBlocks(user->getResult(0))));
}
bool isReadInBlocks(Value v) { return llvm::any_of(v.getUsers(), readsInBlocks) || isReadByGroups(v); }

// `v` with four axes.
Value Blocker::image(Value v, Location loc) {
  auto t = rankedType(v);
  if (t.getRank() == 4)
    return v;
  auto wide = RankedTensorType::get({t.getDimSize(0), t.getDimSize(1), 1, t.getDimSize(2)}, t.getElementType());
  return onnx::UnsqueezeOp::create(b, loc, wide, v, GraphBuilder{b, loc}.integers({2}));
}

// Whether blocks of an image are runs of channels where channels are its last axis.
static bool hasRuns(Value image) {
  auto t = rankedType(image);
  return channelsOf(image) % kLanes == 0 && llvm::none_of(t.getShape().drop_front(2), ShapedType::isDynamic);
}
// The axes of an image behind its batch, as views of the same memory with its channels last.
static SmallVector<int64_t> lastChannels(Value image) {
  SmallVector<int64_t> sizes(rankedType(image).getShape().drop_front(2));
  if (sizes.size() == 1)
    sizes.insert(sizes.begin(), 1);
  return {0, sizes[0], sizes[1], channelsOf(image) / kLanes, kLanes};
}

// Whether `op` only puts the pixels of an image on one axis, or that axis in rows: [N, C, H * W] and [N, C, H, W].
static bool isViewOfPixels(Operation *op) {
  return isa_and_present<onnx::ReshapeOp>(op) && areAlike(op->getOperand(0), op->getResult(0)) && hasRuns(op->getOperand(0)) &&
         hasRuns(op->getResult(0));
}
static bool movesChannels(Operation *op, bool last) {
  auto transpose = dyn_cast_if_present<onnx::TransposeOp>(op);
  if (!transpose || !transpose.getPerm())
    return false;
  ArrayRef<int64_t> perm = *transpose.getPerm();
  return perm == ArrayRef<int64_t>{0, 2, 1} || (last ? perm == ArrayRef<int64_t>{0, 2, 3, 1} : perm == ArrayRef<int64_t>{0, 3, 1, 2});
}

// The blocked form of an image that a transposition made, perhaps of tokens, [N, H * W, C]: runs of 16 channels change places.
Value Blocker::blockOfRows(Value image, Location loc) {
  Operation *op = image.getDefiningOp();
  if (isViewOfPixels(op)) {
    passed.push_back(op);
    op = op->getOperand(0).getDefiningOp();
  }
  if (!hasRuns(image) || !movesChannels(op, false))
    return {};
  passed.push_back(op);
  GraphBuilder g{b, loc};
  return g.transpose(g.reshape(op->getOperand(0), lastChannels(image)), {0, 3, 1, 2, 4});
}

// The transpositions that put the channels of the image `original` last read its blocks so.
void Blocker::rowsOfBlocks(Value original, Value value) {
  if (!hasRuns(original))
    return;
  SmallVector<Operation *> rows;
  for (Operation *user : original.getUsers()) {
    if (user->getBlock() != &body || replaced.contains(user))
      continue;
    if (movesChannels(user, true))
      rows.push_back(user);
    else if (isViewOfPixels(user))
      llvm::copy_if(user->getUsers(), std::back_inserter(rows),
                    [&](Operation *next) { return next->getBlock() == &body && movesChannels(next, true); });
  }
  Value turned;
  GraphBuilder g{b, value.getLoc()};
  for (Operation *op : rows) {
    if (!turned)
      turned = g.transpose(value, {0, 2, 3, 1, 4});
    SmallVector<int64_t> shape(rankedType(op->getResult(0)).getShape());
    shape[0] = 0;
    op->getResult(0).replaceAllUsesWith(g.reshape(turned, shape));
    replaced.insert(op);
    Operation *view = op->getOperand(0).getDefiningOp();
    if (isViewOfPixels(view) && llvm::all_of(view->getUsers(), [&](Operation *user) { return replaced.contains(user); }))
      replaced.insert(view);
  }
}

Value Blocker::block(Value v, Location loc) {
  Value &have = blocked[v];
  if (!have)
    have = blockOfRows(v, loc);
  if (!have)
    have = onnx::PackedBlockOp::create(b, loc, onnx::blockedType(rankedType(v)), v);
  return have;
}

// The plain form of a blocked value: a view where there is one pixel and no lane is left over.
Value Blocker::unblock(Value original, Value value) {
  auto type = rankedType(original);
  Location loc = value.getLoc();
  ArrayRef<int64_t> s = rankedType(value).getShape();
  if (s[2] == 1 && s[3] == 1 && type.getDimSize(1) % kLanes == 0) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[0] = 0, shape[1] = type.getDimSize(1);
    return onnx::ReshapeOp::create(b, loc, type, value, GraphBuilder{b, loc}.integers(shape));
  }
  SmallVector<int64_t> sizes{s[0], type.getDimSize(1), s[2], s[3]};
  if (type.getRank() == 3)
    sizes.erase(sizes.begin() + 2);
  auto plain = RankedTensorType::get(sizes, type.getElementType());
  return onnx::PackedUnblockOp::create(b, loc, plain, value, b.getI64IntegerAttr(type.getDimSize(1)));
}

void Blocker::done(Operation *op, Value result) {
  blocked[op->getResult(0)] = result;
  replaced.insert(op);
}

void Blocker::replacePlain(Operation *op, Value result) {
  op->getResult(0).replaceAllUsesWith(result);
  replaced.insert(op);
}

bool Blocker::fromBlocks(Operation *op) {
  done(op, cast<onnx::PackedUnblockOp>(op).getX());
  return true;
}

bool Blocker::toBlocks(Operation *op) {
  auto block = cast<onnx::PackedBlockOp>(op);
  Value &have = blocked[block.getX()];
  if (!have) {
    have = block.getY();
    return true;
  }
  block.getY().replaceAllUsesWith(have);
  block.erase();
  return true;
}

// Whether all channels of `result` have one of `v` in common: a mask of pixels. It may be infinite, which lanes past the last channel would
// not survive.
static bool isMask(Value v, Value result) {
  return isImage(v) && rankedType(v).getRank() == rankedType(result).getRank() && channelsOf(v) == 1 && fillsLanes(result);
}

// Whether an operand of a pointwise op with the image `result` has a blocked form: an image of the same channels or of one, or an f32
// constant of one element or of one for each channel, whose axis is the only one that is longer than 1.
static bool joinsBlocks(Value v, Value result) {
  auto type = rankedType(v);
  int64_t rank = rankedType(result).getRank(), channels = channelsOf(result);
  if (!onnx::constantValue(v))
    return isMask(v, result) || (isImage(v) && type.getRank() == rank && channelsOf(v) == channels);
  if (!isSingle(v) || !type.hasStaticShape())
    return false;
  int64_t axis = type.getRank() - (rank - 1);
  return type.getNumElements() == 1 || (axis >= 0 && type.getDimSize(axis) == channels && type.getNumElements() == channels);
}

// The blocked form of an operand that joins the blocks of `result`.
Value Blocker::operand(Value v, Value result) {
  ElementsAttr constant = onnx::constantValue(v);
  if (!constant)
    return isMask(v, result) ? GraphBuilder{b, v.getLoc()}.unsqueeze(image(v, v.getLoc()), {4}) : block(v, v.getLoc());
  auto type = rankedType(v);
  if (constant.getNumElements() != 1)
    return packChannels(b, v.getLoc(), *constantFloats(v), true);
  auto scalar = RankedTensorType::get({}, type.getElementType());
  return type.getRank() == 0 ? v : onnx::ConstantOp::create(b, v.getLoc(), reshaped(constant, scalar));
}

bool Blocker::pointwise(Operation *op) {
  Value result = op->getResult(0);
  auto isTable = [&](Value v) { return isa<onnx::PackedByteTableOp>(op) && v == op->getOperand(1); };
  // What is broadcast is smaller to convert than the result.
  auto isWhole = [&](Value v) { return blocked.count(v) && rankedType(v).getShape() == rankedType(result).getShape(); };
  if (!isImage(result) || llvm::none_of(op->getOperands(), isWhole) ||
      !llvm::all_of(op->getOperands(), [&](Value v) { return isTable(v) || joinsBlocks(v, result); }))
    return false;
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return isTable(v) ? v : operand(v, result); });
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  // What small activations make with a gate is subnormal: a convolution would take Intel's processors 100 cycles for each product of it.
  if (isa<onnx::MulOp>(op) && !onnx::constantValue(op->getOperand(0)) && !onnx::constantValue(op->getOperand(1)))
    copy->setAttr(onnx::kFlushAttr, b.getUnitAttr());
  copy->getResult(0).setType(onnx::blockedType(rankedType(result)));
  done(op, copy->getResult(0));
  return true;
}

// Rows that are convolved as images of one, [N, C, W] and [N, C, 1, W], are one value in blocks; other pixels are a view of it.
bool Blocker::view(Operation *op) {
  auto it = blocked.find(op->getOperand(0));
  Value result = op->getResult(0);
  // What joins or cuts it works as well on plain values, unless its own results are read in blocks.
  auto reads = [](Operation *user) {
    return readsInBlocks(user) && (!isa<onnx::ConcatOp, onnx::SplitOp, onnx::SliceOp, onnx::PackedBlockOp>(user) ||
                                   llvm::any_of(user->getResults(), isReadInBlocks));
  };
  if (it == blocked.end() || !isViewOfBlocks(op) || llvm::none_of(result.getUsers(), reads))
    return false;
  auto type = onnx::blockedType(rankedType(result));
  SmallVector<int64_t> shape(type.getShape());
  if (rankedType(op->getOperand(0)).getShape().take_front(2) == rankedType(result).getShape().take_front(2))
    shape[0] = 0;
  done(op, it->second.getType() == type ? it->second : GraphBuilder{b, op->getLoc()}.reshape(it->second, shape));
  return true;
}

void Blocker::run() {
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (op.getNumResults() == 0 || onnx::constantValue(op.getResult(0)))
      continue;
    b.setInsertionPoint(&op);
    if (Conversion convert = conversionOf(&op))
      (this->*convert)(&op);
  }
  for (auto [original, value] : blocked) {
    Operation *op = original.getDefiningOp();
    if (!op || !replaced.contains(op))
      continue;
    b.setInsertionPointAfterValue(value);
    rowsOfBlocks(original, value);
    bool used = llvm::any_of(original.getUsers(), [&](Operation *user) { return !replaced.contains(user); });
    if (!used)
      continue;
    Value plain = unblock(original, value);
    original.replaceUsesWithIf(plain, [&](OpOperand &use) { return !replaced.contains(use.getOwner()); });
  }
  auto ops = llvm::map_to_vector(body, [](Operation &op) { return &op; });
  auto isPassed = [&](Operation *op) { return llvm::is_contained(passed, op) && op->use_empty() && op->getBlock() == &body; };
  for (Operation *op : llvm::reverse(ops))
    if (replaced.contains(op) || isPassed(op))
      op->erase();
}

}  // namespace onnxc::blocks

namespace onnxc {
namespace {
struct BlockChannels : impl::BlockChannelsBase<BlockChannels> {
  using BlockChannelsBase::BlockChannelsBase;
  void runOnOperation() override {
    FailureOr<SymbolicShapes> shapes = SymbolicShapes::compute(getOperation());
    if (failed(shapes))
      return signalPassFailure();
    SmallVector<Block *> bodies;
    getOperation().walk([&](Block *body) { bodies.push_back(body); });
    for (Block *body : bodies)
      blocks::Blocker(*body, *shapes, winograd, weightType(&getContext(), precision)).run();
  }
};
}  // namespace
}  // namespace onnxc
