// Files.cpp: see Files.h.
#include "compiler/Files.h"
#include "codegen/TemporaryFile.h"
#include "codegen/cpu/Schedule.h"
#include "compiler/Headers.h"
#include "compiler/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace onnxc {

int writeFile(StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  TemporaryFile file;
  std::error_code code = file.createBeside(path, write);
  if (!code)
    code = file.keepAs(path, /*executable=*/false);
  return code ? fail(ExitBadModel, path + ": " + code.message()) : ExitOk;
}

// The parser goes as deep as brackets do.
static bool isDeep(StringRef json) {
  constexpr int mostDepth = 16;
  int depth = 0, most = 0;
  for (char c : json) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    most = std::max(most, depth);
  }
  return most > mostDepth;
}

int readSchedules(Options &options, bool mayBeNew) {
  if (options.scheduleFile.empty() || (mayBeNew && !llvm::sys::fs::exists(options.scheduleFile)))
    return ExitOk;
  auto file = llvm::MemoryBuffer::getFile(options.scheduleFile);
  if (!file)
    return fail(ExitBadModel, "--schedules '" + options.scheduleFile + "': " + file.getError().message());
  llvm::Expected<llvm::json::Value> json =
      isDeep((*file)->getBuffer()) ? llvm::json::Value(nullptr) : llvm::json::parse((*file)->getBuffer());
  llvm::Expected<Schedules> schedules = json ? fromJson(*json) : json.takeError();
  if (!schedules)
    return fail(ExitBadModel,
                "'" + options.scheduleFile + "' is no file of schedules: " + llvm::toString(schedules.takeError()) + "; --tune writes one");
  if (llvm::Error error = checkSchedules(*schedules))
    return fail(ExitBadModel, "--schedules '" + options.scheduleFile + "': " + llvm::toString(std::move(error)));
  options.schedules = std::move(*schedules);
  return ExitOk;
}

// A path as make and ninja read it in a rule.
static std::string makePath(StringRef path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#')
      text += '\\';
    else if (c == '$')
      text += '$';
    text += c;
  }
  return text;
}

// A make rule for build systems: the model, its data files, the user's libraries of operators.
static int writeDependencies(ModuleOp module, const Options &options) {
  if (!options.dependencies)
    return ExitOk;
  return writeFile(options.output + ".d", [&](llvm::raw_ostream &os) {
    os << makePath(options.output) << ": " << makePath(options.input);
    if (auto files = module->getAttrOfType<ArrayAttr>("onnx.data_files"))
      for (StringRef file : files.getAsValueRange<StringAttr>())
        os << " \\\n  " << makePath(file);
    for (const auto &[name, library] : options.customOps)
      os << " \\\n  " << makePath(library);
    os << "\n";
  });
}

int writeCompanions(ModuleOp module, const Options &options, StringRef modelName) {
  if (!options.emitHeader.empty())
    if (auto error = emitModelHeaders(module, modelName, options.emitHeader))
      return fail(ExitBadModel, "--emit-header " + llvm::toString(std::move(error)));
  return writeDependencies(module, options);
}

}  // namespace onnxc
