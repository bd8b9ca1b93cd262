// IntegerSteps.h: steps of the integer-contractions pass (IntegerContractions.cpp).
#pragma once
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Quant.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

// A convolution of `x` - xZero with `w`, one bias and one factor for each channel before the quantisation; `relu` between.
struct LinearConv {
  onnx::ConvOp op;
  onnx::QuantizeLinearOp quantise;
  mlir::Value x, w;
  int32_t xZero, yZero;
  std::vector<float> factors, bias;
  bool relu;
};
// Replaces the quantisation's result; false where the kernel is not made for it.
bool linearConvolution(mlir::PatternRewriter &rewriter, LinearConv c);  // LinearConvolutions.cpp

void populateQuantisationPatterns(mlir::RewritePatternSet &patterns);  // QuantiseAsPointwise.cpp
void populatePackIntegerPatterns(mlir::RewritePatternSet &patterns);   // PackIntegers.cpp

}  // namespace onnxc
