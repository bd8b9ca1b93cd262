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
// The largest left byte with which no two neighbouring products of a quad of 16 columns of a panel add up to more than 16 bits hold:
// [columns / 16][quads], or null.
struct PairLimits {
  const uint8_t *of = nullptr;
  int64_t quads = 0;

  static constexpr int64_t kMost = 4096;  // quads
  static constexpr int64_t bytes(int64_t quads) { return kColumns / kLanes * quads; }
};
// By the most that two neighbouring bytes of one sign add up to.
struct LimitOfSum {
  uint8_t of[257] = {};
  constexpr LimitOfSum() {
    for (int sum = 0; sum <= 256; ++sum)
      of[sum] = uint8_t(sum <= INT16_MAX / 255 ? 255 : INT16_MAX / sum);
  }
};
constexpr LimitOfSum kLimitOfSum;
// The depth of a tile; `flip`: 0 or 0x80808080; `limits`: of the panel, for tiles that ask for them.
struct Depth {
  const Segment *segments;
  int64_t count;
  uint32_t flip;
  PanelShape panel = {};
  PairLimits limits = {};
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

// On vectors of 256 bits, 16 columns at a time.
typedef int32_t Quads8 __attribute__((vector_size(32)));
typedef int16_t Words16 __attribute__((vector_size(32)));
typedef char Bytes32 __attribute__((vector_size(32), aligned(1)));
typedef char Bytes16 __attribute__((vector_size(16)));

template <int ROWS, bool FLIP>
ONNXC_DOTS256 __attribute__((noinline)) static void tileDots256(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c,
                                                                int64_t columns) {
  for (int64_t n = 0; n < columns; n += 16) {
    Quads8 acc[ROWS][2] = {};
    const int8_t *from = panel + n / 16 * d.panel.partBytes;
    for (int64_t s = 0; s < d.count; ++s) {
      int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
      for (; at < end; at += 4, from += d.panel.quadBytes) {
        Quads8 b[2];
        memcpy(b, from, 64);
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i) {
          int32_t four;
          memcpy(&four, a[i] + at, 4);
          Quads8 left = four - Quads8{};
          if (FLIP)
            left ^= int32_t(0x80808080) - Quads8{};
          acc[i][0] = __builtin_ia32_vpdpbusd256(acc[i][0], (Bytes32)left, (Bytes32)b[0]);
          acc[i][1] = __builtin_ia32_vpdpbusd256(acc[i][1], (Bytes32)left, (Bytes32)b[1]);
        }
      }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
      memcpy(c + i * kColumns + n, acc[i], 64);
  }
}

ONNXC_AVX2 __attribute__((noinline)) static void pairLimits(const int8_t *panel, int64_t quads, PanelShape shape, int64_t columns,
                                                            uint8_t *to) {
  typedef int8_t Signed32 __attribute__((vector_size(32), aligned(1)));
  const Bytes32 ones = (Bytes32)(1 - Signed32{});
  for (int64_t part = 0; part < columns / kLanes; ++part)
    for (int64_t q = 0; q < quads; ++q, ++to) {
      Words16 most = {};
#pragma clang loop unroll(full)
      for (int j = 0; j < 2; ++j) {
        Signed32 b = *(const Signed32 *)(panel + part * shape.partBytes + q * shape.quadBytes + 32 * j);
        Signed32 above = __builtin_elementwise_max(b, Signed32{}), below = above - b;  // 128 stays: read as unsigned
        most = __builtin_elementwise_max(most, (Words16)__builtin_ia32_pmaddubsw256((Bytes32)above, ones));
        most = __builtin_elementwise_max(most, (Words16)__builtin_ia32_pmaddubsw256((Bytes32)below, ones));
      }
      *to = kLimitOfSum.of[__builtin_reduce_max(most)];
    }
}
// The largest byte of each quad of kRows rows.
ONNXC_INLINE void largestBytes(const uint8_t *const *a, const Depth &d, uint8_t *to) {
  typedef uint32_t Quads4 __attribute__((vector_size(16)));
  for (int64_t s = 0; s < d.count; ++s) {
    int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
    for (; at + 16 <= end; at += 16, to += 4) {
      u8x16 most = 0;
      unroll<0, kRows>([&](auto i) { most = __builtin_elementwise_max(most, *(const u8x16 *)(a[i.value] + at) ^ uint8_t(d.flip)); });
      most = __builtin_elementwise_max(most, (u8x16)((Quads4)most >> 8));
      most = __builtin_elementwise_max(most, (u8x16)((Quads4)most >> 16));
      auto each = __builtin_shufflevector(most, most, 0, 4, 8, 12);
      memcpy(to, &each, 4);
    }
    for (; at < end; at += 4, ++to) {
      uint8_t most = 0;
      for (int i = 0; i < 4 * kRows; ++i)
        most = maxOf(most, uint8_t(a[i / 4][at + i % 4] ^ uint8_t(d.flip)));
      *to = most;
    }
  }
}

// Adds to the sums of kRows rows by 16 columns what a quad of each row makes with 64 bytes of the panel, two products at a time in 16 bits.
template <bool FLIP>
ONNXC_AVX2 __attribute__((always_inline)) inline void addWords(const uint8_t *const *a, int64_t at, const int8_t *b, Quads8 (*acc)[2]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < kRows; ++i) {
    int32_t four;
    memcpy(&four, a[i] + at, 4);
    Quads8 left = four - Quads8{};
    if (FLIP)
      left ^= int32_t(0x80808080) - Quads8{};
#pragma clang loop unroll(full)
    for (int j = 0; j < 2; ++j) {
      Words16 sums = (Words16)__builtin_ia32_pmaddubsw256((Bytes32)left, *(const Bytes32 *)(b + 32 * j));
      acc[i][j] += (Quads8)__builtin_ia32_pmaddwd256(sums, 1 - Words16{});
    }
    asm volatile("" : "+r"(b));  // read it again: there is no register to keep it in
  }
}
// The same where 16 bits might not hold them: with the bytes of the panel as sums of two of half their size.
template <bool FLIP>
ONNXC_AVX2 __attribute__((noinline)) static void addLarge(const uint8_t *const *a, int64_t at, const int8_t *b, Quads8 (*sums)[2]) {
  int8_t halves[2][64];
  for (int i = 0; i < 64; ++i)
    halves[0][i] = int8_t(b[i] >> 1), halves[1][i] = int8_t(b[i] - halves[0][i]);
  Quads8 acc[kRows][2];
  memcpy(acc, sums, sizeof(acc));
  addWords<FLIP>(a, at, halves[0], acc);
  addWords<FLIP>(a, at, halves[1], acc);
  memcpy(sums, acc, sizeof(acc));
}

// How many quads of `columns` columns have a row above their limit. 16 bytes behind both can be read.
inline int64_t countLarge(const uint8_t *largest, const PairLimits &limits, int64_t columns) {
  int64_t count = 0;
  for (int64_t part = 0; part < columns / kLanes; ++part)
    for (int64_t q = 0; q < limits.quads; q += kLanes) {
      auto above = *(const u8x16 *)(largest + q) > *(const u8x16 *)(limits.of + part * limits.quads + q);
      int64_t have = minOf(kLanes, limits.quads - q);
      count += __builtin_popcount(uint32_t(__builtin_ia32_pmovmskb128((Bytes16)above)) & ((1u << have) - 1));
    }
  return count;
}
// kRows rows. False where many quads are large, so that tileNibbles() is faster.
template <bool FLIP>
ONNXC_AVX2 __attribute__((noinline)) static bool tileWords(const uint8_t *const *rows, const Depth &d, const int8_t *panel, int32_t *c,
                                                           int64_t columns) {
  constexpr int64_t kFew = 6;  // of as many quads one may be large
  uint8_t largest[PairLimits::kMost + kLanes];
  largestBytes(rows, d, largest);
  if (countLarge(largest, d.limits, columns) * kFew > d.limits.quads * columns / kLanes)
    return false;
  const uint8_t *a[kRows];
  memcpy(a, rows, sizeof(a));
  const int64_t step = d.panel.quadBytes;
  for (int64_t n = 0; n < columns; n += 16) {
    Quads8 acc[kRows][2] = {};
    const int8_t *b = panel + n / 16 * d.panel.partBytes;
    const uint8_t *most = largest, *limits = d.limits.of + n / 16 * d.limits.quads;
    for (int64_t s = 0; s < d.count; ++s) {
      int64_t at = d.segments[s].offset, end = at + 4 * d.segments[s].quads;
      for (; at < end; at += 4, b += step)
        if (__builtin_expect(*most++ > *limits++, 0)) {
          Quads8 sums[kRows][2];
          memcpy(sums, acc, sizeof(sums));
          addLarge<FLIP>(a, at, b, sums);
          memcpy(acc, sums, sizeof(acc));
        } else {
          addWords<FLIP>(a, at, b, acc);
        }
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i)
      memcpy(c + i * kColumns + n, acc[i], 64);
  }
  return true;
}
#endif

// Without: the four bytes of a quad become two numbers, those of A once for all columns of the panel, kQuads at a time. Bits that are 0
// around each make sums of products fit.
constexpr int64_t kQuads = 128;
typedef uint32_t Quads4 __attribute__((ext_vector_type(4), aligned(1)));
typedef uint32_t Parts[2][kQuads];  // of one row

// Where a walk over the segments is: quad `quad` of segment `segment`.
struct QuadPlace {
  int64_t segment, quad;
};
// 8: bytes (0, 2) and (1, 3) as 16-bit numbers; 4: the low and the high halves of all four.
template <int SHIFT>
constexpr uint32_t kPartMask = SHIFT == 8 ? 0x00ff00ff : 0x0f0f0f0f;

// The next quads of every row from `at` on, at most kQuads; gives their number.
template <int ROWS, int SHIFT>
ONNXC_INLINE int64_t split(const uint8_t *const *a, const Depth &d, QuadPlace &at, Parts *to) {
  constexpr uint32_t kMask = kPartMask<SHIFT>;
  int64_t n = 0;
  while (n < kQuads && at.segment < d.count) {
    const Segment &s = d.segments[at.segment];
    int64_t take = minOf(s.quads - at.quad, kQuads - n), from = s.offset + 4 * at.quad, q = 0;
    for (; q + 4 <= take; q += 4)
      unroll<0, ROWS>([&](auto i) {
        Quads4 four = *(const Quads4 *)(a[i.value] + from + 4 * q) ^ d.flip;
        *(Quads4 *)(to[i.value][0] + n + q) = four & kMask;
        *(Quads4 *)(to[i.value][1] + n + q) = four >> SHIFT & kMask;
      });
    for (; q < take; ++q)
      unroll<0, ROWS>([&](auto i) {
        uint32_t one;
        memcpy(&one, a[i.value] + from + 4 * q, 4);
        one ^= d.flip;
        to[i.value][0][n + q] = one & kMask, to[i.value][1][n + q] = one >> SHIFT & kMask;
      });
    n += take, at.quad += take;
    if (at.quad == s.quads)
      ++at.segment, at.quad = 0;
  }
  return n;
}

// Pairs, 16 columns at a time; c is added to where there is `more` of it.
template <int ROWS>
__attribute__((noinline)) static void addPairs(const Parts *a, int64_t quads, const int8_t *panel, PanelShape shape, int32_t *c,
                                               int64_t columns, bool more) {
  typedef short Half8 __attribute__((vector_size(16)));
  typedef int Full4 __attribute__((vector_size(16)));
  for (int64_t n = 0; n < columns; n += 16) {
    Full4 acc[ROWS][4] = {};
    if (more)
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i)
        memcpy(acc[i], c + i * kColumns + n, 64);
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
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
      memcpy(c + i * kColumns + n, acc[i], 64);
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
#if !defined(__aarch64__)
// Halves of bytes, of whose products 16 bits sum eight quads: 8 * 2 * 15 * 128 < 2^15.
template <int ROWS>
ONNXC_AVX2 __attribute__((noinline)) static void addNibbles(const Parts *a, int64_t quads, const int8_t *panel, PanelShape shape,
                                                            int32_t *c, int64_t columns, bool more) {
  constexpr int64_t kTogether = 8;
  for (int64_t n = 0; n < columns; n += 16) {
    Quads8 acc[ROWS][2] = {};
    if (more)
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i)
        memcpy(acc[i], c + i * kColumns + n, 64);
    const int8_t *from = panel + n / 16 * shape.partBytes;
    for (int64_t q = 0; q < quads;) {
      Words16 low[ROWS][2] = {}, high[ROWS][2] = {};
      for (int64_t end = minOf(q + kTogether, quads); q < end; ++q, from += shape.quadBytes)
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i) {
          Bytes32 l = (Bytes32)(int32_t(a[i][0][q]) - Quads8{}), h = (Bytes32)(int32_t(a[i][1][q]) - Quads8{});
#pragma clang loop unroll(full)
          for (int j = 0; j < 2; ++j) {
            low[i][j] += (Words16)__builtin_ia32_pmaddubsw256(l, *(const Bytes32 *)(from + 32 * j));
            high[i][j] += (Words16)__builtin_ia32_pmaddubsw256(h, *(const Bytes32 *)(from + 32 * j));
          }
        }
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
        for (int j = 0; j < 2; ++j)
          acc[i][j] +=
              (Quads8)__builtin_ia32_pmaddwd256(low[i][j], 1 - Words16{}) + (Quads8)__builtin_ia32_pmaddwd256(high[i][j], 16 - Words16{});
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
      memcpy(c + i * kColumns + n, acc[i], 64);
  }
}
template <int ROWS>
static void tileNibbles(const uint8_t *const *a, const Depth &d, const int8_t *panel, int32_t *c, int64_t columns) {
  constexpr int kMost = 3;  // rows, whose sums registers hold
  constexpr int kHere = ROWS < kMost ? ROWS : kMost;
  Parts parts[kHere];
  bool more = false;
  const int8_t *from = panel;
  for (QuadPlace at{0, 0}; at.segment < d.count; more = true) {
    int64_t quads = split<kHere, 4>(a, d, at, parts);
    addNibbles<kHere>(parts, quads, from, d.panel, c, columns, more);
    from += quads * d.panel.quadBytes;
  }
  if constexpr (ROWS > kHere)
    tileNibbles<ROWS - kHere>(a + kHere, d, panel, c + kHere * kColumns, columns);
}
#endif

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
