// FastRotary.cpp: RotaryEmbedding of f32, the standard's and com.microsoft's, in vectors of pairs. A token's row of the caches turns all of
// its heads. Oracles: Attention.cpp, MsGroupQuery.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

// Turns the pairs x[i], x[half + i] by the angles of one position.
ONNXC_INLINE void turnHalves(const float *__restrict x, const float *c, const float *s, int64_t half, float *__restrict y) {
  int64_t i = 0;
  for (; i + 16 <= half; i += 16) {
    v16 re = *(const v16 *)(x + i), im = *(const v16 *)(x + half + i), cos = *(const v16 *)(c + i), sin = *(const v16 *)(s + i);
    *(v16 *)(y + i) = cos * re - sin * im;
    *(v16 *)(y + half + i) = sin * re + cos * im;
  }
  for (; i < half; ++i) {
    float re = x[i], im = x[half + i];
    y[i] = c[i] * re - s[i] * im;
    y[half + i] = s[i] * re + c[i] * im;
  }
}

// The same of the pairs x[2 i], x[2 i + 1].
ONNXC_INLINE void turnNeighbours(const float *__restrict x, const float *c, const float *s, int64_t half, float *__restrict y) {
  int64_t i = 0;
  for (; i + 16 <= half; i += 16) {
    v16 a = *(const v16 *)(x + 2 * i), b = *(const v16 *)(x + 2 * i + 16), cos = *(const v16 *)(c + i), sin = *(const v16 *)(s + i);
    v16 re = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    v16 im = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    v16 p = cos * re - sin * im, q = sin * re + cos * im;
    *(v16 *)(y + 2 * i) = __builtin_shufflevector(p, q, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    *(v16 *)(y + 2 * i + 16) = __builtin_shufflevector(p, q, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  for (; i < half; ++i) {
    float re = x[2 * i], im = x[2 * i + 1];
    y[2 * i] = c[i] * re - s[i] * im;
    y[2 * i + 1] = s[i] * re + c[i] * im;
  }
}

struct Rotation {
  int64_t batch, heads, tokens, size, half;  // size: of a head, whose first 2 * half elements turn
  bool byToken;                              // [batch, token, head, size], else [batch, head, token, size]
  bool interleaved;
  float scale;
  const Tensor *cos, *sin, *positions;  // positions: null where the tokens of all entries are numbered in order
  bool offset;                          // the only position is that of the first token

  int64_t entry(int64_t row) const { return !positions ? row : offset ? loadI64(*positions, 0) + row % tokens : loadI64(*positions, row); }
  int32_t run(const float *x, float *y, int64_t begin, int64_t end) const {
    const float *cosines = data<float>(*cos), *sines = data<float>(*sin);
    int64_t entries = half ? onnxc_count(*cos) / half : 0, step = byToken ? size : tokens * size, turned = 2 * half;
    for (int64_t row = begin; row < end; ++row) {
      int64_t at = entry(row) * half, first = byToken ? row * heads * size : (row / tokens * heads * tokens + row % tokens) * size;
      if (entry(row) < 0 || entry(row) >= entries)
        return ONNXC_K_INDEX;
      for (int64_t h = 0; h < heads; ++h) {
        const float *from = x + first + h * step;
        float *to = y + first + h * step;
        if (interleaved)
          turnNeighbours(from, cosines + at, sines + at, half, to);
        else
          turnHalves(from, cosines + at, sines + at, half, to);
        for (int64_t i = 0; scale != 1 && i < turned; ++i)
          to[i] *= scale;
        if (turned < size)
          memcpy(to + turned, from + turned, size_t(size - turned) * sizeof(float));
      }
    }
    return ONNXC_K_OK;
  }
};

int32_t rotate(const Args *a, const Rotation &r) {
  const Rotation own = r;
  const float *x = in<float>(a, 0);
  float *y = out<float>(a, 0);
  return parallelFor(a, r.batch * r.tokens, grainOf(r.heads * (8 + r.size / 8)),
                     [=](int64_t begin, int64_t end) -> int32_t { return own.run(x, y, begin, end); });
}

// Operands: X, cos_cache, sin_cache, position_ids.
int32_t rotaryEmbedding(const Args *a) {
  enum { Interleaved, NumHeads, Dim };
  const Tensor &x = a->in[0], &cos = a->in[1];
  bool byToken = x.rank == 3;
  int64_t heads = byToken ? a->attr[NumHeads].i : x.rank == 4 ? x.dims[1] : 0;
  if (heads < 1 || (byToken && x.dims[2] % heads != 0) || cos.rank < 2)
    return ONNXC_K_SHAPE;
  int64_t tokens = x.dims[byToken ? 1 : 2], size = byToken ? x.dims[2] / heads : x.dims[3], half = cos.dims[cos.rank - 1];
  int64_t rows = x.dims[0] * tokens, entries = product(cos.dims, 0, cos.rank - 1);
  if (2 * half != (a->attr[Dim].i > 0 ? a->attr[Dim].i : size) || 2 * half > size || !sameDims(cos, a->in[2]))
    return ONNXC_K_SHAPE;
  if ((hasIn(a, 3) ? onnxc_count(a->in[3]) : entries) != rows)
    return ONNXC_K_SHAPE;
  return rotate(a, {x.dims[0], heads, tokens, size, half, byToken, a->attr[Interleaved].i != 0, 1, &cos, &a->in[2],
                    hasIn(a, 3) ? &a->in[3] : nullptr, false});
}

// Operands: input, position_ids, cos_cache, sin_cache.
int32_t msRotaryEmbedding(const Args *a) {
  enum { Interleaved, NumHeads, Dim, Scale };
  const Tensor &x = a->in[0], &positions = a->in[1], &cos = a->in[2];
  if ((x.rank != 3 && x.rank != 4) || cos.rank != 2)
    return ONNXC_K_SHAPE;
  bool byToken = x.rank == 3;
  int64_t half = cos.dims[1], heads = a->attr[NumHeads].i, tokens = x.dims[byToken ? 1 : 2];
  int64_t size = !byToken ? x.dims[3] : a->attr[Dim].i > 0 && heads > 0 ? x.dims[2] / heads : 2 * half;
  if (size < 1 || 2 * half > size || (byToken && x.dims[2] % size != 0) || onnxc_count(a->in[3]) != onnxc_count(cos))
    return ONNXC_K_SHAPE;
  bool offset = onnxc_count(positions) == 1;
  if (!offset && onnxc_count(positions) != x.dims[0] * tokens)
    return ONNXC_K_SHAPE;
  return rotate(a, {x.dims[0], byToken ? x.dims[2] / size : x.dims[1], tokens, size, half, byToken, a->attr[Interleaved].i != 0,
                    given(a->attr[Scale]) ? float(a->attr[Scale].f) : 1, &cos, &a->in[3], &positions, offset});
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastRotaryEmbedding(const onnxc_args *a) { return onnxc::rotaryEmbedding(a); }
extern "C" int32_t onnxc_k_FastMsRotaryEmbedding(const onnxc_args *a) { return onnxc::msRotaryEmbedding(a); }
