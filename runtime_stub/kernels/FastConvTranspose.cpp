// FastConvTranspose.cpp: ConvTranspose of f32 as one matrix product, whose rows (a result channel and a tap) are then added where the taps
// stand in the result. For what passes/graph/DecomposeConv.cpp leaves: dilations, small groups, three dims. Oracle: Conv.cpp.
#include "runtime_stub/kernels/ConvWindow.h"
#include "runtime_stub/kernels/Product.h"

namespace onnxc {

constexpr int64_t kColumnFloats = 1 << 19;  // of the product that are kept at once: the second-level cache and a little more

// Result channels [first, first + n) of one group: `filters` [channels, perGroup, taps], `columns` [n, taps, plane of the image].
static int32_t transposeChannels(const onnxc_args *a, const Window &w, const float *image, const float *filters, int64_t channels,
                                 int64_t perGroup, int64_t first, int64_t n, float *columns, const float *start) {
  int64_t taps = w.kernelSize(), plane = w.outPlane();
  const float *from = filters + first * taps;
  auto packA = [&](float *p, int64_t row, int64_t k, int64_t width, int64_t depth) {
    packPanel(p, from, n * taps, row, 1, k, perGroup * taps, width, depth);
  };
  auto packB = [&](float *p, int64_t col, int64_t k, int64_t width, int64_t depth) {
    packPanel(p, image, plane, col, 1, k, plane, width, depth);
  };
  return product(a, n * taps, plane, channels, columns, plane, start, packA, packB);
}

static void addTaps(const Window &w, const float *columns, float *to) {
  Odometer<0> k;
  for (k.init(w.kernel, w.rank); k.more(); k.next(), columns += w.outPlane())
    forRows(w, k.index, [&](int64_t from, int64_t at, int64_t count, int64_t stride) {
      if (stride == 1)
        for (int64_t i = 0; i < count; ++i)
          to[at + i] += columns[from + i];
      else
        for (int64_t i = 0; i < count; ++i)
          to[at + i * stride] += columns[from + i];
    });
}

static int32_t fastConvTranspose(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &out = a->out[0];
  Window w;
  ONNXC_TRY(transposedWindow(a, w));
  int64_t groups = a->attr[kGroup].i, perGroup = weights.dims[1], results = perGroup * groups;
  ONNXC_CHECK(groups > 0 && x.dims[1] % groups == 0 && weights.dims[0] == x.dims[1] && out.dims[1] == results, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasInput(a, 2) || onnxc_count(a->in[2]) == results, ONNXC_K_SHAPE);
  int64_t channels = x.dims[1] / groups, xPlane = w.outPlane(), plane = w.inPlane(), taps = w.kernelSize();
  int64_t block = maxOf<int64_t>(1, minOf(perGroup, kColumnFloats / maxOf<int64_t>(taps * xPlane, 1)));
  float *columns = allocate<float>(a, block * taps * xPlane), *start = rowStarts(a, block * taps, nullptr);
  ONNXC_CHECK(columns && start, ONNXC_K_MEMORY);
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t g = 0; g < groups; ++g) {
      const float *image = data<float>(x) + (n * groups + g) * channels * xPlane;
      const float *filters = data<float>(weights) + g * channels * perGroup * taps;
      for (int64_t first = 0; first < perGroup; first += block) {
        int64_t count = minOf(block, perGroup - first);
        ONNXC_TRY(transposeChannels(a, w, image, filters, channels, perGroup, first, count, columns, start));
        for (int64_t m = 0; m < count; ++m) {
          int64_t channel = g * perGroup + first + m;
          float *to = mutableData<float>(out) + (n * results + channel) * plane, bias = hasInput(a, 2) ? data<float>(a->in[2])[channel] : 0;
          for (int64_t i = 0; i < plane; ++i)
            to[i] = bias;
          addTaps(w, columns + m * taps * xPlane, to);
        }
      }
    }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastConvTranspose(const onnxc_args *a) { return onnxc::fastConvTranspose(a); }
