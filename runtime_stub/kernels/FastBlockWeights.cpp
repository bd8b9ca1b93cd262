// FastBlockWeights.cpp: MatMulNBits of f32 with weights of 2, 4 or 8 bits. Few rows: weights of 4 and 8 bits are multiplied as
// bytes (BlockDigits.h), others become floats in registers on their way from memory. More rows: bytes (BlockTiles.h) or panels of floats
// (BlockWeights.h). Oracle: MsMatMul.cpp, which also takes other blocks and group indices.
#include "runtime_stub/kernels/BlockDigits.h"
#include "runtime_stub/kernels/BlockTiles.h"
#include "runtime_stub/kernels/BlockWeights.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

extern "C" int32_t onnxc_k_MsMatMulNBits_f32(const onnxc_args *a);

namespace onnxc {
namespace {

constexpr int64_t kFewRows = 3;  // at most; more take less time in panels
template <int BITS>
constexpr int64_t kDigitRows = BITS == 4 ? 6 : 3;                                // the same
ONNXC_INLINE int64_t mostRounded() { return onnxc_vector_bits >= 512 ? 8 : 6; }  // and where they are rounded to 8 bits
constexpr int64_t kChunk = 16;                                                   // bytes of a column unpacked at a time
template <int BITS>
constexpr int kParts = 8 / BITS;  // values of a byte
template <int BITS>
constexpr int64_t kValues = kChunk * kParts<BITS>;  // of a chunk

// Values less the middle, each in the low bits of a lane's byte, below the sign: bit BITS - 1 of q ^ middle is the sign of q - middle.
template <int BITS>
ONNXC_INLINE i32x16 signedBytes(const uint8_t *from) {
  constexpr uint8_t kMiddles = BITS == 2 ? 0xaa : BITS == 4 ? 0x88 : 0x80;
  return __builtin_convertvector(__builtin_bit_cast(i8x16, *(const u8x16 *)from ^ kMiddles), i32x16);
}
// Part J of each byte, in units of kUnit.
template <int BITS, int J>
ONNXC_INLINE v16 partOf(i32x16 bytes) {
  constexpr int kUp = 32 - BITS * (J + 1);
  if constexpr (J == kParts<BITS> - 1)
    return __builtin_convertvector(bytes >> BITS * J, v16);
  else if constexpr (J == 0)
    return __builtin_convertvector(bytes << kUp, v16);
  else
    return __builtin_convertvector(bytes << kUp & int32_t(~0u << (32 - BITS)), v16);
}
template <int BITS, int J>
constexpr float kUnit = J == kParts<BITS> - 1 ? 1.0f : 1.0f / (1u << (32 - BITS));

// One row of A, its values of each chunk sorted by parts, in units of partOf(); sums[b]: the sum over block b. All padded with zeros. False
// where a sum is not finite: what zero points take away would be NaN.
template <int BITS>
bool sortRow(const BlockWeights &w, const float *x, float *sorted, float *sums) {
  float finite = 0;
  for (int64_t b = 0; b < w.blocks; ++b) {
    float sum = 0;
    for (int64_t i = b * w.block; i < (b + 1) * w.block; ++i) {
      float v = i < w.k ? x[i] : 0;
      int64_t part = i % kParts<BITS>;
      sorted[i / kValues<BITS> * kValues<BITS> + part * 16 + i % kValues<BITS> / kParts<BITS>] =
          part == kParts<BITS> - 1 ? v : v * kUnit<BITS, 0>;
      sum += v;
    }
    sums[b] = sum;
    finite += sum * 0;
  }
  return finite == 0;
}

// The part of a column's result that its zero points take away.
template <int BITS>
float zeroPart(const BlockWeights &w, int64_t c, const float *sums) {
  if (!w.zeros && !w.floatZeros)
    return 0;
  const float *scales = w.scales + c * w.blocks;
  v16 total = v16(0.0f);
  float rest = 0;
  int64_t b = 0;
  for (; b + 16 <= w.blocks; b += 16)
    total += *(const v16 *)(scales + b) * *(const v16 *)(sums + b) * sixteenZeros<BITS>(w, c, b);
  for (; b < w.blocks; ++b)
    rest += scales[b] * (w.zero(c, b) - w.middle()) * sums[b];
  return laneSum(total) + rest;
}

// The products of a chunk of C columns, `stride` bytes apart, with a sorted row; added to those in `part` where `more`.
template <int BITS, int C>
ONNXC_INLINE void chunkProducts(const uint8_t *from, int64_t stride, const float *sorted, bool more, v16 (&part)[C]) {
  v16 row[kParts<BITS>];
  memcpy(row, sorted, sizeof(row));
  unroll<0, C>([&](auto i) {
    i32x16 bytes = signedBytes<BITS>(from + i.value * stride);
    v16 first = partOf<BITS, 0>(bytes) * row[0], &to = part[i.value];
    to = more ? to + first : first;
    unroll<1, kParts<BITS>>([&](auto j) { to = multiplyAdd(partOf<BITS, j.value>(bytes), row[j.value], to); });
  });
}

// C columns from c on against one sorted row; SPLIT: blocks of a chunk, of which blocks have `Chunks`, 0 where only the run knows.
template <int BITS, int C, int SPLIT, int Chunks>
ONNXC_INLINE void columnsOf(const BlockWeights &w, int64_t c, const float *sorted, const float *sums, float *to) {
  int64_t chunks = Chunks ? Chunks : w.block / kValues<BITS>, stride = w.columnBytes();
  const uint8_t *from = w.bytes + c * stride;
  const float *scales = w.scales + c * w.blocks;
  v16 acc[C], part[C];
  unroll<0, C>([&](auto i) { acc[i.value] = v16(0.0f); });
  auto add = [&](const float *scales, int64_t stride) {
    unroll<0, C>([&](auto i) {
      v16 scale;
      laneScales<SPLIT>(scales + i.value * stride, scale);
      acc[i.value] = multiplyAdd(part[i.value], scale, acc[i.value]);
    });
  };
  int64_t b = 0;
  for (; b + SPLIT <= w.blocks; b += SPLIT) {
    for (int64_t j = 0; j < chunks; ++j, from += kChunk, sorted += kValues<BITS>)
      chunkProducts<BITS>(from, stride, sorted, j, part);
    add(scales + b, w.blocks);
  }
  if (SPLIT > 1 && b < w.blocks) {
    uint8_t bytes[C][kChunk] = {};
    float rest[C][SPLIT] = {};
    for (int i = 0; i < C; ++i) {
      memcpy(bytes[i], from + i * stride, size_t((w.blocks - b) * w.block * BITS / 8));
      memcpy(rest[i], scales + i * w.blocks + b, size_t(w.blocks - b) * sizeof(float));
    }
    chunkProducts<BITS>(bytes[0], kChunk, sorted, false, part);
    add(rest[0], SPLIT);
  }
  unroll<0, C>([&](auto i) { to[i.value] = laneSum(acc[i.value]) - zeroPart<BITS>(w, c + i.value, sums); });
}

template <int BITS, int C>
void columns(const BlockWeights &w, int64_t c, const float *sorted, const float *sums, float *to) {
  if (w.block == kValues<BITS>)
    return columnsOf<BITS, C, 1, 1>(w, c, sorted, sums, to);
  if constexpr (BITS < 8)
    if (w.block == kValues<BITS> / 2)
      return columnsOf<BITS, C, 2, 1>(w, c, sorted, sums, to);
  if constexpr (BITS < 4)
    if (w.block == kValues<BITS> / 4)
      return columnsOf<BITS, C, 4, 1>(w, c, sorted, sums, to);
  columnsOf<BITS, C, 1, 0>(w, c, sorted, sums, to);
}

template <int BITS>
int32_t manyRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias);

template <int BITS>
int32_t fewRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  int64_t padded = ceilDiv(w.blocks * w.block, kValues<BITS>) * kValues<BITS>;
  float *sorted = heap<float>(a, rows * (padded + w.blocks));
  if (!sorted)
    return ONNXC_K_MEMORY;
  float *sums = sorted + rows * padded, *y = out<float>(a, 0);
  for (int64_t r = 0; r < rows; ++r)
    if (!sortRow<BITS>(w, in<float>(a, 0) + r * w.k, sorted + r * padded, sums + r * w.blocks))
      return manyRows<BITS>(a, w, rows, bias);
  constexpr int C = 4;
  return parallelFor(a, (w.n + C - 1) / C, grainOf(C * w.k * rows / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t c = begin * C; c < minOf(end * C, w.n); c += C)
      for (int64_t r = 0; r < rows; ++r) {
        float *to = y + r * w.n + c;
        int64_t have = minOf<int64_t>(C, w.n - c);
        if (have == C)
          columns<BITS, C>(w, c, sorted + r * padded, sums + r * w.blocks, to);
        for (int64_t i = 0; have < C && i < have; ++i)
          columns<BITS, 1>(w, c + i, sorted + r * padded, sums + r * w.blocks, to + i);
        for (int64_t i = 0; bias && i < have; ++i)
          to[i] += bias[c + i];
      }
    return ONNXC_K_OK;
  });
}

// Its units are kDigitColumns columns each, of which the last ones may be the unit's before, too.
template <int BITS, int DIGITS, int SCALES>
struct DigitProblem {
  using Row = DigitRow<BITS, DIGITS>;
  const BlockWeights &w;
  const Row *rows;
  int64_t groups;
  const float *bias;
  float *y;
  bool dots;

  template <int COUNT>
  void products(int64_t r, int64_t unit) const {
    constexpr int C = kDigitColumns;
    int64_t c = minOf(unit * C, w.n - C);
    float lanes[COUNT * C * 16];
    DigitColumns columns{w.bytes + c * 64 * groups,
                         w.zeros ? w.zeros + c * w.zeroBytes() : nullptr,
                         w.scales + c * w.blocks,
                         groups,
                         SCALES > 1 ? 1 : groups / w.blocks,
                         w.blocks,
                         w.zeroBytes()};
    digitProducts<BITS, DIGITS, SCALES, COUNT>(dots, rows + r, columns, lanes);
    for (int64_t i = 0; i < COUNT; ++i)
      for (int64_t j = unit * C - c; j < C; ++j)
        y[(r + i) * w.n + c + j] = laneSum(*(const v16 *)(lanes + (i * C + j) * 16)) + (bias ? bias[c + j] : 0);
  }
  // Of `count` rows from r on.
  void products(int64_t r, int64_t count, int64_t unit) const {
    if constexpr (DIGITS > 1)
      products<1>(r, unit);
    else if (count == 4)
      products<4>(r, unit);
    else  // rows of one digit are at least two
      count == 3 ? products<3>(r, unit) : products<2>(r, unit);
  }
};

template <int BITS, int DIGITS, int SCALES>
int32_t digitRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  using Row = DigitRow<BITS, DIGITS>;
  constexpr int64_t C = kDigitColumns, kMostRows = DIGITS > 1 ? 1 : 4;  // at once
  constexpr int64_t kNear = 8;  // units that all rows meet while the second-level cache holds their weights
  int64_t groups = w.k / kGroup<BITS>, each = Row::bytes(groups), range = maxOf<int64_t>(32, minOf<int64_t>(w.block, 128));
  char *room = heap<char>(a, rows * each);
  Row *split = heap<Row>(a, rows);
  if (!room || !split)
    return ONNXC_K_MEMORY;
  bool dots = hasDots(a);
  for (int64_t r = 0; r < rows; ++r) {
    split[r].place(room + r * each, groups);
    if (!splitRow(in<float>(a, 0) + r * w.k, groups, range, split[r]))
      return fewRows<BITS>(a, w, rows, bias);
    totalRow(dots, split[r], groups);
  }
  DigitProblem<BITS, DIGITS, SCALES> problem{w, split, groups, bias, out<float>(a, 0), dots};
  return parallelFor(a, (w.n + C - 1) / C, grainOf(C * w.k * rows / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t first = begin; first < end; first += kNear)
      for (int64_t r = 0, count; r < rows; r += count) {
        count = ceilDiv(rows - r, ceilDiv(rows - r, kMostRows));
        for (int64_t u = first; u < minOf(first + kNear, end); ++u)
          problem.products(r, count, u);
      }
    return ONNXC_K_OK;
  });
}
// Whether the weights lie in whole groups and ranges, and blocks and groups are whole multiples of one another.
template <int BITS>
bool hasGroups(const Args *a, const BlockWeights &w) {
  constexpr int64_t kG = kGroup<BITS>;
  return hasDigits<BITS>(a) && w.n >= kDigitColumns && w.k % kG == 0 && w.k == w.blocks * w.block &&
         (kG % w.block == 0 || w.block % kG == 0) && (w.block <= 128 || w.block % 128 == 0) && !w.floatZeros;
}
template <int BITS, int DIGITS>
int32_t digitProduct(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  switch (maxOf<int64_t>(1, kGroup<BITS> / w.block)) {
  case 8:
    if constexpr (BITS == 4)
      return digitRows<BITS, DIGITS, 8>(a, w, rows, bias);
    break;
  case 4:
    return digitRows<BITS, DIGITS, 4>(a, w, rows, bias);
  case 2:
    return digitRows<BITS, DIGITS, 2>(a, w, rows, bias);
  }
  return digitRows<BITS, DIGITS, 1>(a, w, rows, bias);
}

constexpr int64_t kGroupBytes = 1 << 20;  // of rows that the second-level cache holds while all columns pass by

// Values of a step of tiles, whose products 32 bits sum; 0 where none fits.
template <int BITS, int DIGITS>
int64_t stepOf(const Args *a, const BlockWeights &w) {
  constexpr int64_t kMost = BITS < 8 && DIGITS > 1 ? 64 : 128;
  if (!hasTileDots<BITS, DIGITS>(hasDots(a)) || w.floatZeros || w.block > kTileDepth || (DIGITS > 1 && w.block < 32))
    return 0;
  int64_t step = w.block;
  while (step > kMost)
    step /= 2;
  return step % 16 == 0 && w.block % step == 0 ? step : 0;
}

// Rows [first, first + count) of columns [c, c + have), with c + have = n or have = kTileColumns.
template <int BITS, int DIGITS, int ROWS>
void byteColumns(const BlockWeights &w, const TileRows &left, int64_t first, int64_t count, int64_t c, const float *bias, PanelSteps panel,
                 int64_t most, bool dots, float *y) {
  int64_t have = minOf(kTileColumns, w.n - c);
  float start[kTileColumns] = {}, edge[ROWS * kTileColumns];
  if (bias)
    memcpy(start, bias + c, size_t(have) * sizeof(float));
  for (panel.first = 0; panel.first < left.steps; panel.first += most) {
    panel.count = minOf(most, left.steps - panel.first);
    unpackPanel<BITS>(w, c, panel);
    const float *begin = panel.first ? nullptr : start;
    for (int64_t r = first; r < first + count; r += ROWS) {
      float *to = y + r * w.n + c;
      int64_t h = minOf<int64_t>(ROWS, first + count - r);
      if (h == ROWS && have == kTileColumns) {
        blockTile<BITS, DIGITS, ROWS>(dots, left, r, panel, to, w.n, begin);
        continue;
      }
      for (int64_t i = 0; !begin && i < h; ++i)
        memcpy(edge + i * kTileColumns, to + i * w.n, size_t(have) * sizeof(float));
      blockTile<BITS, DIGITS, ROWS>(dots, left, r, panel, edge, kTileColumns, begin);
      for (int64_t i = 0; i < h; ++i)
        memcpy(to + i * w.n, edge + i * kTileColumns, size_t(have) * sizeof(float));
    }
  }
}

template <int BITS, int DIGITS, int ROWS>
int32_t byteRows(const Args *a, const BlockWeights &w, int64_t rows, int64_t step, const float *bias) {
  const float *x = in<float>(a, 0);
  int64_t padded = ceilDiv(rows, ROWS) * ROWS, steps = w.blocks * (w.block / step), stride = steps * step * DIGITS + 64;
  bool shifted = BITS == 8 && w.zeros, dots = hasDots(a);
  TileRows left{heap<uint8_t>(a, padded * stride), heap<float>(a, padded * steps), shifted ? heap<float>(a, padded * steps) : nullptr,
                stride, steps};
  if (!left.bytes || !left.units || (shifted && !left.sums))
    return ONNXC_K_MEMORY;
  ONNXC_TRY(parallelFor(a, rows, grainOf(w.k * DIGITS), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t r = begin; r < end; ++r)
      splitTileRow<DIGITS, 8 / BITS>(x + r * w.k, w.k, w.block, step, r, left);
    return ONNXC_K_OK;
  }));
  for (int64_t i = 0; i < rows * steps; ++i)
    if (left.units[i] != left.units[i])
      return manyRows<BITS>(a, w, rows, bias);
  int64_t most = kTileDepth / w.block * (w.block / step), group = maxOf<int64_t>(kGroupBytes / stride, 8 * ROWS) / ROWS * ROWS;
  float *y = out<float>(a, 0);
  return parallelScratchFor(a, ceilDiv(w.n, kTileColumns), grainOf(kTileColumns * w.k * DIGITS * (rows + 8) / 64),
                            PanelSteps::bytesOf(most, step), [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              PanelSteps panel{};
                              panel.step = step, panel.place(scratch, most, shifted);
                              for (int64_t r = 0; r < rows; r += group)
                                for (int64_t u = begin; u < end; ++u)
                                  byteColumns<BITS, DIGITS, ROWS>(w, left, r, minOf(group, rows - r), u * kTileColumns, bias, panel, most,
                                                                  dots, y);
                              return ONNXC_K_OK;
                            });
}

template <int BITS, int DIGITS>
int32_t byteRows(const Args *a, const BlockWeights &w, int64_t rows, int64_t step, const float *bias) {
  int64_t most = onnxc_vector_bits >= 512 ? 6 : 3, high = ceilDiv(rows, ceilDiv(rows, most));
  if (onnxc_vector_bits < 512)
    return byteRows<BITS, DIGITS, 3>(a, w, rows, step, bias);
  return high > 4 ? byteRows<BITS, DIGITS, 6>(a, w, rows, step, bias) : byteRows<BITS, DIGITS, 4>(a, w, rows, step, bias);
}

template <int BITS, int MR, int NV>
int32_t panelRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  constexpr int64_t kUnit = 64;  // columns
  const float *x = in<float>(a, 0);
  int64_t panels = ceilDiv(rows, MR);
  float *data = heap<float>(a, panels * MR * w.k), *start = rowStarts(a, rows, nullptr), *y = out<float>(a, 0);
  if (!data || !start)
    return ONNXC_K_MEMORY;
  ONNXC_TRY(parallelFor(a, panels, grainOf(MR * w.k), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t k = 0; k < w.k; k += kDepthBlock) {
      int64_t depth = minOf(kDepthBlock, w.k - k);
      for (int64_t p = begin; p < end; ++p)
        packPanel(data + k * panels * MR + p * MR * depth, x, rows, p * MR, w.k, k, 1, MR, depth);
    }
    return ONNXC_K_OK;
  }));
  return parallelScratchFor(a, ceilDiv(w.n, kUnit), grainOf(kUnit * w.k * (rows + 8) / 16), kUnit * kDepthBlock * int64_t(sizeof(float)),
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              for (int64_t c = begin * kUnit; c < minOf(end * kUnit, w.n); c += kUnit)
                                panelColumns<BITS, MR, NV>(w, {data, start, rows, panels}, c, minOf(kUnit, w.n - c),
                                                           static_cast<float *>(scratch), y, bias);
                              return ONNXC_K_OK;
                            });
}
// In panels of equal height, as high as registers allow.
template <int BITS>
int32_t manyRows(const Args *a, const BlockWeights &w, int64_t rows, const float *bias) {
  int64_t most = onnxc_vector_bits >= 512 ? 12 : 6, high = ceilDiv(rows, ceilDiv(rows, most));
  if (onnxc_vector_bits >= 512)
    return high > 8   ? panelRows<BITS, 12, 2>(a, w, rows, bias)
           : high > 4 ? panelRows<BITS, 8, 2>(a, w, rows, bias)
                      : panelRows<BITS, 4, 2>(a, w, rows, bias);
  return high > 4 ? panelRows<BITS, 6, 1>(a, w, rows, bias) : panelRows<BITS, 4, 1>(a, w, rows, bias);
}

template <int BITS>
int32_t rowsOf(const Args *a, const BlockWeights &w, int64_t rows, const float *bias, bool rounds) {
  if constexpr (BITS >= 4)
    if (rows <= (rounds ? mostRounded() : kDigitRows<BITS>) && hasGroups<BITS>(a, w))
      return !rounds    ? digitProduct<BITS, 3>(a, w, rows, bias)
             : rows > 1 ? digitProduct<BITS, 1>(a, w, rows, bias)
                        : digitProduct<BITS, 2>(a, w, rows, bias);  // memory gives one row no faster
  if (rows <= kFewRows)
    return fewRows<BITS>(a, w, rows, bias);
  if (int64_t step = rounds ? stepOf<BITS, 1>(a, w) : 0)
    return byteRows<BITS, 1>(a, w, rows, step, bias);
  if (int64_t step = stepOf<BITS, 3>(a, w); step && !rounds)
    return byteRows<BITS, 3>(a, w, rows, step, bias);
  return manyRows<BITS>(a, w, rows, bias);
}

int32_t matMulNBits(const Args *a) {
  enum { A, B, Scales, ZeroPoints, GroupIndex, Bias };
  enum { K, N, Bits, BlockSize, Accuracy };
  constexpr int64_t kInt8 = 4;  // accuracy_level: A may be rounded to 8 bits
  BlockWeights w{a->attr[K].i, a->attr[N].i,         a->attr[Bits].i, a->attr[BlockSize].i, 0, in<uint8_t>(a, B),
                 nullptr,      in<float>(a, Scales), nullptr};
  bool zeros = hasIn(a, ZeroPoints), packed = zeros && a->in[ZeroPoints].dtype == ONNXC_U8;
  bool small = w.k >= 1 && w.k < kSizeLimit && w.n >= 1 && w.n < kSizeLimit && w.block < kSizeLimit;
  if (!small || !w.fits() || hasIn(a, GroupIndex) || (zeros && !packed && a->in[ZeroPoints].dtype != ONNXC_F32))
    return onnxc_k_MsMatMulNBits_f32(a);
  w.blocks = ceilDiv(w.k, w.block);
  if (a->in[A].rank < 1 || a->in[A].dims[a->in[A].rank - 1] != w.k || onnxc_count(a->in[B]) != w.n * w.columnBytes() ||
      onnxc_count(a->in[Scales]) != w.n * w.blocks ||
      (zeros && onnxc_count(a->in[ZeroPoints]) != w.n * (packed ? w.zeroBytes() : w.blocks)) ||
      (hasIn(a, Bias) && onnxc_count(a->in[Bias]) != w.n))
    return ONNXC_K_SHAPE;
  w.zeros = packed ? in<uint8_t>(a, ZeroPoints) : nullptr;
  w.floatZeros = zeros && !packed ? in<float>(a, ZeroPoints) : nullptr;
  const float *bias = hasIn(a, Bias) ? in<float>(a, Bias) : nullptr;
  int64_t rows = onnxc_count(a->in[A]) / w.k;
  bool rounds = a->attr[Accuracy].i == kInt8;
  return w.bits == 2   ? rowsOf<2>(a, w, rows, bias, rounds)
         : w.bits == 4 ? rowsOf<4>(a, w, rows, bias, rounds)
                       : rowsOf<8>(a, w, rows, bias, rounds);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMsMatMulNBits(const onnxc_args *a) { return onnxc::matMulNBits(a); }
