// Phases.h: what --time-phases, --dump-phases and --size-report show of a compile, and its progress on a terminal. compiler/Pipeline.cpp
// tells it when a phase begins and when one is done.
#pragma once
#include "compiler/Options.h"
#include "compiler/Progress.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>
#include <vector>

namespace onnxc {

class Phases {
public:
  explicit Phases(const Options &options);
  ~Phases();  // prints the times

  // For the terminal alone: what takes long now, in words.
  void begin(llvm::StringRef what, const KernelCount *kernels = nullptr);

  // A phase is over; with `module`, the program it left is written under --dump-phases: as text without large constants, and whole as
  // bytecode unless that is very large. False: that failed, and was reported.
  bool done(llvm::StringRef name, mlir::ModuleOp module = {});

private:
  bool dump(llvm::StringRef name, mlir::ModuleOp module);
  bool write(llvm::StringRef name, llvm::function_ref<void(llvm::raw_ostream &)> write);

  using Clock = std::chrono::steady_clock;
  struct Time {
    std::string name;
    double milliseconds;
  };
  const Options &options;
  Clock::time_point last = Clock::now();
  std::vector<Time> times;
  unsigned dumped = 0;
  std::optional<Progress> progress;
};

// What the bytes of the finished file are, section by section.
void printSizeReport(const Options &options);

}  // namespace onnxc
