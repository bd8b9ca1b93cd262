// MsGroupQuery.cpp: com.microsoft's GroupQueryAttention with its key-value cache, and RotaryEmbedding. Heads: MsAttention.h, operands:
// GroupQuery.h.
#include "runtime_stub/kernels/GroupQuery.h"

namespace onnxc {
namespace {

int32_t rotary(const Args *a) {
  enum { Input, Positions, Cos, Sin };
  enum { Interleaved, NumHeads, Dim, Scale };
  const Tensor &x = a->in[Input];
  Rotary r;
  if ((x.rank != 3 && x.rank != 4) || a->in[Cos].rank != 2)
    return ONNXC_K_SHAPE;
  r.cos = &a->in[Cos], r.sin = &a->in[Sin], r.interleaved = a->attr[Interleaved].i != 0,
  r.scale = given(a->attr[Scale]) ? a->attr[Scale].f : 1;
  int64_t half = r.cos->dims[1], batch = x.dims[0], heads = a->attr[NumHeads].i, partial = a->attr[Dim].i;
  int64_t size = x.rank == 4 ? x.dims[3] : partial > 0 && heads > 0 ? x.dims[2] / heads : 2 * half;
  if (size < 1 || 2 * half > size || onnxc_count(*r.sin) != onnxc_count(*r.cos))
    return ONNXC_K_SHAPE;
  if (x.rank == 4)
    heads = x.dims[1];
  else
    heads = x.dims[2] / size;
  r.dim = 2 * half;
  int64_t tokens = x.rank == 4 ? x.dims[2] : x.dims[1];
  bool offset = onnxc_count(a->in[Positions]) == 1;
  if (!offset && onnxc_count(a->in[Positions]) != batch * tokens)
    return ONNXC_K_SHAPE;
  double *row = heap<double>(a, size), *tmp = heap<double>(a, size);
  if (!row || !tmp)
    return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < tokens; ++s)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t at = (x.rank == 4 ? (b * heads + h) * tokens + s : (b * tokens + s) * heads + h) * size;
        for (int64_t d = 0; d < size; ++d)
          row[d] = loadF64(x, at + d);
        if (int32_t code = r(row, offset ? loadI64(a->in[Positions], 0) + s : loadI64(a->in[Positions], b * tokens + s), tmp))
          return code;
        for (int64_t d = 0; d < size; ++d)
          storeF64(a->out[0], at + d, row[d]);
      }
  return ONNXC_K_OK;
}

struct Rooms {
  double *q, *k, *v, *score, *sum, *tmp;
};

// Keys and values of one kv head into `r` and the new cache.
int32_t fillCache(const Gqa &g, const Rooms &r, int64_t b, int64_t kv, int64_t before, int64_t total) {
  const Args *a = g.a;
  int64_t plane = b * g.kvHeads + kv;
  for (int64_t i = 0; i < before * g.size; ++i) {
    r.k[i] = loadF64(a->in[PastKey], plane * g.past * g.size + i);
    r.v[i] = loadF64(a->in[PastValue], plane * g.past * g.size + i);
  }
  for (int64_t t = before; t < total; ++t) {
    double *k = r.k + t * g.size;
    g.load(1, b, t - before, kv, k);
    g.load(2, b, t - before, kv, r.v + t * g.size);
    g.normalise(k, KNorm);
    int64_t position = hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], b * g.queries + t - before) : t;
    if (a->attr[DoRotary].i)
      if (int32_t code = g.rotary(k, position, r.tmp))
        return code;
  }
  for (int64_t i = 0; i < g.buffer * g.size; ++i) {
    if (hasOut(a, 1))
      storeF64(a->out[1], plane * g.buffer * g.size + i, i < total * g.size ? r.k[i] : 0);
    if (hasOut(a, 2))
      storeF64(a->out[2], plane * g.buffer * g.size + i, i < total * g.size ? r.v[i] : 0);
  }
  return ONNXC_K_OK;
}

int32_t groupQuery(const Args *a) {
  Gqa g;
  if (int32_t code = g.read(a))
    return code;
  int64_t plane = g.batch * g.kvHeads * g.buffer * g.size;
  for (int64_t i = 1; i <= 2; ++i)
    if (hasOut(a, i) && onnxc_count(a->out[i]) != plane)
      return ONNXC_K_SHAPE;
  ScoreBias extra;
  if (!extra.read(a, AttentionBias, g.batch, g.heads, g.queries, 0))
    return ONNXC_K_SHAPE;
  int64_t n = g.size, window = a->attr[Window].i;
  Rooms r{heap<double>(a, g.queries * n),
          heap<double>(a, g.buffer * n),
          heap<double>(a, g.buffer * n),
          heap<double>(a, g.buffer),
          heap<double>(a, n),
          heap<double>(a, n)};
  if (!r.q || !r.k || !r.v || !r.score || !r.sum || !r.tmp)
    return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < g.batch; ++b) {
    int64_t total = loadI64(a->in[SeqLens], b) + 1, fresh = g.queries < total ? g.queries : total, before = total - fresh;
    if (total < 1 || total > g.buffer || before > g.past)
      return ONNXC_K_INDEX;
    if (extra.t && extra.t->dims[3] < total)
      return ONNXC_K_SHAPE;
    for (int64_t h = 0; h < g.heads; ++h) {
      if (h % (g.heads / g.kvHeads) == 0)
        if (int32_t code = fillCache(g, r, b, h / (g.heads / g.kvHeads), before, total))
          return code;
      for (int64_t s = 0; s < g.queries; ++s) {
        double *q = r.q + s * n;
        g.load(0, b, s, h, q);
        g.normalise(q, QNorm);
        int64_t position = hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], b * g.queries + s) : before + s;
        if (a->attr[DoRotary].i && (s < fresh || position < g.rotary.cos->dims[0]))
          if (int32_t code = g.rotary(q, position, r.tmp))
            return code;
      }
      Head head{g.queries, total, n, n, given(a->attr[Scale]) && a->attr[Scale].f != 0 ? a->attr[Scale].f : 1 / sqrt(double(n))};
      head.softcap = given(a->attr[Softcap]) ? a->attr[Softcap].f : 0;
      head.hasSink = a->attr[SmoothSoftmax].i == 1 || hasIn(a, HeadSink);
      head.sink = hasIn(a, HeadSink) ? loadF64(a->in[HeadSink], h) : 0;
      auto bias = [&](int64_t s, int64_t t) {
        int64_t at = before + s;
        if ((a->attr[Causal].i && t > at) || (window > 0 && t <= at - window))
          return -__builtin_inf();
        return extra(b, h, s, t);
      };
      head.run(r.q, r.k, r.v, r.score, r.sum, bias,
               [&](int64_t s, int64_t d, double x) { storeF64(a->out[0], ((b * g.queries + s) * g.heads + h) * n + d, x); });
    }
  }
  return ONNXC_K_OK;
}

int32_t groupQuerySizes(const Args *a) {
  Gqa g;
  if (int32_t code = g.read(a))
    return code;
  int64_t y[] = {g.batch, g.queries, g.heads * g.size}, present[] = {g.batch, g.kvHeads, g.buffer, g.size};
  memcpy(a->out[0].dims, y, sizeof(y));
  for (int64_t i = 1; i <= 2; ++i)
    if (hasOut(a, i))
      memcpy(a->out[i].dims, present, sizeof(present));
  return hasOut(a, 3) ? ONNXC_K_VALUE : ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MsRotaryEmbedding(const onnxc_args *a) { return onnxc::rotary(a); }
extern "C" int32_t onnxc_s_MsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuerySizes(a); }
extern "C" int32_t onnxc_k_MsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuery(a); }
