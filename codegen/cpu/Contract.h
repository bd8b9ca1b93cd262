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
// that a task is worth starting a thread for; `flops`: of one unit.
void setExtent(kernel::FuncOp kernel, llvm::ArrayRef<mlir::AffineExpr> factors, double flops);
// Sets the bytes of scratch memory that each task of the kernel gets, over local dims.
void setScratch(kernel::FuncOp kernel, mlir::AffineExpr bytes);
// Whether units of parallel work of `flops` each are few enough and large enough to be halved. Smaller units read operands more often,
// which costs a single thread up to 10 %: only what would keep one processor alone busy is cut.
inline bool worthHalving(int64_t units, double flops) { return units < 4 && flops >= 2e6; }
// Expressions of a tensor's sizes over the kernel's local dims.
llvm::SmallVector<mlir::AffineExpr> sizeExprs(mlir::RankedTensorType type);
std::optional<int64_t> constantOf(mlir::AffineExpr e);
mlir::AffineExpr productOf(llvm::ArrayRef<mlir::AffineExpr> factors, mlir::MLIRContext *context);
// Indices of `linear` in the axes `sizes`.
Code::Values unravel(Code &c, mlir::Value linear, mlir::ValueRange sizes);

}  // namespace onnxc
