// RUN: onnxc-opt %s --integer-contractions --split-input-file | FileCheck %s

// The convolution that is computed last adds the other's bytes to its own; a Relu is a bound.
// CHECK-LABEL: @residual
// CHECK: %[[A:.*]] = "onnx.packed.LinearConv"(%arg0
// CHECK: "onnx.packed.LinearConv"(%arg0, {{.*}}, %[[A]]) <{{{.*}}joined = array<f32: 2.000000e+00, 2.000000e+00, -6.000000e+00>{{.*}}sum = array<f32: 5.000000e-01, 3.000000e+00, 5.000000e-01, 2.500000e-01, 1.000000e+00, 1.000000e+00, 2.550000e+02>
// CHECK-NOT: onnx.Add
func.func @residual(%q: tensor<1x4x4x4xui8>) -> tensor<1x64x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %u = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %one = "onnx.Constant"() {value = dense<1> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x4x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<64x4x1x1xi8>} : () -> tensor<64x4x1x1xi8>
  %d = "onnx.Constant"() {value = dense<7> : tensor<64x4x1x1xi8>} : () -> tensor<64x4x1x1xi8>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.DequantizeLinear"(%c, %u, %none) : (tensor<64x4x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<64x4x1x1xf32>
  %v = "onnx.DequantizeLinear"(%d, %u, %none) : (tensor<64x4x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<64x4x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x4x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x64x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%y, %s, %z) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  %yd = "onnx.DequantizeLinear"(%yq, %s, %z) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %t = "onnx.Conv"(%x, %v) : (tensor<1x4x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x64x4x4xf32>
  %tq = "onnx.QuantizeLinear"(%t, %s, %z) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  %td = "onnx.DequantizeLinear"(%tq, %s, %z) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %sum = "onnx.Add"(%yd, %td) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %r = "onnx.Relu"(%sum) : (tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %o = "onnx.QuantizeLinear"(%r, %u, %one) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  return %o : tensor<1x64x4x4xui8>
}

// -----

// 0.0555 / 0.037 is a step and a half: what lies between two steps is rounded as the scales say, which no three numbers do for all bytes.
// CHECK-LABEL: @residual_not_joined
// CHECK: "onnx.packed.LinearConv"(
// CHECK-NOT: joined
// CHECK-SAME: sum = array<f32: 5.550000e-02, 1.310000e+02, 2.000000e-02, 3.700000e-02, 1.230000e+02, 0.000000e+00, 2.550000e+02>
// CHECK-NOT: onnx.Add
func.func @residual_not_joined(%q: tensor<1x64x4x4xui8>, %p: tensor<1x64x4x4xui8>) -> tensor<1x64x4x4xui8> {
  %own = "onnx.Constant"() {value = dense<0.0555> : tensor<f32>} : () -> tensor<f32>
  %other = "onnx.Constant"() {value = dense<0.02> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.037> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<120> : tensor<ui8>} : () -> tensor<ui8>
  %middle = "onnx.Constant"() {value = dense<131> : tensor<ui8>} : () -> tensor<ui8>
  %to = "onnx.Constant"() {value = dense<123> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<2> : tensor<64x64x1x1xi8>} : () -> tensor<64x64x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %step) : (tensor<1x64x4x4xui8>, tensor<f32>) -> tensor<1x64x4x4xf32>
  %w = "onnx.DequantizeLinear"(%c, %step) : (tensor<64x64x1x1xi8>, tensor<f32>) -> tensor<64x64x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%y, %own, %z) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  %yd = "onnx.DequantizeLinear"(%yq, %own, %z) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %pd = "onnx.DequantizeLinear"(%p, %other, %middle) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %sum = "onnx.Add"(%yd, %pd) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %o = "onnx.QuantizeLinear"(%sum, %step, %to) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  return %o : tensor<1x64x4x4xui8>
}

// -----

// A result that is read elsewhere stays what it was.
// CHECK-LABEL: @residual_read_twice
// CHECK: "onnx.packed.LinearConv"
// CHECK: onnx.Add
func.func @residual_read_twice(%q: tensor<1x64x4x4xui8>) -> (tensor<1x64x4x4xui8>, tensor<1x64x4x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<64x64x1x1xi8>} : () -> tensor<64x64x1x1xi8>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.DequantizeLinear"(%c, %s, %none) : (tensor<64x64x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<64x64x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x64x4x4xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%y, %s, %z) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  %yd = "onnx.DequantizeLinear"(%yq, %s, %z) : (tensor<1x64x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xf32>
  %sum = "onnx.Add"(%yd, %x) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %o = "onnx.QuantizeLinear"(%sum, %s, %z) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  return %o, %yq : tensor<1x64x4x4xui8>, tensor<1x64x4x4xui8>
}

// -----

// Signed bytes too: no numbers join these scales for all pairs from -128 to 127.
// CHECK-LABEL: @residual_of_signed_bytes
// CHECK: "onnx.packed.LinearConv"
// CHECK-NOT: joined
// CHECK-SAME: sum = array<f32: 5.550000e-02, 3.000000e+00, 2.000000e-02, 3.700000e-02, -5.000000e+00, -1.280000e+02, 1.270000e+02>
func.func @residual_of_signed_bytes(%q: tensor<1x16x4x4xi8>, %p: tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8> {
  %own = "onnx.Constant"() {value = dense<0.0555> : tensor<f32>} : () -> tensor<f32>
  %other = "onnx.Constant"() {value = dense<0.02> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.037> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %three = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %to = "onnx.Constant"() {value = dense<-5> : tensor<i8>} : () -> tensor<i8>
  %c = "onnx.Constant"() {value = dense<2> : tensor<16x16x1x1xi8>} : () -> tensor<16x16x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %step) : (tensor<1x16x4x4xi8>, tensor<f32>) -> tensor<1x16x4x4xf32>
  %w = "onnx.DequantizeLinear"(%c, %step) : (tensor<16x16x1x1xi8>, tensor<f32>) -> tensor<16x16x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%y, %own, %z) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  %yd = "onnx.DequantizeLinear"(%yq, %own, %z) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %pd = "onnx.DequantizeLinear"(%p, %other, %three) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %sum = "onnx.Add"(%yd, %pd) : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  %o = "onnx.QuantizeLinear"(%sum, %step, %to) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  return %o : tensor<1x16x4x4xi8>
}

// -----

// So does a result whose zero point is below zero; these scales have numbers.
// CHECK-LABEL: @residual_of_bytes_below_zero
// CHECK: "onnx.packed.LinearConv"{{.*}}joined = array<f32: {{.*}}sum = array<f32: 4.139270e-02{{.*}}zero = -8
func.func @residual_of_bytes_below_zero(%q: tensor<1x16x4x4xi8>, %p: tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8> {
  %own = "onnx.Constant"() {value = dense<0.0413927> : tensor<f32>} : () -> tensor<f32>
  %other = "onnx.Constant"() {value = dense<0.0207113> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.0370557> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-8> : tensor<i8>} : () -> tensor<i8>
  %three = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %to = "onnx.Constant"() {value = dense<-5> : tensor<i8>} : () -> tensor<i8>
  %c = "onnx.Constant"() {value = dense<2> : tensor<16x16x1x1xi8>} : () -> tensor<16x16x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %step) : (tensor<1x16x4x4xi8>, tensor<f32>) -> tensor<1x16x4x4xf32>
  %w = "onnx.DequantizeLinear"(%c, %step) : (tensor<16x16x1x1xi8>, tensor<f32>) -> tensor<16x16x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%y, %own, %z) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  %yd = "onnx.DequantizeLinear"(%yq, %own, %z) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %pd = "onnx.DequantizeLinear"(%p, %other, %three) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %sum = "onnx.Add"(%yd, %pd) : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  %o = "onnx.QuantizeLinear"(%sum, %step, %to) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  return %o : tensor<1x16x4x4xi8>
}

// -----

// Nor need any of the results be above zero.
// CHECK-LABEL: @residual_of_negative_bytes
// CHECK: "onnx.packed.LinearConv"{{.*}}joined = array<f32: {{.*}}least = -80 : i64, most = -32 : i64
func.func @residual_of_negative_bytes(%q: tensor<1x16x4x4xi8>, %p: tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8> {
  %own = "onnx.Constant"() {value = dense<0.0413927> : tensor<f32>} : () -> tensor<f32>
  %other = "onnx.Constant"() {value = dense<0.0207113> : tensor<f32>} : () -> tensor<f32>
  %step = "onnx.Constant"() {value = dense<0.0370557> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-8> : tensor<i8>} : () -> tensor<i8>
  %three = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %to = "onnx.Constant"() {value = dense<-5> : tensor<i8>} : () -> tensor<i8>
  %c = "onnx.Constant"() {value = dense<2> : tensor<16x16x1x1xi8>} : () -> tensor<16x16x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %step) : (tensor<1x16x4x4xi8>, tensor<f32>) -> tensor<1x16x4x4xf32>
  %w = "onnx.DequantizeLinear"(%c, %step) : (tensor<16x16x1x1xi8>, tensor<f32>) -> tensor<16x16x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %lo = "onnx.Constant"() {value = dense<-3.0> : tensor<f32>} : () -> tensor<f32>
  %hi = "onnx.Constant"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %clip = "onnx.Clip"(%y, %lo, %hi) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x16x4x4xf32>
  %yq = "onnx.QuantizeLinear"(%clip, %own, %z) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  %yd = "onnx.DequantizeLinear"(%yq, %own, %z) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %pd = "onnx.DequantizeLinear"(%p, %other, %three) : (tensor<1x16x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xf32>
  %sum = "onnx.Add"(%yd, %pd) : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  %o = "onnx.QuantizeLinear"(%sum, %step, %to) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x4xi8>
  return %o : tensor<1x16x4x4xi8>
}
