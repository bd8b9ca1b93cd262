// RUN: onnxc-opt %s --fuse-attention | FileCheck %s

// What an attention reads its operands through, and where it stops.

// Each head of keys for two of queries that follow each other.
// CHECK-LABEL: @repeated
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2)
func.func @repeated(%q: tensor<2x4x40x8xf32>, %k: tensor<2x2x40x8xf32>, %v: tensor<2x2x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %one = "onnx.Constant"() {value = dense<[2, 2, 1, 40, 8]> : tensor<5xi64>} : () -> tensor<5xi64>
  %two = "onnx.Constant"() {value = dense<[1, 1, 2, 1, 1]> : tensor<5xi64>} : () -> tensor<5xi64>
  %all = "onnx.Constant"() {value = dense<[2, 4, 40, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %one) : (tensor<2x2x40x8xf32>, tensor<5xi64>) -> tensor<2x2x1x40x8xf32>
  %k2 = "onnx.Expand"(%k1, %two) : (tensor<2x2x1x40x8xf32>, tensor<5xi64>) -> tensor<2x2x2x40x8xf32>
  %k3 = "onnx.Reshape"(%k2, %all) : (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
  %v1 = "onnx.Reshape"(%v, %one) : (tensor<2x2x40x8xf32>, tensor<5xi64>) -> tensor<2x2x1x40x8xf32>
  %v2 = "onnx.Expand"(%v1, %two) : (tensor<2x2x1x40x8xf32>, tensor<5xi64>) -> tensor<2x2x2x40x8xf32>
  %v3 = "onnx.Reshape"(%v2, %all) : (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
  %kt = "onnx.Transpose"(%k3) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x40x8xf32>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v3) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// All heads of keys, then all again: head 2 of the queries has head 0 of the keys, which the kernel would not read from two heads.
// CHECK-LABEL: @tiled
// CHECK-DAG: %[[K:.*]] = "onnx.Reshape"{{.*}} (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
// CHECK: %[[V:.*]] = "onnx.Reshape"{{.*}} (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
// CHECK: "onnx.packed.Attention"(%arg0, %[[K]], %[[V]])
func.func @tiled(%q: tensor<2x4x40x8xf32>, %k: tensor<2x2x40x8xf32>, %v: tensor<2x2x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %one = "onnx.Constant"() {value = dense<[2, 1, 2, 40, 8]> : tensor<5xi64>} : () -> tensor<5xi64>
  %two = "onnx.Constant"() {value = dense<[1, 2, 1, 1, 1]> : tensor<5xi64>} : () -> tensor<5xi64>
  %all = "onnx.Constant"() {value = dense<[2, 4, 40, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %one) : (tensor<2x2x40x8xf32>, tensor<5xi64>) -> tensor<2x1x2x40x8xf32>
  %k2 = "onnx.Expand"(%k1, %two) : (tensor<2x1x2x40x8xf32>, tensor<5xi64>) -> tensor<2x2x2x40x8xf32>
  %k3 = "onnx.Reshape"(%k2, %all) : (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
  %v1 = "onnx.Reshape"(%v, %one) : (tensor<2x2x40x8xf32>, tensor<5xi64>) -> tensor<2x1x2x40x8xf32>
  %v2 = "onnx.Expand"(%v1, %two) : (tensor<2x1x2x40x8xf32>, tensor<5xi64>) -> tensor<2x2x2x40x8xf32>
  %v3 = "onnx.Reshape"(%v2, %all) : (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
  %kt = "onnx.Transpose"(%k3) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x40x8xf32>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v3) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// Keys that heads share beside values that they do not.
// CHECK-LABEL: @repeated_keys
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @repeated_keys(%q: tensor<2x4x40x8xf32>, %k: tensor<2x2x40x8xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %one = "onnx.Constant"() {value = dense<[2, 2, 1, 40, 8]> : tensor<5xi64>} : () -> tensor<5xi64>
  %two = "onnx.Constant"() {value = dense<[1, 1, 2, 1, 1]> : tensor<5xi64>} : () -> tensor<5xi64>
  %all = "onnx.Constant"() {value = dense<[2, 4, 40, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %one) : (tensor<2x2x40x8xf32>, tensor<5xi64>) -> tensor<2x2x1x40x8xf32>
  %k2 = "onnx.Expand"(%k1, %two) : (tensor<2x2x1x40x8xf32>, tensor<5xi64>) -> tensor<2x2x2x40x8xf32>
  %k3 = "onnx.Reshape"(%k2, %all) : (tensor<2x2x2x40x8xf32>, tensor<4xi64>) -> tensor<2x4x40x8xf32>
  %kt = "onnx.Transpose"(%k3) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x40x8xf32>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// The last two axes change places between views that leave them alone; a view that cuts them otherwise is read as it is.
// CHECK-LABEL: @swapped
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2) <{{.*}}axesK = array<i64: 0, 1, 2, 3>
func.func @swapped(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x40x8xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %three = "onnx.Constant"() {value = dense<[8, 40, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %four = "onnx.Constant"() {value = dense<[2, 4, 8, 40]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %three) : (tensor<2x4x40x8xf32>, tensor<3xi64>) -> tensor<8x40x8xf32>
  %k2 = "onnx.Transpose"(%k1) <{perm = array<i64: 0, 2, 1>}> : (tensor<8x40x8xf32>) -> tensor<8x8x40xf32>
  %k3 = "onnx.Reshape"(%k2, %four) : (tensor<8x8x40xf32>, tensor<4xi64>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %k3) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// CHECK-LABEL: @cut_otherwise
// CHECK: %[[K:.*]] = "onnx.Reshape"{{.*}} -> tensor<2x4x8x40xf32>
// CHECK: "onnx.packed.Attention"(%arg0, %[[K]], %arg2)
func.func @cut_otherwise(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x40x8xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %three = "onnx.Constant"() {value = dense<[8, 20, 16]> : tensor<3xi64>} : () -> tensor<3xi64>
  %four = "onnx.Constant"() {value = dense<[2, 4, 8, 40]> : tensor<4xi64>} : () -> tensor<4xi64>
  %k1 = "onnx.Reshape"(%k, %three) : (tensor<2x4x40x8xf32>, tensor<3xi64>) -> tensor<8x20x16xf32>
  %k2 = "onnx.Transpose"(%k1) <{perm = array<i64: 0, 2, 1>}> : (tensor<8x20x16xf32>) -> tensor<8x16x20xf32>
  %k3 = "onnx.Reshape"(%k2, %four) : (tensor<8x16x20xf32>, tensor<4xi64>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %k3) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// A number scales queries or keys and is the attention's; one for each element of them is not, nor is what scales the values.
// CHECK-LABEL: @scales
// CHECK: %[[Q:.*]] = "onnx.Mul"(%arg0, %arg3)
// CHECK: %[[V:.*]] = "onnx.Mul"(%arg2,
// CHECK: "onnx.packed.Attention"(%[[Q]], %arg1, %[[V]]) <{{.*}}scale = 2.500000e-01
func.func @scales(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %each: tensor<8xf32>) -> tensor<2x4x40x8xf32> {
  %quarter = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %qs = "onnx.Mul"(%q, %each) : (tensor<2x4x40x8xf32>, tensor<8xf32>) -> tensor<2x4x40x8xf32>
  %ks = "onnx.Mul"(%k, %quarter) : (tensor<2x4x8x40xf32>, tensor<f32>) -> tensor<2x4x8x40xf32>
  %vs = "onnx.Mul"(%v, %quarter) : (tensor<2x4x40x8xf32>, tensor<f32>) -> tensor<2x4x40x8xf32>
  %s = "onnx.MatMul"(%qs, %ks) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %vs) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// One of three by its place is read there; a place that counts from the end is not.
// CHECK-LABEL: @places
// CHECK: %[[K:.*]] = "onnx.Gather"(%arg0,
// CHECK: "onnx.packed.Attention"(%arg0, %[[K]], %arg0) <{{.*}}atQ = array<i64: 1, 0, 0, 0, 0>, atV = array<i64: 2, 0, 0, 0, 0>
func.func @places(%x: tensor<3x2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %q = "onnx.Gather"(%x, %one) <{axis = 0 : i64}> : (tensor<3x2x4x40x8xf32>, tensor<i64>) -> tensor<2x4x40x8xf32>
  %k3 = "onnx.Gather"(%x, %last) <{axis = 0 : i64}> : (tensor<3x2x4x40x8xf32>, tensor<i64>) -> tensor<2x4x40x8xf32>
  %v = "onnx.Gather"(%x, %two) <{axis = 0 : i64}> : (tensor<3x2x4x40x8xf32>, tensor<i64>) -> tensor<2x4x40x8xf32>
  %kt = "onnx.Transpose"(%k3) <{perm = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x40x8xf32>) -> tensor<2x4x8x40xf32>
  %s = "onnx.MatMul"(%q, %kt) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}
