// TfIdf.cpp: TfIdfVectorizer: counts n-grams (with skips) of a pool through a hash table, which the compiler packed (PackedPool.h) or which
// is built for the run.
#include "runtime_stub/kernels/PackedPool.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

enum { MaxLength, MaxSkip, MinLength, Mode, Counts, Indexes, PoolInts, PoolStrings, Weights, Packed };

ONNXC_INLINE uint64_t hashItem(int64_t v) { return mix(uint64_t(v)); }
ONNXC_INLINE uint64_t hashItem(Str v) { return hash(v); }
ONNXC_INLINE bool same(int64_t x, int64_t y) { return x == y; }
ONNXC_INLINE bool same(Str x, Str y) { return equal(x, y); }

template <class Item>
struct Pool {
  const Item *items;
  const Gram *grams;
  const int32_t *slot;
  int64_t mask, count;

  int32_t read(const Args *a, const Item *pool, int64_t size) {
    items = pool;
    return given(a->attr[Packed]) ? open(a) : build(a, size);
  }
  int32_t open(const Args *a) {
    const int32_t *words = static_cast<const int32_t *>(static_cast<const Tensor *>(a->attr[Packed].p)->data);
    mask = reinterpret_cast<const PoolHeader *>(words)->mask, count = reinterpret_cast<const PoolHeader *>(words)->grams;
    slot = words + sizeof(PoolHeader) / 4;
    grams = reinterpret_cast<const Gram *>(slot + mask + 1);
    return ONNXC_K_OK;
  }
  // Grams of one length follow each other in the pool; Counts says where each length starts.
  int32_t build(const Args *a, int64_t size) {
    int64_t lengths = a->attr[Counts].n, number = 0, most = a->attr[Indexes].n;
    for (mask = 1; mask < 2 * most + 2;)
      mask *= 2;
    Gram *list = heap<Gram>(a, most);
    int32_t *table = heap<int32_t>(a, mask--);
    if (!list || !table || size > INT32_MAX)
      return ONNXC_K_MEMORY;
    grams = list, slot = table;
    for (int64_t l = 0; l < lengths; ++l) {
      int64_t from = ints(a->attr[Counts])[l], to = l + 1 < lengths ? ints(a->attr[Counts])[l + 1] : size;
      if (from < 0 || to < from || to > size || (to - from) % (l + 1))
        return ONNXC_K_VALUE;
      for (int64_t start = from; start < to; start += l + 1) {
        int64_t column = number < most ? ints(a->attr[Indexes])[number] : -1;
        if (column < 0 || column > INT32_MAX)
          return ONNXC_K_VALUE;
        list[number] = {int32_t(start), int32_t(l + 1), int32_t(column)};
        insert(table, number++);
      }
    }
    count = number;
    return ONNXC_K_OK;
  }
  void insert(int32_t *table, int64_t number) {
    const Gram &g = grams[number];
    uint64_t h = gramSeed(g.length);
    for (int64_t i = 0; i < g.length; ++i)
      h = gramExtend(h, hashItem(items[g.start + i]));
    int64_t s = int64_t(h) & mask;
    while (slot[s])
      s = (s + 1) & mask;
    table[s] = int32_t(number + 1);
  }
  template <class Get>
  const Gram *find(uint64_t h, int64_t length, Get get) const {
    for (int64_t s = int64_t(h) & mask; slot[s]; s = (s + 1) & mask) {
      const Gram &g = grams[slot[s] - 1];
      bool match = g.length == length;
      for (int64_t i = 0; match && i < length; ++i)
        match = same(items[g.start + i], get(i));
      if (match)
        return &g;
    }
    return nullptr;
  }
};

template <class Item, class Get>
int32_t countRow(const Args *a, const Pool<Item> &pool, Get get, int64_t n, float *row, int64_t columns) {
  int64_t least = a->attr[MinLength].i, most = a->attr[MaxLength].i;
  int64_t steps = minOf<int64_t>(a->attr[MaxSkip].i, n) + 1;  // two items are less than n apart
  for (int64_t step = 1; step <= steps; ++step)
    for (int64_t length = least; length <= most; ++length) {
      if (length == 1 && step > 1)
        continue;  // a single item has no skips
      for (int64_t start = 0; start + (length - 1) * step < n; ++start) {
        uint64_t h = gramSeed(length);
        for (int64_t i = 0; i < length; ++i)
          h = gramExtend(h, hashItem(get(start + i * step)));
        const Gram *g = pool.find(h, length, [&](int64_t i) { return get(start + i * step); });
        if (!g)
          continue;
        if (g->column < 0 || g->column >= columns)
          return ONNXC_K_VALUE;
        row[g->column] += 1;
      }
      if ((length - 1) * step >= n)
        break;
    }
  return ONNXC_K_OK;
}

// Weights are listed by gram of the pool; `scale` has them by column.
template <class Item>
int32_t placeWeights(const Args *a, const Pool<Item> &pool, float *scale, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c)
    scale[c] = 1;
  for (int64_t i = 0; i < minOf(pool.count, a->attr[Weights].n); ++i) {
    if (pool.grams[i].column >= columns)
      return ONNXC_K_VALUE;
    scale[pool.grams[i].column] = floats(a->attr[Weights])[i];
  }
  return ONNXC_K_OK;
}

template <class Item, class Get>
int32_t vectorise(const Args *a, const Item *items, int64_t size, Get get) {
  const Tensor &x = a->in[0];
  Pool<Item> pool;
  if (a->attr[MinLength].i < 1 || a->attr[MaxSkip].i < 0)
    return ONNXC_K_VALUE;
  ONNXC_TRY(pool.read(a, items, size));
  Str mode = text(a->attr[Mode]);
  bool flat = is(mode, "IDF"), weighed = !is(mode, "TF");
  int64_t rows = x.rank == 2 ? x.dims[0] : 1, n = x.rank ? x.dims[x.rank - 1] : 1, columns = a->out[0].dims[a->out[0].rank - 1];
  float *scale = heap<float>(a, weighed ? columns : 0);
  if (!scale)
    return ONNXC_K_MEMORY;
  if (weighed)
    ONNXC_TRY(placeWeights(a, pool, scale, columns));
  for (int64_t r = 0; r < rows; ++r) {
    float *row = out<float>(a, 0) + r * columns;
    memset(row, 0, size_t(columns) * sizeof(float));
    if (int32_t code = countRow(a, pool, [&](int64_t i) { return get(r * n + i); }, n, row, columns))
      return code;
    for (int64_t c = 0; weighed && c < columns; ++c)
      row[c] = (flat ? float(row[c] > 0) : row[c]) * scale[c];
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_TfIdfVectorizer(const onnxc_args *a) {
  if (a->in[0].dtype == ONNXC_STR)
    return vectorise(a, strings(a->attr[PoolStrings]), a->attr[PoolStrings].n < 0 ? 0 : a->attr[PoolStrings].n,
                     [&](int64_t i) { return in<Str>(a, 0)[i]; });
  return vectorise(a, ints(a->attr[PoolInts]), a->attr[PoolInts].n < 0 ? 0 : a->attr[PoolInts].n,
                   [&](int64_t i) { return loadI64(a->in[0], i); });
}
