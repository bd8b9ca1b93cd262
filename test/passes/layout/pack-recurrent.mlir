// RUN: onnxc-opt %s --pack-weights | FileCheck %s

// Recurrent weights in panels of 64 rows, a step of the depth of all rows after the other.

// 33 rows of 1, 2: a panel has all ones, zeros that fill it up, then the twos.
// CHECK-LABEL: @panel
// CHECK: "onnx.Constant"() <{value = dense<"0x{{(0000803F){33}(0{8}){31}(00000040){33}(0{8}){31}"}}> : tensor<1x64x2xf32>}>
// CHECK: "onnx.RNN"(%arg0, {{.*}}{packed = 1 : i64} : (tensor<?x1x2xf32>, tensor<1x64x2xf32>, tensor<1x64x33xf32>)
func.func @panel(%x: tensor<?x1x2xf32>) -> tensor<?x1x1x33xf32> {
  %w = "onnx.Constant"() {value = dense<"0x0000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F000000400000803F00000040"> : tensor<1x33x2xf32>} : () -> tensor<1x33x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x33x33xf32>} : () -> tensor<1x33x33xf32>
  %y = "onnx.RNN"(%x, %w, %r) <{hidden_size = 33 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x33x2xf32>, tensor<1x33x33xf32>) -> tensor<?x1x1x33xf32>
  return %y : tensor<?x1x1x33xf32>
}

// An LSTM's four gates are one run of rows, in both directions: 32 rows fill half a panel, 28 do not.
// CHECK-LABEL: @lstm
// CHECK: "onnx.LSTM"(%arg0, {{.*}}{packed = 1 : i64} : (tensor<?x1x2xf32>, tensor<2x64x2xf32>, tensor<2x64x8xf32>)
// CHECK: "onnx.LSTM"(%arg0, {{.*}} : (tensor<?x1x2xf32>, tensor<2x28x2xf32>, tensor<2x28x7xf32>)
func.func @lstm(%x: tensor<?x1x2xf32>) -> (tensor<?x2x1x8xf32>, tensor<?x2x1x7xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x32x2xf32>} : () -> tensor<2x32x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<2x32x8xf32>} : () -> tensor<2x32x8xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<2x28x2xf32>} : () -> tensor<2x28x2xf32>
  %s = "onnx.Constant"() {value = dense<1.0> : tensor<2x28x7xf32>} : () -> tensor<2x28x7xf32>
  %y = "onnx.LSTM"(%x, %w, %r) <{direction = "bidirectional", hidden_size = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x1x2xf32>, tensor<2x32x2xf32>, tensor<2x32x8xf32>) -> tensor<?x2x1x8xf32>
  %z = "onnx.LSTM"(%x, %v, %s) <{direction = "bidirectional", hidden_size = 7 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x1x2xf32>, tensor<2x28x2xf32>, tensor<2x28x7xf32>) -> tensor<?x2x1x7xf32>
  return %y, %z : tensor<?x2x1x8xf32>, tensor<?x2x1x7xf32>
}

// A GRU's last gate has panels of its own: of 22 rows both are two for 66 rows, of 21 for 63, which is more than twice as many.
// CHECK-LABEL: @gru
// CHECK: "onnx.GRU"(%arg0, {{.*}}{packed = 1 : i64} : (tensor<?x1x2xf32>, tensor<1x128x2xf32>, tensor<1x128x22xf32>)
// CHECK: "onnx.GRU"(%arg0, {{.*}} : (tensor<?x1x2xf32>, tensor<1x63x2xf32>, tensor<1x63x21xf32>)
func.func @gru(%x: tensor<?x1x2xf32>) -> (tensor<?x1x1x22xf32>, tensor<?x1x1x21xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x66x2xf32>} : () -> tensor<1x66x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x66x22xf32>} : () -> tensor<1x66x22xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<1x63x2xf32>} : () -> tensor<1x63x2xf32>
  %s = "onnx.Constant"() {value = dense<1.0> : tensor<1x63x21xf32>} : () -> tensor<1x63x21xf32>
  %y = "onnx.GRU"(%x, %w, %r) <{hidden_size = 22 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x66x2xf32>, tensor<1x66x22xf32>) -> tensor<?x1x1x22xf32>
  %z = "onnx.GRU"(%x, %v, %s) <{hidden_size = 21 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x63x2xf32>, tensor<1x63x21xf32>) -> tensor<?x1x1x21xf32>
  return %y, %z : tensor<?x1x1x22xf32>, tensor<?x1x1x21xf32>
}

// Weights that the run makes, one or both, and doubles are read as they are.
// CHECK-LABEL: @not_packed
// CHECK-COUNT-3: "onnx.RNN"
// CHECK-NOT: packed
// CHECK: return
func.func @not_packed(%x: tensor<?x1x2xf32>, %d: tensor<?x1x2xf64>, %run: tensor<1x64x64xf32>, %rows: tensor<1x64x2xf32>) -> (tensor<?x1x1x64xf32>, tensor<?x1x1x64xf32>, tensor<?x1x1x64xf64>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x2xf32>} : () -> tensor<1x64x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x64xf32>} : () -> tensor<1x64x64xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x2xf64>} : () -> tensor<1x64x2xf64>
  %s = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x64xf64>} : () -> tensor<1x64x64xf64>
  %0 = "onnx.RNN"(%x, %w, %run) <{hidden_size = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x64x2xf32>, tensor<1x64x64xf32>) -> tensor<?x1x1x64xf32>
  %1 = "onnx.RNN"(%x, %rows, %r) <{hidden_size = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x64x2xf32>, tensor<1x64x64xf32>) -> tensor<?x1x1x64xf32>
  %2 = "onnx.RNN"(%d, %v, %s) <{hidden_size = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf64>, tensor<1x64x2xf64>, tensor<1x64x64xf64>) -> tensor<?x1x1x64xf64>
  return %0, %1, %2 : tensor<?x1x1x64xf32>, tensor<?x1x1x64xf32>, tensor<?x1x1x64xf64>
}
