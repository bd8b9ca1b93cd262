// RUN: onnxc-opt %s --turn-rows --split-input-file | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK: %[[X:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 2, 0, 1>}> : (tensor<?x64x2xf32>) -> tensor<2x?x64xf32>
// CHECK: %[[Y:.*]] = "onnx.Softmax"(%[[X]]) <{axis = 0 : i64}>
// CHECK: "onnx.Transpose"(%[[Y]]) <{perm = array<i64: 1, 2, 0>}> : (tensor<2x?x64xf32>) -> tensor<?x64x2xf32>
func.func @softmax(%x: tensor<?x64x2xf32>) -> tensor<?x64x2xf32> {
  %y = "onnx.Softmax"(%x) : (tensor<?x64x2xf32>) -> tensor<?x64x2xf32>
  return %y : tensor<?x64x2xf32>
}

// -----

// Axes of size 1 behind the rows' are no hindrance; results without the axis stay.
// CHECK-LABEL: @best
// CHECK: %[[X:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 1, 0, 2>}> : (tensor<500x3x1xi8>) -> tensor<3x500x1xi8>
// CHECK: %[[Y:.*]] = "onnx.ArgMax"(%[[X]]) <{axis = 0 : i64, keepdims = 0 : i64,{{.*}} : (tensor<3x500x1xi8>) -> tensor<500x1xi64>
// CHECK: return %[[Y]]
func.func @best(%x: tensor<500x3x1xi8>) -> tensor<500x1xi64> {
  %y = "onnx.ArgMax"(%x) <{axis = 1 : i64, keepdims = 0 : i64}> : (tensor<500x3x1xi8>) -> tensor<500x1xi64>
  return %y : tensor<500x1xi64>
}

// -----

// CHECK-LABEL: @top
// CHECK: %[[V:.*]], %[[I:.*]] = "onnx.TopK"(%{{.*}}, %arg1) <{axis = 0 : i64,{{.*}}> : (tensor<8x96xf32>, tensor<1xi64>) -> (tensor<?x96xf32>, tensor<?x96xi64>)
// CHECK: "onnx.Transpose"(%[[V]]) <{perm = array<i64: 1, 0>}> : (tensor<?x96xf32>) -> tensor<96x?xf32>
// CHECK: "onnx.Transpose"(%[[I]]) <{perm = array<i64: 1, 0>}> : (tensor<?x96xi64>) -> tensor<96x?xi64>
func.func @top(%x: tensor<96x8xf32>, %k: tensor<1xi64>) -> (tensor<96x?xf32>, tensor<96x?xi64>) {
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<96x8xf32>, tensor<1xi64>) -> (tensor<96x?xf32>, tensor<96x?xi64>)
  return %v, %i : tensor<96x?xf32>, tensor<96x?xi64>
}

// -----

// What undoes each other between two goes.
// CHECK-LABEL: @chain
// CHECK: "onnx.Transpose"
// CHECK-NEXT: %[[S:.*]] = "onnx.Softmax"
// CHECK-NEXT: "onnx.TopK"(%[[S]], %arg1)
func.func @chain(%x: tensor<96x8xf32>, %k: tensor<1xi64>) -> tensor<96x2xf32> {
  %s = "onnx.Softmax"(%x) : (tensor<96x8xf32>) -> tensor<96x8xf32>
  %v, %i = "onnx.TopK"(%s, %k) : (tensor<96x8xf32>, tensor<1xi64>) -> (tensor<96x2xf32>, tensor<96x2xi64>)
  return %v : tensor<96x2xf32>
}

// -----

// Few columns of long rows, and of short ones.
// CHECK-LABEL: @columns
// CHECK: %[[X:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x?x4xf32>) -> tensor<2x4x?xf32>
// CHECK: %[[Y:.*]] = "onnx.Softmax"(%[[X]]) <{axis = 2 : i64}>
// CHECK: "onnx.Transpose"(%[[Y]]) <{perm = array<i64: 0, 2, 1>}>
// CHECK: "onnx.Transpose"(%arg1) <{perm = array<i64: 1, 0, 2>}> : (tensor<64x3x3xf32>) -> tensor<3x64x3xf32>
func.func @columns(%x: tensor<2x?x4xf32>, %y: tensor<64x3x3xf32>) -> (tensor<2x?x4xf32>, tensor<64x3x3xf32>) {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %1 = "onnx.Softmax"(%y) <{axis = 1 : i64}> : (tensor<64x3x3xf32>) -> tensor<64x3x3xf32>
  return %0, %1 : tensor<2x?x4xf32>, tensor<64x3x3xf32>
}

// -----

// Few rows; long ones; not the innermost axis; medium rows that are many, or may be.
// CHECK-LABEL: @others
// CHECK-NOT: "onnx.Transpose"
func.func @others(%a: tensor<63x4xf32>, %b: tensor<512x17xf32>, %c: tensor<4x512xf32>, %d: tensor<32768x9xf32>, %e: tensor<?x64x9xf32>)
    -> (tensor<63x4xf32>, tensor<512x17xf32>, tensor<4x512xf32>, tensor<32768x9xf32>, tensor<?x64x9xf32>) {
  %0 = "onnx.Softmax"(%a) : (tensor<63x4xf32>) -> tensor<63x4xf32>
  %1 = "onnx.LogSoftmax"(%b) : (tensor<512x17xf32>) -> tensor<512x17xf32>
  %2 = "onnx.Softmax"(%c) <{axis = 0 : i64}> : (tensor<4x512xf32>) -> tensor<4x512xf32>
  %3 = "onnx.Hardmax"(%d) : (tensor<32768x9xf32>) -> tensor<32768x9xf32>
  %4 = "onnx.Softmax"(%e) : (tensor<?x64x9xf32>) -> tensor<?x64x9xf32>
  return %0, %1, %2, %3, %4 : tensor<63x4xf32>, tensor<512x17xf32>, tensor<4x512xf32>, tensor<32768x9xf32>, tensor<?x64x9xf32>
}
