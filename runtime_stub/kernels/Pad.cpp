// Pad.cpp: Pad in all modes. Negative pads crop first; what is left is then extended by constant, edge, reflect or wrap.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

static constexpr int64_t kMostPad = int64_t(1) << 60;  // so that sums with sizes do not overflow

static int32_t padAmounts(const onnxc_args *a, int64_t *before, int64_t *after) {
  const onnxc_tensor &in = a->in[0], &pads = a->in[1];
  ONNXC_CHECK(in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    before[i] = after[i] = 0;
  int64_t n = hasInput(a, 3) ? onnxc_count(a->in[3]) : in.rank;
  ONNXC_CHECK(onnxc_count(pads) == 2 * n, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = hasInput(a, 3) ? loadI64(a->in[3], i) : i;
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
    before[axis] = loadI64(pads, i);
    after[axis] = loadI64(pads, n + i);
    ONNXC_CHECK(before[axis] > -kMostPad && before[axis] < kMostPad && after[axis] > -kMostPad && after[axis] < kMostPad, ONNXC_K_SIZE);
  }
  return 0;
}

static int32_t padSize(const onnxc_args *a) {
  int64_t before[kMaxRank], after[kMaxRank];
  ONNXC_TRY(padAmounts(a, before, after));
  for (int32_t i = 0; i < a->in[0].rank; ++i) {
    int64_t total, dim;
    ONNXC_CHECK(!__builtin_add_overflow(before[i], after[i], &total), ONNXC_K_SIZE);
    ONNXC_CHECK(!__builtin_add_overflow(a->in[0].dims[i], total, &dim) && dim >= 0, ONNXC_K_SIZE);
    a->out[0].dims[i] = dim;
  }
  return 0;
}

// Where position `at` of the result comes from in a dim cropped to [low, low + extent); -1: the constant.
static int64_t padSource(char mode, int64_t at, int64_t before, int64_t low, int64_t extent) {
  int64_t i = at - maxOf<int64_t>(before, 0);
  if (i >= 0 && i < extent)
    return low + i;
  switch (mode) {
  case 'e':
    return low + (i < 0 ? 0 : extent - 1);
  case 'w':
    i %= extent;
    return low + (i < 0 ? i + extent : i);
  case 'r': {
    int64_t period = 2 * (extent - 1);
    if (period == 0)
      return low;
    i %= period;
    if (i < 0)
      i += period;
    return low + (i < extent ? i : period - i);
  }
  default:
    return -1;
  }
}

template <class T>
static int32_t pad(const onnxc_args *a) {  // attributes: mode
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  int64_t before[kMaxRank], after[kMaxRank], is[kMaxRank], total = 0;
  ONNXC_TRY(padAmounts(a, before, after));
  char mode = a->attr[0].n > 0 ? *static_cast<const char *>(a->attr[0].p) : 'c';
  T fill{};
  if (hasInput(a, 2) && onnxc_count(a->in[2]) > 0)
    fill = *data<T>(a->in[2]);
  if (onnxc_count(out) == 0)
    return 0;
  contiguous(in.dims, in.rank, is);
  for (int32_t i = 0; i < in.rank; ++i)
    total += out.dims[i];
  int64_t *source = allocate<int64_t>(a, total), *of[kMaxRank];
  ONNXC_CHECK(source, ONNXC_K_MEMORY);
  for (int32_t i = 0; i < in.rank; ++i) {
    int64_t low = maxOf<int64_t>(0, -before[i]), extent = in.dims[i] - low - maxOf<int64_t>(0, -after[i]);
    ONNXC_CHECK(out.dims[i] == in.dims[i] + before[i] + after[i], ONNXC_K_SHAPE);
    ONNXC_CHECK(extent > 0 || mode == 'c', ONNXC_K_VALUE);
    of[i] = source;
    for (int64_t k = 0; k < out.dims[i]; ++k)
      *source++ = padSource(mode, k, before[i], low, maxOf<int64_t>(extent, 0));
  }
  T *to = mutableData<T>(out);
  if (in.rank == 0) {
    *to = *data<T>(in);
    return 0;
  }
  int32_t lastDim = in.rank - 1;
  Odometer<0> o;
  for (o.init(out.dims, lastDim); o.more(); o.next()) {
    int64_t base = 0;
    bool constant = false;
    for (int32_t i = 0; i < lastDim; ++i) {
      int64_t s = of[i][o.index[i]];
      constant |= s < 0;
      base += s * is[i];
    }
    for (int64_t k = 0; k < out.dims[lastDim]; ++k) {
      int64_t s = of[lastDim][k];
      *to++ = constant || s < 0 ? fill : data<T>(in)[base + s];
    }
  }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Pad_##S(const onnxc_args *a) { return onnxc::pad<T>(a); }                                                     \
  extern "C" int32_t onnxc_s_Pad_##S(const onnxc_args *a) { return onnxc::padSize(a); }
ONNXC_SIZES(X)
#undef X
