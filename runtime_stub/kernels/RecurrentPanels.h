// RecurrentPanels.h: rows of gates in panels of columns, by which states and inputs of f32 are multiplied. Included by FastRecurrent.cpp.
#pragma once
#include "runtime_stub/kernels/PanelSizes.h"
#include "runtime_stub/kernels/Product.h"

namespace onnxc {

constexpr int64_t kWide = kGateRows;  // columns of a panel
constexpr int kTogether = 6;          // states, at most, whose sums the registers hold
constexpr int64_t kFew = 6;           // products with one matrix that do not pay for packing it
constexpr int64_t kNear = 1 << 20;    // bytes that a second-level cache keeps from step to step

inline int64_t panelsOf(int64_t rows) { return (rows + kWide - 1) / kWide; }
inline int64_t groupsOf(int64_t states) { return (states + kTogether - 1) / kTogether; }
inline int64_t padded(int64_t rows) { return panelsOf(rows) * kWide; }

// Recurrent weights of `rows` gate units, [panel][hidden][kWide], padded with zeros; or, for few products, the operand's [rows][hidden].
struct Panels {
  const float *data;
  const float *plain;
  int64_t rows, hidden;

  bool pack(const Args *a, const float *r, int64_t count, int64_t h, bool few, bool packed) {
    rows = count, hidden = h, plain = few && !packed ? r : nullptr, data = r;
    if (few || packed)
      return true;
    int64_t panels = panelsOf(rows);
    float *to = heap<float>(a, panels * kWide * hidden);
    for (int64_t p = 0; to && p < panels; ++p)
      packPanel(to + p * kWide * hidden, r, rows, p * kWide, hidden, 0, 1, kWide, hidden);
    return data = to;
  }
};

// to[i] += panel^T x[i] for N states and NV vectors of the panel's columns. `Far`: the panels come from beyond the second-level cache.
template <int N, int NV, bool Far>
ONNXC_INLINE void addPanel(const float *panel, int64_t hidden, const float *const *x, float *const *to) {
  v16 acc[N][NV];
  unroll<0, N>([&](auto i) { unroll<0, NV>([&](auto j) { acc[i.value][j.value] = *(const v16 *)(to[i.value] + j.value * 16); }); });
  for (int64_t k = 0; k < hidden; ++k, panel += kWide) {
    v16 column[NV];
    unroll<0, NV>([&](auto j) { column[j.value] = *(const v16 *)(panel + j.value * 16); });
    if constexpr (Far)
      unroll<0, NV>([&](auto j) { __builtin_prefetch(panel + 768 + j.value * 16); });
    unroll<0, N>([&](auto i) {
      v16 v = v16(x[i.value][k]);
      unroll<0, NV>([&](auto j) { acc[i.value][j.value] = multiplyAdd(v, column[j.value], acc[i.value][j.value]); });
    });
  }
  unroll<0, N>([&](auto i) { unroll<0, NV>([&](auto j) { *(v16 *)(to[i.value] + j.value * 16) = acc[i.value][j.value]; }); });
}

// to[i] += panel^T x[i] for N states and the panel that starts at column c.
template <int N, int NV, bool Far>
inline void addColumns(const Panels &p, int64_t c, const float *const *x, float *const *to) {
  float edge[N][kWide], *at[N];
  int64_t have = minOf(kWide, p.rows - c);
  for (int i = 0; i < N; ++i) {
    at[i] = have == kWide ? to[i] + c : edge[i];
    if (have < kWide)
      memcpy(edge[i], to[i] + c, size_t(have) * sizeof(float));
  }
  for (int j = 0; j < have; j += NV * 16) {
    addPanel<N, NV, Far>(p.data + c * p.hidden + j, p.hidden, x, at);
    for (int i = 0; i < N; ++i)
      at[i] += NV * 16;
  }
  for (int i = 0; have < kWide && i < N; ++i)
    memcpy(to[i] + c, edge[i], size_t(have) * sizeof(float));
}

// The same for N states, or for fewer.
template <int N, int NV, bool Far>
inline void addGroup(int64_t n, const Panels &p, int64_t c, const float *const *x, float *const *to) {
  if (n == N)
    addColumns<N, NV, Far>(p, c, x, to);
  else if constexpr (N > 1)
    addGroup<N - 1, NV, Far>(n, p, c, x, to);
}

// The same for `count` states, in the fewest groups that the registers hold, of equal size; how they are grouped changes no sum.
template <bool Far>
inline void addStates(const Panels &p, int64_t c, const float *const *x, float *const *to, int64_t count) {
  int64_t vectors = (minOf(kWide, p.rows - c) + 15) / 16;
  for (int64_t i = 0, groups = groupsOf(count), n; i < count; i += n, --groups) {
    n = (count - i + groups - 1) / groups;
    if (n == 1 || onnxc_vector_bits < 256)
      for (int64_t j = 0; j < n; ++j)
        addColumns<1, 4, Far>(p, c, x + i + j, to + i + j);
    else if (onnxc_vector_bits == 256)
      n == 2 ? addColumns<2, 2, Far>(p, c, x + i, to + i) : addGroup<kTogether, 1, Far>(n, p, c, x + i, to + i);
    else if (vectors == 4)
      addGroup<kTogether, 4, Far>(n, p, c, x + i, to + i);
    else if (vectors == 3)
      addGroup<kTogether, 3, false>(n, p, c, x + i, to + i);
    else if (vectors == 2)
      addGroup<kTogether, 2, false>(n, p, c, x + i, to + i);
    else
      addGroup<kTogether, 1, false>(n, p, c, x + i, to + i);
  }
}

// The sums of eight vectors.
ONNXC_INLINE v8 sumsOf(const v16 *v) {
  v16 pair[4], four[2];
  for (int i = 0; i < 4; ++i)
    pair[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
              __builtin_shufflevector(v[2 * i], v[2 * i + 1], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  for (int i = 0; i < 2; ++i)
    four[i] = __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
              __builtin_shufflevector(pair[2 * i], pair[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  v16 all = __builtin_shufflevector(four[0], four[1], 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
            __builtin_shufflevector(four[0], four[1], 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  return __builtin_shufflevector(all, all, 0, 2, 4, 6, 8, 10, 12, 14) + __builtin_shufflevector(all, all, 1, 3, 5, 7, 9, 11, 13, 15);
}

// to[r] += matrix[r] · x for rows of `inner` numbers.
inline void addDots(const float *matrix, int64_t rows, int64_t inner, const float *x, float *to) {
  int64_t r = 0;
  for (; r + 8 <= rows; r += 8, matrix += 8 * inner) {
    v16 acc[8];
    unroll<0, 8>([&](auto i) { acc[i.value] = v16(0.0f); });
    int64_t k = 0;
    for (; k + 16 <= inner; k += 16) {
      v16 v = *(const v16 *)(x + k);
      unroll<0, 8>([&](auto i) { acc[i.value] = multiplyAdd(*(const v16 *)(matrix + i.value * inner + k), v, acc[i.value]); });
    }
    *(v8 *)(to + r) += sumsOf(acc);
    for (; k < inner; ++k)
      for (int64_t i = 0; i < 8; ++i)
        to[r + i] = multiplyAdd(matrix[i * inner + k], x[k], to[r + i]);
  }
  for (; r < rows; ++r, matrix += inner)
    for (int64_t k = 0; k < inner; ++k)
      to[r] = multiplyAdd(matrix[k], x[k], to[r]);
}

// Panels [begin, end) of to[i] += R x[i] for `count` states.
inline void addPanels(const Panels &p, int64_t begin, int64_t end, const float *const *x, float *const *to, int64_t count, bool backward) {
  bool far = p.rows * p.hidden * int64_t(sizeof(float)) > kNear;
  for (int64_t i = begin; i < end; ++i) {
    int64_t c = (backward ? begin + end - 1 - i : i) * kWide;
    if (p.plain)
      for (int64_t j = 0; j < count; ++j)
        addDots(p.plain + c * p.hidden, minOf(kWide, p.rows - c), p.hidden, x[j], to[j] + c);
    else if (far)
      addStates<true>(p, c, x, to, count);
    else
      addStates<false>(p, c, x, to, count);
  }
}

}  // namespace onnxc
