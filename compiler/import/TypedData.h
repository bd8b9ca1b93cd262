// TypedData.h: the data fields of a tensor: typed ones (float_data, int32_data, …) as the bytes that raw_data would hold, packed elements
// as bytes. For Tensors.cpp and test data (compiler/commands/Data.cpp).
#pragma once
#include "compiler/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "onnx/onnx_pb.h"
#include <string>
#include <vector>

namespace onnxc::importer {
namespace pb = ONNX_NAMESPACE;

// False: a value does not fit the tensor's type, and `error` says which.
bool typedBytes(const pb::TensorProto &t, std::vector<char> &out, std::string &error);
// Elements of which several share a byte, packed from the low bits up, as one byte each; `bytes` hold `count` of them.
std::vector<char> unpackElements(llvm::ArrayRef<char> bytes, int64_t count, const DType &type);

}  // namespace onnxc::importer
