// MatrixTiles.h: the products of IntegerTile.h for many rows, on the tiles of x86 (AMX): a tile has 16 rows of 64 bytes, a product of two
// of them 16 rows of 16 sums.
//
// step  64 bytes of the depth: 16 quads of a panel
// left  the rows of A as tiles take them: [tile][step][row][64]
#pragma once
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/TileRegisters.h"

namespace onnxc {

constexpr int64_t kTileRows = 16, kStep = 64, kTile = kTileRows * kStep;
constexpr int64_t kEdge = kTileRows * 4 * kColumns;  // bytes of an edge: a step of a panel, zeros behind its quads, [part][16 quads][64]
constexpr int64_t kLeastTiled = 8;                   // rows; fewer take less time in registers
constexpr int64_t kPiece = 32;                       // columns of a panel that two tiles side by side have sums of
constexpr int64_t kSumBytes = 4 * kPiece;            // of a row of sums
constexpr int64_t kTiledRows = 128;                  // at most, of a unit of work

ONNXC_INLINE int64_t stepsOf(int64_t quads) { return (4 * quads + kStep - 1) / kStep; }
// The size of equal parts of `rows` rows, of at most kTiledRows.
ONNXC_INLINE int64_t tiledPart(int64_t rows) {
  int64_t parts = (rows + kTiledRows - 1) / kTiledRows;
  return (rows + parts - 1) / parts;
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

// Four neighbouring pixels of four blocks of 16 bytes, from[block]: the bytes of a pixel side by side, `stride` bytes from one to the next.
ONNXC_INLINE void joinBlocks(const uint8_t *const *from, uint32_t flip, uint8_t *to, int64_t stride) {
  typedef uint32_t Words __attribute__((ext_vector_type(16), aligned(1)));
  Words b[4], two[4];
  unroll<0, 4>([&](auto i) { b[i.value] = *(const Words *)from[i.value] ^ flip; });
  unroll<0, 2>([&](auto i) {
    constexpr int k = 2 * i.value;
    two[k] = __builtin_shufflevector(b[k], b[k + 1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    two[k + 1] = __builtin_shufflevector(b[k], b[k + 1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  });
  unroll<0, 2>([&](auto i) {
    constexpr int k = i.value;
    *(Words *)(to + 2 * k * stride) = __builtin_shufflevector(two[k], two[k + 2], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    *(Words *)(to + (2 * k + 1) * stride) =
        __builtin_shufflevector(two[k], two[k + 2], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  });
}

// Up to kTiledRows rows, divided into tiles of equal size: a product takes as long as it has rows.
struct TiledRows {
  int64_t rows, each, steps;
  uint8_t *left;  // bytes(quads)

  int64_t count() const { return (rows + each - 1) / each; }
  int64_t row(int64_t tile) const { return minOf(tile * each, rows); }
  const uint8_t *at(int64_t tile) const { return left + tile * steps * kTile; }
  static constexpr int64_t stride() { return kStep; }
  static constexpr int64_t kNear = 8;  // steps of a tile and a piece of a panel that the first-level cache holds

  static int64_t bytes(int64_t quads) { return kTiledRows / kTileRows * stepsOf(quads) * kTile; }

  // What lies behind the depth keeps its values: they meet zeros (TiledPanel).
  void gather(const uint8_t *const *a, int64_t count, const Depth &d, int64_t quads, uint8_t *scratch) {
    int64_t tiles = (count + kTileRows - 1) / kTileRows;
    rows = count, each = (count + tiles - 1) / tiles, steps = stepsOf(quads), left = scratch;
    for (int64_t r = 0; r < rows; r += each, scratch += steps * kTile)
      gatherTile(a + r, minOf(each, rows - r), d, scratch);
  }

private:
  static constexpr int64_t kQuads = 4;  // of a block
  static bool isStepOfBlocks(const Depth &d, int64_t segment) {
    bool all = segment + 4 <= d.count;
    for (int64_t i = segment; all && i < segment + 4; ++i)
      all = d.segments[i].quads == kQuads;
    return all;
  }
  static void gatherBlocks(const uint8_t *const *a, int64_t n, const Segment *blocks, uint32_t flip, uint8_t *to) {
    constexpr int64_t block = 4 * kQuads;
    for (int64_t i = 0; i < n;) {
      const uint8_t *from[4];
      unroll<0, 4>([&](auto b) { from[b.value] = a[i] + blocks[b.value].offset; });
      if (i + 4 <= n && a[i + 3] - a[i] == 3 * block) {
        joinBlocks(from, flip, to + i * kStep, kStep);
        i += 4;
        continue;
      }
      unroll<0, 4>([&](auto b) { gatherBytes<block>(&from[b.value], 1, 0, flip, to + i * kStep + b.value * block); });
      ++i;
    }
  }
  static void gatherTile(const uint8_t *const *a, int64_t n, const Depth &d, uint8_t *to) {
    int64_t at = 0;
    for (int64_t s = 0; s < d.count; ++s) {
      if (at % kStep == 0 && isStepOfBlocks(d, s)) {
        gatherBlocks(a, n, d.segments + s, d.flip, to + at / kStep * kTile);
        at += kStep, s += 3;
        continue;
      }
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
// A tile, its rows `stride` bytes apart from `left` on, times 16 * COLUMNS columns of a panel from `column` on, over the steps [first,
// end); the sums of the steps before them in c: [row][kPiece], or null.
template <int COLUMNS, class Panel>
ONNXC_TILES __attribute__((noinline)) static void multiplyTiles(const Panel &panel, int64_t column, int64_t first, int64_t end,
                                                                const uint8_t *left, int64_t stride, const int32_t *c) {
  loadTiles<COLUMNS>(c, kSumBytes);
  for (int64_t i = first; i < end; ++i) {
    const TileStep s = panel.at(i, column);
    __builtin_ia32_tileloadd64(6, s.right, s.shape.quadBytes);
    __builtin_ia32_tileloadd64(4, left + s.offset, stride);
    __builtin_ia32_tdpbusd(0, 4, 6);
    if constexpr (COLUMNS > 1) {
      __builtin_ia32_tileloadd64(7, s.right + s.shape.partBytes, s.shape.quadBytes);
      __builtin_ia32_tdpbusd(1, 4, 7);
    }
  }
}
template <int COLUMNS>
ONNXC_TILES __attribute__((noinline)) static void storeTiles(int32_t *c) {
  eachTile<COLUMNS>(c, [](auto tile, int32_t *at) ONNXC_TILES
                    __attribute__((always_inline)) { __builtin_ia32_tilestored64(tile.value, at, kSumBytes); });
}
#else
ONNXC_INLINE void startTiles(int64_t) {}
ONNXC_INLINE void endTiles() {}
template <int COLUMNS, class Panel>
void multiplyTiles(const Panel &, int64_t, int64_t, int64_t, const uint8_t *, int64_t, const int32_t *) {}
template <int COLUMNS>
void storeTiles(int32_t *) {}
#endif

constexpr int64_t kTiledSums = kTiledRows * kPiece;
// Sums of `columns` columns of a panel from `column` on, of a tile: [row][kPiece].
struct TilePiece {
  int64_t column, columns, tile;
  int32_t *sums;
};

// The sums of `width` columns of a panel (TiledPanel or the like, of one step at least) and all tiles of `rows` (TiledRows or the like), in
// pieces for finish(), which works while the next piece is multiplied. Tiles pass by Rows::kNear steps of a piece of the panel at a time.
// c: kTiledSums.
template <class Panel, class Rows, class Finish>
ONNXC_INLINE void multiplyPanel(const Panel &panel, int64_t width, const Rows &rows, int32_t *c, const Finish &finish) {
  TilePiece waiting = {};
  auto finishWaiting = [&] {
    if (waiting.columns)
      finish(waiting);
    waiting.columns = 0;
  };
  int64_t count = rows.count(), passes = (panel.count + Rows::kNear - 1) / Rows::kNear, near = (panel.count + passes - 1) / passes;
  for (int64_t n = 0; n < width; n += kPiece)
    for (int64_t step = 0, end; step < panel.count; step = end) {
      end = minOf(step + near, panel.count);
      for (int64_t t = 0; t < count; ++t) {
        TilePiece piece{n, minOf(kPiece, width - n), t, c + (panel.count > near ? rows.row(t) * kPiece : 0)};
        auto multiply = [&](auto columns) {
          multiplyTiles<columns.value>(panel, n, step, end, rows.at(t), rows.stride(), step ? piece.sums : nullptr);
          finishWaiting();
          storeTiles<columns.value>(piece.sums);
        };
        width - n > 16 ? multiply(Index<2>{}) : multiply(Index<1>{});
        if (end == panel.count)
          waiting = piece;
      }
    }
  finishWaiting();
}

}  // namespace onnxc
