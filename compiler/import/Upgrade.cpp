// Upgrade.cpp: the driver and the helpers of Upgrade.h.
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {

const pb::AttributeProto *findAttr(const pb::NodeProto &node, llvm::StringRef name) {
  for (const pb::AttributeProto &attr : node.attribute())
    if (llvm::StringRef(attr.name()) == name)
      return &attr;
  return nullptr;
}

int64_t intAttr(const pb::NodeProto &node, const char *name, int64_t otherwise) {
  const pb::AttributeProto *attr = findAttr(node, name);
  return attr ? attr->i() : otherwise;
}
std::string notPlainError(const pb::NodeProto &node, const char *name, int64_t plain) {
  return intAttr(node, name, plain) == plain ? ""
                                             : std::string("has attribute '") + name + "'; onnxc supports only " + std::to_string(plain);
}

static pb::AttributeProto &attrFor(pb::NodeProto &node, const char *name, pb::AttributeProto::AttributeType type) {
  pb::AttributeProto *attr = nullptr;
  for (pb::AttributeProto &existing : *node.mutable_attribute())
    if (existing.name() == name)
      attr = &existing;
  if (!attr)
    attr = node.add_attribute();
  attr->Clear();
  attr->set_name(name);
  attr->set_type(type);
  return *attr;
}

void setInt(pb::NodeProto &node, const char *name, int64_t value) { attrFor(node, name, pb::AttributeProto::INT).set_i(value); }
void setFloat(pb::NodeProto &node, const char *name, float value) { attrFor(node, name, pb::AttributeProto::FLOAT).set_f(value); }
void setString(pb::NodeProto &node, const char *name, const std::string &value) {
  attrFor(node, name, pb::AttributeProto::STRING).set_s(value);
}
void setInts(pb::NodeProto &node, const char *name, const std::vector<int64_t> &values) {
  pb::AttributeProto &attr = attrFor(node, name, pb::AttributeProto::INTS);
  for (int64_t v : values)
    attr.add_ints(v);
}

bool Rewrite::has(const char *name) const { return findAttr(node, name) != nullptr; }
int64_t Rewrite::getInt(const char *name, int64_t otherwise) const { return intAttr(node, name, otherwise); }
int64_t Rewrite::takeInt(const char *name, int64_t otherwise) {
  int64_t value = getInt(name, otherwise);
  erase(name);
  return value;
}
float Rewrite::takeFloat(const char *name, float otherwise) {
  const pb::AttributeProto *attr = findAttr(node, name);
  float value = attr ? attr->f() : otherwise;
  erase(name);
  return value;
}
std::vector<int64_t> Rewrite::takeInts(const char *name) {
  const pb::AttributeProto *attr = findAttr(node, name);
  std::vector<int64_t> values;
  if (attr)
    values.assign(attr->ints().begin(), attr->ints().end());
  erase(name);
  return values;
}
std::vector<float> Rewrite::takeFloats(const char *name) {
  const pb::AttributeProto *attr = findAttr(node, name);
  std::vector<float> values;
  if (attr)
    values.assign(attr->floats().begin(), attr->floats().end());
  erase(name);
  return values;
}
std::string Rewrite::takeString(const char *name, const std::string &otherwise) {
  const pb::AttributeProto *attr = findAttr(node, name);
  std::string value = attr ? attr->s() : otherwise;
  erase(name);
  return value;
}
void Rewrite::erase(const char *name) {
  for (int i = node.attribute_size(); i-- > 0;)
    if (node.attribute(i).name() == name)
      node.mutable_attribute()->DeleteSubrange(i, 1);
}
void Rewrite::setInt(const char *name, int64_t value) { importer::setInt(node, name, value); }
void Rewrite::setFloat(const char *name, float value) { importer::setFloat(node, name, value); }
void Rewrite::setString(const char *name, const std::string &value) { importer::setString(node, name, value); }
void Rewrite::setInts(const char *name, const std::vector<int64_t> &values) { importer::setInts(node, name, values); }

std::string Rewrite::input(int index) const { return index < node.input_size() ? node.input(index) : std::string(); }
void Rewrite::setInput(int index, const std::string &name) {
  while (node.input_size() <= index)
    node.add_input();
  node.set_input(index, name);
}
bool Rewrite::hasOutput(int index) const { return index < node.output_size() && !node.output(index).empty(); }

std::string Rewrite::emit(const char *op, const std::vector<std::string> &inputs, const std::string &result) {
  pb::NodeProto &n = (afterNode ? follow : added).emplace_back();
  n.set_op_type(op);
  for (const std::string &name : inputs)
    n.add_input(name);
  n.add_output(result.empty() ? walker.fresh(node.name()) : result);
  return n.output(0);
}

std::string Rewrite::constant(pb::TensorProto &&value) {
  std::string name = emit("Constant", {});
  attrFor(last(), "value", pb::AttributeProto::TENSOR).mutable_t()->Swap(&value);
  return name;
}
std::string Rewrite::ints(const std::vector<int64_t> &values) {
  pb::TensorProto t;
  t.set_data_type(pb::TensorProto::INT64);
  t.add_dims(int64_t(values.size()));
  for (int64_t v : values)
    t.add_int64_data(v);
  return constant(std::move(t));
}
std::string Rewrite::scalarInt(int64_t value) {
  pb::TensorProto t;
  t.set_data_type(pb::TensorProto::INT64);
  t.add_int64_data(value);
  return constant(std::move(t));
}
std::string Rewrite::floats(const std::vector<float> &values) {
  pb::TensorProto t;
  t.set_data_type(pb::TensorProto::FLOAT);
  t.add_dims(int64_t(values.size()));
  for (float v : values)
    t.add_float_data(v);
  return constant(std::move(t));
}
std::string Rewrite::scalarLike(const std::string &other, double value) {
  pb::TensorProto t;
  int type = scope.elementType(other);
  if (type == pb::TensorProto::DOUBLE) {
    t.set_data_type(type);
    t.add_double_data(value);
    return constant(std::move(t));
  }
  t.set_data_type(pb::TensorProto::FLOAT);
  t.add_float_data(float(value));
  std::string single = constant(std::move(t));
  if (type == pb::TensorProto::FLOAT)
    return single;
  if (type == 0)
    return emit("CastLike", {single, other});
  std::string cast = emit("Cast", {single});
  importer::setInt(last(), "to", type);
  return cast;
}

std::string Rewrite::detach(int index) {
  while (node.output_size() <= index)
    node.add_output();
  std::string old = node.output(index);
  node.set_output(index, walker.fresh(old));
  afterNode = true;
  return old;
}

static const std::vector<const Upgrade *> *rowsOf(const pb::NodeProto &node) {
  static const auto *rows = [] {
    auto *map = new std::unordered_map<std::string, std::vector<const Upgrade *>>();
    for (const auto *table : {&kUpgradesMath, &kUpgradesShape, &kUpgradesNN, &kUpgradesML})
      for (const Upgrade &row : *table)
        (*map)[row.op].push_back(&row);
    return map;
  }();
  auto it = rows->find(node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type());
  return it == rows->end() ? nullptr : &it->second;
}

bool upgradeNode(Walker &walker, const Scope &scope, pb::NodeProto &node, int version, std::vector<pb::NodeProto> &out,
                 std::string &error) {
  Rewrite rewrite(walker, scope, node, version);
  if (node.domain().empty() && version < 6)
    rewrite.erase("consumed_inputs");
  const std::vector<const Upgrade *> *rows = rowsOf(node);
  for (size_t i = 0; rows && i < rows->size() && !rewrite.dropped; ++i) {
    if (rewrite.version >= (*rows)[i]->below)
      continue;
    (*rows)[i]->rewrite(rewrite);
    if (!rewrite.error.empty()) {
      error = rewrite.error;
      return false;
    }
    const std::vector<const Upgrade *> *next = rowsOf(node);
    if (next != rows) {
      rows = next;
      i = size_t(-1);
    }
  }
  for (pb::NodeProto &n : rewrite.added)
    out.push_back(std::move(n));
  if (!rewrite.dropped)
    out.push_back(std::move(node));
  for (pb::NodeProto &n : rewrite.follow)
    out.push_back(std::move(n));
  return true;
}

}  // namespace onnxc::importer
