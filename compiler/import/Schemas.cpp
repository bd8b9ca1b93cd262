// Schemas.cpp: see Schemas.h. OnnxSchemas.inc has a line ONNXC_SCHEMA(set, version, name) for each that the library's headers declare
// (compiler/import/CMakeLists.txt).
#include "compiler/import/Schemas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>
#include <onnx/defs/operator_sets.h>
#include <onnx/defs/operator_sets_ml.h>
#include <onnx/defs/operator_sets_preview.h>
#include <optional>

namespace pb = ::onnx;
namespace onnxc::importer {
namespace {

// One version of one operator.
struct Entry {
  llvm::StringRef set;
  int version;
  llvm::StringRef name;
  pb::OpSchema (*make)();
  std::once_flag made;
  std::optional<pb::OpSchema> schema;

  Entry(llvm::StringRef set, int version, llvm::StringRef name, pb::OpSchema (*make)())
      : set(set), version(version), name(name), make(make) {}
  const pb::OpSchema &get() {
    std::call_once(made, [this] {
      schema.emplace(make());
      schema->Finalize();
    });
    return *schema;
  }
};

Entry kEntries[] = {
#define ONNXC_SCHEMA(SET, VERSION, NAME)                                                                                                   \
  {#SET, VERSION, #NAME, &pb::GetOpSchema<pb::ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(SET, VERSION, NAME)>},
#include "compiler/import/OnnxSchemas.inc"
#undef ONNXC_SCHEMA
};

// The versions of each name, the newest first.
llvm::StringMap<llvm::SmallVector<Entry *, 4>> byName() {
  llvm::StringMap<llvm::SmallVector<Entry *, 4>> names;
  for (Entry &entry : kEntries)
    names[entry.name].push_back(&entry);
  for (auto &versions : names)
    llvm::sort(versions.second, [](const Entry *a, const Entry *b) { return a->version > b->version; });
  return names;
}

// The two preview domains share a set: their schemas tell them apart.
llvm::StringRef setOf(llvm::StringRef domain) {
  if (domain == pb::ONNX_DOMAIN)
    return "Onnx";
  if (domain == pb::AI_ONNX_ML_DOMAIN)
    return "OnnxML";
  return domain == pb::AI_ONNX_PREVIEW_DOMAIN || domain == pb::AI_ONNX_PREVIEW_TRAINING_DOMAIN ? "OnnxPreview" : "";
}

}  // namespace

const Schemas &Schemas::instance() {
  static const Schemas schemas;
  return schemas;
}

const pb::OpSchema *Schemas::GetSchema(const std::string &op, int version, const std::string &domain) const {
  static const auto names = byName();
  auto found = names.find(op);
  if (found == names.end())
    return nullptr;
  llvm::StringRef set = setOf(domain);
  for (Entry *entry : found->second)
    if (entry->set == set && entry->version <= version)
      return entry->get().domain() == domain ? &entry->get() : nullptr;
  return nullptr;
}

std::set<std::string> Schemas::names(const std::string &domain) const {
  std::set<std::string> names;
  llvm::StringRef set = setOf(domain);
  for (Entry &entry : kEntries)
    if (entry.set == set && entry.get().domain() == domain)
      names.insert(entry.name.str());
  return names;
}

}  // namespace onnxc::importer
