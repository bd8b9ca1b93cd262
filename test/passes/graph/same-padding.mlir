// RUN: onnxc-opt %s --fold-shapes --split-input-file | FileCheck %s

// max((ceil(size / 2) - 1) * 2 + 3 - size, 0) in floats, as PyTorch writes it: half of it before, the rest behind. Of an image's columns.
// CHECK-LABEL: @upper
// CHECK-NOT: onnx.Pad
// CHECK: "onnx.Conv"(%arg0, %arg1) <{auto_pad = "SAME_UPPER", group = 1 : i64, strides = array<i64: 2>}>
func.func @upper(%x: tensor<1x3x?xf32> {onnx.dims = ["", "", "w"]}, %w: tensor<8x3x3xf32>) -> tensor<1x8x?xf32> {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %axis = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %none = "onnx.Constant"() {value = dense<0> : tensor<2xi64>} : () -> tensor<2xi64>
  %shape = "onnx.Shape"(%x) : (tensor<1x3x?xf32>) -> tensor<3xi64>
  %size = "onnx.Gather"(%shape, %axis) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = "onnx.Cast"(%size) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %1 = "onnx.Div"(%0, %two) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %2 = "onnx.Ceil"(%1) : (tensor<1xf32>) -> tensor<1xf32>
  %3 = "onnx.Sub"(%2, %one) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %4 = "onnx.Mul"(%3, %two) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %5 = "onnx.Add"(%4, %two) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %6 = "onnx.Add"(%5, %one) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %7 = "onnx.Sub"(%6, %0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %total = "onnx.Clip"(%7, %zero) {operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %8 = "onnx.Div"(%total, %two) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %before = "onnx.Cast"(%8) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %9 = "onnx.Cast"(%before) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %10 = "onnx.Sub"(%total, %9) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %after = "onnx.Cast"(%10) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %pads = "onnx.Concat"(%none, %before, %none, %after) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %p = "onnx.Pad"(%x, %pads, %zero) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x3x?xf32>, tensor<6xi64>, tensor<f32>) -> tensor<1x3x?xf32>
  %y = "onnx.Conv"(%p, %w) {strides = array<i64: 2>} : (tensor<1x3x?xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  return %y : tensor<1x8x?xf32>
}

// -----

// Integers, and the larger half before. Another stride, other values or another amount stay a Pad.
// CHECK-LABEL: @lower
// CHECK: %[[P:.*]] = "onnx.Pad"
// CHECK: %[[O:.*]] = "onnx.Pad"
// CHECK: %[[Y:.*]] = "onnx.Conv"(%arg0, %arg1) <{auto_pad = "SAME_LOWER", group = 1 : i64, strides = array<i64: 2>}>
// CHECK: %[[Z:.*]] = "onnx.Conv"(%[[P]], %arg1)
// CHECK: %[[V:.*]] = "onnx.Conv"(%[[O]], %arg1)
// CHECK: return %[[Y]], %[[Z]], %[[V]]
func.func @lower(%x: tensor<1x3x?xf32> {onnx.dims = ["", "", "w"]}, %w: tensor<8x3x3xf32>) -> (tensor<1x8x?xf32>, tensor<1x8x?xf32>, tensor<1x8x?xf32>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %none = "onnx.Constant"() {value = dense<0> : tensor<2xi64>} : () -> tensor<2xi64>
  %fill = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %shape = "onnx.Shape"(%x) : (tensor<1x3x?xf32>) -> tensor<3xi64>
  %size = "onnx.Gather"(%shape, %two) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = "onnx.Add"(%size, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %1 = "onnx.Div"(%0, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = "onnx.Mul"(%1, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %3 = "onnx.Add"(%2, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %4 = "onnx.Sub"(%3, %size) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %total = "onnx.Max"(%4, %zero) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %after = "onnx.Div"(%total, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %before = "onnx.Sub"(%total, %after) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %pads = "onnx.Concat"(%none, %before, %none, %after) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<6xi64>
  %p = "onnx.Pad"(%x, %pads) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<1x3x?xf32>, tensor<6xi64>) -> tensor<1x3x?xf32>
  %o = "onnx.Pad"(%x, %pads, %fill) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x3x?xf32>, tensor<6xi64>, tensor<f32>) -> tensor<1x3x?xf32>
  %y = "onnx.Conv"(%p, %w) {strides = array<i64: 2>} : (tensor<1x3x?xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  %z = "onnx.Conv"(%p, %w) {strides = array<i64: 3>} : (tensor<1x3x?xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  %v = "onnx.Conv"(%o, %w) {strides = array<i64: 2>} : (tensor<1x3x?xf32>, tensor<8x3x3xf32>) -> tensor<1x8x?xf32>
  return %y, %z, %v : tensor<1x8x?xf32>, tensor<1x8x?xf32>, tensor<1x8x?xf32>
}
