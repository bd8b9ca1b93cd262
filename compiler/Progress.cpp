// Progress.cpp: see Progress.h.
#include "compiler/Progress.h"
#include "llvm/Support/Process.h"
#include <unistd.h>

namespace onnxc {

static std::mutex drawing;          // held by whoever writes to standard error while a line may be there
static std::atomic<size_t> length;  // of the line that is there

static void put(llvm::StringRef text) { (void)!write(2, text.data(), text.size()); }

void eraseProgress() {
  constexpr llvm::StringLiteral blanks = "\r                                                                               \r";
  if (length.exchange(0))
    put(blanks);
}

NoProgress::NoProgress() : lock(drawing) { eraseProgress(); }

Progress::Progress(double after) : after(after) {
  ticks = std::thread([this] {
    std::unique_lock<std::mutex> lock(drawing);
    while (!end.wait_for(lock, std::chrono::milliseconds(200), [this] { return done; }))
      draw();
  });
}

Progress::~Progress() {
  {
    NoProgress lock;
    done = true;
  }
  end.notify_one();
  ticks.join();
}

void Progress::begin(llvm::StringRef name, const KernelCount *counted) {
  std::unique_lock<std::mutex> lock(drawing);
  phase = name.str();
  kernels = counted;
  draw();
}

void Progress::draw() {
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (phase.empty() || seconds < after)
    return;
  std::string line = "onnxc: " + phase;
  if (kernels)
    line += ", " + std::to_string(kernels->halves / 2) + " of " + std::to_string(kernels->total);
  line += ", " + std::to_string(int64_t(seconds)) + " s";
  size_t columns = llvm::sys::Process::StandardErrColumns();
  line.resize(std::min<size_t>(line.size(), std::min<size_t>(columns ? columns : 80, 80) - 1));
  eraseProgress();
  put(line);
  length = line.size();
}

}  // namespace onnxc
