// Isa.h: the targets and their instruction-set levels that code is emitted for. One artefact may hold several levels of one target; the
// runtime picks one when it loads.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>
#include <string>

namespace onnxc {

using Arch = llvm::Triple::ArchType;

// A family of CPUs with a system.
struct Target {
  llvm::StringRef name;    // what --target takes: "x86_64-linux-gnu"
  llvm::StringRef triple;  // LLVM's
  Arch arch;
  llvm::StringRef plain;    // the level that every machine has
  llvm::StringRef example;  // CPU names that --cpu takes too
};
llvm::ArrayRef<Target> targets();
// Of a triple, "" being this machine's; null: there is none.
const Target *findTarget(llvm::StringRef triple);

struct Isa {
  llvm::StringRef name;    // what --cpu takes: "x86-64-v3"
  llvm::StringRef suffix;  // of emitted functions: "v3"
  Arch arch;
  llvm::StringRef cpu;       // LLVM's name
  llvm::StringRef features;  // LLVM feature string on top of it
  unsigned vectorBits, vectorRegisters;
  bool convertsHalves;    // f16 to f32 and back by instructions
  bool fusesProducts;     // a product and a sum are one instruction, rounded once
  bool multipliesByLane;  // an FMA takes a lane of a register as its scalar
  bool extremesGiveNan;   // maximum and minimum of floats are one instruction and NaN where either is
  bool mayHaveTiles;      // some of its CPUs multiply tiles of bf16
  llvm::StringRef needs;  // what a CPU must have to run it, in LLVM's names
  bool isDefault;         // in an artefact when --cpu is not given
};

// All levels of all targets, newest first.
llvm::ArrayRef<Isa> isas();

// Null for a name that is no level.
const Isa *findIsa(llvm::StringRef name);

// The target of a level.
const Target &targetOf(const Isa &isa);

// What a name given to --cpu stands for: the greatest level that the CPU runs, and the CPU whose timings LLVM schedules for (empty: none).
struct CpuChoice {
  const Isa *isa;
  std::string tune;
};
// Of a level of `target`, of "native" where that is this machine's, or of a CPU that LLVM knows; nothing: no such name.
std::optional<CpuChoice> chooseCpu(llvm::StringRef name, const Target &target);

// The names of the target's levels, for messages.
std::string levelNames(const Target &target);

// Makes LLVM's parts for all targets known; again is nothing.
void initializeTargets();

}  // namespace onnxc
