// ImageJpeg.cpp: JPEG, baseline and progressive, 8 bits, Huffman coded. All coefficients are read first, then transformed. The integer
// transform, the triangle filter for chroma and the colour conversion give the pixels that libjpeg gives by default.
#include "runtime_stub/kernels/Image.h"

namespace onnxc {
namespace {

struct HuffmanTable {
  uint8_t symbol[256];
  int32_t first[17], last[17], offset[17];  // codes of each length: [first, last), symbols from offset
  bool present = false;
};

struct Component {
  int64_t id, h, v, table, blocksWide, blocksHigh;  // blocks as interleaved scans store them
  int64_t width, height;                            // samples that count
  int16_t *coefficients;
  uint8_t *samples;
  int dc, ac, predicted;
};

struct Jpeg {
  Image &m;
  int64_t at = 2;
  HuffmanTable huffman[2][4];
  uint16_t quantum[4][64] = {};
  Component component[4] = {};
  int64_t count = 0, maxH = 1, maxV = 1, restart = 0;
  bool progressive = false, adobe = false, failed = false;
  int transform = 0;
  // the scan
  Component *scan[4] = {};
  int scanCount = 0, spectralStart = 0, spectralEnd = 63, high = 0, low = 0;
  int32_t endOfBand = 0;
  uint32_t held = 0;
  int heldBits = 0;

  explicit Jpeg(Image &image) : m(image) {}
  int bit() {
    if (!heldBits) {
      uint8_t v = at < m.size ? m.bytes[at] : 0xff;
      if (v == 0xff) {
        if (at + 1 >= m.size || m.bytes[at + 1] != 0)
          v = 0;  // a marker: the scan's data has ended, zeros follow
        else
          at += 2;
      } else {
        ++at;
      }
      held = v, heldBits = 8;
    }
    return int(held >> --heldBits & 1);
  }
  int bits(int n) {
    int v = 0;
    while (n-- > 0)
      v = v * 2 + bit();
    return v;
  }
  int extended(int n) {  // a signed value of n bits
    if (n == 0)
      return 0;
    int v = bits(n);
    return v < 1 << (n - 1) ? v - (1 << n) + 1 : v;
  }
  int symbol(const HuffmanTable &t) {
    int code = 0;
    for (int length = 1; length <= 16; ++length) {
      code = code * 2 + bit();
      if (code < t.last[length])
        return t.symbol[(t.offset[length] + code - t.first[length]) & 255];
    }
    failed = true;
    return 0;
  }

  void block(Component &c, int16_t *b) {
    if (!progressive)
      return baseline(c, b);
    if (spectralStart == 0) {
      if (high == 0) {
        c.predicted = int16_t(c.predicted + extended(symbol(huffman[0][c.dc]) & 15));
        b[0] = int16_t(uint32_t(c.predicted) << low);
      } else if (bit()) {
        b[0] = int16_t(b[0] | 1 << low);
      }
    } else if (high == 0) {
      firstPass(c, b);
    } else {
      refine(c, b);
    }
  }
  void baseline(Component &c, int16_t *b);
  void firstPass(Component &c, int16_t *b);
  void refine(Component &c, int16_t *b);
  int32_t headers(int64_t &end, bool &frame);
  int32_t frameHeader(int64_t from, int64_t n);
  bool tables(int marker, int64_t from, int64_t n);
  int32_t scanHeader(int64_t from, int64_t n);
  void scanData();
};

const uint8_t zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                            41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                            30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

void Jpeg::baseline(Component &c, int16_t *b) {
  c.predicted = int16_t(c.predicted + extended(symbol(huffman[0][c.dc]) & 15));
  b[0] = int16_t(c.predicted);
  for (int k = 1; k < 64 && !failed; ++k) {
    int s = symbol(huffman[1][c.ac]), run = s >> 4, size = s & 15;
    if (size == 0 && run != 15)
      return;
    k += run;
    if (k > 63) {
      failed = true;
      return;
    }
    if (size)
      b[zigzag[k]] = int16_t(extended(size));
  }
}

void Jpeg::firstPass(Component &c, int16_t *b) {
  if (endOfBand > 0) {
    --endOfBand;
    return;
  }
  for (int k = spectralStart; k <= spectralEnd && !failed; ++k) {
    int s = symbol(huffman[1][c.ac]), run = s >> 4, size = s & 15;
    if (size == 0 && run < 15) {
      endOfBand = (1 << run) - 1 + bits(run);
      return;
    }
    k += run;
    if (k > 63) {
      failed = true;
      return;
    }
    if (size)
      b[zigzag[k]] = int16_t(extended(size) * (1 << low));
  }
}

// Known coefficients get one more bit each; new ones of magnitude one appear between them.
void Jpeg::refine(Component &c, int16_t *b) {
  int one = 1 << low, k = spectralStart;
  auto correct = [&](int16_t &v) {
    if (bit() && !(v & one))
      v = int16_t(v < 0 ? v - one : v + one);
  };
  while (endOfBand == 0 && k <= spectralEnd && !failed) {
    int s = symbol(huffman[1][c.ac]), run = s >> 4, fresh = 0;
    if ((s & 15) == 0 && run < 15) {
      endOfBand = (1 << run) + bits(run);
      break;
    }
    if (s & 15)
      fresh = bit() ? one : -one;
    for (; k <= spectralEnd; ++k) {
      int16_t &v = b[zigzag[k]];
      if (v)
        correct(v);
      else if (run-- == 0) {
        v = int16_t(fresh);
        break;
      }
    }
    ++k;
  }
  if (endOfBand == 0)
    return;
  for (; k <= spectralEnd; ++k)
    if (b[zigzag[k]])
      correct(b[zigzag[k]]);
  --endOfBand;
}

bool Jpeg::tables(int marker, int64_t from, int64_t n) {
  int64_t end = from + n;
  while (from < end) {
    int head = m.bytes[from++];
    if (marker == 0xdb) {
      int64_t wide = head >> 4 ? 2 : 1;
      if ((head & 15) > 3 || from + 64 * wide > end)
        return false;
      for (int i = 0; i < 64; ++i, from += wide)
        quantum[head & 3][zigzag[i]] = uint16_t(m.big(from, int(wide)));
      continue;
    }
    if ((head & 15) > 3 || (head >> 4) > 1 || from + 16 > end)
      return false;
    HuffmanTable &t = huffman[head >> 4][head & 3];
    int32_t code = 0, offset = 0;
    for (int i = 1; i <= 16; ++i) {
      t.first[i] = code, t.offset[i] = offset;
      code += m.bytes[from + i - 1], offset += m.bytes[from + i - 1];
      t.last[i] = code;
      code *= 2;
    }
    if (offset > 256 || from + 16 + offset > end)
      return false;
    memcpy(t.symbol, m.bytes + from + 16, size_t(offset));
    t.present = true;
    from += 16 + offset;
  }
  return true;
}

int32_t Jpeg::frameHeader(int64_t from, int64_t n) {
  if (n < 6 || m.bytes[from] != 8 || count)
    return ONNXC_K_DECODE;
  count = m.bytes[from + 5];
  if ((count != 1 && count != 3 && count != 4) || n < 6 + 3 * count)
    return ONNXC_K_DECODE;
  ONNXC_TRY(m.begin(m.big(from + 3, 2), m.big(from + 1, 2)));
  for (int64_t i = 0; i < count; ++i) {
    Component &c = component[i];
    const uint8_t *p = m.bytes + from + 6 + 3 * i;
    c.id = p[0], c.h = p[1] >> 4, c.v = p[1] & 15, c.table = p[2];
    if (c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.table > 3)
      return ONNXC_K_DECODE;
    maxH = c.h > maxH ? c.h : maxH, maxV = c.v > maxV ? c.v : maxV;
  }
  for (int64_t i = 0; i < count && !m.sizeOnly; ++i) {
    Component &c = component[i];
    c.width = (m.width * c.h + maxH - 1) / maxH, c.height = (m.height * c.v + maxV - 1) / maxV;
    c.blocksWide = (m.width + 8 * maxH - 1) / (8 * maxH) * c.h, c.blocksHigh = (m.height + 8 * maxV - 1) / (8 * maxV) * c.v;
    c.coefficients = heap<int16_t>(m.a, c.blocksWide * c.blocksHigh * 64), c.samples = heap<uint8_t>(m.a, c.blocksWide * c.blocksHigh * 64);
    if (!c.coefficients || !c.samples)
      return ONNXC_K_MEMORY;
  }
  return ONNXC_K_OK;
}

int32_t Jpeg::scanHeader(int64_t from, int64_t n) {
  scanCount = n > 0 ? m.bytes[from] : 0;
  if (!count || scanCount < 1 || scanCount > count || n < 4 + 2 * scanCount)
    return ONNXC_K_DECODE;
  for (int i = 0; i < scanCount; ++i) {
    int id = m.bytes[from + 1 + 2 * i], selectors = m.bytes[from + 2 + 2 * i];
    scan[i] = nullptr;
    for (int64_t k = 0; k < count; ++k)
      if (component[k].id == id)
        scan[i] = &component[k];
    if (!scan[i] || (selectors >> 4) > 3 || (selectors & 15) > 3)
      return ONNXC_K_DECODE;
    scan[i]->dc = selectors >> 4, scan[i]->ac = selectors & 15;
  }
  const uint8_t *p = m.bytes + from + 1 + 2 * scanCount;
  spectralStart = progressive ? p[0] : 0, spectralEnd = progressive ? p[1] : 63, high = progressive ? p[2] >> 4 : 0,
  low = progressive ? p[2] & 15 : 0;
  if (spectralEnd > 63 || spectralStart > spectralEnd || low > 13 || (spectralStart && scanCount > 1))
    return ONNXC_K_DECODE;
  for (int i = 0; i < scanCount; ++i) {
    bool needsDc = spectralStart == 0 && high == 0, needsAc = spectralEnd > 0;
    if ((needsDc && !huffman[0][scan[i]->dc].present) || (needsAc && !huffman[1][scan[i]->ac].present))
      return ONNXC_K_DECODE;
  }
  return ONNXC_K_OK;
}

void Jpeg::scanData() {
  bool single = scanCount == 1;
  Component &c0 = *scan[0];
  int64_t wide = single ? (c0.width + 7) / 8 : c0.blocksWide / c0.h, tall = single ? (c0.height + 7) / 8 : c0.blocksHigh / c0.v,
          left = restart;
  auto reset = [&] {
    for (int i = 0; i < scanCount; ++i)
      scan[i]->predicted = 0;
    heldBits = 0, endOfBand = 0, left = restart;
  };
  reset();
  for (int64_t unit = 0; unit < wide * tall && !failed; ++unit) {
    if (restart && left-- == 0) {
      while (at + 1 < m.size && !(m.bytes[at] == 0xff && m.bytes[at + 1] >= 0xd0 && m.bytes[at + 1] <= 0xd7))
        ++at;
      at += 2;
      reset();
      --left;
    }
    int64_t ux = unit % wide, uy = unit / wide;
    for (int i = 0; i < scanCount; ++i) {
      Component &c = *scan[i];
      int64_t h = single ? 1 : c.h, v = single ? 1 : c.v;
      for (int64_t k = 0; k < h * v; ++k)
        block(c, c.coefficients + ((uy * v + k / h) * c.blocksWide + ux * h + k % h) * 64);
    }
  }
}

// Reads segments up to the end of the image; a damaged end after a first scan still gives an image.
int32_t Jpeg::headers(int64_t &scans, bool &frame) {
  while (m.has(at, 4)) {
    if (m.bytes[at] != 0xff || m.bytes[at + 1] == 0 || m.bytes[at + 1] == 0xff || (m.bytes[at + 1] >= 0xd0 && m.bytes[at + 1] <= 0xd7)) {
      ++at;
      continue;
    }
    int marker = m.bytes[at + 1];
    if (marker == 0xd9)
      break;
    int64_t n = int64_t(m.big(at + 2, 2)) - 2, from = at + 4;
    if (n < 0 || !m.has(from, n))
      return scans ? ONNXC_K_OK : ONNXC_K_DECODE;
    at = from + n;
    int32_t code = ONNXC_K_OK;
    if (marker == 0xc0 || marker == 0xc1 || marker == 0xc2) {
      progressive = marker == 0xc2;
      code = frameHeader(from, n);
      frame = true;
      if (m.sizeOnly && !code)
        return code;
    } else if (marker >= 0xc3 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) {
      return ONNXC_K_DECODE;  // lossless, hierarchical or arithmetic
    } else if (marker == 0xdb || marker == 0xc4) {
      if (!tables(marker, from, n))
        return ONNXC_K_DECODE;
    } else if (marker == 0xdd && n >= 2) {
      restart = m.big(from, 2);
    } else if (marker == 0xee && n >= 12 && memcmp(m.bytes + from, "Adobe", 5) == 0) {
      adobe = true, transform = m.bytes[from + 11];
    } else if (marker == 0xda) {
      code = scanHeader(from, n);
      if (!code && ++scans > 100)
        code = ONNXC_K_DECODE;
      if (!code)
        scanData();
    }
    if (code)
      return code;
  }
  return ONNXC_K_OK;
}

// One dimension of the inverse transform in 13-bit fixed point (Loeffler, Ligtenberg and Moschytz).
void transform8(const int32_t *x, int32_t *y, int64_t stride, int shift) {
  int64_t x0 = x[0], x4 = x[4 * stride], x2 = x[2 * stride], x6 = x[6 * stride];
  int64_t common = (x2 + x6) * 4433, e2 = common - x6 * 15137, e3 = common + x2 * 6270;
  int64_t e0 = (x0 + x4) * 8192, e1 = (x0 - x4) * 8192;
  int64_t even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  int64_t a = x[7 * stride], b = x[5 * stride], c = x[3 * stride], d = x[stride];
  int64_t turn = (a + c + b + d) * 9633, ad = (a + d) * -7373, bc = (b + c) * -20995, ac = (a + c) * -16069 + turn,
          bd = (b + d) * -3196 + turn;
  int64_t odd[4] = {d * 12299 + ad + bd, c * 25172 + bc + ac, b * 16819 + bc + bd, a * 2446 + ad + ac};
  int64_t half = 1 << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    y[i * stride] = int32_t((even[i] + odd[i] + half) >> shift);
    y[(7 - i) * stride] = int32_t((even[i] - odd[i] + half) >> shift);
  }
}

void inverseTransform(Component &c, const uint16_t *quantum) {
  for (int64_t b = 0; b < c.blocksWide * c.blocksHigh; ++b) {
    int32_t x[64], y[64];
    for (int i = 0; i < 64; ++i) {
      int64_t v = int64_t(c.coefficients[b * 64 + i]) * quantum[i];
      x[i] = int32_t(v < -16384 ? -16384 : v > 16383 ? 16383 : v);
    }
    for (int i = 0; i < 8; ++i)
      transform8(x + i, y + i, 8, 11);
    uint8_t *to = c.samples + (b / c.blocksWide * 8) * c.blocksWide * 8 + b % c.blocksWide * 8;
    for (int r = 0; r < 8; ++r, to += c.blocksWide * 8) {
      int32_t row[8];
      transform8(y + 8 * r, row, 1, 18);
      for (int i = 0; i < 8; ++i)
        to[i] = uint8_t(row[i] < -128 ? 0 : row[i] > 127 ? 255 : row[i] + 128);
    }
  }
}

// The sample of a component at a pixel. Halved dimensions are interpolated with weights 3:1, others repeat.
struct Upsampler {
  const Component &c;
  int64_t sx, sy;  // reduction factors, 0 when they are no integers
  bool smooth;
  Upsampler(const Component &component, int64_t maxH, int64_t maxV)
      : c(component), sx(maxH / component.h), sy(maxV / component.v), smooth(component.width > 2) {}
  int at(int64_t x, int64_t y) const {
    x = x < 0 ? 0 : x >= c.width ? c.width - 1 : x;
    y = y < 0 ? 0 : y >= c.height ? c.height - 1 : y;
    return c.samples[y * c.blocksWide * 8 + x];
  }
  uint8_t operator()(int64_t px, int64_t py) const {
    int64_t x = px / sx, y = py / sy, nx = px % 2 ? x + 1 : x - 1, ny = py % 2 ? y + 1 : y - 1;
    if (sx == 2 && sy == 1 && smooth) {
      bool edge = nx < 0 || nx >= c.width;
      return uint8_t(edge ? at(x, y) : (3 * at(x, y) + at(nx, y) + (px % 2 ? 2 : 1)) >> 2);
    }
    if (sx == 1 && sy == 2)
      return uint8_t((3 * at(x, y) + at(x, ny) + (py % 2 ? 2 : 1)) >> 2);
    if (sx == 2 && sy == 2 && smooth) {
      int here = 3 * at(x, y) + at(x, ny), beside = 3 * at(nx, y) + at(nx, ny);
      return uint8_t((3 * here + beside + (px % 2 ? 7 : 8)) >> 4);
    }
    return uint8_t(at(x, y));
  }
};

uint8_t clamp(int32_t v) { return uint8_t(v < 0 ? 0 : v > 255 ? 255 : v); }

void toRgb(int y, int cb, int cr, uint8_t *rgb) {
  cb -= 128, cr -= 128;
  rgb[0] = clamp(y + ((91881 * cr + 32768) >> 16));
  rgb[1] = clamp(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
  rgb[2] = clamp(y + ((116130 * cb + 32768) >> 16));
}

void compose(Jpeg &j) {
  Image &m = j.m;
  bool direct =
      j.count == 3 && (j.adobe ? j.transform == 0 : j.component[0].id == 'R' && j.component[1].id == 'G' && j.component[2].id == 'B');
  Upsampler plane[4] = {{j.component[0], j.maxH, j.maxV},
                        {j.component[j.count > 1 ? 1 : 0], j.maxH, j.maxV},
                        {j.component[j.count > 1 ? 2 : 0], j.maxH, j.maxV},
                        {j.component[j.count > 3 ? 3 : 0], j.maxH, j.maxV}};
  for (int64_t y = 0; y < m.height; ++y)
    for (int64_t x = 0; x < m.width; ++x) {
      uint8_t v[4] = {plane[0](x, y), 0, 0, 0};
      for (int64_t k = 1; k < j.count; ++k)
        v[k] = plane[k](x, y);
      if (j.count == 1)
        v[1] = v[2] = v[0];
      if (j.count == 3 && !direct)
        toRgb(v[0], v[1], v[2], v);
      if (j.count == 4) {  // Adobe stores inverted CMYK
        if (j.transform == 2)
          toRgb(v[0], v[1], v[2], v);
        for (int k = 0; k < 3; ++k)
          v[k] = uint8_t((j.adobe ? v[k] : 255 - v[k]) * (j.adobe ? v[3] : 255 - v[3]) / 255);
      }
      m.put(x, y, v[0], v[1], v[2]);
    }
}

}  // namespace

int32_t readJpeg(Image &m) {
  Jpeg jpeg(m);
  int64_t scans = 0;
  bool frame = false;
  ONNXC_TRY(jpeg.headers(scans, frame));
  if (!frame)
    return ONNXC_K_DECODE;
  if (m.sizeOnly)
    return ONNXC_K_OK;
  if (!scans)
    return ONNXC_K_DECODE;
  for (int64_t i = 0; i < jpeg.count; ++i) {
    const Component &c = jpeg.component[i];
    if (jpeg.maxH % c.h || jpeg.maxV % c.v)
      return ONNXC_K_DECODE;
    inverseTransform(jpeg.component[i], jpeg.quantum[c.table]);
  }
  compose(jpeg);
  return ONNXC_K_OK;
}

}  // namespace onnxc
