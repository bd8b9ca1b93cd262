// Elementwise.td: elementwise math, logic, comparison, activations, casts: results broadcast or have their input's shape.
#ifndef ONNX_ELEMENTWISE_TD
#define ONNX_ELEMENTWISE_TD
include "dialects/onnx/Onnx.td"

class Onnx_Unary<string name> : Onnx_Op<name> { let arguments = (ins AnyTensor:$input); let results = (outs AnyTensor:$output); }
class Onnx_Binary<string name> : Onnx_Op<name> { let arguments = (ins AnyTensor:$A, AnyTensor:$B); let results = (outs AnyTensor:$C); }
class Onnx_Nary<string name> : Onnx_Op<name> { let arguments = (ins Tensors:$inputs); let results = (outs AnyTensor:$output); }

def Onnx_AbsOp : Onnx_Unary<"Abs">;
def Onnx_NegOp : Onnx_Unary<"Neg">;
def Onnx_CeilOp : Onnx_Unary<"Ceil">;
def Onnx_FloorOp : Onnx_Unary<"Floor">;
def Onnx_RoundOp : Onnx_Unary<"Round">;
def Onnx_SignOp : Onnx_Unary<"Sign">;
def Onnx_SqrtOp : Onnx_Unary<"Sqrt">;
def Onnx_ReciprocalOp : Onnx_Unary<"Reciprocal">;
def Onnx_ExpOp : Onnx_Unary<"Exp">;
def Onnx_LogOp : Onnx_Unary<"Log">;
def Onnx_ErfOp : Onnx_Unary<"Erf">;

def Onnx_AcosOp : Onnx_Unary<"Acos">;
def Onnx_AcoshOp : Onnx_Unary<"Acosh">;
def Onnx_AsinOp : Onnx_Unary<"Asin">;
def Onnx_AsinhOp : Onnx_Unary<"Asinh">;
def Onnx_AtanOp : Onnx_Unary<"Atan">;
def Onnx_AtanhOp : Onnx_Unary<"Atanh">;
def Onnx_CosOp : Onnx_Unary<"Cos">;
def Onnx_CoshOp : Onnx_Unary<"Cosh">;
def Onnx_SinOp : Onnx_Unary<"Sin">;
def Onnx_SinhOp : Onnx_Unary<"Sinh">;
def Onnx_TanOp : Onnx_Unary<"Tan">;
def Onnx_TanhOp : Onnx_Unary<"Tanh">;

def Onnx_SigmoidOp : Onnx_Unary<"Sigmoid">;
def Onnx_ReluOp : Onnx_Unary<"Relu">;
def Onnx_HardSwishOp : Onnx_Unary<"HardSwish">;
def Onnx_MishOp : Onnx_Unary<"Mish">;
def Onnx_SoftplusOp : Onnx_Unary<"Softplus">;
def Onnx_SoftsignOp : Onnx_Unary<"Softsign">;

def Onnx_NotOp : Onnx_Unary<"Not">;
def Onnx_BitwiseNotOp : Onnx_Unary<"BitwiseNot">;
def Onnx_IsNaNOp : Onnx_Unary<"IsNaN">;

def Onnx_AddOp : Onnx_Binary<"Add"> { let hasFolder = 1; }
def Onnx_SubOp : Onnx_Binary<"Sub"> { let hasFolder = 1; }
def Onnx_MulOp : Onnx_Binary<"Mul"> { let hasFolder = 1; }
def Onnx_DivOp : Onnx_Binary<"Div"> { let hasFolder = 1; }
def Onnx_PowOp : Onnx_Binary<"Pow">;
def Onnx_PReluOp : Onnx_Binary<"PRelu">;

def Onnx_AndOp : Onnx_Binary<"And">;
def Onnx_OrOp : Onnx_Binary<"Or">;
def Onnx_XorOp : Onnx_Binary<"Xor">;
def Onnx_BitwiseAndOp : Onnx_Binary<"BitwiseAnd">;
def Onnx_BitwiseOrOp : Onnx_Binary<"BitwiseOr">;
def Onnx_BitwiseXorOp : Onnx_Binary<"BitwiseXor">;

def Onnx_EqualOp : Onnx_Binary<"Equal">;
def Onnx_LessOp : Onnx_Binary<"Less">;
def Onnx_LessOrEqualOp : Onnx_Binary<"LessOrEqual">;
def Onnx_GreaterOp : Onnx_Binary<"Greater">;
def Onnx_GreaterOrEqualOp : Onnx_Binary<"GreaterOrEqual">;

def Onnx_MaxOp : Onnx_Nary<"Max">;
def Onnx_MinOp : Onnx_Nary<"Min">;
def Onnx_MeanOp : Onnx_Nary<"Mean">;
def Onnx_SumOp : Onnx_Nary<"Sum">;

def Onnx_CeluOp : Onnx_Op<"Celu"> { let arguments = (ins AnyTensor:$X, Float<"1.f">:$alpha); let results = (outs AnyTensor:$Y); }
def Onnx_EluOp : Onnx_Op<"Elu"> { let arguments = (ins AnyTensor:$X, Float<"1.f">:$alpha); let results = (outs AnyTensor:$Y); }
def Onnx_SeluOp : Onnx_Op<"Selu"> {
  let arguments = (ins AnyTensor:$X, Float<"1.6732632f">:$alpha, Float<"1.050701f">:$gamma);
  let results = (outs AnyTensor:$Y);
}
def Onnx_LeakyReluOp : Onnx_Op<"LeakyRelu"> {
  let arguments = (ins AnyTensor:$X, Float<"0.01f">:$alpha);
  let results = (outs AnyTensor:$Y);
}
def Onnx_ThresholdedReluOp : Onnx_Op<"ThresholdedRelu"> {
  let arguments = (ins AnyTensor:$X, Float<"1.f">:$alpha);
  let results = (outs AnyTensor:$Y);
}
def Onnx_HardSigmoidOp : Onnx_Op<"HardSigmoid"> {
  let arguments = (ins AnyTensor:$X, Float<"0.2f">:$alpha, Float<"0.5f">:$beta);
  let results = (outs AnyTensor:$Y);
}
def Onnx_ShrinkOp : Onnx_Op<"Shrink"> {
  let arguments = (ins AnyTensor:$input, Float<"0.f">:$bias, Float<"0.5f">:$lambd);
  let results = (outs AnyTensor:$output);
}
def Onnx_GeluOp : Onnx_Op<"Gelu"> { let arguments = (ins AnyTensor:$X, Str<"none">:$approximate); let results = (outs AnyTensor:$Y); }
def Onnx_SwishOp : Onnx_Op<"Swish"> { let arguments = (ins AnyTensor:$X, Float<"1.f">:$alpha); let results = (outs AnyTensor:$Y); }
def Onnx_SwiGLUOp : Onnx_Op<"SwiGLU"> {
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, Float<"1.f">:$alpha);
  let results = (outs AnyTensor:$Y);
}
def Onnx_ModOp : Onnx_Op<"Mod"> { let arguments = (ins AnyTensor:$A, AnyTensor:$B, Int<"0">:$fmod); let results = (outs AnyTensor:$C); }
def Onnx_BitShiftOp : Onnx_Op<"BitShift"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$Y, StrAttr:$direction);
  let results = (outs AnyTensor:$Z);
}
def Onnx_IsInfOp : Onnx_Op<"IsInf"> {
  let arguments = (ins AnyTensor:$X, Int<"1">:$detect_negative, Int<"1">:$detect_positive);
  let results = (outs AnyTensor:$Y);
}
def Onnx_ClipOp : Onnx_Op<"Clip", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$input, OptTensor:$min, OptTensor:$max);
  let results = (outs AnyTensor:$output);
}
def Onnx_WhereOp : Onnx_Op<"Where"> {
  let arguments = (ins AnyTensor:$condition, AnyTensor:$X, AnyTensor:$Y);
  let results = (outs AnyTensor:$output);
}
def Onnx_CastOp : Onnx_Op<"Cast"> {
  let arguments = (ins AnyTensor:$input, Str<"up">:$round_mode, Int<"1">:$saturate, I64Attr:$to);
  let results = (outs AnyTensor:$output);
  let hasFolder = 1;
}
def Onnx_CastLikeOp : Onnx_Op<"CastLike"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$target_type, Str<"up">:$round_mode, Int<"1">:$saturate);
  let results = (outs AnyTensor:$output);
}
def Onnx_BitCastOp : Onnx_Op<"BitCast"> { let arguments = (ins AnyTensor:$input, I64Attr:$to); let results = (outs AnyTensor:$output); }
def Onnx_IdentityOp : Onnx_Op<"Identity"> {
  let arguments = (ins Onnx_Value:$input);
  let results = (outs Onnx_Value:$output);
  let hasFolder = 1;
}
#endif
