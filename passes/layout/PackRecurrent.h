// PackRecurrent.h: the part of PackWeights.cpp for recurrent layers.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// Lays out the weights of an RNN, GRU or LSTM of f32 where they are constant and fill whole panels; `packed` = 1 says so to the kernel.
void packRecurrent(mlir::Operation *op);

}  // namespace onnxc
