// RUN: onnxc-opt %s --fold-shapes --split-input-file | FileCheck %s

// The -1 of a reshape is a quotient of products: batch*12*64 / (batch*12).
// CHECK-LABEL: @quotient
func.func @quotient(%x: tensor<?x12x64xf32> {onnx.dims = ["batch", "", ""]}) -> tensor<*xf32> {
  %s = "onnx.Shape"(%x) : (tensor<?x12x64xf32>) -> tensor<3xi64>
  %i = "onnx.Constant"() {value = dense<[0, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %g = "onnx.Gather"(%s, %i) : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
  %p = "onnx.ReduceProd"(%g) {keepdims = 1 : i64} : (tensor<2xi64>) -> tensor<1xi64>
  %m = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %t = "onnx.Concat"(%p, %m) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  // CHECK: %[[T:.*]] = "onnx.Constant"() <{value = dense<[-1, 64]> : tensor<2xi64>}>
  // CHECK: "onnx.Reshape"(%arg0, %[[T]]){{.*}} -> tensor<?x64xf32>
  %r = "onnx.Reshape"(%x, %t) : (tensor<?x12x64xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// Shape, Cast, Mul 0.5, Floor, Cast: fractions of a size are followed.
// CHECK-LABEL: @half
// CHECK-SAME: -> tensor<4xf32>
func.func @half(%x: tensor<9x?xf32>) -> tensor<?xf32> {
  %s = "onnx.Shape"(%x) {end = 1 : i64} : (tensor<9x?xf32>) -> tensor<1xi64>
  %f = "onnx.Cast"(%s) {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %h = "onnx.Constant"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %m = "onnx.Mul"(%f, %h) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %l = "onnx.Floor"(%m) : (tensor<1xf32>) -> tensor<1xf32>
  %n = "onnx.Cast"(%l) {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  // CHECK: "onnx.Constant"() <{value = dense<4> : tensor<1xi64>}>
  %r = "onnx.ConstantOfShape"(%n) : (tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Known entries of a list of scales leave their axes as they are.
// CHECK-LABEL: @scales_of_the_run
func.func @scales_of_the_run(%x: tensor<?x3x?x?xf32>, %scale: tensor<1xf32>) -> tensor<*xf32> {
  %one = "onnx.Constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %scales = "onnx.Concat"(%one, %scale, %scale) {axis = 0 : i64} : (tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4xf32>
  // CHECK: "onnx.Resize"{{.*}} -> tensor<?x3x?x?xf32>
  %r = "onnx.Resize"(%x, %scales) {mode = "linear", operandSegmentSizes = array<i32: 1, 0, 1, 0>} : (tensor<?x3x?x?xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// A label whose size is 1 wherever it stands, in a result of which inference knew less.
// CHECK-LABEL: @einsum_of_ones
// CHECK: "onnx.Einsum"{{.*}} -> tensor<3x1x5xf32>
func.func @einsum_of_ones(%x: tensor<3x1x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x?x5xf32> {
  %r = "onnx.Einsum"(%x, %w) {equation = "ibh,hd->ibd"} : (tensor<3x1x4xf32>, tensor<4x5xf32>) -> tensor<3x?x5xf32>
  return %r : tensor<3x?x5xf32>
}

// -----

// The same name is the same size: the expand does nothing.
// CHECK-LABEL: @same_symbol
// CHECK-NEXT: return %arg0
func.func @same_symbol(%x: tensor<?x8xf32> {onnx.dims = ["n", ""]}, %y: tensor<?xf32> {onnx.dims = ["n"]}) -> tensor<?x8xf32> {
  %n = "onnx.Shape"(%y) : (tensor<?xf32>) -> tensor<1xi64>
  %c = "onnx.Constant"() {value = dense<8> : tensor<1xi64>} : () -> tensor<1xi64>
  %t = "onnx.Concat"(%n, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %r = "onnx.Expand"(%x, %t) : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// A condition that is known selects its branch.
// CHECK-LABEL: @branch
// CHECK-NOT: onnx.If
// CHECK: "onnx.Relu"
func.func @branch(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = "onnx.Size"(%x) : (tensor<2x3xf32>) -> tensor<i64>
  %c = "onnx.Constant"() {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %b = "onnx.Greater"(%s, %c) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = "onnx.If"(%b) ({
    %t = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.Yield"(%t) : (tensor<2x3xf32>) -> ()
  }, {
    %e = "onnx.Size"(%x) : (tensor<2x3xf32>) -> tensor<i64>
    %f = "onnx.Cast"(%e) {to = 1 : i64} : (tensor<i64>) -> tensor<f32>
    "onnx.Yield"(%f) : (tensor<f32>) -> ()
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// Branches of different ranks join where the result is only broadcast.
// CHECK-LABEL: @broadcastBranches
// CHECK: "onnx.If"
// CHECK: -> tensor<1xf32>
// CHECK: "onnx.Mul"
// CHECK-SAME: -> tensor<4xf32>
func.func @broadcastBranches(%c: tensor<i1>, %a: tensor<f32>, %b: tensor<1xf32>, %x: tensor<4xf32>) -> tensor<*xf32> {
  %r = "onnx.If"(%c) ({
    "onnx.Yield"(%a) : (tensor<f32>) -> ()
  }, {
    "onnx.Yield"(%b) : (tensor<1xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %y = "onnx.Mul"(%x, %r) : (tensor<4xf32>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// An assumed branch is not a known one: the If stays and checks the sizes in the run.
// CHECK-LABEL: @assumed
// CHECK: "onnx.If"
// CHECK: -> tensor<4xf32>
func.func @assumed(%x: tensor<?x4xf32>) -> tensor<*xf32> {
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Shape"(%x) {start = 0 : i64, end = 1 : i64} : (tensor<?x4xf32>) -> tensor<1xi64>
  %c = "onnx.Equal"(%s, %one) : (tensor<1xi64>, tensor<i64>) -> tensor<1xi1>
  %r = "onnx.If"(%c) ({
    %q = "onnx.Squeeze"(%x, %axes) : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<4xf32>
    "onnx.Yield"(%q) : (tensor<4xf32>) -> ()
  }, {
    %i = "onnx.Identity"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    "onnx.Yield"(%i) : (tensor<?x4xf32>) -> ()
  }) : (tensor<1xi1>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

// The rank of a GatherND says how long its index tuples are.
// CHECK-LABEL: @tuples
// CHECK: "onnx.GatherND"
// CHECK-SAME: -> tensor<3x2x6xf32>
func.func @tuples(%x: tensor<4x5x6xf32>, %i: tensor<3x2x?xi64>) -> tensor<?x?x?xf32> {
  %r = "onnx.GatherND"(%x, %i) {batch_dims = 0 : i64} : (tensor<4x5x6xf32>, tensor<3x2x?xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// A value that grows in a loop keeps its last axis; the scan output has one entry an iteration.
// CHECK-LABEL: @growing
// CHECK: "onnx.Loop"
// CHECK: -> (tensor<?x4xf32>, tensor<7x4xf32>)
func.func @growing(%x: tensor<0x4xf32>, %row: tensor<1x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %m = "onnx.Constant"() {value = dense<7> : tensor<i64>} : () -> tensor<i64>
  %c = "onnx.Constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %a = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %r:2 = "onnx.Loop"(%m, %c, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %acc: tensor<*xf32>):
    %n = "onnx.Concat"(%acc, %row) {axis = 0 : i64} : (tensor<*xf32>, tensor<1x4xf32>) -> tensor<*xf32>
    %s = "onnx.Squeeze"(%row, %a) : (tensor<1x4xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%go, %n, %s) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<0x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0, %r#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// What the run has to check is not folded away: the target 5 is not proven, nor the squeezed size.
// CHECK-LABEL: @checked
// CHECK: "onnx.Expand"
// CHECK: "onnx.Squeeze"
func.func @checked(%x: tensor<5xf32>, %s: tensor<1xi64>, %y: tensor<?x3xf32>, %a: tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>) {
  %r = "onnx.Expand"(%x, %s) : (tensor<5xf32>, tensor<1xi64>) -> tensor<*xf32>
  %q = "onnx.Squeeze"(%y, %a) : (tensor<?x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %r, %q : tensor<*xf32>, tensor<*xf32>
}

// -----

// Branches of different ranks: what reads the result moves into both, up to where the ranks are equal again; the rest stays outside.
// CHECK-LABEL: @versions
// CHECK: %[[ABS:.*]] = "onnx.Abs"
// CHECK: %[[R:.*]] = "onnx.If"
// CHECK: "onnx.Relu"{{.*}} -> tensor<1x2x3xf32>
// CHECK: "onnx.Reshape"{{.*}} -> tensor<6xf32>
// CHECK: "onnx.Relu"{{.*}} -> tensor<2x3xf32>
// CHECK: "onnx.Reshape"{{.*}} -> tensor<6xf32>
// CHECK: onnx.versions
// CHECK: "onnx.Add"(%[[R]], %[[ABS]])
func.func @versions(%c: tensor<i1>, %x: tensor<2x3xf32>, %z: tensor<6xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %a = "onnx.Abs"(%z) : (tensor<6xf32>) -> tensor<6xf32>
  %p = "onnx.Relu"(%r) : (tensor<*xf32>) -> tensor<*xf32>
  %q = "onnx.Reshape"(%p, %flat) {allowzero = 0 : i64} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %y = "onnx.Add"(%q, %a) : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Indices of a box, on each axis the numbers of a range: the updates with what is around them.
// CHECK-LABEL: @box
// CHECK-DAG: %[[BEFORE:.*]] = "onnx.Slice"(%arg0{{.*}} -> tensor<?x1xf32>
// CHECK-DAG: %[[BEHIND:.*]] = "onnx.Slice"(%arg0{{.*}} -> tensor<?x2xf32>
// CHECK: "onnx.Concat"(%[[BEFORE]], %arg1, %[[BEHIND]]) <{axis = 1 : i64}>
// CHECK-NOT: ScatterND
func.func @box(%x: tensor<?x5xf32> {onnx.dims = ["n", ""]}, %u: tensor<?x2xf32> {onnx.dims = ["n", ""]}) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Shape"(%u) : (tensor<?x2xf32>) -> tensor<2xi64>
  %n = "onnx.Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %v = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %rows = "onnx.Expand"(%v, %s) : (tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x2xi64>
  %c = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %columns = "onnx.Expand"(%c, %s) : (tensor<2xi64>, tensor<2xi64>) -> tensor<?x2xi64>
  %a = "onnx.Unsqueeze"(%rows, %last) : (tensor<?x2xi64>, tensor<1xi64>) -> tensor<?x2x1xi64>
  %b = "onnx.Unsqueeze"(%columns, %last) : (tensor<?x2xi64>, tensor<1xi64>) -> tensor<?x2x1xi64>
  %i = "onnx.Concat"(%a, %b) {axis = -1 : i64} : (tensor<?x2x1xi64>, tensor<?x2x1xi64>) -> tensor<?x2x2xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x2x2xi64>, tensor<?x2xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// However many rows there are, two are behind the box.
// CHECK-LABEL: @box_before_two
// CHECK: %[[DATA:.*]] = "onnx.Concat"(%arg0, %arg1)
// CHECK: %[[BEHIND:.*]] = "onnx.Slice"(%[[DATA]]{{.*}} -> tensor<2x5xf32>
// CHECK: "onnx.Concat"(%arg2, %[[BEHIND]]) <{axis = 0 : i64}>
func.func @box_before_two(%a: tensor<?x5xf32> {onnx.dims = ["n", ""]}, %b: tensor<2x5xf32>, %u: tensor<?x5xf32> {onnx.dims = ["n", ""]}) -> tensor<?x5xf32> {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %last = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %x = "onnx.Concat"(%a, %b) {axis = 0 : i64} : (tensor<?x5xf32>, tensor<2x5xf32>) -> tensor<?x5xf32>
  %s = "onnx.Shape"(%a) : (tensor<?x5xf32>) -> tensor<2xi64>
  %n = "onnx.Gather"(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %r = "onnx.Range"(%zero, %n, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %i = "onnx.Unsqueeze"(%r, %last) : (tensor<?xi64>, tensor<1xi64>) -> tensor<?x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<?x1xi64>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// The rows that follow each other are known; that they lie inside the data is not.
// CHECK-LABEL: @box_outside
// CHECK: ScatterND
func.func @box_outside(%x: tensor<?x5xf32>, %u: tensor<3x5xf32>) -> tensor<?x5xf32> {
  %i = "onnx.Constant"() {value = dense<[[1], [2], [3]]> : tensor<3x1xi64>} : () -> tensor<3x1xi64>
  %y = "onnx.ScatterND"(%x, %i, %u) : (tensor<?x5xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// -----

// Squeeze without axes keeps a size that only the run knows, unless the declared rank of the result says that it is 1.
// CHECK-LABEL: @squeezed_all
// CHECK-SAME: -> (tensor<4xf32>
// CHECK: %[[A:.*]] = "onnx.Constant"() <{value = dense<[0, 2]>
// CHECK: "onnx.Squeeze"(%arg0, %[[A]])
func.func @squeezed_all(%x: tensor<?x4x1xf32>) -> (tensor<*xf32> {onnx.rank = 1 : index}) {
  %y = "onnx.Squeeze"(%x) : (tensor<?x4x1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @squeezed_known
// CHECK-SAME: -> (tensor<?x4xf32>
func.func @squeezed_known(%x: tensor<?x4x1xf32>) -> (tensor<*xf32> {onnx.rank = 2 : index}) {
  %y = "onnx.Squeeze"(%x) : (tensor<?x4x1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// Neither way has the declared rank.
// CHECK-LABEL: @squeezed_otherwise
// CHECK-SAME: -> (tensor<?x4xf32>
func.func @squeezed_otherwise(%x: tensor<?x4x1xf32>) -> (tensor<*xf32> {onnx.rank = 3 : index}) {
  %y = "onnx.Squeeze"(%x) : (tensor<?x4x1xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What a loop overwrites before anybody reads it, and one number, have the axes before the loop that the body gives them.
// CHECK-LABEL: @carried_axes
// CHECK: %[[U:.*]] = "onnx.Reshape"(%arg2, {{.*}} -> tensor<1x5xf32>
// CHECK: %[[N:.*]] = "onnx.Reshape"(%arg3, {{.*}} -> tensor<1xf32>
// CHECK: "onnx.Loop"(%arg0, %arg1, %[[U]], %[[N]])
// CHECK: -> (tensor<?x?xf32>, tensor<1xf32>)
func.func @carried_axes(%m: tensor<i64>, %c: tensor<i1>, %u: tensor<5xf32>, %n: tensor<f32>, %x: tensor<3x4xf32>, %one: tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %r:2 = "onnx.Loop"(%m, %c, %u, %n) <{operandSegmentSizes = array<i32: 1, 1, 2>}> ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<*xf32>, %b: tensor<*xf32>):
    %s = "onnx.Add"(%b, %one) : (tensor<*xf32>, tensor<1xf32>) -> tensor<*xf32>
    "onnx.Yield"(%go, %x, %s) : (tensor<i1>, tensor<3x4xf32>, tensor<*xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<5xf32>, tensor<f32>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0, %r#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Only what a result of another rank is made of is squeezed, also through a Squeeze behind it.
// CHECK-LABEL: @squeezed_chain
// CHECK-SAME: -> (tensor<3xf32>{{.*}}, tensor<3xf32>{{.*}}, tensor<?x4xf32>
func.func @squeezed_chain(%x: tensor<?x3x?xf32>, %z: tensor<?x4xf32>) -> (tensor<*xf32> {onnx.rank = 1 : index}, tensor<*xf32> {onnx.rank = 1 : index}, tensor<*xf32> {onnx.rank = 2 : index}) {
  %s = "onnx.Squeeze"(%x) : (tensor<?x3x?xf32>) -> tensor<*xf32> loc("first")
  %r = "onnx.Relu"(%s) : (tensor<*xf32>) -> tensor<*xf32>
  %u = "onnx.Squeeze"(%r) : (tensor<*xf32>) -> tensor<*xf32> loc("second")
  %w = "onnx.Squeeze"(%z) : (tensor<?x4xf32>) -> tensor<*xf32> loc("third")
  return %r, %u, %w : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A size is arithmetic on those of the inputs, whatever a value was made by.
// CHECK-LABEL: @size_of_inputs
// CHECK-DAG: %[[N:.*]] = "onnx.Shape"(%arg0) <{end = 1 : i64, start = 0 : i64}>
// CHECK-DAG: %[[W:.*]] = "onnx.Shape"(%arg0) <{end = 3 : i64, start = 2 : i64}>
// CHECK-DAG: %[[TWO:.*]] = "onnx.Constant"() <{value = dense<2> : tensor<1xi64>}>
// CHECK-DAG: %[[HALF:.*]] = "onnx.Div"({{.*}}, %[[TWO]])
// CHECK-DAG: %[[WIDER:.*]] = "onnx.Add"(%[[W]], %[[TWO]])
// CHECK-DAG: %[[C:.*]] = "onnx.Constant"() <{value = dense<4> : tensor<1xi64>}>
// CHECK-DAG: %[[ALL:.*]] = "onnx.Mul"({{.*}}%[[N]]
// CHECK-NOT: "onnx.Conv"
// CHECK: return %[[W]], %[[HALF]], %[[WIDER]], %[[C]], %[[ALL]]
func.func @size_of_inputs(%x: tensor<?x4x?xf32>) -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4x3xf32>} : () -> tensor<4x4x3xf32>
  %a = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1>}> : (tensor<?x4x?xf32>, tensor<4x4x3xf32>) -> tensor<?x4x?xf32>
  %r = "onnx.Relu"(%a) : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %t = "onnx.Transpose"(%r) <{perm = array<i64: 0, 2, 1>}> : (tensor<?x4x?xf32>) -> tensor<?x?x4xf32>
  %0 = "onnx.Shape"(%t) <{end = 2 : i64, start = 1 : i64}> : (tensor<?x?x4xf32>) -> tensor<1xi64>
  %b = "onnx.Conv"(%x, %w) <{pads = array<i64: 1, 1>, strides = array<i64: 2>}> : (tensor<?x4x?xf32>, tensor<4x4x3xf32>) -> tensor<?x4x?xf32>
  %1 = "onnx.Shape"(%b) <{end = 3 : i64, start = 2 : i64}> : (tensor<?x4x?xf32>) -> tensor<1xi64>
  %c = "onnx.Conv"(%x, %w) <{pads = array<i64: 2, 2>}> : (tensor<?x4x?xf32>, tensor<4x4x3xf32>) -> tensor<?x4x?xf32>
  %2 = "onnx.Shape"(%c) <{end = 3 : i64, start = 2 : i64}> : (tensor<?x4x?xf32>) -> tensor<1xi64>
  %3 = "onnx.Shape"(%c) <{end = 2 : i64, start = 1 : i64}> : (tensor<?x4x?xf32>) -> tensor<1xi64>
  %s = "onnx.Constant"() {value = dense<[-1, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %v = "onnx.Reshape"(%t, %s) : (tensor<?x?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %4 = "onnx.Shape"(%v) <{end = 1 : i64, start = 0 : i64}> : (tensor<?x4xf32>) -> tensor<1xi64>
  return %0, %1, %2, %3, %4 : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
}

// -----

// What sizes of inputs do not say is read where it is: a broadcast, elements of a run, a size function.
// CHECK-LABEL: @size_of_others
// CHECK-COUNT-3: "onnx.Shape"(%{{[0-9]+}}) 
// CHECK: return
func.func @size_of_others(%x: tensor<?xf32>, %y: tensor<?xf32>, %s: tensor<2xi64>) -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) {
  %a = "onnx.Add"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %0 = "onnx.Shape"(%a) : (tensor<?xf32>) -> tensor<1xi64>
  %b = "onnx.Reshape"(%x, %s) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = "onnx.Shape"(%b) <{end = 2 : i64, start = 1 : i64}> : (tensor<?x?xf32>) -> tensor<1xi64>
  %c = "onnx.NonZero"(%x) : (tensor<?xf32>) -> tensor<1x?xi64>
  %2 = "onnx.Shape"(%c) <{end = 2 : i64, start = 1 : i64}> : (tensor<1x?xi64>) -> tensor<1xi64>
  return %0, %1, %2 : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
}

// -----

// Half of a size, rounded up, is one size however a window comes to it, as (w - 1) / 2 + 1 or as (w + 1) / 2: the sum is no broadcast, the expansion
// does nothing.
// CHECK-LABEL: @half_rounded_up
// CHECK: %[[SUM:.*]] = "onnx.Add"(%{{.*}}, %{{.*}}) : (tensor<1x4x?xf32>
// CHECK: return %[[SUM]]
func.func @half_rounded_up(%x: tensor<1x4x?xf32>) -> tensor<1x4x?xf32> {
  %p = "onnx.MaxPool"(%x) <{auto_pad = "SAME_UPPER", kernel_shape = array<i64: 3>, strides = array<i64: 2>}> : (tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %q = "onnx.MaxPool"(%x) <{kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>, strides = array<i64: 2>}> : (tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %a = "onnx.Add"(%p, %q) : (tensor<1x4x?xf32>, tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %s = "onnx.Shape"(%p) : (tensor<1x4x?xf32>) -> tensor<3xi64>
  %e = "onnx.Expand"(%a, %s) : (tensor<1x4x?xf32>, tensor<3xi64>) -> tensor<1x4x?xf32>
  return %e : tensor<1x4x?xf32>
}
