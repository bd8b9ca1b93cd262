// RUN: onnxc-opt %s --integer-contractions --split-input-file | FileCheck %s

// Constant weights in panels of 64 columns, and where products, tables and moves of bytes stay what they were.

// The four steps of the depth of a column lie side by side, as signed bytes; that of 64 columns is a panel.
// CHECK-LABEL: @lstm
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<"0x{{(81828384){64}"}}> : tensor<1x4x64xui8>}>
// CHECK-DAG: %[[R:.*]] = "onnx.Constant"() <{value = dense<5> : tensor<1x16x64xi8>}>
// CHECK: "onnx.ms.DynamicQuantizeLSTM"(%arg0, %[[W]], %[[R]], {{.*}}packed = 1 : i64
func.func @lstm(%x: tensor<?x1x4xf32>) -> tensor<?x1x1x16xf32> {
  %w = "onnx.Constant"() {value = dense<"0x01010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030304040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404040404"> : tensor<1x4x64xui8>} : () -> tensor<1x4x64xui8>
  %r = "onnx.Constant"() {value = dense<5> : tensor<1x16x64xi8>} : () -> tensor<1x16x64xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<1xui8>} : () -> tensor<1xui8>
  %o = "onnx.Constant"() {value = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %o) <{hidden_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<?x1x4xf32>, tensor<1x4x64xui8>, tensor<1x16x64xi8>, tensor<1xf32>, tensor<1xui8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x1x1x16xf32>
  return %y : tensor<?x1x1x16xf32>
}

// -----

// A depth that is no whole number of quads, or columns that fill no panel.
// CHECK-LABEL: @other_lstms
// CHECK-NOT: packed
// CHECK: return
func.func @other_lstms(%x: tensor<?x1x3xf32>, %v: tensor<?x1x4xf32>) -> (tensor<?x1x1x16xf32>, tensor<?x1x1x8xf32>) {
  %w = "onnx.Constant"() {value = dense<2> : tensor<1x3x64xi8>} : () -> tensor<1x3x64xi8>
  %r = "onnx.Constant"() {value = dense<5> : tensor<1x16x64xi8>} : () -> tensor<1x16x64xi8>
  %w8 = "onnx.Constant"() {value = dense<2> : tensor<1x4x32xi8>} : () -> tensor<1x4x32xi8>
  %r8 = "onnx.Constant"() {value = dense<5> : tensor<1x8x32xi8>} : () -> tensor<1x8x32xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %z) <{hidden_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<?x1x3xf32>, tensor<1x3x64xi8>, tensor<1x16x64xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x1x1x16xf32>
  %1 = "onnx.ms.DynamicQuantizeLSTM"(%v, %w8, %r8, %s, %z, %s, %z) <{hidden_size = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<?x1x4xf32>, tensor<1x4x32xi8>, tensor<1x8x32xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x1x1x8xf32>
  return %0, %1 : tensor<?x1x1x16xf32>, tensor<?x1x1x8xf32>
}

// -----

// Products whose zero point is one for each row, of several matrices, of weights of the run, or of a vector.
// CHECK-LABEL: @not_packed
// CHECK-COUNT-4: "onnx.MatMulInteger"
// CHECK-NOT: packed
// CHECK: return
func.func @not_packed(%a: tensor<3x8xui8>, %rows: tensor<3xui8>, %m: tensor<2x3x8xui8>, %run: tensor<8x64xi8>, %v: tensor<8xui8>)
    -> (tensor<3x64xi32>, tensor<2x3x64xi32>, tensor<3x64xi32>, tensor<64xi32>) {
  %b = "onnx.Constant"() {value = dense<1> : tensor<8x64xi8>} : () -> tensor<8x64xi8>
  %bs = "onnx.Constant"() {value = dense<1> : tensor<2x8x64xi8>} : () -> tensor<2x8x64xi8>
  %0 = "onnx.MatMulInteger"(%a, %b, %rows) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<3x8xui8>, tensor<8x64xi8>, tensor<3xui8>) -> tensor<3x64xi32>
  %1 = "onnx.MatMulInteger"(%m, %bs) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<2x3x8xui8>, tensor<2x8x64xi8>) -> tensor<2x3x64xi32>
  %2 = "onnx.MatMulInteger"(%a, %run) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<3x8xui8>, tensor<8x64xi8>) -> tensor<3x64xi32>
  %3 = "onnx.MatMulInteger"(%v, %b) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<8xui8>, tensor<8x64xi8>) -> tensor<64xi32>
  return %0, %1, %2, %3 : tensor<3x64xi32>, tensor<2x3x64xi32>, tensor<3x64xi32>, tensor<64xi32>
}

// -----

// Zero points of the weights: one for each column fits, one for each row of the weights does not.
// CHECK-LABEL: @zero_points
// CHECK: "onnx.packed.MatMulInteger"(%arg0, %{{.*}}, %arg1) <{K = 3 : i64, N = 2 : i64
// CHECK: "onnx.MatMulInteger"(%arg0, %{{.*}}, %arg2)
func.func @zero_points(%a: tensor<5x3xi8>, %columns: tensor<2xi8>, %rows: tensor<3xi8>) -> (tensor<5x2xi32>, tensor<5x2xi32>) {
  %b = "onnx.Constant"() {value = dense<1> : tensor<3x2xi8>} : () -> tensor<3x2xi8>
  %0 = "onnx.MatMulInteger"(%a, %b, %columns) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<5x3xi8>, tensor<3x2xi8>, tensor<2xi8>) -> tensor<5x2xi32>
  %1 = "onnx.MatMulInteger"(%a, %b, %rows) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<5x3xi8>, tensor<3x2xi8>, tensor<3xi8>) -> tensor<5x2xi32>
  return %0, %1 : tensor<5x2xi32>, tensor<5x2xi32>
}

// -----

// Weights with a scale for each step of the depth, and data with one for each row, have no sums of integers.
// CHECK-LABEL: @scales_of_other_axes
// CHECK: "onnx.MatMul"
// CHECK: "onnx.Gemm"
// CHECK: "onnx.Conv"
// CHECK: "onnx.MatMul"
// CHECK-NOT: packed
// CHECK: return
func.func @scales_of_other_axes(%q: tensor<4x4xi8>, %i: tensor<1x4x3x3xi8>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x4x3x3xf32>, tensor<4x4xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %each = "onnx.Constant"() {value = dense<[0.5, 0.25, 0.5, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<4x4xi8>} : () -> tensor<4x4xi8>
  %f = "onnx.Constant"() {value = dense<2> : tensor<4x4x1x1xi8>} : () -> tensor<4x4x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<4x4xi8>, tensor<f32>) -> tensor<4x4xf32>
  %rows = "onnx.DequantizeLinear"(%q, %each) <{axis = 0 : i64}> : (tensor<4x4xi8>, tensor<4xf32>) -> tensor<4x4xf32>
  %image = "onnx.DequantizeLinear"(%i, %s) : (tensor<1x4x3x3xi8>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %first = "onnx.DequantizeLinear"(%c, %each) <{axis = 0 : i64}> : (tensor<4x4xi8>, tensor<4xf32>) -> tensor<4x4xf32>
  %last = "onnx.DequantizeLinear"(%c, %each) <{axis = 1 : i64}> : (tensor<4x4xi8>, tensor<4xf32>) -> tensor<4x4xf32>
  %inputs = "onnx.DequantizeLinear"(%f, %each) <{axis = 1 : i64}> : (tensor<4x4x1x1xi8>, tensor<4xf32>) -> tensor<4x4x1x1xf32>
  %0 = "onnx.MatMul"(%x, %first) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "onnx.Gemm"(%x, %last) <{transB = 1 : i64}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "onnx.Conv"(%image, %inputs) : (tensor<1x4x3x3xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x3xf32>
  %3 = "onnx.MatMul"(%rows, %last) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<1x4x3x3xf32>, tensor<4x4xf32>
}

// -----

// The axis that the op gives its columns: the last of a MatMul, the first of a transposed Gemm.
// CHECK-LABEL: @scales_of_columns
// CHECK: "onnx.packed.LinearMatMul"
// CHECK: "onnx.packed.LinearMatMul"
func.func @scales_of_columns(%q: tensor<4x4xi8>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %each = "onnx.Constant"() {value = dense<[0.5, 0.25, 0.5, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<4x4xi8>} : () -> tensor<4x4xi8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<4x4xi8>, tensor<f32>) -> tensor<4x4xf32>
  %first = "onnx.DequantizeLinear"(%c, %each) <{axis = 0 : i64}> : (tensor<4x4xi8>, tensor<4xf32>) -> tensor<4x4xf32>
  %last = "onnx.DequantizeLinear"(%c, %each) <{axis = -1 : i64}> : (tensor<4x4xi8>, tensor<4xf32>) -> tensor<4x4xf32>
  %0 = "onnx.MatMul"(%x, %last) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "onnx.Gemm"(%x, %first) <{transB = 1 : i64}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A Gemm with factors or a transposed first operand, and weights in blocks, stay f32.
// CHECK-LABEL: @other_gemms
// CHECK-COUNT-3: "onnx.Gemm"
// CHECK: "onnx.MatMul"
// CHECK-NOT: packed
// CHECK: return
func.func @other_gemms(%q: tensor<32x32xi8>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %blocks = "onnx.Constant"() {value = dense<0.5> : tensor<2x32xf32>} : () -> tensor<2x32xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<32x32xi8>} : () -> tensor<32x32xi8>
  %bias = "onnx.Constant"() {value = dense<1.0> : tensor<32xf32>} : () -> tensor<32xf32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<32x32xi8>, tensor<f32>) -> tensor<32x32xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<32x32xi8>, tensor<f32>) -> tensor<32x32xf32>
  %v = "onnx.DequantizeLinear"(%c, %blocks) <{axis = 0 : i64, block_size = 16 : i64}> : (tensor<32x32xi8>, tensor<2x32xf32>) -> tensor<32x32xf32>
  %0 = "onnx.Gemm"(%x, %w) <{alpha = 2.0 : f32}> : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "onnx.Gemm"(%x, %w, %bias) <{beta = 2.0 : f32}> : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
  %2 = "onnx.Gemm"(%x, %w) <{transA = 1 : i64}> : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %3 = "onnx.MatMul"(%x, %v) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0, %1, %2, %3 : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// Odd weights that would be halved beside a bias near what 32 bits hold, and lose more than a twentieth of a step, stay: the bias is added in f32.
// CHECK-LABEL: @lost_steps
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<-1048575.19> : tensor<f32>}>
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: "onnx.Add"(%{{.*}}, %[[B]])
func.func @lost_steps(%q: tensor<1x16x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<101> : tensor<1x16x1x1xi8>} : () -> tensor<1x16x1x1xi8>
  %t = "onnx.Constant"() {value = dense<9.765625E-4> : tensor<f32>} : () -> tensor<f32>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.DequantizeLinear"(%c, %t, %none) : (tensor<1x16x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x1x1xf32>
  %bq = "onnx.Constant"() {value = dense<-2147482000> : tensor<1xi32>} : () -> tensor<1xi32>
  %bs = "onnx.Constant"() {value = dense<4.8828125E-4> : tensor<f32>} : () -> tensor<f32>
  %b = "onnx.DequantizeLinear"(%bq, %bs) : (tensor<1xi32>, tensor<f32>) -> tensor<1xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %zero) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %o : tensor<1x1x4x4xui8>
}

// -----

// A bias between two units of the sums can be part of what is rounded to bytes where a unit is a small part of a step, not of a result of f32.
// CHECK-LABEL: @bias_between_units
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xui8>
// CHECK-NOT: onnx.Add
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: "onnx.Add"
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: "onnx.Add"
func.func @bias_between_units(%q: tensor<1x16x4x4xui8>) -> (tensor<1x1x4x4xui8>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.001953125> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<3> : tensor<1x16x1x1xi8>} : () -> tensor<1x16x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %t) : (tensor<1x16x1x1xi8>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %v = "onnx.DequantizeLinear"(%c, %s) : (tensor<1x16x1x1xi8>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %b = "onnx.Constant"() {value = dense<0.6> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %zero) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  %z = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %l = "onnx.Conv"(%x, %v, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %m = "onnx.QuantizeLinear"(%l, %s, %zero) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %o, %z, %m : tensor<1x1x4x4xui8>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xui8>
}

// -----

// More than four groups would be computed together: their sums are f32. As many of which one block holds are bytes.
// CHECK-LABEL: @groups
// CHECK: "onnx.Conv"({{.*}}group = 16
// CHECK: "onnx.packed.LinearConv"({{.*}}channels = 2 : i64{{.*}}group = 16 : i64
func.func @groups(%q: tensor<1x80x4x4xui8>, %p: tensor<1x32x4x4xui8>) -> (tensor<1x80x4x4xf32>, tensor<1x32x4x4xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Constant"() {value = dense<3> : tensor<80x5x1x1xi8>} : () -> tensor<80x5x1x1xi8>
  %d = "onnx.Constant"() {value = dense<3> : tensor<32x2x1x1xi8>} : () -> tensor<32x2x1x1xi8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x80x4x4xui8>, tensor<f32>) -> tensor<1x80x4x4xf32>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<80x5x1x1xi8>, tensor<f32>) -> tensor<80x5x1x1xf32>
  %u = "onnx.DequantizeLinear"(%p, %s) : (tensor<1x32x4x4xui8>, tensor<f32>) -> tensor<1x32x4x4xf32>
  %v = "onnx.DequantizeLinear"(%d, %s) : (tensor<32x2x1x1xi8>, tensor<f32>) -> tensor<32x2x1x1xf32>
  %0 = "onnx.Conv"(%x, %w) <{group = 16 : i64}> : (tensor<1x80x4x4xf32>, tensor<80x5x1x1xf32>) -> tensor<1x80x4x4xf32>
  %1 = "onnx.Conv"(%u, %v) <{group = 16 : i64}> : (tensor<1x32x4x4xf32>, tensor<32x2x1x1xf32>) -> tensor<1x32x4x4xf32>
  return %0, %1 : tensor<1x80x4x4xf32>, tensor<1x32x4x4xf32>
}

// -----

// Two bytes, a constant for each column, or a row for all rows make no table.
// CHECK-LABEL: @no_table
// CHECK-NOT: onnx.packed.ByteTable
// CHECK: return
func.func @no_table(%q: tensor<2x2xi8>, %p: tensor<2x2xi8>, %row: tensor<1x2xi8>) -> (tensor<2x2xi8>, tensor<2x2xi8>, tensor<2x2xi8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %two = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zeros = "onnx.Constant"() {value = dense<0.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %y = "onnx.DequantizeLinear"(%p, %s) : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %r = "onnx.DequantizeLinear"(%row, %s) : (tensor<1x2xi8>, tensor<f32>) -> tensor<1x2xf32>
  %a = "onnx.Mul"(%x, %y) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = "onnx.Mul"(%x, %two) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %c = "onnx.Max"(%r, %zeros) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = "onnx.QuantizeLinear"(%a, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  %1 = "onnx.QuantizeLinear"(%b, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  %2 = "onnx.QuantizeLinear"(%c, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %0, %1, %2 : tensor<2x2xi8>, tensor<2x2xi8>, tensor<2x2xi8>
}

// -----

// A byte beside itself does, and a function that is not finite for each byte does not: 1 / q, whose zero is not.
// CHECK-LABEL: @finite_table
// CHECK: "onnx.packed.ByteTable"(%arg0
// CHECK-NOT: onnx.packed.ByteTable
// CHECK: return
func.func @finite_table(%q: tensor<2x2xi8>) -> (tensor<2x2xi8>, tensor<2x2xi8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %a = "onnx.Mul"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = "onnx.Div"(%one, %x) : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = "onnx.QuantizeLinear"(%a, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  %1 = "onnx.QuantizeLinear"(%b, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %0, %1 : tensor<2x2xi8>, tensor<2x2xi8>
}

// -----

// A pool that tells where its values were, means of rows and over channels, are computed of f32.
// CHECK-LABEL: @other_pools
// CHECK: "onnx.MaxPool"({{.*}} -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi64>)
// CHECK: "onnx.GlobalAveragePool"({{.*}} (tensor<1x2x4xf32>)
// CHECK: "onnx.ReduceMean"({{.*}} (tensor<1x2x4x4xf32>
// CHECK-NOT: onnx.packed.ByteMean
// CHECK: return
func.func @other_pools(%q: tensor<1x2x4x4xi8>, %r: tensor<1x2x4xi8>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi64>, tensor<1x2x1xf32>, tensor<1x1x4x1xf32>) {
  %s = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %axes = "onnx.Constant"() {value = dense<[1, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x2x4x4xi8>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %rows = "onnx.DequantizeLinear"(%r, %s) : (tensor<1x2x4xi8>, tensor<f32>) -> tensor<1x2x4xf32>
  %p, %i = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 1>}> : (tensor<1x2x4x4xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xi64>)
  %g = "onnx.GlobalAveragePool"(%rows) : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
  %m = "onnx.ReduceMean"(%x, %axes) : (tensor<1x2x4x4xf32>, tensor<2xi64>) -> tensor<1x1x4x1xf32>
  return %p, %i, %g, %m : tensor<1x2x3x3xf32>, tensor<1x2x3x3xi64>, tensor<1x2x1xf32>, tensor<1x1x4x1xf32>
}

// -----

// Bytes come back as they were with the same scale and zero point alone.
// CHECK-LABEL: @there_and_back
// CHECK: %[[T:.*]] = "onnx.packed.ByteTable"(%arg0
// CHECK: %[[U:.*]] = "onnx.packed.ByteTable"(%arg0
// CHECK: return %arg0, %[[T]], %[[U]]
func.func @there_and_back(%q: tensor<2x2xi8>) -> (tensor<2x2xi8>, tensor<2x2xi8>, tensor<2x2xi8>) {
  %s = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.30001> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %o = "onnx.Constant"() {value = dense<-4> : tensor<i8>} : () -> tensor<i8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %0 = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  %1 = "onnx.QuantizeLinear"(%x, %t, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  %2 = "onnx.QuantizeLinear"(%x, %s, %o) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %0, %1, %2 : tensor<2x2xi8>, tensor<2x2xi8>, tensor<2x2xi8>
}

// -----

// A joined value that is read twice is not quantised before it is joined.
// CHECK-LABEL: @joined_and_read
// CHECK: %[[C:.*]] = "onnx.Concat"{{.*}} -> tensor<4x2xf32>
// CHECK: "onnx.Div"(%[[C]]
func.func @joined_and_read(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<4x2xi8>, tensor<4x2xf32>) {
  %s = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %c = "onnx.Concat"(%x, %y) <{axis = 0 : i64}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %q = "onnx.QuantizeLinear"(%c, %s, %z) : (tensor<4x2xf32>, tensor<f32>, tensor<i8>) -> tensor<4x2xi8>
  return %q, %c : tensor<4x2xi8>, tensor<4x2xf32>
}

// -----

// Quantisation that is no arithmetic here: blocks of which the last is shorter, scales of an unknown number, integers of 32 bits, halves of
// integers of 16 bits.
// CHECK-LABEL: @other_quantisations
// CHECK: "onnx.QuantizeLinear"{{.*}}block_size = 20
// CHECK: "onnx.QuantizeLinear"(%arg0, %arg1)
// CHECK: "onnx.DequantizeLinear"(%arg2
// CHECK: "onnx.DequantizeLinear"(%arg3
func.func @other_quantisations(%x: tensor<2x32xf32>, %run: tensor<?xf32>, %i: tensor<2x32xi32>, %w: tensor<2x32xi16>)
    -> (tensor<2x32xui8>, tensor<2x32xui8>, tensor<2x32xf32>, tensor<2x32xf16>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f16>} : () -> tensor<f16>
  %blocks = "onnx.Constant"() {value = dense<0.5> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "onnx.QuantizeLinear"(%x, %blocks) <{axis = 1 : i64, block_size = 20 : i64}> : (tensor<2x32xf32>, tensor<2x2xf32>) -> tensor<2x32xui8>
  %1 = "onnx.QuantizeLinear"(%x, %run) <{axis = 1 : i64}> : (tensor<2x32xf32>, tensor<?xf32>) -> tensor<2x32xui8>
  %2 = "onnx.DequantizeLinear"(%i, %s) : (tensor<2x32xi32>, tensor<f32>) -> tensor<2x32xf32>
  %3 = "onnx.DequantizeLinear"(%w, %half) : (tensor<2x32xi16>, tensor<f16>) -> tensor<2x32xf16>
  return %0, %1, %2, %3 : tensor<2x32xui8>, tensor<2x32xui8>, tensor<2x32xf32>, tensor<2x32xf16>
}

// -----

// A list of scales is spread along its axis; one that does not fit it stays.
// CHECK-LABEL: @scales_along_an_axis
// CHECK: "onnx.Div"(%arg0, %{{.*}}) {onnxc.by_products} : (tensor<3x2xf32>, tensor<3x1xf32>)
// CHECK: "onnx.QuantizeLinear"(%arg0, %{{.*}}) <{axis = 1
func.func @scales_along_an_axis(%x: tensor<3x2xf32>) -> (tensor<3x2xui8>, tensor<3x2xui8>) {
  %s = "onnx.Constant"() {value = dense<[0.5, 0.25, 1.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "onnx.QuantizeLinear"(%x, %s) <{axis = -2 : i64}> : (tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x2xui8>
  %1 = "onnx.QuantizeLinear"(%x, %s) <{axis = 1 : i64}> : (tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x2xui8>
  return %0, %1 : tensor<3x2xui8>, tensor<3x2xui8>
}

// -----

// Weights that only the run knows leave the constant ones as they are.
// CHECK-LABEL: @lstm_of_the_run
// CHECK: "onnx.ms.DynamicQuantizeLSTM"
// CHECK-NOT: packed =
// CHECK: return
func.func @lstm_of_the_run(%x: tensor<?x1x4xf32>, %r: tensor<1x16x64xi8>) -> tensor<?x1x1x16xf32> {
  %w = "onnx.Constant"() {value = dense<2> : tensor<1x4x64xi8>} : () -> tensor<1x4x64xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = "onnx.ms.DynamicQuantizeLSTM"(%x, %w, %r, %s, %z, %s, %z) <{hidden_size = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1>, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x1x4xf32>, tensor<1x4x64xi8>, tensor<1x16x64xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<?x1x1x16xf32>
  return %y : tensor<?x1x1x16xf32>
}

// -----

// A scale for each channel of the data of filters that read all channels, and zero points that differ, have no sums of integers; a bound
// that is another step in each channel is none of a convolution in bytes.
// CHECK-LABEL: @channel_scales
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK-NOT: "onnx.packed.LinearConv"
// CHECK: return
func.func @channel_scales(%q: tensor<1x2x4x4xui8>, %p: tensor<1x16x4x4xui8>)
    -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %t = "onnx.Constant"() {value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zeros = "onnx.Constant"() {value = dense<128> : tensor<2xui8>} : () -> tensor<2xui8>
  %others = "onnx.Constant"() {value = dense<[128, 129]> : tensor<2xui8>} : () -> tensor<2xui8>
  %x = "onnx.DequantizeLinear"(%q, %t, %zeros) <{axis = 1 : i64}> : (tensor<1x2x4x4xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4x4xf32>
  %u = "onnx.DequantizeLinear"(%q, %t, %others) <{axis = 1 : i64}> : (tensor<1x2x4x4xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4x4xf32>
  %c = "onnx.Constant"() {value = dense<100> : tensor<2x1x1x1xi8>} : () -> tensor<2x1x1x1xi8>
  %f = "onnx.Constant"() {value = dense<100> : tensor<2x2x1x1xi8>} : () -> tensor<2x2x1x1xi8>
  %e = "onnx.Constant"() {value = dense<100> : tensor<2x16x1x1xi8>} : () -> tensor<2x16x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<2x1x1x1xi8>, tensor<f32>) -> tensor<2x1x1x1xf32>
  %h = "onnx.DequantizeLinear"(%f, %s) : (tensor<2x2x1x1xi8>, tensor<f32>) -> tensor<2x2x1x1xf32>
  %v = "onnx.DequantizeLinear"(%e, %s) : (tensor<2x16x1x1xi8>, tensor<f32>) -> tensor<2x16x1x1xf32>
  %y = "onnx.Conv"(%x, %h) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y2 = "onnx.Conv"(%u, %w) <{group = 2 : i64}> : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %d = "onnx.DequantizeLinear"(%p, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %z = "onnx.Conv"(%d, %v) : (tensor<1x16x4x4xf32>, tensor<2x16x1x1xf32>) -> tensor<1x2x4x4xf32>
  %low = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %high = "onnx.Constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %r = "onnx.Clip"(%z, %low, %high) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %n = "onnx.QuantizeLinear"(%r, %t, %zeros) <{axis = 1 : i64}> : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4x4xui8>
  return %y, %y2, %n : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xui8>
}
