// Strips.h: how one output row of a sliding window is cut into tiles, and which taps meet the padding. For ContractConv.cpp and
// ContractWindow.cpp.
#pragma once
#include "codegen/cpu/Code.h"
#include "dialects/onnx/Packed.h"
#include "llvm/ADT/BitVector.h"

namespace onnxc {

struct WindowShape {
  int64_t kh = 1, kw = 1;
  llvm::ArrayRef<int64_t> strides, pads, dilations;  // rows, columns; top, left, bottom, right
  std::optional<int64_t> inWidth, outWidth;          // where they are known
  mlir::Value top = {}, left = {};                   // pads[0] and pads[1], which may depend on sizes that only the run knows
};
// Says how much padding lies before the rows and columns of `in`, of which windows make `out`: what `pads`, the window's, says, or
// `autoPad` where it is SAME_UPPER or SAME_LOWER. `sizes`: what is known of `in`.
void setPadding(Code &c, WindowShape &w, llvm::MutableArrayRef<int64_t> pads, llvm::StringRef autoPad,
                llvm::ArrayRef<mlir::AffineExpr> sizes, llvm::ArrayRef<mlir::Value> in, llvm::ArrayRef<mlir::Value> out);

// Tiles of `width` pixels that meet the padding alike.
struct StripTile {
  int64_t width;
  bool checked = false;     // nothing is known: columns and pixels are tested at run time
  llvm::BitVector outside;  // pixel * kw + tap: reads padding
  int64_t taps = 1;
  bool meets(int64_t pixel, int64_t tap) const { return checked || !outside[pixel * taps + tap]; }
  // Whether the same pixels meet taps `a` and `b`.
  bool alike(int64_t a, int64_t b) const;
  bool uniform() const { return checked || outside.none(); }
};

// Calls `body` with each run [from, to) of a tile's taps that the same pixels meet, and some do.
void forTapRuns(const StripTile &tile, llvm::function_ref<void(int64_t from, int64_t to)> body);

// Tiles [first, end) of a row.
struct TileRange {
  mlir::Value first, end;
};
// Calls `body` with the first column of every tile of a row, of at most `most` pixels, or of known width of those in `range`;
// tiles alike share a loop.
void forTiles(Code &c, const WindowShape &w, int64_t most, mlir::Value inWidth, mlir::Value outWidth,
              llvm::function_ref<void(mlir::Value column, const StripTile &tile)> body, std::optional<TileRange> range = std::nullopt);
// Taps [low, high) of one axis that lie inside [0, size) when the first lies at `start`.
std::pair<mlir::Value, mlir::Value> tapRange(Code &c, mlir::Value start, int64_t taps, int64_t dilation, mlir::Value size);
// Which images the result image `n` of a convolution over frames reads (onnx::FrameAxis), of videos of `all` blocks: its tap t frame
// `first` + t dilation of `video`, of taps [low, high).
struct FrameTaps {
  mlir::Value video, first, low, high;
};
FrameTaps frameTaps(Code &c, const onnx::FrameAxis &axis, mlir::Value all, mlir::Value n);
// The same in blocks of channels: blocks [low, high) of those behind block `first` of the input.
struct FrameBlocks {
  mlir::Value first, low, high;
};
FrameBlocks frameBlocks(Code &c, const onnx::FrameAxis &axis, mlir::Value all, mlir::Value n);
// 1024 zero bytes, and as many bytes of the lowest float, minus infinity.
mlir::Value zeroBytes(KernelCode &c);
mlir::Value lowestFloats(KernelCode &c);

}  // namespace onnxc
