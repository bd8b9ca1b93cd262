// AttentionOperand.h: Q, K or V of an attention as a view of the tensor it is made from; an attention of three such operands; ops that are
// attentions (AttentionOps.cpp). For FuseAttention.cpp.
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

// For each axis of `from` the neighbouring axes of `to` whose product it is; nothing where `to` does more than split axes and add or drop
// axes of size 1.
std::optional<llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>>
factorsOf(SymbolicShapes &shapes, llvm::ArrayRef<mlir::AffineExpr> from, llvm::ArrayRef<mlir::AffineExpr> to);
// Whether a Reshape can make `to` of a value of the sizes `from`: each size is a number other than 0 or one of `from`, but for one, which
// is inferred.
bool canReshape(llvm::ArrayRef<mlir::AffineExpr> from, llvm::ArrayRef<mlir::AffineExpr> to);
// `x` under other sizes with as many elements, whose dims are entered in `shapes`; null where canReshape() says no.
mlir::Value viewAs(SymbolicShapes &shapes, mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, llvm::ArrayRef<mlir::AffineExpr> dims);

// An attention of f32 in the terms of onnx.packed.Attention, whose description (dialects/onnx/Packed.td) says what each field means.
struct PackedAttention {
  AttentionOperand q, k, v;                     // of the same number of logical axes: batch axes, query or key, width
  mlir::Value keep = {}, bias = {}, mask = {};  // null: none
  double scale = 1, fill = 0;                   // `fill`: the score where `keep` is not `keepIf`
  bool keepIf = true;
  int64_t zero = 0;                 // 1: NaN of the softmax is 0; 1 and 2: so are rows without any key
  double softcap = 0;               // 0: none
  bool atEnd = false;               // the last query stands at the last key, not the first at the first
  int64_t before = -1, after = -1;  // keys that a query sees on either side of its own; negative: all
  // What the last axis of `keep`, `bias` and `mask` is: one that broadcasts to the keys; one that masks the keys past its end; one that a
  // run must give all keys.
  enum LastAxis { Broadcasts, Cuts, HasAllKeys } masked = Broadcasts;

  // The attention as a tensor of `type`, whose axes the logical ones are.
  mlir::Value create(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, llvm::ArrayRef<int64_t> axes) const;
  // In the place of `y`, which has the logical axes, or of the transposition that alone uses it. `groups`: how many logical axes each axis
  // of `y` merges; empty: it is one.
  void replace(SymbolicShapes &shapes, mlir::Value y, llvm::ArrayRef<int64_t> groups = {}) const;
};

// Replaces an op that is an attention by onnx.packed.Attention where its form allows it.
bool packAttention(SymbolicShapes &shapes, mlir::Operation *op);

}  // namespace onnxc
