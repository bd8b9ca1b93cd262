// Diagnostics.cpp: see Diagnostics.h.
#include "compiler/Diagnostics.h"
#include "compiler/Messages.h"
#include "dialects/onnx/NodeLoc.h"

using namespace mlir;
namespace onnxc {

Diagnostics::Diagnostics(MLIRContext &context, size_t mostErrors)
    : mostErrors(mostErrors), handler(&context, [this](Diagnostic &d) { print(d); }) {}

Diagnostics::~Diagnostics() {
  if (errors > mostErrors)
    say("note", "", llvm::Twine(errors - mostErrors) + " more errors; 'onnxc check' lists all");
}

void Diagnostics::print(Diagnostic &d) {
  static const char *const words[] = {"note", "warning", "error", "remark"};
  if (d.getSeverity() == DiagnosticSeverity::Error && ++errors > mostErrors)
    return;
  say(words[unsigned(d.getSeverity())], describeLoc(d.getLocation()), d.str());
  for (Diagnostic &note : d.getNotes())
    print(note);
}

}  // namespace onnxc
