// Passes.h: the memory passes that Passes.td declares.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
namespace onnxc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"
}  // namespace onnxc
