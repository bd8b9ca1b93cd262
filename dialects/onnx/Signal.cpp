// Signal.cpp: definitions and registration of the ops of Signal.td.
#include "dialects/onnx/Signal.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Signal.cpp.inc"

void onnxc::onnx::OnnxDialect::registerSignal() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Signal.cpp.inc"
      >();
}
