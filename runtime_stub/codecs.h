// codecs.h: what the ImageDecoder kernel asks of the image libraries that codecs.c joins into one object (openjpeg, libwebp).
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNXC_CODEC_JPEG2000, ONNXC_CODEC_WEBP };
enum { ONNXC_CODEC_OK = 0, ONNXC_CODEC_MALFORMED = -1, ONNXC_CODEC_NONE = -2 }; /* the last: no such reader on this target */

// Reads the size of an image; with `rgb`, room for 3 * width * height bytes, its pixels too. Gives ONNXC_CODEC_OK or why not.
__attribute__((visibility("hidden"))) int32_t onnxc_codec_read(int32_t codec, const uint8_t *bytes, int64_t size, int64_t *width,
                                                               int64_t *height, uint8_t *rgb);

#ifdef __cplusplus
}
#endif
