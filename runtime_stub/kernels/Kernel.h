// Kernel.h: what every library kernel includes. Freestanding: no libstdc++, no exceptions, no RTTI, no global state.
//
// A kernel is `int32_t onnxc_k_<Name>[_<type>…](const onnxc_args *)`; its optional size function `onnxc_s_<Name>…` fills the result dims
// of data-dependent shapes. See docs/Architecture.md section 5 and Library.def for the table the compiler reads.
#pragma once
#include "runtime_stub/plan.h"
#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct onnxc_string {
  const char *data;
  int64_t size;
} onnxc_string;

// Codes are onnx.TensorProto.DataType.
enum onnxc_dtype : int32_t {
  ONNXC_F32 = 1,
  ONNXC_U8 = 2,
  ONNXC_I8 = 3,
  ONNXC_U16 = 4,
  ONNXC_I16 = 5,
  ONNXC_I32 = 6,
  ONNXC_I64 = 7,
  ONNXC_STR = 8,
  ONNXC_BOOL = 9,
  ONNXC_F16 = 10,
  ONNXC_F64 = 11,
  ONNXC_U32 = 12,
  ONNXC_U64 = 13,
  ONNXC_C64 = 14,
  ONNXC_C128 = 15,
  ONNXC_BF16 = 16,
  ONNXC_F8E4M3FN = 17,
  ONNXC_F8E4M3FNUZ = 18,
  ONNXC_F8E5M2 = 19,
  ONNXC_F8E5M2FNUZ = 20,
  ONNXC_U4 = 21,
  ONNXC_I4 = 22,
  ONNXC_F4E2M1 = 23,
  ONNXC_F8E8M0 = 24,
  ONNXC_U2 = 25,
  ONNXC_I2 = 26,
  ONNXC_F6E2M3 = 27,
  ONNXC_F6E3M2 = 28,
};

// One attribute: an int or enum in `i`, a float in `f`, ints/floats/string/strings at `p` with `n` elements (int64_t, float, char,
// onnxc_string), a tensor at `p` (an onnxc_tensor). Absent attribute: n == -1 (scalars hold the row's default).
typedef struct onnxc_attr {
  int64_t i;
  double f;
  const void *p;
  int64_t n;
} onnxc_attr;

typedef struct onnxc_args {
  struct onnxc_rt *rt;
  const onnxc_tensor *in;
  int64_t n_in;  // absent optional inputs have data == NULL and rank == -1
  onnxc_tensor *out;
  int64_t n_out;  // absent optional outputs likewise
  const onnxc_attr *attr;
  void *scratch;  // per task, size from the table row's scratch function; may be NULL
} onnxc_args;
}

#define ONNXC_INLINE static inline __attribute__((always_inline))

// x * y + sum of numbers or vectors, floats rounded once where the processor has an instruction for it: elsewhere __builtin_fma is a call
// for each element, for results that must be exact.
template <class T>
ONNXC_INLINE T multiplyAdd(T x, T y, T sum) {
#pragma clang fp contract(on)
  return x * y + sum;
}

ONNXC_INLINE int64_t onnxc_count(const onnxc_tensor &t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i)
    n *= t.dims[i];
  return n;
}
ONNXC_INLINE bool onnxc_present(const onnxc_tensor &t) { return t.rank >= 0; }
