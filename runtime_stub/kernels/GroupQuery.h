// GroupQuery.h: operands and attributes of com.microsoft's GroupQueryAttention, its cache, and rotation. Used by MsGroupQuery.cpp and
// FastGroupQuery.cpp.
#pragma once
#include "runtime_stub/kernels/MsAttention.h"

namespace onnxc {

// Rotates the first `dim` elements of x by row `position` of the caches [positions, dim / 2].
struct Rotary {
  const Tensor *cos = nullptr, *sin = nullptr;
  int64_t dim = 0;
  bool interleaved = false;
  double scale = 1;

  int32_t operator()(double *x, int64_t position, double *tmp) const {
    int64_t half = dim / 2;
    if (position < 0 || position >= cos->dims[0])
      return ONNXC_K_INDEX;
    for (int64_t i = 0; i < half; ++i) {
      double c = loadF64(*cos, position * half + i), s = loadF64(*sin, position * half + i);
      int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : half + i;
      tmp[first] = (x[first] * c - x[second] * s) * scale;
      tmp[second] = (x[first] * s + x[second] * c) * scale;
    }
    for (int64_t i = 0; i < dim; ++i)
      x[i] = tmp[i];
    return ONNXC_K_OK;
  }
};

enum {
  Query,
  Key,
  Value,
  PastKey,
  PastValue,
  SeqLens,
  Total,
  CosCache,
  SinCache,
  PositionIds,
  AttentionBias,
  HeadSink,
  KScale,
  VScale,
  QNorm,
  KNorm
};
enum {
  Causal,
  DoRotary,
  NumHeads,
  KvHeads,
  Window,
  NormEpsilon,
  RotaryInterleaved,
  Scale,
  SmoothSoftmax,
  Softcap,
  QkOutput,
  KQuantType,
  VQuantType,
  CacheBits,
  Sliding
};

// Rows of `size` numbers in a cache of keys or values: numbers as they are, or divided by a scale (one, or one for each head and element)
// and rounded to a byte or to four bits, of which the even element has the low ones and 8 stands for 0.
struct Cache {
  const Tensor *scale = nullptr;
  int64_t size = 0, scales = 1;
  bool nibbles = false;

  int64_t width() const { return nibbles ? (size + 1) / 2 : size; }
  double scaleOf(int64_t head, int64_t d) const { return scale ? loadF64(*scale, scales == 1 ? 0 : head * size + d) : 1; }
  double load(const Tensor &t, int64_t row, int64_t head, int64_t d) const {
    if (!nibbles)
      return loadF64(t, row * size + d) * scaleOf(head, d);
    int64_t pair = data<uint8_t>(t)[row * width() + d / 2];
    return double((d % 2 ? pair >> 4 : pair & 15) - 8) * scaleOf(head, d);
  }
  // In units of the scale, as an element of that type has it.
  double units(int64_t head, int64_t d, double x, int32_t dtype) const {
    double v = scale ? x / scaleOf(head, d) : x;
    if (nibbles)
      return toF64(saturateTo<i4>(nearbyint(v)));
    return dtype == ONNXC_I8 ? toF64(saturateTo<int8_t>(nearbyint(v))) : dtype == ONNXC_F8E4M3FN ? toF64(fromF64<f8e4m3fn>(v)) : v;
  }
  void store(Tensor &t, int64_t row, int64_t head, int64_t d, double x) const {
    double v = units(head, d, x, t.dtype);
    if (!nibbles)
      return storeF64(t, row * size + d, v);
    uint8_t &pair = mutableData<uint8_t>(t)[row * width() + d / 2];
    pair = uint8_t(d % 2 ? pair | uint8_t(v + 8) << 4 : uint8_t(v + 8));
  }
};

// One batch entry, in rows of keys: `before` from the cache given, then `fresh` new ones. Row 0 is token `first`; the last `kept` go on.
struct Rows {
  int64_t fresh, before, total, first, kept;
};

struct Gqa {
  const Args *a;
  int64_t batch, queries, heads, kvHeads, size, past, buffer;  // past: length of the cache given, buffer: of the cache made
  bool packed, sliding, shared;  // shared: keys and values of length 0: the cache given holds those of all tokens, another layer's
  Rotary rotary;
  Cache keys, values;

  int32_t read(const Args *args) {
    a = args;
    const Tensor &q = a->in[Query];
    heads = a->attr[NumHeads].i, kvHeads = a->attr[KvHeads].i;
    if (heads < 1 || kvHeads < 1 || heads % kvHeads || q.rank != 3)
      return ONNXC_K_VALUE;
    batch = q.dims[0], queries = q.dims[1];
    packed = !hasIn(a, Key);
    size = q.dims[2] / (packed ? heads + 2 * kvHeads : heads);
    if (size < 1 || q.dims[2] != size * (packed ? heads + 2 * kvHeads : heads) || onnxc_count(a->in[SeqLens]) != batch)
      return ONNXC_K_SHAPE;
    shared = !packed && queries > 0 && hasIn(a, PastKey) && onnxc_count(a->in[Key]) == 0;
    for (int64_t i = Key; i <= Value; ++i)
      if (!packed && (!hasIn(a, i) || onnxc_count(a->in[i]) != (shared ? 0 : batch * queries * kvHeads * size)))
        return ONNXC_K_SHAPE;
    if (!rankIs(a, PastKey, 4) || !rankIs(a, CosCache, 2))
      return ONNXC_K_SHAPE;
    if (hasIn(a, PositionIds) && onnxc_count(a->in[PositionIds]) != batch * queries)
      return ONNXC_K_SHAPE;
    for (int64_t i = QNorm; i <= KNorm; ++i)
      if (hasIn(a, i) && onnxc_count(a->in[i]) != size)
        return ONNXC_K_SHAPE;
    if (hasIn(a, HeadSink) && onnxc_count(a->in[HeadSink]) != heads)
      return ONNXC_K_SHAPE;
    past = hasIn(a, PastKey) ? a->in[PastKey].dims[2] : 0;
    if (!readCache(keys, KQuantType, KScale) || !readCache(values, VQuantType, VScale))
      return ONNXC_K_SHAPE;
    for (int64_t i = PastKey; i <= PastValue && hasIn(a, PastKey); ++i)
      if (!hasIn(a, i) || onnxc_count(a->in[i]) != batch * kvHeads * past * cache(i - PastKey).width())
        return ONNXC_K_SHAPE;
    int64_t total = loadI64(a->in[Total], 0);
    if (total < 0)
      return ONNXC_K_SIZE;
    sliding = a->attr[Sliding].i != 0;
    ONNXC_CHECK(!sliding || (!shared && a->attr[Window].i > 0 && past >= a->attr[Window].i), ONNXC_K_SHAPE);
    buffer = total > past && !sliding ? total : past;
    if (!a->attr[DoRotary].i)
      return ONNXC_K_OK;
    if (!hasIn(a, CosCache) || !hasIn(a, SinCache))
      return ONNXC_K_VALUE;
    rotary.cos = &a->in[CosCache], rotary.sin = &a->in[SinCache], rotary.interleaved = a->attr[RotaryInterleaved].i != 0;
    rotary.dim = 2 * rotary.cos->dims[1];
    return rotary.dim <= size && onnxc_count(*rotary.sin) == onnxc_count(*rotary.cos) ? ONNXC_K_OK : ONNXC_K_SHAPE;
  }

  // A cache that slides holds all of `tokens` tokens while they fit, then drops `step` of them whenever it is full.
  int64_t resident(int64_t tokens) const {
    int64_t step = past - a->attr[Window].i + 1;
    return tokens <= past ? tokens : tokens - (tokens - past + step - 1) / step * step;
  }
  int32_t rowsOf(int64_t b, Rows &r) const {
    int64_t tokens = loadI64(a->in[SeqLens], b) + 1, old = tokens - minOf(queries, tokens);
    r.fresh = tokens - old, r.before = sliding ? resident(old) : old, r.total = r.before + r.fresh, r.first = old - r.before;
    r.kept = sliding ? resident(tokens) : r.total;
    return tokens >= 1 && r.kept <= buffer && held(r) <= past ? ONNXC_K_OK : ONNXC_K_INDEX;
  }
  // How many of an entry's rows the cache given holds.
  int64_t held(const Rows &r) const { return shared ? r.total : r.before; }
  // The most rows of an entry.
  int64_t mostRows() const { return sliding ? past + queries : buffer; }

  const Cache &cache(int64_t part) const { return part ? values : keys; }  // part: 0 keys, 1 values
  bool readCache(Cache &c, int64_t type, int64_t scale) const {
    c.size = size;
    if (a->attr[type].n == 0 || startsWith(a->attr[type], 'N'))
      return true;
    if (!hasIn(a, scale) || !hasIn(a, PastKey))
      return false;
    c.scale = &a->in[scale], c.scales = onnxc_count(*c.scale), c.nibbles = given(a->attr[CacheBits]) && a->attr[CacheBits].i == 4;
    return c.scales == 1 || c.scales == kvHeads * size;
  }
  // The sizes of the new caches fit.
  bool presentFits() const {
    for (int64_t i = 0; i < 2; ++i)
      if (hasOut(a, i + 1) && onnxc_count(a->out[i + 1]) != batch * kvHeads * buffer * cache(i).width())
        return false;
    return true;
  }

  // Where the head of token s begins: part 0 a query head, 1 a key head, 2 a value head.
  int64_t offset(int64_t part, int64_t b, int64_t s, int64_t h) const {
    int64_t width = packed ? (heads + 2 * kvHeads) * size : (part ? kvHeads : heads) * size;
    return (b * queries + s) * width + ((packed && part ? heads + (part - 1) * kvHeads : 0) + h) * size;
  }
  const float *row(int64_t part, int64_t b, int64_t s, int64_t h) const { return in<float>(a, packed ? 0 : part) + offset(part, b, s, h); }
  void load(int64_t part, int64_t b, int64_t s, int64_t h, double *to) const {
    const Tensor &t = a->in[packed ? 0 : part];
    int64_t from = offset(part, b, s, h);
    for (int64_t d = 0; d < size; ++d)
      to[d] = loadF64(t, from + d);
  }
  void normalise(double *x, int64_t operand) const {
    if (!hasIn(a, operand))
      return;
    double r = 1 / sqrt(dot(x, x, size) / double(size) + a->attr[NormEpsilon].f);
    for (int64_t d = 0; d < size; ++d)
      x[d] *= r * loadF64(a->in[operand], d);
  }
};

}  // namespace onnxc
