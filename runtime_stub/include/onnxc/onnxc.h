/* onnxc.h: the ABI of an artefact. C11, usable from C++; the only header an embedder needs.
 *
 * model    weights and code; immutable; shared by threads
 * context  arena, thread pool, memory of one caller at a time; make one per concurrent caller
 * Every call returns 0 or a status and fills the caller's onnxc_error (may be NULL). A bad argument is an error, never a crash.
 *
 * A .so exports `onnxc_get_api` and `onnxc_get_api_<model>`; archives and objects the latter only. */
#ifndef ONNXC_H
#define ONNXC_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define ONNXC_ABI_VERSION 1u

/* Layout of DLPack 1.1's DLTensor. */
typedef struct onnxc_device {
  int32_t type, id;
} onnxc_device; /* type 1: CPU */
typedef struct onnxc_dl_type {
  uint8_t code, bits;
  uint16_t lanes;
} onnxc_dl_type;
typedef struct onnxc_dltensor {
  void *data;
  onnxc_device device;
  int32_t ndim;
  onnxc_dl_type dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} onnxc_dltensor;

typedef struct onnxc_string_view {
  const char *data;
  int64_t size;
} onnxc_string_view; /* element of string tensors */

/* A value: a tensor or an object. Element types are onnx.TensorProto.DataType codes; 6-, 4- and 2-bit types hold one byte an element. */
typedef enum onnxc_kind { ONNXC_TENSOR = 0, ONNXC_SEQUENCE = 1, ONNXC_OPTIONAL = 2, ONNXC_MAP = 3 } onnxc_kind;
typedef struct onnxc_value {
  int32_t kind;
  int32_t dtype;                   /* TensorProto.DataType; DLTensor's dtype field is ignored on input and filled on output */
  onnxc_dltensor tensor;           /* kind TENSOR */
  const struct onnxc_value *items; /* SEQUENCE: items; OPTIONAL: none or one; MAP: keys tensor, values tensor */
  int64_t count;
} onnxc_value;

/* What messages call an element type; "?" where there is none of this code. */
static inline const char *onnxc_dtype_name(int32_t dtype) {
  static const char names[][16] = {"?",
                                   "float32",
                                   "uint8",
                                   "int8",
                                   "uint16",
                                   "int16",
                                   "int32",
                                   "int64",
                                   "string",
                                   "bool",
                                   "float16",
                                   "float64",
                                   "uint32",
                                   "uint64",
                                   "complex64",
                                   "complex128",
                                   "bfloat16",
                                   "float8_e4m3fn",
                                   "float8_e4m3fnuz",
                                   "float8_e5m2",
                                   "float8_e5m2fnuz",
                                   "uint4",
                                   "int4",
                                   "float4_e2m1fn",
                                   "float8_e8m0fnu",
                                   "uint2",
                                   "int2",
                                   "float6_e2m3fn",
                                   "float6_e3m2fn"};
  return names[dtype > 0 && dtype < 29 ? dtype : 0];
}

typedef struct onnxc_error {
  int32_t code;
  char node[120];
  char message[392];
} onnxc_error;

enum {
  ONNXC_OK = 0,
  ONNXC_E_ARGUMENT = 1, /* null, unknown struct_size or ABI version, wrong count */
  ONNXC_E_DTYPE = 2,
  ONNXC_E_SHAPE = 3, /* rank, dim or symbol disagrees with the model, or is outside its range */
  ONNXC_E_MEMORY = 4,
  ONNXC_E_RUN = 5,    /* a node refused its data; `node` names it */
  ONNXC_E_CPU = 6,    /* no code in the artefact for this processor */
  ONNXC_E_WEIGHTS = 7 /* the file of the weights is missing, cut or another model's */
};

typedef struct onnxc_model onnxc_model;
typedef struct onnxc_context onnxc_context;

/* For model_create; context_create takes NULL, the model's options, or others for one context. Fields that a shorter struct_size leaves out
 * and NULL functions have their defaults.
 * parallel_for: calls body(arg, task) for task in [0, tasks), returns when all are done. */
typedef struct onnxc_options {
  size_t struct_size;
  void *(*alloc)(void *user, size_t bytes, size_t alignment);
  void (*free)(void *user, void *ptr);
  void *alloc_user;
  void (*parallel_for)(void *user, int32_t tasks, void (*body)(void *arg, int32_t task), void *arg);
  void *parallel_user;
  void (*log)(void *user, const char *line); /* told, at context_create, the CPU level and the threads */
  void *log_user;
  int32_t num_threads; /* of one run, the caller's among them; 0: 1 */
  const char *cpu;     /* NULL: the best that the machine can run; else a name of the artefact's list */
  /* Of an artefact with `--weights external`, the file of its weights. NULL: the path of the library or program that holds the model, as
   * the loader knows it, and ".weights"; of a model out of an archive or object, <archive or object>.weights in the folder of that library
   * or program. It is mapped, and shared by processes, until model_destroy; like a library it must not be written to meanwhile. Ignored
   * where the artefact holds its weights. */
  const char *weights_path;
} onnxc_options;

typedef struct onnxc_io_info {
  const char *name;
  int32_t kind, dtype, key_dtype, rank; /* rank -1: not fixed; of a sequence or optional input: of each tensor inside */
  const int64_t *dims;                  /* >= 0 static; -(k+1): symbol k; INT64_MIN: known only after the run */
} onnxc_io_info;

typedef struct onnxc_model_info {
  size_t struct_size;
  const char *name, *json;
  int32_t num_inputs, num_outputs, num_symbols, num_sites, num_isas;
  const onnxc_io_info *inputs, *outputs;
  const char *const *symbols;
  uint64_t weights_bytes;
  const int64_t *defaults; /* NULL, or for each input -1, or >= 0: it has a default, taken by run and query where tensor.data is NULL */
  /* Below: only where struct_size says so. */
  const char *compiler, *model_hash; /* "onnxc 0.1.0"; "blake3:<hex>" of the model and its data files, "" where they could not be read */
  const char *const *flags, *const *isas; /* that changed the code; CPU levels, oldest first */
  int32_t num_flags, opset;
  const int64_t
      *ranges; /* NULL, or for each symbol its least size, the one expected mostly (-1: not said), its greatest (INT64_MAX: none) */
} onnxc_model_info;

typedef struct onnxc_profile_row {
  const char *node, *op, *kernel;
  int64_t flops, bytes, calls, nanoseconds;
} onnxc_profile_row;
typedef void (*onnxc_tap)(void *user, const char *node, const char *op, int64_t nanoseconds);

/* A launch that has just ended. It and all it points to live until the tap returns. */
typedef struct onnxc_launch {
  size_t struct_size;
  int32_t site; /* for `site`: node, op, kernel */
  int32_t num_results;
  int64_t nanoseconds, flops, bytes; /* flops, bytes: of these shapes; -1: unknown */
  const onnxc_value *results;        /* as the code holds them: perhaps in blocks of 16 channels; tensor.data NULL: no tensor of numbers */
} onnxc_launch;
typedef void (*onnxc_launch_tap)(void *user, const onnxc_launch *launch);

typedef struct onnxc_api {
  uint32_t struct_size, abi_version;
  const onnxc_model_info *(*info)(void);
  int32_t (*model_create)(const onnxc_options *options, onnxc_model **model, onnxc_error *error);
  void (*model_destroy)(onnxc_model *model); /* after its contexts' end */
  int32_t (*context_create)(onnxc_model *model, const onnxc_options *options, onnxc_context **context, onnxc_error *error);
  void (*context_destroy)(onnxc_context *context);
  /* Fills output_dims (one pointer per output with room for its rank; of an output without a fixed one, for the most axes of an input) from
   * the inputs' shapes alone, of inputs as a run takes them. INT64_MIN where values decide, so that only a run knows. */
  int32_t (*query)(onnxc_context *context, const onnxc_value *inputs, int32_t num_inputs, int64_t *const *output_dims, onnxc_error *error);
  /* Outputs with tensor.data set are the caller's (tensor.shape must say their size; they may be the memory of an input); the others get
   * memory that lives until the context's next run or its end, with kind, dtype, tensor.shape filled in: no input of that run. What a
   * result takes over from an input as it is, the items of an object and the texts of strings, lives only as long as that input. */
  int32_t (*run)(onnxc_context *context, const onnxc_value *inputs, int32_t num_inputs, onnxc_value *outputs, int32_t num_outputs,
                 onnxc_error *error);
  int64_t (*arena_bytes)(const onnxc_context *context);
  const char *(*isa)(const onnxc_model *model);
  /* tap (NULL: off) is called after each launch of the runs that follow. */
  void (*set_tap)(onnxc_context *context, onnxc_tap tap, void *user);
  const char *(*isa_name)(int32_t index);
  /* Fills what is known of launch `index` in [0, num_sites): node and op are the pointers that the tap gets, flops and bytes of one launch
   * are -1 where they depend on the inputs' shapes, calls and nanoseconds are 0. */
  int32_t (*site)(int32_t index, onnxc_profile_row *row);
  /* As set_tap, with the results of each launch. */
  void (*set_launch_tap)(onnxc_context *context, onnxc_launch_tap tap, void *user);
} onnxc_api;

const onnxc_api *onnxc_get_api(uint32_t abi_version); /* NULL: not this version */

#ifdef __cplusplus
}
#endif
#endif
