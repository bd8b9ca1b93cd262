// Infer.cpp: types of one node's results: the onnx library's inference, and what is known of ops that it cannot type.
#include "compiler/import/Schemas.h"
#include "compiler/import/Upgrade.h"
#include "compiler/import/Tensors.h"
#include "llvm/ADT/StringExtras.h"
#include <list>
#include <onnx/shape_inference/implementation.h>

namespace onnxc::importer {

const pb::TypeProto *Scope::type(const std::string &name) const {
  auto it = types.find(name);
  return it == types.end() || it->second->value_case() == pb::TypeProto::VALUE_NOT_SET ? nullptr : it->second;
}
int Scope::elementType(const std::string &name) const {
  const pb::TypeProto *t = type(name);
  return t && t->has_tensor_type() ? t->tensor_type().elem_type() : 0;
}
const pb::TensorShapeProto *Scope::shape(const std::string &name) const {
  const pb::TypeProto *t = type(name);
  return t && t->has_tensor_type() && t->tensor_type().has_shape() ? &t->tensor_type().shape() : nullptr;
}
int Scope::rank(const std::string &name) const {
  const pb::TensorShapeProto *s = shape(name);
  return s ? s->dim_size() : -1;
}
bool Scope::ints(const std::string &name, std::vector<int64_t> &values) const {
  auto it = data.find(name);
  return it != data.end() && smallInts(*it->second, values);
}
bool Scope::floats(const std::string &name, std::vector<double> &values) const {
  auto it = data.find(name);
  return it != data.end() && smallFloats(*it->second, values);
}

const pb::OpSchema *findSchema(const std::string &op, int version, const std::string &domain) {
  const pb::OpSchema *schema = Schemas::instance().GetSchema(op, version, domain);
  if (schema && schema->Deprecated() && schema->SinceVersion() > 1)
    schema = Schemas::instance().GetSchema(op, schema->SinceVersion() - 1, domain);
  return schema;
}

const pb::OpSchema *newestSchema(const pb::NodeProto &node) {
  const auto &ranges = pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto range = ranges.find(node.domain());
  return range == ranges.end() ? nullptr : findSchema(node.op_type(), range->second.second, node.domain());
}

int newestOpset() { return pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second; }

namespace {
// Subgraphs are walked when the library asks for their results' types.
class BodyInferencer : public pb::GraphInferencer {
public:
  BodyInferencer(Walker &walker, pb::GraphProto &graph, const Scope &scope) : walker(walker), graph(graph), scope(scope) {}
  std::vector<const pb::TypeProto *> doInferencing(const std::vector<const pb::TypeProto *> &inputs,
                                                   const std::vector<const pb::TensorProto *> &) override {
    if (!walker.walked(graph))
      walker.graph(graph, &scope, inputs);
    const Types &types = walker.types[&graph];
    std::vector<const pb::TypeProto *> out;
    for (const pb::ValueInfoProto &output : graph.output()) {
      auto it = types.find(output.name());
      const pb::TypeProto *outer = scope.type(output.name());
      out.push_back(it != types.end() ? &it->second : outer ? outer : &output.type());
    }
    return out;
  }

private:
  Walker &walker;
  pb::GraphProto &graph;
  const Scope &scope;
};

using TypePointers = std::unordered_map<std::string, pb::TypeProto *>;

class NodeContext : public pb::shape_inference::InferenceContextImpl {
public:
  NodeContext(Walker &walker, pb::NodeProto &node, Scope &scope, const TypePointers &types, const pb::ShapeInferenceOptions &options,
              std::unordered_map<std::string, pb::TensorShapeProto> &shapeData)
      : InferenceContextImpl(node, types, scope.data, scope.sparse, options, &shapeData), walker(walker), node(node), scope(scope) {}
  pb::GraphInferencer *getGraphAttributeInferencer(const std::string &name) override {
    for (pb::AttributeProto &attr : *node.mutable_attribute())
      if (attr.name() == name && attr.has_g())
        return bodies.emplace_back(std::make_unique<BodyInferencer>(walker, *attr.mutable_g(), scope)).get();
    throw pb::InferenceError("attribute " + name + " is not a graph");
  }

private:
  Walker &walker;
  pb::NodeProto &node;
  Scope &scope;
  std::vector<std::unique_ptr<BodyInferencer>> bodies;
};
}  // namespace

// The letters of one term of an Einsum equation, "." last for an ellipsis. `error` is set when it is malformed or does not fit `rank` (-1
// unknown).
static std::string einsumTerm(std::string term, int rank, std::string &error) {
  size_t dots = term.find("...");
  bool ellipsis = dots != std::string::npos;
  if (ellipsis)
    term.erase(dots, 3);
  if (!std::all_of(term.begin(), term.end(), [](unsigned char c) { return std::isalpha(c); }))
    error = "has a malformed equation";
  else if (rank >= 0 && (ellipsis ? int(term.size()) > rank : int(term.size()) != rank))
    error = "has an equation term '" + term + "' for an operand of rank " + std::to_string(rank);
  return ellipsis ? term + "." : term;
}

// The library's inference trusts the equation.
static std::string einsumError(const pb::NodeProto &node, const Scope &scope) {
  const pb::AttributeProto *attr = findAttr(node, "equation");
  std::string equation, error, known;
  for (char c : attr ? attr->s() : std::string())
    if (c != ' ')
      equation += c;
  auto [left, right] = llvm::StringRef(equation).split("->");
  llvm::SmallVector<llvm::StringRef> terms;
  left.split(terms, ',');
  if (int(terms.size()) != node.input_size())
    return "has an equation of " + std::to_string(terms.size()) + " terms for " + std::to_string(node.input_size()) + " operands";
  for (auto [i, term] : llvm::enumerate(terms)) {
    int rank = scope.rank(node.input(int(i)));
    std::string letters = einsumTerm(term.str(), rank, error);
    known += letters;
  }
  std::string result = einsumTerm(right.str(), -1, error);
  for (size_t i = 0; i < result.size(); ++i)
    if (known.find(result[i]) == std::string::npos || result.find(result[i], i + 1) != std::string::npos)
      error = "has an equation whose result does not follow from its operands";
  return error.empty() ? error : error + ": '" + equation + "'";
}

// Numbers that the library's inference computes with, or a kernel refuses, and no schema bounds.
static std::string rangeError(const pb::NodeProto &node) {
  static const struct {
    const char *op, *attr;
    int64_t least, most;
  } ranges[] = {{"GatherND", "batch_dims", 0, 64},
                {"Split", "num_outputs", 1, 1 << 20},
                {"LRN", "size", 1, INT32_MAX},
                {"LpPool", "p", 1, INT32_MAX},
                {"GlobalLpPool", "p", 1, INT32_MAX},
                {"LpNormalization", "p", 1, 2},
                {"RNN", "layout", 0, 1},
                {"GRU", "layout", 0, 1},
                {"LSTM", "layout", 0, 1}};
  for (const auto &range : ranges)
    if (const pb::AttributeProto *attr = node.op_type() == range.op ? findAttr(node, range.attr) : nullptr)
      if (attr->i() < range.least || attr->i() > range.most)
        return "attribute '" + attr->name() + "' is " + std::to_string(attr->i()) + ", not from " + std::to_string(range.least) + " to " +
               std::to_string(range.most);
  const pb::AttributeProto *parts = node.op_type() == "Split" ? findAttr(node, "num_outputs") : nullptr;
  if (parts && parts->i() != node.output_size())
    return "attribute 'num_outputs' is " + std::to_string(parts->i()) + ", the node has " + std::to_string(node.output_size()) + " outputs";
  return {};
}

// "; it reads 'x' float[2, n], 'w' float[4, 5]": the first tensors that a node reads, since the library's messages seldom say which sizes
// disagree.
static std::string operandTypes(const pb::NodeProto &node, const Scope &scope) {
  constexpr int mostOperands = 6;
  std::string text;
  for (int n = 0; n < std::min(node.input_size(), mostOperands); ++n) {
    const std::string &name = node.input(n);
    const pb::TypeProto *type = name.empty() ? nullptr : scope.type(name);
    if (!type || !type->has_tensor_type())
      continue;
    text += (text.empty() ? "; it reads '" : ", '") + name + "' " +
            llvm::StringRef(pb::TensorProto_DataType_Name(type->tensor_type().elem_type())).lower();
    const pb::TensorShapeProto *shape = scope.shape(name);
    std::vector<std::string> sizes;
    for (int i = 0; shape && i < shape->dim_size(); ++i)
      sizes.push_back(shape->dim(i).has_dim_value()       ? std::to_string(shape->dim(i).dim_value())
                      : shape->dim(i).dim_param().empty() ? "?"
                                                          : shape->dim(i).dim_param());
    if (shape)
      text += "[" + llvm::join(sizes, ", ") + "]";
  }
  return text;
}

// A contradiction is only sure where the types of all operands are known.
static bool allTyped(const pb::NodeProto &node, const Scope &scope) {
  return llvm::all_of(node.input(), [&](const std::string &name) { return name.empty() || scope.type(name); });
}

// An op that the standard defines by its body alone.
static void inferBody(const pb::OpSchema &schema, pb::InferenceContext &context, const pb::ShapeInferenceOptions &options) {
  std::unordered_map<std::string, pb::TensorShapeProto> shapeData;
  pb::shape_inference::InferShapeForFunctionNode(*schema.GetFunction(), &Schemas::instance(), context, options, {}, nullptr, &shapeData);
}

// Gives what contradicts itself.
static std::string inferBySchema(Walker &walker, const pb::OpSchema &schema, pb::NodeProto &node, Scope &scope, const TypePointers &types,
                                 std::unordered_map<std::string, pb::TensorShapeProto> &shapeData, std::vector<pb::TypeProto> &results) {
  pb::ShapeInferenceOptions options(false, 0, true);
  std::string error;
  try {
    NodeContext context(walker, node, scope, types, options, shapeData);
    bool infers = schema.has_type_and_shape_inference_function() || schema.HasFunction();
    try {
      if (schema.has_type_and_shape_inference_function())
        schema.GetTypeAndShapeInferenceFunction()(context);
      else if (infers)
        inferBody(schema, context, options);
      if (allTyped(node, scope))
        schema.CheckInputOutputType(context);
    } catch (const std::exception &e) {
      if (allTyped(node, scope))
        error = plainMessage(e.what()) + operandTypes(node, scope);
    }
    for (int i = 0; infers && i < node.output_size(); ++i)
      results[i] = *context.getOutputType(i);
  } catch (const std::exception &) {
    // Unknown types are allowed: fallbackTypes and the dialect's shape rules come next.
  }
  return error;
}

static bool hasSymbolicSize(const std::string &name, const Scope &scope) {
  const pb::TensorShapeProto *shape = scope.shape(name);
  return shape && llvm::any_of(shape->dim(), [](const auto &dim) { return !dim.has_dim_value(); });
}

void inferNode(Walker &walker, pb::NodeProto &node, Scope &scope, std::unordered_map<std::string, pb::TensorShapeProto> &shapeData,
               std::vector<pb::TypeProto> &results, std::string &error) {
  results.assign(node.output_size(), {});
  const pb::OpSchema *schema = newestSchema(node);
  if (node.domain() == "com.microsoft")
    error = operandTypesError(node, scope);
  if (!schema)
    return;
  if (node.domain().empty())
    error = node.op_type() == "Einsum" ? einsumError(node, scope) : rangeError(node);
  if (!error.empty())
    return;
  error = inferBySchema(walker, *schema, node, scope, scope.types, shapeData, results);
  if (error.empty())
    return;
  // Some of the library's rules take a symbolic size, or an unknown shape, for 0. What is wrong without shapes too is wrong.
  if (llvm::none_of(node.input(), [&](const std::string &name) { return hasSymbolicSize(name, scope); }))
    return;
  std::list<pb::TypeProto> bare;
  auto types = scope.types;
  for (const std::string &name : node.input())
    if (scope.shape(name)) {
      bare.push_back(*types[name]);
      bare.back().mutable_tensor_type()->clear_shape();
      types[name] = &bare.back();
    }
  if (inferBySchema(walker, *schema, node, scope, types, shapeData, results).empty())
    error.clear();
}

// The library makes one object for each element of a vector.
static bool isLongVector(const std::string &name, const Scope &scope) {
  const pb::TensorShapeProto *shape = scope.shape(name);
  return shape && shape->dim_size() == 1 && shape->dim(0).dim_value() > 1024;
}

void propagateNode(pb::NodeProto &node, Scope &scope, std::unordered_map<std::string, pb::TensorShapeProto> &shapeData) {
  const pb::OpSchema *schema = newestSchema(node);
  auto isLong = [&](const std::string &name) { return isLongVector(name, scope); };
  if (!schema || !schema->has_data_propagation_function() || llvm::any_of(node.input(), isLong) || llvm::any_of(node.output(), isLong))
    return;
  try {
    pb::shape_inference::DataPropagationContextImpl propagation(node, scope.types, scope.data, shapeData);
    schema->GetDataPropagationFunction()(propagation);
  } catch (const std::exception &) {
    // The value stays unknown.
  }
}

// How results of ops without inference are typed, one letter and operand per result: `s` same type and shape as the operand, `r` same
// element type and rank, `e` same element type, `f` same shape and f32, `i` the element type code that follows. What follows a `/` serves
// where the operand is absent, a last entry all further results.
static const char *resultRule(const std::string &op) {
  static const std::unordered_map<std::string, const char *> rules = {
      {"FusedConv", "r0"},
      {"FusedGemm", "r0"},
      {"FusedMatMul", "e0"},
      {"LayerNormalization", "s0 i1"},
      {"SimplifiedLayerNormalization", "s0 i1"},
      {"SkipLayerNormalization", "s0 i1 i1 s0"},
      {"SkipSimplifiedLayerNormalization", "s0 i1 i1 s0"},
      {"EmbedLayerNormalization", "e2 i6 e2"},
      {"MultiHeadAttention", "e0"},
      {"MatMulNBits", "r0"},
      {"GatherBlockQuantized", "e2"},
      {"QLinearAdd", "e0"},
      {"QLinearMul", "e0"},
      {"QLinearConcat", "e1"},
      {"QLinearAveragePool", "r0"},
      {"QLinearGlobalAveragePool", "r0"},
      {"NhwcMaxPool", "r0"},
      {"Attention", "r0 e0"},
      {"GroupQueryAttention", "r0 e3/e0 e4/e0 e0"},
      {"QAttention", "e3"},
      {"QGemm", "e8/i1"},
      {"DynamicQuantizeMatMul", "r0"},
      {"MatMulIntegerToFloat", "e2"},
      {"DynamicQuantizeLSTM", "e0"},
      {"Unique", "e0 i7"},
      {"CropAndResize", "r0"},
      {"DynamicTimeWarping", "i6"},
      {"MurmurHash3", "i12"},
      {"BifurcationDetector", "i7"},
      {"NGramRepeatBlock", "s1"},
      {"Tokenizer", "i8"},
      {"TreeEnsembleClassifier", "i7 i1"},
      {"TreeEnsembleRegressor", "i1"},
      {"FeatureVectorizer", "i1"},
      {"LinearRegressor", "i1"},
      {"SVMRegressor", "i1"},
      {"Normalizer", "f0"},
      {"Scaler", "f0"},
  };
  auto it = rules.find(op);
  return it == rules.end() ? nullptr : it->second;
}

// By the schema: a fixed type, or the type of an operand with the same type variable.
static void typeBySchema(const pb::NodeProto &node, const Scope &scope, int index, pb::TypeProto &result) {
  const pb::OpSchema *schema = newestSchema(node);
  if (!schema || schema->outputs().empty())
    return;
  const auto &formal = schema->outputs()[std::min<size_t>(index, schema->outputs().size() - 1)];
  for (int i = 0; i < node.input_size() && !schema->inputs().empty(); ++i) {
    const auto &in = schema->inputs()[std::min<size_t>(i, schema->inputs().size() - 1)];
    if (in.GetTypeStr() == formal.GetTypeStr() && scope.elementType(node.input(i))) {
      result.mutable_tensor_type()->set_elem_type(scope.elementType(node.input(i)));
      return;
    }
  }
  if (formal.GetTypes().size() == 1)
    result = pb::Utils::DataTypeUtils::ToTypeProto(*formal.GetTypes().begin());
  if (result.has_tensor_type())
    result.mutable_tensor_type()->clear_shape();
}

static pb::TypeProto typeByRule(llvm::StringRef rule, const pb::NodeProto &node, const Scope &scope) {
  auto [part, otherwise] = rule.split('/');
  int number = 0;
  part.drop_front().getAsInteger(10, number);
  pb::TypeProto result;
  if (part[0] == 'i') {
    result.mutable_tensor_type()->set_elem_type(number);
    return result;
  }
  const pb::TypeProto *type = scope.type(number < node.input_size() ? node.input(number) : std::string());
  if (!type)
    return otherwise.empty() ? result : typeByRule(otherwise, node, scope);
  result = *type;
  if (result.has_tensor_type() && part[0] == 'f')
    result.mutable_tensor_type()->set_elem_type(pb::TensorProto::FLOAT);
  if (!result.has_tensor_type() || part[0] == 's' || part[0] == 'f')
    return result;
  if (part[0] == 'e')
    result.mutable_tensor_type()->clear_shape();
  else if (result.tensor_type().has_shape())
    for (auto &dim : *result.mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.Clear();
  return result;
}

static pb::TypeProto typeByRules(llvm::StringRef rules, const pb::NodeProto &node, const Scope &scope, int index) {
  llvm::SmallVector<llvm::StringRef> parts;
  rules.split(parts, ' ');
  return typeByRule(parts[std::min<size_t>(index, parts.size() - 1)], node, scope);
}

void fallbackTypes(const pb::NodeProto &node, const Scope &scope, std::vector<pb::TypeProto> &results) {
  const char *rule = resultRule(node.op_type());
  for (int i = 0; i < node.output_size(); ++i) {
    pb::TypeProto &result = results[i];
    bool known = result.has_tensor_type() ? result.tensor_type().elem_type() != 0 : result.value_case() != pb::TypeProto::VALUE_NOT_SET;
    if (known)
      continue;
    pb::TypeProto found;
    if (rule && (node.domain() == "com.microsoft" || node.domain() == "ai.onnx.ml"))
      found = typeByRules(rule, node, scope, i);
    else if (!node.domain().empty() || node.op_type() == "Constant")
      found = typeByRules("s0", node, scope, i);
    else
      typeBySchema(node, scope, i, found);
    if (node.op_type() == "TreeEnsembleClassifier" && i == 0 && findAttr(node, "classlabels_strings"))
      found.mutable_tensor_type()->set_elem_type(pb::TensorProto::STRING);
    if (found.value_case() != pb::TypeProto::VALUE_NOT_SET)
      result = found;
  }
}

}  // namespace onnxc::importer
