// Inputs.cpp: see Inputs.h.
#include "compiler/commands/Inputs.h"
#include "compiler/Suggest.h"
#include "compiler/commands/Data.h"
#include "compiler/commands/LibraryFile.h"
#include "compiler/commands/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

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
                          ->check(wholeNumber());
  if (!group.empty())
    files->group(group), size->group(group);
}

void bindLoadOptions(CLI::App &app, LoadOptions &load) {
  app.add_option("--threads", load.threads, "threads; 0 = as many as the machine has")
      ->type_name("N")
      ->check(wholeNumber(INT32_MAX))
      ->capture_default_str();
  app.add_option("--weights", load.weights, "the file of a library's external weights, where it does not lie beside it")->type_name("FILE");
}

static bool isIndex(int32_t dtype) { return dtype == 6 || dtype == 7; }

static llvm::Expected<Value> readInput(llvm::StringRef file, const Port &port) {
  return file.ends_with(".pb") ? readPb(file, port.kind) : readNpy(file, port.dtype);
}

// The inputs that files are given for, by their places.
static llvm::Expected<std::map<size_t, Value>> readInputs(const std::vector<Port> &ports, const InputOptions &options) {
  std::map<size_t, Value> values;
  for (const auto &[name, file] : options.files) {
    auto port = llvm::find_if(ports, [&, &name = name](const Port &p) { return p.name == name; });
    if (port == ports.end()) {
      std::vector<std::string> names;
      for (const Port &p : ports)
        names.push_back(p.name);
      return failure(ExitUsage, "no input '" + name + "' in the model" + didYouMean(name, names) + "; it has " +
                                    (names.empty() ? "none" : "'" + llvm::join(names, "', '") + "'"));
    }
    llvm::Expected<Value> value = readInput(file, *port);
    if (!value)
      return value.takeError();
    values[port - ports.begin()] = std::move(*value);
  }
  return values;
}

// The bytes of a value's elements; nothing where they are more than a number holds.
static std::optional<int64_t> bytesOf(const Value &value) {
  const DType *type = findDType(value.dtype);
  int64_t bytes = value.dtype == StringCode ? sizeof(std::string) : type ? type->size : 1;
  if (llvm::is_contained(value.dims, 0))
    return 0;
  for (int64_t d : value.dims)
    if (__builtin_mul_overflow(bytes, d, &bytes))
      return std::nullopt;
  return bytes;
}

// A random value of the sizes `sizes`; an error where this machine has no memory for it.
static llvm::Expected<Value> randomInput(const Port &port, size_t index, std::vector<int64_t> sizes) {
  Value value;
  value.kind = port.kind;
  value.dtype = port.dtype;
  value.absent = port.hasDefault;
  if (port.kind != Value::Tensor || value.absent)
    return value;
  value.dims = std::move(sizes);
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::optional<int64_t> bytes = bytesOf(value);
  if (!bytes || *bytes > memory)
    return failure(ExitBadModel, "random input '" + port.name + "', " + value.type() + ", takes " +
                                     (bytes ? std::to_string(*bytes) : "2^63 or more") + " bytes; this machine has " +
                                     std::to_string(memory) + " bytes of memory");
  fillRandom(value, index + 1);
  return value;
}

llvm::Expected<std::vector<Value>> makeInputs(const Artefact &artefact, const InputOptions &options) {
  const std::vector<Port> &ports = artefact.inputs();
  llvm::Expected<std::map<size_t, Value>> given = readInputs(ports, options);
  if (!given)
    return given.takeError();
  llvm::StringMap<int64_t> sizes;  // by name: the same in all inputs
  for (const auto &[i, value] : *given)
    for (size_t d = 0; d < std::min(ports[i].symbols.size(), value.dims.size()); ++d)
      if (!ports[i].symbols[d].empty())
        sizes.try_emplace(ports[i].symbols[d], value.dims[d]);
  auto sizeOf = [&](const Port &port, size_t d) {
    if (port.dims[d] >= 0)
      return port.dims[d];
    if (auto known = sizes.find(port.symbols[d]); known != sizes.end())
      return known->second;
    return options.smallest ? port.ranges[d].nearestTo1() : options.symbolSize.value_or(port.ranges[d].usual());
  };
  std::vector<Value> values;
  for (auto [i, port] : llvm::enumerate(ports)) {
    if (auto found = given->find(i); found != given->end()) {
      values.push_back(std::move(found->second));
      continue;
    }
    std::vector<int64_t> dims;
    for (size_t d = 0; d < port.dims.size(); ++d)
      dims.push_back(sizeOf(port, d));
    llvm::Expected<Value> value = randomInput(port, i, std::move(dims));
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
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
