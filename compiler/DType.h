// DType.h: the element types of ONNX by their codes, onnx.TensorProto.DataType.
#pragma once
#include <cstdint>

namespace llvm {
struct fltSemantics;
}

namespace onnxc {

struct DType {
  enum Kind { Float, Signed, Unsigned, Bool, Complex, String };

  int32_t code;
  const char *name;  // as numpy and ml_dtypes spell it
  Kind kind;
  int32_t size;                           // bytes of an element in memory; strings: 16
  int32_t bits;                           // of an element in a model's raw data: 2, 4 and 6 where several share a byte; strings: 0
  const char *npy;                        // .npy descr without byte order; "V<size>" for types numpy does not know
  const llvm::fltSemantics &(*format)();  // of floats; else null
};

const DType *findDType(int32_t code);  // null: there is none
constexpr int32_t kStringCode = 8;

}  // namespace onnxc
