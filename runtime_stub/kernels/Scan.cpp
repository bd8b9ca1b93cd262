// Scan.cpp: running sums and products along an axis: CumSum, CumProd.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

template <class T, bool Sum>
static int32_t cumulate(const onnxc_args *a) {  // attributes: exclusive, reverse
  const onnxc_tensor &in = a->in[0];
  int64_t axis = loadI64(a->in[1], 0);
  ONNXC_CHECK(onnxc_count(a->in[1]) == 1, ONNXC_K_SHAPE);
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
  bool exclusive = a->attr[0].i != 0, reverse = a->attr[1].i != 0;
  Axis3 s = splitAt(in, axis);
  constexpr int64_t kColumns = 64;  // whose totals stay in registers or near
  const T *from = data<T>(in);
  T *to = mutableData<T>(a->out[0]);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t first = 0; first < s.inner; first += kColumns) {
      int64_t n = minOf(kColumns, s.inner - first);
      Acc<T> totals[kColumns];
      for (Acc<T> &total : totals)
        total = Acc<T>(Sum ? 0 : 1);
      for (int64_t k = 0; k < s.dim; ++k) {
        int64_t at = (o * s.dim + (reverse ? s.dim - 1 - k : k)) * s.inner + first;
        for (int64_t i = 0; i < n; ++i) {
          Acc<T> before = totals[i], x = toAcc(from[at + i]);
          if constexpr (IsFloat<T>::value)
            totals[i] = Sum ? before + x : before * x;
          else
            totals[i] = Acc<T>(Sum ? uint64_t(before) + uint64_t(x) : uint64_t(before) * uint64_t(x));
          to[at + i] = fromAcc<T>(exclusive ? before : totals[i]);
        }
      }
    }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_CumSum_##S(const onnxc_args *a) { return onnxc::cumulate<T, true>(a); }                                       \
  extern "C" int32_t onnxc_k_CumProd_##S(const onnxc_args *a) { return onnxc::cumulate<T, false>(a); }
ONNXC_FLOATS(X)
X(i32, int32_t)
X(i64, int64_t)
X(u32, uint32_t)
X(u64, uint64_t)
#undef X
