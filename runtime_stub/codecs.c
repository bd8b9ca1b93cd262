// codecs.c: JPEG 2000 through openjpeg and WebP through libwebp, for runtime_stub/kernels/ImageDecoder.cpp. Linked with the parts of both
// libraries that it needs into one object (runtime_stub/CMakeLists.txt), which goes into the artefacts that decode images.
#include "runtime_stub/codecs.h"
#include <openjpeg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <webp/decode.h>

// The libraries are code for programs, reach for the C library's data directly and print some of what they find. An artefact prints nothing
// and does not depend on the environment; these stay inside the object.
#undef stdout
#undef stderr
FILE *stdout, *stderr;
int __fprintf_chk(FILE *file, int flag, const char *format, ...) { return 0 * flag * (file == (FILE *)format); }
char *getenv(const char *name) { return (char *)(name ? 0 : name); }
int __popcountdi2(int64_t x) {
  int n = 0;
  for (uint64_t rest = (uint64_t)x; rest; rest &= rest - 1)
    ++n;
  return n;
}

// openjpeg holds that some of what it computes from a file cannot be, and asserts it. An artefact never ends its process: such a file is a
// malformed one. What the library has allocated by then is lost.
static _Thread_local jmp_buf *way_out;
__attribute__((noreturn)) void __assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  longjmp(*way_out, 1);
}

// --- WebP ---

static int32_t readWebp(const uint8_t *bytes, int64_t size, int64_t *width, int64_t *height, uint8_t *rgb) {
  int w, h;
  if (!WebPGetInfo(bytes, (size_t)size, &w, &h))
    return -1;
  *width = w, *height = h;
  return !rgb || WebPDecodeRGBInto(bytes, (size_t)size, rgb, (size_t)w * (size_t)h * 3, w * 3) ? 0 : -1;
}

// --- JPEG 2000 ---

struct source {
  const uint8_t *bytes;
  int64_t size, at;
};

static OPJ_SIZE_T sourceRead(void *to, OPJ_SIZE_T n, void *data) {
  struct source *s = data;
  int64_t left = s->size - s->at;
  if (left <= 0)
    return (OPJ_SIZE_T)-1;
  if ((int64_t)n > left)
    n = (OPJ_SIZE_T)left;
  memcpy(to, s->bytes + s->at, n);
  s->at += (int64_t)n;
  return n;
}

static OPJ_BOOL sourceSeek(OPJ_OFF_T at, void *data) {
  struct source *s = data;
  if (at < 0 || at > s->size)
    return OPJ_FALSE;
  s->at = at;
  return OPJ_TRUE;
}

static OPJ_OFF_T sourceSkip(OPJ_OFF_T n, void *data) {
  struct source *s = data;
  if (n < 0 || n > s->size - s->at)
    return -1;
  s->at += n;
  return n;
}

static uint8_t clamped(double v) { return v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)(v + 0.5); }

// A sample of a component at a place of the image, brought to 8 bits. Components may have fewer samples than the image has pixels.
static int sample(const opj_image_comp_t *c, int64_t x, int64_t y) {
  int64_t column = x / c->dx, row = y / c->dy;
  if (column >= c->w)
    column = (int64_t)c->w - 1;
  if (row >= c->h)
    row = (int64_t)c->h - 1;
  int64_t v = (int64_t)c->data[row * c->w + column] + (c->sgnd ? (int64_t)1 << (c->prec - 1) : 0);
  v = c->prec > 8 ? v >> (c->prec - 8) : c->prec < 8 ? v * 255 / ((1 << c->prec) - 1) : v;
  return v < 0 ? 0 : v > 255 ? 255 : (int)v;
}

static int32_t writePixels(const opj_image_t *image, int64_t width, int64_t height, uint8_t *rgb) {
  int colours = image->numcomps >= 3 ? 3 : 1;
  for (int k = 0; k < colours; ++k) {
    const opj_image_comp_t *c = &image->comps[k];
    if (!c->data || c->dx == 0 || c->dy == 0 || c->w == 0 || c->h == 0 || c->prec == 0 || c->prec > 31)
      return -1;
  }
  int luminance = colours == 3 && image->color_space == OPJ_CLRSPC_SYCC;
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x, rgb += 3) {
      for (int k = 0; k < 3; ++k)
        rgb[k] = (uint8_t)sample(&image->comps[colours == 3 ? k : 0], x, y);
      if (luminance) {
        double l = rgb[0], cb = rgb[1] - 128.0, cr = rgb[2] - 128.0;
        rgb[0] = clamped(l + 1.402 * cr);
        rgb[1] = clamped(l - 0.344136 * cb - 0.714136 * cr);
        rgb[2] = clamped(l + 1.772 * cb);
      }
    }
  return 0;
}

static int32_t decodeJpeg2000(opj_codec_t *codec, opj_stream_t *stream, int64_t *width, int64_t *height, uint8_t *rgb) {
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t *image = 0;
  int32_t failed = -1;
  if (opj_setup_decoder(codec, &parameters) && opj_read_header(stream, codec, &image) && image->numcomps > 0 && image->x1 > image->x0 &&
      image->y1 > image->y0) {
    *width = (int64_t)image->x1 - image->x0, *height = (int64_t)image->y1 - image->y0;
    failed = !rgb                                                                    ? 0
             : opj_decode(codec, stream, image) && opj_end_decompress(codec, stream) ? writePixels(image, *width, *height, rgb)
                                                                                     : -1;
  }
  opj_image_destroy(image);
  return failed;
}

static int32_t readJpeg2000(const uint8_t *bytes, int64_t size, int64_t *width, int64_t *height, uint8_t *rgb) {
  struct source source = {bytes, size, 0};
  opj_codec_t *codec = opj_create_decompress(size > 1 && bytes[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_stream_t *stream = opj_stream_create(size < 1 << 20 ? (OPJ_SIZE_T)(size + 1) : 1 << 20, OPJ_TRUE);
  int32_t failed = -1;
  if (codec && stream) {
    opj_stream_set_user_data(stream, &source, 0);
    opj_stream_set_user_data_length(stream, (OPJ_UINT64)size);
    opj_stream_set_read_function(stream, sourceRead);
    opj_stream_set_seek_function(stream, sourceSeek);
    opj_stream_set_skip_function(stream, sourceSkip);
    failed = decodeJpeg2000(codec, stream, width, height, rgb);
  }
  if (stream)
    opj_stream_destroy(stream);
  if (codec)
    opj_destroy_codec(codec);
  return failed;
}

int32_t onnxc_codec_read(int32_t codec, const uint8_t *bytes, int64_t size, int64_t *width, int64_t *height, uint8_t *rgb) {
  jmp_buf here;
  way_out = &here;
  return setjmp(here) ? -1 : (codec == ONNXC_CODEC_WEBP ? readWebp : readJpeg2000)(bytes, size, width, height, rgb);
}
