// Groups.cpp: ops join the group of all their users, backwards through the block. A group is a loop over one space: elementwise ops, and at
// most one op of rows with elementwise ops before and after it.
#include "passes/fusion/Groups.h"
#include "dialects/kernel/Families.h"

using namespace mlir;
namespace onnxc {

constexpr size_t kMostOps = 32;

// Rows of the last dim stay rows.
static bool keepsRows(Operation *op) {
  if (onnx::opName(op) != "Transpose" || !isa<RankedTensorType>(op->getOperand(0).getType()))
    return false;
  std::optional<ArrayRef<int64_t>> perm = onnx::optionalInts(op, "perm");
  return perm && !perm->empty() && perm->back() == int64_t(perm->size()) - 1;
}

static bool isTranspose(Operation *op) { return onnx::opName(op) == "Transpose" && hasLoopType(op->getOperand(0)); }

static bool isLoop(Operation *op) { return isPointwise(op) || isChannelwise(op) || rowAxes(op) || isTranspose(op); }

Groups::Groups(Block &block, SymbolicShapes &shapes, bool loops, bool alone) : shapes(&shapes) {
  for (const SymbolDef &def : shapes.symbols())
    if (def.kind == SymbolDef::Load)
      read.insert(def.value);
  for (Operation &op : block.without_terminator())
    if (loweringOf(&op) == Lowering::Contract && !groupOf.count(&op))
      add(alone ? SmallVector<Operation *>{&op} : contraction(&op), "contract");
  size_t contractions = groups.size();
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    unsigned group;
    if (!loops || groupOf.count(&op) || !isGenerated(&op))
      continue;
    if (!alone && joins(&op, group)) {
      groups[group].ops.push_back(&op);
      groupOf[&op] = group;
    } else {
      group = groups.size();
      add(&op, "loops");
    }
    if (rowAxes(&op))
      groups[group].row = &op;
  }
  for (Group &g : MutableArrayRef(groups).drop_front(contractions))
    std::reverse(g.ops.begin(), g.ops.end());
}

void Groups::add(ArrayRef<Operation *> ops, StringRef family) {
  for (Operation *op : ops)
    groupOf[op] = groups.size();
  groups.push_back({SmallVector<Operation *>(ops), family});
}

const Group *Groups::find(Operation *op) const {
  auto it = groupOf.find(op);
  return it == groupOf.end() ? nullptr : &groups[it->second];
}

// Whether generated code computes `op`.
bool Groups::isGenerated(Operation *op) const {
  auto ranked = [&](Value v) { return shapes->hasRank(v) && isa<RankedTensorType>(v.getType()); };
  return isLoop(op) && llvm::all_of(op->getOperands(), ranked) && llvm::all_of(op->getResults(), ranked);
}

// Whether `user`, in `group`, may compute `op` where it needs it. Elements that are broadcast would be computed again for each use.
bool Groups::fits(Operation *op, Operation *user, const Group &group) const {
  if (group.family != "loops")
    return false;
  Value v = op->getResult(0);
  if (user == group.row)
    return user->getOperand(0) == v && llvm::count(user->getOperands(), v) == 1 && !rowAxes(op);
  if (isTranspose(user))
    return keepsRows(user);
  return shapes->dims(v) == shapes->dims(user->getResult(0));
}

bool Groups::fillsVectors(Operation *op, int64_t lanes) const {
  constexpr int64_t full = 8;
  if (!isTranscendental(op) || lanes >= full)
    return false;
  int64_t known = 1;
  for (AffineExpr e : shapes->dims(op->getResult(0)))
    if (auto size = dyn_cast<AffineConstantExpr>(e); !size || (known *= size.getValue()) > full)
      return true;
  return false;
}

bool Groups::joins(Operation *op, unsigned &group) const {
  Value v = op->getResult(0);
  bool moves = isTranspose(op) && !keepsRows(op);  // a kernel of its own
  if (v.use_empty() || read.contains(v) || op->getNumResults() != 1 || moves)
    return false;
  bool first = true;
  for (Operation *user : v.getUsers()) {
    auto it = groupOf.find(user);
    if (it == groupOf.end() || (!first && it->second != group) || !fits(op, user, groups[it->second]))
      return false;
    first = false;
    group = it->second;
  }
  const Group &g = groups[group];
  std::optional<RowAxes> row = rowAxes(op);
  if (row && (g.row || llvm::any_of(g.ops, keepsRows)))
    return false;
  bool oneLane = row && row->reduces && row->end == int64_t(shapes->dims(op->getOperand(0)).size());
  if (oneLane && llvm::any_of(g.ops, [&](Operation *o) { return fillsVectors(o, 1); }))
    return false;
  return g.ops.size() < kMostOps;
}

}  // namespace onnxc
