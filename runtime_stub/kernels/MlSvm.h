// MlSvm.h: support vector machines: SVMRegressor, and SVMClassifier with pairwise votes and probabilities as libsvm defines them.
// `Products` says where the vectors lie and what their kernels with rows are: in double (MlSvm.cpp) or in float (FastSvm.cpp).
//
//   Number                       of what the kernels are
//   kRows                        rows that go together
//   given, held, needed          the vectors of an attribute, how many numbers it has, and how many `count` vectors of `columns` need
//   Products{a, kernel, vectors, columns, count}
//   stride, room                 Numbers between the kernels of two rows; Numbers besides them
//   of(row, rows, value, room)   value[r * stride() + i] = kernel(row + r, vector i)
//   dot(x, y, n)                 of Numbers with floats
#pragma once
#include "runtime_stub/kernels/MlScore.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

struct SvmKernel {
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
};

// x^degree; loops that LLVM vectorises for the degrees that are usual.
template <class T>
ONNXC_INLINE void powers(T *x, int64_t n, double degree) {
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
      x[i] = T(pow(double(x[i]), degree));
}

// body(row, rows, value, more): by threads, for kRows rows at a time, with their kernels and `more` doubles.
template <class Products, class Body>
int32_t eachRows(const Products &p, int64_t rows, int64_t more, const Body &body) {
  using Number = typename Products::Number;
  constexpr int64_t each = Products::kRows;
  const int64_t values = each * p.stride();
  const int64_t bytes = more * int64_t(sizeof(double)) + (values + p.room()) * int64_t(sizeof(Number));
  return parallelScratchFor(p.a, (rows + each - 1) / each, grainOf(each * p.count * (p.columns + 16) / 8), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              double *own = static_cast<double *>(scratch);
                              Number *value = reinterpret_cast<Number *>(own + more);
                              for (int64_t row = begin * each; row < minOf(end * each, rows); row += each) {
                                const int64_t count = minOf(each, rows - row);
                                p.of(row, count, value, value + values);
                                for (int64_t r = 0; r < count; ++r)
                                  body(row + r, value + r * p.stride(), own);
                              }
                              return ONNXC_K_OK;
                            });
}

template <class Products>
int32_t svmRegressor(const Args *a) {
  enum { Coefficients, Params, Type, Supports, OneClass, PostTransform, Rho, Vectors };
  const Attr *t = a->attr;
  int64_t columns = columnsOf(a->in[0]), supports = t[Supports].i;
  SvmKernel kernel;
  Post post;
  if (!kernel.read(text(t[Type]), t[Params]) || !readPost(text(t[PostTransform]), post) || t[Rho].n < 1)
    return ONNXC_K_VALUE;
  if (supports > 0 ? Products::held(t[Vectors]) != Products::needed(supports, columns) || t[Coefficients].n < supports
                   : t[Coefficients].n != columns)
    return ONNXC_K_SHAPE;
  const float *coefficients = floats(t[Coefficients]), one = 1;
  if (supports <= 0)
    kernel.kind = SvmKernel::Linear;
  const Products products{a, kernel, supports > 0 ? Products::given(t[Vectors]) : coefficients, columns, supports > 0 ? supports : 1};
  return eachRows(products, rowsOf(a->in[0]), 0, [=](int64_t row, const auto *value, double *) {
    double sum = floats(t[Rho])[0] + (supports > 0 ? Products::dot(value, coefficients, supports) : Products::dot(value, &one, 1));
    if (t[OneClass].i)
      sum = sum > 0 ? 1 : -1;
    transform(&sum, 1, post);
    storeF64(a->out[0], row, sum);
  });
}

// What SVMClassifier decides by.
struct Machine {
  enum { IntLabels, StringLabels, Coefficients, Params, Type, PostTransform, ProbA, ProbB, Rho, Vectors, PerClass };
  const Args *a;
  int64_t columns, classes, vectors, pairs;
  int64_t *first;  // the first vector of each class
  double *score, *votes, *pairwise, *matrix, *gradient;

  // One against one: score of pair (i, j) is positive when i wins.
  template <class Products>
  void vote(const typename Products::Number *product) {
    const float *coefficients = floats(a->attr[Coefficients]);
    for (int64_t k = 0; k < classes; ++k)
      votes[k] = 0;
    const int64_t *per = ints(a->attr[PerClass]);
    for (int64_t i = 0, p = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j, ++p) {
        double sum = p < a->attr[Rho].n ? floats(a->attr[Rho])[p] : 0;
        sum += Products::dot(product + first[i], coefficients + (j - 1) * vectors + first[i], per[i]);
        sum += Products::dot(product + first[j], coefficients + i * vectors + first[j], per[j]);
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

inline int64_t argMax(const double *v, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (v[i] > v[best])
      best = i;
  return best;
}

template <class Products>
int32_t prepare(Machine &m, const Labels &labels) {
  const Attr *t = m.a->attr;
  m.columns = columnsOf(m.a->in[0]);
  m.vectors = 0;
  m.classes = t[m.PerClass].n > 0 ? t[m.PerClass].n : labels.count();
  if (m.classes < 1 || m.columns < 1)
    return ONNXC_K_SHAPE;
  m.pairs = m.classes * (m.classes - 1) / 2;
  m.first = heap<int64_t>(m.a, m.classes);
  if (!m.first)
    return ONNXC_K_MEMORY;
  int64_t most = maxOf<int64_t>(Products::held(t[m.Vectors]), 0) / m.columns;
  for (int64_t k = 0; k < t[m.PerClass].n; ++k) {
    if (ints(t[m.PerClass])[k] < 0 || ints(t[m.PerClass])[k] > most - m.vectors)
      return ONNXC_K_VALUE;
    m.first[k] = m.vectors;
    m.vectors += ints(t[m.PerClass])[k];
  }
  bool probabilities = t[m.ProbA].n > 0;
  if (m.vectors
          ? Products::held(t[m.Vectors]) != Products::needed(m.vectors, m.columns) || t[m.Coefficients].n < (m.classes - 1) * m.vectors
          : t[m.Coefficients].n < m.classes * m.columns)
    return ONNXC_K_SHAPE;
  return probabilities && (t[m.ProbA].n < m.pairs || t[m.ProbB].n < m.pairs) ? ONNXC_K_SHAPE : ONNXC_K_OK;
}

template <class Products>
int32_t svmClassifier(const Args *a) {
  Machine machine{};
  const Attr *t = a->attr;
  Labels labels{t[machine.IntLabels], t[machine.StringLabels]};
  machine.a = a;
  SvmKernel kernel;
  Post post;
  if (!kernel.read(text(t[machine.Type]), t[machine.Params]) || !readPost(text(t[machine.PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(prepare<Products>(machine, labels));
  const int64_t n = machine.classes, scores = maxOf(machine.pairs, n) + 2, vectors = machine.vectors;
  if (n == 1 && post == Post::Logistic)
    post = Post::None;  // as in ONNX Runtime, which leaves the score of an only class as it is
  bool probabilities = vectors && t[machine.ProbA].n > 0;
  int64_t rows = rowsOf(a->in[0]), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  int64_t count = vectors && !probabilities ? machine.pairs : n;
  // ONNX defines no second score; ONNX Runtime's, which converters were written against.
  Second second = count != 1 || labels.count() != 2 ? Second::None : post == Post::None ? Second::Negate : Second::Complement;
  const Products products{a, kernel, vectors ? Products::given(t[machine.Vectors]) : floats(t[machine.Coefficients]), machine.columns,
                          vectors ? vectors : n};
  return eachRows(products, rows, scores + 2 * n + 2 * n * n, [=](int64_t row, const auto *value, double *own) {
    Machine m = machine;
    m.score = own, m.votes = m.score + scores, m.gradient = m.votes + n, m.pairwise = m.gradient + n, m.matrix = m.pairwise + n * n;
    if (m.vectors)
      m.vote<Products>(value);
    for (int64_t k = 0; !m.vectors && k < n; ++k)
      m.score[k] = double(value[k]) + (t[m.Rho].n > 0 ? floats(t[m.Rho])[0] : 0);
    if (probabilities)
      m.probabilities();
    labels.give(a, row, argMax(m.vectors ? m.votes : m.score, n));
    int64_t given = finishScores(m.score, count, post, second);
    for (int64_t k = 0; k < width; ++k)
      storeF64(a->out[1], row * width + k, k < given ? m.score[k] : 0);
  });
}

}  // namespace onnxc
