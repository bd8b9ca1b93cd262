// StoredWeights.h: the type in which packed weights lie in the artefact: f32, or fewer bits that hold them or that --precision rounds them
// to.
#pragma once
#include "passes/graph/Weights.h"

namespace onnxc {

// The type that `precision` names.
mlir::FloatType weightType(mlir::MLIRContext *context, llvm::StringRef precision);

// The type that `values` times `scale` are stored in: `wanted`, or f32 where there are few of them or the largest is none of wanted's
// normal numbers, so that rounding moves a weight by 2^-11 (bf16: 2^-8) of the largest at most.
mlir::FloatType storedType(mlir::FloatType wanted, llvm::ArrayRef<float> values, float scale = 1);

// The narrowest of i8, bf16, f16 and f32 that holds `values` times `scale` as they are, to the bit; f32 where there are few of them.
mlir::Type exactType(mlir::MLIRContext *context, llvm::ArrayRef<float> values, float scale = 1);

// A constant of these values, rounded to nearest even where `type` is of 16 bits; where it is i8, they are such integers.
mlir::ElementsAttr storedConstant(mlir::RankedTensorType type, std::vector<float> values);
inline mlir::ElementsAttr storedConstant(mlir::RankedTensorType type, std::vector<double> values) {
  return makeConstant(type, std::move(values));
}

}  // namespace onnxc
