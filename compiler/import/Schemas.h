// Schemas.h: the operator schemas of the onnx library, each made when it is first asked for. The library's own registry makes all of
// them at once: a fifth of the time that a model of one operator takes.
#pragma once
#include <onnx/defs/schema.h>
#include <set>

namespace onnxc::importer {

class Schemas : public ::onnx::ISchemaRegistry {
public:
  static const Schemas &instance();
  // The schema of `op` in `domain` ("" is ai.onnx) that was the newest in opset `version`; null when it had none.
  const ::onnx::OpSchema *GetSchema(const std::string &op, int version, const std::string &domain = "") const override;

  // Of all operators that `domain` has had.
  std::set<std::string> names(const std::string &domain) const;

private:
  Schemas() = default;
};

// What the library says of a node, in words that say what is wrong with the model.
std::string plainMessage(std::string message);

}  // namespace onnxc::importer
