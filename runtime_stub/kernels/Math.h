// Math.h: branch-free f32 functions for loops that LLVM vectorises. Pointwise kernels use them; test/math checks the bounds over all
// floats.
//
// Bounds in ulp of the exact result: exp 2, sigmoid 3, tanh 3. NaN in, NaN out; overflow gives infinity; exp keeps subnormal results.
#pragma once
#include "runtime_stub/kernels/Kernel.h"

namespace onnxc {

ONNXC_INLINE float bitsToF32(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// e^r for |r| <= ln(2)/2: Taylor polynomial of degree 7.
ONNXC_INLINE float expReduced(float r) {
  float p = 1.0f / 5040;
  p = __builtin_fmaf(p, r, 1.0f / 720);
  p = __builtin_fmaf(p, r, 1.0f / 120);
  p = __builtin_fmaf(p, r, 1.0f / 24);
  p = __builtin_fmaf(p, r, 1.0f / 6);
  p = __builtin_fmaf(p, r, 0.5f);
  p = __builtin_fmaf(p, r, 1.0f);
  return __builtin_fmaf(p, r, 1.0f);
}

// e^x = 2^n e^r. 2^n is applied as two factors, so that n may leave the range of an exponent. The clamp keeps n within [-252, 254].
ONNXC_INLINE float expF32(float x) {
  float c = x < -126.0f ? -126.0f : x;
  c = c > 100.0f ? 100.0f : c;
  float n = __builtin_rintf(c * 1.44269504088896341f);
  float r = __builtin_fmaf(n, -0.693145751953125f, c);
  r = __builtin_fmaf(n, -1.42860682030941723e-6f, r);
  int32_t k = int32_t(x == x ? n : 0.0f), half = k >> 1;
  float scaled = expReduced(r) * bitsToF32(uint32_t(half + 127) << 23) * bitsToF32(uint32_t(k - half + 127) << 23);
  return x == x ? scaled : x;
}

ONNXC_INLINE float sigmoidF32(float x) {
  float e = expF32(-__builtin_fabsf(x)), q = 1.0f / (1.0f + e);
  return x < 0 ? e * q : q;
}

// An odd series near 0, where 1 - 2/(e^2x + 1) cancels.
ONNXC_INLINE float tanhF32(float x) {
  float a = __builtin_fabsf(x), s = a * a;
  float p = 21844.0f / 6081075;
  p = __builtin_fmaf(p, -s, 1382.0f / 155925);
  p = __builtin_fmaf(p, -s, 62.0f / 2835);
  p = __builtin_fmaf(p, -s, 17.0f / 315);
  p = __builtin_fmaf(p, -s, 2.0f / 15);
  p = __builtin_fmaf(p, -s, 1.0f / 3);
  float near = __builtin_fmaf(-p * s, a, a);
  float far = 1.0f - 2.0f / (expF32(2.0f * a) + 1.0f);
  return __builtin_copysignf(a < 0.35f ? near : far, x);
}

}  // namespace onnxc
