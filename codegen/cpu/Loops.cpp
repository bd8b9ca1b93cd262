// Loops.cpp: kernels of family "loops": groups of elementwise ops (and transpositions of their operands) as one pass over the result.
// Groups with a reduction are RowLoops.cpp's.
//
// A unit of the kernel's extent is a chunk of one row, a row being the last dim of the merged space.
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Pointwise.h"
#include "codegen/cpu/Space.h"
#include "dialects/kernel/Families.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
namespace onnxc {

void setExtent(kernel::FuncOp kernel, AffineExpr extent, int64_t grain) {
  Builder b(kernel.getContext());
  kernel->setAttr("extent", AffineMapAttr::get(AffineMap::get(0, kernel.getNumDims(), extent)));
  kernel->setAttr("grain", b.getI64IntegerAttr(std::max<int64_t>(grain, 1)));
}

namespace {
constexpr int64_t kTaskPoints = 16384;  // of cost 2: some 5 microseconds

struct LoopKernel {
  KernelCode &c;
  Space space;
  ValueRange results;
  int64_t lanes;

  LoopKernel(KernelCode &c, ArrayRef<int64_t> dims)
      : c(c), space(c, dims), results(c.kernel.getReturn()->getOperands()), lanes(std::clamp<int64_t>(c.vectorBits / 16, 8, 16)) {}

  void point(Value at, int64_t width, Value mask = Value()) {
    space.newPoint();
    DimMap map = space.identity();
    SmallVector<Value> computed;
    for (Value r : results)
      computed.push_back(space.eval(r, map, at, width, mask));
    for (auto [r, v] : llvm::zip(results, computed))
      space.store(r, map, v, at, width, mask);
  }

  void scalars(Value from, Value to) {
    c.loop(from, to, c.n(1), [&](Value i) { point(i, 1); });
  }

  // What no mask covers: in halves of a vector where a point is dear, then element by element.
  void narrow(Value from, Value to) {
    for (int64_t width = lanes / 2; width >= kLeastLanes && isDear(c.kernel); width /= 2) {
      auto none = [&] { return Code::Values{from}; };
      auto one = [&] {
        point(from, width);
        return Code::Values{c.add(from, width)};
      };
      from = c.choose(c.less(c.sub(to, from), c.n(width)), none, one)[0];
    }
    scalars(from, to);
  }

  void vectors(Value from, Value to) {
    Value whole = c.sub(to, c.rem(c.sub(to, from), lanes));
    c.loop(from, whole, c.n(lanes), [&](Value i) { point(i, lanes); });
    c.when(c.less(whole, to), [&] {
      if (space.masksWell(c.vectorBits))
        point(whole, lanes, c.lanesBelow(c.sub(to, whole), lanes));
      else
        narrow(whole, to);
    });
  }

  void row(Value from, Value to) {
    auto fixed = dyn_cast<AffineConstantExpr>(space.sizes.back());
    if (!space.canVectorise() || (fixed && fixed.getValue() < 4))
      return scalars(from, to);
    c.when(space.vectorCondition(), [&] { vectors(from, to); }, [&] { scalars(from, to); });
  }

  void emit() {
    MLIRContext *context = c.b.getContext();
    AffineExpr inner = space.sizes.back(), extent = getAffineConstantExpr(1, context);
    int64_t chunk = space.sizes.size() == 1 ? 1024 : 1 << 16;
    auto fixed = dyn_cast<AffineConstantExpr>(inner);
    if (fixed)
      chunk = std::min(chunk, std::max<int64_t>(fixed.getValue(), 1));
    for (AffineExpr s : ArrayRef(space.sizes).drop_back())
      extent = extent * s;
    AffineExpr chunks = inner.ceilDiv(chunk);
    int64_t unit = fixed ? chunk : space.sizes.size() == 1 ? chunk : 64;
    setExtent(c.kernel, extent * chunks, llvm::divideCeil(2 * kTaskPoints / pointCost(c.kernel), unit));

    Value size = space.value(inner), perRow = c.ceilDiv(size, chunk);
    SmallVector<Value> outer;
    for (AffineExpr s : ArrayRef(space.sizes).drop_back())
      outer.push_back(space.value(s));
    c.loop(c.begin, c.end, c.n(1), [&](Value u) {
      Value row = fixed && chunk >= fixed.getValue() ? u : c.div(u, perRow), part = c.sub(u, c.mul(row, perRow));
      SmallVector<Value> indices(outer.size());
      for (size_t d = outer.size(); d-- > 0;) {
        indices[d] = d ? c.rem(row, outer[d]) : row;
        row = d ? c.div(row, outer[d]) : row;
      }
      space.beginRow(indices);
      Value from = c.mul(part, chunk);
      this->row(from, c.min(c.add(from, chunk), size));
    });
  }
};
}  // namespace

LogicalResult emitLoops(ModuleOp target, kernel::FuncOp kernel, const Isa &isa) {
  for (Operation &op : kernel.getBody().front())
    if (rowAxes(&op))
      return emitRows(target, kernel, &op, isa);
  KernelCode c(target, kernel, isa);
  ValueRange results = kernel.getReturn()->getOperands();
  LoopKernel loops(c, kernel::localDims(cast<RankedTensorType>(results.back().getType())));
  DimMap map = loops.space.identity();
  for (Value r : results) {
    loops.space.addInputs(r, map);
    loops.space.addResult(r, map);
  }
  loops.space.merge();
  if (!emitPermute(c, loops.space))
    loops.emit();
  c.finish();
  return success();
}

}  // namespace onnxc
