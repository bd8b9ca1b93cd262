// RUN: onnxc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{family "loop" is not "loops", "contract" or "library"}}
kernel.func @family(%x: tensor<4xf32>) -> tensor<4xf32> attributes {family = "loop", num_dims = 0 : i64} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{num_dims is not a number of local dims}}
kernel.func @no_dims(%x: tensor<4xf32>) -> tensor<4xf32> attributes {family = "loops"} {
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has local dim 1, num_dims is 1}}
kernel.func @dims(%x: tensor<?xf32, [-2]>) -> tensor<?xf32, [-2]> attributes {family = "loops", num_dims = 1 : i64} {
  kernel.return %x : tensor<?xf32, [-2]>
}

// -----

kernel.func @results(%x: tensor<4xf32>) -> tensor<5xf32> attributes {family = "loops", num_dims = 0 : i64} {
  // expected-error @+1 {{returns ('tensor<4xf32>'), the kernel's results are ('tensor<5xf32>')}}
  kernel.return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{has 2 blocks, a kernel is one}}
kernel.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {family = "loops", num_dims = 0 : i64} {
  kernel.return %x : tensor<4xf32>
^bb1:
  kernel.return %x : tensor<4xf32>
}
