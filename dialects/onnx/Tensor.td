// Tensor.td: constants, shapes and data movement.
#ifndef ONNX_TENSOR_TD
#define ONNX_TENSOR_TD
include "dialects/onnx/Onnx.td"

def Onnx_ConstantOp : Onnx_Op<"Constant", [Pure, ConstantLike]> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), "build($_builder, $_state, value.getType(), value);">];
  let hasFolder = 1;
  let hasVerifier = 1;
}
def Onnx_ConstantOfShapeOp : Onnx_Op<"ConstantOfShape"> {
  let arguments = (ins AnyTensor:$input, Elements:$value);
  let results = (outs AnyTensor:$output);
}
def Onnx_ShapeOp : Onnx_Op<"Shape"> {
  let arguments = (ins AnyTensor:$data, OptInt:$end, Int<"0">:$start);
  let results = (outs AnyTensor:$shape);
}
def Onnx_SizeOp : Onnx_Op<"Size"> { let arguments = (ins AnyTensor:$data); let results = (outs AnyTensor:$size); }
def Onnx_ReshapeOp : Onnx_Op<"Reshape"> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$shape, Int<"0">:$allowzero);
  let results = (outs AnyTensor:$reshaped);
  let hasFolder = 1;
}
def Onnx_FlattenOp : Onnx_Op<"Flatten"> { let arguments = (ins AnyTensor:$input, Int<"1">:$axis); let results = (outs AnyTensor:$output); }
def Onnx_SqueezeOp : Onnx_Op<"Squeeze"> {
  let arguments = (ins AnyTensor:$data, OptTensor:$axes);
  let results = (outs AnyTensor:$squeezed);
}
def Onnx_UnsqueezeOp : Onnx_Op<"Unsqueeze"> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$axes);
  let results = (outs AnyTensor:$expanded);
}
def Onnx_TransposeOp : Onnx_Op<"Transpose"> {
  let arguments = (ins AnyTensor:$data, Ints:$perm);
  let results = (outs AnyTensor:$transposed);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}
def Onnx_ConcatOp : Onnx_Op<"Concat", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins Tensors:$inputs, I64Attr:$axis);
  let results = (outs AnyTensor:$concat_result);
}
def Onnx_SplitOp : Onnx_Op<"Split", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$input, OptTensor:$split, Int<"0">:$axis, OptInt:$num_outputs);
  let results = (outs Tensors:$outputs);
}
def Onnx_SliceOp : Onnx_Op<"Slice", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$starts, AnyTensor:$ends, OptTensor:$axes, OptTensor:$steps);
  let results = (outs AnyTensor:$output);
}
def Onnx_ExpandOp : Onnx_Op<"Expand"> { let arguments = (ins AnyTensor:$input, AnyTensor:$shape); let results = (outs AnyTensor:$output); }
def Onnx_TileOp : Onnx_Op<"Tile"> { let arguments = (ins AnyTensor:$input, AnyTensor:$repeats); let results = (outs AnyTensor:$output); }
def Onnx_PadOp : Onnx_Op<"Pad", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$pads, OptTensor:$constant_value, OptTensor:$axes, Str<"constant">:$mode);
  let results = (outs AnyTensor:$output);
}
def Onnx_CenterCropPadOp : Onnx_Op<"CenterCropPad"> {
  let arguments = (ins AnyTensor:$input_data, AnyTensor:$shape, Ints:$axes);
  let results = (outs AnyTensor:$output_data);
}
def Onnx_GatherOp : Onnx_Op<"Gather", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, Int<"0">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_GatherElementsOp : Onnx_Op<"GatherElements", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, Int<"0">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_GatherNDOp : Onnx_Op<"GatherND"> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, Int<"0">:$batch_dims);
  let results = (outs AnyTensor:$output);
}
def Onnx_ScatterElementsOp : Onnx_Op<"ScatterElements", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, AnyTensor:$updates, Int<"0">:$axis, Str<"none">:$reduction);
  let results = (outs AnyTensor:$output);
}
def Onnx_ScatterNDOp : Onnx_Op<"ScatterND"> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, AnyTensor:$updates, Str<"none">:$reduction);
  let results = (outs AnyTensor:$output);
}
def Onnx_TensorScatterOp : Onnx_Op<"TensorScatter", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$past_cache, AnyTensor:$update, OptTensor:$write_indices, Int<"-2">:$axis, Str<"linear">:$mode);
  let results = (outs AnyTensor:$present_cache);
}
def Onnx_NonZeroOp : Onnx_Op<"NonZero"> { let arguments = (ins AnyTensor:$X); let results = (outs AnyTensor:$Y); }
def Onnx_CompressOp : Onnx_Op<"Compress"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$condition, OptInt:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_UniqueOp : Onnx_Op<"Unique", [Pure, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, OptInt:$axis, Int<"1">:$sorted);
  let results = (outs AnyTensor:$Y, OptTensor:$indices, OptTensor:$inverse_indices, OptTensor:$counts);
}
def Onnx_TopKOp : Onnx_Op<"TopK", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$K, Int<"-1">:$axis, Int<"1">:$largest, Int<"1">:$sorted);
  let results = (outs AnyTensor:$Values, AnyTensor:$Indices);
}
def Onnx_OneHotOp : Onnx_Op<"OneHot"> {
  let arguments = (ins AnyTensor:$indices, AnyTensor:$depth, AnyTensor:$values, Int<"-1">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_RangeOp : Onnx_Op<"Range"> {
  let arguments = (ins AnyTensor:$start, AnyTensor:$limit, AnyTensor:$delta, Int<"1">:$stash_type);
  let results = (outs AnyTensor:$output);
}
def Onnx_EyeLikeOp : Onnx_Op<"EyeLike"> {
  let arguments = (ins AnyTensor:$input, OptInt:$dtype, Int<"0">:$k);
  let results = (outs AnyTensor:$output);
}
def Onnx_TriluOp : Onnx_Op<"Trilu"> {
  let arguments = (ins AnyTensor:$input, OptTensor:$k, Int<"1">:$upper);
  let results = (outs AnyTensor:$output);
}
def Onnx_ReverseSequenceOp : Onnx_Op<"ReverseSequence"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$sequence_lens, Int<"1">:$batch_axis, Int<"0">:$time_axis);
  let results = (outs AnyTensor:$Y);
}
def Onnx_DepthToSpaceOp : Onnx_Op<"DepthToSpace"> {
  let arguments = (ins AnyTensor:$input, I64Attr:$blocksize, Str<"DCR">:$mode);
  let results = (outs AnyTensor:$output);
}
def Onnx_SpaceToDepthOp : Onnx_Op<"SpaceToDepth"> {
  let arguments = (ins AnyTensor:$input, I64Attr:$blocksize, Str<"DCR">:$mode);
  let results = (outs AnyTensor:$output);
}
#endif
