// RUN: onnxc-opt %s --move-products | FileCheck %s

// Products of rows that stay where they are.

// As many results as channels, a transposition that others read, one of batches, or of rows of two axes.
// CHECK-LABEL: @before_images
// CHECK-COUNT-4: "onnx.MatMul"(%arg{{[0-9]}},
func.func @before_images(%x: tensor<2x9x4xf32>, %y: tensor<9x2x4xf32>, %z: tensor<9x4xf32>, %u: tensor<2x9x4xf32>) -> (tensor<2x4x9xf32>, tensor<2x8x9xf32>, tensor<2x8x9xf32>, tensor<2x8x9xf32>, tensor<1x8x9xf32>) {
  %same = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x8xf32>} : () -> tensor<4x8xf32>
  %v4 = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x3xf32>} : () -> tensor<4x1x3xf32>
  %v8 = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x3xf32>} : () -> tensor<8x1x3xf32>
  %shape = "onnx.Constant"() {value = dense<[1, 8, 9]> : tensor<3xi64>} : () -> tensor<3xi64>
  %a = "onnx.MatMul"(%x, %same) : (tensor<2x9x4xf32>, tensor<4x4xf32>) -> tensor<2x9x4xf32>
  %at = "onnx.Transpose"(%a) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x9x4xf32>) -> tensor<2x4x9xf32>
  %0 = "onnx.Conv"(%at, %v4) <{group = 4 : i64, pads = array<i64: 1, 1>}> : (tensor<2x4x9xf32>, tensor<4x1x3xf32>) -> tensor<2x4x9xf32>
  %b = "onnx.MatMul"(%u, %w) : (tensor<2x9x4xf32>, tensor<4x8xf32>) -> tensor<2x9x8xf32>
  %bt = "onnx.Transpose"(%b) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x9x8xf32>) -> tensor<2x8x9xf32>
  %1 = "onnx.Conv"(%bt, %v8) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %2 = "onnx.Relu"(%bt) : (tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
  %c = "onnx.MatMul"(%y, %w) : (tensor<9x2x4xf32>, tensor<4x8xf32>) -> tensor<9x2x8xf32>
  %ct = "onnx.Transpose"(%c) <{perm = array<i64: 1, 2, 0>}> : (tensor<9x2x8xf32>) -> tensor<2x8x9xf32>
  %3 = "onnx.Conv"(%ct, %v8) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %d = "onnx.MatMul"(%z, %w) : (tensor<9x4xf32>, tensor<4x8xf32>) -> tensor<9x8xf32>
  %dt = "onnx.Transpose"(%d) <{perm = array<i64: 1, 0>}> : (tensor<9x8xf32>) -> tensor<8x9xf32>
  %dr = "onnx.Reshape"(%dt, %shape) : (tensor<8x9xf32>, tensor<3xi64>) -> tensor<1x8x9xf32>
  %4 = "onnx.Conv"(%dr, %v8) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<1x8x9xf32>, tensor<8x1x3xf32>) -> tensor<1x8x9xf32>
  return %0, %1, %2, %3, %4 : tensor<2x4x9xf32>, tensor<2x8x9xf32>, tensor<2x8x9xf32>, tensor<2x8x9xf32>, tensor<1x8x9xf32>
}

// Behind a convolution: as many results as channels, an image that others read, weights of the run, or two values between.
// CHECK-LABEL: @behind_images
// CHECK-COUNT-4: "onnx.MatMul"
func.func @behind_images(%x: tensor<2x8x9xf32>, %run: tensor<8x4xf32>, %g: tensor<2x9x8xf32>) -> (tensor<2x9x8xf32>, tensor<2x9x4xf32>, tensor<2x8x9xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>) {
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x3xf32>} : () -> tensor<8x1x3xf32>
  %same = "onnx.Constant"() {value = dense<1.0> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x4xf32>} : () -> tensor<8x4xf32>
  %a = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %at = "onnx.Transpose"(%a) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %0 = "onnx.MatMul"(%at, %same) : (tensor<2x9x8xf32>, tensor<8x8xf32>) -> tensor<2x9x8xf32>
  %b = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %bt = "onnx.Transpose"(%b) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %1 = "onnx.MatMul"(%bt, %w) : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  %c = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %ct = "onnx.Transpose"(%c) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %2 = "onnx.MatMul"(%ct, %run) : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  %d = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %dt = "onnx.Transpose"(%d) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %dm = "onnx.Mul"(%dt, %g) : (tensor<2x9x8xf32>, tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  %3 = "onnx.MatMul"(%dm, %w) : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  return %0, %1, %b, %2, %3 : tensor<2x9x8xf32>, tensor<2x9x4xf32>, tensor<2x8x9xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>
}

// Nor where a view behind the convolution takes channels for pixels, or something else reads the activation between.
// CHECK-LABEL: @other_channels
// CHECK-COUNT-2: "onnx.MatMul"
func.func @other_channels(%x: tensor<2x8x9xf32>) -> (tensor<2x18x2xf32>, tensor<2x9x8xf32>, tensor<2x9x2xf32>) {
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x3xf32>} : () -> tensor<8x1x3xf32>
  %w4 = "onnx.Constant"() {value = dense<1.0> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %w8 = "onnx.Constant"() {value = dense<1.0> : tensor<8x2xf32>} : () -> tensor<8x2xf32>
  %list = "onnx.Constant"() {value = dense<[2, 4, 18]> : tensor<3xi64>} : () -> tensor<3xi64>
  %a = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %ar = "onnx.Reshape"(%a, %list) : (tensor<2x8x9xf32>, tensor<3xi64>) -> tensor<2x4x18xf32>
  %at = "onnx.Transpose"(%ar) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x4x18xf32>) -> tensor<2x18x4xf32>
  %0 = "onnx.MatMul"(%at, %w4) : (tensor<2x18x4xf32>, tensor<4x2xf32>) -> tensor<2x18x2xf32>
  %b = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %bt = "onnx.Transpose"(%b) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %1 = "onnx.Gelu"(%bt) : (tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
  %2 = "onnx.MatMul"(%1, %w8) : (tensor<2x9x8xf32>, tensor<8x2xf32>) -> tensor<2x9x2xf32>
  return %0, %1, %2 : tensor<2x18x2xf32>, tensor<2x9x8xf32>, tensor<2x9x2xf32>
}

// A bias that the run gives is added to the rows that come back from the image; one number is no bias of each result.
// CHECK-LABEL: @other_biases
// CHECK: %[[C:.*]] = "onnx.Conv"(%{{.*}}, %{{.*}}) {{.*}} tensor<4x8x1xf32>) -> tensor<2x4x9xf32>
// CHECK: %[[R:.*]] = "onnx.Transpose"(%[[C]])
// CHECK: "onnx.Add"(%[[R]], %arg1)
// CHECK: %[[D:.*]] = "onnx.Conv"(%{{.*}}, %{{.*}}) {{.*}} tensor<4x8x1xf32>) -> tensor<2x4x9xf32>
// CHECK: %[[S:.*]] = "onnx.Transpose"(%[[D]])
// CHECK: "onnx.Add"(%[[S]],
func.func @other_biases(%x: tensor<2x8x9xf32>, %b: tensor<4xf32>) -> (tensor<2x9x4xf32>, tensor<2x9x4xf32>) {
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x3xf32>} : () -> tensor<8x1x3xf32>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x4xf32>} : () -> tensor<8x4xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %ct = "onnx.Transpose"(%c) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %cm = "onnx.MatMul"(%ct, %w) : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  %0 = "onnx.Add"(%cm, %b) : (tensor<2x9x4xf32>, tensor<4xf32>) -> tensor<2x9x4xf32>
  %d = "onnx.Conv"(%x, %v) <{group = 8 : i64, pads = array<i64: 1, 1>}> : (tensor<2x8x9xf32>, tensor<8x1x3xf32>) -> tensor<2x8x9xf32>
  %dt = "onnx.Transpose"(%d) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x9xf32>) -> tensor<2x9x8xf32>
  %dm = "onnx.MatMul"(%dt, %w) : (tensor<2x9x8xf32>, tensor<8x4xf32>) -> tensor<2x9x4xf32>
  %1 = "onnx.Add"(%dm, %one) : (tensor<2x9x4xf32>, tensor<1xf32>) -> tensor<2x9x4xf32>
  return %0, %1 : tensor<2x9x4xf32>, tensor<2x9x4xf32>
}
