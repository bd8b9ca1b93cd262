// ModelHeader.h: the headers that go with an artefact (--emit-header): getter and indices for C, a typed session for C++.
#pragma once
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace onnxc {

struct ModelPort {
  std::string name;
  int dtype;          // onnx.TensorProto.DataType
  bool tensor;        // not a sequence, optional or map
  std::string shape;  // for people: "[batch, 3]"
};

struct ModelInterface {
  std::string name;  // a C identifier
  std::vector<ModelPort> inputs, outputs;
};

std::string modelHeaderC(const ModelInterface &model);
std::string modelHeaderCpp(const ModelInterface &model);

// Writes <folder>/<name>.h and <name>.hpp.
llvm::Error writeModelHeaders(const ModelInterface &model, llvm::StringRef folder);

}  // namespace onnxc
