// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Convolutions over frames.

// Frames of one batch are images.
// CHECK-LABEL: @frames
// CHECK: "onnx.Concat"{{.*}} -> tensor<3x4x5x5xf32>
// CHECK: "onnx.Conv"{{.*}} -> tensor<3x1x4x4xf32>
func.func @frames(%x: tensor<1x2x4x5x5xf32>) -> tensor<1x1x3x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x2x2x2x2xf32>} : () -> tensor<1x2x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x2x4x5x5xf32>, tensor<1x2x2x2x2xf32>) -> tensor<1x1x3x4x4xf32>
  return %y : tensor<1x1x3x4x4xf32>
}

// -----

// CHECK-LABEL: @frames_of_batches
// CHECK: "onnx.Concat"{{.*}} -> tensor<6x4x5x5xf32>
// CHECK: "onnx.Conv"{{.*}} -> tensor<6x1x4x4xf32>
func.func @frames_of_batches(%x: tensor<2x2x4x5x5xf32>) -> tensor<2x1x3x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x2x2x2x2xf32>} : () -> tensor<1x2x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<2x2x4x5x5xf32>, tensor<1x2x2x2x2xf32>) -> tensor<2x1x3x4x4xf32>
  return %y : tensor<2x1x3x4x4xf32>
}

// -----

// Filters of one pixel and one frame are for images, those of several frames for images whose height is time.
// CHECK-LABEL: @pixels_of_frames
// CHECK: "onnx.Conv"{{.*}} -> tensor<4x4x5x5xf32>
// CHECK: "onnx.Conv"{{.*}} -> tensor<1x4x3x25xf32>
func.func @pixels_of_frames(%x: tensor<1x2x4x5x5xf32>) -> (tensor<1x4x4x5x5xf32>, tensor<1x4x3x5x5xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x1x1x1xf32>} : () -> tensor<4x2x1x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x2x1x1xf32>} : () -> tensor<4x2x2x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x2x4x5x5xf32>, tensor<4x2x1x1x1xf32>) -> tensor<1x4x4x5x5xf32>
  %z = "onnx.Conv"(%x, %v) : (tensor<1x2x4x5x5xf32>, tensor<4x2x2x1x1xf32>) -> tensor<1x4x3x5x5xf32>
  return %y, %z : tensor<1x4x4x5x5xf32>, tensor<1x4x3x5x5xf32>
}

// -----

// Exact sums stay exact.
// CHECK-LABEL: @exact_frames
// CHECK: "onnx.Conv"{{.*}}onnxc.exact{{.*}} -> tensor<3x1x4x4xf32>
func.func @exact_frames(%x: tensor<1x2x4x5x5xf32>) -> tensor<1x1x3x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x2x2x2x2xf32>} : () -> tensor<1x2x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) {onnxc.exact} : (tensor<1x2x4x5x5xf32>, tensor<1x2x2x2x2xf32>) -> tensor<1x1x3x4x4xf32>
  return %y : tensor<1x1x3x4x4xf32>
}

// -----

// One frame is an image, whose sizes need not be known.
// CHECK-LABEL: @one_frame
// CHECK: %[[X:.*]] = "onnx.Squeeze"(%arg0{{.*}} -> tensor<?x3x?x?xf32>
// CHECK: %[[C:.*]] = "onnx.Conv"(%[[X]]{{.*}}pads = array<i64: 5, 4, 5, 4>, strides = array<i64: 2, 1>
// CHECK: "onnx.Unsqueeze"(%[[C]]{{.*}} -> tensor<?x8x1x?x?xf32>
func.func @one_frame(%x: tensor<?x3x1x?x?xf32>, %w: tensor<8x3x1x11x9xf32>) -> tensor<?x8x1x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 0, 5, 4, 0, 5, 4>, strides = array<i64: 1, 2, 1>}> : (tensor<?x3x1x?x?xf32>, tensor<8x3x1x11x9xf32>) -> tensor<?x8x1x?x?xf32>
  return %y : tensor<?x8x1x?x?xf32>
}

// -----

// Frames whose blocks are full are read where they lie; zeros before them are no frames.
// CHECK-LABEL: @full_frames
// CHECK: %[[X:.*]] = "onnx.Reshape"{{.*}} -> tensor<4x16x5x5xf32>
// CHECK: "onnx.packed.FrameConv"(%[[X]], {{.*}}depthwise = false{{.*}}frames = array<i64: 3, 1, 1, 1, 0>{{.*}}pads = array<i64: 0, 1, 0, 0>{{.*}} -> tensor<3x8x4x4xf32>
func.func @full_frames(%x: tensor<1x16x4x5x5xf32>) -> tensor<1x8x3x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x3x2x3xf32>} : () -> tensor<8x16x3x2x3xf32>
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 0, 1, 0, 0, 0>}> : (tensor<1x16x4x5x5xf32>, tensor<8x16x3x2x3xf32>) -> tensor<1x8x3x4x4xf32>
  return %y : tensor<1x8x3x4x4xf32>
}

// -----

// Not where taps skip frames, which are no neighbours.
// CHECK-LABEL: @skipped_frames
// CHECK-NOT: onnx.packed.FrameConv
// CHECK: "onnx.Concat"{{.*}} -> tensor<2x32x5x5xf32>
func.func @skipped_frames(%x: tensor<1x16x4x5x5xf32>) -> tensor<1x8x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x2x2x2xf32>} : () -> tensor<8x16x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) <{dilations = array<i64: 2, 1, 1>}> : (tensor<1x16x4x5x5xf32>, tensor<8x16x2x2x2xf32>) -> tensor<1x8x2x4x4xf32>
  return %y : tensor<1x8x2x4x4xf32>
}

// -----

// Channels that stay apart, of videos of an unknown number.
// CHECK-LABEL: @depthwise_frames
// CHECK: "onnx.packed.FrameConv"{{.*}}depthwise = true{{.*}}frames = array<i64: 2, 2, 3, 0, 0>{{.*}} -> tensor<?x4x4x4xf32>
func.func @depthwise_frames(%x: tensor<?x4x6x5x5xf32>) -> tensor<?x4x2x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x2x2x2xf32>} : () -> tensor<4x1x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 4 : i64, strides = array<i64: 2, 1, 1>, dilations = array<i64: 3, 1, 1>}> : (tensor<?x4x6x5x5xf32>, tensor<4x1x2x2x2xf32>) -> tensor<?x4x2x4x4xf32>
  return %y : tensor<?x4x2x4x4xf32>
}

// -----

// Of a transposed one the phases along the depth are channels, then frames of the result.
// CHECK-LABEL: @transposed
// CHECK: %[[X:.*]] = "onnx.Reshape"{{.*}} -> tensor<3x8x5x4xf32>
// CHECK: %[[Y:.*]] = "onnx.ConvTranspose"(%[[X]], %{{.*}}) <{{.*}}strides = array<i64: 2, 2>}> : (tensor<3x8x5x4xf32>, tensor<8x32x2x2xf32>) -> tensor<3x32x10x8xf32>
// CHECK: "onnx.Reshape"(%[[Y]], %{{.*}}) {{.*}} -> tensor<6x16x10x8xf32>
func.func @transposed(%x: tensor<1x8x3x5x4xf32>) -> tensor<1x16x6x10x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x2x2x2xf32>} : () -> tensor<8x16x2x2x2xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{strides = array<i64: 2, 2, 2>}> : (tensor<1x8x3x5x4xf32>, tensor<8x16x2x2x2xf32>) -> tensor<1x16x6x10x8xf32>
  return %y : tensor<1x16x6x10x8xf32>
}

// -----

// Phases of one and of two frames: the first reads each alone, the second with the next, behind the last of which are zeros.
// CHECK-LABEL: @transposed_phases
// CHECK: %[[P:.*]] = "onnx.Pad"{{.*}} -> tensor<4x8x5x4xf32>
// CHECK: %[[J:.*]] = "onnx.Concat"{{.*}} -> tensor<3x16x5x4xf32>
// CHECK: %[[B:.*]] = "onnx.ConvTranspose"(%[[J]]{{.*}} (tensor<3x16x5x4xf32>, tensor<16x16x3x3xf32>) -> tensor<3x16x10x8xf32>
// CHECK: %[[A:.*]] = "onnx.ConvTranspose"{{.*}} (tensor<3x8x5x4xf32>, tensor<8x16x3x3xf32>) -> tensor<3x16x10x8xf32>
// CHECK: "onnx.Concat"(%[[A]], %[[B]]) {{.*}} -> tensor<3x32x10x8xf32>
func.func @transposed_phases(%x: tensor<1x8x3x5x4xf32>) -> tensor<1x16x6x10x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x16x3x3x3xf32>} : () -> tensor<8x16x3x3x3xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{output_padding = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 2, 2, 2>}> : (tensor<1x8x3x5x4xf32>, tensor<8x16x3x3x3xf32>) -> tensor<1x16x6x10x8xf32>
  return %y : tensor<1x16x6x10x8xf32>
}

// -----

// Few results are made of all phases together, of which the first and the last are dropped.
// CHECK-LABEL: @transposed_few
// CHECK: "onnx.Concat"{{.*}} -> tensor<4x16x5x4xf32>
// CHECK: "onnx.Slice"{{.*}} -> tensor<6x1x10x8xf32>
func.func @transposed_few(%x: tensor<1x8x3x5x4xf32>) -> tensor<1x1x6x10x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<8x1x4x4x4xf32>} : () -> tensor<8x1x4x4x4xf32>
  %y = "onnx.ConvTranspose"(%x, %w) <{pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 2, 2, 2>}> : (tensor<1x8x3x5x4xf32>, tensor<8x1x4x4x4xf32>) -> tensor<1x1x6x10x8xf32>
  return %y : tensor<1x1x6x10x8xf32>
}

// -----

// Sizes of images that only the run knows: frames are read where they lie.
// CHECK-LABEL: @images_of_the_run
// CHECK: "onnx.packed.FrameConv"{{.*}} -> tensor<?x16x?x?xf32>
func.func @images_of_the_run(%x: tensor<?x16x4x?x?xf32>) -> tensor<?x16x4x?x?xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x3x3x3xf32>} : () -> tensor<16x16x3x3x3xf32>
  %y = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1, 1, 1>}> : (tensor<?x16x4x?x?xf32>, tensor<16x16x3x3x3xf32>) -> tensor<?x16x4x?x?xf32>
  return %y : tensor<?x16x4x?x?xf32>
}

// -----

// So are those of a number that only the run knows, also of channels that fill no blocks. To few results, or where there may be results of zeros alone, those of each tap end where the taps behind it need the last.
// CHECK-LABEL: @frames_of_the_run
// CHECK: "onnx.packed.FrameConv"{{.*}}frames = array<i64: 3, 2, 1, 1, 1>{{.*}} -> tensor<?x16x?x?xf32>
// CHECK: "onnx.packed.FrameConv"{{.*}} : (tensor<?x4x?x?xf32>, tensor<9x4x3x3x3xf32>
// CHECK-COUNT-3: "onnx.Slice"{{.*}} -> tensor<?x?x4x?x?xf32>
// CHECK: "onnx.Concat"{{.*}} -> tensor<?x12x?x?xf32>
// CHECK: "onnx.Conv"{{.*}} -> tensor<?x8x?x?xf32>
// CHECK: "onnx.packed.FrameConv"{{.*}}strides = array<i64: 2, 2>{{.*}} -> tensor<?x8x?x?xf32>
// CHECK: "onnx.Concat"{{.*}} -> tensor<?x48x?x?xf32>
func.func @frames_of_the_run(%x: tensor<?x16x?x?x?xf32>, %few: tensor<?x4x?x?x?xf32>) -> (tensor<?x16x?x?x?xf32>, tensor<?x9x?x?x?xf32>, tensor<?x8x?x?x?xf32>, tensor<?x8x?x?x?xf32>, tensor<?x16x?x?x?xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x3x3x3xf32>} : () -> tensor<16x16x3x3x3xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<9x4x3x3x3xf32>} : () -> tensor<9x4x3x3x3xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<8x4x3x3x3xf32>} : () -> tensor<8x4x3x3x3xf32>
  %0 = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 2, 1, 1>}> : (tensor<?x16x?x?x?xf32>, tensor<16x16x3x3x3xf32>) -> tensor<?x16x?x?x?xf32>
  %1 = "onnx.Conv"(%few, %u) <{pads = array<i64: 1, 1, 1, 1, 1, 1>}> : (tensor<?x4x?x?x?xf32>, tensor<9x4x3x3x3xf32>) -> tensor<?x9x?x?x?xf32>
  %2 = "onnx.Conv"(%few, %v) <{pads = array<i64: 1, 1, 1, 1, 1, 1>}> : (tensor<?x4x?x?x?xf32>, tensor<8x4x3x3x3xf32>) -> tensor<?x8x?x?x?xf32>
  %3 = "onnx.Conv"(%few, %v) <{pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 1, 2, 2>}> : (tensor<?x4x?x?x?xf32>, tensor<8x4x3x3x3xf32>) -> tensor<?x8x?x?x?xf32>
  %4 = "onnx.Conv"(%x, %w) <{pads = array<i64: 2, 1, 1, 1, 1, 1>}> : (tensor<?x16x?x?x?xf32>, tensor<16x16x3x3x3xf32>) -> tensor<?x16x?x?x?xf32>
  return %0, %1, %2, %3, %4 : tensor<?x16x?x?x?xf32>, tensor<?x9x?x?x?xf32>, tensor<?x8x?x?x?xf32>, tensor<?x8x?x?x?xf32>, tensor<?x16x?x?x?xf32>
}

// -----

// Filters of one pixel read frames where a convolution left them.
// CHECK-LABEL: @time_behind_a_convolution
// CHECK: "onnx.packed.FrameConv"{{.*}}depthwise = false{{.*}} -> tensor<3x16x5x5xf32>
// CHECK: "onnx.packed.FrameConv"{{.*}}depthwise = true{{.*}} -> tensor<3x16x5x5xf32>
func.func @time_behind_a_convolution(%x: tensor<1x2x3x5x5xf32>) -> tensor<1x16x3x5x5xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x2x1x1x1xf32>} : () -> tensor<16x2x1x1x1xf32>
  %u = "onnx.Constant"() {value = dense<1.0> : tensor<16x16x3x1x1xf32>} : () -> tensor<16x16x3x1x1xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<16x1x5x1x1xf32>} : () -> tensor<16x1x5x1x1xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<1x2x3x5x5xf32>, tensor<16x2x1x1x1xf32>) -> tensor<1x16x3x5x5xf32>
  %1 = "onnx.Conv"(%0, %u) <{pads = array<i64: 1, 0, 0, 1, 0, 0>}> : (tensor<1x16x3x5x5xf32>, tensor<16x16x3x1x1xf32>) -> tensor<1x16x3x5x5xf32>
  %2 = "onnx.Conv"(%1, %v) <{group = 16 : i64, pads = array<i64: 2, 0, 0, 2, 0, 0>}> : (tensor<1x16x3x5x5xf32>, tensor<16x1x5x1x1xf32>) -> tensor<1x16x3x5x5xf32>
  return %2 : tensor<1x16x3x5x5xf32>
}

// -----

// Pixels that several frames make, all sizes the run's.
// CHECK-LABEL: @time_of_the_run
// CHECK: "onnx.Mul"
// CHECK: "onnx.Conv"{{.*}} -> tensor<?x2x?x?xf32>
func.func @time_of_the_run(%x: tensor<?x4x?x?x?xf32>, %w: tensor<2x4x2x1x1xf32>) -> tensor<?x2x?x?x?xf32> {
  %y = "onnx.Conv"(%x, %w) : (tensor<?x4x?x?x?xf32>, tensor<2x4x2x1x1xf32>) -> tensor<?x2x?x?x?xf32>
  return %y : tensor<?x2x?x?x?xf32>
}

// -----

// Groups of unknown frames: those of one channel lie where they are, of others each tap is apart, added up.
// CHECK-LABEL: @groups_of_the_run
// CHECK: "onnx.packed.FrameConv"{{.*}}depthwise = true{{.*}}frames = array<i64: 2, 1, 1, 1, 0>
// CHECK-NOT: onnx.packed.Block
// CHECK: %[[A:.*]] = "onnx.Conv"{{.*}}group = 2 : i64
// CHECK: %[[B:.*]] = "onnx.Conv"{{.*}}group = 2 : i64
// CHECK: "onnx.Add"(%[[A]], %[[B]])
func.func @groups_of_the_run(%x: tensor<?x4x?x5x5xf32>) -> (tensor<?x4x?x4x4xf32>, tensor<?x4x?x4x4xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x2x2x2xf32>} : () -> tensor<4x1x2x2x2xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<4x2x2x2x2xf32>} : () -> tensor<4x2x2x2x2xf32>
  %0 = "onnx.Conv"(%x, %w) <{group = 4 : i64, pads = array<i64: 1, 0, 0, 0, 0, 0>}> : (tensor<?x4x?x5x5xf32>, tensor<4x1x2x2x2xf32>) -> tensor<?x4x?x4x4xf32>
  %1 = "onnx.Conv"(%x, %v) <{group = 2 : i64, pads = array<i64: 1, 0, 0, 0, 0, 0>}> : (tensor<?x4x?x5x5xf32>, tensor<4x2x2x2x2xf32>) -> tensor<?x4x?x4x4xf32>
  return %0, %1 : tensor<?x4x?x4x4xf32>, tensor<?x4x?x4x4xf32>
}

// -----

// Taps of channels that fill blocks are cut out of blocks.
// CHECK-LABEL: @groups_in_blocks
// CHECK-COUNT-1: "onnx.packed.Block"
// CHECK: "onnx.Slice"{{.*}} -> tensor<?x?x2x5x5x16xf32>
// CHECK: "onnx.packed.Unblock"
// CHECK: "onnx.Conv"{{.*}}group = 16 : i64
func.func @groups_in_blocks(%x: tensor<?x32x?x5x5xf32>) -> tensor<?x32x?x4x4xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<32x2x2x2x2xf32>} : () -> tensor<32x2x2x2x2xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 16 : i64, pads = array<i64: 1, 0, 0, 0, 0, 0>}> : (tensor<?x32x?x5x5xf32>, tensor<32x2x2x2x2xf32>) -> tensor<?x32x?x4x4xf32>
  return %y : tensor<?x32x?x4x4xf32>
}

// -----

// Windows over frames slide over images where channels fill blocks; a size rounded up, few channels, indices, frames of which there may be
// too few, and bytes stay.
// CHECK-LABEL: @pools
// CHECK: "onnx.packed.FramePool"{{.*}}average = 0 : i64{{.*}}frames = array<i64: 3, 2, 1, 1, 1>{{.*}}kernel_shape = array<i64: 3, 2>{{.*}} -> tensor<?x16x?x?xf32>
// CHECK: "onnx.packed.FramePool"{{.*}}average = 1 : i64
// CHECK-NOT: onnx.packed.FramePool
// CHECK-COUNT-6: "onnx.MaxPool"
// CHECK-NOT: onnx.packed.FramePool
func.func @pools(%given: tensor<?x16x?x?x?xf32>, %few: tensor<1x3x4x8x8xf32>, %bytes: tensor<?x16x?x?x?xui8>, %scale: tensor<f32>) -> (tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<1x3x2x4x4xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xi64>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>) {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<16x16x1x1x1xf32>} : () -> tensor<16x16x1x1x1xf32>
  %conv = "onnx.Conv"(%given, %w) : (tensor<?x16x?x?x?xf32>, tensor<16x16x1x1x1xf32>) -> tensor<?x16x?x?x?xf32>
  %x = "onnx.Relu"(%conv) : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %0 = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 3, 3, 2>, pads = array<i64: 1, 1, 0, 1, 1, 0>, strides = array<i64: 2, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %1 = "onnx.AveragePool"(%x) <{kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %2 = "onnx.MaxPool"(%x) <{ceil_mode = 1 : i64, kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %3 = "onnx.MaxPool"(%few) <{kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}> : (tensor<1x3x4x8x8xf32>) -> tensor<1x3x2x4x4xf32>
  %4, %indices = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 2, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> (tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xi64>)
  %5 = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 3, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %7 = "onnx.MaxPool"(%given) <{kernel_shape = array<i64: 1, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  %d = "onnx.DequantizeLinear"(%bytes, %scale) : (tensor<?x16x?x?x?xui8>, tensor<f32>) -> tensor<?x16x?x?x?xf32>
  %6 = "onnx.MaxPool"(%d) <{kernel_shape = array<i64: 1, 2, 2>}> : (tensor<?x16x?x?x?xf32>) -> tensor<?x16x?x?x?xf32>
  return %0, %1, %2, %3, %4, %indices, %5, %6, %7 : tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<1x3x2x4x4xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xi64>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>, tensor<?x16x?x?x?xf32>
}

// -----

// A global pool behind a convolution is a reduction, which a transposition moves through; others stay.
// CHECK-LABEL: @global_pools
// CHECK: %[[AXES:.*]] = "onnx.Constant"() <{value = dense<[2, 3, 4]>
// CHECK: "onnx.ReduceMean"(%{{.*}}, %[[AXES]]){{.*}}-> tensor<?x3x1x1x1xf32>
// CHECK: "onnx.ReduceMax"{{.*}}-> tensor<?x3x1x1x1xf32>
// CHECK: "onnx.GlobalAveragePool"(%arg0)
func.func @global_pools(%x: tensor<?x3x?x?x?xf32>) -> (tensor<?x3x1x1x1xf32>, tensor<?x3x1x1x1xf32>, tensor<?x3x1x1x1xf32>) {
  %w = "onnx.Constant"() {value = dense<0.5> : tensor<3x3x1x2x2xf32>} : () -> tensor<3x3x1x2x2xf32>
  %c = "onnx.Conv"(%x, %w) : (tensor<?x3x?x?x?xf32>, tensor<3x3x1x2x2xf32>) -> tensor<?x3x?x?x?xf32>
  %0 = "onnx.GlobalAveragePool"(%c) : (tensor<?x3x?x?x?xf32>) -> tensor<?x3x1x1x1xf32>
  %1 = "onnx.GlobalMaxPool"(%c) : (tensor<?x3x?x?x?xf32>) -> tensor<?x3x1x1x1xf32>
  %2 = "onnx.GlobalAveragePool"(%x) : (tensor<?x3x?x?x?xf32>) -> tensor<?x3x1x1x1xf32>
  return %0, %1, %2 : tensor<?x3x1x1x1xf32>, tensor<?x3x1x1x1xf32>, tensor<?x3x1x1x1xf32>
}

// -----

// Convolutions of so many frames that one may have no result stay: too few are an error of the run.
// CHECK-LABEL: @too_few
// CHECK: "onnx.Conv"{{.*}} (tensor<2x8x?x10x8xf32>, tensor<16x8x2x3x3xf32>) -> tensor<2x16x?x8x6xf32>
func.func @too_few(%x: tensor<2x8x?x10x8xf32>) -> tensor<2x16x?x8x6xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<16x8x2x3x3xf32>} : () -> tensor<16x8x2x3x3xf32>
  %y = "onnx.Conv"(%x, %w) <{strides = array<i64: 2, 1, 1>}> : (tensor<2x8x?x10x8xf32>, tensor<16x8x2x3x3xf32>) -> tensor<2x16x?x8x6xf32>
  return %y : tensor<2x16x?x8x6xf32>
}
