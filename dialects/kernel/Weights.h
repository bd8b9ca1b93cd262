// Weights.h: bytes of constants as they stand in the artefact (docs/Architecture.md section 2).
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {
// Bytes of one element in memory; types below a byte take one each. 16 for strings and for what is no number.
int64_t storageBytes(mlir::Type elementType);
// Bytes of all elements.
int64_t weightBytes(mlir::ElementsAttr value);
// Writes the elements one after the other, splats spread; not of strings.
void writeWeight(mlir::ElementsAttr value, llvm::raw_ostream &os);
}  // namespace onnxc
