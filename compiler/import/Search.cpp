// Search.cpp: com.microsoft GreedySearch, Sampling and BeamSearch as ordinary nodes: a Loop around the decoder, whose body ends with the
// choice of the next tokens. The subgraphs become functions that Functions.cpp splices in; SearchStep.cpp beside it writes the choice.
#include "compiler/import/Search.h"
#include "compiler/import/Upgrade.h"
#include <algorithm>
#include <set>

namespace onnxc::importer {
namespace {

constexpr int kFloat = pb::TensorProto::FLOAT, kInt32 = pb::TensorProto::INT32, kInt64 = pb::TensorProto::INT64,
              kBool = pb::TensorProto::BOOL;
constexpr const char *kDomain = "onnxc.search";

// Operands by place; "" ends the list.
constexpr std::array<const char *, 10> kGreedyOperands = {"input_ids",      "max_length",
                                                          "min_length",     "repetition_penalty",
                                                          "vocab_mask",     "prefix_vocab_mask",
                                                          "attention_mask", "presence_mask",
                                                          "seed",           ""};
constexpr std::array<const char *, 13> kBeamOperands = {"input_ids",
                                                        "max_length",
                                                        "min_length",
                                                        "num_beams",
                                                        "num_return_sequences",
                                                        "length_penalty",
                                                        "repetition_penalty",
                                                        "vocab_mask",
                                                        "prefix_vocab_mask",
                                                        "attention_mask",
                                                        "decoder_input_ids",
                                                        "logits_processor",
                                                        ""};

// The subgraph as a function of its inputs and of what it captures.
pb::FunctionProto asFunction(const pb::GraphProto &graph, const std::string &name, const Versions &versions) {
  pb::FunctionProto f;
  f.set_domain(kDomain);
  f.set_name(name);
  for (const auto &[domain, version] : versions) {
    pb::OperatorSetIdProto &import = *f.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  for (const pb::ValueInfoProto &input : graph.input())
    f.add_input(input.name());
  std::unordered_set<std::string> captured = capturedNames(graph);
  for (const std::string &outer : std::set<std::string>(captured.begin(), captured.end()))
    f.add_input(outer);
  for (const pb::ValueInfoProto &output : graph.output())
    f.add_output(output.name());
  for (const pb::TensorProto &t : graph.initializer()) {
    pb::NodeProto &constant = *f.add_node();
    constant.set_op_type("Constant");
    constant.add_output(t.name());
    pb::AttributeProto &value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(pb::AttributeProto::TENSOR);
    *value.mutable_t() = t;
  }
  f.mutable_node()->MergeFrom(graph.node());
  return f;
}

// A declared size of a subgraph's input, or -1.
int64_t declaredSize(const pb::ValueInfoProto &input, int axis) {
  const pb::TensorShapeProto &shape = input.type().tensor_type().shape();
  return axis < shape.dim_size() && shape.dim(axis).has_dim_value() ? shape.dim(axis).dim_value() : -1;
}

class Expansion {
public:
  Expansion(Walker &walker, const pb::NodeProto &node, const Origin &from, std::list<pb::FunctionProto> &functions)
      : walker(walker), node(node), from(from), functions(functions) {}

  // Gives the nodes that compute the results; `error` says why not.
  NodeList run(const Versions &versions);
  std::string error;

private:
  bool read(const Versions &versions);
  std::string output(int i) const { return i < node.output_size() ? node.output(i) : ""; }
  void start(Nodes &m);
  void startDecoderOnly(Nodes &m);
  void startEncoder(Nodes &m);
  void pasts(Nodes &m, int first, int count, int heads, int size);
  std::vector<std::string> call(Nodes &m, const pb::FunctionProto *graph, std::vector<std::string> inputs);
  void decode(Nodes &m, const pb::FunctionProto *graph);
  std::string loop(Nodes &m);
  void steps(Nodes &m);
  std::vector<std::pair<std::string *, pb::TypeProto>> slots(SearchState &s);

  Walker &walker;
  const pb::NodeProto &node;
  const Origin from;
  std::list<pb::FunctionProto> &functions;
  Search search;
  SearchState state;
  const pb::GraphProto *decoderGraph = nullptr, *encoderGraph = nullptr;
  const pb::FunctionProto *decoder = nullptr, *encoder = nullptr, *first = nullptr;
  std::vector<std::string> constantInputs;  // of the decoder, behind its past
  std::string encoderMask, hidden, firstLength;
  std::vector<pb::TypeProto> pastTypes;
};

bool Expansion::read(const Versions &versions) {
  bool beams = node.op_type() == "BeamSearch";
  search.kind = beams ? Search::Beam : node.op_type() == "Sampling" ? Search::Sample : Search::Greedy;
  const char *const *operands = beams ? kBeamOperands.data() : kGreedyOperands.data();
  for (int i = 0; i < node.input_size() && *operands[i]; ++i)
    if (!node.input(i).empty())
      search.operand[operands[i]] = node.input(i);
  for (const pb::AttributeProto &attr : node.attribute()) {
    if (!attr.has_g()) {
      search.number[attr.name()] = attr.type() == pb::AttributeProto::FLOAT ? double(attr.f()) : double(attr.i());
      continue;
    }
    functions.push_back(asFunction(attr.g(), walker.fresh(attr.name()), versions));
    (attr.name() == "decoder" ? decoder : attr.name() == "encoder" ? encoder : first) = &functions.back();
    if (attr.name() == "decoder")
      decoderGraph = &attr.g();
    if (attr.name() == "encoder")
      encoderGraph = &attr.g();
  }
  double model = search.numberOr("model_type", 0);
  if (!decoder || !search.operand.count("input_ids") || !search.operand.count("max_length"))
    error = "needs a decoder, input_ids and max_length";
  else if (model != 0 && model != 1)
    error = "has model_type " + std::to_string(int64_t(model)) + "; onnxc knows 0 (decoder only) and 1 (encoder and decoder)";
  else if ((model == 1) != (encoder != nullptr))
    error = model == 1 ? "has model_type 1 and no encoder" : "has model_type 0 and an encoder";
  else if (search.operand.count("decoder_input_ids") || search.operand.count("logits_processor"))
    error = "uses decoder_input_ids or logits_processor, which only models of type 2 have";
  else if (!beams && !output(1).empty())
    error = "output 'filtered_logits' is not given";
  return error.empty();
}

std::vector<std::string> Expansion::call(Nodes &m, const pb::FunctionProto *graph, std::vector<std::string> inputs) {
  for (int i = int(inputs.size()); i < graph->input_size(); ++i)
    inputs.push_back(graph->input(i));  // captured: the same name outside
  return m.many(graph->name().c_str(), inputs, graph->output_size(), {}, kDomain);
}

// Empty pasts for inputs [first, first + count) of the decoder, whose heads and size lie at those axes and whose length at the one between.
void Expansion::pasts(Nodes &m, int begin, int count, int heads, int size) {
  for (int i = begin; i < begin + count; ++i) {
    const pb::ValueInfoProto &input = decoderGraph->input(i);
    int64_t h = declaredSize(input, heads), d = declaredSize(input, size);
    int type = input.type().tensor_type().elem_type();
    if (h < 0 || d < 0 || (type != kFloat && type != pb::TensorProto::FLOAT16)) {
      error = "decoder input '" + input.name() + "' is not declared as float or float16 with a number of heads and a head size";
      return;
    }
    std::string rest = m.ints({h, 0, d}), rows = m("Shape", {state.sequences}, {{"start", 0}, {"end", 1}});
    std::string shape = heads == 2 ? m("Concat", {m.ints({2}), rows, rest}, {{"axis", 0}}) : m("Concat", {rows, rest}, {{"axis", 0}});
    state.past.push_back(m("Expand", {m.scalar(type, 0), shape}));
  }
}

void Expansion::startDecoderOnly(Nodes &m) {
  std::string ids = search.operand["input_ids"], pad = m.scalar(kInt32, search.numberOr("pad_token_id", -1));
  std::string mask = search.operand["attention_mask"];
  if (mask.empty())
    mask = m("Cast", {m("Not", {m("Equal", {ids, pad})})}, {{"to", kInt32}});
  state.tokens = state.sequences = search.expand(m, ids);
  firstLength = m("Shape", {ids}, {{"start", 1}, {"end", 2}});
  state.mask = search.expand(m, mask);
  std::string before = m("Sub", {m("CumSum", {state.mask, m.scalar(kInt64, 1)}), m.scalar(kInt32, 1)});
  state.positions = m("Mul", {before, state.mask});
  for (int i = 3; i < decoderGraph->input_size(); ++i)
    if (decoderGraph->input(i).name().rfind("past_", 0) || decoderGraph->input(i).name() == "past_sequence_length")
      error = "decoder input '" + decoderGraph->input(i).name() + "' is not one of input_ids, position_ids, attention_mask, past_0 …";
  if (decoderGraph->input_size() < 3)
    error = "the decoder has fewer inputs than input_ids, position_ids and attention_mask";
  if (!error.empty())
    return;
  search.pastBatchAxis = 1;
  pasts(m, 3, decoderGraph->input_size() - 3, 2, 4);
  if (first && error.empty())
    decode(m, first);
}

// The encoder gives keys and values of its sequence and, in older files, the first logits and the decoder's first past as well.
void Expansion::startEncoder(Nodes &m) {
  std::string ids = search.operand["input_ids"], pad = m.scalar(kInt32, search.numberOr("pad_token_id", -1));
  std::string mask = search.operand["attention_mask"];
  if (mask.empty())
    mask = m("Cast", {m("Not", {m("Equal", {ids, pad})})}, {{"to", kInt32}});
  std::string begin = m.scalar(kInt32, search.numberOr("decoder_start_token_id", -1));
  std::string starts = m("Expand", {begin, m("Concat", {search.batch, m.ints({1})}, {{"axis", 0}})});
  state.tokens = state.sequences = search.expand(m, starts);
  firstLength = m.ints({1});
  encoderMask = search.expand(m, mask);
  bool full = encoder->input_size() > 2 && encoderGraph->input_size() > 2;
  std::vector<std::string> results = call(m, encoder, full ? std::vector{ids, mask, starts} : std::vector{ids, mask});
  bool readsHidden = decoderGraph->input_size() > 2 && decoderGraph->input(2).name() == "encoder_hidden_states";
  int before = readsHidden ? 3 : 2, cached = decoderGraph->input_size() - before, skipped = full ? 2 : 0;
  if (cached < 0 || cached % 4 || int(results.size()) - skipped != (full ? cached : cached / 2) || (readsHidden && !full)) {
    error = "the decoder's inputs and the encoder's outputs do not fit together";
    return;
  }
  for (std::string &result : results)
    result = search.expand(m, result);
  if (readsHidden)
    hidden = results[1];
  constantInputs.assign(results.end() - cached / 2, results.end());
  if (!full)
    return pasts(m, before, cached / 2, 1, 3);
  state.past.assign(results.begin() + 2, results.begin() + 2 + cached / 2);
  search.advance(m, state, results[0], state.past, true);
}

void Expansion::start(Nodes &m) {
  search.begin(m, state);
  encoder ? startEncoder(m) : startDecoderOnly(m);
  int skip = encoder ? (hidden.empty() ? 2 : 3) : 3;
  for (size_t i = 0; i < state.past.size() && error.empty(); ++i) {
    pb::TypeProto type = decoderGraph->input(skip + int(i)).type();
    for (auto &dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (!dim.has_dim_value())
        dim.Clear();
    pastTypes.push_back(type);
  }
}

// One run of the decoder and the choice that follows.
void Expansion::decode(Nodes &m, const pb::FunctionProto *graph) {
  std::vector<std::string> inputs = {state.tokens};
  if (encoder)
    inputs.push_back(encoderMask);
  else
    inputs.insert(inputs.end(), {state.positions, state.mask});
  if (!hidden.empty())
    inputs.push_back(hidden);
  inputs.insert(inputs.end(), state.past.begin(), state.past.end());
  inputs.insert(inputs.end(), constantInputs.begin(), constantInputs.end());
  std::vector<std::string> results = call(m, graph, inputs);
  if (results.size() < 1 + state.past.size()) {
    error = "the decoder gives " + std::to_string(results.size()) + " results; logits and one for each past are needed";
    return;
  }
  std::vector<std::string> present(results.begin() + 1, results.begin() + 1 + state.past.size());
  search.advance(m, state, results[0], present, graph == first);
}

pb::TypeProto tensorType(int code, int rank) {
  pb::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(code);
  pb::TensorShapeProto &shape = *type.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < rank; ++i)
    shape.add_dim();
  return type;
}

// What the loop carries.
std::vector<std::pair<std::string *, pb::TypeProto>> Expansion::slots(SearchState &s) {
  std::vector<std::pair<std::string *, pb::TypeProto>> all = {
      {&s.tokens, tensorType(kInt32, 2)},           {&s.positions, tensorType(kInt32, 2)},  {&s.mask, tensorType(kInt32, 2)},
      {&s.sequences, tensorType(kInt32, 2)},        {&s.finished, tensorType(kBool, 1)},    {&s.beamScores, tensorType(kFloat, 2)},
      {&s.hypothesisScores, tensorType(kFloat, 2)}, {&s.hypotheses, tensorType(kInt32, 3)}, {&s.hypothesisCount, tensorType(kInt64, 1)}};
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto &slot) { return slot.first->empty(); }), all.end());
  for (size_t i = 0; i < s.past.size(); ++i)
    all.emplace_back(&s.past[i], pastTypes[i]);
  return all;
}

// Gives the scores of each step where they are a result.
std::string Expansion::loop(Nodes &m) {
  std::string length = m("Squeeze", {m("Shape", {state.sequences}, {{"start", 1}, {"end", 2}})});
  std::vector<std::string> inputs = {m("Sub", {search.maxLength, length}), m("Not", {search.allFinished(m, state)})}, results;
  for (auto &[name, type] : slots(state))
    inputs.push_back(*name);
  pb::GraphProto body;
  auto declare = [&](std::string name, const pb::TypeProto &type) {
    pb::ValueInfoProto &input = *body.add_input();
    input.set_name(name);
    *input.mutable_type() = type;
  };
  declare(walker.fresh("step"), tensorType(kInt64, 0));
  declare(walker.fresh("go"), tensorType(kBool, 0));
  for (auto &[name, type] : slots(state))
    declare(*name = walker.fresh("carried"), type);
  Nodes inner(walker, from, *body.mutable_node());
  decode(inner, decoder);
  body.add_output()->set_name(inner("Not", {search.allFinished(inner, state)}));
  for (auto &[name, type] : slots(state)) {
    body.add_output()->set_name(*name);
    results.push_back(*name = walker.fresh("final"));
  }
  if (!output(2).empty()) {
    body.add_output()->set_name(search.stepScores);
    results.push_back(walker.fresh("scores"));
  }
  m.loop(inputs, std::move(body), results);
  return results.back();
}

void Expansion::steps(Nodes &m) {
  std::string before = search.stepScores, scores = loop(m);
  if (output(2).empty() || !error.empty())
    return;
  if (!before.empty())
    scores = m("Concat", {m("Unsqueeze", {before, m.ints({0})}), scores}, {{"axis", 0}});
  m.give(search.allSteps(m, scores, firstLength), output(2));
}

NodeList Expansion::run(const Versions &versions) {
  NodeList list;
  Nodes m(walker, from, list);
  if (!read(versions))
    return list;
  start(m);
  if (error.empty())
    steps(m);
  if (error.empty())
    search.finish(m, state, output(0), output(1));
  return list;
}
}  // namespace

bool isSearch(const pb::NodeProto &n) { return n.domain() == "com.microsoft" && llvm::is_contained(kSearches, n.op_type()); }

void Walker::expandSearch(const pb::NodeProto &n, Scope &scope) {
  size_t known = searched.size();
  Expansion expansion(*this, n, origin(n), searched);
  NodeList nodes = expansion.run(current->versions);
  if (!expansion.error.empty())
    return rejectTypes(n, expansion.error);
  for (auto it = std::next(searched.begin(), known); it != searched.end(); ++it)
    functions[functionKey(it->domain(), it->name(), "")] = &*it;
  for (pb::NodeProto &next : nodes)
    node(std::move(next), scope);
}

}  // namespace onnxc::importer
