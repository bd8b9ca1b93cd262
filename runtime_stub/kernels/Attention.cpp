// Attention.cpp: Attention, LinearAttention and RotaryEmbedding. Intermediate results are rounded where the standard's function bodies
// round them.
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// Attribute positions of the Attention row.
enum { kCausal, kKvHeads, kQHeads, kOutputMode, kScale, kSoftcap, kPrecision, kLeft, kRight };

// A [batch, heads, length, width] view of a 4-d operand, or of a 3-d one with the heads inside the last dim.
struct Heads {
  const onnxc_tensor *t;
  int64_t heads, length, width;
  bool packed;
};

static int32_t headsOf(const onnxc_tensor &t, const onnxc_attr &count, Heads &h) {
  if (t.rank == 4) {
    h = {&t, t.dims[1], t.dims[2], t.dims[3], false};
    return 0;
  }
  ONNXC_CHECK(t.rank == 3 && given(count) && count.i > 0 && t.dims[2] % count.i == 0, ONNXC_K_SHAPE);
  h = {&t, count.i, t.dims[1], t.dims[2] / count.i, true};
  return 0;
}

ONNXC_INLINE int64_t headRow(const Heads &h, int64_t batch, int64_t head, int64_t row) {
  return (h.packed ? (batch * h.length + row) * h.heads + head : (batch * h.heads + head) * h.length + row) * h.width;
}

struct AttentionShape {
  Heads q, k, v, y;
  int64_t batch, past, total;
};

static int32_t attentionShape(const onnxc_args *a, AttentionShape &s) {
  ONNXC_TRY(headsOf(a->in[0], a->attr[kQHeads], s.q));
  ONNXC_TRY(headsOf(a->in[1], a->attr[kKvHeads], s.k));
  ONNXC_TRY(headsOf(a->in[2], a->attr[kKvHeads], s.v));
  s.y = {&a->out[0], s.q.heads, s.q.length, s.v.width, s.q.packed};
  s.batch = a->in[0].dims[0];
  s.past = hasIn(a, 4) ? a->in[4].dims[2] : 0;
  s.total = s.past + s.k.length;
  ONNXC_CHECK(a->in[1].dims[0] == s.batch && a->in[2].dims[0] == s.batch && s.q.width == s.k.width, ONNXC_K_SHAPE);
  ONNXC_CHECK(s.k.heads == s.v.heads && s.k.length == s.v.length, ONNXC_K_SHAPE);
  ONNXC_CHECK(s.k.heads ? s.q.heads % s.k.heads == 0 : s.q.heads == 0, ONNXC_K_SHAPE);
  ONNXC_CHECK(hasIn(a, 4) == hasIn(a, 5), ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 4) || (onnxc_count(a->in[4]) == s.batch * s.k.heads * s.past * s.k.width &&
                               onnxc_count(a->in[5]) == s.batch * s.k.heads * s.past * s.v.width),
              ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 6) || onnxc_count(a->in[6]) == s.batch, ONNXC_K_SHAPE);
  return onnxc_count(a->out[0]) == s.batch * s.q.heads * s.q.length * s.v.width ? 0 : ONNXC_K_SHAPE;
}

// One head's keys or values, past ones first, as doubles; also appends them to `present`.
static void gatherHead(const AttentionShape &s, const Heads &h, const onnxc_tensor *past, onnxc_tensor *present, int64_t b, int64_t head,
                       double *to) {
  for (int64_t row = 0; row < s.total; ++row)
    for (int64_t i = 0; i < h.width; ++i) {
      double v = row < s.past ? loadF64(*past, ((b * h.heads + head) * s.past + row) * h.width + i)
                              : loadF64(*h.t, headRow(h, b, head, row - s.past) + i);
      to[row * h.width + i] = v;
      if (present)
        storeF64(*present, ((b * h.heads + head) * s.total + row) * h.width + i, v);
    }
}

// The mask's strides over [batch, head, query, key]; its last dim may be shorter than the keys.
static int32_t maskStrides(const onnxc_args *a, const AttentionShape &s, int64_t *strides) {
  if (!hasIn(a, 3))
    return 0;
  const onnxc_tensor &m = a->in[3];
  ONNXC_CHECK(m.rank >= 1 && m.rank <= 4 && m.dims[m.rank - 1] <= s.total, ONNXC_K_SHAPE);
  int64_t dims[4] = {s.batch, s.q.heads, s.q.length, m.dims[m.rank - 1]};
  ONNXC_CHECK(broadcastStrides(m, dims, 4, strides), ONNXC_K_SHAPE);
  strides[3] = 1;
  return 0;
}

// What is added to the score of query i and key j.
static double biasAt(const onnxc_args *a, const AttentionShape &s, const int64_t *mask, int64_t b, int64_t h, int64_t i, int64_t j) {
  const double masked = -__builtin_inf();
  int64_t valid = hasIn(a, 6) ? loadI64(a->in[6], b) : s.total;
  int64_t offset = hasIn(a, 4) ? s.past : hasIn(a, 6) ? valid - s.q.length : 0, p = i + offset;
  if (j >= valid || (a->attr[kCausal].i && j > p))
    return masked;
  if (a->attr[kLeft].i >= 0 && p - j > a->attr[kLeft].i)
    return masked;
  if (a->attr[kRight].i >= 0 && j - p > a->attr[kRight].i)
    return masked;
  if (!hasIn(a, 3))
    return 0;
  const onnxc_tensor &m = a->in[3];
  if (j >= m.dims[m.rank - 1])
    return masked;
  double v = loadF64(m, b * mask[0] + h * mask[1] + i * mask[2] + j);
  return m.dtype == ONNXC_BOOL ? (v != 0 ? 0 : masked) : v;
}

// scores becomes the softmax of its row, zero where every key is masked.
static void softmaxRow(double *scores, int64_t n, int32_t precision, int32_t dtype, bool masked) {
  double most = -__builtin_inf(), sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    scores[j] = roundTo(precision, scores[j]);
    most = maxOf(most, scores[j]);
  }
  if (most == -__builtin_inf())
    most = 0;
  for (int64_t j = 0; j < n; ++j) {
    scores[j] = roundTo(precision, exp(roundTo(precision, scores[j] - most)));
    sum += scores[j];
  }
  sum = roundTo(precision, sum);
  for (int64_t j = 0; j < n; ++j)
    scores[j] = masked ? 0 : roundTo(dtype, roundTo(precision, scores[j] / (sum == 0 ? 1 : sum)));
}

// One query row: scores, softmax, weighted values.
template <class T>
static void attendRow(const onnxc_args *a, const AttentionShape &s, const int64_t *mask, int64_t b, int64_t h, int64_t i, double scale,
                      const double *keys, const double *values, double *scores) {
  int32_t dtype = a->in[0].dtype, precision = given(a->attr[kPrecision]) ? int32_t(a->attr[kPrecision].i) : dtype;
  int64_t at = ((b * s.q.heads + h) * s.q.length + i) * s.total, mode = hasOut(a, 3) ? a->attr[kOutputMode].i : -1;
  const T *q = data<T>(a->in[0]) + headRow(s.q, b, h, i);
  double cap = a->attr[kSoftcap].f;
  bool allMasked = true;
  auto show = [&](int64_t when, int64_t j) {
    if (mode == when)
      mutableData<T>(a->out[3])[at + j] = fromF64<T>(scores[j]);
  };
  for (int64_t j = 0; j < s.total; ++j) {
    double sum = 0, bias = biasAt(a, s, mask, b, h, i, j);
    for (int64_t d = 0; d < s.q.width; ++d)
      sum += roundTo(dtype, toF64(q[d]) * scale) * keys[j * s.q.width + d];
    scores[j] = roundTo(dtype, sum);
    show(0, j);
    if (cap > 0)
      scores[j] = roundTo(dtype, cap * tanh(scores[j] / cap));
    show(1, j);
    scores[j] = roundTo(dtype, scores[j] + bias);
    show(2, j);
    allMasked &= bias == -__builtin_inf();
  }
  softmaxRow(scores, s.total, precision, dtype, allMasked);
  for (int64_t j = 0; j < s.total; ++j)
    show(3, j);
  T *y = mutableData<T>(a->out[0]) + headRow(s.y, b, h, i);
  for (int64_t d = 0; d < s.v.width; ++d) {
    double sum = 0;
    for (int64_t j = 0; j < s.total; ++j)
      if (scores[j] != 0)
        sum += scores[j] * values[j * s.v.width + d];
    y[d] = fromF64<T>(sum);
  }
}

template <class T>
static int32_t attention(const onnxc_args *a) {
  AttentionShape s;
  int64_t mask[4] = {};
  ONNXC_TRY(attentionShape(a, s));
  ONNXC_TRY(maskStrides(a, s, mask));
  int32_t dtype = a->in[0].dtype;
  double scale = roundTo(dtype, sqrt(given(a->attr[kScale]) ? a->attr[kScale].f : 1 / sqrt(double(s.q.width))));
  double *keys = heap<double>(a, s.total * (s.k.width + s.v.width + 1)), *values = keys + s.total * s.k.width;
  ONNXC_CHECK(keys, ONNXC_K_MEMORY);
  double *scores = values + s.total * s.v.width;
  int64_t perKey = s.k.heads ? s.q.heads / s.k.heads : 0;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t shared = 0; shared < s.k.heads; ++shared) {
      gatherHead(s, s.k, hasIn(a, 4) ? &a->in[4] : nullptr, hasOut(a, 1) ? &a->out[1] : nullptr, b, shared, keys);
      gatherHead(s, s.v, hasIn(a, 5) ? &a->in[5] : nullptr, hasOut(a, 2) ? &a->out[2] : nullptr, b, shared, values);
      for (int64_t i = 0; i < s.total * s.k.width; ++i)
        keys[i] = roundTo(dtype, keys[i] * scale);
      for (int64_t h = shared * perKey; h < (shared + 1) * perKey; ++h)
        for (int64_t i = 0; i < s.q.length; ++i)
          attendRow<T>(a, s, mask, b, h, i, scale, keys, values, scores);
    }
  return 0;
}

// Operands: query, key, value, past_state, decay, beta. Attributes: kv_num_heads, q_num_heads, scale, update_rule.
struct LinearShape {
  int64_t batch, steps, qHeads, heads, keyWidth, valueWidth;
  bool gated, delta;
};

static int32_t linearShape(const onnxc_args *a, LinearShape &s) {
  const onnxc_tensor &q = a->in[0], &k = a->in[1], &v = a->in[2];
  s.heads = a->attr[0].i;
  s.qHeads = a->attr[1].i;
  ONNXC_CHECK(q.rank == 3 && k.rank == 3 && v.rank == 3 && s.heads > 0 && s.qHeads > 0 && s.qHeads % s.heads == 0, ONNXC_K_SHAPE);
  s.batch = q.dims[0];
  s.steps = q.dims[1];
  s.keyWidth = q.dims[2] / s.qHeads;
  s.valueWidth = v.dims[2] / s.heads;
  ONNXC_CHECK(onnxc_count(k) == s.batch * s.steps * s.heads * s.keyWidth && onnxc_count(v) == s.batch * s.steps * s.heads * s.valueWidth,
              ONNXC_K_SHAPE);
  const char *rule = a->attr[3].n > 0 ? static_cast<const char *>(a->attr[3].p) : "gated_delta";
  int64_t n = a->attr[3].n > 0 ? a->attr[3].n : 11;
  s.gated = rule[0] == 'g';
  s.delta = rule[0] == 'd' || n == 11;
  ONNXC_CHECK(s.gated == hasIn(a, 4) && s.delta == hasIn(a, 5), ONNXC_K_VALUE);
  int64_t decay = s.gated ? onnxc_count(a->in[4]) : 0, beta = s.delta ? onnxc_count(a->in[5]) : 0, rows = s.batch * s.steps;
  ONNXC_CHECK(!s.gated || decay == rows * s.heads || decay == rows * s.heads * s.keyWidth, ONNXC_K_SHAPE);
  ONNXC_CHECK(!s.delta || beta == rows * s.heads || beta == rows, ONNXC_K_SHAPE);
  ONNXC_CHECK(!hasIn(a, 3) || onnxc_count(a->in[3]) == s.batch * s.heads * s.keyWidth * s.valueWidth, ONNXC_K_SHAPE);
  return 0;
}

// state ← exp(decay)·state + k ⊗ (β (v − stateᵀ k)) for one step of one head.
template <class T>
static void linearStep(const onnxc_args *a, const LinearShape &s, int64_t row, int64_t h, double *state, double *value) {
  const T *k = data<T>(a->in[1]) + (row * s.heads + h) * s.keyWidth, *v = data<T>(a->in[2]) + (row * s.heads + h) * s.valueWidth;
  bool perKey = s.gated && onnxc_count(a->in[4]) != s.batch * s.steps * s.heads;
  for (int64_t d = 0; s.gated && d < s.keyWidth; ++d) {
    double factor = exp(loadF64(a->in[4], perKey ? (row * s.heads + h) * s.keyWidth + d : row * s.heads + h));
    for (int64_t m = 0; m < s.valueWidth; ++m)
      state[d * s.valueWidth + m] *= factor;
  }
  for (int64_t m = 0; m < s.valueWidth; ++m) {
    value[m] = toF64(v[m]);
    if (!s.delta)
      continue;
    double seen = 0, beta = loadF64(a->in[5], onnxc_count(a->in[5]) == s.batch * s.steps ? row : row * s.heads + h);
    for (int64_t d = 0; d < s.keyWidth; ++d)
      seen += state[d * s.valueWidth + m] * toF64(k[d]);
    value[m] = beta * (value[m] - seen);
  }
  for (int64_t d = 0; d < s.keyWidth; ++d)
    for (int64_t m = 0; m < s.valueWidth; ++m)
      state[d * s.valueWidth + m] += toF64(k[d]) * value[m];
}

template <class T>
static int32_t linearAttention(const onnxc_args *a) {
  LinearShape s;
  ONNXC_TRY(linearShape(a, s));
  double scale = a->attr[2].f != 0 ? a->attr[2].f : 1 / sqrt(double(s.keyWidth));
  int64_t cells = s.keyWidth * s.valueWidth, group = s.qHeads / s.heads;
  double *state = heap<double>(a, cells + s.valueWidth);
  ONNXC_CHECK(state, ONNXC_K_MEMORY);
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t i = 0; i < cells; ++i)
        state[i] = hasIn(a, 3) ? loadF64(a->in[3], (b * s.heads + h) * cells + i) : 0;
      for (int64_t row = b * s.steps; row < (b + 1) * s.steps; ++row) {
        linearStep<T>(a, s, row, h, state, state + cells);
        for (int64_t q = h * group; q < (h + 1) * group; ++q)
          for (int64_t m = 0; m < s.valueWidth; ++m) {
            double sum = 0;
            for (int64_t d = 0; d < s.keyWidth; ++d)
              sum += toF64(data<T>(a->in[0])[(row * s.qHeads + q) * s.keyWidth + d]) * state[d * s.valueWidth + m];
            mutableData<T>(a->out[0])[(row * s.qHeads + q) * s.valueWidth + m] = fromF64<T>(scale * sum);
          }
      }
      for (int64_t i = 0; hasOut(a, 1) && i < cells; ++i)
        storeF64(a->out[1], (b * s.heads + h) * cells + i, state[i]);
    }
  return 0;
}

// Operands: X, cos_cache, sin_cache, position_ids. Attributes: interleaved, num_heads, rotary_embedding_dim.
template <class T>
static int32_t rotaryEmbedding(const onnxc_args *a) {
  Heads x;
  ONNXC_TRY(headsOf(a->in[0], a->attr[1], x));
  const onnxc_tensor &cosines = a->in[1], &sines = a->in[2];
  int64_t batch = a->in[0].dims[0], width = a->attr[2].i > 0 ? a->attr[2].i : x.width, half = width / 2, rows = batch * x.length;
  ONNXC_CHECK(width <= x.width && width % 2 == 0 && sameDims(cosines, sines) && cosines.rank >= 2, ONNXC_K_SHAPE);
  ONNXC_CHECK(cosines.dims[cosines.rank - 1] == half, ONNXC_K_SHAPE);
  int64_t entries = product(cosines.dims, 0, cosines.rank - 1);
  ONNXC_CHECK(hasIn(a, 3) ? onnxc_count(a->in[3]) == rows : entries == rows, ONNXC_K_SHAPE);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t row = 0; row < x.length; ++row) {
      int64_t entry = b * x.length + row;
      if (hasIn(a, 3))
        entry = loadI64(a->in[3], entry);
      ONNXC_CHECK(entry >= 0 && entry < entries, ONNXC_K_INDEX);
      for (int64_t h = 0; h < x.heads; ++h) {
        int64_t at = headRow(x, b, h, row);
        const T *from = data<T>(a->in[0]) + at;
        T *to = mutableData<T>(a->out[0]) + at;
        for (int64_t i = width; i < x.width; ++i)
          to[i] = from[i];
        for (int64_t i = 0; i < half; ++i) {
          int64_t p = a->attr[0].i ? 2 * i : i, q = a->attr[0].i ? 2 * i + 1 : i + half;
          double c = toF64(data<T>(cosines)[entry * half + i]), s = toF64(data<T>(sines)[entry * half + i]);
          double re = toF64(from[p]), im = toF64(from[q]);
          to[p] = fromF64<T>(c * re - s * im);
          to[q] = fromF64<T>(s * re + c * im);
        }
      }
    }
  return 0;
}

}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Attention_##S(const onnxc_args *a) { return onnxc::attention<T>(a); }                                         \
  extern "C" int32_t onnxc_k_LinearAttention_##S(const onnxc_args *a) { return onnxc::linearAttention<T>(a); }                             \
  extern "C" int32_t onnxc_k_RotaryEmbedding_##S(const onnxc_args *a) { return onnxc::rotaryEmbedding<T>(a); }
ONNXC_FLOATS(X)
#undef X
