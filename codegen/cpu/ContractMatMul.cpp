// ContractMatMul.cpp: matrix products: rows of A (all leading axes together) times packed weights. ContractProduct.cpp multiplies two
// run-time operands.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Rows.h"
#include "dialects/onnx/Packed.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
namespace onnxc {

std::optional<int64_t> constantOf(AffineExpr e) {
  auto c = dyn_cast<AffineConstantExpr>(e);
  return c ? std::optional<int64_t>(c.getValue()) : std::nullopt;
}

SmallVector<AffineExpr> sizeExprs(RankedTensorType type) {
  SmallVector<AffineExpr> result;
  for (int64_t d : kernel::localDims(type))
    result.push_back(d >= 0 ? getAffineConstantExpr(d, type.getContext()) : getAffineSymbolExpr(-d - 1, type.getContext()));
  return result;
}

AffineExpr productOf(ArrayRef<AffineExpr> factors, MLIRContext *context) {
  AffineExpr p = getAffineConstantExpr(1, context);
  for (AffineExpr f : factors)
    p = p * f;
  return p;
}

// How many elements of the kernel's first result a unit computes, if sizes that only a run knows are all alike.
static double resultsOfUnit(kernel::FuncOp kernel, AffineExpr extent) {
  constexpr int64_t mostly = 64;
  MLIRContext *context = kernel.getContext();
  SmallVector<AffineExpr> sizes(kernel.getNumDims(), getAffineConstantExpr(mostly, context));
  auto count = [&](AffineExpr e) { return double(std::max<int64_t>(1, constantOf(e.replaceSymbols(sizes)).value_or(1))); };
  auto result = cast<RankedTensorType>(kernel.getReturn()->getOperand(0).getType());
  return count(productOf(sizeExprs(result), context)) / count(extent);
}

void setExtent(kernel::FuncOp kernel, ArrayRef<AffineExpr> factors, double flops) {
  constexpr double worth = 4e5;   // flops of about 5 us of one core
  constexpr double ofResult = 8;  // in which it writes a result, or an op on it comes to its turn
  AffineExpr extent = productOf(factors, kernel.getContext());
  double work = flops + ofResult * double(pointCost(kernel)) * resultsOfUnit(kernel, extent);
  setExtent(kernel, extent, int64_t(std::ceil(worth / work)));
}

void setScratch(kernel::FuncOp kernel, AffineExpr bytes) {
  kernel->setAttr("scratch", AffineMapAttr::get(AffineMap::get(0, kernel.getNumDims(), bytes)));
}

Code::Values Parts::loop(Code &c, ValueRange start, llvm::function_ref<Body> body) const {
  Value all = c.max(each, c.n(1)), blocks = c.ceilDiv(all, most);
  auto blockOf = [&](Value unit) { return c.add(c.mul(c.div(unit, all), blocks), c.div(c.rem(unit, all), most)); };
  Value first = blockOf(begin), last = c.select(c.less(begin, end), c.add(blockOf(c.sub(end, 1)), 1), first);
  return c.loop(first, last, c.n(1), start, [&](Value block, ValueRange values) {
    Value of = c.div(block, blocks), before = c.mul(of, all), at = c.mul(c.rem(block, blocks), most);
    Value to = c.min(c.min(c.add(at, most), all), c.sub(end, before));
    return body(of, c.max(at, c.sub(begin, before)), to, values);
  });
}

// Pieces (alike wholes, strip of near parts, whole, most of these parts), some of them empty at the end of the wholes.
void Parts::loopNear(Code &c, llvm::function_ref<void(Value, Value, Value)> body) const {
  Value all = c.max(each, c.n(1)), single = c.less(all, c.n(std::max(least, near * most + 1)));
  Value strip = c.select(single, all, c.n(near * most)), blocks = c.select(single, c.ceilDiv(all, most), c.n(near));
  Value together = c.mul(all, alike), stripUnits = c.mul(strip, alike);
  auto widthOf = [&](Value i) { return c.min(strip, c.sub(all, c.mul(i, strip))); };
  auto strips = [&] { return c.ceilDiv(all, strip); };
  auto pieceOf = [&](Value unit) {
    auto place = [&](Value whole, Value part) { return c.add(c.mul(whole, blocks), c.div(part, most)); };
    return c.choose(
        single, [&] { return Code::Values{place(c.div(unit, all), c.rem(unit, all))}; },
        [&] {
          Value inside = c.rem(unit, together), i = c.div(inside, stripUnits), rest = c.rem(inside, stripUnits), width = widthOf(i);
          Value before = c.mul(c.add(c.mul(c.div(unit, together), strips()), i), alike);
          return Code::Values{place(c.add(before, c.div(rest, width)), c.rem(rest, width))};
        })[0];
  };
  Value first = pieceOf(begin), last = c.select(c.less(begin, end), c.add(pieceOf(c.sub(end, 1)), 1), first);
  c.loop(first, last, c.n(1), [&](Value piece) {
    Value of = c.div(piece, blocks), whole = c.rem(of, alike), offset = c.mul(c.rem(piece, blocks), most);
    Value inOrder = c.div(of, alike);
    Code::Values place = c.choose(
        single, [&] { return Code::Values{inOrder, c.n(0)}; },
        [&] { return Code::Values{c.div(inOrder, strips()), c.rem(inOrder, strips())}; });
    Value outer = place[0], i = place[1], part = c.add(c.mul(i, strip), offset);
    Value before = c.add(c.mul(outer, together), c.add(c.mul(i, stripUnits), c.add(c.mul(whole, widthOf(i)), offset)));
    Value from = c.add(part, c.max(c.sub(begin, before), c.n(0)));
    Value to = c.min(c.min(c.add(part, most), all), c.add(part, c.sub(end, before)));
    body(c.add(c.mul(outer, alike), whole), from, c.max(from, to));
  });
}

void Parts::loop(Code &c, llvm::function_ref<void(Value, Value, Value)> body) const {
  if (near)
    return loopNear(c, body);
  loop(c, {}, [&](Value of, Value from, Value to, ValueRange) { return body(of, from, to), Code::Values(); });
}

Code::Values unravel(Code &c, Value linear, ValueRange sizes) {
  Code::Values index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    index[i] = i ? c.rem(linear, sizes[i]) : linear;
    linear = c.div(linear, sizes[i]);
  }
  return index;
}

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
  int64_t sets = page / std::gcd(std::max<int64_t>(depth, 1) * 4, page);
  RowsSchedule s(c, constantOf(rowsExpr), panels, depth, 1, std::min<int64_t>(32, ways * sets));
  s.scheduleChunk(c.kernel), s.scheduleGroup(c.kernel), s.scheduleDepth(c.kernel, std::max<int64_t>(depth, 1));
  Epilogue epilogue(c, op);

  RowsProblem p;
  p.a = c.address(op.getA()), p.b = c.address(op.getB()), p.out = c.result(0);
  p.bias = op.getBias() ? c.address(op.getBias()) : Value();
  p.rowBytes = c.n(depth * 4), p.depth = c.n(depth), p.type = PanelType::of(bType.getElementType());
  p.panelBytes = c.n(depth * p.type.bytes());
  p.outRowBytes = c.n(n * 4), p.outPanelBytes = c.n(kPanelBytes);
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
  RowsEmitter(c, epilogue, s).emitGroups(groupAt, c.n(groups), groups, rows, c.n(panels), p.type, depth);
  return success();
}

}  // namespace onnxc
