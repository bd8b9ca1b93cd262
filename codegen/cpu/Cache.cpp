// Cache.cpp: code kept between compiles (--cache). The key is all that the code is made from; Compile.cpp builds it.
#include "codegen/cpu/Codegen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
namespace onnxc {

static std::string fileOf(StringRef folder, StringRef key) {
  SmallString<128> path(folder);
  auto hash = SHA256::hash(arrayRefFromStringRef(key));
  sys::path::append(path, toHex(hash, true) + ".code");
  return path.str().str();
}

// The hash of the code stands before it: a damaged file is none.
static std::string header(StringRef code) {
  auto hash = SHA256::hash(arrayRefFromStringRef(code));
  return "onnxc " + toHex(hash, true) + "\n";
}

std::optional<std::string> cached(StringRef folder, StringRef key) {
  auto file = MemoryBuffer::getFile(fileOf(folder, key), false, false);
  if (!file)
    return std::nullopt;
  StringRef bytes = (*file)->getBuffer();
  size_t end = bytes.find('\n');
  if (end == StringRef::npos || bytes.take_front(end + 1) != header(bytes.drop_front(end + 1)))
    return std::nullopt;
  return bytes.drop_front(end + 1).str();
}

void keep(StringRef folder, StringRef key, StringRef code) {
  std::string path = fileOf(folder, key);
  SmallString<128> temporary;
  int fd;
  if (sys::fs::create_directories(folder) || sys::fs::createUniqueFile(path + ".%%%%%%", fd, temporary))
    return;
  bool good;
  {
    raw_fd_ostream out(fd, true);
    out << header(code) << code;
    out.close();
    good = !out.has_error();
    out.clear_error();
  }
  if (!good || sys::fs::rename(temporary, path))
    sys::fs::remove(temporary);
}

}  // namespace onnxc
