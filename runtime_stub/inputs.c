/* inputs.c: checks what a caller passes to a run, binds the symbolic dims by it and places it where the plan reads it. */
#include "runtime_stub/values.h"
#include <stdio.h>
#include <string.h>

/* A size that the model was not compiled for. */
static int32_t outside(const onnxc_io *io, int32_t axis, const char *symbol, int64_t got, const int64_t *range, onnxc_error *error) {
  char name[96] = "", limits[64];
  if (*symbol)
    snprintf(name, sizeof name, " ('%.80s')", symbol);
  if (range[2] == INT64_MAX)
    snprintf(limits, sizeof limits, "%lld or more", (long long)range[0]);
  else
    snprintf(limits, sizeof limits, "%lld to %lld", (long long)range[0], (long long)range[2]);
  return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': dim %d%s is %lld, but the model was compiled for %s", io->name, axis, name,
                    (long long)got, limits);
}

/* Binds or compares one dim of input `io`. */
static int32_t bind_dim(onnxc_context *c, const onnxc_io *io, int32_t axis, int64_t got, onnxc_error *error) {
  const int64_t want = io->dims[axis];
  if (got < 0)
    return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': dim %d is %lld; it must not be negative", io->name, axis,
                      (long long)got);
  if (want >= 0)
    return want == got ? 0
                       : onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': dim %d is %lld, the model needs %lld", io->name, axis,
                                    (long long)got, (long long)want);
  if (want == INT64_MIN)
    return 0;
  const int64_t symbol = -(want + 1);
  if (c->bound[symbol] && c->symbols[symbol] != got)
    return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': dim %d ('%s') is %lld, but another input has it as %lld", io->name, axis,
                      onnxc_the_plan.symbols[symbol], (long long)got, (long long)c->symbols[symbol]);
  const int64_t *range = onnxc_the_plan.ranges ? onnxc_the_plan.ranges + symbol * 3 : NULL;
  if (range && (got < range[0] || got > range[2]))
    return outside(io, axis, onnxc_the_plan.symbols[symbol], got, range, error);
  c->bound[symbol] = true;
  c->symbols[symbol] = got;
  return 0;
}

/* Copies a strided tensor, innermost axis last. */
static void pack(const onnxc_dltensor *t, int64_t size, const char *from, char **to, int32_t axis) {
  if (axis == t->ndim) {
    memcpy(*to, from, (size_t)size);
    *to += size;
    return;
  }
  for (int64_t i = 0; i < t->shape[axis]; ++i)
    pack(t, size, from + i * t->strides[axis] * size, to, axis + 1);
}

/* Whether `n` strings have memory. */
static bool are_strings(const char *data, int64_t n) {
  const onnxc_string_view *s = (const onnxc_string_view *)data;
  for (int64_t i = 0; i < n; ++i)
    if (s[i].size < 0 || (s[i].size && !s[i].data))
      return false;
  return true;
}

/* Rank and dims of a tensor; `any`: the model takes each. */
static int32_t check_shape(onnxc_context *c, const onnxc_io *io, bool any, const onnxc_dltensor *t, onnxc_error *error) {
  if (!any && io->rank >= 0 && t->ndim != io->rank)
    return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': rank %d, the model needs %d", io->name, t->ndim, io->rank);
  if (t->ndim < 0 || t->ndim > ONNXC_MAX_RANK)
    return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': rank %d", io->name, t->ndim);
  if (t->ndim > 0 && !t->shape)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "input '%s': shape is null", io->name);
  for (int32_t a = 0; !any && io->rank >= 0 && a < t->ndim; ++a) {
    const int32_t status = bind_dim(c, io, a, t->shape[a], error);
    if (status)
      return status;
  }
  return 0;
}

/* Everything about a tensor that can be wrong; `bytes`: of its elements. */
static int32_t check_tensor(onnxc_context *c, int32_t index, const onnxc_value *v, int64_t *bytes, onnxc_error *error) {
  const onnxc_io *io = &onnxc_the_plan.inputs[index];
  const onnxc_dltensor *t = &v->tensor;
  if (v->kind != ONNXC_TENSOR)
    return onnxc_fail(error, ONNXC_E_DTYPE, io->name, "input '%s': the model needs a tensor", io->name);
  if (!element_of(v->dtype)->size)
    return onnxc_fail(error, ONNXC_E_DTYPE, io->name, "input '%s': %d is no element type, the model needs %s", io->name, v->dtype,
                      onnxc_dtype_name(io->dtype));
  if (v->dtype != io->dtype)
    return onnxc_fail(error, ONNXC_E_DTYPE, io->name, "input '%s': %s, the model needs %s", io->name, onnxc_dtype_name(v->dtype),
                      onnxc_dtype_name(io->dtype));
  const bool any = onnxc_the_plan.like && onnxc_the_plan.like[index] >= 0;
  const int32_t status = check_shape(c, io, any, t, error);
  if (status)
    return status;
  const int64_t n = count_of(t->shape, t->ndim);
  if (n < 0 || __builtin_mul_overflow(n, element_of(v->dtype)->size, bytes))
    return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "input '%s': its size overflows", io->name);
  if (any && bind_dim(c, io, 0, n, error))
    return ONNXC_E_SHAPE;
  if (!t->data && n)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "input '%s': data is null", io->name);
  if (!is_in_host_memory(t))
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "input '%s': not in host memory (device type %d)", io->name, t->device.type);
  if (v->dtype == STRING && !is_packed(t))
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "input '%s': strings cannot be strided", io->name);
  if (v->dtype == STRING && !are_strings(start_of(t), n))
    return onnxc_fail(error, ONNXC_E_ARGUMENT, io->name, "input '%s': a string has a null pointer or a negative size", io->name);
  return 0;
}

/* A tensor without fault for the plan, which reads packed and aligned elements. */
static int32_t place_tensor(onnxc_context *c, int32_t index, const onnxc_value *v, int64_t bytes, onnxc_error *error) {
  const onnxc_dltensor *t = &v->tensor;
  const char *data = start_of(t);
  c->input_dims[index] = t->shape;
  c->input_data[index] = bytes ? (const void *)data : (const void *)onnxc_weights;
  const bool packed = is_packed(t);
  if (!bytes || (packed && is_aligned(t, v->dtype)))
    return 0;
  char *to = onnxc_reserve(&c->options, &c->packed[index], bytes);
  if (!to)
    return onnxc_fail(error, ONNXC_E_MEMORY, onnxc_the_plan.inputs[index].name, "out of memory for input '%s'",
                      onnxc_the_plan.inputs[index].name);
  c->input_data[index] = to;
  if (packed)
    memcpy(to, data, (size_t)bytes);
  else
    pack(t, element_of(v->dtype)->size, data, &to, 0);
  return 0;
}

/* A tensor inside an object; its element type must be `dtype` (0: any). */
static bool take_item_tensor(const onnxc_value *v, int32_t dtype, onnxc_tensor *out) {
  const onnxc_dltensor *t = &v->tensor;
  const int64_t size = element_of(v->dtype)->size;
  if (t->ndim < 0 || t->ndim > ONNXC_MAX_RANK || (t->ndim && !t->shape) || !size || (dtype && v->dtype != dtype))
    return false;
  if (!is_in_host_memory(t))
    return false;
  const int64_t n = count_of(t->shape, t->ndim);
  const char *data = start_of(t);
  if (n < 0 || n > INT64_MAX / size || (!t->data && n) || !is_packed(t))
    return false;
  if (!is_aligned(t, v->dtype))
    return false;
  if (v->dtype == STRING && !are_strings(data, n))
    return false;
  *out = (onnxc_tensor){(void *)data, t->shape, t->ndim, v->dtype};
  return true;
}

/* Whether a tensor inside an object has the shape that the model gives it. */
static bool fits(const onnxc_io *io, const onnxc_dltensor *t) {
  if (io->rank >= 0 && t->ndim != io->rank)
    return false;
  for (int32_t a = 0; a < io->rank; ++a)
    if (io->dims[a] >= 0 && t->shape[a] != io->dims[a])
      return false;
  return true;
}

/* Keys and values of a map: two vectors of one length. */
static bool take_map(const onnxc_io *io, const onnxc_value *v, onnxc_tensor *items) {
  if (v->count != 2 || v->items[0].kind != ONNXC_TENSOR || v->items[1].kind != ONNXC_TENSOR)
    return false;
  if (!take_item_tensor(&v->items[0], io->key_dtype, &items[0]) || !take_item_tensor(&v->items[1], io->dtype, &items[1]))
    return false;
  return items[0].rank == 1 && items[1].rank >= 1 && items[0].dims[0] == items[1].dims[0];
}

/* An optional, a sequence or a map as the plan reads it, in memory of the run's heap. `depth`: of objects around it. */
static bool take_object(onnxc_context *c, const onnxc_io *io, const onnxc_value *v, onnxc_tensor *out, int depth) {
  *out = (onnxc_tensor){0};
  if (v->kind == ONNXC_TENSOR)
    return depth > 0 && take_item_tensor(v, io->dtype, out) && fits(io, &v->tensor);
  if (depth > 16 || v->count < 0 || v->count > INT32_MAX || (v->count && !v->items))
    return false;
  if (v->kind < 0 || v->kind > ONNXC_MAP || (v->kind == ONNXC_OPTIONAL && v->count > 1) || (depth == 0 && v->kind != io->kind))
    return false;
  onnxc_object *object = onnxc_rt_heap(&c->rt, (int64_t)sizeof *object);
  onnxc_tensor *items = onnxc_rt_heap(&c->rt, v->count * (int64_t)sizeof(onnxc_tensor));
  if (!object || !items)
    return false;
  *object = (onnxc_object){v->count, items};
  out->data = object;
  if (v->kind == ONNXC_MAP)
    return take_map(io, v, items);
  for (int64_t i = 0; i < v->count; ++i)
    if (!take_object(c, io, &v->items[i], &items[i], depth + 1))
      return false;
  return true;
}

/* Whether this is memory of the context, which a run writes to and frees. */
static bool is_ours(const onnxc_context *c, const void *p) {
  bool ours = holds(c, c->bytes, p) || holds(c->arena.data, c->arena.bytes, p);
  for (int32_t i = 0; i < onnxc_the_plan.num_inputs; ++i)
    ours |= holds(c->packed[i].data, c->packed[i].bytes, p);
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i)
    ours |= holds(c->results[i].data, c->results[i].bytes, p);
  for (int32_t i = 0; i < onnxc_the_plan.num_slots; ++i)
    ours |= holds(c->slots[i].data, c->slots[i].bytes, p);
  for (const heap_block *b = c->heap; b; b = b->next)
    ours |= holds(b, b->size + ONNXC_BLOCK_HEADER, p);
  return p && ours;
}

/* What a call as a whole can have wrong. No dim is bound after it. */
static int32_t begin_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error) {
  const onnxc_plan *p = &onnxc_the_plan;
  if (!c)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "the context is null");
  if (num_inputs != p->num_inputs)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "%d inputs given, the model has %d", num_inputs, p->num_inputs);
  if (num_inputs && !inputs)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "`inputs` is null");
  if (p->num_symbols)
    memset(c->bound, 0, (size_t)p->num_symbols);
  return 0;
}

/* Checks an input and binds its dims; with `place` its data are ready for the plan, too. */
static int32_t take_input(onnxc_context *c, int32_t index, const onnxc_value *v, bool place, onnxc_error *error) {
  const onnxc_io *io = &onnxc_the_plan.inputs[index];
  onnxc_tensor object = {0};
  int64_t bytes = 0;
  if (is_default(index, v)) {
    c->input_dims[index] = io->dims;
    c->input_data[index] = c->rt.weights + onnxc_the_plan.defaults[index];
    return 0;
  }
  if (io->kind == ONNXC_TENSOR) {
    const int32_t status = check_tensor(c, index, v, &bytes, error);
    return status || !place ? status : place_tensor(c, index, v, bytes, error);
  }
  if (!take_object(c, io, v, &object, 0))
    return onnxc_fail(
        error, ONNXC_E_ARGUMENT, io->name,
        "input '%s': another kind, element type or shape than the model's, a null pointer, or a strided or overflowing tensor inside",
        io->name);
  c->input_data[index] = object.data;
  return 0;
}

/* That no input is what this run destroys. */
static int32_t refuse_ours(const onnxc_context *c, const onnxc_value *inputs, onnxc_error *error) {
  for (int32_t i = 0; i < onnxc_the_plan.num_inputs; ++i) {
    const onnxc_dltensor *t = &inputs[i].tensor;
    const char *name = onnxc_the_plan.inputs[i].name;
    if (inputs[i].kind == ONNXC_TENSOR ? is_ours(c, t->data) || is_ours(c, t->shape) : is_ours(c, inputs[i].items))
      return onnxc_fail(error, ONNXC_E_ARGUMENT, name,
                        "input '%s': memory of this context's last results, which end with its next run; copy it", name);
  }
  return 0;
}

int32_t onnxc_take_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error) {
  int32_t status = begin_inputs(c, inputs, num_inputs, error);
  if (status || (status = refuse_ours(c, inputs, error)))
    return status;
  onnxc_heap_reset(c);
  for (int32_t i = 0; i < num_inputs && !status; ++i)
    status = take_input(c, i, &inputs[i], true, error);
  return status;
}

int32_t onnxc_look_at_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error) {
  int32_t status = begin_inputs(c, inputs, num_inputs, error);
  if (status)
    return status;
  const heap_mark mark = onnxc_heap_mark(c);
  for (int32_t i = 0; i < num_inputs && !status; ++i)
    status = take_input(c, i, &inputs[i], false, error);
  onnxc_heap_rewind(c, mark);
  return status;
}
