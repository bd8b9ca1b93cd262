// RUN: onnxc-opt %s --simplify --split-input-file | FileCheck %s

// What simplify leaves as it is because of a number: an axis, a count, a factor, a size.

// Constants along other axes than the channels, and more channels than the weights have, stay behind a convolution.
// CHECK-LABEL: @not_per_channel
// CHECK: onnx.Conv
// CHECK: "onnx.Mul"({{.*}} (tensor<1x2x4x4xf32>, tensor<4xf32>)
// CHECK: onnx.Conv
// CHECK: "onnx.Add"({{.*}} (tensor<1x2x4x4xf32>, tensor<2x4x1xf32>)
// CHECK: onnx.Conv
// CHECK: "onnx.Mul"({{.*}} (tensor<1x1x4x4xf32>, tensor<2x1x1xf32>)
func.func @not_per_channel(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<2x1x1x1xf32>} : () -> tensor<2x1x1x1xf32>
  %v = "onnx.Constant"() {value = dense<2.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
  %columns = "onnx.Constant"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %rows = "onnx.Constant"() {value = dense<[[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0], [8.0]]]> : tensor<2x4x1xf32>} : () -> tensor<2x4x1xf32>
  %two = "onnx.Constant"() {value = dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %a = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %0 = "onnx.Mul"(%a, %columns) : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  %b = "onnx.Conv"(%x, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.Add"(%b, %rows) : (tensor<1x2x4x4xf32>, tensor<2x4x1xf32>) -> tensor<1x2x4x4xf32>
  %c = "onnx.Conv"(%x, %v) : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %2 = "onnx.Mul"(%c, %two) : (tensor<1x1x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %0, %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// One number is for all channels; the columns of a Gemm are its channels, of a transposed one its rows.
// CHECK-LABEL: @channels_of_gemm
// CHECK-DAG: dense<{{\[\[}}2.000000e+00, 1.000000e+01], [6.000000e+00, 2.000000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: dense<{{\[\[}}2.000000e+00, 4.000000e+00], [1.500000e+01, 2.000000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: dense<{{\[\[}}3.000000e+00, 6.000000e+00], [9.000000e+00, 1.200000e+01]]> : tensor<2x2xf32>
// CHECK-NOT: onnx.Mul
// CHECK: return
func.func @channels_of_gemm(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %w = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "onnx.Constant"() {value = dense<[2.0, 5.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %three = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %a = "onnx.Gemm"(%x, %w) : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %0 = "onnx.Mul"(%a, %s) : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %b = "onnx.Gemm"(%x, %w) <{transB = 1 : i64}> : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %1 = "onnx.Mul"(%b, %s) : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %c = "onnx.Gemm"(%x, %w) : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %2 = "onnx.Mul"(%three, %c) : (tensor<f32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0, %1, %2 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// -----

// Not of a Gemm with factors, with a bias for each row, or of weights of the run.
// CHECK-LABEL: @other_gemms
// CHECK-COUNT-3: "onnx.Mul"
func.func @other_gemms(%x: tensor<4x2xf32>, %run: tensor<2x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %s = "onnx.Constant"() {value = dense<[2.0, 5.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %rows = "onnx.Constant"() {value = dense<1.0> : tensor<4x1xf32>} : () -> tensor<4x1xf32>
  %a = "onnx.Gemm"(%x, %w) <{alpha = 2.0 : f32}> : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %0 = "onnx.Mul"(%a, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %b = "onnx.Gemm"(%x, %w, %rows) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %1 = "onnx.Mul"(%b, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %c = "onnx.Gemm"(%x, %run) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %2 = "onnx.Mul"(%c, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Padding of channels, padding that crops, and padding along given axes are no convolution's.
// CHECK-LABEL: @other_padding
// CHECK-COUNT-3: "onnx.Pad"
func.func @other_padding(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x6x4xf32>) {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %v = "onnx.Constant"() {value = dense<2.0> : tensor<1x3x1x1xf32>} : () -> tensor<1x3x1x1xf32>
  %c = "onnx.Constant"() {value = dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %d = "onnx.Constant"() {value = dense<[0, 0, -1, 0, 0, 0, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %e = "onnx.Constant"() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %axis = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %p = "onnx.Pad"(%x, %c) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<8xi64>) -> tensor<1x3x4x4xf32>
  %0 = "onnx.Conv"(%p, %v) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x1x4x4xf32>
  %q = "onnx.Pad"(%x, %d) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<8xi64>) -> tensor<1x2x3x4xf32>
  %1 = "onnx.Conv"(%q, %w) : (tensor<1x2x3x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x3x4xf32>
  %r = "onnx.Pad"(%x, %e, %axis) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x2x4x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<1x2x6x4xf32>
  %2 = "onnx.Conv"(%r, %w) : (tensor<1x2x6x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x6x4xf32>
  return %0, %1, %2 : tensor<1x1x4x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x6x4xf32>
}

// -----

// Padding that reflects, or of a convolution that pads by its size.
// CHECK-LABEL: @padding_of_other_kinds
// CHECK-COUNT-2: "onnx.Pad"
func.func @padding_of_other_kinds(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x6x4xf32>, tensor<1x1x3x2xf32>) {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %v = "onnx.Constant"() {value = dense<2.0> : tensor<1x2x2x2xf32>} : () -> tensor<1x2x2x2xf32>
  %c = "onnx.Constant"() {value = dense<[0, 0, 1, 0, 0, 0, 1, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %p = "onnx.Pad"(%x, %c) <{mode = "reflect", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<8xi64>) -> tensor<1x2x6x4xf32>
  %0 = "onnx.Conv"(%p, %w) : (tensor<1x2x6x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x6x4xf32>
  %q = "onnx.Pad"(%x, %c) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<8xi64>) -> tensor<1x2x6x?xf32>
  %1 = "onnx.Conv"(%q, %v) <{auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>}> : (tensor<1x2x6x?xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x3x2xf32>
  return %0, %1 : tensor<1x1x6x4xf32>, tensor<1x1x3x2xf32>
}

// -----

// A Resize of the same sizes that crops, or whose sizes are the run's.
// CHECK-LABEL: @other_sizes
// CHECK-COUNT-2: "onnx.Resize"
func.func @other_sizes(%x: tensor<1x2x4x4xf32>, %roi: tensor<8xf32>, %any: tensor<1x2x?x4xf32>, %sizes: tensor<4xi64>) -> (tensor<1x2x4x4xf32>, tensor<1x2x?x4xf32>) {
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "onnx.Resize"(%x, %roi, %one) <{coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear", operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x2x4x4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  %1 = "onnx.Resize"(%any, %sizes) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x2x?x4xf32>, tensor<4xi64>) -> tensor<1x2x?x4xf32>
  return %0, %1 : tensor<1x2x4x4xf32>, tensor<1x2x?x4xf32>
}

// -----

// A cast back by a type that does not hold all values: fewer bits, no signs, fewer digits, truth.
// CHECK-LABEL: @casts_that_lose
// CHECK-COUNT-8: "onnx.Cast"
// CHECK-NOT: onnx.Cast
// CHECK: return
func.func @casts_that_lose(%i: tensor<4xi64>, %s: tensor<4xi8>, %f: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xi64>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>) {
  %a = "onnx.Cast"(%i) <{to = 6 : i64}> : (tensor<4xi64>) -> tensor<4xi32>
  %0 = "onnx.Cast"(%a) <{to = 7 : i64}> : (tensor<4xi32>) -> tensor<4xi64>
  %b = "onnx.Cast"(%s) <{to = 2 : i64}> : (tensor<4xi8>) -> tensor<4xui8>
  %1 = "onnx.Cast"(%b) <{to = 3 : i64}> : (tensor<4xui8>) -> tensor<4xi8>
  %c = "onnx.Cast"(%f) <{to = 10 : i64}> : (tensor<4xf32>) -> tensor<4xf16>
  %2 = "onnx.Cast"(%c) <{to = 1 : i64}> : (tensor<4xf16>) -> tensor<4xf32>
  %d = "onnx.Cast"(%n) <{to = 1 : i64}> : (tensor<4xi32>) -> tensor<4xf32>
  %3 = "onnx.Cast"(%d) <{to = 6 : i64}> : (tensor<4xf32>) -> tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xi64>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>
}

// -----

// Powers that are not the same everywhere, that spread the base, or that no float is: 2^24 + 1.
// CHECK-LABEL: @other_powers
// CHECK: "onnx.Pow"({{.*}} (tensor<2xf32>, tensor<2xi64>)
// CHECK: "onnx.Pow"({{.*}} (tensor<2xf32>, tensor<3x1xi64>)
// CHECK: "onnx.Pow"({{.*}} (tensor<2xf32>, tensor<i64>)
// CHECK-NOT: onnx.Mul
// CHECK: return
func.func @other_powers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>) {
  %each = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %wide = "onnx.Constant"() {value = dense<2> : tensor<3x1xi64>} : () -> tensor<3x1xi64>
  %large = "onnx.Constant"() {value = dense<16777217> : tensor<i64>} : () -> tensor<i64>
  %0 = "onnx.Pow"(%x, %each) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = "onnx.Pow"(%x, %wide) : (tensor<2xf32>, tensor<3x1xi64>) -> tensor<3x2xf32>
  %2 = "onnx.Pow"(%x, %large) : (tensor<2xf32>, tensor<i64>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<3x2xf32>, tensor<2xf32>
}

// -----

// Spreading more than 2^18 numbers is left to the run, and so is what is no splat.
// CHECK-LABEL: @large_expand
// CHECK: "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<262144xf32>}>
// CHECK-COUNT-2: "onnx.Expand"
func.func @large_expand() -> (tensor<262144xf32>, tensor<262145xf32>, tensor<4x2xf32>) {
  %h = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %r = "onnx.Constant"() {value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %a = "onnx.Constant"() {value = dense<262144> : tensor<1xi64>} : () -> tensor<1xi64>
  %b = "onnx.Constant"() {value = dense<262145> : tensor<1xi64>} : () -> tensor<1xi64>
  %c = "onnx.Constant"() {value = dense<[4, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Expand"(%h, %a) : (tensor<f32>, tensor<1xi64>) -> tensor<262144xf32>
  %1 = "onnx.Expand"(%h, %b) : (tensor<f32>, tensor<1xi64>) -> tensor<262145xf32>
  %2 = "onnx.Expand"(%r, %c) : (tensor<2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<262144xf32>, tensor<262145xf32>, tensor<4x2xf32>
}

// -----

// An element of an axis that has more, several elements, or an index that there is not.
// CHECK-LABEL: @other_elements
// CHECK-COUNT-3: "onnx.Gather"
func.func @other_elements(%x: tensor<2x1x3xf32>) -> (tensor<1x3xf32>, tensor<2x2x3xf32>, tensor<2x3xf32>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %zeros = "onnx.Constant"() {value = dense<0> : tensor<2xi64>} : () -> tensor<2xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "onnx.Gather"(%x, %zero) <{axis = 0 : i64}> : (tensor<2x1x3xf32>, tensor<i64>) -> tensor<1x3xf32>
  %1 = "onnx.Gather"(%x, %zeros) <{axis = 1 : i64}> : (tensor<2x1x3xf32>, tensor<2xi64>) -> tensor<2x2x3xf32>
  %2 = "onnx.Gather"(%x, %one) <{axis = 1 : i64}> : (tensor<2x1x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<1x3xf32>, tensor<2x2x3xf32>, tensor<2x3xf32>
}

// -----

// Indices without a common step, one that there is not (an error of the run), an axis whose size only the run knows.
// CHECK-LABEL: @other_lists
// CHECK-COUNT-3: "onnx.Gather"
func.func @other_lists(%x: tensor<?x6xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<2x6xf32>) {
  %uneven = "onnx.Constant"() {value = dense<[0, 1, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %outside = "onnx.Constant"() {value = dense<[4, 5, 6]> : tensor<3xi64>} : () -> tensor<3xi64>
  %two = "onnx.Constant"() {value = dense<[0, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = "onnx.Gather"(%x, %uneven) <{axis = 1 : i64}> : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  %1 = "onnx.Gather"(%x, %outside) <{axis = 1 : i64}> : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  %2 = "onnx.Gather"(%x, %two) <{axis = 0 : i64}> : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<2x6xf32>
}

// -----

// A batch of two, or an operand that is spread over the images, keeps the view before what is computed.
// CHECK-LABEL: @other_views
// CHECK: "onnx.Relu"({{.*}} (tensor<2x3x8x4x5xf32>)
// CHECK: "onnx.Add"({{.*}} (tensor<1x3x8x4x5xf32>, tensor<1x1x8x4x5xf32>)
func.func @other_views(%x: tensor<6x8x4x5xf32>, %y: tensor<3x8x4x5xf32>, %z: tensor<1x1x8x4x5xf32>) -> (tensor<2x3x8x4x5xf32>, tensor<1x3x8x4x5xf32>) {
  %two = "onnx.Constant"() {value = dense<[2, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %one = "onnx.Constant"() {value = dense<[1, 3, 8, 4, 5]> : tensor<5xi64>} : () -> tensor<5xi64>
  %a = "onnx.Reshape"(%x, %two) : (tensor<6x8x4x5xf32>, tensor<5xi64>) -> tensor<2x3x8x4x5xf32>
  %0 = "onnx.Relu"(%a) : (tensor<2x3x8x4x5xf32>) -> tensor<2x3x8x4x5xf32>
  %b = "onnx.Reshape"(%y, %one) : (tensor<3x8x4x5xf32>, tensor<5xi64>) -> tensor<1x3x8x4x5xf32>
  %1 = "onnx.Add"(%b, %z) : (tensor<1x3x8x4x5xf32>, tensor<1x1x8x4x5xf32>) -> tensor<1x3x8x4x5xf32>
  return %0, %1 : tensor<2x3x8x4x5xf32>, tensor<1x3x8x4x5xf32>
}

// -----

// Regressors side by side are joined, not one below the other.
// CHECK-LABEL: @rows_of_trees
// CHECK-COUNT-2: "onnx.ml.TreeEnsembleRegressor"
// CHECK: "onnx.Concat"{{.*}}axis = 0
func.func @rows_of_trees(%x: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %0 = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 0>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
      nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 0>, target_treeids = array<i64: 0>, target_weights = array<f32: 1.0>}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0>, nodes_nodeids = array<i64: 0>, nodes_truenodeids = array<i64: 0>, nodes_falsenodeids = array<i64: 0>, nodes_featureids = array<i64: 0>,
      nodes_modes = ["LEAF"], nodes_values = array<f32: 0.0>, target_ids = array<i64: 0>, target_nodeids = array<i64: 0>, target_treeids = array<i64: 0>, target_weights = array<f32: 2.0>}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = "onnx.Concat"(%0, %1) <{axis = 0 : i64}> : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}
