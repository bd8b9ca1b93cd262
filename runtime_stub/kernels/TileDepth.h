// TileDepth.h: the rows and panels of bytes that the tiles of IntegerTile.h multiply, and how their products fit integers that are too
// small for sums of any four bytes' products.
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
// [columns / 16][quads], or null. 0: its bytes are all 0, as of channels of other groups.
struct PairLimits {
  const uint8_t *of = nullptr;
  int64_t quads = 0;

  static constexpr int64_t kMost = 4096;  // quads
  static constexpr int64_t bytes(int64_t quads) { return kColumns / kLanes * quads; }
};
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

// Four bytes of a row for all columns of a vector; by reference, since functions without its instruction set cannot return it.
template <bool FLIP, class Vector>
ONNXC_INLINE void repeatQuad(const uint8_t *at, Vector &to) {
  int32_t four;
  memcpy(&four, at, 4);
  to = four - Vector{};
  if (FLIP)
    to ^= int32_t(0x80808080) - Vector{};
}
// The sums of a tile's rows from and to c, kColumns from one row to the next.
template <int ROWS, class Vector, int N>
ONNXC_INLINE void loadSums(Vector (&acc)[ROWS][N], const int32_t *c) {
#pragma clang loop unroll(full)
  for (int i = 0; i < ROWS; ++i)
    memcpy(acc[i], c + i * kColumns, sizeof(acc[i]));
}
template <int ROWS, class Vector, int N>
ONNXC_INLINE void storeSums(const Vector (&acc)[ROWS][N], int32_t *c) {
#pragma clang loop unroll(full)
  for (int i = 0; i < ROWS; ++i)
    memcpy(c + i * kColumns, acc[i], sizeof(acc[i]));
}

// The parts of the rows: the four bytes of a quad as two numbers, made once for all columns of a panel, kQuads at a time. Bits that are 0
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

}  // namespace onnxc
