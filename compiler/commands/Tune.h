// Tune.h: `--tune`: schedules measured on this machine.
#pragma once
#include "compiler/commands/Inputs.h"

namespace onnxc {

// Times other schedules (codegen/cpu/Schedule.h) than the cost model's for the kernels of the model that `options` name, for about
// options.tuneSeconds; adds those that are faster to options.scheduleFile and compiles with them.
int tuneAndCompile(Options options, const InputOptions &inputs);

}  // namespace onnxc
