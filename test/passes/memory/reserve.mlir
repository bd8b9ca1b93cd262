// What runs within the ranges of sizes take at most: slots and a result of 8 x 6 x 4 bytes, and a result of 6 rows of (8 - 3) / 2 + 1, though from 0 on the
// numerator may be negative. What data decides has no bound.
// RUN: onnxc-opt %s --form-kernels --plan-memory | FileCheck %s

// CHECK: most = 192 : i64, name = "y"
// CHECK-SAME: most = 72 : i64, name = "p"
// CHECK-SAME: dims = array<i64: 3, -9223372036854775808>, name = "i"
// CHECK-SAME: onnxc.ranges = array<i64: 0, 5, 8>
// CHECK-SAME: onnxc.slot_bytes = array<i64: 384>
// CHECK: plan.launch @softmax{{.*}}most = array<i64: 8>
// CHECK: plan.launch @maxpool{{.*}}most = array<i64: 8, 3>
// CHECK: plan.launch @nonzero{{.*}}most = array<i64: 8, 0>
module attributes {onnx.reserve} {
  func.func @main(%x: tensor<1x6x?xf32> {onnx.name = "x", onnx.dims = ["", "", "n"], onnx.ranges = array<i64: 0, -1, 9223372036854775807, 0, -1, 9223372036854775807, 0, 5, 8>})
      -> (tensor<1x6x?xf32> {onnx.name = "y"}, tensor<1x6x?xf32> {onnx.name = "p"}, tensor<3x?xi64> {onnx.name = "i"}) {
    %0 = "onnx.Softmax"(%x) <{axis = 2 : i64}> : (tensor<1x6x?xf32>) -> tensor<1x6x?xf32>
    %1 = "onnx.Softmax"(%0) <{axis = 2 : i64}> : (tensor<1x6x?xf32>) -> tensor<1x6x?xf32>
    %2 = "onnx.Softmax"(%1) <{axis = 2 : i64}> : (tensor<1x6x?xf32>) -> tensor<1x6x?xf32>
    %p = "onnx.MaxPool"(%2) {kernel_shape = array<i64: 3>, strides = array<i64: 2>} : (tensor<1x6x?xf32>) -> tensor<1x6x?xf32>
    %i = "onnx.NonZero"(%x) : (tensor<1x6x?xf32>) -> tensor<3x?xi64>
    return %2, %p, %i : tensor<1x6x?xf32>, tensor<1x6x?xf32>, tensor<3x?xi64>
  }
}
