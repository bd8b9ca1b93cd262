// UpgradeNN.cpp: normalisations, pooling, recurrent nets, dropout, Scan with a batch axis.
#include "compiler/import/Search.h"
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {
namespace {

// Mean and variance of the batch for each channel, in the shape of the running ones.
void batchStatistics(Rewrite &r, const std::string &runningMean) {
  std::string x = r.emit("Reshape", {r.input(0), r.ints({0, 0, -1})}), axes = r.ints({0, 2}), shape = r.emit("Shape", {runningMean});
  std::string mean = r.emit("ReduceMean", {x, axes}), centred = r.emit("Sub", {x, mean});
  std::string variance = r.emit("ReduceMean", {r.emit("Mul", {centred, centred}), axes});
  if (r.hasOutput(3))
    r.emit("Reshape", {mean, shape}, r.node.output(3));
  if (r.hasOutput(4))
    r.emit("Reshape", {variance, shape}, r.node.output(4));
}

// Before version 14 the number of results told the mode: Y alone is a test, more of them (mean, var, saved_mean, saved_var) are training,
// but for is_test of versions 1 and 6. spatial=0: each element of a sample is a channel of its own.
void batchNorm(Rewrite &r) {
  bool spatial = r.takeInt("spatial", 1) != 0, training = false;
  for (int i = 1; i < 5; ++i)
    training |= r.hasOutput(i);
  training &= r.takeInt("is_test", 0) == 0;
  std::string x = r.input(0), runningMean = r.input(3);
  if (!spatial) {
    r.setInput(0, r.emit("Flatten", {x}));
    for (int i = 1; i < 5; ++i)
      r.setInput(i, r.emit("Reshape", {r.input(i), r.ints({-1})}));
  }
  if (training && (r.hasOutput(3) || r.hasOutput(4)))
    batchStatistics(r, runningMean);
  while (r.node.output_size() > (training ? 3 : 1))
    r.node.mutable_output()->RemoveLast();
  if (training)
    r.setInt("training_mode", 1);
  for (int i = 0; !spatial && i < r.node.output_size(); ++i)
    if (r.hasOutput(i)) {
      std::string result = r.detach(i);
      r.emit("Reshape", {r.node.output(i), r.emit("Shape", {i ? runningMean : x})}, result);
      setInt(r.last(), "allowzero", 1);
    }
}

void dropout(Rewrite &r) {
  r.erase("is_test");
  r.erase("ratio");
  if (r.version < 10 && r.hasOutput(1)) {
    std::string mask = r.detach(1);  // before opset 10 of the data's type
    r.emit("CastLike", {r.node.output(1), r.input(0)}, mask);
  }
}

void lpInteger(Rewrite &r) {
  float p = r.takeFloat("p", 2);
  r.setInt("p", int64_t(p));
}
void noOutputSequence(Rewrite &r) { r.erase("output_sequence"); }
void noBroadcast(Rewrite &r) { r.erase("broadcast"); }

// The odd one of the pads that a given output_shape makes stood at the other end: at the beginning for SAME_UPPER, else at the end.
void convTranspose(Rewrite &r) {
  if (r.has("output_shape"))
    r.setString("auto_pad", r.takeString("auto_pad", "NOTSET") == "SAME_UPPER" ? "SAME_LOWER" : "SAME_UPPER");
}

void roiAlign(Rewrite &r) { r.setString("coordinate_transformation_mode", "output_half_pixel"); }
void gridSample(Rewrite &r) {
  std::string mode = r.takeString("mode", "bilinear");
  r.setString("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
}

// One scale and bias for each group became one for each channel.
void groupNorm(Rewrite &r) {
  int64_t groups = r.getInt("num_groups", 1);
  std::string channels = r.emit("Shape", {r.input(0)});
  setInt(r.last(), "start", 1);
  setInt(r.last(), "end", 2);
  std::string perGroup = r.emit("Div", {channels, r.ints({groups})});
  std::string grid = r.emit("Concat", {r.ints({groups}), perGroup});
  setInt(r.last(), "axis", 0);
  for (int i : {1, 2}) {
    std::string column = r.emit("Reshape", {r.input(i), r.ints({-1, 1})});
    r.setInput(i, r.emit("Reshape", {r.emit("Expand", {column, grid}), r.ints({-1})}));
  }
}

void dft(Rewrite &r) { r.setInput(2, r.scalarInt(r.takeInt("axis", 1))); }

// Scan of opset 8 had a batch axis in front: an outer Scan over the batch runs today's Scan on each sample, on the first sequence_lens of
// its steps. Behind these the results are zero (the text leaves that open, ONNX Runtime does it so).
void scan8(Rewrite &r) {
  const pb::AttributeProto *body = findAttr(r.node, "body");
  int64_t scans = r.takeInt("num_scan_inputs", 0), states = r.node.input_size() - 1 - scans;
  std::vector<int64_t> directions = r.takeInts("directions");
  if (!body || !body->has_g() || scans < 1 || states < 0)
    return r.fail("needs a body and as many inputs as num_scan_inputs says");
  pb::GraphProto outer;
  outer.set_name(body->g().name() + ".batch");
  Nodes m(r.walker, origin(r.node), *outer.mutable_node());
  auto formal = [&](const std::string &hint) { return *outer.add_input()->mutable_name() = r.freshName(hint); };
  std::vector<std::string> operands;
  for (int i = 1; i < r.node.input_size(); ++i)
    operands.push_back(formal(r.node.input(i)));
  std::string first = operands[states], lengths = r.input(0), zero, rest;
  if (!lengths.empty()) {
    zero = m.ints({0});
    std::string length = m("Max", {m("Reshape", {formal(lengths), m.ints({1})}), zero});
    for (size_t i = states; i < operands.size(); ++i)
      operands[i] = m("Slice", {operands[i], zero, length, zero});
    auto steps = [&](const std::string &v) { return m("Shape", {v}, {{"start", 0}, {"end", 1}}); };
    rest = m("Concat", {zero, m("Sub", {steps(first), steps(operands[states])})}, {{"axis", 0}});
  }
  std::vector<std::string> results = m.many("Scan", operands, r.node.output_size(), {{"num_scan_inputs", scans}});
  *m.last().add_attribute() = *body;
  if (!directions.empty())
    setInts(m.last(), "scan_input_directions", directions);
  for (size_t i = 0; i < results.size(); ++i)
    outer.add_output()->set_name(int64_t(i) < states || lengths.empty() ? results[i] : m("Pad", {results[i], rest, "", zero}));
  r.node.mutable_input()->DeleteSubrange(0, 1);
  if (!lengths.empty())
    r.node.add_input(lengths);
  r.node.clear_attribute();
  r.setInt("num_scan_inputs", r.node.input_size());
  pb::AttributeProto *attr = r.node.add_attribute();
  attr->set_name("body");
  attr->set_type(pb::AttributeProto::GRAPH);
  *attr->mutable_g() = std::move(outer);
}
}  // namespace

const std::vector<Upgrade> kUpgradesNN = {
    {"BatchNormalization", 14, batchNorm},
    {"ConvTranspose", 11, convTranspose},
    {"Dropout", 12, dropout},
    {"GlobalLpPool", 2, lpInteger},
    {"LpPool", 2, lpInteger},
    {"RNN", 7, noOutputSequence},
    {"GRU", 7, noOutputSequence},
    {"LSTM", 7, noOutputSequence},
    {"Gemm", 7, noBroadcast},
    {"RoiAlign", 16, roiAlign},
    {"GridSample", 20, gridSample},
    {"GroupNormalization", 21, groupNorm},
    {"DFT", 20, dft},
    {"Scan", 9, scan8},
};

}  // namespace onnxc::importer
