// Layers.h: the results of every launch of a model beside those of its -O0 build, for `onnxc verify --layers`.
#pragma once
#include "compiler/commands/Artefact.h"

namespace onnxc {

// Runs both on `inputs` and prints the launches whose results differ by more than rtol of the tensor's largest value. Number of them.
llvm::Expected<int> compareLayers(Artefact &artefact, Artefact &reference, const std::vector<Value> &inputs, const Tolerance &tolerance);

}  // namespace onnxc
