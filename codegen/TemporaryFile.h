// TemporaryFile.h: a file that does not outlive its use, also when a signal ends the program at any moment.
//
// llvm::sys::fs::createTemporaryFile leaves a moment between the file's creation and RemoveFileOnSignal; here the handler knows the name
// before the file exists.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <csignal>
#include <string>
#include <system_error>

namespace llvm {
class raw_ostream;
}

namespace onnxc {

// Calls `make` with names like `model`, its % random digits, until one does not exist yet; its last error. `inTemporaryFolder`: of the
// system.
std::error_code makeUnique(llvm::StringRef model, bool inTemporaryFolder, llvm::function_ref<std::error_code(llvm::StringRef)> make);

class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();
  // Creates an empty file in the system's temporary folder, named `prefix`, random digits and `suffix`.
  std::error_code create(llvm::StringRef prefix, llvm::StringRef suffix);
  // Creates an empty file beside `output`: a rename stays within one file system.
  std::error_code createBeside(llvm::StringRef output);
  // The same with what `write` writes in it.
  std::error_code createBeside(llvm::StringRef output, llvm::function_ref<void(llvm::raw_ostream &)> write);
  // Returns when what was written is safely on its disk.
  std::error_code sync() const;
  // Gives the finished file the name `output` in place of any earlier one, and the permissions of a new file. `durable`: synced
  // before.
  std::error_code keepAs(llvm::StringRef output, bool executable, bool durable = true);
  // Swaps the finished file with the one at `output`, which goes when this ends; a second call swaps them back. Fails where there is no
  // such file and where a file system cannot do it at once.
  std::error_code swapWith(llvm::StringRef output) const;
  // The permissions of a new file.
  std::error_code setPermissions(bool executable) const;
  const std::string &path() const { return name; }  // "": not created

private:
  std::error_code createUnique(llvm::StringRef model, bool inTemporaryFolder);
  std::string name;
};

// While one lives, a signal that asks the program to end waits: around what creates files whose names the handler learns too late, as
// llvm::sys::fs::TempFile does.
class SignalsHeld {
public:
  SignalsHeld();
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;
  ~SignalsHeld();

private:
  sigset_t before;
};

}  // namespace onnxc
