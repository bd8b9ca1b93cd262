// Tune.h: `--tune`: schedules measured on this machine.
#pragma once
#include "compiler/commands/Inputs.h"

namespace onnxc {

// Times other schedules (codegen/cpu/Schedule.h) for the kernels of the model that `options` name than those of options.scheduleFile, or
// else the cost model's, for about options.tuneSeconds; puts those that are faster into that file, which keeps all other entries, and
// compiles with it.
int tuneAndCompile(Options options, const InputOptions &inputs);

}  // namespace onnxc
