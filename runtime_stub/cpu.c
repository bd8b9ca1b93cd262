/* cpu.c: which of the artefact's variants this processor can run, and how many processors a run may use. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime_stub/internal.h"
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>

/* 0: below x86-64-v2; 2, 3, 4: the psABI level, operating system support included. */
static int machine_level(void) {
  unsigned a, b, c, d, b7 = 0, c7, d7, xcr0 = 0, high;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  const unsigned v2 = (1u << 0) | (1u << 9) | (1u << 13) | (1u << 19) | (1u << 20) | (1u << 23);
  if ((c & v2) != v2)
    return 0;
  const unsigned v3 = (1u << 12) | (1u << 22) | (1u << 27) | (1u << 28) | (1u << 29);
  if ((c & v3) != v3 || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7))
    return 2;
  __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  const unsigned b7v3 = (1u << 3) | (1u << 5) | (1u << 8), b7v4 = (1u << 16) | (1u << 17) | (1u << 28) | (1u << 30) | (1u << 31);
  if ((xcr0 & 6) != 6 || (b7 & b7v3) != b7v3)
    return 2;
  if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !(c & (1u << 5)))
    return 2; /* lzcnt */
  return (b7 & b7v4) == b7v4 && (xcr0 & 0xe6) == 0xe6 ? 4 : 3;
}

/* The level a variant needs; -1: a name of another architecture. */
static int needed_level(const char *isa) {
  if (!strcmp(isa, "x86-64"))
    return 0;
  const char *v = strncmp(isa, "x86-64-", 7) ? isa : isa + 7;
  return v[0] == 'v' && v[1] >= '1' && v[1] <= '4' && !v[2] ? (v[1] == '1' ? 0 : v[1] - '0') : -1;
}
#elif defined(__aarch64__)
#include <sys/auxv.h>
static int machine_level(void) { return 0; }
static int needed_level(const char *isa) { return strcmp(isa, "armv8-a") ? -1 : 0; }
#endif

int32_t onnxc_dots(void) {
#if defined(__x86_64__)
  const unsigned TILES = 13u << 22, TILE_STATE = 3u << 17; /* AMX-BF16, -TILE and -INT8; XTILECFG and XTILEDATA */
  unsigned a, b, c, d, more, unused;
  const int level = machine_level();
  if (level < 3 || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return 0;
  const int32_t narrow = a >= 1 && __get_cpuid_count(7, 1, &more, &unused, &unused, &unused) ? (int32_t)(more >> 4 & 1) * 8 : 0;
  if (level < 4)
    return narrow;
  unsigned xcr0, high;
  __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  const bool tiles = (d & TILES) == TILES && (xcr0 & TILE_STATE) == TILE_STATE;
  return (int32_t)((c >> 11 & 1) + (c >> 1 & 1) * 2 + tiles * 4) + narrow;
#elif defined(__aarch64__)
  return getauxval(AT_HWCAP) >> 20 & 1;
#endif
}

int32_t onnxc_rt_dots(onnxc_rt *rt) { return ((const onnxc_context *)rt)->dots; }

/* Linux gives the state of tiles to processes that ask, and to none whose alternate signal stacks could not hold it. */
static bool permitted(void) {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
  return false;
#endif
}

int32_t onnxc_rt_tiles(onnxc_rt *rt) {
  onnxc_context *c = (onnxc_context *)rt;
  int32_t tiles = __atomic_load_n(&c->tiles, __ATOMIC_RELAXED);
  if (!tiles) { /* several threads may come to the same answer */
    tiles = (c->dots & 4) && permitted() ? 1 : -1;
    __atomic_store_n(&c->tiles, tiles, __ATOMIC_RELAXED);
  }
  return tiles > 0;
}

const onnxc_variant *onnxc_choose_variant(const char *cpu) {
  const int level = machine_level();
  const onnxc_variant *best = NULL;
  int best_level = -1;
  for (int32_t i = 0; i < onnxc_the_plan.num_variants; ++i) {
    const onnxc_variant *v = &onnxc_the_plan.variants[i];
    const int needed = needed_level(v->isa);
    if (needed > best_level && needed <= level && (!cpu || !strcmp(cpu, v->isa)))
      best = v, best_level = needed;
  }
  return best;
}

/* The number at `at`, which moves behind it; -1: none. */
static int64_t number(const char **at) {
  while (**at == ' ')
    ++*at;
  if (**at < '0' || **at > '9')
    return -1;
  int64_t n = 0;
  for (; **at >= '0' && **at <= '9' && n < INT64_MAX / 16; ++*at)
    n = n * 10 + (**at - '0');
  return n;
}

/* Processors of the control group's quota ("<microseconds> <period>" or "max <period>"), rounded up; INT32_MAX: no limit. */
static int32_t quota(void) {
  char text[64];
  const int file = open("/sys/fs/cgroup/cpu.max", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return INT32_MAX;
  const ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  text[n > 0 ? n : 0] = 0;
  const char *at = text;
  const int64_t share = number(&at), period = number(&at);
  return share <= 0 || period <= 0 || share / period >= INT32_MAX ? INT32_MAX : (int32_t)((share + period - 1) / period);
}

int32_t onnxc_processors(void) {
  cpu_set_t set;
  const int32_t allowed = sched_getaffinity(0, sizeof set, &set) ? (int32_t)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
  const int32_t limit = quota();
  const int32_t least = allowed < limit ? allowed : limit;
  return least < 1 ? 1 : least;
}
