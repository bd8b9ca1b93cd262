// KernelDialect.h: the kernel dialect and the encoding of dynamic dims inside kernels.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace onnxc::kernel {
class ReturnOp;
// Dims of a tensor inside a kernel: a size >= 0, or -(k+1) for local dim k. Reads the type's encoding, or its static shape.
llvm::SmallVector<int64_t> localDims(mlir::RankedTensorType type);
// `type` with `dims` as above: static sizes in the shape, the encoding only where some dim is local.
mlir::RankedTensorType withLocalDims(mlir::Type elementType, llvm::ArrayRef<int64_t> dims);
}  // namespace onnxc::kernel

#include "dialects/kernel/KernelDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.h.inc"
