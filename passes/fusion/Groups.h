// Groups.h: which ops of a block become one kernel. PlanBuilder.cpp builds a group where its root, its last op, stands.
#pragma once
#include "passes/graph/SymbolicShapes.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc {

struct Group {
  llvm::SmallVector<mlir::Operation *> ops;  // in the order of the block
  llvm::StringRef family;                    // "loops" or "contract"
  mlir::Operation *row = nullptr;            // the one op of rows (rowAxes in dialects/kernel/Families.h)
};

// The generated kernels of `block`; ops in no group are built one by one. Everything that an op which is not the root computes is used in
// its group alone, so that it may be computed as late as the root.
class Groups {
public:
  // With `alone` no op joins another. Without `loops`, contractions and what their kernels compute besides are the only groups.
  Groups(mlir::Block &block, SymbolicShapes &shapes, bool loops, bool alone);

  // The group that `op` is in; null for an op that is built alone.
  const Group *find(mlir::Operation *op) const;

private:
  void add(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef family);
  // ContractGroup.cpp: the contraction `root` and the ops that its kernel computes besides: elementwise ones behind it and before their
  // other operands, a depthwise convolution or a pool of whole images behind those.
  llvm::SmallVector<mlir::Operation *> contraction(mlir::Operation *root) const;
  bool isAside(mlir::Operation *op, mlir::Operation *next) const;
  bool joins(mlir::Operation *op, unsigned &group) const;
  bool fits(mlir::Operation *op, mlir::Operation *user, const Group &group) const;
  bool isGenerated(mlir::Operation *op) const;
  // Whether a kernel of its own computes the long function `op` of what is made a few lanes at a time sooner: its vectors are full.
  bool fillsVectors(mlir::Operation *op, int64_t lanes) const;

  SymbolicShapes *shapes = nullptr;
  llvm::DenseSet<mlir::Value> read;  // elements of these are sizes that the plan loads from their buffers
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
};

}  // namespace onnxc
