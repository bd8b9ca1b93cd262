// RUN: onnxc-opt %s --fuse-attention | FileCheck %s

// What lies between two products is an attention only where the kernel computes the same: of forty keys, all but one condition are met.

// Scores that something else reads, and weights that the model gives away.
// CHECK-LABEL: @shown
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @shown(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>) -> (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%s2) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %s, %o, %p2, %o2 : tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>
}

// A softmax over queries.
// CHECK-LABEL: @queries
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @queries(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = 2 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// Numbers that the scores divide, and a scale of zero, which the kernel would put into the queries.
// CHECK-LABEL: @divisors
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @divisors(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %one: tensor<2x4x40x40xf32>) -> (tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>) {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %d = "onnx.Div"(%one, %s) : (tensor<2x4x40x40xf32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%d) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %z = "onnx.Mul"(%s2, %zero) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%z) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o, %o2 : tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>
}

// A factor of each query multiplies the queries, or divides them; one of each key cannot, nor can a second one.
// CHECK-LABEL: @factors
// CHECK: %[[Q:.*]] = "onnx.Div"(%arg0, %arg3)
// CHECK: "onnx.packed.Attention"(%[[Q]], %arg1, %arg2)
// CHECK-COUNT-2: "onnx.Softmax"
func.func @factors(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %row: tensor<40x1xf32>, %column: tensor<40xf32>) -> (tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>) {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %f = "onnx.Div"(%s, %row) : (tensor<2x4x40x40xf32>, tensor<40x1xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%f) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %g = "onnx.Mul"(%s2, %column) : (tensor<2x4x40x40xf32>, tensor<40xf32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%g) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s3 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %h = "onnx.Mul"(%s3, %row) : (tensor<2x4x40x40xf32>, tensor<40x1xf32>) -> tensor<2x4x40x40xf32>
  %i = "onnx.Mul"(%h, %row) : (tensor<2x4x40x40xf32>, tensor<40x1xf32>) -> tensor<2x4x40x40xf32>
  %p3 = "onnx.Softmax"(%i) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o3 = "onnx.MatMul"(%p3, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o, %o2, %o3 : tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>
}

// Scales and masks of positions come before what is added.
// CHECK-LABEL: @order
// CHECK-COUNT-2: "onnx.Softmax"
// CHECK: "onnx.packed.Attention"(%arg2, %arg1, %arg2, %arg4, %arg3) <{{.*}}fill = 0xFF800000 : f32, keepIf = 0 : i64
func.func @order(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %mask: tensor<40x40xf32>, %keep: tensor<40x40xi1>) -> (tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>) {
  %half = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %none = "onnx.Constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %a = "onnx.Add"(%s, %mask) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %b = "onnx.Mul"(%a, %half) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%b) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %c = "onnx.Add"(%s2, %mask) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %d = "onnx.Where"(%keep, %c, %none) : (tensor<40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%d) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s3 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %e = "onnx.Where"(%keep, %none, %s3) : (tensor<40x40xi1>, tensor<f32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %f = "onnx.Add"(%e, %mask) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %p3 = "onnx.Softmax"(%f) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o3 = "onnx.MatMul"(%p3, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o, %o2, %o3 : tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>
}

// What masked scores become is a number of the model's.
// CHECK-LABEL: @fill_of_the_run
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @fill_of_the_run(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %keep: tensor<40x40xi1>, %fill: tensor<f32>) -> tensor<2x4x40x8xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %w = "onnx.Where"(%keep, %s, %fill) : (tensor<40x40xi1>, tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%w) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// Two masks of their own sizes, and others that are added to one of them; a third size has no place.
// CHECK-LABEL: @masks
// CHECK: %[[A:.*]] = "onnx.Add"(%arg3, %arg3)
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2, %[[A]], %arg4)
// CHECK: "onnx.Softmax"
func.func @masks(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>, %a: tensor<40x40xf32>, %b: tensor<2x1x1x40xf32>, %c: tensor<40xf32>) -> (tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>) {
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %x = "onnx.Add"(%s, %a) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %y = "onnx.Add"(%x, %b) : (tensor<2x4x40x40xf32>, tensor<2x1x1x40xf32>) -> tensor<2x4x40x40xf32>
  %z = "onnx.Add"(%y, %a) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%z) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %x2 = "onnx.Add"(%s2, %a) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %y2 = "onnx.Add"(%x2, %b) : (tensor<2x4x40x40xf32>, tensor<2x1x1x40xf32>) -> tensor<2x4x40x40xf32>
  %z2 = "onnx.Add"(%y2, %c) : (tensor<2x4x40x40xf32>, tensor<40xf32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%z2) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o, %o2 : tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>
}

// Of weights that are no number zero is made of the same weights, and nothing else.
// CHECK-LABEL: @no_numbers
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @no_numbers(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>) -> (tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>) {
  %zero = "onnx.Constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %n = "onnx.IsNaN"(%p) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xi1>
  %w = "onnx.Where"(%n, %one, %p) : (tensor<2x4x40x40xi1>, tensor<f32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%w, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  %s2 = "onnx.MatMul"(%v, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p2 = "onnx.Softmax"(%s2) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %n2 = "onnx.IsNaN"(%s2) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xi1>
  %w2 = "onnx.Where"(%n2, %zero, %p2) : (tensor<2x4x40x40xi1>, tensor<f32>, tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o2 = "onnx.MatMul"(%w2, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o, %o2 : tensor<2x4x40x8xf32>, tensor<2x4x40x8xf32>
}

// A view that takes queries for keys: the softmax is over other numbers.
// CHECK-LABEL: @turned_scores
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @turned_scores(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %list = "onnx.Constant"() {value = dense<[2, 4, 80, 20]> : tensor<4xi64>} : () -> tensor<4xi64>
  %back = "onnx.Constant"() {value = dense<[2, 4, 40, 40]> : tensor<4xi64>} : () -> tensor<4xi64>
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %t = "onnx.Reshape"(%s, %list) : (tensor<2x4x40x40xf32>, tensor<4xi64>) -> tensor<2x4x80x20xf32>
  %w = "onnx.Softmax"(%t) <{axis = -1 : i64}> : (tensor<2x4x80x20xf32>) -> tensor<2x4x80x20xf32>
  %p = "onnx.Reshape"(%w, %back) : (tensor<2x4x80x20xf32>, tensor<4xi64>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// Values that the model has are packed for a product.
// CHECK-LABEL: @constant_values
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @constant_values(%q: tensor<2x4x40x8xf32>, %k: tensor<2x4x8x40xf32>, %v: tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x4x40x8xf32>} : () -> tensor<2x4x40x8xf32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x8xf32>, tensor<2x4x8x40xf32>) -> tensor<2x4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %o = "onnx.MatMul"(%p, %w) : (tensor<2x4x40x40xf32>, tensor<2x4x40x8xf32>) -> tensor<2x4x40x8xf32>
  return %o : tensor<2x4x40x8xf32>
}

// A mask of several batches spreads the scores of one.
// CHECK-LABEL: @spread
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @spread(%q: tensor<1x40x8xf32>, %k: tensor<1x8x40xf32>, %v: tensor<2x40x8xf32>, %mask: tensor<2x40x40xf32>) -> tensor<2x40x8xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<1x40x8xf32>, tensor<1x8x40xf32>) -> tensor<1x40x40xf32>
  %m = "onnx.Add"(%s, %mask) : (tensor<1x40x40xf32>, tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %p = "onnx.Softmax"(%m) <{axis = -1 : i64}> : (tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<2x40x40xf32>, tensor<2x40x8xf32>) -> tensor<2x40x8xf32>
  return %o : tensor<2x40x8xf32>
}

// Keys and values are of the same heads: one for all, or as many as queries.
// CHECK-LABEL: @heads
// CHECK: "onnx.packed.Attention"(%arg0, %arg1, %arg2)
// CHECK: "onnx.Softmax"
func.func @heads(%q: tensor<4x40x8xf32>, %k: tensor<1x8x40xf32>, %v: tensor<1x40x8xf32>, %w: tensor<4x40x8xf32>) -> (tensor<4x40x8xf32>, tensor<4x40x8xf32>) {
  %s = "onnx.MatMul"(%q, %k) : (tensor<4x40x8xf32>, tensor<1x8x40xf32>) -> tensor<4x40x40xf32>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<4x40x40xf32>, tensor<1x40x8xf32>) -> tensor<4x40x8xf32>
  %s2 = "onnx.MatMul"(%w, %k) : (tensor<4x40x8xf32>, tensor<1x8x40xf32>) -> tensor<4x40x40xf32>
  %p2 = "onnx.Softmax"(%s2) <{axis = -1 : i64}> : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %w) : (tensor<4x40x40xf32>, tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  return %o, %o2 : tensor<4x40x8xf32>, tensor<4x40x8xf32>
}

// Doubles have the products that they ask for.
// CHECK-LABEL: @doubles
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @doubles(%q: tensor<40x8xf64>, %k: tensor<8x40xf64>) -> tensor<40x8xf64> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<40x8xf64>, tensor<8x40xf64>) -> tensor<40x40xf64>
  %p = "onnx.Softmax"(%s) <{axis = -1 : i64}> : (tensor<40x40xf64>) -> tensor<40x40xf64>
  %o = "onnx.MatMul"(%p, %q) : (tensor<40x40xf64>, tensor<40x8xf64>) -> tensor<40x8xf64>
  return %o : tensor<40x8xf64>
}

// A mask of unknown size beside values that the keys do not count, which may make more of one key; and a factor or a second cap behind a cap.
// CHECK-LABEL: @unknown_mask
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @unknown_mask(%q: tensor<4x40x8xf32>, %k: tensor<4x8x?xf32> {onnx.dims = ["", "", "n"]}, %v: tensor<4x?x8xf32> {onnx.dims = ["", "t", ""]}, %mask: tensor<40x?xf32> {onnx.dims = ["", "t"]}) -> tensor<4x40x8xf32> {
  %s = "onnx.MatMul"(%q, %k) : (tensor<4x40x8xf32>, tensor<4x8x?xf32>) -> tensor<4x40x?xf32>
  %m = "onnx.Add"(%s, %mask) : (tensor<4x40x?xf32>, tensor<40x?xf32>) -> tensor<4x40x?xf32>
  %p = "onnx.Softmax"(%m) <{axis = -1 : i64}> : (tensor<4x40x?xf32>) -> tensor<4x40x?xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<4x40x?xf32>, tensor<4x?x8xf32>) -> tensor<4x40x8xf32>
  return %o : tensor<4x40x8xf32>
}
// CHECK-LABEL: @caps
// CHECK-NOT: packed.Attention
// CHECK: return
func.func @caps(%q: tensor<4x40x8xf32>, %k: tensor<4x8x40xf32>, %v: tensor<4x40x8xf32>) -> (tensor<4x40x8xf32>, tensor<4x40x8xf32>) {
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %less = "onnx.Constant"() {value = dense<-2.0> : tensor<f32>} : () -> tensor<f32>
  %s = "onnx.MatMul"(%q, %k) : (tensor<4x40x8xf32>, tensor<4x8x40xf32>) -> tensor<4x40x40xf32>
  %h = "onnx.Tanh"(%s) : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %c = "onnx.Mul"(%h, %two) : (tensor<4x40x40xf32>, tensor<f32>) -> tensor<4x40x40xf32>
  %d = "onnx.Div"(%c, %two) : (tensor<4x40x40xf32>, tensor<f32>) -> tensor<4x40x40xf32>
  %p = "onnx.Softmax"(%d) <{axis = -1 : i64}> : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %o = "onnx.MatMul"(%p, %v) : (tensor<4x40x40xf32>, tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  %s2 = "onnx.MatMul"(%q, %k) : (tensor<4x40x8xf32>, tensor<4x8x40xf32>) -> tensor<4x40x40xf32>
  %h2 = "onnx.Tanh"(%s2) : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %c2 = "onnx.Mul"(%h2, %less) : (tensor<4x40x40xf32>, tensor<f32>) -> tensor<4x40x40xf32>
  %p2 = "onnx.Softmax"(%c2) <{axis = -1 : i64}> : (tensor<4x40x40xf32>) -> tensor<4x40x40xf32>
  %o2 = "onnx.MatMul"(%p2, %v) : (tensor<4x40x40xf32>, tensor<4x40x8xf32>) -> tensor<4x40x8xf32>
  return %o, %o2 : tensor<4x40x8xf32>, tensor<4x40x8xf32>
}
