// SymbolicRulesSequence.cpp: sequences and optionals: the shape that all items have, as far as they agree.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

static bool isTensor(Value v) { return llvm::isa<TensorType>(v.getType()); }

// The tensor type of a sequence's or optional's items; null for other items.
static TensorType itemType(Value v) {
  Type type = v.getType();
  if (auto optional = llvm::dyn_cast<onnx::OptType>(type))
    type = optional.getElement();
  if (auto sequence = llvm::dyn_cast<onnx::SeqType>(type))
    type = sequence.getElement();
  return llvm::dyn_cast<TensorType>(type);
}

// What is known of the items of `v`: facts, else its type. Nothing when their ranks differ or are not known.
static std::optional<ItemShape> itemsOf(ShapeOp &o, Value v) {
  if (const ItemShape *known = o.s.items(v))
    return *known;
  auto type = llvm::dyn_cast_if_present<RankedTensorType>(itemType(v));
  if (!type)
    return std::nullopt;
  ItemShape items;
  for (int64_t d : type.getShape())
    items.dims.push_back(ShapedType::isDynamic(d) ? AffineExpr() : o.c(d));
  return items;
}

std::optional<ItemShape> joinItems(const ItemShape *a, const ItemShape *b) {
  if (!a || !b)
    return std::nullopt;
  if (a->empty || b->empty)
    return a->empty ? *b : *a;
  if (a->dims.size() != b->dims.size())
    return std::nullopt;
  ItemShape both = *a;
  for (auto [x, y] : llvm::zip(both.dims, b->dims))
    x = x == y ? x : AffineExpr();
  return both;
}
static std::optional<ItemShape> joined(const std::optional<ItemShape> &a, const std::optional<ItemShape> &b) {
  return joinItems(a ? &*a : nullptr, b ? &*b : nullptr);
}
static std::optional<ItemShape> tensorAsItem(ShapeOp &o, Value v) {
  if (!isTensor(v))
    return itemsOf(o, v);
  return ItemShape{false, Dims(o.s.dims(v))};
}
static LogicalResult setItems(ShapeOp &o, const std::optional<ItemShape> &items) {
  if (items)
    o.s.setItems(o.out(0), *items);
  return success();
}

static LogicalResult sequenceEmpty(ShapeOp &o) { return setItems(o, ItemShape{true, {}}); }
static LogicalResult sequenceConstruct(ShapeOp &o) {
  std::optional<ItemShape> items = ItemShape{true, {}};
  for (Value v : o.op->getOperands())
    items = joined(items, tensorAsItem(o, v));
  return setItems(o, items);
}
static LogicalResult sequenceInsert(ShapeOp &o) { return setItems(o, joined(itemsOf(o, o.in(0)), tensorAsItem(o, o.in(1)))); }
static LogicalResult sequenceErase(ShapeOp &o) { return setItems(o, itemsOf(o, o.in(0))); }
static LogicalResult scalar(ShapeOp &o) { return o.set(0, {}); }

// The item at a constant position of a sequence written out in the graph.
static Value namedItem(ShapeOp &o) {
  Operation *made = o.in(0).getDefiningOp();
  auto at = o.constantScalar(1);
  if (!made || !at || !onnx::isOnnx(made) || onnx::opName(made) != "SequenceConstruct")
    return {};
  int64_t n = made->getNumOperands(), i = onnx::fromFront(*at, n);
  return i >= 0 && i < n ? made->getOperand(i) : Value();
}
static LogicalResult sequenceAt(ShapeOp &o) {
  if (!isTensor(o.out(0)))
    return success();
  if (Value item = namedItem(o); item && isTensor(item)) {
    o.setElements(0, Dims(o.s.partialElements(item)));
    return o.set(0, o.s.dims(item));
  }
  auto items = itemsOf(o, o.in(0));
  return items && !items->empty ? o.set(0, items->dims) : o.setFromType(0);
}

static LogicalResult concatFromSequence(ShapeOp &o) {
  auto items = itemsOf(o, o.in(0));
  if (!items || items->empty)
    return o.setFromType(0);
  bool added = o.intAttr("new_axis");
  int64_t rank = items->dims.size() + added;
  auto axis = o.axis(o.intAttr("axis"), rank);
  if (failed(axis))
    return failure();
  Dims dims = items->dims;
  if (added)
    dims.insert(dims.begin() + *axis, AffineExpr());
  else
    dims[*axis] = {};
  return o.set(0, dims);
}

static LogicalResult splitToSequence(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  if (failed(axis))
    return failure();
  ItemShape items{false, Dims(o.dims(0))};
  auto split = o.in(1) ? o.constants(1) : std::nullopt;
  auto whole = known(o.dim(0, *axis));
  if (!o.in(1) && !o.intAttr("keepdims", 1))
    items.dims.erase(items.dims.begin() + *axis);
  else if (!o.in(1))
    items.dims[*axis] = o.c(1);
  else {
    bool scalarSplit = o.rank(1) == 0;
    bool even = split && !split->empty() && llvm::all_equal(*split) &&
                (!scalarSplit || (whole && split->front() > 0 && *whole % split->front() == 0));
    items.dims[*axis] = even ? o.c(split->front()) : AffineExpr();
  }
  return setItems(o, items);
}

// --- optionals ---

static LogicalResult optional(ShapeOp &o) {
  return setItems(o, o.in(0) ? tensorAsItem(o, o.in(0)) : std::optional<ItemShape>(ItemShape{true, {}}));
}
static LogicalResult optionalGetElement(ShapeOp &o) {
  if (isTensor(o.in(0)))
    return o.set(0, o.dims(0));
  auto items = itemsOf(o, o.in(0));
  if (!isTensor(o.out(0)))
    return setItems(o, items);
  return items && !items->empty ? o.set(0, items->dims) : o.setFromType(0);
}
static LogicalResult optionalHasElement(ShapeOp &o) {
  if (failed(o.set(0, {})))
    return failure();
  if (!o.in(0) || isTensor(o.in(0)))
    o.setElements(0, {o.c(o.in(0) ? 1 : 0)});
  return success();
}

void addSequenceRules(ShapeRules &rules) {
  rules["SequenceEmpty"] = sequenceEmpty;
  rules["SequenceConstruct"] = sequenceConstruct;
  rules["SequenceInsert"] = sequenceInsert;
  rules["SequenceErase"] = sequenceErase;
  rules["SequenceLength"] = scalar;
  rules["SequenceAt"] = sequenceAt;
  rules["ConcatFromSequence"] = concatFromSequence;
  rules["SplitToSequence"] = splitToSequence;
  rules["Optional"] = optional;
  rules["OptionalGetElement"] = optionalGetElement;
  rules["OptionalHasElement"] = optionalHasElement;
}

}  // namespace onnxc
