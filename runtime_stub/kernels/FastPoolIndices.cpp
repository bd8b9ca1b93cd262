// FastPoolIndices.cpp: MaxPool of f32 that says where its maxima stand: the columns of a result row side by side, tap after tap.
// FastPool.cpp calls it. Oracle: Pool.cpp.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

namespace {
constexpr int64_t kColumns = 512;

// The greatest so far of some columns, and where in the plane it stands; -1: nowhere.
struct Best {
  float value[kColumns];
  int32_t at[kColumns];
};
}  // namespace

// Columns [low, high) meet elements `from` on, `Stride` apart (0: `stride`), the first of which is element `at` of the plane. The first of
// equal ones stays; NaN wins.
template <int Stride>
static void meet(Best &b, const float *from, int32_t at, int64_t low, int64_t high, int64_t stride) {
  int64_t s = Stride ? Stride : stride;
  for (int64_t o = low; o < high; ++o) {
    float v = from[o * s], have = b.value[o];
    bool takes = (v > have) | (b.at[o] < 0) | ((v != v) & (have == have));
    b.value[o] = takes ? v : have;
    b.at[o] = takes ? at + int32_t(o * s) : b.at[o];
  }
}

// Columns [first, first + n) of the result row at `outer`.
static void poolColumns(const Window &w, const int64_t *outer, const float *plane, int64_t first, int64_t n, Best &b) {
  int64_t last = w.rank - 1;
  for (int64_t i = 0; i < n; ++i)
    b.value[i] = -__builtin_inff(), b.at[i] = -1;
  Odometer<0> k;
  for (k.init(w.kernel, w.rank); k.more(); k.next()) {
    int64_t at = 0, low, high, stride = w.stride[last];
    bool inside = true;
    for (int64_t i = 0; i < last; ++i) {
      int64_t p = outer[i] * w.stride[i] + k.index[i] * w.dilation[i] - w.begin[i];
      inside &= p >= 0 && p < w.in[i];
      at = at * w.in[i] + p;
    }
    int64_t shift = first * stride + k.index[last] * w.dilation[last] - w.begin[last];
    validRange(w.in[last], n, stride, shift, low, high);
    if (!inside || low >= high)
      continue;
    at = at * w.in[last] + shift;
    if (stride == 1)
      meet<1>(b, plane + at, int32_t(at), low, high, stride);
    else if (stride == 2)
      meet<2>(b, plane + at, int32_t(at), low, high, stride);
    else
      meet<0>(b, plane + at, int32_t(at), low, high, stride);
  }
}

int32_t maxPoolIndices(const onnxc_args *a, const Window &w) {
  const Window *window = &w;
  int64_t last = w.rank - 1, rows = product(w.out, 0, last), width = w.out[last], inPlane = w.inPlane();
  bool byColumns = a->attr[5].i != 0;
  const float *x = data<float>(a->in[0]);
  float *values = hasOut(a, 0) ? mutableData<float>(a->out[0]) : nullptr;
  int64_t *indices = mutableData<int64_t>(a->out[1]), work = rows * width * w.kernelSize();
  return parallelFor(a, a->in[0].dims[0] * a->in[0].dims[1], grainOf(work), [=](int64_t begin, int64_t end) {
    Best b;
    for (int64_t p = begin; p < end; ++p) {
      Odometer<0> o;
      int64_t to = p * rows * width;
      for (o.init(window->out, last); o.more(); o.next())
        for (int64_t first = 0; first < width; first += kColumns) {
          int64_t n = minOf(kColumns, width - first);
          poolColumns(*window, o.index, x + p * inPlane, first, n, b);
          for (int64_t i = 0; i < n; ++i, ++to) {
            if (values)
              values[to] = b.value[i];
            indices[to] = p * inPlane + (byColumns && b.at[i] >= 0 ? columnMajor(*window, b.at[i]) : b.at[i]);
          }
        }
    }
    return 0;
  });
}

}  // namespace onnxc
