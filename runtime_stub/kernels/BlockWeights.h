// BlockWeights.h: the right matrix of MatMulNBits, of 2, 4 or 8 bits a weight, and panels of floats made of it. For FastBlockWeights.cpp.
//
// word  32 bits of a column: 16, 8 or 4 neighbouring weights, the first in its lowest bits
// Blocks are of whole words (BlockWeights::fits).
#pragma once
#include "runtime_stub/kernels/Product.h"
#include "runtime_stub/kernels/Transpose.h"

namespace onnxc {

// Column c is bytes [c * columnBytes(), …); its value k is (q - zero(k / block)) * scales[c * blocks + k / block].
struct BlockWeights {
  int64_t k, n, bits, block, blocks;
  const uint8_t *bytes, *zeros;  // zeros: null, or packed along the blocks as the weights are along the depth
  const float *scales, *floatZeros;

  int64_t columnBytes() const { return blocks * block * bits / 8; }
  int64_t zeroBytes() const { return (blocks * bits + 7) / 8; }
  float middle() const { return float(1 << (bits - 1)); }  // the zero point where none are given
  // The zero point of block b of column c.
  float zero(int64_t c, int64_t b) const {
    if (floatZeros)
      return floatZeros[c * blocks + b];
    int64_t bit = b * bits;
    return zeros ? float(zeros[c * zeroBytes() + bit / 8] >> bit % 8 & ((1 << bits) - 1)) : middle();
  }
  // Whether blocks and sixteen bytes of a column are whole multiples of one another.
  bool fits() const {
    int64_t sixteen = bits ? 128 / bits : 0;
    return (bits == 2 || bits == 4 || bits == 8) && block >= 16 && (block % sixteen == 0 || sixteen % block == 0);
  }
};

// The zero points of sixteen blocks from b on, a multiple of sixteen, of column c, less the middle.
template <int BITS>
ONNXC_INLINE v16 sixteenZeros(const BlockWeights &w, int64_t c, int64_t b) {
  if (w.floatZeros)
    return *(const v16 *)(w.floatZeros + c * w.blocks + b) - w.middle();
  const uint8_t *from = w.zeros + c * w.zeroBytes() + b * BITS / 8;
  constexpr int kBytes = 2 * BITS;
  typedef uint8_t Bytes __attribute__((ext_vector_type(kBytes), aligned(1)));
  i32x16 q;
  Bytes v = *(const Bytes *)from;
  if constexpr (BITS == 8)
    q = __builtin_convertvector(v, i32x16);
  else if constexpr (BITS == 4)
    q = __builtin_convertvector(__builtin_shufflevector(v, v, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), i32x16) >>
            i32x16{0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4} &
        15;
  else
    q = __builtin_convertvector(__builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3), i32x16) >>
            i32x16{0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6} &
        3;
  return __builtin_convertvector(q, v16) - w.middle();
}

// The scales and zero points of the blocks that values [k, k + depth) of L columns lie in.
template <int L>
struct PanelBlocks {
  static constexpr int64_t kMost = kDepthBlock / 16 + 1;
  float scales[kMost][L], zeros[kMost][L];  // of columns that there are not: 0

  void read(const BlockWeights &w, int64_t c, int64_t k, int64_t depth) {
    int64_t first = k / w.block, count = (k + depth - 1) / w.block + 1 - first, have = minOf<int64_t>(L, w.n - c);
    if (have < L)
      memset(scales, 0, sizeof(scales)), memset(zeros, 0, sizeof(zeros));
    for (int64_t i = 0; i < have; ++i)
      for (int64_t b = 0; b < count; ++b) {
        scales[b][i] = w.scales[(c + i) * w.blocks + first + b];
        zeros[b][i] = w.zero(c + i, first + b);
      }
  }
};

// The words [at / 4, at / 4 + L) of L columns from c on, one vector a word, as bits of floats; zeros behind a column and for columns that
// there are not.
template <int L, class Row>
ONNXC_INLINE void wordsOfColumns(const BlockWeights &w, int64_t c, int64_t at, Row (&words)[L]) {
  const uint8_t *from = w.bytes + c * w.columnBytes() + at;
  int64_t stride = w.columnBytes(), rest = stride - at;
  if (rest >= 4 * L && c + L <= w.n)
    for (int i = 0; i < L; ++i)
      memcpy(&words[i], from + i * stride, 4 * L);
  else
    for (int i = 0; i < L; ++i) {
      words[i] = Row(0.0f);
      if (c + i < w.n)
        memcpy(&words[i], from + i * stride, size_t(minOf<int64_t>(rest, 4 * L)));
    }
  transpose(words);
}

// Values [k, k + depth) of L columns from c on, `width` floats from one step of the depth to the next; k and block in whole words.
template <int BITS, int L>
void unpackColumns(const BlockWeights &w, int64_t c, int64_t k, int64_t depth, float *to, int64_t width) {
  typedef float Floats __attribute__((ext_vector_type(L), aligned(4)));
  typedef int32_t Ints __attribute__((ext_vector_type(L)));
  typedef uint32_t Words __attribute__((ext_vector_type(L)));
  constexpr int kValues = 32 / BITS;  // of a word
  constexpr uint32_t kMask = (1u << BITS) - 1;
  PanelBlocks<L> blocks;
  blocks.read(w, c, k, depth);
  int64_t b = 0, next = (k / w.block + 1) * w.block - k;  // where the next block begins
  for (int64_t d = 0; d < depth;) {
    typename Square<L>::Row words[L];
    wordsOfColumns<L>(w, c, (k + d) * BITS / 8, words);
    for (int i = 0; i < L && d < depth; ++i) {
      if (d == next)
        ++b, next += w.block;
      Words word = __builtin_bit_cast(Words, words[i]);
      Floats scale = *(const Floats *)blocks.scales[b], zero = *(const Floats *)blocks.zeros[b];
      auto store = [&](int64_t j) {
        Ints q = __builtin_bit_cast(Ints, word >> uint32_t(BITS * j) & kMask);
        *(Floats *)(to + (d + j) * width) = (__builtin_convertvector(q, Floats) - zero) * scale;
      };
      if (d + kValues <= depth)
        unroll<0, kValues>([&](auto j) { store(j.value); });
      else
        for (int64_t j = 0; j < depth - d; ++j)
          store(j);
      d += kValues;
    }
  }
}

// Panels of the left matrix, all of a depth block before those of the next.
struct LeftPanels {
  const float *data, *start;  // start: of panelTiles()
  int64_t rows, count;        // count: of panels
};

// Columns [c, c + width) of C[rows, n] = left panels x weights + bias; `right`: a depth block of `width` columns, in panels.
template <int BITS, int MR, int NV>
void panelColumns(const BlockWeights &w, const LeftPanels &left, int64_t c, int64_t width, float *right, float *y, const float *bias) {
  constexpr int64_t NR = NV * kLanes;
  constexpr int L = NV > 1 ? 16 : 8;  // lanes of the target
  for (int64_t k = 0; k < w.k; k += kDepthBlock) {
    int64_t depth = minOf(kDepthBlock, w.k - k);
    for (int64_t j = 0; j < (width + NR - 1) / NR * NR; j += L)
      unpackColumns<BITS, L>(w, c + j, k, depth, right + j / NR * NR * depth + j % NR, NR);
    panelTiles<MR, NV>(left.data + k * left.count * MR, right, left.rows, width, depth, y + c, w.n, k ? nullptr : left.start);
  }
  for (int64_t r = 0; bias && r < left.rows; ++r)
    for (int64_t j = 0; j < width; ++j)
      y[r * w.n + c + j] += bias[c + j];
}

// The largest magnitude of n values; infinity or NaN where one is not finite.
ONNXC_INLINE float largestOf(const float *x, int64_t n) {
  v16 mosts = v16(0.0f);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v16 v = __builtin_elementwise_abs(*(const v16 *)(x + i));
    mosts = ((v > mosts) | (v != v)) ? v : mosts;  // NaN stays
  }
  float most = 0;
  for (int l = 0; l < 16; ++l)
    most = mosts[l] > most || mosts[l] != mosts[l] ? mosts[l] : most;
  for (; i < n; ++i)
    most = __builtin_fabsf(x[i]) > most || x[i] != x[i] ? __builtin_fabsf(x[i]) : most;
  return most;
}

}  // namespace onnxc
