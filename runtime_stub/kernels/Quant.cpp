// Quant.cpp: QuantizeLinear, DequantizeLinear (per tensor, per axis, blocked) and DynamicQuantizeLinear.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// Which scale an element takes: flat position p is [outer, dim, inner]; scales are laid out [outer?, dim / block, inner?].
struct Grain {
  Axis3 s;
  int64_t block, blocks;
  bool blocked;
};

// Attributes: axis, block_size first. One scale for all is [1, 1, count].
static int32_t readGrain(const onnxc_args *a, Grain &g) {
  const onnxc_tensor &x = a->in[0], &scale = a->in[1];
  int64_t axis = a->attr[0].i, blockSize = a->attr[1].i, n = onnxc_count(scale), total = onnxc_count(x);
  g = {{1, 1, total}, 1, 1, false};
  ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == n, ONNXC_K_SHAPE);
  if (n == 1 && blockSize == 0)
    return 0;
  ONNXC_CHECK(fixAxis(axis, x.rank), ONNXC_K_SHAPE);
  g.s = splitAt(x, axis);
  g.blocked = blockSize > 0 || (scale.rank == x.rank && x.rank > 1);
  if (!g.blocked)
    return scale.rank == 1 && n == g.s.dim ? 0 : ONNXC_K_SHAPE;
  ONNXC_CHECK(scale.rank == x.rank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < x.rank; ++i)
    ONNXC_CHECK(i == axis || scale.dims[i] == x.dims[i], ONNXC_K_SHAPE);
  g.blocks = scale.dims[axis];
  if (total == 0)
    return 0;
  ONNXC_CHECK(g.blocks > 0, ONNXC_K_SHAPE);
  g.block = blockSize > 0 ? blockSize : (g.s.dim + g.blocks - 1) / g.blocks;
  return (g.s.dim + g.block - 1) / g.block == g.blocks ? 0 : ONNXC_K_SHAPE;
}

// Calls run(first, count, scale index, step) for runs of elements whose scales are `step`, 0 or 1, apart.
template <class Run>
static void forRuns(const Grain &g, const Run &run) {
  int64_t dim = g.s.dim, inner = g.s.inner;
  for (int64_t o = 0; o < g.s.outer; ++o)
    for (int64_t d = 0, n; d < dim; d += n) {
      int64_t at = (o * dim + d) * inner;
      n = g.blocked && inner == 1 ? minOf(g.block - d % g.block, dim - d) : 1;
      if (g.blocked && inner > 1)
        run(at, inner, (o * g.blocks + d / g.block) * inner, 1);
      else
        run(at, inner * n, g.blocked ? o * g.blocks + d / g.block : d, 0);
    }
}

// Operand i, scales or zero points, in doubles; an absent one is zeros.
static double *wide(const onnxc_args *a, int i) {
  int64_t n = onnxc_count(a->in[1]);
  double *v = heap<double>(a, n);
  for (int64_t k = 0; v && k < n; ++k)
    v[k] = hasIn(a, i) ? loadF64(a->in[i], k) : 0;
  return v;
}

template <class X, class Y>
static int32_t quantize(const onnxc_args *a) {  // attributes: axis, block_size, saturate, precision
  Grain g;
  ONNXC_TRY(readGrain(a, g));
  const X *x = data<X>(a->in[0]);
  Y *y = mutableData<Y>(a->out[0]);
  bool saturate = a->attr[2].i != 0;
  int32_t precision = a->attr[3].i ? int32_t(a->attr[3].i) : a->in[1].dtype;
  double *scales = wide(a, 1), *zeros = wide(a, 2);
  ONNXC_CHECK(scales && zeros, ONNXC_K_MEMORY);
  for (int64_t k = 0; k < onnxc_count(a->in[1]); ++k)
    scales[k] = roundTo(precision, scales[k]);
  forRuns(g, [&](int64_t first, int64_t count, int64_t at, int64_t step) {
    for (int64_t i = first; i < first + count; ++i, at += step) {
      double v = roundTo(precision, roundTo(precision, toF64(x[i])) / scales[at]), zero = zeros[at];
      if constexpr (!IsFloat<Y>::value)
        y[i] = saturateTo<Y>(nearbyint(v) + zero);
      else
        y[i] = From<Y>::f64(v + zero, saturate);
    }
  });
  return 0;
}

template <class X, class Y>
static int32_t dequantize(const onnxc_args *a) {  // attributes: axis, block_size
  Grain g;
  ONNXC_TRY(readGrain(a, g));
  const X *x = data<X>(a->in[0]);
  Y *y = mutableData<Y>(a->out[0]);
  const double *scales = wide(a, 1), *zeros = wide(a, 2);
  ONNXC_CHECK(scales && zeros, ONNXC_K_MEMORY);
  forRuns(g, [=](int64_t first, int64_t count, int64_t at, int64_t step) {
    if (step)
      for (int64_t i = 0; i < count; ++i)
        y[first + i] = fromF64<Y>((toF64(x[first + i]) - zeros[at + i]) * scales[at + i]);
    else
      for (int64_t i = 0; i < count; ++i)
        y[first + i] = fromF64<Y>((toF64(x[first + i]) - zeros[at]) * scales[at]);
  });
  return 0;
}

static int32_t dynamicQuantize(const onnxc_args *a) {
  const float *x = data<float>(a->in[0]);
  int64_t n = onnxc_count(a->in[0]);
  float low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = minOf(low, x[i]);
    high = maxOf(high, x[i]);
  }
  float scale = high == low ? 1 : (high - low) / 255;
  uint8_t zero = saturateTo<uint8_t>(nearbyint(-low / scale));
  for (int64_t i = 0; i < n; ++i)
    mutableData<uint8_t>(a->out[0])[i] = saturateTo<uint8_t>(nearbyint(double(x[i] / scale)) + zero);
  if (hasOut(a, 1))
    *mutableData<float>(a->out[1]) = scale;
  if (hasOut(a, 2))
    *mutableData<uint8_t>(a->out[2]) = zero;
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_DynamicQuantizeLinear(const onnxc_args *a) { return onnxc::dynamicQuantize(a); }
#define Q(XS, XT, YS, YT)                                                                                                                  \
  extern "C" int32_t onnxc_k_QuantizeLinear_##XS##_##YS(const onnxc_args *a) { return onnxc::quantize<XT, YT>(a); }
#define D(XS, XT, YS, YT)                                                                                                                  \
  extern "C" int32_t onnxc_k_DequantizeLinear_##XS##_##YS(const onnxc_args *a) { return onnxc::dequantize<XT, YT>(a); }
#define NARROW(X) X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t) ONNXC_F8(X) ONNXC_SUBBYTE(X)
#define X(S, T)                                                                                                                            \
  Q(f32, float, S, T)                                                                                                                      \
  Q(f16, onnxc::f16, S, T)                                                                                                                 \
  Q(bf16, onnxc::bf16, S, T) Q(i32, int32_t, S, T) D(S, T, f32, float) D(S, T, f16, onnxc::f16) D(S, T, bf16, onnxc::bf16)
NARROW(X)
#undef X
D(i32, int32_t, f32, float)
D(i32, int32_t, f16, onnxc::f16)
D(i32, int32_t, bf16, onnxc::bf16)
#undef NARROW
#undef D
#undef Q
