// PackVectors.h: the support vectors of SVMRegressor and SVMClassifier side by side. KernelBuilder.cpp asks for it;
// runtime_stub/kernels/FastSvm.cpp reads them.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// Replaces the attribute `support_vectors` of one of these ops by `panels`, [panel, column, vector of it]. False, and the op as it was,
// where it has none, or not as many as it says.
bool packVectors(mlir::Operation *op);

}  // namespace onnxc
