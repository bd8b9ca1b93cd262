// ControlFlow.td: ops with bodies. A body captures outer values directly, takes block arguments for its inputs and ends with onnx.Yield.
#ifndef ONNX_CONTROLFLOW_TD
#define ONNX_CONTROLFLOW_TD
include "dialects/onnx/Onnx.td"

def Onnx_YieldOp : Onnx_Op<"Yield", [Pure, ReturnLike, Terminator]> { let arguments = (ins Values:$operands); let results = (outs); }
def Onnx_IfOp : Onnx_Op<"If", [RecursiveMemoryEffects]> {
  let arguments = (ins AnyTensor:$cond);
  let results = (outs Values:$outputs);
  let regions = (region AnyRegion:$then_branch, AnyRegion:$else_branch);
}
def Onnx_LoopOp : Onnx_Op<"Loop", [RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let arguments = (ins OptTensor:$M, OptTensor:$cond, Values:$v_initial);
  let results = (outs Values:$v_final_and_scan_outputs);
  let regions = (region AnyRegion:$body);
}
def Onnx_ScanOp : Onnx_Op<"Scan", [RecursiveMemoryEffects]> {
  let arguments = (ins Values:$initial_state_and_scan_inputs, I64Attr:$num_scan_inputs, Ints:$scan_input_axes, Ints:$scan_input_directions,
                     Ints:$scan_output_axes, Ints:$scan_output_directions);
  let results = (outs Values:$final_state_and_scan_outputs);
  let regions = (region AnyRegion:$body);
}
def Onnx_SequenceMapOp : Onnx_Op<"SequenceMap", [RecursiveMemoryEffects]> {
  let arguments = (ins Onnx_Value:$input_sequence, Values:$additional_inputs);
  let results = (outs Values:$out_sequence);
  let regions = (region AnyRegion:$body);
}
#endif
