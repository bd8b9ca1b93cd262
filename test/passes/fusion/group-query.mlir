// RUN: onnxc-opt %s --form-kernels="fast=true" | FileCheck %s

// GroupQueryAttention is one launch, to whose cache the run gives as many rows as the number of tokens, read from its tensor, or the cache given
// has; what is added to its result is a launch of its own.
// CHECK-LABEL: func.func @plan_run
// CHECK: %[[P:.*]] = plan.symbol {{.*}}index = 2
// CHECK: %[[T:.*]] = plan.load %{{.*}} {index = 0 : i64, type = i32}
// CHECK: %[[N:.*]] = arith.maxsi %[[T]], %[[P]]
// CHECK: %[[B:.*]] = plan.bytes %{{.*}}, %{{.*}}, %[[N]], %{{.*}} {element = 4 : i64}
// CHECK: plan.alloc %[[B]]
// CHECK: plan.launch @ms_groupqueryattention{{[^(]*}}({{.*}}) [%{{.*}}, %{{.*}}, %[[P]], %[[N]]]
// CHECK: plan.launch @add
func.func @main(%q: tensor<?x?x64xf32> {onnx.dims = ["b", "s", ""]}, %k: tensor<?x?x32xf32> {onnx.dims = ["b", "s", ""]}, %p: tensor<?x2x?x16xf32> {onnx.dims = ["b", "", "p", ""]}, %n: tensor<?xi32> {onnx.dims = ["b"]}, %t: tensor<i32>) -> (tensor<?x?x64xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>) {
  %y:3 = "onnx.ms.GroupQueryAttention"(%q, %k, %k, %p, %p, %n, %t) <{num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<?x?x64xf32>, tensor<?x?x32xf32>, tensor<?x?x32xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?xi32>, tensor<i32>) -> (tensor<?x?x64xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>)
  %z = "onnx.Add"(%y#0, %q) : (tensor<?x?x64xf32>, tensor<?x?x64xf32>) -> tensor<?x?x64xf32>
  return %z, %y#1, %y#2 : tensor<?x?x64xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
}
