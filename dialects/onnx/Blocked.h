// Blocked.h: activations in blocks of channels, and panels of weights, whose columns are as many.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace onnxc {
// Channels of a block of activations and columns of a panel of weights, on every target.
constexpr int64_t kLanes = 16;

namespace onnx {
// Whether so many channels, or pixels in their place, leave no more than a quarter of the lanes of their blocks empty.
inline bool fillsBlocks(int64_t channels) { return 4 * channels >= 3 * int64_t(llvm::alignTo(channels, kLanes)); }
// Whether a fifth of the lanes of their blocks would be empty, or there is less than a block: none are made for a convolution alone.
inline bool leavesLanes(int64_t channels) { return channels < kLanes || 4 * int64_t(llvm::alignTo(channels, kLanes)) >= 5 * channels; }

constexpr int64_t kMostWinogradTiles = 42;  // that read the transformed filters together
// Whether so many weights of transformed filters are more than a second-level cache holds.
inline bool areLargeFilters(int64_t weights) { return int64_t(sizeof(float)) * weights > 4 << 20; }

// An axis of Winograd's transformation of stride 1 (passes/layout/Winograd.cpp): tiles of six points. One tap needs none; more than five
// are cut into segments, as if there were as many times the channels.
struct WinogradAxis {
  int64_t taps, segment, segments;  // `segment`: its taps

  explicit WinogradAxis(int64_t taps) : taps(taps), segment(taps), segments(1) {
    for (int64_t t = 3; t <= 5 && taps > 5; ++t)
      if (int64_t n = llvm::divideCeil(taps, t); t == 3 || n * (7 - segment) < segments * (7 - t))
        segment = t, segments = n;
  }
  bool isTransformed() const { return taps > 1; }
  int64_t points() const { return isTransformed() ? 6 : 1; }
  int64_t results() const { return points() - segment + 1; }  // of a tile
  // G: what each point is of a segment's taps.
  llvm::SmallVector<llvm::SmallVector<double>> filters() const;
  // Those that `size` results need; each phase of a dilated axis has its own.
  int64_t tiles(int64_t size, int64_t dilation) const { return llvm::divideCeil(llvm::divideCeil(size, dilation), results()) * dilation; }
};

// What an image [N, C, H, W], or [N, C, W] as one of height 1, is in blocks of channels: [N, ceil(C / 16), H, W, 16]. C is known.
inline mlir::RankedTensorType blockedType(mlir::RankedTensorType image) {
  llvm::ArrayRef<int64_t> s = image.getShape();
  int64_t height = s.size() == 3 ? 1 : s[2];
  return mlir::RankedTensorType::get({s[0], llvm::divideCeilSigned(s[1], kLanes), height, s.back(), kLanes}, image.getElementType());
}
}  // namespace onnx
}  // namespace onnxc
