// FastGroupQuery.cpp: com.microsoft's GroupQueryAttention of f32. Each head of keys and values places its new rows and rotates the queries
// of its group; then FastAttention.h attends one batch entry at a time, whose lengths differ, and brings the cache as it meets it. Oracle:
// MsGroupQuery.cpp, which also takes quantised caches and calls without a new cache or for the scores.
#include "runtime_stub/kernels/FastAttention.h"
#include "runtime_stub/kernels/GroupQuery.h"

extern "C" int32_t onnxc_s_MsGroupQueryAttention(const onnxc_args *a), onnxc_k_MsGroupQueryAttention(const onnxc_args *a);

namespace onnxc {
namespace {

float dotF32(const float *x, const float *y, int64_t n) {
  v16 sum = v16(0.0f);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    sum = multiplyAdd(*(const v16 *)(x + i), *(const v16 *)(y + i), sum);
  float total = 0;
  for (int l = 0; l < 16; ++l)
    total += sum[l];
  for (; i < n; ++i)
    total += x[i] * y[i];
  return total;
}

// The launch: what does not change from task to task.
struct Launch {
  const Args *a;
  Gqa g;
  const float *cos, *sin, *queryNorm, *keyNorm;
  float scale, softcap, epsilon;
  ScoreBias extra;
  bool interleaved, causal;
  int64_t window, most;
  float *keys, *values;  // [batch, kv heads, most, size]: the new cache, or what the new cache is the end of

  // to = from, normalised and rotated.
  int32_t place(const float *from, float *to, const float *norm, int64_t position, bool rotates) const {
    int64_t n = g.size, half = g.rotary.dim / 2;
    memcpy(to, from, size_t(n) * sizeof(float));
    if (norm) {
      float r = 1 / __builtin_sqrtf(dotF32(to, to, n) / float(n) + epsilon);
      for (int64_t d = 0; d < n; ++d)
        to[d] *= r * norm[d];
    }
    if (!rotates)
      return ONNXC_K_OK;
    if (position < 0 || position >= g.rotary.cos->dims[0])
      return ONNXC_K_INDEX;
    const float *c = cos + position * half, *s = sin + position * half;
    int64_t step = interleaved ? 2 : 1, other = interleaved ? 1 : half;
    for (int64_t i = 0; i < half; ++i) {
      float x = to[i * step], y = to[i * step + other];
      to[i * step] = x * c[i] - y * s[i];
      to[i * step + other] = x * s[i] + y * c[i];
    }
    return ONNXC_K_OK;
  }
  int64_t position(int64_t b, int64_t s, int64_t otherwise) const {
    return hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], b * g.queries + s) : otherwise;
  }
};

// New keys and values of one kv head; of a cache that slides all of them, the last rows into the new cache.
int32_t moveCache(const Launch &l, int64_t b, int64_t kv, const Rows &at) {
  const Gqa &g = l.g;
  int64_t n = g.size, head = b * g.kvHeads + kv, plane = head * g.past * n;
  float *k = l.keys + head * l.most * n, *v = l.values + head * l.most * n;
  if (g.sliding && at.before) {
    memcpy(k, in<float>(l.a, PastKey) + plane, size_t(at.before * n) * sizeof(float));
    memcpy(v, in<float>(l.a, PastValue) + plane, size_t(at.before * n) * sizeof(float));
  }
  for (int64_t t = g.held(at); t < at.total; ++t) {
    int64_t position = l.position(b, t - at.before, at.first + t);
    ONNXC_TRY(l.place(g.row(1, b, t - at.before, kv), k + t * n, l.keyNorm, position, l.a->attr[DoRotary].i != 0));
    memcpy(v + t * n, g.row(2, b, t - at.before, kv), size_t(n) * sizeof(float));
  }
  for (int64_t part = 0; part < 2; ++part) {
    float *to = out<float>(l.a, 1 + part) + head * g.buffer * n;
    if (g.sliding)
      memcpy(to, (part ? v : k) + (at.total - at.kept) * n, size_t(at.kept * n) * sizeof(float));
    memset(to + at.kept * n, 0, size_t((g.buffer - at.kept) * n) * sizeof(float));
  }
  return ONNXC_K_OK;
}

int32_t rowsOf(const Launch &l, int64_t b, Rows &at) {
  ONNXC_TRY(l.g.rowsOf(b, at));
  return !l.extra.t || l.extra.t->dims[3] >= at.first + at.total ? ONNXC_K_OK : ONNXC_K_SHAPE;
}

// The cache of one head of keys, and the queries that share it, [batch, heads, queries, size].
int32_t prepareHead(const Launch &l, int64_t b, int64_t kv, float *placed) {
  const Args *a = l.a;
  const Gqa &g = l.g;
  Rows at;
  ONNXC_TRY(rowsOf(l, b, at));
  int64_t n = g.size;
  ONNXC_TRY(moveCache(l, b, kv, at));
  for (int64_t h = kv * (g.heads / g.kvHeads); h < (kv + 1) * (g.heads / g.kvHeads); ++h)
    for (int64_t s = 0; s < g.queries; ++s) {
      int64_t position = l.position(b, s, at.first + at.before + s);
      bool rotates = a->attr[DoRotary].i && (s < at.fresh || position < g.rotary.cos->dims[0]);
      ONNXC_TRY(l.place(g.row(0, b, s, h), placed + ((b * g.heads + h) * g.queries + s) * n, l.queryNorm, position, rotates));
    }
  return ONNXC_K_OK;
}

// One batch entry, from whose cache rows come.
struct Entry {
  const Launch &l;
  int64_t b;
  Rows at;
};
void bringRows(const void *from, int64_t kv, int64_t part, int64_t first, int64_t last) {
  const Entry &e = *static_cast<const Entry *>(from);
  const Gqa &g = e.l.g;
  int64_t n = g.size, head = e.b * g.kvHeads + kv, count = minOf(last, g.held(e.at)) - first;
  if (count > 0)
    memcpy((part ? e.l.values : e.l.keys) + (head * e.l.most + first) * n, in<float>(e.l.a, PastKey + part) + (head * g.past + first) * n,
           size_t(count * n) * sizeof(float));
}

View viewOf(const float *from, int64_t heads, int64_t length, int64_t width, int64_t headStride, int64_t rowStride) {
  return {const_cast<float *>(from), {heads, length, width}, {headStride, rowStride, 1}};
}

int32_t attendEntry(const Launch &l, int64_t b, const float *placed, const float *sinks) {
  const Gqa &g = l.g;
  Entry from = {l, b, {}};
  Rows &at = from.at;
  ONNXC_TRY(rowsOf(l, b, at));
  int64_t n = g.size, cache = b * g.kvHeads * l.most * n, entry = b * g.queries * g.heads * n;
  Attention s{};
  s.q = viewOf(placed + entry, g.heads, g.queries, n, g.queries * n, n);
  s.k = viewOf(l.keys + cache, g.kvHeads, at.total, n, l.most * n, n);
  s.v = viewOf(l.values + cache, g.kvHeads, at.total, n, l.most * n, n);
  s.y = viewOf(out<float>(l.a, 0) + entry, g.heads, g.queries, n, n, g.heads * n);
  s.batchAxes = 1, s.batches = g.heads, s.queries = g.queries, s.keys = s.end = at.total, s.width = s.valueWidth = n;
  if (const Tensor *t = l.extra.t) {
    int64_t plane = t->dims[2] * t->dims[3];
    s.added[0] = data<float>(*t) + (t->dims[0] == 1 ? 0 : b) * t->dims[1] * plane + at.first;
    s.addedStrides[0][0] = t->dims[1] == 1 ? 0 : plane, s.addedStrides[0][1] = t->dims[3], s.addedStrides[0][2] = 1;
  }
  s.scale = l.scale, s.softcap = l.softcap, s.zero = 2, s.sinks = sinks;
  s.bring = g.sliding || !g.held(at) ? nullptr : bringRows, s.from = &from;
  s.offset = at.before, s.before = l.window > 0 ? l.window - 1 : -1, s.after = l.causal ? 0 : -1;
  return attention(l.a, s);
}

bool isPlain(const Args *a) {
  const int64_t floats[] = {Query, Key, Value, PastKey, PastValue, CosCache, SinCache, AttentionBias, QNorm, KNorm};
  for (int64_t i : floats)
    if (hasIn(a, i) && a->in[i].dtype != ONNXC_F32)
      return false;
  return hasOut(a, 1) && hasOut(a, 2) && !hasOut(a, 3) && !hasIn(a, KScale) && !hasIn(a, VScale) && a->out[1].dtype == ONNXC_F32;
}

int32_t groupQuery(const Args *a) {
  if (!isPlain(a))
    return onnxc_k_MsGroupQueryAttention(a);
  Launch l{};
  l.a = a;
  ONNXC_TRY(l.g.read(a));
  const Gqa &g = l.g;
  ONNXC_CHECK(g.presentFits(), ONNXC_K_SHAPE);
  if (!l.extra.read(a, AttentionBias, g.batch, g.heads, g.queries, 0))
    return ONNXC_K_SHAPE;
  l.cos = hasIn(a, CosCache) ? in<float>(a, CosCache) : nullptr, l.sin = hasIn(a, SinCache) ? in<float>(a, SinCache) : nullptr;
  l.queryNorm = hasIn(a, QNorm) ? in<float>(a, QNorm) : nullptr, l.keyNorm = hasIn(a, KNorm) ? in<float>(a, KNorm) : nullptr;
  l.scale = given(a->attr[Scale]) && a->attr[Scale].f != 0 ? float(a->attr[Scale].f) : float(1 / sqrt(double(g.size)));
  l.softcap = given(a->attr[Softcap]) ? float(a->attr[Softcap].f) : 0;
  l.epsilon = float(a->attr[NormEpsilon].f), l.interleaved = a->attr[RotaryInterleaved].i != 0;
  l.causal = a->attr[Causal].i != 0, l.window = a->attr[Window].i;
  bool sunk = a->attr[SmoothSoftmax].i == 1 || hasIn(a, HeadSink);
  l.most = g.mostRows();
  int64_t queries = g.heads * g.batch * g.queries * g.size, cache = g.sliding ? g.batch * g.kvHeads * l.most * g.size : 0;
  float *placed = heap<float>(a, queries + g.heads + 2 * cache), *sinks = placed + queries;
  ONNXC_CHECK(placed, ONNXC_K_MEMORY);
  l.keys = g.sliding ? sinks + g.heads : out<float>(a, 1), l.values = g.sliding ? l.keys + cache : out<float>(a, 2);
  for (int64_t h = 0; h < g.heads; ++h)
    sinks[h] = hasIn(a, HeadSink) ? float(loadF64(a->in[HeadSink], h)) : 0;
  int64_t work = g.size * ((g.sliding ? g.buffer : g.queries) + g.queries * g.heads / g.kvHeads) / 8;
  ONNXC_TRY(parallelFor(a, g.batch * g.kvHeads, grainOf(work), [&l, placed](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u)
      ONNXC_TRY(prepareHead(l, u / l.g.kvHeads, u % l.g.kvHeads, placed));
    return ONNXC_K_OK;
  }));
  for (int64_t b = 0; b < g.batch; ++b)
    ONNXC_TRY(attendEntry(l, b, placed, sunk ? sinks : nullptr));
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_s_FastMsGroupQueryAttention(const onnxc_args *a) { return onnxc_s_MsGroupQueryAttention(a); }
extern "C" int32_t onnxc_k_FastMsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuery(a); }
