// Weights.h: reading and making constants of any size, for passes that rewrite weights.
#pragma once
#include "dialects/onnx/OnnxBase.h"
#include <algorithm>
#include <vector>

namespace onnxc {
namespace onnx {
class BatchNormalizationOp;
}
// Whether a type is an integer of 8 bits, signed or not; false for null.
bool isByte(mlir::Type elementType);

// Each gives the elements of a constant one after the other, splats spread, and nothing for other values and types.
std::optional<std::vector<char>> constantBytes(mlir::ElementsAttr value);  // as they lie in memory; not of bool and strings
std::optional<std::vector<float>> constantFloats(mlir::Value v);           // of f32
std::optional<std::vector<float>> constantFloats(mlir::ElementsAttr value);
std::optional<std::vector<double>> constantDoubles(mlir::Value v);  // of f64
std::optional<std::vector<float>> constantIntegers(mlir::Value v);  // of integers of 4, 8 and 16 bits and of i32
// The number that every element of a constant of floats is; nothing for others and where `v` is null.
std::optional<double> constantNumber(mlir::Value v);
// The elements of a matrix [rows, columns] in the order of [columns, rows]; an element is `each` T's.
template <class T>
std::vector<T> transposedMatrix(const std::vector<T> &matrix, int64_t rows, int64_t columns, int64_t each = 1) {
  std::vector<T> result(matrix.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      std::copy_n(matrix.begin() + (i * columns + j) * each, each, result.begin() + (j * rows + i) * each);
  return result;
}
// The one of `values` that is for `channel`: there is one for each, or one for all of them.
template <class T>
T ofChannel(const std::vector<T> &values, int64_t channel) {
  return values[values.size() == 1 ? 0 : channel];
}
// A weight, one byte of a constant, less the zero point of its channel.
inline int16_t lessZero(char weight, bool isSigned, const std::vector<float> &zeros, int64_t channel) {
  return int16_t((isSigned ? float(int8_t(weight)) : float(uint8_t(weight))) - ofChannel(zeros, channel));
}

// y[c] = x[c] * scale[c] + offset[c]
// Whether it normalises by its operands, and nothing reads statistics of it.
bool isInference(onnx::BatchNormalizationOp op);
struct ChannelAffine {
  std::vector<float> scale, offset;
};
// What a `normalization`, a BatchNormalization, with constant parameters computes; nothing while training or for other ops.
std::optional<ChannelAffine> channelAffine(mlir::Operation *normalization);

// A constant of `type` with these elements: inline when small, else a resource of its own.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<char> bytes);
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<float> values);
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, std::vector<double> values);
// The same elements under another shape.
mlir::ElementsAttr reshaped(mlir::ElementsAttr value, mlir::RankedTensorType type);
}  // namespace onnxc
