// Tensor.cpp: definitions and registration of the ops of Tensor.td.
#include "dialects/onnx/Tensor.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Tensor.cpp.inc"

void onnxc::onnx::OnnxDialect::registerTensor() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Tensor.cpp.inc"
      >();
}
