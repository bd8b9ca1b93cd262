// Unique.cpp: Unique of elements or of slices along an axis. Slices are sorted by index, equal neighbours form a group.
#include "runtime_stub/kernels/Sort.h"

namespace onnxc {

template <class T>
struct Slices {
  const T *base;
  Axis3 s;
  int order(int64_t x, int64_t y) const {
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i)
        if (int c = compare(base[(o * s.dim + x) * s.inner + i], base[(o * s.dim + y) * s.inner + i]))
          return c;
    return 0;
  }
};

// Groups of equal slices: `sorted` holds slice indices, `group[i]` the group of sorted[i]; a group's first slice is its least index.
struct Groups {
  int64_t *sorted, *group, count;
};

// Indices of elements in order, and the groups of equal ones.
template <class T>
static int32_t groupElements(const onnxc_args *a, const T *x, int64_t n, Groups &g) {
  Keyed *items = heap<Keyed>(a, 2 * n);
  ONNXC_CHECK(items, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < n; ++i)
    items[i] = {orderBits(x[i]), i};
  items = sortKeyed(items, items + n, n);
  for (int64_t i = 0; i < n; ++i) {
    g.count += i == 0 || items[i].key != items[i - 1].key;
    g.sorted[i] = items[i].index;
    g.group[i] = g.count - 1;
  }
  return 0;
}

template <class T>
static int32_t readSlices(const onnxc_args *a, Slices<T> &slices) {  // attributes: axis, sorted
  const onnxc_tensor &in = a->in[0];
  int64_t axis = a->attr[0].i;
  slices = {data<T>(in), {1, onnxc_count(in), 1}};
  if (given(a->attr[0])) {
    ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_SHAPE);
    slices.s = splitAt(in, axis);
  }
  return 0;
}

template <class T>
static int32_t findGroups(const onnxc_args *a, const Slices<T> &slices, Groups &g) {
  int64_t n = slices.s.dim;
  int64_t *memory = heap<int64_t>(a, 2 * n);
  ONNXC_CHECK(memory, ONNXC_K_MEMORY);
  g = {memory, memory + n, 0};
  if constexpr (IsNumber<T>::value)
    if (!given(a->attr[0]))
      return groupElements(a, slices.base, n, g);
  for (int64_t i = 0; i < n; ++i)
    g.sorted[i] = i;
  stableSort(g.sorted, g.group, n, [&](int64_t x, int64_t y) { return slices.order(x, y) < 0; });
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || slices.order(g.sorted[i - 1], g.sorted[i]))
      ++g.count;
    g.group[i] = g.count - 1;
  }
  return 0;
}

static uint64_t groupsKey(const onnxc_args *a) { return keyOf(a, given(a->attr[0]) ? uint64_t(a->attr[0].i) + 100 : 0); }

template <class T>
static int32_t uniqueSize(const onnxc_args *a) {
  Slices<T> slices;
  Groups g, *kept = heap<Groups>(a, 1);
  ONNXC_TRY(readSlices(a, slices));
  ONNXC_TRY(findGroups(a, slices, g));
  if (kept) {
    *kept = g;
    onnxc_rt_keep(a->rt, groupsKey(a), kept);
  }
  int64_t axis = a->attr[0].i;
  if (given(a->attr[0])) {
    fixAxis(axis, a->in[0].rank);
    copyDims(a->out[0], a->in[0]);
  }
  a->out[0].dims[given(a->attr[0]) ? axis : 0] = g.count;
  for (int64_t i = 1; i < a->n_out; ++i)
    if (hasOut(a, i))
      a->out[i].dims[0] = i == 2 ? slices.s.dim : g.count;
  return 0;
}

// Position in the result of each group: its rank, or the rank of its first slice among first slices.
static int64_t *placeGroups(const onnxc_args *a, const Groups &g, const int64_t *first) {
  int64_t *memory = heap<int64_t>(a, 3 * g.count);
  if (!memory)
    return nullptr;
  int64_t *place = memory, *byFirst = memory + g.count;
  for (int64_t i = 0; i < g.count; ++i)
    place[i] = byFirst[i] = i;
  if (a->attr[1].i)
    return place;
  stableSort(byFirst, memory + 2 * g.count, g.count, [&](int64_t x, int64_t y) { return first[x] < first[y]; });
  for (int64_t i = 0; i < g.count; ++i)
    place[byFirst[i]] = i;
  return place;
}

template <class T>
static int32_t unique(const onnxc_args *a) {
  Slices<T> slices;
  Groups g;
  ONNXC_TRY(readSlices(a, slices));
  if (const auto *kept = static_cast<const Groups *>(onnxc_rt_take(a->rt, groupsKey(a))))
    g = *kept;
  else
    ONNXC_TRY(findGroups(a, slices, g));
  int64_t n = slices.s.dim, *first = heap<int64_t>(a, g.count);
  ONNXC_CHECK(first, ONNXC_K_MEMORY);
  for (int64_t i = n; i-- > 0;)
    first[g.group[i]] = g.sorted[i];
  int64_t *place = placeGroups(a, g, first);
  ONNXC_CHECK(place, ONNXC_K_MEMORY);
  const Axis3 &s = slices.s;
  ONNXC_CHECK(onnxc_count(a->out[0]) == s.outer * s.inner * g.count, ONNXC_K_SHAPE);
  for (int64_t k = 0; k < g.count; ++k) {
    for (int64_t o = 0; o < s.outer; ++o)
      memcpy(mutableData<T>(a->out[0]) + (o * g.count + place[k]) * s.inner, slices.base + (o * n + first[k]) * s.inner,
             size_t(s.inner) * sizeof(T));
    if (hasOut(a, 1))
      mutableData<int64_t>(a->out[1])[place[k]] = first[k];
    if (hasOut(a, 3))
      mutableData<int64_t>(a->out[3])[k] = 0;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (hasOut(a, 2))
      mutableData<int64_t>(a->out[2])[g.sorted[i]] = place[g.group[i]];
    if (hasOut(a, 3))
      mutableData<int64_t>(a->out[3])[place[g.group[i]]] += 1;
  }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Unique_##S(const onnxc_args *a) { return onnxc::unique<T>(a); }                                               \
  extern "C" int32_t onnxc_s_Unique_##S(const onnxc_args *a) { return onnxc::uniqueSize<T>(a); }
ONNXC_NUMERIC(X)
X(bool, uint8_t)
X(c64, onnxc::c64)
X(c128, onnxc::c128)
X(str, onnxc_string)
#undef X
