// Contract.h: emitters of the contract family, one function for each op of dialects/onnx/Packed.td that is no library kernel, and what they
// share.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

mlir::LogicalResult emitPackedMatMul(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedProduct(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedConv(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedTransposed(KernelCode &code, mlir::Operation *op);
// The 1x1 convolution `conv` and the depthwise one that alone reads its result.
mlir::LogicalResult emitExpandedWindow(KernelCode &code, mlir::Operation *conv, mlir::Operation *window);
mlir::LogicalResult emitPackedWinograd(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedResize(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedSquares(KernelCode &code, mlir::Operation *op);
// Convolutions of groups within blocks, and pooling.
mlir::LogicalResult emitPackedWindow(KernelCode &code, mlir::Operation *op);

// Sets the kernel's parallel extent to the product of `factors`, each a constant or an expression over local dims, and its grain so
// that a task takes some 5 us (threads.c); `flops`: of one unit's sums, to which its results and the ops on them are added.
void setExtent(kernel::FuncOp kernel, llvm::ArrayRef<mlir::AffineExpr> factors, double flops);
// Sets the bytes of scratch memory that each task of the kernel gets, over local dims.
void setScratch(kernel::FuncOp kernel, mlir::AffineExpr bytes);
// A loop over units [begin, end) of parallel work, of which `each` are one whole: `body` of the parts [from, to) of whole `of`, at most
// `most` at once, with the values that go from one to the next. A task works on `most` parts together, whose operands meet in its caches;
// however few wholes there are, all tasks get their share.
struct Parts {
  mlir::Value begin, end, each;
  int64_t most;
  // Where `alike` wholes, one after the other, read the same operands (all row tiles with one group of panels, then with the next), units
  // are in the order strip, whole, part: strips of `near` times `most` parts go through all these wholes, so that the second-level cache
  // holds what they read. One strip where `near` is 0, where it holds all parts, and where there are fewer than `least`.
  int64_t alike = 1, near = 0, least = 0;
  void loop(Code &c, llvm::function_ref<void(mlir::Value of, mlir::Value from, mlir::Value to)> body) const;
  using Body = Code::Values(mlir::Value of, mlir::Value from, mlir::Value to, mlir::ValueRange values);
  Code::Values loop(Code &c, mlir::ValueRange start, llvm::function_ref<Body> body) const;

private:
  void loopNear(Code &c, llvm::function_ref<void(mlir::Value of, mlir::Value from, mlir::Value to)> body) const;
};
// Expressions of a tensor's sizes over the kernel's local dims.
llvm::SmallVector<mlir::AffineExpr> sizeExprs(mlir::RankedTensorType type);
std::optional<int64_t> constantOf(mlir::AffineExpr e);
mlir::AffineExpr productOf(llvm::ArrayRef<mlir::AffineExpr> factors, mlir::MLIRContext *context);
// Indices of `linear` in the axes `sizes`.
Code::Values unravel(Code &c, mlir::Value linear, mlir::ValueRange sizes);

}  // namespace onnxc
