// RUN: onnxc-opt %s --integer-contractions --mlir-elide-resource-strings-if-larger=64 | FileCheck %s

// Sums of products below 2^16 that 32 bits hold: 2^15 of them.

// A product as deep is of bytes, a deeper one of integers; the depth of a quad more, since others are no kernel's.
// CHECK-LABEL: @product
// CHECK: "onnx.packed.LinearMatMul"(%arg0
// CHECK: "onnx.packed.MatMulInteger"(%arg1
func.func @product(%q: tensor<1x32768xi8>, %p: tensor<1x32772xi8>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Constant"() {value = dense<1> : tensor<32768x1xi8>} : () -> tensor<32768x1xi8>
  %d = "onnx.Constant"() {value = dense<1> : tensor<32772x1xi8>} : () -> tensor<32772x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x32768xi8>, tensor<f32>) -> tensor<1x32768xf32>
  %y = "onnx.DequantizeLinear"(%p, %s) : (tensor<1x32772xi8>, tensor<f32>) -> tensor<1x32772xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<32768x1xi8>, tensor<f32>) -> tensor<32768x1xf32>
  %v = "onnx.DequantizeLinear"(%d, %s) : (tensor<32772x1xi8>, tensor<f32>) -> tensor<32772x1xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<1x32768xf32>, tensor<32768x1xf32>) -> tensor<1x1xf32>
  %1 = "onnx.MatMul"(%y, %v) : (tensor<1x32772xf32>, tensor<32772x1xf32>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<1x1xf32>
}

// Taps count as channels do.
// CHECK-LABEL: @convolution
// CHECK: "onnx.packed.LinearConv"({{.*}}channels = 8192 : i64{{.*}}kernel_shape = array<i64: 2, 2>
// CHECK: "onnx.Conv"({{.*}}onnxc.exact{{.*}} tensor<1x8193x2x2xf32>
func.func @convolution(%q: tensor<1x8192x2x2xi8>, %p: tensor<1x8193x2x2xi8>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Constant"() {value = dense<1> : tensor<1x8192x2x2xi8>} : () -> tensor<1x8192x2x2xi8>
  %d = "onnx.Constant"() {value = dense<1> : tensor<1x8193x2x2xi8>} : () -> tensor<1x8193x2x2xi8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x8192x2x2xi8>, tensor<f32>) -> tensor<1x8192x2x2xf32>
  %y = "onnx.DequantizeLinear"(%p, %s) : (tensor<1x8193x2x2xi8>, tensor<f32>) -> tensor<1x8193x2x2xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<1x8192x2x2xi8>, tensor<f32>) -> tensor<1x8192x2x2xf32>
  %v = "onnx.DequantizeLinear"(%d, %s) : (tensor<1x8193x2x2xi8>, tensor<f32>) -> tensor<1x8193x2x2xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x8192x2x2xf32>, tensor<1x8192x2x2xf32>) -> tensor<1x1x1x1xf32>
  %1 = "onnx.Conv"(%y, %v) : (tensor<1x8193x2x2xf32>, tensor<1x8193x2x2xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>
}
