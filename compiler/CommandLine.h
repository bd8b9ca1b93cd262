// CommandLine.h: binds flags to compiler/Options.h; shared by compiling (the default command) and the subcommands.
#pragma once
#include "compiler/Messages.h"
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>

namespace onnxc {

// The group of --help that flags which change the code are in.
inline constexpr const char *kCodeGroup = "Code";

// Those flags; subcommands that compile a model on the way take them too.
void bindCodeOptions(CLI::App &app, Options &options);

// A flag that may be given several times and takes one value each time, which `add` reads.
CLI::Option *addRepeatable(CLI::App &app, const char *name, std::function<void(const std::string &)> add, const char *help);

// All flags of compiling.
void bindCompileOptions(CLI::App &app, Options &options);

// Of an option's text: a finite number that is not negative.
CLI::Validator notNegative();

// Of an option's text: a whole number from 0 to `most`.
CLI::Validator wholeNumber(int64_t most = INT64_MAX);

// Parses; an ExitCode when the program should end now (--help, --version, a usage error, which is printed), else nullopt.
std::optional<int> parseCommandLine(CLI::App &app, int argc, const char *const *argv);

// Checks what flags alone say wrong (output names, levels); an ExitCode after a message, else nullopt.
std::optional<int> checkOptions(const Options &options);

}  // namespace onnxc
