// Inspect.cpp: `onnxc inspect` (facts of a model or an artefact) and `onnxc check` (what onnxc cannot compile in a model).
#include "compiler/CommandLine.h"
#include "compiler/Pipeline.h"
#include "compiler/commands/Artefact.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/LibraryFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {

// What is told of: the library, what it says of itself, and where this machine can load it, itself.
namespace {
struct Inspected {
  std::string path;  // of the library
  llvm::json::Object description;
  std::unique_ptr<Artefact> artefact;
  bool ran = false;     // on inputs of the smallest sizes
  std::string refused;  // or else why not

  int64_t fileBytes() const {
    uint64_t size = 0;
    return llvm::sys::fs::file_size(path, size) ? -1 : int64_t(size);
  }
  int64_t weightBytes() const { return description.getInteger("weights_bytes").value_or(0); }
  // That holds the weights; "": the library.
  std::string weightsFile() const { return description.getString("weights") == "external" ? path + ".weights" : ""; }
  int64_t arenaBytes() const { return artefact ? artefact->arenaBytes() : -1; }
  int64_t reservedBytes() const { return artefact ? artefact->reservedBytes() : -1; }
};
}  // namespace

// The objects of an array.
static std::vector<const llvm::json::Object *> objects(const llvm::json::Object &of, llvm::StringRef key) {
  std::vector<const llvm::json::Object *> list;
  if (const llvm::json::Array *array = of.getArray(key))
    for (const llvm::json::Value &value : *array)
      if (const llvm::json::Object *object = value.getAsObject())
        list.push_back(object);
  return list;
}

static void printJson(Inspected &library) {
  llvm::json::OStream json(llvm::outs(), 1);
  json.object([&] {
    for (const char *key : {"inputs", "outputs"})
      if (llvm::json::Value *ports = library.description.get(key)) {
        json.attribute(key, *ports);
        library.description.erase(key);
      }
    json.attribute("file_bytes", library.fileBytes());
    json.attribute("weight_bytes", library.weightBytes());
    if (std::string file = library.weightsFile(); !file.empty())
      json.attribute("weights_file", llvm::json::fixUTF8(file));
    json.attribute("arena_bytes", library.arenaBytes());
    json.attribute("reserved_bytes", library.reservedBytes());
    json.attribute("model", std::move(library.description));
  });
  llvm::outs() << "\n";
}

// "sequence of float32[batch,3]"
static std::string typeText(const llvm::json::Object &port) {
  Value::Kind kind = Value::Tensor;
  for (Value::Kind k : {Value::Sequence, Value::Optional, Value::Map})
    if (port.getString("kind") == kindName(k))
      kind = k;
  std::optional<std::vector<std::string>> sizes;
  if (const llvm::json::Array *shape = port.getArray("shape")) {
    sizes.emplace();
    for (const llvm::json::Value &size : *shape)
      sizes->push_back(size.getAsInteger() ? std::to_string(*size.getAsInteger()) : size.getAsString().value_or("?").str());
  }
  llvm::StringRef type = port.getString("type").value_or("?");
  std::optional<llvm::StringRef> key = port.getString("key_type");
  return kind == Value::Map && key ? ("map of " + *key + " to " + type).str() : portType(kind, type, sizes);
}

static void printPorts(llvm::StringRef title, const llvm::json::Object &description) {
  llvm::StringRef key = title;
  for (const llvm::json::Object *port : objects(description, key)) {
    llvm::outs() << llvm::left_justify(title, 10) << port->getString("name").value_or("") << "  " << typeText(*port)
                 << (port->getBoolean("has_default").value_or(false) ? ", has a default" : "") << "\n";
    title = "";
  }
}

// Whether flags of the compile said something of a symbol.
static bool hasRange(const llvm::json::Object &symbol) {
  return llvm::any_of(llvm::ArrayRef{"min", "opt", "max"}, [&](const char *key) { return symbol.get(key) != nullptr; });
}

// "sizes     batch 1 to 16, mostly 8", a line for each symbol of which flags said something.
static void printRanges(const llvm::json::Object &description) {
  llvm::StringRef title = "sizes";
  for (const llvm::json::Object *symbol : objects(description, "symbols")) {
    if (!hasRange(*symbol))
      continue;
    std::optional<int64_t> least = symbol->getInteger("min"), expected = symbol->getInteger("opt"), most = symbol->getInteger("max");
    llvm::outs() << llvm::left_justify(title, 10);
    if (std::optional<llvm::StringRef> name = symbol->getString("name"))
      llvm::outs() << *name;
    else
      llvm::outs() << "dim " << symbol->getInteger("dim").value_or(0) << " of " << symbol->getString("input").value_or("");
    llvm::outs() << " " << least.value_or(0);
    most ? llvm::outs() << " to " << *most : llvm::outs() << " or more";
    if (expected)
      llvm::outs() << ", mostly " << *expected;
    llvm::outs() << "\n";
    title = "";
  }
}

// At which sizes a run on the smallest shapes is.
static llvm::StringRef smallestSizes(const llvm::json::Object &description) {
  bool hasRanges = false, hasSymbols = false;
  for (const llvm::json::Object *symbol : objects(description, "symbols"))
    hasRanges |= hasRange(*symbol);
  for (const llvm::json::Object *input : objects(description, "inputs")) {
    const llvm::json::Array *shape = input->getArray("shape");
    hasSymbols |= !shape || !llvm::all_of(*shape, [](const llvm::json::Value &size) { return size.getAsInteger().has_value(); });
  }
  return hasRanges ? " at the smallest sizes" : hasSymbols ? " when symbolic dims are 1" : "";
}

// Memory that a context takes when it is made, or else what a run on the smallest shapes takes.
static void printMemory(const Inspected &library) {
  std::optional<int64_t> results = library.description.getInteger("reserved_result_bytes");
  if (!library.artefact)
    llvm::outs() << "memory    is known where the library runs: " << otherTarget(library.path) << "\n";
  else if (results && library.artefact->canRun())
    llvm::outs() << "memory    " << library.reservedBytes() << " bytes beside the weights, and " << *results
                 << " of results, for the largest sizes, taken with the context\n";
  else if (library.ran && library.arenaBytes() >= 0)
    llvm::outs() << "memory    " << library.arenaBytes() << " bytes beside the weights" << smallestSizes(library.description) << "\n";
  else if (!library.refused.empty())
    llvm::outs() << "memory    is not known: a run" << smallestSizes(library.description) << " fails: " << library.refused
                 << (smallestSizes(library.description).empty() ? "" : "; compiled with --max-shapes, it is known for the largest sizes")
                 << "\n";
}

// "opset 17", "opset 17, ai.onnx.ml 3", "ai.onnx.ml 1"
static std::string opsetText(const llvm::json::Object &own) {
  std::string text = own.getInteger("opset").value_or(0) ? "opset " + std::to_string(*own.getInteger("opset")) : "";
  if (const llvm::json::Object *opsets = own.getObject("opsets"))
    for (const auto &[domain, version] : *opsets)
      if (domain != "ai.onnx")
        text += (text.empty() ? "" : ", ") + domain.str() + " " + std::to_string(version.getAsInteger().value_or(0));
  return text;
}

static void printOrigin(const llvm::json::Object &own) {
  auto words = [&](llvm::StringRef key) {
    std::string line;
    if (const llvm::json::Array *list = own.getArray(key))
      for (const llvm::json::Value &v : *list)
        line += (line.empty() ? "" : ", ") + v.getAsString().value_or("").str();
    return line;
  };
  auto word = [&](llvm::StringRef key) { return own.getString(key).value_or("").str(); };
  llvm::outs() << "model     " << word("model_name") << ", " << opsetText(own) << ", IR " << own.getInteger("ir_version").value_or(0);
  if (std::string producer = word("producer"); !producer.empty())
    llvm::outs() << ", made by " << producer;
  llvm::outs() << "\n          " << word("model_hash") << "\n";
  llvm::outs() << "compiled  by " << word("compiler") << " for " << words("isas") << "; " << words("flags") << "\n";
  if (const llvm::json::Object *metadata = own.getObject("metadata"))
    for (const auto &[key, value] : *metadata)
      llvm::outs() << "metadata  " << key.str() << ": " << value.getAsString().value_or("") << "\n";
}

static void printSizes(const Inspected &library) {
  llvm::outs() << "library   " << library.fileBytes() << " bytes";
  if (std::string file = library.weightsFile(); !file.empty())
    llvm::outs() << "\nweights   " << library.weightBytes() << " bytes in '" << file << "'\n";
  else
    llvm::outs() << ", of which weights " << library.weightBytes() << "\n";
}

// Loads the library, or the model as one, where this machine can, and runs it once.
static llvm::Error load(const std::string &path, const Options &code, Inspected &library) {
  if (isLibrary(path) && !otherTarget(path).empty()) {
    library.path = path;
    return readDescription(path, path).moveInto(library.description);
  }
  LoadOptions options;
  options.mayLackWeights = true;
  if (llvm::Error error = Artefact::open(path, code, options).moveInto(library.artefact))
    return error;
  library.path = library.artefact->path();
  library.description = library.artefact->description();
  // Inputs of the smallest shapes show the arena; a model that refuses them has no figure.
  InputOptions inputs;
  inputs.smallest = true;
  llvm::Expected<std::vector<Value>> values = makeInputs(*library.artefact, inputs);
  if (!values)
    library.refused = llvm::toString(values.takeError());
  else if (!library.artefact->canRun())
    return llvm::Error::success();
  else if (llvm::Error error = firstRun(*library.artefact, inputs, *values))
    library.refused = llvm::toString(std::move(error));
  else
    library.ran = true;
  return llvm::Error::success();
}

int inspectMain(int argc, const char *const *argv) {
  CLI::App app(
      "Prints inputs, outputs, memory and origin of a model (compiled on the way) or of a library made by onnxc, for whatever machine.",
      "onnxc inspect");
  std::string path;
  bool json = false;
  Options code;
  bindArtefact(app, path, code);
  app.add_flag("--json", json, "as JSON");
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  code.json = json;
  Inspected library;
  if (llvm::Error error = load(path, code, library))
    return report(std::move(error));
  if (json) {
    printJson(library);
    return ExitOk;
  }
  printPorts("inputs", library.description);
  printPorts("outputs", library.description);
  printRanges(library.description);
  printSizes(library);
  printMemory(library);
  printOrigin(library.description);
  return ExitOk;
}

int checkMain(int argc, const char *const *argv) {
  CLI::App app("Lists every node of a model that onnxc cannot compile: its name, operator, opset, the reason and what to do.",
               "onnxc check");
  Options options;
  app.add_option("model", options.input, "the ONNX model")->required()->type_name("MODEL.onnx");
  app.add_flag("--json", options.json, "as JSON lines");
  bindCodeOptions(app, options);
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  int exit = check(options);
  if (exit == ExitOk && options.json)
    say("note", options.input, "onnxc compiles every node");
  else if (exit == ExitOk)
    llvm::outs() << options.input << ": onnxc compiles every node\n";
  return exit;
}

}  // namespace onnxc
