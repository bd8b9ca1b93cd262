// FastConvTranspose.cpp: ConvTranspose of f32 as one matrix product, whose rows (a result channel and a tap) are then added where the taps
// stand in the result. For what passes/graph/DecomposeConv.cpp leaves: dilations, small groups, three dims; FastConvTransposeDepth.cpp
// takes each channel alone. Oracle: Conv.cpp.
#include "runtime_stub/kernels/ConvWindow.h"
#include "runtime_stub/kernels/Fold.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Product.h"

extern "C" int32_t onnxc_k_ConvTranspose_f32(const onnxc_args *a);

namespace onnxc {

constexpr int64_t kColumnFloats = 1 << 19;  // of the product that are kept at once: the second-level cache and a little more

namespace {

struct Launch {
  TransposedConv t;
  const float *x, *filters, *bias, *zeros;  // bias: null: none; zeros: of the rows of a product
  float *y;
  Fold fold;
  int64_t block;  // result channels of a product

  int64_t blocks() const { return (t.perGroup + block - 1) / block; }
  int64_t columnFloats() const { return block * t.taps * t.xPlane; }
  int64_t scratchBytes() const {
    return (columnFloats() + fold.scratchFloats()) * int64_t(sizeof(float)) + productBytes<float>(block * t.taps, t.channels);
  }

  // Result channels [first, first + n) of group `g` of an image.
  void run(int64_t image, int64_t g, int64_t first, int64_t n, float *columns) const {
    int64_t plane = t.xPlane, wide = t.perGroup * t.taps;
    const float *from = x + (image * t.groups + g) * t.channels * plane, *filter = filters + g * t.channels * wide + first * t.taps;
    float *sums = columns + columnFloats();
    product(
        sums + fold.scratchFloats(), n * t.taps, plane, t.channels, columns, plane, zeros,
        [&](float *p, int64_t row, int64_t k, int64_t width, int64_t depth) {
          packPanel(p, filter, n * t.taps, row, 1, k, wide, width, depth);
        },
        [&](float *p, int64_t col, int64_t k, int64_t width, int64_t depth) { packPanel(p, from, plane, col, 1, k, plane, width, depth); });
    for (int64_t m = 0; m < n; ++m) {
      int64_t channel = g * t.perGroup + first + m;
      fold.run(columns + m * t.taps * plane, bias ? bias[channel] : 0, y + (image * t.results + channel) * t.plane, sums);
    }
  }
};

int32_t fastConvTranspose(const onnxc_args *a) {
  Launch l;
  ONNXC_TRY(l.t.read(a));
  const TransposedConv &t = l.t;
  if (t.isDepthwise())
    return depthwiseTranspose(a, t);
  if (!Fold::takes(t.w))
    return onnxc_k_ConvTranspose_f32(a);
  l.block = maxOf<int64_t>(1, minOf(t.perGroup, kColumnFloats / maxOf<int64_t>(t.taps * t.xPlane, 1)));
  l.x = data<float>(a->in[0]), l.filters = data<float>(a->in[1]), l.bias = hasIn(a, 2) ? data<float>(a->in[2]) : nullptr;
  l.y = mutableData<float>(a->out[0]), l.zeros = rowStarts(a, l.block * t.taps, nullptr);
  ONNXC_CHECK(l.zeros && l.fold.start(a, t.w), ONNXC_K_MEMORY);
  const Launch *launch = &l;
  int64_t work = l.columnFloats() * (t.channels + 4) / 8;
  return parallelScratchFor(a, a->in[0].dims[0] * t.groups * l.blocks(), grainOf(work), l.scratchBytes(),
                            [=](void *scratch, int64_t begin, int64_t end) {
                              int64_t blocks = launch->blocks(), groups = launch->t.groups;
                              for (int64_t u = begin; u < end; ++u) {
                                int64_t first = u % blocks * launch->block;
                                launch->run(u / blocks / groups, u / blocks % groups, first,
                                            minOf(launch->block, launch->t.perGroup - first), static_cast<float *>(scratch));
                              }
                              return int32_t(ONNXC_K_OK);
                            });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastConvTranspose(const onnxc_args *a) { return onnxc::fastConvTranspose(a); }
