// Transpose.h: squares in registers, whose rows become columns. Beside Lanes.h.
#pragma once
#include "runtime_stub/kernels/Lanes.h"

namespace onnxc {

// Rows in registers, aligned as no operand is.
typedef float Row8 __attribute__((ext_vector_type(8)));
typedef float Row16 __attribute__((ext_vector_type(16)));
template <int N, class T = float>
struct Square {
  typedef T Row __attribute__((ext_vector_type(N)));
};

// Sixteen rows of sixteen, in four rounds of interleaving halves.
template <class Row>
ONNXC_INLINE void transpose(Row (&r)[16]) {
  for (int round = 0; round < 4; ++round) {
    Row t[16];
    unroll<0, 8>([&](auto i) {
      constexpr int k = i.value;
      t[2 * k] = __builtin_shufflevector(r[k], r[k + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      t[2 * k + 1] = __builtin_shufflevector(r[k], r[k + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    });
    unroll<0, 16>([&](auto i) { r[i.value] = t[i.value]; });
  }
}

// Eight rows of eight, for targets that have no vectors of sixteen: pairs, quads and halves, the first two within 128 bits.
ONNXC_INLINE void transpose(Row8 (&r)[8]) {
  Row8 pairs[8], quads[8];
  unroll<0, 4>([&](auto i) {
    constexpr int k = 2 * i.value;
    pairs[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  });
  unroll<0, 4>([&](auto i) {
    constexpr int k = i.value / 2 * 4 + i.value % 2, to = i.value / 2 * 4 + i.value % 2 * 2;
    quads[to] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    quads[to + 1] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  });
  unroll<0, 4>([&](auto i) {
    constexpr int k = i.value;
    r[k] = __builtin_shufflevector(quads[k], quads[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[k + 4] = __builtin_shufflevector(quads[k], quads[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  });
}

// Four rows of four.
template <class Row>
ONNXC_INLINE void transpose(Row (&r)[4]) {
  Row a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  Row c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

}  // namespace onnxc
