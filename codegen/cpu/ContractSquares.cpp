// ContractSquares.cpp: sums of squares over neighbouring channels of blocked activations, which LRN divides by.
//
// unit   a row of one image and block of channels
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Strips.h"
#include "codegen/cpu/Tile.h"
#include "dialects/onnx/Packed.h"

using namespace mlir;
namespace onnxc {
namespace {

struct Squares {
  KernelCode &c;
  onnx::PackedChannelSquaresOp op;
  Epilogue epilogue;
  Code::Values x;
  VectorType lanes;

  Squares(KernelCode &code, onnx::PackedChannelSquaresOp op)
      : c(code), op(op), epilogue(code, op), x(code.sizes(cast<RankedTensorType>(op.getX().getType()))), lanes(code.vec(code.f32, kLanes)) {
  }

  // Lanes of block `block` that are channels; null: all are.
  Value channelLanes(Value block) {
    int64_t channels = op.getChannels();
    return channels % kLanes ? c.lanesBelow(c.sub(c.n(channels), c.mul(block, kLanes)), kLanes) : Value();
  }
  Value square(Value at, Value channels) {
    Value v = c.load(lanes, at), squared = c.mulf(v, v);
    return channels ? arith::SelectOp::create(c.b, c.loc, channels, squared, c.real(0, lanes)) : squared;
  }
  // Lane i of the result is lane i + `shift` of `low` and `high` side by side.
  Value shifted(Value low, Value high, int64_t shift) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < kLanes; ++i)
      order.push_back(i + shift);
    return vector::ShuffleOp::create(c.b, c.loc, low, high, order);
  }
  Value sum(Value before, Value own, Value after);
  void emit();
};

// Of the windows of 16 channels, first channel first.
Value Squares::sum(Value before, Value own, Value after) {
  int64_t low = (int64_t(op.getSize()) - 1) / 2, high = int64_t(op.getSize()) / 2;
  Value total;
  for (int64_t d = -low; d <= high; ++d) {
    Value term = d < 0 ? shifted(before, own, kLanes + d) : d ? shifted(own, after, d) : own;
    total = total ? c.addf(total, term) : term;
  }
  return total;
}

void Squares::emit() {
  auto dims = sizeExprs(cast<RankedTensorType>(op.getX().getType()));
  setExtent(c.kernel, {dims[0], dims[1], dims[2]}, 2.0 * double(constantOf(dims[3]).value_or(64) * int64_t(op.getSize()) * kLanes));
  c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
    Value oh = c.rem(unit, x[2]), plane = c.div(unit, x[2]), block = c.rem(plane, x[1]), n = c.div(plane, x[1]);
    Value isFirst = c.equal(block, c.n(0)), isLast = c.equal(block, c.sub(x[1], 1)), planeBytes = c.mul(c.mul(x[2], x[3]), kPanelBytes);
    Value own = channelLanes(block), next = channelLanes(c.add(block, 1));
    c.loop(c.n(0), x[3], c.n(1), [&](Value ow) {
      Value offset = c.mul(c.add(c.mul(unit, x[3]), ow), kPanelBytes), at = c.at(c.address(op.getX()), offset);
      Value before = square(c.select(isFirst, zeroBytes(c), c.at(at, c.sub(c.n(0), planeBytes))), Value());
      Value after = square(c.select(isLast, zeroBytes(c), c.at(at, planeBytes)), next);
      LanePlace place{offset, [&] { return Code::Values{n, block, oh, ow, c.n(0)}; }};
      c.store(epilogue.apply(sum(before, square(at, own), after), place, Value()), c.at(c.result(0), offset));
    });
  });
}
}  // namespace

LogicalResult emitPackedSquares(KernelCode &code, Operation *op) {
  Squares(code, cast<onnx::PackedChannelSquaresOp>(op)).emit();
  return success();
}

}  // namespace onnxc
