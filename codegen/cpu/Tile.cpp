// Tile.cpp: the choice of a tile and its multiply-adds.
#include "codegen/cpu/Tile.h"
#include "codegen/cpu/Halves.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

// How far before its use a line of a panel is asked for: about the latency of memory in steps of a tile, and past the end of a page, where
// the hardware's own prefetch stops. A few rows read their panels as fast as memory gives them: nothing to hide.
static constexpr int64_t kPrefetchBytes = 3072, kPrefetchRows = 4, kLineBytes = 64;
static constexpr int64_t kScalars = 4;  // of a row in one register

// Cycles of one step of a rows x panels tile on a core with two FMA and two load ports and an FMA latency of four, which eight accumulators
// would only just hide.
static double stepCycles(int64_t rows, int64_t panels, int64_t registersPerPanel) {
  double products = double(rows * panels * registersPerPanel), loads = double(rows + panels * registersPerPanel);
  return std::max({products / 2, loads / 2, 5.0});
}

TileShape chooseTile(std::optional<int64_t> rows, int64_t panels, const Code &c, int64_t near, int64_t mostRows, PanelType type) {
  int64_t registers = c.vectorRegisters, per = std::max<int64_t>(1, type.resultBytes() * 8 / c.vectorBits);
  // LLVM's scheduler loads the next step's panels early where it has 32 registers, and spills accumulators if they leave no room for that.
  int64_t ahead = registers == 32 ? 2 : 1;
  TileShape best{1, 1};
  double bestCost = INFINITY;
  for (int64_t p = 1; p <= std::min<int64_t>(panels, 8); ++p) {
    int64_t most = (registers - 1 - ahead * p * per) / (p * per);
    if (int64_t pairs = (registers - 2) / (p * per + 1); registers == 16 && p <= near && pairs > 1)  // one register stays free
      most = std::max(most, pairs);
    if (most < 1)
      break;
    bool isLimited = most >= mostRows;
    most = std::min(most, mostRows);
    int64_t count = rows ? llvm::divideCeil(std::max<int64_t>(*rows, 1), most) : 1, height = rows ? llvm::divideCeil(*rows, count) : most;
    auto allPanels = [&](int64_t h) {
      return double(panels / p) * stepCycles(h, p, per) + (panels % p ? stepCycles(h, panels % p, per) : 0);
    };
    int64_t whole = rows ? *rows - count * (height - 1) : 0;  // the others have one row less
    double cost =
        rows ? double(whole) * allPanels(height) + double(count - whole) * allPanels(height - 1) : allPanels(height) / double(height);
    if (cost < bestCost * (isLimited ? 1.02 : 0.999))  // of the tiles with so few rows, the one that reads them least often
      bestCost = std::min(bestCost, cost), best = {std::max<int64_t>(height, 1), p};
  }
  return best;
}

Value PanelType::load(Code &c, Value address) const {
  if (!isNarrow())
    return c.load(c.vec(number(c), kLanes), address);
  if (element == I8) {
    Value whole = arith::ExtSIOp::create(c.b, c.loc, c.vec(c.i32, kLanes), c.load(c.vec(c.b.getI8Type(), kLanes), address));
    return arith::SIToFPOp::create(c.b, c.loc, c.vec(c.f32, kLanes), whole);
  }
  return halfToFloat(c, c.load(c.vec(c.b.getI16Type(), kLanes), address), element == BF16);
}

Tile::Values Tile::fill(llvm::function_ref<Value(int64_t, int64_t)> start) const {
  Values acc;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t p = 0; p < panels; ++p)
      acc.push_back(start(r, p));
  return acc;
}

// `to` and what a step adds to it.
Value Tile::added(Value scalar, Value column, Value to) const {
  if (!distances)
    return c.fma(scalar, column, to);
  Value difference = c.subf(scalar, column);
  return c.fma(difference, difference, to);
}

// Step `i` of panel `panel`.
Value Tile::column(ArrayRef<Value> bases, int64_t panel, int64_t i) const {
  Value address = stepsBehind(bases[panel], c.n(i));
  return lanes && panel + 1 == panels ? c.loadMasked(type(), address, lanes) : b.load(c, address);
}

// Step `i` of more panels than rows: the panels pass by one by one.
void Tile::broadcastFirst(Values &acc, ArrayRef<Value> scalars, ArrayRef<Value> panel, int64_t i) const {
  for (int64_t p = 0; p < panels; ++p) {
    Value lanes = column(panel, p, i);
    for (int64_t r = 0; r < rows; ++r)
      if (scalars[r])
        acc[r * panels + p] = added(scalars[r], lanes, acc[r * panels + p]);
  }
}

// Scalars of a row, as splats, for steps [i, i + 1) of `count`. Where an FMA takes a lane, four neighbouring steps are one load.
Value Tile::scalar(Value row, int64_t i, int64_t count, int64_t rowStep, Value &four) const {
  int64_t group = i / kScalars * kScalars;
  if (!c.multipliesByLane || rowStep != b.numberBytes() || group + kScalars > count)
    return c.splat(c.load(b.number(c), c.at(row, i * rowStep)), kLanes);
  if (i == group)
    four = c.load(c.vec(b.number(c), kScalars), c.at(row, i * rowStep));
  SmallVector<int32_t> lane(kLanes, int32_t(i - group));
  return LLVM::ShuffleVectorOp::create(c.b, c.loc, four, four, lane);
}

Tile::Values Tile::products(ValueRange start, llvm::function_ref<Value(int64_t)> row, llvm::function_ref<Value(int64_t)> panel,
                            int64_t count, int64_t rowStep, Value next) const {
  Values acc(start), a, bases, fours(rows);
  for (int64_t r = 0; r < rows; ++r)
    a.push_back(row(r));
  for (int64_t p = 0; p < panels; ++p)
    bases.push_back(panel(p));
  for (int64_t i = 0; i < count; ++i) {
    auto scalarOf = [&](int64_t r) { return scalar(a[r], i, count, rowStep, fours[r]); };
    if (rows < panels && rows > 1) {
      Values scalars(rows);
      for (int64_t r = 0; r < rows; ++r)
        if (a[r])
          scalars[r] = scalarOf(r);
      broadcastFirst(acc, scalars, bases, i);
      continue;
    }
    Values columns;
    for (int64_t p = 0; p < panels; ++p)
      columns.push_back(column(bases, p, i));
    if (next && i * ahead.bytes() % kLineBytes == 0)
      c.prefetch(c.at(next, i * ahead.bytes()), 2);
    if (rows >= kPrefetchRows && !stepBytes && i * b.bytes() % kLineBytes == 0)
      for (Value base : bases)
        c.prefetch(c.at(base, i * b.bytes() + kPrefetchBytes));
    for (int64_t r = 0; r < rows; ++r) {
      if (!a[r])
        continue;
      Value s = scalarOf(r);
      for (int64_t p = 0; p < panels; ++p)
        acc[r * panels + p] = added(s, columns[p], acc[r * panels + p]);
    }
  }
  return acc;
}

}  // namespace onnxc
