// FastRoiAlign.cpp: RoiAlign of f32 as a mean. The samples of a bin lie on a grid and a bilinear weight is a product of one of its row and
// one of its column, so a bin is a weighted sum of rows, which are vectors, and then of columns. The greatest: FastRoiMax.cpp. Oracle:
// Vision.cpp.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/RoiBins.h"

namespace onnxc {
int32_t roiAlignMax(const onnxc_args *a);  // FastRoiMax.cpp

namespace {

// Along one dim: bin b is the sum of weight[b * size + i] x[i] for i in [first[b], last[b]).
struct Side {
  int64_t bins, size;
  float *weight;
  int32_t *first, *last;

  static int64_t bytes(int64_t bins, int64_t size) { return bins * (size * 4 + 8); }
  char *at(char *memory, int64_t b, int64_t n) {
    bins = b, size = n;
    weight = reinterpret_cast<float *>(memory);
    first = reinterpret_cast<int32_t *>(weight + bins * size);
    last = first + bins;
    return memory + bytes(bins, size);
  }
  void fill(const RoiSide &roi) {
    for (int64_t b = 0; b < bins; ++b) {
      float *w = weight + b * size;
      int64_t low = 0, end = 0;
      RoiSide::Range samples = roi.inside(b, size);
      for (int64_t s = samples.begin; s < samples.end; ++s) {
        double x = maxOf(roi.at(b, s), 0.0);
        int64_t i = minOf(int64_t(x), size - 1);
        double part = i == size - 1 ? 0 : x - double(i);
        for (int64_t k = i; k < minOf(i + 2, size); ++k) {
          if (end == 0)
            low = end = i;
          for (; end <= k; ++end)
            w[end] = 0;
          while (low > k)  // a roi may run backwards
            w[--low] = 0;
          w[k] += float((k > i ? part : 1 - part) / double(roi.grid));
        }
      }
      first[b] = int32_t(low), last[b] = int32_t(end);
    }
  }
};

// One plane: rows first, into `mid`, which has room for 16 columns before and behind those of the roi.
void plane(const float *x, const Side &rows, const Side &columns, int64_t from, int64_t to, float *mid, float *out) {
  for (int64_t b = 0; b < rows.bins; ++b) {
    const float *weight = rows.weight + b * rows.size;
    for (int64_t c = from; c < to && columns.size >= 16; c += 16) {
      int64_t at = minOf(c, columns.size - 16);
      v16 sum = v16(0.0f);
      for (int64_t r = rows.first[b]; r < rows.last[b]; ++r)
        sum = multiplyAdd(v16(weight[r]), *(const v16 *)(x + r * columns.size + at), sum);
      *(v16 *)(mid + at - from) = sum;
    }
    for (int64_t c = from; c < to && columns.size < 16; ++c) {
      mid[c - from] = 0;
      for (int64_t r = rows.first[b]; r < rows.last[b]; ++r)
        mid[c - from] = multiplyAdd(weight[r], x[r * columns.size + c], mid[c - from]);
    }
    for (int64_t p = 0; p < columns.bins; ++p) {
      float sum = 0;
      const float *w = columns.weight + p * columns.size;
      for (int64_t c = columns.first[p]; c < columns.last[p]; ++c)
        sum = multiplyAdd(w[c], mid[c - from], sum);
      *out++ = sum;
    }
  }
}

int32_t roiAlign(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &out = a->out[0];
  if (is(text(a->attr[1]), "max"))
    return roiAlignMax(a);
  ONNXC_TRY(checkRois(a));
  int64_t cells = out.dims[2] * out.dims[3], height = x.dims[2], width = x.dims[3], channels = x.dims[1];
  int64_t bytes = Side::bytes(out.dims[2], height) + Side::bytes(out.dims[3], width) + (width + 32) * 4;
  return parallelScratchFor(a, out.dims[0], grainOf(channels * cells * 16), bytes, [=](void *scratch, int64_t begin, int64_t end) {
    Side rows, columns;
    float *mid = 16 + reinterpret_cast<float *>(columns.at(rows.at(static_cast<char *>(scratch), out.dims[2], height), out.dims[3], width));
    for (int64_t r = begin; r < end; ++r) {
      RoiBins roi;
      ONNXC_TRY(readRoi<float>(a, r, roi));
      rows.fill(roi.side[0]);
      columns.fill(roi.side[1]);
      int64_t from = width, to = 0;
      for (int64_t p = 0; p < columns.bins; ++p)
        if (columns.last[p] > columns.first[p])
          from = minOf<int64_t>(from, columns.first[p]), to = maxOf<int64_t>(to, columns.last[p]);
      for (int64_t c = 0; c < channels; ++c)
        plane(data<float>(x) + (roi.image * channels + c) * height * width, rows, columns, from, to, mid,
              mutableData<float>(out) + (r * channels + c) * cells);
    }
    return int32_t(ONNXC_K_OK);
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastRoiAlign(const onnxc_args *a) { return onnxc::roiAlign(a); }
