// Product.h: blocked matrix product of f32, f64 or wrapping integers of 32 and 64 bits over packed panels, for FastMatMul.cpp, FastConv.cpp
// and others.
//
// panel   A: MR rows, one K step after the other; B: NR columns likewise; both padded with zeros
// tile    MR x NR accumulators in registers
// Blocks of K stay in L1/L2: a block of B is packed once and met by every panel of A.
#pragma once
#include "runtime_stub/kernels/Transpose.h"

namespace onnxc {

// One wide register, or two.
template <class T>
struct WideOf {
  static constexpr int lanes = 64 / sizeof(T);
  typedef T type __attribute__((ext_vector_type(64 / sizeof(T)), aligned(sizeof(T))));
};

// C[MR, NR] (+)= A x B panel over `depth`; of A, rows are `row` apart and K steps `step`: 1 and MR in a panel. `start`: null to go on from
// C, else the value each row begins with. `Step`: columns of the panel of B, of which the first NR are taken.
template <int MR, int NV, class T, int Step = NV * WideOf<T>::lanes>
ONNXC_INLINE void tile(const T *a, const T *b, int64_t depth, T *c, int64_t stride, const T *start, int64_t row = 1, int64_t step = MR) {
  using V = typename WideOf<T>::type;
  constexpr int lanes = WideOf<T>::lanes;
  V acc[MR][NV];
  unroll<0, MR>([&](auto i) {
    unroll<0, NV>(
        [&](auto j) { acc[i.value][j.value] = start ? V(start[i.value]) : *(const V *)(c + i.value * stride + j.value * lanes); });
  });
  for (int64_t k = 0; k < depth; ++k, a += step, b += Step) {
    V column[NV];
    unroll<0, NV>([&](auto j) { column[j.value] = *(const V *)(b + j.value * lanes); });
    unroll<0, MR>([&](auto i) {
      V left = V(a[i.value * row]);
      unroll<0, NV>([&](auto j) { acc[i.value][j.value] = multiplyAdd(left, column[j.value], acc[i.value][j.value]); });
    });
  }
  unroll<0, MR>([&](auto i) { unroll<0, NV>([&](auto j) { *(V *)(c + i.value * stride + j.value * lanes) = acc[i.value][j.value]; }); });
}

constexpr int64_t kDepthBlock = 256, kColumnBlock = 512;
constexpr int kTileRows = 12, kTileVectors = 2;  // of the larger tile, multiples of the smaller's

// f of the rows and vectors of the tile that the registers hold.
template <class F>
ONNXC_INLINE auto withTile(const F &f) {
  return onnxc_vector_bits >= 512 ? f(Index<kTileRows>(), Index<kTileVectors>()) : f(Index<6>(), Index<1>());
}

// Scratch of a product of T's.
template <class T>
ONNXC_INLINE int64_t productBytes(int64_t rows, int64_t inner) {
  return (rows + kTileRows + kColumnBlock) * maxOf<int64_t>(minOf(inner, kDepthBlock), 1) * int64_t(sizeof(T));
}

// C[rows, width] (+)= A x panels of B over one depth block; `start`, `row` and `step`: as in tile(), for all rows. `panel`: how far every
// MR rows of A are from the next, 0 for panels.
template <int MR, int NV, class T>
ONNXC_INLINE void panelTiles(const T *a, const T *b, int64_t rows, int64_t width, int64_t depth, T *c, int64_t stride, const T *start,
                             int64_t row = 1, int64_t step = MR, int64_t panel = 0) {
  constexpr int64_t NR = NV * WideOf<T>::lanes;
  T edge[MR * NR];
  for (int64_t r = 0; r < rows; r += MR, a += panel ? panel : MR * depth)
    for (int64_t j = 0; j < width; j += NR) {
      T *to = c + r * stride + j;
      const T *first = start ? start + r : nullptr;
      int64_t h = minOf<int64_t>(MR, rows - r), w = minOf<int64_t>(NR, width - j);
      if (h == MR && w == NR) {
        tile<MR, NV, T>(a, b + j * depth, depth, to, stride, first, row, step);
        continue;
      }
      for (int64_t i = 0; !first && i < h; ++i)
        memcpy(edge + i * NR, to + i * stride, w * sizeof(T));
      if (w <= WideOf<T>::lanes)
        tile<MR, 1, T, NR>(a, b + j * depth, depth, edge, NR, first, row, step);
      else
        tile<MR, NV, T>(a, b + j * depth, depth, edge, NR, first, row, step);
      for (int64_t i = 0; i < h; ++i)
        memcpy(to + i * stride, edge + i * NR, w * sizeof(T));
    }
}

// Panel of a strided matrix, as T's: `across` is the dim whose consecutive entries lie side by side in the panel.
template <class T, class From>
ONNXC_INLINE void packPanel(T *to, const From *from, int64_t limit, int64_t first, int64_t acrossStride, int64_t k, int64_t kStride,
                            int64_t width, int64_t depth) {
  int64_t have = minOf(width, limit - first);
  from += first * acrossStride + k * kStride;
  if (kStride == 1 && acrossStride != 1) {  // across rows in memory: sixteen steps at a time keep both sides in the cache
    for (int64_t d = 0; d < depth; d += 16) {
      int64_t end = minOf(depth, d + 16), i = 0;
      if constexpr (__is_same(T, From))
        for (; i + 4 <= have && end == d + 16; i += 4)
          for (int64_t e = d; e < end; e += 4) {
            typename Square<4, T>::Row r[4];
            unroll<0, 4>([&](auto l) { memcpy(&r[l.value], from + (i + l.value) * acrossStride + e, sizeof(r[0])); });
            transpose(r);
            unroll<0, 4>([&](auto l) { memcpy(to + (e + l.value) * width + i, &r[l.value], sizeof(r[0])); });
          }
      for (; i < width; ++i)
        for (int64_t e = d; e < end; ++e)
          to[e * width + i] = i < have ? from[i * acrossStride + e] : 0;
    }
    return;
  }
  for (int64_t d = 0; d < depth; ++d, to += width, from += kStride) {
    if (have == width)
      for (int64_t i = 0; i < width; ++i)
        to[i] = from[i * acrossStride];
    else
      for (int64_t i = 0; i < width; ++i)
        to[i] = i < have ? from[i * acrossStride] : 0;
  }
}

// C[rows, cols] = start[row] + A x B; C += A x B where `start` is null. packA(to, row, k, MR, depth) and packB(to, col, k, NR, depth) write
// one panel; `start` has rows rounded up to 16 entries. `a`: productBytes of scratch.
template <int MR, int NV, class T, class PackA, class PackB>
static void panelProduct(T *a, int64_t rows, int64_t cols, int64_t inner, T *c, int64_t stride, const T *start, const PackA &packA,
                         const PackB &packB) {
  constexpr int64_t NR = NV * WideOf<T>::lanes;
  int64_t panels = (rows + MR - 1) / MR, depthMax = minOf(inner, kDepthBlock);
  T *b = a + panels * MR * depthMax;
  for (int64_t k = 0; k < maxOf<int64_t>(inner, 1); k += kDepthBlock) {
    int64_t depth = minOf(kDepthBlock, inner - k);
    for (int64_t p = 0; p < panels; ++p)
      packA(a + p * MR * depth, p * MR, k, MR, depth);
    for (int64_t n = 0; n < cols; n += kColumnBlock) {
      int64_t width = minOf(kColumnBlock, cols - n);
      for (int64_t j = 0; j < width; j += NR)
        packB(b + j * depth, n + j, k, NR, depth);
      panelTiles<MR, NV>(a, b, rows, width, depth, c + n, stride, k ? nullptr : start);
    }
  }
}

// The same of no more columns than a panel has, else false: whole panels of A, of strides `ar` and `ak`, would be read once, so they stay
// where they are.
template <int MR, int NV, class T, class PackB>
static bool narrowProduct(T *scratch, const T *a, int64_t ar, int64_t ak, int64_t rows, int64_t cols, int64_t inner, T *c, int64_t stride,
                          const T *start, const PackB &packB) {
  constexpr int64_t NR = NV * WideOf<T>::lanes;
  if (cols > NR)
    return false;
  int64_t whole = rows / MR * MR;
  T *b = scratch + MR * minOf(inner, kDepthBlock);
  for (int64_t k = 0; k < maxOf<int64_t>(inner, 1); k += kDepthBlock, start = nullptr) {
    int64_t depth = minOf(kDepthBlock, inner - k);
    packB(b, 0, k, NR, depth);
    panelTiles<MR, NV>(a + k * ak, b, whole, cols, depth, c, stride, start, ar, ak, MR * ar);
    if (whole == rows)
      continue;
    packPanel(scratch, a, rows, whole, ar, k, ak, MR, depth);
    panelTiles<MR, NV>(scratch, b, rows - whole, cols, depth, c + whole * stride, stride, start);
  }
  return true;
}

template <class T, class PackA, class PackB>
static void product(void *scratch, int64_t rows, int64_t cols, int64_t inner, T *c, int64_t stride, const T *start, const PackA &packA,
                    const PackB &packB) {
  withTile([&](auto mr, auto nv) {
    panelProduct<mr.value, nv.value>(static_cast<T *>(scratch), rows, cols, inner, c, stride, start, packA, packB);
  });
}

template <class T, class PackB>
static bool narrowProduct(T *scratch, const T *a, int64_t ar, int64_t ak, int64_t rows, int64_t cols, int64_t inner, T *c, int64_t stride,
                          const T *start, const PackB &packB) {
  return withTile(
      [&](auto mr, auto nv) { return narrowProduct<mr.value, nv.value>(scratch, a, ar, ak, rows, cols, inner, c, stride, start, packB); });
}

// In the kernel's scratch.
template <class T, class PackA, class PackB>
static int32_t product(const onnxc_args *args, int64_t rows, int64_t cols, int64_t inner, T *c, int64_t stride, const T *start,
                       const PackA &packA, const PackB &packB) {
  void *scratch = onnxc_rt_scratch(args->rt, productBytes<T>(rows, inner));
  ONNXC_CHECK(scratch, ONNXC_K_MEMORY);
  product(scratch, rows, cols, inner, c, stride, start, packA, packB);
  return 0;
}

// A zeroed or given row start, padded for whole panels.
inline float *rowStarts(const onnxc_args *args, int64_t rows, const float *bias) {
  float *start = heap<float>(args, rows + 16);
  if (start)
    for (int64_t i = 0; i < rows + 16; ++i)
      start[i] = bias && i < rows ? bias[i] : 0;
  return start;
}

}  // namespace onnxc
