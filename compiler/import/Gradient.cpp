// Gradient.cpp: Gradient of ai.onnx.preview.training as ordinary nodes: from y back to xs through the nodes of the graph before it, by the
// rule of each operator (reverse mode). Operators without a rule here are refused by name. Search.h beside it has the node writer.
#include "compiler/import/Search.h"
#include "compiler/import/Upgrade.h"
#include <algorithm>

namespace onnxc::importer {
namespace {

constexpr int kFloat = pb::TensorProto::FLOAT;

class Differentiation {
public:
  Differentiation(Nodes &m, const Scope &scope) : m(m), scope(scope) {}
  std::string error;

  // Goes back from `y` through everything that depends on `xs`.
  void run(const std::vector<std::string> &xs, const std::string &y);
  // The gradient of a value: zeros where y does not depend on it.
  std::string of(const std::string &x) {
    auto it = gradients.find(x);
    return it != gradients.end() ? it->second : m("Mul", {x, constant(0)});
  }

private:
  bool unary(const pb::NodeProto &n, const std::string &g);
  bool binary(const pb::NodeProto &n, const std::string &g);
  bool arranging(const pb::NodeProto &n, const std::string &g);
  void product(const pb::NodeProto &n, const std::string &g);
  void add(const std::string &value, const std::string &gradient, const std::string &result);
  std::string constant(double value) { return m("Cast", {m.scalar(kFloat, value)}, {{"to", type}}); }
  std::string transposed(const std::string &value, std::vector<int64_t> perm) {
    std::string result = m("Transpose", {value});
    setInts(m.last(), "perm", perm);
    return result;
  }
  std::string swapped(const std::string &value) {
    std::vector<int64_t> perm(scope.rank(value));
    for (size_t i = 0; i < perm.size(); ++i)
      perm[i] = int64_t(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return transposed(value, perm);
  }

  Nodes &m;
  const Scope &scope;
  int type = kFloat;
  std::unordered_set<std::string> active;
  std::unordered_map<std::string, std::string> gradients;
};

// Adds a gradient that has the shape of `result`, summed over the axes along which the operand was repeated.
void Differentiation::add(const std::string &value, const std::string &gradient, const std::string &result) {
  if (!active.count(value))
    return;
  const pb::TensorShapeProto *from = scope.shape(result), *to = scope.shape(value);
  if (!from || !to || from->dim_size() < to->dim_size()) {
    error = "'" + value + "' or '" + result + "' has an unknown shape";
    return;
  }
  std::vector<int64_t> axes;
  for (int i = 0, lead = from->dim_size() - to->dim_size(); i < from->dim_size(); ++i) {
    const auto &wide = from->dim(i);
    const auto *narrow = i < lead ? nullptr : &to->dim(i - lead);
    bool same = narrow && (narrow->has_dim_value() ? wide.has_dim_value() && wide.dim_value() == narrow->dim_value()
                                                   : narrow->has_dim_param() && wide.dim_param() == narrow->dim_param());
    if (!narrow || (narrow->has_dim_value() && narrow->dim_value() == 1 && !same))
      axes.push_back(i);
    else if (!same && !narrow->has_dim_value())
      error = "whether '" + value + "' is repeated along axis " + std::to_string(i) + " is known in the run only";
  }
  std::string whole = gradient;
  if (!axes.empty())
    whole = m("Reshape", {m("ReduceSum", {gradient, m.ints(axes)}, {{"keepdims", 1}}), m("Shape", {value})});
  auto [it, isNew] = gradients.emplace(value, whole);
  if (!isNew)
    it->second = m("Add", {it->second, whole});
}

bool Differentiation::unary(const pb::NodeProto &n, const std::string &g) {
  const std::string &op = n.op_type(), &x = n.input(0), &y = n.output(0);
  auto give = [&](const std::string &gradient) { add(x, gradient, y); };
  if (op == "Identity")
    give(g);
  else if (op == "Neg")
    give(m("Neg", {g}));
  else if (op == "Exp")
    give(m("Mul", {g, y}));
  else if (op == "Log")
    give(m("Div", {g, x}));
  else if (op == "Sqrt")
    give(m("Div", {m("Mul", {g, constant(0.5)}), y}));
  else if (op == "Reciprocal")
    give(m("Neg", {m("Mul", {g, m("Mul", {y, y})})}));
  else if (op == "Sin")
    give(m("Mul", {g, m("Cos", {x})}));
  else if (op == "Cos")
    give(m("Neg", {m("Mul", {g, m("Sin", {x})})}));
  else if (op == "Tanh")
    give(m("Mul", {g, m("Sub", {constant(1), m("Mul", {y, y})})}));
  else if (op == "Sigmoid")
    give(m("Mul", {g, m("Mul", {y, m("Sub", {constant(1), y})})}));
  else if (op == "Abs")
    give(m("Mul", {g, m("Sign", {x})}));
  else if (op == "Relu")
    give(m("Where", {m("Greater", {x, constant(0)}), g, constant(0)}));
  else
    return false;
  return true;
}

bool Differentiation::binary(const pb::NodeProto &n, const std::string &g) {
  if (n.input_size() != 2)
    return false;
  const std::string &op = n.op_type(), &a = n.input(0), &b = n.input(1), &y = n.output(0);
  if (op == "Add" || op == "Sub") {
    add(a, g, y);
    add(b, op == "Add" ? g : m("Neg", {g}), y);
  } else if (op == "Mul") {
    add(a, m("Mul", {g, b}), y);
    add(b, m("Mul", {g, a}), y);
  } else if (op == "Div") {
    add(a, m("Div", {g, b}), y);
    add(b, m("Neg", {m("Div", {m("Mul", {g, y}), b})}), y);
  } else if (op == "Pow" && !active.count(b)) {
    add(a, m("Mul", {g, m("Mul", {b, m("Pow", {a, m("Sub", {b, m("CastLike", {constant(1), b})})})})}), y);
  } else if (op == "MatMul" && scope.rank(a) >= 2 && scope.rank(a) == scope.rank(b)) {
    product(n, g);
  } else {
    return false;
  }
  return true;
}

void Differentiation::product(const pb::NodeProto &n, const std::string &g) {
  for (int i : {0, 1}) {
    if (!active.count(n.input(i)))
      continue;
    const pb::TensorShapeProto *one = scope.shape(n.input(0)), *other = scope.shape(n.input(1));
    for (int d = 0; d + 2 < one->dim_size(); ++d)
      if (one->dim(d).SerializeAsString() != other->dim(d).SerializeAsString())
        error = "the factors of a product differ in axis " + std::to_string(d);
    std::string factor = swapped(n.input(1 - i));
    add(n.input(i), i == 0 ? m("MatMul", {g, factor}) : m("MatMul", {factor, g}), n.input(i));
  }
}

// Operators that move elements or sum them.
bool Differentiation::arranging(const pb::NodeProto &n, const std::string &g) {
  const std::string &op = n.op_type(), &x = n.input(0);
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze") {
    add(x, m("Reshape", {g, m("Shape", {x})}), x);
  } else if (op == "Transpose") {
    const pb::AttributeProto *perm = findAttr(n, "perm");
    std::vector<int64_t> inverse(std::max(scope.rank(x), 0));
    for (int i = 0, rank = int(inverse.size()); i < rank; ++i) {
      int64_t from = perm && i < perm->ints_size() ? perm->ints(i) : rank - 1 - i;
      if (from >= 0 && from < rank)
        inverse[from] = i;
    }
    add(x, transposed(g, inverse), x);
  } else if (op == "ReduceSum" || op == "ReduceMean") {
    const pb::AttributeProto *keep = findAttr(n, "keepdims");
    bool hasAxes = n.input_size() > 1 && !n.input(1).empty();
    std::string spread = g;
    if (keep && keep->i() == 0 && hasAxes)
      spread = m("Unsqueeze", {g, n.input(1)});
    if (op == "ReduceMean") {
      auto count = [&](const std::string &v) { return m("CastLike", {m("Size", {v}), g}); };
      spread = m("Div", {m("Mul", {spread, count(n.output(0))}), count(x)});
    }
    add(x, m("Expand", {spread, m("Shape", {x})}), x);
  } else {
    return false;
  }
  return true;
}

void Differentiation::run(const std::vector<std::string> &xs, const std::string &y) {
  type = scope.elementType(y);
  if (type != kFloat && type != pb::TensorProto::DOUBLE) {
    error = "'" + y + "' is not float or double";
    return;
  }
  active.insert(xs.begin(), xs.end());
  std::vector<pb::NodeProto> path;
  for (const pb::NodeProto &n : scope.graph->node()) {
    if (llvm::none_of(n.input(), [&](const std::string &input) { return active.count(input) != 0; }))
      continue;
    path.push_back(n);
    for (const std::string &output : n.output())
      if (!llvm::is_contained(xs, output))
        active.insert(output);
  }
  gradients[y] = m("Expand", {constant(1), m("Shape", {y})});
  for (auto n = path.rbegin(); n != path.rend() && error.empty(); ++n) {
    auto g = gradients.find(n->output(0));
    if (g == gradients.end() || llvm::is_contained(xs, n->output(0)))
      continue;
    std::string gradient = g->second;
    if (!n->domain().empty() || n->output_size() != 1 || (!unary(*n, gradient) && !binary(*n, gradient) && !arranging(*n, gradient)))
      error = origin(*n).name + " (" + n->op_type() + ") has no derivative that onnxc knows";
  }
}
}  // namespace

void Walker::expandGradient(const pb::NodeProto &n, Scope &scope) {
  std::vector<std::string> xs, all;
  for (const char *list : {"xs", "zs"})
    if (const pb::AttributeProto *attr = findAttr(n, list)) {
      xs.insert(xs.end(), list[0] == 'x' ? attr->strings().begin() : attr->strings().end(), attr->strings().end());
      all.insert(all.end(), attr->strings().begin(), attr->strings().end());
    }
  if (!std::equal(all.begin(), all.end(), n.input().begin(), n.input().end()) || n.output_size() > int(xs.size()))
    return reject(n, "is asked for at other values than those of its xs and zs, or for more results than it has xs");
  NodeList nodes;
  Nodes m(*this, origin(n), nodes);
  Differentiation d(m, scope);
  const pb::AttributeProto *y = findAttr(n, "y");
  d.run(xs, y ? y->s() : "");
  if (!d.error.empty())
    return rejectTypes(n, d.error);
  for (int i = 0; i < n.output_size(); ++i)
    m.give(d.of(xs[i]), n.output(i));
  for (pb::NodeProto &next : nodes)
    node(std::move(next), scope);
}

}  // namespace onnxc::importer
