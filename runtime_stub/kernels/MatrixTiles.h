// MatrixTiles.h: the products of IntegerTile.h for many rows, on the tiles of x86 (AMX): a tile has 16 rows of 64 bytes, a product of two
// of them 16 rows of 16 sums.
//
// step  64 bytes of the depth: 16 quads of a panel
// left  the rows of A as tiles take them: [tile][step][row][64]
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"

namespace onnxc {

constexpr int64_t kTileRows = 16, kStep = 64, kTile = kTileRows * kStep;
constexpr int64_t kRowBytes = 4 * kColumns;          // of a row of sums
constexpr int64_t kEdge = kTileRows * 4 * kColumns;  // bytes of an edge: a step of a panel, zeros behind its quads, [part][16 quads][64]
constexpr int64_t kLeastTiled = 8;                   // rows; fewer take less time in registers
constexpr int64_t kTiledRows = 128;                  // at most, of a unit of work

ONNXC_INLINE int64_t stepsOf(int64_t quads) { return (4 * quads + kStep - 1) / kStep; }
// The size of equal parts of `rows` rows, of at most `most`.
ONNXC_INLINE int64_t tiledPart(int64_t rows, int64_t most = kTiledRows) {
  int64_t parts = (rows + most - 1) / most;
  return (rows + parts - 1) / parts;
}
// The same of rows of whole steps that are multiplied by `panels` panels after gathering: as many as the first-level cache holds, where the
// second-level one holds the panels.
ONNXC_INLINE int64_t nearPart(int64_t rows, int64_t quads, int64_t panels) {
  constexpr int64_t near = 32 << 10, far = 1 << 20, two = 2 * kTileRows;
  bool fits = quads % kTileRows == 0 && panels * quads * 4 * kColumns <= far;
  return tiledPart(rows, fits ? maxOf(two, minOf(kTiledRows, near / (4 * quads) / two * two)) : kTiledRows);
}

// The units of work of `groups` products, each of `rows` rows by `panels` panels of columns: a part of the rows by a panel. Neighbouring
// units share what costs more to fetch: registers read a panel for all rows, tiles gather rows for all panels.
struct ProductUnits {
  bool tiles;
  int64_t rows, panels, part, parts;  // `part`: rows of a unit

  ProductUnits(bool tiles, int64_t rows, int64_t panels, int64_t part)
      : tiles(tiles), rows(rows), panels(panels), part(part), parts((rows + part - 1) / part) {}

  int64_t count(int64_t groups = 1) const { return groups * panels * parts; }
  // body(group, panel, number of panels, first row, end of rows); the number is 1 but for tiles.
  template <class F>
  void each(int64_t begin, int64_t end, const F &body) const {
    for (int64_t u = begin, n; u < end; u += n) {
      int64_t inGroup = u % count(), first = part * (tiles ? inGroup / panels : inGroup % parts);
      int64_t panel = tiles ? inGroup % panels : inGroup / parts;
      n = tiles ? minOf(end - u, panels - panel) : 1;
      body(u / count(), panel, n, first, minOf(first + part, rows));
    }
  }
};

#if defined(__aarch64__)
ONNXC_INLINE bool hasTiles(const onnxc_args *) { return false; }
#else
ONNXC_INLINE bool hasTiles(const onnxc_args *a) { return onnxc_vector_bits >= kDotBits && onnxc_rt_tiles(a->rt) != 0; }
#endif

// `N` bytes of each of up to 16 rows, from `at` on.
template <int N>
ONNXC_INLINE void gatherBytes(const uint8_t *const *a, int64_t rows, int64_t at, uint32_t flip, uint8_t *to) {
  typedef uint32_t Words __attribute__((ext_vector_type(N / 4), aligned(1)));
#pragma clang loop unroll_count(4)
  for (int64_t i = 0; i < rows; ++i)
    *(Words *)(to + i * kStep) = *(const Words *)(a[i] + at) ^ flip;
}

// Up to kTiledRows rows, divided into tiles of equal size: a product takes as long as it has rows.
struct TiledRows {
  int64_t rows, each, steps;
  uint8_t *left;  // bytes(quads)

  static int64_t bytes(int64_t quads) { return kTiledRows / kTileRows * stepsOf(quads) * kTile; }

  // What lies behind the depth keeps its values: they meet zeros (TiledPanel).
  void gather(const uint8_t *const *a, int64_t count, const Depth &d, int64_t quads, uint8_t *scratch) {
    int64_t tiles = (count + kTileRows - 1) / kTileRows;
    rows = count, each = (count + tiles - 1) / tiles, steps = stepsOf(quads), left = scratch;
    for (int64_t r = 0; r < rows; r += each, scratch += steps * kTile)
      gatherTile(a + r, minOf(each, rows - r), d, scratch);
  }

private:
  static void gatherTile(const uint8_t *const *a, int64_t n, const Depth &d, uint8_t *to) {
    int64_t at = 0;
    for (int64_t s = 0; s < d.count; ++s) {
      int64_t from = d.segments[s].offset, end = from + 4 * d.segments[s].quads;
      while (from < end) {
        uint8_t *tile = to + at / kStep * kTile + at % kStep;
        int64_t most = minOf(end - from, kStep - at % kStep), take = most == kStep ? kStep : most >= 16 ? 16 : 4;
        if (take == kStep)
          gatherBytes<kStep>(a, n, from, d.flip, tile);
        else if (take == 16)
          gatherBytes<16>(a, n, from, d.flip, tile);
        else
          gatherBytes<4>(a, n, from, d.flip, tile);
        from += take, at += take;
      }
    }
  }
};

// The edge that `quads` quads from `from` on are.
ONNXC_INLINE void copyEdge(const int8_t *from, PanelShape shape, int64_t quads, int8_t *to) {
  for (int64_t part = 0; part < kColumns / 16; ++part)
    for (int64_t q = 0; q < kTileRows; ++q, to += 64)
      q < quads ? memcpy(to, from + part * shape.partBytes + q * shape.quadBytes, 64) : memset(to, 0, 64);
}

// What tiles hold of a step: the rows lie `offset` behind the first step's, the quads of 16 columns at `right`, as `shape` says.
struct TileStep {
  int64_t offset;
  const int8_t *right;
  PanelShape shape;
};

// A panel of `quads` quads; its last step has zeros behind them.
struct TiledPanel {
  const int8_t *panel;
  PanelShape shape;
  int64_t count, whole;  // steps; `whole`: that are no edge
  int8_t edge[kEdge];

  void start(const int8_t *from, PanelShape given, int64_t quads) {
    panel = from, shape = given, count = stepsOf(quads), whole = quads / kTileRows;
    if (whole < count)
      copyEdge(from + whole * kTileRows * shape.quadBytes, shape, quads % kTileRows, edge);
  }
  __attribute__((always_inline)) TileStep at(int64_t step, int64_t column) const {
    PanelShape own = step < whole ? shape : PanelShape{64, kTile};
    return {step * kTile, (step < whole ? panel + step * kTileRows * own.quadBytes : edge) + column / 16 * own.partBytes, own};
  }
};

#if !defined(__aarch64__)
#define ONNXC_TILES __attribute__((target("amx-tile,amx-int8")))

// Between these two a thread's tiles hold values: 0 to 3 sums, 4 and 5 `rows` rows of A, 6 and 7 panels.
ONNXC_TILES __attribute__((noinline)) static void startTiles(int64_t rows) {
  uint8_t each = uint8_t(rows);
  struct {
    uint8_t palette, row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {each, each, each, each, each, each, 16, 16}};
  __builtin_ia32_tile_loadconfig(&shape);
}
ONNXC_TILES __attribute__((noinline)) static void endTiles() { __builtin_ia32_tilerelease(); }

// ROWS tiles, their rows `stride` bytes apart from `above` and `below` on, times 16 * COLUMNS columns of a panel (TiledPanel or the like)
// from `column` on; c, under: [row][kColumns].
template <int ROWS, int COLUMNS, class Panel>
ONNXC_TILES __attribute__((noinline)) static void multiplyTiles(const Panel &panel, int64_t column, const uint8_t *above,
                                                                const uint8_t *below, int64_t stride, int32_t *c, int32_t *under) {
  __builtin_ia32_tilezero(0);
  __builtin_ia32_tilezero(1);
  __builtin_ia32_tilezero(2);
  __builtin_ia32_tilezero(3);
  for (int64_t i = 0; i < panel.count; ++i) {
    const TileStep s = panel.at(i, column);
    __builtin_ia32_tileloadd64(6, s.right, s.shape.quadBytes);
    __builtin_ia32_tileloadd64(4, above + s.offset, stride);
    __builtin_ia32_tdpbusd(0, 4, 6);
    if constexpr (COLUMNS > 1) {
      __builtin_ia32_tileloadd64(7, s.right + s.shape.partBytes, s.shape.quadBytes);
      __builtin_ia32_tdpbusd(1, 4, 7);
    }
    if constexpr (ROWS > 1) {
      __builtin_ia32_tileloadd64(5, below + s.offset, stride);
      __builtin_ia32_tdpbusd(2, 5, 6);
      if constexpr (COLUMNS > 1)
        __builtin_ia32_tdpbusd(3, 5, 7);
    }
  }
  __builtin_ia32_tilestored64(0, c + column, kRowBytes);
  if constexpr (COLUMNS > 1)
    __builtin_ia32_tilestored64(1, c + column + 16, kRowBytes);
  if constexpr (ROWS > 1) {
    __builtin_ia32_tilestored64(2, under + column, kRowBytes);
    if constexpr (COLUMNS > 1)
      __builtin_ia32_tilestored64(3, under + column + 16, kRowBytes);
  }
}

// The tile from `above` on and, where there are `two`, that from `below` on, times `width` columns, 16 or 32 at a time.
template <class Panel>
ONNXC_INLINE void multiplyPanel(const Panel &panel, int64_t width, bool two, const uint8_t *above, const uint8_t *below, int64_t stride,
                                int32_t *c, int32_t *under) {
  for (int64_t n = 0; n < width; n += 32)
    if (two && width - n > 16)
      multiplyTiles<2, 2>(panel, n, above, below, stride, c, under);
    else if (two)
      multiplyTiles<2, 1>(panel, n, above, below, stride, c, under);
    else if (width - n > 16)
      multiplyTiles<1, 2>(panel, n, above, below, stride, c, under);
    else
      multiplyTiles<1, 1>(panel, n, above, below, stride, c, under);
}
#else
ONNXC_INLINE void startTiles(int64_t) {}
ONNXC_INLINE void endTiles() {}
template <class Panel>
ONNXC_INLINE void multiplyPanel(const Panel &, int64_t, bool, const uint8_t *, const uint8_t *, int64_t, int32_t *, int32_t *) {}
#endif

// The two tiles of rows from `row` on, or what there is of them, times `width` columns; c: [2 * each][kColumns].
ONNXC_INLINE void tiledProducts(const TiledRows &r, int64_t row, const TiledPanel &p, int64_t width, int32_t *c) {
  const uint8_t *left = r.left + row / r.each * r.steps * kTile;
  multiplyPanel(p, width, r.rows - row > r.each, left, left + r.steps * kTile, kStep, c, c + r.each * kColumns);
}

}  // namespace onnxc
