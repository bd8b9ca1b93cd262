// SymbolicRules.h: what a per-op shape rule sees and how it is registered. One rule a row in SymbolicRules*.cpp, looked up by op name.
//
// A rule gives dims to each result, and elements to small integer results where it can. A dim that it leaves null becomes the result
// type's static size, else the size function's (SymbolDef::SizeOf). Every tensor operand has a rank when a rule runs.
#pragma once
#include "dialects/onnx/OnnxBase.h"
#include "passes/graph/SymbolicShapes.h"
#include "llvm/ADT/StringMap.h"

namespace onnxc {

using Dims = llvm::SmallVector<mlir::AffineExpr>;
using DimsRef = llvm::ArrayRef<mlir::AffineExpr>;

class ShapeOp {
public:
  ShapeOp(SymbolicShapes &shapes, mlir::Operation *op);

  SymbolicShapes &s;
  mlir::Operation *op;

  // Declared operand or result `i`; null when absent.
  mlir::Value in(unsigned i) const;
  mlir::Value out(unsigned i) const;
  mlir::OperandRange inputs(unsigned i) const { return op->getOperands().slice(inStart[i], inSize[i]); }
  unsigned numDeclaredInputs() const { return inSize.size(); }
  DimsRef dims(unsigned i) const { return s.dims(in(i)); }
  int64_t rank(unsigned i) const { return dims(i).size(); }
  mlir::AffineExpr dim(unsigned i, int64_t axis) const { return dims(i)[axis]; }
  mlir::AffineExpr c(int64_t v) const { return s.constant(v); }

  int64_t intAttr(llvm::StringRef name, int64_t otherwise = 0) const { return onnx::intAttr(op, name, otherwise); }
  llvm::StringRef strAttr(llvm::StringRef name) const { return onnx::strAttr(op, name); }
  llvm::ArrayRef<int64_t> intsAttr(llvm::StringRef name) const { return onnx::intsAttr(op, name); }

  // Elements of a small integer operand, loads where they are known at run time only; nothing when their number is not known.
  std::optional<Dims> elements(unsigned i);
  // The one element of such an operand; null when it has another number of them.
  mlir::AffineExpr element(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> constants(unsigned i) const;
  std::optional<int64_t> constantScalar(unsigned i) const;
  // Constant numbers of a float operand.
  std::optional<llvm::SmallVector<double>> constantReals(unsigned i) const;

  // Dims and elements of result `i`; nothing happens when it is absent.
  mlir::LogicalResult set(unsigned i, DimsRef dims);
  mlir::LogicalResult setRank(unsigned i, int64_t rank) { return set(i, Dims(rank)); }
  void setElements(unsigned i, DimsRef elements);
  // Dims that the result's type says, the rest from the size function. Fails where the rank is unknown.
  mlir::LogicalResult setFromType(unsigned i);
  mlir::LogicalResult setValueFromType(mlir::Value v);
  mlir::LogicalResult unknownRank();

  // `axis` counted from 0; fails with a diagnostic outside [-rank, rank).
  mlir::FailureOr<int64_t> axis(int64_t axis, int64_t rank);
  // Sizes that must be equal: a diagnostic when both are constants that differ, a run-time check when that is not proven. Gives the better
  // known.
  mlir::FailureOr<mlir::AffineExpr> same(mlir::AffineExpr a, mlir::AffineExpr b, const llvm::Twine &what);
  mlir::FailureOr<Dims> broadcast(DimsRef a, DimsRef b);
  mlir::FailureOr<Dims> broadcastAll(llvm::ArrayRef<unsigned> declaredInputs);
  // A diagnostic where the integer attribute is absent or not positive.
  mlir::LogicalResult isPositive(llvm::StringRef attribute);
  // The same, and where it does not divide a size that is known; `what`: the size's name.
  mlir::LogicalResult divides(llvm::StringRef attribute, mlir::AffineExpr size, llvm::StringRef what);
  // A value of one element: a diagnostic, or a run-time check before this op, or another, where its size is not known.
  mlir::LogicalResult oneNumber(mlir::Value v, const llvm::Twine &what, mlir::Operation *before = nullptr);
  // The same for the operands that kernels of op `name` read one number from.
  mlir::LogicalResult checkNumbers(llvm::StringRef name);
  // Scales or zero points: each of these operands that is present has one entry or one for each of `count` (`what`, in the plural); where
  // `batched`, a multiple of that. Only sizes that are known are looked at.
  mlir::LogicalResult oneForEach(llvm::ArrayRef<unsigned> operands, mlir::AffineExpr count, llvm::StringRef what, bool batched = false);
  mlir::InFlightDiagnostic error() { return onnx::emitNodeError(op); }
  std::string text(DimsRef dims) const;
  std::string text(mlir::AffineExpr e) const { return s.text(e); }

private:
  llvm::SmallVector<unsigned> inStart, inSize, outStart, outSize;
};

// What to do where only the run knows a rank.
inline constexpr llvm::StringLiteral kDeclareRank =
    "declare the value's axes in the model's value_info (sizes may be names), or make what decides them a constant";

using ShapeRule = mlir::LogicalResult (*)(ShapeOp &);
using ShapeRules = llvm::StringMap<ShapeRule>;

// By onnx::opName ("Conv", "ml.Scaler").
const ShapeRules &shapeRules();

// Rules of several families: the first result has the sizes of operand 0, or those that operands `a` and `b` broadcast to.
mlir::LogicalResult likeFirst(ShapeOp &o);
template <unsigned a, unsigned b>
mlir::LogicalResult broadcastTwo(ShapeOp &o) {
  auto dims = o.broadcastAll({a, b});
  return failed(dims) ? mlir::failure() : o.set(0, *dims);
}

// The families' rows.
void addElementwiseRules(ShapeRules &rules);
void addTensorRules(ShapeRules &rules);
void addIndexRules(ShapeRules &rules);
void addWindowRules(ShapeRules &rules);
void addContractionRules(ShapeRules &rules);
void addReduceRules(ShapeRules &rules);
void addSequenceRules(ShapeRules &rules);
void addMLRules(ShapeRules &rules);
void addMicrosoftRules(ShapeRules &rules);
void addOtherRules(ShapeRules &rules);

// Gives the elements of a small integer tensor that are not known to loads of it.
void loadSmallIntegers(SymbolicShapes &s, mlir::Value v);
// What holds for the items of both; nothing where either is unknown (null) or their ranks differ.
std::optional<ItemShape> joinItems(const ItemShape *a, const ItemShape *b);

// Evaluates ops in order, bodies of control flow included (SymbolicControl.cpp).
class ShapeEvaluator {
public:
  explicit ShapeEvaluator(SymbolicShapes &s) : s(s) {}
  mlir::LogicalResult evaluate(mlir::Block &block);
  mlir::LogicalResult evaluate(mlir::Operation *op);
  // Dims that the type of a function or region argument says; `names` are its symbols ("" = anonymous).
  // `ranges`: for each dim the least, expected and greatest size; may be null.
  mlir::LogicalResult setArgument(mlir::BlockArgument arg, mlir::ArrayAttr names, mlir::DenseI64ArrayAttr ranges, SymbolDef::Kind kind);
  RankDoubts doubts;

private:
  bool inDoubt(mlir::ValueRange values);
  mlir::LogicalResult evaluateBranch(mlir::Operation *op, unsigned i);
  mlir::LogicalResult evaluateTaken(mlir::Operation *op, bool taken);
  mlir::LogicalResult evaluateIf(mlir::Operation *op);
  bool assumeEqualSizes(mlir::Operation *op);
  void doubt(mlir::OpResult result, size_t first, size_t second);
  void joinBranches(mlir::OpResult result, mlir::Value a, mlir::Value b, llvm::function_ref<bool(mlir::AffineExpr)> visible);
  mlir::LogicalResult evaluateLoop(mlir::Operation *op);
  mlir::LogicalResult evaluateScan(mlir::Operation *op);
  mlir::LogicalResult evaluateSequenceMap(mlir::Operation *op);
  mlir::LogicalResult iterate(mlir::Operation *op, mlir::ValueRange initial, llvm::ArrayRef<mlir::BlockArgument> state, unsigned first);
  void finishState(mlir::Operation *op, mlir::Value result, mlir::BlockArgument state);
  mlir::LogicalResult finishStacked(mlir::Operation *op, mlir::Value result, mlir::Value item, mlir::AffineExpr trips, int64_t axis);
  void copyFacts(mlir::Value from, mlir::Value to);
  bool visibleOutside(mlir::Operation *op, mlir::AffineExpr e);
  SymbolicShapes &s;
  bool hasErrors = false;
};

}  // namespace onnxc
