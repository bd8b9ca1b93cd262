// Elf.cpp: see Elf.h.
#include "codegen/link/Elf.h"
#include "codegen/TemporaryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace onnxc {

ElfTarget elfTarget(llvm::Triple::ArchType arch) {
  if (arch == llvm::Triple::aarch64)
    return {ELF::EM_AARCH64, "aarch64linux", "/lib/ld-linux-aarch64.so.1", 65536, 0};
  return {ELF::EM_X86_64, "elf_x86_64", "/lib64/ld-linux-x86-64.so.2", 4096, ELF::SHF_X86_64_LARGE};
}

Error fileError(StringRef path, std::error_code code) { return createStringError(code, "'" + path + "': " + code.message()); }

Error finishWriting(raw_fd_ostream &out, StringRef path) {
  if (!out.has_error())
    return Error::success();
  std::error_code code = out.error();
  out.clear_error();  // said here; the stream would end the program
  return fileError(path, code);
}

namespace {
// Sections of the weights object, in the order of its section table.
enum Section { Null, Weights, Symbols, Strings, Names, Stack, SectionCount };
}  // namespace

static ELF::Elf64_Shdr section(uint32_t name, uint32_t type, uint64_t flags, uint64_t offset, uint64_t size, uint64_t align) {
  ELF::Elf64_Shdr s = {};
  s.sh_name = name, s.sh_type = type, s.sh_flags = flags, s.sh_offset = offset, s.sh_size = size, s.sh_addralign = align;
  return s;
}

Error writeWeightsObject(const ElfTarget &target, StringRef path, uint64_t size, const std::function<Error(raw_ostream &)> *write) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return fileError(path, code);
  const std::string names = std::string("\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack\0", 43) + WeightsSection + '\0';
  const std::string strings = std::string("\0", 1) + WeightsSymbol + '\0';
  uint64_t stored = write ? size : 0, at = 4096, symbols = alignTo(at + stored, 8), text = symbols + 2 * sizeof(ELF::Elf64_Sym),
           name = text + strings.size(), headers = alignTo(name + names.size(), 8);
  ELF::Elf64_Ehdr header = {};
  memcpy(header.e_ident,
         "\x7f"
         "ELF\x02\x01\x01",
         7);
  header.e_type = ELF::ET_REL, header.e_machine = target.machine, header.e_version = 1, header.e_shoff = headers,
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(ELF::Elf64_Shdr), header.e_shnum = SectionCount, header.e_shstrndx = Names;
  ELF::Elf64_Sym symbol[2] = {};
  symbol[1].st_name = 1, symbol[1].st_size = size, symbol[1].st_shndx = Weights, symbol[1].st_other = ELF::STV_HIDDEN;
  symbol[1].st_info = (ELF::STB_GLOBAL << 4) | ELF::STT_OBJECT;
  ELF::Elf64_Shdr sections[SectionCount] = {};
  sections[Weights] =
      section(43, write ? ELF::SHT_PROGBITS : ELF::SHT_NOBITS, ELF::SHF_ALLOC | (write ? target.weightsFlags : 0), at, size, 4096);
  sections[Symbols] = section(1, ELF::SHT_SYMTAB, 0, symbols, sizeof symbol, 8);
  sections[Symbols].sh_link = Strings, sections[Symbols].sh_info = 1, sections[Symbols].sh_entsize = sizeof *symbol;
  sections[Strings] = section(9, ELF::SHT_STRTAB, 0, text, strings.size(), 1);
  sections[Names] = section(17, ELF::SHT_STRTAB, 0, name, names.size(), 1);
  sections[Stack] = section(27, ELF::SHT_PROGBITS, 0, name, 0, 1);
  out.write(reinterpret_cast<char *>(&header), sizeof header);
  out.write_zeros(at - out.tell());
  if (write)
    if (Error error = (*write)(out))
      return error;
  if (out.tell() != at + stored)
    return createStringError("weights of another size than announced");
  out.write_zeros(symbols - out.tell());
  out.write(reinterpret_cast<char *>(symbol), sizeof symbol);
  out << strings << names;
  out.write_zeros(headers - out.tell());
  out.write(reinterpret_cast<char *>(sections), sizeof sections);
  out.close();
  return finishWriting(out, path);
}

// Functions that a shared library exports.
static Error exportedSymbols(StringRef path, StringSet<> &names) {
  Expected<object::OwningBinary<object::ObjectFile>> file = object::ObjectFile::createObjectFile(path);
  if (!file)
    return joinErrors(createStringError("'" + path + "' is no shared library"), file.takeError());
  auto *elf = dyn_cast<object::ELFObjectFileBase>(file->getBinary());
  if (!elf)
    return createStringError("'" + path + "' is no shared library");
  for (const object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    if (!(*flags & object::SymbolRef::SF_Undefined))
      names.insert(*name);
  }
  return Error::success();
}

Expected<std::vector<std::string>> undefinedSymbols(const std::vector<std::string> &objects, const std::set<std::string> &libraries) {
  StringSet<> defined, undefined;
  for (const std::string &path : libraries)
    if (Error error = exportedSymbols(path, defined))
      return error;
  for (const std::string &path : objects) {
    Expected<object::OwningBinary<object::ObjectFile>> file = object::ObjectFile::createObjectFile(path);
    if (!file)
      return file.takeError();
    for (const object::SymbolRef &symbol : file->getBinary()->symbols()) {
      Expected<uint32_t> flags = symbol.getFlags();
      Expected<StringRef> name = symbol.getName();
      if (!flags || !name)
        return joinErrors(flags.takeError(), name.takeError());
      if (!name->empty())
        (*flags & object::SymbolRef::SF_Undefined ? undefined : defined).insert(*name);
    }
  }
  std::vector<std::string> names;
  for (const auto &entry : undefined)
    if (!defined.contains(entry.getKey()) && entry.getKey() != WeightsSymbol && entry.getKey() != "_GLOBAL_OFFSET_TABLE_")
      names.push_back(entry.getKey().str());
  llvm::sort(names);
  // Anything of ours that is still missing is a defect of the compiler; it must not become a library that fails to load.
  auto isCompilers = [](StringRef name) {  // of libgcc: atomics and long double of AArch64
    return name.starts_with("__aarch64_") ||
           (name.contains("tf") && (name.ends_with("2") || name.ends_with("3")) && name.starts_with("__"));
  };
  for (const std::string &name : names)
    if (StringRef(name).starts_with("onnxc_custom_"))
      return createStringError("no library given with --custom-op defines '" + name + "'");
    else if (StringRef(name).starts_with("_Z") || StringRef(name).starts_with("__cxa") || StringRef(name).starts_with("__gxx"))
      return createStringError("the library of a custom operator needs '" + name + "' of C++'s library; give a shared library instead");
    else if (isCompilers(name))
      return createStringError(
          "the library of a custom operator needs '" + name +
          "' of the compiler's library; build it with -mno-outline-atomics and without long double, or give a shared library");
    else if (StringRef(name).starts_with("onnxc_") || StringRef(name).contains('.') || StringRef(name).ends_with("ti3"))
      return createStringError("the generated code refers to '" + name + "', which nothing defines");
  return names;
}

// Functions of libm that generated code, the library kernels or LLVM's own lowering may call, without the f of the float forms.
static bool isMath(StringRef name) {
  static const StringSet<> names = {
      "acos",  "acosh",     "asin", "asinh",  "atan",  "atan2", "atanh", "cbrt",   "ceil",   "copysign",  "cos",   "cosh",      "erf",
      "erfc",  "exp",       "exp2", "expm1",  "fabs",  "fdim",  "floor", "fma",    "fmax",   "fmin",      "fmod",  "frexp",     "hypot",
      "ldexp", "lgamma",    "log",  "log10",  "log1p", "log2",  "lrint", "lround", "modf",   "nearbyint", "pow",   "remainder", "rint",
      "round", "roundeven", "sin",  "sincos", "sinh",  "sqrt",  "tan",   "tanh",   "tgamma", "trunc",     "exp10", "scalbn"};
  if (names.contains(name))
    return true;
  return name.consume_back("f") && names.contains(name);
}

Error writeLibraryStubs(const ElfTarget &target, const std::array<std::string, 2> &paths, const std::vector<std::string> &symbols) {
  ifs::IFSStub stubs[2];
  const char *names[2] = {"libc.so.6", "libm.so.6"};
  for (const std::string &name : symbols) {
    ifs::IFSSymbol symbol(name);
    symbol.Type = ifs::IFSSymbolType::Func;
    symbol.Undefined = false;
    stubs[isMath(name)].Symbols.push_back(symbol);
  }
  for (int i = 0; i < 2; ++i) {
    stubs[i].SoName = names[i];
    stubs[i].Target.Arch = target.machine;
    stubs[i].Target.BitWidth = ifs::IFSBitWidthType::IFS64;
    stubs[i].Target.Endianness = ifs::IFSEndiannessType::Little;
    SignalsHeld meanwhile;
    if (Error error = ifs::writeBinaryStub(paths[i], stubs[i]))
      return error;
  }
  return Error::success();
}

// Reads or writes one structure at `offset`.
template <typename T>
static bool get(int fd, uint64_t offset, T &value) {
  return pread(fd, &value, sizeof value, offset) == sizeof value;
}
template <typename T>
static bool put(int fd, uint64_t offset, const T &value) {
  return pwrite(fd, &value, sizeof value, offset) == sizeof value;
}

namespace {
// The segment of the weights, the loadable one of the highest address, and where its header is.
struct WeightsSegment {
  ELF::Elf64_Ehdr elf;
  ELF::Elf64_Phdr header = {};
  uint64_t place = 0;

  bool find(int fd, uint64_t size) {
    if (!get(fd, 0, elf))
      return false;
    for (int i = 0; i < elf.e_phnum; ++i) {
      ELF::Elf64_Phdr segment;
      uint64_t here = elf.e_phoff + i * sizeof segment;
      if (!get(fd, here, segment))
        return false;
      if (segment.p_type == ELF::PT_LOAD && segment.p_vaddr >= header.p_vaddr)
        header = segment, place = here;
    }
    return place && header.p_memsz == size;
  }
  // Points the segment and its section at the weights.
  bool patch(int fd, uint64_t offset, uint64_t align) {
    for (int i = 0; i < elf.e_shnum; ++i) {
      ELF::Elf64_Shdr entry;
      uint64_t here = elf.e_shoff + i * sizeof entry;
      if (!get(fd, here, entry))
        return false;
      if (entry.sh_addr == header.p_vaddr && entry.sh_size == header.p_memsz && entry.sh_type == ELF::SHT_NOBITS) {
        entry.sh_type = ELF::SHT_PROGBITS, entry.sh_offset = offset;
        if (!put(fd, here, entry))
          return false;
      }
    }
    header.p_offset = offset, header.p_filesz = header.p_memsz, header.p_flags = ELF::PF_R, header.p_align = align;
    return put(fd, place, header);
  }
};
}  // namespace

Error appendWeights(const ElfTarget &target, StringRef path, uint64_t size, const std::function<Error(raw_ostream &)> &write) {
  uint64_t end;
  if (std::error_code code = sys::fs::file_size(path, end))
    return fileError(path, code);
  int fd = open(path.str().c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return fileError(path, std::error_code(errno, std::generic_category()));
  raw_fd_ostream out(fd, true);
  WeightsSegment segment;
  if (!segment.find(fd, size))
    return createStringError("'" + path + "': the linker placed no segment for the weights");
  // Huge pages of the file's cache can be mapped as such where they and their addresses begin together. That leaves no gap on x86-64, up
  // to four pages of 64 KiB elsewhere.
  constexpr uint64_t hugePage = 2 << 20;
  const uint64_t align = size >= 8 * hugePage ? hugePage : target.pageBytes, offset = alignTo(end, align, segment.header.p_vaddr % align);
  if (!segment.patch(fd, offset, align))
    return fileError(path, std::error_code(errno, std::generic_category()));
  out.seek(end);
  out.write_zeros(offset - end);
  if (Error error = write(out))
    return error;
  if (out.tell() != offset + size)
    return createStringError("weights of another size than announced");
  out.flush();
  return finishWriting(out, path);
}

}  // namespace onnxc
