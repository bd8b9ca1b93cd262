// PlanBuilder.cpp: buffers, sizes and launches of straight-line graph code.
#include "passes/fusion/PlanBuilder.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/NodeLoc.h"
#include "dialects/onnx/Packed.h"
#include "runtime_stub/plan.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
namespace onnxc {

Value PlanBuilder::constant(int64_t v, Location loc) { return arith::ConstantIntOp::create(b, loc, v, 64); }

Value PlanBuilder::boundSymbol(unsigned index) const {
  for (const Scope &scope : llvm::reverse(scopes))
    if (Value v = scope.symbols.lookup(index))
      return v;
  return {};
}

void PlanBuilder::bind(unsigned symbol, Value value) {
  if (boundSymbol(symbol))  // what was computed from its old value is stale
    for (Scope &scope : scopes)
      scope.sizes.clear();
  scopes.back().symbols[symbol] = value;
}

Value PlanBuilder::symbolValue(unsigned index, Location loc) {
  if (Value v = boundSymbol(index))
    return v;
  SymbolDef def = shapes.symbols()[index];
  Value v;
  switch (def.kind) {
  case SymbolDef::Input: {
    unsigned position = entrySymbols.insert({index, entrySymbols.size()}).first->second;
    v = plan::SymbolOp::create(b, loc, b.getI64Type(), position);
    break;
  }
  case SymbolDef::Load:
    v = plan::LoadOp::create(b, loc, b.getI64Type(), bufferOf(def.value), def.index, onnx::elementType(def.value));
    break;
  case SymbolDef::Broadcast: {
    Value l = size(def.lhs, loc), r = size(def.rhs, loc);
    Value one = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, l, constant(1, loc));
    v = arith::SelectOp::create(b, loc, one, r, l);
    break;
  }
  case SymbolDef::Max:
    v = arith::MaxSIOp::create(b, loc, size(def.lhs, loc), size(def.rhs, loc));
    break;
  case SymbolDef::Min:
    v = arith::MinSIOp::create(b, loc, size(def.lhs, loc), size(def.rhs, loc));
    break;
  default:
    llvm_unreachable("definitions bind SizeOf and Argument symbols");
  }
  bind(index, v);
  return v;
}

// Deep expressions share their parts, so each is computed once a region.
Value PlanBuilder::size(AffineExpr e, Location loc) {
  if (auto s = dyn_cast<AffineSymbolExpr>(e))
    return symbolValue(s.getPosition(), loc);
  for (const Scope &scope : llvm::reverse(scopes))
    if (Value v = scope.sizes.lookup(e))
      return v;
  Value v = computeSize(e, loc);
  scopes.back().sizes[e] = v;
  return v;
}

Value PlanBuilder::computeSize(AffineExpr e, Location loc) {
  if (auto c = dyn_cast<AffineConstantExpr>(e))
    return constant(c.getValue(), loc);
  auto binary = cast<AffineBinaryOpExpr>(e);
  Value l = size(binary.getLHS(), loc), r = size(binary.getRHS(), loc);
  auto divisor = [&] {
    auto c = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return c && c.getValue() > 0 ? r : Value(arith::MaxSIOp::create(b, loc, r, constant(1, loc)));
  };
  switch (e.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, l, r);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, l, r);
  case AffineExprKind::Mod: {
    Value safe = divisor();
    return arith::SubIOp::create(b, loc, l, arith::MulIOp::create(b, loc, arith::FloorDivSIOp::create(b, loc, l, safe), safe));
  }
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(b, loc, l, divisor());
  default:
    return arith::CeilDivSIOp::create(b, loc, l, divisor());
  }
}

SmallVector<Value> PlanBuilder::sizes(Value v, Location loc) {
  SmallVector<Value> result;
  if (shapes.hasRank(v))
    for (AffineExpr e : shapes.dims(v))
      result.push_back(size(e, loc));
  return result;
}

Value PlanBuilder::bytesOf(Value v, Location loc) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  if (!tensor)
    return constant(16, loc);  // an onnxc_object
  if (auto ranked = dyn_cast<RankedTensorType>(tensor); ranked && ranked.hasStaticShape())
    return constant(ranked.getNumElements() * storageBytes(ranked.getElementType()), loc);
  return plan::BytesOp::create(b, loc, b.getI64Type(), sizes(v, loc), storageBytes(tensor.getElementType()));
}

// What no run that keeps to the ranges of its inputs' sizes exceeds; -1: nothing bounds it, or nobody wants to know.
int64_t PlanBuilder::mostBytes(Value v) {
  if (!reserve || !shapes.hasRank(v))
    return -1;
  int64_t most = storageBytes(onnx::elementType(v));
  for (AffineExpr e : shapes.dims(v))
    if (int64_t size = shapes.bounds(e).second; size == INT64_MAX || llvm::MulOverflow(most, std::max<int64_t>(size, 0), most))
      return -1;
  AffineExpr whole = shapes.product(shapes.dims(v));
  int64_t count = whole ? shapes.bounds(whole).second : INT64_MAX, bytes;
  return llvm::MulOverflow(count, storageBytes(onnx::elementType(v)), bytes) ? most : std::min(most, bytes);
}

bool PlanBuilder::knownAtEntry(AffineExpr e) const {
  bool known = true;
  shapes.walkSymbols(e, [&](const SymbolDef &def) {
    known &= def.kind == SymbolDef::Input || def.kind == SymbolDef::Broadcast || def.kind == SymbolDef::Max || def.kind == SymbolDef::Min;
  });
  return known;
}

Value PlanBuilder::bufferOf(Value v) {
  if (Value found = buffers.lookup(v))
    return found;
  // Constants are placed where they are first needed, at the start of the plan: every region sees them.
  OpBuilder::InsertionGuard guard(b);
  Block *entry = b.getInsertionBlock();
  while (!isa<func::FuncOp>(entry->getParentOp()))
    entry = entry->getParentOp()->getBlock();
  b.setInsertionPointToStart(entry);
  ElementsAttr value = onnx::constantValue(v);
  assert(value && "a value without a buffer is a constant");
  return buffers[v] = plan::WeightOp::create(b, v.getLoc(), pointer(), value, -1);
}

// The buffer of operand 0 of the op that makes `v`, where its kernel may write into it (a scatter's data) and nothing reads it afterwards;
// else null. Views, parts and wholes share buffers with values that may be read yet.
Value PlanBuilder::bufferInPlace(Value v) const {
  Operation *op = v.getDefiningOp();
  const LibraryRow *row = op ? findLibraryRow(onnx::opName(op)) : nullptr;
  if (!fast || alone || !row || !row->inPlace)
    return {};
  Value data = op->getOperand(0);
  Operation *source = data.getDefiningOp();
  auto alloc = buffers.lookup(data) ? buffers.lookup(data).getDefiningOp<plan::AllocOp>() : plan::AllocOp();
  auto sharesBuffer = [&] {
    Lowering lowering = loweringOf(source);
    return (lowering != Lowering::Kernel && lowering != Lowering::Contract) ||
           (parts && (parts->isWhole(source) || parts->isRead(source) || parts->of(data)));
  };
  if (!alloc || !source || source->getBlock() != op->getBlock() || !data.hasOneUse() || alloc->getBlock() != b.getInsertionBlock() ||
      sharesBuffer())
    return {};
  return alloc.getResult();
}

Value PlanBuilder::allocate(Value v, Location loc) {
  Operation *op = v.getDefiningOp();
  Value buffer = parts && op && parts->isWhole(op) ? buffers.lookup(v) : Value();
  if (buffer)
    return buffer;  // allocated for the first part
  auto tensor = dyn_cast<TensorType>(v.getType());
  if (const Part *part = parts ? parts->of(v) : nullptr)
    buffer = allocatePart(v, *part, loc);
  else if (auto it = outputOf.find(v); it != outputOf.end())
    buffer = plan::OutputOp::create(b, loc, pointer(), bytesOf(v, loc), it->second);
  else if (Value place = bufferInPlace(v))
    buffer = place;
  else if (!tensor || isa<onnx::StringType>(tensor.getElementType()))
    buffer = plan::HeapOp::create(b, loc, pointer(), bytesOf(v, loc));
  else
    buffer = plan::AllocOp::create(b, loc, pointer(), bytesOf(v, loc), -1, -1, mostBytes(v), {});
  return buffers[v] = buffer;
}

int64_t PlanBuilder::addSite(Operation *op, StringRef kernel) {
  std::string node = nodeName(op->getLoc());
  auto custom = dyn_cast<onnx::CustomCallOp>(op);
  sites.push_back(b.getStrArrayAttr({node, custom ? custom.getSymbol() : onnx::opName(op), kernel}));
  return sites.size() - 1;
}

// The symbol that `e` is if the size function of `op` says it.
std::optional<unsigned> PlanBuilder::sizeSymbol(AffineExpr e, Operation *op) const {
  auto s = dyn_cast<AffineSymbolExpr>(e);
  if (!s)
    return std::nullopt;
  const SymbolDef &def = shapes.symbols()[s.getPosition()];
  return def.kind == SymbolDef::SizeOf && def.value.getDefiningOp() == op ? std::optional<unsigned>(s.getPosition()) : std::nullopt;
}

bool PlanBuilder::needsSizesOf(AffineExpr e, Operation *op) const {
  bool needs = false;
  e.walk([&](AffineExpr part) { needs |= sizeSymbol(part, op).has_value(); });
  return needs;
}

// Result dims that depend on data: the size function says them first. Local dims that are not bound yet are passed as 0.
void PlanBuilder::bindSizes(Operation *root, KernelCall &call, ValueRange inputs, int64_t site) {
  Location loc = root->getLoc();
  SmallVector<AffineExpr> given;
  for (Value v : call.results)
    if (shapes.hasRank(v))
      llvm::append_range(given, shapes.dims(v));
  auto isPending = [&](AffineExpr e) { return needsSizesOf(e, root); };
  if (llvm::none_of(given, isPending))
    return;
  SmallVector<Value> dims;
  for (AffineExpr e : call.dims)
    dims.push_back(isPending(e) ? constant(0, loc) : size(e, loc));
  SmallVector<Type> types(given.size(), b.getI64Type());
  auto op = plan::SizeOp::create(b, loc, types, call.func.getName(), inputs, dims, site);
  for (auto [e, result] : llvm::zip(given, op.getResults()))
    if (auto symbol = sizeSymbol(e, root))
      bind(*symbol, result);
}

LogicalResult PlanBuilder::buildGroup(ArrayRef<Operation *> group, StringRef family) {
  Operation *root = group.back();
  Location loc = root->getLoc();
  KernelCall call = makeKernel(group, family);
  int64_t site = addSite(root, call.func.getName());
  SmallVector<Value> buffersOf, dims;
  SmallVector<int64_t> most;
  for (Value v : call.inputs)
    buffersOf.push_back(bufferOf(v));
  bindSizes(root, call, buffersOf, site);
  for (AffineExpr e : call.dims) {
    dims.push_back(size(e, loc));
    int64_t bound = shapes.bounds(e).second;
    most.push_back(bound == INT64_MAX ? 0 : bound);
  }
  for (Value v : call.results)
    buffersOf.push_back(allocate(v, loc));
  plan::LaunchOp::create(b, loc, call.func.getName(), buffersOf, dims, site, reserve ? b.getDenseI64ArrayAttr(most) : nullptr);
  return success();
}

LogicalResult PlanBuilder::buildView(Operation *op) {
  Value data = op->getOperand(0), result = op->getResult(0);
  // A reshape to a run-time target checks it first: its size function fails on an impossible one.
  if (isa<TensorType>(result.getType()) && llvm::any_of(shapes.dims(result), [&](AffineExpr e) { return needsSizesOf(e, op); }))
    return buildGroup(op, "library");
  buffers[result] = bufferOf(data);
  return success();
}

// Where `part` lies. Its whole is allocated where nothing has needed it before.
Value PlanBuilder::addressOf(const Part &part, Location loc) {
  Value buffer = buffers.lookup(part.whole);
  if (!buffer)
    buffer = parts->isWhole(part.whole.getDefiningOp()) ? allocate(part.whole, loc) : bufferOf(part.whole);
  int64_t element = storageBytes(onnx::elementType(part.whole));
  Value bytes = size(shapes.mul(part.offset, shapes.constant(element)), loc);
  return plan::OffsetOp::create(b, loc, pointer(), buffer, bytes);
}

// The place of `v` in its whole, or a buffer of its own in runs in which it is no part.
Value PlanBuilder::allocatePart(Value v, const Part &part, Location loc) {
  Value address = addressOf(part, loc);
  if (part.runs == shapes.constant(1))
    return address;
  Value isPart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size(part.runs, loc), constant(1, loc));
  Value bytes = arith::SelectOp::create(b, loc, isPart, constant(0, loc), bytesOf(v, loc));
  Value own = plan::AllocOp::create(b, loc, pointer(), bytes, -1, -1, mostBytes(v), {});
  return arith::SelectOp::create(b, loc, isPart, address, own);
}

// A slice lies in its operand; a concatenation is there once its operands are, but for those that must be copied. In runs in which the
// pieces are no parts the op's kernel moves them.
LogicalResult PlanBuilder::buildParts(Operation *op) {
  Location loc = op->getLoc();
  auto copies = parts->isWhole(op) ? parts->copiesOf(op) : ArrayRef<std::pair<Value, Part>>();
  AffineExpr runs = parts->runsOf(op);
  auto copy = [&] {
    for (auto &[v, part] : copies)
      plan::CopyOp::create(b, loc, addressOf(part, loc), bufferOf(v), bytesOf(v, loc));
  };
  if (runs == shapes.constant(1)) {
    if (parts->isRead(op))
      for (Value v : op->getResults())
        buffers[v] = addressOf(*parts->of(v), loc);
    copy();
    return success();
  }
  if (failed(buildGroup(op, "library")))
    return failure();
  Operation *launch = &*std::prev(b.getInsertionPoint());
  Value isMoved = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, size(runs, loc), constant(1, loc));
  OpBuilder::InsertionGuard guard(b);
  auto choice = scf::IfOp::create(b, loc, isMoved, !copies.empty());
  launch->moveBefore(choice.thenBlock()->getTerminator());
  if (!copies.empty()) {
    b.setInsertionPoint(choice.elseBlock()->getTerminator());
    scopes.emplace_back();
    copy();
    scopes.pop_back();
  }
  return success();
}

// A size that does not fit is an error of `op`.
void PlanBuilder::failUnless(Value holds, Operation *op, int32_t code, ValueRange blamed) {
  plan::CheckOp::create(b, op->getLoc(), holds, blamed, code, addSite(op, ""));
}

// Whether sizes fit as the check says.
Value PlanBuilder::holdsOf(const ShapeCheck &c, Location loc) {
  auto compare = [&](arith::CmpIPredicate p, Value l, Value r) -> Value { return arith::CmpIOp::create(b, loc, p, l, r); };
  auto equal = [&](Value l, Value r) { return compare(arith::CmpIPredicate::eq, l, r); };
  if (c.kind == ShapeCheck::Window)
    return compare(arith::CmpIPredicate::sge, size(c.room, loc), constant(0, loc));
  Value l = size(c.lhs, loc), r = size(c.rhs, loc), fits = equal(l, r);
  if (c.kind == ShapeCheck::Broadcast)
    fits = arith::OrIOp::create(b, loc, fits, arith::OrIOp::create(b, loc, equal(l, constant(1, loc)), equal(r, constant(1, loc))));
  return fits;
}

// Sizes that only the run knows and that must fit before `op` reads its operands: those of windows, or all others.
void PlanBuilder::buildChecksOf(Operation *op, bool windows) {
  Location loc = op->getLoc();
  Value holds, left, right;  // all of them; the two sizes of the last one that does not
  for (const ShapeCheck &c : shapes.checks(op)) {
    bool ready = (c.kind == ShapeCheck::Window) == windows;
    for (AffineExpr e : {c.lhs, c.rhs})  // sizes of its own results are the size function's to check
      shapes.walkSymbols(e, [&](const SymbolDef &def) { ready &= !def.value || def.value.getDefiningOp() != op; });
    if (!ready)
      continue;
    Value l = size(c.lhs, loc), r = size(c.rhs, loc), fits = holdsOf(c, loc);
    left = left ? Value(arith::SelectOp::create(b, loc, fits, left, l)) : l;
    right = right ? Value(arith::SelectOp::create(b, loc, fits, right, r)) : r;
    holds = holds ? Value(arith::AndIOp::create(b, loc, holds, fits)) : fits;
  }
  if (holds)
    failUnless(holds, op->hasTrait<OpTrait::IsTerminator>() && op->getParentOp() ? op->getParentOp() : op,
               windows ? ONNXC_K_WINDOW : ONNXC_K_SHAPE, {left, right});
}

void PlanBuilder::buildChecks(Operation *op) {
  for (bool windows : {false, true})
    buildChecksOf(op, windows);
}

LogicalResult PlanBuilder::buildOp(Operation *op) {
  buildChecks(op);
  if (onnx::opName(op) == "Constant")
    return success();
  if (parts && (parts->isRead(op) || parts->isWhole(op)))
    return buildParts(op);
  switch (loweringOf(op)) {
  case Lowering::View:
    return buildView(op);
  case Lowering::Control: {
    StringRef name = onnx::opName(op);
    return name == "If" ? buildIf(op) : name == "Loop" ? buildLoop(op) : buildScan(op);
  }
  case Lowering::Contract:
  case Lowering::Kernel:
    break;
  }
  if (!findLibraryRow(onnx::opName(op)))
    return op->emitError("no kernel computes this operator; `onnxc check` lists all such nodes");
  return buildGroup(op, "library");
}

LogicalResult PlanBuilder::buildFused(const Group &group) {
  for (Operation *op : group.ops)
    buildChecks(op);
  return buildGroup(group.ops, group.family);
}

LogicalResult PlanBuilder::buildBlock(Block &block) {
  Groups groups(block, shapes, fast, alone);
  std::optional<Parts> found;
  if (fast && !alone)
    found.emplace(block, shapes, groups,
                  Parts::Context{[&](Value v) { return outputOf.count(v); }, [&](AffineExpr e) { return knownAtEntry(e); }});
  llvm::SaveAndRestore<const Parts *> current(parts, found ? &*found : nullptr);
  for (Operation &op : block.without_terminator()) {
    const Group *group = groups.find(&op);
    if (group && group->ops.back() != &op)
      continue;
    if (failed(group ? buildFused(*group) : buildOp(&op)))
      return failure();
  }
  buildChecks(block.getTerminator());
  return success();
}

}  // namespace onnxc
