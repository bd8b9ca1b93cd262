// Cache.cpp: code kept between compiles (--cache). The key is all that the code is made from; Compile.cpp builds it.
#include "codegen/TemporaryFile.h"
#include "codegen/cpu/Codegen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

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

std::string cacheProblem(StringRef folder) {
  std::error_code code = sys::fs::create_directories(folder);
  if (!code && !sys::fs::is_directory(folder))
    code = std::make_error_code(std::errc::not_a_directory);
  if (!code)
    code = sys::fs::access(folder, sys::fs::AccessMode::Write);
  return code ? code.message() : "";
}

std::optional<std::string> cached(StringRef folder, StringRef key) {
  std::string path = fileOf(folder, key);
  if (!sys::fs::is_regular_file(path))  // a pipe would be waited for
    return std::nullopt;
  auto file = MemoryBuffer::getFile(path, false, false);
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
  TemporaryFile file;
  if (!sys::fs::create_directories(folder) && !file.createBeside(path, [&](raw_ostream &os) { os << header(code) << code; }))
    (void)file.keepAs(path, /*executable=*/false, /*durable=*/false);  // cached() notices what a power cut leaves
}

}  // namespace onnxc
