// MoveTranspositions.cpp: a part of the graph that works in any order of axes gets the order that needs the fewest transpositions around
// it. Exporters of channels-last networks write a transposition on either side of every convolution, with scales, activations and sums
// between. Before simplify, which drops transpositions that undo each other and puts the scales into the weights before them.
//
// order  of a part: axis i of a value v of it is axis order[i] of the value that takes its place
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_MOVETRANSPOSITIONS
#include "passes/graph/Passes.h.inc"

namespace {
using Order = SmallVector<int64_t>;

Order inverse(ArrayRef<int64_t> order) {
  Order result(order.size());
  for (auto [i, axis] : llvm::enumerate(order))
    result[axis] = i;
  return result;
}

// Transpose(Transpose(x, first), second).
Order composed(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  return llvm::map_to_vector(second, [&](int64_t axis) { return first[axis]; });
}

std::optional<Order> orderOf(Operation *op) {
  auto transpose = dyn_cast_if_present<onnx::TransposeOp>(op);
  return transpose && transpose.getPerm() ? std::optional(Order(*transpose.getPerm())) : std::nullopt;
}

bool isSame(ArrayRef<int64_t> order) { return llvm::equal(order, llvm::seq<int64_t>(0, order.size())); }

SmallVector<int64_t> reordered(ArrayRef<int64_t> sizes, ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order, [&](int64_t axis) { return sizes[axis]; });
}

// How many elements a transposition moves; sizes that are not known count as 1. One that moves none is a view, but keeps ops apart.
double moved(ArrayRef<int64_t> sizes, ArrayRef<int64_t> order) {
  int64_t last = -1;
  bool moves = false;
  double count = 1;
  for (int64_t axis : order) {
    if (sizes[axis] == 1)
      continue;
    count *= ShapedType::isDynamic(sizes[axis]) ? 1 : double(sizes[axis]);
    moves |= axis < last;
    last = axis;
  }
  return moves ? count : isSame(order) ? 0 : 0.5;
}

// The integers of a constant operand.
std::optional<SmallVector<int64_t>> numbers(Operation *op, unsigned index) { return onnx::integerElements(onnx::operand(op, index)); }

bool reducesGivenAxes(Operation *op) {
  return isReduction(op) && rankedType(op->getOperand(0)) && numbers(op, 1) && !numbers(op, 1)->empty();
}

// The operands whose axes are the op's; others are numbers that say what it does with them.
OperandRange tensors(Operation *op) {
  return isPointwise(op) || isa<onnx::ConcatOp>(op) ? op->getOperands() : op->getOperands().take_front(1);
}

// A constant that broadcasting repeats, whatever its own rank.
bool isRepeated(Value v, int64_t rank) {
  auto type = rankedType(v);
  return type && type.hasStaticShape() && type.getRank() <= rank && onnx::constantValue(v);
}

bool isAnyOrder(Operation *op) {
  if (!op || !op->getNumResults() || !op->getNumOperands() || op->getNumRegions())
    return false;
  auto type = rankedType(op->getResult(0));
  int64_t rank = type ? type.getRank() : 0;
  if (rank < 2)
    return false;
  auto ofOne = [&](Value v) { return rankedType(v) && rankedType(v).hasStaticShape() && rankedType(v).getNumElements() == 1; };
  bool known = isa<onnx::ConcatOp, onnx::SplitOp>(op) ||
               (isa<onnx::QuantizeLinearOp, onnx::DequantizeLinearOp>(op) && llvm::all_of(op->getOperands().drop_front(), ofOne)) ||
               (isa<onnx::SliceOp>(op) && numbers(op, 3)) ||
               (isa<onnx::PadOp>(op) && numbers(op, 1) && (!onnx::operand(op, 3) || numbers(op, 3))) ||
               (reducesGivenAxes(op) && onnx::intAttr(op, "keepdims", 1)) ||
               (isPointwise(op) && !onnx::opName(op).starts_with("ms.") && onnx::opName(op) != "SwiGLU");
  return known && llvm::all_of(tensors(op), [&](Value v) {
           return rankedType(v) && (rankedType(v).getRank() == rank || isRepeated(v, rank) || rankedType(v).getRank() == 0);
         });
}

SmallVector<int64_t> mapped(ArrayRef<int64_t> axes, ArrayRef<int64_t> order) {
  int64_t rank = order.size();
  return llvm::map_to_vector(axes, [&](int64_t axis) { return order[onnx::fromFront(axis, rank)]; });
}

// Whether `op` gives the size of one axis.
bool readsOneSize(Operation *op) {
  auto shape = dyn_cast<onnx::ShapeOp>(op);
  auto type = shape ? rankedType(op->getOperand(0)) : RankedTensorType();
  if (!type || !shape.getEnd())
    return false;
  const int64_t start = shape.getStart(), end = *shape.getEnd();
  return start >= 0 && start < type.getRank() && end == start + 1;
}

// Whether a reader outside of a part may read the value in the place of its own: the size of an axis, or a reduction that drops axes and
// leaves the others in order.
bool follows(Operation *user, ArrayRef<int64_t> order) {
  if (readsOneSize(user))
    return true;
  if (!reducesGivenAxes(user) || onnx::intAttr(user, "keepdims", 1) || rankedType(user->getOperand(0)).getRank() != int64_t(order.size()))
    return false;
  SmallVector<int64_t> gone = mapped(*numbers(user, 1), order);
  Order left(order);
  llvm::erase_if(left, [&](int64_t axis) { return llvm::is_contained(gone, axis); });
  return llvm::is_sorted(left);
}

// Gives `op` what it says of axes in the order of its new operands.
void reorder(Operation *op, ArrayRef<int64_t> order) {
  OpBuilder b(op);
  GraphBuilder g{b, op->getLoc()};
  auto setNumbers = [&](unsigned index, ArrayRef<int64_t> values) {
    op->setOperand(onnx::operands(op, index).getBeginOperandIndex(), g.integers(values));
  };
  if (isa<onnx::ConcatOp, onnx::SplitOp>(op))
    op->setAttr("axis", b.getI64IntegerAttr(mapped(onnx::intAttr(op, "axis"), order)[0]));
  else if (readsOneSize(op)) {
    int64_t axis = order[onnx::intAttr(op, "start")];
    op->setAttr("start", b.getI64IntegerAttr(axis)), op->setAttr("end", b.getI64IntegerAttr(axis + 1));
  } else if (isa<onnx::SliceOp>(op) || (isa<onnx::PadOp>(op) && onnx::operand(op, 3)))
    setNumbers(3, mapped(*numbers(op, 3), order));
  else if (reducesGivenAxes(op))
    setNumbers(1, mapped(*numbers(op, 1), order));
  else if (isa<onnx::PadOp>(op)) {
    SmallVector<int64_t> pads = *numbers(op, 1), result(pads.size());
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t side : {size_t(0), order.size()})
        result[side + order[i]] = pads[side + i];
    setNumbers(1, result);
  }
}

// Ops of one block that work in any order of axes, and between which values are handed on.
struct Part {
  llvm::SetVector<Operation *> ops;

  bool has(Value v) const { return ops.contains(v.getDefiningOp()); }
  int64_t rank() const { return rankedType(ops.front()->getResult(0)).getRank(); }
  void grow(Operation *from);
  llvm::SetVector<Value> inputs() const;
  double cost(ArrayRef<int64_t> order) const;
  std::optional<Order> best() const;
  void apply(ArrayRef<int64_t> order) const;

private:
  Value enter(OpBuilder &b, Value v, ArrayRef<int64_t> order) const;
  void leave(Value old, Value v, ArrayRef<int64_t> order) const;
};

void Part::grow(Operation *from) {
  SmallVector<Operation *> next = {from};
  int64_t rank = rankedType(from->getResult(0)).getRank();
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (!op || op->getBlock() != from->getBlock() || !isAnyOrder(op) || rankedType(op->getResult(0)).getRank() != rank || !ops.insert(op))
      continue;
    for (Value v : tensors(op))
      next.push_back(v.getDefiningOp());
    for (Operation *user : op->getUsers())
      if (user->getBlock() == op->getBlock() && llvm::any_of(tensors(user), [&](Value v) { return v.getDefiningOp() == op; }))
        next.push_back(user);
  }
}

llvm::SetVector<Value> Part::inputs() const {
  llvm::SetVector<Value> result;
  for (Operation *op : ops)
    for (Value v : tensors(op))
      if (!has(v) && !onnx::constantValue(v) && rankedType(v).getRank() == rank())
        result.insert(v);
  return result;
}

// How many elements transpositions around the part move.
double Part::cost(ArrayRef<int64_t> order) const {
  double total = 0;
  auto outside = [&](Operation *user) { return !ops.contains(user); };
  for (Value v : inputs()) {
    auto own = orderOf(v.getDefiningOp());
    ArrayRef<int64_t> sizes = rankedType(own ? v.getDefiningOp()->getOperand(0) : v).getShape();
    total += moved(sizes, own ? composed(*own, inverse(order)) : inverse(order));
    auto moves = [&](Operation *user) { return outside(user) && !readsOneSize(user); };
    if (own && !isSame(order) && llvm::any_of(v.getUsers(), moves))
      total += moved(sizes, *own);
  }
  for (Operation *op : ops)
    for (Value v : op->getResults()) {
      SmallVector<int64_t> sizes = reordered(rankedType(v).getShape(), inverse(order));
      bool plain = false;
      for (Operation *user : llvm::make_filter_range(v.getUsers(), outside))
        if (auto own = orderOf(user))
          total += moved(sizes, composed(order, *own));
        else
          plain |= !follows(user, order);
      total += plain ? moved(sizes, order) : 0;
    }
  return total;
}

// The order that is better than the order it has; nothing where there is none.
std::optional<Order> Part::best() const {
  llvm::SetVector<Order, SmallVector<Order>, std::set<Order>> orders;
  for (Value v : inputs())
    if (auto own = orderOf(v.getDefiningOp()))
      orders.insert(*own);
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (auto own = orderOf(user))
        orders.insert(inverse(*own));
  if (orders.empty())
    return std::nullopt;
  double least = cost(llvm::to_vector(llvm::seq<int64_t>(0, rank())));
  std::optional<Order> result;
  for (const Order &order : orders)
    if (double c = cost(order); c < least)
      least = c, result = order;
  return result;
}

// What stands for `v`, which comes from outside.
Value Part::enter(OpBuilder &b, Value v, ArrayRef<int64_t> order) const {
  GraphBuilder g{b, v.getLoc()};
  auto type = rankedType(v);
  if (onnx::constantValue(v)) {
    if (type.getNumElements() == 1)
      return v;
    SmallVector<int64_t> shape(order.size() - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    return g.transpose(int64_t(shape.size()) == type.getRank() ? v : g.reshape(v, shape), inverse(order));
  }
  if (type.getRank() != int64_t(order.size()))
    return v;
  auto own = orderOf(v.getDefiningOp());
  return own ? g.transpose(v.getDefiningOp()->getOperand(0), composed(*own, inverse(order))) : g.transpose(v, inverse(order));
}

// Gives those that read `old` from outside what they need of `v`, which takes its place.
void Part::leave(Value old, Value v, ArrayRef<int64_t> order) const {
  Value plain;
  for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
    Operation *user = use.getOwner();
    if (ops.contains(user))
      continue;
    if (auto own = orderOf(user)) {
      OpBuilder b(user);
      Value moved = GraphBuilder{b, user->getLoc()}.transpose(v, composed(order, *own));
      moved.setType(user->getResult(0).getType());  // which may know sizes that the part's ops do not, and be the function's
      user->getResult(0).replaceAllUsesWith(moved);
      user->erase();
    } else if (follows(user, order)) {
      use.set(v);
      reorder(user, order);
    } else {
      OpBuilder b(v.getContext());
      b.setInsertionPointAfterValue(v);
      if (!plain) {
        plain = GraphBuilder{b, old.getLoc()}.transpose(v, order);
        plain.setType(old.getType());
      }
      use.set(plain);
    }
  }
}

void Part::apply(ArrayRef<int64_t> order) const {
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  llvm::DenseMap<Value, Value> map;
  for (Operation *op : sorted) {
    OpBuilder b(op);
    Operation *same = b.clone(*op);
    for (auto [operand, v] : llvm::zip(same->getOpOperands(), tensors(op))) {
      if (!map.count(v))
        map[v] = enter(b, v, order);
      operand.set(map[v]);
    }
    same->moveBefore(op);
    for (auto [old, v] : llvm::zip(op->getResults(), same->getResults())) {
      v.setType(rankedType(v).clone(reordered(rankedType(v).getShape(), inverse(order))));
      map[old] = v;
    }
    reorder(same, order);
  }
  for (Operation *op : sorted)
    for (Value v : op->getResults())
      leave(v, map.lookup(v), order);
  for (Operation *op : llvm::reverse(sorted))
    op->erase();
}

struct MoveTranspositions : impl::MoveTranspositionsBase<MoveTranspositions> {
  void runOnOperation() override {
    SmallVector<Part> parts;
    llvm::DenseSet<Operation *> seen;
    getOperation().walk([&](Operation *op) {
      if (seen.contains(op) || !isAnyOrder(op))
        return;
      parts.emplace_back().grow(op);
      seen.insert(parts.back().ops.begin(), parts.back().ops.end());
    });
    // A part that reads what others need transposed gains once these have moved.
    for (bool moved = true; moved;) {
      moved = false;
      SmallVector<Part> rest;
      for (Part &part : parts) {
        auto order = part.best();
        moved |= order.has_value();
        if (order)
          part.apply(*order);
        else
          rest.push_back(std::move(part));
      }
      parts = std::move(rest);
    }
  }
};
}  // namespace
}  // namespace onnxc
