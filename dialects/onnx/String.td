// String.td: strings and text.
#ifndef ONNX_STRING_TD
#define ONNX_STRING_TD
include "dialects/onnx/Onnx.td"

def Onnx_StringConcatOp : Onnx_Op<"StringConcat"> { let arguments = (ins AnyTensor:$X, AnyTensor:$Y); let results = (outs AnyTensor:$Z); }
def Onnx_StringSplitOp : Onnx_Op<"StringSplit"> {
  let arguments = (ins AnyTensor:$X, OptStr:$delimiter, OptInt:$maxsplit);
  let results = (outs AnyTensor:$Y, AnyTensor:$Z);
}
def Onnx_StringNormalizerOp : Onnx_Op<"StringNormalizer"> {
  let arguments = (ins AnyTensor:$X, Str<"NONE">:$case_change_action, Int<"0">:$is_case_sensitive, OptStr:$locale, Strs:$stopwords);
  let results = (outs AnyTensor:$Y);
}
def Onnx_RegexFullMatchOp : Onnx_Op<"RegexFullMatch"> {
  let arguments = (ins AnyTensor:$X, OptStr:$pattern);
  let results = (outs AnyTensor:$Y);
}
def Onnx_TfIdfVectorizerOp : Onnx_Op<"TfIdfVectorizer"> {
  let arguments = (ins AnyTensor:$X, I64Attr:$max_gram_length, I64Attr:$max_skip_count, I64Attr:$min_gram_length, StrAttr:$mode,
                     DenseI64ArrayAttr:$ngram_counts, DenseI64ArrayAttr:$ngram_indexes, Ints:$pool_int64s, Strs:$pool_strings,
                     Floats:$weights);
  let results = (outs AnyTensor:$Y);
}
#endif
