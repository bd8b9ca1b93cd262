// FastExp.h: exponentials, sums and maxima of sixteen lanes for softmax. Beside Math.h, whose functions are for loops that LLVM vectorises.
#pragma once
#include "runtime_stub/kernels/Lanes.h"

namespace onnxc {

// e^x for x <= 0, within 2 ulp to -20 and 5 to -87; 0 below -87.68, where it is subnormal. NaN in, NaN out. As in
// codegen/cpu/VectorMath.cpp.
ONNXC_INLINE v16 expNegative(v16 x) {
  constexpr float magic = 12582912 + 126;  // the low bits of `shifted` are n with an exponent's bias
  v16 c = x < v16(-87.3f) ? v16(-87.3f) : x;
  v16 shifted = multiplyAdd(c, v16(1.44269504088896341f), v16(magic)), n = shifted - v16(magic);
  v16 r;
  if (onnxc_vector_bits > 128)
    r = multiplyAdd(n, v16(-0.69314718055994531f), c);
  else  // products may be rounded
    r = multiplyAdd(n, v16(-1.42860682030941723e-6f), multiplyAdd(n, v16(-0.693145751953125f), c));
  v16 p = v16(2 * 0.001383683770778305f);
  p = multiplyAdd(p, r, v16(2 * 0.008374822090776626f));
  p = multiplyAdd(p, r, v16(2 * 0.04166822605030219f));
  p = multiplyAdd(p, r, v16(2 * 0.1666642009533914f));
  p = multiplyAdd(p, r, v16(2 * 0.49999992076176153f));
  p = multiplyAdd(p, r, v16(2.0f));
  p = multiplyAdd(p, r, v16(2.0f));
  return p * __builtin_bit_cast(v16, __builtin_bit_cast(i32x16, shifted) << 23);
}

// Over all lanes, in halves; NaN loses against numbers in largestOf.
ONNXC_INLINE float sumOf(v16 v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return v[0] + v[1];
}
ONNXC_INLINE v16 larger(v16 a, v16 b) { return b > a ? b : a; }
ONNXC_INLINE float largestOf(v16 v) {
  v = larger(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = larger(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = larger(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  return v[1] > v[0] ? v[1] : v[0];
}

}  // namespace onnxc
