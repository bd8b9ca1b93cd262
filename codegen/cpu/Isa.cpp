// Isa.cpp: the table of levels.
#include "codegen/cpu/Isa.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace onnxc {

static const Isa table[] = {
    {"x86-64-v4", "v4", "-prefer-256-bit", 512, "avx512f avx512bw avx512cd avx512dq avx512vl avx2 fma bmi2 f16c", true},
    {"x86-64-v3", "v3", "", 256, "avx2 fma bmi bmi2 f16c lzcnt movbe", true},
    {"x86-64-v2", "v2", "", 128, "sse4.2 popcnt", false},
    {"x86-64", "v1", "", 128, "sse2", false},
};

llvm::ArrayRef<Isa> isas() { return table; }

const Isa *findIsa(llvm::StringRef name) {
  for (const Isa &isa : table)
    if (isa.name == name || isa.suffix == name)
      return &isa;
  return nullptr;
}

// The greatest level whose needs `has` says the CPU meets; null: none.
static const Isa *greatestLevel(llvm::function_ref<bool(llvm::StringRef)> has) {
  for (const Isa &isa : table) {
    llvm::SmallVector<llvm::StringRef> needs;
    isa.needs.split(needs, ' ');
    if (llvm::all_of(needs, has))
      return &isa;
  }
  return nullptr;
}

std::optional<CpuChoice> chooseCpu(llvm::StringRef name) {
  if (const Isa *isa = findIsa(name))
    return CpuChoice{isa, ""};
  if (name == "native") {  // what the machine has: a virtual one may lack what its CPU's name promises
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    const Isa *isa = greatestLevel([&](llvm::StringRef f) { return features.lookup(f); });
    return isa ? std::optional(CpuChoice{isa, llvm::sys::getHostCPUName().str()}) : std::nullopt;
  }
  llvm::InitializeNativeTarget();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> any(target ? target->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!any || !any->isCPUStringValid(name))
    return std::nullopt;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu(target->createMCSubtargetInfo(triple, name, ""));
  const Isa *isa = greatestLevel([&](llvm::StringRef f) { return cpu->checkFeatures(("+" + f).str()); });
  return isa ? std::optional(CpuChoice{isa, name.str()}) : std::nullopt;
}

}  // namespace onnxc
