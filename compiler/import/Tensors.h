// Tensors.h: TensorProto to ElementsAttr and ONNX types to MLIR types. Build.cpp and the upgrades read constants through it.
#pragma once
#include "compiler/import/ModelFile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime_stub/plan.h"
#include <vector>

namespace onnxc::importer {

constexpr int kMaxRank = ONNXC_MAX_RANK;
constexpr int64_t kMaxElements = int64_t(1) << 42;  // of a tensor

// Null: `error` says what is wrong, without the tensor's name. `name` becomes the resource's name.
mlir::ElementsAttr tensorToAttr(const pb::TensorProto &tensor, ModelFile &file, mlir::MLIRContext *context, llvm::StringRef name,
                                std::string &error);
mlir::ElementsAttr sparseToAttr(const pb::SparseTensorProto &tensor, ModelFile &file, mlir::MLIRContext *context, llvm::StringRef name,
                                std::string &error);

// What tensorToAttr would find wrong, without converting anything. "" when nothing is.
std::string checkTensor(const pb::TensorProto &tensor, ModelFile &file);

// The elements of an integer or bool tensor whose data lies in the proto; nothing for others.
bool smallInts(const pb::TensorProto &tensor, std::vector<int64_t> &values);
// The elements of a float or double tensor whose data lies in the proto.
bool smallFloats(const pb::TensorProto &tensor, std::vector<double> &values);
// Whether the skimmer left the tensor's payload in the file, or it is external.
bool isRemote(const pb::TensorProto &tensor);

// Null for a type without element type, or an unknown one.
mlir::Type toType(const pb::TypeProto &type, mlir::MLIRContext *context);

}  // namespace onnxc::importer
