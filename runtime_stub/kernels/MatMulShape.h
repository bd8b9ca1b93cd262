// MatMulShape.h: sizes and batch strides of numpy's matmul, for MatMul.cpp and FastMatMul.cpp.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// numpy's matmul: 1-d operands gain a dim, batch dims broadcast. Batch offsets come from `Odometer` over the result's batch dims.
struct MatMulShape {
  int64_t rows, inner, cols, batchRank, batch[kMaxRank], aStrides[kMaxRank], bStrides[kMaxRank];
};

static int32_t matMulShape(const onnxc_tensor &x, const onnxc_tensor &y, MatMulShape &s) {
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

}  // namespace onnxc
