// Headers.h: what --emit-header writes about a planned module; called by Pipeline.cpp.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace onnxc {
// Writes <folder>/<modelName>.h and .hpp. `module` carries onnxc.inputs, onnxc.outputs and onnxc.symbols.
llvm::Error emitModelHeaders(mlir::ModuleOp module, llvm::StringRef modelName, llvm::StringRef folder);
}  // namespace onnxc
