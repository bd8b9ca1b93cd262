// CustomCall.h: what compiler/import tells codegen of a call of the user's operator beside what Packed.td declares.
#pragma once
#include "dialects/onnx/Packed.h"

namespace onnxc::onnx {
// One entry per output of the node where it leaves some out; results are those of it that are true.
inline constexpr llvm::StringLiteral kMadeAttr = "onnx.made";
}  // namespace onnxc::onnx
