// Pointwise.h: walking broadcast operands and the arithmetic type of each element type, for Pointwise*.cpp. Generated loops (codegen/cpu)
// are the fast way for the same operators; these kernels are the plain one, and serve every type.
#pragma once
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

// What an element is computed in: double for floats, 64 bits of the same signedness for integers.
template <class T, bool Float = IsFloat<T>::value>
struct Wide {
  using type = double;
  static double in(T v) { return toF64(v); }
  static T out(double v) { return fromF64<T>(v); }
};
template <class T>
struct Wide<T, false> {
  using type = int64_t;
  static int64_t in(T v) { return int64_t(v); }
  static T out(int64_t v) { return T(v); }
};
#define ONNXC_WIDE_UNSIGNED(T)                                                                                                             \
  template <>                                                                                                                              \
  struct Wide<T, false> {                                                                                                                  \
    using type = uint64_t;                                                                                                                 \
    static uint64_t in(T v) { return v; }                                                                                                  \
    static T out(uint64_t v) { return T(v); }                                                                                              \
  };
ONNXC_WIDE_UNSIGNED(u8)
ONNXC_WIDE_UNSIGNED(u16)
ONNXC_WIDE_UNSIGNED(u32)
ONNXC_WIDE_UNSIGNED(u64)
#undef ONNXC_WIDE_UNSIGNED
template <>
struct Wide<boolean, false> {
  using type = uint64_t;
  static uint64_t in(boolean v) { return v.v != 0; }
  static boolean out(uint64_t v) { return {uint8_t(v != 0)}; }
};

constexpr int64_t kTaskElements = 2 * kTaskWork;  // two elements are an operation

// out[i] = f(x[i]) for equal shapes.
template <class In, class Out, class F>
ONNXC_INLINE int32_t mapUnary(const onnxc_args *a, F f) {
  int64_t n = onnxc_count(a->out[0]);
  ONNXC_CHECK(n == onnxc_count(a->in[0]), ONNXC_K_SHAPE);
  const In *x = data<In>(a->in[0]);
  Out *y = mutableData<Out>(a->out[0]);
  return parallelFor(a, n, kTaskElements, [=](int64_t i, int64_t end) -> int32_t {
    for (; i < end; ++i)
      y[i] = f(x[i]);
    return 0;
  });
}

// row(x, x's step, y, y's step, out, n) for pieces of the result's rows, both operands broadcast to its shape.
template <class In, class In2, class Out, class F>
ONNXC_INLINE int32_t mapRows(const onnxc_args *a, const onnxc_tensor &x, const onnxc_tensor &y, onnxc_tensor &out, F row) {
  int64_t xs[kMaxRank], ys[kMaxRank];
  ONNXC_CHECK(out.rank <= kMaxRank && broadcastStrides(x, out.dims, out.rank, xs) && broadcastStrides(y, out.dims, out.rank, ys),
              ONNXC_K_SHAPE);
  const In *from = data<In>(x);
  const In2 *from2 = data<In2>(y);
  Out *to = mutableData<Out>(out);
  int64_t rank = out.rank, inner = rank ? out.dims[rank - 1] : 1, xi = rank ? xs[rank - 1] : 0, yi = rank ? ys[rank - 1] : 0;
  if (onnxc_count(out) == 0)
    return 0;
  Pieces pieces(inner, kTaskElements / 2);
  int64_t grain = maxOf<int64_t>(kTaskElements / (inner / pieces.count), 1);
  return parallelFor(a, product(out.dims, 0, rank ? rank - 1 : 0) * pieces.count, grain,
                     [=, &xs, &ys, &out](int64_t unit, int64_t end) -> int32_t {
                       Odometer<2> o;
                       o.init(out.dims, rank ? rank - 1 : 0);
                       o.strides[0] = xs;
                       o.strides[1] = ys;
                       for (o.seek(unit / pieces.count); unit < end; o.next()) {
                         int64_t first = unit % pieces.count, last = minOf(first + end - unit, pieces.count), begin = pieces.begin(first);
                         row(from + o.offset[0] + begin * xi, xi, from2 + o.offset[1] + begin * yi, yi,
                             to + unit / pieces.count * inner + begin, pieces.end(last - 1) - begin);
                         unit += last - first;
                       }
                       return 0;
                     });
}

// out[i] = f(x[i], y[i]) with both operands broadcast to the result's shape.
template <class In, class In2, class Out, class F>
ONNXC_INLINE int32_t mapBinary(const onnxc_args *a, const onnxc_tensor &x, const onnxc_tensor &y, onnxc_tensor &out, F f) {
  return mapRows<In, In2, Out>(a, x, y, out, [=](const In *x, int64_t xi, const In2 *y, int64_t yi, Out *to, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      to[i] = f(x[i * xi], y[i * yi]);
  });
}

}  // namespace onnxc
