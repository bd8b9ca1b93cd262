// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --form-kernels=fast=0 --split-input-file | FileCheck %s --check-prefix=PLAIN

// A chain of elementwise ops is one kernel; the scalar stays in its code.
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @mul_add_relu
// CHECK-SAME: family = "loops"
// CHECK-NEXT: onnx.Constant
// PLAIN-COUNT-3: plan.launch
func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}, %b: tensor<8xf32> {onnx.name = "b"}) -> (tensor<4x8xf32> {onnx.name = "y"}) {
  %s = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "onnx.Mul"(%x, %s) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = "onnx.Add"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Relu"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Elementwise ops before and after a softmax go with it; a second one is a kernel of its own.
// CHECK-COUNT-2: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @softmax_f32
// CHECK: kernel.func @mul_softmax_exp_f32
func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}, %b: tensor<8xf32> {onnx.name = "b"}) -> (tensor<4x8xf32> {onnx.name = "y"}) {
  %0 = "onnx.Softmax"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "onnx.Mul"(%0, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Softmax"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "onnx.Exp"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// What is broadcast to more elements, or used elsewhere, is computed once and stored.
// CHECK-COUNT-3: plan.launch
// CHECK-NOT: plan.launch
// CHECK-DAG: kernel.func @exp_f32
// CHECK-DAG: kernel.func @add_f32
// CHECK-DAG: kernel.func @neg_f32
func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}, %b: tensor<8xf32> {onnx.name = "b"})
    -> (tensor<4x8xf32> {onnx.name = "y"}, tensor<4x8xf32> {onnx.name = "z"}) {
  %0 = "onnx.Exp"(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Add"(%x, %0) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Neg"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Axes of a reduction are part of the code; rows of the last dim may be permuted.
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @transpose_reducesum_sqrt_f32
func.func @main(%x: tensor<2x3x4x8xf32> {onnx.name = "x"}) -> (tensor<2x4xf32> {onnx.name = "y"}) {
  %axes = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Transpose"(%x) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x8xf32>) -> tensor<2x4x3x8xf32>
  %1 = "onnx.ReduceSum"(%0, %axes) {keepdims = 0 : i64} : (tensor<2x4x3x8xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %2 = "onnx.Sqrt"(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// A transposition that moves the last dim is a kernel of its own.
// CHECK-COUNT-3: plan.launch
// CHECK-NOT: plan.launch
// CHECK-DAG: kernel.func @relu_f32
// CHECK-DAG: kernel.func @transpose_f32
// CHECK-DAG: kernel.func @neg_f32
func.func @main(%x: tensor<2x3x4xf32> {onnx.name = "x"}) -> (tensor<2x4x3xf32> {onnx.name = "y"}) {
  %0 = "onnx.Relu"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = "onnx.Transpose"(%0) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %2 = "onnx.Neg"(%1) : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %2 : tensor<2x4x3xf32>
}

// -----

// A long function of one number a row is a kernel of its own, whose vectors are full; a cheap one is not, nor is that of a few rows.
// CHECK-COUNT-4: plan.launch
// CHECK-NOT: plan.launch
// CHECK-DAG: kernel.func @reducesum_f32
// CHECK-DAG: kernel.func @sigmoid_f32
// CHECK-DAG: kernel.func @reducesum_relu_f32
// CHECK-DAG: kernel.func @reducesum_sigmoid_f32
func.func @main(%x: tensor<?x20xf32> {onnx.name = "x"}, %f: tensor<2x20xf32> {onnx.name = "f"}) -> (tensor<?x1xf32> {onnx.name = "y"}, tensor<?xf32> {onnx.name = "z"}, tensor<2x1xf32> {onnx.name = "w"}) {
  %axis = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.ReduceSum"(%x, %axis) {keepdims = 1 : i64} : (tensor<?x20xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %1 = "onnx.Sigmoid"(%0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = "onnx.ReduceSum"(%x, %axis) {keepdims = 0 : i64} : (tensor<?x20xf32>, tensor<1xi64>) -> tensor<?xf32>
  %3 = "onnx.Relu"(%2) : (tensor<?xf32>) -> tensor<?xf32>
  %4 = "onnx.ReduceSum"(%f, %axis) {keepdims = 1 : i64} : (tensor<2x20xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %5 = "onnx.Sigmoid"(%4) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %1, %3, %5 : tensor<?x1xf32>, tensor<?xf32>, tensor<2x1xf32>
}

// -----

// An Exp that only products read, be it through views, gives zero for what would be subnormal; not one whose results something else reads.
// CHECK: kernel.func @exp_f32
// CHECK: "onnx.Exp"(%{{.*}}) {onnxc.flush}
// CHECK: kernel.func @mul_exp_f32
// CHECK-NOT: onnxc.flush
// PLAIN-NOT: onnxc.flush
func.func @main(%x: tensor<4x8xf32> {onnx.name = "x"}, %w: tensor<8x3xf32> {onnx.name = "w"}) -> (tensor<4x3xf32> {onnx.name = "y"}, tensor<2x2x3xf32> {onnx.name = "z"}, tensor<4x3xf32> {onnx.name = "v"}, tensor<4x8xf32> {onnx.name = "e"}) {
  %0 = "onnx.Exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "onnx.MatMul"(%0, %w) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %s = "onnx.Constant"() {value = dense<[2, 2, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %2 = "onnx.Reshape"(%0, %s) : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<2x2x8xf32>
  %3 = "onnx.MatMul"(%2, %w) : (tensor<2x2x8xf32>, tensor<8x3xf32>) -> tensor<2x2x3xf32>
  %4 = "onnx.Mul"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "onnx.Exp"(%4) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "onnx.MatMul"(%5, %w) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %1, %3, %6, %5 : tensor<4x3xf32>, tensor<2x2x3xf32>, tensor<4x3xf32>, tensor<4x8xf32>
}
