// LibraryNames.h: which kernels the library has, as its bitcode says. compiler/Unsupported.cpp asks before code is generated.
#pragma once
#include "codegen/cpu/Isa.h"
#include <vector>

namespace onnxc {

// Whether there is a kernel `symbol`, e.g. "TopK_f32" (librarySymbol in dialects/kernel/Families.h).
bool hasLibraryKernel(Arch arch, llvm::StringRef symbol);
// The types for which there is a kernel `name` that is chosen by one: {"f32", "f64"}.
std::vector<std::string> typesOfKernel(Arch arch, llvm::StringRef name);

}  // namespace onnxc
