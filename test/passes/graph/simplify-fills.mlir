// RUN: onnxc-opt %s --simplify=fill-bytes=40000 | FileCheck %s

// A large fill becomes a weight as far as all of them together may.
// CHECK: "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<64x100xf32>}>
// CHECK: "onnx.MatMul"
// CHECK: "onnx.ConstantOfShape"
// CHECK: "onnx.MatMul"
func.func @fills(%x: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %s = "onnx.Constant"() {value = dense<[64, 100]> : tensor<2xi64>} : () -> tensor<2xi64>
  %w = "onnx.ConstantOfShape"(%s) <{value = dense<0.5> : tensor<1xf32>}> : (tensor<2xi64>) -> tensor<64x100xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<2x64xf32>, tensor<64x100xf32>) -> tensor<2x100xf32>
  %t = "onnx.Constant"() {value = dense<[100, 64]> : tensor<2xi64>} : () -> tensor<2xi64>
  %v = "onnx.ConstantOfShape"(%t) : (tensor<2xi64>) -> tensor<100x64xf32>
  %z = "onnx.MatMul"(%y, %v) : (tensor<2x100xf32>, tensor<100x64xf32>) -> tensor<2x64xf32>
  return %z : tensor<2x64xf32>
}
