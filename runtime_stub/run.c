/* run.c: checks what a caller passes, binds symbolic dims, runs the plan and words what went wrong. */
#include "runtime_stub/elements.h"
#include "runtime_stub/internal.h"
#include <stdio.h>
#include <string.h>

static int64_t count_of(const int64_t *dims, int32_t rank) {
  int64_t n = 1;
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(n, dims[i], &n))
      return -1;
  return n;
}

/* Of an output: the input of any rank whose shape it has, or -1. */
static int64_t like(int32_t output) { return onnxc_the_plan.like ? onnxc_the_plan.like[onnxc_the_plan.num_inputs + output] : -1; }

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

/* Of the elements; an offset of no memory is no pointer arithmetic. */
static char *start_of(const onnxc_dltensor *t) { return (char *)((uintptr_t)t->data + t->byte_offset); }

/* Of a shape whose count is known to fit 64 bits: then so does each product of its last dims, unless one is 0. */
static bool is_packed(const onnxc_dltensor *t) {
  if (!t->strides || count_of(t->shape, t->ndim) == 0)
    return true;
  int64_t expect = 1;
  for (int32_t i = t->ndim - 1; i >= 0; --i) {
    if (t->shape[i] != 1 && t->strides[i] != expect)
      return false;
    expect *= t->shape[i];
  }
  return true;
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

static bool are_strings(const char *data, int64_t n) {
  const onnxc_string_view *s = (const onnxc_string_view *)data;
  for (int64_t i = 0; i < n; ++i)
    if (s[i].size < 0 || (s[i].size && !s[i].data))
      return false;
  return true;
}

static bool is_default(int32_t index, const onnxc_value *v) {
  return v->kind == ONNXC_TENSOR && !v->tensor.data && onnxc_the_plan.defaults && onnxc_the_plan.defaults[index] >= 0;
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
  if (t->device.type != 0 && t->device.type != 1)
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
  const int64_t size = element_of(v->dtype)->size, align = size > 8 ? 8 : size;
  const char *data = start_of(t);
  c->input_dims[index] = t->shape;
  c->input_data[index] = bytes ? (const void *)data : (const void *)onnxc_weights;
  const bool packed = is_packed(t);
  if (!bytes || (packed && ((uintptr_t)data & (uintptr_t)(align - 1)) == 0))
    return 0;
  char *to = onnxc_reserve(&c->options, &c->packed[index], bytes);
  if (!to)
    return onnxc_fail(error, ONNXC_E_MEMORY, onnxc_the_plan.inputs[index].name, "out of memory for input '%s'",
                      onnxc_the_plan.inputs[index].name);
  c->input_data[index] = to;
  if (packed)
    memcpy(to, data, (size_t)bytes);
  else
    pack(t, size, data, &to, 0);
  return 0;
}

/* A tensor inside an object; its element type must be `dtype` (0: any). */
static bool take_item_tensor(const onnxc_value *v, int32_t dtype, onnxc_tensor *out) {
  const onnxc_dltensor *t = &v->tensor;
  const int64_t size = element_of(v->dtype)->size;
  if (t->ndim < 0 || t->ndim > ONNXC_MAX_RANK || (t->ndim && !t->shape) || !size || (dtype && v->dtype != dtype))
    return false;
  if (t->device.type != 0 && t->device.type != 1)
    return false;
  const int64_t n = count_of(t->shape, t->ndim);
  const char *data = start_of(t);
  if (n < 0 || n > INT64_MAX / size || (!t->data && n) || !is_packed(t))
    return false;
  if ((uintptr_t)data & (uintptr_t)((size > 8 ? 8 : size) - 1))
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

static bool holds(const void *memory, int64_t bytes, const void *p) {
  return memory && (uintptr_t)p - (uintptr_t)memory < (uintptr_t)bytes;
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

static int32_t take_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error) {
  int32_t status = begin_inputs(c, inputs, num_inputs, error);
  if (status || (status = refuse_ours(c, inputs, error)))
    return status;
  onnxc_heap_reset(c);
  for (int32_t i = 0; i < num_inputs && !status; ++i)
    status = take_input(c, i, &inputs[i], true, error);
  return status;
}

/* As take_inputs, but the last run's results stay. */
static int32_t look_at_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error) {
  int32_t status = begin_inputs(c, inputs, num_inputs, error);
  if (status)
    return status;
  const heap_mark mark = onnxc_heap_mark(c);
  for (int32_t i = 0; i < num_inputs && !status; ++i)
    status = take_input(c, i, &inputs[i], false, error);
  onnxc_heap_rewind(c, mark);
  return status;
}

int32_t onnxc_query(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, int64_t *const *output_dims, onnxc_error *error) {
  const int32_t status = look_at_inputs(c, inputs, num_inputs, error);
  if (status)
    return status;
  if (!output_dims)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "`output_dims` is null");
  if (c->variant->sizes(c->symbols, c->planned_dims) < 0)
    return onnxc_fail(error, ONNXC_E_SHAPE, NULL, "the inputs' shapes make a size that overflows");
  const int64_t *dims = c->planned_dims;
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i)
    if (onnxc_the_plan.outputs[i].rank > 0 && !output_dims[i])
      return onnxc_fail(error, ONNXC_E_ARGUMENT, onnxc_the_plan.outputs[i].name, "`output_dims[%d]` is null", i);
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i) {
    const onnxc_dltensor *same = like(i) < 0 ? NULL : &inputs[like(i)].tensor;
    for (int32_t a = 0; a < onnxc_the_plan.outputs[i].rank; ++a, ++dims)
      if (!same)
        output_dims[i][a] = *dims;
    for (int32_t a = 0; same && a < same->ndim; ++a)
      output_dims[i][a] = same->shape[a];
  }
  return 0;
}

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
  const int64_t size = element_of(io->dtype)->size;
  if ((uintptr_t)start_of(t) & (uintptr_t)((size > 8 ? 8 : size) - 1))
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

/* Says where each output goes: the caller's memory, the library's, or (NULL) the plan's own when only the run knows its size. */
static int32_t place_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error) {
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
      return onnxc_fail(error, ONNXC_E_SHAPE, io->name, "output '%s': the inputs' shapes make a negative or overflowing size", io->name);
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

static int32_t give_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error) {
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

int32_t onnxc_rt_blame(onnxc_rt *rt, int32_t code, int64_t index, int64_t size) {
  __atomic_store_n(&rt->blamed[0], index, __ATOMIC_RELAXED); /* threads may fail side by side: one of them is told */
  __atomic_store_n(&rt->blamed[1], size, __ATOMIC_RELAXED);
  return code;
}

static const char *words(int32_t code) {
  static const char *const text[] = {
      [ONNXC_K_INDEX] = "an index is out of range",
      [ONNXC_K_SIZE] = "a size is negative or overflows",
      [ONNXC_K_SHAPE] = "shapes do not fit together",
      [ONNXC_K_VALUE] = "a value is not allowed",
      [ONNXC_K_MEMORY] = "out of memory",
      [ONNXC_K_DECODE] = "malformed data",
      [ONNXC_K_FORMAT] = "data of a format that has no reader on this target",
  };
  return code > 0 && code <= ONNXC_K_FORMAT ? text[code] : "failed";
}

int32_t onnxc_run(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_value *outputs, int32_t num_outputs,
                  onnxc_error *error) {
  int32_t status = take_inputs(c, inputs, num_inputs, error);
  if (status)
    return status;
  if (num_outputs != onnxc_the_plan.num_outputs || (num_outputs && !outputs))
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, outputs ? "%d outputs given, the model has %d" : "`outputs` is null", num_outputs,
                      onnxc_the_plan.num_outputs);
  const int64_t bytes = c->variant->sizes(c->symbols, c->planned_dims);
  if (bytes < 0)
    return onnxc_fail(error, ONNXC_E_SHAPE, NULL, "the inputs' shapes make a size that overflows");
  c->rt.arena = onnxc_reserve(&c->options, &c->arena, bytes);
  if (!c->rt.arena)
    return onnxc_fail(error, ONNXC_E_MEMORY, NULL, "out of memory for %lld bytes of intermediate values", (long long)bytes);
  if ((status = place_outputs(c, inputs, outputs, error)))
    return status;
  if (c->rt.trace)
    c->last_tick = onnxc_now();
  const onnxc_float_control control = onnxc_enter_kernels();
  if (c->pool)
    onnxc_pool_begin(c->pool);
  status = c->variant->run(&c->rt, c->symbols);
  if (c->pool)
    onnxc_pool_end(c->pool);
  onnxc_leave_kernels(control);
  if (status) {
    const int32_t site = c->rt.failed_site;
    const onnxc_site *s = site >= 0 && site < onnxc_the_plan.num_sites ? &onnxc_the_plan.sites[site] : NULL;
    const char *node = s ? s->node : "?";
    char op[64] = ""; /* the operator, where it is one of the model's */
    if (s && strncmp(s->op, "packed.", 7))
      snprintf(op, sizeof op, " (%s)", s->op);
    const int64_t first = c->rt.blamed[0], second = c->rt.blamed[1];
    c->rt.blamed[0] = ONNXC_NOTHING;
    char told[64] = "";
    if (first != ONNXC_NOTHING && (status == ONNXC_K_SHAPE || status == ONNXC_K_INDEX))
      snprintf(told, sizeof told, status == ONNXC_K_SHAPE ? ": %lld and %lld differ" : ": %lld of an axis of %lld", (long long)first,
               (long long)second);
    return onnxc_fail(error, status == ONNXC_K_MEMORY ? ONNXC_E_MEMORY : ONNXC_E_RUN, s ? s->node : NULL, "%s%s: %s%s", node, op,
                      words(status), told);
  }
  return give_outputs(c, inputs, outputs, error);
}
