// FastExp.h: exponentials of sixteen lanes for softmax. Beside Math.h, whose functions are for loops that LLVM vectorises.
#pragma once
#include "runtime_stub/kernels/Lanes.h"

namespace onnxc {

typedef int32_t v16i __attribute__((ext_vector_type(16), aligned(4)));

// e^x for x <= 0, within 2 ulp; 0 where the result would be subnormal. NaN in, NaN out.
ONNXC_INLINE v16 expNegative(v16 x) {
  v16 c = x < v16(-87.0f) ? v16(-87.0f) : x;
  v16 n = __builtin_elementwise_rint(c * 1.44269504088896341f);
  v16 r = __builtin_elementwise_fma(n, v16(-0.693145751953125f), c);
  r = __builtin_elementwise_fma(n, v16(-1.42860682030941723e-6f), r);
  v16 p = v16(1.0f / 720);
  p = __builtin_elementwise_fma(p, r, v16(1.0f / 120));
  p = __builtin_elementwise_fma(p, r, v16(1.0f / 24));
  p = __builtin_elementwise_fma(p, r, v16(1.0f / 6));
  p = __builtin_elementwise_fma(p, r, v16(0.5f));
  p = __builtin_elementwise_fma(p, r, v16(1.0f));
  p = __builtin_elementwise_fma(p, r, v16(1.0f));
  v16 safe = x == x ? n : v16(0.0f);
  v16 scaled = p * __builtin_bit_cast(v16, (__builtin_convertvector(safe, v16i) + 127) << 23);
  v16 whole = x < v16(-87.0f) ? v16(0.0f) : scaled;
  return x == x ? whole : x;
}

}  // namespace onnxc
