/* plan.h: what generated code and the runtime stub share. Private to an artefact: the two halves are always compiled together.
 *
 * plan    static description and code of one model, emitted by codegen/cpu/EmitTables.cpp as the constant `onnxc_the_plan`
 * rt      state of one run: where buffers are; owned by a context
 * site    a launch: which node an error or a time belongs to */
#ifndef ONNXC_PLAN_H
#define ONNXC_PLAN_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNXC_MAX_RANK = 64 }; /* axes of a tensor */

/* What kernels return; the words for them are in run.c. */
enum onnxc_code {
  ONNXC_K_LEFT_OUT = -1, /* a caller's parallel_for has not run a task */
  ONNXC_K_OK = 0,
  ONNXC_K_INDEX = 1,  /* an index is out of range */
  ONNXC_K_SIZE = 2,   /* a size is negative or overflows */
  ONNXC_K_SHAPE = 3,  /* shapes do not fit together (reshape, broadcast, split) */
  ONNXC_K_VALUE = 4,  /* a value is not allowed (step 0, empty sequence, unknown category) */
  ONNXC_K_MEMORY = 5, /* out of memory */
  ONNXC_K_DECODE = 6, /* malformed encoded data (image, string) */
  ONNXC_K_FORMAT = 7, /* encoded data of a format that this target has no reader for */
  ONNXC_K_WINDOW = 8, /* a window is larger than the padded input that it slides over */
};

/* Contiguous row-major tensor. In a size function `data` of results is null and `dims` is to be filled. */
typedef struct onnxc_tensor {
  void *data;
  int64_t *dims;
  int32_t rank;
  int32_t dtype; /* TensorProto.DataType; 0: `data` is an onnxc_object */
} onnxc_tensor;

/* A sequence (items are tensors or maps), an optional (0 or 1 item) or a map (keys item 0, values item 1). Immutable once made; lives until
 * the run ends. */
typedef struct onnxc_object {
  int64_t count;
  onnxc_tensor *items;
} onnxc_object;

typedef struct onnxc_rt {
  char *weights;       /* first byte of the weights */
  char *arena;         /* 64-byte aligned, at least sizes()' bytes */
  void *const *inputs; /* contiguous data of each input; an onnxc_object * for sequences, optionals, maps; NULL: absent */
  const int64_t *const *input_dims;
  void **outputs;        /* in: caller's buffer or NULL; out: where the result is (the plan stores its own buffer where it was NULL) */
  int64_t **output_dims; /* out: dims of each result; room for its rank */
  void *trace;           /* non-NULL: the plan calls onnxc_rt_trace after each launch */
  int32_t num_threads;
  int32_t failed_site; /* set by the plan beside a non-zero status */
  int64_t blamed[2];   /* what made it fail: two sizes, an index and the size that it is beyond, or a negative size; the first
                          ONNXC_NOTHING: not said */
} onnxc_rt;
#define ONNXC_NOTHING INT64_MIN

typedef int32_t (*onnxc_kernel_fn)(void *const *bufs, const int64_t *dims, void *scratch, int64_t begin, int64_t end);

/* Services that generated code calls. */
void *onnxc_rt_slot(
    onnxc_rt *rt, int64_t slot,
    int64_t bytes); /* growable 64-byte aligned buffer no. `slot` of the context; contents lost on growth; NULL: no memory or bytes < 0 */
void *onnxc_rt_heap(onnxc_rt *rt, int64_t bytes);    /* zeroed, 64-byte aligned, freed when the run ends; NULL: no memory */
void *onnxc_rt_scratch(onnxc_rt *rt, int64_t bytes); /* scratch of a serial launch; contents lost at the next call */
int32_t onnxc_rt_blame(onnxc_rt *rt, int32_t code, int64_t index,
                       int64_t size); /* sets `blamed` for the error that the caller returns; gives `code` */
/* What a size function has found out, for the kernel that follows it: `data` of the run's heap under `key`. The oldest of eight gives way;
   taking it, and the end of the run, forget it. NULL: not there. */
void onnxc_rt_keep(onnxc_rt *rt, uint64_t key, void *data);
void *onnxc_rt_take(onnxc_rt *rt, uint64_t key);
int32_t onnxc_rt_parallel(onnxc_rt *rt, onnxc_kernel_fn k, void *const *bufs, const int64_t *dims, int64_t extent, int64_t grain,
                          int64_t scratch_bytes);
int32_t onnxc_rt_dots(onnxc_rt *rt);  /* which instructions library kernels may use: 1: dot products of bytes (AVX-512 VNNI, Armv8.2),
                                 2: AVX-512 VBMI, 4: tiles of bytes (AMX), which a process has to ask for, 8: 1 in vectors of 256 bits
                                 (AVX-VNNI) */
int32_t onnxc_rt_tiles(onnxc_rt *rt); /* whether library kernels may use AMX: asks the system when a context's first kernel asks */
void onnxc_rt_trace(onnxc_rt *rt, int32_t site, void *const *bufs, const int64_t *dims);

typedef struct onnxc_io {
  const char *name;
  int32_t kind;        /* 0 tensor, 1 sequence, 2 optional, 3 map */
  int32_t dtype;       /* onnx.TensorProto.DataType of the elements; of a map's values */
  int32_t key_dtype;   /* maps */
  int32_t rank;        /* -1: not fixed; of an input object: of every tensor inside */
  const int64_t *dims; /* >= 0 static; -(k+1): symbol k; INT64_MIN: known only after the run */
} onnxc_io;

typedef struct onnxc_site {
  const char *node;
  const char *op;
  const char *kernel;
  int64_t flops, bytes; /* -1: they depend on dims, or are unknown */
  /* What they are for given dims: number of terms, then each term's factor, number of local dims and those; NULL: unknown. */
  const int64_t *flop_terms, *byte_terms;
  int32_t num_inputs, num_results; /* bufs: the rt, inputs, results */
  const struct onnxc_result *results;
} onnxc_site;

typedef struct onnxc_result {
  int32_t dtype; /* 0: no tensor of numbers */
  int32_t rank;
  const int64_t *dims; /* >= 0 static; -(k+1): local dim k */
} onnxc_result;

typedef struct onnxc_variant {
  const char *isa; /* "x86-64-v3", … ; variants are ordered best last */
  int64_t (*sizes)(
      const int64_t *symbols,
      int64_t *output_dims); /* arena bytes, or -1: a size overflows; fills all outputs' dims end to end (INT64_MIN: only the run knows) */
  int32_t (*run)(onnxc_rt *rt, const int64_t *symbols); /* 0 or an onnxc_code */
  int64_t scratch;                                      /* bytes of a task's scratch that `reserve` counts on */
} onnxc_variant;

typedef struct onnxc_plan {
  const char *name, *json; /* json: compiler/Describe.cpp */
  int32_t num_inputs, num_outputs, num_symbols, num_slots, num_sites, num_variants;
  const onnxc_io *inputs, *outputs;
  const char *const *symbols; /* names of symbolic dims; "" when anonymous */
  const onnxc_site *sites;
  const onnxc_variant *variants;
  const int64_t *defaults; /* NULL, or for each input -1 or where in the weights its default begins */
  const int64_t *like; /* NULL, or for each input, then each output: -1, or the input of any rank whose shape it has; dims: its elements */
  /* NULL: the weights are in the artefact. Else in a file of their own, of this name in the folder of the library or program that holds the
   * plan; "": the path of that library or program and ".weights". */
  const char *weights_file;
  const int64_t *ranges;  /* NULL, or for each symbol its least, expected (-1: not said) and greatest size */
  const int64_t *reserve; /* NULL, or bytes that each slot, then each output, takes at most within the ranges; 0: not bounded. A context
                             takes them, and what else is known, when it is made */
} onnxc_plan;

/* The begin of a file of weights, which follow it. */
typedef struct onnxc_weights_stamp {
  char magic[8]; /* ONNXC_WEIGHTS_MAGIC */
  int64_t bytes; /* of the weights */
  uint64_t id;   /* of their BLAKE3 */
  char rest[40]; /* zeros */
} onnxc_weights_stamp;
#define ONNXC_WEIGHTS_MAGIC "onnxcw1"

/* Byte 0 of the weights segment, made by codegen/link: the weights, or the stamp of their file. */
extern const char onnxc_weights[] __attribute__((visibility("hidden")));
extern const onnxc_plan onnxc_the_plan __attribute__((visibility("hidden")));
#ifdef __cplusplus
}
#endif
#endif
