/* context.c: life of models and contexts, the table of functions, the words of errors. */
#include "runtime_stub/internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int32_t onnxc_fail(onnxc_error *error, int32_t code, const char *node, const char *format, ...) {
  if (!error)
    return code;
  error->code = code;
  snprintf(error->node, sizeof error->node, "%s", node ? node : "");
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return code;
}

/* Copies as much as the caller's version of the struct holds. */
static int32_t take_options(const char *call, const onnxc_options *from, onnxc_options *to, onnxc_error *error) {
  memset(to, 0, sizeof *to);
  if (!from)
    return 0;
  if (from->struct_size < sizeof(size_t) || from->struct_size > 4096)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "%s: struct_size of the options is %llu; it is sizeof(onnxc_options)", call,
                      (unsigned long long)from->struct_size);
  memcpy(to, from, from->struct_size < sizeof *to ? from->struct_size : sizeof *to);
  if (to->num_threads < 0)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "%s: num_threads is %d; it must not be negative", call, to->num_threads);
  if (to->alloc && !to->free)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "%s: the options have alloc and no free", call);
  return 0;
}

/* Why the artefact has no code to run; `cpu`: the level asked for, or NULL. */
static int32_t refuse_cpu(const char *cpu, onnxc_error *error) {
  char levels[192] = "";
  bool named = false;
  for (int32_t i = 0; i < onnxc_the_plan.num_variants; ++i) {
    const size_t at = strlen(levels);
    snprintf(levels + at, sizeof levels - at, "%s%s", i ? ", " : "", onnxc_the_plan.variants[i].isa);
    named |= cpu && !strcmp(cpu, onnxc_the_plan.variants[i].isa);
  }
  if (!cpu)
    return onnxc_fail(error, ONNXC_E_CPU, NULL, "no code for this processor: the artefact has %s", levels);
  return onnxc_fail(error, ONNXC_E_CPU, NULL,
                    named ? "this processor cannot run %.64s, which is asked for: the artefact has %s"
                          : "no code for %.64s, which is asked for: the artefact has %s",
                    cpu, levels);
}

static int32_t model_create(const onnxc_options *options, onnxc_model **out, onnxc_error *error) {
  if (!out)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "model_create: `model` is null");
  *out = NULL;
  onnxc_options o;
  int32_t status = take_options("model_create", options, &o, error);
  if (status)
    return status;
  const onnxc_variant *variant = onnxc_choose_variant(o.cpu);
  if (!variant)
    return refuse_cpu(o.cpu, error);
  onnxc_model *m = onnxc_allocate(&o, sizeof *m);
  if (!m)
    return onnxc_fail(error, ONNXC_E_MEMORY, NULL,
                      o.alloc ? "`alloc` gives no memory, or none aligned as it is asked to" : "out of memory");
  status = onnxc_weights_open(m, o.weights_path, error);
  if (status) {
    onnxc_release(&o, m);
    return status;
  }
  o.cpu = o.weights_path = NULL; /* the caller's */
  m->options = o;
  m->variant = variant;
  m->dots = onnxc_dots();
  *out = m;
  return 0;
}

static void model_destroy(onnxc_model *m) {
  if (!m)
    return;
  onnxc_weights_close(m);
  onnxc_release(&(onnxc_options){.alloc = m->options.alloc, .free = m->options.free, .alloc_user = m->options.alloc_user}, m);
}

static void context_destroy(onnxc_context *c) {
  if (!c)
    return;
  const onnxc_options o = c->options;
  if (c->pool)
    onnxc_pool_destroy(c->pool, &o);
  onnxc_heap_free(c);
  onnxc_release(&o, c->arena.data);
  onnxc_release(&o, c->scratch.data);
  onnxc_release(&o, c->tasks.data);
  for (int32_t i = 0; i < onnxc_the_plan.num_slots; ++i)
    onnxc_release(&o, c->slots[i].data);
  for (int32_t i = 0; i < onnxc_the_plan.num_inputs; ++i)
    onnxc_release(&o, c->packed[i].data);
  for (int32_t i = 0; i < onnxc_the_plan.num_outputs; ++i)
    onnxc_release(&o, c->results[i].data);
  onnxc_release(&o, c);
}

/* One block: the context, then its arrays. */
static onnxc_context *allocate_context(const onnxc_options *o) {
  const onnxc_plan *p = &onnxc_the_plan;
  int64_t ranks = 0;
  for (int32_t i = 0; i < p->num_outputs; ++i)
    ranks += p->outputs[i].rank > 0 ? p->outputs[i].rank : 0;
  const int64_t ni = p->num_inputs, no = p->num_outputs, ns = p->num_symbols;
  const int64_t bytes =
      (int64_t)sizeof(onnxc_context) + (p->num_slots + ni + no) * (int64_t)sizeof(buffer) + (ns * 2 + ni * 2 + no * 2 + ranks * 2 + 8) * 8;
  char *at = onnxc_allocate(o, bytes);
  if (!at)
    return NULL;
  memset(at, 0, (size_t)bytes);
  onnxc_context *c = (onnxc_context *)at;
  c->bytes = bytes;
  at += sizeof *c;
  c->slots = (buffer *)at, at += p->num_slots * sizeof(buffer);
  c->packed = (buffer *)at, at += ni * sizeof(buffer);
  c->results = (buffer *)at, at += no * sizeof(buffer);
  c->symbols = (int64_t *)at, at += ns * 8;
  c->input_data = (const void **)at, at += ni * 8;
  c->input_dims = (const int64_t **)at, at += ni * 8;
  c->output_data = (void **)at, at += no * 8;
  c->output_dims = (int64_t **)at, at += no * 8;
  c->planned_dims = (int64_t *)at, at += ranks * 8;
  int64_t *dims = (int64_t *)at;
  at += ranks * 8;
  c->bound = (bool *)at;
  for (int32_t i = 0; i < no; ++i) {
    c->output_dims[i] = dims;
    dims += p->outputs[i].rank > 0 ? p->outputs[i].rank : 0;
  }
  return c;
}

/* Memory for the greatest sizes, so far as they are bounded; false: there is not enough. */
static bool reserve(onnxc_context *c) {
  const onnxc_plan *p = &onnxc_the_plan;
  const onnxc_options *o = &c->options;
  if (!p->reserve)
    return true;
  const int64_t scratch = (c->variant->scratch + 63) & ~(int64_t)63;
  bool taken = onnxc_reserve(o, &c->arena, c->variant->sizes(c->symbols, c->planned_dims));
  if (scratch)
    taken &= scratch <= INT64_MAX / ONNXC_MAX_TASKS && onnxc_reserve(o, &c->tasks, scratch * c->rt.num_threads);
  for (int32_t i = 0; taken && i < p->num_slots; ++i)
    taken = !p->reserve[i] || onnxc_reserve(o, &c->slots[i], p->reserve[i]);
  for (int32_t i = 0; taken && i < p->num_outputs; ++i)
    taken = !p->reserve[p->num_slots + i] || onnxc_reserve(o, &c->results[i], p->reserve[p->num_slots + i]);
  return taken;
}

/* One line for the caller's log: what a context runs on. */
static void tell(const onnxc_context *c) {
  if (!c->options.log)
    return;
  char line[256];
  const int32_t processors = c->pool ? onnxc_processors() : c->rt.num_threads;
  snprintf(line, sizeof line, "%.120s: code for %s, %d thread(s)%s", onnxc_the_plan.name, c->variant->isa, c->rt.num_threads,
           processors < c->rt.num_threads ? "; fewer processors may be used" : "");
  c->options.log(c->options.log_user, line);
}

static int32_t context_create(onnxc_model *m, const onnxc_options *options, onnxc_context **out, onnxc_error *error) {
  if (!m || !out)
    return onnxc_fail(error, ONNXC_E_ARGUMENT, NULL, "context_create: `%s` is null", m ? "context" : "model");
  *out = NULL;
  onnxc_options o = m->options;
  const int32_t status = options ? take_options("context_create", options, &o, error) : 0;
  if (status)
    return status;
  onnxc_context *c = allocate_context(&o);
  if (!c)
    return onnxc_fail(error, ONNXC_E_MEMORY, NULL, "out of memory");
  c->options = o;
  c->variant = m->variant;
  c->dots = m->dots;
  c->rt.weights = (char *)(uintptr_t)m->weights;
  c->rt.inputs = (void *const *)c->input_data;
  c->rt.input_dims = c->input_dims;
  c->rt.outputs = c->output_data;
  c->rt.output_dims = c->output_dims;
  c->rt.blamed[0] = ONNXC_NOTHING;
  c->rt.num_threads = o.num_threads < 1 ? 1 : o.num_threads > ONNXC_MAX_TASKS ? ONNXC_MAX_TASKS : o.num_threads;
  if (c->rt.num_threads > 1 && !o.parallel_for && !(c->pool = onnxc_pool_create(&o, c->rt.num_threads))) {
    context_destroy(c);
    return onnxc_fail(error, ONNXC_E_MEMORY, NULL, "out of memory for the thread pool");
  }
  if (!reserve(c)) {
    context_destroy(c);
    return onnxc_fail(error, ONNXC_E_MEMORY, NULL, "out of memory for the largest sizes that the model was compiled for");
  }
  tell(c);
  *out = c;
  return 0;
}

static int64_t arena_bytes(const onnxc_context *c) {
  if (!c)
    return 0;
  int64_t n = c->arena.bytes + c->scratch.bytes + c->tasks.bytes;
  for (int32_t i = 0; i < onnxc_the_plan.num_slots; ++i)
    n += c->slots[i].bytes;
  return n;
}

static const char *isa(const onnxc_model *m) { return m ? m->variant->isa : ""; }
static const char *isa_name(int32_t i) { return i >= 0 && i < onnxc_the_plan.num_variants ? onnxc_the_plan.variants[i].isa : ""; }

static void set_tap(onnxc_context *c, onnxc_tap tap, void *user) {
  if (!c)
    return;
  c->tap = tap;
  c->launch_tap = NULL;
  c->tap_user = user;
  c->rt.trace = tap ? (void *)c : NULL;
}

static void set_launch_tap(onnxc_context *c, onnxc_launch_tap tap, void *user) {
  if (!c)
    return;
  c->tap = NULL;
  c->launch_tap = tap;
  c->tap_user = user;
  c->rt.trace = tap ? (void *)c : NULL;
}

/* The plan's constants laid out as the public struct: onnxc_io and onnxc_io_info are the same. */
_Static_assert(sizeof(onnxc_io) == sizeof(onnxc_io_info), "onnxc_io_info mirrors onnxc_io");
/* codegen/cpu/EmitTables.cpp writes these field by field. */
_Static_assert(sizeof(onnxc_model_info) == 136, "onnxc_model_info in EmitTables.cpp");
_Static_assert(sizeof(onnxc_plan) == 120, "onnxc_plan in EmitTables.cpp");
_Static_assert(sizeof(onnxc_site) == 72 && sizeof(onnxc_result) == 16, "onnxc_site in EmitTables.cpp");
_Static_assert(sizeof(onnxc_variant) == 32, "onnxc_variant in EmitTables.cpp");
extern const onnxc_model_info onnxc_the_info __attribute__((visibility("hidden")));
static const onnxc_model_info *info(void) { return &onnxc_the_info; }

static int32_t site(int32_t index, onnxc_profile_row *row) {
  if (index < 0 || index >= onnxc_the_plan.num_sites || !row)
    return ONNXC_E_ARGUMENT;
  const onnxc_site *s = &onnxc_the_plan.sites[index];
  *row = (onnxc_profile_row){.node = s->node, .op = s->op, .kernel = s->kernel, .flops = s->flops, .bytes = s->bytes};
  return 0;
}

static const onnxc_api api = {
    sizeof(onnxc_api), ONNXC_ABI_VERSION, info, model_create, model_destroy, context_create, context_destroy, onnxc_query,
    onnxc_run,         arena_bytes,       isa,  set_tap,      isa_name,      site,           set_launch_tap};

const onnxc_api *onnxc_stub_api(uint32_t abi_version) { return abi_version == ONNXC_ABI_VERSION ? &api : NULL; }
