// Run.cpp: `onnxc run`: a model or an artefact on .npy (or .pb) files; results are printed, or written with --output-dir.
#include "compiler/CommandLine.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {

static void printElement(const Value &v, int64_t i) {
  if (v.dtype == StringCode)
    llvm::outs() << "'" << v.strings[i] << "'";
  else
    llvm::outs() << llvm::format("%.6g", elementAsDouble(v, i));
}

// The first elements of a tensor on one line; items of sequences, optionals and maps below each other.
static void printValue(const Value &v, llvm::StringRef indent) {
  llvm::outs() << v.type();
  if (v.kind != Value::Tensor) {
    llvm::outs() << "\n";
    for (const Value &item : v.items) {
      llvm::outs() << indent << "  ";
      printValue(item, (indent + "  ").str());
    }
    return;
  }
  int64_t shown = std::min<int64_t>(v.count(), 10);
  llvm::outs() << " =";
  for (int64_t i = 0; i < shown; ++i) {
    llvm::outs() << " ";
    printElement(v, i);
  }
  llvm::outs() << (shown < v.count() ? " …\n" : "\n");
}

static std::string fileName(llvm::StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_' && c != '-' && c != '.')
      c = '_';
  return text;
}

// Writes NAME.npy, or NAME.<i>.npy for the items of anything but a tensor.
static llvm::Error writeResult(llvm::StringRef dir, llvm::StringRef name, const Value &v) {
  if (v.kind == Value::Tensor) {
    llvm::SmallString<128> path(dir);
    llvm::sys::path::append(path, fileName(name) + ".npy");
    return writeNpy(path, v);
  }
  for (size_t i = 0; i < v.items.size(); ++i)
    if (llvm::Error error = writeResult(dir, (name + "." + llvm::Twine(i)).str(), v.items[i]))
      return error;
  return llvm::Error::success();
}

int runMain(int argc, const char *const *argv) {
  CLI::App app("Runs a model, or a library made by onnxc, on .npy files (or ONNX .pb files). Inputs not given are random.", "onnxc run");
  std::string path, outputDir;
  InputOptions inputs;
  int threads = 1;
  Options code;
  app.add_option("model", path, "a .onnx model or a .so made by onnxc")->required()->type_name("MODEL_OR_ARTEFACT");
  bindInputOptions(app, inputs);
  app.add_option("-o,--output-dir", outputDir, "write every output to NAME.npy in this folder")->type_name("DIR");
  app.add_option("--threads", threads, "threads; 0 = as many as the machine has")->type_name("N")->check(CLI::NonNegativeNumber);
  bindCodeOptions(app, code);
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  auto artefact = Artefact::open(path, code, threads);
  if (!artefact)
    return report(artefact.takeError());
  std::vector<Value> values;
  if (auto exit = makeInputs(**artefact, inputs, values))
    return *exit;
  if (llvm::Error error = firstRun(**artefact, inputs, values))
    return report(std::move(error));
  if (!outputDir.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(outputDir))
      return fail(ExitBadModel, "'" + outputDir + "': " + error.message());
  std::vector<Value> results = (*artefact)->results();
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string &name = (*artefact)->outputs()[i].name;
    llvm::outs() << name << ": ";
    printValue(results[i], "");
    if (!outputDir.empty())
      if (llvm::Error error = writeResult(outputDir, name, results[i]))
        return report(std::move(error));
  }
  return ExitOk;
}

}  // namespace onnxc
