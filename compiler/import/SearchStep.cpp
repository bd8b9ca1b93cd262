// SearchStep.cpp: how a search (Search.cpp) turns the logits of a decoder into next tokens: penalties and masks, then the likeliest token,
// a sampled one, or the best continuations of several beams; and the results at the end.
#include "compiler/import/Search.h"
#include "compiler/import/Upgrade.h"
#include <cmath>
#include <limits>

namespace onnxc::importer {

constexpr int kFloat = pb::TensorProto::FLOAT, kInt32 = pb::TensorProto::INT32, kInt64 = pb::TensorProto::INT64,
              kUint64 = pb::TensorProto::UINT64, kBool = pb::TensorProto::BOOL;
constexpr float kLowest = std::numeric_limits<float>::lowest(), kNone = -std::numeric_limits<float>::infinity();

// --- Nodes ---

pb::NodeProto &Nodes::add(const char *op, const std::vector<std::string> &inputs) {
  pb::NodeProto &n = *list.Add();
  n.set_op_type(op);
  for (const std::string &input : inputs)
    n.add_input(input);
  setOrigin(n, from);
  return n;
}

std::vector<std::string> Nodes::many(const char *op, const std::vector<std::string> &inputs, int results, Attributes attributes,
                                     const char *domain) {
  pb::NodeProto &n = add(op, inputs);
  n.set_domain(domain);
  for (const auto &[name, value] : attributes)
    setInt(n, name, value);
  std::vector<std::string> names;
  for (int i = 0; i < results; ++i)
    names.push_back(*n.add_output() = walker.fresh(op));
  return names;
}

void Nodes::loop(const std::vector<std::string> &inputs, pb::GraphProto &&body, const std::vector<std::string> &results) {
  pb::NodeProto &n = add("Loop", inputs);
  for (const std::string &result : results)
    n.add_output(result);
  pb::AttributeProto &attr = *n.add_attribute();
  attr.set_name("body");
  attr.set_type(pb::AttributeProto::GRAPH);
  *attr.mutable_g() = std::move(body);
}

void Nodes::give(const std::string &value, const std::string &result) {
  if (!result.empty())
    add("Identity", {value}).add_output(result);
}

std::string Nodes::constant(pb::TensorProto &&value) {
  pb::NodeProto &n = add("Constant", {});
  pb::AttributeProto &attr = *n.add_attribute();
  attr.set_name("value");
  attr.set_type(pb::AttributeProto::TENSOR);
  *attr.mutable_t() = std::move(value);
  return *n.add_output() = walker.fresh("constant");
}

std::string Nodes::ints(const std::vector<int64_t> &values) {
  pb::TensorProto t;
  t.set_data_type(kInt64);
  t.add_dims(int64_t(values.size()));
  for (int64_t value : values)
    t.add_int64_data(value);
  return constant(std::move(t));
}

// Of f16 only zero is asked for.
std::string Nodes::scalar(int type, double value) {
  pb::TensorProto t;
  t.set_data_type(type);
  if (type == kFloat)
    t.add_float_data(float(value));
  else if (type == kInt64)
    t.add_int64_data(int64_t(value));
  else
    t.add_int32_data(int32_t(int64_t(value)));
  return constant(std::move(t));
}

// --- before the first step ---

std::string Search::scalarOperand(Nodes &m, const char *name, int type, double otherwise) {
  auto it = operand.find(name);
  return it == operand.end() ? m.scalar(type, otherwise) : m("Cast", {m("Reshape", {it->second, m.ints({})})}, {{"to", type}});
}

void Search::begin(Nodes &m, SearchState &state) {
  batch = m("Shape", {operand["input_ids"]}, {{"start", 0}, {"end", 1}});
  maxLength = scalarOperand(m, "max_length", kInt64, 0);
  state.finished = m("Expand", {m.scalar(kBool, 0), batch});
  if (kind != Beam)
    return;
  beams = m("Reshape", {scalarOperand(m, "num_beams", kInt64, 1), m.ints({1})});
  std::string shape = m("Concat", {batch, beams}, {{"axis", 0}});
  std::string entries = m("Range", {m.scalar(kInt64, 0), m("Squeeze", {batch}), m.scalar(kInt64, 1)});
  rows = m("Reshape", {m("Expand", {m("Unsqueeze", {entries, m.ints({1})}), shape}), m.ints({-1})});
  // Only the first beam of an entry counts in the first step: the others would choose the same tokens.
  std::string places = m("Range", {m.scalar(kInt64, 0), m("Squeeze", {beams}), m.scalar(kInt64, 1)});
  std::string scores = m("Where", {m("Equal", {places, m.scalar(kInt64, 0)}), m.scalar(kFloat, 0), m.scalar(kFloat, -1e9)});
  state.beamScores = m("Expand", {scores, shape});
  state.hypothesisScores = m("Expand", {m.scalar(kFloat, kNone), shape});
  std::string length = m("Reshape", {maxLength, m.ints({1})}), pad = m.scalar(kInt32, numberOr("pad_token_id", -1));
  state.hypotheses = m("Expand", {pad, m("Concat", {shape, length}, {{"axis", 0}})});
  state.hypothesisCount = m("Expand", {m.scalar(kInt64, 0), batch});
}

std::string Search::expand(Nodes &m, const std::string &value) { return kind == Beam ? m("Gather", {value, rows}, {{"axis", 0}}) : value; }

// --- scores of all tokens ---

std::string Search::masked(Nodes &m, const std::string &allowed, const std::string &scores) {
  return m("Where", {allowed, scores, m.scalar(kFloat, kLowest)});
}

// Tokens that were there before become less likely or, where they would complete a sequence of tokens that was there, impossible.
std::string Search::penalised(Nodes &m, const SearchState &state, std::string scores) {
  std::string seen = m("Cast", {state.sequences}, {{"to", kInt64}});
  if (operand.count("repetition_penalty")) {
    std::string penalty = scalarOperand(m, "repetition_penalty", kFloat, 1);
    std::string old = m("GatherElements", {scores, seen}, {{"axis", 1}});
    std::string isNegative = m("Less", {old, m.scalar(kFloat, 0)});
    std::string less = m("Where", {isNegative, m("Mul", {old, penalty}), m("Div", {old, penalty})});
    scores = m("ScatterElements", {scores, seen, less}, {{"axis", 1}});
  }
  if (int64_t size = int64_t(numberOr("no_repeat_ngram_size", 0)); size > 0)
    scores =
        m("Max", {m.many("NGramRepeatBlock", {seen, scores}, 1, {{"ngram_size", size}}, "com.microsoft")[0], m.scalar(kFloat, kLowest)});
  return scores;
}

std::string Search::scores(Nodes &m, const SearchState &state, const std::string &logits, bool isFirst) {
  std::string scores = m("Cast", {m("Gather", {logits, m.scalar(kInt64, -1)}, {{"axis", 1}})}, {{"to", kFloat}});
  if (numberOr("vocab_size", -1) > 0)
    scores = m("Slice", {scores, m.ints({0}), m.ints({int64_t(numberOr("vocab_size", 0))}), m.ints({1})});
  if (kind == Beam)
    scores = m("LogSoftmax", {scores}, {{"axis", -1}});
  scores = penalised(m, state, scores);
  std::string zero = m.scalar(kInt32, 0);
  if (operand.count("vocab_mask"))
    scores = masked(m, m("Not", {m("Equal", {operand["vocab_mask"], zero})}), scores);
  if (isFirst && operand.count("prefix_vocab_mask"))
    scores = masked(m, m("Not", {m("Equal", {expand(m, operand["prefix_vocab_mask"]), zero})}), scores);
  if (operand.count("min_length") && numberOr("eos_token_id", -1) >= 0) {
    std::string length = m("Shape", {state.sequences}, {{"start", 1}, {"end", 2}});
    std::string isLong = m("GreaterOrEqual", {length, scalarOperand(m, "min_length", kInt64, 0)});
    std::string vocabulary = m("Squeeze", {m("Shape", {scores}, {{"start", 1}, {"end", 2}})});
    std::string tokens = m("Range", {m.scalar(kInt64, 0), vocabulary, m.scalar(kInt64, 1)});
    std::string isOther = m("Not", {m("Equal", {tokens, m.scalar(kInt64, numberOr("eos_token_id", -1))})});
    scores = masked(m, m("Or", {isLong, isOther}), scores);
  }
  if (operand.count("temperature"))
    scores = m("Div", {scores, scalarOperand(m, "temperature", kFloat, 1)});
  return scores;
}

// --- one token per row ---

// A number in [0, 1) per row, mixed from the seed, the length so far and the row.
std::string Search::uniform(Nodes &m, const SearchState &state) {
  std::string rowCount = m("Squeeze", {batch}), length = m("Squeeze", {m("Shape", {state.sequences}, {{"start", 1}, {"end", 2}})});
  std::string row = m("Range", {m.scalar(kInt64, 0), rowCount, m.scalar(kInt64, 1)});
  std::string seed = scalarOperand(m, "seed", kInt64, 0);
  std::string x = m("Add", {m("Mul", {seed, m.ints({0x1e3779b97f4a7c15})}), m("Mul", {length, m.ints({0x3f58476d1ce4e5b9})})});
  x = m("Cast", {m("Add", {x, m("Mul", {row, m.ints({0x14d049bb133111eb})})})}, {{"to", kUint64}});
  for (auto [shift, factor] : {std::pair<int64_t, int64_t>{30, 0x3f58476d1ce4e5b9}, {27, 0x14d049bb133111eb}, {31, 1}}) {
    std::string high = m("Div", {x, m("Cast", {m.ints({int64_t(1) << shift})}, {{"to", kUint64}})});
    x = m("Mul", {m("BitwiseXor", {x, high}), m("Cast", {m.ints({factor})}, {{"to", kUint64}})});
  }
  std::string top = m("Div", {x, m("Cast", {m.ints({int64_t(1) << 41})}, {{"to", kUint64}})});
  std::string unit = m("Mul", {m("Cast", {top}, {{"to", kFloat}}), m.scalar(kFloat, std::ldexp(1.0, -23))});
  return m("Unsqueeze", {unit, m.ints({1})});
}

// The likeliest tokens that together reach top_p stay; one of them is drawn.
std::string Search::sampled(Nodes &m, const SearchState &state, std::string scores) {
  if (numberOr("temperature", 1) != 1)
    scores = m("Div", {scores, m.scalar(kFloat, numberOr("temperature", 1))});
  if (operand.count("presence_mask") && numberOr("presence_penalty", 0) != 0) {
    std::string present = m("Cast", {operand["presence_mask"]}, {{"to", kFloat}});
    scores = m("Sub", {scores, m("Mul", {present, m.scalar(kFloat, numberOr("presence_penalty", 0))})});
  }
  std::string axis = m.scalar(kInt64, 1), size = m("Shape", {scores}, {{"start", 1}, {"end", 2}});
  std::vector<std::string> sorted = m.many("TopK", {scores, size}, 2, {{"axis", 1}});
  std::string before = m("CumSum", {m("Softmax", {sorted[0]}, {{"axis", 1}}), axis}, {{"exclusive", 1}});
  std::string place = m("Range", {m.scalar(kInt64, 0), m("Squeeze", {size}), m.scalar(kInt64, 1)});
  std::string isKept = m("Less", {before, m.scalar(kFloat, numberOr("top_p", 0))});
  int64_t least = std::max<int64_t>(1, int64_t(numberOr("min_tokens_to_keep", 0)));
  isKept = m("Or", {isKept, m("Less", {place, m.scalar(kInt64, double(least))})});
  std::string kept = m("Where", {isKept, sorted[0], m.scalar(kFloat, numberOr("filter_value", -1e20))});
  std::string sums = m("CumSum", {m("Softmax", {kept}, {{"axis", 1}}), axis});
  std::string all = m("ReduceMax", {sums, m.ints({1})}, {{"keepdims", 1}});
  std::string isBelow = m("LessOrEqual", {sums, m("Mul", {uniform(m, state), all})});
  std::string chosen = m("ReduceSum", {m("Cast", {isBelow}, {{"to", kInt64}}), m.ints({1})}, {{"keepdims", 1}});
  return m("GatherElements", {sorted[1], m("Min", {chosen, m("Sub", {size, m.ints({1})})})}, {{"axis", 1}});
}

std::string Search::chooseOne(Nodes &m, SearchState &state, const std::string &scores) {
  std::string best = kind == Sample ? sampled(m, state, scores) : m("ArgMax", {scores}, {{"axis", 1}, {"keepdims", 1}});
  std::string token = m("Cast", {best}, {{"to", kInt32}}), end = m.scalar(kInt32, numberOr("eos_token_id", -1));
  state.finished = m("Or", {state.finished, m("Reshape", {m("Equal", {token, end}), m.ints({-1})})});
  std::string over = m("Unsqueeze", {state.finished, m.ints({1})});
  state.tokens = m("Where", {over, m.scalar(kInt32, numberOr("pad_token_id", -1)), token});
  state.sequences = m("Concat", {state.sequences, state.tokens}, {{"axis", 1}});
  return "";
}

// --- several beams ---

// Scores of sequences of that length, made comparable with those of others.
std::string Search::perLength(Nodes &m, const std::string &scores, const std::string &sequences) {
  std::string length = m("Cast", {m("Shape", {sequences}, {{"start", 1}, {"end", 2}})}, {{"to", kFloat}});
  return m("Div", {scores, m("Pow", {length, scalarOperand(m, "length_penalty", kFloat, 1)})});
}

// [rows, length] with pads up to the longest length.
std::string Search::padded(Nodes &m, const std::string &sequences) {
  std::string shape = m("Shape", {sequences}, {{"start", 0}, {"end", 1}}), length = m("Shape", {sequences}, {{"start", 1}, {"end", 2}});
  std::string rest = m("Concat", {shape, m("Sub", {maxLength, length})}, {{"axis", 0}});
  std::string pads = m("Expand", {m.scalar(kInt32, numberOr("pad_token_id", -1)), rest});
  return m("Concat", {sequences, pads}, {{"axis", 1}});
}

// Adds candidates, [batch, n] scores (-inf: none) with their [batch × n, length] sequences, and keeps the best `count`.
void Search::keepHypotheses(Nodes &m, SearchState &state, const std::string &scores, const std::string &sequences,
                            const std::string &count) {
  std::string length = m("Reshape", {maxLength, m.ints({1})}), inferred = m.ints({-1});
  std::string added = m("Reshape", {padded(m, sequences), m("Concat", {batch, inferred, length}, {{"axis", 0}})});
  std::string all = m("Concat", {state.hypotheses, added}, {{"axis", 1}});
  std::string allScores = m("Concat", {state.hypothesisScores, scores}, {{"axis", 1}});
  std::vector<std::string> best = m.many("TopK", {allScores, count}, 2, {{"axis", 1}});
  std::string size = m("Shape", {allScores}, {{"start", 1}, {"end", 2}});
  std::string entries = m("Range", {m.scalar(kInt64, 0), m("Squeeze", {batch}), m.scalar(kInt64, 1)});
  std::string offsets = m("Unsqueeze", {m("Mul", {entries, size}), m.ints({1})});
  std::string flat = m("Reshape", {all, m("Concat", {inferred, length}, {{"axis", 0}})});
  state.hypothesisScores = best[0];
  state.hypotheses = m("Gather", {flat, m("Add", {best[1], offsets})}, {{"axis", 0}});
}

std::string Search::chooseBeams(Nodes &m, SearchState &state, const std::string &scores) {
  std::string one = m.ints({1}), inferred = m.ints({-1}), end = m.scalar(kInt64, numberOr("eos_token_id", -1));
  std::string vocabulary = m("Shape", {scores}, {{"start", 1}, {"end", 2}}), twice = m("Mul", {beams, m.ints({2})});
  std::string total = m("Add", {scores, m("Reshape", {state.beamScores, m.ints({-1, 1})})});
  std::string flat = m("Reshape", {total, m("Concat", {batch, m("Mul", {beams, vocabulary})}, {{"axis", 0}})});
  stepScores = m("Reshape", {total, m("Concat", {batch, beams, vocabulary}, {{"axis", 0}})});
  std::vector<std::string> top = m.many("TopK", {flat, twice}, 2, {{"axis", 1}});
  std::string token = m("Mod", {top[1], vocabulary}), beam = m("Div", {top[1], vocabulary}), isEnd = m("Equal", {token, end});
  std::string entries = m("Range", {m.scalar(kInt64, 0), m("Squeeze", {batch}), m.scalar(kInt64, 1)});
  std::string row = m("Add", {beam, m("Unsqueeze", {m("Mul", {entries, beams}), one})});
  std::string over = m("Unsqueeze", {state.finished, one}), old = state.sequences;
  // Those among the best that end here. An entry's best score decides whether it may still improve.
  auto firstBeams = [&](const std::string &v) { return m("Slice", {v, m.ints({0}), beams, one}); };
  std::string ends = m("And", {firstBeams(isEnd), m("Not", {over})});
  std::string comparable = perLength(m, top[0], old);
  std::string best = m("ReduceMax", {comparable, one}, {{"keepdims", 0}});
  std::string ended = m("Gather", {old, m("Reshape", {firstBeams(row), inferred})}, {{"axis", 0}});
  keepHypotheses(m, state, m("Where", {ends, firstBeams(comparable), m.scalar(kFloat, kNone)}), ended, beams);
  std::string found = m("ReduceSum", {m("Cast", {ends}, {{"to", kInt64}}), one}, {{"keepdims", 0}});
  state.hypothesisCount = m("Add", {state.hypothesisCount, found});
  std::string isDone = m("GreaterOrEqual", {state.hypothesisCount, beams});
  if (numberOr("early_stopping", 0) == 0) {
    std::string worst = m("ReduceMin", {state.hypothesisScores, one}, {{"keepdims", 0}});
    isDone = m("And", {isDone, m("GreaterOrEqual", {worst, best})});
  }
  state.finished = m("Or", {state.finished, isDone});
  // The best that do not end go on; an entry that had finished before is padded and continues the first row, which only the scores of its
  // steps show.
  std::string places = m("Range", {m("Squeeze", {twice}), m.scalar(kInt64, 0), m.scalar(kInt64, -1)});
  std::string at = m.many("TopK", {m("Where", {isEnd, m.scalar(kInt64, 0), places}), beams}, 2, {{"axis", 1}})[1];
  auto going = [&](const std::string &v) { return m("GatherElements", {v, at}, {{"axis", 1}}); };
  state.beamScores = m("Where", {over, m.scalar(kFloat, 0), going(top[0])});
  std::string next = m("Where", {over, m.scalar(kInt64, numberOr("pad_token_id", -1)), going(token)});
  state.tokens = m("Cast", {m("Reshape", {next, m.ints({-1, 1})})}, {{"to", kInt32}});
  std::string source = m("Reshape", {m("Where", {over, m.scalar(kInt64, 0), going(row)}), inferred});
  state.sequences = m("Concat", {m("Gather", {old, source}, {{"axis", 0}}), state.tokens}, {{"axis", 1}});
  return source;
}

// --- steps and the end ---

void Search::advance(Nodes &m, SearchState &state, const std::string &logits, std::vector<std::string> present, bool isFirst) {
  std::string all = scores(m, state, logits, isFirst);
  std::string source = kind == Beam ? chooseBeams(m, state, all) : chooseOne(m, state, all);
  for (std::string &value : present)
    value = source.empty() ? value : m("Gather", {value, source}, {{"axis", pastBatchAxis}});
  state.past = std::move(present);
  if (state.mask.empty())
    return;
  state.positions = m("ReduceSum", {state.mask, m.ints({1})}, {{"keepdims", 1}});
  std::string ones = m("Expand", {m.scalar(kInt32, 1), m("Shape", {state.tokens})});
  state.mask = m("Concat", {state.mask, ones}, {{"axis", 1}});
}

std::string Search::allFinished(Nodes &m, const SearchState &state) {
  std::string least = m("ReduceMin", {m("Cast", {state.finished}, {{"to", kInt32}})}, {{"keepdims", 0}});
  return m("Equal", {least, m.scalar(kInt32, 1)});
}

void Search::finish(Nodes &m, const SearchState &state, const std::string &sequences, const std::string &scores) {
  if (kind != Beam)
    return m.give(padded(m, state.sequences), sequences);
  SearchState last = state;
  std::string kept = m("Reshape", {scalarOperand(m, "num_return_sequences", kInt64, 1), m.ints({1})});
  std::string open = m("Not", {m("Unsqueeze", {state.finished, m.ints({1})})});
  std::string candidates = m("Where", {open, perLength(m, state.beamScores, state.sequences), m.scalar(kFloat, kNone)});
  keepHypotheses(m, last, candidates, state.sequences, kept);
  m.give(last.hypotheses, sequences);
  m.give(last.hypothesisScores, scores);
}

std::string Search::allSteps(Nodes &m, const std::string &scores, const std::string &length) {
  std::string steps = m("Shape", {scores}, {{"start", 0}, {"end", 1}}), each = m("Shape", {scores}, {{"start", 1}});
  std::string missing = m("Sub", {m("Sub", {m("Reshape", {maxLength, m.ints({1})}), length}), steps});
  std::string zeros = m("Expand", {m.scalar(kFloat, 0), m("Concat", {missing, each}, {{"axis", 0}})});
  return m("Concat", {scores, zeros}, {{"axis", 0}});
}

}  // namespace onnxc::importer
