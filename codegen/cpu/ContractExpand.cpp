// ContractExpand.cpp: a 1x1 convolution and the window that alone reads its result, a convolution in groups within blocks, most often
// depthwise, or a pool of whole images (passes/fusion puts them into one kernel): a group of panels is computed for all pixels into scratch
// memory, from where the windows read it while the second or, of a large plane, the third cache holds it.
//
// unit  an image, a group of panels, a row of the second's result; a task computes what all of its rows of a group read, which neighbours
//       at its ends compute as well
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Rows.h"
#include "codegen/cpu/Window.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kNearBytes = 512 << 10;  // of a group's result, which a second-level cache holds

// Panels that a task takes at once: a divisor of `panels`, so that all groups are alike, and an eighth at most, since each task has memory
// for so many.
static int64_t panelsOfUnit(int64_t panels, int64_t planeBytes) {
  int64_t most = std::max<int64_t>(1, kNearBytes / planeBytes);
  for (int64_t count = std::min(most, panels); count > 1; --count)
    if (panels % count == 0 && panels / count >= 8)
      return count;
  return 1;
}

// The tiles that rows [from, to) of the window's result read, where rows of its input have `width` pixels.
static RowsEmitter::Tiles tilesOf(KernelCode &c, const RowsSchedule &s, const WindowShape &w, int64_t width, Value from, Value to) {
  int64_t reach = (w.kh - 1) * w.dilations[0] + 1;
  Value first = c.sub(c.mul(from, w.strides[0]), w.pads[0]), end = c.add(c.sub(c.mul(to, w.strides[0]), w.strides[0] + w.pads[0]), reach);
  auto pixel = [&](Value row) { return c.min(c.mul(c.max(row, c.n(0)), width), c.n(*s.rows)); };
  return {s.tileOf(c, pixel(first)), c.min(c.add(s.tileOf(c, c.sub(pixel(end), 1)), 1), c.n(s.tiles()))};
}

LogicalResult emitExpandedWindow(KernelCode &c, Operation *conv, Operation *window) {
  auto op = cast<onnx::PackedConvOp>(conv);
  Epilogue epilogue(c, op);
  WindowEmitter windows(c, window);
  auto expanded = cast<RankedTensorType>(op.getY().getType()), result = cast<RankedTensorType>(window->getResult(0).getType());
  SmallVector<AffineExpr> y = sizeExprs(expanded), z = sizeExprs(result);
  int64_t rows = *constantOf(y[2]) * *constantOf(y[3]), blocks = cast<RankedTensorType>(op.getW().getType()).getShape()[1];
  int64_t panels = *constantOf(y[1]), planeBytes = rows * 64, group = panelsOfUnit(panels, planeBytes);
  RowsSchedule s(c, rows, group, blocks, kLanes, PanelType::of(onnx::elementType(op.getW())));
  s.scheduleDepth(c.kernel, blocks);
  int64_t units = panels / group;
  MLIRContext *context = c.b.getContext();
  setScratch(c.kernel, getAffineConstantExpr(group * planeBytes, context));
  int64_t width = *constantOf(y[3]), height = *constantOf(z[2]);
  setExtent(c.kernel, {y[0], getAffineConstantExpr(units * height, context)}, s.tileFlops(blocks * kLanes) * double(s.tiles()) / height);
  UnitLoop{c.begin, c.end, c.n(height), height}.loop(c, [&](Value unit, Value low, Value high) {
    Value n = c.div(unit, units), from = c.mul(c.rem(unit, units), group), to = c.add(from, group);
    RowsProblem p = pointwiseRows(c, op, n, c.n(0));
    p.out = c.at(c.scratch, c.sub(c.n(0), c.mul(from, planeBytes)));
    RowsEmitter emitter(c, epilogue, s);
    RowsEmitter::Tiles tiles = tilesOf(c, s, windows.shape(), width, low, high);
    c.loop(tiles.first, tiles.end, c.n(s.chunkTiles),
           [&](Value first) { emitter.emit(p, c.n(rows), {first, c.min(c.add(first, s.chunkTiles), tiles.end)}, c.n(panels), from, to); });
    c.loop(from, to, c.n(1), [&](Value block) {
      Value plane = c.at(p.out, c.mul(block, planeBytes));
      c.loop(low, high, c.n(1), [&](Value oh) { windows.row(n, block, oh, plane); });
    });
  });
  return success();
}

}  // namespace onnxc
