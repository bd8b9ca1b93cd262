// RowLoops.cpp: kernels of family "loops" around one op of rows: reductions, softmax and normalisations, with the elementwise ops before
// and after them. A row is read two or three times while it is in the nearest cache.
//
// along      lanes run along the row and are joined at its end
// across     the row is not the innermost dim: each lane is a row of its own
// Sums are taken in lanes in a fixed order, in doubles where a lane adds many elements.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/Pointwise.h"
#include "codegen/cpu/Space.h"
#include "codegen/cpu/VectorMath.h"
#include "dialects/kernel/Families.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

enum class Join { Sum, Prod, Max, Min, Most };  // Most: the largest of what is not NaN

struct RowKernel {
  KernelCode &c;
  Operation *op;
  RowAxes axes;
  Space space;
  Value x, y;                  // the row op's operand, and its result
  DimMap whole, outer;         // maps of the operand and of a value for each row
  SmallVector<Value> addends;  // whose sum is normalised
  Value scale, shift, added;   // a normalisation's parameters, and its result that is the sum
  Value last;                  // the kernel's first result
  int64_t lanes;
  bool across = false, stash = false, aside = false, masks = false;
  size_t firstRow = 0, endRow = 0;  // merged dims of the row
  Value length;                     // of a row
  bool wide = false;

  // Now: of the unit that is written.
  SmallVector<Value> indices;  // of all merged dims
  int64_t width = 1;           // lanes of a vector
  int64_t ways = 1;            // vectors of a row that are joined side by side

  RowKernel(KernelCode &c, Operation *op)
      : c(c), op(op), axes(*rowAxes(op)), space(c, kernel::localDims(cast<RankedTensorType>(op->getOperand(0).getType()))),
        x(op->getOperand(0)), y(op->getResult(0)), lanes(std::clamp<int64_t>(c.vectorBits / 16, 8, 16)) {}

  // An index of the last dim, and how many elements from there; those that the mask has, where it is not null.
  struct At {
    Value index;
    int64_t lanes;
    Value mask;
  };
  using Body = llvm::function_ref<SmallVector<Value>(At)>;

  Type floats(Type element, int64_t n) { return n > 1 ? Type(VectorType::get({n}, element)) : element; }
  Value start(Join join, Type t) {
    return c.real(join == Join::Sum ? 0 : join == Join::Prod ? 1 : join == Join::Min ? INFINITY : -INFINITY, t);
  }
  Value combine(Join join, Value acc, Value v) {
    Num a{&c, acc}, n{&c, v};
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
    Num best = join == Join::Max ? maxSecond(a, n) : minSecond(a, n);  // NaN in `n` is taken
    return select(isNan(a), a, best).v;
  }
  // The lanes of a vector as one, halves first.
  Value joinLanes(Join join, Value v) {
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

  Value sizeOf(size_t d) { return space.value(space.sizes[d]); }

  // Vectors joined side by side where a step is little work: one chain of additions or comparisons waits for each. Sums of doubles hold
  // several registers as they are.
  int64_t chains(bool cheap) { return !cheap || across ? 1 : c.vectorRegisters >= 32 ? 4 : wide ? 1 : 2; }

  // Runs `body` at every point of the row, and joins what it gives. `cheap`: a step takes few instructions.
  SmallVector<Value> overRow(ArrayRef<Join> joins, Body body, bool cheap = false) {
    ways = chains(cheap);
    int64_t vectorLanes = across ? 1 : width, tailLanes = across ? width : 1;
    SmallVector<Value> accs;
    for (int64_t n : {vectorLanes, tailLanes})
      for (Join j : joins)
        accs.push_back(start(j, floats(wide && j == Join::Sum ? Type(c.b.getF64Type()) : Type(c.f32), n)));
    accs = nest(firstRow, joins, accs, body);
    SmallVector<Value> result;
    for (auto [i, j] : llvm::enumerate(joins)) {
      Value v = accs[joins.size() + i];
      if (!across && width > 1)
        v = masks ? joinLanes(j, accs[i]) : combine(j, joinLanes(j, accs[i]), v);
      if (getElementTypeOrSelf(v.getType()).isF64())
        v = arith::TruncFOp::create(c.b, c.loc, floats(c.f32, across ? width : 1), v);
      result.push_back(v);
    }
    return result;
  }

  // The accumulators of the vectors, then those of what is left over where no mask covers it (of the lanes themselves, across).
  SmallVector<Value> nest(size_t d, ArrayRef<Join> joins, ValueRange accs, Body body) {
    bool inner = !across && d + 1 == endRow;
    if (d < endRow && !inner)
      return c.loop(c.n(0), sizeOf(d), c.n(1), accs, [&](Value i, ValueRange now) {
        indices[d] = i;
        return nest(d + 1, joins, now, body);
      });
    space.beginRow(ValueRange(indices).drop_back());
    size_t n = joins.size();
    auto step = [&](At at, ValueRange now) {
      space.newPoint();
      SmallVector<Value> given = body(at), next;
      for (auto [j, acc, v] : llvm::zip(joins, now, given)) {
        Value kept = at.mask ? Value(arith::SelectOp::create(c.b, c.loc, at.mask, v, start(j, v.getType()))) : v;
        next.push_back(combine(j, acc, kept));
      }
      return next;
    };
    SmallVector<Value> result(accs.begin(), accs.end());
    if (across) {
      SmallVector<Value> next = step({indices.back(), width, {}}, accs.drop_front(n));
      llvm::copy(next, result.begin() + n);
      return result;
    }
    Value size = sizeOf(d), from = c.n(0);
    if (width > 1) {
      Value begin = from;
      from = c.sub(size, c.rem(size, width));
      SmallVector<Value> next(result.begin(), result.begin() + n);
      auto whole = [&](Value i, ValueRange now) { return step({i, width, {}}, now); };
      if (n > 0 && ways > 1)
        next = sideBySide(joins, next, begin = c.sub(size, c.rem(size, width * ways)), whole);
      next = c.loop(begin, from, c.n(width), next, whole);
      llvm::copy(next, result.begin());
    }
    if (auto left = c.constant(from), all = c.constant(size); left && all && *left == *all)
      return result;
    if (width > 1 && masks) {
      Value mask = c.lanesBelow(c.sub(size, from), width);
      SmallVector<Value> next = step({from, width, mask}, ValueRange(result).take_front(n));
      llvm::copy(next, result.begin());
      return result;
    }
    SmallVector<Value> next =
        c.loop(from, size, c.n(1), accs.drop_front(n), [&](Value i, ValueRange now) { return step({i, 1, {}}, now); });
    llvm::copy(next, result.begin() + n);
    return result;
  }

  // Points [0, end) of the row, `ways` vectors of each step in accumulators of their own.
  SmallVector<Value> sideBySide(ArrayRef<Join> joins, ValueRange accs, Value end,
                                llvm::function_ref<SmallVector<Value>(Value, ValueRange)> step) {
    size_t n = joins.size();
    SmallVector<Value> all(accs.begin(), accs.end());
    for (size_t k = n; k < n * ways; ++k)
      all.push_back(start(joins[k % n], accs[k % n].getType()));
    all = c.loop(c.n(0), end, c.n(width * ways), all, [&](Value i, ValueRange now) {
      SmallVector<Value> next;
      for (int64_t w = 0; w < ways; ++w)
        llvm::append_range(next, step(c.add(i, w * width), now.slice(w * n, n)));
      return next;
    });
    for (int64_t half = ways / 2; half >= 1; half /= 2)
      for (size_t k = 0; k < half * n; ++k)
        all[k] = combine(joins[k % n], all[k], all[half * n + k]);
    all.resize(n);
    return all;
  }

  // A value of the row at a point of it.
  Num at(Value v, At p) { return {&c, p.lanes > 1 && !isa<VectorType>(v.getType()) ? c.splat(v, p.lanes) : v}; }
  Num parameter(Value v, At p) { return {&c, space.eval(v, mapOf(v), p.index, p.lanes, p.mask)}; }
  DimMap mapOf(Value v) { return v == x ? whole : Space::operandMap(op, llvm::find(op->getOperands(), v) - op->operand_begin(), whole); }
  bool isComputed() { return addends.size() > 1 || !isa<BlockArgument>(x); }
  // The operand, or the sum of those that com.microsoft's forms add first.
  Num sumOf(At p) {
    Num v;
    for (Value a : addends) {
      Num next = parameter(a, p);
      v = v.c ? v + next : next;
    }
    return v;
  }
  Num element(At p) {
    if (!stashed)
      return sumOf(p);
    return {&c, aside ? c.load(floats(c.f32, p.lanes), scratchAt(p)) : space.reload(last, whole, p.index, p.lanes, p.mask)};
  }
  bool stashed = false;
  void keep(Num v, At p) { aside ? c.store(v.v, scratchAt(p)) : space.store(last, whole, v.v, p.index, p.lanes, p.mask); }
  // Across, elements of a row are likely to share a few sets of the caches: those that are kept lie side by side, where the row is not
  // long.
  Value scratchAt(At p) {
    Value row = c.n(0);
    for (size_t d = firstRow; d < endRow; ++d)
      row = c.add(c.mul(row, sizeOf(d)), indices[d]);
    return c.at(c.scratch, c.mul(row, p.lanes * sizeof(float)));
  }
  bool keepsFirst() { return stash && (aside || isComputed()); }
  // What the first pass reads: later ones find it in scratch, or in the buffer of the kernel's result, which is written last.
  Num firstElement(At p) {
    Num v = element(p);
    if (added)
      space.store(added, whole, v.v, p.index, p.lanes, p.mask);
    if (keepsFirst())
      keep(v, p);
    return v;
  }
  void endOfFirst() { stashed = keepsFirst(); }

  Value sum(llvm::function_ref<Num(At)> f, Join join = Join::Sum, bool cheap = false) {
    return overRow(join, [&](At p) { return SmallVector<Value>{f(p).v}; }, cheap)[0];
  }
  bool isCheap() {
    return llvm::none_of(c.kernel.getBody().front(), [](Operation &o) { return isTranscendental(&o); });
  }
  // Across: several registers, a chain of additions each.
  int64_t mostLanes() { return (!(axes.reduces ? isCheap() : aside) ? 1 : c.vectorRegisters >= 32 ? 4 : 2) * lanes; }
  Num perRow(Value v) { return {&c, v}; }
  Value count() {
    Value n = arith::SIToFPOp::create(c.b, c.loc, c.f32, length);
    return across && width > 1 ? c.splat(n, width) : n;
  }
  void finishRow(llvm::function_ref<Num(At)> f) {
    overRow({}, [&](At p) {
      space.setValue(y, whole, f(p).v, p.lanes);
      space.store(last, whole, space.eval(last, whole, p.index, p.lanes, p.mask), p.index, p.lanes, p.mask);
      return SmallVector<Value>();
    });
  }
  // A result for each row.
  void finishValue(Value result, Value v) {
    for (size_t d = firstRow; d < endRow; ++d)
      indices[d] = c.n(0);
    space.beginRow(ValueRange(indices).drop_back());
    int64_t n = across ? width : 1;
    space.setValue(result, outer, v, n);
    Value computed = result == y ? space.eval(last, outer, indices.back(), n) : v;
    space.store(result == y ? last : result, outer, computed, indices.back(), n);
  }

  void softmax(bool log) {
    Value most = sum([&](At p) { return firstElement(p); }, Join::Most, !isComputed());
    endOfFirst();
    bool keepsPowers = stash && !log;
    Value total = sum([&](At p) {
      Num e = exp(element(p) - at(most, p));
      if (keepsPowers)
        keep(e, p);
      return e;
    });
    stashed |= keepsPowers;
    Value factor = log ? onnxc::log(perRow(total)).v : (1.0 / perRow(total)).v;
    finishRow([&](At p) {
      if (log)
        return element(p) - at(most, p) - at(factor, p);
      return (keepsPowers ? element(p) : exp(element(p) - at(most, p))) * at(factor, p);
    });
    stashed = false;
  }

  void normalise(bool centered) {
    Num n{&c, count()};
    Value mean;
    if (centered) {
      mean = (perRow(sum([&](At p) { return firstElement(p); }, Join::Sum, !isComputed())) / n).v;
      endOfFirst();
    }
    auto square = [&](At p) {
      Num v = centered ? element(p) - at(mean, p) : firstElement(p);
      return v * v;
    };
    Value squares = sum(square, Join::Sum, centered || !isComputed());
    endOfFirst();
    Num power = perRow(squares) / n + onnx::floatAttr(op, "epsilon");
    Value factor = (1.0 / sqrt(power)).v;
    finishRow([&](At p) {
      Num v = (centered ? element(p) - at(mean, p) : element(p)) * at(factor, p);
      return shift ? fma(v, parameter(scale, p), parameter(shift, p)) : v * parameter(scale, p);
    });
    stashed = false;
    for (Value r : op->getResults().drop_front())
      if (onnx::opName(op).ends_with("LayerNormalization") && r != added)
        finishValue(r, r == onnx::result(op, 1) ? mean : factor);
  }

  // Relative to the largest, which stands for the result where it is infinite.
  void logSumExp() {
    Value most = sum([&](At p) { return element(p); }, Join::Max);
    Value total = sum([&](At p) { return exp(element(p) - at(most, p)); });
    Num m = perRow(most), finite = m + onnxc::log(perRow(total));
    finishValue(y, select(less(abs(m), m.of(INFINITY)), finite, m).v);
  }

  void reduce() {
    StringRef name = onnx::opName(op);
    if (name == "ReduceLogSumExp")
      return logSumExp();
    Join join = name == "ReduceMax" || name == "GlobalMaxPool" ? Join::Max
                : name == "ReduceMin"                          ? Join::Min
                : name == "ReduceProd"                         ? Join::Prod
                                                               : Join::Sum;
    bool square = name == "ReduceSumSquare" || name == "ReduceL2", absolute = name == "ReduceL1";
    Value v = sum(
        [&](At p) {
          Num e = element(p);
          return square ? e * e : absolute ? abs(e) : e;
        },
        join, isCheap());
    Num r = perRow(v);
    if (name == "ReduceMean" || name == "GlobalAveragePool")
      r = r / Num{&c, count()};
    if (name == "ReduceL2")
      r = sqrt(r);
    if (name == "ReduceLogSum")
      r = log(r);
    finishValue(y, r.v);
  }

  void unit(int64_t n) {
    width = n;
    StringRef name = onnx::opName(op);
    if (axes.reduces)
      return reduce();
    if (name == "Softmax" || name == "LogSoftmax")
      return softmax(name == "LogSoftmax");
    normalise(!name.contains("RMS") && !name.contains("Simplified"));
  }

  void parameters() {
    StringRef name = onnx::opName(op);
    addends = {x};
    if (name.starts_with("ms.Skip")) {
      bool simplified = name.contains("Simplified");
      addends.push_back(op->getOperand(1));
      scale = onnx::operand(op, 2), shift = simplified ? Value() : onnx::operand(op, 3);
      if (Value bias = onnx::operand(op, simplified ? 3 : 4))
        addends.push_back(bias);
      added = onnx::result(op, 3);
    } else if (name.ends_with("Normalization")) {
      scale = onnx::operand(op, 1), shift = onnx::operand(op, 2);
    }
  }

  void registerAll() {
    last = c.kernel.getReturn()->getOperand(0);
    whole = space.identity();
    int64_t rank = whole.size();
    bool keep = onnx::opName(op).starts_with("Global") || !axes.reduces || onnx::intAttr(op, "keepdims", 1);
    for (int64_t d = 0; d < rank; ++d)
      if (bool inside = d >= axes.begin && d < axes.end; !inside || keep)
        outer.push_back(inside ? -1 : d);
    parameters();
    space.row = op;
    for (Value v : addends)
      space.addInputs(v, mapOf(v));
    for (Value v : {scale, shift})
      if (v)
        space.addInputs(v, mapOf(v));
    space.addInputs(last, axes.reduces ? outer : whole);
    space.addResult(last, axes.reduces ? outer : whole);
    for (Value r : c.kernel.getReturn()->getOperands().drop_front())
      space.addResult(r, r == added ? whole : outer);
    stash = !axes.reduces && onnx::elementType(last).isF32();
    space.merge({axes.begin, axes.end});
  }

  void layOut() {
    size_t n = space.sizes.size();
    while (firstRow < n && space.segments[firstRow] < 1)
      ++firstRow;
    endRow = firstRow;
    while (endRow < n && space.segments[endRow] == 1)
      ++endRow;
    across = endRow < n;
    AffineExpr all = getAffineConstantExpr(1, c.b.getContext());
    for (size_t d = firstRow; d < endRow; ++d)
      all = all * space.sizes[d];
    length = space.value(all);
    auto fixed = dyn_cast<AffineConstantExpr>(all);
    wide = !fixed || fixed.getValue() > (across ? 256 : 8192);
    constexpr int64_t mostAside = 2048;  // elements of a row, times mostLanes(): half of a second-level cache
    if (across && !axes.reduces && fixed && fixed.getValue() <= mostAside) {
      stash = aside = true;
      setScratch(c.kernel, all * (mostLanes() * sizeof(float)));
    }
  }

  void emit() {
    registerAll();
    layOut();
    bool vector = space.canVectorise();
    masks = !across && space.masksWell(c.vectorBits);
    int64_t step = across ? 64 : 1;  // columns in a unit
    AffineExpr extent = getAffineConstantExpr(1, c.b.getContext());
    SmallVector<size_t> outerDims;
    for (size_t d = 0; d < space.sizes.size(); ++d)
      if ((d < firstRow || d >= endRow) && !(across && d + 1 == space.sizes.size()))
        outerDims.push_back(d), extent = extent * space.sizes[d];
    if (across)
      extent = extent * space.sizes.back().ceilDiv(step);
    auto fixed = c.constant(length);
    setExtent(c.kernel, extent, 65536 / (pointCost(c.kernel) * 2 * (fixed ? std::max<int64_t>(*fixed, 1) : 128) * step));
    Value blocks = across ? c.ceilDiv(sizeOf(space.sizes.size() - 1), step) : c.n(1);
    SmallVector<Value> sizes;
    for (size_t d : outerDims)
      sizes.push_back(sizeOf(d));
    c.loop(c.begin, c.end, c.n(1), [&](Value u) {
      Value row = c.div(u, blocks), block = c.sub(u, c.mul(row, blocks));
      indices.assign(space.sizes.size(), c.n(0));
      for (size_t k = outerDims.size(); k-- > 0;) {
        indices[outerDims[k]] = k ? c.rem(row, sizes[k]) : row;
        row = k ? c.div(row, sizes[k]) : row;
      }
      auto either = [&](llvm::function_ref<void(int64_t)> write) {
        if (!vector)
          return write(1);
        c.when(space.vectorCondition(), [&] { write(lanes); }, [&] { write(1); });
      };
      either([&](int64_t n) { across ? columns(c.mul(block, step), step, n) : unit(n); });
    });
  }

  void columns(Value from, int64_t step, int64_t n) {
    Value to = c.min(c.add(from, step), sizeOf(space.sizes.size() - 1));
    auto each = [&](Value begin, Value end, int64_t by) {
      c.loop(begin, end, c.n(by), [&](Value i) {
        SmallVector<Value> saved = indices;
        indices.back() = i;
        unit(by);
        indices = saved;
      });
    };
    int64_t most = n > 1 ? mostLanes() : 1;
    SmallVector<int64_t> widths = {most, n, 1};
    widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
    for (int64_t by : widths) {
      Value end = by > 1 ? c.sub(to, c.rem(c.sub(to, from), by)) : to;
      each(from, end, by);
      from = end;
    }
  }
};
}  // namespace

LogicalResult emitRows(ModuleOp target, kernel::FuncOp kernel, Operation *row, const Isa &isa) {
  KernelCode c(target, kernel, isa);
  RowKernel(c, row).emit();
  c.finish();
  return success();
}

}  // namespace onnxc
