// MsMatMul.cpp: com.microsoft's fused and quantised matrix products, and FusedConv. Plain Conv and Gemm come from Conv.cpp and MatMul.cpp.
#include "runtime_stub/kernels/Recurrent.h"

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Conv_##S(const onnxc_args *a);                                                                                \
  extern "C" int32_t onnxc_k_Gemm_##S(const onnxc_args *a);
ONNXC_FLOATS(X)
#undef X

namespace onnxc {
namespace {

// An activation named by an attribute; `parameters` are alpha, beta (of Clip: least and greatest value).
struct Epilogue {
  Activation f{Activation::Relu, 0, 0};
  bool clip = false, none = true;
  bool read(Str name, const double *parameters, int64_t n) {
    none = name.size == 0;
    if (none)
      return true;
    ActivationRow row;
    clip = is(name, "Clip");
    if (!clip && !findActivation(name, row))
      return false;
    if (!clip)
      f = {row.kind, row.defaultAlpha, row.defaultBeta};
    if (clip)
      f.alpha = lowestFloat, f.beta = -lowestFloat;
    if (n > 0)
      f.alpha = parameters[0];
    if (n > 1)
      f.beta = parameters[1];
    return true;
  }
  double operator()(double x) const { return none ? x : !clip ? f(x) : x < f.alpha ? f.alpha : x > f.beta ? f.beta : x; }
  static constexpr double lowestFloat = -3.4028234663852886e38;
};

// Runs `kernel` on the first `operands` operands, then adds operand `addend` and applies the activation to result 0 in place.
template <class T>
int32_t fuse(const Args *a, int32_t (*kernel)(const onnxc_args *), int64_t operands, int64_t addend, const Epilogue &e) {
  Args inner = *a;
  if (inner.n_in > operands)
    inner.n_in = operands;
  ONNXC_TRY(kernel(&inner));
  int64_t n = onnxc_count(a->out[0]);
  bool adds = addend >= 0 && hasIn(a, addend);
  if (adds && onnxc_count(a->in[addend]) != n)
    return ONNXC_K_SHAPE;
  T *y = out<T>(a, 0);
  for (int64_t i = 0; i < n && (adds || !e.none); ++i)
    y[i] = fromF64<T>(e(toF64(y[i]) + (adds ? toF64(in<T>(a, addend)[i]) : 0)));
  return ONNXC_K_OK;
}

template <class T>
int32_t fusedConv(const Args *a, int32_t (*kernel)(const onnxc_args *)) {
  enum { Name = 6, Parameters };
  double parameters[2] = {0, 0};
  int64_t n = a->attr[Parameters].n > 2 ? 2 : a->attr[Parameters].n;
  for (int64_t i = 0; i < n; ++i)
    parameters[i] = floats(a->attr[Parameters])[i];
  Epilogue e;
  return e.read(text(a->attr[Name]), parameters, n) ? fuse<T>(a, kernel, 3, 3, e) : int32_t(ONNXC_K_VALUE);
}

template <class T>
int32_t fusedGemm(const Args *a, int32_t (*kernel)(const onnxc_args *)) {
  enum { Name = 4, Alpha, Beta };
  double parameters[] = {a->attr[Alpha].f, a->attr[Beta].f};
  Epilogue e;
  int64_t n = given(a->attr[Beta]) ? 2 : given(a->attr[Alpha]) ? 1 : 0;
  return e.read(text(a->attr[Name]), parameters, n) ? fuse<T>(a, kernel, 3, -1, e) : int32_t(ONNXC_K_VALUE);
}

// A matrix operand with leading batch dims; strides in elements.
struct Matrix {
  int64_t batchRank = 0, dims[kMaxRank], strides[kMaxRank], rows, columns, rowStride, columnStride;
  // transBatch moves dim 0 behind the batch dims. Vectors become a row (left) or a column (right).
  bool read(const Tensor &t, bool transposed, bool transBatch, bool left) {
    if (t.rank < 1 || t.rank > kMaxRank)
      return false;
    if (t.rank == 1) {
      rows = left ? 1 : t.dims[0], columns = left ? t.dims[0] : 1;
      rowStride = left ? 0 : 1, columnStride = left ? 1 : 0;
      return true;
    }
    int64_t stride[kMaxRank], step = 1, r = t.rank;
    for (int64_t d = r - 1; d >= 0; --d)
      stride[d] = step, step *= t.dims[d];
    bool moved = transBatch && r > 2;
    int64_t row = moved ? 0 : r - 2;
    batchRank = r - 2;
    for (int64_t d = 0; d < batchRank; ++d)
      dims[d] = t.dims[d + moved], strides[d] = stride[d + moved];
    rows = t.dims[row], rowStride = stride[row], columns = t.dims[r - 1], columnStride = 1;
    if (transposed) {
      int64_t n = rows, s = rowStride;
      rows = columns, rowStride = columnStride, columns = n, columnStride = s;
    }
    return true;
  }
  // Offset of batch number `index` of a broadcast shape of `rank` dims.
  bool offset(int64_t index, const int64_t *shape, int64_t rank, int64_t &at) const {
    at = 0;
    for (int64_t d = rank - 1; d >= 0; --d) {
      int64_t i = index % (shape[d] ? shape[d] : 1), own = d - (rank - batchRank);
      index /= shape[d] ? shape[d] : 1;
      if (own < 0)
        continue;
      if (dims[own] != 1 && dims[own] != shape[d])
        return false;
      if (dims[own] != 1)
        at += i * strides[own];
    }
    return true;
  }
};

// Calls product(aOffset, bOffset, batch number) for each batch of the broadcast.
template <class F>
int32_t eachBatch(const Matrix &x, const Matrix &y, F product) {
  int64_t shape[kMaxRank], rank = x.batchRank > y.batchRank ? x.batchRank : y.batchRank, batches = 1;
  if (x.columns != y.rows)
    return ONNXC_K_SHAPE;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t i = d - (rank - x.batchRank), j = d - (rank - y.batchRank), m = i < 0 ? 1 : x.dims[i], n = j < 0 ? 1 : y.dims[j];
    batches *= shape[d] = m == 1 ? n : m;
  }
  for (int64_t b = 0; b < batches; ++b) {
    int64_t p, q;
    if (!x.offset(b, shape, rank, p) || !y.offset(b, shape, rank, q))
      return ONNXC_K_SHAPE;
    product(p, q, b);
  }
  return ONNXC_K_OK;
}

template <class T>
int32_t fusedMatMul(const Args *a) {
  enum { Alpha, TransA, TransB, TransBatchA, TransBatchB };
  Matrix x, y;
  if (!x.read(a->in[0], a->attr[TransA].i, a->attr[TransBatchA].i, true) ||
      !y.read(a->in[1], a->attr[TransB].i, a->attr[TransBatchB].i, false))
    return ONNXC_K_SHAPE;
  double *sum = heap<double>(a, y.columns), alpha = a->attr[Alpha].f;
  if (!sum)
    return ONNXC_K_MEMORY;
  return eachBatch(x, y, [&](int64_t p, int64_t q, int64_t batch) {
    const T *left = in<T>(a, 0) + p, *right = in<T>(a, 1) + q;
    for (int64_t m = 0; m < x.rows; ++m) {
      for (int64_t n = 0; n < y.columns; ++n)
        sum[n] = 0;
      for (int64_t k = 0; k < x.columns; ++k) {
        double v = toF64(left[m * x.rowStride + k * x.columnStride]);
        for (int64_t n = 0; n < y.columns; ++n)
          sum[n] += v * toF64(right[k * y.rowStride + n * y.columnStride]);
      }
      for (int64_t n = 0; n < y.columns; ++n)
        out<T>(a, 0)[(batch * x.rows + m) * y.columns + n] = fromF64<T>(alpha * sum[n]);
    }
  });
}

// ---- products of 8-bit integers
// Whether operand `i`, where it is given, has one number for all columns or as many for each.
bool fitsColumns(const Args *a, int64_t i, int64_t columns) {
  int64_t n = hasIn(a, i) ? onnxc_count(a->in[i]) : 1;
  return n == 1 || n == columns || (columns > 0 && n > 0 && n % columns == 0);
}
bool biasFits(const Args *a, int64_t i, int64_t columns) { return !hasIn(a, i) || onnxc_count(a->in[i]) == columns; }

// An operand's zero points: none, one, or one a column.
struct Zeros {
  const Tensor *t = nullptr;
  int64_t n = 0;
  bool read(const Args *a, int64_t operand, int64_t columns) {
    if (!hasIn(a, operand))
      return true;
    t = &a->in[operand];
    n = onnxc_count(*t);
    return fitsColumns(a, operand, columns);
  }
  int64_t operator()(int64_t c) const { return t ? loadI64(*t, n == 1 ? 0 : c % n) : 0; }
};

// give(row number over all batches, column, sum) for A, given as bytes with one zero point, times the 8-bit operand `b`.
template <class Give>
int32_t integerProduct(const Args *a, const Tensor &left, const Tensor &right, const Matrix &x, const Matrix &y, int64_t leftZero,
                       const Zeros &zeros, Give give) {
  int64_t *sum = heap<int64_t>(a, y.columns);
  if (!sum)
    return ONNXC_K_MEMORY;
  return eachBatch(x, y, [&](int64_t p, int64_t q, int64_t batch) {
    for (int64_t m = 0; m < x.rows; ++m) {
      for (int64_t n = 0; n < y.columns; ++n)
        sum[n] = 0;
      for (int64_t k = 0; k < x.columns; ++k) {
        int64_t v = loadI64(left, p + m * x.rowStride + k * x.columnStride) - leftZero, from = q + k * y.rowStride;
        auto row = [&](const auto *w) {
          for (int64_t n = 0; v != 0 && n < y.columns; ++n)
            sum[n] += v * (int64_t(w[from + n * y.columnStride]) - zeros(n));
        };
        if (right.dtype == ONNXC_I8)
          row(static_cast<const int8_t *>(right.data));
        else
          row(static_cast<const uint8_t *>(right.data));
      }
      for (int64_t n = 0; n < y.columns; ++n)
        give(batch * x.rows + m, n, sum[n]);
    }
  });
}

double perColumn(const Tensor &t, int64_t c) {
  int64_t n = onnxc_count(t);
  return loadF64(t, n == 1 ? 0 : c % n);
}

int32_t matMulIntegerToFloat(const Args *a) {
  enum { A, B, AScale, BScale, AZero, BZero, Bias };
  Matrix x, y;
  Zeros zeros;
  if (!x.read(a->in[A], false, false, true) || !y.read(a->in[B], false, false, false) || !zeros.read(a, BZero, y.columns))
    return ONNXC_K_SHAPE;
  if (onnxc_count(a->in[AScale]) < 1 || !fitsColumns(a, BScale, y.columns) || !biasFits(a, Bias, y.columns))
    return ONNXC_K_SHAPE;
  int64_t zero = hasIn(a, AZero) ? loadI64(a->in[AZero], 0) : 0;
  double scale = loadF64(a->in[AScale], 0);
  return integerProduct(a, a->in[A], a->in[B], x, y, zero, zeros, [&](int64_t m, int64_t n, int64_t sum) {
    double v = double(sum) * scale * perColumn(a->in[BScale], n);
    storeF64(a->out[0], m * y.columns + n, v + (hasIn(a, Bias) ? loadF64(a->in[Bias], n) : 0));
  });
}

int32_t dynamicQuantizeMatMul(const Args *a) {
  enum { A, B, BScale, BZero, Bias };
  Matrix x, y;
  Zeros zeros;
  if (!x.read(a->in[A], false, false, true) || !y.read(a->in[B], false, false, false) || !zeros.read(a, BZero, y.columns))
    return ONNXC_K_SHAPE;
  if (!fitsColumns(a, BScale, y.columns) || !biasFits(a, Bias, y.columns))
    return ONNXC_K_SHAPE;
  int64_t count = onnxc_count(a->in[A]);
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    float v = in<float>(a, A)[i];
    low = v < low ? v : low, high = v > high ? v : high;
  }
  float scale = high == low ? 1 : (high - low) / 255, start = -low / scale;
  int64_t zero = int64_t(nearbyint(start < 0 ? 0 : start > 255 ? 255 : start));
  uint8_t *bytes = heap<uint8_t>(a, count);
  if (!bytes)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < count; ++i)
    bytes[i] = saturateTo<uint8_t>(nearbyint(in<float>(a, A)[i] / scale) + double(zero));
  Tensor quantised = a->in[A];
  quantised.data = bytes, quantised.dtype = ONNXC_U8;
  return integerProduct(a, quantised, a->in[B], x, y, zero, zeros, [&](int64_t m, int64_t n, int64_t sum) {
    double v = double(sum) * scale * perColumn(a->in[BScale], n);
    storeF64(a->out[0], m * y.columns + n, v + (hasIn(a, Bias) ? loadF64(a->in[Bias], n) : 0));
  });
}

int32_t quantisedGemm(const Args *a) {
  enum { A, AScale, AZero, B, BScale, BZero, C, YScale, YZero };
  enum { Alpha, TransA, TransB };
  Matrix x, y;
  Zeros zeros;
  if (!x.read(a->in[A], a->attr[TransA].i, false, true) || !y.read(a->in[B], a->attr[TransB].i, false, false) ||
      !zeros.read(a, BZero, y.columns) || !fitsColumns(a, BScale, y.columns))
    return ONNXC_K_SHAPE;
  int64_t zero = loadI64(a->in[AZero], 0), biases = hasIn(a, C) ? onnxc_count(a->in[C]) : 0;
  bool perRow = biases == x.rows && hasIn(a, C) && a->in[C].rank == 2 && a->in[C].dims[1] == 1 && x.rows > 1;
  if (biases && biases != 1 && !perRow && biases != y.columns && biases != x.rows * y.columns)
    return ONNXC_K_SHAPE;
  return integerProduct(a, a->in[A], a->in[B], x, y, zero, zeros, [&](int64_t m, int64_t n, int64_t sum) {
    if (biases)
      sum += loadI64(a->in[C], perRow ? m : (m * y.columns + n) % biases);
    double v = a->attr[Alpha].f * loadF64(a->in[AScale], 0) * perColumn(a->in[BScale], n) * double(sum);
    if (hasIn(a, YScale)) {
      v = nearbyint(v / loadF64(a->in[YScale], 0)) + (hasIn(a, YZero) ? loadF64(a->in[YZero], 0) : 0);
      v = a->out[0].dtype == ONNXC_I8 ? toF64(saturateTo<int8_t>(v)) : toF64(saturateTo<uint8_t>(v));
    }
    storeF64(a->out[0], m * y.columns + n, v);
  });
}

// Whether blocks of `block` values of `bits` bits fill whole bytes.
bool fillBytes(int64_t block, int64_t bits) {
  return block >= 1 && block < kSizeLimit && (bits == 2 || bits == 4 || bits == 8) && block * bits % 8 == 0;
}

// ---- MatMulNBits: B [N, blocks, bytes] packs `bits` wide values from the low end; zero points pack along the blocks.
uint32_t unpack(const uint8_t *bytes, int64_t i, int64_t bits) {
  int64_t bit = i * bits;
  return uint32_t(bytes[bit / 8] >> (bit % 8)) & ((1u << bits) - 1);
}

template <class T>
int32_t matMulNBits(const Args *a) {
  enum { A, B, Scales, ZeroPoints, GroupIndex, Bias };
  enum { K, N, Bits, BlockSize };
  int64_t k = a->attr[K].i, n = a->attr[N].i, bits = a->attr[Bits].i, block = a->attr[BlockSize].i;
  if (a->in[A].rank < 1 || k < 1 || k >= kSizeLimit || n < 1 || n >= kSizeLimit || !fillBytes(block, bits))
    return ONNXC_K_VALUE;
  int64_t blocks = ceilDiv(k, block), bytes = block * bits / 8, zeroBytes = ceilDiv(blocks * bits, 8), rows = onnxc_count(a->in[A]) / k;
  bool zeros = hasIn(a, ZeroPoints), packed = zeros && a->in[ZeroPoints].dtype == ONNXC_U8;
  if (a->in[A].dims[a->in[A].rank - 1] != k || onnxc_count(a->in[B]) != n * blocks * bytes || onnxc_count(a->in[Scales]) != n * blocks)
    return ONNXC_K_SHAPE;
  if (zeros && onnxc_count(a->in[ZeroPoints]) != n * (packed ? zeroBytes : blocks))
    return ONNXC_K_SHAPE;
  if ((hasIn(a, GroupIndex) && onnxc_count(a->in[GroupIndex]) < k) || !biasFits(a, Bias, n))
    return ONNXC_K_SHAPE;
  double *column = heap<double>(a, k);
  if (!column)
    return ONNXC_K_MEMORY;
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t i = 0; i < k; ++i) {
      int64_t g = hasIn(a, GroupIndex) ? loadI64(a->in[GroupIndex], i) : i / block;
      if (g < 0 || g >= blocks)
        return ONNXC_K_INDEX;
      double zero = !zeros   ? double(1 << (bits - 1))
                    : packed ? double(unpack(in<uint8_t>(a, ZeroPoints) + c * zeroBytes, g, bits))
                             : loadF64(a->in[ZeroPoints], c * blocks + g);
      uint32_t q = unpack(in<uint8_t>(a, B) + (c * blocks + i / block) * bytes, i % block, bits);
      column[i] = (double(q) - zero) * loadF64(a->in[Scales], c * blocks + g);
    }
    double bias = hasIn(a, Bias) ? loadF64(a->in[Bias], c) : 0;
    for (int64_t r = 0; r < rows; ++r)
      out<T>(a, 0)[r * n + c] = fromF64<T>(dot(in<T>(a, A) + r * k, column, k) + bias);
  }
  return ONNXC_K_OK;
}

int32_t gatherBlockQuantized(const Args *a) {
  enum { Data, Indices, Scales, ZeroPoints };
  enum { Bits, BlockSize, GatherAxis, QuantizeAxis };
  const Tensor &x = a->in[Data];
  int64_t bits = a->attr[Bits].i, block = a->attr[BlockSize].i;
  int64_t axis = axisOf(a->attr[GatherAxis].i, x.rank), quantised = axisOf(a->attr[QuantizeAxis].i, x.rank);
  if (!fillBytes(block, bits) || axis < 0 || axis >= x.rank || quantised < 0 || quantised >= x.rank || x.rank > 16)
    return ONNXC_K_VALUE;
  int64_t pack = x.dtype == ONNXC_U8 ? 8 / bits : 1;
  if (pack > 1 && quantised != x.rank - 1)
    return ONNXC_K_VALUE;
  int64_t dims[16];
  for (int32_t d = 0; d < x.rank; ++d)
    dims[d] = x.dims[d] * (d == x.rank - 1 ? pack : 1);
  int64_t blocks = ceilDiv(dims[quantised], block), zeroBytes = ceilDiv(blocks * bits, 8), count = onnxc_count(a->in[Indices]);
  int64_t outer = product(dims, 0, axis), inner = product(dims, axis + 1, x.rank), below = product(dims, quantised + 1, x.rank);
  int64_t rows = product(dims, 0, quantised), scales = rows * blocks * below;
  if (onnxc_count(a->out[0]) != outer * count * inner || onnxc_count(a->in[Scales]) != scales ||
      (hasIn(a, ZeroPoints) && onnxc_count(a->in[ZeroPoints]) != (pack > 1 ? rows * zeroBytes : scales)))
    return ONNXC_K_SHAPE;
  double zeroDefault = x.dtype == ONNXC_U8 ? double(1 << (bits - 1)) : 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < count; ++j) {
      int64_t index = loadI64(a->in[Indices], j);
      if (index < 0)
        index += dims[axis];
      if (index < 0 || index >= dims[axis])
        return ONNXC_K_INDEX;
      for (int64_t i = 0; i < inner; ++i) {
        int64_t e = (o * dims[axis] + index) * inner + i, q = e / below % dims[quantised];
        int64_t above = e / below / dims[quantised], s = (above * blocks + q / block) * below + e % below;
        double zero = zeroDefault;
        if (hasIn(a, ZeroPoints))
          zero = pack > 1 ? double(unpack(in<uint8_t>(a, ZeroPoints) + above * zeroBytes, q / block, bits)) : loadF64(a->in[ZeroPoints], s);
        double v = pack > 1 ? double(unpack(in<uint8_t>(a, Data), e, bits)) : loadF64(x, e);
        storeF64(a->out[0], (o * count + j) * inner + i, (v - zero) * loadF64(a->in[Scales], s));
      }
    }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_MsFusedConv_##S(const onnxc_args *a) { return onnxc::fusedConv<T>(a, onnxc_k_Conv_##S); }                     \
  extern "C" int32_t onnxc_k_MsFusedGemm_##S(const onnxc_args *a) { return onnxc::fusedGemm<T>(a, onnxc_k_Gemm_##S); }                     \
  extern "C" int32_t onnxc_k_MsFusedMatMul_##S(const onnxc_args *a) { return onnxc::fusedMatMul<T>(a); }                                   \
  extern "C" int32_t onnxc_k_MsMatMulNBits_##S(const onnxc_args *a) { return onnxc::matMulNBits<T>(a); }
ONNXC_FLOATS(X)
#undef X
extern "C" int32_t onnxc_k_MsMatMulIntegerToFloat(const onnxc_args *a) { return onnxc::matMulIntegerToFloat(a); }
extern "C" int32_t onnxc_k_MsDynamicQuantizeMatMul(const onnxc_args *a) { return onnxc::dynamicQuantizeMatMul(a); }
extern "C" int32_t onnxc_k_MsQGemm(const onnxc_args *a) { return onnxc::quantisedGemm(a); }
extern "C" int32_t onnxc_k_MsGatherBlockQuantized(const onnxc_args *a) { return onnxc::gatherBlockQuantized(a); }
