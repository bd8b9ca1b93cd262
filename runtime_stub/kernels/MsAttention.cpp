// MsAttention.cpp: com.microsoft's Attention, QAttention and MultiHeadAttention over doubles. Heads and masks: MsAttention.h.
#include "runtime_stub/kernels/MsAttention.h"

namespace onnxc {
namespace {

// Projected rows and what the three operators share. q, k, v: [batch, tokens, heads * size].
struct Problem {
  int64_t batch, heads, queries, fresh, past, size, valueSize;  // fresh: new keys
  double scale;
  bool causal;
  double *q, *k, *v;
  KeyMask mask;
  ScoreBias bias;
  const Tensor *pastKey = nullptr, *pastValue = nullptr;  // [batch, heads, past, size]; offsets below for one tensor with both
  int64_t pastValueOffset = 0;
  Tensor *presentKey = nullptr, *presentValue = nullptr, *scores = nullptr;
  int64_t presentValueOffset = 0;
  int64_t keys() const { return past + fresh; }
};

int32_t attend(const Args *a, const Problem &p) {
  int64_t keys = p.keys(), vs = p.valueSize;
  double *q = heap<double>(a, p.queries * p.size), *k = heap<double>(a, keys * p.size), *v = heap<double>(a, keys * vs);
  double *score = heap<double>(a, keys), *sum = heap<double>(a, vs);
  if (!q || !k || !v || !score || !sum)
    return ONNXC_K_MEMORY;
  Head head{p.queries, keys, p.size, vs, p.scale};
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h) {
      int64_t plane = b * p.heads + h;
      for (int64_t s = 0; s < p.queries; ++s)
        memcpy(q + s * p.size, p.q + ((b * p.queries + s) * p.heads + h) * p.size, size_t(p.size) * 8);
      for (int64_t i = 0; i < p.past * p.size; ++i)
        k[i] = loadF64(*p.pastKey, plane * p.past * p.size + i);
      for (int64_t i = 0; i < p.past * vs; ++i)
        v[i] = loadF64(*p.pastValue, p.pastValueOffset + plane * p.past * vs + i);
      for (int64_t t = 0; t < p.fresh; ++t) {
        memcpy(k + (p.past + t) * p.size, p.k + ((b * p.fresh + t) * p.heads + h) * p.size, size_t(p.size) * 8);
        memcpy(v + (p.past + t) * vs, p.v + ((b * p.fresh + t) * p.heads + h) * vs, size_t(vs) * 8);
      }
      for (int64_t i = 0; p.presentKey && i < keys * p.size; ++i)
        storeF64(*p.presentKey, plane * keys * p.size + i, k[i]);
      for (int64_t i = 0; p.presentValue && i < keys * vs; ++i)
        storeF64(*p.presentValue, p.presentValueOffset + plane * keys * vs + i, v[i]);
      auto bias = [&](int64_t s, int64_t t) {
        double x = p.mask(b, s, t) + p.bias(b, h, s, t);
        return p.causal && t > p.past + s ? lowest : x;
      };
      head.run(q, k, v, score, sum, bias,
               [&](int64_t s, int64_t d, double x) { storeF64(a->out[0], ((b * p.queries + s) * p.heads + h) * vs + d, x); });
      for (int64_t s = 0; p.scores && s < p.queries; ++s)
        for (int64_t t = 0; t < keys; ++t)
          storeF64(*p.scores, (plane * p.queries + s) * keys + t, p.scale * dot(q + s * p.size, k + t * p.size, p.size) + bias(s, t));
    }
  return ONNXC_K_OK;
}

// x [rows, inputs] times columns [from, from + n) of w [inputs, columns], scaled by column, plus bias.
template <class X, class W>
void project(X x, W w, int64_t rows, int64_t inputs, int64_t from, int64_t n, double *to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < inputs; ++i) {
      double v = x(r * inputs + i);
      for (int64_t c = 0; v != 0 && c < n; ++c)
        to[r * n + c] += v * w(i, from + c);
    }
}

int32_t maskAndPast(const Args *a, Problem &p, int64_t mask, int64_t past, double filter) {
  if (hasIn(a, past)) {
    const Tensor &t = a->in[past];
    if (t.rank != 5 || t.dims[0] != 2 || t.dims[1] != p.batch || t.dims[2] != p.heads || t.dims[4] != p.size)
      return ONNXC_K_SHAPE;
    p.past = t.dims[3];
    p.pastKey = p.pastValue = &t;
    p.pastValueOffset = onnxc_count(t) / 2;
  }
  if (hasOut(a, 1)) {
    p.presentKey = p.presentValue = &a->out[1];
    p.presentValueOffset = onnxc_count(a->out[1]) / 2;
    if (p.presentValueOffset != p.batch * p.heads * p.keys() * p.size || p.valueSize != p.size)
      return ONNXC_K_SHAPE;
  }
  p.mask.batch = p.batch, p.mask.queries = p.queries, p.mask.keys = p.keys(), p.mask.past = p.past, p.mask.filter = filter;
  return p.mask.read(a, mask) ? ONNXC_K_OK : ONNXC_K_SHAPE;
}

bool rooms(const Args *a, Problem &p) {
  int64_t rows = p.batch * p.queries;
  p.q = heap<double>(a, rows * p.heads * p.size), p.k = heap<double>(a, rows * p.heads * p.size),
  p.v = heap<double>(a, rows * p.heads * p.valueSize);
  return p.q && p.k && p.v;
}

void addBias(double *x, int64_t rows, int64_t n, const Tensor &bias, int64_t from) {
  for (int64_t i = 0; i < rows * n; ++i)
    x[i] += loadF64(bias, from + i % n);
}

double filterOf(const Attr &t) { return given(t) ? t.f : -10000; }
double scaleOf(const Attr &t, int64_t size) { return given(t) && t.f != 0 ? t.f : 1 / sqrt(double(size)); }

int32_t attention(const Args *a) {
  enum { Input, Weights, Bias, Mask, Past, AttentionBias };
  enum { Rotary, Filter, Heads, QkvSizes, Scale, Causal };
  const Tensor &x = a->in[Input], &w = a->in[Weights];
  if (x.rank != 3 || w.rank != 2)
    return ONNXC_K_SHAPE;
  Problem p{};
  p.batch = x.dims[0], p.queries = p.fresh = x.dims[1], p.heads = a->attr[Heads].i;
  const Attr &sizes = a->attr[QkvSizes];
  int64_t inputs = x.dims[2], columns = w.dims[1], qs = sizes.n == 3 ? ints(sizes)[0] : columns / 3,
          ks = sizes.n == 3 ? ints(sizes)[1] : qs;
  int64_t vs = columns - qs - ks;
  if (a->attr[Rotary].i || p.heads < 1)
    return ONNXC_K_VALUE;
  if (w.dims[0] != inputs || qs != ks || qs < 1 || vs < 1 || qs % p.heads || vs % p.heads)
    return ONNXC_K_SHAPE;
  p.size = qs / p.heads, p.valueSize = vs / p.heads, p.scale = scaleOf(a->attr[Scale], p.size), p.causal = a->attr[Causal].i != 0;
  ONNXC_TRY(maskAndPast(a, p, Mask, Past, filterOf(a->attr[Filter])));
  if (!p.bias.read(a, AttentionBias, p.batch, p.heads, p.queries, p.keys()))
    return ONNXC_K_SHAPE;
  if (!rooms(a, p))
    return ONNXC_K_MEMORY;
  int64_t rows = p.batch * p.queries;
  int32_t code = withFloat(w.dtype, [&](auto tag) {
    auto input = [&](int64_t i) { return loadF64(x, i); };
    auto weight = [&](int64_t i, int64_t c) { return toF64(in<decltype(tag)>(a, Weights)[i * columns + c]); };
    project(input, weight, rows, inputs, 0, qs, p.q);
    project(input, weight, rows, inputs, qs, ks, p.k);
    project(input, weight, rows, inputs, qs + ks, vs, p.v);
    return int32_t(ONNXC_K_OK);
  });
  if (code)
    return code;
  if (hasIn(a, Bias)) {
    if (onnxc_count(a->in[Bias]) != columns)
      return ONNXC_K_SHAPE;
    addBias(p.q, rows, qs, a->in[Bias], 0), addBias(p.k, rows, ks, a->in[Bias], qs), addBias(p.v, rows, vs, a->in[Bias], qs + ks);
  }
  return attend(a, p);
}

int32_t quantisedAttention(const Args *a) {
  enum { Input, Weight, Bias, InputScale, WeightScale, Mask, InputZero, WeightZero, Past };
  enum { Rotary, Filter, Heads, Scale, Causal };
  const Tensor &x = a->in[Input], &w = a->in[Weight];
  if (x.rank != 3 || w.rank != 2)
    return ONNXC_K_SHAPE;
  Problem p{};
  p.batch = x.dims[0], p.queries = p.fresh = x.dims[1], p.heads = a->attr[Heads].i;
  int64_t inputs = x.dims[2], columns = w.dims[1], hidden = columns / 3, rows = p.batch * p.queries;
  if (a->attr[Rotary].i || p.heads < 1)
    return ONNXC_K_VALUE;
  if (w.dims[0] != inputs || columns % 3 || hidden < 1 || hidden % p.heads || onnxc_count(a->in[Bias]) != columns)
    return ONNXC_K_SHAPE;
  p.size = p.valueSize = hidden / p.heads, p.scale = scaleOf(a->attr[Scale], p.size), p.causal = a->attr[Causal].i != 0;
  int64_t scales = onnxc_count(a->in[WeightScale]), zeros = hasIn(a, WeightZero) ? onnxc_count(a->in[WeightZero]) : 1;
  if ((scales != 1 && scales != columns) || (zeros != 1 && zeros != columns))
    return ONNXC_K_SHAPE;
  ONNXC_TRY(maskAndPast(a, p, Mask, Past, filterOf(a->attr[Filter])));
  if (!rooms(a, p))
    return ONNXC_K_MEMORY;
  double inputScale = loadF64(a->in[InputScale], 0), inputZero = hasIn(a, InputZero) ? loadF64(a->in[InputZero], 0) : 0;
  auto input = [&](int64_t i) { return (loadF64(x, i) - inputZero) * inputScale; };
  auto weight = [&](int64_t i, int64_t c) {
    double zero = hasIn(a, WeightZero) ? loadF64(a->in[WeightZero], zeros == 1 ? 0 : c) : 0;
    return (loadF64(w, i * columns + c) - zero) * loadF64(a->in[WeightScale], scales == 1 ? 0 : c);
  };
  double *parts[] = {p.q, p.k, p.v};
  for (int64_t i = 0; i < 3; ++i) {
    project(input, weight, rows, inputs, i * hidden, hidden, parts[i]);
    addBias(parts[i], rows, hidden, a->in[Bias], i * hidden);
  }
  return attend(a, p);
}

// ---- MultiHeadAttention: projected operands in several layouts
enum { Query, Key, Value, MhaBias, Padding, MhaAttentionBias, PastKey, PastValue };

// Token t, head h, element d of an operand: [batch, tokens, heads * size], or one of `parts` in [batch, tokens, heads, parts, size], or
// [batch, heads, tokens, size].
void gather(const Tensor &t, int64_t part, int64_t parts, int64_t batch, int64_t tokens, int64_t heads, int64_t size, double *to) {
  bool headMajor = t.rank == 4;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < tokens; ++s)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t d = 0; d < size; ++d) {
          int64_t from = headMajor ? ((b * heads + h) * tokens + s) * size + d : (((b * tokens + s) * heads + h) * parts + part) * size + d;
          *to++ = loadF64(t, from);
        }
}

int32_t mhaShapes(const Args *a, Problem &p, bool &packedQkv, bool &packedKv) {
  const Tensor &q = a->in[Query];
  if ((q.rank != 3 && q.rank != 5) || !rankIs(a, PastKey, 4))
    return ONNXC_K_SHAPE;
  p.batch = q.dims[0], p.queries = q.dims[1];
  packedQkv = q.rank == 5 && q.dims[3] == 3;
  packedKv = hasIn(a, Key) && a->in[Key].rank == 5;
  if (p.heads < 1)
    return ONNXC_K_VALUE;
  for (int64_t i = Key; i <= Value; ++i)
    if (hasIn(a, i) && (a->in[i].rank < 3 || a->in[i].rank > 5))
      return ONNXC_K_SHAPE;
  if ((q.rank == 5) != packedQkv || packedQkv != !hasIn(a, Key) || (hasIn(a, Key) && !packedKv && !hasIn(a, Value)))
    return ONNXC_K_SHAPE;
  p.size = packedQkv ? q.dims[4] : q.dims[2] / p.heads;
  p.valueSize = p.size;
  p.fresh = packedQkv ? p.queries : a->in[Key].rank == 4 ? a->in[Key].dims[2] : a->in[Key].dims[1];
  if (hasIn(a, Value))
    p.valueSize = a->in[Value].rank == 4 ? a->in[Value].dims[3] : a->in[Value].dims[2] / p.heads;
  int64_t tokens = p.batch * p.heads, parts = packedQkv ? 3 : 1;
  if (onnxc_count(q) != tokens * p.queries * p.size * parts)
    return ONNXC_K_SHAPE;
  if (hasIn(a, Key) && onnxc_count(a->in[Key]) != tokens * p.fresh * p.size * (packedKv ? 2 : 1))
    return ONNXC_K_SHAPE;
  if (hasIn(a, Value) && onnxc_count(a->in[Value]) != tokens * p.fresh * p.valueSize)
    return ONNXC_K_SHAPE;
  if (hasIn(a, PastKey)) {
    p.past = a->in[PastKey].dims[2];
    p.pastKey = &a->in[PastKey], p.pastValue = &a->in[PastValue];
    if (!hasIn(a, PastValue) || onnxc_count(*p.pastKey) != tokens * p.past * p.size ||
        onnxc_count(*p.pastValue) != tokens * p.past * p.valueSize)
      return ONNXC_K_SHAPE;
  }
  return ONNXC_K_OK;
}

int32_t multiHead(const Args *a) {
  enum { Filter, Heads, Scale, Causal };
  Problem p{};
  bool packedQkv, packedKv;
  p.heads = a->attr[Heads].i;
  ONNXC_TRY(mhaShapes(a, p, packedQkv, packedKv));
  p.scale = scaleOf(a->attr[Scale], p.size), p.causal = a->attr[Causal].i != 0;
  int64_t hidden = p.heads * p.size, values = p.heads * p.valueSize, rows = p.batch * p.fresh;
  p.q = heap<double>(a, p.batch * p.queries * hidden), p.k = heap<double>(a, rows * hidden), p.v = heap<double>(a, rows * values);
  if (!p.q || !p.k || !p.v)
    return ONNXC_K_MEMORY;
  const Tensor &key = packedQkv ? a->in[Query] : a->in[Key], &value = packedQkv ? a->in[Query] : packedKv ? a->in[Key] : a->in[Value];
  gather(a->in[Query], 0, packedQkv ? 3 : 1, p.batch, p.queries, p.heads, p.size, p.q);
  gather(key, packedQkv ? 1 : 0, packedQkv ? 3 : packedKv ? 2 : 1, p.batch, p.fresh, p.heads, p.size, p.k);
  gather(value, packedQkv ? 2 : packedKv ? 1 : 0, packedQkv ? 3 : packedKv ? 2 : 1, p.batch, p.fresh, p.heads, p.valueSize, p.v);
  if (hasIn(a, MhaBias)) {
    if (onnxc_count(a->in[MhaBias]) != 2 * hidden + values)
      return ONNXC_K_SHAPE;
    addBias(p.q, p.batch * p.queries, hidden, a->in[MhaBias], 0);
    if (key.rank != 4)
      addBias(p.k, rows, hidden, a->in[MhaBias], hidden);
    if (value.rank != 4)
      addBias(p.v, rows, values, a->in[MhaBias], 2 * hidden);
  }
  p.mask.batch = p.batch, p.mask.queries = p.queries, p.mask.keys = p.keys(), p.mask.past = p.past,
  p.mask.filter = filterOf(a->attr[Filter]);
  if (!p.mask.read(a, Padding) || !p.bias.read(a, MhaAttentionBias, p.batch, p.heads, p.queries, p.keys()))
    return ONNXC_K_SHAPE;
  if (hasOut(a, 1))
    p.presentKey = &a->out[1];
  if (hasOut(a, 2))
    p.presentValue = &a->out[2];
  if (hasOut(a, 3))
    p.scores = &a->out[3];
  int64_t plane = p.batch * p.heads * p.keys();
  if ((p.presentKey && onnxc_count(*p.presentKey) != plane * p.size) ||
      (p.presentValue && onnxc_count(*p.presentValue) != plane * p.valueSize))
    return ONNXC_K_SHAPE;
  return attend(a, p);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MsAttention(const onnxc_args *a) { return onnxc::attention(a); }
extern "C" int32_t onnxc_k_MsQAttention(const onnxc_args *a) { return onnxc::quantisedAttention(a); }
extern "C" int32_t onnxc_k_MsMultiHeadAttention(const onnxc_args *a) { return onnxc::multiHead(a); }
