// RUN: onnxc-opt %s --fold-shapes | FileCheck %s

// ScatterND of boxes: indices that count upwards on each axis, and those that do not.

// All of the data: nothing of them is left.
// CHECK-LABEL: @whole
// CHECK-NEXT: return %arg1
func.func @whole(%x: tensor<3x5xf32>, %u: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %i = "onnx.Constant"() {value = dense<[[0], [1], [2]]> : tensor<3x1xi64>} : () -> tensor<3x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<3x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// A box inside on two axes: what is beside it on the last one lies within its rows, what is above and below has whole rows.
// CHECK-LABEL: @inside
// CHECK: %[[X:.*]] = "onnx.Concat"(%arg0, %arg1, %arg2)
// CHECK: %[[LEFT:.*]] = "onnx.Slice"(%[[X]]{{.*}} -> tensor<?x2xf32>
// CHECK: %[[RIGHT:.*]] = "onnx.Slice"(%[[X]]{{.*}} -> tensor<?x1xf32>
// CHECK: %[[ROWS:.*]] = "onnx.Concat"(%[[LEFT]], %arg3, %[[RIGHT]]) <{axis = 1 : i64}> : {{.*}} -> tensor<?x5xf32>
// CHECK: %[[ABOVE:.*]] = "onnx.Slice"(%[[X]]{{.*}} -> tensor<1x5xf32>
// CHECK: %[[BELOW:.*]] = "onnx.Slice"(%[[X]]{{.*}} -> tensor<3x5xf32>
// CHECK: "onnx.Concat"(%[[ABOVE]], %[[ROWS]], %[[BELOW]]) <{axis = 0 : i64}>
func.func @inside(%above: tensor<1x5xf32>, %m: tensor<?x5xf32> {onnx.dims = ["n", ""]}, %below: tensor<3x5xf32>, %u: tensor<?x2xf32> {onnx.dims = ["n", ""]}) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %c = "onnx.Constant"() {value = dense<[2, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %x = "onnx.Concat"(%above, %m, %below) {axis = 0 : i64} : (tensor<1x5xf32>, tensor<?x5xf32>, tensor<3x5xf32>) -> tensor<?x5xf32>
  %s = "onnx.Shape"(%u) : (tensor<?x2xf32>) -> tensor<2xi64>
  %n = "onnx.Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %end = "onnx.Add"(%n, %one) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %r = "onnx.Range"(%one, %end, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %v = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %rows = "onnx.Expand"(%v, %s) : (tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x2xi64>
  %columns = "onnx.Expand"(%c, %s) : (tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xi64>
  %a = "onnx.Unsqueeze"(%rows, %last) : (tensor<?x2xi64>, tensor<1xi64>) -> tensor<?x2x1xi64>
  %b = "onnx.Unsqueeze"(%columns, %last) : (tensor<?x2xi64>, tensor<1xi64>) -> tensor<?x2x1xi64>
  %i = "onnx.Concat"(%a, %b) {axis = 2 : i64} : (tensor<?x2x1xi64>, tensor<?x2x1xi64>) -> tensor<?x2x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x2x2xi64>, tensor<?x2xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Rows that count along the columns of the grid: a box on its side, whose updates would have to be turned.
// CHECK-LABEL: @turned
// CHECK-NOT: "onnx.ScatterND"
// CHECK: %[[TURNED:.*]] = "onnx.ScatterND"(%arg0
// CHECK: return %arg1, %[[TURNED]]
func.func @turned(%x: tensor<?x?xf32> {onnx.dims = ["n", "n"]}, %u: tensor<?x?xf32> {onnx.dims = ["n", "n"]}) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Shape"(%u) : (tensor<?x?xf32>) -> tensor<2xi64>
  %n = "onnx.Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %v = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %down = "onnx.Expand"(%v, %s) : (tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %right = "onnx.Expand"(%r, %s) : (tensor<?xi64>, tensor<2xi64>) -> tensor<?x?xi64>
  %a = "onnx.Unsqueeze"(%down, %last) : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %b = "onnx.Unsqueeze"(%right, %last) : (tensor<?x?xi64>, tensor<1xi64>) -> tensor<?x?x1xi64>
  %i = "onnx.Concat"(%a, %b) {axis = 2 : i64} : (tensor<?x?x1xi64>, tensor<?x?x1xi64>) -> tensor<?x?x2xi64>
  %j = "onnx.Concat"(%b, %a) {axis = 2 : i64} : (tensor<?x?x1xi64>, tensor<?x?x1xi64>) -> tensor<?x?x2xi64>
  %0 = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x?xf32>, tensor<?x?x2xi64>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "onnx.ScatterND"(%x, %j, %u) : (tensor<?x?xf32>, tensor<?x?x2xi64>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// Rows that are left out, that count downwards or from the end, more of them than the data have, and rows of the run.
// CHECK-LABEL: @other_rows
// CHECK-COUNT-5: "onnx.ScatterND"
func.func @other_rows(%x: tensor<6x5xf32>, %u: tensor<2x5xf32>, %run: tensor<2x1xi64>) -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %apart = "onnx.Constant"() {value = dense<[[1], [3]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %down = "onnx.Constant"() {value = dense<[[2], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %end = "onnx.Constant"() {value = dense<[[-1], [0]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %behind = "onnx.Constant"() {value = dense<[[5], [6]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %0 = "onnx.ScatterND"(%x, %apart, %u) : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %1 = "onnx.ScatterND"(%x, %down, %u) : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %2 = "onnx.ScatterND"(%x, %end, %u) : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %3 = "onnx.ScatterND"(%x, %behind, %u) : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %4 = "onnx.ScatterND"(%x, %run, %u) : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  return %0, %1, %2, %3, %4 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}

// Sums of what is there, or rows of unlike numbers of data and updates.
// CHECK-LABEL: @other_updates
// CHECK-COUNT-2: "onnx.ScatterND"
func.func @other_updates(%x: tensor<6x5xf32>, %u: tensor<2x5xf32>, %y: tensor<?x5xf32> {onnx.dims = ["n", ""]}, %v: tensor<?x5xf32> {onnx.dims = ["m", ""]}) -> (tensor<6x5xf32>, tensor<?x5xf32>) {
  %i = "onnx.Constant"() {value = dense<[[0], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Shape"(%v) : (tensor<?x5xf32>) -> tensor<2xi64>
  %n = "onnx.Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %j = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %0 = "onnx.ScatterND"(%x, %i, %u) <{reduction = "add"}> : (tensor<6x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<6x5xf32>
  %1 = "onnx.ScatterND"(%y, %j, %v) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %0, %1 : tensor<6x5xf32>, tensor<?x5xf32>
}

// What is left of numbers from 1 on begins with 2: two rows are before the box, one behind it.
// CHECK-LABEL: @later_rows
// CHECK: %[[BEFORE:.*]] = "onnx.Slice"(%{{.*}} -> tensor<2x5xf32>
// CHECK: %[[BEHIND:.*]] = "onnx.Slice"(%{{.*}} -> tensor<1x5xf32>
// CHECK: "onnx.Concat"(%[[BEFORE]], %{{.*}}, %[[BEHIND]]) <{axis = 0 : i64}>
func.func @later_rows(%n: tensor<i64>, %v: tensor<64x5xf32>, %c: tensor<3x5xf32>) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %q = "onnx.Range"(%one, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %start = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.Slice"(%q, %start, %all, %axis, %step) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %u = "onnx.Gather"(%v, %r) <{axis = 0 : i64}> : (tensor<64x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
  %m = "onnx.Neg"(%u) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %x = "onnx.Concat"(%c, %m) {axis = 0 : i64} : (tensor<3x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %i = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// The last number of a range is the one before it only where there are as many.
// CHECK-LABEL: @last_numbers
// CHECK: "onnx.ScatterND"
func.func @last_numbers(%n: tensor<i64>, %v: tensor<64x5xf32>, %c: tensor<3x5xf32>) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %q = "onnx.Range"(%two, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %start = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.Slice"(%q, %start, %all, %axis, %step) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %u = "onnx.Gather"(%v, %r) <{axis = 0 : i64}> : (tensor<64x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
  %m = "onnx.Neg"(%u) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %x = "onnx.Concat"(%c, %m) {axis = 0 : i64} : (tensor<3x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %i = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Every second number.
// CHECK-LABEL: @every_other
// CHECK: "onnx.ScatterND"
func.func @every_other(%n: tensor<i64>, %v: tensor<64x5xf32>, %c: tensor<3x5xf32>) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %q = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %start = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.Slice"(%q, %start, %all, %axis, %step) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (tensor<?xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
  %u = "onnx.Gather"(%v, %r) <{axis = 0 : i64}> : (tensor<64x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
  %m = "onnx.Neg"(%u) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %x = "onnx.Concat"(%c, %m) {axis = 0 : i64} : (tensor<3x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %i = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Nor those of a range of steps of two.
// CHECK-LABEL: @steps
// CHECK: "onnx.ScatterND"
func.func @steps(%n: tensor<i64>, %v: tensor<64x5xf32>, %c: tensor<3x5xf32>) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %axis = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.Range"(%zero, %n, %two) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %u = "onnx.Gather"(%v, %r) <{axis = 0 : i64}> : (tensor<64x5xf32>, tensor<?xi64>) -> tensor<?x5xf32>
  %m = "onnx.Neg"(%u) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %x = "onnx.Concat"(%c, %m) {axis = 0 : i64} : (tensor<3x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %i = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// Indices that are constants altogether, as those of known sizes are when this runs: a box of two axes, one that a part gives.
// CHECK-LABEL: @constants
// CHECK: %[[LEFT:.*]] = "onnx.Slice"(%arg0{{.*}} -> tensor<2x2xf32>
// CHECK: %[[ROWS:.*]] = "onnx.Concat"(%[[LEFT]], %arg1) <{axis = 1 : i64}> : {{.*}} -> tensor<2x5xf32>
// CHECK: %[[ABOVE:.*]] = "onnx.Slice"(%arg0{{.*}} -> tensor<1x5xf32>
// CHECK: "onnx.Concat"(%[[ABOVE]], %[[ROWS]]) <{axis = 0 : i64}>
func.func @constants(%x: tensor<3x5xf32>, %u: tensor<2x3xf32>) -> tensor<3x5xf32> {
  %i = "onnx.Constant"() {value = dense<[[[1, 2], [1, 3], [1, 4]], [[2, 2], [2, 3], [2, 4]]]> : tensor<2x3x2xi64>} : () -> tensor<2x3x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<3x5xf32>, tensor<2x3x2xi64>, tensor<2x3xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// One place out of turn, the axes in another order, a column left out.
// CHECK-LABEL: @constants_of_no_box
// CHECK-COUNT-3: "onnx.ScatterND"
func.func @constants_of_no_box(%x: tensor<3x5xf32>, %u: tensor<2x2xf32>) -> tensor<3x5xf32> {
  %i = "onnx.Constant"() {value = dense<[[[1, 2], [1, 3]], [[2, 2], [2, 4]]]> : tensor<2x2x2xi64>} : () -> tensor<2x2x2xi64>
  %t = "onnx.Constant"() {value = dense<[[[1, 2], [2, 2]], [[1, 3], [2, 3]]]> : tensor<2x2x2xi64>} : () -> tensor<2x2x2xi64>
  %g = "onnx.Constant"() {value = dense<[[[1, 2], [1, 4]], [[2, 2], [2, 4]]]> : tensor<2x2x2xi64>} : () -> tensor<2x2x2xi64>
  %a = "onnx.ScatterND"(%x, %i, %u) : (tensor<3x5xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<3x5xf32>
  %b = "onnx.ScatterND"(%a, %t, %u) : (tensor<3x5xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<3x5xf32>
  %y = "onnx.ScatterND"(%b, %g, %u) : (tensor<3x5xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
