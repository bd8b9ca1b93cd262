// ImageRaw.cpp: formats that store pixels nearly as they are: BMP, PNM (P1 to P6) and TIFF (plain, PackBits or deflated strips).
#include "runtime_stub/kernels/Image.h"

namespace onnxc {
namespace {

// One channel of a pixel masked out of a word, widened to eight bits.
uint8_t channel(uint32_t word, uint32_t mask) {
  if (!mask)
    return 0;
  int shift = __builtin_ctz(mask);
  uint64_t top = mask >> shift;
  return uint8_t(uint64_t((word & mask) >> shift) * 255 / top);
}

}  // namespace

int32_t readBmp(Image &m) {
  if (!m.has(0, 30))
    return ONNXC_K_DECODE;
  int64_t start = m.little(10, 4), header = m.little(14, 4);
  bool old = header == 12;
  if (!old && (header < 40 || !m.has(0, 54)))
    return ONNXC_K_DECODE;
  int64_t w = old ? m.little(18, 2) : int32_t(m.little(18, 4)), h = old ? m.little(20, 2) : int32_t(m.little(22, 4));
  bool down = h < 0;
  ONNXC_TRY(m.begin(w, down ? -h : h));
  if (m.sizeOnly)
    return ONNXC_K_OK;
  int64_t bits = m.little(old ? 24 : 28, 2), compression = old ? 0 : m.little(30, 4), stride = (m.width * bits + 31) / 32 * 4;
  uint32_t masks[3] = {0xff0000, 0xff00, 0xff};
  if (bits == 16)
    masks[0] = 0x7c00, masks[1] = 0x3e0, masks[2] = 0x1f;
  if (compression == 3 && m.has(54, 12))
    for (int i = 0; i < 3; ++i)
      masks[i] = m.little(54 + 4 * i, 4);
  bool known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!known || (compression != 0 && compression != 3) || !m.has(start, stride * m.height))
    return ONNXC_K_DECODE;
  int64_t palette = 14 + header, entry = old ? 3 : 4;
  for (int64_t y = 0; y < m.height; ++y)
    for (int64_t x = 0; x < m.width; ++x) {
      int64_t row = start + (down ? y : m.height - 1 - y) * stride;
      if (bits > 8) {
        uint32_t word = m.little(row + x * bits / 8, int(bits / 8));
        m.put(x, y, channel(word, masks[0]), channel(word, masks[1]), channel(word, masks[2]));
        continue;
      }
      int64_t index = m.bytes[row + x * bits / 8] >> (8 - bits - x * bits % 8) & ((1 << bits) - 1), at = palette + index * entry;
      if (!m.has(at, 3))
        return ONNXC_K_DECODE;
      m.put(x, y, m.bytes[at + 2], m.bytes[at + 1], m.bytes[at]);
    }
  return ONNXC_K_OK;
}

namespace {

struct PnmText {
  const Image &m;
  int64_t at = 2;
  // The next decimal number; comments run from '#' to the end of the line.
  bool number(int64_t &v) {
    while (at < m.size && (m.bytes[at] <= ' ' || m.bytes[at] == '#'))
      if (m.bytes[at++] == '#')
        while (at < m.size && m.bytes[at] != '\n')
          ++at;
    int64_t from = at;
    for (v = 0; at < m.size && m.bytes[at] >= '0' && m.bytes[at] <= '9' && v < 100000; ++at)
      v = v * 10 + m.bytes[at] - '0';
    return at > from;
  }
};

}  // namespace

int32_t readPnm(Image &m) {
  PnmText t{m};
  int kind = m.bytes[1] - '0';
  int64_t w, h, top = 1;
  bool bitmap = kind == 1 || kind == 4, colour = kind == 3 || kind == 6, binary = kind >= 4;
  if (!t.number(w) || !t.number(h) || (!bitmap && !t.number(top)) || top < 1 || top > 65535)
    return ONNXC_K_DECODE;
  ONNXC_TRY(m.begin(w, h));
  if (m.sizeOnly)
    return ONNXC_K_OK;
  int64_t wide = top > 255 ? 2 : 1, channels = colour ? 3 : 1, start = t.at + 1;
  if (binary && !m.has(start, kind == 4 ? (w + 7) / 8 * h : w * h * channels * wide))
    return ONNXC_K_DECODE;
  for (int64_t i = 0; i < w * h; ++i) {
    uint8_t v[3];
    for (int64_t c = 0; c < channels; ++c) {
      int64_t s;
      if (kind == 4)
        s = m.bytes[start + i / w * ((w + 7) / 8) + i % w / 8] >> (7 - i % w % 8) & 1;
      else if (binary)
        s = m.big(start + (i * channels + c) * wide, int(wide));
      else if (!t.number(s))
        return ONNXC_K_DECODE;
      v[c] = bitmap ? (s ? 0 : 255) : uint8_t((s > top ? top : s) * 255 / top);
    }
    m.put(i % w, i / w, v[0], v[colour ? 1 : 0], v[colour ? 2 : 0]);
  }
  return ONNXC_K_OK;
}

namespace {

struct Tiff {
  const Image &m;
  bool bigEndian;
  int64_t directory = 0, entries = 0;
  uint32_t word(int64_t at, int n) const { return !m.has(at, n) ? 0 : bigEndian ? m.big(at, n) : m.little(at, n); }
  // A tag's list of integers, empty where the directory lacks it. The directory has up to 65535 entries, so that no list is looked up
  // twice.
  struct List {
    int64_t from = 0, count = 0, bytes = 1;
  };
  List list(int64_t tag) const {
    for (int64_t e = 0; e < entries; ++e) {
      int64_t at = directory + 2 + 12 * e, type = word(at + 2, 2), count = word(at + 4, 4), n = type == 3 ? 2 : type == 1 ? 1 : 4;
      if (word(at, 2) == tag)
        return {count * n <= 4 ? at + 8 : int64_t(word(at + 8, 4)), count, n};
    }
    return {};
  }
  int64_t at(const List &l, int64_t i, int64_t otherwise) const {
    return i < l.count ? word(l.from + i * l.bytes, int(l.bytes)) : otherwise;
  }
  int64_t value(int64_t tag, int64_t otherwise) const { return at(list(tag), 0, otherwise); }
  // All reds, all greens, all blues.
  void readPalette(uint8_t (&to)[768]) const {
    List colours = list(320);
    for (int64_t i = 0; i < 768; ++i)
      to[i] = uint8_t(at(colours, i, 0) >> 8);
  }
};

bool unpackBits(const uint8_t *from, int64_t size, uint8_t *to, int64_t n) {
  int64_t at = 0;
  for (int64_t i = 0; i < size && at < n;) {
    int count = int8_t(from[i++]);
    for (int k = 0; count >= 0 && k <= count && at < n && i < size; ++k)
      to[at++] = from[i++];
    for (int k = 0; count < 0 && count != -128 && k <= -count && at < n && i < size; ++k)
      to[at++] = from[i];
    i += count < 0 && count != -128;
  }
  return at == n;
}

struct Strips {
  Tiff::List from, size;
  int64_t compression;
};

int32_t tiffStrip(const Image &m, const Tiff &t, const Strips &strips, int64_t strip, uint8_t *to, int64_t n) {
  int64_t at = t.at(strips.from, strip, -1), size = t.at(strips.size, strip, 0), compression = strips.compression;
  if (!m.has(at, size))
    return ONNXC_K_DECODE;
  bool ok = false;
  if (compression == 1 && size >= n)
    memcpy(to, m.bytes + at, size_t(n)), ok = true;
  if (compression == 32773)
    ok = unpackBits(m.bytes + at, size, to, n);
  if (compression == 8 || compression == 32946)
    ok = inflateZlib(m.bytes + at, size, to, n);
  return ok ? ONNXC_K_OK : ONNXC_K_DECODE;
}

void tiffRow(Image &m, int64_t y, const uint8_t *p, int64_t kind, int64_t channels, const uint8_t *palette) {
  for (int64_t x = 0; x < m.width; ++x, p += channels) {
    uint8_t grey = kind == 0 ? uint8_t(255 - p[0]) : p[0];
    if (kind == 3)
      m.put(x, y, palette[p[0]], palette[p[0] + 256], palette[p[0] + 512]);
    else if (kind == 2)
      m.put(x, y, p[0], p[1], p[2]);
    else
      m.put(x, y, grey, grey, grey);
  }
}

}  // namespace

int32_t readTiff(Image &m) {
  Tiff t{m, m.bytes[0] == 'M'};
  t.directory = t.word(4, 4);
  t.entries = t.word(t.directory, 2);
  if (!m.has(t.directory, 2 + 12 * t.entries))
    return ONNXC_K_DECODE;
  ONNXC_TRY(m.begin(t.value(256, 0), t.value(257, 0)));
  if (m.sizeOnly)
    return ONNXC_K_OK;
  int64_t bits = t.value(258, 1), kind = t.value(262, 1), channels = t.value(277, 1);
  int64_t rows = t.value(278, m.height), stride = m.width * channels;
  if (bits != 8 || channels < 1 || channels > 8 || kind > 3 || (kind == 2 && channels < 3) || t.value(284, 1) != 1 || rows < 1)
    return ONNXC_K_DECODE;
  if (rows > m.height)
    rows = m.height;
  uint8_t *strip = heap<uint8_t>(m.a, rows * stride);
  if (!strip)
    return ONNXC_K_MEMORY;
  Strips strips = {t.list(273), t.list(279), t.value(259, 1)};
  bool differences = t.value(317, 1) == 2;
  uint8_t palette[768];
  t.readPalette(palette);
  for (int64_t y = 0; y < m.height; ++y) {
    int64_t left = m.height - y < rows ? m.height - y : rows;
    if (y % rows == 0)
      ONNXC_TRY(tiffStrip(m, t, strips, y / rows, strip, left * stride));
    uint8_t *p = strip + y % rows * stride;
    for (int64_t i = channels; differences && i < stride; ++i)
      p[i] = uint8_t(p[i] + p[i - channels]);
    tiffRow(m, y, p, kind, channels, palette);
  }
  return ONNXC_K_OK;
}

}  // namespace onnxc
