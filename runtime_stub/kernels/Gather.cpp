// Gather.cpp: kernels that read or write at run-time indices: Gather*, Scatter*, TensorScatter. Indices are checked, negative ones count
// from the end.
#include "runtime_stub/kernels/Combine.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {

constexpr int64_t kIndices = 1024;  // of a piece of a row

// to[i] = from[i * along + index[i] * stride] for a row of indices below `dim`; whether all are.
template <class T, class I>
static bool gatherRow(T *to, const T *from, const I *index, int64_t n, int64_t dim, int64_t along, int64_t stride) {
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i)
    outside |= uint64_t(index[i]) + uint64_t(dim) >= uint64_t(2 * dim);
  if (outside)
    return false;
#pragma clang loop vectorize(disable) unroll_count(4)
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = index[i];
    to[i] = from[i * along + (at + (at < 0 ? dim : 0)) * stride];
  }
  return true;
}

// The same of indices from `at` on.
template <class T>
static int32_t gatherRow(const onnxc_args *a, T *to, const T *from, const onnxc_tensor &indices, int64_t at, int64_t n, int64_t dim,
                         int64_t along, int64_t stride) {
  bool valid = indices.dtype == ONNXC_I64 ? gatherRow(to, from, data<int64_t>(indices) + at, n, dim, along, stride)
                                          : gatherRow(to, from, data<int32_t>(indices) + at, n, dim, along, stride);
  for (int64_t i = 0, index; !valid && i < n; ++i)
    ONNXC_TRY(fixIndex(a, index = loadI64(indices, at + i), dim));
  return 0;
}

template <class T>
static int32_t gather(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &in = a->in[0], &indices = a->in[1];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  int64_t n = onnxc_count(indices);
  ONNXC_CHECK(onnxc_count(a->out[0]) == s.outer * n * s.inner, ONNXC_K_SHAPE);
  T *out = mutableData<T>(a->out[0]);
  constexpr int64_t many = 8;  // fewer indices than that are read once
  if (s.inner == 1 && n >= many && n <= kIndices && s.outer >= many && s.dim <= INT32_MAX) {
    int32_t columns[kIndices];
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = loadI64(a->in[1], i);
      ONNXC_TRY(fixIndex(a, at, s.dim));
      columns[i] = int32_t(at);
    }
    return parallelFor(a, s.outer, grainOf(n * 2), [=, &columns](int64_t begin, int64_t end) -> int32_t {
      const int32_t *__restrict at = columns;
      for (int64_t o = begin; o < end; ++o) {
        const T *__restrict from = data<T>(a->in[0]) + o * s.dim;
        T *__restrict to = out + o * n;
#pragma clang loop vectorize(disable) unroll_count(4)
        for (int64_t i = 0; i < n; ++i)
          to[i] = from[at[i]];
      }
      return 0;
    });
  }
  if (s.inner == 1 && n >= many && s.outer > 0) {
    Pieces pieces(n, kIndices);
    return parallelFor(a, s.outer * pieces.count, pieces.grain(2), [=](int64_t begin, int64_t end) -> int32_t {
      for (int64_t unit = begin; unit < end; ++unit) {
        int64_t o = unit / pieces.count, first = pieces.begin(unit % pieces.count), count = pieces.end(unit % pieces.count) - first;
        ONNXC_TRY(gatherRow(a, out + o * n + first, data<T>(a->in[0]) + o * s.dim, a->in[1], first, count, s.dim, 0, 1));
      }
      return 0;
    });
  }
  return parallelFor(a, n, grainOf(s.outer * (4 + s.inner * int64_t(sizeof(T)) / 8)), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = loadI64(a->in[1], i);
      ONNXC_TRY(fixIndex(a, at, s.dim));
      for (int64_t o = 0; o < s.outer; ++o)
        if (s.inner == 1)
          out[o * n + i] = data<T>(a->in[0])[o * s.dim + at];
        else
          copyBlock(out + (o * n + i) * s.inner, data<T>(a->in[0]) + (o * s.dim + at) * s.inner, s.inner * int64_t(sizeof(T)));
    }
    return 0;
  });
}

template <class T>
static int32_t gatherElements(const onnxc_args *a) {  // attributes: axis
  const onnxc_tensor &in = a->in[0], &indices = a->in[1];
  int64_t axis = a->attr[0].i, strides[kMaxRank], outer[kMaxRank], last = indices.rank - 1;
  ONNXC_CHECK(in.rank <= kMaxRank && in.rank == indices.rank && fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    ONNXC_CHECK(i == axis || indices.dims[i] <= in.dims[i], ONNXC_K_SHAPE);
  if (onnxc_count(indices) == 0)
    return 0;
  contiguous(in.dims, in.rank, strides);
  for (int32_t i = 0; i < in.rank; ++i)
    outer[i] = i == axis ? 0 : strides[i];
  int64_t n = indices.dims[last], along = outer[last], dim = in.dims[axis], stride = strides[axis];
  return parallelFor(a, product(indices.dims, 0, last), grainOf(n * 2), [=, &outer](int64_t begin, int64_t end) -> int32_t {
    Odometer<1> o;
    o.init(a->in[1].dims, last);
    o.strides[0] = outer;
    o.seek(begin);
    for (int64_t row = begin; row < end; ++row, o.next())
      ONNXC_TRY(
          gatherRow(a, mutableData<T>(a->out[0]) + row * n, data<T>(a->in[0]) + o.offset[0], a->in[1], row * n, n, dim, along, stride));
    return 0;
  });
}

// Tuples of indices along the dims of `t` from `first` on; `length` of them.
struct Tuples {
  const onnxc_args *a;
  const onnxc_tensor *indices;
  int64_t length, dims[kMaxRank], strides[kMaxRank];

  Tuples(const onnxc_args *a, const onnxc_tensor &t, int64_t first, const onnxc_tensor &indices, int64_t length)
      : a(a), indices(&indices), length(length) {
    int64_t stride = product(t.dims, first + length, t.rank);
    for (int64_t k = length; k-- > 0; stride *= dims[k])
      dims[k] = t.dims[first + k], strides[k] = stride;
  }
  // Where tuple `n` points to.
  __attribute__((always_inline)) int32_t at(int64_t n, int64_t &offset) const {
    offset = 0;
    for (int64_t k = 0; k < length; ++k) {
      int64_t i = loadI64(*indices, n * length + k);
      ONNXC_TRY(fixIndex(a, i, dims[k]));
      offset += i * strides[k];
    }
    return 0;
  }
};

template <class T>
static int32_t gatherND(const onnxc_args *a) {  // attributes: batch_dims
  const onnxc_tensor &in = a->in[0], &indices = a->in[1];
  int64_t batchDims = a->attr[0].i;
  ONNXC_CHECK(indices.rank >= 1 && batchDims >= 0 && batchDims < indices.rank, ONNXC_K_SHAPE);
  int64_t length = indices.dims[indices.rank - 1];
  ONNXC_CHECK(length >= 0 && batchDims + length <= in.rank && in.rank <= kMaxRank, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < batchDims; ++i)
    ONNXC_CHECK(in.dims[i] == indices.dims[i], ONNXC_K_SHAPE);
  int64_t tuples = product(indices.dims, 0, indices.rank - 1), batches = product(in.dims, 0, batchDims);
  int64_t block = product(in.dims, batchDims + length, in.rank), batchSize = product(in.dims, batchDims, in.rank);
  ONNXC_CHECK(onnxc_count(a->out[0]) == tuples * block, ONNXC_K_SHAPE);
  int64_t perBatch = batches ? tuples / batches : 0;
  const T *from = data<T>(in);
  T *to = mutableData<T>(a->out[0]);
  const Tuples list(a, in, batchDims, indices, length);
  return parallelFor(a, tuples, grainOf(8 * length + block * int64_t(sizeof(T)) / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i) {
      int64_t offset;
      ONNXC_TRY(list.at(i, offset));
      if (batchDims > 0)
        offset += i / perBatch * batchSize;
      if (block == 1)
        to[i] = from[offset];
      else
        copyBlock(to + i * block, from + offset, block * int64_t(sizeof(T)));
    }
    return 0;
  });
}

template <class T>
static int32_t scatterElements(const onnxc_args *a) {  // attributes: axis, reduction
  const onnxc_tensor &in = a->in[0], &indices = a->in[1], &updates = a->in[2];
  int64_t axis = a->attr[0].i, strides[kMaxRank], zero[kMaxRank];
  ONNXC_CHECK(in.rank <= kMaxRank && in.rank == indices.rank && sameDims(indices, updates) && fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    ONNXC_CHECK(i == axis || indices.dims[i] <= in.dims[i], ONNXC_K_SHAPE);
  CombineFn combine;
  ONNXC_CHECK(findCombine(a->attr[1], in.dtype, combine), ONNXC_K_VALUE);
  copyData(a->out[0], in, sizeof(T));
  contiguous(in.dims, in.rank, strides);
  for (int32_t i = 0; i < in.rank; ++i)
    zero[i] = i == axis ? 0 : strides[i];
  Odometer<1> o;
  o.init(indices.dims, indices.rank);
  o.strides[0] = zero;
  for (int64_t i = 0; o.more(); o.next(), ++i) {
    int64_t at = loadI64(indices, i);
    ONNXC_TRY(fixIndex(a, at, in.dims[axis]));
    T *to = mutableData<T>(a->out[0]) + o.offset[0] + at * strides[axis];
    if (combine)
      combine(to, data<T>(updates) + i);
    else
      *to = data<T>(updates)[i];
  }
  return 0;
}

template <class T>
static int32_t scatterND(const onnxc_args *a) {  // attributes: reduction
  const onnxc_tensor &in = a->in[0], &indices = a->in[1], &updates = a->in[2];
  ONNXC_CHECK(indices.rank >= 1 && indices.dims[indices.rank - 1] <= in.rank && in.rank <= kMaxRank, ONNXC_K_SHAPE);
  CombineFn combine;
  ONNXC_CHECK(findCombine(a->attr[0], in.dtype, combine), ONNXC_K_VALUE);
  copyData(a->out[0], in, sizeof(T));
  int64_t length = indices.dims[indices.rank - 1], tuples = product(indices.dims, 0, indices.rank - 1);
  int64_t block = product(in.dims, length, in.rank);
  ONNXC_CHECK(onnxc_count(updates) == tuples * block, ONNXC_K_SHAPE);
  const Tuples list(a, in, 0, indices, length);
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t offset;
    ONNXC_TRY(list.at(i, offset));
    T *to = mutableData<T>(a->out[0]) + offset;
    const T *from = data<T>(updates) + i * block;
    if (!combine)
      copyBlock(to, from, block * int64_t(sizeof(T)));
    for (int64_t k = 0; combine && k < block; ++k)
      combine(to + k, from + k);
  }
  return 0;
}

template <class T>
static int32_t tensorScatter(const onnxc_args *a) {  // attributes: axis, mode
  const onnxc_tensor &past = a->in[0], &update = a->in[1];
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(past.rank == update.rank && fixAxis(axis, past.rank) && axis > 0, ONNXC_K_SHAPE);
  for (int32_t i = 0; i < past.rank; ++i)
    ONNXC_CHECK(i == axis || past.dims[i] == update.dims[i], ONNXC_K_SHAPE);
  const char *mode = static_cast<const char *>(a->attr[1].p);
  bool circular = a->attr[1].n > 0 && mode[0] == 'c';
  copyData(a->out[0], past, sizeof(T));
  Axis3 p = splitAt(past, axis);
  int64_t length = update.dims[axis], batch = past.dims[0];
  ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == batch, ONNXC_K_SHAPE);
  for (int64_t o = 0; o < p.outer; ++o) {
    int64_t start = hasIn(a, 2) ? loadI64(a->in[2], o / (p.outer / batch)) : 0;
    ONNXC_CHECK(start >= 0 && (circular ? p.dim > 0 || length == 0 : start <= p.dim - length), ONNXC_K_INDEX);
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = circular ? (start % p.dim + i) % p.dim : start + i;
      copyBlock(mutableData<T>(a->out[0]) + (o * p.dim + at) * p.inner, data<T>(update) + (o * length + i) * p.inner,
                p.inner * int64_t(sizeof(T)));
    }
  }
  return 0;
}

template <class T>
static int32_t reverseSequence(const onnxc_args *a) {  // attributes: batch_axis, time_axis
  const onnxc_tensor &in = a->in[0], &lengths = a->in[1];
  int64_t batchAxis = a->attr[0].i, timeAxis = a->attr[1].i, strides[kMaxRank];
  ONNXC_CHECK(in.rank <= kMaxRank && fixAxis(batchAxis, in.rank) && fixAxis(timeAxis, in.rank) && batchAxis != timeAxis, ONNXC_K_SHAPE);
  ONNXC_CHECK(onnxc_count(lengths) == in.dims[batchAxis], ONNXC_K_SHAPE);
  for (int64_t i = 0; i < in.dims[batchAxis]; ++i) {
    int64_t length = loadI64(lengths, i);
    ONNXC_CHECK(length >= 0 && length <= in.dims[timeAxis], ONNXC_K_INDEX);
  }
  contiguous(in.dims, in.rank, strides);
  int64_t outer = maxOf(batchAxis, timeAxis) + 1, run = strides[outer - 1];
  Odometer<1> o;
  o.init(in.dims, outer);
  o.strides[0] = strides;
  for (; o.more(); o.next()) {
    int64_t length = loadI64(lengths, o.index[batchAxis]), t = o.index[timeAxis];
    int64_t from = o.offset[0] + (t < length ? length - 1 - 2 * t : 0) * strides[timeAxis];
    copyBlock(mutableData<T>(a->out[0]) + o.offset[0], data<T>(in) + from, run * int64_t(sizeof(T)));
  }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Gather_##S(const onnxc_args *a) { return onnxc::gather<T>(a); }                                               \
  extern "C" int32_t onnxc_k_GatherElements_##S(const onnxc_args *a) { return onnxc::gatherElements<T>(a); }                               \
  extern "C" int32_t onnxc_k_GatherND_##S(const onnxc_args *a) { return onnxc::gatherND<T>(a); }                                           \
  extern "C" int32_t onnxc_k_ScatterElements_##S(const onnxc_args *a) { return onnxc::scatterElements<T>(a); }                             \
  extern "C" int32_t onnxc_k_ScatterND_##S(const onnxc_args *a) { return onnxc::scatterND<T>(a); }                                         \
  extern "C" int32_t onnxc_k_TensorScatter_##S(const onnxc_args *a) { return onnxc::tensorScatter<T>(a); }                                 \
  extern "C" int32_t onnxc_k_ReverseSequence_##S(const onnxc_args *a) { return onnxc::reverseSequence<T>(a); }
ONNXC_SIZES(X)
#undef X
