// RUN: onnxc-opt %s --fuse-attention | FileCheck %s

// Transpositions around the op are read through; the mask may be shorter than the keys.
// CHECK-LABEL: @standard
// CHECK-NEXT: %[[Y:.*]] = "onnx.packed.Attention"(%arg0, %arg1, %arg2, %arg3) <{
// CHECK-SAME: axesK = array<i64: 0, 2, 1, 3>, axesQ = array<i64: 0, 2, 1, 3>, axesV = array<i64: 0, 1, 2, 3>, axesY = array<i64: 0, 2, 1, 3>
// CHECK-SAME: masked = 1
// CHECK-SAME: softcap = 3.000000e+00
// CHECK-SAME: zero = 2
// CHECK-NEXT: return %[[Y]]
func.func @standard(%q: tensor<2x9x4x64xf32>, %k: tensor<2x?x2x64xf32>, %v: tensor<2x2x?x64xf32>, %mask: tensor<9x?xi1>) -> tensor<2x9x4x64xf32> {
  %qt = "onnx.Transpose"(%q) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x9x4x64xf32>) -> tensor<2x4x9x64xf32>
  %kt = "onnx.Transpose"(%k) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x?x2x64xf32>) -> tensor<2x2x?x64xf32>
  %o = "onnx.Attention"(%qt, %kt, %v, %mask) <{softcap = 3.0 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x4x9x64xf32>, tensor<2x2x?x64xf32>, tensor<2x2x?x64xf32>, tensor<9x?xi1>) -> tensor<2x4x9x64xf32>
  %y = "onnx.Transpose"(%o) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x9x64xf32>) -> tensor<2x9x4x64xf32>
  return %y : tensor<2x9x4x64xf32>
}

// A cache: what is given back is what the kernel reads.
// CHECK-LABEL: @cached
// CHECK: %[[K:.*]] = "onnx.Concat"(%arg3, {{.*}} <{axis = 2
// CHECK: %[[V:.*]] = "onnx.Concat"(%arg4, {{.*}} <{axis = 2
// CHECK: "onnx.packed.Attention"({{.*}}, %[[K]], %[[V]]) <{after = 0 : i64, atEnd = 1
// CHECK: return %{{.*}}, %[[K]], %[[V]]
func.func @cached(%q: tensor<1x3x8xf32>, %k: tensor<1x3x8xf32>, %v: tensor<1x3x8xf32>, %pk: tensor<1x2x?x4xf32>, %pv: tensor<1x2x?x4xf32>) -> (tensor<1x3x8xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) {
  %y:3 = "onnx.Attention"(%q, %k, %v, %pk, %pv) <{is_causal = 1 : i64, q_num_heads = 2 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x3x8xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> (tensor<1x3x8xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x3x8xf32>, tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>
}

// A raw mask behind a cache: only the run knows whether it has all keys.
// CHECK-LABEL: @cached_mask
// CHECK: "onnx.packed.Attention"({{.*}}atEnd = 1
// CHECK-SAME: masked = 2
func.func @cached_mask(%x: tensor<?x?x8xf32> {onnx.dims = ["b", "s", ""]}, %w: tensor<8x24xf32>, %m: tensor<?x?xi32> {onnx.dims = ["b", "t"]}, %p: tensor<2x?x2x?x4xf32> {onnx.dims = ["", "b", "", "p", ""]}) -> tensor<?x?x8xf32> {
  %y = "onnx.ms.Attention"(%x, %w, %m, %p) <{num_heads = 2 : i64, unidirectional = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 0>}> : (tensor<?x?x8xf32>, tensor<8x24xf32>, tensor<?x?xi32>, tensor<2x?x2x?x4xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// One product for Q, K and V, whose parts are read where they lie.
// CHECK-LABEL: @projected
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %arg1)
// CHECK: %[[X:.*]] = "onnx.Reshape"(%[[P]], {{.*}} -> tensor<?x?x3x4x12xf32>
// CHECK: "onnx.packed.Attention"(%[[X]], %[[X]], %[[X]], %{{.*}}) <{
// CHECK-SAME: atK = array<i64: 0, 0, 1, 0, 0>, atQ = array<i64: 0, 0, 0, 0, 0>, atV = array<i64: 0, 0, 2, 0, 0>
func.func @projected(%x: tensor<?x?x48xf32> {onnx.dims = ["b", "s", ""]}, %w: tensor<48x144xf32>, %n: tensor<?xi32> {onnx.dims = ["b"]}) -> tensor<?x?x48xf32> {
  %y = "onnx.ms.Attention"(%x, %w, %n) <{num_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}> : (tensor<?x?x48xf32>, tensor<48x144xf32>, tensor<?xi32>) -> tensor<?x?x48xf32>
  return %y : tensor<?x?x48xf32>
}

// Scores that the model gives away stay with the op.
// CHECK-LABEL: @shown
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @shown(%q: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>) {
  %y:2 = "onnx.Attention"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>)
  return %y#0, %y#1 : tensor<1x2x3x4xf32>, tensor<1x2x3x3xf32>
}
