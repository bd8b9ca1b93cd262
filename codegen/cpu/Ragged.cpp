// Ragged.cpp: see Ragged.h.
#include "codegen/cpu/Ragged.h"
#include "codegen/cpu/Contract.h"

using namespace mlir;
namespace onnxc {

void RaggedTile::setScratch() { extendScratch(c.kernel, std::max<int64_t>(planes, 1) * w.kh * w.kw * entryBytes()); }

Value RaggedTile::regular(Value column, Value outWidth) const {
  Value first = c.sub(c.mul(column, w.strides[1]), w.left);
  Value last = c.add(first, (rows - 1) * w.strides[1] + (w.kw - 1) * w.dilations[1]);
  return c.both(c.both(c.less(c.n(-1), first), c.less(last, inWidth)), c.less(c.add(column, rows - 1), outWidth));
}

// Rows and columns are vectors of a pixel each: tap by tap, most of the time of a convolution of few channels would go by here.
void RaggedTile::fill(Value image, Value row, Value column, Value outWidth, Value count) {
  int64_t n = lanes(), all = w.kh * w.kw;
  auto type = c.vec(c.i64, n);
  auto splat = [&](Value v) { return c.splat(v, n); };
  Value each = arith::ConstantOp::create(c.b, c.loc, DenseIntElementsAttr::get(type, llvm::to_vector(llvm::seq<int64_t>(0, n))));
  Value turns = c.div(c.add(column, rows - 1), outWidth), zero = c.integer(0, type);
  Code::Values at = c.loop(c.n(0), turns, c.n(1), {splat(row), c.add(each, splat(column))}, [&](Value, ValueRange v) -> Code::Values {
    Value stays = c.less(v[1], splat(outWidth));
    return {c.add(v[0], c.select(stays, zero, c.integer(1, type))), c.sub(v[1], c.select(stays, zero, splat(outWidth)))};
  });
  Value exists = c.less(each, splat(count));
  Value lines = c.mul(at[0], c.integer(w.strides[0], type)), places = c.mul(at[1], c.integer(w.strides[1], type));
  Value downBytes = c.mul(down, pixelBytes), acrossBytes = c.n(across * pixelBytes);
  Value pixels = c.add(c.mul(lines, splat(downBytes)), c.mul(places, splat(acrossBytes)));
  auto inside = [&](Value v, Value size) { return c.both(c.less(c.integer(-1, type), v), c.less(v, splat(size))); };
  auto address = [&](Value v) -> Value { return LLVM::PtrToIntOp::create(c.b, c.loc, c.i64, v); };
  Value start = address(image), planeBytes = c.mul(c.mul(inHeight, inWidth), pixelBytes), zeros = splat(address(zeroBytes(c)));
  taps = c.loop(c.n(0), c.n(all), c.n(1), c.n(0), [&](Value tap, ValueRange entries) -> Code::Values {
    Value below = c.sub(c.mul(c.div(tap, w.kw), w.dilations[0]), w.top);
    Value along = c.sub(c.mul(c.rem(tap, w.kw), w.dilations[1]), w.left);
    Value meets = c.both(exists, c.both(inside(c.add(lines, splat(below)), inHeight), inside(c.add(places, splat(along)), inWidth)));
    Value offset = c.add(pixels, splat(c.add(c.mul(below, downBytes), c.mul(along, acrossBytes))));
    auto store = [&](Value at, Value v, Value padding) {
      Value entry = c.at(c.scratch, c.mul(at, entryBytes()));
      c.store(c.select(meets, v, padding), entry, 8);
      c.store(tap, c.at(entry, n * 8), 8);
    };
    if (!planes)
      store(entries[0], offset, c.integer(-1, type));
    for (int64_t i = 0; i < planes; ++i)
      store(c.add(entries[0], i * all), c.add(offset, splat(c.add(start, c.mul(planeBytes, i)))), zeros);
    // A tap that only reads padding is overwritten by the next one.
    Value any = vector::ReductionOp::create(c.b, c.loc, vector::CombiningKind::OR, meets);
    return {c.add(entries[0], c.select(any, c.n(1), c.n(0)))};
  })[0];
}

Code::Values RaggedTile::forTaps(Value plane, Value number, ValueRange start,
                                 llvm::function_ref<Code::Values(Value, ArrayRef<Value>, ValueRange)> body) {
  Value first = planes ? c.mul(number, w.kh * w.kw * entryBytes()) : c.n(0);
  return c.loop(c.n(0), taps, c.n(1), start, [&](Value i, ValueRange v) {
    Value address = c.at(c.scratch, c.add(first, c.mul(i, entryBytes()))), zeros = planes ? Value() : zeroBytes(c);
    Code::Values pixels;
    for (int64_t r = 0; r < rows; ++r) {
      if (planes) {
        pixels.push_back(c.load(c.ptr, c.at(address, r * 8), 8));
        continue;
      }
      Value pixel = c.load(c.i64, c.at(address, r * 8), 8);
      pixels.push_back(c.select(c.less(pixel, c.n(0)), zeros, c.at(plane, pixel)));
    }
    return body(c.load(c.i64, c.at(address, lanes() * 8), 8), pixels, v);
  });
}

}  // namespace onnxc
