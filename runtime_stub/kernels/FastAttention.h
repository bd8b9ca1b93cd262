// FastAttention.h: softmax(scale Q K^T, masked) V of f32 over strided operands. The scores of a tile of queries and a block of keys stay in
// the cache: a running maximum and sum rescale what earlier blocks gave. Used by FastAttention.cpp and FastGroupQuery.cpp.
#pragma once
#include "runtime_stub/kernels/AttentionEntries.h"
#include "runtime_stub/kernels/FastExp.h"
#include "runtime_stub/kernels/Math.h"
#include "runtime_stub/kernels/Product.h"
#include "runtime_stub/kernels/Transpose.h"

namespace onnxc {
namespace {

// to[width][MR]: `have` queries side by side, the elements of query i from from(i) on, times `scale`, and zeros; what is written behind a
// row of MR is the next row's, or one vector past the last.
template <int MR, class From>
ONNXC_INLINE void packQueries(float *to, const From &from, int64_t have, int64_t stride, int64_t width, float scale) {
  int64_t d = 0;
  auto row = [&](auto i, auto zero) {
    typedef decltype(zero) V __attribute__((aligned(4)));  // deduced types forget it
    return i.value < have && i.value < MR ? *(const V *)(from(i.value) + d) * scale : zero;
  };
  if constexpr (MR > 8) {
    for (; stride == 1 && d + 16 <= width; d += 16) {
      Row16 r[16];
      unroll<0, 16>([&](auto i) { r[i.value] = row(i, v16(0.0f)); });
      transpose(r);
      unroll<0, 16>([&](auto i) { *(v16 *)(to + (d + i.value) * MR) = r[i.value]; });
    }
  } else {
    for (; stride == 1 && d + 8 <= width; d += 8) {
      Row8 r[8];
      unroll<0, 8>([&](auto i) { r[i.value] = row(i, v8(0.0f)); });
      transpose(r);
      unroll<0, 8>([&](auto i) { *(v8 *)(to + (d + i.value) * MR) = r[i.value]; });
    }
  }
  for (; d < width; ++d)
    for (int64_t i = 0; i < MR; ++i)
      to[d * MR + i] = i < have ? from(i)[d * stride] * scale : 0.0f;
}

// to[depth][NR]: NR keys side by side, more than 16 where vectors have 16 lanes, and zeros behind `have` of them.
template <int NR>
void packKeys(float *to, const float *from, int64_t have, int64_t keyStride, int64_t stride, int64_t depth) {
  if (stride != 1)
    return packPanel(to, from, have, 0, keyStride, 0, stride, NR, depth);
  constexpr int N = NR > 16 ? 16 : 8;
  typedef float Loose __attribute__((ext_vector_type(N), aligned(4)));
  typedef typename Square<N>::Row Row;
  int64_t whole = depth / 16 * 16;
  for (int64_t j = 0; j < NR; j += N)
    for (int64_t d = 0; d < whole; d += N) {
      Row r[N];
      unroll<0, N>([&](auto i) { r[i.value] = j + i.value < have ? *(const Loose *)(from + (j + i.value) * keyStride + d) : Row(0.0f); });
      if (j < have)
        transpose(r);
      unroll<0, N>([&](auto i) { *(Loose *)(to + (d + i.value) * NR + j) = r[i.value]; });
    }
  for (int64_t d = whole; d < depth; ++d)
    for (int64_t j = 0; j < NR; ++j)
      to[d * NR + j] = j < have ? from[j * keyStride + d] : 0.0f;
}

// to[column][pitch]: the values of neighbouring keys side by side, zeros behind the last key and in the columns that make whole panels.
ONNXC_INLINE void turnValues(float *to, const float *from, int64_t columns, int64_t have, int64_t keyStride, int64_t stride, int64_t keys,
                             int64_t pitch) {
  for (int64_t d = 0; d < columns; ++d, to += pitch) {
    int64_t some = d < have ? keys : 0;
    for (int64_t j = 0; j < some; ++j)
      to[j] = from[j * keyStride + d * stride];
    memset(to + some, 0, size_t(pitch - some) * sizeof(float));
  }
}

// to[key][NR]: NR columns of the values side by side.
template <int NR>
void packValues(float *to, const float *from, int64_t have, int64_t keyStride, int64_t stride, int64_t keys) {
  if (have == NR && stride == 1) {
    for (int64_t j = 0; j < keys; ++j, from += keyStride, to += NR)
      unroll<0, NR / 16>([&](auto i) { *(v16 *)(to + i.value * 16) = *(const v16 *)(from + i.value * 16); });
    return;
  }
  packPanel(to, from, have, 0, stride, 0, keyStride, NR, keys);
}

// A task's memory.
struct Scratch {
  float *keys, *values, *query, *scores, *sums;
  float most[16], total[16];
};

ONNXC_INLINE v16 laneNumbers() { return v16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }

// `lanes` numbers of a mask, one for all where it has no stride, and zeros.
template <class T>
ONNXC_INLINE v16 maskLanes(const T *from, int64_t stride, int64_t lanes) {
  typedef T Lanes __attribute__((ext_vector_type(16), aligned(1)));
  if (stride == 0)
    return v16(float(*from));
  if (lanes >= 16)
    return __builtin_convertvector(*(const Lanes *)from, v16);
  T some[16] = {};
  memcpy(some, from, size_t(maxOf<int64_t>(lanes, 0)) * sizeof(T));
  return __builtin_convertvector(*(const Lanes *)some, v16);
}

ONNXC_INLINE bool unmasked(const Attention &s) {
  return !s.keep && !s.added[0] && !s.added[1] && s.before < 0 && s.after < 0 && !(s.softcap > 0) && s.end == s.keys;
}

// What is added to the scores of one query and keys from `key` on. Its fields are locals of maskRow: the compiler has to assume that stores
// of scores change `s`.
struct Added {
  const float *from;  // null: nothing
  int64_t step, end;

  Added(const Attention &s, const Place &p, int64_t m, int64_t query, int64_t key)
      : from(s.added[m]), step(from ? s.addedStrides[m][s.batchAxes + 1] : 0), end(s.end - key) {
    from += from ? p.added[m] + query * s.addedStrides[m][s.batchAxes] + key * step : 0;
  }
  v16 lanes(int64_t j) const { return maskLanes(from + j * step, step, end - j); }
};

// Masks the scores of one query and `count` keys from `key` on; past the last key they become -inf.
void maskRow(const Attention &s, const Place &p, int64_t query, int64_t key, int64_t count, float *row) {
  const v16 none = v16(-__builtin_inff());
  Range seen = visible(s, query);
  v16 low = v16(float(maxOf<int64_t>(0, seen.low - key))), high = v16(float(maxOf<int64_t>(0, minOf(count, seen.high - key))));
  int64_t last = s.batchAxes;
  const float cap = s.softcap;  // which stores of scores might change
  for (int64_t j = 0; cap > 0 && j < count; ++j)
    row[j] = cap * tanhF32(row[j] / cap);
  const Added first(s, p, 0, query, key), second(s, p, 1, query, key);
  for (int64_t j = unmasked(s) ? count / 16 * 16 : 0; j < count; j += 16) {
    v16 v = *(v16 *)(row + j);
    if (s.keep) {
      int64_t step = s.keepStrides[last + 1];
      v16 k = maskLanes(s.keep + p.keep + query * s.keepStrides[last] + (key + j) * step, step, s.end - key - j);
      v = (k != 0.0f) == (s.keepIf ? (v16(1.0f) == 1.0f) : (v16(1.0f) == 0.0f)) ? v : v16(s.fill);
    }
    if (first.from)
      v += first.lanes(j);
    if (second.from)
      v += second.lanes(j);
    v16 at = laneNumbers() + v16(float(j));
    v = at < high ? at >= low ? v : none : none;
    *(v16 *)(row + j) = v;
  }
}

// Scores of R rows become exponentials over the running maximum; `factor`: for what came before. Rows side by side hide the latency of
// each.
template <int R>
ONNXC_INLINE void softmaxRows(float *rows, int64_t count, float *most, float *total, float *factor) {
  v16 largest[R], sum[R], base[R];
  unroll<0, R>([&](auto i) { largest[i.value] = v16(-__builtin_inff()), sum[i.value] = v16(0.0f); });
  for (int64_t j = 0; j < count; j += 16)
    unroll<0, R>([&](auto i) {
      v16 v = *(const v16 *)(rows + i.value * kRow + j);
      largest[i.value] = v > largest[i.value] ? v : largest[i.value];
    });
  float m[R];
  unroll<0, R>([&](auto i) {
    float front = largestOf(largest[i.value]);
    m[i.value] = front > most[i.value] ? front : most[i.value];
    base[i.value] = v16(m[i.value] == -__builtin_inff() ? 0.0f : m[i.value]);
  });
  for (int64_t j = 0; j < count; j += 16)
    unroll<0, R>([&](auto i) {
      v16 e = expNegative(*(const v16 *)(rows + i.value * kRow + j) - base[i.value]);
      *(v16 *)(rows + i.value * kRow + j) = e;
      sum[i.value] += e;
    });
  unroll<0, R>([&](auto i) {
    float before = most[i.value];
    factor[i.value] = before == m[i.value] ? 1.0f : before == -__builtin_inff() ? 0.0f : expNegative(v16(before - base[i.value][0]))[0];
    total[i.value] = total[i.value] * factor[i.value] + sumOf(sum[i.value]);
    most[i.value] = m[i.value];
  });
}

// The scores of `have` rows, row i of query(i) at place(i), and `count` keys from `key` on are masked and become exponentials.
template <class PlaceOf, class QueryOf>
ONNXC_INLINE void maskedSoftmax(const Attention &s, const PlaceOf &place, const QueryOf &query, int64_t key, int64_t count, int64_t have,
                                float *rows, float *most, float *total, float *factor) {
  bool plain = unmasked(s) && count % 16 == 0;
  for (int64_t i = 0; i < have && !plain; ++i)
    maskRow(s, place(i), query(i), key, count, rows + i * kRow);
  int64_t row = 0;
  for (; row + 2 <= have; row += 2)
    softmaxRows<2>(rows + row * kRow, count, most + row, total + row, factor + row);
  if (row < have)
    softmaxRows<1>(rows + row * kRow, count, most + row, total + row, factor + row);
}

// sums[MR][NR] = factor sums + p[MR][count] values[count][NR], of which each row lies `pitch` behind the one before it.
template <int MR, int NV>
ONNXC_INLINE void weigh(const float *p, const float *values, int64_t pitch, int64_t count, float *sums, int64_t stride,
                        const float *factor) {
  v16 acc[MR][NV];
  unroll<0, MR>([&](auto i) {
    unroll<0, NV>([&](auto j) {
      acc[i.value][j.value] = factor ? *(const v16 *)(sums + i.value * stride + j.value * 16) * factor[i.value] : v16(0.0f);
    });
  });
  for (int64_t k = 0; k < count; ++k, values += pitch) {
    v16 column[NV];
    unroll<0, NV>([&](auto j) { column[j.value] = *(const v16 *)(values + j.value * 16); });
    unroll<0, MR>([&](auto i) {
      v16 w = v16(p[i.value * kRow + k]);
      unroll<0, NV>([&](auto j) { acc[i.value][j.value] = multiplyAdd(w, column[j.value], acc[i.value][j.value]); });
    });
  }
  unroll<0, MR>([&](auto i) { unroll<0, NV>([&](auto j) { *(v16 *)(sums + i.value * stride + j.value * 16) = acc[i.value][j.value]; }); });
}

// The same for kFewColumns columns of turned values: sums[MR][column] are vectors whose lanes are to be added.
template <int MR>
ONNXC_INLINE void weighKeys(const float *p, const float *values, int64_t pitch, int64_t count, float *sums, int64_t stride,
                            const float *factor) {
  constexpr int R = MR == 12 ? 4 : 1;  // rows side by side, as many as registers hold
  for (int row = 0; row < MR; row += R) {
    v16 acc[R][kFewColumns];
    auto at = [&](auto i, auto d) { return (v16 *)(sums + (row + i.value) * stride + d.value * 16); };
    auto add = [&](int64_t k, auto select) {
      unroll<0, kFewColumns>([&](auto d) {
        v16 column = select(*(const v16 *)(values + d.value * pitch + k));
        unroll<0, R>([&](auto i) {
          v16 w = *(const v16 *)(p + (row + i.value) * kRow + k);
          acc[i.value][d.value] = multiplyAdd(w, column, acc[i.value][d.value]);
        });
      });
    };
    unroll<0, R>([&](auto i) {
      unroll<0, kFewColumns>([&](auto d) { acc[i.value][d.value] = factor ? *at(i, d) * factor[row + i.value] : v16(0.0f); });
    });
    int64_t k = 0;
    for (; k + 16 <= count; k += 16)
      add(k, [](v16 v) { return v; });
    if (k < count)  // a value that no query of the tile sees may be no number
      add(k, [&](v16 v) { return laneNumbers() < v16(float(count - k)) ? v : v16(0.0f); });
    unroll<0, R>([&](auto i) { unroll<0, kFewColumns>([&](auto d) { *at(i, d) = acc[i.value][d.value]; }); });
  }
}

// The packed sizes of one batch entry's keys and values. VV: vectors of a panel of values' columns; 0: values are turned.
template <int NV, int VV>
struct Packed {
  static constexpr int64_t NR = NV * 16, columns = VV ? VV * 16 : kFewColumns;
  int64_t keyPanels, valuePanels, keys, pitch;
  explicit Packed(const Attention &s)
      : keyPanels((s.keys + NR - 1) / NR), valuePanels((s.valueWidth + columns - 1) / columns), keys(s.keys), pitch((s.keys + 15) & -16) {}
  int64_t panelFloats() const { return columns * (VV ? keys : pitch); }
  int64_t sumsStride() const { return valuePanels * columns * (VV ? 1 : 16); }
  void packPanel(float *to, const float *from, int64_t have, int64_t keyStride, int64_t stride) const {
    if constexpr (VV == 0)
      turnValues(to, from, columns, have, keyStride, stride, keys, pitch);
    else
      packValues<VV * 16>(to, from, have, keyStride, stride, keys);
  }
};

// `have` queries from `first` on, of MR that the tile has room for.
template <int MR, int NV, int VV>
void attendTile(const Attention &s, const Place &p, const Packed<NV, VV> &packed, Scratch &t, int64_t first, int64_t have) {
  constexpr int64_t NR = NV * 16;
  int64_t stride = packed.sumsStride(), axis = s.batchAxes;
  const float *q = s.q.data + p.q + first * s.q.strides[axis], none[MR] = {};
  int64_t queryStride = s.q.strides[axis];
  packQueries<MR>(t.query, [=](int64_t i) { return q + i * queryStride; }, have, s.q.strides[axis + 1], s.width, s.scale);
  for (int i = 0; i < MR; ++i)
    t.most[i] = s.sinks ? s.sinks[p.batch] : -__builtin_inff(), t.total[i] = s.sinks ? 1 : 0;
  int64_t begin = visible(s, first).low / NR * NR, end = visible(s, first + have - 1).high;
  for (int64_t key = begin; key < end; key += kKeys) {
    int64_t count = minOf(kKeys, end - key);
    float factor[MR];
    for (int64_t j = 0; j < count; j += NR)
      tile<MR, NV>(t.query, t.keys + (key + j) * s.width, s.width, t.scores + j, kRow, none);
    auto place = [&](int64_t) -> const Place & { return p; };
    maskedSoftmax(s, place, [=](int64_t i) { return first + i; }, key, count, have, t.scores, t.most, t.total, factor);
    for (int64_t i = have; i < MR; ++i)
      factor[i] = 0;
    for (int64_t v = 0; v < packed.valuePanels; ++v) {
      const float *values = t.values + v * packed.panelFloats(), *before = key > begin ? factor : nullptr;
      if constexpr (VV == 0)
        weighKeys<MR>(t.scores, values + key, packed.pitch, count, t.sums + v * kFewColumns * 16, stride, before);
      else
        weigh<MR, VV>(t.scores, values + key * VV * 16, VV * 16, count, t.sums + v * VV * 16, stride, before);
    }
  }
  for (int64_t i = 0; i < have; ++i) {
    float *y = s.y.data + p.y + (first + i) * s.y.strides[axis], factor = weightOf(s, t.total[i], end > begin);
    for (int64_t d = 0; d < s.valueWidth; ++d)
      y[d] = factor == 0 ? 0.0f : (VV ? t.sums[i * stride + d] : sumOf(*(const v16 *)(t.sums + i * stride + d * 16))) * factor;
  }
}

template <int MR, int NV, int VV>
int32_t attend(const onnxc_args *a, const Attention &s) {
  constexpr int64_t NR = NV * 16;
  Packed<NV, VV> packed(s);
  int64_t tiles = (s.queries + MR - 1) / MR, keyFloats = packed.keyPanels * NR * s.width;
  int64_t valueFloats = packed.valuePanels * packed.panelFloats(), sums = MR * packed.sumsStride(), columns = packed.columns;
  int64_t floats = keyFloats + valueFloats + (MR * s.width + 31) / 16 * 16 + MR * kRow + sums;
  Attention copy = s;
  return parallelScratchFor(a, s.batches * tiles, grainOf(MR * s.keys * (s.width + s.valueWidth) / 8), floats * int64_t(sizeof(float)),
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              const Attention &s = copy;
                              Scratch t;
                              t.keys = static_cast<float *>(scratch), t.values = t.keys + keyFloats, t.scores = t.values + valueFloats;
                              t.sums = t.scores + MR * kRow, t.query = t.sums + sums;
                              Place p = {};
                              int64_t batch = -1, k = -1, v = -1;
                              for (int64_t u = begin; u < end; ++u) {
                                if (u / tiles != batch)
                                  p = placeOf(s, batch = u / tiles);
                                int64_t axis = s.batchAxes, first = (u - batch * tiles) * MR, have = minOf<int64_t>(MR, s.queries - first);
                                if (p.k != k || p.v != v) {
                                  k = p.k, v = p.v;
                                  for (int64_t j = 0; j < packed.keyPanels; ++j)
                                    packKeys<NR>(t.keys + j * NR * s.width, s.k.data + k + j * NR * s.k.strides[axis],
                                                 minOf(NR, s.keys - j * NR), s.k.strides[axis], s.k.strides[axis + 1], s.width);
                                  for (int64_t j = 0; j < packed.valuePanels; ++j)
                                    packed.packPanel(t.values + j * packed.panelFloats(),
                                                     s.v.data + v + j * columns * s.v.strides[axis + 1],
                                                     minOf(columns, s.valueWidth - j * columns), s.v.strides[axis], s.v.strides[axis + 1]);
                                }
                                if (have > MR / 2)
                                  attendTile<MR, NV, VV>(s, p, packed, t, first, have);
                                else
                                  attendTile<MR / 2, NV, VV>(s, p, packed, t, first, have);
                              }
                              return 0;
                            });
}

// --- a few queries: keys and values are streamed as they lie ---

// row[j] = q . key j, with the widths of a key side by side.
void scoresByKey(const float *q, const float *k, int64_t keyStride, int64_t width, int64_t keys, float *row) {
  for (int64_t j = 0; j < keys; ++j, k += keyStride) {
    v16 even = v16(0.0f), odd = v16(0.0f);
    int64_t d = 0;
    for (; d + 32 <= width; d += 32) {
      even = multiplyAdd(*(const v16 *)(q + d), *(const v16 *)(k + d), even);
      odd = multiplyAdd(*(const v16 *)(q + d + 16), *(const v16 *)(k + d + 16), odd);
    }
    for (; d + 16 <= width; d += 16)
      even = multiplyAdd(*(const v16 *)(q + d), *(const v16 *)(k + d), even);
    float sum = sumOf(even + odd);
    for (; d < width; ++d)
      sum += q[d] * k[d];
    row[j] = sum;
  }
}

// The same for keys side by side, or any strides.
void scoresByWidth(const float *q, const float *k, int64_t keyStride, int64_t stride, int64_t width, int64_t keys, float *row) {
  for (int64_t j = 0; j < keys; ++j)
    row[j] = 0;
  for (int64_t d = 0; d < width; ++d)
    for (int64_t j = 0; j < keys; ++j)
      row[j] += q[d] * k[d * stride + j * keyStride];
}

// y = factor p V, NV * 16 columns of V. `meet(j)`: where the run of keys from `j` on ends that are there now.
template <int NV, class Meet>
ONNXC_INLINE void weighRows(const float *p, const float *v, int64_t keyStride, int64_t keys, float factor, float *y, const Meet &meet) {
  v16 acc[NV];
  unroll<0, NV>([&](auto i) { acc[i.value] = v16(0.0f); });
  for (int64_t j = 0; j < keys;)
    for (int64_t end = meet(j); j < end; ++j, v += keyStride)
      unroll<0, NV>([&](auto i) { acc[i.value] = multiplyAdd(v16(p[j]), *(const v16 *)(v + i.value * 16), acc[i.value]); });
  unroll<0, NV>([&](auto i) { *(v16 *)(y + i.value * 16) = acc[i.value] * factor; });
}

void attendQuery(const Attention &s, const Place &p, int64_t query, Arrivals arrivals, float *q, float *row) {
  int64_t axis = s.batchAxes, keyStride = s.k.strides[axis], stride = s.k.strides[axis + 1], valueStride = s.v.strides[axis];
  Range seen = visible(s, query);
  int64_t keys = seen.high - seen.low;
  const float *from = s.q.data + p.q + query * s.q.strides[axis], *k = s.k.data + p.k + seen.low * keyStride,
              *v = s.v.data + p.v + seen.low * valueStride;
  float *y = s.y.data + p.y + query * s.y.strides[axis], most = s.sinks ? s.sinks[p.batch] : -__builtin_inff(), total = s.sinks ? 1 : 0;
  for (int64_t d = 0; d < s.width; ++d)
    q[d] = from[d * s.q.strides[axis + 1]] * s.scale;
  auto meet = [&](int64_t part, int64_t j) {
    int64_t end = arrivals.open ? minOf(keys, j + kBlock) : keys;
    arrivals.keysAndValues(part, seen.low + j, seen.low + end);
    return end;
  };
  arrivals.unseen(seen.low, seen.high);
  for (int64_t j = 0; j < keys;) {
    int64_t end = meet(0, j);
    if (stride == 1)
      scoresByKey(q, k + j * keyStride, keyStride, s.width, end - j, row + j);
    else
      scoresByWidth(q, k + j * keyStride, keyStride, stride, s.width, end - j, row + j);
    j = end;
  }
  maskRow(s, p, query, seen.low, keys, row);
  float factor;
  softmaxRows<1>(row, keys, &most, &total, &factor);
  factor = weightOf(s, total, keys > 0);
  int64_t d = 0;
  bool side = s.v.strides[axis + 1] == 1 && factor != 0;
  auto values = [&](int64_t j) { return meet(1, j); };
  for (; side && d + 64 <= s.valueWidth; d += 64, arrivals.open = false)
    weighRows<4>(row, v + d, valueStride, keys, factor, y + d, values);
  for (; side && d + 16 <= s.valueWidth; d += 16, arrivals.open = false)
    weighRows<1>(row, v + d, valueStride, keys, factor, y + d, values);
  arrivals.keysAndValues(1, seen.low, seen.high);
  for (; d < s.valueWidth; ++d) {
    float sum = 0;
    for (int64_t j = 0; factor != 0 && j < keys; ++j)
      sum += row[j] * v[j * valueStride + d * s.v.strides[axis + 1]];
    y[d] = factor == 0 ? 0.0f : sum * factor;
  }
}

int32_t attendFew(const onnxc_args *a, const Attention &s) {
  if (s.batches == 0)
    return 0;
  Attention copy = s;
  SharedRows shared(s);
  if (s.queries == 0 || shared.entries() < a->rt->num_threads)
    ONNXC_TRY(bringAll(a, copy));
  int64_t row = (s.keys + 31) / 16 * 16, each = copy.bring ? shared.heads : 1;  // batch entries of a unit
  return parallelScratchFor(a, s.batches / each, grainOf(each * s.queries * s.keys * (s.width + s.valueWidth) / 4),
                            (row + s.width) * int64_t(sizeof(float)), [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              float *scores = static_cast<float *>(scratch);
                              for (int64_t b = begin * each; b < end * each; ++b)
                                for (int64_t i = 0; i < copy.queries; ++i) {
                                  bool first = copy.bring && b % each == 0 && i == 0;
                                  attendQuery(copy, placeOf(copy, b), i, {copy, b / each, first}, scores + row, scores);
                                }
                              return 0;
                            });
}

// --- queries that share keys, too few to pack all of these for: a block of keys at a time, values as they lie ---

// `have` rows from `first` on of an entry, in tiles of MR.
template <int MR, int NV, int VV>
void attendRows(const Attention &s, int64_t entry, int64_t first, int64_t have, float *scratch) {
  constexpr int64_t NR = NV * 16;
  const int64_t axis = s.batchAxes, tiles = (have + MR - 1) / MR, rows = tiles * MR, width = s.width, columns = s.valueWidth;
  const int64_t firstHead = entry * SharedRows(s).heads;
  const Arrivals arrivals = {s, entry, s.bring != nullptr};
  float *panel = scratch, *query = panel + NR * width, *scores = query + (rows * width + 31) / 16 * 16, *sums = scores + rows * kRow;
  float none[MR] = {}, most[kShared + MR], total[kShared + MR], factor[kShared + MR];
  Place at[kShared];
  int64_t queries[kShared];
  for (int64_t i = 0; i < rows; ++i)
    most[i] = -__builtin_inff(), total[i] = 0, factor[i] = 0;
  for (int64_t i = 0; i < have; ++i) {
    queries[i] = (first + i) % s.queries;
    at[i] = i && queries[i] ? at[i - 1] : placeOf(s, firstHead + (first + i) / s.queries);
    if (s.sinks)
      most[i] = s.sinks[at[i].batch], total[i] = 1;
  }
  auto from = [&](int64_t i) { return s.q.data + at[i].q + queries[i] * s.q.strides[axis]; };
  for (int64_t t = 0; t < rows; t += MR)
    packQueries<MR>(query + t * width, [&](int64_t i) { return from(t + i); }, have - t, s.q.strides[axis + 1], width, s.scale);
  const int64_t keyStride = s.k.strides[axis], valueStride = s.v.strides[axis];
  // What any row of the entry sees: a value that is no number reaches rows that do not see it, by no share of it, whatever the task.
  const int64_t begin = visible(s, 0).low, high = visible(s, s.queries - 1).high;
  const float *k = s.k.data + at[0].k, *v = s.v.data + at[0].v;
  arrivals.unseen(begin, high);
  for (int64_t key = begin; key < high; key += kBlock) {
    int64_t count = minOf(kBlock, high - key);
    arrivals.keysAndValues(0, key, key + count);
    for (int64_t j = 0; j < count; j += NR) {
      packKeys<NR>(panel, k + (key + j) * keyStride, minOf(NR, s.keys - key - j), keyStride, s.k.strides[axis + 1], width);
      for (int64_t t = 0; t < rows; t += MR)
        tile<MR, NV>(query + t * width, panel, width, scores + t * kRow + j, kRow, none);
    }
    auto place = [&](int64_t i) -> const Place & { return at[i]; };
    maskedSoftmax(s, place, [&](int64_t i) { return queries[i]; }, key, count, have, scores, most, total, factor);
    arrivals.keysAndValues(1, key, key + count);
    for (int64_t d = 0; d < columns; d += VV * 16)
      for (int64_t t = 0; t < rows; t += MR)
        weigh<MR, VV>(scores + t * kRow, v + key * valueStride + d, valueStride, count, sums + t * columns + d, columns,
                      key > begin ? factor + t : nullptr);
  }
  for (int64_t i = 0; i < have; ++i) {
    float *y = s.y.data + at[i].y + queries[i] * s.y.strides[axis], weight = weightOf(s, total[i], high > begin);
    for (int64_t d = 0; d < columns; ++d)
      y[d] = weight == 0 ? 0.0f : sums[i * columns + d] * weight;
  }
}

template <int MR, int NV, int VV>
int32_t attendShared(const onnxc_args *a, const Attention &s) {
  SharedRows shared(s);
  const int64_t rows = shared.count(), entries = shared.entries();
  const int64_t apart = minOf((a->rt->num_threads + entries - 1) / entries, rows / 4);  // chunks that give each thread one
  const int64_t chunks = maxOf<int64_t>(1, apart), most = (rows + chunks - 1) / chunks + MR;
  int64_t floats = NV * 16 * s.width + most * (s.width + kRow + s.valueWidth) + 32;
  Attention copy = s;
  if (chunks > 1)
    ONNXC_TRY(bringAll(a, copy));
  return parallelScratchFor(a, entries * chunks, grainOf(rows / chunks * s.keys * (s.width + s.valueWidth) / 8),
                            floats * int64_t(sizeof(float)), [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              for (int64_t u = begin; u < end; ++u) {
                                int64_t entry = u / chunks, chunk = u % chunks, first = rows * chunk / chunks;
                                int64_t have = rows * (chunk + 1) / chunks - first, each = (have + MR - 1) / MR;
                                float *memory = static_cast<float *>(scratch);
                                each = (have + each - 1) / each * 3;  // thirds of a tile that rows fill when tiles have equally many
                                if (each <= MR)
                                  attendRows<MR / 3, NV, VV>(copy, entry, first, have, memory);
                                else if (each <= 2 * MR)
                                  attendRows<MR / 3 * 2, NV, VV>(copy, entry, first, have, memory);
                                else
                                  attendRows<MR, NV, VV>(copy, entry, first, have, memory);
                              }
                              return 0;
                            });
}

template <int MR, int NV>
int32_t attendMany(const onnxc_args *a, const Attention &s) {
  if (SharedRows(s).count() <= kShared && s.v.strides[s.batchAxes + 1] == 1 && s.valueWidth % 16 == 0)
    return NV == 1 || s.valueWidth % 32 ? attendShared<MR, NV, 1>(a, s) : attendShared<MR, NV, NV>(a, s);
  if (s.queries <= kFew)
    return attendFew(a, s);
  Attention there = s;
  ONNXC_TRY(bringAll(a, there));
  if (s.valueWidth <= 2 * kFewColumns)
    return attend<MR, NV, 0>(a, there);
  if (NV == 1 || (s.valueWidth + 15) / 16 % 2 == 1)  // no panel of which half is empty
    return attend<MR, NV, 1>(a, there);
  return attend<MR, NV, NV>(a, there);
}

int32_t attention(const onnxc_args *a, const Attention &s) {
  if (s.batches == 0 || SharedRows(s).count() <= kFew)
    return attendFew(a, s);
  return onnxc_vector_bits >= 512 ? attendMany<12, 2>(a, s) : attendMany<6, 1>(a, s);
}

}  // namespace
}  // namespace onnxc
