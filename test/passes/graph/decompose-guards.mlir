// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Fused ops of com.microsoft, normalisations and convolutions beside those that decompose leaves as they are.

// alpha A' B + beta C, then the activation with the parameters that it takes.
// CHECK-LABEL: @fused_gemm
// CHECK: %[[Y:.*]] = "onnx.Gemm"(%arg0, %{{.*}}, %{{.*}}) <{alpha = 2.000000e+00 : f32, beta = 5.000000e-01 : f32, transA = 0 : i64, transB = 1 : i64}>
// CHECK: "onnx.HardSigmoid"(%[[Y]]) <{alpha = 2.500000e-01 : f32, beta = 7.500000e-01 : f32}>
// CHECK: %[[Z:.*]] = "onnx.Gemm"(%arg0
// CHECK: %[[C:.*]] = "onnx.Clip"(%[[Z]], %{{.*}}, %{{.*}})
// CHECK: %[[P:.*]] = "onnx.Gemm"(%arg0
// CHECK: return %{{.*}}, %[[C]], %[[P]]
func.func @fused_gemm(%a: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %c = "onnx.Constant"() {value = dense<1.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %0 = "onnx.ms.FusedGemm"(%a, %b, %c) <{activation = "HardSigmoid", activation_alpha = 0.25 : f32, activation_beta = 0.75 : f32, alpha = 2.0 : f32, beta = 0.5 : f32, transB = 1 : i64}> : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %1 = "onnx.ms.FusedGemm"(%a, %b, %c) <{activation = "Clip", activation_alpha = 0.0 : f32, activation_beta = 6.0 : f32, transB = 1 : i64}> : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = "onnx.ms.FusedGemm"(%a, %b, %c) <{activation = "", transB = 1 : i64}> : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// A Clip that lacks a bound, activations that are not among the ones that ops have, and doubles stay.
// CHECK-LABEL: @other_activations
// CHECK: onnx.ms.FusedGemm
// CHECK: onnx.ms.FusedGemm
// CHECK: onnx.ms.FusedConv
// CHECK: onnx.ms.FusedConv
// CHECK: "onnx.ms.FusedGemm"{{.*}}f64
func.func @other_activations(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %d: tensor<4x8xf64>, %e: tensor<8x16xf64>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<4x16xf64>) {
  %0 = "onnx.ms.FusedGemm"(%a, %b) <{activation = "Clip", activation_alpha = 0.0 : f32}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = "onnx.ms.FusedGemm"(%a, %b) <{activation = "Softsign"}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = "onnx.ms.FusedConv"(%x, %w) <{activation = "Clip", activation_params = array<f32: 0.0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %3 = "onnx.ms.FusedConv"(%x, %w) <{activation = "Softsign", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %4 = "onnx.ms.FusedGemm"(%d, %e) <{activation = "Relu"}> : (tensor<4x8xf64>, tensor<8x16xf64>) -> tensor<4x16xf64>
  return %0, %1, %2, %3, %4 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<4x16xf64>
}

// -----

// The last two axes of either operand are transposed; a factor of 1 is none.
// CHECK-LABEL: @fused_product
// CHECK-DAG: %[[H:.*]] = "onnx.Constant"() <{value = dense<1.250000e-01> : tensor<f32>}>
// CHECK: %[[K:.*]] = "onnx.Transpose"(%arg1) <{perm = array<i64: 0, 2, 1>}>
// CHECK: %[[P:.*]] = "onnx.MatMul"(%arg0, %[[K]])
// CHECK: %[[S:.*]] = "onnx.Mul"(%[[P]], %[[H]])
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 0, 2, 1>}>
// CHECK: %[[R:.*]] = "onnx.MatMul"(%[[T]], %arg1)
// CHECK: return %[[S]], %[[R]]
func.func @fused_product(%q: tensor<2x9x16xf32>, %k: tensor<2x9x16xf32>) -> (tensor<2x9x9xf32>, tensor<2x16x16xf32>) {
  %0 = "onnx.ms.FusedMatMul"(%q, %k) <{alpha = 0.125 : f32, transB = 1 : i64}> : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x9xf32>
  %1 = "onnx.ms.FusedMatMul"(%q, %k) <{transA = 1 : i64}> : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x16x16xf32>
  return %0, %1 : tensor<2x9x9xf32>, tensor<2x16x16xf32>
}

// -----

// The first axis becomes the one before the last, and the last two change places then.
// CHECK-LABEL: @products_of_moved_batches
// CHECK: %[[A:.*]] = "onnx.Transpose"(%arg0) <{perm = array<i64: 1, 0, 2>}>{{.*}}tensor<9x2x16xf32>
// CHECK: %[[B:.*]] = "onnx.Transpose"(%arg1) <{perm = array<i64: 1, 2, 0>}>{{.*}}tensor<9x16x4xf32>
// CHECK: "onnx.MatMul"(%[[A]], %[[B]])
func.func @products_of_moved_batches(%a: tensor<2x9x16xf32>, %b: tensor<4x9x16xf32>) -> tensor<9x2x4xf32> {
  %0 = "onnx.ms.FusedMatMul"(%a, %b) <{transBatchA = 1 : i64, transBatchB = 1 : i64, transB = 1 : i64}> : (tensor<2x9x16xf32>, tensor<4x9x16xf32>) -> tensor<9x2x4xf32>
  return %0 : tensor<9x2x4xf32>
}

// -----

// Vectors stay.
// CHECK-LABEL: @other_products
// CHECK: "onnx.ms.FusedMatMul"
func.func @other_products(%a: tensor<2x9x16xf32>, %v: tensor<16xf32>) -> tensor<2x9xf32> {
  %0 = "onnx.ms.FusedMatMul"(%a, %v) : (tensor<2x9x16xf32>, tensor<16xf32>) -> tensor<2x9xf32>
  return %0 : tensor<2x9xf32>
}

// -----

// A Gemm of the run with a bias that may have more rows or columns than the product: an Add would repeat the product.
// CHECK-LABEL: @biases_that_repeat
// CHECK-COUNT-2: "onnx.Gemm"
// CHECK: "onnx.MatMul"(%arg2, %arg1)
// CHECK: "onnx.Add"
func.func @biases_that_repeat(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x8xf32>, %rows: tensor<4x16xf32>, %any: tensor<?x16xf32>, %one: tensor<1x8xf32>)
    -> (tensor<4x16xf32>, tensor<1x16xf32>, tensor<4x16xf32>) {
  %0 = "onnx.Gemm"(%a, %b, %rows) : (tensor<?x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<?x16xf32>
  %1 = "onnx.Gemm"(%one, %b, %any) : (tensor<1x8xf32>, tensor<8x16xf32>, tensor<?x16xf32>) -> tensor<1x16xf32>
  %2 = "onnx.Gemm"(%c, %b, %rows) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = "onnx.Identity"(%0) : (tensor<?x16xf32>) -> tensor<4x16xf32>
  return %3, %1, %2 : tensor<4x16xf32>, tensor<1x16xf32>, tensor<4x16xf32>
}

// -----

// Of constant weights the first operand alone is transposed.
// CHECK-LABEL: @gemm_of_columns
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg0)
// CHECK: "onnx.Gemm"(%[[T]], %{{.*}}) <{{.*}}transA = 0 : i64, transB = 1 : i64
func.func @gemm_of_columns(%a: tensor<8x4xf32>) -> tensor<4x16xf32> {
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %y = "onnx.Gemm"(%a, %b) <{transA = 1 : i64, transB = 1 : i64}> : (tensor<8x4xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Channels that make no whole blocks, or sizes of the run.
// CHECK-LABEL: @other_pixels
// CHECK-COUNT-2: "onnx.DepthToSpace"
func.func @other_pixels(%x: tensor<1x12x?x5xf32>, %y: tensor<1x?x4x5xf32>) -> (tensor<1x3x?x10xf32>, tensor<1x?x8x10xf32>) {
  %0 = "onnx.DepthToSpace"(%x) <{blocksize = 2 : i64}> : (tensor<1x12x?x5xf32>) -> tensor<1x3x?x10xf32>
  %1 = "onnx.DepthToSpace"(%y) <{blocksize = 2 : i64}> : (tensor<1x?x4x5xf32>) -> tensor<1x?x8x10xf32>
  return %0, %1 : tensor<1x3x?x10xf32>, tensor<1x?x8x10xf32>
}

// -----

// A row is a group's channels and their planes; in CRD columns the block comes behind the channels.
// CHECK-LABEL: @groups
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg0, %{{.*}} -> tensor<?x2x3x20xf32>
// CHECK: "onnx.LayerNormalization"(%[[R]], {{.*}} <{axis = 2 : i64, epsilon = 9.99999974E-6 : f32{{.*}} (tensor<?x2x3x20xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
// CHECK: "onnx.Transpose"({{.*}} <{perm = array<i64: 0, 1, 4, 2, 5, 3>}>
func.func @groups(%x: tensor<?x6x4x5xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>, %p: tensor<1x12x4x5xf32>) -> (tensor<?x6x4x5xf32>, tensor<1x3x8x10xf32>) {
  %y = "onnx.GroupNormalization"(%x, %s, %b) <{num_groups = 2 : i64}> : (tensor<?x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x6x4x5xf32>
  %z = "onnx.DepthToSpace"(%p) <{blocksize = 2 : i64, mode = "CRD"}> : (tensor<1x12x4x5xf32>) -> tensor<1x3x8x10xf32>
  return %y, %z : tensor<?x6x4x5xf32>, tensor<1x3x8x10xf32>
}

// -----

// Channels of the run, a scale for each group as in opset 18, or no elements.
// CHECK-LABEL: @other_groups
// CHECK-COUNT-3: "onnx.GroupNormalization"
func.func @other_groups(%x: tensor<1x?x4xf32>, %y: tensor<1x6x4xf32>, %z: tensor<0x6x4xf32>, %s: tensor<6xf32>, %g: tensor<2xf32>) -> (tensor<1x?x4xf32>, tensor<1x6x4xf32>, tensor<0x6x4xf32>) {
  %0 = "onnx.GroupNormalization"(%x, %s, %s) <{num_groups = 2 : i64}> : (tensor<1x?x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x?x4xf32>
  %1 = "onnx.GroupNormalization"(%y, %g, %g) <{num_groups = 2 : i64}> : (tensor<1x6x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x6x4xf32>
  %2 = "onnx.GroupNormalization"(%z, %s, %s) <{num_groups = 2 : i64}> : (tensor<0x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<0x6x4xf32>
  return %0, %1, %2 : tensor<1x?x4xf32>, tensor<1x6x4xf32>, tensor<0x6x4xf32>
}

// -----

// Norms other than the second; pads that only the run knows.
// CHECK-LABEL: @other_norms
// CHECK: "onnx.Pow"
// CHECK: "onnx.AveragePool"
// CHECK: "onnx.Pow"
// CHECK: "onnx.ReduceSum"
// CHECK: "onnx.Pow"
// CHECK: "onnx.ReduceL1"(%arg0
// CHECK: "onnx.ReduceL1"(%arg0
// CHECK: onnx.LpPool
func.func @other_norms(%x: tensor<1x2x4x4xf32>, %z: tensor<1x2x?x4xf32>) -> (tensor<1x2x?x4xf32>, tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>) {
  %0 = "onnx.LpPool"(%x) <{kernel_shape = array<i64: 2, 2>, p = 3 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %1 = "onnx.GlobalLpPool"(%x) <{p = 3 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %2 = "onnx.GlobalLpPool"(%x) <{p = 1 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %3 = "onnx.LpNormalization"(%x) <{axis = -1 : i64, p = 1 : i64}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %4 = "onnx.LpPool"(%z) <{kernel_shape = array<i64: 3, 3>, auto_pad = "SAME_UPPER"}> : (tensor<1x2x?x4xf32>) -> tensor<1x2x?x4xf32>
  return %4, %0, %1, %2, %3 : tensor<1x2x?x4xf32>, tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x4x4xf32>
}

// -----

// A given size decides what is dropped of 7 rows: 2 in front and 1 behind, which is no row of the convolution, or the other way round.
// CHECK-LABEL: @given_sizes
// CHECK: "onnx.Conv"({{.*}}pads = array<i64: 0, 0>{{.*}} -> tensor<1x16x2xf32>
// CHECK: "onnx.Conv"({{.*}}pads = array<i64: 1, 0>{{.*}} -> tensor<1x16x3xf32>
// CHECK: "onnx.Slice"({{.*}} (tensor<1x8x6xf32>, {{.*}} -> tensor<1x8x4xf32>
// CHECK-NOT: onnx.ConvTranspose
// CHECK: return
func.func @given_sizes(%x: tensor<1x8x3xf32>) -> (tensor<1x8x4xf32>, tensor<1x8x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x8x3xf32>} : () -> tensor<8x8x3xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{output_shape = array<i64: 4>, strides = array<i64: 2>}> : (tensor<1x8x3xf32>, tensor<8x8x3xf32>) -> tensor<1x8x4xf32>
  %z = "onnx.ConvTranspose"(%x, %w) <{auto_pad = "SAME_UPPER", output_shape = array<i64: 4>, strides = array<i64: 2>}> : (tensor<1x8x3xf32>, tensor<8x8x3xf32>) -> tensor<1x8x4xf32>
  return %y, %z : tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// -----

// Transposed ones that no convolution is: a given size beside one of the run, groups that fill no blocks, more than one channel a group.
// CHECK-LABEL: @other_transposed
// CHECK-COUNT-3: "onnx.ConvTranspose"
func.func @other_transposed(%x: tensor<1x8x?xf32>, %w: tensor<8x8x3xf32>, %y: tensor<1x8x4xf32>, %v: tensor<8x4x3xf32>, %u: tensor<8x3x2xf32>) -> (tensor<1x8x9xf32>, tensor<1x8x9xf32>, tensor<1x24x8xf32>) {
  %0 = "onnx.ConvTranspose"(%x, %w) <{output_shape = array<i64: 9>, strides = array<i64: 2>}> : (tensor<1x8x?xf32>, tensor<8x8x3xf32>) -> tensor<1x8x9xf32>
  %1 = "onnx.ConvTranspose"(%y, %v) <{group = 2 : i64, strides = array<i64: 2>}> : (tensor<1x8x4xf32>, tensor<8x4x3xf32>) -> tensor<1x8x9xf32>
  %2 = "onnx.ConvTranspose"(%y, %u) <{group = 8 : i64, strides = array<i64: 2>}> : (tensor<1x8x4xf32>, tensor<8x3x2xf32>) -> tensor<1x24x8xf32>
  return %0, %1, %2 : tensor<1x8x9xf32>, tensor<1x8x9xf32>, tensor<1x24x8xf32>
}

// -----

// Integers whose zero points are one for each filter are weights less these; data with several stay. Weights of the run are f32.
// CHECK-LABEL: @zero_points
// CHECK: "onnx.packed.LinearConv"
// CHECK: "onnx.ConvInteger"(%arg0, %{{.*}}, %arg1)
// CHECK: "onnx.Conv"({{.*}} {onnxc.exact}
func.func @zero_points(%x: tensor<1x2x3x3xui8>, %zs: tensor<2xui8>, %run: tensor<2x2x1x1xi8>) -> (tensor<1x2x3x3xi32>, tensor<1x2x3x3xi32>, tensor<1x2x3x3xi32>) {
  %w = "onnx.Constant"() {value = dense<3> : tensor<2x2x1x1xi8>} : () -> tensor<2x2x1x1xi8>
  %z = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2xi8>
  %0 = "onnx.ConvInteger"(%x, %w, %z) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (tensor<1x2x3x3xui8>, tensor<2x2x1x1xi8>, tensor<2xi8>) -> tensor<1x2x3x3xi32>
  %1 = "onnx.ConvInteger"(%x, %w, %zs) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x2x3x3xui8>, tensor<2x2x1x1xi8>, tensor<2xui8>) -> tensor<1x2x3x3xi32>
  %2 = "onnx.ConvInteger"(%x, %run) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x2x3x3xui8>, tensor<2x2x1x1xi8>) -> tensor<1x2x3x3xi32>
  return %0, %1, %2 : tensor<1x2x3x3xi32>, tensor<1x2x3x3xi32>, tensor<1x2x3x3xi32>
}

// -----

// Sums below 2^24 are exact: 255 * 128 * 514 is below, 255 * 128 * 515 is not, so that its weights are two parts; those that are cast to
// f32 need not be.
// CHECK-LABEL: @exact_sums
// CHECK: "onnx.packed.LinearConv"({{.*}}channels = 514
// CHECK-COUNT-2: "onnx.Conv"({{.*}} {onnxc.exact}
// CHECK: "onnx.Add"({{.*}} -> tensor<1x1x1x1xi32>
// CHECK: "onnx.packed.LinearConv"({{.*}}channels = 515 {{.*}} -> tensor<1x1x1x1x16xf32>
func.func @exact_sums(%x: tensor<1x514x1x1xui8>, %y: tensor<1x515x1x1xui8>) -> (tensor<1x1x1x1xi32>, tensor<1x1x1x1xi32>, tensor<1x1x1x1xf32>) {
  %w = "onnx.Constant"() {value = dense<-128> : tensor<1x514x1x1xi8>} : () -> tensor<1x514x1x1xi8>
  %v = "onnx.Constant"() {value = dense<-128> : tensor<1x515x1x1xi8>} : () -> tensor<1x515x1x1xi8>
  %0 = "onnx.ConvInteger"(%x, %w) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x514x1x1xui8>, tensor<1x514x1x1xi8>) -> tensor<1x1x1x1xi32>
  %1 = "onnx.ConvInteger"(%y, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x515x1x1xui8>, tensor<1x515x1x1xi8>) -> tensor<1x1x1x1xi32>
  %2 = "onnx.ConvInteger"(%y, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x515x1x1xui8>, tensor<1x515x1x1xi8>) -> tensor<1x1x1x1xi32>
  %3 = "onnx.Cast"(%2) <{to = 1 : i64}> : (tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %3 : tensor<1x1x1x1xi32>, tensor<1x1x1x1xi32>, tensor<1x1x1x1xf32>
}
