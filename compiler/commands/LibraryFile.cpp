// LibraryFile.cpp: see LibraryFile.h.
#include "compiler/commands/LibraryFile.h"
#include "codegen/cpu/Isa.h"
#include "codegen/link/Elf.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>

namespace onnxc {

using llvm::ELF::Elf64_Ehdr;
using llvm::ELF::Elf64_Phdr;

// The dynamic linker's word for a library of another machine is that there is no such file.
static llvm::Error checkMachine(llvm::StringRef name, const Elf64_Ehdr &header) {
  const Target *host = findTarget("");
  if (!host || header.e_machine == elfTarget(host->arch).machine)
    return llvm::Error::success();
  for (const Target &target : targets())
    if (header.e_machine == elfTarget(target.arch).machine)
      return llvm::createStringError("'" + name + "' is made for " + target.name + ": this machine cannot run it");
  return llvm::createStringError("'" + name + "' is made for another machine");
}

// Where the last of what the headers speak of ends: their own tables, and what is loaded. Sums that overflow are beyond every file.
static uint64_t endOf(const Elf64_Ehdr &header, llvm::StringRef segments) {
  auto end = [](uint64_t offset, uint64_t size) { return offset + size < offset ? UINT64_MAX : offset + size; };
  uint64_t last = std::max(end(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize),
                           end(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr)));
  for (; segments.size() >= sizeof(Elf64_Phdr); segments = segments.drop_front(sizeof(Elf64_Phdr))) {
    Elf64_Phdr segment;
    memcpy(&segment, segments.data(), sizeof segment);
    if (segment.p_type == llvm::ELF::PT_LOAD)
      last = std::max(last, end(segment.p_offset, segment.p_filesz));
  }
  return last;
}

llvm::Error checkLibraryFile(llvm::StringRef name, llvm::StringRef path) {
  uint64_t size = 0;
  auto start = llvm::MemoryBuffer::getFileSlice(path, sizeof(Elf64_Ehdr), 0);
  if (!start || !(*start)->getBuffer().starts_with(llvm::ELF::ElfMagic) || llvm::sys::fs::file_size(path, size))
    return llvm::Error::success();
  auto cut = [&](llvm::Twine of) {
    return llvm::createStringError("'" + name + "' is cut or damaged: it has " + llvm::Twine(size) + " bytes" + of);
  };
  if (size < sizeof(Elf64_Ehdr))
    return cut(", less than its header");
  Elf64_Ehdr header;
  memcpy(&header, (*start)->getBufferStart(), sizeof header);
  if (llvm::Error error = checkMachine(name, header))
    return error;
  uint64_t tableBytes = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (header.e_phoff > size || tableBytes > size - header.e_phoff || header.e_phentsize != sizeof(Elf64_Phdr))
    return cut(", less than its table of segments");
  auto segments = llvm::MemoryBuffer::getFileSlice(path, tableBytes, header.e_phoff);
  if (!segments)
    return llvm::createStringError(segments.getError(), "'" + name + "': " + segments.getError().message());
  uint64_t end = endOf(header, (*segments)->getBuffer());
  return end > size ? cut(" of " + llvm::Twine(end)) : llvm::Error::success();
}

}  // namespace onnxc
