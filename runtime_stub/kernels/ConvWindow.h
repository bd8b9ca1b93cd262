// ConvWindow.h: the windows that the attributes of Conv's and ConvTranspose's rows describe. For Conv.cpp and FastConvTranspose*.cpp.
#pragma once
#include "runtime_stub/kernels/Window.h"

namespace onnxc {

// Attribute positions of the convolution rows.
enum { kAutoPad, kDilations, kGroup, kKernelShape, kPads, kStrides, kOutputPadding, kOutputShape };

inline WindowAttrs convAttrs(const onnxc_args *a) {
  return {&a->attr[kAutoPad], &a->attr[kDilations], &a->attr[kKernelShape], &a->attr[kPads], &a->attr[kStrides]};
}

// The window of the convolution this op transposes: its operand is our result.
inline int32_t transposedWindow(const onnxc_args *a, Window &w) {
  const onnxc_tensor &x = a->in[0], &weights = a->in[1];
  ONNXC_CHECK(weights.rank == x.rank && x.rank >= 2, ONNXC_K_SHAPE);
  WindowAttrs attrs = convAttrs(a);
  attrs.autoPad = nullptr;
  ONNXC_TRY(readWindow(a->out[0], x, weights.dims + 2, attrs, w));
  char mode = autoPad(a->attr[kAutoPad]);
  bool computed = a->attr[kOutputShape].n > 0 || mode == 'U' || mode == 'L';
  for (int64_t i = 0; i < w.rank; ++i) {
    int64_t total = w.stride[i] * (w.out[i] - 1) + listAt(a->attr[kOutputPadding], i, 0) + (w.kernel[i] - 1) * w.dilation[i] + 1 - w.in[i];
    total = maxOf<int64_t>(total, 0);
    if (computed)
      w.begin[i] = mode == 'U' ? total / 2 : total - total / 2;
    else if (mode == 'V')
      w.begin[i] = 0;
  }
  return 0;
}

// ConvTranspose's operands, checked against its result: x [n, groups * channels, …], weights [groups * channels, perGroup, …].
struct TransposedConv {
  Window w;
  int64_t groups, perGroup, results, channels;  // results: channels of the result
  int64_t xPlane, plane, taps;                  // positions of the image and of the result; of the kernel

  int32_t read(const onnxc_args *a) {
    ONNXC_TRY(transposedWindow(a, w));
    const onnxc_tensor &x = a->in[0], &weights = a->in[1];
    groups = a->attr[kGroup].i, perGroup = weights.dims[1], results = perGroup * groups;
    ONNXC_CHECK(groups > 0 && x.dims[1] % groups == 0 && weights.dims[0] == x.dims[1] && a->out[0].dims[1] == results, ONNXC_K_SHAPE);
    ONNXC_CHECK(!hasIn(a, 2) || onnxc_count(a->in[2]) == results, ONNXC_K_SHAPE);
    channels = x.dims[1] / groups, xPlane = w.outPlane(), plane = w.inPlane(), taps = w.kernelSize();
    return 0;
  }
  // What depthwiseTranspose takes: each channel alone, over one or two dims.
  bool isDepthwise() const {
    bool plain = channels == 1 && perGroup == 1 && (w.rank == 1 || w.rank == 2) && plane > 0 && taps > 0;
    for (int64_t i = 0; plain && i < w.rank; ++i)
      plain = w.dilation[i] == 1 && w.begin[i] >= 0;
    return plain;
  }
};

int32_t depthwiseTranspose(const onnxc_args *a, const TransposedConv &t);  // FastConvTransposeDepth.cpp

}  // namespace onnxc
