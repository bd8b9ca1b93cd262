// Inputs.cpp: see Inputs.h.
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Data.h"
#include "compiler/commands/LibraryFile.h"
#include "compiler/commands/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {

// A finished library cannot follow flags of the group "Code"; --device says where it runs.
static void refuseCodeFlags(const CLI::App &app, llvm::StringRef library) {
  for (const CLI::Option *option : app.get_options())
    if (option->get_group() == kCodeGroup && option->count() && option->get_name() != "--device")
      throw CLI::ValidationError(option->get_name() + " is for compiling; '" + library.str() + "' is compiled already");
}

void bindArtefact(CLI::App &app, std::string &path, Options &code) {
  app.add_option("model", path, "a .onnx model or a .so made by onnxc")->required()->type_name("MODEL_OR_ARTEFACT");
  bindCodeOptions(app, code);
  app.parse_complete_callback([&app, &path] {
    if (isLibrary(path))
      refuseCodeFlags(app, path);
  });
}

// "image=cat.npy" into `files`. What follows the first sign is the path, as for programs.
static void addFile(const std::string &text, std::map<std::string, std::string> &files) {
  auto [name, file] = llvm::StringRef(text).split('=');
  if (name.empty() || file.empty())
    throw CLI::ValidationError("--input", "expected NAME=FILE, got '" + text + "'");
  if (auto [known, isNew] = files.try_emplace(name.str(), file.str()); !isNew)
    throw CLI::ValidationError("--input", "'" + name.str() + "' is given twice: '" + known->second + "' and '" + file.str() + "'");
}

void bindInputOptions(CLI::App &app, InputOptions &options, const std::string &group) {
  CLI::Option *files = addRepeatable(
                           app, "-i,--input", [&options](const std::string &text) { addFile(text, options.files); },
                           "an input from a .npy or .pb file (repeatable); inputs not given are random")
                           ->type_name("NAME=FILE");
  CLI::Option *size = app.add_option("--symbol-size", options.symbolSize,
                                     "size of symbolic dimensions of random inputs (default: what --opt-shapes says, or 1)")
                          ->type_name("N")
                          ->check(notNegative());
  if (!group.empty())
    files->group(group), size->group(group);
}

void bindLoadOptions(CLI::App &app, LoadOptions &load) {
  app.add_option("--threads", load.threads, "threads; 0 = as many as the machine has")
      ->type_name("N")
      ->check(notNegative())
      ->capture_default_str();
  app.add_option("--weights", load.weights, "the file of a library's external weights, where it does not lie beside it")->type_name("FILE");
}

static bool isIndex(int32_t dtype) { return dtype == 6 || dtype == 7; }

// Replaces the value of the input `name`; an ExitCode after a message.
static std::optional<int> readInput(llvm::StringRef name, llvm::StringRef file, const std::vector<Port> &ports,
                                    std::vector<Value> &values) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (name != ports[i].name)
      continue;
    llvm::Expected<Value> v = file.ends_with(".pb") ? readPb(file, ports[i].kind) : readNpy(file, ports[i].dtype);
    if (!v)
      return fail(ExitBadModel, llvm::toString(v.takeError()));
    values[i] = std::move(*v);
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const Port &p : ports)
    names.push_back("'" + p.name + "'");
  return fail(ExitUsage, "no input '" + name + "' in the model; it has " + llvm::join(names, ", "));
}

// Sizes with a name are the same in all inputs: random ones take those of the inputs from files.
static void takeSizes(const std::vector<Port> &ports, const InputOptions &options, std::vector<Value> &values) {
  llvm::StringMap<int64_t> sizes;
  for (auto [port, value] : llvm::zip(ports, values))
    for (size_t d = 0; options.files.count(port.name) && d < std::min(port.symbols.size(), value.dims.size()); ++d)
      if (!port.symbols[d].empty())
        sizes.try_emplace(port.symbols[d], value.dims[d]);
  if (sizes.empty())
    return;
  for (size_t i = 0; i < ports.size(); ++i) {
    Value &value = values[i];
    if (options.files.count(ports[i].name) || value.absent || value.kind != Value::Tensor)
      continue;
    for (size_t d = 0; d < value.dims.size(); ++d)
      if (auto size = sizes.find(ports[i].symbols[d]); size != sizes.end())
        value.dims[d] = size->second;
    fillRandom(value, i + 1);
  }
}

std::optional<int> makeInputs(const Artefact &artefact, const InputOptions &options, std::vector<Value> &values) {
  values = randomInputs(artefact, [&](const SizeRange &range) { return options.symbolSize.value_or(range.usual()); });
  for (const auto &[name, file] : options.files)
    if (auto exit = readInput(name, file, artefact.inputs(), values))
      return exit;
  takeSizes(artefact.inputs(), options, values);
  return std::nullopt;
}

// Zeroes the integers that nobody gave; false when there are none.
static bool zeroIntegers(const Artefact &artefact, const InputOptions &options, std::vector<Value> &values) {
  bool some = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (options.files.count(artefact.inputs()[i].name) || values[i].kind != Value::Tensor || !isIndex(values[i].dtype))
      continue;
    std::fill(values[i].bytes.begin(), values[i].bytes.end(), 0);
    some = true;
  }
  return some;
}

static llvm::Error bindAndRun(Artefact &artefact, const std::vector<Value> &values) {
  artefact.bind(values);
  return artefact.runOnce();
}

llvm::Error firstRun(Artefact &artefact, const InputOptions &options, std::vector<Value> &values) {
  llvm::Error refused = bindAndRun(artefact, values);
  if (!refused || !zeroIntegers(artefact, options, values))
    return refused;
  if (llvm::Error error = bindAndRun(artefact, values)) {
    llvm::consumeError(std::move(error));
    return refused;
  }
  say("note", "", "random integers became zeros: " + llvm::toString(std::move(refused)));
  return llvm::Error::success();
}

}  // namespace onnxc
