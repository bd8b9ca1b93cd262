// Inspect.cpp: `onnxc inspect` (facts of a model or an artefact) and `onnxc check` (what onnxc cannot compile in a model).
#include "compiler/CommandLine.h"
#include "compiler/Pipeline.h"
#include "compiler/commands/Artefact.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Inputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {

// `described`: what the artefact's own JSON says of them, or null.
static void writePorts(llvm::json::OStream &json, llvm::StringRef key, const std::vector<Port> &ports, const llvm::json::Array *described) {
  json.attributeArray(key, [&] {
    for (const auto &[i, p] : llvm::enumerate(ports))
      json.object([&, i = i, &p = p] {
        const DType *type = findDType(p.dtype);
        json.attribute("name", p.name);
        json.attribute("kind", kindName(p.kind));
        json.attribute("type", type ? type->name : "?");
        json.attributeArray("shape", [&] {
          for (size_t d = 0; d < p.dims.size(); ++d)
            p.dims[d] >= 0 ? json.value(p.dims[d]) : p.symbols[d].empty() ? json.value(nullptr) : json.value(p.symbols[d]);
        });
        if (p.hasDefault)
          json.attribute("has_default", true);
        const llvm::json::Object *own = described && i < described->size() ? (*described)[i].getAsObject() : nullptr;
        if (const llvm::json::Array *keys = own ? own->getArray("keys") : nullptr)
          json.attribute("keys", llvm::json::Array(*keys));
      });
  });
}

static void printJson(const Artefact &artefact) {
  llvm::json::OStream json(llvm::outs(), 1);
  llvm::Expected<llvm::json::Value> own = llvm::json::parse(artefact.json());
  llvm::json::Object *model = own ? own->getAsObject() : nullptr;
  json.object([&] {
    writePorts(json, "inputs", artefact.inputs(), nullptr);
    writePorts(json, "outputs", artefact.outputs(), model ? model->getArray("outputs") : nullptr);
    json.attribute("file_bytes", artefact.fileBytes());
    json.attribute("weight_bytes", artefact.weightBytes());
    if (std::string file = artefact.weightsFile(); !file.empty())
      json.attribute("weights_file", llvm::json::fixUTF8(file));
    json.attribute("arena_bytes", artefact.arenaBytes());
    json.attribute("reserved_bytes", artefact.reservedBytes());
    if (!model) {
      llvm::consumeError(own.takeError());
      return;
    }
    for (const char *shownAbove : {"inputs", "outputs"})
      model->erase(shownAbove);
    json.attribute("model", std::move(*model));
  });
  llvm::outs() << "\n";
}

static void printPorts(llvm::StringRef title, const std::vector<Port> &ports) {
  for (const Port &p : ports) {
    llvm::outs() << llvm::left_justify(title, 10) << p.name << "  " << p.type() << (p.hasDefault ? ", has a default" : "") << "\n";
    title = "";
  }
}

// "sizes     batch 1 to 16, mostly 8", a line for each symbol of which flags said something.
static void printRanges(const std::vector<Port> &inputs) {
  llvm::StringRef title = "sizes";
  llvm::StringSet<> shown;
  for (const Port &p : inputs)
    for (size_t d = 0; d < p.ranges.size(); ++d) {
      const SizeRange &range = p.ranges[d];
      std::string name = p.symbols[d].empty() ? "dim " + std::to_string(d) + " of " + p.name : p.symbols[d];
      if (!range.isSaid() || !shown.insert(name).second)
        continue;
      llvm::outs() << llvm::left_justify(title, 10) << name << " " << range.least;
      range.most == INT64_MAX ? llvm::outs() << " or more" : llvm::outs() << " to " << range.most;
      if (range.expected >= 0)
        llvm::outs() << ", mostly " << range.expected;
      llvm::outs() << "\n";
      title = "";
    }
}

// At which sizes a run on the smallest shapes is.
static llvm::StringRef smallestSizes(const Artefact &artefact) {
  bool hasSymbols = llvm::any_of(artefact.inputs(), [](const Port &p) { return p.rank < 0 || llvm::is_contained(p.dims, -1); });
  bool hasRanges =
      llvm::any_of(artefact.inputs(), [](const Port &p) { return llvm::any_of(p.ranges, [](auto &r) { return r.isSaid(); }); });
  return hasRanges ? " at the smallest sizes" : hasSymbols ? " when symbolic dims are 1" : "";
}

// Memory that a context takes when it is made, or else what a run on the smallest shapes takes.
static void printMemory(const Artefact &artefact, bool ran) {
  llvm::Expected<llvm::json::Value> own = llvm::json::parse(artefact.json());
  const llvm::json::Object *model = own ? own->getAsObject() : nullptr;
  if (std::optional<int64_t> results = model && artefact.canRun() ? model->getInteger("reserved_result_bytes") : std::nullopt)
    llvm::outs() << "memory    " << artefact.reservedBytes() << " bytes beside the weights, and " << *results
                 << " of results, for the largest sizes, taken with the context\n";
  else if (ran && artefact.arenaBytes() >= 0)
    llvm::outs() << "memory    " << artefact.arenaBytes() << " bytes beside the weights" << smallestSizes(artefact) << "\n";
  if (!own)
    llvm::consumeError(own.takeError());
}

// Lines from what the artefact says of itself.
static void printOrigin(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  const llvm::json::Object *own = parsed ? parsed->getAsObject() : nullptr;
  if (!own) {
    llvm::consumeError(parsed.takeError());
    return;
  }
  auto words = [&](llvm::StringRef key) {
    std::string line;
    if (const llvm::json::Array *list = own->getArray(key))
      for (const llvm::json::Value &v : *list)
        line += (line.empty() ? "" : ", ") + v.getAsString().value_or("").str();
    return line;
  };
  auto word = [&](llvm::StringRef key) { return own->getString(key).value_or("").str(); };
  llvm::outs() << "model     " << word("model_name") << ", opset " << own->getInteger("opset").value_or(0) << ", IR "
               << own->getInteger("ir_version").value_or(0);
  if (std::string producer = word("producer"); !producer.empty())
    llvm::outs() << ", made by " << producer;
  llvm::outs() << "\n          " << word("model_hash") << "\n";
  llvm::outs() << "compiled  by " << word("compiler") << " for " << words("isas") << "; " << words("flags") << "\n";
  if (const llvm::json::Object *metadata = own->getObject("metadata"))
    for (const auto &[key, value] : *metadata)
      llvm::outs() << "metadata  " << key.str() << ": " << value.getAsString().value_or("") << "\n";
}

static void printSizes(const Artefact &artefact) {
  llvm::outs() << "library   " << artefact.fileBytes() << " bytes";
  if (std::string file = artefact.weightsFile(); !file.empty())
    llvm::outs() << "\nweights   " << artefact.weightBytes() << " bytes in '" << file << "'\n";
  else
    llvm::outs() << ", of which weights " << artefact.weightBytes() << "\n";
}

int inspectMain(int argc, const char *const *argv) {
  CLI::App app("Prints inputs, outputs, memory and origin of a model (compiled on the way) or of a library made by onnxc.",
               "onnxc inspect");
  std::string path;
  bool json = false;
  Options code;
  bindArtefact(app, path, code);
  app.add_flag("--json", json, "as JSON");
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  code.json = json;
  LoadOptions load;
  load.mayLackWeights = true;
  auto artefact = Artefact::open(path, code, load);
  if (!artefact)
    return report(artefact.takeError());
  // One run on inputs of the smallest shapes shows the arena; a model that refuses them has no figure.
  InputOptions inputs;
  inputs.smallest = true;
  llvm::Expected<std::vector<Value>> values = makeInputs(**artefact, inputs);
  bool ran = values && (*artefact)->canRun() && !llvm::errorToBool(firstRun(**artefact, inputs, *values));
  if (!values)
    llvm::consumeError(values.takeError());
  if (json) {
    printJson(**artefact);
    return ExitOk;
  }
  printPorts("inputs", (*artefact)->inputs());
  printPorts("outputs", (*artefact)->outputs());
  printRanges((*artefact)->inputs());
  printSizes(**artefact);
  printMemory(**artefact, ran);
  printOrigin((*artefact)->json());
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
