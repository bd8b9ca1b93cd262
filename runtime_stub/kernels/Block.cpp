// Block.cpp: f32 images to blocks of 16 channels and back (dialects/onnx/Packed.td): squares of 16 pixels by 16 channels are transposed in
// registers' reach.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

constexpr int64_t kLanes = 16;

// to[pixel * toPixel + channel * toChannel] = from[pixel * fromPixel + channel * fromChannel] for up to 16 x 16.
ONNXC_INLINE void moveSquare(float *to, int64_t toPixel, int64_t toChannel, const float *from, int64_t fromPixel, int64_t fromChannel,
                             int64_t pixels, int64_t channels) {
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < channels; ++c)
      to[p * toPixel + c * toChannel] = from[p * fromPixel + c * fromChannel];
}

static int32_t convert(const onnxc_tensor &plain, const onnxc_tensor &blocked, bool toBlocks) {
  ONNXC_CHECK(plain.rank == 4 && blocked.rank == 5 && blocked.dims[4] == kLanes, ONNXC_K_SHAPE);
  int64_t channels = plain.dims[1], blocks = blocked.dims[1], plane = plain.dims[2] * plain.dims[3];
  ONNXC_CHECK(blocks == (channels + kLanes - 1) / kLanes && blocked.dims[0] == plain.dims[0], ONNXC_K_SHAPE);
  ONNXC_CHECK(blocked.dims[2] * blocked.dims[3] == plane, ONNXC_K_SHAPE);
  for (int64_t n = 0; n < plain.dims[0]; ++n)
    for (int64_t b = 0; b < blocks; ++b) {
      float *image = const_cast<float *>(data<float>(plain)) + (n * channels + b * kLanes) * plane;
      float *lanes = const_cast<float *>(data<float>(blocked)) + (n * blocks + b) * plane * kLanes;
      int64_t have = minOf(kLanes, channels - b * kLanes);
      for (int64_t p = 0; p < plane; p += kLanes) {
        int64_t pixels = minOf(kLanes, plane - p);
        if (!toBlocks) {
          moveSquare(image + p, 1, plane, lanes + p * kLanes, kLanes, 1, pixels, have);
          continue;
        }
        if (have < kLanes)
          memset(lanes + p * kLanes, 0, size_t(pixels * kLanes) * sizeof(float));
        moveSquare(lanes + p * kLanes, kLanes, 1, image + p, 1, plane, pixels, have);
      }
    }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_Block(const onnxc_args *a) { return onnxc::convert(a->in[0], a->out[0], true); }
extern "C" int32_t onnxc_k_Unblock(const onnxc_args *a) { return onnxc::convert(a->out[0], a->in[0], false); }
