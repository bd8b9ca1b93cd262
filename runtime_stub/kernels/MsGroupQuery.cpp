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
  if (size < 1 || 2 * half > size || (x.rank == 3 && x.dims[2] % size != 0) || onnxc_count(*r.sin) != onnxc_count(*r.cos))
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
        ONNXC_TRY(r(row, offset ? loadI64(a->in[Positions], 0) + s : loadI64(a->in[Positions], b * tokens + s), tmp));
        for (int64_t d = 0; d < size; ++d)
          storeF64(a->out[0], at + d, row[d]);
      }
  return ONNXC_K_OK;
}

struct Rooms {
  double *q, *k, *v, *score, *sum, *tmp;
};

// Keys and values of one kv head into `r`, rounded as the cache rounds them, and into the new cache.
int32_t fillCache(const Gqa &g, const Rooms &r, int64_t b, int64_t kv, const Rows &at) {
  const Args *a = g.a;
  int64_t plane = b * g.kvHeads + kv, n = g.size, gone = at.total - at.kept;
  for (int64_t t = g.held(at); t < at.total; ++t) {
    double *k = r.k + t * n;
    g.load(1, b, t - at.before, kv, k);
    g.load(2, b, t - at.before, kv, r.v + t * n);
    g.normalise(k, KNorm);
    int64_t position = hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], b * g.queries + t - at.before) : at.first + t;
    if (a->attr[DoRotary].i)
      ONNXC_TRY(g.rotary(k, position, r.tmp));
  }
  for (int64_t part = 0; part < 2; ++part) {
    double *rows = part ? r.v : r.k;
    const Cache &cache = g.cache(part);
    for (int64_t i = 0; i < g.held(at) * n; ++i)
      rows[i] = cache.load(a->in[PastKey + part], plane * g.past + i / n, kv, i % n);
    for (int64_t i = g.held(at) * n; i < at.total * n && cache.scale; ++i)
      rows[i] = cache.units(kv, i % n, rows[i], a->in[PastKey + part].dtype) * cache.scaleOf(kv, i % n);
    for (int64_t i = 0; i < g.buffer * n && hasOut(a, part + 1); ++i)
      cache.store(a->out[part + 1], plane * g.buffer + i / n, kv, i % n, i < at.kept * n ? rows[gone * n + i] : 0);
  }
  return ONNXC_K_OK;
}

int32_t placeQueries(const Gqa &g, const Rooms &r, int64_t b, int64_t h, const Rows &at) {
  const Args *a = g.a;
  for (int64_t s = 0; s < g.queries; ++s) {
    double *q = r.q + s * g.size;
    g.load(0, b, s, h, q);
    g.normalise(q, QNorm);
    int64_t position = hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], b * g.queries + s) : at.first + at.before + s;
    if (a->attr[DoRotary].i && (s < at.fresh || position < g.rotary.cos->dims[0]))
      ONNXC_TRY(g.rotary(q, position, r.tmp));
  }
  return ONNXC_K_OK;
}

// The scores of head h before the softmax (`qk_output` 1) or behind it; 0 for keys that a query does not see.
template <class Bias>
void giveScores(const Gqa &g, const Head &head, const Rooms &r, int64_t plane, Bias bias) {
  const Args *a = g.a;
  int64_t columns = a->out[3].dims[3];
  for (int64_t s = 0; s < g.queries; ++s) {
    double top = head.scores(r.q, r.k, r.score, bias, s), total = 1;
    if (a->attr[QkOutput].i == 2)
      total = head.exponents(r.score, top);
    for (int64_t t = 0; t < columns; ++t) {
      bool seen = t < head.keys && total != 0 && r.score[t] != -__builtin_inf();
      storeF64(a->out[3], (plane * g.queries + s) * columns + t, seen ? r.score[t] / total : 0);
    }
  }
}

int32_t attendEntry(const Gqa &g, const Rooms &r, const ScoreBias &extra, int64_t b) {
  const Args *a = g.a;
  int64_t n = g.size, window = a->attr[Window].i;
  Rows rows;
  ONNXC_TRY(g.rowsOf(b, rows));
  if (extra.t && extra.t->dims[3] < rows.first + rows.total)
    return ONNXC_K_SHAPE;
  for (int64_t h = 0; h < g.heads; ++h) {
    if (h % (g.heads / g.kvHeads) == 0)
      ONNXC_TRY(fillCache(g, r, b, h / (g.heads / g.kvHeads), rows));
    ONNXC_TRY(placeQueries(g, r, b, h, rows));
    Head head{g.queries, rows.total, n, n, given(a->attr[Scale]) && a->attr[Scale].f != 0 ? a->attr[Scale].f : 1 / sqrt(double(n))};
    head.softcap = given(a->attr[Softcap]) ? a->attr[Softcap].f : 0;
    head.hasSink = a->attr[SmoothSoftmax].i == 1 || hasIn(a, HeadSink);
    head.sink = hasIn(a, HeadSink) ? loadF64(a->in[HeadSink], h) : 0;
    auto bias = [&](int64_t s, int64_t t) {
      int64_t at = rows.before + s;
      if ((a->attr[Causal].i && t > at) || (window > 0 && t <= at - window))
        return -__builtin_inf();
      return extra(b, h, s, rows.first + t);
    };
    head.run(r.q, r.k, r.v, r.score, r.sum, bias,
             [&](int64_t s, int64_t d, double x) { storeF64(a->out[0], ((b * g.queries + s) * g.heads + h) * n + d, x); });
    if (hasOut(a, 3))
      giveScores(g, head, r, b * g.heads + h, bias);
  }
  return ONNXC_K_OK;
}

int32_t groupQuery(const Args *a) {
  Gqa g;
  ONNXC_TRY(g.read(a));
  ScoreBias extra;
  if (!g.presentFits() || !extra.read(a, AttentionBias, g.batch, g.heads, g.queries, 0))
    return ONNXC_K_SHAPE;
  int64_t n = g.size;
  Rooms r{heap<double>(a, g.queries * n),
          heap<double>(a, g.mostRows() * n),
          heap<double>(a, g.mostRows() * n),
          heap<double>(a, g.mostRows()),
          heap<double>(a, n),
          heap<double>(a, n)};
  if (!r.q || !r.k || !r.v || !r.score || !r.sum || !r.tmp)
    return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < g.batch; ++b)
    ONNXC_TRY(attendEntry(g, r, extra, b));
  return ONNXC_K_OK;
}

int32_t groupQuerySizes(const Args *a) {
  Gqa g;
  ONNXC_TRY(g.read(a));
  int64_t y[] = {g.batch, g.queries, g.heads * g.size}, scores[] = {g.batch, g.heads, g.queries, loadI64(a->in[Total], 0)};
  memcpy(a->out[0].dims, y, sizeof(y));
  for (int64_t i = 0; i < 2; ++i) {
    int64_t present[] = {g.batch, g.kvHeads, g.buffer, g.cache(i).width()};
    if (hasOut(a, i + 1))
      memcpy(a->out[i + 1].dims, present, sizeof(present));
  }
  if (hasOut(a, 3))
    memcpy(a->out[3].dims, scores, sizeof(scores));
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MsRotaryEmbedding(const onnxc_args *a) { return onnxc::rotary(a); }
extern "C" int32_t onnxc_s_MsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuerySizes(a); }
extern "C" int32_t onnxc_k_MsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuery(a); }
