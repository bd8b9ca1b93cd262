// MlLinear.cpp: linear models and the element-wise operators of ai.onnx.ml: Binarizer, Imputer, Normalizer, Scaler. Scores: MlScore.h.
#include "runtime_stub/kernels/MlScore.h"

namespace onnxc {
namespace {

constexpr int64_t kBlockRows = 8;
typedef double Lanes __attribute__((ext_vector_type(kBlockRows)));

// Scores of all rows: a block of rows is turned so that its rows are the lanes of one vector.
struct Scores {
  const Tensor &x;
  const Attr &coefficients, &intercepts;
  int64_t rows, columns, targets;
  double *byColumn = nullptr, *block = nullptr, *row = nullptr;
  int64_t begin = 0, end = 0;

  int32_t open(const Args *a) {
    byColumn = heap<double>(a, columns * kBlockRows), block = heap<double>(a, targets * kBlockRows), row = heap<double>(a, targets + 1);
    return byColumn && block && row ? ONNXC_K_OK : ONNXC_K_MEMORY;
  }
  double bias(int64_t t) const { return t < intercepts.n ? double(floats(intercepts)[t]) : 0; }
  template <class T>
  void fill(const T *from) {
    for (int64_t c = 0; c < columns; ++c)
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < kBlockRows; ++i)
        byColumn[c * kBlockRows + i] = toF64(from[i * columns + c]);
    for (int64_t t = 0; t < targets; ++t) {
      const float *k = floats(coefficients) + t * columns;
      Lanes sum = bias(t), odd = 0;
      int64_t c = 0;
      for (; c + 2 <= columns; c += 2) {
        sum += *reinterpret_cast<const Lanes *>(byColumn + c * kBlockRows) * double(k[c]);
        odd += *reinterpret_cast<const Lanes *>(byColumn + (c + 1) * kBlockRows) * double(k[c + 1]);
      }
      if (c < columns)
        sum += *reinterpret_cast<const Lanes *>(byColumn + c * kBlockRows) * double(k[c]);
      sum += odd;
      memcpy(block + t * kBlockRows, &sum, sizeof(sum));
    }
  }
  // Of row r; rows come in order. Room for one score more.
  double *of(int64_t r) {
    if (r >= end && rows - r >= kBlockRows) {
      begin = r, end = r + kBlockRows;
      withInput(x.dtype, [&](auto type) {
        fill(static_cast<const decltype(type) *>(x.data) + r * columns);
        return int32_t(ONNXC_K_OK);
      });
    }
    for (int64_t t = 0; t < targets; ++t)
      row[t] = r < end ? block[t * kBlockRows + r - begin] : bias(t) + dotRow(floats(coefficients) + t * columns, r);
    return row;
  }
  // Coefficients times row r of a matrix of any type.
  double dotRow(const float *c, int64_t r) const {
    if (x.dtype == ONNXC_F32)
      return dot(c, static_cast<const float *>(x.data) + r * columns, columns);
    double sum = 0;
    for (int64_t k = 0; k < columns; ++k)
      sum += double(c[k]) * loadF64(x, r * columns + k);
    return sum;
  }
};

int32_t linearRegressor(const Args *a) {
  enum { Coefficients, Intercepts, PostTransform, Targets };
  const Tensor &x = a->in[0];
  int64_t rows = rowsOf(x), columns = columnsOf(x), targets = a->attr[Targets].i;
  Post post;
  if (!readPost(text(a->attr[PostTransform]), post) || targets < 1)
    return ONNXC_K_VALUE;
  if (a->attr[Coefficients].n != targets * columns || onnxc_count(a->out[0]) != rows * targets)
    return ONNXC_K_SHAPE;
  Scores scores{x, a->attr[Coefficients], a->attr[Intercepts], rows, columns, targets};
  ONNXC_TRY(scores.open(a));
  float *y = out<float>(a, 0);
  for (int64_t r = 0; r < rows; ++r) {
    double *score = scores.of(r);
    transform(score, targets, post);
    for (int64_t t = 0; t < targets; ++t)
      y[r * targets + t] = float(score[t]);
  }
  return ONNXC_K_OK;
}

int32_t linearClassifier(const Args *a) {
  enum { IntLabels, StringLabels, Coefficients, Intercepts, MultiClass, PostTransform };
  const Tensor &x = a->in[0];
  Labels labels{a->attr[IntLabels], a->attr[StringLabels]};
  int64_t rows = rowsOf(x), columns = columnsOf(x), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  if (columns < 1 || a->attr[Coefficients].n % columns)
    return ONNXC_K_SHAPE;
  int64_t classes = a->attr[Coefficients].n / columns;
  Post post;
  if (!readPost(text(a->attr[PostTransform]), post) || classes < 1)
    return ONNXC_K_VALUE;
  Scores scores{x, a->attr[Coefficients], a->attr[Intercepts], rows, columns, classes};
  ONNXC_TRY(scores.open(a));
  float *y = out<float>(a, 1);
  for (int64_t r = 0; r < rows; ++r) {
    double *score = scores.of(r);
    int64_t best = 0;
    for (int64_t t = 1; t < classes; ++t)
      best = score[t] > score[best] ? t : best;
    if (classes == 1)
      best = score[0] > 0;
    labels.give(a, r, best);
    bool second = classes == 1 && labels.count() == 2;
    int64_t n = finishScores(score, classes, post, second ? Second::Complement : Second::None);
    for (int64_t t = 0; t < width; ++t)
      y[r * width + t] = t < n ? float(score[t]) : 0;
  }
  return ONNXC_K_OK;
}

int32_t binarizer(const Args *a) {
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; i < n; ++i)
    storeF64(a->out[0], i, loadF64(a->in[0], i) > a->attr[0].f);
  return ONNXC_K_OK;
}

int32_t scaler(const Args *a) {
  int64_t n = onnxc_count(a->in[0]), columns = columnsOf(a->in[0]);
  const Attr &offset = a->attr[0], &scale = a->attr[1];
  if ((offset.n > 1 && offset.n != columns) || (scale.n > 1 && scale.n != columns))
    return ONNXC_K_SHAPE;
  float *y = out<float>(a, 0);
  return withInput(a->in[0].dtype, [=](auto type) {
    const decltype(type) *x = in<decltype(type)>(a, 0);
    for (int64_t i = 0; i < n; i += columns)
      for (int64_t c = 0; c < columns; ++c) {
        float o = offset.n <= 0 ? 0 : floats(offset)[offset.n == 1 ? 0 : c], s = scale.n <= 0 ? 1 : floats(scale)[scale.n == 1 ? 0 : c];
        y[i + c] = float((toF64(x[i + c]) - o) * s);
      }
    return int32_t(ONNXC_K_OK);
  });
}

int32_t imputer(const Args *a) {
  enum { ImputedFloats, ImputedInts, ReplacedFloat, ReplacedInt };
  const Tensor &x = a->in[0];
  int64_t n = onnxc_count(x), columns = columnsOf(x);
  bool real = x.dtype == ONNXC_F32 || x.dtype == ONNXC_F64;
  const Attr &imputed = a->attr[real ? ImputedFloats : ImputedInts];
  if (imputed.n < 1 || (imputed.n > 1 && imputed.n != columns))
    return ONNXC_K_SHAPE;
  double lookFor = a->attr[ReplacedFloat].f;
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = imputed.n == 1 ? 0 : i % columns;
    if (!real) {
      int64_t v = loadI64(x, i);
      if (v == a->attr[ReplacedInt].i)
        v = ints(imputed)[k];
      if (x.dtype == ONNXC_I64)
        out<int64_t>(a, 0)[i] = v;
      else
        out<int32_t>(a, 0)[i] = int32_t(v);
      continue;
    }
    double v = loadF64(x, i);
    storeF64(a->out[0], i, v == lookFor || (v != v && lookFor != lookFor) ? double(floats(imputed)[k]) : v);
  }
  return ONNXC_K_OK;
}

template <class T>
double greatest(const T *x, int64_t n) {
  double most = -__builtin_inf();
  for (int64_t i = 0; i < n; ++i)
    most = toF64(x[i]) > most ? toF64(x[i]) : most;
  return most;
}
template <class T>
double magnitudes(const T *x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += fabs(toF64(x[i]));
  return sum;
}

// MAX divides by the greatest value, L1 by the sum of magnitudes, L2 by the Euclidean norm; a norm of zero divides by one.
int32_t normalizer(const Args *a) {
  Str norm = text(a->attr[0]);
  bool max = is(norm, "MAX"), l1 = is(norm, "L1");
  if (!max && !l1 && !is(norm, "L2"))
    return ONNXC_K_VALUE;
  int64_t columns = columnsOf(a->in[0]), n = onnxc_count(a->in[0]);
  float *y = out<float>(a, 0);
  return withInput(a->in[0].dtype, [=](auto type) {
    const decltype(type) *x = in<decltype(type)>(a, 0);
    for (int64_t row = 0; row < n; row += columns) {
      double sum = max ? greatest(x + row, columns) : l1 ? magnitudes(x + row, columns) : sqrt(dot(x + row, x + row, columns));
      double divisor = sum != 0 ? sum : 1;
      for (int64_t c = 0; c < columns; ++c)
        y[row + c] = float(toF64(x[row + c]) / divisor);
    }
    return int32_t(ONNXC_K_OK);
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MlLinearRegressor(const onnxc_args *a) { return onnxc::linearRegressor(a); }
extern "C" int32_t onnxc_k_MlLinearClassifier(const onnxc_args *a) { return onnxc::linearClassifier(a); }
extern "C" int32_t onnxc_k_MlBinarizer(const onnxc_args *a) { return onnxc::binarizer(a); }
extern "C" int32_t onnxc_k_MlScaler(const onnxc_args *a) { return onnxc::scaler(a); }
extern "C" int32_t onnxc_k_MlImputer(const onnxc_args *a) { return onnxc::imputer(a); }
extern "C" int32_t onnxc_k_MlNormalizer(const onnxc_args *a) { return onnxc::normalizer(a); }
