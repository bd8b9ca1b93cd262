// Training.td: ai.onnx.preview.training and ai.onnx.preview.
#ifndef ONNX_TRAINING_TD
#define ONNX_TRAINING_TD
include "dialects/onnx/Onnx.td"

def Onnx_TrainingAdagradOp : Onnx_Op<"training.Adagrad"> {
  let arguments = (ins AnyTensor:$R, AnyTensor:$T, Tensors:$inputs, Float<"0.f">:$decay_factor, Float<"1e-06f">:$epsilon,
                     Float<"0.f">:$norm_coefficient);
  let results = (outs Tensors:$outputs);
}
def Onnx_TrainingAdamOp : Onnx_Op<"training.Adam"> {
  let arguments = (ins AnyTensor:$R, AnyTensor:$T, Tensors:$inputs, Float<"0.9f">:$alpha, Float<"0.999f">:$beta, Float<"1e-06f">:$epsilon,
                     Float<"0.f">:$norm_coefficient, Float<"0.f">:$norm_coefficient_post);
  let results = (outs Tensors:$outputs);
}
def Onnx_TrainingMomentumOp : Onnx_Op<"training.Momentum"> {
  let arguments = (ins AnyTensor:$R, AnyTensor:$T, Tensors:$inputs, F32Attr:$alpha, F32Attr:$beta, StrAttr:$mode,
                     F32Attr:$norm_coefficient);
  let results = (outs Tensors:$outputs);
}
def Onnx_PreviewFlexAttentionOp : Onnx_Op<"preview.FlexAttention"> {
  let arguments = (ins AnyTensor:$Q, AnyTensor:$K, AnyTensor:$V, OptFloat:$scale, OptInt:$softmax_precision);
  let results = (outs AnyTensor:$Y);
  let regions = (region AnyRegion:$prob_mod, AnyRegion:$score_mod);
}
#endif
