// ImageDecoder.cpp: ImageDecoder: finds the format by its signature and lays out the pixels. Readers: Image.h.
#include "runtime_stub/codecs.h"
#include "runtime_stub/kernels/Image.h"

namespace onnxc {
namespace {

int32_t readByLibrary(Image &m, int32_t codec) {
  int64_t width, height;
  if (int32_t status = onnxc_codec_read(codec, m.bytes, m.size, &width, &height, nullptr))
    return status == ONNXC_CODEC_NONE ? ONNXC_K_FORMAT : ONNXC_K_DECODE;
  ONNXC_TRY(m.begin(width, height));
  return m.sizeOnly || !onnxc_codec_read(codec, m.bytes, m.size, &width, &height, m.rgb) ? ONNXC_K_OK : ONNXC_K_DECODE;
}

int32_t read(Image &m) {
  if (m.has(0, 8) && m.big(0, 4) == 0x89504e47)
    return readPng(m);
  if (m.has(0, 3) && m.big(0, 3) == 0xffd8ff)
    return readJpeg(m);
  if (m.has(0, 2) && m.big(0, 2) == 0x424d)
    return readBmp(m);
  if (m.has(0, 4) && (m.big(0, 4) == 0x49492a00 || m.big(0, 4) == 0x4d4d002a))
    return readTiff(m);
  if (m.has(0, 3) && m.bytes[0] == 'P' && m.bytes[1] >= '1' && m.bytes[1] <= '6')
    return readPnm(m);
  if (m.has(0, 12) && m.big(0, 4) == 0x52494646 && m.big(8, 4) == 0x57454250)
    return readByLibrary(m, ONNXC_CODEC_WEBP);
  if (m.has(0, 12) && (m.big(4, 4) == 0x6a502020 || m.big(0, 4) == 0xff4fff51))
    return readByLibrary(m, ONNXC_CODEC_JPEG2000);
  return ONNXC_K_DECODE;
}

int32_t sizes(const Args *a) {
  Image m{a, in<uint8_t>(a, 0), onnxc_count(a->in[0]), true};
  ONNXC_TRY(read(m));
  int64_t dims[] = {m.height, m.width, is(text(a->attr[0]), "Grayscale") ? 1 : 3};
  memcpy(a->out[0].dims, dims, sizeof(dims));
  return ONNXC_K_OK;
}

int32_t decode(const Args *a) {
  Image m{a, in<uint8_t>(a, 0), onnxc_count(a->in[0]), false};
  Str format = text(a->attr[0]);
  ONNXC_TRY(read(m));
  bool grey = is(format, "Grayscale"), reversed = is(format, "BGR");
  uint8_t *to = out<uint8_t>(a, 0);
  for (const uint8_t *p = m.rgb, *end = p + 3 * m.width * m.height; p < end; p += 3) {
    if (grey)
      *to++ = uint8_t((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16);
    else
      *to++ = p[reversed ? 2 : 0], *to++ = p[1], *to++ = p[reversed ? 0 : 2];
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_s_ImageDecoder(const onnxc_args *a) { return onnxc::sizes(a); }
extern "C" int32_t onnxc_k_ImageDecoder(const onnxc_args *a) { return onnxc::decode(a); }
