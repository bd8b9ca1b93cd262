// Packed.h: the ops of Packed.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.h.inc"

namespace onnxc::onnx {
// A convolution that is a product of rows: blocks in, 1x1 filters, no stride, no pads, images that are no frames.
bool isProduct(PackedConvOp op);

// How a convolution reads frames: the attribute `frames`.
struct FrameAxis {
  int64_t count, taps, stride, dilation, before, behind;  // `count`: frames of a video; zeros before and behind them
  int64_t results() const { return (count + before + behind - (taps - 1) * dilation - 1) / stride + 1; }
  llvm::SmallVector<int64_t> list() const { return {count, taps, stride, dilation, before, behind}; }
};
// Nothing where `op` reads images.
std::optional<FrameAxis> frameAxis(mlir::Operation *op);
}  // namespace onnxc::onnx
