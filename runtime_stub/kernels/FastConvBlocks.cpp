// FastConvBlocks.cpp: packed.NarrowConv, convolutions of blocked f32 to few results. Channels stay in the lanes, where each result adds up
// its products of 16 of them at a time; the lanes are added last, for all pixels of a tile together. What has most channels of a plain
// image in its rows is FastConvNarrow.cpp's.
//
// phase   the results that lie a stride apart and have the same taps; a convolution has one
// tile    neighbouring pixels of a phase, whose sums are in registers
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/PhaseAxis.h"

namespace onnxc {
namespace {

constexpr int64_t kUnitColumns = 128;  // of a phase, that a unit of parallel work computes

struct Narrow {
  const float *x, *weights, *bias;
  float *out;
  int64_t images, blocks, ih, iw, oh, ow;
  int64_t kh, kw, sh, sw, top, left;
  int64_t outputs, channels;
  uint32_t lanes[kLanes];  // of the last block: ones for channels

  PhaseAxis down(int64_t i) const { return PhaseAxis(i, kh, sh, top); }
  PhaseAxis right(int64_t j) const { return PhaseAxis(j, kw, sw, left); }
};

// What a tile reads: taps [kh][blocks][kw] and, beside each other, its pixels.
struct Taps {
  const float *from, *weights;
  int64_t row, block, weightStep;  // floats from one to the next, and of the weights from one block to the next
  int64_t kh, blocks, kw;
  const uint32_t *lanes;  // of the last block: ones for channels; null where it has no other lanes
};

ONNXC_INLINE v16 kept(v16 v, const uint32_t *lanes) {
  return __builtin_bit_cast(v16, __builtin_bit_cast(u32x16, v) & *(const u32x16 *)lanes);
}
ONNXC_INLINE v8 kept(v8 v, const uint32_t *lanes) { return __builtin_bit_cast(v8, __builtin_bit_cast(u32x8, v) & *(const u32x8 *)lanes); }

// At any address: a type that is deduced forgets that it need not be aligned.
template <class V>
ONNXC_INLINE V load(const float *from) {
  V v;
  memcpy(&v, from, sizeof(V));
  return v;
}

// Lanes of a and b in groups of `Each`, every other one added to the one behind it: those of a are followed by those of b.
template <int Each>
ONNXC_INLINE v16 addGroups(v16 a, v16 b) {
  if constexpr (Each == 8)
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  else if constexpr (Each == 4)
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  else if constexpr (Each == 2)
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  else
    return __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30) +
           __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}

// The sums of the lanes of `N` vectors, a power of two: sum i lies 16 / N * i lanes from the first.
template <int N, int Each = kLanes / 2>
ONNXC_INLINE v16 sumsOf(v16 (&v)[N]) {
  if constexpr (N == 1 && Each == 0) {
    return v[0];
  } else if constexpr (N == 1) {
    v16 next[1] = {addGroups<Each>(v[0], v[0])};
    return sumsOf<1, Each / 2>(next);
  } else {
    v16 next[N / 2];
    unroll<0, N / 2>([&](auto i) { next[i.value] = addGroups<Each>(v[i.value], v[i.value + N / 2]); });
    return sumsOf<N / 2, Each / 2>(next);
  }
}

// The first of each N lanes.
ONNXC_INLINE void storeSums(v16 v, float *to, Index<16>) { *(v16 *)to = v; }
ONNXC_INLINE void storeSums(v16 v, float *to, Index<8>) { *(v8 *)to = __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14); }
template <int Pixels>
ONNXC_INLINE void storeSums(v16 v, float *to, Index<Pixels>) {
  unroll<0, Pixels>([&](auto i) { to[i.value] = v[i.value * (kLanes / Pixels)]; });
}

// The same of vectors of eight lanes, the halves of blocks that were added up before.
template <int N>
ONNXC_INLINE v16 sumsOf(v8 (&v)[N]) {
  constexpr int kPairs = N > 1 ? N / 2 : 1;
  v16 pairs[kPairs];
  unroll<0, kPairs>([&](auto i) {
    pairs[i.value] = __builtin_shufflevector(v[i.value], v[i.value + N / 2], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  });
  return sumsOf<kPairs, kLanes / 4>(pairs);
}

// Results of `Pixels` pixels from `to` on, `step` floats from one of `Outputs` to the next. V: the vectors of the sums.
template <class V, int Outputs, int Pixels>
ONNXC_INLINE void tile(const Taps &t, const float *bias, float *to, int64_t step) {
  constexpr int kParts = kLanes * sizeof(float) / sizeof(V), kPart = kLanes / kParts;
  V acc[Outputs][Pixels] = {};
  const float *weights = t.weights;
  auto add = [&](const float *from, const auto &lanes) {
    const float *w = weights;
    for (int64_t x = 0; x < t.kw; ++x, from += kLanes, w += Outputs * kLanes)
      unroll<0, kParts>([&](auto part) {
        V columns[Outputs];
        unroll<0, Outputs>([&](auto o) { columns[o.value] = load<V>(w + o.value * kLanes + part.value * kPart); });
        unroll<0, Pixels>([&](auto i) {
          V v = lanes(load<V>(from + i.value * kLanes + part.value * kPart), part.value * kPart);
          unroll<0, Outputs>([&](auto o) { acc[o.value][i.value] = multiplyAdd(v, columns[o.value], acc[o.value][i.value]); });
        });
      });
    weights += t.weightStep;
  };
  for (int64_t y = 0; y < t.kh; ++y) {
    const float *from = t.from + y * t.row;
    for (int64_t b = 0; b < t.blocks - (t.lanes != nullptr); ++b, from += t.block)
      add(from, [](V v, int64_t) { return v; });
    if (t.lanes)
      add(from, [&](V v, int64_t at) { return kept(v, t.lanes + at); });
  }
  unroll<0, Outputs>(
      [&](auto o) { storeSums(sumsOf<Pixels>(acc[o.value]) + v16(bias ? bias[o.value] : 0.0f), to + o.value * step, Index<Pixels>()); });
}

// The same of one pixel, whose blocks take turns with several sums: one would wait for itself.
template <class V, int Outputs>
ONNXC_INLINE void pixel(const Taps &t, const float *bias, float *to, int64_t step) {
  constexpr int kParts = kLanes * sizeof(float) / sizeof(V), kPart = kLanes / kParts, kChains = Outputs > 2 ? 2 : 4;
  V acc[Outputs][kChains] = {};
  const float *row = t.from, *weights = t.weights;
  auto add = [&](auto chains, const float *from, const auto &lanes) {
    const float *w = weights;
    for (int64_t x = 0; x < t.kw; ++x, from += kLanes, w += Outputs * kLanes)
      unroll<0, kParts * chains.value>([&](auto k) {
        constexpr int i = k.value % chains.value, part = k.value / chains.value * kPart;
        V v = lanes(load<V>(from + i * t.block + part), part);
        unroll<0, Outputs>([&](auto o) {
          V column = load<V>(w + i * t.weightStep + o.value * kLanes + part);
          acc[o.value][i] = multiplyAdd(v, column, acc[o.value][i]);
        });
      });
    weights += chains.value * t.weightStep;
  };
  auto all = [](V v, int64_t) { return v; };
  for (int64_t y = 0; y < t.kh; ++y, row += t.row) {
    const float *from = row;
    int64_t left = t.blocks - (t.lanes != nullptr);
    for (; left >= kChains; left -= kChains, from += kChains * t.block)
      add(Index<kChains>(), from, all);
    for (; left > 0; --left, from += t.block)
      add(Index<1>(), from, all);
    if (t.lanes)
      add(Index<1>(), from, [&](V v, int64_t at) { return kept(v, t.lanes + at); });
  }
  unroll<0, Outputs>([&](auto o) {
    V sum[1] = {acc[o.value][0]};
    unroll<1, kChains>([&](auto i) { sum[0] += acc[o.value][i.value]; });
    to[o.value * step] = sumsOf<1>(sum)[0] + (bias ? bias[o.value] : 0.0f);
  });
}

// Pixels from `begin` on of a phase's row whose taps all lie in the image, as many whole tiles as end before `end`. Gives the first that is
// left.
template <class V, int Outputs, int Pixels>
ONNXC_INLINE int64_t tiles(Taps t, const float *bias, int64_t begin, int64_t end, float *to, int64_t step) {
  const float *row = t.from;
  for (; begin + Pixels <= end; begin += Pixels) {
    t.from = row + begin * kLanes;
    tile<V, Outputs, Pixels>(t, bias, to + begin, step);
  }
  return begin;
}

// Pixels [begin, end) of row `oh` of a phase, whose weights begin at `weights`, of image n. Those whose taps leave the image at the sides
// go one by one.
template <class V, int Outputs, int Pixels>
void phaseRow(const Narrow &c, const PhaseAxis &down, const PhaseAxis &right, const float *weights, int64_t n, int64_t oh, int64_t begin,
              int64_t end, float *to, int64_t step) {
  int64_t row = c.iw * kLanes, block = c.ih * row, y = oh - down.pad, weightStep = right.taps * Outputs * kLanes;
  int64_t low = maxOf<int64_t>(0, -y), high = maxOf(low, minOf(down.taps, c.ih - y));
  Taps t{c.x + n * c.blocks * block + (y + low) * row - right.pad * kLanes,
         weights + low * c.blocks * weightStep,
         row,
         block,
         weightStep,
         high - low,
         c.blocks,
         right.taps,
         c.channels % kLanes ? c.lanes : nullptr};
  int64_t inside = minOf(end, maxOf(begin, right.pad)), outside = maxOf(inside, minOf(end, c.iw + right.pad - right.taps + 1));
  auto alone = [&](int64_t at, int64_t last) {
    for (; at < last; ++at) {
      Taps some = t;
      int64_t left = maxOf<int64_t>(0, right.pad - at);
      some.kw = maxOf<int64_t>(0, minOf(right.taps, c.iw + right.pad - at) - left);
      some.from += (at + left) * kLanes, some.weights += left * Outputs * kLanes;
      pixel<V, Outputs>(some, c.bias, to + at, step);
    }
  };
  alone(begin, inside);
  int64_t rest = tiles<V, Outputs, Pixels>(t, c.bias, inside, outside, to, step);
  constexpr int kFew = Pixels < 4 ? Pixels : 4;
  if (outside - inside >= kFew)
    for (; rest < outside; rest += kFew) {  // the last overlaps what is before it
      int64_t at = minOf(rest, outside - kFew);
      Taps few = t;
      few.from += at * kLanes;
      tile<V, Outputs, kFew>(few, c.bias, to + at, step);
    }
  alone(minOf(rest, outside), end);
}

// Units [begin, end), each some columns of a row of the result.
template <class V, int Outputs, int Pixels>
void units(const Narrow &c, int64_t across, int64_t begin, int64_t end) {
  for (int64_t u = begin; u < end; ++u) {
    int64_t first = u % across * kUnitColumns, oy = u / across % c.oh, n = u / across / c.oh, plane = c.oh * c.ow;
    float *row = c.out + n * Outputs * plane + oy * c.ow;
    const float *weights = c.weights;
    for (int64_t i = 0; i < c.sh; ++i) {
      PhaseAxis down = c.down(i);
      if (oy % c.sh != down.first) {  // another phase's row
        weights += down.taps * c.blocks * c.kw * Outputs * kLanes;
        continue;
      }
      for (int64_t j = 0; j < c.sw; ++j) {
        PhaseAxis right = c.right(j);
        int64_t last = minOf(first + kUnitColumns, right.count(c.ow));
        if (c.sw == 1) {
          phaseRow<V, Outputs, Pixels>(c, down, right, weights, n, oy / c.sh, first, last, row, plane);
        } else {
          float sums[Outputs * kUnitColumns];
          phaseRow<V, Outputs, Pixels>(c, down, right, weights, n, oy / c.sh, first, last, sums - first, kUnitColumns);
          unroll<0, Outputs>([&](auto o) {
            for (int64_t x = first; x < last; ++x)
              row[o.value * plane + x * c.sw + right.first] = sums[o.value * kUnitColumns + x - first];
          });
        }
        weights += down.taps * c.blocks * right.taps * Outputs * kLanes;
      }
    }
  }
}

int32_t convBlocks(const onnxc_args *a) {  // attributes: channels, kernel_shape, strides, crops
  const onnxc_tensor &x = a->in[0], &w = a->in[1], &out = a->out[0];
  ONNXC_CHECK(x.rank == 5 && x.dims[4] == kLanes && (out.rank == 3 || out.rank == 4), ONNXC_K_SHAPE);
  auto ints = [&](int i) { return static_cast<const int64_t *>(a->attr[i].p); };
  const int64_t *kernel = ints(1), *strides = ints(2), *crops = ints(3);
  Narrow given{data<float>(x),
               data<float>(w),
               hasIn(a, 2) ? data<float>(a->in[2]) : nullptr,
               mutableData<float>(out),
               x.dims[0],
               x.dims[1],
               x.dims[2],
               x.dims[3],
               out.rank == 3 ? 1 : out.dims[2],
               out.dims[out.rank - 1],
               kernel[0],
               kernel[1],
               strides[0],
               strides[1],
               crops[0],
               crops[1],
               out.dims[1],
               a->attr[0].i,
               {}};
  for (int64_t i = 0; i < kLanes; ++i)
    given.lanes[i] = i < given.channels % kLanes ? ~0u : 0;
  const Narrow c = given;
  ONNXC_CHECK(c.blocks == (c.channels + kLanes - 1) / kLanes, ONNXC_K_SHAPE);
  ONNXC_CHECK(out.dims[0] == c.images && onnxc_count(w) == c.kh * c.kw * c.blocks * c.outputs * kLanes, ONNXC_K_SHAPE);
  if (onnxc_count(out) == 0)
    return ONNXC_K_OK;
  int64_t across = ((c.ow + c.sw - 1) / c.sw + kUnitColumns - 1) / kUnitColumns;
  constexpr int64_t perStep = 8;  // multiply-adds that take as long as an elementary operation
  int64_t work = c.kh * c.kw * c.blocks * kLanes * c.outputs * minOf(c.ow, kUnitColumns * c.sw) / (c.sh * c.sw * perStep);
  return parallelFor(a, c.images * c.oh * across, grainOf(work), [=](int64_t begin, int64_t end) -> int32_t {
    bool wide = onnxc_vector_bits >= 512;
    if (c.outputs == 1)
      wide ? units<v16, 1, 16>(c, across, begin, end) : units<v8, 1, 8>(c, across, begin, end);
    else if (c.outputs == 2)
      wide ? units<v16, 2, 8>(c, across, begin, end) : units<v8, 2, 4>(c, across, begin, end);
    else if (c.outputs == 3)
      wide ? units<v16, 3, 8>(c, across, begin, end) : units<v8, 3, 4>(c, across, begin, end);
    else
      wide ? units<v16, 4, 4>(c, across, begin, end) : units<v8, 4, 2>(c, across, begin, end);
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastConvBlocks(const onnxc_args *a) { return onnxc::convBlocks(a); }
