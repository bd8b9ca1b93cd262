// RUN: sed -f %S/Inputs/filters.sed %s | onnxc-opt --recognize --split-input-file | FileCheck %s

// Convolutions whose filters are windowed cosines and sines, of 64 steps each; Inputs/filters.sed writes the filters.

// Cosines, and behind them sines times -1 as those of the transform.
// CHECK-LABEL: @spectrum
// CHECK-DAG: %[[STEP:.*]] = "onnx.Constant"() <{value = dense<16> : tensor<i64>}>
// CHECK-DAG: %[[WINDOW:.*]] = "onnx.Constant"() <{value = dense<{{.*}}> : tensor<64xf32>}>
// CHECK: %[[X:.*]] = "onnx.Reshape"(%arg0{{.*}} -> tensor<?x?xf32>
// CHECK: %[[F:.*]] = "onnx.STFT"(%[[X]], %[[STEP]], %[[WINDOW]]) {{.*}} -> tensor<?x?x33x2xf32>
// CHECK: %[[T:.*]] = "onnx.Transpose"(%[[F]]) <{perm = array<i64: 0, 3, 2, 1>}>
// CHECK-NOT: onnx.Mul
// CHECK: "onnx.Reshape"(%[[T]]{{.*}} -> tensor<?x66x?xf32>
func.func @spectrum(%x: tensor<?x1x?xf32>) -> tensor<?x66x?xf32> {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZ"> : tensor<66x1x64xf32>} : () -> tensor<66x1x64xf32>
  %y = "onnx.Conv"(%x, %w) <{strides = array<i64: 16>}> : (tensor<?x1x?xf32>, tensor<66x1x64xf32>) -> tensor<?x66x?xf32>
  return %y : tensor<?x66x?xf32>
}

// -----

// Sines as they are give the imaginary part the other sign.
// CHECK-LABEL: @other_sign
// CHECK-DAG: %[[SIGNS:.*]] = "onnx.Constant"() <{value = dense<{{\[\[\[\[}}1.000000e+00{{.*}}-1.000000e+00{{.*}}> : tensor<1x2x1x1xf32>}>
// CHECK: "onnx.STFT"
// CHECK: "onnx.Mul"(%{{.*}}, %[[SIGNS]])
func.func @other_sign(%x: tensor<?x1x?xf32>) -> tensor<?x66x?xf32> {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZ"> : tensor<66x1x64xf32>} : () -> tensor<66x1x64xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<?x1x?xf32>, tensor<66x1x64xf32>) -> tensor<?x66x?xf32>
  return %y : tensor<?x66x?xf32>
}

// -----

// Two convolutions of one signal share the transform, whichever comes first; one with another stride has no part in it.
// CHECK-LABEL: @apart
// CHECK: %[[F:.*]] = "onnx.STFT"
// CHECK: "onnx.Slice"(%[[F]]
// CHECK: %[[I:.*]] = "onnx.Mul"
// CHECK: "onnx.Slice"(%[[F]]
// CHECK: %[[R:.*]] = "onnx.Transpose"
// CHECK-NOT: onnx.STFT
// CHECK: %[[C:.*]] = "onnx.Conv"
// CHECK: return %[[I]], %[[R]], %[[C]]
func.func @apart(%x: tensor<2x1x128xf32>) -> (tensor<2x33x65xf32>, tensor<2x33x65xf32>, tensor<2x33x33xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %v = "onnx.Constant"() {value = dense<"0xZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZ"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %i = "onnx.Conv"(%x, %v) : (tensor<2x1x128xf32>, tensor<33x1x64xf32>) -> tensor<2x33x65xf32>
  %r = "onnx.Conv"(%x, %w) : (tensor<2x1x128xf32>, tensor<33x1x64xf32>) -> tensor<2x33x65xf32>
  %c = "onnx.Conv"(%x, %v) <{strides = array<i64: 2>}> : (tensor<2x1x128xf32>, tensor<33x1x64xf32>) -> tensor<2x33x33xf32>
  return %i, %r, %c : tensor<2x33x65xf32>, tensor<2x33x65xf32>, tensor<2x33x33xf32>
}

// -----

// One filter of another sign, cosines twice, and filters of nothing are no spectrum.
// CHECK-LABEL: @other_filters
// CHECK-COUNT-3: "onnx.Conv"
// CHECK-NOT: onnx.STFT
func.func @other_filters(%x: tensor<?x1x?xf32>) -> (tensor<?x33x?xf32>, tensor<?x66x?xf32>, tensor<?x33x?xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZM"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %v = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<66x1x64xf32>} : () -> tensor<66x1x64xf32>
  %z = "onnx.Constant"() {value = dense<0.0> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  %1 = "onnx.Conv"(%x, %v) : (tensor<?x1x?xf32>, tensor<66x1x64xf32>) -> tensor<?x66x?xf32>
  %2 = "onnx.Conv"(%x, %z) : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  return %0, %1, %2 : tensor<?x33x?xf32>, tensor<?x66x?xf32>, tensor<?x33x?xf32>
}

// -----

// Padding, steps that are skipped, a bias, or fewer filters than half the steps and one stay a convolution.
// CHECK-LABEL: @other_convolutions
// CHECK-COUNT-5: "onnx.Conv"
// CHECK-NOT: onnx.STFT
func.func @other_convolutions(%x: tensor<?x1x?xf32>, %b: tensor<33xf32>) -> (tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x32x?xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %few = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZ"> : tensor<32x1x64xf32>} : () -> tensor<32x1x64xf32>
  %0 = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 0>}> : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  %1 = "onnx.Conv"(%x, %w) <{auto_pad = "SAME_UPPER"}> : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  %2 = "onnx.Conv"(%x, %w) <{dilations = array<i64: 2>}> : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  %3 = "onnx.Conv"(%x, %w, %b) : (tensor<?x1x?xf32>, tensor<33x1x64xf32>, tensor<33xf32>) -> tensor<?x33x?xf32>
  %4 = "onnx.Conv"(%x, %few) : (tensor<?x1x?xf32>, tensor<32x1x64xf32>) -> tensor<?x32x?xf32>
  return %0, %1, %2, %3, %4 : tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x33x?xf32>, tensor<?x32x?xf32>
}

// -----

// Neither are 62 steps, 2 times a prime, or 32, for which a convolution is as fast: those filters are 1 at the first step.
// CHECK-LABEL: @other_lengths
// CHECK: "onnx.STFT"
// CHECK-COUNT-2: "onnx.Conv"
// CHECK-NOT: onnx.STFT
func.func @other_lengths(%x: tensor<?x1x?xf32>) -> (tensor<?x33x?xf32>, tensor<?x32x?xf32>, tensor<?x17x?xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %v = "onnx.Constant"() {value = dense<"0xIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII"> : tensor<32x1x62xf32>} : () -> tensor<32x1x62xf32>
  %u = "onnx.Constant"() {value = dense<"0xJJJJJJJJJJJJJJJJJ"> : tensor<17x1x32xf32>} : () -> tensor<17x1x32xf32>
  %0 = "onnx.Conv"(%x, %w) : (tensor<?x1x?xf32>, tensor<33x1x64xf32>) -> tensor<?x33x?xf32>
  %1 = "onnx.Conv"(%x, %v) : (tensor<?x1x?xf32>, tensor<32x1x62xf32>) -> tensor<?x32x?xf32>
  %2 = "onnx.Conv"(%x, %u) : (tensor<?x1x?xf32>, tensor<17x1x32xf32>) -> tensor<?x17x?xf32>
  return %0, %1, %2 : tensor<?x33x?xf32>, tensor<?x32x?xf32>, tensor<?x17x?xf32>
}

// -----

// Sines whose cosines nobody asks for stay a convolution, and so do those of another signal or of a branch that may not be taken.
// CHECK-LABEL: @sines
// CHECK: "onnx.Conv"(%arg0,
// CHECK-NOT: onnx.STFT
// CHECK: "onnx.STFT"
// CHECK-NOT: onnx.STFT
// CHECK: "onnx.If"
// CHECK: "onnx.Conv"(%arg1,
func.func @sines(%x: tensor<1x1x128xf32>, %y: tensor<1x1x128xf32>, %c: tensor<i1>) -> (tensor<1x33x65xf32>, tensor<1x33x65xf32>, tensor<1x33x65xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %v = "onnx.Constant"() {value = dense<"0xZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZ"> : tensor<33x1x64xf32>} : () -> tensor<33x1x64xf32>
  %0 = "onnx.Conv"(%x, %v) : (tensor<1x1x128xf32>, tensor<33x1x64xf32>) -> tensor<1x33x65xf32>
  %1 = "onnx.Conv"(%y, %w) : (tensor<1x1x128xf32>, tensor<33x1x64xf32>) -> tensor<1x33x65xf32>
  %2 = "onnx.If"(%c) ({
    %3 = "onnx.Conv"(%y, %v) : (tensor<1x1x128xf32>, tensor<33x1x64xf32>) -> tensor<1x33x65xf32>
    "onnx.Yield"(%3) : (tensor<1x33x65xf32>) -> ()
  }, {
    "onnx.Yield"(%0) : (tensor<1x33x65xf32>) -> ()
  }) : (tensor<i1>) -> tensor<1x33x65xf32>
  return %0, %1, %2 : tensor<1x33x65xf32>, tensor<1x33x65xf32>, tensor<1x33x65xf32>
}

// -----

// Two channels, each with its spectrum or both in one, are no signal; neither are images.
// CHECK-LABEL: @other_signals
// CHECK-COUNT-3: "onnx.Conv"
// CHECK-NOT: onnx.STFT
func.func @other_signals(%x: tensor<1x2x128xf32>, %i: tensor<1x1x1x128xf32>) -> (tensor<1x66x65xf32>, tensor<1x33x65xf32>, tensor<1x33x1x65xf32>) {
  %w = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZ"> : tensor<66x1x64xf32>} : () -> tensor<66x1x64xf32>
  %v = "onnx.Constant"() {value = dense<1.0> : tensor<33x2x64xf32>} : () -> tensor<33x2x64xf32>
  %u = "onnx.Constant"() {value = dense<"0xPZMZPZMZPZMZPZMZPZMZPZMZPZMZPZMZP"> : tensor<33x1x1x64xf32>} : () -> tensor<33x1x1x64xf32>
  %0 = "onnx.Conv"(%x, %w) <{group = 2 : i64}> : (tensor<1x2x128xf32>, tensor<66x1x64xf32>) -> tensor<1x66x65xf32>
  %1 = "onnx.Conv"(%x, %v) : (tensor<1x2x128xf32>, tensor<33x2x64xf32>) -> tensor<1x33x65xf32>
  %2 = "onnx.Conv"(%i, %u) : (tensor<1x1x1x128xf32>, tensor<33x1x1x64xf32>) -> tensor<1x33x1x65xf32>
  return %0, %1, %2 : tensor<1x66x65xf32>, tensor<1x33x65xf32>, tensor<1x33x1x65xf32>
}
