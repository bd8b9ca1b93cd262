// FastGatherProduct.cpp: products of vectors with matrices that an index chooses for each of them, as of the experts of a mixture: a matrix
// is read where it lies, once for all vectors that have chosen it.
#include "runtime_stub/kernels/FastExp.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int64_t kMatrixRows = 16, kColumns = 64;  // results that a unit of parallel work computes of each vector

struct Choice {
  const float *matrices;
  const float *vectors;
  float *out;
  int64_t count, depth, results;  // of vectors; sizes of a matrix
  int64_t vectorStep;             // floats from one vector to the next: 0 where there is one
  const int64_t *order, *chosen;  // vectors, those of one matrix side by side, and the matrix of each

  const float *matrix(int64_t vector) const { return matrices + chosen[vector] * depth * results; }
  const float *vector(int64_t i) const { return vectors + i * vectorStep; }
};

// `body` of each run of vectors in order, `Most` or one at a time, that have chosen one matrix.
template <int Most, class Body>
ONNXC_INLINE void forRuns(const Choice &c, const Body &body) {
  for (int64_t at = 0; at < c.count;) {
    const int64_t *first = c.order + at;
    bool whole = at + Most <= c.count;
    for (int i = 1; i < Most && whole; ++i)
      whole = c.chosen[first[i]] == c.chosen[first[0]];
    whole ? body(Index<Most>(), first) : body(Index<1>(), first);
    at += whole ? Most : 1;
  }
}

// Results [row, row + Rows) of `Count` vectors: dot products with rows of a matrix.
template <int Rows, int Count>
ONNXC_INLINE void dots(const Choice &c, const int64_t *order, int64_t row) {
  const float *w = c.matrix(order[0]) + row * c.depth, *x[Count];
  unroll<0, Count>([&](auto i) { x[i.value] = c.vector(order[i.value]); });
  v16 sums[Rows][Count] = {};
  auto step = [&](const auto &load) {
    v16 columns[Count];
    unroll<0, Count>([&](auto i) { columns[i.value] = load(x[i.value]); });
    unroll<0, Rows>([&](auto r) {
      v16 v = load(w + r.value * c.depth);
      unroll<0, Count>([&](auto i) { sums[r.value][i.value] = multiplyAdd(v, columns[i.value], sums[r.value][i.value]); });
    });
  };
  int64_t k = 0;
  for (; k + kLanes <= c.depth; k += kLanes)
    step([=](const float *from) { return *(const v16 *)(from + k); });
  if (int64_t rest = c.depth - k)
    step([=](const float *from) {
      v16 v = v16(0);
      memcpy(&v, from + k, size_t(rest) * sizeof(float));
      return v;
    });
  unroll<0, Count>(
      [&](auto i) { unroll<0, Rows>([&](auto r) { c.out[order[i.value] * c.results + row + r.value] = sumOf(sums[r.value][i.value]); }); });
}

template <int Rows, int Count>
void dotUnit(const Choice &c, int64_t begin, int64_t end) {
  forRuns<Count>(c, [&](auto count, const int64_t *order) {
    int64_t row = begin;
    for (; row + Rows <= end; row += Rows)
      dots<Rows, count.value>(c, order, row);
    for (; row < end; ++row)
      dots<1, count.value>(c, order, row);
  });
}

// The results from `column` on in `Vectors` vectors: columns of a matrix, whose rows are added up.
template <int Vectors, int Count>
ONNXC_INLINE void sums(const Choice &c, const int64_t *order, int64_t column) {
  const float *w = c.matrix(order[0]) + column, *x[Count];
  unroll<0, Count>([&](auto i) { x[i.value] = c.vector(order[i.value]); });
  v16 sums[Vectors][Count] = {};
  for (int64_t k = 0; k < c.depth; ++k, w += c.results)
    unroll<0, Vectors>([&](auto v) {
      v16 row = *(const v16 *)(w + v.value * kLanes);
      unroll<0, Count>([&](auto i) { sums[v.value][i.value] = multiplyAdd(row, v16(x[i.value][k]), sums[v.value][i.value]); });
    });
  unroll<0, Count>([&](auto i) {
    float *to = c.out + order[i.value] * c.results + column;
    unroll<0, Vectors>([&](auto v) { *(v16 *)(to + v.value * kLanes) = sums[v.value][i.value]; });
  });
}

template <int Vectors, int Count>
void sumUnit(const Choice &c, int64_t begin, int64_t end) {
  forRuns<Count>(c, [&](auto count, const int64_t *order) {
    int64_t column = begin;
    for (; column + Vectors * kLanes <= end; column += Vectors * kLanes)
      sums<Vectors, count.value>(c, order, column);
    for (; column + kLanes <= end; column += kLanes)
      sums<1, count.value>(c, order, column);
    for (; column < end; ++column)
      unroll<0, count.value>([&](auto i) {
        const float *w = c.matrix(order[0]) + column, *x = c.vector(order[i.value]);
        float sum = 0;
        for (int64_t k = 0; k < c.depth; ++k)
          sum = multiplyAdd(w[k * c.results], x[k], sum);
        c.out[order[i.value] * c.results + column] = sum;
      });
  });
}

// Fills `order` with the numbers of `count` vectors by their matrices. `ends`: zeros, one for each matrix.
void orderByMatrix(const int64_t *chosen, int64_t count, int64_t matrices, int64_t *ends, int64_t *order) {
  for (int64_t i = 0; i < count; ++i)
    ++ends[chosen[i]];
  for (int64_t m = 1; m < matrices; ++m)
    ends[m] += ends[m - 1];
  for (int64_t i = count; i-- > 0;)
    order[--ends[chosen[i]]] = i;
}

int32_t gatherProduct(const onnxc_args *a) {  // attributes: transW
  const onnxc_tensor &w = a->in[0], &indices = a->in[1], &x = a->in[2];
  bool turned = a->attr[0].i;
  int64_t n = onnxc_count(indices);
  ONNXC_CHECK(w.rank == 3 && x.rank == 3 && x.dims[turned ? 2 : 1] == 1, ONNXC_K_SHAPE);
  int64_t matrices = w.dims[0], depth = w.dims[turned ? 2 : 1], results = w.dims[turned ? 1 : 2], count = n == 1 ? x.dims[0] : n;
  ONNXC_CHECK(x.dims[turned ? 1 : 2] == depth, ONNXC_K_SHAPE);
  if (x.dims[0] != count && x.dims[0] != 1)
    return onnxc_rt_blame(a->rt, ONNXC_K_SHAPE, n, x.dims[0]);
  ONNXC_CHECK(onnxc_count(a->out[0]) == count * results, ONNXC_K_SHAPE);
  bool inOrder = matrices <= 4 * count;  // else most are chosen once, and it takes longer to count them
  int64_t *chosen = heap<int64_t>(a, 2 * count + (inOrder ? matrices : 0)), *order = chosen + count;
  ONNXC_CHECK(chosen, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < count; ++i) {
    chosen[i] = loadI64(indices, n == 1 ? 0 : i), order[i] = i;
    ONNXC_TRY(fixIndex(a, chosen[i], matrices));
  }
  if (inOrder)
    orderByMatrix(chosen, count, matrices, order + count, order);
  const Choice c{data<float>(w), data<float>(x), mutableData<float>(a->out[0]), count, depth, results, x.dims[0] == 1 ? 0 : depth,
                 order,          chosen};
  int64_t width = turned ? kMatrixRows : kColumns;
  return parallelFor(a, (results + width - 1) / width, grainOf(count * depth * width / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u) {
      int64_t first = u * width, last = minOf(first + width, results);
      if (onnxc_vector_bits >= 512)
        turned ? dotUnit<4, 4>(c, first, last) : sumUnit<4, 4>(c, first, last);
      else
        turned ? dotUnit<2, 2>(c, first, last) : sumUnit<2, 2>(c, first, last);
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastGatherProduct(const onnxc_args *a) { return onnxc::gatherProduct(a); }
