// Vision.cpp: kernels that sample images: GridSample, AffineGrid, DeformConv, RoiAlign, MaxRoiPool, Col2Im. Fast forms: FastSample.cpp.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/RoiBins.h"
#include "runtime_stub/kernels/Sample.h"
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

// How an element is weighed: as double or, of two parts, as complex<double>; strings are taken as they are.
template <class T>
struct Weighed {
  using type = double;
  static double in(T v) { return toF64(v); }
  static T out(double v) { return fromF64<T>(v); }
};
template <class T>
struct Weighed<complex<T>> : Via<complex<T>> {
  using type = c128;
};
template <>
struct Weighed<onnxc_string> {
  static onnxc_string out(onnxc_string v) { return v; }
};

// Σ over all combinations of taps.
template <class T>
static typename Weighed<T>::type sampleAt(const Taps &t, int64_t rank, const T *plane) {
  typename Weighed<T>::type sum{};
  int64_t pick[kMaxRank] = {}, combinations = 1;
  for (int64_t i = 0; i < rank; ++i)
    combinations *= t.count;
  for (; combinations > 0; --combinations) {
    int64_t at = 0;
    double weight = 1;
    bool outside = false;
    for (int64_t i = 0; i < rank; ++i) {
      outside |= t.at[i][pick[i]] < 0;
      at += t.at[i][pick[i]];
      weight *= t.weight[i][pick[i]];
    }
    if (!outside)
      sum = sum + weight * Weighed<T>::in(plane[at]);
    for (int64_t i = rank; i-- > 0;) {
      if (++pick[i] < t.count)
        break;
      pick[i] = 0;
    }
  }
  return sum;
}
static onnxc_string sampleAt(const Taps &t, int64_t rank, const onnxc_string *plane) {
  int64_t at = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (t.at[i][0] < 0)
      return {};
    at += t.at[i][0];
  }
  return plane[at];
}

template <class T>
static int32_t gridSample(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &grid = a->in[1];
  ONNXC_CHECK(x.rank >= 3 && x.rank <= kMaxRank && grid.rank == x.rank && grid.dims[0] == x.dims[0], ONNXC_K_SHAPE);
  int64_t rank = x.rank - 2, plane = product(x.dims, 2, x.rank), points = product(grid.dims, 1, grid.rank - 1);
  ONNXC_CHECK(grid.dims[grid.rank - 1] == rank && onnxc_count(a->out[0]) == x.dims[0] * x.dims[1] * points, ONNXC_K_SHAPE);
  if (onnxc_count(a->out[0]) == 0)
    return 0;
  ONNXC_CHECK(plane > 0, ONNXC_K_SIZE);
  GridMode m = gridMode(a);
  ONNXC_CHECK(m.nearest || x.dtype != ONNXC_STR, ONNXC_K_VALUE);
  int64_t strides[kMaxRank];
  contiguous(x.dims + 2, rank, strides);
  Taps t;
  t.count = m.nearest ? 1 : m.cubic ? 4 : 2;
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      for (int64_t i = 0; i < rank; ++i)  // a grid point lists x first, dims list it last
        gridTaps(m, loadF64(grid, (n * points + p) * rank + rank - 1 - i), x.dims[i + 2], strides[i], t, i);
      for (int64_t c = n * x.dims[1]; c < (n + 1) * x.dims[1]; ++c)
        mutableData<T>(a->out[0])[c * points + p] = Weighed<T>::out(sampleAt(t, rank, data<T>(x) + c * plane));
    }
  return 0;
}

static int32_t affineGridSize(const onnxc_args *a) {
  int64_t n = onnxc_count(a->in[1]);
  ONNXC_CHECK((n == 4 || n == 5) && a->out[0].rank == n, ONNXC_K_SHAPE);
  a->out[0].dims[0] = loadI64(a->in[1], 0);
  for (int64_t i = 1; i < n - 1; ++i)
    a->out[0].dims[i] = loadI64(a->in[1], i + 1);
  a->out[0].dims[n - 1] = n - 2;
  for (int64_t i = 0; i < n; ++i)
    ONNXC_CHECK(a->out[0].dims[i] >= 0, ONNXC_K_SIZE);
  return 0;
}

// Rows [begin, end) of points along the last dim. `at`: the normalised positions of the dims, one dim after the other.
template <class T, int Rank>
static void affineRows(const onnxc_tensor &theta, const onnxc_tensor &out, const double *at, int64_t begin, int64_t end) {
  const int64_t *dims = out.dims + 1;
  int64_t width = dims[Rank - 1], rows = product(dims, 0, Rank - 1);
  const double *x = at;
  for (int i = 0; i < Rank - 1; ++i)
    x += dims[i];
  for (int64_t u = begin; u < end; ++u) {
    double matrix[Rank][Rank + 1], outer[Rank], start[Rank];  // outer[i]: position of dim i from the last; start: what a row shares
    const T *from = data<T>(theta) + u / rows * Rank * (Rank + 1);
    for (int i = 0; i < Rank * (Rank + 1); ++i)
      matrix[i / (Rank + 1)][i % (Rank + 1)] = toF64(from[i]);
    const double *table = x;
    for (int64_t i = Rank - 1, rest = u % rows; i-- > 0; rest /= dims[i]) {
      table -= dims[i];
      outer[Rank - 1 - i] = table[rest % dims[i]];
    }
    for (int r = 0; r < Rank; ++r) {
      start[r] = matrix[r][Rank];
      for (int i = 1; i < Rank; ++i)
        start[r] += matrix[r][i] * outer[i];
    }
    T *to = mutableData<T>(out) + u * width * Rank;
    for (int64_t k = 0; k < width; ++k)
      for (int r = 0; r < Rank; ++r)
        to[k * Rank + r] = fromF64<T>(start[r] + matrix[r][0] * x[k]);
  }
}

template <class T>
static int32_t affineGrid(const onnxc_args *a) {  // attributes: align_corners
  const onnxc_tensor &theta = a->in[0], &out = a->out[0];
  int64_t rank = out.rank - 2, total = 0;
  ONNXC_CHECK((rank == 2 || rank == 3) && theta.rank == 3 && theta.dims[0] == out.dims[0] && theta.dims[1] == rank, ONNXC_K_SHAPE);
  ONNXC_CHECK(theta.dims[2] == rank + 1 && out.dims[rank + 1] == rank, ONNXC_K_SHAPE);
  if (onnxc_count(out) == 0)
    return 0;
  for (int64_t i = 0; i < rank; ++i)
    total += out.dims[i + 1];
  double *at = heap<double>(a, total), *next = at;
  ONNXC_CHECK(at, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < rank; ++i)
    for (int64_t k = 0, dim = out.dims[i + 1]; k < dim; ++k)
      *next++ = !a->attr[0].i ? (2 * double(k) + 1) / double(dim) - 1 : dim == 1 ? 0 : 2 * double(k) / double(dim - 1) - 1;
  int64_t rows = product(out.dims, 0, rank);
  rank == 2 ? affineRows<T, 2>(theta, out, at, 0, rows) : affineRows<T, 3>(theta, out, at, 0, rows);
  return 0;
}

// Operands: X, W, offset, B, mask. Attributes: dilations, group, kernel_shape, offset_group, pads, strides.
template <class T>
static int32_t deformConv(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &offset = a->in[2], &out = a->out[0];
  ONNXC_CHECK(weights.rank == x.rank && offset.rank == x.rank && x.rank >= 3, ONNXC_K_SHAPE);
  Window w;
  WindowAttrs attrs = {nullptr, &a->attr[0], &a->attr[2], &a->attr[4], &a->attr[5]};
  ONNXC_TRY(readWindow(x, out, weights.dims + 2, attrs, w));
  int64_t groups = a->attr[1].i, offsetGroups = a->attr[3].i, channels = weights.dims[1], results = weights.dims[0], taps = w.kernelSize();
  ONNXC_CHECK(groups > 0 && offsetGroups > 0 && channels * groups == x.dims[1] && results % groups == 0, ONNXC_K_SHAPE);
  ONNXC_CHECK(x.dims[1] % offsetGroups == 0 && out.dims[1] == results, ONNXC_K_SHAPE);
  int64_t points = w.outPlane(), plane = w.inPlane(), perOffset = x.dims[1] / offsetGroups, strides[kMaxRank];
  ONNXC_CHECK(onnxc_count(offset) == x.dims[0] * offsetGroups * taps * w.rank * points, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 3) || onnxc_count(a->in[3]) == results, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 4) || onnxc_count(a->in[4]) == x.dims[0] * offsetGroups * taps * points, ONNXC_K_SHAPE);
  contiguous(w.in, w.rank, strides);
  double *samples = heap<double>(a, x.dims[1] * taps);
  ONNXC_CHECK(samples, ONNXC_K_MEMORY);
  Taps t;
  t.count = 2;
  for (int64_t n = 0; n < x.dims[0]; ++n) {
    Odometer<0> o;
    int64_t p = 0;
    for (o.init(w.out, w.rank); o.more(); o.next(), ++p) {
      for (int64_t g = 0; g < offsetGroups; ++g) {
        Odometer<0> k;
        int64_t tap = 0;
        for (k.init(w.kernel, w.rank); k.more(); k.next(), ++tap) {
          int64_t field = (n * offsetGroups + g) * taps + tap;
          for (int64_t i = 0; i < w.rank; ++i) {
            double moved = toF64(data<T>(offset)[(field * w.rank + i) * points + p]);
            zeroPaddedTaps(double(o.index[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i]) + moved, w.in[i], strides[i], t, i);
          }
          double mask = hasIn(a, 4) ? toF64(data<T>(a->in[4])[field * points + p]) : 1;
          for (int64_t c = g * perOffset; c < (g + 1) * perOffset; ++c)
            samples[c * taps + tap] = mask * sampleAt(t, w.rank, data<T>(x) + (n * x.dims[1] + c) * plane);
        }
      }
      for (int64_t m = 0; m < results; ++m) {
        double sum = hasIn(a, 3) ? toF64(data<T>(a->in[3])[m]) : 0;
        const double *from = samples + m / (results / groups) * channels * taps;
        for (int64_t i = 0; i < channels * taps; ++i)
          sum += from[i] * toF64(data<T>(weights)[m * channels * taps + i]);
        mutableData<T>(out)[(n * results + m) * points + p] = fromF64<T>(sum);
      }
    }
  }
  return 0;
}

// Mean or greatest of the samples of a bin of an image of `dims`. A sample outside counts as zero.
template <class T>
static double binValue(const RoiSide (&side)[2], const T *plane, const int64_t *dims, int64_t ph, int64_t pw, bool most) {
  RoiSide::Range rows = side[0].inside(ph, dims[0]), columns = side[1].inside(pw, dims[1]);
  double sum = 0, samples = double(side[0].grid) * double(side[1].grid);
  bool isUnset = double(rows.end - rows.begin) * double(columns.end - columns.begin) >= samples;  // one outside sets it
  double best = 0;
  for (int64_t i = rows.begin; i < rows.end; ++i)
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      double at[2] = {maxOf(side[0].at(ph, i), 0.0), maxOf(side[1].at(pw, j), 0.0)}, corner[4], value = 0;
      int64_t low[2], high[2];
      for (int k = 0; k < 2; ++k) {
        low[k] = minOf(int64_t(at[k]), dims[k] - 1);
        high[k] = minOf(low[k] + 1, dims[k] - 1);
        at[k] = low[k] == dims[k] - 1 ? 0 : at[k] - double(low[k]);
      }
      for (int k = 0; k < 4; ++k) {
        double weight = (k & 2 ? at[0] : 1 - at[0]) * (k & 1 ? at[1] : 1 - at[1]);
        corner[k] = weight * toF64(plane[(k & 2 ? high[0] : low[0]) * dims[1] + (k & 1 ? high[1] : low[1])]);
        value += corner[k];
      }
      sum += value;
      double greatest = maxOf(maxOf(corner[0], corner[1]), maxOf(corner[2], corner[3]));
      best = isUnset ? greatest : maxOf(best, greatest);
      isUnset = false;
    }
  return most ? best : sum / maxOf(1.0, samples);
}

template <class T>
static int32_t roiAlign(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &out = a->out[0];
  ONNXC_TRY(checkRois(a));
  bool most = is(text(a->attr[1]), "max");
  int64_t cells = out.dims[2] * out.dims[3], plane = x.dims[2] * x.dims[3];
  for (int64_t r = 0; r < out.dims[0]; ++r) {
    RoiBins b;
    ONNXC_TRY(readRoi<T>(a, r, b));
    for (int64_t c = 0; c < x.dims[1]; ++c)
      for (int64_t i = 0; i < cells; ++i)
        mutableData<T>(out)[(r * x.dims[1] + c) * cells + i] = fromF64<T>(
            binValue(b.side, data<T>(x) + (b.image * x.dims[1] + c) * plane, x.dims + 2, i / out.dims[3], i % out.dims[3], most));
  }
  return 0;
}

template <class T>
static int32_t maxRoiPool(const onnxc_args *a) {  // attributes: spatial_scale
  const onnxc_tensor &x = a->in[0], &rois = a->in[1], &out = a->out[0];
  ONNXC_CHECK(x.rank == 4 && rois.rank == 2 && rois.dims[1] == 5 && out.rank == 4 && out.dims[0] == rois.dims[0], ONNXC_K_SHAPE);
  int64_t cells = out.dims[2] * out.dims[3], plane = x.dims[2] * x.dims[3];
  Cell *rows = heap<Cell>(a, out.dims[2]), *columns = heap<Cell>(a, out.dims[3]);
  ONNXC_CHECK(rows && columns, ONNXC_K_MEMORY);
  for (int64_t r = 0; r < rois.dims[0]; ++r) {
    const T *roi = data<T>(rois) + r * 5;
    int64_t image = truncToI64(toF64(roi[0]));
    ONNXC_CHECK(image >= 0 && image < x.dims[0], ONNXC_K_INDEX);
    ONNXC_TRY(roiCells(toF64(roi[2]), toF64(roi[4]), a->attr[0].f, out.dims[2], x.dims[2], rows));
    ONNXC_TRY(roiCells(toF64(roi[1]), toF64(roi[3]), a->attr[0].f, out.dims[3], x.dims[3], columns));
    for (int64_t i = 0; i < cells; ++i) {
      Cell down = rows[i / out.dims[3]], across = columns[i % out.dims[3]];
      for (int64_t c = 0; c < x.dims[1]; ++c) {
        double best = down.begin < down.end && across.begin < across.end ? -__builtin_inf() : 0;
        for (int64_t h = down.begin; h < down.end; ++h)
          for (int64_t v = across.begin; v < across.end; ++v)
            best = maxOf(best, toF64(data<T>(x)[(image * x.dims[1] + c) * plane + h * x.dims[3] + v]));
        mutableData<T>(out)[(r * x.dims[1] + c) * cells + i] = fromF64<T>(best);
      }
    }
  }
  return 0;
}

static int32_t col2ImSize(const onnxc_args *a) {
  int64_t rank = onnxc_count(a->in[1]), block = 1;
  ONNXC_CHECK(a->in[0].rank == 3 && a->out[0].rank == rank + 2 && onnxc_count(a->in[2]) == rank, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < rank; ++i) {
    a->out[0].dims[i + 2] = loadI64(a->in[1], i);
    ONNXC_CHECK(a->out[0].dims[i + 2] >= 0, ONNXC_K_SIZE);
    block *= loadI64(a->in[2], i);
  }
  ONNXC_CHECK(block > 0 && a->in[0].dims[1] % block == 0, ONNXC_K_SHAPE);
  a->out[0].dims[0] = a->in[0].dims[0];
  a->out[0].dims[1] = a->in[0].dims[1] / block;
  return 0;
}

// Adds each column's elements onto the window they came from.
template <class T>
static int32_t col2Im(const onnxc_args *a) {
  const onnxc_tensor &columns = a->in[0], &out = a->out[0];
  Window w;
  ONNXC_TRY(columnWindow(a, w));
  int64_t taps = w.kernelSize(), points = w.outPlane(), plane = w.inPlane(), planes = out.dims[0] * out.dims[1];
  ONNXC_CHECK(columns.dims[2] == points && columns.dims[0] * columns.dims[1] == planes * taps, ONNXC_K_SHAPE);
  const T *from = data<T>(columns);
  T *to = mutableData<T>(out);
  return parallelScratchFor(a, planes, grainOf(taps * points), plane * int64_t(sizeof(Acc<T>)),
                            [=](void *scratch, int64_t begin, int64_t end) {
                              Acc<T> *sums = static_cast<Acc<T> *>(scratch);
                              for (int64_t p = begin; p < end; ++p) {
                                for (int64_t i = 0; i < plane; ++i)
                                  sums[i] = Acc<T>();
                                Odometer<0> k;
                                const T *column = from + p * taps * points;
                                for (k.init(w.kernel, w.rank); k.more(); k.next(), column += points)
                                  forRows(w, k.index, [&](int64_t first, int64_t at, int64_t count, int64_t stride) {
                                    const T *__restrict x = column + first;
                                    Acc<T> *__restrict y = sums + at;
                                    for (int64_t i = 0; stride == 1 && i < count; ++i)
                                      y[i] = y[i] + toAcc(x[i]);
                                    for (int64_t i = 0; stride != 1 && i < count; ++i)
                                      y[i * stride] = y[i * stride] + toAcc(x[i]);
                                  });
                                for (int64_t i = 0; i < plane; ++i)
                                  to[p * plane + i] = fromAcc<T>(sums[i]);
                              }
                              return int32_t(ONNXC_K_OK);
                            });
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_AffineGrid_##S(const onnxc_args *a) { return onnxc::affineGrid<T>(a); }                                       \
  extern "C" int32_t onnxc_s_AffineGrid_##S(const onnxc_args *a) { return onnxc::affineGridSize(a); }                                      \
  extern "C" int32_t onnxc_k_DeformConv_##S(const onnxc_args *a) { return onnxc::deformConv<T>(a); }                                       \
  extern "C" int32_t onnxc_k_RoiAlign_##S(const onnxc_args *a) { return onnxc::roiAlign<T>(a); }                                           \
  extern "C" int32_t onnxc_k_MaxRoiPool_##S(const onnxc_args *a) { return onnxc::maxRoiPool<T>(a); }
ONNXC_FLOATS(X)
#undef X
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_GridSample_##S(const onnxc_args *a) { return onnxc::gridSample<T>(a); }
ONNXC_NUMERIC(X)
ONNXC_OTHERS(X)
X(str, onnxc_string)
#undef X
// Strings have no sum.
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Col2Im_##S(const onnxc_args *a) { return onnxc::col2Im<T>(a); }                                               \
  extern "C" int32_t onnxc_s_Col2Im_##S(const onnxc_args *a) { return onnxc::col2ImSize(a); }
ONNXC_NUMERIC(X)
ONNXC_OTHERS(X)
#undef X
