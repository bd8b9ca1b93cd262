// RUN: onnxc-opt %s --fuse-attention | FileCheck %s

// Scales on either side, a mask, and the transpositions of all four tensors.
// CHECK-LABEL: @heads
// CHECK: %[[Y:.*]] = "onnx.packed.Attention"(%arg0, %arg1, %arg2, %arg3) <{
// CHECK-SAME: atK = array<i64: 0, 0, 0, 0>, atQ = array<i64: 0, 0, 0, 0>, atV = array<i64: 0, 0, 0, 0>
// CHECK-SAME: axesK = array<i64: 0, 2, 1, 3>, axesQ = array<i64: 0, 2, 1, 3>, axesV = array<i64: 0, 2, 1, 3>, axesY = array<i64: 0, 2, 1, 3>
// CHECK-SAME: scale = 1.250000e-01
// CHECK-NEXT: return %[[Y]]
func.func @heads(%q: tensor<2x39x4x64xf32>, %k: tensor<2x39x4x64xf32>, %v: tensor<2x39x4x64xf32>, %mask: tensor<39x39xf32>) -> tensor<2x39x4x64xf32> {
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %four = "onnx.Constant"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %qt = "onnx.Transpose"(%q) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x39x4x64xf32>) -> tensor<2x4x39x64xf32>
  %qs = "onnx.Mul"(%qt, %half) : (tensor<2x4x39x64xf32>, tensor<f32>) -> tensor<2x4x39x64xf32>
  %kt = "onnx.Transpose"(%k) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<2x39x4x64xf32>) -> tensor<2x4x64x39xf32>
  %vt = "onnx.Transpose"(%v) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x39x4x64xf32>) -> tensor<2x4x39x64xf32>
  %s = "onnx.MatMul"(%qs, %kt) : (tensor<2x4x39x64xf32>, tensor<2x4x64x39xf32>) -> tensor<2x4x39x39xf32>
  %d = "onnx.Div"(%s, %four) : (tensor<2x4x39x39xf32>, tensor<f32>) -> tensor<2x4x39x39xf32>
  %m = "onnx.Add"(%d, %mask) : (tensor<2x4x39x39xf32>, tensor<39x39xf32>) -> tensor<2x4x39x39xf32>
  %p = "onnx.Softmax"(%m) <{axis = -1 : i64}> : (tensor<2x4x39x39xf32>) -> tensor<2x4x39x39xf32>
  %o = "onnx.MatMul"(%p, %vt) : (tensor<2x4x39x39xf32>, tensor<2x4x39x64xf32>) -> tensor<2x4x39x64xf32>
  %y = "onnx.Transpose"(%o) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x4x39x64xf32>) -> tensor<2x39x4x64xf32>
  return %y : tensor<2x39x4x64xf32>
}

// Parts of one projection are read where they lie; NaN of masked rows becomes zero.
// CHECK-LABEL: @parts
// CHECK: %[[X:.*]] = "onnx.Reshape"(%arg0, {{.*}} -> tensor<2x39x3x4x8xf32>
// CHECK: "onnx.packed.Attention"(%[[X]], %{{.*}}, %{{.*}}, %arg1) <{
// CHECK-SAME: atK = array<i64: 0, 0, 1, 0, 0>, atQ = array<i64: 0, 0, 0, 0, 0>, atV = array<i64: 0, 0, 2, 0, 0>
// CHECK-SAME: axesQ = array<i64: 0, 3, 1, 4>
// CHECK-SAME: fill = 0xFF800000 : f32
// CHECK-SAME: zero = 1
func.func @parts(%x: tensor<2x39x96xf32>, %keep: tensor<39x39xi1>) -> tensor<2x4x39x8xf32> {
  %shape = "onnx.Constant"() {value = dense<[2, 39, 4, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %none = "onnx.Constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %parts:3 = "onnx.Split"(%x) <{axis = -1 : i64, num_outputs = 3 : i64}> {operandSegmentSizes = array<i32: 1, 0>} : (tensor<2x39x96xf32>) -> (tensor<2x39x32xf32>, tensor<2x39x32xf32>, tensor<2x39x32xf32>)
  %q = "onnx.Reshape"(%parts#0, %shape) : (tensor<2x39x32xf32>, tensor<4xi64>) -> tensor<2x39x4x8xf32>
  %k = "onnx.Reshape"(%parts#1, %shape) : (tensor<2x39x32xf32>, tensor<4xi64>) -> tensor<2x39x4x8xf32>
  %v = "onnx.Reshape"(%parts#2, %shape) : (tensor<2x39x32xf32>, tensor<4xi64>) -> tensor<2x39x4x8xf32>
  %qt = "onnx.Transpose"(%q) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x39x4x8xf32>) -> tensor<2x4x39x8xf32>
  %kt = "onnx.Transpose"(%k) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<2x39x4x8xf32>) -> tensor<2x4x8x39xf32>
  %vt = "onnx.Transpose"(%v) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<2x39x4x8xf32>) -> tensor<2x4x39x8xf32>
  %s = "onnx.MatMul"(%qt, %kt) : (tensor<2x4x39x8xf32>, tensor<2x4x8x39xf32>) -> tensor<2x4x39x39xf32>
  %w = "onnx.Where"(%keep, %s, %none) : (tensor<39x39xi1>, tensor<2x4x39x39xf32>, tensor<f32>) -> tensor<2x4x39x39xf32>
  %p = "onnx.Softmax"(%w) <{axis = 3 : i64}> : (tensor<2x4x39x39xf32>) -> tensor<2x4x39x39xf32>
  %nan = "onnx.IsNaN"(%p) : (tensor<2x4x39x39xf32>) -> tensor<2x4x39x39xi1>
  %pz = "onnx.Where"(%nan, %zero, %p) : (tensor<2x4x39x39xi1>, tensor<f32>, tensor<2x4x39x39xf32>) -> tensor<2x4x39x39xf32>
  %o = "onnx.MatMul"(%pz, %vt) : (tensor<2x4x39x39xf32>, tensor<2x4x39x8xf32>) -> tensor<2x4x39x8xf32>
  return %o : tensor<2x4x39x8xf32>
}

// Eight heads of queries for two of keys.
// CHECK-LABEL: @groups
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2) <{
// CHECK-SAME: axesK = array<i64: 0, 1, 2, 3>
func.func @groups(%q: tensor<1x8x?x16xf32>, %k: tensor<1x2x?x16xf32>, %v: tensor<1x2x?x16xf32>) -> tensor<1x8x?x16xf32> {
  %one = "onnx.Constant"() {value = dense<[0, 0, 1, -1, 16]> : tensor<5xi64>} : () -> tensor<5xi64>
  %four = "onnx.Constant"() {value = dense<[1, 1, 4, 1, 1]> : tensor<5xi64>} : () -> tensor<5xi64>
  %all = "onnx.Constant"() {value = dense<[1, 8, -1, 16]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %one) : (tensor<1x2x?x16xf32>, tensor<5xi64>) -> tensor<1x2x1x?x16xf32>
  %k2 = "onnx.Expand"(%k1, %four) : (tensor<1x2x1x?x16xf32>, tensor<5xi64>) -> tensor<1x2x4x?x16xf32>
  %k3 = "onnx.Reshape"(%k2, %all) : (tensor<1x2x4x?x16xf32>, tensor<4xi64>) -> tensor<1x8x?x16xf32>
  %v1 = "onnx.Reshape"(%v, %one) : (tensor<1x2x?x16xf32>, tensor<5xi64>) -> tensor<1x2x1x?x16xf32>
  %v2 = "onnx.Expand"(%v1, %four) : (tensor<1x2x1x?x16xf32>, tensor<5xi64>) -> tensor<1x2x4x?x16xf32>
  %v3 = "onnx.Reshape"(%v2, %all) : (tensor<1x2x4x?x16xf32>, tensor<4xi64>) -> tensor<1x8x?x16xf32>
  %kt = "onnx.Transpose"(%k3) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<1x8x?x16xf32>) -> tensor<1x8x16x?xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<1x8x?x16xf32>, tensor<1x8x16x?xf32>) -> tensor<1x8x?x?xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<1x8x?x?xf32>) -> tensor<1x8x?x?xf32>
  %o = "onnx.MatMul"(%p, %v3) : (tensor<1x8x?x?xf32>, tensor<1x8x?x16xf32>) -> tensor<1x8x?x16xf32>
  return %o : tensor<1x8x?x16xf32>
}

// torch.nn.MultiheadAttention: heads share an axis with the batch, of which only the run knows the size.
// CHECK-LABEL: @multihead
// CHECK: %[[X:.*]] = "onnx.Reshape"(%arg0, {{.*}} -> tensor<39x?x3x4x8xf32>
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.packed.Attention"(%[[X]], %{{.*}}, %{{.*}}) <{
// CHECK-SAME: atK = array<i64: 0, 0, 1, 0, 0>, atQ = array<i64: 0, 0, 0, 0, 0>, atV = array<i64: 0, 0, 2, 0, 0>
// CHECK-SAME: axesK = array<i64: 1, 3, 0, 4>, axesQ = array<i64: 1, 3, 0, 4>, axesV = array<i64: 1, 3, 0, 4>
// CHECK-SAME: scale = 5.000000e-01
func.func @multihead(%x: tensor<39x?x96xf32>) -> tensor<?x4x39x8xf32> {
  %split = "onnx.Constant"() {value = dense<[39, -1, 3, 32]> : tensor<4xi64>} : () -> tensor<4xi64>
  %together = "onnx.Constant"() {value = dense<[39, -1, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %heads = "onnx.Constant"() {value = dense<[-1, 4, 39, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %keys = "onnx.Constant"() {value = dense<[-1, 4, 8, 39]> : tensor<4xi64>} : () -> tensor<4xi64>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %i0 = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %i1 = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %i2 = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %parts = "onnx.Reshape"(%x, %split) : (tensor<39x?x96xf32>, tensor<4xi64>) -> tensor<39x?x3x32xf32>
  %front = "onnx.Transpose"(%parts) <{perm = array<i64: 2, 0, 1, 3>}> : (tensor<39x?x3x32xf32>) -> tensor<3x39x?x32xf32>
  %q0 = "onnx.Gather"(%front, %i0) <{axis = 0 : i64}> : (tensor<3x39x?x32xf32>, tensor<i64>) -> tensor<39x?x32xf32>
  %k0 = "onnx.Gather"(%front, %i1) <{axis = 0 : i64}> : (tensor<3x39x?x32xf32>, tensor<i64>) -> tensor<39x?x32xf32>
  %v0 = "onnx.Gather"(%front, %i2) <{axis = 0 : i64}> : (tensor<3x39x?x32xf32>, tensor<i64>) -> tensor<39x?x32xf32>
  %qs = "onnx.Mul"(%q0, %half) : (tensor<39x?x32xf32>, tensor<f32>) -> tensor<39x?x32xf32>
  %q1 = "onnx.Reshape"(%qs, %together) : (tensor<39x?x32xf32>, tensor<3xi64>) -> tensor<39x?x8xf32>
  %k1 = "onnx.Reshape"(%k0, %together) : (tensor<39x?x32xf32>, tensor<3xi64>) -> tensor<39x?x8xf32>
  %v1 = "onnx.Reshape"(%v0, %together) : (tensor<39x?x32xf32>, tensor<3xi64>) -> tensor<39x?x8xf32>
  %q2 = "onnx.Transpose"(%q1) <{perm = array<i64: 1, 0, 2>}> : (tensor<39x?x8xf32>) -> tensor<?x39x8xf32>
  %k2 = "onnx.Transpose"(%k1) <{perm = array<i64: 1, 2, 0>}> : (tensor<39x?x8xf32>) -> tensor<?x8x39xf32>
  %v2 = "onnx.Transpose"(%v1) <{perm = array<i64: 1, 0, 2>}> : (tensor<39x?x8xf32>) -> tensor<?x39x8xf32>
  %q = "onnx.Reshape"(%q2, %heads) : (tensor<?x39x8xf32>, tensor<4xi64>) -> tensor<?x4x39x8xf32>
  %k = "onnx.Reshape"(%k2, %keys) : (tensor<?x8x39xf32>, tensor<4xi64>) -> tensor<?x4x8x39xf32>
  %v = "onnx.Reshape"(%v2, %heads) : (tensor<?x39x8xf32>, tensor<4xi64>) -> tensor<?x4x39x8xf32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<?x4x39x8xf32>, tensor<?x4x8x39xf32>) -> tensor<?x4x39x39xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<?x4x39x39xf32>) -> tensor<?x4x39x39xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<?x4x39x39xf32>, tensor<?x4x39x8xf32>) -> tensor<?x4x39x8xf32>
  return %o : tensor<?x4x39x8xf32>
}

// Windows in the batch axis, whose masks their heads share, beside a bias that windows share: views around the scores move to the operands. A mask that
// is added twice, as that of transformers' Swin v2.
// CHECK-LABEL: @windows
// CHECK-DAG: %[[BIAS:.*]] = "onnx.Reshape"(%arg3, {{.*}} -> tensor<1x1x3x39x39xf32>
// CHECK-DAG: %[[MASK:.*]] = "onnx.Add"(%arg4, %arg4)
// CHECK: %[[Y:.*]] = "onnx.packed.Attention"(%arg0, %arg1, %arg2, %[[BIAS]], %[[MASK]]) <{
// CHECK-SAME: axesY = array<i64: 0, 1, 3, 2, 4>
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1>
// CHECK-SAME: -> tensor<?x4x39x3x8xf32>
// CHECK: "onnx.Reshape"(%[[Y]], {{.*}} -> tensor<?x39x3x8xf32>
func.func @windows(%q: tensor<?x4x3x39x8xf32> {onnx.dims = ["b", "", "", "", ""]}, %k: tensor<?x4x3x39x8xf32> {onnx.dims = ["b", "", "", "", ""]}, %v: tensor<?x4x3x39x8xf32> {onnx.dims = ["b", "", "", "", ""]}, %bias: tensor<1x3x39x39xf32>, %mask: tensor<1x4x1x39x39xf32>) -> tensor<?x39x3x8xf32> {
  %windows = "onnx.Constant"() {value = dense<[-1, 4, 3, 39, 39]> : tensor<5xi64>} : () -> tensor<5xi64>
  %all = "onnx.Constant"() {value = dense<[-1, 3, 39, 39]> : tensor<4xi64>} : () -> tensor<4xi64>
  %rows = "onnx.Constant"() {value = dense<[-1, 3, 39, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %qw = "onnx.Reshape"(%q, %rows) : (tensor<?x4x3x39x8xf32>, tensor<4xi64>) -> tensor<?x3x39x8xf32>
  %kw = "onnx.Reshape"(%k, %rows) : (tensor<?x4x3x39x8xf32>, tensor<4xi64>) -> tensor<?x3x39x8xf32>
  %vw = "onnx.Reshape"(%v, %rows) : (tensor<?x4x3x39x8xf32>, tensor<4xi64>) -> tensor<?x3x39x8xf32>
  %kt = "onnx.Transpose"(%kw) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<?x3x39x8xf32>) -> tensor<?x3x8x39xf32>
  %s = "onnx.MatMul"(%qw, %kt) : (tensor<?x3x39x8xf32>, tensor<?x3x8x39xf32>) -> tensor<?x3x39x39xf32>
  %b = "onnx.Add"(%s, %bias) : (tensor<?x3x39x39xf32>, tensor<1x3x39x39xf32>) -> tensor<?x3x39x39xf32>
  %w = "onnx.Reshape"(%b, %windows) : (tensor<?x3x39x39xf32>, tensor<5xi64>) -> tensor<?x4x3x39x39xf32>
  %m = "onnx.Add"(%w, %mask) : (tensor<?x4x3x39x39xf32>, tensor<1x4x1x39x39xf32>) -> tensor<?x4x3x39x39xf32>
  %t = "onnx.Add"(%m, %mask) : (tensor<?x4x3x39x39xf32>, tensor<1x4x1x39x39xf32>) -> tensor<?x4x3x39x39xf32>
  %a = "onnx.Reshape"(%t, %all) : (tensor<?x4x3x39x39xf32>, tensor<4xi64>) -> tensor<?x3x39x39xf32>
  %p = "onnx.Softmax"(%a) <{axis = -1 : i64}> : (tensor<?x3x39x39xf32>) -> tensor<?x3x39x39xf32>
  %o = "onnx.MatMul"(%p, %vw) : (tensor<?x3x39x39xf32>, tensor<?x3x39x8xf32>) -> tensor<?x3x39x8xf32>
  %y = "onnx.Transpose"(%o) <{perm = array<i64: 0, 2, 1, 3>}> : (tensor<?x3x39x8xf32>) -> tensor<?x39x3x8xf32>
  return %y : tensor<?x39x3x8xf32>
}

// Heads in the batch axis outside the softmax, and a size of the run in each list; a scale of each head multiplies the queries.
// CHECK-LABEL: @merged
// CHECK: %[[Q:.*]] = "onnx.Mul"(%{{.*}}, %arg3) : (tensor<?x4x?x8xf32>, tensor<4x1x1xf32>) -> tensor<?x4x?x8xf32>
// CHECK: %[[Y:.*]] = "onnx.packed.Attention"(%[[Q]], %arg1, %arg2, %arg4) <{
// CHECK-SAME: -> tensor<?x4x?x8xf32>
// CHECK: "onnx.Reshape"(%[[Y]], {{.*}} -> tensor<?x?x8xf32>
func.func @merged(%q: tensor<?x4x?x8xf32> {onnx.dims = ["b", "", "n", ""]}, %k: tensor<?x4x?x8xf32> {onnx.dims = ["b", "", "n", ""]}, %v: tensor<?x4x?x8xf32> {onnx.dims = ["b", "", "n", ""]}, %scale: tensor<4x1x1xf32>, %mask: tensor<?x1x?x?xf32> {onnx.dims = ["b", "", "n", "n"]}) -> tensor<?x?x8xf32> {
  %n = "onnx.Shape"(%q) <{start = 2 : i64, end = 3 : i64}> : (tensor<?x4x?x8xf32>) -> tensor<1xi64>
  %any = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %four = "onnx.Constant"() {value = dense<[-1, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %eight = "onnx.Constant"() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %rows = "onnx.Concat"(%any, %n, %eight) <{axis = 0 : i64}> : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %apart = "onnx.Concat"(%four, %n, %n) <{axis = 0 : i64}> : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<4xi64>
  %together = "onnx.Concat"(%any, %n, %n) <{axis = 0 : i64}> : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %qh = "onnx.Reshape"(%q, %rows) : (tensor<?x4x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %kh = "onnx.Reshape"(%k, %rows) : (tensor<?x4x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %vh = "onnx.Reshape"(%v, %rows) : (tensor<?x4x?x8xf32>, tensor<3xi64>) -> tensor<?x?x8xf32>
  %kt = "onnx.Transpose"(%kh) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  %s = "onnx.MatMul"(%qh, %kt) : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> tensor<?x?x?xf32>
  %h = "onnx.Reshape"(%s, %apart) : (tensor<?x?x?xf32>, tensor<4xi64>) -> tensor<?x4x?x?xf32>
  %d = "onnx.Mul"(%h, %scale) : (tensor<?x4x?x?xf32>, tensor<4x1x1xf32>) -> tensor<?x4x?x?xf32>
  %m = "onnx.Add"(%d, %mask) : (tensor<?x4x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x4x?x?xf32>
  %p = "onnx.Softmax"(%m) <{axis = -1 : i64}> : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %t = "onnx.Reshape"(%p, %together) : (tensor<?x4x?x?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  %o = "onnx.MatMul"(%t, %vh) : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// A mask of a size that only the run knows, whose last axis has to be the keys or 1, since there are as many values as keys; and scores that are capped.
// CHECK-LABEL: @unknown_mask
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: scale = 4.000000e+00
// CHECK-SAME: softcap = 8.000000e+00
// CHECK-NOT: onnx.Tanh
func.func @unknown_mask(%q: tensor<?x4x?x8xf32> {onnx.dims = ["b", "", "s", ""]}, %k: tensor<?x4x8x?xf32> {onnx.dims = ["b", "", "", "n"]}, %v: tensor<?x4x?x8xf32> {onnx.dims = ["b", "", "n", ""]}, %mask: tensor<?x1x?x?xf32> {onnx.dims = ["b", "", "s", "t"]}) -> tensor<?x4x?x8xf32> {
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %cap = "onnx.Constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<?x4x?x8xf32>, tensor<?x4x8x?xf32>) -> tensor<?x4x?x?xf32>
  %d = "onnx.Mul"(%s, %half) : (tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?x?xf32>
  %h = "onnx.Tanh"(%d) : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %c = "onnx.Mul"(%h, %cap) : (tensor<?x4x?x?xf32>, tensor<f32>) -> tensor<?x4x?x?xf32>
  %m = "onnx.Add"(%c, %mask) : (tensor<?x4x?x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x4x?x?xf32>
  %p = "onnx.Softmax"(%m) <{axis = -1 : i64}> : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  return %o : tensor<?x4x?x8xf32>
}

// Few keys: storing their scores is faster.
// CHECK-LABEL: @few
// CHECK-NOT: packed.Attention
// CHECK: "onnx.Softmax"
func.func @few(%q: tensor<2x4x16x64xf32>, %k: tensor<2x4x64x16xf32>, %v: tensor<2x4x16x64xf32>) -> tensor<2x4x16x64xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x16x64xf32>, tensor<2x4x64x16xf32>) -> tensor<2x4x16x16xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x16x16xf32>, tensor<2x4x16x64xf32>) -> tensor<2x4x16x64xf32>
  return %o : tensor<2x4x16x64xf32>
}

// Batches of values that the scores have not.
// CHECK-LABEL: @batches
// CHECK-NOT: packed.Attention
// CHECK: "onnx.Softmax"
func.func @batches(%q: tensor<1x4x40x64xf32>, %k: tensor<1x4x64x40xf32>, %v: tensor<3x4x40x64xf32>) -> tensor<3x4x40x64xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<1x4x40x64xf32>, tensor<1x4x64x40xf32>) -> tensor<1x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<1x4x40x40xf32>) -> tensor<1x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<1x4x40x40xf32>, tensor<3x4x40x64xf32>) -> tensor<3x4x40x64xf32>
  return %o : tensor<3x4x40x64xf32>
}
