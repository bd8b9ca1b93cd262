// RowResults.h: where the results of a tile of Rows.h lie. For Rows.cpp and RowTiles.cpp.
#pragma once
#include "codegen/cpu/Rows.h"

namespace onnxc {

// The results of one tile in memory, and which of their lanes are the tile's to write.
struct RowsEmitter::Results {
  KernelCode &c;
  const RowsProblem &p;
  const Tile &t;
  Place at;
  Value all;                       // a mask of all lanes, where there are masks
  llvm::SmallVector<Value> lanes;  // of a panel; null: all

  Results(KernelCode &code, const RowsProblem &p, const Tile &t, Place at, Value panels) : c(code), p(p), t(t), at(at) {
    if (p.mask || at.rows.begin) {
      Value zero = c.real(0, c.vec(c.f32, kLanes));
      all = mlir::arith::CmpFOp::create(c.b, c.loc, mlir::arith::CmpFPredicate::OEQ, zero, zero);
    }
    for (int64_t i = 0; i < t.panels; ++i) {
      lanes.push_back(Value());
      if (!p.mask || i + 1 < t.panels)
        continue;  // a partial panel is the last of its tile
      Value isLast = c.equal(c.add(at.panel, i + 1), panels);
      if (auto known = Code::constant(isLast))
        lanes.back() = *known ? p.mask : Value();
      else
        lanes.back() = mlir::arith::SelectOp::create(c.b, c.loc, isLast, p.mask, all);
    }
  }
  Value address(Value r, int64_t i) const {
    Value first = c.at(p.out, c.add(c.mul(at.row, p.outRowBytes), c.mul(at.panel, p.outPanelBytes)));
    return c.at(first, c.add(c.mul(r, p.outRowBytes), c.mul(c.n(i), p.outPanelBytes)));
  }
  Value mask(Value r, int64_t i) const {
    if (!at.rows.begin)
      return lanes[i];
    Value row = c.add(at.row, r), dropped = c.less(row, at.rows.begin);
    if (at.rows.end)
      dropped = mlir::arith::OrIOp::create(c.b, c.loc, dropped, c.less(at.rows.last(c), row));
    Value none = mlir::arith::XOrIOp::create(c.b, c.loc, all, all);
    return mlir::arith::SelectOp::create(c.b, c.loc, dropped, none, lanes[i] ? lanes[i] : all);
  }
  LanePlace place(Value r, int64_t i) const {
    Value m = at.rows.existing(c, c.add(at.row, r)), j = c.add(at.panel, i);
    Value offset = c.add(p.outOffset, c.add(c.mul(m, p.outRowBytes), c.mul(j, p.outPanelBytes)));
    return LanePlace{offset, [&p = p, m, j] { return p.index(m, j); }};
  }
  Value load(Value r, int64_t i) const {
    Value lanes = mask(r, i);
    return lanes ? c.loadMasked(t.type(), address(r, i), lanes) : c.load(t.type(), address(r, i));
  }
  void store(Value v, Value r, int64_t i) const {
    Value lanes = mask(r, i);
    lanes ? c.storeMasked(v, address(r, i), lanes) : c.store(v, address(r, i));
  }
};

}  // namespace onnxc
