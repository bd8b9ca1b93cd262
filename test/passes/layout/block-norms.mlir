// RUN: onnxc-opt %s --block-channels | FileCheck %s

// A normalisation of each channel works on blocks: (x - mean) factor + bias.
// CHECK-LABEL: @instance
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[S:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[}}2.000000e+00, {{.*}}0.000000e+00]]]]> : tensor<1x1x1x16xf32>
// CHECK: %[[M:.*]], %[[F:.*]] = "onnx.packed.GroupMoments"(%[[C]], %[[S]]) <{channels = 12 : i64, epsilon = 1.000000e-03 : f32, groups = 12 : i64}> : {{.*}} -> (tensor<?x1x1x1x16xf32>, tensor<?x1x1x1x16xf32>)
// CHECK: %[[D:.*]] = "onnx.Sub"(%[[C]], %[[M]])
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[D]], %[[F]])
// CHECK: %[[A:.*]] = "onnx.Add"(%[[P]], %{{.*}}) : (tensor<?x1x4x?x16xf32>, tensor<1x1x1x16xf32>)
// CHECK: "onnx.packed.Unblock"(%[[A]])
func.func @instance(%x: tensor<?x3x4x?xf32>) -> tensor<?x12x4x?xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %scale = "onnx.Constant"() {value = dense<2.0> : tensor<12xf32>} : () -> tensor<12xf32>
  %bias = "onnx.Constant"() {value = dense<3.0> : tensor<12xf32>} : () -> tensor<12xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<?x3x4x?xf32>, tensor<12x3x1x1xf32>) -> tensor<?x12x4x?xf32>
  %n = "onnx.InstanceNormalization"(%c, %scale, %bias) <{epsilon = 1.0e-3 : f32}> : (tensor<?x12x4x?xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<?x12x4x?xf32>
  return %n : tensor<?x12x4x?xf32>
}

// So does one of rows of groups between two views: with sizes that only the run knows where the last view has the operand's shape or only one
// is not known. An image that is joined for it is joined in blocks.
// CHECK-LABEL: @rows
// CHECK-NOT: onnx.Reshape
// CHECK: %[[J:.*]] = "onnx.packed.Channels"
// CHECK: "onnx.packed.GroupMoments"(%[[J]], {{.*}}groups = 4 : i64
// CHECK: %[[A:.*]] = "onnx.Mul"
// CHECK: "onnx.packed.GroupMoments"(%[[A]], {{.*}}groups = 2 : i64
// CHECK: %[[B:.*]] = "onnx.Mul"
// CHECK: "onnx.packed.Conv"(%[[B]]
func.func @rows(%x: tensor<?x3x4x5xf32>) -> tensor<?x8x4x5xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x24x1x1xf32>} : () -> tensor<8x24x1x1xf32>
  %ones = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %zeros = "onnx.Constant"() {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %rows = "onnx.Constant"() {value = dense<[0, 4, -1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %image = "onnx.Constant"() {value = dense<[-1, 24, 4, 5]> : tensor<4xi64>} : () -> tensor<4xi64>
  %scale = "onnx.Constant"() {value = dense<2.0> : tensor<2x12x1xf32>} : () -> tensor<2x12x1xf32>
  %bias = "onnx.Constant"() {value = dense<0.0> : tensor<2x12x1xf32>} : () -> tensor<2x12x1xf32>
  %groups = "onnx.Constant"() {value = dense<[-1, 2, 12, 20]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<?x3x4x5xf32>, tensor<12x3x1x1xf32>) -> tensor<?x12x4x5xf32>
  %d = "onnx.Sigmoid"(%c) : (tensor<?x12x4x5xf32>) -> tensor<?x12x4x5xf32>
  %j = "onnx.Concat"(%c, %d) <{axis = 1 : i64}> : (tensor<?x12x4x5xf32>, tensor<?x12x4x5xf32>) -> tensor<?x24x4x5xf32>
  %0 = "onnx.Reshape"(%j, %rows) : (tensor<?x24x4x5xf32>, tensor<3xi64>) -> tensor<?x4x120xf32>
  %1 = "onnx.InstanceNormalization"(%0, %ones, %zeros) <{epsilon = 1.0e-3 : f32}> : (tensor<?x4x120xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x120xf32>
  %2 = "onnx.Reshape"(%1, %image) : (tensor<?x4x120xf32>, tensor<4xi64>) -> tensor<?x24x4x5xf32>
  %3 = "onnx.Reshape"(%2, %groups) : (tensor<?x24x4x5xf32>, tensor<4xi64>) -> tensor<?x2x12x20xf32>
  %4 = "onnx.LayerNormalization"(%3, %scale, %bias) <{axis = 2 : i64, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<?x2x12x20xf32>, tensor<2x12x1xf32>, tensor<2x12x1xf32>) -> tensor<?x2x12x20xf32>
  %shape = "onnx.Shape"(%2) : (tensor<?x24x4x5xf32>) -> tensor<4xi64>
  %5 = "onnx.Reshape"(%4, %shape) : (tensor<?x2x12x20xf32>, tensor<4xi64>) -> tensor<?x24x4x5xf32>
  %6 = "onnx.Conv"(%5, %v) : (tensor<?x24x4x5xf32>, tensor<8x24x1x1xf32>) -> tensor<?x8x4x5xf32>
  return %6 : tensor<?x8x4x5xf32>
}

// Not: rows of another batch, images of other sizes, a scale that only the run knows, a scale of pixels.
// CHECK-LABEL: @not_groups
// CHECK-NOT: onnx.packed.GroupMoments
func.func @not_groups(%x: tensor<2x3x4x4xf32>, %given: tensor<16xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x16x2x8xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x3x1x1xf32>} : () -> tensor<16x3x1x1xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %each = "onnx.Constant"() {value = dense<1.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %pixels = "onnx.Constant"() {value = dense<1.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %wide = "onnx.Constant"() {value = dense<[1, 4, 128]> : tensor<3xi64>} : () -> tensor<3xi64>
  %rows = "onnx.Constant"() {value = dense<[2, 4, 64]> : tensor<3xi64>} : () -> tensor<3xi64>
  %groups = "onnx.Constant"() {value = dense<[2, 4, 4, 16]> : tensor<4xi64>} : () -> tensor<4xi64>
  %image = "onnx.Constant"() {value = dense<[2, 16, 4, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  %flat = "onnx.Constant"() {value = dense<[2, 16, 2, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<2x3x4x4xf32>, tensor<16x3x1x1xf32>) -> tensor<2x16x4x4xf32>
  %0 = "onnx.Reshape"(%c, %wide) : (tensor<2x16x4x4xf32>, tensor<3xi64>) -> tensor<1x4x128xf32>
  %1 = "onnx.InstanceNormalization"(%0, %one, %one) : (tensor<1x4x128xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x128xf32>
  %2 = "onnx.Reshape"(%1, %image) : (tensor<1x4x128xf32>, tensor<4xi64>) -> tensor<2x16x4x4xf32>
  %3 = "onnx.Reshape"(%c, %rows) : (tensor<2x16x4x4xf32>, tensor<3xi64>) -> tensor<2x4x64xf32>
  %4 = "onnx.InstanceNormalization"(%3, %one, %one) : (tensor<2x4x64xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x64xf32>
  %5 = "onnx.Reshape"(%4, %flat) : (tensor<2x4x64xf32>, tensor<4xi64>) -> tensor<2x16x2x8xf32>
  %6 = "onnx.InstanceNormalization"(%c, %given, %each) : (tensor<2x16x4x4xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x16x4x4xf32>
  %7 = "onnx.Reshape"(%c, %groups) : (tensor<2x16x4x4xf32>, tensor<4xi64>) -> tensor<2x4x4x16xf32>
  %8 = "onnx.LayerNormalization"(%7, %pixels, %pixels) <{axis = 2 : i64, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x4x4x16xf32>
  %9 = "onnx.Reshape"(%8, %image) : (tensor<2x4x4x16xf32>, tensor<4xi64>) -> tensor<2x16x4x4xf32>
  return %2, %5, %6, %9 : tensor<2x16x4x4xf32>, tensor<2x16x2x8xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>
}
