// TemporaryFile.cpp: see TemporaryFile.h.
#include "codegen/TemporaryFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace onnxc {

static std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

TemporaryFile::~TemporaryFile() {
  if (name.empty())
    return;
  sys::fs::remove(name);
  sys::DontRemoveFileOnSignal(name);
}

std::error_code TemporaryFile::create(StringRef prefix, StringRef suffix) {
  return createUnique((prefix + "-%%%%%%%%" + suffix).str(), true);
}

// LLVM places a bare name in the temporary folder.
std::error_code TemporaryFile::createBeside(StringRef output) {
  return createUnique(((sys::path::is_absolute(output) ? "" : "./") + output + ".%%%%%%%%").str(), false);
}

std::error_code TemporaryFile::createBeside(StringRef output, function_ref<void(raw_ostream &)> write) {
  std::error_code code = createBeside(output);
  if (code)
    return code;
  raw_fd_ostream out(name, code);
  if (code)
    return code;
  write(out);
  out.close();
  code = out.error();
  out.clear_error();
  return code;
}

std::error_code makeUnique(StringRef model, bool inTemporaryFolder, llvm::function_ref<std::error_code(StringRef)> make) {
  std::error_code code = std::make_error_code(std::errc::file_exists);
  for (int attempt = 0; attempt < 128 && code == std::errc::file_exists; ++attempt) {
    SmallString<128> candidate;
    sys::fs::createUniquePath(model, candidate, inTemporaryFolder);
    code = make(StringRef(candidate.c_str(), candidate.size()));
  }
  return code;
}

std::error_code TemporaryFile::createUnique(StringRef model, bool inTemporaryFolder) {
  return makeUnique(model, inTemporaryFolder, [&](StringRef candidate) {
    sys::RemoveFileOnSignal(candidate);
    int fd = open(candidate.data(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) {
      std::error_code code = lastError();
      sys::DontRemoveFileOnSignal(candidate);
      return code;
    }
    ::close(fd);
    name = candidate.str();
    return std::error_code();
  });
}

std::error_code TemporaryFile::sync() const {
  int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return lastError();
  std::error_code synced = fsync(fd) ? lastError() : std::error_code();
  ::close(fd);
  return synced;
}

std::error_code TemporaryFile::setPermissions(bool executable) const {
  mode_t mask = umask(0);
  umask(mask);
  return chmod(name.c_str(), (executable ? 0777 : 0666) & ~mask) ? lastError() : std::error_code();
}

std::error_code TemporaryFile::keepAs(StringRef output, bool executable, bool durable) {
  if (std::error_code code = setPermissions(executable))
    return code;
  std::error_code synced = durable ? sync() : std::error_code();
  return synced ? synced : sys::fs::rename(name, output);
}

std::error_code TemporaryFile::swapWith(StringRef output) const {
  if (!sys::fs::is_regular_file(output))
    return std::make_error_code(std::errc::no_such_file_or_directory);
  return renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, output.str().c_str(), RENAME_EXCHANGE) ? lastError() : std::error_code();
}

SignalsHeld::SignalsHeld() {
  sigset_t ends;
  sigemptyset(&ends);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2})
    sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
}

SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

}  // namespace onnxc
