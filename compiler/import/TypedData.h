// TypedData.h: the typed data fields of a tensor (float_data, int32_data, …) as the bytes that raw_data would hold; for Tensors.cpp.
#pragma once
#include "onnx/onnx_pb.h"
#include <string>
#include <vector>

namespace onnxc::importer {
namespace pb = ONNX_NAMESPACE;

// False: a value does not fit the tensor's type, and `error` says which.
bool typedBytes(const pb::TensorProto &t, std::vector<char> &out, std::string &error);

}  // namespace onnxc::importer
