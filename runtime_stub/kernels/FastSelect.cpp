// FastSelect.cpp: TopK, ArgMax, ArgMin and Hardmax of f32: values become integers of the same order, whole vectors are passed over with one
// test. Oracle: Select.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
extern "C" int32_t onnxc_s_TopK_f32(const onnxc_args *a);  // Select.cpp

namespace onnxc {
namespace {

// The order of floats as that of integers: -0 equals 0, every NaN is one greatest value. `flip` (0 or -1) turns the order round.
ONNXC_INLINE v16i keysOf(v16 x, int32_t flip) {
  v16i bits = __builtin_bit_cast(v16i, x + 0.0f);
  v16i key = bits ^ ((bits >> 31) & 0x7fffffff);
  return (x == x ? key : v16i(0x7fffffff)) ^ flip;
}

// The same of one value, never the least integer.
ONNXC_INLINE int32_t keyOf(float v, int32_t flip) {
  int32_t bits = __builtin_bit_cast(int32_t, v + 0.0f), key = v == v ? bits ^ ((bits >> 31) & 0x7fffffff) : 0x7fffffff;
  return maxOf(key ^ flip, INT32_MIN + 1);
}

constexpr int64_t kShort = 32;  // elements of a row that is quicker as a column among 64 than by itself

// An entry orders by its key, then by a lower index.
ONNXC_INLINE uint64_t entryOf(int32_t key, int64_t index) {
  return uint64_t(uint32_t(key) ^ 0x80000000u) << 32 | (0xffffffffu - uint32_t(index));
}
ONNXC_INLINE int64_t indexOf(uint64_t entry) { return 0xffffffffu - uint32_t(entry); }

// Lets `value` sink from the top of a heap with the least entry on top.
ONNXC_INLINE void sink(uint64_t *heap, int64_t at, int64_t size, uint64_t value) {
  for (int64_t child; (child = 2 * at + 1) < size; at = child) {
    child += child + 1 < size && heap[child + 1] < heap[child];
    if (value <= heap[child])
      break;
    heap[at] = heap[child];
  }
  heap[at] = value;
}

// The k greatest of n keys (padded to whole vectors), best first, in `heap`.
void selectKeys(const int32_t *key, int64_t n, int64_t k, uint64_t *heap) {
  for (int64_t i = 0; i < k; ++i)
    heap[i] = entryOf(key[i], i);
  for (int64_t i = k / 2; i-- > 0;)
    sink(heap, i, k, heap[i]);
  for (int64_t i = k / 16 * 16; i < n; i += 16) {
    int32_t worst = int32_t(uint32_t(heap[0] >> 32) ^ 0x80000000u);
    if (!__builtin_reduce_or(*(const v16i *)(key + i) > v16i(worst)))
      continue;
    for (int64_t j = i < k ? k : i; j < i + 16 && j < n; ++j) {
      uint64_t entry = entryOf(key[j], j);
      if (entry > heap[0])
        sink(heap, 0, k, entry);
    }
  }
  for (int64_t size = k; size > 1; --size) {
    uint64_t worst = heap[0];
    sink(heap, 0, size - 1, heap[size - 1]);
    heap[size - 1] = worst;
  }
}

// Keys of a strided row; what is past its end is never better than anything.
void loadKeys(const float *row, int64_t stride, int64_t n, int32_t flip, int32_t *key) {
  int64_t i = 0;
  for (; stride == 1 && i + 16 <= n; i += 16)
    *(v16i *)(key + i) = keysOf(*(const v16 *)(row + i), flip);
  for (; i < n; i += 16) {
    v16 part = v16(0.0f);
    for (int64_t j = i; j < n && j < i + 16; ++j)
      part[j - i] = row[j * stride];
    *(v16i *)(key + i) = keysOf(part, flip);
  }
  for (int64_t j = n; j < i; ++j)
    key[j] = INT32_MIN;
}

// The k best of each of `count` <= 64 contiguous rows of `dim` <= kShort, best first; `values` and `indices` may be null.
void topOfRows(const float *x, int64_t dim, int64_t count, int32_t flip, int64_t k, float *values, int64_t *indices) {
  int32_t key[kShort * 64], best[64], where[64];
  memset(key, 0, size_t(dim) * 64 * sizeof(int32_t));
  for (int64_t d = 0; d < dim; ++d)
    for (int64_t r = 0; r < count; ++r)
      key[d * 64 + r] = keyOf(x[r * dim + d], flip);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t r = 0; r < 64; ++r)
      best[r] = INT32_MIN, where[r] = 0;
    for (int64_t d = 0; d < dim; ++d)
      for (int64_t r = 0; r < 64; ++r) {
        bool better = key[d * 64 + r] > best[r];
        best[r] = better ? key[d * 64 + r] : best[r];
        where[r] = better ? int32_t(d) : where[r];
      }
    for (int64_t r = 0; r < count; ++r) {
      key[where[r] * 64 + r] = INT32_MIN;  // taken
      if (values)
        values[r * k + j] = x[r * dim + where[r]];
      if (indices)
        indices[r * k + j] = where[r];
    }
  }
}

int32_t topK(const onnxc_args *a) {  // attributes: axis, largest
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  int32_t flip = a->attr[1].i ? 0 : -1;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  int64_t k = a->out[hasOutput(a, 1) ? 1 : 0].dims[axis], padded = (s.dim + 15) / 16 * 16;
  ONNXC_CHECK(k <= s.dim && s.dim < int64_t(1) << 32, ONNXC_K_SIZE);
  if (!k)
    return ONNXC_K_OK;
  float *values = hasOutput(a, 0) ? mutableData<float>(a->out[0]) : nullptr;
  int64_t *indices = hasOutput(a, 1) ? mutableData<int64_t>(a->out[1]) : nullptr;
  const float *x = data<float>(in);
  if (s.inner == 1 && s.dim <= kShort && k <= 8)  // a heap is quicker for more
    return parallelFor(a, (s.outer + 63) / 64, grainOf(s.dim * k * 64), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin * 64; r < minOf(end * 64, s.outer); r += 64)
        topOfRows(x + r * s.dim, s.dim, minOf<int64_t>(64, s.outer - r), flip, k, values ? values + r * k : nullptr,
                  indices ? indices + r * k : nullptr);
      return int32_t(ONNXC_K_OK);
    });
  return parallelScratchFor(a, s.outer * s.inner, grainOf(s.dim * 2), k * 8 + padded * 4 + 64,
                            [=](void *scratch, int64_t begin, int64_t end) {
                              uint64_t *heap = static_cast<uint64_t *>(scratch);
                              int32_t *key = static_cast<int32_t *>(scratch) + 2 * k;
                              for (int64_t r = begin; r < end; ++r) {
                                int64_t o = r / s.inner, i = r % s.inner;
                                const float *row = x + o * s.dim * s.inner + i;
                                loadKeys(row, s.inner, s.dim, flip, key);
                                selectKeys(key, s.dim, k, heap);
                                for (int64_t j = 0; j < k; ++j) {
                                  int64_t at = (o * k + j) * s.inner + i, from = indexOf(heap[j]);
                                  if (values)
                                    values[at] = row[from * s.inner];
                                  if (indices)
                                    indices[at] = from;
                                }
                              }
                              return int32_t(ONNXC_K_OK);
                            });
}

// The first (last) greatest key of a contiguous row.
ONNXC_INLINE int64_t bestOfRow(const float *row, int64_t n, float sign, bool last) {
  v16i best = keysOf(sign * v16(row[0]), 0), where = v16i(0);
  const v16i lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    v16i key = keysOf(sign * *(const v16 *)(row + i), 0);
    auto better = last ? key >= best : key > best;
    best = better ? key : best;
    where = better ? lane + int32_t(i) : where;
  }
  int32_t top = __builtin_reduce_max(best);
  int32_t at = last ? __builtin_reduce_max(best == top ? where : v16i(-1)) : __builtin_reduce_min(best == top ? where : v16i(INT32_MAX));
  for (; i < n; ++i) {
    int32_t key = keysOf(sign * v16(row[i]), 0)[0];
    if (last ? key >= top : key > top)
      top = key, at = int32_t(i);
  }
  return at;
}

// The same along `dim` for `width` <= 64 neighbouring columns.
ONNXC_INLINE void bestOfColumns(const float *x, int64_t dim, int64_t stride, int64_t width, float sign, bool last, int64_t *to) {
  int32_t best[64], where[64];
  for (int64_t d = 0; d < dim; ++d, x += stride)
    for (int64_t c = 0; c < width; ++c) {
      int32_t key = keyOf(sign * x[c], 0);
      bool better = (d == 0) | (last ? key >= best[c] : key > best[c]);
      best[c] = better ? key : best[c];
      where[c] = better ? int32_t(d) : where[c];
    }
  for (int64_t c = 0; c < width; ++c)
    to[c] = where[c];
}

// The same for `count` <= 64 contiguous rows of `dim` <= kShort.
ONNXC_INLINE void bestOfRows(const float *x, int64_t dim, int64_t count, float sign, bool last, int64_t *to) {
  float columns[kShort * 64];
  for (int64_t d = 0; d < dim; ++d)
    for (int64_t r = 0; r < count; ++r)
      columns[d * 64 + r] = x[r * dim + d];
  bestOfColumns(columns, dim, 64, count, sign, last, to);
}

// give(first, count, best): where the best of the results [first, first + count) are along the axis, up to 64 of them that are neighbours.
// NaN is the best for both orders.
template <class Give>
ONNXC_INLINE int32_t eachBest(const onnxc_args *a, const Axis3 &s, float sign, bool last, const Give &give) {
  ONNXC_CHECK((s.dim > 0 && s.dim <= INT32_MAX) || s.outer * s.inner == 0, ONNXC_K_SIZE);
  const float *x = data<float>(a->in[0]);
  int64_t blocks = (s.inner + 63) / 64;
  if (s.inner == 1 && s.dim <= kShort)
    return parallelFor(a, (s.outer + 63) / 64, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
      int64_t best[64];
      for (int64_t r = begin * 64; r < minOf(end * 64, s.outer); r += 64) {
        int64_t count = minOf<int64_t>(64, s.outer - r);
        bestOfRows(x + r * s.dim, s.dim, count, sign, last, best);
        give(r, count, best);
      }
      return int32_t(ONNXC_K_OK);
    });
  if (s.inner == 1)
    return parallelFor(a, s.outer, grainOf(s.dim), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t best = bestOfRow(x + r * s.dim, s.dim, sign, last);
        give(r, 1, &best);
      }
      return int32_t(ONNXC_K_OK);
    });
  return parallelFor(a, s.outer * blocks, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
    int64_t best[64];
    for (int64_t r = begin; r < end; ++r) {
      int64_t o = r / blocks, c = r % blocks * 64, count = minOf<int64_t>(64, s.inner - c);
      bestOfColumns(x + o * s.dim * s.inner + c, s.dim, s.inner, count, sign, last, best);
      give(o * s.inner + c, count, best);
    }
    return int32_t(ONNXC_K_OK);
  });
}

int32_t argBest(const onnxc_args *a, bool greatest) {  // attributes: axis, select_last_index
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_SHAPE);
  int64_t *to = mutableData<int64_t>(a->out[0]);
  return eachBest(a, splitAt(a->in[0], axis), greatest ? 1 : -1, a->attr[1].i != 0,
                  [=](int64_t first, int64_t count, const int64_t *best) { memcpy(to + first, best, size_t(count) * sizeof(int64_t)); });
}

int32_t hardmax(const onnxc_args *a) {  // attributes: axis
  int64_t axis = a->attr[0].i;
  ONNXC_CHECK(fixAxis(axis, a->in[0].rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(a->in[0], axis);
  if (s.dim == 0)
    return ONNXC_K_OK;
  float *to = mutableData<float>(a->out[0]);
  return eachBest(a, s, 1, false, [=](int64_t first, int64_t count, const int64_t *best) {
    float *from = to + first / s.inner * s.dim * s.inner + first % s.inner;
    int64_t step = s.inner == 1 ? s.dim : 1;  // from one result's elements to the next one's
    if (s.inner == 1)
      memset(from, 0, size_t(count * s.dim) * sizeof(float));
    for (int64_t d = 0; d < s.dim && s.inner > 1; ++d)
      memset(from + d * s.inner, 0, size_t(count) * sizeof(float));
    for (int64_t i = 0; i < count; ++i)
      from[i * step + best[i] * s.inner] = 1;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_s_FastTopK(const onnxc_args *a) { return onnxc_s_TopK_f32(a); }
extern "C" int32_t onnxc_k_FastTopK(const onnxc_args *a) { return onnxc::topK(a); }
extern "C" int32_t onnxc_k_FastArgMax(const onnxc_args *a) { return onnxc::argBest(a, true); }
extern "C" int32_t onnxc_k_FastArgMin(const onnxc_args *a) { return onnxc::argBest(a, false); }
extern "C" int32_t onnxc_k_FastHardmax(const onnxc_args *a) { return onnxc::hardmax(a); }
