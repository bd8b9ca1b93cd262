// RUN: onnxc-opt %s --form-kernels --plan-memory --split-input-file | FileCheck %s

// Operands of a concatenation are computed where they belong; what reads a part of it reads it there.
// CHECK-LABEL: func.func @plan_run
// CHECK: %[[WHOLE:.*]] = plan.alloc
// CHECK: %[[A:.*]] = plan.offset %[[WHOLE]]
// CHECK: plan.launch @softmax{{.*}}(%{{.*}}, %[[A]])
// CHECK: %[[B:.*]] = plan.offset %[[WHOLE]]
// CHECK: plan.launch @softmax{{.*}}(%{{.*}}, %[[B]])
// CHECK-NOT: concat
// CHECK: plan.launch @softmax{{.*}}(%[[WHOLE]],
// CHECK: %[[LAST:.*]] = plan.offset
// CHECK-NOT: slice
// CHECK: plan.launch @softmax{{.*}}(%[[LAST]],
func.func @main(%x: tensor<1x64xf32> {onnx.name = "x"}, %y: tensor<1x32xf32> {onnx.name = "y"}) -> (tensor<1x32xf32> {onnx.name = "z"}) {
  %from = "onnx.Constant"() {value = dense<64> : tensor<1xi64>} : () -> tensor<1xi64>
  %to = "onnx.Constant"() {value = dense<96> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = "onnx.Softmax"(%y) <{axis = 1 : i64}> : (tensor<1x32xf32>) -> tensor<1x32xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<1x64xf32>, tensor<1x32xf32>) -> tensor<1x96xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 1 : i64}> : (tensor<1x96xf32>) -> tensor<1x96xf32>
  %4 = "onnx.Slice"(%3, %from, %to, %axis) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<1x96xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x32xf32>
  %5 = "onnx.Softmax"(%4) <{axis = 1 : i64}> : (tensor<1x32xf32>) -> tensor<1x32xf32>
  return %5 : tensor<1x32xf32>
}

// -----

// Rows that only the run counts: one row is a part, several are moved by the kernel.
// CHECK-LABEL: func.func @plan_run
// CHECK: %[[N:.*]] = plan.symbol
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[N]]
// CHECK: arith.select %[[ONE]]
// CHECK: %[[MOVED:.*]] = arith.cmpi ne, %[[N]]
// CHECK: scf.if %[[MOVED]] {
// CHECK-NEXT: plan.launch @concat
// CHECK-NEXT: {{^ *}}}
func.func @main(%x: tensor<?x64xf32> {onnx.name = "x", onnx.dims = ["n"]}) -> (tensor<?x128xf32> {onnx.name = "z"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 1 : i64}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x128xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 1 : i64}> : (tensor<?x128xf32>) -> tensor<?x128xf32>
  return %3 : tensor<?x128xf32>
}

// -----

// Several rows that are known are never one run.
// CHECK-LABEL: func.func @plan_run
// CHECK-NOT: plan.offset
// CHECK: plan.launch @concat
func.func @main(%x: tensor<2x64xf32> {onnx.name = "x"}) -> (tensor<2x128xf32> {onnx.name = "z"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 1 : i64}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 1 : i64}> : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x128xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 1 : i64}> : (tensor<2x128xf32>) -> tensor<2x128xf32>
  return %3 : tensor<2x128xf32>
}

// -----

// What a kernel does not compute into a buffer of its own, a model input say, is copied; more than half of the result is not.
// CHECK-LABEL: func.func @plan_run
// CHECK: plan.copy
// CHECK-NOT: concat
// CHECK: plan.launch @concat
func.func @main(%x: tensor<1x32xf32> {onnx.name = "x"}, %w: tensor<1x96xf32> {onnx.name = "w"}) -> (tensor<1x192xf32> {onnx.name = "z"}) {
  %0 = "onnx.Softmax"(%w) <{axis = 1 : i64}> : (tensor<1x96xf32>) -> tensor<1x96xf32>
  %1 = "onnx.Concat"(%0, %x) <{axis = 1 : i64}> : (tensor<1x96xf32>, tensor<1x32xf32>) -> tensor<1x128xf32>
  %2 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<1x32xf32>) -> tensor<1x32xf32>
  %3 = "onnx.Concat"(%2, %x) <{axis = 1 : i64}> : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x64xf32>
  %4 = "onnx.Concat"(%w, %x, %3) <{axis = 1 : i64}> : (tensor<1x96xf32>, tensor<1x32xf32>, tensor<1x64xf32>) -> tensor<1x192xf32>
  %5 = "onnx.Softmax"(%1) <{axis = 1 : i64}> : (tensor<1x128xf32>) -> tensor<1x128xf32>
  %6 = "onnx.Sub"(%4, %4) : (tensor<1x192xf32>, tensor<1x192xf32>) -> tensor<1x192xf32>
  return %6 : tensor<1x192xf32>
}

// -----

// Sizes that the Concat's own check makes equal are not yet equal when its operands are computed: the second has a buffer of its own.
// CHECK-LABEL: func.func @plan_run
// CHECK: %[[WHOLE:.*]] = plan.place
// CHECK: %[[A:.*]] = plan.offset %[[WHOLE]]
// CHECK: plan.launch @softmax{{.*}}(%{{.*}}, %[[A]])
// CHECK: %[[B:.*]] = plan.place
// CHECK: plan.launch @softmax{{.*}}(%{{.*}}, %[[B]])
// CHECK: plan.check
// CHECK: plan.copy %{{.*}}, %[[B]]
func.func @main(%x: tensor<1x?xf32> {onnx.name = "x", onnx.dims = ["1", "n"]}, %y: tensor<1x?xf32> {onnx.name = "y", onnx.dims = ["1", "m"]}) -> (tensor<2x?xf32> {onnx.name = "z"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 1 : i64}> : (tensor<1x?xf32>) -> tensor<1x?xf32>
  %1 = "onnx.Softmax"(%y) <{axis = 1 : i64}> : (tensor<1x?xf32>) -> tensor<1x?xf32>
  %2 = "onnx.Concat"(%0, %1) <{axis = 0 : i64}> : (tensor<1x?xf32>, tensor<1x?xf32>) -> tensor<2x?xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 1 : i64}> : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return %3 : tensor<2x?xf32>
}

// -----

// How many parts of a size that only the run knows exist is the kernel's to check.
// CHECK-LABEL: func.func @plan_run
// CHECK: plan.launch @split
func.func @main(%x: tensor<?xf32> {onnx.name = "x", onnx.dims = ["n"]}) -> (tensor<?xf32> {onnx.name = "z"}) {
  %0:2 = "onnx.Split"(%x) <{axis = 0 : i64, num_outputs = 2 : i64}> : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %1 = "onnx.Softmax"(%0#1) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
