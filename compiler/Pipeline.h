// Pipeline.h: from a model file to an artefact, one function per phase; compiler/main.cpp and the subcommands call it.
#pragma once
#include "compiler/Options.h"

namespace onnxc {

// Compiles options.input to options.output. Diagnostics go to stderr (as JSON lines with options.json). Returns an ExitCode; leaves no file
// behind on failure.
int compile(const Options &options);

// What `onnxc check` prints: every unsupported or suspicious node at once. Returns ExitOk when there is none, else ExitOutOfScope.
int check(const Options &options);

}  // namespace onnxc
