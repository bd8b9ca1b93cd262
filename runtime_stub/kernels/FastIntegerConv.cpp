// FastIntegerConv.cpp: QLinearConv as passes/graph/LinearConvolutions.cpp prepares it, on instructions that multiply bytes. Oracle of what
// it was made of: Conv.cpp, Quant.cpp.
//
// operands  x; w [O / 64][KH][KW * C / 4][64][4], signed; w_scale: what a sum is multiplied with, [O]; w_zero_point: what is added to a sum
//           before, i32 [O]; y_zero_point; B: what is added as f32, [O]
// A copy of the image has its channels side by side and its border, so that a row of the filter meets KW * C neighbouring bytes.
#include "runtime_stub/kernels/IntegerTile.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

enum { X, XZero = 2, W, Factors, Corrections, YZero = 7, Bias };
enum { KernelShape, Pads, Strides, Floor };
constexpr int64_t kPixels = 96;  // of a unit of work

// Transposes 16 x 16 bytes.
ONNXC_INLINE void transpose16(s16 *v) {
#pragma clang loop unroll(full)
  for (int round = 0; round < 4; ++round) {
    s16 t[16];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; ++i)
      v[i] = t[i];
  }
}

// to[c * toStride + r] = from[r * fromStride + c] ^ flip for r < rows, c < columns.
void transposeBytes(uint8_t *to, int64_t toStride, const uint8_t *from, int64_t fromStride, int64_t rows, int64_t columns, uint8_t flip) {
  for (int64_t r = 0; r < rows; r += 16)
    for (int64_t c = 0; c < columns; c += 16) {
      int64_t h = minOf<int64_t>(16, rows - r), w = minOf<int64_t>(16, columns - c);
      s16 v[16] = {};
      for (int64_t i = 0; i < h; ++i) {
        const uint8_t *at = from + (r + i) * fromStride + c;
        if (w == 16)
          v[i] = *(const s16 *)at ^ int8_t(flip);
        else
          for (int64_t j = 0; j < w; ++j)
            v[i][j] = int8_t(at[j] ^ flip);
      }
      transpose16(v);
      for (int64_t j = 0; j < w; ++j) {
        uint8_t *at = to + (c + j) * toStride + r;
        if (h == 16)
          *(s16 *)at = v[j];
        else
          for (int64_t i = 0; i < h; ++i)
            at[i] = uint8_t(v[j][i]);
      }
    }
}

struct Convolution {
  int64_t channels, height, width, outputs, outHeight, outWidth, kernel[2], pads[4], strides[2];
  int64_t pitch, quads;  // bytes of a row of the copy; quads of a row of the filter
  const uint8_t *image;  // the copy
  const int8_t *weights;
  const float *factors, *bias;
  const int32_t *corrections;
  float zero, least, most;
  bool vnni;

  // Row `y` of the copy.
  void copyRow(const uint8_t *x, int64_t y, uint8_t border, uint8_t flip, uint8_t *to) const {
    int64_t from = y - pads[0];
    if (from < 0 || from >= height) {
      memset(to, border, size_t(pitch));
      return;
    }
    memset(to, border, size_t(pads[1] * channels));
    transposeBytes(to + pads[1] * channels, channels, x + from * width, height * width, channels, width, flip);
    memset(to + (pads[1] + width) * channels, border, size_t(pads[3] * channels));
  }

  // Pixels [first, first + n) of 64 channels from `channel` on, n <= kRows: to[pixel][64].
  void tile(int64_t first, int64_t n, int64_t channel, uint8_t *to) const {
    int32_t c[kRows * kColumns], part[kRows * kColumns];
    const uint8_t *at[kRows];
    for (int64_t i = 0; i < n; ++i)
      at[i] = image + (first + i) / outWidth * strides[0] * pitch + (first + i) % outWidth * strides[1] * channels;
    const int8_t *panel = weights + channel * kernel[0] * quads * 4;
    integerTile(n, vnni, at, 0, panel, quads, c, kColumns);
    for (int64_t k = 1; k < kernel[0]; ++k) {
      integerTile(n, vnni, at, k * pitch, panel + k * quads * 4 * kColumns, quads, part, kColumns);
      for (int64_t i = 0; i < n * kColumns; ++i)
        c[i] += part[i];
    }
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < kColumns; ++j) {
        float v = (float(c[i * kColumns + j] + corrections[channel + j]) + bias[channel + j]) * factors[channel + j];
        v = __builtin_rintf(v) + zero;
        v = v > least ? v : least;
        to[i * kColumns + j] = uint8_t(int32_t(v < most ? v : most));
      }
  }
  void unit(int64_t first, int64_t last, int64_t channel, uint8_t *y) const {
    uint8_t buffer[kPixels * kColumns];
    for (int64_t p = first; p < last; p += kRows)
      tile(p, minOf<int64_t>(kRows, last - p), channel, buffer + (p - first) * kColumns);
    transposeBytes(y + channel * outHeight * outWidth + first, outHeight * outWidth, buffer, kColumns, last - first, kColumns, 0);
  }
};

bool readConvolution(const Args *a, Convolution &p) {
  const Tensor &x = a->in[X], &y = a->out[0];
  if (x.rank != 4 || y.rank != 4 || a->attr[KernelShape].n != 2)
    return false;
  p.channels = x.dims[1], p.height = x.dims[2], p.width = x.dims[3];
  p.outputs = y.dims[1], p.outHeight = y.dims[2], p.outWidth = y.dims[3];
  for (int i = 0; i < 4; ++i)
    p.pads[i] = given(a->attr[Pads]) ? ints(a->attr[Pads])[i] : 0;
  for (int i = 0; i < 2; ++i)
    p.kernel[i] = ints(a->attr[KernelShape])[i], p.strides[i] = given(a->attr[Strides]) ? ints(a->attr[Strides])[i] : 1;
  p.pitch = (p.width + p.pads[1] + p.pads[3]) * p.channels;
  p.quads = p.kernel[1] * p.channels / 4;
  p.weights = in<int8_t>(a, W), p.factors = in<float>(a, Factors), p.bias = in<float>(a, Bias), p.corrections = in<int32_t>(a, Corrections);
  p.zero = float(loadI64(a->in[YZero], 0)), p.least = float(a->attr[Floor].i), p.most = y.dtype == ONNXC_I8 ? 127 : 255;
  p.vnni = hasDots();
  return p.channels % 4 == 0 && p.outputs % kColumns == 0;
}

int32_t linearConv(const Args *a) {
  Convolution p;
  if (!readConvolution(a, p))
    return ONNXC_K_SHAPE;
  const Tensor &x = a->in[X];
  uint8_t flip = x.dtype == ONNXC_I8 ? 0x80 : 0, border = uint8_t(loadI64(a->in[XZero], 0)) ^ flip;
  int64_t rows = p.height + p.pads[0] + p.pads[2], pixels = p.outHeight * p.outWidth, blocks = (pixels + kPixels - 1) / kPixels;
  uint8_t *copy = static_cast<uint8_t *>(onnxc_rt_scratch(a->rt, rows * p.pitch + 64));
  if (!copy)
    return ONNXC_K_MEMORY;
  p.image = copy;
  for (int64_t n = 0; n < x.dims[0]; ++n) {
    const uint8_t *from = in<uint8_t>(a, X) + n * p.channels * p.height * p.width;
    uint8_t *to = out<uint8_t>(a, 0) + n * p.outputs * pixels;
    ONNXC_TRY(parallelFor(a, rows, grainOf(p.pitch / 8), [=](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        p.copyRow(from, r, border, flip, copy + r * p.pitch);
      return int32_t(ONNXC_K_OK);
    }));
    ONNXC_TRY(parallelFor(a, p.outputs / kColumns * blocks, grainOf(kPixels * p.kernel[0] * p.quads * 2), [=](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; ++u) {
        int64_t first = u % blocks * kPixels;
        p.unit(first, minOf(first + kPixels, pixels), u / blocks * kColumns, to);
      }
      return int32_t(ONNXC_K_OK);
    }));
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastQLinearConv(const onnxc_args *a) { return onnxc::linearConv(a); }
