// Passes.h: creation and registration of the layout passes that Passes.td declares.
#pragma once
#include "dialects/onnx/OnnxBase.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace onnxc {
#define GEN_PASS_DECL
#include "passes/layout/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/layout/Passes.h.inc"
}  // namespace onnxc
