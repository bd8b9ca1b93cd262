// Quant.td: quantisation and integer matrix products of the standard.
#ifndef ONNX_QUANT_TD
#define ONNX_QUANT_TD
include "dialects/onnx/Onnx.td"

def Onnx_QuantizeLinearOp : Onnx_Op<"QuantizeLinear"> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$y_scale, OptTensor:$y_zero_point, Int<"1">:$axis, Int<"0">:$block_size,
                     Int<"0">:$output_dtype, Int<"0">:$precision, Int<"1">:$saturate);
  let results = (outs AnyTensor:$y);
}
def Onnx_DequantizeLinearOp : Onnx_Op<"DequantizeLinear"> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$x_scale, OptTensor:$x_zero_point, Int<"1">:$axis, Int<"0">:$block_size,
                     Int<"0">:$output_dtype);
  let results = (outs AnyTensor:$y);
}
def Onnx_DynamicQuantizeLinearOp : Onnx_Op<"DynamicQuantizeLinear"> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y, AnyTensor:$y_scale, AnyTensor:$y_zero_point);
}
def Onnx_MatMulIntegerOp : Onnx_Op<"MatMulInteger", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, OptTensor:$a_zero_point, OptTensor:$b_zero_point);
  let results = (outs AnyTensor:$Y);
}
def Onnx_ConvIntegerOp : Onnx_Op<"ConvInteger", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$w, OptTensor:$x_zero_point, OptTensor:$w_zero_point, Str<"NOTSET">:$auto_pad,
                     Ints:$dilations, Int<"1">:$group, Ints:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$y);
}
def Onnx_QLinearMatMulOp : Onnx_Op<"QLinearMatMul"> {
  let arguments = (ins AnyTensor:$a, AnyTensor:$a_scale, AnyTensor:$a_zero_point, AnyTensor:$b, AnyTensor:$b_scale, AnyTensor:$b_zero_point,
                     AnyTensor:$y_scale, AnyTensor:$y_zero_point);
  let results = (outs AnyTensor:$y);
}
def Onnx_QLinearConvOp : Onnx_Op<"QLinearConv"> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$x_scale, AnyTensor:$x_zero_point, AnyTensor:$w, AnyTensor:$w_scale, AnyTensor:$w_zero_point,
                     AnyTensor:$y_scale, AnyTensor:$y_zero_point, OptTensor:$B, Str<"NOTSET">:$auto_pad, Ints:$dilations, Int<"1">:$group,
                     Ints:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$y);
}
#endif
