// FastRoiMax.cpp: MaxRoiPool of f32, and RoiAlign of f32 for the greatest sample: rows are joined in vectors first, then the columns of
// each bin. Oracle: Vision.cpp, which also has what the order of comparisons decides where a value is NaN.
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/RoiBins.h"

extern "C" int32_t onnxc_k_MaxRoiPool_f32(const onnxc_args *);
extern "C" int32_t onnxc_k_RoiAlign_f32(const onnxc_args *);

namespace onnxc {
namespace {

constexpr float kLeast = -__builtin_inff();
ONNXC_INLINE float greater(float a, float b) { return a > b ? a : b; }

// The columns of a roi's cells: `step`, a power of two, is at most the number that any cell has which has some.
struct Columns {
  const Cell *cells;
  int64_t count, from, to, step;

  Columns(const Cell *cells, int64_t count) : cells(cells), count(count), from(cells[0].begin), to(cells[count - 1].end), step(1) {
    int64_t least = to - from;
    for (int64_t i = 0; i < count; ++i)
      if (cells[i].begin < cells[i].end)
        least = minOf(least, cells[i].end - cells[i].begin);
    while (2 * step <= least)
      step *= 2;
  }
};

// Floats from one joined row to the next, where rows have `width` columns.
int64_t roomOf(int64_t width) { return 2 * width + 32; }
// mid[c] becomes the greatest of its row's columns [c, c + step); `rows` of them, `room` floats apart.
void joinColumns(const Columns &columns, float *mid, int64_t rows, int64_t room) {
  for (int64_t s = 1; s < columns.step; s *= 2)
    for (int64_t r = 0; r < rows; ++r)                           // of all rows in turn: what is loaded was stored long before
      for (int64_t c = columns.from; c < columns.to; c += 16) {  // what lies behind the last one goes nowhere
        float *at = mid + r * room + c;
        v16 v = *(const v16 *)at, next = *(const v16 *)(at + s);
        *(v16 *)at = v > next ? v : next;
      }
}

// What each cell of a plane reads of its joined rows: `count` places, the same for all planes of a roi. Of an empty cell these are the
// first place, which holds zero.
struct Places {
  static constexpr int64_t kMost = 8;
  int32_t *at;  // [count, cells]
  int64_t cells, count;

  Places(const Cell *rows, int64_t rowCount, const Columns &columns, int64_t room, int32_t *memory)
      : at(memory), cells(rowCount * columns.count), count(1) {
    for (int64_t p = 0; p < columns.count; ++p)
      count = maxOf(count, (columns.cells[p].end - columns.cells[p].begin + columns.step - 1) / columns.step);
    for (int64_t k = 0; k < minOf(count, kMost); ++k)
      for (int64_t r = 0; r < rowCount; ++r)
        for (int64_t p = 0; p < columns.count; ++p) {
          const Cell cell = columns.cells[p];
          bool some = rows[r].begin < rows[r].end && cell.begin < cell.end;
          int64_t place = kLanes + r * room + minOf(cell.begin + k * columns.step, cell.end - columns.step);
          memory[k * cells + r * columns.count + p] = int32_t(some ? place : 0);
        }
  }
};

// The greatest of each cell of a plane; `mid` takes kLanes floats, the first of them zero, and roomOf(width) for each row of cells.
void poolCells(const float *x, int64_t width, const Cell *rows, int64_t rowCount, const Columns &columns, const Places &places, float *mid,
               float *__restrict y) {
  int64_t room = roomOf(width);
  for (int64_t r = 0; r < rowCount; ++r) {
    float *to = mid + kLanes + r * room;
    for (int64_t c = columns.from; c < columns.to && width >= 16; c += 16) {
      int64_t at = minOf(c, width - 16);
      v16 best = v16(kLeast);
      for (int64_t h = rows[r].begin; h < rows[r].end; ++h) {
        v16 v = *(const v16 *)(x + h * width + at);
        best = best > v ? best : v;
      }
      *(v16 *)(to + at) = best;
    }
    for (int64_t c = columns.from; c < columns.to && width < 16; ++c) {
      to[c] = kLeast;
      for (int64_t h = rows[r].begin; h < rows[r].end; ++h)
        to[c] = greater(to[c], x[h * width + c]);
    }
  }
  joinColumns(columns, mid + kLanes, rowCount, room);
  for (int64_t i = 0; i < places.cells; ++i)
    y[i] = mid[places.at[i]];
  for (int64_t k = 1; k < minOf(places.count, Places::kMost); ++k)
    for (int64_t i = 0; i < places.cells; ++i)
      y[i] = greater(y[i], mid[places.at[k * places.cells + i]]);
  for (int64_t i = 0; i < places.cells && places.count > Places::kMost; ++i) {
    int64_t row = kLanes + i / columns.count * room;
    for (int64_t c = columns.cells[i % columns.count].begin + Places::kMost * columns.step;
         places.at[i] && c < columns.cells[i % columns.count].end; c += columns.step)
      y[i] = greater(y[i], mid[row + minOf(c, columns.cells[i % columns.count].end - columns.step)]);
  }
}

int32_t maxRoiPool(const Args *a) {  // attributes: spatial_scale
  const Tensor &x = a->in[0], &rois = a->in[1], &y = a->out[0];
  ONNXC_CHECK(x.rank == 4 && rois.rank == 2 && rois.dims[1] == 5 && y.rank == 4 && y.dims[0] == rois.dims[0], ONNXC_K_SHAPE);
  int64_t height = x.dims[2], width = x.dims[3], channels = x.dims[1], rows = y.dims[2], columns = y.dims[3];
  if (rows < 1 || columns < 1)
    return ONNXC_K_OK;
  if (holdsNaN(data<float>(x), onnxc_count(x)))
    return onnxc_k_MaxRoiPool_f32(a);
  int64_t cells = rows * columns, room = roomOf(width);
  int64_t bytes = (rows + columns) * int64_t(sizeof(Cell)) + 4 * (Places::kMost * cells + kLanes + rows * room);
  return parallelScratchFor(a, y.dims[0], grainOf(channels * rows * columns * 8), bytes,
                            [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
                              Cell *vertical = static_cast<Cell *>(scratch), *horizontal = vertical + rows;
                              int32_t *memory = reinterpret_cast<int32_t *>(horizontal + columns);
                              float *mid = reinterpret_cast<float *>(memory + Places::kMost * cells);
                              *mid = 0;
                              for (int64_t r = begin; r < end; ++r) {
                                const float *roi = in<float>(a, 1) + r * 5;
                                int64_t image = truncToI64(roi[0]);
                                ONNXC_CHECK(image >= 0 && image < a->in[0].dims[0], ONNXC_K_INDEX);
                                ONNXC_TRY(roiCells(roi[2], roi[4], a->attr[0].f, rows, height, vertical));
                                ONNXC_TRY(roiCells(roi[1], roi[3], a->attr[0].f, columns, width, horizontal));
                                const Columns across(horizontal, columns);
                                const Places places(vertical, rows, across, room, memory);
                                for (int64_t c = 0; c < channels; ++c)
                                  poolCells(in<float>(a, 0) + (image * channels + c) * height * width, width, vertical, rows, across,
                                            places, mid, out<float>(a, 0) + (r * channels + c) * rows * columns);
                              }
                              return ONNXC_K_OK;
                            });
}

// The samples along one dim that the image has, bin by bin, each between two neighbours.
struct Samples {
  int32_t *low, *high, *first;  // first: of each bin, and the end
  float *weight;                // of `high`
  bool *whole;                  // the image has all samples of the bin

  static int64_t bytes(int64_t bins, int64_t grid) { return (bins * grid * 12 + (bins + 1) * 5 + 63) & -64; }
  void place(char *memory, int64_t bins, int64_t grid) {
    int64_t n = bins * grid;
    low = reinterpret_cast<int32_t *>(memory), high = low + n, first = high + n;
    weight = reinterpret_cast<float *>(first + bins + 1);
    whole = reinterpret_cast<bool *>(weight + n);
  }
  // Samples at one place, as of rois so far away that positions are rounded, count once.
  void fill(const RoiSide &side, int64_t bins, int64_t size) {
    int32_t n = 0;
    for (int64_t b = 0; b < bins; ++b) {
      RoiSide::Range inside = side.inside(b, size);
      first[b] = n, whole[b] = inside.end - inside.begin >= side.grid;
      double before = -1;
      for (int64_t s = inside.begin; s < inside.end; ++s) {
        double at = maxOf(side.at(b, s), 0.0);
        if (at == before)
          continue;
        before = at;
        low[n] = int32_t(minOf(int64_t(at), size - 1));
        high[n] = int32_t(minOf<int64_t>(low[n] + 1, size - 1));
        weight[n] = low[n] == size - 1 ? 0 : float(at - low[n]);
        ++n;
      }
    }
    first[bins] = n;
  }
};

// best[j] = the greatest of it and of what a row of samples has at column sample j: four pixels, each by its weight.
void joinSamples(const float *__restrict low, const float *__restrict high, float weight, const Samples &columns, int64_t n,
                 float *__restrict best) {
  const int32_t *left = columns.low, *right = columns.high;
  const float *w = columns.weight;
  for (int64_t j = 0; j < n; ++j) {
    float b = w[j], a = 1 - b;
    float upper = greater((1 - weight) * a * low[left[j]], (1 - weight) * b * low[right[j]]);
    float lower = greater(weight * a * high[left[j]], weight * b * high[right[j]]);
    best[j] = greater(best[j], greater(upper, lower));
  }
}

void alignPlane(const float *x, int64_t width, const Samples &rows, int64_t rowBins, const Samples &columns, int64_t columnBins,
                float *best, float *y) {
  int64_t n = columns.first[columnBins];
  for (int64_t r = 0; r < rowBins; ++r, y += columnBins) {
    for (int64_t j = 0; j < n; ++j)
      best[j] = kLeast;
    for (int64_t i = rows.first[r]; i < rows.first[r + 1]; ++i)
      joinSamples(x + rows.low[i] * width, x + rows.high[i] * width, rows.weight[i], columns, n, best);
    bool some = rows.first[r] < rows.first[r + 1];
    for (int64_t p = 0; p < columnBins; ++p) {
      bool all = rows.whole[r] && columns.whole[p] && some && columns.first[p] < columns.first[p + 1];
      float greatest = all ? kLeast : 0;  // a sample outside is zero
      for (int64_t j = columns.first[p]; some && j < columns.first[p + 1]; ++j)
        greatest = greater(greatest, best[j]);
      y[p] = greatest;
    }
  }
}

}  // namespace

int32_t roiAlignMax(const Args *a) {
  const Tensor &x = a->in[0], &y = a->out[0];
  ONNXC_TRY(checkRois(a));
  if (holdsNaN(data<float>(x), onnxc_count(x)))
    return onnxc_k_RoiAlign_f32(a);
  int64_t bins[2] = {y.dims[2], y.dims[3]}, grid[2], width = x.dims[3], channels = x.dims[1];
  for (int k = 0; k < 2; ++k)  // samples of a bin that an image can have: rois that tell the grid themselves have at most two a pixel
    grid[k] = a->attr[2].i > 0 ? minOf(a->attr[2].i, kMostRoiSamples) : 2 * x.dims[2 + k] + 4;
  int64_t bytes = Samples::bytes(bins[0], grid[0]) + Samples::bytes(bins[1], grid[1]) + bins[1] * grid[1] * int64_t(sizeof(float));
  int64_t work = channels * bins[0] * bins[1] * 16;
  return parallelScratchFor(a, y.dims[0], grainOf(work), bytes, [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
    Samples rows, columns;
    char *memory = static_cast<char *>(scratch);
    rows.place(memory, bins[0], grid[0]);
    columns.place(memory + Samples::bytes(bins[0], grid[0]), bins[1], grid[1]);
    float *best = reinterpret_cast<float *>(memory + Samples::bytes(bins[0], grid[0]) + Samples::bytes(bins[1], grid[1]));
    int64_t height = a->in[0].dims[2], cells = bins[0] * bins[1];
    for (int64_t r = begin; r < end; ++r) {
      RoiBins roi;
      ONNXC_TRY(readRoi<float>(a, r, roi));
      rows.fill(roi.side[0], bins[0], height);
      columns.fill(roi.side[1], bins[1], width);
      for (int64_t c = 0; c < channels; ++c)
        alignPlane(in<float>(a, 0) + (roi.image * channels + c) * height * width, width, rows, bins[0], columns, bins[1], best,
                   out<float>(a, 0) + (r * channels + c) * cells);
    }
    return ONNXC_K_OK;
  });
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMaxRoiPool(const onnxc_args *a) { return onnxc::maxRoiPool(a); }
