// AttentionOperand.cpp: see AttentionOperand.h.
#include "passes/graph/AttentionOperand.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {

AttentionOperand::AttentionOperand(Value v, int64_t rank) : base(v), axes(llvm::to_vector(llvm::seq<int64_t>(0, rank))), at(rank, 0) {}

void AttentionOperand::lookThrough(SymbolicShapes &shapes, double *scale) {
  while (step(shapes, scale)) {
  }
}

void AttentionOperand::rebase(Value v, ArrayRef<int64_t> axisOf, int64_t rank) {
  SmallVector<int64_t> places(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axisOf))
    if (axis >= 0)
      places[axis] = at[i];
  for (int64_t &axis : axes)
    axis = axisOf[axis];
  at = places;
  base = v;
}

bool AttentionOperand::step(SymbolicShapes &shapes, double *scale) {
  Operation *op = base.getDefiningOp();
  if (!op || !op->getNumOperands() || !shapes.hasRank(op->getOperand(0)))
    return false;
  if (auto transpose = dyn_cast<onnx::TransposeOp>(op)) {
    if (!transpose.getPerm())
      return false;
    rebase(transpose.getData(), *transpose.getPerm(), transpose.getPerm()->size());
    return true;
  }
  if (scale && isa<onnx::MulOp, onnx::DivOp>(op))
    for (unsigned i = 0; i < (isa<onnx::MulOp>(op) ? 2 : 1); ++i)
      if (auto factor = constantNumber(op->getOperand(1 - i));
          factor && *factor != 0 && shapes.hasRank(op->getOperand(i)) && shapes.dims(op->getOperand(i)) == shapes.dims(base)) {
        *scale *= isa<onnx::MulOp>(op) ? *factor : 1 / *factor;
        base = op->getOperand(i);
        return true;
      }
  if (isa<onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op))
    return throughView(shapes, op) || throughSwap(shapes, op) || throughRepeat(shapes, op) || throughHeadsOfSplit(shapes, op) ||
           throughFactors(shapes, op, scale);
  return throughPart(shapes, op);
}

// A view that adds or drops axes of size 1.
bool AttentionOperand::throughView(SymbolicShapes &shapes, Operation *op) {
  Value source = op->getOperand(0);
  ArrayRef<AffineExpr> from = shapes.dims(source), to = shapes.dims(base);
  AffineExpr one = shapes.constant(1);
  SmallVector<int64_t> axisOf(to.size(), -1), ones;
  size_t next = 0;
  auto skipOnes = [&] {
    for (; next < from.size() && from[next] == one; ++next)
      ones.push_back(next);
  };
  for (auto [i, d] : llvm::enumerate(to)) {
    if (d == one)
      continue;
    skipOnes();
    if (next == from.size() || from[next] != d)
      return false;
    axisOf[i] = next++;
  }
  skipOnes();
  if (next != from.size())
    return false;
  for (auto [i, d] : llvm::enumerate(to)) {
    if (d != one || !llvm::is_contained(axes, int64_t(i)))
      continue;
    if (ones.empty())
      return false;  // the logical axis has none to stand for it
    axisOf[i] = ones.pop_back_val();
  }
  rebase(source, axisOf, from.size());
  return true;
}

// Reshape(Transpose(Reshape(x))) that swaps the last two axes of x with the others merged between.
bool AttentionOperand::throughSwap(SymbolicShapes &shapes, Operation *op) {
  auto transpose = op->getOperand(0).getDefiningOp<onnx::TransposeOp>();
  auto merge = transpose ? transpose.getData().getDefiningOp<onnx::ReshapeOp>() : onnx::ReshapeOp();
  if (!merge || !transpose.getPerm() || *transpose.getPerm() != ArrayRef<int64_t>{0, 2, 1})
    return false;
  Value source = merge.getData();
  size_t rank = shapes.dims(base).size();
  if (!shapes.hasRank(source) || shapes.dims(source).size() != rank || rank < 3 || !shapes.hasRank(merge.getReshaped()))
    return false;
  SmallVector<AffineExpr> swapped(shapes.dims(source));
  if (shapes.dims(merge.getReshaped()).take_back(2) != ArrayRef<AffineExpr>(swapped).take_back(2))
    return false;
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  if (shapes.dims(base) != ArrayRef<AffineExpr>(swapped))
    return false;
  SmallVector<int64_t> axisOf = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(axisOf[rank - 1], axisOf[rank - 2]);
  rebase(source, axisOf, rank);
  return true;
}

// Reshape(Expand(u)) [b, h g, s, d] of u [b, h, 1, s, d].
bool AttentionOperand::throughRepeat(SymbolicShapes &shapes, Operation *op) {
  auto expand = op->getOperand(0).getDefiningOp<onnx::ExpandOp>();
  if (!expand || !shapes.hasRank(expand.getInput()) || !shapes.hasRank(expand.getOutput()))
    return false;
  ArrayRef<AffineExpr> from = shapes.dims(expand.getInput()), wide = shapes.dims(expand.getOutput()), to = shapes.dims(base);
  if (from.size() != wide.size() || from.size() != to.size() + 1)
    return false;
  size_t at = 0;  // the axis that goes
  while (at < from.size() && from[at] == wide[at])
    ++at;
  if (at == 0 || at == from.size() || from[at] != shapes.constant(1) || from.drop_front(at + 1) != wide.drop_front(at + 1) ||
      to.take_front(at - 1) != wide.take_front(at - 1) || to.drop_front(at) != wide.drop_front(at + 1))
    return false;
  auto logical = llvm::find(axes, int64_t(at) - 1) - axes.begin();
  if (logical + 2 >= int64_t(axes.size()) || repeats.count(logical))
    return false;
  SmallVector<int64_t> axisOf;
  for (size_t i = 0; i < to.size(); ++i)
    axisOf.push_back(i < at ? i : i + 1);
  rebase(expand.getInput(), axisOf, from.size());
  repeats.insert(logical);
  return true;
}

// Reshape [.., h, d] of one of n equal parts of x [.., n h d] = part of Reshape [.., n, h, d] of x.
bool AttentionOperand::throughHeadsOfSplit(SymbolicShapes &shapes, Operation *op) {
  Value part = op->getOperand(0);
  auto split = part.getDefiningOp<onnx::SplitOp>();
  if (!split || !shapes.hasRank(split.getInput()))
    return false;
  ArrayRef<AffineExpr> whole = shapes.dims(split.getInput()), to = shapes.dims(base);
  int64_t rank = whole.size(), axis = onnx::axisAttr(split, rank);
  auto size = [&](AffineExpr e) { return known(e).value_or(-1); };
  int64_t count = split->getNumResults();
  if (axis != rank - 1 || int64_t(to.size()) != rank + 1 || to.take_front(rank - 1) != whole.take_front(rank - 1))
    return false;
  int64_t heads = size(to[rank - 1]), width = size(to[rank]);
  for (Value r : split->getResults())
    if (heads < 0 || width < 0 || !shapes.hasRank(r) || size(shapes.dims(r).back()) != heads * width)
      return false;
  OpBuilder b(split);
  SmallVector<AffineExpr> dims(whole.drop_back());
  dims.append({shapes.constant(count), shapes.constant(heads), shapes.constant(width)});
  Value view = viewAs(shapes, b, op->getLoc(), split.getInput(), dims);
  if (!view)
    return false;
  SmallVector<int64_t> axisOf = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  axisOf.append({rank, rank + 1});
  int64_t index = llvm::find(split->getResults(), part) - split->getResults().begin();
  rebase(view, axisOf, rank + 2);
  at[rank - 1] = index;
  return true;
}

std::optional<SmallVector<SmallVector<AffineExpr>>> factorsOf(SymbolicShapes &shapes, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  AffineExpr one = shapes.constant(1);
  SmallVector<SmallVector<AffineExpr>> factors(from.size());
  size_t next = 0;
  for (auto [d, parts] : llvm::zip(from, factors))
    for (AffineExpr size = one; size != d; parts.push_back(to[next++])) {
      size = next < to.size() ? shapes.mul(size, to[next]) : AffineExpr();
      if (!size)
        return std::nullopt;
    }
  for (; next < to.size() && to[next] == one && !factors.empty(); ++next)
    factors.back().push_back(one);
  return next == to.size() ? std::optional(std::move(factors)) : std::nullopt;
}

bool canReshape(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to) {
  auto isUnknown = [&](AffineExpr d) { return !known(d) && !llvm::is_contained(from, d); };
  return llvm::count_if(to, isUnknown) <= 1 && llvm::none_of(to, [](AffineExpr d) { return known(d) == 0; });
}

Value viewAs(SymbolicShapes &shapes, OpBuilder &b, Location loc, Value x, ArrayRef<AffineExpr> dims) {
  ArrayRef<AffineExpr> from = shapes.dims(x);
  if (!canReshape(from, dims))
    return {};
  GraphBuilder g{b, loc};
  SmallVector<int64_t> target;
  for (auto [i, d] : llvm::enumerate(dims))
    target.push_back(known(d).value_or(i < from.size() && from[i] == d ? 0 : -1));
  auto entry = [&](int64_t number, AffineExpr d) {
    const int64_t axis = llvm::find(from, d) - from.begin();
    return number != -1 || axis == int64_t(from.size()) ? g.integers({number}) : g.sizeOf(x, axis);
  };
  Value list;
  if (llvm::count(target, -1) <= 1)
    list = g.integers(target);
  else  // the run has to tell more than one
    list =
        g.concat(llvm::map_to_vector(llvm::zip(target, dims), [&](auto pair) { return entry(std::get<0>(pair), std::get<1>(pair)); }), 0);
  Value view = onnx::ReshapeOp::create(b, loc, SymbolicShapes::tensorType(dims, onnx::elementType(x)), x, list);
  shapes.setDims(view, dims);
  return view;
}

// A Reshape that splits axes of what is itself a view or a part of some tensor, as such a view or part of a Reshape of that tensor: heads
// that share an axis with the batch, as those of torch.nn.MultiheadAttention.
bool AttentionOperand::throughFactors(SymbolicShapes &shapes, Operation *reshape, double *scale) {
  Value source = reshape->getOperand(0);
  Operation *op = source.getDefiningOp();
  SmallVector<AffineExpr> to(shapes.dims(base)), dims;
  auto factors = factorsOf(shapes, shapes.dims(source), to);
  if (!op || !factors)
    return false;
  OpBuilder b(reshape);
  double factor = 1;
  AttentionOperand whole(source, factors->size());
  if (!whole.step(shapes, scale ? &factor : nullptr)) {
    bool isView = isa<onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op) && shapes.hasRank(op->getOperand(0));
    Value view = isView && shapes.checks(op).empty() ? viewAs(shapes, b, reshape->getLoc(), op->getOperand(0), to) : Value();
    base = view ? view : base;
    return bool(view);
  }
  SmallVector<int64_t> starts, axisOf;  // in `dims`
  for (auto [axis, d] : llvm::enumerate(shapes.dims(whole.base))) {
    starts.push_back(dims.size());
    if (auto i = llvm::find(whole.axes, int64_t(axis)); i == whole.axes.end())
      dims.push_back(d);
    else if (whole.at[axis] == 0)
      llvm::append_range(dims, (*factors)[i - whole.axes.begin()]);
    else
      return false;
  }
  Value view = whole.repeats.empty() ? viewAs(shapes, b, reshape->getLoc(), whole.base, dims) : Value();
  if (!view)
    return false;
  for (auto [axis, parts] : llvm::zip(whole.axes, *factors))
    llvm::append_range(axisOf, llvm::seq<int64_t>(starts[axis], starts[axis] + parts.size()));
  rebase(view, axisOf, dims.size());
  for (auto [axis, start] : llvm::enumerate(starts))
    if (!llvm::is_contained(whole.axes, int64_t(axis)))
      at[start] = whole.at[axis];
  if (scale)
    *scale *= factor;
  return true;
}

// A part along an axis that stands at one place.
bool AttentionOperand::throughPart(SymbolicShapes &shapes, Operation *op) {
  Value source = op->getOperand(0);
  int64_t rank = shapes.dims(source).size(), axis = onnx::axisAttr(op, rank), start = 0;
  auto fixed = [&](int64_t i) { return !llvm::is_contained(axes, i); };
  SmallVector<int64_t> axisOf = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto gather = dyn_cast<onnx::GatherOp>(op)) {
    auto index = onnx::integerElements(op->getOperand(1));
    if (!index || index->size() != 1 || index->front() < 0 || int64_t(shapes.dims(base).size()) != rank - 1)
      return false;
    axisOf.erase(axisOf.begin() + axis);
    rebase(source, axisOf, rank);
    at[axis] = index->front();
    return true;
  }
  if (auto split = dyn_cast<onnx::SplitOp>(op)) {
    for (Value r : split->getResults()) {
      if (r == base)
        break;
      auto size = shapes.hasRank(r) ? known(shapes.dims(r)[axis]) : std::nullopt;
      if (!size)
        return false;
      start += *size;
    }
  } else if (auto slice = dyn_cast<onnx::SliceOp>(op)) {
    auto list = [&](unsigned i) { return onnx::integerElements(onnx::operand(op, i)); };
    auto starts = list(1), along = onnx::operand(op, 3) ? list(3) : std::nullopt;
    auto steps = onnx::operand(op, 4) ? list(4) : std::optional<SmallVector<int64_t>>({1});
    if (!starts || starts->size() != 1 || starts->front() < 0 || !along || !steps || steps->front() < 1)
      return false;
    axis = onnx::fromFront(along->front(), rank), start = starts->front();
  } else {
    return false;
  }
  if (!fixed(axis) || (isa<onnx::SliceOp>(op) && at[axis] != 0))
    return false;
  rebase(source, axisOf, rank);
  at[axis] += start;
  return true;
}

Value PackedAttention::create(OpBuilder &b, Location loc, Type type, ArrayRef<int64_t> axes) const {
  auto ints = [&](ArrayRef<int64_t> list) { return b.getDenseI64ArrayAttr(list); };
  auto number = [&](double value) { return b.getF32FloatAttr(float(value)); };
  auto integer = [&](int64_t value) { return b.getI64IntegerAttr(value); };
  return onnx::PackedAttentionOp::create(b, loc, type, q.base, k.base, v.base, keep, bias, mask, ints(q.axes), ints(q.at), ints(k.axes),
                                         ints(k.at), ints(v.axes), ints(v.at), ints(axes), number(scale), number(fill), integer(keepIf),
                                         integer(zero), number(softcap), integer(atEnd), integer(before), integer(after), integer(masked));
}

void PackedAttention::replace(SymbolicShapes &shapes, Value y, ArrayRef<int64_t> groups) const {
  const int64_t rank = shapes.dims(y).size();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank)), axes(q.axes.size());
  Value last = y;
  if (y.hasOneUse())
    if (auto transpose = dyn_cast<onnx::TransposeOp>(*y.getUsers().begin()); transpose && transpose.getPerm())
      if (ArrayRef<int64_t> perm = *transpose.getPerm(); perm.back() == rank - 1)
        order.assign(perm), last = transpose.getTransposed();
  SmallVector<int64_t> starts{0};  // the logical axes of each of y's
  for (int64_t i = 0; i < rank; ++i)
    starts.push_back(starts.back() + (groups.empty() ? 1 : groups[i]));
  SmallVector<int64_t> places;  // the logical axis of each of the attention's
  for (int64_t axis : order)
    for (int64_t logical = starts[axis]; logical < starts[axis + 1]; ++logical) {
      axes[logical] = places.size();
      places.push_back(logical);
    }
  OpBuilder b(last.getDefiningOp());
  SmallVector<AffineExpr> whole(shapes.dims(last)), dims = whole;
  Type type = last.getType();
  if (!groups.empty()) {
    dims = llvm::map_to_vector(places, [&](int64_t i) { return i + 1 == starts.back() ? v.dim(shapes, i) : q.dim(shapes, i); });
    type = SymbolicShapes::tensorType(dims, onnx::elementType(y));
  }
  Value attention = create(b, y.getLoc(), type, axes);
  shapes.setDims(attention, dims);
  last.replaceAllUsesWith(groups.empty() ? attention : viewAs(shapes, b, y.getLoc(), attention, whole));
}

}  // namespace onnxc
