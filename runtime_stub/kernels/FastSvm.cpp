// FastSvm.cpp: support vector machines of f32, whose vectors passes/fusion/PackVectors.cpp laid side by side:
// [panel][column][kVectorPanel]. A kernel's sum has an order of its own, whatever rows and panels go together. Oracle: MlSvm.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Math.h"
#include "runtime_stub/kernels/MlSvm.h"
#include "runtime_stub/kernels/PanelSizes.h"

namespace onnxc {
namespace {

static_assert(kVectorPanel == 16, "a v16");

// to[r * stride + i] = the products of row r of x and vector i of NP panels, or their squared distances.
template <bool Distance, int R, int NP>
inline void panelProducts(const float *x, const float *panel, int64_t columns, float *to, int64_t stride) {
  v16 sum[R][NP];
  unroll<0, R>([&](auto r) { unroll<0, NP>([&](auto p) { sum[r.value][p.value] = v16(0.0f); }); });
  for (int64_t k = 0; k < columns; ++k) {
    v16 vector[NP];
    unroll<0, NP>([&](auto p) { vector[p.value] = *(const v16 *)(panel + (p.value * columns + k) * kVectorPanel); });
    unroll<0, R>([&](auto r) {
      v16 row = v16(x[r.value * columns + k]);
      unroll<0, NP>([&](auto p) {
        v16 other = Distance ? row - vector[p.value] : vector[p.value];
        sum[r.value][p.value] = multiplyAdd(Distance ? other : row, other, sum[r.value][p.value]);
      });
    });
  }
  unroll<0, R>(
      [&](auto r) { unroll<0, NP>([&](auto p) { *(v16 *)(to + r.value * stride + p.value * kVectorPanel) = sum[r.value][p.value]; }); });
}

// The same of all panels.
template <bool Distance, int R, int NP>
inline void rowProducts(const float *x, const float *panels, int64_t columns, float *to, int64_t stride) {
  int64_t i = 0;
  for (; i + NP * kVectorPanel <= stride; i += NP * kVectorPanel)
    panelProducts<Distance, R, NP>(x, panels + i * columns, columns, to + i, stride);
  for (; i < stride; i += kVectorPanel)
    panelProducts<Distance, R, 1>(x, panels + i * columns, columns, to + i, stride);
}

struct PanelProducts {
  using Number = float;
  static constexpr int64_t kRows = 4;
  static const Tensor &panelsOf(const Attr &vectors) { return *static_cast<const Tensor *>(vectors.p); }
  static const float *given(const Attr &vectors) { return static_cast<const float *>(panelsOf(vectors).data); }
  static int64_t held(const Attr &vectors) { return onnxc_count(panelsOf(vectors)); }
  static int64_t padded(int64_t count) { return (count + kVectorPanel - 1) / kVectorPanel * kVectorPanel; }
  static int64_t needed(int64_t count, int64_t columns) { return padded(count) * columns; }
  static double dot(const float *x, const float *y, int64_t n) {
    constexpr int kChains = 4;
    v16 sum[kChains];
    unroll<0, kChains>([&](auto c) { sum[c.value] = v16(0.0f); });
    int64_t k = 0;
    auto add = [&](v16 &to) { to = multiplyAdd(*(const v16 *)(x + k), *(const v16 *)(y + k), to), k += 16; };
    while (k + 16 * kChains <= n)
      unroll<0, kChains>([&](auto c) { add(sum[c.value]); });
    while (k + 16 <= n)
      add(sum[0]);
    double rest = 0, lane[8];
    for (; k < n; ++k)
      rest += double(x[k]) * double(y[k]);
    v16 all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int i = 0; i < 8; ++i)
      lane[i] = double(all[i]) + double(all[i + 8]);
    return rest + ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
  }

  const Args *a;
  SvmKernel kernel;
  const float *panels;
  int64_t columns, count;
  int64_t stride() const { return padded(count); }
  int64_t room() const { return 0; }

  template <bool Distance>
  void sums(const float *x, int64_t rows, float *value) const {
    for (int64_t r = 0; rows < kRows && r < rows; ++r)
      rowProducts<Distance, 1, 4>(x + r * columns, panels, columns, value + r * stride(), stride());
    if (rows == kRows)
      (onnxc_vector_bits >= 512 ? rowProducts<Distance, kRows, 4> : rowProducts<Distance, kRows, 1>)(x, panels, columns, value, stride());
  }
  void of(int64_t row, int64_t rows, float *value, float *) const {
    const int64_t n = rows * stride();
    const float *x = in<float>(a, 0) + row * columns, gamma = float(kernel.gamma), coef0 = float(kernel.coef0);
    kernel.kind == SvmKernel::Rbf ? sums<true>(x, rows, value) : sums<false>(x, rows, value);
    if (kernel.kind == SvmKernel::Rbf)
      for (int64_t i = 0; i < n; ++i)
        value[i] = expF32(-gamma * value[i]);
    if (kernel.kind == SvmKernel::Sigmoid)
      for (int64_t i = 0; i < n; ++i)
        value[i] = tanhF32(multiplyAdd(gamma, value[i], coef0));
    if (kernel.kind == SvmKernel::Poly) {
      for (int64_t i = 0; i < n; ++i)
        value[i] = multiplyAdd(gamma, value[i], coef0);
      powers(value, n, kernel.degree);
    }
  }
};

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMlSVMRegressor(const onnxc_args *a) { return onnxc::svmRegressor<onnxc::PanelProducts>(a); }
extern "C" int32_t onnxc_k_FastMlSVMClassifier(const onnxc_args *a) { return onnxc::svmClassifier<onnxc::PanelProducts>(a); }
