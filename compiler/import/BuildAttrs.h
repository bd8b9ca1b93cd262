// BuildAttrs.h: AttributeProto to MLIR attributes, for Build.cpp.
#pragma once
#include "compiler/import/Tensors.h"

namespace onnxc::importer {

// Null: `error` says what is wrong, without the attribute's name.
mlir::Attribute toAttribute(const pb::AttributeProto &attr, ModelFile &file, mlir::MLIRContext *context, llvm::StringRef name,
                            std::string &error);
// The value of a Constant node, whichever attribute holds it.
mlir::ElementsAttr constantValue(const pb::NodeProto &node, ModelFile &file, mlir::MLIRContext *context, std::string &error);
// The sizes that a graph declares for each of its results, no entries where they do not fit; null unless they tell what a type leaves open.
mlir::ArrayAttr declaredSizes(const pb::GraphProto &graph, mlir::ValueRange results, mlir::MLIRContext *context);

}  // namespace onnxc::importer
