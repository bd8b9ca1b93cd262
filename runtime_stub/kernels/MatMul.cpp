// MatMul.cpp: matrix products as plain loops: MatMul, Gemm, MatMulInteger, QLinearMatMul, Det. The fast path is codegen/cpu's
// microkernels; these are its oracle and take every type.
#include "runtime_stub/kernels/MatMulShape.h"

namespace onnxc {

template <class T, class AccT>
ONNXC_INLINE AccT addProduct(AccT sum, T x, T y) {
  if constexpr (IsFloat<T>::value)
    return sum + toF64(x) * toF64(y);
  else
    return AccT(uint64_t(sum) + uint64_t(toAcc(x)) * uint64_t(toAcc(y)));
}

template <class T>
static int32_t matMul(const onnxc_args *a) {
  MatMulShape s;
  ONNXC_TRY(matMulShape(a->in[0], a->in[1], s));
  T *out = mutableData<T>(a->out[0]);
  Odometer<2> o;
  o.init(s.batch, s.batchRank);
  o.strides[0] = s.aStrides;
  o.strides[1] = s.bStrides;
  ONNXC_CHECK(onnxc_count(a->out[0]) == o.left * s.rows * s.cols, ONNXC_K_SHAPE);
  for (; o.more(); o.next()) {
    const T *x = data<T>(a->in[0]) + o.offset[0], *y = data<T>(a->in[1]) + o.offset[1];
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.cols; ++j) {
        Acc<T> sum = 0;
        for (int64_t k = 0; k < s.inner; ++k)
          sum = addProduct(sum, x[i * s.inner + k], y[k * s.cols + j]);
        *out++ = fromAcc<T>(sum);
      }
  }
  return 0;
}

template <class T>
static int32_t gemm(const onnxc_args *a) {
  GemmShape s;
  ONNXC_TRY(gemmShape(a, s));
  const T *x = data<T>(a->in[0]), *y = data<T>(a->in[1]);
  T *out = mutableData<T>(a->out[0]);
  for (int64_t i = 0; i < s.rows; ++i)
    for (int64_t j = 0; j < s.cols; ++j) {
      Acc<T> sum = 0;
      for (int64_t k = 0; k < s.inner; ++k)
        sum = addProduct(sum, x[i * s.aRow + k * s.aInner], y[k * s.bInner + j * s.bCol]);
      T c = s.hasC ? data<T>(a->in[2])[i * s.c[0] + j * s.c[1]] : fromF64<T>(0);
      if constexpr (IsFloat<T>::value)
        out[i * s.cols + j] = fromF64<T>(sum * a->attr[0].f + (s.hasC ? toF64(c) * a->attr[1].f : 0));
      else {
        bool plain = a->attr[0].f == 1 && a->attr[1].f == 1;
        out[i * s.cols + j] = plain ? T(uint64_t(sum) + uint64_t(c)) : fromF64<T>(double(sum) * a->attr[0].f + double(c) * a->attr[1].f);
      }
    }
  return 0;
}

// An element as an integer, or as a double where the type is fp8.
template <class Sum>
static Sum load(const onnxc_tensor &t, int64_t i);
template <>
int64_t load<int64_t>(const onnxc_tensor &t, int64_t i) {
  return loadI64(t, i);
}
template <>
double load<double>(const onnxc_tensor &t, int64_t i) {
  return loadF64(t, i);
}

// Zero point of row (or column) `at` of a product operand: scalar, one per row of the matrix, or shaped [..., rows, 1] / [..., 1, cols].
template <class Sum>
static Sum zeroPoint(const onnxc_args *a, int64_t input, int64_t batch, int64_t at, int64_t n) {
  if (!hasIn(a, input))
    return 0;
  int64_t count = onnxc_count(a->in[input]);
  return load<Sum>(a->in[input], count == 1 ? 0 : count == n ? at : (batch * n + at) % count);
}
static double scaleOf(const onnxc_tensor &t, int64_t batch, int64_t at, int64_t n) {
  int64_t count = onnxc_count(t);
  return count == 1 ? loadF64(t, 0) : loadF64(t, count == n ? at : (batch * n + at) % count);
}
static bool fits(const onnxc_args *a, int64_t input, int64_t n) {
  if (!hasIn(a, input))
    return true;
  int64_t count = onnxc_count(a->in[input]);
  return count == 1 || (n == 0 ? count == 0 : count > 0 && count % n == 0);
}

// store(i, j, batch, Σ(x−zx)(y−zy)) for every element of the product of in[x] and in[y].
template <class Sum, class Store>
static int32_t quantisedProduct(const onnxc_args *a, int x, int y, int zx, int zy, const Store &store) {
  MatMulShape s;
  ONNXC_TRY(matMulShape(a->in[x], a->in[y], s));
  ONNXC_CHECK(fits(a, zx, s.rows) && fits(a, zy, s.cols), ONNXC_K_SHAPE);
  Odometer<2> o;
  o.init(s.batch, s.batchRank);
  o.strides[0] = s.aStrides;
  o.strides[1] = s.bStrides;
  ONNXC_CHECK(onnxc_count(a->out[0]) == o.left * s.rows * s.cols, ONNXC_K_SHAPE);
  int64_t at = 0;
  for (int64_t batch = 0; o.more(); o.next(), ++batch)
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.cols; ++j) {
        Sum xz = zeroPoint<Sum>(a, zx, batch, i, s.rows), yz = zeroPoint<Sum>(a, zy, batch, j, s.cols), sum = 0;
        for (int64_t k = 0; k < s.inner; ++k)
          sum += (load<Sum>(a->in[x], o.offset[0] + i * s.inner + k) - xz) * (load<Sum>(a->in[y], o.offset[1] + k * s.cols + j) - yz);
        store(at++, i, j, batch, s, sum);
      }
  return 0;
}

static int32_t matMulInteger(const onnxc_args *a) {
  return quantisedProduct<int64_t>(a, 0, 1, 2, 3, [&](int64_t at, int64_t, int64_t, int64_t, const MatMulShape &, int64_t sum) {
    mutableData<int32_t>(a->out[0])[at] = int32_t(sum);
  });
}

// v / y_scale rounded and saturated to the type of the result; fp8 rounds once, with its zero point added.
static void storeQuantised(onnxc_tensor &y, int64_t at, double v, double zero) {
  bool isSigned = y.dtype == ONNXC_I8;
  if (isSigned || y.dtype == ONNXC_U8) {
    double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
    v = nearbyint(v) + zero;
    return storeF64(y, at, v < low ? low : v > high ? high : v);
  }
  storeF64(y, at, v + zero);
}

static bool isFp8(const onnxc_tensor &t) { return t.dtype >= ONNXC_F8E4M3FN && t.dtype <= ONNXC_F8E5M2FNUZ; }

// Operands: a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
static int32_t qLinearMatMul(const onnxc_args *a) {
  MatMulShape shape;
  ONNXC_TRY(matMulShape(a->in[0], a->in[3], shape));
  ONNXC_CHECK(fits(a, 1, shape.rows) && fits(a, 4, shape.cols) && fits(a, 6, shape.rows) && fits(a, 7, shape.rows), ONNXC_K_SHAPE);
  auto store = [&](int64_t at, int64_t i, int64_t j, int64_t batch, const MatMulShape &s, double sum) {
    double scale = scaleOf(a->in[1], batch, i, s.rows) * scaleOf(a->in[4], batch, j, s.cols) / scaleOf(a->in[6], batch, i, s.rows);
    storeQuantised(a->out[0], at, sum * scale, zeroPoint<double>(a, 7, batch, i, s.rows));
  };
  return isFp8(a->in[0]) || isFp8(a->in[3]) ? quantisedProduct<double>(a, 0, 3, 2, 5, store)
                                            : quantisedProduct<int64_t>(a, 0, 3, 2, 5, store);
}

template <class T>
static int32_t det(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2 && in.dims[in.rank - 1] == in.dims[in.rank - 2], ONNXC_K_SHAPE);
  int64_t n = in.dims[in.rank - 1], batches = product(in.dims, 0, in.rank - 2);
  double *m = heap<double>(a, n * n);
  ONNXC_CHECK(m, ONNXC_K_MEMORY);
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < n * n; ++i)
      m[i] = toF64(data<T>(in)[b * n * n + i]);
    double result = 1;
    for (int64_t c = 0; c < n; ++c) {  // partial pivoting
      int64_t best = c;
      for (int64_t r = c + 1; r < n; ++r)
        if (fabs(m[r * n + c]) > fabs(m[best * n + c]))
          best = r;
      if (best != c)
        result = -result;
      for (int64_t k = 0; best != c && k < n; ++k) {
        double swap = m[c * n + k];
        m[c * n + k] = m[best * n + k];
        m[best * n + k] = swap;
      }
      double pivot = m[c * n + c];
      result *= pivot;
      if (pivot == 0)
        break;
      for (int64_t r = c + 1; r < n; ++r) {
        const double *__restrict from = m + c * n;
        double *__restrict row = m + r * n, part = row[c] / pivot;
        for (int64_t k = c; k < n; ++k)
          row[k] -= part * from[k];
      }
    }
    mutableData<T>(a->out[0])[b] = fromF64<T>(result);
  }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_MatMulInteger(const onnxc_args *a) { return onnxc::matMulInteger(a); }
extern "C" int32_t onnxc_k_QLinearMatMul(const onnxc_args *a) { return onnxc::qLinearMatMul(a); }
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_MatMul_##S(const onnxc_args *a) { return onnxc::matMul<T>(a); }                                               \
  extern "C" int32_t onnxc_k_Gemm_##S(const onnxc_args *a) { return onnxc::gemm<T>(a); }
ONNXC_FLOATS(X)
X(i32, int32_t)
X(i64, int64_t)
X(u32, uint32_t)
X(u64, uint64_t)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Det_##S(const onnxc_args *a) { return onnxc::det<T>(a); }
ONNXC_FLOATS(X)
#undef X
