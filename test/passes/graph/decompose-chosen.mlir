// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// A vector times the matrix that an index chooses for it: on either side, unless the matrices are needed themselves.
// CHECK-LABEL: @chosen
// CHECK: "onnx.packed.GatherProduct"(%arg0, %arg1, %arg2) <{transW = 1 : i64}>
// CHECK: "onnx.packed.GatherProduct"(%arg3, %arg4, %arg5) <{transW = 0 : i64}>
// CHECK: "onnx.Gather"
// CHECK-NOT: onnx.packed.GatherProduct
// CHECK: return
func.func @chosen(%w: tensor<4x33x64xf32>, %i: tensor<?xi64>, %x: tensor<?x64x1xf32>, %v: tensor<4x64x33xf32>, %j: tensor<7xi64>,
                  %r: tensor<7x1x64xf32>) -> (tensor<?x33x1xf32>, tensor<7x1x33xf32>, tensor<7x64x33xf32>, tensor<7x1x33xf32>) {
  %a = "onnx.Gather"(%w, %i) <{axis = 0 : i64}> : (tensor<4x33x64xf32>, tensor<?xi64>) -> tensor<?x33x64xf32>
  %b = "onnx.MatMul"(%a, %x) : (tensor<?x33x64xf32>, tensor<?x64x1xf32>) -> tensor<?x33x1xf32>
  %c = "onnx.Gather"(%v, %j) <{axis = 0 : i64}> : (tensor<4x64x33xf32>, tensor<7xi64>) -> tensor<7x64x33xf32>
  %d = "onnx.MatMul"(%r, %c) : (tensor<7x1x64xf32>, tensor<7x64x33xf32>) -> tensor<7x1x33xf32>
  %e = "onnx.Gather"(%v, %j) <{axis = 0 : i64}> : (tensor<4x64x33xf32>, tensor<7xi64>) -> tensor<7x64x33xf32>
  %f = "onnx.MatMul"(%r, %e) : (tensor<7x1x64xf32>, tensor<7x64x33xf32>) -> tensor<7x1x33xf32>
  return %b, %d, %e, %f : tensor<?x33x1xf32>, tensor<7x1x33xf32>, tensor<7x64x33xf32>, tensor<7x1x33xf32>
}

// -----

// Not several rows, matrices of another type or chosen along another axis, or by indices of several axes.
// CHECK-LABEL: @other_chosen
// CHECK-NOT: onnx.packed.GatherProduct
// CHECK: return
func.func @other_chosen(%w: tensor<4x33x64xf32>, %d: tensor<4x33x64xf64>, %i: tensor<4xi64>, %j: tensor<1x4xi64>, %x: tensor<4x64x2xf32>, %y: tensor<4x64x1xf32>,
                        %z: tensor<4x64x1xf64>) -> (tensor<4x33x2xf32>, tensor<4x33x1xf64>, tensor<4x4x1xf32>, tensor<1x4x33x1xf32>) {
  %a = "onnx.Gather"(%w, %i) <{axis = 0 : i64}> : (tensor<4x33x64xf32>, tensor<4xi64>) -> tensor<4x33x64xf32>
  %0 = "onnx.MatMul"(%a, %x) : (tensor<4x33x64xf32>, tensor<4x64x2xf32>) -> tensor<4x33x2xf32>
  %b = "onnx.Gather"(%d, %i) <{axis = 0 : i64}> : (tensor<4x33x64xf64>, tensor<4xi64>) -> tensor<4x33x64xf64>
  %1 = "onnx.MatMul"(%b, %z) : (tensor<4x33x64xf64>, tensor<4x64x1xf64>) -> tensor<4x33x1xf64>
  %c = "onnx.Gather"(%w, %i) <{axis = 1 : i64}> : (tensor<4x33x64xf32>, tensor<4xi64>) -> tensor<4x4x64xf32>
  %2 = "onnx.MatMul"(%c, %y) : (tensor<4x4x64xf32>, tensor<4x64x1xf32>) -> tensor<4x4x1xf32>
  %e = "onnx.Gather"(%w, %j) <{axis = 0 : i64}> : (tensor<4x33x64xf32>, tensor<1x4xi64>) -> tensor<1x4x33x64xf32>
  %3 = "onnx.MatMul"(%e, %y) : (tensor<1x4x33x64xf32>, tensor<4x64x1xf32>) -> tensor<1x4x33x1xf32>
  return %0, %1, %2, %3 : tensor<4x33x2xf32>, tensor<4x33x1xf64>, tensor<4x4x1xf32>, tensor<1x4x33x1xf32>
}

// -----

// Einsum: a vector for several indices is repeated, matrices may have the sum last, the result another order. A sum over indices stays.
// CHECK-LABEL: @einsum
// CHECK: "onnx.Expand"
// CHECK: "onnx.packed.GatherProduct"{{.*}} <{transW = 1 : i64}>
// CHECK: "onnx.packed.GatherProduct"{{.*}} <{transW = 0 : i64}>
// CHECK: "onnx.Transpose"{{.*}} <{perm = array<i64: 1, 0, 2>}>
// CHECK-NOT: onnx.packed.GatherProduct
// CHECK: return
func.func @einsum(%w: tensor<4x33x64xf32>, %i: tensor<?x2xi64>, %x: tensor<?x64xf32>, %v: tensor<4x33x7xf32>)
    -> (tensor<2x?x7xf32>, tensor<?x7xf32>) {
  %a = "onnx.Gather"(%w, %i) <{axis = 0 : i64}> : (tensor<4x33x64xf32>, tensor<?x2xi64>) -> tensor<?x2x33x64xf32>
  %b = "onnx.Einsum"(%x, %a) <{equation = "nd,nkfd->nkf"}> : (tensor<?x64xf32>, tensor<?x2x33x64xf32>) -> tensor<?x2x33xf32>
  %c = "onnx.Gather"(%v, %i) <{axis = 0 : i64}> : (tensor<4x33x7xf32>, tensor<?x2xi64>) -> tensor<?x2x33x7xf32>
  %d = "onnx.Einsum"(%c, %b) <{equation = "nkfo,nkf->kno"}> : (tensor<?x2x33x7xf32>, tensor<?x2x33xf32>) -> tensor<2x?x7xf32>
  %e = "onnx.Gather"(%v, %i) <{axis = 0 : i64}> : (tensor<4x33x7xf32>, tensor<?x2xi64>) -> tensor<?x2x33x7xf32>
  %f = "onnx.Einsum"(%b, %e) <{equation = "nkf,nkfo->no"}> : (tensor<?x2x33xf32>, tensor<?x2x33x7xf32>) -> tensor<?x7xf32>
  return %d, %f : tensor<2x?x7xf32>, tensor<?x7xf32>
}
