// RUN: onnxc-opt %s --simplify --split-input-file | FileCheck %s

// MixConv: convolutions of parts of the channels, normalised and activated together. The weights take the normalisation, the kernels the
// activation, and the next parts are the operands of the Concat.
// CHECK-LABEL: @mixed
// CHECK-DAG: %[[W1:.*]] = "onnx.Constant"() <{value = dense<2.000000e+00> : tensor<1x1x1xf32>
// CHECK-DAG: %[[W2:.*]] = "onnx.Constant"() <{value = dense<3.000000e+00> : tensor<1x1x1xf32>
// CHECK-DAG: %[[B1:.*]] = "onnx.Constant"() <{value = dense<5.000000e+00> : tensor<1xf32>
// CHECK-DAG: %[[B2:.*]] = "onnx.Constant"() <{value = dense<7.000000e+00> : tensor<1xf32>
// CHECK: %[[C1:.*]] = "onnx.Conv"(%arg0, %[[W1]], %[[B1]])
// CHECK: %[[C2:.*]] = "onnx.Conv"(%arg1, %[[W2]], %[[B2]])
// CHECK: %[[R1:.*]] = "onnx.Relu"(%[[C1]])
// CHECK: %[[R2:.*]] = "onnx.Relu"(%[[C2]])
// CHECK: return %[[R1]], %[[R2]]
func.func @mixed(%arg0: tensor<?x1x?xf32>, %arg1: tensor<?x1x?xf32>) -> (tensor<?x1x?xf32>, tensor<?x1x?xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %scale = "onnx.Constant"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "onnx.Constant"() {value = dense<[5.0, 7.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %mean = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %var = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %sizes = "onnx.Constant"() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Conv"(%arg0, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %1 = "onnx.Conv"(%arg1, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 1 : i64} : (tensor<?x1x?xf32>, tensor<?x1x?xf32>) -> tensor<?x2x?xf32>
  %3 = "onnx.BatchNormalization"(%2, %scale, %b, %mean, %var) {epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x2x?xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?xf32>
  %4 = "onnx.Relu"(%3) : (tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  %5:2 = "onnx.Split"(%4, %sizes) {axis = 1 : i64} : (tensor<?x2x?xf32>, tensor<2xi64>) -> (tensor<?x1x?xf32>, tensor<?x1x?xf32>)
  return %5#0, %5#1 : tensor<?x1x?xf32>, tensor<?x1x?xf32>
}

// -----

// A constant that is the same for all channels serves every operand; one that lies along the joined axis is cut.
// CHECK-LABEL: @constants
// CHECK-DAG: %[[ALL:.*]] = "onnx.Constant"() <{value = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-DAG: %[[FIRST:.*]] = "onnx.Constant"() <{value = dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-DAG: %[[REST:.*]] = "onnx.Constant"() <{value = dense<{{\[}}[2.000000e+00], [3.000000e+00]]> : tensor<2x1xf32>
// CHECK: %[[A:.*]] = "onnx.MatMul"(%arg0
// CHECK: %[[B:.*]] = "onnx.MatMul"(%arg1
// CHECK: "onnx.PRelu"(%[[A]], %[[FIRST]])
// CHECK: "onnx.PRelu"(%[[B]], %[[REST]])
// CHECK: "onnx.Concat"
func.func @constants(%arg0: tensor<?x1x2xf32>, %arg1: tensor<?x2x2xf32>, %w: tensor<2x2xf32>) -> tensor<?x3x2xf32> {
  %all = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %each = "onnx.Constant"() {value = dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %0 = "onnx.MatMul"(%arg0, %w) : (tensor<?x1x2xf32>, tensor<2x2xf32>) -> tensor<?x1x2xf32>
  %1 = "onnx.MatMul"(%arg1, %w) : (tensor<?x2x2xf32>, tensor<2x2xf32>) -> tensor<?x2x2xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 1 : i64} : (tensor<?x1x2xf32>, tensor<?x2x2xf32>) -> tensor<?x3x2xf32>
  %3 = "onnx.PRelu"(%2, %each) : (tensor<?x3x2xf32>, tensor<3x1xf32>) -> tensor<?x3x2xf32>
  %4 = "onnx.Add"(%3, %all) : (tensor<?x3x2xf32>, tensor<2xf32>) -> tensor<?x3x2xf32>
  return %4 : tensor<?x3x2xf32>
}

// -----

// DenseNet: most of what is joined was computed before, and is read by others.
// CHECK-LABEL: @dense
// CHECK: %[[C:.*]] = "onnx.Concat"(%arg0, %{{.*}})
// CHECK: "onnx.Relu"(%[[C]])
func.func @dense(%arg0: tensor<?x2x?xf32>, %arg1: tensor<?x1x?xf32>, %w: tensor<1x1x1xf32>) -> tensor<?x3x?xf32> {
  %0 = "onnx.Conv"(%arg1, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %1 = "onnx.Concat"(%arg0, %0) {axis = 1 : i64} : (tensor<?x2x?xf32>, tensor<?x1x?xf32>) -> tensor<?x3x?xf32>
  %2 = "onnx.Relu"(%1) : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %2 : tensor<?x3x?xf32>
}

// -----

// Another reader needs the values from before: the op would be computed beside them.
// CHECK-LABEL: @shared
// CHECK: %[[C:.*]] = "onnx.Concat"
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[C]])
// CHECK: return %[[C]], %[[R]]
func.func @shared(%arg0: tensor<?x1x?xf32>, %arg1: tensor<?x1x?xf32>, %w: tensor<1x1x1xf32>) -> (tensor<?x2x?xf32>, tensor<?x2x?xf32>) {
  %0 = "onnx.Conv"(%arg0, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %1 = "onnx.Conv"(%arg1, %w) : (tensor<?x1x?xf32>, tensor<1x1x1xf32>) -> tensor<?x1x?xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 1 : i64} : (tensor<?x1x?xf32>, tensor<?x1x?xf32>) -> tensor<?x2x?xf32>
  %3 = "onnx.Relu"(%2) : (tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  return %2, %3 : tensor<?x2x?xf32>, tensor<?x2x?xf32>
}

// -----

// Of other parts, those that are no operand stay parts of the whole.
// CHECK-LABEL: @parts
// CHECK: %[[C:.*]] = "onnx.Concat"(%arg0, %arg1, %arg2)
// CHECK: %[[S:.*]]:2 = "onnx.Split"(%[[C]]
// CHECK: return %arg0, %[[S]]#1
func.func @parts(%arg0: tensor<?x1xf32>, %arg1: tensor<?x2xf32>, %arg2: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x3xf32>) {
  %sizes = "onnx.Constant"() {value = dense<[1, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Concat"(%arg0, %arg1, %arg2) {axis = -1 : i64} : (tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  %1:2 = "onnx.Split"(%0, %sizes) {axis = 1 : i64} : (tensor<?x4xf32>, tensor<2xi64>) -> (tensor<?x1xf32>, tensor<?x3xf32>)
  return %1#0, %1#1 : tensor<?x1xf32>, tensor<?x3xf32>
}

// -----

// Rows are joined: each part has all channels, and numbers for all of them.
// CHECK-LABEL: @rows
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[}}2.000000e+00]], {{\[\[}}3.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK: "onnx.Conv"(%arg0, %[[W]]
// CHECK: "onnx.Conv"(%arg1, %[[W]]
// CHECK-NOT: "onnx.BatchNormalization"
func.func @rows(%arg0: tensor<?x1x4xf32>, %arg1: tensor<?x1x5xf32>) -> tensor<?x2x9xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %scale = "onnx.Constant"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %var = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "onnx.Conv"(%arg0, %w) : (tensor<?x1x4xf32>, tensor<2x1x1xf32>) -> tensor<?x2x4xf32>
  %1 = "onnx.Conv"(%arg1, %w) : (tensor<?x1x5xf32>, tensor<2x1x1xf32>) -> tensor<?x2x5xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 2 : i64} : (tensor<?x2x4xf32>, tensor<?x2x5xf32>) -> tensor<?x2x9xf32>
  %3 = "onnx.BatchNormalization"(%2, %scale, %zero, %zero, %var) {epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>} : (tensor<?x2x9xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x9xf32>
  return %3 : tensor<?x2x9xf32>
}

// -----

// Views between the convolutions and the Concat: 1-D convolutions written as those of images.
// CHECK-LABEL: @views
// CHECK: %[[A:.*]] = "onnx.Squeeze"
// CHECK: %[[B:.*]] = "onnx.Squeeze"
// CHECK-DAG: %[[RA:.*]] = "onnx.Relu"(%[[A]])
// CHECK-DAG: %[[RB:.*]] = "onnx.Relu"(%[[B]])
// CHECK: "onnx.Concat"(%[[RA]], %[[RB]])
func.func @views(%arg0: tensor<?x1x1x?xf32>) -> tensor<?x2x?xf32> {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %v = "onnx.Constant"() {value = dense<3.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %axes = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%arg0, %w) : (tensor<?x1x1x?xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x1x?xf32>
  %1 = "onnx.Squeeze"(%0, %axes) : (tensor<?x1x1x?xf32>, tensor<1xi64>) -> tensor<?x1x?xf32>
  %2 = "onnx.Conv"(%arg0, %v) : (tensor<?x1x1x?xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x1x?xf32>
  %3 = "onnx.Squeeze"(%2, %axes) : (tensor<?x1x1x?xf32>, tensor<1xi64>) -> tensor<?x1x?xf32>
  %4 = "onnx.Concat"(%1, %3) {axis = 1 : i64} : (tensor<?x1x?xf32>, tensor<?x1x?xf32>) -> tensor<?x2x?xf32>
  %5 = "onnx.Relu"(%4) : (tensor<?x2x?xf32>) -> tensor<?x2x?xf32>
  return %5 : tensor<?x2x?xf32>
}
