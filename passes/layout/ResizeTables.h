// ResizeTables.h: a Resize of two spatial axes of known sizes as taps and weights for each position of the result.
#pragma once
#include "dialects/onnx/OnnxBase.h"

namespace onnxc {

// One axis: the result at `y` is the sum over `taps` of weight[y * taps + k] times the operand at index[y * taps + k], which lies inside
// it.
struct ResizeAxis {
  int64_t taps = 1;
  std::vector<int32_t> index;
  std::vector<float> weight;
};
struct ResizeTables {
  ResizeAxis rows, columns;
};
// Nothing where another axis changes, a size or scale is not constant, or values from outside the operand are asked for.
std::optional<ResizeTables> resizeTables(mlir::Operation *resize);

}  // namespace onnxc
