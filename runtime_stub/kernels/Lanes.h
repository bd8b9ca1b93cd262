// Lanes.h: vector types and compile-time unrolling of the fast kernels. Below Product.h.
#pragma once
#include "runtime_stub/kernels/Index.h"

extern "C" const int32_t onnxc_vector_bits;  // of the level being compiled; a constant after linking

namespace onnxc {

constexpr int64_t kLanes = 16;  // channels of a block (dialects/onnx/Blocked.h)

typedef float v8 __attribute__((ext_vector_type(8), aligned(4)));
typedef float v16 __attribute__((ext_vector_type(16), aligned(4)));
typedef int32_t v16i __attribute__((ext_vector_type(16), aligned(4)));

template <int I>
struct Index {
  static constexpr int value = I;
};
template <int I, int N, class F>
ONNXC_INLINE void unroll(const F &f) {
  if constexpr (I < N) {
    f(Index<I>());
    unroll<I + 1, N>(f);
  }
}

}  // namespace onnxc
