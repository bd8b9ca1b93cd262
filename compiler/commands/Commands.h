// Commands.h: the subcommands of onnxc. Each takes its own arguments (argv[0] is its name) and returns an ExitCode; main.cpp holds the
// table.
#pragma once
#include "compiler/Options.h"

namespace onnxc {

int runMain(int argc, const char *const *argv);      // Run.cpp
int verifyMain(int argc, const char *const *argv);   // Verify.cpp
int benchMain(int argc, const char *const *argv);    // Bench.cpp
int checkMain(int argc, const char *const *argv);    // Inspect.cpp
int inspectMain(int argc, const char *const *argv);  // Inspect.cpp
int opsMain(int argc, const char *const *argv);      // Ops.cpp
int targetsMain(int argc, const char *const *argv);  // Ops.cpp

}  // namespace onnxc
