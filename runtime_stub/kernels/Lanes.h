// Lanes.h: vector types and compile-time unrolling of the fast kernels. Below Product.h.
#pragma once
#include "runtime_stub/kernels/Index.h"

extern "C" const int32_t onnxc_vector_bits;  // of the level being compiled; a constant after linking

namespace onnxc {

constexpr int64_t kLanes = 16;          // channels of a block (dialects/onnx/Blocked.h)
constexpr int64_t kPiecePixels = 1024;  // of a plane that is moved in pieces (Parallel.h); a multiple of kLanes

// Of floats.
typedef float v8 __attribute__((ext_vector_type(8), aligned(4)));
typedef float v16 __attribute__((ext_vector_type(16), aligned(4)));
// Of integers: the type of an element, its bits, and the number of elements.
typedef int8_t i8x16 __attribute__((ext_vector_type(16), aligned(1)));
typedef uint8_t u8x16 __attribute__((ext_vector_type(16), aligned(1)));
typedef uint8_t u8x64 __attribute__((ext_vector_type(64), aligned(1)));
typedef int16_t i16x8 __attribute__((ext_vector_type(8), aligned(2)));
typedef int16_t i16x16 __attribute__((ext_vector_type(16), aligned(2)));
typedef int32_t i32x16 __attribute__((ext_vector_type(16), aligned(4)));
typedef uint32_t u32x8 __attribute__((ext_vector_type(8), aligned(4)));
typedef uint32_t u32x16 __attribute__((ext_vector_type(16), aligned(4)));

// Sixteen of any element.
template <class E>
struct SixteenOf {
  typedef E type __attribute__((ext_vector_type(16), aligned(sizeof(E))));
};
template <class E>
using Sixteen = typename SixteenOf<E>::type;

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

// f of all sixteen lanes, of halves of them at a time.
template <class V, class F>
ONNXC_INLINE auto foldLanes(V v, const F &f) {
  auto eight = f(v.lo, v.hi);
  auto four = f(eight.lo, eight.hi);
  auto two = f(four.lo, four.hi);
  return f(two.x, two.y);
}

// Widens [low, high] to the `n` numbers of x; NaN is passed over.
ONNXC_INLINE void widenRange(const float *x, int64_t n, float &low, float &high) {
  constexpr int kChains = 4;
  int64_t i = 0;
  v16 lows[kChains], highs[kChains];
  for (int c = 0; c < kChains; ++c)
    lows[c] = v16(low), highs[c] = v16(high);
  for (; i + 16 * kChains <= n; i += 16 * kChains)
    unroll<0, kChains>([&](auto c) {
      v16 v = *(const v16 *)(x + i + 16 * c.value);
      lows[c.value] = v < lows[c.value] ? v : lows[c.value];
      highs[c.value] = v > highs[c.value] ? v : highs[c.value];
    });
  const auto lower = [](auto a, auto b) { return b < a ? b : a; };
  const auto higher = [](auto a, auto b) { return b > a ? b : a; };
  low = foldLanes(lower(lower(lows[0], lows[1]), lower(lows[2], lows[3])), lower);
  high = foldLanes(higher(higher(highs[0], highs[1]), higher(highs[2], highs[3])), higher);
  for (; i < n; ++i)
    low = x[i] < low ? x[i] : low, high = x[i] > high ? x[i] : high;
}

// Whether one of n values is NaN.
inline bool holdsNaN(const float *x, int64_t n) {
  i32x16 any = i32x16(0);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    v16 a = *(const v16 *)(x + i), b = *(const v16 *)(x + i + 16), c = *(const v16 *)(x + i + 32), d = *(const v16 *)(x + i + 48);
    any |= ((a != a) | (b != b)) | ((c != c) | (d != d));
  }
  for (; i + 16 <= n; i += 16) {
    v16 v = *(const v16 *)(x + i);
    any |= v != v;
  }
  int32_t found = __builtin_reduce_or(any);
  for (; i < n; ++i)
    found |= x[i] != x[i];
  return found != 0;
}

}  // namespace onnxc
