// ConvWeights.h: what BlockChannels needs of a convolution: whether it can be blocked, and its weights repacked, by ops of the graph where
// the run gives them.
#pragma once
#include "dialects/onnx/Packed.h"

namespace onnxc {

// A Conv over one or two spatial axes, the first of size 1 where there is one.
struct BlockedConv {
  enum Form { Dense, Grouped } form = Dense;
  int64_t outputs, channels, group;  // `channels` of one group
  bool constant = true;              // the weights are known
  int64_t span = 0;  // groups share blocks: how many blocks a panel of outputs reads, its weights spread over them; 0: none do
  llvm::SmallVector<int64_t> kernel, strides, pads, dilations;
  llvm::StringRef autoPad = "NOTSET";  // SAME_UPPER or SAME_LOWER where sizes decide that only the run knows: `pads` is the most then
};
// Nothing where the convolution stays as it is.
std::optional<BlockedConv> blockedConv(mlir::Operation *conv);
// One over frames as if it were over images that have the blocks (where `plain`: the channels) of all taps (packed.FrameConv), and its
// filters so.
BlockedConv blockedFrames(onnx::PackedFrameConvOp conv, bool plain);
mlir::Value frameWeights(mlir::OpBuilder &b, mlir::Location loc, onnx::PackedFrameConvOp conv, bool plain);
// Pads of a window op for two spatial axes, and auto_pad where sizes decide that only the run knows, of which they are the most then;
// nothing where pads are negative.
struct WindowPads {
  llvm::SmallVector<int64_t> pads;
  llvm::StringRef autoPad = "NOTSET";
};
std::optional<WindowPads> windowPads(mlir::Operation *op, llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                                     llvm::ArrayRef<int64_t> dilations);
// An attribute of two spatial axes: a list of one gets `otherwise` in front.
llvm::SmallVector<int64_t> twoAxes(mlir::Operation *op, llvm::StringRef attribute, int64_t rank, int64_t otherwise);

mlir::Value packConvWeights(mlir::OpBuilder &b, mlir::Location loc, const BlockedConv &conv, mlir::Value weights, bool plain,
                            mlir::FloatType wanted);
struct BlockedTransposed;
mlir::Value packTransposedWeights(mlir::OpBuilder &b, mlir::Location loc, const BlockedTransposed &conv);
mlir::Value packNarrowWeights(mlir::OpBuilder &b, mlir::Location loc, const BlockedTransposed &conv);  // of packed.NarrowConv
// The bias of a Conv, padded to blocks; null where it has none.
mlir::Value packConvBias(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *conv);
// How many groups together begin and end with blocks of inputs and of results; 1 where there is one group.
int64_t groupsTogether(const BlockedConv &conv);
// Images of a result.
struct ImageSizes {
  int64_t images, height, width;
};
// Whether Winograd's transformation (Winograd.cpp) pays for results of these sizes (of each as often as of the
// others), and its weights (dialects/onnx/Packed.td), zeros between groups that are multiplied together.
bool gainsByWinograd(const BlockedConv &conv, llvm::ArrayRef<ImageSizes> results);
mlir::Value packWinogradWeights(mlir::OpBuilder &b, mlir::Location loc, const BlockedConv &conv, mlir::Value weights);
// Per-channel values, padded with zeros to blocks, of type [blocks * 16] or [blocks, 1, 1, 16].
mlir::Value packChannels(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<float> values, bool spatial);

}  // namespace onnxc
