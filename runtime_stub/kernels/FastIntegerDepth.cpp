// FastIntegerDepth.cpp: windows over blocked bytes that keep each channel in its lane: depthwise filters of packed.LinearConv
// (FastIntegerConv.cpp) and packed.BytePool. Oracles: Conv.cpp, Pool.cpp.
#include "runtime_stub/kernels/IntegerConv.h"

namespace onnxc {
namespace {

constexpr int64_t kWide = 8;       // pixels of a tile, at most
constexpr int64_t kStrip = 512;    // pixels of a unit, unless its rows are longer
constexpr int64_t kStripRows = 8;  // rows of a unit, at least
constexpr int64_t kRowsTogether = 4;

// The rows whose sums are finished together: whole tiles of kRowsTogether, unless those have very many pixels.
int64_t rowsTogether(int64_t width) {
  constexpr int64_t most = 512, enough = 192;  // pixels
  if (kRowsTogether * width > most)
    return maxOf<int64_t>(1, enough / width);
  return maxOf<int64_t>(1, enough / maxOf<int64_t>(1, kRowsTogether * width)) * kRowsTogether;
}

// The filters of one block. Products of 16-bit numbers with 16 bits of zeros beside them are one instruction of every target.
struct Taps {
  const int16_t *weights;   // [tap][16]
  const int64_t *offsets;   // of a tap from the first one
  int64_t kernel[2], step;  // step: bytes from one pixel to the next
};

__attribute__((always_inline)) inline i32x16 wide(const uint8_t *at) { return __builtin_convertvector(*(const u8x16 *)at, i32x16); }

// Sums of `Pixels` pixels from `image` on, [pixel][16]. `Columns`: of filters with neighbouring taps and pixels, whose bytes are widened
// once; 0 for all others.
template <int64_t Pixels, int64_t Columns>
__attribute__((always_inline)) inline void depthTile(const Taps &t, const uint8_t *image, int32_t *c) {
  i32x16 acc[Pixels] = {};
  constexpr int64_t together = Columns ? Columns : 1;
  int64_t taps = t.kernel[0] * t.kernel[1];
  for (int64_t tap = 0; tap < taps; tap += together) {
    const uint8_t *at = image + t.offsets[tap];
    unroll<0, together>([&](auto k) __attribute__((always_inline)) {
      i32x16 w = __builtin_convertvector(*(const i16x16 *)(t.weights + (tap + k.value) * kLanes), i32x16);
      unroll<0, Pixels>([&](auto i) __attribute__((always_inline)) {
        acc[i.value] += w * wide(at + (Columns ? (i.value + k.value) * kLanes : i.value * t.step));
      });
    });
  }
  unroll<0, Pixels>([&](auto i) __attribute__((always_inline)) { *(i32x16 *)(c + i.value * kLanes) = acc[i.value]; });
}

// A row of `width` pixels in whole tiles.
template <int64_t Pixels>
__attribute__((always_inline)) inline void depthRow(const Taps &t, const uint8_t *image, int64_t width, int32_t *c) {
  bool three = t.kernel[1] == 3 && t.step == kLanes && t.offsets[1] == kLanes && t.offsets[2] == 2 * kLanes;
  for (int64_t x = 0; x < width; x += Pixels, image += Pixels * t.step, c += Pixels * kLanes)
    three ? depthTile<Pixels, 3>(t, image, c) : depthTile<Pixels, 0>(t, image, c);
}

#if !defined(__aarch64__)
// Where a filter's weights are bytes, four neighbouring taps of a row are one instruction: lane c of a vector has channel c of four pixels.
constexpr int64_t kMostFours = 32;  // vectors of weights

// Whether there are such weights of a filter whose neighbouring taps read neighbouring pixels; `to`: [row][fours of a row][16] of four
// bytes.
__attribute__((always_inline)) inline bool packFours(const Taps &t, u32x16 *to) {
  int64_t rows = t.kernel[0], columns = t.kernel[1], fours = (columns + 3) / 4;
  if (rows * fours > kMostFours || (columns > 1 && t.offsets[1] != kLanes))
    return false;
  i32x16 lost = {};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t four = 0; four < fours; ++four) {
      u32x16 bytes = {};
      for (int64_t k = 0; k < minOf<int64_t>(4, columns - four * 4); ++k) {
        i32x16 w = __builtin_convertvector(*(const i16x16 *)(t.weights + (row * columns + four * 4 + k) * kLanes), i32x16);
        lost |= w ^ (w << 24 >> 24);
        bytes |= (u32x16(w) & 255u) << uint32_t(8 * k);
      }
      to[row * fours + four] = bytes;
    }
  return __builtin_reduce_or(lost) == 0;
}

// The bytes of four pixels in the order of their channels: channel 0 of each pixel, channel 1 of each, ...
ONNXC_PERMUTED_DOTS __attribute__((always_inline)) inline bytes64 channelOrder() {
  bytes64 order;
  for (int i = 0; i < 64; ++i)
    order[i] = char(i % 4 * kLanes + i / 4);
  return order;
}

ONNXC_PERMUTED_DOTS __attribute__((noinline)) void depthFours(const Taps &t, const u32x16 *weights, const uint8_t *image, int64_t width,
                                                              int32_t *c) {
  const bytes64 order = channelOrder();
  int64_t columns = t.kernel[1], fours = (columns + 3) / 4;
  for (int64_t x = 0; x < width; x += kWide, image += kWide * t.step, c += kWide * kLanes) {
    q16 acc[kWide] = {};
    for (int64_t row = 0; row < t.kernel[0]; ++row)
      for (int64_t four = 0; four < fours; ++four) {
        const uint8_t *at = image + t.offsets[row * columns] + four * 4 * kLanes;
        bytes64 w;
        memcpy(&w, weights + row * fours + four, 64);
#pragma clang loop unroll(full)
        for (int i = 0; i < kWide; ++i) {
          bytes64 pixels;
          memcpy(&pixels, at + i * t.step, 64);
          acc[i] = ONNXC_DOT64(acc[i], (bytes64)__builtin_ia32_permvarqi512(pixels, order), w);
        }
      }
#pragma clang loop unroll(full)
    for (int i = 0; i < kWide; ++i)
      memcpy(c + i * kLanes, &acc[i], 64);
  }
}

// Of kRowsTogether rows at a time, whose filters of `Rows` rows one below the other share the bytes in order; gives the number of rows
// that it has summed.
template <int64_t Rows>
ONNXC_PERMUTED_DOTS __attribute__((noinline)) int64_t depthRowsOfFours(const Taps &t, const u32x16 *weights, const uint8_t *image,
                                                                       int64_t row, int64_t width, int64_t height, int32_t *c) {
  constexpr int64_t together = kRowsTogether, pixels = 2;
  const bytes64 order = channelOrder();
  int64_t fours = (t.kernel[1] + 3) / 4, y = 0;
  for (; y + together <= height; y += together, image += together * row, c += together * width * kLanes)
    for (int64_t x = 0; x < width; x += pixels) {
      q16 acc[together][pixels] = {};
      for (int64_t four = 0; four < fours; ++four)
#pragma clang loop unroll(full)
        for (int r = 0; r < together + Rows - 1; ++r)
#pragma clang loop unroll(full)
          for (int i = 0; i < pixels; ++i) {
            bytes64 bytes;
            memcpy(&bytes, image + r * row + (x + i) * t.step + four * 4 * kLanes, 64);
            bytes = (bytes64)__builtin_ia32_permvarqi512(bytes, order);
#pragma clang loop unroll(full)
            for (int k = 0; k < Rows; ++k)
              if (r >= k && r - k < together) {
                bytes64 w;
                memcpy(&w, weights + k * fours + four, 64);
                acc[r - k][i] = ONNXC_DOT64(acc[r - k][i], bytes, w);
              }
          }
#pragma clang loop unroll(full)
      for (int r = 0; r < together; ++r)
#pragma clang loop unroll(full)
        for (int i = 0; i < pixels; ++i)
          if (x + i < width)
            memcpy(c + (r * width + x + i) * kLanes, &acc[r][i], 64);
    }
  return y;
}
// The same where there is such a kernel, of the rows of an image whose rows are `row` bytes.
int64_t depthRowsOfFours(const IntegerConv &p, const Taps &t, const u32x16 *weights, const uint8_t *image, int64_t rows, int32_t *c) {
  if (p.strides[0] != 1 || p.dilations[0] != 1)
    return 0;
  switch (t.kernel[0]) {
  case 3:
    return depthRowsOfFours<3>(t, weights, image, p.row, p.outWidth, rows, c);
  case 5:
    return depthRowsOfFours<5>(t, weights, image, p.row, p.outWidth, rows, c);
  case 7:
    return depthRowsOfFours<7>(t, weights, image, p.row, p.outWidth, rows, c);
  default:
    return 0;
  }
}

ONNXC_DOTS __attribute__((noinline)) void depthDots(const Taps &t, const uint8_t *image, int64_t width, int32_t *c) {
  depthRow<kWide>(t, image, width, c);
}
#endif

void depthSums(bool dots, const Taps &t, const uint8_t *image, int64_t width, int32_t *c) {
#if !defined(__aarch64__)
  if (onnxc_vector_bits >= kDotBits && dots)
    return depthDots(t, image, width, c);
#endif
  if (onnxc_vector_bits >= 512)
    depthRow<kWide>(t, image, width, c);
  else
    depthRow<kWide / 2>(t, image, width, c);
}

uint8_t *fillPixels(uint8_t byte, int64_t n, uint8_t *to) {
  for (int64_t i = 0; i < n; ++i, to += kLanes)
    *(u8x16 *)to = u8x16(byte);
  return to;
}
// Rows [from, from + rows) of one block with its border, the first row of the operand being row pads[0]. Signed bytes get 128 more.
void copyStrip(const IntegerConv &p, const uint8_t *block, int64_t from, int64_t rows, uint8_t *to) {
  uint8_t flip = uint8_t(p.flip), border = p.border ^ flip;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t y = from + r - p.pads[0];
    bool inside = y >= 0 && y < p.height;
    to = fillPixels(border, inside ? p.pads[1] : p.pads[1] + p.width + p.pads[3], to);
    if (!inside)
      continue;
    copyFlipped(block + y * p.width * kLanes, p.width * kLanes, flip, to);
    to = fillPixels(border, p.pads[3], to + p.width * kLanes);
  }
}

// Output rows [first, last) of a block; `image`: the strip that they need. What a tile makes behind its row is the next row's, which
// follows.
void depthRows(const IntegerConv &p, const Taps &t, const uint8_t *image, int64_t block, int64_t first, int64_t last, int32_t *c, void *y) {
#if !defined(__aarch64__)
  u32x16 fours[kMostFours];
  bool packed = onnxc_vector_bits >= kDotBits && p.dots && p.permute && packFours(t, fours);
#endif
  int64_t together = rowsTogether(p.outWidth);
  for (int64_t oy = first, rows; oy < last; oy += rows) {
    rows = minOf(together, last - oy);
    int64_t r = 0;
#if !defined(__aarch64__)
    if (onnxc_vector_bits >= kDotBits && packed)
      r = depthRowsOfFours(p, t, fours, image + (oy - first) * p.strides[0] * p.row, rows, c);
#endif
    for (; r < rows; ++r) {
      const uint8_t *from = image + (oy + r - first) * p.strides[0] * p.row;
      int32_t *to = c + r * p.outWidth * kLanes;
#if !defined(__aarch64__)
      if (onnxc_vector_bits >= kDotBits && packed)
        depthFours(t, fours, from, p.outWidth, to);
      else
#endif
        depthSums(p.dots, t, from, p.outWidth, to);
    }
    p.results.finishRow(c, kLanes, rows * p.outWidth, block, y, (block * p.outHeight + oy) * p.outWidth * kLanes);
  }
  finishTable(p, block, first * p.outWidth, (last - first) * p.outWidth, y);
}

}  // namespace

int32_t depthwiseConv(const Args *a, const IntegerConv &given) {
  IntegerConv p = given;
  int64_t taps = p.kernel[0] * p.kernel[1], blocks = p.blocks, mostRows = maxOf(kStripRows, kStrip / maxOf<int64_t>(1, p.outWidth));
  int64_t strips = (p.outHeight + mostRows - 1) / mostRows, rows = (p.outHeight + strips - 1) / maxOf<int64_t>(1, strips);
  if (onnxc_count(a->in[W]) != p.outBlocks * taps * kLanes || p.outBlocks != p.blocks || p.plain)
    return ONNXC_K_SHAPE;
  p.row = (p.width + p.pads[1] + p.pads[3]) * kLanes;
  int64_t *offsets = heap<int64_t>(a, taps);
  if (!offsets)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < taps; ++i)
    offsets[i] = i / p.kernel[1] * p.dilations[0] * p.row + i % p.kernel[1] * p.dilations[1] * kLanes;
  Taps t{nullptr, offsets, {p.kernel[0], p.kernel[1]}, p.strides[1] * kLanes};
  int64_t reach = (p.kernel[0] - 1) * p.dilations[0] + 1, pixels = rowsTogether(p.outWidth) * p.outWidth + kWide;
  constexpr int64_t beyond = 4 * kLanes;  // what vectors of four pixels read more
  int64_t strip = (((rows - 1) * p.strides[0] + reach) * p.row + kWide * t.step + beyond + 63) & -64;
  const uint8_t *x = in<uint8_t>(a, X);
  char *y = out<char>(a, 0);
  int64_t outPlane = p.outHeight * p.outWidth * kLanes, work = rows * p.outWidth * taps * 2;
  return parallelScratchFor(a, a->in[X].dims[0] * blocks * strips, grainOf(work), strip + pixels * kLanes * 4,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              uint8_t *image = static_cast<uint8_t *>(scratch);
                              int32_t *sums = reinterpret_cast<int32_t *>(image + strip);
                              Taps own = t;
                              for (int64_t u = begin; u < end; ++u) {
                                int64_t first = u % strips * rows, last = minOf(first + rows, p.outHeight), n = u / strips / blocks,
                                        block = u / strips % blocks;
                                own.weights = static_cast<const int16_t *>(p.weights) + block * taps * kLanes;
                                copyStrip(p, x + (n * blocks + block) * p.height * p.width * kLanes, first * p.strides[0],
                                          (last - first - 1) * p.strides[0] + reach, image);
                                depthRows(p, own, image, block, first, last, sums, y + n * blocks * outPlane * p.results.elementBytes());
                              }
                              return ONNXC_K_OK;
                            });
}

namespace {

struct PoolShape {
  int64_t height, width, outHeight, outWidth;
  const int64_t *kernel, *strides, *pads, *dilations;
};

// The taps of one axis that lie inside [0, size).
struct TapRange {
  int64_t low, high;
};
ONNXC_INLINE TapRange tapsInside(int64_t start, int64_t taps, int64_t dilation, int64_t size) {
  int64_t low = start < 0 ? (-start + dilation - 1) / dilation : 0, high = size > start ? (size - start + dilation - 1) / dilation : 0;
  return {low, minOf(high, taps)};
}

template <class Vector>
void poolPlane(const PoolShape &p, const uint8_t *x, uint8_t *y, Vector lowest) {
  typedef Vector V __attribute__((aligned(1)));  // deduced types forget it
  int64_t step = p.dilations[1] * kLanes, line = p.dilations[0] * p.width * kLanes;
  for (int64_t oy = 0; oy < p.outHeight; ++oy) {
    int64_t top = oy * p.strides[0] - p.pads[0];
    TapRange rows = tapsInside(top, p.kernel[0], p.dilations[0], p.height);
    for (int64_t ox = 0; ox < p.outWidth; ++ox, y += kLanes) {
      int64_t left = ox * p.strides[1] - p.pads[1];
      TapRange columns = left >= 0 && left + (p.kernel[1] - 1) * p.dilations[1] < p.width
                             ? TapRange{0, p.kernel[1]}
                             : tapsInside(left, p.kernel[1], p.dilations[1], p.width);
      V v = lowest;
      const uint8_t *corner = x + (top * p.width + left) * kLanes;
      auto take = [&](const uint8_t *from) {
        V other = *(const V *)from;
        v = other > v ? other : v;
      };
      if (rows.low == 0 && rows.high == 3 && columns.low == 0 && columns.high == 3)
        unroll<0, 9>([&](auto k) { take(corner + k.value / 3 * line + k.value % 3 * step); });
      else
        for (int64_t i = rows.low; i < rows.high; ++i)
          for (int64_t j = columns.low; j < columns.high; ++j)
            take(corner + i * line + j * step);
      *(V *)y = v;
    }
  }
}

int32_t bytePool(const Args *a) {
  const Tensor &x = a->in[0], &y = a->out[0];
  if (x.rank != 5 || y.rank != 5 || a->attr[0].n != 2 || a->attr[1].n != 2 || a->attr[2].n != 4 || a->attr[3].n != 2)
    return ONNXC_K_SHAPE;
  PoolShape p{x.dims[2], x.dims[3], y.dims[2], y.dims[3], ints(a->attr[0]), ints(a->attr[1]), ints(a->attr[2]), ints(a->attr[3])};
  const uint8_t *from = in<uint8_t>(a, 0);
  uint8_t *to = out<uint8_t>(a, 0);
  bool isSigned = x.dtype == ONNXC_I8;
  int64_t pixels = p.outHeight * p.outWidth;
  return parallelFor(a, x.dims[0] * x.dims[1], grainOf(pixels * p.kernel[0] * p.kernel[1] * 2), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u) {
      const uint8_t *plane = from + u * p.height * p.width * kLanes;
      if (isSigned)
        poolPlane(p, plane, to + u * pixels * kLanes, i8x16(int8_t(-128)));
      else
        poolPlane(p, plane, to + u * pixels * kLanes, u8x16(uint8_t(0)));
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastBytePool(const onnxc_args *a) { return onnxc::bytePool(a); }
