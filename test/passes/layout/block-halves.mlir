// RUN: onnxc-opt %s --block-channels="precision=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: onnxc-opt %s --block-channels="precision=f16" | FileCheck %s --check-prefixes=CHECK,F16

// 1x1 filters are products of rows.
// CHECK-LABEL: @point
// BF16: "onnx.packed.Conv"{{.*}} tensor<4x4x1x1x16x16xbf16>)
// F16: "onnx.packed.Conv"{{.*}} tensor<4x4x1x1x16x16xf16>)
func.func @point(%x: tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  return %c : tensor<1x64x8x8xf32>
}

// Not those of a convolution that must be exact.
// CHECK-LABEL: @exact
// CHECK: "onnx.packed.Conv"{{.*}} tensor<4x4x1x1x16x16xf32>)
func.func @exact(%x: tensor<1x64x8x8xf32>) -> tensor<1x64x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %c = "onnx.Conv"(%x, %w) {onnxc.exact} : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x8x8xf32>
  return %c : tensor<1x64x8x8xf32>
}

// Strides leave pixels out: windows, which keep f32.
// CHECK-LABEL: @strided
// CHECK: "onnx.packed.Conv"{{.*}} tensor<4x4x1x1x16x16xf32>)
func.func @strided(%x: tensor<1x64x8x8xf32>) -> tensor<1x64x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x1x1xf32>} : () -> tensor<64x64x1x1xf32>
  %c = "onnx.Conv"(%x, %w) <{strides = array<i64: 2, 2>}> : (tensor<1x64x8x8xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x4x4xf32>
  return %c : tensor<1x64x4x4xf32>
}

// Nor those that read several frames.
// CHECK-LABEL: @frames
// CHECK: "onnx.packed.Conv"{{.*}} tensor<4x8x1x1x16x16xf32>)
func.func @frames(%x: tensor<5x64x8x8xf32>) -> tensor<4x64x8x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<64x64x2x1x1xf32>} : () -> tensor<64x64x2x1x1xf32>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %five = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "onnx.packed.FrameConv"(%x, %w, %one, %five) <{depthwise = false, frames = array<i64: 2, 1, 1, 0, 0>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<5x64x8x8xf32>, tensor<64x64x2x1x1xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<4x64x8x8xf32>
  return %y : tensor<4x64x8x8xf32>
}
