// Packed.h: the ops of Packed.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.h.inc"

namespace onnxc::onnx {
// A convolution that is a product of rows: blocks in, 1x1 filters, no stride, no pads.
bool isProduct(PackedConvOp op);
}  // namespace onnxc::onnx
