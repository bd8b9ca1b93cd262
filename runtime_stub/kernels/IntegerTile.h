// IntegerTile.h: products of bytes in registers, for FastInteger*.cpp and FastLinearMatMul.cpp: C[rows, 64] = A[rows, depth] x panel.
//
// quad     four steps of the depth, which one instruction sums: a panel holds 64 columns, [quad][column][4] or PanelShape
// segment  quads that follow each other in every row of A; the panel holds the quads of one segment behind those of the one before it
// Left bytes are unsigned after `flip`, those of a panel signed. Row i of A starts at a[i].
#pragma once
#include "runtime_stub/kernels/Dots.h"
#include "runtime_stub/kernels/PanelSizes.h"

namespace onnxc {

// `n` bytes, each changed by `flip`; `to` may be `from`.
ONNXC_INLINE void copyFlipped(const uint8_t *from, int64_t n, uint8_t flip, uint8_t *to) {
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    *(u8x64 *)(to + i) = *(const u8x64 *)(from + i) ^ flip;
  for (; i + 16 <= n; i += 16)
    *(i8x16 *)(to + i) = *(const i8x16 *)(from + i) ^ int8_t(flip);
  for (; i < n; ++i)
    to[i] = from[i] ^ flip;
}

constexpr int64_t kColumns = kByteColumns;
constexpr int kRows = 6;  // of a tile of more than 32 columns; narrower ones have twice as many

struct Segment {
  int64_t offset, quads;
};
// Where a panel has quad q of the columns from 16 i on: at q * quadBytes + i * partBytes.
struct PanelShape {
  int64_t quadBytes = 4 * kColumns, partBytes = 64;
};
// The depth of a tile; `flip`: 0 or 0x80808080.
struct Depth {
  const Segment *segments;
  int64_t count;
  uint32_t flip;
  PanelShape panel = {};
};

// The sum of the bytes of a row that a tile reads.
ONNXC_INLINE int32_t rowSum(const uint8_t *a, const Depth &d) {
  u32x16 sums = 0;
  uint32_t sum = 0;
  for (int64_t s = 0; s < d.count; ++s) {
    const uint8_t *at = a + d.segments[s].offset, *end = at + 4 * d.segments[s].quads;
    for (; at + 16 <= end; at += 16)
      sums += __builtin_convertvector(*(const u8x16 *)at ^ uint8_t(d.flip), u32x16);
    for (; at < end; ++at)
      sum += *at ^ uint8_t(d.flip);
  }
  return int32_t(sum + __builtin_reduce_add(sums));
}

// Adds to the sums of `n` rows by `width` columns, `stride` from row to row, what weights that are `offsets` more than those of the panel
// make of rows of these sums.
ONNXC_INLINE void addOffsets(int32_t *c, int64_t stride, int64_t n, int64_t width, const int32_t *offsets, const int32_t *rowSums) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j)
      c[i * stride + j] = int32_t(uint32_t(c[i * stride + j]) + uint32_t(offsets[j]) * uint32_t(rowSums[i]));
}

// The tiles, of ROWS rows, on dots.
#if defined(__aarch64__)
// Of signed bytes only: the left ones are 128 less, which the sums of the panel's columns make up for. 16 columns at a time.
template <int ROWS>
ONNXC_DOTS __attribute__((noinline)) static void tileDots(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c,
                                                          int64_t columns) {
  const int32x4_t flip = vdupq_n_s32(int32_t(d.flip ^ 0x80808080u));
  for (int64_t n = 0; n < columns; n += 16) {
    int32x4_t acc[ROWS][4] = {}, sums[4] = {};
    const int8_t *from = panel + n / 16 * d.panel.partBytes;
    for (int64_t s = 0; s < d.count; ++s) {
      int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
      for (; at < end; at += 4, from += d.panel.quadBytes) {
        int8x16_t b[4];
#pragma clang loop unroll(full)
        for (int j = 0; j < 4; ++j)
          b[j] = vld1q_s8(from + 16 * j), sums[j] = vdotq_s32(sums[j], vdupq_n_s8(1), b[j]);
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i) {
          int32_t four;
          memcpy(&four, a[i] + at, 4);
          int8x16_t left = (int8x16_t)(vdupq_n_s32(four) ^ flip);
#pragma clang loop unroll(full)
          for (int j = 0; j < 4; ++j)
            acc[i][j] = vdotq_s32(acc[i][j], left, b[j]);
        }
      }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; ++j)
        vst1q_s32(c + i * kColumns + n + 4 * j, acc[i][j] + (sums[j] << 7));
  }
}
#else
// 16 * NV columns.
template <int ROWS, int NV, bool FLIP>
ONNXC_DOTS __attribute__((noinline)) static void tileDots(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c) {
  q16 acc[ROWS][NV] = {};
  const PanelShape shape = d.panel;
  for (int64_t s = 0; s < d.count; ++s) {
    int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
    for (; at < end; at += 4, panel += shape.quadBytes) {
      bytes64 b[NV];
#pragma clang loop unroll(full)
      for (int j = 0; j < NV; ++j)
        memcpy(&b[j], panel + shape.partBytes * j, 64);
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i) {
        int32_t four;
        memcpy(&four, a[i] + at, 4);
        q16 left = four - q16{};
        if (FLIP)
          left ^= int32_t(0x80808080) - q16{};
#pragma clang loop unroll(full)
        for (int j = 0; j < NV; ++j)
          acc[i][j] = ONNXC_DOT64(acc[i][j], (bytes64)left, b[j]);
      }
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < ROWS; ++i)
    memcpy(c + i * kColumns, acc[i], 64 * NV);
}

#endif

// Without: bytes become 16-bit numbers in pairs (0, 2) and (1, 3) of a quad, those of A once for all columns of the panel, kQuads at a
// time.
constexpr int64_t kQuads = 128;
typedef uint32_t Quads4 __attribute__((ext_vector_type(4), aligned(1)));
typedef uint32_t Pairs[2][kQuads];  // of one row

// Where a walk over the segments is: quad `quad` of segment `segment`.
struct QuadPlace {
  int64_t segment, quad;
};

// The next quads of every row from `at` on, at most kQuads; gives their number.
template <int ROWS>
ONNXC_INLINE int64_t widen(const uint8_t *const *a, const Depth &d, QuadPlace &at, Pairs *to) {
  int64_t n = 0;
  while (n < kQuads && at.segment < d.count) {
    const Segment &s = d.segments[at.segment];
    int64_t take = minOf(s.quads - at.quad, kQuads - n), from = s.offset + 4 * at.quad, q = 0;
    for (; q + 4 <= take; q += 4)
      unroll<0, ROWS>([&](auto i) {
        Quads4 four = *(const Quads4 *)(a[i.value] + from + 4 * q) ^ d.flip;
        *(Quads4 *)(to[i.value][0] + n + q) = four & 0x00ff00ffu;
        *(Quads4 *)(to[i.value][1] + n + q) = four >> 8 & 0x00ff00ffu;
      });
    for (; q < take; ++q)
      unroll<0, ROWS>([&](auto i) {
        uint32_t one;
        memcpy(&one, a[i.value] + from + 4 * q, 4);
        one ^= d.flip;
        to[i.value][0][n + q] = one & 0x00ff00ffu, to[i.value][1][n + q] = one >> 8 & 0x00ff00ffu;
      });
    n += take, at.quad += take;
    if (at.quad == s.quads)
      ++at.segment, at.quad = 0;
  }
  return n;
}

// 16 columns at a time; c is added to where there is `more` of it.
#define ONNXC_PAIRS(NAME, ATTRIBUTE, BYTES, MULTIPLY)                                                                                      \
  template <int ROWS>                                                                                                                      \
  ATTRIBUTE __attribute__((noinline)) static void NAME(const Pairs *a, int64_t quads, const int8_t *panel, PanelShape shape, int32_t *c,   \
                                                       int64_t columns, bool more) {                                                       \
    typedef short half __attribute__((vector_size(BYTES)));                                                                                \
    typedef int full __attribute__((vector_size(BYTES)));                                                                                  \
    constexpr int N = 64 / BYTES;                                                                                                          \
    for (int64_t n = 0; n < columns; n += 16) {                                                                                            \
      full acc[ROWS][N] = {};                                                                                                              \
      if (more)                                                                                                                            \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) memcpy(acc[i], c + i * kColumns + n, 64);                        \
      const int8_t *from = panel + n / 16 * shape.partBytes;                                                                               \
      for (int64_t q = 0; q < quads; ++q, from += shape.quadBytes)                                                                         \
        _Pragma("clang loop unroll(full)") for (int j = 0; j < N; ++j) {                                                                   \
          half odd;                                                                                                                        \
          memcpy(&odd, from + BYTES * j, BYTES);                                                                                           \
          half even = half(odd << 8) >> 8;                                                                                                 \
          odd >>= 8;                                                                                                                       \
          _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                              \
            acc[i][j] += MULTIPLY(even, (half)(int32_t(a[i][0][q]) - full{}));                                                             \
            acc[i][j] += MULTIPLY(odd, (half)(int32_t(a[i][1][q]) - full{}));                                                              \
          }                                                                                                                                \
          asm volatile("" ::: "memory"); /* read A's pairs again: there is no register to keep them in */                                  \
        }                                                                                                                                  \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) memcpy(c + i * kColumns + n, acc[i], 64);                          \
    }                                                                                                                                      \
  }
#if !defined(__aarch64__)
ONNXC_PAIRS(pairsAvx2, __attribute__((target("avx2"))), 32, __builtin_ia32_pmaddwd256)
#endif
ONNXC_PAIRS(pairsNarrow, , 16, ONNXC_PAIRS128)
#undef ONNXC_PAIRS

template <int ROWS>
__attribute__((noinline)) static void tilePairs(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c, int64_t columns) {
  Pairs pairs[ROWS];
  QuadPlace at{0, 0};
  bool more = false;
  do {
    int64_t quads = widen<ROWS>(a, d, at, pairs);
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= 256)
      pairsAvx2<ROWS>(pairs, quads, panel, d.panel, c, columns, more);
    else
#endif
      pairsNarrow<ROWS>(pairs, quads, panel, d.panel, c, columns, more);
    panel += quads * d.panel.quadBytes, more = true;
  } while (at.segment < d.count);
}

template <int ROWS>
static void tileOf(bool dots, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c, int64_t columns) {
#if defined(__aarch64__)
  if (dots)
    return tileDots<ROWS>(a, d, panel, c, columns);
#else
  if (onnxc_vector_bits >= kDotBits && dots && d.flip)
    return tileDots<ROWS, 4, true>(a, d, panel, c);
  if (onnxc_vector_bits >= kDotBits && dots)
    return tileDots<ROWS, 4, false>(a, d, panel, c);
#endif
  tilePairs<ROWS>(a, d, panel, c, columns);
}

// 2 * kRows rows of 16 * NV columns.
template <int NV>
static void narrowTile(bool dots, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c) {
#if !defined(__aarch64__)
  if (onnxc_vector_bits >= kDotBits && dots && d.flip)
    return tileDots<2 * kRows, NV, true>(a, d, panel, c);
  if (onnxc_vector_bits >= kDotBits && dots)
    return tileDots<2 * kRows, NV, false>(a, d, panel, c);
#endif
  tileOf<kRows>(dots, a, d, panel, c, NV * 16);
  tileOf<kRows>(dots, a + kRows, d, panel, c + kRows * kColumns, NV * 16);
}

// n <= kRows rows, the columns that matter being the first `width`.
ONNXC_INLINE void integerTile(int64_t n, bool dots, const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c,
                              int64_t width) {
  switch (n) {
  case 1:
    return tileOf<1>(dots, a, d, panel, c, width);
  case 2:
    return tileOf<2>(dots, a, d, panel, c, width);
  case 3:
    return tileOf<3>(dots, a, d, panel, c, width);
  case 4:
    return tileOf<4>(dots, a, d, panel, c, width);
  case 5:
    return tileOf<5>(dots, a, d, panel, c, width);
  default:
    return tileOf<kRows>(dots, a, d, panel, c, width);
  }
}

}  // namespace onnxc
