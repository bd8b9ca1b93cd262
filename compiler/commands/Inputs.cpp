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

// "1", "height=320,width=240", or both into `options`.
static void addSizes(const std::string &text, InputOptions &options) {
  auto fail = [](const llvm::Twine &what) { throw CLI::ValidationError("--symbol-size", what.str()); };
  for (llvm::StringRef each : llvm::split(text, ',')) {
    auto [name, number] = each.contains('=') ? each.rsplit('=') : std::pair(llvm::StringRef(), each);
    std::string size = number.str();
    if (std::string wrong = wholeNumber()(size); !wrong.empty())
      fail(wrong);
    bool isNew = each.contains('=') ? options.namedSizes.try_emplace(name.str(), std::stoll(size)).second : !options.symbolSize;
    if (!isNew)
      fail((name.empty() ? "a size of all dimensions" : "'" + name.str() + "'") + " is given twice");
    if (!each.contains('='))
      options.symbolSize = std::stoll(size);
  }
}

void bindInputOptions(CLI::App &app, InputOptions &options, const std::string &group) {
  CLI::Option *files = addRepeatable(
                           app, "-i,--input", [&options](const std::string &text) { addFile(text, options.files); },
                           "an input from a .npy or .pb file (repeatable); inputs not given are random")
                           ->type_name("NAME=FILE");
  CLI::Option *size = app.add_option_function<std::string>(
                             "--symbol-size", [&options](const std::string &text) { addSizes(text, options); },
                             "size of symbolic dimensions of random inputs: of all, or of some, e.g. height=320,width=240 (default: what "
                             "--opt-shapes says, or 1)")
                          ->type_name("N|NAME=N,NAME=N");
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
  int64_t bytes = value.dtype == kStringCode ? sizeof(std::string) : type ? type->size : 1;
  if (llvm::is_contained(value.dims, 0))
    return 0;
  for (int64_t d : value.dims)
    if (__builtin_mul_overflow(bytes, d, &bytes))
      return std::nullopt;
  return bytes;
}

// A random value of the sizes `sizes`, of a map one entry; an error where this machine has no memory for it.
static llvm::Expected<Value> randomInput(const Port &port, size_t index, std::vector<int64_t> sizes) {
  Value value;
  value.kind = port.kind;
  value.dtype = port.dtype;
  value.absent = port.hasDefault;
  if (port.kind == Value::Map && !value.absent)
    for (int32_t dtype : {port.keyDtype, port.dtype}) {
      Value &column = value.items.emplace_back();
      column.dtype = dtype;
      column.dims = {1};
      fillRandom(column, index + 1);
    }
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

namespace {
// The sizes of random inputs: those of the inputs that files give, by name the same in all inputs, then those that flags say.
class Sizes {
public:
  // `values` holds the inputs that files give, by their places.
  template <typename Values>
  Sizes(const Artefact &artefact, const InputOptions &options, const Values &values) : options(options) {
    for (auto [i, port] : llvm::enumerate(artefact.inputs()))
      if (options.files.count(port.name))
        for (size_t d = 0; d < std::min(port.symbols.size(), values.at(i).dims.size()); ++d)
          if (!port.symbols[d].empty())
            known.try_emplace(port.symbols[d], values.at(i).dims[d]);
  }
  int64_t of(const Port &port, size_t d) const {
    if (std::optional<int64_t> size = given(port, d))
      return *size;
    return port.ranges[d].nearestTo1();
  }
  // Nothing where neither the model nor the user says it.
  std::optional<int64_t> given(const Port &port, size_t d) const {
    if (port.dims[d] >= 0)
      return port.dims[d];
    if (auto found = known.find(port.symbols[d]); found != known.end())
      return found->second;
    if (auto found = options.namedSizes.find(port.symbols[d]); found != options.namedSizes.end())
      return found->second;
    if (options.symbolSize && !options.smallest)
      return options.symbolSize;
    bool isExpected = port.ranges[d].expected >= 0 && !options.smallest;
    return isExpected ? std::optional(port.ranges[d].expected) : std::nullopt;
  }

private:
  const InputOptions &options;
  llvm::StringMap<int64_t> known;
};
}  // namespace

// A size for a name that no input has is most likely a typing error.
static llvm::Error checkNames(const std::vector<Port> &ports, const InputOptions &options) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    for (const std::string &symbol : port.symbols)
      if (!symbol.empty() && !llvm::is_contained(names, symbol))
        names.push_back(symbol);
  for (const auto &[name, size] : options.namedSizes)
    if (!llvm::is_contained(names, name))
      return failure(ExitUsage, "--symbol-size: no input has a symbolic size '" + name + "'" + didYouMean(name, names) +
                                    (names.empty() ? "; the model has none with a name" : "; there are: " + llvm::join(names, ", ")));
  return llvm::Error::success();
}

llvm::Expected<std::vector<Value>> makeInputs(const Artefact &artefact, const InputOptions &options) {
  const std::vector<Port> &ports = artefact.inputs();
  llvm::Expected<std::map<size_t, Value>> given = readInputs(ports, options);
  if (!given)
    return given.takeError();
  if (llvm::Error error = checkNames(ports, options))
    return std::move(error);
  Sizes sizes(artefact, options, *given);
  std::vector<Value> values;
  for (auto [i, port] : llvm::enumerate(ports)) {
    if (auto found = given->find(i); found != given->end()) {
      values.push_back(std::move(found->second));
      continue;
    }
    std::vector<int64_t> dims;
    for (size_t d = 0; d < port.dims.size(); ++d)
      dims.push_back(sizes.of(port, d));
    llvm::Expected<Value> value = randomInput(port, i, std::move(dims));
    if (!value)
      return value.takeError();
    values.push_back(std::move(*value));
  }
  return values;
}

// "a, b and 7 more"
static std::string listed(llvm::ArrayRef<std::string> words) {
  constexpr size_t shown = 6;
  std::string text = llvm::join(words.take_front(shown), ", ");
  return words.size() > shown ? text + " and " + std::to_string(words.size() - shown) + " more" : text;
}

std::string randomInputs(const Artefact &artefact, const InputOptions &options, const std::vector<Value> &values) {
  Sizes sizes(artefact, options, values);
  std::vector<std::string> inputs, assumed;
  for (auto [port, value] : llvm::zip(artefact.inputs(), values)) {
    if (options.files.count(port.name) || value.absent)
      continue;
    inputs.push_back(port.name + " " + value.type());
    for (size_t d = 0; d < std::min(port.dims.size(), value.dims.size()); ++d) {
      std::string size = port.symbols[d].empty() ? "dim " + std::to_string(d) + " of " + port.name : port.symbols[d];
      size += " = " + std::to_string(value.dims[d]);
      if (!sizes.given(port, d) && !llvm::is_contained(assumed, size))
        assumed.push_back(size);
    }
  }
  return listed(inputs) + (assumed.empty() ? "" : "; sizes that were not given: " + listed(assumed));
}

void noteRandomInputs(const Artefact &artefact, const InputOptions &options, const std::vector<Value> &values) {
  if (std::string random = randomInputs(artefact, options, values); !random.empty())
    say("note", "", "random inputs: " + random);
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
  if (!refused)
    return refused;
  std::string random = randomInputs(artefact, options, values);
  llvm::Error again = zeroIntegers(artefact, options, values) ? bindAndRun(artefact, values) : failure(ExitBadModel, "");
  if (llvm::errorToBool(std::move(again)))
    return random.empty() || options.smallest ? std::move(refused)
                                              : failure(ExitBadModel, llvm::toString(std::move(refused)) + "; random inputs: " + random +
                                                                          "; --input gives values, --symbol-size sizes");
  say("note", "", "random integers became zeros: " + llvm::toString(std::move(refused)));
  return llvm::Error::success();
}

}  // namespace onnxc
