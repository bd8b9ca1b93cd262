// Verify.cpp: `onnxc verify`: runs a model on ONNX test data (test_data_set_*/input_N.pb) and compares with its output_N.pb.
#include "compiler/CommandLine.h"
#include "compiler/commands/Artefact.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Data.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Layers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace onnxc {

static std::string member(llvm::StringRef dir, llvm::StringRef what, size_t index) {
  llvm::SmallString<128> path(dir);
  llvm::sys::path::append(path, what + "_" + llvm::Twine(index) + ".pb");
  return path.str().str();
}

// Folders that hold input_0.pb or output_0.pb: `dir` itself, or the test_data_set_* in it, in order.
static std::vector<std::string> dataSets(const std::string &dir) {
  if (llvm::sys::fs::exists(member(dir, "output", 0)))
    return {dir};
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(dir, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::filename(it->path()).starts_with("test_data_set_") && llvm::sys::fs::exists(member(it->path(), "output", 0)))
      found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

static llvm::Expected<std::vector<Value>> readInputs(const Artefact &artefact, const std::string &dir) {
  std::vector<Value> inputs;
  for (const Port &port : artefact.inputs()) {
    std::string path = member(dir, "input", inputs.size());
    if (port.hasDefault && !llvm::sys::fs::exists(path)) {
      inputs.emplace_back().absent = true;
      continue;
    }
    llvm::Expected<Value> v = readPb(path, port.kind);
    if (!v)
      return v.takeError();
    inputs.push_back(std::move(*v));
  }
  return inputs;
}

// Empty when all outputs agree, else one line for each that does not.
static llvm::Expected<std::string> verifySet(Artefact &artefact, const std::string &dir, const Tolerance &tolerance) {
  llvm::Expected<std::vector<Value>> inputs = readInputs(artefact, dir);
  if (!inputs)
    return inputs.takeError();
  if (llvm::Error error = artefact.bind(*inputs))
    return std::move(error);
  if (llvm::Error error = artefact.runOnce())
    return std::move(error);
  std::vector<Value> results = artefact.results();
  std::string wrong;
  for (size_t i = 0; i < results.size(); ++i) {
    std::string path = member(dir, "output", i);
    if (!llvm::sys::fs::exists(path))
      continue;
    llvm::Expected<Value> want = readPb(path, artefact.outputs()[i].kind);
    if (!want)
      return want.takeError();
    if (std::string text = difference(*want, results[i], tolerance); !text.empty())
      wrong += "  output '" + artefact.outputs()[i].name + "': " + text + "\n";
  }
  return wrong;
}

// Every launch beside -O0, on a set's inputs or (dir empty) random ones.
static int verifyLayers(Artefact &artefact, const std::string &model, const Options &code, const std::string &dir,
                        const Tolerance &tolerance) {
  Options plain = code;
  plain.optLevel = 0;
  auto reference = Artefact::open(model, plain, 1);
  if (!reference)
    return report(reference.takeError());
  llvm::Expected<std::vector<Value>> inputs = dir.empty() ? randomInputs(artefact, 1) : readInputs(artefact, dir);
  if (!inputs)
    return report(inputs.takeError());
  if (dir.empty())
    if (llvm::Error error = firstRun(artefact, InputOptions(), *inputs))
      return report(std::move(error));
  llvm::Expected<int> differ = compareLayers(artefact, **reference, *inputs, tolerance);
  if (!differ)
    return report(differ.takeError());
  return *differ ? ExitBadModel : ExitOk;
}

int verifyMain(int argc, const char *const *argv) {
  CLI::App app("Compares a model's results with reference data in ONNX's form: DIR/test_data_set_*/input_N.pb and output_N.pb.",
               "onnxc verify");
  std::string path;
  std::vector<std::string> dirs;
  Tolerance tolerance;
  int threads = 1;
  bool layers = false;
  Options code;
  app.add_option("model", path, "a .onnx model or a .so made by onnxc")->required()->type_name("MODEL");
  app.add_option("--data", dirs, "folder of test data; default: the model's own (repeatable)")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--rtol", tolerance.rtol, "largest relative difference of floats")->type_name("X")->capture_default_str();
  app.add_option("--atol", tolerance.atol, "largest absolute difference of floats")->type_name("X")->capture_default_str();
  app.add_option("--threads", threads, "threads")->type_name("N")->check(CLI::NonNegativeNumber);
  app.add_flag("--layers", layers,
               "also compile with -O0 and compare what every kernel makes, on the first set or on random inputs; -g shows every node");
  bindCodeOptions(app, code);
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  if (dirs.empty())
    dirs.push_back(llvm::sys::path::parent_path(path).str());
  std::vector<std::string> sets;
  for (const std::string &dir : dirs)
    for (std::string &set : dataSets(dir.empty() ? "." : dir))
      sets.push_back(std::move(set));
  if (layers && llvm::sys::path::extension(path) == ".so")
    return fail(ExitUsage, "--layers compiles the model twice: give the .onnx file");
  if (sets.empty() && !layers)
    return fail(ExitUsage, "no test_data_set_* folder with output_0.pb in '" + dirs.front() + "'; give one with --data");
  auto artefact = Artefact::open(path, code, threads);
  if (!artefact)
    return report(artefact.takeError());
  int failed = 0;
  if (layers)
    if (int exit = verifyLayers(**artefact, path, code, sets.empty() ? "" : sets.front(), tolerance); exit || sets.empty())
      return exit;
  for (const std::string &set : sets) {
    llvm::Expected<std::string> wrong = verifySet(**artefact, set, tolerance);
    std::string text = wrong ? *wrong : "  " + llvm::toString(wrong.takeError()) + "\n";
    failed += !text.empty();
    llvm::outs() << (text.empty() ? "pass " : "FAIL ") << set << "\n" << text;
  }
  llvm::outs() << sets.size() - failed << " passed, " << failed << " failed\n";
  return failed ? ExitBadModel : ExitOk;
}

}  // namespace onnxc
