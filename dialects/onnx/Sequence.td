// Sequence.td: sequences and optionals.
#ifndef ONNX_SEQUENCE_TD
#define ONNX_SEQUENCE_TD
include "dialects/onnx/Onnx.td"

def Onnx_SequenceEmptyOp : Onnx_Op<"SequenceEmpty"> { let arguments = (ins OptInt:$dtype); let results = (outs Onnx_Value:$output); }
def Onnx_SequenceConstructOp : Onnx_Op<"SequenceConstruct"> {
  let arguments = (ins Values:$inputs);
  let results = (outs Onnx_Value:$output_sequence);
}
def Onnx_SequenceAtOp : Onnx_Op<"SequenceAt"> {
  let arguments = (ins Onnx_Value:$input_sequence, Onnx_Value:$position);
  let results = (outs Onnx_Value:$tensor);
}
def Onnx_SequenceInsertOp : Onnx_Op<"SequenceInsert"> {
  let arguments = (ins Onnx_Value:$input_sequence, Onnx_Value:$tensor, OptValue:$position);
  let results = (outs Onnx_Value:$output_sequence);
}
def Onnx_SequenceEraseOp : Onnx_Op<"SequenceErase"> {
  let arguments = (ins Onnx_Value:$input_sequence, OptValue:$position);
  let results = (outs Onnx_Value:$output_sequence);
}
def Onnx_SequenceLengthOp : Onnx_Op<"SequenceLength"> {
  let arguments = (ins Onnx_Value:$input_sequence);
  let results = (outs Onnx_Value:$length);
}
def Onnx_SplitToSequenceOp : Onnx_Op<"SplitToSequence"> {
  let arguments = (ins Onnx_Value:$input, OptValue:$split, Int<"0">:$axis, Int<"1">:$keepdims);
  let results = (outs Onnx_Value:$output_sequence);
}
def Onnx_ConcatFromSequenceOp : Onnx_Op<"ConcatFromSequence"> {
  let arguments = (ins Onnx_Value:$input_sequence, I64Attr:$axis, Int<"0">:$new_axis);
  let results = (outs Onnx_Value:$concat_result);
}
def Onnx_OptionalOp : Onnx_Op<"Optional"> { let arguments = (ins OptValue:$input); let results = (outs Onnx_Value:$output); }
def Onnx_OptionalGetElementOp : Onnx_Op<"OptionalGetElement"> {
  let arguments = (ins Onnx_Value:$input);
  let results = (outs Onnx_Value:$output);
}
def Onnx_OptionalHasElementOp : Onnx_Op<"OptionalHasElement"> {
  let arguments = (ins OptValue:$input);
  let results = (outs Onnx_Value:$output);
}
#endif
