// ControlFlow.cpp: definitions and registration of the ops of ControlFlow.td.
#include "dialects/onnx/ControlFlow.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/ControlFlow.cpp.inc"

void onnxc::onnx::OnnxDialect::registerControlFlow() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/ControlFlow.cpp.inc"
      >();
}
