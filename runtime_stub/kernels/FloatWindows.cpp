// FloatWindows.cpp: windows of f32 times panels on x86's tiles that multiply bf16 (AMX), for generated kernels (codegen/cpu/ConvTiles.cpp).
// Digits and their products: DigitTiles.h. The image is split into digits once for all taps: a tile is sixteen pixels of it, 64 bytes
// apart.
//
// phase  pixels of the image that windows read a stride apart, an image of its own
// unit   a tap of two blocks of channels, 32 steps of the depth
// part   some pairs of blocks, which all panels meet before the next
// image  digits of pixels: [pair of blocks][digit][phase down][phase across][line][column][32 channels]
#include "runtime_stub/kernels/FloatWindows.h"
#include "runtime_stub/kernels/DigitTiles.h"

namespace onnxc {
namespace {

#if !defined(__aarch64__)
// Splits the units of some pairs of blocks of a panel into digits, a few pairs of steps at a time.
struct UnitSplitter {
  static constexpr int64_t kAhead = 4096, kTap = 16 * 64;  // bytes that memory takes the time of to give a line; of a block's tap
  const char *panel;
  int64_t taps, blocks, count;  // of units that are left
  uint8_t *to;
  int64_t block, tap = 0, pair = 0;  // the next ones

  UnitSplitter(const FloatWindows &w, const char *panel, int64_t begin, int64_t end, uint8_t *to)
      : panel(panel), taps(w.taps()), blocks(w.blocks), count((end - begin) * taps), to(to), block(begin * 2) {}
  __attribute__((always_inline)) void advance(int64_t pairs) {
    for (; pairs > 0 && count > 0; --pairs) {
      int64_t of = block + pair / 8;
      const char *from = panel + (of * taps + tap) * kTap + pair % 8 * 128;
      v16 even = of < blocks ? *(const v16 *)from : v16(0.0f), odd = of < blocks ? *(const v16 *)(from + 64) : v16(0.0f);
      __builtin_prefetch(from + kAhead);
      __builtin_prefetch(from + kAhead + 64);
      storeDigits(to + pair * 64, even, odd);
      if (++pair < kTileRows)
        continue;
      pair = 0, --count, to += kLeftBlock;
      if (++tap == taps)
        tap = 0, block += 2;
    }
  }
};

// The lines that the results of windows go to, asked for a few at a time.
struct WindowLines {
  const char *at;
  int64_t lineBytes, lines, columns, each, line = 0, column = 0;

  __attribute__((always_inline)) void fetch() {
    for (int64_t i = 0; i < each && line < lines; ++i) {
      __builtin_prefetch(at + line * lineBytes + column * 64, 1, 2);
      if (++column == columns)
        column = 0, ++line;
    }
  }
};

// What vectors do beside products of tiles.
struct BesideWindows {
  UnitSplitter next;
  int64_t pairs;
  WindowLines lines;

  __attribute__((always_inline)) void step() { next.advance(pairs); }
  __attribute__((always_inline)) void block() { lines.fetch(); }
};

struct Windows {
  const FloatWindows &w;
  int64_t line, column, lines, columns, pixels;
  const char *panels;
  int64_t panelBytes, count;  // of panels
  uint8_t *image, *right[2];
  float *sums;
  int64_t offsets[kWindowTaps] = {};
  int64_t height = w.axes[0].reads(lines), width = w.axes[1].reads(columns), digitBytes = pixels * 64, taps = w.taps();
  // Tiles of one line each, or of pixels one after the other, some of which are no window's.
  int64_t across = ceilDiv(columns, kTileRows), all = (lines - 1) * width + columns;
  bool joined = ceilDiv(all, kTileRows) <= lines * across;
  int64_t tiles = joined ? ceilDiv(all, kTileRows) : lines * across;
  int64_t each = joined ? ceilDiv(all, tiles) : ceilDiv(columns, across);

  int64_t room() const { return joined ? width : across * each; }  // of a line of sums
  // Where the digits of a tile's first pixel lie, from those of the first tile's.
  int64_t tileBytes(int64_t tile) const { return (joined ? tile * each : tile / across * width + tile % across * each) * 64; }
  // Where the digits of a tap of the first window lie.
  int64_t tapBytes(int64_t tap) const {
    int64_t phase = 0, place = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const FloatWindows::Axis &a = w.axes[axis];
      int64_t offset = (axis ? tap % w.axes[1].taps : tap / w.axes[1].taps) * a.dilation;
      phase = phase * a.phases() + offset % a.stride;
      place = place * width + offset / a.stride;
    }
    return (phase * height * width + place) * 64;
  }
  void splitLine(uint8_t *to, const char *from, int64_t down, int64_t phase, bool second) const {
    const FloatWindows::Axis &a = w.axes[1];
    int64_t first = column * a.stride - a.pad + phase;  // the pixels that exist are those of [begin, end)
    int64_t begin = first < 0 ? minOf(ceilDiv(-first, a.stride), width) : 0;
    int64_t end = maxOf(begin, first < a.size ? minOf(ceilDiv(a.size - first, a.stride), width) : 0);
    if (uint64_t(down) >= uint64_t(w.axes[0].size))
      begin = end = width;
    auto clear = [&](int64_t q) { storeLeft(to + q * 64, digitBytes, v16(0.0f), v16(0.0f)); };
    for (int64_t q = 0; q < begin; ++q)
      clear(q);
    for (int64_t q = begin; q < end; ++q) {
      const char *at = from + down * w.axes[0].pixelBytes + (first + q * a.stride) * a.pixelBytes;
      storeLeft(to + q * 64, digitBytes, *(const v16 *)at, second ? *(const v16 *)(at + w.planeBytes) : v16(0.0f));
    }
    for (int64_t q = end; q < width; ++q)
      clear(q);
  }
  // Digits of the pairs of blocks [begin, end).
  void splitImage(int64_t begin, int64_t end) const {
    int64_t top = line * w.axes[0].stride - w.axes[0].pad;
    for (int64_t pair = begin; pair < end; ++pair) {
      uint8_t *to = image + (pair - begin) * kFloatDigits * digitBytes;
      for (int64_t i = 0; i < w.axes[0].phases(); ++i)
        for (int64_t j = 0; j < w.axes[1].phases(); ++j)
          for (int64_t r = 0; r < height; ++r, to += width * 64)
            splitLine(to, w.image + 2 * pair * w.planeBytes, top + i + r * w.axes[0].stride, j, 2 * pair + 1 < w.blocks);
    }
  }
  // The lower digits of an infinity are NaN, and so are sums with them, which may be infinite: they are made again in order, but of windows
  // that have a NaN themselves.
  void mendSum(v16 &sum, const char *panel, int64_t row, int64_t col) const {
    bool hasNan = false;
    v16 inOrder = 0;
    for (int64_t unit = 0; unit < w.blocks * taps; ++unit) {
      int64_t tap = unit % taps, r = row * w.axes[0].stride - w.axes[0].pad + tap / w.axes[1].taps * w.axes[0].dilation;
      int64_t q = col * w.axes[1].stride - w.axes[1].pad + tap % w.axes[1].taps * w.axes[1].dilation;
      if (uint64_t(r) >= uint64_t(w.axes[0].size) || uint64_t(q) >= uint64_t(w.axes[1].size))
        continue;
      v16 x = *(const v16 *)(w.image + unit / taps * w.planeBytes + r * w.axes[0].pixelBytes + q * w.axes[1].pixelBytes);
      hasNan |= !__builtin_reduce_and(x == x);
      for (int k = 0; k < 16; ++k)
        inOrder += x[k] * *(const v16 *)(panel + (unit * 16 + k) * 64);
    }
    sum = sum == sum || hasNan ? sum : inOrder;  // sums beside it keep their bits
  }
  void mendSums() const {
    for (int64_t p = 0; p < count; ++p)
      for (int64_t r = 0; r < lines; ++r)
        for (int64_t q = 0; q < columns; ++q) {
          v16 &sum = *(v16 *)(sums + ((p * pixels) + r * room() + q) * 16);
          if (__builtin_expect(__builtin_reduce_and(sum == sum) == 0, false))
            mendSum(sum, panels + p * panelBytes, line + r, column + q);
        }
  }
  // A panel's products with the pixels, whose digits of `pairs` pairs of blocks lie at `from`.
  template <class Work>
  void multiply(const uint8_t *from, int64_t pairs, float *to, bool more, Work &beside) const {
    for (int64_t t = 0; t < tiles; t += 2, to += 2 * each * 16) {
      Pixels pixels{image + tileBytes(t), image + tileBytes(minOf(t + 1, tiles - 1)), digitBytes, offsets, taps, pairs};
      t + 1 < tiles ? multiplyPixels<2>(pixels, from, to, each * 16, more, beside)
                    : multiplyPixels<1>(pixels, from, to, each * 16, more, beside);
    }
  }
  int64_t run(const char *results, int64_t resultLineBytes, int64_t resultPanelBytes) {
    int64_t part = windowPart(w, pixels), pairs = w.pairs();
    for (int64_t i = 0; i < taps; ++i)
      offsets[i] = tapBytes(i);
    auto splitter = [&](int64_t panel, int64_t begin) {
      return UnitSplitter(w, panels + panel * panelBytes, begin, minOf(begin + part, pairs), right[1]);
    };
    UnitSplitter first = splitter(0, 0);
    first.to = right[0];
    first.advance(INT64_MAX);
    startTiles(each, /*rowTiles=*/2);
    for (int64_t k = 0; k < pairs; k += part) {
      int64_t end = minOf(k + part, pairs), times = ceilDiv(tiles, 2) * (end - k) * taps;
      splitImage(k, end);
      for (int64_t p = 0; p < count; ++p) {
        UnitSplitter next = p + 1 < count ? splitter(p + 1, k) : splitter(0, end);
        WindowLines asked{results + p * resultPanelBytes, resultLineBytes, end == pairs ? lines : 0, columns,
                          ceilDiv(lines * columns, times)};
        BesideWindows beside{next, ceilDiv(next.count * kTileRows, times * 6), asked};
        multiply(right[0], end - k, sums + p * pixels * 16, k > 0, beside);
        beside.next.advance(INT64_MAX);
        uint8_t *used = right[0];
        right[0] = right[1], right[1] = used;
      }
    }
    endTiles();
    mendSums();
    return room();
  }
};
#endif
}  // namespace
}  // namespace onnxc

using namespace onnxc;
#if !defined(__aarch64__)
extern "C" __attribute__((noinline)) int64_t onnxc_float_windows(const FloatWindows *w, int64_t line, int64_t column, int64_t lines,
                                                                 int64_t columns, int64_t pixels, const void *b, int64_t panelBytes,
                                                                 int64_t panels, void *scratch, const void *results,
                                                                 int64_t resultLineBytes, int64_t resultPanelBytes) {
  uint8_t *image = static_cast<uint8_t *>(scratch), *right = image + windowImageBytes(*w, pixels);
  Windows windows{*w,
                  line,
                  column,
                  lines,
                  columns,
                  pixels,
                  static_cast<const char *>(b),
                  panelBytes,
                  panels,
                  image,
                  {right, right + windowPanelBytes(*w, pixels)},
                  (float *)(image + windowSums(*w, pixels))};
  return windows.run(static_cast<const char *>(results), resultLineBytes, resultPanelBytes);
}
#endif
