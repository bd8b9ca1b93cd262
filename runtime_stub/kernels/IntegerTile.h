// IntegerTile.h: products of bytes in registers, for FastInteger*.cpp and FastLinearMatMul.cpp: C[rows, 64] = A[rows, depth] x panel, of
// rows and panels as in TileDepth.h.
//
// dots     tileDots, where the processor has them: 64 columns or fewer; IntegerTile256.h: of vectors of 256 bits
// without  tilePairs, 16-bit numbers; IntegerTile256.h: tileWords, tileNibbles
#pragma once
#include "runtime_stub/kernels/TileDepth.h"
#if !defined(__aarch64__)
#include "runtime_stub/kernels/IntegerTile256.h"
#endif

namespace onnxc {

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
        q16 left;
        repeatQuad<FLIP>(a[i] + at, left);
#pragma clang loop unroll(full)
        for (int j = 0; j < NV; ++j)
          acc[i][j] = ONNXC_DOT64(acc[i][j], (bytes64)left, b[j]);
      }
    }
  }
  storeSums(acc, c);
}
#endif

// Pairs, 16 columns at a time; c is added to where there is `more` of it.
template <int ROWS>
__attribute__((noinline)) static void addPairs(const Parts *a, int64_t quads, const int8_t *panel, PanelShape shape, int32_t *c,
                                               int64_t columns, bool more) {
  typedef short Half8 __attribute__((vector_size(16)));
  typedef int Full4 __attribute__((vector_size(16)));
  for (int64_t n = 0; n < columns; n += 16) {
    Full4 acc[ROWS][4] = {};
    if (more)
      loadSums(acc, c + n);
    const int8_t *from = panel + n / 16 * shape.partBytes;
    for (int64_t q = 0; q < quads; ++q, from += shape.quadBytes)
#pragma clang loop unroll(full)
      for (int j = 0; j < 4; ++j) {
        Half8 odd;
        memcpy(&odd, from + 16 * j, 16);
        Half8 even = Half8(odd << 8) >> 8;
        odd >>= 8;
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i) {
          acc[i][j] += ONNXC_PAIRS128(even, (Half8)(int32_t(a[i][0][q]) - Full4{}));
          acc[i][j] += ONNXC_PAIRS128(odd, (Half8)(int32_t(a[i][1][q]) - Full4{}));
        }
        asm volatile("" ::: "memory"); /* read A's pairs again: there is no register to keep them in */
      }
    storeSums(acc, c + n);
  }
}
template <int ROWS>
__attribute__((noinline)) static void tilePairs(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c, int64_t columns) {
  Parts parts[ROWS];
  bool more = false;
  for (QuadPlace at{0, 0}; at.segment < d.count; more = true) {
    int64_t quads = split<ROWS, 8>(a, d, at, parts);
    addPairs<ROWS>(parts, quads, panel, d.panel, c, columns, more);
    panel += quads * d.panel.quadBytes;
  }
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
  if (onnxc_vector_bits == 256 && dots)
    return d.flip ? tileDots256<ROWS, true>(a, d, panel, c, columns) : tileDots256<ROWS, false>(a, d, panel, c, columns);
  if (onnxc_vector_bits >= 256 && ROWS == kRows && d.limits.of &&
      (d.flip ? tileWords<true>(a, d, panel, c, columns) : tileWords<false>(a, d, panel, c, columns)))
    return;
  if (onnxc_vector_bits >= 256)
    return tileNibbles<ROWS>(a, d, panel, c, columns);
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

// The limits of a panel for `rows` rows, which may be too few for it; `columns` of the panel matter.
struct PanelLimits {
  uint8_t of[PairLimits::bytes(PairLimits::kMost) + kLanes];

  PairLimits find(bool dots, int64_t rows, const int8_t *panel, int64_t quads, PanelShape shape, int64_t columns) {
#if !defined(__aarch64__)
    constexpr int64_t kLeast = 4 * kRows;
    if (onnxc_vector_bits >= 256 && !dots && rows >= kLeast && quads <= PairLimits::kMost) {
      pairLimits(panel, quads, shape, columns, of);
      return {of, quads};
    }
#endif
    return {};
  }
};

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
