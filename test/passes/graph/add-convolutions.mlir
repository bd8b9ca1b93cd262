// RUN: onnxc-opt %s --simplify --split-input-file | FileCheck %s

// RepVGG: 3x3, 1x1 and a scaled identity are one 3x3.
// CHECK-LABEL: @branches
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[}}[1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.750000e+01, 6.000000e+00], [7.000000e+00, 8.000000e+00, 9.000000e+00]]]]> : tensor<1x1x3x3xf32>
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<1.350000e+02> : tensor<1xf32>
// CHECK: %[[Y:.*]] = "onnx.Conv"(%arg0, %[[W]], %[[B]])
// CHECK-SAME: pads = array<i64: 1, 1, 1, 1>
// CHECK-NEXT: return %[[Y]]
func.func @branches(%x: tensor<?x1x?x?xf32>) -> tensor<?x1x?x?xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
  %v = "onnx.Constant"() {value = dense<50.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %b = "onnx.Constant"() {value = dense<100.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %c = "onnx.Constant"() {value = dense<30.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %scale = "onnx.Constant"() {value = dense<2.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %offset = "onnx.Constant"() {value = dense<5.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %mean = "onnx.Constant"() {value = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %var = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "onnx.Conv"(%x, %v, %b) : (tensor<?x1x?x?xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<?x1x?x?xf32>
  %1 = "onnx.Conv"(%x, %w, %c) {pads = array<i64: 1, 1, 1, 1>} : (tensor<?x1x?x?xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<?x1x?x?xf32>
  %2 = "onnx.BatchNormalization"(%x, %scale, %offset, %mean, %var) {epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x1x?x?xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1x?x?xf32>
  %3 = "onnx.Add"(%0, %1) : (tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x1x?x?xf32>
  %4 = "onnx.Add"(%2, %3) : (tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x1x?x?xf32>
  return %4 : tensor<?x1x?x?xf32>
}

// -----

// A dilated filter has its taps among those of a longer one, each channel its own. The operand itself stays a term, which would lose digits
// in a sum of products.
// CHECK-LABEL: @dilated
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}[1.100000e+01, 2.000000e+00, 2.300000e+01, 4.000000e+00, 3.500000e+01]], {{\[\[}}4.600000e+01, 7.000000e+00, 5.800000e+01, 9.000000e+00, 7.000000e+01]]]> : tensor<2x1x5xf32>
// CHECK: %[[Y:.*]] = "onnx.Conv"(%arg0, %[[W]], %{{.*}})
// CHECK-NEXT: "onnx.Add"(%[[Y]], %arg0)
func.func @dilated(%x: tensor<1x2x?xf32>) -> tensor<1x2x?xf32> {
  %w = "onnx.Constant"() {value = dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0, 9.0, 10.0]]]> : tensor<2x1x5xf32>} : () -> tensor<2x1x5xf32>
  %v = "onnx.Constant"() {value = dense<[[[10.0, 20.0, 30.0]], [[40.0, 50.0, 60.0]]]> : tensor<2x1x3xf32>} : () -> tensor<2x1x3xf32>
  %0 = "onnx.Conv"(%x, %w) {group = 2 : i64, pads = array<i64: 2, 2>} : (tensor<1x2x?xf32>, tensor<2x1x5xf32>) -> tensor<1x2x?xf32>
  %1 = "onnx.Conv"(%x, %v) {group = 2 : i64, dilations = array<i64: 2>, pads = array<i64: 2, 2>} : (tensor<1x2x?xf32>, tensor<2x1x3xf32>) -> tensor<1x2x?xf32>
  %2 = "onnx.Add"(%0, %1) : (tensor<1x2x?xf32>, tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  %3 = "onnx.Add"(%2, %x) : (tensor<1x2x?xf32>, tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  return %3 : tensor<1x2x?xf32>
}

// -----

// Neither has all taps of the other; windows that begin elsewhere; results that are broadcast; another operand.
// CHECK-LABEL: @apart
// CHECK-COUNT-6: "onnx.Conv"
func.func @apart(%x: tensor<1x1x8x4xf32>, %y: tensor<1x1x8x4xf32>) -> (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x1x3xf32>} : () -> tensor<1x1x1x3xf32>
  %v = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x3x1xf32>} : () -> tensor<1x1x3x1xf32>
  %u = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x8x1xf32>} : () -> tensor<1x1x8x1xf32>
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x8x4xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x8x4xf32>
  %1 = "onnx.Conv"(%x, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x8x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x8x4xf32>
  %2 = "onnx.Add"(%0, %1) : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
  %3 = "onnx.Conv"(%x, %v) {pads = array<i64: 2, 0, 0, 0>} : (tensor<1x1x8x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x8x4xf32>
  %4 = "onnx.Conv"(%y, %v) {pads = array<i64: 2, 0, 0, 0>} : (tensor<1x1x8x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x8x4xf32>
  %5 = "onnx.Add"(%3, %4) : (tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
  %6 = "onnx.Conv"(%x, %u) : (tensor<1x1x8x4xf32>, tensor<1x1x8x1xf32>) -> tensor<1x1x1x4xf32>
  %7 = "onnx.Conv"(%x, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x8x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x8x4xf32>
  %8 = "onnx.Add"(%6, %7) : (tensor<1x1x1x4xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x8x4xf32>
  return %2, %5, %8 : tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>, tensor<1x1x8x4xf32>
}

// -----

// A mean of many deviations is subtracted first: products with it would cancel.
// CHECK-LABEL: @cancelling
// CHECK-DAG: "onnx.Sub"(%arg0
// CHECK-DAG: "onnx.Conv"(%arg0
// CHECK: return
func.func @cancelling(%x: tensor<?x1x?xf32>) -> tensor<?x1x?xf32> {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %mean = "onnx.Constant"() {value = dense<100.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %1 = "onnx.BatchNormalization"(%x, %one, %one, %mean, %one) {epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x1x?xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1x?xf32>
  %2 = "onnx.Add"(%0, %1) : (tensor<?x1x?xf32>, tensor<?x1x?xf32>) -> tensor<?x1x?xf32>
  return %2 : tensor<?x1x?xf32>
}

// -----

// In a body, which may run many times, nothing is computed that stands before it.
// CHECK-LABEL: @body
// CHECK-COUNT-2: "onnx.Conv"
// CHECK: "onnx.Loop"
// CHECK-NOT: "onnx.Conv"
func.func @body(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %v = "onnx.Constant"() {value = dense<3.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %a = "onnx.Conv"(%x, %w) : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %b = "onnx.Conv"(%x, %v) : (tensor<1x1x8xf32>, tensor<1x1x1xf32>) -> tensor<1x1x8xf32>
  %r = "onnx.Loop"(%m, %c, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<1x1x8xf32>):
    %u = "onnx.Add"(%a, %b) : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    %t = "onnx.Add"(%u, %s) : (tensor<1x1x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
    "onnx.Yield"(%go, %t) : (tensor<i1>, tensor<1x1x8xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %r : tensor<1x1x8xf32>
}
