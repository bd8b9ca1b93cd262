// LibraryFile.cpp: see LibraryFile.h.
#include "compiler/commands/LibraryFile.h"
#include "codegen/cpu/Codegen.h"
#include "codegen/link/Elf.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <optional>

namespace onnxc {

using llvm::ELF::Elf64_Ehdr;
using llvm::ELF::Elf64_Phdr;

// The target of a header's machine where that is not this one.
static llvm::StringRef otherTarget(const Elf64_Ehdr &header) {
  const Target *host = findTarget("");
  if (!host || header.e_machine == elfTarget(host->arch).machine)
    return "";
  for (const Target &target : targets())
    if (header.e_machine == elfTarget(target.arch).machine)
      return target.name;
  return "another machine";
}

// Nothing of a file that is no ELF file.
static std::optional<Elf64_Ehdr> readHeader(llvm::StringRef path) {
  auto start = llvm::MemoryBuffer::getFileSlice(path, sizeof(Elf64_Ehdr), 0);
  if (!start || !(*start)->getBuffer().starts_with(llvm::ELF::ElfMagic))
    return std::nullopt;
  Elf64_Ehdr header = {};
  memcpy(&header, (*start)->getBufferStart(), std::min(sizeof header, (*start)->getBufferSize()));
  return header;
}

llvm::StringRef otherTarget(llvm::StringRef path) {
  std::optional<Elf64_Ehdr> header = readHeader(path);
  return header ? otherTarget(*header) : "";
}

std::string otherArtefact(llvm::StringRef path) {
  constexpr llvm::StringLiteral archive = "!<arch>\n";
  auto start = llvm::MemoryBuffer::getFileSlice(path, archive.size(), 0);
  if (start && (*start)->getBuffer() == archive)
    return "an archive, which becomes part of a program";
  std::optional<Elf64_Ehdr> header = readHeader(path);
  if (!header)
    return "";
  if (header->e_type == llvm::ELF::ET_REL)
    return "an object file, which becomes part of a program";
  return header->e_entry ? "a program: run it itself; --help tells how" : "a library, whose name has to end in .so";
}

llvm::Expected<llvm::json::Object> readDescription(llvm::StringRef name, llvm::StringRef path) {
  auto damaged = [&](const llvm::Twine &why) {
    return llvm::createStringError("'" + name + "' is no library made by this version of onnxc: " + why);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "'" + name + "': " + buffer.getError().message());
  auto file = llvm::object::ELF64LEFile::create((*buffer)->getBuffer());
  if (!file)
    return damaged(llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections)
    return damaged(llvm::toString(sections.takeError()));
  for (const auto &section : *sections) {
    llvm::Expected<llvm::StringRef> own = file->getSectionName(section);
    if (!own)
      return damaged(llvm::toString(own.takeError()));
    if (*own != kDescriptionSection)
      continue;
    auto text = file->getSectionContentsAsArray<char>(section);
    if (!text)
      return damaged(llvm::toString(text.takeError()));
    llvm::Expected<llvm::json::Value> json = llvm::json::parse(llvm::StringRef(text->data(), text->size()).rtrim('\0'));
    if (!json)
      return damaged(llvm::toString(json.takeError()));
    if (llvm::json::Object *object = json->getAsObject())
      return std::move(*object);
  }
  return damaged("it does not describe itself");
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
  std::optional<Elf64_Ehdr> header = readHeader(path);
  if (!header || llvm::sys::fs::file_size(path, size))
    return llvm::Error::success();
  auto cut = [&](llvm::Twine of) {
    return llvm::createStringError("'" + name + "' is cut or damaged: it has " + llvm::Twine(size) + " bytes" + of);
  };
  if (size < sizeof *header)
    return cut(", less than its header");
  // The dynamic linker's word for a library of another machine is that there is no such file.
  if (llvm::StringRef target = otherTarget(*header); !target.empty())
    return llvm::createStringError("'" + name + "' is made for " + target + ": this machine cannot run it");
  uint64_t tableBytes = uint64_t(header->e_phnum) * sizeof(Elf64_Phdr);
  if (header->e_phoff > size || tableBytes > size - header->e_phoff || header->e_phentsize != sizeof(Elf64_Phdr))
    return cut(", less than its table of segments");
  auto segments = llvm::MemoryBuffer::getFileSlice(path, tableBytes, header->e_phoff);
  if (!segments)
    return llvm::createStringError(segments.getError(), "'" + name + "': " + segments.getError().message());
  uint64_t end = endOf(*header, (*segments)->getBuffer());
  return end > size ? cut(" of " + llvm::Twine(end)) : llvm::Error::success();
}

}  // namespace onnxc
