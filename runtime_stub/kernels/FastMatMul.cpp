// FastMatMul.cpp: MatMul of f32, f64 and integers, which wrap, and Gemm of f32 and f64 on Product.h; few rows stream B once instead of
// packing it. Oracle: MatMul.cpp.
#include "runtime_stub/kernels/MatMulShape.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Product.h"

namespace onnxc {

constexpr int64_t kRowBlock = 480;  // whole panels of A that stay in the cache

// Operands packed into panels of P's, of which c is too, or narrowProduct(). Threads share the longer side of c.
template <class P, class T>
static int32_t multiplyPanels(const onnxc_args *args, const T *a, int64_t ar, int64_t ak, const T *b, int64_t bk, int64_t bc, P *c,
                              int64_t rows, int64_t inner, int64_t cols) {
  bool byRows = rows > cols;
  Pieces pieces(byRows ? rows : cols, byRows ? 2 * kTileRows : kTileVectors * WideOf<P>::lanes);
  auto body = [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
    constexpr P start[kRowBlock + 16] = {};
    int64_t first = pieces.begin(begin), last = pieces.end(end - 1);
    int64_t row = byRows ? first : 0, rowEnd = byRows ? last : rows, col = byRows ? 0 : first, width = (byRows ? cols : last) - col;
    const T *right = b + col * bc;
    for (; row < rowEnd; row += kRowBlock) {
      const T *left = a + row * ar;
      int64_t height = minOf(kRowBlock, rowEnd - row);
      auto packB = [=](P *to, int64_t j, int64_t k, int64_t lanes, int64_t depth) {
        packPanel(to, right, width, j, bc, k, bk, lanes, depth);
      };
      if constexpr (__is_same(P, T)) {
        P *panels = static_cast<P *>(scratch), *to = c + row * cols + col;
        if (narrowProduct(panels, left, ar, ak, height, width, inner, to, cols, start, packB))
          continue;
      }
      product(
          scratch, height, width, inner, c + row * cols + col, cols, start,
          [=](P *to, int64_t i, int64_t k, int64_t lanes, int64_t depth) { packPanel(to, left, height, i, ar, k, ak, lanes, depth); },
          packB);
    }
    return 0;
  };
  return parallelScratchFor(args, pieces.count, pieces.grain(inner * minOf(rows, cols) / 4), productBytes<P>(minOf(rows, kRowBlock), inner),
                            body);
}

// Products of one vector with `count` others that lie `apart` from each other, four at a time.
template <class T>
static int32_t multiplyVector(const onnxc_args *args, const T *x, const T *y, int64_t apart, int64_t count, int64_t inner, T *c,
                              int64_t stride) {
  using V = typename WideOf<T>::type;
  constexpr int lanes = WideOf<T>::lanes;
  return parallelFor(args, count, grainOf(inner / 4), [=](int64_t j, int64_t end) -> int32_t {
    auto dots = [=](auto n, int64_t j) {
      const T *from = y + j * apart;
      V sum[n.value];
      T total[n.value];
      unroll<0, n.value>([&](auto i) { sum[i.value] = V(T(0)); });
      int64_t k = 0;
      for (; k + lanes <= inner; k += lanes)
        unroll<0, n.value>(
            [&](auto i) { sum[i.value] = multiplyAdd(*(const V *)(x + k), *(const V *)(from + i.value * apart + k), sum[i.value]); });
      unroll<0, n.value>([&](auto i) {
        total[i.value] = 0;
        for (int l = 0; l < lanes; ++l)
          total[i.value] += sum[i.value][l];
        for (int64_t e = k; e < inner; ++e)
          total[i.value] += x[e] * from[i.value * apart + e];
        c[(j + i.value) * stride] = total[i.value];
      });
    };
    for (; j + 4 <= end; j += 4)
      dots(Index<4>{}, j);
    for (; j < end; ++j)
      dots(Index<1>{}, j);
    return 0;
  });
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
      ONNXC_TRY(multiplyVector(args, a + i * ar, b, bc, cols, inner, c + i * cols, 1));
    return 0;
  }
  if (cols <= 4 && bk == 1 && ak == 1) {
    for (int64_t j = 0; j < cols; ++j)
      ONNXC_TRY(multiplyVector(args, b + j * bc, a, ar, rows, inner, c + j, cols));
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
  for (int64_t i = 0; i < s.rows; ++i, c += s.cols) {
    const T *row = add ? add + i * s.c[0] : nullptr;
    if (row && s.c[1] == 1)
      for (int64_t j = 0; j < s.cols; ++j)
        c[j] = alpha * c[j] + beta * row[j];
    else
      for (int64_t j = 0; (alpha != 1 || row) && j < s.cols; ++j)
        c[j] = alpha * c[j] + (row ? beta * row[j * s.c[1]] : 0);
  }
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
