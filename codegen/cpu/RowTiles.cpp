// RowTiles.cpp: products of Rows.h for many rows on processors that multiply tiles of bf16 (AMX): the library adds up products of the
// digits of floats (runtime_stub/kernels/FloatTiles.cpp), what follows a product is computed on the sums.
//
// strip  rows of one call of the library
// pair   two panels; a task's share of all groups are the pairs of some strips
#include "codegen/cpu/RowTiles.h"
#include "codegen/cpu/RowResults.h"
#include "codegen/cpu/Rows.h"
#include "runtime_stub/kernels/FloatTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kLeastUnknownRows = 64;  // of the run, that tiles gain by

// The pairs of a call, at most: their sums stay in the first-level cache, unless digits of the rows are made anew for each part of the
// depth.
static int64_t pairsOfCall(int64_t steps) { return floatIsOnePart(steps) ? 1 : 16; }

bool RowsEmitter::gainsByTiles(int64_t steps) const {
  if (!c.mayHaveTiles || s.type.element == PanelType::F64)
    return false;
  // Cycles for a row: two FMAs each; six products of digits, a cycle each at a lower frequency, as many for a tile that has fewer rows,
  // digits of the row and its share of those of panels, a trip of its sums. Measured, tiles take some 1.3 times as long as that says.
  double panels = double(s.panels.value_or(48)), depth = double(steps), rows = double(std::max<int64_t>(1, s.rows.value_or(128)));
  double whole = 16 * std::ceil(rows / 16) / rows;
  double products = whole * (isOneDigit() ? 1 : 6) * 1.2 * std::ceil(depth / 32) * 2 * std::ceil(panels / 2);
  double inVectors = depth * panels / 2, inTiles = products + depth / 2 + 10 * panels + 5 * depth * panels / rows;
  return inVectors > 1.4 * inTiles;
}

int64_t RowsEmitter::tilesScratch(int64_t steps) const {
  int64_t panels = 2 * pairsOfCall(steps);
  return floatTilesScratch(steps) + floatStrip(steps) * panels * kPanelBytes;
}

Value haveTiles(KernelCode &c, Value enough) {
  return c.choose(
      enough,
      [&] {
        Value tiles = c.callLibrary("onnxc_rt_tiles", c.load(c.ptr, c.bufs, 8), c.i32).getResult();
        return Code::Values{arith::CmpIOp::create(c.b, c.loc, arith::CmpIPredicate::ne, tiles, c.integer(0, c.i32))};
      },
      [&] { return Code::Values{c.flag(false)}; })[0];
}

Value RowsEmitter::canTile(Value rows) { return haveTiles(c, s.rows ? c.flag(true) : c.less(c.n(kLeastUnknownRows - 1), rows)); }

// Results of rows [firstRow, endRow) and panels [from, to) from `sums`, [row][panel][16].
void RowsEmitter::finishSums(const RowsProblem &p, Value sums, Value firstRow, Value endRow, Value panels, Value from, Value to) {
  Value rowBytes = c.mul(c.sub(to, from), kPanelBytes);
  auto finish = [&](Value row, Value panel) {
    Results results(c, p, Tile{c, 1, 1}, {row, panel, Value(), {}}, panels);
    Value sum =
        c.load(c.vec(c.f32, kLanes), c.at(sums, c.add(c.mul(c.sub(row, firstRow), rowBytes), c.mul(c.sub(panel, from), kPanelBytes))));
    if (p.bias)
      sum = c.addf(sum, c.load(sum.getType(), c.at(p.bias, c.mul(panel, kPanelBytes))));
    results.store(epilogue.apply(sum, results.place(c.n(0), 0), results.mask(c.n(0), 0)), c.n(0), 0);
  };
  auto rows = [&](auto body) { c.loop(firstRow, endRow, c.n(1), body); };
  auto all = [&](auto body) { c.loop(from, to, c.n(1), body); };
  if (p.blockBytes)  // panel by panel, as results lie in memory
    all([&](Value panel) { rows([&](Value row) { finish(row, panel); }); });
  else
    rows([&](Value row) { all([&](Value panel) { finish(row, panel); }); });
}

void RowsEmitter::emitTiles(llvm::function_ref<Group(Value)> groupAt, Value groups, int64_t alike, Value rows, Value panels,
                            int64_t steps) {
  static constexpr StringLiteral names[] = {"onnxc_float_tiles_F32", "onnxc_float_tiles_BF16", "onnxc_float_tiles_F16",
                                            "onnxc_float_tiles_I8"};
  Value strips = c.ceilDiv(rows, floatStrip(steps)), stripRows = c.ceilDiv(rows, strips), pairs = c.ceilDiv(panels, 2);
  Value sums = c.at(c.scratch, floatTilesScratch(steps));
  // The strips of all products one after the other; of `units` of parallel work a task has the same share as of all pairs of these.
  Value all = c.mul(c.mul(c.div(groups, alike), strips), pairs), units = c.max(c.mul(s.tiles(c, rows), groups), c.n(1));
  Value first = c.ceilDiv(c.mul(c.begin, all), units), end = c.ceilDiv(c.mul(c.end, all), units);
  c.loop(c.div(first, pairs), c.ceilDiv(end, pairs), c.n(1), [&](Value strip) {
    Value before = c.mul(strip, pairs), low = c.max(c.sub(first, before), c.n(0)), high = c.min(c.sub(end, before), pairs);
    RowsProblem p = groupAt(c.mul(c.div(strip, strips), alike)).p;
    Value row = c.mul(c.rem(strip, strips), stripRows), endRow = c.min(c.add(row, stripRows), rows);
    Value most = c.min(c.mul(high, 2), panels);
    c.loop(low, high, c.n(pairsOfCall(steps)), [&](Value pair) {
      Value from = c.mul(pair, 2), to = c.min(c.add(from, 2 * pairsOfCall(steps)), most);
      Value again = floatIsOnePart(steps) ? c.less(low, pair) : c.flag(false), behind = floatIsOnePart(steps) ? c.sub(most, to) : c.n(0);
      Value blockBytes = p.blockBytes ? p.blockBytes : c.n(kPanelBytes), depth = p.blockBytes ? c.mul(p.depth, kLanes) : p.depth;
      assert(!p.distances && size_t(s.type.element) < std::size(names) && "no kernel of tiles");
      c.callLibrary(isOneDigit() ? StringRef("onnxc_float_tiles_rounded_BF16") : StringRef(names[s.type.element]),
                    {c.at(p.a, c.mul(row, p.rowBytes)), p.rowBytes, blockBytes, c.sub(endRow, row), depth,
                     c.at(p.b, c.mul(from, p.panelBytes)), p.panelBytes, c.sub(to, from), behind,
                     arith::ExtUIOp::create(c.b, c.loc, c.i64, again), c.scratch, sums,
                     c.at(p.out, c.add(c.mul(row, p.outRowBytes), c.mul(from, p.outPanelBytes))), p.outRowBytes, p.outPanelBytes},
                    LLVM::LLVMVoidType::get(c.b.getContext()));
      finishSums(p, sums, row, endRow, panels, from, to);
    });
  });
}

}  // namespace onnxc
