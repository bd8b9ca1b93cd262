// Search.h: writing nodes (Gradient.cpp and UpgradeNN.cpp do so too), and what Search.cpp (subgraphs and the loop of a token search) and
// SearchStep.cpp (the choice of tokens) share.
#pragma once
#include "compiler/import/Walk.h"
#include <array>
#include <initializer_list>
#include <map>

namespace onnxc::importer {

using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// Nodes at the newest opset, each with a new name for its results.
class Nodes {
public:
  using Attributes = std::initializer_list<std::pair<const char *, int64_t>>;
  Nodes(Walker &walker, const Origin &from, NodeList &list) : walker(walker), from(from), list(list) {}

  std::string operator()(const char *op, std::initializer_list<std::string> inputs, Attributes attributes = {}) {
    return many(op, inputs, 1, attributes)[0];
  }
  std::vector<std::string> many(const char *op, const std::vector<std::string> &inputs, int results, Attributes attributes = {},
                                const char *domain = "");
  void loop(const std::vector<std::string> &inputs, pb::GraphProto &&body, const std::vector<std::string> &results);
  void give(const std::string &value, const std::string &result);
  std::string ints(const std::vector<int64_t> &values);
  std::string scalar(int type, double value);
  pb::NodeProto &last() { return list[list.size() - 1]; }  // the node written last

private:
  pb::NodeProto &add(const char *op, const std::vector<std::string> &inputs);
  std::string constant(pb::TensorProto &&value);

  Walker &walker;
  Origin from;
  NodeList &list;
};

// Values that change from step to step; those that a search does not need stay "". Rows are batch × beams.
struct SearchState {
  std::string tokens, positions, mask, sequences;                         // [rows, …]
  std::string finished;                                                   // [batch]
  std::string beamScores, hypothesisScores, hypotheses, hypothesisCount;  // [batch, beams], the same, [batch, beams, length], [batch]
  std::vector<std::string> past;
};

struct Search {
  enum Kind { Greedy, Sample, Beam } kind = Greedy;
  std::map<std::string, std::string> operand;  // those that are there
  std::map<std::string, double> number;        // the node's attributes
  std::string batch, beams, maxLength, rows;   // [1], [1], scalar, the batch entry of each row
  std::string stepScores;                      // of all tokens in the last step written, [batch, beams, vocabulary]
  int pastBatchAxis = 0;

  double numberOr(const char *name, double otherwise) const {
    auto it = number.find(name);
    return it == number.end() ? otherwise : it->second;
  }
  // What every step needs, and the state before the first one but for the decoder's operands.
  void begin(Nodes &m, SearchState &state);
  // A value per batch entry as one per row.
  std::string expand(Nodes &m, const std::string &value);
  // Chooses the next tokens by `logits` [rows, length, vocabulary] of the last run.
  void advance(Nodes &m, SearchState &state, const std::string &logits, std::vector<std::string> present, bool isFirst);
  std::string allFinished(Nodes &m, const SearchState &state);
  void finish(Nodes &m, const SearchState &state, const std::string &sequences, const std::string &scores);
  // Scores of the steps run, [steps, …], with zeros for those that were not needed to reach the greatest length from `length` tokens.
  std::string allSteps(Nodes &m, const std::string &scores, const std::string &length);

private:
  std::string scalarOperand(Nodes &m, const char *name, int type, double otherwise);
  std::string scores(Nodes &m, const SearchState &state, const std::string &logits, bool isFirst);
  std::string penalised(Nodes &m, const SearchState &state, std::string scores);
  std::string masked(Nodes &m, const std::string &allowed, const std::string &scores);
  std::string sampled(Nodes &m, const SearchState &state, std::string scores);
  std::string uniform(Nodes &m, const SearchState &state);
  std::string chooseOne(Nodes &m, SearchState &state, const std::string &scores);
  // Gives the row that each new row continues.
  std::string chooseBeams(Nodes &m, SearchState &state, const std::string &scores);
  void keepHypotheses(Nodes &m, SearchState &state, const std::string &scores, const std::string &sequences, const std::string &count);
  std::string padded(Nodes &m, const std::string &sequences);
  std::string perLength(Nodes &m, const std::string &scores, const std::string &sequences);
};

// The operators of com.microsoft that are searches.
constexpr std::array<const char *, 4> kSearches = {"BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"};
bool isSearch(const pb::NodeProto &n);

}  // namespace onnxc::importer
