// Pipeline.h: from a model file to an artefact, one function per phase; compiler/main.cpp and the subcommands call it.
#pragma once
#include "compiler/Options.h"

namespace onnxc {

// Compiles options.input to options.output. Diagnostics go to stderr (as JSON lines with options.json). Returns an ExitCode; leaves no file
// behind on failure.
int compile(const Options &options);

// What `onnxc check` prints: every node that cannot be compiled, at once. Returns an ExitCode: that which compiling gives.
int check(const Options &options);

// Steps of compile() that --tune takes, too. Each returns an ExitCode after a message.
//
// Whether this build has code for options.device and options.precision, and files of options.customOps exist.
int checkSupported(const Options &options);
// Replaces what --cpu names by levels, oldest first as the artefact's table wants them, each once.
int chooseLevels(Options &options);

}  // namespace onnxc
