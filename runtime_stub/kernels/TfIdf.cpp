// TfIdf.cpp: TfIdfVectorizer: counts n-grams (with skips) of a pool through a hash table, which the compiler packed (PackedPool.h) or which
// is built for the run.
#include "runtime_stub/kernels/PackedPool.h"
#include "runtime_stub/kernels/Parallel.h"
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

// A row of items and the hash of each.
template <class Item>
struct Row {
  const Item *items;
  uint64_t *hashes;
  int64_t n;

  // Calls found(gram) for each gram of so many items, `step` apart.
  template <class F>
  int32_t grams(const Pool<Item> &pool, int64_t length, int64_t step, const F &found) const {
    const int64_t end = length - 1 > (n - 1) / step ? 0 : n - (length - 1) * step;
    for (int64_t start = 0; start < end; ++start) {
      uint64_t h = gramSeed(length);
      for (int64_t i = 0; i < length; ++i)
        h = gramExtend(h, hashes[start + i * step]);
      if (const Gram *g = pool.find(h, length, [&](int64_t i) { return items[start + i * step]; }))
        ONNXC_TRY(found(*g));
    }
    return ONNXC_K_OK;
  }
};

template <class Item>
int32_t countRow(const Args *a, const Pool<Item> &pool, const Row<Item> &from, float *row, int64_t columns) {
  int64_t least = a->attr[MinLength].i, most = a->attr[MaxLength].i, n = from.n;
  int64_t steps = minOf<int64_t>(a->attr[MaxSkip].i, n) + 1;  // two items are less than n apart
  auto count = [=](const Gram &g) -> int32_t {
    if (g.column < 0 || g.column >= columns)
      return ONNXC_K_VALUE;
    row[g.column] += 1;
    return ONNXC_K_OK;
  };
  for (int64_t i = 0; i < n; ++i)
    from.hashes[i] = hashItem(from.items[i]);
  for (int64_t step = 1; step <= steps; ++step)
    for (int64_t length = least; length <= most; ++length) {
      if (length == 1 && step > 1)
        continue;  // a single item has no skips
      ONNXC_TRY(length == 1   ? from.grams(pool, 1, step, count)
                : length == 2 ? from.grams(pool, 2, step, count)
                              : from.grams(pool, length, step, count));
      if (length - 1 > (n - 1) / step)
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

// `Item`: what X's elements, of type From, are in the pool.
template <class Item, class From>
int32_t vectorise(const Args *a, const Item *items, int64_t size) {
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
  constexpr int64_t gramWork = 16;
  int64_t lengths = maxOf<int64_t>(0, a->attr[MaxLength].i - a->attr[MinLength].i) + 1, steps = minOf<int64_t>(a->attr[MaxSkip].i, n) + 1;
  double work = double(n) * double(lengths) * double(steps) * gramWork + double(columns) / 4;
  const int64_t bytes = n * int64_t(sizeof(uint64_t) + sizeof(Item));
  return parallelScratchFor(a, rows, grainOf(int64_t(minOf(work, double(kTaskWork)))), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              const Pool<Item> own = pool;  // a copy that no store to a row may change
                              uint64_t *hashes = static_cast<uint64_t *>(scratch);
                              Item *list = reinterpret_cast<Item *>(hashes + n);
                              for (int64_t r = begin; r < end; ++r) {
                                float *row = out<float>(a, 0) + r * columns;
                                memset(row, 0, size_t(columns) * sizeof(float));
                                for (int64_t i = 0; i < n; ++i)
                                  list[i] = Item(in<From>(a, 0)[r * n + i]);
                                ONNXC_TRY(countRow(a, own, Row<Item>{list, hashes, n}, row, columns));
                                for (int64_t c = 0; weighed && c < columns; ++c)
                                  row[c] = (flat ? float(row[c] > 0) : row[c]) * scale[c];
                              }
                              return ONNXC_K_OK;
                            });
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_TfIdfVectorizer(const onnxc_args *a) {
  const Attr &words = a->attr[PoolStrings], &numbers = a->attr[PoolInts];
  if (a->in[0].dtype == ONNXC_STR)
    return vectorise<Str, Str>(a, strings(words), words.n < 0 ? 0 : words.n);
  const int64_t size = numbers.n < 0 ? 0 : numbers.n;
  return a->in[0].dtype == ONNXC_I64 ? vectorise<int64_t, int64_t>(a, ints(numbers), size)
                                     : vectorise<int64_t, int32_t>(a, ints(numbers), size);
}
