// Reduce.td: reductions, scans along an axis, softmax, normalisations and losses.
#ifndef ONNX_REDUCE_TD
#define ONNX_REDUCE_TD
include "dialects/onnx/Onnx.td"

class Onnx_Reduce<string name> : Onnx_Op<name> {
  let arguments = (ins AnyTensor:$data, OptTensor:$axes, Int<"1">:$keepdims, Int<"0">:$noop_with_empty_axes);
  let results = (outs AnyTensor:$reduced);
}
def Onnx_ReduceL1Op : Onnx_Reduce<"ReduceL1">;
def Onnx_ReduceL2Op : Onnx_Reduce<"ReduceL2">;
def Onnx_ReduceLogSumOp : Onnx_Reduce<"ReduceLogSum">;
def Onnx_ReduceLogSumExpOp : Onnx_Reduce<"ReduceLogSumExp">;
def Onnx_ReduceMaxOp : Onnx_Reduce<"ReduceMax">;
def Onnx_ReduceMeanOp : Onnx_Reduce<"ReduceMean">;
def Onnx_ReduceMinOp : Onnx_Reduce<"ReduceMin">;
def Onnx_ReduceProdOp : Onnx_Reduce<"ReduceProd">;
def Onnx_ReduceSumOp : Onnx_Reduce<"ReduceSum">;
def Onnx_ReduceSumSquareOp : Onnx_Reduce<"ReduceSumSquare">;

def Onnx_ArgMaxOp : Onnx_Op<"ArgMax", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$data, Int<"0">:$axis, Int<"1">:$keepdims, Int<"0">:$select_last_index);
  let results = (outs AnyTensor:$reduced);
}
def Onnx_ArgMinOp : Onnx_Op<"ArgMin", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$data, Int<"0">:$axis, Int<"1">:$keepdims, Int<"0">:$select_last_index);
  let results = (outs AnyTensor:$reduced);
}
def Onnx_CumSumOp : Onnx_Op<"CumSum"> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$axis, Int<"0">:$exclusive, Int<"0">:$reverse);
  let results = (outs AnyTensor:$y);
}
def Onnx_CumProdOp : Onnx_Op<"CumProd"> {
  let arguments = (ins AnyTensor:$x, AnyTensor:$axis, Int<"0">:$exclusive, Int<"0">:$reverse);
  let results = (outs AnyTensor:$y);
}
def Onnx_SoftmaxOp : Onnx_Op<"Softmax", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$input, Int<"-1">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_LogSoftmaxOp : Onnx_Op<"LogSoftmax", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$input, Int<"-1">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_HardmaxOp : Onnx_Op<"Hardmax", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$input, Int<"-1">:$axis);
  let results = (outs AnyTensor:$output);
}
def Onnx_LpNormalizationOp : Onnx_Op<"LpNormalization", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$input, Int<"-1">:$axis, Int<"2">:$p);
  let results = (outs AnyTensor:$output);
}
def Onnx_MeanVarianceNormalizationOp : Onnx_Op<"MeanVarianceNormalization"> {
  let arguments = (ins AnyTensor:$X, IntsOr<"{0, 2, 3}">:$axes);
  let results = (outs AnyTensor:$Y);
}
def Onnx_LayerNormalizationOp : Onnx_Op<"LayerNormalization", [Pure, Onnx_AxisInRange, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$Scale, OptTensor:$B, Int<"-1">:$axis, Float<"1e-05f">:$epsilon, Int<"1">:$stash_type);
  let results = (outs AnyTensor:$Y, OptTensor:$Mean, OptTensor:$InvStdDev);
}
def Onnx_RMSNormalizationOp : Onnx_Op<"RMSNormalization", [Pure, Onnx_AxisInRange]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$scale, Int<"-1">:$axis, Float<"1e-05f">:$epsilon, Int<"1">:$stash_type);
  let results = (outs AnyTensor:$Y);
}
def Onnx_InstanceNormalizationOp : Onnx_Op<"InstanceNormalization"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$scale, AnyTensor:$B, Float<"1e-05f">:$epsilon);
  let results = (outs AnyTensor:$output);
}
def Onnx_GroupNormalizationOp : Onnx_Op<"GroupNormalization"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$scale, AnyTensor:$bias, Float<"1e-05f">:$epsilon, I64Attr:$num_groups,
                     Int<"1">:$stash_type);
  let results = (outs AnyTensor:$Y);
}
def Onnx_BatchNormalizationOp : Onnx_Op<"BatchNormalization", [Pure, AttrSizedResultSegments]> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$scale, AnyTensor:$B, AnyTensor:$input_mean, AnyTensor:$input_var, Float<"1e-05f">:$epsilon,
                     Float<"0.9f">:$momentum, Int<"0">:$training_mode);
  let results = (outs AnyTensor:$Y, OptTensor:$running_mean, OptTensor:$running_var);
}
def Onnx_LRNOp : Onnx_Op<"LRN"> {
  let arguments = (ins AnyTensor:$X, Float<"1e-04f">:$alpha, Float<"0.75f">:$beta, Float<"1.f">:$bias, I64Attr:$size);
  let results = (outs AnyTensor:$Y);
}
def Onnx_DropoutOp : Onnx_Op<"Dropout", [AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$data, OptTensor:$ratio, OptTensor:$training_mode, OptInt:$seed);
  let results = (outs AnyTensor:$output, OptTensor:$mask);
}
def Onnx_NegativeLogLikelihoodLossOp : Onnx_Op<"NegativeLogLikelihoodLoss"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$target, OptTensor:$weight, OptInt:$ignore_index, Str<"mean">:$reduction);
  let results = (outs AnyTensor:$loss);
}
def Onnx_SoftmaxCrossEntropyLossOp : Onnx_Op<"SoftmaxCrossEntropyLoss"> {
  let arguments = (ins AnyTensor:$scores, AnyTensor:$labels, OptTensor:$weights, OptInt:$ignore_index, Str<"mean">:$reduction);
  let results = (outs AnyTensor:$output, OptTensor:$log_prob);
}
#endif
