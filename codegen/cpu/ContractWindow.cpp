// ContractWindow.cpp: windows over blocked activations whose lanes read lanes of one block: convolutions of single channels or small
// groups, MaxPool, AveragePool.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Window.h"
#include "dialects/onnx/Packed.h"
#include <map>

using namespace mlir;
namespace onnxc {

static constexpr int64_t kManyRegisters = 32, kSomeRegisters = 8;
static constexpr int64_t kMostUnrolled = 7;  // taps of a row

WindowEmitter::WindowEmitter(KernelCode &code, Operation *op) : c(code), op(op), epilogue(code, op), type(c.vec(c.f32, kLanes)) {
  auto xType = cast<RankedTensorType>(op->getOperand(0).getType()), yType = cast<RankedTensorType>(op->getResult(0).getType());
  x = c.sizes(xType), y = c.sizes(yType);
  SmallVector<AffineExpr> xExprs = sizeExprs(xType);
  std::optional<int64_t> in = constantOf(xExprs[3]), out = constantOf(sizeExprs(yType)[3]);
  convolves = isa<onnx::PackedGroupedConvOp>(op), frames = onnx::frameAxis(op);
  if (auto conv = dyn_cast<onnx::PackedGroupedConvOp>(op)) {
    ArrayRef<int64_t> f = cast<RankedTensorType>(conv.getW().getType()).getShape();
    channels = f[3], multiplier = conv.getMultiplier(), pads.assign(conv.getPads());
    w = WindowShape{f[1] / (frames ? frames->taps : 1), f[2], conv.getStrides(), pads, conv.getDilations(), in, out};
    setPadding(c, w, pads, conv.getAutoPad(), ArrayRef(xExprs).slice(2, 2), {x[2], x[3]}, {y[2], y[3]});
    return;
  }
  auto pool = cast<onnx::PackedPoolOp>(op);
  average = pool.getAverage(), includePad = pool.getCountIncludePad(), pads.assign(pool.getPads());
  w = WindowShape{pool.getKernelShape()[0], pool.getKernelShape()[1], pool.getStrides(), pads, pool.getDilations(), in, out};
  setPadding(c, w, pads, pool.getAutoPad(), ArrayRef(xExprs).slice(2, 2), {x[2], x[3]}, {y[2], y[3]});
}

// Channel `channel` of the group that each of 16 results belongs to.
Value WindowEmitter::load(Value at, int64_t channel) {
  if (channels * multiplier == 1)
    return c.load(type, at);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < kLanes; ++i)
    order.push_back(i / (channels * multiplier) * channels + channel);
  Value few = c.load(c.vec(c.f32, kLanes / multiplier), at);
  return vector::ShuffleOp::create(c.b, c.loc, few, few, order);
}

// NaN wins in MaxPool: acc > v fails for it.
Value WindowEmitter::combine(Value acc, Value v, Value weight) {
  if (convolves)
    return c.fma(v, weight, acc);
  if (average)
    return c.addf(acc, v);
  Value keep = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::OGT, acc, v);
  Value bad = arith::CmpFOp::create(c.b, c.loc, arith::CmpFPredicate::UNO, acc, acc);
  return arith::SelectOp::create(c.b, c.loc, arith::OrIOp::create(c.b, c.loc, keep, bad), acc, v);
}

// Where column `at` of an input row lies. In a tile that knows nothing about it, it may lie outside: what changes no result is there then.
Value WindowEmitter::pixel(const StripTile &strip, Value line, Value at) {
  Value address = c.at(line, c.mul(at, 64));
  if (!strip.checked)
    return address;
  Value inside = arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ult, at, x[3]);  // negative numbers are the largest
  return c.select(inside, address, convolves || average ? zeroBytes(c) : lowestFloats(c));
}

// A group's channels over the columns that a tile reads, one column after the other: what becomes of its lanes serves all taps and pixels
// that read it, and need not be kept. The filters of a row stay in registers.
Code::Values WindowEmitter::columns(const StripTile &strip, ValueRange start, Value line, Value weights, Value left) {
  std::map<int64_t, SmallVector<std::pair<int64_t, int64_t>>> readers;  // pixels and taps
  for (int64_t r = 0; r < strip.width; ++r)
    for (int64_t kw = 0; kw < w.kw; ++kw)
      if (strip.meets(r, kw))
        readers[r * w.strides[1] + kw * w.dilations[1]].push_back({r, kw});
  Code::Values acc(start);
  // Where four lanes are moved with one instruction and eight with two, two channels share the first.
  int64_t together = channels == 8 ? 2 : 1, apart = channels / together;
  for (int64_t channel = 0; channel < apart; ++channel) {
    SmallVector<Code::Values> filters(together, Code::Values(w.kw));
    for (int64_t i = 0; convolves && i < together; ++i)
      for (int64_t kw = 0; kw < w.kw; ++kw)
        filters[i][kw] = c.load(type, c.at(weights, (kw * channels + i * apart + channel) * kPanelBytes));
    for (auto &[column, uses] : readers) {
      Value at = pixel(strip, line, c.add(left, column));
      for (int64_t i = 0; i < together; ++i) {
        Value v = load(at, i * apart + channel);
        for (auto [r, kw] : uses)
          acc[r] = combine(acc[r], v, filters[i][kw]);
      }
    }
  }
  return acc;
}

// Whether the columns that a tile of a pool reads are joined first, each over the rows, then those of each pixel: where windows of
// neighbouring pixels share most of them, and registers hold those of two pixels.
bool WindowEmitter::joinsColumns() const {
  return !convolves && w.strides[1] == 1 && w.kw <= kMostUnrolled && registers() >= kSomeRegisters && mostColumns() > columnReach();
}

// The columns that some pixel's window meets, from the first pixel's first tap on.
static SmallVector<int64_t> columnsOf(const WindowShape &w, const StripTile &strip) {
  SmallVector<int64_t> columns;
  for (int64_t r = 0; r < strip.width; ++r)
    for (int64_t kw = 0; kw < w.kw; ++kw)
      if (strip.meets(r, kw))
        columns.push_back(r * w.strides[1] + kw * w.dilations[1]);
  llvm::sort(columns);
  columns.erase(llvm::unique(columns), columns.end());
  return columns;
}

// Accumulators that the taps of a pixel of its own take turns at, whose sums or maxima would wait for one another.
int64_t WindowEmitter::chainsOf(const StripTile &strip) const {
  constexpr int64_t most = 4;
  return convolves || strip.checked || strip.width > 1 ? 1 : std::min({most, w.kw, registers() / 2});
}

// What changes no sum or maximum.
Value WindowEmitter::nothing() { return c.real(convolves || average ? 0.0 : -INFINITY, type); }

// What the accumulators of a tile of block `block` are before its first row.
Code::Values WindowEmitter::starts(const StripTile &strip, Value block) {
  Value start = nothing();
  if (joinsColumns())
    return Code::Values(columnsOf(w, strip).size(), start);
  if (convolves && op->getNumOperands() > 2)
    start = c.load(type, c.at(c.address(op->getOperand(2)), c.mul(block, kPanelBytes)));
  return Code::Values(strip.width * chainsOf(strip), start);
}

// Joins what a row of windows reads.
Code::Values WindowEmitter::line(const StripTile &strip, ValueRange start, Value line, Value weights, Value column) {
  Value left = c.sub(c.mul(column, w.strides[1]), w.left);
  if (!joinsColumns())
    return taps(strip, start, line, weights, left);
  Code::Values acc(start);
  for (auto [to, at] : llvm::zip(acc, columnsOf(w, strip)))
    to = combine(to, load(pixel(strip, line, c.add(left, at)), 0), Value());
  return acc;
}

// The pixels of the accumulators behind the last row.
Code::Values WindowEmitter::results(const StripTile &strip, Code::Values acc) {
  if (!joinsColumns()) {
    for (int64_t i = strip.width; i < int64_t(acc.size()); ++i)
      acc[i % strip.width] = combine(acc[i % strip.width], acc[i], Value());
    acc.resize(strip.width);
    return acc;
  }
  SmallVector<int64_t> columns = columnsOf(w, strip);
  Code::Values pixels(strip.width);
  for (int64_t r = 0; r < strip.width; ++r) {
    for (int64_t kw = 0; kw < w.kw; ++kw)
      if (strip.meets(r, kw)) {
        Value v = acc[llvm::lower_bound(columns, r * w.strides[1] + kw * w.dilations[1]) - columns.begin()];
        pixels[r] = pixels[r] ? combine(pixels[r], v, Value()) : v;
      }
    if (!pixels[r])
      pixels[r] = nothing();
  }
  return pixels;
}

// The accumulators of a pixel's chains lie strip.width apart.
Code::Values WindowEmitter::taps(const StripTile &strip, ValueRange start, Value line, Value weights, Value left) {
  if ((channels > 1 || strip.checked) && registers() >= kManyRegisters && w.kw <= kMostUnrolled)
    return columns(strip, start, line, weights, left);
  int64_t chains = chainsOf(strip);
  auto tap = [&](ValueRange from, Value kw, int64_t channel, int64_t chain, llvm::function_ref<bool(int64_t)> meets) {
    Code::Values acc(from);
    Value offset = c.add(left, c.mul(kw, w.dilations[1])), weight;
    if (convolves)
      weight = c.load(type, c.at(weights, c.mul(c.add(c.mul(kw, channels), channel), kPanelBytes)));
    for (int64_t r = 0; r < strip.width; ++r)
      if (Value &to = acc[chain * strip.width + r]; meets(r))
        to = combine(to, load(pixel(strip, line, c.add(offset, r * w.strides[1])), channel), weight);
    return acc;
  };
  Code::Values acc(start);
  if (w.kw <= kMostUnrolled) {
    for (int64_t channel = 0; channel < channels; ++channel)  // its taps side by side: they share inputs
      for (int64_t kw = 0; kw < w.kw; ++kw)
        acc = tap(acc, c.n(kw), channel, kw % chains, [&](int64_t r) { return strip.meets(r, kw); });
    return acc;
  }
  auto run = [&](int64_t from, int64_t to) {
    auto some = [&](Value first, ValueRange v, int64_t count) {
      Code::Values now(v);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t channel = 0; channel < channels; ++channel)
          now = tap(now, c.add(first, i), channel, i, [&](int64_t r) { return strip.meets(r, from); });
      return now;
    };
    int64_t rest = (to - from) % chains;
    acc = c.loop(c.n(from), c.n(to - rest), c.n(chains), acc, [&](Value kw, ValueRange v) { return some(kw, v, chains); });
    acc = some(c.n(to - rest), acc, rest);
  };
  strip.uniform() ? run(0, w.kw) : forTapRuns(strip, run);
  return acc;
}

// Taps of an average: those inside an image, or inside the padded image, in each of the `depth` frames that the window covers.
Value WindowEmitter::divisor(Value top, Value column, Value depth) {
  Value left = c.sub(c.mul(column, w.strides[1]), w.left), high = x[2], wide = x[3];
  if (includePad) {
    top = c.add(top, w.pads[0]), left = c.add(left, w.pads[1]);
    high = c.add(high, w.pads[0] + w.pads[2]), wide = c.add(wide, w.pads[1] + w.pads[3]);
  }
  auto [r0, r1] = tapRange(c, top, w.kh, w.dilations[0], high);
  auto [c0, c1] = tapRange(c, left, w.kw, w.dilations[1], wide);
  Value count = c.mul(c.mul(c.sub(r1, r0), c.sub(c1, c0)), depth);
  return c.splat(arith::SIToFPOp::create(c.b, c.loc, c.f32, count), kLanes);
}

void WindowEmitter::tile(const StripTile &strip, Value n, Value block, Value oh, Value column, Value plane) {
  Value top = c.sub(c.mul(oh, w.strides[0]), w.top), first = c.mul(c.rem(block, multiplier), kPanelBytes / multiplier);
  std::pair<Value, Value> range = tapRange(c, top, w.kh, w.dilations[0], x[2]);
  Code::Values acc = starts(strip, block);
  Value depth = c.n(1);  // frames that an average counts
  // `filter`: rows of filters before those of this block and frame.
  auto rows = [&](ValueRange from, Value image, Value filter) {
    return c.loop(range.first, range.second, c.n(1), from, [&](Value kh, ValueRange v) {
      Value line = c.at(c.at(image, first), c.mul(c.mul(c.add(top, c.mul(kh, w.dilations[0])), x[3]), 64));
      Value weights;
      if (convolves)
        weights = c.at(c.address(op->getOperand(1)), c.mul(c.add(filter, kh), w.kw * channels * kPanelBytes));
      return this->line(strip, v, line, weights, column);
    });
  };
  if (!frames) {
    acc = rows(acc, plane, c.mul(block, w.kh));
  } else {
    FrameTaps t = frameTaps(c, *frames, x[1], n);
    Value frameBytes = c.mul(c.mul(x[2], x[3]), frames->blocks * 64);
    depth = includePad ? c.n(frames->taps) : c.sub(t.high, t.low);
    acc = c.loop(t.low, t.high, c.n(1), acc, [&](Value tap, ValueRange v) {
      Value image = c.at(plane, c.mul(c.add(t.first, c.mul(tap, frames->dilation)), frameBytes));
      return rows(v, image, c.mul(c.add(c.mul(block, frames->taps), tap), w.kh));
    });
  }
  acc = results(strip, std::move(acc));
  Value row = c.add(c.mul(c.add(c.mul(c.add(c.mul(n, y[1]), block), y[2]), oh), y[3]), column);
  for (int64_t r = 0; r < strip.width; ++r)
    c.when(strip.checked ? c.less(c.add(column, r), y[3]) : c.flag(true), [&] {
      Value at = c.add(column, r), v = acc[r];
      if (average)
        v = arith::DivFOp::create(c.b, c.loc, v, divisor(top, at, depth));
      LanePlace place{c.mul(c.add(row, r), 64), [&] { return Code::Values{n, block, oh, at, c.n(0)}; }};
      c.store(epilogue.apply(v, place, Value()), c.at(c.result(0), place.offset));
    });
}

void WindowEmitter::row(Value n, Value block, Value oh, Value plane) {
  // Accumulators, the inputs that taps share and a weight in registers.
  int64_t most = registers() >= kManyRegisters ? 14 : registers() >= kSomeRegisters ? 4 : 2;
  if (joinsColumns())
    most = std::min(most, mostColumns() - columnReach() + 1);
  forTiles(c, w, most, x[3], y[3], [&](Value column, const StripTile &strip) { tile(strip, n, block, oh, column, plane); });
}

void WindowEmitter::emit() {
  auto yExprs = sizeExprs(cast<RankedTensorType>(op->getResult(0).getType()));
  setExtent(c.kernel, {yExprs[0], yExprs[1], yExprs[2]},
            2.0 * double(w.outWidth.value_or(64) * kLanes * w.kh * w.kw * channels * (frames ? frames->taps : 1)));
  c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
    Value oh = c.rem(unit, y[2]), each = c.div(unit, y[2]), block = c.rem(each, y[1]), n = c.div(each, y[1]);
    Value input = frames ? frameTaps(c, *frames, x[1], n).video : n;
    Value image = c.mul(c.add(c.mul(input, x[1]), c.div(block, multiplier)), c.mul(x[2], x[3]));
    row(n, block, oh, c.at(c.address(op->getOperand(0)), c.mul(image, 64)));
  });
}

LogicalResult emitPackedWindow(KernelCode &code, Operation *op) {
  WindowEmitter(code, op).emit();
  return success();
}

}  // namespace onnxc
