// FloatWindows.h: what generated kernels (codegen/cpu/ConvTiles.cpp) and FloatWindows.cpp agree on. Plain C++ for both.
#pragma once
#include "runtime_stub/kernels/FloatTiles.h"

namespace onnxc {

// Windows over blocks of 16 channels, one for each pixel of a result; `axes`: down and across.
struct FloatWindows {
  struct Axis {
    int64_t size, pad, stride, dilation, taps;
    int64_t pixelBytes;  // of the image, from one line or column to the next

    // The pixels that a stride apart are read are a phase of the image; how many phases taps read, the first ones.
    constexpr int64_t phases() const {
      int64_t reach = (taps - 1) * dilation + 1;
      return dilation % stride == 0 ? 1 : stride < reach ? stride : reach;
    }
    // Pixels of a phase that `results` neighbouring windows read.
    constexpr int64_t reads(int64_t results) const { return results + (taps - 1) * dilation / stride; }
  };
  const char *image;
  int64_t planeBytes, blocks;  // from one block to the next; of them
  Axis axes[2];

  constexpr int64_t pairs() const { return (blocks + 1) / 2; }  // of blocks, what a tile holds of a pixel
  constexpr int64_t taps() const { return axes[0].taps * axes[1].taps; }
  // Pixels whose digits are kept for windows of `lines` lines and `columns` columns; tiles read a few behind the last.
  constexpr int64_t pixels(int64_t lines, int64_t columns) const {
    return axes[0].phases() * axes[1].phases() * axes[0].reads(lines) * axes[1].reads(columns) + kFloatRows;
  }
};

// Of a call, at most: windows of a line, more where there are few lines, and of all; panels; taps.
constexpr int64_t kWindowColumns = 64, kWindows = 256, kWindowPanels = 16, kWindowTaps = 64;

// Pairs of blocks that are multiplied at a time, of equal parts of all: digits of their pixels and those of two panels lie in the
// second-level cache beside sums: 256 KiB of pixels, and 36 taps of pairs a panel, 108 KiB.
constexpr int64_t windowPart(const FloatWindows &w, int64_t pixels) {
  int64_t most = (256 << 10) / (kFloatDigits * 64 * pixels), mostTaps = 36 / w.taps(), pairs = w.pairs();
  most = most < mostTaps ? most : mostTaps;
  int64_t parts = most > 1 ? (pairs + most - 1) / most : pairs;
  return (pairs + parts - 1) / parts;
}
// Scratch memory of a call: digits of a part's pixels, twice those of a panel, sums.
constexpr int64_t windowImageBytes(const FloatWindows &w, int64_t pixels) { return windowPart(w, pixels) * kFloatDigits * pixels * 64; }
constexpr int64_t windowPanelBytes(const FloatWindows &w, int64_t pixels) {
  return windowPart(w, pixels) * w.taps() * kFloatDigits * kFloatTile;
}
constexpr int64_t windowSums(const FloatWindows &w, int64_t pixels) {
  return windowImageBytes(w, pixels) + 2 * windowPanelBytes(w, pixels);
}
constexpr int64_t windowsScratch(const FloatWindows &w, int64_t pixels, int64_t panels) {
  return windowSums(w, pixels) + (panels < kWindowPanels ? panels : kWindowPanels) * pixels * 64;
}

}  // namespace onnxc

// int64_t onnxc_float_windows(const FloatWindows *, line, column, lines, columns, pixels, b, panelBytes, panels, scratch, results,
// resultLineBytes, resultPanelBytes): all but the first, b, scratch and results are int64_t.
//
// Sums of the windows of a rectangle of results times panels, kWindowPanels at most, whose step k is channel k % 16 of tap k / 16 % taps of
// block k / 16 / taps. Taps outside the image are zeros. Sixteen sums of a window lie windowSums bytes behind `scratch`, which is aligned
// to 64 bytes, those of a line's windows side by side, those of the next panel 64 * pixels bytes further on; it returns how many windows a
// line has room for. Every sum depends on its window and its panel alone.
//
// pixels   FloatWindows::pixels(lines, columns) of the largest rectangle there is
// results  the caller will write the first window's results there, and those of other lines and panels as many bytes apart: these lines are
//          asked for
//
// Only after onnxc_rt_tiles() has said yes.
