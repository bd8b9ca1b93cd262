// Pipeline.h: from a model file to an artefact, one function per phase; compiler/main.cpp and the subcommands call it.
#pragma once
#include "compiler/Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

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
// Reads options.scheduleFile, where one is named, into options.schedules. `mayBeNew`: that there is no such file is no error.
int readSchedules(Options &options, bool mayBeNew);
// Writes a file whole or not at all.
int writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);

}  // namespace onnxc
