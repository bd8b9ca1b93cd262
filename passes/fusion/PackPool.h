// PackPool.h: the n-grams of TfIdfVectorizer as one hash table. KernelBuilder.cpp asks for it; runtime_stub/kernels/PackedPool.h is the
// layout.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// Gives the op the attribute `pool`; leaves one whose lists do not fit together to the run, which refuses it.
void packPool(mlir::Operation *op);

}  // namespace onnxc
