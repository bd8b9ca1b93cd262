/* onnxc_custom.h: how to write an operator of your own for `onnxc model.onnx -o model.so --custom-op domain::Name=library.a`.
 *
 * The library defines two C functions for the operator, named after its domain and name (what is no letter or digit becomes `_`):
 *
 *   int32_t onnxc_custom_shape_<domain>_<Name>(const onnxc_custom_call *call);   fills outputs[i].dims; data of outputs is null
 *   int32_t onnxc_custom_run_<domain>_<Name>(const onnxc_custom_call *call);     computes the elements of the outputs
 *
 * Both return 0 or one of the codes below, which the caller of the model gets with the node's name. Inputs must not be written. The
 * functions may be called from several threads at once. The model has to say the element type and the rank of each output of such a node
 * (value_info or graph output): both are fixed when it is compiled. A library.a becomes part of the artefact and needs nothing but the C
 * library; a library.so is loaded with it, and is looked for beside it too. Where onnxc, the standard or the model has an operator or a
 * function of that name, yours is taken, and gets its nodes as the model has them. */
#ifndef ONNXC_CUSTOM_H
#define ONNXC_CUSTOM_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNXC_CUSTOM_OK = 0, ONNXC_CUSTOM_SHAPE = 3, ONNXC_CUSTOM_VALUE = 4, ONNXC_CUSTOM_MEMORY = 5 };

/* Row-major and contiguous. An input or output that the node leaves out has rank -1. */
typedef struct onnxc_custom_tensor {
  void *data;
  int64_t *dims;
  int32_t rank;
  int32_t dtype; /* onnx.TensorProto.DataType */
} onnxc_custom_tensor;

/* An element of a tensor of strings; not ended by a zero. */
typedef struct onnxc_custom_string {
  const char *data;
  int64_t size;
} onnxc_custom_string;

/* kind 'i': `i`; 'f': `f`; 's': `count` bytes at `data`; 'I': `count` of int64_t at `data`; 'F': `count` of float at `data`; 'S': `count`
 * of onnxc_custom_string at `data`; 't': an onnxc_custom_tensor at `data`. Attributes that are graphs or types are refused at compile time.
 */
typedef struct onnxc_custom_attribute {
  const char *name; /* null after the last */
  int64_t kind;
  int64_t i;
  double f;
  const void *data;
  int64_t count;
} onnxc_custom_attribute;

typedef struct onnxc_custom_call {
  void *run;
  const onnxc_custom_tensor *inputs;
  int64_t num_inputs;
  const onnxc_custom_tensor *outputs;
  int64_t num_outputs;
  const onnxc_custom_attribute *attributes;
  void *(*allocate)(void *run, int64_t bytes); /* zeroed memory of this run, freed after it; null when out of memory */
} onnxc_custom_call;

#ifdef __cplusplus
}
#endif
#endif
