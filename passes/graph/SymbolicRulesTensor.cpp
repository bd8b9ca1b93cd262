// SymbolicRulesTensor.cpp: constants, shapes and views: ops that make, read or rearrange shape values.
#include "passes/graph/SymbolicRules.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

static LogicalResult constant(ShapeOp &o) {
  auto value = o.op->getAttrOfType<ElementsAttr>("value");
  Dims dims;
  for (int64_t d : value.getShapedType().getShape())
    dims.push_back(o.c(d));
  if (failed(o.set(0, dims)))
    return failure();
  if (auto integers = onnx::integerElements(value)) {
    Dims elements;
    for (int64_t e : *integers)
      elements.push_back(o.c(e));
    o.setElements(0, elements);
  }
  Type type = value.getElementType();
  auto dense = llvm::dyn_cast<DenseElementsAttr>(value);
  if (!dense || dense.getNumElements() > 64 || !(type.isF32() || type.isF64()))
    return success();
  SmallVector<RealValue> reals;
  for (const APFloat &e : dense.getValues<APFloat>())
    reals.push_back({{}, 1, e.convertToDouble()});
  o.s.setReals(o.out(0), reals);
  return success();
}

static LogicalResult constantOfShape(ShapeOp &o) {
  auto dims = o.elements(0);
  if (!dims)
    return o.setFromType(0);
  if (failed(o.set(0, *dims)))
    return failure();
  auto n = o.s.count(o.out(0));
  auto value = o.op->getAttrOfType<ElementsAttr>("value");
  auto splat = onnx::integerElements(value);
  if (n && *n <= 1024 && splat)
    o.setElements(0, Dims(*n, o.c(splat->front())));
  return success();
}

static LogicalResult shape(ShapeOp &o) {
  int64_t rank = o.rank(0);
  int64_t start = o.intAttr("start"), end = o.intAttr("end", rank);
  start = std::clamp<int64_t>(onnx::fromFront(start, rank), 0, rank);
  end = std::clamp<int64_t>(onnx::fromFront(end, rank), start, rank);
  if (failed(o.set(0, {o.c(end - start)})))
    return failure();
  o.setElements(0, o.dims(0).slice(start, end - start));
  return success();
}
static LogicalResult size(ShapeOp &o) {
  if (failed(o.set(0, {})))
    return failure();
  o.setElements(0, {o.s.product(o.dims(0))});
  return success();
}

// --- views: same elements in the same order ---

static LogicalResult view(ShapeOp &o, DimsRef dims) {
  if (failed(o.set(0, dims)))
    return failure();
  o.setElements(0, Dims(o.s.partialElements(o.in(0))));
  if (auto reals = o.s.realElements(o.in(0)); !reals.empty())
    o.s.setReals(o.out(0), SmallVector<RealValue>(reals));
  return success();
}

// What a reshape's target says. Elements that may be -1 or 0 at run time are left to the size function.
struct ReshapeTarget {
  Dims dims;              // null: not known here
  int64_t inferred = -1;  // the axis whose size follows from the others; -1: none
  bool complete = true;   // all others are known
};
static FailureOr<ReshapeTarget> readTarget(ShapeOp &o, DimsRef target) {
  bool allowZero = o.intAttr("allowzero");
  ReshapeTarget result;
  for (auto [i, e] : llvm::enumerate(target)) {
    auto n = known(e);
    if (n && *n < -1)
      return o.error() << "size " << *n << " of axis " << i << " is negative";
    if (n == -1 && result.inferred >= 0)
      return o.error() << "more than one size is -1 in the shape " << o.text(target);
    if (n == -1)
      result.inferred = i;
    if (n == 0 && !allowZero && int64_t(i) >= o.rank(0))
      return o.error() << "size 0 of axis " << i << " copies an axis that the input " << o.text(o.dims(0)) << " does not have";
    AffineExpr d = n == -1 ? AffineExpr() : n == 0 && !allowZero ? o.dim(0, i) : o.s.isNonNegative(e) ? e : AffineExpr();
    result.complete &= bool(d) || n == -1;
    result.dims.push_back(d);
  }
  return result;
}

static LogicalResult reshape(ShapeOp &o) {
  if (o.rank(1) != 1)
    return o.error() << "the shape needs one axis, it has " << o.rank(1);
  auto target = o.elements(1);
  if (!target)
    return o.setFromType(0);
  auto read = readTarget(o, *target);
  if (failed(read))
    return failure();
  auto [dims, inferred, complete] = *read;
  if (!complete)
    return o.set(0, dims);
  AffineExpr total = o.s.product(o.dims(0));
  if (inferred < 0) {
    if (failed(o.same(total, o.s.product(dims), "numbers of elements")))
      return failure();
    return view(o, dims);
  }
  Dims others(dims);
  others.erase(others.begin() + inferred);
  AffineExpr rest = o.s.product(others);
  if (known(total) && known(rest) && (*known(rest) == 0 ? *known(total) != 0 : *known(total) % *known(rest) != 0))
    return o.error() << "an input of " << *known(total) << " elements cannot have the shape " << o.text(*target);
  dims[inferred] = known(rest) == 0 ? o.c(0) : o.s.floorDiv(total, rest);
  if (failed(o.same(total, o.s.product(dims), "numbers of elements")))
    return failure();
  return view(o, dims);
}

static LogicalResult flatten(ShapeOp &o) {
  int64_t rank = o.rank(0), axis = o.intAttr("axis");
  if (axis < -rank || axis > rank)
    return o.error() << "axis " << axis << " is outside the " << rank << " axes of the input";
  axis = onnx::fromFront(axis, rank);
  return view(o, {o.s.product(o.dims(0).take_front(axis)), o.s.product(o.dims(0).drop_front(axis))});
}

static FailureOr<SmallVector<bool>> markedAxes(ShapeOp &o, ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<bool> marked(rank, false);
  for (int64_t a : axes) {
    auto axis = o.axis(a, rank);
    if (failed(axis))
      return failure();
    if (marked[*axis])
      return o.error() << "axis " << a << " is given twice";
    marked[*axis] = true;
  }
  return marked;
}

// Axes that only the run knows: their number alone says the rank of the result.
static LogicalResult changeRank(ShapeOp &o, int64_t sign) {
  auto n = o.s.count(o.in(1));
  if (!n)
    return o.setFromType(0);
  int64_t rank = o.rank(0) + sign * *n;
  if (rank < 0 || rank > 64)
    return o.error() << *n << " axes do not fit an input of " << o.rank(0);
  return o.setRank(0, rank);
}

static LogicalResult squeeze(ShapeOp &o) {
  SmallVector<int64_t> axes;
  if (o.in(1)) {
    auto constants = o.constants(1);
    if (!constants)
      return changeRank(o, -1);
    axes = *constants;
  } else {
    // The rank must not depend on a size that is not known: a run in which it is 1 fails.
    for (auto [i, d] : llvm::enumerate(o.dims(0))) {
      AffineExpr beyond = o.s.sub(d, o.c(1)), other = o.s.min(o.s.mul(beyond, beyond), o.c(1));
      if (known(d) == 1)
        axes.push_back(i);
      else if (other && known(other) != 1)
        o.s.check({o.op, other, o.c(1)});
    }
  }
  auto marked = markedAxes(o, axes, o.rank(0));
  if (failed(marked))
    return failure();
  Dims dims;
  for (auto [i, d] : llvm::enumerate(o.dims(0)))
    if (!(*marked)[i])
      dims.push_back(d);
    else if (failed(o.same(d, o.c(1), "the squeezed size and 1:")))
      return failure();
  return view(o, dims);
}

static LogicalResult unsqueeze(ShapeOp &o) {
  auto axes = o.constants(1);
  if (!axes)
    return changeRank(o, 1);
  auto marked = markedAxes(o, *axes, o.rank(0) + axes->size());
  if (failed(marked))
    return failure();
  Dims dims;
  const AffineExpr *next = o.dims(0).begin();
  for (bool added : *marked)
    dims.push_back(added ? o.c(1) : *next++);
  return view(o, dims);
}

// --- rearranged elements ---

// The result's elements are the input's at `source(index of the result)`, where all sizes are constants and small.
static void pick(ShapeOp &o, llvm::function_ref<int64_t(ArrayRef<int64_t>)> source) {
  auto n = o.s.count(o.out(0));
  DimsRef elements = o.s.partialElements(o.in(0));
  if (!n || *n > 1024 || elements.empty())
    return;
  SmallVector<int64_t> sizes, index;
  for (AffineExpr d : o.s.dims(o.out(0)))
    sizes.push_back(*known(d));
  index.assign(sizes.size(), 0);
  Dims result;
  for (int64_t i = 0; i < *n; ++i) {
    result.push_back(elements[source(index)]);
    for (int64_t k = int64_t(sizes.size()) - 1; k >= 0 && ++index[k] == sizes[k]; --k)
      index[k] = 0;
  }
  o.setElements(0, result);
}
// Row-major strides of an operand with constant sizes.
static SmallVector<int64_t> strides(DimsRef dims) {
  SmallVector<int64_t> result(dims.size(), 1);
  for (int64_t i = int64_t(dims.size()) - 2; i >= 0; --i)
    result[i] = result[i + 1] * known(dims[i + 1]).value_or(0);
  return result;
}

static LogicalResult transpose(ShapeOp &o) {
  int64_t rank = o.rank(0);
  SmallVector<int64_t> perm(o.intsAttr("perm"));
  if (!o.op->hasAttr("perm"))
    for (int64_t i = rank; i-- > 0;)
      perm.push_back(i);
  if (int64_t(perm.size()) != rank)
    return o.error() << "perm has " << perm.size() << " axes, the input has " << rank;
  Dims dims;
  for (int64_t p : perm)
    dims.push_back(o.dim(0, p));
  if (failed(o.set(0, dims)))
    return failure();
  SmallVector<int64_t> step = strides(o.dims(0));
  pick(o, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [i, p] : llvm::enumerate(perm))
      at += index[i] * step[p];
    return at;
  });
  return success();
}

static LogicalResult concat(ShapeOp &o) {
  SmallVector<Value> ins(o.op->getOperands());
  if (ins.empty())
    return o.error() << "no input";
  int64_t rank = o.s.dims(ins[0]).size();
  auto axis = o.axis(o.intAttr("axis"), rank);
  if (failed(axis))
    return failure();
  Dims dims(o.s.dims(ins[0]));
  Dims joined;  // summed at once: partial sums of many symbols are dear
  for (Value v : ins) {
    DimsRef own = o.s.dims(v);
    if (int64_t(own.size()) != rank)
      return o.error() << "inputs of " << rank << " and " << own.size() << " axes";
    for (int64_t d = 0; d < rank; ++d) {
      auto common = d == *axis ? FailureOr<AffineExpr>(own[d]) : o.same(dims[d], own[d], "sizes of axis " + Twine(d));
      if (failed(common))
        return failure();
      (d == *axis ? joined.emplace_back() : dims[d]) = *common;
    }
  }
  dims[*axis] = o.s.sum(joined);
  if (failed(o.set(0, dims)) || rank != 1)
    return failed(o.set(0, dims)) ? failure() : success();
  Dims elements;
  SmallVector<RealValue> reals;
  for (Value v : ins) {
    auto n = o.s.count(v);
    if (!n || *n > 1024)
      return success();
    Dims part(o.s.partialElements(v));
    part.resize(*n);
    elements.append(part);
    SmallVector<RealValue> realPart(o.s.realElements(v));
    realPart.resize(*n, unknownReal());
    reals.append(realPart);
  }
  o.setElements(0, elements);
  if (reals.size() <= 64 && llvm::any_of(ins, [&](Value v) { return !o.s.realElements(v).empty(); }))
    o.s.setReals(o.out(0), reals);
  return success();
}

static LogicalResult split(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  if (failed(axis))
    return failure();
  int64_t parts = o.op->getNumResults();
  Dims sizes(parts);
  AffineExpr whole = o.dim(0, *axis);
  if (o.in(1)) {
    auto given = o.elements(1);
    if (given && int64_t(given->size()) != parts)
      return o.error() << given->size() << " sizes for " << parts << " results";
    if (given)
      sizes = *given;
    if (given && failed(o.same(o.s.sum(sizes), whole, "sum of the parts and size of the axis:")))
      return failure();
  } else {
    AffineExpr chunk = o.s.ceilDiv(whole, o.c(parts)), before = o.c(0);
    for (AffineExpr &size : sizes) {
      size = known(whole) ? o.c(std::clamp<int64_t>(*known(whole) - *known(before), 0, *known(chunk))) : chunk;
      before = o.s.add(before, chunk);
    }
    if (!known(whole) && parts > 1)
      sizes.back() = o.s.sub(whole, o.s.mul(chunk, o.c(parts - 1)));
  }
  DimsRef elements = o.s.partialElements(o.in(0));
  int64_t start = 0;
  for (int64_t i = 0; i < parts; ++i) {
    Value result = o.op->getResult(i);
    Dims dims(o.dims(0));
    dims[*axis] = sizes[i] ? sizes[i] : o.s.symbol({SymbolDef::SizeOf, "", result, *axis, {}, {}});
    o.s.setDims(result, dims);
    auto n = known(sizes[i]);
    if (n && *n < 0)
      return o.error() << "size " << *n << " of part " << i << " is negative";
    if (o.rank(0) == 1 && n && start + *n <= int64_t(elements.size()))
      o.s.setElements(result, elements.slice(start, *n));
    start += n.value_or(1 << 20);
  }
  return success();
}

// --- slices ---

// `bound` of a slice with step 1 as a position in [0, size].
static AffineExpr clampedBound(ShapeOp &o, AffineExpr bound, AffineExpr size) {
  auto n = known(bound);
  if (n && *n < 0) {
    if (*n < -(int64_t(1) << 31))
      return o.c(0);
    return o.s.max(o.s.add(size, bound), o.c(0));
  }
  if (n && *n >= (int64_t(1) << 31) - 1 && !known(size))
    return size;
  if (!o.s.isNonNegative(bound)) {
    if (o.s.isAtLeast(o.c(-1), bound))
      return o.s.max(o.s.add(size, bound), o.c(0));
    // "n - 1" is a position from the start: it is -1 for an empty axis only.
    return o.s.isAtLeast(bound, o.c(-1)) ? o.s.min(o.s.max(bound, o.c(0)), size) : AffineExpr();
  }
  return o.s.min(bound, size);
}

static AffineExpr sliceSize(ShapeOp &o, AffineExpr start, AffineExpr end, std::optional<int64_t> step, AffineExpr size) {
  if (!step || !start || !end || *step == INT64_MIN)
    return {};
  auto n = known(size), a = known(start), b = known(end);
  if (n && a && b) {
    int64_t low = *step > 0 ? 0 : -1, high = *step > 0 ? *n : *n - 1;
    int64_t from = *a < 0 ? (*a < -*n ? -1 : *a + *n) : *a, to = *b < 0 ? (*b < -*n ? -1 : *b + *n) : *b;
    from = std::clamp(from, *step > 0 ? int64_t(0) : std::min<int64_t>(0, *n - 1), high);
    to = std::clamp(to, low, high);
    int64_t distance = *step > 0 ? to - from : from - to, stride = std::abs(*step);
    return o.c(distance <= 0 ? 0 : (distance - 1) / stride + 1);
  }
  if (*step < 0) {
    bool whole = a && b && (*a == -1 || *a >= INT32_MAX) && *b <= -(int64_t(1) << 31) + 1;
    return whole ? o.s.ceilDiv(size, o.c(-*step)) : AffineExpr();
  }
  AffineExpr from = clampedBound(o, start, size), to = clampedBound(o, end, size);
  if (!from || !to)
    return {};
  return o.s.ceilDiv(o.s.max(o.s.sub(to, from), o.c(0)), o.c(*step));
}

static LogicalResult slice(ShapeOp &o) {
  int64_t rank = o.rank(0);
  auto starts = o.elements(1), ends = o.elements(2);
  auto axes = o.constants(3), steps = o.constants(4);
  if (!starts || !ends || starts->size() != ends->size() || (o.in(3) && !axes))
    return o.setRank(0, rank);
  Dims dims(o.dims(0));
  SmallVector<int64_t> from(rank, 0), stride(rank, 1);
  bool constant = true;
  for (size_t i = 0; i < starts->size(); ++i) {
    auto axis = o.axis(axes && i < axes->size() ? (*axes)[i] : i, rank);
    if (failed(axis))
      return failure();
    auto step = !o.in(4) ? std::optional<int64_t>(1) : steps && i < steps->size() ? std::optional<int64_t>((*steps)[i]) : std::nullopt;
    if (step == 0)
      return o.error() << "step of axis " << *axis << " is 0";
    AffineExpr size = dims[*axis];
    dims[*axis] = sliceSize(o, (*starts)[i], (*ends)[i], step, size);
    auto a = known((*starts)[i]), n = known(size);
    constant &= a && n && step;
    if (a && n && step) {
      int64_t begin = onnx::fromFront(*a, *n);
      from[*axis] = std::clamp<int64_t>(begin, 0, *step > 0 ? *n : std::max<int64_t>(*n - 1, 0));
      stride[*axis] = *step;
    }
  }
  if (failed(o.set(0, dims)) || !constant)
    return success(!failed(o.set(0, dims)));
  SmallVector<int64_t> unit = strides(o.dims(0));
  pick(o, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d)
      at += (from[d] + index[d] * stride[d]) * unit[d];
    return at;
  });
  return success();
}

// --- growth ---

static LogicalResult expand(ShapeOp &o) {
  auto target = o.elements(1);
  if (!target)
    return o.setFromType(0);
  auto dims = o.broadcast(o.dims(0), *target);
  if (failed(dims) || failed(o.set(0, *dims)))
    return failure();
  SmallVector<int64_t> unit = strides(o.dims(0));
  pick(o, [&](ArrayRef<int64_t> index) {
    int64_t at = 0, lead = index.size() - unit.size();
    for (auto [d, step] : llvm::enumerate(unit))
      at += known(o.dim(0, d)) == 1 ? 0 : index[lead + d] * step;
    return at;
  });
  return success();
}

static LogicalResult tile(ShapeOp &o) {
  auto repeats = o.elements(1);
  if (!repeats)
    return o.setRank(0, o.rank(0));
  if (int64_t(repeats->size()) != o.rank(0))
    return o.error() << repeats->size() << " repeats for " << o.rank(0) << " axes";
  Dims dims;
  for (auto [d, r] : llvm::zip(o.dims(0), *repeats))
    dims.push_back(o.s.mul(d, r));
  if (failed(o.set(0, dims)))
    return failure();
  SmallVector<int64_t> unit = strides(o.dims(0));
  pick(o, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [d, step] : llvm::enumerate(unit))
      at += index[d] % *known(o.dim(0, d)) * step;
    return at;
  });
  return success();
}

static LogicalResult pad(ShapeOp &o) {
  int64_t rank = o.rank(0);
  if (StringRef mode = o.strAttr("mode"); !llvm::is_contained({"", "constant", "reflect", "edge", "wrap"}, mode))
    return o.error() << "mode '" << mode << "' is not constant, reflect, edge or wrap";
  auto pads = o.elements(1);
  auto axes = o.constants(3);
  if (!pads || (o.in(3) && !axes))
    return o.setRank(0, rank);
  int64_t count = axes ? axes->size() : rank;
  if (int64_t(pads->size()) != 2 * count)
    return o.error() << pads->size() << " pads for " << count << " axes";
  Dims dims(o.dims(0));
  for (int64_t i = 0; i < count; ++i) {
    auto axis = o.axis(axes ? (*axes)[i] : i, rank);
    if (failed(axis))
      return failure();
    dims[*axis] = o.s.sum({dims[*axis], (*pads)[i], (*pads)[i + count]});
  }
  return o.set(0, dims);
}

static LogicalResult centerCropPad(ShapeOp &o) {
  auto target = o.elements(1);
  SmallVector<int64_t> axes(o.intsAttr("axes"));
  if (!o.op->hasAttr("axes"))
    for (int64_t i = 0; i < o.rank(0); ++i)
      axes.push_back(i);
  if (!target || target->size() != axes.size())
    return o.setRank(0, o.rank(0));
  Dims dims(o.dims(0));
  for (auto [a, size] : llvm::zip(axes, *target)) {
    auto axis = o.axis(a, o.rank(0));
    if (failed(axis))
      return failure();
    dims[*axis] = size;
  }
  return o.set(0, dims);
}

static LogicalResult rangeOfReals(ShapeOp &o) {
  auto start = o.constantReals(0), limit = o.constantReals(1), delta = o.constantReals(2);
  if (!start || !limit || !delta || delta->front() == 0)
    return o.setRank(0, 1);
  double n = std::ceil((limit->front() - start->front()) / delta->front());
  return std::isfinite(n) && n < 1e15 ? o.set(0, {o.c(std::max<int64_t>(int64_t(n), 0))}) : o.setRank(0, 1);
}
static LogicalResult range(ShapeOp &o) {
  if (!llvm::isa<IntegerType>(onnx::elementType(o.in(0))))
    return rangeOfReals(o);
  auto start = o.elements(0), limit = o.elements(1), delta = o.elements(2);
  auto step = delta && delta->size() == 1 ? known(delta->front()) : o.in(2) ? std::nullopt : std::optional<int64_t>(1);
  if (!start || !limit || start->size() != 1 || limit->size() != 1 || !step)
    return o.setRank(0, 1);
  if (*step == 0)
    return o.error() << "delta is 0";
  AffineExpr distance = *step > 0 ? o.s.sub(limit->front(), start->front()) : o.s.sub(start->front(), limit->front());
  AffineExpr n = o.s.ceilDiv(o.s.max(distance, o.c(0)), o.c(std::abs(*step)));
  if (failed(o.set(0, {n})))
    return failure();
  auto count = known(n);
  if (!count || *count > 1024)
    return success();
  Dims elements;
  for (int64_t i = 0; i < *count; ++i)
    elements.push_back(o.s.add(start->front(), o.s.mul(o.c(i), o.c(*step))));
  o.setElements(0, elements);
  return success();
}

static LogicalResult depthToSpace(ShapeOp &o) {
  AffineExpr b = o.c(o.intAttr("blocksize", 1));
  if (o.rank(0) != 4 || *known(b) < 1)
    return o.error() << "needs an input of 4 axes and a positive blocksize; got " << o.rank(0) << " and " << *known(b);
  if (auto c = known(o.dim(0, 1)); c && *c % (*known(b) * *known(b)) != 0)
    return o.error() << *c << " channels cannot be divided into blocks of " << *known(b) << " x " << *known(b);
  return o.set(0, {o.dim(0, 0), o.s.floorDiv(o.dim(0, 1), o.s.mul(b, b)), o.s.mul(o.dim(0, 2), b), o.s.mul(o.dim(0, 3), b)});
}
static LogicalResult spaceToDepth(ShapeOp &o) {
  AffineExpr b = o.c(o.intAttr("blocksize", 1));
  if (o.rank(0) != 4 || *known(b) < 1)
    return o.error() << "needs an input of 4 axes and a positive blocksize; got " << o.rank(0) << " and " << *known(b);
  for (int64_t i : {2, 3})
    if (auto n = known(o.dim(0, i)); n && *n % *known(b) != 0)
      return o.error() << "size " << *n << " of axis " << i << " cannot be divided into blocks of " << *known(b);
  return o.set(0, {o.dim(0, 0), o.s.mul(o.dim(0, 1), o.s.mul(b, b)), o.s.floorDiv(o.dim(0, 2), b), o.s.floorDiv(o.dim(0, 3), b)});
}

static LogicalResult reverseSequence(ShapeOp &o) {
  auto batch = o.axis(o.intAttr("batch_axis", 1), o.rank(0));
  if (failed(batch) || o.rank(1) != 1)
    return failed(batch) ? failure() : LogicalResult(o.error() << "sequence_lens needs one axis, it has " << o.rank(1));
  if (failed(o.same(o.dim(1, 0), o.dim(0, *batch), "numbers of sequence_lens and of sequences:")))
    return failure();
  return likeFirst(o);
}

void addTensorRules(ShapeRules &rules) {
  rules["Constant"] = constant;
  rules["ConstantOfShape"] = constantOfShape;
  rules["Shape"] = shape;
  rules["Size"] = size;
  rules["Reshape"] = reshape;
  rules["Flatten"] = flatten;
  rules["Squeeze"] = squeeze;
  rules["Unsqueeze"] = unsqueeze;
  rules["Transpose"] = transpose;
  rules["Concat"] = concat;
  rules["Split"] = split;
  rules["Slice"] = slice;
  rules["Expand"] = expand;
  rules["Tile"] = tile;
  rules["Pad"] = pad;
  rules["CenterCropPad"] = centerCropPad;
  rules["Range"] = range;
  rules["EyeLike"] = rules["Trilu"] = likeFirst;
  rules["ReverseSequence"] = reverseSequence;
  rules["DepthToSpace"] = depthToSpace;
  rules["SpaceToDepth"] = spaceToDepth;
}

}  // namespace onnxc
