// RUN: onnxc-opt %s --block-channels | FileCheck %s

// What has no form on blocks, so that a plain image is made for it.

// Doubles, filters and frames over three dims, and borders that are cut off.
// CHECK-LABEL: @convolutions
// CHECK-NOT: onnx.packed
// CHECK: return
func.func @convolutions(%d: tensor<1x32x8x8xf64>, %dw: tensor<32x32x3x3xf64>, %f: tensor<1x32x8x8x8xf32>, %fw: tensor<32x32x3x3x3xf32>, %x: tensor<1x32x8x8xf32>, %w: tensor<32x32x3x3xf32>) -> (tensor<1x32x6x6xf64>, tensor<1x32x6x6x6xf32>, tensor<1x32x5x6xf32>) {
  %0 = "onnx.Conv"(%d, %dw) : (tensor<1x32x8x8xf64>, tensor<32x32x3x3xf64>) -> tensor<1x32x6x6xf64>
  %1 = "onnx.Conv"(%f, %fw) : (tensor<1x32x8x8x8xf32>, tensor<32x32x3x3x3xf32>) -> tensor<1x32x6x6x6xf32>
  %2 = "onnx.Conv"(%x, %w) <{pads = array<i64: -1, 0, 0, 0>}> : (tensor<1x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x5x6xf32>
  return %0, %1, %2 : tensor<1x32x6x6xf64>, tensor<1x32x6x6x6xf32>, tensor<1x32x5x6xf32>
}

// With stride 1 the padding is the same for every size: as much before a pixel as behind it, or one less.
// CHECK-LABEL: @same_padding
// CHECK: "onnx.packed.Conv"{{.*}}pads = array<i64: 1, 1, 2, 2>
// CHECK: "onnx.packed.Conv"{{.*}}pads = array<i64: 2, 2, 1, 1>
func.func @same_padding(%x: tensor<1x32x?x?xf32>, %w: tensor<32x32x4x4xf32>) -> (tensor<1x32x?x?xf32>, tensor<1x32x?x?xf32>) {
  %0 = "onnx.Conv"(%x, %w) <{auto_pad = "SAME_UPPER"}> : (tensor<1x32x?x?xf32>, tensor<32x32x4x4xf32>) -> tensor<1x32x?x?xf32>
  %1 = "onnx.Conv"(%x, %w) <{auto_pad = "SAME_LOWER"}> : (tensor<1x32x?x?xf32>, tensor<32x32x4x4xf32>) -> tensor<1x32x?x?xf32>
  return %0, %1 : tensor<1x32x?x?xf32>, tensor<1x32x?x?xf32>
}

// Means whose last window is not whole or that count padding which the run decides, and maxima with their places.
// CHECK-LABEL: @pools
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK-DAG: "onnx.AveragePool"(%[[U]]
// CHECK-DAG: "onnx.MaxPool"(%[[U]]
// CHECK-DAG: "onnx.packed.Pool"{{.*}}ceil_mode = 1 : i64
// CHECK-DAG: "onnx.AveragePool"(%{{.*}}) <{auto_pad = "SAME_UPPER"
func.func @pools(%x: tensor<1x32x9x9xf32>, %y: tensor<1x32x?x9xf32>, %w: tensor<32x32x1x1xf32>) -> (tensor<1x32x5x5xf32>, tensor<1x32x4x4xf32>, tensor<1x32x4x4xi64>, tensor<1x32x5x5xf32>, tensor<1x32x?x5xf32>) {
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x9x9xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x9x9xf32>
  %d = "onnx.Conv"(%y, %w) : (tensor<1x32x?x9xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x?x9xf32>
  %0 = "onnx.AveragePool"(%c) <{ceil_mode = 1 : i64, kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x32x9x9xf32>) -> tensor<1x32x5x5xf32>
  %1:2 = "onnx.MaxPool"(%c) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 1>, strides = array<i64: 2, 2>}> : (tensor<1x32x9x9xf32>) -> (tensor<1x32x4x4xf32>, tensor<1x32x4x4xi64>)
  %2 = "onnx.MaxPool"(%c) <{ceil_mode = 1 : i64, kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 2>}> : (tensor<1x32x9x9xf32>) -> tensor<1x32x5x5xf32>
  %3 = "onnx.AveragePool"(%d) <{auto_pad = "SAME_UPPER", count_include_pad = 1 : i64, kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x32x?x9xf32>) -> tensor<1x32x?x5xf32>
  return %0, %1#0, %1#1, %2, %3 : tensor<1x32x5x5xf32>, tensor<1x32x4x4xf32>, tensor<1x32x4x4xi64>, tensor<1x32x5x5xf32>, tensor<1x32x?x5xf32>
}

// Borders that mirror the image, of a width or a number of the run, infinite, on axes of their own, or with channels cut off.
// CHECK-LABEL: @borders
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK-COUNT-6: "onnx.Pad"(%[[U]]
func.func @borders(%x: tensor<1x32x8x8xf32>, %w: tensor<32x32x1x1xf32>, %run: tensor<8xi64>, %value: tensor<f32>) -> (tensor<1x32x8x10xf32>, tensor<1x32x?x?xf32>, tensor<1x32x8x10xf32>, tensor<1x32x8x10xf32>, tensor<1x32x8x10xf32>, tensor<1x30x8x8xf32>) {
  %pads = "onnx.Constant"() {value = dense<[0, 0, 0, 1, 0, 0, 0, 1]> : tensor<8xi64>} : () -> tensor<8xi64>
  %less = "onnx.Constant"() {value = dense<[0, 0, 0, 0, 0, -2, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %two = "onnx.Constant"() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>
  %axis = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %inf = "onnx.Constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x8x8xf32>
  %0 = "onnx.Pad"(%c, %pads) <{mode = "reflect", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x32x8x8xf32>, tensor<8xi64>) -> tensor<1x32x8x10xf32>
  %1 = "onnx.Pad"(%c, %run) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x32x8x8xf32>, tensor<8xi64>) -> tensor<1x32x?x?xf32>
  %2 = "onnx.Pad"(%c, %pads, %value) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x32x8x8xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x32x8x10xf32>
  %3 = "onnx.Pad"(%c, %pads, %inf) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x32x8x8xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x32x8x10xf32>
  %4 = "onnx.Pad"(%c, %two, %axis) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x32x8x8xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<1x32x8x10xf32>
  %5 = "onnx.Pad"(%c, %less) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x32x8x8xf32>, tensor<8xi64>) -> tensor<1x30x8x8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x32x8x10xf32>, tensor<1x32x?x?xf32>, tensor<1x32x8x10xf32>, tensor<1x32x8x10xf32>, tensor<1x32x8x10xf32>, tensor<1x30x8x8xf32>
}

// Resizes by scales that the run gives, of the ratio that it keeps, of a cut, or of more channels.
// CHECK-LABEL: @resizes
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK-COUNT-4: "onnx.Resize"(%[[U]]
// CHECK-NOT: onnx.packed.Resize
func.func @resizes(%x: tensor<1x32x4x4xf32>, %w: tensor<32x32x1x1xf32>, %run: tensor<4xf32>, %roi: tensor<8xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x64x8x8xf32>) {
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %deep = "onnx.Constant"() {value = dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %sizes = "onnx.Constant"() {value = dense<[1, 32, 8, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x4x4xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32>
  %0 = "onnx.Resize"(%c, %run) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x32x4x4xf32>, tensor<4xf32>) -> tensor<1x32x8x8xf32>
  %1 = "onnx.Resize"(%c, %sizes) <{keep_aspect_ratio_policy = "not_larger", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x32x4x4xf32>, tensor<4xi64>) -> tensor<1x32x8x8xf32>
  %2 = "onnx.Resize"(%c, %roi, %twice) <{coordinate_transformation_mode = "tf_crop_and_resize", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x32x4x4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<1x32x8x8xf32>
  %3 = "onnx.Resize"(%c, %deep) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x32x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  return %0, %1, %2, %3 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x64x8x8xf32>
}

// Lanes past the last channel stay finite: they are divided by a number that is not zero, never by zero, by numbers of channels or by what the
// run gives, and their squares are in no sum.
// CHECK-LABEL: @lanes
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[C]])
// CHECK: "onnx.Div"(%[[C]], %{{.*}}) : (tensor<1x2x8x8x16xf32>, tensor<f32>)
// CHECK-COUNT-3: "onnx.Div"(%[[U]]
// CHECK: "onnx.ReduceL2"(%[[U]]
func.func @lanes(%x: tensor<1x32x8x8xf32>, %w: tensor<20x32x1x1xf32>, %run: tensor<1x20x8x8xf32>) -> (tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x1x1xf32>) {
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %each = "onnx.Constant"() {value = dense<2.0> : tensor<20x1x1xf32>} : () -> tensor<20x1x1xf32>
  %axes = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x8x8xf32>, tensor<20x32x1x1xf32>) -> tensor<1x20x8x8xf32>
  %0 = "onnx.Div"(%c, %two) : (tensor<1x20x8x8xf32>, tensor<f32>) -> tensor<1x20x8x8xf32>
  %1 = "onnx.Div"(%c, %zero) : (tensor<1x20x8x8xf32>, tensor<f32>) -> tensor<1x20x8x8xf32>
  %2 = "onnx.Div"(%c, %each) : (tensor<1x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<1x20x8x8xf32>
  %3 = "onnx.Div"(%c, %run) : (tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>) -> tensor<1x20x8x8xf32>
  %4 = "onnx.ReduceL2"(%c, %axes) : (tensor<1x20x8x8xf32>, tensor<2xi64>) -> tensor<1x20x1x1xf32>
  return %0, %1, %2, %3, %4 : tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x1x1xf32>
}

// One number for each channel is one for each lane; one for each pixel or each column is none, nor is a constant of pixels, or a mask of
// pixels beside lanes past the last channel.
// CHECK-LABEL: @operands
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[C]])
// CHECK: "onnx.Add"(%[[C]], %{{.*}}) : (tensor<1x2x8x8x16xf32>, tensor<2x1x1x16xf32>)
// CHECK-COUNT-4: "onnx.Add"(%[[U]]
func.func @operands(%x: tensor<1x32x8x8xf32>, %w: tensor<20x32x1x1xf32>, %pixels: tensor<8x8xf32>, %mask: tensor<1x1x8x8xf32>) -> (tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>) {
  %each = "onnx.Constant"() {value = dense<2.0> : tensor<20x1x1xf32>} : () -> tensor<20x1x1xf32>
  %columns = "onnx.Constant"() {value = dense<2.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %image = "onnx.Constant"() {value = dense<2.0> : tensor<20x8x8xf32>} : () -> tensor<20x8x8xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x8x8xf32>, tensor<20x32x1x1xf32>) -> tensor<1x20x8x8xf32>
  %0 = "onnx.Add"(%c, %each) : (tensor<1x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<1x20x8x8xf32>
  %1 = "onnx.Add"(%c, %pixels) : (tensor<1x20x8x8xf32>, tensor<8x8xf32>) -> tensor<1x20x8x8xf32>
  %2 = "onnx.Add"(%c, %columns) : (tensor<1x20x8x8xf32>, tensor<8xf32>) -> tensor<1x20x8x8xf32>
  %3 = "onnx.Add"(%c, %image) : (tensor<1x20x8x8xf32>, tensor<20x8x8xf32>) -> tensor<1x20x8x8xf32>
  %4 = "onnx.Add"(%c, %mask) : (tensor<1x20x8x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x20x8x8xf32>
  return %0, %1, %2, %3, %4 : tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>, tensor<1x20x8x8xf32>
}

// Sums over rows of pixels, over images, and over channels and pixels at once.
// CHECK-LABEL: @reductions
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK-COUNT-3: "onnx.ReduceSum"(%[[U]]
func.func @reductions(%x: tensor<2x32x8x8xf32>, %w: tensor<32x32x1x1xf32>) -> (tensor<2x32x1x8xf32>, tensor<1x32x8x8xf32>, tensor<2x1x1x1xf32>) {
  %rows = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %images = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<[1, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<2x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<2x32x8x8xf32>
  %0 = "onnx.ReduceSum"(%c, %rows) : (tensor<2x32x8x8xf32>, tensor<1xi64>) -> tensor<2x32x1x8xf32>
  %1 = "onnx.ReduceSum"(%c, %images) : (tensor<2x32x8x8xf32>, tensor<1xi64>) -> tensor<1x32x8x8xf32>
  %2 = "onnx.ReduceSum"(%c, %all) : (tensor<2x32x8x8xf32>, tensor<3xi64>) -> tensor<2x1x1x1xf32>
  return %0, %1, %2 : tensor<2x32x1x8xf32>, tensor<1x32x8x8xf32>, tensor<2x1x1x1xf32>
}
