// RUN: onnxc-opt %s --pack-weights | FileCheck %s

// Column 0 of the weights goes to lane 0 of panel 0: 1, 3; lanes past N are zero.
// CHECK-LABEL: @matmul
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 0.000000e+00,{{.*}}3.000000e+00, 4.000000e+00, 0.000000e+00,{{.*}} : tensor<1x2x16xf32>
// CHECK: "onnx.packed.MatMul"(%arg0, %[[W]]) <{N = 2 : i64}> : (tensor<?x2xf32>, tensor<1x2x16xf32>) -> tensor<?x2xf32>
func.func @matmul(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// Gemm's factors and transposition are done here: 2 * transposed weights, 3 * C.
// CHECK-LABEL: @gemm
// CHECK-DAG: dense<{{\[\[\[}}2.000000e+00, 6.000000e+00, 0.000000e+00,{{.*}}4.000000e+00, 8.000000e+00, 0.000000e+00,{{.*}} : tensor<1x2x16xf32>
// CHECK-DAG: dense<[3.000000e+00, 6.000000e+00, 0.000000e+00,{{.*}} : tensor<16xf32>
// CHECK: "onnx.packed.MatMul"
func.func @gemm(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %w = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %c = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Gemm"(%a, %w, %c) <{alpha = 2.0 : f32, beta = 3.0 : f32, transB = 1 : i64}> : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// Weights that only the run knows are packed by the kernel.
// CHECK-LABEL: @runtime
// CHECK: "onnx.packed.Product"(%arg0, %arg1)
func.func @runtime(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "onnx.MatMul"(%a, %b) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// The transposition of B is read through strides.
// CHECK-LABEL: @scores
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.packed.Product"(%arg0, %arg1) <{distances = 0 : i64, permA = array<i64: 0, 1, 2>, permB = array<i64: 0, 2, 1>}>
func.func @scores(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x?x?xf32> {
  %t = "onnx.Transpose"(%k) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x?x8xf32>) -> tensor<2x8x?xf32>
  %y = "onnx.MatMul"(%q, %t) : (tensor<2x?x8xf32>, tensor<2x8x?xf32>) -> tensor<2x?x?xf32>
  return %y : tensor<2x?x?xf32>
}

// Recurrent weights in panels of 64 rows.
// CHECK-LABEL: @rnn
// CHECK: "onnx.RNN"(%arg0, %{{.*}}, %{{.*}}) <{{.*}}> {packed = 1 : i64}
func.func @rnn(%x: tensor<?x1x2xf32>) -> tensor<?x1x1x64xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x2xf32>} : () -> tensor<1x64x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x64x64xf32>} : () -> tensor<1x64x64xf32>
  %y = "onnx.RNN"(%x, %w, %r) <{hidden_size = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x64x2xf32>, tensor<1x64x64xf32>) -> tensor<?x1x1x64xf32>
  return %y : tensor<?x1x1x64xf32>
}

// 63 rows are padded; GRU's last gate by itself.
// CHECK-LABEL: @rest
// CHECK: "onnx.GRU"(%arg0, %{{.*}}, %{{.*}}) <{{.*}}> {packed = 1 : i64} : (tensor<?x1x2xf32>, tensor<1x128x2xf32>, tensor<1x192x40xf32>)
func.func @rest(%x: tensor<?x1x2xf32>) -> tensor<?x1x1x40xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x120x2xf32>} : () -> tensor<1x120x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x120x40xf32>} : () -> tensor<1x120x40xf32>
  %y = "onnx.GRU"(%x, %w, %r) <{hidden_size = 40 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x120x2xf32>, tensor<1x120x40xf32>) -> tensor<?x1x1x40xf32>
  return %y : tensor<?x1x1x40xf32>
}

// Few rows would be mostly padding.
// CHECK-LABEL: @few
// CHECK-NOT: packed
func.func @few(%x: tensor<?x1x2xf32>) -> tensor<?x1x1x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x8x2xf32>} : () -> tensor<1x8x2xf32>
  %r = "onnx.Constant"() {value = dense<1.0> : tensor<1x8x8xf32>} : () -> tensor<1x8x8xf32>
  %y = "onnx.RNN"(%x, %w, %r) <{hidden_size = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<?x1x2xf32>, tensor<1x8x2xf32>, tensor<1x8x8xf32>) -> tensor<?x1x1x8xf32>
  return %y : tensor<?x1x1x8xf32>
}

// One number is a bias for all columns; a bias for each row, a transposed first operand, and a bias of the run are the plain kernel's.
// CHECK-LABEL: @other_gemms
// CHECK-DAG: dense<{{\[}}5.000000e+00, 5.000000e+00, 0.000000e+00,{{.*}} : tensor<16xf32>
// CHECK: "onnx.packed.MatMul"
// CHECK-COUNT-3: "onnx.Gemm"
func.func @other_gemms(%a: tensor<2x2xf32>, %run: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "onnx.Constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %one = "onnx.Constant"() {value = dense<5.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %rows = "onnx.Constant"() {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = "onnx.Gemm"(%a, %w, %one) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<1xf32>) -> tensor<2x2xf32>
  %1 = "onnx.Gemm"(%a, %w, %rows) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %2 = "onnx.Gemm"(%a, %w) <{transA = 1 : i64}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = "onnx.Gemm"(%a, %w, %run) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// Rows of the first operand are read as vectors: what moves its last axis stays a transposition, and so does what moves the second's from
// both its last places.
// CHECK-LABEL: @other_transpositions
// CHECK: %[[A:.*]] = "onnx.Transpose"(%arg0)
// CHECK: %[[B:.*]] = "onnx.Transpose"(%arg1)
// CHECK: "onnx.packed.Product"(%[[A]], %[[B]]) <{distances = 0 : i64, permA = array<i64: 0, 1, 2>, permB = array<i64: 0, 1, 2>}>
func.func @other_transpositions(%a: tensor<2x8x5xf32>, %b: tensor<8x3x2xf32>) -> tensor<2x5x3xf32> {
  %t = "onnx.Transpose"(%a) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x8x5xf32>) -> tensor<2x5x8xf32>
  %u = "onnx.Transpose"(%b) <{perm = array<i64: 2, 0, 1>}> : (tensor<8x3x2xf32>) -> tensor<2x8x3xf32>
  %y = "onnx.MatMul"(%t, %u) : (tensor<2x5x8xf32>, tensor<2x8x3xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// Batches without elements, and weights without columns, have nothing to cut into panels.
// CHECK-LABEL: @nothing
// CHECK-COUNT-2: "onnx.MatMul"
func.func @nothing(%a: tensor<0x2xf32>, %b: tensor<2x3xf32>, %c: tensor<4x2xf32>) -> (tensor<0x3xf32>, tensor<4x0xf32>) {
  %w = "onnx.Constant"() {value = dense<> : tensor<2x0xf32>} : () -> tensor<2x0xf32>
  %0 = "onnx.MatMul"(%a, %b) : (tensor<0x2xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  %1 = "onnx.MatMul"(%c, %w) : (tensor<4x2xf32>, tensor<2x0xf32>) -> tensor<4x0xf32>
  return %0, %1 : tensor<0x3xf32>, tensor<4x0xf32>
}

// Squares of the differences of all pairs of rows are added up as products are, whichever operand the rows are; other sums of them, and
// those of a few rows or of one row and others, are not.
// CHECK-LABEL: @distances
// CHECK: %[[S:.*]] = "onnx.packed.Product"(%{{.*}}, %arg1) <{distances = 1 : i64, permA = array<i64: 0, 1>, permB = array<i64: 1, 0>}>{{.*}} -> tensor<?x64xf32>
// CHECK: "onnx.Sqrt"(%[[S]])
// CHECK: %[[P:.*]] = "onnx.packed.Product"({{.*}}distances = 1{{.*}} -> tensor<?x64xf32>
// CHECK: "onnx.Unsqueeze"(%[[P]], {{.*}} -> tensor<?x64x1xf32>
// CHECK: "onnx.ReduceL2"
// CHECK: "onnx.ReduceL2"
// CHECK: "onnx.ReduceSumSquare"
// CHECK: "onnx.ReduceSumSquare"
func.func @distances(%a: tensor<?x1x5xf32>, %b: tensor<64x5xf32>, %few: tensor<2x1x5xf32>, %one: tensor<1x1x5xf32>, %many: tensor<8x64x5xf32>, %d64: tensor<8x1x5xf64>, %b64: tensor<64x5xf64>)
    -> (tensor<?x64xf32>, tensor<?x5xf32>, tensor<2x64xf32>, tensor<?x64x1xf32>, tensor<8x64xf32>, tensor<8x64xf64>) {
  %last = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %middle = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %d = "onnx.Sub"(%a, %b) : (tensor<?x1x5xf32>, tensor<64x5xf32>) -> tensor<?x64x5xf32>
  %0 = "onnx.ReduceL2"(%d, %last) <{keepdims = 0 : i64}> : (tensor<?x64x5xf32>, tensor<1xi64>) -> tensor<?x64xf32>
  %t = "onnx.Sub"(%b, %a) : (tensor<64x5xf32>, tensor<?x1x5xf32>) -> tensor<?x64x5xf32>
  %3 = "onnx.ReduceSumSquare"(%t, %last) <{keepdims = 1 : i64}> : (tensor<?x64x5xf32>, tensor<1xi64>) -> tensor<?x64x1xf32>
  %e = "onnx.Sub"(%a, %b) : (tensor<?x1x5xf32>, tensor<64x5xf32>) -> tensor<?x64x5xf32>
  %1 = "onnx.ReduceL2"(%e, %middle) <{keepdims = 0 : i64}> : (tensor<?x64x5xf32>, tensor<1xi64>) -> tensor<?x5xf32>
  %f = "onnx.Sub"(%few, %b) : (tensor<2x1x5xf32>, tensor<64x5xf32>) -> tensor<2x64x5xf32>
  %2 = "onnx.ReduceL2"(%f, %last) <{keepdims = 0 : i64}> : (tensor<2x64x5xf32>, tensor<1xi64>) -> tensor<2x64xf32>
  %g = "onnx.Sub"(%one, %many) : (tensor<1x1x5xf32>, tensor<8x64x5xf32>) -> tensor<8x64x5xf32>
  %4 = "onnx.ReduceSumSquare"(%g, %last) <{keepdims = 0 : i64}> : (tensor<8x64x5xf32>, tensor<1xi64>) -> tensor<8x64xf32>
  %h = "onnx.Sub"(%d64, %b64) : (tensor<8x1x5xf64>, tensor<64x5xf64>) -> tensor<8x64x5xf64>
  %5 = "onnx.ReduceSumSquare"(%h, %last) <{keepdims = 0 : i64}> : (tensor<8x64x5xf64>, tensor<1xi64>) -> tensor<8x64xf64>
  return %0, %1, %2, %3, %4, %5 : tensor<?x64xf32>, tensor<?x5xf32>, tensor<2x64xf32>, tensor<?x64x1xf32>, tensor<8x64xf32>, tensor<8x64xf64>
}

// Of doubles alike, also those that the run gives; few columns are the library's.
// CHECK-LABEL: @doubles
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{.*}}4.000000e+00, 0.000000e+00,{{.*}} : tensor<1x2x16xf64>
// CHECK-DAG: %[[C:.*]] = "onnx.Constant"() <{value = dense<[3.000000e+00, {{.*}}3.000000e+00, 0.000000e+00,{{.*}} : tensor<16xf64>
// CHECK: %[[Y:.*]] = "onnx.packed.MatMul"(%arg0, %[[W]], %[[C]]) <{N = 9 : i64}>
// CHECK: "onnx.packed.Product"(%[[Y]], %arg1)
// CHECK: "onnx.MatMul"(%[[Y]], %arg2)
func.func @doubles(%a: tensor<2x2xf64>, %b: tensor<9x9xf64>, %few: tensor<9x8xf64>) -> (tensor<2x9xf64>, tensor<2x8xf64>) {
  %w = "onnx.Constant"() {value = dense<2.0> : tensor<9x2xf64>} : () -> tensor<9x2xf64>
  %c = "onnx.Constant"() {value = dense<1.0> : tensor<9xf64>} : () -> tensor<9xf64>
  %y = "onnx.Gemm"(%a, %w, %c) <{alpha = 2.0 : f32, beta = 3.0 : f32, transB = 1 : i64}> : (tensor<2x2xf64>, tensor<9x2xf64>, tensor<9xf64>) -> tensor<2x9xf64>
  %z = "onnx.MatMul"(%y, %b) : (tensor<2x9xf64>, tensor<9x9xf64>) -> tensor<2x9xf64>
  %f = "onnx.MatMul"(%y, %few) : (tensor<2x9xf64>, tensor<9x8xf64>) -> tensor<2x8xf64>
  return %z, %f : tensor<2x9xf64>, tensor<2x8xf64>
}
