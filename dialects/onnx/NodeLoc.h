// NodeLoc.h: locations that name the node of the model, made by the importer, read by diagnostics and the plan.
#pragma once
#include "mlir/IR/Location.h"
#include <string>

namespace onnxc {

// A node's place: its name, the op type it had in the file and the opset of that op's domain there.
mlir::Location nodeLoc(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef opType, int64_t opset);
// The node's name ("" when the location names none).
std::string nodeName(mlir::Location loc);
// The op type it had in the file ("" when the location says none).
llvm::StringRef nodeOpType(mlir::Location loc);
// "Conv_12 (Conv, opset 22)" for a node's location; the file or name for others.
std::string describeLoc(mlir::Location loc);

}  // namespace onnxc
