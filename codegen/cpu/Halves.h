// Halves.h: conversions of f16 and bf16, which registers hold as 16-bit integers, for Pointwise.cpp.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// Scalars, or vectors of any width; `brain`: bf16. Rounds to nearest, ties to even; NaN stays NaN.
mlir::Value halfToFloat(Code &c, mlir::Value bits, bool brain);
mlir::Value floatToHalf(Code &c, mlir::Value v, bool brain);
// f64 to f16, rounded once: what a float drops of its number it keeps as its last bit, which lies behind those that decide.
mlir::Value doubleToHalf(Code &c, mlir::Value v);

}  // namespace onnxc
