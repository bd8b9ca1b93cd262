// ContractConv.cpp: 2-D convolution to blocked results: 1x1 filters as products of rows (Rows.h), others directly over windows. A
// transposed one is a convolution for each phase, whose results lie some pixels apart.
//
// chunk  output rows or, where those are few, wide or of unknown width, tiles
// unit   an image, a row or tile of a chunk, a group of output panels; where sizes are known at run time only, a whole chunk
// strip  tiles of one output row that have the same size and meet the padding in the same places; where the window is so long that such
//        places are many, tiles of padding read through a table (Ragged.h)
//
// Tiles lie along rows: a result of one column counts as one of a single row, its input as turned on its side.
//
// Where widths are known at run time only, all output pixels are one row that is cut into tiles of one size: a unit is a chunk of them,
// and tiles that are not within one row and clear of the padding read through a table (Ragged.h).
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/ConvTiles.h"
#include "codegen/cpu/Ragged.h"
#include "codegen/cpu/Rows.h"
#include "codegen/cpu/Strips.h"
#include "dialects/onnx/Packed.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PhaseAxis.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kSmallBytes = 320 << 10;  // of weights that stay in the second-level cache

struct Conv {
  KernelCode &c;
  onnx::PackedConvOp op;  // null: a phase of a transposed one
  Epilogue epilogue;
  Value data, filters, bias;  // memory; the bias may be null
  int64_t channels;           // of a group's input
  bool plain = false, isColumn = false;
  Code::Values x, y;  // sizes, rows and columns changed places where `isColumn`
  SmallVector<AffineExpr> yExprs;
  SmallVector<int64_t> strides, pads, dilations;
  WindowShape w;
  int64_t inner, blocks, panels, groups;  // channels side by side, blocks of them, output panels of a group
  Value down;                             // pixels of the input from one row to the next,
  int64_t across = 1;                     // and from one column
  std::optional<int64_t> imageBytes;      // of a group's input, where it is known
  std::optional<onnx::FrameAxis> frames;  // over which it goes, each with its share of the blocks
  // Where row and column 0 of the results lie, how far the next ones, and in what: of a phase in the whole result.
  std::array<int64_t, 2> firstPlace{0, 0}, placeStep{1, 1};
  Value outWidth, outPlane;

  Conv(KernelCode &code, onnx::PackedConvOp op)
      : c(code), op(op), epilogue(code, op), data(code.address(op.getX())), filters(code.address(op.getW())),
        bias(op.getBias() ? code.address(op.getBias()) : Value()), channels(op.getChannels()), plain(op.getPlain()),
        x(code.sizes(cast<RankedTensorType>(op.getX().getType()))), y(code.sizes(cast<RankedTensorType>(op.getY().getType()))),
        yExprs(sizeExprs(cast<RankedTensorType>(op.getY().getType()))) {
    ArrayRef<int64_t> f = cast<RankedTensorType>(op.getW().getType()).getShape();
    auto xs = sizeExprs(cast<RankedTensorType>(op.getX().getType()));
    strides.assign(op.getStrides()), pads.assign(op.getPads()), dilations.assign(op.getDilations());
    int64_t kh = f[2], kw = f[3];
    auto width = constantOf(xs[3]);
    isColumn = constantOf(yExprs[3]) == 1 && constantOf(yExprs[2]) != 1 && width && pads[1] == 0 && pads[3] == 0;
    down = isColumn ? c.n(1) : x[3];
    if (isColumn) {
      across = *width;
      std::swap(x[2], x[3]), std::swap(y[2], y[3]), std::swap(xs[2], xs[3]), std::swap(yExprs[2], yExprs[3]);
      std::swap(kh, kw), std::swap(strides[0], strides[1]), std::swap(dilations[0], dilations[1]);
      std::swap(pads[0], pads[1]), std::swap(pads[2], pads[3]);
    }
    inner = plain ? 1 : kLanes, frames = onnx::frameAxis(op);
    blocks = f[1], groups = op.getGroup(), panels = f[0] / groups;
    outWidth = y[3], outPlane = c.mul(y[2], y[3]);
    setWindow(kh, kw, xs);
  }
  // A phase of a transposed convolution, whose filters lie `filterBytes` behind the first one's.
  Conv(KernelCode &code, onnx::PackedConvTransposeOp op, const PhaseAxis &down, const PhaseAxis &right, int64_t filterBytes)
      : c(code), epilogue(code, op), data(code.address(op.getX())), filters(code.at(code.address(op.getW()), filterBytes)),
        bias(op.getBias() ? code.address(op.getBias()) : Value()), channels(op.getChannels()),
        x(code.sizes(cast<RankedTensorType>(op.getX().getType()))), y(code.sizes(cast<RankedTensorType>(op.getY().getType()))),
        yExprs(sizeExprs(cast<RankedTensorType>(op.getY().getType()))) {
    auto xs = sizeExprs(cast<RankedTensorType>(op.getX().getType()));
    strides.assign({1, 1}), dilations.assign({1, 1}), pads.assign({down.pad, right.pad, 0, 0});
    inner = kLanes, blocks = llvm::divideCeil(channels, kLanes), groups = 1, panels = llvm::divideCeil(op.getOutputs(), kLanes);
    outWidth = y[3], outPlane = c.mul(y[2], y[3]);
    firstPlace = {down.first, right.first}, placeStep = {op.getStrides()[0], op.getStrides()[1]};
    for (auto [axis, phase] : {std::pair(2, &down), {3, &right}}) {
      y[axis] = c.div(c.add(y[axis], phase->stride - 1 - phase->first), phase->stride);
      yExprs[axis] = (yExprs[axis] + (phase->stride - 1 - phase->first)).floorDiv(phase->stride);
    }
    this->down = x[3];
    setWindow(down.taps, right.taps, xs);
  }
  void setWindow(int64_t kh, int64_t kw, ArrayRef<AffineExpr> xs) {
    w = WindowShape{kh, kw, strides, pads, dilations, constantOf(xs[3]), constantOf(yExprs[3])};
    setPadding(c, w, pads, op ? op.getAutoPad() : "", xs.slice(2, 2), {x[2], x[3]}, {y[2], y[3]});
    if (auto height = constantOf(xs[2]); height && w.inWidth)
      imageBytes = *height * *w.inWidth * blocks * inner * 4;
  }

  bool known() const { return w.inWidth && w.outWidth; }
  // The input blocks of result image `n`.
  FrameBlocks blocksOf(Value n, Value group) {
    if (frames)
      return frameBlocks(c, *frames, x[1], n);
    return {c.add(c.mul(n, x[1]), firstBlock(c, op, group, x[1])), c.n(0), c.n(blocks)};
  }
  // Planes whose ragged tiles have a table each: as many as leave the first-level cache room.
  int64_t tables() const { return plain && blocks * w.kh * w.kw <= 32 ? blocks : 0; }
  // Where the input of a group of result image `n` begins.
  Value imageOf(Value n, Value group) { return c.at(data, c.mul(blocksOf(n, group).first, c.mul(c.mul(x[2], x[3]), inner * 4))); }
  // Where the weights of a tap lie among those of a block.
  Value tapBytes(Value kh, Value kw) {
    Value at = isColumn ? c.add(c.mul(kw, w.kh), kh) : c.add(c.mul(kh, w.kw), kw);
    return c.mul(at, inner * kPanelBytes);
  }
  int64_t panelBytes() const { return blocks * w.kh * w.kw * inner * kPanelBytes; }
  // Where a row or column of the results lies.
  Value placeOf(int axis, Value at) { return c.add(c.mul(at, placeStep[axis]), firstPlace[axis]); }
  Code::Values index(Value n, Value panel, Value row, Value column) {
    if (isColumn)
      std::swap(row, column);
    return {n, panel, row, column, c.n(0)};
  }

  void emitPointwise();
  void emitDirect();
  bool canTile();
  static void emitPhases(KernelCode &c, onnx::PackedConvTransposeOp op);
  // How the direct way is cut into units: rows, and where those are few, wide or of unknown width tiles of them.
  struct Units {
    TileShape tile;
    int64_t rows, tiles, panels, blocks;  // blocks of input channels whose weights for a group of panels stay in a cache
    bool byTiles, cut;                    // `cut`: tasks share a chunk, whose parts all exist but for a few of the last
    int64_t parts() const { return cut ? size() : 1; }
    int64_t size() const { return byTiles ? tiles : rows; }  // of a chunk
  };
  // What tiles have in common: panels [from, to) of group `group` of result image `n`, of input blocks [low, high).
  struct Work {
    Value n, group, from, to, low, high;
  };
  // The pixels of a tile.
  struct Pixels {
    Value row, column;       // of the first one
    const StripTile *strip;  // that they belong to; null: ragged
    RaggedTile *ragged;
    Value count;  // of a ragged tile's that exist
  };
  int64_t groupBytes() const;
  // Small weights stay in the cache while chunks of the image pass; large ones are read once.
  bool chunksOutside() const { return panelBytes() * panels * groups <= kSmallBytes; }
  Units directUnits() const;
  void cutRows(Units &u) const;
  double partFlops(const Units &u) const;
  struct Chunks;
  AffineExpr unitsOfImage(const Units &u) const;
  void unit(const Units &u, const Chunks &chunks, Value n, Value rest, Value low, Value high);
  void row(const Work &work, const TileShape &shape, Value oh, std::optional<TileRange> tiles);
  void flat(const Work &work, const TileShape &shape, Value first, Value end);
  void panelTiles(const Work &work, const TileShape &shape, const Pixels &pixels);
  struct Results;  // of a tile
  void tile(const Work &work, const Tile &t, const Pixels &pixels, Value panel);
  // Some channels of a block, multiples of four of blocked ones.
  struct Steps {
    Value begin, end;
  };
  // The channels that the groups of a panel have, from the first of the blocks on that it reads.
  Steps channelsOf(Value panel);
  // A block of input channels: where its plane begins, and its filters of a tile's first panel.
  struct Block {
    Value number, image, weights;
    Steps steps;
  };
  Tile::Values blockProducts(const Tile &t, const Pixels &pixels, ValueRange acc, const Block &block);
  Tile::Values raggedProducts(const Tile &t, const Pixels &pixels, ValueRange acc, const Block &block);
  // A few of the steps at a time. `channel`: where a pixel's channels begin, some bytes further on; null: left alone.
  Tile::Values channelProducts(const Tile &t, ValueRange acc, llvm::function_ref<Value(int64_t row, Value bytes)> channel, Value weights,
                               Steps range);
};

void Conv::emitPointwise() {
  AffineExpr rowsExpr = yExprs[2] * yExprs[3];
  Value plane = c.mul(y[2], y[3]);
  RowsSchedule s(c, constantOf(rowsExpr), panels, blocks, kLanes, PanelType::of(onnx::elementType(op.getW())));
  s.scheduleChunk(c.kernel), s.scheduleGroup(c.kernel), s.scheduleDepth(c.kernel, blocks);
  int64_t panelGroups = llvm::divideCeil(panels, s.groupPanels);
  setExtent(c.kernel, {yExprs[0], s.tiles(rowsExpr), getAffineConstantExpr(panelGroups * groups, c.b.getContext())},
            s.tileFlops(blocks * kLanes));
  auto groupAt = [&](Value at) {
    Value n = c.div(at, panelGroups * groups), rest = c.rem(at, panelGroups * groups);
    Value from = c.mul(c.rem(rest, panelGroups), s.groupPanels), to = c.min(c.add(from, s.groupPanels), c.n(panels));
    RowsProblem p = pointwiseRows(c, op, n, c.div(rest, panelGroups));
    p.out = c.at(c.result(0), p.outOffset);
    return RowsEmitter::Group{p, from, to};
  };
  RowsEmitter(c, epilogue, s).emitGroups(groupAt, c.mul(y[0], panelGroups * groups), panelGroups, plane, c.n(panels), blocks * kLanes);
}

Tile::Values Conv::channelProducts(const Tile &t, ValueRange acc, llvm::function_ref<Value(int64_t, Value)> channel, Value weights,
                                   Steps range) {
  auto steps = [&](ValueRange v, Value k, int64_t count) {
    auto row = [&](int64_t r) { return channel(r, c.mul(k, 4)); };
    return t.products(v, row, [&](int64_t i) { return c.at(c.at(weights, c.mul(k, kPanelBytes)), i * panelBytes()); }, count);
  };
  if (inner == 1)
    return steps(acc, c.n(0), 1);
  // Beside so many accumulators LLVM's scheduler loads the scalars of all steps that it sees at once, and spills them.
  constexpr int64_t crowded = 24;
  int64_t unroll = c.vectorRegisters == 32 && !c.multipliesByLane && t.rows * t.panels >= crowded ? 2 : 4;
  return c.loop(range.begin, range.end, c.n(unroll), acc, [&](Value k, ValueRange v) { return steps(v, k, unroll); });
}

Conv::Steps Conv::channelsOf(Value panel) {
  ArrayRef<int64_t> shared = *op.getShared();
  Value first = c.mul(firstBlock(c, op, panel, x[1]), kLanes), begin = c.mul(c.div(c.mul(panel, kLanes), shared[0]), shared[1]);
  Value end = c.mul(c.add(c.div(c.add(c.mul(panel, kLanes), kLanes - 1), shared[0]), 1), shared[1]);
  end = c.min(end, c.mul(x[1], kLanes));
  return {c.mul(c.div(c.sub(begin, first), 4), 4), c.mul(c.ceilDiv(c.sub(end, first), 4), 4)};
}

Tile::Values Conv::raggedProducts(const Tile &t, const Pixels &pixels, ValueRange start, const Block &block) {
  return pixels.ragged->forTaps(block.image, block.number, start, [&](Value tap, ArrayRef<Value> pixel, ValueRange acc) {
    return channelProducts(
        t, acc, [&](int64_t r, Value bytes) { return c.at(pixel[r], bytes); },
        c.at(block.weights, tapBytes(c.div(tap, w.kw), c.rem(tap, w.kw))), block.steps);
  });
}

Tile::Values Conv::blockProducts(const Tile &t, const Pixels &pixels, ValueRange start, const Block &block) {
  if (!pixels.strip)
    return raggedProducts(t, pixels, start, block);
  const StripTile &strip = *pixels.strip;
  int64_t pixel = inner * 4;
  Value top = c.sub(c.mul(pixels.row, w.strides[0]), w.top);
  auto [low, high] = tapRange(c, top, w.kh, w.dilations[0], x[2]);
  return c.loop(low, high, c.n(1), start, [&](Value kh, ValueRange v) {
    Value line = c.at(block.image, c.mul(c.mul(c.add(top, c.mul(kh, w.dilations[0])), down), pixel));
    Value taps = c.at(block.weights, tapBytes(kh, c.n(0)));
    Value left = c.sub(c.mul(pixels.column, w.strides[1]), w.left);
    Tile::Values acc(v);
    forTapRuns(strip, [&](int64_t from, int64_t to) {
      auto tap = [&](Value kw, ValueRange now) {
        Value first = c.at(line, c.mul(c.add(left, c.mul(kw, w.dilations[1])), across * pixel));
        auto at = [&](int64_t r, Value bytes) {
          return strip.meets(r, from) ? c.at(c.at(first, bytes), r * w.strides[1] * across * pixel) : Value();
        };
        return channelProducts(t, now, at, c.at(taps, tapBytes(c.n(0), kw)), block.steps);
      };
      // LLVM would unroll a loop of two after it has ordered the code of an iteration: on NEON that spilled.
      if (to - from == 2)
        acc = tap(c.n(from + 1), tap(c.n(from), acc));
      else
        acc = c.loop(c.n(from), c.n(to), c.n(1), acc, tap);
    });
    return acc;
  });
}

// The results of one tile in memory.
struct Conv::Results {
  Conv &conv;
  const Pixels &pixels;
  Value n, panel;
  KernelCode &c = conv.c;

  // Bytes from the start of the result.
  Value offset(Value r, int64_t i) const {
    Value row = pixels.row, column = pixels.column;
    if (!pixels.strip && !conv.op) {  // on the next row, perhaps, which does not follow in memory
      column = c.add(column, r), r = c.n(0);
      row = c.add(row, c.div(column, conv.y[3])), column = c.rem(column, conv.y[3]);
    }
    row = conv.placeOf(0, row), column = conv.placeOf(1, column);
    Value place = c.add(c.mul(c.add(c.mul(n, conv.y[1]), panel), conv.outPlane), c.add(c.mul(row, conv.outWidth), column));
    return c.add(c.mul(place, 64), c.add(c.mul(c.n(i), c.mul(conv.outPlane, 64)), c.mul(r, conv.placeStep[1] * 64)));
  }
  Value exists(Value r) const { return pixels.strip ? c.flag(true) : c.less(r, pixels.count); }
  LanePlace place(Value r, int64_t i) const {
    return LanePlace{offset(r, i), [this, r, i] {
                       Value column = c.add(pixels.column, r), width = conv.y[3];
                       Value row = pixels.strip ? pixels.row : c.add(pixels.row, c.div(column, width));
                       column = pixels.strip ? column : c.rem(column, width);
                       return conv.index(n, c.add(panel, i), conv.placeOf(0, row), conv.placeOf(1, column));
                     }};
  }
  // Zeros for a pixel that does not exist.
  Value load(const Tile &t, Value r, int64_t i) const {
    Value at = c.at(c.result(0), offset(r, i));
    return c.load(t.type(), pixels.strip ? at : c.select(exists(r), at, zeroBytes(c)));
  }
  // `acc`, and the epilogue of them where `finish`. One that is long works on what the tile has stored.
  void store(const Tile &t, const Tile::Values &acc, bool finish) const {
    bool later = conv.epilogue.isLong();
    for (int64_t r = 0; r < t.rows; ++r)
      c.when(exists(c.n(r)), [&] {
        for (int64_t i = 0; i < t.panels; ++i) {
          LanePlace at = place(c.n(r), i);
          Value v = acc[r * t.panels + i];
          c.store(finish && !later ? conv.epilogue.apply(v, at, Value()) : v, c.at(c.result(0), at.offset));
        }
      });
    if (!finish || !later)
      return;
    c.loop(c.n(0), c.n(t.rows), c.n(1), [&](Value r) {
      c.when(exists(r), [&] {
        for (int64_t i = 0; i < t.panels; ++i) {
          LanePlace at = place(r, i);
          Value address = c.at(c.result(0), at.offset);
          c.store(conv.epilogue.apply(c.load(t.type(), address), at, Value()), address);
        }
      });
    });
  }
};

void Conv::tile(const Work &work, const Tile &t, const Pixels &pixels, Value panel) {
  Value all = c.add(c.mul(work.group, panels), panel);
  Value imageBytes = c.mul(c.mul(x[2], x[3]), inner * 4);
  FrameBlocks own = blocksOf(work.n, work.group);
  Value image = imageOf(work.n, work.group);
  Value weights = c.at(filters, c.mul(all, panelBytes()));
  Results results{*this, pixels, work.n, all};
  Value zero = c.real(0, t.type());
  SmallVector<Value> starts;
  for (int64_t i = 0; i < t.panels; ++i)
    starts.push_back(bias ? c.load(t.type(), c.at(bias, c.mul(c.add(all, i), kPanelBytes))) : zero);
  Tile::Values acc = c.choose(
      c.equal(work.low, own.low), [&] { return t.fill([&](int64_t, int64_t i) { return starts[i]; }); },
      [&] { return t.fill([&](int64_t r, int64_t i) { return results.load(t, c.n(r), i); }); });
  auto products = [&](Value block, ValueRange v, Steps steps) {
    Value filter = c.at(weights, c.mul(block, w.kh * w.kw * inner * kPanelBytes));
    return blockProducts(t, pixels, v, Block{block, c.at(image, c.mul(block, imageBytes)), filter, steps});
  };
  if (op && op.getShared()) {
    Steps range = channelsOf(work.group);
    acc = c.loop(c.max(work.low, c.div(range.begin, kLanes)), c.min(work.high, c.ceilDiv(range.end, kLanes)), c.n(1), acc,
                 [&](Value block, ValueRange v) {
                   Value first = c.mul(block, kLanes);
                   return products(block, v, {c.max(c.sub(range.begin, first), c.n(0)), c.min(c.sub(range.end, first), c.n(kLanes))});
                 });
  } else {
    int64_t lastSteps = plain ? inner : lastBlockSteps(channels);
    Value whole = lastSteps == inner ? work.high : c.min(work.high, c.n(blocks - 1));
    acc = c.loop(work.low, whole, c.n(1), acc, [&](Value block, ValueRange v) { return products(block, v, {c.n(0), c.n(inner)}); });
    acc = c.choose(c.less(whole, work.high), [&] { return products(whole, acc, {c.n(0), c.n(lastSteps)}); }, [&] { return acc; });
  }
  c.when(c.equal(work.high, own.high), [&] { results.store(t, acc, true); }, [&] { results.store(t, acc, false); });
}

// The tiles of `pixels`, `shape.panels` panels at a time.
void Conv::panelTiles(const Work &work, const TileShape &shape, const Pixels &pixels) {
  auto panelsOf = [&](int64_t count) { return [&, count](Value panel) { tile(work, Tile{c, shape.rows, count}, pixels, panel); }; };
  int64_t rest = panels % shape.panels;
  Value whole = c.add(work.from, c.mul(c.div(c.sub(work.to, work.from), shape.panels), shape.panels));
  c.loop(work.from, whole, c.n(shape.panels), panelsOf(shape.panels));
  if (rest)
    c.when(c.less(whole, work.to), [&] { panelsOf(rest)(whole); });
}

void Conv::row(const Work &work, const TileShape &shape, Value oh, std::optional<TileRange> tiles) {
  RaggedTile ragged(c, w, shape.rows, x[2], x[3], down, across, inner * 4, tables());
  auto body = [&](Value column, const StripTile &strip) {
    if (!strip.checked)
      return panelTiles(work, TileShape{strip.width, shape.panels}, Pixels{oh, column, &strip, nullptr, Value()});
    Value count = c.n(strip.width);
    ragged.setScratch();
    ragged.fill(imageOf(work.n, work.group), oh, column, y[3], count);
    panelTiles(work, shape, Pixels{oh, column, nullptr, &ragged, count});
  };
  forTiles(c, w, shape.rows, x[3], y[3], body, tiles);
}

// The tiles of the pixels [first, end) of the plane.
void Conv::flat(const Work &work, const TileShape &shape, Value first, Value end) {
  StripTile inside{shape.rows, false, llvm::BitVector(shape.rows * w.kw), w.kw};
  RaggedTile ragged(c, w, shape.rows, x[2], x[3], down, across, inner * 4, tables());
  ragged.setScratch();
  c.loop(first, end, c.n(shape.rows), [&](Value pixel) {
    Value row = c.div(pixel, y[3]), column = c.rem(pixel, y[3]), count = c.sub(end, pixel);
    auto tiles = [&](const StripTile *strip) { panelTiles(work, shape, Pixels{row, column, strip, &ragged, count}); };
    c.when(
        ragged.regular(column, y[3]), [&] { tiles(&inside); },
        [&] {
          ragged.fill(imageOf(work.n, work.group), row, column, y[3], count);
          tiles(nullptr);
        });
  });
}

// Of the weights of a group of panels and some blocks of input channels, which meet every tile of a chunk: in the first-level cache where
// the second-level one holds the image, which each group reads again.
int64_t Conv::groupBytes() const {
  constexpr int64_t mostImage = 1 << 20, firstLevel = 32 << 10;
  return imageBytes && *imageBytes <= mostImage ? firstLevel : kSmallBytes;
}

static constexpr int64_t kChunkPixels = 256;

// Rows that are cut. What a filter's rows read of an image should be in the second-level cache when the next row reads it again.
void Conv::cutRows(Units &u) const {
  constexpr int64_t wide = 1 << 20, near = 512 << 10, mostRows = 16;
  int64_t columnBytes = w.kh * blocks * inner * 4;
  if (!known() || constantOf(yExprs[2]) == 1)
    u.byTiles = true, u.rows = 1, u.tiles = llvm::divideCeil(kChunkPixels, u.tile.rows);
  else if (w.kh > 1 && *w.inWidth * columnBytes > wide && *w.outWidth > kChunkPixels)
    u.byTiles = true, u.rows = std::min(constantOf(yExprs[2]).value_or(mostRows), mostRows),
    u.tiles = std::max<int64_t>(4, near / columnBytes / w.strides[1] / u.tile.rows);
}

// Two threads take the upper and the lower half of an image, as of the one before, where that costs one thread nothing.
Conv::Units Conv::directUnits() const {
  constexpr double worthHalving = 2e6;  // flops
  int64_t bytes = groupBytes(), near = bytes < kSmallBytes ? bytes * blocks / panelBytes() : 0;
  // Of unknown width: tiles that lie in two rows or meet padding take up to twice as long, and fewer of small ones do.
  constexpr int64_t fewPixels = 8;
  TileShape tile = known() ? chooseTile(w.outWidth, panels, c, near) : chooseTile(w.outWidth, panels, c, near, fewPixels);
  Units u{scheduledTile(c.kernel, tile, w.outWidth, panels), 4, 0, 0, 0, false, known() && constantOf(yExprs[2])};
  if (w.outWidth)
    u.rows = std::max<int64_t>(1, llvm::divideCeil(kChunkPixels, std::max<int64_t>(*w.outWidth, 1)));
  cutRows(u);
  u.panels = u.tile.panels * std::max<int64_t>(1, std::min<int64_t>(8, bytes / panelBytes()) / u.tile.panels);
  u.panels = std::min(u.panels, panels);
  auto shareOut = [](int64_t &size, std::optional<int64_t> all) {  // in chunks alike
    if (all && *all > 0)
      size = llvm::divideCeil(*all, llvm::divideCeil(*all, size));
  };
  shareOut(u.rows, constantOf(yExprs[2]));
  if (u.byTiles && known())
    shareOut(u.tiles, llvm::divideCeil(*w.outWidth, u.tile.rows));
  if (chunksOutside() && !u.byTiles && u.rows > 1 && constantOf(yExprs[2]) == u.rows && partFlops(u) * double(u.rows) >= worthHalving)
    u.rows = llvm::divideCeil(u.rows, 2);
  int64_t &chunk = u.byTiles ? u.tiles : u.rows;
  chunk = scheduled(c.kernel, "chunk", chunk);
  u.panels = std::min<int64_t>(panels, llvm::divideCeil(scheduled(c.kernel, "group", u.panels), u.tile.panels) * u.tile.panels);
  int64_t blockBytes = panelBytes() / blocks * u.panels, step = std::clamp<int64_t>(bytes / blockBytes, 1, blocks);
  u.blocks = scheduled(c.kernel, "depth", llvm::divideCeil(blocks, llvm::divideCeil(blocks, step)), blocks);
  return u;
}

double Conv::partFlops(const Units &u) const {
  int64_t pixels = u.byTiles ? u.rows * u.tile.rows : w.outWidth.value_or(64);
  return 2.0 * double(pixels * u.size() / u.parts()) * double(u.panels) * double(panelBytes() / 4);
}

// How the units of one image are counted.
struct Conv::Chunks {
  int64_t panelGroups;
  Value tilesAcross, rowChunks, count;  // `count`: chunks of pixels

  Chunks(Conv &v, const Units &u) : panelGroups(llvm::divideCeil(v.panels, u.panels)) {
    KernelCode &c = v.c;
    // Of one row: the image's only one, or where widths are unknown all of them.
    tilesAcross = c.ceilDiv(v.known() ? v.y[3] : c.mul(v.y[2], v.y[3]), u.tile.rows);
    rowChunks = v.known() ? c.ceilDiv(v.y[2], u.rows) : c.n(1);  // side by side in time: they share rows of the input
    count = u.byTiles ? c.mul(c.ceilDiv(tilesAcross, u.tiles), rowChunks) : rowChunks;
  }
};

AffineExpr Conv::unitsOfImage(const Units &u) const {
  AffineExpr across = known() ? yExprs[3] : yExprs[2] * yExprs[3], units = known() ? yExprs[2].ceilDiv(u.rows) : across * 0 + 1;
  if (u.byTiles)
    units = units * across.ceilDiv(u.tile.rows).ceilDiv(u.tiles);
  return units * (llvm::divideCeil(panels, u.panels) * groups * u.parts());
}

// Parts [low, high) of chunk and panels `rest` of those of image `n`.
void Conv::unit(const Units &u, const Chunks &chunks, Value n, Value rest, Value low, Value high) {
  if (!u.cut)
    low = c.n(0), high = c.n(u.size());
  int64_t parts = chunks.panelGroups * groups;
  Value chunk = chunksOutside() ? c.div(rest, parts) : c.rem(rest, chunks.count);
  Value part = chunksOutside() ? c.rem(rest, parts) : c.div(rest, chunks.count);
  Value group = c.div(part, chunks.panelGroups), from = c.mul(c.rem(part, chunks.panelGroups), u.panels);
  Value to = c.min(c.add(from, u.panels), c.n(panels));
  Value first = c.mul(c.rem(chunk, chunks.rowChunks), u.rows), last = c.min(c.add(first, u.byTiles ? c.n(u.rows) : high), y[2]);
  std::optional<TileRange> tiles;
  if (u.byTiles) {
    Value left = c.mul(c.div(chunk, chunks.rowChunks), u.tiles);
    tiles = TileRange{c.add(left, low), c.min(c.add(left, high), chunks.tilesAcross)};
  } else {
    first = c.add(first, low);
  }
  FrameBlocks own = blocksOf(n, group);
  c.loop(own.low, own.high, c.n(u.blocks), [&](Value low) {
    Work work{n, group, from, to, low, c.min(c.add(low, u.blocks), own.high)};
    if (!known()) {
      Value end = c.min(c.mul(tiles->end, u.tile.rows), c.mul(y[2], y[3]));
      return flat(work, u.tile, c.mul(tiles->first, u.tile.rows), end);
    }
    c.loop(first, last, c.n(1), [&](Value oh) { row(work, u.tile, oh, tiles); });
  });
}

void Conv::emitDirect() {
  Units u = directUnits();
  setExtent(c.kernel, {yExprs[0], unitsOfImage(u)}, partFlops(u));
  Chunks chunks(*this, u);
  Value each = c.mul(chunks.count, chunks.panelGroups * groups);
  auto inVectors = [&] {
    UnitLoop{c.begin, c.end, c.n(u.parts()), u.parts()}.loop(
        c, [&](Value at, Value low, Value high) { unit(u, chunks, c.div(at, each), c.rem(at, each), low, high); });
  };
  if (!canTile())
    return inVectors();
  WindowsProblem problem{w,
                         blocks,
                         panels,
                         groups,
                         x,
                         y,
                         c.mul(down, 64),
                         c.n(across * 64),
                         filters,
                         bias,
                         c.result(0),
                         panelBytes(),
                         [this](Value n, Value group) { return imageOf(n, group); },
                         [this](Value n, Value panel, Value row, Value column) { return index(n, panel, row, column); }};
  ConvTiles tiles(c, epilogue, problem);
  if (!tiles.gains())
    return inVectors();
  c.when(tiles.canRun(), [&] { tiles.emit(c.mul(y[0], c.mul(each, u.parts()))); }, inVectors);
  extendScratch(c.kernel, tiles.scratch());
}

// Whether tiles of bf16 can multiply them: whole blocks, whose taps lie in the order of FloatWindows.
bool Conv::canTile() { return !plain && !frames && !op.getShared() && (!isColumn || w.kh == 1 || w.kw == 1); }

// The units of an image are those of one phase after the other.
void Conv::emitPhases(KernelCode &c, onnx::PackedConvTransposeOp op) {
  struct Phase {
    std::unique_ptr<Conv> conv;
    Units u;
    Chunks chunks;
    Value first, end;  // units of an image
  };
  std::vector<Phase> phases;
  ArrayRef<int64_t> kernel = op.getKernelShape(), strides = op.getStrides(), crops = op.getCrops();
  int64_t filterBytes = 0;
  double flops = 0;
  Value units = c.n(0);
  AffineExpr unitsExpr = getAffineConstantExpr(0, c.b.getContext()), images;
  for (int64_t i = 0; i < strides[0]; ++i)
    for (int64_t j = 0; j < strides[1]; ++j) {
      PhaseAxis down(i, kernel[0], strides[0], crops[0]), right(j, kernel[1], strides[1], crops[1]);
      auto conv = std::make_unique<Conv>(c, op, down, right, filterBytes);
      filterBytes += conv->panels * conv->panelBytes();
      Units u = conv->directUnits();
      Chunks chunks(*conv, u);
      Value end = c.add(units, c.mul(chunks.count, chunks.panelGroups * u.parts()));
      flops = std::max(flops, conv->partFlops(u));
      images = conv->yExprs[0], unitsExpr = unitsExpr + conv->unitsOfImage(u);
      phases.push_back(Phase{std::move(conv), u, chunks, units, end});
      units = end;
    }
  setExtent(c.kernel, {images, unitsExpr}, flops);
  units = c.max(units, c.n(1));
  c.loop(c.div(c.begin, units), c.ceilDiv(c.end, units), c.n(1), [&](Value n) {
    Value before = c.mul(n, units);
    for (Phase &p : phases) {
      Value begin = c.max(c.sub(c.begin, before), p.first), end = c.min(c.sub(c.end, before), p.end);
      UnitLoop{c.sub(begin, p.first), c.sub(end, p.first), c.n(p.u.parts()), p.u.parts()}.loop(
          c, [&](Value rest, Value low, Value high) { p.conv->unit(p.u, p.chunks, n, rest, low, high); });
    }
  });
}
}  // namespace

LogicalResult emitPackedConv(KernelCode &code, Operation *op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (onnx::isWindow(next))
      return emitExpandedWindow(code, op, next);
  Conv conv(code, cast<onnx::PackedConvOp>(op));
  if (onnx::isProduct(conv.op))
    conv.emitPointwise();
  else
    conv.emitDirect();
  return success();
}

LogicalResult emitPackedTransposed(KernelCode &code, Operation *op) {
  Conv::emitPhases(code, cast<onnx::PackedConvTransposeOp>(op));
  return success();
}

}  // namespace onnxc
