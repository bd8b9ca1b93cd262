// Signal.td: Fourier transforms and windows.
#ifndef ONNX_SIGNAL_TD
#define ONNX_SIGNAL_TD
include "dialects/onnx/Onnx.td"

def Onnx_DFTOp : Onnx_Op<"DFT", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$input, OptTensor:$dft_length, OptTensor:$axis, Int<"0">:$inverse, Int<"0">:$onesided);
  let results = (outs AnyTensor:$output);
}
def Onnx_STFTOp : Onnx_Op<"STFT", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$signal, AnyTensor:$frame_step, OptTensor:$window, OptTensor:$frame_length, Int<"1">:$onesided);
  let results = (outs AnyTensor:$output);
}
def Onnx_MelWeightMatrixOp : Onnx_Op<"MelWeightMatrix"> {
  let arguments = (ins AnyTensor:$num_mel_bins, AnyTensor:$dft_length, AnyTensor:$sample_rate, AnyTensor:$lower_edge_hertz,
                     AnyTensor:$upper_edge_hertz, Int<"1">:$output_datatype);
  let results = (outs AnyTensor:$output);
}
def Onnx_HannWindowOp : Onnx_Op<"HannWindow"> {
  let arguments = (ins AnyTensor:$size, Int<"1">:$output_datatype, Int<"1">:$periodic);
  let results = (outs AnyTensor:$output);
}
def Onnx_HammingWindowOp : Onnx_Op<"HammingWindow"> {
  let arguments = (ins AnyTensor:$size, Int<"1">:$output_datatype, Int<"1">:$periodic);
  let results = (outs AnyTensor:$output);
}
def Onnx_BlackmanWindowOp : Onnx_Op<"BlackmanWindow"> {
  let arguments = (ins AnyTensor:$size, Int<"1">:$output_datatype, Int<"1">:$periodic);
  let results = (outs AnyTensor:$output);
}
#endif
