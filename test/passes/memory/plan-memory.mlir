// RUN: onnxc-opt %s --form-kernels --plan-memory --split-input-file | FileCheck %s

// 100 floats are 448 bytes on 64-byte borders: the third intermediate takes the place of the first, which nothing reads any more.
// CHECK: onnxc.arena_bytes = 896
// CHECK: plan.alloc {{.*}} {offset = 0 : i64}
// CHECK: plan.alloc {{.*}} {offset = 448 : i64}
// CHECK: plan.alloc {{.*}} {offset = 0 : i64}
// CHECK-NOT: plan.alloc
func.func @main(%x: tensor<100xf32> {onnx.name = "x"}) -> (tensor<100xf32> {onnx.name = "y"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %2 = "onnx.Softmax"(%1) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  return %3 : tensor<100xf32>
}

// -----

// A value that is read later keeps its place.
// CHECK: onnxc.arena_bytes = 1344
// CHECK: plan.alloc {{.*}} {offset = 0 : i64}
// CHECK: plan.alloc {{.*}} {offset = 448 : i64}
// CHECK: plan.alloc {{.*}} {offset = 896 : i64}
func.func @main(%x: tensor<100xf32> {onnx.name = "x"}) -> (tensor<100xf32> {onnx.name = "y"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %2 = "onnx.Softmax"(%1) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  %4 = "onnx.Add"(%3, %0) : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
  return %4 : tensor<100xf32>
}

// -----

// Sizes that follow from those of inputs are placed alike, in one slot: the third where the first lay, the second behind the larger of
// the two.
// CHECK: onnxc.arena_bytes = 0
// CHECK-SAME: onnxc.num_slots = 1
// CHECK: %[[START:.*]] = arith.constant 0 : i64
// CHECK: %[[ONE:.*]] = arith.addi %[[START]], %{{.*}} : i64
// CHECK: %[[OTHER:.*]] = arith.addi %[[START]], %{{.*}} : i64
// CHECK: %[[END:.*]] = arith.maxsi %[[OTHER]], %[[ONE]] : i64
// CHECK: %[[MEMORY:.*]] = plan.alloc %{{.*}} {site = 0 : i64, slot = 0 : i64}
// CHECK: plan.place %{{.*}}, %[[MEMORY]], %[[START]]
// CHECK: plan.place %{{.*}}, %[[MEMORY]], %[[END]]
// CHECK: plan.place %{{.*}}, %[[MEMORY]], %[[START]]
// CHECK-NOT: plan.alloc
func.func @main(%x: tensor<?xf32> {onnx.name = "x", onnx.dims = ["n"]}) -> (tensor<?xf32> {onnx.name = "y"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = "onnx.Softmax"(%1) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  %3 = "onnx.Softmax"(%2) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// Memory of sizes that follow from inputs fails, if it cannot be had, in the name of what makes the largest value.
// CHECK: plan.alloc {{.*}} {site = 1 : i64, slot = 0 : i64}
func.func @main(%x: tensor<?xf32> {onnx.name = "x", onnx.dims = ["n"]}, %y: tensor<?x4xf32> {onnx.name = "y", onnx.dims = ["n", ""]}) -> (tensor<?xf32> {onnx.name = "p"}, tensor<?x4xf32> {onnx.name = "q"}) {
  %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "onnx.Softmax"(%y) <{axis = 0 : i64}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<?xf32>) -> tensor<?xf32>
  %3 = "onnx.Softmax"(%1) <{axis = 0 : i64}> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2, %3 : tensor<?xf32>, tensor<?x4xf32>
}

// -----

// Sizes that data decides are slots, shared by values that are not live together.
// CHECK: onnxc.arena_bytes = 0
// CHECK-SAME: onnxc.num_slots = 2
// CHECK: plan.alloc {{.*}} {slot = 0 : i64}
// CHECK: plan.alloc {{.*}} {slot = 1 : i64}
// CHECK: plan.alloc {{.*}} {slot = 0 : i64}
func.func @main(%x: tensor<8xf32> {onnx.name = "x"}) -> (tensor<1x?xi64> {onnx.name = "y"}) {
  %a = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %0 = "onnx.NonZero"(%x) : (tensor<8xf32>) -> tensor<1x?xi64>
  %1 = "onnx.CumSum"(%0, %a) : (tensor<1x?xi64>, tensor<i64>) -> tensor<1x?xi64>
  %2 = "onnx.CumSum"(%1, %a) : (tensor<1x?xi64>, tensor<i64>) -> tensor<1x?xi64>
  %3 = "onnx.CumSum"(%2, %a) : (tensor<1x?xi64>, tensor<i64>) -> tensor<1x?xi64>
  return %3 : tensor<1x?xi64>
}

// -----

// Equal weights lie in the artefact once.
// CHECK: onnxc.weights_bytes = 64
func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %a = "onnx.Constant"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "onnx.Constant"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "onnx.Mul"(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Mul"(%1, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// So do equal resources of other names.
// CHECK: onnxc.weights_bytes = 64
func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<4xf32> {onnx.name = "y"}) {
  %a = "onnx.Constant"() {value = dense_resource<one> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "onnx.Constant"() {value = dense_resource<two> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "onnx.Mul"(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "onnx.Mul"(%1, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
{-#
  dialect_resources: {
    builtin: {
      one: "0x040000000000803F000000400000404000008040",
      two: "0x040000000000803F000000400000404000008040"
    }
  }
#-}

// -----

// Branches share memory: only one of them runs. What a branch gives lives on behind the If.
// CHECK: onnxc.arena_bytes = 1344
// CHECK: scf.if
// CHECK: plan.alloc {{.*}} {offset = 0 : i64}
// CHECK: plan.alloc {{.*}} {offset = 448 : i64}
// CHECK: } else {
// CHECK: plan.alloc {{.*}} {offset = 0 : i64}
// CHECK: plan.alloc {{.*}} {offset = 896 : i64}
func.func @main(%c: tensor<i1> {onnx.name = "c"}, %x: tensor<100xf32> {onnx.name = "x"}) -> (tensor<100xf32> {onnx.name = "y"}) {
  %r = "onnx.If"(%c) ({
    %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    "onnx.Yield"(%1) : (tensor<100xf32>) -> ()
  }, {
    %0 = "onnx.Softmax"(%x) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    "onnx.Yield"(%1) : (tensor<100xf32>) -> ()
  }) : (tensor<i1>) -> tensor<100xf32>
  %y = "onnx.Softmax"(%r) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
  return %y : tensor<100xf32>
}

// -----

// The memory of an iteration is used again within it, but what an iteration hands to the next lives as long as the loop.
// CHECK: onnxc.arena_bytes = 1792
func.func @main(%n: tensor<i64> {onnx.name = "n"}, %x: tensor<100xf32> {onnx.name = "x"}) -> (tensor<100xf32> {onnx.name = "y"}) {
  %go = "onnx.Constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %r = "onnx.Loop"(%n, %go, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<100xf32>):
    %0 = "onnx.Softmax"(%s) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    %1 = "onnx.Softmax"(%0) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    %2 = "onnx.Softmax"(%1) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    %3 = "onnx.Softmax"(%2) <{axis = 0 : i64}> : (tensor<100xf32>) -> tensor<100xf32>
    "onnx.Yield"(%go, %3) : (tensor<i1>, tensor<100xf32>) -> ()
  }) : (tensor<i64>, tensor<i1>, tensor<100xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}
