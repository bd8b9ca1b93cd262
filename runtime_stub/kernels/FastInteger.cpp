// FastInteger.cpp: MatMulInteger on instructions that multiply bytes, with one right matrix for all rows or one after the other, which are
// multiplied in f32 where they are small; DynamicQuantizeLinear. Oracles: MatMul.cpp, which also takes other shapes, and Quant.cpp.
//
// packed  the right matrix lies in panels already (passes/graph/PackIntegers.cpp), its top bits flipped: [columns / 64][quad][64][4]
// Left bytes are made unsigned and right ones signed by flipping the top bit; zero points and sums of rows and columns put that right.
#include "runtime_stub/kernels/MatMulShape.h"
#include "runtime_stub/kernels/MatrixTiles.h"
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"

extern "C" int32_t onnxc_k_MatMulInteger(const onnxc_args *a);

namespace onnxc {
namespace {

constexpr int64_t kRowBlock = 192;
constexpr int64_t kLeastTiledProducts = 1 << 18;  // of what is packed first: the start of tiles takes longer than fewer products
constexpr int64_t kAhead = 32;                    // rows of a right matrix in place that are asked for, a line of memory each

// One launch.
struct Integers {
  int64_t rows, depth, columns, quads, stride;  // stride: bytes from one row of `left` to the next
  const uint8_t *left;                          // made unsigned
  const uint8_t *right;                         // as given, [depth, columns]
  uint8_t flip;                                 // of right bytes
  bool packed, summed;                          // summed: a row of ones follows the rows of `left`
  int32_t leftZero;
  const int32_t *rightZeros, *rowSums;  // null where all right zero points are 0
  bool dots, tiles;
  int32_t *out;

  // Rows [row, row + n); `limits`: Depth's.
  void tile(int64_t n, int64_t row, const int8_t *panel, PairLimits limits, int32_t *c, int64_t width) const {
    const uint8_t *rows[kRows];
    for (int64_t i = 0; i < n; ++i)
      rows[i] = left + (row + i) * stride;
    Segment whole{0, quads};
    integerTile(n, dots, rows, Depth{&whole, 1, 0, {}, limits}, panel, c, width);
  }
};

ONNXC_INLINE i16x8 low(i8x16 a, i8x16 b) {
  return __builtin_bit_cast(i16x8, __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
}
ONNXC_INLINE i16x8 high(i8x16 a, i8x16 b) {
  return __builtin_bit_cast(i16x8, __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
}
// The first and the last four quads of eight pairs of two rows each.
ONNXC_INLINE void storePairs(int8_t *to, i16x8 ab, i16x8 cd) {
  i16x8 first = __builtin_shufflevector(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11),
        last = __builtin_shufflevector(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15);
  memcpy(to, &first, 16), memcpy(to + 16, &last, 16);
}
// Sixteen columns of four rows, quad by quad, in vectors of 16 bytes, within which every target interleaves at once.
ONNXC_INLINE void storeQuads(int8_t *to, i8x16 a, i8x16 b, i8x16 c, i8x16 d) {
  storePairs(to, low(a, b), low(c, d));
  storePairs(to + 32, high(a, b), high(c, d));
}

// The quads of 64 columns of four rows.
ONNXC_INLINE void storeColumns(int8_t *to, const int8_t *const *from, uint8_t flip) {
  unroll<0, kColumns / 16>([&](auto n) {
    auto row = [&](int r) { return *(const i8x16 *)(from[r] + 16 * n.value) ^ int8_t(flip); };
    storeQuads(to + 64 * n.value, row(0), row(1), row(2), row(3));
  });
}

void packColumns(const Integers &p, int64_t column, int64_t width, int8_t *panel) {
  const int8_t *at = reinterpret_cast<const int8_t *>(p.right) + column;
  int64_t whole = width == kColumns ? p.depth / 4 : 0, ahead = kAhead * p.columns;
  for (int64_t q = 0; q < whole; ++q, panel += 4 * kColumns) {
    const int8_t *from[4];
    unroll<0, 4>([&](auto r) {
      from[r.value] = at, at += p.columns;
      __builtin_prefetch(from[r.value] + ahead);
    });
    storeColumns(panel, from, p.flip);
  }
  for (int64_t q = whole; q < p.quads; ++q, panel += 4 * kColumns) {
    int8_t edge[4][kColumns];
    memset(edge, p.flip, sizeof(edge));  // 0 after the flip
    for (int64_t r = 0; r < minOf<int64_t>(4, p.depth - 4 * q); ++r, at += p.columns)
      memcpy(edge[r], at, size_t(width));
    const int8_t *from[4] = {edge[0], edge[1], edge[2], edge[3]};
    storeColumns(panel, from, p.flip);
  }
}

// The results of rows [row, row + n) of `width` columns, less what depends on the column alone: `base`; c: `stride` from row to row.
void finish(const Integers &p, const int32_t *c, int64_t stride, const int32_t *base, int64_t row, int64_t n, int64_t column,
            int64_t width) {
  for (int64_t i = 0; i < n; ++i) {
    int32_t *to = p.out + (row + i) * p.columns + column;
    const int32_t *sums = c + i * stride;
    uint32_t missing = p.rightZeros ? uint32_t(p.depth) * uint32_t(p.leftZero) - uint32_t(p.rowSums[row + i]) : 0;
    if (p.rightZeros)
      for (int64_t j = 0; j < width; ++j)
        to[j] = int32_t(uint32_t(sums[j]) + uint32_t(base[j]) + missing * uint32_t(p.rightZeros[column + j]));
    else
      for (int64_t j = 0; j < width; ++j)
        to[j] = sums[j] + base[j];
  }
}

// Rows [first, last) of the 64 columns from `column` on; `tiles`: those rows, gathered, or null.
void panelOf(const Integers &p, int64_t column, int64_t first, int64_t last, int8_t *scratch, const uint8_t *ones, const TiledRows *tiles) {
  int64_t width = minOf(kColumns, p.columns - column), whole16 = (width + 15) / 16 * 16;
  int32_t base[kColumns], c[kTiledSums];
  const int8_t *panel = scratch;
  if (p.packed)
    panel = reinterpret_cast<const int8_t *>(p.right) + column * 4 * p.quads;
  else
    packColumns(p, column, width, scratch);
  if (p.summed) {
    p.tile(p.rows + 1, 0, panel, {}, c, kColumns);
    memcpy(base, c + p.rows * kColumns, sizeof(base));
  } else {
    Segment whole{0, p.quads};
    integerTile(1, p.dots, &ones, Depth{&whole, 1, 0}, panel, base, kColumns);
  }
  for (int64_t n = 0; n < width; ++n)
    base[n] = int32_t(0u - uint32_t(p.leftZero) * uint32_t(base[n]));
  if (tiles) {
    TiledPanel tiled;
    tiled.start(panel, PanelShape{}, p.quads);
    return multiplyPanel(tiled, width, *tiles, c, [&](const TilePiece &s) {
      int64_t row = tiles->row(s.tile);
      finish(p, s.sums, kPiece, base + s.column, first + row, tiles->row(s.tile + 1) - row, column + s.column, s.columns);
    });
  }
  PanelLimits found;
  PairLimits limits = found.find(p.dots, last - first, panel, p.quads, PanelShape{}, whole16);
  for (int64_t r = first; r < last; r += kRows) {
    int64_t have = minOf<int64_t>(kRows, last - r);
    if (!p.summed)
      p.tile(have, r, panel, limits, c, whole16);
    finish(p, c, kColumns, base, r, have, column, width);
  }
}

// Rows [first, last) of the panels from `panel` on, the rows gathered in `scratch`.
void tiledPanels(const Integers &p, int64_t panel, int64_t count, int64_t first, int64_t last, uint8_t *scratch, const uint8_t *ones) {
  const uint8_t *at[kTiledRows];
  for (int64_t i = 0; i < last - first; ++i)
    at[i] = p.left + (first + i) * p.stride;
  Segment whole{0, p.quads};
  TiledRows rows;
  rows.gather(at, last - first, Depth{&whole, 1, 0}, p.quads, scratch);
  startTiles(rows.each);
  for (int64_t i = panel; i < panel + count; ++i)
    panelOf(p, i * kColumns, first, last, reinterpret_cast<int8_t *>(scratch + TiledRows::bytes(p.quads)), ones, &rows);
  endTiles();
}

// Unsigned rows, a whole number of quads each; the operand itself where it is that already, unless a row of ones can be added that one tile
// takes together with all of them.
bool prepareLeft(const Args *a, Integers &p, bool isSigned) {
  p.left = in<uint8_t>(a, 0), p.stride = p.depth;
  p.summed = p.rows < kRows;
  if (!p.summed && !isSigned && p.depth % 4 == 0)
    return true;
  p.stride = 4 * p.quads;
  uint8_t *copy = heap<uint8_t>(a, (p.rows + 1) * p.stride);
  for (int64_t r = 0; copy && r < p.rows; ++r)
    copyFlipped(p.left + r * p.depth, p.depth, isSigned ? 0x80 : 0, copy + r * p.stride);
  if (copy)
    memset(copy + p.rows * p.stride, 1, size_t(p.stride));
  p.left = copy;
  return copy;
}

// Right zero points less the flip, one a column; `p.rightZeros` stays null where they are all 0.
bool prepareZeros(const Args *a, Integers &p) {
  int32_t shift = p.flip ? 128 : 0;
  int64_t count = hasIn(a, 3) ? onnxc_count(a->in[3]) : 0;
  bool any = count == 0 && shift;
  for (int64_t i = 0; i < count; ++i)
    any |= loadI64(a->in[3], i) != shift;
  if (!any)
    return true;
  int32_t *zeros = heap<int32_t>(a, p.columns), *sums = heap<int32_t>(a, p.rows);
  if (!zeros || !sums)
    return false;
  for (int64_t n = 0; n < p.columns; ++n)
    zeros[n] = int32_t(count ? loadI64(a->in[3], count == 1 ? 0 : n) : 0) - shift;
  for (int64_t r = 0; r < p.rows; ++r)
    for (int64_t k = 0; k < p.depth; ++k)
      sums[r] += p.left[r * p.stride + k];
  p.rightZeros = zeros, p.rowSums = sums;
  return true;
}

int32_t multiply(const Args *a, Integers &p) {
  const Tensor &x = a->in[0], &y = a->in[1];
  bool isSigned = x.dtype == ONNXC_I8;
  p.rows = onnxc_count(x) / p.depth, p.quads = (p.depth + 3) / 4;
  p.right = in<uint8_t>(a, 1), p.flip = y.dtype == ONNXC_U8 ? 0x80 : 0, p.out = out<int32_t>(a, 0);
  p.leftZero = int32_t(hasIn(a, 2) ? loadI64(a->in[2], 0) : 0) + (isSigned ? 128 : 0);
  p.dots = hasDots(a), p.tiles = p.rows >= kLeastTiled && (p.packed || p.rows * p.depth * p.columns > kLeastTiledProducts) && hasTiles(a);
  uint8_t *ones = heap<uint8_t>(a, 4 * p.quads);
  if (!prepareLeft(a, p, isSigned) || !prepareZeros(a, p) || !ones)
    return ONNXC_K_MEMORY;
  memset(ones, 1, size_t(4 * p.quads));
  ProductUnits units(p.tiles, p.rows, (p.columns + kColumns - 1) / kColumns, p.tiles ? tiledPart(p.rows) : kRowBlock);
  int64_t bytes = 4 * p.quads * kColumns + (p.tiles ? TiledRows::bytes(p.quads) : 0);
  auto body = [&p, ones, units](void *scratch, int64_t begin, int64_t end) -> int32_t {
    units.each(begin, end, [&](int64_t, int64_t panel, int64_t count, int64_t first, int64_t last) {
      if (p.tiles)
        tiledPanels(p, panel, count, first, last, static_cast<uint8_t *>(scratch), ones);
      else
        panelOf(p, panel * kColumns, first, last, static_cast<int8_t *>(scratch), ones, nullptr);
    });
    return ONNXC_K_OK;
  };
  return parallelScratchFor(a, units.count(), grainOf(minOf(p.rows, units.part) * p.depth), bytes, body);
}

// One right matrix for all rows.
int32_t oneProduct(const Args *a) {
  const Tensor &x = a->in[0], &y = a->in[1];
  Integers p = {};
  p.depth = x.dims[x.rank - 1], p.columns = y.dims[y.rank - 1];
  if (y.dims[y.rank - 2] != p.depth || onnxc_count(a->out[0]) != onnxc_count(x) / p.depth * p.columns)
    return ONNXC_K_SHAPE;
  return multiply(a, p);
}

// Matrices of so few products and so small a right side that packing takes longer: in f32, which holds their sums.
constexpr int64_t kFewProducts = 8192, kFewRight = 512, kFewDepth = (1 << 24) / (255 * 255);

struct FewProducts {
  MatMulShape s;
  int64_t lanes;  // of a row of the right matrix: whole vectors
  const Tensor *rightZeros;
  float leftZero;

  int64_t bytes() const { return (s.rows * s.inner + (s.inner + 1) * lanes) * int64_t(sizeof(float)); }
  float rightZero(int64_t n) const { return rightZeros ? float(loadI64(*rightZeros, onnxc_count(*rightZeros) == 1 ? 0 : n)) : 0; }
  // A vector of bytes as floats; those from `end` on are not read.
  template <class T>
  static __attribute__((always_inline)) v16 widened(const T *from, const T *end) {
    Sixteen<T> b = {};
    if (end - from >= kLanes)
      b = *(const Sixteen<T> *)from;
    else
      memcpy(&b, from, size_t(end - from));
    return __builtin_convertvector(b, v16);
  }
  // Rows [row, row + ROWS) of the columns of COLUMNS vectors.
  template <int ROWS, int COLUMNS>
  __attribute__((always_inline)) void tile(const float *left, const float *right, int64_t row, int64_t column, int32_t *out) const {
    v16 sums[ROWS][COLUMNS] = {};
    for (int64_t k = 0; k < s.inner; ++k)
      unroll<0, COLUMNS>([&](auto c) {
        v16 b = *(const v16 *)(right + k * lanes + column + c.value * kLanes);
        unroll<0, ROWS>([&](auto r) { sums[r.value][c.value] += left[(row + r.value) * s.inner + k] * b; });
      });
    unroll<0, COLUMNS>([&](auto c) {
      int64_t at = column + c.value * kLanes, have = minOf<int64_t>(kLanes, s.cols - at);
      unroll<0, ROWS>([&](auto r) {
        i32x16 whole = __builtin_convertvector(sums[r.value][c.value], i32x16);
        int32_t *to = out + (row + r.value) * s.cols + at;
        if (have == kLanes)
          memcpy(to, &whole, sizeof(whole));
        else
          memcpy(to, &whole, size_t(have) * sizeof(int32_t));
      });
    });
  }
  // All columns of those rows.
  template <int ROWS, int COLUMNS>
  __attribute__((always_inline)) void rows(const float *left, const float *right, int64_t row, int32_t *out) const {
    int64_t column = 0;
    for (; column + COLUMNS * kLanes <= lanes; column += COLUMNS * kLanes)
      tile<ROWS, COLUMNS>(left, right, row, column, out);
    for (; column < lanes; column += kLanes)
      tile<ROWS, 1>(left, right, row, column, out);
  }
  // What lies behind the columns of a row is the next row's, and is stored nowhere.
  template <class X, class Y>
  void run(const X *x, const Y *y, float *scratch, int32_t *out) const {
    float *zeros = scratch, *right = zeros + lanes, *left = right + s.inner * lanes;
    const X *xEnd = x + s.rows * s.inner;
    const Y *yEnd = y + s.inner * s.cols;
    int64_t i = 0;
    for (; xEnd - x - i >= kLanes; i += kLanes)
      *(v16 *)(left + i) = widened(x + i, xEnd) - leftZero;
    for (; i < xEnd - x; ++i)
      left[i] = float(x[i]) - leftZero;
    for (int64_t n = 0; n < lanes; ++n)
      zeros[n] = n < s.cols ? rightZero(n) : 0;
    for (int64_t k = 0; k < s.inner; ++k, y += s.cols)
      for (int64_t n = 0; n < s.cols; n += kLanes)
        *(v16 *)(right + k * lanes + n) = widened(y + n, yEnd) - *(const v16 *)(zeros + n);
    constexpr int kTogether = 8;
    int64_t row = 0;
    for (; row + kTogether <= s.rows; row += kTogether)
      rows<kTogether, 1>(left, right, row, out);
    for (; row < s.rows; ++row)
      rows<1, 4>(left, right, row, out);
  }
};

int32_t fewProducts(const Args *a, const MatMulShape &s, const Odometer<2> &start) {
  FewProducts p{s, (s.cols + kLanes - 1) / kLanes * kLanes, hasIn(a, 3) ? &a->in[3] : nullptr,
                hasIn(a, 2) ? float(loadI64(a->in[2], 0)) : 0};
  bool isSigned = a->in[0].dtype == ONNXC_I8, rightSigned = a->in[1].dtype == ONNXC_I8;
  auto body = [=](void *scratch, int64_t begin, int64_t end) -> int32_t {
    Odometer<2> o = start;
    o.dims = p.s.batch, o.strides[0] = p.s.aStrides, o.strides[1] = p.s.bStrides;
    o.seek(begin);
    float *floats = static_cast<float *>(scratch);
    for (int64_t i = begin; i < end; ++i, o.next()) {
      const uint8_t *x = in<uint8_t>(a, 0) + o.offset[0], *y = in<uint8_t>(a, 1) + o.offset[1];
      int32_t *to = out<int32_t>(a, 0) + i * p.s.rows * p.s.cols;
      if (isSigned && rightSigned)
        p.run((const int8_t *)x, (const int8_t *)y, floats, to);
      else if (isSigned)
        p.run((const int8_t *)x, y, floats, to);
      else if (rightSigned)
        p.run(x, (const int8_t *)y, floats, to);
      else
        p.run(x, y, floats, to);
    }
    return ONNXC_K_OK;
  };
  return parallelScratchFor(a, start.left, grainOf(s.rows * s.inner * p.lanes / kLanes), p.bytes(), body);
}

// Batches of right matrices, one after the other.
int32_t batchProducts(const Args *a) {
  MatMulShape s;
  ONNXC_TRY(matMulShape(a->in[0], a->in[1], s));
  Odometer<2> o;
  o.init(s.batch, s.batchRank);
  o.strides[0] = s.aStrides, o.strides[1] = s.bStrides;
  if (onnxc_count(a->out[0]) != o.left * s.rows * s.cols)
    return ONNXC_K_SHAPE;
  if (s.rows * s.inner * s.cols <= kFewProducts && s.inner * s.cols <= kFewRight && s.inner <= kFewDepth)
    return fewProducts(a, s, o);
  int64_t x[] = {s.rows, s.inner}, y[] = {s.inner, s.cols}, z[] = {s.rows, s.cols};
  Tensor in[4], out = {a->out[0].data, z, 2, a->out[0].dtype};
  for (int64_t i = 0; i < minOf<int64_t>(a->n_in, 4); ++i)
    in[i] = a->in[i];
  Args one = *a;
  one.in = in, one.out = &out;
  for (; o.more(); o.next()) {
    in[0] = {const_cast<uint8_t *>(onnxc::in<uint8_t>(a, 0)) + o.offset[0], x, 2, a->in[0].dtype};
    in[1] = {const_cast<uint8_t *>(onnxc::in<uint8_t>(a, 1)) + o.offset[1], y, 2, a->in[1].dtype};
    ONNXC_TRY(oneProduct(&one));
    out.data = static_cast<int32_t *>(out.data) + s.rows * s.cols;
  }
  return ONNXC_K_OK;
}

int32_t matMulInteger(const Args *a) {
  const Tensor &x = a->in[0], &y = a->in[1];
  int64_t zeros = hasIn(a, 3) ? onnxc_count(a->in[3]) : 1;
  if (x.rank < 1 || y.rank < 2 || (hasIn(a, 2) && onnxc_count(a->in[2]) != 1) || (zeros != 1 && zeros != y.dims[y.rank - 1]) ||
      onnxc_count(y) == 0 || onnxc_count(x) == 0)
    return onnxc_k_MatMulInteger(a);
  bool one = onnxc_count(y) == y.dims[y.rank - 2] * y.dims[y.rank - 1] && y.rank <= maxOf(x.rank, 2);
  return one ? oneProduct(a) : batchProducts(a);
}

int32_t packedIntegers(const Args *a) {
  const Tensor &x = a->in[0], &y = a->in[1];
  if (onnxc_count(a->out[0]) == 0)
    return ONNXC_K_OK;
  Integers p = {};
  p.packed = true, p.depth = x.dims[x.rank - 1], p.columns = a->attr[0].i;
  if (y.rank != 4 || y.dims[1] != (p.depth + 3) / 4 || y.dims[0] != (p.columns + kColumns - 1) / kColumns)
    return ONNXC_K_SHAPE;
  return multiply(a, p);
}

int32_t dynamicQuantize(const Args *a) {
  const float *x = in<float>(a, 0);
  uint8_t *y = out<uint8_t>(a, 0);
  int64_t n = onnxc_count(a->in[0]);
  float low = 0, high = 0;
  widenRange(x, n, low, high);
  float scale = high == low ? 1 : (high - low) / 255;
  uint8_t zero = saturateTo<uint8_t>(nearbyint(-low / scale));
  if (hasOut(a, 1))
    *out<float>(a, 1) = scale;
  if (hasOut(a, 2))
    *out<uint8_t>(a, 2) = zero;
  return parallelFor(a, n, kTaskWork, [=](int64_t begin, int64_t end) -> int32_t {
    const float *from = x;  // a store of bytes may change what is captured
    uint8_t *to = y;
    float step = scale, shift = float(zero);
    for (int64_t j = begin; j < end; ++j) {
      float v = __builtin_rintf(from[j] / step) + shift;
      v = v > 0 ? v : 0;  // NaN becomes 0, as in the oracle
      to[j] = uint8_t(int32_t(v < 255 ? v : 255));
    }
    return ONNXC_K_OK;
  });
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_FastMatMulInteger(const onnxc_args *a) { return onnxc::matMulInteger(a); }
extern "C" int32_t onnxc_k_FastPackedIntegers(const onnxc_args *a) { return onnxc::packedIntegers(a); }
extern "C" int32_t onnxc_k_FastDynamicQuantizeLinear(const onnxc_args *a) { return onnxc::dynamicQuantize(a); }
