// FastPoolLast.cpp: NhwcMaxPool of com.microsoft, whose channels lie side by side: a vector of them meets those of a window's other pixels.
// Oracle: MsQuant.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"
#include "runtime_stub/kernels/Window.h"

namespace onnxc {
namespace {

template <class T, int Lanes>
struct Bytes {
  typedef T type __attribute__((ext_vector_type(Lanes), aligned(1)));
};

// The greatest of `Lanes` channels of the pixels `at` behind x.
template <int Lanes, class T>
ONNXC_INLINE void greatest(const T *x, const int64_t *at, int64_t count, T *y) {
  using V = typename Bytes<T, Lanes>::type;
  V most = *(const V *)(x + at[0]);
  for (int64_t i = 1; i < count; ++i) {
    V v = *(const V *)(x + at[i]);
    most = v > most ? v : most;
  }
  *(V *)y = most;
}

// A vector that would pass the last channel begins earlier.
template <int Lanes, class T>
ONNXC_INLINE void greatestOfAll(const T *x, const int64_t *at, int64_t count, T *y, int64_t channels) {
  for (int64_t c = 0; c < channels; c += Lanes) {
    int64_t from = minOf(c, channels - Lanes);
    greatest<Lanes>(x + from, at, count, y + from);
  }
}

template <class T>
void pixel(const T *x, const int64_t *at, int64_t count, T *y, int64_t channels) {
  if (count == 0)
    for (int64_t c = 0; c < channels; ++c)
      y[c] = T(-1) < T(0) ? T(0x80) : T(0);
  else if (channels >= 64)
    greatestOfAll<64>(x, at, count, y, channels);
  else if (channels >= 16)
    greatestOfAll<16>(x, at, count, y, channels);
  else if (channels >= 4)
    greatestOfAll<4>(x, at, count, y, channels);
  else
    greatestOfAll<1>(x, at, count, y, channels);
}

// Where the pixels of the window of result `o` that lie inside are, in elements from the operand's start; how many.
int64_t pixelsOf(const Window &w, const int64_t *o, int64_t channels, int64_t *to) {
  Odometer<0> k;
  int64_t n = 0;
  for (k.init(w.kernel, w.rank); k.more(); k.next()) {
    int64_t at = 0;
    bool inside = true;
    for (int64_t i = 0; i < w.rank; ++i) {
      int64_t p = o[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i];
      inside &= p >= 0 && p < w.in[i];
      at = at * w.in[i] + p;
    }
    to[n] = at * channels;
    n += inside;
  }
  return n;
}

// Results [begin, end) of all images; `taps`: the pixels of a window that lies inside, from its first. `list` takes those of others.
template <class T>
void pixels(const Window &w, const T *x, T *y, int64_t channels, const int64_t *taps, int64_t *list, int64_t begin, int64_t end) {
  int64_t plane = w.outPlane(), inPlane = w.inPlane(), size = w.kernelSize(), none[kMaxRank] = {};
  Odometer<1> o;
  for (int64_t at = begin; at < end;) {
    const T *image = x + at / plane * inPlane * channels;
    int64_t last = minOf(end, (at / plane + 1) * plane);
    o.strides[0] = none;
    o.init(w.out, w.rank);
    for (o.seek(at % plane); at < last; ++at, o.next()) {
      int64_t first = 0;
      bool inside = true;
      for (int64_t i = 0; i < w.rank; ++i) {
        int64_t p = o.index[i] * w.stride[i] - w.begin[i];
        inside &= p >= 0 && p + (w.kernel[i] - 1) * w.dilation[i] < w.in[i];
        first = first * w.in[i] + p;
      }
      if (inside)
        pixel(image + first * channels, taps, size, y + at * channels, channels);
      else
        pixel(image, list, pixelsOf(w, o.index, channels, list), y + at * channels, channels);
    }
  }
}

// The dims of `t` with the channels second, as Window.h reads them.
Tensor channelsSecond(const Tensor &t, int64_t *dims) {
  dims[0] = t.dims[0], dims[1] = t.dims[t.rank - 1];
  for (int32_t d = 2; d < t.rank; ++d)
    dims[d] = t.dims[d - 1];
  Tensor to = t;
  to.dims = dims;
  return to;
}

template <class T>
int32_t maxPool(const Args *a) {
  int64_t inDims[kMaxRank], outDims[kMaxRank];
  const Tensor &x = a->in[0];
  if (x.rank < 3 || x.rank > kMaxRank || a->out[0].rank != x.rank)
    return ONNXC_K_SHAPE;
  Window w;
  WindowAttrs attrs = {&a->attr[0], &a->attr[1], &a->attr[2], &a->attr[3], &a->attr[4]};
  ONNXC_TRY(readWindow(channelsSecond(x, inDims), channelsSecond(a->out[0], outDims), nullptr, attrs, w));
  ONNXC_CHECK(inDims[0] == outDims[0] && inDims[1] == outDims[1], ONNXC_K_SHAPE);
  int64_t channels = inDims[1], size = w.kernelSize();
  int64_t *taps = heap<int64_t>(a, size);
  if (!taps)
    return ONNXC_K_MEMORY;
  int64_t strides[kMaxRank];
  Odometer<1> k;
  contiguous(w.in, w.rank, strides);
  for (int64_t i = 0; i < w.rank; ++i)
    strides[i] *= w.dilation[i] * channels;
  k.init(w.kernel, w.rank);
  k.strides[0] = strides;
  for (int64_t *to = taps; k.more(); k.next())
    *to++ = k.offset[0];
  const T *from = in<T>(a, 0);
  T *y = out<T>(a, 0);
  return parallelScratchFor(a, inDims[0] * w.outPlane(), grainOf(size * (4 + channels / 16)), size * int64_t(sizeof(int64_t)),
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              pixels(w, from, y, channels, taps, static_cast<int64_t *>(scratch), begin, end);
                              return ONNXC_K_OK;
                            });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMsNhwcMaxPool(const onnxc_args *a) {
  return a->in[0].dtype == ONNXC_I8 ? onnxc::maxPool<int8_t>(a) : onnxc::maxPool<uint8_t>(a);
}
