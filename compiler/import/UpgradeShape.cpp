// UpgradeShape.cpp: ops that move data or compute shapes: attributes that became operands.
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {
namespace {

// An integer list attribute becomes operand `index`; an absent or empty list leaves the operand absent.
void listToInput(Rewrite &r, const char *name, int index) {
  if (!r.has(name) || !r.input(index).empty())
    return;
  std::vector<int64_t> values = r.takeInts(name);
  if (!values.empty())
    r.setInput(index, r.ints(values));
}
void axesToInput(Rewrite &r) { listToInput(r, "axes", 1); }

void reshape(Rewrite &r) {
  if (r.input(1).empty())
    r.setInput(1, r.ints(r.takeInts("shape")));
}

void slice(Rewrite &r) {
  bool hasAxes = r.has("axes");
  std::vector<int64_t> axes = r.takeInts("axes");
  r.setInput(1, r.ints(r.takeInts("starts")));
  r.setInput(2, r.ints(r.takeInts("ends")));
  if (hasAxes)
    r.setInput(3, r.ints(axes));
}
void dynamicSlice(Rewrite &r) { r.node.set_op_type("Slice"); }

void splitAttribute(Rewrite &r) { listToInput(r, "split", 1); }
void splitCount(Rewrite &r) {
  if (r.input(1).empty() && !r.has("num_outputs"))
    r.setInt("num_outputs", r.node.output_size());
}

void padNames(Rewrite &r) {
  if (r.has("paddings"))
    r.setInts("pads", r.takeInts("paddings"));
}
void padInputs(Rewrite &r) {
  r.setInput(1, r.ints(r.takeInts("pads")));
  float value = r.takeFloat("value", 0);
  if (value != 0)
    r.setInput(2, r.scalarLike(r.input(0), value));
}

// A constant whole number of any type; -1 when it is none.
int64_t wholeNumber(const Rewrite &r, int input) {
  std::vector<int64_t> whole;
  std::vector<double> real;
  if (r.scope.ints(r.input(input), whole) && !whole.empty())
    return whole[0];
  return r.scope.floats(r.input(input), real) && !real.empty() && real[0] >= 0 && real[0] < 1e15 ? int64_t(real[0]) : -1;
}

// Version 1 repeated along one axis; the numbers have the tensor's type.
void tile(Rewrite &r) {
  int64_t tiles = wholeNumber(r, 1), axis = wholeNumber(r, 2);
  int rank = r.scope.rank(r.input(0));
  if (tiles < 0 || axis < 0 || axis >= rank)
    return r.fail("Tile of opset 5 and older needs constant tiles and axis and an input of known rank");
  std::vector<int64_t> repeats(rank, 1);
  repeats[axis] = tiles;
  r.node.mutable_input()->DeleteSubrange(2, 1);
  r.setInput(1, r.ints(repeats));
}

void topK(Rewrite &r) { r.setInput(1, r.ints({r.takeInt("k", 1)})); }
void concat(Rewrite &r) {
  if (!r.has("axis"))
    r.setInt("axis", 1);
}
void scatter(Rewrite &r) { r.node.set_op_type("ScatterElements"); }

// Before opset 11 an index below 0 gives no 1, as others outside the depth: one beyond every depth stands for it.
void oneHot(Rewrite &r) {
  std::string index = r.emit("Cast", {r.input(0)});
  setInt(r.last(), "to", pb::TensorProto::INT64);
  std::string below = r.emit("Less", {index, r.scalarInt(0)});
  r.setInput(0, r.emit("Where", {below, r.scalarInt(INT64_MAX), index}));
}

void upsampleSizes(Rewrite &r) {
  if (!r.has("scales")) {
    float height = r.takeFloat("height_scale", 1), width = r.takeFloat("width_scale", 1);
    r.setInput(1, r.floats({1, 1, height, width}));
  }
}
void upsampleScales(Rewrite &r) {
  if (r.has("scales"))
    r.setInput(1, r.floats(r.takeFloats("scales")));
}
void upsample(Rewrite &r) {
  r.node.set_op_type("Resize");
  r.version = std::min(r.version, 10);
  std::string mode = r.takeString("mode", "nearest");
  r.setString("mode", mode == "bilinear" ? "linear" : mode);
}

// Opset 10 does not say which neighbour is the nearest: its test data and ONNX Runtime take the upper one along axes that shrink, else the
// lower.
void resize10(Rewrite &r) {
  std::string scalesName = r.input(1);
  r.setInput(1, "");
  r.setInput(2, scalesName);
  r.setString("coordinate_transformation_mode", "asymmetric");
  r.setString("nearest_mode", "ceil_if_smaller");
}
// An empty roi, scales or sizes tensor means an absent one.
void resizeEmpty(Rewrite &r) {
  for (int i = 1; i < r.node.input_size(); ++i) {
    const pb::TensorShapeProto *shape = r.scope.shape(r.input(i));
    if (shape && shape->dim_size() == 1 && shape->dim(0).has_dim_value() && shape->dim(0).dim_value() == 0)
      r.node.set_input(i, "");
  }
}

// ConstantFill of opset 1: a shape by attribute or operand, a float value.
void constantFill(Rewrite &r) {
  std::string shape = r.input(0);
  int64_t asShape = r.takeInt("input_as_shape", 0), type = r.takeInt("dtype", pb::TensorProto::FLOAT);
  if (shape.empty())
    shape = r.ints(r.takeInts("shape"));
  else if (!asShape)
    shape = r.emit("Shape", {shape});
  if (std::vector<int64_t> extra = r.takeInts("extra_shape"); !extra.empty()) {
    shape = r.emit("Concat", {shape, r.ints(extra)});
    setInt(r.last(), "axis", 0);
  }
  std::string filled = r.emit("Expand", {r.floats({r.takeFloat("value", 0)}), shape});
  r.emit("Cast", {filled}, r.node.output(0));
  setInt(r.last(), "to", type);
  r.drop();
}
void givenTensorFill(Rewrite &r) {
  std::string shape = r.input(0).empty() ? r.ints(r.takeInts("shape")) : r.input(0);
  r.emit("Reshape", {r.floats(r.takeFloats("values")), shape}, r.node.output(0));
  r.drop();
}

// Crop: border left, top, right, bottom of the last two axes; with `scale` the size is given instead of right and bottom.
void crop(Rewrite &r) {
  std::vector<int64_t> border = r.takeInts("border"), scale = r.takeInts("scale");
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
    return r.fail("Crop needs a border of 4 and a scale of 2 values");
  std::vector<int64_t> ends = {scale.empty() ? -border[3] : border[1] + scale[0], scale.empty() ? -border[2] : border[0] + scale[1]};
  for (int64_t &end : ends)
    if (end == 0)
      end = INT64_MAX;
  r.emit("Slice", {r.input(0), r.ints({border[1], border[0]}), r.ints(ends), r.ints({2, 3})}, r.node.output(0));
  r.drop();
}
}  // namespace

static const auto kReduce = axesToInput;
const std::vector<Upgrade> kUpgradesShape = {
    {"Squeeze", 13, axesToInput},
    {"Unsqueeze", 13, axesToInput},
    {"ReduceSum", 13, kReduce},
    {"ReduceL1", 18, kReduce},
    {"ReduceL2", 18, kReduce},
    {"ReduceLogSum", 18, kReduce},
    {"ReduceLogSumExp", 18, kReduce},
    {"ReduceMax", 18, kReduce},
    {"ReduceMean", 18, kReduce},
    {"ReduceMin", 18, kReduce},
    {"ReduceProd", 18, kReduce},
    {"ReduceSumSquare", 18, kReduce},
    {"Reshape", 5, reshape},
    {"Slice", 10, slice},
    {"DynamicSlice", 99, dynamicSlice},
    {"Split", 13, splitAttribute},
    {"Split", 18, splitCount},
    {"Pad", 2, padNames},
    {"Pad", 11, padInputs},
    {"Tile", 6, tile},
    {"TopK", 10, topK},
    {"Concat", 4, concat},
    {"Scatter", 99, scatter},
    {"OneHot", 11, oneHot},
    {"Upsample", 7, upsampleSizes},
    {"Upsample", 9, upsampleScales},
    {"Upsample", 99, upsample},
    {"Resize", 11, resize10},
    {"Resize", 99, resizeEmpty},
    {"ConstantFill", 99, constantFill},
    {"GivenTensorFill", 99, givenTensorFill},
    {"Crop", 99, crop},
};

}  // namespace onnxc::importer
