// RUN: onnxc-opt %s --pack-weights --split-input-file | FileCheck %s

// Where a second-level cache does not keep the weights of all products, each matrix is stored in the fewest bits that hold it as it is, also
// under Gemm's factor.

// CHECK-LABEL: @bytes
// CHECK: "onnx.packed.MatMul"{{.*}} : (tensor<?x1024xf32>, tensor<32x1024x16xi8>) -> tensor<?x512xf32>
// CHECK: "onnx.packed.MatMul"{{.*}} : (tensor<700x1024xf32>, tensor<32x1024x16xi8>) -> tensor<700x512xf32>
func.func @bytes(%a: tensor<?x1024xf32>, %b: tensor<700x1024xf32>) -> (tensor<?x512xf32>, tensor<700x512xf32>) {
  %w = "onnx.Constant"() {value = dense<-64.0> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %0 = "onnx.Gemm"(%a, %w) <{alpha = 2.0 : f32}> : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %1 = "onnx.MatMul"(%b, %w) : (tensor<700x1024xf32>, tensor<1024x512xf32>) -> tensor<700x512xf32>
  return %0, %1 : tensor<?x512xf32>, tensor<700x512xf32>
}

// -----

// -0 is no byte.
// CHECK-LABEL: @halves
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xbf16>)
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xbf16>)
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xf16>)
func.func @halves(%a: tensor<?x1024xf32>, %b: tensor<2x3x1024xf32>) -> (tensor<?x512xf32>, tensor<?x512xf32>, tensor<2x3x512xf32>) {
  %u = "onnx.Constant"() {value = dense<128.0> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %v = "onnx.Constant"() {value = dense<-0.0> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %w = "onnx.Constant"() {value = dense<1.00390625> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %0 = "onnx.MatMul"(%a, %u) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %1 = "onnx.MatMul"(%a, %v) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %2 = "onnx.MatMul"(%b, %w) : (tensor<2x3x1024xf32>, tensor<1024x512xf32>) -> tensor<2x3x512xf32>
  return %0, %1, %2 : tensor<?x512xf32>, tensor<?x512xf32>, tensor<2x3x512xf32>
}

// -----

// 1 + 2^-11 is no half, and seven rows multiply f32 faster.
// CHECK-LABEL: @singles
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xf32>)
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xf32>)
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x1024x16xf32>)
func.func @singles(%a: tensor<?x1024xf32>, %b: tensor<7x1024xf32>) -> (tensor<?x512xf32>, tensor<7x512xf32>, tensor<7x512xf32>) {
  %u = "onnx.Constant"() {value = dense<2.0> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %v = "onnx.Constant"() {value = dense<1.00048828125> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %0 = "onnx.MatMul"(%a, %v) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %1 = "onnx.MatMul"(%b, %w) : (tensor<7x1024xf32>, tensor<1024x512xf32>) -> tensor<7x512xf32>
  %2 = "onnx.MatMul"(%b, %u) : (tensor<7x1024xf32>, tensor<1024x512xf32>) -> tensor<7x512xf32>
  return %0, %1, %2 : tensor<?x512xf32>, tensor<7x512xf32>, tensor<7x512xf32>
}

// -----

// CHECK-LABEL: @near
// CHECK: "onnx.packed.MatMul"{{.*}} tensor<32x512x16xf32>)
func.func @near(%a: tensor<?x512xf32>) -> tensor<?x512xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<512x512xf32>} : () -> tensor<512x512xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x512xf32>, tensor<512x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// -----

// CHECK-LABEL: @table
// CHECK: %[[T:.*]] = "onnx.Constant"{{.*}} tensor<1024x512xbf16>
// CHECK: %[[R:.*]] = "onnx.Gather"(%[[T]], %arg0)
// CHECK: "onnx.Cast"(%[[R]])
func.func @table(%i: tensor<4xi64>) -> tensor<4x512xf32> {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<1024x512xf32>} : () -> tensor<1024x512xf32>
  %y = "onnx.Gather"(%w, %i) <{axis = 0 : i64}> : (tensor<1024x512xf32>, tensor<4xi64>) -> tensor<4x512xf32>
  return %y : tensor<4x512xf32>
}

// -----

// Many rows of bf16 meet bf16, of few weights too; 1 + 2^-8 is none.
// CHECK-LABEL: @bf16_rows
// CHECK: "onnx.packed.MatMul"{{.*}} {onnxc.bf16_rows} : (tensor<48x512xf32>, tensor<8x512x16xbf16>)
// CHECK: "onnx.packed.MatMul"{{.*}} {onnxc.bf16_rows} : (tensor<?x512xf32>, tensor<8x512x16xbf16>)
// CHECK: "onnx.packed.MatMul"{{.*}} {onnxc.bf16_rows} : (tensor<47x512xf32>, tensor<8x512x16xf32>)
// CHECK: "onnx.packed.MatMul"{{.*}} {onnxc.bf16_rows} : (tensor<48x512xf32>, tensor<8x512x16xf32>)
func.func @bf16_rows(%a: tensor<48x512xf32>, %b: tensor<?x512xf32>, %c: tensor<47x512xf32>) -> (tensor<48x128xf32>, tensor<?x128xf32>, tensor<47x128xf32>, tensor<48x128xf32>) {
  %v = "onnx.Constant"() {value = dense<0.5> : tensor<512x128xf32>} : () -> tensor<512x128xf32>
  %w = "onnx.Constant"() {value = dense<1.00390625> : tensor<512x128xf32>} : () -> tensor<512x128xf32>
  %0 = "onnx.MatMul"(%a, %v) {onnxc.bf16_rows} : (tensor<48x512xf32>, tensor<512x128xf32>) -> tensor<48x128xf32>
  %1 = "onnx.Gemm"(%b, %v) {onnxc.bf16_rows} : (tensor<?x512xf32>, tensor<512x128xf32>) -> tensor<?x128xf32>
  %2 = "onnx.MatMul"(%c, %v) {onnxc.bf16_rows} : (tensor<47x512xf32>, tensor<512x128xf32>) -> tensor<47x128xf32>
  %3 = "onnx.MatMul"(%a, %w) {onnxc.bf16_rows} : (tensor<48x512xf32>, tensor<512x128xf32>) -> tensor<48x128xf32>
  return %0, %1, %2, %3 : tensor<48x128xf32>, tensor<?x128xf32>, tensor<47x128xf32>, tensor<48x128xf32>
}
