// Parts.h: values that lie inside the buffer of another, so that nothing moves them. PlanBuilder.cpp places buffers by it.
//
// whole    the value that has the buffer
// part     one whose elements are neighbours in it: read there (a result of Slice, Split or Gather), or computed there (an operand of
// Concat)
#pragma once
#include "passes/fusion/Groups.h"

namespace onnxc {

struct Part {
  mlir::Value whole;
  mlir::AffineExpr offset;  // in elements
  // The number of runs that the part's elements are. It is a part where this is 1, which only the run may know (a batch); where it is
  // not, the value has a buffer of its own and a kernel moves it.
  mlir::AffineExpr runs;
};

class Parts {
public:
  struct Context {
    std::function<bool(mlir::Value)> hasPlace;      // a model output is computed in its caller's buffer
    std::function<bool(mlir::AffineExpr)> isKnown;  // a size that the plan can compute before the block runs
  };
  // Those among the values that `block` computes.
  Parts(mlir::Block &block, SymbolicShapes &shapes, const Groups &groups, Context context);

  // Where `v` lies, if it is a part.
  const Part *of(mlir::Value v) const;
  // Whether every result of `op` is read where its first operand lies.
  bool isRead(mlir::Operation *op) const { return reads.contains(op); }
  // Whether the operands of the Concat `op` are computed in its result; those of `copies` are not and must be moved there.
  bool isWhole(mlir::Operation *op) const { return copies.count(op); }
  llvm::ArrayRef<std::pair<mlir::Value, Part>> copiesOf(mlir::Operation *op) const { return copies.find(op)->second; }
  // The runs of all the parts of such an op.
  mlir::AffineExpr runsOf(mlir::Operation *op) const { return runs.lookup(op); }

private:
  class Memory;
  void findRead(mlir::Operation *op, const Context &context);
  void findWhole(mlir::Operation *concat, const Context &context, Memory &memory);
  bool isComputed(mlir::Value v, mlir::Block *block) const;
  // Some neighbouring places along each axis of a tensor; `axis` is the last one that is cut.
  struct Box {
    llvm::SmallVector<mlir::AffineExpr> starts, sizes;
    int64_t axis;
  };
  std::optional<Part> partOf(mlir::Value whole, const Box &box);
  std::optional<Box> boxOfSlice(mlir::Operation *slice) const;
  llvm::SmallVector<Box> boxesOf(mlir::Operation *op) const;

  SymbolicShapes *shapes;
  llvm::DenseMap<mlir::Value, Part> parts;
  llvm::DenseSet<mlir::Operation *> reads;
  llvm::DenseMap<mlir::Operation *, mlir::AffineExpr> runs;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::pair<mlir::Value, Part>>> copies;
};

}  // namespace onnxc
