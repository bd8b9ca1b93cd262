/* program.c: the start of a compiled model that is a program: files in, files and a summary out. Linked by codegen/link into executables
 * only; it knows the model through the public ABI. It needs no start files of a C compiler. */
#include "runtime_stub/elements.h"
#include "runtime_stub/npy.h"
#include "runtime_stub/plan.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
enum { OUT = 1, ERR = 2 };

static const char usage[] = "usage: %s [--input NAME=FILE.npy]... [--symbol-size N] [--output-dir DIR] [--threads N] [--repeat N]\n"
                            "  [--weights FILE]\n"
                            "With --threads 0 it takes all processors. Inputs without a file are filled with\n"
                            "pseudo-random numbers. Their symbolic sizes are those of the files that have them too,\n"
                            "or else --symbol-size, or what --opt-shapes said, or 1.\n"
                            "Weights in a file of their own are looked for beside the program.\n";

typedef struct arguments {
  const char **files, *folder, *weights;
  int32_t threads, repeat, symbol_size; /* -1: not said */
} arguments;

static int fail(const char *what, const char *which) {
  dprintf(ERR, "error: %s: %s\n", which, what);
  return 1;
}

/* The sizes of symbols: those of the inputs that files give, or else those asked for; the expected ones, or the nearest to 1 within their
 * ranges. Null: out of memory. */
static int64_t *symbol_sizes(const onnxc_model_info *info, const arguments *args, const onnxc_value *in) {
  int64_t *sizes = malloc(((size_t)info->num_symbols + 1) * sizeof *sizes);
  for (int32_t s = 0; sizes && s < info->num_symbols; ++s) {
    const int64_t *range = info->ranges ? info->ranges + 3 * s : NULL;
    sizes[s] = args->symbol_size >= 0 ? args->symbol_size
               : !range               ? 1
               : range[1] >= 0        ? range[1]
               : range[0] > 1         ? range[0]
               : range[2] < 1         ? range[2]
                                      : 1;
  }
  for (int32_t i = 0; sizes && i < info->num_inputs; ++i)
    for (int32_t a = 0; args->files[i] && a < info->inputs[i].rank && a < in[i].tensor.ndim; ++a)
      if (info->inputs[i].dims[a] < 0 && info->inputs[i].dims[a] != INT64_MIN)
        sizes[-(info->inputs[i].dims[a] + 1)] = in[i].tensor.shape[a];
  return sizes;
}

/* The numbers that `onnxc run` gives input `index` (fillRandom in compiler/commands/Value.cpp). */
static const char *fill(const onnxc_io_info *io, int32_t index, const int64_t *sizes, onnxc_value *v) {
  uint64_t state = ((uint64_t)index + 1) * 0x9e3779b97f4a7c15u + 1;
  const int64_t size = element_of(io->dtype)->size;
  int64_t count = 1, *shape = calloc(ONNXC_MAX_RANK, sizeof *shape);
  if (io->kind != ONNXC_TENSOR || io->rank < 0 || io->rank > ONNXC_MAX_RANK)
    return "has no default; only tensors have";
  for (int32_t a = 0; shape && a < io->rank; ++a) {
    shape[a] = io->dims[a] >= 0 ? io->dims[a] : io->dims[a] == INT64_MIN ? 1 : sizes[-(io->dims[a] + 1)];
    if (__builtin_mul_overflow(count, shape[a], &count))
      return "too large";
  }
  char *data = count > INT64_MAX / 32 ? NULL : calloc((size_t)count + 1, (size_t)size);
  if (!shape || !data)
    return "out of memory";
  for (int64_t i = 0; i < count; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const double number = (double)(state >> 11) * 0x1p-52 - 1;
    if (io->dtype == 1)
      ((float *)data)[i] = (float)number;
    else if (io->dtype == 11)
      ((double *)data)[i] = number;
    else if (io->dtype == FLOAT16) /* a sign, the exponent of 0.5, and bits behind it */
      ((uint16_t *)data)[i] = (uint16_t)(0x3800 | (state >> 40 & 0x83ff));
    else if (io->dtype == BFLOAT16)
      ((uint16_t *)data)[i] = (uint16_t)(0x3f00 | (state >> 40 & 0x807f));
    else if (io->dtype != STRING)
      data[i * size] = (char)(state >> 40 & 1);
  }
  v->tensor.data = data, v->tensor.shape = shape, v->tensor.ndim = io->rank;
  return NULL;
}

static double half(uint16_t bits) {
  uint32_t wide = (uint32_t)(bits & 0x7fff) << 13;
  float value;
  if ((bits & 0x7c00) == 0x7c00) /* infinite, or no number */
    wide |= 0x7f800000;
  memcpy(&value, &wide, 4);
  value *= wide < 0x7f800000 ? 0x1p112f : 1;
  return bits & 0x8000 ? -value : value;
}

static double brain(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}

static double real(int32_t dtype, const char *at) {
  if (dtype == FLOAT16)
    return half(*(const uint16_t *)at);
  if (dtype == BFLOAT16)
    return brain(*(const uint16_t *)at);
  return element_of(dtype)->size == 4 ? (double)*(const float *)at : *(const double *)at;
}

/* Nothing of complex numbers, of types that NumPy does not know and of none. */
static void print_element(int32_t dtype, const void *data, int64_t i) {
  const element *e = element_of(dtype);
  const char *at = (const char *)data + i * e->size;
  if (!e->size || dtype > BFLOAT16 || e->dl == DL_COMPLEX)
    return;
  if (dtype == STRING) {
    const onnxc_string_view *text = (const onnxc_string_view *)data + i;
    dprintf(OUT, " '%.*s'", (int)(text->size < 80 ? text->size : 80), text->size ? text->data : "");
  } else if (e->dl == DL_FLOAT || e->dl == DL_BFLOAT) {
    dprintf(OUT, " %g", real(dtype, at));
  } else {
    uint64_t bits = 0;
    memcpy(&bits, at, e->size);
    const int unused = 64 - 8 * e->size;
    if (e->dl == DL_INT)
      dprintf(OUT, " %lld", (long long)(bits << unused) >> unused);
    else
      dprintf(OUT, " %llu", (unsigned long long)bits);
  }
}

/* "float32 [2, 3]". Returns the number of elements. */
static int64_t print_type(int to, const onnxc_value *v) {
  int64_t count = 1;
  dprintf(to, "%s [", onnxc_dtype_name(v->dtype));
  for (int32_t a = 0; a < v->tensor.ndim; ++a) {
    dprintf(to, "%s%lld", a ? ", " : "", (long long)v->tensor.shape[a]);
    count *= v->tensor.shape[a];
  }
  dprintf(to, "]");
  return count;
}

static void describe(const char *name, const onnxc_value *v) {
  static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
  if (v->kind != ONNXC_TENSOR) {
    dprintf(OUT, "%s: %s of %lld\n", name, kinds[v->kind & 3], (long long)v->count);
    return;
  }
  dprintf(OUT, "%s: ", name);
  const int64_t count = print_type(OUT, v);
  for (int64_t i = 0; i < count && i < 8; ++i)
    print_element(v->dtype, v->tensor.data, i);
  dprintf(OUT, count > 8 ? " ...\n" : "\n");
}

static int misused(const char *program, const char *what) {
  dprintf(ERR, "error: %s\n", what);
  dprintf(ERR, usage, program);
  return 2;
}

/* The value of a flag, a number of at least `least`. 0: go on; else the exit status. */
static int take_number(const char *program, const char *flag, const char *text, int32_t least, int32_t *number) {
  char *end;
  const long n = strtol(text, &end, 10);
  *number = (int32_t)n;
  if (*text >= '0' && *text <= '9' && !*end && n >= least && n <= INT32_MAX)
    return 0;
  return misused(program, onnxc_worded("%s: expected a number of at least %d, got '%s'", flag, least, text));
}

/* NAME=FILE. 0: go on; else the exit status. */
static int take_file(const char *program, const char *value, const onnxc_model_info *info, arguments *args) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || !equals[1])
    return misused(program, onnxc_worded("--input: expected NAME=FILE, got '%s'", value));
  const size_t length = (size_t)(equals - value);
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    const char *name = info->inputs[i].name;
    if (strlen(name) != length || strncmp(name, value, length))
      continue;
    if (args->files[i])
      return misused(program, onnxc_worded("--input: '%s' is given twice: '%s' and '%s'", name, args->files[i], equals + 1));
    args->files[i] = equals + 1;
    return 0;
  }
  dprintf(ERR, "error: no input '%.*s' in the model; it has", (int)length, value);
  for (int32_t i = 0; i < info->num_inputs; ++i)
    dprintf(ERR, "%s '%s'", i ? "," : "", info->inputs[i].name);
  dprintf(ERR, info->num_inputs ? "\n" : " none\n");
  return 2;
}

enum { INPUT, OUTPUT_DIR, WEIGHTS, THREADS, REPEAT, SYMBOL_SIZE, FLAGS };
static const char *const flags[] = {"--input", "--output-dir", "--weights", "--threads", "--repeat", "--symbol-size"};

/* The flag that `word` is, `--flag` or `--flag=value`; FLAGS: none. */
static int flag_of(const char *word) {
  const size_t length = strcspn(word, "=");
  int flag = 0;
  while (flag < FLAGS && (strlen(flags[flag]) != length || strncmp(word, flags[flag], length)))
    ++flag;
  return flag;
}

/* 0: go on; else the exit status. */
static int take(const char *program, int flag, const char *value, const onnxc_model_info *info, arguments *args) {
  if (flag == INPUT)
    return take_file(program, value, info, args);
  if (flag == OUTPUT_DIR || flag == WEIGHTS) {
    *(flag == OUTPUT_DIR ? &args->folder : &args->weights) = value;
    return *value ? 0 : misused(program, onnxc_worded("'%s' needs a value", flags[flag]));
  }
  return take_number(program, flags[flag], value, flag == REPEAT ? 1 : 0,
                     flag == THREADS  ? &args->threads
                     : flag == REPEAT ? &args->repeat
                                      : &args->symbol_size);
}

/* 0: go on; else the exit status. */
static int parse(int argc, char **argv, const onnxc_model_info *info, arguments *args) {
  unsigned given = 0;
  for (int i = 1; i < argc; ++i) {
    const char *equals = strchr(argv[i], '=');
    const int flag = flag_of(argv[i]);
    if (flag == FLAGS)
      return misused(argv[0], onnxc_worded("unknown option '%s'", argv[i]));
    const char *value = equals ? equals + 1 : argv[++i]; /* null after the last */
    if (!value)
      return misused(argv[0], onnxc_worded("'%s' needs a value", flags[flag]));
    if (flag != INPUT && given >> flag & 1)
      return misused(argv[0], onnxc_worded("'%s' is given twice", flags[flag]));
    given |= 1u << flag;
    const int status = take(argv[0], flag, value, info, args);
    if (status)
      return status;
  }
  return 0;
}

/* Makes a folder and those that it lies in. Returns what is wrong, or NULL. */
static const char *make_folder(const char *folder) {
  char path[ONNXC_MAX_PATH];
  if (snprintf(path, sizeof path, "%s/", folder) >= (int)sizeof path)
    return "its path is too long";
  for (char *p = path + 1; *p; ++p) {
    if (*p != '/')
      continue;
    *p = 0;
    if (mkdir(path, 0777) && errno != EEXIST)
      return onnxc_worded("'%s' cannot be made: %s", path, strerror(errno));
    *p = '/';
  }
  return NULL;
}

static int run(const onnxc_api *api, const arguments *args, onnxc_value *in, onnxc_value *out) {
  const onnxc_model_info *info = api->info();
  onnxc_error error = {0};
  onnxc_options options = {.struct_size = sizeof options,
                           .num_threads = args->threads ? args->threads : (int32_t)sysconf(_SC_NPROCESSORS_ONLN),
                           .weights_path = args->weights};
  onnxc_model *model = NULL;
  onnxc_context *context = NULL;
  if (api->model_create(&options, &model, &error) || api->context_create(model, NULL, &context, &error))
    return fail(error.message, info->name);
  int64_t best = INT64_MAX;
  for (int32_t i = 0; i < args->repeat; ++i) {
    struct timespec a, b;
    memset(out, 0, (size_t)info->num_outputs * sizeof *out);
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (api->run(context, in, info->num_inputs, out, info->num_outputs, &error))
      return fail(error.message, info->name);
    clock_gettime(CLOCK_MONOTONIC, &b);
    const int64_t ns = (b.tv_sec - a.tv_sec) * 1000000000ll + b.tv_nsec - a.tv_nsec;
    if (ns < best)
      best = ns;
  }
  const char *wrong = args->folder ? make_folder(args->folder) : NULL;
  if (wrong)
    return fail(wrong, "--output-dir");
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    describe(info->outputs[i].name, &out[i]);
    const char *bad = args->folder ? onnxc_write_npy(args->folder, info->outputs[i].name, &out[i]) : NULL;
    if (bad)
      return fail(bad, info->outputs[i].name);
  }
  dprintf(OUT, "%.4f ms\n", (double)best / 1e6);
  api->context_destroy(context);
  api->model_destroy(model);
  return 0;
}

/* Whether neither a file nor the model gives an input. */
static int is_random(const onnxc_model_info *info, const arguments *args, int32_t i) {
  return !args->files[i] && !(info->defaults && info->defaults[i] >= 0);
}

static void note_random(const onnxc_model_info *info, const arguments *args, const onnxc_value *in) {
  int count = 0;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    if (!is_random(info, args, i))
      continue;
    dprintf(ERR, "%s%s ", count++ ? ", " : "note: random inputs: ", info->inputs[i].name);
    print_type(ERR, &in[i]);
  }
  if (count)
    dprintf(ERR, "\n");
}

/* From files, then random ones. 0: go on; else the exit status. */
static int make_inputs(const onnxc_model_info *info, const arguments *args, onnxc_value *in) {
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    in[i].dtype = info->inputs[i].dtype;
    if (!args->files[i])
      continue;
    if (info->inputs[i].kind != ONNXC_TENSOR || in[i].dtype == STRING)
      return fail("only tensors of numbers can be read", info->inputs[i].name);
    const char *bad = onnxc_read_npy(args->files[i], info->inputs[i].name, &in[i]);
    if (bad)
      return fail(bad, args->files[i]);
  }
  int64_t *sizes = symbol_sizes(info, args, in);
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    const char *bad = !is_random(info, args, i) ? NULL : sizes ? fill(&info->inputs[i], i, sizes, &in[i]) : "out of memory";
    if (bad)
      return fail(bad, info->inputs[i].name);
  }
  free(sizes);
  note_random(info, args, in);
  return 0;
}

static int program(int argc, char **argv) {
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
    dprintf(OUT, usage, argv[0]);
    return 0;
  }
  const onnxc_api *api = onnxc_get_api(ONNXC_ABI_VERSION);
  const onnxc_model_info *info = api->info();
  arguments args = {.files = calloc((size_t)info->num_inputs + 1, sizeof(char *)), .threads = 1, .repeat = 1, .symbol_size = -1};
  onnxc_value *in = calloc((size_t)info->num_inputs + 1, sizeof *in), *out = calloc((size_t)info->num_outputs + 1, sizeof *out);
  if (!args.files || !in || !out)
    return fail("out of memory", info->name);
  int status = parse(argc, argv, info, &args);
  if (!status)
    status = make_inputs(info, &args, in);
  return status ? status : run(api, &args, in, out);
}

extern int __libc_start_main(int (*)(int, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

HIDDEN __attribute__((noreturn, used)) void onnxc_program_start(void **stack, void (*finish)(void)) {
  __libc_start_main(program, (int)(intptr_t)stack[0], (char **)(stack + 1), NULL, NULL, finish, stack);
  __builtin_unreachable();
}

#if defined(__x86_64__)
/* rdx: what the loader wants called at exit. */
__asm__(".globl _start\n.hidden _start\n.type _start, @function\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  mov %rdx, %rsi\n  and "
        "$-16, %rsp\n"
        "  call onnxc_program_start\n  hlt\n");
#elif defined(__aarch64__)
/* x0: what the loader wants called at exit. */
__asm__(".globl _start\n.hidden _start\n.type _start, %function\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x1, x0\n  mov x0, sp\n"
        "  b onnxc_program_start\n");
#endif
