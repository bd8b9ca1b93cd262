// Loss.cpp: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss over [batch, classes, positions…].
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// Attributes: ignore_index, reduction. Operands: scores, targets, weights. `logProb(n, c, d)` is the log probability of a class.
template <class T, class LogProb>
static int32_t reduceLoss(const onnxc_args *a, const LogProb &logProb) {
  const onnxc_tensor &x = a->in[0], &targets = a->in[1];
  ONNXC_CHECK(x.rank >= 2, ONNXC_K_SHAPE);
  int64_t classes = x.dims[1], plane = product(x.dims, 2, x.rank), n = x.dims[0] * plane;
  ONNXC_CHECK(onnxc_count(targets) == n, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == classes, ONNXC_K_SHAPE);
  const char *reduction = static_cast<const char *>(a->attr[1].p);
  char how = a->attr[1].n > 0 ? reduction[0] : 'm';
  double total = 0, weights = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t c = loadI64(targets, i);
    double weight = 0, loss = 0;
    if (!given(a->attr[0]) || c != a->attr[0].i) {
      ONNXC_CHECK(c >= 0 && c < classes, ONNXC_K_INDEX);
      weight = hasIn(a, 2) ? toF64(data<T>(a->in[2])[c]) : 1;
      loss = -logProb(i / plane, c, i % plane) * weight;
    }
    if (how == 'n')
      mutableData<T>(a->out[0])[i] = fromF64<T>(loss);
    total += loss;
    weights += weight;
  }
  if (how != 'n')
    *mutableData<T>(a->out[0]) = fromF64<T>(how == 's' ? total : total / weights);
  return 0;
}

template <class T>
static int32_t nllLoss(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0];
  int64_t classes = x.rank >= 2 ? x.dims[1] : 0, plane = product(x.dims, 2, x.rank);
  return reduceLoss<T>(a, [&](int64_t n, int64_t c, int64_t d) { return toF64(data<T>(x)[(n * classes + c) * plane + d]); });
}

template <class T>
static int32_t softmaxLoss(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0];
  ONNXC_CHECK(x.rank >= 2, ONNXC_K_SHAPE);
  int64_t classes = x.dims[1], plane = product(x.dims, 2, x.rank), n = x.dims[0] * plane;
  double *norm = heap<double>(a, n);  // log Σ exp of each position
  ONNXC_CHECK(norm, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i) {
    const T *row = data<T>(x) + i / plane * classes * plane + i % plane;
    double most = -__builtin_inf(), sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      most = maxOf(most, toF64(row[c * plane]));
    for (int64_t c = 0; c < classes; ++c)
      sum += exp(toF64(row[c * plane]) - most);
    norm[i] = most + log(sum);
    int64_t at = row - data<T>(x);
    for (int64_t c = 0; hasOut(a, 1) && c < classes; ++c)
      mutableData<T>(a->out[1])[at + c * plane] = fromF64<T>(toF64(row[c * plane]) - norm[i]);
  }
  return reduceLoss<T>(
      a, [&](int64_t b, int64_t c, int64_t d) { return toF64(data<T>(x)[(b * classes + c) * plane + d]) - norm[b * plane + d]; });
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_NegativeLogLikelihoodLoss_##S(const onnxc_args *a) { return onnxc::nllLoss<T>(a); }                           \
  extern "C" int32_t onnxc_k_SoftmaxCrossEntropyLoss_##S(const onnxc_args *a) { return onnxc::softmaxLoss<T>(a); }
ONNXC_FLOATS(X)
#undef X
