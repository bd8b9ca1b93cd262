// ElementTypes.h: element types as numbers and as parts of names; see docs/Architecture.md section 2 and elementTypeOfCode of OnnxBase.h.
#pragma once
#include "dialects/onnx/OnnxBase.h"

namespace onnxc::onnx {
// TensorProto.DataType of an element type; 0 for objects.
int32_t elementTypeCode(mlir::Type elementType);
// As names of library kernels spell it: "f32", "u8", "str"; "object" for what is no element type.
llvm::StringRef elementTypeName(mlir::Type elementType);
}  // namespace onnxc::onnx
