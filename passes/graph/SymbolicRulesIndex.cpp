// SymbolicRulesIndex.cpp: gathers, scatters, and ops whose result sizes depend on data.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

static LogicalResult gather(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  if (failed(axis))
    return failure();
  Dims dims(o.dims(0).take_front(*axis));
  dims.append(o.dims(1).begin(), o.dims(1).end());
  dims.append(o.dims(0).begin() + *axis + 1, o.dims(0).end());
  if (failed(o.set(0, dims)))
    return failure();
  DimsRef elements = o.s.partialElements(o.in(0));
  auto indices = o.constants(1);
  auto size = known(o.dim(0, *axis));
  if (indices && size)
    for (int64_t i : *indices)
      if (i < -*size || i >= *size)
        return o.error() << "index " << i << " is outside the " << *size << " entries of axis " << *axis;
  if (o.rank(0) != 1 || elements.empty() || !indices)
    return success();
  Dims picked;
  for (int64_t i : *indices)
    picked.push_back(elements[i < 0 ? i + elements.size() : i]);
  o.setElements(0, picked);
  return success();
}

static LogicalResult gatherElements(ShapeOp &o) {
  if (o.rank(0) != o.rank(1))
    return o.error() << "data has " << o.rank(0) << " axes, indices " << o.rank(1);
  return o.set(0, o.dims(1));
}

static LogicalResult gatherND(ShapeOp &o) {
  int64_t batch = o.intAttr("batch_dims"), data = o.rank(0), indices = o.rank(1);
  if (indices == 0 || batch < 0 || batch >= std::min(data, indices))
    return o.error() << "batch_dims " << batch << " needs more axes than data " << data << " and indices " << indices << " have";
  auto depth = known(o.dim(1, indices - 1));
  if (!depth) {  // the rank of the result tells it
    auto type = llvm::dyn_cast<RankedTensorType>(o.op->getResult(0).getType());
    if (!type)
      return o.setFromType(0);
    depth = indices - 1 + data - batch - type.getRank();
    if (failed(o.same(o.dim(1, indices - 1), o.c(*depth), "entries of an index tuple")))
      return failure();
  }
  if (*depth < 1 || batch + *depth > data)
    return o.error() << "index tuples of " << *depth << " entries do not fit the " << data << " axes of data";
  Dims dims(o.dims(1).drop_back());
  dims.append(o.dims(0).begin() + batch + *depth, o.dims(0).end());
  return o.set(0, dims);
}

static LogicalResult scatterElements(ShapeOp &o) {
  if (o.rank(0) != o.rank(1) || o.rank(1) != o.rank(2))
    return o.error() << "data, indices and updates have " << o.rank(0) << ", " << o.rank(1) << " and " << o.rank(2) << " axes";
  for (auto [d, pair] : llvm::enumerate(llvm::zip(o.dims(1), o.dims(2))))
    if (failed(o.same(std::get<0>(pair), std::get<1>(pair), "indices and updates: sizes of axis " + Twine(d))))
      return failure();
  if (failed(o.axis(o.intAttr("axis"), o.rank(0))))
    return failure();
  return o.set(0, o.dims(0));
}

static LogicalResult scatterND(ShapeOp &o) {
  int64_t indices = o.rank(1);
  if (indices == 0)
    return o.error() << "indices need at least one axis, that of their tuples";
  auto depth = known(o.dim(1, indices - 1));
  if (depth && *depth > o.rank(0))
    return o.error() << "index tuples of " << *depth << " entries do not fit the " << o.rank(0) << " axes of data";
  if (depth && o.rank(2) != indices - 1 + o.rank(0) - *depth)
    return o.error() << "updates have " << o.rank(2) << " axes, " << indices - 1 + o.rank(0) - *depth << " are needed";
  for (int64_t d = 0; d + 1 < indices && d < o.rank(2); ++d)
    if (failed(o.same(o.dim(1, d), o.dim(2, d), "indices and updates: sizes of axis " + Twine(d))))
      return failure();
  for (int64_t d = depth.value_or(o.rank(0)); d < o.rank(0); ++d)
    if (failed(o.same(o.dim(0, d), o.dim(2, indices - 1 + d - *depth), "data and updates: sizes of axis " + Twine(d))))
      return failure();
  return o.set(0, o.dims(0));
}

// How many entries of a constant, or of a filled tensor, are not zero.
static AffineExpr countNonZero(ShapeOp &o) {
  if (auto elements = o.constants(0))
    return o.c(llvm::count_if(*elements, [](int64_t e) { return e != 0; }));
  Operation *fill = o.in(0).getDefiningOp();
  if (!fill || !onnx::isOnnx(fill) || onnx::opName(fill) != "ConstantOfShape")
    return {};
  auto value = fill->getAttrOfType<DenseElementsAttr>("value");
  if (!value)
    return o.c(0);
  Type type = value.getElementType();
  bool zero = llvm::isa<FloatType>(type) ? value.getSplatValue<APFloat>().isZero()
                                         : !llvm::isa<IntegerType>(type) || value.getSplatValue<APInt>().isZero();
  return zero ? o.c(0) : o.s.product(o.dims(0));
}

static LogicalResult nonZero(ShapeOp &o) {
  AffineExpr n = countNonZero(o);
  int64_t rank = o.rank(0);
  if (failed(o.set(0, {o.c(rank), n})))
    return failure();
  auto elements = o.constants(0);
  if (!elements || elements->size() * rank > 1024)
    return success();
  SmallVector<int64_t> sizes;
  for (AffineExpr d : o.dims(0))
    sizes.push_back(*known(d));
  Dims result;
  for (int64_t axis = 0; axis < rank; ++axis)
    for (auto [i, e] : llvm::enumerate(*elements)) {
      int64_t inner = 1;
      for (int64_t d = axis + 1; d < rank; ++d)
        inner *= sizes[d];
      if (e)
        result.push_back(o.c(int64_t(i) / inner % sizes[axis]));
    }
  o.setElements(0, result);
  return success();
}

static LogicalResult compress(ShapeOp &o) {
  AffineExpr n;
  auto condition = o.constants(1);
  if (condition)
    n = o.c(llvm::count_if(*condition, [](int64_t e) { return e != 0; }));
  if (!o.op->hasAttr("axis"))
    return o.set(0, {n});
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  if (failed(axis))
    return failure();
  Dims dims(o.dims(0));
  dims[*axis] = n;
  return o.set(0, dims);
}

// The optional results have one entry for each unique value, or for each entry looked at.
static LogicalResult unique(ShapeOp &o) {
  Dims dims{AffineExpr()};
  int64_t at = 0;
  AffineExpr entries = o.s.product(o.dims(0));
  if (o.op->hasAttr("axis")) {
    auto axis = o.axis(o.intAttr("axis"), o.rank(0));
    if (failed(axis))
      return failure();
    at = *axis;
    entries = o.dim(0, at);
    dims.assign(o.dims(0).begin(), o.dims(0).end());
    dims[at] = {};
  }
  if (failed(o.set(0, dims)))
    return failure();
  AffineExpr n = o.s.dims(o.out(0))[at];
  return success(succeeded(o.set(1, {n})) && succeeded(o.set(2, {entries})) && succeeded(o.set(3, {n})));
}

// com.microsoft's form gives the number of each entry second.
static LogicalResult msUnique(ShapeOp &o) {
  AffineExpr entries = o.s.product(o.dims(0));
  if (failed(o.set(0, Dims{AffineExpr()})))
    return failure();
  AffineExpr n = o.s.dims(o.out(0))[0];
  return success(succeeded(o.set(1, {entries})) && succeeded(o.set(2, {n})));
}

static LogicalResult topK(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  auto k = o.elements(1);
  if (failed(axis))
    return failure();
  Dims dims(o.dims(0));
  dims[*axis] = k && k->size() == 1 ? k->front() : AffineExpr();
  auto n = known(dims[*axis]), size = known(o.dim(0, *axis));
  if (n && size && *n > *size)
    return o.error() << "K is " << *n << ", axis " << *axis << " has " << *size << " entries";
  if (failed(o.set(0, dims)))
    return failure();
  return o.set(1, dims[*axis] ? Dims(dims) : Dims(o.s.dims(o.out(0))));
}

static LogicalResult oneHot(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0) + 1);
  auto depth = llvm::isa<IntegerType>(onnx::elementType(o.in(1))) ? o.elements(1) : std::nullopt;
  if (failed(axis))
    return failure();
  AffineExpr size = depth && depth->size() == 1 ? depth->front() : AffineExpr();
  if (auto real = o.constantReals(1); real && real->size() == 1)
    size = o.c(int64_t(real->front()));
  Dims dims(o.dims(0));
  dims.insert(dims.begin() + *axis, size);
  return o.set(0, dims);
}

static LogicalResult nonMaxSuppression(ShapeOp &o) { return o.set(0, {AffineExpr(), o.c(3)}); }

static LogicalResult gatherBlockQuantized(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("gather_axis"), o.rank(0));
  if (failed(axis))
    return failure();
  Dims data(o.dims(0));
  auto bytes = llvm::dyn_cast<IntegerType>(onnx::elementType(o.in(0)));
  if (bytes && bytes.getWidth() == 8 && !data.empty())
    data.back() = o.s.mul(data.back(), o.c(8 / std::max<int64_t>(o.intAttr("bits", 4), 1)));
  Dims dims(data.begin(), data.begin() + *axis);
  dims.append(o.dims(1).begin(), o.dims(1).end());
  dims.append(data.begin() + *axis + 1, data.end());
  return o.set(0, dims);
}

void addIndexRules(ShapeRules &rules) {
  rules["Gather"] = gather;
  rules["GatherElements"] = gatherElements;
  rules["GatherND"] = gatherND;
  rules["ScatterElements"] = scatterElements;
  rules["ScatterND"] = scatterND;
  rules["TensorScatter"] = likeFirst;
  rules["NonZero"] = nonZero;
  rules["Compress"] = compress;
  rules["Unique"] = unique;
  rules["ms.Unique"] = msUnique;
  rules["TopK"] = topK;
  rules["OneHot"] = oneHot;
  rules["NonMaxSuppression"] = nonMaxSuppression;
  rules["ms.GatherBlockQuantized"] = gatherBlockQuantized;
}

}  // namespace onnxc
