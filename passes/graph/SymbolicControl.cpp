// SymbolicControl.cpp: shapes through If, Loop, Scan and SequenceMap. What a loop carries starts as its initial value and is widened to
// SymbolDef::Argument symbols, one dim at a time, until the body gives back what it was given.
#include "dialects/onnx/ControlFlow.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NodeLoc.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/SymbolicRules.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {

static constexpr int kMaxRounds = 64;

// The symbols of `e` are not made inside `op`.
bool ShapeEvaluator::visibleOutside(Operation *op, AffineExpr e) {
  bool visible = bool(e);
  if (e)
    s.walkSymbols(e, [&](const SymbolDef &def) {
      if (Value made = def.value)
        visible &= !op->isAncestor(made.getParentBlock()->getParentOp());
    });
  return visible;
}

void ShapeEvaluator::copyFacts(Value from, Value to) {
  s.forget(to);
  if (s.hasRank(from))
    s.setDims(to, Dims(s.dims(from)));
  if (DimsRef elements = s.partialElements(from); !elements.empty())
    s.setElements(to, Dims(elements));
  if (auto reals = s.realElements(from); !reals.empty())
    s.setReals(to, SmallVector<RealValue>(reals));
  if (const ItemShape *items = s.items(from))
    s.setItems(to, ItemShape(*items));
}

// The facts of `inner`, a value of a body of `op`, for its result: what is made inside becomes the result's own symbols.
static void exportFacts(SymbolicShapes &s, Value result, Value inner, llvm::function_ref<bool(AffineExpr)> visible) {
  if (s.hasRank(inner)) {
    Dims dims;
    for (auto [d, e] : llvm::enumerate(Dims(s.dims(inner))))
      dims.push_back(visible(e) ? e : s.symbol({SymbolDef::Argument, "", result, int64_t(d), {}, {}}));
    s.setDims(result, dims);
  }
  Dims elements(s.partialElements(inner));
  for (AffineExpr &e : elements)
    e = e && visible(e) ? e : AffineExpr();
  if (!elements.empty())
    s.setElements(result, elements);
  if (const ItemShape *items = s.items(inner)) {
    ItemShape outside = *items;
    for (AffineExpr &d : outside.dims)
      d = d && visible(d) ? d : AffineExpr();
    s.setItems(result, outside);
  }
}

// --- If ---

// A use as the condition of an If or a loop, which may have any rank.
static bool readsCondition(OpOperand &use) {
  Operation *user = use.getOwner(), *body = user->getParentOp();
  auto isNamed = [](Operation *op, StringRef name) { return onnx::isOnnx(op) && onnx::opName(op) == name; };
  bool ends = user->hasTrait<OpTrait::IsTerminator>() && isNamed(body, "Loop") && use.getOperandNumber() == 0;
  return ends || isNamed(user, "If") || (isNamed(user, "Loop") && onnx::operand(user, 1) == use.get() && use.getOperandNumber() <= 1);
}

static bool broadcasts(Operation *op) {
  static const llvm::StringSet<> names = {"Add",   "Sub",   "Mul",     "Div",   "Pow",  "Mod",         "Min",     "Max",
                                          "And",   "Or",    "Xor",     "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                          "Where", "PRelu", "BitShift"};
  return onnx::isOnnx(op) && names.contains(onnx::opName(op));
}
// Whether `op` broadcasts `v` against a tensor of at least `rank` axes.
static bool meetsRank(Operation *op, Value v, size_t rank) {
  return broadcasts(op) && llvm::any_of(op->getOperands(), [&](Value other) {
           auto type = llvm::dyn_cast<RankedTensorType>(other.getType());
           return other != v && type && size_t(type.getRank()) >= rank;
         });
}
// Whether all users do so, or read one number: leading axes of size 1 that `v` has or lacks change nothing.
static bool onlyBroadcast(Value v, size_t rank) {
  return llvm::all_of(v.getUses(), [&](OpOperand &use) { return readsCondition(use) || meetsRank(use.getOwner(), v, rank); });
}

// The same for one number, also of what is made of it and of what a loop carries: until a tensor of `rank` axes or a constant shape
// decides.
static bool takesAnyRank(Value v, size_t rank, llvm::SmallPtrSetImpl<Value> &seen) {
  auto follow = [&](Value next) { return !seen.insert(next).second || takesAnyRank(next, rank, seen); };
  return llvm::all_of(v.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner(), *parent = user->getParentOp();
    if (readsCondition(use) || meetsRank(user, v, rank))
      return true;
    if (broadcasts(user) || llvm::isa<onnx::NotOp, onnx::CastOp, onnx::NegOp, onnx::AbsOp>(user))
      return follow(user->getResult(0));
    if (auto reshape = llvm::dyn_cast<onnx::ReshapeOp>(user)) {
      auto target = onnx::integerElements(reshape.getShape());
      return use.getOperandNumber() == 0 && target && !llvm::is_contained(*target, 0);
    }
    if (!llvm::isa<onnx::YieldOp>(user))
      return false;
    if (llvm::isa<onnx::IfOp>(parent))
      return follow(parent->getResult(use.getOperandNumber()));
    auto loop = llvm::dyn_cast<onnx::LoopOp>(parent);
    const unsigned carried = use.getOperandNumber() - 1;  // the condition comes first
    return loop && carried < loop.getVInitial().size() && follow(loop.getBody().getArgument(carried + 2)) &&
           follow(loop.getResult(carried));
  });
}
static bool takesAnyRank(Value v, size_t rank) {
  llvm::SmallPtrSet<Value, 8> seen;
  return takesAnyRank(v, rank, seen);
}

void RankDoubts::Mixed::emit() const {
  onnx::emitNodeError(result.getOwner()) << "rank of result depends on run-time data: the branches give " << ranks[0] << " and " << ranks[1]
                                         << " axes; give both the same number (Unsqueeze, Reshape), or make the condition a constant";
}

// The number of entries of `v` says the rank of what is made from it.
static bool isShapeOf(Value v, bool versions) {
  auto type = llvm::dyn_cast<TensorType>(v.getType());
  return type && type.getElementType().isSignlessInteger(64) &&
         (versions || llvm::any_of(v.getUsers(), [](Operation *user) {
            return onnx::isOnnx(user) && (onnx::opName(user) == "Reshape" || onnx::opName(user) == "ConstantOfShape");
          }));
}

void ShapeEvaluator::doubt(OpResult result, size_t first, size_t second) {
  if (llvm::none_of(doubts.mixed, [&](const RankDoubts::Mixed &m) { return m.result == result; }))
    doubts.mixed.push_back({result, {first, second}});
}

static bool isOneNumber(ArrayRef<AffineExpr> dims) {
  return llvm::all_of(dims, [](AffineExpr d) { return known(d) == 1; });
}

// Facts that hold whichever branch is taken.
void ShapeEvaluator::joinBranches(OpResult result, Value a, Value b, llvm::function_ref<bool(AffineExpr)> visible) {
  const ItemShape *p = s.items(a), *q = s.items(b);
  if (auto items = joinItems(p, q))
    s.setItems(result, *items);
  else if (p && q && result.getOwner()->hasAttr(kVersionsAttr))
    return doubt(result, p->dims.size(), q->dims.size());
  if (!s.hasRank(a) || !s.hasRank(b))
    return;
  Dims x(s.dims(a)), y(s.dims(b));
  if (x.size() != y.size()) {
    size_t rank = std::max(x.size(), y.size());
    // A loop carries one number with one rank, so the ops of its body that read it cannot be made for both.
    bool carried =
        llvm::isa<onnx::LoopOp>(result.getOwner()->getParentOp()) && isOneNumber(x) && isOneNumber(y) && takesAnyRank(result, rank);
    if (!carried && !onlyBroadcast(result, rank))
      return doubt(result, x.size(), y.size());
    for (Dims *d : {&x, &y})
      d->insert(d->begin(), rank - d->size(), s.constant(1));
  }
  if (x.size() == 1 && isShapeOf(result, result.getOwner()->hasAttr(kVersionsAttr)))
    if (auto n = known(x[0]), m = known(y[0]); n && m && *n != *m)
      return doubt(result, *n, *m);
  for (auto [d, e] : llvm::enumerate(x))
    if (e != y[d] || !visible(e))
      e = s.symbol({SymbolDef::Argument, "", result, int64_t(d), {}, {}});
  s.setDims(result, x);
  DimsRef first = s.partialElements(a), second = s.partialElements(b);
  if (first.empty() || first.size() != second.size())
    return;
  Dims elements;
  for (auto [e, f] : llvm::zip(first, second))
    elements.push_back(e == f && e && visible(e) ? e : AffineExpr());
  s.setElements(result, elements);
}

// Exporters write squeeze(x, axis) as If(size == 1, Squeeze, Identity): where the ranks differ and it matters, the graph after it is made
// for the equal size. Takes that branch and leaves a run-time check of the sizes; nothing for other conditions.
bool ShapeEvaluator::assumeEqualSizes(Operation *op) {
  Operation *equal = op->getOperand(0).getDefiningOp();
  Operation *yields[2] = {op->getRegion(0).front().getTerminator(), op->getRegion(1).front().getTerminator()};
  bool ranksDiffer = false;
  for (auto [result, a, b] : llvm::zip(op->getResults(), yields[0]->getOperands(), yields[1]->getOperands()))
    ranksDiffer |= s.hasRank(a) && s.hasRank(b) && s.dims(a).size() != s.dims(b).size() &&
                   !onlyBroadcast(result, std::max(s.dims(a).size(), s.dims(b).size()));
  if (!ranksDiffer || !equal || !onnx::isOnnx(equal) || onnx::opName(equal) != "Equal")
    return false;
  DimsRef a = s.partialElements(equal->getOperand(0)), b = s.partialElements(equal->getOperand(1));
  if (a.size() != 1 || b.size() != 1 || !a[0] || !b[0])
    return false;
  bool sizes = true;
  for (AffineExpr e : {a[0], b[0]})
    s.walkSymbols(e, [&](const SymbolDef &def) { sizes &= def.kind != SymbolDef::Load; });
  if (!sizes)
    return false;
  s.assume(op, true, {op, a[0], b[0]});
  return true;
}

// A branch of an If that RankVersions.cpp made may be one that no run completes: that is a doubt, not an error.
LogicalResult ShapeEvaluator::evaluateBranch(Operation *op, unsigned i) {
  if (!op->hasAttr(kVersionsAttr))
    return evaluate(op->getRegion(i).front());
  std::string message;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &d) {
    if (message.empty())
      message = (nodeName(d.getLocation()).empty() ? "" : describeLoc(d.getLocation()) + ": ") + d.str();
  });
  if (succeeded(evaluate(op->getRegion(i).front())))
    return success();
  if (llvm::none_of(doubts.impossible, [&](const RankDoubts::Branch &b) { return b.op == op && b.region == i; }))
    doubts.impossible.push_back({op, i, message});
  return success();
}

// What is left of an If whose other branch no run completes: a run must take this one.
LogicalResult ShapeEvaluator::evaluateTaken(Operation *op, bool taken) {
  Value operand = op->getOperand(0);
  DimsRef known = s.partialElements(operand);
  AffineExpr condition = known.size() == 1 && known[0] ? known[0] : s.symbol({SymbolDef::Load, "", operand, 0, {}, {}});
  Block &branch = op->getRegion(taken ? 0 : 1).front();
  if (failed(evaluate(branch)))
    return failure();
  s.assume(op, taken, {op, condition, s.constant(taken)});
  for (auto [result, value] : llvm::zip(op->getResults(), branch.getTerminator()->getOperands())) {
    exportFacts(s, result, value, [&](AffineExpr e) { return visibleOutside(op, e); });
    loadSmallIntegers(s, result);
  }
  return success();
}

LogicalResult ShapeEvaluator::evaluateIf(Operation *op) {
  auto visible = [&](AffineExpr e) { return visibleOutside(op, e); };
  Value operand = op->getOperand(0);
  auto condition = s.constantElements(operand);
  if (failed(ShapeOp(s, op).oneNumber(operand, "the condition")))
    return failure();
  if (auto taken = op->getAttrOfType<BoolAttr>(kTakenAttr))
    return evaluateTaken(op, taken.getValue());
  SmallVector<Operation *> yields;
  for (auto [i, region] : llvm::enumerate(op->getRegions())) {
    bool taken = !condition || condition->empty() || (condition->front() != 0) == (i == 0);
    if (!taken)
      continue;
    if (failed(evaluateBranch(op, i)))
      return failure();
    yields.push_back(region.front().getTerminator());
  }
  if (yields.size() == 2 && assumeEqualSizes(op))
    yields.pop_back();
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (yields.size() == 1)
      exportFacts(s, result, yields[0]->getOperand(i), visible);
    else
      joinBranches(result, yields[0]->getOperand(i), yields[1]->getOperand(i), visible);
    loadSmallIntegers(s, result);
  }
  return success();
}

// --- loops ---

// Widens what is known of the items of a body's `arg`, a sequence, so that it holds for `next` too; true when it changed.
static bool widenItems(SymbolicShapes &s, BlockArgument arg, Value next, llvm::function_ref<bool(AffineExpr)> visible) {
  const ItemShape *now = s.items(arg), *then = s.items(next);
  if (!now)
    return false;
  std::optional<ItemShape> seen = then ? std::optional<ItemShape>(*then) : std::nullopt;
  if (seen)
    for (AffineExpr &d : seen->dims)
      d = d && visible(d) ? d : AffineExpr();
  auto both = joinItems(now, seen ? &*seen : nullptr);
  bool changed = !both || !(*both == *now);
  if (both)
    s.setItems(arg, *both);
  else
    s.forget(arg);
  return changed;
}

// Forgets what elements of a body's `arg` do not hold for `next` too; true where there were such.
static bool widenElements(SymbolicShapes &s, BlockArgument arg, Value next) {
  bool changed = false;
  Dims elements(s.partialElements(arg)), after(s.partialElements(next));
  bool sameElements = elements == after || elements.empty();
  bool isLoad = !elements.empty() && elements.front() && s.definition(elements.front()) && s.definition(elements.front())->value == arg;
  if (!sameElements && !isLoad) {
    changed = true;
    s.setElements(arg, {});
  }
  if (!s.realElements(arg).empty()) {
    changed = true;
    s.setReals(arg, {});
  }
  return changed;
}

// Widens the facts of a body's `arg` so that they hold for `next` too; true when they changed.
static FailureOr<bool> widen(SymbolicShapes &s, Operation *op, BlockArgument arg, Value next,
                             llvm::function_ref<bool(AffineExpr)> visible) {
  bool changed = widenItems(s, arg, next, visible);
  if (!s.hasRank(arg) || !s.hasRank(next))
    return changed;
  Dims dims(s.dims(arg)), given(s.dims(next));
  if (dims.size() != given.size())
    return onnx::emitNodeError(op) << "rank of result depends on run-time data: a carried value has " << dims.size() << " axes, then "
                                   << given.size() << "; give it the same number in every iteration (Unsqueeze, Reshape)";
  for (auto [d, e] : llvm::enumerate(dims)) {
    AffineExpr own = s.symbol({SymbolDef::Argument, "", arg, int64_t(d), {}, {}});
    if (e == own || e == given[d])
      continue;
    e = own;
    changed = true;
  }
  changed |= widenElements(s, arg, next);
  if (changed) {
    s.setDims(arg, dims);
    loadSmallIntegers(s, arg);
  }
  return changed;
}

// Whether what a loop carries may have the axes that its body gives it before the loop too: nobody reads it there, or it is one number, of
// any rank for those who do.
static bool mayTakeAxes(BlockArgument arg, ArrayRef<AffineExpr> given, ArrayRef<AffineExpr> next) {
  return given.size() < next.size() && ((given.empty() && isOneNumber(next) && takesAnyRank(arg, next.size())) || arg.use_empty());
}

// Evaluates the only body of `op` until the state holds. The body's results for it start at terminator operand `first`.
LogicalResult ShapeEvaluator::iterate(Operation *op, ValueRange initial, ArrayRef<BlockArgument> state, unsigned first) {
  Block &body = op->getRegion(0).front();
  const unsigned before = first ? op->getNumOperands() - initial.size() : 0;  // a Loop's state comes last, a Scan's first
  auto visible = [&](AffineExpr e) { return visibleOutside(op, e); };
  for (auto [v, arg] : llvm::zip(initial, state)) {
    copyFacts(v, arg);
    loadSmallIntegers(s, arg);
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    if (failed(evaluate(body)))
      return failure();
    bool changed = false;
    for (auto [i, arg] : llvm::enumerate(state)) {
      Value next = body.getTerminator()->getOperand(first + i);
      if (s.hasRank(arg) && s.hasRank(next) && mayTakeAxes(arg, s.dims(arg), s.dims(next))) {
        doubts.carried.push_back({&op->getOpOperand(before + i), arg, s.dims(arg).size(), s.dims(next).size()});
        s.forget(arg);
        continue;
      }
      auto one = widen(s, op, arg, next, visible);
      if (failed(one))
        return failure();
      changed |= *one;
    }
    if (!changed)
      return success();
  }
  return onnx::emitNodeError(op)
         << "shapes of the carried values do not settle; let the body keep their sizes, or make what decides them a constant";
}

void ShapeEvaluator::finishState(Operation *op, Value result, BlockArgument state) {
  exportFacts(s, result, state, [&](AffineExpr e) { return visibleOutside(op, e); });
  loadSmallIntegers(s, result);
}

// Stacks one `item` an iteration along a new axis.
LogicalResult ShapeEvaluator::finishStacked(Operation *op, Value result, Value item, AffineExpr trips, int64_t axis) {
  if (!s.hasRank(item))
    return success();
  Dims dims(s.dims(item));
  const int64_t rank = dims.size() + 1;
  if (axis < -rank || axis >= rank)
    return onnx::emitNodeError(op) << "output axis " << axis << " is outside the " << rank << " axes of the result";
  dims.insert(dims.begin() + onnx::fromFront(axis, rank), trips);
  for (auto [d, e] : llvm::enumerate(dims))
    if (!e || !visibleOutside(op, e))
      e = s.symbol({SymbolDef::Argument, "", result, int64_t(d), {}, {}});
  s.setDims(result, dims);
  loadSmallIntegers(s, result);
  return success();
}

// Number of iterations of a loop whose condition stays true; null otherwise.
static AffineExpr tripCount(SymbolicShapes &s, ShapeOp &o, Value nextCondition) {
  auto start = o.in(1) ? o.constantScalar(1) : std::optional<int64_t>(1);
  auto next = s.constantElements(nextCondition);
  if (start == 0)
    return s.constant(0);
  auto count = o.in(0) ? o.elements(0) : std::nullopt;
  bool counted = start && *start && next && next->size() == 1 && next->front() == 1 && count && count->size() == 1;
  AffineExpr trips = counted ? s.max(count->front(), s.constant(0)) : AffineExpr();
  auto fixed = known(trips);
  return fixed && *fixed > INT32_MAX ? AffineExpr() : trips;
}

static bool isTensorOf(Value v, unsigned bits) {
  auto type = llvm::dyn_cast<TensorType>(v.getType());
  return type && type.getElementType().isSignlessInteger(bits);
}

LogicalResult ShapeEvaluator::evaluateLoop(Operation *op) {
  ShapeOp o(s, op);
  Block &body = op->getRegion(0).front();
  OperandRange initial = o.inputs(2);
  unsigned n = initial.size();
  if (body.getNumArguments() != n + 2 || body.getTerminator()->getNumOperands() < n + 1 ||
      body.getTerminator()->getNumOperands() - 1 != op->getNumResults())
    return onnx::emitNodeError(op) << "the body takes " << body.getNumArguments() << " and gives " << body.getTerminator()->getNumOperands()
                                   << " values; " << n << " are carried and " << op->getNumResults() << " are results";
  if (!isTensorOf(body.getArgument(0), 64) || !isTensorOf(body.getArgument(1), 1) || !isTensorOf(body.getTerminator()->getOperand(0), 1))
    return onnx::emitNodeError(op) << "the body's iteration number must be int64 and its conditions bool";
  for (unsigned i = 0; i < 2; ++i)
    if (o.in(i) && failed(o.oneNumber(o.in(i), i ? "the condition" : "the number of iterations")))
      return failure();
  for (unsigned i = 0; i < 2; ++i) {
    auto type = llvm::dyn_cast<RankedTensorType>(body.getArgument(i).getType());
    s.setDims(body.getArgument(i), Dims(type ? type.getRank() : 0, s.constant(1)));
  }
  loadSmallIntegers(s, body.getArgument(0));
  s.setElements(body.getArgument(1), {s.constant(1)});  // a body that runs has a true condition
  SmallVector<BlockArgument> state(body.getArguments().drop_front(2));
  if (failed(iterate(op, initial, state, 1)))
    return failure();
  s.dropChecks(body.getTerminator());
  ValueRange yields = body.getTerminator()->getOperands();
  if (failed(o.oneNumber(yields[0], "the body's condition", body.getTerminator())))
    return failure();
  AffineExpr trips = tripCount(s, o, yields[0]);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (i < n)
      finishState(op, op->getResult(i), state[i]);
    else if (failed(finishStacked(op, op->getResult(i), yields[i + 1], trips, 0)))
      return failure();
  return success();
}

LogicalResult ShapeEvaluator::evaluateScan(Operation *op) {
  ShapeOp o(s, op);
  Block &body = op->getRegion(0).front();
  int64_t scanned = o.intAttr("num_scan_inputs"), n = int64_t(op->getNumOperands()) - scanned;
  ValueRange yields = body.getTerminator()->getOperands();
  if (scanned < 1 || n < 0 || body.getNumArguments() != op->getNumOperands() || yields.size() != op->getNumResults() ||
      int64_t(yields.size()) < n)
    return onnx::emitNodeError(op) << "the body takes " << body.getNumArguments() << " and gives " << yields.size()
                                   << " values; the node has " << op->getNumOperands() << " inputs and " << op->getNumResults()
                                   << " results";
  AffineExpr trips;
  ArrayRef<int64_t> inAxes = o.intsAttr("scan_input_axes"), outAxes = o.intsAttr("scan_output_axes");
  for (int64_t i = 0; i < scanned; ++i) {
    Value v = op->getOperand(n + i);
    Dims dims(s.dims(v));
    auto axis = o.axis(i < int64_t(inAxes.size()) ? inAxes[i] : 0, dims.size());
    auto same = failed(axis) ? FailureOr<AffineExpr>(failure()) : o.same(trips, dims[*axis], "lengths of the scanned inputs");
    if (failed(same))
      return failure();
    trips = *same ? *same : dims[*axis];
    dims.erase(dims.begin() + *axis);
    s.forget(body.getArgument(n + i));
    s.setDims(body.getArgument(n + i), dims);
    loadSmallIntegers(s, body.getArgument(n + i));
  }
  SmallVector<BlockArgument> state(body.getArguments().take_front(n));
  if (failed(iterate(op, op->getOperands().take_front(n), state, 0)))
    return failure();
  for (int64_t i = 0; i < int64_t(op->getNumResults()); ++i)
    if (i < n)
      finishState(op, op->getResult(i), state[i]);
    else if (failed(finishStacked(op, op->getResult(i), yields[i], trips, i - n < int64_t(outAxes.size()) ? outAxes[i - n] : 0)))
      return failure();
  return success();
}

LogicalResult ShapeEvaluator::evaluateSequenceMap(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != op->getNumOperands() || body.getTerminator()->getNumOperands() != op->getNumResults())
    return onnx::emitNodeError(op) << "the body takes " << body.getNumArguments() << " values for " << op->getNumOperands() << " inputs";
  for (auto [v, arg] : llvm::zip(op->getOperands(), body.getArguments())) {
    if (!llvm::isa<onnx::SeqType>(v.getType())) {
      copyFacts(v, arg);
      continue;
    }
    const ItemShape *items = s.items(v);
    auto element = llvm::dyn_cast<RankedTensorType>(llvm::cast<onnx::SeqType>(v.getType()).getElement());
    if ((!items || items->empty) && !element)
      return onnx::emitNodeError(op)
             << "rank of the items depends on run-time data; declare the items' axes where the sequence enters the graph";
    Dims dims = items && !items->empty ? items->dims : Dims(element.getRank());
    for (auto [d, e] : llvm::enumerate(dims))
      if (!e)
        e = s.symbol({SymbolDef::Argument, "", arg, int64_t(d), {}, {}});
    s.forget(arg);
    s.setDims(arg, dims);
    loadSmallIntegers(s, arg);
  }
  if (failed(evaluate(body)))
    return failure();
  for (auto [result, item] : llvm::zip(op->getResults(), body.getTerminator()->getOperands())) {
    if (!s.hasRank(item))
      continue;
    ItemShape items{false, Dims(s.dims(item))};
    for (AffineExpr &d : items.dims)
      d = visibleOutside(op, d) ? d : AffineExpr();
    s.setItems(result, items);
  }
  return success();
}

}  // namespace onnxc
