// Ops.cpp: `onnxc ops` and `onnxc targets`: what the compiler supports, from the tables it compiles with (the dialect, Library.def, onnx's
// schemas).
#include "codegen/cpu/Isa.h"
#include "codegen/cpu/LibraryNames.h"
#include "compiler/CommandLine.h"
#include "compiler/commands/Commands.h"
#include "compiler/import/Microsoft.h"
#include "compiler/import/Upgrade.h"
#include "dialects/kernel/Families.h"
#include "dialects/onnx/OnnxDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <onnx/defs/schema.h>
#include <set>

namespace onnxc {

namespace {
struct OpRow {
  std::string domain, name, how;
  std::set<int> opsets;
  std::set<std::string> types;  // see typesOf and microsoftTypes
};
}  // namespace

// Prefix of an operator's name in the dialect, by domain.
static std::string dialectPrefix(llvm::StringRef domain) {
  return llvm::StringSwitch<std::string>(domain)
      .Case("ai.onnx.ml", "ml.")
      .Case("ai.onnx.preview.training", "training.")
      .Case("ai.onnx.training", "training.")
      .Case("ai.onnx.preview", "preview.")
      .Case("com.microsoft", "ms.")
      .Default("");
}

// How the operator of the dialect is compiled.
static std::string howCompiled(llvm::StringRef op) {
  if (loweringOf(op) == Lowering::View)
    return "view";
  return findLibraryRow(op) && !hasGeneratedCode(op) ? "library" : "generated";
}

static std::string shortType(llvm::StringRef text) {
  if (text.consume_front("tensor("))
    text.consume_back(")");
  return text.str();
}

// The type variable of the first operand that shares it with a result; "" when none does.
static std::string sharedType(const ::onnx::OpSchema &schema) {
  for (const auto &input : schema.inputs())
    for (const auto &output : schema.outputs())
      if (input.GetTypeStr() == output.GetTypeStr())
        return input.GetTypeStr();
  return "";
}

static std::set<std::string> typesOf(const ::onnx::OpSchema &schema) {
  std::set<std::string> most;
  std::string shared = sharedType(schema);
  for (const auto &constraint : schema.typeConstraintParams())
    if (constraint.type_param_str == shared || (shared.empty() && constraint.allowed_type_strs.size() > most.size())) {
      most.clear();
      for (const std::string &t : constraint.allowed_type_strs)
        most.insert(shortType(t));
    }
  if (most.empty())  // all types are fixed
    for (const auto &input : schema.inputs())
      for (const auto *t : input.GetTypes())
        most.insert(shortType(*t));
  return most;
}

// Types in the words of the schemas, which call f32 float.
static std::string schemaType(llvm::StringRef type) {
  return llvm::StringSwitch<std::string>(type)
      .Cases("f32", "float32", "float")
      .Cases("f64", "float64", "double")
      .Case("f16", "float16")
      .Case("bf16", "bfloat16")
      .Default(type.str());
}

// An operator that the standard has too takes what that takes.
static std::set<std::string> microsoftTypes(llvm::StringRef name, const std::map<std::string, OpRow> &rows) {
  std::set<std::string> types;
  for (const std::string &t : importer::firstOperandTypes(name))
    types.insert(schemaType(t));
  auto standard = rows.find(name.str());
  if (!types.empty() || standard != rows.end())
    return types.empty() ? standard->second.types : types;
  if (const LibraryRow *row = findLibraryRow(("ms." + name).str()))
    for (const std::string &t : typesOfKernel(Arch::x86_64, row->name))
      types.insert(schemaType(t));
  return types;
}

static void addSchema(const ::onnx::OpSchema &schema, std::map<std::string, OpRow> &rows, const llvm::StringSet<> &registered) {
  std::string name = dialectPrefix(schema.domain()) + schema.Name();
  OpRow &row = rows[(schema.domain().empty() ? "" : schema.domain() + ".") + schema.Name()];
  row.domain = schema.domain().empty() ? "ai.onnx" : schema.domain();
  row.name = schema.Name();
  row.opsets.insert(schema.SinceVersion());
  if (*row.opsets.rbegin() == schema.SinceVersion())
    row.types = typesOf(schema);
  bool function = schema.HasFunction() || schema.HasContextDependentFunction();
  bool inlined = function && !importer::keepNative(schema.Name());
  row.how = inlined ? "decomposed" : !registered.contains("onnx." + name) ? "upgraded" : howCompiled(name);
}

static std::vector<OpRow> collectOps() {
  mlir::MLIRContext context;
  context.loadDialect<onnx::OnnxDialect>();
  llvm::StringSet<> registered;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperationsByDialect("onnx"))
    registered.insert(op.getStringRef());
  std::map<std::string, OpRow> rows;
  for (const ::onnx::OpSchema &schema : ::onnx::OpSchemaRegistry::get_all_schemas_with_history())
    addSchema(schema, rows, registered);
  for (const auto &entry : registered) {
    llvm::StringRef name = entry.getKey();
    if (name.consume_front("onnx.ms."))
      rows["com.microsoft." + name.str()] = {
          "com.microsoft", name.str(), howCompiled(("ms." + name).str()), {1}, microsoftTypes(name, rows)};
  }
  for (const auto &[domain, name] : importer::expandedOps())
    rows[domain + "." + name] = {domain, name, "decomposed", {1}, {}};
  for (const importer::Upgrade &upgrade : importer::kUpgradesML)
    if (llvm::StringRef name = upgrade.op; name.consume_front("com.microsoft."))
      rows.try_emplace(upgrade.op, OpRow{"com.microsoft", name.str(), "upgraded", {1}, microsoftTypes(name, rows)});
  std::vector<OpRow> list;
  for (auto &entry : rows)
    list.push_back(std::move(entry.second));
  return list;
}

static void printJson(const std::vector<OpRow> &rows) {
  llvm::json::OStream json(llvm::outs(), 1);
  json.array([&] {
    for (const OpRow &row : rows)
      json.object([&] {
        json.attribute("domain", row.domain);
        json.attribute("name", row.name);
        json.attribute("compiled", row.how);
        json.attributeArray("opsets", [&] {
          for (int v : row.opsets)
            json.value(v);
        });
        json.attributeArray("types", [&] {
          for (const std::string &t : row.types)
            json.value(t);
        });
      });
  });
  llvm::outs() << "\n";
}

int opsMain(int argc, const char *const *argv) {
  CLI::App app(
      "Lists the operators: domain, name, opsets that changed it, and how it is compiled: code generated for the model (for common "
      "types; the library has the others), a library kernel, a view of its operand, decomposed into other operators, or upgraded to a "
      "newer one.",
      "onnxc ops");
  bool json = false;
  app.add_flag("--json", json, "as JSON, with types");
  if (auto code = parseCommandLine(app, argc, argv))
    return *code;
  std::vector<OpRow> rows = collectOps();
  if (json) {
    printJson(rows);
    return ExitOk;
  }
  for (const OpRow &row : rows) {
    llvm::outs() << llvm::format("%-26s %-34s %-11s", row.domain.c_str(), row.name.c_str(), row.how.c_str());
    for (int v : row.opsets)
      llvm::outs() << " " << v;
    llvm::outs() << "\n";
  }
  return ExitOk;
}

int targetsMain(int argc, const char *const *argv) {
  CLI::App app("Lists the targets and the names that --device and --cpu take.", "onnxc targets");
  bool json = false;
  app.add_flag("--json", json, "as JSON");
  if (auto code = parseCommandLine(app, argc, argv))
    return *code;
  const Target *host = findTarget("");
  llvm::StringRef machine = llvm::sys::getHostCPUName();
  llvm::json::Array list;
  for (const Target &target : targets()) {
    llvm::json::Array levels;
    if (!json)
      llvm::outs() << "target " << target.name << " (GNU C library 2.17 or newer)\n  --device cpu      by default\n";
    for (const Isa &isa : isas()) {
      if (isa.arch != target.arch)
        continue;
      levels.push_back(llvm::json::Object{{"name", isa.name}, {"needs", isa.needs}, {"default", isa.isDefault}});
      if (!json)
        llvm::outs() << "  --cpu " << llvm::left_justify(isa.name, 12) << (isa.isDefault ? "by default; needs " : "needs ") << isa.needs
                     << "\n";
    }
    llvm::json::Object object{{"name", target.name}, {"devices", llvm::json::Array{"cpu"}}, {"cpus", std::move(levels)}};
    if (&target == host)
      object["native"] = machine;
    list.push_back(std::move(object));
    if (!json && &target == host)
      llvm::outs() << "  --cpu native      this machine: " << machine << "\n";
    if (!json)
      llvm::outs() << "  any other CPU name that LLVM knows, e.g. " << target.example << ": the greatest level it runs, scheduled for it\n";
  }
  if (json)
    llvm::outs() << llvm::json::Value(llvm::json::Object{{"targets", std::move(list)}}) << "\n";
  return ExitOk;
}

}  // namespace onnxc
