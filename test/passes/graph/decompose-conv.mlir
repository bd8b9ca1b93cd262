// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Convolutions, transposed ones and pools over images.

// CHECK-LABEL: @fused_conv
// CHECK: %[[C:.*]] = "onnx.Conv"
// CHECK: %[[A:.*]] = "onnx.Add"(%[[C]], %arg2)
// CHECK: "onnx.LeakyRelu"(%[[A]]) <{alpha = 2.000000e-01 : f32}>
func.func @fused_conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %z: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %y = "onnx.ms.FusedConv"(%x, %w, %z) <{activation = "LeakyRelu", activation_params = array<f32: 0.2>, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// Four phases of one tap each.
// CHECK-LABEL: @two_by_two
// CHECK: dense<{{.*}}> : tensor<4x1x1x1xf32>
// CHECK: %[[C:.*]] = "onnx.Conv"{{.*}} -> tensor<1x4x3x3xf32>
// CHECK: "onnx.Transpose"{{.*}} -> tensor<1x1x3x2x3x2xf32>
// CHECK: "onnx.Reshape"{{.*}} -> tensor<1x1x6x6xf32>
// CHECK-NOT: onnx.Slice
func.func @two_by_two(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>} : () -> tensor<1x1x2x2xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x6x6xf32>
  return %y : tensor<1x1x6x6xf32>
}

// -----

// Weights that only the run knows become phases in the run.
// CHECK-LABEL: @given_weights
// CHECK: "onnx.Pad"(%arg1{{.*}} -> tensor<1x1x4x2xf32>
// CHECK: "onnx.Slice"{{.*}} -> tensor<1x1x1x2x2x1x2xf32>
// CHECK: %[[W:.*]] = "onnx.Reshape"{{.*}} -> tensor<4x1x2x1xf32>
// CHECK: "onnx.Conv"(%arg0, %[[W]]){{.*}} -> tensor<1x4x4x3xf32>
func.func @given_weights(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x3x2xf32>) -> tensor<1x1x7x6xf32> {
  %y = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x1x3x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x7x6xf32>
  return %y : tensor<1x1x7x6xf32>
}

// -----

// CHECK-LABEL: @dilated_transpose
// CHECK: onnx.ConvTranspose
func.func @dilated_transpose(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>) -> tensor<1x1x5x5xf32> {
  %y = "onnx.ConvTranspose"(%x, %w) <{dilations = array<i64: 2, 2>}> : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x5x5xf32>
  return %y : tensor<1x1x5x5xf32>
}

// -----

// Sums that f32 holds exactly, of products of bytes; the corrections are those of a zero point of -1.
// CHECK-LABEL: @integers
// CHECK: %[[C:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}10, 0, {{.*}} : tensor<1x16xi32>
// CHECK: %[[S:.*]] = "onnx.packed.LinearConv"(%arg0, %{{.*}}, %{{.*}}, %[[C]], %arg1) <{{.*}}operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1>{{.*}} -> tensor<1x1x2x2x16xf32>
// CHECK: %[[P:.*]] = "onnx.packed.Unblock"(%[[S]])
// CHECK: "onnx.Cast"(%[[P]]) {{.*}} -> tensor<1x1x2x2xi32>
func.func @integers(%x: tensor<1x1x3x3xui8>, %z: tensor<ui8>) -> tensor<1x1x2x2xi32> {
  %w = "onnx.Constant"() {value = dense<[[[[1, 2], [3, 4]]]]> : tensor<1x1x2x2xi8>} : () -> tensor<1x1x2x2xi8>
  %y = "onnx.ConvInteger"(%x, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x1x3x3xui8>, tensor<1x1x2x2xi8>, tensor<ui8>) -> tensor<1x1x2x2xi32>
  return %y : tensor<1x1x2x2xi32>
}

// -----

// Of f32 where the kernel of bytes knows no such padding.
// CHECK-LABEL: @padded_integers
// CHECK: %[[X:.*]] = "onnx.Sub"
// CHECK: %[[S:.*]] = "onnx.Conv"(%[[X]], {{.*}}onnxc.exact{{.*}} -> tensor<1x1x3x3xf32>
// CHECK: "onnx.Cast"(%[[S]]) {{.*}} -> tensor<1x1x3x3xi32>
func.func @padded_integers(%x: tensor<1x1x3x3xui8>, %z: tensor<ui8>) -> tensor<1x1x3x3xi32> {
  %w = "onnx.Constant"() {value = dense<[[[[1, 2], [3, 4]]]]> : tensor<1x1x2x2xi8>} : () -> tensor<1x1x2x2xi8>
  %y = "onnx.ConvInteger"(%x, %w, %z) <{auto_pad = "SAME_UPPER", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x1x3x3xui8>, tensor<1x1x2x2xi8>, tensor<ui8>) -> tensor<1x1x3x3xi32>
  return %y : tensor<1x1x3x3xi32>
}

// -----

// Sums of products with parts of the weights, 255 * 16 each, stay below 2^24 up to a depth of 4,112; deeper ones stay integers.
// CHECK-LABEL: @large_integers
// CHECK-COUNT-2: "onnx.Conv"({{.*}} {onnxc.exact}
// CHECK: "onnx.ConvInteger"(%arg0
// CHECK-NOT: onnx.Conv
func.func @large_integers(%x: tensor<1x4113x3x3xui8>, %z: tensor<1x4112x3x3xui8>) -> (tensor<1x1x3x3xi32>, tensor<1x1x3x3xi32>) {
  %v = "onnx.Constant"() {value = dense<100> : tensor<1x4112x1x1xi8>} : () -> tensor<1x4112x1x1xi8>
  %p = "onnx.ConvInteger"(%z, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4112x3x3xui8>, tensor<1x4112x1x1xi8>) -> tensor<1x1x3x3xi32>
  %w = "onnx.Constant"() {value = dense<100> : tensor<1x4113x1x1xi8>} : () -> tensor<1x4113x1x1xi8>
  %y = "onnx.ConvInteger"(%x, %w) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4113x3x3xui8>, tensor<1x4113x1x1xi8>) -> tensor<1x1x3x3xi32>
  return %p, %y : tensor<1x1x3x3xi32>, tensor<1x1x3x3xi32>
}

// -----

// CHECK-LABEL: @whole_images
// CHECK: %[[X:.*]] = "onnx.Reshape"(%arg0, {{.*}} -> tensor<?x18xf32>
// CHECK: "onnx.{{Gemm|MatMul}}"(%[[X]],
// CHECK-NOT: "onnx.Conv"
func.func @whole_images(%x: tensor<?x2x3x3xf32>, %b: tensor<4xf32>) -> tensor<?x4x1x1xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x3x3xf32>} : () -> tensor<4x2x3x3xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<?x2x3x3xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<?x4x1x1xf32>
  return %y : tensor<?x4x1x1xf32>
}

// -----

// Images of one pixel are rows where there may be several; one image stays.
// CHECK-LABEL: @single_pixels
// CHECK: "onnx.{{Gemm|MatMul}}"{{.*}}(tensor<?x2xf32>
// CHECK: "onnx.Conv"(%arg1,
func.func @single_pixels(%x: tensor<?x2x1x1xf32>, %z: tensor<1x2x1x1xf32>) -> (tensor<?x4x1x1xf32>, tensor<1x4x1x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x1x1xf32>} : () -> tensor<4x2x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<?x2x1x1xf32>, tensor<4x2x1x1xf32>) -> tensor<?x4x1x1xf32>
  %u = "onnx.Conv"(%z, %w) : (tensor<1x2x1x1xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x1x1xf32>
  return %y, %u : tensor<?x4x1x1xf32>, tensor<1x4x1x1xf32>
}

// -----

// Bytes are for integer-contractions, sums that have to be exact for layouts that keep them so.
// CHECK-LABEL: @whole_images_of_bytes
// CHECK-COUNT-2: "onnx.Conv"
func.func @whole_images_of_bytes(%x: tensor<?x2x3x3xf32>) -> (tensor<?x4x1x1xf32>, tensor<?x4x1x1xf32>) {
  %q = "onnx.Constant"() {value = dense<2> : tensor<4x2x3x3xi8>} : () -> tensor<4x2x3x3xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = "onnx.DequantizeLinear"(%q, %s) : (tensor<4x2x3x3xi8>, tensor<f32>) -> tensor<4x2x3x3xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<?x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x1x1xf32>
  %f = "onnx.Constant"() {value = dense<2.0> : tensor<4x2x3x3xf32>} : () -> tensor<4x2x3x3xf32>
  %z = "onnx.Conv"(%x, %f) {onnxc.exact} : (tensor<?x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x1x1xf32>
  return %y, %z : tensor<?x4x1x1xf32>, tensor<?x4x1x1xf32>
}

// -----

// Filters as wide as their images: rows are channels, of one channel by a Squeeze, which needs no size.
// CHECK-LABEL: @whole_rows
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 1, 3, 2>}>
// CHECK: %[[S:.*]] = "onnx.Squeeze"(%[[T]], {{.*}} -> tensor<?x5x?xf32>
// CHECK: "onnx.Conv"(%[[S]], {{.*}} pads = array<i64: 1, 0>, strides = array<i64: 2>{{.*}} (tensor<?x5x?xf32>, tensor<4x5x2xf32>) -> tensor<?x4x?xf32>
// CHECK: "onnx.Conv"({{.*}} (tensor<?x10x7xf32>, tensor<4x10x3xf32>) -> tensor<?x4x5xf32>
func.func @whole_rows(%x: tensor<?x1x?x5xf32>, %z: tensor<?x2x7x5xf32>) -> (tensor<?x4x?x1xf32>, tensor<?x4x5x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x2x5xf32>} : () -> tensor<4x1x2x5xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x3x5xf32>} : () -> tensor<4x2x3x5xf32>
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 1>}> : (tensor<?x1x?x5xf32>, tensor<4x1x2x5xf32>) -> tensor<?x4x?x1xf32>
  %u = "onnx.Conv"(%z, %v) : (tensor<?x2x7x5xf32>, tensor<4x2x3x5xf32>) -> tensor<?x4x5x1xf32>
  return %y, %u : tensor<?x4x?x1xf32>, tensor<?x4x5x1xf32>
}

// -----

// Not blocks whose result Winograd's form is not for, borders beside the filters, or a batch and heights of the run with several channels.
// CHECK-LABEL: @not_whole_rows
// CHECK-NOT: "onnx.Transpose"
func.func @not_whole_rows(%x: tensor<1x32x9x5xf32>, %z: tensor<1x1x9x5xf32>, %t: tensor<?x2x?x5xf32>) -> (tensor<1x32x9x1xf32>, tensor<1x1x9x2xf32>, tensor<?x1x?x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x32x1x5xf32>} : () -> tensor<32x32x1x5xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x1x5xf32>} : () -> tensor<1x1x1x5xf32>
  %k = "onnx.Constant"() {value = dense<1.0> : tensor<1x2x1x5xf32>} : () -> tensor<1x2x1x5xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x32x9x5xf32>, tensor<32x32x1x5xf32>) -> tensor<1x32x9x1xf32>
  %u = "onnx.Conv"(%z, %v) <{pads = array<i64: 0, 0, 0, 1>}> : (tensor<1x1x9x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x1x9x2xf32>
  %s = "onnx.Conv"(%t, %k) : (tensor<?x2x?x5xf32>, tensor<1x2x1x5xf32>) -> tensor<?x1x?x1xf32>
  return %y, %u, %s : tensor<1x32x9x1xf32>, tensor<1x1x9x2xf32>, tensor<?x1x?x1xf32>
}

// -----

// A border, or one image.
// CHECK-LABEL: @not_whole_images
// CHECK-COUNT-2: "onnx.Conv"
func.func @not_whole_images(%x: tensor<?x2x3x3xf32>, %one: tensor<1x2x3x3xf32>) -> (tensor<?x4x2x1xf32>, tensor<1x4x1x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x3x3xf32>} : () -> tensor<4x2x3x3xf32>
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 0, 0, 0>}> : (tensor<?x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<?x4x2x1xf32>
  %z = "onnx.Conv"(%one, %w) : (tensor<1x2x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x1x1xf32>
  return %y, %z : tensor<?x4x2x1xf32>, tensor<1x4x1x1xf32>
}

// -----

// Norms of windows are averages of squares or magnitudes, with the padding among the averaged; those past the end have as much more padding.
// CHECK-LABEL: @windows
// CHECK: %[[S:.*]] = "onnx.Mul"(%arg0, %arg0)
// CHECK: %[[A:.*]] = "onnx.AveragePool"(%[[S]]) <{{.*}}count_include_pad = 1
// CHECK: %[[T:.*]] = "onnx.Mul"(%[[A]], %{{.*}})
// CHECK: "onnx.Sqrt"(%[[T]])
// CHECK: "onnx.Abs"(%arg0)
// CHECK: "onnx.AveragePool"({{.*}}pads = array<i64: 0, 0, 1, 1>
// CHECK: "onnx.AveragePool"({{.*}}pads = array<i64: 1, 1, 0, 0>
// CHECK: "onnx.ReduceL2"(%arg0
func.func @windows(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) {
  %a = "onnx.LpPool"(%x) <{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %b = "onnx.LpPool"(%x) <{kernel_shape = array<i64: 2, 2>, p = 1 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %c = "onnx.LpPool"(%x) <{kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %e = "onnx.LpPool"(%x) <{kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, auto_pad = "SAME_LOWER"}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %d = "onnx.GlobalLpPool"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  return %a, %b, %c, %e, %d : tensor<1x2x2x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>
}

// -----

// Filters that are smaller than their strides: a convolution of their taps alone, and zeros between its results, where a bias is added as
// well. Of sizes that only the run knows the zeros are among the filters.
// CHECK-LABEL: @gaps
// CHECK: "onnx.Conv"({{.*}} -> tensor<1x8x3x4xf32>
// CHECK: "onnx.Pad"({{.*}} -> tensor<1x8x2x2x3x4xf32>
// CHECK: "onnx.Slice"({{.*}} -> tensor<1x8x5x7xf32>
// CHECK: "onnx.Pad"({{.*}} -> tensor<1x8x2x2x3x4xf32>
// CHECK: %[[S:.*]] = "onnx.Add"({{.*}}tensor<8x1x1xf32>) -> tensor<1x8x6x8xf32>
// CHECK: "onnx.Slice"(%[[S]]
// CHECK: "onnx.Pad"(%arg1, {{.*}} -> tensor<16x8x2x2xf32>
// CHECK: "onnx.Conv"(%arg2, {{.*}} -> tensor<1x32x?x?xf32>
func.func @gaps(%x: tensor<1x16x3x4xf32>, %w: tensor<16x8x1x1xf32>, %z: tensor<1x16x?x?xf32>, %b: tensor<8xf32>) -> (tensor<1x8x5x7xf32>, tensor<1x8x5x7xf32>, tensor<1x8x?x?xf32>) {
  %y = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x16x3x4xf32>, tensor<16x8x1x1xf32>) -> tensor<1x8x5x7xf32>
  %s = "onnx.ConvTranspose"(%x, %w, %b) <{strides = array<i64: 2, 2>}> : (tensor<1x16x3x4xf32>, tensor<16x8x1x1xf32>, tensor<8xf32>) -> tensor<1x8x5x7xf32>
  %u = "onnx.ConvTranspose"(%z, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x16x?x?xf32>, tensor<16x8x1x1xf32>) -> tensor<1x8x?x?xf32>
  return %y, %s, %u : tensor<1x8x5x7xf32>, tensor<1x8x5x7xf32>, tensor<1x8x?x?xf32>
}
