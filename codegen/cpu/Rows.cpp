// Rows.cpp: loops of Rows.h: depth blocks, row tiles, panel tiles, steps.
#include "codegen/cpu/Rows.h"
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/RowResults.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
namespace onnxc {

// Bytes of rows that a second-level cache holds beside panels, and the rows from which on they are cut into such strips: panels are read
// again for each strip, and those of fewer rows mostly come from memory (docs/Performance.md).
static constexpr int64_t kNearBytes = 1 << 19, kLeastRows = 512;
// A block of B's panels stays in the first-level cache while rows pass by, at least one tile's. Few panels at a time also write the results
// of blocked layouts as long runs, which the prefetchers follow.
static constexpr int64_t kDepthMost = 640, kGroupBytes = 32 << 10, kChunkRows = 112;
static constexpr int64_t kHidingSums = 8, kSmallRows = 4;  // sums that just hide the latency of an FMA; rows of a tile of two panels

int64_t lastBlockSteps(int64_t channels) { return llvm::alignTo((channels - 1) % kLanes + 1, 4); }

RowsSchedule::RowsSchedule(KernelCode &code, std::optional<int64_t> rows, std::optional<int64_t> panels, std::optional<int64_t> depth,
                           int64_t depthStep, PanelType type, int64_t most)
    : rows(rows), panels(panels), type(type) {
  tile = scheduledTile(code.kernel, chooseTile(rows, panels.value_or(4), code, 0, most, type), rows, panels.value_or(8));
  chunkTiles = std::max<int64_t>(1, kChunkRows / tile.rows);
  int64_t steps = depth.value_or(kDepthMost / depthStep), mostSteps = kDepthMost / depthStep;
  int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(steps, mostSteps));
  bool fewRows = rows && *rows <= tile.rows;  // nothing to reuse: one pass over B
  depthBlock = blocks == 1 || fewRows || !depth ? 0 : llvm::divideCeil(steps, blocks);
  int64_t bytes = (depthBlock ? depthBlock : std::min(steps, mostSteps)) * depthStep * type.resultBytes();
  groupPanels = std::max<int64_t>(1, std::min<int64_t>(16, kGroupBytes / std::max<int64_t>(bytes, 1)) / tile.panels) * tile.panels;
  if (panels)
    groupPanels = std::min(groupPanels, *panels);
}

void RowsSchedule::scheduleDepth(kernel::FuncOp kernel, int64_t steps) {
  int64_t block = scheduled(kernel, "depth", depthBlock ? depthBlock : steps, steps);
  depthBlock = block < steps ? block : 0;
}

void RowsSchedule::scheduleGroup(kernel::FuncOp kernel) {
  constexpr int64_t mostGroup = 64;  // a group of run-time operands is packed into scratch
  groupPanels = llvm::divideCeil(scheduled(kernel, "group", groupPanels, mostGroup), tile.panels) * tile.panels;
  if (panels)
    groupPanels = std::min(groupPanels, *panels);
}

int64_t RowsSchedule::tiles() const { return llvm::divideCeil(*rows, tile.rows); }
int64_t RowsSchedule::fullTiles() const { return *rows - tiles() * (tile.rows - 1); }
Value RowsSchedule::tileOf(Code &c, Value row) const {
  int64_t h = tile.rows, full = fullTiles();
  Value behind = h > 1 ? c.add(c.div(c.sub(row, full * h), h - 1), full) : row;
  return c.select(c.less(row, c.n(full * h)), c.div(row, h), behind);
}
AffineExpr RowsSchedule::tiles(AffineExpr all) const { return all.ceilDiv(tile.rows); }
Value RowsSchedule::tiles(Code &c, Value all) const { return c.ceilDiv(all, tile.rows); }

void RowsEmitter::rowTiles(Value rows, Tiles tiles, RowsBody body) {
  int64_t h = s.tile.rows;
  if (s.rows) {
    int64_t full = s.fullTiles();
    c.loop(c.min(tiles.first, c.n(full)), c.min(tiles.end, c.n(full)), c.n(1), [&](Value t) { body(c.mul(t, h), h, {}); });
    if (full < s.tiles())
      c.loop(c.max(tiles.first, c.n(full)), tiles.end, c.n(1),
             [&](Value t) { body(c.add(c.mul(c.sub(t, full), h - 1), full * h), h - 1, {}); });
    return;
  }
  Value begin = c.mul(tiles.first, h), end = c.min(c.mul(tiles.end, h), rows);
  Value whole = c.add(begin, c.mul(c.div(c.sub(end, begin), h), h));
  c.loop(begin, whole, c.n(h), [&](Value row) { body(row, h, {}); });
  if (h > 1 && !s.wholeTiles)
    restTiles(whole, end, body);
}

// Rows [from, to), fewer than a tile has: a last tile ends at `to` and begins among rows that are done already. Small tiles take up to
// eight rows as fast as a large one would.
void RowsEmitter::restTiles(Value from, Value to, RowsBody body) {
  int64_t h = s.tile.rows, low = std::min(h, kSmallRows);
  if (hasFew())
    return restOfMany(from, to, body);
  auto small = [&] {
    auto overlapping = [&] { c.loop(from, to, c.n(low), [&](Value row) { body(c.min(row, c.sub(to, low)), low, {row}); }); };
    auto single = [&] { c.loop(from, to, c.n(1), [&](Value row) { body(row, 1, {}); }); };
    c.when(c.less(to, c.n(low)), single, overlapping);
  };
  if (h == low)
    return small();
  Value many = c.less(c.n(h > 2 * low ? 2 * low : low), c.sub(to, from)), fits = c.less(c.n(h - 1), to);
  c.when(arith::AndIOp::create(c.b, c.loc, many, fits), [&] { body(c.sub(to, h), h, {from}); }, small);
}

// The same where there may be no other rows, but four: tiles of four, of eight or of the whole height, the lowest that take few of them.
// One that is higher than all rows begins at the first, and ends behind the last.
void RowsEmitter::restOfMany(Value from, Value to, RowsBody body) {
  int64_t h = s.tile.rows, low = kSmallRows, middle = std::min(h, 2 * low);
  auto tiles = [&](int64_t height) {
    c.loop(from, to, c.n(height), [&](Value row) {
      Value first = c.min(row, c.sub(to, height));
      height > low ? body(c.max(first, c.n(0)), height, {row, to}) : body(first, height, {row});
    });
  };
  Value rest = c.sub(to, from);
  auto upToMiddle = [&] { c.when(c.less(c.n(low), rest), [&] { tiles(middle); }, [&] { tiles(low); }); };
  if (h == low)
    tiles(low);
  else if (h == middle)
    upToMiddle();
  else
    c.when(c.less(c.n((h - 1) / middle * middle), rest), [&] { tiles(h); }, upToMiddle);
}

void RowsEmitter::panelTiles(Value panels, Value from, Value to, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t w = s.tile.panels;
  Value whole = c.add(from, c.mul(c.div(c.sub(to, from), w), w));
  c.loop(from, whole, c.n(w), [&](Value panel) { body(panel, w); });
  if (w == 1 || (s.panels && *s.panels % w == 0))
    return;
  if (s.panels)  // only the last group has a rest, of one known width
    c.when(c.less(whole, to), [&] { body(whole, *s.panels % w); });
  else
    c.loop(whole, to, c.n(1), [&](Value panel) { body(panel, 1); });
}

Tile::Values RowsEmitter::steps(const RowsProblem &p, const Tile &t, ValueRange start, Place at, Value from, Value to) {
  Value a = c.at(p.a, c.mul(at.row, p.rowBytes)), b = c.at(p.b, c.mul(at.panel, p.panelBytes));
  auto below = [&](int64_t r) { return at.rows.end ? c.sub(at.rows.existing(c, c.add(at.row, r)), at.row) : c.n(r); };
  auto rows = [&](Value base) { return [&, base](int64_t r) { return c.at(base, c.mul(below(r), p.rowBytes)); }; };
  auto panels = [&](Value base) { return [&, base](int64_t i) { return c.at(base, c.mul(c.n(i), p.panelBytes)); }; };
  auto inner = [&](Value aBase, Value bBase, Value ahead, Value lo, Value hi, ValueRange acc, Value nextRows = nullptr) {
    auto run = [&](Value begin, Value end, int64_t unroll, ValueRange values) {
      return c.loop(begin, end, c.n(unroll), values, [&](Value k, ValueRange v) {
        Value aAt = c.at(aBase, c.mul(k, t.b.numberBytes())), bAt = t.stepsBehind(bBase, k);
        if (nextRows && unroll == 4) {
          int64_t lines = llvm::divideCeil(t.rows, 4);  // of the 16 steps of a block, four at a time
          for (int64_t i = 0; i < lines; ++i)
            c.prefetch(c.at(nextRows, c.add(c.mul(k, lines * kLanes), c.n(i * 64))));
        }
        return t.products(v, rows(aAt), panels(bAt), unroll, t.b.numberBytes(), ahead ? c.at(ahead, c.mul(k, t.ahead.bytes())) : Value());
      });
    };
    auto l = Code::constant(lo), h = Code::constant(hi);
    bool even = l && h && (*h - *l) % 4 == 0;
    // Of rows an unknown distance apart LLVM would load the scalars of all steps at once, and spill them.
    if (!Code::constant(p.rowBytes) && t.rows > 1)
      return run(lo, hi, 1, acc);
    Value middle = c.add(lo, c.mul(c.div(c.sub(hi, lo), 4), 4));
    Tile::Values result = run(lo, middle, 4, acc);
    return even ? result : run(middle, hi, 1, result);
  };
  if (!p.blockBytes)
    return inner(a, b, at.ahead ? c.at(at.ahead, c.sub(c.n(0), c.mul(from, t.ahead.bytes()))) : Value(), from, to, start);
  auto blockSteps = [&](Value block, int64_t count, ValueRange v) {
    Value ahead = at.ahead ? c.at(at.ahead, c.mul(c.sub(block, from), kLanes * t.ahead.bytes())) : Value();
    Value rowsAt = c.at(a, c.mul(block, p.blockBytes));
    return inner(rowsAt, c.at(b, c.mul(block, kLanes * t.b.bytes())), ahead, c.n(0), c.n(count), v,
                 t.rows >= 4 ? c.at(rowsAt, p.blockBytes) : Value());
  };
  auto blocks = [&](Value end) {
    return c.loop(from, end, c.n(1), start, [&](Value block, ValueRange v) { return blockSteps(block, kLanes, v); });
  };
  if (p.lastSteps == kLanes)
    return blocks(to);
  Value last = c.sub(p.depth, 1);
  Tile::Values acc = blocks(c.min(to, last));
  return c.choose(c.less(last, to), [&] { return blockSteps(last, p.lastSteps, acc); }, [&] { return acc; });
}

// Steps [from, to) of one tile: starts from the bias or goes on from the result, and ends with the epilogue at the last step.
void RowsEmitter::tile(const RowsProblem &p, const Tile &t, Place at, Value panels, Value from, Value to) {
  Value first = c.equal(from, c.n(0)), last = c.equal(to, p.depth);
  Results results(c, p, t, at, panels);
  Value zero = c.real(0, t.type());
  SmallVector<Value> starts;
  for (int64_t i = 0; i < t.panels; ++i)
    starts.push_back(p.bias ? c.load(t.type(), c.at(p.bias, c.mul(c.add(at.panel, i), t.b.resultBytes()))) : zero);
  Tile::Values acc = c.choose(
      first, [&] { return t.fill([&](int64_t, int64_t i) { return starts[i]; }); },
      [&] { return t.fill([&](int64_t r, int64_t i) { return results.load(c.n(r), i); }); });
  for (int64_t r = 0; r < t.rows; ++r)
    for (int64_t i = 0; i < t.panels; ++i)
      epilogue.prefetch(results.place(c.n(r), i));
  Tile readable = t;
  if (p.stepBytes)
    readable.lanes = results.lanes.back();
  acc = steps(p, readable, acc, at, from, to);
  auto finished = [&](Value v, Value r, int64_t i) { return epilogue.apply(v, results.place(r, i), results.mask(r, i)); };
  auto store = [&](bool finish) {
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t i = 0; i < t.panels; ++i) {
        Value v = acc[r * t.panels + i];
        results.store(finish ? finished(v, c.n(r), i) : v, c.n(r), i);
      }
  };
  auto storeLater = [&] {
    auto sum = [&](Value r, int64_t i) { return c.at(c.at(sums, c.mul(r, t.panels * t.b.resultBytes())), i * t.b.resultBytes()); };
    for (int64_t r = 0; r < t.rows; ++r)
      for (int64_t i = 0; i < t.panels; ++i)
        c.store(acc[r * t.panels + i], sum(c.n(r), i));
    c.loop(c.n(0), c.n(t.rows), c.n(1), [&](Value r) {
      for (int64_t i = 0; i < t.panels; ++i)
        results.store(finished(c.load(t.type(), sum(r, i)), r, i), r, i);
    });
  };
  bool isLong = epilogue.isLong();
  if (isLong && !sums)
    sums = c.local(std::max(s.tile.rows * s.tile.panels, 2 * kHidingSums) * t.b.resultBytes());
  c.when(last, [&] { isLong ? storeLater() : store(true); }, [&] { store(false); });
}

// Steps from `from` on of the panels from `group` on.
RowsEmitter::Pass RowsEmitter::passOf(const RowsProblem &p, Value from, Value group) {
  const RowsProblem &read = p.inMemory();
  int64_t stepBytes = (p.blockBytes ? kLanes : 1) * s.type.bytes();
  Value own = c.at(read.b, c.mul(group, read.panelBytes)), next = p.nextB ? p.nextB : c.at(own, c.mul(c.n(s.groupPanels), read.panelBytes));
  Value end = p.endStep ? p.endStep : p.depth;
  Pass pass{s.depthBlock ? c.min(c.add(from, s.depthBlock), end) : end, c.at(own, c.mul(from, stepBytes)), next};
  if (s.depthBlock)
    pass.next = c.select(c.less(pass.to, end), c.at(own, c.mul(pass.to, stepBytes)), next);
  return pass;
}

// Tile `tile` of a pass asks for one panel of the next pass: what memory gives then takes the time of several tiles, not of one. Tiles
// past the last panel ask for lines that are near. Null where it does not pay: narrow vectors take longer for a tile than memory does.
Value RowsEmitter::linesAhead(const RowsProblem &p, const Pass &pass, Value tile) const {
  if (!s.asksAhead(c) || p.stepBytes)
    return Value();
  Value apart = p.nextPanelBytes ? p.nextPanelBytes : p.inMemory().panelBytes;
  return c.select(c.less(tile, c.n(s.groupPanels)), c.at(pass.next, c.mul(tile, apart)), pass.here);
}

void RowsEmitter::emit(const RowsProblem &p, Value rows, Tiles tiles, Value panels, Value from, Value to) {
  assert(!s.depthBlock || !(p.firstStep || p.nextPanelBytes));
  int64_t across = llvm::divideCeil(s.groupPanels, s.tile.panels);
  Value first = c.mul(tiles.first, s.tile.rows);
  auto passes = [&](Value k) {
    Pass pass = passOf(p, k, from);
    RowsProblem read = p.stored ? widen(p, from, to, k, pass.to) : p;
    rowTiles(rows, tiles, [&](Value row, int64_t height, Own own) {
      panelTiles(panels, from, to, [&](Value panel, int64_t width) {
        Value down = c.div(c.sub(row, first), s.tile.rows), along = c.div(c.sub(panel, from), s.tile.panels);
        Value ahead = height < s.tile.rows - 1 ? Value() : linesAhead(p, pass, c.add(c.mul(down, across), along));
        tile(read, Tile{c, height, width, typeOf(p), s.type, p.stepBytes, {}, p.distances}, {row, panel, ahead, own}, panels, k, pass.to);
      });
    });
  };
  if (s.depthBlock)
    c.loop(c.n(0), c.max(p.depth, c.n(1)), c.n(s.depthBlock), passes);  // of no steps: zeros, the epilogue
  else
    passes(p.firstStep ? p.firstStep : c.n(0));
}

bool RowsEmitter::hasFew() const { return s.oneProblem && !s.rows && s.tile.rows >= kSmallRows; }

// The panels of some groups by fewer than kSmallRows rows, which all their rows read once: as many at a time as have the sums that hide
// the latency of an FMA, then half of them, as long as some may be left.
void RowsEmitter::emitFew(const Group &g, Value rows, Value panels) {
  int64_t registers = std::max<int64_t>(1, s.type.resultBytes() * 8 / c.vectorBits),
          least = s.panels ? std::gcd(s.groupPanels, *s.panels) : 1;
  for (int64_t height = 1; height < kSmallRows; ++height)
    c.when(c.equal(rows, c.n(height)), [&] {
      int64_t each = height * registers, many = c.vectorRegisters == 32 ? llvm::PowerOf2Ceil(llvm::divideCeil(kHidingSums, each))
                                                                        : llvm::bit_floor<uint64_t>(kHidingSums / each);
      int64_t width = std::clamp<int64_t>(many, 1, llvm::bit_floor<uint64_t>(std::max<int64_t>(s.panels.value_or(many), 1)));
      Value from = g.from;
      for (;; width /= 2) {
        Value whole = c.add(from, c.mul(c.div(c.sub(g.to, from), width), width));
        c.loop(from, whole, c.n(width), [&](Value panel) {
          tile(g.p, Tile{c, height, width, s.type, s.type, g.p.stepBytes, {}, g.p.distances}, {c.n(0), panel, Value(), {}}, panels, c.n(0),
               g.p.depth);
        });
        from = whole;
        if (least % width == 0)
          break;
      }
    });
}

// The product over f32 copies of its panels, those of one pass at a time, which begin with the panels from `group` on.
RowsProblem RowsEmitter::widened(const RowsProblem &p, Value group) const {
  RowsProblem wide = p;
  wide.stored = &p;
  wide.panelBytes = c.mul(s.depthBlock ? c.n(s.depthBlock) : p.depth, (p.blockBytes ? kLanes : 1) * kPanelBytes);
  wide.b = c.at(c.scratch, c.sub(c.n(0), c.mul(group, wide.panelBytes)));
  return wide;
}

// `wide` with steps [begin, end) of the panels [from, to) copied, as if they lay where those of the whole depth would.
RowsProblem RowsEmitter::widen(const RowsProblem &wide, Value from, Value to, Value begin, Value end) {
  const RowsProblem &p = *wide.stored;
  int64_t unit = p.blockBytes ? kLanes : 1;
  RowsProblem read = wide;
  read.b = c.at(wide.b, c.mul(begin, -unit * kPanelBytes));
  c.loop(from, to, c.n(1), [&](Value panel) {
    Value source = c.at(p.b, c.mul(panel, p.panelBytes)), sink = c.at(read.b, c.mul(panel, wide.panelBytes));
    c.loop(c.mul(begin, unit), c.mul(end, unit), c.n(1),
           [&](Value k) { c.store(s.type.load(c, c.at(source, c.mul(k, s.type.bytes()))), c.at(sink, c.mul(k, kPanelBytes))); });
  });
  return read;
}

UnitLoop RowsSchedule::units(KernelCode &c, Value all, int64_t alike, int64_t steps) const {
  UnitLoop units{c.begin, c.end, tiles(c, all), chunkTiles};
  int64_t chunk = chunkTiles * tile.rows * std::max<int64_t>(steps, 1) * type.numberBytes(),
          least = llvm::divideCeil(kLeastRows, tile.rows);
  if (alike > 1 && !(rows && tiles() < least))
    units.alike = alike, units.near = std::max<int64_t>(1, kNearBytes / chunk), units.least = least;
  return units;
}

void RowsEmitter::emitGroups(llvm::function_ref<Group(Value)> groupAt, Value groups, int64_t alike, Value rows, Value panels,
                             int64_t steps) {
  auto eachPiece = [&](int64_t together, bool widens) {
    s.units(c, rows, together, steps).loop(c, [&](Value group, Value first, Value end) {
      Group g = groupAt(group);
      emit(widens ? widened(g.p, g.from) : g.p, rows, {first, end}, panels, g.from, g.to);
    });
  };
  auto direct = [&] { eachPiece(s.type.isNarrow() ? 1 : alike, /*widens=*/false); };  // of few rows where panels are narrow
  int64_t scratch = 0;
  auto inVectors = [&] {
    if (!s.type.isNarrow() || (s.rows && *s.rows < s.widenRows()))
      return direct();
    scratch = s.groupPanels * steps * kPanelBytes;  // at most
    c.when(s.rows ? c.flag(false) : c.less(rows, c.n(s.widenRows())), direct, [&] { eachPiece(alike, /*widens=*/true); });
  };
  auto many = [&] {
    if (!gainsByTiles(steps))
      return inVectors();
    c.when(canTile(rows), [&] { emitTiles(groupAt, groups, alike, rows, panels, steps); }, inVectors);
    scratch = std::max(scratch, tilesScratch(steps));
  };
  auto few = [&] {  // each unit is a group
    c.when(c.less(c.begin, c.end), [&] {
      Group g = groupAt(c.begin);
      g.to = groupAt(c.sub(c.end, 1)).to;
      emitFew(g, rows, panels);
    });
  };
  if (hasFew())
    c.when(c.less(rows, c.n(kSmallRows)), few, many);
  else
    many();
  if (scratch)
    setScratch(c.kernel, getAffineConstantExpr(scratch, c.b.getContext()));
}

Value firstBlock(KernelCode &c, onnx::PackedConvOp op, Value group, Value all) {
  if (!op)
    return c.n(0);
  int64_t blocks = cast<RankedTensorType>(op.getW().getType()).getDimSize(1);
  if (!op.getShared())
    return c.mul(group, blocks);
  ArrayRef<int64_t> shared = *op.getShared();
  Value channel = c.mul(c.div(c.mul(group, kLanes), shared[0]), shared[1]);
  return c.min(c.div(channel, kLanes), c.sub(all, blocks));
}

RowsProblem pointwiseRows(KernelCode &c, onnx::PackedConvOp op, Value n, Value group) {
  Code::Values x = c.sizes(cast<RankedTensorType>(op.getX().getType())), y = c.sizes(cast<RankedTensorType>(op.getY().getType()));
  ArrayRef<int64_t> w = cast<RankedTensorType>(op.getW().getType()).getShape();
  int64_t panels = w[0] / op.getGroup(), blocks = w[1];
  Value firstPanel = c.mul(group, panels), planeBytes = c.mul(c.mul(y[2], y[3]), 64);
  RowsProblem p;
  p.panelBytes = c.n(blocks * kLanes * PanelType::of(onnx::elementType(op.getW())).bytes());
  p.a = c.at(c.address(op.getX()), c.mul(c.add(c.mul(n, x[1]), firstBlock(c, op, group, x[1])), planeBytes));
  p.b = c.at(c.address(op.getW()), c.mul(firstPanel, p.panelBytes));
  p.outOffset = c.mul(c.add(c.mul(n, y[1]), firstPanel), planeBytes);
  p.bias = op.getBias() ? c.at(c.address(op.getBias()), c.mul(firstPanel, kPanelBytes)) : Value();
  p.rowBytes = c.n(64), p.blockBytes = planeBytes, p.depth = c.n(blocks), p.lastSteps = lastBlockSteps(op.getChannels());
  p.outRowBytes = c.n(64), p.outPanelBytes = planeBytes;
  p.index = [=, &c](Value row, Value panel) -> Code::Values {
    return {n, c.add(firstPanel, panel), c.div(row, y[3]), c.rem(row, y[3]), c.n(0)};
  };
  return p;
}

}  // namespace onnxc
