// ContractWindow.cpp: windows over blocked activations that keep each channel in its lane: depthwise convolution, MaxPool, AveragePool.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Tile.h"
#include "codegen/cpu/Window.h"
#include "dialects/onnx/Packed.h"

using namespace mlir;
namespace onnxc {

WindowEmitter::WindowEmitter(KernelCode &code, Operation *op) : c(code), op(op), epilogue(code, op), type(c.vec(c.f32, kLanes)) {
  auto xType = cast<RankedTensorType>(op->getOperand(0).getType()), yType = cast<RankedTensorType>(op->getResult(0).getType());
  x = c.sizes(xType), y = c.sizes(yType);
  std::optional<int64_t> in = constantOf(sizeExprs(xType)[3]), out = constantOf(sizeExprs(yType)[3]);
  depthwise = isa<onnx::PackedDepthwiseConvOp>(op);
  if (auto conv = dyn_cast<onnx::PackedDepthwiseConvOp>(op)) {
    ArrayRef<int64_t> f = cast<RankedTensorType>(conv.getW().getType()).getShape();
    multiplier = conv.getMultiplier();
    w = WindowShape{f[1], f[2], conv.getStrides(), conv.getPads(), conv.getDilations(), in, out};
    return;
  }
  auto pool = cast<onnx::PackedPoolOp>(op);
  average = pool.getAverage(), includePad = pool.getCountIncludePad();
  w = WindowShape{pool.getKernelShape()[0], pool.getKernelShape()[1], pool.getStrides(), pool.getPads(), pool.getDilations(), in, out};
}

// The input lanes of 16 outputs, each as often as its multiplier says.
Value WindowEmitter::load(Value at) {
  if (multiplier == 1)
    return c.load(type, at);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < kLanes; ++i)
    order.push_back(i / multiplier);
  Value few = c.load(c.vec(c.f32, kLanes / multiplier), at);
  return vector::ShuffleOp::create(c.b, c.loc, few, few, order);
}

// NaN wins in MaxPool: acc > v fails for it.
Value WindowEmitter::combine(Value acc, Value v, Value weight) {
  if (depthwise)
    return c.fma(v, weight, acc);
  if (average)
    return c.addf(acc, v);
  Value keep = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::OGT, acc, v);
  Value bad = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNO, acc, acc);
  return arith::SelectOp::create(c.b, c.loc, arith::OrIOp::create(c.b, c.loc, keep, bad), acc, v);
}

Code::Values WindowEmitter::taps(const StripTile &strip, ValueRange start, Value line, Value weights, Value column) {
  Value left = c.sub(c.mul(column, w.strides[1]), w.pads[1]);
  auto tap = [&](ValueRange from, Value offset, Value weight, llvm::function_ref<bool(int64_t)> meets) {
    Code::Values acc(from);
    for (int64_t r = 0; r < strip.width; ++r) {
      if (!meets(r))
        continue;
      if (!strip.checked) {
        Value at = c.at(c.at(line, c.mul(offset, 64)), r * w.strides[1] * 64);
        acc[r] = combine(acc[r], load(at), weight);
        continue;
      }
      Value at = c.add(offset, r * w.strides[1]), inside = c.both(c.less(c.n(-1), at), c.less(at, x[3]));
      Value v = load(c.select(inside, c.at(line, c.mul(at, 64)), zeroBytes(c)));
      acc[r] = arith::SelectOp::create(c.b, c.loc, inside, combine(acc[r], v, weight), acc[r]);
    }
    return acc;
  };
  auto weightAt = [&](Value kw) { return depthwise ? c.load(type, c.at(weights, c.mul(kw, kPanelBytes))) : Value(); };
  if (strip.uniform() && w.kw > 7)
    return c.loop(c.n(0), c.n(w.kw), c.n(1), start, [&](Value kw, ValueRange v) {
      return tap(v, c.add(left, c.mul(kw, w.dilations[1])), weightAt(kw), [](int64_t) { return true; });
    });
  Code::Values acc(start);
  for (int64_t kw = 0; kw < w.kw; ++kw)
    acc = tap(acc, c.add(left, kw * w.dilations[1]), weightAt(c.n(kw)), [&](int64_t r) { return strip.meets(r, kw); });
  return acc;
}

// Taps of an average: those inside the input, or inside the padded input.
Value WindowEmitter::divisor(Value top, Value column) {
  Value left = c.sub(c.mul(column, w.strides[1]), w.pads[1]), high = x[2], wide = x[3];
  if (includePad) {
    top = c.add(top, w.pads[0]), left = c.add(left, w.pads[1]);
    high = c.add(high, w.pads[0] + w.pads[2]), wide = c.add(wide, w.pads[1] + w.pads[3]);
  }
  auto [r0, r1] = tapRange(c, top, w.kh, w.dilations[0], high);
  auto [c0, c1] = tapRange(c, left, w.kw, w.dilations[1], wide);
  Value count = c.mul(c.sub(r1, r0), c.sub(c1, c0));
  return c.splat(arith::SIToFPOp::create(c.b, c.loc, c.f32, count), kLanes);
}

void WindowEmitter::tile(const StripTile &strip, Value n, Value block, Value oh, Value column, Value plane) {
  Value top = c.sub(c.mul(oh, w.strides[0]), w.pads[0]), first = c.mul(c.rem(block, multiplier), kPanelBytes / multiplier);
  Value start = c.real(depthwise || average ? 0.0 : -INFINITY, type);
  if (depthwise && op->getNumOperands() > 2)
    start = c.load(type, c.at(c.address(op->getOperand(2)), c.mul(block, kPanelBytes)));
  auto [low, high] = tapRange(c, top, w.kh, w.dilations[0], x[2]);
  Code::Values acc(strip.width, start);
  acc = c.loop(low, high, c.n(1), acc, [&](Value kh, ValueRange v) {
    Value line = c.at(c.at(plane, first), c.mul(c.mul(c.add(top, c.mul(kh, w.dilations[0])), x[3]), 64));
    Value weights = depthwise ? c.at(c.address(op->getOperand(1)), c.mul(c.add(c.mul(block, w.kh), kh), w.kw * kPanelBytes)) : Value();
    return taps(strip, v, line, weights, column);
  });
  Value row = c.add(c.mul(c.add(c.mul(c.add(c.mul(n, y[1]), block), y[2]), oh), y[3]), column);
  for (int64_t r = 0; r < strip.width; ++r)
    c.when(strip.checked ? c.less(c.add(column, r), y[3]) : c.flag(true), [&] {
      Value at = c.add(column, r), v = acc[r];
      if (average)
        v = arith::DivFOp::create(c.b, c.loc, v, divisor(top, at));
      LanePlace place{c.mul(c.add(row, r), 64), [&] { return Code::Values{n, block, oh, at, c.n(0)}; }};
      c.store(epilogue.apply(v, place, Value()), c.at(c.result(0), place.offset));
    });
}

void WindowEmitter::row(Value n, Value block, Value oh, Value plane) {
  int64_t room = c.vectorRegisters * c.vectorBits / (8 * kPanelBytes);
  int64_t most = room >= 32 ? 14 : room >= 8 ? 4 : 2;  // accumulators, the inputs that taps share and a weight in registers
  forTiles(c, w, most, x[3], y[3], [&](Value column, const StripTile &strip) { tile(strip, n, block, oh, column, plane); });
}

void WindowEmitter::emit() {
  auto yExprs = sizeExprs(cast<RankedTensorType>(op->getResult(0).getType()));
  setExtent(c.kernel, {yExprs[0], yExprs[1], yExprs[2]}, 2.0 * double(w.outWidth.value_or(64) * kLanes * w.kh * w.kw));
  c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
    Value oh = c.rem(unit, y[2]), each = c.div(unit, y[2]), block = c.rem(each, y[1]), n = c.div(each, y[1]);
    Value image = c.mul(c.add(c.mul(n, x[1]), c.div(block, multiplier)), c.mul(x[2], x[3]));
    row(n, block, oh, c.at(c.address(op->getOperand(0)), c.mul(image, 64)));
  });
}

LogicalResult emitPackedWindow(KernelCode &code, Operation *op) {
  WindowEmitter(code, op).emit();
  return success();
}

}  // namespace onnxc
