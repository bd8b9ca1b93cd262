// Describe.cpp: see Describe.h.
#include "compiler/Describe.h"
#include "codegen/cpu/Isa.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace onnxc {

std::vector<std::string> codeFlags(const Options &options) {
  std::vector<std::string> flags{"-O" + std::to_string(options.optLevel)};
  if (options.taps)
    flags.push_back("-g");
  if (!options.winograd)
    flags.push_back("--no-winograd");
  for (const auto &[name, size] : options.defineDims)
    flags.push_back("--define-dim " + name + "=" + std::to_string(size));
  for (const auto &[name, library] : options.customOps)
    flags.push_back("--custom-op " + name);
  if (options.defaultInputs != DefaultInputs::Data)
    flags.push_back(options.defaultInputs == DefaultInputs::All ? "--default-inputs all" : "--default-inputs none");
  if (!options.schedules.empty())
    flags.push_back("--schedules");
  if (const Target *target = findTarget(options.target); target != findTarget(""))
    flags.push_back("--target " + target->name.str());
  for (const auto &[level, cpu] : options.tune)
    flags.push_back("--cpu " + cpu);
  return flags;
}

// BLAKE3 of the model's file, read in pieces so that it takes no memory; data outside the file is not looked at.
static std::string modelHash(StringRef path) {
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  auto close = llvm::make_scope_exit([&] { (void)llvm::sys::fs::closeFile(*file); });
  llvm::BLAKE3 hash;
  std::vector<char> piece(1 << 20);
  while (true) {
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFile(*file, piece);
    if (!count) {
      llvm::consumeError(count.takeError());
      return "";
    }
    if (*count == 0)
      break;
    hash.update(StringRef(piece.data(), *count));
  }
  return "blake3:" + llvm::toHex(hash.final(), /*LowerCase=*/true);
}

static llvm::json::Array strings(ArrayRef<std::string> list) {
  llvm::json::Array array;
  for (const std::string &s : list)
    array.push_back(llvm::json::fixUTF8(s));
  return array;
}

std::string describeModel(ModuleOp module, const Options &options) {
  llvm::json::Object o{{"compiler", "onnxc " ONNXC_VERSION}, {"flags", strings(codeFlags(options))}, {"isas", strings(options.cpus)}};
  if (std::string hash = modelHash(options.input); !hash.empty())
    o["model_hash"] = hash;
  for (StringRef key : {"onnx.opset", "onnx.ir_version"})
    if (auto a = module->getAttrOfType<IntegerAttr>(key))
      o[key.drop_front(5)] = a.getInt();
  for (StringRef key : {"onnx.producer", "onnx.model_name", "onnx.domain"})
    if (auto a = module->getAttrOfType<StringAttr>(key))
      o[key.drop_front(5)] = llvm::json::fixUTF8(a.getValue());
  if (auto metadata = module->getAttrOfType<DictionaryAttr>("onnx.metadata")) {
    llvm::json::Object m;
    for (NamedAttribute a : metadata)
      if (auto s = dyn_cast<StringAttr>(a.getValue()))
        m[llvm::json::fixUTF8(a.getName().getValue())] = llvm::json::fixUTF8(s.getValue());
    o["metadata"] = std::move(m);
  }
  for (StringRef key : {"onnxc.arena_bytes", "onnxc.weights_bytes"})
    if (auto a = module->getAttrOfType<IntegerAttr>(key))
      o[key.drop_front(6)] = a.getInt();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(o));
  return text;
}

}  // namespace onnxc
