// MathTest.cpp: the bounds that runtime_stub/kernels/Math.h states, against libm's doubles, over every 37th float of both signs.
#include "runtime_stub/kernels/FastExp.h"
#include "runtime_stub/kernels/Math.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>

// As for a level without an instruction for a product and a sum, which this test is compiled for; the level of math_fma_test has one.
#ifdef __FMA__
extern "C" const int32_t onnxc_vector_bits = 256;
#else
extern "C" const int32_t onnxc_vector_bits = 128;
#endif

namespace {
// Distance of `got` from the exact value in units of the last place of its float; 1e9 where one is NaN or infinite alone.
double ulps(float got, double exact) {
  float near = float(exact);
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(near) || std::isinf(got))
    return near == got ? 0 : 1e9;
  int exponent;
  std::frexp(near, &exponent);
  return std::fabs(double(got) - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

template <class F, class G>
double worst(F fast, G exact) {
  double most = 0;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 37) {
    float x = onnxc::bitsToF32(uint32_t(bits));
    most = std::max(most, ulps(fast(x), exact(double(x))));
  }
  return most;
}
}  // namespace

TEST_CASE("exp is within 2 ulp") {
  CHECK(worst([](float x) { return onnxc::expF32(x); }, [](double x) { return std::exp(x); }) <= 2);
}
TEST_CASE("expNegative is within 2 ulp to -20 and 5 to -86.99, and gives nothing subnormal") {
  double near = 0, far = 0;
  bool subnormal = false;
  for (uint32_t bits = 0x80000000u; bits <= 0xff800000u; bits += 4099) {
    const float x = onnxc::bitsToF32(bits), got = onnxc::expNegative(onnxc::v16(x))[0];
    if (x >= -86.98f)
      (x >= -20 ? near : far) = std::max(x >= -20 ? near : far, ulps(got, std::exp(double(x))));
    subnormal |= got != 0 && std::fabs(got) < 0x1p-126f;
    if (x <= -87.0f)
      subnormal |= got != 0;
  }
  CHECK(near <= 2);
  CHECK(far <= 5);
  CHECK(!subnormal);
  CHECK(std::isnan(onnxc::expNegative(onnxc::v16(NAN))[0]));
  CHECK(onnxc::expNegative(onnxc::v16(0.0f))[0] == 1);
}
TEST_CASE("sigmoid is within 3 ulp") {
  CHECK(worst([](float x) { return onnxc::sigmoidF32(x); },
              [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }) <= 3);
}
TEST_CASE("tanh is within 3 ulp") {
  CHECK(worst([](float x) { return onnxc::tanhF32(x); }, [](double x) { return std::tanh(x); }) <= 3);
}
