// FastIntegerWindow.cpp: convolutions of bytes with windows of several pixels (packed.LinearConv) on the tiles of x86 (MatrixTiles.h),
// whose rows are read where an image has them. FastIntegerConv.cpp has all others.
//
// image  of a group, with its border: [row][column][channels], as many channels as quads read
// step   up to 64 bytes of a window that lie side by side: some columns of a row of the filter
// edge   the weights of a step of fewer bytes, with zeros behind them
#include "runtime_stub/kernels/IntegerConv.h"
#include "runtime_stub/kernels/MatrixTiles.h"

namespace onnxc {
namespace {

constexpr int64_t kPart = 8;  // tiles of a unit of work

struct Step {
  int64_t offset, quad, edge;  // of a window's first byte; of the panel; the number of the edge, or -1
};

// The tiles of an image's results. Their rows are windows at equal distances: results of one row, or `flat`, where rows are short, of
// the image as if its border had some too.
struct Grid {
  bool flat;
  int64_t width, pitch, each, across, windows, count;  // each: rows of a tile; across: tiles of a row; pitch: windows of a row
  int64_t rowBytes, pixelBytes;                        // from one window to the next

  explicit Grid(const IntegerConv &p)
      : width(p.outWidth), pitch(p.row / p.pixel), across((width + kTileRows - 1) / kTileRows), rowBytes(p.strides[0] * p.row),
        pixelBytes(p.strides[1] * p.pixel) {
    constexpr int64_t shortest = 12;  // rows that a tile takes the time of, at least
    each = (width + across - 1) / across;
    int64_t inRows = p.outHeight * across;
    windows = (p.outHeight - 1) * pitch + width, count = (windows + kTileRows - 1) / kTileRows;
    flat = p.strides[0] == 1 && p.strides[1] == 1 && count * kTileRows < inRows * maxOf(each, shortest);
    if (flat)
      each = kTileRows;
    else
      count = inRows;
  }
  int64_t offset(int64_t tile) const {
    return flat ? tile * kTileRows * pixelBytes : tile / across * rowBytes + tile % across * each * pixelBytes;
  }
  // The first result of a tile, or of those behind it.
  int64_t pixel(int64_t tile) const {
    if (!flat)
      return tile / across * width + tile % across * each;
    int64_t window = minOf(tile * kTileRows, windows);
    return window / pitch * width + minOf(window % pitch, width);
  }
};

// The channels of each of a row's pixels side by side; `x`: the row in the first block.
void placeBlocks(const IntegerConv &p, const uint8_t *x, uint8_t *to) {
  int64_t plane = p.height * p.width * kLanes;
  auto place = [&](int64_t channel, int64_t first) {  // the pixels from `first` on of one block
    const uint8_t *from = x + channel / kLanes * plane + first * kLanes;
    uint8_t *at = to + first * p.pixel + channel;
    if (channel + kLanes <= p.pixel)
      for (int64_t i = first; i < p.width; ++i, from += kLanes, at += p.pixel)
        *(u8x16 *)at = *(const u8x16 *)from;
    else
      for (int64_t i = first; i < p.width; ++i, from += kLanes, at += p.pixel)
        for (int64_t k = 0; k < p.pixel - channel; k += 4)
          memcpy(at + k, from + k, 4);
  };
  int64_t channel = 0;
  for (; channel + 4 * kLanes <= p.pixel; channel += 4 * kLanes) {
    const uint8_t *from[4];
    for (int64_t b = 0; b < 4; ++b)
      from[b] = x + (channel / kLanes + b) * plane;
    int64_t i = 0;
    for (; i + 4 <= p.width; i += 4) {
      joinBlocks(from, 0, to + i * p.pixel + channel, p.pixel);
      for (int64_t b = 0; b < 4; ++b)
        from[b] += 4 * kLanes;
    }
    for (int64_t b = 0; b < 4; ++b)
      place(channel + b * kLanes, i);
  }
  for (; channel < p.pixel; channel += kLanes)
    place(channel, 0);
}

// Row `r` of a group's image; `x`: of the group.
void placeRow(const IntegerConv &p, const uint8_t *x, int64_t r, uint8_t *to) {
  int64_t y = r - p.pads[0];
  uint8_t *inside = startRow(p, y, to);
  if (inside && p.plain)
    interleaveRow(p, x + y * p.width, inside);
  else if (inside)
    placeBlocks(p, x + y * p.width * kLanes, inside);
  if (p.flip)
    copyFlipped(to, p.row, uint8_t(p.flip), to);
}

// The weights of a panel.
struct WindowPanel {
  const Step *steps;
  int64_t count;
  const int8_t *panel, *edges;
  int64_t partBytes;  // from the weights of 16 columns to those of the next

  __attribute__((always_inline)) TileStep at(int64_t step, int64_t column) const {
    const Step s = steps[step];
    bool whole = s.edge < 0;
    PanelShape shape{64, whole ? partBytes : kTile};
    return {s.offset, (whole ? panel + s.quad * 64 : edges + s.edge * kEdge) + column / 16 * shape.partBytes, shape};
  }
};

struct Windows {
  const IntegerConv &p;
  Grid grid;
  WindowPanel panel;
  const uint8_t *image;  // of a group
  int64_t group, block, have;
  void *y;

  // Tiles [from, end) of the grid.
  struct Rows {
    const Grid &grid;
    const uint8_t *image;
    int64_t from, end;
    static constexpr int64_t kNear = 1 << 30;  // all steps: windows overlap, so that what they read is near

    int64_t count() const { return end - from; }
    int64_t stride() const { return grid.pixelBytes; }
    const uint8_t *at(int64_t tile) const { return image + grid.offset(from + tile); }
    // The first of its rows.
    int64_t row(int64_t tile) const { return grid.flat ? tile * kTileRows : grid.pixel(from + tile) - grid.pixel(from); }
  };
  void run(int64_t first, int64_t last) const {
    int32_t c[kTileRows * kPiece];  // all steps pass at once
    Rows rows{grid, image, first, last};
    startTiles(grid.each);
    multiplyPanel(panel, have * kLanes, rows, c, [&](const TilePiece &s) {
      int64_t from = block + s.column / kLanes, blocks = s.columns / kLanes;
      if (grid.flat)
        return finishFlat((first + s.tile) * kTileRows, (first + s.tile + 1) * kTileRows, from, blocks, s.sums);
      int64_t row = rows.row(s.tile);
      finishPanel(p, group, s.sums, kPiece, from, blocks, grid.pixel(first) + row, rows.row(s.tile + 1) - row, y);
    });
    endTiles();
    for (int64_t b = block; b < block + have; ++b)
      finishTable(p, b, grid.pixel(first), grid.pixel(last) - grid.pixel(first), y);
  }
  // What of the windows [first, last) is a result.
  void finishFlat(int64_t first, int64_t last, int64_t from, int64_t blocks, int32_t *c) const {
    for (int64_t at = first, row = first / grid.pitch; at < last && row < p.outHeight; at = ++row * grid.pitch)
      if (int64_t column = at - row * grid.pitch; column < grid.width)
        finishPanel(p, group, c + (at - first) * kPiece, kPiece, from, blocks, row * grid.width + column,
                    minOf(grid.width - column, last - at), y);
  }
};

// The steps of a window, and the end behind them.
struct StepList {
  int64_t count, edges;
};
StepList listSteps(const Depth &depth, Step *to) {
  int64_t n = 0, quad = 0, edges = 0;
  for (int64_t s = 0; s < depth.count; ++s)
    for (int64_t at = 0; at < depth.segments[s].quads; at += kTileRows) {
      int64_t quads = minOf(kTileRows, depth.segments[s].quads - at);
      to[n++] = {depth.segments[s].offset + 4 * at, quad, quads < kTileRows ? edges++ : -1};
      quad += quads;
    }
  to[n] = {0, quad, -1};
  return {n, edges};
}

// The edges of all panels of all groups.
int32_t copyEdges(const onnxc_args *a, const IntegerConv &p, const Step *steps, int64_t count, int64_t edges, int8_t *to) {
  return parallelFor(a, p.groups.count * panelsOf(p), grainOf(edges * kEdge / 16), [=](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u)
      for (int64_t i = 0; i < count; ++i)
        if (steps[i].edge >= 0)
          copyEdge(panelOf(p, 0, u) + steps[i].quad * 64, panelShape(p), steps[i + 1].quad - steps[i].quad,
                   to + (u * edges + steps[i].edge) * kEdge);
    return int32_t(ONNXC_K_OK);
  });
}

// One launch: what its images share.
struct Launch {
  const onnxc_args *a;
  IntegerConv p;
  int64_t rows = 0, imageBytes = 0;  // of a group's image, with its border
  Depth depth = {};
  Step *steps = nullptr;
  StepList list = {};
  int8_t *edges = nullptr;
  int32_t *windowSums = nullptr;  // where there are offsets
  uint8_t *images = nullptr;      // one a group

  // Finds the steps and the memory of all this.
  int32_t prepare() {
    rows = p.height + p.pads[0] + p.pads[2];
    p.pixel = p.plain ? p.channels : (p.channels + 3) / 4 * 4, p.plane = kLanes;
    p.row = (p.width + p.pads[1] + p.pads[3]) * p.pixel, imageBytes = rows * p.row;
    int64_t most = mostSegments(p), mostSteps = most + quadsOf(p) / kTileRows + 1;
    char *lists = heap<char>(a, most * int64_t(sizeof(Segment)) + mostSteps * int64_t(sizeof(Step)));
    if (!lists)
      return ONNXC_K_MEMORY;
    Segment *segments = reinterpret_cast<Segment *>(lists);
    steps = reinterpret_cast<Step *>(segments + most);
    depth = Depth{segments, segmentsOf(p, segments), 0, panelShape(p)};
    list = listSteps(depth, steps);
    int64_t groups = p.groups.count, behind = kTileRows * p.strides[1] * p.pixel + kStep;  // what tiles read behind the last row
    int64_t edgeBytes = groups * panelsOf(p) * list.edges * kEdge, sums = p.offsets ? groups * p.outHeight * p.outWidth : 0;
    char *scratch =
        static_cast<char *>(onnxc_rt_scratch(a->rt, edgeBytes + sums * int64_t(sizeof(int32_t)) + groups * imageBytes + behind));
    if (!scratch)
      return ONNXC_K_MEMORY;
    edges = reinterpret_cast<int8_t *>(scratch);
    windowSums = reinterpret_cast<int32_t *>(scratch + edgeBytes);
    images = reinterpret_cast<uint8_t *>(windowSums + sums);
    return copyEdges(a, p, steps, list.count, list.edges, edges);
  }
  int32_t place(const uint8_t *x) const {
    const Launch own = *this;
    return parallelFor(a, p.groups.count * rows, grainOf(p.row / 8), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        placeRow(own.p, x + own.p.groups.firstBlock(r / own.rows) * own.p.height * own.p.width * kLanes, r % own.rows,
                 own.images + r * own.p.row);
      return int32_t(ONNXC_K_OK);
    });
  }
  int32_t sum() {
    if (!p.offsets)
      return ONNXC_K_OK;
    const Launch own = *this;
    p.windowSums = windowSums;
    return sumWindows(a, p, depth, [=](int64_t group) { return own.images + group * own.imageBytes; }, windowSums);
  }
  int32_t multiply(void *y) const {
    const Launch own = *this;
    Grid grid(p);
    ProductUnits units(false, grid.count, panelsOf(p), kPart);
    return parallelFor(a, units.count(p.groups.count), grainOf(kPart * kTileRows * quadsOf(p) * 2), [=](int64_t begin, int64_t end) {
      units.each(begin, end, [&](int64_t group, int64_t panel, int64_t, int64_t first, int64_t last) {
        int64_t block = group * own.p.groups.outBlocks + panel * kPanelBlocks,
                have = minOf(kPanelBlocks, lastBlockOf(own.p, group) - block);
        WindowPanel weights{own.steps, own.list.count, panelOf(own.p, group, panel),
                            own.edges + (group * units.panels + panel) * own.list.edges * kEdge, own.depth.panel.partBytes};
        if (have > 0)  // the last groups may lack panels
          Windows{own.p, grid, weights, own.images + group * own.imageBytes, group, block, have, y}.run(first, last);
      });
      return int32_t(ONNXC_K_OK);
    });
  }
};

}  // namespace

int32_t windowConv(const onnxc_args *a, const IntegerConv &p) {
  Launch launch{a, p};
  ONNXC_TRY(launch.prepare());
  return eachImage(a, launch.p, [&](const uint8_t *x, char *y) -> int32_t {
    ONNXC_TRY(launch.place(x));
    ONNXC_TRY(launch.sum());
    return launch.multiply(y);
  });
}

}  // namespace onnxc
