// Tiles.h: what kernels that multiply on tiles of bf16 (AMX) share: RowTiles.cpp, ConvTiles.cpp.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// Calls a function of the library.
mlir::LLVM::CallOp callLibrary(KernelCode &c, llvm::StringRef name, llvm::ArrayRef<mlir::Value> arguments, mlir::Type result);
// Whether `enough` and the processor multiplies such tiles.
mlir::Value haveTiles(KernelCode &c, mlir::Value enough);

}  // namespace onnxc
