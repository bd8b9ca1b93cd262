// Random.cpp: definitions and registration of the ops of Random.td.
#include "dialects/onnx/Random.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Random.cpp.inc"

void onnxc::onnx::OnnxDialect::registerRandom() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Random.cpp.inc"
      >();
}
