// Passes.h: the fusion passes that Passes.td declares.
#pragma once
#include "mlir/Pass/Pass.h"
namespace onnxc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fusion/Passes.h.inc"
}  // namespace onnxc
