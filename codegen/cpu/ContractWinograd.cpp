// ContractWinograd.cpp: convolutions by Winograd's transformation of one axis or two: a chunk of input tiles is transformed into scratch
// memory, multiplied with the transformed filters point by point (Rows.h), and transformed back. passes/layout/Winograd.cpp has the points,
// and the filters where they are not large: those are transformed for each chunk.
//
// tile     pixels of the result, 4x4 of a 3x3 filter, from 6x6 of the input; in a dilated convolution they lie apart
// segment  a part of a large filter, 4x4 of 7x7, whose inputs lie a segment's taps further
// chunk    tiles of one image or of several, whose tiles follow one another
// unit     a chunk of a group of channels, a register tile's output panels; a task takes several of them at once
// scratch  inputs [points, segments, blocks, tiles, 16], products [points, group's panels, tiles, 16], and of filters that are transformed
//          here those of some blocks [points, group's panels, blocks * 16, 16]; a few lines keep the points apart from a power of two
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Rows.h"
#include "codegen/cpu/Strips.h"
#include "dialects/onnx/Packed.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {
namespace {

// One axis. Of a dilated one the first tiles of all phases come before the second.
struct Axis : onnx::WinogradAxis {
  int64_t dilation, pad;

  Axis(onnx::PackedWinogradConvOp op, int64_t axis)
      : WinogradAxis(op.getKernelShape()[axis]), dilation(op.getDilations()[axis]), pad(op.getPads()[axis]) {}
  AffineExpr tiles(AffineExpr size) const { return size.ceilDiv(dilation).ceilDiv(results()) * dilation; }
  std::optional<int64_t> tiles(std::optional<int64_t> size) const {
    return size ? std::optional(onnx::WinogradAxis::tiles(*size, dilation)) : size;
  }
  Value tiles(Code &c, Value size) const { return c.mul(c.ceilDiv(c.ceilDiv(size, dilation), results()), dilation); }
  // The first result of a tile.
  Value first(Code &c, Value tile) const {
    return dilation == 1 ? c.mul(tile, results()) : c.add(c.rem(tile, dilation), c.mul(c.div(tile, dilation), dilation * results()));
  }
  // What a segment reads for the first result of the image.
  Value input(Code &c, Value index) const { return c.sub(c.mul(index, segment * dilation), pad); }
  // Which of an input tile's pixels from `first` on are of `size`; whether all of them are.
  Code::Values exist(Code &c, Value first, Value size) const {
    Code::Values flags;
    for (int64_t i = 0; i < points(); ++i) {
      Value at = c.add(first, i * dilation);
      flags.push_back(c.both(c.less(c.n(-1), at), c.less(at, size)));
    }
    return flags;
  }
  Value contains(Code &c, Value first, Value size) const { return c.both(c.less(c.n(-1), first), fits(c, first, points(), size)); }
  // Whether all of a tile's `count` pixels from `first` on are of `size`.
  Value fits(Code &c, Value first, int64_t count, Value size) const { return c.less(c.add(first, (count - 1) * dilation), size); }
};

// What the tiles of one image read. Sizes in bytes.
struct InputImage {
  FrameBlocks blocks;
  Value base, line, plane;
};

// A tile of a chunk and of a segment, and its first pixel, which may lie outside the image.
struct InputTile {
  Value tile, segment, top, left;
};

struct Winograd {
  KernelCode &c;
  onnx::PackedWinogradConvOp op;
  Epilogue epilogue;
  Axis down, right;
  int64_t points, segments, groups;
  Code::Values x, y;  // sizes
  SmallVector<AffineExpr> yExprs;
  int64_t blocks, depth, panels;                       // of a group of channels
  int64_t tiles, groupPanels, inputStep, productStep;  // tiles of a chunk; bytes from one point to the next
  bool large;                                          // filters are transformed here
  int64_t panelBytes, filterStep;                      // of transformed filters
  int64_t together;                                    // blocks of channels whose filters are transformed together
  bool wholeChunks = false;                            // every chunk works on `tiles`: those past the last are that one again
  std::optional<RowsSchedule> rows;                    // a chunk's tiles, at each point
  VectorType lanes;
  Value across, ofImage, count;  // tiles of a line, of an image and of all

  Winograd(KernelCode &code, onnx::PackedWinogradConvOp op);
  // Whether filters come slower than they are multiplied, if a chunk has few tiles: those that no second-level cache holds.
  bool waitsForFilters() const { return onnx::areLargeFilters(points * groups * panels * depth * kLanes * kLanes); }
  double flops(int64_t panels) const { return 2.0 * double(points * tiles * depth * kLanes * panels * kLanes); }  // of a chunk
  Value products() { return c.at(c.scratch, points * inputStep); }
  Value filters() { return c.at(products(), points * productStep); }
  int64_t scratchBytes() const { return points * (inputStep + productStep + (large ? filterStep : 0)); }
  int64_t tapCount() const { return down.segment * right.segment; }
  int64_t tapBytes(int64_t blocks) const { return blocks * kLanes * tapCount() * kPanelBytes; }  // of a panel
  Code::Values inputRow(const Axis &axis, ValueRange d);
  Code::Values outputRow(const Axis &axis, ValueRange m);
  // The address of a tile's pixel in a plane.
  using PixelAddress = llvm::function_ref<Value(Value plane, int64_t row, int64_t column)>;
  Value transformed(Value block, const InputTile &t);
  void transform(const InputImage &image, const InputTile &t, PixelAddress pixel);
  void transformTile(const InputImage &image, const InputTile &t);
  // A tile of all images.
  struct Place {
    Value n, row, column;
  };
  Place place(Value tile);
  // The units of a group of channels.
  struct Part {
    Value chunk, group;
  };
  void transformInputs(const Part &part, Value have);
  int64_t chunkTiles();
  void chooseRows();
  struct Range {
    Value from, to;
  };
  Value taps(const Part &part, Value panel, Value block) {
    Value at = c.add(c.mul(c.add(c.mul(part.group, panels), panel), depth), block);
    return c.at(c.address(op.getW()), c.mul(at, tapBytes(1)));
  }
  Value combine(ArrayRef<double> factors, ValueRange taps);
  void transformFilters(const Part &part, const Range &panelsOf, const Range &blocksOf, Value next);
  void product(Value point, Value count, const Range &panelsOf, RowsProblem p);
  void multiply(const Part &part, Value count, const Range &panelsOf);
  void finishTiles(const Part &part, Value from, Value to);
  void finishTile(Place first, Value panel, Value at, bool whole);
  void emit();
};

Winograd::Winograd(KernelCode &code, onnx::PackedWinogradConvOp op)
    : c(code), op(op), epilogue(code, op), down(op, 0), right(op, 1), points(down.points() * right.points()),
      segments(down.segments * right.segments), groups(op.getGroup()), x(code.sizes(cast<RankedTensorType>(op.getX().getType()))),
      y(code.sizes(cast<RankedTensorType>(op.getY().getType()))), yExprs(sizeExprs(cast<RankedTensorType>(op.getY().getType()))),
      lanes(code.vec(code.f32, kLanes)) {
  constexpr int64_t apart = 5 * 64;
  ArrayRef<int64_t> f = cast<RankedTensorType>(op.getW().getType()).getShape();
  large = f.size() == 5, panels = f[large ? 0 : 1] / groups, depth = f[large ? 1 : 2] / kLanes, blocks = depth / segments;
  tiles = scheduled(c.kernel, "chunk", chunkTiles(), 4 * onnx::kMostWinogradTiles);
  chooseRows();
  // A group is a multiple of the register tile's panels: RowsEmitter gives only the last one a rest. Each reads a chunk's inputs.
  int64_t step = rows->tile.panels, most = large ? 2 : waitsForFilters() ? 8 : 4;
  groupPanels = std::min(panels, std::max<int64_t>(1, most / step) * step);
  groupPanels = std::min<int64_t>(panels, llvm::divideCeil(scheduled(c.kernel, "group", groupPanels, panels), step) * step);
  inputStep = depth * tiles * kPanelBytes + apart, productStep = groupPanels * tiles * kPanelBytes + apart;
  panelBytes = together * kLanes * kPanelBytes, filterStep = groupPanels * panelBytes + apart;
}

// How a chunk's tiles are multiplied. An image of unknown size may have few of them: register tiles of eight take 4, 16, 49, 64 and 196
// tiles almost evenly, and a chunk has only as many as it needs.
void Winograd::chooseRows() {
  constexpr int64_t rowsOfUnknown = 8;
  if (wholeChunks) {
    rows.emplace(c, tiles, panels, depth, kLanes, PanelType());
  } else {
    rows.emplace(c, std::nullopt, panels, depth, kLanes, PanelType(), rowsOfUnknown);
    rows->wholeTiles = true;
    tiles = llvm::divideCeil(tiles, rows->tile.rows) * rows->tile.rows;
  }
  together = depth;
  if (large)  // the points of so many stay in the second-level cache
    together = scheduled(c.kernel, "depth", std::min<int64_t>(depth, c.vectorBits >= 512 ? 4 : 2), depth), rows->depthBlock = 0;
  else
    rows->scheduleDepth(c.kernel, depth);
}

// Tiles of a chunk, shared out evenly: as many as the second-level cache holds the transformed inputs of; more where the filters lie behind
// it and are waited for. Smaller chunks read filters more often, which costs a single thread up to 10 %: only what would keep
// few processors alone busy is cut. Images with fewer tiles share chunks, if it is known how many there are: one may be alone.
int64_t Winograd::chunkTiles() {
  constexpr int64_t inputBytes = 768 << 10, manyBytes = 4 << 20, least = 14, leastShare = 8, fewUnits = 4;
  constexpr int64_t mostlyPanels = 2;  // of a unit: those of most register tiles
  constexpr double largeUnit = 2e6;    // flops
  tiles =
      std::clamp<int64_t>((waitsForFilters() ? manyBytes : inputBytes) / (points * depth * kPanelBytes), least, onnx::kMostWinogradTiles);
  auto images = constantOf(yExprs[0]), high = down.tiles(constantOf(yExprs[2])), wide = right.tiles(constantOf(yExprs[3]));
  bool isSmall = high && wide && *high * *wide < tiles;
  if (!high || !wide || (!images && isSmall))
    return tiles;
  wholeChunks = true;
  int64_t together = isSmall ? std::max<int64_t>(*images, 1) : 1, all = std::max<int64_t>(1, together * *high * *wide);
  int64_t chunks = llvm::divideCeil(all, tiles), parts = images.value_or(1) / together * groups * llvm::divideCeil(panels, mostlyPanels);
  tiles = llvm::divideCeil(all, chunks);
  while (chunks * parts < fewUnits && flops(mostlyPanels) >= largeUnit && all >= 2 * chunks * leastShare)
    chunks *= 2, tiles = llvm::divideCeil(all, chunks);
  return tiles;
}

// B^T d: row j of B^T holds the coefficients of the product of (x - p_i) over the points i other than j, that of infinity those of all.
// Written with u = x^2 + 3/2 x - 1 = (x - 1/2) (x + 2) and w = x^2 - 1, each shifted.
Code::Values Winograd::inputRow(const Axis &axis, ValueRange d) {
  if (!axis.isTransformed())
    return Code::Values(d);
  Type type = d[0].getType();
  Value half = c.real(1.5, type);
  auto w = [&](int64_t i) { return c.subf(d[i + 2], d[i]); };
  Value w0 = w(0), w1 = w(1), w2 = w(2), w3 = w(3);
  auto u = [&](int64_t i, Value wi) { return c.fma(half, d[i + 1], wi); };
  Value u0 = u(0, w0), u1 = u(1, w1), u2 = u(2, w2), u3 = u(3, w3);
  return {c.subf(u2, u0), c.addf(u2, u1), c.subf(u2, u1), c.fma(c.real(2, type), w1, w2), c.fma(c.real(-0.5, type), w1, w2),
          c.subf(u3, u1)};
}

// A^T m: row i of A^T holds the points to the power of i, infinity only in the last.
Code::Values Winograd::outputRow(const Axis &axis, ValueRange m) {
  if (!axis.isTransformed())
    return Code::Values(m);
  Value sum = c.addf(m[1], m[2]), difference = c.subf(m[1], m[2]);
  Code::Values rows{c.addf(c.addf(m[0], sum), c.addf(m[3], m[4]))};
  double half = 0.5, two = -2;
  for (int64_t i = 1; i < axis.results(); ++i, half *= 0.5, two *= -2)
    rows.push_back(c.fma(c.real(half, lanes), m[3], c.fma(c.real(two, lanes), m[4], i % 2 ? difference : sum)));
  rows.back() = c.addf(rows.back(), m[5]);
  return rows;
}

// Where the first point of an input tile lies in scratch memory; the next is `inputStep` further.
Value Winograd::transformed(Value block, const InputTile &t) {
  return c.at(c.scratch, c.add(c.mul(c.add(block, c.mul(t.segment, blocks)), tiles * kPanelBytes), c.mul(t.tile, kPanelBytes)));
}

// B^T d B of a tile, in each of the image's blocks.
void Winograd::transform(const InputImage &image, const InputTile &t, PixelAddress pixel) {
  // A tile's values in one register each, where there are almost as many.
  int64_t parts = c.vectorRegisters == 32 ? kPanelBytes * 8 / c.vectorBits : 1;
  c.loop(image.blocks.low, image.blocks.high, c.n(1), [&](Value block) {
    Value plane = c.at(image.base, c.mul(block, image.plane));
    c.loop(c.n(0), c.n(kPanelBytes), c.n(kPanelBytes / parts), [&](Value part) {
      SmallVector<Code::Values> columns;
      for (int64_t j = 0; j < right.points(); ++j) {
        Code::Values d;
        for (int64_t i = 0; i < down.points(); ++i)
          d.push_back(c.load(c.vec(c.f32, kLanes / parts), c.at(pixel(plane, i, j), part)));
        columns.push_back(inputRow(down, d));
      }
      Value to = transformed(block, t);
      for (int64_t i = 0; i < down.points(); ++i) {
        Code::Values d = llvm::map_to_vector(columns, [&](const Code::Values &column) { return column[i]; });
        for (auto [j, v] : llvm::enumerate(inputRow(right, d)))
          c.store(v, c.at(c.at(to, (i * right.points() + int64_t(j)) * inputStep), part));
      }
    });
  });
}

// A tile whose pixels outside the image count as zero.
void Winograd::transformTile(const InputImage &image, const InputTile &t) {
  Value first = c.add(c.mul(t.top, image.line), c.mul(t.left, kPanelBytes));
  Value lines = c.mul(image.line, down.dilation);
  int64_t pixels = kPanelBytes * right.dilation;
  auto inside = [&] {
    transform(image, t, [&](Value plane, int64_t i, int64_t j) { return c.at(c.at(c.at(plane, first), c.mul(lines, i)), j * pixels); });
  };
  auto atBorder = [&] {
    Code::Values rows = down.exist(c, t.top, x[2]), columns = right.exist(c, t.left, x[3]);
    Value zeros = zeroBytes(c);
    transform(image, t, [&](Value plane, int64_t i, int64_t j) {
      Value at = c.at(plane, c.add(c.add(first, c.mul(lines, i)), j * pixels));
      return c.select(c.both(rows[i], columns[j]), at, zeros);
    });
  };
  c.when(c.both(down.contains(c, t.top, x[2]), right.contains(c, t.left, x[3])), inside, atBorder);
}

Winograd::Place Winograd::place(Value tile) {
  bool single = constantOf(yExprs[0]) == 1;
  Value n = single ? c.n(0) : c.div(tile, ofImage), own = single ? tile : c.rem(tile, ofImage);
  return {n, down.first(c, c.div(own, across)), right.first(c, c.rem(own, across))};
}

// The first `have` tiles of a chunk; those past the last are that one again.
void Winograd::transformInputs(const Part &part, Value have) {
  Value line = c.mul(x[3], kPanelBytes), plane = c.mul(x[2], line);
  auto frames = onnx::frameAxis(op);
  auto eachTile = [&](Value t, Value segment) {
    Place at = place(c.min(c.add(c.mul(part.chunk, tiles), t), c.sub(count, 1)));
    FrameBlocks own = frames ? frameBlocks(c, *frames, x[1], at.n)
                             : FrameBlocks{c.add(c.mul(at.n, x[1]), c.mul(part.group, blocks)), c.n(0), c.n(blocks)};
    InputImage image{own, c.at(c.address(op.getX()), c.mul(own.first, plane)), line, plane};
    Value top = c.add(at.row, down.input(c, c.div(segment, right.segments)));
    Value left = c.add(at.column, right.input(c, c.rem(segment, right.segments)));
    InputTile input{t, segment, top, left};
    auto clear = [&](Value block) {
      Value to = transformed(block, input);
      for (int64_t i = 0; i < points; ++i)
        c.store(c.real(0, lanes), c.at(to, i * inputStep));
    };
    if (frames) {  // those that there are not
      c.loop(c.n(0), own.low, c.n(1), clear);
      c.loop(own.high, c.n(blocks), c.n(1), clear);
    }
    transformTile(image, input);
  };
  auto ofSegment = [&](Value segment) { c.loop(c.n(0), have, c.n(1), [&](Value t) { eachTile(t, segment); }); };
  segments == 1 ? ofSegment(c.n(0)) : c.loop(c.n(0), c.n(segments), c.n(1), ofSegment);
}

// What a point is of taps, those of even powers first: points that differ in their sign share the sum.
Value Winograd::combine(ArrayRef<double> factors, ValueRange taps) {
  const bool alike = llvm::all_of(factors, [&](double f) { return std::abs(f) == std::abs(factors[0]); });
  Value sum;
  for (size_t first : {0, 1})
    for (size_t i = first; i < factors.size(); i += 2) {
      if (factors[i] == 0)
        continue;
      auto factor = [&] { return c.real(factors[i], taps[i].getType()); };
      if (!sum)
        sum = alike || factors[i] == 1 ? taps[i] : c.mulf(factor(), taps[i]);
      else if (!alike)
        sum = c.fma(factor(), taps[i], sum);
      else
        sum = factors[i] == factors[0] ? c.addf(sum, taps[i]) : c.subf(sum, taps[i]);
    }
  return alike && factors[0] != 1 ? c.mulf(c.real(factors[0], sum.getType()), sum) : sum;
}

// G g G^T of the channels of some blocks. `next`: the taps that come after them.
void Winograd::transformFilters(const Part &part, const Range &panelsOf, const Range &blocksOf, Value next) {
  const auto g = down.filters(), h = right.filters();
  const int64_t parts = kPanelBytes * 8 / c.vectorBits;
  VectorType type = c.vec(c.f32, kLanes / parts);
  c.loop(panelsOf.from, panelsOf.to, c.n(1), [&](Value panel) {
    Value along = c.sub(panel, panelsOf.from), sink = c.at(filters(), c.mul(along, panelBytes));
    Value source = taps(part, panel, blocksOf.from), ahead = c.at(next, c.mul(along, tapBytes(depth)));
    c.loop(c.n(0), c.mul(c.sub(blocksOf.to, blocksOf.from), kLanes * kPanelBytes), c.n(kPanelBytes), [&](Value step) {
      for (int64_t i = 0; i < tapCount() && !rows->asksAhead(c); ++i)
        c.prefetch(c.at(c.at(ahead, c.mul(step, tapCount())), i * kPanelBytes), /*locality=*/2);
      c.loop(c.n(0), c.n(kPanelBytes), c.n(kPanelBytes / parts), [&](Value lane) {
        Value of = c.at(c.at(source, c.mul(step, tapCount())), lane), to = c.at(c.at(sink, step), lane);
        SmallVector<Code::Values> columns(right.segment);
        for (int64_t i = 0; i < tapCount(); ++i)
          columns[i % right.segment].push_back(c.load(type, c.at(of, i * kPanelBytes)));
        for (int64_t i = 0; i < down.points(); ++i) {
          Code::Values row = llvm::map_to_vector(columns, [&](const Code::Values &column) { return combine(g[i], column); });
          for (int64_t j = 0; j < right.points(); ++j)
            c.store(combine(h[j], row), c.at(to, (i * right.points() + j) * filterStep));
        }
      });
    });
  });
}

void Winograd::product(Value point, Value count, const Range &panelsOf, RowsProblem p) {
  Epilogue none(c, nullptr);
  p.a = c.at(c.scratch, c.mul(point, inputStep));
  p.out = c.at(products(), c.sub(c.mul(point, productStep), c.mul(panelsOf.from, tiles * kPanelBytes)));
  p.outOffset = c.n(0);
  p.rowBytes = p.outRowBytes = c.n(kPanelBytes);
  p.blockBytes = p.outPanelBytes = c.n(tiles * kPanelBytes);
  p.depth = c.n(depth), p.panelBytes = c.n(panelBytes), p.lastSteps = lastBlockSteps(op.getChannels());
  p.index = [](Value, Value) { return Code::Values(); };
  RowsEmitter(c, none, *rows).emit(p, count, {c.n(0), rows->tiles(c, count)}, c.n(panels), panelsOf.from, panelsOf.to);
}

void Winograd::multiply(const Part &part, Value count, const Range &panelsOf) {
  if (!large)
    return c.loop(c.n(0), c.n(points), c.n(1), [&](Value point) {
      RowsProblem p;
      p.b = c.at(c.address(op.getW()), c.mul(c.add(c.mul(point, groups), part.group), panels * panelBytes));
      p.nextB = c.at(p.b, c.add(c.n(groups * panels * panelBytes), c.mul(panelsOf.from, panelBytes)));
      product(point, count, panelsOf, p);
    });
  c.loop(c.n(0), c.n(depth), c.n(together), [&](Value begin) {
    Range blocksOf{begin, c.min(c.add(begin, together), c.n(depth))};
    Value next = c.select(c.less(blocksOf.to, c.n(depth)), taps(part, panelsOf.from, blocksOf.to), taps(part, panelsOf.to, c.n(0)));
    transformFilters(part, panelsOf, blocksOf, next);
    c.loop(c.n(0), c.n(points), c.n(1), [&](Value point) {
      RowsProblem p;
      p.b = c.at(filters(), c.sub(c.mul(point, filterStep), c.add(c.mul(panelsOf.from, panelBytes), c.mul(begin, kLanes * kPanelBytes))));
      p.firstStep = begin, p.endStep = blocksOf.to;
      if (rows->asksAhead(c))  // each for a share
        p.nextB = c.at(next, c.mul(point, tapBytes(together) / points / 64 * 64)), p.nextPanelBytes = c.n(tapBytes(depth));
      product(point, count, panelsOf, p);
    });
  });
}

// The pixels of a tile from `first` on; `at`: the tile's product at the first point. Where not `whole`, only pixels of the result.
void Winograd::finishTile(Place first, Value panel, Value at, bool whole) {
  Value bias = op.getBias() ? c.load(lanes, c.at(c.address(op.getBias()), c.mul(panel, kPanelBytes))) : Value();
  SmallVector<Code::Values> columns;
  for (int64_t j = 0; j < right.points(); ++j) {
    Code::Values m;
    for (int64_t i = 0; i < down.points(); ++i)
      m.push_back(c.load(lanes, c.at(at, (i * right.points() + j) * productStep)));
    columns.push_back(outputRow(down, m));
  }
  Value plane = c.mul(c.add(c.mul(first.n, y[1]), panel), c.mul(y[2], y[3]));
  // `body` of the pixels of a row that exist, with their place and address.
  auto eachPixel = [&](Value i, llvm::function_ref<void(int64_t, const LanePlace &, Value)> body) {
    Value row = c.add(first.row, c.mul(i, down.dilation));
    auto line = [&] {
      for (int64_t j = 0; j < right.results(); ++j) {
        Value column = c.add(first.column, j * right.dilation);
        auto pixel = [&] {
          Value offset = c.mul(c.add(plane, c.add(c.mul(row, y[3]), column)), kPanelBytes);
          body(j, LanePlace{offset, [&] { return Code::Values{first.n, panel, row, column, c.n(0)}; }}, c.at(c.result(0), offset));
        };
        whole ? pixel() : c.when(c.less(column, y[3]), pixel);
      }
    };
    whole ? line() : c.when(c.less(row, y[2]), line);
  };
  bool later = epilogue.isLong();
  for (int64_t i = 0; i < down.results(); ++i) {
    Code::Values pixels = outputRow(right, llvm::map_to_vector(columns, [&](const Code::Values &column) { return column[i]; }));
    eachPixel(c.n(i), [&](int64_t j, const LanePlace &place, Value at) {
      Value v = bias ? c.addf(pixels[j], bias) : pixels[j];
      c.store(later ? v : epilogue.apply(v, place, Value()), at);
    });
  }
  if (later)
    c.loop(c.n(0), c.n(down.results()), c.n(1), [&](Value i) {
      eachPixel(i, [&](int64_t, const LanePlace &place, Value at) { c.store(epilogue.apply(c.load(lanes, at), place, Value()), at); });
    });
}

void Winograd::finishTiles(const Part &part, Value from, Value to) {
  Value before = c.mul(part.group, panels), first = c.mul(part.chunk, tiles), most = c.min(c.n(tiles), c.sub(count, first));
  auto isWhole = [&](const Axis &axis, Value size) { return Code::constant(c.rem(size, axis.results() * axis.dilation)) == 0; };
  bool even = isWhole(down, y[2]) && isWhole(right, y[3]);
  c.loop(from, to, c.n(1), [&](Value panel) {
    c.loop(c.n(0), most, c.n(1), [&](Value t) {
      Place p = place(c.add(first, t));
      Value at = c.at(products(), c.mul(c.add(c.mul(c.sub(panel, from), tiles), t), kPanelBytes));
      Value whole = even ? c.flag(true) : c.both(down.fits(c, p.row, down.results(), y[2]), right.fits(c, p.column, right.results(), y[3]));
      Value own = c.add(before, panel);
      c.when(whole, [&] { finishTile(p, own, at, true); }, [&] { finishTile(p, own, at, false); });
    });
  });
}

void Winograd::emit() {
  int64_t step = rows->tile.panels, parts = llvm::divideCeil(panels, step);
  MLIRContext *context = c.b.getContext();
  AffineExpr tilesExpr = yExprs[0] * down.tiles(yExprs[2]) * right.tiles(yExprs[3]);
  setExtent(c.kernel, {tilesExpr.ceilDiv(tiles), getAffineConstantExpr(groups * parts, context)}, flops(step));
  setScratch(c.kernel, getAffineConstantExpr(scratchBytes(), context));
  across = right.tiles(c, y[3]), ofImage = c.mul(down.tiles(c, y[2]), across), count = c.mul(y[0], ofImage);
  // The units of a group of channels follow one another: its inputs are transformed once.
  UnitLoop units{c.begin, c.end, c.n(parts), int64_t(llvm::divideCeil(groupPanels, step))};
  units.loop(c, {c.n(-1)}, [&](Value at, Value first, Value end, ValueRange have) {
    Part part{groups == 1 ? at : c.div(at, groups), groups == 1 ? c.n(0) : c.rem(at, groups)};
    Value from = c.mul(first, step), to = c.min(c.mul(end, step), c.n(panels));
    Value rest = c.sub(count, c.mul(part.chunk, tiles)), height = c.n(rows->tile.rows);
    Value held = wholeChunks ? c.n(tiles) : c.min(c.n(tiles), c.mul(c.ceilDiv(rest, height), height));
    c.when(c.equal(at, have[0]), [] {}, [&] { transformInputs(part, held); });
    multiply(part, held, {from, to});
    finishTiles(part, from, to);
    return Code::Values{at};
  });
}
}  // namespace

LogicalResult emitPackedWinograd(KernelCode &code, Operation *op) {
  Winograd(code, cast<onnx::PackedWinogradConvOp>(op)).emit();
  return success();
}

}  // namespace onnxc
