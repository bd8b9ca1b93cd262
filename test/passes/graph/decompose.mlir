// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Few columns are reduced as more columns of fewer rows first; a short axis and many columns are left.
// CHECK-LABEL: @reduced_columns
// CHECK: %[[W:.*]] = "onnx.Reshape"(%arg0, %{{.*}} -> tensor<?x24x16xf32>
// CHECK: %[[M:.*]] = "onnx.ReduceMax"(%[[W]], %{{.*}} -> tensor<?x1x16xf32>
// CHECK: %[[R:.*]] = "onnx.Reshape"(%[[M]], %{{.*}} -> tensor<?x4x4xf32>
// CHECK: %[[Y:.*]] = "onnx.ReduceMax"(%[[R]], %{{.*}} -> tensor<?x1x4xf32>
// CHECK: "onnx.Reshape"(%[[Y]], %{{.*}} -> tensor<?x4xf32>
// CHECK: "onnx.ReduceMax"(%arg1
// CHECK: "onnx.ReduceMax"(%arg2
func.func @reduced_columns(%x: tensor<?x96x4xf32>, %s: tensor<?x12x4xf32>, %m: tensor<?x96x20xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x20xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.ReduceMax"(%x, %axes) <{keepdims = 0 : i64}> : (tensor<?x96x4xf32>, tensor<1xi64>) -> tensor<?x4xf32>
  %1 = "onnx.ReduceMax"(%s, %axes) <{keepdims = 0 : i64}> : (tensor<?x12x4xf32>, tensor<1xi64>) -> tensor<?x4xf32>
  %2 = "onnx.ReduceMax"(%m, %axes) <{keepdims = 0 : i64}> : (tensor<?x96x20xf32>, tensor<1xi64>) -> tensor<?x20xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x20xf32>
}

// -----

// A few columns of long sums are summed along the rows; of short sums, and more of them, they stay a product.
// CHECK-LABEL: @few_columns
// CHECK: %[[U:.*]] = "onnx.Unsqueeze"(%arg0
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[U]], %{{.*}}) : (tensor<?x1x64xf32>, tensor<2x64xf32>) -> tensor<?x2x64xf32>
// CHECK: "onnx.ReduceSum"(%[[P]], %{{.*}} -> tensor<?x2xf32>
// CHECK: "onnx.Mul"{{.*}} -> tensor<?x4x64xf32>
// CHECK: "onnx.Gemm"{{.*}} -> tensor<?x5xf32>
// CHECK: "onnx.MatMul"{{.*}} -> tensor<?x2xf32>
func.func @few_columns(%x: tensor<?x64xf32>, %z: tensor<?x16xf32>) -> (tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x5xf32>, tensor<?x2xf32>) {
  %w2 = "onnx.Constant"() {value = dense<2.0> : tensor<64x2xf32>} : () -> tensor<64x2xf32>
  %w4 = "onnx.Constant"() {value = dense<4.0> : tensor<4x64xf32>} : () -> tensor<4x64xf32>
  %w5 = "onnx.Constant"() {value = dense<5.0> : tensor<64x5xf32>} : () -> tensor<64x5xf32>
  %short = "onnx.Constant"() {value = dense<2.0> : tensor<16x2xf32>} : () -> tensor<16x2xf32>
  %bias = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "onnx.MatMul"(%x, %w2) : (tensor<?x64xf32>, tensor<64x2xf32>) -> tensor<?x2xf32>
  %1 = "onnx.Gemm"(%x, %w4, %bias) <{transB = 1 : i64}> : (tensor<?x64xf32>, tensor<4x64xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = "onnx.Gemm"(%x, %w5) : (tensor<?x64xf32>, tensor<64x5xf32>) -> tensor<?x5xf32>
  %3 = "onnx.MatMul"(%z, %short) : (tensor<?x16xf32>, tensor<16x2xf32>) -> tensor<?x2xf32>
  return %0, %1, %2, %3 : tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x5xf32>, tensor<?x2xf32>
}

// -----

// Axes of size 1 are left out; squares are summed over the innermost neighbours, their sums over others.
// CHECK-LABEL: @separate_axes
// CHECK: %[[Q:.*]] = "onnx.ReduceSumSquare"(%arg0, %{{.*}} -> tensor<1x?x1x1xf32>
// CHECK: "onnx.Squeeze"(%[[Q]]
// CHECK: %[[R:.*]] = "onnx.ReduceSumSquare"(%arg1, %{{.*}} -> tensor<2x3x1x1xf32>
// CHECK: "onnx.ReduceSum"(%[[R]], %{{.*}} -> tensor<1x3x1x1xf32>
func.func @separate_axes(%x: tensor<1x?x8x1xf32>, %y: tensor<2x3x4x5xf32>) -> (tensor<?xf32>, tensor<1x3x1x1xf32>) {
  %axes = "onnx.Constant"() {value = dense<[0, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %q = "onnx.ReduceSumSquare"(%x, %axes) <{keepdims = 0 : i64}> : (tensor<1x?x8x1xf32>, tensor<3xi64>) -> tensor<?xf32>
  %r = "onnx.ReduceSumSquare"(%y, %axes) : (tensor<2x3x4x5xf32>, tensor<3xi64>) -> tensor<1x3x1x1xf32>
  return %q, %r : tensor<?xf32>, tensor<1x3x1x1xf32>
}

// -----

// Means over neighbours one after the other.
// CHECK-LABEL: @mean_variance
// CHECK: %[[P:.*]] = "onnx.ReduceMean"(%arg0{{.*}} -> tensor<2x3x1x1xf32>
// CHECK: %[[M:.*]] = "onnx.ReduceMean"(%[[P]]{{.*}} -> tensor<1x3x1x1xf32>
// CHECK: %[[C:.*]] = "onnx.Sub"(%arg0, %[[M]])
// CHECK: "onnx.Sqrt"{{.*}} : (tensor<1x3x1x1xf32>)
// CHECK: "onnx.Div"(%[[C]]
func.func @mean_variance(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %y = "onnx.MeanVarianceNormalization"(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// -----

// CHECK-LABEL: @cross_entropy
// CHECK: %[[L:.*]] = "onnx.LogSoftmax"(%arg0) <{axis = 1 : i64}>
// CHECK: %[[Y:.*]] = "onnx.NegativeLogLikelihoodLoss"(%[[L]], %arg1)
// CHECK: return %[[Y]], %[[L]]
func.func @cross_entropy(%x: tensor<4x9xf32>, %t: tensor<4xi64>) -> (tensor<f32>, tensor<4x9xf32>) {
  %y, %l = "onnx.SoftmaxCrossEntropyLoss"(%x, %t) <{resultSegmentSizes = array<i32: 1, 1>}> : (tensor<4x9xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x9xf32>)
  return %y, %l : tensor<f32>, tensor<4x9xf32>
}

// -----

// CHECK-LABEL: @pixels
// CHECK: "onnx.Reshape"(%arg0{{.*}} -> tensor<?x2x2x3x4x5xf32>
// CHECK: "onnx.Transpose"{{.*}} -> tensor<?x3x4x2x5x2xf32>
// CHECK: "onnx.Reshape"{{.*}} -> tensor<?x3x8x10xf32>
func.func @pixels(%x: tensor<?x12x4x5xf32>) -> tensor<?x3x8x10xf32> {
  %y = "onnx.DepthToSpace"(%x) <{blocksize = 2 : i64}> : (tensor<?x12x4x5xf32>) -> tensor<?x3x8x10xf32>
  return %y : tensor<?x3x8x10xf32>
}

// -----

// CHECK-LABEL: @gemm_of_the_run
// CHECK: %[[B:.*]] = "onnx.Transpose"(%arg1)
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %[[B]])
// CHECK: "onnx.Add"(%[[P]], %arg2)
func.func @gemm_of_the_run(%a: tensor<4x5xf32>, %b: tensor<6x5xf32>, %c: tensor<6xf32>) -> tensor<4x6xf32> {
  %y = "onnx.Gemm"(%a, %b, %c) <{transB = 1 : i64}> : (tensor<4x5xf32>, tensor<6x5xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Weights that are dequantised are for integer-contractions.
// CHECK-LABEL: @gemm_of_bytes
// CHECK: "onnx.Gemm"(%arg0,
func.func @gemm_of_bytes(%a: tensor<4x5xf32>) -> tensor<4x6xf32> {
  %q = "onnx.Constant"() {value = dense<2> : tensor<6x5xi8>} : () -> tensor<6x5xi8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %b = "onnx.DequantizeLinear"(%q, %s) : (tensor<6x5xi8>, tensor<f32>) -> tensor<6x5xf32>
  %y = "onnx.Gemm"(%a, %b) <{transB = 1 : i64}> : (tensor<4x5xf32>, tensor<6x5xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// CHECK-LABEL: @projection
// CHECK: %[[W:.*]] = "onnx.Reshape"(%arg1, {{.*}} -> tensor<8x15xf32>
// CHECK: %[[M:.*]] = "onnx.MatMul"(%arg0, %[[W]])
// CHECK: "onnx.Reshape"(%[[M]], {{.*}} -> tensor<2x?x3x5xf32>
func.func @projection(%x: tensor<2x?x8xf32>, %w: tensor<8x3x5xf32>) -> tensor<2x?x3x5xf32> {
  %y = "onnx.Einsum"(%x, %w) <{equation = "bsd,dhk->bshk"}> : (tensor<2x?x8xf32>, tensor<8x3x5xf32>) -> tensor<2x?x3x5xf32>
  return %y : tensor<2x?x3x5xf32>
}

// -----

// CHECK-LABEL: @scores
// CHECK-DAG: %[[Q:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 2, 1, 3>}>
// CHECK-DAG: %[[K:.*]] = "onnx.Transpose"(%arg1) <{perm = array<i64: 0, 2, 3, 1>}>
// CHECK: "onnx.MatMul"(%[[Q]], %[[K]])
func.func @scores(%q: tensor<?x?x3x5xf32>, %k: tensor<?x?x3x5xf32>) -> tensor<?x3x?x?xf32> {
  %y = "onnx.Einsum"(%q, %k) <{equation = "bqhd,bkhd->bhqk"}> : (tensor<?x?x3x5xf32>, tensor<?x?x3x5xf32>) -> tensor<?x3x?x?xf32>
  return %y : tensor<?x3x?x?xf32>
}

// -----

// Sizes of the result that only the run knows are read from the operands.
// CHECK-LABEL: @relative
// CHECK: onnx.MatMul
// CHECK: "onnx.Concat"
// CHECK-NOT: onnx.Einsum
// CHECK: return
func.func @relative(%q: tensor<?x4x?x16xf32>, %k: tensor<?x?x16xf32>) -> tensor<?x4x?x?xf32> {
  %y = "onnx.Einsum"(%q, %k) <{equation = "bhld,lrd->bhlr"}> : (tensor<?x4x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x4x?x?xf32>
  return %y : tensor<?x4x?x?xf32>
}

// -----

// The bias counts in units of both scales.
// CHECK-LABEL: @linear_conv
// CHECK-DAG: %[[U:.*]] = "onnx.Constant"() <{value = dense<1.250000e-01> : tensor<f32>}>
// CHECK-DAG: %[[B:.*]] = "onnx.DequantizeLinear"(%{{.*}}, %[[U]]) {{.*}} : (tensor<1xi32>, tensor<f32>) -> tensor<1xf32>
// CHECK: %[[Y:.*]] = "onnx.Conv"(%{{.*}}, %{{.*}}, %[[B]])
// CHECK: "onnx.QuantizeLinear"(%[[Y]]
func.func @linear_conv(%x: tensor<1x1x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %o = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.Constant"() {value = dense<3> : tensor<1x1x1x1xi8>} : () -> tensor<1x1x1x1xi8>
  %b = "onnx.Constant"() {value = dense<7> : tensor<1xi32>} : () -> tensor<1xi32>
  %y = "onnx.QLinearConv"(%x, %s, %z, %w, %t, %o, %s, %z, %b)
      : (tensor<1x1x4x4xui8>, tensor<1xf32>, tensor<ui8>, tensor<1x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<1xf32>, tensor<ui8>, tensor<1xi32>) -> tensor<1x1x4x4xui8>
  return %y : tensor<1x1x4x4xui8>
}

// -----

// Two values of the run.
// CHECK-LABEL: @linear_run_time_product
// CHECK-DAG: %[[A:.*]] = "onnx.DequantizeLinear"(%arg0
// CHECK-DAG: %[[B:.*]] = "onnx.DequantizeLinear"(%arg1
// CHECK: %[[Y:.*]] = "onnx.MatMul"(%[[A]], %[[B]])
// CHECK: "onnx.QuantizeLinear"(%[[Y]]
func.func @linear_run_time_product(%a: tensor<2x3x4xui8>, %b: tensor<2x4x3xui8>) -> tensor<2x3x3xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %y = "onnx.QLinearMatMul"(%a, %s, %z, %b, %t, %z, %s, %z)
      : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x3xui8>
  return %y : tensor<2x3x3xui8>
}

// -----

// Numbers that the run gives, or one for each row, stay with the op.
// CHECK-LABEL: @linear_run_time_scales
// CHECK: onnx.QLinearMatMul
// CHECK: onnx.QLinearMatMul
func.func @linear_run_time_scales(%a: tensor<2x4xui8>, %b: tensor<4x3xui8>, %s: tensor<f32>) -> (tensor<2x3xui8>, tensor<2x3xui8>) {
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %r = "onnx.Constant"() {value = dense<[0.25, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %q = "onnx.Constant"() {value = dense<128> : tensor<2xui8>} : () -> tensor<2xui8>
  %y = "onnx.QLinearMatMul"(%a, %s, %z, %b, %t, %z, %t, %z)
      : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %x = "onnx.QLinearMatMul"(%a, %r, %q, %b, %t, %z, %t, %z)
      : (tensor<2x4xui8>, tensor<2xf32>, tensor<2xui8>, tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %y, %x : tensor<2x3xui8>, tensor<2x3xui8>
}

// -----

// Along one axis since opset 13, over all axes from one on before. 1 is a whole number of steps.
// CHECK-LABEL: @linear_softmax
// CHECK: %[[S:.*]] = "onnx.Constant"() <{value = dense<5.000000e-01> : tensor<f32>}>
// CHECK: %[[Y:.*]] = "onnx.Softmax"
// CHECK: "onnx.QuantizeLinear"(%[[Y]], %[[S]]
// CHECK: onnx.ms.QLinearSoftmax
func.func @linear_softmax(%x: tensor<2x3x4xui8>) -> (tensor<2x3x4xui8>, tensor<2x3x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.4> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %y = "onnx.ms.QLinearSoftmax"(%x, %s, %z, %s, %z) <{axis = 1 : i64, opset = 13 : i64}> : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4xui8>
  %w = "onnx.ms.QLinearSoftmax"(%x, %s, %z, %s, %z) <{axis = 1 : i64, opset = 12 : i64}> : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3x4xui8>
  return %y, %w : tensor<2x3x4xui8>, tensor<2x3x4xui8>
}

// -----

// The second part has the result's numbers, the first is requantised.
// CHECK-LABEL: @linear_concat
// CHECK: %[[F:.*]] = "onnx.DequantizeLinear"(%arg0
// CHECK: %[[A:.*]] = "onnx.QuantizeLinear"(%[[F]]
// CHECK: "onnx.Concat"(%[[A]], %arg1) <{axis = 1 : i64}>
func.func @linear_concat(%a: tensor<2x3xui8>, %b: tensor<2x5xui8>) -> tensor<2x8xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %u = "onnx.Constant"() {value = dense<0.5> : tensor<1xf32>} : () -> tensor<1xf32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %y = "onnx.ms.QLinearConcat"(%s, %z, %a, %t, %z, %b, %u, %z) <{axis = 1 : i64}> : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x5xui8>, tensor<1xf32>, tensor<ui8>) -> tensor<2x8xui8>
  return %y : tensor<2x8xui8>
}

// -----

// A scale that the run gives.
// CHECK-LABEL: @linear_concat_run_time
// CHECK: onnx.ms.QLinearConcat
func.func @linear_concat_run_time(%a: tensor<2x3xui8>, %s: tensor<f32>) -> tensor<2x3xui8> {
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %y = "onnx.ms.QLinearConcat"(%s, %z, %a, %s, %z) <{axis = 1 : i64}> : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %y : tensor<2x3xui8>
}

// -----

// Weights that are multiples of a power of two make sums that f32 holds.
// CHECK-LABEL: @byte_resize
// CHECK: %[[F:.*]] = "onnx.Cast"(%arg0)
// CHECK: %[[Y:.*]] = "onnx.Resize"(%[[F]]
// CHECK: %[[R:.*]] = "onnx.Round"(%[[Y]])
// CHECK: "onnx.Cast"(%[[R]])
func.func @byte_resize(%x: tensor<1x3x4x4xui8>) -> tensor<1x3x8x16xui8> {
  %sizes = "onnx.Constant"() {value = dense<[1, 3, 8, 16]> : tensor<4xi64>} : () -> tensor<4xi64>
  %y = "onnx.Resize"(%x, %sizes) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x3x4x4xui8>, tensor<4xi64>) -> tensor<1x3x8x16xui8>
  return %y : tensor<1x3x8x16xui8>
}

// -----

// Others do not: thirds, and corners that are aligned.
// CHECK-LABEL: @byte_resize_rounds
// CHECK: "onnx.Resize"(%arg0
// CHECK: "onnx.Resize"(%arg0
func.func @byte_resize_rounds(%x: tensor<1x3x4x4xui8>) -> (tensor<1x3x12x12xui8>, tensor<1x3x8x8xui8>) {
  %thrice = "onnx.Constant"() {value = dense<[1, 3, 12, 12]> : tensor<4xi64>} : () -> tensor<4xi64>
  %twice = "onnx.Constant"() {value = dense<[1, 3, 8, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %y = "onnx.Resize"(%x, %thrice) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x3x4x4xui8>, tensor<4xi64>) -> tensor<1x3x12x12xui8>
  %z = "onnx.Resize"(%x, %twice) <{mode = "linear", coordinate_transformation_mode = "align_corners", operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : (tensor<1x3x4x4xui8>, tensor<4xi64>) -> tensor<1x3x8x8xui8>
  return %y, %z : tensor<1x3x12x12xui8>, tensor<1x3x8x8xui8>
}

// -----

// Two blocks of 16 in one column; -8 is nibble 0, and a signed zero point 0 is the 8 that MatMulNBits means.
// CHECK-LABEL: @block_weights
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<0> : tensor<1x2x8xui8>}>
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>}>
// CHECK: "onnx.ms.MatMulNBits"(%arg0, %[[B]], %[[S]]) <{K = 32 : i64, N = 1 : i64,
func.func @block_weights(%x: tensor<?x32xf32>) -> tensor<?x1xf32> {
  %q = "onnx.Constant"() {value = dense<-8> : tensor<32x1xi4>} : () -> tensor<32x1xi4>
  %s = "onnx.Constant"() {value = dense<[[0.5], [0.25]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %w = "onnx.DequantizeLinear"(%q, %s) <{axis = 0 : i64, block_size = 16 : i64}> : (tensor<32x1xi4>, tensor<2x1xf32>) -> tensor<32x1xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x32xf32>, tensor<32x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// CHECK-LABEL: @table
// CHECK: %[[G:.*]] = "onnx.Gather"(%{{.*}}, %arg0) <{axis = 0 : i64}> {{.*}} -> tensor<4x2xui8>
// CHECK: "onnx.DequantizeLinear"(%[[G]], {{.*}} -> tensor<4x2xf32>
func.func @table(%i: tensor<4xi64>) -> tensor<4x2xf32> {
  %q = "onnx.Constant"() {value = dense<1> : tensor<9x2xui8>} : () -> tensor<9x2xui8>
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.DequantizeLinear"(%q, %s) : (tensor<9x2xui8>, tensor<f32>) -> tensor<9x2xf32>
  %y = "onnx.Gather"(%t, %i) <{axis = 0 : i64}> : (tensor<9x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// A column made in the run is summed along the rows of its matrix; several columns for one matrix stay a product.
// CHECK-LABEL: @column
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg1, {{.*}} -> tensor<?x1x64xf32>
// CHECK: %[[M:.*]] = "onnx.Mul"(%arg0, %[[R]])
// CHECK: "onnx.ReduceSum"(%[[M]], {{.*}} <{keepdims = 1
// CHECK: "onnx.MatMul"(%arg2, %arg1)
func.func @column(%a: tensor<?x40x64xf32>, %b: tensor<?x64x1xf32>, %one: tensor<1x40x64xf32>) -> (tensor<?x40x1xf32>, tensor<?x40x1xf32>) {
  %y = "onnx.MatMul"(%a, %b) : (tensor<?x40x64xf32>, tensor<?x64x1xf32>) -> tensor<?x40x1xf32>
  %z = "onnx.MatMul"(%one, %b) : (tensor<1x40x64xf32>, tensor<?x64x1xf32>) -> tensor<?x40x1xf32>
  return %y, %z : tensor<?x40x1xf32>, tensor<?x40x1xf32>
}

// -----

// Weights too, and vectors of any length; a short column stays a product, and so does one of bytes.
// CHECK-LABEL: @weights_column
// CHECK: %[[M:.*]] = "onnx.Mul"(%arg0, {{.*}} -> tensor<?x40xf32>
// CHECK: %[[S:.*]] = "onnx.ReduceSum"(%[[M]], {{.*}} <{keepdims = 1
// CHECK: "onnx.Add"(%[[S]],
// CHECK: %[[V:.*]] = "onnx.Mul"(%arg1, %arg2)
// CHECK: "onnx.ReduceSum"(%[[V]], {{.*}} <{keepdims = 0
// CHECK: "onnx.MatMul"(%arg1, %arg3)
// CHECK: "onnx.MatMul"
func.func @weights_column(%a: tensor<?x40xf32>, %s: tensor<?x3xf32>, %v: tensor<3xf32>, %c: tensor<3x1xf32>, %q: tensor<40x1xui8>) -> (tensor<?x1xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %w = "onnx.Constant"() {value = dense<1.5> : tensor<1x40xf32>} : () -> tensor<1x40xf32>
  %b = "onnx.Constant"() {value = dense<2.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %one = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.Gemm"(%a, %w, %b) <{transB = 1 : i64}> : (tensor<?x40xf32>, tensor<1x40xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %y = "onnx.MatMul"(%s, %v) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?xf32>
  %z = "onnx.MatMul"(%s, %c) : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %d = "onnx.DequantizeLinear"(%q, %one) : (tensor<40x1xui8>, tensor<f32>) -> tensor<40x1xf32>
  %u = "onnx.MatMul"(%a, %d) : (tensor<?x40xf32>, tensor<40x1xf32>) -> tensor<?x1xf32>
  return %x, %y, %z, %u : tensor<?x1xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

// Axes that are no neighbours are reduced run by run, the innermost first.
// CHECK-LABEL: @separated
// CHECK: %[[R:.*]] = "onnx.ReduceMax"(%arg0, {{.*}} <{keepdims = 1 {{.*}} -> tensor<?x5x1x1xf32>
// CHECK: %[[S:.*]] = "onnx.ReduceMax"(%[[R]], {{.*}} <{keepdims = 1 {{.*}} -> tensor<1x5x1x1xf32>
// CHECK: "onnx.Squeeze"(%[[S]],
func.func @separated(%x: tensor<?x5x6x7xf32>) -> tensor<5xf32> {
  %axes = "onnx.Constant"() {value = dense<[3, 0, -2]> : tensor<3xi64>} : () -> tensor<3xi64>
  %y = "onnx.ReduceMax"(%x, %axes) <{keepdims = 0 : i64}> : (tensor<?x5x6x7xf32>, tensor<3xi64>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// CHECK-LABEL: @normalised
// CHECK: %[[N:.*]] = "onnx.ReduceL2"(%arg0, {{.*}} -> tensor<?x1xf32>
// CHECK: %[[Z:.*]] = "onnx.Equal"(%[[N]],
// CHECK: %[[Q:.*]] = "onnx.Div"(%arg0, %[[N]])
// CHECK: "onnx.Where"(%[[Z]], %{{.*}}, %[[Q]])
func.func @normalised(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %y = "onnx.LpNormalization"(%x) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}

// -----

// A vector times matrices is a row.
// CHECK-LABEL: @vector
// CHECK: %[[R:.*]] = "onnx.Unsqueeze"(%arg0, {{.*}} -> tensor<1x6xf32>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%[[R]], %arg1) {{.*}} -> tensor<?x1x5xf32>
// CHECK: "onnx.Squeeze"(%[[P]], {{.*}} -> tensor<?x5xf32>
func.func @vector(%x: tensor<6xf32>, %w: tensor<?x6x5xf32>) -> tensor<?x5xf32> {
  %y = "onnx.MatMul"(%x, %w) : (tensor<6xf32>, tensor<?x6x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// Halves are cast by f32 where that rounds once: not from f64, and to bf16 not from 32 bits.
// CHECK-LABEL: @halves
// CHECK: %[[A:.*]] = "onnx.Cast"(%arg0) {{.*}} -> tensor<4xf32>
// CHECK: "onnx.Cast"(%[[A]]) {{.*}} -> tensor<4xf16>
// CHECK: %[[B:.*]] = "onnx.Cast"(%arg1) {{.*}} -> tensor<4xf32>
// CHECK: "onnx.Cast"(%[[B]]) {{.*}} -> tensor<4xui8>
// CHECK: "onnx.Cast"(%arg2) {{.*}} -> tensor<4xf16>
// CHECK: "onnx.Cast"(%arg0) {{.*}} -> tensor<4xbf16>
func.func @halves(%i: tensor<4xi32>, %h: tensor<4xbf16>, %d: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xui8>, tensor<4xf16>, tensor<4xbf16>) {
  %0 = "onnx.Cast"(%i) <{to = 10 : i64}> : (tensor<4xi32>) -> tensor<4xf16>
  %1 = "onnx.Cast"(%h) <{to = 2 : i64}> : (tensor<4xbf16>) -> tensor<4xui8>
  %2 = "onnx.Cast"(%d) <{to = 10 : i64}> : (tensor<4xf64>) -> tensor<4xf16>
  %3 = "onnx.Cast"(%i) <{to = 16 : i64}> : (tensor<4xi32>) -> tensor<4xbf16>
  return %0, %1, %2, %3 : tensor<4xf16>, tensor<4xui8>, tensor<4xf16>, tensor<4xbf16>
}
