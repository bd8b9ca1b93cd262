// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --form-kernels=fast=0 --split-input-file | FileCheck %s --check-prefix=PLAIN

// Keys as a table. Integers close together: their span, the least, and for each the position of its first key + 1.
// CHECK-LABEL: kernel.func @ml_labelencoder
// CHECK: table = dense<[4, 7, 2, 0, 3, 1]> : tensor<6xi64>
// PLAIN-NOT: table =
func.func @main(%x: tensor<?xi64>) -> tensor<?xi64> {
  %y = "onnx.ml.LabelEncoder"(%x) <{keys_int64s = array<i64: 10, 7, 9, 7>, values_int64s = array<i64: 1, 2, 3, 4>}> : (tensor<?xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// Others: 0, the mask, and slots of hash and position + 1; the first of equal keys counts.
// CHECK-LABEL: kernel.func @ml_labelencoder
// CHECK: table = dense<[0, 7, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, -8234050054587286739, 2, 0, 0, 0, 0]> : tensor<18xi64>
func.func @main(%x: tensor<?xi64>) -> tensor<?xi64> {
  %y = "onnx.ml.LabelEncoder"(%x) <{keys_int64s = array<i64: 0, 9000000000, 0>, values_int64s = array<i64: 1, 2, 3>}> : (tensor<?xi64>) -> tensor<?xi64>
  return %y : tensor<?xi64>
}

// -----

// A NaN is equal to a NaN, and 0 to -0.
// CHECK-LABEL: kernel.func @ml_labelencoder
// CHECK: table = dense<[0, 15, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1789264046693927832, 5, 0, 0, 0, 0, 5087927234000983963, 2, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<34xi64>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = "onnx.ml.LabelEncoder"(%x) <{keys_floats = array<f32: 0.0, 0x7FC00000, -0.0, 0xFFC00000, 1.5>, values_floats = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0>}> : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// CHECK-LABEL: kernel.func @ml_labelencoder
// CHECK: table = dense<[0, 7, 198367012849983736, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4482684837372322821, 2, 0, 0, 0, 0]> : tensor<18xi64>
func.func @main(%x: tensor<?x!onnx.string>) -> tensor<?xf32> {
  %y = "onnx.ml.LabelEncoder"(%x) <{keys_tensor = dense<["a", "b", "a"]> : tensor<3x!onnx.string>, values_floats = array<f32: 1.0, 2.0, 3.0>}> : (tensor<?x!onnx.string>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What is looked for says which of the two lists is one of keys.
// CHECK-LABEL: kernel.func @ml_categorymapper
// CHECK: table = dense<[2, 5, 1, 2]> : tensor<4xi64>
func.func @main(%x: tensor<?xi64>) -> tensor<?x!onnx.string> {
  %y = "onnx.ml.CategoryMapper"(%x) <{cats_int64s = array<i64: 5, 6>, cats_strings = ["a", "b"]}> : (tensor<?xi64>) -> tensor<?x!onnx.string>
  return %y : tensor<?x!onnx.string>
}

// -----

// Floats count as the integers that they are cut to.
// CHECK-LABEL: kernel.func @ml_onehotencoder
// CHECK: table = dense<[2, 5, 1, 2]> : tensor<4xi64>
func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %y = "onnx.ml.OneHotEncoder"(%x) <{cats_int64s = array<i64: 5, 6>}> : (tensor<?xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// Keys of another type than the operand's: the run looks at them when it comes to them.
// CHECK-LABEL: kernel.func @ml_labelencoder
// CHECK: onnx.ml.LabelEncoder
// CHECK-NOT: table =
// CHECK: kernel.return
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = "onnx.ml.LabelEncoder"(%x) <{keys_int64s = array<i64: 1, 2>, values_floats = array<f32: 1.0, 2.0>}> : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Stopwords in any case are folded, where their letters are ASCII.
// CHECK-LABEL: kernel.func @stringnormalizer
// CHECK: folded = ["a", "b", "a"]
// CHECK-SAME: table = dense<[0, 7, 198367012849983736, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4482684837372322821, 2, 0, 0, 0, 0]>
func.func @main(%x: tensor<?x!onnx.string>) -> tensor<?x!onnx.string> {
  %y = "onnx.StringNormalizer"(%x) <{case_change_action = "NONE", is_case_sensitive = 0 : i64, stopwords = ["A", "b", "a"]}> : (tensor<?x!onnx.string>) -> tensor<?x!onnx.string>
  return %y : tensor<?x!onnx.string>
}

// -----

// CHECK-LABEL: kernel.func @stringnormalizer
// CHECK: onnx.StringNormalizer
// CHECK-NOT: table =
// CHECK: kernel.return
func.func @main(%x: tensor<?x!onnx.string>) -> tensor<?x!onnx.string> {
  %y = "onnx.StringNormalizer"(%x) <{case_change_action = "NONE", is_case_sensitive = 0 : i64, stopwords = ["A", "\C3\89"]}> : (tensor<?x!onnx.string>) -> tensor<?x!onnx.string>
  return %y : tensor<?x!onnx.string>
}
