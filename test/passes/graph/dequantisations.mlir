// RUN: onnxc-opt %s --simplify=weights=true --split-input-file | FileCheck %s

// Integers that Cast, Sub and Mul dequantise, with a scale for each row or column, or one.

// CHECK-LABEL: @columns
// CHECK-DAG: %[[Q:.*]] = "onnx.Constant"() <{value = dense<5> : tensor<64x64xui8>}>
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<64xf32>}>
// CHECK-DAG: %[[Z:.*]] = "onnx.Constant"() <{value = dense<3> : tensor<64xui8>}>
// CHECK: "onnx.DequantizeLinear"(%[[Q]], %[[S]], %[[Z]]) <{axis = 1 : i64
func.func @columns() -> tensor<64x64xf32> {
  %q = "onnx.Constant"() {value = dense<5> : tensor<64x64xui8>} : () -> tensor<64x64xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<64xf32>} : () -> tensor<64xf32>
  %z = "onnx.Constant"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "onnx.Cast"(%q) <{to = 1 : i64}> : (tensor<64x64xui8>) -> tensor<64x64xf32>
  %1 = "onnx.Sub"(%0, %z) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = "onnx.Mul"(%1, %s) : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: @rows
// CHECK: "onnx.DequantizeLinear"(%{{.*}}, %{{.*}}) <{axis = 0 : i64{{.*}} : (tensor<64x64xi4>, tensor<64xf32>) -> tensor<64x64xf32>
func.func @rows() -> tensor<64x64xf32> {
  %q = "onnx.Constant"() {value = dense<5> : tensor<64x64xi4>} : () -> tensor<64x64xi4>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<64x1xf32>} : () -> tensor<64x1xf32>
  %0 = "onnx.Cast"(%q) <{to = 1 : i64}> : (tensor<64x64xi4>) -> tensor<64x64xf32>
  %1 = "onnx.Mul"(%s, %0) : (tensor<64x1xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

// The scale may follow the product.
// CHECK-LABEL: @late
// CHECK: %[[W:.*]] = "onnx.DequantizeLinear"({{.*}} : (tensor<64x64xi8>, tensor<f32>) -> tensor<64x64xf32>
// CHECK: "onnx.MatMul"(%arg0, %[[W]])
func.func @late(%a: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %q = "onnx.Constant"() {value = dense<5> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %0 = "onnx.Cast"(%q) <{to = 1 : i64}> : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %1 = "onnx.MatMul"(%a, %0) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}

// -----

// Scales of both axes, zero points that are none of the type's numbers, few integers, and those of the run.
// CHECK-LABEL: @others
// CHECK-NOT: onnx.DequantizeLinear
func.func @others(%r: tensor<64x64xi8>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x63xf32>, tensor<64x64xf32>) {
  %q = "onnx.Constant"() {value = dense<5> : tensor<64x64xi8>} : () -> tensor<64x64xi8>
  %p = "onnx.Constant"() {value = dense<5> : tensor<64x63xi8>} : () -> tensor<64x63xi8>
  %both = "onnx.Constant"() {value = dense<0.5> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "onnx.Cast"(%q) <{to = 1 : i64}> : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %1 = "onnx.Cast"(%p) <{to = 1 : i64}> : (tensor<64x63xi8>) -> tensor<64x63xf32>
  %2 = "onnx.Cast"(%r) <{to = 1 : i64}> : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %3 = "onnx.Mul"(%0, %both) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = "onnx.Sub"(%0, %z) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %5 = "onnx.Mul"(%4, %s) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %6 = "onnx.Mul"(%1, %s) : (tensor<64x63xf32>, tensor<f32>) -> tensor<64x63xf32>
  %7 = "onnx.Mul"(%2, %s) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  return %3, %5, %6, %7 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x63xf32>, tensor<64x64xf32>
}
