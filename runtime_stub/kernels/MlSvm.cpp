// MlSvm.cpp: support vector machines in double, a row and a vector at a time. FastSvm.cpp is checked against it.
#include "runtime_stub/kernels/MlSvm.h"

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

// tanh to 1e-16 of 1, for loops that LLVM vectorises.
ONNXC_INLINE double tanhF64(double x) {
  double e = expF64(-2 * (x < 0 ? -x : x)), y = (1 - e) / (1 + e);
  return x < 0 ? -y : x == x ? y : x;
}

struct ExactProducts {
  using Number = double;
  static constexpr int64_t kRows = 1;
  static const float *given(const Attr &vectors) { return floats(vectors); }
  static int64_t held(const Attr &vectors) { return vectors.n; }
  static int64_t needed(int64_t count, int64_t columns) { return count * columns; }
  static double dot(const double *x, const float *y, int64_t n) { return onnxc::dot(x, y, n); }

  const Args *a;
  SvmKernel kernel;
  const float *vectors;
  int64_t columns, count;
  int64_t stride() const { return count; }
  int64_t room() const { return columns; }

  void of(int64_t row, int64_t, double *value, double *x) const {
    const double gamma = kernel.gamma;
    for (int64_t c = 0; c < columns; ++c)
      x[c] = loadF64(a->in[0], row * columns + c);
    for (int64_t i = 0; i < count; ++i) {
      const float *v = vectors + i * columns;
      value[i] = kernel.kind == SvmKernel::Linear ? dot(x, v, columns)
                 : kernel.kind == SvmKernel::Rbf  ? -gamma * distance(x, v, columns)
                                                  : gamma * dot(x, v, columns) + kernel.coef0;
    }
    if (kernel.kind == SvmKernel::Poly)
      powers(value, count, kernel.degree);
    for (int64_t i = 0; kernel.kind == SvmKernel::Rbf && i < count; ++i)
      value[i] = expF64(value[i]);
    for (int64_t i = 0; kernel.kind == SvmKernel::Sigmoid && i < count; ++i)
      value[i] = tanhF64(value[i]);
  }
};

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MlSVMRegressor(const onnxc_args *a) { return onnxc::svmRegressor<onnxc::ExactProducts>(a); }
extern "C" int32_t onnxc_k_MlSVMClassifier(const onnxc_args *a) { return onnxc::svmClassifier<onnxc::ExactProducts>(a); }
