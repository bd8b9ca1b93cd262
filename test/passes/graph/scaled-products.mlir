// RUN: onnxc-opt %s --integer-contractions --split-input-file | FileCheck %s

// Products of f32 rows with quantised matrices: integers multiply, scales follow.

// CHECK-LABEL: @columns
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense_resource<{{.*}}> : tensor<256x256xf32>}>
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<256xf32>}>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %[[W]])
// CHECK: "onnx.Mul"(%[[P]], %[[S]])
func.func @columns(%a: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %q = "onnx.Constant"() {value = dense<5> : tensor<256x256xui8>} : () -> tensor<256x256xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<256xf32>} : () -> tensor<256xf32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<256xui8>} : () -> tensor<256xui8>
  %w = "onnx.DequantizeLinear"(%q, %s, %z) <{axis = 1 : i64}> : (tensor<256x256xui8>, tensor<256xf32>, tensor<256xui8>) -> tensor<256x256xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

// The bias stays a sum of its own, with Gemm's factors; those of 1 are left out.
// CHECK-LABEL: @gemm
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense_resource<{{.*}}> : tensor<256x256xf32>}>
// CHECK: %[[P:.*]] = "onnx.Gemm"(%arg0, %[[W]]) <{alpha = 1.000000e+00 : f32{{.*}}transB = 1
// CHECK: %[[C:.*]] = "onnx.Mul"(%arg1
// CHECK: "onnx.Add"(%[[P]], %[[C]])
func.func @gemm(%a: tensor<?x256xf32>, %c: tensor<256xf32>) -> tensor<?x256xf32> {
  %q = "onnx.Constant"() {value = dense<-5> : tensor<256x256xi4>} : () -> tensor<256x256xi4>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %w = "onnx.DequantizeLinear"(%q, %s) : (tensor<256x256xi4>, tensor<f32>) -> tensor<256x256xf32>
  %y = "onnx.Gemm"(%a, %w, %c) <{alpha = 2.0 : f32, beta = 3.0 : f32, transB = 1 : i64}> : (tensor<?x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

// 255 less the zero point is no signed byte, less the middle of its type it is.
// CHECK-LABEL: @offsets
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<1xf32>}>
// CHECK-DAG: %[[O:.*]] = "onnx.Constant"() <{value = dense<3.000000e+00> : tensor<1xf32>}>
// CHECK-DAG: %[[P:.*]] = "onnx.MatMul"(%arg0
// CHECK-DAG: %[[R:.*]] = "onnx.ReduceSum"(%arg0
// CHECK: %[[U:.*]] = "onnx.Unsqueeze"(%[[R]]
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[U]], %[[O]])
// CHECK: %[[A:.*]] = "onnx.Add"(%[[P]], %[[M]])
// CHECK: "onnx.Mul"(%[[A]], %[[S]])
func.func @offsets(%a: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %q = "onnx.Constant"() {value = dense<255> : tensor<256x256xui8>} : () -> tensor<256x256xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<125> : tensor<ui8>} : () -> tensor<ui8>
  %w = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<256x256xui8>, tensor<f32>, tensor<ui8>) -> tensor<256x256xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

// Scales along the depth, and few weights, are dequantised.
// CHECK-LABEL: @others
// CHECK-NOT: onnx.Mul
// CHECK: "onnx.MatMul"
// CHECK-NOT: onnx.Mul
func.func @others(%a: tensor<?x256xf32>, %b: tensor<?x255xf32>) -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %q = "onnx.Constant"() {value = dense<5> : tensor<256x256xi8>} : () -> tensor<256x256xi8>
  %p = "onnx.Constant"() {value = dense<5> : tensor<255x256xi8>} : () -> tensor<255x256xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<256xf32>} : () -> tensor<256xf32>
  %v = "onnx.DequantizeLinear"(%q, %s) <{axis = 0 : i64}> : (tensor<256x256xi8>, tensor<256xf32>) -> tensor<256x256xf32>
  %w = "onnx.DequantizeLinear"(%p, %s) <{axis = 1 : i64}> : (tensor<255x256xi8>, tensor<256xf32>) -> tensor<255x256xf32>
  %0 = "onnx.MatMul"(%a, %v) : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %1 = "onnx.MatMul"(%b, %w) : (tensor<?x255xf32>, tensor<255x256xf32>) -> tensor<?x256xf32>
  return %0, %1 : tensor<?x256xf32>, tensor<?x256xf32>
}
