// Dots.h: the instructions of each target that multiply small integers and add up neighbouring products, for the kernels of bytes.
//
// dots   four products of bytes, unsigned times signed (x86) or below 128 times signed (Arm); only where hasDots() says so
// pairs  two products of 16-bit numbers
#pragma once
#include "runtime_stub/kernels/Lanes.h"
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace onnxc {

typedef int q16 __attribute__((vector_size(64)));
typedef char bytes64 __attribute__((vector_size(64)));

// The attributes tell codegen/cpu to keep the instruction set.
#if defined(__aarch64__)
#define ONNXC_DOTS __attribute__((target("dotprod")))
constexpr int32_t kDotBits = 128;  // of a level's vectors, from which on ONNXC_DOTS may be called
#else
#define ONNXC_DOTS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define ONNXC_DOTS256 __attribute__((target("avx2,avxvnni")))
#define ONNXC_AVX2 __attribute__((target("avx2")))
#define ONNXC_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define ONNXC_PERMUTED_DOTS __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")))
constexpr int32_t kDotBits = 512;
#endif

// Whether the processor has dots of vectors as large as the level's.
ONNXC_INLINE bool hasDots(const onnxc_args *a) {
  enum { Dots = 1, AvxVnni = 8 };  // of onnxc_rt_dots
  return onnxc_vector_bits >= kDotBits ? (onnxc_rt_dots(a->rt) & Dots) != 0 : onnxc_vector_bits == 256 && (onnxc_rt_dots(a->rt) & AvxVnni);
}

#if defined(__aarch64__)
ONNXC_DOTS __attribute__((always_inline)) inline q16 dots64(q16 sum, bytes64 left, bytes64 right) {
  int32x4_t sums[4];
  int8x16_t l[4], r[4];
  memcpy(sums, &sum, 64), memcpy(l, &left, 64), memcpy(r, &right, 64);
  for (int i = 0; i < 4; ++i)
    sums[i] = vdotq_s32(sums[i], l[i], r[i]);
  memcpy(&sum, sums, 64);
  return sum;
}
typedef short half8 __attribute__((vector_size(16)));
typedef int full4 __attribute__((vector_size(16)));
__attribute__((always_inline)) inline full4 pairs128(half8 left, half8 right) {
  int16x8_t l = (int16x8_t)left, r = (int16x8_t)right;
  return (full4)vpaddq_s32(vmull_s16(vget_low_s16(l), vget_low_s16(r)), vmull_high_s16(l, r));
}
#define ONNXC_PAIRS128 pairs128
#define ONNXC_DOT64 dots64
#else
#define ONNXC_PAIRS128 __builtin_ia32_pmaddwd128
#define ONNXC_DOT64 __builtin_ia32_vpdpbusd512
#endif

}  // namespace onnxc
