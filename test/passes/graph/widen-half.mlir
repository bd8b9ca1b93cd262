// RUN: onnxc-opt %s --widen-half --split-input-file | FileCheck %s

// Between two ops nothing is rounded; weights are f32 at once.
// CHECK-LABEL: @chain
// CHECK-DAG: %[[X:.*]] = "onnx.Cast"(%arg0) {{.*}} -> tensor<2x2xf32>
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}5.000000e-01, 1.500000e+00{{.*}}> : tensor<2x2xf32>}>
// CHECK: %[[Y:.*]] = "onnx.MatMul"(%[[X]], %[[W]]) :
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[Y]])
// CHECK: %[[H:.*]] = "onnx.Cast"(%[[R]]) {{.*}}to = 10{{.*}} -> tensor<2x2xf16>
// CHECK: return %[[H]]
func.func @chain(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %w = "onnx.Constant"() {value = dense<[[0.5, 1.5], [2.0, -1.0]]> : tensor<2x2xf16>} : () -> tensor<2x2xf16>
  %y = "onnx.MatMul"(%x, %w) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %r = "onnx.Relu"(%y) : (tensor<2x2xf16>) -> tensor<2x2xf16>
  return %r : tensor<2x2xf16>
}

// -----

// A cast of the model keeps its rounding; a table stays small.
// CHECK-LABEL: @stays
// CHECK: %[[T:.*]] = "onnx.Constant"() {{.*}}tensor<3x2xbf16>
// CHECK: %[[G:.*]] = "onnx.Gather"(%[[T]], %arg1) {{.*}} -> tensor<4x2xbf16>
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[G]]) {{.*}} -> tensor<4x2xf32>
// CHECK: %[[C:.*]] = "onnx.Cast"(%arg0) {{.*}} -> tensor<4x2xbf16>
// CHECK: %[[D:.*]] = "onnx.Cast"(%[[C]]) {{.*}} -> tensor<4x2xf32>
// CHECK: "onnx.Add"(%[[F]], %[[D]]) {{.*}} -> tensor<4x2xf32>
func.func @stays(%x: tensor<4x2xf32>, %i: tensor<4xi64>) -> tensor<4x2xbf16> {
  %t = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xbf16>} : () -> tensor<3x2xbf16>
  %g = "onnx.Gather"(%t, %i) : (tensor<3x2xbf16>, tensor<4xi64>) -> tensor<4x2xbf16>
  %c = "onnx.Cast"(%x) {to = 16 : i64} : (tensor<4x2xf32>) -> tensor<4x2xbf16>
  %s = "onnx.Add"(%g, %c) : (tensor<4x2xbf16>, tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %s : tensor<4x2xbf16>
}

// -----

// Halves that are given are moved as they are; what was computed is f32 already.
// CHECK-LABEL: @moved
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0) {{.*}} -> tensor<3x2xf16>
// CHECK: %[[W:.*]] = "onnx.Cast"(%[[T]]) {{.*}} -> tensor<3x2xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[W]])
// CHECK: "onnx.Transpose"(%[[R]]) {{.*}} -> tensor<2x3xf32>
func.func @moved(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %t = "onnx.Transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xf16>) -> tensor<3x2xf16>
  %r = "onnx.Relu"(%t) : (tensor<3x2xf16>) -> tensor<3x2xf16>
  %y = "onnx.Transpose"(%r) {perm = array<i64: 1, 0>} : (tensor<3x2xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}

// -----

// A result that is cast to f32 is not rounded before.
// CHECK-LABEL: @unrounded
// CHECK: %[[R:.*]] = "onnx.Relu"
// CHECK-NEXT: return %[[R]] : tensor<2xf32>
func.func @unrounded(%x: tensor<2xf16>) -> tensor<2xf32> {
  %r = "onnx.Relu"(%x) : (tensor<2xf16>) -> tensor<2xf16>
  %y = "onnx.Cast"(%r) {to = 1 : i64} : (tensor<2xf16>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// One that is cast to something else is.
// CHECK-LABEL: @rounded
// CHECK: %[[R:.*]] = "onnx.Relu"({{.*}} -> tensor<2xf32>
// CHECK: %[[H:.*]] = "onnx.Cast"(%[[R]]) {{.*}} -> tensor<2xf16>
// CHECK: "onnx.Cast"(%[[H]]) {{.*}} -> tensor<2xf64>
// CHECK: "onnx.Cast"(%{{.*}}) {{.*}}(tensor<2xf16>) -> tensor<2xi32>
func.func @rounded(%x: tensor<2xf16>) -> (tensor<2xf64>, tensor<2xi32>) {
  %r = "onnx.Relu"(%x) : (tensor<2xf16>) -> tensor<2xf16>
  %y = "onnx.Cast"(%r) {to = 11 : i64} : (tensor<2xf16>) -> tensor<2xf64>
  %z = "onnx.Cast"(%r) {to = 6 : i64} : (tensor<2xf16>) -> tensor<2xi32>
  return %y, %z : tensor<2xf64>, tensor<2xi32>
}

// -----

// What a body yields keeps its type.
// CHECK-LABEL: @body
// CHECK: %[[N:.*]] = "onnx.Cast"(%{{.*}}) {{.*}}to = 10
// CHECK: "onnx.Yield"(%[[N]]) : (tensor<2xf16>)
func.func @body(%c: tensor<i1>, %x: tensor<2xf16>) -> tensor<2xf16> {
  %y = "onnx.If"(%c) ({
    %r = "onnx.Relu"(%x) : (tensor<2xf16>) -> tensor<2xf16>
    "onnx.Yield"(%r) : (tensor<2xf16>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2xf16>) -> ()
  }) : (tensor<i1>) -> tensor<2xf16>
  return %y : tensor<2xf16>
}

// -----

// What goes into a container or comes out of one keeps its type, and so does what a user's operator gets.
// CHECK-LABEL: @containers
// CHECK: "onnx.SplitToSequence"(%arg0, %arg1) {{.*}}(tensor<4x2xf16>, tensor<i64>) -> !onnx.seq<tensor<?x2xf16>>
// CHECK: "onnx.ConcatFromSequence"({{.*}} -> tensor<?x2xf16>
func.func @containers(%x: tensor<4x2xf16>, %n: tensor<i64>) -> tensor<?x2xf16> {
  %s = "onnx.SplitToSequence"(%x, %n) {axis = 0 : i64} : (tensor<4x2xf16>, tensor<i64>) -> !onnx.seq<tensor<?x2xf16>>
  %y = "onnx.ConcatFromSequence"(%s) {axis = 0 : i64} : (!onnx.seq<tensor<?x2xf16>>) -> tensor<?x2xf16>
  return %y : tensor<?x2xf16>
}

// -----

// Rows of a product that are bf16 in the model are marked.
// CHECK-LABEL: @rows
// CHECK: "onnx.Add"
// CHECK: "onnx.MatMul"{{.*}} {onnxc.bf16_rows} : (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: "onnx.Gemm"{{.*}} {onnxc.bf16_rows} : (tensor<2x2xf32>, tensor<2x2xf32>)
func.func @rows(%x: tensor<2x2xbf16>, %w: tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  %s = "onnx.Add"(%x, %x) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %y = "onnx.MatMul"(%s, %w) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %z = "onnx.Gemm"(%y, %w) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  return %z : tensor<2x2xbf16>
}
