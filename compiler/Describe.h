// Describe.h: what an artefact says about itself: its inputs and outputs, its origin, the flags it was compiled with, its memory.
// `onnxc inspect` prints it.
#pragma once
#include "codegen/cpu/Codegen.h"
#include "compiler/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// The flags that changed the code, each as one string, "--define-dim batch=8".
std::vector<std::string> codeFlags(const Options &options);

SelfDescription describeModel(mlir::ModuleOp module, const Options &options);

}  // namespace onnxc
