// Image.h: the image formats that ImageDecoder reads. Each reader fills a size and, unless only that is wanted, RGB pixels.
#pragma once
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

struct Image {
  const Args *a;
  const uint8_t *bytes;
  int64_t size;
  bool sizeOnly;
  int64_t width = 0, height = 0;
  uint8_t *rgb = nullptr;

  uint32_t big(int64_t at, int n) const {
    uint32_t v = 0;
    for (int i = 0; i < n; ++i)
      v = v << 8 | bytes[at + i];
    return v;
  }
  uint32_t little(int64_t at, int n) const {
    uint32_t v = 0;
    for (int i = n; i-- > 0;)
      v = v << 8 | bytes[at + i];
    return v;
  }
  bool has(int64_t at, int64_t n) const { return at >= 0 && n >= 0 && at <= size && n <= size - at; }
  // Checks the size that a header gave and reserves the pixels.
  int32_t begin(int64_t w, int64_t h) {
    if (w < 1 || h < 1 || w > 65535 || h > 65535 || w * h > (int64_t(1) << 28))
      return ONNXC_K_DECODE;
    width = w, height = h;
    if (sizeOnly)
      return ONNXC_K_OK;
    rgb = heap<uint8_t>(a, 3 * w * h);
    return rgb ? ONNXC_K_OK : ONNXC_K_MEMORY;
  }
  void put(int64_t x, int64_t y, uint8_t r, uint8_t g, uint8_t b) {
    uint8_t *p = rgb + 3 * (y * width + x);
    p[0] = r, p[1] = g, p[2] = b;
  }
};

int32_t readBmp(Image &image);   // ImageRaw.cpp
int32_t readPnm(Image &image);   // ImageRaw.cpp
int32_t readTiff(Image &image);  // ImageRaw.cpp
int32_t readPng(Image &image);   // ImagePng.cpp
int32_t readJpeg(Image &image);  // ImageJpeg.cpp

// Decompresses a zlib stream into exactly `n` bytes; false when it is malformed or shorter. ImagePng.cpp.
bool inflateZlib(const uint8_t *from, int64_t size, uint8_t *to, int64_t n);

}  // namespace onnxc
