/* cpu.c: which of the artefact's variants this processor can run. */
#include "runtime_stub/internal.h"
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>

/* 0: below x86-64-v2; 2, 3, 4: the psABI level, operating system support included. */
static int machine_level(void) {
  unsigned a, b, c, d, b7 = 0, c7, d7, xcr0 = 0, high;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  const unsigned v2 = (1u << 0) | (1u << 9) | (1u << 13) | (1u << 19) | (1u << 20) | (1u << 23);
  if ((c & v2) != v2) return 0;
  const unsigned v3 = (1u << 12) | (1u << 22) | (1u << 27) | (1u << 28) | (1u << 29);
  if ((c & v3) != v3 || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return 2;
  __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  const unsigned b7v3 = (1u << 3) | (1u << 5) | (1u << 8), b7v4 = (1u << 16) | (1u << 17) | (1u << 28) | (1u << 30) | (1u << 31);
  if ((xcr0 & 6) != 6 || (b7 & b7v3) != b7v3) return 2;
  return (b7 & b7v4) == b7v4 && (xcr0 & 0xe6) == 0xe6 ? 4 : 3;
}

static bool runs_here(const char *isa, int level) {
  if (!strncmp(isa, "x86-64-v", 8)) return isa[8] - '0' <= level;
  return !strcmp(isa, "x86-64");
}
#else
static int machine_level(void) { return 0; }
static bool runs_here(const char *isa, int level) { return level == 0 && isa[0] != 0; }
#endif

const onnxc_variant *onnxc_choose_variant(const char *cpu) {
  const int level = machine_level();
  for (int32_t i = onnxc_the_plan.num_variants - 1; i >= 0; --i) {
    const onnxc_variant *v = &onnxc_the_plan.variants[i];
    if (cpu ? !strcmp(cpu, v->isa) && runs_here(v->isa, level) : runs_here(v->isa, level)) return v;
  }
  return NULL;
}
