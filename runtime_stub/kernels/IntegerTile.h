// IntegerTile.h: products of bytes in registers, for FastInteger.cpp and FastIntegerConv.cpp: C[rows, 64] = A[rows, depth] x panel.
//
// quad    four steps of the depth, which one instruction sums: a panel holds 64 columns, [quad][column][4]
// Left bytes are unsigned, those of a panel signed. Row i of A starts at a[i] + offset.
#pragma once
#include "runtime_stub/kernels/Lanes.h"
extern "C" int32_t onnxc_rt_dots(void);

namespace onnxc {

typedef int8_t s16 __attribute__((ext_vector_type(16), aligned(1)));

constexpr int64_t kColumns = 64;
constexpr int kRows = 6;

// The tiles: C[ROWS, 64] = A[ROWS, 4 quads] x panel. With AVX-512 VNNI; the attribute tells codegen/cpu to keep the instruction set.
#define ONNXC_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
typedef int q16 __attribute__((vector_size(64)));
typedef char bytes64 __attribute__((vector_size(64)));

template <int ROWS>
ONNXC_VNNI __attribute__((noinline)) static void tileVnni(const uint8_t *const *a, int64_t offset, const int8_t *panel, int64_t quads,
                                                          int32_t *c) {
  q16 acc[ROWS][4] = {};
  for (int64_t q = 0; q < quads; ++q, panel += 4 * kColumns) {
    bytes64 b[4];
#pragma clang loop unroll(full)
    for (int j = 0; j < 4; ++j)
      memcpy(&b[j], panel + 64 * j, 64);
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i) {
      int32_t four;
      memcpy(&four, a[i] + offset + 4 * q, 4);
      q16 left = four - q16{};
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; ++j)
        acc[i][j] = __builtin_ia32_vpdpbusd512(acc[i][j], (bytes64)left, b[j]);
    }
  }
  memcpy(c, acc, sizeof(acc));
}

// Without: bytes as 16-bit pairs (0, 2) and (1, 3) of a quad, 16 columns at a time.
#define ONNXC_PAIRS(NAME, ATTRIBUTE, BYTES, MULTIPLY)                                                                                      \
  template <int ROWS>                                                                                                                      \
  ATTRIBUTE __attribute__((noinline)) static void NAME(const uint8_t *const *a, int64_t offset, const int8_t *panel, int64_t quads,        \
                                                       int32_t *c, int64_t columns) {                                                      \
    typedef short half __attribute__((vector_size(BYTES)));                                                                                \
    typedef int full __attribute__((vector_size(BYTES)));                                                                                  \
    constexpr int N = 64 / BYTES;                                                                                                          \
    for (int64_t n = 0; n < columns; n += 16) {                                                                                            \
      full acc[ROWS][N] = {};                                                                                                              \
      const int8_t *from = panel + 4 * n;                                                                                                  \
      for (int64_t q = 0; q < quads; ++q, from += 4 * kColumns) {                                                                          \
        half even[N], odd[N];                                                                                                              \
        _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) {                                                                   \
          memcpy(&odd[j], from + BYTES * j, BYTES);                                                                                        \
          even[j] = half(odd[j] << 8) >> 8;                                                                                                \
          odd[j] >>= 8;                                                                                                                    \
        }                                                                                                                                  \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                                \
          uint32_t four;                                                                                                                   \
          memcpy(&four, a[i] + offset + 4 * q, 4);                                                                                         \
          full low = int32_t(four & 0x00ff00ff) - full{}, high = int32_t(four >> 8 & 0x00ff00ff) - full{};                                 \
          _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) acc[i][j] +=                                                      \
              MULTIPLY(even[j], (half)low) + MULTIPLY(odd[j], (half)high);                                                                 \
        }                                                                                                                                  \
      }                                                                                                                                    \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) memcpy(c + i * kColumns + n, acc[i], 64);                          \
    }                                                                                                                                      \
  }
ONNXC_PAIRS(tileAvx2, __attribute__((target("avx2"))), 32, __builtin_ia32_pmaddwd256)
ONNXC_PAIRS(tileSse2, , 16, __builtin_ia32_pmaddwd128)
#undef ONNXC_PAIRS

template <int ROWS>
static void tileOf(bool vnni, const uint8_t *const *a, int64_t offset, const int8_t *panel, int64_t quads, int32_t *c, int64_t columns) {
  if (onnxc_vector_bits >= 512 && vnni)
    tileVnni<ROWS>(a, offset, panel, quads, c);
  else if (onnxc_vector_bits >= 256)
    tileAvx2<ROWS>(a, offset, panel, quads, c, columns);
  else
    tileSse2<ROWS>(a, offset, panel, quads, c, columns);
}

// `width`: columns that matter.
ONNXC_INLINE void integerTile(int64_t n, bool vnni, const uint8_t *const *a, int64_t offset, const int8_t *panel, int64_t quads, int32_t *c,
                              int64_t width) {
  switch (n) {
  case 1:
    return tileOf<1>(vnni, a, offset, panel, quads, c, width);
  case 2:
    return tileOf<2>(vnni, a, offset, panel, quads, c, width);
  case 3:
    return tileOf<3>(vnni, a, offset, panel, quads, c, width);
  case 4:
    return tileOf<4>(vnni, a, offset, panel, quads, c, width);
  case 5:
    return tileOf<5>(vnni, a, offset, panel, quads, c, width);
  default:
    return tileOf<kRows>(vnni, a, offset, panel, quads, c, width);
  }
}
ONNXC_INLINE bool hasDots() { return onnxc_vector_bits >= 512 && onnxc_rt_dots() != 0; }

}  // namespace onnxc
