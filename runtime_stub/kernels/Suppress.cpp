// Suppress.cpp: NonMaxSuppression. The size function chooses the boxes and leaves them for the kernel.
#include "runtime_stub/kernels/Sort.h"

namespace onnxc {

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

// What one class of one image keeps.
struct Chosen {
  int64_t *box, count;
};

// Of `n` scores those greater than `*least` (null: all), the greatest first; returns how many. `items` has room for 2 n.
static int64_t candidates(const float *scores, int64_t n, const float *least, Keyed *&items) {
  constexpr int64_t kBlock = 32;  // tested without a branch: most scores are too small
  int64_t count = 0;
  for (int64_t k = 0; k < n; k += kBlock) {
    int32_t any = !least;
    int64_t end = minOf(k + kBlock, n);
    for (int64_t i = k; least && i < end; ++i)
      any |= scores[i] > *least;
    for (int64_t i = k; any && i < end; ++i) {
      items[count] = {~orderBits(scores[i]), i};
      count += !least || scores[i] > *least;
    }
  }
  items = sortKeyed(items, items + n, count);
  return count;
}

// Chosen boxes of one class, at most `limit`; `items` has room for 2 × boxes, `memory` for 5 × boxes.
static int32_t suppress(const onnxc_args *a, const float *boxes, const float *scores, int64_t n, int64_t limit, Keyed *items, float *memory,
                        Chosen &chosen) {
  float iou = hasInput(a, 3) ? *data<float>(a->in[3]) : 0;
  bool center = a->attr[0].i != 0;
  int64_t count = candidates(scores, n, hasInput(a, 4) ? data<float>(a->in[4]) : nullptr, items);
  Kept list(memory, n);
  chosen = {allocate<int64_t>(a, minOf(count, maxOf<int64_t>(limit, 0))), 0};
  ONNXC_CHECK(chosen.box, ONNXC_K_MEMORY);
  for (int64_t i = 0; i < count && list.count < limit; ++i) {
    Box box = boxAt(boxes + items[i].index * 4, center);
    if (list.overlaps(box, iou))
      continue;
    chosen.box[list.count] = items[i].index;
    list.add(box);
  }
  chosen.count = list.count;
  return 0;
}

// The boxes of all classes of all images; null, and a code, where that fails.
static Chosen *suppressAll(const onnxc_args *a, int32_t &code) {
  const onnxc_tensor &boxes = a->in[0], &scores = a->in[1];
  code = ONNXC_K_SHAPE;
  if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] || boxes.dims[1] != scores.dims[2])
    return nullptr;
  code = ONNXC_K_MEMORY;
  int64_t n = boxes.dims[1], classes = scores.dims[1], limit = hasInput(a, 2) ? loadI64(a->in[2], 0) : 0;
  Keyed *items = allocate<Keyed>(a, 2 * n);
  float *bounds = allocate<float>(a, 5 * n);
  Chosen *all = allocate<Chosen>(a, boxes.dims[0] * classes);
  if (!items || !bounds || !all)
    return nullptr;
  for (int64_t row = 0; row < boxes.dims[0] * classes; ++row) {
    code = suppress(a, data<float>(boxes) + row / classes * n * 4, data<float>(scores) + row * n, n, limit, items, bounds, all[row]);
    if (code)
      return nullptr;
  }
  code = 0;
  return all;
}

static uint64_t chosenKey(const onnxc_args *a) { return keyOf(a, 200 + uint64_t(a->attr[0].i != 0)); }

static int32_t suppressedSize(const onnxc_args *a) {
  int32_t code = 0;
  Chosen *all = suppressAll(a, code);
  if (!all)
    return code;
  int64_t found = 0;
  for (int64_t row = 0; row < a->in[1].dims[0] * a->in[1].dims[1]; ++row)
    found += all[row].count;
  a->out[0].dims[0] = found;
  a->out[0].dims[1] = 3;
  onnxc_rt_keep(a->rt, chosenKey(a), all);
  return 0;
}

static int32_t suppressed(const onnxc_args *a) {  // attributes: center_point_box
  int32_t code = 0;
  const auto *all = static_cast<const Chosen *>(onnxc_rt_take(a->rt, chosenKey(a)));
  if (!all)
    all = suppressAll(a, code);
  if (!all)
    return code;
  int64_t classes = a->in[1].dims[1], room = a->out[0].dims[0], *to = mutableData<int64_t>(a->out[0]);
  for (int64_t row = 0; row < a->in[1].dims[0] * classes; ++row) {
    room -= all[row].count;
    ONNXC_CHECK(room >= 0, ONNXC_K_SHAPE);
    for (int64_t i = 0; i < all[row].count; ++i, to += 3) {
      int64_t triple[3] = {row / classes, row % classes, all[row].box[i]};
      memcpy(to, triple, sizeof(triple));
    }
  }
  return 0;
}

}  // namespace onnxc

extern "C" int32_t onnxc_s_NonMaxSuppression(const onnxc_args *a) { return onnxc::suppressedSize(a); }
extern "C" int32_t onnxc_k_NonMaxSuppression(const onnxc_args *a) { return onnxc::suppressed(a); }
