// DType.h: the element types of ONNX by their codes, onnx.TensorProto.DataType.
#pragma once
#include <cstdint>

namespace onnxc {

struct DType {
  int32_t code;
  const char *name;  // as numpy and ml_dtypes spell it
  int32_t size;      // bytes of an element in memory; strings: 16
  const char *npy;   // .npy descr without byte order; "V<size>" for types numpy does not know
};

const DType *findDType(int32_t code);
constexpr int32_t StringCode = 8;

}  // namespace onnxc
