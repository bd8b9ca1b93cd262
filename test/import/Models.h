// Models.h: what the tests of compiler/import share: models from ONNX's text form, and the module or the diagnostics that come of them.
#pragma once
#include "compiler/import/Import.h"
#include "llvm/ADT/SmallString.h"
#include <onnx/onnx_pb.h>
#include <string>

namespace onnxc::test {

// A folder that goes with the object.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  TemporaryFolder();
  ~TemporaryFolder();
  std::string write(const std::string &name, const std::string &bytes) const;
};

// Parses the text form of a model; fails the test when it is malformed.
::onnx::ModelProto parse(const std::string &text);

// The module as text when the import succeeds; otherwise every diagnostic, one a line, each led by "error: <place>: ".
std::string importFile(const std::string &path, const ImportOptions &options = {});
std::string importProto(const ::onnx::ModelProto &model, const ImportOptions &options = {});
std::string importText(const std::string &text, const ImportOptions &options = {});

}  // namespace onnxc::test
