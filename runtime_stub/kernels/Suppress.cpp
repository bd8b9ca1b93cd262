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

static float areaOf(const Box &b) { return (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]); }

// Boxes kept so far, by where they lie along one axis: that which overlaps a box shares a cell with it. Many boxes lie far apart: those of
// one class, where exporters move each class to a place of its own.
struct Kept {
  static constexpr int64_t kCells = 64, kFew = 256;  // fewer boxes that may be kept have one cell
  static constexpr int64_t kSpread = 4;              // cells of a box; larger ones are of all cells
  static constexpr int64_t kChunk = 64;
  struct Chunk {
    float low[2][kChunk], high[2][kChunk], area[kChunk];  // what is not filled overlaps nothing
    int64_t count;
    Chunk *next;
  };
  struct List {
    Chunk *first, *last;
  };
  Chunk *free;
  List cells[kCells + 1] = {};  // the last: of all cells
  int64_t axis = 0, last = 0;
  float base = 0, scale = 0;

  static int64_t bytes(int64_t n) {
    int64_t chunks = n < kFew ? n / kChunk + 2 : kSpread * n / kChunk + kCells + 2;
    return chunks * int64_t(sizeof(Chunk));
  }
  explicit Kept(void *memory) : free(static_cast<Chunk *>(memory)) {}

  // Divides the axis along which boxes are the smaller part of the whole into cells.
  void divide(const float *boxes, const Keyed *items, int64_t count, bool center) {
    float low[2] = {__builtin_inff(), __builtin_inff()}, high[2] = {-__builtin_inff(), -__builtin_inff()}, sum[2] = {0, 0};
    for (int64_t i = 0; i < count; ++i) {
      Box b = boxAt(boxes + items[i].index * 4, center);
      for (int k = 0; k < 2; ++k)
        low[k] = minOf(low[k], b.low[k]), high[k] = maxOf(high[k], b.high[k]), sum[k] += b.high[k] - b.low[k];
    }
    axis = (high[1] - low[1]) * sum[0] > (high[0] - low[0]) * sum[1];
    last = kCells - 1, base = low[axis], scale = float(kCells) / (high[axis] - low[axis]);
  }
  // Grows with `v`; 0 for what is no number.
  int64_t cellOf(float v) const {
    float at = (v - base) * scale;
    return at > 0 ? int64_t(minOf(at, float(last))) : 0;
  }
  // Behind the boxes of higher scores, which others are likelier to overlap.
  void addTo(List &list, const Box &b) {
    if (!list.first || list.last->count == kChunk) {
      Chunk *added = free++;
      for (int k = 0; k < 2; ++k)
        for (int64_t i = 0; i < kChunk; ++i)
          added->low[k][i] = __builtin_inff(), added->high[k][i] = -__builtin_inff(), added->area[i] = 0;
      added->count = 0, added->next = nullptr;
      (list.first ? list.last->next : list.first) = added, list.last = added;
    }
    Chunk *chunk = list.last;
    int64_t i = chunk->count++;
    for (int k = 0; k < 2; ++k)
      chunk->low[k][i] = b.low[k], chunk->high[k][i] = b.high[k];
    chunk->area[i] = areaOf(b);
  }
  void add(const Box &b) {
    int64_t from = cellOf(b.low[axis]), to = cellOf(b.high[axis]);
    if (to - from >= kSpread)
      return addTo(cells[kCells], b);
    for (int64_t c = from; c <= to; ++c)
      addTo(cells[c], b);
  }
  // Whether a box of the chunk overlaps `b` by more than the threshold. The quotient is only made where there is one that it may be more
  // of, by a product that is rounded twice.
  static bool overlaps(const Chunk &c, const Box &b, float threshold) {
    float own = areaOf(b), nearly = threshold > 0 ? threshold * 0.999999f : 0;
    auto common = [&](int64_t i) {
      return maxOf(0.f, minOf(c.high[0][i], b.high[0]) - maxOf(c.low[0][i], b.low[0])) *
             maxOf(0.f, minOf(c.high[1][i], b.high[1]) - maxOf(c.low[1][i], b.low[1]));
    };
    int32_t likely = 0, found = 0;
    for (int64_t i = 0; i < kChunk; ++i) {
      float both = common(i);
      likely |= (both > 0) & (both >= nearly * (own + c.area[i] - both));
    }
    if (!likely)
      return false;
    for (int64_t i = 0; i < kChunk; ++i) {
      float both = common(i), all = own + c.area[i] - both;
      found |= (both > 0) & (own > 0) & (c.area[i] > 0) & (all > 0) & (both / all > threshold);
    }
    return found;
  }
  bool overlaps(const Box &b, float threshold) const {
    auto any = [&](const Chunk *c) {
      while (c && !overlaps(*c, b, threshold))
        c = c->next;
      return c != nullptr;
    };
    for (int64_t c = cellOf(b.low[axis]), to = cellOf(b.high[axis]); c <= to; ++c)
      if (any(cells[c].first))
        return true;
    return any(cells[kCells].first);
  }
};

// What one class of one image keeps.
struct Chosen {
  int64_t *box, count;
};

// Of `n` scores those greater than `*least` (null: all), by keys that are less for greater ones; returns how many.
static int64_t candidates(const float *scores, int64_t n, const float *least, Keyed *items) {
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
  return count;
}

// Chosen boxes of one class, at most `limit`; `items` has room for 2 × boxes, `memory` for Kept::bytes.
static int32_t suppress(const onnxc_args *a, const float *boxes, const float *scores, int64_t n, int64_t limit, Keyed *items, void *memory,
                        Chosen &chosen) {
  float iou = hasIn(a, 3) ? *data<float>(a->in[3]) : 0;
  bool center = a->attr[0].i != 0;
  int64_t count = candidates(scores, n, hasIn(a, 4) ? data<float>(a->in[4]) : nullptr, items);
  Keyed *other = items + n;
  Kept kept(memory);
  if (minOf(count, limit) >= Kept::kFew)
    kept.divide(boxes, items, count, center);
  chosen = {heap<int64_t>(a, minOf(count, maxOf<int64_t>(limit, 0))), 0};
  ONNXC_CHECK(chosen.box, ONNXC_K_MEMORY);
  // Where few are wanted of many, those of the greatest scores are sorted first, and the others only where they do not suffice.
  int64_t head = limit < count ? selectKeyed(items, other, count, 4 * maxOf<int64_t>(limit, 0)) : 0;
  if (head)
    items = other, other -= n;
  for (int64_t begin = 0, end = head ? head : count; begin < count && chosen.count < limit; begin = end, end = count) {
    const Keyed *sorted = sortKeyed(items + begin, other + begin, end - begin);
    for (int64_t i = 0; i < end - begin && chosen.count < limit; ++i) {
      Box box = boxAt(boxes + sorted[i].index * 4, center);
      if (kept.overlaps(box, iou))
        continue;
      chosen.box[chosen.count++] = sorted[i].index;
      kept.add(box);
    }
  }
  return 0;
}

// The boxes of all classes of all images; null, and a code, where that fails.
static Chosen *suppressAll(const onnxc_args *a, int32_t &code) {
  const onnxc_tensor &boxes = a->in[0], &scores = a->in[1];
  code = ONNXC_K_SHAPE;
  if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] || boxes.dims[1] != scores.dims[2])
    return nullptr;
  code = ONNXC_K_MEMORY;
  int64_t n = boxes.dims[1], classes = scores.dims[1], limit = hasIn(a, 2) ? loadI64(a->in[2], 0) : 0;
  Keyed *items = heap<Keyed>(a, 2 * n);
  char *kept = heap<char>(a, Kept::bytes(n));
  Chosen *all = heap<Chosen>(a, boxes.dims[0] * classes);
  if (!items || !kept || !all)
    return nullptr;
  for (int64_t row = 0; row < boxes.dims[0] * classes; ++row) {
    code = suppress(a, data<float>(boxes) + row / classes * n * 4, data<float>(scores) + row * n, n, limit, items, kept, all[row]);
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
