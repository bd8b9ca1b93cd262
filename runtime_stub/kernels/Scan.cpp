// Scan.cpp: running sums and products along an axis (CumSum, CumProd), and NonMaxSuppression.
#include "runtime_stub/kernels/Sort.h"

namespace onnxc {

template <class T, bool Sum>
static int32_t cumulate(const onnxc_args *a) {  // attributes: exclusive, reverse
  const onnxc_tensor &in = a->in[0];
  int64_t axis = loadI64(a->in[1], 0);
  ONNXC_CHECK(onnxc_count(a->in[1]) == 1, ONNXC_K_SHAPE);
  ONNXC_CHECK(fixAxis(axis, in.rank), ONNXC_K_INDEX);
  bool exclusive = a->attr[0].i != 0, reverse = a->attr[1].i != 0;
  Axis3 s = splitAt(in, axis);
  constexpr int64_t kColumns = 64;  // whose totals stay in registers or near
  const T *from = data<T>(in);
  T *to = mutableData<T>(a->out[0]);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t first = 0; first < s.inner; first += kColumns) {
      int64_t n = minOf(kColumns, s.inner - first);
      Acc<T> totals[kColumns];
      for (Acc<T> &total : totals)
        total = Acc<T>(Sum ? 0 : 1);
      for (int64_t k = 0; k < s.dim; ++k) {
        int64_t at = (o * s.dim + (reverse ? s.dim - 1 - k : k)) * s.inner + first;
        for (int64_t i = 0; i < n; ++i) {
          Acc<T> before = totals[i], x = toAcc(from[at + i]);
          if constexpr (IsFloat<T>::value)
            totals[i] = Sum ? before + x : before * x;
          else
            totals[i] = Acc<T>(Sum ? uint64_t(before) + uint64_t(x) : uint64_t(before) * uint64_t(x));
          to[at + i] = fromAcc<T>(exclusive ? before : totals[i]);
        }
      }
    }
  return 0;
}

struct Box {
  float low[2], high[2];
};

static Box boxAt(const float *p, bool center) {
  Box b;
  for (int i = 0; i < 2; ++i) {  // corners come as y1 x1 y2 x2 in any order, centers as x y width height
    float u = center ? p[i] - p[i + 2] / 2 : p[i], v = center ? p[i] + p[i + 2] / 2 : p[i + 2];
    b.low[i] = minOf(u, v);
    b.high[i] = maxOf(u, v);
  }
  return b;
}

// Boxes kept so far: four bounds and the area, each a list.
struct Kept {
  float *low[2], *high[2], *area;
  int64_t count = 0;

  Kept(float *memory, int64_t n) {
    for (int i = 0; i < 2; ++i)
      low[i] = memory + 2 * i * n, high[i] = memory + (2 * i + 1) * n;
    area = memory + 4 * n;
  }
  static float areaOf(const Box &b) { return (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]); }
  void add(const Box &b) {
    for (int i = 0; i < 2; ++i)
      low[i][count] = b.low[i], high[i][count] = b.high[i];
    area[count++] = areaOf(b);
  }
  // Whether one of them overlaps `b` by more than the threshold; blocks of them are tested without a branch.
  bool overlaps(const Box &b, float threshold) const {
    float own = areaOf(b);
    for (int64_t k = 0; k < count; k += 64) {
      int32_t found = 0;
      for (int64_t i = k; i < minOf(k + 64, count); ++i) {
        float common = maxOf(0.f, minOf(high[0][i], b.high[0]) - maxOf(low[0][i], b.low[0])) *
                       maxOf(0.f, minOf(high[1][i], b.high[1]) - maxOf(low[1][i], b.low[1]));
        float all = own + area[i] - common;
        found |= (common > 0) & (own > 0) & (area[i] > 0) & (all > 0) & (common / all > threshold);
      }
      if (found)
        return true;
    }
    return false;
  }
};

// Chosen boxes of one class into `kept`, at most `limit`; `order` has room for 2 × boxes, `memory` for 5 × boxes.
static int64_t suppress(const onnxc_args *a, const float *boxes, const float *scores, int64_t n, int64_t limit, int64_t *order,
                        int64_t *kept, float *memory) {
  float iou = hasInput(a, 3) ? *data<float>(a->in[3]) : 0, least = hasInput(a, 4) ? *data<float>(a->in[4]) : 0;
  bool center = a->attr[0].i != 0;
  int64_t candidates = 0;
  for (int64_t i = 0; i < n; ++i) {
    order[candidates] = i;
    candidates += !hasInput(a, 4) || scores[i] > least;
  }
  stableSort(order, order + n, candidates, [&](int64_t x, int64_t y) { return scores[x] > scores[y]; });
  Kept list(memory, n);
  for (int64_t i = 0; i < candidates && list.count < limit; ++i) {
    Box box = boxAt(boxes + order[i] * 4, center);
    if (list.overlaps(box, iou))
      continue;
    kept[list.count] = order[i];
    list.add(box);
  }
  return list.count;
}

// Counts the selected boxes; writes the triples when `out` is not null.
static int32_t nonMaxSuppression(const onnxc_args *a, int64_t *out, int64_t room, int64_t &found) {
  const onnxc_tensor &boxes = a->in[0], &scores = a->in[1];
  ONNXC_CHECK(boxes.rank == 3 && scores.rank == 3 && boxes.dims[2] == 4, ONNXC_K_SHAPE);
  ONNXC_CHECK(boxes.dims[0] == scores.dims[0] && boxes.dims[1] == scores.dims[2], ONNXC_K_SHAPE);
  int64_t n = boxes.dims[1], classes = scores.dims[1], limit = hasInput(a, 2) ? loadI64(a->in[2], 0) : 0;
  int64_t *memory = allocate<int64_t>(a, 3 * n);
  float *bounds = allocate<float>(a, 5 * n);
  ONNXC_CHECK(memory && bounds, ONNXC_K_MEMORY);
  found = 0;
  for (int64_t b = 0; b < boxes.dims[0]; ++b)
    for (int64_t c = 0; c < classes; ++c) {
      int64_t *kept = memory + 2 * n;
      int64_t count =
          suppress(a, data<float>(boxes) + b * n * 4, data<float>(scores) + (b * classes + c) * n, n, limit, memory, kept, bounds);
      for (int64_t i = 0; out && i < count; ++i) {
        ONNXC_CHECK(found + i < room, ONNXC_K_SHAPE);
        int64_t triple[3] = {b, c, kept[i]};
        memcpy(out + (found + i) * 3, triple, sizeof(triple));
      }
      found += count;
    }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_s_NonMaxSuppression(const onnxc_args *a) {
  a->out[0].dims[1] = 3;
  return onnxc::nonMaxSuppression(a, nullptr, 0, a->out[0].dims[0]);
}
extern "C" int32_t onnxc_k_NonMaxSuppression(const onnxc_args *a) {  // attributes: center_point_box
  int64_t found = 0;
  return onnxc::nonMaxSuppression(a, onnxc::mutableData<int64_t>(a->out[0]), a->out[0].dims[0], found);
}
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_CumSum_##S(const onnxc_args *a) { return onnxc::cumulate<T, true>(a); }                                       \
  extern "C" int32_t onnxc_k_CumProd_##S(const onnxc_args *a) { return onnxc::cumulate<T, false>(a); }
ONNXC_FLOATS(X)
X(i32, int32_t)
X(i64, int64_t)
X(u32, uint32_t)
X(u64, uint64_t)
#undef X
