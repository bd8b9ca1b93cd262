// IntegerSteps.h: steps of the integer-contractions pass (IntegerContractions.cpp).
#pragma once
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"

namespace onnxc {

constexpr int64_t kExactBelow = 1 << 24;  // f32 holds all whole numbers up to it

// clip(round((sum of (x - xZero) (w - wZero) + bias) factors) + zero, least, most) of an 8-bit `element`, or of f32 the sums times factors.
// wZero, factors: one or one a channel; bias: none or one a channel.
struct LinearConv {
  mlir::Operation *op;  // a Conv or ConvInteger
  mlir::Value x, w;
  int32_t xZero;
  std::vector<float> wZero, factors, bias;
  mlir::Type element;
  int64_t zero = 0, least = 0, most = 0;
  mlir::Value runZero = {};  // xZero that only the run knows, one element; the result is f32 then, and there is no bias
};
// Null where the kernel is not made for it.
mlir::Value linearConvolution(mlir::PatternRewriter &rewriter, LinearConv c);  // LinearConvolutions.cpp

// As LinearConv: x [..., K] times w [K, N], [N, K] where `transposed`, to a `result` of bytes or f32.
struct LinearProduct {
  mlir::Value x, w;
  mlir::Type result;
  bool transposed;
  int32_t xZero;
  std::vector<float> wZero, factors, bias;
  int64_t zero = 0, least = 0, most = 0;
};
mlir::Value linearProduct(mlir::PatternRewriter &rewriter, LinearProduct p);  // LinearProducts.cpp
// What the weights of each channel are more than the signed bytes that kernels multiply; empty where bytes hold the weights themselves.
// `values`: weights less their zero points, which are one or one a channel.
std::vector<int32_t> weightOffsets(llvm::ArrayRef<int16_t> values, const std::vector<float> &zeros, bool isSigned,
                                   int64_t channels);  // LinearConvolutions.cpp
// The weights of all channels, less their zero points; weight `k` of channel `n` is values[n * channelStep + k * depthStep].
struct ChannelWeights {
  llvm::MutableArrayRef<int16_t> values;
  int64_t channels, depth, channelStep, depthStep;
  int16_t &at(int64_t n, int64_t k) { return values[n * channelStep + k * depthStep]; }
};
// Adds a bias in units of the sums, one a channel or none, to what is added to the sums. Where 32 bits do not hold such a channel's results
// in bytes, as where nearly all of its weights are zero, weights and bias are halved and its factor doubled; where they do not hold those
// either, as where all weights are zero and their scale is, its weights become zero and its bias is halved more often. False where that
// changes a result by more than a twentieth of a step, and where results are f32 if they are too large or the bias is no integer.
bool fitBias(std::vector<int32_t> &sums, const std::vector<float> &bias, ChannelWeights weights, std::vector<float> &factors,
             mlir::Type element);  // LinearConvolutions.cpp

// The one constant scale of a quantisation of f32 to bytes, and its zero point; nothing for others.
struct Scaling {
  float scale, zero;
};
std::optional<Scaling> scalingOf(onnx::QuantizeLinearOp op);
std::optional<Scaling> scalingOf(onnx::DequantizeLinearOp op);  // of what is no constant
// Dequantises `bytes` as `like` does its own, to `type`.
mlir::Value dequantiseAs(mlir::PatternRewriter &rewriter, onnx::DequantizeLinearOp like, mlir::Type type, mlir::Value bytes);
// What `move`, an op of one result whose values are those of operand 0, makes of `v`, of whatever type.
mlir::Value movedBy(mlir::PatternRewriter &rewriter, mlir::Operation *move, mlir::Value v);
// What an integer type holds.
struct Limits {
  float least, most;
};
Limits limitsOf(mlir::Type element);
// What a quantisation to `element` makes of a value.
float inSteps(float value, Scaling scaling, mlir::Type element);
// The end of a quantisation to `type`: whole numbers in f32, with the zero point added where it is not null, within what the integers hold.
mlir::Value clippedTo(mlir::Type type, mlir::Value whole, mlir::Value zero, GraphBuilder g);

// The bounds of a Relu or a Clip with constant bounds; nothing for other ops.
std::optional<std::pair<float, float>> boundsOf(mlir::Operation *op);

void populateByteSumPatterns(mlir::RewritePatternSet &patterns);            // ByteSums.cpp
void populateByteMovePatterns(mlir::RewritePatternSet &patterns);           // ByteMoves.cpp
void populateByteTablePatterns(mlir::RewritePatternSet &patterns);          // ByteTables.cpp
void populateByteConvTransposePatterns(mlir::RewritePatternSet &patterns);  // ByteConvTranspose.cpp
void populateTableOfConvPatterns(mlir::RewritePatternSet &patterns);        // ByteTables.cpp
// QuantiseAsPointwise.cpp. `maxBytes`: of dequantised constants together; what is left of it is written back.
void populateQuantisationPatterns(mlir::RewritePatternSet &patterns, int64_t &maxBytes);
void populatePackIntegerPatterns(mlir::RewritePatternSet &patterns);  // PackIntegers.cpp

}  // namespace onnxc
