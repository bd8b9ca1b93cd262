// RUN: onnxc-opt %s --fuse-attention | FileCheck %s

// Masks of attention operators: those that become what the kernel adds, and those that leave the op as it is.

// Lengths of each entry, flags of each key, and flags of each query and key.
// CHECK-LABEL: @padding
// CHECK: %[[L:.*]] = "onnx.Less"({{.*}} -> tensor<2x1x1x5xi1>
// CHECK: %[[A:.*]] = "onnx.Where"(%[[L]], {{.*}} -> tensor<2x1x1x5xf32>
// CHECK: "onnx.packed.Attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[A]])
// CHECK: %[[B:.*]] = "onnx.Where"({{.*}} -> tensor<2x1x1x5xf32>
// CHECK: "onnx.packed.Attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[B]])
// CHECK: %[[C:.*]] = "onnx.Where"({{.*}} -> tensor<2x1x3x5xf32>
// CHECK: "onnx.packed.Attention"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]])
func.func @padding(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %n: tensor<2xi32>, %f: tensor<2x5xi32>, %m: tensor<2x3x5xi32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %n) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2xi32>) -> tensor<2x3x8xf32>
  %1 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %f) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5xi32>) -> tensor<2x3x8xf32>
  %2 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %m) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x3x5xi32>) -> tensor<2x3x8xf32>
  return %0, %1, %2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Lengths with where each entry begins, flags of other keys beside a bias, a bias of one key for all, lengths of keys that a cache has as well,
// and scores that the model gives away.
// CHECK-LABEL: @other_padding
// CHECK-COUNT-5: "onnx.ms.MultiHeadAttention"
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @other_padding(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %n: tensor<2xi32>, %ends: tensor<8xi32>, %f: tensor<2x?xi32>, %bias: tensor<2x2x3x5xf32>, %one: tensor<2x2x3x1xf32>, %past: tensor<2x2x?x4xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x5xf32>) {
  %0 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %ends) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<8xi32>) -> tensor<2x3x8xf32>
  %1 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %f, %bias) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x?xi32>, tensor<2x2x3x5xf32>) -> tensor<2x3x8xf32>
  %2 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %one) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x2x3x1xf32>) -> tensor<2x3x8xf32>
  %3 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %n, %past, %past) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2xi32>, tensor<2x2x?x4xf32>, tensor<2x2x?x4xf32>) -> tensor<2x3x8xf32>
  %4:2 = "onnx.ms.MultiHeadAttention"(%q, %k, %k) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x2x3x5xf32>)
  return %0, %1, %2, %3, %4#1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3x5xf32>
}

// Lengths of keys beside a cache, a window to the left, or one to the right, and a mask of integers.
// CHECK-LABEL: @other_lengths
// CHECK-COUNT-4: "onnx.Attention"
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @other_lengths(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x5x4xf32>, %n: tensor<2xi64>, %past: tensor<2x2x7x4xf32>, %m: tensor<3x5xi32>) -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) {
  %0 = "onnx.Attention"(%q, %k, %k, %past, %past, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  %1 = "onnx.Attention"(%q, %k, %k, %n) <{left_window_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  %2 = "onnx.Attention"(%q, %k, %k, %n) <{right_window_size = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  %3 = "onnx.Attention"(%q, %k, %k, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<3x5xi32>) -> tensor<2x2x3x4xf32>
  return %0, %1, %2, %3 : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
}

// Causal lengths end with the last query: key j of an entry is seen by query i where j <= i + length - 3.
// CHECK-LABEL: @causal_lengths
// CHECK: %[[E:.*]] = "onnx.Less"({{.*}} -> tensor<2x1x1x5xi1>
// CHECK: %[[F:.*]] = "onnx.Sub"
// CHECK: %[[L:.*]] = "onnx.Add"(%{{.*}}, %[[F]]) {{.*}} -> tensor<2x1x3x1xi64>
// CHECK: %[[S:.*]] = "onnx.LessOrEqual"(%{{.*}}, %[[L]]) {{.*}} -> tensor<2x1x3x5xi1>
// CHECK: %[[M:.*]] = "onnx.And"(%[[S]], %[[E]])
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg1, %[[M]]) <{after = -1 : i64
func.func @causal_lengths(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x5x4xf32>, %n: tensor<2xi64>) -> tensor<2x2x3x4xf32> {
  %0 = "onnx.Attention"(%q, %k, %k, %n) <{is_causal = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  return %0 : tensor<2x2x3x4xf32>
}
