// Npy.h: numpy's .npy files as Values; see Value.h.
#pragma once
#include "compiler/commands/Value.h"
#include "llvm/Support/Error.h"

namespace onnxc {

// Reads `path`. Types numpy does not know (bfloat16, fp8, 4 and 2 bits) are stored as raw bytes ("V1", "V2"): `wanted` (a dtype code) says
// what they are.
llvm::Expected<Value> readNpy(llvm::StringRef path, int32_t wanted);

// Writes a tensor; strings as UTF-32 of fixed width ("U<n>").
llvm::Error writeNpy(llvm::StringRef path, const Value &tensor);

}  // namespace onnxc
