// Norm.cpp: normalisations with sums in double: Softmax, LogSoftmax, Layer-, RMS-, Batch-, Instance-, Group-, Lp-,
// MeanVarianceNormalization, LRN.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// A step of the standard's function body, which computes in T.
template <class T>
ONNXC_INLINE double rounded(double v) {
  return toF64(fromF64<T>(v));
}

template <class T, bool Log>
static int32_t softmax(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      const T *x = data<T>(in) + o * s.dim * s.inner + i;
      T *y = mutableData<T>(a->out[0]) + o * s.dim * s.inner + i;
      double most = -__builtin_inf(), sum = 0;
      for (int64_t k = 0; k < s.dim; ++k)
        most = maxOf(most, toF64(x[k * s.inner]));
      for (int64_t k = 0; k < s.dim; ++k)
        sum += rounded<T>(exp(rounded<T>(toF64(x[k * s.inner]) - most)));
      sum = rounded<T>(sum);
      for (int64_t k = 0; k < s.dim; ++k) {
        double v = rounded<T>(toF64(x[k * s.inner]) - most);
        y[k * s.inner] = fromF64<T>(Log ? v - log(sum) : rounded<T>(exp(v)) / sum);
      }
    }
  return 0;
}

struct Moments {
  double mean, variance;
};

template <class T>
static Moments momentsOf(const T *x, int64_t n) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += toF64(x[i]);
  double mean = sum / double(n);
  for (int64_t i = 0; i < n; ++i)
    squares += (toF64(x[i]) - mean) * (toF64(x[i]) - mean);
  return {mean, squares / double(n)};
}

// Rows of the dims from `axis` on; scale and bias broadcast to the operand.
template <class T, bool Centered>
static int32_t rowNorm(const onnxc_args *a) {  // attributes: axis, epsilon
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i, strides[2][kMaxRank];
  ONNXC_CHECK(in.rank <= kMaxRank && fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  bool hasBias = Centered && hasIn(a, 2);
  ONNXC_CHECK(broadcastStrides(a->in[1], in.dims, in.rank, strides[0]), ONNXC_K_SHAPE);
  ONNXC_CHECK(broadcastStrides(a->in[hasBias ? 2 : 1], in.dims, in.rank, strides[1]), ONNXC_K_SHAPE);
  int64_t n = product(in.dims, axis, in.rank), at = 0;
  double factor = 0;
  Moments m = {0, 0};
  Odometer<2> o;
  o.init(in.dims, in.rank);
  o.strides[0] = strides[0];
  o.strides[1] = strides[1];
  for (; o.more(); o.next(), ++at) {
    if (at % n == 0) {
      m = momentsOf(data<T>(in) + at, n);
      double power = Centered ? m.variance : m.variance + m.mean * m.mean;
      factor = 1 / sqrt(power + a->attr[1].f);
      if (Centered && hasOut(a, 1))
        storeF64(a->out[1], at / n, m.mean);
      if (Centered && hasOut(a, 2))
        storeF64(a->out[2], at / n, factor);
    }
    double v = (toF64(data<T>(in)[at]) - (Centered ? m.mean : 0)) * factor * loadF64(a->in[1], o.offset[0]);
    mutableData<T>(a->out[0])[at] = fromF64<T>(hasBias ? v + loadF64(a->in[2], o.offset[1]) : v);
  }
  return 0;
}

// y = x·factor + shift for one plane.
template <class T>
static void affine(const onnxc_args *a, int64_t first, int64_t n, double mean, double factor, double bias) {
  for (int64_t i = first; i < first + n; ++i)
    mutableData<T>(a->out[0])[i] = fromF64<T>((toF64(data<T>(a->in[0])[i]) - mean) * factor + bias);
}

// Operands: X, scale, B, input_mean, input_var; results: Y, running_mean, running_var.
template <class T>
static int32_t batchNorm(const onnxc_args *a) {  // attributes: epsilon, momentum, training_mode
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 1, ONNXC_K_SHAPE);
  int64_t channels = in.rank > 1 ? in.dims[1] : 1, batch = in.dims[0], plane = product(in.dims, 2, in.rank);
  for (int i = 1; i < 5; ++i)
    ONNXC_CHECK(onnxc_count(a->in[i]) == channels, ONNXC_K_SHAPE);
  double momentum = a->attr[1].f;
  bool training = a->attr[2].i != 0;
  for (int64_t c = 0; c < channels; ++c) {
    double mean = loadF64(a->in[3], c), variance = loadF64(a->in[4], c);
    if (training) {
      double sum = 0, squares = 0, count = double(batch * plane);
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t i = 0; i < plane; ++i)
          sum += toF64(data<T>(in)[(n * channels + c) * plane + i]);
      double own = sum / count;
      for (int64_t n = 0; n < batch; ++n)
        for (int64_t i = 0; i < plane; ++i) {
          double v = toF64(data<T>(in)[(n * channels + c) * plane + i]) - own;
          squares += v * v;
        }
      if (hasOut(a, 1))
        storeF64(a->out[1], c, mean * momentum + own * (1 - momentum));
      if (hasOut(a, 2))
        storeF64(a->out[2], c, variance * momentum + squares / count * (1 - momentum));
      mean = own;
      variance = squares / count;
    }
    double factor = loadF64(a->in[1], c) / sqrt(variance + a->attr[0].f), bias = loadF64(a->in[2], c);
    for (int64_t n = 0; n < batch; ++n)
      affine<T>(a, (n * channels + c) * plane, plane, mean, factor, bias);
  }
  return 0;
}

template <class T>
static int32_t groupNorm(const onnxc_args *a, int64_t groups) {  // attributes: epsilon first
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2, ONNXC_K_SHAPE);
  int64_t channels = in.dims[1], plane = product(in.dims, 2, in.rank);
  if (groups == 0)
    groups = channels;
  if (onnxc_count(in) == 0)
    return 0;
  ONNXC_CHECK(groups > 0 && channels % groups == 0, ONNXC_K_SHAPE);
  ONNXC_CHECK(onnxc_count(a->in[1]) == channels && onnxc_count(a->in[2]) == channels, ONNXC_K_SHAPE);
  int64_t perGroup = channels / groups;
  for (int64_t g = 0; g < in.dims[0] * groups; ++g) {
    Moments m = momentsOf(data<T>(in) + g * perGroup * plane, perGroup * plane);
    double factor = 1 / sqrt(m.variance + a->attr[0].f);
    for (int64_t k = 0; k < perGroup; ++k) {
      int64_t c = g % groups * perGroup + k;
      affine<T>(a, (g * perGroup + k) * plane, plane, m.mean, factor * toF64(data<T>(a->in[1])[c]), toF64(data<T>(a->in[2])[c]));
    }
  }
  return 0;
}

template <class T>
static int32_t lpNorm(const onnxc_args *a) {  // attributes: axis, p
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  ONNXC_CHECK(a->attr[1].i == 1 || a->attr[1].i == 2, ONNXC_K_VALUE);
  Axis3 s = splitAt(in, axis);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i = 0; i < s.inner; ++i) {
      int64_t base = o * s.dim * s.inner + i;
      double norm = 0;
      for (int64_t k = 0; k < s.dim; ++k) {
        double v = toF64(data<T>(in)[base + k * s.inner]);
        norm += a->attr[1].i == 1 ? fabs(v) : v * v;
      }
      if (a->attr[1].i == 2)
        norm = sqrt(norm);
      for (int64_t k = 0; k < s.dim; ++k)
        mutableData<T>(a->out[0])[base + k * s.inner] = fromF64<T>(norm == 0 ? 0 : toF64(data<T>(in)[base + k * s.inner]) / norm);
    }
  return 0;
}

template <class T>
static int32_t meanVariance(const onnxc_args *a) {  // attributes: axes
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  static const int64_t usual[] = {0, 2, 3};
  const int64_t *axes = given(a->attr[0]) ? static_cast<const int64_t *>(a->attr[0].p) : usual;
  int64_t count = given(a->attr[0]) ? a->attr[0].n : 3, dims[kMaxRank], strides[kMaxRank], n = onnxc_count(in), at = 0;
  for (int32_t i = 0; i < in.rank; ++i)
    dims[i] = in.dims[i];
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = axes[i];
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
    dims[axis] = 1;
  }
  contiguous(dims, in.rank, strides);
  for (int32_t i = 0; i < in.rank; ++i)
    if (dims[i] == 1)
      strides[i] = 0;
  int64_t groups = product(dims, 0, in.rank);
  double *mean = heap<double>(a, 2 * groups), *square = mean + groups, size = groups ? double(n / groups) : 1;
  ONNXC_CHECK(mean, ONNXC_K_MEMORY);
  for (int pass = 0; pass < 3; ++pass) {  // mean, deviation, result
    Odometer<1> o;
    o.init(in.dims, in.rank);
    o.strides[0] = strides;
    for (at = 0; o.more(); o.next(), ++at) {
      double x = toF64(data<T>(in)[at]), centered = x - mean[o.offset[0]];
      if (pass == 0)
        mean[o.offset[0]] += x / size;
      if (pass == 1)
        square[o.offset[0]] += centered * centered / size;
      if (pass == 2)
        mutableData<T>(a->out[0])[at] = fromF64<T>(centered / (sqrt(square[o.offset[0]]) + 1e-9));
    }
  }
  return 0;
}

template <class T>
static int32_t lrn(const onnxc_args *a) {  // attributes: alpha, beta, bias, size
  const onnxc_tensor &in = a->in[0];
  int64_t size = a->attr[3].i;
  ONNXC_CHECK(in.rank >= 2 && size > 0, ONNXC_K_SHAPE);
  int64_t channels = in.dims[1], plane = product(in.dims, 2, in.rank);
  for (int64_t n = 0; n < in.dims[0]; ++n)
    for (int64_t c = 0; c < channels; ++c) {
      int64_t low = maxOf<int64_t>(0, c - (size - 1) / 2), high = minOf(channels, c + size / 2 + 1);
      for (int64_t i = 0; i < plane; ++i) {
        double squares = 0;
        for (int64_t k = low; k < high; ++k) {
          double v = toF64(data<T>(in)[(n * channels + k) * plane + i]);
          squares += v * v;
        }
        int64_t at = (n * channels + c) * plane + i;
        double base = a->attr[2].f + a->attr[0].f / double(size) * squares;
        mutableData<T>(a->out[0])[at] = fromF64<T>(toF64(data<T>(in)[at]) / pow(base, a->attr[1].f));
      }
    }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Softmax_##S(const onnxc_args *a) { return onnxc::softmax<T, false>(a); }                                      \
  extern "C" int32_t onnxc_k_LogSoftmax_##S(const onnxc_args *a) { return onnxc::softmax<T, true>(a); }                                    \
  extern "C" int32_t onnxc_k_LayerNormalization_##S(const onnxc_args *a) { return onnxc::rowNorm<T, true>(a); }                            \
  extern "C" int32_t onnxc_k_RMSNormalization_##S(const onnxc_args *a) { return onnxc::rowNorm<T, false>(a); }                             \
  extern "C" int32_t onnxc_k_BatchNormalization_##S(const onnxc_args *a) { return onnxc::batchNorm<T>(a); }                                \
  extern "C" int32_t onnxc_k_InstanceNormalization_##S(const onnxc_args *a) { return onnxc::groupNorm<T>(a, 0); }                          \
  extern "C" int32_t onnxc_k_GroupNormalization_##S(const onnxc_args *a) { return onnxc::groupNorm<T>(a, a->attr[1].i); }                  \
  extern "C" int32_t onnxc_k_LpNormalization_##S(const onnxc_args *a) { return onnxc::lpNorm<T>(a); }                                      \
  extern "C" int32_t onnxc_k_MeanVarianceNormalization_##S(const onnxc_args *a) { return onnxc::meanVariance<T>(a); }                      \
  extern "C" int32_t onnxc_k_LRN_##S(const onnxc_args *a) { return onnxc::lrn<T>(a); }
ONNXC_FLOATS(X)
#undef X
