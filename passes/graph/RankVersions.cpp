// RankVersions.cpp: results of an If whose rank depends on the branch. A tensor has one rank in a plan, so the ops that read such a result
// are moved into both branches, layer by layer, until what leaves the If has one rank again. A branch in which they cannot be right is
// dropped: a run that would take it fails with a message. One number that a loop carries, and what it overwrites before anybody
// reads it, get the axes that they have afterwards, of size 1. The facts come from SymbolicShapes; FoldShapes.cpp is the caller.
#include "dialects/onnx/ControlFlow.h"
#include "dialects/onnx/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/SymbolicShapes.h"

using namespace mlir;
namespace onnxc {

void RankDoubts::Branch::emit() const {
  onnx::emitNodeError(op) << "neither branch gives results of a rank that what reads them takes: " << message;
}

void RankDoubts::Carried::emit() const {
  onnx::emitNodeError(before->getOwner()) << "a carried value has " << given << " axes, then " << axes
                                          << "; give it the same number in every iteration (Unsqueeze, Reshape)";
}

namespace {

constexpr int64_t kMaxClones = 20000;

class Versions {
public:
  LogicalResult settle(RankDoubts &doubts) {
    for (const RankDoubts::Branch &b : doubts.impossible)
      if (failed(drop(b)))
        return failure();
    for (const RankDoubts::Carried &u : doubts.carried)
      addAxes(u);
    if (!doubts.impossible.empty() || !doubts.carried.empty())
      return success();
    for (const RankDoubts::Mixed &m : doubts.mixed)
      waiting[m.result.getOwner()].push_back(m);
    while (!waiting.empty()) {
      auto [op, mixed] = *waiting.begin();
      waiting.erase(op);
      if (failed(pullReaders(op, mixed)))
        return failure();
    }
    return success();
  }

private:
  using Mixed = SmallVector<RankDoubts::Mixed>;

  LogicalResult drop(const RankDoubts::Branch &b) {
    if (b.op->hasAttr(kTakenAttr)) {
      b.emit();
      return failure();
    }
    Block &block = b.op->getRegion(b.region).front();
    Operation *yield = block.getTerminator();
    for (Value v : yield->getOperands())
      if (!llvm::isa<TensorType>(v.getType())) {
        b.emit();
        return failure();
      }
    OpBuilder at(&block, block.begin());
    SmallVector<Value> nothing;  // is never computed
    for (Value v : yield->getOperands()) {
      auto type = RankedTensorType::get({0}, llvm::cast<TensorType>(v.getType()).getElementType());
      nothing.push_back(onnx::ConstantOp::create(at, b.op->getLoc(), DenseElementsAttr::get(type, ArrayRef<Attribute>())));
    }
    yield->setOperands(nothing);
    for (Operation *op = yield->getPrevNode(), *before; op; op = before) {
      before = op->getPrevNode();
      if (op->use_empty())
        op->erase();
    }
    b.op->setAttr(kTakenAttr, BoolAttr::get(b.op->getContext(), b.region == 1));
    return success();
  }

  // The loop without a turn gives the same numbers, with more axes.
  static void addAxes(RankDoubts::Carried u) {
    Operation *loop = u.before->getOwner();
    auto any = UnrankedTensorType::get(onnx::elementType(u.argument));
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(u.axes - u.given)));
    OpBuilder b(loop);
    Value where = GraphBuilder{b, loop->getLoc()}.integers(axes);
    u.before->set(onnx::UnsqueezeOp::create(b, loop->getLoc(), any, u.before->get(), where));
    u.argument.setType(any);
    loop->getResult(u.argument.getArgNumber() - (llvm::isa<onnx::LoopOp>(loop) ? 2 : 0)).setType(any);
  }

  LogicalResult pullReaders(Operation *op, ArrayRef<RankDoubts::Mixed> mixed) {
    Block *block = op->getBlock();
    llvm::SmallSetVector<Operation *, 8> readers;
    Operation *parent = op->getParentOp();
    Mixed climbing;
    for (const RankDoubts::Mixed &m : mixed)
      for (OpOperand &use : m.result.getUses()) {
        Operation *reader = block->findAncestorOpInBlock(*use.getOwner());
        if (reader != block->getTerminator()) {
          readers.insert(reader);
          continue;
        }
        if (!llvm::isa<onnx::IfOp>(parent)) {
          m.emit();
          return failure();
        }
        climbing.push_back({parent->getResult(use.getOperandNumber()), {m.ranks[0], m.ranks[1]}});
      }
    if (climbing.empty())
      return pull(op, readers, mixed);
    forget(parent);
    return pullReaders(parent, climbing);
  }

  // The ops of `op`'s block, between it and the last of `readers`, that have to move into its branches with them. Those that do not depend
  // on it go before it.
  SmallVector<Operation *> gather(Operation *op, const llvm::SmallSetVector<Operation *, 8> &readers) {
    Block *block = op->getBlock();
    llvm::SmallSetVector<Operation *, 16> dependent;
    auto depends = [&](Operation *o) {
      return o
          ->walk([&](Operation *inner) {
            for (Value v : inner->getOperands())
              if (Operation *made = v.getDefiningOp())
                if (Operation *outer = block->findAncestorOpInBlock(*made); outer && (outer == op || dependent.contains(outer)))
                  return WalkResult::interrupt();
            return WalkResult::advance();
          })
          .wasInterrupted();
    };
    size_t left = readers.size();
    for (Operation *o = op->getNextNode(), *next; left; o = next) {
      next = o->getNextNode();
      left -= readers.contains(o);
      if (depends(o))
        dependent.insert(o);
      else
        o->moveBefore(op);
    }
    llvm::SmallPtrSet<Operation *, 16> moved;
    SmallVector<Operation *> list;
    for (Operation *o : llvm::reverse(dependent))
      if (readers.contains(o) || usedBy(o, moved)) {
        moved.insert(o);
        list.push_back(o);
      }
    std::reverse(list.begin(), list.end());
    return list;
  }
  static bool usedBy(Operation *o, const llvm::SmallPtrSetImpl<Operation *> &others) {
    return llvm::any_of(o->getUsers(), [&](Operation *user) { return others.contains(o->getBlock()->findAncestorOpInBlock(*user)); });
  }

  LogicalResult pull(Operation *op, const llvm::SmallSetVector<Operation *, 8> &readers, ArrayRef<RankDoubts::Mixed> mixed) {
    SmallVector<Operation *> moved = gather(op, readers);
    for (Operation *o : moved)
      o->walk([&](Operation *) { clones += 2; });
    if (clones > kMaxClones) {
      mixed.front().emit();
      return failure();
    }
    llvm::SmallPtrSet<Operation *, 16> set(moved.begin(), moved.end());
    SmallVector<Value> kept;  // what is read after the If
    auto keep = [&](Value v) {
      for (Operation *user : v.getUsers())
        if (!set.contains(op->getBlock()->findAncestorOpInBlock(*user)))
          return kept.push_back(v);
    };
    for (Operation *o : llvm::concat<Operation *const>(ArrayRef<Operation *>(op), moved))
      llvm::for_each(o->getResults(), keep);
    replace(op, moved, kept);
    return success();
  }

  void replace(Operation *op, ArrayRef<Operation *> moved, ArrayRef<Value> kept) {
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), ValueRange(kept).getTypes(), op->getAttrs());
    state.attributes.set(kVersionsAttr, UnitAttr::get(op->getContext()));
    for (Region &region : op->getRegions()) {
      Operation *yield = region.front().getTerminator();
      IRMapping map;
      map.map(op->getResults(), yield->getOperands());
      OpBuilder at(yield);
      for (Operation *o : moved)
        at.clone(*o, map);
      SmallVector<Value> yields;
      for (Value v : kept)
        yields.push_back(map.lookup(v));
      yield->setOperands(yields);
      state.addRegion()->takeBody(region);
    }
    Operation *made = OpBuilder(op).create(state);
    for (auto [from, to] : llvm::zip(kept, made->getResults()))
      Value(from).replaceAllUsesWith(to);
    for (Operation *o : llvm::reverse(moved))
      erase(o);
    erase(op);
  }

  void forget(Operation *op) {
    op->walk([&](Operation *o) { waiting.erase(o); });
  }
  void erase(Operation *op) {
    forget(op);
    op->erase();
  }

  llvm::MapVector<Operation *, Mixed> waiting;
  int64_t clones = 0;
};
}  // namespace

FailureOr<SymbolicShapes> computeWithVersions(Operation *root) {
  Versions versions;
  for (;;) {
    RankDoubts doubts;
    auto shapes = SymbolicShapes::compute(root, &doubts);
    if (succeeded(shapes) || doubts.empty() || failed(versions.settle(doubts)))
      return shapes;
  }
}

}  // namespace onnxc
