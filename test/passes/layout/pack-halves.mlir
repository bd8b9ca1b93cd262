// RUN: onnxc-opt %s --pack-weights="precision=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: onnxc-opt %s --pack-weights="precision=f16" | FileCheck %s --check-prefixes=CHECK,F16

// 1 + 2^-8 lies between two bf16, of which 1 is even.
// CHECK-LABEL: @large
// BF16: "onnx.packed.MatMul"{{.*}} : (tensor<?x64xf32>, tensor<4x64x16xbf16>) -> tensor<?x64xf32>
// F16: "onnx.packed.MatMul"{{.*}} : (tensor<?x64xf32>, tensor<4x64x16xf16>) -> tensor<?x64xf32>
func.func @large(%a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = "onnx.Constant"() {value = dense<1.00390625> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: @few
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<4x63x16xf32>)
func.func @few(%a: tensor<?x63xf32>) -> tensor<?x64xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<63x64xf32>} : () -> tensor<63x64xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x63xf32>, tensor<63x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// With Gemm's factor the weights are beyond f16.
// CHECK-LABEL: @scaled
// BF16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xbf16>)
// F16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xf32>)
func.func @scaled(%a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = "onnx.Constant"() {value = dense<-40000.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %y = "onnx.Gemm"(%a, %w) <{alpha = 2.0 : f32}> : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// BF16: folded{{.*}}: "0x01000000803F803F
// F16: folded{{.*}}: "0x01000000043C043C
