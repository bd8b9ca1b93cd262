// Signal.cpp: DFT, STFT, mel weights and windows.
#include "runtime_stub/kernels/Fourier.h"
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
extern "C" double log10(double) noexcept;

namespace onnxc {
namespace {

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
  ONNXC_TRY(dftShape(a, s));
  Tensor &y = a->out[0];
  for (int32_t d = 0; d < y.rank; ++d)
    y.dims[d] = a->in[0].dims[d];
  y.dims[s.axis] = s.bins;
  y.dims[y.rank - 1] = s.onesided && s.inverse ? 1 : 2;
  return ONNXC_K_OK;
}

// `read(line, to, first, end)` and `write(line, from, first, end)` for each of `count` transforms, some of them side by side, numbers
// [first, end) at a time, of which the first-level cache holds those of all lines. Strided: consecutive numbers are L apart.
template <int L, class R, class Read, class Write>
int32_t transformSide(const Args *a, const Transform<R> &f, bool inverse, int64_t count, const Read &read, const Write &write) {
  constexpr int64_t kWork = 16 + 2 * L;  // for each number of a sequence
  constexpr int64_t kPiece = 64;
  int64_t line = f.n * int64_t(sizeof(Lines<R, L>)), line64 = (line + 63) / 64 * 64;
  auto body = [=, &f, &read, &write](void *scratch, int64_t begin, int64_t end) -> int32_t {
    auto *x = static_cast<Lines<R, L> *>(scratch);
    R *lanes = static_cast<R *>(scratch);
    void *room = static_cast<char *>(scratch) + line64;
    for (int64_t at = begin * L; at < minOf(end * L, count); at += L) {
      int64_t some = minOf(int64_t(L), count - at);
      for (int64_t k = 0; k < f.n; k += kPiece)
        for (int64_t l = 0; l < L; ++l)
          read(at + minOf(l, some - 1), lanes + l, k, minOf(k + kPiece, f.n));
      if (inverse)
        f.template inverse<L>(x, room);
      else
        f.template forward<L>(x, room);
      for (int64_t k = 0; k < f.n; k += kPiece)
        for (int64_t l = 0; l < some; ++l)
          write(at + l, lanes + l, k, minOf(k + kPiece, f.n));
    }
    return ONNXC_K_OK;
  };
  return parallelScratchFor(a, (count + L - 1) / L, grainOf(f.n * kWork), line64 + f.template room<L>(), body);
}

// Several side by side where there are some and they stay in a cache.
template <class R, class Read, class Write>
int32_t transforms(const Args *a, const Transform<R> &f, bool inverse, int64_t count, const Read &read, const Write &write) {
  constexpr int kSide = 8;
  constexpr int64_t kLongest = 4096;
  auto strided = [&](auto side) {
    constexpr int64_t L = side.value;
    return transformSide<L>(
        a, f, inverse, count, [&](int64_t i, R *to, int64_t first, int64_t end) { read(i, to, L, first, end); },
        [&](int64_t i, const R *from, int64_t first, int64_t end) { write(i, from, L, first, end); });
  };
  return count >= kSide / 2 && f.n <= kLongest ? strided(Index<kSide>()) : strided(Index<1>());
}

// Reads one line, zero padded or cut to the length; an inverse of half a spectrum gets its mirrored half. A packed one has its real parts
// alone.
template <class T, class R>
ONNXC_INLINE void readLine(const DftShape &s, bool packed, const T *x, int64_t stride, R *to, int64_t lanes, int64_t first, int64_t end) {
  int64_t parts = s.complexIn ? 2 : 1;
  if (packed) {
    int64_t known = minOf(s.given, end);
    for (int64_t k = first; k < known; ++k)
      to[k * lanes] = R(toF64(x[k * stride]));
    for (int64_t k = maxOf(known, first); k < end; ++k)
      to[k * lanes] = 0;
    return;
  }
  to += 2 * lanes * first;
  for (int64_t k = first; k < end; ++k, to += 2 * lanes) {
    int64_t from = s.inverse && s.onesided && k > s.length / 2 ? s.length - k : k;
    if (from >= s.given) {
      to[0] = to[lanes] = 0;
      continue;
    }
    const T *p = x + from * stride * parts;
    R im = s.complexIn ? R(toF64(p[1])) : 0;
    to[0] = R(toF64(p[0])), to[lanes] = from == k ? im : -im;
  }
}

template <class T, class R>
int32_t dftIn(const Args *a, const DftShape &s) {
  const Tensor &x = a->in[0];
  Transform<R> f;
  if (!f.prepare(a, s.length, !s.complexIn && !s.inverse))
    return ONNXC_K_MEMORY;
  int64_t outer = product(x.dims, 0, s.axis), inner = product(x.dims, s.axis + 1, x.rank - 1);
  int64_t parts = s.complexIn ? 2 : 1, outParts = s.onesided && s.inverse ? 1 : 2;
  auto read = [&](int64_t line, R *to, int64_t lanes, int64_t first, int64_t end) {
    readLine(s, f.half, in<T>(a, 0) + (line / inner * s.given * inner + line % inner) * parts, inner, to, lanes, first, end);
  };
  auto write = [&](int64_t line, const R *from, int64_t lanes, int64_t first, int64_t end) {
    T *y = out<T>(a, 0) + (line / inner * s.bins * inner + line % inner + first * inner) * outParts;
    from += 2 * lanes * first;
    for (int64_t k = first; k < minOf(end, s.bins); ++k, y += inner * outParts, from += 2 * lanes) {
      y[0] = fromF64<T>(from[0]);
      if (outParts == 2)
        y[1] = fromF64<T>(from[lanes]);
    }
  };
  return transforms(a, f, s.inverse, outer * inner, read, write);
}

template <class T>
int32_t dft(const Args *a) {
  DftShape s;
  ONNXC_TRY(dftShape(a, s));
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
  ONNXC_TRY(stftShape(a, s));
  int64_t dims[] = {a->in[0].dims[0], s.frames, s.bins, 2};
  memcpy(a->out[0].dims, dims, sizeof(dims));
  return ONNXC_K_OK;
}

template <class T>
int32_t stft(const Args *a) {
  StftShape s;
  ONNXC_TRY(stftShape(a, s));
  using R = typename PrecisionOf<T>::Forward;
  const Tensor &x = a->in[0];
  int64_t parts = x.rank == 3 ? x.dims[2] : 1;
  Transform<R> f;
  if (!f.prepare(a, s.length, parts == 1))
    return ONNXC_K_MEMORY;
  const T *window = hasIn(a, 2) ? in<T>(a, 2) : nullptr;
  auto read = [&](int64_t frame, R *to, int64_t lanes, int64_t first, int64_t end) {
    const T *p = in<T>(a, 0) + (frame / s.frames * x.dims[1] + frame % s.frames * s.step) * parts;
    int64_t apart = f.half ? lanes : 2 * lanes;
    to += apart * first;
    for (int64_t k = first; k < end; ++k, to += apart) {
      R w = window ? R(toF64(window[k])) : 1;
      to[0] = w * R(toF64(p[k * parts]));
      if (!f.half)
        to[lanes] = parts == 2 ? w * R(toF64(p[k * parts + 1])) : 0;
    }
  };
  auto write = [&](int64_t frame, const R *from, int64_t lanes, int64_t first, int64_t end) {
    T *y = out<T>(a, 0) + (frame * s.bins + first) * 2;
    from += 2 * lanes * first;
    for (int64_t k = first; k < minOf(end, s.bins); ++k, y += 2, from += 2 * lanes)
      y[0] = fromF64<T>(from[0]), y[1] = fromF64<T>(from[lanes]);
  };
  return transforms(a, f, false, x.dims[0] * s.frames, read, write);
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
