// ML.td: ai.onnx.ml: classic machine learning.
#ifndef ONNX_ML_TD
#define ONNX_ML_TD
include "dialects/onnx/Onnx.td"

def Onnx_MLArrayFeatureExtractorOp : Onnx_Op<"ml.ArrayFeatureExtractor"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$Y);
  let results = (outs AnyTensor:$Z);
}
def Onnx_MLBinarizerOp : Onnx_Op<"ml.Binarizer"> {
  let arguments = (ins AnyTensor:$X, Float<"0.f">:$threshold);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLCastMapOp : Onnx_Op<"ml.CastMap"> {
  let arguments = (ins Onnx_Value:$X, Str<"TO_FLOAT">:$cast_to, Str<"DENSE">:$map_form, Int<"1">:$max_map);
  let results = (outs Onnx_Value:$Y);
}
def Onnx_MLCategoryMapperOp : Onnx_Op<"ml.CategoryMapper"> {
  let arguments = (ins AnyTensor:$X, Ints:$cats_int64s, Strs:$cats_strings, Int<"-1">:$default_int64, Str<"_Unused">:$default_string);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLDictVectorizerOp : Onnx_Op<"ml.DictVectorizer"> {
  let arguments = (ins Onnx_Value:$X, Ints:$int64_vocabulary, Strs:$string_vocabulary);
  let results = (outs Onnx_Value:$Y);
}
def Onnx_MLFeatureVectorizerOp : Onnx_Op<"ml.FeatureVectorizer"> {
  let arguments = (ins Tensors:$X, Ints:$inputdimensions);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLImputerOp : Onnx_Op<"ml.Imputer"> {
  let arguments = (ins AnyTensor:$X, Floats:$imputed_value_floats, Ints:$imputed_value_int64s, Float<"0.f">:$replaced_value_float,
                     Int<"0">:$replaced_value_int64);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLLabelEncoderOp : Onnx_Op<"ml.LabelEncoder"> {
  let arguments = (ins AnyTensor:$X, Float<"-0.f">:$default_float, Int<"-1">:$default_int64, Str<"_Unused">:$default_string,
                     Elements:$default_tensor, Floats:$keys_floats, Ints:$keys_int64s, Strs:$keys_strings, Elements:$keys_tensor,
                     Floats:$values_floats, Ints:$values_int64s, Strs:$values_strings, Elements:$values_tensor);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLLinearClassifierOp : Onnx_Op<"ml.LinearClassifier"> {
  let arguments = (ins AnyTensor:$X, Ints:$classlabels_ints, Strs:$classlabels_strings, DenseF32ArrayAttr:$coefficients, Floats:$intercepts,
                     Int<"0">:$multi_class, Str<"NONE">:$post_transform);
  let results = (outs AnyTensor:$Y, AnyTensor:$Z);
}
def Onnx_MLLinearRegressorOp : Onnx_Op<"ml.LinearRegressor"> {
  let arguments = (ins AnyTensor:$X, Floats:$coefficients, Floats:$intercepts, Str<"NONE">:$post_transform, Int<"1">:$targets);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLNormalizerOp : Onnx_Op<"ml.Normalizer"> {
  let arguments = (ins AnyTensor:$X, Str<"MAX">:$norm);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLOneHotEncoderOp : Onnx_Op<"ml.OneHotEncoder"> {
  let arguments = (ins AnyTensor:$X, Ints:$cats_int64s, Strs:$cats_strings, Int<"1">:$zeros);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLSVMClassifierOp : Onnx_Op<"ml.SVMClassifier"> {
  let arguments = (ins AnyTensor:$X, Ints:$classlabels_ints, Strs:$classlabels_strings, Floats:$coefficients, Floats:$kernel_params,
                     Str<"LINEAR">:$kernel_type, Str<"NONE">:$post_transform, Floats:$prob_a, Floats:$prob_b, Floats:$rho,
                     Floats:$support_vectors, Ints:$vectors_per_class);
  let results = (outs AnyTensor:$Y, AnyTensor:$Z);
}
def Onnx_MLSVMRegressorOp : Onnx_Op<"ml.SVMRegressor"> {
  let arguments = (ins AnyTensor:$X, Floats:$coefficients, Floats:$kernel_params, Str<"LINEAR">:$kernel_type, Int<"0">:$n_supports,
                     Int<"0">:$one_class, Str<"NONE">:$post_transform, Floats:$rho, Floats:$support_vectors);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLScalerOp : Onnx_Op<"ml.Scaler"> {
  let arguments = (ins AnyTensor:$X, Floats:$offset, Floats:$scale);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLTreeEnsembleOp : Onnx_Op<"ml.TreeEnsemble"> {
  let arguments = (ins AnyTensor:$X, Int<"1">:$aggregate_function, DenseI64ArrayAttr:$leaf_targetids, ElementsAttr:$leaf_weights,
                     Elements:$membership_values, OptInt:$n_targets, DenseI64ArrayAttr:$nodes_falseleafs,
                     DenseI64ArrayAttr:$nodes_falsenodeids, DenseI64ArrayAttr:$nodes_featureids, Elements:$nodes_hitrates,
                     Ints:$nodes_missing_value_tracks_true, ElementsAttr:$nodes_modes, ElementsAttr:$nodes_splits,
                     DenseI64ArrayAttr:$nodes_trueleafs, DenseI64ArrayAttr:$nodes_truenodeids, Int<"0">:$post_transform,
                     DenseI64ArrayAttr:$tree_roots);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLTreeEnsembleClassifierOp : Onnx_Op<"ml.TreeEnsembleClassifier"> {
  let arguments = (ins AnyTensor:$X, Floats:$base_values, Elements:$base_values_as_tensor, Ints:$class_ids, Ints:$class_nodeids,
                     Ints:$class_treeids, Floats:$class_weights, Elements:$class_weights_as_tensor, Ints:$classlabels_int64s,
                     Strs:$classlabels_strings, Ints:$nodes_falsenodeids, Ints:$nodes_featureids, Floats:$nodes_hitrates,
                     Elements:$nodes_hitrates_as_tensor, Ints:$nodes_missing_value_tracks_true, Strs:$nodes_modes, Ints:$nodes_nodeids,
                     Ints:$nodes_treeids, Ints:$nodes_truenodeids, Floats:$nodes_values, Elements:$nodes_values_as_tensor,
                     Str<"NONE">:$post_transform);
  let results = (outs AnyTensor:$Y, AnyTensor:$Z);
}
def Onnx_MLTreeEnsembleRegressorOp : Onnx_Op<"ml.TreeEnsembleRegressor"> {
  let arguments = (ins AnyTensor:$X, Str<"SUM">:$aggregate_function, Floats:$base_values, Elements:$base_values_as_tensor,
                     OptInt:$n_targets, Ints:$nodes_falsenodeids, Ints:$nodes_featureids, Floats:$nodes_hitrates,
                     Elements:$nodes_hitrates_as_tensor, Ints:$nodes_missing_value_tracks_true, Strs:$nodes_modes, Ints:$nodes_nodeids,
                     Ints:$nodes_treeids, Ints:$nodes_truenodeids, Floats:$nodes_values, Elements:$nodes_values_as_tensor,
                     Str<"NONE">:$post_transform, Ints:$target_ids, Ints:$target_nodeids, Ints:$target_treeids, Floats:$target_weights,
                     Elements:$target_weights_as_tensor);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MLZipMapOp : Onnx_Op<"ml.ZipMap"> {
  let arguments = (ins Onnx_Value:$X, Ints:$classlabels_int64s, Strs:$classlabels_strings);
  let results = (outs Onnx_Value:$Z);
}
#endif
