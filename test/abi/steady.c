/* steady.c: what runs of a library take, for run.py. Runs it with inputs of zeros and symbolic dims of SIZE, WARM times; then once more
 * with an eye on memory, and many times with no calls of the system but futex and, of threads, those of lock_down(). usage:
 * steady LIBRARY THREADS SIZE WARM     prints
 * `<allocations> <most bytes allocated> <most resident bytes more> ok`; a forbidden call is told by its number */
#define _GNU_SOURCE
#include "onnxc/onnxc.h"
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic long allocations, live, most;

static void *take(void *user, size_t bytes, size_t alignment) {
  (void)user;
  char *block = aligned_alloc(alignment, (bytes + 2 * alignment - 1) / alignment * alignment); /* room for the size in front */
  ++allocations;
  if ((live += (long)bytes) > most)
    most = live;
  *(size_t *)block = bytes;
  return block + alignment;
}
static void give(void *user, void *memory) {
  (void)user;
  if (memory)
    live -= (long)*(size_t *)((char *)memory - 64), free((char *)memory - 64);
}

static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* A line of /proc/self/status, in bytes. */
static long status(const char *key) {
  char line[256];
  long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, key, strlen(key)))
      kib = atol(line + strlen(key));
  if (file)
    fclose(file);
  return kib * 1024;
}

static void forbidden(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  char text[] = "system call 000\n";
  for (int i = 14, n = info->si_syscall; i > 11; --i, n /= 10)
    text[i] = (char)('0' + n % 10);
  syscall(SYS_write, 2, text, sizeof text - 1);
  syscall(SYS_exit_group, 3);
}

/* From now on every thread may wait and wake, keep out of another's way, read the clock (no call where the system's page has it), write its
 * verdict and end. */
static int lock_down(int threads) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads > 1 ? SYS_sched_yield : SYS_write, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads > 1 ? SYS_sched_getaffinity : SYS_write, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads > 1 ? SYS_sched_setaffinity : SYS_write, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads > 1 ? SYS_futex : SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, threads > 1 ? SYS_clock_gettime : SYS_write, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  struct sigaction action = {.sa_sigaction = forbidden, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* Zeros of an input's shape. */
static void zeros(const onnxc_io_info *io, int64_t size, onnxc_value *value) {
  int64_t n = 8, *shape = calloc((size_t)io->rank + 1, 8);
  for (int32_t a = 0; a < io->rank; ++a)
    n *= shape[a] = io->dims[a] < 0 ? size : io->dims[a];
  void *data = malloc((size_t)n);
  memset(data, 0, (size_t)n); /* resident, unlike calloc's */
  *value = (onnxc_value){.dtype = io->dtype, .tensor = {.data = data, .ndim = io->rank, .shape = shape}};
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fail("usage: steady LIBRARY THREADS SIZE WARM");
  void *library = dlopen(argv[1], RTLD_NOW);
  const onnxc_api *(*get)(uint32_t) = library ? (const onnxc_api *(*)(uint32_t))dlsym(library, "onnxc_get_api") : NULL;
  if (!get)
    return fail(dlerror());
  const onnxc_api *api = get(ONNXC_ABI_VERSION);
  const onnxc_model_info *info = api->info();
  const int threads = atoi(argv[2]);
  onnxc_value in[8] = {0}, out[8] = {0};
  for (int32_t i = 0; i < info->num_inputs; ++i)
    zeros(&info->inputs[i], atoll(argv[3]), &in[i]);

  const long before = status("VmRSS:");
  onnxc_options options = {.struct_size = sizeof options, .num_threads = threads, .alloc = take, .free = give};
  onnxc_model *model;
  onnxc_context *context;
  onnxc_error error = {0};
  if (api->model_create(&options, &model, &error) || api->context_create(model, NULL, &context, &error))
    return fail(error.message);
  long counted = 0, resident = 0;
  for (int run = 0; run <= atoi(argv[4]) + 300; ++run) {
    if (run == atoi(argv[4]))
      counted = allocations;
    memset(out, 0, sizeof out);
    if (api->run(context, in, info->num_inputs, out, info->num_outputs, &error))
      return fail(error.message);
    if (run == atoi(argv[4])) {
      resident = status("VmHWM:") - before;
      if (threads > 1)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* a thread that has just been made still calls the system */
      if (lock_down(threads))
        return 77;
    }
  }
  char text[100];
  const int length = snprintf(text, sizeof text, "%ld %ld %ld ok\n", (long)allocations - counted, (long)most, resident);
  syscall(SYS_write, 1, text, length);
  syscall(SYS_exit_group, 0);
}
