// FastBlockWeights.cpp: MatMulNBits of f32 with 4-bit weights. Few rows: weights are multiplied as bytes (BlockDigits.h) or become floats
// in registers on their way from memory. More rows: panels of floats for Product.h. Oracle: MsMatMul.cpp, which also takes other widths and
// group indices.
#include "runtime_stub/kernels/BlockDigits.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Product.h"
#include "runtime_stub/kernels/Special.h"

extern "C" int32_t onnxc_k_MsMatMulNBits_f32(const onnxc_args *a);

namespace onnxc {
namespace {

constexpr int64_t kChunk = 32;  // weights unpacked at a time: 16 bytes
constexpr int64_t kFewRows = 3;

// Column c is bytes [c * columnBytes, …), low nibble first; its value k is (q - zero(k / block)) * scales[c * blocks + k / block].
struct BlockWeights {
  int64_t k, n, block, blocks;
  const uint8_t *bytes, *zeros;  // zeros: null means 8, else nibbles along the blocks
  const float *scales;
  int64_t columnBytes() const { return blocks * block / 2; }
  float zeroLess8(int64_t c, int64_t b) const {
    return zeros ? float((zeros[c * ((blocks + 1) / 2) + b / 2] >> (b % 2 * 4) & 15) - 8) : 0.0f;
  }
};

// Nibbles less 8, the low ones times 2^28: bit 3 of q ^ 8 is the sign of q - 8.
ONNXC_INLINE i32x16 signedNibbles(const uint8_t *from) {
  return __builtin_convertvector(__builtin_bit_cast(i8x16, *(const u8x16 *)from ^ uint8_t(0x88)), i32x16);
}
ONNXC_INLINE v16 lowNibbles(i32x16 v) { return __builtin_convertvector(v << 28, v16); }
ONNXC_INLINE v16 highNibbles(i32x16 v) { return __builtin_convertvector(v >> 4, v16); }
constexpr float kLowUnit = 0x1p-28f;

// One row of A, its values of each chunk sorted into even ones, in units of lowNibbles, and odd ones; sums[b]: the sum over block b. All
// padded with zeros.
void sortRow(const BlockWeights &w, const float *x, float *sorted, float *sums) {
  for (int64_t b = 0; b < w.blocks; ++b) {
    float sum = 0;
    for (int64_t i = b * w.block; i < (b + 1) * w.block; ++i) {
      float v = i < w.k ? x[i] : 0;
      sorted[i / kChunk * kChunk + i % 2 * 16 + i % kChunk / 2] = i % 2 ? v : v * kLowUnit;
      sum += v;
    }
    sums[b] = sum;
  }
}

// The part of a column's result that its zero points take away.
float zeroPart(const BlockWeights &w, int64_t c, const float *sums) {
  const float *scales = w.scales + c * w.blocks;
  float total = 0;
  for (int64_t b = 0; w.zeros && b < w.blocks; ++b)
    total += scales[b] * w.zeroLess8(c, b) * sums[b];
  return total;
}

// C columns from c on against one sorted row; `Chunks` of a block, 0 where only the run knows.
template <int C, int Chunks>
ONNXC_INLINE void columnsOf(const BlockWeights &w, int64_t c, const float *sorted, const float *sums, float *to) {
  int64_t chunks = Chunks ? Chunks : w.block / kChunk, stride = w.columnBytes();
  const uint8_t *from = w.bytes + c * stride;
  const float *scales = w.scales + c * w.blocks;
  v16 acc[C];
  unroll<0, C>([&](auto i) { acc[i.value] = v16(0.0f); });
  for (int64_t b = 0; b < w.blocks; ++b) {
    v16 part[C];
    for (int64_t j = 0; j < chunks; ++j, from += kChunk / 2, sorted += kChunk) {
      v16 even = *(const v16 *)sorted, odd = *(const v16 *)(sorted + 16);
      unroll<0, C>([&](auto i) {
        i32x16 v = signedNibbles(from + i.value * stride);
        v16 low = lowNibbles(v) * even;
        part[i.value] = __builtin_elementwise_fma(highNibbles(v), odd, j ? low + part[i.value] : low);
      });
    }
    unroll<0, C>(
        [&](auto i) { acc[i.value] = __builtin_elementwise_fma(part[i.value], v16(scales[i.value * w.blocks + b]), acc[i.value]); });
  }
  unroll<0, C>([&](auto i) { to[i.value] = laneSum(acc[i.value]) - zeroPart(w, c + i.value, sums); });
}

template <int C>
void columns(const BlockWeights &w, int64_t c, const float *sorted, const float *sums, float *to) {
  if (w.block == kChunk)
    columnsOf<C, 1>(w, c, sorted, sums, to);
  else
    columnsOf<C, 0>(w, c, sorted, sums, to);
}

int32_t fewRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  int64_t padded = w.blocks * w.block;
  float *sorted = heap<float>(a, rows * (padded + w.blocks + 16));
  if (!sorted)
    return ONNXC_K_MEMORY;
  float *sums = sorted + rows * padded, *y = out<float>(a, 0);
  for (int64_t r = 0; r < rows; ++r)
    sortRow(w, in<float>(a, 0) + r * w.k, sorted + r * padded, sums + r * w.blocks);
  constexpr int C = 4;
  return parallelFor(a, (w.n + C - 1) / C, grainOf(C * w.k * rows / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t c = begin * C; c < minOf(end * C, w.n); c += C)
      for (int64_t r = 0; r < rows; ++r) {
        float *to = y + r * w.n + c;
        int64_t have = minOf<int64_t>(C, w.n - c);
        if (have == C)
          columns<C>(w, c, sorted + r * padded, sums + r * w.blocks, to);
        for (int64_t i = 0; have < C && i < have; ++i)
          columns<1>(w, c + i, sorted + r * padded, sums + r * w.blocks, to + i);
        for (int64_t i = 0; bias && i < have; ++i)
          to[i] += bias[c + i];
      }
    return ONNXC_K_OK;
  });
}

template <int DIGITS, int SCALES>
int32_t digitRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  int64_t groups = w.k / kGroup, each = DigitRow<DIGITS>::bytes(groups);
  char *room = heap<char>(a, rows * each);
  DigitRow<DIGITS> *split = heap<DigitRow<DIGITS>>(a, rows);
  if (!room || !split)
    return ONNXC_K_MEMORY;
  bool dots = hasDots(a);
  for (int64_t r = 0; r < rows; ++r) {
    split[r].place(room + r * each, groups);
    if (!splitRow(in<float>(a, 0) + r * w.k, groups, w.block, split[r]))
      return fewRows(a, w, rows, bias);
    totalRow(dots, split[r], groups);
  }
  constexpr int C = kDigitColumns;
  float *y = out<float>(a, 0);
  return parallelFor(a, (w.n + C - 1) / C, grainOf(C * w.k * rows / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u)
      for (int64_t r = 0; r < rows; ++r) {
        int64_t c = minOf(u * C, w.n - C);  // the last ones overlap those before them
        DigitColumns columns{w.bytes + c * 64 * groups, w.zeros ? w.zeros + c * ((w.blocks + 1) / 2) : nullptr, w.scales + c * w.blocks,
                             groups};
        float lanes[C * 16], *to = y + r * w.n + c;
        digitProducts<DIGITS, SCALES>(dots, split[r], columns, lanes);
        for (int64_t i = u * C - c; i < C; ++i)
          to[i] = laneSum(*(const v16 *)(lanes + i * 16)) + (bias ? bias[c + i] : 0);
      }
    return ONNXC_K_OK;
  });
}
// Whether the weights lie in whole groups, and these in whole blocks.
bool hasGroups(const Args *a, const BlockWeights &w) {
  return hasDigits(a) && w.n >= kDigitColumns && w.k % kGroup == 0 && w.k == w.blocks * w.block && kGroup % w.block == 0;
}
template <int DIGITS>
int32_t digitProduct(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  return w.block == 32   ? digitRows<DIGITS, 4>(a, w, rows, bias)
         : w.block == 64 ? digitRows<DIGITS, 2>(a, w, rows, bias)
                         : digitRows<DIGITS, 1>(a, w, rows, bias);
}

// Values [k, k + depth) of column c; k and depth in whole chunks but at the end.
void unpackColumn(const BlockWeights &w, int64_t c, int64_t k, int64_t depth, float *to) {
  for (int64_t i = 0; i < depth; i += kChunk) {
    int64_t b = (k + i) / w.block;
    float scale = w.scales[c * w.blocks + b];
    v16 zero = v16(w.zeroLess8(c, b));
    i32x16 v = signedNibbles(w.bytes + c * w.columnBytes() + (k + i) / 2);
    v16 even = (lowNibbles(v) * kLowUnit - zero) * scale, odd = (highNibbles(v) - zero) * scale;
    for (int64_t j = 0; j < minOf(depth - i, kChunk); ++j)
      to[i + j] = j % 2 ? odd[j / 2] : even[j / 2];
  }
}

int32_t manyRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  const float *x = in<float>(a, 0);
  float *start = rowStarts(a, rows, nullptr), *y = out<float>(a, 0), column[kDepthBlock + kChunk];
  if (!start)
    return ONNXC_K_MEMORY;
  ONNXC_TRY(product(
      a, rows, w.n, w.k, y, w.n, start,
      [&](float *to, int64_t row, int64_t k, int64_t width, int64_t depth) { packPanel(to, x, rows, row, w.k, k, 1, width, depth); },
      [&](float *to, int64_t col, int64_t k, int64_t width, int64_t depth) {
        for (int64_t i = 0; i < width; ++i) {
          if (col + i < w.n)
            unpackColumn(w, col + i, k, depth, column);
          else
            memset(column, 0, size_t(depth) * sizeof(float));
          for (int64_t d = 0; d < depth; ++d)
            to[d * width + i] = column[d];
        }
      }));
  for (int64_t i = 0; bias && i < rows; ++i)
    for (int64_t j = 0; j < w.n; ++j)
      y[i * w.n + j] += bias[j];
  return ONNXC_K_OK;
}

int32_t matMulNBits(const Args *a) {
  enum { A, B, Scales, ZeroPoints, GroupIndex, Bias };
  enum { K, N, Bits, BlockSize, Accuracy };
  constexpr int64_t kInt8 = 4;  // accuracy_level: A may be rounded to 8 bits
  BlockWeights w{a->attr[K].i, a->attr[N].i, a->attr[BlockSize].i, 0, in<uint8_t>(a, B), nullptr, in<float>(a, Scales)};
  bool zeros = hasIn(a, ZeroPoints), plain = a->attr[Bits].i == 4 && !hasIn(a, GroupIndex) && w.block >= kChunk && w.block % kChunk == 0;
  bool small = w.k >= 1 && w.k < kSizeLimit && w.n >= 1 && w.n < kSizeLimit && w.block < kSizeLimit;
  if (!plain || !small || (zeros && a->in[ZeroPoints].dtype != ONNXC_U8))
    return onnxc_k_MsMatMulNBits_f32(a);
  w.blocks = ceilDiv(w.k, w.block);
  if (a->in[A].rank < 1 || a->in[A].dims[a->in[A].rank - 1] != w.k || onnxc_count(a->in[B]) != w.n * w.columnBytes() ||
      onnxc_count(a->in[Scales]) != w.n * w.blocks || (zeros && onnxc_count(a->in[ZeroPoints]) != w.n * ((w.blocks + 1) / 2)) ||
      (hasIn(a, Bias) && onnxc_count(a->in[Bias]) != w.n))
    return ONNXC_K_SHAPE;
  w.zeros = zeros ? in<uint8_t>(a, ZeroPoints) : nullptr;
  const float *bias = hasIn(a, Bias) ? in<float>(a, Bias) : nullptr;
  int64_t rows = onnxc_count(a->in[A]) / w.k;
  if (rows > kFewRows)
    return manyRows(a, w, rows, bias);
  if (!hasGroups(a, w))
    return fewRows(a, w, rows, bias);
  return a->attr[Accuracy].i == kInt8 ? digitProduct<2>(a, w, rows, bias) : digitProduct<3>(a, w, rows, bias);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMsMatMulNBits(const onnxc_args *a) { return onnxc::matMulNBits(a); }
