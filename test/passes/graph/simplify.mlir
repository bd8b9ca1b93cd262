// RUN: onnxc-opt %s --simplify | FileCheck %s

// Scale 2 / sqrt(3 + 1) = 1 on channel 0, 6 / 2 = 3 on channel 1; offset bias - mean * scale.
// CHECK-LABEL: @normalisation
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<[9.500000e+00, -2.900000e+01]> : tensor<2xf32>}>
// CHECK: "onnx.Conv"(%arg0, %[[W]], %[[B]])
// CHECK-NOT: onnx.BatchNormalization
func.func @normalisation(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<[2.0, 6.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "onnx.Constant"() {value = dense<[10.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %m = "onnx.Constant"() {value = dense<[0.5, 10.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %v = "onnx.Constant"() {value = dense<3.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "onnx.BatchNormalization"(%c, %s, %b, %m, %v) <{epsilon = 1.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// A convolution with another use keeps its weights.
// CHECK-LABEL: @shared
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<2.0> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %r = "onnx.Mul"(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %c, %r : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// CHECK-LABEL: @transposes
// CHECK-NEXT: return %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = "onnx.Transpose"(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %b = "onnx.Transpose"(%a) {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %b : tensor<2x3x4xf32>
}

// CHECK-LABEL: @constant_transpose
// CHECK: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
func.func @constant_transpose() -> tensor<3x2xi32> {
  %c = "onnx.Constant"() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %t = "onnx.Transpose"(%c) {perm = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %t : tensor<3x2xi32>
}

// A sum with +0.0 turns -0.0 into 0.0, with -0.0 it changes nothing.
// CHECK-LABEL: @zeros
// CHECK: onnx.Add
// CHECK-NOT: onnx.Add
// CHECK: return
func.func @zeros(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %n = "onnx.Constant"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Add"(%x, %p) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %b = "onnx.Add"(%x, %n) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @casts
// CHECK-NEXT: %[[N:.*]] = "onnx.Cast"
// CHECK-NEXT: "onnx.Cast"(%[[N]])
// CHECK-NEXT: return %arg0
func.func @casts(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %w = "onnx.Cast"(%x) {to = 7 : i64} : (tensor<2xi32>) -> tensor<2xi64>
  %a = "onnx.Cast"(%w) {to = 6 : i64} : (tensor<2xi64>) -> tensor<2xi32>
  %n = "onnx.Cast"(%x) {to = 3 : i64} : (tensor<2xi32>) -> tensor<2xi8>
  %b = "onnx.Cast"(%n) {to = 6 : i64} : (tensor<2xi8>) -> tensor<2xi32>
  return %a, %b : tensor<2xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: @expanded_splat
// CHECK: "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<32xf32>}>
// CHECK-NOT: onnx.Expand
func.func @expanded_splat() -> tensor<32xf32> {
  %v = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.Constant"() {value = dense<32> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.Expand"(%v, %s) : (tensor<f32>, tensor<1xi64>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}
