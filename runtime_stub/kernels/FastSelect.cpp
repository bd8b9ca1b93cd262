// FastSelect.cpp: TopK: elements become integers of the same order, whole vectors are passed over with one test. Oracle: Select.cpp.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/SelectKeys.h"
extern "C" int32_t onnxc_s_TopK_f32(const onnxc_args *a);  // Select.cpp

namespace onnxc {
namespace {

constexpr int64_t kColumn = 64;  // the most elements of one whose best few are

ONNXC_INLINE int64_t roundUp(int64_t keys) { return (keys + 63) / 64 * 64; }

// An entry orders by its key, then by a lower index.
ONNXC_INLINE uint64_t entryOf(int32_t key, int64_t index) {
  return uint64_t(uint32_t(key) ^ 0x80000000u) << 32 | (0xffffffffu - uint32_t(index));
}
ONNXC_INLINE int32_t indexOf(uint64_t entry) { return int32_t(0xffffffffu - uint32_t(entry)); }

// A bit for each lane of a comparison that holds.
ONNXC_INLINE uint32_t lanesOf(i32x16 holds) {
  typedef bool Bits __attribute__((ext_vector_type(16)));
  return __builtin_bit_cast(uint16_t, __builtin_convertvector(holds, Bits));
}

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

// Ways to find the k greatest of n keys, padded to a multiple of 64 by the least ones, and to write their places to `order`, best
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

// The range of the keys, `range` wide below `greatest`, is cut into kBuckets equal parts. How far behind the greatest key the last one of
// the part lies where the least of the k greatest is; false where more than `most` are as near.
bool reachOf(const int32_t *key, int64_t n, int64_t k, int64_t most, int32_t greatest, uint32_t range, uint32_t &reach) {
  constexpr int kBuckets = 2048;
  uint32_t count[2][kBuckets] = {};  // two, so that equal keys do not wait for one another
  int shift = 0;
  while (range >> shift >= kBuckets)
    ++shift;
  for (int64_t j = 0; j < n; ++j)
    ++count[j & 1][(uint32_t(greatest) - uint32_t(key[j])) >> shift];
  int64_t have = 0;
  uint32_t bucket = 0;
  for (; have < k; ++bucket)
    have += count[0][bucket] + count[1][bucket];
  reach = uint32_t((uint64_t(bucket) << shift) - 1);
  return have <= most;
}

// Sorts the keys that are as near to the greatest as reachOf() says; false where those are more than `most`, for which items and other have
// room.
bool selectBySort(const int32_t *key, int64_t n, int64_t k, int64_t most, Keyed *items, Keyed *other, int32_t *order) {
  i32x16 low = i32x16(key[0]), high = low;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    i32x16 v = *(const i32x16 *)(key + i);
    low = v < low ? v : low, high = v > high ? v : high;
  }
  int32_t least = __builtin_reduce_min(low), greatest = __builtin_reduce_max(high);
  for (; i < n; ++i)
    least = minOf(least, key[i]), greatest = maxOf(greatest, key[i]);
  uint32_t range = uint32_t(greatest) - uint32_t(least), reach = range;
  if (k < n && !reachOf(key, n, k, most, greatest, range, reach))
    return false;
  int64_t have = 0;
  for (int64_t j = 0; j < n; j += 16) {
    u32x16 behind = uint32_t(greatest) - *(const u32x16 *)(key + j);
    for (uint32_t lanes = lanesOf(behind <= reach); lanes; lanes &= lanes - 1)
      if (int64_t at = j + __builtin_ctz(lanes); at < n)
        items[have++] = {uint32_t(greatest) - uint32_t(key[at]), at};
  }
  const Keyed *sorted = sortKeyed(items, other, have);
  for (int64_t j = 0; j < k; ++j)
    order[j] = int32_t(sorted[j].index);
  return true;
}

enum Way { Heap, Count, Sort, Sieve };
struct Plan {
  Way way;
  int64_t ns;
};
// Sets of keys whose greatest tell how great the k best are at least, and the most keys that a sieve keeps.
ONNXC_INLINE int64_t setsFor(int64_t k) { return roundUp(2 * k); }
ONNXC_INLINE int64_t keptFor(int64_t k) { return 2 * setsFor(k); }

// The way without a sieve that takes the least, in ns on a Zen 4: a heap has ceil(log2 k) levels and takes in about k numbers for each
// doubling of k to n.
inline Plan plainPlan(int64_t n, int64_t k) {
  int64_t levels = 0, doublings = 0;
  while (int64_t(1) << levels < k)
    ++levels;
  while (n >> doublings > k)
    ++doublings;
  int64_t heap = k * levels * (15 + 6 * doublings) / 5 + n / 8 + 10, count = maxOf<int64_t>(n, 64) * roundUp(n) / 25 + 60,
          sort = 1500 + (k < n ? n * 3 / 2 : 0) + 8 * minOf(2 * k, n);
  return heap <= count && heap <= sort ? Plan{Heap, heap} : count < sort ? Plan{Count, count} : Plan{Sort, sort};
}
// Of all ways. A sieve that keeps too many keys falls back to a heap.
inline Plan planFor(int64_t n, int64_t k) {
  Plan plain = plainPlan(n, k);
  if (n < 2 * keptFor(k))
    return plain;
  int64_t sieve = n / 10 + 3 * k + 100 + plainPlan(setsFor(k), k).ns + plainPlan(k + k / 2, k).ns;
  return sieve < plain.ns ? Plan{Sieve, sieve} : plain;
}

// Room for what selectPlain() keeps aside, in bytes.
inline int64_t plainRoom(int64_t n, int64_t k) { return 2 * minOf(n, 2 * k + 512) * int64_t(sizeof(Keyed)); }
// By `way`; by a heap where that is a sieve, which has failed.
inline void selectPlain(Way way, const int32_t *key, int64_t n, int64_t k, void *room, int32_t *order) {
  int64_t most = minOf(n, 2 * k + 512);
  Keyed *items = static_cast<Keyed *>(room);
  if (way == Count)
    selectByCount(key, n, order);
  else if (way != Sort || !selectBySort(key, n, k, most, items, items + most, order))
    selectByHeap(key, n, k, static_cast<uint64_t *>(room), order);
}

struct SieveRoom {
  int32_t *greatest, *kept, *at, *order;
  void *rest;

  SieveRoom(int64_t k, void *room)
      : greatest(static_cast<int32_t *>(room)), kept(greatest + setsFor(k)), at(kept + keptFor(k)), order(at + keptFor(k)),
        rest(order + keptFor(k)) {}
  static int64_t bytes(int64_t k) { return (setsFor(k) + 3 * keptFor(k)) * 4 + plainRoom(keptFor(k), k); }
};
// The keys are dealt into sets, but for one key after each round: rows of 64 or 80 classes would give each set one class. The k greatest of
// the sets' greatest are at least as great as the least of them, so the k best of all are among those that are. False where more keys are
// left than there is room for.
inline bool selectBySieve(const int32_t *key, int64_t n, int64_t k, const SieveRoom &room, int32_t *order) {
  int64_t sets = setsFor(k), most = keptFor(k), have = 0;
  for (int64_t s = 0; s < sets; s += 64) {
    i32x16 greatest[4];
    memcpy(greatest, key + s, sizeof(greatest));
    for (int64_t i = s + sets + 1; i + 64 <= roundUp(n); i += sets + 1)
      unroll<0, 4>([&](auto l) {
        i32x16 v = *(const i32x16 *)(key + i + 16 * l.value);
        greatest[l.value] = v > greatest[l.value] ? v : greatest[l.value];
      });
    memcpy(room.greatest + s, greatest, sizeof(greatest));
  }
  selectPlain(plainPlan(sets, k).way, room.greatest, sets, k, room.rest, room.order);
  const i32x16 least = i32x16(room.greatest[room.order[k - 1]]);
  for (int64_t i = 0; i < n; i += 16) {
    uint32_t lanes = lanesOf(*(const i32x16 *)(key + i) >= least);
    for (; lanes && have < most; lanes &= lanes - 1) {
      int64_t at = i + __builtin_ctz(lanes);
      if (at < n)
        room.kept[have] = key[at], room.at[have++] = int32_t(at);
    }
    if (lanes)
      return false;
  }
  for (int64_t i = have; i < roundUp(have); ++i)
    room.kept[i] = INT32_MIN;
  selectPlain(plainPlan(have, k).way, room.kept, have, k, room.rest, room.order);
  for (int64_t j = 0; j < k; ++j)
    order[j] = room.at[room.order[j]];
  return true;
}

// Finds the k best in rows of n keys.
struct Selection {
  int64_t n, k;
  Plan plan = planFor(n, k);

  int64_t room() const { return (maxOf(plainRoom(n, k), plan.way == Sieve ? SieveRoom::bytes(k) : 0) + 63) / 64 * 64; }
  void select(const int32_t *key, void *room, int32_t *order) const {
    if (plan.way != Sieve || !selectBySieve(key, n, k, {k, room}, order))
      selectPlain(plan.way, key, n, k, room, order);
  }
};

// Keys of a strided row; what is past its end is never better than anything.
template <class T>
void loadKeys(const T *row, int64_t stride, int64_t n, int32_t flip, int32_t *key) {
  int64_t i = 0;
  for (; stride == 1 && i + 16 <= n; i += 16)
    *(i32x16 *)(key + i) = keysOf<T, Nans::Most>(row + i, flip);
  for (; i < n; ++i)
    key[i] = keyOf<T, Nans::Most>(row[i * stride], flip);
  for (; i < roundUp(n); ++i)
    key[i] = INT32_MIN;
}

// Keys of 64 bits as the high ones of their distances from the least; returns whether bits are lost by that.
template <class T>
bool loadHighKeys(const T *row, int64_t stride, int64_t n, int64_t flip, int64_t *whole, int32_t *key) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t i = 0; i < n; ++i) {
    whole[i] = keyOf<T, Nans::Most>(row[i * stride], flip);
    low = minOf(low, whole[i]), high = maxOf(high, whole[i]);
  }
  uint64_t range = uint64_t(high) - uint64_t(low);
  int shift = range >> 32 ? 32 - __builtin_clzll(range) : 0;
  for (int64_t i = 0; i < n; ++i)
    key[i] = int32_t(uint32_t((uint64_t(whole[i]) - uint64_t(low)) >> shift) ^ 0x80000000u);
  for (int64_t i = n; i < roundUp(n); ++i)
    key[i] = INT32_MIN;
  return shift != 0;
}

// Puts those of the k best whose high bits are equal in the order of all bits; others that share the last one's may be better than it.
// `items` and `other` have room for n.
void orderByAllBits(const int32_t *key, const int64_t *whole, int64_t n, int64_t k, Keyed *items, Keyed *other, int32_t *order) {
  for (int64_t j = 0, end; j < k; j = end) {
    const int32_t same = key[order[j]];
    int64_t have = 0;
    auto take = [&](int64_t i) { items[have++] = {uint64_t(whole[i]) ^ uint64_t(INT64_MAX), i}; };
    for (end = j + 1; end < k && key[order[end]] == same;)
      ++end;
    if (end == k && k < n) {
      for (int64_t i = 0; i < n; i += 16)
        if (__builtin_reduce_or(*(const i32x16 *)(key + i) == i32x16(same)))
          for (int64_t l = i; l < i + 16 && l < n; ++l)
            if (key[l] == same)
              take(l);
    } else if (end - j > 1) {
      for (int64_t i = j; i < end; ++i)
        take(order[i]);
    }
    if (have < 2)
      continue;
    const Keyed *sorted = sortKeyed(items, other, have);
    for (int64_t i = j; i < end; ++i)
      order[i] = int32_t(sorted[i - j].index);
  }
}

// The k best along an axis of at most kColumn elements, best first; `values` and `indices` may be null.
template <class T>
void topOfResults(const T *x, const Axis3 &s, const Results &results, Key<T> flip, int64_t k, T *values, int64_t *indices) {
  Key<T> key[kColumn * 64], best[64], where[64];
  uint64_t taken[64] = {};  // a bit for each element; its key is the least then
  auto keyAt = [&](int64_t at) { return keyOf<T, Nans::Most>(x[at], flip); };
  for (int64_t d = 0; d < s.dim; ++d)
    if (results.areNeighbours())
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = keyAt(results.at[0] + d * s.inner + r);
    else if (s.inner == 1)
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = r < results.count ? keyAt(results.at[0] + r * s.dim + d) : 0;
    else
      for (int64_t r = 0; r < 64; ++r)
        key[d * 64 + r] = keyAt(results.at[r] + d * s.inner);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t r = 0; r < 64; ++r)
      best[r] = kLeast<T>, where[r] = 0;
    for (int64_t d = 0; d < s.dim; ++d)
      for (int64_t r = 0; r < 64; ++r) {
        bool better = key[d * 64 + r] > best[r];
        best[r] = better ? key[d * 64 + r] : best[r];
        where[r] = better ? Key<T>(d) : where[r];
      }
    bool anyLeast = false;  // of whose elements none that is left is greater than the least
    for (int64_t r = 0; r < 64; ++r)
      anyLeast |= best[r] == kLeast<T>;
    if (j && anyLeast)
      for (int64_t r = 0; r < results.count; ++r)
        where[r] = best[r] == kLeast<T> ? Key<T>(__builtin_ctzll(~taken[r])) : where[r];
    if (j + 1 < k)
      for (int64_t r = 0; r < results.count; ++r) {
        taken[r] |= uint64_t(1) << where[r];
        key[where[r] * 64 + r] = kLeast<T>;
      }
    if (results.areNeighbours()) {
      const T *from = x + results.at[0];
      const int64_t to = results.to[0] + j * s.inner;
      for (int64_t r = 0; values && r < 64; ++r)
        values[to + r] = from[where[r] * s.inner + r];
      for (int64_t r = 0; indices && r < 64; ++r)
        indices[to + r] = where[r];
      continue;
    }
    for (int64_t r = 0; r < results.count; ++r) {
      int64_t to = results.to[r] + j * s.inner;
      if (values)
        values[to] = x[results.at[r] + where[r] * s.inner];
      if (indices)
        indices[to] = where[r];
    }
  }
}

constexpr int64_t kKept = 16;  // the most results of a column that are found beside those of 15 others

// The k <= kKept best along `dim` >= k, best first, of 16 neighbouring columns: `best` as keys and `where` they are. Keys come to stand
// behind those that are as good.
template <class T>
ONNXC_INLINE void topOfColumns(const T *x, int64_t dim, int64_t stride, Key<T> flip, int64_t k, Keys<T> *best, Keys<T> *where) {
  for (int64_t d = 0; d < dim; ++d, x += stride) {
    Keys<T> key = keysOf<T, Nans::Most>(x, flip), place = Keys<T>(Key<T>(d));
    int64_t last = d < k ? d : k - 1;  // of those there are, or the one that goes
    if (d >= k && !__builtin_reduce_or(key > best[last]))
      continue;
    auto passes = d < k ? Keys<T>(-1) : key > best[last];
    for (int64_t j = last; j > 0; --j) {
      auto passesNext = key > best[j - 1];
      best[j] = passes ? (passesNext ? best[j - 1] : key) : best[j];
      where[j] = passes ? (passesNext ? where[j - 1] : place) : where[j];
      passes = passesNext;
    }
    best[0] = passes ? key : best[0];
    where[0] = passes ? place : where[0];
  }
}

// The same of all columns.
template <class T>
int32_t topOfColumns(const onnxc_args *a, const T *x, const Axis3 &s, Key<T> flip, int64_t k, T *values, int64_t *indices) {
  int64_t groups = (s.inner + 15) / 16;
  return parallelFor(a, s.outer * groups, grainOf(s.dim * (4 + k)), [=](int64_t begin, int64_t end) {
    Keys<T> best[kKept], where[kKept];
    for (int64_t u = begin; u < end; ++u) {
      int64_t o = u / groups, first = u % groups * 16, from = minOf(first, s.inner - 16);  // lanes before `first` are another unit's
      const T *columns = x + o * s.dim * s.inner + from;
      topOfColumns(columns, s.dim, s.inner, flip, k, best, where);
      for (int64_t j = 0; j < k; ++j) {
        Key<T> at[16];
        *reinterpret_cast<Keys<T> *>(at) = where[j];
        const int64_t to = (o * k + j) * s.inner + from;
        for (int64_t c = first - from; values && c < 16; ++c)
          values[to + c] = columns[at[c] * s.inner + c];
        for (int64_t c = first - from; indices && c < 16; ++c)
          indices[to + c] = at[c];
      }
    }
    return int32_t(ONNXC_K_OK);
  });
}

// The k best of each row, best first, by keys of 32 bits; of wider types by the high ones first.
template <class T>
int32_t topOfRows(const onnxc_args *a, const T *x, const Axis3 &s, Key<T> flip, const Selection &selection, T *values, int64_t *indices) {
  constexpr bool halved = sizeof(Key<T>) == 8;
  const int64_t n = selection.n, k = selection.k, padded = roundUp(n);
  int64_t items = halved ? 2 * n * int64_t(sizeof(Keyed)) : 0, room = maxOf(items, selection.room());
  auto rows = [=](void *scratch, int64_t begin, int64_t end) {
    int32_t *key = reinterpret_cast<int32_t *>(static_cast<char *>(scratch) + room), *order = key + padded;
    for (int64_t r = begin; r < end; ++r) {
      int64_t o = r / s.inner, i = r % s.inner;
      const T *row = x + o * n * s.inner + i;
      if constexpr (halved) {
        int64_t *whole = reinterpret_cast<int64_t *>(order + padded);
        Keyed *list = static_cast<Keyed *>(scratch);
        bool loses = loadHighKeys(row, s.inner, n, flip, whole, key);
        selection.select(key, scratch, order);
        if (loses)
          orderByAllBits(key, whole, n, k, list, list + n, order);
      } else {
        loadKeys(row, s.inner, n, flip, key);
        selection.select(key, scratch, order);
      }
      for (int64_t j = 0; j < k; ++j) {
        int64_t at = (o * k + j) * s.inner + i, from = order[j];
        if (values)
          values[at] = row[from * s.inner];
        if (indices)
          indices[at] = from;
      }
    }
    return int32_t(ONNXC_K_OK);
  };
  return parallelScratchFor(a, s.outer * s.inner, grainOf(n * 2), room + (halved ? 4 : 2) * padded * 4 + 64, rows);
}

template <class T>
int32_t topK(const onnxc_args *a) {  // attributes: axis, largest
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  const Key<T> flip = a->attr[1].i ? 0 : -1;
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
  Axis3 s = splitAt(in, axis);
  int64_t k = a->out[hasOut(a, 1) ? 1 : 0].dims[axis];
  ONNXC_CHECK(k <= s.dim && s.dim < int64_t(1) << 31, ONNXC_K_SIZE);
  if (!k)
    return ONNXC_K_OK;
  T *values = hasOut(a, 0) ? mutableData<T>(a->out[0]) : nullptr;
  int64_t *indices = hasOut(a, 1) ? mutableData<int64_t>(a->out[1]) : nullptr;
  const T *x = data<T>(in);
  const Selection selection{s.dim, k};
  if (s.inner >= 16 && k <= kKept)
    return topOfColumns(a, x, s, flip, k, values, indices);
  int64_t blocks = (s.outer * s.inner + 63) / 64;
  if (s.dim <= kColumn && blocks * 4 * int64_t(sizeof(Key<T>)) * s.dim * k < s.outer * s.inner * selection.plan.ns)
    return parallelFor(a, blocks, grainOf(s.dim * k * 64), [=](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        topOfResults(x, s, Results(s, b * 64, k), flip, k, values, indices);
      return int32_t(ONNXC_K_OK);
    });
  return topOfRows(a, x, s, flip, selection, values, indices);
}

}  // namespace
}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_s_FastTopK_##S(const onnxc_args *a) { return onnxc_s_TopK_f32(a); }                                             \
  extern "C" int32_t onnxc_k_FastTopK_##S(const onnxc_args *a) { return onnxc::topK<T>(a); }
ONNXC_NUMERIC(X)
#undef X
