// RUN: onnxc-opt %s --fold-shapes --fuse-attention | FileCheck %s

// com.microsoft's GroupQueryAttention and QAttention: sizes of their results, and that they stay operators.

// The cache that is given back is as long as the one given or as all tokens, whichever is more: the run knows.
// CHECK-LABEL: @group
// CHECK-SAME: -> (tensor<?x?x64xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>)
// CHECK: "onnx.ms.GroupQueryAttention"
// CHECK-NOT: packed.Attention
func.func @group(%q: tensor<?x?x64xf32> {onnx.dims = ["b", "s", ""]}, %k: tensor<?x?x32xf32> {onnx.dims = ["b", "s", ""]}, %p: tensor<?x2x?x16xf32> {onnx.dims = ["b", "", "p", ""]}, %n: tensor<?xi32> {onnx.dims = ["b"]}, %t: tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %y:3 = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %p, %p, %n, %t) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x?x64xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1, %y#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// All three in one tensor: four heads of queries and two of keys and of values make eight of sixteen numbers.
// CHECK-LABEL: @packed
// CHECK-SAME: -> (tensor<1x5x64xf32>, tensor<1x2x9x16xf32>, tensor<1x2x9x16xf32>, tensor<1x4x5x9xf32>)
func.func @packed(%q: tensor<1x5x128xf32>, %n: tensor<1xi32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %t = "onnx.Constant"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %y:4 = "onnx.ms.GroupQueryAttention"(%q, %n, %t) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, qk_output = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<1x5x128xf32>, tensor<1xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// A cache that has room for all tokens keeps its size, one that has not grows, one that slides never does.
// CHECK-LABEL: @caches
// CHECK-SAME: -> (tensor<1x1x64xf32>, tensor<1x2x16x16xf32>, tensor<1x2x20x16xf32>, tensor<1x2x16x16xf32>)
func.func @caches(%q: tensor<1x1x64xf32>, %k: tensor<1x1x32xf32>, %p: tensor<1x2x16x16xf32>, %n: tensor<1xi32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %t = "onnx.Constant"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %l = "onnx.Constant"() {value = dense<20> : tensor<i32>} : () -> tensor<i32>
  %y:2 = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %p, %p, %n, %t) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x1x64xf32>, tensor<1x1x32xf32>, tensor<1x1x32xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>, tensor<1xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>)
  %z:2 = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %p, %p, %n, %l) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x1x64xf32>, tensor<1x1x32xf32>, tensor<1x1x32xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>, tensor<1xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>)
  %w:2 = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %p, %p, %n, %l) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, local_window_size = 16 : i64, sliding_window_cache = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x1x64xf32>, tensor<1x1x32xf32>, tensor<1x1x32xf32>, tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>, tensor<1xi32>, tensor<i32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1, %z#1, %w#1 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// The sizes are those of the weights' thirds, and what was there before is longer by the input: bytes stay with the library.
// CHECK-LABEL: @bytes
// CHECK-SAME: -> (tensor<?x?x32xf32>, tensor<2x?x4x?x8xf32>)
// CHECK: "onnx.ms.QAttention"
// CHECK-NOT: packed.Attention
func.func @bytes(%x: tensor<?x?x32xui8> {onnx.dims = ["b", "s", ""]}, %w: tensor<32x96xi8>, %b: tensor<96xf32>, %s: tensor<f32>, %ws: tensor<f32>, %past: tensor<2x?x4x?x8xf32> {onnx.dims = ["", "b", "", "p", ""]}) -> (tensor<*xf32>, tensor<*xf32>) {
  %y:2 = "onnx.ms.QAttention"(%x, %w, %b, %s, %ws, %past) <{num_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>}> : (tensor<?x?x32xui8>, tensor<32x96xi8>, tensor<96xf32>, tensor<f32>, tensor<f32>, tensor<2x?x4x?x8xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>
}

// A buffer that past and present share has one length, here that of the past.
// CHECK-LABEL: @shared
// CHECK-SAME: -> (tensor<1x3x32xf32>, tensor<2x1x4x7x8xf32>)
func.func @shared(%x: tensor<1x3x32xui8>, %w: tensor<32x96xi8>, %b: tensor<96xf32>, %s: tensor<f32>, %past: tensor<2x1x4x7x8xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y:2 = "onnx.ms.QAttention"(%x, %w, %b, %s, %s, %past) <{num_heads = 4 : i64, past_present_share_buffer = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1>}> : (tensor<1x3x32xui8>, tensor<32x96xi8>, tensor<96xf32>, tensor<f32>, tensor<f32>, tensor<2x1x4x7x8xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %y#0, %y#1 : tensor<*xf32>, tensor<*xf32>
}
