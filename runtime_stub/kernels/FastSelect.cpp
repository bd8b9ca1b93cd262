// FastSelect.cpp: TopK, ArgMax, ArgMin and Hardmax of f32: values become integers of the same order, whole vectors are passed over with one
// test. Oracle: Select.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Sort.h"
extern "C" int32_t onnxc_s_TopK_f32(const onnxc_args *a);  // Select.cpp

namespace onnxc {
namespace {

// The order of floats as that of integers: -0 equals 0, every NaN is one greatest value. `flip` (0 or -1) turns the order round.
ONNXC_INLINE i32x16 keysOf(v16 x, int32_t flip) {
  i32x16 bits = __builtin_bit_cast(i32x16, x + 0.0f);
  i32x16 key = bits ^ ((bits >> 31) & 0x7fffffff);
  return (x == x ? key : i32x16(0x7fffffff)) ^ flip;
}

// The same of one value, never the least integer.
ONNXC_INLINE int32_t keyOf(float v, int32_t flip) {
  int32_t bits = __builtin_bit_cast(int32_t, v + 0.0f), key = v == v ? bits ^ ((bits >> 31) & 0x7fffffff) : 0x7fffffff;
  return maxOf(key ^ flip, INT32_MIN + 1);
}

constexpr int64_t kShort = 32;   // elements of a row whose best is found quicker as a column among 64 than by itself
constexpr int64_t kFew = 6;      // columns that are taken together with those of other rows
constexpr int64_t kColumn = 64;  // the most elements of one whose best few are

ONNXC_INLINE int64_t roundUp(int64_t keys) { return (keys + 63) / 64 * 64; }

// An entry orders by its key, then by a lower index.
ONNXC_INLINE uint64_t entryOf(int32_t key, int64_t index) {
  return uint64_t(uint32_t(key) ^ 0x80000000u) << 32 | (0xffffffffu - uint32_t(index));
}
ONNXC_INLINE int32_t indexOf(uint64_t entry) { return int32_t(0xffffffffu - uint32_t(entry)); }

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

// Three ways to find the k greatest of n keys, padded to a multiple of 64 by the least ones, and to write their places to `order`, best
// first, equal ones in order. This one keeps them in a heap.
void selectByHeap(const int32_t *key, int64_t n, int64_t k, uint64_t *heap, int32_t *order) {
  for (int64_t i = 0; i < k; ++i)
    heap[i] = entryOf(key[i], i);
  for (int64_t i = k / 2; i-- > 0;)
    sink(heap, i, k, heap[i]);
  for (int64_t i = k / 16 * 16; i < n; i += 16) {
    int32_t worst = int32_t(uint32_t(heap[0] >> 32) ^ 0x80000000u);
    if (!__builtin_reduce_or(*(const i32x16 *)(key + i) > i32x16(worst)))
      continue;
    for (int64_t j = i < k ? k : i; j < i + 16 && j < n; ++j) {
      uint64_t entry = entryOf(key[j], j);
      if (entry > heap[0])
        sink(heap, 0, k, entry);
    }
  }
  for (int64_t size = k; size > 0; --size) {
    order[size - 1] = indexOf(heap[0]);
    sink(heap, 0, size - 1, heap[size - 1]);
  }
}

// A key's place is the number of better ones. Four vectors of keys meet each of the others.
void selectByCount(const int32_t *key, int64_t n, int32_t *order) {
  const i32x16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int64_t b = 0; b < n; b += 64) {
    i32x16 mine[4], better[4];
    unroll<0, 4>([&](auto i) { mine[i.value] = *(const i32x16 *)(key + b + 16 * i.value), better[i.value] = i32x16(0); });
    for (int64_t j = 0; j < b; ++j)
      unroll<0, 4>([&](auto i) { better[i.value] -= i32x16(key[j]) >= mine[i.value]; });
    unroll<0, 4>([&](auto own) {
      for (int32_t l = 0; l < 16; ++l) {
        i32x16 other = i32x16(key[b + 16 * own.value + l]);
        unroll<0, 4>([&](auto i) {
          if constexpr (i.value < own.value)
            better[i.value] -= other > mine[i.value];
          else if constexpr (i.value > own.value)
            better[i.value] -= other >= mine[i.value];
          else
            better[i.value] -= (other > mine[i.value]) | ((other == mine[i.value]) & (lane > l));
        });
      }
    });
    for (int64_t j = b + 64; j < n; ++j)
      unroll<0, 4>([&](auto i) { better[i.value] -= i32x16(key[j]) > mine[i.value]; });
    int32_t place[64];
    unroll<0, 4>([&](auto i) { *(i32x16 *)(place + 16 * i.value) = better[i.value]; });
    for (int64_t i = b; i < b + 64 && i < n; ++i)
      order[place[i - b]] = int32_t(i);
  }
}

// The range of the keys is cut into kBuckets equal parts. Sorts what lies in the same part as the least of the k greatest or in a higher
// one; false where that is more than `most`, for which items and other have room.
bool selectBySort(const int32_t *key, int64_t n, int64_t k, int64_t most, Keyed *items, Keyed *other, int32_t *order) {
  constexpr int kBuckets = 2048;
  i32x16 low = i32x16(key[0]), high = low;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    i32x16 v = *(const i32x16 *)(key + i);
    low = v < low ? v : low, high = v > high ? v : high;
  }
  int32_t least = __builtin_reduce_min(low), greatest = __builtin_reduce_max(high);
  for (; i < n; ++i)
    least = minOf(least, key[i]), greatest = maxOf(greatest, key[i]);
  uint32_t last = uint32_t(greatest) - uint32_t(least);  // how far behind the greatest what is sorted lies at most
  if (k < n) {
    uint32_t count[2][kBuckets] = {};  // two, so that equal keys do not wait for one another
    int shift = 0;
    while (last >> shift >= kBuckets)
      ++shift;
    for (int64_t j = 0; j < n; ++j)
      ++count[j & 1][(uint32_t(greatest) - uint32_t(key[j])) >> shift];
    int64_t have = 0;
    uint32_t bucket = 0;
    for (; have < k; ++bucket)
      have += count[0][bucket] + count[1][bucket];
    if (have > most)
      return false;
    last = uint32_t((uint64_t(bucket) << shift) - 1);
  }
  int64_t have = 0;
  for (int64_t j = 0; j < n; j += 16) {
    u32x16 behind = uint32_t(greatest) - *(const u32x16 *)(key + j);
    if (!__builtin_reduce_or(behind <= last))
      continue;
    for (int64_t l = j; l < j + 16 && l < n; ++l)
      if (uint32_t(greatest) - uint32_t(key[l]) <= last)
        items[have++] = {uint32_t(greatest) - uint32_t(key[l]), l};
  }
  const Keyed *sorted = sortKeyed(items, other, have);
  for (int64_t j = 0; j < k; ++j)
    order[j] = int32_t(sorted[j].index);
  return true;
}

enum Way { Heap, Count, Sort };
struct Plan {
  Way way;
  int64_t ns;
};
// The way that takes the least, in ns on a Zen 4: a heap has ceil(log2 k) levels and takes in about k numbers for each doubling of k to n.
inline Plan planFor(int64_t n, int64_t k) {
  int64_t levels = 0, doublings = 0;
  while (int64_t(1) << levels < k)
    ++levels;
  while (n >> doublings > k)
    ++doublings;
  int64_t heap = k * levels * (15 + 6 * doublings) / 5 + n / 8 + 10, count = maxOf<int64_t>(n, 64) * roundUp(n) / 25 + 60,
          sort = 1500 + (k < n ? n * 3 / 2 : 0) + 8 * minOf(2 * k, n);
  return heap <= count && heap <= sort ? Plan{Heap, heap} : count < sort ? Plan{Count, count} : Plan{Sort, sort};
}

// Keys of a strided row; what is past its end is never better than anything.
void loadKeys(const float *row, int64_t stride, int64_t n, int32_t flip, int32_t *key) {
  int64_t i = 0;
  for (; stride == 1 && i + 16 <= n; i += 16)
    *(i32x16 *)(key + i) = keysOf(*(const v16 *)(row + i), flip);
  for (; i < n; i += 16) {
    v16 part = v16(0.0f);
    for (int64_t j = i; j < n && j < i + 16; ++j)
      part[j - i] = row[j * stride];
    *(i32x16 *)(key + i) = keysOf(part, flip);
  }
  for (int64_t j = n; j < roundUp(n); ++j)
    key[j] = INT32_MIN;
}

// Up to 64 neighbouring results along an axis of which `kept` elements are left: where the first element of each lies in the operand and in
// the result. Those past `count` repeat the first.
struct Results {
  int64_t count, at[64], to[64];

  Results(const Axis3 &s, int64_t first, int64_t kept) : count(minOf<int64_t>(64, s.outer * s.inner - first)) {
    int64_t o = first / s.inner, i = first % s.inner;
    for (int64_t r = 0; r < 64; ++r) {
      at[r] = r < count ? o * s.dim * s.inner + i : at[0];
      to[r] = o * kept * s.inner + i;
      o += i + 1 == s.inner;
      i = i + 1 == s.inner ? 0 : i + 1;
    }
  }
  bool areNeighbours() const { return at[63] == at[0] + 63; }
};

// The k best along an axis of at most kColumn elements, best first; `values` and `indices` may be null.
void topOfResults(const float *x, const Axis3 &s, const Results &results, int32_t flip, int64_t k, float *values, int64_t *indices) {
  int32_t key[kColumn * 64], best[64], where[64];
  const float *first = x + results.at[0];
  for (int64_t d = 0; d < s.dim; ++d)
    if (results.areNeighbours())
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = keyOf(first[d * s.inner + r], flip);
    else if (s.inner == 1)
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = r < results.count ? keyOf(first[r * s.dim + d], flip) : 0;
    else
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = keyOf(x[results.at[r] + d * s.inner], flip);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t r = 0; r < 64; ++r)
      best[r] = INT32_MIN, where[r] = 0;
    for (int64_t d = 0; d < s.dim; ++d)
      for (int64_t r = 0; r < 64; ++r) {
        bool better = key[d * 64 + r] > best[r];
        best[r] = better ? key[d * 64 + r] : best[r];
        where[r] = better ? int32_t(d) : where[r];
      }
    for (int64_t r = 0; r < results.count; ++r) {
      key[where[r] * 64 + r] = INT32_MIN;  // taken
      int64_t to = results.to[r] + j * s.inner;
      if (values)
        values[to] = x[results.at[r] + where[r] * s.inner];
      if (indices)
        indices[to] = where[r];
    }
  }
}

int32_t topK(const onnxc_args *a) {  // attributes: axis, largest
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  int32_t flip = a->attr[1].i ? 0 : -1;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  int64_t k = a->out[hasOut(a, 1) ? 1 : 0].dims[axis], padded = roundUp(s.dim);
  ONNXC_CHECK(k <= s.dim && s.dim < int64_t(1) << 31, ONNXC_K_SIZE);
  if (!k)
    return ONNXC_K_OK;
  float *values = hasOut(a, 0) ? mutableData<float>(a->out[0]) : nullptr;
  int64_t *indices = hasOut(a, 1) ? mutableData<int64_t>(a->out[1]) : nullptr;
  const float *x = data<float>(in);
  const Plan plan = planFor(s.dim, k);
  int64_t blocks = (s.outer * s.inner + 63) / 64;
  if (s.dim <= kColumn && blocks * 16 * s.dim * k < s.outer * s.inner * plan.ns)
    return parallelFor(a, blocks, grainOf(s.dim * k * 64), [=](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        topOfResults(x, s, Results(s, b * 64, k), flip, k, values, indices);
      return int32_t(ONNXC_K_OK);
    });
  int64_t most = minOf(s.dim, 2 * k + 512), room = plan.way == Sort ? 2 * most * int64_t(sizeof(Keyed)) : k * 8;
  return parallelScratchFor(a, s.outer * s.inner, grainOf(s.dim * 2), room + 2 * padded * 4 + 64,
                            [=](void *scratch, int64_t begin, int64_t end) {
                              Keyed *items = static_cast<Keyed *>(scratch);
                              int32_t *key = reinterpret_cast<int32_t *>(static_cast<char *>(scratch) + room), *order = key + padded;
                              for (int64_t r = begin; r < end; ++r) {
                                int64_t o = r / s.inner, i = r % s.inner;
                                const float *row = x + o * s.dim * s.inner + i;
                                loadKeys(row, s.inner, s.dim, flip, key);
                                if (plan.way == Count)
                                  selectByCount(key, s.dim, order);
                                else if (plan.way == Heap || !selectBySort(key, s.dim, k, most, items, items + most, order))
                                  selectByHeap(key, s.dim, k, static_cast<uint64_t *>(scratch), order);
                                for (int64_t j = 0; j < k; ++j) {
                                  int64_t at = (o * k + j) * s.inner + i, from = order[j];
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
  i32x16 best = keysOf(sign * v16(row[0]), 0), where = i32x16(0);
  const i32x16 lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    i32x16 key = keysOf(sign * *(const v16 *)(row + i), 0);
    auto better = last ? key >= best : key > best;
    best = better ? key : best;
    where = better ? lane + int32_t(i) : where;
  }
  int32_t top = __builtin_reduce_max(best);
  int32_t at =
      last ? __builtin_reduce_max(best == top ? where : i32x16(-1)) : __builtin_reduce_min(best == top ? where : i32x16(INT32_MAX));
  for (; i < n; ++i) {
    int32_t key = keysOf(sign * v16(row[i]), 0)[0];
    if (last ? key >= top : key > top)
      top = key, at = int32_t(i);
  }
  return at;
}

// The same along `dim` for `width` <= 64 columns, of which at(c) is where column c begins.
template <class At>
ONNXC_INLINE void bestOfEach(const float *x, int64_t dim, int64_t stride, int64_t width, float sign, bool last, int64_t *to, const At &at) {
  int32_t best[64], where[64];
  for (int64_t d = 0; d < dim; ++d, x += stride)
    for (int64_t c = 0; c < width; ++c) {
      int32_t key = keyOf(sign * x[at(c)], 0);
      bool better = (d == 0) | (last ? key >= best[c] : key > best[c]);
      best[c] = better ? key : best[c];
      where[c] = better ? int32_t(d) : where[c];
    }
  for (int64_t c = 0; c < width; ++c)
    to[c] = where[c];
}

// The same where the columns are neighbours.
ONNXC_INLINE void bestOfColumns(const float *x, int64_t dim, int64_t stride, int64_t width, float sign, bool last, int64_t *to) {
  bestOfEach(x, dim, stride, width, sign, last, to, [](int64_t c) { return c; });
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
  if (s.inner <= kFew)
    return parallelFor(a, (s.outer * s.inner + 63) / 64, grainOf(s.dim * 64), [=](int64_t begin, int64_t end) {
      int64_t best[64];
      for (int64_t b = begin; b < end; ++b) {
        Results results(s, b * 64, 1);
        bestOfEach(x, s.dim, s.inner, 64, sign, last, best, [&](int64_t r) { return results.at[r]; });
        give(b * 64, results.count, best);
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
  memset(to, 0, size_t(s.outer * s.dim * s.inner) * sizeof(float));
  return eachBest(a, s, 1, false, [=](int64_t first, int64_t count, const int64_t *best) {
    for (int64_t i = 0; i < count; ++i)
      to[((first + i) / s.inner * s.dim + best[i]) * s.inner + (first + i) % s.inner] = 1;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_s_FastTopK(const onnxc_args *a) { return onnxc_s_TopK_f32(a); }
extern "C" int32_t onnxc_k_FastTopK(const onnxc_args *a) { return onnxc::topK(a); }
extern "C" int32_t onnxc_k_FastArgMax(const onnxc_args *a) { return onnxc::argBest(a, true); }
extern "C" int32_t onnxc_k_FastArgMin(const onnxc_args *a) { return onnxc::argBest(a, false); }
extern "C" int32_t onnxc_k_FastHardmax(const onnxc_args *a) { return onnxc::hardmax(a); }
