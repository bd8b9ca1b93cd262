// FastScatter.cpp: ScatterElements and ScatterND of f32: rows of updates at one index are vectors. Oracle: Gather.cpp.
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/Parallel.h"
extern "C" int32_t onnxc_k_ScatterElements_b4(const onnxc_args *a);
extern "C" int32_t onnxc_k_ScatterND_b4(const onnxc_args *a);

namespace onnxc {
namespace {

constexpr int64_t kColumns = 16;  // a line of memory

enum class Way { Replace, Add, Multiply, Least, Greatest, Other };
Way wayOf(const onnxc_attr &reduction) {
  const char *word = static_cast<const char *>(reduction.p);
  if (reduction.n < 0 || (reduction.n == 4 && word[0] == 'n'))
    return Way::Replace;
  if (reduction.n != 3)
    return Way::Other;
  return word[0] == 'a'                     ? Way::Add
         : word[0] == 'm' && word[1] == 'u' ? Way::Multiply
         : word[0] == 'm' && word[1] == 'i' ? Way::Least
         : word[0] == 'm' && word[1] == 'a' ? Way::Greatest
                                            : Way::Other;
}

template <Way W>
ONNXC_INLINE float combined(float had, float update) {
  return W == Way::Add        ? had + update
         : W == Way::Multiply ? had * update
         : W == Way::Least    ? (had != had || had < update ? had : update)
         : W == Way::Greatest ? (had != had || had > update ? had : update)
                              : update;
}

template <Way W>
ONNXC_INLINE void putRow(float *to, const float *from, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = combined<W>(to[i], from[i]);
}

// Updates of one row of indices: to[at * stride + j * step] for index `at` of update j.
template <Way W, class I>
int32_t putIndices(const onnxc_args *a, float *to, const I *index, const float *from, int64_t n, int64_t dim, int64_t stride,
                   int64_t step) {
  I differ = 0;
  for (int64_t j = 0; j < n; ++j)
    differ |= index[j] ^ index[0];
  int64_t at = n ? int64_t(index[0]) : 0;
  if (!differ && step == 1) {
    ONNXC_TRY(n ? fixIndex(a, at, dim) : 0);
    putRow<W>(to + at * stride, from, n);
    return 0;
  }
  for (int64_t j = 0; j < n; ++j, to += step) {
    at = int64_t(index[j]);
    ONNXC_TRY(fixIndex(a, at, dim));
    to[at * stride] = combined<W>(to[at * stride], from[j]);
  }
  return 0;
}

template <Way W>
int32_t scatterElementsBy(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &indices = a->in[1], &updates = a->in[2];
  int64_t axis = a->attr[0].i, strides[kMaxRank], walked[kMaxRank];
  ONNXC_CHECK(in.rank <= kMaxRank && in.rank == indices.rank && sameDims(indices, updates) && fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  for (int32_t i = 0; i < in.rank; ++i)
    ONNXC_CHECK(i == axis || indices.dims[i] <= in.dims[i], ONNXC_K_SHAPE);
  copyData(a->out[0], in, sizeof(float));
  contiguous(in.dims, in.rank, strides);
  for (int32_t i = 0; i < in.rank; ++i)
    walked[i] = i == axis ? 0 : strides[i];
  // Where two updates may meet, one thread combines them, in their order: it has some columns of all rows, or, along the axis, whole rows.
  int64_t last = in.rank - 1, n = indices.dims[last], rows = product(indices.dims, 0, last), dim = in.dims[axis], stride = strides[axis];
  bool along = axis == last;
  Pieces columns(n, along ? maxOf<int64_t>(n, 1) : kColumns);
  int64_t units = along ? rows : columns.count, grain = along ? grainOf(n * 2) : columns.grain(rows * 2);
  auto put = [=, &walked](int64_t firstRow, int64_t endRow, int64_t first, int64_t end) -> int32_t {
    Odometer<1> o;
    o.init(a->in[1].dims, last);
    o.strides[0] = walked;
    o.seek(firstRow);
    for (int64_t row = firstRow; row < endRow; ++row, o.next()) {
      int64_t at = row * n + first, step = walked[last];
      float *to = mutableData<float>(a->out[0]) + o.offset[0] + first * step;
      const float *from = data<float>(a->in[2]) + at;
      ONNXC_TRY(a->in[1].dtype == ONNXC_I64 ? putIndices<W>(a, to, data<int64_t>(a->in[1]) + at, from, end - first, dim, stride, step)
                                            : putIndices<W>(a, to, data<int32_t>(a->in[1]) + at, from, end - first, dim, stride, step));
    }
    return 0;
  };
  return parallelFor(a, n > 0 && rows > 0 ? units : 0, grain, [=, &put](int64_t begin, int64_t end) -> int32_t {
    return along ? put(begin, end, 0, n) : put(0, rows, columns.begin(begin), columns.end(end - 1));
  });
}

int32_t scatterElements(const onnxc_args *a) {  // attributes: axis, reduction
  Way way = a->in[0].rank < 1 ? Way::Other : wayOf(a->attr[1]);
  return way == Way::Replace    ? scatterElementsBy<Way::Replace>(a)
         : way == Way::Add      ? scatterElementsBy<Way::Add>(a)
         : way == Way::Multiply ? scatterElementsBy<Way::Multiply>(a)
         : way == Way::Least    ? scatterElementsBy<Way::Least>(a)
         : way == Way::Greatest ? scatterElementsBy<Way::Greatest>(a)
                                : onnxc_k_ScatterElements_b4(a);
}

template <Way W>
int32_t scatterNDBy(const onnxc_args *a) {
  const onnxc_tensor &in = a->in[0], &indices = a->in[1], &updates = a->in[2];
  ONNXC_CHECK(indices.rank >= 1 && indices.dims[indices.rank - 1] <= in.rank, ONNXC_K_SHAPE);
  copyData(a->out[0], in, sizeof(float));
  int64_t length = indices.dims[indices.rank - 1], tuples = product(indices.dims, 0, indices.rank - 1);
  int64_t block = product(in.dims, length, in.rank);
  ONNXC_CHECK(onnxc_count(updates) == tuples * block, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t offset = 0, stride = block;
    for (int64_t k = length; k-- > 0;) {
      int64_t at = loadI64(indices, i * length + k);
      ONNXC_TRY(fixIndex(a, at, in.dims[k]));
      offset += at * stride;
      stride *= in.dims[k];
    }
    putRow<W>(mutableData<float>(a->out[0]) + offset, data<float>(updates) + i * block, block);
  }
  return 0;
}

int32_t scatterND(const onnxc_args *a) {  // attributes: reduction
  Way way = wayOf(a->attr[0]);
  return way == Way::Add        ? scatterNDBy<Way::Add>(a)
         : way == Way::Multiply ? scatterNDBy<Way::Multiply>(a)
         : way == Way::Least    ? scatterNDBy<Way::Least>(a)
         : way == Way::Greatest ? scatterNDBy<Way::Greatest>(a)
                                : onnxc_k_ScatterND_b4(a);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastScatterElements(const onnxc_args *a) { return onnxc::scatterElements(a); }
extern "C" int32_t onnxc_k_FastScatterND(const onnxc_args *a) { return onnxc::scatterND(a); }
