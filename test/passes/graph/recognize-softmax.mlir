// RUN: onnxc-opt %s --recognize --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --recognize --fuse-attention --split-input-file | FileCheck %s --check-prefix=ATTENTION
// RUN: onnxc-opt %s --decompose --recognize --split-input-file | FileCheck %s --check-prefix=COLUMNS

// Softmax and LogSoftmax in pieces, and pieces that are nearly those.

// CHECK-LABEL: @shifted
// CHECK-NEXT: %[[Y:.*]] = "onnx.Softmax"(%arg0) <{axis = 2 : i64}>
// CHECK-NEXT: return %[[Y]]
func.func @shifted(%x: tensor<?x7x8xf32>) -> tensor<?x7x8xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %m = "onnx.ReduceMax"(%x, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %e = "onnx.Exp"(%d) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %y = "onnx.Div"(%e, %s) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  return %y : tensor<?x7x8xf32>
}

// -----

// Without the maximum, times one over the sum, whose axis comes back in a view.
// CHECK-LABEL: @without_maximum
// CHECK-NEXT: %[[Y:.*]] = "onnx.Softmax"(%arg0) <{axis = 1 : i64}>
// CHECK-NEXT: return %[[Y]]
func.func @without_maximum(%x: tensor<?x?x8x?xf32>) -> tensor<?x?x8x?xf32> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<?x?x8x?xf32>) -> tensor<?x?x8x?xf32>
  %s = "onnx.ReduceSum"(%e, %axes) <{keepdims = 0 : i64}> : (tensor<?x?x8x?xf32>, tensor<1xi64>) -> tensor<?x8x?xf32>
  %r = "onnx.Reciprocal"(%s) : (tensor<?x8x?xf32>) -> tensor<?x8x?xf32>
  %u = "onnx.Unsqueeze"(%r, %axes) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x1x8x?xf32>
  %y = "onnx.Mul"(%u, %e) : (tensor<?x1x8x?xf32>, tensor<?x?x8x?xf32>) -> tensor<?x?x8x?xf32>
  return %y : tensor<?x?x8x?xf32>
}

// -----

// A maximum that begins with -inf and is spread, as JAX has it.
// CHECK-LABEL: @as_jax
// CHECK-NEXT: %[[Y:.*]] = "onnx.Softmax"(%arg0) <{axis = 2 : i64}>
// CHECK-NEXT: return %[[Y]]
func.func @as_jax(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %axes = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %back = "onnx.Constant"() {value = dense<[2, 4, 1]> : tensor<3xi64>} : () -> tensor<3xi64>
  %least = "onnx.Constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %whole = "onnx.Constant"() {value = dense<[2, 4, 8]> : tensor<3xi64>} : () -> tensor<3xi64>
  %m = "onnx.ReduceMax"(%x, %axes) <{keepdims = 0 : i64}> : (tensor<2x4x8xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  %n = "onnx.Max"(%least, %m) : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %k = "onnx.Reshape"(%n, %back) : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x4x1xf32>
  %w = "onnx.Expand"(%k, %whole) : (tensor<2x4x1xf32>, tensor<3xi64>) -> tensor<2x4x8xf32>
  %d = "onnx.Sub"(%x, %w) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %e = "onnx.Exp"(%d) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<2x4x8xf32>, tensor<1xi64>) -> tensor<2x4x1xf32>
  %i = "onnx.Div"(%one, %s) : (tensor<f32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = "onnx.Mul"(%e, %i) : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Along neighbouring axes, which are one in a view.
// CHECK-LABEL: @two_axes
// CHECK: %[[R:.*]] = "onnx.Reshape"(%arg0, %{{.*}}) {{.*}} -> tensor<?x3x?x5xf32>
// CHECK: %[[S:.*]] = "onnx.Softmax"(%[[R]]) <{axis = 2 : i64}>
// CHECK: %[[Y:.*]] = "onnx.Reshape"(%[[S]], %{{.*}}) {{.*}} -> tensor<?x3x4x?x5xf32>
// CHECK: return %[[Y]]
func.func @two_axes(%x: tensor<?x3x4x?x5xf32>) -> tensor<?x3x4x?x5xf32> {
  %axes = "onnx.Constant"() {value = dense<[-2, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %m = "onnx.ReduceMax"(%x, %axes) : (tensor<?x3x4x?x5xf32>, tensor<2xi64>) -> tensor<?x3x1x1x5xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<?x3x4x?x5xf32>, tensor<?x3x1x1x5xf32>) -> tensor<?x3x4x?x5xf32>
  %e = "onnx.Exp"(%d) : (tensor<?x3x4x?x5xf32>) -> tensor<?x3x4x?x5xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<?x3x4x?x5xf32>, tensor<2xi64>) -> tensor<?x3x1x1x5xf32>
  %y = "onnx.Div"(%e, %s) : (tensor<?x3x4x?x5xf32>, tensor<?x3x1x1x5xf32>) -> tensor<?x3x4x?x5xf32>
  return %y : tensor<?x3x4x?x5xf32>
}

// -----

// A maximum of the row, or of all rows, less which the softmax is the same.
// CHECK-LABEL: @maximum_before
// CHECK-NEXT: "onnx.Softmax"(%arg0)
// CHECK-NEXT: "onnx.LogSoftmax"(%arg0)
// CHECK-NEXT: return
func.func @maximum_before(%x: tensor<?x7x8xf32>) -> (tensor<?x7x8xf32>, tensor<?x7x8xf32>) {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<[0, 1, 2]> : tensor<3xi64>} : () -> tensor<3xi64>
  %m = "onnx.ReduceMax"(%x, %all) : (tensor<?x7x8xf32>, tensor<3xi64>) -> tensor<1x1x1xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<?x7x8xf32>, tensor<1x1x1xf32>) -> tensor<?x7x8xf32>
  %y = "onnx.Softmax"(%d) <{axis = -1 : i64}> : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %n = "onnx.ReduceMax"(%x, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %f = "onnx.Sub"(%x, %n) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %z = "onnx.LogSoftmax"(%f) <{axis = -1 : i64}> : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  return %y, %z : tensor<?x7x8xf32>, tensor<?x7x8xf32>
}

// -----

// Less the logarithm of a sum of powers: of the differences, by ReduceLogSumExp, e to that, as torch.logsumexp writes it, without a maximum.
// CHECK-LABEL: @logarithms
// CHECK: %[[A:.*]] = "onnx.LogSoftmax"(%arg0) <{axis = 2 : i64}>
// CHECK: %[[B:.*]] = "onnx.LogSoftmax"(%arg0) <{axis = 2 : i64}>
// CHECK: %[[C:.*]] = "onnx.Softmax"(%arg1) <{axis = 2 : i64}>
// CHECK: %[[D:.*]] = "onnx.LogSoftmax"(%arg2) <{axis = 2 : i64}>
// CHECK: %[[E:.*]] = "onnx.LogSoftmax"(%arg3) <{axis = 2 : i64}>
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
func.func @logarithms(%x: tensor<?x7x8xf32>, %z: tensor<?x7x8xf32>, %w: tensor<?x7x8xf32>, %t: tensor<?x7x8xf32>) -> (tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>) {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %m = "onnx.ReduceMax"(%x, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %e = "onnx.Exp"(%d) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %l = "onnx.Log"(%s) : (tensor<?x7x1xf32>) -> tensor<?x7x1xf32>
  %y0 = "onnx.Sub"(%d, %l) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %r = "onnx.ReduceLogSumExp"(%x, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %y1 = "onnx.Sub"(%x, %r) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %q = "onnx.ReduceLogSumExp"(%z, %axes) <{keepdims = 0 : i64}> : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7xf32>
  %u = "onnx.Unsqueeze"(%q, %axes) : (tensor<?x7xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %v = "onnx.Sub"(%z, %u) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %y2 = "onnx.Exp"(%v) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %wm = "onnx.ReduceMax"(%w, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %wd = "onnx.Sub"(%w, %wm) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %we = "onnx.Exp"(%wd) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %ws = "onnx.ReduceSum"(%we, %axes) <{keepdims = 0 : i64}> : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7xf32>
  %wl = "onnx.Log"(%ws) : (tensor<?x7xf32>) -> tensor<?x7xf32>
  %wq = "onnx.Squeeze"(%wm, %axes) : (tensor<?x7x1xf32>, tensor<1xi64>) -> tensor<?x7xf32>
  %wt = "onnx.Add"(%wl, %wq) : (tensor<?x7xf32>, tensor<?x7xf32>) -> tensor<?x7xf32>
  %wu = "onnx.Unsqueeze"(%wt, %axes) : (tensor<?x7xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %y3 = "onnx.Sub"(%w, %wu) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  %te = "onnx.Exp"(%t) : (tensor<?x7x8xf32>) -> tensor<?x7x8xf32>
  %tl = "onnx.ReduceLogSum"(%te, %axes) : (tensor<?x7x8xf32>, tensor<1xi64>) -> tensor<?x7x1xf32>
  %y4 = "onnx.Sub"(%t, %tl) : (tensor<?x7x8xf32>, tensor<?x7x1xf32>) -> tensor<?x7x8xf32>
  return %y0, %y1, %y2, %y3, %y4 : tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>, tensor<?x7x8xf32>
}

// -----

// Scales, masks and products around it are one attention.
// CHECK-LABEL: @attention
// ATTENTION-LABEL: @attention
// ATTENTION: "onnx.packed.Attention"
// ATTENTION-NOT: onnx.Exp
// ATTENTION: return
func.func @attention(%q: tensor<2x4x40x16xf32>, %k: tensor<2x4x16x40xf32>, %v: tensor<2x4x40x16xf32>, %mask: tensor<40x40xf32>) -> tensor<2x4x40x16xf32> {
  %axes = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %f = "onnx.Constant"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %p = "onnx.MatMul"(%q, %k) : (tensor<2x4x40x16xf32>, tensor<2x4x16x40xf32>) -> tensor<2x4x40x40xf32>
  %n = "onnx.Mul"(%p, %f) : (tensor<2x4x40x40xf32>, tensor<f32>) -> tensor<2x4x40x40xf32>
  %x = "onnx.Add"(%n, %mask) : (tensor<2x4x40x40xf32>, tensor<40x40xf32>) -> tensor<2x4x40x40xf32>
  %m = "onnx.ReduceMax"(%x, %axes) : (tensor<2x4x40x40xf32>, tensor<1xi64>) -> tensor<2x4x40x1xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
  %e = "onnx.Exp"(%d) : (tensor<2x4x40x40xf32>) -> tensor<2x4x40x40xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<2x4x40x40xf32>, tensor<1xi64>) -> tensor<2x4x40x1xf32>
  %w = "onnx.Div"(%e, %s) : (tensor<2x4x40x40xf32>, tensor<2x4x40x1xf32>) -> tensor<2x4x40x40xf32>
  %y = "onnx.MatMul"(%w, %v) : (tensor<2x4x40x40xf32>, tensor<2x4x40x16xf32>) -> tensor<2x4x40x16xf32>
  return %y : tensor<2x4x40x16xf32>
}

// -----

// Reductions of a few columns stay whole for it; others do not.
// COLUMNS-LABEL: @few_columns
// COLUMNS: "onnx.Softmax"(%arg0) <{axis = 1 : i64}>
// COLUMNS: "onnx.Reshape"(%arg0
func.func @few_columns(%x: tensor<2x64x4xf32>) -> (tensor<2x64x4xf32>, tensor<2x1x4xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %m = "onnx.ReduceMax"(%x, %axes) : (tensor<2x64x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  %d = "onnx.Sub"(%x, %m) : (tensor<2x64x4xf32>, tensor<2x1x4xf32>) -> tensor<2x64x4xf32>
  %e = "onnx.Exp"(%d) : (tensor<2x64x4xf32>) -> tensor<2x64x4xf32>
  %s = "onnx.ReduceSum"(%e, %axes) : (tensor<2x64x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  %y = "onnx.Div"(%e, %s) : (tensor<2x64x4xf32>, tensor<2x1x4xf32>) -> tensor<2x64x4xf32>
  %t = "onnx.ReduceSum"(%x, %axes) : (tensor<2x64x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  return %y, %t : tensor<2x64x4xf32>, tensor<2x1x4xf32>
}

// -----

// Over the sum of other powers, over more than the sum, the sum over the powers, and times the sum.
// CHECK-LABEL: @other_quotients
// CHECK-NOT: onnx.Softmax
// CHECK: return
func.func @other_quotients(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %eps = "onnx.Constant"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %e = "onnx.Exp"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = "onnx.Exp"(%z) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "onnx.ReduceSum"(%e, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %t = "onnx.ReduceSum"(%o, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %y0 = "onnx.Div"(%e, %t) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %p = "onnx.Add"(%s, %eps) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %y1 = "onnx.Div"(%e, %p) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %y2 = "onnx.Div"(%s, %e) : (tensor<8x1xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y3 = "onnx.Mul"(%o, %t) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %y0, %y1, %y2, %y3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Powers and logarithms that others read stay; another value less the logarithm, or less the sum, is none.
// CHECK-LABEL: @read_by_others
// CHECK-NOT: Softmax
// CHECK: return
func.func @read_by_others(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "onnx.ReduceSum"(%e, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %y0 = "onnx.Div"(%e, %s) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %y1 = "onnx.Relu"(%e) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %l = "onnx.ReduceLogSumExp"(%x, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %y2 = "onnx.Sub"(%x, %l) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %g = "onnx.Log"(%s) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %y3 = "onnx.Sub"(%z, %g) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %s0 = "onnx.ReduceSum"(%e, %last) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %y4 = "onnx.Sub"(%x, %s) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %y0, %y1, %y2, %l, %y3, %y4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x1xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Sums that meet another axis than their own, or sizes of the run that a view may exchange.
// CHECK-LABEL: @other_views
// CHECK-NOT: Softmax
// CHECK: return
func.func @other_views(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>, %w: tensor<?x?x8xf32>, %shape: tensor<3xi64>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<?x?x8xf32>) {
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %across = "onnx.Constant"() {value = dense<[1, 8]> : tensor<2xi64>} : () -> tensor<2xi64>
  %e = "onnx.Exp"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = "onnx.ReduceSum"(%e, %last) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %y0 = "onnx.Div"(%e, %s) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %f = "onnx.Exp"(%z) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = "onnx.ReduceSum"(%f, %last) <{keepdims = 0 : i64}> : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8xf32>
  %u = "onnx.Reshape"(%t, %across) : (tensor<8xf32>, tensor<2xi64>) -> tensor<1x8xf32>
  %y1 = "onnx.Div"(%f, %u) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %g = "onnx.Exp"(%w) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %v = "onnx.ReduceSum"(%g, %last) <{keepdims = 0 : i64}> : (tensor<?x?x8xf32>, tensor<1xi64>) -> tensor<?x?xf32>
  %k = "onnx.Reshape"(%v, %shape) : (tensor<?x?xf32>, tensor<3xi64>) -> tensor<?x?x1xf32>
  %y2 = "onnx.Div"(%g, %k) : (tensor<?x?x8xf32>, tensor<?x?x1xf32>) -> tensor<?x?x8xf32>
  return %y0, %y1, %y2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<?x?x8xf32>
}

// -----

// Along axes that are no neighbours, doubles, less a maximum along another axis, less the least.
// CHECK-LABEL: @other_rows
// CHECK: "onnx.Div"
// CHECK: "onnx.Div"
// CHECK: "onnx.Sub"
// CHECK: "onnx.Sub"
// CHECK: return
func.func @other_rows(%x: tensor<2x4x8xf32>, %d: tensor<4x8xf64>, %z: tensor<8x8xf32>) -> (tensor<2x4x8xf32>, tensor<4x8xf64>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %apart = "onnx.Constant"() {value = dense<[0, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %first = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %e = "onnx.Exp"(%x) : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %s = "onnx.ReduceSum"(%e, %apart) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<1x4x1xf32>
  %y0 = "onnx.Div"(%e, %s) : (tensor<2x4x8xf32>, tensor<1x4x1xf32>) -> tensor<2x4x8xf32>
  %f = "onnx.Exp"(%d) : (tensor<4x8xf64>) -> tensor<4x8xf64>
  %t = "onnx.ReduceSum"(%f, %last) : (tensor<4x8xf64>, tensor<1xi64>) -> tensor<4x1xf64>
  %y1 = "onnx.Div"(%f, %t) : (tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xf64>
  %m = "onnx.ReduceMax"(%z, %first) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %g = "onnx.Sub"(%z, %m) : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %y2 = "onnx.Softmax"(%g) <{axis = 1 : i64}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = "onnx.ReduceMin"(%z, %last) : (tensor<8x8xf32>, tensor<1xi64>) -> tensor<8x1xf32>
  %h = "onnx.Sub"(%z, %n) : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %y3 = "onnx.Softmax"(%h) <{axis = 1 : i64}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y0, %y1, %y2, %y3 : tensor<2x4x8xf32>, tensor<4x8xf64>, tensor<8x8xf32>, tensor<8x8xf32>
}
