// MlSvm.cpp: support vector machines: SVMRegressor, and SVMClassifier with pairwise votes and probabilities as libsvm defines them.
#include "runtime_stub/kernels/MlScore.h"

namespace onnxc {
namespace {

// Sum of squares of differences, in eight lanes as dot().
ONNXC_INLINE double distance(const double *x, const float *v, int64_t n) {
  double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum = 0;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int j = 0; j < 8; ++j) {
      double d = x[k + j] - double(v[k + j]);
      lane[j] += d * d;
    }
  for (; k < n; ++k)
    sum += (x[k] - double(v[k])) * (x[k] - double(v[k]));
  return sum + ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

// x^degree; loops that LLVM vectorises for the degrees that are usual.
ONNXC_INLINE void powers(double *x, int64_t n, double degree) {
  if (degree == 2)
    for (int64_t i = 0; i < n; ++i)
      x[i] *= x[i];
  else if (degree == 3)
    for (int64_t i = 0; i < n; ++i)
      x[i] *= x[i] * x[i];
  else if (degree == 4)
    for (int64_t i = 0; i < n; ++i)
      x[i] *= x[i] * x[i] * x[i];
  else
    for (int64_t i = 0; i < n; ++i)
      x[i] = pow(x[i], degree);
}
// tanh to 1e-16 of 1, for loops that LLVM vectorises.
ONNXC_INLINE double tanhF64(double x) {
  double e = expF64(-2 * (x < 0 ? -x : x)), y = (1 - e) / (1 + e);
  return x < 0 ? -y : x == x ? y : x;
}

typedef double Lanes __attribute__((ext_vector_type(8)));
constexpr int64_t kBlockRows = 4, kBlockVectors = 16;

// Products or squared distances between kBlockRows rows x and `count` vectors, which lie by feature: row `k` of `v` holds feature k of all.
template <bool Distance>
void blockOf(const double *x, const double *v, int64_t n, int64_t count, double *value) {
  for (int64_t i = 0; i < count; i += kBlockVectors) {
    Lanes sum[kBlockRows][2] = {};
    for (int64_t k = 0; k < n; ++k) {
      const Lanes *at = reinterpret_cast<const Lanes *>(v + k * count + i), a = at[0], b = at[1];
#pragma clang loop unroll(full)
      for (int r = 0; r < kBlockRows; ++r) {
        Lanes one = x[r * n + k], c = Distance ? one - a : a, d = Distance ? one - b : b;
        sum[r][0] += (Distance ? c : one) * c;
        sum[r][1] += (Distance ? d : one) * d;
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < kBlockRows; ++r)
      for (int h = 0; h < 2; ++h)
        __builtin_memcpy(value + r * count + i + h * 8, &sum[r][h], sizeof(Lanes));
  }
}

struct Kernel {
  enum Kind { Linear, Poly, Rbf, Sigmoid } kind;
  double gamma = 0, coef0 = 0, degree = 0;
  bool read(Str type, const Attr &params) {
    kind = is(type, "POLY") ? Poly : is(type, "RBF") ? Rbf : is(type, "SIGMOID") ? Sigmoid : Linear;
    if (kind == Linear && !is(type, "LINEAR"))
      return false;
    if (params.n >= 3)
      gamma = floats(params)[0], coef0 = floats(params)[1], degree = floats(params)[2];
    return kind == Linear || params.n >= 3;
  }
  // What the function of the kernel is taken of.
  double argument(const double *x, const float *v, int64_t n) const {
    return kind == Linear ? dot(x, v, n) : kind == Rbf ? -gamma * distance(x, v, n) : gamma * dot(x, v, n) + coef0;
  }
  void finish(double *value, int64_t n) const {
    if (kind == Poly)
      powers(value, n, degree);
    for (int64_t i = 0; kind == Rbf && i < n; ++i)
      value[i] = expF64(value[i]);
    for (int64_t i = 0; kind == Sigmoid && i < n; ++i)
      value[i] = tanhF64(value[i]);
  }
  // The kernel between kBlockRows rows and vectors by feature.
  void block(const double *x, const double *v, int64_t n, int64_t count, double *value) const {
    kind == Rbf ? blockOf<true>(x, v, n, count, value) : blockOf<false>(x, v, n, count, value);
    for (int64_t i = 0; kind != Linear && i < kBlockRows * count; ++i)
      value[i] = kind == Rbf ? -gamma * value[i] : gamma * value[i] + coef0;
    finish(value, kBlockRows * count);
  }
  // The kernel between x and each of `count` vectors of n.
  void products(const double *x, const float *v, int64_t n, int64_t count, double *value) const {
    for (int64_t i = 0; i < count; ++i)
      value[i] = argument(x, v + i * n, n);
    finish(value, count);
  }
  double operator()(const double *x, const float *v, int64_t n) const {
    double value;
    products(x, v, n, 1, &value);
    return value;
  }
};

void loadRow(const Args *a, int64_t row, int64_t columns, double *x) {
  for (int64_t c = 0; c < columns; ++c)
    x[c] = loadF64(a->in[0], row * columns + c);
}

// The kernel between each row of the input and each vector, a block of rows at a time.
struct Products {
  const Args *a;
  const Kernel &kernel;
  const float *vectors;
  int64_t columns, count;
  double *x = nullptr, *value = nullptr, *byFeature = nullptr;
  int64_t padded = 0, begin = 0, end = 0;

  int32_t open(int64_t rows) {
    bool blocks = rows >= kBlockRows && count > 0;
    padded = blocks ? (count + kBlockVectors - 1) / kBlockVectors * kBlockVectors : count;
    x = heap<double>(a, columns * kBlockRows), value = heap<double>(a, padded * kBlockRows);
    byFeature = blocks ? heap<double>(a, padded * columns) : nullptr;
    if (!x || !value || (blocks && !byFeature))
      return ONNXC_K_MEMORY;
    for (int64_t i = 0; blocks && i < count; ++i)
      for (int64_t k = 0; k < columns; ++k)
        byFeature[k * padded + i] = double(vectors[i * columns + k]);
    return ONNXC_K_OK;
  }
  // Of row r; rows come in order.
  const double *of(int64_t r, int64_t rows) {
    if (r < end)
      return value + (r - begin) * padded;
    begin = r, end = byFeature && rows - r >= kBlockRows ? r + kBlockRows : r + 1;
    for (int64_t i = 0; i < (end - begin) * columns; ++i)
      x[i] = loadF64(a->in[0], r * columns + i);
    if (end - begin > 1)
      kernel.block(x, byFeature, columns, padded, value);
    else
      kernel.products(x, vectors, columns, count, value);
    return value;
  }
};

int32_t regressor(const Args *a) {
  enum { Coefficients, Params, Type, Supports, OneClass, PostTransform, Rho, Vectors };
  const Attr *t = a->attr;
  int64_t rows = rowsOf(a->in[0]), columns = columnsOf(a->in[0]), supports = t[Supports].i;
  Kernel kernel;
  Post post;
  if (!kernel.read(text(t[Type]), t[Params]) || !readPost(text(t[PostTransform]), post) || t[Rho].n < 1)
    return ONNXC_K_VALUE;
  if (supports > 0 ? t[Vectors].n != supports * columns || t[Coefficients].n < supports : t[Coefficients].n != columns)
    return ONNXC_K_SHAPE;
  double *x = heap<double>(a, columns);
  Products products{a, kernel, floats(t[Vectors]), columns, supports > 0 ? supports : 0};
  if (!x)
    return ONNXC_K_MEMORY;
  ONNXC_TRY(products.open(rows));
  for (int64_t r = 0; r < rows; ++r) {
    double sum = floats(t[Rho])[0];
    if (supports <= 0) {
      loadRow(a, r, columns, x);
      sum += Kernel{Kernel::Linear}(x, floats(t[Coefficients]), columns);
    } else {
      sum += dot(products.of(r, rows), floats(t[Coefficients]), supports);
    }
    if (t[OneClass].i)
      sum = sum > 0 ? 1 : -1;
    transform(&sum, 1, post);
    storeF64(a->out[0], r, sum);
  }
  return ONNXC_K_OK;
}

enum { IntLabels, StringLabels, Coefficients, Params, Type, PostTransform, ProbA, ProbB, Rho, Vectors, PerClass };

struct Machine {
  const Args *a;
  Kernel kernel;
  int64_t columns, classes, vectors, pairs;
  double *x, *score, *votes, *pairwise, *matrix, *gradient;
  int64_t *first;  // the first vector of each class

  // One against one: score of pair (i, j) is positive when i wins.
  void vote(const double *product) {
    const float *coefficients = floats(a->attr[Coefficients]);
    for (int64_t k = 0; k < classes; ++k)
      votes[k] = 0;
    const int64_t *per = ints(a->attr[PerClass]);
    for (int64_t i = 0, p = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j, ++p) {
        double sum = p < a->attr[Rho].n ? floats(a->attr[Rho])[p] : 0;
        sum += dot(product + first[i], coefficients + (j - 1) * vectors + first[i], per[i]);
        sum += dot(product + first[j], coefficients + i * vectors + first[j], per[j]);
        score[p] = sum;
        votes[sum > 0 ? i : j] += 1;
      }
  }

  // Pairwise probabilities from the sigmoids of the scores, then libsvm's iteration for all classes.
  void probabilities() {
    for (int64_t i = 0, p = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j, ++p) {
        double v = 1 - logistic(score[p] * floats(a->attr[ProbA])[p] + floats(a->attr[ProbB])[p]);
        v = v < 1e-7 ? 1e-7 : v > 1 - 1e-7 ? 1 - 1e-7 : v;
        pairwise[i * classes + j] = v;
        pairwise[j * classes + i] = 1 - v;
      }
    int64_t n = classes;
    for (int64_t t = 0; t < n; ++t) {
      score[t] = 1.0 / double(n);
      matrix[t * n + t] = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (j == t)
          continue;
        matrix[t * n + t] += pairwise[j * n + t] * pairwise[j * n + t];
        matrix[t * n + j] = j < t ? matrix[j * n + t] : -pairwise[j * n + t] * pairwise[t * n + j];
      }
    }
    int64_t limit = n > 100 ? n : 100;
    for (int64_t step = 0; step < limit && !refine(score); ++step)
      continue;
  }
  bool refine(double *p) {
    int64_t n = classes;
    double total = 0, worst = 0;
    for (int64_t t = 0; t < n; ++t) {
      gradient[t] = 0;
      for (int64_t j = 0; j < n; ++j)
        gradient[t] += matrix[t * n + j] * p[j];
      total += p[t] * gradient[t];
    }
    for (int64_t t = 0; t < n; ++t)
      worst = fabs(gradient[t] - total) > worst ? fabs(gradient[t] - total) : worst;
    if (worst < 0.005 / double(n))
      return true;
    for (int64_t t = 0; t < n; ++t) {
      double diff = (total - gradient[t]) / matrix[t * n + t];
      p[t] += diff;
      total = (total + diff * (diff * matrix[t * n + t] + 2 * gradient[t])) / (1 + diff) / (1 + diff);
      for (int64_t j = 0; j < n; ++j) {
        gradient[j] = (gradient[j] + diff * matrix[t * n + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
    return false;
  }
};

int64_t argMax(const double *v, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (v[i] > v[best])
      best = i;
  return best;
}

int32_t prepare(Machine &m, const Labels &labels) {
  const Attr *t = m.a->attr;
  m.columns = columnsOf(m.a->in[0]);
  m.vectors = 0;
  m.classes = t[PerClass].n > 0 ? t[PerClass].n : labels.count();
  if (m.classes < 1 || m.columns < 1)
    return ONNXC_K_SHAPE;
  m.pairs = m.classes * (m.classes - 1) / 2;
  m.first = heap<int64_t>(m.a, m.classes);
  if (!m.first)
    return ONNXC_K_MEMORY;
  int64_t most = maxOf<int64_t>(t[Vectors].n, 0) / m.columns;
  for (int64_t k = 0; k < t[PerClass].n; ++k) {
    if (ints(t[PerClass])[k] < 0 || ints(t[PerClass])[k] > most - m.vectors)
      return ONNXC_K_VALUE;
    m.first[k] = m.vectors;
    m.vectors += ints(t[PerClass])[k];
  }
  bool probabilities = t[ProbA].n > 0;
  if (m.vectors ? t[Vectors].n != m.vectors * m.columns || t[Coefficients].n < (m.classes - 1) * m.vectors
                : t[Coefficients].n < m.classes * m.columns)
    return ONNXC_K_SHAPE;
  if (probabilities && (t[ProbA].n < m.pairs || t[ProbB].n < m.pairs))
    return ONNXC_K_SHAPE;
  int64_t n = m.classes;
  m.x = heap<double>(m.a, m.columns), m.score = heap<double>(m.a, (m.pairs > n ? m.pairs : n) + 2);
  m.votes = heap<double>(m.a, n), m.pairwise = heap<double>(m.a, n * n), m.matrix = heap<double>(m.a, n * n),
  m.gradient = heap<double>(m.a, n);
  return m.x && m.score && m.votes && m.pairwise && m.matrix && m.gradient ? ONNXC_K_OK : ONNXC_K_MEMORY;
}

int32_t classifier(const Args *a) {
  Labels labels{a->attr[IntLabels], a->attr[StringLabels]};
  Machine m{};
  m.a = a;
  Post post;
  if (!m.kernel.read(text(a->attr[Type]), a->attr[Params]) || !readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(prepare(m, labels));
  if (m.classes == 1 && post == Post::Logistic)
    post = Post::None;  // as in ONNX Runtime, which leaves the score of an only class as it is
  bool probabilities = m.vectors && a->attr[ProbA].n > 0;
  int64_t rows = rowsOf(a->in[0]), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  Products products{a, m.kernel, floats(a->attr[Vectors]), m.columns, m.vectors};
  ONNXC_TRY(products.open(rows));
  for (int64_t r = 0; r < rows; ++r) {
    loadRow(a, r, m.columns, m.x);
    int64_t count = m.vectors && !probabilities ? m.pairs : m.classes;
    if (m.vectors)
      m.vote(products.of(r, rows));
    for (int64_t k = 0; !m.vectors && k < m.classes; ++k)
      m.score[k] =
          m.kernel(m.x, floats(a->attr[Coefficients]) + k * m.columns, m.columns) + (a->attr[Rho].n > 0 ? floats(a->attr[Rho])[0] : 0);
    if (probabilities)
      m.probabilities();
    int64_t best = argMax(m.vectors ? m.votes : m.score, m.classes);
    // ONNX defines no second score; ONNX Runtime's, which converters were written against.
    Second second = count != 1 || labels.count() != 2 ? Second::None : post == Post::None ? Second::Negate : Second::Complement;
    labels.give(a, r, best);
    int64_t n = finishScores(m.score, count, post, second);
    for (int64_t k = 0; k < width; ++k)
      storeF64(a->out[1], r * width + k, k < n ? m.score[k] : 0);
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MlSVMRegressor(const onnxc_args *a) { return onnxc::regressor(a); }
extern "C" int32_t onnxc_k_MlSVMClassifier(const onnxc_args *a) { return onnxc::classifier(a); }
