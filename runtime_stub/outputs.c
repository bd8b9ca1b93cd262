/* outputs.c: where the results of a run go, and how a caller gets them. */
#include "runtime_stub/values.h"
#include <string.h>

/* A tensor that the caller gives for a result. */
static int32_t check_output(const onnxc_io *io, int32_t rank, const onnxc_value *v, onnxc_error *error) {
  const onnxc_dltensor *t = &v->tensor;
  if (!t->data)
    return 0;
  if (t->ndim < 0 || t->ndim > ONNXC_MAX_RANK || (rank >= 0 && t->ndim != rank) || v->dtype != io->dtype || (t->ndim && !t->shape) ||
      count_of(t->shape, t->ndim) < 0 || !is_packed(t))
    return onnxc_fail(error, v->dtype != io->dtype ? ONNXC_E_DTYPE : ONNXC_E_SHAPE, io->name,
                      "output '%s': the given tensor has rank %d and element type %s; it needs rank %d, %s and row-major memory", io->name,
                      t->ndim, onnxc_dtype_name(v->dtype), rank, onnxc_dtype_name(io->dtype));
  if (!is_aligned(t, io->dtype))
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "output '%s': the given memory is not aligned to its elements", io->name);
  return 0;
}

/* Whether a run would read an input where it writes this memory. */
static bool meets_input(const onnxc_context *c, const onnxc_value *inputs, const char *memory, int64_t bytes) {
  for (int32_t i = 0; i < onnxc_the_plan.num_inputs; ++i) {
    const char *from = c->input_data[i];
    if (inputs[i].kind != ONNXC_TENSOR || is_default(i, &inputs[i]))
      continue;
    const int64_t size = count_of(c->input_dims[i], inputs[i].tensor.ndim) * element_of(inputs[i].dtype)->size;
    if (holds(memory, bytes, from) || holds(from, size, memory))
      return true;
  }
  return false;
}

/* An output of known dims goes to the caller's memory or the library's. */
static int32_t place_output(onnxc_context *c, int32_t i, const onnxc_value *inputs, const onnxc_dltensor *t, const int64_t *want, int64_t n,
                            onnxc_error *error) {
  const onnxc_io *io = &onnxc_the_plan.outputs[i];
  const onnxc_dltensor *same = like(i) < 0 ? NULL : &inputs[like(i)].tensor;
  const int32_t rank = same ? same->ndim : io->rank;
  for (int32_t a = 0; t->data && a < rank; ++a)
    if (t->shape[a] != (same ? same->shape : want)[a])
      return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "output '%s': dim %d of the given tensor is %lld, the result has %lld", io->name, a,
                        (long long)t->shape[a], (long long)(same ? same->shape : want)[a]);
  int64_t bytes;
  if (__builtin_mul_overflow(n, element_of(io->dtype)->size, &bytes))
    bytes = -1; /* more than there can be */
  char *given = t->data ? start_of(t) : NULL;
  const bool aside = !given || meets_input(c, inputs, given, bytes);
  c->output_data[i] = aside ? onnxc_reserve(&c->options, &c->results[i], bytes) : given;
  return c->output_data[i] ? 0 : onnxc_fail(error, ONNXC_E_MEMORY, io->name, "out of memory for output '%s'", io->name);
}

int32_t onnxc_place_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error) {
  const int64_t *dims = c->planned_dims;
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i) {
    const onnxc_io *io = &onnxc_the_plan.outputs[i];
    c->output_data[i] = NULL;
    if (io->kind != ONNXC_TENSOR)
      continue;
    int32_t status = check_output(io, like(i) < 0 ? io->rank : inputs[like(i)].tensor.ndim, &outputs[i], error);
    if (status)
      return status;
    if (io->rank < 0)
      continue;
    const int64_t *want = dims;
    dims += io->rank;
    bool known = true;
    for (int32_t a = 0; a < io->rank; ++a)
      known = known && want[a] != INT64_MIN;
    if (!known)
      continue;
    const int64_t n = count_of(want, io->rank);
    if (n < 0)
      continue; /* the run fails at the node whose result has no such size */
    if ((status = place_output(c, i, inputs, &outputs[i].tensor, want, n, error)))
      return status;
  }
  return 0;
}

void onnxc_set_dltype(onnxc_dltensor *t, int32_t dtype) {
  t->dtype.code = element_of(dtype)->dl;
  t->dtype.bits = (uint8_t)(element_of(dtype)->size * 8);
  t->dtype.lanes = 1;
  t->device.type = 1;
}

/* A tensor or an object of the run as a public value. The values of an object's items are memory of the run's heap; they go into `*room`
 * where the caller made it, so that the maps of a sequence lie side by side. */
static int32_t give(onnxc_context *c, const onnxc_tensor *from, int32_t kind, onnxc_value **room, onnxc_value *to) {
  memset(to, 0, sizeof *to);
  if (from->dtype != 0 && kind == ONNXC_TENSOR) {
    to->dtype = from->dtype;
    to->tensor.data = from->data;
    to->tensor.ndim = from->rank;
    to->tensor.shape = from->dims;
    onnxc_set_dltype(&to->tensor, from->dtype);
    return 0;
  }
  const onnxc_object *object = from->data;
  to->kind = kind;
  to->count = object ? object->count : 0;
  int64_t within = 0;
  for (int64_t i = 0; i < to->count; ++i)
    within += object->items[i].dtype || !object->items[i].data ? 0 : ((const onnxc_object *)object->items[i].data)->count;
  onnxc_value *items = room ? *room : onnxc_rt_heap(&c->rt, to->count * (int64_t)sizeof *items);
  onnxc_value *rooms = within ? onnxc_rt_heap(&c->rt, within * (int64_t)sizeof *rooms) : NULL;
  if (!items || (within && !rooms))
    return ONNXC_E_MEMORY;
  to->items = items;
  if (room)
    *room += to->count;
  for (int64_t i = 0; i < to->count; ++i) {
    const onnxc_tensor *item = &object->items[i];
    const int32_t inner = item->dtype ? ONNXC_TENSOR : kind == ONNXC_OPTIONAL ? ONNXC_SEQUENCE : ONNXC_MAP;
    const int32_t status = give(c, item, inner, rooms ? &rooms : NULL, &items[i]);
    if (status)
      return status;
  }
  return 0;
}

/* A result gets the shape of the input of any rank that it is like. */
static int32_t shape_as(onnxc_context *c, const onnxc_dltensor *input, onnxc_dltensor *result) {
  const int64_t bytes = input->ndim * (int64_t)sizeof(int64_t);
  int64_t *shape = onnxc_rt_heap(&c->rt, bytes ? bytes : 8);
  if (!shape)
    return ONNXC_E_MEMORY;
  if (bytes)
    memcpy(shape, input->shape, (size_t)bytes);
  result->shape = shape;
  result->ndim = input->ndim;
  return 0;
}

int32_t onnxc_give_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error) {
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i) {
    const onnxc_io *io = &onnxc_the_plan.outputs[i];
    onnxc_tensor from = {c->output_data[i], c->output_dims[i], io->rank, io->kind == ONNXC_TENSOR ? io->dtype : 0};
    if (io->kind == ONNXC_TENSOR && outputs[i].tensor.data) {
      char *to = start_of(&outputs[i].tensor);
      if (to == c->output_data[i])
        continue;
      const int32_t rank = io->rank < 0 ? outputs[i].tensor.ndim : io->rank;
      const int64_t have = count_of(outputs[i].tensor.shape, outputs[i].tensor.ndim), n = count_of(c->output_dims[i], rank);
      if (have != n)
        return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "output '%s': the given tensor has %lld elements, the result %lld", io->name,
                          (long long)have, (long long)n);
      memmove(to, c->output_data[i], (size_t)(n * element_of(io->dtype)->size)); /* the result may be an input as it is */
      continue;
    }
    if (give(c, &from, io->kind, NULL, &outputs[i]) || (like(i) >= 0 && shape_as(c, &inputs[like(i)].tensor, &outputs[i].tensor)))
      return onnxc_fail(error, ONNXC_E_MEMORY, io->name, "out of memory for output '%s'", io->name);
  }
  return 0;
}
