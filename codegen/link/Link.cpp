// Link.cpp: see Link.h.
#include "codegen/link/Link.h"
#include "codegen/link/Elf.h"
#include "codegen/link/WeightsFile.h"
#include "codegen/TemporaryFile.h"
#include "runtime_stub/Bitcode.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/ObjCopy/CommonConfig.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/stat.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace onnxc {

// Of the output itself, which the caller's message names.
static Error reason(std::error_code code) { return createStringError(code, code.message()); }

// A segment each for headers and constants, code, relocated constants, data, and last the weights: lld's own layout cannot place them last.
// Section headers follow the data in the file: a page of addresses is left out for them.
static std::string linkerScript(const ElfTarget &target, bool program, bool threadLocals) {
  const char *segments = "ro PT_LOAD FILEHDR PHDRS FLAGS(4); text PT_LOAD FLAGS(5); relro PT_LOAD FLAGS(6); data PT_LOAD FLAGS(6); dynamic "
                         "PT_DYNAMIC FLAGS(6); "
                         "protected PT_GNU_RELRO FLAGS(4); stack PT_GNU_STACK FLAGS(6); weights PT_LOAD FLAGS(4); }\n";
  const char *constants = R"(
  .dynsym : { *(.dynsym) } :ro
  .gnu.hash : { *(.gnu.hash) } :ro
  .dynstr : { *(.dynstr) } :ro
  .rela.dyn : { *(.rela.dyn) } :ro
  .rela.plt : { *(.rela.plt) } :ro
  .rodata : { *(.rodata .rodata.*) *(.lrodata .lrodata.*) } :ro
  .onnxc.json : { *(.onnxc.json) } :ro
  NEXT_PAGE .text : { *(.text .text.*) } :text
  .plt : { *(.plt) } :text
  NEXT_PAGE)";
  const char *threads = R"(
  .tdata : { *(.tdata .tdata.*) } :relro :protected :tls
  .tbss : { *(.tbss .tbss.*) } :relro :protected :tls)";
  const char *variables = R"(
  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) } :relro :protected
  .dynamic : { *(.dynamic) } :relro :protected :dynamic
  .got : { *(.got) } :relro :protected
  .got.plt : { *(.got.plt) } :relro :protected
  NEXT_PAGE .data : { *(.data .data.*) } :data
  .bss : { *(.bss .bss.*) } :data
  . = ALIGN(WHOLE_PAGE) + WHOLE_PAGE; .onnxc.weights : { *(.onnxc.weights) } :weights
  /DISCARD/ : { *(.comment) *(.eh_frame) *(.note .note.*) *(.llvm_addrsig) }
}
)";
  std::string head = program ? "PHDRS { phdr PT_PHDR PHDRS FLAGS(4); interp PT_INTERP FLAGS(4); " : "PHDRS { ";
  std::string first = program ? "SECTIONS { . = SIZEOF_HEADERS; .interp : { *(.interp) } :ro :interp" : "SECTIONS { . = SIZEOF_HEADERS;";
  std::string script =
      head + (threadLocals ? "tls PT_TLS FLAGS(4); " : "") + segments + first + constants + (threadLocals ? threads : "") + variables;
  // Large pages: the next one at the same place in it, so that the file has no gap.
  std::string page = std::to_string(target.pageBytes),
              same = target.pageBytes > 4096 ? " + (. & " + std::to_string(target.pageBytes - 1) + ")" : "";
  for (const auto &[word, text] : {std::pair("NEXT_PAGE", ". = ALIGN(" + page + ")" + same + ";"), std::pair("WHOLE_PAGE", page)})
    for (size_t at; (at = script.find(word)) != std::string::npos;)
      script.replace(at, strlen(word), text);
  return script;
}

namespace {
// The folder of one link's temporary files. Nothing of it stays, also when a signal ends the program: the handler knows each name before
// it exists.
class Workspace {
public:
  std::error_code create() {
    return makeUnique("onnxc-link-%%%%%%%%", true, [&](StringRef path) {
      if (path.size() >= sizeof interruptedFolder)
        return std::make_error_code(std::errc::filename_too_long);
      memcpy(interruptedFolder, path.data(), path.size() + 1);
      sys::SetInterruptFunction([] {  // LLVM has removed the files
        rmdir(interruptedFolder);
        _exit(130);
      });
      if (mkdir(interruptedFolder, 0700))
        return std::error_code(errno, std::generic_category());
      folder = path.str();
      return std::error_code();
    });
  }
  ~Workspace() {
    for (const std::string &path : files) {
      sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
    if (!folder.empty())
      rmdir(folder.c_str());
    sys::SetInterruptFunction(nullptr);
  }
  // The path of a file in the folder.
  std::string file(const Twine &name) const {
    files.push_back(folder + "/" + name.str());
    sys::RemoveFileOnSignal(files.back());
    return files.back();
  }

private:
  std::string folder;
  mutable std::vector<std::string> files;
  static char interruptedFolder[4096];
};
char Workspace::interruptedFolder[4096];
}  // namespace

static Error writeFile(StringRef path, const Twine &text) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return fileError(path, code);
  out << text;
  out.close();
  return finishWriting(out, path);
}

// The linker writes through a mapping, where a full disk is a signal: the room is asked for first.
// Weights are not: what their disk cannot hold is said before it is full.
static Error reserveRoom(const std::string &path, const std::vector<std::string> &objects, uint64_t weights) {
  struct statvfs disk;
  if (!statvfs(path.c_str(), &disk) && disk.f_frsize && weights / disk.f_frsize > disk.f_bfree)
    return fileError(path, std::error_code(ENOSPC, std::generic_category()));
  uint64_t bytes = 1 << 18, size = 0;
  for (const std::string &object : objects)
    bytes += sys::fs::file_size(object, size) ? 0 : size;
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC), code = fd < 0 ? errno : posix_fallocate(fd, 0, off_t(bytes));
  if (fd >= 0 && ftruncate(fd, 0) && !code)
    code = errno;
  if (fd >= 0)
    ::close(fd);
  bool cannotTell = code == EOPNOTSUPP || code == EINVAL;
  return code && !cannotTell ? fileError(path, std::error_code(code, std::generic_category())) : Error::success();
}

static Error runLinker(std::vector<std::string> args) {
  args.insert(args.begin(), {"ld.lld", "--threads=1"});
  std::vector<const char *> pointers;
  for (const std::string &a : args)
    pointers.push_back(a.c_str());
  std::string text;
  raw_string_ostream messages(text);
  SignalsHeld meanwhile;
  lld::Result result = lld::lldMain(pointers, messages, messages, {{lld::Gnu, &lld::elf::link}});
  return result.retCode ? createStringError("linking failed: " + StringRef(text).trim()) : Error::success();
}

// What the code calls of the archives of the user's operators, as one object.
static Error linkCustomOps(const LinkInputs &in, const std::string &output) {
  // With -m an archive for another processor is refused by its name.
  std::vector<std::string> args = {"-r", "-m", elfTarget(in.arch).emulation, "-o", output};
  for (const std::string &symbol : in.customSymbols)
    args.insert(args.end(), {"-u", "onnxc_custom_shape_" + symbol, "-u", "onnxc_custom_run_" + symbol});
  args.insert(args.end(), in.customArchives.begin(), in.customArchives.end());
  return runLinker(std::move(args));
}

// What the linker is told but the files. `exports`: the version script of a shared library.
static std::vector<std::string> imageOptions(const LinkInputs &in, const ElfTarget &target, const std::string &script,
                                             const std::string &exports, const std::string &output) {
  std::vector<std::string> args = {
      "-o",  output, "--script", script, "--gc-sections", "--build-id=none", "--hash-style=gnu", "-z",
      "now", "-z",   "relro",    "-z",   "noexecstack",   "--no-undefined",  "--no-rosegment",   "--strip-all"};
  if (in.kind == LinkInputs::Executable) {
    args.insert(args.end(), {"-pie", "-e", "_start", "--dynamic-linker", target.loader});
    return args;
  }
  args.insert(args.end(), {"-shared", "--version-script", exports});
  if (!in.soname.empty())
    args.push_back("-soname=" + in.soname);
  return args;
}

// A shared library or a program.
static Error linkImage(const LinkInputs &in, const Workspace &work, std::vector<std::string> objects, const std::string &output) {
  bool program = in.kind == LinkInputs::Executable;
  const ElfTarget target = elfTarget(in.arch);
  std::string script = work.file("script"), exports = work.file("exports"), weights = work.file("weights.o");
  if (Error error = writeFile(exports, "{ global: onnxc_get_api; onnxc_get_api_" + in.modelName + "; local: *; };\n"))
    return error;
  if (program) {
    objects.push_back(work.file("program.o"));
    if (Error error = writeFile(objects.back(), programObject(in.arch)))
      return error;
  }
  Expected<std::vector<std::string>> undefined = undefinedSymbols(objects, in.customLibraries);
  if (!undefined)
    return undefined.takeError();
  if (Error error = writeFile(script, linkerScript(target, program, is_contained(*undefined, "__tls_get_addr"))))
    return error;
  const std::array<std::string, 2> stubs = {work.file("libc"), work.file("libm")};
  if (Error error = writeLibraryStubs(target, stubs, *undefined))
    return error;
  if (Error error = writeWeightsObject(target, weights, in.weightsSize, nullptr))
    return error;
  std::vector<std::string> args = imageOptions(in, target, script, exports, output);
  args.insert(args.end(), objects.begin(), objects.end());
  args.push_back(weights);
  for (const std::string &library : in.customLibraries)
    args.push_back(library);
  if (!in.customLibraries.empty())  // what they need is theirs to load: the stubs of libc hold only what the artefact calls
    args.insert(args.end(), {"-rpath=$ORIGIN", "--allow-shlib-undefined"});
  args.push_back("--as-needed");
  args.insert(args.end(), stubs.begin(), stubs.end());
  if (Error error = runLinker(std::move(args)))
    return error;
  return in.weightsSize ? appendWeights(target, output, in.weightsSize, in.writeWeights) : Error::success();
}

// Makes every hidden symbol and the getter without a model's name local, so that several models can be linked into one program.
static Error localizeHidden(StringRef from, StringRef to) {
  Expected<object::OwningBinary<object::Binary>> file = object::createBinary(from);
  if (!file)
    return file.takeError();
  objcopy::ConfigManager config;
  config.ELF.LocalizeHidden = true;
  Expected<objcopy::NameOrPattern> plainGetter =
      objcopy::NameOrPattern::create("onnxc_get_api", objcopy::MatchStyle::Literal, [](Error error) { return error; });
  if (!plainGetter)
    return plainGetter.takeError();
  if (Error error = config.Common.SymbolsToLocalize.addMatcher(std::move(plainGetter)))
    return error;
  config.Common.InputFilename = from;
  config.Common.OutputFilename = to;
  std::error_code code;
  raw_fd_ostream out(to, code);
  if (code)
    return fileError(to, code);
  return objcopy::executeObjcopyOnBinary(config, *file->getBinary(), out);
}

static Error linkObject(const LinkInputs &in, const Workspace &work, ArrayRef<std::string> objects, const std::string &output) {
  std::string weights = work.file("weights.o"), merged = work.file("merged.o"),
              object = in.kind == LinkInputs::Archive ? work.file(in.modelName + ".o") : output;
  if (Error error = writeWeightsObject(elfTarget(in.arch), weights, in.weightsSize, &in.writeWeights))
    return error;
  std::vector<std::string> args = {"-r", "-o", merged};
  args.insert(args.end(), objects.begin(), objects.end());
  args.push_back(weights);
  if (Error error = runLinker(std::move(args)))
    return error;
  if (Error error = localizeHidden(merged, object))
    return error;
  if (in.kind == LinkInputs::Object)
    return Error::success();
  Expected<NewArchiveMember> member = NewArchiveMember::getFile(object, true);
  if (!member)
    return member.takeError();
  member->MemberName = sys::path::filename(object);
  std::vector<NewArchiveMember> members;
  members.push_back(std::move(*member));
  SignalsHeld meanwhile;
  return writeArchive(output, members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU, true, false);
}

// The paths of the objects to link.
static Expected<std::vector<std::string>> writeObjects(const LinkInputs &in, const Workspace &work) {
  std::vector<std::string> paths;
  for (StringRef object : in.objects) {
    paths.push_back(work.file("code" + Twine(paths.size()) + ".o"));
    if (Error error = writeFile(paths.back(), object))
      return std::move(error);
  }
  if (!in.customSymbols.empty() && !in.customArchives.empty()) {
    paths.push_back(work.file("custom.o"));
    if (Error error = linkCustomOps(in, paths.back()))
      return std::move(error);
  }
  return paths;
}

// Writes the weights to a file of their own; what is left for the artefact is their stamp.
static Error separateWeights(LinkInputs &in, TemporaryFile &file) {
  if (std::error_code code = file.createBeside(in.weightsFile))
    return fileError(in.weightsFile, code);
  Expected<onnxc_weights_stamp> stamp = writeWeightsFile(file.path(), in.weightsSize, in.writeWeights);
  if (!stamp)
    return stamp.takeError();
  in.weightsSize = sizeof *stamp;
  in.writeWeights = [stamp = *stamp](raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(&stamp), sizeof stamp);
    return Error::success();
  };
  return Error::success();
}

namespace {
// Held while both files get their names: of two compiles to one artefact each would else leave one. A file system without locks does
// without.
class FolderLock {
public:
  explicit FolderLock(StringRef file) {
    StringRef folder = sys::path::parent_path(file);
    fd = open(folder.empty() ? "." : folder.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
      continue;
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock() {
    if (fd >= 0)
      ::close(fd);
  }

private:
  int fd;
};
}  // namespace

// Gives both files their names at once, as far as a signal can tell: each is of no use with an earlier other one. Earlier weights come back
// where the artefact's name cannot be had.
static Error keepWithWeights(const LinkInputs &in, TemporaryFile &output, TemporaryFile &weights, bool executable) {
  if (std::error_code code = output.sync())
    return reason(code);
  if (std::error_code code = weights.sync())
    return fileError(in.weightsFile, code);
  FolderLock alone(in.output);
  SignalsHeld together;
  std::error_code weightsCode = weights.setPermissions(/*executable=*/false), code;
  bool swapped = !weightsCode && !weights.swapWith(in.weightsFile);
  if (!weightsCode && !swapped)
    weightsCode = weights.keepAs(in.weightsFile, /*executable=*/false, /*durable=*/false);
  if (!weightsCode && (code = output.keepAs(in.output, executable, /*durable=*/false)))
    if (!swapped || weights.swapWith(in.weightsFile))
      sys::fs::remove(in.weightsFile);
  return weightsCode ? fileError(in.weightsFile, weightsCode) : code ? reason(code) : Error::success();
}

Error linkArtefact(const LinkInputs &inputs) {
  LinkInputs in = inputs;
  Workspace work;
  if (std::error_code code = work.create())
    return createStringError(code, "a temporary folder: " + code.message());
  Expected<std::vector<std::string>> objects = writeObjects(in, work);
  if (!objects)
    return objects.takeError();
  TemporaryFile output, weights;
  if (std::error_code code = output.createBeside(in.output))
    return reason(code);
  bool image = in.kind == LinkInputs::SharedLibrary || in.kind == LinkInputs::Executable, apart = !in.weightsFile.empty();
  if (Error error = reserveRoom(output.path(), *objects, in.weightsSize))
    return error;
  if (apart)
    if (Error error = separateWeights(in, weights))
      return error;
  if (Error error = image ? linkImage(in, work, *objects, output.path()) : linkObject(in, work, *objects, output.path()))
    return error;
  if (Error error = in.writeCompanions())
    return error;
  if (apart)
    return keepWithWeights(in, output, weights, image);
  std::error_code code = output.keepAs(in.output, image);
  return code ? reason(code) : Error::success();
}

}  // namespace onnxc
