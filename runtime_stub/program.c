/* program.c: the start of a compiled model that is a program: files in, files and a summary out. Linked by codegen/link into executables
 * only; it knows the model through the public ABI. It needs no start files of a C compiler. */
#include "runtime_stub/elements.h"
#include "runtime_stub/include/onnxc/onnxc.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
enum { OUT = 1, ERR = 2, MAX_RANK = 64, MAX_PATH = 4096 };

static const char usage[] = "usage: %s [--input NAME=FILE.npy]... [--output-dir DIR] [--threads N] [--repeat N] [--weights FILE]\n"
                            "With --threads 0 it takes all processors. Inputs without a file are filled with\n"
                            "pseudo-random numbers; symbolic sizes are then what --opt-shapes said, or 1.\n"
                            "Weights in a file of their own are looked for beside the program.\n";

typedef struct arguments {
  const char **files, *folder, *weights;
  int32_t threads, repeat;
} arguments;

static int fail(const char *what, const char *which) {
  dprintf(ERR, "error: %s: %s\n", which, what);
  return 1;
}

/* A message of several parts; the next call overwrites it. */
__attribute__((format(printf, 1, 2))) static const char *worded(const char *format, ...) {
  static char text[MAX_PATH + 256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return text;
}

static char *read_file(const char *path, int64_t *size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  const int64_t n = lseek(fd, 0, SEEK_END);
  char *data = n < 0 ? NULL : malloc((size_t)n + 1);
  int64_t at = 0;
  for (ssize_t got = 1; data && at < n && got > 0; at += got > 0 ? got : 0)
    got = pread(fd, data + at, (size_t)(n - at), at);
  close(fd);
  if (data)
    data[at] = 0;
  *size = at;
  return data;
}

/* The value after `key` in the header's dictionary. */
static const char *field(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at)
    return "";
  at += strlen(key);
  while (*at == ' ' || *at == ':')
    ++at;
  return at;
}

/* That the file holds other elements than the input takes; `descr`: what the header calls them, in quotes. */
static const char *another_type(const char *input, int32_t dtype, const char *descr) {
  const int32_t length = *descr == '\'' ? (int32_t)strcspn(descr + 1, "'") : 0;
  for (int32_t i = 1; i < NUM_ELEMENTS; ++i)
    if (length && (int32_t)strlen(elements[i].npy) == length && !strncmp(elements[i].npy, descr + 1, (size_t)length))
      return worded("the file holds %s, input '%s' needs %s", onnxc_dtype_name(i), input, onnxc_dtype_name(dtype));
  return worded("the file holds '%.*s', input '%s' needs %s", length, descr + 1, input, onnxc_dtype_name(dtype));
}

/* Reads FILE.npy as element type v->dtype; the shape and the data stay allocated. Returns what is wrong, or NULL. */
static const char *load_npy(const char *path, const char *input, onnxc_value *v) {
  int64_t size = 0;
  char *file = read_file(path, &size);
  if (!file)
    return worded("cannot be read: %s", strerror(errno));
  if (size < 12 || memcmp(file, "\x93NUMPY", 6))
    return "not a .npy file";
  const int64_t wide = file[6] > 1 ? 4 : 2, length = (unsigned char)file[8] | (unsigned char)file[9] << 8;
  const int64_t begin = 8 + wide + length;
  if ((wide == 4 && (file[10] || file[11])) || begin > size)
    return "a damaged .npy file";
  char *header = malloc((size_t)length + 1);
  int64_t *shape = calloc(MAX_RANK, 8);
  if (!header || !shape)
    return "out of memory";
  memcpy(header, file + 8 + wide, (size_t)length);
  header[length] = 0;
  const element *e = element_of(v->dtype);
  const char *descr = field(header, "'descr'");
  if (*descr != '\'' || strncmp(descr + 1, e->npy, strlen(e->npy)) || descr[1 + strlen(e->npy)] != '\'')
    return another_type(input, v->dtype, descr);
  int64_t count = 1;
  int32_t rank = 0;
  const char *at = field(header, "'shape'");
  while (*at && *at != ')') {
    char *end;
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const int64_t dim = strtoll(at, &end, 10);
    if (rank == MAX_RANK || __builtin_mul_overflow(count, dim, &count))
      return "a damaged .npy file";
    shape[rank++] = dim;
    at = end;
  }
  if (rank > 1 && !strncmp(field(header, "'fortran_order'"), "True", 4))
    return "column-major order";
  if (count > (size - begin) / e->size)
    return "a truncated .npy file";
  v->tensor.data = malloc((size_t)(count * e->size) + 1);
  if (!v->tensor.data)
    return "out of memory";
  memcpy(v->tensor.data, file + begin, (size_t)(count * e->size));
  v->tensor.ndim = rank;
  v->tensor.shape = shape;
  free(header);
  free(file);
  return NULL;
}

/* A symbolic size that nobody gives: the expected one, or the nearest to 1 within its range. */
static int64_t size_of(const int64_t *ranges, int64_t dim) {
  const int64_t *range = ranges && dim != INT64_MIN ? ranges - 3 * (dim + 1) : NULL;
  if (!range)
    return 1;
  return range[1] >= 0 ? range[1] : range[0] > 1 ? range[0] : range[2] < 1 ? range[2] : 1;
}

static const char *fill(const onnxc_io_info *io, const int64_t *ranges, onnxc_value *v) {
  static uint64_t state = 88172645463325252ull;
  const int64_t size = element_of(io->dtype)->size;
  int64_t count = 1, *shape = calloc(MAX_RANK, 8);
  if (io->kind != ONNXC_TENSOR || io->rank < 0 || io->rank > MAX_RANK)
    return "has no default; only tensors have";
  for (int32_t a = 0; shape && a < io->rank; ++a) {
    shape[a] = io->dims[a] < 0 ? size_of(ranges, io->dims[a]) : io->dims[a];
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

static int write_all(int fd, const char *data, int64_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, (size_t)size);
    if (n <= 0)
      return 0;
    data += n, size -= n;
  }
  return 1;
}

/* Makes a folder and those that it lies in. Returns what is wrong, or NULL. */
static const char *make_folder(const char *folder) {
  char path[MAX_PATH];
  if (snprintf(path, sizeof path, "%s/", folder) >= (int)sizeof path)
    return "its path is too long";
  for (char *p = path + 1; *p; ++p) {
    if (*p != '/')
      continue;
    *p = 0;
    if (mkdir(path, 0777) && errno != EEXIST)
      return worded("'%s' cannot be made: %s", path, strerror(errno));
    *p = '/';
  }
  return NULL;
}

static const char *save_npy(const char *folder, const char *name, const onnxc_value *v) {
  const element *e = element_of(v->dtype);
  char path[MAX_PATH], header[2048];
  if (v->kind != ONNXC_TENSOR || !*e->npy)
    return "only tensors of numbers can be written";
  if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path)
    return "its path is too long";
  for (char *p = path + strlen(folder) + 1; *p; ++p)
    if (*p == '/')
      *p = '_';
  int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", e->npy);
  int64_t count = 1;
  for (int32_t a = 0; a < v->tensor.ndim && a < MAX_RANK; ++a) {
    n += snprintf(header + n, sizeof header - (size_t)n, "%lld, ", (long long)v->tensor.shape[a]);
    count *= v->tensor.shape[a];
  }
  n += snprintf(header + n, sizeof header - (size_t)n, "), }");
  while ((n + 11) % 64)
    header[n++] = ' ';
  header[n++] = '\n';
  char start[10] = "\x93NUMPY\x01";
  start[7] = 0, start[8] = (char)(n & 255), start[9] = (char)(n >> 8);
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int good = fd >= 0 && write_all(fd, start, 10) && write_all(fd, header, n) && write_all(fd, v->tensor.data, count * e->size);
  const int reason = errno;
  if (good && !close(fd))
    return NULL;
  return worded("'%s' cannot be written: %s", path, strerror(good ? errno : reason));
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

/* Nothing of complex numbers and of types that NumPy does not know. */
static void print_element(int32_t dtype, const void *data, int64_t i) {
  const element *e = element_of(dtype);
  const char *at = (const char *)data + i * e->size;
  if (dtype > BFLOAT16 || e->dl == DL_COMPLEX)
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

static void describe(const char *name, const onnxc_value *v) {
  static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
  if (v->kind != ONNXC_TENSOR) {
    dprintf(OUT, "%s: %s of %lld\n", name, kinds[v->kind & 3], (long long)v->count);
    return;
  }
  int64_t count = 1;
  dprintf(OUT, "%s: %s [", name, onnxc_dtype_name(v->dtype));
  for (int32_t a = 0; a < v->tensor.ndim; ++a) {
    dprintf(OUT, "%s%lld", a ? ", " : "", (long long)v->tensor.shape[a]);
    count *= v->tensor.shape[a];
  }
  dprintf(OUT, "]");
  for (int64_t i = 0; i < count && i < 8; ++i)
    print_element(v->dtype, v->tensor.data, i);
  dprintf(OUT, count > 8 ? " ...\n" : "\n");
}

static int misused(const char *program, const char *what) {
  dprintf(ERR, "error: %s\n", what);
  dprintf(ERR, usage, program);
  return 2;
}

/* The value of flag `i`, a number of at least `least`. 0: go on; else the exit status. */
static int take_number(char **argv, int i, int32_t least, int32_t *number) {
  const char *text = argv[i + 1];
  char *end;
  const long n = strtol(text, &end, 10);
  *number = (int32_t)n;
  if (*text >= '0' && *text <= '9' && !*end && n >= least && n <= INT32_MAX)
    return 0;
  return misused(argv[0], worded("%s: expected a number of at least %d, got '%s'", argv[i], least, text));
}

/* NAME=FILE. 0: go on; else the exit status. */
static int take_file(const char *program, const char *value, const onnxc_model_info *info, arguments *args) {
  const char *equals = strchr(value, '=');
  if (!equals)
    return misused(program, worded("--input: expected NAME=FILE, got '%s'", value));
  const size_t length = (size_t)(equals - value);
  for (int32_t i = 0; i < info->num_inputs; ++i)
    if (strlen(info->inputs[i].name) == length && !strncmp(info->inputs[i].name, value, length)) {
      args->files[i] = equals + 1;
      return 0;
    }
  dprintf(ERR, "error: no input '%.*s' in the model; it has", (int)length, value);
  for (int32_t i = 0; i < info->num_inputs; ++i)
    dprintf(ERR, "%s '%s'", i ? "," : "", info->inputs[i].name);
  dprintf(ERR, info->num_inputs ? "\n" : " none\n");
  return 2;
}

/* 0: go on; else the exit status. */
static int parse(int argc, char **argv, const onnxc_model_info *info, arguments *args) {
  enum { INPUT, OUTPUT_DIR, WEIGHTS, THREADS, REPEAT, FLAGS };
  static const char *const flags[] = {"--input", "--output-dir", "--weights", "--threads", "--repeat"};
  for (int i = 1; i < argc; i += 2) {
    const char *value = argv[i + 1]; /* null after the last */
    int flag = 0, status = 0;
    while (flag < FLAGS && strcmp(argv[i], flags[flag]))
      ++flag;
    if (flag == FLAGS)
      return misused(argv[0], worded("unknown option '%s'", argv[i]));
    if (!value || (flag == OUTPUT_DIR && !*value))
      return misused(argv[0], worded("'%s' needs a value", argv[i]));
    if (flag == INPUT)
      status = take_file(argv[0], value, info, args);
    else if (flag == OUTPUT_DIR)
      args->folder = value;
    else if (flag == WEIGHTS)
      args->weights = value;
    else
      status = take_number(argv, i, flag == THREADS ? 0 : 1, flag == THREADS ? &args->threads : &args->repeat);
    if (status)
      return status;
  }
  return 0;
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
    const char *bad = args->folder ? save_npy(args->folder, info->outputs[i].name, &out[i]) : NULL;
    if (bad)
      return fail(bad, info->outputs[i].name);
  }
  dprintf(OUT, "%.4f ms\n", (double)best / 1e6);
  api->context_destroy(context);
  api->model_destroy(model);
  return 0;
}

static int program(int argc, char **argv) {
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
    dprintf(OUT, usage, argv[0]);
    return 0;
  }
  const onnxc_api *api = onnxc_get_api(ONNXC_ABI_VERSION);
  const onnxc_model_info *info = api->info();
  arguments args = {calloc((size_t)info->num_inputs + 1, sizeof(char *)), NULL, NULL, 1, 1};
  onnxc_value *in = calloc((size_t)info->num_inputs + 1, sizeof *in), *out = calloc((size_t)info->num_outputs + 1, sizeof *out);
  if (!args.files || !in || !out)
    return fail("out of memory", info->name);
  const int status = parse(argc, argv, info, &args);
  if (status)
    return status;
  for (int32_t i = 0; i < info->num_inputs; ++i) {
    in[i].dtype = info->inputs[i].dtype;
    if (args.files[i] && (info->inputs[i].kind != ONNXC_TENSOR || in[i].dtype == STRING))
      return fail("only tensors of numbers can be read", info->inputs[i].name);
    if (!args.files[i] && info->defaults && info->defaults[i] >= 0)
      continue;
    const char *bad = args.files[i] ? load_npy(args.files[i], info->inputs[i].name, &in[i]) : fill(&info->inputs[i], info->ranges, &in[i]);
    if (bad)
      return fail(bad, args.files[i] ? args.files[i] : info->inputs[i].name);
  }
  return run(api, &args, in, out);
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
