// Random.cpp: random tensors and Dropout. The generator is MT19937 with 53-bit doubles and polar normals: a seed gives the numbers that
// numpy's RandomState gives, as ONNX's reference does. Without a seed the system's entropy seeds it, anew at every call.
#include "runtime_stub/kernels/Special.h"
#include <sys/random.h>

namespace onnxc {
namespace {

struct Mersenne {
  uint32_t *state;  // 624 words
  int at = 624;
  bool spare = false;
  double next = 0;

  int32_t seed(const Args *a, const Attr &attr) {
    uint32_t s = uint32_t(attr.n > 0 && attr.f == 0 ? attr.i : truncToI64(attr.f));
    if (!given(attr) || attr.f != attr.f)
      if (getrandom(&s, sizeof(s), 0) != sizeof(s))
        return ONNXC_K_MEMORY;
    if (!(state = heap<uint32_t>(a, 624)))
      return ONNXC_K_MEMORY;
    state[0] = s;
    for (uint32_t i = 1; i < 624; ++i)
      state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    return ONNXC_K_OK;
  }
  uint32_t word() {
    if (at == 624)
      refill();
    uint32_t y = state[at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  void refill() {
    for (int i = 0; i < 624; ++i) {
      uint32_t y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
      state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    at = 0;
  }
  double uniform() {
    uint32_t high = word() >> 5, low = word() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  double normal() {
    if (spare)
      return spare = false, next;
    double x, y, r;
    do {
      x = 2 * uniform() - 1, y = 2 * uniform() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    double f = sqrt(-2 * log(r) / r);
    next = f * x;
    spare = true;
    return f * y;
  }
};

template <class F>
int32_t fill(const Args *a, int64_t seedAttr, F draw) {
  Mersenne m;
  ONNXC_TRY(m.seed(a, a->attr[seedAttr]));
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i)
    storeF64(a->out[0], i, draw(m, i));
  return ONNXC_K_OK;
}

int32_t normal(const Args *a) {
  return fill(a, 2, [&](Mersenne &m, int64_t) { return a->attr[0].f + a->attr[1].f * m.normal(); });
}
int32_t uniform(const Args *a) {
  return fill(a, 2, [&](Mersenne &m, int64_t) { return a->attr[1].f + (a->attr[0].f - a->attr[1].f) * m.uniform(); });
}
int32_t bernoulli(const Args *a) {
  return fill(a, 0, [&](Mersenne &m, int64_t i) {
    double p = loadF64(a->in[0], i), u = m.uniform();
    return double(p > 0.5 ? u <= p : u > 1 - p);
  });
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
