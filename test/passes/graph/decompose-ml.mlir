// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// Linear models are products; what has a rule of its own for labels and scores follows them.
// CHECK-LABEL: @models
// CHECK: "onnx.Gemm"(%arg0, {{.*}}) <{alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, transA = 0 : i64, transB = 1 : i64}> : (tensor<?x2xf32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<?x3xf32>
// CHECK: "onnx.Softmax"
// CHECK: %[[SCORES:.*]] = "onnx.Gemm"(%arg0, {{.*}} -> tensor<?x2xf32>
// CHECK: "onnx.packed.ClassScores"(%[[SCORES]]) <{classlabels_ints = array<i64: 4, 5>, columns = 2 : i64, post_transform = "LOGISTIC"}>
// CHECK: "onnx.packed.ClassScores"({{.*}}) <{classlabels_strings = ["a", "b"], columns = 2 : i64
// CHECK-NOT: onnx.ml
// CHECK: return
func.func @models(%x: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x!onnx.string>, tensor<?x2xf32>, tensor<?x1xf32>) {
  %r = "onnx.ml.LinearRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>, post_transform = "SOFTMAX", targets = 3 : i64}> : (tensor<?x2xf32>) -> tensor<?x3xf32>
  %l, %s = "onnx.ml.LinearClassifier"(%x) <{classlabels_ints = array<i64: 4, 5>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, intercepts = array<f32: 0.5, 0.25>, post_transform = "LOGISTIC"}> : (tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>)
  %w, %t = "onnx.ml.SVMClassifier"(%x) <{classlabels_strings = ["a", "b"], coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, rho = array<f32: 0.5>}> : (tensor<?x2xf32>) -> (tensor<?x!onnx.string>, tensor<?x2xf32>)
  %m = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 0.5>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  return %r, %l, %s, %w, %t, %m : tensor<?x3xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x!onnx.string>, tensor<?x2xf32>, tensor<?x1xf32>
}

// -----

// Columns: elementwise ops, reductions and moves.
// CHECK-LABEL: @columns
// CHECK: "onnx.Sub"
// CHECK: "onnx.Mul"
// CHECK: "onnx.IsNaN"
// CHECK: "onnx.Where"
// CHECK: "onnx.ReduceL1"
// CHECK: "onnx.Div"
// CHECK: "onnx.Concat"
// CHECK: "onnx.Gather"
// CHECK-NOT: onnx.ml
// CHECK: return
func.func @columns(%x: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %a = "onnx.ml.Scaler"(%x) <{offset = array<f32: 1.0, 2.0>, scale = array<f32: 3.0>}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %b = "onnx.ml.Imputer"(%a) <{imputed_value_floats = array<f32: 1.0, 2.0>, replaced_value_float = 0x7FC00000 : f32}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %c = "onnx.ml.Normalizer"(%b) <{norm = "L1"}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %d = "onnx.ml.FeatureVectorizer"(%a, %c) <{inputdimensions = array<i64: 2, 2>}> : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %i = "onnx.Constant"() <{value = dense<[3, 0, 1]> : tensor<3xi64>}> : () -> tensor<3xi64>
  %e = "onnx.ml.ArrayFeatureExtractor"(%d, %i) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x3xf32>
  return %e : tensor<?x3xf32>
}

// -----

// Lists of other sizes, other types and what has no op stay what they are.
// CHECK-LABEL: @left
// CHECK-COUNT-2: "onnx.ml.LinearRegressor"
// CHECK: "onnx.ml.LinearClassifier"
// CHECK: "onnx.ml.SVMRegressor"
// CHECK: "onnx.ml.Scaler"
// CHECK: "onnx.ml.Imputer"
// CHECK: "onnx.ml.FeatureVectorizer"
// CHECK: "onnx.ml.ArrayFeatureExtractor"
// CHECK: return
func.func @left(%x: tensor<?x2xf32>, %d: tensor<?x2xf64>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf64>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x2xf32>) {
  %a = "onnx.ml.LinearRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0, 3.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %b = "onnx.ml.LinearRegressor"(%x) <{coefficients = array<f32: 1.0, 2.0>, post_transform = "PROBIT"}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %l, %s = "onnx.ml.LinearClassifier"(%d) <{classlabels_ints = array<i64: 4, 5>, coefficients = array<f32: 1.0, 2.0>, intercepts = array<f32: 0.5>}> : (tensor<?x2xf64>) -> (tensor<?xi64>, tensor<?x2xf32>)
  %m = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0>, n_supports = 1 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0>}> : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %c = "onnx.ml.Scaler"(%x) <{offset = array<f32: 1.0, 2.0>, scale = array<f32: 1.0, 2.0, 3.0>}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %i = "onnx.ml.Imputer"(%d) <{imputed_value_floats = array<f32: 1.0>}> : (tensor<?x2xf64>) -> tensor<?x2xf64>
  %f = "onnx.ml.FeatureVectorizer"(%x, %x) <{inputdimensions = array<i64: 2, 1>}> : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x3xf32>
  %j = "onnx.Constant"() <{value = dense<[-1]> : tensor<1xi64>}> : () -> tensor<1xi64>
  %g = "onnx.ml.ArrayFeatureExtractor"(%x, %j) : (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  return %a, %b, %l, %s, %m, %i, %f, %g, %c : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?xi64>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x2xf64>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x2xf32>
}

// -----

// Support vector machines take their rows as f32.
// CHECK-LABEL: @doubles
// CHECK: %[[ROWS:.*]] = "onnx.Cast"(%{{.*}}) {{.*}} -> tensor<?x2xf32>
// CHECK: "onnx.ml.SVMRegressor"(%[[ROWS]])
func.func @doubles(%x: tensor<?x2xf64>) -> tensor<?x1xf32> {
  %y = "onnx.ml.SVMRegressor"(%x) <{coefficients = array<f32: 1.0>, n_supports = 1 : i64, rho = array<f32: 0.5>, support_vectors = array<f32: 1.0, 2.0>}> : (tensor<?x2xf64>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
