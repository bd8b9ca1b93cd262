// ML.cpp: definitions and registration of the ops of ML.td.
#include "dialects/onnx/ML.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/ML.cpp.inc"

void onnxc::onnx::OnnxDialect::registerML() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/ML.cpp.inc"
      >();
}
