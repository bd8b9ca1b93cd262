// Reduce.cpp: definitions and registration of the ops of Reduce.td.
#include "dialects/onnx/Reduce.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Reduce.cpp.inc"

void onnxc::onnx::OnnxDialect::registerReduce() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Reduce.cpp.inc"
      >();
}
