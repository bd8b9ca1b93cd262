// RUN: onnxc-opt %s --move-convolutions | FileCheck %s

// A piece of a Concat that is four times as large as before is convolved before; the others keep the bias.
// CHECK-LABEL: @pieces
// CHECK: %[[S:.*]] = "onnx.Conv"(%arg1, %{{.*}}) {{.*}} (tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
// CHECK: %[[L:.*]] = "onnx.Resize"(%[[S]]{{.*}} -> tensor<1x64x8x8xf32>
// CHECK: %[[P:.*]] = "onnx.Conv"(%arg0, %{{.*}}, %arg2) {{.*}} (tensor<1x32x8x8xf32>, tensor<64x32x1x1xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
// CHECK: %[[Y:.*]] = "onnx.Add"(%[[P]], %[[L]])
// CHECK: return %[[Y]]
func.func @pieces(%x: tensor<1x32x8x8xf32>, %s: tensor<1x64x4x4xf32>, %b: tensor<64xf32>) -> tensor<1x64x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x96x1x1xf32>} : () -> tensor<64x96x1x1xf32>
  %scales = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %l = "onnx.Resize"(%s, %scales) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %c = "onnx.Concat"(%x, %l) <{axis = 1 : i64}> : (tensor<1x32x8x8xf32>, tensor<1x64x8x8xf32>) -> tensor<1x96x8x8xf32>
  %y = "onnx.Conv"(%c, %w, %b) : (tensor<1x96x8x8xf32>, tensor<64x96x1x1xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
  return %y : tensor<1x64x8x8xf32>
}

// Sizes that speak of the operand's channels speak of the result's then; two readers are moved together, each with its bias.
// CHECK-LABEL: @readers
// CHECK: %[[A:.*]] = "onnx.Conv"(%arg0, %{{.*}}, %arg1) {{.*}} -> tensor<1x48x4x4xf32>
// CHECK: %[[C:.*]] = "onnx.Constant"() <{value = dense<[48, 8, 8]> : tensor<3xi64>}>
// CHECK: %[[N:.*]] = "onnx.Concat"(%{{.*}}, %[[C]])
// CHECK: "onnx.Resize"(%[[A]], %[[N]]) {{.*}} -> tensor<1x48x8x8xf32>
// CHECK: %[[B:.*]] = "onnx.Conv"(%arg0, %{{.*}}, %arg1) {{.*}} -> tensor<1x48x4x4xf32>
// CHECK: "onnx.Resize"(%[[B]]
func.func @readers(%s: tensor<1x64x4x4xf32>, %b: tensor<48xf32>) -> (tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<48x64x1x1xf32>} : () -> tensor<48x64x1x1xf32>
  %sizes = "onnx.Constant"() {value = dense<[1, 64, 8, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %l = "onnx.Resize"(%s, %sizes) <{operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x64x4x4xf32>, tensor<4xi64>) -> tensor<1x64x8x8xf32>
  %y = "onnx.Conv"(%l, %w, %b) : (tensor<1x64x8x8xf32>, tensor<48x64x1x1xf32>, tensor<48xf32>) -> tensor<1x48x8x8xf32>
  %z = "onnx.Conv"(%l, %w, %b) : (tensor<1x64x8x8xf32>, tensor<48x64x1x1xf32>, tensor<48xf32>) -> tensor<1x48x8x8xf32>
  return %y, %z : tensor<1x48x8x8xf32>, tensor<1x48x8x8xf32>
}

// Not what gets smaller, what another op reads as well, what lies outside, and where as much is resized as products are saved.
// CHECK-LABEL: @kept
// CHECK-COUNT-4: "onnx.Conv"(%{{[0-9]+}},
func.func @kept(%x: tensor<1x64x8x8xf32>, %s: tensor<1x64x4x4xf32>, %f: tensor<1x2x4x4xf32>, %roi: tensor<8xf32>) -> (tensor<1x64x4x4xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<64x2x1x1xf32>} : () -> tensor<64x2x1x1xf32>
  %half = "onnx.Constant"() {value = dense<[1.0, 1.0, 0.5, 0.5]> : tensor<4xf32>} : () -> tensor<4xf32>
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %a = "onnx.Resize"(%x, %half) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x8x8xf32>, tensor<4xf32>) -> tensor<1x64x4x4xf32>
  %b = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %c = "onnx.Resize"(%s, %roi, %twice) <{coordinate_transformation_mode = "tf_crop_and_resize", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %d = "onnx.Resize"(%f, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x8x8xf32>
  %0 = "onnx.Conv"(%a, %w) : (tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  %1 = "onnx.Conv"(%b, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %2 = "onnx.Relu"(%b) : (tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %3 = "onnx.Conv"(%c, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %4 = "onnx.Conv"(%d, %v) : (tensor<1x2x8x8xf32>, tensor<64x2x1x1xf32>) -> tensor<1x64x8x8xf32>
  return %0, %1, %2, %3, %4 : tensor<1x64x4x4xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>
}

// Convolutions of more than a pixel, of some pixels, with borders, in groups, of weights that the run gives, or whose sums must be exact.
// CHECK-LABEL: @other_convolutions
// CHECK-COUNT-6: "onnx.Conv"(%{{[0-9]+}},
func.func @other_convolutions(%s: tensor<1x64x4x4xf32>, %run: tensor<64x64x1x1xf32>) -> (tensor<1x64x6x6xf32>, tensor<1x64x4x4xf32>, tensor<1x64x10x10xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %w3 = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x3x3xf32>} : () -> tensor<64x64x3x3xf32>
  %half = "onnx.Constant"() {value = dense<1.0> : tensor<64x32x1x1xf32>} : () -> tensor<64x32x1x1xf32>
  %r0 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r1 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r2 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r3 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r4 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r5 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %0 = "onnx.Conv"(%r0, %w3) : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x6x6xf32>
  %1 = "onnx.Conv"(%r1, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  %2 = "onnx.Conv"(%r2, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x10x10xf32>
  %3 = "onnx.Conv"(%r3, %half) <{group = 2 : i64}> : (tensor<1x64x8x8xf32>, tensor<64x32x1x1xf32>) -> tensor<1x64x8x8xf32>
  %4 = "onnx.Conv"(%r4, %run) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %5 = "onnx.Conv"(%r5, %w) {onnxc.exact} : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x64x6x6xf32>, tensor<1x64x4x4xf32>, tensor<1x64x10x10xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>
}

// Resizes along the channels, also where the axes count from the end, ones that keep the ratio of sizes, and pixels of an unknown number.
// CHECK-LABEL: @other_resizes
// CHECK-COUNT-4: "onnx.Conv"(%{{[0-9]+}},
func.func @other_resizes(%s: tensor<1x64x4x4xf32>, %c: tensor<1x32x4x4xf32>, %u: tensor<1x64x?x4xf32>) -> (tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x?x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %deep = "onnx.Constant"() {value = dense<2.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %sizes = "onnx.Constant"() {value = dense<[1, 64, 8, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %r0 = "onnx.Resize"(%c, %deep) <{axes = array<i64: 1, 2, 3>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x32x4x4xf32>, tensor<3xf32>) -> tensor<1x64x8x8xf32>
  %r1 = "onnx.Resize"(%c, %deep) <{axes = array<i64: -3, -2, -1>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x32x4x4xf32>, tensor<3xf32>) -> tensor<1x64x8x8xf32>
  %r2 = "onnx.Resize"(%s, %sizes) <{keep_aspect_ratio_policy = "not_larger", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x64x4x4xf32>, tensor<4xi64>) -> tensor<1x64x8x8xf32>
  %r3 = "onnx.Resize"(%u, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x?x4xf32>, tensor<4xf32>) -> tensor<1x64x?x8xf32>
  %0 = "onnx.Conv"(%r0, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %1 = "onnx.Conv"(%r1, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %2 = "onnx.Conv"(%r2, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  %3 = "onnx.Conv"(%r3, %w) : (tensor<1x64x?x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x?x8xf32>
  return %0, %1, %2, %3 : tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x?x8xf32>
}

// Along rows and columns alone the axes say that channels stay.
// CHECK-LABEL: @axes
// CHECK: %[[S:.*]] = "onnx.Conv"(%arg0,
// CHECK: "onnx.Resize"(%[[S]], {{.*}}axes = array<i64: -2, 3>
func.func @axes(%s: tensor<1x64x4x4xf32>) -> tensor<1x64x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %wide = "onnx.Constant"() {value = dense<2.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "onnx.Resize"(%s, %wide) <{axes = array<i64: -2, 3>, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<2xf32>) -> tensor<1x64x8x8xf32>
  %0 = "onnx.Conv"(%r, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  return %0 : tensor<1x64x8x8xf32>
}

// Side by side in rows, read by another op beside the Concat, or convolved in a branch that may not be taken.
// CHECK-LABEL: @elsewhere
// CHECK: "onnx.Conv"(%{{[0-9]+}}, %{{.*}} -> tensor<1x64x16x8xf32>
// CHECK: "onnx.Conv"(%{{[0-9]+}}, %{{.*}} -> tensor<1x64x8x8xf32>
// CHECK: "onnx.If"
// CHECK: "onnx.Conv"(%{{[0-9]+}}, %{{.*}} -> tensor<1x64x8x8xf32>
func.func @elsewhere(%s: tensor<1x64x4x4xf32>, %x: tensor<1x64x8x8xf32>, %c: tensor<i1>) -> (tensor<1x64x16x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %twice = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<64x128x1x1xf32>} : () -> tensor<64x128x1x1xf32>
  %r0 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r1 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %r2 = "onnx.Resize"(%s, %twice) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x64x4x4xf32>, tensor<4xf32>) -> tensor<1x64x8x8xf32>
  %rows = "onnx.Concat"(%r0, %x) <{axis = 2 : i64}> : (tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) -> tensor<1x64x16x8xf32>
  %both = "onnx.Concat"(%r1, %x) <{axis = 1 : i64}> : (tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>) -> tensor<1x128x8x8xf32>
  %n = "onnx.Neg"(%r1) : (tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32>
  %0 = "onnx.Conv"(%rows, %w) : (tensor<1x64x16x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x16x8xf32>
  %1 = "onnx.Conv"(%both, %v) : (tensor<1x128x8x8xf32>, tensor<64x128x1x1xf32>) -> tensor<1x64x8x8xf32>
  %2 = "onnx.If"(%c) ({
    %3 = "onnx.Conv"(%r2, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
    "onnx.Yield"(%3) : (tensor<1x64x8x8xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<1x64x8x8xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x64x8x8xf32>
  return %0, %1, %n, %2 : tensor<1x64x16x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>, tensor<1x64x8x8xf32>
}
