// OperandTypes.cpp: the element types of com.microsoft's operands. The onnx library has no schemas of these operators, and kernels read
// bytes as what they expect. Infer.cpp calls it.
#include "compiler/DType.h"
#include "compiler/import/Upgrade.h"
#include "llvm/ADT/StringMap.h"

namespace onnxc::importer {
namespace {

// "name kind variable" for each operand, as ONNX Runtime names them; those behind ';' come again and again. A kind is a type, a set of
// `kSets` or "any"; operands with the same variable have the same type.
struct Row {
  const char *op, *operands;
};

constexpr const char *kPool = "X byte T, x_scale float32, x_zero_point byte T, y_scale float32, y_zero_point byte T";
constexpr const char *kBinary = "A byte T, A_scale float32, A_zero_point byte T, B byte T, B_scale float32, B_zero_point byte T, "
                                "C_scale float32, C_zero_point byte T";

// What a library kernel is made for by type is "any" here: the compiler says which there are.
constexpr Row kRows[] = {
    {"Attention", "input float T, weights float T, bias float T, mask_index index, past float T, attention_bias float T, "
                  "past_sequence_length index"},
    {"BiasGelu", "A float T, B float T"},
    {"BifurcationDetector", "src_tokens int64, cur_tokens int64, prev_suffix_match_idx int64, pred_tokens int64"},
    {"CropAndResize", "X float32, rois float32, batch_indices int32, crop_size int32"},
    {"DynamicQuantizeLSTM", "X float32, W byte T, R byte T, B float32, sequence_lens int32, initial_h float32, initial_c float32, "
                            "P float32, W_scale float32, W_zero_point byte T, R_scale float32, R_zero_point byte T"},
    {"DynamicQuantizeMatMul", "A float32, B byte T, b_scale float32, b_zero_point byte T, bias float32"},
    {"DynamicTimeWarping", "input float32"},
    {"EmbedLayerNormalization", "input_ids index, segment_ids index, word_embedding float T, position_embedding float T, "
                                "segment_embedding float T, gamma float T, beta float T, mask index, position_ids index"},
    {"FastGelu", "X float T, bias float T"},
    {"FusedConv", "X any T, W any T, B any T, Z any T"},
    {"FusedGemm", "A any T, B any T, C any T"},
    {"FusedMatMul", "A any T, B any T"},
    {"GatherBlockQuantized", "data packed T, indices index, scales float, zero_points packed T"},
    {"GroupQueryAttention", "query float T, key float T, value float T, past_key cache C, past_value cache C, seqlens_k index, "
                            "total_sequence_length index, cos_cache float T, sin_cache float T, position_ids index, "
                            "attention_bias float T, head_sink float T, k_scale float, v_scale float, q_norm_weight float T, "
                            "k_norm_weight float T"},
    {"Inverse", "X float"},
    {"LayerNormalization", "X any T, Scale any T, B any T"},
    {"MatMulIntegerToFloat",
     "A byte T, B byte U, a_scale float V, b_scale float V, a_zero_point byte T, b_zero_point byte U, bias float V"},
    {"MatMulNBits", "A any T, B uint8, scales any T, zero_points zero, g_idx index, bias any T"},
    {"MultiHeadAttention", "query float T, key float T, value float T, bias float T, key_padding_mask index, attention_bias float T, "
                           "past_key float T, past_value float T"},
    {"MurmurHash3", "X hashed"},
    {"NGramRepeatBlock", "input_ids int64, scores float32"},
    {"NhwcMaxPool", "x byte"},
    {"QAttention", "input byte T, weight byte U, bias float V, input_scale float V, weight_scale float V, mask_index index, "
                   "input_zero_point byte T, weight_zero_point byte U, past float V"},
    {"QGemm", "A byte T, a_scale float32, a_zero_point byte T, B byte U, b_scale float32, b_zero_point byte U, C int32, "
              "y_scale float32, y_zero_point byte"},
    {"QLinearAdd", kBinary},
    {"QLinearAveragePool", kPool},
    {"QLinearConcat", "Y_scale float32, Y_zero_point byte; input byte, input_scale float32, input_zero_point byte"},
    {"QLinearGlobalAveragePool", kPool},
    {"QLinearLeakyRelu", "X byte T, X_scale float32, X_zero_point byte T, Y_scale float32, Y_zero_point byte T"},
    {"QLinearMul", kBinary},
    {"QLinearSigmoid", "X byte T, X_scale float32, X_zero_point byte T, Y_scale float32, Y_zero_point byte T"},
    {"QLinearSoftmax", "X byte T, X_scale float32, x_zero_point byte T, y_scale float32, y_zero_point byte T"},
    {"QuickGelu", "X float"},
    {"RotaryEmbedding", "input float T, position_ids index, cos_cache float T, sin_cache float T"},
    {"SimplifiedLayerNormalization", "X any T, scale any T"},
    {"SkipLayerNormalization", "input float T, skip float T, gamma float T, beta float T, bias float T"},
    {"SkipSimplifiedLayerNormalization", "input float T, skip float T, gamma float T, bias float T"},
    {"Tokenizer", "X string"},
    {"Unique", "x float"},
};

constexpr struct {
  const char *name, *types;
} kSets[] = {{"byte", "int8, uint8"},
             {"float", "float32, float16, bfloat16, float64"},
             {"cache", "float32, float16, bfloat16, float64, int8, uint8, float8e4m3fn"},
             {"hashed", "int32, uint32, int64, uint64, float32, float64, string"},
             {"index", "int32, int64"},
             {"packed", "uint8, uint4, int4"},
             {"zero", "uint8, float32, float16, bfloat16, float64"}};

using Parts = llvm::SmallVector<llvm::StringRef>;

Parts split(llvm::StringRef text) {
  Parts parts;
  text.split(parts, ", ", -1, /*KeepEmpty=*/false);
  return parts;
}

const char *operandsOf(llvm::StringRef op) {
  for (const Row &row : kRows)
    if (op == row.op)
      return row.operands;
  return nullptr;
}

// The types of a kind; "" for all.
llvm::StringRef typesOf(llvm::StringRef kind) {
  for (const auto &set : kSets)
    if (kind == set.name)
      return set.types;
  return kind == "any" ? "" : kind;
}

struct Operand {
  llvm::StringRef name, type, types, variable;
};

// `text`: an operand of a row.
Operand operandOf(llvm::StringRef text, int32_t code) {
  const DType *type = findDType(code);
  auto [name, rest] = text.split(' ');
  auto [kind, variable] = rest.split(' ');
  return {name, type ? type->name : "", typesOf(kind), variable};
}
}  // namespace

std::vector<std::string> firstOperandTypes(llvm::StringRef op) {
  const char *row = operandsOf(op);
  if (!row)
    return {};
  Parts types = split(operandOf(split(row).front(), 0).types);
  return {types.begin(), types.end()};
}

std::string operandTypesError(const pb::NodeProto &node, const Scope &scope) {
  const char *row = operandsOf(node.op_type());
  if (!row)
    return "";
  auto [first, again] = llvm::StringRef(row).split(';');
  Parts fixed = split(first), repeated = split(again.ltrim());
  llvm::StringMap<Operand> ties;
  for (int i = 0; i < node.input_size(); ++i) {
    int32_t code = scope.elementType(node.input(i));
    bool listed = i < int(fixed.size());
    if (code == 0 || (!listed && repeated.empty()))
      continue;
    Operand o = operandOf(listed ? fixed[i] : repeated[(i - fixed.size()) % repeated.size()], code);
    if (!o.types.empty() && !llvm::is_contained(split(o.types), o.type))
      return "input '" + o.name.str() + "' has elements of " + o.type.str() + ", not of " + o.types.str();
    const Operand &other = ties.try_emplace(o.variable, o).first->second;
    if (!o.variable.empty() && other.type != o.type)
      return "input '" + o.name.str() + "' has elements of " + o.type.str() + ", input '" + other.name.str() + "' of " + other.type.str() +
             "; they must be the same";
  }
  return "";
}

}  // namespace onnxc::importer
