// RUN: onnxc-opt %s --integer-contractions --split-input-file | FileCheck %s

// Padded by what its size asks for: the sums are integers in f32; one multiplication takes them to the scale of the result. A bias that was quantised with both scales stays integer.
// CHECK-LABEL: @conv
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<{{.*}}2.000000e+00{{.*}}-3.000000e+00{{.*}}> : tensor<2x1x1xf32>}>
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<[1.000000e+01, 2.000000e+01]> : tensor<2xf32>}>
// CHECK-DAG: %[[M:.*]] = "onnx.Constant"() <{value = dense<{{.*}}2.500000e-01{{.*}}5.000000e-01{{.*}}> : tensor<2x1xf32>}>
// CHECK: %[[X:.*]] = "onnx.Cast"(%arg0)
// CHECK: %[[I:.*]] = "onnx.Sub"(%[[X]], %{{.*}})
// CHECK: %[[S:.*]] = "onnx.Conv"(%[[I]], %[[W]], %[[B]])
// CHECK: %[[R:.*]] = "onnx.Relu"(%[[S]])
// CHECK: %[[F:.*]] = "onnx.Mul"(%[[R]], %[[M]])
// CHECK: %[[N:.*]] = "onnx.Round"(%[[F]])
// CHECK: %[[C:.*]] = "onnx.Clip"(%[[N]], %{{.*}}, %{{.*}})
// CHECK: %[[Q:.*]] = "onnx.Cast"(%[[C]]) {{.*}} -> tensor<1x2x16xui8>
// CHECK-NEXT: return %[[Q]]
func.func @conv(%q: tensor<1x1x16xui8>) -> tensor<1x2x16xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x1x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x16xf32>
  %c = "onnx.Constant"() {value = dense<[[[2]], [[-3]]]> : tensor<2x1x1xi8>} : () -> tensor<2x1x1xi8>
  %t = "onnx.Constant"() {value = dense<[0.25, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %none = "onnx.Constant"() {value = dense<0> : tensor<2xi8>} : () -> tensor<2xi8>
  %w = "onnx.DequantizeLinear"(%c, %t, %none) <{axis = 0 : i64}> : (tensor<2x1x1xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x1x1xf32>
  %d = "onnx.Constant"() {value = dense<[10, 20]> : tensor<2xi32>} : () -> tensor<2xi32>
  %u = "onnx.Constant"() {value = dense<[0.125, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zeros = "onnx.Constant"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %b = "onnx.DequantizeLinear"(%d, %u, %zeros) <{axis = 0 : i64}> : (tensor<2xi32>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  %y = "onnx.Conv"(%x, %w, %b) <{auto_pad = "SAME_UPPER"}> : (tensor<1x1x16xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x16xf32>
  %r = "onnx.Relu"(%y) : (tensor<1x2x16xf32>) -> tensor<1x2x16xf32>
  %one = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %nil = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %o = "onnx.QuantizeLinear"(%r, %one, %nil) : (tensor<1x2x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x16xui8>
  return %o : tensor<1x2x16xui8>
}

// -----

// What is not quantised again gets its scale back; a depth that is no whole number of quads is summed as integers.
// CHECK-LABEL: @matmul
// CHECK: %[[I:.*]] = "onnx.packed.MatMulInteger"(%arg0, {{.*}} -> tensor<3x1xi32>
// CHECK: %[[S:.*]] = "onnx.Cast"(%[[I]])
// CHECK: "onnx.Mul"(%[[S]], %{{.*}})
func.func @matmul(%q: tensor<3x2xi8>) -> tensor<3x1xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %c = "onnx.Constant"() {value = dense<[[2], [3]]> : tensor<2x1xi8>} : () -> tensor<2x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s, %z) : (tensor<2x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x1xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

// Quantisation with a constant scale is arithmetic that fuses.
// CHECK-LABEL: @quantise
// CHECK: %[[D:.*]] = "onnx.Div"(%arg0, %{{.*}})
// CHECK: %[[R:.*]] = "onnx.Round"(%[[D]])
// CHECK: %[[A:.*]] = "onnx.Add"(%[[R]], %{{.*}})
// CHECK: %[[C:.*]] = "onnx.Clip"(%[[A]], %{{.*}}, %{{.*}})
// CHECK: "onnx.Cast"(%[[C]])
func.func @quantise(%x: tensor<2x2xf32>) -> tensor<2x2xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %q = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  return %q : tensor<2x2xui8>
}

// Integers of 8 and 16 bits may come from products where these are proven to give the same; those of a scale without a reciprocal do not.
// CHECK-LABEL: @quantise_by_products
// CHECK: "onnx.Div"(%arg0, %{{.*}}) {onnxc.by_products}
// CHECK: "onnx.Div"(%arg0, %{{.*}}) {onnxc.by_products}
// CHECK: "onnx.Div"(%arg0, %{{.*}}) :
func.func @quantise_by_products(%x: tensor<2x3xf32>) -> (tensor<2x3xi8>, tensor<2x3xi16>, tensor<2x3xi8>) {
  %s = "onnx.Constant"() {value = dense<0.02> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<1.0e-39> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.Constant"() {value = dense<3> : tensor<i16>} : () -> tensor<i16>
  %a = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %b = "onnx.QuantizeLinear"(%x, %s, %w) : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
  %c = "onnx.QuantizeLinear"(%x, %t, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %a, %b, %c : tensor<2x3xi8>, tensor<2x3xi16>, tensor<2x3xi8>
}

// -----

// Scales may be the run's, and of blocks, whose axis is two then.
// CHECK-LABEL: @quantise_by_run
// CHECK: %[[Z:.*]] = "onnx.Cast"(%arg2)
// CHECK: %[[Q:.*]] = "onnx.Div"(%arg0, %arg1) : (tensor<2x32xf32>, tensor<f32>)
// CHECK: %[[R:.*]] = "onnx.Round"(%[[Q]])
// CHECK: "onnx.Add"(%[[R]], %[[Z]])
// CHECK: %[[B:.*]] = "onnx.Reshape"(%arg3
// CHECK: %[[V:.*]] = "onnx.Reshape"(%arg0
// CHECK: "onnx.Div"(%[[V]], %[[B]]) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>)
// CHECK: %[[Y:.*]] = "onnx.Cast"{{.*}} -> tensor<2x2x16xui8>
// CHECK: "onnx.Reshape"(%[[Y]]
func.func @quantise_by_run(%x: tensor<2x32xf32>, %s: tensor<f32>, %z: tensor<ui8>, %b: tensor<2x2xf32>) -> (tensor<2x32xui8>, tensor<2x32xui8>) {
  %p = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x32xui8>
  %q = "onnx.QuantizeLinear"(%x, %b) <{axis = 1 : i64, block_size = 16 : i64}> : (tensor<2x32xf32>, tensor<2x2xf32>) -> tensor<2x32xui8>
  return %p, %q : tensor<2x32xui8>, tensor<2x32xui8>
}

// -----

// A quotient of halves is rounded to a half first, the product of a byte and a half once.
// CHECK-LABEL: @quantise_halves
// CHECK: %[[D:.*]] = "onnx.Div"(%{{.*}}, %{{.*}}) : (tensor<2x4xf32>, tensor<f32>)
// CHECK: %[[H:.*]] = "onnx.Cast"(%[[D]]) {{.*}} -> tensor<2x4xf16>
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[H]]) {{.*}} -> tensor<2x4xf32>
// CHECK: "onnx.Round"(%[[F]])
// CHECK: %[[M:.*]] = "onnx.Mul"
// CHECK: "onnx.Cast"(%[[M]]) {{.*}} -> tensor<2x4xf16>
func.func @quantise_halves(%x: tensor<2x4xf16>, %i: tensor<2x4xi8>) -> (tensor<2x4xui8>, tensor<2x4xf16>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f16>} : () -> tensor<f16>
  %q = "onnx.QuantizeLinear"(%x, %s) : (tensor<2x4xf16>, tensor<f16>) -> tensor<2x4xui8>
  %d = "onnx.DequantizeLinear"(%i, %s) : (tensor<2x4xi8>, tensor<f16>) -> tensor<2x4xf16>
  return %q, %d : tensor<2x4xui8>, tensor<2x4xf16>
}

// -----

// So is that of 16 bits, whose integers need no memory of their own between both.
// CHECK-LABEL: @quantise_shorts
// CHECK: %[[A:.*]] = "onnx.Add"
// CHECK: %[[C:.*]] = "onnx.Clip"(%[[A]], %[[LEAST:.*]], %[[MOST:.*]])
// CHECK: %[[Q:.*]] = "onnx.Cast"(%[[C]]) <{{.*}}to = 5
// CHECK: %[[S:.*]] = "onnx.Sub"(%[[C]]
// CHECK: %[[D:.*]] = "onnx.Mul"(%[[S]]
// CHECK: %[[T:.*]] = "onnx.Cast"(%arg1) <{{.*}}to = 1
// CHECK: %[[E:.*]] = "onnx.Mul"(%[[T]]
// CHECK: return %[[Q]], %[[D]], %[[E]]
func.func @quantise_shorts(%x: tensor<2x2xf32>, %p: tensor<2x2xui16>) -> (tensor<2x2xi16>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<-3> : tensor<i16>} : () -> tensor<i16>
  %q = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i16>) -> tensor<2x2xi16>
  %d = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<2x2xi16>, tensor<f32>, tensor<i16>) -> tensor<2x2xf32>
  %e = "onnx.DequantizeLinear"(%p, %s) : (tensor<2x2xui16>, tensor<f32>) -> tensor<2x2xf32>
  return %q, %d, %e : tensor<2x2xi16>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A constant right side lies in panels.
// CHECK-LABEL: @packed
// CHECK: %[[B:.*]] = "onnx.Constant"() {{.*}} : tensor<2x2x64x4xi8>
// CHECK: "onnx.packed.MatMulInteger"(%arg0, %[[B]], %arg1) <{K = 7 : i64, N = 65 : i64
func.func @packed(%a: tensor<3x7xui8>, %z: tensor<ui8>) -> tensor<3x65xi32> {
  %b = "onnx.Constant"() {value = dense<127> : tensor<7x65xi8>} : () -> tensor<7x65xi8>
  %y = "onnx.MatMulInteger"(%a, %b, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<3x7xui8>, tensor<7x65xi8>, tensor<ui8>) -> tensor<3x65xi32>
  return %y : tensor<3x65xi32>
}

// -----

// A convolution of two axes stays in bytes: factors 0.5 * 0.25 / 0.5, corrections -128 * 4 * 2; Relu is a bound. Up to four channels
// are read as they are.
// CHECK-LABEL: @linear
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<2> : tensor<4x1x16x4xi8>}>
// CHECK-DAG: %[[F:.*]] = "onnx.Constant"() <{value = dense<2.500000e-01> : tensor<4x16xf32>}>
// CHECK-DAG: %[[K:.*]] = "onnx.Constant"() <{value = dense<-1024> : tensor<4x16xi32>}>
// CHECK: %[[Y:.*]] = "onnx.packed.LinearConv"(%arg0, %[[W]], %[[F]], %[[K]]) <{border = 128 : i64, channels = 4 : i64{{.*}}least = 3 : i64, most = 255 : i64{{.*}}plain = 1 : i64{{.*}}zero = 3 : i64}>
// CHECK: "onnx.packed.Unblock"(%[[Y]]) <{channels = 64 : i64}>
func.func @linear(%q: tensor<1x4x4x4xui8>) -> tensor<1x64x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x4x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<64x4x1x1xi8>} : () -> tensor<64x4x1x1xi8>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.DequantizeLinear"(%c, %t, %none) : (tensor<64x4x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<64x4x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x4x4x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x64x4x4xf32>
  %r = "onnx.Relu"(%y) : (tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
  %three = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %o = "onnx.QuantizeLinear"(%r, %s, %three) : (tensor<1x64x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x64x4x4xui8>
  return %o : tensor<1x64x4x4xui8>
}

// -----

// A row is an image of height 1, in blocks too.
// CHECK-LABEL: @row
// CHECK: %[[X:.*]] = "onnx.packed.Block"(%arg0) : (tensor<2x16x20xui8>) -> tensor<2x1x1x20x16xui8>
// CHECK: %[[Y:.*]] = "onnx.packed.LinearConv"(%[[X]], {{.*}} <{{{.*}}dilations = array<i64: 1, 2>{{.*}}kernel_shape = array<i64: 1, 3>{{.*}}pads = array<i64: 0, 4, 0, 1>{{.*}}strides = array<i64: 1, 1>
// CHECK: "onnx.packed.Unblock"(%[[Y]]) <{channels = 8 : i64}> : (tensor<2x1x1x21x16xui8>) -> tensor<2x8x21xui8>
func.func @row(%q: tensor<2x16x20xui8>) -> tensor<2x8x21xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<2x16x20xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x16x20xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<8x16x3xi8>} : () -> tensor<8x16x3xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<8x16x3xi8>, tensor<f32>) -> tensor<8x16x3xf32>
  %y = "onnx.Conv"(%x, %w) <{dilations = array<i64: 2>, pads = array<i64: 4, 1>}> : (tensor<2x16x20xf32>, tensor<8x16x3xf32>) -> tensor<2x8x21xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %z) : (tensor<2x8x21xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x8x21xui8>
  return %o : tensor<2x8x21xui8>
}

// -----

// One of three axes becomes one of images of bytes with the channels of all taps; results are bytes before they move.
// CHECK-LABEL: @frames
// CHECK: %[[S:.*]] = "onnx.Concat"({{.*}} -> tensor<3x12x4x4xui8>
// CHECK: %[[X:.*]] = "onnx.packed.Block"(%[[S]])
// CHECK: %[[Y:.*]] = "onnx.packed.LinearConv"(%[[X]], {{.*}}channels = 12 : i64{{.*}}plain = 0 : i64
// CHECK: %[[U:.*]] = "onnx.packed.Unblock"(%[[Y]]) <{channels = 8 : i64}> : (tensor<3x1x2x2x16xui8>) -> tensor<3x8x2x2xui8>
// CHECK: "onnx.Reshape"(%[[U]]
func.func @frames(%q: tensor<1x4x5x4x4xui8>) -> tensor<1x8x3x2x2xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x4x5x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x5x4x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<8x4x3x3x3xi8>} : () -> tensor<8x4x3x3x3xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<8x4x3x3x3xi8>, tensor<f32>) -> tensor<8x4x3x3x3xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x4x5x4x4xf32>, tensor<8x4x3x3x3xf32>) -> tensor<1x8x3x2x2xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %z) : (tensor<1x8x3x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8x3x2x2xui8>
  return %o : tensor<1x8x3x2x2xui8>
}

// -----

// Not where each input channel of the weights has a scale, which the channels of all taps have not.
// CHECK-LABEL: @frames_of_scaled_channels
// CHECK-NOT: "onnx.packed.LinearConv"
// CHECK: return
func.func @frames_of_scaled_channels(%q: tensor<1x2x5x4x4xui8>) -> tensor<1x8x3x2x2xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %each = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<1x2x5x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x5x4x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<8x2x3x3x3xi8>} : () -> tensor<8x2x3x3x3xi8>
  %w = "onnx.DequantizeLinear"(%c, %each) <{axis = 1 : i64}> : (tensor<8x2x3x3x3xi8>, tensor<2xf32>) -> tensor<8x2x3x3x3xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x2x5x4x4xf32>, tensor<8x2x3x3x3xf32>) -> tensor<1x8x3x2x2xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %z) : (tensor<1x8x3x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8x3x2x2xui8>
  return %o : tensor<1x8x3x2x2xui8>
}

// -----

// Each channel has its own filter: the depth is that of the taps. What is not quantised again is f32.
// CHECK-LABEL: @depthwise
// CHECK: %[[W:.*]] = "onnx.Constant"() {{.*}} : tensor<2x4x16xi16>
// CHECK: %[[X:.*]] = "onnx.packed.Block"(%arg0)
// CHECK: "onnx.packed.LinearConv"(%[[X]], %[[W]], {{.*}}channels = 0 : i64{{.*}} -> tensor<?x2x3x3x16xf32>
func.func @depthwise(%q: tensor<?x20x4x4xi8>) -> tensor<?x20x3x3xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<?x20x4x4xi8>, tensor<f32>) -> tensor<?x20x4x4xf32>
  %c = "onnx.Constant"() {value = dense<130> : tensor<20x1x2x2xui8>} : () -> tensor<20x1x2x2xui8>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %w = "onnx.DequantizeLinear"(%c, %s, %z) : (tensor<20x1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<20x1x2x2xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 20 : i64}> : (tensor<?x20x4x4xf32>, tensor<20x1x2x2xf32>) -> tensor<?x20x3x3xf32>
  return %y : tensor<?x20x3x3xf32>
}

// -----

// Weights less their zero point that a byte does not hold are bytes and an offset, 128 - 100 here; what fills a quad up is 0 with it.
// CHECK-LABEL: @offset
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() <{value = dense<"0x7A7A7AE400{{0*}}"> : tensor<4x1x16x4xi8>}>
// CHECK-DAG: %[[O:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}28, 0, {{.*}} : tensor<1x16xi32>}>
// CHECK: "onnx.packed.LinearConv"(%arg0, %[[W]], %{{.*}}, %{{.*}}, %[[O]])
func.func @offset(%q: tensor<1x3x4x4xi8>) -> tensor<1x1x4x4xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x3x4x4xi8>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %c = "onnx.Constant"() {value = dense<250> : tensor<1x3x1x1xui8>} : () -> tensor<1x3x1x1xui8>
  %z = "onnx.Constant"() {value = dense<100> : tensor<ui8>} : () -> tensor<ui8>
  %w = "onnx.DequantizeLinear"(%c, %s, %z) : (tensor<1x3x1x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// -----

// What depends on one byte is a table: sigmoid(0.5 q) in 256ths is 128 for 0 and 255 for 127. Values are quantised before they are joined.
// CHECK-LABEL: @table
// CHECK: %[[T:.*]] = "onnx.Constant"() <{value = dense<"0x80{{.*}}"> : tensor<256xui8>}>
// CHECK: %[[S:.*]] = "onnx.packed.ByteTable"(%arg0, %[[T]])
// CHECK: "onnx.Concat"(%arg1, %[[S]])
func.func @table(%q: tensor<1x2xi8>, %p: tensor<1x2xui8>) -> tensor<1x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.00390625> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x2xi8>, tensor<f32>) -> tensor<1x2xf32>
  %a = "onnx.Sigmoid"(%x) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = "onnx.DequantizeLinear"(%p, %t, %z) : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
  %c = "onnx.Concat"(%y, %a) <{axis = 1 : i64}> : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %o = "onnx.QuantizeLinear"(%c, %t, %z) : (tensor<1x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4xui8>
  return %o : tensor<1x4xui8>
}

// -----

// A product stays in bytes with the bias that is added to it: corrections 8 - 3 * 4 * 2, factors 0.5 * 0.25 / 0.5.
// CHECK-LABEL: @linear_product
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() {{.*}} : tensor<1x1x64x4xi8>
// CHECK-DAG: %[[F:.*]] = "onnx.Constant"() <{value = dense<{{.*}}2.500000e-01, 0.000000e+00{{.*}}> : tensor<1x64xf32>}>
// CHECK-DAG: %[[K:.*]] = "onnx.Constant"() <{value = dense<{{.*}}-16, 0{{.*}}> : tensor<1x64xi32>}>
// CHECK: %[[Y:.*]] = "onnx.packed.LinearMatMul"(%arg0, %[[W]], %[[F]], %[[K]]) <{N = 1 : i64, least = -128 : i64, most = 127 : i64, zero = 1 : i64}>
// CHECK-NEXT: return %[[Y]]
func.func @linear_product(%q: tensor<?x3x4xui8>) -> tensor<?x3x1xi8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %z) : (tensor<?x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x3x4xf32>
  %c = "onnx.Constant"() {value = dense<2> : tensor<4x1xi8>} : () -> tensor<4x1xi8>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %w = "onnx.DequantizeLinear"(%c, %t) : (tensor<4x1xi8>, tensor<f32>) -> tensor<4x1xf32>
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = "onnx.MatMul"(%x, %w) : (tensor<?x3x4xf32>, tensor<4x1xf32>) -> tensor<?x3x1xf32>
  %a = "onnx.Add"(%b, %y) : (tensor<1xf32>, tensor<?x3x1xf32>) -> tensor<?x3x1xf32>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i8>} : () -> tensor<i8>
  %o = "onnx.QuantizeLinear"(%a, %s, %one) : (tensor<?x3x1xf32>, tensor<f32>, tensor<i8>) -> tensor<?x3x1xi8>
  return %o : tensor<?x3x1xi8>
}

// -----

// Groups of 8 channels are computed two at a time, as 16; of the last there is one. Weights of one channel for each meet the others' zeros.
// CHECK-LABEL: @together
// CHECK-DAG: %[[W:.*]] = "onnx.Constant"() {{.*}} : tensor<8x4x16x4xi8>
// CHECK: "onnx.packed.LinearConv"(%{{.*}}, %[[W]], {{.*}}channels = 8 : i64{{.*}}group = 3 : i64{{.*}}outputs = 8 : i64
func.func @together(%q: tensor<1x24x4x4xui8>) -> tensor<1x24x4x4xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %x = "onnx.DequantizeLinear"(%q, %s) : (tensor<1x24x4x4xui8>, tensor<f32>) -> tensor<1x24x4x4xf32>
  %c = "onnx.Constant"() {value = dense<3> : tensor<24x8x1x1xi8>} : () -> tensor<24x8x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<24x8x1x1xi8>, tensor<f32>) -> tensor<24x8x1x1xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 3 : i64}> : (tensor<1x24x4x4xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x4x4xf32>
  return %y : tensor<1x24x4x4xf32>
}

// -----

// A bias near what 32 bits hold, of a channel of small weights: weights of 100 and the bias become half of themselves, the factor 0.25 2^-24
// / 0.5 twice that.
// CHECK-LABEL: @largeBias
// CHECK-DAG: "onnx.Constant"() <{value = dense<"0x32323232{{.*}}"> : tensor<4x4x16x4xi8>}>
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}5.96046448E-8, 0.000000e+00{{.*}} : tensor<1x16xf32>}>
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}-1073740992, 0{{.*}} : tensor<1x16xi32>}>
// CHECK: "onnx.packed.LinearConv"
func.func @largeBias(%q: tensor<1x16x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<100> : tensor<1x16x1x1xi8>} : () -> tensor<1x16x1x1xi8>
  %t = "onnx.Constant"() {value = dense<2.98023224E-8> : tensor<f32>} : () -> tensor<f32>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %w = "onnx.DequantizeLinear"(%c, %t, %none) : (tensor<1x16x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x1x1xf32>
  %bq = "onnx.Constant"() {value = dense<-2147482000> : tensor<1xi32>} : () -> tensor<1xi32>
  %bs = "onnx.Constant"() {value = dense<1.49011612E-8> : tensor<f32>} : () -> tensor<f32>
  %b = "onnx.DequantizeLinear"(%bq, %bs) : (tensor<1xi32>, tensor<f32>) -> tensor<1xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %zero) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %o : tensor<1x1x4x4xui8>
}

// -----

// Constants that stay are f32, along the axis of their scales.
// CHECK-LABEL: @rest
// CHECK-DAG: %[[A:.*]] = "onnx.Constant"() <{value = dense<{{\[}}[0.000000e+00, 5.000000e-01], [5.000000e-01, 7.500000e-01]]> : tensor<2x2xf32>}>
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<{{\[}}[5.000000e-01, 5.000000e-01], [1.500000e+00, 1.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: return %[[A]], %[[B]]
func.func @rest() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %q = "onnx.Constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>} : () -> tensor<2x2xi16>
  %s = "onnx.Constant"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "onnx.Constant"() {value = dense<1> : tensor<2xi16>} : () -> tensor<2xi16>
  %a = "onnx.DequantizeLinear"(%q, %s, %z) <{axis = 0 : i64}> : (tensor<2x2xi16>, tensor<2xf32>, tensor<2xi16>) -> tensor<2x2xf32>
  %b = "onnx.DequantizeLinear"(%q, %s) <{axis = -1 : i64}> : (tensor<2x2xi16>, tensor<2xf32>) -> tensor<2x2xf32>
  return %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A bias of f32 that is no whole number of the products' unit, 0.25: behind sums in bytes where their results are f32.
// CHECK-LABEL: @floatBias
// CHECK-DAG: %[[B:.*]] = "onnx.Constant"() <{value = dense<{{.*}}1.000000e-01{{.*}}2.000000e-01{{.*}}> : tensor<2x1x1xf32>}>
// CHECK-DAG: %[[C:.*]] = "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK-DAG: %[[U:.*]] = "onnx.packed.Unblock"(%[[C]])
// CHECK-DAG: %[[Y:.*]] = "onnx.Add"(%[[U]], %[[B]])
// CHECK: return %[[Y]]
func.func @floatBias(%q: tensor<1x16x4x4xui8>) -> tensor<1x2x4x4xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<100> : tensor<2x16x1x1xi8>} : () -> tensor<2x16x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<2x16x1x1xi8>, tensor<f32>) -> tensor<2x16x1x1xf32>
  %b = "onnx.Constant"() {value = dense<[0.1, 0.2]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<2x16x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// -----

// A normalisation before a quantisation: factors 0.25 times 2 or -4 over the step 0.5, the bias 8, or 6, over 0.25 times 2, or -4, besides
// that of 3 units. One whose result is f32 stays what it is.
// CHECK-LABEL: @normalised
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}1.000000e+00, -2.000000e+00, 0.000000e+00{{.*}} : tensor<1x16xf32>}>
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}19, -3, 0{{.*}} : tensor<1x16xi32>}>
// CHECK-DAG: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xui8>
// CHECK-DAG: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
// CHECK-DAG: "onnx.BatchNormalization"
// CHECK: return
func.func @normalised(%q: tensor<1x16x4x4xui8>) -> (tensor<1x2x4x4xui8>, tensor<1x2x4x4xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<100> : tensor<2x16x1x1xi8>} : () -> tensor<2x16x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<2x16x1x1xi8>, tensor<f32>) -> tensor<2x16x1x1xf32>
  %b = "onnx.Constant"() {value = dense<0.75> : tensor<2xf32>} : () -> tensor<2xf32>
  %g = "onnx.Constant"() {value = dense<[2.0, -4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %h = "onnx.Constant"() {value = dense<[8.0, 6.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %none = "onnx.Constant"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<2x16x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %n = "onnx.BatchNormalization"(%y, %g, %h, %none, %one) <{epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %r = "onnx.Relu"(%n) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %o = "onnx.QuantizeLinear"(%r, %s, %zero) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  %z = "onnx.Conv"(%x, %w) : (tensor<1x16x4x4xf32>, tensor<2x16x1x1xf32>) -> tensor<1x2x4x4xf32>
  %m = "onnx.BatchNormalization"(%z, %g, %h, %none, %one) <{epsilon = 0.0 : f32, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %o, %m : tensor<1x2x4x4xui8>, tensor<1x2x4x4xf32>
}

// -----

// A channel whose weights are zero has a scale that its bias, 2^40 units, is too large for: 2^17 times as large a factor, 2^-40 / 0.5 before.
// CHECK-LABEL: @deadChannel
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}2.38418579E-7, 0.000000e+00{{.*}} : tensor<1x16xf32>}>
// CHECK-DAG: "onnx.Constant"() <{value = dense<{{\[\[}}8388608, 0{{.*}} : tensor<1x16xi32>}>
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xui8>
func.func @deadChannel(%q: tensor<1x16x4x4xui8>) -> tensor<1x1x4x4xui8> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<0> : tensor<1x16x1x1xi8>} : () -> tensor<1x16x1x1xi8>
  %t = "onnx.Constant"() {value = dense<1.8189894e-12> : tensor<f32>} : () -> tensor<f32>
  %w = "onnx.DequantizeLinear"(%c, %t) : (tensor<1x16x1x1xi8>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %b = "onnx.Constant"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = "onnx.Conv"(%x, %w, %b) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %zero) : (tensor<1x1x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x4x4xui8>
  return %o : tensor<1x1x4x4xui8>
}

// -----

// Weights of 4 bits that bytes are multiplied by.
// CHECK-LABEL: @fourBits
// CHECK-DAG: "onnx.Constant"() <{value = dense<"0xFDFDFDFD{{.*}}"> : tensor<4x4x16x4xi8>}>
// CHECK: "onnx.packed.LinearConv"({{.*}} -> tensor<1x1x4x4x16xf32>
func.func @fourBits(%q: tensor<1x16x4x4xui8>) -> tensor<1x1x4x4xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %x = "onnx.DequantizeLinear"(%q, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %c = "onnx.Constant"() {value = dense<-3> : tensor<1x16x1x1xi4>} : () -> tensor<1x16x1x1xi4>
  %none = "onnx.Constant"() {value = dense<0> : tensor<i4>} : () -> tensor<i4>
  %w = "onnx.DequantizeLinear"(%c, %s, %none) : (tensor<1x16x1x1xi4>, tensor<f32>, tensor<i4>) -> tensor<1x16x1x1xf32>
  %y = "onnx.Conv"(%x, %w) : (tensor<1x16x4x4xf32>, tensor<1x16x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// -----

// A scale for each channel of the data of filters that are each channel's own is part of their factors, 0.5 0.5 / 0.5 and 1 0.5 / 0.5, and
// one for each channel of the result divides them.
// CHECK-LABEL: @channelScales
// CHECK-DAG: %[[F:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}5.000000e-01, 1.000000e+00, 0.000000e+00{{.*}} : tensor<1x16xf32>}>
// CHECK-DAG: %[[G:.*]] = "onnx.Constant"() <{value = dense<{{\[\[}}5.000000e-01, 2.500000e-01, 0.000000e+00{{.*}} : tensor<1x16xf32>}>
// CHECK: "onnx.packed.LinearConv"({{.*}}, %[[F]], {{.*}} -> tensor<1x1x4x4x16xui8>
// CHECK: "onnx.packed.LinearConv"({{.*}}, %[[G]], {{.*}}least = 128 : i64, most = 255 : i64{{.*}} -> tensor<1x1x4x4x16xui8>
func.func @channelScales(%q: tensor<1x2x4x4xui8>, %p: tensor<1x16x4x4xui8>) -> (tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<ui8>} : () -> tensor<ui8>
  %t = "onnx.Constant"() {value = dense<[0.5, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zeros = "onnx.Constant"() {value = dense<128> : tensor<2xui8>} : () -> tensor<2xui8>
  %x = "onnx.DequantizeLinear"(%q, %t, %zeros) <{axis = 1 : i64}> : (tensor<1x2x4x4xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4x4xf32>
  %c = "onnx.Constant"() {value = dense<100> : tensor<2x1x1x1xi8>} : () -> tensor<2x1x1x1xi8>
  %w = "onnx.DequantizeLinear"(%c, %s) : (tensor<2x1x1x1xi8>, tensor<f32>) -> tensor<2x1x1x1xf32>
  %y = "onnx.Conv"(%x, %w) <{group = 2 : i64}> : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %o = "onnx.QuantizeLinear"(%y, %s, %zero) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  %d = "onnx.DequantizeLinear"(%p, %s, %zero) : (tensor<1x16x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xf32>
  %e = "onnx.Constant"() {value = dense<100> : tensor<2x16x1x1xi8>} : () -> tensor<2x16x1x1xi8>
  %v = "onnx.DequantizeLinear"(%e, %s) : (tensor<2x16x1x1xi8>, tensor<f32>) -> tensor<2x16x1x1xf32>
  %z = "onnx.Conv"(%d, %v) : (tensor<1x16x4x4xf32>, tensor<2x16x1x1xf32>) -> tensor<1x2x4x4xf32>
  %r = "onnx.Relu"(%z) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %n = "onnx.QuantizeLinear"(%r, %t, %zeros) <{axis = 1 : i64}> : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<1x2x4x4xui8>
  return %o, %n : tensor<1x2x4x4xui8>, tensor<1x2x4x4xui8>
}

// -----

// Two values of the run, one of them moved: sums of integers of the moved bytes, times 0.5 * 0.25 / 0.5. Results in f32 likewise.
// CHECK-LABEL: @run_time_products
// CHECK-DAG: %[[S:.*]] = "onnx.Constant"() <{value = dense<2.500000e-01> : tensor<f32>}>
// CHECK: %[[T:.*]] = "onnx.Transpose"(%arg1) {{.*}} -> tensor<2x?x3xi8>
// CHECK: %[[I:.*]] = "onnx.MatMulInteger"(%arg0, %[[T]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<2x4x3xi32>
// CHECK: %[[F:.*]] = "onnx.Cast"(%[[I]])
// CHECK: %[[M:.*]] = "onnx.Mul"(%[[F]], %[[S]])
// CHECK: "onnx.Round"(%[[M]])
// CHECK: "onnx.MatMulInteger"(%arg0, %arg2
// CHECK-NOT: "onnx.MatMul"
func.func @run_time_products(%a: tensor<2x4x?xui8>, %b: tensor<2x3x?xi8>, %c: tensor<2x?x5xui8>) -> (tensor<2x4x3xui8>, tensor<2x4x5xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %w = "onnx.Constant"() {value = dense<-3> : tensor<i8>} : () -> tensor<i8>
  %0 = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<2x4x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x?xf32>
  %1 = "onnx.DequantizeLinear"(%b, %t, %w) : (tensor<2x3x?xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x?xf32>
  %2 = "onnx.Transpose"(%1) <{perm = array<i64: 0, 2, 1>}> : (tensor<2x3x?xf32>) -> tensor<2x?x3xf32>
  %3 = "onnx.MatMul"(%0, %2) : (tensor<2x4x?xf32>, tensor<2x?x3xf32>) -> tensor<2x4x3xf32>
  %4 = "onnx.QuantizeLinear"(%3, %s, %z) : (tensor<2x4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4x3xui8>
  %5 = "onnx.DequantizeLinear"(%c, %t, %z) : (tensor<2x?x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x?x5xf32>
  %6 = "onnx.MatMul"(%0, %5) : (tensor<2x4x?xf32>, tensor<2x?x5xf32>) -> tensor<2x4x5xf32>
  return %4, %6 : tensor<2x4x3xui8>, tensor<2x4x5xf32>
}

// -----

// What a softmax takes, once it is quantised, and a small right side: sums of integers in f32.
// CHECK-LABEL: @run_time_sums_of_floats
// CHECK-COUNT-2: "onnx.MatMul"({{.*}}onnxc.exact
// CHECK-NOT: onnx.MatMulInteger
func.func @run_time_sums_of_floats(%q: tensor<2x4x64xi8>, %k: tensor<2x64x32xi8>, %b: tensor<2x64x3xi8>) -> (tensor<2x4x32xf32>, tensor<2x4x3xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%q, %s) : (tensor<2x4x64xi8>, tensor<f32>) -> tensor<2x4x64xf32>
  %1 = "onnx.DequantizeLinear"(%k, %s) : (tensor<2x64x32xi8>, tensor<f32>) -> tensor<2x64x32xf32>
  %2 = "onnx.MatMul"(%0, %1) : (tensor<2x4x64xf32>, tensor<2x64x32xf32>) -> tensor<2x4x32xf32>
  %3 = "onnx.QuantizeLinear"(%2, %s, %z) : (tensor<2x4x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x4x32xui8>
  %4 = "onnx.DequantizeLinear"(%3, %s, %z) : (tensor<2x4x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x32xf32>
  %5 = "onnx.Softmax"(%4) <{axis = -1 : i64}> : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32>
  %6 = "onnx.DequantizeLinear"(%b, %s) : (tensor<2x64x3xi8>, tensor<f32>) -> tensor<2x64x3xf32>
  %7 = "onnx.MatMul"(%0, %6) : (tensor<2x4x64xf32>, tensor<2x64x3xf32>) -> tensor<2x4x3xf32>
  return %5, %7 : tensor<2x4x32xf32>, tensor<2x4x3xf32>
}

// -----

// The softmax of the next layer is none of this product's: between them lies another.
// CHECK-LABEL: @values_of_a_layer
// CHECK: onnx.MatMulInteger
// CHECK: onnx.Softmax
func.func @values_of_a_layer(%p: tensor<4x64xui8>, %v: tensor<64x32xui8>, %c: tensor<32x8xi8>) -> tensor<4x8xf32> {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "onnx.Constant"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %w = "onnx.Constant"() {value = dense<3> : tensor<32x8xi8>} : () -> tensor<32x8xi8>
  %0 = "onnx.DequantizeLinear"(%p, %s, %z) : (tensor<4x64xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x64xf32>
  %1 = "onnx.DequantizeLinear"(%v, %s, %z) : (tensor<64x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<64x32xf32>
  %2 = "onnx.MatMul"(%0, %1) : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  %3 = "onnx.QuantizeLinear"(%2, %s, %z) : (tensor<4x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x32xui8>
  %4 = "onnx.DequantizeLinear"(%3, %s, %z) : (tensor<4x32xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x32xf32>
  %5 = "onnx.DequantizeLinear"(%w, %s) : (tensor<32x8xi8>, tensor<f32>) -> tensor<32x8xf32>
  %6 = "onnx.MatMul"(%4, %5) : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %7 = "onnx.QuantizeLinear"(%6, %s, %z) : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  %8 = "onnx.DequantizeLinear"(%7, %s, %z) : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xf32>
  %9 = "onnx.Softmax"(%8) <{axis = -1 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}

// -----

// An attention in f32, a scale for each column, and a depth whose sums 32 bits may not hold.
// CHECK-LABEL: @run_time_products_of_floats
// CHECK-COUNT-4: "onnx.MatMul"(
// CHECK-NOT: onnx.MatMulInteger
func.func @run_time_products_of_floats(%q: tensor<2x4x64xi8>, %k: tensor<2x64x32xi8>, %v: tensor<2x32x8xf32>, %a: tensor<4x40000xi8>, %b: tensor<40000x2xi8>)
    -> (tensor<2x4x8xf32>, tensor<2x4x32xf32>, tensor<4x2xf32>) {
  %s = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %c = "onnx.Constant"() {value = dense<0.5> : tensor<32xf32>} : () -> tensor<32xf32>
  %0 = "onnx.DequantizeLinear"(%q, %s) : (tensor<2x4x64xi8>, tensor<f32>) -> tensor<2x4x64xf32>
  %1 = "onnx.DequantizeLinear"(%k, %s) : (tensor<2x64x32xi8>, tensor<f32>) -> tensor<2x64x32xf32>
  %2 = "onnx.MatMul"(%0, %1) : (tensor<2x4x64xf32>, tensor<2x64x32xf32>) -> tensor<2x4x32xf32>
  %3 = "onnx.Mul"(%2, %s) : (tensor<2x4x32xf32>, tensor<f32>) -> tensor<2x4x32xf32>
  %4 = "onnx.Softmax"(%3) <{axis = -1 : i64}> : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32>
  %5 = "onnx.MatMul"(%4, %v) : (tensor<2x4x32xf32>, tensor<2x32x8xf32>) -> tensor<2x4x8xf32>
  %6 = "onnx.DequantizeLinear"(%k, %c) <{axis = 2 : i64}> : (tensor<2x64x32xi8>, tensor<32xf32>) -> tensor<2x64x32xf32>
  %7 = "onnx.MatMul"(%0, %6) : (tensor<2x4x64xf32>, tensor<2x64x32xf32>) -> tensor<2x4x32xf32>
  %8 = "onnx.DequantizeLinear"(%a, %s) : (tensor<4x40000xi8>, tensor<f32>) -> tensor<4x40000xf32>
  %9 = "onnx.DequantizeLinear"(%b, %s) : (tensor<40000x2xi8>, tensor<f32>) -> tensor<40000x2xf32>
  %10 = "onnx.MatMul"(%8, %9) : (tensor<4x40000xf32>, tensor<40000x2xf32>) -> tensor<4x2xf32>
  return %5, %7, %10 : tensor<2x4x8xf32>, tensor<2x4x32xf32>, tensor<4x2xf32>
}
