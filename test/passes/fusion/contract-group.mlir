// RUN: onnxc-opt %s --form-kernels | FileCheck %s

// The sum and the activation behind a product are computed on its accumulators; the bias is an argument of the kernel.
// CHECK: func.func @plan_run
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @packed_matmul_add_relu_f32
// CHECK-SAME: family = "contract"
// CHECK: onnx.packed.MatMul
// CHECK: onnx.Add
// CHECK: onnx.Relu
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x16xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x4x16xf32>} : () -> tensor<1x4x16xf32>
  %b = "onnx.Constant"() {value = dense<[1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.,13.,14.,15.,16.]> : tensor<16xf32>} : () -> tensor<16xf32>
  %y = "onnx.packed.MatMul"(%a, %w) <{N = 16 : i64}> : (tensor<?x4xf32>, tensor<1x4x16xf32>) -> tensor<?x16xf32>
  %s = "onnx.Add"(%y, %b) : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %r = "onnx.Relu"(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}
