// RUN: onnxc-opt %s --fold-shapes --split-input-file --verify-diagnostics

// What a model can get wrong in the shapes and attributes of one operator, a case for each message that shape-errors.mlir does not have.

func.func @einsum_term(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Einsum: term 'ijk' does not fit an operand of 2 axes}}
  %r = "onnx.Einsum"(%a0, %a1) {equation = "ijk,jk->i"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @einsum_terms(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Einsum: equation 'ij->i' has 1 terms for 2 operands}}
  %r = "onnx.Einsum"(%a0, %a1) {equation = "ij->i"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @einsum_result(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Einsum: label 'z' of the result is not in an operand}}
  %r = "onnx.Einsum"(%a0, %a1) {equation = "ij,jk->iz"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @gemm_axes(%a0: tensor<2x3x4xf32>, %a1: tensor<4x5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Gemm: operands [2, 3, 4] and [4, 5] need two axes}}
  %r = "onnx.Gemm"(%a0, %a1) {} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @matmul_scalar(%a0: tensor<f32>, %a1: tensor<4x5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{MatMul: operands [] and [4, 5] need at least one axis}}
  %r = "onnx.MatMul"(%a0, %a1) {} : (tensor<f32>, tensor<4x5xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @det_axes(%a0: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Det: needs at least 2 axes, the input has 1}}
  %r = "onnx.Det"(%a0) {} : (tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @gather_index(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[0, 7]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Gather: index 7 is outside the 3 entries of axis 0}}
  %r = "onnx.Gather"(%a0, %1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @gather_elements(%a0: tensor<3x4xf32>, %a1: tensor<3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{GatherElements: data has 2 axes, indices 1}}
  %r = "onnx.GatherElements"(%a0, %a1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @gather_nd_batch(%a0: tensor<3x4xf32>, %a1: tensor<3x1xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{GatherND: batch_dims 5 needs more axes than data 2 and indices 2 have}}
  %r = "onnx.GatherND"(%a0, %a1) {batch_dims = 5 : i64} : (tensor<3x4xf32>, tensor<3x1xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @gather_nd_tuples(%a0: tensor<3x4xf32>, %a1: tensor<3x3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{GatherND: index tuples of 3 entries do not fit the 2 axes of data}}
  %r = "onnx.GatherND"(%a0, %a1) {batch_dims = 0 : i64} : (tensor<3x4xf32>, tensor<3x3xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scatter_elements(%a0: tensor<3x4xf32>, %a1: tensor<3xi64>, %a2: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ScatterElements: data, indices and updates have 2, 1 and 1 axes}}
  %r = "onnx.ScatterElements"(%a0, %a1, %a2) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scatter_nd_tuples(%a0: tensor<3x4xf32>, %a1: tensor<2x3xi64>, %a2: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ScatterND: index tuples of 3 entries do not fit the 2 axes of data}}
  %r = "onnx.ScatterND"(%a0, %a1, %a2) {} : (tensor<3x4xf32>, tensor<2x3xi64>, tensor<2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scatter_nd_updates(%a0: tensor<3x4xf32>, %a1: tensor<2x1xi64>, %a2: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ScatterND: updates have 1 axes, 2 are needed}}
  %r = "onnx.ScatterND"(%a0, %a1, %a2) {} : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @topk(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[9]> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{TopK: K is 9, axis 1 has 4 entries}}
  %r:2 = "onnx.TopK"(%a0, %1) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0 : tensor<*xf32>
}

// -----

func.func @dq_scale_axes(%a0: tensor<3x4xi8>, %a1: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{DequantizeLinear: scale [3, 4] needs 1 axes}}
  %r = "onnx.DequantizeLinear"(%a0, %a1) {axis = 1 : i64} : (tensor<3x4xi8>, tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @instance_norm(%a0: tensor<3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{InstanceNormalization: needs data of at least 2 axes, scale and bias of one; got [3], [3] and [3]}}
  %r = "onnx.InstanceNormalization"(%a0, %a1, %a2) {} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @reshape_twice(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[-1, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Reshape: more than one size is -1 in the shape [-1, -1]}}
  %r = "onnx.Reshape"(%a0, %1) {} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @reshape_negative(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[-3, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Reshape: size -3 of axis 0 is negative}}
  %r = "onnx.Reshape"(%a0, %1) {} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @reshape_copy(%a0: tensor<12xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[3, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Reshape: size 0 of axis 1 copies an axis that the input [12] does not have}}
  %r = "onnx.Reshape"(%a0, %1) {} : (tensor<12xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @unsqueeze_twice(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[1, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Unsqueeze: axis 1 is given twice}}
  %r = "onnx.Unsqueeze"(%a0, %1) {} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @unsqueeze_outside(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[9]> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{Unsqueeze: axis 9 is outside the 3 axes of the input}}
  %r = "onnx.Unsqueeze"(%a0, %1) {} : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @squeeze_size(%a0: tensor<3x1xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{Squeeze: the squeezed size and 1: 3 and 1 differ}}
  %r = "onnx.Squeeze"(%a0, %1) {} : (tensor<3x1xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @transpose_rank(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Transpose' op perm has 3 axes, the input has 2}}
  %r = "onnx.Transpose"(%a0) {perm = array<i64: 0, 1, 2>} : (tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @transpose_perm(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Transpose' op perm [0, 0] is not a permutation of the axes}}
  %r = "onnx.Transpose"(%a0) {perm = array<i64: 0, 0>} : (tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @concat_ranks(%a0: tensor<3x4xf32>, %a1: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Concat: inputs of 2 and 1 axes}}
  %r = "onnx.Concat"(%a0, %a1) {axis = 0 : i64} : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @split_negative(%a0: tensor<6xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[-1, 7]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Split: size -1 of part 0 is negative}}
  %r:2 = "onnx.Split"(%a0, %1) {axis = 0 : i64} : (tensor<6xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0 : tensor<*xf32>
}

// -----

func.func @split_sum(%a0: tensor<6xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Split: sum of the parts and size of the axis: 3 and 6 differ}}
  %r:2 = "onnx.Split"(%a0, %1) {axis = 0 : i64} : (tensor<6xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  return %r#0 : tensor<*xf32>
}

// -----

func.func @range_delta() -> tensor<*xf32> {
  %0 = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %1 = "onnx.Constant"() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %2 = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  // expected-error @+1 {{Range: delta is 0}}
  %r = "onnx.Range"(%0, %1, %2) {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @depth_to_space(%a0: tensor<1x4x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{DepthToSpace: needs an input of 4 axes and a positive blocksize; got 3 and 2}}
  %r = "onnx.DepthToSpace"(%a0) {blocksize = 2 : i64} : (tensor<1x4x2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @space_to_depth_axes(%a0: tensor<1x4x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{SpaceToDepth: needs an input of 4 axes and a positive blocksize; got 3 and 2}}
  %r = "onnx.SpaceToDepth"(%a0) {blocksize = 2 : i64} : (tensor<1x4x2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @space_to_depth_size(%a0: tensor<1x4x3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{SpaceToDepth: size 3 of axis 2 cannot be divided into blocks of 2}}
  %r = "onnx.SpaceToDepth"(%a0) {blocksize = 2 : i64} : (tensor<1x4x3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_stride(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Conv' op strides [0, 1] holds 0, sizes are at least 1}}
  %r = "onnx.Conv"(%a0, %a1) {strides = array<i64: 0, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_axes(%a0: tensor<1x3x8xf32>, %a1: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: data [1, 3, 8] and weights [4, 3, 3, 3] need the same number of axes, at least 3}}
  %r = "onnx.Conv"(%a0, %a1) {} : (tensor<1x3x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_kernel_shape(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Conv: kernel_shape has 1 entries, 2 are needed}}
  %r = "onnx.Conv"(%a0, %a1) {kernel_shape = array<i64: 3>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_group(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Conv' op group is 0, at least 1 is needed}}
  %r = "onnx.Conv"(%a0, %a1) {group = 0 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_auto_pad(%a0: tensor<1x3x8x8xf32>, %a1: tensor<4x3x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Conv' op auto_pad is 'SOMETIMES', not NOTSET, VALID, SAME_UPPER or SAME_LOWER}}
  %r = "onnx.Conv"(%a0, %a1) {auto_pad = "SOMETIMES"} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @conv_transpose_axes(%a0: tensor<1x3x8xf32>, %a1: tensor<3x4x3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ConvTranspose: data [1, 3, 8] and weights [3, 4, 3, 3] need the same number of axes, at least 3}}
  %r = "onnx.ConvTranspose"(%a0, %a1) {} : (tensor<1x3x8xf32>, tensor<3x4x3x3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @pool_kernel_shape(%a0: tensor<1x3x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{MaxPool: kernel_shape has 1 entries for data [1, 3, 8, 8]}}
  %r = "onnx.MaxPool"(%a0) {kernel_shape = array<i64: 3>} : (tensor<1x3x8x8xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @global_pool(%a0: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{GlobalAveragePool: needs at least 2 axes, the input has 1}}
  %r = "onnx.GlobalAveragePool"(%a0) {} : (tensor<3xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @grid_sample(%a0: tensor<1x3x8x8xf32>, %a1: tensor<1x4x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{GridSample: data [1, 3, 8, 8] and grid [1, 4, 2] need the same number of axes, at least 3}}
  %r = "onnx.GridSample"(%a0, %a1) {} : (tensor<1x3x8x8xf32>, tensor<1x4x2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @expand(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[5, 1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Expand: shapes [3, 4] and [5, 1] do not broadcast: 3 and 5}}
  %r = "onnx.Expand"(%a0, %1) {} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @tile_rank(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[2]> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{Tile: 1 repeats for 2 axes}}
  %r = "onnx.Tile"(%a0, %1) {} : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @tile_negative(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[2, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Tile: size -4 of axis 1 of the result is negative}}
  %r = "onnx.Tile"(%a0, %1) {} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @reduce_axis(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[5]> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error @+1 {{ReduceSum: axis 5 is outside the 2 axes of the input}}
  %r = "onnx.ReduceSum"(%a0, %1) {} : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @softmax_axis(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.Softmax' op axis 5 is outside [-2, 1] for an input of rank 2}}
  %r = "onnx.Softmax"(%a0) {axis = 5 : i64} : (tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @argmax_axis(%a0: tensor<3x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'onnx.ArgMax' op axis 5 is outside [-2, 1] for an input of rank 2}}
  %r = "onnx.ArgMax"(%a0) {axis = 5 : i64} : (tensor<3x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @where(%a0: tensor<3xi1>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Where: shapes [3] and [4] do not broadcast: 3 and 4}}
  %r = "onnx.Where"(%a0, %a1, %a2) {} : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @onehot(%a0: tensor<3xi64>, %a2: tensor<2xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<-2> : tensor<i64>} : () -> tensor<i64>
  // expected-error @+1 {{OneHot: size -2 of axis 1 of the result is negative}}
  %r = "onnx.OneHot"(%a0, %1, %a2) {axis = -1 : i64} : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @constant_of_shape() -> tensor<*xf32> {
  %0 = "onnx.Constant"() {value = dense<[2, -3]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{ConstantOfShape: size -3 of axis 1 of the result is negative}}
  %r = "onnx.ConstantOfShape"(%0) {} : (tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @zero_point_size(%a0: tensor<3x4xi8>, %a1: tensor<4xf32>, %a2: tensor<3xi8>) -> tensor<*xf32> {
  // expected-error @+1 {{DequantizeLinear: sizes of scale and of zero point: 4 and 3 differ}}
  %r = "onnx.DequantizeLinear"(%a0, %a1, %a2) {axis = 1 : i64} : (tensor<3x4xi8>, tensor<4xf32>, tensor<3xi8>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @blocks_of_scales(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<*xui8> {
  // expected-error @+1 {{QuantizeLinear: sizes of scale and of the blocks of axis 1: 3 and 2 differ}}
  %r = "onnx.QuantizeLinear"(%a0, %a1) {axis = 1 : i64, block_size = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*xui8>
  return %r : tensor<*xui8>
}

// -----

func.func @attention_heads(%a0: tensor<1x3x4x8xf32>, %a1: tensor<1x2x4x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Attention: the 3 heads of Q are no multiple of the 2 of K}}
  %r:4 = "onnx.Attention"(%a0, %a1, %a1) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1>} : (tensor<1x3x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %r#0 : tensor<*xf32>
}

// -----

func.func @attention_sizes(%a0: tensor<1x4x24xf32>, %a1: tensor<1x4x9xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{Attention: kv_num_heads 2 does not divide the last size of K, which is 9}}
  %r:4 = "onnx.Attention"(%a0, %a1, %a1) {q_num_heads = 4 : i64, kv_num_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1>} : (tensor<1x4x24xf32>, tensor<1x4x9xf32>, tensor<1x4x9xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %r#0 : tensor<*xf32>
}

// -----

func.func @rotary(%a0: tensor<1x4x16xf32>, %a1: tensor<4x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{RotaryEmbedding: num_heads is 0, it must be positive}}
  %r = "onnx.RotaryEmbedding"(%a0, %a1, %a1) : (tensor<1x4x16xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @scaler(%a0: tensor<?x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.Scaler: offset has 3 entries, 1 or one for each of the 4 columns is needed}}
  %r = "onnx.ml.Scaler"(%a0) {offset = array<f32: 1., 2., 3.>, scale = array<f32: 1.>} : (tensor<?x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @imputer(%a0: tensor<?x4xi64>) -> tensor<*xi64> {
  // expected-error @+1 {{ml.Imputer: imputed_value_int64s has 2 entries, 1 or one for each of the 4 columns is needed}}
  %r = "onnx.ml.Imputer"(%a0) {imputed_value_int64s = array<i64: 1, 2>} : (tensor<?x4xi64>) -> tensor<*xi64>
  return %r : tensor<*xi64>
}

// -----

func.func @linear(%a0: tensor<?x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.LinearRegressor: coefficients has 3 entries, 4 for each of targets = 1 are needed, one for each column}}
  %r = "onnx.ml.LinearRegressor"(%a0) {coefficients = array<f32: 1., 2., 3.>} : (tensor<?x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @classes(%a0: tensor<?x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.LinearClassifier: coefficients has 3 entries, 2 for each of the 2 intercepts are needed, one for each column}}
  %r:2 = "onnx.ml.LinearClassifier"(%a0) {coefficients = array<f32: 1., 2., 3.>, intercepts = array<f32: 0., 0.>, classlabels_ints = array<i64: 0, 1>} : (tensor<?x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %r#1 : tensor<*xf32>
}

// -----

func.func @classes_without_intercepts(%a0: tensor<?x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.LinearClassifier: coefficients has 3 entries, a multiple of the 2 columns is needed}}
  %r:2 = "onnx.ml.LinearClassifier"(%a0) {coefficients = array<f32: 1., 2., 3.>, classlabels_ints = array<i64: 0, 1>} : (tensor<?x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %r#1 : tensor<*xf32>
}

// -----

func.func @imputer_of_no_values(%a0: tensor<?x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.Imputer: imputed_value_floats has 0 entries, 1 or one for each column is needed}}
  %r = "onnx.ml.Imputer"(%a0) {imputed_value_int64s = array<i64: 1>} : (tensor<?x4xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @trees(%a0: tensor<?x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.TreeEnsembleRegressor: nodes_featureids has 1 entries, nodes_nodeids has 2}}
  %r = "onnx.ml.TreeEnsembleRegressor"(%a0) {nodes_nodeids = array<i64: 0, 1>, nodes_treeids = array<i64: 0, 0>, nodes_featureids = array<i64: 0>} : (tensor<?x2xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @leaves(%a0: tensor<?x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ml.TreeEnsembleClassifier: class_nodeids has 0 entries, class_ids has 1}}
  %r:2 = "onnx.ml.TreeEnsembleClassifier"(%a0) {class_ids = array<i64: 0>} : (tensor<?x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %r#1 : tensor<*xf32>
}

// -----

func.func @unpooled(%a0: tensor<1x1x2x2xf32>, %a1: tensor<1x1x2x3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{MaxUnpool: sizes of axis 3 of data and of indices: 2 and 3 differ}}
  %r = "onnx.MaxUnpool"(%a0, %a1) {kernel_shape = array<i64: 2, 2>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x3xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @theta(%a0: tensor<1x3x3xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[1, 1, 4, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  // expected-error @+1 {{AffineGrid: rows of theta and axes of an image: 3 and 2 differ}}
  %r = "onnx.AffineGrid"(%a0, %1) : (tensor<1x3x3xf32>, tensor<4xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @blocks_of_columns(%a0: tensor<1x5x4xf32>) -> tensor<*xf32> {
  %1 = "onnx.Constant"() {value = dense<[3, 3]> : tensor<2xi64>} : () -> tensor<2xi64>
  %2 = "onnx.Constant"() {value = dense<[2, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  // expected-error @+1 {{Col2Im: the 5 rows of columns are no multiple of the 4 elements of a block}}
  %r = "onnx.Col2Im"(%a0, %1, %2) : (tensor<1x5x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @sequences(%a0: tensor<4x3xf32>, %a1: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{ReverseSequence: numbers of sequence_lens and of sequences: 2 and 3 differ}}
  %r = "onnx.ReverseSequence"(%a0, %a1) {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}

// -----

func.func @packed_heads(%a0: tensor<1x3x8xf32>, %a1: tensor<8x24xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{ms.Attention: num_heads 3 does not divide the size of a query, which is 8}}
  %r = "onnx.ms.Attention"(%a0, %a1) {num_heads = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>} : (tensor<1x3x8xf32>, tensor<8x24xf32>) -> tensor<*xf32>
  return %r : tensor<*xf32>
}
