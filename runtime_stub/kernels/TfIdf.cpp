// TfIdf.cpp: TfIdfVectorizer: counts n-grams (with skips) of a pool through a hash table built for the run.
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

enum { MaxLength, MaxSkip, MinLength, Mode, Counts, Indexes, PoolInts, PoolStrings, Weights };

ONNXC_INLINE uint64_t hashItem(int64_t v) { return mix(uint64_t(v)); }
ONNXC_INLINE uint64_t hashItem(Str v) { return hash(v); }
ONNXC_INLINE bool same(int64_t x, int64_t y) { return x == y; }
ONNXC_INLINE bool same(Str x, Str y) { return equal(x, y); }

struct Gram {
  int64_t start, length, column;
};

template <class Item>
struct Pool {
  const Item *items;
  Gram *grams;
  int64_t *slot, mask;  // slot: gram number + 1, 0 empty

  // Grams of one length follow each other in the pool; Counts says where each length starts.
  int32_t read(const Args *a, const Item *pool, int64_t size) {
    items = pool;
    int64_t lengths = a->attr[Counts].n, number = 0, most = a->attr[Indexes].n;
    for (mask = 1; mask < 2 * most + 2;)
      mask *= 2;
    grams = heap<Gram>(a, most), slot = heap<int64_t>(a, mask--);
    if (!grams || !slot)
      return ONNXC_K_MEMORY;
    for (int64_t l = 0; l < lengths; ++l) {
      int64_t from = ints(a->attr[Counts])[l], to = l + 1 < lengths ? ints(a->attr[Counts])[l + 1] : size;
      if (from < 0 || to < from || to > size || (to - from) % (l + 1))
        return ONNXC_K_VALUE;
      for (int64_t start = from; start < to; start += l + 1) {
        if (number >= most)
          return ONNXC_K_VALUE;
        grams[number] = {start, l + 1, ints(a->attr[Indexes])[number]};
        insert(number++);
      }
    }
    return ONNXC_K_OK;
  }
  void insert(int64_t number) {
    const Gram &g = grams[number];
    uint64_t h = seed(g.length);
    for (int64_t i = 0; i < g.length; ++i)
      h = extend(h, items[g.start + i]);
    int64_t s = int64_t(h) & mask;
    while (slot[s])
      s = (s + 1) & mask;
    slot[s] = number + 1;
  }
  static uint64_t seed(int64_t length) { return uint64_t(length); }
  static uint64_t extend(uint64_t h, const Item &item) { return mix(h * 31 + hashItem(item)); }
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
  for (int64_t step = 1; step <= a->attr[MaxSkip].i + 1; ++step)
    for (int64_t length = least; length <= most; ++length) {
      if (length == 1 && step > 1)
        continue;  // a single item has no skips
      for (int64_t start = 0; start + (length - 1) * step < n; ++start) {
        uint64_t h = pool.seed(length);
        for (int64_t i = 0; i < length; ++i)
          h = pool.extend(h, get(start + i * step));
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

void weigh(const Args *a, float *row, int64_t columns) {
  Str mode = text(a->attr[Mode]);
  if (is(mode, "TF"))
    return;
  for (int64_t i = 0; i < columns; ++i) {
    float weight = i < a->attr[Weights].n ? floats(a->attr[Weights])[i] : 1;
    row[i] = is(mode, "IDF") ? (row[i] > 0 ? weight : 0) : row[i] * weight;
  }
}

template <class Item, class Get>
int32_t vectorise(const Args *a, const Item *items, int64_t size, Get get) {
  const Tensor &x = a->in[0];
  Pool<Item> pool;
  if (a->attr[MinLength].i < 1 || a->attr[MaxSkip].i < 0)
    return ONNXC_K_VALUE;
  if (int32_t code = pool.read(a, items, size))
    return code;
  int64_t rows = x.rank == 2 ? x.dims[0] : 1, n = x.rank ? x.dims[x.rank - 1] : 1, columns = a->out[0].dims[a->out[0].rank - 1];
  for (int64_t r = 0; r < rows; ++r) {
    float *row = out<float>(a, 0) + r * columns;
    memset(row, 0, size_t(columns) * sizeof(float));
    if (int32_t code = countRow(a, pool, [&](int64_t i) { return get(r * n + i); }, n, row, columns))
      return code;
    weigh(a, row, columns);
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
