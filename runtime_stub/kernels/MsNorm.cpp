// MsNorm.cpp: com.microsoft's normalisations with skip connections or embeddings, and its GELU forms. Rows are summed in double.
#include "runtime_stub/kernels/Parallel.h"
#include "runtime_stub/kernels/Special.h"
extern "C" double erf(double) noexcept;

namespace onnxc {
namespace {

struct Moments {
  double mean, inverse;
};

typedef double d8 __attribute__((ext_vector_type(8), aligned(8)));

// The sum of f(x) of a row, in lanes.
template <class F>
double sumOf(const double *row, int64_t n, const F &f) {
  d8 sums[2] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    sums[0] += f(*(const d8 *)(row + i)), sums[1] += f(*(const d8 *)(row + i + 8));
  auto eight = sums[0] + sums[1];
  auto four = eight.lo + eight.hi;
  auto two = four.lo + four.hi;
  double sum = two.x + two.y;
  for (; i < n; ++i)
    sum += f(d8(row[i])).x;
  return sum;
}

// Elements from `at` on of a tensor of floats, added to a row.
void addRow(const Tensor &t, int64_t at, int64_t n, double *row) {
  withFloat(t.dtype, [&](auto tag) {
    const auto *from = data<decltype(tag)>(t) + at;
    for (int64_t i = 0; i < n; ++i)
      row[i] += toF64(from[i]);
    return int32_t(ONNXC_K_OK);
  });
}
void storeRow(const Tensor &t, int64_t at, int64_t n, const double *row) {
  withFloat(t.dtype, [&](auto tag) {
    auto *to = mutableData<decltype(tag)>(t) + at;
    for (int64_t i = 0; i < n; ++i)
      to[i] = fromF64<decltype(tag)>(row[i]);
    return int32_t(ONNXC_K_OK);
  });
}
void clear(double *row, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    row[i] = 0;
}

// Normalises `row` in place. Without a mean the root of the mean square divides.
Moments normalise(double *row, int64_t n, bool centred, double epsilon, const double *gamma, const double *beta) {
  double mean = centred ? sumOf(row, n, [](d8 x) __attribute__((always_inline)) { return x; }) / double(n) : 0;
  double square = sumOf(row, n, [=](d8 x) __attribute__((always_inline)) { return (x - mean) * (x - mean); });
  double inverse = 1 / sqrt(square / double(n) + epsilon);
  for (int64_t i = 0; i < n; ++i)
    row[i] = (row[i] - mean) * inverse * gamma[i] + beta[i];
  return {mean, inverse};
}

int32_t skip(const Args *a, bool centred) {
  enum { Input, Skip, Gamma };
  int64_t beta = centred ? 3 : -1, bias = centred ? 4 : 3;
  const Tensor &x = a->in[Input];
  int64_t n = x.rank ? x.dims[x.rank - 1] : 0, strides[kMaxRank];
  bool hasBeta = beta >= 0 && hasIn(a, beta), hasBias = hasIn(a, bias);
  if (n < 1 || a->in[Skip].rank < 1 || a->in[Skip].dims[a->in[Skip].rank - 1] != n ||
      !broadcastStrides(a->in[Skip], x.dims, x.rank, strides) || onnxc_count(a->in[Gamma]) != n)
    return ONNXC_K_SHAPE;
  if ((hasBeta && onnxc_count(a->in[beta]) != n) || (hasBias && onnxc_count(a->in[bias]) != n))
    return ONNXC_K_SHAPE;
  double *row = heap<double>(a, 3 * n), *gamma = row + n, *shift = gamma + n;
  if (!row)
    return ONNXC_K_MEMORY;
  clear(gamma, 2 * n);
  addRow(a->in[Gamma], 0, n, gamma);
  if (hasBeta)
    addRow(a->in[beta], 0, n, shift);
  Odometer<1> o;
  o.strides[0] = strides;
  o.init(x.dims, x.rank - 1);
  for (int64_t r = 0; o.more(); o.next(), ++r) {
    clear(row, n);
    addRow(x, r * n, n, row), addRow(a->in[Skip], o.offset[0], n, row);
    if (hasBias)
      addRow(a->in[bias], 0, n, row);
    if (hasOut(a, 3))
      storeRow(a->out[3], r * n, n, row);
    Moments m = normalise(row, n, centred, a->attr[0].f, gamma, shift);
    storeRow(a->out[0], r * n, n, row);
    if (hasOut(a, 1))
      storeF64(a->out[1], r, m.mean);
    if (hasOut(a, 2))
      storeF64(a->out[2], r, m.inverse);
  }
  return ONNXC_K_OK;
}

int32_t addEmbedding(const Tensor &table, int64_t k, int64_t n, double *row) {
  if (table.rank != 2 || table.dims[1] != n || k < 0 || k >= table.dims[0])
    return table.rank != 2 || table.dims[1] != n ? ONNXC_K_SHAPE : ONNXC_K_INDEX;
  addRow(table, k * n, n, row);
  return ONNXC_K_OK;
}

int32_t embed(const Args *a) {
  enum { Ids, Segments, Words, Positions, SegmentTable, Gamma, Beta, Mask, PositionIds };
  const Tensor &ids = a->in[Ids];
  if (ids.rank != 2 || a->in[Words].rank != 2 || (hasIn(a, Mask) && onnxc_count(a->in[Mask]) != onnxc_count(ids)))
    return ONNXC_K_SHAPE;
  int64_t batch = ids.dims[0], tokens = ids.dims[1], n = a->in[Words].dims[1];
  bool segments = hasIn(a, Segments) && hasIn(a, SegmentTable);
  if (onnxc_count(a->in[Gamma]) != n || onnxc_count(a->in[Beta]) != n || (segments && onnxc_count(a->in[Segments]) != batch * tokens))
    return ONNXC_K_SHAPE;
  bool shared = hasIn(a, PositionIds) && onnxc_count(a->in[PositionIds]) == tokens;
  if (hasIn(a, PositionIds) && !shared && onnxc_count(a->in[PositionIds]) != batch * tokens)
    return ONNXC_K_SHAPE;
  double *gamma = heap<double>(a, 2 * n), *beta = gamma + n;
  if (!gamma)
    return ONNXC_K_MEMORY;
  clear(gamma, 2 * n);
  addRow(a->in[Gamma], 0, n, gamma), addRow(a->in[Beta], 0, n, beta);
  int32_t status = parallelScratchFor(a, batch * tokens, grainOf(4 * n), n * 8, [=](void *scratch, int64_t begin, int64_t end) {
    double *row = static_cast<double *>(scratch);
    for (int64_t t = begin; t < end; ++t) {
      clear(row, n);
      int64_t position = hasIn(a, PositionIds) ? loadI64(a->in[PositionIds], shared ? t % tokens : t) : t % tokens;
      int32_t code = addEmbedding(a->in[Words], loadI64(a->in[Ids], t), n, row);
      if (!code)
        code = addEmbedding(a->in[Positions], position, n, row);
      if (!code && segments)
        code = addEmbedding(a->in[SegmentTable], loadI64(a->in[Segments], t), n, row);
      if (code)
        return code;
      if (hasOut(a, 2))
        storeRow(a->out[2], t * n, n, row);
      normalise(row, n, true, a->attr[0].f, gamma, beta);
      storeRow(a->out[0], t * n, n, row);
    }
    return int32_t(ONNXC_K_OK);
  });
  if (status)
    return status;
  for (int64_t b = 0; hasOut(a, 1) && b < batch; ++b) {
    int64_t length = 0;
    for (int64_t s = 0; hasIn(a, Mask) && s < tokens; ++s)
      length += loadI64(a->in[Mask], b * tokens + s) == 1;
    storeF64(a->out[1], b, double(length));
  }
  return ONNXC_K_OK;
}

double exactGelu(double x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752)); }
double fastGelu(double x) { return 0.5 * x * (1 + tanh(x * (0.035677408136300125 * x * x + 0.7978845608028654))); }

// The bias, if any, belongs to the last dim.
template <class F>
int32_t gelu(const Args *a, F f) {
  int64_t n = onnxc_count(a->in[0]), width = hasIn(a, 1) ? onnxc_count(a->in[1]) : 1;
  if (n && (width < 1 || n % width))
    return ONNXC_K_SHAPE;
  for (int64_t i = 0; i < n; ++i)
    storeF64(a->out[0], i, f(loadF64(a->in[0], i) + (hasIn(a, 1) ? loadF64(a->in[1], i % width) : 0)));
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_MsSkipLayerNorm(const onnxc_args *a) { return skip(a, true); }
extern "C" int32_t onnxc_k_MsSkipSimplifiedLayerNorm(const onnxc_args *a) { return skip(a, false); }
extern "C" int32_t onnxc_k_MsEmbedLayerNorm(const onnxc_args *a) { return embed(a); }
extern "C" int32_t onnxc_k_MsGelu(const onnxc_args *a) { return gelu(a, exactGelu); }
extern "C" int32_t onnxc_k_MsFastGelu(const onnxc_args *a) { return gelu(a, fastGelu); }
extern "C" int32_t onnxc_k_MsQuickGelu(const onnxc_args *a) {
  return gelu(a, [&](double x) { return x / (1 + exp(-a->attr[0].f * x)); });
}
