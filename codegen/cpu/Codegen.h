// Codegen.h: from a module of kernels and a plan to ELF objects. Compile.cpp drives; one emitter per kernel family; EmitTables.cpp writes
// what the stub reads.
#pragma once
#include "codegen/cpu/Isa.h"
#include "codegen/cpu/Schedule.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxc {

// How far the kernels of all levels are; counted while they are made, on several threads.
struct KernelCount {
  size_t total = 0;
  std::atomic<size_t> halves = 0;  // a kernel is optimised, then emitted
};

// What an artefact says about itself, beside its inputs and outputs.
struct SelfDescription {
  std::string json = "{}", compiler, modelHash;
  std::vector<std::string> flags;
};

// Holds SelfDescription's text in every artefact, for who cannot load it.
inline constexpr llvm::StringLiteral kDescriptionSection = ".onnxc.json";

struct CodegenOptions {
  std::vector<std::string> cpus;  // levels, oldest first
  int optLevel = 3;
  std::string modelName;  // a C identifier
  SelfDescription self;
  enum { Object, Assembly, Ir } emit = Object;
  std::map<std::string, std::string> tune = {};  // level -> CPU whose timings its code is scheduled for
  Schedules schedules = {};                      // what takes the place of the cost model's choices
  std::string cache = {};                        // folder of finished code by the hash of what it was made from; empty: none
  std::function<void(llvm::StringRef)> phase = [](llvm::StringRef) {};  // called when a part of the work is done
  KernelCount *count = nullptr;
  std::optional<std::string> weightsFile = {};  // onnxc_plan's weights_file; nothing: null
};

// Objects of the artefact: of each level one and its library parts, then tables, then the stub. Failure leaves a diagnostic on the module.
mlir::FailureOr<std::vector<std::string>> compileForCpu(mlir::ModuleOp module, const CodegenOptions &options);

// On a library function that a module calls: a node that needs it. The library's definition takes its place.
inline constexpr llvm::StringLiteral kNodeAttr = "onnxc-node";

// On a global that lowerPlan declares: the DenseStringElementsAttr whose stringTable takes its place.
inline constexpr llvm::StringLiteral kStringsAttr = "onnxc.strings";
// A constant of `m`: pointer and size of each string; the texts lie in one piece.
llvm::GlobalVariable *stringTable(llvm::Module &m, llvm::ArrayRef<llvm::StringRef> strings);
// Defines `<kernel>` (and `<kernel>.size`) of family "library" in `target`.
mlir::LogicalResult emitLibrary(kernel::FuncOp kernel, llvm::Module &target);
// Rewrites plan ops, after scf became cf, to the LLVM dialect. `onnxc.scratch` of the module: bytes that a task takes at most, so far as
// sizes are bounded.
mlir::LogicalResult lowerPlan(mlir::ModuleOp target);
// Adds onnxc_the_plan, onnxc_the_info and the getters to `tables`. `scratch`: of each level, see lowerPlan.
void emitTables(mlir::ModuleOp module, const CodegenOptions &options, llvm::ArrayRef<int64_t> scratch, llvm::Module &tables);

// An element of onnxc.inputs or onnxc.outputs as the fields of runtime_stub/plan.h's onnxc_io.
struct PortFacts {
  llvm::StringRef name;
  int32_t kind, dtype, keyDtype, rank;
  llvm::SmallVector<int64_t> dims;
};
// `shown`: as callers see it; one of any rank has a dim in the plan, its number of elements.
PortFacts portFacts(mlir::DictionaryAttr port, bool shown, bool input);

// What one launch of a kernel takes: a sum of terms, each a factor times local dims.
struct CostTerm {
  int64_t factor;
  llvm::SmallVector<int64_t> dims;
};
struct Cost {
  using Sum = std::optional<std::vector<CostTerm>>;  // nothing: unknown
  Sum flops, bytes;
};
Cost costOf(kernel::FuncOp kernel);
// The value of a sum without dims; -1 for others.
int64_t fixedCost(const Cost::Sum &sum);

// Why nothing can be kept in `folder`, which is made where it does not exist; empty: it can.
std::string cacheProblem(llvm::StringRef folder);
// Finished code that an earlier compile left in `folder` under the hash of `key`; nothing: none, or no such folder.
std::optional<std::string> cached(llvm::StringRef folder, llvm::StringRef key);
// Leaves it there, whole or not at all. What fails is no error: the next compile works again.
void keep(llvm::StringRef folder, llvm::StringRef key, llvm::StringRef code);

// Straight-line code so long that LLVM's passes, which take more than linear time, are not worth it.
void markLong(llvm::Function &f);

}  // namespace onnxc
