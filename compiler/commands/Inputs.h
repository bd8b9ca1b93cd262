// Inputs.h: what a subcommand runs a model on: .npy or .pb files named by --input, random values for the rest.
#pragma once
#include "compiler/CommandLine.h"
#include "compiler/commands/Artefact.h"

namespace onnxc {

struct InputOptions {
  std::map<std::string, std::string> files;   // of named inputs
  std::optional<int64_t> symbolSize;          // of symbolic dims of random inputs
  std::map<std::string, int64_t> namedSizes;  // of those with these names
  bool saysSizes() const { return symbolSize || !namedSizes.empty(); }
  bool smallest = false;  // or else the nearest to 1 that the compile allows
};
// The model or library that a command works on, and the flags of compiling it, which a library refuses.
void bindArtefact(CLI::App &app, std::string &path, Options &code);
// `group`: of --help; empty: CLI11's own.
void bindInputOptions(CLI::App &app, InputOptions &options, const std::string &group = "");
void bindLoadOptions(CLI::App &app, LoadOptions &load);

// In the order of the artefact's inputs; sizes with a name that a file gives are those of random inputs too.
llvm::Expected<std::vector<Value>> makeInputs(const Artefact &artefact, const InputOptions &options);

// "x float32[1,3,1,1]; sizes that were not given: height = 1, width = 1": of the values that nobody gave; "" where all were given.
std::string randomInputs(const Artefact &artefact, const InputOptions &options, const std::vector<Value> &values);
// Says so.
void noteRandomInputs(const Artefact &artefact, const InputOptions &options, const std::vector<Value> &values);

// The first run. Random integers are 0 and 1; where a node refuses them (an index past a dim of 1), zeros take their place, with a note.
// The error of a run on random inputs tells what they were.
llvm::Error firstRun(Artefact &artefact, const InputOptions &options, std::vector<Value> &values);

}  // namespace onnxc
