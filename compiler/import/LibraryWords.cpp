// LibraryWords.cpp: messages of the onnx library in words that say what is wrong with the model. What is not in the table stays as it is.
#include "compiler/import/Schemas.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

namespace onnxc::importer {

std::string plainMessage(std::string message) {
  static const struct {
    const char *theirs, *ours;
  } table[] = {
      {"^(.*) in node .*\\.$", "\\1"},
      {"^(.+) typestr: .+, has unsupported type: (.+)$", "\\1 cannot be \\2"},
      {"^(.+) has inconsistent type (.+)$", "\\1 is \\2, which does not agree with the other operands"},
      {"^Mismatched attribute type in '.* : (.*)'\\. Expected: '(.*)', actual: '(.*)'$", "attribute '\\1' is \\3, it must be \\2"},
      {"^Unrecognized attribute: (.*) for operator (.*)$", "\\2 has no attribute '\\1'"},
      {"^Node ?\\(.*\\)'s (input|output) ([0-9]+) is marked single but has an empty string in the graph$",
       "\\1 \\2 is left out, and is needed"},
      {"^Graph attribute inferencing returned type information for ([0-9]+) outputs\\. Expected ([0-9]+)$",
       "its body gives \\1 results, \\2 are needed"},
      {"^Mismatched tensor element type: inferred=(.*) declared=(.*)$", "element types \\1 and \\2 differ"},
      {"^Dimension mismatch in unification between (.*) and (.*)$", "sizes \\1 and \\2 differ"},
      {"^Can't merge shape info\\. .*Inferred=(.*) Declared=(.*) Dimension=(.*)$", "sizes \\1 and \\2 of axis \\3 differ"},
      {"^ParseData type mismatch for tensor: (.*)\\. Expected:(.*) Actual:(.*)$", "'\\1' is \\3, it must be \\2"},
  };
  llvm::StringRef rest = message;
  rest.consume_front("[ShapeInferenceError] ") || rest.consume_front("[TypeInferenceError] ");
  std::string plain = rest.trim().str();
  for (const auto &[theirs, ours] : table)
    plain = llvm::Regex(theirs).sub(ours, plain);
  return plain;
}

}  // namespace onnxc::importer
