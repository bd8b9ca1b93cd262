// Roof.h: what this machine can do at most, measured: the yardstick of `onnxc bench`.
#pragma once

namespace onnxc {

struct Roof {
  double gflops = 0;     // f32 fused multiply-adds, 2 operations each
  double gigabytes = 0;  // memory read and written per second
  const char *isa = "";  // widest vectors used: "avx512", "avx2", "scalar"
};

// Each runs the same loops on every thread at once and raises what `roof` has.
//
// By vectors of at most `mostBits`: what code of a CPU level can reach. Takes some hundredths of a second, and belongs both before and
// after what is compared with it: others may use the machine, and its clock changes.
void measureUnits(Roof &roof, int threads, unsigned mostBits);
// By arrays larger than the caches, as far as there is memory. Takes up to a second.
void measureMemory(Roof &roof, int threads);

}  // namespace onnxc
