// BoxUpdates.h: what frameworks write for `x[:, a:b] = y`: a ScatterND whose indices are those of a box.
#pragma once
#include "dialects/onnx/Tensor.h"
#include "mlir/IR/Builders.h"
#include "passes/graph/SymbolicShapes.h"

namespace onnxc {

// The result of `op` without indices, made of the updates and slices of the data around them; the updates themselves where the box is all
// of the data. Null: the indices are not known to be those of a box.
mlir::Value boxUpdate(SymbolicShapes &s, mlir::OpBuilder &b, onnx::ScatterNDOp op);

}  // namespace onnxc
