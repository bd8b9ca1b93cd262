// Sequence.cpp: definitions and registration of the ops of Sequence.td.
#include "dialects/onnx/Sequence.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Sequence.cpp.inc"

void onnxc::onnx::OnnxDialect::registerSequence() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Sequence.cpp.inc"
      >();
}
