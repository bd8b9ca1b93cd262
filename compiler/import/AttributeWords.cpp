// AttributeWords.cpp: the values of attributes that are one of a few words, which the onnx library does not check and whoever reads them
// takes for granted. Check.cpp calls it.
#include "compiler/import/Upgrade.h"
#include "llvm/ADT/SmallVector.h"

namespace onnxc::importer {
namespace {

struct Words {
  const char *ops, *attribute;
  int since;           // the opset from which on the row holds; of several rows the newest comes first
  const char *values;  // "|": none is a value too
};

constexpr Words kWords[] = {
    {"AveragePool Conv ConvInteger ConvTranspose FusedConv LpPool MaxPool NhwcConv NhwcFusedConv NhwcMaxPool QLinearAveragePool "
     "QLinearConv",
     "auto_pad", 0, "NOTSET SAME_UPPER SAME_LOWER VALID |"},
    {"BitShift", "direction", 0, "LEFT RIGHT"},
    {"Cast CastLike", "round_mode", 0, "up down nearest"},
    {"CastMap", "cast_to", 0, "TO_FLOAT TO_STRING TO_INT64"},
    {"CastMap", "map_form", 0, "DENSE SPARSE"},
    {"CausalConvWithState", "activation", 0, "silu swish none"},
    {"CropAndResize", "mode", 0, "bilinear nearest"},
    {"DepthToSpace SpaceToDepth", "mode", 0, "DCR CRD"},
    {"FusedConv FusedGemm NhwcFusedConv", "activation", 0,
     "Relu Tanh Sigmoid Affine LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid HardSwish Elu Celu Selu Softsign Softplus "
     "ParametricSoftplus Clip |"},
    {"GatedRMSNorm", "activation", 0, "silu swish sigmoid"},
    {"Gelu", "approximate", 0, "none tanh"},
    {"GridSample", "mode", 20, "linear nearest cubic"},
    {"GridSample", "mode", 0, "bilinear nearest bicubic"},
    {"GridSample", "padding_mode", 0, "zeros border reflection"},
    {"GroupQueryAttention", "k_quant_type", 0, "NONE PER_TENSOR PER_CHANNEL"},
    {"GroupQueryAttention", "v_quant_type", 0, "NONE PER_TENSOR PER_CHANNEL"},
    {"ImageDecoder", "pixel_format", 0, "RGB BGR Grayscale"},
    {"LinearAttention", "update_rule", 0, "linear gated delta gated_delta"},
    {"LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsembleClassifier TreeEnsembleRegressor", "post_transform", 0,
     "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"},
    {"Momentum", "mode", 0, "nesterov standard"},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction", 0, "none sum mean"},
    {"Normalizer", "norm", 0, "MAX L1 L2"},
    {"Pad", "mode", 0, "constant reflect edge wrap"},
    {"Resize", "coordinate_transformation_mode", 0,
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn tf_crop_and_resize"},
    {"Resize", "keep_aspect_ratio_policy", 0, "stretch not_larger not_smaller"},
    {"Resize", "mode", 0, "nearest linear cubic"},
    {"Resize", "nearest_mode", 0, "round_prefer_floor round_prefer_ceil floor ceil"},
    {"RNN GRU LSTM DynamicQuantizeLSTM", "activations", 0,
     "Relu Tanh Sigmoid Affine LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid Elu Softsign Softplus"},
    {"RNN GRU LSTM DynamicQuantizeLSTM", "direction", 0, "forward reverse bidirectional"},
    {"RoiAlign", "coordinate_transformation_mode", 0, "half_pixel output_half_pixel"},
    {"RoiAlign", "mode", 0, "avg max"},
    {"ScatterElements ScatterND", "reduction", 0, "none add mul max min"},
    {"StringNormalizer", "case_change_action", 0, "LOWER UPPER NONE"},
    {"SVMClassifier SVMRegressor", "kernel_type", 0, "LINEAR POLY RBF SIGMOID"},
    {"TensorScatter", "mode", 0, "linear circular"},
    {"TfIdfVectorizer", "mode", 0, "TF IDF TFIDF"},
    {"TreeEnsembleClassifier TreeEnsembleRegressor", "nodes_modes", 0,
     "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ LEAF"},
    {"TreeEnsembleRegressor", "aggregate_function", 0, "SUM AVERAGE MIN MAX"},
    {"Upsample", "mode", 0, "nearest linear bilinear"},
};

using Parts = llvm::SmallVector<llvm::StringRef>;

Parts split(llvm::StringRef text, const char *by) {
  Parts parts;
  text.split(parts, by);
  return parts;
}

const Words *wordsOf(const pb::NodeProto &node, llvm::StringRef attribute, int version) {
  for (const Words &row : kWords)
    if (attribute == row.attribute && version >= row.since && llvm::is_contained(split(row.ops, " "), node.op_type()))
      return &row;
  return nullptr;
}

// The names of activations may have capitals anywhere.
bool isAllowed(const Words &row, llvm::StringRef value) {
  bool anyCase = llvm::StringRef(row.attribute) == "activations" || llvm::StringRef(row.attribute) == "activation";
  return llvm::any_of(split(row.values, " "), [&](llvm::StringRef word) {
    return value == (word == "|" ? "" : word) || (anyCase && value.equals_insensitive(word));
  });
}
}  // namespace

std::string attributeWordError(const pb::NodeProto &node, int version) {
  for (const pb::AttributeProto &attr : node.attribute()) {
    const Words *row = attr.ref_attr_name().empty() ? wordsOf(node, attr.name(), node.domain().empty() ? version : 0) : nullptr;
    if (!row)
      continue;
    std::vector<std::string> values(attr.strings().begin(), attr.strings().end());
    if (attr.has_s())
      values.push_back(attr.s());
    for (const std::string &value : values)
      if (!isAllowed(*row, value)) {
        std::string words = llvm::StringRef(row->values).rtrim(" |").str();
        for (size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 2)
          words.replace(at, 1, ", ");
        return "attribute '" + attr.name() + "' is '" + value + "'; it can be " + words;
      }
  }
  return "";
}

}  // namespace onnxc::importer
