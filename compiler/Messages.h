// Messages.h: what onnxc says to its user on standard error: lines of text, or one JSON object a line where the command line asks for
// --json.
#pragma once
#include "compiler/Options.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

namespace onnxc {

// From now on every message is a JSON object.
void messagesAsJson();
bool messagesAreJson();

// "onnxc: error: conv1: …" or {"message":…,"severity":"error","where":"conv1"}; `where` may be empty.
void say(llvm::StringRef severity, llvm::StringRef where, const llvm::Twine &message);

// Says a warning unless it was said before: a command may compile a model more than once.
void warnOnce(const llvm::Twine &message);

// Says an error and returns `code`.
int fail(ExitCode code, const llvm::Twine &message);

}  // namespace onnxc
