// RUN: onnxc-opt %s --move-transpositions --split-input-file | FileCheck %s

// Between two convolutions nothing is transposed; constants turn with the axes.
// CHECK-LABEL: @between
// CHECK: %[[C:.*]] = "onnx.Conv"(%arg0
// CHECK: %[[S:.*]] = "onnx.Reshape"({{.*}} : (tensor<8xf32>, tensor<4xi64>) -> tensor<1x1x1x8xf32>
// CHECK: %[[T:.*]] = "onnx.Transpose"(%[[S]]) <{perm = array<i64: 0, 3, 1, 2>}>
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[C]], %[[T]]) : (tensor<1x8x4x5xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x5xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[M]])
// CHECK: %[[PADS:.*]] = "onnx.Constant"() <{value = dense<[0, 0, 0, 1, 0, 0, 2, 0]>
// CHECK: %[[P:.*]] = "onnx.Pad"(%[[R]], %[[PADS]]) {{.*}} -> tensor<1x8x6x6xf32>
// CHECK: "onnx.Conv"(%[[P]]
func.func @between(%x: tensor<1x3x4x5xf32>, %w: tensor<8x3x1x1xf32>, %v: tensor<2x8x1x1xf32>) -> tensor<1x2x6x6xf32> {
  %scale = "onnx.Constant"() {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %pads = "onnx.Constant"() {value = dense<[0, 0, 1, 0, 0, 2, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x3x4x5xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x5xf32>
  %t = "onnx.Transpose"(%c) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<1x8x4x5xf32>) -> tensor<1x4x5x8xf32>
  %m = "onnx.Mul"(%t, %scale) : (tensor<1x4x5x8xf32>, tensor<8xf32>) -> tensor<1x4x5x8xf32>
  %r = "onnx.Relu"(%m) : (tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  %p = "onnx.Pad"(%r, %pads) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x4x5x8xf32>, tensor<8xi64>) -> tensor<1x6x6x8xf32>
  %b = "onnx.Transpose"(%p) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<1x6x6x8xf32>) -> tensor<1x8x6x6xf32>
  %y = "onnx.Conv"(%b, %v) : (tensor<1x8x6x6xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x6x6xf32>
  return %y : tensor<1x2x6x6xf32>
}

// -----

// Parts, joins and reductions follow; what is given away is turned back once.
// CHECK-LABEL: @pieces
// CHECK: %[[H:.*]]:2 = "onnx.Split"(%arg0) <{axis = 1 : i64
// CHECK: %[[J:.*]] = "onnx.Concat"(%[[H]]#1, %[[H]]#0) <{axis = 2 : i64}>
// CHECK: %[[Y:.*]] = "onnx.Transpose"(%[[J]]) <{perm = array<i64: 0, 2, 3, 1>}>
// CHECK: "onnx.Constant"() <{value = dense<[2, 3]>
// CHECK: %[[R:.*]] = "onnx.ReduceMean"(%[[J]]
// CHECK-SAME: -> tensor<?x4xf32>
// CHECK: return %[[J]], %[[R]], %[[Y]]
func.func @pieces(%x: tensor<?x8x4x5xf32>) -> (tensor<?x4x8x5xf32>, tensor<?x4xf32>, tensor<?x8x5x4xf32>) {
  %axes = "onnx.Constant"() {value = dense<[1, -2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<?x8x4x5xf32>) -> tensor<?x4x5x8xf32>
  %h:2 = "onnx.Split"(%t) <{axis = -1 : i64, num_outputs = 2 : i64}> {operandSegmentSizes = array<i32: 1, 0>} : (tensor<?x4x5x8xf32>) -> (tensor<?x4x5x4xf32>, tensor<?x4x5x4xf32>)
  %j = "onnx.Concat"(%h#1, %h#0) <{axis = 1 : i64}> : (tensor<?x4x5x4xf32>, tensor<?x4x5x4xf32>) -> tensor<?x8x5x4xf32>
  %b = "onnx.Transpose"(%j) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<?x8x5x4xf32>) -> tensor<?x4x8x5xf32>
  %r = "onnx.ReduceMean"(%j, %axes) <{keepdims = 0 : i64}> : (tensor<?x8x5x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %b, %r, %j : tensor<?x4x8x5xf32>, tensor<?x4xf32>, tensor<?x8x5x4xf32>
}

// -----

// Every reduction follows, those of logarithms too.
// CHECK-LABEL: @logarithms
// CHECK: "onnx.Constant"() <{value = dense<1>
// CHECK: %[[R:.*]] = "onnx.ReduceLogSumExp"(%arg0
// CHECK: return %[[R]]
func.func @logarithms(%x: tensor<1x8x4x5xf32>) -> tensor<1x1x4x5xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<1x8x4x5xf32>) -> tensor<1x4x5x8xf32>
  %r = "onnx.ReduceLogSumExp"(%t, %axes) : (tensor<1x4x5x8xf32>, tensor<1xi64>) -> tensor<1x4x5x1xf32>
  %y = "onnx.Transpose"(%r) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<1x4x5x1xf32>) -> tensor<1x1x4x5xf32>
  return %y : tensor<1x1x4x5xf32>
}

// -----

// One transposition in and none out is as good as none in and one out.
// CHECK-LABEL: @even
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0)
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[T]])
// CHECK: return %[[R]]
func.func @even(%x: tensor<2x3x4xf32>) -> tensor<2x4x3xf32> {
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %r = "onnx.Relu"(%t) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

// -----

// What leaves a part has the type of what it replaces, which may know more sizes than the part's ops.
// CHECK-LABEL: @known_outside
// CHECK: return {{.*}} : tensor<1x4x5x8xf32>
func.func @known_outside(%x: tensor<1x4x?x8xf32>, %b: tensor<8xf32>) -> tensor<1x4x5x8xf32> {
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<1x4x?x8xf32>) -> tensor<1x8x4x?xf32>
  %r = "onnx.Relu"(%t) : (tensor<1x8x4x?xf32>) -> tensor<1x8x4x?xf32>
  %y = "onnx.Transpose"(%r) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<1x8x4x?xf32>) -> tensor<1x4x5x8xf32>
  return %y : tensor<1x4x5x8xf32>
}

// -----

// The size of an axis is read in any order. The mean moves once the product no longer needs the transposition that both read.
// CHECK-LABEL: @sizes
// CHECK: "onnx.ReduceMean"(%arg0, %{{.*}} -> tensor<?x1x8x1xf32>
// CHECK: %[[M:.*]] = "onnx.Mul"(%arg0, %arg1)
// CHECK: "onnx.Shape"(%[[M]]) <{end = 2 : i64, start = 1 : i64}>
// CHECK: return %{{.*}}, %[[M]]
func.func @sizes(%x: tensor<?x4x8x5xf32>, %y: tensor<?x4x8x5xf32>) -> (tensor<?x8x1x1xf32>, tensor<?x4x8x5xf32>, tensor<1xi64>) {
  %axes = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<?x4x8x5xf32>) -> tensor<?x8x4x5xf32>
  %m = "onnx.ReduceMean"(%t, %axes) <{keepdims = 1 : i64}> : (tensor<?x8x4x5xf32>, tensor<2xi64>) -> tensor<?x8x1x1xf32>
  %u = "onnx.Transpose"(%y) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<?x4x8x5xf32>) -> tensor<?x8x4x5xf32>
  %p = "onnx.Mul"(%t, %u) : (tensor<?x8x4x5xf32>, tensor<?x8x4x5xf32>) -> tensor<?x8x4x5xf32>
  %s = "onnx.Shape"(%p) <{start = 2 : i64, end = 3 : i64}> : (tensor<?x8x4x5xf32>) -> tensor<1xi64>
  %b = "onnx.Transpose"(%p) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<?x8x4x5xf32>) -> tensor<?x4x8x5xf32>
  return %m, %b, %s : tensor<?x8x1x1xf32>, tensor<?x4x8x5xf32>, tensor<1xi64>
}

// -----

// There is no axis 4.
// CHECK-LABEL: @no_size
// CHECK: "onnx.Shape"({{.*}} <{end = 5 : i64, start = 4 : i64}>
func.func @no_size(%x: tensor<2x4x8x5xf32>) -> (tensor<2x4x8x5xf32>, tensor<0xi64>) {
  %t = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x8x5xf32>) -> tensor<2x8x4x5xf32>
  %r = "onnx.Relu"(%t) : (tensor<2x8x4x5xf32>) -> tensor<2x8x4x5xf32>
  %s = "onnx.Shape"(%r) <{start = 4 : i64, end = 5 : i64}> : (tensor<2x8x4x5xf32>) -> tensor<0xi64>
  %b = "onnx.Transpose"(%r) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x4x5xf32>) -> tensor<2x4x8x5xf32>
  return %b, %s : tensor<2x4x8x5xf32>, tensor<0xi64>
}
