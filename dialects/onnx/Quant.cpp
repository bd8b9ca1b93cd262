// Quant.cpp: definitions and registration of the ops of Quant.td.
#include "dialects/onnx/Quant.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Quant.cpp.inc"

void onnxc::onnx::OnnxDialect::registerQuant() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Quant.cpp.inc"
      >();
}
