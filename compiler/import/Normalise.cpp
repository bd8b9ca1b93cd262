// Normalise.cpp: the structural part of Walk.h: what must hold before types make sense.
#include "compiler/import/Walk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <queue>

namespace onnxc::importer {
namespace {

constexpr int kMaxGraphDepth = 64;

void plainDomain(std::string *domain) {
  if (*domain == "ai.onnx")
    domain->clear();
}

// Exporters of old write each size that they do not know as "?", "*" or "None". Equal names mean equal sizes; these mean nothing.
void dropPlaceholders(google::protobuf::RepeatedPtrField<pb::ValueInfoProto> &values) {
  for (pb::ValueInfoProto &value : values)
    if (value.type().tensor_type().has_shape())
      for (auto &dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.has_dim_param() &&
            (dim.dim_param() == "None" || llvm::none_of(dim.dim_param(), [](char c) { return llvm::isAlnum(c) || c & 0x80; })))
          dim.clear_dim_param();
}

using Names = std::unordered_set<std::string>;

// What nodes and results read, as the operand that Expand enlarges and in any other way.
void readValues(const pb::GraphProto &graph, Names &expanded, Names &otherwise) {
  for (const pb::NodeProto &node : graph.node()) {
    bool expands = node.op_type() == "Expand" && node.domain().empty();
    for (int i = 0; i < node.input_size(); ++i)
      (expands && i == 0 ? expanded : otherwise).insert(node.input(i));
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        readValues(attr.g(), expanded, otherwise);
  }
  for (const pb::ValueInfoProto &output : graph.output())
    otherwise.insert(output.name());
}

// A state that a model enlarges before it reads it, and that begins with one zero, has size 1 where other inputs have the image's height,
// whatever name both give it. Names that no other input has stay.
void dropExpandedNames(pb::GraphProto &graph) {
  Names expanded, otherwise;
  readValues(graph, expanded, otherwise);
  std::unordered_map<std::string, int> inputs;  // that have a size of this name
  for (const pb::ValueInfoProto &input : graph.input()) {
    Names names;
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (names.insert(dim.dim_param()).second)
        ++inputs[dim.dim_param()];
  }
  for (pb::ValueInfoProto &input : *graph.mutable_input())
    if (expanded.count(input.name()) && !otherwise.count(input.name()) && input.type().tensor_type().has_shape())
      for (auto &dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.has_dim_param() && inputs[dim.dim_param()] > 1)
          dim.clear_dim_param();
}

// Of several constants under one name the last holds, nodes after initializers, as ONNX Runtime has it.
void dropOldConstants(pb::GraphProto &graph) {
  Names seen;
  auto old = [&](const std::string &name) { return !seen.insert(name).second; };
  for (int i = graph.node_size(); i-- > 0;) {
    const pb::NodeProto &node = graph.node(i);
    if (node.op_type() == "Constant" && node.domain().empty() && node.output_size() == 1 && old(node.output(0)))
      graph.mutable_node()->DeleteSubrange(i, 1);
  }
  google::protobuf::RepeatedPtrField<pb::TensorProto> kept;
  for (int i = graph.initializer_size(); i-- > 0;)
    if (!old(graph.initializer(i).name()))
      *kept.Add() = std::move(*graph.mutable_initializer(i));
  std::reverse(kept.begin(), kept.end());
  graph.mutable_initializer()->Swap(&kept);
}

using Functions = std::unordered_map<std::string, const pb::FunctionProto *>;

// The functions that nodes call, bodies of control flow included.
void callees(const google::protobuf::RepeatedPtrField<pb::NodeProto> &nodes, const Functions &functions,
             std::vector<const pb::FunctionProto *> &found) {
  for (const pb::NodeProto &node : nodes) {
    if (auto it = functions.find(functionKey(node.domain(), node.op_type(), node.overload())); it != functions.end())
      found.push_back(it->second);
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        callees(attr.g().node(), functions, found);
  }
}

// A function that reaches itself, null when none does.
const pb::FunctionProto *recursiveFunction(const pb::ModelProto &model) {
  enum State { New, Open, Done };
  struct Frame {
    const pb::FunctionProto *function;
    std::vector<const pb::FunctionProto *> calls;
  };
  Functions functions;
  for (const pb::FunctionProto &f : model.functions())
    functions[functionKey(f.domain(), f.name(), f.overload())] = &f;
  std::unordered_map<const pb::FunctionProto *, State> states;
  std::vector<Frame> stack;
  auto open = [&](const pb::FunctionProto *f) {
    states[f] = Open;
    stack.push_back({f, {}});
    callees(f->node(), functions, stack.back().calls);
  };
  for (const auto &[key, root] : functions) {
    if (states[root] == New)
      open(root);
    while (!stack.empty()) {
      if (stack.back().calls.empty()) {
        states[stack.back().function] = Done;
        stack.pop_back();
        continue;
      }
      const pb::FunctionProto *next = stack.back().calls.back();
      stack.back().calls.pop_back();
      if (states[next] == Open)
        return next;
      if (states[next] == New)
        open(next);
    }
  }
  return nullptr;
}

bool isArithmetic(const pb::NodeProto &node) {
  static const Names ops = {"Add",  "Sub", "Mul",   "Div",   "Pow",  "Min",     "Max",         "Sum",
                            "Mean", "Mod", "Where", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  return (node.domain().empty() || node.domain() == "ai.onnx") && ops.count(node.op_type());
}

bool isFloat(int type) {
  return type == pb::TensorProto::FLOAT || type == pb::TensorProto::DOUBLE || type == pb::TensorProto::FLOAT16 ||
         type == pb::TensorProto::BFLOAT16;
}

// Inputs of `g` whose initializer is a default that a run may replace. Filters, shapes and the like are worth more as constants: code is
// made for them.
Names optionalInputs(const pb::GraphProto &g, DefaultInputs defaults) {
  Names asked, other;
  for (const pb::ValueInfoProto &input : g.input())
    asked.insert(input.name());
  for (const pb::NodeProto &node : g.node()) {
    if (!isArithmetic(node))
      other.insert(node.input().begin(), node.input().end());
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        other.merge(capturedNames(attr.g()));
  }
  Names result;
  for (const pb::TensorProto &t : g.initializer())
    if (asked.count(t.name()) && t.data_type() != pb::TensorProto::STRING &&
        (defaults == DefaultInputs::All || (defaults == DefaultInputs::Data && isFloat(t.data_type()) && !other.count(t.name()))))
      result.insert(t.name());
  return result;
}

class Normaliser {
public:
  explicit Normaliser(const Report &report) : report(report) {}

  void graph(pb::GraphProto &g, int depth) {
    if (depth > kMaxGraphDepth)
      return fail({g.name(), "graph", 0}, "subgraphs are nested deeper than " + std::to_string(kMaxGraphDepth));
    Names defined;
    dropOldConstants(g);
    for (const pb::TensorProto &t : g.initializer())
      define(defined, t.name(), {t.name(), "initializer", 0});
    for (const pb::SparseTensorProto &t : g.sparse_initializer())
      define(defined, t.values().name(), {t.values().name(), "initializer", 0});
    checkDefaults(g);
    dropDefaultedInputs(g, defined, depth ? Names() : optional);
    for (const pb::ValueInfoProto &input : g.input())
      if (depth || !optional.count(input.name()))
        define(defined, input.name(), {input.name(), "input", 0});
    nodes(*g.mutable_node(), defined, depth);
  }

  void nodes(google::protobuf::RepeatedPtrField<pb::NodeProto> &list, Names &defined, int depth) {
    for (pb::NodeProto &node : list) {
      plainDomain(node.mutable_domain());
      node.clear_metadata_props();  // Walk.cpp keeps its own there
      for (const std::string &output : node.output())
        if (!output.empty())
          define(defined, output, {node.name(), node.op_type(), 0});
      const pb::NodeProto *outer = std::exchange(owner, &node);
      for (pb::AttributeProto &attr : *node.mutable_attribute()) {
        if (attr.has_g())
          graph(*attr.mutable_g(), depth + 1);
        for (pb::GraphProto &inner : *attr.mutable_graphs())
          graph(inner, depth + 1);
      }
      owner = outer;
    }
    if (ok)
      sort(list);
  }

  bool ok = true;
  Names optional;  // inputs of the main graph that keep their initializer as default

private:
  // An initializer is the default of the input of its name, which may leave sizes open.
  void checkDefaults(const pb::GraphProto &g) {
    std::unordered_map<std::string, const pb::TensorProto *> initializers;
    for (const pb::TensorProto &t : g.initializer())
      initializers[t.name()] = &t;
    for (const pb::ValueInfoProto &input : g.input()) {
      auto found = initializers.find(input.name());
      const pb::TypeProto::Tensor &type = input.type().tensor_type();
      if (found == initializers.end() || !input.type().has_tensor_type())
        continue;
      const pb::TensorProto &t = *found->second;
      auto text = [](int32_t element, const std::string &sizes) {
        return llvm::StringRef(pb::TensorProto_DataType_Name(pb::TensorProto_DataType(element))).lower() + "[" + sizes + "]";
      };
      bool fits = t.data_type() == type.elem_type() && (!type.has_shape() || t.dims_size() == type.shape().dim_size());
      std::string given, wanted;
      for (int i = 0; i < t.dims_size(); ++i)
        given += (i ? ", " : "") + std::to_string(t.dims(i));
      for (int i = 0; i < type.shape().dim_size(); ++i) {
        const auto &dim = type.shape().dim(i);
        bool known = dim.has_dim_value() && dim.dim_value() >= 0;
        fits &= !known || i >= t.dims_size() || dim.dim_value() == t.dims(i);
        wanted += (i ? ", " : "") + (known ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : dim.dim_param());
      }
      if (!fits)
        fail({t.name(), "initializer", 0},
             "is " + text(t.data_type(), given) + ", the input of its name " + text(type.elem_type(), wanted));
    }
  }

  // Other inputs that have an initializer are constants of the artefact.
  static void dropDefaultedInputs(pb::GraphProto &g, const Names &initializers, const Names &optional) {
    google::protobuf::RepeatedPtrField<pb::ValueInfoProto> kept;
    for (pb::ValueInfoProto &input : *g.mutable_input())
      if (!initializers.count(input.name()) || optional.count(input.name()))
        *kept.Add() = std::move(input);
    g.mutable_input()->Swap(&kept);
  }

  void define(Names &defined, const std::string &name, const Origin &from) {
    if (!defined.insert(name).second)
      fail(from, "value '" + name + "' is defined twice in its graph");
  }

  // The nodes of `list` that each node waits for, and how many each one waits for.
  static void edges(const google::protobuf::RepeatedPtrField<pb::NodeProto> &list, std::vector<std::vector<int>> &users,
                    std::vector<int> &waits) {
    std::unordered_map<std::string, int> producer;
    for (int i = 0; i < list.size(); ++i)
      for (const std::string &output : list[i].output())
        producer[output] = i;
    producer.erase("");
    for (int i = 0; i < list.size(); ++i) {
      Names reads(list[i].input().begin(), list[i].input().end());
      for (const pb::AttributeProto &attr : list[i].attribute())
        if (attr.has_g())
          reads.merge(capturedNames(attr.g()));
      for (const std::string &name : reads)
        if (auto it = producer.find(name); it != producer.end()) {
          users[it->second].push_back(i);
          ++waits[i];
        }
    }
  }

  // Stable: a node moves only behind what it reads.
  void sort(google::protobuf::RepeatedPtrField<pb::NodeProto> &list) {
    std::vector<std::vector<int>> users(list.size());
    std::vector<int> waits(list.size()), order;
    edges(list, users, waits);
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (int i = 0; i < list.size(); ++i)
      if (waits[i] == 0)
        ready.push(i);
    while (!ready.empty()) {
      int i = ready.top();
      ready.pop();
      order.push_back(i);
      for (int user : users[i])
        if (--waits[user] == 0)
          ready.push(user);
    }
    if (int(order.size()) != list.size()) {
      int stuck = int(std::find_if(waits.begin(), waits.end(), [](int n) { return n > 0; }) - waits.begin());
      return fail({list[stuck].name(), list[stuck].op_type(), 0}, "reads its own result, directly or through other nodes");
    }
    if (std::is_sorted(order.begin(), order.end()))
      return;
    google::protobuf::RepeatedPtrField<pb::NodeProto> sorted;
    for (int i : order)
      *sorted.Add() = std::move(*list.Mutable(i));
    list.Swap(&sorted);
  }

  void fail(const Origin &from, const std::string &message) {
    ok = false;
    report(from, owner ? message + ", in a subgraph of " + owner->op_type() + " '" + owner->name() + "'" : message);
  }

  const Report &report;
  const pb::NodeProto *owner = nullptr;  // of the subgraph that is looked at; null for the main graph
};
}  // namespace

std::unordered_set<std::string> capturedNames(const pb::GraphProto &graph) {
  Names captured;
  for (const pb::NodeProto &node : graph.node()) {
    captured.insert(node.input().begin(), node.input().end());
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        captured.merge(capturedNames(attr.g()));
  }
  for (const pb::ValueInfoProto &output : graph.output())
    captured.insert(output.name());
  for (const pb::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      captured.erase(output);
  for (const pb::ValueInfoProto &input : graph.input())
    captured.erase(input.name());
  for (const pb::TensorProto &t : graph.initializer())
    captured.erase(t.name());
  for (const pb::SparseTensorProto &t : graph.sparse_initializer())
    captured.erase(t.values().name());
  captured.erase("");  // an operand that is left out
  return captured;
}

bool normalise(pb::ModelProto &model, DefaultInputs defaults, const Report &report) {
  Normaliser work(report);
  for (pb::OperatorSetIdProto &import : *model.mutable_opset_import())
    plainDomain(import.mutable_domain());
  if (model.ir_version() >= 4)
    work.optional = optionalInputs(model.graph(), defaults);
  dropPlaceholders(*model.mutable_graph()->mutable_input());
  dropPlaceholders(*model.mutable_graph()->mutable_output());
  work.graph(*model.mutable_graph(), 0);
  dropExpandedNames(*model.mutable_graph());
  for (pb::FunctionProto &function : *model.mutable_functions()) {
    plainDomain(function.mutable_domain());
    for (pb::OperatorSetIdProto &import : *function.mutable_opset_import())
      plainDomain(import.mutable_domain());
    Names defined(function.input().begin(), function.input().end());
    work.nodes(*function.mutable_node(), defined, 0);
  }
  if (const pb::FunctionProto *f = work.ok ? recursiveFunction(model) : nullptr) {
    report({f->name(), "function", 0}, "calls itself, directly or through other functions");
    return false;
  }
  return work.ok;
}

}  // namespace onnxc::importer
