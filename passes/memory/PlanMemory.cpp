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

// Largest first; each takes the smallest gap that fits between what is already placed and live at the same time.
int64_t placeStatic(MutableArrayRef<Interval> all) {
  SmallVector<Interval *> order;
  for (Interval &i : all)
    if (i.bytes >= 0)
      order.push_back(&i);
  llvm::stable_sort(order, [](Interval *a, Interval *b) { return a->bytes > b->bytes; });
  SmallVector<Interval *> placed;
  int64_t total = 0;
  for (Interval *i : order) {
    SmallVector<std::pair<int64_t, int64_t>> busy;
    for (Interval *p : placed)
      if (overlap(*i, *p))
        busy.push_back({p->op.getOffset(), aligned(p->bytes)});
    llvm::sort(busy);
    int64_t at = 0, best = -1, bestGap = INT64_MAX, need = aligned(std::max<int64_t>(i->bytes, 1));
    for (auto [offset, bytes] : busy) {
      if (offset - at >= need && offset - at < bestGap)
        best = at, bestGap = offset - at;
      at = std::max(at, offset + bytes);
    }
    if (best < 0)
      best = at;
    i->op.setOffset(best);
    total = std::max(total, best + need);
    placed.push_back(i);
  }
  return total;
}

// Gives for each slot the most bytes of what is known to be bounded there.
SmallVector<int64_t> placeSlots(MutableArrayRef<Interval> all) {
  SmallVector<SmallVector<Interval *>> slots;
  SmallVector<int64_t> most;
  for (Interval &i : all) {
    if (i.bytes >= 0)
      continue;
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
    SmallVector<Interval> all = intervals(run);
    int64_t arena = placeStatic(all);
    getOperation()->setAttr("onnxc.arena_bytes", b.getI64IntegerAttr(arena));
    if (auto sizes = getOperation().lookupSymbol<func::FuncOp>("plan_sizes")) {
      Operation *end = sizes.getBody().back().getTerminator();
      OpBuilder ob(end);
      end->setOperand(0, arith::ConstantIntOp::create(ob, end->getLoc(), arena, 64));
    }
    SmallVector<int64_t> slots = placeSlots(all);
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
