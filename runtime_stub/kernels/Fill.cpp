// Fill.cpp: kernels that make tensors from shapes or rearrange blocks: Shape, Size, Range, ConstantOfShape, EyeLike, Trilu, DepthToSpace,
// SpaceToDepth, CenterCropPad.
#include "runtime_stub/kernels/Copy.h"

namespace onnxc {

static int32_t shape(const onnxc_args *a) {  // attributes: start, end
  int64_t rank = a->in[0].rank, start = a->attr[0].i, end = given(a->attr[1]) ? a->attr[1].i : rank;
  if (start < 0)
    start += rank;
  if (end < 0)
    end += rank;
  start = maxOf<int64_t>(0, minOf(start, rank));
  end = maxOf<int64_t>(0, minOf(end, rank));
  ONNXC_CHECK(onnxc_count(a->out[0]) == maxOf<int64_t>(0, end - start), ONNXC_K_SHAPE);
  for (int64_t i = start; i < end; ++i)
    mutableData<int64_t>(a->out[0])[i - start] = a->in[0].dims[i];
  return 0;
}

static int32_t size(const onnxc_args *a) {
  *mutableData<int64_t>(a->out[0]) = onnxc_count(a->in[0]);
  return 0;
}

template <class T>
static int32_t rangeSize(const onnxc_args *a) {
  if constexpr (IsFloat<T>::value) {
    double start = toF64(*data<T>(a->in[0])), limit = toF64(*data<T>(a->in[1])), delta = toF64(*data<T>(a->in[2]));
    ONNXC_CHECK(delta != 0, ONNXC_K_VALUE);
    double n = ceil((limit - start) / delta);
    ONNXC_CHECK(n < 0x1p62, ONNXC_K_SIZE);
    a->out[0].dims[0] = n > 0 ? int64_t(n) : 0;
    return n == n ? 0 : ONNXC_K_VALUE;
  } else {
    int64_t start = *data<T>(a->in[0]), limit = *data<T>(a->in[1]), delta = *data<T>(a->in[2]);
    ONNXC_CHECK(delta != 0, ONNXC_K_VALUE);
    bool runs = delta > 0 ? limit > start : limit < start;
    uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t(0) - uint64_t(delta), n = runs ? (span - 1) / step + 1 : 0;
    ONNXC_CHECK(n < uint64_t(1) << 62, ONNXC_K_SIZE);
    a->out[0].dims[0] = int64_t(n);
    return 0;
  }
}

template <class T>
static int32_t range(const onnxc_args *a) {
  int64_t n = onnxc_count(a->out[0]);
  T *out = mutableData<T>(a->out[0]), start = *data<T>(a->in[0]), delta = *data<T>(a->in[2]);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (IsFloat<T>::value)
      out[i] = fromF64<T>(toF64(start) + double(i) * toF64(delta));
    else
      out[i] = T(uint64_t(start) + uint64_t(i) * uint64_t(delta));
  }
  return 0;
}

static int32_t constantOfShapeSize(const onnxc_args *a) {
  ONNXC_CHECK(onnxc_count(a->in[0]) == a->out[0].rank, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < a->out[0].rank; ++i) {
    a->out[0].dims[i] = loadI64(a->in[0], i);
    ONNXC_CHECK(a->out[0].dims[i] >= 0, ONNXC_K_SIZE);
  }
  return 0;
}

static int32_t constantOfShape(const onnxc_args *a) {  // attributes: value
  int64_t n = onnxc_count(a->out[0]), bytes = elementBytes(a->out[0].dtype);
  char *out = mutableData<char>(a->out[0]);
  const onnxc_tensor *value = static_cast<const onnxc_tensor *>(a->attr[0].p);
  if (!value || !given(a->attr[0])) {
    memset(out, 0, size_t(n * bytes));
    return 0;
  }
  ONNXC_CHECK(value->dtype == a->out[0].dtype, ONNXC_K_SHAPE);
  constexpr int64_t block = 4096;  // a multiple of every element's size
  char filled[block];
  for (int64_t i = 0; i < block; i += bytes)
    memcpy(filled + i, value->data, size_t(bytes));
  for (int64_t i = 0; i < n * bytes; i += block)
    memcpy(out + i, filled, size_t(minOf(block, n * bytes - i)));
  return 0;
}

static int32_t eyeLike(const onnxc_args *a) {  // attributes: k
  onnxc_tensor &out = a->out[0];
  ONNXC_CHECK(out.rank == 2, ONNXC_K_SHAPE);
  memset(out.data, 0, size_t(onnxc_count(out) * elementBytes(out.dtype)));
  int64_t k = a->attr[0].i;
  for (int64_t i = 0; i < out.dims[0]; ++i)
    if (i + k >= 0 && i + k < out.dims[1])
      storeF64(out, i * out.dims[1] + i + k, 1);
  return 0;
}

template <class T>
static int32_t trilu(const onnxc_args *a) {  // attributes: upper
  const onnxc_tensor &in = a->in[0];
  ONNXC_CHECK(in.rank >= 2, ONNXC_K_SHAPE);
  int64_t k = hasIn(a, 1) ? loadI64(a->in[1], 0) : 0, rows = in.dims[in.rank - 2], cols = in.dims[in.rank - 1];
  k = maxOf(-rows - 1, minOf(k, cols + 1));
  bool upper = a->attr[0].i != 0;
  const T *from = data<T>(in);
  T *to = mutableData<T>(a->out[0]);
  return parallelFor(a, product(in.dims, 0, in.rank - 2) * rows, grainOf(cols), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {  // the row is kept from or up to `edge`
      int64_t edge = maxOf<int64_t>(0, minOf(cols, i % rows + k + !upper)), kept = upper ? edge : 0, zeros = upper ? 0 : edge;
      memcpy(to + i * cols + kept, from + i * cols + kept, size_t(upper ? cols - edge : edge) * sizeof(T));
      memset(static_cast<void *>(to + i * cols + zeros), 0, size_t(upper ? edge : cols - edge) * sizeof(T));
    }
    return int32_t(ONNXC_K_OK);
  });
}

template <class T>
static int32_t depthToSpace(const onnxc_args *a) {  // attributes: blocksize, mode
  const onnxc_tensor &in = a->in[0];
  int64_t b = a->attr[0].i;
  ONNXC_CHECK(in.rank == 4 && b > 0 && in.dims[1] % (b * b) == 0, ONNXC_K_SHAPE);
  const char *mode = static_cast<const char *>(a->attr[1].p);
  bool crd = a->attr[1].n > 0 && mode[0] == 'C';
  int64_t n = in.dims[0], c = in.dims[1] / (b * b), h = in.dims[2], w = in.dims[3], plane = h * w;
  // Indices in order of the result: n, c, h, block row, w, block column.
  int64_t dims[6] = {n, c, h, b, w, b}, os[6];
  int64_t is[6] = {c * b * b * plane, crd ? b * b * plane : plane, w, crd ? b * plane : b * c * plane, 1, crd ? plane : c * plane};
  contiguous(dims, 6, os);
  return copyStrided(a, mutableData<T>(a->out[0]), os, data<T>(in), is, dims, 6);
}

template <class T>
static int32_t spaceToDepth(const onnxc_args *a) {  // attributes: blocksize, mode
  const onnxc_tensor &in = a->in[0];
  int64_t b = a->attr[0].i;
  ONNXC_CHECK(in.rank == 4 && b > 0 && in.dims[2] % b == 0 && in.dims[3] % b == 0, ONNXC_K_SHAPE);
  const char *mode = static_cast<const char *>(a->attr[1].p);
  bool crd = a->attr[1].n > 0 && mode[0] == 'C';
  int64_t n = in.dims[0], c = in.dims[1], h = in.dims[2] / b, w = in.dims[3] / b, plane = h * w;
  // Indices n, c, h, block row, block column, w: rows of the result.
  int64_t dims[6] = {n, c, h, b, b, w}, is[6] = {c * h * b * b * w, h * b * b * w, b * b * w, b * w, 1, b};
  int64_t os[6] = {c * b * b * plane, crd ? b * b * plane : plane, w, crd ? b * plane : b * c * plane, crd ? plane : c * plane, 1};
  return copyStrided(a, mutableData<T>(a->out[0]), os, data<T>(in), is, dims, 6);
}

static int32_t centerCropPadSize(const onnxc_args *a) {  // attributes: axes
  const onnxc_tensor &in = a->in[0], &shape = a->in[1];
  const int64_t *axes = static_cast<const int64_t *>(a->attr[0].p);
  int64_t n = onnxc_count(shape);
  copyDims(a->out[0], in);
  ONNXC_CHECK(n == (given(a->attr[0]) ? a->attr[0].n : in.rank), ONNXC_K_SHAPE);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = given(a->attr[0]) ? axes[i] : i;
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
    a->out[0].dims[axis] = loadI64(shape, i);
    ONNXC_CHECK(a->out[0].dims[axis] >= 0, ONNXC_K_SIZE);
  }
  return 0;
}

template <class T>
static int32_t centerCropPad(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &out = a->out[0];
  ONNXC_CHECK(in.rank <= kMaxRank && in.rank == out.rank, ONNXC_K_SHAPE);
  int64_t is[kMaxRank], os[kMaxRank], dims[kMaxRank], from = 0, to = 0;
  contiguous(in.dims, in.rank, is);
  contiguous(out.dims, out.rank, os);
  for (int32_t i = 0; i < in.rank; ++i) {
    int64_t have = in.dims[i], want = out.dims[i];
    dims[i] = minOf(have, want);
    if (have > want)
      from += (have - want) / 2 * is[i];
    if (want > have)
      to += (want - have) / 2 * os[i];
  }
  memset(out.data, 0, size_t(onnxc_count(out)) * sizeof(T));
  return copyStrided(a, mutableData<T>(out) + to, os, data<T>(in) + from, is, dims, in.rank);
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_Shape(const onnxc_args *a) { return onnxc::shape(a); }
extern "C" int32_t onnxc_k_Size(const onnxc_args *a) { return onnxc::size(a); }
extern "C" int32_t onnxc_k_ConstantOfShape(const onnxc_args *a) { return onnxc::constantOfShape(a); }
extern "C" int32_t onnxc_s_ConstantOfShape(const onnxc_args *a) { return onnxc::constantOfShapeSize(a); }
extern "C" int32_t onnxc_k_EyeLike(const onnxc_args *a) { return onnxc::eyeLike(a); }
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Range_##S(const onnxc_args *a) { return onnxc::range<T>(a); }                                                 \
  extern "C" int32_t onnxc_s_Range_##S(const onnxc_args *a) { return onnxc::rangeSize<T>(a); }
ONNXC_FLOATS(X)
X(i16, int16_t)
X(i32, int32_t)
X(i64, int64_t)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Trilu_##S(const onnxc_args *a) { return onnxc::trilu<T>(a); }                                                 \
  extern "C" int32_t onnxc_k_DepthToSpace_##S(const onnxc_args *a) { return onnxc::depthToSpace<T>(a); }                                   \
  extern "C" int32_t onnxc_k_SpaceToDepth_##S(const onnxc_args *a) { return onnxc::spaceToDepth<T>(a); }                                   \
  extern "C" int32_t onnxc_k_CenterCropPad_##S(const onnxc_args *a) { return onnxc::centerCropPad<T>(a); }                                 \
  extern "C" int32_t onnxc_s_CenterCropPad_##S(const onnxc_args *a) { return onnxc::centerCropPadSize(a); }
ONNXC_SIZES(X)
#undef X
