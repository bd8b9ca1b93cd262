// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{axis 2 is outside [-2, 1] for an input of rank 2}}
  %r = "onnx.Softmax"(%x) {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @perm(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{perm [0, 0] is not a permutation of the axes}}
  %r = "onnx.Transpose"(%x) {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @stride(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{strides [0, 1] holds 0, sizes are at least 1}}
  %r = "onnx.Conv"(%x, %w) {strides = array<i64: 0, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @constant() -> tensor<3xf32> {
  // expected-error @+1 {{value is 'tensor<2xf32>', the result 'tensor<3xf32>'}}
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @left_out() -> tensor<2xf32> {
  // expected-error @+1 {{value 'w' was left out of this text: --dump-phases writes programs whole into .mlirbc files}}
  %0 = "onnx.Constant"() {value = dense_resource<w> : tensor<2xf32>} : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @perm_axes(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{perm has 3 axes, the input has 2}}
  %r = "onnx.Transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Numbers that kernels keep in 32 bits.
func.func @dilation(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{dilations [1, 2147483648] holds 2147483648, at most 2147483647 is allowed}}
  %r = "onnx.Conv"(%x, %w) {dilations = array<i64: 1, 2147483648>} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @group(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{group is 0, at least 1 is needed}}
  %r = "onnx.ConvTranspose"(%x, %w) {group = 0 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @auto_pad(%x: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{auto_pad is 'SAME', not NOTSET, VALID, SAME_UPPER or SAME_LOWER}}
  %r = "onnx.AveragePool"(%x) {auto_pad = "SAME", kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Axes of which the type says nothing are anybody's.
func.func @unknown(%x: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %r = "onnx.Softmax"(%x) {axis = 7 : i64} : (tensor<*xf32>) -> tensor<*xf32>
  %s = "onnx.Transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<*xf32>) -> tensor<*xf32>
  return %r, %s : tensor<*xf32>, tensor<*xf32>
}
