// WeightsFile.h: the file of weights that stands beside an artefact; neighbour of Link.cpp.
#pragma once
#include "runtime_stub/plan.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace onnxc {

// Writes what `write` does, `size` bytes, behind their stamp to `path`. Gives the stamp, by which the artefact knows its file.
llvm::Expected<onnxc_weights_stamp> writeWeightsFile(llvm::StringRef path, uint64_t size,
                                                     const std::function<llvm::Error(llvm::raw_ostream &)> &write);

}  // namespace onnxc
