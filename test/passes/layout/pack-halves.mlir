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

// The largest weight is a number that the type has in full: not one below f16's, nor an infinity, nor one that becomes one when it is rounded.
// CHECK-LABEL: @extremes
// BF16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xbf16>)
// F16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xf32>)
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xf32>)
// BF16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xbf16>)
// F16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xf32>)
// BF16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xbf16>)
// F16: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xf16>)
func.func @extremes(%a: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %small = "onnx.Constant"() {value = dense<1.0e-6> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %inf = "onnx.Constant"() {value = dense<0x7F800000> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %edge = "onnx.Constant"() {value = dense<65520.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %last = "onnx.Constant"() {value = dense<65519.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %0 = "onnx.MatMul"(%a, %small) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = "onnx.MatMul"(%a, %inf) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %2 = "onnx.MatMul"(%a, %edge) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %3 = "onnx.MatMul"(%a, %last) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %0, %1, %2, %3 : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// Zeros alone are bytes.
// CHECK-LABEL: @zeros
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<4x64x16xi8>)
func.func @zeros(%a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %w = "onnx.Constant"() {value = dense<0.0> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Rows that nothing but Gather reads.
// CHECK-LABEL: @rows
// BF16: %[[R:.*]] = "onnx.Gather"{{.*}} : (tensor<128x32xbf16>, tensor<?xi64>) -> tensor<?x32xbf16>
// F16: %[[R:.*]] = "onnx.Gather"{{.*}} : (tensor<128x32xf16>, tensor<?xi64>) -> tensor<?x32xf16>
// CHECK: "onnx.Cast"(%[[R]]) {{.*}} -> tensor<?x32xf32>
func.func @rows(%i: tensor<?xi64>) -> tensor<?x32xf32> {
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<128x32xf32>} : () -> tensor<128x32xf32>
  %y = "onnx.Gather"(%t, %i) <{axis = 0 : i64}> : (tensor<128x32xf32>, tensor<?xi64>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// Tied weights are a table and panels.
// CHECK-LABEL: @tied
// CHECK-DAG: "onnx.Gather"{{.*}} : (tensor<128x32x{{b?}}f16>, tensor<?xi64>)
// CHECK-DAG: "onnx.packed.MatMul"{{.*}} tensor<8x32x16x{{b?}}f16>)
func.func @tied(%i: tensor<?xi64>) -> tensor<?x128xf32> {
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<128x32xf32>} : () -> tensor<128x32xf32>
  %x = "onnx.Gather"(%t, %i) <{axis = 0 : i64}> : (tensor<128x32xf32>, tensor<?xi64>) -> tensor<?x32xf32>
  %y = "onnx.Gemm"(%x, %t) <{transB = 1 : i64}> : (tensor<?x32xf32>, tensor<128x32xf32>) -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// Coordinates of four numbers, and a table that other ops read.
// CHECK-LABEL: @others
// CHECK: "onnx.Gather"{{.*}} : (tensor<1024x4xf32>
// CHECK: "onnx.Gather"{{.*}} : (tensor<128x32xf32>
func.func @others(%i: tensor<?xi64>, %m: tensor<128x32xf32>) -> (tensor<?x4xf32>, tensor<?x32xf32>, tensor<128x32xf32>) {
  %a = "onnx.Constant"() {value = dense<1.0> : tensor<1024x4xf32>} : () -> tensor<1024x4xf32>
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<128x32xf32>} : () -> tensor<128x32xf32>
  %x = "onnx.Gather"(%a, %i) <{axis = 0 : i64}> : (tensor<1024x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %y = "onnx.Gather"(%b, %i) <{axis = 0 : i64}> : (tensor<128x32xf32>, tensor<?xi64>) -> tensor<?x32xf32>
  %z = "onnx.Mul"(%b, %m) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
  return %x, %y, %z : tensor<?x4xf32>, tensor<?x32xf32>, tensor<128x32xf32>
}

// BF16: folded{{.*}}: "0x01000000803F803F
// F16: folded{{.*}}: "0x01000000043C043C
