// BoxUpdates.cpp: see BoxUpdates.h.
#include "passes/graph/BoxUpdates.h"
#include "passes/graph/GraphBuilder.h"

using namespace mlir;
namespace onnxc {
namespace {

using DimsRef = ArrayRef<AffineExpr>;
constexpr int64_t kMostNumbers = 1 << 20;  // of one axis, or of all in one constant

bool isOne(AffineExpr e) { return known(e) == 1; }

// `n` when `v` holds n, n + 1, n + 2 ... in the order of its elements.
std::optional<int64_t> firstOfRun(const SymbolicShapes &s, Value v) {
  if (onnx::constantValue(v)) {
    auto numbers = onnx::integerElements(v, kMostNumbers);
    if (!numbers || numbers->empty())
      return std::nullopt;
    int64_t next = numbers->front();
    return llvm::all_of(*numbers, [&](int64_t n) { return n == next++; }) ? std::optional(numbers->front()) : std::nullopt;
  }
  Operation *op = v.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (llvm::isa<onnx::ReshapeOp, onnx::UnsqueezeOp, onnx::SqueezeOp>(op))
    return firstOfRun(s, op->getOperand(0));
  auto number = [&](Value n) {
    auto elements = n ? s.constantElements(n) : std::nullopt;
    return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
  };
  if (auto range = llvm::dyn_cast<onnx::RangeOp>(op))
    return number(range.getDelta()) == 1 ? number(range.getStart()) : std::nullopt;
  if (auto slice = llvm::dyn_cast<onnx::SliceOp>(op); slice && s.hasRank(v) && s.dims(v).size() == 1) {
    auto first = firstOfRun(s, slice.getData()), start = number(slice.getStarts());
    bool forward = !slice.getSteps() || number(slice.getSteps()) == 1;
    return first && start && *start >= 0 && forward ? std::optional(*first + *start) : std::nullopt;
  }
  return std::nullopt;
}

// The first of `numbers`, `depth` of them for each place of a grid, of which the one at `at` counts upwards along axis `k` and is equal
// along the others.
std::optional<int64_t> constantsCountAlong(ArrayRef<int64_t> numbers, DimsRef grid, size_t k, int64_t depth, int64_t at) {
  int64_t count = depth, inner = 1;
  for (auto [i, e] : llvm::enumerate(grid)) {
    auto size = known(e);
    if (!size || *size == 0)
      return std::nullopt;
    count *= *size, inner *= i > k ? *size : 1;
  }
  if (int64_t(numbers.size()) != count)
    return std::nullopt;
  const int64_t size = *known(grid[k]), first = numbers[at];
  for (int64_t i = 0; i * depth < count; ++i)
    if (numbers[i * depth + at] != first + i / inner % size)
      return std::nullopt;
  return first;
}

// The first of the indices `v`, [grid] or [grid, 1], when they count upwards along axis `k` of the grid and are equal along the others.
std::optional<int64_t> countsAlong(const SymbolicShapes &s, Value v, DimsRef grid, size_t k) {
  auto numbers = onnx::integerElements(v, kMostNumbers);
  if (auto first = numbers ? constantsCountAlong(*numbers, grid, k, 1, 0) : std::nullopt)
    return first;
  auto view = v.getDefiningOp();
  if (llvm::isa_and_present<onnx::ReshapeOp, onnx::UnsqueezeOp>(view) && s.hasRank(view->getOperand(0)) &&
      s.dims(view->getOperand(0)) == grid)
    v = view->getOperand(0);
  if (auto expand = v.getDefiningOp<onnx::ExpandOp>(); expand && s.dims(v) == grid)
    v = expand.getInput();
  if (!s.hasRank(v))
    return std::nullopt;
  DimsRef own = s.dims(v);
  if (own.size() == grid.size() + 1)  // not expanded: the axis of the numbers of an index is the last
    own = own.drop_back();
  if (own.size() > grid.size())
    return std::nullopt;
  bool counts = isOne(grid[k]);
  for (size_t i = 0, skipped = grid.size() - own.size(); i < own.size(); ++i) {
    if (isOne(own[i]))
      continue;
    if (i + skipped != k || own[i] != grid[k])
      return std::nullopt;
    counts = true;
  }
  return counts ? firstOfRun(s, v) : std::nullopt;
}

// Where the box of indices [grid, axes] starts on each axis; empty: they are of no box.
SmallVector<int64_t> boxStart(const SymbolicShapes &s, Value indices, DimsRef grid) {
  const int64_t axes = grid.size();
  auto numbers = known(s.dims(indices).back()) == axes ? onnx::integerElements(indices, kMostNumbers) : std::nullopt;
  const bool together = numbers.has_value();
  SmallVector<Value> parts(together ? axes : 1, indices);
  if (auto concat = indices.getDefiningOp<onnx::ConcatOp>()) {
    parts = llvm::to_vector(concat.getInputs());
    if (onnx::axisAttr(concat, axes + 1) != axes)
      return {};
  }
  if (int64_t(parts.size()) != axes)
    return {};
  SmallVector<int64_t> start;
  for (auto [k, part] : llvm::enumerate(parts)) {
    bool single = s.hasRank(part) && int64_t(s.dims(part).size()) == axes + 1 && isOne(s.dims(part).back());
    auto first = together ? constantsCountAlong(*numbers, grid, k, axes, k) : single ? countsAlong(s, part, grid, k) : std::nullopt;
    if (!first || *first < 0)
      return {};
    start.push_back(*first);
  }
  return start;
}

// An axis of the box: what of the data lies before it and behind it.
struct Extent {
  int64_t before, behind;
  bool whole() const { return before == 0 && behind == 0; }
};

// The extents of the box; empty: it may not lie inside the data.
SmallVector<Extent> extentsOf(SymbolicShapes &s, ArrayRef<int64_t> start, DimsRef grid, DimsRef data) {
  SmallVector<Extent> extents;
  for (auto [first, n, size] : llvm::zip_first(start, grid, data)) {
    auto behind = known(s.sub(s.sub(size, n), s.constant(first)));
    if (!behind || *behind < 0)
      return {};
    extents.push_back({first, *behind});
  }
  return extents;
}

struct Builder {
  SymbolicShapes &s;
  GraphBuilder g;
  Type element;

  Value typed(Value v, DimsRef dims) {
    v.setType(SymbolicArithmetic::tensorType(dims, element));
    s.setDims(v, dims);
    return v;
  }
  // What is behind, else before, the box on the last axis of `extents`, inside it on the others.
  Value beside(Value v, ArrayRef<Extent> extents, bool behind) {
    SmallVector<int64_t> starts, ends, axes;
    SmallVector<AffineExpr> dims(s.dims(v));
    auto keep = [&](int64_t axis, int64_t start, int64_t end, AffineExpr size) {
      starts.push_back(start), ends.push_back(end), axes.push_back(axis);
      dims[axis] = size;
    };
    for (auto [i, e] : llvm::enumerate(extents.drop_back()))
      if (!e.whole())
        keep(i, e.before, e.behind ? -e.behind : INT64_MAX, s.sub(dims[i], s.constant(e.before + e.behind)));
    const Extent &last = extents.back();
    if (behind)
      keep(extents.size() - 1, -last.behind, INT64_MAX, s.constant(last.behind));
    else
      keep(extents.size() - 1, 0, last.before, s.constant(last.before));
    return typed(onnx::SliceOp::create(g.b, g.loc, v.getType(), v, g.integers(starts), g.integers(ends), g.integers(axes), Value()), dims);
  }
};

}  // namespace

// From the last axis of the box to the first: what is before and behind it on this axis, inside the box on the axes before.
Value boxUpdate(SymbolicShapes &s, OpBuilder &b, onnx::ScatterNDOp op) {
  Value data = op.getData(), indices = op.getIndices(), result = op.getUpdates();
  if (op.getReduction() != "none" || !s.checks(op).empty() || !s.hasRank(data) || !s.hasRank(indices) || !s.hasRank(result))
    return {};
  DimsRef grid = s.dims(indices).drop_back();
  SmallVector<int64_t> start = boxStart(s, indices, grid);
  SmallVector<Extent> box = start.empty() ? SmallVector<Extent>() : extentsOf(s, start, grid, s.dims(data));
  if (box.empty())
    return {};
  Builder builder{s, {b, op.getLoc()}, llvm::cast<TensorType>(data.getType()).getElementType()};
  for (size_t k = box.size(); k-- > 0;) {
    SmallVector<Value> parts;
    auto extents = ArrayRef(box).take_front(k + 1);
    if (box[k].before)
      parts.push_back(builder.beside(data, extents, /*behind=*/false));
    parts.push_back(result);
    if (box[k].behind)
      parts.push_back(builder.beside(data, extents, /*behind=*/true));
    SmallVector<AffineExpr> dims(s.dims(result));
    dims[k] = s.dims(data)[k];
    if (parts.size() > 1)
      result = builder.typed(onnx::ConcatOp::create(b, op.getLoc(), data.getType(), parts, b.getI64IntegerAttr(k)), dims);
  }
  return result;
}

}  // namespace onnxc
