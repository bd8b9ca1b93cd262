// FastGroupQuery.cpp: com.microsoft's GroupQueryAttention of f32. A task is one head of keys and values: it moves the cache, then serves
// the query heads of its group. Oracle: MsGroupQuery.cpp, which also takes quantised caches and calls without a new cache.
#include "runtime_stub/kernels/GroupQuery.h"
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Math.h"
#include "runtime_stub/kernels/Parallel.h"

extern "C" int32_t onnxc_k_MsGroupQueryAttention(const onnxc_args *a);

namespace onnxc {
namespace {

float dotF32(const float *x, const float *y, int64_t n) {
  v16 sum = v16(0.0f);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    sum = __builtin_elementwise_fma(*(const v16 *)(x + i), *(const v16 *)(y + i), sum);
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
  bool interleaved, causal, sinks;
  int64_t window;

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

// One query row against keys [low, high), its scores in `score`.
void attend(const Launch &l, const float *q, const float *k, const float *v, int64_t low, int64_t high, float sink, float *score,
            float *to) {
  int64_t n = l.g.size;
  float top = l.sinks ? sink : -__builtin_inff(), total = 0;
  for (int64_t t = low; t < high; ++t) {
    float x = l.scale * dotF32(q, k + t * n, n);
    if (l.softcap > 0)
      x = l.softcap * tanhF32(x / l.softcap);
    score[t] += x;
    top = score[t] > top ? score[t] : top;
  }
  for (int64_t d = 0; d < n; ++d)
    to[d] = 0;
  if (top == -__builtin_inff())
    return;
  for (int64_t t = low; t < high; ++t)
    score[t] = expF32(score[t] - top);
  for (int64_t t = low; t < high; ++t)
    total += score[t];
  if (l.sinks)
    total += expF32(sink - top);
  for (int64_t t = low; t < high; ++t)
    for (int64_t d = 0; d < n; ++d)
      to[d] += score[t] * v[t * n + d];
  for (int64_t d = 0; d < n; ++d)
    to[d] /= total;
}

// Keys and values of one kv head into the new cache.
int32_t moveCache(const Launch &l, int64_t b, int64_t kv, int64_t before, int64_t total, float *k, float *v) {
  const Gqa &g = l.g;
  int64_t n = g.size, plane = (b * g.kvHeads + kv) * g.past * n;
  if (before) {
    memcpy(k, in<float>(l.a, PastKey) + plane, size_t(before * n) * sizeof(float));
    memcpy(v, in<float>(l.a, PastValue) + plane, size_t(before * n) * sizeof(float));
  }
  for (int64_t t = before; t < total; ++t) {
    ONNXC_TRY(l.place(g.row(1, b, t - before, kv), k + t * n, l.keyNorm, l.position(b, t - before, t), l.a->attr[DoRotary].i != 0));
    memcpy(v + t * n, g.row(2, b, t - before, kv), size_t(n) * sizeof(float));
  }
  memset(k + total * n, 0, size_t((g.buffer - total) * n) * sizeof(float));
  memset(v + total * n, 0, size_t((g.buffer - total) * n) * sizeof(float));
  return ONNXC_K_OK;
}

int32_t serveHead(const Launch &l, int64_t b, int64_t kv, float *scratch) {
  const Args *a = l.a;
  const Gqa &g = l.g;
  int64_t n = g.size, total = loadI64(a->in[SeqLens], b) + 1, fresh = minOf(g.queries, total), before = total - fresh;
  if (total < 1 || total > g.buffer || before > g.past)
    return ONNXC_K_INDEX;
  if (l.extra.t && l.extra.t->dims[3] < total)
    return ONNXC_K_SHAPE;
  float *k = out<float>(a, 1) + (b * g.kvHeads + kv) * g.buffer * n, *v = out<float>(a, 2) + (b * g.kvHeads + kv) * g.buffer * n;
  ONNXC_TRY(moveCache(l, b, kv, before, total, k, v));
  float *score = scratch, *q = scratch + g.buffer;
  for (int64_t h = kv * (g.heads / g.kvHeads); h < (kv + 1) * (g.heads / g.kvHeads); ++h)
    for (int64_t s = 0; s < g.queries; ++s) {
      int64_t at = before + s, position = l.position(b, s, at);
      bool rotates = a->attr[DoRotary].i && (s < fresh || position < g.rotary.cos->dims[0]);
      ONNXC_TRY(l.place(g.row(0, b, s, h), q, l.queryNorm, position, rotates));
      int64_t high = l.causal ? minOf(at + 1, total) : total, low = l.window > 0 ? minOf(maxOf<int64_t>(0, at - l.window + 1), high) : 0;
      for (int64_t t = low; t < high; ++t)
        score[t] = l.extra.t ? float(l.extra(b, h, s, t)) : 0;
      float sink = hasIn(a, HeadSink) ? float(loadF64(a->in[HeadSink], h)) : 0;
      attend(l, q, k, v, low, high, sink, score, out<float>(a, 0) + ((b * g.queries + s) * g.heads + h) * n);
    }
  return ONNXC_K_OK;
}

bool isPlain(const Args *a) {
  const int64_t floats[] = {Query, Key, Value, PastKey, PastValue, CosCache, SinCache, QNorm, KNorm};
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
  for (int64_t i = 1; i <= 2; ++i)
    if (onnxc_count(a->out[i]) != g.batch * g.kvHeads * g.buffer * g.size)
      return ONNXC_K_SHAPE;
  for (int64_t i = QNorm; i <= KNorm; ++i)
    if (hasIn(a, i) && onnxc_count(a->in[i]) != g.size)
      return ONNXC_K_SHAPE;
  if (!l.extra.read(a, AttentionBias, g.batch, g.heads, g.queries, 0))
    return ONNXC_K_SHAPE;
  l.cos = hasIn(a, CosCache) ? in<float>(a, CosCache) : nullptr, l.sin = hasIn(a, SinCache) ? in<float>(a, SinCache) : nullptr;
  l.queryNorm = hasIn(a, QNorm) ? in<float>(a, QNorm) : nullptr, l.keyNorm = hasIn(a, KNorm) ? in<float>(a, KNorm) : nullptr;
  l.scale = given(a->attr[Scale]) && a->attr[Scale].f != 0 ? float(a->attr[Scale].f) : float(1 / sqrt(double(g.size)));
  l.softcap = given(a->attr[Softcap]) ? float(a->attr[Softcap].f) : 0;
  l.epsilon = float(a->attr[NormEpsilon].f), l.interleaved = a->attr[RotaryInterleaved].i != 0;
  l.causal = a->attr[Causal].i != 0, l.window = a->attr[Window].i;
  l.sinks = a->attr[SmoothSoftmax].i == 1 || hasIn(a, HeadSink);
  int64_t work = g.buffer * g.size * (2 + g.queries * g.heads / g.kvHeads) / 8;
  return parallelScratchFor(a, g.batch * g.kvHeads, grainOf(work), (g.buffer + g.size) * int64_t(sizeof(float)),
                            [&l](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              for (int64_t u = begin; u < end; ++u)
                                ONNXC_TRY(serveHead(l, u / l.g.kvHeads, u % l.g.kvHeads, static_cast<float *>(scratch)));
                              return ONNXC_K_OK;
                            });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMsGroupQueryAttention(const onnxc_args *a) { return onnxc::groupQuery(a); }
