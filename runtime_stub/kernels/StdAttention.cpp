// StdAttention.cpp: the standard's Attention, LinearAttention and RotaryEmbedding, in double. com.microsoft's forms: MsAttention.cpp.
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

constexpr double infinity = __builtin_inf();

// Where heads, tokens and elements of an operand lie: [batch, heads, tokens, size] or [batch, tokens, heads * size].
struct Layout4 {
  int64_t batch, heads, tokens, size;
  bool headMajor;
  bool read(const Tensor &t, int64_t givenHeads) {
    headMajor = t.rank == 4;
    if (!headMajor && (t.rank != 3 || givenHeads < 1 || t.dims[2] % givenHeads)) return false;
    batch = t.dims[0], heads = headMajor ? t.dims[1] : givenHeads, tokens = t.dims[headMajor ? 2 : 1];
    size = headMajor ? t.dims[3] : t.dims[2] / givenHeads;
    return true;
  }
  int64_t at(int64_t b, int64_t h, int64_t s) const { return (headMajor ? (b * heads + h) * tokens + s : (b * tokens + s) * heads + h) * size; }
};

enum { Q, K, V, Mask, PastKey, PastValue, ValidLengths };
enum { Causal, KvHeads, QHeads, Scale, Softcap, Mode, Left, Right };

struct Attend {
  const Args *a;
  Layout4 q, k, v, y;
  int64_t past = 0, keys, maskDims[4], maskStrides[4];
  double scale, softcap;

  int32_t read(const Args *args) {
    a = args;
    if (!q.read(a->in[Q], a->attr[QHeads].i) || !k.read(a->in[K], a->attr[KvHeads].i) || !v.read(a->in[V], a->attr[KvHeads].i)) return ONNXC_K_SHAPE;
    y = q;
    y.size = v.size;
    if (k.heads < 1 || q.heads % k.heads || v.heads != k.heads || k.size != q.size || k.tokens != v.tokens || k.batch != q.batch || v.batch != q.batch)
      return ONNXC_K_SHAPE;
    if (hasIn(a, PastKey) != hasIn(a, PastValue) || (hasIn(a, PastKey) && hasIn(a, ValidLengths))) return ONNXC_K_VALUE;
    if (!rankIs(a, PastKey, 4)) return ONNXC_K_SHAPE;
    if (hasIn(a, PastKey)) past = a->in[PastKey].dims[2];
    keys = past + k.tokens;
    int64_t plane = q.batch * k.heads * past;
    if (hasIn(a, PastKey) && (onnxc_count(a->in[PastKey]) != plane * k.size || onnxc_count(a->in[PastValue]) != plane * v.size)) return ONNXC_K_SHAPE;
    if (hasIn(a, ValidLengths) && onnxc_count(a->in[ValidLengths]) != q.batch) return ONNXC_K_SHAPE;
    scale = given(a->attr[Scale]) ? a->attr[Scale].f : 1 / sqrt(double(q.size));
    softcap = a->attr[Softcap].f;
    return hasIn(a, Mask) ? readMask(a->in[Mask]) : int32_t(ONNXC_K_OK);
  }
  // Right aligned; the last dim may be short: keys beyond it are masked.
  int32_t readMask(const Tensor &t) {
    const int64_t full[] = {q.batch, q.heads, q.tokens, keys};
    int64_t step = 1;
    if (t.rank < 1 || t.rank > 4) return ONNXC_K_SHAPE;
    for (int d = 3; d >= 0; --d) {
      int own = d - (4 - t.rank);
      maskDims[d] = own < 0 ? 1 : t.dims[own];
      if (d == 3 ? maskDims[d] > keys : maskDims[d] != 1 && maskDims[d] != full[d]) return ONNXC_K_SHAPE;
      maskStrides[d] = d < 3 && maskDims[d] == 1 ? 0 : step;
      step *= maskDims[d];
    }
    return ONNXC_K_OK;
  }
  double bias(int64_t b, int64_t h, int64_t s, int64_t t) const {
    bool lengths = hasIn(a, ValidLengths);
    int64_t valid = lengths ? loadI64(a->in[ValidLengths], b) : keys, position = s + (lengths ? valid - q.tokens : past);
    int64_t left = a->attr[Left].i, right = a->attr[Right].i;
    if (t >= valid || (a->attr[Causal].i && t > position) || (left >= 0 && t < position - left) || (right >= 0 && t > position + right)) return -infinity;
    if (!hasIn(a, Mask)) return 0;
    if (t >= maskDims[3]) return -infinity;
    double m = loadF64(a->in[Mask], b * maskStrides[0] + h * maskStrides[1] + s * maskStrides[2] + t * maskStrides[3]);
    return a->in[Mask].dtype == ONNXC_BOOL ? (m != 0 ? 0 : -infinity) : m;
  }

  // All keys or values of one head into `to`, and into the present state.
  void gather(const Tensor &x, const Layout4 &l, int64_t pastOperand, int64_t present, int64_t b, int64_t h, double *to) const {
    int64_t plane = b * l.heads + h;
    for (int64_t i = 0; i < past * l.size; ++i) to[i] = loadF64(a->in[pastOperand], plane * past * l.size + i);
    for (int64_t t = 0; t < l.tokens; ++t)
      for (int64_t d = 0; d < l.size; ++d) to[(past + t) * l.size + d] = loadF64(x, l.at(b, h, t) + d);
    for (int64_t i = 0; hasOut(a, present) && i < keys * l.size; ++i) storeF64(a->out[present], plane * keys * l.size + i, to[i]);
  }

  // Softmax of one row of scores; a row without keys becomes zero.
  void softmax(double *score, bool masked) const {
    double top = -infinity, sum = 0;
    for (int64_t t = 0; t < keys; ++t) top = score[t] > top ? score[t] : top;
    for (int64_t t = 0; t < keys; ++t) sum += score[t] = masked ? 0 : exp(score[t] - top);
    for (int64_t t = 0; t < keys && !masked; ++t) score[t] /= sum;
  }

  void row(int64_t b, int64_t h, int64_t s, const double *qs, const double *ks, const double *vs, double *score, double *sum) const {
    int64_t mode = hasOut(a, 3) ? a->attr[Mode].i : -1, base = ((b * q.heads + h) * q.tokens + s) * keys;
    bool masked = true;
    for (int64_t t = 0; t < keys; ++t) {
      double x = scale * dot(qs, ks + t * q.size, q.size), capped = softcap > 0 ? softcap * tanh(x / softcap) : x, m = bias(b, h, s, t);
      masked &= m == -infinity;
      score[t] = m == -infinity ? m : capped + m;
      if (mode >= 0 && mode < 3) storeF64(a->out[3], base + t, mode == 2 ? score[t] : capped);
    }
    softmax(score, masked);
    for (int64_t t = 0; mode == 3 && t < keys; ++t) storeF64(a->out[3], base + t, score[t]);
    for (int64_t d = 0; d < v.size; ++d) sum[d] = 0;
    for (int64_t t = 0; t < keys; ++t)
      for (int64_t d = 0; score[t] != 0 && d < v.size; ++d) sum[d] += score[t] * vs[t * v.size + d];
    for (int64_t d = 0; d < v.size; ++d) storeF64(a->out[0], y.at(b, h, s) + d, sum[d]);
  }
};

int32_t attention(const Args *a) {
  Attend p;
  if (int32_t code = p.read(a)) return code;
  int64_t plane = p.q.batch * p.k.heads * p.keys;
  if (onnxc_count(a->out[0]) != p.q.batch * p.q.heads * p.q.tokens * p.v.size) return ONNXC_K_SHAPE;
  if ((hasOut(a, 1) && onnxc_count(a->out[1]) != plane * p.k.size) || (hasOut(a, 2) && onnxc_count(a->out[2]) != plane * p.v.size)) return ONNXC_K_SHAPE;
  if (hasOut(a, 3) && onnxc_count(a->out[3]) != p.q.batch * p.q.heads * p.q.tokens * p.keys) return ONNXC_K_SHAPE;
  double *qs = heap<double>(a, p.q.size), *ks = heap<double>(a, p.keys * p.k.size), *vs = heap<double>(a, p.keys * p.v.size);
  double *score = heap<double>(a, p.keys), *sum = heap<double>(a, p.v.size);
  if (!qs || !ks || !vs || !score || !sum) return ONNXC_K_MEMORY;
  int64_t group = p.q.heads / p.k.heads;
  for (int64_t b = 0; b < p.q.batch; ++b)
    for (int64_t h = 0; h < p.q.heads; ++h) {
      if (h % group == 0) {
        p.gather(a->in[K], p.k, PastKey, 1, b, h / group, ks);
        p.gather(a->in[V], p.v, PastValue, 2, b, h / group, vs);
      }
      for (int64_t s = 0; s < p.q.tokens; ++s) {
        for (int64_t d = 0; d < p.q.size; ++d) qs[d] = loadF64(a->in[Q], p.q.at(b, h, s) + d);
        p.row(b, h, s, qs, ks, vs, score, sum);
      }
    }
  return ONNXC_K_OK;
}

// ---- LinearAttention: the recurrence of the specification, token by token
struct Linear {
  enum { Query, Key, Value, PastState, Decay, Beta };
  const Args *a;
  int64_t batch, tokens, qHeads, kvHeads, dk, dv, decays, betas;
  bool gated, delta;
  double scale;

  int32_t read(const Args *args) {
    enum { KvHeads, QHeads, Scale, Rule };
    a = args;
    qHeads = a->attr[QHeads].i, kvHeads = a->attr[KvHeads].i;
    Str rule = text(a->attr[Rule]);
    gated = is(rule, "gated") || is(rule, "gated_delta"), delta = is(rule, "delta") || is(rule, "gated_delta");
    if ((!gated && !delta && !is(rule, "linear")) || qHeads < 1 || kvHeads < 1 || qHeads % kvHeads) return ONNXC_K_VALUE;
    if (gated != hasIn(a, Decay) || delta != hasIn(a, Beta)) return ONNXC_K_VALUE;
    const Tensor &q = a->in[Query], &k = a->in[Key], &v = a->in[Value];
    if (q.rank != 3 || k.rank != 3 || v.rank != 3 || !rankIs(a, Decay, 3) || !rankIs(a, Beta, 3)) return ONNXC_K_SHAPE;
    batch = q.dims[0], tokens = q.dims[1], dk = q.dims[2] / qHeads, dv = v.dims[2] / kvHeads;
    int64_t rows = batch * tokens;
    if (onnxc_count(q) != rows * qHeads * dk || onnxc_count(k) != rows * kvHeads * dk || onnxc_count(v) != rows * kvHeads * dv) return ONNXC_K_SHAPE;
    decays = gated ? a->in[Decay].dims[2] : 0, betas = delta ? a->in[Beta].dims[2] : 0;
    if (gated && (onnxc_count(a->in[Decay]) != rows * decays || (decays != kvHeads && decays != kvHeads * dk))) return ONNXC_K_SHAPE;
    if (delta && (onnxc_count(a->in[Beta]) != rows * betas || (betas != kvHeads && betas != 1))) return ONNXC_K_SHAPE;
    if (hasIn(a, PastState) && onnxc_count(a->in[PastState]) != batch * kvHeads * dk * dv) return ONNXC_K_SHAPE;
    scale = a->attr[Scale].f != 0 ? a->attr[Scale].f : 1 / sqrt(double(dk));
    return ONNXC_K_OK;
  }

  void step(int64_t row, int64_t h, double *state, double *fresh) const {
    for (int64_t i = 0; gated && i < dk * dv; ++i)
      state[i] *= exp(loadF64(a->in[Decay], row * decays + (decays == kvHeads ? h : h * dk + i / dv)));
    for (int64_t m = 0; m < dv; ++m) {
      fresh[m] = loadF64(a->in[Value], (row * kvHeads + h) * dv + m);
      for (int64_t d = 0; delta && d < dk; ++d) fresh[m] -= state[d * dv + m] * loadF64(a->in[Key], (row * kvHeads + h) * dk + d);
      if (delta) fresh[m] *= loadF64(a->in[Beta], row * betas + (betas == 1 ? 0 : h));
    }
    for (int64_t d = 0; d < dk; ++d) {
      double key = loadF64(a->in[Key], (row * kvHeads + h) * dk + d);
      for (int64_t m = 0; m < dv; ++m) state[d * dv + m] += key * fresh[m];
    }
    int64_t group = qHeads / kvHeads;
    for (int64_t g = h * group; g < (h + 1) * group; ++g)
      for (int64_t m = 0; m < dv; ++m) {
        double sum = 0;
        for (int64_t d = 0; d < dk; ++d) sum += loadF64(a->in[Query], (row * qHeads + g) * dk + d) * state[d * dv + m];
        storeF64(a->out[0], (row * qHeads + g) * dv + m, scale * sum);
      }
  }
};

int32_t linearAttention(const Args *a) {
  Linear l;
  if (int32_t code = l.read(a)) return code;
  double *state = heap<double>(a, l.dk * l.dv), *fresh = heap<double>(a, l.dv);
  if (!state || !fresh) return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < l.batch; ++b)
    for (int64_t h = 0; h < l.kvHeads; ++h) {
      int64_t n = l.dk * l.dv, at = (b * l.kvHeads + h) * n;
      for (int64_t i = 0; i < n; ++i) state[i] = hasIn(a, Linear::PastState) ? loadF64(a->in[Linear::PastState], at + i) : 0;
      for (int64_t t = 0; t < l.tokens; ++t) l.step(b * l.tokens + t, h, state, fresh);
      for (int64_t i = 0; hasOut(a, 1) && i < n; ++i) storeF64(a->out[1], at + i, state[i]);
    }
  return ONNXC_K_OK;
}

// ---- RotaryEmbedding: caches [positions, half] chosen by position ids, or [batch, tokens, half]
int32_t rotary(const Args *a) {
  enum { X, Cos, Sin, Ids };
  enum { Interleaved, Heads, Dim };
  Layout4 l;
  const Tensor &x = a->in[X], &cosine = a->in[Cos], &sine = a->in[Sin];
  if (!l.read(x, a->attr[Heads].i)) return ONNXC_K_SHAPE;
  int64_t dim = a->attr[Dim].i ? a->attr[Dim].i : l.size, half = dim / 2, rows = l.batch * l.tokens;
  bool ids = hasIn(a, Ids);
  if (dim < 0 || dim > l.size || dim % 2 || cosine.rank < 1 || cosine.dims[cosine.rank - 1] != half || onnxc_count(cosine) != onnxc_count(sine)) return ONNXC_K_SHAPE;
  if (ids ? onnxc_count(a->in[Ids]) != rows : onnxc_count(cosine) != rows * half) return ONNXC_K_SHAPE;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t position = ids ? loadI64(a->in[Ids], r) : r, limit = ids ? cosine.dims[0] : rows;
    if (position < 0) position += limit;
    if (position < 0 || position >= limit) return ONNXC_K_INDEX;
    for (int64_t h = 0; h < l.heads; ++h) {
      int64_t at = l.at(r / l.tokens, h, r % l.tokens);
      for (int64_t i = 0; i < half; ++i) {
        int64_t p = at + (a->attr[Interleaved].i ? 2 * i : i), q = a->attr[Interleaved].i ? p + 1 : p + half;
        double c = loadF64(cosine, position * half + i), s = loadF64(sine, position * half + i), u = loadF64(x, p), v = loadF64(x, q);
        storeF64(a->out[0], p, c * u - s * v);
        storeF64(a->out[0], q, s * u + c * v);
      }
      for (int64_t i = dim; i < l.size; ++i) storeF64(a->out[0], at + i, loadF64(x, at + i));
    }
  }
  return ONNXC_K_OK;
}

} // namespace
} // namespace onnxc

extern "C" int32_t onnxc_k_Attention(const onnxc_args *a) { return onnxc::attention(a); }
extern "C" int32_t onnxc_k_LinearAttention(const onnxc_args *a) { return onnxc::linearAttention(a); }
extern "C" int32_t onnxc_k_RotaryEmbedding(const onnxc_args *a) { return onnxc::rotary(a); }
