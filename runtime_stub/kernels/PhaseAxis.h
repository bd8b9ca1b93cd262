// PhaseAxis.h: an axis of a phase of a transposed convolution, as the compiler cuts packed.ConvTranspose into phases and FastConvBlocks.cpp
// packed.NarrowConv. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

// The results first, first + stride, ..., which taps phase, phase + stride, ... make. They are those of a convolution of stride 1 over the
// input with these taps in reverse.
struct PhaseAxis {
  int64_t stride, first, taps, pad;  // `pad`: before the input, negative where its first pixels are not read

  // `crop`: results that are dropped before the first. The kernel is no shorter than the stride.
  constexpr PhaseAxis(int64_t phase, int64_t kernel, int64_t stride, int64_t crop)
      : stride(stride), first(((phase - crop) % stride + stride) % stride), taps((kernel - phase + stride - 1) / stride),
        pad(taps - 1 - (first + crop) / stride) {}
  // Results of this phase among `size` of all.
  constexpr int64_t count(int64_t size) const { return (size - first + stride - 1) / stride; }
};

}  // namespace onnxc
