// RUN: onnxc-opt %s --form-kernels | onnxc-opt | FileCheck %s

// What a pass prints can be read again, dims that only the run knows included.
// CHECK: kernel.func @softmax_f32_{{.*}}(%arg0: tensor<?x4xf32, [-1, 4]>) -> tensor<?x4xf32, [-1, 4]>
func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["n", ""]}) -> (tensor<?x4xf32> {onnx.name = "y"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
