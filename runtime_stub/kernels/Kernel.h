// Kernel.h: what every library kernel includes. Freestanding: no libstdc++, no exceptions, no RTTI, no global state.
//
// A kernel is `int32_t onnxc_k_<Name>[_<type>…](const onnxc_args *)`; its optional size function `onnxc_s_<Name>…` fills the result dims
// of data-dependent shapes. See docs/Architecture.md section 5 and Library.def for the table the compiler reads.
#pragma once
#include <stddef.h>
#include <stdint.h>

extern "C" {

// Values are ABI between kernels, plan and stub; the stub's error table words them.
enum onnxc_code : int32_t {
  ONNXC_K_OK = 0,
  ONNXC_K_INDEX = 1,   // an index is out of range
  ONNXC_K_SIZE = 2,    // a size is negative or overflows
  ONNXC_K_SHAPE = 3,   // shapes do not fit together (reshape, broadcast, split)
  ONNXC_K_VALUE = 4,   // a value is not allowed (step 0, empty sequence, unknown category)
  ONNXC_K_MEMORY = 5,  // out of memory
  ONNXC_K_DECODE = 6,  // malformed encoded data (image, string)
  ONNXC_K_FORMAT = 7,  // encoded data of a format that this target has no reader for
};

struct onnxc_rt;  // runtime services, opaque here

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

// Contiguous row-major tensor. In a size function `data` of results is null and `dims` is to be filled.
typedef struct onnxc_tensor {
  void *data;
  int64_t *dims;
  int32_t rank;
  int32_t dtype;
} onnxc_tensor;

// A sequence (items are tensors or maps), an optional (0 or 1 item) or a map (keys item 0, values item 1). Immutable once made; lives until
// the run ends.
typedef struct onnxc_object {
  int64_t count;
  onnxc_tensor *items;
} onnxc_object;

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

// Memory of the run: zero-initialised, 64-byte aligned, freed when the run ends. NULL when out of memory.
void *onnxc_rt_heap(struct onnxc_rt *rt, int64_t bytes);
// Memory of one launch, not initialised; the next call gives the same memory again.
void *onnxc_rt_scratch(struct onnxc_rt *rt, int64_t bytes);
// What a size function leaves for the kernel that follows it, of the run's heap; NULL: nothing. See keyOf in Index.h.
void onnxc_rt_keep(struct onnxc_rt *rt, uint64_t key, void *data);
void *onnxc_rt_take(struct onnxc_rt *rt, uint64_t key);
}

#define ONNXC_INLINE static inline __attribute__((always_inline))

ONNXC_INLINE int64_t onnxc_count(const onnxc_tensor &t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i)
    n *= t.dims[i];
  return n;
}
ONNXC_INLINE bool onnxc_present(const onnxc_tensor &t) { return t.rank >= 0; }
