// Phases.cpp: see Phases.h.
#include "compiler/Phases.h"
#include "compiler/Messages.h"
#include "dialects/kernel/Weights.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/Binary.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
namespace onnxc {

Phases::Phases(const Options &options) : options(options) {
  if (options.progress)
    progress.emplace(options.progressAfter);
}

void Phases::begin(llvm::StringRef what, const KernelCount *kernels) {
  if (progress)
    progress->begin(what, kernels);
}

// Constants of a program that is written whole take at most this much.
static constexpr int64_t kWholeBytes = 256 << 20;

static bool isWhole(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](Operation *op) {
    if (auto value = op->getAttrOfType<ElementsAttr>("value"))
      bytes += weightBytes(value);
  });
  return bytes <= kWholeBytes;
}

bool Phases::write(llvm::StringRef name, llvm::function_ref<void(llvm::raw_ostream &)> write) {
  llvm::SmallString<128> path(options.dumpPhases);
  std::error_code code = llvm::sys::fs::create_directories(path, true, llvm::sys::fs::all_all);
  llvm::sys::path::append(path, llvm::Twine(dumped) + "-" + name);
  if (!code) {
    llvm::raw_fd_ostream out(path, code, llvm::sys::fs::OF_None);
    if (!code)
      write(out);
  }
  if (code)
    say("error", "", "--dump-phases '" + path + "': " + code.message());
  return !code;
}

bool Phases::dump(llvm::StringRef name, ModuleOp module) {
  ++dumped;
  if (!write((name + ".mlir").str(),
             [&](llvm::raw_ostream &os) { module.print(os, OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(16)); }))
    return false;
  return !isWhole(module) || write((name + ".mlirbc").str(), [&](llvm::raw_ostream &os) { (void)writeBytecodeToFile(module, os); });
}

bool Phases::done(llvm::StringRef name, ModuleOp module) {
  double passed = std::chrono::duration<double, std::milli>(Clock::now() - last).count();
  times.push_back({name.str(), passed});
  bool good = !module || options.dumpPhases.empty() || dump(name, module);
  last = Clock::now();
  return good;
}

Phases::~Phases() {
  progress.reset();
  if (!options.timePhases)
    return;
  if (options.json) {
    llvm::json::Object object;
    double total = 0;
    for (const Time &t : times)
      object[t.name] = t.milliseconds, total += t.milliseconds;
    llvm::errs() << llvm::json::Value(llvm::json::Object{{"milliseconds", std::move(object)}, {"total_milliseconds", total}}) << "\n";
    return;
  }
  double total = 0;
  for (const Time &t : times) {
    llvm::errs() << llvm::format("%10.1f ms  ", t.milliseconds) << t.name << "\n";
    total += t.milliseconds;
  }
  llvm::errs() << llvm::format("%10.1f ms  total\n", total);
}

using Sizes = llvm::MapVector<llvm::StringRef, uint64_t>;

// Sections that a process has in its memory.
static void addSections(const llvm::object::ObjectFile &file, Sizes &sizes) {
  for (const llvm::object::SectionRef &section : file.sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (section.getSize() && !section.isBSS() && (llvm::object::ELFSectionRef(section).getFlags() & llvm::ELF::SHF_ALLOC))
      sizes[*name] += section.getSize();
  }
}

// Of an archive, those of all members; the members are kept, since the names are theirs.
static llvm::Error addSections(llvm::object::Binary &binary, Sizes &sizes, std::vector<std::unique_ptr<llvm::object::Binary>> &members) {
  if (auto *file = llvm::dyn_cast<llvm::object::ObjectFile>(&binary))
    addSections(*file, sizes);
  auto *archive = llvm::dyn_cast<llvm::object::Archive>(&binary);
  llvm::Error error = llvm::Error::success();
  if (archive)
    for (const llvm::object::Archive::Child &child : archive->children(error)) {
      llvm::Expected<std::unique_ptr<llvm::object::Binary>> member = child.getAsBinary();
      if (!member)
        return llvm::joinErrors(std::move(error), member.takeError());
      members.push_back(std::move(*member));
      if (auto *file = llvm::dyn_cast<llvm::object::ObjectFile>(members.back().get()))
        addSections(*file, sizes);
    }
  return error;
}

void printSizeReport(const Options &options) {
  auto file = llvm::object::createBinary(options.output);
  Sizes sections;
  std::vector<std::unique_ptr<llvm::object::Binary>> members;
  llvm::Error error = file ? addSections(*file->getBinary(), sections, members) : file.takeError();
  if (error) {
    say("warning", options.output, "no size report: " + llvm::toString(std::move(error)));
    return;
  }
  NoProgress still;
  llvm::json::Object sizes;
  uint64_t total = 0;
  auto row = [&](llvm::StringRef name, uint64_t bytes) {
    if (options.json)
      sizes[name] = int64_t(bytes);
    else
      llvm::errs() << llvm::format("%12llu  ", static_cast<unsigned long long>(bytes)) << name << "\n";
  };
  for (auto [name, size] : sections) {
    row(name, size);
    total += size;
  }
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(options.output, bytes) && bytes > total)
    row("headers and padding", bytes - total);
  row("total", bytes);
  if (options.externalWeights && !llvm::sys::fs::file_size(weightsPath(options), bytes))
    row("file of the weights", bytes);
  if (options.json)
    llvm::errs() << llvm::json::Value(llvm::json::Object{{"bytes", std::move(sizes)}}) << "\n";
}

}  // namespace onnxc
