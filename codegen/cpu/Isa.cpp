// Isa.cpp: the table of levels.
#include "codegen/cpu/Isa.h"

namespace onnxc {

static const Isa table[] = {
    {"x86-64-v4", "v4", "-prefer-256-bit", 512},
    {"x86-64-v3", "v3", "", 256},
    {"x86-64-v2", "v2", "", 128},
    {"x86-64", "v1", "", 128},
};

const Isa *findIsa(llvm::StringRef name) {
  for (const Isa &isa : table)
    if (isa.name == name || isa.suffix == name)
      return &isa;
  return nullptr;
}

}  // namespace onnxc
