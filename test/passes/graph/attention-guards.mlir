// RUN: onnxc-opt %s --fuse-attention --split-input-file | FileCheck %s

// Attention of the standard and of com.microsoft: numbers that the kernel takes, and those that leave the op as it is.

// A window to the left and to the right is `before` and `after`; heads of keys are fewer than those of queries.
// CHECK-LABEL: @window
// CHECK: "onnx.packed.Attention"({{.*}} <{after = 1 : i64,{{.*}}before = 2 : i64
// CHECK: "onnx.packed.Attention"({{.*}} <{after = 0 : i64,{{.*}}before = 2 : i64
func.func @window(%q: tensor<1x3x16xf32>, %k: tensor<1x3x8xf32>) -> (tensor<1x3x16xf32>, tensor<1x3x16xf32>) {
  %0 = "onnx.Attention"(%q, %k, %k) <{left_window_size = 2 : i64, right_window_size = 1 : i64, q_num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x16xf32>
  %1 = "onnx.Attention"(%q, %k, %k) <{is_causal = 1 : i64, left_window_size = 2 : i64, right_window_size = 1 : i64, q_num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x16xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) -> tensor<1x3x16xf32>
  return %0, %1 : tensor<1x3x16xf32>, tensor<1x3x16xf32>
}

// -----

// A width that only the run knows, another precision of the softmax, and doubles.
// CHECK-LABEL: @other_heads
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @other_heads(%q: tensor<1x3x16xf32>, %u: tensor<1x3x?xf32>, %d: tensor<1x3x16xf64>) -> (tensor<1x3x?xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf64>) {
  %0 = "onnx.Attention"(%u, %u, %u) <{q_num_heads = 4 : i64, kv_num_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x?xf32>, tensor<1x3x?xf32>, tensor<1x3x?xf32>) -> tensor<1x3x?xf32>
  %1 = "onnx.Attention"(%q, %q, %q) <{softmax_precision = 10 : i64, q_num_heads = 4 : i64, kv_num_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x16xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf32>) -> tensor<1x3x16xf32>
  %2 = "onnx.Attention"(%d, %d, %d) <{q_num_heads = 4 : i64, kv_num_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x16xf64>, tensor<1x3x16xf64>, tensor<1x3x16xf64>) -> tensor<1x3x16xf64>
  return %0, %1, %2 : tensor<1x3x?xf32>, tensor<1x3x16xf32>, tensor<1x3x16xf64>
}

// -----

// Behind a cache a causal query stands where its key does: as many new keys as queries, or nothing tells where.
// CHECK-LABEL: @causal_cache
// CHECK: "onnx.packed.Attention"({{.*}} <{after = 0 : i64, atEnd = 1
// CHECK: "onnx.Attention"(%arg0, %arg2, %arg2
// CHECK: "onnx.packed.Attention"({{.*}} <{after = -1 : i64, atEnd = 1
func.func @causal_cache(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x3x4xf32>, %n: tensor<1x2x5x4xf32>, %p: tensor<1x2x?x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  %0 = "onnx.Attention"(%q, %k, %k, %p, %p) <{is_causal = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x3x4xf32>
  %1 = "onnx.Attention"(%q, %n, %n, %p, %p) <{is_causal = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x3x4xf32>
  %2 = "onnx.Attention"(%q, %n, %n, %p, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> tensor<1x2x3x4xf32>
  return %0, %1, %2 : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

// -----

// Lengths of keys are a mask; with flags beside them, or a mask of numbers for other keys, the op stays.
// CHECK-LABEL: @lengths
// CHECK: "onnx.Less"
// CHECK: "onnx.packed.Attention"
// CHECK: "onnx.Attention"(%arg0, %arg1, %arg1, %arg2, %arg4)
// CHECK: "onnx.Attention"(%arg0, %arg1, %arg1, %arg3, %arg4)
func.func @lengths(%q: tensor<2x2x3x4xf32>, %k: tensor<2x2x5x4xf32>, %flags: tensor<3x5xi1>, %short: tensor<3x4xf32>, %n: tensor<2xi64>) -> (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) {
  %0 = "onnx.Attention"(%q, %k, %k, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  %1 = "onnx.Attention"(%q, %k, %k, %flags, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<3x5xi1>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  %2 = "onnx.Attention"(%q, %k, %k, %short, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x2x3x4xf32>, tensor<2x2x5x4xf32>, tensor<2x2x5x4xf32>, tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  return %0, %1, %2 : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>
}

// -----

// A product for Q, K and V whose parts are not the same size is cut; a scale of 0 is none: 1 / sqrt(4).
// CHECK-LABEL: @unequal_parts
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %arg1)
// CHECK-COUNT-3: "onnx.Slice"(%[[P]]
// CHECK: "onnx.packed.Attention"({{.*}}scale = 5.000000e-01
func.func @unequal_parts(%x: tensor<1x3x8xf32>, %w: tensor<8x32xf32>) -> tensor<1x3x16xf32> {
  %y = "onnx.ms.Attention"(%x, %w) <{num_heads = 2 : i64, scale = 0.0 : f32, qkv_hidden_sizes = array<i64: 8, 8, 16>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<8x32xf32>) -> tensor<1x3x16xf32>
  return %y : tensor<1x3x16xf32>
}

// -----

// Parts whose size only the run knows, rotations, and a cache that is written into stay with com.microsoft's op.
// CHECK-LABEL: @other_parts
// CHECK-COUNT-3: "onnx.ms.Attention"
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @other_parts(%x: tensor<1x3x8xf32>, %w: tensor<8x24xf32>, %u: tensor<8x?xf32>, %past: tensor<2x1x2x5x4xf32>) -> (tensor<1x3x?xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  %0 = "onnx.ms.Attention"(%x, %u) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<8x?xf32>) -> tensor<1x3x?xf32>
  %1 = "onnx.ms.Attention"(%x, %w) <{num_heads = 2 : i64, do_rotary = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<8x24xf32>) -> tensor<1x3x8xf32>
  %2 = "onnx.ms.Attention"(%x, %w, %past) <{num_heads = 2 : i64, past_present_share_buffer = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0, 0>}> : (tensor<1x3x8xf32>, tensor<8x24xf32>, tensor<2x1x2x5x4xf32>) -> tensor<1x3x8xf32>
  return %0, %1, %2 : tensor<1x3x?xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>
}

// -----

// All three in one tensor, or keys and values, are read where they lie; a bias is cut into that of each.
// CHECK-LABEL: @multi_head
// CHECK: "onnx.packed.Attention"(%arg0, %arg0, %arg0) <{{.*}}atK = array<i64: 0, 0, 0, 1, 0>, atQ = array<i64: 0, 0, 0, 0, 0>, atV = array<i64: 0, 0, 0, 2, 0>
// CHECK: "onnx.packed.Attention"(%{{.*}}, %arg2, %arg2) <{{.*}}atK = array<i64: 0, 0, 0, 0, 0>{{.*}}atV = array<i64: 0, 0, 0, 1, 0>
// CHECK-COUNT-3: "onnx.Slice"(%arg3
// CHECK: "onnx.packed.Attention"
func.func @multi_head(%all: tensor<1x3x2x3x4xf32>, %q: tensor<1x3x8xf32>, %kv: tensor<1x5x2x2x4xf32>, %b: tensor<24xf32>) -> (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  %0 = "onnx.ms.MultiHeadAttention"(%all) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x2x3x4xf32>) -> tensor<1x3x8xf32>
  %1 = "onnx.ms.MultiHeadAttention"(%q, %kv) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<1x5x2x2x4xf32>) -> tensor<1x3x8xf32>
  %2 = "onnx.ms.MultiHeadAttention"(%q, %q, %q, %b) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<24xf32>) -> tensor<1x3x8xf32>
  return %0, %1, %2 : tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>
}

// -----

// A width that only the run knows, a bias with keys and values in one tensor, or causal behind a cache with other keys than queries.
// CHECK-LABEL: @other_multi_heads
// CHECK-COUNT-3: "onnx.ms.MultiHeadAttention"
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @other_multi_heads(%q: tensor<1x3x8xf32>, %u: tensor<1x3x?xf32>, %kv: tensor<1x5x2x2x4xf32>, %b: tensor<24xf32>, %k: tensor<1x5x8xf32>, %past: tensor<1x2x7x4xf32>) -> (tensor<1x3x?xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>) {
  %0 = "onnx.ms.MultiHeadAttention"(%u, %u, %u) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x?xf32>, tensor<1x3x?xf32>, tensor<1x3x?xf32>) -> tensor<1x3x?xf32>
  %1 = "onnx.ms.MultiHeadAttention"(%q, %kv, %b) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<1x5x2x2x4xf32>, tensor<24xf32>) -> tensor<1x3x8xf32>
  %2 = "onnx.ms.MultiHeadAttention"(%q, %k, %k, %past, %past) <{num_heads = 2 : i64, unidirectional = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x3x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>) -> tensor<1x3x8xf32>
  return %0, %1, %2 : tensor<1x3x?xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>
}
