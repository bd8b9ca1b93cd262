// Build.h: a walked model (Walk.h) becomes a module of onnx ops. Import.cpp calls it last.
#pragma once
#include "compiler/import/Walk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxc::importer {

// Whether the dialect, or the user's `customOps`, have an operator for a node at the newest opset.
bool isKnown(const pb::NodeProto &node, mlir::MLIRContext *context, const std::set<std::string> &customOps);

// The names of a domain's operators that models may have, of any opset.
std::vector<std::string> knownNames(const std::string &domain, mlir::MLIRContext *context, const std::set<std::string> &customOps);

// Null: diagnostics were emitted.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(ModelFile &file, Walker &walker, mlir::MLIRContext *context);

}  // namespace onnxc::importer
