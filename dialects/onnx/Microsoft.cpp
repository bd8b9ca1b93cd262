// Microsoft.cpp: definitions and registration of the ops of Microsoft.td.
#include "dialects/onnx/Microsoft.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Microsoft.cpp.inc"

void onnxc::onnx::OnnxDialect::registerMicrosoft() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Microsoft.cpp.inc"
      >();
}
