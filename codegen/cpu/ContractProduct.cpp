// ContractProduct.cpp: batched products of two run-time operands. A task packs a group of B's panels into its scratch memory, then runs its
// rows of A over them (Rows.h). Few rows read B where it lies.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Rows.h"
#include "dialects/onnx/Packed.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {
namespace {

// An operand under its permutation.
struct Strided {
  Value base;
  SmallVector<AffineExpr> dims;
  Code::Values sizes, strides;  // elements
};

Strided strided(KernelCode &c, Value v, ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(v.getType());
  SmallVector<AffineExpr> dims = sizeExprs(type);
  Code::Values sizes = c.sizes(type), strides(sizes.size());
  Value step = c.n(1);
  for (size_t i = sizes.size(); i-- > 0;)
    strides[i] = step, step = c.mul(step, sizes[i]);
  Strided s{c.address(v), {}, {}, {}};
  for (int64_t axis : perm)
    s.dims.push_back(dims[axis]), s.sizes.push_back(sizes[axis]), s.strides.push_back(strides[axis]);
  return s;
}

// Rows that read B in place, the columns that a unit then reads side by side, and the rows of B that it reads before it goes on to the next
// columns: as many streams as the prefetchers follow. A single row has half as many, and reads all columns of a task side by side.
constexpr int64_t kRowsInPlace = 24, kPanelsInPlace = 128, kStepsInPlace = 16;
constexpr int64_t kPanelsOfRow = 64, kStepsOfRow = 8;
// What tasks share: columns where B is read in place, else rows, enough of them that packing B again for each task takes little.
constexpr int64_t kUnitPanels = 8, kUnitRows = 64, kAllUnits = int64_t(1) << 40;

struct Product {
  KernelCode &c;
  onnx::PackedProductOp op;
  Epilogue epilogue;
  PanelType type;
  Strided a, b;
  SmallVector<AffineExpr> y;
  Code::Values ySizes;
  size_t batch;                        // leading axes of the result
  std::optional<int64_t> knownPanels;  // of B's columns
  std::optional<RowsSchedule> schedule;
  bool inPlace = false;  // B is read where it lies: so few times that packing takes longer
  Value panels, mask;    // mask: the lanes of the last panel that are columns, null where all are

  Product(KernelCode &code, onnx::PackedProductOp op)
      : c(code), op(op), epilogue(code, op), type(PanelType::of(onnx::elementType(op.getY()))), a(strided(code, op.getA(), op.getPermA())),
        b(strided(code, op.getB(), op.getPermB())), y(sizeExprs(cast<RankedTensorType>(op.getY().getType()))),
        ySizes(code.sizes(cast<RankedTensorType>(op.getY().getType()))), batch(y.size() - 2) {}

  // The operand's matrix of one batch; axes of size 1 are broadcast.
  Value matrix(const Strided &s, ValueRange index) {
    Value offset = c.n(0);
    size_t own = s.dims.size() - 2, skip = batch - own;
    for (size_t i = 0; i < own; ++i) {
      if (constantOf(s.dims[i]) == 1)
        continue;
      bool same = s.dims[i] == y[skip + i];
      Value stride = same ? s.strides[i] : c.select(c.equal(s.sizes[i], c.n(1)), c.n(0), s.strides[i]);
      offset = c.add(offset, c.mul(index[skip + i], stride));
    }
    return c.at(s.base, c.mul(offset, type.numberBytes()));
  }
  void packGroup(RowsProblem &p, Value from, Value to);
  void pack(Value to, Value from, Value firstPanel, Value lastPanel);
  void packSquares(Value to, Value from, Value panel);
  void chooseSchedule();
  void multiply(Value problem, RowsEmitter::Tiles tiles, Value from, Value to);
  void emitInPlace();
  void emitPacked();
  void emit();
};

// Rows of 16 x 16 become columns: four rounds of interleaving halves.
SmallVector<Value> transposed(Code &c, SmallVector<Value> rows) {
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < 8; ++i)
    low.append({i, i + 16}), high.append({i + 8, i + 24});
  for (int round = 0; round < 4; ++round) {
    SmallVector<Value> next(16);
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = vector::ShuffleOp::create(c.b, c.loc, rows[i], rows[i + 8], low);
      next[2 * i + 1] = vector::ShuffleOp::create(c.b, c.loc, rows[i], rows[i + 8], high);
    }
    rows = next;
  }
  return rows;
}

// A panel whose k lie side by side in B. Lanes past the last column repeat it.
void Product::packSquares(Value to, Value from, Value panel) {
  Value depth = b.sizes[b.sizes.size() - 2], columns = b.sizes.back(), stride = c.mul(b.strides.back(), type.numberBytes());
  auto column = [&](Value lane) { return c.at(from, c.mul(c.min(c.add(c.mul(panel, kLanes), lane), c.sub(columns, 1)), stride)); };
  Value whole = c.mul(c.div(depth, kLanes), kLanes);
  c.loop(c.n(0), whole, c.n(kLanes), [&](Value k) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < kLanes; ++i)
      rows.push_back(c.load(c.vec(type.number(c), kLanes), c.at(column(c.n(i)), c.mul(k, type.numberBytes()))));
    for (auto [i, row] : llvm::enumerate(transposed(c, rows)))
      c.store(row, c.at(to, c.mul(c.add(k, int64_t(i)), type.resultBytes())));
  });
  c.loop(whole, depth, c.n(1), [&](Value k) {
    c.loop(c.n(0), c.n(kLanes), c.n(1), [&](Value lane) {
      Value at = c.at(to, c.add(c.mul(k, type.resultBytes()), c.mul(lane, type.numberBytes())));
      c.store(c.load(type.number(c), c.at(column(lane), c.mul(k, type.numberBytes()))), at);
    });
  });
}

// B's panels [firstPanel, lastPanel) of the matrix at `from`, one behind the other at `to`.
void Product::pack(Value to, Value from, Value firstPanel, Value lastPanel) {
  Value depth = b.sizes[b.sizes.size() - 2], rowBytes = c.mul(b.strides[b.strides.size() - 2], type.numberBytes());
  VectorType lanes = c.vec(type.number(c), kLanes);
  bool squares = Code::constant(b.strides.back()) != 1;
  c.loop(c.n(0), depth, squares ? depth : c.n(kStepsInPlace), [&](Value start) {
    c.loop(firstPanel, lastPanel, c.n(1), [&](Value panel) {
      Value base = c.at(to, c.mul(c.mul(c.sub(panel, firstPanel), depth), type.resultBytes()));
      if (squares)
        return packSquares(base, from, panel);
      Value column = c.at(from, c.mul(panel, type.resultBytes())), end = c.min(c.add(start, kStepsInPlace), depth);
      auto copy = [&](bool partial) {
        c.loop(start, end, c.n(1), [&](Value k) {
          Value at = c.at(column, c.mul(k, rowBytes));
          c.store(partial ? c.loadMasked(lanes, at, mask) : c.load(lanes, at), c.at(base, c.mul(k, type.resultBytes())));
        });
      };
      if (mask)
        c.when(c.equal(panel, c.sub(panels, 1)), [&] { copy(true); }, [&] { copy(false); });
      else
        copy(false);
    });
  });
}

// Makes `p` multiply with copies of B's panels [from, to).
void Product::packGroup(RowsProblem &p, Value from, Value to) {
  pack(c.scratch, p.b, from, to);
  p.panelBytes = c.mul(b.sizes[b.sizes.size() - 2], type.resultBytes());
  p.b = c.at(c.scratch, c.sub(c.n(0), c.mul(from, p.panelBytes))), p.nextB = c.scratch;
}

void Product::chooseSchedule() {
  RowsSchedule &s = schedule.emplace(c, constantOf(y[batch]), knownPanels, constantOf(a.dims.back()), 1, type);
  inPlace = s.rows && *s.rows <= kRowsInPlace && Code::constant(b.strides.back()) == 1;
  s.depthBlock = 0;  // a group's panels are packed for the whole depth
  if (inPlace) {
    bool single = s.rows == 1;
    s.groupPanels = single ? kPanelsOfRow : kPanelsInPlace;
    s.depthBlock = knownPanels && *knownPanels <= s.tile.panels ? 0 : single ? kStepsOfRow : kStepsInPlace;
  }
  s.scheduleGroup(c.kernel);
}

// The row tiles of `tiles` and the panels [from, to) of one problem.
void Product::multiply(Value problem, RowsEmitter::Tiles tiles, Value from, Value to) {
  Value rows = ySizes[batch], columns = ySizes[batch + 1];
  Code::Values index = unravel(c, problem, ArrayRef(ySizes).take_front(batch));
  RowsProblem p;
  p.a = matrix(a, index), p.b = matrix(b, index), p.distances = op.getDistances();
  if (inPlace)
    p.panelBytes = c.n(type.resultBytes()), p.stepBytes = c.mul(b.strides[b.strides.size() - 2], type.numberBytes());
  else
    packGroup(p, from, to);
  p.rowBytes = c.mul(a.strides[a.strides.size() - 2], type.numberBytes()), p.depth = a.sizes.back();
  p.outRowBytes = c.mul(columns, type.numberBytes()), p.outPanelBytes = c.n(type.resultBytes());
  p.outOffset = c.mul(c.mul(problem, c.mul(rows, columns)), type.numberBytes());
  p.out = c.at(c.result(0), p.outOffset), p.mask = mask;
  p.index = [&](Value row, Value panel) {
    Code::Values all(index);
    all.append({row, c.mul(panel, kLanes)});
    return all;
  };
  RowsEmitter(c, epilogue, *schedule).emit(p, rows, tiles, panels, from, to);
}

// A unit is some columns of a problem, with all its rows. A single row reads all columns of a task side by side, others a group of them.
void Product::emitInPlace() {
  const RowsSchedule &s = *schedule;
  AffineExpr problems = productOf(ArrayRef(y).take_front(batch), c.b.getContext());
  const int64_t step = llvm::alignTo(kUnitPanels, s.tile.panels);
  setExtent(c.kernel, {problems, y[batch + 1].ceilDiv(kLanes * step)},
            2.0 * double(*s.rows * constantOf(a.dims.back()).value_or(64) * step * kLanes));
  UnitLoop units{c.begin, c.end, c.ceilDiv(panels, step), s.rows == 1 ? kAllUnits : std::max<int64_t>(s.groupPanels / step, 1)};
  RowsEmitter::Tiles tiles{c.n(0), s.tiles(c, ySizes[batch])};
  units.loop(c, [&](Value problem, Value from, Value to) { multiply(problem, tiles, c.mul(from, step), c.min(c.mul(to, step), panels)); });
}

// A unit is some rows of a problem and a group of its panels.
void Product::emitPacked() {
  const RowsSchedule &s = *schedule;
  AffineExpr problems = productOf(ArrayRef(y).take_front(batch), c.b.getContext()), depth = a.dims.back();
  const int64_t step = llvm::divideCeil(kUnitRows, s.tile.rows);
  setExtent(c.kernel, {problems, y[batch + 1].ceilDiv(kLanes * s.groupPanels), s.tiles(y[batch]).ceilDiv(step)},
            s.tileFlops(constantOf(depth).value_or(64)) * double(std::min(step, s.rows ? s.tiles() : step)));
  setScratch(c.kernel, depth * (s.groupPanels * type.resultBytes()));
  Value groups = c.max(c.ceilDiv(panels, s.groupPanels), c.n(1)), tiles = s.tiles(c, ySizes[batch]);  // no columns: a divisor
  UnitLoop units{c.begin, c.end, c.ceilDiv(tiles, step), kAllUnits};
  units.loop(c, [&](Value of, Value first, Value end) {
    Value from = c.mul(c.rem(of, groups), s.groupPanels);
    multiply(c.div(of, groups), {c.mul(first, step), c.min(c.mul(end, step), tiles)}, from, c.min(c.add(from, s.groupPanels), panels));
  });
}

void Product::emit() {
  AffineExpr columnsExpr = y[batch + 1];
  auto knownColumns = constantOf(columnsExpr);
  if (knownColumns)
    knownPanels = llvm::divideCeilSigned(*knownColumns, kLanes);
  chooseSchedule();
  Value columns = ySizes[batch + 1];
  panels = c.ceilDiv(columns, kLanes);
  if (!knownColumns || *knownColumns % kLanes)
    mask = c.lanesBelow(c.sub(columns, c.mul(c.sub(panels, 1), kLanes)), kLanes);
  inPlace ? emitInPlace() : emitPacked();
}
}  // namespace

LogicalResult emitPackedProduct(KernelCode &code, Operation *op) {
  Product(code, cast<onnx::PackedProductOp>(op)).emit();
  return success();
}

}  // namespace onnxc
