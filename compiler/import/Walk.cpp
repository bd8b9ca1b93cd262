// Walk.cpp: the pass of Walk.h over graphs and nodes. Functions.cpp beside it replaces calls by bodies.
#include "compiler/import/Microsoft.h"
#include "compiler/import/Search.h"
#include "compiler/import/Tensors.h"
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {

static constexpr const char *kOpKey = "onnxc.op", *kOpsetKey = "onnxc.opset";

Origin origin(const pb::NodeProto &node) {
  Origin from{node.name(), node.op_type(), 0};
  for (const auto &entry : node.metadata_props()) {
    if (entry.key() == kOpKey)
      from.op = entry.value();
    if (entry.key() == kOpsetKey)
      from.opset = std::atoll(entry.value().c_str());
  }
  return from;
}

void setOrigin(pb::NodeProto &node, const Origin &from) {
  node.set_name(from.name);
  node.clear_metadata_props();
  auto *op = node.add_metadata_props(), *opset = node.add_metadata_props();
  op->set_key(kOpKey);
  op->set_value(from.op);
  opset->set_key(kOpsetKey);
  opset->set_value(std::to_string(from.opset));
}

static Versions versionsOf(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &imports) {
  Versions versions;
  for (const pb::OperatorSetIdProto &import : imports)
    versions[import.domain()] = int(std::min<int64_t>(import.version(), 1 << 20));
  return versions;
}

std::string functionKey(const std::string &domain, const std::string &name, const std::string &overload) {
  return domain + '\n' + name + '\n' + overload;
}

static void collectNames(const pb::GraphProto &graph, std::unordered_set<std::string> &read, std::unordered_set<std::string> &defined) {
  for (const pb::TensorProto &t : graph.initializer())
    defined.insert(t.name());
  for (const pb::SparseTensorProto &t : graph.sparse_initializer())
    defined.insert(t.values().name());
  for (const pb::ValueInfoProto &v : graph.input())
    defined.insert(v.name());
  for (const pb::NodeProto &node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    defined.insert(node.output().begin(), node.output().end());
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        collectNames(attr.g(), read, defined);
  }
}

Walker::Walker(pb::ModelProto &model, std::function<bool(const pb::NodeProto &)> isKnown, Report report)
    : model(model), isKnown(std::move(isKnown)), report(std::move(report)) {
  collectNames(model.graph(), names, defined);
  names.insert(defined.begin(), defined.end());
  for (const pb::FunctionProto &f : model.functions())
    functions[functionKey(f.domain(), f.name(), f.overload())] = &f;
}

std::string Walker::fresh(const std::string &hint) {
  for (std::string base = hint.substr(0, 200);;) {
    std::string name = base + "." + std::to_string(unique++);
    if (names.insert(name).second)
      return name;
  }
}

bool Walker::run() {
  Context context;
  context.versions = versionsOf(model.opset_import());
  current = &context;
  graph(*model.mutable_graph(), nullptr, {});
  current = nullptr;
  return !failed;
}

// What is declared, completed by what the caller knows. Sizes that disagree become unknown.
static void merge(pb::TypeProto &declared, const pb::TypeProto *given) {
  if (!given)
    return;
  if (declared.value_case() == pb::TypeProto::VALUE_NOT_SET || !declared.has_tensor_type() || !given->has_tensor_type()) {
    if (declared.value_case() == pb::TypeProto::VALUE_NOT_SET)
      declared = *given;
    return;
  }
  auto &to = *declared.mutable_tensor_type();
  const auto &from = given->tensor_type();
  if (to.elem_type() == 0)
    to.set_elem_type(from.elem_type());
  if (!from.has_shape())
    return;
  if (!to.has_shape() || to.shape().dim_size() != from.shape().dim_size()) {
    if (!to.has_shape())
      *to.mutable_shape() = from.shape();
    else
      to.clear_shape();
    return;
  }
  for (int i = 0; i < to.shape().dim_size(); ++i) {
    auto &dim = *to.mutable_shape()->mutable_dim(i);
    if (!dim.has_dim_value() && from.shape().dim(i).has_dim_value())
      dim = from.shape().dim(i);
    else if (dim.has_dim_value() && from.shape().dim(i).has_dim_value() && dim.dim_value() != from.shape().dim(i).dim_value())
      dim.Clear();
  }
}

template <typename Tensor>
static pb::TypeProto typeOf(const Tensor &dims, int code) {
  pb::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(code);
  auto *shape = type.mutable_tensor_type()->mutable_shape();
  for (int64_t dim : dims.dims())
    shape->add_dim()->set_dim_value(dim);
  return type;
}

void Walker::constants(Scope &scope) {
  Types &own = types[scope.graph];
  auto define = [&](const std::string &name, pb::TypeProto type) {
    pb::TypeProto &stored = own[name] = std::move(type);
    scope.types[name] = &stored;
    scope.data.erase(name);
    scope.sparse.erase(name);
  };
  std::unordered_set<std::string> inputs;
  for (const pb::ValueInfoProto &input : scope.graph->input())
    inputs.insert(input.name());
  for (const pb::TensorProto &t : scope.graph->initializer()) {
    define(t.name(), typeOf(t, t.data_type()));
    if (!isRemote(t) && !inputs.count(t.name()))  // a run may give an input another value
      scope.data[t.name()] = &t;
  }
  for (const pb::SparseTensorProto &t : scope.graph->sparse_initializer())
    define(t.values().name(), typeOf(t, t.values().data_type()));
}

void Walker::begin(Scope &scope, const Scope *outer, const std::vector<const pb::TypeProto *> &inputs) {
  pb::GraphProto *graph = scope.graph;
  if (outer) {
    scope.types = outer->types;
    scope.data = outer->data;
    scope.sparse = outer->sparse;
  }
  Types &own = types[graph], &hints = declared[graph];
  for (auto *list : {graph->mutable_value_info(), graph->mutable_output()})
    for (const pb::ValueInfoProto &value : *list)
      if (value.has_type())
        hints[value.name()] = value.type();
  graph->clear_value_info();
  for (int i = 0; i < graph->input_size(); ++i) {
    const pb::ValueInfoProto &input = graph->input(i);
    pb::TypeProto &type = own[input.name()] = input.type();
    merge(type, i < int(inputs.size()) ? inputs[i] : nullptr);
    scope.types[input.name()] = &type;
    scope.data.erase(input.name());
    shapeData.erase(input.name());
  }
  constants(scope);
}

void Walker::graph(pb::GraphProto &graph, const Scope *outer, const std::vector<const pb::TypeProto *> &inputs) {
  Scope scope;
  scope.graph = &graph;
  begin(scope, outer, inputs);
  google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  for (pb::NodeProto &n : nodes)
    node(std::move(n), scope);
}

// The version a node is written in; 0 for a domain that the model does not import.
static int versionOf(const pb::NodeProto &node, const Versions &versions) {
  auto it = versions.find(node.domain());
  return it != versions.end() ? it->second : node.domain() == "com.microsoft" ? 1 : 0;
}

// A lower bound: subgraphs and what decompositions add are not counted.
size_t Walker::unfolded(const pb::FunctionProto &function, int depth) {
  auto [known, fresh] = unfoldedSizes.try_emplace(&function, function.node_size());
  if (!fresh || depth >= kMaxCallDepth)
    return known->second;
  size_t sum = function.node_size();
  for (const pb::NodeProto &n : function.node())
    if (auto it = functions.find(functionKey(n.domain(), n.op_type(), n.overload())); it != functions.end())
      sum = std::min(sum + unfolded(*it->second, depth + 1), kMaxNodes + 1);
  return unfoldedSizes[&function] = sum;
}

// False where the model has too many nodes, which is said once.
bool Walker::countNode(const pb::NodeProto &n, const pb::FunctionProto *called) {
  if (count < kMaxNodes && called && count + unfolded(*called, current->depth) > kMaxNodes)
    count = kMaxNodes;  // refused before the work is done
  if (++count == kMaxNodes + 1)
    fail(current->depth ? current->caller : Origin{n.name(), n.op_type(), 0},
         "the model unfolds to more than " + std::to_string(kMaxNodes) + " nodes");
  return count <= kMaxNodes;
}

// Gives a node that the model or one of its functions has the name under which diagnostics speak of it.
void Walker::nameOrigin(pb::NodeProto &n, int version) {
  Origin from{n.name().empty() ? n.op_type() + "_" + std::to_string(unnamed) : n.name(), n.op_type(), version};
  ++unnamed;
  if (current->isStandard)
    from = current->caller;
  else if (!current->caller.name.empty())
    from.name = current->caller.name + "/" + from.name;
  setOrigin(n, from);
}

void Walker::node(pb::NodeProto &&n, Scope &scope) {
  auto found = functions.find(functionKey(n.domain(), n.op_type(), n.overload()));
  const pb::FunctionProto *called = found != functions.end() ? found->second : nullptr;
  if (!countNode(n, called))
    return;
  bool isNew = llvm::any_of(n.metadata_props(), [](const auto &e) { return e.key() == kOpKey; });
  int version = isNew ? newestOpset() : versionOf(n, current->versions);
  if (!isNew)
    nameOrigin(n, version);
  auto unknown = llvm::find_if(n.input(), [&](const std::string &input) { return !input.empty() && !defined.count(input); });
  if (!isNew && current->depth == 0 && unknown != n.input().end())
    return rejectWhole(std::move(n), scope,
                       "reads '" + *unknown + "', which nothing defines" +
                           (enclosing.empty() ? "" : ", inside node '" + enclosing.back() + "'"));
  if (isCustom(n, customOps))
    return append(std::move(n), scope);
  if (called)
    return splice(n, *called, scope, false);
  if (version == 0)
    return rejectWhole(std::move(n), scope,
                       "uses domain '" + plainName(n.domain()) + "', which " + (current->depth ? "its function" : "the model") +
                           " does not import; add it to opset_import");
  if (n.domain().empty() && !findSchema(n.op_type(), newestOpset(), "") && microsoftOp(n.op_type()))
    n.set_domain("com.microsoft");
  if (std::string error = isNew || current->isStandard ? "" : checkNode(n, version, current->depth != 0); !error.empty())
    return rejectWhole(std::move(n), scope, error);
  if (isSearch(n))
    return expandSearch(n, scope);
  if (n.op_type() == "Gradient" && n.domain() == "ai.onnx.preview.training")
    return expandGradient(n, scope);
  if (const MicrosoftBody *body = findMicrosoftBody(n.domain(), n.op_type()))
    return expandMicrosoft(n, *body, scope);
  raise(n, scope, version);
}

void Walker::expandMicrosoft(const pb::NodeProto &n, const MicrosoftBody &body, Scope &scope) {
  std::string error;
  pb::FunctionProto function = microsoftFunction(body, n, scope, gatherMatrices, error);
  if (!error.empty())
    return rejectTypes(n, error);
  splice(n, function, scope, true);
}

bool microsoftOp(const std::string &op) {
  static const std::unordered_set<std::string> ops = {"FusedConv",
                                                      "FusedGemm",
                                                      "FusedMatMul",
                                                      "TransposeMatMul",
                                                      "BiasGelu",
                                                      "FastGelu",
                                                      "QuickGelu",
                                                      "SkipLayerNormalization",
                                                      "SimplifiedLayerNormalization",
                                                      "SkipSimplifiedLayerNormalization",
                                                      "EmbedLayerNormalization",
                                                      "MatMulNBits",
                                                      "GroupQueryAttention",
                                                      "MultiHeadAttention",
                                                      "QLinearAdd",
                                                      "QLinearMul",
                                                      "QLinearConcat",
                                                      "QLinearSigmoid",
                                                      "QLinearLeakyRelu",
                                                      "QLinearAveragePool",
                                                      "QLinearGlobalAveragePool",
                                                      "DynamicQuantizeMatMul",
                                                      "MatMulIntegerToFloat",
                                                      "Inverse",
                                                      "NhwcMaxPool"};
  return ops.count(op) != 0;
}

void Walker::raise(pb::NodeProto &n, Scope &scope, int version) {
  std::vector<pb::NodeProto> raised;
  std::string error;
  Origin from = origin(n);
  if (!upgradeNode(*this, scope, n, version, raised, error))
    return rejectTypes(n, error);
  for (pb::NodeProto &next : raised) {
    setOrigin(next, from);
    if (!expandStandard(next, scope))
      append(std::move(next), scope);
  }
}

void Walker::append(pb::NodeProto &&n, Scope &scope) {
  if (!isKnown(n))
    return rejectWhole(std::move(n), scope, unknownOperator(n, knownNames(n.domain())));
  pb::NodeProto *added = scope.graph->add_node();
  *added = std::move(n);
  infer(*added, scope);
}

static void forgetSizes(pb::TypeProto &type) {
  if (type.has_tensor_type() && type.tensor_type().has_shape())
    for (auto &dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.Clear();
}

// Of the user's operator only the model tells the types, and only its own function the sizes; what is not declared is like the first input.
static void customTypes(const pb::NodeProto &n, const Scope &scope, const Types &hints, std::vector<pb::TypeProto> &results) {
  for (int i = 0; i < n.output_size(); ++i) {
    if (results[i].value_case() != pb::TypeProto::VALUE_NOT_SET)
      continue;
    auto hint = hints.find(n.output(i));
    const pb::TypeProto *first = n.input_size() ? scope.type(n.input(0)) : nullptr;
    const pb::TypeProto *like = hint != hints.end() ? &hint->second : first;
    if (like)
      results[i] = *like;
    bool noRank = results[i].has_tensor_type() && !results[i].tensor_type().has_shape();
    if (noRank && first && first->has_tensor_type() && first->tensor_type().has_shape())
      *results[i].mutable_tensor_type()->mutable_shape() = first->tensor_type().shape();
    forgetSizes(results[i]);
  }
}

void Walker::infer(pb::NodeProto &n, Scope &scope) {
  std::vector<pb::TypeProto> results;
  std::string error;
  size_t before = doubts;
  if (isDoubtful(n))
    doubtBodies(n);
  enclosing.push_back(origin(n).name);
  inferNode(*this, n, scope, shapeData, results, error);  // walks bodies whose inputs it gives types
  bodies(n, scope);
  enclosing.pop_back();
  if (!error.empty() || doubts != before || isDoubtful(n))
    return doubts != before ? doubt(n) : rejectTypes(n, error);
  Types &own = types[scope.graph], &hints = declared[scope.graph];
  if (isCustom(n, customOps))
    customTypes(n, scope, hints, results);
  fallbackTypes(n, scope, results);
  for (int i = 0; i < n.output_size(); ++i) {
    if (n.output(i).empty())
      continue;
    auto hint = hints.find(n.output(i));
    if (hint != hints.end()) {
      // Declared sizes are only what the exporter believed: the rank is taken, where inference found none.
      pb::TypeProto rank = hint->second;
      forgetSizes(rank);
      bool known = results[i].has_tensor_type() && results[i].tensor_type().has_shape();
      if (!known)
        merge(results[i], &rank);
    }
    pb::TypeProto &stored = own[n.output(i)] = std::move(results[i]);
    scope.types[n.output(i)] = &stored;
    scope.data.erase(n.output(i));
  }
  rememberConstant(n, scope);
  propagateNode(n, scope, shapeData);
}

void Walker::rememberConstant(const pb::NodeProto &n, Scope &scope) {
  if (n.op_type() != "Constant" || !n.domain().empty() || n.output_size() != 1)
    return;
  for (const pb::AttributeProto &attr : n.attribute()) {
    if (attr.has_t() && !isRemote(attr.t())) {
      scope.data[n.output(0)] = &attr.t();
    } else if (attr.type() == pb::AttributeProto::INT || attr.type() == pb::AttributeProto::INTS) {
      pb::TensorProto &t = literals.emplace_back();
      t.set_data_type(pb::TensorProto::INT64);
      if (attr.type() == pb::AttributeProto::INT) {
        t.add_int64_data(attr.i());
      } else {
        t.add_dims(attr.ints_size());
        *t.mutable_int64_data() = attr.ints();
      }
      scope.data[n.output(0)] = &t;
    } else if (attr.type() == pb::AttributeProto::FLOATS) {
      pb::TensorProto &t = literals.emplace_back();
      t.set_data_type(pb::TensorProto::FLOAT);
      t.add_dims(attr.floats_size());
      *t.mutable_float_data() = attr.floats();
      scope.data[n.output(0)] = &t;
    }
  }
}

}  // namespace onnxc::importer
