// Messages.cpp: see Messages.h.
#include "compiler/Messages.h"
#include "compiler/Progress.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace onnxc {

static bool asJson = false;

void messagesAsJson() { asJson = true; }
bool messagesAreJson() { return asJson; }

void say(llvm::StringRef severity, llvm::StringRef where, const llvm::Twine &message) {
  NoProgress still;
  if (!asJson) {
    llvm::errs() << "onnxc: " << severity << ": " << where << (where.empty() ? "" : ": ") << message << "\n";
    return;
  }
  using llvm::json::fixUTF8;
  llvm::json::Object line{{"severity", severity}, {"where", fixUTF8(where)}, {"message", fixUTF8(message.str())}};
  llvm::errs() << llvm::json::Value(std::move(line)) << "\n";
}

void warnOnce(const llvm::Twine &message) {
  static std::set<std::string> said;
  if (said.insert(message.str()).second)
    say("warning", "", message);
}

int fail(ExitCode code, const llvm::Twine &message) {
  say("error", "", message);
  return code;
}

}  // namespace onnxc
