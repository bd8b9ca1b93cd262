// Packed.h: the ops of Packed.td.
#pragma once
#include "dialects/onnx/OnnxBase.h"

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.h.inc"

namespace onnxc::onnx {
// A convolution that is a product of rows: blocks in, 1x1 filters, no stride, no pads, images that are no frames.
bool isProduct(PackedConvOp op);
// A convolution in groups within blocks, or a pool.
bool isWindow(mlir::Operation *op);

// How a convolution or a pool reads frames: the attribute `frames`.
struct FrameAxis {
  int64_t taps, stride, dilation, before, behind;  // frames of padding before and behind those of a video
  int64_t blocks = 0;                              // of a frame, in blocked activations
  // A video has floor((frames + this) / stride) results.
  int64_t more() const { return before + behind - (taps - 1) * dilation - 1 + stride; }
  llvm::SmallVector<int64_t> list() const { return {taps, stride, dilation, before, behind}; }
};
// Nothing where `op` reads images.
std::optional<FrameAxis> frameAxis(mlir::Operation *op);
}  // namespace onnxc::onnx
