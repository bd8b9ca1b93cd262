// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s

// A tree becomes one constant: x < 0.5 is x <= the float before it as an ordered key, children side by side, leaves, which hold their
// values, their own children. Behind: its masks, of two leaves the one test, which leaves all but the first, and the leaves.
// CHECK-LABEL: kernel.func @ml_treeensembleregressor
// CHECK: fast
// CHECK-SAME: forest = dense<[1, 3, 0, 1, 1, 1, 1, 1, 1, 1, 2, 1, 0, 1, 0, 0, -1090519041, 2, 1065353216, 1, 1073741824, 1, 2, 1, 1056964607, 0, -2, 1065353216, 1073741824]>
// CHECK-NOT: nodes_modes
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>,
    nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 0, 0, 0>,
    nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_values = array<f32: 0.5, 0.0, 0.0>, target_ids = array<i64: 0, 0>,
    target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>}>
    : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

// Nothing is below -inf: a test that always holds, also for NaN, whose keys are a second column, leads to the other child.
// CHECK-LABEL: kernel.func @ml_treeensembleregressor
// CHECK: fast
// CHECK-SAME: forest = dense<[1, 3, 0, 1, 1, 1, 1, 1, 1, 1, 3, 2, 0, 1, 0, 0, -8388608, 5, 1073741824, 2, 1065353216, 2, 2, 1, 2139095040, 0, -2, 1073741824, 1065353216]>
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>,
    nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 0, 0, 0>,
    nodes_modes = ["BRANCH_LT", "LEAF", "LEAF"], nodes_values = array<f32: 0xFF800000, 0.0, 0.0>, target_ids = array<i64: 0, 0>,
    target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>}>
    : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

// x == 0.5 is x <= 0.5 and not x <= the float before, without masks; the leaf that both lead to is reached the second time by a node that always holds.
// CHECK-LABEL: kernel.func @ml_treeensembleregressor
// CHECK: fast
// CHECK-SAME: forest = dense<[1, 5, 0, 1, 1, 1, 1, 0, 1, 0, 2, 1, 0, 3, 0, 0, -1090519040, 2, -1090519041, 4, 1073741824, 1, 0, -1, 1065353216, 1]>
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>,
    nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 0, 0, 0>,
    nodes_modes = ["BRANCH_EQ", "LEAF", "LEAF"], nodes_values = array<f32: 0.5, 0.0, 0.0>, target_ids = array<i64: 0, 0>,
    target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>}>
    : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

// No float says that a double equals one.
// CHECK-LABEL: kernel.func @ml_treeensembleregressor
// CHECK-NOT: fast
// CHECK: BRANCH_EQ
func.func @main(%x: tensor<4x1xf64>) -> tensor<4x1xf32> {
  %y = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>,
    nodes_truenodeids = array<i64: 1, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 0>, nodes_featureids = array<i64: 0, 0, 0>,
    nodes_modes = ["BRANCH_EQ", "LEAF", "LEAF"], nodes_values = array<f32: 0.5, 0.0, 0.0>, target_ids = array<i64: 0, 0>,
    target_nodeids = array<i64: 1, 2>, target_treeids = array<i64: 0, 0>, target_weights = array<f32: 1.0, 2.0>}>
    : (tensor<4x1xf64>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

// A node that is its own descendant is the general kernel's to refuse.
// CHECK-LABEL: kernel.func @ml_treeensembleregressor
// CHECK-NOT: fast
// CHECK: BRANCH_LEQ
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = "onnx.ml.TreeEnsembleRegressor"(%x) <{n_targets = 1 : i64, nodes_treeids = array<i64: 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2>,
    nodes_truenodeids = array<i64: 1, 1, 0>, nodes_falsenodeids = array<i64: 2, 2, 0>, nodes_featureids = array<i64: 0, 0, 0>,
    nodes_modes = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], nodes_values = array<f32: 0.5, 0.0, 0.0>, target_ids = array<i64: 0>,
    target_nodeids = array<i64: 2>, target_treeids = array<i64: 0>, target_weights = array<f32: 1.0>}>
    : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
