/* internal.h: the parts of the stub. context.c life of models and contexts · inputs.c what a caller passes · outputs.c what it gets ·
 * run.c running · memory.c what generated code allocates · weights.c where the weights are · trace.c taps · threads.c the pool · cpu.c
 * which variant runs here, on how many processors. */
#ifndef ONNXC_INTERNAL_H
#define ONNXC_INTERNAL_H
#include "runtime_stub/include/onnxc/onnxc.h"
#include "runtime_stub/plan.h"
#include <stdbool.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  ONNXC_MAX_TASKS = 256, /* of one launch */
  ONNXC_KEPT = 8,        /* results of size functions for their kernels */
  ONNXC_BLOCK_HEADER = 64
};

typedef struct onnxc_pool onnxc_pool;

struct onnxc_model {
  onnxc_options options;
  const onnxc_variant *variant;
  int32_t dots; /* see onnxc_rt_dots */
  const char *weights;
  int64_t mapped; /* bytes of the file that is mapped for them, from its stamp on; 0: none */
};

typedef struct buffer {
  void *data;
  int64_t bytes;
} buffer;
typedef struct heap_block {
  struct heap_block *next;
  int64_t size, used;
} heap_block; /* memory follows, 64-byte aligned */
typedef struct heap_mark {
  heap_block *top;
  int64_t used;
} heap_mark;

struct onnxc_context {
  onnxc_rt rt; /* first: generated code gets &rt */
  int64_t bytes;
  onnxc_options options;
  const onnxc_variant *variant;
  int32_t dots;
  int32_t tiles; /* see onnxc_rt_tiles; 0: not asked for yet, -1: no */
  onnxc_pool *pool;
  buffer arena, scratch, tasks; /* tasks: scratch of parallel launches */
  buffer *slots;                /* num_slots */
  buffer *packed;               /* per input: contiguous copy of strided data */
  buffer *results;              /* per output: memory of library-allocated results */
  heap_block *heap;
  struct {
    uint64_t key;
    void *data; /* NULL: free */
  } kept[ONNXC_KEPT];
  int32_t next_kept;
  int64_t *symbols; /* num_symbols */
  bool *bound;
  const void **input_data;
  const int64_t **input_dims;
  void **output_data;
  int64_t **output_dims, *planned_dims;
  onnxc_tap tap;
  onnxc_launch_tap launch_tap; /* at most one of the two */
  void *tap_user;
  int64_t last_tick;
};

HIDDEN int32_t onnxc_fail(onnxc_error *error, int32_t code, const char *node, const char *format, ...);
HIDDEN void *onnxc_allocate(const onnxc_options *options, int64_t bytes);
HIDDEN void onnxc_release(const onnxc_options *options, void *ptr);
HIDDEN void *onnxc_reserve(const onnxc_options *options, buffer *b, int64_t bytes); /* grows, contents lost; NULL: no memory */
HIDDEN void onnxc_heap_reset(onnxc_context *c);
HIDDEN void onnxc_heap_free(onnxc_context *c);
HIDDEN heap_mark onnxc_heap_mark(const onnxc_context *c);
HIDDEN void onnxc_heap_rewind(onnxc_context *c, heap_mark mark); /* frees what was taken after the mark */
HIDDEN void onnxc_set_dltype(onnxc_dltensor *t, int32_t dtype);
HIDDEN int64_t onnxc_now(void); /* nanoseconds of a monotonic clock */
HIDDEN const onnxc_variant *onnxc_choose_variant(const char *cpu);
HIDDEN int32_t onnxc_weights_open(onnxc_model *m, const char *path, onnxc_error *error); /* path NULL: beside the artefact */
HIDDEN void onnxc_weights_close(const onnxc_model *m);
HIDDEN int32_t onnxc_dots(void);       /* what onnxc_rt_dots says; on x86 slow in virtual machines, like all that asks cpuid */
HIDDEN int32_t onnxc_processors(void); /* that this process may use: affinity and the control group's share; at least 1 */
HIDDEN onnxc_pool *onnxc_pool_create(const onnxc_options *options, int32_t threads);
HIDDEN void onnxc_pool_destroy(onnxc_pool *pool, const onnxc_options *options);
/* Around a run's launches. */
HIDDEN void onnxc_pool_begin(onnxc_pool *pool);
HIDDEN void onnxc_pool_end(onnxc_pool *pool);
HIDDEN void onnxc_pool_run(onnxc_pool *pool, int32_t tasks, void (*body)(void *, int32_t), void *arg);
/* Checks the inputs of a run, binds its symbolic dims by them and places them for the plan. The results of the context's last run end. */
HIDDEN int32_t onnxc_take_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error);
/* As onnxc_take_inputs, but nothing is placed and the last run's results stay. */
HIDDEN int32_t onnxc_look_at_inputs(onnxc_context *c, const onnxc_value *inputs, int32_t num_inputs, onnxc_error *error);
/* Says where each output goes: the caller's memory, the library's, or (NULL) the plan's own when only the run knows its size. After
 * c->planned_dims is set. */
HIDDEN int32_t onnxc_place_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error);
/* Hands the results of the plan out, copied where the caller's memory was not written by the plan itself. */
HIDDEN int32_t onnxc_give_outputs(onnxc_context *c, const onnxc_value *inputs, onnxc_value *outputs, onnxc_error *error);
HIDDEN int32_t onnxc_query(onnxc_context *, const onnxc_value *, int32_t, int64_t *const *, onnxc_error *);
HIDDEN int32_t onnxc_run(onnxc_context *, const onnxc_value *, int32_t, onnxc_value *, int32_t, onnxc_error *);
HIDDEN const onnxc_api *onnxc_stub_api(uint32_t abi_version);

/* Kernels run in the default floating-point environment: what the caller's was, to be given back after them. */
#if defined(__x86_64__)
typedef unsigned onnxc_float_control;
static inline onnxc_float_control onnxc_enter_kernels(void) {
  const unsigned control = _mm_getcsr();
  _mm_setcsr(0x1f80);
  return control;
}
static inline void onnxc_leave_kernels(onnxc_float_control control) { _mm_setcsr(control); }
#elif defined(__aarch64__)
typedef uint64_t onnxc_float_control;
static inline onnxc_float_control onnxc_enter_kernels(void) {
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  if (control) /* writing it takes long */
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
  return control;
}
static inline void onnxc_leave_kernels(onnxc_float_control control) {
  if (control)
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#endif
#endif
