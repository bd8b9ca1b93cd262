// PackForest.h: the trees of a TreeEnsemble op as one constant. KernelBuilder.cpp asks for it; runtime_stub/kernels/PackedForest.h is the
// layout.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// Replaces the node lists of a tree ensemble by the attribute `forest`. False, and the op as it was, where its trees need the general
// kernel (its attributes in tensors, doubles that test for equality) or are no trees.
bool packForest(mlir::Operation *op);

}  // namespace onnxc
