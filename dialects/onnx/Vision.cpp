// Vision.cpp: definitions and registration of the ops of Vision.td.
#include "dialects/onnx/Vision.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Vision.cpp.inc"

void onnxc::onnx::OnnxDialect::registerVision() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Vision.cpp.inc"
      >();
}
