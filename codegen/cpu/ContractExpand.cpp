// ContractExpand.cpp: a 1x1 convolution and the one in groups within blocks, most often depthwise, that alone reads its result
// (passes/fusion puts them into one kernel): a group of panels is computed for all pixels into scratch memory, from where the windows read
// it while the second or, of a large plane, the third cache holds it.
//
// unit  an image, a group of panels
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Rows.h"
#include "codegen/cpu/Window.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kNearBytes = 512 << 10;  // of a group's result, which a second-level cache holds

// Panels of a unit: a divisor of `panels`, so that all units are alike, and eight units an image for as many threads.
static int64_t panelsOfUnit(int64_t panels, int64_t planeBytes) {
  int64_t most = std::max<int64_t>(1, kNearBytes / planeBytes);
  for (int64_t count = std::min(most, panels); count > 1; --count)
    if (panels % count == 0 && panels / count >= 8)
      return count;
  return 1;
}

LogicalResult emitExpandedWindow(KernelCode &c, Operation *conv, Operation *window) {
  auto op = cast<onnx::PackedConvOp>(conv);
  Epilogue epilogue(c, op);
  WindowEmitter windows(c, window);
  auto expanded = cast<RankedTensorType>(op.getY().getType()), result = cast<RankedTensorType>(window->getResult(0).getType());
  SmallVector<AffineExpr> y = sizeExprs(expanded), z = sizeExprs(result);
  int64_t rows = *constantOf(y[2]) * *constantOf(y[3]), blocks = cast<RankedTensorType>(op.getW().getType()).getShape()[1];
  int64_t panels = *constantOf(y[1]), planeBytes = rows * 64, group = panelsOfUnit(panels, planeBytes);
  RowsSchedule s(c, rows, group, blocks, kLanes);
  s.scheduleDepth(c.kernel, blocks);
  int64_t chunks = llvm::divideCeil(s.tiles(), s.chunkTiles), units = panels / group;
  MLIRContext *context = c.b.getContext();
  setScratch(c.kernel, getAffineConstantExpr(group * planeBytes, context));
  setExtent(c.kernel, {y[0], getAffineConstantExpr(units, context)}, 2.0 * double(rows * group * kLanes * blocks * kLanes));
  c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
    Value n = c.div(unit, units), from = c.mul(c.rem(unit, units), group), to = c.add(from, group);
    RowsProblem p = pointwiseRows(c, op, n, c.n(0));
    p.out = c.at(c.scratch, c.sub(c.n(0), c.mul(from, planeBytes)));
    RowsEmitter emitter(c, epilogue, s);
    c.loop(c.n(0), c.n(chunks), c.n(1), [&](Value chunk) { emitter.emit(p, c.n(rows), chunk, c.n(panels), from, to); });
    c.loop(from, to, c.n(1), [&](Value block) {
      Value plane = c.at(p.out, c.mul(block, planeBytes));
      c.loop(c.n(0), c.n(*constantOf(z[2])), c.n(1), [&](Value oh) { windows.row(n, block, oh, plane); });
    });
  });
  return success();
}

}  // namespace onnxc
