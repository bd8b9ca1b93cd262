// RowWalk.cpp: the loops over a row, and the accumulators that they carry.
#include "codegen/cpu/RowWalk.h"
#include "codegen/cpu/VectorMath.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

AffineExpr RowWalk::layOut() {
  size_t n = space.sizes.size();
  while (firstRow < n && space.segments[firstRow] < 1)
    ++firstRow;
  endRow = firstRow;
  while (endRow < n && space.segments[endRow] == 1)
    ++endRow;
  across = endRow < n;
  masks = !across && space.masksWell(c.vectorBits);
  AffineExpr all = getAffineConstantExpr(1, c.b.getContext());
  for (size_t d = firstRow; d < endRow; ++d)
    all = all * space.sizes[d];
  length = space.value(all);
  auto fixed = dyn_cast<AffineConstantExpr>(all);
  wide = !fixed || fixed.getValue() > (across ? 256 : 8192);
  return all;
}

// Whether there was NaN is a mask where vectors have 512 bits, whose masks are registers of their own, and of one element; in others it is
// NaN itself, or else 0.
Type RowWalk::accumulator(Join join, int64_t n) {
  bool mask = join == Join::Nan && (n == 1 || c.vectorBits >= 512);
  return floats(mask ? Type(c.i1) : wide && join == Join::Sum ? Type(c.b.getF64Type()) : number, n);
}

Value RowWalk::start(Join join, Type t) {
  if (join == Join::Nan)
    return isa<FloatType>(getElementTypeOrSelf(t)) ? c.real(0, t) : c.integer(0, t);
  return c.real(join == Join::Sum ? 0 : join == Join::Prod ? 1 : join == Join::Min ? INFINITY : -INFINITY, t);
}

static bool isMask(Value v) { return getElementTypeOrSelf(v.getType()).isInteger(1); }

Value RowWalk::combine(Join join, Value acc, Value v) {
  Num a{&c, acc}, n{&c, v};
  if (join == Join::Nan && (isMask(acc) || isMask(v)))
    return arith::OrIOp::create(c.b, c.loc, isMask(acc) ? acc : isNan(a), isMask(v) ? v : isNan(n));
  if (join == Join::Nan)
    return eitherNan(a, n).v;
  if (getElementTypeOrSelf(acc.getType()).isF64() && !getElementTypeOrSelf(v.getType()).isF64())
    n.v = arith::ExtFOp::create(c.b, c.loc, acc.getType(), v);
  if (join == Join::Sum)
    return (a + n).v;
  if (join == Join::Prod)
    return (a * n).v;
  if (join == Join::Most && hasExtremes(a))
    return LLVM::MaxNumOp::create(c.b, c.loc, n.v, acc);
  if (join == Join::Most)
    return maxSecond(n, a).v;
  if (hasExtremes(a))
    return (join == Join::Max ? larger(a, n) : smaller(a, n)).v;
  return (join == Join::Max ? maxSecond(a, n) : minSecond(a, n)).v;  // of numbers: Join::Nan tells whether they are
}

// The lanes of a vector as one, halves first.
Value RowWalk::joinLanes(Join join, Value v) {
  auto type = cast<VectorType>(v.getType());
  for (int64_t n = type.getDimSize(0) / 2; n >= 1; n /= 2) {
    SmallVector<int32_t> low(n), high(n);
    for (int64_t i = 0; i < n; ++i)
      low[i] = i, high[i] = n + i;
    Value l = LLVM::ShuffleVectorOp::create(c.b, c.loc, v, v, low), h = LLVM::ShuffleVectorOp::create(c.b, c.loc, v, v, high);
    v = combine(join, l, h);
  }
  return vector::ExtractOp::create(c.b, c.loc, v, ArrayRef<int64_t>{0});
}

// A NaN among the numbers is their greatest and their least.
RowWalk::Values RowWalk::overRow(ArrayRef<Join> joins, Body body, bool cheap) {
  bool extreme = joins.size() == 1 && (joins[0] == Join::Max || joins[0] == Join::Min);
  if (!extreme || c.extremesGiveNan)
    return walk(joins, body, cheap);
  auto twice = [&](At p) { return Values(2, body(p)[0]); };
  Values both = walk({joins[0], Join::Nan}, twice, cheap);
  Num best{&c, both[0]}, nan{&c, both[1]};
  return {select(isMask(nan.v) ? nan.v : isNan(nan), best.of(NAN), best).v};
}

RowWalk::Values RowWalk::walk(ArrayRef<Join> joins, Body body, bool cheap) {
  // Vectors joined side by side where a step is little work: one chain of additions or comparisons waits for each. Sums of doubles hold
  // several registers as they are.
  bool doubles = number.isF64() || (wide && llvm::is_contained(joins, Join::Sum));
  int64_t ways = !cheap || (across && !few) ? 1 : c.vectorRegisters >= 32 ? 4 : doubles ? 1 : 2;
  int64_t vectorLanes = across ? 1 : width, tailLanes = across ? width : 1;
  Values accs;
  for (int64_t n : {vectorLanes, tailLanes})
    for (Join j : joins)
      accs.push_back(start(j, accumulator(j, n)));
  accs = nest(firstRow, joins, accs, body, ways);
  Values result;
  for (auto [i, j] : llvm::enumerate(joins)) {
    Value v = accs[joins.size() + i];
    if (!across && width > 1)
      v = masks ? joinLanes(j, accs[i]) : combine(j, joinLanes(j, accs[i]), v);
    if (number.isF32() && getElementTypeOrSelf(v.getType()).isF64())
      v = arith::TruncFOp::create(c.b, c.loc, floats(number, across ? width : 1), v);
    result.push_back(v);
  }
  return result;
}

RowWalk::Values RowWalk::nest(size_t d, ArrayRef<Join> joins, ValueRange accs, Body body, int64_t ways) {
  bool last = d + 1 == endRow, inner = !across && last;
  if (across && last && ways > 1 && !joins.empty())
    return rowsSideBySide(joins, accs, body, ways);
  if (d < endRow && !inner)
    return c.loop(c.n(0), sizeOf(d), c.n(1), accs, [&](Value i, ValueRange now) {
      indices[d] = i;
      return nest(d + 1, joins, now, body, ways);
    });
  space.beginRow(ValueRange(indices).drop_back());
  if (inner)
    return innermost(joins, accs, body, ways);
  size_t n = joins.size();
  Values result(accs.begin(), accs.end());
  llvm::copy(step(joins, accs.drop_front(n), body, {indices.back(), width, {}}), result.begin() + n);
  return result;
}

RowWalk::Values RowWalk::rowsSideBySide(ArrayRef<Join> joins, ValueRange accs, Body body, int64_t ways) {
  auto row = [&](Value i, ValueRange now) {
    indices[endRow - 1] = i;
    space.beginRow(ValueRange(indices).drop_back());
    return step(joins, now, body, {indices.back(), width, {}});
  };
  Value size = sizeOf(endRow - 1), end = c.sub(size, c.rem(size, ways));
  Values result(accs.take_front(joins.size()));
  Values rows = sideBySide(joins, accs.drop_front(joins.size()), end, 1, ways, row);
  llvm::append_range(result, c.loop(end, size, c.n(1), rows, row));
  return result;
}

RowWalk::Values RowWalk::step(ArrayRef<Join> joins, ValueRange accs, Body body, At at) {
  space.newPoint();
  Values given = body(at), next;
  for (auto [j, acc, v] : llvm::zip(joins, accs, given)) {
    Value kept = at.mask ? Value(arith::SelectOp::create(c.b, c.loc, at.mask, v, start(j, v.getType()))) : v;
    next.push_back(combine(j, acc, kept));
  }
  return next;
}

// Whole vectors, then what is left over: under a mask, or in halves of a vector where a point is dear, then element by element.
RowWalk::Values RowWalk::innermost(ArrayRef<Join> joins, ValueRange accs, Body body, int64_t ways) {
  size_t n = joins.size();
  Values vectors(accs.take_front(n)), rest(accs.drop_front(n));
  Value size = sizeOf(endRow - 1), from = c.n(0);
  if (width > 1) {
    Value begin = from;
    from = c.sub(size, c.rem(size, width));
    auto whole = [&](Value i, ValueRange now) { return step(joins, now, body, {i, width, {}}); };
    if (n > 0 && ways > 1)
      vectors = sideBySide(joins, vectors, begin = c.sub(size, c.rem(size, width * ways)), width, ways, whole);
    vectors = c.loop(begin, from, c.n(width), vectors, whole);
  }
  if (auto left = c.constant(from), all = c.constant(size); !left || !all || *left != *all) {
    if (width > 1 && masks) {
      vectors = step(joins, vectors, body, {from, width, c.lanesBelow(c.sub(size, from), width)});
    } else {
      if (width > 1 && isDear(c.kernel))
        std::tie(vectors, from) = halves(joins, vectors, body, from, size);
      rest = c.loop(from, size, c.n(1), rest, [&](Value i, ValueRange now) { return step(joins, now, body, {i, 1, {}}); });
    }
  }
  llvm::append_range(vectors, rest);
  return vectors;
}

std::pair<RowWalk::Values, Value> RowWalk::halves(ArrayRef<Join> joins, ValueRange accs, Body body, Value from, Value size) {
  Values now(accs.begin(), accs.end());
  now.push_back(from);
  for (int64_t lanes = width / 2; lanes >= kLeastLanes; lanes /= 2) {
    auto none = [&] { return now; };
    auto one = [&] {
      space.newPoint();
      Values next = body({now.back(), lanes, {}});
      for (auto [i, j] : llvm::enumerate(joins))
        next[i] = combine(j, now[i], padded(j, next[i], width));
      next.push_back(c.add(now.back(), lanes));
      return next;
    };
    now = c.choose(c.less(c.sub(size, now.back()), c.n(lanes)), none, one);
  }
  Value end = now.pop_back_val();
  return {now, end};
}

Value RowWalk::padded(Join join, Value v, int64_t lanes) {
  for (int64_t n = cast<VectorType>(v.getType()).getDimSize(0); n < lanes; n *= 2) {
    auto both = llvm::to_vector(llvm::seq<int32_t>(0, 2 * n));
    v = LLVM::ShuffleVectorOp::create(c.b, c.loc, v, start(join, v.getType()), both);
  }
  return v;
}

RowWalk::Values RowWalk::sideBySide(ArrayRef<Join> joins, ValueRange accs, Value end, int64_t each, int64_t ways, Step step) {
  size_t n = joins.size();
  Values all(accs.begin(), accs.end());
  for (size_t k = n; k < n * ways; ++k)
    all.push_back(start(joins[k % n], accs[k % n].getType()));
  all = c.loop(c.n(0), end, c.n(each * ways), all, [&](Value i, ValueRange now) {
    Values next;
    for (int64_t w = 0; w < ways; ++w)
      llvm::append_range(next, step(c.add(i, w * each), now.slice(w * n, n)));
    return next;
  });
  for (int64_t half = ways / 2; half >= 1; half /= 2)
    for (size_t k = 0; k < half * n; ++k)
      all[k] = combine(joins[k % n], all[k], all[half * n + k]);
  all.resize(n);
  return all;
}

}  // namespace onnxc
