// UpgradeML.cpp: ai.onnx.ml, and com.microsoft ops that are standard ops under another name.
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {
namespace {

// Version 1: one list of strings; positions are the integers.
void labelEncoder(Rewrite &r) {
  const pb::AttributeProto *classes = findAttr(r.node, "classes_strings");
  if (!classes)
    return;
  std::vector<std::string> labels(classes->strings().begin(), classes->strings().end());
  r.erase("classes_strings");
  bool fromStrings = r.scope.elementType(r.input(0)) == pb::TensorProto::STRING;
  pb::AttributeProto *strings = r.node.add_attribute();
  strings->set_name(fromStrings ? "keys_strings" : "values_strings");
  strings->set_type(pb::AttributeProto::STRINGS);
  std::vector<int64_t> positions;
  for (const std::string &label : labels) {
    strings->add_strings(label);
    positions.push_back(int64_t(positions.size()));
  }
  r.setInts(fromStrings ? "values_int64s" : "keys_int64s", positions);
  r.erase(fromStrings ? "default_string" : "default_int64");
}

void standard(Rewrite &r) {
  r.node.set_domain("");
  r.version = newestOpset();
}
void range(Rewrite &r) {
  standard(r);
  if (r.input(2).empty())
    r.setInput(2, r.scalarLike(r.input(0), 1));
}
// Written as the standard's first version.
void gridSample(Rewrite &r) {
  standard(r);
  r.version = 16;
}
void expandDims(Rewrite &r) {
  standard(r);
  r.node.set_op_type("Unsqueeze");
  std::string wide = r.emit("Cast", {r.input(1)});
  setInt(r.last(), "to", pb::TensorProto::INT64);
  r.setInput(1, r.emit("Reshape", {wide, r.ints({1})}));
}
// The standard's operators, but for attributes that say what it does not have.
void onlyPlain(Rewrite &r, std::initializer_list<std::pair<const char *, int64_t>> plain) {
  for (auto [name, value] : plain)
    if (r.takeInt(name, value) != value)
      return r.fail(std::string("has attribute '") + name + "'; onnxc supports only " + std::to_string(value));
  standard(r);
}
// Operands that no kernel reads.
void without(Rewrite &r, std::initializer_list<std::pair<int, const char *>> inputs) {
  for (auto [place, name] : inputs)
    if (!r.input(place).empty())
      return r.fail(std::string("has input '") + name + "', which onnxc does not support");
}
void attention(Rewrite &r) {
  if (r.takeInt("past_present_share_buffer", 0) && !r.input(4).empty())
    r.fail("has attribute 'past_present_share_buffer'; onnxc supports only 0");
}
void multiHeadAttention(Rewrite &r) { without(r, {{8, "past_sequence_length"}, {9, "cache_indirection"}}); }
void groupQueryAttention(Rewrite &r) {
  for (const char *name : {"k_quant_type", "v_quant_type"})
    if (r.takeString(name, "NONE") != "NONE")
      return r.fail(std::string("has attribute '") + name + "'; onnxc supports only NONE");
  if (r.takeInt("sliding_window_cache", 0))
    return r.fail("has attribute 'sliding_window_cache'; onnxc supports only 0");
  without(r, {{12, "k_scale"}, {13, "v_scale"}});
}
void linearAttention(Rewrite &r) { onlyPlain(r, {{"state_window", 0}}); }
void causalConv(Rewrite &r) { onlyPlain(r, {{"state_window", 0}, {"channels_last", 0}, {"dilation", 1}, {"ndim", 1}}); }
void transposeMatMul(Rewrite &r) { r.node.set_op_type("FusedMatMul"); }
}  // namespace

const std::vector<Upgrade> kUpgradesML = {
    {"ai.onnx.ml.LabelEncoder", 2, labelEncoder},
    {"com.microsoft.QuantizeLinear", 99, standard},
    {"com.microsoft.DequantizeLinear", 99, standard},
    {"com.microsoft.Gelu", 99, standard},
    {"com.microsoft.Range", 99, range},
    {"com.microsoft.Trilu", 99, standard},
    {"com.microsoft.Pad", 99, standard},
    {"com.microsoft.GridSample", 99, gridSample},
    {"com.microsoft.ExpandDims", 99, expandDims},
    {"com.microsoft.Attention", 99, attention},
    {"com.microsoft.MultiHeadAttention", 99, multiHeadAttention},
    {"com.microsoft.GroupQueryAttention", 99, groupQueryAttention},
    {"com.microsoft.LinearAttention", 99, linearAttention},
    {"com.microsoft.CausalConvWithState", 99, causalConv},
    {"com.microsoft.TransposeMatMul", 99, transposeMatMul},
};

}  // namespace onnxc::importer
