/* soft_clip.c: an operator of our own, example.ops::SoftClip: y = limit * tanh(x / limit). Built into a library that onnxc links into the
 * model:
 *
 *   cc -O2 -fPIC -Iruntime_stub/include -c soft_clip.c && ar rcs soft_clip.a soft_clip.o
 *   onnxc soft_clip.onnx -o soft_clip.so --custom-op example.ops::SoftClip=soft_clip.a */
#include <math.h>
#include <onnxc/onnxc_custom.h>
#include <string.h>

int32_t onnxc_custom_shape_example_ops_SoftClip(const onnxc_custom_call *call) {
  const onnxc_custom_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  if (call->num_inputs != 1 || x->rank != y->rank)
    return ONNXC_CUSTOM_SHAPE;
  memcpy(y->dims, x->dims, (size_t)x->rank * sizeof *x->dims);
  return ONNXC_CUSTOM_OK;
}

int32_t onnxc_custom_run_example_ops_SoftClip(const onnxc_custom_call *call) {
  const onnxc_custom_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  float limit = 1;
  for (const onnxc_custom_attribute *a = call->attributes; a->name; ++a)
    if (!strcmp(a->name, "limit"))
      limit = (float)a->f;
  if (!(limit > 0))
    return ONNXC_CUSTOM_VALUE;
  int64_t n = 1;
  for (int32_t d = 0; d < x->rank; ++d)
    n *= x->dims[d];
  for (int64_t i = 0; i < n; ++i)
    ((float *)y->data)[i] = limit * tanhf(((const float *)x->data)[i] / limit);
  return ONNXC_CUSTOM_OK;
}
