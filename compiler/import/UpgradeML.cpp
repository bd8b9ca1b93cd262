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
void expandDims(Rewrite &r) {
  standard(r);
  r.node.set_op_type("Unsqueeze");
  std::string wide = r.emit("Cast", {r.input(1)});
  setInt(r.last(), "to", pb::TensorProto::INT64);
  r.setInput(1, r.emit("Reshape", {wide, r.ints({1})}));
}
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
    {"com.microsoft.GridSample", 99, standard},
    {"com.microsoft.ExpandDims", 99, expandDims},
    {"com.microsoft.TransposeMatMul", 99, transposeMatMul},
};

}  // namespace onnxc::importer
