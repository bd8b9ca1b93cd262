// Suggest.cpp: see Suggest.h.
#include "compiler/Suggest.h"
#include <algorithm>

namespace onnxc {

// Whether two neighbouring letters of `word` are in the other order in `name`.
static bool isSwapped(llvm::StringRef word, llvm::StringRef name) {
  size_t at = 0;
  while (at < word.size() && at < name.size() && word[at] == name[at])
    ++at;
  return word.size() == name.size() && at + 1 < word.size() && word[at] == name[at + 1] && word[at + 1] == name[at] &&
         word.substr(at + 2) == name.substr(at + 2);
}

// How far `word` is from being `name`; at least `limit`: too far.
static unsigned distance(llvm::StringRef word, llvm::StringRef name, unsigned limit) {
  constexpr unsigned asOneOfItsWords = 2;
  auto within = [](llvm::StringRef part, llvm::StringRef whole) {
    return part.size() > 3 && ("-" + whole.lower() + "-").find("-" + part.lower() + "-") != std::string::npos;
  };
  bool isLong = word.size() > 3;  // another letter in a short word makes another word
  unsigned edits = isSwapped(word, name) ? 1 : word.edit_distance_insensitive(name, /*AllowReplacements=*/isLong, limit);
  return within(word, name) || within(name, word) ? std::min(edits, asOneOfItsWords) : edits;
}

std::string nearest(llvm::StringRef word, llvm::ArrayRef<std::string> names) {
  std::string best;
  unsigned least = std::min<unsigned>(3, 1 + word.size() / 3);
  for (const std::string &name : names)
    if (unsigned far = distance(word, name, least); far < least)
      best = name, least = far;
  return best;
}

std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<std::string> names) {
  std::string name = nearest(word, names);
  return name.empty() ? "" : " (did you mean " + name + "?)";
}

}  // namespace onnxc
