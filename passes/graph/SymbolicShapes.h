// SymbolicShapes.h: the one evaluator of shapes and small integer tensors, static and symbolic alike.
//
// dims      of a ranked tensor value: one AffineExpr (over symbols, no dims) per axis
// elements  of an integer/bool tensor of at most 1,024 elements whose values are shape arithmetic: one AffineExpr each
// symbol    an interned SymbolDef: symbol i of every AffineExpr is definition i
#pragma once
#include "mlir/IR/Operation.h"
#include "passes/graph/SymbolicArithmetic.h"

namespace onnxc {

// Two sizes of `op` that must agree at run time and are not proven to: equal, or with one of them 1 where `broadcast`.
struct ShapeCheck {
  mlir::Operation *op;
  mlir::AffineExpr lhs, rhs;
  bool broadcast;
};

// What is known of the tensors of a sequence or in an optional: nothing else has an entry. Dims that differ between items are null.
struct ItemShape {
  bool empty = false;  // no item seen yet
  llvm::SmallVector<mlir::AffineExpr> dims;
  bool operator==(const ItemShape &o) const { return empty == o.empty && dims == o.dims; }
};

// A number of float shape arithmetic (Shape, Cast to float, Mul, Floor, Cast back): numerator / denominator, or a constant.
struct RealValue {
  mlir::AffineExpr numerator;
  int64_t denominator = 1;
  double value = 0;  // when numerator is null
};

class SymbolicShapes : public SymbolicArithmetic {
public:
  // Evaluates `root` (a function, or any op with regions) and refines result types in place where a dim proves static.
  // Emits a diagnostic that names the node and both values, and returns failure, when shapes disagree.
  static mlir::FailureOr<SymbolicShapes> compute(mlir::Operation *root);

  bool hasRank(mlir::Value v) const { return shapes.count(v); }
  llvm::ArrayRef<mlir::AffineExpr> dims(mlir::Value v) const;                       // asserts hasRank
  std::optional<llvm::ArrayRef<mlir::AffineExpr>> elements(mlir::Value v) const;    // null when not known
  std::optional<llvm::SmallVector<int64_t>> constantElements(mlir::Value v) const;  // all elements are constants
  llvm::ArrayRef<ShapeCheck> checks(mlir::Operation *op) const;

  // For the per-op rules (SymbolicRules*.cpp) and for passes that add values.
  void setDims(mlir::Value v, llvm::ArrayRef<mlir::AffineExpr> dims);
  void setElements(mlir::Value v, llvm::ArrayRef<mlir::AffineExpr> elements);
  void setItems(mlir::Value v, ItemShape items) { sequences[v] = std::move(items); }
  void setReals(mlir::Value v, llvm::ArrayRef<RealValue> values) { reals[v] = llvm::SmallVector<RealValue>(values); }
  void forget(mlir::Value v);
  // Elements of which some may be null (not known), empty when nothing is known.
  llvm::ArrayRef<mlir::AffineExpr> partialElements(mlir::Value v) const;
  llvm::ArrayRef<RealValue> realElements(mlir::Value v) const;
  const ItemShape *items(mlir::Value v) const;
  // The number of elements when it is a constant.
  std::optional<int64_t> count(mlir::Value v) const;
  void check(ShapeCheck c) { runtimeChecks[c.op].push_back(c); }
  void dropChecks(mlir::Operation *op) { runtimeChecks.erase(op), assumed.erase(op); }
  // An If that takes its first branch in every run that passes the check. It must stay an If: the check is its own.
  void assumeThen(mlir::Operation *op, ShapeCheck c) { check(c), assumed.insert(op); }
  // The branch of an If that is taken, where that is known or assumed.
  std::optional<bool> takenBranch(mlir::Operation *op) const;

  explicit SymbolicShapes(mlir::MLIRContext *context) : SymbolicArithmetic(context) {}

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> shapes, values;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<RealValue>> reals;
  llvm::DenseMap<mlir::Value, ItemShape> sequences;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ShapeCheck, 1>> runtimeChecks;
  llvm::DenseSet<mlir::Operation *> assumed;
};

}  // namespace onnxc
