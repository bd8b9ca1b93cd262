// RUN: onnxc-opt %s --block-channels --split-input-file | FileCheck %s

// What reads three frames of two blocks each has the weights and channels of six blocks.
// CHECK-LABEL: @frames
// CHECK: %[[X:.*]] = "onnx.packed.Block"(%arg0) {{.*}} -> tensor<5x2x8x8x16xf32>
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[X]]{{.*}} -> tensor<1x10x8x8x16xf32>
// CHECK: %[[W:.*]] = "onnx.Constant"(){{.*}} : () -> tensor<1x6x3x2x16x16xf32>
// CHECK: %[[Y:.*]] = "onnx.packed.Conv"(%[[V]], %[[W]]) {{.*}}channels = 96{{.*}}frames = array<i64: 3, 2, 1, 1, 1>{{.*}} -> tensor<3x1x3x4x16xf32>
// CHECK: "onnx.packed.Unblock"(%[[Y]])
func.func @frames(%x: tensor<5x24x8x8xf32>) -> tensor<3x8x3x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x24x3x3x2xf32>} : () -> tensor<8x24x3x3x2xf32>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %five = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.packed.FrameConv"(%x, %w, %one, %five) <{depthwise = false, frames = array<i64: 3, 2, 1, 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<5x24x8x8xf32>, tensor<8x24x3x3x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x8x3x4xf32>
  return %y : tensor<3x8x3x4xf32>
}

// -----

// Channels that fill no block are read where they lie.
// CHECK-LABEL: @channels
// CHECK: %[[V:.*]] = "onnx.Reshape"(%arg0{{.*}} -> tensor<1x15x8x8xf32>
// CHECK: %[[W:.*]] = "onnx.Constant"(){{.*}} : () -> tensor<1x9x3x2x16xf32>
// CHECK: "onnx.packed.Conv"(%[[V]], %[[W]]) {{.*}}channels = 9{{.*}}frames = array<i64: 3, 2, 1, 1, 1>{{.*}}plain = 1{{.*}} -> tensor<3x1x3x4x16xf32>
func.func @channels(%x: tensor<5x3x8x8xf32>) -> tensor<3x8x3x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x3x3x3x2xf32>} : () -> tensor<8x3x3x3x2xf32>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %five = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.packed.FrameConv"(%x, %w, %one, %five) <{depthwise = false, frames = array<i64: 3, 2, 1, 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<5x3x8x8xf32>, tensor<8x3x3x3x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x8x3x4xf32>
  return %y : tensor<3x8x3x4xf32>
}

// -----

// The rows of a channel's filters, tap by tap; how many frames only the run knows.
// CHECK-LABEL: @depthwise
// CHECK: %[[V:.*]] = "onnx.Reshape"({{.*}} -> tensor<2x?x8x8x16xf32>
// CHECK: %[[W:.*]] = "onnx.Constant"(){{.*}} : () -> tensor<2x6x3x1x16xf32>
// CHECK: "onnx.packed.GroupedConv"(%[[V]], %[[W]]) {{.*}}frames = array<i64: 2, 1, 1, 0, 0>{{.*}} -> tensor<?x2x6x6x16xf32>
func.func @depthwise(%x: tensor<?x20x8x8xf32>, %n: tensor<1xi64>) -> tensor<?x20x6x6xf32> {
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<20x1x2x3x3xf32>} : () -> tensor<20x1x2x3x3xf32>
  %y = "onnx.packed.FrameConv"(%x, %w, %two, %n) <{depthwise = true, frames = array<i64: 2, 1, 1, 0, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<?x20x8x8xf32>, tensor<20x1x2x3x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x20x6x6xf32>
  return %y : tensor<?x20x6x6xf32>
}

// -----

// A pool reads frames of blocks as a convolution does.
// CHECK-LABEL: @pool
// CHECK: %[[V:.*]] = "onnx.Reshape"({{.*}} -> tensor<2x?x8x8x16xf32>
// CHECK: %[[Y:.*]] = "onnx.packed.Pool"(%[[V]]) <{{{.*}}average = 1 : i64{{.*}}count_include_pad = 1 : i64{{.*}}frames = array<i64: 3, 2, 1, 1, 1>{{.*}} -> tensor<?x2x4x3x16xf32>
// CHECK: "onnx.packed.Unblock"(%[[Y]])
func.func @pool(%x: tensor<?x24x8x8xf32>, %n: tensor<1xi64>) -> tensor<?x24x4x3xf32> {
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.packed.FramePool"(%x, %two, %n) <{average = 1 : i64, count_include_pad = 1 : i64, frames = array<i64: 3, 2, 1, 1, 1>, kernel_shape = array<i64: 2, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<?x24x8x8xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x24x4x3xf32>
  return %y : tensor<?x24x4x3xf32>
}

// -----

// Whole blocks of channels that become images of their own, as frames do that a transposed convolution makes of one, are a view.
// CHECK-LABEL: @blocks_as_images
// CHECK: %[[A:.*]] = "onnx.packed.Conv"{{.*}} -> tensor<3x2x5x4x16xf32>
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[A]], %{{.*}}) {{.*}} -> tensor<6x1x5x4x16xf32>
// CHECK: "onnx.packed.Conv"(%[[V]]
func.func @blocks_as_images(%x: tensor<3x16x5x4xf32>, %w: tensor<32x16x1x1xf32>, %v: tensor<16x16x1x1xf32>) -> tensor<6x16x5x4xf32> {
  %s = "onnx.Constant"() {value = dense<[6, 16, 5, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  %a = "onnx.Conv"(%x, %w) : (tensor<3x16x5x4xf32>, tensor<32x16x1x1xf32>) -> tensor<3x32x5x4xf32>
  %r = "onnx.Reshape"(%a, %s) : (tensor<3x32x5x4xf32>, tensor<4xi64>) -> tensor<6x16x5x4xf32>
  %y = "onnx.Conv"(%r, %v) : (tensor<6x16x5x4xf32>, tensor<16x16x1x1xf32>) -> tensor<6x16x5x4xf32>
  return %y : tensor<6x16x5x4xf32>
}
