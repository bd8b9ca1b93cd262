// Suggest.h: what a user may have meant by a word that is not known: flags, commands, operators, inputs.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace onnxc {

// The name that `word` almost is; "" where there is none, and for words too short to tell.
std::string nearest(llvm::StringRef word, llvm::ArrayRef<std::string> names);

// " (did you mean NAME?)" for the nearest, or "".
std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<std::string> names);

}  // namespace onnxc
