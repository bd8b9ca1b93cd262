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

// -----

func.func @bias(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: entries of the bias and channels of the result: 3 and 4 differ}}
  %r = "onnx.Conv"(%x, %w, %b) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @bias_deformed(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %o: tensor<1x18x6x6xf32>, %b: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{DeformConv: entries of the bias and channels of the result: 3 and 4 differ}}
  %r = "onnx.DeformConv"(%x, %w, %o, %b) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<1x18x6x6xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @bias_quantised(%x: tensor<1x3x8x8xui8>, %s: tensor<f32>, %z: tensor<ui8>, %w: tensor<4x3x3x3xui8>, %b: tensor<3xi32>) -> tensor<*xui8> {
  // expected-error @+1 {{QLinearConv: entries of the bias and channels of the result: 3 and 4 differ}}
  %r = "onnx.QLinearConv"(%x, %s, %z, %w, %s, %z, %s, %z, %b)
    : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<4x3x3x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>, tensor<3xi32>) -> tensor<*xui8>
  return %r : tensor<*xui8>
}

// -----

func.func @bias_axes(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>, %b: tensor<4x1xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ConvTranspose: bias [4, 1] needs one axis}}
  %r = "onnx.ConvTranspose"(%x, %w, %b) : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>, tensor<4x1xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @groups(%x: tensor<1x3x8x8xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: group 3 does not divide the 4 channels of the result}}
  %r = "onnx.Conv"(%x, %w) {group = 3 : i64} : (tensor<1x3x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @window(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x9x9xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: a window of 9 does not fit the 8 entries of spatial axis 0}}
  %r = "onnx.Conv"(%x, %w) : (tensor<1x4x8x8xf32>, tensor<6x4x9x9xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @pads(%x: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{MaxPool: pad 5 is not inside the window of 2 entries of spatial axis 0}}
  %r = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 5, 5, 5, 5>, resultSegmentSizes = array<i32: 1, 0>}
    : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @target(%a: tensor<2x3xf32>) -> tensor<*xf32> {
  %t = "onnx.Constant"() {value = dense<[[2, 3]]> : tensor<1x2xi64>} : () -> tensor<1x2xi64>
  // expected-error @+1 {{Reshape: the shape needs one axis, it has 2}}
  %r = "onnx.Reshape"(%a, %t) : (tensor<2x3xf32>, tensor<1x2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @blocks(%x: tensor<1x4x2x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{DepthToSpace: 4 channels cannot be divided into blocks of 3 x 3}}
  %r = "onnx.DepthToSpace"(%x) {blocksize = 3 : i64} : (tensor<1x4x2x2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scale(%x: tensor<2x3xf32>, %s: tensor<99xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{LayerNormalization: shapes [2, 3] and [99] do not broadcast: 3 and 99}}
  %r = "onnx.LayerNormalization"(%x, %s) {operandSegmentSizes = array<i32: 1, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}
    : (tensor<2x3xf32>, tensor<99xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @groups(%x: tensor<1x4x2x2xf32>, %s: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{GroupNormalization: num_groups 0 does not divide the channels of [1, 4, 2, 2]}}
  %r = "onnx.GroupNormalization"(%x, %s, %s) {num_groups = 0 : i64} : (tensor<1x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @blocksize(%x: tensor<2x6xf32>, %s: tensor<2x2xf32>, %z: tensor<2x2xi8>) -> tensor<*xi8> {
  // expected-error @+1 {{QuantizeLinear: block_size -3 is negative}}
  %r = "onnx.QuantizeLinear"(%x, %s, %z) {block_size = -3 : i64} : (tensor<2x6xf32>, tensor<2x2xf32>, tensor<2x2xi8>) -> tensor<*xi8>
  return %r : tensor<*xi8>
}

// -----

func.func @axis(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %z: tensor<3xi8>) -> tensor<*xi8> {
  // expected-error @+1 {{QuantizeLinear: axis 9 is outside the 2 axes of the input}}
  %r = "onnx.QuantizeLinear"(%x, %s, %z) {axis = 9 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<*xi8>
  return %r : tensor<*xi8>
}

// -----

func.func @recurrent(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{RNN: the activation function "Evil" is not known}}
  %y = "onnx.RNN"(%x, %w, %r) {activations = ["Evil"], hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @weights(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x16x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{GRU: size of axis 1 of W: 4 and 12 differ}}
  %y = "onnx.GRU"(%x, %w, %r) {hidden_size = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x16x4xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @resize(%x: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %s = "onnx.Constant"() {value = dense<[1, 1, 0, 0]> : tensor<4xi64>} : () -> tensor<4xi64>
  // expected-error @+1 {{Resize: size 0 of entry 2 is not positive}}
  %r = "onnx.Resize"(%x, %s) {operandSegmentSizes = array<i32: 1, 0, 0, 1>} : (tensor<1x1x4x4xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @mode(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %p = "onnx.Constant"() {value = dense<0> : tensor<4xi64>} : () -> tensor<4xi64>
  // expected-error @+1 {{Pad: mode 'evil' is not constant, reflect, edge or wrap}}
  %r = "onnx.Pad"(%x, %p) {mode = "evil", operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A result of the model has one rank.
func.func @ranks(%c: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{If: rank of result depends on run-time data: the branches give 3 and 2 axes}}
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    %i = "onnx.Identity"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.Yield"(%i) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Neither rank is one that the reader takes.
func.func @neither(%c: tensor<i1>, %x: tensor<2x3xf32>, %w: tensor<5x7xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{If: neither branch gives results of a rank that what reads them takes: product (MatMul, opset 13): operands}}
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    %i = "onnx.Identity"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.Yield"(%i) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %y = "onnx.MatMul"(%r, %w) : (tensor<*xf32>, tensor<5x7xf32>) -> tensor<*xf32> loc(fused<{op = "MatMul", opset = 13 : i64}>["product"])
  return %y : tensor<*xf32>
}

// -----

// A loop's state has one rank.
func.func @carried(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{Loop: rank of result depends on run-time data: a carried value has 2 axes, then 3; give it the same number in every iteration (Unsqueeze, Reshape)}}
  %r = "onnx.Loop"(%m, %c, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<*xf32>):
    %u = "onnx.Unsqueeze"(%a, %axes) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%go, %u) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// The branches of an If in a loop's body give what the loop carries, and nothing behind the If makes one rank of it.
func.func @carried_ranks(%m: tensor<i64>, %c: tensor<i1>, %d: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.Loop"(%m, %c, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<*xf32>):
    // expected-error @+1 {{If: rank of result depends on run-time data: the branches give 3 and 2 axes}}
    %b = "onnx.If"(%d) ({
      %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
      "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
    }, {
      "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<*xf32>
    "onnx.Yield"(%go, %b) : (tensor<i1>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scalar_indices(%x: tensor<3x4xf32>, %i: tensor<i64>, %u: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{ScatterND: indices need at least one axis, that of their tuples}}
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<3x4xf32>, tensor<i64>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// com.microsoft's attention operators say which operand has too few axes, before a size of it is asked for.
func.func @query(%q: tensor<2x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ms.MultiHeadAttention: query needs 3 or 5 axes, it has 2}}
  %y = "onnx.ms.MultiHeadAttention"(%q) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<2x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @no_heads(%q: tensor<1x2x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ms.MultiHeadAttention: num_heads is 0, it must be positive}}
  %y = "onnx.ms.MultiHeadAttention"(%q) <{num_heads = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<1x2x8xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @joined(%a: tensor<2x3xui8>, %b: tensor<2x3x4xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xui8> {
  // expected-error @+1 {{ms.QLinearConcat: inputs need as many axes as the first, 2, one has 3}}
  %y = "onnx.ms.QLinearConcat"(%s, %z, %a, %s, %z, %b, %s, %z) <{axis = 0 : i64}> : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  return %y : tensor<*xui8>
}
