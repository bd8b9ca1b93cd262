// Diagnostics.h: what passes and the importer find wrong, said with the node it is about. compiler/Pipeline.cpp makes one for each model.
#pragma once
#include "mlir/IR/Diagnostics.h"

namespace onnxc {

class Diagnostics {
public:
  // Says at most `mostErrors` errors, and at the end how many more there were.
  Diagnostics(mlir::MLIRContext &context, size_t mostErrors);
  ~Diagnostics();

private:
  void print(mlir::Diagnostic &d);
  const size_t mostErrors;
  size_t errors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

}  // namespace onnxc
