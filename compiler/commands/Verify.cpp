// Verify.cpp: `onnxc verify`: runs a model on ONNX test data (test_data_set_*/input_N.pb) and compares with its output_N.pb.
#include "compiler/CommandLine.h"
#include "compiler/commands/Artefact.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Data.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Layers.h"
#include "compiler/commands/LibraryFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace onnxc {

namespace {
struct VerifyOptions {
  std::string model;
  std::vector<std::string> folders;
  Tolerance tolerance;
  LoadOptions load;
  InputOptions inputs;  // of --layers
  bool layers = false;
  Options code;
};

struct VerifySet {
  std::string folder;
  std::vector<std::string> wrong;  // what does not agree, one line for each output
  Closeness closeness = {};        // of all outputs of floats that were compared
};

struct VerifyReport {
  std::optional<LayerReport> layers;
  bool layersOfFirstSet = false;  // else of other inputs
  std::vector<VerifySet> sets;
  size_t failed() const {
    return llvm::count_if(sets, [](const VerifySet &set) { return !set.wrong.empty(); });
  }
};
}  // namespace

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

static llvm::Expected<std::vector<Value>> readSetInputs(const Artefact &artefact, const std::string &dir) {
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

static llvm::Error verifySet(Artefact &artefact, const Tolerance &tolerance, VerifySet &set) {
  llvm::Expected<std::vector<Value>> inputs = readSetInputs(artefact, set.folder);
  if (!inputs)
    return inputs.takeError();
  artefact.bind(*inputs);
  if (llvm::Error error = artefact.runOnce())
    return error;
  std::vector<Value> results = artefact.results();
  for (size_t i = 0; i < results.size(); ++i) {
    std::string path = member(set.folder, "output", i);
    if (!llvm::sys::fs::exists(path))
      continue;
    llvm::Expected<Value> want = readPb(path, artefact.outputs()[i].kind);
    if (!want)
      return want.takeError();
    if (std::string text = difference(*want, results[i], tolerance, &set.closeness); !text.empty())
      set.wrong.push_back("output '" + artefact.outputs()[i].name + "': " + text);
  }
  return llvm::Error::success();
}

// Every launch beside -O0, on a set's inputs or (dir empty) those that --input gives and random ones.
static llvm::Expected<LayerReport> verifyLayers(Artefact &artefact, const VerifyOptions &options, const std::string &dir) {
  Options plain = options.code;
  plain.optLevel = 0;
  auto reference = Artefact::open(options.model, plain, LoadOptions());
  if (!reference)
    return reference.takeError();
  llvm::Expected<std::vector<Value>> inputs = dir.empty() ? makeInputs(artefact, options.inputs) : readSetInputs(artefact, dir);
  if (!inputs)
    return inputs.takeError();
  if (dir.empty()) {
    if (llvm::Error error = firstRun(artefact, options.inputs, *inputs))
      return std::move(error);
    noteRandomInputs(artefact, options.inputs, *inputs);
  }
  return compareLayers(artefact, **reference, *inputs, options.tolerance);
}

static void printText(const VerifyReport &report) {
  if (report.layers)
    printLayers(*report.layers);
  for (const VerifySet &set : report.sets) {
    llvm::outs() << (set.wrong.empty() ? "pass " : "FAIL ") << set.folder;
    if (set.wrong.empty())
      llvm::outs() << " (" << set.closeness.text() << ")";
    llvm::outs() << "\n";
    for (const std::string &line : set.wrong)
      llvm::outs() << "  " << line << "\n";
  }
  if (!report.sets.empty())
    llvm::outs() << report.sets.size() - report.failed() << " passed, " << report.failed() << " failed\n";
  if (report.layersOfFirstSet && !report.sets.front().wrong.empty() && report.layers->compared && report.layers->differ.empty())
    llvm::outs() << "the optimised code does what -O0 does: look for the difference in the model or in the data\n";
}

// JSON has no infinities.
static llvm::json::Value toJson(double x) { return std::isfinite(x) ? llvm::json::Value(x) : "Infinity"; }

static llvm::json::Value toJson(const LayerReport &layers) {
  llvm::json::Array differ;
  for (const LayerDifference &d : layers.differ)
    differ.push_back(llvm::json::Object{{"node", llvm::json::fixUTF8(d.node)},
                                        {"op", d.op},
                                        {"kernel", d.kernel},
                                        {"type", d.type},
                                        {"off_by", toJson(d.largest)},
                                        {"largest_value", d.scale}});
  llvm::json::Array skipped;
  for (const LayerSkipped &s : layers.skipped)
    skipped.push_back(llvm::json::Object{{"node", llvm::json::fixUTF8(s.node)}, {"why", s.why}});
  return llvm::json::Object{{"results", int64_t(layers.results)},
                            {"compared", int64_t(layers.compared)},
                            {"not_compared", std::move(skipped)},
                            {"differ", std::move(differ)}};
}

static void printJson(const VerifyReport &report) {
  llvm::json::Array sets;
  for (const VerifySet &set : report.sets) {
    llvm::json::Array wrong;
    for (const std::string &line : set.wrong)
      wrong.push_back(llvm::json::fixUTF8(line));
    llvm::json::Object object{{"folder", llvm::json::fixUTF8(set.folder)}, {"differences", std::move(wrong)}};
    if (set.closeness.measured) {
      object["largest_difference"] = toJson(set.closeness.off);
      object["of_largest_value"] = toJson(set.closeness.relative());
    }
    sets.push_back(std::move(object));
  }
  int64_t failed = report.failed(), passed = report.sets.size() - failed;
  llvm::json::Object object{{"sets", std::move(sets)}, {"passed", passed}, {"failed", failed}};
  if (report.layers)
    object["layers"] = toJson(*report.layers);
  llvm::outs() << llvm::json::Value(std::move(object)) << "\n";
}

// Sums in another order and weights of 16 bits move a result by a part of the largest: elements near zero have no digits that agree.
static void fitTolerance(const CLI::App &app, const Artefact &artefact, Tolerance &tolerance) {
  tolerance.given = app.count("--rtol") || app.count("--atol");
  if (tolerance.given)
    return;
  tolerance.ofLargest = artefact.hasFlag("--precision bf16")  ? kBrainTolerance
                        : artefact.hasFlag("--precision f16") ? kHalfTolerance
                                                              : kFloatTolerance;
}

static void bindVerifyOptions(CLI::App &app, VerifyOptions &options) {
  bindArtefact(app, options.model, options.code);
  app.add_option("--data", options.folders, "folder of test data; default: the model's own (repeatable)")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--rtol", options.tolerance.rtol, "largest relative difference of floats")
      ->type_name("X")
      ->capture_default_str()
      ->check(notNegative());
  app.add_option("--atol", options.tolerance.atol,
                 "largest absolute difference of floats; without --rtol and --atol 0.0001 of an output's largest element is added, 0.03 "
                 "(0.004) with --precision bf16 (f16) and for outputs of that type")
      ->type_name("X")
      ->capture_default_str()
      ->check(notNegative());
  bindLoadOptions(app, options.load);
  app.add_flag("--layers", options.layers,
               "also compile with -O0 and compare what every kernel makes, on the first set or on random inputs; -g shows every node");
  bindInputOptions(app, options.inputs, "With --layers, instead of the first set");
  for (const char *flag : {"--input", "--symbol-size"})
    app.get_option(flag)->needs("--layers");
  app.add_flag("--json", options.code.json, "as JSON");
}

// The sets of the folders that are given, or else of the model's own.
static llvm::Expected<std::vector<VerifySet>> findSets(VerifyOptions &options) {
  bool given = !options.folders.empty();
  for (const std::string &folder : options.folders)
    if (!llvm::sys::fs::is_directory(folder))
      return failure(ExitBadModel, "--data: there is no folder '" + folder + "'");
  if (llvm::StringRef own = llvm::sys::path::parent_path(options.model); !given)
    options.folders.push_back(own.empty() ? "." : own.str());
  std::vector<VerifySet> sets;
  for (const std::string &folder : options.folders)
    for (const std::string &set : dataSets(folder))
      sets.push_back({set, {}, {}});
  if (sets.empty() && (given || !options.layers))
    return failure(ExitBadModel, "no test_data_set_* folder with output_0.pb in '" + llvm::join(options.folders, "', '") + "'" +
                                     (given ? "" : "; give one with --data"));
  return sets;
}

// Compares layers where that is asked for, then every set.
static llvm::Error verifyAll(Artefact &artefact, const VerifyOptions &options, VerifyReport &report) {
  report.layersOfFirstSet = options.layers && !report.sets.empty() && options.inputs.files.empty() && !options.inputs.saysSizes();
  if (options.layers) {
    llvm::Expected<LayerReport> layers = verifyLayers(artefact, options, report.layersOfFirstSet ? report.sets.front().folder : "");
    if (!layers)
      return layers.takeError();
    report.layers = std::move(*layers);
  }
  for (VerifySet &set : report.sets) {
    if (llvm::Error error = verifySet(artefact, options.tolerance, set))
      set.wrong.push_back(llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

int verifyMain(int argc, const char *const *argv) {
  CLI::App app("Compares a model's results with reference data in ONNX's form: DIR/test_data_set_*/input_N.pb and output_N.pb.",
               "onnxc verify");
  VerifyOptions options;
  bindVerifyOptions(app, options);
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  if (std::error_code error = llvm::sys::fs::access(options.model, llvm::sys::fs::AccessMode::Exist))
    return fail(ExitBadModel, options.model + ": cannot be read: " + error.message());
  if (llvm::sys::fs::is_directory(options.model))
    return fail(ExitBadModel, options.model + ": is a folder, not a file; test data is given with --data");
  if (options.layers && isLibrary(options.model))
    return fail(ExitUsage, "--layers compiles the model twice: give the .onnx file");
  VerifyReport report;
  llvm::Expected<std::vector<VerifySet>> sets = findSets(options);
  if (!sets)
    return onnxc::report(sets.takeError());
  report.sets = std::move(*sets);
  auto artefact = Artefact::open(options.model, options.code, options.load);
  if (!artefact)
    return onnxc::report(artefact.takeError());
  fitTolerance(app, **artefact, options.tolerance);
  if (llvm::Error error = verifyAll(**artefact, options, report))
    return onnxc::report(std::move(error));
  options.code.json ? printJson(report) : printText(report);
  if (report.sets.empty() && !report.layers->compared)
    return fail(ExitBadModel,
                "nothing was compared: --layers compares tensors of numbers that kernels make at both levels, the model has none; "
                "give test data with --data");
  return report.failed() || (report.layers && !report.layers->differ.empty()) ? ExitBadModel : ExitOk;
}

}  // namespace onnxc
