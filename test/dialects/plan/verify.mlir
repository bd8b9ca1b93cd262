// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

func.func @missing(%x: !llvm.ptr) {
  // expected-error @+1 {{@relu is no kernel of this module}}
  plan.launch @relu(%x) [] {site = 0 : i64} : !llvm.ptr
  return
}

// -----

kernel.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {family = "loops", num_dims = 0 : i64} {
  kernel.return %x : tensor<4xf32>
}
func.func @buffers(%x: !llvm.ptr) {
  // expected-error @+1 {{has 1 buffers, @relu has 1 inputs and 1 results}}
  plan.launch @relu(%x) [] {site = 0 : i64} : !llvm.ptr
  return
}

// -----

kernel.func @relu(%x: tensor<?xf32, [-1]>) -> tensor<?xf32, [-1]> attributes {family = "loops", num_dims = 1 : i64} {
  kernel.return %x : tensor<?xf32, [-1]>
}
func.func @dims(%x: !llvm.ptr) {
  // expected-error @+1 {{has 0 dims, @relu has 1}}
  plan.launch @relu(%x, %x) [] {site = 0 : i64} : !llvm.ptr, !llvm.ptr
  return
}
