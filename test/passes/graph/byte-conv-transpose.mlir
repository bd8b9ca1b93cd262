// RUN: onnxc-opt %s --decompose --integer-contractions --mlir-elide-resource-strings-if-larger=64 | FileCheck %s

// Each of four phases reads other pixels: convolutions of bytes, whose blocks interleave.
// CHECK-LABEL: @apart
// CHECK-COUNT-4: "onnx.packed.LinearConv"({{.*}}kernel_shape = array<i64: 2, 2>
// CHECK: "onnx.Transpose"({{.*}}perm = array<i64: 0, 5, 6, 1, 3, 7, 2, 4, 8>
// CHECK: "onnx.packed.Unblock"({{.*}}tensor<1x2x10x12x16xui8>) -> tensor<1x32x10x12xui8>
// CHECK-NOT: onnx.QuantizeLinear
func.func @apart(%q: tensor<1x16x5x6xui8>) -> tensor<1x32x10x12xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x32x4x4xi8>} : () -> tensor<16x32x4x4xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x32x4x4xi8>, tensor<f32>) -> tensor<16x32x4x4xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x5x6xf32>, tensor<16x32x4x4xf32>) -> tensor<1x32x10x12xf32>
  %1 = "onnx.Relu"(%0) : (tensor<1x32x10x12xf32>) -> tensor<1x32x10x12xf32>
  %2 = "onnx.QuantizeLinear"(%1, %s, %z) : (tensor<1x32x10x12xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x32x10x12xui8>
  return %2 : tensor<1x32x10x12xui8>
}

// All phases read one pixel: one convolution. Few results share a block, and some are cut off.
// CHECK-LABEL: @joined
// CHECK-COUNT-1: "onnx.packed.LinearConv"({{.*}}outputs = 64 : i64
// CHECK-NOT: LinearConv
// CHECK: return
// CHECK-LABEL: @few
// CHECK-COUNT-1: "onnx.packed.LinearConv"({{.*}}outputs = 12 : i64
// CHECK: "onnx.Slice"({{.*}}-> tensor<1x3x10x
func.func @joined(%q: tensor<?x16x?x?xui8>) -> tensor<?x16x?x?xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x16x2x2xi8>} : () -> tensor<16x16x2x2xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<?x16x?x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x16x?x?xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x16x2x2xi8>, tensor<f32>) -> tensor<16x16x2x2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<?x16x?x?xf32>, tensor<16x16x2x2xf32>) -> tensor<?x16x?x?xf32>
  return %0 : tensor<?x16x?x?xf32>
}
func.func @few(%q: tensor<1x16x5x6xui8>) -> tensor<1x3x10x12xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x3x4x4xi8>} : () -> tensor<16x3x4x4xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x3x4x4xi8>, tensor<f32>) -> tensor<16x3x4x4xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x5x6xf32>, tensor<16x3x4x4xf32>) -> tensor<1x3x10x12xf32>
  return %0 : tensor<1x3x10x12xf32>
}

// Not in groups, with filters of the run, or with scales that are no results'.
// CHECK-LABEL: @groups
// CHECK-NOT: LinearConv
// CHECK-LABEL: @filters_of_the_run
// CHECK-NOT: LinearConv
// CHECK-LABEL: @scales_of_channels
// CHECK-NOT: LinearConv
func.func @groups(%q: tensor<1x16x5x6xui8>) -> tensor<1x16x10x12xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x8x2x2xi8>} : () -> tensor<16x8x2x2xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x8x2x2xi8>, tensor<f32>) -> tensor<16x8x2x2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>, group = 2 : i64} : (tensor<1x16x5x6xf32>, tensor<16x8x2x2xf32>) -> tensor<1x16x10x12xf32>
  return %0 : tensor<1x16x10x12xf32>
}
func.func @filters_of_the_run(%q: tensor<1x16x5x6xui8>, %c: tensor<16x16x2x2xi8>) -> tensor<1x16x10x12xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x16x2x2xi8>, tensor<f32>) -> tensor<16x16x2x2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x16x5x6xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x10x12xf32>
  return %0 : tensor<1x16x10x12xf32>
}
func.func @scales_of_channels(%q: tensor<1x16x5x6xui8>) -> tensor<1x16x10x12xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.5> : tensor<16xf32>} : () -> tensor<16xf32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x16x2x2xi8>} : () -> tensor<16x16x2x2xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %t) {axis = 0 : i64} : (tensor<16x16x2x2xi8>, tensor<16xf32>) -> tensor<16x16x2x2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x16x5x6xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x10x12xf32>
  return %0 : tensor<1x16x10x12xf32>
}

// Filters smaller than their strides leave some phases without a tap: one convolution of all, whose last results are cut off.
// CHECK-LABEL: @smaller
// CHECK-COUNT-1: "onnx.packed.LinearConv"({{.*}}outputs = 64 : i64
// CHECK-NOT: LinearConv
// CHECK: "onnx.Slice"({{.*}}-> tensor<1x16x9x11xf32>
func.func @smaller(%q: tensor<1x16x5x6xui8>) -> tensor<1x16x9x11xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Constant"() {value = dense<1> : tensor<16x16x1x1xi8>} : () -> tensor<16x16x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x16x5x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x5x6xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<16x16x1x1xi8>, tensor<f32>) -> tensor<16x16x1x1xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x16x5x6xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x9x11xf32>
  return %0 : tensor<1x16x9x11xf32>
}
