// NN.cpp: definitions and registration of the ops of NN.td.
#include "dialects/onnx/NN.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/NN.cpp.inc"

void onnxc::onnx::OnnxDialect::registerNN() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/NN.cpp.inc"
      >();
}
