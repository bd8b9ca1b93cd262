// FastMatMul.cpp: MatMul and Gemm of f32 on Product.h; few rows stream B once instead of packing it. Oracle: MatMul.cpp.
#include "runtime_stub/kernels/MatMulShape.h"
#include "runtime_stub/kernels/Product.h"

namespace onnxc {

// One matrix product; strides in elements.
static int32_t multiply(const onnxc_args *args, const float *a, int64_t ar, int64_t ak, const float *b, int64_t bk, int64_t bc, float *c,
                        int64_t rows, int64_t inner, int64_t cols) {
  if (rows <= 4 && bc == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      float *to = c + i * cols;
      memset(to, 0, cols * sizeof(float));
      for (int64_t k = 0; k < inner; ++k) {
        float v = a[i * ar + k * ak];
        const float *from = b + k * bk;
        for (int64_t j = 0; j < cols; ++j)
          to[j] += v * from[j];
      }
    }
    return 0;
  }
  if (rows <= 4 && bk == 1 && ak == 1) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) {
        v16 sum = v16(0.0f);
        const float *x = a + i * ar, *y = b + j * bc;
        int64_t k = 0;
        for (; k + 16 <= inner; k += 16)
          sum = __builtin_elementwise_fma(*(const v16 *)(x + k), *(const v16 *)(y + k), sum);
        float total = 0;
        for (int l = 0; l < 16; ++l)
          total += sum[l];
        for (; k < inner; ++k)
          total += x[k] * y[k];
        c[i * cols + j] = total;
      }
    return 0;
  }
  float *start = rowStarts(args, rows, nullptr);
  ONNXC_CHECK(start, ONNXC_K_MEMORY);
  return product(
      args, rows, cols, inner, c, cols, start,
      [&](float *to, int64_t row, int64_t k, int64_t width, int64_t depth) { packPanel(to, a, rows, row, ar, k, ak, width, depth); },
      [&](float *to, int64_t col, int64_t k, int64_t width, int64_t depth) { packPanel(to, b, cols, col, bc, k, bk, width, depth); });
}

static int32_t fastMatMul(const onnxc_args *a) {
  MatMulShape s;
  ONNXC_TRY(matMulShape(a->in[0], a->in[1], s));
  float *out = mutableData<float>(a->out[0]);
  const float *x = data<float>(a->in[0]), *y = data<float>(a->in[1]);
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

static int32_t fastGemm(const onnxc_args *a) {  // attributes: alpha, beta, transA, transB
  const onnxc_tensor &x = a->in[0], &y = a->in[1], &out = a->out[0];
  ONNXC_CHECK(x.rank == 2 && y.rank == 2 && out.rank == 2, ONNXC_K_SHAPE);
  bool tx = a->attr[2].i != 0, ty = a->attr[3].i != 0;
  int64_t rows = x.dims[tx], inner = x.dims[!tx], cols = y.dims[!ty], cs[2] = {0, 0};
  ONNXC_CHECK(y.dims[ty] == inner && out.dims[0] == rows && out.dims[1] == cols, ONNXC_K_SHAPE);
  bool hasC = hasInput(a, 2);
  ONNXC_CHECK(!hasC || broadcastStrides(a->in[2], out.dims, 2, cs), ONNXC_K_SHAPE);
  float *c = mutableData<float>(out), alpha = float(a->attr[0].f), beta = float(a->attr[1].f);
  ONNXC_TRY(
      multiply(a, data<float>(x), tx ? 1 : inner, tx ? rows : 1, data<float>(y), ty ? 1 : cols, ty ? inner : 1, c, rows, inner, cols));
  const float *add = hasC ? data<float>(a->in[2]) : nullptr;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; (alpha != 1 || add) && j < cols; ++j)
      c[i * cols + j] = alpha * c[i * cols + j] + (add ? beta * add[i * cs[0] + j * cs[1]] : 0);
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMatMul(const onnxc_args *a) { return onnxc::fastMatMul(a); }
extern "C" int32_t onnxc_k_FastGemm(const onnxc_args *a) { return onnxc::fastGemm(a); }
