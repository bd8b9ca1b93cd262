/* hide_cpu.c: a library to preload that shows the first process it comes into an x86-64 processor of an older level, so that libraries
   which choose their code by cpuid can be measured as they run there. hide_cpu.py builds it. Linux answers cpuid with a signal where
   a process asks for that and the processor can (cpuid_fault in /proc/cpuinfo); threads inherit it, programs that a process starts do not.

   ONNXC_HIDE  2: what x86-64-v2 has not; 3: what x86-64-v3 has not, AVX-VNNI included */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARCH_SET_CPUID = 0x1012 };
static int level;

static uint32_t without(uint32_t word, const int *bits) {
  for (; *bits >= 0; ++bits)
    word &= ~(1u << *bits);
  return word;
}
#define WITHOUT(WORD, ...) WORD = without(WORD, (const int[]){__VA_ARGS__, -1})

static void hide(uint32_t leaf, uint32_t sub, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  if (leaf == 7 && sub == 0) {
    WITHOUT(*b, 16, 17, 21, 26, 27, 28, 30, 31); /* AVX-512 F, DQ, IFMA, PF, ER, CD, BW, VL */
    WITHOUT(*c, 1, 6, 8, 9, 10, 11, 12, 14);     /* VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ */
    WITHOUT(*d, 2, 3, 8, 22, 23, 24, 25);        /* 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8 */
  } else if (leaf == 7 && sub == 1) {
    WITHOUT(*a, 4, 5, 21, 23);    /* AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA */
    WITHOUT(*d, 4, 5, 8, 10, 19); /* AVX-VNNI-INT8, AVX-NE-CONVERT, AMX-COMPLEX, AVX-VNNI-INT16, AVX10 */
  } else if (leaf == 0xd && sub == 0) {
    WITHOUT(*a, 5, 6, 7, 17, 18); /* the state of AVX-512 and of AMX */
  } else if (leaf == 0x1d || leaf == 0x1e || leaf == 0x24) {
    *a = *b = *c = *d = 0; /* tiles, AVX10 */
  }
  if (level > 2)
    return;
  if (leaf == 1)
    WITHOUT(*c, 12, 22, 28, 29); /* FMA, MOVBE, AVX, F16C */
  else if (leaf == 7 && sub == 0)
    WITHOUT(*b, 3, 5, 8); /* BMI1, AVX2, BMI2 */
  else if (leaf == 0x80000001)
    WITHOUT(*c, 5); /* LZCNT */
}

static void answer(int signal_number, siginfo_t *info, void *state) {
  greg_t *regs = ((ucontext_t *)state)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)regs[REG_RIP];
  if (code[0] != 0x0f || code[1] != 0xa2) { /* another fault: again, without this handler */
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  uint32_t leaf = (uint32_t)regs[REG_RAX], sub = (uint32_t)regs[REG_RCX], a = leaf, b, c = sub, d;
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
  hide(leaf, sub, &a, &b, &c, &d);
  regs[REG_RAX] = a, regs[REG_RBX] = b, regs[REG_RCX] = c, regs[REG_RDX] = d;
  regs[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
  unsetenv("LD_PRELOAD");
  level = atoi(getenv("ONNXC_HIDE") ? getenv("ONNXC_HIDE") : "");
  struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (level < 2 || sigaction(SIGSEGV, &action, NULL) || syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0)) {
    fprintf(stderr, "this processor, or its kernel, cannot pretend to be an older one\n");
    _exit(1);
  }
}
