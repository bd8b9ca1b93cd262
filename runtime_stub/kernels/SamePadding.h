// SamePadding.h: what auto_pad SAME_UPPER and SAME_LOWER add to an axis, for the compiler and the kernels. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

struct SamePads {
  int64_t begin, end;
};

// Of `size` elements read by windows that cover `extent` of them, `stride` apart, so that there are ceil(size / stride) windows (ONNX,
// Conv). The odd one is at the end where `upper`. With a stride of 1 any size gives the same.
inline SamePads samePads(int64_t size, int64_t extent, int64_t stride, bool upper) {
  int64_t windows = (size + stride - 1) / stride, total = (windows - 1) * stride + extent - size;
  total = total > 0 ? total : 0;
  int64_t less = total / 2;
  return upper ? SamePads{less, total - less} : SamePads{total - less, less};
}

}  // namespace onnxc
