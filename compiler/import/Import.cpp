// Import.cpp: the phases of Import.h in order, the boundary where the onnx and protobuf libraries' exceptions end, and locations.
#include "compiler/import/Import.h"
#include "compiler/import/Build.h"
#include "compiler/import/Ranges.h"
#include "compiler/import/Tensors.h"
#include "dialects/onnx/OnnxDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <google/protobuf/stubs/logging.h>
#include <map>

using namespace mlir;
using llvm::StringRef;
namespace onnxc {
namespace {
using namespace importer;

Location fileLoc(MLIRContext *context, StringRef path) { return NameLoc::get(StringAttr::get(context, path)); }

constexpr int64_t kNewestIr = 255;

using Fail = std::function<void(const std::string &)>;

bool checkOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &imports, const Fail &fail) {
  bool ok = true;
  std::map<std::string, int64_t> versions;
  const auto &ranges = pb::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const pb::OperatorSetIdProto &import : imports) {
    std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    auto known = versions.try_emplace(domain, import.version()).first;
    if (known->second != import.version()) {
      ok = false;
      fail("imports opsets " + std::to_string(known->second) + " and " + std::to_string(import.version()) + " of " +
           (domain.empty() ? "ai.onnx" : domain) + "; only one can hold");
      continue;
    }
    auto range = ranges.find(domain);
    if (range == ranges.end() || (import.version() >= 1 && import.version() <= range->second.second))
      continue;
    ok = false;
    fail("is written in opset " + std::to_string(import.version()) + " of " + (import.domain().empty() ? "ai.onnx" : import.domain()) +
         "; onnxc knows 1 to " + std::to_string(range->second.second));
  }
  return ok;
}

bool checkVersions(const pb::ModelProto &model, const Fail &fail) {
  bool ok = model.ir_version() >= 0 && model.ir_version() <= kNewestIr;
  if (!ok)
    fail("has the impossible ir_version " + std::to_string(model.ir_version()));
  if (model.opset_import_size() == 0 && model.ir_version() >= 3) {
    ok = false;
    fail("imports no opset (opset_import is missing; is the file cut off?)");
  }
  for (const pb::FunctionProto &function : model.functions())
    ok &= checkOpsets(function.opset_import(), fail);
  return checkOpsets(model.opset_import(), fail) && ok;
}

// The data file that holds `t`; empty: the model.
static std::string dataFile(const pb::TensorProto &t) {
  for (const pb::StringStringEntryProto &entry : t.external_data())
    if (entry.key() == "location" && t.data_location() == pb::TensorProto::EXTERNAL)
      return entry.value();
  return "";
}

// Weights are checked before shapes, so that a broken one is named itself and not the first node that trips over it. A data file is wrong
// for many at once: they are one error.
bool checkWeights(const pb::GraphProto &graph, ModelFile &file, MLIRContext *context) {
  bool ok = true;
  std::map<std::pair<std::string, std::string>, std::pair<std::string, int>>
      wrongFiles;  // (file, error): the first initializer, how many more
  for (const pb::TensorProto &t : graph.initializer())
    if (std::string error = checkTensor(t, file); !error.empty()) {
      ok = false;
      std::string place = dataFile(t);
      if (place.empty())
        emitError(fileLoc(context, file.path)) << "initializer '" << t.name() << "' " << error;
      else if (auto [known, isNew] = wrongFiles.try_emplace({place, error}, t.name(), 0); !isNew)
        ++known->second.second;
    }
  for (const auto &[what, initializers] : wrongFiles) {
    auto [first, more] = initializers;
    std::string also = more ? "; so it is for " + std::to_string(more) + " more of that file" : "";
    emitError(fileLoc(context, file.path)) << "initializer '" << first << "' " << what.second << also;
  }
  std::string error;
  for (const pb::SparseTensorProto &t : graph.sparse_initializer())
    if (!sparseToAttr(t, file, context, t.values().name(), error)) {
      ok = false;
      emitError(fileLoc(context, file.path)) << "sparse initializer '" << t.values().name() << "' " << error;
    }
  for (const pb::NodeProto &node : graph.node())
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g())
        ok &= checkWeights(attr.g(), file, context);
  return ok;
}

// A size of -1 is how some exporters write an unknown one.
std::string shapeError(const pb::TensorShapeProto &shape) {
  if (shape.dim_size() > kMaxRank)
    return "has " + std::to_string(shape.dim_size()) + " dims; at most " + std::to_string(kMaxRank) + " are supported";
  int64_t count = 1;
  for (const auto &dim : shape.dim())
    if (dim.dim_value() < -1)
      return "has a negative size";
    else if (dim.has_dim_value() && dim.dim_value() == 0)
      return {};
    else if (dim.dim_value() > 0 && count > kMaxElements / dim.dim_value())
      return "has more than 2^42 elements";
    else if (dim.dim_value() > 0)
      count *= dim.dim_value();
  return {};
}

bool checkInputs(const pb::GraphProto &graph, Location loc) {
  bool ok = true;
  for (const pb::ValueInfoProto &input : graph.input()) {
    bool valid = bool(toType(input.type(), loc.getContext()));
    std::string error = valid ? shapeError(input.type().tensor_type().shape()) : "has no valid type";
    if (error.empty())
      continue;
    ok = false;
    emitError(loc) << "input '" << input.name() << "' " << error;
  }
  return ok;
}

// Every op by itself: verify() stops at the first that is wrong.
bool checkOps(ModuleOp module) {
  bool ok = true;
  module.walk([&](Operation *op) { ok &= op == module || succeeded(verify(op, /*verifyRecursively=*/false)); });
  return ok;
}

OwningOpRef<ModuleOp> import(StringRef path, MLIRContext &context, const ImportOptions &options, bool &misfit) {
  Location loc = fileLoc(&context, path);
  ModelFile file;
  file.allowOutside = options.allowExternalOutside;
  file.maxConstant = options.maxConstantSize;
  std::string error;
  if (!file.open(path, error)) {
    emitError(loc) << error;
    return {};
  }
  auto fail = [&](const std::string &message) { emitError(loc) << message; };
  Report report = [&](const Origin &from, const std::string &message) {
    std::string name = from.name.empty() ? from.op : from.name;
    emitError(nodeLoc(&context, name, from.op, from.opset)) << message;
  };
  if (!checkVersions(file.model, fail) || !normalise(file.model, options.defaultInputs, report))
    return {};
  if (!plainChannels(file.model, report, [&](const std::string &message) { emitWarning(loc) << message; }))
    return {};
  misfit = !fixDims(*file.model.mutable_graph(), options.defineDims, loc);
  if (misfit || !checkInputs(file.model.graph(), loc) || !checkWeights(file.model.graph(), file, &context))
    return {};
  Ranges ranges;
  misfit = !takeRanges(*file.model.mutable_graph(), options.shapes, loc, ranges);
  if (misfit)
    return {};
  if (file.model.opset_import_size() == 0)
    file.model.add_opset_import()->set_version(1);  // models of the first IR versions name none
  Walker walker(file.model, [&](const pb::NodeProto &node) { return isKnown(node, &context, options.customOps); }, report);
  walker.customOps = options.customOps;
  walker.gatherMatrices = options.gatherMatrices;
  walker.knownNames = [&](const std::string &domain) { return knownNames(domain, &context, options.customOps); };
  walker.ranges = std::move(ranges);
  walker.sameShape = flattenUnranked(*file.model.mutable_graph());
  if (!walker.run())
    return {};
  OwningOpRef<ModuleOp> module = buildModule(file, walker, &context);
  if (!module || !checkOps(*module) || failed(verify(*module)))
    return {};
  if (!options.shapes[MaxShapes].empty())
    (*module)->setAttr("onnx.reserve", UnitAttr::get(&context));
  if (std::vector<std::string> files = file.dataFiles(); !files.empty())
    (*module)->setAttr("onnx.data_files", Builder(&context).getStrArrayAttr(SmallVector<StringRef>(files.begin(), files.end())));
  return module;
}
}  // namespace

OwningOpRef<ModuleOp> importModel(StringRef path, MLIRContext &context, const ImportOptions &options, bool *misfit) {
  context.loadDialect<func::FuncDialect, onnx::OnnxDialect>();
  google::protobuf::SetLogHandler(nullptr);
  try {
    bool unused;
    return import(path, context, options, misfit ? *misfit : unused);
  } catch (const std::bad_alloc &) {
    emitError(fileLoc(&context, path)) << "needs more memory than there is";
  } catch (const std::exception &e) {
    emitError(fileLoc(&context, path)) << "cannot be imported: " << e.what();
  }
  return {};
}

}  // namespace onnxc
