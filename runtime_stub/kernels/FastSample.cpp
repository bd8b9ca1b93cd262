// FastSample.cpp: GridSample of f32 and f64, DeformConv of f32. Where points read is worked out once for all channels, as tables of offsets
// and weights; DeformConv multiplies the sampled columns by register tiles. Oracle: Vision.cpp, which also takes many dims and wide
// filters.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Product.h"
#include "runtime_stub/kernels/Sample.h"
#include "runtime_stub/kernels/Window.h"

extern "C" int32_t onnxc_k_GridSample_f32(const onnxc_args *a);
extern "C" int32_t onnxc_k_GridSample_f64(const onnxc_args *a);
extern "C" int32_t onnxc_k_DeformConv_f32(const onnxc_args *a);

namespace onnxc {

constexpr int64_t kPoints = 128, kCombinations = 16, kColumnsPerPart = 512;

// What some points read of any plane: offsets (negative: zero) and weights of each combination of taps.
template <class T>
struct Points {
  int32_t at[kCombinations][kPoints];
  T weight[kCombinations][kPoints];
};

ONNXC_INLINE int64_t combinationsOf(int64_t taps, int64_t rank) {
  int64_t n = 1;
  for (int64_t i = 0; i < rank && n <= kCombinations; ++i)
    n *= taps;
  return n;
}

// Point i reads what `t` says, times `scale`.
template <class T>
ONNXC_INLINE void putPoint(Points<T> &p, const Taps &t, int64_t rank, int64_t i, double scale) {
  int64_t at[kCombinations] = {}, n = 1;
  double weight[kCombinations] = {scale};
  for (int64_t axis = 0; axis < rank; ++axis, n *= t.count)
    for (int64_t k = t.count; k-- > 0;)
      for (int64_t j = 0; j < n; ++j) {
        at[k * n + j] = at[j] < 0 || t.at[axis][k] < 0 ? -1 : at[j] + t.at[axis][k];
        weight[k * n + j] = weight[j] * t.weight[axis][k];
      }
  for (int64_t k = 0; k < n; ++k) {
    p.at[k][i] = int32_t(at[k]);
    p.weight[k][i] = at[k] < 0 ? 0 : T(weight[k]);
  }
}

enum class Edge { Zeros, Border, Reflection };

// As reflect() has it, without branches; `align`: edges are the centres of the last pixels.
ONNXC_INLINE double reflected(bool align, double x, int64_t dim) {
  double low = align ? 0 : -0.5, high = double(dim) - (align ? 1 : 0.5), span = high - low;
  double over = x < low ? low - x : x - high, turns = __builtin_elementwise_floor(over / (span > 0 ? span : 1)), rest = over - turns * span;
  bool near = turns == 2 * __builtin_elementwise_floor(turns / 2);
  double inside = (x < low) == near ? low + rest : high - rest;
  return !(over > 0) ? x : span > 0 ? inside : low;
}

// Tap i of a dim of at least 3, at most two beyond its edges, as paddedIndex has it; -1: outside.
template <Edge E>
ONNXC_INLINE int32_t tapAt(bool align, int32_t i, int32_t end) {
  int32_t inside = i < 0 ? 0 : i < end ? i : end - 1, beyond = align ? 0 : 1;
  if (E == Edge::Reflection)
    return i < 0 ? -i - beyond : i < end ? i : 2 * end - 2 + beyond - i;
  return E == Edge::Border || i == inside ? inside : -1;
}

// A normalised coordinate in places of its dim, without branches. As gridTaps has it.
template <class G>
ONNXC_INLINE G placeOf(bool align, G n, int64_t dim) {
  G where = G(align ? (double(n) + 1) / 2 * double(dim - 1) : ((double(n) + 1) * double(dim) - 1) / 2);
  return where != where ? -1 : where < G(-1e9) ? G(-1e9) : where > G(1e9) ? G(1e9) : where;
}
template <class G>
ONNXC_INLINE G clamped(G x, int64_t dim) {
  return x < 0 ? 0 : x > G(dim - 1) ? G(dim - 1) : x;
}
// Between the edge and the centre of its pixel both taps are that pixel: its neighbour may be infinite, which a weight of zero does not
// hide.
template <class G>
ONNXC_INLINE G clampedBeyond(bool align, G x, int64_t dim) {
  double low = align ? 0 : -0.5, high = double(dim) - (align ? 1 : 0.5);
  return double(x) < low ? 0 : double(x) > high ? G(dim - 1) : x;
}

// The two taps around place x of a dim: plane offsets (-1: outside) and weights. Of Border and Reflection x is no place outside.
template <Edge E, class T>
ONNXC_INLINE void linearTaps(bool align, T x, int64_t dim, int64_t stride, int32_t (&at)[2], double (&weight)[2]) {
  T low = __builtin_elementwise_floor(x);
  int32_t first = int32_t(low), end = int32_t(dim), step = int32_t(stride);
  if (E == Edge::Border)  // the last place may round to one behind it
    first = first < end ? first : end - 1;
  unroll<0, 2>([&](auto k) {
    int32_t tap = tapAt<E>(align, first + k.value, end);
    at[k.value] = E != Edge::Zeros || tap >= 0 ? tap * step : -1;
  });
  weight[1] = double(x) - double(low);
  weight[0] = 1 - weight[1];
}

// The four taps around place x of a dim, as gridTaps has them: each is moved to the border or outside by itself.
template <Edge E, class T>
ONNXC_INLINE void cubicTaps(bool align, T x, int64_t dim, int64_t stride, int32_t (&at)[4], double (&weight)[4]) {
  T low = __builtin_elementwise_floor(x);
  int32_t first = int32_t(low) - 1, end = int32_t(dim), step = int32_t(stride);
  double r = double(x) - double(low);
  unroll<0, 4>([&](auto k) {
    int32_t tap = tapAt<E>(align, first + k.value, end);
    at[k.value] = E != Edge::Zeros || tap >= 0 ? tap * step : -1;
  });
  weight[0] = cubicWeight(-0.75, 1 + r), weight[1] = cubicWeight(-0.75, r);
  weight[2] = cubicWeight(-0.75, 1 - r), weight[3] = cubicWeight(-0.75, 2 - r);
}

// Point i reads the corners that the taps of a row and a column make, times `scale`: putPoint for two dims.
template <int Taps, class T>
ONNXC_INLINE void putCorners(Points<T> &p, int64_t i, const int32_t (&row)[Taps], const double (&down)[Taps], const int32_t (&column)[Taps],
                             const double (&along)[Taps], double scale) {
  unroll<0, Taps * Taps>([&](auto k) {
    constexpr int right = k.value / Taps, below = k.value % Taps;
    bool outside = (row[below] | column[right]) < 0;
    p.at[k.value][i] = outside ? -1 : row[below] + column[right];
    p.weight[k.value][i] = outside ? 0 : T(scale * down[below] * along[right]);
  });
}

// The tap of one coordinate of nearest sampling.
template <Edge E, class G>
ONNXC_INLINE int32_t nearestTap(bool align, G n, int64_t dim, int64_t stride) {
  G x = placeOf(align, n, dim);
  int32_t end = int32_t(dim), at;
  if constexpr (E == Edge::Reflection) {
    at = int32_t(reflected(align, double(__builtin_elementwise_rint(x)), dim));
    at = at < 0 ? 0 : at;
  } else {
    at = int32_t(__builtin_elementwise_rint(E == Edge::Border ? clamped(x, dim) : x));
  }
  if (E != Edge::Zeros)
    at = at < end ? at : end - 1;
  return at >= 0 && at < end ? at * int32_t(stride) : -1;
}

// Points of an image of two dims, sampled at the nearest place: putPoint for all of them side by side.
template <Edge E, class T, class G>
static void nearestPoints(bool align, const G *__restrict where, const int64_t *dims, Points<T> &p, int64_t n) {
  int64_t height = dims[0], width = dims[1];
  for (int64_t i = 0; i < n; ++i) {
    int32_t row = nearestTap<E>(align, where[2 * i + 1], height, width), column = nearestTap<E>(align, where[2 * i], width, 1);
    p.at[0][i] = (row | column) < 0 ? -1 : row + column;
    p.weight[0][i] = p.at[0][i] < 0 ? 0 : 1;
  }
}

// The taps of one coordinate: two of linear sampling, four of cubic.
template <Edge E, int Taps, class G>
ONNXC_INLINE void tapsOf(bool align, G n, int64_t dim, int64_t stride, int32_t (&at)[Taps], double (&weight)[Taps]) {
  G x = placeOf(align, n, dim);
  auto taps = [&](auto place) {
    if constexpr (Taps == 2)
      linearTaps<E>(align, place, dim, stride, at, weight);
    else
      cubicTaps<E>(align, place, dim, stride, at, weight);
  };
  if constexpr (E == Edge::Reflection)
    taps(reflected(align, double(x), dim));
  else
    taps(E == Edge::Border && Taps == 2 ? clampedBeyond(align, x, dim) : x);
}

// Points of an image of two dims, sampled between pixels: putPoint for all of them side by side.
template <int Taps, Edge E, class T, class G>
static void tapPoints(bool align, const G *__restrict where, const int64_t *dims, Points<T> &p, int64_t n) {
  int64_t height = dims[0], width = dims[1];
  for (int64_t i = 0; i < n; ++i) {
    int32_t row[Taps], column[Taps];
    double down[Taps], along[Taps];
    tapsOf<E>(align, where[2 * i + 1], height, width, row, down);
    tapsOf<E>(align, where[2 * i], width, 1, column, along);
    putCorners(p, i, row, down, column, along, 1);
  }
}

// Points of an image of two dims.
template <Edge E, class T, class G>
static void imagePoints(const GridMode &m, const G *where, const int64_t *dims, Points<T> &p, int64_t n) {
  auto points = m.nearest ? nearestPoints<E, T, G> : m.cubic ? tapPoints<4, E, T, G> : tapPoints<2, E, T, G>;
  points(m.align, where, dims, p, n);
}

// `Finite`: the first pixel is, so that it adds nothing in place of those outside, whose weight is zero.
template <int Combinations, bool Finite, class T>
static void sampleFrom(const Points<T> &p, const T *__restrict plane, T *__restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T sum = 0;
    unroll<0, Combinations>([&](auto k) {
      int32_t at = p.at[k.value][i];
      T v = plane[at < 0 ? 0 : at];
      sum = multiplyAdd(!Finite && at < 0 ? T(0) : v, p.weight[k.value][i], sum);
    });
    to[i] = sum;
  }
}

template <int Combinations, class T>
static void samplePlane(const Points<T> &p, const T *plane, T *to, int64_t n) {
  bool finite = plane[0] * 0 == 0;
  (finite ? sampleFrom<Combinations, true, T> : sampleFrom<Combinations, false, T>)(p, plane, to, n);
}

template <class T>
ONNXC_INLINE void samplePlane(const Points<T> &p, int64_t combinations, const T *plane, T *to, int64_t n) {
  switch (combinations) {
  case 1:
    return samplePlane<1>(p, plane, to, n);
  case 2:
    return samplePlane<2>(p, plane, to, n);
  case 4:
    return samplePlane<4>(p, plane, to, n);
  case 8:
    return samplePlane<8>(p, plane, to, n);
  default:
    return samplePlane<16>(p, plane, to, n);
  }
}

template <class T>
static int32_t literalGridSample(const onnxc_args *a) {
  return sizeof(T) == 8 ? onnxc_k_GridSample_f64(a) : onnxc_k_GridSample_f32(a);
}

// Units are blocks of points of one image. T: the image's type, G: the grid's.
template <class T, class G>
static int32_t gridSample(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &grid = a->in[1];
  GridMode m = gridMode(a);
  int64_t rank = x.rank - 2, plane = product(x.dims, 2, x.rank), taps = m.nearest ? 1 : m.cubic ? 4 : 2;
  if (rank < 1 || rank > 3 || combinationsOf(taps, rank) > kCombinations || plane > INT32_MAX)
    return literalGridSample<T>(a);
  int64_t points = product(grid.dims, 1, grid.rank - 1), channels = x.dims[1], blocks = (points + kPoints - 1) / kPoints;
  ONNXC_CHECK(grid.rank == x.rank && grid.dims[0] == x.dims[0] && grid.dims[grid.rank - 1] == rank, ONNXC_K_SHAPE);
  ONNXC_CHECK(onnxc_count(a->out[0]) == x.dims[0] * channels * points, ONNXC_K_SHAPE);
  ONNXC_CHECK(plane > 0 || onnxc_count(a->out[0]) == 0, ONNXC_K_SIZE);
  const T *from = data<T>(x);
  const G *where = data<G>(grid);
  T *to = mutableData<T>(a->out[0]);
  const int64_t *dims = x.dims + 2;
  bool plain = rank == 2 && (!m.reflection || (dims[0] > 2 && dims[1] > 2));  // else taps may be reflected twice
  return parallelFor(a, plane ? x.dims[0] * blocks : 0, grainOf(kPoints * (channels * 4 + 64)), [=](int64_t begin, int64_t end) {
    Points<T> p;
    Taps t;
    t.count = taps;
    int64_t strides[3];
    contiguous(dims, rank, strides);
    for (int64_t u = begin; u < end; ++u) {
      int64_t image = u / blocks, first = u % blocks * kPoints, n = minOf(kPoints, points - first);
      const G *at = where + (image * points + first) * rank;
      if (plain)
        (m.border       ? imagePoints<Edge::Border, T, G>
         : m.reflection ? imagePoints<Edge::Reflection, T, G>
                        : imagePoints<Edge::Zeros, T, G>)(m, at, dims, p, n);
      for (int64_t i = 0; i < n && !plain; ++i, at += rank) {
        for (int64_t d = 0; d < rank; ++d)  // a grid point lists x first, dims list it last
          gridTaps(m, double(at[rank - 1 - d]), dims[d], strides[d], t, d);
        putPoint(p, t, rank, i, 1);
      }
      for (int64_t c = image * channels; c < (image + 1) * channels; ++c)
        samplePlane(p, combinationsOf(taps, rank), from + c * plane, to + c * points + first, n);
    }
    return 0;
  });
}

template <class T>
static int32_t gridSample(const onnxc_args *a) {
  int32_t grid = a->in[1].dtype;
  return grid == ONNXC_F32 ? gridSample<T, float>(a) : grid == ONNXC_F64 ? gridSample<T, double>(a) : literalGridSample<T>(a);
}

// The operands of a DeformConv of one image.
struct Deformed {
  Window w;
  const float *image, *offset, *mask;  // image: [plane + 1, channels], a row of zeros last; mask: may be null
  int64_t taps, plane, points, offsetGroups, perOffset, channels, perGroup;
};

// As zeroPaddedTaps has it: what is no place of the image is outside.
ONNXC_INLINE double deformedPlace(double x) { return x == x && __builtin_fabs(x) < 1e9 ? x : -9; }

// Samples of tap `tap` of offset group `g` at result points [first, first + n), n at most kPoints, of an image of two dims.
static void deformImagePoints(const Deformed &d, int64_t g, int64_t tap, int64_t first, int64_t n, Points<float> &p) {
  int64_t field = g * d.taps + tap, height = d.w.in[0], width = d.w.in[1], stride = d.w.stride[1];
  int64_t top = tap / d.w.kernel[1] * d.w.dilation[0] - d.w.begin[0], left = tap % d.w.kernel[1] * d.w.dilation[1] - d.w.begin[1];
  const float *down = d.offset + field * 2 * d.points, *along = down + d.points, *mask = d.mask ? d.mask + field * d.points : nullptr;
  for (int64_t i = 0; i < n;) {
    int64_t row = (first + i) / d.w.out[1], column = (first + i) % d.w.out[1], m = minOf(n - i, d.w.out[1] - column);
    double y = double(row * d.w.stride[0] + top), x = double(column * stride + left), step = double(stride);
    for (int64_t j = 0; j < m; ++j) {
      int32_t rowAt[2], columnAt[2];
      double rowWeight[2], columnWeight[2];
      int64_t point = first + i + j;
      linearTaps<Edge::Zeros>(false, deformedPlace(y + double(down[point])), height, width, rowAt, rowWeight);
      linearTaps<Edge::Zeros>(false, deformedPlace(x + double(int32_t(j)) * step + double(along[point])), width, 1, columnAt, columnWeight);
      putCorners(p, i + j, rowAt, rowWeight, columnAt, columnWeight, mask ? double(mask[point]) : 1);
    }
    i += m;
  }
}

// The same of any dims.
static void deformPoints(const Deformed &d, int64_t g, int64_t tap, int64_t first, int64_t n, Points<float> &p) {
  int64_t strides[kMaxRank], rank = d.w.rank, field = g * d.taps + tap;
  contiguous(d.w.in, rank, strides);
  Taps t;
  t.count = 2;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = rank, point = first + i, at = tap; k-- > 0; point /= d.w.out[k], at /= d.w.kernel[k]) {
      int64_t origin = point % d.w.out[k] * d.w.stride[k] + at % d.w.kernel[k] * d.w.dilation[k] - d.w.begin[k];
      zeroPaddedTaps(double(origin) + double(d.offset[(field * rank + k) * d.points + first + i]), d.w.in[k], strides[k], t, k);
    }
    putPoint(p, t, rank, i, d.mask ? double(d.mask[field * d.points + first + i]) : 1);
  }
}

// Channels [first, end) of point i, those of a group side by side for each tap: to[group, tap, channel of the group].
template <int Combinations>
static void sampleChannels(const Deformed &d, const Points<float> &p, int64_t i, int64_t first, int64_t end, int64_t tap, float *to) {
  const float *from[Combinations];
  float weight[Combinations];
  unroll<0, Combinations>([&](auto k) {
    int64_t at = p.at[k.value][i];
    from[k.value] = d.image + (at < 0 ? d.plane : at) * d.channels;
    weight[k.value] = p.weight[k.value][i];
  });
  for (int64_t c = first, next; c < end; c = next) {
    int64_t group = c / d.perGroup;
    next = minOf(end, (group + 1) * d.perGroup);
    float *__restrict out =
        to + (group * d.taps + tap) * d.perGroup - group * d.perGroup;  // its channels are counted from the image's first
    for (int64_t e = c; e < next; ++e) {
      float sum = 0;
      unroll<0, Combinations>([&](auto k) { sum = multiplyAdd(from[k.value][e], weight[k.value], sum); });
      out[e] = sum;
    }
  }
}

// Points [first, first + width) as rows of [group, tap, channel].
template <int Combinations>
static int32_t deformColumns(const onnxc_args *a, const Deformed &d, int64_t first, int64_t width, float *columns) {
  return parallelFor(a, d.offsetGroups * d.taps, grainOf(width * (d.perOffset + 64)), [=, &d](int64_t begin, int64_t end) {
    Points<float> p;
    for (int64_t u = begin; u < end; ++u)
      for (int64_t i = 0; i < width; i += kPoints) {
        int64_t g = u / d.taps, tap = u % d.taps, n = minOf(kPoints, width - i);
        (Combinations == 4 ? deformImagePoints : deformPoints)(d, g, tap, first + i, n, p);
        for (int64_t j = 0; j < n; ++j)
          sampleChannels<Combinations>(d, p, j, g * d.perOffset, (g + 1) * d.perOffset, tap, columns + (i + j) * d.channels * d.taps);
      }
    return 0;
  });
}

// One image, part of the points after part.
static int32_t deformImage(const onnxc_args *a, const Deformed &d, const float *start, float *columns, float *out) {
  const onnxc_tensor &weights = a->in[1];
  int64_t groups = a->attr[1].i, results = weights.dims[0] / groups, channels = d.perGroup, taps = d.taps, inner = channels * taps;
  auto column = d.w.rank == 1 ? deformColumns<2> : d.w.rank == 2 ? deformColumns<4> : deformColumns<8>;
  for (int64_t first = 0; first < d.points; first += kColumnsPerPart) {
    int64_t width = minOf(kColumnsPerPart, d.points - first);
    ONNXC_TRY(column(a, d, first, width, columns));
    for (int64_t g = 0; g < groups; ++g) {
      const float *filter = data<float>(weights) + g * results * inner, *samples = columns + g * inner;
      auto packA = [=](float *p, int64_t row, int64_t k, int64_t panel, int64_t depth) {  // a filter has its channels first
        int64_t have = minOf(panel, results - row);
        for (int64_t e = k; e < k + depth; ++e, p += panel)
          for (int64_t i = 0; i < panel; ++i)
            p[i] = i < have ? filter[(row + i) * inner + e % channels * taps + e / channels] : 0;
      };
      auto packB = [=](float *p, int64_t col, int64_t k, int64_t panel, int64_t depth) {
        packPanel(p, samples, width, col, groups * inner, k, 1, panel, depth);
      };
      ONNXC_TRY(product(a, results, width, inner, out + g * results * d.points + first, d.points, start + g * results, packA, packB));
    }
  }
  return 0;
}

// Operands: X, W, offset, B, mask. Attributes: dilations, group, kernel_shape, offset_group, pads, strides.
static int32_t deformConv(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &offset = a->in[2], &out = a->out[0];
  if (x.rank < 3 || x.rank > 5 || onnxc_count(x) == 0 || onnxc_count(x) > INT32_MAX || onnxc_count(out) == 0)
    return onnxc_k_DeformConv_f32(a);
  Deformed d;
  int64_t groups = a->attr[1].i, channels = weights.dims[1], results = weights.dims[0];
  d.offsetGroups = a->attr[3].i;
  ONNXC_CHECK(weights.rank == x.rank && offset.rank == x.rank, ONNXC_K_SHAPE);
  ONNXC_TRY(readWindow(x, out, weights.dims + 2, {nullptr, &a->attr[0], &a->attr[2], &a->attr[4], &a->attr[5]}, d.w));
  ONNXC_CHECK(groups > 0 && d.offsetGroups > 0 && channels * groups == x.dims[1] && results % groups == 0, ONNXC_K_SHAPE);
  ONNXC_CHECK(x.dims[1] % d.offsetGroups == 0 && out.dims[1] == results && out.dims[0] == x.dims[0], ONNXC_K_SHAPE);
  d.taps = d.w.kernelSize();
  d.plane = d.w.inPlane();
  d.points = d.w.outPlane();
  d.channels = x.dims[1];
  d.perOffset = d.channels / d.offsetGroups;
  d.perGroup = channels;
  int64_t fields = d.offsetGroups * d.taps * d.points;
  ONNXC_CHECK(onnxc_count(offset) == x.dims[0] * fields * d.w.rank, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 3) || onnxc_count(a->in[3]) == results, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 4) || onnxc_count(a->in[4]) == x.dims[0] * fields, ONNXC_K_SHAPE);
  float *columns = heap<float>(a, d.channels * d.taps * minOf(d.points, kColumnsPerPart));
  float *image = heap<float>(a, (d.plane + 1) * d.channels);
  const float *start = rowStarts(a, results, hasIn(a, 3) ? data<float>(a->in[3]) : nullptr);
  ONNXC_CHECK(columns && image && start, ONNXC_K_MEMORY);
  for (int64_t n = 0; n < x.dims[0]; ++n) {
    const float *from = data<float>(x) + n * d.channels * d.plane;
    for (int64_t at = 0; at < d.plane; ++at)
      for (int64_t c = 0; c < d.channels; ++c)
        image[at * d.channels + c] = from[c * d.plane + at];
    memset(image + d.plane * d.channels, 0, size_t(d.channels) * sizeof(float));
    d.image = image;
    d.offset = data<float>(offset) + n * fields * d.w.rank;
    d.mask = hasIn(a, 4) ? data<float>(a->in[4]) + n * fields : nullptr;
    ONNXC_TRY(deformImage(a, d, start, columns, mutableData<float>(out) + n * results * d.points));
  }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastGridSample_f32(const onnxc_args *a) { return onnxc::gridSample<float>(a); }
extern "C" int32_t onnxc_k_FastGridSample_f64(const onnxc_args *a) { return onnxc::gridSample<double>(a); }
extern "C" int32_t onnxc_k_FastDeformConv(const onnxc_args *a) { return onnxc::deformConv(a); }
