// RUN: onnxc-opt %s --integer-contractions --split-input-file | FileCheck %s

// The greatest value is that of the greatest byte; quantising it again takes nothing but the byte.
// CHECK-LABEL: @pool
// CHECK: %[[P:.*]] = "onnx.MaxPool"(%arg0) {{.*}} : (tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8>
// CHECK-NEXT: return %[[P]]
func.func @pool(%q: tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8> {
  %s = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %o = "onnx.QuantizeLinear"(%p, %s, %z) : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %o : tensor<1x2x3x3xi8>
}

// -----

// The mean of dequantised values is that of their bytes.
// CHECK-LABEL: @mean
// CHECK: %[[B:.*]] = "onnx.packed.Block"(%arg0)
// CHECK: %[[M:.*]] = "onnx.packed.ByteMean"(%[[B]])
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[M]])
// CHECK: %[[S:.*]] = "onnx.Sub"(%[[U]], %{{.*}})
// CHECK: "onnx.Mul"(%[[S]], %{{.*}})
func.func @mean(%q: tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %g = "onnx.GlobalAveragePool"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  return %g : tensor<1x2x1x1xf32>
}

// -----

// What is quantised with the scale it was multiplied by is rounded once: a mean that lies between two steps stays there.
// CHECK-LABEL: @mean_and_back
// CHECK: %[[S:.*]] = "onnx.Sub"
// CHECK-NEXT: "onnx.Round"(%[[S]])
func.func @mean_and_back(%q: tensor<1x2x4x4xui8>) -> tensor<1x2x1x1xui8> {
  %s = "onnx.Constant"() {value = dense<0.06052> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %g = "onnx.GlobalAveragePool"(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %y = "onnx.QuantizeLinear"(%g, %s, %z) : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x1x1xui8>
  return %y : tensor<1x2x1x1xui8>
}

// -----

// A product of a view of dequantised values reads a view of the bytes.
// CHECK-LABEL: @view
// CHECK: %[[F:.*]] = "onnx.Flatten"(%arg0) {{.*}} -> tensor<2x32xi8>
// CHECK: "onnx.packed.LinearMatMul"(%[[F]]
func.func @view(%q: tensor<2x4x8xi8>) -> tensor<2x16xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<2x4x8xi8>, tensor<f32>) -> tensor<2x4x8xf32>
  %f = "onnx.Flatten"(%x) <{axis = 1 : i64}> : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<32x16xi8>} : () -> tensor<32x16xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<32x16xi8>, tensor<f32>) -> tensor<32x16xf32>
  %y = "onnx.MatMul"(%f, %w) : (tensor<2x32xf32>, tensor<32x16xf32>) -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}
