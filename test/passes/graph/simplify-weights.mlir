// RUN: onnxc-opt %s --simplify=weights=false | FileCheck %s

// -O0 computes what the file says: weights are not scaled and rounded again.
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @literal(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<2.0> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %r = "onnx.Mul"(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}
