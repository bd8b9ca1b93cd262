// MsAttention.h: the attention of one head in double, and the mask forms of com.microsoft. Used by MsAttention.cpp and MsGroupQuery.cpp.
#pragma once
#include "runtime_stub/kernels/Special.h"

namespace onnxc {

constexpr double lowest = -3.4028234663852886e38;

// One head: q [queries, size], k [keys, size], v [keys, valueSize]. `sink` joins the softmax without a value when `hasSink`.
struct Head {
  int64_t queries, keys, size, valueSize;
  double scale, softcap = 0, sink = 0;
  bool hasSink = false;

  // The scores of query s, bias(s, t) added; gives the greatest.
  template <class Bias>
  double scores(const double *q, const double *k, double *score, Bias bias, int64_t s) const {
    double top = hasSink ? sink : -__builtin_inf();
    for (int64_t t = 0; t < keys; ++t) {
      double x = scale * dot(q + s * size, k + t * size, size);
      if (softcap > 0)
        x = softcap * tanh(x / softcap);
      score[t] = x + bias(s, t);
      if (score[t] > top)
        top = score[t];
    }
    return top;
  }
  // exp(score - top) in place of scores; gives what they are divided by in the softmax.
  double exponents(double *score, double top) const {
    double total = 0;
    for (int64_t t = 0; t < keys; ++t)
      total += score[t] = top == -__builtin_inf() ? 0 : exp(score[t] - top);
    return hasSink ? total + exp(sink - top) : total;
  }
  // give(s, d, value) takes results; score has room for `keys`.
  template <class Bias, class Give>
  void run(const double *q, const double *k, const double *v, double *score, double *sum, Bias bias, Give give) const {
    for (int64_t s = 0; s < queries; ++s) {
      double total = exponents(score, scores(q, k, score, bias, s));
      for (int64_t d = 0; d < valueSize; ++d)
        sum[d] = 0;
      for (int64_t t = 0; t < keys; ++t)
        if (score[t] != 0)
          for (int64_t d = 0; d < valueSize; ++d)
            sum[d] += score[t] * v[t * valueSize + d];
      for (int64_t d = 0; d < valueSize; ++d)
        give(s, d, total != 0 ? sum[d] / total : 0);
    }
  }
};

// mask_index of Attention, key_padding_mask of MultiHeadAttention: lengths, raw masks of rank 2 to 4, or none.
struct KeyMask {
  const Tensor *t = nullptr;
  int64_t batch, queries, keys, past;
  double filter;
  enum Kind { None, Lengths, StartEnd, Keys, Rows, Megatron } kind = None;

  bool read(const Args *a, int64_t operand) {
    if (!hasIn(a, operand))
      return true;
    t = &a->in[operand];
    if (t->rank == 1 && t->dims[0] == batch)
      kind = Lengths;
    else if (t->rank == 1 && t->dims[0] == 2 * batch)
      kind = StartEnd;
    else if (t->rank == 1 && t->dims[0] == 3 * batch + 2)
      kind = Lengths;
    else if (t->rank == 2 && t->dims[0] == batch && t->dims[1] == keys)
      kind = Keys;
    else if (t->rank == 3 && t->dims[0] == batch && t->dims[1] == queries && t->dims[2] == keys)
      kind = Rows;
    else if (t->rank == 4 && t->dims[0] == batch && t->dims[2] >= keys && t->dims[3] == t->dims[2])
      kind = Megatron;
    else
      return false;
    return true;
  }
  double operator()(int64_t b, int64_t s, int64_t k) const {
    bool keep = true;
    switch (kind) {
    case None:
      break;
    case Lengths:
      keep = k < loadI64(*t, b);
      break;
    case StartEnd:
      keep = k < loadI64(*t, b) && k >= loadI64(*t, batch + b);
      break;
    case Keys:
      keep = loadI64(*t, b * keys + k) != 0;
      break;
    case Rows:
      keep = loadI64(*t, (b * queries + s) * keys + k) != 0;
      break;
    case Megatron:
      keep = loadI64(*t, (b * t->dims[2] + past + s) * t->dims[3] + k) != 0;
      break;
    }
    return keep ? 0 : filter;
  }
};

// attention_bias [batch or 1, heads or 1, queries, keys].
struct ScoreBias {
  const Tensor *t = nullptr;
  bool read(const Args *a, int64_t operand, int64_t batch, int64_t heads, int64_t queries, int64_t keys) {
    if (!hasIn(a, operand))
      return true;
    t = &a->in[operand];
    return t->rank == 4 && (t->dims[0] == 1 || t->dims[0] == batch) && (t->dims[1] == 1 || t->dims[1] == heads) && t->dims[2] == queries &&
           t->dims[3] >= keys;
  }
  double operator()(int64_t b, int64_t h, int64_t s, int64_t k) const {
    if (!t)
      return 0;
    int64_t row = ((t->dims[0] == 1 ? 0 : b) * t->dims[1] + (t->dims[1] == 1 ? 0 : h)) * t->dims[2] + s;
    return loadF64(*t, row * t->dims[3] + k);
  }
};

}  // namespace onnxc
