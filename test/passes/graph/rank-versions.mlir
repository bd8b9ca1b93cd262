// RUN: onnxc-opt %s --fold-shapes | FileCheck %s

// Results of an If whose rank depends on the branch: which ops move into the branches, and how far out.

// A branch whose rank the reader does not take is dropped: the run that would take it fails in the If.
// CHECK-LABEL: @dropped
// CHECK: "onnx.If"
// CHECK-NEXT: "onnx.Constant"() <{value = dense<> : tensor<0xf32>}>
// CHECK-NEXT: "onnx.Yield"
// CHECK: "onnx.Gemm"(%arg1, %arg2)
// CHECK: onnx.taken = false
func.func @dropped(%c: tensor<i1>, %x: tensor<2x3xf32>, %w: tensor<3x7xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %y = "onnx.Gemm"(%r, %w) : (tensor<*xf32>, tensor<3x7xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// What an inner If gives to an outer one is read behind the outer one: both branches of both have the reader.
// CHECK-LABEL: @nested
// CHECK: %[[R:.*]] = "onnx.If"(%arg0)
// CHECK: "onnx.If"(%arg1)
// CHECK-COUNT-2: -> tensor<6xf32>
// CHECK: onnx.versions
// CHECK: %[[N:.*]] = "onnx.Neg"
// CHECK: "onnx.Reshape"(%[[N]]{{.*}} -> tensor<6xf32>
// CHECK: onnx.versions
// CHECK-NOT: onnx.Reshape
// CHECK: "onnx.Abs"(%[[R]])
func.func @nested(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %i = "onnx.If"(%d) ({
      %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
      "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
    }, {
      "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
    }) : (tensor<i1>) -> tensor<*xf32>
    "onnx.Yield"(%i) : (tensor<*xf32>) -> ()
  }, {
    %n = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.Yield"(%n) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %q = "onnx.Reshape"(%r, %flat) {allowzero = 0 : i64} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  %y = "onnx.Abs"(%q) : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// A reader in the body of another op takes that op along, whose own results have one rank.
// CHECK-LABEL: @body
// CHECK: %[[R:.*]] = "onnx.If"(%arg0)
// CHECK-COUNT-2: "onnx.If"(%arg1)
// CHECK: onnx.versions
// CHECK: "onnx.Abs"(%[[R]])
func.func @body(%c: tensor<i1>, %d: tensor<i1>, %x: tensor<2x3xf32>, %z: tensor<6xf32>) -> tensor<*xf32> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %a = "onnx.If"(%d) ({
    %q = "onnx.Reshape"(%r, %flat) {allowzero = 0 : i64} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%q) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%z) : (tensor<6xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %y = "onnx.Abs"(%a) : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Other results stay results; a size that is not the same in both branches is one of the run.
// CHECK-LABEL: @two
// CHECK: %[[R:.*]]:2 = "onnx.If"(%arg0)
// CHECK: "onnx.Yield"(%{{.*}}) : (tensor<2x3xf32>, tensor<12xf32>)
// CHECK: "onnx.Yield"(%{{.*}}) : (tensor<2x3xf32>, tensor<6xf32>)
// CHECK: -> (tensor<2x3xf32>, tensor<?xf32>)
// CHECK: return %[[R]]#1, %[[R]]#0
func.func @two(%c: tensor<i1>, %x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<2x3xf32>) {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %flat = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r:2 = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u, %x) : (tensor<*xf32>, tensor<2x3xf32>) -> ()
  }, {
    %n = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "onnx.Yield"(%x, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> (tensor<*xf32>, tensor<2x3xf32>)
  %s = "onnx.Add"(%r#0, %r#1) : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %q = "onnx.Reshape"(%s, %flat) {allowzero = 0 : i64} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %q, %r#1 : tensor<*xf32>, tensor<2x3xf32>
}

// An op behind the If that does not depend on it is computed before it, once.
// CHECK-LABEL: @before
// CHECK: %[[N:.*]] = "onnx.Neg"(%arg2)
// CHECK-NEXT: "onnx.If"(%arg0)
// CHECK-COUNT-2: "onnx.Add"(%{{.*}}, %[[N]])
// CHECK-NOT: onnx.Neg
func.func @before(%c: tensor<i1>, %x: tensor<2x3xf32>, %z: tensor<3xf32>) -> tensor<f32> {
  %axes = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %u = "onnx.Unsqueeze"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
    "onnx.Yield"(%u) : (tensor<*xf32>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<2x3xf32>) -> ()
  }) : (tensor<i1>) -> tensor<*xf32>
  %n = "onnx.Neg"(%z) : (tensor<3xf32>) -> tensor<3xf32>
  %a = "onnx.Add"(%r, %n) : (tensor<*xf32>, tensor<3xf32>) -> tensor<*xf32>
  %y = "onnx.ReduceSum"(%a) <{keepdims = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}> : (tensor<*xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
