// BlockPieces.cpp: Concat, Split and Slice along the channels of blocked values, Slice of their pixels. Part of the block-channels pass
// (Blocker.h).
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/layout/Blocker.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc::blocks {

// The ranges one after the other. Whole blocks are slices and a concatenation, which may need no kernel.
Value Blocker::join(ArrayRef<Channels> ranges, RankedTensorType plain, Location loc) {
  auto type = onnx::blockedType(plain);
  auto blocksOf = [&](const Channels &c) -> Value {
    SmallVector<int64_t> shape(rankedType(c.value).getShape());
    int64_t first = c.begin / kLanes, blocks = llvm::divideCeilSigned(c.count, kLanes);
    if (blocks == shape[1])
      return c.value;
    shape[1] = blocks;
    auto type = RankedTensorType::get(shape, plain.getElementType());
    GraphBuilder g{b, loc};
    Value one = g.integers({1});
    return onnx::SliceOp::create(b, loc, type, c.value, g.integers({first}), g.integers({first + blocks}), one, one);
  };
  auto isFull = [](const Channels &c) { return c.count % kLanes == 0; };
  if (llvm::all_of(ranges, [](const Channels &c) { return c.isBlocks(); }) && llvm::all_of(ranges.drop_back(), isFull)) {
    auto values = llvm::map_to_vector(ranges, blocksOf);
    return values.size() == 1 ? values[0] : onnx::ConcatOp::create(b, loc, type, values, b.getI64IntegerAttr(1));
  }
  SmallVector<Value> values;
  SmallVector<int64_t> begins, counts;
  for (const Channels &c : ranges)
    values.push_back(c.value), begins.push_back(c.begin), counts.push_back(c.count);
  return onnx::PackedChannelsOp::create(b, loc, type, values, b.getDenseI64ArrayAttr(begins), b.getDenseI64ArrayAttr(counts));
}

// The `channels` of a blocked value between `before` and `after` others that are all `fill`: 0 unless these lie in its lanes.
Value Blocker::surround(Value value, int64_t channels, int64_t before, int64_t after, float fill, RankedTensorType plain, Location loc) {
  auto type = onnx::blockedType(plain);
  GraphBuilder g{b, loc};
  if (!fitsLanes(channels, before, after)) {
    SmallVector<Value> values;
    SmallVector<int64_t> begins, counts;
    for (auto [begin, count] : {std::pair<int64_t, int64_t>{-1, before}, {0, channels}, {-1, after}})
      if (count)
        values.push_back(value), begins.push_back(begin), counts.push_back(count);
    return onnx::PackedChannelsOp::create(b, loc, type, values, b.getDenseI64ArrayAttr(begins), b.getDenseI64ArrayAttr(counts));
  }
  auto lanes = llvm::map_to_vector(llvm::seq<int64_t>(type.getDimSize(1) * kLanes), [&](int64_t c) { return c < channels; });
  auto maskType = RankedTensorType::get({1, type.getDimSize(1), 1, 1, kLanes}, b.getI1Type());
  Value mask = onnx::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, ArrayRef<bool>(lanes)));
  return onnx::WhereOp::create(b, loc, type, mask, value, g.number(fill));
}

// Concatenated channels that something reads in blocks. Neighbouring pieces of one value are one range of it.
bool Blocker::concat(Operation *op) {
  auto concat = cast<onnx::ConcatOp>(op);
  Value result = op->getResult(0);
  if (!isImage(result) || onnx::axisAttr(concat, rankedType(result).getRank()) != 1)
    return false;
  if (!llvm::all_of(concat.getInputs(), isImage) || llvm::none_of(concat.getInputs(), [&](Value v) { return blocked.count(v); }) ||
      !isReadInBlocks(result))
    return false;
  SmallVector<Channels> ranges;
  for (Value v : concat.getInputs()) {
    Value value = block(v, op->getLoc());
    auto piece = pieces.find(value);
    Channels c = piece == pieces.end() ? Channels{value, 0, channelsOf(v), channelsOf(v)} : piece->second;
    if (!ranges.empty() && ranges.back().value == c.value && ranges.back().begin + ranges.back().count == c.begin)
      ranges.back().count += c.count;
    else
      ranges.push_back(c);
  }
  done(op, join(ranges, rankedType(result), op->getLoc()));
  return true;
}

// Whether the result `v` of a Split or Slice along `axis` may be a part of a blocked value.
bool Blocker::isPiece(Value v, int64_t axis) const {
  Value x = v.getDefiningOp()->getOperand(0);
  int64_t rank = isImage(x) ? rankedType(x).getRank() : 0;
  return rank && blocked.count(x) && onnx::fromFront(axis, rank) == 1 && isImage(v) && isReadInBlocks(v);
}

void Blocker::take(Value result, Channels channels) {
  auto from = pieces.find(channels.value);
  if (from != pieces.end())
    channels = {from->second.value, from->second.begin + channels.begin, channels.count, from->second.all};
  Value piece = join(channels, rankedType(result), result.getLoc());
  blocked[result] = piece;
  if (piece != channels.value)
    pieces[piece] = channels;
}

bool Blocker::split(Operation *op) {
  int64_t axis = onnx::intAttr(op, "axis"), begin = 0;
  if (!llvm::all_of(op->getResults(), [&](Value v) { return isPiece(v, axis); }))
    return false;
  Value x = blocked[op->getOperand(0)];
  for (Value v : op->getResults()) {
    take(v, {x, begin, channelsOf(v), channelsOf(op->getOperand(0))});
    begin += channelsOf(v);
  }
  replaced.insert(op);
  return true;
}

// Of pixels or images: blocks have the same axes.
bool Blocker::slicePixels(onnx::SliceOp op) {
  Value x = op.getData(), result = op.getResult();
  auto axes = onnx::integerElements(op.getAxes());
  if (!axes || !isImage(x) || !blocked.count(x) || !isImage(result) || !isReadInBlocks(result))
    return false;
  int64_t rank = rankedType(x).getRank();
  for (int64_t &axis : *axes) {
    axis = onnx::fromFront(axis, rank);
    if (axis == 1)
      return false;
    axis += axis > 1 ? 4 - rank : 0;
  }
  Value same = GraphBuilder{b, op.getLoc()}.integers(*axes);
  done(op, onnx::SliceOp::create(b, op.getLoc(), onnx::blockedType(rankedType(result)), blocked[x], op.getStarts(), op.getEnds(), same,
                                 op.getSteps()));
  return true;
}

bool Blocker::slice(Operation *op) {
  auto number = [&](unsigned index, int64_t otherwise) -> std::optional<int64_t> {
    Value v = onnx::operand(op, index);
    if (!v)
      return otherwise;
    auto numbers = onnx::integerElements(v);
    return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  };
  auto start = number(1, 0), axis = number(3, 0), step = number(4, 1);
  Value result = op->getResult(0);
  if (!start || !axis || step != 1 || !isPiece(result, *axis))
    return slicePixels(cast<onnx::SliceOp>(op));
  int64_t channels = channelsOf(op->getOperand(0)), begin = std::clamp<int64_t>(onnx::fromFront(*start, channels), 0, channels);
  take(result, {blocked[op->getOperand(0)], begin, channelsOf(result), channels});
  replaced.insert(op);
  return true;
}

}  // namespace onnxc::blocks
