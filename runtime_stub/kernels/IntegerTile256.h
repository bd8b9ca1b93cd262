// IntegerTile256.h: the tiles of IntegerTile.h on vectors of 256 bits, 16 columns at a time: tileDots256 of AVX-VNNI, the others of AVX2,
// which adds two products of bytes to 16 bits that saturate. tileWords takes these where limits show that nothing does, tileNibbles halves
// of bytes.
#pragma once
#include "runtime_stub/kernels/TileDepth.h"

namespace onnxc {

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
          Quads8 left;
          repeatQuad<FLIP>(a[i] + at, left);
          acc[i][0] = __builtin_ia32_vpdpbusd256(acc[i][0], (Bytes32)left, (Bytes32)b[0]);
          acc[i][1] = __builtin_ia32_vpdpbusd256(acc[i][1], (Bytes32)left, (Bytes32)b[1]);
        }
      }
    }
    storeSums(acc, c + n);
  }
}

// By the most that two neighbouring bytes of one sign add up to.
struct LimitOfSum {
  uint8_t of[257] = {};
  constexpr LimitOfSum() {
    for (int sum = 1; sum <= 256; ++sum)
      of[sum] = uint8_t(sum <= INT16_MAX / 255 ? 255 : INT16_MAX / sum);
  }
};
constexpr LimitOfSum kLimitOfSum;

// The limits of `columns` columns of a panel.
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
    Quads8 left;
    repeatQuad<FLIP>(a[i] + at, left);
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
      u8x16 limit = *(const u8x16 *)(limits.of + part * limits.quads + q);
      auto above = (*(const u8x16 *)(largest + q) > limit) & (limit != 0);
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
      for (; at < end; at += 4, b += step, ++limits)
        if (__builtin_expect(*most++ > *limits, 0)) {
          if (!*limits)
            continue;
          Quads8 sums[kRows][2];
          memcpy(sums, acc, sizeof(sums));
          addLarge<FLIP>(a, at, b, sums);
          memcpy(acc, sums, sizeof(acc));
        } else {
          addWords<FLIP>(a, at, b, acc);
        }
    }
    storeSums(acc, c + n);
  }
  return true;
}

// Halves of bytes, of whose products 16 bits sum eight quads: 8 * 2 * 15 * 128 < 2^15.
template <int ROWS>
ONNXC_AVX2 __attribute__((noinline)) static void addNibbles(const Parts *a, int64_t quads, const int8_t *panel, PanelShape shape,
                                                            int32_t *c, int64_t columns, bool more) {
  constexpr int64_t kTogether = 8;
  for (int64_t n = 0; n < columns; n += 16) {
    Quads8 acc[ROWS][2] = {};
    if (more)
      loadSums(acc, c + n);
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
    storeSums(acc, c + n);
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

}  // namespace onnxc
