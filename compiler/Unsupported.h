// Unsupported.h: the nodes of a simplified graph that nothing computes. compiler/Pipeline.cpp asks before it makes a plan.
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxc {

// One diagnostic for each; `options` have levels (chooseLevels). Returns an ExitCode.
int reportUnsupported(mlir::ModuleOp module, const Options &options);

}  // namespace onnxc
