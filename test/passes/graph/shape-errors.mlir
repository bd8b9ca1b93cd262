// RUN: onnxc-opt %s --fold-shapes --split-input-file --verify-diagnostics

func.func @matmul(%a: tensor<3x4xf32>, %b: tensor<5x6xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{MatMul: operands [3, 4] and [5, 6]: inner sizes 4 and 5 differ}}
  %r = "onnx.MatMul"(%a, %b) : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @concat(%a: tensor<3x4xf32>, %b: tensor<5x6xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Concat: sizes of axis 1 4 and 6 differ}}
  %r = "onnx.Concat"(%a, %b) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @broadcast(%a: tensor<?x4xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Add: shapes [?, 4] and [3] do not broadcast: 4 and 3}}
  %r = "onnx.Add"(%a, %b) : (tensor<?x4xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @reshape(%a: tensor<3x4xf32>) -> tensor<*xf32> {
  %t = "onnx.Constant"() {value = dense<[5, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Reshape: an input of 12 elements cannot have the shape [5, -1]}}
  %r = "onnx.Reshape"(%a, %t) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @rank(%a: tensor<3x4xf32>, %t: tensor<?xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{Reshape: rank of result depends on run-time data}}
  %r = "onnx.Reshape"(%a, %t) : (tensor<3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @channels(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: channels of data and weights: 3 and 2 differ}}
  %r = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}
