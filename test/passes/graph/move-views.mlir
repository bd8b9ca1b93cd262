// RUN: onnxc-opt %s --move-views | FileCheck %s

// Elementwise ops on frames of videos that are views of images.

// What computes on views of images as frames computes on the images.
// CHECK-LABEL: @view_of_images
// CHECK-DAG: %[[Z:.*]] = "onnx.Reshape"(%arg1, {{.*}} -> tensor<3x8x4x5xf32>
// CHECK-DAG: %[[R:.*]] = "onnx.Relu"(%arg0) : (tensor<3x8x4x5xf32>)
// CHECK: %[[S:.*]] = "onnx.Add"(%[[R]], %[[Z]]) : (tensor<3x8x4x5xf32>
// CHECK: "onnx.Mul"(%[[S]], %{{.*}}) : (tensor<3x8x4x5xf32>, tensor<8x1x1xf32>)
func.func @view_of_images(%x: tensor<3x8x4x5xf32>, %z: tensor<1x3x8x4x5xf32>) -> tensor<3x8x4x5xf32> {
  %to = "onnx.Constant"() {value = dense<[1, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %back = "onnx.Constant"() {value = dense<[3, 8, 4, 5]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Constant"() {value = dense<2.0> : tensor<8x1x1xf32>} : () -> tensor<8x1x1xf32>
  %0 = "onnx.Reshape"(%x, %to) : (tensor<3x8x4x5xf32>, tensor<5xi64>) -> tensor<1x3x8x4x5xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x3x8x4x5xf32>) -> tensor<1x3x8x4x5xf32>
  %2 = "onnx.Add"(%1, %z) : (tensor<1x3x8x4x5xf32>, tensor<1x3x8x4x5xf32>) -> tensor<1x3x8x4x5xf32>
  %3 = "onnx.Mul"(%2, %c) : (tensor<1x3x8x4x5xf32>, tensor<8x1x1xf32>) -> tensor<1x3x8x4x5xf32>
  %4 = "onnx.Reshape"(%3, %back) : (tensor<1x3x8x4x5xf32>, tensor<4xi64>) -> tensor<3x8x4x5xf32>
  return %4 : tensor<3x8x4x5xf32>
}

// Images without elements keep their views: a size of 0 in a Reshape means another one.
// CHECK-LABEL: @view_of_no_images
// CHECK: "onnx.Relu"{{.*}} (tensor<1x0x8x4x5xf32>)
func.func @view_of_no_images(%x: tensor<0x8x4x5xf32>) -> tensor<1x0x8x4x5xf32> {
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Unsqueeze"(%x, %axis) : (tensor<0x8x4x5xf32>, tensor<1xi64>) -> tensor<1x0x8x4x5xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x0x8x4x5xf32>) -> tensor<1x0x8x4x5xf32>
  return %1 : tensor<1x0x8x4x5xf32>
}

// As many videos, frames and pixels as the run has. A scale of each video's columns keeps them apart.
// CHECK-LABEL: @view_of_unknown_images
// CHECK: %[[R:.*]] = "onnx.Relu"(%arg0) : (tensor<?x8x?x5xf32>)
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[R]], %{{.*}}){{.*}} -> tensor<2x?x8x?x5xf32>
// CHECK: "onnx.Mul"(%[[V]], %arg1)
func.func @view_of_unknown_images(%x: tensor<?x8x?x5xf32>, %z: tensor<2x1x1x1x5xf32>) -> tensor<2x?x8x?x5xf32> {
  %h = "onnx.Shape"(%x) <{start = 2 : i64, end = 3 : i64}> : (tensor<?x8x?x5xf32>) -> tensor<1xi64>
  %n = "onnx.Constant"() {value = dense<[2, -1, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %w = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Concat"(%n, %h, %w) <{axis = 0 : i64}> : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi64>
  %0 = "onnx.Reshape"(%x, %s) : (tensor<?x8x?x5xf32>, tensor<5xi64>) -> tensor<2x?x8x?x5xf32>
  %1 = "onnx.Relu"(%0) : (tensor<2x?x8x?x5xf32>) -> tensor<2x?x8x?x5xf32>
  %2 = "onnx.Mul"(%1, %z) : (tensor<2x?x8x?x5xf32>, tensor<2x1x1x1x5xf32>) -> tensor<2x?x8x?x5xf32>
  return %2 : tensor<2x?x8x?x5xf32>
}

// Numbers of each video are those of its frames: of one video they are a view, of several repeated.
// CHECK-LABEL: @gates
// CHECK: %[[G:.*]] = "onnx.Reshape"(%arg1, %{{.*}} -> tensor<1x8x1x1xf32>
// CHECK: "onnx.Mul"(%arg0, %[[G]]) : (tensor<6x8x4x5xf32>, tensor<1x8x1x1xf32>) -> tensor<6x8x4x5xf32>
// CHECK: %[[E:.*]] = "onnx.Expand"(%arg2, %{{.*}} -> tensor<2x3x8x1x1xf32>
// CHECK: %[[R:.*]] = "onnx.Reshape"(%[[E]], %{{.*}} -> tensor<6x8x1x1xf32>
// CHECK: "onnx.Mul"(%{{.*}}, %[[R]]) {{.*}} -> tensor<6x8x4x5xf32>
func.func @gates(%x: tensor<6x8x4x5xf32>, %all: tensor<1x1x8x1x1xf32>, %each: tensor<2x1x8x1x1xf32>) -> tensor<2x3x8x4x5xf32> {
  %to = "onnx.Constant"() {value = dense<[2, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %0 = "onnx.Reshape"(%x, %to) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x3x8x4x5xf32>
  %1 = "onnx.Mul"(%0, %all) : (tensor<2x3x8x4x5xf32>, tensor<1x1x8x1x1xf32>) -> tensor<2x3x8x4x5xf32>
  %2 = "onnx.Mul"(%1, %each) : (tensor<2x3x8x4x5xf32>, tensor<2x1x8x1x1xf32>) -> tensor<2x3x8x4x5xf32>
  return %2 : tensor<2x3x8x4x5xf32>
}

// Numbers that only the run knows to be of each video or of all stay frames'.
// CHECK-LABEL: @gates_of_some
// CHECK-NOT: "onnx.Expand"
// CHECK: "onnx.Mul"({{.*}} -> tensor<2x3x8x4x5xf32>
func.func @gates_of_some(%x: tensor<6x8x4x5xf32>, %some: tensor<?x1x8x1x1xf32>) -> tensor<2x3x8x4x5xf32> {
  %to = "onnx.Constant"() {value = dense<[2, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %0 = "onnx.Reshape"(%x, %to) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x3x8x4x5xf32>
  %1 = "onnx.Mul"(%0, %some) : (tensor<2x3x8x4x5xf32>, tensor<?x1x8x1x1xf32>) -> tensor<2x3x8x4x5xf32>
  return %1 : tensor<2x3x8x4x5xf32>
}

// Frames and pixels are reduced one after the other, also where only the run knows how many there are.
// CHECK-LABEL: @reductions
// CHECK: %[[M:.*]] = "onnx.ReduceMean"(%arg0, %{{.*}} -> tensor<6x8x1x1xf32>
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[M]], %{{.*}} -> tensor<2x3x8x1x1xf32>
// CHECK: %[[F:.*]] = "onnx.ReduceMean"(%[[V]], %{{.*}} -> tensor<2x1x8x1x1xf32>
// CHECK: "onnx.Squeeze"(%[[F]], %{{.*}} -> tensor<2x8xf32>
// CHECK: "onnx.ReduceMax"(%arg1, %{{.*}} -> tensor<?x8x1x1xf32>
// CHECK: "onnx.ReduceMax"(%{{.*}} -> tensor<?x1x8x1x1xf32>
func.func @reductions(%x: tensor<6x8x4x5xf32>, %y: tensor<?x8x?x5xf32>) -> (tensor<2x8xf32>, tensor<?x1x8x1x1xf32>) {
  %to = "onnx.Constant"() {value = dense<[2, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %axes = "onnx.Constant"() {value = dense<[-1, 1, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "onnx.Reshape"(%x, %to) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x3x8x4x5xf32>
  %1 = "onnx.ReduceMean"(%0, %axes) <{keepdims = 0 : i64}> : (tensor<2x3x8x4x5xf32>, tensor<3xi64>) -> tensor<2x8xf32>
  %h = "onnx.Shape"(%y) <{start = 2 : i64, end = 3 : i64}> : (tensor<?x8x?x5xf32>) -> tensor<1xi64>
  %n = "onnx.Constant"() {value = dense<[-1, 3, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %w = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Concat"(%n, %h, %w) <{axis = 0 : i64}> : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi64>
  %2 = "onnx.Reshape"(%y, %s) : (tensor<?x8x?x5xf32>, tensor<5xi64>) -> tensor<?x3x8x?x5xf32>
  %3 = "onnx.ReduceMax"(%2, %axes) <{keepdims = 1 : i64}> : (tensor<?x3x8x?x5xf32>, tensor<3xi64>) -> tensor<?x1x8x1x1xf32>
  return %1, %3 : tensor<2x8xf32>, tensor<?x1x8x1x1xf32>
}

// A reduction over frames alone stays, one of frames that are not whole images, and a mean of integers, which is rounded once.
// CHECK-LABEL: @other_reductions
// CHECK: "onnx.ReduceMean"{{.*}} (tensor<2x3x8x4x5xf32>
// CHECK: "onnx.ReduceMean"{{.*}} (tensor<2x6x4x4x5xf32>
// CHECK: "onnx.ReduceMean"{{.*}} (tensor<2x3x8x4x5xi32>
func.func @other_reductions(%x: tensor<6x8x4x5xf32>, %i: tensor<6x8x4x5xi32>) -> (tensor<2x1x8x4x5xf32>, tensor<2x1x4x1x1xf32>, tensor<2x1x8x1x1xi32>) {
  %to = "onnx.Constant"() {value = dense<[2, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %half = "onnx.Constant"() {value = dense<[2, 6, 4, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %axes = "onnx.Constant"() {value = dense<[1, 3, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "onnx.Reshape"(%x, %to) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x3x8x4x5xf32>
  %1 = "onnx.ReduceMean"(%0, %one) <{keepdims = 1 : i64}> : (tensor<2x3x8x4x5xf32>, tensor<1xi64>) -> tensor<2x1x8x4x5xf32>
  %2 = "onnx.Reshape"(%x, %half) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x6x4x4x5xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) <{keepdims = 1 : i64}> : (tensor<2x6x4x4x5xf32>, tensor<3xi64>) -> tensor<2x1x4x1x1xf32>
  %4 = "onnx.Reshape"(%i, %to) : (tensor<6x8x4x5xi32>, tensor<5xi64>) -> tensor<2x3x8x4x5xi32>
  %5 = "onnx.ReduceMean"(%4, %axes) <{keepdims = 1 : i64}> : (tensor<2x3x8x4x5xi32>, tensor<3xi64>) -> tensor<2x1x8x1x1xi32>
  return %1, %3, %5 : tensor<2x1x8x4x5xf32>, tensor<2x1x4x1x1xf32>, tensor<2x1x8x1x1xi32>
}
