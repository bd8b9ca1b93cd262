// RUN: onnxc-opt %s --simplify --split-input-file | FileCheck %s

// Scale 2 / sqrt(3 + 1) = 1 on channel 0, 6 / 2 = 3 on channel 1; offset bias - mean * scale.
// CHECK-LABEL: @normalisation
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}6.000000e+00]]]]> : tensor<2x1x1x1xf32>}>
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<[9.500000e+00, -2.900000e+01]> : tensor<2xf32>}>
// CHECK: "onnx.Conv"(%arg0, %[[W]], %[[B]])
// CHECK-NOT: onnx.BatchNormalization
func.func @normalisation(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<[2.0, 6.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "onnx.Constant"() {value = dense<[10.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %m = "onnx.Constant"() {value = dense<[0.5, 10.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %v = "onnx.Constant"() {value = dense<3.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %r = "onnx.BatchNormalization"(%c, %s, %b, %m, %v) <{epsilon = 1.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// A convolution with another use keeps its weights.
// CHECK-LABEL: @shared
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<2.0> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %r = "onnx.Mul"(%c, %s) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %c, %r : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// CHECK-LABEL: @transposes
// CHECK-NEXT: return %arg0
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = "onnx.Transpose"(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %b = "onnx.Transpose"(%a) {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %b : tensor<2x3x4xf32>
}

// CHECK-LABEL: @constant_transpose
// CHECK: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
func.func @constant_transpose() -> tensor<3x2xi32> {
  %c = "onnx.Constant"() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %t = "onnx.Transpose"(%c) {perm = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %t : tensor<3x2xi32>
}

// A sum with +0.0 turns -0.0 into 0.0, with -0.0 it changes nothing.
// CHECK-LABEL: @zeros
// CHECK: onnx.Add
// CHECK-NOT: onnx.Add
// CHECK: return
func.func @zeros(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %n = "onnx.Constant"() {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Add"(%x, %p) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %b = "onnx.Add"(%x, %n) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @casts
// CHECK-NEXT: %[[N:.*]] = "onnx.Cast"
// CHECK-NEXT: "onnx.Cast"(%[[N]])
// CHECK-NEXT: return %arg0
func.func @casts(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %w = "onnx.Cast"(%x) {to = 7 : i64} : (tensor<2xi32>) -> tensor<2xi64>
  %a = "onnx.Cast"(%w) {to = 6 : i64} : (tensor<2xi64>) -> tensor<2xi32>
  %n = "onnx.Cast"(%x) {to = 3 : i64} : (tensor<2xi32>) -> tensor<2xi8>
  %b = "onnx.Cast"(%n) {to = 6 : i64} : (tensor<2xi8>) -> tensor<2xi32>
  return %a, %b : tensor<2xi32>, tensor<2xi32>
}

// -----

// CHECK-LABEL: @expanded_splat
// CHECK: "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<32xf32>}>
// CHECK-NOT: onnx.Expand
func.func @expanded_splat() -> tensor<32xf32> {
  %v = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.Constant"() {value = dense<32> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.Expand"(%v, %s) : (tensor<f32>, tensor<1xi64>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

// Dropout is nothing at inference; one that may train stays.
// CHECK-LABEL: @dropout
// CHECK-NEXT: %[[D:.*]], %mask = "onnx.Dropout"(%arg0, %arg1)
// CHECK-NEXT: return %arg0, %[[D]]
func.func @dropout(%x: tensor<2x3xf32>, %t: tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a, %m = "onnx.Dropout"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1>}>
      : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  %b, %n = "onnx.Dropout"(%x, %t) <{operandSegmentSizes = array<i32: 1, 0, 1>, resultSegmentSizes = array<i32: 1, 1>}>
      : (tensor<2x3xf32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @views
// CHECK: %[[S:.*]] = "onnx.Constant"() <{value = dense<[3, 8]> : tensor<2xi64>}>
// CHECK-NEXT: %[[R:.*]] = "onnx.Reshape"(%arg0, %[[S]])
// CHECK-NEXT: return %[[R]]
func.func @views(%x: tensor<2x3x4xf32>) -> tensor<3x8xf32> {
  %a = "onnx.Flatten"(%x) <{axis = 2 : i64}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %s = "onnx.Constant"() {value = dense<[3, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %b = "onnx.Reshape"(%a, %s) : (tensor<6x4xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  return %b : tensor<3x8xf32>
}

// -----

// A size that the second view copies from the first one is not known.
// CHECK-LABEL: @copied_size
// CHECK: onnx.Flatten
// CHECK: onnx.Reshape
func.func @copied_size(%x: tensor<?x3x4xf32>) -> tensor<?x4x1xf32> {
  %a = "onnx.Flatten"(%x) <{axis = 2 : i64}> : (tensor<?x3x4xf32>) -> tensor<?x4xf32>
  %s = "onnx.Constant"() {value = dense<[0, 4, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %b = "onnx.Reshape"(%a, %s) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x4x1xf32>
  return %b : tensor<?x4x1xf32>
}

// -----

// Sizes of the run, none of which are copied, are sizes of any view; others may be copied from the first one.
// CHECK-LABEL: @sizes_of_the_run
// CHECK: "onnx.Reshape"(%arg0, %arg1) <{allowzero = 1 : i64}>
// CHECK-NEXT: return
// CHECK-LABEL: @sizes_that_may_be_copied
// CHECK: onnx.Reshape
// CHECK: onnx.Reshape
func.func @sizes_of_the_run(%x: tensor<?x?xf32>, %s: tensor<3xi64>) -> tensor<?x?x?xf32> {
  %t = "onnx.Constant"() {value = dense<[-1]> : tensor<1xi64>} : () -> tensor<1xi64>
  %a = "onnx.Reshape"(%x, %t) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %b = "onnx.Reshape"(%a, %s) {allowzero = 1 : i64} : (tensor<?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %b : tensor<?x?x?xf32>
}
func.func @sizes_that_may_be_copied(%x: tensor<?x?xf32>, %s: tensor<3xi64>) -> tensor<?x?x?xf32> {
  %t = "onnx.Constant"() {value = dense<[-1]> : tensor<1xi64>} : () -> tensor<1xi64>
  %a = "onnx.Reshape"(%x, %t) : (tensor<?x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %b = "onnx.Reshape"(%a, %s) : (tensor<?xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  return %b : tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: @view_of_constant
// CHECK-NEXT: "onnx.Constant"() <{value = dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>}>
// CHECK-NEXT: return
func.func @view_of_constant() -> tensor<2x2xi32> {
  %c = "onnx.Constant"() {value = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %s = "onnx.Constant"() {value = dense<2> : tensor<2xi64>} : () -> tensor<2xi64>
  %v = "onnx.Reshape"(%c, %s) : (tensor<4xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  return %v : tensor<2x2xi32>
}

// -----

// A transposition that moves nothing but axes of size 1 is a view; another one is not.
// CHECK-LABEL: @transposes_of_ones
// CHECK: onnx.Reshape
// CHECK: onnx.Transpose
// CHECK-NOT: onnx.Transpose
func.func @transposes_of_ones(%x: tensor<2x1x3xf32>) -> (tensor<1x2x3xf32>, tensor<3x1x2xf32>) {
  %a = "onnx.Transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x1x3xf32>) -> tensor<1x2x3xf32>
  %b = "onnx.Transpose"(%x) {perm = array<i64: 2, 1, 0>} : (tensor<2x1x3xf32>) -> tensor<3x1x2xf32>
  return %a, %b : tensor<1x2x3xf32>, tensor<3x1x2xf32>
}

// -----

// Zeros around the images become the convolution's own padding; another value does not.
// CHECK-LABEL: @padded
// CHECK: "onnx.Conv"(%arg0, {{.*}}pads = array<i64: 1, 2, 1, 2>
// CHECK: onnx.Pad
// CHECK: onnx.Conv
func.func @padded(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> (tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>) {
  %p = "onnx.Constant"() {value = dense<[0, 0, 1, 2, 0, 0, 1, 2]> : tensor<8xi64>} : () -> tensor<8xi64>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Pad"(%x, %p) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}>
      : (tensor<1x1x4x4xf32>, tensor<8xi64>) -> tensor<1x1x6x8xf32>
  %b = "onnx.Conv"(%a, %w) : (tensor<1x1x6x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x6xf32>
  %c = "onnx.Pad"(%x, %p, %one) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
      : (tensor<1x1x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x1x6x8xf32>
  %d = "onnx.Conv"(%c, %w) : (tensor<1x1x6x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x6xf32>
  return %b, %d : tensor<1x2x4x6xf32>, tensor<1x2x4x6xf32>
}

// -----

// A square is a product; an exponent of another type becomes a float.
// CHECK-LABEL: @powers
// CHECK: dense<3.000000e+00> : tensor<f32>
// CHECK: "onnx.Mul"(%arg0, %arg0)
// CHECK: "onnx.Pow"{{.*}} : (tensor<?x3xf32>, tensor<f32>)
func.func @powers(%x: tensor<?x3xf64>, %y: tensor<?x3xf32>) -> (tensor<?x3xf64>, tensor<?x3xf32>) {
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f64>} : () -> tensor<f64>
  %three = "onnx.Constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %a = "onnx.Pow"(%x, %two) : (tensor<?x3xf64>, tensor<f64>) -> tensor<?x3xf64>
  %b = "onnx.Pow"(%y, %three) : (tensor<?x3xf32>, tensor<i64>) -> tensor<?x3xf32>
  return %a, %b : tensor<?x3xf64>, tensor<?x3xf32>
}

// -----

// What is one number everywhere is a constant like a stored one: weights take up what comes after, and can be packed. Large fills stay.
// CHECK-LABEL: @filled
// CHECK: "onnx.Constant"() <{value = dense<2.0{{.*}}> : tensor<2x3x1x1xf32>}>
// CHECK-NOT: onnx.ConstantOfShape
// CHECK: onnx.Conv
// CHECK-NOT: onnx.BatchNormalization
// CHECK-NOT: onnx.Mul
// CHECK: "onnx.ConstantOfShape"
func.func @filled(%x: tensor<1x3x2x2xf32>, %y: tensor<64x65xf32>) -> (tensor<1x2x2x2xf32>, tensor<64x65xf32>) {
  %s = "onnx.Constant"() {value = dense<[2, 3, 1, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %n = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %w = "onnx.ConstantOfShape"(%s) <{value = dense<0.5> : tensor<1xf32>}> : (tensor<4xi64>) -> tensor<2x3x1x1xf32>
  %v = "onnx.ConstantOfShape"(%n) <{value = dense<4.0> : tensor<1xf32>}> : (tensor<1xi64>) -> tensor<2xf32>
  %z = "onnx.ConstantOfShape"(%n) : (tensor<1xi64>) -> tensor<2xf32>
  %one = "onnx.ConstantOfShape"(%n) <{value = dense<1.0> : tensor<1xf32>}> : (tensor<1xi64>) -> tensor<2xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x3x2x2xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x2x2xf32>
  %r = "onnx.BatchNormalization"(%c, %v, %z, %z, %one) <{epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %axes = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %u = "onnx.Unsqueeze"(%one, %axes) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
  %m = "onnx.Mul"(%r, %u) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %big = "onnx.Constant"() {value = dense<[64, 65]> : tensor<2xi64>} : () -> tensor<2xi64>
  %f = "onnx.ConstantOfShape"(%big) : (tensor<2xi64>) -> tensor<64x65xf32>
  %a = "onnx.Sub"(%y, %f) : (tensor<64x65xf32>, tensor<64x65xf32>) -> tensor<64x65xf32>
  return %m, %a : tensor<1x2x2x2xf32>, tensor<64x65xf32>
}

// -----

// Sums are additions from left to right; one of several shapes stays as it is.
// CHECK-LABEL: @sums
// CHECK: %[[A:.*]] = "onnx.Add"(%arg0, %arg1)
// CHECK: %[[B:.*]] = "onnx.Add"(%[[A]], %arg0)
// CHECK: %[[C:.*]] = "onnx.Add"(%[[B]], %arg2)
// CHECK: %[[D:.*]] = "onnx.Sum"(%[[C]], %arg2, %arg2)
// CHECK: return %[[D]]
func.func @sums(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<3xf32>) -> tensor<2x3xf32> {
  %a = "onnx.Sum"(%x, %y, %x) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "onnx.Sum"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "onnx.Sum"(%b, %z) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %d = "onnx.Sum"(%c, %z, %z) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %d : tensor<2x3xf32>
}

// -----

// A sum of infinities is no multiple of a sum.
// CHECK-LABEL: @infinite_scale
// CHECK: onnx.Conv
// CHECK: onnx.Mul
func.func @infinite_scale(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[0.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %s = "onnx.Constant"() {value = dense<0x7F800000> : tensor<f32>} : () -> tensor<f32>
  %r = "onnx.Mul"(%c, %s) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// A Resize to the same sizes is its operand.
// CHECK-LABEL: @same_size
// CHECK-NEXT: return %arg0
func.func @same_size(%x: tensor<?x3x4x5xf32>) -> tensor<?x3x4x5xf32> {
  %scales = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = "onnx.Resize"(%x, %scales) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<?x3x4x5xf32>, tensor<4xf32>) -> tensor<?x3x4x5xf32>
  return %y : tensor<?x3x4x5xf32>
}

// A normalisation that no weights can take is a product and a sum; a mean of many deviations is subtracted first.
// CHECK-LABEL: @scaled
// CHECK: %[[M:.*]] = "onnx.Mul"(%arg0, %{{.*}}) : (tensor<?x2xf32>, tensor<2xf32>)
// CHECK: %[[A:.*]] = "onnx.Add"(%[[M]]
// CHECK: %[[S:.*]] = "onnx.Sub"(%[[A]]
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[S]]
// CHECK: "onnx.Add"(%[[P]]
func.func @scaled(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %one = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %far = "onnx.Constant"() {value = dense<[3.0, 2000.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.BatchNormalization"(%x, %one, %one, %one, %one) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %z = "onnx.BatchNormalization"(%y, %one, %one, %far, %one) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}

// Of doubles the mean is subtracted first.
// CHECK-LABEL: @scaled_doubles
// CHECK: %[[S:.*]] = "onnx.Sub"(%arg0
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[S]]
// CHECK: "onnx.Add"(%[[P]]
func.func @scaled_doubles(%x: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %one = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf64>} : () -> tensor<2xf64>
  %y = "onnx.BatchNormalization"(%x, %one, %one, %one, %one) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}

// What a loop hands on as it came is captured, also where it is stacked; what changes places stays.
// CHECK-LABEL: @invariant
// CHECK: %[[L:.*]]:3 = "onnx.Loop"(%arg0, %arg1, %arg3, %arg4)
// CHECK-NEXT: ^bb0(%{{.*}}, %[[GO:.*]]: tensor<i1>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>):
// CHECK-NEXT: %[[S:.*]] = "onnx.Add"(%[[A]], %arg2)
// CHECK-NEXT: "onnx.Yield"(%[[GO]], %[[B]], %[[S]], %arg2)
// CHECK: return %arg2, %[[L]]#0, %[[L]]#2
func.func @invariant(%m: tensor<i64>, %c: tensor<i1>, %w: tensor<2xf32>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>) {
  %r:4 = "onnx.Loop"(%m, %c, %w, %x, %y) <{operandSegmentSizes = array<i32: 1, 1, 3>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %k: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = "onnx.Add"(%a, %k) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "onnx.Yield"(%go, %k, %b, %s, %k) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>)
  return %r#0, %r#1, %r#3 : tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>
}

// -----

// With a linear kernel a class has one vector for each opponent, the sum of its own: 1 * (1, 2) + 2 * (3, 4), 5 * (5, 6) + 6 * (7, 8) + 7 * (9, 0).
// CHECK-LABEL: @machines
// CHECK: "onnx.ml.SVMClassifier"(%arg0) <{{.*}}coefficients = array<f32: 1.000000e+00, 1.000000e+00>{{.*}}support_vectors = array<f32: 7.000000e+00, 1.000000e+01, 1.300000e+02, 7.800000e+01>, vectors_per_class = array<i64: 1, 1>
// CHECK: "onnx.ml.SVMRegressor"(%arg0) <{{.*}}coefficients = array<f32: 1.000000e+00>{{.*}}n_supports = 1 : i64{{.*}}support_vectors = array<f32: 7.000000e+00, 1.000000e+01>
// CHECK: "onnx.ml.SVMRegressor"(%arg0) <{{.*}}n_supports = 2 : i64
func.func @machines(%x: tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %l, %s = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1>, coefficients = array<f32: 1.0, 2.0, 5.0, 6.0, 7.0>, rho = array<f32: 0.5>,
      support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.0>, vectors_per_class = array<i64: 2, 3>}> : (tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>)
  %r = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0>, n_supports = 2 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %p = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0>, kernel_params = array<f32: 1.0, 0.0, 2.0>, kernel_type = "RBF", n_supports = 2 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %l, %s, %r, %p : tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}

// Not of fewer vectors than there are pairs, of sums that are not finite, or of one vector.
// CHECK-LABEL: @other_machines
// CHECK: "onnx.ml.SVMClassifier"(%arg0) <{{.*}}coefficients = array<f32: 1.000000e+00, 2.000000e+00>{{.*}}vectors_per_class = array<i64: 1, 1>
// CHECK: "onnx.ml.SVMClassifier"(%arg0) <{{.*}}vectors_per_class = array<i64: 2, 1>
// CHECK: "onnx.ml.SVMRegressor"(%arg0) <{{.*}}coefficients = array<f32: 1.000000e+10, 1.000000e+00>{{.*}}n_supports = 2 : i64
// CHECK: "onnx.ml.SVMRegressor"(%arg0) <{{.*}}coefficients = array<f32: 3.000000e+00>{{.*}}n_supports = 1 : i64{{.*}}support_vectors = array<f32: 1.000000e+00, 2.000000e+00>
func.func @other_machines(%x: tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %0, %1 = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 0.5>,
      support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, vectors_per_class = array<i64: 1, 1>}> : (tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>)
  %2, %3 = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1>, coefficients = array<f32: 1.0e10, 2.0, 3.0>, rho = array<f32: 0.5>,
      support_vectors = array<f32: 1.0e30, 2.0, 3.0, 4.0, 5.0, 6.0>, vectors_per_class = array<i64: 2, 1>}> : (tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>)
  %4 = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0e10, 1.0>, n_supports = 2 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0e30, 2.0, 3.0, 4.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %5 = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 3.0>, n_supports = 1 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?xi64>, tensor<?x2xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}

// Of three classes a vector counts for each opponent: row k of the coefficients is that of the k-th opponent, and adds up for it alone.
// CHECK-LABEL: @three_classes
// CHECK: "onnx.ml.SVMClassifier"(%arg0) <{{.*}}coefficients = array<f32: 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00>{{.*}}support_vectors = array<f32: 1.400000e+01, 3.000000e+01, 4.100000e+01, 9.500000e+01, 8.500000e+01, 1.630000e+02>, vectors_per_class = array<i64: 2, 2, 2>
func.func @three_classes(%x: tensor<?x1xf32>) -> (tensor<?xi64>, tensor<?x3xf32>) {
  %l, %s = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1, 2>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 2.0, 5.0, 6.0, 10.0, 11.0, 12.0, 13.0>, rho = array<f32: 0.5, 0.5, 0.5>,
      support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0>, vectors_per_class = array<i64: 3, 2, 2>}> : (tensor<?x1xf32>) -> (tensor<?xi64>, tensor<?x3xf32>)
  return %l, %s : tensor<?xi64>, tensor<?x3xf32>
}

// What is cut off behind a convolution is padding that it need not have, or that a transposed one has more of.
// CHECK-LABEL: @cut_padding
// CHECK: %[[C:.*]] = "onnx.Conv"{{.*}} pads = array<i64: 4, 0>{{.*}} -> tensor<1x8x?xf32>
// CHECK: %[[T:.*]] = "onnx.ConvTranspose"{{.*}} pads = array<i64: 1, 2>{{.*}} -> tensor<1x8x19xf32>
// CHECK: return %[[C]], %[[T]]
func.func @cut_padding(%x: tensor<1x8x?xf32>, %y: tensor<1x8x10xf32>) -> (tensor<1x8x?xf32>, tensor<1x8x19xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x8x3xf32>} : () -> tensor<8x8x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x8x4xf32>} : () -> tensor<8x8x4xf32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %less = "onnx.Constant"() {value = dense<-4> : tensor<1xi64>} : () -> tensor<1xi64>
  %to = "onnx.Constant"() {value = dense<20> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 4, 4>, dilations = array<i64: 2>} : (tensor<1x8x?xf32>, tensor<8x8x3xf32>) -> tensor<1x8x?xf32>
  %1 = "onnx.Slice"(%0, %zero, %less, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x?xf32>
  %2 = "onnx.ConvTranspose"(%y, %v) {strides = array<i64: 2>} : (tensor<1x8x10xf32>, tensor<8x8x4xf32>) -> tensor<1x8x22xf32>
  %3 = "onnx.Slice"(%2, %one, %to, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x22xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x19xf32>
  return %1, %3 : tensor<1x8x?xf32>, tensor<1x8x19xf32>
}

// More than the padding is cut, or all, or channels, or a size of the run might become less than none.
// CHECK-LABEL: @cut_more
// CHECK-COUNT-4: "onnx.Slice"
func.func @cut_more(%x: tensor<1x8x?xf32>, %y: tensor<1x8x10xf32>) -> (tensor<1x8x?xf32>, tensor<1x8x?xf32>, tensor<1x7x12xf32>, tensor<1x8x0xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x8x3xf32>} : () -> tensor<8x8x3xf32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %less = "onnx.Constant"() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %less3 = "onnx.Constant"() {value = dense<-3> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<12> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) {pads = array<i64: 2, 2>} : (tensor<1x8x?xf32>, tensor<8x8x3xf32>) -> tensor<1x8x?xf32>
  %1 = "onnx.Slice"(%0, %zero, %less3, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x?xf32>
  %2 = "onnx.Conv"(%x, %w) {pads = array<i64: 0, 2>} : (tensor<1x8x?xf32>, tensor<8x8x3xf32>) -> tensor<1x8x?xf32>
  %3 = "onnx.Slice"(%2, %zero, %less, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x?xf32>
  %4 = "onnx.Conv"(%y, %w) {pads = array<i64: 2, 2>} : (tensor<1x8x10xf32>, tensor<8x8x3xf32>) -> tensor<1x8x12xf32>
  %5 = "onnx.Slice"(%4, %one, %all, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x12xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x7x12xf32>
  %6 = "onnx.Conv"(%y, %w) {pads = array<i64: 2, 2>} : (tensor<1x8x10xf32>, tensor<8x8x3xf32>) -> tensor<1x8x12xf32>
  %7 = "onnx.Slice"(%6, %all, %all, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x8x12xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x0xf32>
  return %1, %3, %5, %7 : tensor<1x8x?xf32>, tensor<1x8x?xf32>, tensor<1x7x12xf32>, tensor<1x8x0xf32>
}

// TreeEnsemble as a regressor: leaves are numbered behind the nodes, x in {1, 2} is two tests that lead to one leaf, a root whose children
// are one leaf is that leaf.
// CHECK-LABEL: @tree_ensemble
// CHECK: "onnx.ml.TreeEnsembleRegressor"(%arg0) <{aggregate_function = "MAX"{{.*}}n_targets = 2 : i64, nodes_falsenodeids = array<i64: 5, 3, 0, 0, 0>, nodes_featureids = array<i64: 1, 1, 0, 0, 0>, nodes_missing_value_tracks_true = array<i64: 1, 1, 0, 0, 0>, nodes_modes = ["BRANCH_EQ", "BRANCH_EQ", "LEAF", "LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 5, 1, 2, 3>, nodes_treeids = array<i64: 0, 0, 0, 0, 0>, nodes_truenodeids = array<i64: 2, 2, 0, 0, 0>, nodes_values = array<f32: 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00>, post_transform = "LOGISTIC", target_ids = array<i64: 1, 0, 1>, target_nodeids = array<i64: 1, 2, 3>, target_treeids = array<i64: 0, 0, 0>, target_weights = array<f32: 9.000000e+00, 7.000000e+00, 8.000000e+00>
func.func @tree_ensemble(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = "onnx.ml.TreeEnsemble"(%x) <{aggregate_function = 3 : i64, post_transform = 2 : i64, n_targets = 2 : i64, tree_roots = array<i64: 0, 1>,
    nodes_featureids = array<i64: 1, 0>, nodes_modes = dense<[6, 0]> : tensor<2xui8>, nodes_splits = dense<0.0> : tensor<2xf32>,
    membership_values = dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>, nodes_missing_value_tracks_true = array<i64: 1, 0>,
    nodes_truenodeids = array<i64: 0, 2>, nodes_trueleafs = array<i64: 1, 1>, nodes_falsenodeids = array<i64: 1, 2>, nodes_falseleafs = array<i64: 1, 1>,
    leaf_targetids = array<i64: 0, 1, 1>, leaf_weights = dense<[7.0, 8.0, 9.0]> : tensor<3xf32>}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// Regressors of one input side by side become one of all their targets; not one whose sums are transformed, nor one of another input.
// CHECK-LABEL: @joined_trees
// CHECK: %[[ONE:.*]] = "onnx.ml.TreeEnsembleRegressor"(%arg0) <{{.*}}n_targets = 2 : i64, {{.*}}nodes_modes = ["LEAF", "LEAF"], nodes_nodeids = array<i64: 0, 4>, nodes_treeids = array<i64: 7, 8>, {{.*}}target_ids = array<i64: 0, 1>, target_nodeids = array<i64: 0, 4>, target_treeids = array<i64: 7, 8>, target_weights = array<f32: 1.000000e+00, 2.000000e+00>
// CHECK: "onnx.Concat"(%[[ONE]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<?x4xf32>
func.func @joined_trees(%x: tensor<?x2xf32>, %z: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %0 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 7>, nodes_nodeids = array<i64: 0>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0, 0>, target_nodeids = array<i64: 0, 0>, target_treeids = array<i64: 7, 7>, target_weights = array<f32: 1.0, 5.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %1 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %2 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>, post_transform = "LOGISTIC",
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %3 = "onnx.ml.TreeEnsembleRegressor"(%z) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %y = "onnx.Concat"(%0, %1, %2, %3) <{axis = 1 : i64}> : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Padding that is to keep the size, as numbers: of a size of the run where the stride or the filter is 1.
// CHECK-LABEL: @same_padding
// CHECK: "onnx.Conv"(%arg0, {{.*}} <{auto_pad = "NOTSET", {{.*}}pads = array<i64: 1, 2, 2, 2>
// CHECK: "onnx.Conv"(%arg1, {{.*}} <{auto_pad = "NOTSET", {{.*}}pads = array<i64: 1, 1, 0, 0>
// CHECK: "onnx.Conv"(%arg0, {{.*}} <{auto_pad = "SAME_UPPER", {{.*}}strides = array<i64: 2, 2>
// CHECK: "onnx.Conv"(%arg0, {{.*}} <{auto_pad = "NOTSET", {{.*}}pads = array<i64: 0, 0, 0, 0>
func.func @same_padding(%x: tensor<1x1x?x?xf32>, %y: tensor<1x1x6x7xf32>) -> (tensor<1x1x?x?xf32>, tensor<1x1x3x3xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x4x3xf32>} : () -> tensor<1x1x4x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x3x2xf32>} : () -> tensor<1x1x3x2xf32>
  %0 = "onnx.Conv"(%x, %w) {auto_pad = "SAME_UPPER", dilations = array<i64: 1, 2>} : (tensor<1x1x?x?xf32>, tensor<1x1x4x3xf32>) -> tensor<1x1x?x?xf32>
  %1 = "onnx.Conv"(%y, %v) {auto_pad = "SAME_LOWER", strides = array<i64: 2, 3>} : (tensor<1x1x6x7xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x3x3xf32>
  %2 = "onnx.Conv"(%x, %w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x1x?x?xf32>, tensor<1x1x4x3xf32>) -> tensor<1x1x?x?xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %3 = "onnx.Conv"(%x, %u) {auto_pad = "SAME_LOWER", strides = array<i64: 2, 2>} : (tensor<1x1x?x?xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x?x?xf32>
  return %0, %1, %2, %3 : tensor<1x1x?x?xf32>, tensor<1x1x3x3xf32>, tensor<1x1x?x?xf32>, tensor<1x1x?x?xf32>
}

// A weight of a target or of a tree that its own regressor has not stays where it is refused.
// CHECK-LABEL: @not_joined
// CHECK-COUNT-4: "onnx.ml.TreeEnsembleRegressor"
func.func @not_joined(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %0 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 1>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %1 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %2 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 1>, target_weights = array<f32: 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %3 = "onnx.ml.TreeEnsembleRegressor"(%x) <{nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 4>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
    nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 4>, target_treeids = array<i64: 0>, target_weights = array<f32: 3.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %y = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  %z = "onnx.Concat"(%2, %3) <{axis = 1 : i64}> : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
  return %y, %z : tensor<?x2xf32>, tensor<?x2xf32>
}

// Sums are in the order of the roots, which a regressor takes as they are numbered.
// CHECK-LABEL: @roots_in_another_order
// CHECK: "onnx.ml.TreeEnsemble"
func.func @roots_in_another_order(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %y = "onnx.ml.TreeEnsemble"(%x) <{n_targets = 1 : i64, tree_roots = array<i64: 1, 0>,
    nodes_featureids = array<i64: 1, 0>, nodes_modes = dense<0> : tensor<2xui8>, nodes_splits = dense<0.0> : tensor<2xf32>,
    nodes_truenodeids = array<i64: 0, 1>, nodes_trueleafs = array<i64: 1, 1>, nodes_falsenodeids = array<i64: 0, 1>, nodes_falseleafs = array<i64: 1, 1>,
    leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[7.0, 8.0]> : tensor<2xf32>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// Indices of one number each choose along the first axis; of two, or in a batch, they do not.
// CHECK-LABEL: @first_axis
// CHECK: %[[I:.*]] = "onnx.Squeeze"(%arg1, {{.*}} -> tensor<5xi64>
// CHECK: "onnx.Gather"(%arg0, %[[I]]) <{axis = 0 : i64}>
// CHECK-COUNT-2: "onnx.GatherND"
func.func @first_axis(%x: tensor<?x4xf32>, %one: tensor<5x1xi64>, %two: tensor<5x2xi64>) -> (tensor<5x4xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = "onnx.GatherND"(%x, %one) <{batch_dims = 0 : i64}> : (tensor<?x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %1 = "onnx.GatherND"(%x, %two) <{batch_dims = 0 : i64}> : (tensor<?x4xf32>, tensor<5x2xi64>) -> tensor<5xf32>
  %2 = "onnx.GatherND"(%x, %one) <{batch_dims = 1 : i64}> : (tensor<?x4xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<5xf32>, tensor<5xf32>
}

// The only element of an axis.
// CHECK-LABEL: @only_element
// CHECK: %[[A:.*]] = "onnx.Squeeze"(%arg0, {{.*}} -> tensor<2x?xf32>
// CHECK: %[[B:.*]] = "onnx.Unsqueeze"(%arg0, {{.*}} -> tensor<2x1x1x?xf32>
// CHECK: return %[[A]], %[[B]], %arg0
func.func @only_element(%x: tensor<2x1x?xf32>) -> (tensor<2x?xf32>, tensor<2x1x1x?xf32>, tensor<2x1x?xf32>) {
  %number = "onnx.Constant"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %square = "onnx.Constant"() {value = dense<0> : tensor<1x1xi64>} : () -> tensor<1x1xi64>
  %list = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Gather"(%x, %number) <{axis = 1 : i64}> : (tensor<2x1x?xf32>, tensor<i64>) -> tensor<2x?xf32>
  %1 = "onnx.Gather"(%x, %square) <{axis = -2 : i64}> : (tensor<2x1x?xf32>, tensor<1x1xi64>) -> tensor<2x1x1x?xf32>
  %2 = "onnx.Gather"(%x, %list) <{axis = 1 : i64}> : (tensor<2x1x?xf32>, tensor<1xi64>) -> tensor<2x1x?xf32>
  return %0, %1, %2 : tensor<2x?xf32>, tensor<2x1x1x?xf32>, tensor<2x1x?xf32>
}

// -----

// Constant indices that are a progression: some columns, every second one, all from the last to the first.
// CHECK-LABEL: @progressions
// CHECK-DAG: %[[TWO:.*]] = "onnx.Constant"() <{value = dense<2> : tensor<1xi64>}>
// CHECK-DAG: %[[ALL:.*]] = "onnx.Constant"() <{value = dense<-9223372036854775808> : tensor<1xi64>}>
// CHECK-DAG: %[[BACK:.*]] = "onnx.Constant"() <{value = dense<-1> : tensor<1xi64>}>
// CHECK: %[[A:.*]] = "onnx.Slice"(%arg0, %[[TWO]], {{.*}} -> tensor<?x4xf32>
// CHECK: %[[B:.*]] = "onnx.Slice"(%arg0, {{.*}}, %[[TWO]]) {{.*}} -> tensor<?x3xf32>
// CHECK: %[[C:.*]] = "onnx.Slice"(%arg0, {{.*}}, %[[ALL]], {{.*}}, %[[BACK]]) {{.*}} -> tensor<?x6xf32>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @progressions(%x: tensor<?x6xf32>) -> (tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x6xf32>) {
  %box = "onnx.Constant"() {value = dense<[2, 3, -2, 5]> : tensor<4xi64>} : () -> tensor<4xi64>
  %even = "onnx.Constant"() {value = dense<[0, 2, 4]> : tensor<3xi32>} : () -> tensor<3xi32>
  %turned = "onnx.Constant"() {value = dense<[5, 4, 3, 2, 1, 0]> : tensor<6xi64>} : () -> tensor<6xi64>
  %0 = "onnx.Gather"(%x, %box) <{axis = 1 : i64}> : (tensor<?x6xf32>, tensor<4xi64>) -> tensor<?x4xf32>
  %1 = "onnx.Gather"(%x, %even) <{axis = -1 : i64}> : (tensor<?x6xf32>, tensor<3xi32>) -> tensor<?x3xf32>
  %2 = "onnx.Gather"(%x, %turned) <{axis = 1 : i64}> : (tensor<?x6xf32>, tensor<6xi64>) -> tensor<?x6xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x6xf32>
}

// -----

// One index of a transposed tensor; what others read too stays transposed.
// CHECK-LABEL: @token
// CHECK: %[[TOKEN:.*]] = "onnx.Gather"(%arg0, %arg1) <{axis = 1 : i64}> : (tensor<?x50x4xf32>, tensor<i64>) -> tensor<?x4xf32>
// CHECK: %[[LAST:.*]] = "onnx.Gather"(%arg0, %arg2) <{axis = 2 : i64}> : (tensor<?x50x4xf32>, tensor<1xi64>) -> tensor<?x50x1xf32>
// CHECK: %[[TURNED:.*]] = "onnx.Transpose"(%[[LAST]]) <{perm = array<i64: 2, 1, 0>}>
// CHECK: %[[ALL:.*]] = "onnx.Transpose"(%arg0)
// CHECK: "onnx.Gather"(%[[ALL]], %arg1)
// CHECK: return %[[TOKEN]], %[[TURNED]], %[[ALL]]
func.func @token(%x: tensor<?x50x4xf32>, %i: tensor<i64>, %j: tensor<1xi64>) -> (tensor<?x4xf32>, tensor<1x50x?xf32>, tensor<50x?x4xf32>, tensor<?x4xf32>) {
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 1, 0, 2>}> : (tensor<?x50x4xf32>) -> tensor<50x?x4xf32>
  %1 = "onnx.Gather"(%0, %i) <{axis = 0 : i64}> : (tensor<50x?x4xf32>, tensor<i64>) -> tensor<?x4xf32>
  %2 = "onnx.Transpose"(%x) <{perm = array<i64: 2, 1, 0>}> : (tensor<?x50x4xf32>) -> tensor<4x50x?xf32>
  %3 = "onnx.Gather"(%2, %j) <{axis = 0 : i64}> : (tensor<4x50x?xf32>, tensor<1xi64>) -> tensor<1x50x?xf32>
  %4 = "onnx.Transpose"(%x) <{perm = array<i64: 1, 0, 2>}> : (tensor<?x50x4xf32>) -> tensor<50x?x4xf32>
  %5 = "onnx.Gather"(%4, %i) <{axis = 0 : i64}> : (tensor<50x?x4xf32>, tensor<i64>) -> tensor<?x4xf32>
  return %1, %3, %4, %5 : tensor<?x4xf32>, tensor<1x50x?xf32>, tensor<50x?x4xf32>, tensor<?x4xf32>
}

// -----

// Of a 3x3 filter the middle row reads an image of one row.
// CHECK-LABEL: @taps
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[}}4.000000e+00, 5.000000e+00, 6.000000e+00]]]]> : tensor<1x1x1x3xf32>}>
// CHECK: "onnx.Conv"(%arg0, %[[W]]) {{.*}}pads = array<i64: 0, 1, 0, 1>
func.func @taps(%x: tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
  %c = "onnx.Conv"(%x, %w) <{kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x1x1x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x4xf32>
  return %c : tensor<1x1x1x4xf32>
}

// -----

// A size that only the run knows, and padding that is no multiple of the dilation: the first tap reads nothing, and stays.
// CHECK-LABEL: @tapsStay
// CHECK: "onnx.Conv"(%arg0, {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK: "onnx.Conv"(%arg1, {{.*}}pads = array<i64: 3, 0>{{.*}}tensor<1x1x2xf32>
func.func @tapsStay(%x: tensor<1x1x?x4xf32>, %y: tensor<1x1x2xf32>) -> (tensor<1x1x?x4xf32>, tensor<1x1x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x3x3xf32>} : () -> tensor<1x1x3x3xf32>
  %c = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x1x?x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x?x4xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<1x1x2xf32>} : () -> tensor<1x1x2xf32>
  %d = "onnx.Conv"(%y, %v) <{dilations = array<i64: 4>, pads = array<i64: 3, 0>}> : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>
  return %c, %d : tensor<1x1x?x4xf32>, tensor<1x1x1xf32>
}

// -----

// 1-D convolutions of channels-last networks, written as those of images: the axes are back in their places, one is new.
// CHECK-LABEL: @back
// CHECK-NOT: "onnx.Transpose"
// CHECK: %[[A:.*]] = "onnx.Unsqueeze"(%arg0
// CHECK: %[[B:.*]] = "onnx.Unsqueeze"(%arg0
// CHECK: %[[C:.*]] = "onnx.Squeeze"(%arg1
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @back(%x: tensor<?x8x?xf32>, %y: tensor<?x8x1x?xf32>) -> (tensor<?x8x1x?xf32>, tensor<?x8x1x?xf32>, tensor<?x8x?xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %sizes = "onnx.Constant"() {value = dense<[0, 1, -1, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x8x?xf32>) -> tensor<?x?x8xf32>
  %1 = "onnx.Unsqueeze"(%0, %axes) : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x1x?x8xf32>
  %2 = "onnx.Transpose"(%1) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<?x1x?x8xf32>) -> tensor<?x8x1x?xf32>
  %3 = "onnx.Reshape"(%0, %sizes) : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x1x?x8xf32>
  %4 = "onnx.Transpose"(%3) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<?x1x?x8xf32>) -> tensor<?x8x1x?xf32>
  %5 = "onnx.Transpose"(%y) <{perm = array<i64: 0, 2, 3, 1>}> : (tensor<?x8x1x?xf32>) -> tensor<?x1x?x8xf32>
  %6 = "onnx.Squeeze"(%5, %axes) : (tensor<?x1x?x8xf32>, tensor<1xi64>) -> tensor<?x?x8xf32>
  %7 = "onnx.Transpose"(%6) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  return %2, %4, %7 : tensor<?x8x1x?xf32>, tensor<?x8x1x?xf32>, tensor<?x8x?xf32>
}

// -----

// Two sizes that the run gives may be others behind a Reshape, and axes may come back in another order.
// CHECK-LABEL: @notBack
// CHECK-COUNT-4: "onnx.Transpose"
func.func @notBack(%x: tensor<?x8x?xf32>, %sizes: tensor<4xi64>, %y: tensor<2x8x3xf32>) -> (tensor<?x8x1x?xf32>, tensor<2x3x1x8xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x8x?xf32>) -> tensor<?x?x8xf32>
  %1 = "onnx.Reshape"(%0, %sizes) : (tensor<?x?x8xf32>, tensor<4xi64>) -> tensor<?x1x?x8xf32>
  %2 = "onnx.Transpose"(%1) <{perm = array<i64: 0, 3, 1, 2>}> : (tensor<?x1x?x8xf32>) -> tensor<?x8x1x?xf32>
  %3 = "onnx.Transpose"(%y) <{perm = array<i64: 2, 1, 0>}> : (tensor<2x8x3xf32>) -> tensor<3x8x2xf32>
  %4 = "onnx.Unsqueeze"(%3, %axes) : (tensor<3x8x2xf32>, tensor<1xi64>) -> tensor<3x1x8x2xf32>
  %5 = "onnx.Transpose"(%4) <{perm = array<i64: 3, 0, 1, 2>}> : (tensor<3x1x8x2xf32>) -> tensor<2x3x1x8xf32>
  return %2, %5 : tensor<?x8x1x?xf32>, tensor<2x3x1x8xf32>
}
