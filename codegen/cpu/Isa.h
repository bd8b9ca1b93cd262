// Isa.h: the instruction-set levels that code is emitted for. One artefact may hold several; the runtime picks one when it loads.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace onnxc {

struct Isa {
  llvm::StringRef name;      // what --cpu takes: "x86-64-v3"
  llvm::StringRef suffix;    // of emitted functions: "v3"
  llvm::StringRef features;  // LLVM feature string on top of the CPU named by `name`
  unsigned vectorBits;
  llvm::StringRef needs;  // what a CPU must have to run it, in LLVM's names
  bool isDefault;         // in an artefact when --cpu is not given
};

// All levels, newest first.
llvm::ArrayRef<Isa> isas();

// Null for a name that is no level.
const Isa *findIsa(llvm::StringRef name);

// What a name given to --cpu stands for: the greatest level that the CPU runs, and the CPU whose timings LLVM schedules for (empty: none).
struct CpuChoice {
  const Isa *isa;
  std::string tune;
};
// Of a level, of "native" or of a CPU that LLVM knows; nothing: no such name.
std::optional<CpuChoice> chooseCpu(llvm::StringRef name);

}  // namespace onnxc
