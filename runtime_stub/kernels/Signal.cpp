// Signal.cpp: DFT, STFT, mel weights and windows. Transforms run in double: radix 2, and Bluestein's convolution for other lengths.
#include "runtime_stub/kernels/Special.h"
extern "C" double log10(double) noexcept;

namespace onnxc {
namespace {

constexpr double pi = 3.14159265358979323846;

// Transforms of one length. `buffer` holds the padded sequence of Bluestein's algorithm, `chirp` its phases, `filter` their transform.
struct Fourier {
  int64_t n = 0, m = 0;  // m: power of two that is transformed
  c128 *twiddle = nullptr, *chirp = nullptr, *filter = nullptr, *buffer = nullptr;

  static c128 times(c128 x, c128 y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

  bool prepare(const Args *a, int64_t length) {
    n = length;
    bool power = (n & (n - 1)) == 0;
    for (m = 1; m < (power ? n : 2 * n - 1);)
      m *= 2;
    if (!(twiddle = heap<c128>(a, m / 2)))
      return false;
    for (int64_t k = 0; k < m / 2; ++k)
      twiddle[k] = {cos(2 * pi * double(k) / double(m)), -sin(2 * pi * double(k) / double(m))};
    if (power)
      return true;
    chirp = heap<c128>(a, n), filter = heap<c128>(a, m), buffer = heap<c128>(a, m);
    if (!chirp || !filter || !buffer)
      return false;
    for (int64_t k = 0, phase = 0; k < n; phase = (phase + 2 * k + 1) % (2 * n), ++k) {  // phase: k * k modulo 2n
      chirp[k] = {cos(pi * double(phase) / double(n)), -sin(pi * double(phase) / double(n))};
      c128 conjugate = {chirp[k].re, -chirp[k].im};
      filter[k] = conjugate;
      if (k)
        filter[m - k] = conjugate;
    }
    powerOfTwo(filter);
    return true;
  }

  void powerOfTwo(c128 *x) const {
    for (int64_t i = 1, j = 0; i < m; ++i) {
      int64_t bit = m >> 1;
      for (; j & bit; bit >>= 1)
        j ^= bit;
      j ^= bit;
      if (i < j) {
        c128 t = x[i];
        x[i] = x[j];
        x[j] = t;
      }
    }
    for (int64_t half = 1; half < m; half *= 2)
      for (int64_t base = 0; base < m; base += 2 * half)
        for (int64_t k = 0; k < half; ++k) {
          c128 u = x[base + k], v = times(x[base + k + half], twiddle[k * (m / (2 * half))]);
          x[base + k] = {u.re + v.re, u.im + v.im};
          x[base + k + half] = {u.re - v.re, u.im - v.im};
        }
  }

  void forward(c128 *x) const {
    if (!chirp)
      return powerOfTwo(x);
    for (int64_t k = 0; k < m; ++k)
      buffer[k] = k < n ? times(x[k], chirp[k]) : c128{0, 0};
    powerOfTwo(buffer);
    for (int64_t k = 0; k < m; ++k) {  // the inverse transform is the conjugate of the transform of the conjugate
      c128 p = times(buffer[k], filter[k]);
      buffer[k] = {p.re, -p.im};
    }
    powerOfTwo(buffer);
    for (int64_t k = 0; k < n; ++k)
      x[k] = times({buffer[k].re / double(m), -buffer[k].im / double(m)}, chirp[k]);
  }

  void inverse(c128 *x) const {
    for (int64_t k = 0; k < n; ++k)
      x[k].im = -x[k].im;
    forward(x);
    for (int64_t k = 0; k < n; ++k)
      x[k] = {x[k].re / double(n), -x[k].im / double(n)};
  }
};

struct DftShape {
  int64_t axis, length, given, bins;
  bool inverse, onesided, complexIn;
};

int32_t dftShape(const Args *a, DftShape &s) {
  const Tensor &x = a->in[0];
  s.inverse = a->attr[0].i != 0;
  s.onesided = a->attr[1].i != 0;
  s.axis = axisOf(hasIn(a, 2) ? loadI64(a->in[2], 0) : -2, x.rank);
  if (x.rank < 2 || s.axis < 0 || s.axis >= x.rank - 1)
    return ONNXC_K_VALUE;
  int64_t last = x.dims[x.rank - 1];
  if (last != 1 && last != 2)
    return ONNXC_K_SHAPE;
  s.complexIn = last == 2;
  s.given = x.dims[s.axis];
  s.length = hasIn(a, 1) ? loadI64(a->in[1], 0) : s.inverse && s.onesided ? 2 * (s.given - 1) : s.given;
  if (s.length < 1 || s.length > (int64_t(1) << 40))
    return ONNXC_K_SIZE;
  s.bins = s.onesided && !s.inverse ? s.length / 2 + 1 : s.length;
  return ONNXC_K_OK;
}

int32_t dftSizes(const Args *a) {
  DftShape s;
  if (int32_t code = dftShape(a, s))
    return code;
  Tensor &y = a->out[0];
  for (int32_t d = 0; d < y.rank; ++d)
    y.dims[d] = a->in[0].dims[d];
  y.dims[s.axis] = s.bins;
  y.dims[y.rank - 1] = s.onesided && s.inverse ? 1 : 2;
  return ONNXC_K_OK;
}

// Gathers one line, zero padded or cut to the length; an inverse of half a spectrum gets its mirrored half.
template <class T>
void readLine(const DftShape &s, const T *x, int64_t stride, c128 *line) {
  int64_t parts = s.complexIn ? 2 : 1;
  for (int64_t k = 0; k < s.length; ++k) {
    int64_t from = s.inverse && s.onesided && k > s.length / 2 ? s.length - k : k;
    if (from >= s.given) {
      line[k] = {0, 0};
      continue;
    }
    const T *p = x + from * stride * parts;
    double im = s.complexIn ? toF64(p[1]) : 0;
    line[k] = {toF64(p[0]), from == k ? im : -im};
  }
}

template <class T>
int32_t dft(const Args *a) {
  DftShape s;
  if (int32_t code = dftShape(a, s))
    return code;
  const Tensor &x = a->in[0];
  Fourier f;
  c128 *line = heap<c128>(a, s.length);
  if (!line || !f.prepare(a, s.length))
    return ONNXC_K_MEMORY;
  int64_t outer = product(x.dims, 0, s.axis), inner = product(x.dims, s.axis + 1, x.rank - 1);
  int64_t parts = s.complexIn ? 2 : 1, outParts = s.onesided && s.inverse ? 1 : 2;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      readLine(s, in<T>(a, 0) + (o * s.given * inner + i) * parts, inner, line);
      if (s.inverse)
        f.inverse(line);
      else
        f.forward(line);
      T *y = out<T>(a, 0) + (o * s.bins * inner + i) * outParts;
      for (int64_t k = 0; k < s.bins; ++k, y += inner * outParts) {
        y[0] = fromF64<T>(line[k].re);
        if (outParts == 2)
          y[1] = fromF64<T>(line[k].im);
      }
    }
  return ONNXC_K_OK;
}

struct StftShape {
  int64_t step, length, frames, bins;
};

int32_t stftShape(const Args *a, StftShape &s) {
  const Tensor &x = a->in[0];
  if (x.rank != 2 && x.rank != 3)
    return ONNXC_K_SHAPE;
  s.step = loadI64(a->in[1], 0);
  if (hasIn(a, 3))
    s.length = loadI64(a->in[3], 0);
  else if (hasIn(a, 2))
    s.length = onnxc_count(a->in[2]);
  else
    s.length = x.dims[1];
  if (s.step < 1 || s.length < 1 || s.length > x.dims[1])
    return ONNXC_K_SIZE;
  if (hasIn(a, 2) && onnxc_count(a->in[2]) != s.length)
    return ONNXC_K_SHAPE;
  if (x.rank == 3 && x.dims[2] != 1 && x.dims[2] != 2)
    return ONNXC_K_SHAPE;
  s.frames = (x.dims[1] - s.length) / s.step + 1;
  s.bins = a->attr[0].i ? s.length / 2 + 1 : s.length;
  return ONNXC_K_OK;
}

int32_t stftSizes(const Args *a) {
  StftShape s;
  if (int32_t code = stftShape(a, s))
    return code;
  int64_t dims[] = {a->in[0].dims[0], s.frames, s.bins, 2};
  memcpy(a->out[0].dims, dims, sizeof(dims));
  return ONNXC_K_OK;
}

template <class T>
int32_t stft(const Args *a) {
  StftShape s;
  if (int32_t code = stftShape(a, s))
    return code;
  Fourier f;
  c128 *line = heap<c128>(a, s.length);
  if (!line || !f.prepare(a, s.length))
    return ONNXC_K_MEMORY;
  const Tensor &x = a->in[0];
  int64_t parts = x.rank == 3 ? x.dims[2] : 1;
  T *y = out<T>(a, 0);
  for (int64_t b = 0; b < x.dims[0]; ++b)
    for (int64_t t = 0; t < s.frames; ++t) {
      const T *p = in<T>(a, 0) + (b * x.dims[1] + t * s.step) * parts;
      for (int64_t k = 0; k < s.length; ++k) {
        double w = hasIn(a, 2) ? toF64(in<T>(a, 2)[k]) : 1;
        line[k] = {w * toF64(p[k * parts]), parts == 2 ? w * toF64(p[k * parts + 1]) : 0};
      }
      f.forward(line);
      for (int64_t k = 0; k < s.bins; ++k, y += 2)
        y[0] = fromF64<T>(line[k].re), y[1] = fromF64<T>(line[k].im);
    }
  return ONNXC_K_OK;
}

int32_t melSizes(const Args *a) {
  int64_t mels = loadI64(a->in[0], 0), length = loadI64(a->in[1], 0);
  if (mels < 0 || length < 0)
    return ONNXC_K_SIZE;
  a->out[0].dims[0] = length / 2 + 1;
  a->out[0].dims[1] = mels;
  return ONNXC_K_OK;
}

// Edges are computed in double and rounded down to a spectrogram bin, as the specification's script does.
int32_t mel(const Args *a) {
  int64_t mels = loadI64(a->in[0], 0), length = loadI64(a->in[1], 0), rate = loadI64(a->in[2], 0), bins = length / 2 + 1;
  if (rate <= 0)
    return ONNXC_K_VALUE;
  double low = 2595 * log10(1 + loadF64(a->in[3], 0) / 700), high = 2595 * log10(1 + loadF64(a->in[4], 0) / 700);
  int64_t *edge = heap<int64_t>(a, mels + 2);
  if (!edge)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < mels + 2; ++i) {
    double hertz = 700 * (pow(10, (double(i) * (high - low) / double(mels + 2) + low) / 2595) - 1);
    double bin = floor(double(length + 1) * hertz / double(rate));
    if (!(bin >= 0 && bin < double(bins)))
      return ONNXC_K_VALUE;
    edge[i] = int64_t(bin);
  }
  Tensor &y = a->out[0];
  for (int64_t i = 0; i < bins * mels; ++i)
    storeF64(y, i, 0);
  for (int64_t i = 0; i < mels; ++i) {
    int64_t left = edge[i], center = edge[i + 1], right = edge[i + 2];
    if (left == center)
      storeF64(y, center * mels + i, 1);
    for (int64_t j = left; left < center && j <= center; ++j)
      storeF64(y, j * mels + i, double(j - left) / double(center - left));
    for (int64_t j = center; j < right; ++j)
      storeF64(y, j * mels + i, double(right - j) / double(right - center));
  }
  return ONNXC_K_OK;
}

int32_t windowSize(const Args *a) {
  int64_t size = loadI64(a->in[0], 0);
  a->out[0].dims[0] = size;
  return size < 0 ? ONNXC_K_SIZE : ONNXC_K_OK;
}

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N); a symmetric window of one point is 1.
int32_t window(const Args *a, double a0, double a1, double a2) {
  int64_t size = loadI64(a->in[0], 0);
  double period = double(a->attr[1].i ? size : size - 1);
  for (int64_t n = 0; n < size; ++n) {
    double phase = 2 * pi * double(n) / period;
    storeF64(a->out[0], n, period == 0 ? 1 : a0 - a1 * cos(phase) + a2 * cos(2 * phase));
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_s_DFT_##S(const onnxc_args *a) { return onnxc::dftSizes(a); }                                                   \
  extern "C" int32_t onnxc_k_DFT_##S(const onnxc_args *a) { return onnxc::dft<T>(a); }                                                     \
  extern "C" int32_t onnxc_s_STFT_##S(const onnxc_args *a) { return onnxc::stftSizes(a); }                                                 \
  extern "C" int32_t onnxc_k_STFT_##S(const onnxc_args *a) { return onnxc::stft<T>(a); }
ONNXC_FLOATS(X)
#undef X
extern "C" int32_t onnxc_s_MelWeightMatrix(const onnxc_args *a) { return onnxc::melSizes(a); }
extern "C" int32_t onnxc_k_MelWeightMatrix(const onnxc_args *a) { return onnxc::mel(a); }
extern "C" int32_t onnxc_s_HannWindow(const onnxc_args *a) { return onnxc::windowSize(a); }
extern "C" int32_t onnxc_k_HannWindow(const onnxc_args *a) { return onnxc::window(a, 0.5, 0.5, 0); }
extern "C" int32_t onnxc_s_HammingWindow(const onnxc_args *a) { return onnxc::windowSize(a); }
extern "C" int32_t onnxc_k_HammingWindow(const onnxc_args *a) { return onnxc::window(a, 25.0 / 46.0, 21.0 / 46.0, 0); }
extern "C" int32_t onnxc_s_BlackmanWindow(const onnxc_args *a) { return onnxc::windowSize(a); }
extern "C" int32_t onnxc_k_BlackmanWindow(const onnxc_args *a) { return onnxc::window(a, 0.42, 0.5, 0.08); }
