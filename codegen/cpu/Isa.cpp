// Isa.cpp: the tables of targets and levels.
#include "codegen/cpu/Isa.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

namespace onnxc {

static const Target allTargets[] = {
    {"x86_64-linux-gnu", "x86_64-unknown-linux-gnu", Arch::x86_64, "x86-64", "znver4 or sapphirerapids"},
    {"aarch64-linux-gnu", "aarch64-unknown-linux-gnu", Arch::aarch64, "armv8-a", "cortex-a76 or neoverse-v1"},
};

static const Isa table[] = {
    {"x86-64-v4", "v4", Arch::x86_64, "x86-64-v4", "-prefer-256-bit", 512, 32, true, true, false, false, true,
     "avx512f avx512bw avx512cd avx512dq avx512vl avx2 fma bmi2 f16c", true},
    {"x86-64-v3", "v3", Arch::x86_64, "x86-64-v3", "", 256, 16, true, true, false, false, false, "avx2 fma bmi bmi2 f16c lzcnt movbe",
     true},
    {"x86-64-v2", "v2", Arch::x86_64, "x86-64-v2", "", 128, 16, false, false, false, false, false, "sse4.2 popcnt", false},
    {"x86-64", "v1", Arch::x86_64, "x86-64", "", 128, 16, false, false, false, false, false, "sse2", false},
    {"armv8-a", "v8a", Arch::aarch64, "generic", "+fp-armv8,+neon", 128, 32, true, true, true, true, false, "fp-armv8 neon", true},
};

llvm::ArrayRef<Target> targets() { return allTargets; }

const Target *findTarget(llvm::StringRef name) {
  llvm::Triple triple(name.empty() ? llvm::sys::getDefaultTargetTriple() : llvm::Triple::normalize(name));
  for (const Target &target : allTargets)
    if (triple.getArch() == target.arch && triple.isOSLinux() && triple.isGNUEnvironment())
      return &target;
  return nullptr;
}

const Target &targetOf(const Isa &isa) {
  return *llvm::find_if(allTargets, [&](const Target &target) { return target.arch == isa.arch; });
}

llvm::ArrayRef<Isa> isas() { return table; }

const Isa *findIsa(llvm::StringRef name) {
  for (const Isa &isa : table)
    if (isa.name == name || isa.suffix == name)
      return &isa;
  return nullptr;
}

// The greatest level whose needs `has` says a CPU of the target meets; null: none.
static const Isa *greatestLevel(const Target &target, llvm::function_ref<bool(llvm::StringRef)> has) {
  for (const Isa &isa : table) {
    llvm::SmallVector<llvm::StringRef> needs;
    isa.needs.split(needs, ' ');
    if (isa.arch == target.arch && llvm::all_of(needs, has))
      return &isa;
  }
  return nullptr;
}

std::optional<CpuChoice> chooseCpu(llvm::StringRef name, const Target &target) {
  if (const Isa *isa = findIsa(name))
    return isa->arch == target.arch ? std::optional(CpuChoice{isa, ""}) : std::nullopt;
  if (name == "native") {  // what the machine has: a virtual one may lack what its CPU's name promises
    if (&target != findTarget(""))
      return std::nullopt;
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    const Isa *isa = greatestLevel(target, [&](llvm::StringRef f) { return features.lookup(f); });
    return isa ? std::optional(CpuChoice{isa, llvm::sys::getHostCPUName().str()}) : std::nullopt;
  }
  initializeTargets();
  llvm::Triple triple(target.triple);
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> any(found ? found->createMCSubtargetInfo(triple, "", "") : nullptr);
  if (!any || !any->isCPUStringValid(name))
    return std::nullopt;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu(found->createMCSubtargetInfo(triple, name, ""));
  const Isa *isa = greatestLevel(target, [&](llvm::StringRef f) { return cpu->checkFeatures(("+" + f).str()); });
  return isa ? std::optional(CpuChoice{isa, name.str()}) : std::nullopt;
}

std::string levelNames(const Target &target) {
  std::string names;
  for (const Isa &isa : table)
    if (isa.arch == target.arch)
      names += (names.empty() ? "" : ", ") + isa.name.str();
  return names;
}

void initializeTargets() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();  // library kernels may hold inline assembly
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
}

}  // namespace onnxc
