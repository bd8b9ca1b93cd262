// Recognize.h: what the groups of Recognize.cpp match by.
#pragma once
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"
#include <cmath>

namespace onnxc {

// constantNumber, but not of f64: the attributes that take its place are f32.
inline std::optional<double> number(mlir::Value v) {
  return onnx::elementType(v) && !onnx::elementType(v).isF64() ? constantNumber(v) : std::nullopt;
}
// As near as the precision of constants of a type tells.
inline bool near(std::optional<double> n, double wanted, mlir::Type type) {
  double tolerance = type.isF16() || type.isBF16() ? 4e-3 : 1e-5;
  return n && std::fabs(*n - wanted) <= tolerance * std::fabs(wanted);
}
inline bool isNumber(mlir::Value v, double wanted) { return near(number(v), wanted, onnx::elementType(v)); }

// The other operand of a commutative `op` when one is `v`.
inline mlir::Value otherThan(mlir::Operation *op, mlir::Value v) {
  return op->getOperand(0) == v ? op->getOperand(1) : op->getOperand(1) == v ? op->getOperand(0) : mlir::Value();
}
// The other operand when one is a constant like `n`.
inline mlir::Value besides(mlir::Operation *op, double n) {
  return isNumber(op->getOperand(1), n) ? op->getOperand(0) : isNumber(op->getOperand(0), n) ? op->getOperand(1) : mlir::Value();
}
template <typename Op>
mlir::Value besides(mlir::Value v, double n) {
  auto op = v ? v.getDefiningOp<Op>() : Op();
  return op ? besides(op.getOperation(), n) : mlir::Value();
}
// What a reduction over known axes, ascending, gives for each row of `data`, as a value that broadcasts along the rows: axes of size 1 that
// it kept or that a view has put back. `function`: Log or a reciprocal (Reciprocal, 1 / v), which was taken of it; null for none.
struct RowValue {
  mlir::Operation *reduce = nullptr, *function = nullptr;
  mlir::Value data;
  llvm::SmallVector<int64_t> axes;
};
// `view`: where `v` is the operand of one, which has been looked through. Nothing for other values.
std::optional<RowValue> rowValue(mlir::Value v, mlir::Operation *view = nullptr);

// What `v` is the square of; null where it is not written as one.
mlir::Value baseOfSquare(mlir::Value v);
// Number of trailing axes that `v`, a mean of `x`, is over; 0 when it is not one.
int64_t meanOf(mlir::Value v, mlir::Value x);

}  // namespace onnxc
