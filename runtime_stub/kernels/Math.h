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
  p = multiplyAdd(p, r, 1.0f / 720);
  p = multiplyAdd(p, r, 1.0f / 120);
  p = multiplyAdd(p, r, 1.0f / 24);
  p = multiplyAdd(p, r, 1.0f / 6);
  p = multiplyAdd(p, r, 0.5f);
  p = multiplyAdd(p, r, 1.0f);
  return multiplyAdd(p, r, 1.0f);
}

// e^x = 2^n e^r. 2^n is applied as two factors, so that n may leave the range of an exponent. The clamp keeps n within [-252, 254].
ONNXC_INLINE float expF32(float x) {
  float c = x < -126.0f ? -126.0f : x;
  c = c > 100.0f ? 100.0f : c;
  float n = __builtin_rintf(c * 1.44269504088896341f);
  float r = multiplyAdd(n, -0.693145751953125f, c);
  r = multiplyAdd(n, -1.42860682030941723e-6f, r);
  int32_t k = int32_t(x == x ? n : 0.0f), half = k >> 1;
  float scaled = expReduced(r) * bitsToF32(uint32_t(half + 127) << 23) * bitsToF32(uint32_t(k - half + 127) << 23);
  return x == x ? scaled : x;
}

// 1.5 2^23, to which a number is added that leaves its nearest whole one in the low bits.
constexpr float kRounding = 12582912;

// t / (t + t e^-x) with t = 2^-24: where the result is subnormal t e^-x is finite still, and where it is 1 not yet subnormal.
ONNXC_INLINE float sigmoidF32(float x) {
  float c = x > 30.0f ? 30.0f : x;
  c = c < -104.0f ? -104.0f : c;
  float shifted = multiplyAdd(c, -1.44269504088896341f, kRounding), n = shifted - kRounding;
  float r = multiplyAdd(n, -0.693145751953125f, -c);
  r = multiplyAdd(n, -1.42860682030941723e-6f, r);
  float e = expReduced(r) * bitsToF32((__builtin_bit_cast(uint32_t, shifted) << 23) + (uint32_t(127 - 24) << 23));
  return 0x1p-24f / (0x1p-24f + e);
}

// (e^2a - 1) / (e^2a + 1) of the magnitude; e^2a - 1 = 2^n - 1 + 2^n (e^r - 1), which keeps its bits near 0. The low bits of `shifted` are
// n with an exponent's bias.
ONNXC_INLINE float tanhF32(float x) {
  constexpr float rounding = kRounding + 127;
  float a = __builtin_fabsf(x), t = 2 * (a > 9.1f ? 9.1f : a);
  float shifted = multiplyAdd(t, 1.44269504088896341f, rounding), n = shifted - rounding, r = multiplyAdd(n, -0.69314718055994531f, t);
  float power = bitsToF32(__builtin_bit_cast(uint32_t, shifted) << 23);
  float p = 0.00138825089696486f;
  p = multiplyAdd(p, r, 0.0083665854120696497f);
  p = multiplyAdd(p, r, 0.041667201945076271f);
  p = multiplyAdd(p, r, 0.16666543140349527f);
  p = multiplyAdd(p, r, 0.49999998143214874f);
  float e = multiplyAdd(power, multiplyAdd(r * r, p, r), power - 1);
  return __builtin_copysignf(e / (e + 2), x);
}

}  // namespace onnxc
