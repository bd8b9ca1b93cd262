// Weights.h: bytes of constants as they stand in the artefact (docs/Architecture.md section 2).
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {
// Bytes of one element in memory.
int64_t storageBytes(mlir::Type elementType);
int64_t weightBytes(mlir::ElementsAttr value);
void writeWeight(mlir::ElementsAttr value, llvm::raw_ostream &os);
}  // namespace onnxc
