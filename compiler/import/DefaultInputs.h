// DefaultInputs.h: which initializers that are also inputs stay inputs (with `onnx.default` on the argument of Import.h's function), so
// that a run may leave them out or give another value. The others are constants.
#pragma once

namespace onnxc {

enum class DefaultInputs {
  None,
  Data,  // floating-point ones that only elementwise arithmetic reads
  All    // as ONNX has it from IR version 4 on
};

}  // namespace onnxc
