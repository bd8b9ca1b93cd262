// RUN: onnxc-opt %s --recognize --split-input-file | FileCheck %s

// Pieces that are nearly an activation or a normalisation, beside those that are.

// 1 - Erf(-x / sqrt(2)) is 1 + Erf(x / sqrt(2)), and 0.044715 may be among the factors of the cube.
// CHECK-LABEL: @other_spellings
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "none"}>
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "tanh"}>
func.func @other_spellings(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %r = "onnx.Constant"() {value = dense<0.707106769> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %cubic = "onnx.Constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %root = "onnx.Constant"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %n = "onnx.Neg"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = "onnx.Mul"(%n, %r) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %e = "onnx.Erf"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Sub"(%one, %e) : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = "onnx.Mul"(%m, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %c = "onnx.Mul"(%x, %cubic) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %c2 = "onnx.Mul"(%c, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %c3 = "onnx.Mul"(%c2, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = "onnx.Add"(%x, %c3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = "onnx.Mul"(%s, %root) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t = "onnx.Tanh"(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u = "onnx.Add"(%t, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %h = "onnx.Mul"(%x, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = "onnx.Mul"(%h, %u) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %g, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Another number than 1 beside Erf, than a half before it, than 0.044715 before the cube, or a square for the cube.
// CHECK-LABEL: @nearly_gelu
// CHECK-NOT: onnx.Gelu
// CHECK: return
func.func @nearly_gelu(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %r = "onnx.Constant"() {value = dense<0.707106769> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %more = "onnx.Constant"() {value = dense<1.001> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %less = "onnx.Constant"() {value = dense<0.499> : tensor<f32>} : () -> tensor<f32>
  %cubic = "onnx.Constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %other = "onnx.Constant"() {value = dense<0.0447> : tensor<f32>} : () -> tensor<f32>
  %root = "onnx.Constant"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %d = "onnx.Mul"(%x, %r) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %e = "onnx.Erf"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Add"(%e, %more) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = "onnx.Mul"(%m, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = "onnx.Add"(%e, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %n = "onnx.Mul"(%x, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "onnx.Mul"(%n, %less) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %h = "onnx.Mul"(%x, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %p3 = "onnx.Pow"(%x, %three) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %c3 = "onnx.Mul"(%p3, %other) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %s3 = "onnx.Add"(%x, %c3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q3 = "onnx.Mul"(%s3, %root) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t3 = "onnx.Tanh"(%q3) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u3 = "onnx.Add"(%t3, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = "onnx.Mul"(%h, %u3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %k = "onnx.Mul"(%x, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %p2 = "onnx.Pow"(%x, %two) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %c2 = "onnx.Mul"(%p2, %cubic) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %s2 = "onnx.Add"(%x, %c2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q2 = "onnx.Mul"(%s2, %root) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t2 = "onnx.Tanh"(%q2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u2 = "onnx.Add"(%t2, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = "onnx.Mul"(%k, %u2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Any factor under the sigmoid is Swish's; the gate of another value, or one that is spread, is none.
// CHECK-LABEL: @gates
// CHECK: "onnx.Swish"(%arg0) <{alpha = 1.702000e+00 : f32}>
// CHECK: "onnx.Mul"(%arg1, %{{.*}})
// CHECK: "onnx.Mul"(%arg2, %{{.*}}) : (tensor<1x8xf32>, tensor<4x8xf32>)
func.func @gates(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %row: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %f = "onnx.Constant"() {value = dense<1.702> : tensor<f32>} : () -> tensor<f32>
  %ones = "onnx.Constant"() {value = dense<1.0> : tensor<4x1xf32>} : () -> tensor<4x1xf32>
  %m = "onnx.Mul"(%x, %f) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %s = "onnx.Sigmoid"(%m) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = "onnx.Mul"(%x, %s) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = "onnx.Sigmoid"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "onnx.Mul"(%z, %t) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %w = "onnx.Mul"(%row, %ones) : (tensor<1x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %u = "onnx.Sigmoid"(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Mul"(%row, %u) : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Ramps that begin or end elsewhere, that are open, or that are not over 6.
// CHECK-LABEL: @other_ramps
// CHECK-NOT: onnx.HardSwish
// CHECK: return
func.func @other_ramps(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "onnx.Constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %seven = "onnx.Constant"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Add"(%x, %three) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %b = "onnx.Add"(%x, %two) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %c0 = "onnx.Clip"(%a, %one, %six) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %c1 = "onnx.Clip"(%b, %zero, %six) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %c2 = "onnx.Clip"(%a, %zero) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %c3 = "onnx.Clip"(%a, %zero, %six) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %m0 = "onnx.Mul"(%x, %c0) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %m1 = "onnx.Mul"(%x, %c1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %m2 = "onnx.Mul"(%x, %c2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %m3 = "onnx.Mul"(%x, %c3) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = "onnx.Div"(%m0, %six) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %1 = "onnx.Div"(%m1, %six) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %2 = "onnx.Div"(%m2, %six) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %3 = "onnx.Div"(%m3, %seven) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %0, %1, %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// A number as large as 0.1 is no epsilon, and neither is one below 0.
// CHECK-LABEL: @epsilons
// CHECK: onnx.RMSNormalization
// CHECK-COUNT-2: "onnx.Sqrt"
// CHECK-NOT: onnx.RMSNormalization
// CHECK: return
func.func @epsilons(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %small = "onnx.Constant"() {value = dense<0.09> : tensor<f32>} : () -> tensor<f32>
  %large = "onnx.Constant"() {value = dense<0.11> : tensor<f32>} : () -> tensor<f32>
  %below = "onnx.Constant"() {value = dense<-1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %q = "onnx.Mul"(%x, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e0 = "onnx.Add"(%v, %small) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %e1 = "onnx.Add"(%v, %large) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %e2 = "onnx.Add"(%v, %below) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s0 = "onnx.Sqrt"(%e0) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %0 = "onnx.Div"(%x, %s0) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %s1 = "onnx.Sqrt"(%e1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %1 = "onnx.Div"(%x, %s1) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %s2 = "onnx.Sqrt"(%e2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = "onnx.Div"(%x, %s2) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// The last axes in any order are normalised over; not a mean without its axis, over other axes, or of sizes of the run.
// CHECK-LABEL: @axes
// CHECK: "onnx.RMSNormalization"(%arg0, %{{.*}}) <{axis = -2
// CHECK-COUNT-3: "onnx.Sqrt"
// CHECK-NOT: onnx.RMSNormalization
// CHECK: return
func.func @axes(%x: tensor<2x4x8xf32>, %y: tensor<8x8xf32>, %z: tensor<2x?xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<2x?xf32>) {
  %two = "onnx.Constant"() {value = dense<[-1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %first = "onnx.Constant"() {value = dense<[0, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %q = "onnx.Mul"(%x, %x) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %v0 = "onnx.ReduceMean"(%q, %two) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
  %e0 = "onnx.Add"(%v0, %eps) : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %s0 = "onnx.Sqrt"(%e0) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %0 = "onnx.Div"(%x, %s0) : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %v1 = "onnx.ReduceMean"(%q, %first) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  %e1 = "onnx.Add"(%v1, %eps) : (tensor<1x4x1xf32>, tensor<f32>) -> tensor<1x4x1xf32>
  %s1 = "onnx.Sqrt"(%e1) : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %1 = "onnx.Div"(%x, %s1) : (tensor<2x4x8xf32>, tensor<1x4x1xf32>) -> tensor<2x4x8xf32>
  %p = "onnx.Mul"(%y, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v2 = "onnx.ReduceMean"(%p, %last) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %e2 = "onnx.Add"(%v2, %eps) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %s2 = "onnx.Sqrt"(%e2) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Div"(%y, %s2) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %o = "onnx.Mul"(%z, %z) : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %v3 = "onnx.ReduceMean"(%o, %last) : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %e3 = "onnx.Add"(%v3, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s3 = "onnx.Sqrt"(%e3) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %3 = "onnx.Div"(%z, %s3) : (tensor<2x?xf32>, tensor<2x1xf32>) -> tensor<2x?xf32>
  return %0, %1, %2, %3 : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<8x8xf32>, tensor<2x?xf32>
}

// -----

// A scale of one number for each row, or of a normalisation that others read, stays behind it.
// CHECK-LABEL: @scales
// CHECK: "onnx.RMSNormalization"
// CHECK: %[[A:.*]] = "onnx.Mul"({{.*}} tensor<4x1xf32>
// CHECK: %[[N:.*]] = "onnx.RMSNormalization"
// CHECK: %[[B:.*]] = "onnx.Mul"(%[[N]], %arg2)
// CHECK: return %[[A]], %[[N]], %[[B]]
func.func @scales(%x: tensor<4x8xf32>, %rows: tensor<4x1xf32>, %g: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %m = "onnx.RMSNormalization"(%x, %one) <{axis = -1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Mul"(%m, %rows) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %n = "onnx.RMSNormalization"(%x, %one) <{axis = -1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %b = "onnx.Mul"(%n, %g) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %a, %n, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Means of images over channels, or over two of three axes of pixels, are no pooling.
// CHECK-LABEL: @other_means
// CHECK-NOT: onnx.GlobalAveragePool
// CHECK: return
func.func @other_means(%x: tensor<2x3x4x4xf32>, %v: tensor<2x3x4x4x4xf32>) -> (tensor<2x1x1x4xf32>, tensor<2x3x4x1x1xf32>) {
  %a = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %b = "onnx.Constant"() {value = dense<[3, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %m = "onnx.ReduceMean"(%x, %a) : (tensor<2x3x4x4xf32>, tensor<2xi64>) -> tensor<2x1x1x4xf32>
  %n = "onnx.ReduceMean"(%v, %b) : (tensor<2x3x4x4x4xf32>, tensor<2xi64>) -> tensor<2x3x4x1x1xf32>
  return %m, %n : tensor<2x1x1x4xf32>, tensor<2x3x4x1x1xf32>
}

// -----

// A bias that only the run knows, of a size that it may broadcast: not of LayerNormalization, though the scale would be.
// CHECK-LABEL: @folded_bias_of_the_run
// CHECK-NOT: onnx.LayerNormalization
// CHECK: return
func.func @folded_bias_of_the_run(%x: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %g = "onnx.Constant"() {value = dense<2.0> : tensor<1x8xf32>} : () -> tensor<1x8xf32>
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %q = "onnx.Mul"(%d, %d) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %f = "onnx.Mul"(%r, %g) : (tensor<?x1xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  %xf = "onnx.Mul"(%x, %f) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %mf = "onnx.Mul"(%mean, %f) : (tensor<?x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %shift = "onnx.Sub"(%b, %mf) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Add"(%xf, %shift) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
