// Run.cpp: `onnxc run`: a model or an artefact on .npy (or .pb) files; results are printed, or written with --output-dir.
#include "compiler/CommandLine.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace onnxc {

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
  for (int64_t i = 0; i < shown; ++i)
    llvm::outs() << " " << elementText(v, i, 6);
  llvm::outs() << (shown < v.count() ? " …\n" : "\n");
}

// JSON has no infinities and no NaN.
static void writeNumber(llvm::json::OStream &json, double x) {
  std::isfinite(x) ? json.value(x) : json.value(std::isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

static void writeElement(llvm::json::OStream &json, const Value &v, int64_t i) {
  if (v.dtype == kStringCode)
    json.value(llvm::json::fixUTF8(v.strings[i]));
  else if (isInteger(v.dtype))
    json.rawValue(elementText(v, i, 0));
  else if (isComplex(v.dtype))
    json.array([&] {
      writeNumber(json, elementAsComplex(v, i).real());
      writeNumber(json, elementAsComplex(v, i).imag());
    });
  else
    writeNumber(json, elementAsDouble(v, i));
}

// The members of a result's object; elements in row-major order, complex ones as pairs.
static void writeMembers(llvm::json::OStream &json, const Value &v) {
  json.attribute("kind", kindName(v.kind));
  if (v.kind != Value::Tensor) {
    json.attributeArray("items", [&] {
      for (const Value &item : v.items)
        json.object([&] { writeMembers(json, item); });
    });
    return;
  }
  json.attribute("type", findDType(v.dtype)->name);
  json.attribute("shape", llvm::json::Array(v.dims));
  json.attributeArray("values", [&] {
    for (int64_t i = 0; i < v.count(); ++i)
      writeElement(json, v, i);
  });
}

static void printJson(const std::vector<Value> &results, const std::vector<Port> &ports) {
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attributeArray("outputs", [&] {
      for (size_t i = 0; i < results.size(); ++i)
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(ports[i].name));
          writeMembers(json, results[i]);
        });
    });
  });
  llvm::outs() << "\n";
}

static void printText(const std::vector<Value> &results, const std::vector<Port> &ports) {
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::outs() << ports[i].name << ": ";
    printValue(results[i], "");
  }
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

static llvm::Error writeResults(const std::string &dir, const std::vector<Value> &results, const std::vector<Port> &ports) {
  if (std::error_code error = llvm::sys::fs::create_directories(dir, true, llvm::sys::fs::all_all))
    return llvm::createStringError(error, "'" + dir + "': " + error.message());
  for (size_t i = 0; i < results.size(); ++i)
    if (llvm::Error error = writeResult(dir, ports[i].name, results[i]))
      return error;
  return llvm::Error::success();
}

int runMain(int argc, const char *const *argv) {
  CLI::App app("Runs a model, or a library made by onnxc, on .npy files (or ONNX .pb files). Inputs not given are random.", "onnxc run");
  std::string path, outputDir;
  InputOptions inputs;
  LoadOptions load;
  bool json = false;
  Options code;
  bindArtefact(app, path, code);
  bindInputOptions(app, inputs);
  app.add_option("-o,--output-dir", outputDir, "write every output to NAME.npy in this folder")->type_name("DIR");
  bindLoadOptions(app, load);
  app.add_flag("--json", json, "print every element as JSON");
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  code.json = json;
  if (llvm::sys::fs::exists(outputDir) && !llvm::sys::fs::is_directory(outputDir))
    return fail(ExitBadModel, "--output-dir '" + outputDir + "' is no folder");
  auto artefact = Artefact::open(path, code, load);
  if (!artefact)
    return report(artefact.takeError());
  llvm::Expected<std::vector<Value>> values = makeInputs(**artefact, inputs);
  if (!values)
    return report(values.takeError());
  if (llvm::Error error = firstRun(**artefact, inputs, *values))
    return report(std::move(error));
  noteRandomInputs(**artefact, inputs, *values);
  std::vector<Value> results = (*artefact)->results();
  (json ? printJson : printText)(results, (*artefact)->outputs());
  if (!outputDir.empty())
    if (llvm::Error error = writeResults(outputDir, results, (*artefact)->outputs()))
      return report(std::move(error));
  return ExitOk;
}

}  // namespace onnxc
