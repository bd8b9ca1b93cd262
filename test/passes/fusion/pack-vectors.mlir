// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --form-kernels=fast=0 --split-input-file | FileCheck %s --check-prefix=PLAIN

// The vectors of a support vector machine side by side, column after column, sixteen a panel.

// CHECK-LABEL: kernel.func @ml_svmregressor
// CHECK: panels = dense<{{\[\[\[}}1.000000e+00, 3.000000e+00, 5.000000e+00, 0.000000e+00, {{.*}}], [2.000000e+00, 4.000000e+00, 6.000000e+00, 0.000000e+00, {{.*}}]]]> : tensor<1x2x16xf32>
// CHECK-NOT: support_vectors
// PLAIN-NOT: panels
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %y = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0, 3.0>, kernel_params = array<f32: 1.0, 0.0, 3.0>, kernel_type = "RBF", n_supports = 3 : i64,
      rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// CHECK-LABEL: kernel.func @ml_svmclassifier
// CHECK: panels = dense<{{.*}}> : tensor<1x1x16xf32>
func.func @main(%x: tensor<?x1xf32>) -> (tensor<?xi64>, tensor<?x1xf32>) {
  %l, %s = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1>, coefficients = array<f32: 1.0, 2.0>, kernel_params = array<f32: 1.0, 0.0, 3.0>, kernel_type = "RBF",
      rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0>, vectors_per_class = array<i64: 1, 1>}> : (tensor<?x1xf32>) -> (tensor<?xi64>, tensor<?x1xf32>)
  return %l, %s : tensor<?xi64>, tensor<?x1xf32>
}

// -----

// Not as many as the classes have, and doubles.
// CHECK-LABEL: kernel.func @ml_svmclassifier
// CHECK: support_vectors
// CHECK-LABEL: kernel.func @ml_svmregressor
// CHECK: support_vectors
func.func @main(%x: tensor<?x1xf32>, %d: tensor<?x1xf64>) -> (tensor<?xi64>, tensor<?x1xf32>, tensor<?x1xf32>) {
  %l, %s = "onnx.ml.SVMClassifier"(%x) <{classlabels_ints = array<i64: 0, 1>, coefficients = array<f32: 1.0, 2.0>, kernel_params = array<f32: 1.0, 0.0, 3.0>, kernel_type = "RBF",
      rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0>, vectors_per_class = array<i64: 9223372036854775807, 9223372036854775807>}> : (tensor<?x1xf32>) -> (tensor<?xi64>, tensor<?x1xf32>)
  %y = "onnx.ml.SVMRegressor"(%d) <{coefficients = array<f32: 1.0>, kernel_params = array<f32: 1.0, 0.0, 3.0>, kernel_type = "RBF", n_supports = 1 : i64,
      rho = array<f32: 0.5>, support_vectors = array<f32: 1.0>}> : (tensor<?x1xf64>) -> tensor<?x1xf32>
  return %l, %s, %y : tensor<?xi64>, tensor<?x1xf32>, tensor<?x1xf32>
}
