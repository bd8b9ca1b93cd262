// MlScore.h: what the classic machine learning models share: post transforms of scores and the rules of ONNX Runtime for two classes.
#pragma once
#include "runtime_stub/kernels/Special.h"
extern "C" double erf(double) noexcept;

namespace onnxc {

enum class Post { None, Softmax, Logistic, SoftmaxZero, Probit };
inline bool readPost(Str word, Post &post) {
  const char *names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  for (int i = 0; i < 5; ++i)
    if (is(word, names[i]))
      return post = Post(i), true;
  return false;
}

// e^x for loops that LLVM vectorises; 0 below e^-708, infinity above e^709.
ONNXC_INLINE double expF64(double x) {
  double c = x < -708 ? -708 : x > 709 ? 709 : x;
  double shifted = c * 1.44269504088896341 + 0x1.8p52, n = shifted - 0x1.8p52;
  double r = __builtin_fma(n, -6.93147180369123816490e-01, c), p = 1.0 / 479001600;
  r = __builtin_fma(n, -1.90821492927058770002e-10, r);
  const double factors[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                            1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0,        1.0};
#pragma clang loop unroll(full)
  for (double f : factors)
    p = __builtin_fma(p, r, f);
  double y = p * bitcast<double>((bitcast<uint64_t>(shifted) + 1023) << 52);
  y = x < -708 ? 0 : x > 709 ? __builtin_inf() : y;
  return x == x ? y : x;
}

ONNXC_INLINE double logistic(double x) {
  double e = expF64(x < 0 ? x : -x);
  return (x < 0 ? e : 1) / (1 + e);
}

// Inverse of the normal distribution through the inverse error function, polished by Newton's steps.
inline double probit(double p) {
  double y = 2 * p - 1;
  if (!(y > -1 && y < 1))
    return y == 1 ? __builtin_inf() : y == -1 ? -__builtin_inf() : __builtin_nan("");
  double l = log((1 - y) * (1 + y)), t = 2 / (3.14159265358979323846 * 0.147) + 0.5 * l;
  double x = sqrt(-t + sqrt(t * t - l / 0.147));
  if (y < 0)
    x = -x;
  for (int i = 0; i < 3; ++i)
    x -= (erf(x) - y) / (1.12837916709551257 * exp(-x * x));
  return 1.41421356237309505 * x;
}

inline void softmax(double *s, int64_t n, bool keepZero) {
  double top = -__builtin_inf(), sum = 0;
  for (int64_t i = 0; i < n; ++i)
    if (s[i] > top)
      top = s[i];
  for (int64_t i = 0; i < n; ++i) {
    if (keepZero && s[i] > -1e-7 && s[i] < 1e-7)
      s[i] *= expF64(-top);
    else
      s[i] = expF64(s[i] - top);
    sum += s[i];
  }
  for (int64_t i = 0; i < n && sum != 0; ++i)
    s[i] /= sum;
}

inline void transform(double *s, int64_t n, Post post) {
  if (post == Post::Softmax || post == Post::SoftmaxZero)
    return softmax(s, n, post == Post::SoftmaxZero);
  for (int64_t i = 0; i < n; ++i) {
    if (post == Post::Logistic)
      s[i] = logistic(s[i]);
    if (post == Post::Probit)
      s[i] = probit(s[i]);
  }
}

// How one score s becomes two. Complement: [1 - s, s]; Negate: [-s, s]; under a logistic transform that of [-s, s].
enum class Second { None, Complement, Negate };
inline int64_t finishScores(double *s, int64_t n, Post post, Second second) {
  if (n != 1)
    return transform(s, n, post), n;
  if (post == Post::Probit)
    return s[0] = probit(s[0]), 1;
  double x = s[0];
  if (second == Second::None) {
    if (post == Post::Logistic)
      s[0] = logistic(x);
    return 1;
  }
  bool curve = post == Post::Logistic;
  s[0] = curve ? logistic(-x) : second == Second::Complement ? 1 - x : -x;
  s[1] = curve ? logistic(x) : x;
  return 2;
}

// The same for n rows of a block: `score` are vectors Block::V of one class's scores each, with room for a second score of one class, and
// `row` has room for those of a row. `exponential`: of numbers that are not positive.
template <class Block, class F>
ONNXC_INLINE int64_t finishScores(Block &b, int64_t classes, int64_t n, Post post, Second second, const F &exponential) {
  using V = typename Block::V;
  const bool two = classes == 1 && second != Second::None;
  if (post == Post::None && !two)
    return classes;
  if (post == Post::Logistic) {
    for (int64_t t = 0; t < classes; ++t) {
      const V s = b.score[t], e = exponential(s < 0 ? s : -s), sum = 1 + e;
      b.score[t] = (s < 0 ? e : V(1)) / sum;
      if (two)
        b.score[1] = b.score[0], b.score[0] = (s < 0 ? V(1) : e) / sum;
    }
    return classes + two;
  }
  if (post == Post::Softmax && classes > 1) {
    V top = b.score[0], sum = 0;
    for (int64_t t = 1; t < classes; ++t)
      top = b.score[t] > top ? b.score[t] : top;
    for (int64_t t = 0; t < classes; ++t)
      sum += b.score[t] = exponential(b.score[t] - top);
    for (int64_t t = 0; t < classes; ++t)
      b.score[t] /= sum;
    return classes;
  }
  int64_t given = classes;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t t = 0; t < classes; ++t)
      b.row[t] = double(b.score[t][i]);
    given = finishScores(b.row, classes, post, second);
    for (int64_t t = 0; t < given; ++t)
      b.score[t][i] = decltype(+b.score[t][i])(b.row[t]);
  }
  return given;
}

// Class labels are strings or integers; without either, class numbers.
struct Labels {
  const Attr &integers, &words;
  int64_t count() const { return words.n > 0 ? words.n : integers.n > 0 ? integers.n : 0; }
  void give(const Args *a, int64_t row, int64_t k) const {
    if (a->out[0].dtype == ONNXC_STR)
      out<Str>(a, 0)[row] = k < words.n ? strings(words)[k] : Str{"", 0};
    else
      out<int64_t>(a, 0)[row] = k < integers.n ? ints(integers)[k] : k;
  }
  void literal(const Args *a, int64_t row, int64_t value) const { out<int64_t>(a, 0)[row] = value; }
};

// Calls f(T()) with one of the element types that ai.onnx.ml takes.
template <class F>
ONNXC_INLINE int32_t withInput(int32_t dtype, F f) {
  switch (dtype) {
  case ONNXC_F32:
    return f(float());
  case ONNXC_F64:
    return f(double());
  case ONNXC_I64:
    return f(int64_t());
  case ONNXC_I32:
    return f(int32_t());
  }
  return ONNXC_K_VALUE;
}

// Rows of a matrix operand: [N, C], or [C] as one row.
ONNXC_INLINE int64_t rowsOf(const Tensor &x) { return x.rank >= 2 ? x.dims[0] : 1; }
ONNXC_INLINE int64_t columnsOf(const Tensor &x) { return x.rank >= 2 ? product(x.dims, 1, x.rank) : x.rank ? x.dims[0] : 1; }

}  // namespace onnxc
