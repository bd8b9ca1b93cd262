// AttentionOperand.h: Q, K or V of an attention as a view of the tensor it is made from, and attention ops (AttentionOps.cpp), for
// FuseAttention.cpp.
#pragma once
#include "passes/graph/SymbolicShapes.h"
#include "llvm/ADT/SmallSet.h"

namespace onnxc {

// Element (i0, i1, …) of the operand is that of `base` whose index is i at `axes`, and `at` on the other axes.
struct AttentionOperand {
  mlir::Value base;
  llvm::SmallVector<int64_t> axes, at;
  llvm::SmallSet<int64_t, 2> repeats;  // logical axes of which each entry of `base` stands for several neighbours

  AttentionOperand(mlir::Value v, int64_t rank);
  // Takes in transpositions, views, parts of splits, repeated heads and, where `scale` is given, factors.
  void lookThrough(SymbolicShapes &shapes, double *scale);
  mlir::AffineExpr dim(const SymbolicShapes &shapes, int64_t logical) const { return shapes.dims(base)[axes[logical]]; }

private:
  bool step(SymbolicShapes &shapes, double *scale);
  bool throughView(SymbolicShapes &shapes, mlir::Operation *reshape);
  bool throughSwap(SymbolicShapes &shapes, mlir::Operation *reshape);
  bool throughRepeat(SymbolicShapes &shapes, mlir::Operation *reshape);
  bool throughHeadsOfSplit(SymbolicShapes &shapes, mlir::Operation *reshape);
  bool throughFactors(SymbolicShapes &shapes, mlir::Operation *reshape, double *scale);
  bool throughPart(SymbolicShapes &shapes, mlir::Operation *op);
  // `axisOf[i]`: the new base's axis of the old one's axis i.
  void rebase(mlir::Value v, llvm::ArrayRef<int64_t> axisOf, int64_t rank);
};

// The axes of `to` that each one of `from` is split into; nothing where `to` does more than split axes and add or drop axes of size 1.
std::optional<llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>>
factorsOf(SymbolicShapes &shapes, llvm::ArrayRef<mlir::AffineExpr> from, llvm::ArrayRef<mlir::AffineExpr> to);
// Whether a Reshape can make the one of the other; and that of `x`, null where none can.
bool canReshape(llvm::ArrayRef<mlir::AffineExpr> from, llvm::ArrayRef<mlir::AffineExpr> to);
mlir::Value viewAs(SymbolicShapes &shapes, mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<mlir::AffineExpr> dims);

// An attention of f32 in the terms of onnx.packed.Attention.
struct PackedAttention {
  AttentionOperand q, k, v;
  mlir::Value keep = {}, bias = {}, mask = {};
  double scale = 1, fill = 0;
  bool keepIf = true;
  int64_t zero = 0;
  double softcap = 0;
  bool atEnd = false;
  int64_t before = -1, after = -1;
  enum LastAxis { Broadcasts, Cuts, HasAllKeys } masked = Broadcasts;  // of `keep`, `bias` and `mask`

  // The attention as a tensor of `type`, whose axes the logical ones are.
  mlir::Value create(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, llvm::ArrayRef<int64_t> axes) const;
  // In the place of `y`, which has the logical axes, or of the transposition that alone uses it. `groups`: how many logical axes each axis
  // of `y` merges; empty: it is one.
  void replace(SymbolicShapes &shapes, mlir::Value y, llvm::ArrayRef<int64_t> groups = {}) const;
};

// Replaces an op that is an attention by onnx.packed.Attention where its form allows it.
bool packAttention(SymbolicShapes &shapes, mlir::Operation *op);

}  // namespace onnxc
