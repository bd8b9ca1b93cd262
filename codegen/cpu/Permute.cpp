// Permute.cpp: kernels of family "loops" that are one transposition which moves the last dim: squares of 8 by 8 elements change places in
// registers. Transpositions that keep it are rows of Loops.cpp.
//
// last    the result's last dim; the operand steps by more than one element along it
// first   the dim of the space along which the operand's elements are neighbours
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Space.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/OnnxBase.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t side = 8, block = 64;  // `block` of `first` are a unit of work

struct Permutation {
  KernelCode &c;
  Space &space;
  const Access &from, &to;
  size_t first;
  Type element;
  int64_t bytes;
  Value source, target, across, down;  // addresses of the outer indices; bytes from one of `last` to the next, of `first` in the result

  Permutation(KernelCode &c, Space &space, size_t first)
      : c(c), space(space), from(space.accesses[0]), to(space.accesses[1]), first(first),
        element(c.b.getIntegerType(storageBytes(from.element) * 8)), bytes(storageBytes(from.element)) {}

  Value step(const Access &a, size_t d) { return c.mul(space.value(a.strides[d]), bytes); }
  Value read(Value i, Value j) { return c.at(c.at(source, c.mul(j, across)), c.mul(i, bytes)); }
  Value write(Value i, Value j) { return c.at(c.at(target, c.mul(i, down)), c.mul(j, bytes)); }

  // Rows of one become columns of the other: neighbours trade elements at distance 1, 2 and 4.
  void exchange(SmallVector<Value> &rows) {
    for (int64_t distance = 1; distance < side; distance *= 2)
      for (int64_t r = 0; r < side; ++r) {
        if (r & distance)
          continue;
        SmallVector<int32_t> low, high;
        for (int64_t i = 0; i < side; ++i) {
          low.push_back(i & distance ? side + i - distance : i);
          high.push_back(i & distance ? side + i : i + distance);
        }
        Value a = rows[r], b = rows[r + distance];
        rows[r] = LLVM::ShuffleVectorOp::create(c.b, c.loc, a, b, low);
        rows[r + distance] = LLVM::ShuffleVectorOp::create(c.b, c.loc, a, b, high);
      }
  }

  void square(Value i, Value j) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < side; ++r)
      rows.push_back(c.load(c.vec(element, side), read(i, c.add(j, r)), bytes));
    exchange(rows);
    for (int64_t r = 0; r < side; ++r)
      c.store(rows[r], write(c.add(i, r), j), bytes);
  }

  void single(Value i, Value j) { c.store(c.load(element, read(i, j), bytes), write(i, j), bytes); }

  // Elements [begin, end) of `first`, all of `last`.
  void band(Value begin, Value end, Value size) {
    Value one = c.n(1), eight = c.n(side), zero = c.n(0);
    Value whole = c.sub(end, c.rem(c.sub(end, begin), eight)), wide = c.sub(size, c.rem(size, eight));
    c.loop(zero, wide, eight, [&](Value j) { c.loop(begin, whole, eight, [&](Value i) { square(i, j); }); });
    c.loop(begin, whole, one, [&](Value i) { c.loop(wide, size, one, [&](Value j) { single(i, j); }); });
    c.loop(whole, end, one, [&](Value i) { c.loop(zero, size, one, [&](Value j) { single(i, j); }); });
  }

  void emit() {
    size_t last = space.sizes.size() - 1;
    AffineExpr extent = space.sizes[first].ceilDiv(block);
    SmallVector<size_t> outer;
    for (size_t d = 0; d < last; ++d)
      if (d != first)
        outer.push_back(d), extent = extent * space.sizes[d];
    auto fixed = dyn_cast<AffineConstantExpr>(space.sizes[last]);
    setExtent(c.kernel, extent, 32768 / (block * (fixed ? std::max<int64_t>(fixed.getValue(), 1) : 64)));
    Value count = space.value(space.sizes[first]), size = space.value(space.sizes[last]), blocks = c.ceilDiv(count, block);
    across = step(from, last), down = step(to, first);
    c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
      Value rest = c.div(unit, blocks), begin = c.mul(c.sub(unit, c.mul(rest, blocks)), block);
      source = c.buffer(from.buffer), target = c.buffer(to.buffer);
      for (size_t d : llvm::reverse(outer)) {
        Value n = space.value(space.sizes[d]), at = d == outer.front() ? rest : c.rem(rest, n);
        source = c.at(source, c.mul(at, step(from, d)));
        target = c.at(target, c.mul(at, step(to, d)));
        rest = d == outer.front() ? rest : c.div(rest, n);
      }
      band(begin, c.min(c.add(begin, block), count), size);
    });
  }
};
}  // namespace

bool emitPermute(KernelCode &c, Space &space) {
  Operation &op = c.kernel.getBody().front().front();
  if (onnx::opName(&op) != "Transpose" || op.getResult(0) != c.kernel.getReturn()->getOperand(0))
    return false;
  AffineExpr one = getAffineConstantExpr(1, c.b.getContext());
  ArrayRef<AffineExpr> strides = space.accesses[0].strides;
  auto first = llvm::find(strides.drop_back(), one);
  if (strides.back() == one || first == strides.drop_back().end())
    return false;
  Permutation(c, space, first - strides.begin()).emit();
  return true;
}

}  // namespace onnxc
