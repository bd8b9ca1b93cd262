// A size is computed once a region, however many launches need it: n is halved twice, three launches want the result.
// RUN: onnxc-opt --form-kernels %s | FileCheck %s

// CHECK-LABEL: func.func @plan_run
// CHECK-COUNT-2: arith.floordivsi
// CHECK-NOT: arith.{{maxsi|floordivsi}}
// CHECK-LABEL: func.func @plan_sizes
func.func @main(%x: tensor<1x1x?xf32> {onnx.name = "x", onnx.dims = ["", "", "n"]}) -> (tensor<1x1x?xf32> {onnx.name = "y"}) {
  %a = "onnx.MaxPool"(%x) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %b = "onnx.MaxPool"(%a) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
  %c = "onnx.GlobalMaxPool"(%b) : (tensor<1x1x?xf32>) -> tensor<1x1x1xf32>
  %d = "onnx.CumSum"(%b, %c) : (tensor<1x1x?xf32>, tensor<1x1x1xf32>) -> tensor<1x1x?xf32>
  return %d : tensor<1x1x?xf32>
}
