// ContractResize.cpp: resizing of blocked images by tables of taps and weights (passes/layout/ResizeTables.h).
//
// unit   an output row of one image and block of channels
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Tile.h"
#include "dialects/onnx/Packed.h"

using namespace mlir;
namespace onnxc {
namespace {

struct Resize {
  KernelCode &c;
  onnx::PackedResizeOp op;
  Epilogue epilogue;
  Code::Values x, y;
  int64_t rowTaps, columnTaps;
  VectorType lanes;

  Resize(KernelCode &code, onnx::PackedResizeOp op)
      : c(code), op(op), epilogue(code, op), x(code.sizes(cast<RankedTensorType>(op.getX().getType()))),
        y(code.sizes(cast<RankedTensorType>(op.getY().getType()))), rowTaps(cast<RankedTensorType>(op.getRows().getType()).getDimSize(1)),
        columnTaps(cast<RankedTensorType>(op.getColumns().getType()).getDimSize(1)), lanes(code.vec(code.f32, kLanes)) {}

  // Bytes of index `at` of a table times `unit`.
  Value index(Value table, Value at, Value unit) {
    Value i = c.load(c.i32, c.at(c.address(table), c.mul(at, 4)));
    return c.mul(arith::ExtSIOp::create(c.b, c.loc, c.i64, i), unit);
  }
  Value weight(Value table, Value at) { return c.splat(c.load(c.f32, c.at(c.address(table), c.mul(at, 4))), kLanes); }
  // `start` + the sum of `term` over `taps`; a few are written out.
  Value sum(int64_t taps, Value start, llvm::function_ref<Value(Value tap, Value acc)> term) {
    if (taps > 4)
      return c.loop(c.n(0), c.n(taps), c.n(1), ValueRange(start),
                    [&](Value tap, ValueRange acc) { return Code::Values{term(tap, acc[0])}; })[0];
    for (int64_t tap = 0; tap < taps; ++tap)
      start = term(c.n(tap), start);
    return start;
  }
  Value pixel(Value image, Value oh, Value ow);
  void emit();
};

Value Resize::pixel(Value image, Value oh, Value ow) {
  Value line = c.mul(x[3], kPanelBytes), zero = c.real(0, lanes);
  return sum(columnTaps, zero, [&](Value j, Value acc) {
    Value column = c.add(c.mul(ow, columnTaps), j), left = index(op.getColumns(), column, c.n(kPanelBytes));
    auto tap = [&](Value i) { return c.load(lanes, c.at(c.at(image, index(op.getRows(), c.add(c.mul(oh, rowTaps), i), line)), left)); };
    if (rowTaps == 1 && columnTaps == 1)
      return tap(c.n(0));
    Value down = rowTaps == 1 ? tap(c.n(0)) : sum(rowTaps, zero, [&](Value i, Value part) {
      return c.fma(weight(op.getRowWeights(), c.add(c.mul(oh, rowTaps), i)), tap(i), part);
    });
    return columnTaps == 1 ? down : c.fma(weight(op.getColumnWeights(), column), down, acc);
  });
}

void Resize::emit() {
  auto dims = sizeExprs(cast<RankedTensorType>(op.getY().getType()));
  setExtent(c.kernel, {dims[0], dims[1], dims[2]}, 4.0 * double(constantOf(dims[3]).value_or(64) * rowTaps * columnTaps * kLanes));
  c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
    Value oh = c.rem(unit, y[2]), plane = c.div(unit, y[2]);
    Value image = c.at(c.address(op.getX()), c.mul(plane, c.mul(c.mul(x[2], x[3]), kPanelBytes)));
    c.loop(c.n(0), y[3], c.n(1), [&](Value ow) {
      LanePlace place{c.mul(c.add(c.mul(unit, y[3]), ow), kPanelBytes),
                      [&] { return Code::Values{c.div(plane, y[1]), c.rem(plane, y[1]), oh, ow, c.n(0)}; }};
      c.store(epilogue.apply(pixel(image, oh, ow), place, Value()), c.at(c.result(0), place.offset));
    });
  });
}
}  // namespace

LogicalResult emitPackedResize(KernelCode &code, Operation *op) {
  Resize(code, cast<onnx::PackedResizeOp>(op)).emit();
  return success();
}

}  // namespace onnxc
