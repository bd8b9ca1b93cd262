// ImagePng.cpp: inflate, and PNG with every colour type, depth and interlacing. Alpha is dropped. Used by ImageDecoder.cpp and
// ImageRaw.cpp.
#include "runtime_stub/kernels/Image.h"

namespace onnxc {
namespace {

// Canonical Huffman codes decoded a bit at a time by counting codes of each length.
struct Codes {
  uint16_t count[16], symbol[320];
  bool build(const uint8_t *length, int n) {
    int offset[16], left = 1;
    for (int i = 0; i < 16; ++i)
      count[i] = 0;
    for (int i = 0; i < n; ++i)
      ++count[length[i]];
    count[0] = 0;
    for (int i = 1; i < 16; ++i)
      left = left * 2 - count[i];
    offset[1] = 0;
    for (int i = 1; i < 15; ++i)
      offset[i + 1] = offset[i] + count[i];
    for (int i = 0; i < n; ++i)
      if (length[i])
        symbol[offset[length[i]]++] = uint16_t(i);
    return left >= 0;
  }
};

struct Inflate {
  const uint8_t *from;
  int64_t size;
  uint8_t *to;
  int64_t room, at = 0, written = 0;
  uint32_t held = 0;
  int heldBits = 0;
  bool failed = false;

  uint32_t bits(int n) {
    while (heldBits < n) {
      if (at >= size)
        return failed = true, 0;
      held |= uint32_t(from[at++]) << heldBits;
      heldBits += 8;
    }
    uint32_t v = held & ((1u << n) - 1);
    held >>= n, heldBits -= n;
    return v;
  }
  int symbol(const Codes &c) {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length < 16 && !failed; ++length) {
      code |= int(bits(1));
      int count = c.count[length];
      if (code - count < first)
        return c.symbol[index + code - first];
      index += count, first = (first + count) * 2, code *= 2;
    }
    return failed = true, 0;
  }
  void literal(uint8_t v) {
    if (written < room)
      to[written] = v;
    else
      failed = true;
    ++written;
  }
  void stored() {
    heldBits = 0, held = 0;
    if (at + 4 > size) {
      failed = true;
      return;
    }
    int64_t n = from[at] | from[at + 1] << 8;
    for (at += 4; n > 0 && !failed; --n) {
      if (at >= size)
        failed = true;
      else
        literal(from[at++]);
    }
  }
  void compressed(const Codes &literals, const Codes &distances) {
    while (!failed) {
      int s = symbol(literals);
      if (s < 256) {
        literal(uint8_t(s));
        continue;
      }
      if (s == 256 || s > 285) {
        failed |= s > 285;
        return;
      }
      int extra = s < 265 || s == 285 ? 0 : (s - 261) / 4;
      int64_t length = s < 265 ? s - 254 : s == 285 ? 258 : ((4 + (s - 265) % 4) << extra) + 3 + int64_t(bits(extra));
      int d = symbol(distances);
      if (d > 29)
        failed = true;
      int more = d < 4 ? 0 : (d - 2) / 2;
      int64_t distance = d < 4 ? d + 1 : (int64_t(2 + d % 2) << more) + 1 + int64_t(bits(more));
      if (distance > written)
        failed = true;
      for (; length > 0 && !failed; --length)
        literal(to[written - distance]);
    }
  }
  void dynamic() {
    const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t length[320] = {};
    int nl = int(bits(5)) + 257, nd = int(bits(5)) + 1, nc = int(bits(4)) + 4, n = 0;
    for (int i = 0; i < nc; ++i)
      length[order[i]] = uint8_t(bits(3));
    Codes codes, literals, distances;
    if (!codes.build(length, 19))
      failed = true;
    for (uint8_t &v : length)
      v = 0;
    while (n < nl + nd && !failed) {
      int s = symbol(codes), times = 1;
      uint8_t value = uint8_t(s);
      if (s == 16)
        value = n ? length[n - 1] : (failed = true, uint8_t(0)), times = 3 + int(bits(2));
      if (s == 17)
        value = 0, times = 3 + int(bits(3));
      if (s == 18)
        value = 0, times = 11 + int(bits(7));
      if (n + times > nl + nd)
        failed = true;
      for (; times > 0 && !failed; --times)
        length[n++] = value;
    }
    if (failed || !literals.build(length, nl) || !distances.build(length + nl, nd))
      failed = true;
    else
      compressed(literals, distances);
  }
  void fixed() {
    uint8_t length[320];
    for (int i = 0; i < 288; ++i)
      length[i] = uint8_t(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    Codes literals, distances;
    literals.build(length, 288);
    for (int i = 0; i < 30; ++i)
      length[i] = 5;
    distances.build(length, 30);
    compressed(literals, distances);
  }
  bool run() {
    for (bool last = false; !last && !failed && written < room;) {
      last = bits(1);
      switch (bits(2)) {
      case 0:
        stored();
        break;
      case 1:
        fixed();
        break;
      case 2:
        dynamic();
        break;
      default:
        failed = true;
      }
    }
    return written >= room && (!failed || written > room);
  }
};

struct Png {
  Image &m;
  int64_t depth, type, channels, palette = -1, paletteSize = 0;
  int64_t rowBytes(int64_t w) const { return (w * channels * depth + 7) / 8; }
  uint8_t sample(const uint8_t *row, int64_t i) const {
    if (depth >= 8)
      return row[i * depth / 8];
    return row[i * depth / 8] >> (8 - depth - i * depth % 8) & ((1 << depth) - 1);
  }
  bool pixel(const uint8_t *row, int64_t i, int64_t x, int64_t y) {
    uint8_t v = sample(row, i * channels);
    if (type == 3) {
      if (v >= paletteSize)
        return false;
      const uint8_t *p = m.bytes + palette + 3 * v;
      return m.put(x, y, p[0], p[1], p[2]), true;
    }
    if (channels < 3) {
      uint8_t grey = depth < 8 ? uint8_t(v * 255 / ((1 << depth) - 1)) : v;
      return m.put(x, y, grey, grey, grey), true;
    }
    return m.put(x, y, v, sample(row, i * channels + 1), sample(row, i * channels + 2)), true;
  }
};

// Undoes the filter of one row; `above` is the row before it, or null.
bool unfilter(int filter, uint8_t *row, const uint8_t *above, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    int left = i >= step ? row[i - step] : 0, up = above ? above[i] : 0, corner = above && i >= step ? above[i - step] : 0, guess = 0;
    if (filter == 1)
      guess = left;
    if (filter == 2)
      guess = up;
    if (filter == 3)
      guess = (left + up) / 2;
    if (filter == 4) {
      int p = left + up - corner, pl = p > left ? p - left : left - p, pu = p > up ? p - up : up - p,
          pc = p > corner ? p - corner : corner - p;
      guess = pl <= pu && pl <= pc ? left : pu <= pc ? up : corner;
    }
    row[i] = uint8_t(row[i] + guess);
  }
  return filter >= 0 && filter <= 4;
}

struct Pass {
  int64_t x, y, dx, dy;
};

int32_t readPasses(Png &png, const uint8_t *data, int64_t size, bool interlaced) {
  const Pass adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}},
             whole[] = {{0, 0, 1, 1}};
  const Pass *passes = interlaced ? adam7 : whole;
  int count = interlaced ? 7 : 1;
  int64_t total = 0, step = (png.channels * png.depth + 7) / 8;
  Image &m = png.m;
  for (int k = 0; k < count; ++k) {
    int64_t w = (m.width - passes[k].x + passes[k].dx - 1) / passes[k].dx, h = (m.height - passes[k].y + passes[k].dy - 1) / passes[k].dy;
    if (w > 0 && h > 0)
      total += (png.rowBytes(w) + 1) * h;
  }
  uint8_t *raw = heap<uint8_t>(m.a, total), *row = raw;
  if (!raw)
    return ONNXC_K_MEMORY;
  if (!inflateZlib(data, size, raw, total))
    return ONNXC_K_DECODE;
  for (int k = 0; k < count; ++k) {
    const Pass &p = passes[k];
    int64_t w = (m.width - p.x + p.dx - 1) / p.dx, h = (m.height - p.y + p.dy - 1) / p.dy, n = png.rowBytes(w);
    for (int64_t y = 0; w > 0 && y < h; ++y, row += n + 1) {
      if (!unfilter(row[0], row + 1, y ? row - n : nullptr, n, step))
        return ONNXC_K_DECODE;
      for (int64_t x = 0; x < w; ++x)
        if (!png.pixel(row + 1, x, p.x + x * p.dx, p.y + y * p.dy))
          return ONNXC_K_DECODE;
    }
  }
  return ONNXC_K_OK;
}

}  // namespace

bool inflateZlib(const uint8_t *from, int64_t size, uint8_t *to, int64_t n) {
  if (size < 2 || (from[0] & 15) != 8 || (from[1] & 32) || (from[0] * 256 + from[1]) % 31)
    return false;
  Inflate z{from + 2, size - 2, to, n};
  return z.run();
}

int32_t readPng(Image &m) {
  if (!m.has(0, 33) || m.big(12, 4) != 0x49484452)
    return ONNXC_K_DECODE;
  ONNXC_TRY(m.begin(m.big(16, 4), m.big(20, 4)));
  if (m.sizeOnly)
    return ONNXC_K_OK;
  Png png{m, m.bytes[24], m.bytes[25], 0};
  const int64_t channels[] = {1, 0, 3, 1, 2, 0, 4};
  bool small = png.depth == 1 || png.depth == 2 || png.depth == 4;
  if (png.type > 6 || !channels[png.type] || (!small && png.depth != 8 && png.depth != 16) || (small && png.type != 0 && png.type != 3) ||
      m.bytes[28] > 1)
    return ONNXC_K_DECODE;
  png.channels = channels[png.type];
  uint8_t *data = heap<uint8_t>(m.a, m.size);
  int64_t size = 0;
  if (!data)
    return ONNXC_K_MEMORY;
  for (int64_t at = 8; m.has(at, 12);) {
    int64_t n = m.big(at, 4);
    uint32_t name = m.big(at + 4, 4);
    if (!m.has(at + 8, n) || name == 0x49454e44)
      break;
    if (name == 0x504c5445)
      png.palette = at + 8, png.paletteSize = n / 3;
    if (name == 0x49444154)
      memcpy(data + size, m.bytes + at + 8, size_t(n)), size += n;
    at += 12 + n;
  }
  return readPasses(png, data, size, m.bytes[28] == 1);
}

}  // namespace onnxc
