// Random.cpp: random tensors and Dropout. The generator is MT19937 with 53-bit doubles and polar normals: a seed gives the numbers that
// numpy's RandomState gives, as ONNX's reference does. Without a seed the system's entropy seeds it, anew at every call.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Special.h"
#include <sys/random.h>

namespace onnxc {
namespace {

constexpr int kBlock = 312;  // numbers of one round of the generator

struct Mersenne {
  uint32_t *state;  // 2 * kBlock words
  double *drawn;    // kBlock numbers
  int at = kBlock;

  int32_t seed(const Args *a, const Attr &attr) {
    uint32_t s = uint32_t(attr.n > 0 && attr.f == 0 ? attr.i : truncToI64(attr.f));
    if (!given(attr) || attr.f != attr.f)
      if (getrandom(&s, sizeof(s), 0) != sizeof(s))
        return ONNXC_K_MEMORY;
    state = heap<uint32_t>(a, 2 * kBlock), drawn = heap<double>(a, kBlock);
    if (!state || !drawn)
      return ONNXC_K_MEMORY;
    state[0] = s;
    for (uint32_t i = 1; i < 2 * kBlock; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    return ONNXC_K_OK;
  }
  static uint32_t twisted(uint32_t high, uint32_t low, uint32_t far) {
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return far ^ (y >> 1) ^ ((0 - (y & 1)) & 0x9908b0dfu);
  }
  static uint32_t tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill() {  // in loops whose steps do not need one another's words
    constexpr int n = 2 * kBlock, far = 397;
    uint32_t *s = state;
    for (int i = 0; i < n - far; ++i)
      s[i] = twisted(s[i], s[i + 1], s[i + far]);
    for (int i = n - far; i < n - 1; ++i)
      s[i] = twisted(s[i], s[i + 1], s[i + far - n]);
    s[n - 1] = twisted(s[n - 1], s[0], s[far - 1]);
    const uint32_t *__restrict words = state;
    double *__restrict to = drawn;
    for (int i = 0; i < kBlock; ++i) {
      int32_t high = int32_t(tempered(words[2 * i]) >> 5), low = int32_t(tempered(words[2 * i + 1]) >> 6);
      to[i] = (high * 67108864.0 + low) / 9007199254740992.0;
    }
    at = 0;
  }
  double uniform() {
    if (at == kBlock)
      refill();
    return drawn[at++];
  }
};

// The logarithm of a positive normal number to the last bit or the one before, in steps that are those of whole vectors.
ONNXC_INLINE double logarithm(double x) {
  constexpr uint64_t root = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  int64_t exponent = int64_t(bitcast<uint64_t>(x) - root) >> 52;
  double m = bitcast<double>(bitcast<uint64_t>(x) - (uint64_t(exponent) << 52)), f = m - 1, s = f / (2 + f), z = s * s;
  double r = 1.0 / 19;  // of 2 atanh(s) = 2 s + 2 s^3 / 3 + …, |s| < 0.1716
  unroll<0, 8>([&](auto k) { r = r * z + 1.0 / (17 - 2 * k.value); });
  double half = f * f * 0.5;  // log m = f - half + s (half + 2 z r)
  double tail = s * (2 * z * r + half) + double(int32_t(exponent)) * 1.90821492927058770002e-10;
  return double(int32_t(exponent)) * 6.93147180369123816490e-01 - ((half - tail) - f);
}

// Normal numbers by the polar method, as many as a round gives; `to` has room for kBlock.
int64_t drawNormals(Mersenne &m, double *__restrict to) {
  m.refill();
  double xs[kBlock / 2], ys[kBlock / 2], rs[kBlock / 2];
  int64_t n = 0;
  for (int64_t i = 0; i < kBlock / 2; ++i) {
    double x = 2 * m.drawn[2 * i] - 1, y = 2 * m.drawn[2 * i + 1] - 1, r = x * x + y * y;
    xs[n] = x, ys[n] = y, rs[n] = r;
    n += !(r >= 1 || r == 0);
  }
  for (int64_t i = 0; i < n; ++i) {
    double f = __builtin_sqrt(-2 * logarithm(rs[i]) / rs[i]);
    to[2 * i] = f * ys[i];
    to[2 * i + 1] = f * xs[i];
  }
  return 2 * n;
}
int64_t drawUniforms(Mersenne &m, double *__restrict to) {
  m.refill();
  memcpy(to, m.drawn, kBlock * sizeof(double));
  return kBlock;
}

// Elements are start + factor * number.
template <class Draw>
int32_t fill(const Args *a, double start, double factor, Draw draw) {
  Mersenne m;
  ONNXC_TRY(m.seed(a, a->attr[2]));
  double numbers[kBlock];
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n;) {
    int64_t count = minOf(draw(m, numbers), n - i);
    if (a->out[0].dtype == ONNXC_F32) {
      float *__restrict to = out<float>(a, 0) + i;
      for (int64_t k = 0; k < count; ++k)
        to[k] = float(start + factor * numbers[k]);
    } else {
      for (int64_t k = 0; k < count; ++k)
        storeF64(a->out[0], i + k, start + factor * numbers[k]);
    }
    i += count;
  }
  return ONNXC_K_OK;
}

int32_t normal(const Args *a) { return fill(a, a->attr[0].f, a->attr[1].f, drawNormals); }
int32_t uniform(const Args *a) {  // attributes: high, low
  return fill(a, a->attr[1].f, double(a->attr[0].f) - a->attr[1].f, drawUniforms);
}
int32_t bernoulli(const Args *a) {
  Mersenne m;
  ONNXC_TRY(m.seed(a, a->attr[0]));
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i) {
    double p = loadF64(a->in[0], i), u = m.uniform();
    storeF64(a->out[0], i, double(p > 0.5 ? u <= p : u > 1 - p));
  }
  return ONNXC_K_OK;
}

// Classes are drawn by their cumulative unnormalised probabilities.
int32_t multinomial(const Args *a) {
  Mersenne m;
  ONNXC_TRY(m.seed(a, a->attr[1]));
  if (a->in[0].rank != 2)
    return ONNXC_K_SHAPE;
  int64_t classes = a->in[0].dims[1], batch = a->in[0].dims[0], samples = a->attr[0].i;
  double *sum = heap<double>(a, classes);
  if (!sum)
    return ONNXC_K_MEMORY;
  if (samples < 0 || (classes == 0 && samples > 0 && batch > 0))
    return ONNXC_K_VALUE;
  for (int64_t b = 0; b < batch; ++b) {
    double top = -__builtin_inf(), total = 0;
    for (int64_t k = 0; k < classes; ++k)
      top = loadF64(a->in[0], b * classes + k) > top ? loadF64(a->in[0], b * classes + k) : top;
    for (int64_t k = 0; k < classes; ++k)
      sum[k] = total += exp(loadF64(a->in[0], b * classes + k) - top);
    for (int64_t s = 0; s < samples; ++s) {
      double u = m.uniform() * total;
      int64_t lo = 0, hi = classes - 1;
      while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (sum[mid] > u)
          hi = mid;
        else
          lo = mid + 1;
      }
      storeF64(a->out[0], b * samples + s, double(lo));
    }
  }
  return ONNXC_K_OK;
}

int32_t dropout(const Args *a) {
  double ratio = hasIn(a, 1) ? loadF64(a->in[1], 0) : 0.5;
  bool training = hasIn(a, 2) && loadF64(a->in[2], 0) != 0 && ratio != 0;
  if (!(ratio >= 0 && ratio < 1))
    return ONNXC_K_VALUE;
  int64_t n = onnxc_count(a->in[0]), bytes = n * elementBytes(a->in[0].dtype);
  if (!training) {
    if (bytes)
      memmove(a->out[0].data, a->in[0].data, size_t(bytes));
    if (hasOut(a, 1))
      memset(a->out[1].data, 1, size_t(n));
    return ONNXC_K_OK;
  }
  Mersenne m;
  ONNXC_TRY(m.seed(a, a->attr[0]));
  for (int64_t i = 0; i < n; ++i) {
    bool keep = m.uniform() >= ratio;
    storeF64(a->out[0], i, keep ? loadF64(a->in[0], i) / (1 - ratio) : 0);
    if (hasOut(a, 1))
      out<uint8_t>(a, 1)[i] = keep;
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_RandomNormal(const onnxc_args *a) { return onnxc::normal(a); }
extern "C" int32_t onnxc_k_RandomUniform(const onnxc_args *a) { return onnxc::uniform(a); }
extern "C" int32_t onnxc_k_Bernoulli(const onnxc_args *a) { return onnxc::bernoulli(a); }
extern "C" int32_t onnxc_k_Multinomial(const onnxc_args *a) { return onnxc::multinomial(a); }
extern "C" int32_t onnxc_k_Dropout(const onnxc_args *a) { return onnxc::dropout(a); }
