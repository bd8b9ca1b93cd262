// ConvTiles.cpp: strips of windows of ConvTiles.h, and when they pay.
//
// strip  a rectangle of a result that one call of the library computes for some panels
// share  of a task: panels of one strip after those of the one before
#include "codegen/cpu/ConvTiles.h"
#include "codegen/cpu/RowTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kLeastUnknown = 64;  // windows that tiles gain by
static constexpr int64_t kLongest = 256;      // pixels of an axis that a window covers

// As many as `most` of `all`, in parts alike.
static int64_t alike(int64_t all, int64_t most) { return llvm::divideCeil(all, llvm::divideCeil(all, most)); }

ConvTiles::ConvTiles(KernelCode &code, const Epilogue &epilogue, const WindowsProblem &problem)
    : c(code), epilogue(epilogue), p(problem), size{Code::constant(p.y[2]), Code::constant(p.y[3])}, shape{nullptr, 0, p.blocks, {}} {
  int64_t taps[] = {p.w.kh, p.w.kw};
  for (int i = 0; i < 2; ++i)
    shape.axes[i] = {0, 0, p.w.strides[i], p.w.dilations[i], taps[i], 0};
  if (isKnown()) {
    int64_t height = std::max<int64_t>(1, *size[0]), width = std::max<int64_t>(1, *size[1]);
    columns = alike(width, std::max(kWindowColumns, kWindows / height));
    lines = alike(height, std::max<int64_t>(1, kWindows / columns));
  }
  if (!isShort())
    return;
  pixels = shape.pixels(isKnown() ? lines : kWindows / columns, columns);
  for (int64_t n = kWindows / lines; n < columns && !isKnown(); ++n)
    pixels = std::max(pixels, shape.pixels(kWindows / n, n));
}

bool ConvTiles::isShort() const {
  auto isShort = [](const FloatWindows::Axis &a) { return a.taps == 1 || (a.dilation <= kLongest && a.reads(1) <= kLongest); };
  return shape.taps() <= kWindowTaps && isShort(shape.axes[0]) && isShort(shape.axes[1]);
}

// The share of taps that meet an axis of `size` pixels, of which windows make `results`.
static double meeting(const FloatWindows::Axis &a, int64_t pad, int64_t size, int64_t results) {
  int64_t met = 0;
  for (int64_t tap = 0; tap < a.taps; ++tap) {
    int64_t first = tap * a.dilation - pad, begin = first < 0 ? llvm::divideCeil(-first, a.stride) : 0;
    int64_t end = first < size ? llvm::divideCeil(size - first, a.stride) : 0;
    met += std::max<int64_t>(0, std::min(end, results) - begin);
  }
  return double(met) / double(std::max<int64_t>(1, a.taps * results));
}

bool ConvTiles::gains() const {
  if (!c.mayHaveTiles || !isShort())
    return false;
  double taps = double(shape.taps()), panels = double(p.panels), pairs = double(shape.pairs());
  double windows = double(isKnown() ? lines * columns : kWindows), met = 1;
  for (int i = 0; i < 2; ++i)
    if (auto image = Code::constant(p.x[2 + i]); image && size[i])
      met *= meeting(shape.axes[i], p.w.pads[i], *image, *size[i]);
  // Cycles of a strip: two FMAs each, of taps that are no padding; six products of digits for tiles of sixteen pixels, a cycle each for a
  // pixel at a lower frequency, digits of the pixels and those of panels beside products, a trip of sums. Where the core's other thread is
  // busy tiles take up to 1.3 times as long as that says.
  double joined = (std::ceil(windows / double(columns)) - 1) * double(shape.axes[1].reads(columns)) + double(columns);
  double tiles = std::min(std::ceil(joined / 16), double(lines) * std::ceil(double(columns) / 16));
  double products = 6 * 16 * 1.2 * tiles * pairs * taps * panels;
  double digits = 15 * double(pixels) * pairs + 16 * 6 * pairs * taps * panels;
  double inVectors = met * windows * taps * double(p.blocks) * 16 * panels / 2, inTiles = products + digits + 12 * windows * panels;
  return inVectors > 1.35 * inTiles;
}

int64_t ConvTiles::scratch() const { return windowsScratch(shape, pixels, p.panels); }

Value ConvTiles::canRun() const { return haveTiles(c, isKnown() ? c.flag(true) : c.less(c.n(kLeastUnknown - 1), c.mul(p.y[2], p.y[3]))); }

void ConvTiles::finish(Value sums, Value room, const Rectangle &part, Value n, Value first, Value count) const {
  Type lanes = c.vec(c.f32, kLanes);
  c.loop(c.n(0), count, c.n(1), [&](Value i) {
    Value panel = c.add(first, i), plane = c.mul(c.add(c.mul(n, p.y[1]), panel), c.mul(p.y[2], p.y[3]));
    Value bias = p.bias ? c.load(lanes, c.at(p.bias, c.mul(panel, kPanelBytes))) : Value();
    c.loop(c.n(0), part.rows, c.n(1), [&](Value r) {
      Value row = c.add(part.row, r), line = c.add(plane, c.add(c.mul(row, p.y[3]), part.column));
      Value from = c.at(sums, c.mul(c.add(c.mul(i, pixels), c.mul(r, room)), kPanelBytes));
      c.loop(c.n(0), part.columns, c.n(1), [&](Value q) {
        LanePlace place{c.mul(c.add(line, q), kPanelBytes), [&] { return p.index(n, panel, row, c.add(part.column, q)); }};
        Value sum = c.load(lanes, c.at(from, c.mul(q, kPanelBytes)));
        c.store(epilogue.apply(bias ? c.addf(sum, bias) : sum, place, Value()), c.at(p.out, place.offset));
      });
    });
  });
}

void ConvTiles::emit(Value units) const {
  Value width = c.max(p.y[3], c.n(1)), height = c.max(p.y[2], c.n(1));
  Value across = c.ceilDiv(width, columns), stripColumns = c.ceilDiv(width, across);
  Value down = c.ceilDiv(height, c.max(c.min(c.n(lines), c.div(c.n(kWindows), stripColumns)), c.n(1)));
  Value stripRows = c.ceilDiv(height, down), strips = c.mul(across, down);
  Value windows = c.local(sizeof(FloatWindows)), planeBytes = c.mul(c.mul(p.x[2], p.x[3]), kPanelBytes);
  c.store(planeBytes, c.at(windows, offsetof(FloatWindows, planeBytes)));
  c.store(c.n(p.blocks), c.at(windows, offsetof(FloatWindows, blocks)));
  for (int i = 0; i < 2; ++i) {
    const FloatWindows::Axis &axis = shape.axes[i];
    std::pair<int64_t, Value> fields[] = {{offsetof(FloatWindows::Axis, size), p.x[2 + i]},
                                          {offsetof(FloatWindows::Axis, pad), i ? p.w.left : p.w.top},
                                          {offsetof(FloatWindows::Axis, stride), c.n(axis.stride)},
                                          {offsetof(FloatWindows::Axis, dilation), c.n(axis.dilation)},
                                          {offsetof(FloatWindows::Axis, taps), c.n(axis.taps)},
                                          {offsetof(FloatWindows::Axis, pixelBytes), i ? p.pixelBytes : p.lineBytes}};
    for (auto [offset, value] : fields)
      c.store(value, c.at(windows, offsetof(FloatWindows, axes) + i * sizeof(axis) + offset));
  }
  Value all = c.mul(c.mul(c.mul(p.y[0], p.groups), strips), p.panels);
  units = c.max(units, c.n(1));
  Value first = c.ceilDiv(c.mul(c.begin, all), units), end = c.ceilDiv(c.mul(c.end, all), units);
  c.loop(c.div(first, p.panels), c.ceilDiv(end, p.panels), c.n(1), [&](Value strip) {
    Value before = c.mul(strip, p.panels), low = c.max(c.sub(first, before), c.n(0)), high = c.min(c.sub(end, before), c.n(p.panels));
    Value image = c.div(strip, strips), place = c.rem(strip, strips), n = c.div(image, p.groups), group = c.rem(image, p.groups);
    Value row = c.mul(c.div(place, across), stripRows), column = c.mul(c.rem(place, across), stripColumns);
    Rectangle part{row, column, c.max(c.min(c.sub(p.y[2], row), stripRows), c.n(0)),
                   c.max(c.min(c.sub(p.y[3], column), stripColumns), c.n(0))};
    c.store(p.imageOf(n, group), c.at(windows, offsetof(FloatWindows, image)));
    c.loop(low, high, c.n(kWindowPanels), [&](Value panel) {
      Value from = c.add(c.mul(group, p.panels), panel), count = c.min(c.sub(high, panel), c.n(kWindowPanels));
      Value lineBytes = c.mul(p.y[3], kPanelBytes), outPanelBytes = c.mul(p.y[2], lineBytes);
      Value out = c.add(c.mul(c.add(c.mul(n, p.y[1]), from), outPanelBytes), c.add(c.mul(row, lineBytes), c.mul(column, kPanelBytes)));
      Value arguments[] = {
          windows,           row,   column,    part.rows,        part.columns, c.n(pixels),  c.at(p.filters, c.mul(from, p.panelBytes)),
          c.n(p.panelBytes), count, c.scratch, c.at(p.out, out), lineBytes,    outPanelBytes};
      Value room = c.callLibrary("onnxc_float_windows", arguments, c.i64).getResult();
      finish(c.at(c.scratch, windowSums(shape, pixels)), room, part, n, from, count);
    });
  });
}

}  // namespace onnxc
