// RUN: onnxc-opt %s --move-products | FileCheck %s

// A feed-forward network around a depthwise convolution: four channels are transposed on either side, sixteen nowhere, and the activation is
// the image's.
// CHECK-LABEL: @forward
// CHECK: %[[IN:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x9x4xf32>) -> tensor<2x4x9xf32>
// CHECK: %[[IMAGE:.*]] = "onnx.Reshape"(%[[IN]], {{.*}} -> tensor<2x4x3x3xf32>
// CHECK: %[[FIRST:.*]] = "onnx.Conv"(%[[IMAGE]], {{.*}} tensor<16x4x1x1xf32>, tensor<16xf32>) -> tensor<2x16x3x3xf32>
// CHECK: %[[DEPTH:.*]] = "onnx.Conv"(%[[FIRST]],
// CHECK: %[[ACTIVE:.*]] = "onnx.Gelu"(%[[DEPTH]])
// CHECK: %[[SECOND:.*]] = "onnx.Conv"(%[[ACTIVE]], {{.*}} tensor<4x16x1x1xf32>) -> tensor<2x4x3x3xf32>
// CHECK: %[[OUT:.*]] = "onnx.Reshape"(%[[SECOND]], {{.*}} -> tensor<2x4x9xf32>
// CHECK: "onnx.Transpose"(%[[OUT]]) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x4x9xf32>) -> tensor<2x9x4xf32>
func.func @forward(%x: tensor<2x9x4xf32>, %v: tensor<16x1x3x3xf32>) -> tensor<2x9x4xf32> {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<4x16xf32>} : () -> tensor<4x16xf32>
  %u = "onnx.Constant"() {value = dense<0.25> : tensor<16x4xf32>} : () -> tensor<16x4xf32>
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %image = "onnx.Constant"() {value = dense<[2, 16, 3, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %rows = "onnx.Constant"() {value = dense<[0, 16, -1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<2x9x4xf32>, tensor<4x16xf32>) -> tensor<2x9x16xf32>
  %1 = "onnx.Add"(%b, %0) : (tensor<16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
  %2 = "onnx.Transpose"(%1) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x9x16xf32>) -> tensor<2x16x9xf32>
  %3 = "onnx.Reshape"(%2, %image) : (tensor<2x16x9xf32>, tensor<4xi64>) -> tensor<2x16x3x3xf32>
  %4 = "onnx.Conv"(%3, %v) <{group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<2x16x3x3xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x3x3xf32>
  %5 = "onnx.Reshape"(%4, %rows) : (tensor<2x16x3x3xf32>, tensor<3xi64>) -> tensor<2x16x9xf32>
  %6 = "onnx.Transpose"(%5) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x16x9xf32>) -> tensor<2x9x16xf32>
  %7 = "onnx.Gelu"(%6) : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
  %8 = "onnx.MatMul"(%7, %u) : (tensor<2x9x16xf32>, tensor<16x4xf32>) -> tensor<2x9x4xf32>
  return %8 : tensor<2x9x4xf32>
}

// More channels would be transposed; or a view that the run makes stays where it is.
// CHECK-LABEL: @others
// CHECK: "onnx.MatMul"(%arg0,
// CHECK: %[[IN:.*]] = "onnx.Transpose"(%arg2)
// CHECK: %[[FIRST:.*]] = "onnx.Conv"(%[[IN]], {{.*}} tensor<16x4x1xf32>) -> tensor<1x16x?xf32>
// CHECK: "onnx.Reshape"(%[[FIRST]], %arg3)
func.func @others(%x: tensor<1x9x32xf32>, %v: tensor<16x16x1xf32>, %y: tensor<1x?x4xf32>, %list: tensor<4xi64>, %f: tensor<16x1x3x3xf32>) -> (tensor<1x16x9xf32>, tensor<1x16x?x?xf32>) {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<32x16xf32>} : () -> tensor<32x16xf32>
  %u = "onnx.Constant"() {value = dense<0.25> : tensor<4x16xf32>} : () -> tensor<4x16xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<1x9x32xf32>, tensor<32x16xf32>) -> tensor<1x9x16xf32>
  %1 = "onnx.Transpose"(%0) <{perm = array<i64: 0, 2, 1>}> : (tensor<1x9x16xf32>) -> tensor<1x16x9xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<1x16x9xf32>, tensor<16x16x1xf32>) -> tensor<1x16x9xf32>
  %3 = "onnx.MatMul"(%y, %u) : (tensor<1x?x4xf32>, tensor<4x16xf32>) -> tensor<1x?x16xf32>
  %4 = "onnx.Transpose"(%3) <{perm = array<i64: 0, 2, 1>}> : (tensor<1x?x16xf32>) -> tensor<1x16x?xf32>
  %5 = "onnx.Reshape"(%4, %list) : (tensor<1x16x?xf32>, tensor<4xi64>) -> tensor<1x16x?x?xf32>
  %6 = "onnx.Conv"(%5, %f) <{group = 16 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x16x?x?xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x?x?xf32>
  return %2, %6 : tensor<1x16x9xf32>, tensor<1x16x?x?xf32>
}

// A view that makes other images of the pixels stays behind the product.
// CHECK-LABEL: @other_images
// CHECK: %[[IN:.*]] = "onnx.Transpose"(%arg0)
// CHECK: %[[FIRST:.*]] = "onnx.Conv"(%[[IN]], {{.*}} tensor<16x4x1xf32>) -> tensor<2x16x9xf32>
// CHECK: "onnx.Reshape"(%[[FIRST]],
func.func @other_images(%x: tensor<2x9x4xf32>, %v: tensor<16x16x1xf32>) -> tensor<6x16x3xf32> {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<4x16xf32>} : () -> tensor<4x16xf32>
  %list = "onnx.Constant"() {value = dense<[6, 16, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<2x9x4xf32>, tensor<4x16xf32>) -> tensor<2x9x16xf32>
  %1 = "onnx.Transpose"(%0) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x9x16xf32>) -> tensor<2x16x9xf32>
  %2 = "onnx.Reshape"(%1, %list) : (tensor<2x16x9xf32>, tensor<3xi64>) -> tensor<6x16x3xf32>
  %3 = "onnx.Conv"(%2, %v) : (tensor<6x16x3xf32>, tensor<16x16x1xf32>) -> tensor<6x16x3xf32>
  return %3 : tensor<6x16x3xf32>
}
