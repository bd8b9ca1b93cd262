// MatMulShape.h: sizes and strides of numpy's matmul and of Gemm, in elements, for MatMul.cpp, FastMatMul.cpp and FastInteger.cpp.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// numpy's matmul: 1-d operands gain a dim, batch dims broadcast. Batch offsets come from `Odometer` over the result's batch dims.
struct MatMulShape {
  int64_t rows, inner, cols, batchRank, batch[kMaxRank], aStrides[kMaxRank], bStrides[kMaxRank];
};

inline int32_t matMulShape(const onnxc_tensor &x, const onnxc_tensor &y, MatMulShape &s) {
  ONNXC_CHECK(x.rank >= 1 && y.rank >= 1 && x.rank <= kMaxRank && y.rank <= kMaxRank, ONNXC_K_SHAPE);
  s.rows = x.rank > 1 ? x.dims[x.rank - 2] : 1;
  s.inner = x.dims[x.rank - 1];
  s.cols = y.rank > 1 ? y.dims[y.rank - 1] : 1;
  ONNXC_CHECK((y.rank > 1 ? y.dims[y.rank - 2] : y.dims[0]) == s.inner, ONNXC_K_SHAPE);
  int32_t xb = maxOf(x.rank - 2, 0), yb = maxOf(y.rank - 2, 0);
  s.batchRank = maxOf(xb, yb);
  int64_t xs = s.rows * s.inner, ys = s.inner * s.cols;
  for (int64_t i = s.batchRank; i-- > 0;) {
    int64_t xd = i - (s.batchRank - xb) < 0 ? 1 : x.dims[i - (s.batchRank - xb)];
    int64_t yd = i - (s.batchRank - yb) < 0 ? 1 : y.dims[i - (s.batchRank - yb)];
    ONNXC_CHECK(xd == yd || xd == 1 || yd == 1, ONNXC_K_SHAPE);
    s.batch[i] = xd == 1 ? yd : xd;
    s.aStrides[i] = xd == 1 ? 0 : xs;
    s.bStrides[i] = yd == 1 ? 0 : ys;
    xs *= xd;
    ys *= yd;
  }
  return 0;
}

// Gemm: the strides hold what transA and transB say; those of C are 0 where it has no element of its own.
struct GemmShape {
  int64_t rows, inner, cols, aRow, aInner, bInner, bCol, c[2];
  bool hasC;
};

inline int32_t gemmShape(const onnxc_args *a, GemmShape &s) {  // attributes: alpha, beta, transA, transB
  const onnxc_tensor &x = a->in[0], &y = a->in[1], &out = a->out[0];
  ONNXC_CHECK(x.rank == 2 && y.rank == 2 && out.rank == 2, ONNXC_K_SHAPE);
  bool tx = a->attr[2].i != 0, ty = a->attr[3].i != 0;
  s = {x.dims[tx], x.dims[!tx], y.dims[!ty], 0, 0, 0, 0, {0, 0}, hasIn(a, 2)};
  s.aRow = tx ? 1 : s.inner, s.aInner = tx ? s.rows : 1, s.bInner = ty ? 1 : s.cols, s.bCol = ty ? s.inner : 1;
  ONNXC_CHECK(y.dims[ty] == s.inner && out.dims[0] == s.rows && out.dims[1] == s.cols, ONNXC_K_SHAPE);
  ONNXC_CHECK(!s.hasC || broadcastStrides(a->in[2], out.dims, 2, s.c), ONNXC_K_SHAPE);
  return 0;
}

}  // namespace onnxc
