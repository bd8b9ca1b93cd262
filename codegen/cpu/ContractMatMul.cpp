// ContractMatMul.cpp: matrix products: rows of A (all leading axes together) times packed weights. ContractProduct.cpp multiplies two
// run-time operands.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Rows.h"
#include "dialects/onnx/Packed.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
namespace onnxc {

LogicalResult emitPackedMatMul(KernelCode &c, Operation *raw) {
  auto op = cast<onnx::PackedMatMulOp>(raw);
  auto aType = cast<RankedTensorType>(op.getA().getType()), bType = cast<RankedTensorType>(op.getB().getType());
  int64_t panels = bType.getDimSize(0), depth = bType.getDimSize(1), n = op.getN();
  SmallVector<AffineExpr> aDims = sizeExprs(aType);
  AffineExpr rowsExpr = productOf(ArrayRef(aDims).drop_back(), c.b.getContext());
  Code::Values leading = c.sizes(aType);
  leading.pop_back();
  Value rows = c.product(leading);
  // Rows of A that lie a page apart share a set of the first-level cache, of at least eight ways, those half a page apart two: 13 rows of
  // whole pages took 3 to 30 % longer than eight, 29 of half a page 1.6 times as long as 16.
  constexpr int64_t page = 4096, ways = 8;
  PanelType type = PanelType::of(bType.getElementType());
  int64_t bytes = type.numberBytes(), sets = page / std::gcd(std::max<int64_t>(depth, 1) * bytes, page);
  RowsSchedule s(c, constantOf(rowsExpr), panels, depth, 1, type, std::min<int64_t>(32, ways * sets));
  s.oneProblem = true, s.mayRound = op->hasAttr(onnx::kBF16RowsAttr);
  s.scheduleChunk(c.kernel), s.scheduleGroup(c.kernel), s.scheduleDepth(c.kernel, std::max<int64_t>(depth, 1));
  Epilogue epilogue(c, op);

  RowsProblem p;
  p.a = c.address(op.getA()), p.b = c.address(op.getB()), p.out = c.result(0);
  p.bias = op.getBias() ? c.address(op.getBias()) : Value();
  p.rowBytes = c.n(depth * bytes), p.depth = c.n(depth);
  p.panelBytes = c.n(depth * type.bytes());
  p.outRowBytes = c.n(n * bytes), p.outPanelBytes = c.n(type.resultBytes());
  p.mask = n % kLanes ? c.lanesBelow(c.n(n % kLanes), kLanes) : Value();
  p.outOffset = c.n(0);
  p.index = [&](Value row, Value panel) {
    Code::Values index = unravel(c, row, leading);
    index.push_back(c.mul(panel, kLanes));
    return index;
  };
  int64_t groups = llvm::divideCeil(panels, s.groupPanels);
  setExtent(c.kernel, {s.tiles(rowsExpr), getAffineConstantExpr(groups, c.b.getContext())}, s.tileFlops(depth));
  auto groupAt = [&](Value group) {
    Value from = c.mul(group, s.groupPanels), to = c.min(c.add(from, s.groupPanels), c.n(panels));
    return RowsEmitter::Group{p, from, to};
  };
  RowsEmitter(c, epilogue, s).emitGroups(groupAt, c.n(groups), groups, rows, c.n(panels), depth);
  return success();
}

}  // namespace onnxc
