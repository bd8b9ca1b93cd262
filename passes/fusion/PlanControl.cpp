// PlanControl.cpp: If, Loop and Scan as scf ops over buffers and sizes. PlanBuilder.cpp builds the straight-line code of their bodies.
//
// argument  a SymbolDef::Argument dim of a block argument or of a result: an i64 that travels beside the buffer
// carried   state of a loop. A tensor made in the body is copied at the iteration's end to one of two places by parity, since the next
//           iteration writes over the body's memory; strings and objects live until the run ends, so their pointers travel
// stacked   a scan output. One block where the size is known before the loop, else memory that doubles
#include "passes/fusion/PlanBuilder.h"
#include "dialects/kernel/Weights.h"
#include "runtime_stub/plan.h"

using namespace mlir;
namespace onnxc {

// A tensor whose elements may be copied as bytes into memory that is used again.
static bool isCopied(Value v) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  return tensor && !isa<onnx::StringType>(tensor.getElementType());
}

// Positions of the dims of `v` that are symbols of its own.
SmallVector<unsigned> PlanBuilder::ownDims(Value v) const {
  SmallVector<unsigned> own;
  if (shapes.hasRank(v))
    for (auto [d, e] : llvm::enumerate(shapes.dims(v)))
      if (const SymbolDef *def = shapes.definition(e); def && def->kind == SymbolDef::Argument && def->value == v)
        own.push_back(d);
  return own;
}

void PlanBuilder::bindDim(Value v, unsigned d, Value size) { bind(cast<AffineSymbolExpr>(shapes.dims(v)[d]).getPosition(), size); }

// --- If ---

// Builds a branch where the builder stands and gives what it yields for `results`: buffers, each with the own dims of its result.
FailureOr<SmallVector<Value>> PlanBuilder::buildBranch(Block &block, ResultRange results) {
  scopes.emplace_back();
  if (failed(buildBlock(block)))
    return failure();
  SmallVector<Value> yields;
  for (auto [result, v] : llvm::zip(results, block.getTerminator()->getOperands())) {
    yields.push_back(bufferOf(v));
    size_t padded = shapes.hasRank(result) ? shapes.dims(result).size() - shapes.dims(v).size() : 0;  // leading axes of size 1
    for (unsigned d : ownDims(result))
      yields.push_back(d < padded ? constant(1, result.getLoc()) : size(shapes.dims(v)[d - padded], result.getLoc()));
  }
  scopes.pop_back();
  return yields;
}

void PlanBuilder::bindResults(ResultRange results, ValueRange values) {
  for (Value result : results) {
    buffers[result] = values.front();
    values = values.drop_front();
    for (unsigned d : ownDims(result)) {
      bindDim(result, d, values.front());
      values = values.drop_front();
    }
  }
}

LogicalResult PlanBuilder::buildIf(Operation *op) {
  Location loc = op->getLoc();
  Value condition = op->getOperand(0);
  // The branch that is not taken has no shapes when the condition is known.
  if (auto taken = shapes.takenBranch(op)) {
    auto yields = buildBranch(op->getRegion(*taken ? 0 : 1).front(), op->getResults());
    if (failed(yields))
      return failure();
    bindResults(op->getResults(), *yields);
    return success();
  }
  SmallVector<Type> types;
  for (Value result : op->getResults()) {
    types.push_back(pointer());
    types.append(ownDims(result).size(), b.getI64Type());
  }
  auto branch = scf::IfOp::create(b, loc, types, truth(condition, loc), true);
  for (unsigned i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = i ? branch.elseBlock() : branch.thenBlock();
    if (!block->empty())
      block->back().erase();
    b.setInsertionPointToEnd(block);
    auto yields = buildBranch(op->getRegion(i).front(), op->getResults());
    if (failed(yields))
      return failure();
    scf::YieldOp::create(b, loc, *yields);
  }
  bindResults(op->getResults(), branch.getResults());
  return success();
}

// --- loops ---

Value PlanBuilder::truth(Value condition, Location loc) {
  Value v = plan::ScalarOp::create(b, loc, b.getI64Type(), bufferOf(condition), onnx::elementType(condition));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, constant(0, loc));
}

struct PlanBuilder::Iteration {
  Operation *op;
  Block *body;
  ValueRange initial;  // of the state
  SmallVector<BlockArgument> state;
  unsigned firstYield;                 // terminator operand of state 0; the stacked values follow the state
  Value limit;                         // number of iterations at most
  Value start;                         // i1: whether to begin
  std::optional<unsigned> condition;   // terminator operand that says whether to go on
  bool counted;                        // `limit` is the number of iterations
  SmallVector<int64_t> axes, reverse;  // of the stacked values
};

static Value less(OpBuilder &b, Location loc, Value x, Value y) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y); }
static Value add(OpBuilder &b, Location loc, Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
static Value times(OpBuilder &b, Location loc, Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }

// Bytes of `v` behind `axis`, and the number of such pieces.
std::pair<Value, Value> PlanBuilder::pieces(Value v, int64_t axis, Location loc) {
  ArrayRef<AffineExpr> dims = shapes.dims(v);
  Value outer = constant(1, loc), inner = constant(storageBytes(onnx::elementType(v)), loc);
  for (auto [d, e] : llvm::enumerate(dims))
    (int64_t(d) < axis ? outer : inner) = times(b, loc, int64_t(d) < axis ? outer : inner, size(e, loc));
  return {outer, inner};
}

// Copies the item `at` of `count` along `axis` into (or, for `gather`, out of) a tensor: one piece for each index of the axes before.
void PlanBuilder::copyItem(Value whole, Value item, Value itemBuffer, int64_t axis, Value at, Value count, bool gather, Location loc) {
  std::pair<Value, Value> shape = pieces(item, axis, loc);
  Value outer = shape.first, inner = shape.second;
  auto one = [&](Value piece) {
    Value offset = times(b, loc, add(b, loc, times(b, loc, piece, count), at), inner);
    Value far = plan::OffsetOp::create(b, loc, pointer(), whole, offset);
    Value near = plan::OffsetOp::create(b, loc, pointer(), itemBuffer, times(b, loc, piece, inner));
    plan::CopyOp::create(b, loc, gather ? near : far, gather ? far : near, inner);
  };
  if (axis == 0)
    return one(constant(0, loc));
  auto loop = scf::ForOp::create(b, loc, constant(0, loc), outer, constant(1, loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  one(loop.getInductionVar());
}

// Memory for a carried value that the iteration after the next may write over.
Value PlanBuilder::keep(Value v, Value iteration, Location loc) {
  Value from = bufferOf(v), bytes = bytesOf(v, loc);
  Value odd =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, iteration, constant(1, loc)), constant(0, loc));
  auto place = scf::IfOp::create(b, loc, TypeRange(pointer()), odd, true);
  for (Block *block : {place.thenBlock(), place.elseBlock()}) {
    OpBuilder::InsertionGuard guard(b);
    if (!block->empty())
      block->back().erase();
    b.setInsertionPointToEnd(block);
    Value memory = plan::AllocOp::create(b, loc, pointer(), bytes, -1, -1, mostBytes(v), {});
    scf::YieldOp::create(b, loc, memory);
  }
  plan::CopyOp::create(b, loc, place.getResult(0), from, bytes);
  return place.getResult(0);
}

// Memory of at least `need` bytes that starts with the first `used` bytes of `memory`.
std::pair<Value, Value> PlanBuilder::grow(Value memory, Value capacity, Value used, Value need, bool exact, Location loc) {
  Value negative = less(b, loc, need, constant(0, loc));
  Value full = arith::OrIOp::create(b, loc, negative, less(b, loc, capacity, need));
  auto place = scf::IfOp::create(b, loc, TypeRange({pointer(), b.getI64Type()}), full, true);
  OpBuilder::InsertionGuard guard(b);
  for (Block *block : {place.thenBlock(), place.elseBlock()})
    if (!block->empty())
      block->back().erase();
  b.setInsertionPointToEnd(place.thenBlock());
  Value wanted = exact ? need : arith::SelectOp::create(b, loc, negative, need, times(b, loc, need, constant(2, loc)));
  Value larger = plan::HeapOp::create(b, loc, pointer(), wanted);
  plan::CopyOp::create(b, loc, larger, memory, used);
  scf::YieldOp::create(b, loc, ValueRange{larger, wanted});
  b.setInsertionPointToEnd(place.elseBlock());
  scf::YieldOp::create(b, loc, ValueRange{memory, capacity});
  return {place.getResult(0), place.getResult(1)};
}

// Stacks `item` in memory whose size was not known before the loop. `values`: memory, capacity, own dims of the result but `axis`; gives
// the same.
SmallVector<Value> PlanBuilder::stackGrowing(Value result, Value item, ValueRange values, int64_t axis, Value iteration, Value at,
                                             Value total) {
  Location loc = result.getLoc();
  Value bytes = bytesOf(item, loc), first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, iteration, constant(0, loc)), same;
  SmallVector<Value> dims;
  for (unsigned d : ownDims(result)) {
    if (int64_t(d) == axis)
      continue;
    Value now = size(shapes.dims(item)[d - (int64_t(d) > axis)], loc);
    Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, now, values[2 + dims.size()]);
    same = same ? Value(arith::AndIOp::create(b, loc, same, equal)) : equal;
    dims.push_back(now);
  }
  if (same)  // items of unequal shapes cannot be stacked
    failUnless(arith::OrIOp::create(b, loc, first, same), result.getDefiningOp(), ONNXC_K_SHAPE);
  Value used = times(b, loc, iteration, bytes);
  Value need = total ? times(b, loc, total, bytes) : add(b, loc, used, bytes);
  auto [memory, capacity] = grow(values[0], values[1], used, need, bool(total), loc);
  copyItem(memory, item, bufferOf(item), axis, at, total ? total : constant(0, loc), false, loc);
  SmallVector<Value> next = {memory, capacity};
  next.append(dims);
  return next;
}

// A size that the body declares for what it yields, else 0: the size of what no iteration stacks.
static int64_t declaredSize(Operation *yield, unsigned operand, unsigned d) {
  auto declared = yield->getAttrOfType<ArrayAttr>(onnx::kDeclaredAttr);
  auto sizes = declared && operand < declared.size() ? dyn_cast<DenseI64ArrayAttr>(declared[operand]) : DenseI64ArrayAttr();
  return sizes && d < sizes.size() ? std::max<int64_t>(sizes[d], 0) : 0;
}

// Everything that travels from iteration to iteration: number, condition, then for each state its buffer and own dims, then each growing
// stack.
SmallVector<Value> PlanBuilder::startValues(Iteration &it, Location loc) {
  SmallVector<Value> values = {constant(0, loc), it.start};
  for (auto [v, arg] : llvm::zip(it.initial, it.state)) {
    values.push_back(bufferOf(v));
    for (unsigned d : ownDims(arg))
      values.push_back(size(shapes.dims(v)[d], loc));
  }
  for (auto [i, axis] : llvm::enumerate(it.axes)) {
    Value result = it.op->getResult(it.state.size() + i);
    SmallVector<unsigned> own = ownDims(result);
    if (own.empty()) {
      allocate(result, loc);
      continue;
    }
    values.push_back(plan::HeapOp::create(b, loc, pointer(), constant(64, loc)));
    values.push_back(constant(0, loc));
    unsigned operand = it.firstYield + it.state.size() + i;
    for (unsigned d : own)
      if (int64_t(d) != axis)
        values.push_back(constant(declaredSize(it.body->getTerminator(), operand, d - (int64_t(d) > axis)), loc));
  }
  return values;
}

// The end of an iteration: what it carries on.
SmallVector<Value> PlanBuilder::nextValues(Iteration &it, ValueRange values, Location loc) {
  Operation *yield = it.body->getTerminator();
  Value iteration = values[0];
  SmallVector<Value> next = {add(b, loc, iteration, constant(1, loc))};
  next.push_back(it.condition ? truth(yield->getOperand(*it.condition), loc) : values[1]);
  values = values.drop_front(2);
  for (auto [i, arg] : llvm::enumerate(it.state)) {
    Value v = yield->getOperand(it.firstYield + i);
    bool stays = v == arg || !isCopied(v) || !it.op->isAncestor(v.getParentBlock()->getParentOp());
    next.push_back(stays ? bufferOf(v) : keep(v, iteration, loc));
    for (unsigned d : ownDims(arg))
      next.push_back(size(shapes.dims(v)[d], loc));
    values = values.drop_front(1 + ownDims(arg).size());
  }
  for (auto [i, axis] : llvm::enumerate(it.axes)) {
    Value result = it.op->getResult(it.state.size() + i), item = yield->getOperand(it.firstYield + it.state.size() + i);
    Value total = it.counted ? it.limit : Value(), at = iteration;
    if (it.reverse[i])
      at = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, it.limit, constant(1, loc)), iteration);
    SmallVector<unsigned> own = ownDims(result);
    if (own.empty()) {
      copyItem(buffers[result], item, bufferOf(item), axis, at, it.limit, false, loc);
      continue;
    }
    unsigned extra = llvm::count_if(own, [&, axis = axis](unsigned d) { return int64_t(d) != axis; });
    next.append(stackGrowing(result, item, values.take_front(2 + extra), axis, iteration, at, total));
    values = values.drop_front(2 + extra);
  }
  return next;
}

void PlanBuilder::bindLoopResults(Iteration &it, ValueRange values) {
  Value count = values[0];
  values = values.drop_front(2);
  for (auto [arg, result] : llvm::zip(it.state, it.op->getResults())) {
    buffers[result] = values.front();
    values = values.drop_front();
    for (unsigned d : ownDims(arg)) {
      bindDim(result, d, values.front());
      values = values.drop_front();
    }
  }
  for (auto [result, axis] : llvm::zip(it.op->getResults().drop_front(it.state.size()), it.axes)) {
    SmallVector<unsigned> own = ownDims(result);
    if (own.empty())
      continue;
    buffers[result] = values.front();
    values = values.drop_front(2);
    for (unsigned d : own) {
      bindDim(result, d, int64_t(d) == axis ? count : values.front());
      if (int64_t(d) != axis)
        values = values.drop_front();
    }
  }
}

// `prologue` gives the body's other arguments their buffers.
LogicalResult PlanBuilder::iterate(Iteration &it, llvm::function_ref<void(Value iteration)> prologue) {
  Location loc = it.op->getLoc();
  SmallVector<Value> start = startValues(it, loc);
  SmallVector<Type> types = llvm::to_vector(ValueRange(start).getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto loop = scf::WhileOp::create(b, loc, types, start);
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value go = arith::AndIOp::create(b, loc, before->getArgument(1), less(b, loc, before->getArgument(0), it.limit));
  scf::ConditionOp::create(b, loc, go, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  scopes.emplace_back();
  ValueRange values = ValueRange(after->getArguments()).drop_front(2);
  for (BlockArgument arg : it.state) {
    buffers[arg] = values.front();
    values = values.drop_front();
    for (unsigned d : ownDims(arg)) {
      bindDim(arg, d, values.front());
      values = values.drop_front();
    }
  }
  prologue(after->getArgument(0));
  if (failed(buildBlock(*it.body)))
    return failure();
  scf::YieldOp::create(b, loc, nextValues(it, after->getArguments(), loc));
  scopes.pop_back();
  bindLoopResults(it, loop.getResults());
  return success();
}

LogicalResult PlanBuilder::buildLoop(Operation *op) {
  Location loc = op->getLoc();
  OperandRange most = onnx::operands(op, 0), condition = onnx::operands(op, 1), initial = onnx::operands(op, 2);
  Iteration it{op, &op->getRegion(0).front(), initial, {}, 1, {}, {}, 0u, false, {}, {}};
  it.state.assign(it.body->args_begin() + 2, it.body->args_end());
  it.limit = constant(INT64_MAX, loc);
  if (!most.empty())
    it.limit = plan::ScalarOp::create(b, loc, b.getI64Type(), bufferOf(most.front()), onnx::elementType(most.front()));
  it.start = condition.empty() ? Value(arith::ConstantIntOp::create(b, loc, 1, 1)) : truth(condition.front(), loc);
  it.axes.assign(op->getNumResults() - it.state.size(), 0);
  it.reverse = it.axes;
  return iterate(it, [&](Value iteration) {
    Value number = plan::AllocOp::create(b, loc, pointer(), constant(8, loc), -1, -1, -1, {}),
          yes = plan::AllocOp::create(b, loc, pointer(), constant(8, loc), -1, -1, -1, {});
    plan::StoreOp::create(b, loc, iteration, number, 0);
    plan::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 1, 8), yes, 0);
    buffers[it.body->getArgument(0)] = number;
    buffers[it.body->getArgument(1)] = yes;
  });
}

LogicalResult PlanBuilder::buildScan(Operation *op) {
  Location loc = op->getLoc();
  if (onnx::opName(op) != "Scan")
    return op->emitError("no kernel computes this operator; `onnxc check` lists all such nodes");
  int64_t scanned = onnx::intAttr(op, "num_scan_inputs"), n = int64_t(op->getNumOperands()) - scanned;
  auto entry = [&](StringRef name, int64_t i) {
    ArrayRef<int64_t> values = onnx::intsAttr(op, name);
    return i < int64_t(values.size()) ? values[i] : 0;
  };
  auto axisOf = [&](StringRef name, int64_t i, Value whole) { return onnx::fromFront(entry(name, i), shapes.dims(whole).size()); };
  Iteration it{op, &op->getRegion(0).front(), op->getOperands().take_front(n), {}, 0, {}, {}, std::nullopt, true, {}, {}};
  it.state.assign(it.body->args_begin(), it.body->args_begin() + n);
  it.start = arith::ConstantIntOp::create(b, loc, 1, 1);
  it.limit = size(shapes.dims(op->getOperand(n))[axisOf("scan_input_axes", 0, op->getOperand(n))], loc);
  for (int64_t i = 0; i < int64_t(op->getNumResults()) - n; ++i) {
    it.axes.push_back(axisOf("scan_output_axes", i, op->getResult(n + i)));
    it.reverse.push_back(entry("scan_output_directions", i));
  }
  return iterate(it, [&](Value iteration) {
    for (int64_t i = 0; i < scanned; ++i) {
      Value whole = op->getOperand(n + i), item = it.body->getArgument(n + i), at = iteration;
      int64_t axis = axisOf("scan_input_axes", i, whole);
      if (entry("scan_input_directions", i))
        at = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, it.limit, constant(1, loc)), iteration);
      if (axis == 0) {
        buffers[item] = plan::OffsetOp::create(b, loc, pointer(), bufferOf(whole), times(b, loc, at, pieces(item, 0, loc).second));
        continue;
      }
      copyItem(bufferOf(whole), item, allocate(item, loc), axis, at, it.limit, true, loc);
    }
  });
}

}  // namespace onnxc
