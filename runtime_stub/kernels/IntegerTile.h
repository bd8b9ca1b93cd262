// IntegerTile.h: products of bytes in registers, for FastInteger.cpp and FastIntegerConv.cpp: C[rows, 64] = A[rows, depth] x panel.
//
// quad     four steps of the depth, which one instruction sums: a panel holds 64 columns, [quad][column][4]
// segment  quads that follow each other in every row of A; the panel holds the quads of one segment behind those of the one before it
// Left bytes are unsigned after `flip`, those of a panel signed. Row i of A starts at a[i].
#pragma once
#include "runtime_stub/kernels/Lanes.h"
extern "C" int32_t onnxc_rt_dots(void);

namespace onnxc {

typedef int8_t s16 __attribute__((ext_vector_type(16), aligned(1)));

constexpr int64_t kColumns = 64;
constexpr int kRows = 6;  // of a tile of more than 32 columns; narrower ones have twice as many

struct Segment {
  int64_t offset, quads;
};
// The depth of a tile; `flip`: 0 or 0x80808080.
struct Depth {
  const Segment *segments;
  int64_t count;
  uint32_t flip;
};

// The tiles, of ROWS rows. With AVX-512 VNNI; the attribute tells codegen/cpu to keep the instruction set.
#define ONNXC_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define ONNXC_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
typedef int q16 __attribute__((vector_size(64)));
typedef char bytes64 __attribute__((vector_size(64)));

// 16 * NV columns.
template <int ROWS, int NV, bool FLIP>
ONNXC_VNNI __attribute__((noinline)) static void tileVnni(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c) {
  q16 acc[ROWS][NV] = {};
  for (int64_t s = 0; s < d.count; ++s) {
    int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
    for (; at < end; at += 4, panel += 4 * kColumns) {
      bytes64 b[NV];
#pragma clang loop unroll(full)
      for (int j = 0; j < NV; ++j)
        memcpy(&b[j], panel + 64 * j, 64);
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i) {
        int32_t four;
        memcpy(&four, a[i] + at, 4);
        q16 left = four - q16{};
        if (FLIP)
          left ^= int32_t(0x80808080) - q16{};
#pragma clang loop unroll(full)
        for (int j = 0; j < NV; ++j)
          acc[i][j] = __builtin_ia32_vpdpbusd512(acc[i][j], (bytes64)left, b[j]);
      }
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < ROWS; ++i)
    memcpy(c + i * kColumns, acc[i], 64 * NV);
}

// Without: bytes as 16-bit pairs (0, 2) and (1, 3) of a quad, 16 columns at a time.
#define ONNXC_PAIRS(NAME, ATTRIBUTE, BYTES, MULTIPLY)                                                                                      \
  template <int ROWS>                                                                                                                      \
  ATTRIBUTE __attribute__((noinline)) static void NAME(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c,           \
                                                       int64_t columns) {                                                                  \
    typedef short half __attribute__((vector_size(BYTES)));                                                                                \
    typedef int full __attribute__((vector_size(BYTES)));                                                                                  \
    constexpr int N = 64 / BYTES;                                                                                                          \
    for (int64_t n = 0; n < columns; n += 16) {                                                                                            \
      full acc[ROWS][N] = {};                                                                                                              \
      const int8_t *from = panel + 4 * n;                                                                                                  \
      for (int64_t s = 0; s < d.count; ++s) {                                                                                              \
        int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;                                                             \
        for (; at < end; at += 4, from += 4 * kColumns) {                                                                                  \
          half even[N], odd[N];                                                                                                            \
          _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) {                                                                 \
            memcpy(&odd[j], from + BYTES * j, BYTES);                                                                                      \
            even[j] = half(odd[j] << 8) >> 8;                                                                                              \
            odd[j] >>= 8;                                                                                                                  \
          }                                                                                                                                \
          _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                              \
            uint32_t four;                                                                                                                 \
            memcpy(&four, a[i] + at, 4);                                                                                                   \
            four ^= d.flip;                                                                                                                \
            full low = int32_t(four & 0x00ff00ff) - full{}, high = int32_t(four >> 8 & 0x00ff00ff) - full{};                               \
            _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) acc[i][j] +=                                                    \
                MULTIPLY(even[j], (half)low) + MULTIPLY(odd[j], (half)high);                                                               \
          }                                                                                                                                \
        }                                                                                                                                  \
      }                                                                                                                                    \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) memcpy(c + i * kColumns + n, acc[i], 64);                          \
    }                                                                                                                                      \
  }
ONNXC_PAIRS(tileAvx2, __attribute__((target("avx2"))), 32, __builtin_ia32_pmaddwd256)
ONNXC_PAIRS(tileSse2, , 16, __builtin_ia32_pmaddwd128)
#undef ONNXC_PAIRS

template <int ROWS>
static void tileOf(bool vnni, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c, int64_t columns) {
  if (onnxc_vector_bits >= 512 && vnni && d.flip)
    tileVnni<ROWS, 4, true>(a, d, panel, c);
  else if (onnxc_vector_bits >= 512 && vnni)
    tileVnni<ROWS, 4, false>(a, d, panel, c);
  else if (onnxc_vector_bits >= 256)
    tileAvx2<ROWS>(a, d, panel, c, columns);
  else
    tileSse2<ROWS>(a, d, panel, c, columns);
}

// 2 * kRows rows of 16 * NV columns.
template <int NV>
static void narrowTile(bool vnni, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c) {
  if (onnxc_vector_bits >= 512 && vnni && d.flip)
    return tileVnni<2 * kRows, NV, true>(a, d, panel, c);
  if (onnxc_vector_bits >= 512 && vnni)
    return tileVnni<2 * kRows, NV, false>(a, d, panel, c);
  tileOf<kRows>(false, a, d, panel, c, NV * 16);
  tileOf<kRows>(false, a + kRows, d, panel, c + kRows * kColumns, NV * 16);
}

// n <= kRows rows, the columns that matter being the first `width`.
ONNXC_INLINE void integerTile(int64_t n, bool vnni, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c,
                              int64_t width) {
  switch (n) {
  case 1:
    return tileOf<1>(vnni, a, d, panel, c, width);
  case 2:
    return tileOf<2>(vnni, a, d, panel, c, width);
  case 3:
    return tileOf<3>(vnni, a, d, panel, c, width);
  case 4:
    return tileOf<4>(vnni, a, d, panel, c, width);
  case 5:
    return tileOf<5>(vnni, a, d, panel, c, width);
  default:
    return tileOf<kRows>(vnni, a, d, panel, c, width);
  }
}
ONNXC_INLINE bool hasDots() { return onnxc_vector_bits >= 512 && (onnxc_rt_dots() & 1) != 0; }

}  // namespace onnxc
