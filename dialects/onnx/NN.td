// NN.td: matrix products, convolution, pooling, attention and recurrent ops.
#ifndef ONNX_NN_TD
#define ONNX_NN_TD
include "dialects/onnx/Onnx.td"

def Onnx_MatMulOp : Onnx_Op<"MatMul"> { let arguments = (ins AnyTensor:$A, AnyTensor:$B); let results = (outs AnyTensor:$Y); }
def Onnx_GemmOp : Onnx_Op<"Gemm"> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, OptTensor:$C, Float<"1.f">:$alpha, Float<"1.f">:$beta, Int<"0">:$transA,
                     Int<"0">:$transB);
  let results = (outs AnyTensor:$Y);
}
def Onnx_EinsumOp : Onnx_Op<"Einsum"> { let arguments = (ins Tensors:$Inputs, StrAttr:$equation); let results = (outs AnyTensor:$Output); }
def Onnx_DetOp : Onnx_Op<"Det"> { let arguments = (ins AnyTensor:$X); let results = (outs AnyTensor:$Y); }
def Onnx_ConvOp : Onnx_Op<"Conv"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$B, Str<"NOTSET">:$auto_pad, Ints:$dilations, Int<"1">:$group,
                     Ints:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
  let hasVerifier = 1;
}
def Onnx_ConvTransposeOp : Onnx_Op<"ConvTranspose"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$B, Str<"NOTSET">:$auto_pad, Ints:$dilations, Int<"1">:$group,
                     Ints:$kernel_shape, Ints:$output_padding, Ints:$output_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
  let hasVerifier = 1;
}
def Onnx_DeformConvOp : Onnx_Op<"DeformConv", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$offset, OptTensor:$B, OptTensor:$mask, Ints:$dilations, Int<"1">:$group,
                     Ints:$kernel_shape, Int<"1">:$offset_group, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
}
def Onnx_CausalConvWithStateOp : Onnx_Op<"CausalConvWithState", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$weight, OptTensor:$bias, OptTensor:$past_state, Str<"none">:$activation);
  let results = (outs AnyTensor:$output, AnyTensor:$present_state);
}
def Onnx_AveragePoolOp : Onnx_Op<"AveragePool"> {
  let arguments = (ins AnyTensor:$X, Str<"NOTSET">:$auto_pad, Int<"0">:$ceil_mode, Int<"0">:$count_include_pad, Ints:$dilations,
                     DenseI64ArrayAttr:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
  let hasVerifier = 1;
}
def Onnx_MaxPoolOp : Onnx_Op<"MaxPool"> {
  let arguments = (ins AnyTensor:$X, Str<"NOTSET">:$auto_pad, Int<"0">:$ceil_mode, Ints:$dilations, DenseI64ArrayAttr:$kernel_shape,
                     Ints:$pads, Int<"0">:$storage_order, Ints:$strides);
  let results = (outs AnyTensor:$Y, OptTensor:$Indices);
  let hasVerifier = 1;
}
def Onnx_LpPoolOp : Onnx_Op<"LpPool"> {
  let arguments = (ins AnyTensor:$X, Str<"NOTSET">:$auto_pad, Int<"0">:$ceil_mode, Ints:$dilations, DenseI64ArrayAttr:$kernel_shape,
                     Int<"2">:$p, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
  let hasVerifier = 1;
}
def Onnx_GlobalAveragePoolOp : Onnx_Op<"GlobalAveragePool"> { let arguments = (ins AnyTensor:$X); let results = (outs AnyTensor:$Y); }
def Onnx_GlobalMaxPoolOp : Onnx_Op<"GlobalMaxPool"> { let arguments = (ins AnyTensor:$X); let results = (outs AnyTensor:$Y); }
def Onnx_GlobalLpPoolOp : Onnx_Op<"GlobalLpPool"> { let arguments = (ins AnyTensor:$X, Int<"2">:$p); let results = (outs AnyTensor:$Y); }
def Onnx_MaxUnpoolOp : Onnx_Op<"MaxUnpool"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$I, OptTensor:$output_shape, DenseI64ArrayAttr:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$output);
}
def Onnx_AttentionOp : Onnx_Op<"Attention", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$Q, AnyTensor:$K, AnyTensor:$V, OptTensor:$attn_mask, OptTensor:$past_key, OptTensor:$past_value,
                     OptTensor:$nonpad_kv_seqlen, Int<"0">:$is_causal, OptInt:$kv_num_heads, Int<"-1">:$left_window_size,
                     OptInt:$q_num_heads, Int<"0">:$qk_matmul_output_mode, Int<"-1">:$right_window_size, OptFloat:$scale,
                     Float<"0.f">:$softcap, OptInt:$softmax_precision);
  let results = (outs AnyTensor:$Y, OptTensor:$present_key, OptTensor:$present_value, OptTensor:$qk_matmul_output);
}
def Onnx_LinearAttentionOp : Onnx_Op<"LinearAttention", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$query, AnyTensor:$key, AnyTensor:$value, OptTensor:$past_state, OptTensor:$decay, OptTensor:$beta,
                     Int<"64">:$chunk_size, I64Attr:$kv_num_heads, I64Attr:$q_num_heads, Float<"0.f">:$scale,
                     Str<"gated_delta">:$update_rule);
  let results = (outs AnyTensor:$output, AnyTensor:$present_state);
}
def Onnx_RotaryEmbeddingOp : Onnx_Op<"RotaryEmbedding"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$cos_cache, AnyTensor:$sin_cache, OptTensor:$position_ids, Int<"0">:$interleaved,
                     OptInt:$num_heads, Int<"0">:$rotary_embedding_dim);
  let results = (outs AnyTensor:$Y);
}
def Onnx_RNNOp : Onnx_Op<"RNN", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$R, OptTensor:$B, OptTensor:$sequence_lens, OptTensor:$initial_h,
                     Floats:$activation_alpha, Floats:$activation_beta, Strs:$activations, OptFloat:$clip, Str<"forward">:$direction,
                     OptInt:$hidden_size, Int<"0">:$layout);
  let results = (outs OptTensor:$Y, OptTensor:$Y_h);
}
def Onnx_GRUOp : Onnx_Op<"GRU", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$R, OptTensor:$B, OptTensor:$sequence_lens, OptTensor:$initial_h,
                     Floats:$activation_alpha, Floats:$activation_beta, Strs:$activations, OptFloat:$clip, Str<"forward">:$direction,
                     OptInt:$hidden_size, Int<"0">:$layout, Int<"0">:$linear_before_reset);
  let results = (outs OptTensor:$Y, OptTensor:$Y_h);
}
def Onnx_LSTMOp : Onnx_Op<"LSTM", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$R, OptTensor:$B, OptTensor:$sequence_lens, OptTensor:$initial_h,
                     OptTensor:$initial_c, OptTensor:$P, Floats:$activation_alpha, Floats:$activation_beta, Strs:$activations,
                     OptFloat:$clip, Str<"forward">:$direction, OptInt:$hidden_size, Int<"0">:$input_forget, Int<"0">:$layout);
  let results = (outs OptTensor:$Y, OptTensor:$Y_h, OptTensor:$Y_c);
}
#endif
