// MlLinear.cpp: linear models and the element-wise operators of ai.onnx.ml: Binarizer, Imputer, Normalizer, Scaler. Scores: MlScore.h.
#include "runtime_stub/kernels/MlScore.h"

namespace onnxc {
namespace {

constexpr int64_t kBlockRows = 8;
typedef double Lanes __attribute__((ext_vector_type(kBlockRows)));

// expF64() for a block.
ONNXC_INLINE Lanes exponential(Lanes x) {
  typedef uint64_t Bits __attribute__((ext_vector_type(kBlockRows)));
  const Lanes c = x < -708 ? Lanes(-708) : x > 709 ? Lanes(709) : x;
  const Lanes shifted = c * 1.44269504088896341 + 0x1.8p52, n = shifted - 0x1.8p52;
  Lanes r = n * -6.93147180369123816490e-01 + c, p = 1.0 / 479001600;
  r = n * -1.90821492927058770002e-10 + r;
  const double factors[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                            1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0,        1.0};
#pragma clang loop unroll(full)
  for (double f : factors)
    p = p * r + f;
  const Lanes y = p * __builtin_bit_cast(Lanes, (__builtin_bit_cast(Bits, shifted) + 1023) << 52);
  const Lanes bounded = x < -708 ? Lanes(0) : x > 709 ? Lanes(__builtin_inf()) : y;
  return x == x ? bounded : x;
}

// Scores of a block of rows, each target's in one vector; room for a second score of one class.
struct Scores {
  using V = Lanes;
  const Tensor &x;
  const Attr &coefficients, &intercepts;
  int64_t rows, columns, targets;
  double *byColumn = nullptr, *row = nullptr;
  Lanes *score = nullptr;

  int32_t open(const Args *a) {
    byColumn = heap<double>(a, columns * kBlockRows), row = heap<double>(a, targets + 1), score = heap<Lanes>(a, targets + 1);
    return byColumn && row && score ? ONNXC_K_OK : ONNXC_K_MEMORY;
  }
  double bias(int64_t t) const { return t < intercepts.n ? double(floats(intercepts)[t]) : 0; }
  template <class T>
  void fill(const T *from) {
    for (int64_t c = 0; c < columns; ++c)
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < kBlockRows; ++i)
        byColumn[c * kBlockRows + i] = toF64(from[i * columns + c]);
    const Lanes *column = reinterpret_cast<const Lanes *>(byColumn);
    for (int64_t t = 0; t < targets; ++t) {
      const float *k = floats(coefficients) + t * columns;
      Lanes sum = bias(t), odd = 0;
      int64_t c = 0;
      for (; c + 2 <= columns; c += 2) {
        sum += column[c] * double(k[c]);
        odd += column[c + 1] * double(k[c + 1]);
      }
      if (c < columns)
        sum += column[c] * double(k[c]);
      score[t] = sum + odd;
    }
  }
  // Of up to kBlockRows rows from r on; gives their number.
  int64_t at(int64_t r) {
    const int64_t n = rows - r < kBlockRows ? rows - r : kBlockRows;
    if (n == kBlockRows)
      withInput(x.dtype, [&](auto type) {
        fill(static_cast<const decltype(type) *>(x.data) + r * columns);
        return int32_t(ONNXC_K_OK);
      });
    else
      for (int64_t t = 0; t < targets; ++t) {
        score[t] = 0;
        for (int64_t i = 0; i < n; ++i)
          score[t][i] = bias(t) + dotRow(floats(coefficients) + t * columns, r + i);
      }
    return n;
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

  int64_t finish(int64_t n, Post post, Second second) { return finishScores(*this, targets, n, post, second, exponential); }
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
  for (int64_t r = 0, n; r < rows; r += n) {
    n = scores.at(r);
    scores.finish(n, post, Second::None);
    for (int64_t t = 0; t < targets; ++t)
      for (int64_t i = 0; i < n; ++i)
        y[(r + i) * targets + t] = float(scores.score[t][i]);
  }
  return ONNXC_K_OK;
}

int32_t linearClassifier(const Args *a) {
  enum { IntLabels, StringLabels, Coefficients, Intercepts, MultiClass, PostTransform };
  const Tensor &x = a->in[0];
  Labels labels{a->attr[IntLabels], a->attr[StringLabels]};
  int64_t rows = rowsOf(x), columns = columnsOf(x), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  if (columns < 1)
    return ONNXC_K_SHAPE;
  // As ONNX Runtime counts: more coefficients than these classes have are not read.
  int64_t classes = a->attr[Intercepts].n > 0 ? a->attr[Intercepts].n : a->attr[Coefficients].n / columns;
  if (a->attr[Coefficients].n < classes * columns || (a->attr[Intercepts].n <= 0 && a->attr[Coefficients].n % columns))
    return ONNXC_K_SHAPE;
  Post post;
  if (!readPost(text(a->attr[PostTransform]), post) || classes < 1)
    return ONNXC_K_VALUE;
  Scores scores{x, a->attr[Coefficients], a->attr[Intercepts], rows, columns, classes};
  ONNXC_TRY(scores.open(a));
  float *y = out<float>(a, 1);
  const Second second = classes == 1 && labels.count() == 2 ? Second::Complement : Second::None;
  for (int64_t r = 0, n; r < rows; r += n) {
    n = scores.at(r);
    Lanes top = scores.score[0], best = classes == 1 ? (top > 0 ? Lanes(1) : Lanes(0)) : Lanes(0);
    for (int64_t t = 1; t < classes; ++t) {
      const Lanes s = scores.score[t];
      best = s > top ? Lanes(double(t)) : best;
      top = s > top ? s : top;
    }
    const int64_t given = scores.finish(n, post, second);
    for (int64_t i = 0; i < n; ++i) {
      labels.give(a, r + i, int64_t(best[i]));
      for (int64_t t = 0; t < width; ++t)
        y[(r + i) * width + t] = t < given ? float(scores.score[t][i]) : 0;
    }
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
