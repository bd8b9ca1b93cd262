// Models.cpp: see Models.h.
#include "Models.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>

namespace onnxc::test {

TemporaryFolder::TemporaryFolder() { REQUIRE(!llvm::sys::fs::createUniqueDirectory("onnxc-import", path)); }
TemporaryFolder::~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

std::string TemporaryFolder::write(const std::string &name, const std::string &bytes) const {
  llvm::SmallString<128> file(path);
  llvm::sys::path::append(file, name);
  std::error_code error;
  llvm::raw_fd_ostream(file, error) << bytes;
  REQUIRE(!error);
  return file.str().str();
}

::onnx::ModelProto parse(const std::string &text) {
  ::onnx::ModelProto model;
  auto status = ::onnx::OnnxParser::Parse(model, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return model;
}

std::string importFile(const std::string &path, const ImportOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    out << "error: " << describeLoc(diagnostic.getLocation()) << ": " << diagnostic << "\n";
    return mlir::success();
  });
  if (auto module = importModel(path, context, options))
    module->print(out);
  return text;
}

std::string importProto(const ::onnx::ModelProto &model, const ImportOptions &options) {
  TemporaryFolder folder;
  return importFile(folder.write("model.onnx", model.SerializeAsString()), options);
}

std::string importText(const std::string &text, const ImportOptions &options) { return importProto(parse(text), options); }

}  // namespace onnxc::test
