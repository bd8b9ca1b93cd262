// Random.td: random numbers. Not Pure: two equal ops draw different numbers.
#ifndef ONNX_RANDOM_TD
#define ONNX_RANDOM_TD
include "dialects/onnx/Onnx.td"

def Onnx_RandomNormalOp : Onnx_Op<"RandomNormal", []> {
  let arguments = (ins Int<"1">:$dtype, Float<"0.f">:$mean, Float<"1.f">:$scale, OptFloat:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyTensor:$output);
}
def Onnx_RandomUniformOp : Onnx_Op<"RandomUniform", []> {
  let arguments = (ins Int<"1">:$dtype, Float<"1.f">:$high, Float<"0.f">:$low, OptFloat:$seed, DenseI64ArrayAttr:$shape);
  let results = (outs AnyTensor:$output);
}
def Onnx_RandomNormalLikeOp : Onnx_Op<"RandomNormalLike", []> {
  let arguments = (ins AnyTensor:$input, OptInt:$dtype, Float<"0.f">:$mean, Float<"1.f">:$scale, OptFloat:$seed);
  let results = (outs AnyTensor:$output);
}
def Onnx_RandomUniformLikeOp : Onnx_Op<"RandomUniformLike", []> {
  let arguments = (ins AnyTensor:$input, OptInt:$dtype, Float<"1.f">:$high, Float<"0.f">:$low, OptFloat:$seed);
  let results = (outs AnyTensor:$output);
}
def Onnx_MultinomialOp : Onnx_Op<"Multinomial", []> {
  let arguments = (ins AnyTensor:$input, Int<"6">:$dtype, Int<"1">:$sample_size, OptFloat:$seed);
  let results = (outs AnyTensor:$output);
}
def Onnx_BernoulliOp : Onnx_Op<"Bernoulli", []> {
  let arguments = (ins AnyTensor:$input, OptInt:$dtype, OptFloat:$seed);
  let results = (outs AnyTensor:$output);
}
#endif
