// FastMatMul.cpp: MatMul of f32, f64 and integers, which wrap, and Gemm of f32 and f64 on Product.h; few rows stream B once instead of
// packing it. Oracle: MatMul.cpp.
#include "runtime_stub/kernels/MatMulShape.h"
#include "runtime_stub/kernels/Product.h"

namespace onnxc {

// Both operands packed into panels of P's; c has those too.
template <class P, class T>
static int32_t multiplyPanels(const onnxc_args *args, const T *a, int64_t ar, int64_t ak, const T *b, int64_t bk, int64_t bc, P *c,
                              int64_t rows, int64_t inner, int64_t cols) {
  const P *start = heap<P>(args, rows + 16);  // zeros
  ONNXC_CHECK(start, ONNXC_K_MEMORY);
  return product(
      args, rows, cols, inner, c, cols, start,
      [&](P *to, int64_t row, int64_t k, int64_t width, int64_t depth) { packPanel(to, a, rows, row, ar, k, ak, width, depth); },
      [&](P *to, int64_t col, int64_t k, int64_t width, int64_t depth) { packPanel(to, b, cols, col, bc, k, bk, width, depth); });
}

template <size_t>
struct FloatOf {
  using type = float;
};
template <>
struct FloatOf<8> {
  using type = double;
};

// The greatest magnitude of rows of whole numbers.
template <class I>
static double mostOf(const I *x, int64_t rows, int64_t stride, int64_t cols) {
  I least = 0, most = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      least = minOf(least, x[i * stride + j]);
      most = maxOf(most, x[i * stride + j]);
    }
  return maxOf(double(most), -double(least));
}

// Of integers whose rows lie side by side, by floats of their size where these hold all sums, of which processors multiply more at a time;
// else false.
template <class F, class I>
static bool multiplyAsFloats(const onnxc_args *args, const I *a, int64_t ar, const I *b, int64_t bk, I *c, int64_t rows, int64_t inner,
                             int64_t cols, int32_t &code) {
  constexpr double exact = sizeof(F) == 4 ? 0x1p24 : 0x1p53;
  if (mostOf(a, rows, ar, inner) * mostOf(b, inner, bk, cols) * double(inner) >= exact)
    return false;
  code = multiplyPanels(args, a, ar, 1, b, bk, 1, reinterpret_cast<F *>(c), rows, inner, cols);
  for (int64_t i = 0; i < rows * cols; ++i) {
    F sum;
    __builtin_memcpy(&sum, c + i, sizeof(F));
    c[i] = I(sum);
  }
  return true;
}

// One matrix product; strides in elements.
template <class T>
static int32_t multiply(const onnxc_args *args, const T *a, int64_t ar, int64_t ak, const T *b, int64_t bk, int64_t bc, T *c, int64_t rows,
                        int64_t inner, int64_t cols) {
  using V = typename WideOf<T>::type;
  constexpr int lanes = WideOf<T>::lanes;
  if (rows <= 4 && bc == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      T *to = c + i * cols;
      memset(to, 0, cols * sizeof(T));
      for (int64_t k = 0; k < inner; ++k) {
        T v = a[i * ar + k * ak];
        const T *from = b + k * bk;
        for (int64_t j = 0; j < cols; ++j)
          to[j] += v * from[j];
      }
    }
    return 0;
  }
  if (rows <= 4 && bk == 1 && ak == 1) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        V sum = V(T(0));
        const T *x = a + i * ar, *y = b + j * bc;
        int64_t k = 0;
        for (; k + lanes <= inner; k += lanes)
          sum = multiplyAdd<T>(*(const V *)(x + k), *(const V *)(y + k), sum);
        T total = 0;
        for (int l = 0; l < lanes; ++l)
          total += sum[l];
        for (; k < inner; ++k)
          total += x[k] * y[k];
        c[i * cols + j] = total;
      }
    return 0;
  }
  if constexpr (T(0.5) == T(0)) {
    using I = __make_signed(T);
    using F = typename FloatOf<sizeof(T)>::type;
    int32_t code;
    const I *x = reinterpret_cast<const I *>(a), *y = reinterpret_cast<const I *>(b);
    if (ak == 1 && bc == 1 && multiplyAsFloats<F>(args, x, ar, y, bk, reinterpret_cast<I *>(c), rows, inner, cols, code))
      return code;
  }
  return multiplyPanels(args, a, ar, ak, b, bk, bc, c, rows, inner, cols);
}

template <class T>
static int32_t fastMatMul(const onnxc_args *a) {
  MatMulShape s;
  ONNXC_TRY(matMulShape(a->in[0], a->in[1], s));
  T *out = mutableData<T>(a->out[0]);
  const T *x = data<T>(a->in[0]), *y = data<T>(a->in[1]);
  int64_t batches = product(s.batch, 0, s.batchRank), rows = s.rows;
  ONNXC_CHECK(onnxc_count(a->out[0]) == batches * s.rows * s.cols, ONNXC_K_SHAPE);
  bool sharedB = true, denseA = true;  // one B for all batches: they are rows of one product
  int64_t expect = s.rows * s.inner;
  for (int64_t i = s.batchRank; i-- > 0; expect *= s.batch[i]) {
    sharedB = sharedB && (s.bStrides[i] == 0 || s.batch[i] == 1);
    denseA = denseA && (s.aStrides[i] == expect || s.batch[i] == 1);
  }
  if (sharedB && denseA)
    return multiply(a, x, s.inner, 1, y, s.cols, 1, out, batches * rows, s.inner, s.cols);
  Odometer<2> o;
  o.init(s.batch, s.batchRank);
  o.strides[0] = s.aStrides;
  o.strides[1] = s.bStrides;
  for (; o.more(); o.next(), out += s.rows * s.cols)
    ONNXC_TRY(multiply(a, x + o.offset[0], s.inner, 1, y + o.offset[1], s.cols, 1, out, s.rows, s.inner, s.cols));
  return 0;
}

template <class T>
static int32_t fastGemm(const onnxc_args *a) {
  GemmShape s;
  ONNXC_TRY(gemmShape(a, s));
  T *c = mutableData<T>(a->out[0]), alpha = T(a->attr[0].f), beta = T(a->attr[1].f);
  ONNXC_TRY(multiply(a, data<T>(a->in[0]), s.aRow, s.aInner, data<T>(a->in[1]), s.bInner, s.bCol, c, s.rows, s.inner, s.cols));
  const T *add = s.hasC ? data<T>(a->in[2]) : nullptr;
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t j = 0; (alpha != 1 || add) && j < s.cols; ++j)
      c[i * s.cols + j] = alpha * c[i * s.cols + j] + (add ? beta * add[i * s.c[0] + j * s.c[1]] : 0);
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_FastMatMul_##S(const onnxc_args *a) { return onnxc::fastMatMul<T>(a); }
X(f32, float)
X(f64, double)
X(i32, uint32_t)
X(u32, uint32_t)
X(i64, uint64_t)
X(u64, uint64_t)
#undef X
extern "C" int32_t onnxc_k_FastGemm_f32(const onnxc_args *a) { return onnxc::fastGemm<float>(a); }
extern "C" int32_t onnxc_k_FastGemm_f64(const onnxc_args *a) { return onnxc::fastGemm<double>(a); }
