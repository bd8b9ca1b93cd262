// Signal.cpp: DFT, STFT, mel weights and windows.
#include "runtime_stub/kernels/Special.h"
extern "C" double log10(double) noexcept;

namespace onnxc {
namespace {

constexpr double pi = 3.14159265358979323846;

// Lengths of factors 2, 3, 4 and 5 as one pass over the sequence for each factor, from one buffer into another; other lengths by
// Bluestein's convolution in double. Sums and products are rounded one by one, in the usual order of these butterflies.
template <class R>
struct Complex {
  R re, im;
};
template <class R>
ONNXC_INLINE Complex<R> operator+(Complex<R> x, Complex<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
ONNXC_INLINE Complex<R> operator-(Complex<R> x, Complex<R> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class R>
ONNXC_INLINE Complex<R> operator*(R x, Complex<R> y) {
  return {x * y.re, x * y.im};
}
template <class R>
ONNXC_INLINE Complex<R> times(Complex<R> x, Complex<R> y) {
#pragma clang fp contract(off)
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class R>
ONNXC_INLINE Complex<R> turned(Complex<R> x) {  // by a quarter
  return {-x.im, x.re};
}

// The transform of P points in place, with phases exp(sign * 2 pi i / P).
template <int P, class R>
ONNXC_INLINE void butterfly(Complex<R> *x, R sign) {
#pragma clang fp contract(off)
  using C = Complex<R>;
  if constexpr (P == 2) {
    C a = x[0], b = x[1];
    x[0] = a + b, x[1] = a - b;
  } else if constexpr (P == 3) {
    C a = x[0], s = x[1] + x[2], d = turned((sign * R(0.86602540378443864676)) * (x[1] - x[2])), m = a + R(-0.5) * s;
    x[0] = a + s, x[1] = m + d, x[2] = m - d;
  } else if constexpr (P == 4) {
    C s = x[0] + x[2], d = x[0] - x[2], u = x[1] + x[3], v = turned(sign * (x[1] - x[3]));
    x[0] = s + u, x[1] = d + v, x[2] = s - u, x[3] = d - v;
  } else {
    constexpr R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410);
    R s1 = sign * R(0.95105651629515357212), s2 = sign * R(0.58778525229247312917);
    C a = x[0], t1 = x[1] + x[4], t4 = x[1] - x[4], t2 = x[2] + x[3], t3 = x[2] - x[3];
    C m1 = a + c1 * t1 + c2 * t2, m2 = a + c2 * t1 + c1 * t2, d1 = turned(s1 * t4 + s2 * t3), d2 = turned(s2 * t4 - s1 * t3);
    x[0] = a + t1 + t2, x[1] = m1 + d1, x[4] = m1 - d1, x[2] = m2 + d2, x[3] = m2 - d2;
  }
}

// One factor P: from[i + run * (j + P * k)] to to[i + run * (k + groups * j)], turned by twiddle[j - 1][i].
template <int P, class R>
ONNXC_INLINE void pass(const Complex<R> *from, Complex<R> *to, const Complex<R> *twiddle, int64_t groups, int64_t run, R sign) {
  for (int64_t k = 0; k < groups; ++k)
    for (int64_t i = 0; i < run; ++i) {
      Complex<R> x[P];
      for (int j = 0; j < P; ++j)
        x[j] = from[i + run * (j + P * k)];
      butterfly<P>(x, sign);
      to[i + run * k] = x[0];
      for (int j = 1; j < P; ++j) {
        Complex<R> w = twiddle[(j - 1) * run + i];
        to[i + run * (k + groups * j)] = i ? times(x[j], {w.re, sign * w.im}) : x[j];
      }
    }
}

constexpr int kFactors[] = {4, 2, 3, 5};

template <class R>
struct Fourier {
  using C = Complex<R>;
  int64_t n = 0;
  int count = 0, factor[64];
  C *twiddle = nullptr, *other = nullptr;  // all factors' one after the other; as long as a sequence

  // Factors of 4 first, a single 2 before all. False when another factor is left.
  bool factorise(int64_t length) {
    n = length, count = 0;
    for (int p : kFactors)
      for (; length % p == 0; length /= p) {
        factor[count++] = p;
        if (p == 2)
          factor[count - 1] = factor[0], factor[0] = 2;
      }
    return length == 1;
  }

  bool prepare(const Args *a) {
    int64_t size = 0, groups = 1;
    for (int f = 0; f < count; groups *= factor[f++])
      size += (factor[f] - 1) * (n / (groups * factor[f]));
    if (!(twiddle = heap<C>(a, size)) || !(other = heap<C>(a, n)))
      return false;
    C *to = twiddle;
    groups = 1;
    for (int f = 0; f < count; groups *= factor[f++])
      for (int64_t j = 1, run = n / (groups * factor[f]); j < factor[f]; ++j)
        for (int64_t i = 0; i < run; ++i) {
          double phase = 2 * pi * double(j * groups * i) / double(n);
          *to++ = {R(cos(phase)), R(sin(phase))};
        }
    return true;
  }

  // sign -1: forward, 1: backward, without a factor.
  void run(C *x, R sign) const {
    const C *from = x, *w = twiddle;
    C *to = other;
    int64_t groups = 1;
    for (int f = 0; f < count; ++f) {
      int64_t p = factor[f], length = n / (groups * p);
      if (p == 2)
        pass<2>(from, to, w, groups, length, sign);
      else if (p == 3)
        pass<3>(from, to, w, groups, length, sign);
      else if (p == 4)
        pass<4>(from, to, w, groups, length, sign);
      else
        pass<5>(from, to, w, groups, length, sign);
      w += (p - 1) * length, groups *= p;
      C *next = to == other ? x : other;
      from = to, to = next;
    }
    if (from != x)
      memcpy(x, from, size_t(n) * sizeof(C));
  }
};

// Any length. `chirp` holds the phases of Bluestein's algorithm, `filter` their transform, `padded` the sequence.
template <class R>
struct Transform {
  using C = Complex<R>;
  using D = Complex<double>;
  Fourier<R> direct;
  Fourier<double> power;
  D *chirp = nullptr, *filter = nullptr, *padded = nullptr;

  bool prepare(const Args *a, int64_t n) {
    if (direct.factorise(n))
      return direct.prepare(a);
    int64_t m = 1;
    while (m < 2 * n - 1)
      m *= 2;
    power.factorise(m);
    chirp = heap<D>(a, n), filter = heap<D>(a, m), padded = heap<D>(a, m);
    if (!chirp || !filter || !padded || !power.prepare(a))
      return false;
    for (int64_t k = 0, phase = 0; k < n; phase = (phase + 2 * k + 1) % (2 * n), ++k) {  // phase: k * k modulo 2n
      chirp[k] = {cos(pi * double(phase) / double(n)), -sin(pi * double(phase) / double(n))};
      filter[k] = {chirp[k].re, -chirp[k].im};
      if (k)
        filter[m - k] = filter[k];
    }
    power.run(filter, -1);
    return true;
  }

  void forward(C *x) const {
    if (!chirp)
      return direct.run(x, -1);
    for (int64_t k = 0; k < power.n; ++k)
      padded[k] = k < direct.n ? times({x[k].re, x[k].im}, chirp[k]) : D{0, 0};
    power.run(padded, -1);
    for (int64_t k = 0; k < power.n; ++k)
      padded[k] = times(padded[k], filter[k]);
    power.run(padded, 1);
    for (int64_t k = 0; k < direct.n; ++k) {
      D y = times((1 / double(power.n)) * padded[k], chirp[k]);
      x[k] = {R(y.re), R(y.im)};
    }
  }

  void inverse(C *x) const {
    if (!chirp) {
      direct.run(x, 1);
    } else {
      for (int64_t k = 0; k < direct.n; ++k)
        x[k].im = -x[k].im;
      forward(x);
      for (int64_t k = 0; k < direct.n; ++k)
        x[k].im = -x[k].im;
    }
    for (int64_t k = 0; k < direct.n; ++k)
      x[k] = R(1 / double(direct.n)) * x[k];
  }
};

// The precision of transforms: a spectrum's small bins stand beside large ones and are computed in double; the sequence that comes back
// from a spectrum is as precise as its type.
template <class T>
struct PrecisionOf {
  using Forward = double;
  using Inverse = float;
};
template <>
struct PrecisionOf<double> {
  using Forward = double;
  using Inverse = double;
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
template <class T, class R>
void readLine(const DftShape &s, const T *x, int64_t stride, Complex<R> *line) {
  int64_t parts = s.complexIn ? 2 : 1;
  for (int64_t k = 0; k < s.length; ++k) {
    int64_t from = s.inverse && s.onesided && k > s.length / 2 ? s.length - k : k;
    if (from >= s.given) {
      line[k] = {0, 0};
      continue;
    }
    const T *p = x + from * stride * parts;
    R im = s.complexIn ? R(toF64(p[1])) : 0;
    line[k] = {R(toF64(p[0])), from == k ? im : -im};
  }
}

template <class T, class R>
int32_t dftIn(const Args *a, const DftShape &s) {
  const Tensor &x = a->in[0];
  Transform<R> f;
  auto *line = heap<Complex<R>>(a, s.length);
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

template <class T>
int32_t dft(const Args *a) {
  DftShape s;
  if (int32_t code = dftShape(a, s))
    return code;
  return s.inverse ? dftIn<T, typename PrecisionOf<T>::Inverse>(a, s) : dftIn<T, typename PrecisionOf<T>::Forward>(a, s);
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
  using R = typename PrecisionOf<T>::Forward;
  Transform<R> f;
  auto *line = heap<Complex<R>>(a, s.length);
  if (!line || !f.prepare(a, s.length))
    return ONNXC_K_MEMORY;
  const Tensor &x = a->in[0];
  int64_t parts = x.rank == 3 ? x.dims[2] : 1;
  T *y = out<T>(a, 0);
  for (int64_t b = 0; b < x.dims[0]; ++b)
    for (int64_t t = 0; t < s.frames; ++t) {
      const T *p = in<T>(a, 0) + (b * x.dims[1] + t * s.step) * parts;
      for (int64_t k = 0; k < s.length; ++k) {
        R w = hasIn(a, 2) ? R(toF64(in<T>(a, 2)[k])) : 1;
        line[k] = {w * R(toF64(p[k * parts])), parts == 2 ? w * R(toF64(p[k * parts + 1])) : 0};
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

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), in an order that gives 1 in the middle, behind which the values come again; a symmetric
// window of one point is 1.
int32_t window(const Args *a, double a0, double a1, double a2) {
  int64_t size = loadI64(a->in[0], 0), period = a->attr[1].i ? size : size - 1;
  for (int64_t n = 0; n < size; ++n) {
    double c = 2 * n > period ? 0 : cos(2 * pi * double(n) / double(period));
    storeF64(a->out[0], n, period == 0 ? 1 : 2 * n > period ? loadF64(a->out[0], period - n) : a0 + a2 * (2 * c * c - 1) - a1 * c);
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
