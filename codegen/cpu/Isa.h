// Isa.h: the instruction-set levels that kernels are emitted for. One artefact may hold several; the runtime picks one when it loads.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {

struct Isa {
  llvm::StringRef name;      // what --cpu takes: "x86-64-v3"
  llvm::StringRef suffix;    // of emitted functions: "v3"
  llvm::StringRef triple;    // architecture of the triple: "x86_64"
  llvm::StringRef features;  // LLVM feature string on top of the CPU named by `name`
  unsigned vectorBits;
  unsigned registers;        // vector registers
  bool memoryBroadcast;      // a multiply-add can broadcast an operand from memory

  // Registers that hold one panel of 16 f32 lanes.
  unsigned registersPerPanel() const { return 512 / vectorBits; }
  // Panels' worth of accumulators a microkernel may keep in registers, for `panels` weight panels loaded at a time.
  unsigned accumulators(unsigned panels) const;
};

// Null for a name that is no level.
const Isa *findIsa(llvm::StringRef name);
const Isa &baselineIsa(llvm::StringRef arch);

}  // namespace onnxc
