/* host.c: runs an artefact for a process on another kind of machine: loads the library named on the command line, describes it on standard
 * output, takes the number of threads from standard input, then runs the model on each set of inputs that comes there. loader/onnxc.py is
 * the other end. Numbers are int64, little endian; a text is its size and its bytes. */
#include "runtime_stub/include/onnxc/onnxc.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRING = 8 };

static void put_bytes(const void *from, size_t size) {
  if (size && fwrite(from, size, 1, stdout) != 1)
    exit(3);
}
static void put(int64_t v) { put_bytes(&v, sizeof v); }
static void put_text(const char *text) {
  put((int64_t)strlen(text));
  put_bytes(text, strlen(text));
}

/* Ends the program with its input. */
static void get_bytes(void *to, size_t size) {
  if (size && fread(to, size, 1, stdin) != 1)
    exit(0);
}
static int64_t get(void) {
  int64_t v;
  get_bytes(&v, sizeof v);
  return v;
}

/* Memory of one run. */
static void **blocks;
static size_t num_blocks;
static void *take(int64_t bytes) {
  blocks = realloc(blocks, (num_blocks + 1) * sizeof *blocks);
  void *block = calloc(1, (size_t)bytes + 64);
  if (!blocks || !block)
    exit(4);
  return blocks[num_blocks++] = block;
}
static void free_blocks(void) {
  while (num_blocks)
    free(blocks[--num_blocks]);
}

static void describe(const onnxc_io_info *io) {
  put_text(io->name);
  put(io->kind), put(io->dtype), put(io->key_dtype), put(io->rank);
  for (int32_t i = 0; i < io->rank; ++i)
    put(io->dims[i]);
}

static void describe_model(const onnxc_model_info *info) {
  put_text(info->name), put_text(info->json);
  put(info->num_symbols);
  for (int32_t i = 0; i < info->num_symbols; ++i)
    put_text(info->symbols[i] ? info->symbols[i] : "");
  put(info->num_inputs);
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    describe(&info->inputs[i]);
    put(info->defaults ? info->defaults[i] : -1);
  }
  put(info->num_outputs);
  for (int32_t i = 0; i < info->num_outputs; ++i)
    describe(&info->outputs[i]);
}

static int64_t count_of(const onnxc_dltensor *t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->ndim; ++i)
    n *= t->shape[i];
  return n;
}

/* A value: kind, element type, then of a tensor its rank (-1: no data), sizes, bytes; of others their number and the values inside. */
static void get_value(onnxc_value *v) {
  v->kind = (int32_t)get(), v->dtype = (int32_t)get();
  if (v->kind != ONNXC_TENSOR) {
    v->count = get();
    onnxc_value *items = take(v->count * (int64_t)sizeof *items);
    for (int64_t i = 0; i < v->count; ++i)
      get_value(&items[i]);
    v->items = items;
    return;
  }
  onnxc_dltensor *t = &v->tensor;
  t->device.type = 1;
  const int64_t rank = get();
  if (rank < 0)
    return;
  t->ndim = (int32_t)rank;
  t->shape = take(rank * 8);
  for (int64_t i = 0; i < rank; ++i)
    t->shape[i] = get();
  if (v->dtype != STRING) {
    const int64_t bytes = get();
    t->data = take(bytes);
    get_bytes(t->data, (size_t)bytes);
    return;
  }
  const int64_t n = count_of(t);
  onnxc_string_view *views = t->data = take(n * (int64_t)sizeof *views);
  for (int64_t i = 0; i < n; ++i) {
    views[i].size = get();
    char *text = take(views[i].size);
    get_bytes(text, (size_t)views[i].size);
    views[i].data = text;
  }
}

static void put_value(const onnxc_value *v) {
  put(v->kind), put(v->dtype);
  if (v->kind != ONNXC_TENSOR) {
    put(v->count);
    for (int64_t i = 0; i < v->count; ++i)
      put_value(&v->items[i]);
    return;
  }
  const onnxc_dltensor *t = &v->tensor;
  put(t->ndim);
  for (int32_t i = 0; i < t->ndim; ++i)
    put(t->shape[i]);
  const int64_t n = count_of(t), bytes = n * ((t->dtype.bits + 7) / 8) * t->dtype.lanes;
  if (v->dtype != STRING) {
    put(bytes);
    put_bytes(t->data, (size_t)bytes);
    return;
  }
  const onnxc_string_view *views = t->data;
  for (int64_t i = 0; i < n; ++i) {
    put(views[i].size);
    put_bytes(views[i].data, (size_t)views[i].size);
  }
}

static void put_error(const onnxc_error *error) {
  put(error->code);
  put_text(error->node), put_text(error->message);
  fflush(stdout);
}

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  const onnxc_api *(*getter)(uint32_t) = NULL;
  if (library)
    *(void **)&getter = dlsym(library, "onnxc_get_api");
  const onnxc_api *api = getter ? getter(ONNXC_ABI_VERSION) : NULL;
  if (!api) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: host LIBRARY");
    return 2;
  }
  const onnxc_model_info *info = api->info();
  describe_model(info);
  fflush(stdout);
  onnxc_options options = {.struct_size = sizeof options, .num_threads = (int32_t)get()};
  onnxc_model *model = NULL;
  onnxc_context *context = NULL;
  onnxc_error error = {0};
  if (!api->model_create(&options, &model, &error))
    api->context_create(model, &options, &context, &error);
  put_error(&error);
  if (error.code)
    return 2;
  put_text(api->isa(model));
  fflush(stdout);
  onnxc_value *in = calloc((size_t)info->num_inputs + 1, sizeof *in), *out = calloc((size_t)info->num_outputs + 1, sizeof *out);
  while (in && out) {
    get(); /* a run is asked for: there may be no input to wait for */
    memset(in, 0, (size_t)info->num_inputs * sizeof *in), memset(out, 0, (size_t)info->num_outputs * sizeof *out);
    for (int32_t i = 0; i < info->num_inputs; ++i)
      get_value(&in[i]);
    memset(&error, 0, sizeof error);
    error.code = api->run(context, in, info->num_inputs, out, info->num_outputs, &error);
    put_error(&error);
    for (int32_t i = 0; !error.code && i < info->num_outputs; ++i)
      put_value(&out[i]);
    fflush(stdout);
    free_blocks();
  }
  return 4;
}
