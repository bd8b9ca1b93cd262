// RUN: onnxc-opt %s --block-channels | FileCheck %s

// A network converts where it begins and ends; few channels are read as they are.
// CHECK-LABEL: @network
// CHECK-NOT: onnx.packed.Block
// CHECK: %[[A:.*]] = "onnx.packed.Conv"(%arg0, %{{.*}}) {{.*}}plain = 1 : i64{{.*}} -> tensor<1x1x8x8x16xf32>
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[A]]) : (tensor<1x1x8x8x16xf32>)
// CHECK: %[[P:.*]] = "onnx.packed.Pool"(%[[R]]) {{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[P]]) <{channels = 16 : i64}>
// CHECK: return %[[U]]
func.func @network(%x: tensor<1x3x8x8xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x3x1x1xf32>} : () -> tensor<16x3x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x3x8x8xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x8x8xf32>
  %r = "onnx.Relu"(%c) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %p = "onnx.MaxPool"(%r) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 2>}> : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  return %p : tensor<1x16x4x4xf32>
}

// So are channels that would leave a fifth of their blocks empty; others become blocks.
// CHECK-LABEL: @empty_lanes
// CHECK: "onnx.packed.Conv"(%arg0, %{{.*}}) {{.*}}plain = 1 : i64{{.*}} -> tensor<1x1x3x3x16xf32>
// CHECK: %[[B:.*]] = "onnx.packed.Block"(%arg1)
// CHECK: "onnx.packed.Conv"(%[[B]], %{{.*}}) {{.*}} -> tensor<1x1x3x3x16xf32>
func.func @empty_lanes(%x: tensor<1x24x8x8xf32>, %y: tensor<1x28x8x8xf32>) -> (tensor<1x16x3x3xf32>, tensor<1x16x3x3xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x24x3x3xf32>} : () -> tensor<16x24x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x28x3x3xf32>} : () -> tensor<16x28x3x3xf32>
  %0 = "onnx.Conv"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x24x8x8xf32>, tensor<16x24x3x3xf32>) -> tensor<1x16x3x3xf32>
  %1 = "onnx.Conv"(%y, %v) <{strides = array<i64: 2, 2>}> : (tensor<1x28x8x8xf32>, tensor<16x28x3x3xf32>) -> tensor<1x16x3x3xf32>
  return %0, %1 : tensor<1x16x3x3xf32>, tensor<1x16x3x3xf32>
}

// Weights of a depthwise convolution: [C/16, KH, KW, 1, 16], lanes past the last channel zero.
// CHECK-LABEL: @depthwise
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[\[}}2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 0.000000e+00,{{.*}} : tensor<1x1x1x1x16xf32>
// CHECK: %[[B:.*]] = "onnx.packed.Block"(%arg0) : (tensor<?x5x4x4xf32>) -> tensor<?x1x4x4x16xf32>
// CHECK: "onnx.packed.GroupedConv"(%[[B]], %[[W]])
func.func @depthwise(%x: tensor<?x5x4x4xf32>) -> tensor<?x5x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[2.0]]], [[[3.0]]], [[[4.0]]], [[[5.0]]], [[[6.0]]]]> : tensor<5x1x1x1xf32>} : () -> tensor<5x1x1x1xf32>
  %c = "onnx.Conv"(%x, %w) <{group = 5 : i64}> : (tensor<?x5x4x4xf32>, tensor<5x1x1x1xf32>) -> tensor<?x5x4x4xf32>
  return %c : tensor<?x5x4x4xf32>
}

// Groups that lie within a block: a lane of the weights for each result, [C/16, KH, KW, channels of a group, 16].
// CHECK-LABEL: @groups
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00, 9.000000e+00, 1.100000e+01, 0.000000e+00,{{.*}}, [2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00, 1.000000e+01, 1.200000e+01, 0.000000e+00,{{.*}} : tensor<1x1x1x2x16xf32>
// CHECK: "onnx.packed.GroupedConv"(%{{.*}}, %[[W]])
func.func @groups(%x: tensor<1x6x4x4xf32>) -> tensor<1x6x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]], [[[7.0]], [[8.0]]], [[[9.0]], [[10.0]]], [[[11.0]], [[12.0]]]]> : tensor<6x2x1x1xf32>} : () -> tensor<6x2x1x1xf32>
  %c = "onnx.Conv"(%x, %w) <{group = 3 : i64}> : (tensor<1x6x4x4xf32>, tensor<6x2x1x1xf32>) -> tensor<1x6x4x4xf32>
  return %c : tensor<1x6x4x4xf32>
}

// Few results of few channels are computed where they lie, unless the operand is in blocks already.
// CHECK-LABEL: @narrow
// CHECK: %[[A:.*]] = "onnx.Conv"(%arg0
// CHECK: %[[B:.*]] = "onnx.packed.Conv"(%[[A]]
// CHECK: "onnx.packed.Conv"(%[[B]]
func.func @narrow(%x: tensor<1x3x4x4xf32>, %w: tensor<3x3x1x1xf32>, %u: tensor<8x3x1x1xf32>, %v: tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %1 = "onnx.Conv"(%0, %u) : (tensor<1x3x4x4xf32>, tensor<8x3x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// Half a block of results: where their sums are long and rows fill the lanes.
// CHECK-LABEL: @half_a_block
// CHECK: "onnx.Conv"(%arg0, %arg1)
// CHECK: "onnx.packed.Conv"(%arg0
// CHECK: "onnx.packed.Conv"(%arg2
func.func @half_a_block(%x: tensor<1x3x32x32xf32>, %w: tensor<8x3x5x5xf32>, %s: tensor<1x3x32x18xf32>, %v: tensor<8x3x3x3xf32>) -> (tensor<1x8x28x28xf32>, tensor<1x8x30x30xf32>, tensor<1x8x28x14xf32>) {
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x32x32xf32>, tensor<8x3x5x5xf32>) -> tensor<1x8x28x28xf32>
  %1 = "onnx.Conv"(%x, %v) : (tensor<1x3x32x32xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x30x30xf32>
  %2 = "onnx.Conv"(%s, %w) : (tensor<1x3x32x18xf32>, tensor<8x3x5x5xf32>) -> tensor<1x8x28x14xf32>
  return %0, %1, %2 : tensor<1x8x28x28xf32>, tensor<1x8x30x30xf32>, tensor<1x8x28x14xf32>
}

// A transposed convolution is a convolution for each phase: 2 * 2, 2 * 1, 1 * 2 and 1 taps of the nine.
// CHECK-LABEL: @transposed
// CHECK: %[[W:.*]] = "onnx.Constant"() {{.*}} : () -> tensor<2304xf32>
// CHECK: %[[X:.*]] = "onnx.packed.Block"(%arg0)
// CHECK: %[[Y:.*]] = "onnx.packed.ConvTranspose"(%[[X]], %[[W]]) <{channels = 16 : i64, crops = array<i64: 1, 1, 0, 0>, kernel_shape = array<i64: 3, 3>, outputs = 16 : i64, strides = array<i64: 2, 2>}> : (tensor<?x1x?x5x16xf32>, tensor<2304xf32>) -> tensor<?x1x?x10x16xf32>
// CHECK: "onnx.Relu"(%[[Y]])
func.func @transposed(%x: tensor<?x16x?x5xf32>) -> tensor<?x16x?x10xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x3x3xf32>} : () -> tensor<16x16x3x3xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) <{output_padding = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}> : (tensor<?x16x?x5xf32>, tensor<16x16x3x3xf32>) -> tensor<?x16x?x10xf32>
  %1 = "onnx.Relu"(%0) : (tensor<?x16x?x10xf32>) -> tensor<?x16x?x10xf32>
  return %1 : tensor<?x16x?x10xf32>
}

// Few results of many channels stay plain, and what reads them: the lanes of a block are added up for each. Taps are in reverse.
// CHECK-LABEL: @few_results
// CHECK: %[[X:.*]] = "onnx.packed.Conv"{{.*}} -> tensor<1x2x5x9x16xf32>
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[}}1.000000e+00, 0.000000e+00{{.*}}, 2.000000e+00, 0.000000e+00{{.*}}, 3.000000e+00, 0.000000e+00{{.*}}, 4.000000e+00,{{.*}}> : tensor<64xf32>}>
// CHECK: %[[Y:.*]] = "onnx.packed.NarrowConv"(%[[X]], %{{.*}}) <{channels = 17 : i64, crops = array<i64: 0, 1, 0, 0>, kernel_shape = array<i64: 1, 2>, outputs = 1 : i64, strides = array<i64: 1, 1>}> : (tensor<1x2x5x9x16xf32>, tensor<64xf32>) -> tensor<1x1x5x9xf32>
// CHECK: "onnx.Sigmoid"(%[[Y]]) : (tensor<1x1x5x9xf32>)
func.func @few_results(%x: tensor<1x17x5x9xf32>, %v: tensor<17x17x1x1xf32>) -> tensor<1x1x5x9xf32> {
  %w = "onnx.Constant"() {value = dense<[[[[1.0, 2.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[0.0, 0.0]], [[3.0, 4.0]]]]> : tensor<1x17x1x2xf32>} : () -> tensor<1x17x1x2xf32>
  %c = "onnx.Conv"(%x, %v) : (tensor<1x17x5x9xf32>, tensor<17x17x1x1xf32>) -> tensor<1x17x5x9xf32>
  %0 = "onnx.Conv"(%c, %w) <{pads = array<i64: 0, 0, 0, 1>}> : (tensor<1x17x5x9xf32>, tensor<1x17x1x2xf32>) -> tensor<1x1x5x9xf32>
  %1 = "onnx.Sigmoid"(%0) : (tensor<1x1x5x9xf32>) -> tensor<1x1x5x9xf32>
  return %1 : tensor<1x1x5x9xf32>
}

// Those of a transposed one where one result has fewer products so than the lanes of all phases.
// CHECK-LABEL: @few_transposed
// CHECK: "onnx.packed.NarrowConv"
// CHECK: "onnx.ConvTranspose"
func.func @few_transposed(%x: tensor<1x64x5x9xf32>, %v: tensor<64x1x4x4xf32>) -> (tensor<1x1x12x20xf32>, tensor<1x1x12x20xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x1x4x4xf32>} : () -> tensor<64x1x4x4xf32>
  %0 = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x64x5x9xf32>, tensor<64x1x4x4xf32>) -> tensor<1x1x12x20xf32>
  %1 = "onnx.ConvTranspose"(%x, %v) <{strides = array<i64: 2, 2>}> : (tensor<1x64x5x9xf32>, tensor<64x1x4x4xf32>) -> tensor<1x1x12x20xf32>
  return %0, %1 : tensor<1x1x12x20xf32>, tensor<1x1x12x20xf32>
}

// Weights that the run gives are packed by the run.
// CHECK-LABEL: @given_weights
// CHECK: "onnx.Pad"(%arg1{{.*}} -> tensor<16x32x3x3xf32>
// CHECK: %[[W:.*]] = "onnx.Transpose"{{.*}} -> tensor<1x2x3x3x16x16xf32>
// CHECK: %[[B:.*]] = "onnx.Pad"(%arg2{{.*}} -> tensor<16xf32>
// CHECK: "onnx.packed.Conv"(%{{.*}}, %[[W]], %[[B]])
func.func @given_weights(%x: tensor<1x28x4x4xf32>, %w: tensor<8x28x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x2x2xf32> {
  %c = "onnx.Conv"(%x, %w, %b) : (tensor<1x28x4x4xf32>, tensor<8x28x3x3xf32>, tensor<8xf32>) -> tensor<1x8x2x2xf32>
  return %c : tensor<1x8x2x2xf32>
}

// The same of a plain image.
// CHECK-LABEL: @given_weights_of_plain
// CHECK: %[[W:.*]] = "onnx.Transpose"{{.*}} -> tensor<{{.*}}x16xf32>
// CHECK: "onnx.packed.Conv"(%arg0, %{{.*}}plain = 1 : i64
func.func @given_weights_of_plain(%x: tensor<1x20x4x4xf32>, %w: tensor<8x20x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x8x2x2xf32> {
  %c = "onnx.Conv"(%x, %w, %b) : (tensor<1x20x4x4xf32>, tensor<8x20x3x3xf32>, tensor<8xf32>) -> tensor<1x8x2x2xf32>
  return %c : tensor<1x8x2x2xf32>
}

// A logarithm of lanes past the last channel would not be finite: it works on the plain value.
// CHECK-LABEL: @not_finite
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK: "onnx.Log"(%[[U]])
func.func @not_finite(%x: tensor<1x3x2x2xf32>) -> tensor<1x5x2x2xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<5x3x1x1xf32>} : () -> tensor<5x3x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x3x2x2xf32>, tensor<5x3x1x1xf32>) -> tensor<1x5x2x2xf32>
  %l = "onnx.Log"(%c) : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  return %l : tensor<1x5x2x2xf32>
}

// Groups that share blocks: a panel of 16 outputs reads as many blocks as any of them needs.
// CHECK-LABEL: @shared_blocks
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense_resource<{{.*}}> : tensor<3x3x3x3x16x16xf32>}>
// CHECK: "onnx.packed.Conv"(%{{.*}}, %{{.*}}) <{{{.*}}channels = 48 : i64, {{.*}}group = 3 : i64, {{.*}}shared = array<i64: 24, 24>
func.func @shared_blocks(%x: tensor<1x48x8x8xf32>) -> tensor<1x48x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<48x24x3x3xf32>} : () -> tensor<48x24x3x3xf32>
  %c = "onnx.Conv"(%x, %w) <{group = 2 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x48x8x8xf32>, tensor<48x24x3x3xf32>) -> tensor<1x48x8x8xf32>
  return %c : tensor<1x48x8x8xf32>
}

// A single tap is not worth products with zeros: nothing changes.
// CHECK-LABEL: @shared_blocks_1x1
// CHECK: "onnx.Conv"
func.func @shared_blocks_1x1(%x: tensor<1x48x8x8xf32>) -> tensor<1x48x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<48x24x1x1xf32>} : () -> tensor<48x24x1x1xf32>
  %c = "onnx.Conv"(%x, %w) <{group = 2 : i64}> : (tensor<1x48x8x8xf32>, tensor<48x24x1x1xf32>) -> tensor<1x48x8x8xf32>
  return %c : tensor<1x48x8x8xf32>
}

// 3x3 filters of stride 1 over many pixels go through Winograd's transformation: [36, ceil(O/16), C, 16] weights. Few pixels, strides and sums that must stay exact are computed directly.
// CHECK-LABEL: @winograd
// CHECK: "onnx.packed.WinogradConv"(%{{.*}}, %{{.*}}) <{channels = 32 : i64, {{.*}}kernel_shape = array<i64: 3, 3>, {{.*}}pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x2x56x56x16xf32>, tensor<36x2x32x16xf32>) -> tensor<1x2x56x56x16xf32>
// CHECK: "onnx.packed.Conv"
// CHECK: "onnx.packed.Conv"
// CHECK: "onnx.packed.Conv"
func.func @winograd(%x: tensor<1x32x56x56xf32>, %s: tensor<1x32x4x4xf32>) -> (tensor<1x32x56x56xf32>, tensor<1x32x4x4xf32>, tensor<1x32x28x28xf32>, tensor<1x32x56x56xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x32x3x3xf32>} : () -> tensor<32x32x3x3xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x32x56x56xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x56x56xf32>
  %b = "onnx.Conv"(%s, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x32x4x4xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x4x4xf32>
  %c = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}> : (tensor<1x32x56x56xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x28x28xf32>
  %d = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> {onnxc.exact} : (tensor<1x32x56x56xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x56x56xf32>
  return %a, %b, %c, %d : tensor<1x32x56x56xf32>, tensor<1x32x4x4xf32>, tensor<1x32x28x28xf32>, tensor<1x32x56x56xf32>
}

// So do filters of 3 to 5 taps along one axis or both, also apart; an axis of one tap keeps its points, and taps in the padding count for nothing.
// CHECK-LABEL: @winograd_axes
// CHECK: "onnx.packed.WinogradConv"{{.*}}kernel_shape = array<i64: 1, 3>{{.*}} (tensor<1x4x1x200x16xf32>, tensor<6x4x64x16xf32>)
// CHECK: "onnx.packed.WinogradConv"{{.*}}dilations = array<i64: 3, 3>{{.*}}kernel_shape = array<i64: 5, 5>{{.*}} (tensor<1x4x30x30x16xf32>, tensor<36x4x64x16xf32>)
// CHECK: "onnx.packed.Conv"
// CHECK: "onnx.packed.Conv"
func.func @winograd_axes(%x: tensor<1x64x200xf32>, %s: tensor<1x64x30x30xf32>) -> (tensor<1x64x200xf32>, tensor<1x64x30x30xf32>, tensor<1x64x30x30xf32>, tensor<1x64x29x30xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x3xf32>} : () -> tensor<64x64x3xf32>
  %f = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x5x5xf32>} : () -> tensor<64x64x5x5xf32>
  %t = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x2x1xf32>} : () -> tensor<64x64x2x1xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1>}> : (tensor<1x64x200xf32>, tensor<64x64x3xf32>) -> tensor<1x64x200xf32>
  %b = "onnx.Conv"(%s, %f) <{dilations = array<i64: 3, 3>, pads = array<i64: 6, 6, 6, 6>}> : (tensor<1x64x30x30xf32>, tensor<64x64x5x5xf32>) -> tensor<1x64x30x30xf32>
  %c = "onnx.Conv"(%s, %f) <{dilations = array<i64: 29, 29>, pads = array<i64: 58, 58, 58, 58>}> : (tensor<1x64x30x30xf32>, tensor<64x64x5x5xf32>) -> tensor<1x64x30x30xf32>
  %d = "onnx.Conv"(%s, %t) : (tensor<1x64x30x30xf32>, tensor<64x64x2x1xf32>) -> tensor<1x64x29x30xf32>
  return %a, %b, %c, %d : tensor<1x64x200xf32>, tensor<1x64x30x30xf32>, tensor<1x64x30x30xf32>, tensor<1x64x29x30xf32>
}

// A blocked value is resized by tables: halfway between neighbours, the ends held.
// CHECK-LABEL: @resize
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[R:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}0, 0], [0, 1], [0, 1], [1, 1]]> : tensor<4x2xi32>}>
// CHECK: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01], [2.500000e-01, 7.500000e-01], [7.500000e-01, 2.500000e-01]]> : tensor<4x2xf32>}>
// CHECK: "onnx.packed.Resize"(%[[C]], %[[R]], %[[W]], %{{.*}}, %{{.*}}) : (tensor<1x1x2x4x16xf32>, {{.*}} -> tensor<1x1x4x4x16xf32>
func.func @resize(%x: tensor<1x16x2x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x16x2x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x2x4xf32>
  %s = "onnx.Constant"() {value = dense<[1.0, 1.0, 2.0, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = "onnx.Resize"(%c, %s) <{mode = "linear", operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x16x2x4xf32>, tensor<4xf32>) -> tensor<1x16x4x4xf32>
  return %y : tensor<1x16x4x4xf32>
}

// Between convolutions of bytes nothing is converted; what works on bytes and on f32 between them stays blocked.
// CHECK-LABEL: @bytes
// CHECK-NEXT: %[[Z:.*]] = "onnx.Constant"
// CHECK-NEXT: %[[P:.*]] = "onnx.packed.BytePool"(%arg0) {{.*}} -> tensor<1x2x3x3x16xui8>
// CHECK-NEXT: %[[C:.*]] = "onnx.Cast"(%[[P]]) {{.*}} -> tensor<1x2x3x3x16xf32>
// CHECK-NEXT: %[[D:.*]] = "onnx.Div"(%[[C]], %[[Z]])
// CHECK-NEXT: %[[R:.*]] = "onnx.Round"(%[[D]])
// CHECK-NEXT: return %[[R]]
func.func @bytes(%x: tensor<1x2x4x4x16xui8>) -> tensor<1x2x3x3x16xf32> {
  %z = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %u = "onnx.packed.Unblock"(%x) <{channels = 20 : i64}> : (tensor<1x2x4x4x16xui8>) -> tensor<1x20x4x4xui8>
  %p = "onnx.MaxPool"(%u) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>}> : (tensor<1x20x4x4xui8>) -> tensor<1x20x3x3xui8>
  %c = "onnx.Cast"(%p) <{to = 1 : i64}> : (tensor<1x20x3x3xui8>) -> tensor<1x20x3x3xf32>
  %d = "onnx.Div"(%c, %z) : (tensor<1x20x3x3xf32>, tensor<f32>) -> tensor<1x20x3x3xf32>
  %r = "onnx.Round"(%d) : (tensor<1x20x3x3xf32>) -> tensor<1x20x3x3xf32>
  %b = "onnx.packed.Block"(%r) : (tensor<1x20x3x3xf32>) -> tensor<1x2x3x3x16xf32>
  return %b : tensor<1x2x3x3x16xf32>
}

// Halves of a split that begin with blocks are slices of blocks; where they are joined again they are the value that was split.
// CHECK-LABEL: @split_in_blocks
// CHECK: %[[A:.*]] = "onnx.packed.Conv"(%arg0
// CHECK: "onnx.Slice"(%[[A]]
// CHECK: %[[H:.*]] = "onnx.Slice"(%[[A]]{{.*}} -> tensor<?x1x4x4x16xf32>
// CHECK-NOT: onnx.packed.Unblock
// CHECK: %[[C:.*]] = "onnx.packed.{{.*}}Conv"(%[[H]]
// CHECK: "onnx.Concat"(%[[A]], %[[C]]) {{.*}} -> tensor<?x3x4x4x16xf32>
func.func @split_in_blocks(%x: tensor<?x3x4x4xf32>) -> tensor<?x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x3x1x1xf32>} : () -> tensor<32x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<16x48x1x1xf32>} : () -> tensor<16x48x1x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x3x4x4xf32>, tensor<32x3x1x1xf32>) -> tensor<?x32x4x4xf32>
  %1:2 = "onnx.Split"(%0) <{axis = 1 : i64, num_outputs = 2 : i64}> : (tensor<?x32x4x4xf32>) -> (tensor<?x16x4x4xf32>, tensor<?x16x4x4xf32>)
  %2 = "onnx.Conv"(%1#1, %v) : (tensor<?x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<?x16x4x4xf32>
  %3 = "onnx.Concat"(%1#0, %1#1, %2) <{axis = 1 : i64}> : (tensor<?x16x4x4xf32>, tensor<?x16x4x4xf32>, tensor<?x16x4x4xf32>) -> tensor<?x48x4x4xf32>
  %4 = "onnx.Conv"(%3, %u) : (tensor<?x48x4x4xf32>, tensor<16x48x1x1xf32>) -> tensor<?x16x4x4xf32>
  return %4 : tensor<?x16x4x4xf32>
}

// Channels that do not begin with a block are moved as blocks.
// CHECK-LABEL: @joined_inside_blocks
// CHECK: %[[J:.*]] = "onnx.packed.Channels"(%[[A:.*]], %[[A]]) <{begins = array<i64: 0, 4>, counts = array<i64: 12, 4>}>
// CHECK: "onnx.packed.Conv"(%[[J]]
func.func @joined_inside_blocks(%x: tensor<1x3x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %from = "onnx.Constant"() {value = dense<-8> : tensor<1xi64>} : () -> tensor<1xi64>
  %to = "onnx.Constant"() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<12x3x1x1xf32>) -> tensor<1x12x4x4xf32>
  %1 = "onnx.Slice"(%0, %from, %to, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x12x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x4x4x4xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<1x12x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x16x4x4xf32>
  %3 = "onnx.Conv"(%2, %u) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %3 : tensor<1x16x4x4xf32>
}

// A normalisation between convolutions is a product and a sum per channel, a border of zeros one of blocks.
// CHECK-LABEL: @normalised_and_padded
// CHECK: %[[A:.*]] = "onnx.packed.Pool"
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[A]], %{{.*}}) : (tensor<1x1x2x2x16xf32>, tensor<1x1x1x16xf32>)
// CHECK: %[[S:.*]] = "onnx.Add"(%[[M]],
// CHECK: %[[P:.*]] = "onnx.Pad"(%[[S]], {{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: "onnx.packed.Pool"(%[[P]])
func.func @normalised_and_padded(%x: tensor<1x3x4x4xf32>) -> tensor<1x16x2x2xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x3x1x1xf32>} : () -> tensor<16x3x1x1xf32>
  %g = "onnx.Constant"() {value = dense<2.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %pads = "onnx.Constant"() {value = dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>} : () -> tensor<8xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<16x3x1x1xf32>) -> tensor<1x16x4x4xf32>
  %1 = "onnx.MaxPool"(%0) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 2>}> : (tensor<1x16x4x4xf32>) -> tensor<1x16x2x2xf32>
  %2 = "onnx.BatchNormalization"(%1, %g, %g, %g, %g) <{resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x16x2x2xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x2x2xf32>
  %3 = "onnx.Pad"(%2, %pads) <{mode = "constant", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<1x16x2x2xf32>, tensor<8xi64>) -> tensor<1x16x4x4xf32>
  %4 = "onnx.MaxPool"(%3) <{kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 2>}> : (tensor<1x16x4x4xf32>) -> tensor<1x16x2x2xf32>
  return %4 : tensor<1x16x2x2xf32>
}

// A half that is joined with something else is its own blocks of the value, not all of them.
// CHECK-LABEL: @half_joined
// CHECK: %[[A:.*]] = "onnx.packed.Conv"(%arg0
// CHECK: %[[Q:.*]] = "onnx.packed.Conv"(%{{.*}}
// CHECK: %[[H:.*]] = "onnx.Slice"(%[[A]]{{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK: "onnx.Concat"(%[[H]], %[[Q]]) {{.*}} -> tensor<1x2x4x4x16xf32>
func.func @half_joined(%x: tensor<1x3x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x3x1x1xf32>} : () -> tensor<32x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<16x32x1x1xf32>} : () -> tensor<16x32x1x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<32x3x1x1xf32>) -> tensor<1x32x4x4xf32>
  %1:2 = "onnx.Split"(%0) <{axis = 1 : i64, num_outputs = 2 : i64}> : (tensor<1x32x4x4xf32>) -> (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>)
  %2 = "onnx.Conv"(%1#1, %v) : (tensor<1x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x4x4xf32>
  %3 = "onnx.Concat"(%1#0, %2) <{axis = 1 : i64}> : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x32x4x4xf32>
  %4 = "onnx.Conv"(%3, %u) : (tensor<1x32x4x4xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %4 : tensor<1x16x4x4xf32>
}

// Channels behind the end of a range are not its lanes: an infinity among them times zero would be no number.
// CHECK-LABEL: @cut_inside_block
// CHECK: %[[P:.*]] = "onnx.packed.Channels"(%{{.*}}) <{begins = array<i64: 0>, counts = array<i64: 9>}>
// CHECK: "onnx.packed.Conv"(%[[P]]
func.func @cut_inside_block(%x: tensor<1x3x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x9x1x1xf32>} : () -> tensor<16x9x1x1xf32>
  %from = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %to = "onnx.Constant"() {value = dense<9> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<12x3x1x1xf32>) -> tensor<1x12x4x4xf32>
  %1 = "onnx.Slice"(%0, %from, %to, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x12x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x9x4x4xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<1x9x4x4xf32>, tensor<16x9x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// More channels of Pad: those that a block has lanes for are chosen, others are moved, also below rows of zeros.
// CHECK-LABEL: @more_channels
// CHECK: %[[A:.*]] = "onnx.packed.Conv"
// CHECK: %[[M:.*]] = "onnx.Constant"() <{value = dense<{{.*}}true, true, false, false, false, false]]]]]> : tensor<1x1x1x1x16xi1>
// CHECK: %[[L:.*]] = "onnx.Where"(%[[M]], %[[A]]
// CHECK: %[[P:.*]] = "onnx.Pad"(%[[L]]{{.*}} -> tensor<?x1x5x4x16xf32>
// CHECK: %[[C:.*]] = "onnx.packed.Channels"(%[[P]], %[[P]], %[[P]]) <{begins = array<i64: -1, 0, -1>, counts = array<i64: 3, 14, 15>}>
// CHECK: "onnx.packed.Conv"(%[[C]]
func.func @more_channels(%x: tensor<?x3x4x4xf32>) -> tensor<?x16x5x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x32x1x1xf32>} : () -> tensor<16x32x1x1xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %lanes = "onnx.Constant"() {value = dense<[0, 0, 0, 0, 0, 2, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %more = "onnx.Constant"() {value = dense<[0, 3, 1, 0, 0, 15, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x3x4x4xf32>, tensor<12x3x1x1xf32>) -> tensor<?x12x4x4xf32>
  %1 = "onnx.Pad"(%0, %lanes, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x12x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<?x14x4x4xf32>
  %2 = "onnx.Pad"(%1, %more) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x14x4x4xf32>, tensor<8xi64>) -> tensor<?x32x5x4xf32>
  %3 = "onnx.Conv"(%2, %v) : (tensor<?x32x5x4xf32>, tensor<16x32x1x1xf32>) -> tensor<?x16x5x4xf32>
  return %3 : tensor<?x16x5x4xf32>
}

// More images of Pad are more of blocks.
// CHECK-LABEL: @more_images
// CHECK: "onnx.Pad"(%{{.*}}) {{.*}} -> tensor<5x1x4x4x16xf32>
// CHECK: "onnx.Slice"(%{{.*}} -> tensor<3x1x4x4x16xf32>
// CHECK: "onnx.packed.Conv"
func.func @more_images(%x: tensor<3x3x4x4xf32>) -> tensor<3x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x3x1x1xf32>} : () -> tensor<16x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %more = "onnx.Constant"() {value = dense<[1, 0, 0, 0, 1, 0, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<3x3x4x4xf32>, tensor<16x3x1x1xf32>) -> tensor<3x16x4x4xf32>
  %1 = "onnx.Pad"(%0, %more) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<3x16x4x4xf32>, tensor<8xi64>) -> tensor<5x16x4x4xf32>
  %2 = "onnx.Slice"(%1, %zero, %end, %zero) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<5x16x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x16x4x4xf32>
  %3 = "onnx.Conv"(%2, %v) : (tensor<3x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<3x16x4x4xf32>
  return %3 : tensor<3x16x4x4xf32>
}

// What is moved is zero, so that more channels of another number are not made in blocks.
// CHECK-LABEL: @channels_of_ones
// CHECK: "onnx.packed.Unblock"
// CHECK: "onnx.Pad"(%{{.*}} -> tensor<1x20x4x4xf32>
func.func @channels_of_ones(%x: tensor<1x3x4x4xf32>) -> tensor<1x16x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<12x3x1x1xf32>} : () -> tensor<12x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x20x1x1xf32>} : () -> tensor<16x20x1x1xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %more = "onnx.Constant"() {value = dense<[0, 0, 0, 0, 0, 8, 0, 0]> : tensor<8xi64>} : () -> tensor<8xi64>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<12x3x1x1xf32>) -> tensor<1x12x4x4xf32>
  %1 = "onnx.Pad"(%0, %more, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<1x12x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x20x4x4xf32>
  %2 = "onnx.Conv"(%1, %v) : (tensor<1x20x4x4xf32>, tensor<16x20x1x1xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// LRN on blocks: squares of neighbouring channels, and what is pointwise. A bias of 0 would not keep lanes past the last channel finite.
// CHECK-LABEL: @response
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[S:.*]] = "onnx.packed.ChannelSquares"(%[[C]]) <{channels = 20 : i64, size = 5 : i64}>
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[S]]
// CHECK: %[[A:.*]] = "onnx.Add"(%[[M]]
// CHECK: %[[R:.*]] = "onnx.Sqrt"(%[[A]])
// CHECK: %[[Q:.*]] = "onnx.Sqrt"(%[[R]])
// CHECK: %[[P:.*]] = "onnx.Mul"(%[[R]], %[[Q]])
// CHECK: "onnx.Div"(%[[C]], %[[P]]) : {{.*}} -> tensor<1x2x4x4x16xf32>
// CHECK: "onnx.LRN"
// CHECK: %[[P:.*]] = "onnx.Pow"
// CHECK: "onnx.Mul"(%[[C]], %[[P]]) : {{.*}} -> tensor<1x2x4x4x16xf32>
func.func @response(%x: tensor<1x32x4x4xf32>) -> (tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<20x32x1x1xf32>} : () -> tensor<20x32x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x4x4xf32>, tensor<20x32x1x1xf32>) -> tensor<1x20x4x4xf32>
  %r = "onnx.LRN"(%c) <{alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 1.0 : f32, size = 5 : i64}> : (tensor<1x20x4x4xf32>) -> tensor<1x20x4x4xf32>
  %z = "onnx.LRN"(%c) <{alpha = 1.0e-4 : f32, beta = 0.75 : f32, bias = 0.0 : f32, size = 5 : i64}> : (tensor<1x20x4x4xf32>) -> tensor<1x20x4x4xf32>
  %p = "onnx.LRN"(%c) <{alpha = 1.0e-4 : f32, beta = 0.6 : f32, bias = 1.0 : f32, size = 4 : i64}> : (tensor<1x20x4x4xf32>) -> tensor<1x20x4x4xf32>
  return %r, %z, %p : tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>, tensor<1x20x4x4xf32>
}

// What is broadcast does not make a plain image blocked; an image that is blocked keeps its form.
// CHECK-LABEL: @scaled
// CHECK: %[[S:.*]] = "onnx.packed.Conv"
// CHECK: %[[U:.*]] = "onnx.Reshape"(%[[S]],
// CHECK: "onnx.Mul"(%arg0, %[[U]])
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: "onnx.Mul"(%[[C]], %[[S]])
func.func @scaled(%x: tensor<?x16x56x56xf32>, %p: tensor<?x16x1x1xf32>) -> (tensor<?x16x56x56xf32>, tensor<?x16x56x56xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x1x1xf32>} : () -> tensor<16x16x1x1xf32>
  %s = "onnx.Conv"(%p, %w) : (tensor<?x16x1x1xf32>, tensor<16x16x1x1xf32>) -> tensor<?x16x1x1xf32>
  %y = "onnx.Mul"(%x, %s) : (tensor<?x16x56x56xf32>, tensor<?x16x1x1xf32>) -> tensor<?x16x56x56xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<?x16x56x56xf32>, tensor<16x16x1x1xf32>) -> tensor<?x16x56x56xf32>
  %z = "onnx.Mul"(%c, %s) : (tensor<?x16x56x56xf32>, tensor<?x16x1x1xf32>) -> tensor<?x16x56x56xf32>
  return %y, %z : tensor<?x16x56x56xf32>, tensor<?x16x56x56xf32>
}

// A long function of five channels works on the plain image, a cheap one on blocks.
// CHECK-LABEL: @few_channels
// CHECK: %[[C:.*]] = "onnx.packed.WinogradConv"
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[C]])
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[R]])
// CHECK: "onnx.Sigmoid"(%[[U]])
func.func @few_channels(%x: tensor<?x48x56x56xf32>) -> tensor<?x5x56x56xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<5x48x3x3xf32>} : () -> tensor<5x48x3x3xf32>
  %c = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<?x48x56x56xf32>, tensor<5x48x3x3xf32>) -> tensor<?x5x56x56xf32>
  %r = "onnx.Relu"(%c) : (tensor<?x5x56x56xf32>) -> tensor<?x5x56x56xf32>
  %y = "onnx.Sigmoid"(%r) : (tensor<?x5x56x56xf32>) -> tensor<?x5x56x56xf32>
  return %y : tensor<?x5x56x56xf32>
}

// One channel of pixels scales the lanes of all blocks; reductions of whole blocks of channels go over the blocks, then over the lanes.
// CHECK-LABEL: @attention_to_pixels
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[P:.*]] = "onnx.ReduceMax"(%[[C]], %{{.*}}) {{.*}} -> tensor<1x1x9x9x16xf32>
// CHECK: %[[L:.*]] = "onnx.ReduceMax"(%[[P]], %{{.*}}) {{.*}} -> tensor<1x1x9x9x1xf32>
// CHECK: %[[S:.*]] = "onnx.Squeeze"(%[[L]], %{{.*}}) {{.*}} -> tensor<1x1x9x9xf32>
// CHECK: %[[G:.*]] = "onnx.Sigmoid"(%[[S]])
// CHECK: %[[M:.*]] = "onnx.Unsqueeze"(%[[G]], %{{.*}}) {{.*}} -> tensor<1x1x9x9x1xf32>
// CHECK: "onnx.Mul"(%[[C]], %[[M]]) {onnxc.flush} : (tensor<1x2x9x9x16xf32>, tensor<1x1x9x9x1xf32>)
func.func @attention_to_pixels(%x: tensor<1x32x9x9xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x32x9x9xf32> {
  %axes = "onnx.Constant"() {value = dense<-3> : tensor<1xi64>} : () -> tensor<1xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x9x9xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x9x9xf32>
  %m = "onnx.ReduceMax"(%c, %axes) : (tensor<1x32x9x9xf32>, tensor<1xi64>) -> tensor<1x1x9x9xf32>
  %g = "onnx.Sigmoid"(%m) : (tensor<1x1x9x9xf32>) -> tensor<1x1x9x9xf32>
  %y = "onnx.Mul"(%c, %g) : (tensor<1x32x9x9xf32>, tensor<1x1x9x9xf32>) -> tensor<1x32x9x9xf32>
  return %y : tensor<1x32x9x9xf32>
}

// What may not stay finite, and a reduction, works on blocks that have no lane past the last channel.
// CHECK-LABEL: @whole_lanes
// CHECK: %[[C:.*]] = "onnx.packed.Conv"{{.*}} -> tensor<1x1x9x9x16xf32>
// CHECK: "onnx.Exp"(%[[C]]) : (tensor<1x1x9x9x16xf32>)
// CHECK: %[[D:.*]] = "onnx.packed.Conv"
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[D]])
// CHECK: "onnx.Exp"(%[[U]]) : (tensor<1x24x9x9xf32>)
// CHECK: "onnx.ReduceSum"(%[[U]]
func.func @whole_lanes(%x: tensor<1x32x9x9xf32>, %w: tensor<16x32x1x1xf32>, %v: tensor<24x32x1x1xf32>) -> (tensor<1x16x9x9xf32>, tensor<1x24x9x9xf32>, tensor<1x9x9xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x9x9xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x9x9xf32>
  %e = "onnx.Exp"(%c) : (tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32>
  %d = "onnx.Conv"(%x, %v) : (tensor<1x32x9x9xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x9x9xf32>
  %f = "onnx.Exp"(%d) : (tensor<1x24x9x9xf32>) -> tensor<1x24x9x9xf32>
  %s = "onnx.ReduceSum"(%d, %axes) <{keepdims = 0 : i64}> : (tensor<1x24x9x9xf32>, tensor<1xi64>) -> tensor<1x9x9xf32>
  return %e, %f, %s : tensor<1x16x9x9xf32>, tensor<1x24x9x9xf32>, tensor<1x9x9xf32>
}

// Reductions over pixels, of whose sizes a pool needs to know all; without them the channels that fill blocks are a view.
// CHECK-LABEL: @pixels
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[M:.*]] = "onnx.ReduceMean"(%[[C]], %{{.*}}) {{.*}} -> tensor<1x2x1x1x16xf32>
// CHECK: "onnx.Mul"(%[[C]], %[[M]])
// CHECK: %[[P:.*]] = "onnx.ReduceMax"(%[[C]], %{{.*}}) {{.*}} -> tensor<1x2x1x1x16xf32>
// CHECK: %[[R:.*]] = "onnx.Reshape"(%[[P]], %{{.*}}) {{.*}} -> tensor<1x32xf32>
// CHECK: return %{{.*}}, %[[R]]
func.func @pixels(%x: tensor<1x32x?x9xf32>, %w: tensor<32x32x1x1xf32>) -> (tensor<1x32x?x9xf32>, tensor<1x32xf32>) {
  %axes = "onnx.Constant"() {value = dense<[-1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x?x9xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x?x9xf32>
  %m = "onnx.GlobalAveragePool"(%c) : (tensor<1x32x?x9xf32>) -> tensor<1x32x1x1xf32>
  %y = "onnx.Mul"(%c, %m) : (tensor<1x32x?x9xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x?x9xf32>
  %z = "onnx.ReduceMax"(%c, %axes) <{keepdims = 0 : i64}> : (tensor<1x32x?x9xf32>, tensor<2xi64>) -> tensor<1x32xf32>
  return %y, %z : tensor<1x32x?x9xf32>, tensor<1x32xf32>
}

// A body has its own blocks.
// CHECK-LABEL: @body
// CHECK: "onnx.If"(%arg0)
// CHECK: "onnx.packed.Block"(%arg1)
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: "onnx.packed.Conv"(%[[C]]
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"
// CHECK: "onnx.Yield"(%[[U]])
func.func @body(%c: tensor<i1>, %x: tensor<1x32x4x4xf32>, %w: tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32> {
  %y = "onnx.If"(%c) ({
    %0 = "onnx.Conv"(%x, %w) : (tensor<1x32x4x4xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32>
    %1 = "onnx.Conv"(%0, %w) : (tensor<1x32x4x4xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x4x4xf32>
    "onnx.Yield"(%1) : (tensor<1x32x4x4xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<1x32x4x4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x32x4x4xf32>
  return %y : tensor<1x32x4x4xf32>
}

// Tokens, whose channels come last, become blocks and come back from them by runs of 16 channels; other readers get a plain image.
// CHECK-LABEL: @tokens
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg0, %{{.*}}) {{.*}} -> tensor<?x2x3x2x16xf32>
// CHECK: %[[B:.*]] = "onnx.Transpose"(%[[R]]) <{perm = array<i64: 0, 3, 1, 2, 4>}>
// CHECK: %[[C:.*]] = "onnx.packed.GroupedConv"(%[[B]]
// CHECK: %[[T:.*]] = "onnx.Transpose"(%[[C]]) <{perm = array<i64: 0, 2, 3, 1, 4>}>
// CHECK: %[[Y:.*]] = "onnx.Reshape"(%[[T]], %{{.*}}) {{.*}} -> tensor<?x6x32xf32>
// CHECK: %[[Z:.*]] = "onnx.packed.Unblock"(%[[C]])
// CHECK-NOT: onnx.Transpose
// CHECK: return %[[Y]], %[[Z]]
func.func @tokens(%x: tensor<?x6x32xf32>) -> (tensor<?x6x32xf32>, tensor<?x32x2x3xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x1x1x1xf32>} : () -> tensor<32x1x1x1xf32>
  %image = "onnx.Constant"() {value = dense<[0, 32, 2, 3]> : tensor<4xi64>} : () -> tensor<4xi64>
  %line = "onnx.Constant"() {value = dense<[0, 32, 6]> : tensor<3xi64>} : () -> tensor<3xi64>
  %0 = "onnx.Transpose"(%x) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x6x32xf32>) -> tensor<?x32x6xf32>
  %1 = "onnx.Reshape"(%0, %image) : (tensor<?x32x6xf32>, tensor<4xi64>) -> tensor<?x32x2x3xf32>
  %2 = "onnx.Conv"(%1, %w) <{group = 32 : i64}> : (tensor<?x32x2x3xf32>, tensor<32x1x1x1xf32>) -> tensor<?x32x2x3xf32>
  %3 = "onnx.Reshape"(%2, %line) : (tensor<?x32x2x3xf32>, tensor<3xi64>) -> tensor<?x32x6xf32>
  %4 = "onnx.Transpose"(%3) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x32x6xf32>) -> tensor<?x6x32xf32>
  return %4, %2 : tensor<?x6x32xf32>, tensor<?x32x2x3xf32>
}

// Rows that are convolved as images of one stay in blocks between views; other pixels of the same channels are views of blocks.
// CHECK-LABEL: @rows_as_images
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK-NEXT: %[[R:.*]] = "onnx.Relu"(%[[C]]) : (tensor<?x2x1x8x16xf32>)
// CHECK: %[[D:.*]] = "onnx.packed.Conv"(%[[R]]
// CHECK: %[[V:.*]] = "onnx.Reshape"(%[[D]], %{{.*}}) {{.*}} -> tensor<?x2x8x1x16xf32>
// CHECK: "onnx.packed.Pool"(%[[V]])
func.func @rows_as_images(%x: tensor<?x32x1x8xf32>) -> tensor<?x32x4x1xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x32x1x1xf32>} : () -> tensor<32x32x1x1xf32>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %column = "onnx.Constant"() {value = dense<[-1, 32, 8, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<?x32x1x8xf32>, tensor<32x32x1x1xf32>) -> tensor<?x32x1x8xf32>
  %s = "onnx.Squeeze"(%c, %two) : (tensor<?x32x1x8xf32>, tensor<1xi64>) -> tensor<?x32x8xf32>
  %r = "onnx.Relu"(%s) : (tensor<?x32x8xf32>) -> tensor<?x32x8xf32>
  %u = "onnx.Unsqueeze"(%r, %two) : (tensor<?x32x8xf32>, tensor<1xi64>) -> tensor<?x32x1x8xf32>
  %d = "onnx.Conv"(%u, %w) : (tensor<?x32x1x8xf32>, tensor<32x32x1x1xf32>) -> tensor<?x32x1x8xf32>
  %v = "onnx.Reshape"(%d, %column) : (tensor<?x32x1x8xf32>, tensor<4xi64>) -> tensor<?x32x8x1xf32>
  %p = "onnx.MaxPool"(%v) <{kernel_shape = array<i64: 2, 1>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<?x32x8x1xf32>) -> tensor<?x32x4x1xf32>
  return %p : tensor<?x32x4x1xf32>
}

// A view that takes channels for pixels, and one that nothing reads in blocks, read a plain image.
// CHECK-LABEL: @other_views
// CHECK: %[[C:.*]] = "onnx.packed.Conv"
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[C]])
// CHECK: "onnx.Reshape"(%[[U]], %{{.*}}) {{.*}} -> tensor<1x16x2x8xf32>
// CHECK: "onnx.Squeeze"(%[[U]]
func.func @other_views(%x: tensor<1x32x1x8xf32>) -> (tensor<1x16x2x8xf32>, tensor<1x32x8xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x32x1x1xf32>} : () -> tensor<32x32x1x1xf32>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %halves = "onnx.Constant"() {value = dense<[1, 16, 2, 8]> : tensor<4xi64>} : () -> tensor<4xi64>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x32x1x8xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x1x8xf32>
  %r = "onnx.Reshape"(%c, %halves) : (tensor<1x32x1x8xf32>, tensor<4xi64>) -> tensor<1x16x2x8xf32>
  %y = "onnx.Relu"(%r) : (tensor<1x16x2x8xf32>) -> tensor<1x16x2x8xf32>
  %s = "onnx.Squeeze"(%c, %two) : (tensor<1x32x1x8xf32>, tensor<1xi64>) -> tensor<1x32x8xf32>
  return %y, %s : tensor<1x16x2x8xf32>, tensor<1x32x8xf32>
}

// Padding that sizes decide which only the run knows: the kernel finds it out, and what it can be at most stands here.
// CHECK-LABEL: @same_padding_of_the_run
// CHECK: "onnx.packed.Conv"({{.*}} <{auto_pad = "SAME_UPPER", {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK: "onnx.packed.GroupedConv"({{.*}} <{auto_pad = "SAME_LOWER", {{.*}}pads = array<i64: 2, 2, 1, 1>
// CHECK: "onnx.packed.Pool"({{.*}} <{auto_pad = "SAME_UPPER", {{.*}}pads = array<i64: 0, 0, 1, 1>
func.func @same_padding_of_the_run(%x: tensor<1x16x?x?xf32>) -> tensor<1x16x?x?xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x3x3xf32>} : () -> tensor<16x16x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x1x4x4xf32>} : () -> tensor<16x1x4x4xf32>
  %0 = "onnx.Conv"(%x, %w) <{auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>}> : (tensor<1x16x?x?xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x?x?xf32>
  %1 = "onnx.Conv"(%0, %v) <{auto_pad = "SAME_LOWER", group = 16 : i64, strides = array<i64: 3, 2>}> : (tensor<1x16x?x?xf32>, tensor<16x1x4x4xf32>) -> tensor<1x16x?x?xf32>
  %2 = "onnx.MaxPool"(%1) <{auto_pad = "SAME_UPPER", kernel_shape = array<i64: 2, 2>, resultSegmentSizes = array<i32: 1, 0>, strides = array<i64: 2, 2>}> : (tensor<1x16x?x?xf32>) -> tensor<1x16x?x?xf32>
  return %2 : tensor<1x16x?x?xf32>
}
