// Gradient.cpp: Gradient of ai.onnx.preview.training as ordinary nodes: from y back to xs through the nodes of the graph before it, by the
// rule of each operator (reverse mode): elementwise ones here, the others in GradientRules.cpp. Operators without a rule are refused by
// name. Search.h beside it has the node writer.
#include "compiler/import/Gradient.h"
#include "compiler/import/Upgrade.h"
#include <algorithm>

namespace onnxc::importer {
std::string Differentiation::constant(double value) { return m("Cast", {m.scalar(pb::TensorProto::FLOAT, value)}, {{"to", type}}); }

std::string Differentiation::transposed(const std::string &value, const std::vector<int64_t> &perm) {
  std::string result = m("Transpose", {value});
  setInts(m.last(), "perm", perm);
  return result;
}

std::string Differentiation::swapped(const std::string &value) {
  std::vector<int64_t> perm(scope.rank(value));
  for (size_t i = 0; i < perm.size(); ++i)
    perm[i] = int64_t(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return transposed(value, perm);
}

std::string Differentiation::arrived(const std::string &result) const {
  auto it = sources.count(result) ? gradients.end() : gradients.find(result);
  return it == gradients.end() ? "" : it->second;
}

std::vector<int64_t> Differentiation::repeated(const std::string &value, const std::string &result, int own) {
  const pb::TensorShapeProto *from = scope.shape(result), *to = scope.shape(value);
  std::vector<int64_t> axes;
  if (value == result)
    return axes;
  if (!from || !to || from->dim_size() < to->dim_size()) {
    error = "'" + value + "' or '" + result + "' has an unknown shape";
    return axes;
  }
  for (int i = 0, lead = from->dim_size() - to->dim_size(); i < from->dim_size() - own; ++i) {
    const auto &wide = from->dim(i);
    const auto *narrow = i < lead ? nullptr : &to->dim(i - lead);
    bool same = narrow && (narrow->has_dim_value() ? wide.has_dim_value() && wide.dim_value() == narrow->dim_value()
                                                   : narrow->has_dim_param() && wide.dim_param() == narrow->dim_param());
    if (!narrow || (narrow->has_dim_value() && narrow->dim_value() == 1 && !same))
      axes.push_back(i);
    else if (!same && !narrow->has_dim_value())
      error = "whether '" + value + "' is repeated along axis " + std::to_string(i) + " is known in the run only";
  }
  return axes;
}

void Differentiation::add(const std::string &value, const std::string &gradient, const std::string &result, int own) {
  if (!active.count(value))
    return;
  std::string whole = gradient;
  if (std::vector<int64_t> axes = repeated(value, result, own); !axes.empty())
    whole = m("Reshape", {m("ReduceSum", {gradient, m.ints(axes)}, {{"keepdims", 1}}), m("Shape", {value})});
  auto [it, isNew] = gradients.emplace(value, whole);
  if (!isNew)
    it->second = m("Add", {it->second, whole});
}

static float floatOr(const pb::NodeProto &n, const char *name, float otherwise) {
  const pb::AttributeProto *attr = findAttr(n, name);
  return attr ? attr->f() : otherwise;
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
  else if (op == "LeakyRelu")
    give(m("Where", {m("Less", {x, constant(0)}), m("Mul", {g, constant(floatOr(n, "alpha", 0.01f))}), g}));
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
  } else if (op == "Pow" && (!active.count(b) || scope.elementType(a) == scope.elementType(b))) {
    add(a, m("Mul", {g, m("Mul", {b, m("Pow", {a, m("Sub", {b, m("CastLike", {constant(1), b})})})})}), y);
    std::string growth = m("Where", {m("Equal", {a, constant(0)}), constant(0), m("Mul", {y, m("Log", {a})})});  // 0 to any power is 0
    add(b, m("Mul", {g, growth}), y);
  } else if (op == "MatMul" && scope.rank(a) >= 2 && scope.rank(b) >= 2) {
    product(n, g);
  } else {
    return false;
  }
  return true;
}

bool Differentiation::variadic(const pb::NodeProto &n, const std::string &g) {
  const std::string &op = n.op_type(), &y = n.output(0);
  if (op == "Sum" || op == "Mean") {
    std::string part = op == "Sum" ? g : m("Div", {g, constant(n.input_size())});
    for (const std::string &x : n.input())
      add(x, part, y);
  } else if (op == "Max" || op == "Min") {
    std::string others;  // of equal operands the first one counts
    for (const std::string &x : n.input()) {
      std::string own = m("Equal", {x, y});
      if (!others.empty())
        own = m("And", {own, others});
      add(x, m("Where", {own, g, constant(0)}), y);
      std::string rest = m("Not", {own});
      others = others.empty() ? rest : m("And", {others, rest});
    }
  } else {
    return false;
  }
  return true;
}

// min(max(x, low), high)
void Differentiation::clip(const pb::NodeProto &n, const std::string &g) {
  const std::string &x = n.input(0), &y = n.output(0);
  std::string low = n.input_size() > 1 ? n.input(1) : "", high = n.input_size() > 2 ? n.input(2) : "", rest = g;
  if (!high.empty()) {
    std::string above = m("Greater", {low.empty() ? x : m("Max", {x, low}), high});
    add(high, m("Where", {above, g, constant(0)}), y);
    rest = m("Where", {above, constant(0), g});
  }
  if (!low.empty()) {
    std::string below = m("Less", {x, low});
    add(low, m("Where", {below, rest, constant(0)}), y);
    rest = m("Where", {below, constant(0), rest});
  }
  add(x, rest, y);
}

bool Differentiation::choosing(const pb::NodeProto &n, const std::string &g) {
  if (n.op_type() == "Clip") {
    clip(n, g);
  } else if (n.op_type() == "Where") {
    add(n.input(1), m("Where", {n.input(0), g, constant(0)}), n.output(0));
    add(n.input(2), m("Where", {n.input(0), constant(0), g}), n.output(0));
  } else {
    return false;
  }
  return true;
}

void Differentiation::product(const pb::NodeProto &n, const std::string &g) {
  const std::string &a = n.input(0), &b = n.input(1), &y = n.output(0);
  if (active.count(a))
    add(a, m("MatMul", {g, swapped(b)}), y, 2);
  if (active.count(b))
    add(b, m("MatMul", {swapped(a), g}), y, 2);
}

void Differentiation::run(const std::vector<std::string> &xs, const std::string &y) {
  type = scope.elementType(y);
  if (type != pb::TensorProto::FLOAT && type != pb::TensorProto::DOUBLE) {
    error = "'" + y + "' is not float or double";
    return;
  }
  active.insert(xs.begin(), xs.end());
  sources = active;
  std::vector<pb::NodeProto> path;
  for (const pb::NodeProto &n : scope.graph->node()) {
    if (llvm::none_of(n.input(), [&](const std::string &input) { return active.count(input) != 0; }))
      continue;
    path.push_back(n);
    for (const std::string &output : n.output())
      active.insert(output);
  }
  gradients[y] = m("Expand", {constant(1), m("Shape", {y})});
  for (auto n = path.rbegin(); n != path.rend() && error.empty(); ++n) {
    if (llvm::all_of(n->output(), [&](const std::string &output) { return arrived(output).empty(); }))
      continue;
    std::string g = arrived(n->output(0));
    bool single = n->output_size() == 1;
    bool known =
        n->domain().empty() && ((single && (unary(*n, g) || binary(*n, g) || variadic(*n, g) || choosing(*n, g) || softmax(*n, g) ||
                                            arranging(*n, g) || gemm(*n, g) || convolution(*n, g) || pooling(*n, g))) ||
                                moving(*n));
    if (!known)
      error = origin(*n).name + " (" + n->op_type() + ") has no derivative that onnxc knows";
  }
}

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
