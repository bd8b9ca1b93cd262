/* trace.c: taps: what a caller is told after each launch. context.c sets them, generated code calls onnxc_rt_trace. */
#include "runtime_stub/internal.h"
#include <string.h>
#include <time.h>

enum { MOST_RESULTS = 32, MOST_DIMS = 256 }; /* of one launch that a tap is shown */

int64_t onnxc_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* A sum of products of dims (plan.h); -1: unknown or too large. */
static int64_t sum_of(const int64_t *terms, const int64_t *dims) {
  if (!terms)
    return -1;
  int64_t total = 0;
  for (int64_t left = *terms++; left > 0; --left) {
    int64_t product = *terms++;
    for (int64_t n = *terms++; n > 0; --n)
      if (__builtin_mul_overflow(product, dims[*terms++], &product))
        return -1;
    if (__builtin_add_overflow(total, product, &total))
      return -1;
  }
  return total;
}

static void show_results(const onnxc_context *c, onnxc_launch *launch, const onnxc_site *s, void *const *bufs, const int64_t *dims) {
  onnxc_value results[MOST_RESULTS];
  int64_t shapes[MOST_DIMS], *shape = shapes;
  launch->results = results;
  for (int32_t i = 0; i < s->num_results && i < MOST_RESULTS; ++i) {
    const onnxc_result *r = &s->results[i];
    if (r->rank > shapes + MOST_DIMS - shape)
      break;
    memset(&results[i], 0, sizeof results[i]);
    results[i].dtype = r->dtype;
    results[i].tensor.data = r->dtype ? bufs[1 + s->num_inputs + i] : NULL;
    results[i].tensor.ndim = r->rank;
    results[i].tensor.shape = shape;
    onnxc_set_dltype(&results[i].tensor, r->dtype);
    for (int32_t a = 0; a < r->rank; ++a)
      *shape++ = r->dims[a] < 0 ? dims[-(r->dims[a] + 1)] : r->dims[a];
    launch->num_results = i + 1;
  }
  c->launch_tap(c->tap_user, launch);
}

void onnxc_rt_trace(onnxc_rt *rt, int32_t site, void *const *bufs, const int64_t *dims) {
  onnxc_context *c = (onnxc_context *)rt;
  const int64_t nanoseconds = onnxc_now() - c->last_tick;
  const onnxc_site *s = &onnxc_the_plan.sites[site];
  if (c->tap)
    c->tap(c->tap_user, s->node, s->op, nanoseconds);
  if (c->launch_tap) {
    onnxc_launch launch = {.struct_size = sizeof launch, .site = site, .nanoseconds = nanoseconds};
    launch.flops = sum_of(s->flop_terms, dims);
    launch.bytes = sum_of(s->byte_terms, dims);
    show_results(c, &launch, s, bufs, dims);
  }
  c->last_tick = onnxc_now();
}
