// UpgradeMath.cpp: elementwise ops, softmax, casts, and the experimental elementwise ops of opset 1.
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {
namespace {

// Before opset 7 the second operand was aligned at `axis` and only with broadcast=1; numpy's rule aligns the last axes.
void broadcast(Rewrite &r) {
  bool on = r.takeInt("broadcast", 0) != 0, hasAxis = r.has("axis");
  int64_t axis = r.takeInt("axis", 0);
  if (!on || !hasAxis)
    return;
  int left = r.scope.rank(r.input(0)), right = r.scope.rank(r.input(1));
  if (left < 0 || right < 0)
    return r.fail("broadcasting with an axis, as opset 6 and older have it, needs operands of known rank");
  if (axis < 0)
    axis += left;
  int64_t missing = left - axis - right;
  if (axis < 0 || missing < 0)
    return r.fail("broadcast axis " + std::to_string(axis) + " does not fit operands of ranks " + std::to_string(left) + " and " +
                  std::to_string(right));
  if (missing == 0 || right == 0)
    return;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < missing; ++i)
    axes.push_back(right + i);
  r.setInput(1, r.emit("Unsqueeze", {r.input(1), r.ints(axes)}));
}

// One slope per channel, along axis 1.
void prelu(Rewrite &r) {
  const pb::TensorShapeProto *slope = r.scope.shape(r.input(1));
  int rank = r.scope.rank(r.input(0));
  if (slope && (slope->dim_size() == 0 || (slope->dim_size() == 1 && slope->dim(0).dim_value() == 1)))
    return;
  if (rank < 0 || !slope)
    return r.fail("PRelu of opset 6 and older needs operands of known rank");
  if (slope->dim_size() != 1 || rank <= 2)
    return;
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - 2; ++i)
    axes.push_back(1 + i);
  r.setInput(1, r.emit("Unsqueeze", {r.input(1), r.ints(axes)}));
}

void clip(Rewrite &r) {
  if (r.has("min"))
    r.setInput(1, r.scalarLike(r.input(0), r.takeFloat("min", 0)));
  if (r.has("max"))
    r.setInput(2, r.scalarLike(r.input(0), r.takeFloat("max", 0)));
}

// Before opset 13 the input was seen as a matrix split at `axis`, and rows were normalised.
void softmax(Rewrite &r) {
  int rank = r.scope.rank(r.input(0));
  int64_t axis = r.takeInt("axis", 1);
  if (axis == -1 || (rank >= 0 && axis == rank - 1)) {
    r.setInt("axis", -1);
    return;
  }
  std::string x = r.input(0), flat = r.emit("Flatten", {x});
  setInt(r.last(), "axis", axis);
  r.setInput(0, flat);
  r.setInt("axis", -1);
  std::string y = r.detach(0);
  std::string shape = r.emit("Shape", {x});
  r.emit("Reshape", {r.node.output(0), shape}, y);
  setInt(r.last(), "allowzero", 1);
}

int elementCode(const std::string &name) {
  pb::TensorProto_DataType code = pb::TensorProto::UNDEFINED;
  pb::TensorProto_DataType_Parse(name, &code);
  return code;
}
void castName(Rewrite &r) {
  const pb::AttributeProto *to = findAttr(r.node, "to");
  if (!to || to->s().empty())
    return;
  std::string name = llvm::StringRef(to->s()).upper();
  int code = elementCode(name);
  if (code == 0)
    return r.fail("casts to the unknown type '" + name + "'");
  r.setInt("to", code);
}

void selu(Rewrite &r) {
  if (!r.has("alpha"))
    r.setFloat("alpha", 1.6732f);
  if (!r.has("gamma"))
    r.setFloat("gamma", 1.0507f);
}

void affine(Rewrite &r) {
  std::string x = r.input(0), alpha = r.scalarLike(x, r.takeFloat("alpha", 1)), beta = r.scalarLike(x, r.takeFloat("beta", 0));
  r.emit("Add", {r.emit("Mul", {x, alpha}), beta}, r.node.output(0));
  r.drop();
}
void scale(Rewrite &r) {
  std::string factor = r.scalarLike(r.input(0), r.takeFloat("scale", 1));
  r.emit("Mul", {r.input(0), factor}, r.node.output(0));
  r.drop();
}
// scale * x + bias[channel]
void imageScaler(Rewrite &r) {
  std::string x = r.input(0), scaled = r.emit("Mul", {x, r.scalarLike(x, r.takeFloat("scale", 1))});
  std::vector<float> bias = r.takeFloats("bias");
  std::string shaped = r.emit("Reshape", {r.floats(bias), r.ints({1, int64_t(bias.size()), 1, 1})});
  r.emit("Add", {scaled, r.emit("CastLike", {shaped, x})}, r.node.output(0));
  r.drop();
}
// alpha * log(exp(beta * x) + 1)
void parametricSoftplus(Rewrite &r) {
  std::string x = r.input(0), alpha = r.scalarLike(x, r.takeFloat("alpha", 1)), beta = r.scalarLike(x, r.takeFloat("beta", 1));
  r.emit("Mul", {alpha, r.emit("Softplus", {r.emit("Mul", {beta, x})})}, r.node.output(0));
  r.drop();
}
void scaledTanh(Rewrite &r) {
  std::string x = r.input(0), alpha = r.scalarLike(x, r.takeFloat("alpha", 1)), beta = r.scalarLike(x, r.takeFloat("beta", 1));
  r.emit("Mul", {alpha, r.emit("Tanh", {r.emit("Mul", {beta, x})})}, r.node.output(0));
  r.drop();
}
void meanVariance(Rewrite &r) {
  bool across = r.takeInt("across_channels", 0), divide = r.takeInt("normalize_variance", 1);
  std::vector<int64_t> axes = across ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 2, 3};
  if (divide)
    return r.setInts("axes", axes);
  std::string mean = r.emit("ReduceMean", {r.input(0), r.ints(axes)});
  r.emit("Sub", {r.input(0), mean}, r.node.output(0));
  r.drop();
}
}  // namespace

const std::vector<Upgrade> kUpgradesMath = {
    {"Add", 7, broadcast},
    {"Sub", 7, broadcast},
    {"Mul", 7, broadcast},
    {"Div", 7, broadcast},
    {"And", 7, broadcast},
    {"Or", 7, broadcast},
    {"Xor", 7, broadcast},
    {"Equal", 7, broadcast},
    {"Greater", 7, broadcast},
    {"Less", 7, broadcast},
    {"Pow", 7, broadcast},
    {"PRelu", 7, prelu},
    {"Clip", 11, clip},
    {"Softmax", 13, softmax},
    {"LogSoftmax", 13, softmax},
    {"Hardmax", 13, softmax},
    {"Cast", 6, castName},
    {"Selu", 6, selu},
    {"Affine", 99, affine},
    {"Scale", 99, scale},
    {"ImageScaler", 99, imageScaler},
    {"ScaledTanh", 99, scaledTanh},
    {"ParametricSoftplus", 99, parametricSoftplus},
    {"MeanVarianceNormalization", 9, meanVariance},
};

}  // namespace onnxc::importer
