// GradientRules.cpp: the rules of Gradient.h for operators that move, sum or multiply elements.
#include "compiler/import/Gradient.h"
#include "compiler/import/Upgrade.h"
#include "runtime_stub/kernels/SamePadding.h"

namespace onnxc::importer {

static std::vector<int64_t> intsOr(const pb::NodeProto &n, const char *name, const std::vector<int64_t> &otherwise) {
  const pb::AttributeProto *attr = findAttr(n, name);
  return attr && attr->ints_size() ? std::vector<int64_t>(attr->ints().begin(), attr->ints().end()) : otherwise;
}

// --- places ---

void Differentiation::concatenation(const pb::NodeProto &n, const std::string &g) {
  int64_t axis = intAttr(n, "axis", 0);
  axis += axis < 0 ? scope.rank(n.input(0)) : 0;
  std::string start = m.ints({0}), axes = m.ints({axis});
  for (const std::string &x : n.input()) {
    std::string end = m("Add", {start, m("Shape", {x}, {{"start", axis}, {"end", axis + 1}})});
    add(x, m("Slice", {g, start, end, axes}), x);
    start = end;
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
  } else if (op == "Concat" && scope.rank(x) > 0) {
    concatenation(n, g);
  } else if (op == "ReduceSum" || op == "ReduceMean" || op == "GlobalAveragePool") {
    const pb::AttributeProto *keep = findAttr(n, "keepdims");
    bool hasAxes = n.input_size() > 1 && !n.input(1).empty();
    std::string spread = g;
    if (keep && keep->i() == 0 && hasAxes)
      spread = m("Unsqueeze", {g, n.input(1)});
    if (op != "ReduceSum") {
      auto count = [&](const std::string &v) { return m("CastLike", {m("Size", {v}), g}); };
      spread = m("Div", {m("Mul", {spread, count(n.output(0))}), count(x)});
    }
    add(x, m("Expand", {spread, m("Shape", {x})}), x);
  } else {
    return false;
  }
  return true;
}

std::string Differentiation::scattered(const std::string &zeros, const std::string &places, const std::string &gradient) {
  std::string flat = m.ints({-1}), sum = m("ScatterElements", {zeros, m("Reshape", {places, flat}), m("Reshape", {gradient, flat})});
  setString(m.last(), "reduction", "add");
  return sum;
}

// Operators that copy elements: done to the elements' numbers they tell which element went where, and its gradients are added there.
bool Differentiation::moving(const pb::NodeProto &n) {
  static const std::unordered_set<std::string> ops = {"Slice",  "Gather", "GatherElements", "GatherND",    "Split",
                                                      "Expand", "Tile",   "DepthToSpace",   "SpaceToDepth"};
  if (!ops.count(n.op_type()))
    return false;
  const std::string &x = n.input(0);
  std::string shape = m("Shape", {x}), count = m("Size", {x});
  auto number = [&](int64_t v) { return m.scalar(pb::TensorProto::INT64, double(v)); };
  std::vector<std::string> inputs(n.input().begin(), n.input().end());
  inputs[0] = m("Reshape", {m("Range", {number(0), count, number(1)}), shape}, {{"allowzero", 1}});
  std::vector<std::string> places = m.many(n.op_type().c_str(), inputs, n.output_size());
  *m.last().mutable_attribute() = n.attribute();
  std::string sum = zerosOf(count);
  for (int i = 0; i < n.output_size(); ++i)
    if (std::string g = arrived(n.output(i)); !g.empty())
      sum = scattered(sum, places[i], g);
  add(x, m("Reshape", {sum, shape}, {{"allowzero", 1}}), x);
  return true;
}

// --- products ---

bool Differentiation::softmax(const pb::NodeProto &n, const std::string &g) {
  const std::string &op = n.op_type(), &x = n.input(0), &y = n.output(0);
  if (op != "Softmax" && op != "LogSoftmax")
    return false;
  std::string axes = m.ints({intAttr(n, "axis", -1)}), p = op == "Softmax" ? y : m("Exp", {y});
  std::string sum = m("ReduceSum", {op == "Softmax" ? m("Mul", {g, y}) : g, axes});
  add(x, op == "Softmax" ? m("Mul", {y, m("Sub", {g, sum})}) : m("Sub", {g, m("Mul", {p, sum})}), y);
  return true;
}

// alpha * a' * b' + beta * c, where ' is a transposition that transA and transB ask for.
bool Differentiation::gemm(const pb::NodeProto &n, const std::string &g) {
  if (n.op_type() != "Gemm")
    return false;
  const std::string &a = n.input(0), &b = n.input(1);
  int64_t ta = intAttr(n, "transA", 0) != 0, tb = intAttr(n, "transB", 0) != 0;
  auto factor = [&](const char *name) {
    const pb::AttributeProto *attr = findAttr(n, name);
    return attr ? attr->f() : 1.0f;
  };
  auto times = [&](const std::string &l, const std::string &r, int64_t tl, int64_t tr) {
    std::string result = m("Gemm", {l, r}, {{"transA", tl}, {"transB", tr}});
    setFloat(m.last(), "alpha", factor("alpha"));
    return result;
  };
  add(a, ta ? times(b, g, tb, 1) : times(g, b, 0, !tb), a);
  add(b, tb ? times(g, a, 1, ta) : times(a, g, !ta, 0), b);
  if (n.input_size() > 2 && !n.input(2).empty())
    add(n.input(2), m("Mul", {g, constant(factor("beta"))}), n.output(0));
  return true;
}

// --- windows ---

// Reads the attributes; false where sizes that the padding depends on are not known.
bool Differentiation::window(const pb::NodeProto &n, GradientWindow &w) {
  const pb::TensorShapeProto *x = scope.shape(n.input(0)), *filters = n.op_type() == "Conv" ? scope.shape(n.input(1)) : nullptr;
  w.kernel = intsOr(n, "kernel_shape", {});
  for (int i = 2; filters && w.kernel.size() + 2 < size_t(filters->dim_size()); ++i)
    w.kernel.push_back(filters->dim(i).dim_value());
  size_t rank = w.kernel.size();
  if (rank == 0 || !x || size_t(x->dim_size()) != rank + 2 || llvm::is_contained(w.kernel, 0))
    return false;
  w.strides = intsOr(n, "strides", std::vector<int64_t>(rank, 1)), w.dilations = intsOr(n, "dilations", std::vector<int64_t>(rank, 1));
  std::vector<int64_t> pads = intsOr(n, "pads", std::vector<int64_t>(2 * rank, 0));
  w.begins.assign(pads.begin(), pads.begin() + rank), w.ends.assign(pads.begin() + rank, pads.end());
  const pb::AttributeProto *automatic = findAttr(n, "auto_pad");
  if (!automatic || automatic->s().rfind("SAME", 0) != 0)
    return true;
  for (size_t i = 0; i < rank; ++i) {
    if (!x->dim(int(i) + 2).has_dim_value())
      return false;
    int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
    SamePads same = samePads(x->dim(int(i) + 2).dim_value(), extent, w.strides[i], automatic->s() == "SAME_UPPER");
    w.begins[i] = same.begin, w.ends[i] = same.end;
  }
  return true;
}

// Gives the node written last, of `result`, the window.
std::string Differentiation::withWindow(const std::string &result, const GradientWindow &w, bool padded) {
  setInts(m.last(), "strides", w.strides);
  setInts(m.last(), "dilations", w.dilations);
  std::vector<int64_t> pads = w.begins;
  pads.insert(pads.end(), w.ends.begin(), w.ends.end());
  if (padded)
    setInts(m.last(), "pads", pads);
  return result;
}

// Each output's gradient times the filters, added where their inputs were. `x` gives the sizes.
std::string Differentiation::spread(const std::string &gradient, const std::string &filters, int64_t groups, const GradientWindow &w,
                                    const std::string &x) {
  std::vector<int64_t> pads(w.kernel.size(), 0), axes;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    axes.push_back(int64_t(i) + 2);
    pads.push_back(w.strides[i] - 1);  // inputs behind the last window
  }
  std::string all = m.ints(axes), begins = m.ints(w.begins);
  std::string whole = withWindow(m("ConvTranspose", {gradient, filters}, {{"group", groups}}), w, false);
  std::string padded = m("Pad", {whole, m.ints(pads), "", all});
  return m("Slice", {padded, begins, m("Add", {begins, m("Shape", {x}, {{"start", 2}})}), all});
}

// A convolution of the inputs, channels as the batch, by the gradients, whose strides are its dilations.
std::string Differentiation::gradientOfFilters(const pb::NodeProto &n, const std::string &g, const GradientWindow &w) {
  const std::string &x = n.input(0), &filters = n.input(1);
  int64_t groups = intAttr(n, "group", 1), channels = scope.shape(filters)->dim(1).dim_value();
  std::vector<int64_t> perm = {2, 1, 0}, swap = {1, 0}, zeros, axes;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    perm.push_back(int64_t(i) + 3), swap.push_back(int64_t(i) + 2);
    zeros.push_back(0), axes.push_back(int64_t(i) + 2);
  }
  std::string batch = m("Shape", {x}, {{"start", 0}, {"end", 1}}), sizes = m("Shape", {x}, {{"start", 2}});
  std::string parts = m("Reshape", {x, m("Concat", {batch, m.ints({groups, channels}), sizes}, {{"axis", 0}})});
  std::string images = m("Reshape", {transposed(parts, perm), m("Concat", {m.ints({channels, -1}), sizes}, {{"axis", 0}})});
  GradientWindow other = w;
  std::swap(other.strides, other.dilations);
  std::string kernel = transposed(g, swap);
  std::string sums = withWindow(m("Conv", {images, kernel}, {{"group", groups}}), other, true);
  return m("Slice", {transposed(sums, swap), m.ints(zeros), m.ints(w.kernel), m.ints(axes)});
}

bool Differentiation::convolution(const pb::NodeProto &n, const std::string &g) {
  GradientWindow w;
  if (n.op_type() != "Conv" || !window(n, w) || !scope.shape(n.input(1)) || !scope.shape(n.input(1))->dim(1).has_dim_value())
    return false;
  const std::string &x = n.input(0), &filters = n.input(1);
  if (active.count(x))
    add(x, spread(g, filters, intAttr(n, "group", 1), w, x), x);
  if (active.count(filters))
    add(filters, gradientOfFilters(n, g, w), filters);
  std::vector<int64_t> axes = {0};
  for (size_t i = 0; i < w.kernel.size(); ++i)
    axes.push_back(int64_t(i) + 2);
  if (n.input_size() > 2 && !n.input(2).empty())
    add(n.input(2), m("ReduceSum", {g, m.ints(axes)}, {{"keepdims", 0}}), n.input(2));
  return true;
}

bool Differentiation::pooling(const pb::NodeProto &n, const std::string &g) {
  const std::string &op = n.op_type(), &x = n.input(0);
  if (op == "MaxPool") {
    std::vector<std::string> both = m.many("MaxPool", {x}, 2);
    *m.last().mutable_attribute() = n.attribute();
    setInt(m.last(), "storage_order", 0);
    add(x, m("Reshape", {scattered(zerosOf(m("Size", {x})), both[1], g), m("Shape", {x})}), x);
    return true;
  }
  GradientWindow w;
  if (op != "AveragePool" || intAttr(n, "ceil_mode", 0) || !window(n, w))
    return false;
  std::vector<int64_t> ones(2, 1);
  ones.insert(ones.end(), w.kernel.begin(), w.kernel.end());
  // Planes, each by itself: [batch * channels, 1, …].
  auto planes = [&](const std::string &v) {
    return m("Reshape", {v, m("Concat", {m.ints({-1, 1}), m("Shape", {v}, {{"start", 2}})}, {{"axis", 0}})});
  };
  std::string filters = m("Expand", {constant(1), m.ints(ones)});
  int64_t area = 1;
  for (int64_t k : w.kernel)
    area *= k;
  std::string count = constant(double(area));
  if (!intAttr(n, "count_include_pad", 0)) {
    std::string plane = m("Expand", {constant(1), m("Concat", {m.ints({1, 1}), m("Shape", {x}, {{"start", 2}})}, {{"axis", 0}})});
    count = withWindow(m("Conv", {plane, filters}), w, true);
  }
  std::string shares = m("Div", {planes(g), count});
  add(x, m("Reshape", {spread(shares, filters, 1, w, x), m("Shape", {x})}), x);
  return true;
}

}  // namespace onnxc::importer
