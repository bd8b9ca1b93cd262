// BlockTiles.h: rows of f32 times weights of 2, 4 or 8 bits in blocks on instructions that multiply bytes, for FastBlockWeights.cpp. A
// value becomes one byte over the range of its block, or three, 22 bits together, with which the product is as exact as one of f32.
//
// step   neighbouring values of a block, whose products an integer sums
// rank   a quad of a step: the weights at the same places of a word (BlockWeights.h), so that one mask of words makes it
// panel  kTileColumns columns of weights less the middle, as signed bytes: [step][rank][column][4]
#pragma once
#include "runtime_stub/kernels/BlockWeights.h"
#include "runtime_stub/kernels/IntegerTile.h"

namespace onnxc {

constexpr int64_t kTileColumns = 32;
constexpr int64_t kTileDepth = 512;  // values of a column unpacked at a time
constexpr int kTileDigitBits = 7;    // of each byte but the most significant one, which has 8

// Rows as unsigned bytes, 2^(7 DIGITS) more than what they mean: what this adds to sums, PanelSteps::starts takes away.
struct TileRows {
  uint8_t *bytes;       // [row][step][digit, most significant first][rank][4]
  float *units, *sums;  // [row][step]; sums: of the values as rounded, null where no panel has shifts
  int64_t stride;       // bytes from one row to the next
  int64_t steps;
};

// `step` values from x on, of which there are `have`, in units of 1 / inverse; `kParts`: values of a byte of weights. Gives their sum.
template <int DIGITS, int kParts>
float splitStep(const float *x, int64_t have, int64_t step, float inverse, uint8_t *to) {
  constexpr int kDown = kTileDigitBits * (DIGITS - 1);
  constexpr int32_t kOffset = 128 << kDown;
  v16 sums = v16(0.0f);
  for (int64_t i = 0; i < step; i += 16) {
    v16 values = v16(0.0f);
    if (i + 16 <= have)
      values = *(const v16 *)(x + i);
    else if (i < have)
      memcpy(&values, x + i, size_t(have - i) * sizeof(float));
    if constexpr (kParts == 2)
      values = __builtin_shufflevector(values, values, 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    if constexpr (kParts == 4)
      values = __builtin_shufflevector(values, values, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    values = __builtin_elementwise_rint(values * inverse);
    sums += values;
    i32x16 v = __builtin_convertvector(values, i32x16) + kOffset;
    unroll<0, DIGITS>([&](auto d) {
      i32x16 digit = v >> (kDown - kTileDigitBits * d.value);
      if (d.value)
        digit &= (1 << kTileDigitBits) - 1;
      *(u8x16 *)(to + d.value * step + i) = __builtin_convertvector(digit, u8x16);
    });
  }
  return __builtin_reduce_add(__builtin_convertvector(sums, i32x16));
}
// Row `row` of `to` from the `k` values of x, whose ranges are those of `block` values; a unit is NaN where one is not finite.
template <int DIGITS, int kParts>
void splitTileRow(const float *x, int64_t k, int64_t block, int64_t step, int64_t row, const TileRows &to) {
  constexpr float kMost = float((128 << kTileDigitBits * (DIGITS - 1)) - 1);
  for (int64_t first = 0; first < to.steps * step; first += block) {
    float most = largestOf(x + first, minOf(block, k - first)), inverse = 0, unit = most * 0;
    if (most >= 1e-30f && most <= __FLT_MAX__)
      inverse = kMost / most, unit = most / kMost;
    for (int64_t i = first; i < first + block; i += step) {
      float sum = splitStep<DIGITS, kParts>(x + i, k - i, step, inverse, to.bytes + row * to.stride + i * DIGITS);
      to.units[row * to.steps + i / step] = unit;
      if (to.sums)
        to.sums[row * to.steps + i / step] = sum * unit;
    }
  }
}

// Steps [first, first + count) of a panel.
struct PanelSteps {
  static constexpr int64_t kMost = kTileDepth / 16;  // steps
  int8_t *bytes;
  float *scales;    // [step][column]
  int32_t *starts;  // [step][column]: what sums begin with
  float *shifts;    // [step][column]: what the sum of a row's values is multiplied by besides, or null
  int64_t first, count, step;

  static int64_t bytesOf(int64_t count, int64_t step) {
    return count * kTileColumns * (step + int64_t(2 * sizeof(float) + sizeof(int32_t)));
  }
  // In `room`, of bytesOf(most, step).
  void place(void *room, int64_t most, bool shifted) {
    bytes = static_cast<int8_t *>(room);
    scales = reinterpret_cast<float *>(bytes + most * kTileColumns * step);
    starts = reinterpret_cast<int32_t *>(scales + most * kTileColumns);
    shifts = shifted ? reinterpret_cast<float *>(starts + most * kTileColumns) : nullptr;
  }
};

// Scales of the steps of L columns from c on, which become columns [at, at + L) of the panel, and their zero points; of columns that there
// are not: 0.
template <int BITS, int L>
void panelScales(const BlockWeights &w, int64_t c, int64_t at, const PanelSteps &to, int32_t (*zeros)[L]) {
  int64_t each = w.block / to.step, have = minOf<int64_t>(L, w.n - c), s = 0;  // each: steps of a block
  auto give = [&](const auto &scale, const auto &zero) {
    for (int64_t i = 0; i < each; ++i, ++s)
      memcpy(to.scales + s * kTileColumns + at, &scale, sizeof(scale)), memcpy(zeros[s], &zero, sizeof(zero));
  };
  while (s < to.count) {
    int64_t b = (to.first + s) / each, from = b / L * L;
    typename Square<L>::Row scales[L];
    typedef int32_t Ints __attribute__((ext_vector_type(L)));
    Ints z[L];
    if (have == L && from + 16 <= w.blocks && !w.floatZeros) {
      for (int i = 0; i < L; ++i)
        memcpy(&scales[i], w.scales + (c + i) * w.blocks + from, sizeof(scales[i]));
      transpose(scales);
      for (int i = 0; i < L; ++i)
        z[i] = Ints(int32_t(w.middle()));
      if (w.zeros) {
        typename Square<L>::Row rows[L];
        for (int i = 0; i < L; ++i) {
          v16 sixteen = sixteenZeros<BITS>(w, c + i, from);
          memcpy(&rows[i], &sixteen, sizeof(rows[i]));
        }
        transpose(rows);
        for (int i = 0; i < L; ++i)
          z[i] += __builtin_convertvector(rows[i], Ints);
      }
      for (int64_t i = b - from; i < L && s < to.count; ++i)
        give(scales[i], z[i]);
      continue;
    }
    typename Square<L>::Row scale = 0.0f;
    Ints zero = 0;
    for (int64_t i = 0; i < have; ++i)
      scale[i] = w.scales[(c + i) * w.blocks + b], zero[i] = int32_t(w.zero(c + i, b));
    give(scale, zero);
  }
}

// Columns [c, c + L) as columns [at, at + L) of the panel.
template <int BITS, int L>
void unpackSteps(const BlockWeights &w, int64_t c, int64_t at, const PanelSteps &to) {
  typedef uint32_t Words __attribute__((ext_vector_type(L)));
  typedef int32_t Ints __attribute__((ext_vector_type(L), aligned(4)));
  typedef uint8_t Bytes __attribute__((ext_vector_type(4 * L)));
  constexpr int kParts = 8 / BITS;
  constexpr int64_t kWord = 4 * kParts;  // values
  constexpr uint32_t kMask = 0x01010101u * ((1 << BITS) - 1);
  int32_t zeros[PanelSteps::kMost][L];
  panelScales<BITS, L>(w, c, at, to, zeros);
  if (to.shifts)
    for (int64_t s = 0; s < to.count; ++s)
      for (int64_t i = 0; i < L; ++i) {
        float scale = to.scales[s * kTileColumns + at + i];
        to.shifts[s * kTileColumns + at + i] = scale * (w.middle() - float(zeros[s][i]));
        zeros[s][i] = int32_t(w.middle());
      }
  int64_t wordsOfStep = to.step / kWord, s = 0, next = 0;
  int8_t *bytes = to.bytes + 4 * at;
  Words sum = 0;
  Bytes zero = 0;
  Ints minus = 0;
  for (int64_t i = 0; i < to.count * wordsOfStep;) {
    typename Square<L>::Row words[L];
    wordsOfColumns<L>(w, c, 4 * (to.first * wordsOfStep + i), words);
    for (int j = 0; j < L && i < to.count * wordsOfStep; ++j, ++i) {
      if (i == next) {
        minus = *(const Ints *)zeros[s];
        zero = __builtin_bit_cast(Bytes, Words(__builtin_convertvector(minus, Words) * 0x01010101u));
        sum = 0, next += wordsOfStep, ++s;
      }
      Words word = __builtin_bit_cast(Words, words[j]), parts = 0;
      unroll<0, kParts>([&](auto p) {
        Words part = word >> uint32_t(BITS * p.value) & kMask;
        parts += part;
        Bytes less = __builtin_bit_cast(Bytes, part) - zero;
        memcpy(bytes, &less, sizeof(less)), bytes += 4 * kTileColumns;
      });
      sum += (parts & 0x00ff00ffu) + (parts >> 8u & 0x00ff00ffu);
      if (i + 1 == next)
        *(Ints *)(to.starts + (s - 1) * kTileColumns + at) =
            (minus * int32_t(to.step) - __builtin_convertvector((sum & 0xffffu) + (sum >> 16u), Ints)) * 128;
    }
  }
}

// Adds the sums of a step to what its panel has so far, in units of `times` times the rows'.
#define ONNXC_ADD_SUMS(TIMES)                                                                                                              \
  {                                                                                                                                        \
    _Pragma("clang loop unroll(full)") for (int j = 0; j < 2; ++j)                                                                         \
        memcpy(&scale[j], p.scales + s * kTileColumns + n + j * kLanesOf, sizeof(scale[j])),                                               \
        scale[j] *= TIMES;                                                                                                                 \
    _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                                    \
      auto unit = units[i * left.steps + s] - decltype(scale[0] + scale[0]){};                                                             \
      _Pragma("clang loop unroll(full)") for (int j = 0; j < 2; ++j) acc[i][j] =                                                           \
          __builtin_elementwise_fma(__builtin_convertvector(sums[i][j], decltype(scale[0] + scale[0])), scale[j] * unit, acc[i][j]);       \
    }                                                                                                                                      \
  }
// ROWS rows from `bytes` and `units` on, over the steps of a panel; `start`: where sums begin, null to go on from c.
#define ONNXC_BLOCK_TILE(ATTRIBUTE, NAME, INTS, FLOATS, BYTES, DOT)                                                                        \
  template <int ROWS, int DIGITS, bool SPLIT>                                                                                              \
  ATTRIBUTE __attribute__((noinline)) static void NAME(const TileRows &left, int64_t row, const PanelSteps &p, float *c, int64_t stride,   \
                                                       const float *start) {                                                               \
    constexpr int kLanesOf = sizeof(INTS) / 4;                                                                                             \
    const int64_t ranks = p.step / 4;                                                                                                      \
    for (int64_t n = 0; n < kTileColumns; n += 2 * kLanesOf) {                                                                             \
      const uint8_t *a = left.bytes + row * left.stride + p.first * p.step * DIGITS;                                                       \
      const float *units = left.units + row * left.steps + p.first;                                                                        \
      const int8_t *panel = p.bytes + 4 * n;                                                                                               \
      FLOATS acc[ROWS][2];                                                                                                                 \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i)                                                                    \
          memcpy(acc[i], start ? start + n : c + i * stride + n, sizeof(acc[i]));                                                          \
      for (int64_t s = 0; s < p.count; ++s) {                                                                                              \
        FLOATS scale[2];                                                                                                                   \
        INTS sums[ROWS][2];                                                                                                                \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i)                                                                  \
            memcpy(sums[i], p.starts + s * kTileColumns + n, sizeof(sums[i]));                                                             \
        _Pragma("clang loop unroll(full)") for (int d = 0; d < DIGITS; ++d) {                                                              \
          if (SPLIT && d && d + 1 == DIGITS) {                                                                                             \
            ONNXC_ADD_SUMS(float(1 << kTileDigitBits))                                                                                     \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) sums[i][0] = sums[i][1] = INTS{};                            \
          } else if (d)                                                                                                                    \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) sums[i][0] <<= kTileDigitBits,                               \
                sums[i][1] <<= kTileDigitBits;                                                                                             \
          const int8_t *from = panel;                                                                                                      \
          for (int64_t r = 0; r < ranks; ++r, a += 4, from += 4 * kTileColumns) {                                                          \
            BYTES b[2];                                                                                                                    \
            memcpy(b, from, sizeof(b));                                                                                                    \
            _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                            \
              INTS four;                                                                                                                   \
              repeatQuad<false>(a + i * left.stride, four);                                                                                \
              sums[i][0] = (INTS)DOT(sums[i][0], (BYTES)four, b[0]);                                                                       \
              sums[i][1] = (INTS)DOT(sums[i][1], (BYTES)four, b[1]);                                                                       \
            }                                                                                                                              \
          }                                                                                                                                \
        }                                                                                                                                  \
        panel += p.step * kTileColumns;                                                                                                    \
        ONNXC_ADD_SUMS(1.0f)                                                                                                               \
        if (p.shifts) {                                                                                                                    \
          FLOATS shift[2];                                                                                                                 \
          memcpy(shift, p.shifts + s * kTileColumns + n, sizeof(shift));                                                                   \
          _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) {                                                              \
            FLOATS sum = left.sums[row * left.steps + p.first + i * left.steps + s] - FLOATS{};                                            \
            acc[i][0] = __builtin_elementwise_fma(shift[0], sum, acc[i][0]);                                                               \
            acc[i][1] = __builtin_elementwise_fma(shift[1], sum, acc[i][1]);                                                               \
          }                                                                                                                                \
        }                                                                                                                                  \
      }                                                                                                                                    \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < ROWS; ++i) memcpy(c + i * stride + n, acc[i], sizeof(acc[i]));                \
    }                                                                                                                                      \
  }
typedef float Floats16 __attribute__((vector_size(64)));
typedef float Floats8 __attribute__((vector_size(32)));
#if !defined(__aarch64__)
ONNXC_BLOCK_TILE(ONNXC_DOTS, blockDots, q16, Floats16, bytes64, ONNXC_DOT64)
ONNXC_BLOCK_TILE(ONNXC_DOTS256, blockDots256, Quads8, Floats8, Bytes32, __builtin_ia32_vpdpbusd256)

// The same on AVX2, of weights of at most 4 bits and one digit, four quads at a time in 16 bits: 4 * 2 * 255 * 15 < 2^15.
template <int ROWS>
ONNXC_AVX2 __attribute__((noinline)) static void blockPairs(const TileRows &left, int64_t row, const PanelSteps &p, float *c,
                                                            int64_t stride, const float *start) {
  constexpr int kLanesOf = 8;
  const int64_t quads = p.step / 4;
  for (int64_t n = 0; n < kTileColumns; n += 2 * kLanesOf) {
    const uint8_t *a = left.bytes + row * left.stride + p.first * p.step;
    const float *units = left.units + row * left.steps + p.first;
    const int8_t *from = p.bytes + 4 * n;
    Floats8 acc[ROWS][2], scale[2];
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
      memcpy(acc[i], start ? start + n : c + i * stride + n, sizeof(acc[i]));
    for (int64_t s = 0; s < p.count; ++s) {
      Quads8 sums[ROWS][2];
#pragma clang loop unroll(full)
      for (int i = 0; i < ROWS; ++i)
        memcpy(sums[i], p.starts + s * kTileColumns + n, sizeof(sums[i]));
      for (int64_t q = 0; q < quads; q += 4, a += 16, from += 16 * kTileColumns) {
        Words16 words[ROWS][2] = {};
#pragma clang loop unroll(full)
        for (int k = 0; k < 4; ++k) {
          Bytes32 b[2];
          memcpy(b, from + k * 4 * kTileColumns, sizeof(b));
#pragma clang loop unroll(full)
          for (int i = 0; i < ROWS; ++i) {
            Quads8 four;
            repeatQuad<false>(a + i * left.stride + 4 * k, four);
            words[i][0] += (Words16)__builtin_ia32_pmaddubsw256((Bytes32)four, b[0]);
            words[i][1] += (Words16)__builtin_ia32_pmaddubsw256((Bytes32)four, b[1]);
          }
        }
#pragma clang loop unroll(full)
        for (int i = 0; i < ROWS; ++i)
#pragma clang loop unroll(full)
          for (int j = 0; j < 2; ++j)
            sums[i][j] += (Quads8)__builtin_ia32_pmaddwd256(words[i][j], 1 - Words16{});
      }
      ONNXC_ADD_SUMS(1.0f)
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < ROWS; ++i)
      memcpy(c + i * stride + n, acc[i], sizeof(acc[i]));
  }
}
#endif
#undef ONNXC_BLOCK_TILE
#undef ONNXC_ADD_SUMS

// Whether weights of BITS bits can be multiplied by rows of DIGITS digits faster than as floats.
template <int BITS, int DIGITS>
ONNXC_INLINE bool hasTileDots(bool dots) {
#if defined(__aarch64__)
  return false;
#else
  return DIGITS > 1 ? dots && onnxc_vector_bits >= kDotBits : onnxc_vector_bits >= 256 && (dots || BITS < 8);
#endif
}
template <int BITS, int DIGITS, int ROWS>
void blockTile(bool dots, const TileRows &left, int64_t row, const PanelSteps &p, float *c, int64_t stride, const float *start) {
#if !defined(__aarch64__)
  if constexpr (BITS < 8 && DIGITS == 1)
    if (!dots)
      return blockPairs<ROWS>(left, row, p, c, stride, start);
  if (onnxc_vector_bits >= kDotBits)
    return blockDots<ROWS, DIGITS, BITS == 8>(left, row, p, c, stride, start);
  if constexpr (DIGITS == 1)
    blockDots256<ROWS, DIGITS, false>(left, row, p, c, stride, start);
#endif
}
template <int BITS>
void unpackPanel(const BlockWeights &w, int64_t c, const PanelSteps &to) {
  if (onnxc_vector_bits >= 512)
    for (int64_t at = 0; at < kTileColumns; at += 16)
      unpackSteps<BITS, 16>(w, c + at, at, to);
  else
    for (int64_t at = 0; at < kTileColumns; at += 8)
      unpackSteps<BITS, 8>(w, c + at, at, to);
}

}  // namespace onnxc
