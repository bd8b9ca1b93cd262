// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s

// The sum and the activation behind a product are computed on its accumulators; the bias is an argument of the kernel.
// CHECK: func.func @plan_run
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @packed_matmul_add_relu_f32
// CHECK-SAME: family = "contract"
// CHECK: onnx.packed.MatMul
// CHECK: onnx.Add
// CHECK: onnx.Relu
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x16xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x4x16xf32>} : () -> tensor<1x4x16xf32>
  %b = "onnx.Constant"() {value = dense<[1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.,13.,14.,15.,16.]> : tensor<16xf32>} : () -> tensor<16xf32>
  %y = "onnx.packed.MatMul"(%a, %w) <{N = 16 : i64}> : (tensor<?x4xf32>, tensor<1x4x16xf32>) -> tensor<?x16xf32>
  %s = "onnx.Add"(%y, %b) : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %r = "onnx.Relu"(%s) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

// Of doubles alike; a cast to another type is a kernel of its own.
// CHECK: func.func @plan_run
// CHECK-COUNT-2: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @packed_matmul_relu_f64
// CHECK-NOT: onnx.Cast
// CHECK: kernel.func @cast
func.func @main(%a: tensor<?x4xf64>) -> tensor<?x16xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x4x16xf64>} : () -> tensor<1x4x16xf64>
  %y = "onnx.packed.MatMul"(%a, %w) <{N = 16 : i64}> : (tensor<?x4xf64>, tensor<1x4x16xf64>) -> tensor<?x16xf64>
  %r = "onnx.Relu"(%y) : (tensor<?x16xf64>) -> tensor<?x16xf64>
  %s = "onnx.Cast"(%r) <{to = 1 : i64}> : (tensor<?x16xf64>) -> tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}

// -----

// Two roundings to steps with a Clip between them, as a convolution of 16-bit values has them, are one kernel with their product.
// CHECK: func.func @plan_run
// CHECK-COUNT-1: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func @packed_matmul_div_round_f32
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x16xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x4x16xf32>} : () -> tensor<1x4x16xf32>
  %s = "onnx.Constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %t = "onnx.Constant"() {value = dense<0.7> : tensor<f32>} : () -> tensor<f32>
  %low = "onnx.Constant"() {value = dense<-32768.0> : tensor<f32>} : () -> tensor<f32>
  %high = "onnx.Constant"() {value = dense<32767.0> : tensor<f32>} : () -> tensor<f32>
  %six = "onnx.Constant"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %none = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %v0 = "onnx.packed.MatMul"(%a, %w) <{N = 16 : i64}> : (tensor<?x4xf32>, tensor<1x4x16xf32>) -> tensor<?x16xf32>
  %v1 = "onnx.Div"(%v0, %s) : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
  %v2 = "onnx.Round"(%v1) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %v3 = "onnx.Clip"(%v2, %low, %high) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x16xf32>, tensor<f32>, tensor<f32>) -> tensor<?x16xf32>
  %v4 = "onnx.Mul"(%v3, %s) : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
  %v5 = "onnx.Clip"(%v4, %none, %six) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x16xf32>, tensor<f32>, tensor<f32>) -> tensor<?x16xf32>
  %v6 = "onnx.Div"(%v5, %t) : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
  %v7 = "onnx.Round"(%v6) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %v8 = "onnx.Clip"(%v7, %low, %high) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x16xf32>, tensor<f32>, tensor<f32>) -> tensor<?x16xf32>
  %v9 = "onnx.Mul"(%v8, %t) : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
  return %v9 : tensor<?x16xf32>
}

// -----

// The depthwise convolution that alone reads a 1x1 convolution's result is computed with it; a second one is a kernel of its own.
// CHECK: func.func @plan_run
// CHECK-COUNT-2: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func
// CHECK: onnx.packed.Conv
// CHECK: onnx.Relu
// CHECK: onnx.packed.GroupedConv
// CHECK: onnx.Relu
// CHECK: kernel.func
// CHECK: onnx.packed.GroupedConv
func.func @main(%x: tensor<?x1x128x128x16xf32>) -> tensor<?x4x128x128x16xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x1x1x16x16xf32>} : () -> tensor<4x1x1x1x16x16xf32>
  %d = "onnx.Constant"() {value = dense<1.0> : tensor<4x3x3x1x16xf32>} : () -> tensor<4x3x3x1x16xf32>
  %y = "onnx.packed.Conv"(%x, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<?x1x128x128x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<?x4x128x128x16xf32>
  %r = "onnx.Relu"(%y) : (tensor<?x4x128x128x16xf32>) -> tensor<?x4x128x128x16xf32>
  %z = "onnx.packed.GroupedConv"(%r, %d) <{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}> : (tensor<?x4x128x128x16xf32>, tensor<4x3x3x1x16xf32>) -> tensor<?x4x128x128x16xf32>
  %s = "onnx.Relu"(%z) : (tensor<?x4x128x128x16xf32>) -> tensor<?x4x128x128x16xf32>
  %q = "onnx.packed.GroupedConv"(%s, %d) <{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}> : (tensor<?x4x128x128x16xf32>, tensor<4x3x3x1x16xf32>) -> tensor<?x4x128x128x16xf32>
  return %q : tensor<?x4x128x128x16xf32>
}

// -----

// So is a pool of whole images, but not one that leaves more than a pixel of them, nor of a result that a second-level cache holds.
// CHECK: func.func @plan_run
// CHECK-COUNT-5: plan.launch
// CHECK-NOT: plan.launch
// CHECK: kernel.func
// CHECK: onnx.packed.Conv
// CHECK: onnx.Relu
// CHECK: onnx.packed.Pool
func.func @main(%x: tensor<?x1x1x4096x16xf32>, %v: tensor<?x1x1x512x16xf32>) -> (tensor<?x4x1x1x16xf32>, tensor<?x4x1x2048x16xf32>, tensor<?x4x1x1x16xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x1x1x16x16xf32>} : () -> tensor<4x1x1x1x16x16xf32>
  %y = "onnx.packed.Conv"(%x, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<?x1x1x4096x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<?x4x1x4096x16xf32>
  %r = "onnx.Relu"(%y) : (tensor<?x4x1x4096x16xf32>) -> tensor<?x4x1x4096x16xf32>
  %z = "onnx.packed.Pool"(%r) <{kernel_shape = array<i64: 1, 4096>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<?x4x1x4096x16xf32>) -> tensor<?x4x1x1x16xf32>
  %a = "onnx.packed.Conv"(%x, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<?x1x1x4096x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<?x4x1x4096x16xf32>
  %b = "onnx.packed.Pool"(%a) <{kernel_shape = array<i64: 1, 2>, strides = array<i64: 1, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<?x4x1x4096x16xf32>) -> tensor<?x4x1x2048x16xf32>
  %c = "onnx.packed.Conv"(%v, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<?x1x1x512x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<?x4x1x512x16xf32>
  %d = "onnx.packed.Pool"(%c) <{kernel_shape = array<i64: 1, 512>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}> : (tensor<?x4x1x512x16xf32>) -> tensor<?x4x1x1x16xf32>
  return %z, %b, %d : tensor<?x4x1x1x16xf32>, tensor<?x4x1x2048x16xf32>, tensor<?x4x1x1x16xf32>
}

// -----

// So is not one whose result another op reads as well, nor one whose plane only the run knows or no cache holds.
// CHECK: func.func @plan_run
// CHECK-COUNT-6: plan.launch
func.func @main(%x: tensor<1x1x128x128x16xf32>, %v: tensor<1x1x?x128x16xf32>, %l: tensor<1x1x512x512x16xf32>) -> (tensor<1x4x128x128x16xf32>, tensor<1x4x128x128x16xf32>, tensor<1x4x?x128x16xf32>, tensor<1x4x512x512x16xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x1x1x1x16x16xf32>} : () -> tensor<4x1x1x1x16x16xf32>
  %d = "onnx.Constant"() {value = dense<1.0> : tensor<4x3x3x1x16xf32>} : () -> tensor<4x3x3x1x16xf32>
  %y = "onnx.packed.Conv"(%x, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<1x1x128x128x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<1x4x128x128x16xf32>
  %z = "onnx.packed.GroupedConv"(%y, %d) <{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}> : (tensor<1x4x128x128x16xf32>, tensor<4x3x3x1x16xf32>) -> tensor<1x4x128x128x16xf32>
  %p = "onnx.packed.Conv"(%v, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<1x1x?x128x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<1x4x?x128x16xf32>
  %q = "onnx.packed.GroupedConv"(%p, %d) <{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}> : (tensor<1x4x?x128x16xf32>, tensor<4x3x3x1x16xf32>) -> tensor<1x4x?x128x16xf32>
  %c = "onnx.packed.Conv"(%l, %w) <{channels = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<1x1x512x512x16xf32>, tensor<4x1x1x1x16x16xf32>) -> tensor<1x4x512x512x16xf32>
  %e = "onnx.packed.GroupedConv"(%c, %d) <{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}> : (tensor<1x4x512x512x16xf32>, tensor<4x3x3x1x16xf32>) -> tensor<1x4x512x512x16xf32>
  return %y, %z, %q, %e : tensor<1x4x128x128x16xf32>, tensor<1x4x128x128x16xf32>, tensor<1x4x?x128x16xf32>, tensor<1x4x512x512x16xf32>
}

// -----

// A long function of fewer columns than a vector has is a kernel of its own.
// CHECK: func.func @plan_run
// CHECK-COUNT-2: plan.launch
// CHECK-NOT: plan.launch
// CHECK-DAG: kernel.func @packed_matmul_relu_f32
// CHECK-DAG: kernel.func @tanh_f32
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x3xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x4x16xf32>} : () -> tensor<1x4x16xf32>
  %y = "onnx.packed.MatMul"(%a, %w) <{N = 3 : i64}> : (tensor<?x4xf32>, tensor<1x4x16xf32>) -> tensor<?x3xf32>
  %r = "onnx.Relu"(%y) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %t = "onnx.Tanh"(%r) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %t : tensor<?x3xf32>
}

// -----

// What makes the other operand of an op behind the product is computed with it, unless something else reads it too.
// CHECK: func.func @plan_run
// CHECK-COUNT-3: plan.launch
// CHECK-NOT: plan.launch
// CHECK-DAG: kernel.func @packed_matmul_where_add_f32
// CHECK-DAG: kernel.func @neg_f32
// CHECK-DAG: kernel.func @packed_matmul_add_f32
func.func @main(%x: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<1x16x16xf32>} : () -> tensor<1x16x16xf32>
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %mask = "onnx.Constant"() {value = dense<[1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<16xi1>} : () -> tensor<16xi1>
  %m = "onnx.Where"(%mask, %x, %zero) : (tensor<16xi1>, tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
  %n = "onnx.Neg"(%x) : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %q = "onnx.packed.MatMul"(%x, %w) <{N = 16 : i64}> : (tensor<?x16xf32>, tensor<1x16x16xf32>) -> tensor<?x16xf32>
  %s = "onnx.Add"(%q, %m) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %t = "onnx.packed.MatMul"(%x, %w) <{N = 16 : i64}> : (tensor<?x16xf32>, tensor<1x16x16xf32>) -> tensor<?x16xf32>
  %u = "onnx.Add"(%t, %n) : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  return %s, %u, %n : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32>
}
