// Recurrent.cpp: RNN, GRU and LSTM, one time step and batch row at a time with sums and state in double. Cells share run(); see
// Recurrent.h.
#include "runtime_stub/kernels/Recurrent.h"

namespace onnxc {
namespace {

// What a cell sees of one direction. Weights of gate g, unit j start at (g * hidden + j) * columns.
template <class T>
struct Weights {
  const T *w, *r, *b, *p;  // b: input biases then recurrent biases; b and p may be null
  const Layer *l;
  const Activation *f;
  double *rounded;  // room for a state that products see in 8 bits, or null
  EightBits range;  // of the states that all batch rows got in the step before
  double input(int64_t row, const T *x) const { return dot(w + row * l->inputs, x, l->inputs) + (b ? toF64(b[row]) : 0); }
  double recurrent(int64_t row, const double *h) const { return dot(r + row * l->hidden, h, l->hidden); }
  double bias(int64_t row, int gates) const { return b ? toF64(b[gates * l->hidden + row]) : 0; }
};

struct RnnCell {
  static constexpr int gates = 1;
  template <class T>
  static void step(const Weights<T> &k, const T *x, double *h, double *, double *tmp, bool) {
    int64_t n = k.l->hidden;
    for (int64_t j = 0; j < n; ++j)
      tmp[j] = k.f[0](k.l->clipped(k.input(j, x) + k.recurrent(j, h) + k.bias(j, 1)));
    for (int64_t j = 0; j < n; ++j)
      h[j] = tmp[j];
  }
};

struct GruCell {
  static constexpr int gates = 3;
  template <class T>
  static void step(const Weights<T> &k, const T *x, double *h, double *, double *tmp, bool linearBeforeReset) {
    int64_t n = k.l->hidden;
    double *z = tmp, *r = tmp + n, *gated = tmp + 2 * n, *fresh = tmp + 3 * n;
    for (int64_t j = 0; j < 2 * n; ++j)
      tmp[j] = k.f[0](k.l->clipped(k.input(j, x) + k.recurrent(j, h) + k.bias(j, 3)));
    for (int64_t j = 0; j < n; ++j)
      gated[j] = r[j] * h[j];
    for (int64_t j = 0; j < n; ++j) {
      int64_t row = 2 * n + j;
      double back = linearBeforeReset ? r[j] * (k.recurrent(row, h) + k.bias(row, 3)) : k.recurrent(row, gated) + k.bias(row, 3);
      fresh[j] = k.f[1](k.l->clipped(k.input(row, x) + back));
    }
    for (int64_t j = 0; j < n; ++j)
      h[j] = (1 - z[j]) * fresh[j] + z[j] * h[j];
  }
};

struct LstmCell {
  static constexpr int gates = 4;
  template <class T>
  static void step(const Weights<T> &k, const T *x, double *h, double *c, double *tmp, bool inputForget) {
    int64_t n = k.l->hidden;
    if (k.rounded)
      k.range.round(h, n, k.rounded);
    const double *back = k.rounded ? k.rounded : h;
    for (int64_t j = 0; j < 4 * n; ++j)
      tmp[j] = k.input(j, x) + k.recurrent(j, back) + k.bias(j, 4);
    for (int64_t j = 0; j < n; ++j) {
      double pi = k.p ? toF64(k.p[j]) : 0, po = k.p ? toF64(k.p[n + j]) : 0, pf = k.p ? toF64(k.p[2 * n + j]) : 0;
      double i = k.f[0](k.l->clipped(tmp[j] + pi * c[j]));
      double f = inputForget ? 1 - i : k.f[0](k.l->clipped(tmp[2 * n + j] + pf * c[j]));
      double fresh = k.f[1](k.l->clipped(tmp[3 * n + j]));
      c[j] = f * c[j] + i * fresh;
      double o = k.f[0](k.l->clipped(tmp[n + j] + po * c[j]));
      h[j] = o * k.f[2](c[j]);
    }
  }
};

template <class T>
void store(T *to, const double *from, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    to[j] = fromF64<T>(from[j]);
}
template <class T>
void load(double *to, const T *from, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    to[j] = from ? toF64(from[j]) : 0;
}

// All steps of a direction. `state` holds the h and c of each batch row, then room for a step.
template <class Cell, class T>
void runDirection(const Args *a, const Layer &l, Weights<T> &k, int64_t d, double *state, bool flag, const T *h0, const T *c0) {
  int64_t n = l.hidden;
  double *tmp = state + 2 * n * l.batch;
  auto h = [&](int64_t b) { return state + 2 * n * b; };
  auto length = [&](int64_t b) { return l.lengths ? l.lengths[b] : l.steps; };
  for (int64_t b = 0; b < l.batch; ++b) {
    load(h(b), h0 ? h0 + l.stateRow(d, b) : nullptr, n);
    load(h(b) + n, c0 ? c0 + l.stateRow(d, b) : nullptr, n);
  }
  T *y = hasOut(a, 0) ? out<T>(a, 0) : nullptr;
  bool forward = l.forwardFirst && d == 0;
  for (int64_t s = 0; s < l.steps; ++s) {
    k.range = {};
    for (int64_t b = 0; k.rounded && b < l.batch; ++b)
      if (s <= length(b))
        k.range.see(h(b), n);
    for (int64_t b = 0; b < l.batch; ++b) {
      if (s >= length(b)) {
        if (y)
          memset(y + l.outputRow(s, d, b), 0, size_t(n) * sizeof(T));
        continue;
      }
      int64_t t = forward ? s : length(b) - 1 - s;
      Cell::step(k, in<T>(a, X) + l.inputRow(t, b), h(b), h(b) + n, tmp, flag);
      if (y)
        store(y + l.outputRow(t, d, b), h(b), n);
    }
  }
  for (int64_t b = 0; b < l.batch; ++b) {
    if (hasOut(a, 1))
      store(out<T>(a, 1) + l.stateRow(d, b), h(b), n);
    if (hasOut(a, 2))
      store(out<T>(a, 2) + l.stateRow(d, b), h(b) + n, n);
  }
}

template <class Cell, class T>
int32_t run(const Args *a, const char *const *defaults, int activations, bool flag, const T *w, const T *r, double *rounded = nullptr) {
  Layer l;
  if (int32_t code = readLayer(a, Cell::gates, defaults, activations, l))
    return code;
  bool lstm = Cell::gates == 4;
  if (int32_t code = lstm ? readLstm(a, l) : ONNXC_K_OK)
    return code;
  double *state = heap<double>(a, (2 * l.batch + 4) * l.hidden);
  if (!state)
    return ONNXC_K_MEMORY;
  const T *h0 = hasIn(a, InitialH) ? in<T>(a, InitialH) : nullptr, *c0 = lstm && hasIn(a, InitialC) ? in<T>(a, InitialC) : nullptr;
  int64_t rows = Cell::gates * l.hidden;
  for (int64_t d = 0; d < l.directions; ++d) {
    Weights<T> k{w + d * rows * l.inputs,
                 r + d * rows * l.hidden,
                 hasIn(a, B) ? in<T>(a, B) + d * 2 * rows : nullptr,
                 lstm && hasIn(a, Peephole) ? in<T>(a, Peephole) + d * 3 * l.hidden : nullptr,
                 &l,
                 l.f + d * activations,
                 rounded,
                 {}};
    runDirection<Cell>(a, l, k, d, state, flag, h0, c0);
  }
  return ONNXC_K_OK;
}

template <class T>
int32_t rnn(const Args *a) {
  const char *defaults[] = {"Tanh"};
  return run<RnnCell>(a, defaults, 1, false, in<T>(a, W), in<T>(a, R));
}
template <class T>
int32_t gru(const Args *a) {
  const char *defaults[] = {"Sigmoid", "Tanh"};
  return run<GruCell>(a, defaults, 2, a->attr[Extra].i != 0, in<T>(a, W), in<T>(a, R));
}
template <class T>
int32_t lstm(const Args *a) {
  const char *defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  return run<LstmCell>(a, defaults, 3, a->attr[Extra].i != 0, in<T>(a, W), in<T>(a, R));
}

// 8-bit weights [directions, columns, 4 * hidden] become floats [directions, 4 * hidden, columns].
float *dequantised(const Args *a, int64_t weights, int64_t scale, int64_t zero) {
  const Tensor &q = a->in[weights];
  int64_t columns = q.dims[1], rows = q.dims[2], perRow = onnxc_count(a->in[scale]) == q.dims[0] ? 0 : 1;
  float *to = heap<float>(a, onnxc_count(q));
  for (int64_t d = 0; to && d < q.dims[0]; ++d)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t r = 0; r < rows; ++r) {
        int64_t k = perRow ? d * rows + r : d;
        double v = loadF64(q, (d * columns + c) * rows + r) - loadF64(a->in[zero], k);
        to[(d * rows + r) * columns + c] = float(v * loadF64(a->in[scale], k));
      }
  return to;
}

// Both operands of each product are of 8 bits: the input as a whole, the state at each step.
int32_t quantisedLstm(const Args *a) {
  const Tensor &w = a->in[W], &r = a->in[R];
  if (w.rank != 3 || r.rank != 3 || a->in[X].rank != 3)
    return ONNXC_K_SHAPE;
  int64_t d = w.dims[0], scales = onnxc_count(a->in[8]), zeros = onnxc_count(a->in[9]);
  if (w.dims[2] != r.dims[2] || w.dims[1] != a->in[X].dims[2] || (scales != d && scales != d * w.dims[2]) || zeros != scales)
    return ONNXC_K_SHAPE;
  int64_t rscales = onnxc_count(a->in[10]);
  if ((rscales != d && rscales != d * r.dims[2]) || onnxc_count(a->in[11]) != rscales)
    return ONNXC_K_SHAPE;
  float *wf = dequantised(a, W, 8, 9), *rf = dequantised(a, R, 10, 11);
  Tensor *operands = heap<Tensor>(a, a->n_in);
  if (!wf || !rf || !operands)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < a->n_in; ++i)
    operands[i] = a->in[i];
  int64_t recurrent[] = {r.dims[0], r.dims[2], r.dims[1]}, input[] = {w.dims[0], w.dims[2], w.dims[1]};
  operands[R].dims = recurrent, operands[W].dims = input;
  Args inner = *a;
  inner.in = operands;
  int64_t n = onnxc_count(a->in[X]);
  float *x = heap<float>(a, n);
  double *rounded = heap<double>(a, r.dims[1]);
  if (!x || !rounded)
    return ONNXC_K_MEMORY;
  EightBits range;
  range.see(in<float>(a, X), longest(a) * a->in[X].dims[1] * a->in[X].dims[2]);
  range.round(in<float>(a, X), n, x);
  operands[X].data = x;
  const char *defaults[] = {"Sigmoid", "Tanh", "Tanh"};
  return run<LstmCell>(&inner, defaults, 3, a->attr[Extra].i != 0, wf, rf, rounded);
}

}  // namespace
}  // namespace onnxc

#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_RNN_##S(const onnxc_args *a) { return onnxc::rnn<T>(a); }                                                     \
  extern "C" int32_t onnxc_k_GRU_##S(const onnxc_args *a) { return onnxc::gru<T>(a); }                                                     \
  extern "C" int32_t onnxc_k_LSTM_##S(const onnxc_args *a) { return onnxc::lstm<T>(a); }
ONNXC_FLOATS(X)
#undef X
extern "C" int32_t onnxc_k_MsDynamicQuantizeLSTM(const onnxc_args *a) { return onnxc::quantisedLstm(a); }
