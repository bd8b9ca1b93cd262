// Permute.cpp: kernels of family "loops" that are one transposition which moves the last dim: squares of elements change places in
// registers. Transpositions that keep it are rows of Loops.cpp.
//
// unit    what is moved: an element, or the few of a last dim that both sides keep, where they fill a larger one
// last    the result's last dim of units; the operand steps by more than one unit along it
// first   the dim of the space along which the operand's units are neighbours
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Space.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/OnnxBase.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {
namespace {

// Elements of `first` and `last` that are a unit of work at most: 32 KiB of f32, the nearest cache.
constexpr int64_t kFirstInSquares = 64, kLastInSquares = 128, kInTurns = 2048;
constexpr int64_t kLaneBytes = 16;  // of a register: x86 shuffles freely within these
constexpr int64_t kFewest = 4;      // side of the smallest square

// A part of a dim.
struct Range {
  Value begin, end;
  std::optional<int64_t> least;  // how long it is at least, where that is known
};

struct Permutation {
  KernelCode &c;
  Space &space;
  const Access &from, &to;
  size_t first, last;
  int64_t elementBytes, bytes;   // of an element and of a unit
  Type element;                  // an integer as large as a unit
  int64_t most;                  // side of the largest square
  std::optional<int64_t> turns;  // size of `last` where it is small and the result of each `first` one run
  std::optional<int64_t> parts;  // size of `first` where it is small and the operand of each `last` one run
  int64_t firstBlock, lastBlock;
  bool alongLast;                      // squares follow each other along `last`
  Value source, target, across, down;  // addresses of the outer indices; bytes from one of `last` to the next, of `first` in the result

  Permutation(KernelCode &c, Space &space, size_t first, size_t last, int64_t unit)
      : c(c), space(space), from(space.accesses[0]), to(space.accesses[1]), first(first), last(last),
        elementBytes(storageBytes(from.element)), bytes(elementBytes * unit), element(c.b.getIntegerType(bytes * 8)),
        most(std::min<int64_t>(16, std::max<int64_t>(c.vectorBits / 8, kLaneBytes) / bytes)) {
    auto few = [&](size_t d, AffineExpr stride) {
      auto size = dyn_cast<AffineConstantExpr>(space.sizes[d]);
      bool isFew = size && size.getValue() >= 2 && size.getValue() <= 4 && stride == space.sizes[d] * unit;
      return isFew ? std::optional(size.getValue()) : std::nullopt;
    };
    turns = few(last, to.strides[first]);
    parts = turns ? std::nullopt : few(first, from.strides[last]);
    firstBlock = turns ? kInTurns : kFirstInSquares;
    lastBlock = parts ? kInTurns : kLastInSquares;
  }

  Value step(const Access &a, size_t d) { return c.mul(space.value(a.strides[d]), elementBytes); }
  Value read(Value i, Value j) { return c.at(c.at(source, c.mul(j, across)), c.mul(i, bytes)); }
  Value write(Value i, Value j) { return c.at(c.at(target, c.mul(i, down)), c.mul(j, bytes)); }
  Value shuffle(Value a, Value b, llvm::function_ref<int64_t(int64_t)> lane) {
    SmallVector<int32_t> mask(cast<VectorType>(a.getType()).getDimSize(0));
    for (size_t i = 0; i < mask.size(); ++i)
      mask[i] = lane(i);
    return LLVM::ShuffleVectorOp::create(c.b, c.loc, a, b, mask);
  }

  // Rows of one become columns of the other: first within the lanes of registers, by interleaving halves of them, then lanes themselves.
  SmallVector<Value> exchange(SmallVector<Value> rows) {
    int64_t side = rows.size(), part = std::min(side, kLaneBytes / bytes), lanes = side / part;
    for (int64_t round = 1; round < part; round *= 2) {
      SmallVector<Value> next(side);
      for (int64_t g = 0; g < side; g += part)
        for (int64_t i = 0; i < part; ++i) {
          int64_t half = i % 2 * (part / 2);
          auto lane = [&](int64_t k) { return k % 2 * side + k / part * part + half + k % part / 2; };
          next[g + i] = shuffle(rows[g + i / 2], rows[g + i / 2 + part / 2], lane);
        }
      rows = next;
    }
    // rows[g * part + q] holds columns q, part + q, … of the rows from g * part on.
    for (int64_t round = 1; round < lanes; round *= 2) {
      SmallVector<Value> next(side);
      for (int64_t g = 0; g < lanes; ++g)
        for (int64_t q = 0; q < part; ++q) {
          Value a = rows[g % (lanes / 2) * 2 * part + q], b = rows[(g % (lanes / 2) * 2 + 1) * part + q];
          int64_t odd = g / (lanes / 2);
          next[g * part + q] = shuffle(a, b, [&](int64_t k) { return (k / part * 2 + odd) * part + k % part; });
        }
      rows = next;
    }
    return rows;
  }

  void square(int64_t side, Value i, Value j) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < side; ++r)
      rows.push_back(c.load(c.vec(element, side), read(i, c.add(j, r)), bytes));
    rows = exchange(rows);
    for (int64_t r = 0; r < side; ++r)
      c.store(rows[r], write(c.add(i, r), j), bytes);
  }

  void single(Value i, Value j) { c.store(c.load(element, read(i, j), bytes), write(i, j), bytes); }

  // Steps of `side`; the last one ends with the range and overlaps the one before.
  void steps(const Range &r, int64_t side, llvm::function_ref<void(Value)> body) {
    c.loop(r.begin, r.end, c.n(side), [&](Value at) { body(c.min(at, c.sub(r.end, side))); });
  }
  static bool isShorter(const Range &r, int64_t side) { return r.least && *r.least < side; }
  Value holds(const Range &r, int64_t side) { return r.least ? c.flag(*r.least >= side) : c.less(c.n(side - 1), c.sub(r.end, r.begin)); }

  // A vector of units at a time, or one by one where the range is too short for that.
  void alongRange(const Range &r, llvm::function_ref<void(Value)> vector, llvm::function_ref<void(Value)> one) {
    auto ones = [&] { c.loop(r.begin, r.end, c.n(1), one); };
    if (isShorter(r, most))
      return ones();
    c.when(holds(r, most), [&] { steps(r, most, vector); }, ones);
  }

  // Units of `count` rows take turns in the result.
  void weave(int64_t count, const Range &i) {
    auto vector = [&](Value at) {
      SmallVector<Value> rows;
      for (int64_t r = 0; r < count; ++r)
        rows.push_back(c.load(c.vec(element, most), read(at, c.n(r)), bytes));
      // All rows as one vector, then in turns.
      while (rows.size() > 1) {
        int64_t n = cast<VectorType>(rows[0].getType()).getDimSize(0);
        SmallVector<int32_t> both;
        for (int64_t k = 0; k < 2 * n; ++k)
          both.push_back(k);
        SmallVector<Value> next;
        for (size_t r = 0; r < rows.size(); r += 2)
          next.push_back(LLVM::ShuffleVectorOp::create(c.b, c.loc, rows[r], rows[std::min(r + 1, rows.size() - 1)], both));
        rows = next;
      }
      SmallVector<int32_t> turns;
      for (int64_t k = 0; k < count * most; ++k)
        turns.push_back(k % count * most + k / count);
      Value woven = LLVM::ShuffleVectorOp::create(c.b, c.loc, rows[0], rows[0], turns);
      c.store(woven, write(at, c.n(0)), bytes);
    };
    alongRange(i, vector, [&](Value at) {
      for (int64_t r = 0; r < count; ++r)
        single(at, c.n(r));
    });
  }

  // The opposite: every `count`-th unit of a run is one row's.
  void unweave(int64_t count, const Range &j) {
    auto vector = [&](Value at) {
      Value run = c.load(c.vec(element, count * most), read(c.n(0), at), bytes);
      for (int64_t r = 0; r < count; ++r) {
        SmallVector<int32_t> own;
        for (int64_t k = 0; k < most; ++k)
          own.push_back(k * count + r);
        c.store(LLVM::ShuffleVectorOp::create(c.b, c.loc, run, run, own), write(c.n(r), at), bytes);
      }
    };
    alongRange(j, vector, [&](Value at) {
      for (int64_t r = 0; r < count; ++r)
        single(c.n(r), at);
    });
  }

  // In squares of `side`, or smaller ones where a range is too short for that.
  void squares(int64_t side, const Range &i, const Range &j) {
    if (side < kFewest)
      return c.loop(i.begin, i.end, c.n(1), [&](Value at) { c.loop(j.begin, j.end, c.n(1), [&](Value k) { single(at, k); }); });
    if (isShorter(i, side) || isShorter(j, side))
      return squares(side / 2, i, j);
    auto whole = [&] {
      if (alongLast)
        steps(i, side, [&](Value at) { steps(j, side, [&](Value k) { square(side, at, k); }); });
      else
        steps(j, side, [&](Value at) { steps(i, side, [&](Value k) { square(side, k, at); }); });
    };
    if (i.least && j.least)
      return whole();
    c.when(c.both(holds(i, side), holds(j, side)), whole, [&] { squares(side / 2, i, j); });
  }

  AffineExpr blocks(size_t d, int64_t block) { return space.sizes[d].ceilDiv(block); }
  // Equal parts but for whole squares: rows that are aligned are stored without one store that two lines of memory share.
  Range part(Value index, size_t d, int64_t block) {
    Value size = space.value(space.sizes[d]), n = c.ceilDiv(size, block), squares = c.ceilDiv(size, most);
    auto known = c.constant(size);
    if (known && *known <= block)
      return {c.n(0), size, *known};
    std::optional<int64_t> least;
    if (known)  // the last square may have but one
      least = llvm::divideCeilSigned(*known, most) / llvm::divideCeilSigned(*known, block) * most - (most - 1);
    auto start = [&](Value i) { return c.mul(c.div(c.mul(i, squares), n), most); };
    return {start(index), c.min(start(c.add(index, 1)), size), least};
  }

  void emit() {
    AffineExpr extent = blocks(first, firstBlock) * blocks(last, lastBlock);
    SmallVector<size_t> outer;
    for (size_t d = 0; d < last; ++d)
      if (d != first)
        outer.push_back(d), extent = extent * space.sizes[d];
    auto longest = [&](size_t d, int64_t block) {
      auto fixed = dyn_cast<AffineConstantExpr>(space.sizes[d]);
      return fixed ? std::clamp<int64_t>(fixed.getValue(), 1, block) : std::max<int64_t>(64, block / 4);
    };
    setExtent(c.kernel, extent, 32768 / (longest(first, firstBlock) * longest(last, lastBlock)));
    Value firsts = c.ceilDiv(space.value(space.sizes[first]), firstBlock), lasts = c.ceilDiv(space.value(space.sizes[last]), lastBlock);
    across = step(from, last), down = step(to, first);
    // Where one side's rows lie far apart, a square and the next share its lines.
    auto far = c.constant(across), wide = c.constant(down);
    alongLast = !far || !wide || *wide >= *far;
    c.loop(c.begin, c.end, c.n(1), [&](Value unit) {
      Value rest = c.div(unit, lasts);
      Range j = part(c.sub(unit, c.mul(rest, lasts)), last, lastBlock);
      Value index = c.rem(rest, firsts);
      Range i = part(index, first, firstBlock);
      rest = c.div(rest, firsts);
      source = c.buffer(from.buffer), target = c.buffer(to.buffer);
      for (size_t d : llvm::reverse(outer)) {
        Value n = space.value(space.sizes[d]), at = d == outer.front() ? rest : c.rem(rest, n);
        source = c.at(source, c.mul(at, step(from, d)));
        target = c.at(target, c.mul(at, step(to, d)));
        rest = d == outer.front() ? rest : c.div(rest, n);
      }
      if (turns)
        weave(*turns, i);
      else if (parts)
        unweave(*parts, j);
      else
        squares(most, i, j);
    });
  }
};
}  // namespace

bool emitPermute(KernelCode &c, Space &space) {
  Operation &op = c.kernel.getBody().front().front();
  if (onnx::opName(&op) != "Transpose" || op.getResult(0) != c.kernel.getReturn()->getOperand(0))
    return false;
  ArrayRef<AffineExpr> strides = space.accesses[0].strides;
  size_t last = strides.size() - 1;
  int64_t unit = 1;
  if (auto size = dyn_cast<AffineConstantExpr>(space.sizes[last]); size && strides[last] == 1 && last > 1) {
    int64_t bytes = size.getValue() * storageBytes(space.accesses[0].element);
    if (bytes <= 8 && llvm::isPowerOf2_64(bytes))
      unit = size.getValue(), --last;
  }
  ArrayRef<AffineExpr> outer = strides.take_front(last);
  auto first = llvm::find_if(outer, [&](AffineExpr stride) { return stride == unit; });
  if (strides[last] == unit || first == outer.end())
    return false;
  Permutation(c, space, first - outer.begin(), last, unit).emit();
  return true;
}

}  // namespace onnxc
