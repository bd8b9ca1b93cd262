// RUN: onnxc-opt %s --decompose --split-input-file | FileCheck %s

// A vector times the matrix that an index chooses for it: on either side, unless the matrices are needed themselves.
// CHECK-LABEL: @chosen
// CHECK: "onnx.packed.GatherProduct"(%arg0, %arg1, %arg2) <{transW = 1 : i64}>
// CHECK: "onnx.packed.GatherProduct"(%arg3, %arg4, %arg5) <{transW = 0 : i64}>
// CHECK: "onnx.Gather"
// CHECK-NOT: onnx.packed.GatherProduct
// CHECK: return
func.func @chosen(%w: tensor<4x33x64xf32>, %i: tensor<?x1xi64>, %x: tensor<?x64x1xf32>, %v: tensor<4x64x33xf32>, %j: tensor<7xi64>,
                  %r: tensor<7x1x64xf32>) -> (tensor<?x33x1xf32>, tensor<7x1x33xf32>, tensor<7x64x33xf32>, tensor<7x1x33xf32>) {
  %a = "onnx.GatherND"(%w, %i) <{batch_dims = 0 : i64}> : (tensor<4x33x64xf32>, tensor<?x1xi64>) -> tensor<?x33x64xf32>
  %b = "onnx.MatMul"(%a, %x) : (tensor<?x33x64xf32>, tensor<?x64x1xf32>) -> tensor<?x33x1xf32>
  %c = "onnx.Gather"(%v, %j) <{axis = 0 : i64}> : (tensor<4x64x33xf32>, tensor<7xi64>) -> tensor<7x64x33xf32>
  %d = "onnx.MatMul"(%r, %c) : (tensor<7x1x64xf32>, tensor<7x64x33xf32>) -> tensor<7x1x33xf32>
  %e = "onnx.Gather"(%v, %j) <{axis = 0 : i64}> : (tensor<4x64x33xf32>, tensor<7xi64>) -> tensor<7x64x33xf32>
  %f = "onnx.MatMul"(%r, %e) : (tensor<7x1x64xf32>, tensor<7x64x33xf32>) -> tensor<7x1x33xf32>
  return %b, %d, %e, %f : tensor<?x33x1xf32>, tensor<7x1x33xf32>, tensor<7x64x33xf32>, tensor<7x1x33xf32>
}
