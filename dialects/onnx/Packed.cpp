// Packed.cpp: definitions and registration of the ops of Packed.td.
#include "dialects/onnx/Packed.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.cpp.inc"

void onnxc::onnx::OnnxDialect::registerPacked() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Packed.cpp.inc"
      >();
}
