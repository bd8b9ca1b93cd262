// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Convolutions over three dims whose frames do not become images, or become them another way.

// Weights or a bias of the run, doubles, padding that the size decides, and frames that are cut off.
// CHECK-LABEL: @kept
// CHECK-COUNT-5: "onnx.Conv"(%{{.*}}) <{{.*}} -> tensor<{{[0-9]+x[0-9]+x[0-9?]+x[0-9]+x[0-9]+xf..}}>
// CHECK-NOT: "onnx.{{(packed.Frame)?}}Conv"
func.func @kept(%x: tensor<1x4x4x5x5xf32>, %run: tensor<2x4x2x2x2xf32>, %b: tensor<2xf32>, %d: tensor<1x4x4x5x5xf64>) -> (tensor<1x2x3x4x4xf32>, tensor<1x2x3x4x4xf32>, tensor<1x2x3x4x4xf64>, tensor<1x2x4x5x5xf32>, tensor<1x2x2x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x4x2x2x2xf32>} : () -> tensor<2x4x2x2x2xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<2x4x2x2x2xf64>} : () -> tensor<2x4x2x2x2xf64>
  %1 = "onnx.Conv"(%x, %run) : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x2x2xf32>) -> tensor<1x2x3x4x4xf32>
  %2 = "onnx.Conv"(%x, %w, %b) : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x3x4x4xf32>
  %4 = "onnx.Conv"(%d, %v) : (tensor<1x4x4x5x5xf64>, tensor<2x4x2x2x2xf64>) -> tensor<1x2x3x4x4xf64>
  %5 = "onnx.Conv"(%x, %w) <{auto_pad = "SAME_UPPER"}> : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x2x2xf32>) -> tensor<1x2x4x5x5xf32>
  %6 = "onnx.Conv"(%x, %w) <{pads = array<i64: -1, 0, 0, 0, 0, 0>}> : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x2x2xf32>) -> tensor<1x2x2x4x4xf32>
  return %1, %2, %4, %5, %6 : tensor<1x2x3x4x4xf32>, tensor<1x2x3x4x4xf32>, tensor<1x2x3x4x4xf64>, tensor<1x2x4x5x5xf32>, tensor<1x2x2x4x4xf32>
}

// -----

// Pixels that several frames make are rows whose height is time, with weights of the run, in groups, with time padded and skipped.
// CHECK-LABEL: @time
// CHECK: "onnx.Conv"{{.*}}dilations = array<i64: 2, 1>{{.*}}group = 2 : i64{{.*}}pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 1, 1>{{.*}} -> tensor<?x2x3x25xf32>
func.func @time(%x: tensor<?x4x4x5x5xf32>, %w: tensor<2x2x2x1x1xf32>) -> tensor<?x2x3x5x5xf32> {
  %y = "onnx.Conv"(%x, %w) <{group = 2 : i64, dilations = array<i64: 2, 1, 1>, pads = array<i64: 1, 0, 0, 0, 0, 0>}> : (tensor<?x4x4x5x5xf32>, tensor<2x2x2x1x1xf32>) -> tensor<?x2x3x5x5xf32>
  return %y : tensor<?x2x3x5x5xf32>
}

// -----

// Rows of pixels have no padding between them, and none of their pixels is left out.
// CHECK-LABEL: @time_and_pixels
// CHECK-COUNT-3: "onnx.Conv"{{.*}} -> tensor<1x2x3x{{.*}}xf32>
func.func @time_and_pixels(%x: tensor<1x4x4x5x5xf32>, %w: tensor<2x4x2x1x1xf32>) -> (tensor<1x2x3x7x7xf32>, tensor<1x2x3x5x3xf32>, tensor<1x2x3x3x5xf32>) {
  %0 = "onnx.Conv"(%x, %w) <{pads = array<i64: 0, 1, 1, 0, 1, 1>}> : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x1x1xf32>) -> tensor<1x2x3x7x7xf32>
  %1 = "onnx.Conv"(%x, %w) <{strides = array<i64: 1, 1, 2>}> : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x1x1xf32>) -> tensor<1x2x3x5x3xf32>
  %2 = "onnx.Conv"(%x, %w) <{strides = array<i64: 1, 2, 1>}> : (tensor<1x4x4x5x5xf32>, tensor<2x4x2x1x1xf32>) -> tensor<1x2x3x3x5xf32>
  return %0, %1, %2 : tensor<1x2x3x7x7xf32>, tensor<1x2x3x5x3xf32>, tensor<1x2x3x3x5xf32>
}

// -----

// The only frame of the result is one of zeros before the operand's: the image that is read is not the operand.
// CHECK-LABEL: @frame_of_zeros
// CHECK-NOT: onnx.Squeeze
// CHECK: "onnx.Conv"(%arg0, %arg1)
func.func @frame_of_zeros(%x: tensor<1x3x1x5x5xf32>, %w: tensor<8x3x1x3x3xf32>) -> tensor<1x8x1x3x3xf32> {
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 0, 0, 0, 0, 0>, strides = array<i64: 2, 1, 1>}> : (tensor<1x3x1x5x5xf32>, tensor<8x3x1x3x3xf32>) -> tensor<1x8x1x3x3xf32>
  return %y : tensor<1x8x1x3x3xf32>
}

// -----

// Blocks that eleven channels leave a third empty, and results of zeros alone, are made of joined taps; twelve channels are read in blocks.
// CHECK-LABEL: @blocks
// CHECK: "onnx.Conv"{{.*}} (tensor<3x22x5x5xf32>, tensor<8x22x2x2xf32>)
// CHECK: "onnx.packed.FrameConv"{{.*}} (tensor<4x12x5x5xf32>,
// CHECK: "onnx.packed.FrameConv"{{.*}}frames = array<i64: 2, 1, 1, 1, 0>{{.*}} (tensor<4x16x5x5xf32>,
// CHECK: "onnx.Conv"{{.*}} (tensor<5x32x5x5xf32>, tensor<8x32x2x2xf32>)
func.func @blocks(%x: tensor<1x11x4x5x5xf32>, %y: tensor<1x12x4x5x5xf32>, %z: tensor<1x16x4x5x5xf32>) -> (tensor<1x8x3x4x4xf32>, tensor<1x8x3x4x4xf32>, tensor<1x8x4x4x4xf32>, tensor<1x8x5x4x4xf32>) {
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<8x11x2x2x2xf32>} : () -> tensor<8x11x2x2x2xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x12x2x2x2xf32>} : () -> tensor<8x12x2x2x2xf32>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x2x2x2xf32>} : () -> tensor<8x16x2x2x2xf32>
  %0 = "onnx.Conv"(%x, %u) : (tensor<1x11x4x5x5xf32>, tensor<8x11x2x2x2xf32>) -> tensor<1x8x3x4x4xf32>
  %1 = "onnx.Conv"(%y, %v) : (tensor<1x12x4x5x5xf32>, tensor<8x12x2x2x2xf32>) -> tensor<1x8x3x4x4xf32>
  %2 = "onnx.Conv"(%z, %w) <{pads = array<i64: 1, 0, 0, 0, 0, 0>}> : (tensor<1x16x4x5x5xf32>, tensor<8x16x2x2x2xf32>) -> tensor<1x8x4x4x4xf32>
  %3 = "onnx.Conv"(%z, %w) <{pads = array<i64: 2, 0, 0, 0, 0, 0>}> : (tensor<1x16x4x5x5xf32>, tensor<8x16x2x2x2xf32>) -> tensor<1x8x5x4x4xf32>
  return %0, %1, %2, %3 : tensor<1x8x3x4x4xf32>, tensor<1x8x3x4x4xf32>, tensor<1x8x4x4x4xf32>, tensor<1x8x5x4x4xf32>
}

// -----

// Several results of a channel lie within its block where blocks are full; of three of each, or eight in all, each tap is apart.
// CHECK-LABEL: @results_of_channels
// CHECK: "onnx.packed.FrameConv"{{.*}}depthwise = true{{.*}} -> tensor<3x16x4x4xf32>
// CHECK-COUNT-2: "onnx.Conv"{{.*}}group = 8 : i64{{.*}} -> tensor<3x24x4x4xf32>
// CHECK-COUNT-2: "onnx.Conv"{{.*}}group = 4 : i64{{.*}} -> tensor<3x8x4x4xf32>
func.func @results_of_channels(%x: tensor<1x8x4x5x5xf32>, %few: tensor<1x4x4x5x5xf32>) -> (tensor<1x16x3x4x4xf32>, tensor<1x24x3x4x4xf32>, tensor<1x8x3x4x4xf32>) {
  %two = "onnx.Constant"() {value = dense<1.0> : tensor<16x1x2x2x2xf32>} : () -> tensor<16x1x2x2x2xf32>
  %three = "onnx.Constant"() {value = dense<1.0> : tensor<24x1x2x2x2xf32>} : () -> tensor<24x1x2x2x2xf32>
  %half = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x2x2x2xf32>} : () -> tensor<8x1x2x2x2xf32>
  %0 = "onnx.Conv"(%x, %two) <{group = 8 : i64}> : (tensor<1x8x4x5x5xf32>, tensor<16x1x2x2x2xf32>) -> tensor<1x16x3x4x4xf32>
  %1 = "onnx.Conv"(%x, %three) <{group = 8 : i64}> : (tensor<1x8x4x5x5xf32>, tensor<24x1x2x2x2xf32>) -> tensor<1x24x3x4x4xf32>
  %2 = "onnx.Conv"(%few, %half) <{group = 4 : i64}> : (tensor<1x4x4x5x5xf32>, tensor<8x1x2x2x2xf32>) -> tensor<1x8x3x4x4xf32>
  return %0, %1, %2 : tensor<1x16x3x4x4xf32>, tensor<1x24x3x4x4xf32>, tensor<1x8x3x4x4xf32>
}

// -----

// Transposed ones: groups, weights or a bias of the run, frames of the run, and taps apart.
// CHECK-LABEL: @transposed_kept
// CHECK-COUNT-5: "onnx.ConvTranspose"(%{{.*}}) <{{.*}} -> tensor<1x{{[0-9]+}}x{{[0-9?]+}}x{{[0-9]+}}x{{[0-9]+}}xf32>
// CHECK-NOT: "onnx.ConvTranspose"
func.func @transposed_kept(%x: tensor<1x32x3x5x4xf32>, %run: tensor<32x16x2x2x2xf32>, %b: tensor<16xf32>, %frames: tensor<1x32x?x5x4xf32>) -> (tensor<1x32x6x10x8xf32>, tensor<1x16x6x10x8xf32>, tensor<1x16x6x10x8xf32>, tensor<1x16x?x10x8xf32>, tensor<1x16x5x7x6xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x16x2x2x2xf32>} : () -> tensor<32x16x2x2x2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) <{group = 2 : i64, strides = array<i64: 2, 2, 2>}> : (tensor<1x32x3x5x4xf32>, tensor<32x16x2x2x2xf32>) -> tensor<1x32x6x10x8xf32>
  %1 = "onnx.ConvTranspose"(%x, %run) <{strides = array<i64: 2, 2, 2>}> : (tensor<1x32x3x5x4xf32>, tensor<32x16x2x2x2xf32>) -> tensor<1x16x6x10x8xf32>
  %2 = "onnx.ConvTranspose"(%x, %w, %b) <{strides = array<i64: 2, 2, 2>}> : (tensor<1x32x3x5x4xf32>, tensor<32x16x2x2x2xf32>, tensor<16xf32>) -> tensor<1x16x6x10x8xf32>
  %3 = "onnx.ConvTranspose"(%frames, %w) <{strides = array<i64: 2, 2, 2>}> : (tensor<1x32x?x5x4xf32>, tensor<32x16x2x2x2xf32>) -> tensor<1x16x?x10x8xf32>
  %4 = "onnx.ConvTranspose"(%x, %w) <{dilations = array<i64: 2, 2, 2>}> : (tensor<1x32x3x5x4xf32>, tensor<32x16x2x2x2xf32>) -> tensor<1x16x5x7x6xf32>
  return %0, %1, %2, %3, %4 : tensor<1x32x6x10x8xf32>, tensor<1x16x6x10x8xf32>, tensor<1x16x6x10x8xf32>, tensor<1x16x?x10x8xf32>, tensor<1x16x5x7x6xf32>
}

// -----

// Where the phases have not as many frames each, those of all are made together and the rest is dropped.
// CHECK-LABEL: @odd_frames
// CHECK: "onnx.ConvTranspose"{{.*}} (tensor<4x16x5x4xf32>, tensor<16x32x3x3xf32>) -> tensor<4x32x{{.*}}xf32>
// CHECK: "onnx.Slice"{{.*}} -> tensor<7x16x{{.*}}xf32>
// CHECK-NOT: "onnx.ConvTranspose"
func.func @odd_frames(%x: tensor<1x8x3x5x4xf32>) -> tensor<1x16x7x11x9xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x3x3x3xf32>} : () -> tensor<8x16x3x3x3xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2, 2>}> : (tensor<1x8x3x5x4xf32>, tensor<8x16x3x3x3xf32>) -> tensor<1x16x7x11x9xf32>
  return %y : tensor<1x16x7x11x9xf32>
}

// -----

// Channels that only the run knows, an empty batch beside another size that is unknown, fewer frames than the filter reaches over.
// CHECK-LABEL: @unknown_and_empty
// CHECK-COUNT-4: "onnx.Conv"(%arg{{.*}} -> tensor<{{[0-9]+x[0-9]+x[0-9?]+x[0-9?]+x[0-9]+xf32}}>
func.func @unknown_and_empty(%x: tensor<1x?x?x6x6xf32>, %none: tensor<0x4x4x?x5xf32>, %frames: tensor<1x4x?x6x6xf32>) -> (tensor<1x2x?x6x6xf32>, tensor<0x2x2x?x5xf32>, tensor<0x2x2x?x3xf32>, tensor<1x2x?x4x4xf32>) {
  %time = "onnx.Constant"() {value = dense<1.0> : tensor<2x4x3x1x1xf32>} : () -> tensor<2x4x3x1x1xf32>
  %cube = "onnx.Constant"() {value = dense<1.0> : tensor<2x4x3x3x3xf32>} : () -> tensor<2x4x3x3x3xf32>
  %0 = "onnx.Conv"(%x, %time) : (tensor<1x?x?x6x6xf32>, tensor<2x4x3x1x1xf32>) -> tensor<1x2x?x6x6xf32>
  %1 = "onnx.Conv"(%none, %time) : (tensor<0x4x4x?x5xf32>, tensor<2x4x3x1x1xf32>) -> tensor<0x2x2x?x5xf32>
  %2 = "onnx.Conv"(%none, %cube) : (tensor<0x4x4x?x5xf32>, tensor<2x4x3x3x3xf32>) -> tensor<0x2x2x?x3xf32>
  %3 = "onnx.Conv"(%frames, %cube) : (tensor<1x4x?x6x6xf32>, tensor<2x4x3x3x3xf32>) -> tensor<1x2x?x4x4xf32>
  return %0, %1, %2, %3 : tensor<1x2x?x6x6xf32>, tensor<0x2x2x?x5xf32>, tensor<0x2x2x?x3xf32>, tensor<1x2x?x4x4xf32>
}

// -----

// Groups are not taken apart for more than 32 taps.
// CHECK-LABEL: @many_taps_in_groups
// CHECK: "onnx.Conv"(%arg0, %{{.*}} -> tensor<1x4x8x5x3xf32>
func.func @many_taps_in_groups(%x: tensor<1x4x40x5x5xf32>) -> tensor<1x4x8x5x3xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x33x1x3xf32>} : () -> tensor<4x2x33x1x3xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 2 : i64}> : (tensor<1x4x40x5x5xf32>, tensor<4x2x33x1x3xf32>) -> tensor<1x4x8x5x3xf32>
  return %y : tensor<1x4x8x5x3xf32>
}
