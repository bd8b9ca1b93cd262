// FastNorm.cpp: packed.GroupMoments (dialects/onnx/Packed.td). Oracle of the normalisations it serves: Norm.cpp.
//
// Moments of a set of numbers are their mean and the sum of their squared distances from it. Those of two sets make those of both (Chan,
// Golub, LeVeque 1979: "Updating formulae and a pairwise algorithm for computing sample variances"), so that an image is read once, by
// chunks that stay in the level-1 cache, and nothing cancels.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

template <class T>  // v16: of each lane
struct Moments {
  T mean = T(0), squares = T(0);
  // `own` and `count` are the numbers that these are of, and those that `other` is.
  void join(const Moments &other, float own, float count) {
    T distance = other.mean - mean;
    mean += distance * (count / (own + count));
    squares += other.squares + distance * distance * (own / (own + count) * count);
  }
};

// Of each lane of some pixels.
Moments<v16> chunkMoments(const float *x, int64_t pixels) {
  constexpr int kSums = 4;  // independent, for the latency of an addition
  const v16 *at = (const v16 *)x;
  v16 sums[kSums] = {}, squares[kSums] = {};
  int64_t p = 0;
  for (; p + kSums <= pixels; p += kSums)
    unroll<0, kSums>([&](auto i) { sums[i.value] += at[p + i.value]; });
  for (; p < pixels; ++p)
    sums[0] += at[p];
  v16 mean = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / float(pixels);
  auto add = [&](int64_t pixel, v16 &sum) {
    v16 distance = at[pixel] - mean;
    sum += distance * distance;
  };
  for (p = 0; p + kSums <= pixels; p += kSums)
    unroll<0, kSums>([&](auto i) { add(p + i.value, squares[i.value]); });
  for (; p < pixels; ++p)
    add(p, squares[0]);
  return {mean, (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

// Of each channel of one block.
Moments<v16> blockMoments(const float *x, int64_t pixels) {
  constexpr int64_t kChunk = 128;  // 8 KiB
  Moments<v16> all;
  for (int64_t p = 0; p < pixels; p += kChunk) {
    int64_t count = minOf(kChunk, pixels - p);
    all.join(chunkMoments(x + p * kLanes, count), float(p), float(count));
  }
  return all;
}

// Each channel is a group. Lanes without scale, those past the last channel among them, get no factor, which may be infinite.
void finishChannels(const Moments<v16> &m, float pixels, const float *scale, float epsilon, float *mean, float *factor) {
  v16 s = *(const v16 *)scale, root = __builtin_elementwise_sqrt(m.squares / pixels + epsilon);
  *(v16 *)mean = m.mean;
  *(v16 *)factor = s == 0.0f ? s : s / root;
}

// The channels of one image, of which `mean` and `factor` hold the moments, group by group.
void finishGroups(int64_t channels, int64_t groups, float pixels, const float *scale, float epsilon, float *mean, float *factor) {
  int64_t each = channels / groups;
  for (int64_t g = 0; g < channels; g += each) {
    Moments<double> all;
    for (int64_t c = g; c < g + each; ++c)
      all.join({mean[c], factor[c]}, float(c - g) * pixels, pixels);
    double root = __builtin_elementwise_sqrt(all.squares / (double(each) * pixels) + epsilon);
    for (int64_t c = g; c < g + each; ++c)
      mean[c] = float(all.mean), factor[c] = scale[c] == 0 ? 0.0f : float(scale[c] / root);
  }
  for (int64_t c = channels; c % kLanes; ++c)
    mean[c] = factor[c] = 0;
}

int32_t groupMoments(const Args *a) {  // attributes: channels, groups, epsilon
  const Tensor &in = a->in[0];
  ONNXC_CHECK(in.rank == 5 && in.dims[4] == kLanes, ONNXC_K_SHAPE);
  int64_t batch = in.dims[0], blocks = in.dims[1], pixels = in.dims[2] * in.dims[3], channels = a->attr[0].i, groups = a->attr[1].i;
  bool fits = groups > 0 && channels % groups == 0 && blocks == (channels + kLanes - 1) / kLanes;
  ONNXC_CHECK(fits && onnxc_count(a->in[1]) == blocks * kLanes, ONNXC_K_SHAPE);
  ONNXC_CHECK(onnxc_count(a->out[0]) == batch * blocks * kLanes && onnxc_count(a->out[1]) == batch * blocks * kLanes, ONNXC_K_SHAPE);
  const float *x = ::onnxc::in<float>(a, 0), *scale = ::onnxc::in<float>(a, 1);
  float *mean = out<float>(a, 0), *factor = out<float>(a, 1), epsilon = float(a->attr[2].f);
  bool single = groups == channels;
  constexpr int64_t kPixelWork = 4;
  int32_t code = parallelFor(a, batch * blocks, grainOf(pixels * kPixelWork), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u) {
      Moments<v16> m = blockMoments(x + u * pixels * kLanes, pixels);
      if (single) {
        finishChannels(m, float(pixels), scale + u % blocks * kLanes, epsilon, mean + u * kLanes, factor + u * kLanes);
      } else {
        *(v16 *)(mean + u * kLanes) = m.mean;
        *(v16 *)(factor + u * kLanes) = m.squares;
      }
    }
    return ONNXC_K_OK;
  });
  for (int64_t n = 0; n < batch && !single && !code; ++n)
    finishGroups(channels, groups, float(pixels), scale, epsilon, mean + n * blocks * kLanes, factor + n * blocks * kLanes);
  return code;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastGroupMoments(const onnxc_args *a) { return onnxc::groupMoments(a); }
