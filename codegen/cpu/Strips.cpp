// Strips.cpp: tiles of an output row, from known widths or checked at run time.
#include "codegen/cpu/Strips.h"
#include "codegen/cpu/Contract.h"
#include "runtime_stub/kernels/SamePadding.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

void setPadding(Code &c, WindowShape &w, MutableArrayRef<int64_t> pads, StringRef autoPad, ArrayRef<AffineExpr> sizes, ArrayRef<Value> in,
                ArrayRef<Value> out) {
  bool same = autoPad.starts_with("SAME"), upper = autoPad == "SAME_UPPER";
  for (int axis : {0, 1}) {
    int64_t extent = ((axis ? w.kw : w.kh) - 1) * w.dilations[axis] + 1, stride = w.strides[axis];
    auto size = constantOf(sizes[axis]);
    if (same && size) {
      SamePads known = samePads(*size, extent, stride, upper);
      pads[axis] = known.begin, pads[axis + 2] = known.end;
    }
    Value &before = axis ? w.left : w.top;
    before = c.n(pads[axis]);
    if (same && !size) {  // as SamePadding.h has it
      Value total = c.max(c.sub(c.add(c.mul(c.sub(out[axis], 1), stride), extent), in[axis]), c.n(0));
      before = c.div(c.add(total, upper ? 0 : 1), 2);
    }
  }
}

// Pixels of [column, column + width) whose taps read padding.
static llvm::BitVector outsideTaps(const WindowShape &w, int64_t column, int64_t width) {
  llvm::BitVector bits(width * w.kw);
  for (int64_t r = 0; r < width; ++r)
    for (int64_t k = 0; k < w.kw; ++k) {
      int64_t at = (column + r) * w.strides[1] + k * w.dilations[1] - w.pads[1];
      if (at < 0 || at >= *w.inWidth)
        bits.set(r * w.kw + k);
    }
  return bits;
}

// How many tiles behind the one at `column` have every tap on the same side of the row's ends.
static int64_t equalTiles(const WindowShape &w, int64_t column, int64_t width) {
  const int64_t step = width * w.strides[1];
  int64_t n = INT64_MAX;
  for (int64_t r = 0; r < width; ++r)
    for (int64_t k = 0; k < w.kw; ++k) {
      int64_t at = (column + r) * w.strides[1] + k * w.dilations[1] - w.pads[1];
      if (at < *w.inWidth)
        n = std::min(n, ((at < 0 ? 0 : *w.inWidth) - 1 - at) / step);
    }
  return n;
}

bool StripTile::alike(int64_t a, int64_t b) const {
  return llvm::all_of(llvm::seq(width), [&](int64_t pixel) { return meets(pixel, a) == meets(pixel, b); });
}

void forTapRuns(const StripTile &tile, llvm::function_ref<void(int64_t from, int64_t to)> body) {
  for (int64_t from = 0, to; from < tile.taps; from = to) {
    for (to = from + 1; to < tile.taps && tile.alike(from, to);)
      ++to;
    if (llvm::any_of(llvm::seq(tile.width), [&](int64_t pixel) { return tile.meets(pixel, from); }))
      body(from, to);
  }
}

namespace {
struct TileRun {          // of equal tiles
  int64_t column, first;  // of its first tile
  StripTile tile;
};
}  // namespace

// Tiles of padding have code of their own for each run of taps: where that is too much of it, they are checked as they run.
static void boundCode(SmallVector<TileRun> &runs) {
  constexpr int64_t mostCode = 32;
  int64_t code = 0;
  for (const TileRun &run : runs)
    if (!run.tile.uniform())
      forTapRuns(run.tile, [&](int64_t, int64_t) { ++code; });
  if (code <= mostCode)
    return;
  for (TileRun &run : runs)
    if (!run.tile.uniform())
      run.tile.checked = true, run.tile.outside.clear();
  auto continues = [](const TileRun &a, const TileRun &b) { return a.tile.checked && b.tile.checked && a.tile.width == b.tile.width; };
  runs.erase(std::unique(runs.begin(), runs.end(), continues), runs.end());
}

// The runs of a row of `count` tiles.
static SmallVector<TileRun> tileRuns(const WindowShape &w, int64_t count) {
  int64_t height = count ? llvm::divideCeil(*w.outWidth, count) : 0, full = *w.outWidth - count * (height - 1), column = 0;
  SmallVector<TileRun> runs;
  for (int64_t i = 0; i < count;) {
    int64_t width = i < full ? height : height - 1, equal = 1 + std::min(equalTiles(w, column, width), (i < full ? full : count) - i - 1);
    StripTile tile{width, false, outsideTaps(w, column, width), w.kw};
    if (runs.empty() || runs.back().tile.width != width || runs.back().tile.outside != tile.outside)
      runs.push_back({column, i, tile});
    column += equal * width;
    i += equal;
  }
  boundCode(runs);
  return runs;
}

static void knownTiles(Code &c, const WindowShape &w, int64_t most, llvm::function_ref<void(Value, const StripTile &)> body,
                       std::optional<TileRange> range) {
  int64_t count = llvm::divideCeil(*w.outWidth, most);
  SmallVector<TileRun> runs = tileRuns(w, count);
  for (size_t i = 0; i < runs.size(); ++i) {
    const TileRun &run = runs[i];
    const StripTile &tile = run.tile;
    int64_t last = i + 1 < runs.size() ? runs[i + 1].first : count, width = tile.width;
    auto columnOf = [&](Value t) { return c.add(c.mul(c.sub(t, run.first), width), run.column); };
    Value from = range ? columnOf(c.max(range->first, c.n(run.first))) : c.n(run.column);
    Value to = range ? columnOf(c.min(range->end, c.n(last))) : c.n(run.column + (last - run.first) * width);
    c.loop(from, to, c.n(width), [&](Value column) { body(column, tile); });
  }
}

// Tiles whose taps may read padding are checked as they run, which takes longer: they have half the pixels, as have those that are left
// over.
static void unknownTiles(Code &c, const WindowShape &w, int64_t most, Value inWidth, Value outWidth,
                         llvm::function_ref<void(Value, const StripTile &)> body) {
  constexpr int64_t worthHalving = 8;
  int64_t few = most < worthHalving ? most : most / 2, stride = w.strides[1];
  auto inside = [&](int64_t width) { return StripTile{width, false, llvm::BitVector(width * w.kw), w.kw}; };
  auto tiles = [&](Value from, Value to, const StripTile &tile) {
    c.loop(from, to, c.n(tile.width), [&](Value column) { body(column, tile); });
  };
  auto whole = [&](Value from, Value to, int64_t width) { return c.add(from, c.mul(c.div(c.sub(to, from), width), width)); };
  // Columns from `first` to `end` have all their taps inside.
  Value first = c.min(c.mul(c.ceilDiv(c.ceilDiv(c.max(w.left, c.n(0)), stride), few), few), outWidth);
  Value room = c.add(c.sub(inWidth, (w.kw - 1) * w.dilations[1] + 1), w.left);
  Value end = c.max(c.min(c.div(c.max(c.add(room, stride), c.n(0)), stride), outWidth), first);
  Value large = whole(first, end, most), small = most > few ? whole(large, end, few) : large;
  StripTile checked{few, true, {}, w.kw};
  tiles(c.n(0), first, checked);
  tiles(first, large, inside(most));
  if (most > few)
    tiles(large, small, inside(few));
  tiles(small, outWidth, checked);
}

void forTiles(Code &c, const WindowShape &w, int64_t most, Value inWidth, Value outWidth,
              llvm::function_ref<void(Value, const StripTile &)> body, std::optional<TileRange> range) {
  if (w.inWidth && w.outWidth)
    return knownTiles(c, w, most, body, range);
  assert(!range);
  unknownTiles(c, w, most, inWidth, outWidth, body);
}

std::pair<Value, Value> tapRange(Code &c, Value start, int64_t taps, int64_t dilation, Value size) {
  Value below = c.max(c.sub(c.n(0), start), c.n(0)), room = c.max(c.sub(size, start), c.n(0));
  return {c.min(c.ceilDiv(below, dilation), c.n(taps)), c.min(c.ceilDiv(room, dilation), c.n(taps))};
}

FrameTaps frameTaps(Code &c, const onnx::FrameAxis &axis, Value all, Value n) {
  Value count = c.div(all, axis.blocks), results = c.div(c.add(count, axis.more()), axis.stride);
  Value first = c.sub(c.mul(c.rem(n, results), axis.stride), axis.before);
  auto [low, high] = tapRange(c, first, axis.taps, axis.dilation, count);
  return {c.div(n, results), first, low, high};
}

FrameBlocks frameBlocks(Code &c, const onnx::FrameAxis &axis, Value all, Value n) {
  FrameTaps t = frameTaps(c, axis, all, n);
  return {c.add(c.mul(t.video, all), c.mul(t.first, axis.blocks)), c.mul(t.low, axis.blocks), c.mul(t.high, axis.blocks)};
}

static Value kilobyteOf(KernelCode &c, StringRef name, uint32_t word) {
  auto module = c.func->getParentOfType<ModuleOp>();
  auto words = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!words) {
    constexpr int64_t count = 1024 / 4;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto value = DenseElementsAttr::get(RankedTensorType::get({count}, b.getI32Type()), APInt(32, word));
    words =
        LLVM::GlobalOp::create(b, c.loc, LLVM::LLVMArrayType::get(b.getI32Type(), count), true, LLVM::Linkage::Internal, name, value, 64);
  }
  return LLVM::AddressOfOp::create(c.b, c.loc, words);
}
Value zeroBytes(KernelCode &c) { return kilobyteOf(c, "onnxc.zeros", 0); }
Value lowestFloats(KernelCode &c) { return kilobyteOf(c, "onnxc.lowest", llvm::bit_cast<uint32_t>(-INFINITY)); }

}  // namespace onnxc
