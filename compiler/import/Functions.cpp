// Functions.cpp: calls of model-local functions, and of standard ops that are defined by a body, replaced by the body's nodes.
#include "compiler/import/Upgrade.h"
#include "dialects/kernel/Families.h"
#include "llvm/ADT/StringSet.h"

namespace onnxc::importer {

// A body serves where the library has no kernel; elementwise ops, reductions and normalisations are generated from the op itself.
bool keepNative(llvm::StringRef op) {
  static const llvm::StringSet<> always = {"CastLike", "SequenceMap", "SwiGLU"};
  static const llvm::StringSet<> withoutKernel = {"AffineGrid",
                                                  "Attention",
                                                  "BlackmanWindow",
                                                  "CausalConvWithState",
                                                  "FlexAttention",
                                                  "HammingWindow",
                                                  "HannWindow",
                                                  "LinearAttention",
                                                  "MeanVarianceNormalization",
                                                  "NegativeLogLikelihoodLoss",
                                                  "RotaryEmbedding",
                                                  "SoftmaxCrossEntropyLoss"};
  return !always.contains(op) && (!withoutKernel.contains(op) || findLibraryRow(op));
}

namespace {
using NameMap = std::unordered_map<std::string, std::string>;
using AttrMap = std::unordered_map<std::string, const pb::AttributeProto *>;

// Gives a body's values new names and its attribute references values.
class Binder {
public:
  Binder(Walker &walker, std::string prefix) : walker(walker), prefix(std::move(prefix)) {}
  NameMap renamed;
  AttrMap attributes;
  std::unordered_set<std::string> fixed;  // formal results: the call has named them
  std::string unknown;                    // a value that the body reads and does not define

  void node(pb::NodeProto &n) {
    for (std::string &input : *n.mutable_input())
      if (auto it = renamed.find(input); it != renamed.end())
        input = it->second;
      else if (!input.empty())
        unknown = input;
    for (std::string &output : *n.mutable_output())
      define(output);
    google::protobuf::RepeatedPtrField<pb::AttributeProto> kept;
    for (pb::AttributeProto &attr : *n.mutable_attribute())
      if (bind(attr))
        *kept.Add() = std::move(attr);
    n.mutable_attribute()->Swap(&kept);
  }

private:
  // False when the attribute refers to one that the call leaves out.
  bool bind(pb::AttributeProto &attr) {
    if (!attr.ref_attr_name().empty()) {
      auto it = attributes.find(attr.ref_attr_name());
      if (it == attributes.end())
        return false;
      std::string name = attr.name();
      attr = *it->second;
      attr.set_name(name);
      return true;
    }
    if (attr.has_g())
      graph(*attr.mutable_g());
    for (pb::GraphProto &g : *attr.mutable_graphs())
      graph(g);
    return true;
  }

  void graph(pb::GraphProto &g) {
    NameMap outer = renamed;
    for (pb::ValueInfoProto &input : *g.mutable_input())
      define(*input.mutable_name());
    for (pb::TensorProto &t : *g.mutable_initializer())
      define(*t.mutable_name());
    g.clear_value_info();
    for (pb::NodeProto &n : *g.mutable_node())
      node(n);
    for (pb::ValueInfoProto &output : *g.mutable_output())
      if (auto it = renamed.find(output.name()); it != renamed.end())
        output.set_name(it->second);
    renamed = std::move(outer);
  }

  void define(std::string &name) {
    if (name.empty())
      return;
    auto known = renamed.find(name);
    if (known != renamed.end() && fixed.count(name)) {
      name = known->second;
      return;
    }
    std::string old = name;
    name = renamed[old] = walker.fresh(prefix + old);
  }

  Walker &walker;
  std::string prefix;
};

// A node that copies `from`, for a function that gives an operand back as it is.
pb::NodeProto identity(const std::string &from, const std::string &to, const Origin &place) {
  pb::NodeProto n;
  n.set_op_type("Identity");
  n.add_input(from);
  n.add_output(to);
  setOrigin(n, place);
  return n;
}

bool defines(const pb::FunctionProto &body, const std::string &name) {
  return llvm::is_contained(body.input(), name) ||
         llvm::any_of(body.node(), [&](const pb::NodeProto &n) { return llvm::is_contained(n.output(), name); });
}

void bindCall(Binder &binder, Walker &walker, const pb::NodeProto &call, const pb::FunctionProto &body) {
  for (int i = 0; i < body.input_size(); ++i)
    binder.renamed[body.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (int i = 0; i < body.output_size(); ++i) {
    if (binder.renamed.count(body.output(i)))
      continue;
    bool named = i < call.output_size() && !call.output(i).empty();
    binder.renamed[body.output(i)] = named ? call.output(i) : walker.fresh("unused");
    binder.fixed.insert(body.output(i));
  }
  for (const pb::AttributeProto &attr : body.attribute_proto())
    binder.attributes[attr.name()] = &attr;
  for (const pb::AttributeProto &attr : call.attribute())
    binder.attributes[attr.name()] = &attr;
}

// Why a call is not one of `body`; empty where it is.
std::string misfit(const pb::NodeProto &call, const pb::FunctionProto &body, bool isStandard) {
  if (call.input_size() > body.input_size() || call.output_size() > body.output_size())
    return "passes " + std::to_string(call.input_size()) + " inputs and takes " + std::to_string(call.output_size()) +
           " outputs; function " + body.name() + " has " + std::to_string(body.input_size()) + " and " + std::to_string(body.output_size());
  for (int i = 0; i < call.output_size() && !isStandard; ++i)
    if (!call.output(i).empty() && !defines(body, body.output(i)))
      return "function " + body.name() + " does not compute its output '" + body.output(i) + "'";
  return "";
}
}  // namespace

void Walker::splice(const pb::NodeProto &call, const pb::FunctionProto &body, Scope &scope, bool isStandard) {
  if (current->depth >= kMaxCallDepth)
    return reject(call, "function calls are nested deeper than " + std::to_string(kMaxCallDepth) + "; a function may not call itself");
  if (std::string why = misfit(call, body, isStandard); !why.empty())
    return reject(call, why);
  Context inner;
  inner.caller = origin(call);
  inner.isStandard = isStandard || current->isStandard;
  inner.depth = current->depth + 1;
  for (const pb::OperatorSetIdProto &import : body.opset_import())
    inner.versions[import.domain()] = int(std::min<int64_t>(import.version(), 1 << 20));
  if (isStandard)
    inner.versions.emplace("", newestOpset());
  Binder binder(*this, isStandard ? call.op_type() + "." : call.name() + "/");
  bindCall(binder, *this, call, body);
  // A standard function has graphs of its call inside, whose reads of values around the call keep their names.
  for (const pb::AttributeProto &attr : call.attribute())
    if (isStandard && attr.has_g())
      for (const std::string &name : capturedNames(attr.g()))
        binder.renamed.emplace(name, name);
  const Context *outer = current;
  current = &inner;
  inner.part = outer->part;
  for (const pb::NodeProto &original : body.node()) {
    if (!isStandard)
      inner.part = &original;
    if (count > kMaxNodes || !binder.unknown.empty())
      break;
    pb::NodeProto n = original;
    n.clear_metadata_props();
    binder.node(n);
    if (binder.unknown.empty())
      node(std::move(n), scope);
    else
      reject(call, "function " + body.name() + " reads '" + binder.unknown + "', which it does not define");
  }
  for (int i = 0; i < body.output_size() && i < call.output_size(); ++i)
    if (!call.output(i).empty() && binder.renamed[body.output(i)] != call.output(i))
      append(identity(binder.renamed[body.output(i)], call.output(i), origin(call)), scope);
  current = outer;
}

// A body may read any attribute of its op, so absent ones with a default are written out.
static void writeDefaults(const pb::OpSchema &schema, pb::NodeProto &n) {
  for (const auto &[name, attribute] : schema.attributes())
    if (!findAttr(n, name) && attribute.default_value.type() != pb::AttributeProto::UNDEFINED) {
      *n.add_attribute() = attribute.default_value;
      n.mutable_attribute(n.attribute_size() - 1)->set_name(name);
    }
}

bool Walker::expandStandard(const pb::NodeProto &n, Scope &scope) {
  if (!n.domain().empty() && n.domain() != "ai.onnx.preview")
    return false;
  if (keepNative(n.op_type()))
    return false;
  const pb::OpSchema *schema = newestSchema(n);
  if (!schema)
    return false;
  try {
    if (schema->HasFunction()) {
      const pb::FunctionProto *body = schema->GetFunction(-1, false);
      if (!body)
        return false;
      pb::NodeProto complete = n;
      writeDefaults(*schema, complete);
      splice(complete, *body, scope, true);
      return true;
    }
    std::vector<pb::TypeProto> inputs;
    for (const std::string &input : n.input())
      inputs.push_back(scope.type(input) ? *scope.type(input) : pb::TypeProto());
    pb::FunctionBodyBuildContextImpl context(n, inputs);
    pb::FunctionProto body;
    if (!schema->HasContextDependentFunction() ||
        !schema->BuildContextDependentFunction(context, body, schema->context_dependent_function_opset_versions().back()))
      return false;
    splice(n, body, scope, true);
    return true;
  } catch (const std::exception &) {
    return false;  // without the types it needs the op stays as it is
  }
}

}  // namespace onnxc::importer
