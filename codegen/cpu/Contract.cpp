// Contract.cpp: what the emitters of the contract family share; see Contract.h.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Space.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

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
  constexpr double worth = 4e5;   // flops that take one core about 5 us
  constexpr double ofResult = 8;  // flops that take as long as writing a result, or as one op on it
  AffineExpr extent = productOf(factors, kernel.getContext());
  double work = flops + ofResult * double(pointCost(kernel)) * resultsOfUnit(kernel, extent);
  setExtent(kernel, extent, int64_t(std::ceil(worth / work)));
}

void setScratch(kernel::FuncOp kernel, AffineExpr bytes) {
  kernel->setAttr("scratch", AffineMapAttr::get(AffineMap::get(0, kernel.getNumDims(), bytes)));
}

void extendScratch(kernel::FuncOp kernel, int64_t bytes) {
  if (auto others = kernel->getAttrOfType<AffineMapAttr>("scratch")) {
    assert(others.getValue().isSingleConstant() && "sizes that only a run knows are in the way");
    bytes = std::max(bytes, others.getValue().getSingleConstantResult());
  }
  setScratch(kernel, getAffineConstantExpr(bytes, kernel.getContext()));
}

Code::Values UnitLoop::loop(Code &c, ValueRange start, llvm::function_ref<Body> body) const {
  Value all = c.max(each, c.n(1)), blocks = c.ceilDiv(all, most);
  auto blockOf = [&](Value unit) { return c.add(c.mul(c.div(unit, all), blocks), c.div(c.rem(unit, all), most)); };
  Value first = blockOf(begin), last = c.select(c.less(begin, end), c.add(blockOf(c.sub(end, 1)), 1), first);
  return c.loop(first, last, c.n(1), start, [&](Value block, ValueRange values) {
    Value of = c.div(block, blocks), before = c.mul(of, all), at = c.mul(c.rem(block, blocks), most);
    Value to = c.min(c.min(c.add(at, most), all), c.sub(end, before));
    return body(of, c.max(at, c.sub(begin, before)), to, values);
  });
}

// Pieces are counted in the order (group of alike wholes, strip, whole, piece of the strip); some are empty where a strip is cut short.
void UnitLoop::loopNear(Code &c, llvm::function_ref<void(Value, Value, Value)> body) const {
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

void UnitLoop::loop(Code &c, llvm::function_ref<void(Value, Value, Value)> body) const {
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

}  // namespace onnxc
