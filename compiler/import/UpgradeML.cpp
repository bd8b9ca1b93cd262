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

std::string along(Rewrite &r, const char *op, const std::vector<std::string> &inputs, const char *attribute, int64_t value) {
  std::string result = r.emit(op, inputs);
  setInt(r.last(), attribute, value);
  return result;
}
std::string wide(Rewrite &r, const std::string &x) { return along(r, "Cast", {x}, "to", pb::TensorProto::INT64); }
// A number as a vector of one int64.
std::string wideVector(Rewrite &r, int operand) { return r.emit("Reshape", {wide(r, r.input(operand)), r.ints({1})}); }

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
  r.setInput(1, wideVector(r, 1));
}
// Takes the attribute.
bool isPlain(Rewrite &r, const char *name, int64_t plain) {
  r.fail(notPlainError(r.node, name, plain));
  r.erase(name);
  return r.error.empty();
}
void unrotated(Rewrite &r) { isPlain(r, "do_rotary", 0); }

// --- caches that the new entries are written into: as long as before, and only the first `full` entries count ---

std::string part(Rewrite &r, const std::string &x, const std::string &from, const std::string &to, int64_t axis) {
  return r.emit("Slice", {x, from, to, r.ints({axis})});
}
std::string size(Rewrite &r, const std::string &x, int64_t axis) {
  return part(r, r.emit("Shape", {x}), r.ints({axis}), r.ints({axis + 1}), 0);
}

// Entry t of each row of `cache` [rows, heads, full, width] from the beam that it was made by: row `beams`[batch, beam, t] of the batch.
std::string ofBeams(Rewrite &r, const std::string &cache, const std::string &beams, const std::string &full) {
  std::string zero = r.ints({0}), none = r.scalarInt(0), one = r.scalarInt(1), last = r.ints({-1});
  std::string count = r.emit("Squeeze", {size(r, beams, 0)}), each = r.emit("Squeeze", {size(r, beams, 1)});
  std::string first = r.emit("Mul", {r.emit("Range", {none, count, one}), each});
  std::string from = r.emit("Add", {part(r, wide(r, beams), zero, full, 2), r.emit("Unsqueeze", {first, r.ints({1, 2})})});
  std::string rows = along(r, "Concat", {size(r, cache, 0), full}, "axis", 0);
  std::string source = along(r, "Reshape", {from, rows}, "allowzero", 1);
  std::string time = r.emit("Expand", {r.emit("Range", {none, r.emit("Squeeze", {full}), one}), rows});
  std::string places = along(r, "Concat", {r.emit("Unsqueeze", {source, last}), r.emit("Unsqueeze", {time, last})}, "axis", -1);
  auto swapped = [&](const std::string &x) {
    std::string result = r.emit("Transpose", {x});
    setInts(r.last(), "perm", {0, 2, 1, 3});
    return result;
  };
  return swapped(r.emit("GatherND", {swapped(cache), places}));
}

// The cache that is operand `place` and becomes result `result`; `length`: its axis. The node reads and gives full caches.
void share(Rewrite &r, int place, int result, int64_t length, const std::string &full, const std::string &beams) {
  r.afterNode = false;  // of the share before this one
  std::string cache = r.input(place), before = part(r, cache, r.ints({0}), full, length);
  r.setInput(place, beams.empty() ? before : ofBeams(r, before, beams, full));
  if (!r.hasOutput(result))
    return;
  std::string whole = r.detach(result), made = r.node.output(result), far = r.ints({INT64_MAX});
  std::string fresh = part(r, made, full, far, length), rest = part(r, cache, size(r, made, length), far, length);
  r.emit("Concat", {before, fresh, rest}, whole);
  setInt(r.last(), "axis", length);
}

void attention(Rewrite &r) {
  if (!isPlain(r, "do_rotary", 0) || !r.takeInt("past_present_share_buffer", 0) || r.input(4).empty())
    return;
  if (r.input(6).empty())
    return r.fail("has attribute 'past_present_share_buffer' and no input 'past_sequence_length'");
  share(r, 4, 1, 3, wideVector(r, 6), "");
  r.setInput(6, "");
}
void multiHeadAttention(Rewrite &r) {
  std::string beams = r.input(9);
  if (!beams.empty() && (r.input(6).empty() || r.input(8).empty()))
    return r.fail("has input 'cache_indirection' without 'past_key' and 'past_sequence_length'");
  if (!r.input(6).empty() && !r.input(8).empty()) {
    std::string full = wideVector(r, 8);
    for (int i = 0; i < 2; ++i)
      share(r, 6 + i, 1 + i, 2, full, beams);
  }
  for (int place : {8, 9})
    if (!r.input(place).empty())
      r.setInput(place, "");
}
void groupQueryAttention(Rewrite &r) {
  if (r.getInt("sliding_window_cache", 0) && (r.getInt("local_window_size", -1) <= 0 || r.input(3).empty()))
    return r.fail("has attribute 'sliding_window_cache' without 'local_window_size' or the input 'past_key'");
  if (r.getInt("sliding_window_cache", 0) && r.hasOutput(3))
    return r.fail("has attribute 'sliding_window_cache', with which output 'output_qk' is not given");
  const char *types[] = {"k_quant_type", "v_quant_type"}, *pasts[] = {"past_key", "past_value"}, *scales[] = {"k_scale", "v_scale"};
  for (int i = 0; i < 2; ++i) {
    const pb::AttributeProto *type = findAttr(r.node, types[i]);
    bool quantised = type && type->s() != "NONE";
    if (quantised && (r.input(3 + i).empty() || r.input(12 + i).empty()))
      return r.fail(std::string("has attribute '") + types[i] + "' without the inputs '" + pasts[i] + "' and '" + scales[i] + "'");
    int32_t stored = r.scope.elementType(r.input(3 + i));
    bool bytes = stored == pb::TensorProto::INT8 || stored == pb::TensorProto::UINT8;
    if (bytes && !quantised)
      return r.fail(std::string("input '") + pasts[i] + "' has bytes, and attribute '" + types[i] + "' is NONE");
  }
}
void linearAttention(Rewrite &r) {
  if (isPlain(r, "state_window", 0))
    standard(r);
}
// Activations that are operators of their own come behind the node.
void fusedActivation(Rewrite &r) {
  static constexpr llvm::StringLiteral apart[] = {"Celu", "HardSwish", "ParametricSoftplus", "Selu"};
  const pb::AttributeProto *activation = findAttr(r.node, "activation");
  if (!activation || !llvm::is_contained(apart, activation->s()))
    return;
  std::string name = r.takeString("activation", ""), result = r.detach(0), x = r.node.output(0);
  float alpha = r.takeFloat("activation_alpha", 1), beta = r.takeFloat("activation_beta", 1), gamma = r.takeFloat("activation_gamma", 1);
  if (name == "ParametricSoftplus") {
    std::string inner = r.emit("Mul", {x, r.scalarLike(x, beta)});
    r.emit("Mul", {r.emit("Softplus", {inner}), r.scalarLike(x, alpha)}, result);
    return;
  }
  r.emit(name.c_str(), {x}, result);
  if (name != "HardSwish")
    setFloat(r.last(), "alpha", alpha);
  if (name == "Selu")
    setFloat(r.last(), "gamma", gamma);
}
// The kernel gives bits without a sign.
void murmurHash(Rewrite &r) {
  if (r.takeInt("positive", 1))
    return;
  std::string result = r.detach(0);
  r.emit("BitCast", {r.node.output(0)}, result);
  setInt(r.last(), "to", pb::TensorProto::INT32);
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
    {"com.microsoft.GridSample", 99, gridSample},
    {"com.microsoft.ExpandDims", 99, expandDims},
    {"com.microsoft.Attention", 99, attention},
    {"com.microsoft.QAttention", 99, unrotated},
    {"com.microsoft.MultiHeadAttention", 99, multiHeadAttention},
    {"com.microsoft.GroupQueryAttention", 99, groupQueryAttention},
    {"com.microsoft.LinearAttention", 99, linearAttention},
    {"com.microsoft.FusedConv", 99, fusedActivation},
    {"com.microsoft.FusedGemm", 99, fusedActivation},
    {"com.microsoft.MurmurHash3", 99, murmurHash},
    {"com.microsoft.TransposeMatMul", 99, transposeMatMul},
};

}  // namespace onnxc::importer
