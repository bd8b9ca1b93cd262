// Parts.cpp: slices that need no kernel, and concatenations whose operands are computed where they belong.
//
// A box of a tensor is one run of memory when it has size 1 along its first axes and the tensor's own size along its last ones. A Concat
// stays a kernel where more than half of its result would have to be copied, or where its result, which must exist from its first operand
// on, would raise the most memory that is live at once.
#include "passes/fusion/Parts.h"
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"

using namespace mlir;
namespace onnxc {

// What of a block's values is live when, in bytes; `position` is the time at which an op is built: that of its group's last op.
class Parts::Memory {
public:
  Memory(Block &block, SymbolicShapes &shapes, const Groups &groups, const Parts &parts, const Context &context);

  int64_t bytes(Value v) const;
  // Whether `whole`, the result of a Concat, may hold `inside` from the first of them on. The answer true is taken as done.
  bool share(Value whole, ArrayRef<Value> inside);

private:
  struct Life {
    int64_t begin, end, bytes;
  };
  int64_t lastUse(Value v) const;
  void add(int64_t begin, int64_t end, int64_t bytes);

  Block &block;
  SymbolicShapes &shapes;
  const Parts &parts;
  DenseMap<Operation *, int64_t> position;
  DenseMap<Value, Life> lives;
  std::vector<int64_t> live;
  int64_t most = 0;
};

Parts::Memory::Memory(Block &block, SymbolicShapes &shapes, const Groups &groups, const Parts &parts, const Context &context)
    : block(block), shapes(shapes), parts(parts) {
  int64_t n = 0;
  for (Operation &op : block)
    position[&op] = n++;
  live.resize(n);
  for (Operation &op : block)
    if (const Group *group = groups.find(&op))
      position[&op] = position.lookup(group->ops.back());
  for (Operation &op : block.without_terminator()) {
    bool isPlaced = loweringOf(&op) != Lowering::View && !parts.isRead(&op) && onnx::opName(&op) != "Constant";
    const Group *group = groups.find(&op);
    for (Value v : op.getResults()) {
      bool isInner = group && &op != group->ops.back() && llvm::all_of(v.getUsers(), [&](Operation *u) { return groups.find(u) == group; });
      if (!isPlaced || isInner || context.hasPlace(v) || !shapes.hasRank(v))
        continue;
      Life life{position.lookup(&op), lastUse(v), bytes(v)};
      lives[v] = life;
      add(life.begin, life.end, life.bytes);
    }
  }
  most = live.empty() ? 0 : *llvm::max_element(live);
}

void Parts::Memory::add(int64_t begin, int64_t end, int64_t bytes) {
  for (int64_t t = begin; t <= end; ++t)
    live[t] += bytes;
}

// Sizes that only the run knows count as what is expected, or as 128; what no machine holds as 2^44 elements, so that sums fit.
int64_t Parts::Memory::bytes(Value v) const {
  AffineExpr count = shapes.product(shapes.dims(v));
  if (!count)
    return 0;
  std::optional<int64_t> elements = shapes.valueAt(count, 128);
  return elements ? std::clamp<int64_t>(*elements, 0, int64_t(1) << 44) * storageBytes(onnx::elementType(v)) : 0;
}

int64_t Parts::Memory::lastUse(Value v) const {
  int64_t last = position.lookup(v.getDefiningOp());
  for (Operation *user : v.getUsers()) {
    Operation *op = block.findAncestorOpInBlock(*user);
    last = std::max(last, position.lookup(op));
    if (op == user && (loweringOf(op) == Lowering::View || parts.isRead(op)) && op->getOperand(0) == v)
      for (Value result : op->getResults())
        last = std::max(last, lastUse(result));
  }
  return last;
}

bool Parts::Memory::share(Value whole, ArrayRef<Value> inside) {
  auto found = lives.find(whole);
  if (found == lives.end())
    return true;  // the caller's buffer
  Life &own = found->second;
  int64_t begin = own.begin;
  for (Value v : inside)
    begin = std::min(begin, lives[v].begin);
  std::vector<int64_t> before = live;
  add(begin, own.begin - 1, own.bytes);
  for (Value v : inside)
    add(lives[v].begin, lives[v].end, -lives[v].bytes);
  int64_t end = own.end;
  for (Value v : inside)
    end = std::max(end, lives[v].end);
  add(own.end + 1, end, own.bytes);
  if (*std::max_element(live.begin() + begin, live.begin() + end + 1) > most) {
    live = std::move(before);
    return false;
  }
  own.begin = begin, own.end = end;
  return true;
}

Parts::Parts(Block &block, SymbolicShapes &shapes, const Groups &groups, Context context) : shapes(&shapes) {
  bool hasConcat = false;
  for (Operation &op : block.without_terminator()) {
    findRead(&op, context);
    hasConcat |= onnx::opName(&op) == "Concat";
  }
  if (!hasConcat)
    return;
  Memory memory(block, shapes, groups, *this, context);
  for (Operation &op : block.without_terminator())
    if (onnx::opName(&op) == "Concat")
      findWhole(&op, context, memory);
}

const Part *Parts::of(Value v) const {
  auto it = parts.find(v);
  return it == parts.end() ? nullptr : &it->second;
}

// Where `box` of `whole` lies; nothing when its elements are several runs. Kernels of small elements take whole vectors of them, so that
// those must begin on their borders.
std::optional<Part> Parts::partOf(Value whole, const Box &box) {
  ArrayRef<AffineExpr> sizes = shapes->dims(whole);
  Part part{whole, shapes->constant(0), shapes->constant(1)};
  AffineExpr step = shapes->constant(1);
  for (int64_t a = int64_t(sizes.size()) - 1; a >= 0; --a) {
    if (a > box.axis && box.sizes[a] != sizes[a])
      return std::nullopt;
    if (a < box.axis)
      part.runs = shapes->mul(part.runs, box.sizes[a]);
    part.offset = shapes->add(part.offset, shapes->mul(box.starts[a], step));
    step = shapes->mul(step, sizes[a]);
  }
  constexpr int64_t kBorder = 64;
  int64_t element = storageBytes(onnx::elementType(whole));
  if (!part.offset || !part.runs || part.runs.getLargestKnownDivisor() != 1)
    return std::nullopt;
  bool onBorder = part.offset == shapes->constant(0) || part.offset.getLargestKnownDivisor() % kBorder * element % kBorder == 0;
  return element >= 4 || onBorder ? std::optional(part) : std::nullopt;
}

// What a slice of step 1 takes. Sizes that the run gives as numbers are the kernel's to check.
std::optional<Parts::Box> Parts::boxOfSlice(Operation *slice) const {
  Value data = slice->getOperand(0), axesGiven = onnx::operand(slice, 3), stepsGiven = onnx::operand(slice, 4);
  int64_t rank = shapes->dims(data).size();
  auto starts = shapes->constantElements(onnx::operand(slice, 1)), ends = shapes->constantElements(onnx::operand(slice, 2));
  auto axes = axesGiven ? shapes->constantElements(axesGiven) : llvm::to_vector(llvm::seq<int64_t>(0, starts ? starts->size() : 0));
  auto steps = stepsGiven ? shapes->constantElements(stepsGiven) : SmallVector<int64_t>();
  if (!starts || !ends || !axes || !steps || axes->size() != starts->size() || !llvm::all_of(*steps, [](int64_t s) { return s == 1; }))
    return std::nullopt;
  Box box{SmallVector<AffineExpr>(rank, shapes->constant(0)), SmallVector<AffineExpr>(shapes->dims(slice->getResult(0))), 0};
  for (auto [given, start] : llvm::zip(*axes, *starts)) {
    int64_t a = onnx::fromFront(given, rank);
    auto size = shapes->constantOf(shapes->dims(data)[a]);
    if (shapes->dims(data)[a] != box.sizes[a])
      box.axis = std::max(box.axis, a);
    if (!size && start != 0)
      return std::nullopt;
    if (size)
      box.starts[a] = shapes->constant(std::clamp<int64_t>(onnx::fromFront(start, *size), 0, *size));
  }
  return box;
}

// What the results of a Slice, Split or Gather are of the first operand; nothing for other ops and where only the run can tell.
SmallVector<Parts::Box> Parts::boxesOf(Operation *op) const {
  StringRef name = onnx::opName(op);
  Value data = op->getOperand(0), second = onnx::operand(op, 1);
  if (name == "Slice") {
    auto box = boxOfSlice(op);
    return box ? SmallVector<Box>{*box} : SmallVector<Box>();
  }
  ArrayRef<AffineExpr> whole = shapes->dims(data);
  int64_t rank = whole.size(), axis = onnx::axisAttr(op, rank);
  auto size = shapes->constantOf(whole[axis]);
  auto given = second ? shapes->constantElements(second) : std::nullopt;
  if (!size || (second && !given))
    return {};
  Box box{SmallVector<AffineExpr>(rank, shapes->constant(0)), SmallVector<AffineExpr>(whole), axis};
  if (name == "Gather") {
    if (given->size() != 1 || given->front() >= *size || given->front() < -*size)
      return {};
    box.starts[axis] = shapes->constant(onnx::fromFront(given->front(), *size));
    box.sizes[axis] = shapes->constant(1);
    return {box};
  }
  SmallVector<Box> boxes;
  for (Value v : op->getResults()) {
    box.sizes[axis] = shapes->dims(v)[axis];
    boxes.push_back(box);
    box.starts[axis] = shapes->add(box.starts[axis], box.sizes[axis]);
  }
  return boxes;
}

// Whether `v` may be what the block gives: that must be no part of a model input, and no memory that the next iteration writes over.
static bool leaves(Value v) {
  return llvm::any_of(v.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() || (loweringOf(user) == Lowering::View && leaves(user->getResult(0)));
  });
}

void Parts::findRead(Operation *op, const Context &context) {
  StringRef name = onnx::opName(op);
  auto fits = [&](Value v) {
    return shapes->hasRank(v) && !context.hasPlace(v) && !leaves(v) && !isa<onnx::StringType>(onnx::elementType(v));
  };
  if ((name != "Slice" && name != "Split" && name != "Gather") || !shapes->hasRank(op->getOperand(0)) ||
      !llvm::all_of(op->getResults(), fits))
    return;
  SmallVector<Part> found;
  for (const Box &box : boxesOf(op))
    if (auto part = partOf(op->getOperand(0), box))
      found.push_back(*part);
  if (found.empty() || found.size() != op->getNumResults())
    return;
  reads.insert(op);
  runs[op] = found.front().runs;
  for (auto [v, part] : llvm::zip(op->getResults(), found))
    parts[v] = part;
}

// Whether a kernel of `block` computes `v` into a buffer that is allocated for it.
bool Parts::isComputed(Value v, Block *block) const {
  Operation *op = v.getDefiningOp();
  if (!op || op->getBlock() != block || onnx::constantValue(v) || reads.contains(op) || onnx::opName(op) == "custom.Call")
    return false;
  Lowering lowering = loweringOf(op);
  return lowering == Lowering::Kernel || lowering == Lowering::Contract;
}

void Parts::findWhole(Operation *concat, const Context &context, Memory &memory) {
  Value result = concat->getResult(0);
  if (!shapes->hasRank(result) || !llvm::all_of(shapes->dims(result), context.isKnown) || isa<onnx::StringType>(onnx::elementType(result)))
    return;
  int64_t rank = shapes->dims(result).size(), axis = onnx::axisAttr(concat, rank), copied = 0;
  Box box{SmallVector<AffineExpr>(rank, shapes->constant(0)), SmallVector<AffineExpr>(shapes->dims(result)), axis};
  SmallVector<std::pair<Value, Part>> inside, others;
  for (Value v : concat->getOperands()) {
    if (!shapes->hasRank(v))
      return;
    box.sizes[axis] = shapes->dims(v)[axis];
    std::optional<Part> part = partOf(result, box);
    if (!part || !context.isKnown(part->offset))
      return;
    Value root = v;
    while (root.getDefiningOp() && loweringOf(root.getDefiningOp()) == Lowering::View)
      root = root.getDefiningOp()->getOperand(0);
    // Sizes that are equal only in a run that passes the checks of the Concat, or of a view before it, are not yet when `root` is computed.
    bool fills = shapes->hasRank(root) && shapes->product(shapes->dims(root)) == shapes->product(box.sizes);
    bool isTaken = llvm::any_of(inside, [&](auto &p) { return p.first == root; });
    if (fills && isComputed(root, concat->getBlock()) && !isTaken && !of(root) && !context.hasPlace(root)) {
      inside.push_back({root, *part});
    } else {
      others.push_back({v, *part});
      copied += memory.bytes(v);
    }
    box.starts[axis] = shapes->add(box.starts[axis], box.sizes[axis]);
  }
  if (inside.empty() || 2 * copied > memory.bytes(result) || !memory.share(result, llvm::to_vector(llvm::make_first_range(inside))))
    return;
  for (auto &[root, part] : inside)
    parts[root] = part;
  runs[concat] = inside.front().second.runs;
  copies[concat] = std::move(others);
}

}  // namespace onnxc
