// Gradient.h: the differentiation that Gradient.cpp runs; GradientRules.cpp has the rules of operators that move, sum or multiply elements.
#pragma once
#include "compiler/import/Search.h"

namespace onnxc::importer {

// Where the window of a convolution or a pooling lies.
struct GradientWindow {
  std::vector<int64_t> kernel, strides, dilations, begins, ends;
};

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
  // Rules: false where an operator, or its form, has none. `g` is the gradient of the one result.
  bool unary(const pb::NodeProto &n, const std::string &g);
  bool binary(const pb::NodeProto &n, const std::string &g);
  bool variadic(const pb::NodeProto &n, const std::string &g);
  bool choosing(const pb::NodeProto &n, const std::string &g);
  bool softmax(const pb::NodeProto &n, const std::string &g);
  bool arranging(const pb::NodeProto &n, const std::string &g);
  bool moving(const pb::NodeProto &n);
  bool gemm(const pb::NodeProto &n, const std::string &g);
  bool convolution(const pb::NodeProto &n, const std::string &g);
  bool pooling(const pb::NodeProto &n, const std::string &g);

  void product(const pb::NodeProto &n, const std::string &g);
  void clip(const pb::NodeProto &n, const std::string &g);
  void concatenation(const pb::NodeProto &n, const std::string &g);
  std::string gradientOfFilters(const pb::NodeProto &n, const std::string &g, const GradientWindow &w);
  bool window(const pb::NodeProto &n, GradientWindow &w);
  std::string withWindow(const std::string &result, const GradientWindow &w, bool padded);
  std::string spread(const std::string &gradient, const std::string &filters, int64_t groups, const GradientWindow &w,
                     const std::string &x);
  std::string scattered(const std::string &zeros, const std::string &places, const std::string &gradient);

  // Adds a gradient that has the axes of `result`, summed over those along which the operand was repeated; the last `own` axes are the
  // operand's.
  void add(const std::string &value, const std::string &gradient, const std::string &result, int own = 0);
  std::vector<int64_t> repeated(const std::string &value, const std::string &result, int own);
  // What has come to a result so far; "" where the search ends or nothing came.
  std::string arrived(const std::string &result) const;
  std::string constant(double value);
  std::string zerosOf(const std::string &count) { return m("Expand", {constant(0), m("Reshape", {count, m.ints({1})})}); }
  std::string transposed(const std::string &value, const std::vector<int64_t> &perm);
  std::string swapped(const std::string &value);

  Nodes &m;
  const Scope &scope;
  int type = pb::TensorProto::FLOAT;
  std::unordered_set<std::string> active, sources;
  std::unordered_map<std::string, std::string> gradients;
};

}  // namespace onnxc::importer
