// AnyRank.cpp: inputs that a model declares without a rank. What only elementwise operators read is a list of elements to the compiler, and
// what they compute from it has the shape that the caller gave; the runtime stub hands that shape on. Between Normalise.cpp and Walk.cpp.
#include "compiler/import/Walk.h"

namespace onnxc::importer {
namespace {

bool isUnary(const std::string &op) {
  static const std::unordered_set<std::string> ops = {
      "Abs",  "Acos",     "Acosh",    "Asin", "Asinh", "Atan",  "Atanh", "BitwiseNot", "Cast",     "Ceil",        "Celu",
      "Cos",  "Cosh",     "Elu",      "Erf",  "Exp",   "Floor", "Gelu",  "HardSwish",  "IsInf",    "IsNaN",       "LeakyRelu",
      "Log",  "Mish",     "Neg",      "Not",  "Relu",  "Round", "Selu",  "Shrink",     "Sigmoid",  "Sign",        "Sin",
      "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan",   "Tanh",  "Reciprocal", "Identity", "HardSigmoid", "ThresholdedRelu"};
  return ops.count(op);
}
bool isBinary(const std::string &op) {
  static const std::unordered_set<std::string> ops = {
      "Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"};
  return ops.count(op);
}

// Which input each value has the shape of, for inputs without a rank and what is computed from them; empty when something else reads one.
class Shapes {
public:
  bool trace(const pb::GraphProto &graph) {
    std::unordered_set<std::string> stored;
    for (const pb::TensorProto &t : graph.initializer())
      stored.insert(t.name());
    for (int i = 0; i < graph.input_size(); ++i)
      if (const pb::TypeProto &type = graph.input(i).type();
          type.has_tensor_type() && !type.tensor_type().has_shape() && !stored.count(graph.input(i).name()))
        of[graph.input(i).name()] = i;
    for (const pb::TensorProto &t : graph.initializer())
      if (t.dims_size() == 0)
        scalars.insert(t.name());
    for (const pb::NodeProto &node : graph.node())
      if (!visit(node))
        return false;
    for (const pb::ValueInfoProto &output : graph.output())
      if (of.count(output.name()) && output.type().tensor_type().has_shape())
        return false;
    return true;
  }
  std::unordered_map<std::string, int> of;

private:
  bool visit(const pb::NodeProto &node) {
    int input = -1;
    for (const std::string &name : node.input())
      if (auto it = of.find(name); it != of.end())
        input = it->second;
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g() && !of.empty())
        return false;  // a body may read any of them
    if (input < 0)
      return true;
    bool fits = node.domain().empty() && node.output_size() == 1 &&
                (node.input_size() == 1 ? isUnary(node.op_type()) : node.input_size() == 2 && isBinary(node.op_type()));
    for (const std::string &name : node.input())
      fits &= scalars.count(name) || (of.count(name) && of[name] == input);
    return fits && of.emplace(node.output(0), input).second;
  }
  std::unordered_set<std::string> scalars;
};
}  // namespace

std::unordered_map<std::string, int> flattenUnranked(pb::GraphProto &graph) {
  Shapes shapes;
  if (!shapes.trace(graph))
    return {};
  for (pb::ValueInfoProto &input : *graph.mutable_input())
    if (shapes.of.count(input.name()))
      input.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  return std::move(shapes.of);
}

}  // namespace onnxc::importer
