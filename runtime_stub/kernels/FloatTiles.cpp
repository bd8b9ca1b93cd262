// FloatTiles.cpp: products of f32 on x86's tiles that multiply bf16 (AMX), for generated kernels (codegen/cpu/RowTiles.cpp). How three
// bf16 stand for a float and how exact sums of their products are: DigitTiles.h.
//
// strip  the rows of one call, in tiles of `each` rows
// part   steps of the depth, of whose digits a second-level cache holds the strip's and those of two panels
// left   digits of the strip: [tile] of what DigitTiles.h says
#include "runtime_stub/kernels/DigitTiles.h"

namespace onnxc {
namespace {

#if !defined(__aarch64__)
typedef uint16_t u16x16 __attribute__((ext_vector_type(16), aligned(2)));

// Where results will lie.
struct ResultPlaces {
  const char *at;
  int64_t rowBytes, panelBytes;
};

// The strip's `count` rows, `depth` steps each, in tiles of `each` rows: 16 steps lie side by side, the next 16 `blockBytes` further.
struct Rows {
  const char *at;
  int64_t rowBytes, blockBytes, count, depth, each;

  const char *place(int64_t row, int64_t step) const { return at + row * rowBytes + step / 16 * blockBytes + step % 16 * 4; }
  v16 load(int64_t row, int64_t step) const {
    const char *from = place(row, step);
    if (step + 16 <= depth)
      return *(const v16 *)from;
    v16 v = 0;
    if (step < depth)
      memcpy(&v, from, size_t(depth - step) * sizeof(float));
    return v;
  }
  bool hasNan(int64_t row) const {
    for (int64_t k = 0; k < depth; k += 16) {
      v16 v = load(row, k);
      if (!__builtin_reduce_and(v == v))
        return true;
    }
    return false;
  }
  // Digits of the steps [begin, end).
  template <int DIGITS>
  void split(int64_t begin, int64_t end, uint8_t *left) const {
    constexpr int64_t block = DIGITS * kTile;
    int64_t blocks = floatBlocks(end - begin);
    for (int64_t r = 0; r < count; ++r) {
      uint8_t *to = left + r / each * blocks * block + r % each * 64;
      for (int64_t k = begin; k < end; k += kSteps, to += block) {
        v16 low = load(r, k), high = load(r, k + 16);
        if constexpr (DIGITS > 1)
          storeLeft(to, kTile, low, high);
        else
          *(u16x32 *)to = joined(rounded(low), rounded(high));
      }
    }
  }
};

// A panel's steps as f32, and how many digits hold each.
template <FloatPanels TYPE>
struct Panel {
  static constexpr int kDigits = TYPE == FloatPanels::F32 ? 3 : TYPE == FloatPanels::F16 ? 2 : 1;
  static constexpr int64_t kBytes = TYPE == FloatPanels::F32 ? 64 : TYPE == FloatPanels::I8 ? 16 : 32;  // of a step
  static v16 load(const char *panel, int64_t step) {
    const char *from = panel + step * kBytes;
    if constexpr (TYPE == FloatPanels::F32)
      return *(const v16 *)from;
    else if constexpr (TYPE == FloatPanels::I8)
      return __builtin_convertvector(*(const i8x16 *)from, v16);
    else if constexpr (TYPE == FloatPanels::BF16)
      return __builtin_bit_cast(v16, __builtin_convertvector(*(const u16x16 *)from, u32x16) << 16);
    else {
      typedef _Float16 Halves __attribute__((ext_vector_type(16), aligned(2)));
      return __builtin_convertvector(*(const Halves *)from, v16);
    }
  }
};

// Two steps of sixteen bf16, one behind the other, as pairs.
ONNXC_INLINE u16x32 sideBySide(u16x32 v) {
  return __builtin_shufflevector(v, v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                 14, 30, 15, 31);
}

// Splits steps [begin, end) of up to two panels into digits, a few at a time; zeros fill the last block.
template <FloatPanels TYPE>
struct Splitter {
  using P = Panel<TYPE>;
  static constexpr int64_t kAhead = 4096;  // bytes that memory takes the time of to give a line
  const char *panels;
  int64_t panelBytes, count, begin, end, blocks;
  uint8_t *right;
  int64_t panel = 0, pair = 0;  // the next ones

  __attribute__((always_inline)) void advance(int64_t pairs) {
    for (; pairs > 0 && panel < count; --pairs) {
      int64_t k = begin + 2 * pair;
      const char *from = panels + panel * panelBytes + k * P::kBytes;
      __builtin_prefetch(from + kAhead);
      if constexpr (P::kBytes == 64)
        __builtin_prefetch(from + kAhead + 64);
      uint8_t *to = right + (pair / 16 * kPanels + panel) * P::kDigits * kTile + pair % 16 * 64;
      if (TYPE == FloatPanels::BF16 && k + 1 < end) {
        *(u16x32 *)to = sideBySide(*(const u16x32 *)from);
      } else {
        v16 even = k < end ? P::load(from, 0) : v16(0.0f), odd = k + 1 < end ? P::load(from, 1) : v16(0.0f);
        if constexpr (P::kDigits == 3)
          storeDigits(to, even, odd);
        else
          *(u32x16 *)to = paired(even, odd);
        if constexpr (P::kDigits == 2)
          *(u32x16 *)(to + kTile) = paired(even - upper(even), odd - upper(odd));
      }
      if (++pair == blocks * 16)
        pair = 0, ++panel;
    }
  }
};

// The lines that results go to, asked for a few at a time: a store that waits for its line takes as long as a tile's product.
struct ResultLines {
  const char *at;  // of a panel's first row
  int64_t rowBytes, panelBytes, rows, panels, each, row = 0;

  __attribute__((always_inline)) void fetch() {
    for (int64_t i = 0; i < each && row < rows; ++i, ++row)
      for (int64_t p = 0; p < panels; ++p)
        __builtin_prefetch(at + row * rowBytes + p * panelBytes, 1, 2);
  }
};

// What vectors do beside products of tiles: they split what comes next, `pairs` pairs of steps with each product of digits.
template <FloatPanels TYPE>
struct Beside {
  Splitter<TYPE> next;
  int64_t pairs;
  ResultLines lines;

  __attribute__((always_inline)) void step() { next.advance(pairs); }
  __attribute__((always_inline)) void block() { lines.fetch(); }
};

// `LEFT`: digits of a row's number, three or one.
template <FloatPanels TYPE, int LEFT>
struct Product {
  Rows rows;
  const char *panels;
  int64_t panelBytes, count, behind;  // of panels; those of the call behind this one
  int64_t *turn;                      // whether the second room of `right` has the digits of the next panels
  uint8_t *left, *right;
  float *sums;  // [row][count][16]
  ResultPlaces results;
  int64_t part = floatPart(rows.depth);
  using P = Panel<TYPE>;
  static_assert(LEFT == 3 || P::kDigits == 1, "sums of infinities are made again of numbers that are not rounded");

  // The lower digits of an infinity are NaN, and so are sums with them, which may be infinite: they are made again, but in rows that have a
  // NaN themselves.
  void mendSums() const {
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t p = 0; p < count; ++p) {
        v16 &sum = *(v16 *)(sums + (r * count + p) * 16);
        if (__builtin_expect(__builtin_reduce_and(sum == sum) != 0, true))
          continue;
        if (rows.hasNan(r))
          break;
        v16 inOrder = 0;
        for (int64_t k = 0; k < rows.depth; ++k)
          inOrder += *(const float *)rows.place(r, k) * P::load(panels + p * panelBytes, k);
        sum = sum == sum ? sum : inOrder;  // sums beside it keep their bits
      }
  }
  // The part's products with the panels from `panel` on, whose digits are at `from`.
  template <int COLUMNS>
  void multiplyTiles(int64_t panel, const uint8_t *from, int64_t blocks, bool more, bool last, Splitter<TYPE> &next) const {
    int64_t stride = count * 64, tiles = ceilDiv(rows.count, rows.each), tileBytes = blocks * LEFT * kTile;
    constexpr int64_t products = P::kDigits == 3 ? 6 : P::kDigits == 2 ? 5 : LEFT;
    int64_t times = tiles * blocks * products, pairs = ceilDiv(next.count * next.blocks * 16, times);
    Beside<TYPE> beside{next,
                        pairs,
                        {results.at + panel * results.panelBytes, results.rowBytes, results.panelBytes, last ? rows.count : 0, COLUMNS,
                         ceilDiv(rows.count, tiles * blocks)}};
    for (int64_t t = 0; t < tiles; ++t)
      multiplyDigits<LEFT, P::kDigits, COLUMNS>(left + t * tileBytes, from, blocks, sums + (t * rows.each * count + panel) * 16, stride,
                                                more, beside);
    next = beside.next;
  }
  // What is split for the panels from `panel` on and the part from `begin` on: those of the next call behind the last.
  Splitter<TYPE> splitter(int64_t begin, int64_t panel, uint8_t *to) const {
    int64_t have = minOf(count - panel, kPanels);
    if (panel >= count && begin + part < rows.depth)
      begin += part, panel = 0, have = minOf(count, kPanels);
    else if (panel >= count)
      have = minOf(behind, kPanels);
    int64_t end = minOf(begin + part, rows.depth);
    return {panels + panel * panelBytes, panelBytes, have, begin, end, floatBlocks(end - begin), to};
  }
  void run(bool again) const {
    uint8_t *digits[2] = {right, right + floatTilesRight(rows.depth)};  // of what is multiplied and of what comes next
    if (!again) {
      *turn = 0;
      Splitter<TYPE> first = splitter(0, 0, digits[0]);
      first.advance(INT64_MAX);
    } else if (*turn) {
      uint8_t *other = digits[0];
      digits[0] = digits[1], digits[1] = other;
    }
    startTiles(rows.each);
    for (int64_t k = 0; k < rows.depth; k += part) {
      int64_t end = minOf(k + part, rows.depth);
      if (!again)
        rows.split<LEFT>(k, end, left);
      for (int64_t p = 0; p < count; p += kPanels) {
        Splitter<TYPE> next = splitter(k, p + kPanels, digits[1]);
        count - p > 1 ? multiplyTiles<2>(p, digits[0], floatBlocks(end - k), k > 0, end == rows.depth, next)
                      : multiplyTiles<1>(p, digits[0], floatBlocks(end - k), k > 0, end == rows.depth, next);
        uint8_t *used = digits[0];
        digits[0] = digits[1], digits[1] = used, *turn ^= 1;
      }
    }
    endTiles();
    if (LEFT > 1)
      mendSums();
  }
};

template <FloatPanels TYPE, int LEFT>
void multiplyStrip(const Rows &rows, const char *panels, int64_t panelBytes, int64_t count, int64_t behind, bool again, char *scratch,
                   float *sums, const ResultPlaces &results) {
  auto left = (uint8_t *)scratch + kFloatTurn;
  Product<TYPE, LEFT>{rows, panels, panelBytes, count, behind, (int64_t *)scratch, left, left + floatTilesLeft(rows.depth), sums, results}
      .run(again);
}

#define ONNXC_FLOAT_TILES(NAME, TYPE, LEFT)                                                                                                \
  extern "C" __attribute__((noinline)) void onnxc_float_tiles_##NAME(                                                                      \
      const void *a, int64_t rowBytes, int64_t blockBytes, int64_t rows, int64_t depth, const void *b, int64_t panelBytes, int64_t panels, \
      int64_t behind, int64_t again, void *scratch, float *sums, const void *results, int64_t resultRowBytes, int64_t resultPanelBytes) {  \
    int64_t tiles = ceilDiv(rows, kTileRows);                                                                                              \
    Rows left{static_cast<const char *>(a), rowBytes, blockBytes, rows, depth, ceilDiv(rows, tiles)};                                      \
    multiplyStrip<FloatPanels::TYPE, LEFT>(left, static_cast<const char *>(b), panelBytes, panels, behind, again != 0,                     \
                                           static_cast<char *>(scratch), sums,                                                             \
                                           {static_cast<const char *>(results), resultRowBytes, resultPanelBytes});                        \
  }
#else
#define ONNXC_FLOAT_TILES(NAME, TYPE, LEFT)
#endif
}  // namespace
}  // namespace onnxc

using namespace onnxc;
ONNXC_FLOAT_TILES(F32, F32, 3)
ONNXC_FLOAT_TILES(BF16, BF16, 3)
ONNXC_FLOAT_TILES(F16, F16, 3)
ONNXC_FLOAT_TILES(I8, I8, 3)
ONNXC_FLOAT_TILES(rounded_BF16, BF16, 1)
