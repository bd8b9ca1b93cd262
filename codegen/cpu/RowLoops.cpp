// RowLoops.cpp: kernels of family "loops" around one op of rows: reductions, softmax and normalisations, with the elementwise ops before
// and after them. A row is read two or three times while it is in the nearest cache.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Loops.h"
#include "codegen/cpu/RowWalk.h"
#include "codegen/cpu/VectorMath.h"
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

struct RowKernel : RowWalk {
  Operation *op;
  RowAxes axes;
  Value x, y;                         // the row op's operand, and its result
  DimMap whole, outer;                // maps of the operand and of a value for each row
  SmallVector<Value> addends;         // whose sum is normalised
  Value scale, shift, added;          // a normalisation's parameters, and its result that is the sum
  Value last;                         // the kernel's first result
  bool stash = false, aside = false;  // what the first pass computed is kept: where the result goes, or in scratch
  bool stashed = false;               // and it has been

  RowKernel(KernelCode &c, Operation *op)
      : RowWalk(c, onnx::elementType(op->getOperand(0)), kernel::localDims(cast<RankedTensorType>(op->getOperand(0).getType()))), op(op),
        axes(*rowAxes(op)), x(op->getOperand(0)), y(op->getResult(0)) {}

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
    if (!aside)
      return {&c, space.reload(last, whole, p.index, p.lanes, p.mask)};
    Type type = floats(number, p.lanes);
    return {&c, p.mask ? c.loadMasked(cast<VectorType>(type), scratchAt(p), p.mask) : c.load(type, scratchAt(p))};
  }
  void keep(Num v, At p) {
    if (!aside)
      return space.store(last, whole, v.v, p.index, p.lanes, p.mask);
    p.mask ? c.storeMasked(v.v, scratchAt(p), p.mask) : c.store(v.v, scratchAt(p));
  }
  // Across, elements of a row are likely to share a few sets of the caches: those that are kept lie side by side, where the row is not
  // long.
  Value scratchAt(At p) {
    Value row = c.n(0);
    for (size_t d = firstRow; d < endRow; ++d)
      row = c.add(c.mul(row, sizeOf(d)), !across && d + 1 == endRow ? p.index : indices[d]);
    return c.at(c.scratch, c.mul(row, (across ? p.lanes : 1) * numberBytes()));
  }
  int64_t numberBytes() { return storageBytes(number); }
  bool keepsFirst() { return stash && ((across && aside) || isComputed()); }
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
    Value n = arith::SIToFPOp::create(c.b, c.loc, number, length);
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

  // A Softmax gives 0 for what would be subnormal, as masks of -100 make it.
  void softmax(bool log) {
    Value most = sum([&](At p) { return firstElement(p); }, Join::Most, !isComputed());
    endOfFirst();
    bool keepsPowers = stash && !log;
    Value total = sum([&](At p) {
      Num e = expOrZero(element(p) - at(most, p));
      if (keepsPowers)
        keep(e, p);
      return e;
    });
    stashed |= keepsPowers;
    Value factor = log ? onnxc::log(perRow(total)).v : (1.0 / perRow(total)).v;
    finishRow([&](At p) {
      if (log)
        return element(p) - at(most, p) - at(factor, p);
      Num v = (keepsPowers ? element(p) : expOrZero(element(p) - at(most, p))) * at(factor, p);
      return select(less(v, v.of(number.isF64() ? 0x1p-1022 : 0x1p-126)), v.of(0), v);
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
    stash = !axes.reduces && onnx::elementType(last) == number;
    space.merge({axes.begin, axes.end});
  }

  // Along, a row whose results are narrower than its numbers, so that these find no room there.
  void keepRowsAside(AffineExpr length) {
    auto fixed = dyn_cast<AffineConstantExpr>(length);
    // Elements of a row, across times mostLanes(): half of a second-level cache.
    constexpr int64_t mostAcross = 2048, mostAlong = 1 << 16;
    bool computes = isComputed() || onnx::opName(op) == "Softmax";
    bool keepsAcross = across && fixed && fixed.getValue() <= mostAcross;
    bool keepsAlong = !across && !stash && computes && (!fixed || fixed.getValue() <= mostAlong);
    if (axes.reduces || !(keepsAcross || keepsAlong))
      return;
    stash = aside = true;
    setScratch(c.kernel, length * ((across ? mostLanes() : 1) * numberBytes()));
  }

  void emit() {
    registerAll();
    keepRowsAside(layOut());
    constexpr int64_t step = 64;  // columns in a unit, across
    SmallVector<size_t> outerDims;
    AffineExpr extent = getAffineConstantExpr(1, c.b.getContext());
    for (size_t d = 0; d < space.sizes.size(); ++d)
      if ((d < firstRow || d >= endRow) && !(across && d + 1 == space.sizes.size()))
        outerDims.push_back(d), extent = extent * space.sizes[d];
    if (across)
      extent = extent * space.sizes.back().ceilDiv(step);
    auto fixed = c.constant(length);
    int64_t points = (fixed ? std::max<int64_t>(*fixed, 1) : 128) * (across ? step : 1);
    setExtent(c.kernel, extent, 65536 / (pointCost(c.kernel) * 2 * points));
    units(outerDims, across ? step : 0);
  }

  // The units of the kernel's range: a row each, or `step` columns of all rows.
  void units(ArrayRef<size_t> outerDims, int64_t step) {
    bool vector = space.canVectorise();
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
      auto write = [&](int64_t n) { across ? columns(c.mul(block, step), step, n) : unit(n); };
      if (vector)
        c.when(space.vectorCondition(), [&] { write(lanes); }, [&] { write(1); });
      else
        write(1);
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
      few = by < most;
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
