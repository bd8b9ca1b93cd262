// AttentionEntries.h: what FastAttention.h computes: the operands, which keys a query sees, where the rows of an entry lie, and how its
// keys and values come there.
#pragma once
#include "runtime_stub/kernels/Index.h"
#include "runtime_stub/kernels/Parallel.h"

namespace onnxc {
namespace {

constexpr int64_t kKeys = 512, kRow = kKeys + 16;  // keys of a block; a row of scores, off the cache's period
constexpr int64_t kFew = 2;                        // queries for which packing keys and values does not pay
constexpr int kFewColumns = 4;                     // of values, computed together with keys in lanes
constexpr int64_t kMaxAxes = 8;
// One operand under its logical axes.
struct View {
  float *data;
  int64_t sizes[kMaxAxes], strides[kMaxAxes];
};

struct Attention {
  View q, k, v, y;
  int64_t batchAxes, batches, queries, keys, width, valueWidth;
  const unsigned char *keep;  // null: no such mask
  const float *added[2];      // to the scores, each null or with strides
  int64_t keepStrides[kMaxAxes], addedStrides[2][kMaxAxes];
  float scale, fill, softcap;
  bool keepIf;
  int64_t zero;
  int64_t offset, before, after;  // query i stands at key i + offset and sees so many before and after it, all where negative
  int64_t end;                    // of the keys that a mask may show
  const float *sinks;             // null: none; scores without a value that join the softmax, one each batch entry
  // Puts keys (part 0) or values (1) [first, last) of an entry, what queries of shared keys read, where `k` and `v` show them; they are
  // read out of the cache right behind. Null: they are there.
  void (*bring)(const void *from, int64_t entry, int64_t part, int64_t first, int64_t last);
  const void *from;
};

// The keys [low, high) that a query sees.
struct Range {
  int64_t low, high;
};
ONNXC_INLINE Range visible(const Attention &s, int64_t query) {
  int64_t at = query + s.offset, low = s.before >= 0 ? minOf(maxOf<int64_t>(0, at - s.before), s.end) : 0;
  int64_t high = s.after >= 0 ? minOf(s.end, at + s.after + 1) : s.end;
  return {low, maxOf(low, high)};
}

// What a row of scores becomes: 0 without keys, or NaN as the model asks.
ONNXC_INLINE float weightOf(const Attention &s, float total, bool any) {
  bool dead = !any || (s.zero == 1 ? !(total > 0) : s.zero && total == 0);
  return dead ? 0.0f : 1.0f / total;
}

// Where one batch entry begins in each tensor, in elements.
struct Place {
  int64_t batch, q, k, v, y, keep, added[2];
};
Place placeOf(const Attention &s, int64_t batch) {
  Place p = {batch, 0, 0, 0, 0, 0, {0, 0}};
  for (int64_t i = s.batchAxes; i-- > 0;) {
    int64_t n = s.q.sizes[i], at = batch % n, shared = n / s.k.sizes[i];
    batch /= n;
    p.q += at * s.q.strides[i], p.y += at * s.y.strides[i];
    p.k += at / shared * s.k.strides[i], p.v += at / shared * s.v.strides[i];
    p.keep += s.keep ? at * s.keepStrides[i] : 0;
    for (int64_t m = 0; m < 2; ++m)
      p.added[m] += s.added[m] ? at * s.addedStrides[m][i] : 0;
  }
  return p;
}

// The places of the rows of an entry, head by head. A row's results do not depend on what rows a task computes with it.
struct SharedRows {
  const Attention &s;
  int64_t heads;  // that share keys

  explicit SharedRows(const Attention &s) : s(s), heads(1) {
    if (int64_t last = s.batchAxes - 1; last >= 0 && s.k.sizes[last])
      heads = s.q.sizes[last] / s.k.sizes[last];
  }
  int64_t count() const { return heads * s.queries; }
  int64_t entries() const { return s.batches / heads; }
};

constexpr int64_t kShared = 48, kBlock = 128;  // most rows of an entry, and keys whose scores for them stay in a level-1 cache

// What a task that is alone with an entry brings as it goes; of the keys that no query sees, all at once.
struct Arrivals {
  const Attention &s;
  int64_t entry;
  bool open;

  void keysAndValues(int64_t part, int64_t first, int64_t last) const {
    if (open && first < last)
      s.bring(s.from, entry, part, first, last);
  }
  void unseen(int64_t low, int64_t high) const {
    for (int64_t part = 0; part < 2; ++part)
      keysAndValues(part, 0, low), keysAndValues(part, high, s.keys);
  }
};

// All of it, where several tasks read an entry.
int32_t bringAll(const onnxc_args *a, Attention &s) {
  if (!s.bring)
    return 0;
  Attention copy = s;
  s.bring = nullptr;
  return parallelFor(a, 2 * SharedRows(s).entries(), grainOf(s.keys * s.width / 8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t u = begin; u < end; ++u)
      copy.bring(copy.from, u / 2, u % 2, 0, copy.keys);
    return 0;
  });
}

}  // namespace
}  // namespace onnxc
