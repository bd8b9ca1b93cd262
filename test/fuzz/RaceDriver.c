/* RaceDriver.c: runs one model on several threads under the thread sanitiser; race.py links it to the model, compiled for that. Each thread
 * has a context of its own, with threads of its own or tasks on threads of the caller; every result must equal a serial run's, bit for bit.
 *
 * usage: driver SIZE RUNS MODE      size of symbolic dims, runs a thread; 0: tasks on the caller's threads, 1: on the artefact's, 2: one
 * context for all callers, which is forbidden and must be found */
#include "runtime_stub/include/onnxc/onnxc.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const onnxc_api *GETTER(uint32_t abi_version);

enum { THREADS = 4, MOST = 64, MOST_TASKS = 256 };

static const onnxc_api *api;
static const onnxc_model_info *info;
static onnxc_model *model;
static onnxc_value inputs[MOST], wanted[MOST];
static int runs;
static enum { CALLERS, OWN, FORBIDDEN } mode;

static void fail(const char *what, const char *message) {
  fprintf(stderr, "%s: %s\n", what, message);
  exit(2);
}

static size_t size_of(int32_t dtype) {
  static const unsigned char size[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2};
  return dtype > 0 && dtype < (int32_t)sizeof size ? size[dtype] : 0;
}

static int64_t count_of(const onnxc_value *v) {
  int64_t n = 1;
  for (int32_t i = 0; i < v->tensor.ndim; ++i)
    n *= v->tensor.shape[i];
  return n;
}

/* An input of small numbers: floats in [-1, 1], integers 0 and 1. */
static void fill(onnxc_value *v, const onnxc_io_info *io, int64_t size) {
  if (io->kind != ONNXC_TENSOR || io->rank < 0 || !size_of(io->dtype))
    fail(io->name, "an input that this program cannot make");
  v->dtype = io->dtype;
  v->tensor.ndim = io->rank;
  v->tensor.shape = malloc((size_t)(io->rank + 1) * 8);
  for (int32_t i = 0; i < io->rank; ++i)
    v->tensor.shape[i] = io->dims[i] >= 0 ? io->dims[i] : size;
  const int64_t n = count_of(v);
  char *data = v->tensor.data = calloc((size_t)n + 1, size_of(io->dtype));
  uint32_t state = 12345;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    if (io->dtype == 1)
      ((float *)data)[i] = (float)(state >> 8) / 8388608.0f - 1;
    else if (io->dtype != 10 && io->dtype != 11 && io->dtype != 16)
      data[(size_t)i * size_of(io->dtype)] = (char)(state >> 31);
  }
}

typedef struct task {
  void (*body)(void *, int32_t);
  void *arg;
  int32_t index;
} task;

static void *run_task(void *p) {
  const task *t = p;
  t->body(t->arg, t->index);
  return NULL;
}

/* A caller's parallel_for: a thread for each task. */
static void caller_threads(void *user, int32_t tasks, void (*body)(void *, int32_t), void *arg) {
  pthread_t threads[MOST_TASKS];
  task all[MOST_TASKS];
  for (int32_t i = 0; i < tasks; ++i) {
    all[i] = (task){body, arg, i};
    if (pthread_create(&threads[i], NULL, run_task, &all[i]))
      fail("pthread_create", "failed");
  }
  for (int32_t i = 0; i < tasks; ++i)
    pthread_join(threads[i], NULL);
}

static onnxc_context *make_context(int32_t threads) {
  onnxc_options options = {.struct_size = sizeof options, .num_threads = threads, .parallel_for = mode == OWN ? NULL : caller_threads};
  onnxc_context *c;
  onnxc_error error;
  if (api->context_create(model, &options, &c, &error))
    fail("context_create", error.message);
  return c;
}

static void run(onnxc_context *c, onnxc_value *outputs) {
  onnxc_error error;
  memset(outputs, 0, sizeof(onnxc_value) * MOST);
  if (api->run(c, inputs, info->num_inputs, outputs, info->num_outputs, &error))
    fail("run", error.message);
}

static int differs(const onnxc_value *a, const onnxc_value *b) {
  return a->dtype != b->dtype || count_of(a) != count_of(b) ||
         (a->kind == ONNXC_TENSOR && memcmp(a->tensor.data, b->tensor.data, (size_t)count_of(a) * size_of(a->dtype)));
}

static void *caller(void *shared) {
  onnxc_value outputs[MOST];
  onnxc_context *c = shared ? shared : make_context(THREADS);
  for (int i = 0; i < runs; ++i) {
    run(c, outputs);
    for (int32_t o = 0; o < info->num_outputs; ++o)
      if (!shared && differs(&outputs[o], &wanted[o]))
        fail(info->outputs[o].name, "differs from the serial run");
  }
  if (!shared)
    api->context_destroy(c);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  runs = atoi(argv[2]), mode = atoi(argv[3]);
  api = GETTER(ONNXC_ABI_VERSION);
  info = api->info();
  if (info->num_inputs > MOST || info->num_outputs > MOST)
    fail("model", "too many inputs or outputs");
  for (int32_t i = 0; i < info->num_inputs; ++i)
    fill(&inputs[i], &info->inputs[i], atoll(argv[1]));
  onnxc_error error;
  if (api->model_create(NULL, &model, &error))
    fail("model_create", error.message);
  onnxc_context *serial = make_context(1);
  run(serial, wanted);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, caller, mode == FORBIDDEN ? serial : NULL))
      fail("pthread_create", "failed");
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  api->context_destroy(serial);
  api->model_destroy(model);
  return 0;
}
