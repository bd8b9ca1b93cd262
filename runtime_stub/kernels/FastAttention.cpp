// FastAttention.cpp: onnx.packed.Attention, made by passes/graph/AttentionOps.cpp and FuseAttention.cpp. The work is in FastAttention.h.
// Oracle: MatMul.cpp and Softmax of the model's own ops.
//
// logical axes   [batch …, query or key, width]; an operand's `axes` attribute says which of its axes each is, and `at` where the others
//                stand; a batch axis of K and V may divide that of Q (queries that share keys lie side by side)
#include "runtime_stub/kernels/FastAttention.h"

namespace onnxc {
namespace {

// Attributes after axes and at of Q, K and V and the axes of the result.
enum { kQ = 0, kK = 2, kV = 4, kAxesY = 6, kScale = 7, kFill = 8, kKeep = 9, kZero, kSoftcap, kAtEnd, kBefore, kAfter, kMasked };
int32_t viewOf(const onnxc_tensor &t, const onnxc_attr &axes, const onnxc_attr *at, View &v) {
  int64_t strides[kMaxAxes];
  ONNXC_CHECK(t.rank <= kMaxAxes && axes.n <= kMaxAxes && axes.n >= 2, ONNXC_K_SHAPE);
  contiguous(t.dims, t.rank, strides);
  v.data = mutableData<float>(t);
  const int64_t *list = static_cast<const int64_t *>(axes.p), *place = at ? static_cast<const int64_t *>(at->p) : nullptr;
  for (int64_t i = 0; i < axes.n; ++i) {
    v.sizes[i] = t.dims[list[i]];
    v.strides[i] = strides[list[i]];
  }
  for (int64_t i = 0; at && i < at->n; ++i) {
    ONNXC_CHECK(place[i] < t.dims[i] || !onnxc_count(t), ONNXC_K_SHAPE);
    v.data += place[i] * strides[i];
  }
  return 0;
}

// The strides of a mask over the scores; `end` shrinks to the keys that it has.
int32_t maskOf(const onnxc_args *a, int64_t operand, const int64_t *scores, int64_t rank, int64_t *strides, int64_t &end) {
  if (!hasIn(a, operand))
    return 0;
  int64_t own[kMaxAxes];
  const onnxc_tensor &t = a->in[operand];
  for (int64_t i = 0; i < rank; ++i)
    own[i] = scores[i];
  if (int64_t masked = a->attr[kMasked].i) {
    ONNXC_CHECK(t.rank >= 1 && t.dims[t.rank - 1] <= scores[rank - 1], ONNXC_K_SHAPE);
    ONNXC_CHECK(masked == 1 || t.dims[t.rank - 1] == scores[rank - 1], ONNXC_K_SHAPE);
    own[rank - 1] = t.dims[t.rank - 1];
    end = minOf(end, own[rank - 1]);
  }
  ONNXC_CHECK(broadcastStrides(t, own, rank, strides), ONNXC_K_SHAPE);
  return 0;
}

int32_t describe(const onnxc_args *a, Attention &s) {
  ONNXC_TRY(viewOf(a->in[0], a->attr[kQ], &a->attr[kQ + 1], s.q));
  ONNXC_TRY(viewOf(a->in[1], a->attr[kK], &a->attr[kK + 1], s.k));
  ONNXC_TRY(viewOf(a->in[2], a->attr[kV], &a->attr[kV + 1], s.v));
  ONNXC_TRY(viewOf(a->out[0], a->attr[kAxesY], nullptr, s.y));
  int64_t rank = a->attr[kQ].n;
  ONNXC_CHECK(a->attr[kK].n == rank && a->attr[kV].n == rank && a->attr[kAxesY].n == rank, ONNXC_K_SHAPE);
  s.batchAxes = rank - 2;
  s.batches = product(s.q.sizes, 0, rank - 2);
  s.queries = s.q.sizes[rank - 2], s.keys = s.k.sizes[rank - 2], s.width = s.q.sizes[rank - 1], s.valueWidth = s.v.sizes[rank - 1];
  ONNXC_CHECK(s.k.sizes[rank - 1] == s.width && s.v.sizes[rank - 2] == s.keys, ONNXC_K_SHAPE);
  ONNXC_CHECK(s.y.sizes[rank - 2] == s.queries && s.y.sizes[rank - 1] == s.valueWidth && s.y.strides[rank - 1] == 1, ONNXC_K_SHAPE);
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t n = s.q.sizes[i];
    ONNXC_CHECK(s.y.sizes[i] == n && s.k.sizes[i] == s.v.sizes[i] && (!n || (s.k.sizes[i] && n % s.k.sizes[i] == 0)), ONNXC_K_SHAPE);
  }
  int64_t scores[kMaxAxes];
  for (int64_t i = 0; i < rank; ++i)
    scores[i] = i == rank - 1 ? s.keys : s.q.sizes[i];
  s.end = s.keys, s.sinks = nullptr, s.bring = nullptr;
  ONNXC_TRY(maskOf(a, 3, scores, rank, s.keepStrides, s.end));
  for (int64_t m = 0; m < 2; ++m) {
    ONNXC_TRY(maskOf(a, 4 + m, scores, rank, s.addedStrides[m], s.end));
    s.added[m] = hasIn(a, 4 + m) ? data<float>(a->in[4 + m]) : nullptr;
  }
  s.keep = hasIn(a, 3) ? data<unsigned char>(a->in[3]) : nullptr;
  s.scale = float(a->attr[kScale].f), s.fill = float(a->attr[kFill].f);
  s.softcap = float(a->attr[kSoftcap].f);
  s.keepIf = a->attr[kKeep].i, s.zero = a->attr[kZero].i;
  s.offset = a->attr[kAtEnd].i ? s.keys - s.queries : 0;
  int64_t all = s.keys + s.queries;  // an attribute may be so great that places added to it overflow
  s.before = minOf(a->attr[kBefore].i, all), s.after = minOf(a->attr[kAfter].i, all);
  return 0;
}

int32_t packedAttention(const onnxc_args *a) {
  Attention s;
  ONNXC_TRY(describe(a, s));
  return attention(a, s);
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastAttention(const onnxc_args *a) { return onnxc::packedAttention(a); }
