// String.cpp: definitions and registration of the ops of String.td.
#include "dialects/onnx/String.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/String.cpp.inc"

void onnxc::onnx::OnnxDialect::registerString() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/String.cpp.inc"
      >();
}
