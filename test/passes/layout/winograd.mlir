// RUN: onnxc-opt %s --block-channels | FileCheck %s
// RUN: onnxc-opt %s --block-channels="winograd=false" | FileCheck %s --check-prefix=DIRECT --implicit-check-not=WinogradConv

// Which convolutions go through Winograd's transformation, and none where that is not wanted.
// DIRECT-COUNT-15: "onnx.packed.Conv"

// Filters of more than five taps are cut into segments, which are as many channels: seven taps into two by two, fifteen into five by five.
// Sixteen are too many.
// CHECK-LABEL: @segments
// CHECK: "onnx.packed.WinogradConv"{{.*}}kernel_shape = array<i64: 7, 7>{{.*}} (tensor<1x4x56x56x16xf32>, tensor<36x4x256x16xf32>)
// CHECK: "onnx.packed.WinogradConv"{{.*}}kernel_shape = array<i64: 15, 15>{{.*}} (tensor<1x4x56x56x16xf32>, tensor<4x1600x3x3x16xf32>)
// CHECK-NOT: onnx.packed.WinogradConv
// CHECK: "onnx.packed.Conv"
func.func @segments(%x: tensor<1x64x56x56xf32>) -> (tensor<1x64x56x56xf32>, tensor<1x64x56x56xf32>, tensor<1x64x55x55xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x7x7xf32>} : () -> tensor<64x64x7x7xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x15x15xf32>} : () -> tensor<64x64x15x15xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x16x16xf32>} : () -> tensor<64x64x16x16xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 3, 3, 3, 3>}> : (tensor<1x64x56x56xf32>, tensor<64x64x7x7xf32>) -> tensor<1x64x56x56xf32>
  %b = "onnx.Conv"(%x, %v) <{pads = array<i64: 7, 7, 7, 7>}> : (tensor<1x64x56x56xf32>, tensor<64x64x15x15xf32>) -> tensor<1x64x56x56xf32>
  %c = "onnx.Conv"(%x, %u) <{pads = array<i64: 7, 7, 7, 7>}> : (tensor<1x64x56x56xf32>, tensor<64x64x16x16xf32>) -> tensor<1x64x55x55xf32>
  return %a, %b, %c : tensor<1x64x56x56xf32>, tensor<1x64x56x56xf32>, tensor<1x64x55x55xf32>
}

// Sizes that only the run knows are taken for what usual images make of them: where they shrink 32 times a tile's weights take longer to
// come than its products would.
// CHECK-LABEL: @sizes_of_the_run
// CHECK: "onnx.packed.WinogradConv"
func.func @sizes_of_the_run(%x: tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x3x3xf32>} : () -> tensor<64x64x3x3xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<?x64x?x?xf32>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32>
  return %a : tensor<?x64x?x?xf32>
}

// CHECK-LABEL: @far_behind
// CHECK: "onnx.packed.WinogradConv"
// CHECK: "onnx.packed.Conv"
func.func @far_behind(%x: tensor<?x256x?x?xf32>) -> (tensor<?x256x?x?xf32>, tensor<?x256x?x?xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<256x256x3x3xf32>} : () -> tensor<256x256x3x3xf32>
  %eighth = "onnx.AveragePool"(%x) <{kernel_shape = array<i64: 8, 8>, strides = array<i64: 8, 8>}> : (tensor<?x256x?x?xf32>) -> tensor<?x256x?x?xf32>
  %last = "onnx.AveragePool"(%x) <{kernel_shape = array<i64: 32, 32>, strides = array<i64: 32, 32>}> : (tensor<?x256x?x?xf32>) -> tensor<?x256x?x?xf32>
  %a = "onnx.Conv"(%eighth, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<?x256x?x?xf32>, tensor<256x256x3x3xf32>) -> tensor<?x256x?x?xf32>
  %b = "onnx.Conv"(%last, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<?x256x?x?xf32>, tensor<256x256x3x3xf32>) -> tensor<?x256x?x?xf32>
  return %a, %b : tensor<?x256x?x?xf32>, tensor<?x256x?x?xf32>
}

// Filters of 3x3 taps that are large when they are transformed stay as they are, and pay for smaller images then.
// CHECK-LABEL: @large
// CHECK: "onnx.packed.WinogradConv"{{.*}} (tensor<1x12x10x10x16xf32>, tensor<12x192x3x3x16xf32>)
// CHECK: "onnx.packed.Conv"
func.func @large(%x: tensor<1x192x10x10xf32>, %y: tensor<1x160x10x10xf32>) -> (tensor<1x192x10x10xf32>, tensor<1x160x10x10xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<192x192x3x3xf32>} : () -> tensor<192x192x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<160x160x3x3xf32>} : () -> tensor<160x160x3x3xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x192x10x10xf32>, tensor<192x192x3x3xf32>) -> tensor<1x192x10x10xf32>
  %b = "onnx.Conv"(%y, %v) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x160x10x10xf32>, tensor<160x160x3x3xf32>) -> tensor<1x160x10x10xf32>
  return %a, %b : tensor<1x192x10x10xf32>, tensor<1x160x10x10xf32>
}

// Groups are convolutions by themselves, two of 24 channels are one, four of 20 would multiply too many zeros.
// CHECK-LABEL: @groups
// CHECK: "onnx.packed.WinogradConv"{{.*}}group = 2 : i64{{.*}} (tensor<1x4x56x56x16xf32>, tensor<36x6x32x16xf32>)
// CHECK: "onnx.packed.WinogradConv"{{.*}}channels = 48 : i64{{.*}}group = 2 : i64{{.*}} (tensor<1x6x56x56x16xf32>, tensor<36x6x48x16xf32>)
// CHECK: "onnx.packed.Conv"{{.*}}shared = array<i64: 20, 20>
func.func @groups(%x: tensor<1x64x56x56xf32>, %y: tensor<1x96x56x56xf32>, %z: tensor<1x80x56x56xf32>) -> (tensor<1x96x56x56xf32>, tensor<1x96x56x56xf32>, tensor<1x80x56x56xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<96x32x3x3xf32>} : () -> tensor<96x32x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<96x24x3x3xf32>} : () -> tensor<96x24x3x3xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<80x20x3x3xf32>} : () -> tensor<80x20x3x3xf32>
  %a = "onnx.Conv"(%x, %w) <{group = 2 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x56x56xf32>, tensor<96x32x3x3xf32>) -> tensor<1x96x56x56xf32>
  %b = "onnx.Conv"(%y, %v) <{group = 4 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x96x56x56xf32>, tensor<96x24x3x3xf32>) -> tensor<1x96x56x56xf32>
  %c = "onnx.Conv"(%z, %u) <{group = 4 : i64, pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x80x56x56xf32>, tensor<80x20x3x3xf32>) -> tensor<1x80x56x56xf32>
  return %a, %b, %c : tensor<1x96x56x56xf32>, tensor<1x96x56x56xf32>, tensor<1x80x56x56xf32>
}

// Weights of the run, two taps along an axis, a stride along one alone, and fewer channels than a block has.
// CHECK-LABEL: @others
// CHECK-NOT: onnx.packed.WinogradConv
// CHECK: return
func.func @others(%x: tensor<1x64x56x56xf32>, %run: tensor<64x64x3x3xf32>, %few: tensor<1x12x56x56xf32>) -> (tensor<1x64x56x56xf32>, tensor<1x64x55x56xf32>, tensor<1x64x56x28xf32>, tensor<1x64x56x56xf32>) {
  %two = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x2x3xf32>} : () -> tensor<64x64x2x3xf32>
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x3x3xf32>} : () -> tensor<64x64x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<64x12x3x3xf32>} : () -> tensor<64x12x3x3xf32>
  %b = "onnx.Conv"(%x, %run) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  %c = "onnx.Conv"(%x, %two) <{pads = array<i64: 0, 1, 0, 1>}> : (tensor<1x64x56x56xf32>, tensor<64x64x2x3xf32>) -> tensor<1x64x55x56xf32>
  %d = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 2>}> : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x28xf32>
  %e = "onnx.Conv"(%few, %v) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x12x56x56xf32>, tensor<64x12x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %b, %c, %d, %e : tensor<1x64x56x56xf32>, tensor<1x64x55x56xf32>, tensor<1x64x56x28xf32>, tensor<1x64x56x56xf32>
}
