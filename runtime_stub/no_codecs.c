/* no_codecs.c: in the place of codecs.c for targets without the image libraries: the reader that knows no format. */
#include "runtime_stub/codecs.h"

int32_t onnxc_codec_read(int32_t codec, const uint8_t *bytes, int64_t size, int64_t *width, int64_t *height, uint8_t *rgb) {
  return ONNXC_CODEC_NONE;
}
