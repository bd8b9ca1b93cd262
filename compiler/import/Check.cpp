// Check.cpp: what is wrong with a node by itself, and reports that do not follow from each other. Walk.cpp calls it.
#include "compiler/Suggest.h"
#include "compiler/import/Schemas.h"
#include "compiler/import/Upgrade.h"

namespace onnxc::importer {

std::string plainName(const std::string &domain) { return domain.empty() ? "ai.onnx" : domain; }

bool isCustom(const pb::NodeProto &node, const std::set<std::string> &customOps) {
  return customOps.count(plainName(node.domain()) + "::" + node.op_type()) != 0;
}

// What the schema does not see: "" when all is well.
static std::string structureError(const pb::NodeProto &n, bool inFunction) {
  for (const pb::AttributeProto &attr : n.attribute())
    if (!attr.ref_attr_name().empty() && !inFunction)
      return "attribute '" + attr.name() + "' refers to '" + attr.ref_attr_name() + "', but the node is in no function";
  if (!n.domain().empty())
    return "";
  if (n.op_type() == "Constant" && n.attribute_size() != 1)
    return "needs exactly one value, it has " + std::to_string(n.attribute_size());
  for (const pb::AttributeProto &attr : n.attribute())
    if (n.op_type() == "If" && attr.has_g() && attr.g().input_size() != 0)
      return "attribute '" + attr.name() + "' has inputs; a branch takes none";
  return "";
}

// "has 1 input, Add of opset 14 needs 2": where the number is wrong.
static std::string countError(const pb::OpSchema &schema, int count, int least, int most, const std::string &what) {
  if (count >= least && count <= most)
    return "";
  std::string takes = least == most                             ? std::to_string(least)
                      : most == std::numeric_limits<int>::max() ? "at least " + std::to_string(least)
                                                                : std::to_string(least) + " to " + std::to_string(most);
  return "has " + std::to_string(count) + " " + what + (count == 1 ? "" : "s") + ", " + schema.Name() + " of opset " +
         std::to_string(schema.SinceVersion()) + " needs " + takes;
}

// Old opsets' schemas are those the exporter had; ops that came later are refused, but for one that ONNX Runtime writes into older models.
std::string checkNode(const pb::NodeProto &n, int version, bool inFunction) {
  const pb::OpSchema *schema = Schemas::instance().GetSchema(n.op_type(), version, n.domain());
  if (std::string error = structureError(n, inFunction); !error.empty())
    return error;
  if (!schema && newestSchema(n) && n.op_type() != "LayerNormalization")
    return "does not exist in opset " + std::to_string(version) + " of " + plainName(n.domain()) +
           "; import the opset that it was exported for";
  if (!schema || schema->Deprecated())
    return attributeWordError(n, version);
  if (std::string error = countError(*schema, n.input_size(), schema->min_input(), schema->max_input(), "input"); !error.empty())
    return error;
  if (std::string error = countError(*schema, n.output_size(), schema->min_output(), schema->max_output(), "output"); !error.empty())
    return error;
  try {
    schema->Verify(n);
  } catch (const std::exception &e) {
    return plainMessage(e.what());
  }
  return attributeWordError(n, version);
}

std::string unknownOperator(const pb::NodeProto &n, const std::vector<std::string> &names) {
  std::string domain = plainName(n.domain());
  return "onnxc does not know operator " + n.op_type() + " of " + domain + didYouMean(n.op_type(), names) + "; pass --custom-op " + domain +
         "::" + n.op_type() + "=LIBRARY, or give it as a function of the model";
}

void Walker::fail(const Origin &from, const std::string &message) {
  failed = true;
  if (!current || !current->part || reported.insert(current->part).second)
    report(from, message);
}

void Walker::doubt(const pb::NodeProto &node) {
  ++doubts;
  for (const std::string &output : node.output())
    if (!output.empty())
      doubtful.insert(output);
}

bool Walker::isDoubtful(const pb::NodeProto &node) const {
  return !doubtful.empty() && llvm::any_of(node.input(), [&](const std::string &input) { return doubtful.count(input) != 0; });
}

void Walker::reject(const pb::NodeProto &node, const std::string &message) {
  fail(origin(node), message);
  doubt(node);
}

void Walker::rejectTypes(const pb::NodeProto &node, const std::string &message) {
  if (isDoubtful(node))
    doubt(node);
  else
    reject(node, message);
}

void Walker::rejectWhole(pb::NodeProto &&node, Scope &scope, const std::string &message) {
  reject(node, message);
  pb::NodeProto *kept = scope.graph->add_node();
  *kept = std::move(node);
  doubtBodies(*kept);
  enclosing.push_back(origin(*kept).name);
  bodies(*kept, scope);
  enclosing.pop_back();
}

// What a body gets from a node that is in doubt.
void Walker::doubtBodies(const pb::NodeProto &node) {
  for (const pb::AttributeProto &attr : node.attribute())
    if (attr.has_g())
      for (const pb::ValueInfoProto &input : attr.g().input())
        doubtful.insert(input.name());
}

void Walker::bodies(pb::NodeProto &node, Scope &scope) {
  for (pb::AttributeProto &attr : *node.mutable_attribute())
    if (attr.has_g() && !walked(attr.g()))
      graph(*attr.mutable_g(), &scope, {});
}

}  // namespace onnxc::importer
