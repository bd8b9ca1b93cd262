// RUN: onnxc-opt %s --recognize | FileCheck %s

// CHECK-LABEL: @gelu
// CHECK-NEXT: %[[C:.*]] = "onnx.Gelu"(%arg0) <{approximate = "none"}>
// CHECK-NEXT: return %[[C]]
func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = "onnx.Constant"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %d = "onnx.Div"(%x, %r) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %e = "onnx.Erf"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Add"(%e, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = "onnx.Mul"(%m, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}

// Another factor under the error function is another function.
// CHECK-LABEL: @not_gelu
// CHECK: onnx.Erf
// CHECK-NOT: onnx.Gelu
// CHECK: return
func.func @not_gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = "onnx.Constant"() {value = dense<1.413> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %d = "onnx.Div"(%x, %r) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %e = "onnx.Erf"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Add"(%e, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %m = "onnx.Mul"(%x, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %g = "onnx.Mul"(%m, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}

// CHECK-LABEL: @swish
// CHECK: "onnx.Swish"(%arg0) <{alpha = 1.000000e+00 : f32}>
func.func @swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = "onnx.Sigmoid"(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Mul"(%x, %s) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: @layer
// CHECK: "onnx.LayerNormalization"(%arg0, %arg1, %arg2) <{axis = -1 : i64, epsilon = 9.99999974E-6 : f32
// CHECK-NOT: onnx.Sqrt
func.func @layer(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %q = "onnx.Mul"(%d, %d) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %n = "onnx.Div"(%d, %s) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %m = "onnx.Mul"(%n, %g) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Add"(%m, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// The variance is over another axis than the mean.
// CHECK-LABEL: @not_layer
// CHECK-NOT: Normalization
// CHECK: onnx.Div
func.func @not_layer(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %q = "onnx.Mul"(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = "onnx.ReduceMean"(%q, %first) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %n = "onnx.Div"(%d, %s) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

// CHECK-LABEL: @rms
// CHECK: "onnx.RMSNormalization"(%arg0, %arg1) <{axis = -1 : i64, epsilon = 9.99999997E-7 : f32
func.func @rms(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %eps = "onnx.Constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %q = "onnx.Pow"(%x, %two) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %i = "onnx.Div"(%one, %s) : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %n = "onnx.Mul"(%x, %i) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %r = "onnx.Mul"(%g, %n) : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: @tanh_gelu
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "tanh"}>
// CHECK-NOT: onnx.Tanh
func.func @tanh_gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %cubic = "onnx.Constant"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %root = "onnx.Constant"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %p = "onnx.Pow"(%x, %three) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %c = "onnx.Mul"(%p, %cubic) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %s = "onnx.Add"(%x, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = "onnx.Mul"(%s, %root) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t = "onnx.Tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %u = "onnx.Add"(%t, %one) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %h = "onnx.Mul"(%x, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %r = "onnx.Mul"(%h, %u) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: @gated_hard_swish
// CHECK: "onnx.HardSwish"(%arg0)
func.func @gated_hard_swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %h = "onnx.HardSigmoid"(%x) <{alpha = 0.166666672 : f32, beta = 5.0e-01 : f32}> : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Mul"(%x, %h) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// A slope of fewer digits is another one.
// CHECK-LABEL: @not_hard_swish
// CHECK-NOT: onnx.HardSwish
// CHECK: return
func.func @not_hard_swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %h = "onnx.HardSigmoid"(%x) <{alpha = 1.666e-01 : f32, beta = 5.0e-01 : f32}> : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Mul"(%x, %h) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// CHECK-LABEL: @hard_swish
// CHECK: "onnx.HardSwish"(%arg0)
// CHECK-NOT: onnx.Clip
func.func @hard_swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %six = "onnx.Constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Add"(%x, %three) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %c = "onnx.Clip"(%a, %zero, %six) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %m = "onnx.Mul"(%x, %c) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Div"(%m, %six) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// The ramp ends at 5.
// CHECK-LABEL: @nearly_hard_swish
// CHECK: onnx.Clip
// CHECK: onnx.Div
func.func @nearly_hard_swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %five = "onnx.Constant"() {value = dense<5.0> : tensor<f32>} : () -> tensor<f32>
  %six = "onnx.Constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Add"(%x, %three) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %c = "onnx.Clip"(%a, %zero, %five) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %m = "onnx.Mul"(%x, %c) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = "onnx.Div"(%m, %six) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// x (r g) + (b - mean (r g)), as TensorFlow writes a normalisation.
// CHECK-LABEL: @folded_layer
// CHECK: "onnx.LayerNormalization"(%arg0, %arg1, %arg2) <{axis = -1 : i64, epsilon = 9.99999974E-6 : f32
// CHECK-NOT: onnx.Sqrt
func.func @folded_layer(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %q = "onnx.Mul"(%d, %d) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %f = "onnx.Mul"(%r, %g) : (tensor<?x1xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %xf = "onnx.Mul"(%x, %f) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %mf = "onnx.Mul"(%mean, %f) : (tensor<?x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %shift = "onnx.Sub"(%b, %mf) : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Add"(%xf, %shift) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// A mean over images is a pooling; one that centres them stays.
// CHECK-LABEL: @mean_of_images
// CHECK: "onnx.GlobalAveragePool"(%arg0)
// CHECK: "onnx.ReduceMean"(%arg1
func.func @mean_of_images(%x: tensor<?x3x4x4xf32>, %c: tensor<?x3x4x4xf32>) -> (tensor<?x3x1x1xf32>, tensor<?x3x4x4xf32>) {
  %axes = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %m = "onnx.ReduceMean"(%x, %axes) : (tensor<?x3x4x4xf32>, tensor<2xi64>) -> tensor<?x3x1x1xf32>
  %n = "onnx.ReduceMean"(%c, %axes) : (tensor<?x3x4x4xf32>, tensor<2xi64>) -> tensor<?x3x1x1xf32>
  %d = "onnx.Sub"(%c, %n) : (tensor<?x3x4x4xf32>, tensor<?x3x1x1xf32>) -> tensor<?x3x4x4xf32>
  return %m, %d : tensor<?x3x1x1xf32>, tensor<?x3x4x4xf32>
}

// A bias with a size that only the run knows may broadcast: no operand of a normalisation.
// CHECK-LABEL: @biases_of_any_size
// CHECK: "onnx.Sqrt"
// CHECK: "onnx.LayerNormalization"(%arg0, %arg1)
// CHECK-NEXT: "onnx.Add"
func.func @biases_of_any_size(%x: tensor<?x?xf32>, %g: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %axes) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
  %q = "onnx.Mul"(%d, %d) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %f = "onnx.Mul"(%r, %g) : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %xf = "onnx.Mul"(%x, %f) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %mf = "onnx.Mul"(%mean, %f) : (tensor<?x1xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %shift = "onnx.Sub"(%b, %mf) : (tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = "onnx.Add"(%xf, %shift) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %n = "onnx.LayerNormalization"(%x, %g) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %z = "onnx.Add"(%n, %b) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %y, %z : tensor<?x?xf32>, tensor<?x?xf32>
}

// An epsilon of f64 has more digits than the attribute.
// CHECK-LABEL: @doubles
// CHECK: "onnx.Sqrt"
func.func @doubles(%x: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f64>} : () -> tensor<f64>
  %q = "onnx.Mul"(%x, %x) : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %v = "onnx.ReduceMean"(%q, %axes) : (tensor<?x8xf64>, tensor<1xi64>) -> tensor<?x1xf64>
  %e = "onnx.Add"(%v, %eps) : (tensor<?x1xf64>, tensor<f64>) -> tensor<?x1xf64>
  %s = "onnx.Sqrt"(%e) : (tensor<?x1xf64>) -> tensor<?x1xf64>
  %y = "onnx.Div"(%x, %s) : (tensor<?x8xf64>, tensor<?x1xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// TensorFlow's LayerNormalization takes rows for the channels of one image; the scale and bias behind it are its own.
// CHECK-LABEL: @statistics_of_rows
// CHECK: %[[N:.*]] = "onnx.LayerNormalization"(%arg0, %[[G:.*]], %[[G]]) <{axis = -1 : i64, epsilon = 1.000000e-03 : f32
// CHECK-NOT: onnx.BatchNormalization
// CHECK-NOT: onnx.Mul
// CHECK: return
func.func @statistics_of_rows(%x: tensor<?x4x8xf32>, %rows: tensor<1xi64>) -> tensor<?x4x8xf32> {
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %count = "onnx.Constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %axes = "onnx.Constant"() {value = dense<[0, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %wide = "onnx.Constant"() {value = dense<[1, -1, 8, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %back = "onnx.Constant"() {value = dense<[-1, 4, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %gamma = "onnx.Constant"() {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %ones = "onnx.Expand"(%one, %rows) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %zeros = "onnx.Expand"(%zero, %rows) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %i = "onnx.Reshape"(%x, %wide) : (tensor<?x4x8xf32>, tensor<4xi64>) -> tensor<1x?x8x1xf32>
  %m = "onnx.ReduceMean"(%i, %axes) : (tensor<1x?x8x1xf32>, tensor<3xi64>) -> tensor<1x?x1x1xf32>
  %c = "onnx.Sub"(%i, %m) : (tensor<1x?x8x1xf32>, tensor<1x?x1x1xf32>) -> tensor<1x?x8x1xf32>
  %q = "onnx.ReduceSumSquare"(%c, %axes) <{keepdims = 0 : i64}> : (tensor<1x?x8x1xf32>, tensor<3xi64>) -> tensor<?xf32>
  %mean = "onnx.Reshape"(%m, %flat) : (tensor<1x?x1x1xf32>, tensor<1xi64>) -> tensor<?xf32>
  %var = "onnx.Div"(%q, %count) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %n = "onnx.BatchNormalization"(%i, %ones, %zeros, %mean, %var) <{epsilon = 1.0e-3 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x?x8x1xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<1x?x8x1xf32>
  %r = "onnx.Reshape"(%n, %back) : (tensor<1x?x8x1xf32>, tensor<3xi64>) -> tensor<?x4x8xf32>
  %s = "onnx.Mul"(%r, %gamma) : (tensor<?x4x8xf32>, tensor<8xf32>) -> tensor<?x4x8xf32>
  %y = "onnx.Add"(%s, %gamma) : (tensor<?x4x8xf32>, tensor<8xf32>) -> tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// Means that another axis is centred by, squares over another count, or a count over squares, are none of a LayerNormalization.
// CHECK-LABEL: @other_statistics
// CHECK-COUNT-3: "onnx.BatchNormalization"
func.func @other_statistics(%x: tensor<8x8xf32>) -> (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>) {
  %ones = "onnx.Constant"() {value = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %zeros = "onnx.Constant"() {value = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %count = "onnx.Constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
  %seven = "onnx.Constant"() {value = dense<7.0> : tensor<f32>} : () -> tensor<f32>
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %wide = "onnx.Constant"() {value = dense<[1, 8, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %row = "onnx.Constant"() {value = dense<[1, 8]> : tensor<2xi64>} : () -> tensor<2xi64>
  %i = "onnx.Reshape"(%x, %wide) : (tensor<8x8xf32>, tensor<3xi64>) -> tensor<1x8x8xf32>
  %m = "onnx.ReduceMean"(%x, %axes) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %across = "onnx.Reshape"(%m, %row) : (tensor<8x1xf32>, tensor<2xi64>) -> tensor<1x8xf32>
  %mean = "onnx.Reshape"(%m, %flat) : (tensor<8x1xf32>, tensor<1xi64>) -> tensor<8xf32>
  %c = "onnx.Sub"(%x, %across) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %qc = "onnx.ReduceSumSquare"(%c, %axes) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %qd = "onnx.ReduceSumSquare"(%d, %axes) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %vc = "onnx.Div"(%qc, %count) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %vd = "onnx.Div"(%qd, %seven) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.BatchNormalization"(%i, %ones, %zeros, %mean, %vc) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8xf32>
  %z = "onnx.BatchNormalization"(%i, %ones, %zeros, %mean, %vd) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8xf32>
  %inverse = "onnx.Div"(%count, %qd) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %t = "onnx.BatchNormalization"(%i, %ones, %zeros, %mean, %inverse) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8xf32>
  return %y, %z, %t : tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1x8x8xf32>
}

// What a product's kernel can compute comes before the view that gives the product its shape.
// CHECK-LABEL: @bias_behind_a_view
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %arg1)
// CHECK: %[[A:.*]] = "onnx.Add"(%[[P]], %{{.*}}) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[A]]) : (tensor<?x4xf32>)
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[R]], %{{.*}}) {{.*}} -> tensor<?x3x4xf32>
// CHECK: return %[[V]]
func.func @bias_behind_a_view(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x3x4xf32> {
  %shape = "onnx.Constant"() {value = dense<[-1, 3, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %bias = "onnx.Constant"() {value = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>} : () -> tensor<1x1x4xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %v = "onnx.Reshape"(%p, %shape) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x3x4xf32>
  %a = "onnx.Add"(%v, %bias) : (tensor<?x3x4xf32>, tensor<1x1x4xf32>) -> tensor<?x3x4xf32>
  %r = "onnx.Relu"(%a) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return %r : tensor<?x3x4xf32>
}

// Along an axis that the view makes, from a view that others read, or of what no kernel computes with it: stays behind.
// CHECK-LABEL: @stays_behind_a_view
// CHECK: "onnx.Add"(%{{.*}}) : (tensor<2x3x4xf32>, tensor<3x1xf32>)
// CHECK: "onnx.Relu"(%{{.*}}) : (tensor<2x3x4xf32>)
// CHECK: "onnx.Neg"(%{{.*}}) : (tensor<2x3x4xf32>)
func.func @stays_behind_a_view(%x: tensor<6x8xf32>, %w: tensor<8x4xf32>, %z: tensor<6x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %shape = "onnx.Constant"() {value = dense<[2, 3, 4]> : tensor<3xi64>} : () -> tensor<3xi64>
  %bias = "onnx.Constant"() {value = dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %p = "onnx.MatMul"(%x, %w) : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %v = "onnx.Reshape"(%p, %shape) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %a = "onnx.Add"(%v, %bias) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %q = "onnx.MatMul"(%x, %w) : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %u = "onnx.Reshape"(%q, %shape) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %r = "onnx.Relu"(%u) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = "onnx.Reshape"(%z, %shape) : (tensor<6x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %n = "onnx.Neg"(%t) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %a, %u, %r, %n : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// The variance as the mean of squares less the square of the mean, as Flax writes it: kept from being negative, its axis put back, with the
// scale in the inverse deviation.
// CHECK-LABEL: @difference_of_moments
// CHECK: "onnx.LayerNormalization"(%arg0, %arg1, %arg2) <{axis = -1 : i64, epsilon = 9.99999974E-6 : f32
// CHECK-NOT: onnx.Sqrt
func.func @difference_of_moments(%x: tensor<?x7x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x7x8xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %axes) <{keepdims = 0 : i64}> : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7xf32>
  %q = "onnx.Mul"(%x, %x) : (tensor<?x7x8xf32>, tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %m2 = "onnx.ReduceMean"(%q, %axes) <{keepdims = 0 : i64}> : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7xf32>
  %mm = "onnx.Mul"(%mean, %mean) : (tensor<?x7xf32>, tensor<?x7xf32>) -> tensor<?x7xf32>
  %v = "onnx.Sub"(%m2, %mm) : (tensor<?x7xf32>, tensor<?x7xf32>) -> tensor<?x7xf32>
  %v0 = "onnx.Max"(%zero, %v) : (tensor<f32>, tensor<?x7xf32>) -> tensor<?x7xf32>
  %vk = "onnx.Unsqueeze"(%v0, %axes) : (tensor<?x7xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %mk = "onnx.Unsqueeze"(%mean, %axes) : (tensor<?x7xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %d = "onnx.Sub"(%x, %mk) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %e = "onnx.Add"(%vk, %eps) : (tensor<?x7x1xf32>, tensor<f32>) -> tensor<?x7x1xf32>
  %s = "onnx.Sqrt"(%e) : (tensor<?x7x1xf32>) -> tensor<?x7x1xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<?x7x1xf32>) -> tensor<?x7x1xf32>
  %f = "onnx.Mul"(%r, %g) : (tensor<?x7x1xf32>, tensor<8xf32>) -> tensor<?x7x8xf32>
  %n = "onnx.Mul"(%d, %f) : (tensor<?x7x8xf32>, tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %y = "onnx.Add"(%n, %b) : (tensor<?x7x8xf32>, tensor<8xf32>) -> tensor<?x7x8xf32>
  return %y : tensor<?x7x8xf32>
}

// The square of another's mean, of a mean over another axis, more than 0 at least, and what is over the deviation uncentred.
// CHECK-LABEL: @other_moments
// CHECK-COUNT-4: "onnx.Sqrt"
// CHECK-NOT: Normalization
// CHECK: return
func.func @other_moments(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-5> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %mean = "onnx.ReduceMean"(%x, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %other = "onnx.ReduceMean"(%z, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %down = "onnx.ReduceMean"(%x, %first) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %q = "onnx.Mul"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m2 = "onnx.ReduceMean"(%q, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %d = "onnx.Sub"(%x, %mean) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %o2 = "onnx.Mul"(%other, %other) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %v0 = "onnx.Sub"(%m2, %o2) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %e0 = "onnx.Add"(%v0, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %s0 = "onnx.Sqrt"(%e0) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %0 = "onnx.Div"(%d, %s0) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %down2 = "onnx.Mul"(%down, %down) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %v1 = "onnx.Sub"(%m2, %down2) : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %e1 = "onnx.Add"(%v1, %eps) : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %s1 = "onnx.Sqrt"(%e1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "onnx.Div"(%d, %s1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm = "onnx.Mul"(%mean, %mean) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %v2 = "onnx.Sub"(%m2, %mm) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %c2 = "onnx.Max"(%v2, %half) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %e2 = "onnx.Add"(%c2, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %s2 = "onnx.Sqrt"(%e2) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %2 = "onnx.Div"(%d, %s2) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %e3 = "onnx.Add"(%v2, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %s3 = "onnx.Sqrt"(%e3) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %3 = "onnx.Div"(%x, %s3) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
