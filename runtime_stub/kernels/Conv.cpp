// Conv.cpp: convolutions as shifted row additions: Conv, ConvTranspose, ConvInteger, QLinearConv, CausalConvWithState. codegen/cpu's
// microkernels are the fast path; these take every shape and type.
#include "runtime_stub/kernels/ConvWindow.h"

namespace onnxc {

// Convolves every image and group. loadX(flat index), loadW(flat index, result channel) give A; store(first flat index, channel, sums, n).
template <class A, class LoadX, class LoadW, class Store>
static int32_t convolve(const onnxc_args *a, const onnxc_tensor &x, const onnxc_tensor &weights, const LoadX &loadX, const LoadW &loadW,
                        const Store &store) {
  const onnxc_tensor &out = a->out[0];
  Window w;
  ONNXC_CHECK(weights.rank == x.rank && x.rank >= 2, ONNXC_K_SHAPE);
  ONNXC_TRY(readWindow(x, out, weights.dims + 2, convAttrs(a), w));
  int64_t groups = a->attr[kGroup].i, channels = weights.dims[1], results = weights.dims[0];
  ONNXC_CHECK(groups > 0 && results % groups == 0 && channels * groups == x.dims[1] && out.dims[1] == results, ONNXC_K_SHAPE);
  int64_t inPlane = w.inPlane(), outPlane = w.outPlane(), taps = w.kernelSize();
  A *image = heap<A>(a, channels * inPlane), *sums = heap<A>(a, outPlane);
  ONNXC_CHECK(image && sums, ONNXC_K_MEMORY);
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t m = 0; m < results; ++m) {
      int64_t perGroup = results / groups, first = (n * x.dims[1] + m / perGroup * channels) * inPlane;
      for (int64_t i = 0; m % perGroup == 0 && i < channels * inPlane; ++i)
        image[i] = loadX(first + i);
      for (int64_t i = 0; i < outPlane; ++i)
        sums[i] = 0;
      for (int64_t c = 0; c < channels; ++c) {
        Odometer<0> k;
        int64_t tap = (m * channels + c) * taps;
        for (k.init(w.kernel, w.rank); k.more(); k.next(), ++tap) {
          A weight = loadW(tap, m);
          forRows(w, k.index, [&](int64_t outAt, int64_t inAt, int64_t count, int64_t stride) {
            const A *from = image + c * inPlane + inAt;
            for (int64_t i = 0; i < count; ++i)
              sums[outAt + i] += weight * from[i * stride];
          });
        }
      }
      store((n * results + m) * outPlane, m, sums, outPlane);
    }
  return 0;
}

template <class T>
static int32_t conv(const onnxc_args *a) {
  const T *x = data<T>(a->in[0]), *weights = data<T>(a->in[1]);
  ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == a->in[1].dims[0], ONNXC_K_SHAPE);
  return convolve<double>(
      a, a->in[0], a->in[1], [&](int64_t i) { return toF64(x[i]); }, [&](int64_t i, int64_t) { return toF64(weights[i]); },
      [&](int64_t at, int64_t m, const double *sums, int64_t n) {
        double bias = hasIn(a, 2) ? toF64(data<T>(a->in[2])[m]) : 0;
        for (int64_t i = 0; i < n; ++i)
          mutableData<T>(a->out[0])[at + i] = fromF64<T>(sums[i] + bias);
      });
}

static bool scalarOrPerChannel(const onnxc_args *a, int64_t input, int64_t channels) {
  if (!hasIn(a, input))
    return true;
  int64_t n = onnxc_count(a->in[input]);
  return n == 1 || n == channels;
}
static int64_t pointAt(const onnxc_args *a, int64_t input, int64_t m) {
  return hasIn(a, input) ? loadI64(a->in[input], onnxc_count(a->in[input]) == 1 ? 0 : m) : 0;
}

static int32_t convInteger(const onnxc_args *a) {  // operands: x, w, x_zero_point, w_zero_point
  int64_t xz = pointAt(a, 2, 0);
  ONNXC_CHECK(a->in[1].rank >= 2 && scalarOrPerChannel(a, 3, a->in[1].dims[0]), ONNXC_K_SHAPE);
  return convolve<int64_t>(
      a, a->in[0], a->in[1], [&](int64_t i) { return loadI64(a->in[0], i) - xz; },
      [&](int64_t i, int64_t m) { return loadI64(a->in[1], i) - pointAt(a, 3, m); },
      [&](int64_t at, int64_t, const int64_t *sums, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          mutableData<int32_t>(a->out[0])[at + i] = int32_t(sums[i]);
      });
}

// Operands: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
static int32_t qLinearConv(const onnxc_args *a) {
  const onnxc_tensor &weights = a->in[3];
  ONNXC_CHECK(weights.rank >= 2, ONNXC_K_SHAPE);
  int64_t results = weights.dims[0], xz = pointAt(a, 2, 0), yz = pointAt(a, 7, 0);
  ONNXC_CHECK(scalarOrPerChannel(a, 4, results) && scalarOrPerChannel(a, 5, results), ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 8) || onnxc_count(a->in[8]) == results, ONNXC_K_SHAPE);
  bool isSigned = a->out[0].dtype == ONNXC_I8;
  return convolve<int64_t>(
      a, a->in[0], weights, [&](int64_t i) { return loadI64(a->in[0], i) - xz; },
      [&](int64_t i, int64_t m) { return loadI64(weights, i) - pointAt(a, 5, m); },
      [&](int64_t at, int64_t m, const int64_t *sums, int64_t n) {
        // In f32, as other runtimes requantise: near ties round the same way.
        float scale =
            float(loadF64(a->in[1], 0)) * float(loadF64(a->in[4], onnxc_count(a->in[4]) == 1 ? 0 : m)) / float(loadF64(a->in[6], 0));
        int64_t bias = hasIn(a, 8) ? loadI64(a->in[8], m) : 0;
        for (int64_t i = 0; i < n; ++i) {
          double y = nearbyint(double(float(sums[i] + bias) * scale)) + double(yz);
          if (isSigned)
            mutableData<int8_t>(a->out[0])[at + i] = saturateTo<int8_t>(y);
          else
            mutableData<uint8_t>(a->out[0])[at + i] = saturateTo<uint8_t>(y);
        }
      });
}

template <class T>
static int32_t convTranspose(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &out = a->out[0];
  TransposedConv t;
  ONNXC_TRY(t.read(a));
  double *sums = heap<double>(a, t.plane);
  ONNXC_CHECK(sums, ONNXC_K_MEMORY);
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t m = 0; m < t.results; ++m) {
      double bias = hasIn(a, 2) ? toF64(data<T>(a->in[2])[m]) : 0;
      for (int64_t i = 0; i < t.plane; ++i)
        sums[i] = bias;
      for (int64_t c = m / t.perGroup * t.channels; c < (m / t.perGroup + 1) * t.channels; ++c) {
        const T *image = data<T>(x) + (n * x.dims[1] + c) * t.xPlane,
                *kernel = data<T>(weights) + (c * t.perGroup + m % t.perGroup) * t.taps;
        Odometer<0> k;
        for (k.init(t.w.kernel, t.w.rank); k.more(); k.next(), ++kernel)
          forRows(t.w, k.index, [&](int64_t xAt, int64_t sumAt, int64_t count, int64_t stride) {
            for (int64_t i = 0; i < count; ++i)
              sums[sumAt + i * stride] += toF64(*kernel) * toF64(image[xAt + i]);
          });
      }
      for (int64_t i = 0; i < t.plane; ++i)
        mutableData<T>(out)[(n * t.results + m) * t.plane + i] = fromF64<T>(sums[i]);
    }
  return 0;
}

// Depthwise, looking back only; the k−1 positions before the input come from past_state and the last k−1 go to present_state.
template <class T>
static int32_t causalConv(const onnxc_args *a) {  // attributes: activation; operands: input, weight, bias, past_state
  const onnxc_tensor &x = a->in[0], &weights = a->in[1];
  ONNXC_CHECK(x.rank == 3 && weights.rank == 3 && weights.dims[0] == x.dims[1] && weights.dims[2] >= 1, ONNXC_K_SHAPE);
  int64_t batch = x.dims[0], channels = x.dims[1], length = x.dims[2], taps = weights.dims[2], past = taps - 1;
  ONNXC_CHECK(!hasIn(a, 3) || onnxc_count(a->in[3]) == batch * channels * past, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == channels, ONNXC_K_SHAPE);
  const char *activation = static_cast<const char *>(a->attr[0].p);
  bool silu = a->attr[0].n > 0 && activation[0] == 's';
  for (int64_t row = 0; row < batch * channels; ++row) {
    auto at = [&](int64_t t) {  // position t counts from the first past one
      if (t >= past)
        return data<T>(x)[row * length + t - past];
      return hasIn(a, 3) ? data<T>(a->in[3])[row * past + t] : fromF64<T>(0);
    };
    for (int64_t t = 0; t < length; ++t) {
      double sum = hasIn(a, 2) ? toF64(data<T>(a->in[2])[row % channels]) : 0;
      for (int64_t k = 0; k < taps; ++k)
        sum += toF64(at(t + k)) * toF64(data<T>(weights)[row % channels * taps + k]);
      mutableData<T>(a->out[0])[row * length + t] = fromF64<T>(silu ? sum / (1 + exp(-sum)) : sum);
    }
    for (int64_t t = 0; hasOut(a, 1) && t < past; ++t)
      mutableData<T>(a->out[1])[row * past + t] = at(length + t);
  }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_ConvInteger(const onnxc_args *a) { return onnxc::convInteger(a); }
extern "C" int32_t onnxc_k_QLinearConv(const onnxc_args *a) { return onnxc::qLinearConv(a); }
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Conv_##S(const onnxc_args *a) { return onnxc::conv<T>(a); }                                                   \
  extern "C" int32_t onnxc_k_ConvTranspose_##S(const onnxc_args *a) { return onnxc::convTranspose<T>(a); }                                 \
  extern "C" int32_t onnxc_k_CausalConvWithState_##S(const onnxc_args *a) { return onnxc::causalConv<T>(a); }
ONNXC_FLOATS(X)
#undef X
