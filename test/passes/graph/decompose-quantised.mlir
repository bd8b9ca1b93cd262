// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Quantised operators of com.microsoft as those of f32 between a dequantisation and a quantisation.

// Weights that lie by columns have their scales along the first axis; the bias counts in units of both scales.
// CHECK-LABEL: @linear_gemm
// CHECK-DAG: %[[U:.*]] = "onnx.Constant"() <{value = dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>}>
// CHECK-DAG: %[[A:.*]] = "onnx.DequantizeLinear"(%arg0
// CHECK-DAG: %[[W:.*]] = "onnx.DequantizeLinear"(%{{.*}}) <{axis = 0 : i64{{.*}} : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x3xf32>
// CHECK-DAG: %[[C:.*]] = "onnx.DequantizeLinear"(%{{.*}}, %[[U]]) <{axis = 0 : i64{{.*}} : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: %[[Y:.*]] = "onnx.Gemm"(%[[A]], %[[W]], %[[C]]) <{{.*}}transB = 1 : i64
// CHECK: "onnx.QuantizeLinear"(%[[Y]]
func.func @linear_gemm(%a: tensor<4x3xui8>) -> tensor<4x2xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %b = "onnx.Constant"() {value = dense<3> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %t = "onnx.Constant"() {value = dense<[0.25, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %o = "onnx.Constant"() {value = dense<0> : tensor<2xi8>} : () -> tensor<2xi8>
  %c = "onnx.Constant"() {value = dense<7> : tensor<2xi32>} : () -> tensor<2xi32>
  %y = "onnx.ms.QGemm"(%a, %s, %z, %b, %t, %o, %c, %s, %z) <{transB = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1>}>
      : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>, tensor<2xi32>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  return %y : tensor<4x2xui8>
}

// -----

// Without a scale the result stays f32.
// CHECK-LABEL: @linear_gemm_of_floats
// CHECK: %[[Y:.*]] = "onnx.Gemm"
// CHECK-NEXT: return %[[Y]]
func.func @linear_gemm_of_floats(%a: tensor<4x3xui8>) -> tensor<4x2xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xui8>} : () -> tensor<3x2xui8>
  %y = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>}>
      : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Another factor than 1, a bias for each element, and weights of the run stay with the op.
// CHECK-LABEL: @other_gemms
// CHECK: "onnx.ms.QGemm"{{.*}}alpha = 2.000000e+00
// CHECK: "onnx.ms.QGemm"{{.*}}tensor<4x2xi32>
// CHECK: "onnx.ms.QGemm"(%arg0, %{{.*}}, %{{.*}}, %arg1
// CHECK-NOT: onnx.Gemm
// CHECK: return
func.func @other_gemms(%a: tensor<4x3xui8>, %w: tensor<3x2xui8>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xui8>} : () -> tensor<3x2xui8>
  %c = "onnx.Constant"() {value = dense<7> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %0 = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z) <{alpha = 2.0 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>}>
      : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %1 = "onnx.ms.QGemm"(%a, %s, %z, %b, %s, %z, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0>}>
      : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2xi32>) -> tensor<4x2xf32>
  %2 = "onnx.ms.QGemm"(%a, %s, %z, %w, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0>}>
      : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Quantised in the run: (q - zero) B times both scales, plus the bias.
// CHECK-LABEL: @dynamic_product
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<[5.000000e-01, 2.500000e-01]>
// CHECK: %[[Q:.*]], %[[T:.*]], %[[Z:.*]] = "onnx.DynamicQuantizeLinear"(%arg0)
// CHECK: %[[P:.*]] = "onnx.MatMulInteger"(%[[Q]], %{{.*}}, %[[Z]], %{{.*}}) {{.*}} -> tensor<?x2xi32>
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[P]])
// CHECK: %[[B:.*]] = "onnx.Mul"(%[[S]], %[[T]])
// CHECK: %[[Y:.*]] = "onnx.Mul"(%[[F]], %[[B]])
// CHECK: "onnx.Add"(%[[Y]], %arg1)
func.func @dynamic_product(%a: tensor<?x3xf32>, %bias: tensor<2xf32>) -> tensor<?x2xf32> {
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %s = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "onnx.Constant"() {value = dense<1> : tensor<2xi8>} : () -> tensor<2xi8>
  %y = "onnx.ms.DynamicQuantizeMatMul"(%a, %b, %s, %z, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
      : (tensor<?x3xf32>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// Weights or a bias whose size only the run knows, several matrices, or scales of several axes stay with the op.
// CHECK-LABEL: @other_dynamic_products
// CHECK-COUNT-4: "onnx.ms.DynamicQuantizeMatMul"
// CHECK-NOT: onnx.MatMulInteger
// CHECK: return
func.func @other_dynamic_products(%a: tensor<2x4x3xf32>, %w: tensor<3x2xi8>, %bias: tensor<?xf32>)
    -> (tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>) {
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %m = "onnx.Constant"() {value = dense<3> : tensor<2x3x2xi8>} : () -> tensor<2x3x2xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %0 = "onnx.ms.DynamicQuantizeMatMul"(%a, %w, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x3xf32>, tensor<3x2xi8>, tensor<f32>) -> tensor<2x4x2xf32>
  %1 = "onnx.ms.DynamicQuantizeMatMul"(%a, %b, %s, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}> : (tensor<2x4x3xf32>, tensor<3x2xi8>, tensor<f32>, tensor<?xf32>) -> tensor<2x4x2xf32>
  %2 = "onnx.ms.DynamicQuantizeMatMul"(%a, %m, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x3xf32>, tensor<2x3x2xi8>, tensor<f32>) -> tensor<2x4x2xf32>
  %3 = "onnx.ms.DynamicQuantizeMatMul"(%a, %b, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<2x4x3xf32>, tensor<3x2xi8>, tensor<1x2xf32>) -> tensor<2x4x2xf32>
  return %0, %1, %2, %3 : tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>
}

// -----

// Bytes that the model quantised itself: the sums times both scales.
// CHECK-LABEL: @integer_product
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<[5.000000e-01, 2.500000e-01]>
// CHECK: %[[P:.*]] = "onnx.MatMulInteger"(%arg0, %{{.*}}, %arg2) {{.*}} -> tensor<?x2xi32>
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[P]])
// CHECK: %[[B:.*]] = "onnx.Mul"(%[[S]], %arg1)
// CHECK: %[[Y:.*]] = "onnx.Mul"(%[[F]], %[[B]])
// CHECK-NEXT: return %[[Y]]
func.func @integer_product(%a: tensor<?x3xui8>, %t: tensor<f32>, %z: tensor<ui8>) -> tensor<?x2xf32> {
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %s = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %t, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>}>
      : (tensor<?x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<2xf32>, tensor<ui8>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// A scale for each row, or as many as the run gives, and weights of the run stay with the op.
// CHECK-LABEL: @other_integer_products
// CHECK-COUNT-3: "onnx.ms.MatMulIntegerToFloat"
// CHECK-NOT: onnx.MatMulInteger"
// CHECK: return
func.func @other_integer_products(%a: tensor<4x3xui8>, %t: tensor<4xf32>, %any: tensor<?xf32>, %w: tensor<3x2xi8>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %t, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<4xf32>, tensor<f32>) -> tensor<4x2xf32>
  %1 = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %any, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<?xf32>, tensor<f32>) -> tensor<4x2xf32>
  %2 = "onnx.ms.MatMulIntegerToFloat"(%a, %w, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Sums and products of quantised values; numbers in lists of one are numbers, and zero points may be left out.
// CHECK-LABEL: @linear_elements
// CHECK-DAG: %[[A:.*]] = "onnx.DequantizeLinear"(%arg0, {{.*}} (tensor<?x4xui8>, tensor<f32>, tensor<ui8>)
// CHECK-DAG: %[[B:.*]] = "onnx.DequantizeLinear"(%arg1, {{.*}} (tensor<4xui8>, tensor<f32>)
// CHECK: %[[S:.*]] = "onnx.Add"(%[[A]], %[[B]])
// CHECK: "onnx.QuantizeLinear"(%[[S]], {{.*}} (tensor<?x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x4xui8>
// CHECK: %[[P:.*]] = "onnx.Mul"
// CHECK: "onnx.QuantizeLinear"(%[[P]], {{.*}} (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xui8>
func.func @linear_elements(%a: tensor<?x4xui8>, %b: tensor<4xui8>) -> (tensor<?x4xui8>, tensor<?x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<1xui8>} : () -> tensor<1xui8>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %y = "onnx.ms.QLinearAdd"(%a, %s, %z, %b, %t, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}>
      : (tensor<?x4xui8>, tensor<1xf32>, tensor<1xui8>, tensor<4xui8>, tensor<f32>, tensor<1xf32>, tensor<1xui8>) -> tensor<?x4xui8>
  %x = "onnx.ms.QLinearMul"(%a, %s, %z, %b, %t, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0>}>
      : (tensor<?x4xui8>, tensor<1xf32>, tensor<1xui8>, tensor<4xui8>, tensor<f32>, tensor<f32>) -> tensor<?x4xui8>
  return %y, %x : tensor<?x4xui8>, tensor<?x4xui8>
}

// -----

// A scale that the run gives, or one for each column, stays with the op.
// CHECK-LABEL: @other_elements
// CHECK: "onnx.ms.QLinearAdd"(%arg0, %arg2
// CHECK: "onnx.ms.QLinearMul"
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: return
func.func @other_elements(%a: tensor<3x4xui8>, %b: tensor<4xui8>, %run: tensor<f32>) -> (tensor<3x4xui8>, tensor<3x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %each = "onnx.Constant"() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = "onnx.ms.QLinearAdd"(%a, %run, %b, %s, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 1, 0>}> : (tensor<3x4xui8>, tensor<f32>, tensor<4xui8>, tensor<f32>, tensor<f32>) -> tensor<3x4xui8>
  %x = "onnx.ms.QLinearMul"(%a, %s, %b, %each, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0, 1, 0>}> : (tensor<3x4xui8>, tensor<f32>, tensor<4xui8>, tensor<4xf32>, tensor<f32>) -> tensor<3x4xui8>
  return %y, %x : tensor<3x4xui8>, tensor<3x4xui8>
}

// -----

// Functions of one quantised value, which keep their attributes; a scale of the run stays with the op.
// CHECK-LABEL: @linear_activations
// CHECK: %[[A:.*]] = "onnx.DequantizeLinear"(%arg0
// CHECK: %[[S:.*]] = "onnx.Sigmoid"(%[[A]])
// CHECK: "onnx.QuantizeLinear"(%[[S]], {{.*}} -> tensor<2x4xi8>
// CHECK: %[[L:.*]] = "onnx.LeakyRelu"(%{{.*}}) <{alpha = 2.500000e-01 : f32}>
// CHECK: "onnx.QuantizeLinear"(%[[L]], {{.*}} -> tensor<2x4xi8>
// CHECK: "onnx.ms.QLinearSigmoid"(%arg0, %arg1
// CHECK: "onnx.ms.QLinearLeakyRelu"(%arg0, %{{.*}}, %arg1
func.func @linear_activations(%x: tensor<2x4xi8>, %run: tensor<f32>) -> (tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %0 = "onnx.ms.QLinearSigmoid"(%x, %s, %z, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<2x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  %1 = "onnx.ms.QLinearLeakyRelu"(%x, %s, %z, %s, %z) <{alpha = 0.25 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<2x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  %2 = "onnx.ms.QLinearSigmoid"(%x, %run, %z, %s, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<2x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  %3 = "onnx.ms.QLinearLeakyRelu"(%x, %s, %run) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> : (tensor<2x4xi8>, tensor<f32>, tensor<f32>) -> tensor<2x4xi8>
  return %0, %1, %2, %3 : tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>, tensor<2x4xi8>
}

// -----

// Means of images and of windows, whose padding counts as the op says.
// CHECK-LABEL: @linear_means
// CHECK: %[[M:.*]] = "onnx.GlobalAveragePool"
// CHECK: "onnx.QuantizeLinear"(%[[M]], {{.*}} -> tensor<1x2x1x1xui8>
// CHECK: %[[W:.*]] = "onnx.AveragePool"(%{{.*}}) <{{.*}}count_include_pad = 1 : i64, kernel_shape = array<i64: 2, 3>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>}>
// CHECK: "onnx.QuantizeLinear"(%[[W]], {{.*}} -> tensor<1x2x3x2xui8>
func.func @linear_means(%x: tensor<1x2x4x4xui8>) -> (tensor<1x2x1x1xui8>, tensor<1x2x3x2xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %0 = "onnx.ms.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x1x1xui8>
  %1 = "onnx.ms.QLinearAveragePool"(%x, %s, %z, %s, %z) <{count_include_pad = 1 : i64, kernel_shape = array<i64: 2, 3>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
      : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x2xui8>
  return %0, %1 : tensor<1x2x1x1xui8>, tensor<1x2x3x2xui8>
}

// -----

// Bytes of images whose channels are last change their axes before a window and behind it; means of whole images have a kernel.
// CHECK-LABEL: @means_with_channels_last
// CHECK: onnx.ms.QLinearGlobalAveragePool
// CHECK: %[[X:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 3, 1, 2>}>{{.*}}tensor<1x2x4x4xui8>
// CHECK: "onnx.DequantizeLinear"(%[[X]]
// CHECK: "onnx.AveragePool"
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"({{.*}}tensor<1x2x3x3xui8>
// CHECK: "onnx.Transpose"(%[[Q]]) <{perm = array<i64: 0, 2, 3, 1>}>
func.func @means_with_channels_last(%x: tensor<1x4x4x2xui8>) -> (tensor<1x1x1x2xui8>, tensor<1x3x3x2xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %0 = "onnx.ms.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) <{channels_last = 1 : i64}> : (tensor<1x4x4x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x2xui8>
  %1 = "onnx.ms.QLinearAveragePool"(%x, %s, %z, %s, %z) <{channels_last = 1 : i64, kernel_shape = array<i64: 2, 2>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
      : (tensor<1x4x4x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x3x2xui8>
  return %0, %1 : tensor<1x1x1x2xui8>, tensor<1x3x3x2xui8>
}

// -----

// Also of several matrices, not with a scale for each of several rows of a matrix; a list for the columns is along axis 1.
// CHECK-LABEL: @linear_products
// CHECK: "onnx.DequantizeLinear"(%{{.*}}) <{axis = 1 : i64{{.*}} : (tensor<3x2xui8>, tensor<2xf32>, tensor<2xui8>)
// CHECK: %[[Y:.*]] = "onnx.MatMul"
// CHECK: "onnx.QuantizeLinear"(%[[Y]]
// CHECK: "onnx.MatMul"{{.*}}tensor<2x3x2xf32>
// CHECK: "onnx.QLinearMatMul"{{.*}}tensor<1x2xf32>
func.func @linear_products(%a: tensor<2x4x3xui8>) -> (tensor<2x4x2xui8>, tensor<2x4x2xui8>, tensor<2x4x2xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %b = "onnx.Constant"() {value = dense<3> : tensor<3x2xui8>} : () -> tensor<3x2xui8>
  %m = "onnx.Constant"() {value = dense<3> : tensor<2x3x2xui8>} : () -> tensor<2x3x2xui8>
  %t = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %u = "onnx.Constant"() {value = dense<[[0.5, 0.25]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %o = "onnx.Constant"() {value = dense<[127, 128]> : tensor<2xui8>} : () -> tensor<2xui8>
  %0 = "onnx.QLinearMatMul"(%a, %s, %z, %b, %t, %o, %s, %z) : (tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<2xf32>, tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x2xui8>
  %1 = "onnx.QLinearMatMul"(%a, %s, %z, %m, %s, %z, %s, %z) : (tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x2xui8>
  %2 = "onnx.QLinearMatMul"(%a, %s, %z, %b, %u, %o, %s, %z) : (tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<1x2xf32>, tensor<2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x2xui8>
  return %0, %1, %2 : tensor<2x4x2xui8>, tensor<2x4x2xui8>, tensor<2x4x2xui8>
}

// -----

// Scales of rows multiply the rows that were gathered, those of blocks are gathered with them.
// CHECK-LABEL: @tables_of_rows
// CHECK-DAG: %[[H:.*]] = "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<9x1xf32>}>
// CHECK-DAG: %[[N:.*]] = "onnx.Constant"() <{value = dense<7.000000e+00> : tensor<9x1xf32>}>
// CHECK: %[[R:.*]] = "onnx.Gather"(%{{.*}}, %arg0) <{axis = 0 : i64}> : (tensor<9x32xui8>, tensor<4xi64>) -> tensor<4x32xui8>
// CHECK: %[[C:.*]] = "onnx.Cast"(%[[R]])
// CHECK: %[[Z:.*]] = "onnx.Gather"(%[[N]], %arg0) <{axis = 0 : i64}> : (tensor<9x1xf32>, tensor<4xi64>) -> tensor<4x1xf32>
// CHECK: %[[D:.*]] = "onnx.Sub"(%[[C]], %[[Z]])
// CHECK: %[[S:.*]] = "onnx.Gather"(%[[H]], %arg0) <{axis = 0 : i64}> : (tensor<9x1xf32>, tensor<4xi64>) -> tensor<4x1xf32>
// CHECK: "onnx.Mul"(%[[D]], %[[S]])
// CHECK: %[[B:.*]] = "onnx.Gather"(%{{.*}}, %arg0) <{axis = 0 : i64}> : (tensor<9x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
// CHECK: %[[T:.*]] = "onnx.Gather"(%{{.*}}, %arg0) <{axis = 0 : i64}> : (tensor<9x32xui8>, tensor<4xi64>) -> tensor<4x32xui8>
// CHECK: "onnx.DequantizeLinear"(%[[T]], %[[B]]) <{axis = -1 : i64, block_size = 16 : i64
func.func @tables_of_rows(%i: tensor<4xi64>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %q = "onnx.Constant"() {value = dense<1> : tensor<9x32xui8>} : () -> tensor<9x32xui8>
  %rows = "onnx.Constant"() {value = dense<0.5> : tensor<9xf32>} : () -> tensor<9xf32>
  %zeros = "onnx.Constant"() {value = dense<7> : tensor<9xui8>} : () -> tensor<9xui8>
  %block = "onnx.Constant"() {value = dense<0.5> : tensor<9x2xf32>} : () -> tensor<9x2xf32>
  %0 = "onnx.DequantizeLinear"(%q, %rows, %zeros) <{axis = 0 : i64}> : (tensor<9x32xui8>, tensor<9xf32>, tensor<9xui8>) -> tensor<9x32xf32>
  %1 = "onnx.DequantizeLinear"(%q, %block) <{axis = 1 : i64, block_size = 16 : i64}> : (tensor<9x32xui8>, tensor<9x2xf32>) -> tensor<9x32xf32>
  %2 = "onnx.Gather"(%0, %i) <{axis = 0 : i64}> : (tensor<9x32xf32>, tensor<4xi64>) -> tensor<4x32xf32>
  %3 = "onnx.Gather"(%1, %i) <{axis = 0 : i64}> : (tensor<9x32xf32>, tensor<4xi64>) -> tensor<4x32xf32>
  return %2, %3 : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// Tables with a scale for each column or in blocks of rows, and those that the run makes, are dequantised whole.
// CHECK-LABEL: @other_tables
// CHECK-COUNT-3: "onnx.Gather"{{.*}} -> tensor<4x32xf32>
func.func @other_tables(%i: tensor<4xi64>, %r: tensor<9x32xui8>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
  %q = "onnx.Constant"() {value = dense<1> : tensor<9x32xui8>} : () -> tensor<9x32xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %columns = "onnx.Constant"() {value = dense<0.5> : tensor<32xf32>} : () -> tensor<32xf32>
  %block = "onnx.Constant"() {value = dense<0.5> : tensor<3x32xf32>} : () -> tensor<3x32xf32>
  %0 = "onnx.DequantizeLinear"(%q, %columns) <{axis = 1 : i64}> : (tensor<9x32xui8>, tensor<32xf32>) -> tensor<9x32xf32>
  %1 = "onnx.DequantizeLinear"(%q, %block) <{axis = 0 : i64, block_size = 3 : i64}> : (tensor<9x32xui8>, tensor<3x32xf32>) -> tensor<9x32xf32>
  %2 = "onnx.DequantizeLinear"(%r, %s) : (tensor<9x32xui8>, tensor<f32>) -> tensor<9x32xf32>
  %3 = "onnx.Gather"(%0, %i) <{axis = 0 : i64}> : (tensor<9x32xf32>, tensor<4xi64>) -> tensor<4x32xf32>
  %4 = "onnx.Gather"(%1, %i) <{axis = 0 : i64}> : (tensor<9x32xf32>, tensor<4xi64>) -> tensor<4x32xf32>
  %5 = "onnx.Gather"(%2, %i) <{axis = 0 : i64}> : (tensor<9x32xf32>, tensor<4xi64>) -> tensor<4x32xf32>
  return %3, %4, %5 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// Products of 4-bit weights: unsigned ones without a zero point have 0, blocks along the columns or of 8 are no MatMulNBits.
// CHECK-LABEL: @other_blocks
// CHECK-DAG: %[[Z:.*]] = "onnx.Constant"() <{value = dense<0> : tensor<16xui8>}>
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %{{.*}}, %{{.*}}, %[[Z]])
// CHECK: "onnx.MatMul"
// CHECK: "onnx.MatMul"
func.func @other_blocks(%x: tensor<?x32xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = "onnx.Constant"() {value = dense<3> : tensor<32x16xui4>} : () -> tensor<32x16xui4>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<2x16xf32>} : () -> tensor<2x16xf32>
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<32x1xf32>} : () -> tensor<32x1xf32>
  %u = "onnx.Constant"() {value = dense<0.5> : tensor<4x16xf32>} : () -> tensor<4x16xf32>
  %0 = "onnx.DequantizeLinear"(%q, %s) <{axis = 0 : i64, block_size = 16 : i64}> : (tensor<32x16xui4>, tensor<2x16xf32>) -> tensor<32x16xf32>
  %1 = "onnx.DequantizeLinear"(%q, %t) <{axis = 1 : i64, block_size = 16 : i64}> : (tensor<32x16xui4>, tensor<32x1xf32>) -> tensor<32x16xf32>
  %2 = "onnx.DequantizeLinear"(%q, %u) <{axis = 0 : i64, block_size = 8 : i64}> : (tensor<32x16xui4>, tensor<4x16xf32>) -> tensor<32x16xf32>
  %3 = "onnx.MatMul"(%x, %0) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %4 = "onnx.MatMul"(%x, %1) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %5 = "onnx.MatMul"(%x, %2) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  return %3, %4, %5 : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// A transposed constant, bytes, a Gemm with a bias; zero points in the middle are left out. A Gemm with a factor is none.
// CHECK-LABEL: @blocks_of_the_depth
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<51> : tensor<16x2x8xui8>}>
// CHECK-DAG: %[[Z:.*]] = "onnx.Constant"() <{value = dense<129> : tensor<32xui8>}>
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %[[W]], %{{.*}}) <{K = 32 : i64, N = 16 : i64, accuracy_level = 0 : i64, bits = 4 : i64, block_size = 16 : i64
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %{{.*}}, %{{.*}}, %[[Z]]) <{K = 32 : i64, N = 16 : i64, accuracy_level = 0 : i64, bits = 8 : i64
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %[[W]], %{{.*}}, %arg1)
// CHECK: "onnx.Gemm"
func.func @blocks_of_the_depth(%x: tensor<?x32xf32>, %c: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %q = "onnx.Constant"() {value = dense<3> : tensor<16x32xui4>} : () -> tensor<16x32xui4>
  %p = "onnx.Constant"() {value = dense<3> : tensor<32x16xi8>} : () -> tensor<32x16xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<16x2xf32>} : () -> tensor<16x2xf32>
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<2x16xf32>} : () -> tensor<2x16xf32>
  %eight = "onnx.Constant"() {value = dense<8> : tensor<16x2xui4>} : () -> tensor<16x2xui4>
  %one = "onnx.Constant"() {value = dense<1> : tensor<2x16xi8>} : () -> tensor<2x16xi8>
  %0 = "onnx.DequantizeLinear"(%q, %s, %eight) <{axis = 1 : i64, block_size = 16 : i64}> : (tensor<16x32xui4>, tensor<16x2xf32>, tensor<16x2xui4>) -> tensor<16x32xf32>
  %1 = "onnx.DequantizeLinear"(%p, %t, %one) <{axis = 0 : i64, block_size = 16 : i64}> : (tensor<32x16xi8>, tensor<2x16xf32>, tensor<2x16xi8>) -> tensor<32x16xf32>
  %2 = "onnx.Transpose"(%0) <{perm = array<i64: 1, 0>}> : (tensor<16x32xf32>) -> tensor<32x16xf32>
  %3 = "onnx.MatMul"(%x, %2) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %4 = "onnx.MatMul"(%x, %1) : (tensor<?x32xf32>, tensor<32x16xf32>) -> tensor<?x16xf32>
  %5 = "onnx.Gemm"(%x, %0, %c) <{transB = 1 : i64}> : (tensor<?x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %6 = "onnx.Gemm"(%x, %0, %c) <{alpha = 2.0 : f32, transB = 1 : i64}> : (tensor<?x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return %3, %4, %5, %6 : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// A number times a list of one is a list.
// CHECK-LABEL: @product_of_a_list_of_one_scale
// CHECK: "onnx.Mul"({{.*}}) : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
func.func @product_of_a_list_of_one_scale(%a: tensor<?x4xi8>, %s: tensor<1xf32>) -> tensor<?x3xf32> {
  %b = "onnx.Constant"() {value = dense<2> : tensor<4x3xi8>} : () -> tensor<4x3xi8>
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %y = "onnx.ms.MatMulIntegerToFloat"(%a, %b, %s, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}> : (tensor<?x4xi8>, tensor<4x3xi8>, tensor<1xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Weights that are turned are turned as bytes, with the axis of their scales.
// CHECK-LABEL: @turned_weights
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>}>
// CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[W]], {{.*}}) <{axis = 1 : i64{{.*}} -> tensor<3x2xf32>
// CHECK: return %[[D]]
func.func @turned_weights() -> tensor<3x2xf32> {
  %q = "onnx.Constant"() {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>} : () -> tensor<2x3xi8>
  %s = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %w = "onnx.DequantizeLinear"(%q, %s) <{axis = -2 : i64}> : (tensor<2x3xi8>, tensor<2xf32>) -> tensor<2x3xf32>
  %t = "onnx.Transpose"(%w) <{perm = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %t : tensor<3x2xf32>
}

// -----

// The projection of com.microsoft's QAttention is a product of bytes, its thirds are queries, keys and values; lengths are told from lists of
// other kinds by the sum that they are.
// CHECK-LABEL: @attention
// CHECK: %[[P:.*]] = "onnx.MatMulInteger"(%arg0, %{{.*}}) {{.*}} -> tensor<?x?x24xi32>
// CHECK: "onnx.ms.MultiHeadAttention"(%{{.*}}) <{num_heads = 2 : i64
// CHECK: "onnx.ms.QAttention"
func.func @attention(%x: tensor<?x?x8xui8>, %s: tensor<f32>, %z: tensor<ui8>, %mask: tensor<?x?xi32>, %list: tensor<?xi32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1> : tensor<8x24xi8>} : () -> tensor<8x24xi8>
  %b = "onnx.Constant"() {value = dense<0.5> : tensor<24xf32>} : () -> tensor<24xf32>
  %ws = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %wz = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %axis = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %lengths = "onnx.ReduceSum"(%mask, %axis) <{keepdims = 0 : i64}> : (tensor<?x?xi32>, tensor<1xi64>) -> tensor<?xi32>
  %y:2 = "onnx.ms.QAttention"(%x, %w, %b, %s, %ws, %lengths, %z, %wz) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0>}>
      : (tensor<?x?x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<?xi32>, tensor<ui8>, tensor<i8>) -> (tensor<?x?x8xf32>, tensor<*xf32>)
  %u:2 = "onnx.ms.QAttention"(%x, %w, %b, %s, %ws, %list, %z, %wz) <{num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0>}>
      : (tensor<?x?x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, tensor<?xi32>, tensor<ui8>, tensor<i8>) -> (tensor<?x?x8xf32>, tensor<*xf32>)
  return %y#0, %u#0 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// Groups that are the blocks need no list. Rows in another order are sorted, and with them the columns of the left matrix; not where more
// rows have a scale than fill a block.
// CHECK-LABEL: @groups
// CHECK-DAG: %[[ORDER:.*]] = "onnx.Constant"() <{value = dense<[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]> : tensor<32xi64>}>
// CHECK-DAG: %[[SORTED:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[}}17, 17, 17, 17, 17, 17, 17, 17], [0, 0, 0, 0, 0, 0, 0, 0]]]> : tensor<1x2x8xui8>}>
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %[[B:.*]], %arg1) <{
// CHECK: %[[A:.*]] = "onnx.Gather"(%arg0, %[[ORDER]]) <{axis = 1 : i64}>
// CHECK: "onnx.ms.MatMulNBits"(%[[A]], %[[SORTED]], %arg1) <{
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %[[B]], %arg1, %{{.*}}) <{
func.func @groups(%a: tensor<?x32xf32>, %s: tensor<2xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %b = "onnx.Constant"() {value = dense<16> : tensor<1x2x8xui8>} : () -> tensor<1x2x8xui8>
  %own = "onnx.Constant"() {value = dense<[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]> : tensor<32xi32>} : () -> tensor<32xi32>
  %0 = "onnx.ms.MatMulNBits"(%a, %b, %s, %own) <{K = 32 : i64, N = 1 : i64, block_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<?x32xf32>, tensor<1x2x8xui8>, tensor<2xf32>, tensor<32xi32>) -> tensor<?x1xf32>
  %other = "onnx.Constant"() {value = dense<[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]> : tensor<32xi32>} : () -> tensor<32xi32>
  %1 = "onnx.ms.MatMulNBits"(%a, %b, %s, %other) <{K = 32 : i64, N = 1 : i64, block_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<?x32xf32>, tensor<1x2x8xui8>, tensor<2xf32>, tensor<32xi32>) -> tensor<?x1xf32>
  %one = "onnx.Constant"() {value = dense<1> : tensor<32xi32>} : () -> tensor<32xi32>
  %2 = "onnx.ms.MatMulNBits"(%a, %b, %s, %one) <{K = 32 : i64, N = 1 : i64, block_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<?x32xf32>, tensor<1x2x8xui8>, tensor<2xf32>, tensor<32xi32>) -> tensor<?x1xf32>
  return %0, %1, %2 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}

// Columns of an unknown number must be those of the matrix: a Gather would take some of more.
// CHECK-LABEL: @groups_of_unknown_columns
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg0, %{{.*}} -> tensor<?x4xf32>
// CHECK: "onnx.Gather"(%[[R]], %{{.*}} -> tensor<?x4xf32>
func.func @groups_of_unknown_columns(%a: tensor<?x?xf32>, %s: tensor<2xf32>) -> tensor<?x1xf32> {
  %b = "onnx.Constant"() {value = dense<16> : tensor<1x2x1xui8>} : () -> tensor<1x2x1xui8>
  %own = "onnx.Constant"() {value = dense<[1, 0, 1, 0]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "onnx.ms.MatMulNBits"(%a, %b, %s, %own) <{K = 4 : i64, N = 1 : i64, block_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (tensor<?x?xf32>, tensor<1x2x1xui8>, tensor<2xf32>, tensor<4xi32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----

// Few numbers are floats where many rows meet them: 3 and 12 less their zero points 1 and 2, halved.
// CHECK-LABEL: @small_blocks
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[}}[1.000000e+00], [1.000000e+00], [5.000000e+00], [5.000000e+00]]> : tensor<4x1xf32>}>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %[[W]])
// CHECK: "onnx.Add"(%[[P]], %arg1)
// CHECK: "onnx.ms.MatMulNBits"(%arg2,
func.func @small_blocks(%a: tensor<8x4xf32>, %bias: tensor<1xf32>, %few: tensor<7x4xf32>) -> (tensor<8x1xf32>, tensor<7x1xf32>) {
  %b = "onnx.Constant"() {value = dense<[[[51], [204]]]> : tensor<1x2x1xui8>} : () -> tensor<1x2x1xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "onnx.Constant"() {value = dense<33> : tensor<1xui8>} : () -> tensor<1xui8>
  %0 = "onnx.ms.MatMulNBits"(%a, %b, %s, %z, %bias) <{K = 4 : i64, N = 1 : i64, block_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>}> : (tensor<8x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>, tensor<1xui8>, tensor<1xf32>) -> tensor<8x1xf32>
  %1 = "onnx.ms.MatMulNBits"(%few, %b, %s, %z) <{K = 4 : i64, N = 1 : i64, block_size = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (tensor<7x4xf32>, tensor<1x2x1xui8>, tensor<2xf32>, tensor<1xui8>) -> tensor<7x1xf32>
  return %0, %1 : tensor<8x1xf32>, tensor<7x1xf32>
}
