// FastConv.cpp: Conv of f32 as products over gathered windows (1-D to 3-D); few results a group are FastConvNarrow.cpp's. Oracle: Conv.cpp,
// which also takes other ranks.
#include "runtime_stub/kernels/FastConv.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Product.h"

extern "C" int32_t onnxc_k_Conv_f32(const onnxc_args *a);

namespace onnxc {

static Window2 asTwo(const Window &w) {
  int64_t l = w.rank - 1;
  bool two = w.rank == 2;
  return {two ? w.in[0] : 1,     w.in[l],     two ? w.out[0] : 1,      w.out[l],      two ? w.kernel[0] : 1, w.kernel[l],
          two ? w.stride[0] : 1, w.stride[l], two ? w.dilation[0] : 1, w.dilation[l], two ? w.begin[0] : 0,  w.begin[l]};
}

// Row (c, kh, kw) of the gathered matrix, columns [first, first + width) in result order; past the last column zeros.
static void gatherRow(float *to, const float *plane, const Window2 &w, int64_t kh, int64_t kw, int64_t first, int64_t width) {
  int64_t y = first / w.ow, x = first % w.ow, done = 0;
  while (done < width) {
    int64_t n = minOf(width - done, w.ow - x), iy = y * w.sh + kh * w.dh - w.top, shift = kw * w.dw - w.left;
    if (y >= w.oh || iy < 0 || iy >= w.ih) {
      for (int64_t i = 0; i < n; ++i)
        to[done + i] = 0;
    } else {
      int64_t low, high;
      validRange(w.iw, w.ow, w.sw, shift, low, high);
      const float *from = plane + iy * w.iw + shift;
      for (int64_t i = 0; i < n; ++i)
        to[done + i] = x + i >= low && x + i < high ? from[(x + i) * w.sw] : 0;
    }
    done += n;
    x = 0;
    ++y;
  }
}

// Three spatial dims: every output plane is the sum of 2-D convolutions of the input planes that its taps meet.
static int32_t convPlanes(const onnxc_args *a, const Window &whole, const float *start) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &out = a->out[0];
  int64_t groups = a->attr[2].i, channels = weights.dims[1], results = weights.dims[0], per = results / groups;
  Window flat = whole;
  flat.rank = 2;
  for (int64_t i = 0; i < 2; ++i)
    flat.in[i] = whole.in[i + 1], flat.out[i] = whole.out[i + 1], flat.kernel[i] = whole.kernel[i + 1],
    flat.stride[i] = whole.stride[i + 1], flat.dilation[i] = whole.dilation[i + 1], flat.begin[i] = whole.begin[i + 1];
  Window2 w = asTwo(flat);
  int64_t inPlane = w.ih * w.iw, plane = w.oh * w.ow, taps = w.kh * w.kw, depths = whole.kernel[0];
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t od = 0; od < whole.out[0]; ++od) {
        const float *image = data<float>(x) + (n * groups + g) * channels * whole.in[0] * inPlane;
        const float *filter = data<float>(weights) + g * per * channels * depths * taps;
        float *to = mutableData<float>(out) + ((n * results + g * per) * whole.out[0] + od) * plane;
        const float *first = start + g * per;
        for (int64_t kd = 0; kd < depths; ++kd) {
          int64_t id = od * whole.stride[0] + kd * whole.dilation[0] - whole.begin[0];
          bool inside = id >= 0 && id < whole.in[0];
          if (!inside && (kd + 1 < depths || !first))
            continue;
          auto packA = [&](float *p, int64_t row, int64_t k, int64_t width, int64_t depth) {
            for (int64_t d = 0; d < depth; ++d)
              for (int64_t i = 0; i < width; ++i) {
                int64_t at = ((row + i) * channels + (k + d) / taps) * depths * taps + kd * taps + (k + d) % taps;
                p[d * width + i] = row + i < per ? filter[at] : 0;
              }
          };
          auto packB = [&](float *p, int64_t col, int64_t k, int64_t width, int64_t depth) {
            for (int64_t d = 0; d < depth; ++d) {
              int64_t c = (k + d) / taps, tap = (k + d) % taps;
              gatherRow(p + d * width, image + (c * whole.in[0] + id) * inPlane, w, tap / w.kw, tap % w.kw, col, width);
            }
          };
          // No tap of this plane meets the input: only the bias is left.
          ONNXC_TRY(product(a, per, plane, inside ? channels * taps : 0, to, whole.out[0] * plane, first, packA, packB));
          first = nullptr;
        }
      }
  return 0;
}

// Group `unit` of all images' groups.
static void convGroup(const Convolution &c, int64_t unit, void *scratch) {
  const Window2 &w = c.w;
  int64_t inPlane = w.ih * w.iw, plane = w.oh * w.ow, taps = w.kh * w.kw, per = c.results / c.groups, inner = c.channels * taps;
  bool pointwise = taps == 1 && w.sh == 1 && w.sw == 1 && w.top == 0 && w.left == 0 && inPlane == plane;
  int64_t g = unit % c.groups;
  const float *image = c.x + unit * c.channels * inPlane, *filter = c.weights + g * per * inner, *start = c.start + g * per;
  float *to = c.out + unit * per * plane;
  auto packA = [&](float *p, int64_t row, int64_t k, int64_t width, int64_t depth) {
    packPanel(p, filter, per, row, inner, k, 1, width, depth);
  };
  auto packB = [&](float *p, int64_t col, int64_t k, int64_t width, int64_t depth) {
    if (pointwise)
      return packPanel(p, image, plane, col, 1, k, plane, width, depth);
    for (int64_t d = 0; d < depth; ++d) {
      int64_t row = k + d, c = row / taps, tap = row % taps;
      gatherRow(p + d * width, image + c * inPlane, w, tap / w.kw, tap % w.kw, col, width);
    }
  };
  product(scratch, per, plane, inner, to, plane, start, packA, packB);
}

static int32_t fastConv(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1], &out = a->out[0];
  if (x.rank < 3 || x.rank > 5)
    return onnxc_k_Conv_f32(a);
  Window whole;
  ONNXC_CHECK(weights.rank == x.rank && (!hasIn(a, 2) || onnxc_count(a->in[2]) == weights.dims[0]), ONNXC_K_SHAPE);
  ONNXC_TRY(readWindow(x, out, weights.dims + 2, WindowAttrs{&a->attr[0], &a->attr[1], &a->attr[3], &a->attr[4], &a->attr[5]}, whole));
  int64_t groups = a->attr[2].i, channels = weights.dims[1], results = weights.dims[0];
  ONNXC_CHECK(groups > 0 && results % groups == 0 && channels * groups == x.dims[1] && out.dims[1] == results, ONNXC_K_SHAPE);
  float *start = rowStarts(a, results, hasIn(a, 2) ? data<float>(a->in[2]) : nullptr);
  ONNXC_CHECK(start, ONNXC_K_MEMORY);
  if (whole.rank == 3)
    return convPlanes(a, whole, start);
  Convolution c{asTwo(whole), x.dims[0], groups, channels, results, data<float>(x), data<float>(weights), start, mutableData<float>(out)};
  if (results <= groups * kNarrowResults)
    return narrowConv(a, c);
  int64_t units = x.dims[0] * groups, macs = results / groups * channels * c.w.kh * c.w.kw * c.w.oh * c.w.ow;
  constexpr int64_t perStep = 8;  // multiply-adds that take as long as an elementary operation
  return parallelScratchFor(a, units, grainOf(macs / perStep), productBytes<float>(results / groups, channels * c.w.kh * c.w.kw),
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              for (int64_t unit = begin; unit < end; ++unit)
                                convGroup(c, unit, scratch);
                              return 0;
                            });
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastConv(const onnxc_args *a) { return onnxc::fastConv(a); }
