// RUN: onnxc-opt %s --form-kernels --split-input-file | FileCheck %s
// RUN: onnxc-opt %s --form-kernels=fast=0 --split-input-file | FileCheck %s --check-prefix=PLAIN

// The pool of a TfIdfVectorizer as a hash table: how many grams and the mask, slots with numbers from 1, then start, length and column.

// Grams of one item, 7 and 8, and one of two, 7 9.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK: pool = dense<[3, 7, 1, 0, 0, 0, 0, 0, 2, 3, 0, 1, 2, 1, 1, 0, 2, 2, 1]> : tensor<19xi32>
// PLAIN-NOT: pool =
func.func @main(%x: tensor<?x5xi64>) -> tensor<?x3xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 2, 0, 1>, pool_int64s = array<i64: 7, 8, 7, 9>}> : (tensor<?x5xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Strings are hashed by their bytes.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK: pool = dense<[3, 7, 2, 3, 0, 1, 0, 0, 0, 0, 0, 1, 2, 1, 1, 0, 2, 2, 1]> : tensor<19xi32>
func.func @main(%x: tensor<?x5x!onnx.string>) -> tensor<?x3xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 2, 0, 1>, pool_strings = ["a", "b", "a", "c"]}> : (tensor<?x5x!onnx.string>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Two grams for the last slot: the second one goes to the first.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK: pool = dense<[2, 7, 2, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1]> : tensor<16xi32>
func.func @main(%x: tensor<?x5xi32>) -> tensor<?x2xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_int64s = array<i64: -48, -47>}> : (tensor<?x5xi32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// -----

// The kernel refuses what has no table: a gram and a half of two items.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK: onnx.TfIdfVectorizer
// CHECK-NOT: pool =
// CHECK: kernel.return
func.func @main(%x: tensor<?x5xi64>) -> tensor<?x3xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0, 3>, ngram_indexes = array<i64: 2, 0, 1>, pool_int64s = array<i64: 7, 8, 7, 9>}> : (tensor<?x5xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Fewer columns than grams.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK: onnx.TfIdfVectorizer
// CHECK-NOT: pool =
// CHECK: kernel.return
func.func @main(%x: tensor<?x5xi64>) -> tensor<?x3xf32> {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0, 2>, ngram_indexes = array<i64: 2, 0>, pool_int64s = array<i64: 7, 8, 7, 9>}> : (tensor<?x5xi64>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// -----

// Counts that go back, or beyond the pool.
// CHECK-LABEL: kernel.func @tfidfvectorizer
// CHECK-NOT: pool =
// CHECK: func.func @plan_sizes
func.func @main(%x: tensor<?x5xi64>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 2, 0>, ngram_indexes = array<i64: 2, 0, 1>, pool_int64s = array<i64: 7, 8, 7, 9>}> : (tensor<?x5xi64>) -> tensor<?x3xf32>
  %z = "onnx.TfIdfVectorizer"(%x) <{max_gram_length = 2 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF",
      ngram_counts = array<i64: 0, 6>, ngram_indexes = array<i64: 2, 0, 1>, pool_int64s = array<i64: 7, 8, 7, 9>}> : (tensor<?x5xi64>) -> tensor<?x3xf32>
  return %y, %z : tensor<?x3xf32>, tensor<?x3xf32>
}
