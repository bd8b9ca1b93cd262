// Decompose.h: the groups of rewrites that Decompose.cpp drives.
#pragma once
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

// A ConvTranspose that is left to block-channels, whose kernel has code for each phase, as one over two axes: the first is 1 where there is
// one.
struct BlockedTransposed {
  int64_t channels, outputs;
  llvm::SmallVector<int64_t> kernel, strides, crops;  // as packed.ConvTranspose has them
  std::vector<float> weights;
};
std::optional<BlockedTransposed> blockedTransposed(mlir::Operation *op);

// What gathers, for `v` and no other op, matrices of f32 that indices choose along the first axis of three; null where nothing does.
onnx::GatherOp chosenMatrices(mlir::Value v);

// The reduction `op` over other axes, of `v`; they stay, of size 1.
mlir::Value reducedLike(mlir::Operation *op, mlir::Value v, llvm::ArrayRef<int64_t> axes, GraphBuilder g);

// Filters [outputs, channels, taps, area] of frames as [outputs, taps, room, area], zeros past the last channel.
std::vector<float> tapsBeforeChannels(const std::vector<float> &weights, int64_t outputs, int64_t channels, int64_t taps, int64_t area,
                                      int64_t room);

// `halves`: large weights of 1x1 filters are stored as f16 or bf16.
void populateDecomposeConvPatterns(mlir::RewritePatternSet &patterns, bool halves);
// Of those the convolutions over three dims, also of integers, whose weights are constants behind integer-contractions only.
void populateFramePatterns(mlir::RewritePatternSet &patterns);
// What integer-contractions does with those of bytes.
void populateByteFramePatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeConvIntegerPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeMLPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeNormPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeEinsumPatterns(mlir::RewritePatternSet &patterns);
void populateDecomposeQuantPatterns(mlir::RewritePatternSet &patterns);
void populateQuantisedWeightPatterns(mlir::RewritePatternSet &patterns);
// Whether `op` dequantises weights, or moves what was, for something that reads the integers that they were: products with dequantised
// values or of large matrices with a scale for each column, 4-bit weights in blocks, tables that Gather reads.
bool staysQuantised(mlir::Operation *op);
// Whether `dequantised` is a large matrix of constants of 4 or 8 bits with one scale, or one for each index of `columnAxis`
// (ScaledProducts.cpp).
bool isScaledMatrix(mlir::Value dequantised, int64_t columnAxis);
void populateScaledProductPatterns(mlir::RewritePatternSet &patterns);

}  // namespace onnxc
