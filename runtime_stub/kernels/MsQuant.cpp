// MsQuant.cpp: com.microsoft's operators on 8-bit tensors with scales, and pooling with channels last. Pools run the kernels of Pool.cpp.
#include "runtime_stub/kernels/Special.h"

extern "C" int32_t onnxc_k_AveragePool_f32(const onnxc_args *a);
extern "C" int32_t onnxc_k_MaxPool_u8(const onnxc_args *a);
extern "C" int32_t onnxc_k_MaxPool_i8(const onnxc_args *a);

namespace onnxc {
namespace {

// Per-tensor scale and zero point: operands `scale` and `scale + 1`.
struct Quant {
  double scale, zero;
  Quant(const Args *a, int64_t operand)
      : scale(loadF64(a->in[operand], 0)), zero(hasIn(a, operand + 1) ? loadF64(a->in[operand + 1], 0) : 0) {}
  double real(const Tensor &t, int64_t i) const { return (loadF64(t, i) - zero) * scale; }
  void store(Tensor &t, int64_t i, double v) const {
    v = nearbyint(v / scale) + zero;
    if (t.dtype == ONNXC_I8)
      static_cast<int8_t *>(t.data)[i] = saturateTo<int8_t>(v);
    else
      static_cast<uint8_t *>(t.data)[i] = saturateTo<uint8_t>(v);
  }
};

template <class F>
int32_t binary(const Args *a, F f) {
  Quant x(a, 1), y(a, 4), z(a, 6);
  Broadcast<2> walk;
  if (!walk.start(a->out[0], {&a->in[0], &a->in[3]}))
    return ONNXC_K_SHAPE;
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i, walk.next())
    z.store(a->out[0], i, f(x.real(a->in[0], walk.offset[0]), y.real(a->in[3], walk.offset[1])));
  return ONNXC_K_OK;
}

// The sum in f32, each product rounded with its sum: the integers that other runtimes give, also where a value lies between two.
int32_t add(const Args *a) {
  Quant x(a, 1), y(a, 4), z(a, 6);
  Broadcast<2> walk;
  if (!walk.start(a->out[0], {&a->in[0], &a->in[3]}))
    return ONNXC_K_SHAPE;
  float xs = float(x.scale) / float(z.scale), ys = float(y.scale) / float(z.scale);
  float offset = float(z.zero) - __builtin_fmaf(xs, float(x.zero), ys * float(y.zero));
  int64_t n = onnxc_count(a->out[0]);
  bool isSigned = a->out[0].dtype == ONNXC_I8;
  for (int64_t i = 0; i < n; ++i, walk.next()) {
    int64_t p = walk.offset[0], q = walk.offset[1];
    float u = a->in[0].dtype == ONNXC_I8 ? float(in<int8_t>(a, 0)[p]) : float(in<uint8_t>(a, 0)[p]);
    float v = a->in[3].dtype == ONNXC_I8 ? float(in<int8_t>(a, 3)[q]) : float(in<uint8_t>(a, 3)[q]);
    float sum = __builtin_rintf(__builtin_fmaf(u, xs, __builtin_fmaf(v, ys, offset)));
    if (isSigned)
      out<int8_t>(a, 0)[i] = saturateTo<int8_t>(sum);
    else
      out<uint8_t>(a, 0)[i] = saturateTo<uint8_t>(sum);
  }
  return ONNXC_K_OK;
}

template <class F>
int32_t unary(const Args *a, F f) {
  Quant x(a, 1), y(a, 3);
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; i < n; ++i)
    y.store(a->out[0], i, f(x.real(a->in[0], i)));
  return ONNXC_K_OK;
}

int32_t concat(const Args *a) {
  Quant y(a, 0);
  Tensor &to = a->out[0];
  int64_t axis = axisOf(a->attr[0].i, to.rank), at = 0;
  if (axis < 0 || axis >= to.rank || (a->n_in - 2) % 3)
    return ONNXC_K_VALUE;
  int64_t outer = product(to.dims, 0, axis), inner = product(to.dims, axis + 1, to.rank), row = to.dims[axis] * inner;
  for (int64_t k = 2; k < a->n_in; k += 3) {
    const Tensor &t = a->in[k];
    if (t.rank != to.rank || product(t.dims, 0, axis) != outer || product(t.dims, axis + 1, t.rank) != inner)
      return ONNXC_K_SHAPE;
    Quant x(a, k + 1);
    int64_t part = t.dims[axis] * inner;
    if (at + part > row)
      return ONNXC_K_SHAPE;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < part; ++i)
        y.store(to, o * row + at + i, x.real(t, o * part + i));
    at += part;
  }
  return ONNXC_K_OK;
}

// Below opset 13 all dims from the axis on form one row. ONNX Runtime multiplies by the whole part of 1 / scale, of a single float.
int32_t softmax(const Args *a) {
  const Tensor &x = a->in[0];
  int64_t axis = axisOf(a->attr[0].i, x.rank);
  if (x.rank < 1 || axis < 0 || axis >= x.rank)
    return ONNXC_K_VALUE;
  bool flat = a->attr[1].i < 13;
  int64_t n = flat ? product(x.dims, axis, x.rank) : x.dims[axis], inner = flat ? 1 : product(x.dims, axis + 1, x.rank),
          outer = product(x.dims, 0, axis);
  Quant from(a, 1), to(a, 3);
  to.scale = 1 / floor(double(1 / float(to.scale)));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      double top = -__builtin_inf(), sum = 0;
      for (int64_t k = 0; k < n; ++k)
        top = from.real(x, (o * n + k) * inner + i) > top ? from.real(x, (o * n + k) * inner + i) : top;
      for (int64_t k = 0; k < n; ++k)
        sum += exp(from.real(x, (o * n + k) * inner + i) - top);
      for (int64_t k = 0; k < n; ++k)
        to.store(a->out[0], (o * n + k) * inner + i, exp(from.real(x, (o * n + k) * inner + i) - top) / sum);
    }
  return ONNXC_K_OK;
}

// A view of dims with the channels second.
struct Planar {
  int64_t dims[16], channels, plane, batch;
  bool last;
  Planar(const Tensor &t, bool channelsLast) : last(channelsLast) {
    int64_t r = t.rank;
    batch = t.dims[0], channels = t.dims[last ? r - 1 : 1];
    plane = 1;
    dims[0] = batch, dims[1] = channels;
    for (int64_t d = 2; d < r; ++d)
      plane *= dims[d] = t.dims[last ? d - 1 : d];
  }
  int64_t offset(int64_t b, int64_t c, int64_t p) const { return last ? (b * plane + p) * channels + c : (b * channels + c) * plane + p; }
  template <class F>
  void each(F f) const {
    for (int64_t b = 0, i = 0; b < batch; ++b)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < plane; ++p)
          f(i++, offset(b, c, p));
  }
};

// Sums of the bytes of each channel; `sums`: zeros.
template <class T>
void sumChannels(const Planar &shape, const T *x, int64_t *__restrict sums) {
  int64_t rows = shape.last ? shape.plane : shape.channels, columns = shape.last ? shape.channels : shape.plane;
  for (int64_t r = 0; r < rows; ++r, x += columns)
    if (shape.last) {
      for (int64_t c = 0; c < columns; ++c)
        sums[c] += x[c];
    } else {
      int64_t sum = 0;
      for (int64_t p = 0; p < columns; ++p)
        sum += x[p];
      sums[r] = sum;
    }
}

int32_t globalAverage(const Args *a) {
  Quant x(a, 1), y(a, 3);
  if (a->in[0].rank < 2 || a->in[0].rank > 16)
    return ONNXC_K_SHAPE;
  Planar shape(a->in[0], a->attr[0].i != 0);
  if (onnxc_count(a->out[0]) != shape.batch * shape.channels)
    return ONNXC_K_SHAPE;
  int64_t *sums = heap<int64_t>(a, shape.channels), size = shape.channels * shape.plane;
  if (!sums)
    return ONNXC_K_MEMORY;
  for (int64_t b = 0; b < shape.batch; ++b) {
    memset(sums, 0, size_t(shape.channels) * sizeof(int64_t));
    if (a->in[0].dtype == ONNXC_I8)
      sumChannels(shape, in<int8_t>(a, 0) + b * size, sums);
    else
      sumChannels(shape, in<uint8_t>(a, 0) + b * size, sums);
    for (int64_t c = 0; c < shape.channels; ++c)
      y.store(a->out[0], b * shape.channels + c, (double(sums[c]) - x.zero * double(shape.plane)) * x.scale / double(shape.plane));
  }
  return ONNXC_K_OK;
}

// Runs a pooling kernel of Pool.cpp on planar copies made by `load`, and gives its results to `store`.
template <class T, class Load, class Store>
int32_t pool(const Args *a, int32_t (*kernel)(const onnxc_args *), bool last, int32_t dtype, Load load, Store store) {
  if (a->in[0].rank < 3 || a->in[0].rank > 16 || a->out[0].rank != a->in[0].rank)
    return ONNXC_K_SHAPE;
  Planar from(a->in[0], last), to(a->out[0], last);
  Tensor x = a->in[0], y = a->out[0];
  T *xs = heap<T>(a, onnxc_count(x)), *ys = heap<T>(a, onnxc_count(y));
  if (!xs || !ys)
    return ONNXC_K_MEMORY;
  x.data = xs, x.dims = from.dims, x.dtype = dtype;
  y.data = ys, y.dims = to.dims, y.dtype = dtype;
  from.each([&](int64_t i, int64_t at) { xs[i] = load(at); });
  Args inner = *a;
  inner.in = &x, inner.n_in = 1, inner.out = &y, inner.n_out = 1;
  ONNXC_TRY(kernel(&inner));
  to.each([&](int64_t i, int64_t at) { store(at, ys[i]); });
  return ONNXC_K_OK;
}

int32_t averagePool(const Args *a) {
  enum { CountPad = 5, ChannelsLast };
  Quant x(a, 1), y(a, 3);
  return pool<float>(
      a, onnxc_k_AveragePool_f32, a->attr[ChannelsLast].i != 0, ONNXC_F32, [&](int64_t i) { return float(x.real(a->in[0], i)); },
      [&](int64_t i, float v) { y.store(a->out[0], i, v); });
}

int32_t nhwcMaxPool(const Args *a) {
  bool isSigned = a->in[0].dtype == ONNXC_I8;
  return pool<uint8_t>(
      a, isSigned ? onnxc_k_MaxPool_i8 : onnxc_k_MaxPool_u8, true, a->in[0].dtype, [&](int64_t i) { return in<uint8_t>(a, 0)[i]; },
      [&](int64_t i, uint8_t v) { out<uint8_t>(a, 0)[i] = v; });
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_MsQLinearAdd(const onnxc_args *a) { return add(a); }
extern "C" int32_t onnxc_k_MsQLinearMul(const onnxc_args *a) {
  return binary(a, [](double x, double y) { return x * y; });
}
extern "C" int32_t onnxc_k_MsQLinearConcat(const onnxc_args *a) { return concat(a); }
extern "C" int32_t onnxc_k_MsQLinearSigmoid(const onnxc_args *a) {
  return unary(a, [](double x) { return 1 / (1 + exp(-x)); });
}
extern "C" int32_t onnxc_k_MsQLinearLeakyRelu(const onnxc_args *a) {
  return unary(a, [&](double x) { return x >= 0 ? x : a->attr[0].f * x; });
}
extern "C" int32_t onnxc_k_MsQLinearSoftmax(const onnxc_args *a) { return softmax(a); }
extern "C" int32_t onnxc_k_MsQLinearGlobalAveragePool(const onnxc_args *a) { return globalAverage(a); }
extern "C" int32_t onnxc_k_MsQLinearAveragePool(const onnxc_args *a) { return averagePool(a); }
extern "C" int32_t onnxc_k_MsNhwcMaxPool(const onnxc_args *a) { return nhwcMaxPool(a); }
