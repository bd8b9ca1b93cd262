// Search.cpp: com.microsoft GreedySearch, Sampling and (Whisper)BeamSearch as ordinary nodes: a Loop around the decoder, whose body ends
// with the choice of the next tokens. The subgraphs become functions that Functions.cpp splices in; SearchStep.cpp beside it writes the
// choice.
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
constexpr std::array<const char *, 16> kBeamOperands = {"input_ids",
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
                                                        "cross_qk_layer_head",
                                                        "extra_decoding_ids",
                                                        "temperature",
                                                        ""};
constexpr std::array<const char *, 3> kUnknownOperands = {"logits_processor", "cross_qk_layer_head", "extra_decoding_ids"};
constexpr int64_t kDecoderOnly = 0, kTextEncoder = 1, kWhisper = 2;  // model_type

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
  std::string whyNot(bool beams) const;
  std::string output(int i) const { return i < node.output_size() ? node.output(i) : ""; }
  void start(Nodes &m);
  void startDecoderOnly(Nodes &m);
  void startEncoder(Nodes &m);
  std::string givenMask(Nodes &m, const std::string &ids);
  std::string firstTokens(Nodes &m);
  void pasts(Nodes &m, int first, int count, int heads, int size);
  std::vector<std::string> call(Nodes &m, const pb::FunctionProto *graph, std::vector<std::string> inputs);
  bool readsAll() const;
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
  int64_t model = kDecoderOnly;
  int pastAt = 3;  // the decoder's first operand that is past
};

bool Expansion::read(const Versions &versions) {
  bool beams = llvm::StringRef(node.op_type()).ends_with("BeamSearch");
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
  const pb::AttributeProto *type = findAttr(node, "model_type");
  model = type ? type->i() : node.op_type() == "WhisperBeamSearch" ? kWhisper : kDecoderOnly;
  error = whyNot(beams);
  return error.empty();
}

std::string Expansion::whyNot(bool beams) const {
  if (!decoder || !search.operand.count("input_ids") || !search.operand.count("max_length"))
    return "needs a decoder, input_ids and max_length";
  std::string type = std::to_string(model);
  if (model < kDecoderOnly || model > (beams ? kWhisper : kTextEncoder))
    return "has model_type " + type + "; onnxc knows 0 (decoder only)" +
           (beams ? ", 1 (encoder and decoder) and 2 (Whisper)" : " and 1 (encoder and decoder)");
  if ((model != kDecoderOnly) != (encoder != nullptr))
    return encoder ? "has model_type 0 and an encoder" : "has model_type " + type + " and no encoder";
  if (model != kWhisper && search.operand.count("decoder_input_ids"))
    return "uses decoder_input_ids, which only models of type 2 have";
  for (const char *name : kUnknownOperands)
    if (search.operand.count(name))
      return std::string("uses ") + name + ", which onnxc does not know";
  for (auto [place, name] :
       {std::pair{beams ? 99 : 1, "filtered_logits"}, {beams ? 99 : 2, "scores"}, {3, "cross_qk"}, {4, "non_speech_probs"}})
    if (!output(place).empty())
      return std::string("output '") + name + "' is not given";
  return "";
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

std::string Expansion::givenMask(Nodes &m, const std::string &ids) {
  if (search.operand.count("attention_mask"))
    return search.operand["attention_mask"];
  std::string pad = m.scalar(kInt32, search.numberOr("pad_token_id", -1));
  return m("Cast", {m("Not", {m("Equal", {ids, pad})})}, {{"to", kInt32}});
}

void Expansion::startDecoderOnly(Nodes &m) {
  std::string ids = search.operand["input_ids"], mask = givenMask(m, ids);
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
  pasts(m, pastAt, decoderGraph->input_size() - pastAt, 2, 4);
  if (first && error.empty())
    decode(m, first);
}

std::string Expansion::firstTokens(Nodes &m) {
  if (search.operand.count("decoder_input_ids"))
    return search.operand["decoder_input_ids"];
  std::string begin = m.scalar(kInt32, search.numberOr("decoder_start_token_id", -1));
  return m("Expand", {begin, m("Concat", {search.batch, m.ints({1})}, {{"axis", 0}})});
}

// The encoder gives keys and values of its sequence and, for Whisper and in older files, the first logits and the decoder's first past as
// well. Whisper's sequence has no mask.
void Expansion::startEncoder(Nodes &m) {
  std::string ids = search.operand["input_ids"], starts = firstTokens(m);
  std::vector<std::string> inputs = {ids};
  state.tokens = state.sequences = search.expand(m, starts);
  firstLength = m("Shape", {starts}, {{"start", 1}, {"end", 2}});
  if (model != kWhisper) {
    inputs.push_back(givenMask(m, ids));
    encoderMask = search.expand(m, inputs.back());
  }
  bool full = model == kWhisper || (encoder->input_size() > 2 && encoderGraph->input_size() > 2);
  if (full)
    inputs.push_back(starts);
  std::vector<std::string> results = call(m, encoder, inputs);
  pastAt = model == kWhisper ? 1 : 2;
  bool readsHidden = decoderGraph->input_size() > pastAt && decoderGraph->input(pastAt).name() == "encoder_hidden_states";
  pastAt += readsHidden;
  int cached = decoderGraph->input_size() - pastAt, skipped = full ? 2 : 0;
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
    return pasts(m, pastAt, cached / 2, 1, 3);
  state.past.assign(results.begin() + 2, results.begin() + 2 + cached / 2);
  search.advance(m, state, results[0], state.past, true);
}

void Expansion::start(Nodes &m) {
  search.begin(m, state);
  encoder ? startEncoder(m) : startDecoderOnly(m);
  for (size_t i = 0; i < state.past.size() && error.empty(); ++i) {
    pb::TypeProto type = decoderGraph->input(pastAt + int(i)).type();
    for (auto &dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (!dim.has_dim_value())
        dim.Clear();
    pastTypes.push_back(type);
  }
}

// A decoder behind an encoder that does not ask for one token gets all of them, and its past too.
bool Expansion::readsAll() const {
  const pb::TensorShapeProto &shape = decoderGraph->input(0).type().tensor_type().shape();
  return encoder && shape.dim_size() > 1 && declaredSize(decoderGraph->input(0), 1) != 1;
}

// One run of the decoder and the choice that follows.
void Expansion::decode(Nodes &m, const pb::FunctionProto *graph) {
  std::vector<std::string> inputs = {readsAll() ? state.sequences : state.tokens};
  if (!encoder)
    inputs.insert(inputs.end(), {state.positions, state.mask});
  else if (!encoderMask.empty())
    inputs.push_back(encoderMask);
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
