/* run.c: what the shapes of results are, and a run of the plan, with words for what went wrong in it. */
#include "runtime_stub/values.h"
#include <stdio.h>
#include <string.h>

int32_t onnxc_query(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, int64_t *const *output_dims, onnxc_error *error) {
  const int32_t status = onnxc_look_at_inputs(c, inputs, num_inputs, error);
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

int32_t onnxc_rt_blame(onnxc_rt *rt, int32_t code, int64_t index, int64_t size) {
  __atomic_store_n(&rt->blamed[0], index, __ATOMIC_RELAXED); /* threads may fail side by side: one of them is told */
  __atomic_store_n(&rt->blamed[1], size, __ATOMIC_RELAXED);
  return code;
}

/* What a kernel's status means. */
static const char *words(int32_t code) {
  static const char *const text[] = {
      [ONNXC_K_INDEX] = "an index is out of range",
      [ONNXC_K_SIZE] = "a size is negative or overflows",
      [ONNXC_K_SHAPE] = "shapes do not fit together",
      [ONNXC_K_VALUE] = "a value is not allowed",
      [ONNXC_K_MEMORY] = "out of memory",
      [ONNXC_K_DECODE] = "malformed data",
      [ONNXC_K_FORMAT] = "data of a format that has no reader on this target",
      [ONNXC_K_WINDOW] = "a window is larger than the padded input",
  };
  return code > 0 && code <= ONNXC_K_WINDOW ? text[code] : "failed";
}

/* Words what the plan failed with: the node, what went wrong there, and the two numbers that a kernel blames. */
static int32_t failed(onnxc_context *c, int32_t status, onnxc_error *error) {
  const int32_t site = c->rt.failed_site;
  const onnxc_site *s = site >= 0 && site < onnxc_the_plan.num_sites ? &onnxc_the_plan.sites[site] : NULL;
  const char *node = s ? s->node : "?";
  char op[64] = ""; /* the operator, where it is one of the model's */
  if (s && strncmp(s->op, "packed.", 7))
    snprintf(op, sizeof op, " (%s)", s->op);
  const int64_t first = c->rt.blamed[0], second = c->rt.blamed[1];
  c->rt.blamed[0] = ONNXC_NOTHING;
  char told[64] = "";
  if (first != ONNXC_NOTHING && first < 0 && status == ONNXC_K_SIZE)
    snprintf(told, sizeof told, ": %lld", (long long)first);
  else if (status == ONNXC_K_WINDOW)
    snprintf(told, sizeof told, ": %lld and %lld entries", (long long)first, (long long)second);
  else if (first != ONNXC_NOTHING && (status == ONNXC_K_SHAPE || status == ONNXC_K_INDEX))
    snprintf(told, sizeof told, status == ONNXC_K_SHAPE ? ": %lld and %lld differ" : ": %lld of an axis of %lld", (long long)first,
             (long long)second);
  return onnxc_fail(error, status == ONNXC_K_MEMORY ? ONNXC_E_MEMORY : ONNXC_E_RUN, s ? s->node : NULL, "%s%s: %s%s", node, op,
                    words(status), told);
}

int32_t onnxc_run(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_value *outputs, int32_t num_outputs,
                  onnxc_error *error) {
  int32_t status = onnxc_take_inputs(c, inputs, num_inputs, error);
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
  if ((status = onnxc_place_outputs(c, inputs, outputs, error)))
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
  if (status)
    return failed(c, status, error);
  return onnxc_give_outputs(c, inputs, outputs, error);
}
