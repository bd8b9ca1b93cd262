// FastConvTranspose.cpp: ConvTranspose of f32 as one matrix product, whose rows (a result channel and a tap) are then added where the taps
// stand in the result. For what passes/graph/DecomposeConv.cpp leaves: dilations, small groups, three dims; FastConvTransposeDepth.cpp
// takes each channel alone. Oracle: Conv.cpp.
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
  TransposedConv t;
  ONNXC_TRY(t.read(a));
  if (t.isDepthwise())
    return depthwiseTranspose(a, t);
  int64_t block = maxOf<int64_t>(1, minOf(t.perGroup, kColumnFloats / maxOf<int64_t>(t.taps * t.xPlane, 1)));
  float *columns = heap<float>(a, block * t.taps * t.xPlane), *start = rowStarts(a, block * t.taps, nullptr);
  ONNXC_CHECK(columns && start, ONNXC_K_MEMORY);
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t g = 0; g < t.groups; ++g) {
      const float *image = data<float>(x) + (n * t.groups + g) * t.channels * t.xPlane;
      const float *filters = data<float>(weights) + g * t.channels * t.perGroup * t.taps;
      for (int64_t first = 0; first < t.perGroup; first += block) {
        int64_t count = minOf(block, t.perGroup - first);
        ONNXC_TRY(transposeChannels(a, t.w, image, filters, t.channels, t.perGroup, first, count, columns, start));
        for (int64_t m = 0; m < count; ++m) {
          int64_t channel = g * t.perGroup + first + m;
          float *to = mutableData<float>(out) + (n * t.results + channel) * t.plane,
                bias = hasIn(a, 2) ? data<float>(a->in[2])[channel] : 0;
          for (int64_t i = 0; i < t.plane; ++i)
            to[i] = bias;
          addTaps(t.w, columns + m * t.taps * t.xPlane, to);
        }
      }
    }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastConvTranspose(const onnxc_args *a) { return onnxc::fastConvTranspose(a); }
