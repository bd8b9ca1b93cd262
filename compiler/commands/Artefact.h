// Artefact.h: a compiled model loaded into this process through the public ABI (runtime_stub/include/onnxc/onnxc.h), as run, verify, bench
// and inspect need it. A .onnx file is compiled to a temporary library first.
#pragma once
#include "compiler/Options.h"
#include "compiler/commands/Value.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <memory>
#include <optional>

namespace onnxc {

// What a compile said of a symbolic size.
struct SizeRange {
  int64_t least = 0, expected = -1, most = INT64_MAX;  // -1: not said
  int64_t nearestTo1() const { return std::clamp<int64_t>(1, least, most); }
};

struct Port {
  std::string name;
  Value::Kind kind = Value::Tensor;
  int32_t dtype = 1;
  int32_t keyDtype = 0;              // of a map
  int32_t rank = 0;                  // -1: not fixed
  std::vector<int64_t> dims;         // -1: symbolic or known only after the run
  std::vector<std::string> symbols;  // name of each dim that has one, else ""
  std::vector<SizeRange> ranges;     // of each dim that is symbolic
  bool hasDefault = false;           // an input that a run may leave out

  std::string type() const;  // "float32[batch,3,224,224]"
};

// "sequence of float32[batch,3]": `element` is a DType's name or "?", `sizes` a number, a name or "?" for each dim, or nothing where the
// rank is not fixed.
std::string portType(Value::Kind kind, llvm::StringRef element, const std::optional<std::vector<std::string>> &sizes);

// One launch of the plan: sums over its calls in the profiled runs; flops and bytes -1 where unknown.
struct KernelTime {
  int32_t site = -1;
  std::string node, op, kernel;
  int64_t calls = 0, nanoseconds = 0, flops = 0, bytes = 0;
};

// What a launch made, in the layout of its kernel.
struct NodeResult {
  std::string node, op, kernel;
  int index = 0;  // among the kernel's results
  Value value;
};

// How a library is taken into the process.
struct LoadOptions {
  int threads = 1;              // 0: as many as the machine has
  std::string weights;          // the file of external weights; empty: beside the library
  bool mayLackWeights = false;  // it then describes itself and cannot run
};

class Artefact {
public:
  // `code` holds the flags for compiling when `path` is a model.
  static llvm::Expected<std::unique_ptr<Artefact>> open(const std::string &path, const Options &code, const LoadOptions &load);
  ~Artefact();

  const std::string &path() const;  // of the library
  const std::vector<Port> &inputs() const;
  const std::vector<Port> &outputs() const;
  llvm::json::Object description() const;    // what it says of itself, as Describe.h makes it; empty where that is no JSON
  bool hasFlag(llvm::StringRef flag) const;  // whether it was compiled with "--flag value"
  unsigned vectorBits() const;               // of the level that was chosen for this processor
  // How its kernels were cut: kernel -> numbers of codegen/cpu/Schedule.h.
  std::map<std::string, std::map<std::string, int64_t>> schedules() const;
  int64_t weightBytes() const;
  int64_t arenaBytes() const;     // after the last run; -1: unknown
  int64_t reservedBytes() const;  // before the first run; -1: unknown

  bool canRun() const;  // its weights were found

  // Runs once. Inputs in the order of inputs(); they must outlive the runs that follow.
  void bind(const std::vector<Value> &values);
  llvm::Error runOnce();
  std::vector<Value> results() const;

  // Times each launch of one more run; adds to `times`, in launch order.
  llvm::Error profile(std::vector<KernelTime> &times);
  // Runs once and keeps the tensors that launches make, in launch order.
  llvm::Error trace(std::vector<NodeResult> &results);

private:
  Artefact();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

// An error that report() gives `code` for; without a text it was said before.
llvm::Error failure(int code, const llvm::Twine &text);

// Prints "onnxc: error: …" for a failed open or run and returns the exit code that belongs to it.
int report(llvm::Error error);

}  // namespace onnxc
