// Walk.h: one pass over a parsed model that raises every node to the newest opset, replaces calls by the bodies of their functions and
// infers the type of every value. Upgrade*.cpp rewrite nodes, Infer.cpp types them; Build.cpp turns the result into MLIR.
#pragma once
#include "compiler/import/DefaultInputs.h"
#include "compiler/import/ModelFile.h"
#include "compiler/import/Ranges.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <list>
#include <set>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace onnxc::importer {

// Limits on what a model may unfold to.
constexpr size_t kMaxNodes = 1u << 19;
constexpr int kMaxCallDepth = 100;

using Types = std::unordered_map<std::string, pb::TypeProto>;
using Versions = std::unordered_map<std::string, int>;

// Where a node came from; kept in the node's metadata (origin(), setOrigin()).
struct Origin {
  std::string name, op;
  int64_t opset = 0;
};
Origin origin(const pb::NodeProto &node);
void setOrigin(pb::NodeProto &node, const Origin &from);

// What is known at one point of a graph, outer graphs included.
struct Scope {
  pb::GraphProto *graph = nullptr;
  std::unordered_map<std::string, pb::TypeProto *> types;
  std::unordered_map<std::string, const pb::TensorProto *> data;
  std::unordered_map<std::string, const pb::SparseTensorProto *> sparse;

  // Null when the type or its shape or element type is unknown.
  const pb::TypeProto *type(const std::string &name) const;
  int elementType(const std::string &name) const;  // 0 = unknown
  const pb::TensorShapeProto *shape(const std::string &name) const;
  int rank(const std::string &name) const;  // -1 = unknown
  bool ints(const std::string &name, std::vector<int64_t> &values) const;
  bool floats(const std::string &name, std::vector<double> &values) const;
};

// Reports a problem of a node; the walk goes on so that all are seen at once.
using Report = std::function<void(const Origin &from, const std::string &message)>;

struct MicrosoftBody;

class Walker {
public:
  // `isKnown`: whether there is an operator for a node at the newest opset.
  Walker(pb::ModelProto &model, std::function<bool(const pb::NodeProto &)> isKnown, Report report);
  // False when something was reported.
  bool run();
  // Walks a subgraph whose inputs have `inputs` types (null: as declared).
  void graph(pb::GraphProto &graph, const Scope *outer, const std::vector<const pb::TypeProto *> &inputs);
  bool walked(const pb::GraphProto &graph) const { return types.count(&graph) != 0; }
  // A value name that the model does not use.
  std::string fresh(const std::string &hint);

  // Types of the values that each graph defines, valid until the model is changed.
  std::unordered_map<const pb::GraphProto *, Types> types;
  // "domain::Name" of operators that the user supplies: their nodes stay as they are.
  std::set<std::string> customOps;
  std::function<std::vector<std::string>(const std::string &domain)> knownNames;  // of a domain's operators
  bool gatherMatrices = true;                                                     // ImportOptions
  // What flattenUnranked gave for the model.
  std::unordered_map<std::string, int> sameShape;
  // What takeRanges gave for its inputs.
  Ranges ranges;

private:
  // In which opsets the nodes at hand are written and through which calls they were reached.
  struct Context {
    Versions versions;
    Origin caller;  // of nodes inside a function: the call
    bool isStandard = false;
    int depth = 0;
    const pb::NodeProto *part = nullptr;  // the node of a function of the model
  };
  void begin(Scope &scope, const Scope *outer, const std::vector<const pb::TypeProto *> &inputs);
  void constants(Scope &scope);
  void node(pb::NodeProto &&node, Scope &scope);
  bool countNode(const pb::NodeProto &node, const pb::FunctionProto *called);
  void nameOrigin(pb::NodeProto &node, int version);
  // How many nodes a call of the function becomes.
  size_t unfolded(const pb::FunctionProto &function, int depth);
  void raise(pb::NodeProto &node, Scope &scope, int version);
  bool expandStandard(const pb::NodeProto &node, Scope &scope);
  void expandGradient(const pb::NodeProto &node, Scope &scope);
  void expandSearch(const pb::NodeProto &node, Scope &scope);
  void expandMicrosoft(const pb::NodeProto &node, const MicrosoftBody &body, Scope &scope);
  void splice(const pb::NodeProto &call, const pb::FunctionProto &body, Scope &scope, bool isStandard);
  void append(pb::NodeProto &&node, Scope &scope);
  void infer(pb::NodeProto &node, Scope &scope);
  void rememberConstant(const pb::NodeProto &node, Scope &scope);

  // Check.cpp
  //
  // Once for each node of the model, however often its function is called.
  void fail(const Origin &from, const std::string &message);
  // Reports `node`; what it computes is in doubt from here on.
  void reject(const pb::NodeProto &node, const std::string &message);
  // The same for what may follow from a report of what `node` reads, which then says it all.
  void rejectTypes(const pb::NodeProto &node, const std::string &message);
  // The same for a node that goes no further: its bodies are walked, so that what is wrong in them is reported too.
  void rejectWhole(pb::NodeProto &&node, Scope &scope, const std::string &message);
  bool isDoubtful(const pb::NodeProto &node) const;
  void doubt(const pb::NodeProto &node);
  void doubtBodies(const pb::NodeProto &node);
  void bodies(pb::NodeProto &node, Scope &scope);

  pb::ModelProto &model;
  std::function<bool(const pb::NodeProto &)> isKnown;
  Report report;
  bool failed = false;
  std::unordered_set<std::string> doubtful;  // values
  size_t doubts = 0;                         // how often a node's results became doubtful
  std::unordered_set<const pb::NodeProto *> reported;
  size_t count = 0, unnamed = 0, unique = 0;
  const Context *current = nullptr;
  std::unordered_set<std::string> names, defined;  // all of the model's graphs; those that stand for a value
  std::vector<std::string> enclosing;              // the nodes whose bodies are walked
  std::unordered_map<std::string, const pb::FunctionProto *> functions;
  std::unordered_map<const pb::FunctionProto *, size_t> unfoldedSizes;
  std::unordered_map<std::string, pb::TensorShapeProto> shapeData;
  std::unordered_map<const pb::GraphProto *, Types> declared;
  std::list<pb::TensorProto> literals;
  std::list<pb::FunctionProto> searched;  // subgraphs of token searches
};

// A domain's name for messages.
std::string plainName(const std::string &domain);
// Whether the user supplies the operator of a node: `customOps` holds "domain::Name".
bool isCustom(const pb::NodeProto &node, const std::set<std::string> &customOps);
// What is wrong with a node in itself; "" when nothing is.
std::string checkNode(const pb::NodeProto &node, int version, bool inFunction);
// An attribute, in a node written in opset `version`, whose value is not one of the words it can be; "" when there is none.
std::string attributeWordError(const pb::NodeProto &node, int version);
// An operand of an operator of com.microsoft with elements that its kernel does not read; "" when there is none.
std::string operandTypesError(const pb::NodeProto &node, const Scope &scope);
// The types that the first operand of a com.microsoft operator can have; none where a kernel of the library says so, or what the operator
// becomes.
std::vector<std::string> firstOperandTypes(llvm::StringRef op);
// What to say of an operator that does not exist here; `names`: of those that its domain has.
std::string unknownOperator(const pb::NodeProto &node, const std::vector<std::string> &names);
// The newest opset of the default domain that the library knows.
int newestOpset();
// The schema of an op, deprecated ones included at their last valid version; null for an unknown op.
const pb::OpSchema *findSchema(const std::string &op, int version, const std::string &domain);
const pb::OpSchema *newestSchema(const pb::NodeProto &node);
// Whether the dialect has kernels or decompositions of its own for an op with a standard function body.
bool keepNative(llvm::StringRef op);
// Whether the dialect has `op` among its com.microsoft ops; ONNX Runtime writes some of them without a domain.
bool microsoftOp(const std::string &op);
// Types of the results that the library cannot infer: com.microsoft ops and ops whose inference failed.
void fallbackTypes(const pb::NodeProto &node, const Scope &scope, std::vector<pb::TypeProto> &results);
// Runs the library's inference for one node. Never throws; results stay empty where it fails, and `error` says why if the operands are at
// fault.
void inferNode(Walker &walker, pb::NodeProto &node, Scope &scope, std::unordered_map<std::string, pb::TensorShapeProto> &shapeData,
               std::vector<pb::TypeProto> &results, std::string &error);
// Partial values of small integer tensors, for the inference of later nodes.
void propagateNode(pb::NodeProto &node, Scope &scope, std::unordered_map<std::string, pb::TensorShapeProto> &shapeData);

// What tells a model-local function from the others.
std::string functionKey(const std::string &domain, const std::string &name, const std::string &overload);

// The names that a graph reads, subgraphs included, and takes from the graphs around it.
std::unordered_set<std::string> capturedNames(const pb::GraphProto &graph);

// Structure of a model before the walk: domains spelled one way, nodes in order, every value defined once; of the main graph's
// inputs with an initializer those of `defaults` stay inputs. False: reported.
bool normalise(pb::ModelProto &model, DefaultInputs defaults, const Report &report);

// Readies a model with tensors in blocks of channels for the bodies of com.microsoft.nchwc (Nchwc.cpp). False: reported.
bool plainChannels(pb::ModelProto &model, const Report &report, const std::function<void(const std::string &)> &warn);

// Makes inputs without a rank lists of elements where no operator can tell the difference. Gives the index of the input whose shape it has
// for each such input and all that is computed from it; nothing when that cannot be done.
std::unordered_map<std::string, int> flattenUnranked(pb::GraphProto &graph);

}  // namespace onnxc::importer
