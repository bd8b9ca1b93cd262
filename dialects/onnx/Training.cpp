// Training.cpp: definitions and registration of the ops of Training.td.
#include "dialects/onnx/Training.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Training.cpp.inc"

void onnxc::onnx::OnnxDialect::registerTraining() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Training.cpp.inc"
      >();
}
