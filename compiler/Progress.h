// Progress.h: one line on a terminal that says how far a compile is: its phase, kernels, seconds. compiler/Phases.cpp draws it; whatever
// else writes to standard error takes it away first.
#pragma once
#include "codegen/cpu/Codegen.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace onnxc {

class Progress {
public:
  // Shows nothing before so many seconds have passed.
  explicit Progress(double after);
  ~Progress();
  // A phase begins; `kernels` of it are counted.
  void begin(llvm::StringRef phase, const KernelCount *kernels = nullptr);

private:
  using Clock = std::chrono::steady_clock;
  void draw();
  const Clock::time_point start = Clock::now();
  const double after;
  std::string phase;
  const KernelCount *kernels = nullptr;
  bool done = false;
  std::condition_variable end;
  std::thread ticks;
};

// There is no line while this lives.
class NoProgress {
public:
  NoProgress();

private:
  std::unique_lock<std::mutex> lock;
};

// Takes the line away in a program that is about to end, without a lock.
void eraseProgress();

}  // namespace onnxc
