// Roof.h: what this machine can do at most, measured: the yardstick of `onnxc bench`.
#pragma once

namespace onnxc {

struct Roof {
  double gflops = 0;     // f32 fused multiply-adds, 2 operations each
  double gigabytes = 0;  // memory read and written per second
  const char *isa = "";  // widest vectors used: "avx512", "avx2", "scalar"
};

// By vectors of at most `mostBits`: what code of a CPU level can reach. Takes about 0.2 s. With several threads each runs the same loops at
// the same time.
Roof measureRoof(int threads, unsigned mostBits);

}  // namespace onnxc
