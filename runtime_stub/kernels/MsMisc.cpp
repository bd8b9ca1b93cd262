// MsMisc.cpp: com.microsoft's Unique, Inverse, BifurcationDetector, NGramRepeatBlock, MurmurHash3, DynamicTimeWarping and CropAndResize.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

// Values in order of first appearance, found through a hash table. With `a->out[0].data` null only counts them.
struct UniqueValues {
  int64_t *slot = nullptr, *first = nullptr, mask = 0, count = 0;
  int32_t prepare(const Args *a) {
    int64_t n = onnxc_count(a->in[0]);
    for (mask = 1; mask < 2 * n + 2;)
      mask *= 2;
    slot = heap<int64_t>(a, mask--), first = heap<int64_t>(a, n);
    return slot && first ? ONNXC_K_OK : ONNXC_K_MEMORY;
  }
  int64_t number(const Args *a, int64_t i) {
    double v = loadF64(a->in[0], i);
    int64_t s = int64_t(mix(v == 0 ? 0 : bitcast<uint64_t>(v))) & mask;
    for (; slot[s]; s = (s + 1) & mask)
      if (loadF64(a->in[0], first[slot[s] - 1]) == v)
        return slot[s] - 1;
    first[count] = i;
    slot[s] = count + 1;
    return count++;
  }
};

int32_t unique(const Args *a, bool size) {
  UniqueValues values;
  ONNXC_TRY(values.prepare(a));
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; !size && i < onnxc_count(a->out[2]); ++i)
    out<int64_t>(a, 2)[i] = 0;
  for (int64_t i = 0; i < n; ++i) {
    int64_t before = values.count, k = values.number(a, i);
    if (size)
      continue;
    if (k == before)
      storeF64(a->out[0], k, loadF64(a->in[0], i));
    out<int64_t>(a, 1)[i] = k;
    ++out<int64_t>(a, 2)[k];
  }
  if (size)
    a->out[0].dims[0] = a->out[2].dims[0] = values.count, a->out[1].dims[0] = n;
  return ONNXC_K_OK;
}

constexpr int64_t kRow = 8;  // numbers of a vector; rows end at a multiple of them
typedef double Numbers __attribute__((ext_vector_type(kRow), aligned(8)));

ONNXC_INLINE void swapRows(double *x, double *y, int64_t width) {
  for (int64_t c = 0; c < width; c += kRow) {
    Numbers t = *(Numbers *)(x + c);
    *(Numbers *)(x + c) = *(Numbers *)(y + c), *(Numbers *)(y + c) = t;
  }
}

// Gauss-Jordan elimination in place with the greatest pivot of each column: column k of the inverse grows where column k is eliminated. A
// singular matrix gives infinities or NaN. `width`: of a row in memory; `swapped` has room for n.
void invert(double *m, int64_t n, int64_t width, int64_t *swapped) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    double most = fabs(m[k * width + k]);
    for (int64_t r = k + 1; r < n; ++r) {
      double v = fabs(m[r * width + k]);
      bool greater = v > most;
      most = greater ? v : most, pivot = greater ? r : pivot;
    }
    swapped[k] = pivot;
    if (pivot != k)
      swapRows(m + k * width, m + pivot * width, width);
    double *from = m + k * width, d = from[k];
    for (int64_t c = 0; c < width; c += kRow)
      *(Numbers *)(from + c) /= d;
    from[k] = 1 / d;  // as if 1 had stood there, and 0 below: behind the vectors, which else would wait for it
    for (int64_t r = 0; r < n; ++r) {
      double *row = m + r * width, f = row[k];
      if (r == k || f == 0)
        continue;
      for (int64_t c = 0; c < width; c += kRow)
        *(Numbers *)(row + c) -= f * *(Numbers *)(from + c);
      row[k] = -f * from[k];
    }
  }
  for (int64_t k = n; k-- > 0;)
    for (int64_t r = 0; swapped[k] != k && r < n; ++r) {
      double *row = m + r * width, t = row[k];
      row[k] = row[swapped[k]], row[swapped[k]] = t;
    }
}

// Units are matrices.
int32_t inverse(const Args *a) {
  const Tensor x = a->in[0], y = a->out[0];
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2])
    return ONNXC_K_SHAPE;
  int64_t n = x.dims[x.rank - 1], width = (n + kRow - 1) / kRow * kRow;
  int64_t bytes = n * width * int64_t(sizeof(double)) + n * int64_t(sizeof(int64_t));
  return parallelScratchFor(a, product(x.dims, 0, x.rank - 2), grainOf(n * n * width), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) {
                              double *m = static_cast<double *>(scratch);
                              Tensor to = y;
                              for (int64_t b = begin; b < end; ++b) {
                                memset(m, 0, size_t(n * width) * sizeof(double));
                                for (int64_t r = 0, at = b * n * n; r < n; ++r)
                                  for (int64_t c = 0; c < n; ++c, ++at)
                                    m[r * width + c] = loadF64(x, at);
                                invert(m, n, width, reinterpret_cast<int64_t *>(m + n * width));
                                for (int64_t r = 0, at = b * n * n; r < n; ++r)
                                  for (int64_t c = 0; c < n; ++c, ++at)
                                    storeF64(to, at, m[r * width + c]);
                              }
                              return int32_t(ONNXC_K_OK);
                            });
}

int32_t ngramRepeatBlock(const Args *a) {
  if (a->in[0].rank != 2 || a->in[1].rank != 2)
    return ONNXC_K_SHAPE;
  int64_t batch = a->in[0].dims[0], length = a->in[0].dims[1], vocabulary = a->in[1].dims[1], n = a->attr[0].i;
  const int64_t *ids = in<int64_t>(a, 0);
  if (n < 1)
    return ONNXC_K_VALUE;
  if (a->in[1].dims[0] != batch)
    return ONNXC_K_SHAPE;
  memmove(a->out[0].data, a->in[1].data, size_t(batch * vocabulary) * sizeof(float));
  for (int64_t b = 0; b < batch; ++b, ids += length)
    for (int64_t i = 0; i + n <= length; ++i) {
      bool same = true;
      for (int64_t k = 0; same && k < n - 1; ++k)
        same = ids[i + k] == ids[length - n + 1 + k];
      int64_t token = ids[i + n - 1];
      if (!same)
        continue;
      if (token < 0 || token >= vocabulary)
        return ONNXC_K_INDEX;
      out<float>(a, 0)[b * vocabulary + token] = -__builtin_inff();
    }
  return ONNXC_K_OK;
}

// ---- BifurcationDetector
enum { Source, Current, Previous, Predicted };

// How many predicted tokens are accepted: those that agree with the source, and one more.
int32_t accepted(const Args *a, int64_t &count) {
  count = 0;
  if (!hasIn(a, Predicted))
    return ONNXC_K_OK;
  int64_t start = loadI64(a->in[Previous], 0), rest = onnxc_count(a->in[Source]) - start;
  if (start < 0 || rest < 0 || onnxc_count(a->in[Predicted]) != rest + 1)
    return ONNXC_K_SHAPE;
  while (count < rest && in<int64_t>(a, Predicted)[count] == in<int64_t>(a, Source)[start + count])
    ++count;
  ++count;
  return ONNXC_K_OK;
}

int64_t search(const int64_t *text, int64_t from, int64_t size, const int64_t *gram, int64_t n) {
  for (int64_t i = from; i + n <= size; ++i) {
    int64_t k = 0;
    while (k < n && text[i + k] == gram[k])
      ++k;
    if (k == n)
      return i;
  }
  return -1;
}

int32_t bifurcationSizes(const Args *a) {
  int64_t count;
  ONNXC_TRY(accepted(a, count));
  a->out[0].dims[0] = onnxc_count(a->in[Current]) + count;
  return ONNXC_K_OK;
}

int32_t bifurcation(const Args *a) {
  int64_t count, current = onnxc_count(a->in[Current]), size = onnxc_count(a->in[Source]), *tokens = out<int64_t>(a, 0), found = -1;
  ONNXC_TRY(accepted(a, count));
  for (int64_t i = 0; i < current; ++i)
    tokens[i] = in<int64_t>(a, Current)[i];
  for (int64_t i = 0; i < count; ++i)
    tokens[current + i] = in<int64_t>(a, Predicted)[i];
  int64_t total = current + count;
  for (int64_t n = a->attr[1].i; n >= 1 && n <= a->attr[0].i && n <= total; ++n) {
    int64_t at = search(in<int64_t>(a, Source), 0, size, tokens + total - n, n);
    if (at < 0)
      break;
    found = at + n;
    if (found >= size || search(in<int64_t>(a, Source), at + 1, size, tokens + total - n, n) < 0)
      break;
    found = -1;
  }
  *out<int64_t>(a, 1) = found;
  return ONNXC_K_OK;
}

// ---- MurmurHash3: the algorithm's x86_32 over the bytes of each element
uint32_t rotated(uint32_t v, int bits) { return v << bits | v >> (32 - bits); }
uint32_t murmur(const uint8_t *bytes, int64_t size, uint32_t h) {
  auto word = [&](int64_t from, int64_t count) {
    uint32_t w = 0;
    for (int64_t i = count; i-- > 0;)
      w = w << 8 | bytes[from + i];
    return rotated(w * 0xcc9e2d51u, 15) * 0x1b873593u;
  };
  int64_t whole = size & ~int64_t(3);
  for (int64_t i = 0; i < whole; i += 4)
    h = rotated(h ^ word(i, 4), 13) * 5 + 0xe6546b64u;
  h = (h ^ word(whole, size - whole)) ^ uint32_t(size);
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

int32_t murmurHash(const Args *a) {
  const Tensor &x = a->in[0];
  uint32_t seed = uint32_t(a->attr[0].i), *to = out<uint32_t>(a, 0);
  bool isText = x.dtype == ONNXC_STR;
  int64_t bytes = elementBytes(x.dtype);
  return parallelFor(a, onnxc_count(x), grainOf(8), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t i = begin; i < end; ++i)
      if (isText) {
        const Str &s = data<Str>(x)[i];
        to[i] = murmur(reinterpret_cast<const uint8_t *>(s.data), s.size, seed);
      } else {
        to[i] = murmur(static_cast<const uint8_t *>(x.data) + i * bytes, bytes, seed);
      }
    return ONNXC_K_OK;
  });
}

// ---- DynamicTimeWarping
// The cheapest way from one corner of a matrix of costs to the other, kept as the step by which each place is reached.
struct Warping {
  enum Step : int8_t { Both, Row, Column };
  int64_t rows = 0, columns = 0;
  int8_t *steps = nullptr;
  int32_t find(const Args *a) {
    const Tensor &x = a->in[0];
    if (x.rank < 2 || x.rank > 3 || (x.rank == 3 && x.dims[0] != 1))
      return ONNXC_K_SHAPE;
    rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
    if (rows < 1 || columns < 1)
      return ONNXC_K_SIZE;
    float *before = heap<float>(a, columns + 1), *now = heap<float>(a, columns + 1);
    steps = heap<int8_t>(a, rows * columns);
    if (!before || !now || !steps)
      return ONNXC_K_MEMORY;
    for (int64_t c = 0; c <= columns; ++c)
      before[c] = c ? __builtin_inff() : 0;
    for (int64_t r = 0; r < rows; ++r) {
      now[0] = __builtin_inff();
      for (int64_t c = 0; c < columns; ++c) {
        float both = before[c], row = before[c + 1], column = now[c];
        Step step = both < row && both < column ? Both : row < both && row < column ? Row : Column;
        steps[r * columns + c] = step;
        now[c + 1] = in<float>(a, 0)[r * columns + c] + (step == Both ? both : step == Row ? row : column);
      }
      float *t = before;
      before = now, now = t;
    }
    return ONNXC_K_OK;
  }
  // Calls `place(r, c)` for the places of the way, the last one first.
  template <class Place>
  void back(Place place) const {
    for (int64_t r = rows - 1, c = columns - 1; r >= 0 && c >= 0;) {
      place(r, c);
      int8_t step = steps[r * columns + c];
      r -= step != Column, c -= step != Row;
    }
  }
};

int32_t warping(const Args *a, bool size) {
  Warping w;
  ONNXC_TRY(w.find(a));
  int64_t length = 0;
  w.back([&](int64_t, int64_t) { ++length; });
  if (size) {
    a->out[0].dims[0] = 2, a->out[0].dims[1] = length;
    return ONNXC_K_OK;
  }
  int32_t *to = out<int32_t>(a, 0);
  int64_t i = length;
  w.back([&](int64_t r, int64_t c) { --i, to[i] = int32_t(r), to[length + i] = int32_t(c); });
  return ONNXC_K_OK;
}

// ---- CropAndResize
int32_t cropSizes(const Args *a) {
  if (a->in[0].rank != 4 || a->in[1].rank != 2 || onnxc_count(a->in[3]) != 2)
    return ONNXC_K_SHAPE;
  int64_t height = loadI64(a->in[3], 0), width = loadI64(a->in[3], 1), *dims = a->out[0].dims;
  if (height < 1 || width < 1)
    return ONNXC_K_SIZE;
  dims[0] = a->in[1].dims[0], dims[1] = a->in[0].dims[1], dims[2] = height, dims[3] = width;
  return ONNXC_K_OK;
}

// Where cell `i` of `cells` samples a side of `size` pixels, of which a region takes the part [from, to].
struct Sample {
  int64_t low, high;
  float part;
  bool isInside;
  Sample(float from, float to, int64_t i, int64_t cells, int64_t size, bool nearest) {
    float last = float(size - 1), step = cells > 1 ? (to - from) * last / float(cells - 1) : 0;
    float at = cells > 1 ? from * last + float(i) * step : 0.5f * (from + to) * last;
    isInside = at >= 0 && at <= last;
    if (!isInside)
      at = 0;
    low = minOf<int64_t>(int64_t(nearest ? __builtin_roundf(at) : __builtin_floorf(at)), size - 1);  // a large side is rounded up
    part = nearest ? 0 : at - float(low), high = minOf<int64_t>(low + (part > 0), size - 1);
  }
};

int32_t cropAndResize(const Args *a) {
  const Tensor &x = a->in[0], &rois = a->in[1], &y = a->out[0];
  if (x.rank != 4 || rois.rank != 2 || rois.dims[1] != 4 || onnxc_count(a->in[2]) != rois.dims[0] || y.dims[0] != rois.dims[0])
    return ONNXC_K_SHAPE;
  for (int64_t r = 0; r < rois.dims[0]; ++r)
    if (int64_t image = loadI64(a->in[2], r); image < 0 || image >= x.dims[0])
      return ONNXC_K_INDEX;
  bool nearest = is(text(a->attr[1]), "nearest");
  float outside = float(a->attr[0].f);
  int64_t channels = x.dims[1], h = x.dims[2], w = x.dims[3], height = y.dims[2], width = y.dims[3];
  return parallelFor(a, y.dims[0] * channels, grainOf(8 * height * width), [=](int64_t begin, int64_t end) -> int32_t {
    for (int64_t p = begin; h * w == 0 && p < end * height * width; ++p)
      mutableData<float>(y)[p] = outside;
    for (int64_t p = begin; h * w > 0 && p < end; ++p) {
      const float *roi = data<float>(rois) + p / channels * 4;
      const float *plane = data<float>(x) + (loadI64(a->in[2], p / channels) * channels + p % channels) * h * w;
      float *to = mutableData<float>(y) + p * height * width;
      for (int64_t i = 0; i < height; ++i) {
        Sample row(roi[0], roi[2], i, height, h, nearest);
        const float *above = plane + row.low * w, *below = plane + row.high * w;
        for (int64_t j = 0; j < width; ++j) {
          Sample column(roi[1], roi[3], j, width, w, nearest);
          float top = above[column.low] + (above[column.high] - above[column.low]) * column.part;
          float bottom = below[column.low] + (below[column.high] - below[column.low]) * column.part;
          *to++ = row.isInside && column.isInside ? top + (bottom - top) * row.part : outside;
        }
      }
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_s_MsUnique(const onnxc_args *a) { return unique(a, true); }
extern "C" int32_t onnxc_k_MsUnique(const onnxc_args *a) { return unique(a, false); }
extern "C" int32_t onnxc_k_MsInverse(const onnxc_args *a) { return inverse(a); }
extern "C" int32_t onnxc_k_MsNGramRepeatBlock(const onnxc_args *a) { return ngramRepeatBlock(a); }
extern "C" int32_t onnxc_s_MsBifurcationDetector(const onnxc_args *a) { return bifurcationSizes(a); }
extern "C" int32_t onnxc_k_MsBifurcationDetector(const onnxc_args *a) { return bifurcation(a); }
extern "C" int32_t onnxc_k_MsMurmurHash3(const onnxc_args *a) { return murmurHash(a); }
extern "C" int32_t onnxc_s_MsDynamicTimeWarping(const onnxc_args *a) { return warping(a, true); }
extern "C" int32_t onnxc_k_MsDynamicTimeWarping(const onnxc_args *a) { return warping(a, false); }
extern "C" int32_t onnxc_s_MsCropAndResize(const onnxc_args *a) { return cropSizes(a); }
extern "C" int32_t onnxc_k_MsCropAndResize(const onnxc_args *a) { return cropAndResize(a); }
