// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s

// Scatters write where their data lie.
// CHECK-LABEL: func.func @plan_run
// CHECK: %[[DATA:.*]] = plan.alloc
// CHECK: plan.launch @neg{{[^(]*}}(%{{.*}}, %[[DATA]])
// CHECK-NOT: plan.alloc
// CHECK: plan.launch @scatterelements{{[^(]*}}(%[[DATA]], %{{.*}}, %{{.*}}, %[[DATA]])
// CHECK: plan.launch @scatternd{{[^(]*}}(%[[DATA]], %{{.*}}, %{{.*}}, %[[DATA]])
func.func @main(%x: tensor<3x4xf32>, %i: tensor<1x4xi64>, %u: tensor<1x4xf32>, %j: tensor<1x2xi64>, %v: tensor<1xf32>) -> tensor<3x4xf32> {
  %0 = "onnx.Neg"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "onnx.ScatterElements"(%0, %i, %u) <{axis = 0 : i64}> : (tensor<3x4xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %2 = "onnx.ScatterND"(%1, %j, %v) : (tensor<3x4xf32>, tensor<1x2xi64>, tensor<1xf32>) -> tensor<3x4xf32>
  %3 = "onnx.Abs"(%2) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// -----

// The caller's data stay what they are, and so do those that something reads afterwards.
// CHECK-LABEL: func.func @plan_run
// CHECK: plan.launch @scatterelements{{[^(]*}}(%[[X:[^,]*]], %{{.*}}, %{{.*}}, %[[A:[^,)]*]])
// CHECK: %[[B:.*]] = plan.alloc
// CHECK: plan.launch @scatternd{{[^(]*}}(%[[A]], %{{.*}}, %{{.*}}, %[[B]])
func.func @main(%x: tensor<3x4xf32>, %i: tensor<1x4xi64>, %u: tensor<1x4xf32>, %j: tensor<1x2xi64>, %v: tensor<1xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %1 = "onnx.ScatterElements"(%x, %i, %u) <{axis = 0 : i64}> : (tensor<3x4xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %2 = "onnx.ScatterND"(%1, %j, %v) : (tensor<3x4xf32>, tensor<1x2xi64>, tensor<1xf32>) -> tensor<3x4xf32>
  %3 = "onnx.Abs"(%2) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = "onnx.Neg"(%1) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3, %4 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Data that a view shares with another reader.
// CHECK-LABEL: func.func @plan_run
// CHECK: plan.launch @neg{{[^(]*}}(%{{.*}}, %[[DATA:[^,)]*]])
// CHECK: %[[B:.*]] = plan.alloc
// CHECK: plan.launch @scatternd{{[^(]*}}(%[[DATA]], %{{.*}}, %{{.*}}, %[[B]])
func.func @main(%x: tensor<3x4xf32>, %j: tensor<1x1xi64>, %v: tensor<1xf32>) -> (tensor<12xf32>, tensor<3x4xf32>) {
  %list = "onnx.Constant"() {value = dense<12> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "onnx.Neg"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "onnx.Reshape"(%0, %list) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<12xf32>
  %2 = "onnx.ScatterND"(%1, %j, %v) : (tensor<12xf32>, tensor<1x1xi64>, tensor<1xf32>) -> tensor<12xf32>
  %3 = "onnx.Sin"(%2) : (tensor<12xf32>) -> tensor<12xf32>
  %4 = "onnx.Transpose"(%0) <{perm = array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %5 = "onnx.MatMul"(%0, %4) : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %6 = "onnx.MatMul"(%5, %0) : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3, %6 : tensor<12xf32>, tensor<3x4xf32>
}
