// SymbolicShapes.h: the one evaluator of shapes and small integer tensors, static and symbolic alike.
//
// dims      of a ranked tensor value: one AffineExpr (over symbols, no dims) per axis
// elements  of an integer/bool tensor of at most 1,024 elements whose values are shape arithmetic: one AffineExpr each
// symbol    an interned SymbolDef: symbol i of every AffineExpr is definition i
#pragma once
#include "mlir/IR/Operation.h"
#include "passes/graph/SymbolicArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace onnxc {

// Two sizes of `op` that must fit at run time and are not proven to. Equal: they are equal; Broadcast: or one of them is 1; Window: a
// window of `lhs` entries has a place in an axis of `rhs`, padding included, which it has where `room`, positions less the axis' size or 1,
// is not negative.
struct ShapeCheck {
  enum Kind { Equal, Broadcast, Window };
  mlir::Operation *op;
  mlir::AffineExpr lhs, rhs;
  Kind kind = Equal;
  mlir::AffineExpr room = {};
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
  double value = 0;  // when numerator is null; not a number: not known

  // Whether floats hold the fraction without rounding, up to 2^24: a third is rounded, and what is made of it is not what is made of the
  // fraction.
  bool isExact() const { return llvm::isPowerOf2_64(denominator); }
};
inline RealValue unknownReal() { return {{}, 1, std::numeric_limits<double>::quiet_NaN()}; }

// What keeps some values from having one rank: results of an If whose branches give different ranks, and branches (of an If that
// RankVersions.cpp made) that fail whenever they run, each with its diagnostic.
struct RankDoubts {
  struct Mixed {
    mlir::OpResult result;
    size_t ranks[2];
    void emit() const;
  };
  struct Branch {
    mlir::Operation *op;
    unsigned region;
    std::string message;
    void emit() const;
  };
  // A value with fewer axes before a loop than its body gives it, which may as well have them there: nobody reads it, or it is one number.
  struct Carried {
    mlir::OpOperand *before;
    mlir::BlockArgument argument;
    size_t given, axes;
    void emit() const;
  };
  llvm::SmallVector<Mixed> mixed;
  llvm::SmallVector<Branch> impossible;
  llvm::SmallVector<Carried> carried;
  bool empty() const { return mixed.empty() && impossible.empty() && carried.empty(); }
};

class SymbolicShapes : public SymbolicArithmetic {
public:
  // Evaluates `root` (a function, or any op with regions) and refines result types in place where a dim proves static.
  // Emits a diagnostic that names the node and both values, and returns failure, when shapes disagree. Where ranks are in doubt and
  // `doubts` is given it returns failure without a diagnostic and says there what they are.
  static mlir::FailureOr<SymbolicShapes> compute(mlir::Operation *root, RankDoubts *doubts = nullptr);

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
  // An If that takes one branch in every run that passes the check. It must stay an If: the check is its own.
  void assume(mlir::Operation *op, bool taken, ShapeCheck c) { check(c), assumed[op] = taken; }
  // The branch of an If that is taken, where that is known or assumed.
  std::optional<bool> takenBranch(mlir::Operation *op) const;

  explicit SymbolicShapes(mlir::MLIRContext *context) : SymbolicArithmetic(context) {}

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> shapes, values;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<RealValue>> reals;
  llvm::DenseMap<mlir::Value, ItemShape> sequences;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<ShapeCheck, 1>> runtimeChecks;
  llvm::DenseMap<mlir::Operation *, bool> assumed;
};

// An If that RankVersions.cpp made; the branch that is left of one, as a bool.
constexpr llvm::StringLiteral kVersionsAttr = "onnx.versions", kTakenAttr = "onnx.taken";

// SymbolicShapes::compute; where the rank of a result of an If depends on the branch, the ops that read it are moved into both first.
mlir::FailureOr<SymbolicShapes> computeWithVersions(mlir::Operation *root);

}  // namespace onnxc
