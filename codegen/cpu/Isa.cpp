// Isa.cpp: the table of instruction-set levels.
#include "codegen/cpu/Isa.h"
#include "llvm/ADT/ArrayRef.h"

namespace onnxc {

static const Isa table[] = {
    {"x86-64-v4", "v4", "x86_64", "-prefer-256-bit", 512, 32, true},
    {"x86-64-v3", "v3", "x86_64", "", 256, 16, false},
    {"x86-64-v2", "v2", "x86_64", "", 128, 16, false},
    {"x86-64", "v1", "x86_64", "", 128, 16, false},
    {"generic", "a64", "aarch64", "+neon", 128, 32, false},
};

unsigned Isa::accumulators(unsigned panels) const {
  unsigned per = registersPerPanel();
  // One register for the broadcast, the weights of one step beside the accumulators; with narrow registers weights are read from memory.
  unsigned spare = vectorBits == 128 ? (registers > 16 ? 8 : 4) : 1 + panels * per;
  return spare >= registers ? 1 : (registers - spare) / per;
}

const Isa *findIsa(llvm::StringRef name) {
  for (const Isa &isa : table)
    if (isa.name == name || isa.suffix == name)
      return &isa;
  return nullptr;
}

const Isa &baselineIsa(llvm::StringRef arch) { return *findIsa(arch == "aarch64" ? "generic" : "x86-64-v3"); }

}  // namespace onnxc
