// FastIntegerDepth.cpp: windows over blocked bytes that keep each channel in its lane: depthwise filters of packed.LinearConv
// (FastIntegerConv.cpp) and packed.BytePool. Oracles: Conv.cpp, Pool.cpp.
#include "runtime_stub/kernels/IntegerConv.h"

namespace onnxc {
namespace {

constexpr int64_t kWide = 4;   // pixels of a tile
constexpr int64_t kStrip = 8;  // rows of a unit

// Taps of one tile: `quads` times four, those past the last one with weights 0.
struct Taps {
  const uint8_t *image;
  const int64_t *offsets;
  int64_t quads, step;  // bytes from one pixel to the next
  uint32_t flip;
};

// Interleaving within lanes of 16 bytes: of vectors of S bytes, the lower (0) or upper (8) halves of the lane at B.
#define ONNXC_BYTES(B, S)                                                                                                                  \
  B, B + S, B + 1, B + 1 + S, B + 2, B + 2 + S, B + 3, B + 3 + S, B + 4, B + 4 + S, B + 5, B + 5 + S, B + 6, B + 6 + S, B + 7, B + 7 + S
#define ONNXC_WORDS(B, S)                                                                                                                  \
  B, B + 1, B + S, B + S + 1, B + 2, B + 3, B + S + 2, B + S + 3, B + 4, B + 5, B + S + 4, B + S + 5, B + 6, B + 7, B + S + 6, B + S + 7
#define ONNXC_LANES16(M, H) M(H, 16)
#define ONNXC_LANES32(M, H) M(H, 32), M(16 + H, 32)
#define ONNXC_LANES64(M, H) M(H, 64), M(16 + H, 64), M(32 + H, 64), M(48 + H, 64)

// Four bytes of each channel side by side: quad[k] has channels 4 k … of each pixel.
#define ONNXC_QUADS(LANES)                                                                                                                 \
  Bytes low01 = __builtin_shufflevector(v[0], v[1], LANES(ONNXC_BYTES, 0)),                                                                \
        high01 = __builtin_shufflevector(v[0], v[1], LANES(ONNXC_BYTES, 8));                                                               \
  Bytes low23 = __builtin_shufflevector(v[2], v[3], LANES(ONNXC_BYTES, 0)),                                                                \
        high23 = __builtin_shufflevector(v[2], v[3], LANES(ONNXC_BYTES, 8));                                                               \
  Bytes quad[4] = {                                                                                                                        \
      __builtin_shufflevector(low01, low23, LANES(ONNXC_WORDS, 0)), __builtin_shufflevector(low01, low23, LANES(ONNXC_WORDS, 8)),          \
      __builtin_shufflevector(high01, high23, LANES(ONNXC_WORDS, 0)), __builtin_shufflevector(high01, high23, LANES(ONNXC_WORDS, 8))}

// The sums of kWide pixels, [pixel][16]; w: [quad][16][4].
#define ONNXC_TAPS(BYTES)                                                                                                                  \
  typedef char Bytes __attribute__((vector_size(BYTES)));                                                                                  \
  typedef int Sums __attribute__((vector_size(BYTES)));                                                                                    \
  constexpr int P = BYTES / 16

#define ONNXC_LOAD(FIRST)                                                                                                                  \
  Bytes v[4];                                                                                                                              \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; ++i) {                                                                         \
    const uint8_t *at = t.image + t.offsets[4 * q + i] + (FIRST) * t.step;                                                                 \
    if (t.step == 16)                                                                                                                      \
      memcpy(&v[i], at, sizeof(Bytes));                                                                                                    \
    else                                                                                                                                   \
      _Pragma("clang loop unroll(full)") for (int k = 0; k < P; ++k)                                                                       \
          memcpy(reinterpret_cast<char *>(&v[i]) + 16 * k, at + k * t.step, 16);                                                           \
    v[i] = (Bytes)((Sums)v[i] ^ (int32_t(t.flip) - Sums{}));                                                                               \
  }

#if !defined(__aarch64__)
ONNXC_DOTS __attribute__((noinline)) void depthDots(const Taps &t, const int8_t *w, int32_t *c) {
  ONNXC_TAPS(64);
  Sums acc[4] = {};
  for (int64_t q = 0; q < t.quads; ++q, w += 64) {
    ONNXC_LOAD(0);
    ONNXC_QUADS(ONNXC_LANES64);
#pragma clang loop unroll(full)
    for (int k = 0; k < 4; ++k) {
      Bytes right;
#pragma clang loop unroll(full)
      for (int i = 0; i < P; ++i)
        memcpy(reinterpret_cast<char *>(&right) + 16 * i, w + 16 * k, 16);
      acc[k] = ONNXC_DOT64(acc[k], quad[k], right);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < P; ++i)
#pragma clang loop unroll(full)
    for (int k = 0; k < 4; ++k)
      memcpy(c + i * 16 + k * 4, reinterpret_cast<char *>(&acc[k]) + 16 * i, 16);
}

#endif

// Without dots: 16-bit pairs (0, 2) and (1, 3) of a quad.
#define ONNXC_DEPTH(NAME, ATTRIBUTE, BYTES, LANES, MULTIPLY)                                                                               \
  ATTRIBUTE __attribute__((noinline)) void NAME(const Taps &t, const int8_t *weights, int32_t *c) {                                        \
    ONNXC_TAPS(BYTES);                                                                                                                     \
    typedef short Half __attribute__((vector_size(BYTES)));                                                                                \
    typedef unsigned short Bits __attribute__((vector_size(BYTES)));                                                                       \
    for (int p = 0; p < kWide; p += P) {                                                                                                   \
      const int8_t *w = weights;                                                                                                           \
      Sums acc[4] = {};                                                                                                                    \
      for (int64_t q = 0; q < t.quads; ++q, w += 64) {                                                                                     \
        ONNXC_LOAD(p);                                                                                                                     \
        ONNXC_QUADS(LANES);                                                                                                                \
        _Pragma("clang loop unroll(full)") for (int k = 0; k < 4; ++k) {                                                                   \
          Half right;                                                                                                                      \
          _Pragma("clang loop unroll(full)") for (int i = 0; i < P; ++i)                                                                   \
              memcpy(reinterpret_cast<char *>(&right) + 16 * i, w + 16 * k, 16);                                                           \
          Half even = (Half)((Bits)quad[k] & (unsigned short)0xff), odd = (Half)((Bits)quad[k] >> 8);                                      \
          acc[k] += MULTIPLY(even, Half(right << 8) >> 8) + MULTIPLY(odd, right >> 8);                                                     \
        }                                                                                                                                  \
      }                                                                                                                                    \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < P; ++i) _Pragma("clang loop unroll(full)") for (int k = 0; k < 4; ++k)        \
          memcpy(c + (p + i) * 16 + k * 4, reinterpret_cast<char *>(&acc[k]) + 16 * i, 16);                                                \
    }                                                                                                                                      \
  }
#if !defined(__aarch64__)
ONNXC_DEPTH(depthAvx2, __attribute__((target("avx2"))), 32, ONNXC_LANES32, __builtin_ia32_pmaddwd256)
#endif
ONNXC_DEPTH(depthNarrow, , 16, ONNXC_LANES16, ONNXC_PAIRS128)
#undef ONNXC_DEPTH

void depthTile(bool dots, const Taps &t, const int8_t *w, int32_t *c) {
#if !defined(__aarch64__)
  if (onnxc_vector_bits >= kDotBits && dots)
    return depthDots(t, w, c);
  if (onnxc_vector_bits >= 256)
    return depthAvx2(t, w, c);
#endif
  depthNarrow(t, w, c);
}

// Rows [from, from + rows) of one block with its border, the first row of the operand being row pads[0].
void copyStrip(const IntegerConv &p, const uint8_t *block, int64_t from, int64_t rows, uint8_t *to) {
  for (int64_t r = 0; r < rows; ++r, to += p.row) {
    int64_t y = from + r - p.pads[0];
    if (y < 0 || y >= p.height) {
      memset(to, p.border, size_t(p.row));
      continue;
    }
    memset(to, p.border, size_t(p.pads[1] * kLanes));
    memcpy(to + p.pads[1] * kLanes, block + y * p.width * kLanes, size_t(p.width * kLanes));
    memset(to + (p.pads[1] + p.width) * kLanes, p.border, size_t(p.pads[3] * kLanes));
  }
}

// Output rows [first, last) of a block; `image`: the strip that they need.
void depthRows(const IntegerConv &p, Taps t, const uint8_t *image, int64_t block, int64_t first, int64_t last, void *y) {
  int32_t c[kWide * kLanes];
  const int8_t *w = p.weights + block * t.quads * 64;
  for (int64_t oy = first; oy < last; ++oy)
    for (int64_t ox = 0; ox < p.outWidth; ox += kWide) {
      t.image = image + (oy - first) * p.strides[0] * p.row + ox * t.step;
      depthTile(p.dots, t, w, c);
      int64_t at = (block * p.outHeight + oy) * p.outWidth + ox;
      p.finish(c, kLanes, minOf(kWide, p.outWidth - ox), block, y, at * kLanes);
    }
  finishTable(p, block, first * p.outWidth, (last - first) * p.outWidth, y);
}

}  // namespace

int32_t depthwiseConv(const Args *a, const IntegerConv &given) {
  IntegerConv p = given;
  int64_t taps = p.kernel[0] * p.kernel[1], quads = (taps + 3) / 4, strips = (p.outHeight + kStrip - 1) / kStrip, blocks = p.blocks;
  if (onnxc_count(a->in[1]) != p.outBlocks * quads * 64 || p.outBlocks != p.blocks || p.plain)
    return ONNXC_K_SHAPE;
  p.row = (p.width + p.pads[1] + p.pads[3]) * kLanes;
  int64_t *offsets = heap<int64_t>(a, 4 * quads);
  if (!offsets)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < taps; ++i)
    offsets[i] = i / p.kernel[1] * p.dilations[0] * p.row + i % p.kernel[1] * p.dilations[1] * kLanes;
  Taps t{nullptr, offsets, quads, p.strides[1] * kLanes, p.flip};
  int64_t reach = (p.kernel[0] - 1) * p.dilations[0] + 1, bytes = ((kStrip - 1) * p.strides[0] + reach) * p.row + kWide * t.step + 64;
  const uint8_t *x = in<uint8_t>(a, 0);
  char *y = out<char>(a, 0);
  int64_t outPlane = p.outHeight * p.outWidth * kLanes, work = kStrip * p.outWidth * quads * 8;
  return parallelScratchFor(a, a->in[0].dims[0] * blocks * strips, grainOf(work), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              uint8_t *image = static_cast<uint8_t *>(scratch);
                              for (int64_t u = begin; u < end; ++u) {
                                int64_t first = u % strips * kStrip, last = minOf(first + kStrip, p.outHeight), n = u / strips / blocks,
                                        block = u / strips % blocks;
                                copyStrip(p, x + (n * blocks + block) * p.height * p.width * kLanes, first * p.strides[0],
                                          (last - first - 1) * p.strides[0] + reach, image);
                                depthRows(p, t, image, block, first, last, y + n * blocks * outPlane * (p.toFloat ? 4 : 1));
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
      for (int64_t i = rows.low; i < rows.high; ++i) {
        const uint8_t *from = x + (top * p.width + left) * kLanes + i * line;
        for (int64_t j = columns.low; j < columns.high; ++j) {
          V other = *(const V *)(from + j * step);
          v = other > v ? other : v;
        }
      }
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
        poolPlane(p, plane, to + u * pixels * kLanes, s16(int8_t(-128)));
      else
        poolPlane(p, plane, to + u * pixels * kLanes, Bytes16(uint8_t(0)));
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastBytePool(const onnxc_args *a) { return onnxc::bytePool(a); }
