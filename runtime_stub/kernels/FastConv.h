// FastConv.h: what FastConv.cpp and FastConvNarrow.cpp share.
#pragma once
#include "runtime_stub/kernels/PanelSizes.h"
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

// A window of at most two spatial dims, the missing one of size 1.
struct Window2 {
  int64_t ih, iw, oh, ow, kh, kw, sh, sw, dh, dw, top, left;
};

// Operands of a convolution: x [images, groups * channels, ih, iw], weights [results, channels, kh, kw], start [results], out
// [images, results, oh, ow].
struct Convolution {
  Window2 w;
  int64_t images, groups, channels, results;  // channels of a group
  const float *x, *weights, *start;
  float *out;
};

int32_t narrowConv(const onnxc_args *a, const Convolution &c);

}  // namespace onnxc
