// PlanMemory.cpp: where every value lives. After FormKernels, before codegen.
//
// A value is live from its plan.alloc to the last use of its pointer or of anything derived from it; one from outside of a loop to the
// loop's end. So the branches of an If share memory. A pointer that a loop carries lives from the loop's begin to the end of the run.
#include "dialects/plan/PlanDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/memory/Passes.h"
#include "dialects/kernel/Weights.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

namespace onnxc {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/memory/Passes.h.inc"

using namespace mlir;
namespace {
constexpr int64_t kAlignment = 64;
int64_t aligned(int64_t n) { return llvm::alignTo(n, kAlignment); }

struct Interval {
  plan::AllocOp op;
  int64_t begin, end, bytes;  // bytes -1: not static
  int64_t at = -1;
};

// Ops of a plan in the order of their text, those of regions within the op that holds them.
class Liveness {
public:
  explicit Liveness(func::FuncOp f) : body(&f.getBody().front()) {
    f.walk<WalkOrder::PreOrder>([&](Operation *op) { first[op] = count++; });
    f.walk([&](Operation *op) { last[op] = lastWithin(op); });
  }

  Interval of(plan::AllocOp op) const {
    APInt bytes;
    int64_t size = matchPattern(op.getBytes(), m_ConstantInt(&bytes)) ? bytes.getSExtValue() : -1;
    Interval result{op, first.lookup(op), first.lookup(op), size};
    reach(op.getBuffer(), result);
    return result;
  }

private:
  int64_t lastWithin(Operation *op) const {
    int64_t n = first.lookup(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          n = std::max(n, last.lookup(&block.back()));
    return n;
  }

  // Extends `live` over all uses of the pointer `v`.
  void reach(Value v, Interval &live) const {
    for (Operation *user : v.getUsers()) {
      live.end = std::max(live.end, last.lookup(v.getParentBlock()->findAncestorOpInBlock(*user)));
      if (isa<plan::OffsetOp, arith::SelectOp>(user))
        reach(user->getResult(0), live);
      else if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp()); branch && isa<scf::YieldOp>(user)) {
        for (auto [given, result] : llvm::zip(user->getOperands(), branch.getResults()))
          if (given == v)
            reach(result, live);
      } else if (isa<plan::SetOutputOp>(user))
        live.end = count;
      else if (user->getNumRegions() || user->hasTrait<OpTrait::IsTerminator>())
        live.begin = std::min(live.begin, first.lookup(body->findAncestorOpInBlock(*user))), live.end = count;
    }
  }

  Block *body;
  DenseMap<Operation *, int64_t> first, last;
  int64_t count = 0;
};

SmallVector<Interval> intervals(func::FuncOp f) {
  Liveness live(f);
  SmallVector<Interval> result;
  f.walk([&](plan::AllocOp op) { result.push_back(live.of(op)); });
  return result;
}

bool overlap(const Interval &a, const Interval &b) { return a.begin <= b.end && b.begin <= a.end; }

// Largest first; each takes the smallest gap that fits between what is already placed and live at the same time. Gives the bytes of all.
int64_t place(MutableArrayRef<Interval> all) {
  SmallVector<Interval *> order = llvm::map_to_vector(all, [](Interval &i) { return &i; });
  llvm::stable_sort(order, [](Interval *a, Interval *b) { return a->bytes > b->bytes; });
  SmallVector<Interval *> placed;
  int64_t total = 0;
  for (Interval *i : order) {
    SmallVector<std::pair<int64_t, int64_t>> busy;
    for (Interval *p : placed)
      if (overlap(*i, *p))
        busy.push_back({p->at, aligned(p->bytes)});
    llvm::sort(busy);
    int64_t at = 0, best = -1, bestGap = INT64_MAX, need = aligned(std::max<int64_t>(i->bytes, 1));
    for (auto [offset, bytes] : busy) {
      if (offset - at >= need && offset - at < bestGap)
        best = at, bestGap = offset - at;
      at = std::max(at, offset + bytes);
    }
    i->at = best < 0 ? at : best;
    total = std::max(total, i->at + need);
    placed.push_back(i);
  }
  return total;
}

int64_t placeStatic(MutableArrayRef<Interval> all) {
  int64_t total = place(all);
  for (Interval &i : all)
    i.op.setOffset(i.at);
  return total;
}

// Sizes that the run knows when it begins: what plans compute from the sizes of inputs alone. Such arithmetic has a value for all sizes.
class EntrySizes {
public:
  explicit EntrySizes(func::FuncOp run) : body(run.getBody().front()) {
    auto ranges = run->getParentOfType<ModuleOp>()->getAttrOfType<DenseI64ArrayAttr>("onnxc.ranges");
    for (Operation &op : body)
      if ((isa<plan::SymbolOp, plan::BytesOp>(op) || isa<arith::ArithDialect>(op.getDialect())) && op.getNumResults() == 1 &&
          llvm::all_of(op.getOperands(), [&](Value v) { return values.count(v); }))
        values[op.getResult(0)] = evaluate(op, ranges);
  }

  // The bytes that `op` takes if sizes are as expected; none if they are not known when the run begins.
  std::optional<int64_t> likely(plan::AllocOp op) const {
    auto it = values.find(op.getBytes());
    return it == values.end() || op->getBlock() != &body ? std::nullopt : std::optional(std::max<int64_t>(it->second, 0));
  }

  // Moves what computes the sizes of `all` to the begin of the plan; gives the op behind.
  Operation *hoist(MutableArrayRef<Interval> all) {
    DenseSet<Operation *> needed;
    for (Interval &i : all)
      needed.insert(i.op.getBytes().getDefiningOp());
    SmallVector<Operation *> moved;
    Operation *behind = nullptr;
    for (Operation &op : llvm::reverse(body)) {
      if (!needed.contains(&op)) {
        behind = &op;
        continue;
      }
      moved.push_back(&op);
      for (Value v : op.getOperands())
        needed.insert(v.getDefiningOp());
    }
    for (Operation *op : llvm::reverse(moved))
      op->moveBefore(behind);
    return behind;
  }

private:
  // Sizes that nobody expects count as 128; what some runs need and others do not counts as not needed.
  int64_t evaluate(Operation &op, DenseI64ArrayAttr ranges) const {
    constexpr int64_t kSize = 128, kMost = int64_t(1) << 44;
    if (auto symbol = dyn_cast<plan::SymbolOp>(op)) {
      int64_t expected = ranges ? ranges[3 * symbol.getIndex() + 1] : -1;
      return expected < 0 ? kSize : expected;
    }
    if (auto bytes = dyn_cast<plan::BytesOp>(op)) {
      int64_t product = bytes.getElement();
      for (Value v : bytes.getSizes())
        if (llvm::MulOverflow(product, values.lookup(v), product) || product > kMost)
          return kMost;
      return product;
    }
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return std::min(values.lookup(select.getTrueValue()), values.lookup(select.getFalseValue()));
    SmallVector<Attribute> given;
    for (Value v : op.getOperands())
      given.push_back(IntegerAttr::get(v.getType(), values.lookup(v)));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(given, results)) || results.empty())
      return kSize;
    if (auto v = dyn_cast<Value>(results.front()))
      return values.lookup(v);
    auto number = dyn_cast<IntegerAttr>(cast<Attribute>(results.front()));
    return number ? number.getValue().getSExtValue() : kSize;
  }

  Block &body;
  DenseMap<Value, int64_t> values;
};

// The site of the first launch behind `op`, for which that is made.
IntegerAttr nextSite(Operation *op) {
  for (; op; op = op->getNextNode())
    if (auto site = op->getAttrOfType<IntegerAttr>("site"))
      return site;
  return {};
}

// Places of values whose sizes are known at `behind`, where the run begins: in one slot, offsets being sums of sizes. The likely sizes say
// which of two values that live together lies below the other; whatever the sizes are, it then begins where all below it end. Gives the
// slot's most bytes. What cannot be had fails in the name of what makes the largest value.
int64_t placeKnown(MutableArrayRef<Interval> all, int64_t slot, Operation *behind) {
  place(all);
  llvm::stable_sort(all, [](const Interval &a, const Interval &b) { return a.at < b.at; });
  OpBuilder b(behind);
  Location loc = behind->getLoc();
  auto number = [&](int64_t n) { return arith::ConstantIntOp::create(b, loc, n, 64); };
  auto largest = [&](Value l, Value r) { return l ? arith::MaxSIOp::create(b, loc, l, r) : r; };
  SmallVector<Value> at, end;
  SmallVector<int64_t> most;  // bytes up to an end
  llvm::BitVector isTop(all.size(), true);
  Value zero = number(0), past = number(kAlignment - 1), mask = number(-kAlignment), total;
  for (auto [n, i] : llvm::enumerate(all)) {
    SmallVector<size_t> under;  // but for what lies under one of these
    int64_t mostAt = 0;
    Value begin;
    for (size_t p = n; p-- > 0;)
      if (overlap(i, all[p]) && llvm::none_of(under, [&](size_t q) { return overlap(all[p], all[q]); })) {
        under.push_back(p);
        isTop.reset(p);
        begin = largest(begin, end[p]);
        mostAt = std::max(mostAt, most[p]);
      }
    at.push_back(begin ? begin : zero);
    Value bytes = i.op.getBytes();
    Value whole = arith::AndIOp::create(b, loc, arith::AddIOp::create(b, loc, bytes, past), mask);
    end.push_back(arith::AddIOp::create(b, loc, at.back(), whole));
    int64_t size = aligned(std::clamp<int64_t>(i.op.getMost(), 0, INT64_MAX / 2));
    most.push_back(llvm::AddOverflow(mostAt, size, mostAt) ? INT64_MAX : mostAt);
  }
  for (size_t n : isTop.set_bits())
    total = largest(total, end[n]);
  bool isBounded = llvm::none_of(all, [](Interval &i) { return int64_t(i.op.getMost()) < 0; });
  int64_t mostBytes = *llvm::max_element(most);
  Interval *widest = llvm::max_element(all, [](const Interval &a, const Interval &b) { return a.bytes < b.bytes; });
  Value memory = plan::AllocOp::create(b, loc, widest->op.getType(), total, -1, slot, isBounded ? mostBytes : -1, nextSite(widest->op));
  for (auto [i, offset] : llvm::zip(all, at)) {
    b.setInsertionPoint(i.op);
    i.op.replaceAllUsesWith(plan::PlaceOp::create(b, i.op.getLoc(), i.op.getType(), i.op.getBytes(), memory, offset).getResult());
    i.op.erase();
  }
  return mostBytes;
}

// Gives for each slot the most bytes of what is known to be bounded there. Slot 0 is that of `known`, if there are any: each run takes it
// when it begins, so that what data decides may have it only behind the last of them.
SmallVector<int64_t> placeSlots(MutableArrayRef<Interval> others, MutableArrayRef<Interval> known, EntrySizes &entry) {
  SmallVector<SmallVector<Interval *>> slots;
  SmallVector<int64_t> most;
  Interval whole{{}, 0, 0, 0};
  if (!known.empty()) {
    for (const Interval &i : known)
      whole.end = std::max(whole.end, i.end);
    most.push_back(placeKnown(known, 0, entry.hoist(known)));
    slots.push_back({&whole});
  }
  for (Interval &i : others) {
    auto free = llvm::find_if(slots, [&](auto &slot) { return llvm::none_of(slot, [&](Interval *p) { return overlap(i, *p); }); });
    if (free == slots.end())
      free = slots.insert(slots.end(), SmallVector<Interval *>());
    free->push_back(&i);
    i.op.setSlot(free - slots.begin());
    most.resize(slots.size());
    most[i.op.getSlot()] = std::max<int64_t>(most[i.op.getSlot()], i.op.getMost());
  }
  return most;
}

// An input's description with the `offset` of its default, if it has one, behind the weights placed so far.
DictionaryAttr placeDefault(DictionaryAttr input, int64_t &total) {
  auto value = input.getAs<ElementsAttr>("default");
  if (!value)
    return input;
  NamedAttrList attrs(input);
  attrs.set("offset", Builder(input.getContext()).getI64IntegerAttr(total));
  total = aligned(total + weightBytes(value));
  return attrs.getDictionary(input.getContext());
}

// Offsets of weights. Equal contents stand once, also of several constants: layers that share their weights pack them one by one. Weights
// of more than `kCompared` bytes are not read for that: a file of holes may hold terabytes.
constexpr int64_t kCompared = int64_t(4) << 30;
int64_t placeWeights(func::FuncOp run) {
  SmallVector<plan::WeightOp> weights;
  double bytes = 0;
  run.walk([&](plan::WeightOp op) {
    if (isa<DenseElementsAttr, DenseResourceElementsAttr>(op.getValue()) && !isa<DenseStringElementsAttr>(op.getValue()))
      weights.push_back(op), bytes += double(weightBytes(op.getValue()));  // strings are data of the code
  });
  DenseMap<Attribute, int64_t> offsets;
  DenseMap<StringRef, int64_t> contents(weights.size());  // with room for all: growing would read every weight again
  int64_t total = 0;
  for (plan::WeightOp op : weights) {
    auto [it, isNew] = offsets.try_emplace(op.getValue(), total);
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()); resource && isNew && bytes <= kCompared) {
      ArrayRef<char> data = resource.getData();
      auto [same, fresh] = contents.try_emplace(StringRef(data.data(), data.size()), total);
      it->second = same->second, isNew = fresh;
    }
    op.setOffset(it->second);
    if (isNew)
      total = aligned(total + weightBytes(op.getValue()));
  }
  return total;
}

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    Builder b(&getContext());
    auto run = getOperation().lookupSymbol<func::FuncOp>("plan_run");
    if (!run)
      return;
    SmallVector<Interval> fixed, known, others;
    EntrySizes entry(run);
    for (Interval &i : intervals(run)) {
      if (std::optional<int64_t> likely = i.bytes < 0 ? entry.likely(i.op) : std::nullopt)
        i.bytes = *likely, known.push_back(i);
      else
        (i.bytes < 0 ? others : fixed).push_back(i);
    }
    int64_t arena = placeStatic(fixed);
    getOperation()->setAttr("onnxc.arena_bytes", b.getI64IntegerAttr(arena));
    if (auto sizes = getOperation().lookupSymbol<func::FuncOp>("plan_sizes")) {
      Operation *end = sizes.getBody().back().getTerminator();
      OpBuilder ob(end);
      end->setOperand(0, arith::ConstantIntOp::create(ob, end->getLoc(), arena, 64));
    }
    SmallVector<int64_t> slots = placeSlots(others, known, entry);
    getOperation()->setAttr("onnxc.num_slots", b.getI64IntegerAttr(slots.size()));
    if (getOperation()->hasAttr("onnx.reserve"))
      getOperation()->setAttr("onnxc.slot_bytes", b.getDenseI64ArrayAttr(slots));
    int64_t total = placeWeights(run);
    SmallVector<Attribute> inputs;
    for (DictionaryAttr input : getOperation()->getAttrOfType<ArrayAttr>("onnxc.inputs").getAsRange<DictionaryAttr>())
      inputs.push_back(placeDefault(input, total));
    getOperation()->setAttr("onnxc.inputs", b.getArrayAttr(inputs));
    getOperation()->setAttr("onnxc.weights_bytes", b.getI64IntegerAttr(total));
  }
};
}  // namespace
}  // namespace onnxc
