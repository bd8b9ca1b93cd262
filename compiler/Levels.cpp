// Levels.cpp: checkSupported and chooseLevels of Pipeline.h: what --device, --precision, --target, --cpu and --custom-op name.
#include "codegen/cpu/Isa.h"
#include "compiler/Messages.h"
#include "compiler/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

namespace onnxc {

int checkSupported(const Options &options) {
  if (options.device != "cpu")
    return fail(ExitOutOfScope, "--device " + options.device + " is not supported by this build: cpu is; `onnxc targets` lists what is");
  if (options.precision == "int8")
    return fail(ExitOutOfScope,
                "--precision int8 is not supported: 8 bits need scales of weights and of what lies between layers. Quantise "
                "the model, e.g. with onnxruntime.quantization: its 8-bit operators (QDQ or QOperator) are compiled as they come");
  for (const auto &[name, library] : options.customOps)
    if (!llvm::sys::fs::exists(library))
      return fail(ExitBadModel, "--custom-op " + name + ": no file '" + library + "'");
  return ExitOk;
}

// " (did you mean aarch64-linux-gnu?)" for the name of a target's processor alone, else nothing.
static std::string nearestTarget(llvm::StringRef name) {
  llvm::Triple::ArchType arch = llvm::Triple(name).getArch();
  for (const Target &target : targets())
    if (!name.contains('-') && target.arch == arch)
      return " (did you mean " + target.name.str() + "?)";
  return "";
}

int chooseLevels(Options &options) {
  if (int status = checkSupported(options))
    return status;
  const Target *target = findTarget(options.target);
  if (!target)
    return fail(ExitOutOfScope, (options.target.empty() ? "this machine" : "--target " + options.target) + " is not supported" +
                                    nearestTarget(options.target) + "; `onnxc targets` lists what is");
  if (options.cpus.empty())
    for (const Isa &isa : isas())
      if (isa.isDefault && isa.arch == target->arch)
        options.cpus.push_back(isa.name.str());
  llvm::SmallVector<const Isa *> levels;
  for (const std::string &cpu : options.cpus) {
    std::optional<CpuChoice> choice = chooseCpu(cpu, *target);
    if (!choice) {
      const Target *other = llvm::find_if(targets(), [&](const Target &t) { return chooseCpu(cpu, t) && cpu != "native"; });
      return fail(ExitUsage, "--cpu " + (cpu.empty() ? "''" : cpu) + " is not known for " + target->name + ", which has " +
                                 levelNames(*target) +
                                 (other != targets().end() ? "; it is one of --target " + other->name : "; `onnxc targets` lists what is"));
    }
    if (!llvm::is_contained(levels, choice->isa))
      levels.push_back(choice->isa);
    if (choice->tune.empty())
      continue;
    auto [known, isNew] = options.tune.try_emplace(choice->isa->name.str(), choice->tune);
    if (!isNew && known->second != choice->tune)
      return fail(ExitUsage, "--cpu " + known->second + " and " + choice->tune + " are both of level " + choice->isa->name +
                                 ", for which an artefact has one code; name one of them");
  }
  llvm::sort(levels, [](const Isa *a, const Isa *b) { return a->suffix < b->suffix; });
  options.cpus.clear();
  for (const Isa *isa : levels)
    options.cpus.push_back(isa->name.str());
  return ExitOk;
}

}  // namespace onnxc
