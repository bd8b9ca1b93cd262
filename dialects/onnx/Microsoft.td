// Microsoft.td: com.microsoft ops that exporters and ONNX Runtime write into files.
#ifndef ONNX_MICROSOFT_TD
#define ONNX_MICROSOFT_TD
include "dialects/onnx/Onnx.td"

def Onnx_MSFusedConvOp : Onnx_Op<"ms.FusedConv", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$B, OptTensor:$Z, OptStr:$activation, Floats:$activation_params,
                     Str<"NOTSET">:$auto_pad, Ints:$dilations, Int<"1">:$group, Ints:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSFusedGemmOp : Onnx_Op<"ms.FusedGemm"> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, OptTensor:$C, OptStr:$activation, OptFloat:$activation_alpha, OptFloat:$activation_beta,
                     OptFloat:$activation_gamma, Float<"1.f">:$alpha, Float<"1.f">:$beta, Int<"0">:$transA, Int<"0">:$transB);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSFusedMatMulOp : Onnx_Op<"ms.FusedMatMul"> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, Float<"1.f">:$alpha, Int<"0">:$transA, Int<"0">:$transB, Int<"0">:$transBatchA,
                     Int<"0">:$transBatchB);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSFastGeluOp : Onnx_Op<"ms.FastGelu"> { let arguments = (ins AnyTensor:$X, OptTensor:$bias); let results = (outs AnyTensor:$Y); }
def Onnx_MSBiasGeluOp : Onnx_Op<"ms.BiasGelu"> { let arguments = (ins AnyTensor:$A, AnyTensor:$B); let results = (outs AnyTensor:$C); }
def Onnx_MSQuickGeluOp : Onnx_Op<"ms.QuickGelu"> {
  let arguments = (ins AnyTensor:$X, Float<"1.702f">:$alpha);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSLayerNormalizationOp : Onnx_Op<"ms.LayerNormalization", [Pure, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$Scale, OptTensor:$B, Int<"-1">:$axis, Float<"1e-05f">:$epsilon, Int<"1">:$stash_type);
  let results = (outs AnyTensor:$Y, OptTensor:$Mean, OptTensor:$InvStdDev);
}
def Onnx_MSSimplifiedLayerNormalizationOp : Onnx_Op<"ms.SimplifiedLayerNormalization"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$scale, Int<"-1">:$axis, Float<"1e-05f">:$epsilon, Int<"1">:$stash_type);
  let results = (outs AnyTensor:$Y, OptTensor:$inv_std_var);
}
def Onnx_MSSkipLayerNormalizationOp : Onnx_Op<"ms.SkipLayerNormalization", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$skip, AnyTensor:$gamma, OptTensor:$beta, OptTensor:$bias, Float<"1e-12f">:$epsilon);
  let results = (outs AnyTensor:$output, OptTensor:$mean, OptTensor:$inv_std_var, OptTensor:$input_skip_bias_sum);
}
def Onnx_MSSkipSimplifiedLayerNormalizationOp : Onnx_Op<"ms.SkipSimplifiedLayerNormalization", [Pure, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$skip, AnyTensor:$gamma, OptTensor:$bias, Float<"1e-12f">:$epsilon);
  let results = (outs AnyTensor:$output, OptTensor:$mean, OptTensor:$inv_std_var, OptTensor:$input_skip_bias_sum);
}
def Onnx_MSEmbedLayerNormalizationOp : Onnx_Op<"ms.EmbedLayerNormalization", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$input_ids, OptTensor:$segment_ids, AnyTensor:$word_embedding, AnyTensor:$position_embedding,
                     OptTensor:$segment_embedding, AnyTensor:$gamma, AnyTensor:$beta, OptTensor:$mask, OptTensor:$position_ids,
                     Float<"1e-12f">:$epsilon, OptInt:$mask_index_type);
  let results = (outs AnyTensor:$output, OptTensor:$mask_index, OptTensor:$embedding_sum);
}
def Onnx_MSAttentionOp : Onnx_Op<"ms.Attention", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$weights, OptTensor:$bias, OptTensor:$mask_index, OptTensor:$past,
                     OptTensor:$attention_bias, OptTensor:$past_sequence_length, OptInt:$do_rotary, OptFloat:$mask_filter_value,
                     I64Attr:$num_heads, OptInt:$past_present_share_buffer, Ints:$qkv_hidden_sizes, OptInt:$rotary_embedding_dim,
                     OptFloat:$scale, Int<"0">:$unidirectional);
  let results = (outs AnyTensor:$output, OptTensor:$present);
}
def Onnx_MSMultiHeadAttentionOp : Onnx_Op<"ms.MultiHeadAttention", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$query, OptTensor:$key, OptTensor:$value, OptTensor:$bias, OptTensor:$key_padding_mask,
                     OptTensor:$attention_bias, OptTensor:$past_key, OptTensor:$past_value, OptTensor:$past_sequence_length,
                     OptTensor:$cache_indirection, OptFloat:$mask_filter_value, I64Attr:$num_heads, OptFloat:$scale,
                     Int<"0">:$unidirectional);
  let results = (outs AnyTensor:$output, OptTensor:$present_key, OptTensor:$present_value, OptTensor:$qk);
}
def Onnx_MSGroupQueryAttentionOp : Onnx_Op<"ms.GroupQueryAttention", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$query, OptTensor:$key, OptTensor:$value, OptTensor:$past_key, OptTensor:$past_value, AnyTensor:$seqlens_k,
                     AnyTensor:$total_sequence_length, OptTensor:$cos_cache, OptTensor:$sin_cache, OptTensor:$position_ids,
                     OptTensor:$attention_bias, OptTensor:$head_sink, OptTensor:$k_scale, OptTensor:$v_scale, OptTensor:$q_norm_weight,
                     OptTensor:$k_norm_weight, Int<"1">:$causal, OptInt:$do_rotary, Str<"NONE">:$k_quant_type, OptInt:$kv_cache_bit_width,
                     I64Attr:$kv_num_heads, Int<"-1">:$local_window_size, I64Attr:$num_heads, Float<"1e-06f">:$qk_norm_epsilon,
                     Int<"0">:$qk_output, OptInt:$rotary_interleaved, OptFloat:$scale, Int<"0">:$sliding_window_cache,
                     Int<"-1">:$smooth_softmax, OptFloat:$softcap, Str<"NONE">:$v_quant_type);
  let results = (outs AnyTensor:$output, OptTensor:$present_key, OptTensor:$present_value, OptTensor:$output_qk);
}
def Onnx_MSRotaryEmbeddingOp : Onnx_Op<"ms.RotaryEmbedding"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$position_ids, AnyTensor:$cos_cache, AnyTensor:$sin_cache, OptInt:$interleaved,
                     OptInt:$is_packed_batching, OptInt:$num_heads, OptInt:$rotary_embedding_dim, OptFloat:$scale);
  let results = (outs AnyTensor:$output);
}
def Onnx_MSMatMulNBitsOp : Onnx_Op<"ms.MatMulNBits", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$scales, OptTensor:$zero_points, OptTensor:$g_idx, OptTensor:$bias, I64Attr:$K,
                     I64Attr:$N, Int<"0">:$accuracy_level, Int<"4">:$bits, I64Attr:$block_size, Int<"0">:$weight_prepacked);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSGatherBlockQuantizedOp : Onnx_Op<"ms.GatherBlockQuantized"> {
  let arguments = (ins AnyTensor:$data, AnyTensor:$indices, AnyTensor:$scales, OptTensor:$zero_points, Int<"4">:$bits,
                     Int<"128">:$block_size, Int<"0">:$gather_axis, Int<"1">:$quantize_axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_MSQLinearAddOp : Onnx_Op<"ms.QLinearAdd", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$A_scale, OptTensor:$A_zero_point, AnyTensor:$B, AnyTensor:$B_scale, OptTensor:$B_zero_point,
                     AnyTensor:$C_scale, OptTensor:$C_zero_point);
  let results = (outs AnyTensor:$C);
}
def Onnx_MSQLinearMulOp : Onnx_Op<"ms.QLinearMul", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$A_scale, OptTensor:$A_zero_point, AnyTensor:$B, AnyTensor:$B_scale, OptTensor:$B_zero_point,
                     AnyTensor:$C_scale, OptTensor:$C_zero_point);
  let results = (outs AnyTensor:$C);
}
def Onnx_MSQLinearConcatOp : Onnx_Op<"ms.QLinearConcat"> {
  let arguments = (ins AnyTensor:$Y_scale, AnyTensor:$Y_zero_point, Tensors:$inputs, I64Attr:$axis);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQLinearSigmoidOp : Onnx_Op<"ms.QLinearSigmoid", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$X_scale, OptTensor:$X_zero_point, AnyTensor:$Y_scale, OptTensor:$Y_zero_point);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQLinearLeakyReluOp : Onnx_Op<"ms.QLinearLeakyRelu", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$X_scale, OptTensor:$X_zero_point, AnyTensor:$Y_scale, OptTensor:$Y_zero_point,
                     Float<"0.01f">:$alpha);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQLinearAveragePoolOp : Onnx_Op<"ms.QLinearAveragePool", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$x_scale, OptTensor:$x_zero_point, AnyTensor:$y_scale, OptTensor:$y_zero_point,
                     Str<"NOTSET">:$auto_pad, Int<"0">:$ceil_mode, Int<"0">:$channels_last, Int<"0">:$count_include_pad,
                     DenseI64ArrayAttr:$kernel_shape, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQLinearGlobalAveragePoolOp : Onnx_Op<"ms.QLinearGlobalAveragePool"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$x_scale, AnyTensor:$x_zero_point, AnyTensor:$y_scale, AnyTensor:$y_zero_point,
                     Int<"0">:$channels_last);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQLinearSoftmaxOp : Onnx_Op<"ms.QLinearSoftmax"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$X_scale, OptTensor:$x_zero_point, AnyTensor:$y_scale, AnyTensor:$y_zero_point,
                     Int<"-1">:$axis, I64Attr:$opset);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSQAttentionOp : Onnx_Op<"ms.QAttention", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$weight, AnyTensor:$bias, AnyTensor:$input_scale, AnyTensor:$weight_scale,
                     OptTensor:$mask_index, OptTensor:$input_zero_point, OptTensor:$weight_zero_point, OptTensor:$past, OptInt:$do_rotary,
                     OptFloat:$mask_filter_value, I64Attr:$num_heads, OptInt:$past_present_share_buffer, OptFloat:$scale,
                     Int<"0">:$unidirectional);
  let results = (outs AnyTensor:$output, OptTensor:$present);
}
def Onnx_MSQGemmOp : Onnx_Op<"ms.QGemm", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$a_scale, AnyTensor:$a_zero_point, AnyTensor:$B, AnyTensor:$b_scale, AnyTensor:$b_zero_point,
                     OptTensor:$C, OptTensor:$y_scale, OptTensor:$y_zero_point, Float<"1.f">:$alpha, Int<"0">:$transA, Int<"0">:$transB);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSDynamicQuantizeMatMulOp : Onnx_Op<"ms.DynamicQuantizeMatMul", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$b_scale, OptTensor:$b_zero_point, OptTensor:$bias);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSMatMulIntegerToFloatOp : Onnx_Op<"ms.MatMulIntegerToFloat", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$a_scale, AnyTensor:$b_scale, OptTensor:$a_zero_point, OptTensor:$b_zero_point,
                     OptTensor:$bias);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSDynamicQuantizeLSTMOp : Onnx_Op<"ms.DynamicQuantizeLSTM", [Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$R, OptTensor:$B, OptTensor:$sequence_lens, OptTensor:$initial_h,
                     OptTensor:$initial_c, OptTensor:$P, AnyTensor:$W_scale, AnyTensor:$W_zero_point, AnyTensor:$R_scale,
                     AnyTensor:$R_zero_point, Floats:$activation_alpha, Floats:$activation_beta, Strs:$activations, OptFloat:$clip,
                     Str<"forward">:$direction, OptInt:$hidden_size, Int<"0">:$input_forget);
  let results = (outs OptTensor:$Y, OptTensor:$Y_h, OptTensor:$Y_c);
}
def Onnx_MSNhwcMaxPoolOp : Onnx_Op<"ms.NhwcMaxPool"> {
  let arguments = (ins AnyTensor:$x, Str<"NOTSET">:$auto_pad, Int<"0">:$ceil_mode, Ints:$dilations, DenseI64ArrayAttr:$kernel_shape,
                     Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$y);
}
def Onnx_MSUniqueOp : Onnx_Op<"ms.Unique"> {
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y, AnyTensor:$idx, AnyTensor:$counts);
}
def Onnx_MSInverseOp : Onnx_Op<"ms.Inverse"> { let arguments = (ins AnyTensor:$X); let results = (outs AnyTensor:$Y); }
def Onnx_MSCropAndResizeOp : Onnx_Op<"ms.CropAndResize"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$rois, AnyTensor:$batch_indices, AnyTensor:$crop_size, Float<"0.f">:$extrapolation_value,
                     Str<"bilinear">:$mode);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSDynamicTimeWarpingOp : Onnx_Op<"ms.DynamicTimeWarping"> {
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$output);
}
def Onnx_MSMurmurHash3Op : Onnx_Op<"ms.MurmurHash3"> {
  let arguments = (ins AnyTensor:$X, Int<"0">:$seed);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MSBifurcationDetectorOp : Onnx_Op<"ms.BifurcationDetector"> {
  let arguments = (ins AnyTensor:$src_tokens, AnyTensor:$cur_tokens, AnyTensor:$prev_suffix_match_idx, OptTensor:$pred_tokens,
                     Int<"3">:$max_ngram_size, Int<"1">:$min_ngram_size);
  let results = (outs AnyTensor:$tokens, AnyTensor:$suffix_match_idx);
}
def Onnx_MSNGramRepeatBlockOp : Onnx_Op<"ms.NGramRepeatBlock"> {
  let arguments = (ins AnyTensor:$input_ids, AnyTensor:$scores, I64Attr:$ngram_size);
  let results = (outs AnyTensor:$scores_out);
}
def Onnx_MSTokenizerOp : Onnx_Op<"ms.Tokenizer"> {
  let arguments = (ins AnyTensor:$X, I64Attr:$mark, I64Attr:$mincharnum, StrAttr:$pad_value, Strs:$separators, OptStr:$tokenexp);
  let results = (outs AnyTensor:$Y);
}
#endif
