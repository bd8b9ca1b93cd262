// FastIntegerConv.cpp: packed.LinearConv (dialects/onnx/Packed.td), which passes/graph/LinearConvolutions.cpp makes: convolutions of bytes
// on instructions that multiply bytes. Oracle of what it was made of: Conv.cpp, Quant.cpp.
#include "runtime_stub/kernels/IntegerConv.h"
#include "runtime_stub/kernels/MatrixTiles.h"

namespace onnxc {
namespace {

enum { Group, Plain, Channels, Outputs, KernelShape, Strides, Pads, Dilations, Border, Zero, Least, Most, Sum, Joined };
constexpr int64_t kPixels = 96;  // of a unit of work

// Row `r` of the copy, over all blocks: r = block * rows + y.
void copyRow(const IntegerConv &p, const uint8_t *x, int64_t r, uint8_t *to) {
  int64_t rows = p.height + p.pads[0] + p.pads[2], block = r / rows, y = r % rows - p.pads[0];
  uint8_t *inside = startRow(p, y, to);
  if (inside && p.plain)
    interleaveRow(p, x + y * p.width, inside);
  else if (inside)
    memcpy(inside, x + (block * p.height + y) * p.width * kLanes, size_t(p.width * kLanes));
}

const uint8_t *imageOf(const IntegerConv &p, const uint8_t *image, int64_t group) { return image + p.groups.firstBlock(group) * p.plane; }

// Pixels of groups computed as one.
struct Unit {
  const IntegerConv &p;
  const uint8_t *image;
  const int8_t *panels;
  int64_t group, block, last;  // output blocks; the first panel computes those from `block` on
  int64_t quads;
  Depth depth;
  void *y;

  // Where the windows of `n` pixels from `pixel` on start.
  void find(int64_t pixel, int64_t n, const uint8_t **at) const {
    int64_t oy = pixel / p.outWidth, ox = pixel % p.outWidth;
    for (int64_t i = 0; i < n; ++i) {
      at[i] = image + oy * p.strides[0] * p.row + ox * p.strides[1] * p.pixel;
      if (++ox == p.outWidth)
        ox = 0, ++oy;
    }
  }
  // The sums of `n` pixels; `at` has 2 * kRows entries where at most two blocks are wanted and n > kRows.
  void tile(int64_t n, const uint8_t *const *at, const Depth &steps, int64_t have, int32_t *c) const {
    if (n <= kRows)
      integerTile(n, p.dots, at, steps, panels, c, have * kLanes);
    else if (have == 1)
      narrowTile<1>(p.dots, at, steps, panels, c);
    else
      narrowTile<2>(p.dots, at, steps, panels, c);
  }
  // Of one panel. The sums of several tiles are finished together: what a finish has to prepare takes the time of some pixels.
  void run(int64_t first, int64_t end) const {
    constexpr int64_t kTogether = 4 * kRows;
    int32_t c[kTogether * kColumns];
    const uint8_t *at[kTogether];
    int64_t have = minOf(kPanelBlocks, last - block), most = have <= 2 ? 2 * kRows : kRows;
    PanelLimits limits;
    Depth steps = depth;
    steps.limits = limits.find(p.dots, end - first, panels, quads, depth.panel, have * kLanes);
    for (int64_t at0 = first, n; at0 < end; at0 += n) {
      n = minOf(kTogether, end - at0);
      find(at0, n, at);
      for (int64_t i = n; i < kTogether; ++i)
        at[i] = at[0];
      for (int64_t r = 0; r < n; r += most)
        tile(minOf(most, n - r), at + r, steps, have, c + r * kColumns);
      finishPanel(p, group, c, kColumns, block, have, at0, n, y);
    }
    for (int64_t b = block; b < block + have; ++b)
      finishTable(p, b, first, end - first, y);
  }
  // Of `count` panels, on tiles; left: TiledRows::bytes(quads).
  void runTiles(int64_t first, int64_t end, int64_t count, uint8_t *left) const {
    int32_t c[kTiledSums];
    const uint8_t *at[kTiledRows];
    find(first, end - first, at);
    TiledRows rows;
    rows.gather(at, end - first, depth, quads, left);
    TiledPanel panel;
    startTiles(rows.each);
    for (int64_t i = 0; i < count && block + i * kPanelBlocks < last; ++i) {
      int64_t from = block + i * kPanelBlocks, have = minOf(kPanelBlocks, last - from);
      panel.start(panels + i * quads * 4 * kColumns, depth.panel, quads);
      multiplyPanel(panel, have * kLanes, rows, c, [&](const TilePiece &s) {
        int64_t row = rows.row(s.tile);
        finishPanel(p, group, s.sums, kPiece, from + s.column / kLanes, s.columns / kLanes, first + row, rows.row(s.tile + 1) - row, y);
      });
      for (int64_t b = from; b < from + have; ++b)
        finishTable(p, b, first, end - first, y);
    }
    endTiles();
  }
};

bool readResults(const Args *a, IntegerConv &p) {
  const Tensor &y = a->out[0];
  auto &attr = a->attr;
  BlockResults &r = p.results;
  r.zero = float(attr[Zero].i), r.least = float(attr[Least].i), r.most = float(attr[Most].i);
  r.toFloat = y.dtype == ONNXC_F32, r.isSigned = y.dtype == ONNXC_I8;
  r.factors = in<float>(a, Factors), r.corrections = in<int32_t>(a, Corrections);
  r.other = hasIn(a, Other) ? in<uint8_t>(a, Other) : nullptr, r.otherSigned = r.other && a->in[Other].dtype == ONNXC_I8;
  r.sum = r.other && attr[Sum].n == 7 ? floats(attr[Sum]) : nullptr;
  r.joined = r.sum && attr[Joined].n == 3 ? floats(attr[Joined]) : nullptr;
  r.zeroOut = int32_t(r.sum ? r.sum[BlockResults::To] : r.zero);
  int64_t lanes = p.outBlocks * kLanes;
  if (onnxc_count(a->in[Factors]) != lanes || onnxc_count(a->in[Corrections]) != lanes ||
      (r.other && (onnxc_count(a->in[Other]) != onnxc_count(y) || !r.sum || r.toFloat)))
    return false;
  constexpr float mostSteps = 1 << 30;
  r.packs = (onnxc_vector_bits == 256 || p.dots) && !r.toFloat && keepToWords(r.factors, lanes) &&
            (!r.sum || 255 * (r.sum[BlockResults::Own] + r.sum[BlockResults::Scale]) <= mostSteps * r.sum[BlockResults::Step]);
  return true;
}

bool readConv(const Args *a, IntegerConv &p) {
  const Tensor &x = a->in[X], &y = a->out[0];
  auto &attr = a->attr;
  p.groups = ByteGroups(attr[Group].i, attr[Channels].i, attr[Outputs].i);
  p.plain = attr[Plain].i != 0, p.channels = attr[Channels].i ? p.groups.channels : 0;
  if (x.rank != (p.plain ? 4 : 5) || y.rank != 5 || attr[KernelShape].n != 2 || attr[Strides].n != 2 || attr[Pads].n != 4 ||
      attr[Dilations].n != 2)
    return false;
  p.kernel = ints(attr[KernelShape]), p.strides = ints(attr[Strides]), p.pads = ints(attr[Pads]), p.dilations = ints(attr[Dilations]);
  p.blocks = x.dims[1], p.height = x.dims[2], p.width = x.dims[3];
  p.outBlocks = y.dims[1], p.outHeight = y.dims[2], p.outWidth = y.dims[3];
  p.border = uint8_t(attr[Border].i), p.flip = x.dtype == ONNXC_I8 ? 0x80808080u : 0;
  p.weights = a->in[W].data, p.table = hasIn(a, Lookup) ? in<uint8_t>(a, Lookup) : nullptr;
  p.offsets = hasIn(a, Offsets) ? in<int32_t>(a, Offsets) : nullptr, p.windowSums = nullptr;
  p.dots = hasDots(a), p.tiles = hasTiles(a), p.permute = permutes(a);
  p.pixel = p.plain ? p.channels : kLanes;
  return readResults(a, p) && (!p.plain || p.blocks == p.channels) &&
         (!p.offsets || (onnxc_count(a->in[Offsets]) == p.outBlocks * kLanes && p.channels)) &&
         (!p.table || onnxc_count(a->in[Lookup]) == 256) && (!p.results.other || p.channels);
}

int32_t convolve(const Args *a, const IntegerConv &p, const Depth &depth, const uint8_t *image, void *y) {
  int64_t quads = quadsOf(p), pixels = p.outHeight * p.outWidth, panels = panelsOf(p);
  ProductUnits units(p.tiles, pixels, panels, p.tiles ? tiledPart(pixels) : kPixels);
  auto body = [=](void *left, int64_t begin, int64_t end) {
    units.each(begin, end, [&](int64_t g, int64_t panel, int64_t count, int64_t first, int64_t last) {
      Unit unit{
          p, imageOf(p, image, g), panelOf(p, g, panel), g, g * p.groups.outBlocks + panel * kPanelBlocks, lastBlockOf(p, g), quads, depth,
          y};
      if (unit.block >= unit.last)
        return;  // the last groups may lack panels
      if (p.tiles)
        unit.runTiles(first, last, count, static_cast<uint8_t *>(left));
      else
        unit.run(first, last);
    });
    return int32_t(ONNXC_K_OK);
  };
  return parallelScratchFor(a, units.count(p.groups.count), grainOf(units.part * quads * 2), p.tiles ? TiledRows::bytes(quads) : 0, body);
}

// The border and the corrections of a zero point that only the run knows.
int32_t readZeroPoint(const Args *a, IntegerConv &p) {
  if (!hasIn(a, ZeroPoint))
    return ONNXC_K_OK;
  if (onnxc_count(a->in[ZeroPoint]) != 1)
    return ONNXC_K_SHAPE;
  p.border = *in<uint8_t>(a, ZeroPoint);
  int64_t lanes = p.outBlocks * kLanes;
  int32_t *to = heap<int32_t>(a, lanes), zero = p.flip ? int32_t(int8_t(p.border)) + 128 : int32_t(p.border);
  if (!to)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < lanes; ++i)
    to[i] = -zero * p.results.corrections[i];
  p.results.corrections = to;
  return ONNXC_K_OK;
}

int32_t linearConv(const Args *a) {
  IntegerConv p;
  if (!readConv(a, p))
    return ONNXC_K_SHAPE;
  ONNXC_TRY(readZeroPoint(a, p));
  if (p.channels == 0)
    return depthwiseConv(a, p);
  bool copies = p.plain || p.pads[0] || p.pads[1] || p.pads[2] || p.pads[3];
  int64_t planes = p.plain ? 1 : p.blocks, rows = p.height + p.pads[0] + p.pads[2], pixels = p.outHeight * p.outWidth;
  p.row = (p.width + p.pads[1] + p.pads[3]) * p.pixel, p.plane = rows * p.row;
  constexpr int64_t leastQuads = 12;  // of a tile's 16: gathering fewer takes longer than their products in registers
  p.tiles = p.tiles && pixels >= kLeastTiled && quadsOf(p) >= leastQuads;
  if (onnxc_count(a->in[W]) != p.groups.count * panelsOf(p) * quadsOf(p) * kColumns * 4 ||
      (!p.plain && p.blocks != p.groups.lastBlock + p.groups.blocks))
    return ONNXC_K_SHAPE;
  if (p.tiles && p.kernel[0] * p.kernel[1] > 1)
    return windowConv(a, p);
  int64_t most = mostSegments(p);
  int64_t sums = p.offsets ? p.groups.count * pixels * int64_t(sizeof(int32_t)) : 0;
  int64_t bytes = most * int64_t(sizeof(Segment)) + sums + (copies ? planes * p.plane + 64 : 0);
  char *scratch = static_cast<char *>(onnxc_rt_scratch(a->rt, bytes));
  if (!scratch)
    return ONNXC_K_MEMORY;
  Segment *segments = reinterpret_cast<Segment *>(scratch);
  int32_t *windows = reinterpret_cast<int32_t *>(segments + most);
  uint8_t *copy = reinterpret_cast<uint8_t *>(windows) + sums;
  Depth depth{segments, segmentsOf(p, segments), p.flip, panelShape(p)};
  return eachImage(a, p, [&](const uint8_t *from, char *y) -> int32_t {
    if (copies)
      ONNXC_TRY(parallelFor(a, planes * rows, grainOf(p.row / 8), [=](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r)
          copyRow(p, from, r, copy + r * p.row);
        return int32_t(ONNXC_K_OK);
      }));
    const uint8_t *image = copies ? copy : from;
    if (p.offsets) {
      ONNXC_TRY(sumWindows(a, p, depth, [=](int64_t group) { return imageOf(p, image, group); }, windows));
      p.windowSums = windows;
    }
    return convolve(a, p, depth, image, y);
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastLinearConv(const onnxc_args *a) { return onnxc::linearConv(a); }
