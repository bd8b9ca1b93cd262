// Isa.h: the instruction-set levels that code is emitted for. One artefact may hold several; the runtime picks one when it loads.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

struct Isa {
  llvm::StringRef name;      // what --cpu takes: "x86-64-v3"
  llvm::StringRef suffix;    // of emitted functions: "v3"
  llvm::StringRef features;  // LLVM feature string on top of the CPU named by `name`
  unsigned vectorBits;
};

// Null for a name that is no level.
const Isa *findIsa(llvm::StringRef name);

}  // namespace onnxc
