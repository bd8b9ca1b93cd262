// Contract.h: emitters of the contract family, one function for each op of dialects/onnx/Packed.td that is no library kernel, and what they
// share (Contract.cpp): how work is cut into units, and sizes over local dims.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

mlir::LogicalResult emitPackedMatMul(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedProduct(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedConv(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedTransposed(KernelCode &code, mlir::Operation *op);
// The 1x1 convolution `conv` and the window that alone reads its result, a depthwise convolution or a pool of whole images.
mlir::LogicalResult emitExpandedWindow(KernelCode &code, mlir::Operation *conv, mlir::Operation *window);
mlir::LogicalResult emitPackedWinograd(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedResize(KernelCode &code, mlir::Operation *op);
mlir::LogicalResult emitPackedSquares(KernelCode &code, mlir::Operation *op);
// Convolutions of groups within blocks, and pooling.
mlir::LogicalResult emitPackedWindow(KernelCode &code, mlir::Operation *op);

// Sets the kernel's number of units of parallel work to the product of `factors` (each a constant or an expression over local dims), and
// the least number of units of a task so that it takes some 5 us (threads.c). `flops`: what one unit's sums take; its results and the ops
// on them are added here.
void setExtent(kernel::FuncOp kernel, llvm::ArrayRef<mlir::AffineExpr> factors, double flops);
// Sets the bytes of scratch memory that each task of the kernel gets, an expression over local dims.
void setScratch(kernel::FuncOp kernel, mlir::AffineExpr bytes);
// At least `bytes`, where the kernel may have a constant number already.
void extendScratch(kernel::FuncOp kernel, int64_t bytes);

// Walks the units [begin, end) that a task is given, in pieces. Every `each` units, counted from 0, are the parts of one whole: of a matrix
// product the row tiles that meet one group of panels. A piece is up to `most` neighbouring parts of one whole, which the kernel computes
// together so that their operands meet in its caches. Shares of tasks end inside of wholes and pieces, so all tasks get as much work
// however few wholes there are.
struct UnitLoop {
  mlir::Value begin, end, each;
  int64_t most;
  // Where `alike` neighbouring wholes read the same operands (all groups of panels with the same rows), units are counted in the order
  // strip, whole, part: a strip of `near` pieces goes through all these wholes before the next strip does, so that the second-level cache
  // holds what the strip reads. All parts are one strip where `near` is 0, where one holds them all, and where there are fewer than
  // `least`.
  int64_t alike = 1, near = 0, least = 0;

  // Calls `body` with each piece, the parts [from, to) of whole `of`.
  void loop(Code &c, llvm::function_ref<void(mlir::Value of, mlir::Value from, mlir::Value to)> body) const;
  // The same with values that each piece hands to the next, `start` to the first. Not where `near` is set.
  using Body = Code::Values(mlir::Value of, mlir::Value from, mlir::Value to, mlir::ValueRange values);
  Code::Values loop(Code &c, mlir::ValueRange start, llvm::function_ref<Body> body) const;

private:
  void loopNear(Code &c, llvm::function_ref<void(mlir::Value of, mlir::Value from, mlir::Value to)> body) const;
};

// The sizes of a tensor's axes: constants, or symbol k for local dim k.
llvm::SmallVector<mlir::AffineExpr> sizeExprs(mlir::RankedTensorType type);
// The number that `e` is; nothing where it depends on local dims.
std::optional<int64_t> constantOf(mlir::AffineExpr e);
mlir::AffineExpr productOf(llvm::ArrayRef<mlir::AffineExpr> factors, mlir::MLIRContext *context);
// The index of each axis of the element that is `linear`th in row-major order of the axes `sizes`.
Code::Values unravel(Code &c, mlir::Value linear, mlir::ValueRange sizes);

}  // namespace onnxc
