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
