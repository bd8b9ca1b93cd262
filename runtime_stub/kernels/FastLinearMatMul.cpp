// FastLinearMatMul.cpp: packed.LinearMatMul (dialects/onnx/Packed.td), which passes/graph/LinearProducts.cpp makes: products of bytes with
// constant bytes that get their scales in registers. Beside FastInteger.cpp, whose results are the sums themselves.
#include "runtime_stub/kernels/IntegerResults.h"
#include "runtime_stub/kernels/MatrixTiles.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int64_t kRowBlock = 96;  // of a unit of work

struct Product {
  int64_t rows, depth, columns, quads;
  const uint8_t *left;
  const int8_t *panels;
  const float *factors;
  const int32_t *corrections;
  const int32_t *offsets, *rowSums;  // null where weights are those of the panels
  Depth whole;
  bool dots, tiles, toFloat, outSigned, packs;  // packs: whether storeBytes() may clip results
  float zero, least, most;

  // Columns [column, column + have) of one row, have <= kLanes.
  void finish(const int32_t *sums, int64_t row, int64_t column, int64_t have, void *y) const {
    i32x16 exact = *(const i32x16 *)sums + *(const i32x16 *)(corrections + column);
    v16 v = __builtin_convertvector(exact, v16) * *(const v16 *)(factors + column);
    int64_t at = row * columns + column;
    if (toFloat) {
      if (have == kLanes)
        *(v16 *)(static_cast<float *>(y) + at) = v;
      else
        memcpy(static_cast<float *>(y) + at, &v, size_t(have) * sizeof(float));
      return;
    }
    i32x16 steps = roundedIntegers(clipped(v, least - zero, most - zero)) + int32_t(zero);
    u8x16 bytes = __builtin_convertvector(steps, u8x16);
    if (have == kLanes)
      *(u8x16 *)(static_cast<uint8_t *>(y) + at) = bytes;
    else
      memcpy(static_cast<uint8_t *>(y) + at, &bytes, size_t(have));
  }
#if !defined(__aarch64__)
  // The results in bytes of `n` rows of WIDTH columns from `column` on, 64 of them at a time; gives the number of finished rows.
  template <bool SIGNED, int WIDTH>
  ONNXC_DOTS __attribute__((noinline)) int64_t finishWhole(const int32_t *sums, int64_t row, int64_t n, int64_t column, uint8_t *y) const {
    constexpr int kParts = WIDTH / int(kLanes), kTogether = 4 / kParts;
    const int32_t *correction = corrections + column;
    const float *factor = factors + column;
    int64_t stride = columns, i = 0;
    int16_t shift = int16_t(zero);
    char lowest = char(int32_t(least)), highest = char(int32_t(most));
    y += row * columns + column;
    for (; i + kTogether <= n; i += kTogether, sums += 64) {
      v16 steps[4];
      unroll<0, 4>([&](auto k) __attribute__((always_inline)) {
        constexpr int64_t at = k.value % kParts * kLanes;
        i32x16 exact = *(const i32x16 *)(sums + k.value * kLanes) + *(const i32x16 *)(correction + at);
        steps[k.value] = __builtin_convertvector(exact, v16) * *(const v16 *)(factor + at);
      });
      uint8_t bytes[64];
      storeBytes<SIGNED>(steps, shift, lowest, highest, bytes);
      for (int r = 0; r < kTogether; ++r, y += stride)
        memcpy(y, bytes + r * WIDTH, WIDTH);
    }
    return i;
  }
#endif
  // The results of `n` rows, whose sums are [row][WIDTH], of the `width` columns from `column` on.
  template <int WIDTH>
  void finishRows(int32_t *c, int64_t row, int64_t n, int64_t column, int64_t width, void *y) const {
    if (offsets)
      addOffsets(c, WIDTH, n, width, offsets + column, rowSums + row);
    int64_t i = 0;
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= kDotBits && dots && packs && width == WIDTH)
      i = outSigned ? finishWhole<true, WIDTH>(c, row, n, column, static_cast<uint8_t *>(y))
                    : finishWhole<false, WIDTH>(c, row, n, column, static_cast<uint8_t *>(y));
#endif
    const Product own = *this;  // a store of bytes may change what is not a local variable
    for (; i < n; ++i)
      for (int64_t j = 0; j < width; j += kLanes)
        own.finish(c + i * WIDTH + j, row + i, column + j, minOf(kLanes, width - j), y);
  }
  // Rows [first, last) of one panel. The sums of several tiles are finished together.
  void run(int64_t panel, int64_t first, int64_t last, void *y) const {
    constexpr int64_t kTogether = 4 * kRows;
    int32_t c[kTogether * kColumns];
    const uint8_t *at[kRows];
    int64_t width = minOf(kColumns, columns - panel * kColumns), whole16 = (width + kLanes - 1) / kLanes * kLanes;
    const int8_t *weights = panels + panel * quads * 4 * kColumns;
    PanelLimits limits;
    Depth steps = whole;
    steps.limits = limits.find(dots, last - first, weights, quads, whole.panel, whole16);
    for (int64_t r = first; r < last; r += kTogether) {
      int64_t end = minOf(r + kTogether, last);
      for (int64_t row = r; row < end; row += kRows) {
        int64_t n = minOf<int64_t>(kRows, end - row);
        for (int64_t i = 0; i < n; ++i)
          at[i] = left + (row + i) * depth;
        integerTile(n, dots, at, steps, weights, c + (row - r) * kColumns, whole16);
      }
      finishRows<kColumns>(c, r, end - r, panel * kColumns, width, y);
    }
  }
  // Rows [first, last) of `count` panels, on tiles.
  void runTiles(int64_t panel, int64_t count, int64_t first, int64_t last, uint8_t *scratch, void *y) const {
    int32_t c[kTiledSums];
    const uint8_t *at[kTiledRows];
    for (int64_t i = 0; i < last - first; ++i)
      at[i] = left + (first + i) * depth;
    TiledRows rows;
    rows.gather(at, last - first, whole, quads, scratch);
    TiledPanel tiled;
    startTiles(rows.each);
    for (int64_t p = panel; p < panel + count; ++p) {
      tiled.start(panels + p * quads * 4 * kColumns, whole.panel, quads);
      multiplyPanel(tiled, minOf(kColumns, columns - p * kColumns), rows, c, [&](const TilePiece &s) {
        int64_t row = rows.row(s.tile);
        finishRows<kPiece>(s.sums, first + row, rows.row(s.tile + 1) - row, p * kColumns + s.column, s.columns, y);
      });
    }
    endTiles();
  }
};

int32_t sumRows(const Args *a, Product &p) {
  int32_t *sums = heap<int32_t>(a, p.rows);
  p.rowSums = sums;
  if (!sums)
    return ONNXC_K_MEMORY;
  return parallelFor(a, p.rows, grainOf(p.depth / 8), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      sums[r] = rowSum(p.left + r * p.depth, p.whole);
    return int32_t(ONNXC_K_OK);
  });
}

int32_t linearMatMul(const Args *a) {
  enum { A, B, Factors, Corrections, Offsets };
  enum { N, Zero, Least, Most };
  const Tensor &x = a->in[A], &w = a->in[B], &y = a->out[0];
  if (onnxc_count(y) == 0)
    return ONNXC_K_OK;
  Product p;
  p.columns = a->attr[N].i, p.depth = x.rank ? x.dims[x.rank - 1] : 0, p.quads = p.depth / 4;
  int64_t panels = (p.columns + kColumns - 1) / kColumns;
  if (p.depth < 4 || p.depth % 4 || onnxc_count(w) != panels * p.quads * 4 * kColumns || onnxc_count(a->in[Factors]) != panels * kColumns ||
      onnxc_count(a->in[Corrections]) != panels * kColumns || (hasIn(a, Offsets) && onnxc_count(a->in[Offsets]) != panels * kColumns) ||
      onnxc_count(y) != onnxc_count(x) / p.depth * p.columns)
    return ONNXC_K_SHAPE;
  Segment segment{0, p.quads};
  p.whole = Depth{&segment, 1, x.dtype == ONNXC_I8 ? 0x80808080u : 0};
  p.rows = onnxc_count(x) / p.depth, p.left = in<uint8_t>(a, A), p.panels = in<int8_t>(a, B);
  p.factors = in<float>(a, Factors), p.corrections = in<int32_t>(a, Corrections);
  p.zero = float(a->attr[Zero].i), p.least = float(a->attr[Least].i), p.most = float(a->attr[Most].i);
  p.toFloat = y.dtype == ONNXC_F32, p.outSigned = y.dtype == ONNXC_I8, p.dots = hasDots(a);
  p.packs = !p.toFloat && keepToWords(p.factors, panels * kColumns);
  p.tiles = p.rows >= kLeastTiled && hasTiles(a);
  p.offsets = hasIn(a, Offsets) ? in<int32_t>(a, Offsets) : nullptr, p.rowSums = nullptr;
  if (p.offsets)
    ONNXC_TRY(sumRows(a, p));
  void *to = out<char>(a, 0);
  ProductUnits units(p.tiles, p.rows, panels, p.tiles ? tiledPart(p.rows) : kRowBlock);
  auto body = [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
    units.each(begin, end, [&](int64_t, int64_t panel, int64_t count, int64_t first, int64_t last) {
      if (p.tiles)
        p.runTiles(panel, count, first, last, static_cast<uint8_t *>(scratch), to);
      else
        p.run(panel, first, last, to);
    });
    return ONNXC_K_OK;
  };
  int64_t grain = grainOf(minOf(p.rows, units.part) * p.depth);
  return parallelScratchFor(a, units.count(), grain, p.tiles ? TiledRows::bytes(p.quads) : 0, body);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastLinearMatMul(const onnxc_args *a) { return onnxc::linearMatMul(a); }
