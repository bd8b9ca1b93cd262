// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Einsum: what an equation means, and equations that stay with the library kernel.

// Without a result in the equation: the axes of the ellipsis, then labels that occur once, sorted.
// CHECK-LABEL: @implied
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %arg1) : {{.*}} -> tensor<2x3x5xf32>
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg2) <{perm = array<i64: 0, 2, 1>}>
// CHECK-NOT: onnx.Einsum
// CHECK: return %[[P]], %[[T]]
func.func @implied(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<2x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x4x3xf32>) {
  %0 = "onnx.Einsum"(%a, %b) <{equation = "... i j, j k"}> : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %1 = "onnx.Einsum"(%c) <{equation = "...ba"}> : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  return %0, %1 : tensor<2x3x5xf32>, tensor<2x4x3xf32>
}

// -----

// A label that occurs twice in one term is not in the implied result: the trace.
// CHECK-LABEL: @trace
// CHECK: %[[D:.*]] = "onnx.Slice"{{.*}} -> tensor<5xf32>
// CHECK: %[[S:.*]] = "onnx.ReduceSum"(%[[D]]{{.*}} -> tensor<f32>
// CHECK: return %[[S]]
func.func @trace(%x: tensor<5x5xf32>) -> tensor<f32> {
  %y = "onnx.Einsum"(%x) <{equation = "ii"}> : (tensor<5x5xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// What one term alone has and the result has not is summed before the product, whose axes then get the result's order.
// CHECK-LABEL: @sums_before
// CHECK: %[[A:.*]] = "onnx.ReduceSum"(%arg0{{.*}} (tensor<2x3x4xf32>, {{.*}} -> tensor<2x4xf32>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%[[A]], %arg1) {{.*}} -> tensor<2x5xf32>
// CHECK: "onnx.Transpose"(%[[P]]) <{perm = array<i64: 1, 0>}>
func.func @sums_before(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<5x2xf32> {
  %y = "onnx.Einsum"(%a, %b) <{equation = "isj,jk->ki"}> : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// -----

// Nothing is summed where the result has all labels.
// CHECK-LABEL: @outer
// CHECK-DAG: %[[A:.*]] = "onnx.Unsqueeze"(%arg0, %{{.*}} -> tensor<2x3x1xf32>
// CHECK-DAG: %[[B:.*]] = "onnx.Unsqueeze"(%arg1, %{{.*}} -> tensor<2x1x4xf32>
// CHECK: "onnx.Mul"(%[[A]], %[[B]]) : {{.*}} -> tensor<2x3x4xf32>
// CHECK-NOT: onnx.ReduceSum
func.func @outer(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x3x4xf32> {
  %y = "onnx.Einsum"(%a, %b) <{equation = "bi,bj->bij"}> : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// A label that a later term has is kept until then.
// CHECK-LABEL: @three_terms
// CHECK: %[[P:.*]] = "onnx.MatMul"(%{{.*}}, %{{.*}}) : {{.*}} -> tensor<3x2x5xf32>
// CHECK: "onnx.MatMul"
// CHECK-NOT: onnx.Einsum
func.func @three_terms(%a: tensor<2x3x4xf32>, %b: tensor<3x4x5xf32>, %c: tensor<3x5x6xf32>) -> tensor<2x6xf32> {
  %y = "onnx.Einsum"(%a, %b, %c) <{equation = "ihj,hjk,hkl->il"}> : (tensor<2x3x4xf32>, tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// Integers, sums of no products, and an ellipsis of one entry beside more stay.
// CHECK-LABEL: @kept
// CHECK-COUNT-3: "onnx.Einsum"(%arg
func.func @kept(%i: tensor<2x3xi32>, %n: tensor<2x0xf32>, %m: tensor<0x3xf32>, %one: tensor<1x3x4xf32>, %b: tensor<2x4x5xf32>) -> (tensor<2x2xi32>, tensor<2x3xf32>, tensor<2x3x5xf32>) {
  %0 = "onnx.Einsum"(%i, %i) <{equation = "ij,kj->ik"}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x2xi32>
  %1 = "onnx.Einsum"(%n, %m) <{equation = "ij,jk->ik"}> : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %2 = "onnx.Einsum"(%one, %b) <{equation = "...ij,...jk->...ik"}> : (tensor<1x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<2x3xf32>, tensor<2x3x5xf32>
}

// -----

// A size that one operand alone knows is the product's.
// CHECK-LABEL: @known_by_one
// CHECK: "onnx.Mul"({{.*}}) : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
func.func @known_by_one(%a: tensor<3x?xf32> {onnx.dims = ["", "B"]}, %b: tensor<3xf32>) -> tensor<3x3xf32> {
  %y = "onnx.Einsum"(%a, %b) <{equation = "ab,b->ab"}> : (tensor<3x?xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// -----

// A diagonal is every sixth element of the square, where its size is known.
// CHECK-LABEL: @diagonal
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 1, 0, 2>}>
// CHECK: %[[F:.*]] = "onnx.Reshape"(%[[T]]{{.*}} -> tensor<3x25xf32>
// CHECK: "onnx.Slice"(%[[F]]{{.*}} -> tensor<3x5xf32>
// CHECK-NOT: onnx.Einsum
func.func @diagonal(%x: tensor<5x3x5xf32>) -> tensor<3x5xf32> {
  %y = "onnx.Einsum"(%x) <{equation = "iji->ji"}> : (tensor<5x3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// An axis of one entry is spread over the longer one of its label: each element times the sum of a column of the other.
// CHECK-LABEL: @spread
// CHECK: %[[W:.*]] = "onnx.Squeeze"(%arg1{{.*}} -> tensor<1x5x6xf32>
// CHECK: %[[S:.*]] = "onnx.ReduceSum"(%[[W]]
// CHECK-NOT: onnx.Einsum
// CHECK: "onnx.Mul"
func.func @spread(%x: tensor<2x3x4x5xf32>, %w: tensor<1x1x5x6xf32>) -> tensor<2x3x4x5xf32> {
  %y = "onnx.Einsum"(%x, %w) <{equation = "nckv,bkvw->nckv"}> : (tensor<2x3x4x5xf32>, tensor<1x1x5x6xf32>) -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// -----

// CHECK-LABEL: @unknown_diagonal
// CHECK: "onnx.Einsum"(%arg0)
func.func @unknown_diagonal(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %y = "onnx.Einsum"(%x) <{equation = "ii->i"}> : (tensor<?x?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
