// Ranges.cpp: see Ranges.h.
#include "compiler/import/Ranges.h"
#include "compiler/Suggest.h"
#include "compiler/import/Tensors.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Diagnostics.h"
#include <optional>
#include <set>

using namespace mlir;
namespace onnxc::importer {

using Dim = pb::TensorShapeProto::Dimension;

template <class Visit>
static void eachDim(google::protobuf::RepeatedPtrField<pb::ValueInfoProto> &values, Visit visit) {
  for (pb::ValueInfoProto &value : values)
    if (value.type().has_tensor_type() && value.type().tensor_type().has_shape())
      for (int axis = 0; axis < value.type().tensor_type().shape().dim_size(); ++axis)
        visit(value, axis, *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis));
}

// A size for a name that no input or output has is most likely a typing error.
bool fixDims(pb::GraphProto &graph, const std::map<std::string, int64_t> &sizes, Location loc) {
  std::set<std::string> names;
  for (auto *list : {graph.mutable_input(), graph.mutable_output()})
    eachDim(*list, [&](const pb::ValueInfoProto &, int, Dim &dim) {
      if (dim.has_dim_param()) {
        names.insert(dim.dim_param());
        if (auto it = sizes.find(dim.dim_param()); it != sizes.end())
          dim.set_dim_value(it->second);
      } else if (dim.dim_value() == -1) {
        dim.clear_dim_value();
      }
    });
  names.erase("");
  bool ok = true;
  for (const auto &[name, size] : sizes)
    if (names.count(name)) {
      if (size == 0)
        emitWarning(loc) << "--define-dim " << name << "=0 leaves every value of that size without elements";
    } else {
      ok = false;
      bool isList = name.find('=') != std::string::npos && name.find(',') != std::string::npos;
      emitError(loc) << "no input or output has the dimension '" << name << "' of --define-dim"
                     << didYouMean(name, std::vector<std::string>(names.begin(), names.end())) << "; "
                     << (names.empty() ? "the model has none with a name" : "there are: " + llvm::join(names, ", "))
                     << (isList ? "; give --define-dim once for each dimension" : "");
    }
  return ok;
}

namespace {

// What flags say of one symbolic size, and for which input.
struct Said {
  int64_t size;
  std::string input;
};
struct Bound {
  std::array<std::optional<Said>, 3> said;
  std::string text;  // "dim 2 ('height')"
  bool isFixed() const { return said[MinShapes] && said[MaxShapes] && said[MinShapes]->size == said[MaxShapes]->size; }
};

class RangeReader {
public:
  RangeReader(pb::GraphProto &graph, Location loc) : graph(graph), loc(loc) {}
  void read(ShapeFlag flag, const std::string &input, const std::vector<int64_t> &sizes);
  bool check();
  // Of inputs and outputs.
  void fix();
  Ranges ranges();

private:
  // A symbol is its name; a dim without one is a symbol of its own.
  static std::string key(const pb::ValueInfoProto &value, int axis, const Dim &dim) {
    return dim.dim_param().empty() ? std::string("\0", 1) + value.name() + '\0' + std::to_string(axis) : dim.dim_param();
  }
  void bound(ShapeFlag flag, const pb::ValueInfoProto &value, int axis, int64_t size);
  void fail(const llvm::Twine &message) { emitError(loc) << message.str(), ok = false; }

  pb::GraphProto &graph;
  Location loc;
  std::map<std::string, Bound> bounds;
  bool ok = true;
};

void RangeReader::read(ShapeFlag flag, const std::string &name, const std::vector<int64_t> &sizes) {
  std::vector<std::string> names;
  for (const pb::ValueInfoProto &value : graph.input()) {
    names.push_back(value.name());
    if (value.name() != name)
      continue;
    std::string what = std::string(kShapeFlags[flag]) + ": input '" + name + "' ";
    if (!value.type().has_tensor_type())
      return fail(what + "is no tensor");
    if (!value.type().tensor_type().has_shape())
      return fail(what + "has no shape in the model, so its sizes have no range");
    if (size_t rank = value.type().tensor_type().shape().dim_size(); rank != sizes.size())
      return fail(what + "has " + std::to_string(rank) + " dims, " + shapeText(sizes) + " has " + std::to_string(sizes.size()));
    int64_t count = 1;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      bound(flag, value, int(axis), sizes[axis]);
      count = sizes[axis] && count > kMaxElements / sizes[axis] ? kMaxElements + 1 : count * sizes[axis];
    }
    return count > kMaxElements ? fail(what + "has more than 2^42 elements as " + shapeText(sizes)) : void();
  }
  fail(std::string(kShapeFlags[flag]) + ": the model has no input '" + name + "'" + didYouMean(name, names) + "; " +
       (names.empty() ? "it has none" : "there are: '" + llvm::join(names, "', '") + "'"));
}

void RangeReader::bound(ShapeFlag flag, const pb::ValueInfoProto &value, int axis, int64_t size) {
  const Dim &dim = value.type().tensor_type().shape().dim(axis);
  std::string where = "dim " + std::to_string(axis);
  if (dim.has_dim_value()) {
    if (dim.dim_value() != size)
      fail(std::string(kShapeFlags[flag]) + ": " + where + " of input '" + value.name() + "' is " + std::to_string(dim.dim_value()) +
           " in the model, not " + std::to_string(size));
    return;
  }
  Bound &b = bounds[key(value, axis, dim)];
  if (b.text.empty())
    b.text = where + (dim.dim_param().empty() ? "" : " ('" + dim.dim_param() + "')");
  std::optional<Said> &said = b.said[flag];
  if (said && said->size != size)
    fail(std::string(kShapeFlags[flag]) + ": '" + dim.dim_param() + "' is " + std::to_string(said->size) + " in input '" + said->input +
         "', but " + std::to_string(size) + " in input '" + value.name() + "'");
  said = Said{size, value.name()};
}

bool RangeReader::check() {
  for (const auto &[name, b] : bounds)
    for (auto [low, high] : {std::pair(MinShapes, OptShapes), std::pair(OptShapes, MaxShapes), std::pair(MinShapes, MaxShapes)})
      if (b.said[low] && b.said[high] && b.said[low]->size > b.said[high]->size)
        fail("input '" + b.said[low]->input + "': " + b.text + " is " + std::to_string(b.said[low]->size) + " in " + kShapeFlags[low] +
             ", which is more than " + std::to_string(b.said[high]->size) + " in " + kShapeFlags[high]);
  return ok;
}

void RangeReader::fix() {
  for (auto *list : {graph.mutable_input(), graph.mutable_output()})
    eachDim(*list, [&](const pb::ValueInfoProto &value, int axis, Dim &dim) {
      if (auto it = bounds.find(key(value, axis, dim)); !dim.has_dim_value() && it != bounds.end() && it->second.isFixed())
        dim.set_dim_value(it->second.said[MinShapes]->size);
    });
}

Ranges RangeReader::ranges() {
  Ranges result;
  eachDim(*graph.mutable_input(), [&](const pb::ValueInfoProto &value, int axis, Dim &dim) {
    auto it = bounds.find(key(value, axis, dim));
    if (dim.has_dim_value() || it == bounds.end())
      return;
    std::vector<int64_t> &numbers = result[value.name()];
    for (int a = int(numbers.size()) / 3; a < value.type().tensor_type().shape().dim_size(); ++a)
      numbers.insert(numbers.end(), {0, -1, INT64_MAX});
    for (int flag = 0; flag < 3; ++flag)
      if (const std::optional<Said> &said = it->second.said[flag])
        numbers[axis * 3 + flag] = said->size;
  });
  return result;
}

}  // namespace

bool takeRanges(pb::GraphProto &graph, const ShapeFlags &flags, Location loc, Ranges &ranges) {
  RangeReader reader(graph, loc);
  for (ShapeFlag flag : {MinShapes, OptShapes, MaxShapes})
    for (const auto &[input, sizes] : flags[flag])
      reader.read(flag, input, sizes);
  if (!reader.check())
    return false;
  reader.fix();
  ranges = reader.ranges();
  return true;
}

}  // namespace onnxc::importer
