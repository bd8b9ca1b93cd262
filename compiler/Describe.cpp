// Describe.cpp: see Describe.h.
#include "compiler/Describe.h"
#include "codegen/cpu/Isa.h"
#include "compiler/DType.h"
#include "compiler/ModelHash.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace onnxc {

std::vector<std::string> codeFlags(const Options &options) {
  std::vector<std::string> flags{"-O" + std::to_string(options.optLevel)};
  if (options.taps)
    flags.push_back("-g");
  if (!options.winograd)
    flags.push_back("--no-winograd");
  if (options.precision != "f32" && options.optLevel > 0)
    flags.push_back("--precision " + options.precision);
  for (const auto &[name, size] : options.defineDims)
    flags.push_back("--define-dim " + name + "=" + std::to_string(size));
  for (ShapeFlag flag : {MinShapes, OptShapes, MaxShapes})
    for (const auto &[input, sizes] : options.shapes[flag])
      flags.push_back(std::string(kShapeFlags[flag]) + " " + input + "=" + shapeText(sizes));
  for (const auto &[name, library] : options.customOps)
    flags.push_back("--custom-op " + name);
  if (options.defaultInputs != DefaultInputs::Data)
    flags.push_back(options.defaultInputs == DefaultInputs::All ? "--default-inputs all" : "--default-inputs none");
  if (options.externalWeights)
    flags.push_back("--weights external");
  if (!options.schedules.empty())
    flags.push_back("--schedules");
  if (const Target *target = findTarget(options.target); target != findTarget(""))
    flags.push_back("--target " + target->name.str());
  for (const auto &[level, cpu] : options.tune)
    flags.push_back("--cpu " + cpu);
  return flags;
}

static llvm::json::Array strings(ArrayRef<std::string> list) {
  llvm::json::Array array;
  for (const std::string &s : list)
    array.push_back(llvm::json::fixUTF8(s));
  return array;
}

// The keys of an output's maps, each of which has all of them; nothing where texts are not UTF-8.
static std::optional<llvm::json::Array> describeKeys(Attribute keys) {
  llvm::json::Array list;
  if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(keys))
    for (int64_t key : numbers.asArrayRef())
      list.push_back(key);
  if (auto texts = dyn_cast_or_null<ArrayAttr>(keys))
    for (StringRef key : texts.getAsValueRange<StringAttr>()) {
      if (!llvm::json::isUTF8(key))
        return std::nullopt;
      list.push_back(key);
    }
  return list.empty() ? std::nullopt : std::optional(std::move(list));
}

// What `onnxc inspect --json` says of an input or output: the names of sizes, null for those that only a run knows and for any rank.
static llvm::json::Object describePort(DictionaryAttr port, ArrayRef<Attribute> symbols, bool input) {
  static const char *const kinds[] = {"tensor", "sequence", "optional", "map"};
  PortFacts facts = portFacts(port, /*shown=*/true, input);
  auto typeName = [](int32_t code) { return findDType(code) ? findDType(code)->name : "?"; };
  llvm::json::Object o{{"name", llvm::json::fixUTF8(facts.name)}, {"kind", kinds[facts.kind]}, {"type", typeName(facts.dtype)}};
  if (facts.keyDtype)
    o["key_type"] = typeName(facts.keyDtype);
  if (port.contains("offset"))
    o["has_default"] = true;
  if (auto keys = describeKeys(port.get("keys")))
    o["keys"] = std::move(*keys);
  o["shape"] = nullptr;
  if (facts.rank < 0)
    return o;
  llvm::json::Array shape;
  for (int64_t dim : facts.dims) {
    StringRef name = dim >= 0 || dim == INT64_MIN ? "" : cast<StringAttr>(symbols[-(dim + 1)]).getValue();
    if (dim >= 0)
      shape.push_back(dim);
    else if (name.empty())
      shape.push_back(nullptr);
    else
      shape.push_back(llvm::json::fixUTF8(name));
  }
  o["shape"] = std::move(shape);
  return o;
}

static llvm::json::Array describePorts(ModuleOp module, StringRef key) {
  ArrayRef<Attribute> symbols = module->getAttrOfType<ArrayAttr>("onnxc.symbols").getValue();
  llvm::json::Array ports;
  for (auto port : module->getAttrOfType<ArrayAttr>(key).getAsRange<DictionaryAttr>())
    ports.push_back(describePort(port, symbols, key == "onnxc.inputs"));
  return ports;
}

// The first dim of an input that is symbol `index`.
static void describePlace(ModuleOp module, int64_t index, llvm::json::Object &symbol) {
  for (auto port : module->getAttrOfType<ArrayAttr>("onnxc.inputs").getAsRange<DictionaryAttr>()) {
    PortFacts facts = portFacts(port, /*shown=*/true, /*input=*/true);
    for (auto [d, dim] : llvm::enumerate(facts.dims))
      if (dim == -(index + 1)) {
        symbol["input"] = llvm::json::fixUTF8(facts.name);
        symbol["dim"] = d;
        return;
      }
  }
}

// Symbolic sizes in the order of onnxc_model_info's: their names, or where one without a name is, with what flags said of them.
static llvm::json::Array describeSymbols(ModuleOp module) {
  auto ranges = module->getAttrOfType<DenseI64ArrayAttr>("onnxc.ranges");
  llvm::json::Array symbols;
  for (auto [i, name] : llvm::enumerate(module->getAttrOfType<ArrayAttr>("onnxc.symbols").getAsValueRange<StringAttr>())) {
    llvm::json::Object symbol{{"name", name.empty() ? llvm::json::Value(nullptr) : llvm::json::fixUTF8(name)}};
    if (name.empty())
      describePlace(module, i, symbol);
    if (ranges && ranges[3 * i] > 0)
      symbol["min"] = ranges[3 * i];
    if (ranges && ranges[3 * i + 1] >= 0)
      symbol["opt"] = ranges[3 * i + 1];
    if (ranges && ranges[3 * i + 2] < INT64_MAX)
      symbol["max"] = ranges[3 * i + 2];
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

// What a context takes for results when it is made.
static int64_t resultBytes(ModuleOp module) {
  int64_t total = 0;
  for (auto port : module->getAttrOfType<ArrayAttr>("onnxc.outputs").getAsRange<DictionaryAttr>())
    if (auto most = port.getAs<IntegerAttr>("most"))
      total += most.getInt();
  return total;
}

SelfDescription describeModel(ModuleOp module, const Options &options) {
  SelfDescription self{"", "onnxc " ONNXC_VERSION, "", codeFlags(options)};
  SmallVector<StringRef> files;
  if (auto list = module->getAttrOfType<ArrayAttr>("onnx.data_files"))
    files = llvm::to_vector(list.getAsValueRange<StringAttr>());
  self.modelHash = modelHash(options.input, files);
  llvm::json::Object o{{"compiler", self.compiler},
                       {"flags", strings(self.flags)},
                       {"isas", strings(options.cpus)},
                       {"weights", options.externalWeights ? "external" : "embedded"}};
  if (!self.modelHash.empty())
    o["model_hash"] = self.modelHash;
  for (StringRef key : {"onnxc.inputs", "onnxc.outputs"})
    o[key.drop_front(6)] = describePorts(module, key);
  o["symbols"] = describeSymbols(module);
  if (module->hasAttr("onnx.reserve"))
    o["reserved_result_bytes"] = resultBytes(module);
  for (StringRef key : {"onnx.opset", "onnx.ir_version"})
    if (auto a = module->getAttrOfType<IntegerAttr>(key))
      o[key.drop_front(5)] = a.getInt();
  if (auto opsets = module->getAttrOfType<DictionaryAttr>("onnx.opsets")) {
    llvm::json::Object versions;
    for (NamedAttribute a : opsets)
      versions[llvm::json::fixUTF8(a.getName().getValue())] = cast<IntegerAttr>(a.getValue()).getInt();
    o["opsets"] = std::move(versions);
  }
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
  llvm::raw_string_ostream(self.json) << llvm::json::Value(std::move(o));
  return self;
}

}  // namespace onnxc
