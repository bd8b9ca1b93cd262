// Elementwise.cpp: definitions and registration of the ops of Elementwise.td.
#include "dialects/onnx/Elementwise.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Elementwise.cpp.inc"

void onnxc::onnx::OnnxDialect::registerElementwise() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Elementwise.cpp.inc"
      >();
}
