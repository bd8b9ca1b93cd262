// Ragged.cpp: see Ragged.h.
#include "codegen/cpu/Ragged.h"
#include "codegen/cpu/Contract.h"

using namespace mlir;
namespace onnxc {

void RaggedTile::setScratch() {
  int64_t bytes = w.kh * w.kw * entryBytes();
  auto others = c.kernel->getAttrOfType<AffineMapAttr>("scratch");  // of this convolution, or another phase of a transposed one
  if (others && others.getValue().isSingleConstant())
    bytes = std::max(bytes, others.getValue().getSingleConstantResult());
  onnxc::setScratch(c.kernel, getAffineConstantExpr(bytes, c.kernel.getContext()));
}

Value RaggedTile::regular(Value column, Value outWidth) const {
  Value first = c.sub(c.mul(column, w.strides[1]), w.pads[1]);
  Value last = c.add(first, (rows - 1) * w.strides[1] + (w.kw - 1) * w.dilations[1]);
  return c.both(c.both(c.less(c.n(-1), first), c.less(last, inWidth)), c.less(c.add(column, rows - 1), outWidth));
}

void RaggedTile::fill(Value row, Value column, Value outWidth, Value count) {
  auto inside = [&](Value at, Value size) { return c.both(c.less(c.n(-1), at), c.less(at, size)); };
  auto entry = [&](Value tap, Value at) {
    Value address = c.at(c.scratch, c.mul(at, entryBytes()));
    Value below = c.sub(c.mul(c.div(tap, w.kw), w.dilations[0]), w.pads[0]);
    Value along = c.sub(c.mul(c.rem(tap, w.kw), w.dilations[1]), w.pads[1]);
    Code::Values v = c.loop(c.n(0), c.n(rows), c.n(1), {row, column, c.n(0)}, [&](Value r, ValueRange v) -> Code::Values {
      Value line = c.add(c.mul(v[0], w.strides[0]), below), place = c.add(c.mul(v[1], w.strides[1]), along);
      Value meets = c.both(c.less(r, count), c.both(inside(line, inHeight), inside(place, inWidth)));
      c.store(c.select(meets, c.add(c.mul(line, down), c.mul(place, across)), c.n(-1)), c.at(address, c.mul(r, 8)), 8);
      Value next = c.add(v[1], 1), turns = c.equal(next, outWidth);
      return {c.select(turns, c.add(v[0], 1), v[0]), c.select(turns, c.n(0), next), c.select(meets, c.n(1), v[2])};
    });
    c.store(tap, c.at(address, rows * 8), 8);
    return c.add(at, v[2]);  // a tap that only reads padding is overwritten by the next one
  };
  taps = c.loop(c.n(0), c.n(w.kh * w.kw), c.n(1), c.n(0), [&](Value tap, ValueRange at) -> Code::Values { return {entry(tap, at[0])}; })[0];
}

Code::Values RaggedTile::forTaps(Value plane, int64_t pixelBytes, ValueRange start,
                                 llvm::function_ref<Code::Values(Value, ArrayRef<Value>, ValueRange)> body) {
  return c.loop(c.n(0), taps, c.n(1), start, [&](Value i, ValueRange v) {
    Value address = c.at(c.scratch, c.mul(i, entryBytes())), zeros = zeroBytes(c);
    Code::Values pixels;
    for (int64_t r = 0; r < rows; ++r) {
      Value pixel = c.load(c.i64, c.at(address, r * 8), 8);
      pixels.push_back(c.select(c.less(pixel, c.n(0)), zeros, c.at(plane, c.mul(pixel, pixelBytes))));
    }
    return body(c.load(c.i64, c.at(address, rows * 8), 8), pixels, v);
  });
}

}  // namespace onnxc
